/* ir/interp/interp_impl.h - inside the interpreter.
 *
 *   hone_func ──compile──► xstmt tree with xexpr trees ──run──► machine
 *
 * An xexpr carries a pointer to the function that evaluates it, chosen once by kind and dtype.
 * Values are int64 (integers, bool; unsigned ones zero-extended) or double (all floats, rounded to
 * their dtype after every operation, which for + - * / and square root of float32 and narrower is
 * the same as computing in that dtype). Vectors are evaluated lane by lane: machine.lane says
 * which.
 *
 * A wrong program ends the run: machine_fail records the status and jumps out to the entry, so
 * evaluation has no error paths. Everything that a run allocates hangs on the machine.
 * For this folder only.
 */
#ifndef HONE_IR_INTERP_INTERP_IMPL_H
#define HONE_IR_INTERP_INTERP_IMPL_H

#include <setjmp.h>
#include <string.h>

#include "ir/core/libm.h"
#include "ir/interp/interp.h"

enum { INTERP_MAX_LANES = 1024, INTERP_BOUNDED_ARGS = 4, INTERP_OWN_AXES = 3 };

typedef struct machine machine;
typedef struct xexpr xexpr;
typedef struct xstmt xstmt;
typedef struct xteam xteam; /* threads that go through a nest together (interp_threads.c) */
typedef struct xcrew xcrew;
typedef struct xexchange xexchange;

/* How a number is represented and rounded. */
typedef enum xtype {
    X_I64, /* integers of 64 bits, signed */
    X_U64,
    X_I32,
    X_INT, /* other widths: bits and is_unsigned say which; bool is one unsigned bit */
    X_F64, /* no rounding */
    X_F32,
    X_FLOAT, /* f16, bf16, fp8: rounded by hone_float_round */
    X_HANDLE,
} xtype;

struct xexpr {
    union {
        int64_t (*i)(const xexpr *e, machine *m);
        double (*f)(const xexpr *e, machine *m);
    } eval;
    union {
        int64_t i;
        double f;
        uint32_t slot;         /* variables */
        hone_buffer buffer;    /* loads */
        const hone_libm *libm; /* calls of external functions; NULL: of another one */
    } u;
    const hone_expr *source;
    uint8_t type; /* xtype */
    uint8_t count;
    uint8_t bits;
    bool is_unsigned;
    uint16_t lanes;
    hone_dtype dtype;
    const xexpr *args[]; /* count */
};

typedef union xvalue {
    int64_t i;
    double f;
    union xvalue *lanes; /* a variable that holds a vector */
} xvalue;

/* ---- memory ---- */

/* Who touched an element last, for the race check: tasks (see interp_race.c). */
typedef struct xshadow {
    uint32_t writer, first_reader, last_reader;
    bool is_atomic; /* the readers are those who updated it atomically since then */
} xshadow;

/* When an element of shared memory was stored last, and by which thread of its block; task = 0: not
 * yet (see interp_at_once.c). */
typedef struct xinstant {
    uint64_t moment, thread;
    uint32_t task;
} xinstant;

/* How a fragment of a matrix unit was loaded last (interp_matrix.c); m = 0: never. */
typedef struct xfragment {
    int32_t m, n, k;
    bool is_turned; /* columns first */
} xfragment;

/* How far rounding may have moved a number (interp_bound.c). */
typedef struct xerror {
    double size, relative, other;
} xerror;

/* A piece of storage. */
typedef struct xstore {
    uint8_t *data;
    int64_t elements, capacity;
    int64_t row;        /* extent of the last dimension; 0: there is one dimension at most */
    hone_dtype dtype;   /* as stored: f64 for every float when widened */
    bool is_argument;   /* belongs to the caller */
    bool is_shared;     /* scope "shared": threads work on it together */
    uint32_t unit;      /* bytes of its narrowest view: what is noted below, by unit */
    bool *is_written;   /* NULL unless check_uninitialised and not an argument */
    xshadow *shadow;    /* NULL unless check_races */
    xinstant *instants; /* NULL unless check_races and is_shared */
    uint32_t *flights;  /* the copy under way to it (interp_async.c), or NULL */
    xerror *bounds;     /* by element; NULL unless out_bounds */
    xfragment fragment;
    hone_tensor *argument; /* what a widened argument is written back to */
} xstore;

