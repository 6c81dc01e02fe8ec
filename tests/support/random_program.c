/* tests/support/random_program.c - random chains of stages. */
#include "tests/support/random_program.h"

#include <stdio.h>

#include "ir/te/te.h"
#include "ir/text/read/script.h"
#include "support/data/rng.h"
#include "tests/support/hone_test.h"
#include "tests/support/random_script.h"

enum { MAX_TENSORS = 24, MAX_DIMS = 4, MAX_ELEMENTS = 600 };

typedef struct tensor {
    hone_buffer buffer;
    uint32_t rank;
    int64_t shape[MAX_DIMS];
    bool is_used; /* read by a later stage */
} tensor;

typedef struct gen {
    hone_te te;
    hone_rng rng;
    hone_dtype dtype;
    hone_random_options options;
    tensor tensors[MAX_TENSORS]; /* inputs and results so far */
    uint32_t tensor_count, stage_count;
} gen;

typedef const hone_expr *expr;

/* ---- choices ---- */

static uint64_t below(gen *g, uint64_t bound) {
    return hone_rng_below(&g->rng, bound);
}

static int64_t random_extent(gen *g) {
    static const int64_t extents[] = {1, 2, 3, 4, 5, 7, 8, 11, 13, 16};
    return extents[below(g, HONE_COUNT(extents))];
}

static void random_shape(gen *g, tensor *t, uint32_t rank) {
    int64_t elements = 1;
    t->rank = rank;
    for (uint32_t d = 0; d < rank; d++) {
        int64_t extent = random_extent(g);
        if (elements * extent > MAX_ELEMENTS) extent = 2;
        t->shape[d] = extent;
        elements *= extent;
    }
}

static int64_t elements_of(const tensor *t) {
    int64_t count = 1;
    for (uint32_t d = 0; d < t->rank; d++)
        count *= t->shape[d];
    return count;
}

/* ---- expressions ---- */

static expr constant(gen *g, double value) {
    if (hone_dtype_is_float(g->dtype)) return hone_expr_float(&g->te.ir, g->dtype, value);
    return hone_expr_int(&g->te.ir, g->dtype, (int64_t)value);
}

static expr binary(gen *g, hone_op op, expr a, expr b) {
    return hone_expr_binary(&g->te.ir, op, a, b);
}

static expr index_of(gen *g, int64_t value) {
    return hone_te_int(&g->te, value);
}

/* Keeps numbers small: a product or a sum of many goes through this. */
static expr tame(gen *g, expr value) {
    if (hone_dtype_is_float(g->dtype)) return binary(g, HONE_OP_MUL, value, constant(g, 0.25));
    return binary(g, HONE_OP_FLOORMOD, value, constant(g, 17));
}

static expr call1(gen *g, hone_intrin intrin, expr a) {
    return hone_expr_call(&g->te.ir, g->dtype, intrin, 1, &a);
}

static expr unary(gen *g, expr x) {
    bool is_float = hone_dtype_is_float(g->dtype);
    switch (below(g, is_float ? 8 : 5)) {
    case 0:
        return binary(g, HONE_OP_MAX, x, constant(g, 0));
    case 1:
        return binary(g, HONE_OP_ADD, x, constant(g, 3));
    case 2:
        return binary(g, HONE_OP_MUL, x, constant(g, -2));
    case 3:
        return binary(g, HONE_OP_MIN, x, constant(g, 2));
    case 4:
        return binary(g, HONE_OP_SUB, constant(g, 1), x);
    case 5:
        return call1(g, HONE_INTRIN_TANH, x);
    case 6:
        return call1(g, HONE_INTRIN_SIGMOID, x);
    default:
        return call1(g, HONE_INTRIN_SQRT,
                     binary(g, HONE_OP_ADD, binary(g, HONE_OP_MUL, x, x), constant(g, 1)));
    }
}

static expr combine(gen *g, expr x, expr y) {
    switch (below(g, 5)) {
    case 0:
        return binary(g, HONE_OP_ADD, x, y);
    case 1:
        return binary(g, HONE_OP_SUB, x, y);
    case 2:
        return tame(g, binary(g, HONE_OP_MUL, x, y));
    case 3:
        return binary(g, HONE_OP_MAX, x, y);
    default:
        return binary(g, HONE_OP_MIN, x, y);
    }
}

static expr load(gen *g, const tensor *t, const expr *indices) {
    return hone_te_load(&g->te, t->buffer, indices);
}

