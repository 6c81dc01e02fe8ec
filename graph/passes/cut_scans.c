/* graph/passes/cut_scans.c - running sums and products in chunks, on devices of many threads, of
 * which one goes over a row:
 *
 *   x          1 2 3 4 5 6 7 8
 *   in chunks  1 3 6 10 | 5 11 18 26    a thread for each chunk
 *   before     0        | 10            running sums of what the chunks end with
 *   y          1 3 6 10   15 21 28 36   both added up
 *
 * What stands before the chunks is cut in turn where it is long. Whole numbers wrap around as they
 * do in order; float32 and float64 are added up in another order (docs/numerics.md). Shorter types
 * of floats stay in one sum, which is float32.
 * needs: infer, normalize
 * keeps: everything else
 */
#include <string.h>

#include "graph/module/rewrite.h"
#include "graph/passes/graph_passes.h"
#include "ir/ops/graph_infer.h"

enum {
    LEAST_LENGTH = 256, /* of what is cut */
    MOST_ROWS = 16384,  /* that are threads enough */
    SHORTEST = 16,      /* chunk */
    LONGEST = 128,      /* a chunk's steps wait for each other */
    MOST_LENGTH = 1 << 30,
};

/* One scan: which axis of what, and the chunks of it. */
typedef struct scan {
    const char *op, *join; /* cumsum, add; cumprod, multiply */
    bool is_late;          /* an element is what stands before its index */
    int32_t axis;
    int64_t length, chunk, count;
} scan;

static hone_status no_memory(void) {
    return HONE_NO_MEMORY("running sums in chunks");
}

static hone_status reshape(hone_rewrite *rw, int32_t rank, const int64_t *extents, hone_garg *io) {
    const hone_expr **shape = hone_arena_zalloc(rw->module->arena, (size_t)rank * sizeof *shape);
    if (!shape) return no_memory();
    for (int32_t d = 0; d < rank; d++)
        shape[d] = hone_extent_int(&rw->ir, extents[d]);
    return hone_rewrite_reshape(rw, *io, rank, shape, io);
}

static hone_status slice(hone_rewrite *rw, int32_t axis, int64_t begin, int64_t end,
                         hone_garg *io) {
    const int64_t numbers[3] = {axis, begin, end};
    hone_garg args[4] = {*io}, *items = hone_arena_zalloc(rw->module->arena, 3 * sizeof *items);
    if (!items) return no_memory();
    for (uint32_t i = 0; i < 3; i++) {
        items[i].kind = HONE_GARG_PRIM;
        items[i].u.expr = hone_extent_int(&rw->ir, numbers[i]);
        args[i + 1] = (hone_garg){.kind = HONE_GARG_TUPLE, .count = 1, .u.items = &items[i]};
    }
    return hone_rewrite_call(rw, "strided_slice", 4, args, (hone_attrs){0}, io);
}

/* Behind its end, where nobody sees what that gives. */
static hone_status pad(hone_rewrite *rw, int32_t axis, int32_t rank, int64_t more, hone_garg *io) {
    hone_attrs attrs = {0};
    size_t count = 2 * (size_t)rank;
    hone_value *widths = hone_arena_zalloc(rw->module->arena, count * sizeof *widths);
    if (!widths) return no_memory();
    for (size_t i = 0; i < count; i++)
        widths[i] = HONE_VALUE_OF_INT(i == 2 * (size_t)axis + 1 ? more : 0);
    hone_value list = {.kind = HONE_VALUE_LIST, .count = (uint32_t)count, .u.items = widths};
    if (!hone_attrs_with(rw->module->arena, &attrs, "pad_width", list, &attrs)) return no_memory();
    return hone_rewrite_call(rw, "nn.pad", 1, io, attrs, io);
}

static hone_status call_scan(hone_rewrite *rw, const scan *s, int32_t axis, bool is_late,
                             hone_garg *io) {
    hone_attrs attrs = {0};
    hone_arena *arena = rw->module->arena;
    if (!hone_attrs_with(arena, &attrs, "axis", HONE_VALUE_OF_INT(axis), &attrs) ||
        !hone_attrs_with(arena, &attrs, "exclusive", HONE_VALUE_OF_BOOL(is_late), &attrs))
        return no_memory();
    return hone_rewrite_call(rw, s->op, 1, io, attrs, io);
}

/* ---- which ---- */

static bool is_summed_as_it_is(hone_dtype dtype) {
    bool is_number = hone_dtype_is_float(dtype) || hone_dtype_is_integer(dtype);
    return is_number && !hone_dtype_is_bool(dtype) && dtype.lanes == 1 &&
           (!hone_dtype_is_float(dtype) || dtype.bits >= 32);
}

/* The shape in numbers, and whether a scan along the axis is worth cutting. */
static bool is_long(const hone_sinfo *info, int32_t axis, int64_t extents[HONE_MAX_RANK]) {
    int64_t rows = 1;
    if (!info || info->kind != HONE_SINFO_TENSOR || info->rank < 1 || info->rank >= HONE_MAX_RANK ||
        !hone_sinfo_is_static(info) || !is_summed_as_it_is(info->dtype) || axis < 0 ||
        axis >= info->rank)
        return false;
    for (int32_t d = 0; d < info->rank; d++) {
        extents[d] = hone_expr_const(info->shape[d]);
        if (extents[d] < 1 || extents[d] > MOST_LENGTH) return false;
        if (d != axis) rows *= extents[d];
        if (rows > MOST_ROWS) return false;
    }
    return extents[axis] >= LEAST_LENGTH;
}