/* A buffer as it is now: a view of storage. The expressions of its shape are compiled when it first
 * becomes live. */
typedef struct xbuffer {
    const xexpr **shape_exprs, **stride_exprs, *offset_expr;
    xstore *store; /* NULL: not live */
    int64_t offset;
    int64_t share;            /* elements of one thread, where each has its own; else 0 */
    int64_t *shape, *strides; /* rank, at least 1; strides in scalars */
    uint32_t rank;
    uint16_t lanes;   /* scalars per element */
    bool is_plain;    /* dense, whole, nothing to check but the indices */
    hone_dtype dtype; /* of a scalar */
    xstore own;       /* storage of its own, kept from one execution to the next */
} xbuffer;

/* An element of a view, and a unit of storage that belongs to it. */
typedef struct xplace {
    int64_t element, unit;
} xplace;

/* ---- asynchronous copies ---- */

enum { ASYNC_QUEUES = 4 };

typedef struct xqueue {
    uint32_t committed, done; /* groups */
    uint32_t flight;          /* of the group that is being filled, if it is that one's */
} xqueue;

typedef struct xbarrier xbarrier;

/* ---- statements ---- */

typedef enum xflow { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN } xflow;

typedef struct xrange {
    const xexpr *min, *extent;
    bool is_constant;
    int64_t constant_min, constant_extent;
} xrange;

typedef struct xaxis {
    hone_var var;
    bool is_reduce;
    const xexpr *binding;
    xrange dom;
} xaxis;

typedef struct xmatch {
    hone_buffer buffer, source;
    xrange *ranges; /* of the source */
} xmatch;

typedef struct xblock {
    const hone_block *block;
    xaxis *axes;
    xmatch *matches;
    const xexpr *predicate; /* NULL = true */
} xblock;

typedef struct xaccess {
    hone_buffer buffer;
    uint32_t rank;
    const xexpr **indices;
} xaccess;

/* What the threads of a block do together in one statement. */
typedef enum xmeeting {
    MEET_NOT,
    MEET_BLOCK,  /* all wait for all */
    MEET_WARP,   /* those of each warp */
    MEET_REDUCE, /* tvm_thread_allreduce */
    MEET_LANES,  /* each in turn, after all came here */
} xmeeting;

/* A value that a thread passes to others, in a shuffle say (interp_lanes.c). */
struct xexchange {
    xexchange *next;    /* of the same statement; those inside it come first */
    const xexpr *value; /* NULL: it is only here */
    uint32_t index;     /* into xthread.sent */
};

struct xstmt {
    xflow (*run)(const xstmt *s, machine *m);
    xstmt *first, *next; /* children; the INIT of a block and the ELSE of an IF are apart */
    xstmt *other;        /* INIT of a BLOCK, ELSE of an IF */
    hone_node_id node;
    hone_var var;        /* FOR, LET */
    bool is_race_loop;   /* parallel, vectorized, thread-bound */
    bool is_thread_loop; /* threadIdx and vthread: shared storage is no race */
    bool is_vector;      /* STORE, LET */
    bool waits;          /* threads wait for each other here or below */
    uint8_t meeting;     /* xmeeting */
    xexchange *exchanges;
    struct xreducer *reducer; /* MEET_REDUCE */
    xteam *team;              /* of a thread loop that waits (interp_threads.c) */
    uint16_t lanes;
    xrange range;       /* FOR */
    hone_buffer *moved; /* FOR: of which each thread of the axis has one (interp_own.c) */
    uint32_t moved_count, axis;
    const xexpr *value; /* STORE, EVAL, IF, WHILE, ASSERT, LET */
    xblock *block;
    xaccess access;      /* STORE; ALLOC and DECL use access.buffer */
    const char *message; /* ASSERT */
};

