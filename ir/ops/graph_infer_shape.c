/* ir/ops/graph_infer_shape.c - shapes of operators that only move data. */
#include <string.h>

#include "ir/ops/graph_infer.h"

static const hone_expr *product(hone_ir *ir, int32_t count, const hone_expr *const *shape) {
    const hone_expr *p = hone_extent_int(ir, 1);
    for (int32_t i = 0; i < count; i++)
        p = hone_extent_mul(ir, p, shape[i]);
    return p;
}

enum { MAX_FACTORS = 4 * HONE_MAX_RANK };

/* A product of extents: its number, and what is not known, symbol by symbol. */
typedef struct factors {
    int64_t number;
    int32_t count;
    const hone_expr *symbols[MAX_FACTORS];
} factors;

/* False where the number leaves 64 bits, or there are too many symbols. */
static bool add_factor(factors *f, const hone_expr *e) {
    if (hone_expr_is_int(e)) return !__builtin_mul_overflow(f->number, e->u.i, &f->number);
    if (hone_expr_is_op(e, HONE_OP_MUL)) {
        return add_factor(f, e->args[0]) && add_factor(f, e->args[1]);
    }
    if (f->count == MAX_FACTORS) return false;
    f->symbols[f->count++] = e;
    return true;
}

static bool factors_of(int32_t count, const hone_expr *const *shape, factors *out) {
    *out = (factors){.number = 1};
    for (int32_t i = 0; i < count; i++) {
        if (!add_factor(out, shape[i])) return false;
    }
    return true;
}

/* Strikes out the symbols that both have. */
static void strike_out(factors *a, factors *b) {
    int32_t kept = 0;
    for (int32_t i = 0; i < a->count; i++) {
        int32_t at = 0;
        while (at < b->count && !hone_extent_same(a->symbols[i], b->symbols[at]))
            at++;
        if (at < b->count)
            b->symbols[at] = b->symbols[--b->count];
        else
            a->symbols[kept++] = a->symbols[i];
    }
    a->count = kept;
}

const hone_expr *hone_infer_rest(hone_ir *ir, const hone_sinfo *x, int32_t count,
                                 const hone_expr *const *by) {
    factors above, below;
    if (!factors_of(x->rank, x->shape, &above) || !factors_of(count, by, &below)) return NULL;
    strike_out(&above, &below);
    if (below.count || below.number <= 0) return NULL;
    const hone_expr *rest = product(ir, above.count, above.symbols);
    if (above.number % below.number == 0) {
        return hone_extent_mul(ir, rest, hone_extent_int(ir, above.number / below.number));
    }
    if (!above.count) return NULL;
    return hone_extent_div(ir, hone_extent_mul(ir, rest, hone_extent_int(ir, above.number)),
                           below.number);
}

/* No sizes (but 0) make the numbers of elements the same: n * 12 and n * 7, or n * 4 and 6. */
static hone_status check_elements(hone_infer *in, int32_t count, const hone_expr *const *shape) {
    const hone_sinfo *x = in->args[0];
    factors from, to;
    if (!factors_of(x->rank, x->shape, &from) || !factors_of(count, shape, &to)) return HONE_OK;
    if (!from.number || !to.number) return HONE_OK;
    strike_out(&from, &to);
    bool fits_from = from.count || from.number % to.number == 0,
         fits_to = to.count || to.number % from.number == 0;
    if (fits_from && fits_to) return HONE_OK;
    return hone_infer_fail(in, "%lld elements%s cannot become %lld%s", (long long)from.number,
                           from.count ? " times a size" : "", (long long)to.number,
                           to.count ? " times a size" : "");
}

/* The target may hold one -1 (what is left) and zeros: the extent at the same place, or, where that
 * does not fit and there are no elements, sizes of 0. */