/* About as many as each has indices; best so that none is shorter. */
static void choose_chunks(scan *s) {
    s->chunk = SHORTEST;
    while (s->chunk < LONGEST && s->chunk * s->chunk < s->length)
        s->chunk *= 2;
    for (int64_t exact = s->chunk; exact > s->chunk / 2; exact--) {
        if (s->length % exact) continue;
        s->chunk = exact;
        break;
    }
    s->count = (s->length + s->chunk - 1) / s->chunk;
}

/* ---- how ---- */

static hone_status cut(hone_rewrite *rw, scan s, hone_garg *io);

/* What a chunk comes to: its last running sum, with its last element where that is left out. */
static hone_status sum_of_chunk(hone_rewrite *rw, const scan *s, hone_garg x, hone_garg sums,
                                hone_garg *out) {
    hone_garg args[2] = {sums, x};
    HONE_TRY(slice(rw, s->axis + 1, s->chunk - 1, s->chunk, &args[0]));
    *out = args[0];
    if (!s->is_late) return HONE_OK;
    HONE_TRY(slice(rw, s->axis + 1, s->chunk - 1, s->chunk, &args[1]));
    return hone_rewrite_call(rw, s->join, 2, args, (hone_attrs){0}, out);
}

/* x: with an axis of chunks, and one of indices in each. */
static hone_status scan_chunks(hone_rewrite *rw, const scan *s, hone_garg x, hone_garg *out) {
    scan before = *s;
    hone_garg args[2] = {x};
    HONE_TRY(call_scan(rw, s, s->axis + 1, s->is_late, &args[0]));
    HONE_TRY(sum_of_chunk(rw, s, x, args[0], &args[1]));
    before.is_late = true;
    HONE_TRY(cut(rw, before, &args[1]));
    return hone_rewrite_call(rw, s->join, 2, args, (hone_attrs){0}, out);
}

/* The scan of a value of the new function, in chunks where it is long. */
static hone_status cut(hone_rewrite *rw, scan s, hone_garg *io) {
    int64_t extents[HONE_MAX_RANK], apart[HONE_MAX_RANK];
    const hone_sinfo *info = hone_rewrite_info(rw, io);
    if (!is_long(info, s.axis, extents)) return call_scan(rw, &s, s.axis, s.is_late, io);
    int32_t rank = info->rank;
    s.length = extents[s.axis];
    choose_chunks(&s);
    int64_t more = s.chunk * s.count - s.length;
    if (more) HONE_TRY(pad(rw, s.axis, rank, more, io));
    for (int32_t d = 0; d <= rank; d++)
        apart[d] = extents[d > s.axis ? d - 1 : d];
    apart[s.axis] = s.count;
    apart[s.axis + 1] = s.chunk;
    HONE_TRY(reshape(rw, rank + 1, apart, io));
    HONE_TRY(scan_chunks(rw, &s, *io, io));
    extents[s.axis] = s.chunk * s.count;
    HONE_TRY(reshape(rw, rank, extents, io));
    return more ? slice(rw, s.axis, 0, s.length, io) : HONE_OK;
}

static hone_status cut_bind(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    int64_t extents[HONE_MAX_RANK];
    bool is_product = hone_gbind_calls(bind, "cumprod");
    if (!is_product && !hone_gbind_calls(bind, "cumsum")) return HONE_OK;
    scan s = {.op = is_product ? "cumprod" : "cumsum", .join = is_product ? "multiply" : "add"};
    const hone_sinfo *to = rw->old->values[bind->value].sinfo;
    hone_garg x;
    HONE_TRY(hone_rewrite_arg(rw, &bind->args[0], &x));
    const hone_sinfo *from = hone_rewrite_info(rw, &x);
    const hone_value *axis = hone_attrs_find(&bind->attrs, "axis");
    bool has_axis = axis && axis->kind == HONE_VALUE_INT;
    if (!from || !to || from->kind != HONE_SINFO_TENSOR || to->kind != HONE_SINFO_TENSOR ||
        !hone_dtype_equal(from->dtype, to->dtype) || (!has_axis && from->rank != 1))
        return HONE_OK;
    s.axis = has_axis ? (int32_t)axis->u.i : 0;
    if (s.axis < 0) s.axis += from->rank;
    s.is_late = hone_attrs_int(&bind->attrs, "exclusive", 0) != 0;
    if (!is_long(from, s.axis, extents)) return HONE_OK;
    HONE_TRY(cut(rw, s, &x));
    hone_rewrite_set(rw, bind->value, x);
    *out_done = true;
    return HONE_OK;
}

hone_status hone_pass_cut_scans(hone_module *module, const hone_graph_options *options) {
    return options->is_for_many_threads ? hone_rewrite_module(module, cut_bind, NULL) : HONE_OK;
}