/* Who gives a variable its value: nobody yet (a size that a shape will bind), a view that may bind
 * it again, or a loop, axis, let or parameter. */
typedef enum xbound { VAR_FREE, VAR_OF_VIEW, VAR_BOUND } xbound;

/* How many threads have an array each in the storage of a buffer, and how far apart those of
 * neighbours along an axis are; 0: the axis does not tell them apart (interp_own.c). */
typedef struct xown {
    int64_t threads, strides[INTERP_OWN_AXES];
} xown;

/* A thread tag that is bound around what runs. */
typedef struct xbound_thread {
    const char *tag;
    hone_var var;
    int64_t min, extent;
} xbound_thread;

/* One iteration of a race loop, inside another. */
typedef struct xtask {
    uint32_t parent, loop, depth;
    const xstmt *of; /* the loop; NULL for a thread among those that wait for each other */
} xtask;

struct machine {
    const hone_func *func;
    hone_interp_options options;
    hone_arena *arena;   /* of the compiled form and small tables of one run */
    xvalue *slots;       /* by variable */
    xerror *slot_bounds; /* by variable; NULL unless out_bounds */
    uint8_t *bound;      /* by variable: xbound */
    xbuffer *buffers;    /* by buffer */
    xexpr *again, *given[INTERP_BOUNDED_ARGS]; /* what is evaluated with other arguments */
    const hone_node_id *meets; /* by buffer: where its uses meet (interp_private.c) */
    const xown *own;           /* by buffer */
    bool *is_passed;           /* by buffer: lanes pass it on, also those that have nothing in it */
    uint16_t lane;
    const xexpr *mask;  /* lanes that a vector store may write; NULL = all */
    const xstmt *block; /* the innermost block that runs, and the statement: for messages */
    hone_node_id at;
    hone_node_id prepared; /* the statement that is made ready, before all runs */
    int64_t steps;
    /* races */
    xtask *tasks;
    uint32_t task_count, task_capacity, task, next_loop;
    const xvalue *fresh;    /* what is about to be stored, or NULL */
    xbuffer *outer_buffers; /* of no thread in particular */
    xteam *teams;
    xbound_thread bound_threads[8]; /* those of threads that wait for each other */
    uint32_t bound_thread_count;
    const xcrew *crew;      /* and who they are, while one of them runs */
    struct xthread *thread; /* that one */
    xexchange *exchanges;   /* of the statement that is compiled */
    uint32_t exchange_count;
    bool is_running;
    xvalue *factors; /* room for those of a product (interp_matrix.c) */
    int64_t factor_capacity;
    /* asynchronous copies */
    struct xflight *flights;
    uint32_t flight_count, flight_capacity;
    int64_t async_queue, waited_queue;
    xqueue queues[ASYNC_QUEUES];       /* where there is one thread */
    xbarrier *barriers;                /* of bulk copies */
    struct extern_frame *extern_frame; /* external calls in progress, on the stack */
    /* how a run ends early */
    hone_status status;
    jmp_buf escape;
};

/* ---- the machine (interp.c) ---- */
/* Ends the run with st, which it takes; where it stands is added: "…, in block 'B' (vi = 3)". Never
 * returns. */
HONE_NORETURN void machine_fail(machine *m, hone_status st);
/* machine_fail with NO_MEMORY. */
HONE_NORETURN void machine_out_of_memory(machine *m);
/* Zeroed memory in the arena of the run; never NULL: ends the run where memory is short. */
void *machine_alloc(machine *m, size_t bytes);

/* ---- compiling (interp_compile.c, interp_stmt.c) ---- */
/* The form of an expression that runs, in the arena; never NULL. Ends the run where it has no
 * meaning here: UNSUPPORTED. */
