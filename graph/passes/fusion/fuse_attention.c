/* graph/passes/fusion/fuse_attention.c - attention becomes one kernel on devices that have it:
 *   matmul(softmax(matmul(q, k, transpose_b) + bias), v)  ⇒  call_tir of attention_kernel.h
 * where nobody else wants what is between. Scales of q, k and the products, and the order of axes
 * before and behind, become the kernel's own. A constant bias that hides what comes later is a
 * causal mask. Products and softmax of float32 between tensors of 16 bits are the kernel's, whose
 * sums are float32. Everything is looked at from the last value of the chain.
 * needs: infer, normalize, fold_transpose
 * keeps: everything else; what is left over goes with prune
 */
#include <math.h>
#include <string.h>

#include "graph/module/rewrite.h"
#include "graph/operators/attention_kernel.h"
#include "graph/passes/fusion/moved.h"
#include "graph/passes/graph_passes.h"
#include "ir/ops/graph_infer.h"
#include "ir/ops/graph_op.h"

typedef struct found {
    hone_attention is;
    hone_garg q, k, v, bias; /* old arguments */
    bool is_moved[3];        /* q, k, v: of float32, to be moved as what they were */
} found;

/* What the last value of a chain is of the sums: narrowed, perhaps, after the others. */
typedef struct ending {
    const hone_gbind *sums, *turn, *reshape; /* turn, reshape: or NULL */
} ending;

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

static bool is_wide(hone_dtype dtype) {
    return hone_dtype_is_float(dtype) && dtype.bits == 32;
}

/* A value of float32 that one of 16 bits became: takes that. */
static bool take_widening(hone_rewrite *rw, hone_garg *io) {
    const hone_gbind *cast = maker(rw, io, "astype");
    const hone_sinfo *to = cast ? info_of(rw, io) : NULL;
    const hone_sinfo *from = cast ? info_of(rw, &cast->args[0]) : NULL;
    if (!to || !from || !is_wide(to->dtype) || !hone_dtype_is_short_float(from->dtype))
        return false;
    *io = cast->args[0];
    return true;
}

/* Takes what nobody else wants as another type: float32, or one of 16 bits. */
static void skip_casts(hone_rewrite *rw, hone_garg *io) {
    for (;;) {
        const hone_gbind *cast = only_maker(rw, io, "astype");
        const hone_sinfo *to = cast ? info_of(rw, io) : NULL;
        const hone_sinfo *from = cast ? info_of(rw, &cast->args[0]) : NULL;
        bool is_known = to && from &&
                        (is_wide(to->dtype) || hone_dtype_is_short_float(to->dtype)) &&
                        (is_wide(from->dtype) || hone_dtype_is_short_float(from->dtype));
        if (!is_known) return;
        *io = cast->args[0];
    }
}

static bool has_sizes(const hone_sinfo *info, int32_t rank, const int64_t *sizes) {
    bool is_it = info && info->rank == rank;
    for (int32_t d = 0; is_it && d < rank; d++)
        is_it = size_of(info, d) == sizes[d];
    return is_it;
}

/* [batch, heads, sequence, size] in which each head is there so many times: takes one of each. */
static bool take_repeat(hone_rewrite *rw, hone_garg *io, int64_t *out_heads) {
    const hone_gbind *joined = maker(rw, io, "reshape");
    const hone_gbind *wide = joined ? maker(rw, &joined->args[0], "broadcast_to") : NULL;
    const hone_gbind *apart = wide ? maker(rw, &wide->args[0], "reshape") : NULL;
    if (wide && !apart) apart = maker(rw, &wide->args[0], "expand_dims");
    const hone_sinfo *one = apart ? info_of(rw, &apart->args[0]) : NULL;
    const hone_sinfo *many = apart ? info_of(rw, &joined->args[0]) : NULL;
    if (!one || !many || one->rank != 4 || many->rank != 5) return false;
    int64_t b = size_of(one, 0), h = size_of(one, 1), s = size_of(one, 2), d = size_of(one, 3);
    int64_t times = size_of(many, 2);
    const int64_t all[] = {b, h, times, s, d}, divided[] = {b, h, 1, s, d};
    const int64_t whole[] = {b, h * times, s, d};
    if (b < 1 || h < 1 || s < 1 || d < 1 || times < 1) return false;
    if (!has_sizes(many, 5, all) || !has_sizes(info_of(rw, &wide->args[0]), 5, divided) ||
        !has_sizes(info_of(rw, io), 4, whole))
        return false;
    *out_heads = h;
    *io = apart->args[0];
    return true;
}

