/* graph/passes/fuse_attention.c - attention becomes one kernel on devices that have it:
 *   matmul(softmax(matmul(q, k, transpose_b) + bias), v)  ⇒  call_tir of attention_kernel.h
 * where nobody else wants what is between. Scales of q, k and the products, and the order of axes
 * before and behind, become the kernel's own. A constant bias that hides what comes later is a
 * causal mask. Everything is looked at from the last product, or from the permute_dims behind it.
 * needs: infer, normalize, fold_transpose
 * keeps: everything else; what is left over goes with prune
 */
#include <math.h>
#include <string.h>

#include "graph/module/rewrite.h"
#include "graph/operators/attention_kernel.h"
#include "graph/passes/graph_passes.h"
#include "ir/ops/graph_infer.h"
#include "ir/ops/graph_op.h"

typedef struct found {
    hone_attention is;
    hone_garg q, k, v, bias; /* old arguments */
} found;

/* ---- what defines what ---- */

static const hone_gbind *maker(hone_rewrite *rw, const hone_garg *arg, const char *op) {
    const hone_gbind *def = arg->kind == HONE_GARG_VALUE ? rw->defs[arg->u.value] : NULL;
    bool is_it = def && def->kind == HONE_GBIND_CALL && strcmp(def->callee, op) == 0;
    return is_it ? def : NULL;
}

/* What maker finds, where nobody else uses the value. */
static const hone_gbind *only_maker(hone_rewrite *rw, const hone_garg *arg, const char *op) {
    const hone_gbind *def = maker(rw, arg, op);
    return def && rw->uses[arg->u.value] == 1 ? def : NULL;
}

static const hone_sinfo *info_of(hone_rewrite *rw, const hone_garg *arg) {
    const hone_sinfo *info = hone_garg_sinfo(rw->module, rw->old, arg, rw->module->arena);
    bool is_known = info && info->kind == HONE_SINFO_TENSOR && info->rank >= 0 &&
                    (info->shape || info->rank == 0);
    return is_known ? info : NULL;
}

static int64_t size_of(const hone_sinfo *info, int32_t d) {
    return hone_expr_const(info->shape[d]);
}

static const hone_tensor *constant_of(hone_rewrite *rw, const hone_garg *arg) {
    hone_garg now;
    if (hone_status_consume(hone_rewrite_arg(rw, arg, &now))) return NULL;
    return hone_rewrite_constant(rw, &now);
}

static double element(const hone_tensor *t, int64_t i) {
    return hone_tensor_get_f64(t, i);
}

/* A number that all elements are multiplied with. */
static bool read_scalar(hone_rewrite *rw, const hone_garg *arg, double *out) {
    const hone_tensor *t = constant_of(rw, arg);
    if (!t || hone_tensor_count(t) != 1 || !hone_dtype_is_float(t->dtype)) return false;
    *out = element(t, 0);
    return true;
}

/* x times a number, or divided by one: takes x, and the number into the scale. */
static bool take_scale(hone_rewrite *rw, hone_garg *io, double *io_scale) {
    const hone_gbind *product = maker(rw, io, "multiply"), *ratio = maker(rw, io, "divide");
    double number;
    for (uint32_t i = 0; product && i < 2; i++) {
        if (!read_scalar(rw, &product->args[i], &number)) continue;
        *io_scale *= number;
        *io = product->args[1 - i];
        return true;
    }
    if (!ratio || !read_scalar(rw, &ratio->args[1], &number) || number == 0) return false;
    *io_scale /= number;
    *io = ratio->args[0];
    return true;
}

static bool swaps_heads(const hone_gbind *bind) {
    static const int64_t axes[] = {0, 2, 1, 3};
    return hone_graph_permutes(bind, 4, axes);
}

/* What is behind scales and an exchange of heads and sequence. */
static void look_through(hone_rewrite *rw, hone_garg *io, hone_head_order *out_order,
                         double *io_scale) {
    *out_order = HONE_HEADS_OUTSIDE;
    for (;;) {
        if (io_scale && take_scale(rw, io, io_scale)) continue;
        const hone_gbind *turn = maker(rw, io, "permute_dims");
        if (!turn || *out_order == HONE_HEADS_INSIDE || !swaps_heads(turn)) return;
        *out_order = HONE_HEADS_INSIDE;
        *io = turn->args[0];
    }
}

/* ---- the bias ---- */

