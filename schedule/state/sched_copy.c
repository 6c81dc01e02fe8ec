/* schedule/state/sched_copy.c - copies of parts of the tree under new variables, and trials that
 * can be taken back. */
#include "schedule/state/schedule_impl.h"

typedef struct renaming {
    hone_schedule *sch;
    const hone_expr *const *map; /* variable → what stands for it now */
    uint32_t count;
} renaming;

/* The number that a narrower type holds in between, as an expression of the outer type. */
static const hone_expr *without_narrowing(const renaming *r, const hone_expr *e) {
    const hone_expr *inner = e->args[0];
    if (inner->kind != HONE_EXPR_CAST || !hone_dtype_is_integer(inner->dtype)) return e;
    if (!hone_dtype_equal(inner->args[0]->dtype, e->dtype)) return e;
    if (!hone_dtype_is_integer(e->dtype) || !hone_expr_is_pure_index(inner->args[0])) return e;
    hone_bound bound = hone_arith_bound(&r->sch->arith, inner->args[0]);
    bool fits = bound.min >= hone_dtype_min_int(inner->dtype) &&
                bound.max <= hone_dtype_max_int(inner->dtype);
    return fits ? inner->args[0] : e;
}

static const hone_expr *value_of(const renaming *r, const hone_expr *e) {
    return e->kind == HONE_EXPR_VAR && e->u.var < r->count ? r->map[e->u.var] : NULL;
}

/* What stands for a variable is of its type: the expressions around it are. */
static const hone_expr *rename_var(void *ctx, hone_ir *ir, const hone_expr *e) {
    const renaming *r = ctx;
    if (e->kind == HONE_EXPR_CAST) return without_narrowing(r, e);
    const hone_expr *value = value_of(r, e);
    return value ? hone_expr_cast(ir, e->dtype, value) : e;
}

static const hone_expr *put_in(const renaming *r, const hone_expr *e, bool is_index) {
    hone_ir *ir = &r->sch->ir;
    const hone_expr *value = value_of(r, e);
    if (value && !is_index) return hone_expr_cast(ir, e->dtype, value);
    if (value) {
        bool is_cast =
            value->kind == HONE_EXPR_CAST && hone_dtype_is_integer(value->args[0]->dtype);
        return is_cast ? value->args[0] : value;
    }
    if (e->count == 0) return e;
    const hone_expr **args = hone_arena_alloc(ir->arena, e->count * sizeof *args);
    if (!args) return NULL;
    for (uint32_t i = 0; i < e->count; i++) {
        args[i] = put_in(r, e->args[i], e->kind == HONE_EXPR_LOAD);
        if (!args[i]) return NULL;
    }
    const hone_expr *rebuilt = hone_expr_with_args(ir, e, args);
    return rebuilt && e->kind == HONE_EXPR_CAST ? without_narrowing(r, rebuilt) : rebuilt;
}

const hone_expr *sch_put_in(hone_schedule *sch, const hone_expr *e, const hone_expr *const *map,
                            uint32_t count, bool is_index) {
    const renaming r = {sch, map, count};
    return put_in(&r, e, is_index);
}

/* A variable like another one; the map leads there. */
static hone_status renew(hone_schedule *sch, hone_var old, const hone_expr **map, hone_var *out) {
    const hone_var_info info = sch->func->vars[old];
    *out = hone_func_add_named_var(sch->func, info.name, info.dtype);
    if (*out == HONE_NO_ID) return sch_no_memory();
    map[old] = sch_var(sch, *out);
    return sch_ir_error(sch);
}

static hone_status renew_axes(hone_schedule *sch, hone_node_id id, const hone_expr **map) {
    hone_block *block = hone_block_copy(sch->arena, sch_block(sch, id));
    if (!block) return sch_no_memory();
    hone_axis *axes = hone_arena_alloc(sch->arena, (block->axis_count + 1) * sizeof *axes);
    if (!axes) return sch_no_memory();
    for (uint32_t i = 0; i < block->axis_count; i++) {
        axes[i] = block->axes[i];
        HONE_TRY(renew(sch, axes[i].var, map, &axes[i].var));
    }
    block->axes = axes;
    sch_node(sch, id)->u.block.block = block;
    return HONE_OK;
}

