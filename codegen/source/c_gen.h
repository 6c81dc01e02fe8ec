/* codegen/source/c_gen.h - the state of printing one kernel as C11 or another language of its kind
 * (dialect.h), shared by codegen/source/.
 *
 * Values: a lane of bool is bool, an integer intN_t, float and double themselves; float16,
 * bfloat16 and float8 are computed as float and rounded when they are stored or cast. Indices are
 * int64_t. Integer arithmetic on values wraps, so it is done unsigned.
 *
 * C has no vectors: a vector statement becomes a loop over its lanes, and an expression is printed
 * for one lane (`lane` is its variable). What an expression cannot say (a let, a sum of lanes, an
 * external call) becomes statements in front of it.
 *
 * An error is recorded once in error; printers then return "0", so that callers need not check.
 */
#ifndef HONE_CODEGEN_SOURCE_C_GEN_H
#define HONE_CODEGEN_SOURCE_C_GEN_H

#include "codegen/facts.h"
#include "codegen/source/dialect.h"
#include "ir/arith/arith.h"
#include "ir/core/func.h"
#include "lower/signature/signature.h"
#include "support/core/strbuf.h"
#include "support/data/map.h"

/* What a variable stands for in the function being printed. */
typedef struct c_var {
    const char *text; /* NULL = not in scope */
    bool is_index;    /* an int64_t, whatever the variable's dtype */
    bool is_lanes;    /* an array, one element per lane */
} c_var;

typedef struct c_gen {
    const c_dialect *dialect;
    const hone_func *func;
    const char *symbol;
    hone_arena *arena; /* scratch of this kernel */
    hone_arith arith;  /* knows the ranges of the loops around */
    hone_str *out;     /* body of the function being printed */
    hone_str *done;    /* functions printed already: bodies of parallel loops */
    hone_strmap helpers;
    hone_str helper_text;     /* definitions of the helpers that are used, each once */
    hone_strmap names;        /* C identifiers that are taken */
    c_var *vars;              /* func->var_count */
    const hone_expr **values; /* of variables that name an index, for proofs; NULL: of a host */
    const char **buffers;     /* func->buffer_count; NULL = not in scope */
    const char *mask;         /* array of the lanes that stores may touch; NULL = all */
    const char *lane;         /* NULL outside of a loop over lanes */
    const bool *is_operand;   /* by storage: groups of warps multiply it (c_groups.c); NULL: none */
    int32_t indent;
    uint32_t parallel_count;
    bool is_behind;   /* stores may be copies that go on until they are waited for */
    bool is_parallel; /* inside a parallel loop: further ones are serial */
    bool uses_leave;
    bool uses_fault;         /* bits of what went wrong, looked at where the function returns */
    hone_buffer scratch[64]; /* workspace memory to free, in order of allocation */
    uint32_t scratch_count;
    hone_status error;
} c_gen;

/* A piece of C and how tightly it binds. */
typedef enum c_prec {
    C_PREC_CHOICE,
    C_PREC_LOGIC, /* && and ||, which are never mixed without parentheses */
    C_PREC_COMPARE,
    C_PREC_ADD,
    C_PREC_MUL,
    C_PREC_UNARY,
    C_PREC_POSTFIX,
} c_prec;
typedef struct c_text {
    const char *s;
    c_prec prec;
} c_text;

/* c_print.c */
void c_fail(c_gen *g, hone_status st); /* records the first error (takes st) */
const char *c_printf(c_gen *g, const char *format, ...) HONE_PRINTF(2, 3); /* in the arena */
void c_line(c_gen *g, const char *format, ...) HONE_PRINTF(2, 3);          /* indented */
void c_open(c_gen *g, const char *format, ...) HONE_PRINTF(2, 3); /* "… {", indents further */
void c_close(c_gen *g);
/* Braces around what a statement declares, unless nothing follows it in those that stand already
 * (names are never used twice). Returns whether there is something to close. */
bool c_open_scope(c_gen *g, hone_node_id statement);
void c_close_scope(c_gen *g, bool is_open);
const char *c_name(c_gen *g, const char *hint); /* a fresh identifier */
const char *c_at(c_gen *g, c_text text, c_prec least);

/* What stands for a letter behind a $; a row of letter 0 ends them. */
typedef struct c_blank {
    char letter;
    const char *text;
} c_blank;
const char *c_fill(c_gen *g, const char *form, const c_blank *blanks);
/* Takes what cannot be said in this dialect: "… in CUDA C". */
void c_unsupported(c_gen *g, const char *what);

/* c_types.c */
const char *c_type(c_gen *g, hone_dtype dtype);    /* of a value, one lane */
const char *c_storage(c_gen *g, hone_dtype dtype); /* as it lies in memory, one lane */
c_text c_to_storage(c_gen *g, hone_dtype dtype, c_text value);
c_text c_from_storage(c_gen *g, hone_dtype dtype, c_text stored);
/* An integer as its type has it: below 8 bits the low ones count. */
c_text c_wrapped(c_gen *g, hone_dtype dtype, c_text value);
/* A number to the bits of another small float. */
c_text c_narrow(c_gen *g, hone_dtype from, hone_dtype to, c_text value);
c_text c_cast(c_gen *g, hone_dtype from, hone_dtype to, c_text value);
c_text c_int_constant(hone_dtype dtype, int64_t value, c_gen *g);

