/* graph/frontend/onnx_growth.c - states of loops whose sizes change from turn to turn, each time by
 * as much: ids = Concat(ids, next).
 *
 *   before   room = size at first + turns * change;  the state in this room, its size as a state
 *            more
 *   a turn   k = that size;  state[0 ... k - 1] goes in;  what comes out is put in the room again,
 *            its size is the next k
 *   after    the room is full, or, where a condition ended the loop, the first k items count
 *
 * By how much a state changes is found by reading the body once for a k that is not known. */
#include <string.h>

#include "graph/frontend/onnx_flow.h"

/* ---- sizes ---- */

/* Sizes have the same numbers in a function as around it: those that it makes have greater ones. */
static bool is_made_later(const void *ctx, const hone_expr *e) {
    const uint32_t *var_count = ctx;
    return e->kind == HONE_EXPR_VAR && e->u.var >= *var_count;
}

bool onnx_is_known_before(uint32_t var_count, const hone_expr *size) {
    return !hone_expr_find(size, is_made_later, &var_count);
}

hone_status onnx_fit_indices(onnx_reader *r, hone_garg indices, int32_t axis, hone_garg *io) {
    const hone_sinfo *info;
    hone_garg last;
    HONE_TRY(onnx_as_tensor(r, io));
    HONE_TRY(onnx_info(r, io, &info));
    HONE_TRY(onnx_sizes_tensor(r, 1, &info->shape[axis], &last));
    HONE_TRY(onnx_with_scalar(r, "subtract", last, 1, &last));
    HONE_TRY(onnx_emit2(r, "minimum", indices, last, &indices));
    return onnx_emit_take(r, *io, indices, axis, io);
}

static hone_status fit_extent(onnx_reader *r, const hone_expr *extent, int32_t axis,
                              hone_garg *io) {
    hone_garg indices;
    HONE_TRY(onnx_indices(r, extent, 1, 0, &indices));
    return onnx_fit_indices(r, indices, axis, io);
}

static hone_status as_scalar(onnx_reader *r, const hone_expr *size, hone_garg *out) {
    HONE_TRY(onnx_sizes_tensor(r, 1, &size, out));
    return onnx_emit_reshape(r, *out, 0, NULL, out);
}

/* ---- which ---- */

static bool is_shaped(const hone_sinfo *info) {
    return info && info->kind == HONE_SINFO_TENSOR && (info->rank == 0 || info->shape);
}

/* States that have the same size at first share one. */
static void add_growing(onnx_growth *g, uint32_t state, int32_t axis, const hone_expr *begin) {
    onnx_growing *made = &g->items[g->count++];
    *made = (onnx_growing){.state = state, .axis = axis, .begin = begin, .group = g->groups};
    for (uint32_t i = 0; i + 1 < g->count; i++)
        if (hone_extent_same(g->items[i].begin, begin)) made->group = g->items[i].group;
    g->groups += made->group == g->groups;
}

hone_status onnx_find_growth(onnx_reader *r, uint32_t count, const hone_garg *states,
                             const hone_sinfo *const *after, onnx_growth *out) {
    *out = (onnx_growth){0};
    for (uint32_t i = 0; i < count; i++) {
        const hone_sinfo *before;
        HONE_TRY(onnx_info(r, &states[i], &before));
        if (!is_shaped(before) || !is_shaped(after[i]) || before->rank != after[i]->rank) continue;
        for (int32_t d = 0; d < before->rank && out->count < ONNX_MOST_GROWING; d++) {
            if (hone_extent_same(before->shape[d], after[i]->shape[d])) continue;
            add_growing(out, i, d, before->shape[d]);
        }
    }
    return HONE_OK;
}

static bool is_even(uint32_t var_count, const onnx_growth *g, const onnx_growing *item) {
    bool is_even =
        onnx_is_known_before(var_count, item->by) && !hone_expr_is_int_value(item->by, 0);
    for (uint32_t k = 0; k < g->count; k++)
        if (g->items[k].group == item->group) is_even &= hone_extent_same(g->items[k].by, item->by);
    return is_even;
}

bool onnx_drop_uneven(uint32_t var_count, onnx_growth *io) {
    const onnx_growth all = *io;
    *io = (onnx_growth){0};
    for (uint32_t i = 0; i < all.count; i++) {
        const onnx_growing *item = &all.items[i];
        if (!is_even(var_count, &all, item)) continue;
        add_growing(io, item->state, item->axis, item->begin);
        io->items[io->count - 1].by = item->by;
    }
    return io->count < all.count;
}

/* ---- before the loop ---- */

hone_status onnx_first_sizes(onnx_reader *r, const onnx_growth *g, hone_garg *out) {
    for (uint32_t i = 0; i < g->count; i++)
        HONE_TRY(as_scalar(r, g->items[i].begin, &out[g->items[i].group]));
    return HONE_OK;
}

