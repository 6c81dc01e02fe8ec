/* schedule/primitive/loops/prim_fuse.c - fuse: for i in n: for j in m  →  for i_j_fused in n * m,
 * with i = f // m, j = f % m
 *
 * Checks: each loop is the direct and only child of the one before; all start at 0; no extent uses
 * another fused loop; none has annotations, a break or a thread binding.
 */
#include "schedule/primitive/primitive_impl.h"
#include "schedule/state/instance_order.h"

#include <string.h>

#include "ir/arith/itermap.h"

static hone_status check_chain(hone_schedule *sch, uint32_t count, const hone_node_id *loops) {
    for (uint32_t i = 0; i < count; i++) {
        HONE_TRY(sch_check_plain_loop(sch, loops[i]));
        HONE_TRY(sch_check_starts_at_zero(sch, loops[i]));
        if (i == 0) continue;
        const hone_node *node = sch_node(sch, loops[i]);
        bool is_below = hone_tree_is_ancestor(sch->func, loops[i - 1], loops[i]);
        bool is_above = hone_tree_is_ancestor(sch->func, loops[i], loops[i - 1]);
        if (loops[i] == loops[i - 1]) {
            return sch_refuse(sch, loops[i], "%s is named twice", sch_loop_name(sch, loops[i]));
        }
        if (!is_below && !is_above) {
            return sch_refuse(sch, loops[i], "%s and %s lie in different nests",
                              sch_loop_name(sch, loops[i - 1]), sch_loop_name(sch, loops[i]));
        }
        if (node->parent != loops[i - 1]) {
            return sch_refuse(sch, loops[i], "%s is not directly inside %s",
                              sch_loop_name(sch, loops[i]), sch_loop_name(sch, loops[i - 1]));
        }
        if (node->next != HONE_NO_ID || node->prev != HONE_NO_ID) {
            return sch_refuse(sch, loops[i], "%s is not the only statement in %s",
                              sch_loop_name(sch, loops[i]), sch_loop_name(sch, loops[i - 1]));
        }
        for (uint32_t k = 0; k < i; k++) {
            if (!hone_expr_uses_var(node->u.loop.range.extent,
                                    sch_node(sch, loops[k])->u.loop.var)) {
                continue;
            }
            return sch_refuse(sch, loops[i], "the extent of %s depends on %s",
                              sch_loop_name(sch, loops[i]), sch_loop_name(sch, loops[k]));
        }
    }
    return HONE_OK;
}

/* The product of the known extents must fit the variable. */
static hone_status check_size(hone_schedule *sch, uint32_t count, const hone_node_id *loops,
                              const hone_expr *extent) {
    if (!extent) return sch_ir_error(sch);
    int64_t product = 1;
    for (uint32_t i = 0; i < count; i++) {
        int64_t length = hone_expr_const(sch_node(sch, loops[i])->u.loop.range.extent);
        if (length < 0) continue;
        if (!__builtin_mul_overflow(product, length, &product) &&
            product <= hone_dtype_max_int(extent->dtype)) {
            continue;
        }
        return sch_refuse(sch, loops[i], "the fused loop is too long for %s",
                          HONE_DTYPE_NAME(extent->dtype));
    }
    return HONE_OK;
}

static const char *fused_name(hone_schedule *sch, uint32_t count, const hone_node_id *loops) {
    const char *name = sch->func->vars[sch_node(sch, loops[0])->u.loop.var].name;
    for (uint32_t i = 1; name && i < count; i++) {
        const char *next = sch->func->vars[sch_node(sch, loops[i])->u.loop.var].name;
        name = sch_name(sch, sch_name(sch, name, "_", -1), next, -1);
    }
    if (name && strlen(name) > 80) name = "fused";
    return name ? sch_name(sch, name, "_fused", -1) : NULL;
}

/* What each old loop variable is of the fused one. */
static hone_status make_values(hone_schedule *sch, uint32_t count, const hone_node_id *loops,
                               hone_node_id fused, const hone_expr **out) {
    const hone_expr *rest = sch_var(sch, sch_node(sch, fused)->u.loop.var);
    for (uint32_t i = count; i-- > 0;) {
        const hone_expr *extent = sch_node(sch, loops[i])->u.loop.range.extent;
        if (hone_expr_is_int_value(extent, 1) || hone_expr_is_int_value(extent, 0)) {
            /* of no iterations: nothing runs, and nothing is divided by 0 */
            out[i] = hone_expr_int(&sch->ir, extent->dtype, 0);
        } else if (i == 0) {
            out[i] = rest;
        } else {
            out[i] = hone_expr_floormod(&sch->ir, rest, extent);
            rest = hone_expr_floordiv(&sch->ir, rest, extent);
        }
        hone_dtype dtype = sch->func->vars[sch_node(sch, loops[i])->u.loop.var].dtype;
        if (out[i] && !hone_dtype_equal(out[i]->dtype, dtype))
            out[i] = hone_expr_cast(&sch->ir, dtype, out[i]);
        out[i] = hone_simplify(&sch->arith, out[i]);
        if (!out[i]) return sch_ir_error(sch);
    }
    return HONE_OK;
}

