/* graph/frontend/reader/onnx_bytes.c - tensors of strings, of which the graph knows nothing.
 *
 *   x: string[2, 3]   =>   pool: uint8[6, width]   the bytes of each string, and zeros behind
 *                          rows: int64[2, 3]       which of them lies where
 *
 * So what moves strings moves the numbers of their rows, whatever operator it is. At the borders of
 * a model such a tensor is uint8[2, 3, width]: a width of an input is a size of its own, and that
 * of an output what the longest string takes, at least 1.
 */
#include <string.h>

#include "graph/frontend/reader/onnx_reader.h"

bool onnx_is_text(const hone_garg *arg) {
    return arg->kind == HONE_GARG_TUPLE && arg->count == 2 && arg->is_plain;
}

bool onnx_takes_text(const onnx_reader *r) {
    bool is_there = false;
    for (uint32_t i = 0; i < r->input_count; i++)
        is_there |= onnx_is_text(&r->inputs[i]);
    return is_there;
}

hone_status onnx_make_text(onnx_reader *r, hone_garg pool, hone_garg rows, hone_garg *out) {
    const hone_garg parts[] = {pool, rows};
    hone_garg *copy = hone_arena_copy(r->arena, parts, sizeof parts);
    *out = (hone_garg){.kind = HONE_GARG_TUPLE, .is_plain = true, .count = 2, .u.items = copy};
    return copy ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
}

/* ---- bytes ---- */

hone_status onnx_text_of_bytes(onnx_reader *r, hone_garg bytes, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg pool, rows;
    HONE_TRY(onnx_info(r, &bytes, &info));
    if (info->rank < 1)
        return HONE_ERROR(HONE_CODE_INVALID, "strings are uint8 with a last dimension of bytes");
    uint32_t rank = (uint32_t)info->rank - 1;
    const hone_expr *shape[] = {hone_extent_int(&r->ir, 1), info->shape[rank]};
    for (uint32_t d = 0; d < rank; d++)
        shape[0] = hone_extent_mul(&r->ir, shape[0], info->shape[d]);
    HONE_TRY(onnx_emit_reshape(r, bytes, 2, shape, &pool));
    HONE_TRY(onnx_indices(r, shape[0], 1, 0, &rows));
    HONE_TRY(onnx_emit_reshape(r, rows, rank, info->shape, &rows));
    return onnx_make_text(r, pool, rows, out);
}

hone_status onnx_text_bytes(onnx_reader *r, const hone_garg *text, hone_garg *out) {
    return onnx_emit_take(r, text->u.items[0], text->u.items[1], 0, out);
}

hone_status onnx_text_lengths(onnx_reader *r, hone_garg bytes, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg is_there, ends;
    HONE_TRY(onnx_info(r, &bytes, &info));
    HONE_TRY(onnx_with_scalar(r, "not_equal", bytes, 0, &is_there));
    HONE_TRY(onnx_emit_cast(r, is_there, HONE_DTYPE_I64, &is_there));
    HONE_TRY(onnx_indices(r, info->shape[info->rank - 1], 1, 0, &ends));
    HONE_TRY(onnx_with_scalar(r, "add", ends, 1, &ends));
    HONE_TRY(onnx_emit2(r, "multiply", is_there, ends, &ends));
    return onnx_emit_along(r, "max", ends, -1, out);
}

hone_status onnx_trimmed_text(onnx_reader *r, const hone_garg *text, hone_garg *out) {
    const hone_sinfo *info;
    const hone_expr *width;
    hone_garg longest, indices;
    HONE_TRY(onnx_text_bytes(r, text, out));
    HONE_TRY(onnx_info(r, out, &info));
    const hone_expr *before = info->shape[info->rank - 1];
    HONE_TRY(onnx_text_lengths(r, *out, &longest));
    HONE_TRY(onnx_emit_flat(r, longest, &longest));
    HONE_TRY(onnx_emit_along(r, "max", longest, 0, &longest));
    HONE_TRY(onnx_with_scalar(r, "maximum", longest, 1, &longest));
    HONE_TRY(onnx_emit_size(r, longest, hone_expr_const(before), &width));
    HONE_TRY(onnx_indices(r, width, 1, 0, &indices));
    return onnx_emit_take(r, *out, indices, info->rank - 1, out);
}

/* ---- widths ---- */

/* [1, width] of zeros, made of the strings: so kernels know the width. */
static hone_status zeros_like(onnx_reader *r, hone_garg bytes, hone_garg *out) {
    hone_garg text;
    HONE_TRY(onnx_text_of_bytes(r, bytes, &text));
    HONE_TRY(onnx_emit_along(r, "max", text.u.items[0], 0, out));
    return onnx_with_scalar(r, "multiply", *out, 0, out);
}

/* Strings with as many zeros behind them as `fill`, [1, width], has. */
static hone_status add_width(onnx_reader *r, hone_garg fill, hone_garg *io) {
    const hone_sinfo *info, *more;
    const hone_expr *shape[HONE_MAX_RANK];
    hone_garg wide[2] = {fill}, parts[2] = {*io};
    HONE_TRY(onnx_info(r, io, &info));
    HONE_TRY(onnx_info(r, &fill, &more));
    memcpy(shape, info->shape, (size_t)info->rank * sizeof *shape);
    shape[info->rank - 1] = more->shape[1];
    if (info->rank == 1) HONE_TRY(onnx_emit_flat(r, fill, &wide[0]));
    HONE_TRY(onnx_make_ints(r, (uint32_t)info->rank, shape, 1, &wide[1]));
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, wide, 0, NULL, &parts[1]));
    return onnx_emit_concat(r, 2, parts, info->rank - 1, io);
}

