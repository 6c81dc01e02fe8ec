/* graph/frontend/reader/onnx_unify.c - sizes that the file calls by different names, but that
 * operators want equal: a mask of `total` indices beside `past + sequence` keys. One of the
 * operands is said to have the sizes of the other (R.match_cast), which is checked where they are
 * known. */
#include <string.h>

#include "graph/frontend/reader/onnx_reader.h"
#include "ir/arith/arith.h"
#include "ir/ops/graph_infer.h"

typedef struct operand {
    hone_garg *arg;
    const hone_sinfo *info;
    const hone_expr *shape[HONE_MAX_RANK]; /* as it is wanted */
    bool is_cast;
} operand;

static bool are_equal(const onnx_reader *r, const hone_expr *a, const hone_expr *b) {
    hone_arith arith;
    if (hone_extent_same(a, b)) return true;
    hone_arith_init(&arith, r->arena);
    return hone_prove_equal(&arith, a, b);
}

static hone_status read_operand(const onnx_reader *r, hone_garg *arg, operand *out) {
    HONE_TRY(onnx_info(r, arg, &out->info));
    out->arg = arg;
    out->is_cast = false;
    if (out->info->rank)
        memcpy(out->shape, out->info->shape, (size_t)out->info->rank * sizeof *out->shape);
    return HONE_OK;
}

/* Dimension d of one operand and e of another must be equal; what is a number stays. */
static void unify(const onnx_reader *r, operand *a, int32_t d, operand *b, int32_t e) {
    const hone_expr *left = a->shape[d], *right = b->shape[e];
    bool are_numbers = hone_expr_is_int(left) && hone_expr_is_int(right);
    if (are_numbers || are_equal(r, left, right)) return;
    operand *changed = hone_expr_is_int(right) ? a : b;
    changed->shape[changed == a ? d : e] = changed == a ? right : left;
    changed->is_cast = true;
}

/* What is 1 fits everything; a size that comes later is taken not to be 1 where another one
 * stands beside it. */
static void unify_broadcast(const onnx_reader *r, operand *a, operand *b, int32_t inner) {
    for (int32_t i = inner + 1; i <= a->info->rank && i <= b->info->rank; i++) {
        int32_t d = a->info->rank - i, e = b->info->rank - i;
        bool is_one =
            hone_expr_is_int_value(a->shape[d], 1) || hone_expr_is_int_value(b->shape[e], 1);
        if (!is_one) unify(r, a, d, b, e);
    }
}

static int32_t summed(const operand *o, bool is_turned, int32_t from_end) {
    if (o->info->rank == 1) return 0;
    return o->info->rank - (is_turned ? 3 - from_end : from_end);
}

/* The sizes that are summed over, then those in front. */
static void unify_factors(const onnx_reader *r, const hone_attrs *attrs, operand *a, operand *b) {
    bool is_a = hone_attrs_int(attrs, "transpose_a", 0) != 0,
         is_b = hone_attrs_int(attrs, "transpose_b", 0) != 0;
    if (a->info->rank < 1 || b->info->rank < 1) return;
    unify(r, a, summed(a, is_a, 1), b, summed(b, is_b, 2));
    unify_broadcast(r, a, b, 2);
}

static hone_status cast_operand(onnx_reader *r, const operand *o) {
    const hone_expr **shape =
        hone_arena_copy(r->arena, o->shape, (size_t)o->info->rank * sizeof *shape);
    hone_garg *args = hone_arena_copy(r->arena, o->arg, sizeof *args);
    const hone_sinfo *info =
        shape ? hone_sinfo_tensor(r->arena, o->info->dtype, o->info->rank, shape) : NULL;
    bool is_named = o->arg->kind == HONE_GARG_VALUE;
    const char *name = is_named ? r->graph->values[o->arg->u.value].name : "lv";
    hone_gvalue value = info ? hone_graph_add_value(r->graph, name, info) : HONE_NO_ID;
    hone_gbind *bind = value == HONE_NO_ID || !args
                           ? NULL
                           : hone_graph_add_bind(r->graph, HONE_GBIND_MATCH_CAST, value);
    if (!bind) return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
    bind->args = args;
    bind->arg_count = 1;
    bind->in_dataflow = true;
    *o->arg = HONE_GARG_OF_VALUE(value);
    return HONE_OK;
}