/* All loops around a block as iterators. */
static hone_status iters_of(hone_schedule *sch, hone_node_id block, uint32_t *out_count,
                            hone_iter **out) {
    const hone_node_id *loops = NULL;
    HONE_TRY(sch_loops_of(sch, block, out_count, &loops));
    *out = sch_iters_of_loops(sch, *out_count, loops);
    return *out ? HONE_OK : sch_no_memory();
}

/* Is it a number where the axis has several values? So it may be where the predicate leaves one of
 * them; who reads the bindings alone would miss the others. */
static bool stands_still(const hone_schedule *sch, hone_node_id block, uint32_t axis,
                         const hone_expr *binding) {
    const hone_expr *extent = sch_block(sch, block)->axes[axis].dom.extent;
    return binding && hone_expr_is_int(binding) && !hone_expr_is_int_value(extent, 1);
}

/* Bindings such as f // 16 * 16 + f % 16 // 4 * 4 + f % 4 become f again. */
static hone_status tidy_bindings(hone_schedule *sch, hone_node_id fused) {
    SCH_EACH_BLOCK (sch, fused, n) {
        uint32_t count = sch_block(sch, n)->axis_count;
        bool needed = false;
        for (uint32_t i = 0; i < count; i++) {
            needed |= sch_node(sch, n)->u.block.bindings[i]->kind != HONE_EXPR_VAR;
        }
        if (!needed) continue;
        uint32_t iter_count = 0;
        hone_iter *iters = NULL;
        HONE_TRY(iters_of(sch, n, &iter_count, &iters));
        const hone_expr **fresh = hone_arena_alloc(sch->arena, (count + 1) * sizeof *fresh);
        if (!fresh) return sch_no_memory();
        const hone_expr *const *old = sch_node(sch, n)->u.block.bindings;
        hone_itermap_simplify(&sch->arith, count, old, iter_count, iters,
                              sch_node(sch, n)->u.block.predicate, fresh);
        for (uint32_t i = 0; i < count; i++) {
            if (stands_still(sch, n, i, fresh[i])) fresh[i] = old[i];
        }
        sch_node(sch, n)->u.block.bindings = fresh;
    }
    return sch_ir_error(sch);
}

/* Puts the fused loop in the place of the others. */
static hone_status relink(hone_schedule *sch, uint32_t count, const hone_node_id *loops,
                          const hone_expr *const *values, hone_node_id fused) {
    for (uint32_t i = 0; i < count; i++) {
        hone_var var = sch_node(sch, loops[i])->u.loop.var;
        HONE_TRY(sch_substitute_below(sch, loops[count - 1], var, values[i]));
    }
    hone_tree_move_children(sch->func, loops[count - 1], fused);
    hone_tree_replace(sch->func, loops[0], fused);
    return tidy_bindings(sch, fused);
}

hone_status hone_sch_fuse(hone_schedule *sch, uint32_t count, const hone_rv *loop_rvs,
                          bool preserve_unit_iters, hone_rv *out_loop) {
    if (count == 0) return sch_refuse(sch, HONE_NO_ID, "fuse needs at least one loop");
    hone_node_id *loops = hone_arena_alloc(sch->arena, count * sizeof *loops);
    const hone_expr **values = hone_arena_alloc(sch->arena, count * sizeof *values);
    if (!loops || !values) return sch_no_memory();
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(sch_resolve_loop(sch, loop_rvs[i], &loops[i]));
    HONE_TRY(check_chain(sch, count, loops));
    const hone_expr *extent = sch_node(sch, loops[0])->u.loop.range.extent;
    for (uint32_t i = 1; i < count; i++) {
        extent = hone_expr_mul(&sch->ir, extent, sch_node(sch, loops[i])->u.loop.range.extent);
    }
    HONE_TRY(check_size(sch, count, loops, extent));
    extent = hone_simplify(&sch->arith, extent);
    if (!extent) return sch_ir_error(sch);
    hone_node_id fused = sch_make_loop(sch, fused_name(sch, count, loops), extent->dtype, extent);
    if (fused == HONE_NO_ID) return sch_no_memory();
    HONE_TRY(make_values(sch, count, loops, fused, values));
    sch->arith.keeps_units = preserve_unit_iters;
    sch->arith.keeps_numbers = true;
    hone_status st = relink(sch, count, loops, values, fused);
    sch->arith.keeps_units = sch->arith.keeps_numbers = false;
    HONE_TRY(st);
    return sch_record_node(sch, HONE_INST_FUSE,
                           SCH_ARGS(SCH_LIST(count, rvs, loop_rvs), SCH_INT(preserve_unit_iters)),
                           fused, out_loop);
}

SCH_STEP(FUSE, hone_sch_fuse(sch, a[0].count, a[0].list.rvs, a[1].number != 0, NULL),
         .gives = HONE_GIVES_LOOP, .args = {SCH_ARG_LOOPS("loops"), SCH_ARG_KEEP_UNITS(0)});
