/* graph/passes/fold_batch_norm.c - a batch norm with constant statistics right behind a convolution
 * or matrix product with constant weights (and maybe a constant bias) goes into those:
 *   scale = gamma / sqrt(variance + epsilon)
 *   norm(conv(x, w) + b) = conv(x, w * scale) + (b - mean) * scale + beta
 * hone_pass_decompose writes what is left as elementwise operators.
 * needs: infer, normalize
 * keeps: everything else. Arithmetic is done in f64 and rounded once.
 */
#include <math.h>
#include <string.h>

#include "graph/module/rewrite.h"
#include "graph/operators/topi_build.h"
#include "graph/passes/graph_passes.h"
#include "ir/ops/graph_infer.h"

enum { STATISTICS = 4 }; /* gamma, beta, mean, variance: arguments 1 to 4 */

static bool is_call(const hone_gbind *bind, const char *prefix) {
    return bind && bind->kind == HONE_GBIND_CALL &&
           strncmp(bind->callee, prefix, strlen(prefix)) == 0;
}

static bool is_norm(const hone_gbind *bind) {
    return bind && bind->kind == HONE_GBIND_CALL && strcmp(bind->callee, "nn.batch_norm") == 0;
}

/* The batch norm whose first result a binding takes, or NULL. */
static const hone_gbind *norm_of(const hone_rewrite *rw, const hone_gbind *bind) {
    if (bind->kind != HONE_GBIND_TUPLE_GET || bind->index != 0 ||
        bind->args[0].kind != HONE_GARG_VALUE) {
        return NULL;
    }
    const hone_gbind *norm = rw->defs[bind->args[0].u.value];
    return is_norm(norm) ? norm : NULL;
}

static double epsilon_of(const hone_gbind *norm) {
    const hone_value *value = hone_attrs_find(&norm->attrs, "epsilon");
    if (value && value->kind == HONE_VALUE_FLOAT) return value->u.f;
    return value && value->kind == HONE_VALUE_INT ? (double)value->u.i : 1e-5;
}

/* A flag that Relax sets to leave out beta or gamma. */
static bool flag(const hone_gbind *norm, const char *key) {
    return hone_attrs_int(&norm->attrs, key, 1) != 0;
}

/* ---- folding ---- */

typedef struct chain {
    const hone_gbind *norm, *add, *core; /* add may be NULL */
    const hone_tensor *statistics[STATISTICS], *weight, *bias;
    uint32_t weight_axis; /* of the output channels in the weight */
    int64_t channels;
} chain;

static const hone_tensor *constant_of(const hone_rewrite *rw, const hone_garg *old) {
    hone_garg now = *old;
    if (old->kind == HONE_GARG_VALUE) now = rw->map[old->u.value];
    return hone_rewrite_constant(rw, &now);
}

/* The producer of a value that has no other user. */
static const hone_gbind *only_producer(const hone_rewrite *rw, const hone_garg *arg) {
    if (arg->kind != HONE_GARG_VALUE || rw->uses[arg->u.value] != 1) return NULL;
    return rw->defs[arg->u.value];
}

/* The bias must lie along the channels: all its elements, and ones elsewhere. */
static bool is_channel_bias(const chain *c, const hone_tensor *bias, int32_t out_rank,
                            int32_t channel_axis) {
    int64_t count = hone_tensor_count(bias);
    if (count == 1) return bias->rank <= out_rank;
    int32_t at = channel_axis - (out_rank - bias->rank);
    return count == c->channels && at >= 0 && at < bias->rank && bias->shape[at] == c->channels;
}

/* Weights of another type than the result (out_dtype) have too few digits for it, or too many;
 * those of 16 bits would be rounded twice. */
static bool match_core(const hone_rewrite *rw, chain *c, int32_t axis, const hone_sinfo *result) {
    if (!is_call(c->core, "nn.conv") && !is_call(c->core, "matmul")) return false;
    c->weight = constant_of(rw, &c->core->args[1]);
    if (!c->weight || !hone_dtype_is_float(c->weight->dtype)) return false;
    if (hone_dtype_is_short_float(c->weight->dtype)) return false;
    if (!hone_dtype_equal(c->weight->dtype, result->dtype)) return false;
    if (is_call(c->core, "nn.conv")) {
        c->weight_axis = 0;
        return axis == 1 && c->weight->shape[0] == c->channels;
    }
    if (c->weight->rank != 2 || axis != result->rank - 1) return false;
    c->weight_axis = hone_attrs_int(&c->core->attrs, "transpose_b", 0) ? 0 : 1;
    return c->weight->shape[c->weight_axis] == c->channels;
}

