/* tuner/space/postproc_limits.c - drops candidates that no compiler should see. */
#include "schedule/nests/auto_loops.h"
#include "tuner/space/space_rule.h"

enum { MAX_UNROLLED = 1 << 14 };

/* Bodies that explicit unrolling would make below a node. */
hone_status hone_verify_limits(hone_schedule *sch) {
    const hone_func *func = sch->func;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR) continue;
        int64_t extent = hone_expr_const(node->u.loop.range.extent);
        if (extent < 0) return HONE_ERROR(HONE_CODE_ILLEGAL, "a loop's extent is not a constant");
        if (node->loop_kind != HONE_LOOP_UNROLLED) continue;
        int64_t product = extent;
        for (hone_node_id up = node->parent; up != HONE_NO_ID;
             up = hone_func_node(func, up)->parent) {
            const hone_node *outer = hone_func_node(func, up);
            if (outer->kind != HONE_NODE_FOR || outer->loop_kind != HONE_LOOP_UNROLLED) continue;
            int64_t more = hone_expr_const(outer->u.loop.range.extent);
            if (more > 0 && product <= MAX_UNROLLED) product *= more;
        }
        if (product > MAX_UNROLLED) {
            return HONE_ERROR(HONE_CODE_ILLEGAL,
                              "too much is unrolled: more than %d bodies of loop '%s'",
                              MAX_UNROLLED, func->vars[node->u.loop.var].name);
        }
    }
    return HONE_OK;
}

/* ---- registers ---- */

/* Sums that fill far more registers than there are: each step of such a tile stores and loads what
 * is left over, so that a smaller one is as fast, and its code, all of it unrolled, takes the
 * compiler longest.
 *
 *   for k in 64: for i in unrolled(6), j in unrolled(6): for v in vectorized(32): S[i, j, v] += …
 *
 * are 72 registers of 16 numbers. By a few too many a tile may still be as good as any. What a rule
 * has tiled is looked at; loops that users unroll are theirs. */
enum { MOST_NUMERATOR = 5, MOST_DENOMINATOR = 4, MOST_COUNTED = 1 << 20 };

static bool reduces_over(const hone_node *block, hone_var var) {
    for (uint32_t a = 0; a < block->u.block.block->axis_count; a++) {
        if (block->u.block.block->axes[a].kind == HONE_AXIS_REDUCE &&
            hone_expr_uses_var(block->u.block.bindings[a], var))
            return true;
    }
    return false;
}

/* Registers that what the block adds up fills between two steps of the loop around it that reduces
 * in order; 0: there is none. */
static int64_t registers_of_sums(const hone_func *func, hone_node_id id,
                                 const hone_target *target) {
    const hone_node *block = hone_func_node(func, id);
    const hone_block *info = block->u.block.block;
    if (info->write_count == 0) return 0;
    const hone_dtype dtype = func->buffers[info->writes[0].buffer].dtype;
    const int64_t lanes = hone_target_lanes(target, hone_dtype_bytes(dtype) * 8);
    int64_t count = 1;
    for (hone_node_id n = block->parent; n != HONE_NO_ID && count < MOST_COUNTED;
         n = hone_func_node(func, n)->parent) {
        const hone_node *loop = hone_func_node(func, n);
        if (loop->kind != HONE_NODE_FOR) continue;
        bool reduces = reduces_over(block, loop->u.loop.var);
        if (reduces && loop->loop_kind == HONE_LOOP_SERIAL) return count;
        int64_t extent = hone_expr_const(loop->u.loop.range.extent);
        if (reduces || extent < 1 || extent > MOST_COUNTED) continue;
        if (loop->loop_kind == HONE_LOOP_UNROLLED) count *= extent;
        if (loop->loop_kind == HONE_LOOP_VECTORIZED) count *= (extent + lanes - 1) / lanes;
    }
    return 0;
}

hone_status hone_verify_registers(hone_schedule *sch, const hone_target *target) {
    const hone_func *func = sch->func;
    const int64_t registers = hone_target_vector_registers(target);
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_BLOCK) continue;
        if (!hone_attrs_find(&node->u.block.block->annotations, HONE_ANNOTATION_TILING)) continue;
        int64_t count = registers_of_sums(func, n, target);
        if (count * MOST_DENOMINATOR <= registers * MOST_NUMERATOR) continue;
        return HONE_ERROR(HONE_CODE_ILLEGAL,
                          "the sums of a tile fill %lld vector registers, and there are %d",
                          (long long)count, (int)registers);
    }
    return HONE_OK;
}
