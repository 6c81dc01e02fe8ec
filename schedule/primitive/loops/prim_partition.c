/* schedule/primitive/loops/prim_partition.c - loop_partition: cuts a loop into loops over parts of
 * its range, one behind the other, each with a copy of the body.
 *
 *     for i in 16: with block B: …                                  loop_partition(i, [2, None])
 *  →  with block B_i_common:
 *         with block B_i0_partition: for i0 in range(2): with block B_i0: …
 *         with block B_i1_partition: for i1 in range(2, 16): with block B_i1: …
 *
 * The blocks around are the scopes of later steps; they have no axes, what is inside uses the loops
 * outside as they are. They say what they read and write (TVM's say nothing). An axis that is bound
 * to the loop takes the part as its domain. A part in which the init of a reduction never runs has
 * none. As in TVM, the loop over a part of one iteration is used whatever preserve_unit_iters says.
 *
 * Checks: range and factors are constants, at most one factor is None, the parts fill the range; no
 * annotations, no thread binding; one block is below the loop, with nothing but loops on the way;
 * when it has an init, no loop outside feeds its reduce axes, and it is known in which part the
 * init runs; no index is loaded from a buffer; no buffer is allocated in what is copied.
 */
#include "schedule/primitive/primitive_impl.h"
#include "schedule/state/init_nest.h"

typedef struct partitioning {
    hone_schedule *sch;
    hone_node_id loop, leaf;
    uint32_t count; /* parts */
    int64_t *lengths;
    const char *stem;    /* "B_i" */
    bool cuts_reduction; /* the loop feeds reduce axes of a block with an init */
    hone_node_id common;
} partitioning;

/* ---- checks ---- */

/* The regions of the blocks around would evaluate a loaded index where nothing guards it. */
static hone_status check_regions(partitioning *p, uint32_t count, const hone_region *regions) {
    hone_schedule *sch = p->sch;
    for (uint32_t i = 0; i < count; i++) {
        const hone_buffer_info *buffer = hone_func_buffer(sch->func, regions[i].buffer);
        for (uint32_t d = 0; d < buffer->rank; d++) {
            const hone_range *range = &regions[i].ranges[d];
            if (hone_expr_is_pure_index(range->min) && hone_expr_is_pure_index(range->extent)) {
                continue;
            }
            return sch_refuse(sch, p->leaf, "%s loads its index of buffer '%s'",
                              sch_block_name(sch, p->leaf), buffer->name);
        }
    }
    return HONE_OK;
}

static hone_status check_chain(partitioning *p) {
    hone_schedule *sch = p->sch;
    const hone_node *node = sch_node(sch, p->loop);
    HONE_TRY(sch_check_plain_loop(sch, p->loop));
    if (!hone_expr_is_int(node->u.loop.range.min) || !hone_expr_is_int(node->u.loop.range.extent)) {
        return sch_refuse(sch, p->loop, "the range of %s is not constant",
                          sch_loop_name(sch, p->loop));
    }
    hone_node_id n = p->loop;
    while (sch_node(sch, n)->kind == HONE_NODE_FOR) {
        node = sch_node(sch, n);
        if (node->first != node->last || node->first == HONE_NO_ID) break;
        n = node->first;
    }
    p->leaf = n;
    if (sch_node(sch, n)->kind != HONE_NODE_BLOCK) {
        return sch_refuse(sch, n, "%s holds more than one block and the loops around it",
                          sch_loop_name(sch, p->loop));
    }
    const hone_block *block = sch_block(sch, p->leaf);
    HONE_TRY(check_regions(p, block->read_count, block->reads));
    HONE_TRY(check_regions(p, block->write_count, block->writes));
    if (!sch_has_allocs_below(sch, p->leaf)) return HONE_OK;
    return sch_refuse(sch, p->leaf,
                      "%s allocates buffers or has views of some, which can't be copied",
                      sch_block_name(sch, p->leaf));
}

/* The blocks around begin anew in each iteration of the loops outside: the init must not depend on
 * these. */
static hone_status check_outer(partitioning *p) {
    hone_schedule *sch = p->sch;
    bool has_init = hone_block_init_of(sch->func, p->leaf) != HONE_NO_ID;
    for (hone_node_id n = sch_node(sch, p->loop)->parent; sch_node(sch, n)->kind != HONE_NODE_BLOCK;
         n = sch_node(sch, n)->parent) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind != HONE_NODE_FOR) {
            return sch_refuse(sch, n, "something other than a loop stands around %s",
                              sch_loop_name(sch, p->loop));
        }
        if (!has_init || !sch_feeds_axis(sch, p->leaf, node->u.loop.var, HONE_AXIS_REDUCE))
            continue;
        return sch_refuse(sch, n, "%s, outside %s, feeds a reduce axis of %s: decompose it first",
                          sch_loop_name(sch, n), sch_loop_name(sch, p->loop),
                          sch_block_name(sch, p->leaf));
    }
    return HONE_OK;
}