static bool match_chain(hone_rewrite *rw, const hone_gbind *norm, chain *c) {
    memset(c, 0, sizeof *c);
    c->norm = norm;
    const hone_sinfo *data =
        hone_garg_sinfo(rw->module, rw->old, &norm->args[0], rw->module->arena);
    int64_t axis = hone_attrs_int(&norm->attrs, "axis", 1);
    if (!data || data->kind != HONE_SINFO_TENSOR || data->rank < 1) return false;
    if (axis < 0) axis += data->rank;
    for (uint32_t i = 0; i < STATISTICS; i++) {
        c->statistics[i] = constant_of(rw, &norm->args[i + 1]);
        if (!c->statistics[i]) return false;
    }
    c->channels = hone_tensor_count(c->statistics[0]);
    c->core = only_producer(rw, &norm->args[0]);
    if (is_call(c->core, "add")) {
        c->add = c->core;
        c->bias = constant_of(rw, &c->add->args[1]);
        if (!c->bias || !is_channel_bias(c, c->bias, data->rank, (int32_t)axis)) return false;
        c->core = only_producer(rw, &c->add->args[0]);
    }
    return match_core(rw, c, (int32_t)axis, data);
}

static double scale_at(const chain *c, int64_t channel) {
    double gamma = flag(c->norm, "scale") ? hone_tensor_get_f64(c->statistics[0], channel) : 1;
    double variance = hone_tensor_get_f64(c->statistics[3], channel);
    return gamma / sqrt(variance + epsilon_of(c->norm));
}

static hone_status scaled_weight(hone_rewrite *rw, const chain *c, hone_garg *out) {
    hone_tensor *weight;
    HONE_TRY(hone_tensor_clone(c->weight, &weight));
    int64_t inner = 1, count = hone_tensor_count(weight);
    for (int32_t i = (int32_t)c->weight_axis + 1; i < weight->rank; i++)
        inner *= weight->shape[i];
    for (int64_t i = 0; i < count; i++) {
        int64_t channel = i / inner % c->channels;
        hone_tensor_set_f64(weight, i, hone_tensor_get_f64(weight, i) * scale_at(c, channel));
    }
    return hone_rewrite_add_constant(rw, weight, out);
}

/* [1, C, 1, 1] behind a convolution, [C] behind a product. */
static hone_status shifted_bias(hone_rewrite *rw, const chain *c, hone_garg *out) {
    int64_t shape[HONE_MAX_RANK];
    int32_t rank = is_call(c->core, "nn.conv") ? c->weight->rank : 1;
    for (int32_t i = 0; i < rank; i++)
        shape[i] = 1;
    shape[rank == 1 ? 0 : 1] = c->channels;
    hone_tensor *bias;
    HONE_TRY(hone_tensor_create(c->weight->dtype, rank, shape, &bias));
    for (int64_t i = 0; i < c->channels; i++) {
        double old = 0;
        if (c->bias) old = hone_tensor_get_f64(c->bias, hone_tensor_count(c->bias) == 1 ? 0 : i);
        double beta = flag(c->norm, "center") ? hone_tensor_get_f64(c->statistics[1], i) : 0;
        double mean = hone_tensor_get_f64(c->statistics[2], i);
        hone_tensor_set_f64(bias, i, (old - mean) * scale_at(c, i) + beta);
    }
    return hone_rewrite_add_constant(rw, bias, out);
}

static hone_status fold_bind(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    const hone_gbind *norm = norm_of(rw, bind);
    chain c;
    if (!norm || !match_chain(rw, norm, &c)) return HONE_OK;
    hone_garg args[2], sum[2], out;
    HONE_TRY(hone_rewrite_arg(rw, &c.core->args[0], &args[0]));
    HONE_TRY(scaled_weight(rw, &c, &args[1]));
    HONE_TRY(shifted_bias(rw, &c, &sum[1]));
    HONE_TRY(hone_rewrite_call(rw, c.core->callee, 2, args, c.core->attrs, &sum[0]));
    HONE_TRY(hone_rewrite_call(rw, "add", 2, sum, (hone_attrs){0}, &out));
    hone_rewrite_set(rw, bind->value, out);
    *out_done = true;
    return HONE_OK;
}

hone_status hone_pass_fold_batch_norm(hone_module *module, const hone_graph_options *options) {
    HONE_TRY(hone_rewrite_module(module, fold_bind, NULL));
    return hone_pass_prune(module, options);
}

/* ---- what is left ---- */

/* What has this type already stays as it is. */
static hone_status as_type(hone_rewrite *rw, hone_dtype from, hone_dtype to, hone_garg *arg) {
    if (hone_dtype_equal(from, to)) return HONE_OK;
    hone_attrs attrs = {0};
    const char *name = hone_arena_strdup(rw->module->arena, HONE_DTYPE_NAME(to));
    if (!name ||
        !hone_attrs_with(rw->module->arena, &attrs, "dtype", HONE_VALUE_OF_STRING(name), &attrs)) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "batch norm");
    }
    return hone_rewrite_call(rw, "astype", 1, arg, attrs, arg);
}