static hone_status cast_changed(onnx_reader *r, const operand *a, const operand *b) {
    if (a->is_cast) HONE_TRY(cast_operand(r, a));
    return b->is_cast ? cast_operand(r, b) : HONE_OK;
}

hone_status onnx_unify_dims(onnx_reader *r, hone_garg *a, int32_t d, hone_garg *b, int32_t e) {
    operand left, right;
    HONE_TRY(read_operand(r, a, &left));
    HONE_TRY(read_operand(r, b, &right));
    bool is_one =
        hone_expr_is_int_value(left.shape[d], 1) || hone_expr_is_int_value(right.shape[e], 1);
    if (!is_one) unify(r, &left, d, &right, e);
    return cast_changed(r, &left, &right);
}

/* Sizes that are known tell at once, with the node that wants them. */
static hone_status check_known(const operand *o, int32_t d, const hone_expr *wanted) {
    if (!hone_expr_is_int(o->shape[d]) || !hone_expr_is_int(wanted) ||
        hone_extent_same(o->shape[d], wanted))
        return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "dimension %d is %lld, must be %lld", (int)d,
                      (long long)o->shape[d]->u.i, (long long)wanted->u.i);
}

hone_status onnx_demand_size(onnx_reader *r, hone_garg *io, int32_t d, int64_t size) {
    operand o;
    HONE_TRY(read_operand(r, io, &o));
    if (hone_expr_is_int(o.shape[d])) return check_known(&o, d, hone_extent_int(&r->ir, size));
    o.shape[d] = hone_extent_int(&r->ir, size);
    HONE_TRY(hone_ir_finish(&r->ir));
    return cast_operand(r, &o);
}

/* What the caller says a size is, where it is one that an input names; -1: nothing. */
static int64_t given_size(const onnx_reader *r, const hone_expr *extent) {
    const hone_graph_options *options = r->options;
    if (extent->kind != HONE_EXPR_VAR || !options) return -1;
    const char *name = r->graph->vars[extent->u.var].name;
    for (size_t i = 0; i < options->dim_count; i++)
        if (strcmp(options->dims[i].name, name) == 0) return options->dims[i].size;
    return -1;
}

hone_status onnx_demand_given_sizes(onnx_reader *r, hone_garg *io) {
    operand o;
    HONE_TRY(read_operand(r, io, &o));
    for (int32_t d = 0; d < o.info->rank; d++) {
        int64_t size = given_size(r, o.shape[d]);
        if (size < 0) continue;
        o.shape[d] = hone_extent_int(&r->ir, size);
        o.is_cast = true;
    }
    HONE_TRY(hone_ir_finish(&r->ir));
    return o.is_cast ? cast_operand(r, &o) : HONE_OK;
}

hone_status onnx_demand_shape(onnx_reader *r, hone_garg *io, int32_t rank,
                              const hone_expr *const *shape) {
    operand o;
    HONE_TRY(read_operand(r, io, &o));
    if (o.info->rank != rank)
        return HONE_ERROR(HONE_CODE_INVALID, "a tensor has %d dimensions, must have %d",
                          o.info->rank, rank);
    for (int32_t d = 0; d < rank; d++) {
        if (are_equal(r, shape[d], o.shape[d])) continue;
        HONE_TRY(check_known(&o, d, shape[d]));
        o.shape[d] = shape[d];
        o.is_cast = true;
    }
    return o.is_cast ? cast_operand(r, &o) : HONE_OK;
}

static hone_status grows(const char *what) {
    return HONE_ERROR(HONE_CODE_INVALID,
                      "%s cannot be broadcast to the shape of what it is applied to", what);
}

