#include "ir/arith/itermap.h"
#include "schedule/state/schedule_impl.h"

/* A block may declare more than it stores to a buffer (by hand, or the box around several stores),
 * which may overlap what other instances declare though no element is written by two of them:
 *
 *     B[vg * 4 + vk] = …; B[vg * 4 + vk + 2] = …      vg < 8, vk < 2
 *
 * The indices differ by multiples of a step: together they are what one store would write with an
 * axis more, vg * 4 + u * 2 + vk with u < 2. Instances write apart if that store does. Where the
 * constants are no such steps, the dimension is left out. */

enum { MOST_STORES = 16, MOST_LETS = 16 };

/* Of one buffer. */
typedef struct store_set {
    hone_schedule *sch;
    const hone_block *block;
    hone_buffer buffer;
    uint32_t store_count, let_count, rank;
    const hone_node *stores[MOST_STORES];
    const hone_node *lets[MOST_LETS];
    hone_iter *iters; /* the spatial axes, and those of the steps */
    uint32_t iter_count;
} store_set;

static bool same_element(const hone_expr *load, const hone_node *store) {
    for (uint32_t d = 0; d < load->count; d++) {
        if (!hone_expr_same(load->args[d], store->u.store.indices[d])) return false;
    }
    return load->count == store->u.store.rank;
}

/* A load of the buffer reads what the same instance writes. */
static bool look_at_load(void *ctx, const hone_expr *e) {
    store_set *p = ctx;
    bool is_found = e->kind != HONE_EXPR_LOAD || e->u.buffer != p->buffer;
    for (uint32_t s = 0; s < p->store_count && !is_found; s++)
        is_found = same_element(e, p->stores[s]);
    if (!is_found) p->rank = 0;
    return p->rank > 0;
}

/* Another buffer may be the same memory. */
static bool has_views(const store_set *p) {
    const hone_func *func = p->sch->func;
    bool is_found = p->block->match_count > 0 || sch_has_opaque_access(p->sch, p->buffer) ||
                    hone_func_buffer(func, p->buffer)->alias_of != HONE_NO_ID;
    for (hone_buffer b = 0; b < func->buffer_count && !is_found; b++)
        is_found = hone_func_buffer(func, b)->alias_of == p->buffer;
    return is_found;
}

/* The body is names for values, and stores to what the block declares. */
static bool collect(store_set *p, hone_node_id first) {
    for (hone_node_id n = first; n != HONE_NO_ID; n = sch_node(p->sch, n)->next) {
        const hone_node *node = sch_node(p->sch, n);
        if (node->kind == HONE_NODE_LET && p->let_count < MOST_LETS) {
            p->lets[p->let_count++] = node;
            if (!collect(p, node->first)) return false;
        } else if (node->kind != HONE_NODE_STORE || node->u.store.value->dtype.lanes != 1 ||
                   !sch_writes(p->block, node->u.store.buffer)) {
            return false;
        } else if (node->u.store.buffer == p->buffer) {
            if (p->store_count == MOST_STORES) return false;
            p->stores[p->store_count++] = node;
        }
    }
    return true;
}

/* A sum of axes: no name is used that has another value in each instance. */
static bool is_of_axes(const store_set *p, const hone_expr *index) {
    bool is_good = hone_expr_is_pure_index(index);
    for (uint32_t i = 0; i < p->let_count && is_good; i++)
        is_good = !hone_expr_uses_var(index, p->lets[i]->u.let.var);
    return is_good;
}

static void look_at_values(store_set *p, hone_node_id first) {
    for (hone_node_id n = first; n != HONE_NO_ID; n = sch_node(p->sch, n)->next) {
        const hone_node *node = sch_node(p->sch, n);
        bool is_let = node->kind == HONE_NODE_LET;
        hone_expr_walk(is_let ? node->u.let.value : node->u.store.value, look_at_load, p);
        if (is_let) look_at_values(p, node->first);
    }
}

/* The block stores to the buffer, which it uses in no other way. */
static bool find_stores(store_set *p, hone_node_id block) {
    hone_schedule *sch = p->sch;
    if (hone_block_init_of(sch->func, block) != HONE_NO_ID) return false;
    if (!collect(p, hone_block_body_of(sch->func, block))) return false;
    if (p->store_count == 0 || has_views(p)) return false;
    p->rank = p->stores[0]->u.store.rank;
    look_at_values(p, hone_block_body_of(sch->func, block));
    for (uint32_t s = 0; s < p->store_count; s++) {
        for (uint32_t d = 0; d < p->rank; d++) {
            if (!is_of_axes(p, p->stores[s]->u.store.indices[d])) return false;
        }
    }
    return p->rank > 0;
}