/* ---- tensors ---- */

static tensor *keep(gen *g, tensor t) {
    t.is_used = false;
    g->tensors[g->tensor_count] = t;
    return &g->tensors[g->tensor_count++];
}

static tensor *new_input(gen *g, const tensor *like) {
    char name[24];
    expr shape[MAX_DIMS];
    tensor t = *like;
    snprintf(name, sizeof name, "X%u", (unsigned)g->te.input_count);
    for (uint32_t d = 0; d < t.rank; d++)
        shape[d] = index_of(g, t.shape[d]);
    t.buffer = hone_te_input(&g->te, name, g->dtype, t.rank, shape);
    return keep(g, t);
}

/* The latest result, or sometimes an older one. */
static tensor *pick(gen *g) {
    uint32_t at = g->tensor_count - 1;
    if (at > 0 && below(g, 4) == 0) at = (uint32_t)below(g, at + 1);
    g->tensors[at].is_used = true;
    return &g->tensors[at];
}

static void begin(gen *g, hone_te_stage *s, const tensor *out, uint32_t reduce_count,
                  const int64_t *reduce) {
    expr spatial[MAX_DIMS], extents[MAX_DIMS];
    for (uint32_t d = 0; d < out->rank; d++)
        spatial[d] = index_of(g, out->shape[d]);
    for (uint32_t d = 0; d < reduce_count; d++)
        extents[d] = index_of(g, reduce[d]);
    hone_te_stage_begin(&g->te, s, out->rank, spatial, reduce_count, extents);
}

static void compute(gen *g, const hone_te_stage *s, tensor *out, expr value) {
    char name[24];
    snprintf(name, sizeof name, "T%u", (unsigned)g->stage_count++);
    out->buffer = hone_te_compute(&g->te, s, name, value);
    keep(g, *out);
}

static void reduce(gen *g, const hone_te_stage *s, tensor *out, hone_te_reducer reducer,
                   expr value) {
    char name[24];
    snprintf(name, sizeof name, "R%u", (unsigned)g->stage_count++);
    out->buffer = hone_te_reduce(&g->te, s, name, reducer, value);
    keep(g, *out);
}

static hone_te_reducer random_reducer(gen *g) {
    static const hone_te_reducer reducers[] = {HONE_TE_SUM, HONE_TE_SUM,     HONE_TE_MAX,
                                               HONE_TE_MIN, HONE_TE_MAXIMUM, HONE_TE_MINIMUM};
    return reducers[below(g, HONE_COUNT(reducers))];
}

/* ---- stages ---- */

static void stage_unary(gen *g) {
    tensor x = *pick(g), out = x;
    hone_te_stage s;
    begin(g, &s, &out, 0, NULL);
    compute(g, &s, &out, unary(g, load(g, &x, s.axis)));
}

/* The other operand is new or of the same shape; some of its dimensions are 1. */
static void stage_binary(gen *g) {
    tensor x = *pick(g), out = x, y = x;
    hone_te_stage s;
    expr at[MAX_DIMS];
    uint32_t lead = (uint32_t)below(g, x.rank + 1);
    for (uint32_t d = 0; d < y.rank; d++) {
        if (below(g, 3) == 0) y.shape[d] = 1;
    }
    y.rank -= lead;
    for (uint32_t d = 0; d < y.rank; d++)
        y.shape[d] = y.shape[d + lead];
    y = *new_input(g, &y);
    begin(g, &s, &out, 0, NULL);
    for (uint32_t d = 0; d < y.rank; d++) {
        at[d] = y.shape[d] == 1 ? index_of(g, 0) : s.axis[d + lead];
    }
    compute(g, &s, &out, combine(g, load(g, &x, s.axis), load(g, &y, at)));
}

static void stage_reduction(gen *g) {
    tensor x = *pick(g), out = {0};
    hone_te_stage s;
    bool is_reduced[MAX_DIMS];
    int64_t extents[MAX_DIMS] = {0};
    uint32_t reduced = 0;
    expr at[MAX_DIMS];
    for (uint32_t d = 0; d < x.rank; d++) {
        is_reduced[d] = below(g, 2) == 0 || (d + 1 == x.rank && reduced == 0);
        if (is_reduced[d])
            extents[reduced++] = x.shape[d];
        else
            out.shape[out.rank++] = x.shape[d];
    }
    begin(g, &s, &out, reduced, extents);
    uint32_t spatial = 0, red = 0;
    for (uint32_t d = 0; d < x.rank; d++) {
        at[d] = is_reduced[d] ? s.axis[out.rank + red++] : s.axis[spatial++];
    }
    reduce(g, &s, &out, random_reducer(g), tame(g, load(g, &x, at)));
}

