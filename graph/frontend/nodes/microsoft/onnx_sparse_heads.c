/* graph/frontend/nodes/microsoft/onnx_sparse_heads.c - SparseAttention of com.microsoft: queries
 * that see some blocks of the keys before them. Which ones is a list of rows and columns (CSR) for
 * each of some layouts, which the heads take in turns; keys and values are a cache that is longer
 * than what is in it. */
#include <float.h>
#include <math.h>

#include "graph/frontend/nodes/onnx_nodes.h"

enum { QUERY, KEY, VALUE, PAST_KEY, PAST_VALUE, ROWS, COLUMNS, TOTAL, LENGTHS, COSINES, SINES };

typedef struct sparse {
    int64_t heads, served, block;
    onnx_attention a;
    const hone_expr *batch, *length, *cache;
    hone_garg begins;    /* how many keys were there before: [batch, 1, 1, 1] */
    hone_garg positions; /* of the queries among all keys: [batch, 1, length, 1] */
} sparse;

/* ---- queries, keys and values ---- */

static hone_status read_sparse(onnx_reader *r, sparse *s) {
    const hone_sinfo *q, *past;
    HONE_TRY(onnx_attr_int(r, "num_heads", 0, &s->heads));
    HONE_TRY(onnx_attr_int(r, "kv_num_heads", 0, &s->served));
    HONE_TRY(onnx_attr_int(r, "sparse_block_size", 0, &s->block));
    for (uint32_t i = PAST_KEY; i <= LENGTHS; i++)
        if (!onnx_has_input(r, i)) return HONE_ERROR(HONE_CODE_INVALID, "input %u is missing", i);
    HONE_TRY(onnx_input_info(r, QUERY, &q));
    HONE_TRY(onnx_input_info(r, PAST_KEY, &past));
    if (q->rank != 3 || past->rank != 4 || s->heads < 1 || s->served < 1 || s->heads > INT32_MAX ||
        s->heads % s->served != 0 || s->block < 1 || s->block > INT32_MAX)
        return HONE_ERROR(HONE_CODE_INVALID,
                          "queries of %d and a cache of %d dimensions for %lld heads that %lld "
                          "serve, in blocks of %lld",
                          (int)q->rank, (int)past->rank, (long long)s->heads, (long long)s->served,
                          (long long)s->block);
    if (onnx_has_input(r, KEY) != onnx_has_input(r, VALUE))
        return HONE_ERROR(HONE_CODE_INVALID, "one of the keys and values (inputs 1 and 2)");
    s->batch = q->shape[0];
    s->length = q->shape[1];
    s->cache = past->shape[2];
    return HONE_OK;
}

static hone_status take_new(onnx_reader *r, sparse *s) {
    const hone_sinfo *info;
    hone_garg q = r->inputs[QUERY], k = onnx_given(r, KEY), v = onnx_given(r, VALUE);
    HONE_TRY(onnx_info(r, &q, &info));
    const int64_t width = hone_expr_const(info->shape[2]), all = s->heads + 2 * s->served;
    if (width < 0) return onnx_unknown_size(2);
    if (k.kind == HONE_GARG_NONE) {
        const int64_t size = width / all, at = s->heads * size, each = s->served * size;
        if (size < 1 || width % all)
            return HONE_ERROR(HONE_CODE_INVALID, "a width of %lld for %lld heads", (long long)width,
                              (long long)all);
        HONE_TRY(onnx_emit_slice(r, r->inputs[QUERY], 2, 0, at, &q));
        HONE_TRY(onnx_emit_slice(r, r->inputs[QUERY], 2, at, at + each, &k));
        HONE_TRY(onnx_emit_slice(r, r->inputs[QUERY], 2, at + each, at + 2 * each, &v));
    }
    HONE_TRY(onnx_split_heads(r, q, s->heads, &s->a.q));
    HONE_TRY(onnx_split_heads(r, k, s->served, &s->a.k));
    return onnx_split_heads(r, v, s->served, &s->a.v);
}

