/* ir/verify/verify_filled.c - storage that is written in part: what lies outside of all that is
 * ever written.
 *
 * For each buffer the hull of all stores is found, as a box of numbers, over all loops and the
 * conditions that are linear; what calls, handles and views do to a buffer is unknown, so that
 * nothing is said of it. A read of a local buffer that surely leaves the hull reads what nobody
 * wrote. A parameter that is only written, and in large part only, keeps what was there elsewhere.
 */
#include "ir/verify/verify_impl.h"

typedef struct hull {
    int64_t min[HONE_MAX_RANK], max[HONE_MAX_RANK];
    hone_node_id first; /* the first store, or HONE_NO_ID */
    bool is_unknown, is_local;
} hull;

struct verify_hulls {
    hull *items; /* by buffer */
};

typedef struct finding_hulls {
    verifier *v;
    hone_arith arith;
    region_facts facts;
    bool *relax; /* by variable */
    hull *items;
} finding_hulls;

static hull *hull_of(finding_hulls *f, hone_buffer buffer) {
    return buffer < f->v->func->buffer_count ? &f->items[buffer] : NULL;
}

static void give_up(finding_hulls *f, hone_buffer buffer) {
    hull *h = hull_of(f, buffer);
    if (!h) return;
    h->is_unknown = true;
    hone_buffer source = f->v->func->buffers[buffer].alias_of;
    if (source < f->v->func->buffer_count) f->items[source].is_unknown = true;
}

/* ---- stores ---- */

/* The values of one index; false where they are not known. */
static bool span_of(finding_hulls *f, const hone_expr *index, int64_t *out_min, int64_t *out_max) {
    bool is_exact;
    if (index->dtype.lanes > 1 || !hone_expr_is_pure_index(index)) return false;
    hone_interval span = region_relax_span(&f->arith, &f->facts, index, index, f->relax,
                                           f->v->func->var_count, &is_exact);
    if (!span.min || !span.max) return false;
    hone_bound low = hone_arith_bound(&f->arith, span.min);
    hone_bound high = hone_arith_bound(&f->arith, span.max);
    *out_min = low.min;
    *out_max = high.max;
    return low.min != HONE_BOUND_NEG_INF && high.max != HONE_BOUND_POS_INF;
}

static void note_store(finding_hulls *f, hone_node_id id) {
    const hone_node *node = hone_func_node(f->v->func, id);
    hull *h = hull_of(f, node->u.store.buffer);
    if (!h || h->is_unknown) return;
    const hone_buffer_info *info = hone_func_buffer(f->v->func, node->u.store.buffer);
    if (info->alias_of != HONE_NO_ID || node->u.store.rank != info->rank ||
        info->rank > HONE_MAX_RANK) {
        give_up(f, node->u.store.buffer);
        return;
    }
    bool is_first = h->first == HONE_NO_ID;
    if (is_first) h->first = id;
    for (uint32_t d = 0; d < info->rank; d++) {
        int64_t min, max;
        if (!span_of(f, node->u.store.indices[d], &min, &max)) {
            min = INT64_MIN;
            max = INT64_MAX;
        }
        if (is_first || min < h->min[d]) h->min[d] = min;
        if (is_first || max > h->max[d]) h->max[d] = max;
    }
}

static void walk(finding_hulls *f, hone_node_id id);

static void walk_children(finding_hulls *f, hone_node_id parent) {
    hone_node_id n = hone_func_node(f->v->func, parent)->first;
    for (; n != HONE_NO_ID; n = hone_func_node(f->v->func, n)->next)
        walk(f, n);
}

static void bind(finding_hulls *f, hone_var var, hone_range range) {
    if (var >= f->v->func->var_count) return;
    if (!hone_arith_bind(&f->arith, var, range)) f->v->is_short_of_memory = true;
    f->relax[var] = true;
}

/* Conditions hold up to the `else`. */
static void walk_if(finding_hulls *f, hone_node_id id) {
    const hone_node *node = hone_func_node(f->v->func, id);
    uint32_t mark = f->facts.count;
    region_facts_add(&f->facts, &f->arith, node->u.eval.value);
    for (hone_node_id n = node->first; n != HONE_NO_ID; n = hone_func_node(f->v->func, n)->next) {
        if (hone_func_node(f->v->func, n)->kind == HONE_NODE_ELSE) f->facts.count = mark;
        walk(f, n);
    }
    f->facts.count = mark;
}

static void walk_block(finding_hulls *f, hone_node_id id) {
    const hone_block *block = hone_func_node(f->v->func, id)->u.block.block;
    for (uint32_t i = 0; i < block->axis_count; i++)
        bind(f, block->axes[i].var, block->axes[i].dom);
    for (uint32_t i = 0; i < block->match_count; i++)
        give_up(f, block->matches[i].buffer);
    for (uint32_t i = 0; i < block->alloc_count; i++) {
        hull *h = hull_of(f, block->allocs[i]);
        if (h) h->is_local = true;
    }
    walk_children(f, id);
}