hone_status onnx_keeps_shape(onnx_reader *r, const hone_garg *x, hone_garg *io_result,
                             const char *what) {
    const hone_sinfo *before;
    operand after;
    HONE_TRY(onnx_info(r, x, &before));
    HONE_TRY(read_operand(r, io_result, &after));
    if (before->rank != after.info->rank) return grows(what);
    for (int32_t d = 0; d < before->rank; d++) {
        const hone_expr *wanted = before->shape[d], *got = after.shape[d];
        if (are_equal(r, wanted, got)) continue;
        if (hone_expr_const(wanted) >= 0 && hone_expr_const(got) >= 0) return grows(what);
        after.shape[d] = wanted;
        after.is_cast = true;
    }
    return after.is_cast ? cast_operand(r, &after) : HONE_OK;
}

hone_status onnx_unify_joined(onnx_reader *r, uint32_t count, hone_garg *parts, int64_t axis) {
    operand first, other;
    for (uint32_t i = 1; i < count; i++) {
        HONE_TRY(read_operand(r, &parts[0], &first));
        HONE_TRY(read_operand(r, &parts[i], &other));
        int64_t joined = axis < 0 ? axis + first.info->rank : axis;
        for (int32_t d = 0; first.info->rank == other.info->rank && d < first.info->rank; d++)
            if (d != joined) unify(r, &first, d, &other, d);
        HONE_TRY(cast_changed(r, &first, &other));
    }
    return HONE_OK;
}

static bool is_broadcast(const hone_graph_op *op) {
    return op->infer == HONE_INFER_BINARY || op->infer == HONE_INFER_COMPARE ||
           op->infer == HONE_INFER_LOGICAL || op->infer == HONE_INFER_WHERE ||
           op->infer == HONE_INFER_BITS || op->infer == HONE_INFER_FMA;
}

/* An update for each tuple of indices, of the shape of what that reaches in the data. */
static hone_status unify_scattered(onnx_reader *r, hone_garg *args) {
    operand data, indices, updates;
    HONE_TRY(read_operand(r, &args[0], &data));
    HONE_TRY(read_operand(r, &args[1], &indices));
    HONE_TRY(read_operand(r, &args[2], &updates));
    int32_t tuples = indices.info->rank - 1;
    int64_t depth = tuples < 0 ? -1 : hone_expr_const(indices.info->shape[tuples]);
    bool fits = depth >= 0 && updates.info->rank == tuples + data.info->rank - depth;
    for (int32_t d = 0; fits && d < updates.info->rank; d++) {
        bool is_tuple = d < tuples;
        unify(r, &updates, d, is_tuple ? &indices : &data,
              is_tuple ? d : d - tuples + (int32_t)depth);
    }
    if (data.is_cast) HONE_TRY(cast_operand(r, &data));
    return cast_changed(r, &indices, &updates);
}

/* An update for each index. */
static hone_status unify_elements(onnx_reader *r, hone_garg *args) {
    operand indices, updates;
    HONE_TRY(read_operand(r, &args[1], &indices));
    HONE_TRY(read_operand(r, &args[2], &updates));
    bool fits = indices.info->rank == updates.info->rank;
    for (int32_t d = 0; fits && d < indices.info->rank; d++)
        unify(r, &indices, d, &updates, d);
    return cast_changed(r, &indices, &updates);
}

/* A target for each index of the predictions, which have their classes second; and a weight for
 * each class. */
static hone_status unify_losses(onnx_reader *r, uint32_t count, hone_garg *args) {
    operand data, other;
    HONE_TRY(read_operand(r, &args[0], &data));
    HONE_TRY(read_operand(r, &args[1], &other));
    bool fits = other.info->rank == data.info->rank - 1;
    for (int32_t d = 0; fits && d < other.info->rank; d++)
        unify(r, &other, d, &data, d ? d + 1 : 0);
    HONE_TRY(cast_changed(r, &data, &other));
    if (count < 3) return HONE_OK;
    HONE_TRY(read_operand(r, &args[0], &data));
    HONE_TRY(read_operand(r, &args[2], &other));
    if (other.info->rank == 1 && data.info->rank) unify(r, &other, 0, &data, data.info->rank > 1);
    return cast_changed(r, &data, &other);
}