/* Where the stores lie behind the first of them: 0, step, 2 * step, …, count of them. */
static bool find_steps(store_set *p, uint32_t d, int64_t *out_first, int64_t *out_step,
                       int64_t *out_count) {
    hone_schedule *sch = p->sch;
    int64_t at[MOST_STORES], last = 0;
    *out_first = *out_step = 0;
    for (uint32_t s = 0; s < p->store_count; s++) {
        const hone_expr *distance =
            hone_simplify(&sch->arith, hone_expr_sub(&sch->ir, p->stores[s]->u.store.indices[d],
                                                     p->stores[0]->u.store.indices[d]));
        if (!distance || !hone_expr_is_int(distance)) return false;
        at[s] = distance->u.i;
        if (at[s] > INT32_MAX || at[s] < -INT32_MAX) return false;
        if (at[s] < *out_first) *out_first = at[s];
        if (at[s] > last) last = at[s];
    }
    for (uint32_t s = 0; s < p->store_count; s++) {
        int64_t behind = at[s] - *out_first;
        if (behind > 0 && (*out_step == 0 || behind < *out_step)) *out_step = behind;
    }
    for (uint32_t s = 0; s < p->store_count; s++) {
        if (*out_step > 0 && (at[s] - *out_first) % *out_step != 0) return false;
    }
    *out_count = *out_step > 0 ? (last - *out_first) / *out_step + 1 : 1;
    return true;
}

/* Of the one store, in a dimension; NULL where memory is short. */
static const hone_expr *place_in(store_set *p, uint32_t d) {
    hone_schedule *sch = p->sch;
    const hone_expr *index = p->stores[0]->u.store.indices[d];
    int64_t first, step, count;
    if (!find_steps(p, d, &first, &step, &count)) return hone_expr_int(&sch->ir, index->dtype, 0);
    if (step == 0) return index;
    hone_range range = {hone_expr_int(&sch->ir, index->dtype, 0),
                        hone_expr_int(&sch->ir, index->dtype, count)};
    hone_var axis = hone_func_add_named_var(sch->func, "u", index->dtype);
    if (axis == HONE_NO_ID || !range.min || !range.extent) return NULL;
    if (!hone_arith_bind(&sch->arith, axis, range)) return NULL;
    p->iters[p->iter_count++] = (hone_iter){axis, range};
    const hone_expr *way =
        hone_expr_mul(&sch->ir, sch_var(sch, axis), hone_expr_int(&sch->ir, index->dtype, step));
    way = hone_expr_add(&sch->ir, way, hone_expr_int(&sch->ir, index->dtype, first));
    return hone_expr_add(&sch->ir, index, way);
}

static bool has_disjoint_stores(hone_schedule *sch, hone_node_id id, hone_buffer buffer) {
    const hone_block *block = sch_block(sch, id);
    store_set p = {.sch = sch, .block = block, .buffer = buffer};
    if (!find_stores(&p, id)) return false;
    const hone_expr **indices = hone_arena_alloc(sch->arena, (p.rank + 1) * sizeof *indices);
    p.iters = hone_arena_alloc(sch->arena, (block->axis_count + p.rank + 1) * sizeof *p.iters);
    if (!indices || !p.iters) return false;
    for (uint32_t a = 0; a < block->axis_count; a++) {
        if (block->axes[a].kind != HONE_AXIS_SPATIAL) return false;
        p.iters[p.iter_count++] = (hone_iter){block->axes[a].var, block->axes[a].dom};
    }
    for (uint32_t d = 0; d < p.rank; d++) {
        indices[d] = place_in(&p, d);
        if (!indices[d]) return false;
    }
    hone_itermap map;
    return hone_itermap_detect(&sch->arith, p.rank, indices, p.iter_count, p.iters, NULL,
                               HONE_ITERMAP_INJECTIVE, true, &map);
}

bool sch_has_disjoint_stores(hone_schedule *sch, hone_node_id id) {
    const hone_block *block = sch_block(sch, id);
    for (uint32_t w = 0; w < block->write_count; w++) {
        if (!has_disjoint_stores(sch, id, block->writes[w].buffer)) return false;
    }
    return block->write_count > 0;
}