/* Of all heads: 0 where a query may look, -inf (or so far below 0 that nothing is left) where it
 * may not: keys behind query + past. */
static bool hides_what_comes(const hone_tensor *t, int64_t queries, int64_t keys, int64_t past) {
    bool is_for_all = t->rank >= 2 && t->shape[t->rank - 2] == queries &&
                      t->shape[t->rank - 1] == keys && hone_tensor_count(t) == queries * keys;
    if (!is_for_all || past < 0) return false;
    for (int64_t i = 0; i < queries; i++) {
        for (int64_t j = 0; j < keys; j++) {
            double value = element(t, i * keys + j);
            bool is_hidden = value <= -1e4, may_look = value == 0;
            if (j > i + past ? !is_hidden : !may_look) return false;
        }
    }
    return true;
}

static bool read_bias(hone_rewrite *rw, found *f) {
    const hone_sinfo *info = info_of(rw, &f->bias);
    const hone_attention *a = &f->is;
    const int64_t whole[] = {a->batch, a->heads, a->queries, a->keys};
    if (!info || info->rank > 4 || !hone_dtype_equal(info->dtype, a->dtype)) return false;
    const hone_tensor *constant = constant_of(rw, &f->bias);
    const int64_t pasts[] = {a->keys - a->queries, 0};
    for (size_t i = 0; constant && i < HONE_COUNT(pasts); i++) {
        if (!hides_what_comes(constant, a->queries, a->keys, pasts[i])) continue;
        f->is.is_causal = true;
        f->is.past = pasts[i];
        return true;
    }
    f->is.bias_rank = info->rank;
    for (int32_t d = 0; d < info->rank; d++) {
        f->is.bias_shape[d] = size_of(info, d);
        if (f->is.bias_shape[d] != 1 && f->is.bias_shape[d] != whole[4 - info->rank + d])
            return false;
    }
    return true;
}

/* ---- the chain ---- */

static bool is_product(const hone_gbind *bind, bool turns_b) {
    return bind && hone_attrs_int(&bind->attrs, "transpose_a", 0) == 0 &&
           (hone_attrs_int(&bind->attrs, "transpose_b", 0) != 0) == turns_b;
}

static bool read_sizes(hone_rewrite *rw, const hone_gbind *products, const hone_gbind *sums,
                       hone_attention *a) {
    const hone_sinfo *q = info_of(rw, &products->args[0]), *k = info_of(rw, &products->args[1]);
    const hone_sinfo *v = info_of(rw, &sums->args[1]);
    if (!q || !k || !v || q->rank != 4 || k->rank != 4 || v->rank != 4) return false;
    for (int32_t d = 0; d < 4; d++) {
        if (size_of(q, d) < 1 || size_of(k, d) < 1 || size_of(k, d) != size_of(v, d)) return false;
        if (d != 2 && size_of(q, d) != size_of(k, d)) return false;
    }
    bool is_short = q->dtype.bits == 16 && hone_dtype_is_float(q->dtype) &&
                    hone_dtype_equal(q->dtype, k->dtype) && hone_dtype_equal(q->dtype, v->dtype);
    a->batch = size_of(q, 0);
    a->heads = size_of(q, 1);
    a->queries = size_of(q, 2);
    a->keys = size_of(k, 2);
    a->size = size_of(q, 3);
    a->dtype = q->dtype;
    return is_short;
}

/* From the softmax to the product of queries and keys. */
static const hone_gbind *find_products(hone_rewrite *rw, const hone_gbind *softmax, found *f) {
    hone_garg at = softmax->args[0];
    const hone_gbind *sum = only_maker(rw, &at, "add");
    f->bias.kind = HONE_GARG_NONE;
    if (sum) {
        bool is_second =
            sum->args[0].kind == HONE_GARG_VALUE &&
            !(maker(rw, &sum->args[0], "matmul") || maker(rw, &sum->args[0], "multiply") ||
              maker(rw, &sum->args[0], "divide"));
        at = sum->args[is_second];
        f->bias = sum->args[!is_second];
    }
    while (at.kind == HONE_GARG_VALUE && rw->uses[at.u.value] == 1 &&
           take_scale(rw, &at, &f->is.scale))
        continue;
    return only_maker(rw, &at, "matmul");
}

/* Four axes of the kernel's type: a scale of more axes gives its product more, too. */
static bool is_of_kernel(hone_rewrite *rw, const hone_garg *arg, const hone_attention *a) {
    const hone_sinfo *info = info_of(rw, arg);
    return info && info->rank == 4 && hone_dtype_equal(info->dtype, a->dtype);
}