/* All tokens are new where there are as many as in total: then none was there before. */
static hone_status read_lengths(onnx_reader *r, sparse *s) {
    const hone_expr *one = hone_extent_int(&r->ir, 1), *shape[] = {s->batch, one, one, one};
    hone_garg last, count, total, is_first, zero;
    HONE_TRY(onnx_emit_cast(r, r->inputs[LENGTHS], HONE_DTYPE_I64, &last));
    HONE_TRY(onnx_with_scalar(r, "subtract", last, 1, &last));
    HONE_TRY(onnx_emit_no_negative(r, last, s->cache, &last));
    HONE_TRY(onnx_emit_within(r, last, s->cache, &last));
    HONE_TRY(onnx_emit_reshape(r, last, 4, shape, &last));
    HONE_TRY(onnx_sizes_tensor(r, 1, &s->length, &count));
    HONE_TRY(onnx_emit_item(r, r->inputs[TOTAL], 0, &total));
    HONE_TRY(onnx_emit2(r, "equal", total, count, &is_first));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I64, 0, &zero));
    HONE_TRY(onnx_emit2(r, "subtract", last, count, &s->begins));
    HONE_TRY(onnx_with_scalar(r, "add", s->begins, 1, &s->begins));
    HONE_TRY(onnx_emit_where(r, is_first, zero, s->begins, &s->begins));
    HONE_TRY(onnx_emit_no_negative(r, s->begins, s->cache, &s->begins));
    HONE_TRY(onnx_emit_within(r, s->begins, s->cache, &s->begins));
    HONE_TRY(onnx_indices(r, s->length, 4, 2, &s->positions));
    return onnx_emit2(r, "add", s->positions, s->begins, &s->positions);
}

static hone_status rotate_new(onnx_reader *r, sparse *s) {
    const hone_sinfo *table;
    const hone_expr *shape[] = {s->batch, s->length};
    int64_t rotates, interleaved;
    HONE_TRY(onnx_attr_int(r, "do_rotary", 0, &rotates));
    HONE_TRY(onnx_attr_int(r, "rotary_interleaved", 0, &interleaved));
    if (rotates != 1) return HONE_OK;
    if (!onnx_has_input(r, COSINES) || !onnx_has_input(r, SINES))
        return HONE_ERROR(HONE_CODE_INVALID, "cosines and sines (inputs 9 and 10) are missing");
    onnx_rotation t = {r->inputs[COSINES], r->inputs[SINES], s->positions, 0, interleaved == 1};
    HONE_TRY(onnx_info(r, &t.cosines, &table));
    const int64_t half = table->rank == 2 ? hone_expr_const(table->shape[1]) : 0;
    if (half < 0) return onnx_unknown_size(1);
    if (half < 1) return HONE_ERROR(HONE_CODE_INVALID, "cosines must be a table");
    t.count = 2 * half;
    HONE_TRY(onnx_emit_reshape(r, s->positions, 2, shape, &t.positions));
    HONE_TRY(onnx_rotate(r, &t, s->a.q, &s->a.q));
    return onnx_rotate(r, &t, s->a.k, &s->a.k);
}

/* The cache with what is new in its place. */
static hone_status fill_cache(onnx_reader *r, const sparse *s, uint32_t past, hone_garg *io) {
    const hone_sinfo *info;
    hone_garg keys, moved, is_new, is_behind, size;
    HONE_TRY(onnx_info(r, io, &info));
    const hone_expr *shape[] = {info->shape[0], info->shape[1], s->cache, info->shape[3]};
    HONE_TRY(onnx_demand_shape(r, &r->inputs[past], 4, shape));
    HONE_TRY(onnx_indices(r, s->cache, 4, 2, &keys));
    HONE_TRY(onnx_emit2(r, "subtract", keys, s->begins, &moved));
    HONE_TRY(onnx_emit_at_positions(r, *io, info, s->cache, moved, io));
    HONE_TRY(onnx_sizes_tensor(r, 1, &s->length, &size));
    HONE_TRY(onnx_emit2(r, "less", moved, size, &is_new));
    HONE_TRY(onnx_with_scalar(r, "greater_equal", moved, 0, &is_behind));
    HONE_TRY(onnx_emit2(r, "logical_and", is_new, is_behind, &is_new));
    return onnx_emit_where(r, is_new, *io, r->inputs[past], io);
}

/* ---- which blocks are seen ---- */

typedef struct blocks {
    const hone_expr *layouts, *rows; /* as many columns as rows */
    const hone_expr *all;            /* of a layout */
} blocks;