/* out[.., i, ..] = x[.., i, ..] op x[.., i + 1, ..] (op x[.., i + 2, ..]) */
static void stage_window(gen *g) {
    tensor x = *pick(g), out = x;
    hone_te_stage s;
    expr at[MAX_DIMS], value = NULL;
    if (x.rank == 0) {
        stage_unary(g);
        return;
    }
    uint32_t dim = (uint32_t)below(g, x.rank);
    int64_t width = 1 + (int64_t)below(g, 3);
    if (width > x.shape[dim]) width = x.shape[dim];
    out.shape[dim] = x.shape[dim] - width + 1;
    begin(g, &s, &out, 0, NULL);
    for (int64_t k = 0; k < width; k++) {
        for (uint32_t d = 0; d < x.rank; d++)
            at[d] = s.axis[d];
        at[dim] = binary(g, HONE_OP_ADD, s.axis[dim], index_of(g, k));
        expr element = load(g, &x, at);
        value = value ? combine(g, value, element) : element;
    }
    compute(g, &s, &out, value);
}

static void stage_matmul(gen *g) {
    tensor x = *pick(g), y = {.rank = 2}, out = x;
    hone_te_stage s;
    expr a[MAX_DIMS], b[2];
    if (x.rank == 0) {
        stage_unary(g);
        return;
    }
    int64_t depth = x.shape[x.rank - 1];
    y.shape[0] = depth;
    y.shape[1] = elements_of(&x) / depth * 16 > MAX_ELEMENTS ? 2 : random_extent(g);
    bool is_transposed = below(g, 2) == 0;
    if (is_transposed) {
        y.shape[0] = y.shape[1];
        y.shape[1] = depth;
    }
    y = *new_input(g, &y);
    out.shape[x.rank - 1] = y.shape[is_transposed ? 0 : 1];
    begin(g, &s, &out, 1, &depth);
    expr j = s.axis[x.rank - 1], k = s.axis[x.rank];
    for (uint32_t d = 0; d < x.rank; d++)
        a[d] = s.axis[d];
    a[x.rank - 1] = k;
    b[0] = is_transposed ? j : k;
    b[1] = is_transposed ? k : j;
    reduce(g, &s, &out, HONE_TE_SUM,
           tame(g, binary(g, HONE_OP_MUL, load(g, &x, a), load(g, &y, b))));
}

/* x[c, h, w] and weights [o, c, kh, kw], with a stride. */
static void stage_conv(gen *g) {
    tensor x = {.rank = 3}, w = {.rank = 4}, out = {.rank = 3};
    hone_te_stage s;
    tensor *source = pick(g);
    if (source->rank == 3)
        x = *source;
    else {
        x.shape[0] = 1 + (int64_t)below(g, 4);
        x.shape[1] = 3 + (int64_t)below(g, 8);
        x.shape[2] = 3 + (int64_t)below(g, 8);
        x = *new_input(g, &x);
    }
    int64_t stride = 1 + (int64_t)below(g, 2);
    w.shape[0] = 1 + (int64_t)below(g, 4);
    w.shape[1] = x.shape[0];
    for (uint32_t d = 1; d < 3; d++) {
        w.shape[d + 1] = x.shape[d] >= 3 ? 1 + (int64_t)below(g, 3) : 1;
        out.shape[d] = (x.shape[d] - w.shape[d + 1]) / stride + 1;
    }
    out.shape[0] = w.shape[0];
    w = *new_input(g, &w);
    begin(g, &s, &out, 3, &w.shape[1]);
    expr at_w[4] = {s.axis[0], s.axis[3], s.axis[4], s.axis[5]}, at_x[3] = {s.axis[3]};
    for (uint32_t d = 1; d < 3; d++) {
        expr base =
            stride == 1 ? s.axis[d] : binary(g, HONE_OP_MUL, s.axis[d], index_of(g, stride));
        at_x[d] = binary(g, HONE_OP_ADD, base, s.axis[3 + d]);
    }
    reduce(g, &s, &out, HONE_TE_SUM,
           tame(g, binary(g, HONE_OP_MUL, load(g, &x, at_x), load(g, &w, at_w))));
}

