/* include/api_topi.c - operators of formulas: a binding is made of what the caller gives,
 * graph/operators/topi_build.h does the rest. */
#include <hone/topi.h>

#include <string.h>

#include "graph/operators/topi_build.h"
#include "include/api_formula.h"
#include "include/api_option.h"
#include "support/data/tensor.h"

static hone_status apply(hone_formula *f, const char *op, size_t count, const hone_array *tensors,
                         size_t option_count, const hone_option *options, hone_array *out) {
    hone_arena *arena = f->te.ir.arena;
    hone_garg *args = hone_arena_zalloc(arena, (count + 1) * sizeof *args);
    if (!args) return HONE_ERROR(HONE_CODE_NO_MEMORY, "operator");
    for (size_t i = 0; i < count; i++)
        args[i] = HONE_GARG_OF_VALUE((hone_gvalue)i);
    hone_gbind bind;
    HONE_TRY(hone_api_bind(arena, op, count, args, option_count, options, &bind));
    return hone_topi_apply(&f->te, &bind, (uint32_t)count, tensors, out);
}

static hone_array mistake(hone_formula *f, const char *op, const char *what) {
    hone_formula_fail(f, HONE_ERROR(HONE_CODE_INVALID, "operator '%s': %s", op, what));
    return HONE_NO_ARRAY;
}

hone_array hone_topi_call(hone_formula *f, const char *op, size_t count, const hone_array *tensors,
                          size_t option_count, const hone_option *options) {
    if (!hone_formula_is_open(f)) return HONE_NO_ARRAY;
    if (!op) return mistake(f, "NULL", "there is no such operator");
    if (count && !tensors) return mistake(f, op, "tensors is NULL");
    if (option_count && !options) return mistake(f, op, "options is NULL");
    if (count > HONE_TOPI_MAX_ARGS) return mistake(f, op, "more than 64 tensors");
    if (f->has_axes) return mistake(f, op, "an array has been begun and is not computed");
    for (size_t i = 0; i < count; i++) {
        if (!hone_formula_has_array(f, tensors[i])) return HONE_NO_ARRAY;
    }
    for (size_t i = 0; i < option_count; i++) {
        const hone_option *o = &options[i];
        for (size_t d = 0; o->kind == HONE_OPTION_TERMS && o->terms && d < o->count; d++) {
            if (!hone_formula_read_extent(f, op, (uint32_t)d, o->terms[d]) && o->terms[d])
                return HONE_NO_ARRAY;
        }
    }
    hone_buffer out = HONE_NO_ID;
    hone_status st = apply(f, op, count, tensors, option_count, options, &out);
    if (st) hone_formula_fail(f, st);
    return st ? HONE_NO_ARRAY : out;
}

/* ---- element by element ---- */

hone_array hone_topi_unary(hone_formula *f, const char *op, hone_array x) {
    return hone_topi_call(f, op, 1, &x, 0, NULL);
}

hone_array hone_topi_binary(hone_formula *f, const char *op, hone_array a, hone_array b) {
    return hone_topi_call(f, op, 2, (hone_array[]){a, b}, 0, NULL);
}

hone_array hone_topi_where(hone_formula *f, hone_array condition, hone_array if_true,
                           hone_array if_false) {
    return hone_topi_call(f, "where", 3, (hone_array[]){condition, if_true, if_false}, 0, NULL);
}

hone_array hone_topi_clip(hone_formula *f, hone_array x, double low, double high) {
    hone_option options[] = {hone_option_number("min", low), hone_option_number("max", high)};
    return hone_topi_call(f, "clip", 1, &x, 2, options);
}

hone_array hone_topi_cast(hone_formula *f, hone_array x, const char *type) {
    hone_option option = hone_option_text("dtype", type);
    return hone_topi_call(f, "astype", 1, &x, 1, &option);
}

/* ---- products ---- */

hone_array hone_topi_matmul(hone_formula *f, hone_array a, hone_array b, int transpose_a,
                            int transpose_b) {
    hone_option options[] = {hone_option_integer("transpose_a", transpose_a != 0),
                             hone_option_integer("transpose_b", transpose_b != 0)};
    return hone_topi_call(f, "matmul", 2, (hone_array[]){a, b}, 2, options);
}

hone_array hone_topi_dense(hone_formula *f, hone_array data, hone_array weight, hone_array bias) {
    hone_array product = hone_topi_matmul(f, data, weight, 0, 1);
    return bias == HONE_NO_ARRAY ? product : hone_topi_binary(f, "add", product, bias);
}