hone_status hone_infer_reshape(hone_infer *in) {
    const hone_sinfo *x = in->args[0], *target = in->args[1];
    if (target->kind != HONE_SINFO_SHAPE) return hone_infer_fail(in, "the target must be a shape");
    if (target->rank > HONE_MAX_RANK) return hone_infer_doubt(in, "too many dimensions");
    const hone_expr *shape[HONE_MAX_RANK], *known[HONE_MAX_RANK];
    int32_t hole = -1, known_count = 0;
    for (int32_t i = 0; i < target->rank; i++) {
        shape[i] = target->shape[i];
        int64_t size = hone_expr_is_int(shape[i]) ? shape[i]->u.i : 1;
        if (size == -1) {
            if (hole >= 0) return hone_infer_fail(in, "more than one -1 in the target");
            hole = i;
            continue;
        }
        if (size < 0) return hone_infer_fail(in, "%lld in the target", (long long)size);
        if (size == 0 && i < x->rank) shape[i] = x->shape[i];
        known[known_count++] = shape[i];
    }
    if (hole >= 0) {
        shape[hole] = hone_infer_rest(&in->ir, x, known_count, known);
        if (!shape[hole]) return hone_infer_doubt(in, "the -1 in the target cannot be found");
    }
    const hone_expr *from = product(&in->ir, x->rank, x->shape);
    const hone_expr *to = product(&in->ir, target->rank, shape);
    if (!from || !to) return hone_ir_finish(&in->ir);
    if (hole < 0 && hone_expr_is_int_value(from, 0) && hone_extent_differs(from, to)) {
        memcpy(shape, target->shape, (size_t)target->rank * sizeof *shape);
        to = product(&in->ir, target->rank, shape);
        if (!to) return hone_ir_finish(&in->ir);
    }
    if (hone_extent_differs(from, to)) {
        return hone_infer_fail(in, "%lld elements cannot become %lld", (long long)from->u.i,
                               (long long)to->u.i);
    }
    HONE_TRY(check_elements(in, target->rank, shape));
    return hone_infer_tensor(in, x->dtype, target->rank, shape);
}

/* The numbers are not known: R.match_cast gives them names. */
hone_status hone_infer_to_shape(hone_infer *in) {
    const hone_sinfo *t = in->args[0];
    bool is_whole = t->dtype.code == HONE_DTYPE_CODE_INT && t->dtype.lanes == 1;
    if (t->rank != 1) return hone_infer_fail(in, "a shape is made of one dimension");
    if (!is_whole) return hone_infer_fail(in, "a shape is made of integers");
    int64_t count = hone_expr_const(t->shape[0]);
    if (count > HONE_MAX_RANK) return hone_infer_doubt(in, "too many dimensions");
    hone_sinfo *info = hone_arena_zalloc(in->ir.arena, sizeof *info);
    if (!info) return HONE_ERROR(HONE_CODE_NO_MEMORY, "shape");
    *info = (hone_sinfo){HONE_SINFO_SHAPE, HONE_DTYPE_I64, (int32_t)count, 0, NULL, NULL};
    in->result = info;
    return HONE_OK;
}

hone_status hone_infer_flatten(hone_infer *in) {
    const hone_expr *shape[] = {product(&in->ir, in->args[0]->rank, in->args[0]->shape)};
    return hone_infer_tensor(in, in->args[0]->dtype, 1, shape);
}

hone_status hone_infer_squeeze(hone_infer *in) {
    const hone_sinfo *x = in->args[0];
    bool is_axis[HONE_MAX_RANK];
    const hone_value *axis = hone_attrs_find(&in->bind->attrs, "axis");
    bool all = !axis || axis->kind == HONE_VALUE_NONE;
    const hone_expr *shape[HONE_MAX_RANK];
    int32_t rank = 0;
    HONE_TRY(hone_infer_axes(in, "axis", x->rank, is_axis));
    for (int32_t i = 0; i < x->rank; i++) {
        bool is_one = hone_expr_is_int_value(x->shape[i], 1);
        if (is_axis[i] && !is_one && !all) {
            return hone_infer_fail(in, "dimension %d is not 1", i);
        }
        if (!is_axis[i] || !is_one) shape[rank++] = x->shape[i];
    }
    return hone_infer_tensor(in, x->dtype, rank, shape);
}