const xexpr *compile_expr(machine *m, const hone_expr *e);
/* compile_expr for a statement with all below it. */
xstmt *compile_stmt(machine *m, hone_node_id node);

/* ---- choosing evaluators ---- */
/* Each sets x->eval, x being a compiled expression that is complete but for that. Those that return
 * a bool return false, with x as it was, where the expression is none of theirs; the others end the
 * run: UNSUPPORTED. */
/* A binary operator; a: its first operand, whose type decides. */
void choose_binary(machine *m, xexpr *x, hone_op op, const xexpr *a);
/* A call of an intrinsic that is a function of its arguments, or runs as a statement. */
void choose_intrin(machine *m, xexpr *x, hone_intrin intrin);
/* A cast of `from`, its only operand. */
void choose_cast(machine *m, xexpr *x, const xexpr *from);
/* A load from x->u.buffer. */
void choose_load(machine *m, xexpr *x);
/* A call of an external function, by its name, when it comes to that (interp_extern.c). */
void choose_extern(machine *m, xexpr *x);
/* An instruction of a matrix unit (interp_matrix.c). */
bool choose_matrix(xexpr *x);
/* An atomic update or a product of bytes, by its name (interp_atomic.c). */
bool choose_device_call(xexpr *x);
/* An intrinsic of LLVM, or a half of a vector (interp_llvm.c). */
bool choose_llvm(xexpr *x);
/* An instruction for asynchronous copies (interp_async.c). */
bool choose_async(xexpr *x);
/* A shuffle, or another call in which threads pass values, by its name (interp_lanes.c). */
bool choose_lanes(machine *m, xexpr *x);
/* The call is an instruction that takes what the other lanes of its warp hold in buffers private to
 * them. */
bool needs_all_lanes(const machine *m, const hone_expr *call);

/* For storage scopes and thread tags: text may be NULL. */
static inline bool starts_with(const char *text, const char *prefix) {
    return text && strncmp(text, prefix, strlen(prefix)) == 0;
}

static inline bool x_is_float(const xexpr *e) {
    return e->type == X_F64 || e->type == X_F32 || e->type == X_FLOAT;
}
/* Gives it the evaluator of its type: of integers, or of floats. */
static inline void x_choose(xexpr *x, int64_t (*i)(const xexpr *, machine *),
                            double (*f)(const xexpr *, machine *)) {
    if (x_is_float(x))
        x->eval.f = f;
    else
        x->eval.i = i;
}

/* ---- numbers (interp_number.c) ---- */
/* An integer of so many bits as the machine keeps it: its low bits, sign- or zero-extended. */
int64_t wrap_slow(int64_t value, uint8_t bits, bool is_unsigned);
/* Rounds to a float type narrower than float32. */
double round_slow(double value, hone_dtype dtype);

/* A result of e as its type holds it: wrapped, or rounded. */
static inline int64_t wrap_to(const xexpr *e, int64_t value) {
    if (e->type == X_I32) return (int32_t)(uint32_t)(uint64_t)value;
    if (e->type == X_INT) return wrap_slow(value, e->bits, e->is_unsigned);
    return value;
}
static inline double round_to(const xexpr *e, double value) {
    if (e->type == X_F32) return (double)(float)value;
    if (e->type == X_FLOAT) return round_slow(value, e->dtype);
    return value;
}

/* ---- memory (interp_memory.c) ---- */
/* Where in its storage, in scalars, an element lies. Ends the run when that is outside, the buffer
 * is not live, or the access is one that the options forbid (uninitialised, race). */
int64_t locate(machine *m, hone_buffer id, uint32_t rank, const xexpr *const *indices,
               bool is_write);
/* locate in a buffer whose elements are vectors: of the scalar of the present lane. */
int64_t locate_lane(machine *m, hone_buffer id, uint32_t rank, const xexpr *const *indices,
                    bool is_write);
/* The checks of locate, for an element given by its place in the storage. */
void touch_element(machine *m, hone_buffer id, int64_t at, bool is_write);
/* Of storage: its units, one at least; its elements as a buffer's type sees them; the units that
 * the element at that place takes. */
