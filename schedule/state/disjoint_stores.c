/* schedule/state/disjoint_stores.c - a block may declare more than it stores to a buffer (by hand,
 * or the box around several stores), which may overlap what other instances declare though no
 * element is written by two of them:
 *
 *     B[vg * 4 + vk] = …; B[vg * 4 + vk + 2] = …      vg < 8, vk < 2
 */
#include "ir/region/relation.h"
#include "schedule/state/instance_order.h"
#include "schedule/state/schedule_impl.h"

enum { MOST_STORES = 16 };

/* Of one buffer. */
typedef struct store_set {
    hone_schedule *sch;
    const hone_block *block;
    hone_buffer buffer;
    uint32_t store_count;
    hone_node_id stores[MOST_STORES];
} store_set;

static bool same_element(const hone_expr *load, const hone_node *store) {
    for (uint32_t d = 0; d < load->count; d++) {
        if (!hone_expr_same(load->args[d], store->u.store.indices[d])) return false;
    }
    return load->count == store->u.store.rank;
}

/* A load of the buffer that reads what the same instance does not write. */
static bool reads_other(const void *ctx, const hone_expr *e) {
    const store_set *p = ctx;
    bool is_own = e->kind != HONE_EXPR_LOAD || e->u.buffer != p->buffer;
    for (uint32_t s = 0; s < p->store_count && !is_own; s++)
        is_own = same_element(e, sch_node(p->sch, p->stores[s]));
    return !is_own;
}

/* Another buffer may be the same memory. */
static bool has_views(const store_set *p) {
    const hone_func *func = p->sch->func;
    return p->block->match_count > 0 || hone_has_opaque_access(func, 0, p->buffer) ||
           hone_func_buffer(func, p->buffer)->alias_of != HONE_NO_ID ||
           hone_has_alias(func, p->buffer);
}

/* The body is names for values, and stores to what the block declares. */
static bool collect(store_set *p, hone_node_id first) {
    for (hone_node_id n = first; n != HONE_NO_ID; n = sch_node(p->sch, n)->next) {
        const hone_node *node = sch_node(p->sch, n);
        if (node->kind == HONE_NODE_LET) {
            if (!collect(p, node->first)) return false;
        } else if (node->kind != HONE_NODE_STORE || node->u.store.value->dtype.lanes != 1 ||
                   !sch_writes(p->block, node->u.store.buffer)) {
            return false;
        } else if (node->u.store.buffer == p->buffer) {
            if (p->store_count == MOST_STORES) return false;
            p->stores[p->store_count++] = n;
        }
    }
    return true;
}

/* The block stores to the buffer, which it uses in no other way. */
static bool find_stores(store_set *p, hone_node_id block) {
    const hone_func *func = p->sch->func;
    hone_node_id body = hone_block_body_of(func, block);
    if (hone_block_init_of(func, block) != HONE_NO_ID || !collect(p, body)) return false;
    if (p->store_count == 0 || has_views(p)) return false;
    for (hone_node_id n = body; n != HONE_NO_ID; n = sch_node(p->sch, n)->next) {
        if (hone_tree_find_part(func, n, false, reads_other, p)) return false;
    }
    return true;
}

static bool has_disjoint_stores(hone_schedule *sch, hone_node_id id, hone_buffer buffer) {
    const hone_block *block = sch_block(sch, id);
    store_set p = {.sch = sch, .block = block, .buffer = buffer};
    if (!find_stores(&p, id)) return false;
    hone_relation rel;
    hone_relation_begin(&rel, &sch->arith, sch->func, buffer, id);
    for (uint32_t s = 0; s < p.store_count; s++)
        hone_relation_add_element(&rel, p.stores[s], sch_node(sch, p.stores[s])->u.store.indices);
    hone_iter *iters = sch_whole_axes(sch, block);
    for (uint32_t a = 0; a < block->axis_count; a++) {
        if (block->axes[a].kind != HONE_AXIS_SPATIAL) return false;
    }
    return iters && hone_is_injective(&rel, block->axis_count, iters);
}

bool sch_has_disjoint_stores(hone_schedule *sch, hone_node_id id) {
    const hone_block *block = sch_block(sch, id);
    for (uint32_t w = 0; w < block->write_count; w++) {
        if (!has_disjoint_stores(sch, id, block->writes[w].buffer)) return false;
    }
    return block->write_count > 0;
}