hone_status hone_infer_expand_dims(hone_infer *in) {
    const hone_sinfo *x = in->args[0];
    const hone_value *axis = hone_attrs_find(&in->bind->attrs, "axis");
    int32_t more = axis && axis->kind == HONE_VALUE_LIST ? (int32_t)axis->count : 1;
    int32_t rank = x->rank + more;
    if (more > HONE_MAX_RANK || rank > HONE_MAX_RANK) {
        return hone_infer_fail(in, "more than %d dimensions", HONE_MAX_RANK);
    }
    bool is_new[HONE_MAX_RANK];
    if (axis)
        HONE_TRY(hone_infer_axes(in, "axis", rank, is_new));
    else
        memset(is_new, 0, sizeof is_new), is_new[0] = true;
    const hone_expr *shape[HONE_MAX_RANK];
    for (int32_t i = 0, from = 0; i < rank; i++) {
        shape[i] = is_new[i] ? hone_extent_int(&in->ir, 1) : x->shape[from++];
    }
    return hone_infer_tensor(in, x->dtype, rank, shape);
}

hone_status hone_infer_permute(hone_infer *in) {
    const hone_sinfo *x = in->args[0];
    int64_t axes[HONE_MAX_RANK];
    bool is_seen[HONE_MAX_RANK] = {false};
    const hone_expr *shape[HONE_MAX_RANK];
    const hone_value *value = hone_attrs_find(&in->bind->attrs, "axes");
    bool reverse = !value || value->kind == HONE_VALUE_NONE;
    if (!reverse) HONE_TRY(hone_graph_attr_ints(in->bind, "axes", (uint32_t)x->rank, 0, axes));
    for (int32_t i = 0; i < x->rank; i++) {
        int32_t axis;
        HONE_TRY(hone_infer_axis(in, reverse ? x->rank - 1 - i : axes[i], x->rank, &axis));
        if (is_seen[axis]) return hone_infer_fail(in, "axis %d is given twice", axis);
        is_seen[axis] = true;
        shape[i] = x->shape[axis];
    }
    return hone_infer_tensor(in, x->dtype, x->rank, shape);
}

hone_status hone_infer_broadcast_to(hone_infer *in) {
    const hone_sinfo *x = in->args[0], *target = in->args[1];
    if (target->kind != HONE_SINFO_SHAPE || target->rank < x->rank ||
        target->rank > HONE_MAX_RANK) {
        return hone_infer_fail(in, "the target must be a shape of at least as many dimensions");
    }
    for (int32_t i = 0; i < x->rank; i++) {
        const hone_expr *from = x->shape[i], *to = target->shape[i + target->rank - x->rank];
        if (!hone_expr_is_int_value(from, 1) && !hone_infer_same_extent(in, from, to)) {
            return (hone_expr_is_int(from) && hone_expr_is_int(to)
                        ? hone_infer_fail
                        : hone_infer_doubt)(in, "dimension %d does not fit", i);
        }
    }
    return hone_infer_tensor(in, x->dtype, target->rank, target->shape);
}

hone_status hone_infer_concat(hone_infer *in) {
    const hone_sinfo *tuple = in->args[0];
    if (tuple->field_count == 0) return hone_infer_fail(in, "wants at least one tensor");
    const hone_sinfo *first = tuple->fields[0];
    int32_t axis;
    if (first->kind != HONE_SINFO_TENSOR) return hone_infer_fail(in, "item 0 is no tensor");
    HONE_TRY(hone_infer_axis(in, hone_attrs_int(&in->bind->attrs, "axis", 0), first->rank, &axis));
    const hone_expr *shape[HONE_MAX_RANK];
    memcpy(shape, first->shape, (size_t)first->rank * sizeof *shape);
    for (uint32_t t = 1; t < tuple->field_count; t++) {
        const hone_sinfo *item = tuple->fields[t];
        if (item->kind != HONE_SINFO_TENSOR || item->rank != first->rank ||
            hone_dtypes_differ(item->dtype, first->dtype)) {
            return hone_infer_fail(in, "item %u has another rank or type than item 0", t);
        }
        for (int32_t i = 0; i < first->rank; i++) {
            if (i != axis && !hone_infer_same_extent(in, item->shape[i], first->shape[i])) {
                bool is_sure = hone_extent_differs(item->shape[i], first->shape[i]);
                return (is_sure ? hone_infer_fail : hone_infer_doubt)(
                    in, "dimension %d of item %u differs from that of item 0", i, t);
            }
        }
        shape[axis] = hone_extent_sum(&in->ir, shape[axis], item->shape[axis]);
        if (!shape[axis]) return hone_ir_finish(&in->ir);
    }
    return hone_infer_tensor(in, first->dtype, first->rank, shape);
}

