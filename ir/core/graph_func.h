/* ir/core/graph_func.h - a graph program: a Relax function over tensors, in A-normal form.
 *
 * values[] holds every variable of the function (parameters first); bindings[] are executed in
 * order, each defines one value. Arguments are leaves: values, constants, shapes, scalars, strings,
 * dtypes, or tuples of leaves. Nested calls in text are given names by the parser.
 *
 * Shapes are expressions over the function's own table of symbolic sizes (vars[]), int64.
 * Lifetime and threads: as hone_func.
 */
#ifndef HONE_IR_CORE_GRAPH_FUNC_H
#define HONE_IR_CORE_GRAPH_FUNC_H

#include "ir/core/func.h"

/* A variable of a graph program: index into hone_graph_func.values, or HONE_NO_ID. */
typedef uint32_t hone_gvalue;

/* What is known of a value (Relax: struct info). Immutable, in the arena. */
typedef enum hone_sinfo_kind {
    HONE_SINFO_OBJECT,
    HONE_SINFO_TENSOR, /* dtype (VOID = unknown), rank (-1 = unknown), shape (NULL = unknown) */
    HONE_SINFO_SHAPE,  /* rank, shape */
    HONE_SINFO_PRIM,   /* dtype; shape[0] = its value when known, rank 1, else rank -1 */
    HONE_SINFO_TUPLE,  /* fields[field_count] */
    HONE_SINFO_CALLABLE,
} hone_sinfo_kind;

typedef struct hone_sinfo hone_sinfo;
struct hone_sinfo {
    hone_sinfo_kind kind;
    hone_dtype dtype; /* of CALLABLE: bool = it is pure */
    int32_t rank;
    uint32_t field_count;
    const hone_expr *const *shape;
    const hone_sinfo *const *fields; /* of CALLABLE: the result, then the parameters, if known */
};

typedef enum hone_garg_kind {
    HONE_GARG_VALUE,    /* u.value */
    HONE_GARG_CONSTANT, /* u.constant: index into the module's constants */
    HONE_GARG_SHAPE,    /* u.exprs[count] */
    HONE_GARG_PRIM,     /* u.expr */
    HONE_GARG_STRING,   /* u.s */
    HONE_GARG_DTYPE,    /* dtype */
    HONE_GARG_TUPLE,    /* u.items[count] */
    HONE_GARG_GLOBAL,   /* u.s: name of a member of the module */
    HONE_GARG_EXTERN,   /* u.s: R.ExternFunc("name") */
    HONE_GARG_NONE,
} hone_garg_kind;

typedef struct hone_garg hone_garg;
struct hone_garg {
    hone_garg_kind kind;
    hone_dtype dtype;
    bool is_plain; /* STRING, PRIM: without R.str, R.prim_value, as what an operator is told */
    uint32_t count;
    union {
        hone_gvalue value;
        uint32_t constant;
        const hone_expr *expr;
        const hone_expr *const *exprs;
        const char *s;
        const hone_garg *items;
    } u;
};

typedef enum hone_gbind_kind {
    HONE_GBIND_CALL,        /* op by name: callee "add", "nn.conv2d", ... with args and attrs */
    HONE_GBIND_CALL_TIR,    /* callee = PrimFunc of the module; args; out sinfo = sinfo of value;
                               symbolic = scalars for its trailing parameters (tir_vars) */
    HONE_GBIND_CALL_DPS,    /* R.call_dps_packed: callee = external name */
    HONE_GBIND_CALL_FUNC,   /* callee = graph function of the module */
    HONE_GBIND_CALL_PACKED, /* R.call_packed: callee = external name */
    HONE_GBIND_ARG,         /* value = args[0]: alias, constant, tuple, shape */
    HONE_GBIND_TUPLE_GET,   /* args[0][index] */
    HONE_GBIND_MATCH_CAST,  /* args[0] checked against sinfo */
    HONE_GBIND_IF, /* args: the condition (a bool scalar), GLOBAL of the two functions of the
                      module that are its branches, then what either is called with */
} hone_gbind_kind;

enum { HONE_GBIND_IF_THEN = 1, HONE_GBIND_IF_ELSE, HONE_GBIND_IF_ARGS }; /* places in args */
/* Places in the arguments of the operator "loop": GLOBAL of the function that is its body; how
 * often at most, PRIM or a scalar of int64; tuples of what the states begin with and of what else
 * the body is called with; whether to begin at all, if that varies. The body takes the number of
 * the turn, the states and the other values; it gives a tuple: whether to go on (where the loop has
 * a condition), the new states, and an item of each scan. */
enum { HONE_LOOP_BODY, HONE_LOOP_LIMIT, HONE_LOOP_STATES, HONE_LOOP_CAPTURED, HONE_LOOP_CONDITION };

