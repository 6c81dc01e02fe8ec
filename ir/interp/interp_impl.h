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

#include "ir/interp/interp.h"

enum { INTERP_MAX_LANES = 1024, INTERP_BOUNDED_ARGS = 4 };

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
        uint32_t slot;      /* variables */
        hone_buffer buffer; /* loads */
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
    int64_t row;       /* extent of the last dimension; 0: there is one dimension at most */
    hone_dtype dtype;  /* as stored: f64 for every float when widened */
    bool is_argument;  /* belongs to the caller */
    bool is_shared;    /* scope "shared": threads work on it together */
    bool *is_written;  /* NULL unless check_uninitialised and not an argument */
    xshadow *shadow;   /* NULL unless check_races */
    uint32_t *flights; /* by element: the copy under way to it (interp_async.c), or NULL */
    xerror *bounds;    /* by element; NULL unless out_bounds */
    xfragment fragment;
    hone_tensor *argument; /* what a widened argument is written back to */
} xstore;

/* A buffer as it is now: a view of storage. The expressions of its shape are compiled when it first
 * becomes live. */
typedef struct xbuffer {
    const xexpr **shape_exprs, **stride_exprs, *offset_expr;
    xstore *store; /* NULL: not live */
    int64_t offset;
    int64_t *shape, *strides; /* rank, at least 1; strides in scalars */
    uint32_t rank;
    uint16_t lanes;   /* scalars per element */
    bool is_plain;    /* dense, whole, nothing to check but the indices */
    hone_dtype dtype; /* of a scalar */
    xstore own;       /* storage of its own, kept from one execution to the next */
} xbuffer;

/* ---- asynchronous copies ---- */

enum { ASYNC_QUEUES = 4 };

typedef struct xqueue {
    uint32_t committed, done; /* groups */
    uint32_t flight;          /* of the group that is being filled, if it is that one's */
} xqueue;

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
    const xexpr *value; /* STORE, EVAL, IF, WHILE, ASSERT, LET */
    xblock *block;
    xaccess access;      /* STORE; ALLOC and DECL use access.buffer */
    const char *message; /* ASSERT */
};

/* Who gives a variable its value: nobody yet (a size that a shape will bind), a view that may bind
 * it again, or a loop, axis, let or parameter. */
typedef enum xbound { VAR_FREE, VAR_OF_VIEW, VAR_BOUND } xbound;

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
    /* asynchronous copies */
    struct xflight *flights;
    uint32_t flight_count, flight_capacity;
    int64_t async_queue, waited_queue;
    xqueue queues[ASYNC_QUEUES];       /* where there is one thread */
    struct extern_frame *extern_frame; /* external calls in progress, on the stack */
    /* how a run ends early */
    hone_status status;
    jmp_buf escape;
};

/* Ends the run with st (takes it). "…, in block 'B' (vi = 3)" is added. Never returns. */
HONE_NORETURN void machine_fail(machine *m, hone_status st);
HONE_NORETURN void machine_out_of_memory(machine *m);
void *machine_alloc(machine *m, size_t bytes); /* zeroed, in the arena; never NULL */

/* ---- interp_compile.c ---- */
const xexpr *compile_expr(machine *m, const hone_expr *e); /* never NULL */
xstmt *compile_stmt(machine *m, hone_node_id node);

/* ---- choosing evaluators ---- */
void choose_binary(machine *m, xexpr *x, hone_op op, const xexpr *a);
void choose_intrin(machine *m, xexpr *x, hone_intrin intrin);
void choose_cast(machine *m, xexpr *x, const xexpr *from);
void choose_load(machine *m, xexpr *x);
void choose_extern(machine *m, xexpr *x);
/* An instruction of a matrix unit (interp_matrix.c); false when it is none. */
bool choose_matrix(xexpr *x);
/* Does an instruction take what the other lanes of its warp hold in buffers of their own? */
bool needs_all_lanes(const machine *m, const hone_expr *call);
/* An atomic update or a product of bytes, by its name (interp_atomic.c). */
bool choose_device_call(xexpr *x);
/* An intrinsic of LLVM, or a half of a vector (interp_llvm.c). */
bool choose_llvm(xexpr *x);
/* An instruction for asynchronous copies (interp_async.c). */
bool choose_async(xexpr *x);

/* Of a scope or a thread's tag, which may be NULL. */
static inline bool starts_with(const char *text, const char *prefix) {
    return text && strncmp(text, prefix, strlen(prefix)) == 0;
}

static inline bool x_is_float(const xexpr *e) {
    return e->type == X_F64 || e->type == X_F32 || e->type == X_FLOAT;
}

/* ---- numbers (interp_number.c) ---- */
int64_t wrap_slow(int64_t value, uint8_t bits, bool is_unsigned);
double round_slow(double value, hone_dtype dtype);

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
/* Where in its storage an element lies. Ends the run when that is outside, or the access is one
 * that the options forbid (uninitialised, race). */
int64_t locate(machine *m, hone_buffer id, uint32_t rank, const xexpr *const *indices,
               bool is_write);
/* locate in a buffer whose elements are vectors: of the scalar of the present lane. */
int64_t locate_lane(machine *m, hone_buffer id, uint32_t rank, const xexpr *const *indices,
                    bool is_write);