/* What is behind scales, heads that are there several times (out_heads: not NULL), wider types, and
 * an exchange of heads and sequence. */
static void look_through(hone_rewrite *rw, hone_garg *io, hone_head_order *out_order,
                         double *io_scale, int64_t *out_heads) {
    *out_order = HONE_HEADS_OUTSIDE;
    bool may_repeat = out_heads != NULL;
    for (;;) {
        if ((io_scale && take_scale(rw, io, io_scale)) || take_widening(rw, io)) continue;
        bool is_outside = *out_order == HONE_HEADS_OUTSIDE;
        if (may_repeat && is_outside && take_repeat(rw, io, out_heads)) {
            may_repeat = false;
            continue;
        }
        const hone_gbind *turn = maker(rw, io, "permute_dims");
        if (!turn || *out_order == HONE_HEADS_INSIDE || !swaps_heads(turn)) break;
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
    if (!info || info->rank > 4) return false;
    if (!hone_dtype_equal(info->dtype, a->dtype) && !is_wide(info->dtype)) return false;
    f->is.bias_dtype = info->dtype;
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
    a->batch = size_of(q, 0);
    a->heads = a->k_heads = a->v_heads = size_of(q, 1);
    a->queries = size_of(q, 2);
    a->keys = size_of(k, 2);
    a->size = size_of(q, 3);
    return true;
}

/* From the softmax to the product of queries and keys. */
static const hone_gbind *find_products(hone_rewrite *rw, const hone_gbind *softmax, found *f) {
    hone_garg at = softmax->args[0];
    skip_casts(rw, &at);
    const hone_gbind *sum = only_maker(rw, &at, "add");
    f->bias.kind = HONE_GARG_NONE;
    if (sum) {
        hone_garg first = sum->args[0];
        skip_casts(rw, &first);
        bool is_second = first.kind == HONE_GARG_VALUE &&
                         !(maker(rw, &first, "matmul") || maker(rw, &first, "multiply") ||
                           maker(rw, &first, "divide"));
        at = sum->args[is_second];
        f->bias = sum->args[!is_second];
    }
    skip_casts(rw, &at);
    while (at.kind == HONE_GARG_VALUE && rw->uses[at.u.value] == 1 &&
           take_scale(rw, &at, &f->is.scale))
        skip_casts(rw, &at);
    return only_maker(rw, &at, "matmul");
}

/* ---- queries that see no key ---- */

static bool is_number(hone_rewrite *rw, const hone_garg *arg, double number) {
    double value;
    return read_scalar(rw, arg, &value) && value == number;
}

/* Whether a row of the bias is -inf altogether; a constant: no row is. */
static bool asks_for_hidden(hone_rewrite *rw, const hone_garg *arg, const hone_garg *bias) {
    const hone_tensor *known = constant_of(rw, arg);
    for (int64_t i = 0; known && i < hone_tensor_count(known); i++)
        if (hone_tensor_get_f64(known, i) != 0) return false;
    if (known) return true;
    const hone_gbind *equal = maker(rw, arg, "equal");
    const hone_gbind *most = equal ? maker(rw, &equal->args[0], "max") : NULL;
    if (!most || !is_number(rw, &equal->args[1], -HUGE_VAL)) return false;
    const hone_sinfo *of = info_of(rw, &most->args[0]), *row = info_of(rw, &equal->args[0]);
    bool is_it = bias->kind == HONE_GARG_VALUE && most->args[0].kind == HONE_GARG_VALUE &&
                 most->args[0].u.value == bias->u.value;
    if (!is_it || !of || !row || of->rank != row->rank || of->rank < 1) return false;
    for (int32_t d = 0; d < of->rank; d++)
        if (size_of(row, d) != (d + 1 < of->rank ? size_of(of, d) : 1)) return false;
    return true;
}

/* The softmax; out_rule: the choice of 0 for queries that see no key, in front of it, or NULL. */
static const hone_gbind *find_softmax(hone_rewrite *rw, const hone_gbind *sums,
                                      const hone_gbind **out_rule) {
    hone_garg at = sums->args[0];
    skip_casts(rw, &at);
    *out_rule = only_maker(rw, &at, "where");
    if (*out_rule) {
        if (!is_number(rw, &(*out_rule)->args[1], 0)) return NULL;
        at = (*out_rule)->args[2];
    }
    return only_maker(rw, &at, "nn.softmax");
}

/* Four axes: a scale of more axes gives its product more, too. */
static bool has_four_axes(hone_rewrite *rw, const hone_garg *arg) {
    const hone_sinfo *info = info_of(rw, arg);
    return info && info->rank == 4;
}

static bool is_of_type(hone_rewrite *rw, const hone_garg *arg, hone_dtype dtype) {
    const hone_sinfo *info = info_of(rw, arg);
    return info && hone_dtype_equal(info->dtype, dtype);
}

static bool find_factors(hone_rewrite *rw, const hone_gbind *products, const hone_gbind *sums,
                         found *f) {
    hone_attention *a = &f->is;
    hone_garg *const all[] = {&f->q, &f->k, &f->v};
    f->q = products->args[0];
    f->k = products->args[1];
    f->v = sums->args[1];
    look_through(rw, &f->q, &a->q, &a->scale, NULL);
    look_through(rw, &f->k, &a->k, &a->scale, &a->k_heads);
    look_through(rw, &f->v, &a->v, NULL, &a->v_heads);
    for (size_t i = 0; i < HONE_COUNT(all); i++) {
        const hone_sinfo *info = info_of(rw, all[i]);
        if (!info || info->rank != 4) return false;
        f->is_moved[i] = is_wide(info->dtype);
        hone_dtype dtype = f->is_moved[i] ? hone_moved_type(rw, all[i]) : info->dtype;
        if (!hone_dtype_is_short_float(dtype) || (i > 0 && !hone_dtype_equal(dtype, a->dtype)))
            return false;
        a->dtype = dtype;
    }
    return true;
}

/* The greatest of scaled scores is that of scores, and what is hidden (-1e30) stays so. */
static bool keeps_order(double scale) {
    return scale >= 1e-6 && scale <= 1e6;
}

static bool find_attention(hone_rewrite *rw, const hone_gbind *sums, found *f) {
    *f = (found){
        .is = {.scale = 1, .bias_rank = -1}
    };
    const hone_gbind *rule = NULL, *softmax = find_softmax(rw, sums, &rule);
    int64_t axis = softmax ? hone_attrs_int(&softmax->attrs, "axis", -1) : 0;
    if (!is_product(sums, false) || (axis != -1 && axis != 3)) return false;
    const hone_gbind *products = find_products(rw, softmax, f);
    if (!is_product(products, true) || !read_sizes(rw, products, sums, &f->is)) return false;
    if (!has_four_axes(rw, &sums->args[0]) || !find_factors(rw, products, sums, f) ||
        !keeps_order(f->is.scale))
        return false;
    bool has_bias = f->bias.kind != HONE_GARG_NONE;
    if (rule && !(has_bias && asks_for_hidden(rw, &rule->args[0], &f->bias))) return false;
    f->is.takes_nothing = rule != NULL;
    if (has_bias) take_widening(rw, &f->bias);
    return !has_bias || read_bias(rw, f);
}

/* From the last value to the sums. */
static bool find_ending(hone_rewrite *rw, const hone_gbind *bind, ending *out) {
    *out = (ending){0};
    bool is_narrowed = false;
    for (const hone_gbind *at = bind; at && at->kind == HONE_GBIND_CALL;) {
        if (strcmp(at->callee, "matmul") == 0) {
            out->sums = at;
            return true;
        }
        if (strcmp(at->callee, "astype") == 0 && !is_narrowed) {
            is_narrowed = true;
        } else if (strcmp(at->callee, "reshape") == 0 && is_narrowed && !out->reshape &&
                   !out->turn) {
            out->reshape = at;
        } else if (strcmp(at->callee, "permute_dims") == 0 && !out->turn && swaps_heads(at)) {
            out->turn = at;
        } else {
            return false;
        }
        const hone_garg *inner = &at->args[0];
        bool is_own = inner->kind == HONE_GARG_VALUE && rw->uses[inner->u.value] == 1;
        at = is_own ? rw->defs[inner->u.value] : NULL;
    }
    return false;
}

/* ---- the call ---- */

/* In the shape that this bind gives; NULL: as it is. */
static hone_status reshape_as(hone_rewrite *rw, const hone_gbind *bind, hone_garg *io) {
    if (!bind) return HONE_OK;
    const hone_garg self = HONE_GARG_OF_VALUE(bind->value);
    const hone_sinfo *info = info_of(rw, &self);
    return hone_rewrite_reshape(rw, *io, info->rank, info->shape, io);
}

/* The kernel's result: of the shape of the sums, turned or not. */
static const hone_sinfo *result_info(hone_rewrite *rw, const found *f, const ending *end) {
    const hone_garg self = HONE_GARG_OF_VALUE((end->turn ? end->turn : end->sums)->value);
    hone_sinfo *info = hone_arena_alloc(rw->module->arena, sizeof *info);
    if (!info) return NULL;
    *info = *info_of(rw, &self);
    info->dtype = f->is.dtype;
    return info;
}

static hone_status emit(hone_rewrite *rw, const found *f, const ending *end, const hone_gbind *bind,
                        bool *out_done) {
    const hone_garg *olds[] = {&f->q, &f->k, &f->v, &f->bias};
    hone_garg args[4], out;
    uint32_t count = f->is.bias_rank >= 0 ? 4 : 3;
    const hone_sinfo *result = result_info(rw, f, end);
    const char *name;
    hone_func *func;
    if (!result) return HONE_NO_MEMORY("attention");
    for (uint32_t i = 0; i < count; i++) {
        HONE_TRY(i < HONE_COUNT(f->is_moved) && f->is_moved[i]
                     ? hone_move_narrow(rw, olds[i], &args[i])
                     : hone_rewrite_arg(rw, olds[i], &args[i]));
    }
    HONE_TRY(hone_module_fresh_name(rw->module, "attention", &name));
    HONE_TRY(hone_attention_kernel(&f->is, name, rw->module->arena, &func));
    if (!hone_attrs_with(func->arena, &func->attrs, "op_pattern",
                         HONE_VALUE_OF_INT(HONE_PATTERN_OPAQUE), &func->attrs))
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "attention");
    HONE_TRY(hone_module_add_func(rw->module, func));
    HONE_TRY(hone_rewrite_call_tir(rw, name, count, args, result, &out));
    HONE_TRY(reshape_as(rw, end->reshape, &out));
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
    const hone_garg self = HONE_GARG_OF_VALUE(bind->value);
    ending end;
    found f;
    if (!find_ending(rw, bind, &end) || !find_attention(rw, end.sums, &f) ||
        !is_of_type(rw, &self, f.is.dtype))
        return HONE_OK;
    f.is.out = end.turn ? HONE_HEADS_INSIDE : HONE_HEADS_OUTSIDE;
    if (!fits(&f.is, options)) return HONE_OK;
    return emit(rw, &f, &end, bind, out_done);
}

hone_status hone_pass_fuse_attention(hone_module *module, const hone_graph_options *options) {
    hone_graph_options known = *options;
    if (known.matrix_shared_bytes <= 0) return HONE_OK;
    HONE_TRY(hone_rewrite_module(module, fuse_one, &known));
    return hone_pass_prune(module, options);
}
