/* lower/signature/cells.c - which buffers can be followed. */
#include "lower/signature/cells.h"

#include <string.h>

enum { MOST_CELLS = 1 << 12 };

static bool is_parameter(const hone_func *func, hone_buffer buffer) {
    for (uint32_t p = 0; p < func->param_count; p++) {
        if (func->params[p].buffer == buffer) return true;
    }
    return false;
}

static int64_t count_cells(const hone_func *func, hone_buffer buffer) {
    const hone_buffer_info *info = &func->buffers[buffer];
    bool is_plain = !info->strides && info->alias_of == HONE_NO_ID &&
                    hone_dtype_is_integer(info->dtype) && info->dtype.lanes == 1;
    int64_t count = 1;
    if (!is_plain || is_parameter(func, buffer)) return 0;
    for (uint32_t d = 0; d < info->rank; d++) {
        int64_t extent = hone_expr_const(info->shape[d]);
        if (extent < 1 || extent > MOST_CELLS / count) return 0;
        count *= extent;
    }
    return count;
}

/* Threads take turns at what they share, in an order that is not that of the loops. */
static bool is_in_threads(const hone_func *func, hone_node_id node) {
    for (; node != HONE_NO_ID; node = hone_func_node(func, node)->parent) {
        const hone_node *at = hone_func_node(func, node);
        if (at->kind == HONE_NODE_FOR && at->loop_kind == HONE_LOOP_THREAD) return true;
    }
    return false;
}

hone_status lower_cells_of(const hone_func *func, hone_buffer buffer, lower_cells *out) {
    lower_cells cells = {.count = count_cells(func, buffer)};
    *out = (lower_cells){0};
    if (cells.count == 0) return HONE_OK;
    HONE_TRY(lower_find_accesses(func, HONE_NODE_TOP, buffer, &cells.all));
    if (cells.all.is_opaque) return HONE_OK;
    for (uint32_t i = 0; i < cells.all.count; i++) {
        if (is_in_threads(func, cells.all.items[i].node)) return HONE_OK;
    }
    cells.values = hone_arena_zalloc(func->arena, (size_t)cells.count * sizeof *cells.values);
    cells.is_known = hone_arena_zalloc(func->arena, (size_t)cells.count * sizeof *cells.is_known);
    if (!cells.values || !cells.is_known) return LOWER_NO_MEMORY();
    *out = cells;
    return HONE_OK;
}

void lower_cells_forget(lower_cells *cells) {
    if (cells->count > 0) memset(cells->is_known, 0, (size_t)cells->count);
}