/* A statistic as [C, 1, ...]: broadcast along the axis. */
static hone_status along_axis(hone_rewrite *rw, const hone_garg *old, const hone_sinfo *data,
                              int32_t axis, hone_garg *out) {
    HONE_TRY(hone_rewrite_arg(rw, old, out));
    int32_t rank = data->rank - axis;
    if (rank == 1) return HONE_OK;
    const hone_expr **shape = hone_arena_zalloc(rw->module->arena, (size_t)rank * sizeof *shape);
    if (!shape) return HONE_ERROR(HONE_CODE_NO_MEMORY, "batch norm");
    shape[0] = data->shape[axis];
    for (int32_t i = 1; i < rank; i++)
        shape[i] = hone_extent_int(&rw->ir, 1);
    return hone_rewrite_reshape(rw, *out, rank, shape, out);
}

static hone_status binary(hone_rewrite *rw, const char *op, hone_garg a, hone_garg b,
                          hone_garg *out) {
    hone_garg args[] = {a, b};
    return hone_rewrite_call(rw, op, 2, args, (hone_attrs){0}, out);
}

static bool is_item(const hone_rewrite *rw, const hone_gbind *bind) {
    return bind->kind == HONE_GBIND_TUPLE_GET && bind->args[0].kind == HONE_GARG_VALUE &&
           is_norm(rw->defs[bind->args[0].u.value]);
}

/* Of a norm that was written as a tuple. */
static hone_status give_item(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    hone_garg tuple;
    HONE_TRY(hone_rewrite_arg(rw, &bind->args[0], &tuple));
    if (tuple.kind != HONE_GARG_TUPLE || (uint32_t)bind->index >= tuple.count) return HONE_OK;
    hone_rewrite_set(rw, bind->value, tuple.u.items[bind->index]);
    *out_done = true;
    return HONE_OK;
}

/* The result, and the statistics as they came. */
static hone_status give_all(hone_rewrite *rw, const hone_gbind *norm, hone_garg x, bool *out_done) {
    hone_garg *items = hone_arena_alloc(rw->module->arena, 3 * sizeof *items);
    if (!items) return HONE_ERROR(HONE_CODE_NO_MEMORY, "batch norm");
    items[0] = x;
    HONE_TRY(hone_rewrite_arg(rw, &norm->args[3], &items[1]));
    HONE_TRY(hone_rewrite_arg(rw, &norm->args[4], &items[2]));
    hone_garg tuple = {.kind = HONE_GARG_TUPLE, .count = 3, .u.items = items};
    hone_rewrite_set(rw, norm->value, tuple);
    *out_done = true;
    return HONE_OK;
}

/* (x - mean) / sqrt(variance + epsilon) * gamma + beta; of short floats in float32 */
static hone_status decompose_bind(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    if (is_item(rw, bind)) return give_item(rw, bind, out_done);
    if (!is_norm(bind)) return HONE_OK;
    const hone_gbind *norm = bind;
    const hone_sinfo *data =
        hone_garg_sinfo(rw->module, rw->old, &norm->args[0], rw->module->arena);
    if (!data || data->kind != HONE_SINFO_TENSOR || data->rank < 1 || !data->shape) return HONE_OK;
    int64_t axis = hone_attrs_int(&norm->attrs, "axis", 1);
    if (axis < 0) axis += data->rank;
    if (hone_attrs_int(&norm->attrs, "training", 0)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "'nn.batch_norm' in training is not implemented");
    }
    hone_garg x, epsilon, s[STATISTICS], spread;
    hone_tensor *number;
    hone_dtype wide = hone_topi_wide(data->dtype);
    HONE_TRY(hone_tensor_create(wide, 0, NULL, &number));
    hone_tensor_set_f64(number, 0, epsilon_of(norm));
    HONE_TRY(hone_rewrite_add_constant(rw, number, &epsilon));
    HONE_TRY(hone_rewrite_arg(rw, &norm->args[0], &x));
    HONE_TRY(as_type(rw, data->dtype, wide, &x));
    for (uint32_t i = 0; i < STATISTICS; i++) {
        const hone_sinfo *own =
            hone_garg_sinfo(rw->module, rw->old, &norm->args[i + 1], rw->module->arena);
        HONE_TRY(along_axis(rw, &norm->args[i + 1], data, (int32_t)axis, &s[i]));
        HONE_TRY(as_type(rw, own ? own->dtype : wide, wide, &s[i]));
    }
    HONE_TRY(binary(rw, "add", s[3], epsilon, &spread));
    HONE_TRY(hone_rewrite_call(rw, "sqrt", 1, &spread, (hone_attrs){0}, &spread));
    HONE_TRY(binary(rw, "subtract", x, s[2], &x));
    HONE_TRY(binary(rw, "divide", x, spread, &x));
    if (flag(norm, "scale")) HONE_TRY(binary(rw, "multiply", x, s[0], &x));
    if (flag(norm, "center")) HONE_TRY(binary(rw, "add", x, s[1], &x));
    HONE_TRY(as_type(rw, wide, data->dtype, &x));
    return give_all(rw, bind, x, out_done);
}

hone_status hone_pass_decompose(hone_module *module, const hone_graph_options *options) {
    HONE_TRY(hone_rewrite_module(module, decompose_bind, NULL));
    return hone_pass_prune(module, options);
}
