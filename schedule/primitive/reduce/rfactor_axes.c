/* schedule/primitive/reduce/rfactor_axes.c - which axes rfactor divides, and into which loops. */
#include "schedule/primitive/reduce/rfactor.h"
#include "schedule/state/init_nest.h"

/* Loop variables in the order in which an expression names them first. */
typedef struct var_list {
    uint32_t count;
    hone_var *vars;
} var_list;

static bool note_var(void *ctx, const hone_expr *e) {
    var_list *list = ctx;
    if (e->kind != HONE_EXPR_VAR) return true;
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->vars[i] == e->u.var) return true;
    }
    list->vars[list->count++] = e->u.var;
    return true;
}

static hone_node_id loop_of(const rfactoring *r, hone_var var) {
    for (uint32_t i = 0; i < r->loop_count; i++) {
        if (sch_node(r->sch, r->loops[i])->u.loop.var == var) return r->loops[i];
    }
    return HONE_NO_ID;
}

/* Which split made a loop, by node: a number that loops of one split share, also where that split a
 * loop of another one; 0: none. */
static const uint32_t *splits_of_loops(const rfactoring *r) {
    const hone_schedule *sch = r->sch;
    uint32_t *splits = hone_arena_zalloc(sch->arena, sch->func->node_count * sizeof *splits);
    for (uint32_t i = 0; splits && i < sch->trace.count; i++) {
        const hone_inst *inst = &sch->trace.insts[i];
        if (inst->kind != HONE_INST_SPLIT) continue;
        uint32_t number = splits[sch->rvs[inst->inputs[0].u.rv].node];
        for (uint32_t k = 0; k < inst->output_count; k++) {
            splits[sch->rvs[inst->first_output + k].node] = number ? number : i + 1;
        }
    }
    return splits;
}

/* Was a loop made by one split with another one that feeds the axis? Where these feed several axes,
 * all of them count the number that all the axes are made of, as a fused loop did: each axis
 * depends on all of them before it is simplified, which TVM does not do. */
static bool counts_along(const rfactoring *r, uint32_t axis, hone_node_id loop) {
    const hone_expr *binding = sch_node(r->sch, r->block)->u.block.bindings[axis];
    hone_var var = sch_node(r->sch, loop)->u.loop.var;
    if (!sch_feeds_axis(r->sch, r->block, var, HONE_AXIS_REDUCE)) return false;
    for (uint32_t k = 0; r->splits[loop] && k < r->loop_count; k++) {
        if (r->splits[r->loops[k]] != r->splits[loop]) continue;
        if (hone_expr_uses_var(binding, sch_node(r->sch, r->loops[k])->u.loop.var)) return true;
    }
    return false;
}

/* Does a loop feed the axis that feeds a divided one, too? */
static bool shares_loop(const rfactoring *r, uint32_t axis, const bool *is_divided) {
    const hone_node *node = sch_node(r->sch, r->block);
    const hone_expr *const *bindings = node->u.block.bindings;
    for (uint32_t k = 0; k < r->loop_count; k++) {
        hone_var var = sch_node(r->sch, r->loops[k])->u.loop.var;
        if (!hone_expr_uses_var(bindings[axis], var)) continue;
        for (uint32_t i = 0; i < node->u.block.block->axis_count; i++) {
            if (is_divided[i] && hone_expr_uses_var(bindings[i], var)) return true;
        }
    }
    return false;
}

/* What a variable is multiplied with in a sum, at most; 0 if it is not there. */
static int64_t stride_of(const hone_expr *e, hone_var var) {
    if (e->kind == HONE_EXPR_VAR) return e->u.var == var;
    int64_t stride = 0;
    for (uint32_t i = 0; i < e->count; i++) {
        int64_t found = stride_of(e->args[i], var);
        if (found > stride) stride = found;
    }
    bool is_scaled = hone_expr_is_op(e, HONE_OP_MUL) && hone_expr_is_int(e->args[1]);
    return is_scaled && stride > 0 && e->args[1]->u.i > 0 ? e->args[1]->u.i : stride;
}

/* Outer loops, which move the axis by a multiple of what inner ones do, first. */
static void sort_by_stride(const hone_expr *binding, var_list *list) {
    for (uint32_t i = 1; i < list->count; i++) {
        for (uint32_t k = i; k > 0; k--) {
            hone_var left = list->vars[k - 1], right = list->vars[k];
            int64_t by_left = stride_of(binding, left), by_right = stride_of(binding, right);
            if (by_left < 1 || by_right <= by_left || by_right % by_left != 0) break;
            list->vars[k - 1] = right;
            list->vars[k] = left;
        }
    }
}

/* A reduce axis that the factored loop feeds or counts along with is divided, and those that share
 * loops with it: the axes made for its loops would run along with theirs. All others stay. */
const bool *sch_rfactor_split_axes(rfactoring *r) {
    hone_var factored = sch_node(r->sch, r->loop)->u.loop.var;
    const hone_node *node = sch_node(r->sch, r->block);
    const hone_block *block = node->u.block.block;
    bool *is_divided = hone_arena_zalloc(r->sch->arena, block->axis_count + 1);
    r->splits = splits_of_loops(r);
    if (!is_divided || !r->splits) return NULL;
    for (bool is_done = false; !is_done;) {
        is_done = true;
        for (uint32_t i = 0; i < block->axis_count; i++) {
            if (block->axes[i].kind != HONE_AXIS_REDUCE || is_divided[i]) continue;
            is_divided[i] = hone_expr_uses_var(node->u.block.bindings[i], factored) ||
                            counts_along(r, i, r->loop) || shares_loop(r, i, is_divided);
            is_done = is_done && !is_divided[i];
        }
    }
    return is_divided;
}

hone_status sch_rfactor_loops_of_axis(const rfactoring *r, uint32_t axis, uint32_t *out_count,
                                      const hone_node_id **out_loops) {
    hone_schedule *sch = r->sch;
    const hone_expr *binding = sch_node(sch, r->block)->u.block.bindings[axis];
    hone_node_id *loops = hone_arena_alloc(sch->arena, (r->loop_count + 1) * sizeof *loops);
    var_list list = {.vars = hone_arena_alloc(sch->arena, (r->var_count + 1) * sizeof *list.vars)};
    if (!list.vars || !loops) return sch_no_memory();
    hone_expr_walk(binding, note_var, &list);
    sort_by_stride(binding, &list);
    *out_count = 0;
    *out_loops = loops;
    for (uint32_t k = 0; k < list.count; k++) {
        hone_node_id loop = loop_of(r, list.vars[k]);
        if (loop != HONE_NO_ID) loops[(*out_count)++] = loop;
    }
    for (uint32_t k = 0; k < r->loop_count; k++) {
        hone_var var = sch_node(sch, r->loops[k])->u.loop.var;
        if (hone_expr_uses_var(binding, var)) continue;
        if (counts_along(r, axis, r->loops[k])) loops[(*out_count)++] = r->loops[k];
    }
    return HONE_OK;
}