static void stage_transpose(gen *g) {
    tensor x = *pick(g), out = x;
    hone_te_stage s;
    uint32_t order[MAX_DIMS] = {0, 1, 2, 3};
    expr at[MAX_DIMS];
    hone_test_shuffle(&g->rng, order, x.rank, sizeof order[0]);
    for (uint32_t d = 0; d < x.rank; d++)
        out.shape[d] = x.shape[order[d]];
    begin(g, &s, &out, 0, NULL);
    for (uint32_t d = 0; d < x.rank; d++)
        at[order[d]] = s.axis[d];
    compute(g, &s, &out, load(g, &x, at));
}

/* To one dimension, or from one to two. */
static void stage_reshape(gen *g) {
    tensor x = *pick(g), out = {.rank = 1};
    hone_te_stage s;
    expr at[MAX_DIMS];
    out.shape[0] = elements_of(&x);
    begin(g, &s, &out, 0, NULL);
    int64_t stride = out.shape[0];
    for (uint32_t d = 0; d < x.rank; d++) {
        stride /= x.shape[d];
        at[d] = binary(g, HONE_OP_FLOORDIV, s.axis[0], index_of(g, stride));
        if (d > 0) at[d] = binary(g, HONE_OP_FLOORMOD, at[d], index_of(g, x.shape[d]));
    }
    compute(g, &s, &out, load(g, &x, at));
}

static void stage_pad(gen *g) {
    tensor x = *pick(g), out = x;
    hone_te_stage s;
    expr at[MAX_DIMS], inside = NULL;
    int64_t before[MAX_DIMS];
    if (x.rank == 0) {
        stage_unary(g);
        return;
    }
    for (uint32_t d = 0; d < x.rank; d++) {
        before[d] = (int64_t)below(g, 3);
        out.shape[d] = x.shape[d] + before[d] + (int64_t)below(g, 2);
    }
    begin(g, &s, &out, 0, NULL);
    for (uint32_t d = 0; d < x.rank; d++) {
        expr low = binary(g, HONE_OP_GE, s.axis[d], index_of(g, before[d]));
        expr high = binary(g, HONE_OP_LT, s.axis[d], index_of(g, before[d] + x.shape[d]));
        expr both = binary(g, HONE_OP_AND, low, high);
        inside = inside ? binary(g, HONE_OP_AND, inside, both) : both;
        at[d] = binary(g, HONE_OP_SUB, s.axis[d], index_of(g, before[d]));
    }
    expr parts[] = {inside, load(g, &x, at), constant(g, (double)below(g, 2))};
    compute(g, &s, &out, hone_expr_call(&g->te.ir, g->dtype, HONE_INTRIN_IF_THEN_ELSE, 3, parts));
}

/* Every second element, or from the end to the beginning. */
static void stage_strided(gen *g) {
    tensor x = *pick(g), out = x;
    hone_te_stage s;
    expr at[MAX_DIMS];
    if (x.rank == 0) {
        stage_unary(g);
        return;
    }
    uint32_t dim = (uint32_t)below(g, x.rank);
    bool is_flip = below(g, 2) == 0;
    if (!is_flip) out.shape[dim] = (x.shape[dim] + 1) / 2;
    begin(g, &s, &out, 0, NULL);
    for (uint32_t d = 0; d < x.rank; d++)
        at[d] = s.axis[d];
    at[dim] = is_flip ? binary(g, HONE_OP_SUB, index_of(g, x.shape[dim] - 1), s.axis[dim])
                      : binary(g, HONE_OP_MUL, s.axis[dim], index_of(g, 2));
    compute(g, &s, &out, load(g, &x, at));
}

/* A running maximum over a window: reduction with overlapping reads. */
static void stage_pool(gen *g) {
    tensor x = *pick(g), out = x;
    hone_te_stage s;
    expr at[MAX_DIMS];
    if (x.rank == 0) {
        stage_unary(g);
        return;
    }
    uint32_t dim = x.rank - 1;
    int64_t width = x.shape[dim] >= 2 ? 2 : 1, stride = 1 + (int64_t)below(g, 2);
    out.shape[dim] = (x.shape[dim] - width) / stride + 1;
    begin(g, &s, &out, 1, &width);
    for (uint32_t d = 0; d < x.rank; d++)
        at[d] = s.axis[d];
    at[dim] = binary(g, HONE_OP_ADD, binary(g, HONE_OP_MUL, s.axis[dim], index_of(g, stride)),
                     s.axis[x.rank]);
    reduce(g, &s, &out, HONE_TE_MAX, load(g, &x, at));
}