size_t store_units(const xstore *s);
int64_t view_elements(const xbuffer *b);
int64_t first_unit(const xbuffer *b, int64_t at, int64_t *out_count);
/* touch_element for a register of another lane, read by an instruction of the whole warp. */
void touch_register(machine *m, hone_buffer id, int64_t at);
/* touch_element for an atomic update, which is no race with another one. */
void touch_atomically(machine *m, hone_buffer id, int64_t at);
/* Reads or writes the scalar at a place of the storage, which is of this type and inside; nothing
 * is checked. Writing wraps and rounds. */
int64_t read_int(const xstore *s, hone_dtype dtype, int64_t at);
double read_float(const xstore *s, hone_dtype dtype, int64_t at);
void write_int(const xstore *s, hone_dtype dtype, int64_t at, int64_t value);
void write_float(const xstore *s, hone_dtype dtype, int64_t at, double value);

/* ---- making buffers live; each evaluates the buffer's shape first (buffer_layout) ---- */
/* Gives the buffer storage of its own, poisoned. */
void buffer_allocate(machine *m, hone_buffer id);
/* Makes it a view of the buffer that it is an alias of, by its own shape, strides and elem_offset.
 * Ends the run where that buffer is not live, or its type has another size. */
void buffer_alias(machine *m, hone_buffer id);
/* Makes it a view of a region of another buffer (T.match_buffer); sizes in its shape and strides
 * that have no other value get theirs from the region. Ends the run where the source is not live,
 * or the shapes do not fit. */
void buffer_match(machine *m, const xmatch *match);
/* Gives a parameter the storage of the caller's argument, or a widened copy of it. Sizes must be
 * bound before. */
void buffer_argument(machine *m, hone_buffer id, hone_tensor *argument);
/* Gives the buffer the storage that `of` has, which another thread allocated for all threads. */
void buffer_share(machine *m, hone_buffer id, const xbuffer *of);
/* Evaluates shape and strides (dense where none are written). Ends the run where an extent is
 * negative, or their product too large. */
void buffer_layout(machine *m, hone_buffer id);
/* The buffer is not live any more; its own storage is kept for the next time. */
void buffer_drop(machine *m, hone_buffer id);
/* Gives a size its value where e is a variable that has none yet. */
void bind_if_free(machine *m, const hone_expr *e, int64_t value);
/* Frees the own storage of all buffers in a table (NULL: none), one per buffer of the function. */
void machine_free_stores(machine *m, xbuffer *buffers);

/* ---- races (interp_race.c) ---- */
/* Before a run with check_races: makes the first task, of which all others descend. */
void race_begin(machine *m);
/* Around an execution of a race loop: enter gives it a number and says which task runs it;
 * iteration makes a task of its own below that one, for a loop's iteration or (of == NULL) a thread
 * among those that wait for each other; leave goes back to it. */
void race_enter_loop(machine *m, uint32_t *out_loop, uint32_t *out_parent);
void race_iteration(machine *m, uint32_t loop, uint32_t parent, const xstmt *of);
void race_leave_loop(machine *m, uint32_t parent);
/* Notes an access of the present task to an element. Ends the run, ILLEGAL, where a concurrent task
 * has touched it and one of the two writes, but for what threads may share. */
void race_touch(machine *m, xstore *s, xplace at, hone_buffer id, bool is_write);
/* race_touch for an atomic update: concurrent ones are no race. */
void race_update(machine *m, xstore *s, xplace at, hone_buffer id);
/* The option allow_repeats is set, and the element holds the value already that is about to be
 * stored (m->fresh): writing it again is no race. */
bool race_is_repeat(const machine *m, hone_buffer id, int64_t at);
/* race_is_repeat, whatever the option says. */
bool race_is_same_value(const machine *m, hone_buffer id, int64_t at);
/* The present task and the other one are concurrent through a thread loop over which a block sums
 * up in the buffer. */