static hone_status read_lengths(partitioning *p, uint32_t count, const hone_factor *factors) {
    hone_schedule *sch = p->sch;
    int64_t extent = hone_expr_const(sch_node(sch, p->loop)->u.loop.range.extent), sum = 0;
    uint32_t rest = HONE_NO_ID;
    p->lengths = hone_arena_alloc(sch->arena, (count + 1) * sizeof *p->lengths);
    if (!p->lengths) return sch_no_memory();
    if (count == 0) return sch_refuse(sch, p->loop, "loop_partition needs at least one factor");
    for (uint32_t i = 0; i < count; i++) {
        int64_t *length = &p->lengths[i];
        *length = factors[i].value;
        if (factors[i].kind == HONE_FACTOR_RV) {
            HONE_TRY(hone_schedule_int(sch, factors[i].rv, length));
        }
        if (factors[i].kind == HONE_FACTOR_NONE) {
            if (rest != HONE_NO_ID) {
                return sch_refuse(sch, p->loop, "factors %u and %u are both None, only one may be",
                                  rest, i);
            }
            rest = i;
            *length = 0;
        } else if (*length < 1) {
            return sch_refuse(sch, p->loop, "factor %u is %lld, must be at least 1", i,
                              (long long)*length);
        }
        if (__builtin_add_overflow(sum, *length, &sum)) sum = INT64_MAX;
        if (sum < extent) continue;
        return sch_refuse(sch, p->loop,
                          "the factors leave nothing of %s, which has %lld iterations",
                          sch_loop_name(sch, p->loop), (long long)extent);
    }
    p->count = rest == HONE_NO_ID ? count + 1 : count;
    p->lengths[rest == HONE_NO_ID ? count : rest] = extent - sum;
    if (p->count > 1) return HONE_OK;
    return sch_refuse(sch, p->loop, "the partition of %s has one part only",
                      sch_loop_name(sch, p->loop));
}

/* In a part that starts at this iteration, may all reduce axes stand at their beginning at once? */
static hone_status runs_init(partitioning *p, int64_t start, int64_t length, bool *out) {
    hone_schedule *sch = p->sch;
    const hone_node *leaf = sch_node(sch, p->leaf), *loop = sch_node(sch, p->loop);
    hone_dtype dtype = loop->u.loop.range.extent->dtype;
    hone_range part = {hone_expr_int(&sch->ir, dtype, start),
                       hone_expr_int(&sch->ir, dtype, length)};
    bool is_known = part.min && part.extent && hone_arith_bind(&sch->arith, loop->u.loop.var, part);
    *out = true;
    for (uint32_t i = 0; is_known && i < leaf->u.block.block->axis_count; i++) {
        const hone_axis *axis = &leaf->u.block.block->axes[i];
        if (axis->kind != HONE_AXIS_REDUCE) continue;
        if (!hone_prove_less(&sch->arith, axis->dom.min, leaf->u.block.bindings[i])) continue;
        *out = false;
    }
    if (!hone_arith_bind(&sch->arith, loop->u.loop.var, loop->u.loop.range) || !is_known) {
        return sch_no_memory();
    }
    return sch_ir_error(sch);
}

static hone_status check_init(partitioning *p) {
    hone_schedule *sch = p->sch;
    hone_var var = sch_node(sch, p->loop)->u.loop.var;
    if (hone_block_init_of(sch->func, p->leaf) == HONE_NO_ID) return HONE_OK;
    p->cuts_reduction = sch_feeds_axis(sch, p->leaf, var, HONE_AXIS_REDUCE);
    if (!p->cuts_reduction) return HONE_OK;
    if (sch_feeds_axis(sch, p->leaf, var, HONE_AXIS_SPATIAL)) {
        return sch_refuse(sch, p->loop, "%s feeds both spatial and reduce axes of %s",
                          sch_loop_name(sch, p->loop), sch_block_name(sch, p->leaf));
    }
    HONE_TRY(sch_require_serial_sums(sch, p->leaf, p->loop));
    int64_t start = sch_node(sch, p->loop)->u.loop.range.min->u.i;
    for (uint32_t i = 0; i < p->count; i++) {
        bool runs = true;
        HONE_TRY(runs_init(p, start, p->lengths[i], &runs));
        start += p->lengths[i];
        if (runs == (i == 0)) continue;
        return sch_refuse(sch, p->leaf, "it is not known in which part of %s the init of %s runs",
                          sch_loop_name(sch, p->loop), sch_block_name(sch, p->leaf));
    }
    return HONE_OK;
}