/* The row of each of the columns that are listed: how many rows end in front of it. */
static hone_status rows_of_columns(onnx_reader *r, const blocks *b, hone_garg *out) {
    const hone_sinfo *columns;
    const hone_expr *one = hone_extent_int(&r->ir, 1);
    hone_garg parts[2], place, is_behind;
    const hone_expr *lengths[] = {one, b->rows};
    HONE_TRY(onnx_input_info(r, COLUMNS, &columns));
    HONE_TRY(onnx_emit_cast(r, r->inputs[ROWS], HONE_DTYPE_I64, out));
    HONE_TRY(onnx_emit_parts(r, *out, 1, 2, lengths, parts));
    const hone_expr *ends[] = {b->layouts, b->rows, one};
    const hone_expr *flat[] = {b->layouts, columns->shape[1]};
    HONE_TRY(onnx_emit_reshape(r, parts[1], 3, ends, &parts[1]));
    HONE_TRY(onnx_indices(r, columns->shape[1], 3, 2, &place));
    HONE_TRY(onnx_emit2(r, "less_equal", parts[1], place, &is_behind));
    HONE_TRY(onnx_emit_cast(r, is_behind, HONE_DTYPE_I64, &is_behind));
    HONE_TRY(onnx_emit_along(r, "sum", is_behind, 1, out));
    return onnx_emit_reshape(r, *out, 2, flat, out);
}

/* Which blocks of each layout are listed: int32 [layouts, all + 1], the last of which is none. */
static hone_status spread_blocks(onnx_reader *r, const blocks *b, hone_garg *out) {
    hone_garg rows, columns, number, is_listed, none, args[3], target[2];
    const hone_expr *shape[] = {b->layouts, hone_extent_add(&r->ir, b->all, 1)};
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(1)};
    HONE_TRY(rows_of_columns(r, b, &rows));
    HONE_TRY(onnx_sizes_tensor(r, 1, &b->rows, &number));
    HONE_TRY(onnx_emit2(r, "less", rows, number, &is_listed));
    HONE_TRY(onnx_emit_cast(r, r->inputs[COLUMNS], HONE_DTYPE_I64, &columns));
    HONE_TRY(onnx_emit2(r, "multiply", rows, number, &rows));
    HONE_TRY(onnx_emit2(r, "add", rows, columns, &args[1]));
    HONE_TRY(onnx_sizes_tensor(r, 1, &b->all, &none));
    HONE_TRY(onnx_emit_where(r, is_listed, args[1], none, &args[1]));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I32, 0, &target[0]));
    HONE_TRY(onnx_make_ints(r, 2, shape, 1, &target[1]));
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, target, 0, NULL, &args[0]));
    HONE_TRY(onnx_with_scalar(r, "multiply", rows, 0, &args[2]));
    HONE_TRY(onnx_with_scalar(r, "add", args[2], 1, &args[2]));
    HONE_TRY(onnx_emit_cast(r, args[2], HONE_DTYPE_I32, &args[2]));
    return onnx_emit(r, "scatter_elements", 3, args, 1, &axis, out);
}

static hone_status read_blocks(onnx_reader *r, const sparse *s, blocks *b) {
    const hone_sinfo *rows, *columns;
    HONE_TRY(onnx_as_tensor(r, &r->inputs[ROWS]));
    HONE_TRY(onnx_as_tensor(r, &r->inputs[COLUMNS]));
    HONE_TRY(onnx_input_info(r, ROWS, &rows));
    HONE_TRY(onnx_input_info(r, COLUMNS, &columns));
    if (rows->rank != 2 || columns->rank != 2)
        return HONE_ERROR(HONE_CODE_INVALID, "lists of blocks of %d and %d dimensions, must be 2",
                          (int)rows->rank, (int)columns->rank);
    HONE_TRY(onnx_unify_dims(r, &r->inputs[ROWS], 0, &r->inputs[COLUMNS], 0));
    HONE_TRY(onnx_input_info(r, ROWS, &rows));
    const int64_t layouts = hone_expr_const(rows->shape[0]);
    if (layouts < 0) return onnx_unknown_size(0);
    if (layouts < 1 || s->heads % layouts)
        return HONE_ERROR(HONE_CODE_INVALID, "%lld layouts for %lld heads", (long long)layouts,
                          (long long)s->heads);
    b->layouts = rows->shape[0];
    b->rows = hone_extent_add(&r->ir, rows->shape[1], -1);
    b->all = hone_extent_mul(&r->ir, b->rows, b->rows);
    return hone_ir_finish(&r->ir);
}

