/* graph/operators/topi_build.h - what operators compute, as stages of tensor programs: one builder
 * per kind.
 *
 * A builder finds its inputs as buffers (or as literals, when they are constants of one element)
 * and leaves the buffer of the result. It is called for a whole kernel (hone_topi_build, from which
 * legalisation makes call_tir) or in the middle of a formula (hone_topi_apply, behind hone/topi.h).
 * Shapes are in te's index type; of kernels that is int32, or int64 when a size is symbolic or a
 * tensor has 2^31 elements or more.
 */
#ifndef HONE_GRAPH_OPERATORS_TOPI_BUILD_H
#define HONE_GRAPH_OPERATORS_TOPI_BUILD_H

#include "graph/module/graph_options.h"
#include "ir/ops/graph_infer.h"
#include "ir/ops/graph_op.h"
#include "ir/te/te.h"

enum { HONE_TOPI_MAX_ARGS = 64 };

typedef struct hone_topi {
    hone_te *te;
    const char *op; /* "nn.conv2d" */
    const hone_gbind *bind;
    const hone_garg *args;             /* the binding's arguments */
    const hone_sinfo *out;             /* tensor */
    const hone_expr *const *out_shape; /* in te's index type */
    /* flattened: items of a tuple argument count singly */
    uint32_t count;
    const hone_sinfo *infos[HONE_TOPI_MAX_ARGS];
    hone_buffer buffers[HONE_TOPI_MAX_ARGS];       /* HONE_NO_ID: a literal */
    const hone_expr *literals[HONE_TOPI_MAX_ARGS]; /* else NULL */
    const hone_expr *const *shapes[HONE_TOPI_MAX_ARGS];
    hone_buffer result;
    bool is_for_many_threads; /* hone_graph_options has it */
} hone_topi;

typedef hone_status (*hone_topi_fn)(hone_topi *t);

/* The builder of an operator, or NULL. */
hone_topi_fn hone_topi_find(const char *op);

/* The builders, rows of topi.def: */
#define HONE_TOPI(op, builder) hone_status hone_topi_emit_##builder(hone_topi *t);
#include "graph/operators/topi.def"
#undef HONE_TOPI
/* That of all others that compute an element of elements at the same index: by a row of its table.
 */
hone_status hone_topi_emit_elementwise(hone_topi *t);
hone_status hone_topi_emit_pad_copies(hone_topi *t); /* "nn.pad" of the data, not of a number */

/* ---- helpers ---- */
/* Argument i at the output's axes, broadcast as numpy does. */
const hone_expr *hone_topi_at(hone_topi *t, uint32_t i, const hone_expr *const *axes,
                              uint32_t rank);
/* Argument i at exactly these indices. */
const hone_expr *hone_topi_load(hone_topi *t, uint32_t i, const hone_expr *const *indices);
/* A literal of any dtype. */
const hone_expr *hone_topi_number(hone_topi *t, hone_dtype dtype, double value);
/* NULL where one of the two is. */
const hone_expr *hone_topi_op(hone_topi *t, hone_op op, const hone_expr *a, const hone_expr *b);
/* Both conditions; NULL is one that always holds. */
const hone_expr *hone_topi_both(hone_topi *t, const hone_expr *a, const hone_expr *b);
/* The value where the condition holds (NULL: always), else the other one, of the same type. Only
 * what is chosen is computed. */
const hone_expr *hone_topi_choose(hone_topi *t, const hone_expr *condition, const hone_expr *value,
                                  const hone_expr *otherwise);
const hone_expr *hone_topi_intrin(hone_topi *t, hone_intrin intrin, const hone_expr *x);
/* x + c, x * c without needless nodes. */
const hone_expr *hone_topi_add_int(hone_topi *t, const hone_expr *x, int64_t c);
const hone_expr *hone_topi_mul_int(hone_topi *t, const hone_expr *x, int64_t c);
/* x + y for extents and indices, constants folded */
const hone_expr *hone_topi_sum(hone_topi *t, const hone_expr *x, const hone_expr *y);
/* A computed index as te's index type: negative ones count from the end, and what is outside stays
 * outside. */
const hone_expr *hone_topi_index(hone_topi *t, const hone_expr *index, const hone_expr *extent);
/* A computed index that does not count from the end, as te's index type: one that is negative, or
 * beyond the extent, stays outside. */
const hone_expr *hone_topi_forward_index(hone_topi *t, const hone_expr *index,
                                         const hone_expr *extent);
/* A stage over the output's shape. */
void hone_topi_stage(hone_topi *t, hone_te_stage *stage);
/* A copy of the first argument with `before` and `after` elements of `value` around each dimension
 * (both have rank entries); all zero: the argument's own buffer. */
hone_buffer hone_topi_padded(hone_topi *t, const int64_t *before, const int64_t *after,
                             const hone_expr *value);
/* The type that an operator on dtype adds up in, and takes its steps in: float32 for short floats.
 */
hone_dtype hone_topi_wide(hone_dtype dtype);
const hone_expr *hone_topi_widen(hone_topi *t, const hone_expr *x);
/* The result is what is in the buffer, rounded where the output has another type. */
void hone_topi_give(hone_topi *t, hone_buffer wide);
/* A sum divided by how many there were: as floats, or rounded to zero. */
const hone_expr *hone_topi_mean(hone_topi *t, const hone_expr *sum, const hone_expr *count);
/* UNSUPPORTED with the operator's name. */
hone_status hone_topi_unsupported(const hone_topi *t, const char *format, ...) HONE_PRINTF(2, 3);

/* Builds the PrimFunc of an operator call whose arguments are known in `graph`. out_args[] (room
 * for HONE_TOPI_MAX_ARGS) are the tensors that it takes, in order. options: NULL = defaults. */
hone_status hone_topi_build(const hone_module *module, const hone_graph_func *graph,
                            const hone_gbind *bind, const hone_sinfo *out, const char *name,
                            const hone_graph_options *options, hone_arena *arena,
                            hone_func **out_func, hone_garg *out_args, uint32_t *out_arg_count);

/* Adds what an operator computes to a formula, as stages over buffers of te: value k of the binding
 * is buffers[k]. Extents in the binding are expressions over te's sizes. TYPE and INVALID as of
 * inference, UNSUPPORTED. */
hone_status hone_topi_apply(hone_te *te, const hone_gbind *bind, uint32_t count,
                            const hone_buffer *buffers, hone_buffer *out_result);

#endif