bool race_sums_up(const machine *m, uint32_t other, hone_buffer buffer);

/* Notes that an element of shared memory is about to be stored (m->fresh), where threads run one
 * after the other. Ends the run, ILLEGAL, where another thread of the block stores another value
 * there at once (interp_at_once.c). Only where s->instants is there. */
void at_once_store(machine *m, xstore *s, xplace at, hone_buffer id);

/* ---- asynchronous copies (interp_async.c) ---- */
/* With check_races: the element is on its way with the group that is being filled, until that was
 * waited for. */
void async_mark(machine *m, hone_buffer id, int64_t at);
/* Copies bytes from one place to another, which hold elements of one type. queue: of what the copy
 * is a part, NULL: of the group that is being filled. */
void async_copy(machine *m, hone_buffer to, int64_t to_at, hone_buffer from, int64_t from_at,
                int64_t bytes, xqueue *queue);
/* A call names the word among its arguments. */
bool async_says(const xexpr *e, const char *word);
/* T.cuda.cvta_generic_to_shared(pointer) is that pointer. */
const xexpr *async_plain_pointer(const xexpr *e);
/* Calls of barriers, and the bulk copy (interp_barrier.c). */
int64_t barrier_call(const xexpr *e, machine *m);
int64_t barrier_wait(const xexpr *e, machine *m);
int64_t barrier_copy(const xexpr *e, machine *m);
/* Ends the run, ILLEGAL, where the element is still on its way. Only where s->flights is there. */
void async_check(machine *m, xstore *s, xplace at, hone_buffer id);
/* The node is an attribute for asynchronous copies: commit, wait, or how many may be under way. */
bool async_is_attr(const hone_node *node);
/* The node stands in async_scope: its stores are asynchronous copies. */
bool async_is_inside(const hone_func *func, hone_node_id node);
/* Around what stands below such an attribute: enter and leave once, for all threads; begin and end
 * between them, for each thread in turn. */
void async_enter(machine *m, const hone_node *node);
void async_begin(machine *m, const hone_node *node);
void async_end(machine *m, const hone_node *node);
void async_leave(machine *m, const hone_node *node);

/* ---- bounds (interp_bound.c): where out_bounds are asked for ---- */
/* run_any_store, noting how far what is stored may be off. */
xflow run_bounded_store(const xstmt *s, machine *m);
/* Notes how far the value of a LET may be off. Ends the run where that is a vector that was
 * rounded: UNSUPPORTED. Without out_bounds, as the next two: nothing. */
void bound_let(machine *m, const xstmt *s);
/* Ends the run, UNSUPPORTED, where rounding may change the value: what is done depends on it. */
void bound_require_exact(machine *m, const xexpr *e);
/* Ends the run, UNSUPPORTED, where what is evaluated for its effect may have one. */
void bound_require_no_effect(machine *m, const hone_expr *e);
/* At the end of a run with out_bounds: hands the bounds of all elements of the parameters to the
 * caller. */
void bound_return(machine *m);

/* ---- private buffers (interp_private.c) ---- */
/* Finds where the uses of each buffer meet (m->meets), before the run. */
void private_find(machine *m);
/* Each iteration of the loop has a buffer of its own. */
bool buffer_is_private(const machine *m, hone_buffer id, hone_node_id loop);

/* ---- arrays of which each thread has one (interp_own.c) ---- */
/* Finds them (m->own), after private_find. */
void own_find(machine *m);
/* Notes what a loop over threads moves. */
void own_note_loop(machine *m, xstmt *s);
/* How many arrays of so many elements the storage holds. */
int64_t own_threads(const machine *m, hone_buffer id, int64_t elements);
/* In the loop, moves these buffers by so many threads. */
void own_move(const machine *m, const xstmt *s, xbuffer *buffers, int64_t by);