/* An integer choice by an index condition. */
static void stage_select(gen *g) {
    tensor x = *pick(g), out = x;
    hone_te_stage s;
    if (x.rank == 0) {
        stage_unary(g);
        return;
    }
    begin(g, &s, &out, 0, NULL);
    expr odd = binary(g, HONE_OP_EQ, binary(g, HONE_OP_FLOORMOD, s.axis[0], index_of(g, 2)),
                      index_of(g, 1));
    expr value = load(g, &x, s.axis);
    compute(g, &s, &out, hone_expr_select(&g->te.ir, odd, value, unary(g, value)));
}

static void random_stage(gen *g) {
    static void (*const stages[])(gen *) = {
        stage_unary,   stage_binary,  stage_binary, stage_reduction, stage_window,
        stage_matmul,  stage_matmul,  stage_conv,   stage_pad,       stage_transpose,
        stage_reshape, stage_strided, stage_pool,   stage_select,
    };
    stages[below(g, HONE_COUNT(stages))](g);
}

/* ---- after te: loops as people write them ---- */

static bool is_loop_over(const hone_func *f, hone_node_id id) {
    const hone_node *node = hone_func_node(f, id);
    return node->kind == HONE_NODE_FOR && node->first == node->last;
}

/* for i in n  →  for i_0 in ceil(n / factor) for i_1 in factor, with a predicate when it must. */
static void split_loop(gen *g, hone_func *f, hone_node_id loop, hone_node_id block) {
    hone_ir *ir = &g->te.ir;
    int64_t extent = hone_expr_const(hone_func_node(f, loop)->u.loop.range.extent);
    int64_t factor = 2 + (int64_t)below(g, 3);
    hone_var old = hone_func_node(f, loop)->u.loop.var;
    hone_dtype dtype = f->vars[old].dtype;
    hone_var outer = hone_func_add_var(f, "o", dtype), inner = hone_func_add_var(f, "n", dtype);
    if (outer == HONE_NO_ID || inner == HONE_NO_ID) return;
    expr zero = hone_expr_int(ir, dtype, 0), size = hone_expr_int(ir, dtype, factor);
    expr value =
        binary(g, HONE_OP_ADD, binary(g, HONE_OP_MUL, hone_expr_var(ir, dtype, outer), size),
               hone_expr_var(ir, dtype, inner));
    hone_range outer_range = {zero, hone_expr_int(ir, dtype, (extent + factor - 1) / factor)};
    hone_node_id a = hone_func_add_loop(f, outer, HONE_LOOP_SERIAL, outer_range);
    hone_node_id b = hone_func_add_loop(f, inner, HONE_LOOP_SERIAL, (hone_range){zero, size});
    hone_node_id body = hone_func_node(f, loop)->first;
    hone_tree_replace(f, loop, a);
    hone_tree_append(f, a, b);
    hone_tree_remove(f, body);
    hone_tree_append(f, b, body);
    hone_node *node = hone_func_node(f, block);
    uint32_t count = node->u.block.block->axis_count;
    expr *bindings = hone_arena_alloc(f->arena, (count + 1) * sizeof *bindings);
    for (uint32_t i = 0; i < count; i++) {
        bindings[i] = hone_expr_substitute_one(ir, node->u.block.bindings[i], old, value);
    }
    node->u.block.bindings = bindings;
    if (node->u.block.predicate) {
        node->u.block.predicate = hone_expr_substitute_one(ir, node->u.block.predicate, old, value);
    }
    if (extent % factor != 0) {
        expr guard = binary(g, HONE_OP_LT, value, hone_expr_int(ir, dtype, extent));
        node->u.block.predicate = node->u.block.predicate
                                      ? binary(g, HONE_OP_AND, node->u.block.predicate, guard)
                                      : guard;
    }
}

/* Exchanges a loop with the one below; te makes them independent of each other. */
static void swap_with_inner(hone_func *f, hone_node_id loop) {
    hone_node_id inner = hone_func_node(f, loop)->first;
    hone_node_id body = hone_func_node(f, inner)->first;
    hone_tree_remove(f, inner);
    hone_tree_replace(f, loop, inner);
    hone_tree_remove(f, body);
    hone_tree_append(f, loop, body);
    hone_tree_append(f, inner, loop);
}

