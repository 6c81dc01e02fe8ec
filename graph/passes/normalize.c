/* graph/passes/normalize.c - one way to say each thing, and nothing that does nothing:
 *   flatten, squeeze, expand_dims        → reshape
 *   reshape of a reshape                 → one reshape; of a constant → another constant
 *   reshape, astype, permute_dims that change nothing, aliases, dropout → the argument
 *   split                                → a tuple of strided_slice
 *   topk                                 → topk of the values, and of the indices
 *   what is made of numbers and shapes   → see normalize_fill.h
 *   linear                               → matmul with transpose_b, add
 *   items of tuples that are written out → the item
 * needs: infer
 * keeps: everything else
 */
#include <string.h>

#include "graph/module/rewrite.h"
#include "graph/passes/graph_passes.h"
#include "graph/passes/normalize_fill.h"
#include "ir/ops/graph_infer.h"

static bool same_shape(const hone_sinfo *a, const hone_sinfo *b) {
    if (!a || !b || a->kind != HONE_SINFO_TENSOR || b->kind != HONE_SINFO_TENSOR ||
        a->rank != b->rank || a->rank < 0 || (a->rank && (!a->shape || !b->shape))) {
        return false;
    }
    for (int32_t i = 0; i < a->rank; i++) {
        if (!hone_extent_same(a->shape[i], b->shape[i])) return false;
    }
    return true;
}

/* ---- views ---- */

static hone_status reshape_constant(hone_rewrite *rw, const hone_tensor *tensor,
                                    const hone_sinfo *to, hone_garg *out) {
    hone_tensor *copy;
    HONE_TRY(hone_tensor_share(tensor, &copy));
    copy->rank = to->rank;
    for (int32_t i = 0; i < to->rank; i++)
        copy->shape[i] = to->shape[i]->u.i;
    return hone_rewrite_add_constant(rw, copy, out);
}

/* The 0 of a target means the extent at the same index: a size of 0 cannot be said where another
 * stands. */
static bool can_be_said(hone_rewrite *rw, const hone_garg *x, const hone_sinfo *to) {
    const hone_sinfo *from = hone_rewrite_info(rw, x);
    for (int32_t i = 0; i < to->rank; i++) {
        if (!hone_expr_is_int_value(to->shape[i], 0)) continue;
        if (!from || from->kind != HONE_SINFO_TENSOR || from->rank < 0) return false;
        bool is_kept =
            i >= from->rank || (from->shape && hone_expr_is_int_value(from->shape[i], 0));
        if (!is_kept) return false;
    }
    return true;
}

/* *out_made false: the call stays as it is. */
static hone_status make_reshape(hone_rewrite *rw, hone_garg x, const hone_sinfo *to, hone_garg *out,
                                bool *out_made) {
    const hone_tensor *constant = hone_rewrite_constant(rw, &x);
    *out_made = true;
    if (constant && hone_sinfo_is_static(to)) return reshape_constant(rw, constant, to, out);
    const hone_gbind *before = hone_rewrite_maker(rw, &x);
    if (hone_gbind_calls(before, "reshape") && can_be_said(rw, &before->args[0], to))
        x = before->args[0];
    if (same_shape(hone_rewrite_info(rw, &x), to)) {
        *out = x;
        return HONE_OK;
    }
    if (!can_be_said(rw, &x, to)) {
        *out_made = false;
        return HONE_OK;
    }
    return hone_rewrite_reshape(rw, x, to->rank, to->shape, out);
}

static hone_status normalize_view(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    const hone_sinfo *to = rw->old->values[bind->value].sinfo;
    hone_garg x, out;
    if (!to || to->kind != HONE_SINFO_TENSOR || to->rank < 0 || (to->rank && !to->shape)) {
        return HONE_OK;
    }
    HONE_TRY(hone_rewrite_arg(rw, &bind->args[0], &x));
    HONE_TRY(make_reshape(rw, x, to, &out, out_done));
    if (*out_done) hone_rewrite_set(rw, bind->value, out);
    return HONE_OK;
}

/* ---- calls that do nothing ---- */

static bool is_identity_permutation(const hone_gbind *bind, const hone_sinfo *info) {
    int64_t axes[HONE_MAX_RANK];
    const hone_value *value = hone_attrs_find(&bind->attrs, "axes");
    if (info->rank <= 1) return true;
    if (!value || value->kind != HONE_VALUE_LIST || value->count != (uint32_t)info->rank) {
        return false;
    }
    hone_status st = hone_graph_attr_ints(bind, "axes", (uint32_t)info->rank, 0, axes);
    bool ok = !st;
    hone_status_free(st);
    for (int32_t i = 0; ok && i < info->rank; i++)
        ok = axes[i] == i || axes[i] == i - info->rank;
    return ok;
}