/* A size of its own where it is no number, so that the state in this room tells it. */
static hone_status room_for(onnx_reader *r, const onnx_growing *item, const hone_expr *limit,
                            const hone_expr **out) {
    hone_garg number;
    int64_t by = hone_expr_const(item->by);
    bool shrinks = hone_expr_is_int(item->by) && item->by->u.i < 0;
    const hone_expr *more = hone_extent_mul(&r->ir, limit, item->by);
    *out = shrinks || by == 0 ? item->begin : hone_extent_sum(&r->ir, item->begin, more);
    HONE_TRY(hone_ir_finish(&r->ir));
    if (hone_expr_is_int(*out)) return HONE_OK;
    HONE_TRY(onnx_counted_sizes(r, 1, out, &number));
    *out = NULL;
    return onnx_find_sizes(r, number, 1, -1, out);
}

/* Nothing in a room of zeros. */
static hone_status zeros_in(onnx_reader *r, const onnx_growing *item, hone_garg *io) {
    const hone_sinfo *info;
    const hone_expr *shape[HONE_MAX_RANK];
    hone_garg args[2];
    HONE_TRY(onnx_info(r, io, &info));
    memcpy(shape, info->shape, (size_t)info->rank * sizeof *shape);
    shape[item->axis] = item->room;
    HONE_TRY(onnx_scalar(r, info->dtype, 0, &args[0]));
    HONE_TRY(onnx_make_ints(r, (uint32_t)info->rank, shape, 1, &args[1]));
    return onnx_emit(r, "broadcast_to", 2, args, 0, NULL, io);
}

hone_status onnx_make_room(onnx_reader *r, const hone_expr *limit, onnx_growth *g,
                           hone_garg *io_states) {
    for (uint32_t i = 0; i < g->count; i++) {
        onnx_growing *item = &g->items[i];
        hone_garg *state = &io_states[item->state];
        for (uint32_t k = 0; k < i; k++) /* one size of a room for all that share theirs */
            if (g->items[k].group == item->group) item->room = g->items[k].room;
        if (!item->room) HONE_TRY(room_for(r, item, limit, &item->room));
        bool is_empty = hone_expr_is_int_value(item->begin, 0);
        HONE_TRY(is_empty ? zeros_in(r, item, state)
                          : fit_extent(r, item->room, item->axis, state));
    }
    return HONE_OK;
}

/* ---- a turn ---- */

hone_status onnx_cut_states(onnx_reader *r, onnx_growth *g, const hone_garg *sizes,
                            hone_garg *io_states) {
    const hone_expr *now[ONNX_MOST_GROWING] = {NULL};
    for (uint32_t i = 0; i < g->count; i++) {
        onnx_growing *item = &g->items[i];
        hone_garg indices, flat = sizes[item->group];
        if (!now[item->group]) {
            HONE_TRY(onnx_emit_flat(r, flat, &flat));
            HONE_TRY(onnx_find_sizes(r, flat, 1, -1, &now[item->group]));
        }
        item->size = now[item->group];
        HONE_TRY(onnx_indices(r, item->size, 1, 0, &indices));
        hone_garg *state = &io_states[item->state];
        HONE_TRY(onnx_emit_take(r, *state, indices, item->axis, state));
    }
    return HONE_OK;
}

hone_status onnx_keep_states(onnx_reader *r, onnx_growth *g, hone_garg *io_states,
                             hone_garg *out_sizes) {
    for (uint32_t i = 0; i < g->count; i++) {
        onnx_growing *item = &g->items[i];
        const hone_sinfo *info;
        HONE_TRY(onnx_as_tensor(r, &io_states[item->state]));
        HONE_TRY(onnx_info(r, &io_states[item->state], &info));
        if (!is_shaped(info) || item->axis >= info->rank) {
            return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                              "state %u has another number of dimensions "
                              "after a turn",
                              item->state);
        }
        const hone_expr *size = info->shape[item->axis],
                        *back = hone_extent_mul(&r->ir, item->size, hone_extent_int(&r->ir, -1));
        item->by = hone_extent_sum(&r->ir, size, back);
        HONE_TRY(hone_ir_finish(&r->ir));
        HONE_TRY(as_scalar(r, size, &out_sizes[item->group]));
    }
    for (uint32_t i = 0; i < g->count; i++) {
        const onnx_growing *item = &g->items[i];
        if (!item->room) continue;
        HONE_TRY(fit_extent(r, item->room, item->axis, &io_states[item->state]));
    }
    return HONE_OK;
}

/* ---- after the loop ---- */

hone_status onnx_cut_results(onnx_reader *r, const onnx_growth *g, const hone_garg *sizes,
                             bool is_full, hone_garg *io_states) {
    const hone_expr *last[ONNX_MOST_GROWING] = {NULL};
    for (uint32_t i = 0; i < g->count; i++) {
        const onnx_growing *item = &g->items[i];
        bool shrinks = hone_expr_is_int(item->by) && item->by->u.i < 0;
        hone_garg indices, flat;
        if (is_full && !shrinks) continue;
        if (!last[item->group]) {
            HONE_TRY(onnx_emit_flat(r, sizes[item->group], &flat));
            HONE_TRY(onnx_find_sizes(r, flat, 1, hone_expr_const(item->room), &last[item->group]));
        }
        HONE_TRY(onnx_indices(r, last[item->group], 1, 0, &indices));
        hone_garg *state = &io_states[item->state];
        HONE_TRY(onnx_emit_take(r, *state, indices, item->axis, state));
    }
    return HONE_OK;
}