static hone_node_id block_below(const hone_func *f, hone_node_id loop) {
    hone_node_id n = loop;
    while (is_loop_over(f, n))
        n = hone_func_node(f, n)->first;
    return hone_func_node(f, n)->kind == HONE_NODE_BLOCK ? n : HONE_NO_ID;
}

static void rewrite_loops(gen *g, hone_func *f) {
    uint32_t count = f->node_count;
    for (hone_node_id n = 0; n < count; n++) {
        const hone_node *node = hone_func_node(f, n);
        if (node->kind != HONE_NODE_FOR || node->parent == HONE_NO_ID) continue;
        hone_node_id block = is_loop_over(f, n) ? block_below(f, n) : HONE_NO_ID;
        if (block == HONE_NO_ID) continue;
        uint64_t what = below(g, 8);
        if (what == 0 && hone_expr_const(node->u.loop.range.extent) > 1)
            split_loop(g, f, n, block);
        else if (what == 1 && is_loop_over(f, node->first))
            swap_with_inner(f, n);
    }
}

/* ---- the program ---- */

/* One output at the end: the last tensor and what nobody else reads. */
static uint32_t collect_outputs(gen *g, hone_buffer *outputs) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->tensor_count; i++) {
        bool is_input = false;
        for (uint32_t k = 0; k < g->te.input_count; k++) {
            is_input |= g->te.inputs[k] == g->tensors[i].buffer;
        }
        if (!is_input && !g->tensors[i].is_used) outputs[count++] = g->tensors[i].buffer;
    }
    return count;
}

static hone_dtype random_dtype(gen *g) {
    const hone_dtype others[] = {HONE_DTYPE_F16, HONE_DTYPE_F64, HONE_DTYPE_I64};
    if (g->options.only_float) return HONE_DTYPE_F32;
    if (g->options.only_int) return HONE_DTYPE_I32;
    if (g->options.is_varied && below(g, 3) == 0) return others[below(g, HONE_COUNT(others))];
    return below(g, 3) == 0 ? HONE_DTYPE_I32 : HONE_DTYPE_F32;
}

static hone_func *parse(hone_arena *arena, const char *text, size_t length) {
    hone_module *module = NULL;
    const hone_member *member;
    hone_func *func = NULL;
    hone_status st = hone_script_parse(text, length, "random.py", &module);
    if (!st) st = hone_module_pick(module, NULL, &member);
    if (!st) func = hone_func_copy_deep(arena, member->func);
    if (st) fprintf(stderr, "%s\n%s\n", text, hone_status_message(st));
    hone_status_free(st);
    hone_module_release(module);
    return func;
}

static hone_func *from_script(hone_arena *arena, uint64_t seed, bool has_sizes) {
    hone_str text = {0};
    hone_random_script(seed, has_sizes, &text);
    hone_func *func = parse(arena, hone_str_text(&text), text.length);
    hone_str_deinit(&text);
    return func;
}

hone_func *hone_random_program(hone_arena *arena, uint64_t seed,
                               const hone_random_options *options) {
    gen g = {.rng = hone_rng_from_seed(seed)};
    hone_func *func = NULL;
    hone_buffer outputs[MAX_TENSORS];
    tensor first;
    if (options) g.options = *options;
    if (g.options.is_varied && seed % 2) return from_script(arena, seed, g.options.has_sizes);
    g.dtype = random_dtype(&g);
    if (hone_status_consume(hone_te_begin(&g.te, arena, "main"))) return NULL;
    if (g.options.use_int64) hone_te_use_int64(&g.te);
    random_shape(&g, &first, 1 + (uint32_t)below(&g, 3));
    new_input(&g, &first);
    uint32_t most = g.options.max_stages ? g.options.max_stages : 4;
    uint64_t stages = 1 + below(&g, most > 10 ? 10 : most);
    while (g.stage_count < stages)
        random_stage(&g);
    uint32_t output_count = collect_outputs(&g, outputs);
    if (hone_status_consume(hone_te_finish(&g.te, output_count, outputs, &func))) return NULL;
    if (!g.options.without_splits) rewrite_loops(&g, func);
    return hone_status_consume(hone_ir_finish(&g.te.ir)) ? NULL : func;
}