static bool does_nothing(hone_rewrite *rw, const hone_gbind *bind) {
    const hone_sinfo *to = rw->old->values[bind->value].sinfo;
    const hone_sinfo *from =
        hone_garg_sinfo(rw->module, rw->old, &bind->args[0], rw->module->arena);
    if (!same_shape(from, to)) return false;
    if (hone_gbind_calls(bind, "astype")) return hone_dtype_equal(from->dtype, to->dtype);
    if (hone_gbind_calls(bind, "permute_dims")) return is_identity_permutation(bind, to);
    return hone_gbind_calls(bind, "broadcast_to");
}

static hone_status alias(hone_rewrite *rw, const hone_gbind *bind, const hone_garg *arg,
                         bool *out_done) {
    hone_garg now;
    HONE_TRY(hone_rewrite_arg(rw, arg, &now));
    hone_rewrite_set(rw, bind->value, now);
    *out_done = true;
    return HONE_OK;
}

/* ---- tuples ---- */

/* Elements begin to end along an axis. */
static hone_status slice(hone_rewrite *rw, hone_garg x, int64_t axis, int64_t begin, int64_t end,
                         hone_garg *out) {
    int64_t numbers[3] = {axis, begin, end};
    hone_garg args[4] = {x}, *items = hone_arena_zalloc(rw->module->arena, 3 * sizeof *items);
    if (!items) return HONE_ERROR(HONE_CODE_NO_MEMORY, "slice");
    for (uint32_t i = 0; i < 3; i++) {
        items[i] =
            (hone_garg){.kind = HONE_GARG_PRIM, .u.expr = hone_extent_int(&rw->ir, numbers[i])};
        args[i + 1] = (hone_garg){.kind = HONE_GARG_TUPLE, .count = 1, .u.items = &items[i]};
    }
    return hone_rewrite_call(rw, "strided_slice", 4, args, (hone_attrs){0}, out);
}

static hone_status parts_of_split(hone_rewrite *rw, const hone_gbind *split, uint32_t count,
                                  hone_garg *items) {
    const hone_sinfo *tuple = rw->old->values[split->value].sinfo;
    hone_garg x;
    HONE_TRY(hone_rewrite_arg(rw, &split->args[0], &x));
    const hone_sinfo *info = hone_rewrite_info(rw, &x);
    int64_t axis = hone_attrs_int(&split->attrs, "axis", 0), begin = 0;
    if (!info) return HONE_ERROR(HONE_CODE_INVALID, "a split of what is no tensor");
    if (axis < 0) axis += info->rank;
    for (uint32_t i = 0; i < count; i++) {
        int64_t end = begin + hone_expr_const(tuple->fields[i]->shape[axis]);
        HONE_TRY(slice(rw, x, axis, begin, end, &items[i]));
        begin = end;
    }
    return HONE_OK;
}

static hone_status items_of_topk(hone_rewrite *rw, const hone_gbind *topk, hone_garg *items) {
    static const char *const kinds[] = {"values", "indices"};
    hone_garg x;
    HONE_TRY(hone_rewrite_arg(rw, &topk->args[0], &x));
    for (uint32_t i = 0; i < HONE_COUNT(kinds); i++) {
        hone_attrs attrs;
        hone_value kind = HONE_VALUE_OF_STRING(kinds[i]);
        if (!hone_attrs_with(rw->module->arena, &topk->attrs, "ret_type", kind, &attrs))
            return HONE_ERROR(HONE_CODE_NO_MEMORY, "topk");
        HONE_TRY(hone_rewrite_call(rw, "topk", 1, &x, attrs, &items[i]));
    }
    return HONE_OK;
}

/* What dropout drops in inference: nothing. */
static hone_status items_of_dropout(hone_rewrite *rw, const hone_gbind *dropout, hone_garg *items) {
    HONE_TRY(hone_rewrite_arg(rw, &dropout->args[0], &items[0]));
    const hone_sinfo *info = hone_rewrite_info(rw, &items[0]);
    if (!info || info->rank < 0 || (info->rank && !info->shape))
        return hone_rewrite_call(rw, "ones_like", 1, &items[0], (hone_attrs){0}, &items[1]);
    return hone_normalize_ones(rw, info, &items[1]);
}

/* A call of several results as a tuple of its items, each by itself; nobody computes those that go
 * unused. */