/* Dimensions of operands that other rules want equal; -1 = as many of the first as "batch_dims"
 * says. */
static const struct pair {
    int rule;
    uint32_t a, b;
    int32_t d, e;
} pairs[] = {
    {HONE_INFER_GRID_SAMPLE, 0, 1, 0,  0 }, /* images and their grids */
    {HONE_INFER_ROI_ALIGN,   1, 2, 0,  0 }, /* regions and their images */
    {HONE_INFER_SUPPRESS,    0, 1, 0,  0 }, /* batches of boxes and scores */
    {HONE_INFER_SUPPRESS,    0, 1, 1,  2 }, /* boxes and their scores */
    {HONE_INFER_GATHER_ND,   0, 1, -1, -1},
    {HONE_INFER_BATCH_NORM,  0, 1, 1,  0 }, /* channels and their numbers */
    {HONE_INFER_BATCH_NORM,  0, 2, 1,  0 },
    {HONE_INFER_BATCH_NORM,  0, 3, 1,  0 },
    {HONE_INFER_BATCH_NORM,  0, 4, 1,  0 },
};

static hone_status unify_pair(onnx_reader *r, const struct pair *p, hone_garg *args,
                              const hone_attrs *attrs) {
    operand a, b;
    int64_t batch = hone_attrs_int(attrs, "batch_dims", 0);
    HONE_TRY(read_operand(r, &args[p->a], &a));
    HONE_TRY(read_operand(r, &args[p->b], &b));
    if (p->d >= 0 && p->d < a.info->rank && p->e < b.info->rank) unify(r, &a, p->d, &b, p->e);
    for (int32_t d = 0; p->d < 0 && d < batch && d < a.info->rank && d < b.info->rank; d++)
        unify(r, &a, d, &b, d);
    return cast_changed(r, &a, &b);
}

static hone_status unify_pairs(onnx_reader *r, const hone_graph_op *op, uint32_t count,
                               hone_garg *args, const hone_attrs *attrs) {
    for (size_t i = 0; i < HONE_COUNT(pairs); i++) {
        bool is_meant = pairs[i].rule == op->infer && pairs[i].b < count;
        if (is_meant) HONE_TRY(unify_pair(r, &pairs[i], args, attrs));
    }
    return HONE_OK;
}

hone_status onnx_unify(onnx_reader *r, const char *name, uint32_t count, hone_garg *args,
                       const hone_attrs *attrs) {
    const hone_graph_op *op = hone_graph_op_find(name);
    operand a, b;
    bool is_product = op && op->infer == HONE_INFER_MATMUL;
    if (op && op->infer == HONE_INFER_SCATTER_ND && count == 3) return unify_scattered(r, args);
    if (op && op->infer == HONE_INFER_SCATTER_ELEMENTS && count == 3)
        return unify_elements(r, args);
    if (op && op->infer == HONE_INFER_NLL_LOSS && count >= 2) return unify_losses(r, count, args);
    if (!op) return HONE_OK;
    if (!is_product && !is_broadcast(op)) return unify_pairs(r, op, count, args, attrs);
    for (uint32_t i = 0; i + 1 < count; i++) {
        for (uint32_t k = i + 1; k < count; k++) {
            HONE_TRY(read_operand(r, &args[i], &a));
            HONE_TRY(read_operand(r, &args[k], &b));
            if (is_product)
                unify_factors(r, attrs, &a, &b);
            else
                unify_broadcast(r, &a, &b, 0);
            HONE_TRY(cast_changed(r, &a, &b));
        }
    }
    return HONE_OK;
}