/* Part i of an axis whose extent comes later: equal ones but for the last, or between cuts; that
 * none is less than nothing is seen when it is cut out. */
static hone_status open_part(hone_infer *in, const hone_expr *extent, const hone_value *cuts,
                             int64_t count, int64_t i, const hone_expr **out) {
    bool is_list = cuts && cuts->kind == HONE_VALUE_LIST;
    const hone_expr *part =
        hone_extent_div(&in->ir, hone_extent_add(&in->ir, extent, count - 1), count);
    const hone_expr *before = hone_extent_int(&in->ir, 1 - count);
    if (is_list) {
        int64_t begin = i ? cuts->u.items[i - 1].u.i : 0;
        int64_t end = i + 1 < count ? cuts->u.items[i].u.i : begin;
        if (begin < 0 || end < begin)
            return hone_infer_fail(in, "a cut at %lld", (long long)(end < begin ? end : begin));
        part = hone_extent_int(&in->ir, end - begin);
        before = hone_extent_int(&in->ir, -begin);
    } else if (part) {
        before = hone_extent_mul(&in->ir, part, before);
    }
    *out = i + 1 < count ? part : hone_extent_sum(&in->ir, extent, before);
    return hone_ir_finish(&in->ir);
}

/* indices_or_sections: how many equal parts, or the list of places to cut. */
hone_status hone_infer_split(hone_infer *in) {
    const hone_sinfo *x = in->args[0];
    const hone_value *cuts = hone_attrs_find(&in->bind->attrs, "indices_or_sections");
    bool is_list = cuts && cuts->kind == HONE_VALUE_LIST;
    int32_t axis;
    HONE_TRY(hone_infer_axis(in, hone_attrs_int(&in->bind->attrs, "axis", 0), x->rank, &axis));
    int64_t extent = hone_expr_const(x->shape[axis]);
    int64_t count = is_list ? (int64_t)cuts->count + 1
                            : hone_attrs_int(&in->bind->attrs, "indices_or_sections", 1);
    if (count < 1 || count > 4096) return hone_infer_fail(in, "%lld parts", (long long)count);
    const hone_sinfo **fields = hone_arena_zalloc(in->ir.arena, (size_t)count * sizeof *fields);
    if (!fields) return HONE_ERROR(HONE_CODE_NO_MEMORY, "shape");
    const hone_expr *shape[HONE_MAX_RANK];
    memcpy(shape, x->shape, (size_t)x->rank * sizeof *shape);
    int64_t part = extent / count + (extent % count != 0), begin = 0;
    for (int64_t i = 0; i < count; i++) {
        bool is_last = i + 1 == count;
        if (is_list && !is_last && cuts->u.items[i].kind != HONE_VALUE_INT) {
            return hone_infer_fail(in, "a cut that is no integer");
        }
        if (extent < 0) {
            HONE_TRY(open_part(in, x->shape[axis], cuts, count, i, &shape[axis]));
            HONE_TRY(hone_infer_tensor(in, x->dtype, x->rank, shape));
            fields[i] = in->result;
            continue;
        }
        int64_t end = is_last ? extent : is_list ? cuts->u.items[i].u.i : begin + part;
        if (end > extent || end < begin)
            return hone_infer_fail(in, "a cut at %lld", (long long)end);
        shape[axis] = hone_extent_int(&in->ir, end - begin);
        HONE_TRY(hone_infer_tensor(in, x->dtype, x->rank, shape));
        fields[i] = in->result;
        begin = end;
    }
    in->result = hone_sinfo_tuple(in->ir.arena, (uint32_t)count, fields);
    return in->result ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "shape");
}

/* numpy's slicing: negative places count from the end, places beyond it are clamped. */
static int64_t slice_extent(int64_t extent, int64_t begin, int64_t end, int64_t stride) {
    int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? extent : extent - 1;
    if (begin < 0) begin += extent;
    if (end < 0) end = end < -extent ? low : end + extent;
    begin = begin < low ? low : begin > high ? high : begin;
    end = end < low ? low : end > high ? high : end;
    int64_t span = stride > 0 ? end - begin : begin - end, step = stride > 0 ? stride : -stride;
    return span <= 0 ? 0 : (span - 1) / step + 1;
}