static hone_status add_bytes(onnx_reader *r, int64_t count, hone_garg *io) {
    const int64_t shape[] = {1, count};
    hone_tensor *zeros;
    hone_garg fill;
    HONE_TRY(hone_tensor_create(HONE_DTYPE_U8, 2, shape, &zeros));
    memset(zeros->data, 0, hone_tensor_bytes(zeros));
    HONE_TRY(onnx_add_constant(r, zeros, &fill));
    return add_width(r, fill, io);
}

hone_status onnx_same_width(onnx_reader *r, hone_garg *a, hone_garg *b) {
    const hone_sinfo *of_a, *of_b;
    hone_garg fill_a, fill_b;
    HONE_TRY(onnx_info(r, a, &of_a));
    HONE_TRY(onnx_info(r, b, &of_b));
    const hone_expr *left = of_a->shape[of_a->rank - 1], *right = of_b->shape[of_b->rank - 1];
    int64_t known_left = hone_expr_const(left), known_right = hone_expr_const(right);
    if (hone_extent_same(left, right)) return HONE_OK;
    if (known_left >= 0 && known_right >= 0) {
        bool is_left = known_left < known_right;
        int64_t more = is_left ? known_right - known_left : known_left - known_right;
        return add_bytes(r, more, is_left ? a : b);
    }
    HONE_TRY(zeros_like(r, *a, &fill_a));
    HONE_TRY(zeros_like(r, *b, &fill_b));
    HONE_TRY(add_width(r, fill_b, a));
    return add_width(r, fill_a, b);
}

/* ---- one pool ---- */

static bool is_same_pool(const hone_garg *a, const hone_garg *b) {
    bool is_value = a->kind == HONE_GARG_VALUE && a->u.value == b->u.value;
    bool is_constant = a->kind == HONE_GARG_CONSTANT && a->u.constant == b->u.constant;
    return a->kind == b->kind && (is_value || is_constant);
}

/* Behind the rows of io_pool come those of another. */
static hone_status add_pool(onnx_reader *r, hone_garg pool, hone_garg *io_pool, hone_garg *rows) {
    const hone_sinfo *info;
    hone_garg parts[2] = {*io_pool, pool}, before;
    HONE_TRY(onnx_info(r, io_pool, &info));
    HONE_TRY(onnx_make_ints(r, 1, &info->shape[0], 0, &before));
    HONE_TRY(onnx_as_tensor(r, &before));
    HONE_TRY(onnx_emit2(r, "add", *rows, before, rows));
    HONE_TRY(onnx_same_width(r, &parts[0], &parts[1]));
    return onnx_emit_concat(r, 2, parts, 0, io_pool);
}

hone_status onnx_join_texts(onnx_reader *r, uint32_t count, hone_garg *io, hone_garg *out_pool) {
    const hone_garg first = io[0].u.items[0];
    *out_pool = first;
    for (uint32_t i = 0; i < count; i++) {
        const hone_garg pool = io[i].u.items[0];
        io[i] = io[i].u.items[1];
        if (is_same_pool(&pool, &first)) continue;
        HONE_TRY(add_pool(r, pool, out_pool, &io[i]));
    }
    return HONE_OK;
}

/* ---- constants ---- */

static hone_status fill_pool(const hone_tensor *bytes, int64_t count, hone_tensor **out) {
    const int64_t shape[] = {count, bytes->shape[bytes->rank - 1]};
    HONE_TRY(hone_tensor_create(HONE_DTYPE_U8, 2, shape, out));
    if (count) memcpy((*out)->data, bytes->data, hone_tensor_bytes(bytes));
    return HONE_OK;
}

static hone_status fill_rows(const hone_tensor *bytes, int64_t count, hone_tensor **out) {
    HONE_TRY(hone_tensor_create(HONE_DTYPE_I64, bytes->rank - 1, bytes->shape, out));
    for (int64_t i = 0; i < count; i++)
        hone_tensor_set_i64(*out, i, i);
    return HONE_OK;
}

static hone_status text_constant(onnx_reader *r, const hone_tensor *bytes, hone_garg *out) {
    hone_tensor *pool, *rows;
    hone_garg parts[2];
    int64_t count = hone_tensor_count(bytes) / bytes->shape[bytes->rank - 1];
    HONE_TRY(fill_pool(bytes, count, &pool));
    HONE_TRY(onnx_add_constant(r, pool, &parts[0]));
    HONE_TRY(fill_rows(bytes, count, &rows));
    HONE_TRY(onnx_add_constant(r, rows, &parts[1]));
    return onnx_make_text(r, parts[0], parts[1], out);
}

hone_status onnx_text_table(onnx_reader *r, size_t count, const ProtobufCBinaryData *strings,
                            hone_garg *out) {
    hone_tensor *bytes;
    const int64_t shape = (int64_t)count;
    HONE_TRY(onnx_unpack_strings(count, strings, 1, &shape, &bytes));
    hone_status st = text_constant(r, bytes, out);
    hone_tensor_destroy(bytes);
    return st;
}

hone_status onnx_add_any(onnx_reader *r, bool is_text, hone_tensor *tensor, hone_garg *out) {
    if (!is_text) return onnx_add_constant(r, tensor, out);
    hone_status st = text_constant(r, tensor, out);
    hone_tensor_destroy(tensor);
    return st;
}
