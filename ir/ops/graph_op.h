/* ir/ops/graph_op.h - the operators of graph programs (Relax names) and their shape inference.
 *
 * One row per operator in graph_ops.def: the parser asks it which positional arguments are tensors
 * and which are attributes, the printer how to spell a call, the passes what may be fused. Those
 * that are only read and printed stand in graph_names.def.
 *
 * In a binding (HONE_GBIND_CALL) the tensors are args[], everything else is in attrs: integers as
 * INT, flags as BOOL, lists of integers as LIST, layouts and dtypes as STRING, None as NONE. Absent
 * attributes have the default of their row. Arguments that Relax passes as values stay arguments:
 * the target of reshape (HONE_GARG_SHAPE), the limits of clip (HONE_GARG_PRIM), the tuples of
 * strided_slice (HONE_GARG_TUPLE of HONE_GARG_PRIM).
 * Threads: the table is constant; inference is thread-compatible.
 */
#ifndef HONE_IR_OPS_GRAPH_OP_H
#define HONE_IR_OPS_GRAPH_OP_H

#include "ir/core/module.h"

/* How an output element depends on the inputs; the numbers are those of TVM's "op_pattern". */
typedef enum hone_op_pattern {
    HONE_PATTERN_ELEMWISE = 0,    /* out[i] from in[i]                                  */
    HONE_PATTERN_BROADCAST = 1,   /* out[i, j] from in[j]                               */
    HONE_PATTERN_INJECTIVE = 2,   /* out[i] from in[f(i)]                               */
    HONE_PATTERN_REDUCE = 3,      /* a commutative reduction                            */
    HONE_PATTERN_OUT_FUSABLE = 4, /* conv, matmul: elementwise work may follow in place */
    HONE_PATTERN_OPAQUE = 8,      /* anything else                                      */
} hone_op_pattern;

typedef struct hone_graph_op {
    const char *name; /* "nn.conv2d" */
    const char
        *args; /* "data weight": names, in order; "bias?" may be absent; "tensors" one tuple */
    const char *attrs; /* "axis=-1 keepdims=False": names and defaults, in positional order */
    hone_op_pattern pattern;
    int infer; /* internal: which inference rule */
} hone_graph_op;

/* NULL when there is no such operator. */
const hone_graph_op *hone_graph_op_find(const char *name);
/* Every name that a text may call, those of graph_names.def behind those of the rows; NULL behind
 * the last. One that ends with '.' is a family. */
const char *hone_graph_op_name_at(size_t index);
bool hone_graph_op_is_named(const char *name);
/* The operator is implemented: it has a row, or is composed of others (graph/compose). */
bool hone_graph_op_runs(const char *name);
/* The name of positional parameter `position` (arguments first, then attributes); NULL beyond the
 * last. The name is not terminated: out_length gives its length. out_is_attr says which it is. */
const char *hone_graph_op_param(const hone_graph_op *op, size_t position, size_t *out_length,
                                bool *out_is_attr);

/* What is known of an argument: struct info of a value, a constant, a tuple, a shape. NULL when it
 * is not known (yet) or memory is short. */
const hone_sinfo *hone_garg_sinfo(const hone_module *module, const hone_graph_func *graph,
                                  const hone_garg *arg, hone_arena *arena);

/* Infers the struct info of a binding (operator call, alias, tuple, tuple_get, match_cast,
 * call_tir, ...) from what is known of its arguments. TYPE or INVALID with the operator, the shapes
 * and what was expected; UNSUPPORTED for an operator without a row. Unknown shapes are kept
 * unknown. Broadcasting is numpy's; two symbolic extents are equal only when the same. */
HONE_NODISCARD hone_status hone_graph_infer_bind(const hone_module *module,
                                                 const hone_graph_func *graph,
                                                 const hone_gbind *bind, hone_arena *arena,
                                                 const hone_sinfo **out_info);
/* What is written of a binding against what its operator makes: TYPE when they contradict, or as
 * above. */
HONE_NODISCARD hone_status hone_graph_check_bind(const hone_module *module,
                                                 const hone_graph_func *graph,
                                                 const hone_gbind *bind, hone_arena *arena);
/* The sizes of a function, as the type of a parameter tells of what it is called with: fills in
 * those of sizes[] (by symbolic size of the callee) that are NULL. Types may be NULL. */
void hone_sinfo_bind_sizes(const hone_sinfo *param, const hone_sinfo *arg, const hone_expr **sizes);
/* Surely different: another kind, dtype, number of dimensions or extent. */
bool hone_sinfo_contradicts(const hone_sinfo *a, const hone_sinfo *b);
/* Fills in every missing struct info of the function and checks the ones that are written. The
 * graph must belong to one thread; results live in its arena. */
HONE_NODISCARD hone_status hone_graph_infer(const hone_module *module, hone_graph_func *graph);

/* "float32[1, 784]", "(float32[2], float32[n])": for messages. */
void hone_sinfo_describe(const hone_graph_func *graph, const hone_sinfo *info, hone_str *out);

/* ---- attributes with the defaults of the row ---- */
/* An integer list attribute of `count` items: a missing one gives `fallback` everywhere, a single
 * integer or a list of one is repeated. INVALID when it has another length. */
HONE_NODISCARD hone_status hone_graph_attr_ints(const hone_gbind *bind, const char *key,
                                                uint32_t count, int64_t fallback, int64_t *out);
/* Whether the call is permute_dims by these axes, `rank` of them. */
bool hone_graph_permutes(const hone_gbind *bind, uint32_t rank, const int64_t *axes);

#endif