/* The greatest of scaled scores is that of scores, and what is hidden (-1e30) stays so. */
static bool keeps_order(double scale) {
    return scale >= 1e-6 && scale <= 1e6;
}

static bool find_attention(hone_rewrite *rw, const hone_gbind *sums, found *f) {
    *f = (found){
        .is = {.scale = 1, .bias_rank = -1}
    };
    if (!is_product(sums, false)) return false;
    const hone_gbind *softmax = only_maker(rw, &sums->args[0], "nn.softmax");
    int64_t axis = softmax ? hone_attrs_int(&softmax->attrs, "axis", -1) : 0;
    if (axis != -1 && axis != 3) return false;
    const hone_gbind *products = find_products(rw, softmax, f);
    const hone_garg result = HONE_GARG_OF_VALUE(sums->value);
    if (!is_product(products, true) || !read_sizes(rw, products, sums, &f->is)) return false;
    if (!is_of_kernel(rw, &sums->args[0], &f->is) || !is_of_kernel(rw, &result, &f->is))
        return false;
    f->q = products->args[0];
    f->k = products->args[1];
    f->v = sums->args[1];
    look_through(rw, &f->q, &f->is.q, &f->is.scale);
    look_through(rw, &f->k, &f->is.k, &f->is.scale);
    look_through(rw, &f->v, &f->is.v, NULL);
    if (!is_of_kernel(rw, &f->q, &f->is) || !is_of_kernel(rw, &f->k, &f->is) ||
        !keeps_order(f->is.scale))
        return false;
    return f->bias.kind == HONE_GARG_NONE || read_bias(rw, f);
}

/* ---- the call ---- */

static hone_status emit(hone_rewrite *rw, const found *f, const hone_gbind *bind, bool *out_done) {
    const hone_garg *olds[] = {&f->q, &f->k, &f->v, &f->bias};
    hone_garg args[4], out, self = {.kind = HONE_GARG_VALUE, .u.value = bind->value};
    uint32_t count = f->is.bias_rank >= 0 ? 4 : 3;
    const char *name;
    hone_func *func;
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(hone_rewrite_arg(rw, olds[i], &args[i]));
    HONE_TRY(hone_module_fresh_name(rw->module, "attention", &name));
    HONE_TRY(hone_attention_kernel(&f->is, name, rw->module->arena, &func));
    if (!hone_attrs_with(func->arena, &func->attrs, "op_pattern",
                         HONE_VALUE_OF_INT(HONE_PATTERN_OPAQUE), &func->attrs))
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "attention");
    HONE_TRY(hone_module_add_func(rw->module, func));
    HONE_TRY(hone_rewrite_call_tir(rw, name, count, args, info_of(rw, &self), &out));
    hone_rewrite_set(rw, bind->value, out);
    *out_done = true;
    return HONE_OK;
}

/* By groups of warps where the device has them and they have the memory. */
static bool fits(hone_attention *a, const hone_graph_options *options) {
    for (int has_groups = options->has_group_units; has_groups >= 0; has_groups--) {
        a->has_groups = has_groups;
        int64_t bytes = hone_attention_shared_bytes(a);
        if (bytes > 0 && bytes <= options->matrix_shared_bytes) return true;
    }
    return false;
}

static hone_status fuse_one(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    const hone_graph_options *options = rw->ctx;
    if (bind->kind != HONE_GBIND_CALL) return HONE_OK;
    const hone_gbind *sums = strcmp(bind->callee, "matmul") == 0 ? bind : NULL;
    bool is_turned = !sums && strcmp(bind->callee, "permute_dims") == 0 && swaps_heads(bind);
    if (is_turned) sums = only_maker(rw, &bind->args[0], "matmul");
    found f;
    if (!sums || !find_attention(rw, sums, &f)) return HONE_OK;
    f.is.out = is_turned ? HONE_HEADS_INSIDE : HONE_HEADS_OUTSIDE;
    if (!fits(&f.is, options)) return HONE_OK;
    return emit(rw, &f, bind, out_done);
}

hone_status hone_pass_fuse_attention(hone_module *module, const hone_graph_options *options) {
    hone_graph_options known = *options;
    if (known.matrix_shared_bytes <= 0) return HONE_OK;
    HONE_TRY(hone_rewrite_module(module, fuse_one, &known));
    return hone_pass_prune(module, options);
}