static hone_status normalize_tuple(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    const hone_sinfo *tuple = rw->old->values[bind->value].sinfo;
    bool is_split = hone_gbind_calls(bind, "split"), is_topk = hone_gbind_calls(bind, "topk");
    bool is_one = is_split || is_topk || hone_gbind_calls(bind, "nn.dropout");
    if (!is_one || !tuple || tuple->kind != HONE_SINFO_TUPLE) return HONE_OK;
    uint32_t count = tuple->field_count;
    hone_garg *items = hone_arena_zalloc(rw->module->arena, ((size_t)count + 1) * sizeof *items);
    if (!items) return HONE_ERROR(HONE_CODE_NO_MEMORY, "tuple");
    if (is_split)
        HONE_TRY(parts_of_split(rw, bind, count, items));
    else
        HONE_TRY(is_topk ? items_of_topk(rw, bind, items) : items_of_dropout(rw, bind, items));
    hone_garg now = {.kind = HONE_GARG_TUPLE, .count = count, .u.items = items};
    hone_rewrite_set(rw, bind->value, now);
    *out_done = true;
    return HONE_OK;
}

static hone_status normalize_get(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    hone_garg now;
    HONE_TRY(hone_rewrite_arg(rw, &bind->args[0], &now));
    if (now.kind != HONE_GARG_TUPLE || bind->index < 0 || (uint32_t)bind->index >= now.count) {
        return HONE_OK;
    }
    hone_rewrite_set(rw, bind->value, now.u.items[bind->index]);
    *out_done = true;
    return HONE_OK;
}

/* ---- linear ---- */

static hone_status normalize_linear(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    const hone_garg *args;
    hone_garg out;
    hone_attrs attrs = {0};
    HONE_TRY(hone_rewrite_args(rw, bind, &args));
    const hone_value *dtype = hone_attrs_find(&bind->attrs, "out_dtype");
    hone_arena *arena = rw->module->arena;
    if ((dtype && !hone_attrs_with(arena, &attrs, "out_dtype", *dtype, &attrs)) ||
        !hone_attrs_with(arena, &attrs, "transpose_b", HONE_VALUE_OF_INT(1), &attrs)) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "linear");
    }
    HONE_TRY(hone_rewrite_call(rw, "matmul", 2, args, attrs, &out));
    if (bind->arg_count > 2 && args[2].kind != HONE_GARG_NONE) {
        hone_garg sum[] = {out, args[2]};
        HONE_TRY(hone_rewrite_call(rw, "add", 2, sum, (hone_attrs){0}, &out));
    }
    hone_rewrite_set(rw, bind->value, out);
    *out_done = true;
    return HONE_OK;
}

static hone_status normalize_bind(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    switch (bind->kind) {
    case HONE_GBIND_ARG:
        return alias(rw, bind, &bind->args[0], out_done);
    case HONE_GBIND_TUPLE_GET:
        return normalize_get(rw, bind, out_done);
    case HONE_GBIND_CALL:
        break;
    default:
        return HONE_OK;
    }
    HONE_TRY(hone_normalize_fill(rw, bind, out_done));
    if (!*out_done) HONE_TRY(normalize_tuple(rw, bind, out_done));
    if (*out_done) return HONE_OK;
    if (hone_gbind_calls(bind, "linear")) return normalize_linear(rw, bind, out_done);
    if (hone_gbind_calls(bind, "concat") && bind->args[0].kind == HONE_GARG_TUPLE &&
        bind->args[0].count == 1) {
        return alias(rw, bind, &bind->args[0].u.items[0], out_done);
    }
    static const char *const views[] = {"reshape", "flatten", "squeeze", "expand_dims"};
    for (size_t i = 0; i < HONE_COUNT(views); i++) {
        if (hone_gbind_calls(bind, views[i])) return normalize_view(rw, bind, out_done);
    }
    return does_nothing(rw, bind) ? alias(rw, bind, &bind->args[0], out_done) : HONE_OK;
}

hone_status hone_pass_normalize(hone_module *module, const hone_graph_options *options) {
    HONE_TRY(hone_rewrite_module(module, normalize_bind, NULL));
    return hone_pass_prune(module, options);
}

hone_status hone_pass_infer(hone_module *module, const hone_graph_options *options) {
    (void)options;
    for (uint32_t i = 0; i < module->member_count; i++) {
        if (module->members[i].kind != HONE_MEMBER_GRAPH) continue;
        HONE_TRY(hone_graph_infer(module, module->members[i].graph));
    }
    return HONE_OK;
}