/* Which keys each query of each layout sees: truths [batch, layouts, length, cache]. */
static hone_status visible_of_layouts(onnx_reader *r, const sparse *s, const blocks *b,
                                      hone_garg *out) {
    hone_garg listed, own, keys, number, limit, step, layout;
    const hone_expr *width = hone_extent_add(&r->ir, b->all, 1);
    HONE_TRY(spread_blocks(r, b, &listed));
    HONE_TRY(onnx_emit_flat(r, listed, &listed));
    HONE_TRY(onnx_sizes_tensor(r, 1, &b->rows, &number));
    HONE_TRY(onnx_with_scalar(r, "floor_divide", s->positions, (double)s->block, &own));
    HONE_TRY(onnx_emit_within(r, own, b->rows, &own));
    HONE_TRY(onnx_indices(r, s->cache, 4, 3, &keys));
    HONE_TRY(onnx_with_scalar(r, "floor_divide", keys, (double)s->block, &keys));
    HONE_TRY(onnx_with_scalar(r, "subtract", number, 1, &limit));
    HONE_TRY(onnx_emit2(r, "minimum", keys, limit, &keys)); /* no query is as far */
    HONE_TRY(onnx_emit2(r, "multiply", own, number, &own));
    HONE_TRY(onnx_emit2(r, "add", own, keys, out));
    HONE_TRY(onnx_indices(r, b->layouts, 4, 1, &layout));
    HONE_TRY(onnx_sizes_tensor(r, 1, &width, &step));
    HONE_TRY(onnx_emit2(r, "multiply", layout, step, &layout));
    HONE_TRY(onnx_emit2(r, "add", *out, layout, out));
    HONE_TRY(onnx_emit_take(r, listed, *out, 0, out));
    return onnx_with_scalar(r, "greater", *out, 0, out);
}

/* What is hidden counts as the least number: where all is, each of the keys up to the query counts
 * the same, as in onnxruntime. Keys behind it count nothing. */
static hone_status hide_others(onnx_reader *r, sparse *s) {
    hone_garg seen, heads, keys, is_before, choice[3];
    blocks b;
    HONE_TRY(read_blocks(r, s, &b));
    HONE_TRY(visible_of_layouts(r, s, &b, &seen));
    HONE_TRY(onnx_indices(r, hone_extent_int(&r->ir, s->heads), 1, 0, &heads));
    HONE_TRY(onnx_with_scalar(r, "mod", heads, (double)b.layouts->u.i, &heads));
    HONE_TRY(onnx_emit_take(r, seen, heads, 1, &seen));
    HONE_TRY(onnx_indices(r, s->cache, 4, 3, &keys));
    HONE_TRY(onnx_emit2(r, "less_equal", keys, s->positions, &is_before));
    HONE_TRY(onnx_scalar_like(r, &s->a.q, 0, &choice[0]));
    HONE_TRY(onnx_scalar_like(r, &s->a.q, -FLT_MAX, &choice[1]));
    HONE_TRY(onnx_scalar_like(r, &s->a.q, -HUGE_VAL, &choice[2]));
    HONE_TRY(onnx_emit_where(r, seen, choice[0], choice[1], &s->a.bias));
    return onnx_emit_where(r, is_before, s->a.bias, choice[2], &s->a.bias);
}

static hone_status convert_sparse_attention(onnx_reader *r, hone_garg *out) {
    hone_garg stages[4];
    sparse s = {.a = onnx_no_attention()};
    HONE_TRY(read_sparse(r, &s));
    HONE_TRY(take_new(r, &s));
    HONE_TRY(onnx_attention_scale(r, &s.a));
    HONE_TRY(read_lengths(r, &s));
    HONE_TRY(rotate_new(r, &s));
    HONE_TRY(fill_cache(r, &s, PAST_KEY, &s.a.k));
    HONE_TRY(fill_cache(r, &s, PAST_VALUE, &s.a.v));
    out[1] = s.a.k;
    out[2] = s.a.v;
    HONE_TRY(hide_others(r, &s));
    HONE_TRY(onnx_attend(r, &s.a, out, stages));
    return onnx_join_heads(r, out);
}

const onnx_converter onnx_sparse_heads_converters[] = {
    {"SparseAttention", convert_sparse_attention, 1, 11, 3,
     "do_rotary kv_num_heads num_heads rotary_interleaved scale sparse_block_size", NULL},
    {0               },
};
