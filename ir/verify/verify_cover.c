/* ir/verify/verify_cover.c - axes of which a binding takes a part of the values only: where an
 * output or a reduction lacks something then, and where it does not. */
#include "ir/region/region.h"
#include "ir/region/written.h"
#include "ir/verify/verify_impl.h"

const char *verify_axis_word(hone_axis_kind kind) {
    switch (kind) {
    case HONE_AXIS_SPATIAL:
        return "spatial axis";
    case HONE_AXIS_REDUCE:
        return "reduction axis";
    case HONE_AXIS_SCAN:
        return "scan axis";
    case HONE_AXIS_OPAQUE:
        return "opaque axis";
    }
    return "axis";
}

bool verify_shares_output(const verifier *v, hone_node_id id) {
    const hone_block *block = hone_func_node(v->func, id)->u.block.block;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(v->func, 0, n)) {
        const hone_node *node = hone_func_node(v->func, n);
        if (node->kind != HONE_NODE_BLOCK || n == id) continue;
        if (hone_tree_is_ancestor(v->func, n, id) || hone_tree_is_ancestor(v->func, id, n))
            continue;
        const hone_block *other = node->u.block.block;
        for (uint32_t k = 0; k < block->write_count; k++) {
            if (hone_region_of(other->write_count, other->writes, block->writes[k].buffer))
                return true;
        }
    }
    return false;
}

static bool region_uses(const verifier *v, const hone_region *region, hone_var var) {
    uint32_t rank = hone_func_buffer(v->func, region->buffer)->rank;
    for (uint32_t d = 0; d < rank; d++) {
        if (hone_expr_uses_var(region->ranges[d].min, var)) return true;
        if (hone_expr_uses_var(region->ranges[d].extent, var)) return true;
    }
    return false;
}

typedef struct place_search {
    const verifier *v;
    hone_node_id root;
    hone_var axis;
    bool of_intermediate; /* a store to an intermediate buffer */
    bool of_other;        /* one to a parameter, or what other statements do */
} place_search;

/* The values that are stored, and what is read for them, are no places. What a schedule has hidden
 * is in no region. */
static void look_for_place(void *ctx, hone_node_id at, const hone_expr *e) {
    place_search *s = ctx;
    const hone_node *node = hone_func_node(s->v->func, at);
    if (at == s->root || !hone_expr_uses_var(e, s->axis)) return;
    if (node->kind != HONE_NODE_STORE) {
        s->of_other = true;
    } else if (e != node->u.store.value) {
        bool is_parameter = hone_func_is_parameter(s->v->func, node->u.store.buffer);
        *(is_parameter ? &s->of_other : &s->of_intermediate) = true;
    }
}

/* A parameter is written, and the axis is not one that indexes intermediate buffers alone, or
 * nothing that is written: it chooses among values for the same elements then. */
static bool writes_parameter(const verifier *v, hone_node_id id, hone_var axis) {
    const hone_block *block = hone_func_node(v->func, id)->u.block.block;
    bool writes = false, updates = false, indexes_other = false;
    for (uint32_t i = 0; i < block->write_count; i++) {
        hone_buffer buffer = block->writes[i].buffer;
        bool indexes = region_uses(v, &block->writes[i], axis);
        if (hone_func_is_parameter(v->func, buffer)) {
            writes = true;
            updates = updates || hone_region_of(block->read_count, block->reads, buffer);
            if (indexes) return true;
        } else {
            indexes_other = indexes_other || indexes;
        }
    }
    place_search s = {.v = v, .root = id, .axis = axis};
    hone_tree_walk_exprs(v->func, id, false, look_for_place, &s);
    return writes && !indexes_other && !s.of_intermediate && (s.of_other || updates);
}

/* Within another block, where those beside it may do the rest, or under a condition, which says
 * what part of the axes is meant. */
static bool is_within_others(const verifier *v, hone_node_id id) {
    hone_node_id root = hone_func_root_block(v->func);
    for (hone_node_id n = hone_func_node(v->func, id)->parent; n != HONE_NO_ID;
         n = hone_func_node(v->func, n)->parent) {
        hone_node_kind kind = (hone_node_kind)hone_func_node(v->func, n)->kind;
        if (kind == HONE_NODE_IF) return true;
        if (kind == HONE_NODE_BLOCK) return n != root;
    }
    return false;
}

/* Under its predicate, every parameter that the block writes is surely written as a whole; where it
 * writes none, an intermediate buffer is. */