/* What is known of a loop or of the axes of a block, where its ends speak of other variables. */
static hone_status bind_vars(hone_schedule *sch, hone_node_id n) {
    const hone_node *node = sch_node(sch, n);
    bool fine = true;
    if (node->kind == HONE_NODE_FOR) {
        fine = hone_arith_bind(&sch->arith, node->u.loop.var, node->u.loop.range);
    }
    for (uint32_t i = 0; node->kind == HONE_NODE_BLOCK && i < sch_block(sch, n)->axis_count; i++) {
        const hone_axis *axis = &sch_block(sch, n)->axes[i];
        fine = fine && hone_arith_bind(&sch->arith, axis->var, axis->dom);
    }
    return fine ? HONE_OK : sch_no_memory();
}

hone_status sch_transform(hone_schedule *sch, hone_node_id root, hone_expr_rewrite rewrite,
                          void *ctx, bool with_blocks) {
    HONE_TRY(hone_tree_transform(sch->func, root, rewrite, ctx, with_blocks));
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(sch->func, root, n)) {
        const hone_node *node = sch_node(sch, n);
        bool is_for = node->kind == HONE_NODE_FOR;
        bool is_constant = is_for && hone_expr_is_int(node->u.loop.range.min) &&
                           hone_expr_is_int(node->u.loop.range.extent);
        if (is_for && !is_constant) HONE_TRY(bind_vars(sch, n));
    }
    return sch_ir_error(sch);
}

hone_status sch_replace_vars(hone_schedule *sch, hone_node_id root, const hone_expr **map,
                             uint32_t count) {
    renaming r = {sch, map, count};
    HONE_TRY(hone_tree_transform(sch->func, root, rename_var, &r, true));
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(sch->func, root, n))
        HONE_TRY(bind_vars(sch, n));
    return sch_ir_error(sch);
}

hone_status sch_copy_renamed(hone_schedule *sch, hone_node_id node, hone_node_id *out_copy) {
    hone_node_id copy = hone_tree_copy(sch->func, node);
    uint32_t count = sch->func->var_count;
    const hone_expr **map = hone_arena_zalloc(sch->arena, (count + 1) * sizeof *map);
    if (copy == HONE_NO_ID || !map) return sch_no_memory();
    for (hone_node_id n = copy; n != HONE_NO_ID; n = hone_tree_next(sch->func, copy, n)) {
        hone_var var = HONE_NO_ID;
        if (sch_node(sch, n)->kind == HONE_NODE_FOR) {
            HONE_TRY(renew(sch, sch_node(sch, n)->u.loop.var, map, &var));
            sch_node(sch, n)->u.loop.var = var;
        } else if (sch_node(sch, n)->kind == HONE_NODE_LET) {
            HONE_TRY(renew(sch, sch_node(sch, n)->u.let.var, map, &var));
            sch_node(sch, n)->u.let.var = var;
        } else if (sch_node(sch, n)->kind == HONE_NODE_BLOCK) {
            HONE_TRY(renew_axes(sch, n, map));
        }
    }
    HONE_TRY(sch_replace_vars(sch, copy, map, count));
    *out_copy = copy;
    return HONE_OK;
}

bool sch_has_allocs_below(const hone_schedule *sch, hone_node_id node) {
    for (hone_node_id n = node; n != HONE_NO_ID; n = hone_tree_next(sch->func, node, n)) {
        hone_node_kind kind = (hone_node_kind)sch_node(sch, n)->kind;
        if (kind == HONE_NODE_ALLOC || kind == HONE_NODE_DECL) return true;
        if (kind != HONE_NODE_BLOCK) continue;
        if (sch_block(sch, n)->alloc_count || sch_block(sch, n)->match_count) return true;
    }
    return false;
}

hone_status sch_begin_trial(hone_schedule *sch, hone_func **out_saved) {
    *out_saved = hone_func_clone(sch->arena, sch->func);
    return *out_saved ? HONE_OK : sch_no_memory();
}

/* What is known of loops and axes goes back as well. Memory is there: they were bound before. */
void sch_take_back(hone_schedule *sch, hone_func *saved) {
    sch->func = saved;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(saved, 0, n))
        hone_status_free(bind_vars(sch, n));
    if (sch->blame != HONE_NO_ID && sch->blame >= saved->node_count) sch->blame = HONE_NO_ID;
}

hone_status sch_end_trial(hone_schedule *sch, hone_func *saved, hone_status st) {
    if (st) sch_take_back(sch, saved);
    return st;
}