static void walk(finding_hulls *f, hone_node_id id) {
    const hone_node *node = hone_func_node(f->v->func, id);
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
        bind(f, node->u.loop.var, node->u.loop.range);
        break;
    case HONE_NODE_BLOCK:
        walk_block(f, id);
        return;
    case HONE_NODE_IF:
        walk_if(f, id);
        return;
    case HONE_NODE_STORE:
        note_store(f, id);
        return;
    case HONE_NODE_ALLOC: {
        hull *h = hull_of(f, node->u.alloc.buffer);
        if (h) h->is_local = true;
        break;
    }
    case HONE_NODE_DECL:
        give_up(f, node->u.alloc.buffer);
        break;
    default:
        break;
    }
    walk_children(f, id);
}

void verify_find_hulls(verifier *v) {
    const hone_func *func = v->func;
    if (!v->usage) return;
    finding_hulls f = {.v = v};
    f.relax = hone_arena_zalloc(v->arena, func->var_count + 1);
    f.items = hone_arena_zalloc(v->arena, (func->buffer_count + 1) * sizeof *f.items);
    verify_hulls *hulls = hone_arena_zalloc(v->arena, sizeof *hulls);
    hone_arith_init(&f.arith, v->arena);
    if (!f.relax || !f.items || !hulls || !hone_arith_bind_sizes(&f.arith, func)) {
        v->is_short_of_memory = true;
        return;
    }
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        f.items[b].first = HONE_NO_ID;
        f.items[b].is_unknown = v->usage[b].is_pointed_to || v->usage[b].is_viewed;
    }
    walk(&f, 0);
    hone_code code = hone_status_consume(hone_ir_finish(&f.arith.ir));
    v->is_short_of_memory |= code == HONE_CODE_NO_MEMORY;
    hulls->items = f.items;
    v->hulls = hulls;
}

/* ---- what is said ---- */

void verify_filled(verifier *v, hone_buffer buffer, uint32_t d, const hone_expr *index) {
    if (!v->hulls || buffer >= v->func->buffer_count || d >= HONE_MAX_RANK) return;
    const hull *h = &v->hulls->items[buffer];
    const hone_buffer_info *info = hone_func_buffer(v->func, buffer);
    int64_t extent = hone_expr_const(info->shape[d]), value;
    if (!h->is_local || h->is_unknown || h->first == HONE_NO_ID || extent < 1) return;
    if (h->min[d] <= 0 && h->max[d] >= extent - 1) return;
    if (index->dtype.lanes > 1 || h->max[d] == INT64_MAX) return;
    if (hone_find_outside(&v->points, v->node, index, h->min[d], h->max[d] + 1, &value) !=
            HONE_OUTSIDE_FOUND ||
        value < 0 || value >= extent) {
        return;
    }
    hone_str where = {0};
    verify_show_point(v, index, &where);
    verify_warning(v, v->node,
                   "'%s' is read in '%s' at index %lld%s of dimension %u, which nothing writes; "
                   "only %lld to %lld are written",
                   info->name, verify_block_name(v), (long long)value, hone_str_text(&where),
                   (unsigned)d, (long long)(h->min[d] < 0 ? 0 : h->min[d]), (long long)h->max[d]);
    hone_str_deinit(&where);
}

void verify_outputs(verifier *v) {
    if (!v->hulls || v->out->count > 0) return;
    for (uint32_t p = 0; p < v->func->param_count; p++) {
        hone_buffer buffer = v->func->params[p].buffer;
        if (buffer >= v->func->buffer_count) continue;
        const hull *h = &v->hulls->items[buffer];
        const hone_buffer_info *info = hone_func_buffer(v->func, buffer);
        if (v->usage[buffer].first_read != HONE_NO_ID) continue;
        if (h->is_unknown || h->first == HONE_NO_ID || info->strides) continue;
        for (uint32_t d = 0; d < info->rank; d++) {
            int64_t extent = hone_expr_const(info->shape[d]);
            if (extent < 1 || (h->min[d] <= 0 && h->max[d] >= extent - 1)) continue;
            if ((h->max[d] - h->min[d] + 1) * 2 < extent) continue; /* one column: it is meant */
            verify_warning(v, h->first,
                           "of dimension %u of '%s', whose extent is %lld, only %lld to %lld are "
                           "written; the rest keeps what it held before",
                           (unsigned)d, info->name, (long long)extent,
                           (long long)(h->min[d] < 0 ? 0 : h->min[d]), (long long)h->max[d]);
            break;
        }
    }
}