/* ---- the blocks around ---- */

static hone_node_id add_block(hone_schedule *sch, const char *name) {
    hone_block *block = hone_arena_zalloc(sch->arena, sizeof *block);
    hone_node_id id = hone_func_add_node(sch->func, HONE_NODE_BLOCK);
    if (!block || !name || id == HONE_NO_ID) return HONE_NO_ID;
    block->name = name;
    sch_node(sch, id)->u.block.block = block;
    return id;
}

/* ---- the parts ---- */

static hone_node_id leaf_of(const hone_schedule *sch, hone_node_id n) {
    while (sch_node(sch, n)->kind != HONE_NODE_BLOCK)
        n = sch_node(sch, n)->first;
    return n;
}

/* Axes that are bound to a loop take its range as their domain; not where an init would run that
 * does not now. */
static hone_status narrow_axes(partitioning *p, hone_node_id id, hone_node_id loop,
                               hone_block *block) {
    hone_schedule *sch = p->sch;
    const hone_node *node = sch_node(sch, loop);
    bool has_init = hone_block_init_of(sch->func, id) != HONE_NO_ID;
    hone_axis *axes = hone_arena_copy(sch->arena, block->axes, block->axis_count * sizeof *axes);
    if (!axes && block->axis_count) return sch_no_memory();
    for (uint32_t i = 0; i < block->axis_count; i++) {
        const hone_expr *binding = sch_node(sch, id)->u.block.bindings[i];
        if (binding->kind != HONE_EXPR_VAR || binding->u.var != node->u.loop.var) continue;
        bool is_reduce = axes[i].kind == HONE_AXIS_REDUCE;
        if (has_init && is_reduce && !hone_expr_same(axes[i].dom.min, node->u.loop.range.min)) {
            continue;
        }
        axes[i].dom = node->u.loop.range;
        if (!hone_arith_bind(&sch->arith, axes[i].var, axes[i].dom)) return sch_no_memory();
    }
    block->axes = axes;
    return HONE_OK;
}

/* Names and domains of the block in a part and of those inside, regions where the init is gone. */
static hone_status finish_leaf(partitioning *p, hone_node_id leaf, hone_node_id loop,
                               uint32_t part) {
    hone_schedule *sch = p->sch;
    const char *suffix =
        sch_name(sch, "_", sch->func->vars[sch_node(sch, loop)->u.loop.var].name, -1);
    bool loses_init = part > 0 && p->cuts_reduction;
    if (!suffix) return sch_no_memory();
    if (loses_init) hone_tree_remove(sch->func, hone_block_init_of(sch->func, leaf));
    for (hone_node_id n = leaf; n != HONE_NO_ID; n = hone_tree_next(sch->func, leaf, n)) {
        if (sch_node(sch, n)->kind != HONE_NODE_BLOCK) continue;
        hone_block *block = hone_block_copy(sch->arena, sch_block(sch, n));
        if (!block) return sch_no_memory();
        block->name = sch_name(sch, block->name, suffix, -1);
        if (!block->name) return sch_no_memory();
        HONE_TRY(narrow_axes(p, n, loop, block));
        sch_node(sch, n)->u.block.block = block;
        sch_node(sch, n)->flags = 0;
        sch_mark_open(sch, n);
    }
    return loses_init ? sch_update_regions(sch, leaf) : HONE_OK;
}