/* c_helpers.c: small functions that are printed when they are used. Each returns its name. */
const char *c_helper(c_gen *g, const char *kind, const char *type);

/* c_expr.c */
c_text c_value(c_gen *g, const hone_expr *e);  /* of the lane g->lane when it is a vector */
c_text c_stored(c_gen *g, const hone_expr *e); /* the same as it lies in memory */
c_text c_condition(c_gen *g, const hone_expr *e);
c_text c_index(c_gen *g, const hone_expr *e);         /* as int64_t */
c_text c_checked_index(c_gen *g, const hone_expr *e); /* of checked_index, as int64_t */
const char *c_element(c_gen *g, hone_buffer buffer, const hone_expr *index); /* "A[i]" */
const char *c_buffer(c_gen *g, hone_buffer buffer);
c_space c_space_of(const c_gen *g, hone_buffer buffer);
/* A loop over `lanes` lanes begins and ends; what was the lane before is given back. */
const char *c_open_lanes(c_gen *g, uint32_t lanes);
void c_close_lanes(c_gen *g, const char *outer);
/* Whether an expression needs statements in front of it. */
bool c_needs_statements(const hone_expr *e);

/* c_call.c */
c_text c_call(c_gen *g, const hone_expr *e);

/* c_stmt.c */
void c_children(c_gen *g, hone_node_id parent);
void c_leave(c_gen *g, const char *code); /* code = …; goto leave; */
/* Between the two stands the body of a function: what they print is what all have in common. */
size_t c_begin_body(c_gen *g);
void c_end_body(c_gen *g, size_t begin);

/* c_memory.c */
void c_reserve(c_gen *g, hone_node_id root);
void c_alloc(c_gen *g, hone_node_id node);
void c_release_all(c_gen *g);

/* c_parallel.c */
void c_parallel(c_gen *g, hone_node_id loop);
/* c_device.c: launches of a GPU */
void c_thread_loop(c_gen *g, hone_node_id loop);
c_text c_sync(c_gen *g, const hone_expr *e);
/* Arrays that the threads of a block share stand at the top of a function. */
void c_declare_shared(c_gen *g);
void c_device_alloc(c_gen *g, hone_node_id node);

/* c_matrix.c: matrix units and asynchronous copies; false when the call is none of these. */
bool c_matrix_call(c_gen *g, const hone_expr *e);
void c_declare_fragments(c_gen *g, hone_buffer id);
bool c_is_of_warp(const c_gen *g, hone_buffer buffer);
/* What a lane holds of a buffer of a warp: so many elements, and where one of its own is. */
int64_t c_warp_elements(c_gen *g, hone_buffer buffer);
const char *c_warp_index(c_gen *g, hone_buffer buffer, const char *index);

/* c_simdgroup.c: Metal's matrices of groups of threads; false when the call is none of theirs. */
bool c_simdgroup_call(c_gen *g, const hone_expr *e);
/* The buffer is an array of them, which is declared in another way. */
bool c_is_simdgroup(const c_gen *g, hone_buffer buffer);
void c_declare_simdgroup(c_gen *g, hone_buffer id);
/* c_device_call.c: the space that a pointer points to, as far as it says: "device ". */
const char *c_space_of_pointer(c_gen *g, const hone_expr *e);

/* c_groups.c: groups of four warps; false when the call is none of theirs, or of no form that there
 * is an instruction for. */
bool c_group_call(c_gen *g, const hone_expr *e);
struct groups_operand;
/* The name of eight bytes that say of an operand where it begins, how far apart its columns are. */
const char *c_describe_operand(c_gen *g, const struct groups_operand *o);
/* c_lanes.c: those whose sums are in the threads' own memory; false when the call is another. */
bool c_lane_call(c_gen *g, const hone_expr *e);
void c_find_operands(c_gen *g);
bool c_is_operand(const c_gen *g, hone_buffer buffer);
void c_declare_sums(c_gen *g, hone_buffer id);
/* Where an element of an operand lies; any other buffer's index itself. */
const char *c_turned_index(c_gen *g, hone_buffer buffer, const char *index);

/* An index without the variables that name parts of it. */
const hone_expr *c_without_names(c_gen *g, const hone_expr *index);

/* c_vector.c: a store of lanes side by side; false when these are stored one by one. */
bool c_store_together(c_gen *g, const hone_node *node, uint32_t lanes);
/* One that goes on in the background; false when the device has none of that form. */
bool c_copies_behind(c_gen *g, const hone_node *node, uint32_t lanes);

/* c_device_call.c: what programs call by its name */
c_text c_device_call(c_gen *g, const hone_expr *e);

/* Marks what is in scope and used below root, in the arena; false without memory. */
bool c_find_uses(c_gen *g, hone_node_id root, bool **out_vars, bool **out_buffers);

#endif