/* "nn.conv" and the number of spatial dimensions; NULL when there is no such operator. */
static const char *spatial_op(hone_formula *f, hone_array data, const char *const names[3]) {
    uint32_t rank = hone_formula_rank(f, data);
    if (rank >= 3 && rank <= 5) return names[rank - 3];
    if (hone_formula_is_open(f) && hone_formula_has_array(f, data)) {
        hone_formula_fail(f, HONE_ERROR(HONE_CODE_TYPE,
                                        "data of '%s' has %u dimensions, must have 3 to 5",
                                        names[1], (unsigned)rank));
    }
    return NULL;
}

enum { MAX_WINDOW_OPTIONS = 8 };

typedef struct window {
    int64_t strides[3], dilation[3], padding[6];
    hone_option options[MAX_WINDOW_OPTIONS];
    size_t count;
} window;

static void add_option(window *w, hone_option option) {
    w->options[w->count++] = option;
}

/* The options that convolutions and pools share. */
static void read_window(const hone_topi_window *from, uint32_t spatial, window *w) {
    static const hone_topi_window plain = {0};
    if (!from) from = &plain;
    w->count = 0;
    for (uint32_t i = 0; i < spatial; i++) {
        w->strides[i] = from->strides[i] ? from->strides[i] : 1;
        w->dilation[i] = from->dilation[i] ? from->dilation[i] : 1;
        w->padding[i] = from->pad_before[i];
        w->padding[i + spatial] = from->pad_after[i];
    }
    add_option(w, hone_option_integers("strides", spatial, w->strides));
    add_option(w, hone_option_integers("dilation", spatial, w->dilation));
    add_option(w, hone_option_integers("padding", (size_t)spatial * 2, w->padding));
}

hone_array hone_topi_conv(hone_formula *f, hone_array data, hone_array weight,
                          const hone_topi_window *from) {
    static const char *const names[] = {"nn.conv1d", "nn.conv2d", "nn.conv3d"};
    const char *op = spatial_op(f, data, names);
    if (!op) return HONE_NO_ARRAY;
    window w;
    read_window(from, hone_formula_rank(f, data) - 2, &w);
    add_option(&w, hone_option_integer("groups", from && from->groups ? from->groups : 1));
    return hone_topi_call(f, op, 2, (hone_array[]){data, weight}, w.count, w.options);
}

static hone_array pool(hone_formula *f, hone_array data, const int64_t *kernel,
                       const hone_topi_window *from, const char *const names[3]) {
    const char *op = spatial_op(f, data, names);
    if (!op) return HONE_NO_ARRAY;
    if (!kernel) return mistake(f, op, "kernel is NULL");
    uint32_t spatial = hone_formula_rank(f, data) - 2;
    window w;
    read_window(from, spatial, &w);
    add_option(&w, hone_option_integers("pool_size", spatial, kernel));
    add_option(&w, hone_option_integer("ceil_mode", from && from->ceil_mode));
    add_option(&w, hone_option_integer("count_include_pad", from && from->count_include_pad));
    return hone_topi_call(f, op, 1, &data, w.count, w.options);
}

hone_array hone_topi_max_pool(hone_formula *f, hone_array data, const int64_t *kernel,
                              const hone_topi_window *from) {
    static const char *const names[] = {"nn.max_pool1d", "nn.max_pool2d", "nn.max_pool3d"};
    return pool(f, data, kernel, from, names);
}

hone_array hone_topi_avg_pool(hone_formula *f, hone_array data, const int64_t *kernel,
                              const hone_topi_window *from) {
    static const char *const names[] = {"nn.avg_pool1d", "nn.avg_pool2d", "nn.avg_pool3d"};
    return pool(f, data, kernel, from, names);
}

hone_array hone_topi_global_avg_pool(hone_formula *f, hone_array data) {
    static const char *const names[] = {"nn.adaptive_avg_pool1d", "nn.adaptive_avg_pool2d",
                                        "nn.adaptive_avg_pool3d"};
    static const int64_t ones[] = {1, 1, 1};
    const char *op = spatial_op(f, data, names);
    if (!op) return HONE_NO_ARRAY;
    hone_option option = hone_option_integers("output_size", hone_formula_rank(f, data) - 2, ones);
    return hone_topi_call(f, op, 1, &data, 1, &option);
}

/* ---- over axes ---- */