static hone_status make_part(partitioning *p, uint32_t part, int64_t start, hone_node_id body,
                             hone_node_id *out_loop) {
    hone_schedule *sch = p->sch;
    const hone_node old = *sch_node(sch, p->loop);
    hone_dtype dtype = old.u.loop.range.extent->dtype;
    const char *name = sch_name(sch, sch->func->vars[old.u.loop.var].name, "", part);
    const hone_expr *length = hone_expr_int(&sch->ir, dtype, p->lengths[part]);
    hone_node_id loop = sch_make_loop(sch, name, dtype, length);
    if (loop == HONE_NO_ID) return sch_no_memory();
    hone_range *range = &sch_node(sch, loop)->u.loop.range;
    range->min = hone_expr_int(&sch->ir, dtype, start);
    if (!range->min) return sch_ir_error(sch);
    hone_var var = sch_node(sch, loop)->u.loop.var;
    if (!hone_arith_bind(&sch->arith, var, *range)) return sch_no_memory();
    hone_tree_append(sch->func, loop, body);
    HONE_TRY(sch_substitute_below(sch, loop, old.u.loop.var, sch_var(sch, var)));
    hone_node_id wrapper =
        add_block(sch, sch_name(sch, sch_name(sch, p->stem, "", part), "_partition", -1));
    if (wrapper == HONE_NO_ID) return sch_no_memory();
    hone_tree_append(sch->func, wrapper, loop);
    hone_tree_append(sch->func, p->common, wrapper);
    *out_loop = loop;
    return finish_leaf(p, leaf_of(sch, body), loop, part);
}

static hone_status update_wrappers(partitioning *p) {
    hone_schedule *sch = p->sch;
    for (hone_node_id n = sch_node(sch, p->common)->first; n != HONE_NO_ID;
         n = sch_node(sch, n)->next) {
        HONE_TRY(sch_update_regions(sch, n));
        sch_mark_open(sch, n);
    }
    HONE_TRY(sch_update_regions(sch, p->common));
    sch_mark_open(sch, p->common);
    sch_forget_facts(sch, p->common);
    return HONE_OK;
}

static hone_status rebuild(partitioning *p, hone_node_id *loops) {
    hone_schedule *sch = p->sch;
    hone_node_id *bodies = hone_arena_alloc(sch->arena, p->count * sizeof *bodies);
    p->common = add_block(sch, sch_name(sch, p->stem, "_common", -1));
    if (!bodies || p->common == HONE_NO_ID) return sch_no_memory();
    bodies[0] = sch_node(sch, p->loop)->first;
    for (uint32_t i = 1; i < p->count; i++)
        HONE_TRY(sch_copy_renamed(sch, bodies[0], &bodies[i]));
    int64_t start = sch_node(sch, p->loop)->u.loop.range.min->u.i;
    hone_tree_remove(sch->func, bodies[0]);
    for (uint32_t i = 0; i < p->count; i++) {
        HONE_TRY(make_part(p, i, start, bodies[i], &loops[i]));
        start += p->lengths[i];
    }
    hone_tree_replace(sch->func, p->loop, p->common);
    return update_wrappers(p);
}

hone_status hone_sch_loop_partition(hone_schedule *sch, hone_rv loop_rv, uint32_t count,
                                    const hone_factor *factors, bool preserve_unit_iters,
                                    uint32_t *out_count, const hone_rv **out_loops) {
    partitioning p = {.sch = sch};
    HONE_TRY(sch_resolve_loop(sch, loop_rv, &p.loop));
    HONE_TRY(check_chain(&p));
    HONE_TRY(read_lengths(&p, count, factors));
    HONE_TRY(check_outer(&p));
    HONE_TRY(check_init(&p));
    const char *loop_name = sch->func->vars[sch_node(sch, p.loop)->u.loop.var].name;
    const char *stem = sch_name(sch, sch_block(sch, p.leaf)->name, "_", -1);
    p.stem = stem ? sch_name(sch, stem, loop_name, -1) : NULL;
    hone_node_id *loops = hone_arena_alloc(sch->arena, p.count * sizeof *loops);
    if (!p.stem || !loops) return sch_no_memory();
    HONE_TRY(rebuild(&p, loops));
    if (out_count) *out_count = p.count;
    return sch_record_nodes(
        sch, HONE_INST_LOOP_PARTITION,
        SCH_ARGS(SCH_RV(loop_rv), SCH_LIST(count, factors, factors), SCH_INT(preserve_unit_iters)),
        p.count, loops, out_loops);
}

/* The rest is a part, if no factor stands for it. */
static int64_t count_parts(const hone_inst *inst) {
    int64_t count = inst->input_count;
    for (uint32_t i = 1; i < inst->input_count; i++)
        count -= inst->inputs[i].kind == HONE_OPERAND_NONE;
    return count;
}

SCH_STEP(LOOP_PARTITION,
         hone_sch_loop_partition(sch, a[0].rv, a[1].count, a[1].list.factors, a[2].number != 0,
                                 NULL, NULL),
         .gives = HONE_GIVES_LOOPS, .count_results = count_parts,
         .args = {SCH_ARG_LOOP(0), SCH_ARG_FACTORS, SCH_ARG_KEEP_UNITS(0)});
