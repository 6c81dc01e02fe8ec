/* schedule/primitive/buffers/cache_pointers.c - a cache of a buffer of which blocks take the
 * address, or show a part as a view.
 *
 *     with block B:                          cache_write(b, 0, "global")
 *         T.writes(A[v * 4:v * 4 + 4])
 *         T.call_extern("void", "fill", A.data, v)
 *  →  with block B:
 *         T.writes(A_global[v * 4:v * 4 + 4])
 *         T.call_extern("void", "fill", A_global.data, v)
 *
 * What a call touches by an address is what its block declares: places and dependences are judged
 * by that, as for all blocks. An address means the same in the cache where that has the shape and
 * the layout of the buffer, so that all of it is allocated. */
#include "schedule/primitive/buffers/caching.h"

#include <string.h>

typedef struct pointer_check {
    const sch_staging *c;
    hone_node_id odd; /* a statement that keeps an address, or stands in no block */
} pointer_check;

static bool is_redirected(const sch_staging *c, hone_node_id n) {
    for (uint32_t i = 0; i < c->user_count; i++) {
        if (sch_is_within(c->sch, c->users[i], n)) return true;
    }
    return false;
}

/* Some block declares what the statement does, and what it knows of the address ends with it. */
static bool is_declared(const sch_staging *c, hone_node_id n) {
    hone_node_kind kind = (hone_node_kind)sch_node(c->sch, n)->kind;
    if (kind != HONE_NODE_EVAL && kind != HONE_NODE_STORE) return false;
    while (sch_node(c->sch, n)->kind != HONE_NODE_BLOCK)
        n = sch_node(c->sch, n)->parent;
    return n != c->scope && sch_scope_of(c->sch, n) != HONE_NO_ID;
}

static void check_pointer(void *ctx, hone_node_id at, const hone_expr *e) {
    pointer_check *p = ctx;
    if (!hone_expr_takes_address(p->c->sch->func, e, p->c->buffer)) return;
    if (!is_redirected(p->c, at) && !is_declared(p->c, at)) p->odd = at;
}

/* A view is in the scope of what it shows. */
static hone_status check_views(const sch_staging *c, const char *storage_scope) {
    hone_schedule *sch = c->sch;
    for (uint32_t i = 0; i < c->user_count; i++) {
        for (hone_node_id n = c->users[i]; n != HONE_NO_ID;
             n = hone_tree_next(sch->func, c->users[i], n)) {
            if (sch_node(sch, n)->kind != HONE_NODE_BLOCK) continue;
            const hone_block *block = sch_block(sch, n);
            for (uint32_t m = 0; m < block->match_count; m++) {
                const hone_buffer_info *view =
                    hone_func_buffer(sch->func, block->matches[m].buffer);
                if (block->matches[m].source.buffer != c->buffer) continue;
                if (strcmp(view->scope ? view->scope : "global", storage_scope) == 0) continue;
                return sch_refuse(sch, n, "'%s' shows '%s' in the scope \"%s\"", view->name,
                                  sch_buffer_name(sch, c->buffer),
                                  view->scope ? view->scope : "global");
            }
        }
    }
    return HONE_OK;
}

hone_status sch_check_pointers(sch_staging *c, const char *storage_scope) {
    hone_schedule *sch = c->sch;
    const hone_buffer_info *info = hone_func_buffer(sch->func, c->buffer);
    if (!hone_has_opaque_access(sch->func, 0, c->buffer)) return HONE_OK;
    pointer_check p = {c, HONE_NO_ID};
    hone_tree_walk_exprs(sch->func, 0, false, check_pointer, &p);
    if (p.odd != HONE_NO_ID) {
        return sch_refuse(sch, p.odd, "a statement uses '%s' by its address, and no block says so",
                          info->name);
    }
    for (hone_buffer b = 0; b < sch->func->buffer_count; b++) {
        if (hone_func_buffer(sch->func, b)->alias_of != c->buffer) continue;
        return sch_refuse(sch, c->block, "'%s' is also another buffer, '%s'", info->name,
                          sch_buffer_name(sch, b));
    }
    if (sch->trace.is_unsafe) {
        return sch_refuse(sch, c->block,
                          "'%s' is used by its address, and accesses to it may be hidden",
                          info->name);
    }
    bool is_opaque = false;
    for (uint32_t i = 0; i < c->user_count; i++)
        is_opaque = is_opaque || hone_has_opaque_access(sch->func, c->users[i], c->buffer);
    if (!is_opaque) return HONE_OK;
    bool is_offset = info->elem_offset && !hone_expr_is_int_value(info->elem_offset, 0);
    if (info->strides || is_offset) {
        return sch_refuse(sch, c->block,
                          "'%s' is used by its address, and is not laid out as its cache would be",
                          info->name);
    }
    c->is_whole = true;
    return check_views(c, storage_scope);
}