static bool is_list_of_sizes(const hone_garg *arg) {
    bool is_so = arg->kind == HONE_GARG_TUPLE && arg->count <= HONE_MAX_RANK;
    for (uint32_t i = 0; is_so && i < arg->count; i++)
        is_so = arg->u.items[i].kind == HONE_GARG_PRIM;
    return is_so;
}

/* With sizes for numbers, or along an axis of unknown extent, it is open: that is composed of
 * others (graph/compose/). */
hone_status hone_infer_slice(hone_infer *in) {
    const hone_sinfo *x = in->args[0];
    const hone_garg *args = in->bind->args;
    int64_t axes[HONE_MAX_RANK], begin[HONE_MAX_RANK], end[HONE_MAX_RANK], strides[HONE_MAX_RANK];
    for (uint32_t i = 2; i < in->bind->arg_count; i++) {
        bool are_lists = args[1].kind == HONE_GARG_TUPLE && args[i].kind == HONE_GARG_TUPLE;
        if (are_lists && args[i].count != args[1].count) {
            return hone_infer_fail(in, "%u axes and %u numbers for them", args[1].count,
                                   args[i].count);
        }
    }
    int32_t count = hone_garg_ints(&args[1], axes);
    bool are_numbers = count >= 0 && hone_garg_ints(&args[2], begin) == count &&
                       hone_garg_ints(&args[3], end) == count &&
                       (in->bind->arg_count <= 4 || hone_garg_ints(&args[4], strides) == count);
    if (!are_numbers) {
        for (uint32_t i = 1; i < in->bind->arg_count; i++) {
            if (!is_list_of_sizes(&args[i]) || args[i].count != args[1].count)
                return hone_infer_doubt(in, "axes, begin, end and strides must be numbers, "
                                            "equally many");
        }
        return HONE_OK;
    }
    const hone_expr *shape[HONE_MAX_RANK];
    memcpy(shape, x->shape, (size_t)x->rank * sizeof *shape);
    for (int32_t i = 0; i < count; i++) {
        int32_t axis;
        HONE_TRY(hone_infer_axis(in, axes[i], x->rank, &axis));
        int64_t extent = hone_expr_const(x->shape[axis]);
        int64_t stride = in->bind->arg_count > 4 ? strides[i] : 1;
        if (extent < 0) return HONE_OK;
        if (stride == 0 || stride == INT64_MIN) return hone_infer_fail(in, "a stride of 0");
        shape[axis] = hone_extent_int(&in->ir, slice_extent(extent, begin[i], end[i], stride));
    }
    return hone_infer_tensor(in, x->dtype, x->rank, shape);
}

hone_status hone_infer_take(hone_infer *in) {
    const hone_sinfo *x = in->args[0], *indices = in->args[1];
    const hone_value *value = hone_attrs_find(&in->bind->attrs, "axis");
    bool has_axis = value && value->kind != HONE_VALUE_NONE;
    int32_t axis = 0, rank = 0;
    if (!has_axis && x->rank != 1) return hone_infer_fail(in, "wants an axis");
    if (indices->kind != HONE_SINFO_TENSOR)
        return hone_infer_doubt(in, "wants a tensor of indices");
    if (!hone_dtype_is_integer(indices->dtype) && !hone_dtype_is_void(indices->dtype)) {
        return hone_infer_fail(in, "the indices must be integers");
    }
    if (has_axis) {
        HONE_TRY(hone_infer_axis(in, hone_attrs_int(&in->bind->attrs, "axis", 0), x->rank, &axis));
    }
    const hone_expr *shape[2 * HONE_MAX_RANK];
    for (int32_t i = 0; i < axis; i++)
        shape[rank++] = x->shape[i];
    for (int32_t i = 0; i < indices->rank; i++)
        shape[rank++] = indices->shape[i];
    for (int32_t i = axis + 1; i < x->rank; i++)
        shape[rank++] = x->shape[i];
    return hone_infer_tensor(in, x->dtype, rank, shape);
}
