/* lower/signature/outputs.c - is a parameter written as a whole before anything of it is read?
 *
 * First the boxes that its parts fill one after the other (filled_boxes.h). Where that does not
 * show it, the program is followed with its loop variables as symbols (filled_in_order.c), and
 * small programs are run over numbers (filled_points.c). */
#include "lower/memory/lifetimes.h"
#include "lower/signature/filled_boxes.h"
#include "lower/signature/plain_form.h"

/* ---- parts of a program, one after the other ---- */

/* A part fills what its stores write: all of them where it reads nothing, else the first one, when
 * what it reads is its own. */
static hone_status add_part(lower_filling *f, hone_node_id root, const lower_accesses *part,
                            bool *out_is_ours) {
    bool is_read = false;
    for (uint32_t i = 0; i < part->count; i++)
        is_read |= !part->items[i].is_store;
    *out_is_ours = true;
    if (is_read) HONE_TRY(lower_is_fresh(f->lower, f->buffer, part, root, out_is_ours));
    for (uint32_t i = 0, done = 0; *out_is_ours && i < part->count; i++) {
        if (!part->items[i].is_store || (is_read && done++)) continue;
        lower_fill(f, HONE_NODE_TOP, &part->items[i]);
    }
    return HONE_OK;
}

/* The child of a place that holds a node below it; the place itself for itself. */
static hone_node_id child_of(const hone_func *func, hone_node_id place, hone_node_id node) {
    while (node != place && hone_func_node(func, node)->parent != place)
        node = hone_func_node(func, node)->parent;
    return node;
}

/* The innermost place that runs once and holds all accesses, which are some. */
static hone_node_id place_of(const hone_func *func, const lower_accesses *all) {
    hone_node_id place = HONE_NODE_TOP;
    for (;;) {
        hone_node_id only = child_of(func, place, all->items[0].node);
        for (uint32_t i = 1; i < all->count; i++) {
            if (child_of(func, place, all->items[i].node) != only) return place;
        }
        if (only == place) return place;
        uint8_t kind = hone_func_node(func, only)->kind;
        if (kind != HONE_NODE_ALLOC && kind != HONE_NODE_ATTR) return place;
        place = only;
    }
}

static hone_status fill(lower_filling *f, const lower_accesses *all, bool *out_is_filled) {
    const hone_func *func = f->lower->func;
    hone_node_id place = place_of(func, all);
    bool is_ours = true;
    for (uint32_t from = 0, to; from < all->count && is_ours; from = to) {
        hone_node_id child = child_of(func, place, all->items[from].node);
        for (to = from + 1; to < all->count; to++) {
            if (child_of(func, place, all->items[to].node) != child) break;
        }
        lower_accesses part = {.items = all->items + from, .count = to - from};
        HONE_TRY(add_part(f, place, &part, &is_ours));
        *out_is_filled = lower_is_filled(f);
        if (*out_is_filled) break;
    }
    return HONE_OK;
}

hone_status lower_is_output(hone_lower *lower, hone_buffer buffer, bool *out_is_output) {
    lower_filling f;
    lower_accesses all;
    *out_is_output = false;
    HONE_TRY(lower_find_accesses(lower->func, HONE_NODE_TOP, buffer, &all));
    bool is_plain =
        !lower->func->buffers[buffer].strides && lower->func->buffers[buffer].rank <= HONE_MAX_RANK;
    if (all.is_opaque || all.count == 0 || !is_plain) return HONE_OK;
    HONE_TRY(lower_filling_begin(&f, lower, buffer));
    HONE_TRY(fill(&f, &all, out_is_output));
    HONE_TRY(hone_ir_finish(&f.arith.ir));
    if (!*out_is_output) HONE_TRY(lower_is_filled_in_order(lower, buffer, &all, out_is_output));
    if (*out_is_output) return HONE_OK;
    return lower_is_filled_by_points(lower->func, buffer, &all, out_is_output);
}