static bool writes_whole(verifier *v, hone_node_id id) {
    hone_arith arith; /* loops alone: the predicate is not known to hold */
    const hone_dataflow flow = {.arith = &arith, .func = v->func};
    const hone_node *node = hone_func_node(v->func, id);
    bool writes = false;
    if (!node->u.block.predicate) return false;
    hone_arith_init(&arith, v->arena);
    v->is_short_of_memory |= !hone_arith_bind_sizes(&arith, v->func);
    for (hone_node_id n = id; n != HONE_NO_ID; n = hone_func_node(v->func, n)->parent) {
        const hone_node *loop = hone_func_node(v->func, n);
        if (loop->kind != HONE_NODE_FOR) continue;
        v->is_short_of_memory |= !hone_arith_bind(&arith, loop->u.loop.var, loop->u.loop.range);
    }
    for (uint32_t i = 0; i < node->u.block.block->write_count; i++) {
        hone_buffer buffer = node->u.block.block->writes[i].buffer;
        hone_written written;
        hone_written_begin(&written, &flow, buffer, 0);
        hone_written_add(&written, id);
        bool is_whole = hone_covers_buffer(&written);
        if (!is_whole && hone_func_is_parameter(v->func, buffer)) return false;
        writes = writes || is_whole;
    }
    return writes;
}

/* Does a loop move another axis as well? */
static bool moves_another(const hone_node *node, uint32_t axis, hone_var loop) {
    for (uint32_t i = 0; i < node->u.block.block->axis_count; i++) {
        if (i != axis && hone_expr_uses_var(node->u.block.bindings[i], loop)) return true;
    }
    return false;
}

/* Does a condition speak of loops of this axis, and of other axes? Then it cuts the number that
 * they make together, (k0 * 2 + k1 < 4), and no axis alone has too few. */
static bool is_tied_to_others(const verifier *v, hone_node_id id, const hone_expr *condition,
                              uint32_t axis) {
    const hone_node *node = hone_func_node(v->func, id);
    if (!condition) return false;
    if (hone_expr_is_op(condition, HONE_OP_AND)) {
        return is_tied_to_others(v, id, condition->args[0], axis) ||
               is_tied_to_others(v, id, condition->args[1], axis);
    }
    bool of_axis = false, of_others = false;
    for (hone_node_id n = id; n != HONE_NO_ID; n = hone_func_node(v->func, n)->parent) {
        const hone_node *loop = hone_func_node(v->func, n);
        if (loop->kind != HONE_NODE_FOR || !hone_expr_uses_var(condition, loop->u.loop.var) ||
            hone_expr_is_int_value(loop->u.loop.range.extent, 1)) {
            continue;
        }
        hone_var var = loop->u.loop.var;
        of_axis = of_axis || hone_expr_uses_var(node->u.block.bindings[axis], var);
        of_others = of_others || moves_another(node, axis, var);
    }
    return of_axis && of_others;
}

/* Part of an axis is enough for an intermediate buffer (its readers may want no more), for one of
 * several writers, within another block, under a condition, where the rest would lie outside of the
 * output and for a part of a longer reduction; else an output or a reduction would be wrong. */
void verify_uncovered(verifier *v, hone_node_id id, uint32_t i, int64_t lo, int64_t hi) {
    const hone_node *node = hone_func_node(v->func, id);
    const hone_block *block = node->u.block.block;
    const hone_axis *axis = &block->axes[i];
    int64_t min = axis->dom.min->u.i, extent = axis->dom.extent->u.i;
    if (hone_axis_reaches_all_outputs(v->func, id, axis, lo, hi)) return;
    if (axis->kind == HONE_AXIS_SPATIAL && writes_whole(v, id)) return;
    bool is_wrong = axis->kind == HONE_AXIS_REDUCE
                        ? !is_tied_to_others(v, id, node->u.block.predicate, i)
                        : writes_parameter(v, id, axis->var);
    bool is_error = is_wrong && !is_within_others(v, id) && !verify_shares_output(v, id);
    (is_error ? verify_error : verify_warning)(
        v, id,
        "%s '%s' of block '%s' has %lld values (%lld to %lld), its binding takes only %lld (%lld "
        "to %lld)",
        verify_axis_word(axis->kind), verify_var_name(v, axis->var), block->name, (long long)extent,
        (long long)min, (long long)(min + extent - 1), (long long)(hi - lo + 1), (long long)lo,
        (long long)hi);
}