/* ---- threads that wait (interp_threads.c) ---- */
/* What a thread loop that waits keeps from one execution to the next; in the arena. */
xteam *team_create(machine *m);
/* Runs a thread loop with all below it, for all its threads, statement by statement where they wait
 * for each other. */
xflow run_waiting_loop(const xstmt *s, machine *m);
/* The tag of this thread loop is bound around it, so that the loop is one iteration: *out_index. */
bool thread_is_bound(const machine *m, const xstmt *s, int64_t *out_index);
/* Frees what threads have allocated. */
void machine_free_teams(machine *m);

/* ---- values between threads (interp_lanes.c) ---- */
/* Whether the threads of a block wait for each other at this call, as a statement, and which. */
xmeeting meeting_of(const hone_expr *call);
/* The reducer of a tvm_thread_allreduce, from the attribute around it. */
struct xreducer *compile_reducer(machine *m, hone_node_id node);

/* ---- external calls (interp_extern.c) ---- */
/* The buffer that shows the storage of a data variable, a live one first; HONE_NO_ID. */
hone_buffer buffer_of_data(const machine *m, hone_var var);
/* The buffer, and the place in its storage, that a pointer points to: data, tvm_access_ptr or
 * address_of. Ends the run where it is nothing live. */
hone_buffer place_of_pointer(machine *m, const xexpr *e, int64_t *out_at);
/* Frees what external calls in progress hold, when a run ends early. */
void machine_free_extern(machine *m);

/* ---- straight lines (interp_line.c) ---- */
/* value, value + step, … : so many numbers, at least 1. */
typedef struct xline {
    int64_t value, step, count;
} xline;

/* The next iterations of a loop, the slot of whose variable holds the first one; axes of the block
 * inside it are lines themselves. */
typedef struct xwalk {
    machine *m;
    hone_var var;
    int64_t count;
    uint32_t axis_count;
    xline *axes;
    hone_var *vars;
} xwalk;

/* What the expression is on the first iterations of the walk, out->count of them, where it is a
 * line there, as its evaluator would have it; nothing is read but variables. */
bool line_of(const xexpr *e, const xwalk *w, xline *out);
/* line_of for the condition of an if_then_else: which side is taken, and for how many iterations,
 * *io_count at most. */
bool line_choose(const xexpr *e, const xwalk *w, const xexpr **out_taken, int64_t *io_count);
/* The last number; false where it overflows. */
bool line_end(const xline *line, int64_t *out_last);

/* ---- copies (interp_copy.c) ---- */
/* Lets a loop that only moves elements do so for many iterations at a time. */
void copy_note_loop(machine *m, xstmt *s);

/* ---- statements (interp_stmt.c) ---- */
/* Runs a loop whose range was evaluated already (what it reads, the loop may write), or what is
 * left of it. */
xflow run_loop_over(const xstmt *s, machine *m, int64_t min, int64_t extent);
/* The value of an expression, in the present lane; x_int: of an integer type, x_float: of a float
 * type. */
static inline int64_t x_int(const xexpr *e, machine *m) {
    return e->eval.i(e, m);
}
static inline double x_float(const xexpr *e, machine *m) {
    return e->eval.f(e, m);
}
/* Runs a STORE of one element, or of all lanes, which are computed before the first is stored. */
xflow run_any_store(const xstmt *s, machine *m);
/* The index, in the storage, of the element that a STORE writes in the present lane; nothing is
 * checked. */
int64_t place_of_lane(const xstmt *s, machine *m);
/* Sets the axes of a block. True: all reduction axes stand at the beginning of their domains, so
 * that an init is due. Ends the run where a value lies outside of its domain. */
bool block_set_axes(const xblock *b, machine *m);
/* The ends of a range, evaluated where they are not constant. */
static inline int64_t range_min(const xrange *r, machine *m) {
    return r->is_constant ? r->constant_min : x_int(r->min, m);
}
static inline int64_t range_extent(const xrange *r, machine *m) {
    return r->is_constant ? r->constant_extent : x_int(r->extent, m);
}

#endif