/* The checks of locate, for an element given by its place in the storage. */
void touch_element(machine *m, hone_buffer id, int64_t at, bool is_write);
/* touch_element for a register of another lane, read by an instruction of the whole warp. */
void touch_register(machine *m, hone_buffer id, int64_t at);
/* touch_element for an atomic update, which is no race with another one. */
void touch_atomically(machine *m, hone_buffer id, int64_t at);
int64_t read_int(const xstore *s, hone_dtype dtype, int64_t at);
double read_float(const xstore *s, hone_dtype dtype, int64_t at);
void write_int(const xstore *s, hone_dtype dtype, int64_t at, int64_t value);
void write_float(const xstore *s, hone_dtype dtype, int64_t at, double value);
/* Storage of its own, poisoned, with the shape that the buffer has now. */
void buffer_allocate(machine *m, hone_buffer id);
/* A view of another buffer's storage by its own shape, strides and elem_offset. */
void buffer_alias(machine *m, hone_buffer id);
void buffer_match(machine *m, const xmatch *match);
/* A parameter: storage of the caller, or a widened copy of it. Sizes must be bound before. */
void buffer_argument(machine *m, hone_buffer id, hone_tensor *argument);
/* Evaluates shape and strides (dense where none are written). */
void buffer_layout(machine *m, hone_buffer id);
void buffer_drop(machine *m, hone_buffer id);
/* Binds a size to a value when e is a variable that has none yet. */
void bind_if_free(machine *m, const hone_expr *e, int64_t value);
void machine_free_stores(machine *m, xbuffer *buffers);
/* The storage that another thread has allocated for all. */
void buffer_share(machine *m, hone_buffer id, const xbuffer *of);

/* ---- races (interp_race.c) ---- */
void race_begin(machine *m);
void race_enter_loop(machine *m, uint32_t *out_loop, uint32_t *out_parent);
void race_iteration(machine *m, uint32_t loop, uint32_t parent, const xstmt *of);
void race_leave_loop(machine *m, uint32_t parent);
void race_touch(machine *m, xstore *s, int64_t at, hone_buffer id, bool is_write);
bool race_is_repeat(const machine *m, hone_buffer id, int64_t at); /* the fresh value is there */
void race_update(machine *m, xstore *s, int64_t at, hone_buffer id);

/* ---- asynchronous copies (interp_async.c) ---- */
/* The element is on its way with the group that is being filled. */
void async_mark(machine *m, hone_buffer id, int64_t at);
/* Fails when it still is. */
void async_check(machine *m, xstore *s, int64_t at, hone_buffer id);
bool async_is_attr(const hone_node *node);
/* Does a node stand in async_scope? */
bool async_is_inside(const hone_func *func, hone_node_id node);
/* Around what stands below an attribute; begin and end for each thread in turn. */
void async_enter(machine *m, const hone_node *node);
void async_begin(machine *m, const hone_node *node);
void async_end(machine *m, const hone_node *node);
void async_leave(machine *m, const hone_node *node);

/* ---- bounds (interp_bound.c): where out_bounds are asked for ---- */
/* A store that notes how far what it stores may be off. */
xflow run_bounded_store(const xstmt *s, machine *m);
void bound_let(machine *m, const xstmt *s);
/* What is done depends on this value: fails when rounding may change it. */
void bound_require_exact(machine *m, const xexpr *e);
/* Fails when what is evaluated for its effect may have one. */
void bound_require_no_effect(machine *m, const hone_expr *e);
void bound_return(machine *m);

/* ---- whose storage (interp_private.c) ---- */
void private_find(machine *m);
/* Has each iteration of this thread loop a buffer of its own? */
bool buffer_is_private(const machine *m, hone_buffer id, hone_node_id loop);

/* ---- threads that wait (interp_threads.c) ---- */
xteam *team_create(machine *m);
xflow run_waiting_loop(const xstmt *s, machine *m);
/* Is the tag of this thread loop bound around it? Then the loop is one iteration. */
bool thread_is_bound(const machine *m, const xstmt *s, int64_t *out_index);
/* Sets the axes; returns whether all reduction axes stand at the beginning of their domains. */
bool block_set_axes(const xblock *b, machine *m);
void machine_free_teams(machine *m);

/* ---- values between threads (interp_lanes.c) ---- */
/* A shuffle or another such call by its name; false when it is none. */
bool choose_lanes(machine *m, xexpr *x);
/* What this call, as a statement, is for the threads. */
xmeeting meeting_of(const hone_expr *call);
/* The reducer of a tvm_thread_allreduce, from the attribute around it. */
struct xreducer *compile_reducer(machine *m, hone_node_id node);

/* ---- external calls (interp_extern.c) ---- */
/* The buffer that shows the storage of a data variable, a live one first; HONE_NO_ID. */
hone_buffer buffer_of_data(const machine *m, hone_var var);
/* What a pointer points to: data, tvm_access_ptr or address_of. Fails when it is nothing live. */
hone_buffer place_of_pointer(machine *m, const xexpr *e, int64_t *out_at);
void machine_free_extern(machine *m);

/* ---- statements (interp_stmt.c) ---- */
static inline int64_t x_int(const xexpr *e, machine *m) {
    return e->eval.i(e, m);
}
static inline double x_float(const xexpr *e, machine *m) {
    return e->eval.f(e, m);
}
/* One element, or all lanes, of which all are computed before the first one is stored. */
xflow run_any_store(const xstmt *s, machine *m);
/* Where the present lane of a store goes; nothing is checked. */
int64_t place_of_lane(const xstmt *s, machine *m);
static inline int64_t range_min(const xrange *r, machine *m) {
    return r->is_constant ? r->constant_min : x_int(r->min, m);
}
static inline int64_t range_extent(const xrange *r, machine *m) {
    return r->is_constant ? r->constant_extent : x_int(r->extent, m);
}

#endif