hone_array hone_topi_reduce(hone_formula *f, const char *op, hone_array x, size_t axis_count,
                            const int64_t *axes, int keepdims) {
    hone_option options[] = {hone_option_flag("keepdims", keepdims),
                             hone_option_integers("axis", axis_count, axes)};
    bool is_arg = op && strncmp(op, "arg", 3) == 0; /* takes one axis, or all */
    if (is_arg && axis_count > 1) return mistake(f, op, "more than one axis");
    if (is_arg && axis_count && axes) options[1] = hone_option_integer("axis", axes[0]);
    return hone_topi_call(f, op, 1, &x, axis_count ? 2 : 1, options);
}

hone_array hone_topi_softmax(hone_formula *f, hone_array x, int64_t axis) {
    hone_option option = hone_option_integer("axis", axis);
    return hone_topi_call(f, "nn.softmax", 1, &x, 1, &option);
}

hone_array hone_topi_log_softmax(hone_formula *f, hone_array x, int64_t axis) {
    hone_option option = hone_option_integer("axis", axis);
    return hone_topi_call(f, "nn.log_softmax", 1, &x, 1, &option);
}

hone_array hone_topi_layer_norm(hone_formula *f, hone_array x, hone_array gamma, hone_array beta,
                                size_t axis_count, const int64_t *axes, double epsilon) {
    hone_option options[] = {hone_option_integers("axes", axis_count, axes),
                             hone_option_number("epsilon", epsilon)};
    return hone_topi_call(f, "nn.layer_norm", 3, (hone_array[]){x, gamma, beta}, 2, options);
}

/* ---- moving data ---- */

hone_array hone_topi_transpose(hone_formula *f, hone_array x, const int64_t *axes) {
    hone_option option = hone_option_integers("axes", hone_formula_rank(f, x), axes);
    return hone_topi_call(f, "permute_dims", 1, &x, axes ? 1 : 0, &option);
}

hone_array hone_topi_reshape(hone_formula *f, hone_array x, uint32_t rank, const int64_t *shape) {
    hone_option option = hone_option_integers("shape", rank, shape);
    return hone_topi_call(f, "reshape", 1, &x, 1, &option);
}

hone_array hone_topi_reshape_sized(hone_formula *f, hone_array x, uint32_t rank,
                                   const hone_term *const *shape) {
    hone_option option = hone_option_terms("shape", rank, shape);
    return hone_topi_call(f, "reshape", 1, &x, 1, &option);
}

hone_array hone_topi_broadcast_to(hone_formula *f, hone_array x, uint32_t rank,
                                  const int64_t *shape) {
    hone_option option = hone_option_integers("shape", rank, shape);
    return hone_topi_call(f, "broadcast_to", 1, &x, 1, &option);
}

hone_array hone_topi_concat(hone_formula *f, size_t count, const hone_array *tensors,
                            int64_t axis) {
    hone_option option = hone_option_integer("axis", axis);
    return hone_topi_call(f, "concat", count, tensors, 1, &option);
}

hone_array hone_topi_slice(hone_formula *f, hone_array x, int64_t axis, int64_t begin, int64_t end,
                           int64_t stride) {
    hone_option options[] = {
        hone_option_integers("axes", 1, &axis), hone_option_integers("begin", 1, &begin),
        hone_option_integers("end", 1, &end), hone_option_integers("strides", 1, &stride)};
    return hone_topi_call(f, "strided_slice", 1, &x, 4, options);
}

hone_array hone_topi_take(hone_formula *f, hone_array x, hone_array places, int64_t axis) {
    hone_option option = hone_option_integer("axis", axis);
    return hone_topi_call(f, "take", 2, (hone_array[]){x, places}, 1, &option);
}

hone_array hone_topi_pad(hone_formula *f, hone_array x, const int64_t *before, const int64_t *after,
                         double value) {
    int64_t widths[2 * HONE_MAX_RANK];
    uint32_t rank = hone_formula_rank(f, x);
    if (!hone_formula_is_open(f) || !hone_formula_has_array(f, x)) return HONE_NO_ARRAY;
    if (!before || !after) return mistake(f, "nn.pad", "before or after is NULL");
    if (rank > HONE_MAX_RANK) return mistake(f, "nn.pad", "more than 12 dimensions");
    for (uint32_t d = 0; d < rank; d++) {
        widths[(size_t)d * 2] = before[d];
        widths[(size_t)d * 2 + 1] = after[d];
    }
    hone_option options[] = {hone_option_integers("pad_width", (size_t)rank * 2, widths),
                             hone_option_number("pad_value", value)};
    return hone_topi_call(f, "nn.pad", 1, &x, 2, options);
}
