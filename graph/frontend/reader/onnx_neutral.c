/* graph/frontend/reader/onnx_neutral.c - reductions along what data may leave empty: there one
 * number more is reduced, which changes nothing, so that of nothing it is what comes out. */
#include <math.h>
#include <string.h>

#include "graph/frontend/reader/onnx_reader.h"

typedef enum kind { SUM, PROD, MAX, MIN, NO_KIND } kind;

static kind kind_of(const char *op) {
    static const char *const names[] = {"sum", "prod", "max", "min"};
    uint32_t i = 0;
    while (i < NO_KIND && strcmp(op, names[i]) != 0)
        i++;
    return (kind)i;
}

/* False: there is none, or none that an attribute can say. */
static bool neutral_of(kind k, hone_dtype dtype, hone_value *out) {
    const double floats[] = {0, 1, -INFINITY, INFINITY};
    bool is_float = hone_dtype_is_float(dtype);
    if (is_float) *out = HONE_VALUE_OF_FLOAT(floats[k]);
    if (is_float || !hone_dtype_is_integer(dtype)) return is_float;
    const int64_t whole[] = {0, 1, hone_dtype_min_int(dtype), hone_dtype_max_int(dtype)};
    *out = HONE_VALUE_OF_INT(whole[k]);
    return k != MIN || dtype.bits < 64 || !hone_dtype_is_uint(dtype);
}

/* Without the attribute, and with None, all are. */
static bool is_axis(const hone_attrs *attrs, int32_t rank, int32_t d) {
    const hone_value *axis = hone_attrs_find(attrs, "axis");
    if (!axis || axis->kind == HONE_VALUE_NONE) return true;
    bool is_list = axis->kind == HONE_VALUE_LIST, is_it = false;
    uint32_t count = is_list ? axis->count : 1;
    for (uint32_t i = 0; i < count; i++) {
        const hone_value *item = is_list ? &axis->u.items[i] : axis;
        is_it |= item->kind == HONE_VALUE_INT && (item->u.i == d || item->u.i == d - rank);
    }
    return is_it;
}

hone_status onnx_add_neutral(onnx_reader *r, const char *op, const hone_attrs *attrs,
                             hone_garg *io) {
    const hone_sinfo *info;
    int64_t widths[2 * HONE_MAX_RANK] = {0};
    hone_value neutral;
    kind k = kind_of(op);
    bool may_be_empty = false;
    bool has_found = r->found_count || r->has_found_around;
    if (k == NO_KIND || !has_found) return HONE_OK;
    HONE_TRY(onnx_info(r, io, &info));
    if (!neutral_of(k, info->dtype, &neutral)) return HONE_OK;
    for (int32_t d = 0; d < info->rank; d++) {
        bool is_padded = is_axis(attrs, info->rank, d) && onnx_is_found(r, info->shape[d]);
        widths[2 * d + 1] = is_padded;
        may_be_empty |= is_padded;
    }
    if (!may_be_empty) return HONE_OK;
    hone_attr pad[] = {
        {"pad_width", onnx_ints_value(r, 2 * (uint32_t)info->rank, widths)},
        {"pad_value",    neutral                    }
    };
    return onnx_emit(r, "nn.pad", 1, io, 2, pad, io);
}