typedef struct hone_gbind {
    hone_gbind_kind kind;
    hone_gvalue value;  /* what it defines */
    const char *callee; /* operator or function name */
    uint32_t arg_count;
    const hone_garg *args;
    uint32_t symbolic_count;
    const hone_expr *const *symbolic;
    int32_t index; /* TUPLE_GET */
    hone_attrs attrs;
    bool is_pure;            /* CALL_PACKED: R.call_pure_packed */
    bool is_operand;         /* written within the R.match_cast that follows; says nothing */
    bool in_dataflow;        /* between R.dataflow() and R.output() */
    uint32_t dataflow_block; /* which one, counted from 0 */
    uint32_t kernel; /* from 1 on: it came with others of that number from a function that its
                        author wants to be one kernel (Primitive) */
    uint32_t line, column;
} hone_gbind;

typedef struct hone_gvalue_info {
    const char *name;
    const hone_sinfo *sinfo; /* NULL until inferred */
    bool is_output;          /* named in R.output */
} hone_gvalue_info;

typedef struct hone_graph_func {
    const char *name;
    hone_arena *arena;
    hone_var_info *vars; /* symbolic sizes, int64 */
    uint32_t var_count, var_capacity;
    hone_gvalue_info *values; /* the first param_count are the parameters */
    uint32_t value_count, value_capacity;
    hone_gbind *bindings;
    uint32_t bind_count, bind_capacity;
    uint32_t param_count;
    hone_garg result;
    uint32_t result_line, result_column; /* of return in the text; 0 = none */
    const hone_sinfo *result_sinfo;      /* NULL when not written */
    hone_attrs attrs; /* "num_input": how many parameters are inputs, the rest are weights */
    bool is_private, is_pure;
} hone_graph_func;

/* A function without values, in the arena; NULL when memory is short. */
hone_graph_func *hone_graph_func_create(hone_arena *arena, const char *name);
/* A copy of which nothing lies elsewhere than in the arena; NULL when memory is short. */
hone_graph_func *hone_graph_func_copy_deep(hone_arena *arena, const hone_graph_func *graph);
/* Parameters must be added before any other value. HONE_NO_ID when memory is short. */
hone_gvalue hone_graph_add_param(hone_graph_func *graph, const char *name, const hone_sinfo *info);
hone_gvalue hone_graph_add_value(hone_graph_func *graph, const char *name, const hone_sinfo *info);
hone_var hone_graph_add_var(hone_graph_func *graph, const char *name);
/* Appends a binding for value; the caller fills the rest. NULL when memory is short; the pointer is
 * valid until the next append. */
hone_gbind *hone_graph_add_bind(hone_graph_func *graph, hone_gbind_kind kind, hone_gvalue value);
/* Appends the call of an operator, with attributes, and the value that it defines. */
hone_gvalue hone_graph_add_call(hone_graph_func *graph, const char *op, size_t arg_count,
                                const hone_garg *args, hone_attrs attrs, const hone_sinfo *info);

/* By binding: the result needs its value, or it may not go (may_go says no). In the arena; NULL
 * when memory is short. */
bool *hone_graph_find_used(const hone_graph_func *graph, hone_arena *arena,
                           bool (*may_go)(const hone_gbind *bind));
/* It calls the operator of that name; false for NULL. */
bool hone_gbind_calls(const hone_gbind *bind, const char *op);
/* It does nothing but give its value: an operator's call, an alias, an item of a tuple. */
bool hone_gbind_has_no_effect(const hone_gbind *bind);

/* What messages call the value of a binding of the graph: its name, or, of what a reader or a pass
 * made on the way to another value and called "lv", the name of that. */
const char *hone_graph_told_name(const hone_graph_func *graph, const hone_gbind *bind);
/* Puts in front of a message which binding it is about: "'y': …". Values that a reader or a pass
 * made have one name, "lv"; of these it is the first other one behind, where no text wrote both:
 * "on the way to 'y': …". Takes and returns `st`; HONE_OK stays OK. */
HONE_NODISCARD hone_status hone_graph_annotate_bind(const hone_graph_func *graph, uint32_t index,
                                                    hone_status st);

/* Struct info (what is known of a value) in the arena; shapes, whose memory must last as long, may
 * be NULL (not known), ranks -1. NULL when memory is short. */
const hone_sinfo *hone_sinfo_tensor(hone_arena *arena, hone_dtype dtype, int32_t rank,
                                    const hone_expr *const *shape);
const hone_sinfo *hone_sinfo_static(hone_arena *arena, hone_dtype dtype, int32_t rank,
                                    const int64_t *shape); /* int64 extents */
const hone_sinfo *hone_sinfo_tuple(hone_arena *arena, uint32_t count,
                                   const hone_sinfo *const *fields);
/* A tensor whose shape is known and constant. */
bool hone_sinfo_is_static(const hone_sinfo *info);
/* What is known, in terms of another function, whose expressions sizes[v] stand for this function's
 * size v (NULL: it has none, so shapes that use v become unknown). NULL when memory is short (ir
 * has the error). */
const hone_sinfo *hone_sinfo_in_terms_of(hone_ir *ir, const hone_sinfo *info,
                                         const hone_expr *const *sizes, uint32_t count);

#define HONE_GARG_OF_VALUE(v) ((hone_garg){.kind = HONE_GARG_VALUE, .u.value = (v)})
#define HONE_GARG_OF_CONSTANT(c) ((hone_garg){.kind = HONE_GARG_CONSTANT, .u.constant = (c)})

#endif
