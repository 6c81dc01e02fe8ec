/* ir/region/size_needs.c - collects what accesses demand of open sizes. */
#include "ir/region/size_needs.h"

typedef struct search {
    const hone_func *func;
    hone_arith *arith;
    const hone_expr **map; /* by variable: what an axis or a let is, in loops */
    bool *is_loop;         /* by variable: bound by a loop around */
    bool *is_strange;      /* by variable: nothing is known of it */
    bool *is_view;         /* by buffer */
    hone_status (*report)(void *ctx, const hone_size_need *need);
    void *ctx;
    hone_status st;
} search;

/* In loops and sizes; NULL where something else decides, or memory is short. */
static const hone_expr *in_loops(search *s, const hone_expr *e) {
    if (!hone_expr_is_pure_index(e) || e->dtype.lanes != 1) return NULL;
    const hone_expr *made = hone_expr_substitute(&s->arith->ir, e, s->map, s->func->var_count);
    if (!made || hone_expr_uses_any(made, s->is_strange, s->func->var_count)) return NULL;
    return hone_simplify(s->arith, made);
}

static void tell(search *s, hone_size_need need) {
    bool holds = need.is_low ? hone_prove_less_equal(s->arith, need.limit, need.index)
                             : hone_prove_less_equal(s->arith, need.index, need.limit);
    if (!holds && !s->st) s->st = s->report(s->ctx, &need);
}

static void look_at_index(search *s, const hone_buffer_info *buffer, uint32_t d,
                          const hone_expr *index) {
    hone_ir *ir = &s->arith->ir;
    const hone_expr *e = in_loops(s, index);
    bool is_exact = false;
    if (!e) return;
    hone_interval ends = hone_arith_relax(s->arith, e, s->is_loop, s->func->var_count, &is_exact);
    if (!is_exact || !ends.min || !ends.max) return;
    const hone_expr *zero = hone_expr_int(ir, e->dtype, 0);
    const hone_expr *one = hone_expr_int(ir, buffer->shape[d]->dtype, 1);
    const hone_expr *last = hone_expr_sub(ir, buffer->shape[d], one);
    if (!zero || !last) return;
    tell(s, (hone_size_need){buffer->name, d, true, ends.min, zero});
    tell(s, (hone_size_need){buffer->name, d, false, ends.max, last});
}

static void look_at(search *s, hone_buffer id, uint32_t count, const hone_expr *const *indices) {
    const hone_buffer_info *buffer = hone_func_buffer(s->func, id);
    if (s->is_view[id] || buffer->alias_of != HONE_NO_ID) return;
    for (uint32_t d = 0; d < count && d < buffer->rank; d++)
        look_at_index(s, buffer, d, indices[d]);
}

/* Loads that surely happen: not those of one side of a choice, nor places. */
static bool find_load(void *ctx, const hone_expr *e) {
    search *s = ctx;
    if (e->kind == HONE_EXPR_LOAD) look_at(s, e->u.buffer, e->count, e->args);
    if (e->kind == HONE_EXPR_CALL) {
        return hone_intrin_is_pure((hone_intrin)e->op) && e->op != HONE_INTRIN_IF_THEN_ELSE &&
               e->op != HONE_INTRIN_ADDRESS_OF;
    }
    return e->kind != HONE_EXPR_SELECT && e->kind != HONE_EXPR_LET &&
           !hone_expr_is_op(e, HONE_OP_AND) && !hone_expr_is_op(e, HONE_OP_OR);
}

static void find_loads(search *s, const hone_expr *e) {
    hone_expr_walk(e, find_load, s);
}

static void walk(search *s, hone_node_id parent);

/* Does a loop run, whatever the sizes are? One over a scalar is taken to. */
static bool surely_runs(search *s, const hone_expr *extent) {
    const hone_expr *one = hone_expr_int(&s->arith->ir, extent->dtype, 1);
    return extent->kind == HONE_EXPR_VAR || (one && hone_prove_less_equal(s->arith, one, extent));
}

static void walk_loop(search *s, hone_node_id id) {
    const hone_node *node = hone_func_node(s->func, id);
    const hone_expr *min = in_loops(s, node->u.loop.range.min);
    const hone_expr *extent = in_loops(s, node->u.loop.range.extent);
    hone_var var = node->u.loop.var;
    if (!min || !extent || !surely_runs(s, extent)) return;
    if (!hone_arith_bind(s->arith, var, (hone_range){min, extent})) return;
    s->is_loop[var] = true;
    walk(s, id);
    s->is_loop[var] = false;
}

static void walk_block(search *s, hone_node_id id) {
    const hone_node *node = hone_func_node(s->func, id);
    const hone_block *block = node->u.block.block;
    const hone_expr *predicate =
        node->u.block.predicate ? in_loops(s, node->u.block.predicate) : NULL;
    if (node->u.block.predicate && !(predicate && hone_prove(s->arith, predicate))) return;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        const hone_expr *value = in_loops(s, node->u.block.bindings[i]);
        s->map[block->axes[i].var] = value;
        s->is_strange[block->axes[i].var] = !value;
    }
    for (uint32_t i = 0; i < block->match_count; i++)
        s->is_view[block->matches[i].buffer] = true;
    walk(s, id);
}

static void walk_let(search *s, hone_node_id id) {
    const hone_node *node = hone_func_node(s->func, id);
    hone_var var = node->u.let.var;
    find_loads(s, node->u.let.value);
    s->map[var] = in_loops(s, node->u.let.value);
    s->is_strange[var] = !s->map[var];
    walk(s, id);
}

static void walk_store(search *s, const hone_node *node) {
    for (uint32_t d = 0; d < node->u.store.rank; d++)
        find_loads(s, node->u.store.indices[d]);
    find_loads(s, node->u.store.value);
    look_at(s, node->u.store.buffer, node->u.store.rank, node->u.store.indices);
}

/* What stands under a condition may not happen. */
static void walk(search *s, hone_node_id parent) {
    for (hone_node_id id = hone_func_node(s->func, parent)->first; id != HONE_NO_ID && !s->st;
         id = hone_func_node(s->func, id)->next) {
        const hone_node *node = hone_func_node(s->func, id);
        switch ((hone_node_kind)node->kind) {
        case HONE_NODE_FOR:
            walk_loop(s, id);
            break;
        case HONE_NODE_BLOCK:
            walk_block(s, id);
            break;
        case HONE_NODE_LET:
            walk_let(s, id);
            break;
        case HONE_NODE_STORE:
            walk_store(s, node);
            break;
        case HONE_NODE_INIT:
        case HONE_NODE_ALLOC:
        case HONE_NODE_ATTR:
            walk(s, id);
            break;
        default:
            break;
        }
    }
}

/* Nothing stands behind it, and it is reached in any case. */
static bool is_last_of_all(const hone_func *func, hone_node_id id) {
    for (; id != HONE_NODE_TOP; id = hone_func_node(func, id)->parent) {
        uint8_t kind = hone_func_node(func, id)->kind;
        bool is_plain = kind == HONE_NODE_EVAL || kind == HONE_NODE_ALLOC ||
                        kind == HONE_NODE_DECL || kind == HONE_NODE_ATTR || kind == HONE_NODE_LET ||
                        kind == HONE_NODE_BLOCK;
        if (!is_plain || hone_func_node(func, id)->next != HONE_NO_ID) return false;
    }
    return true;
}

bool hone_func_has_jumps(const hone_func *func) {
    for (hone_node_id n = HONE_NODE_TOP; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_BREAK || node->kind == HONE_NODE_CONTINUE) return true;
        bool is_return = node->kind == HONE_NODE_EVAL &&
                         hone_expr_is_call(node->u.eval.value, HONE_INTRIN_RETURN);
        if (is_return && !is_last_of_all(func, n)) return true;
    }
    return false;
}

/* Nothing is open, or a jump may leave out the last iterations. */
static bool is_settled(const hone_func *func) {
    bool is_open = false;
    for (uint32_t i = 0; i < func->param_count; i++) {
        hone_buffer id = func->params[i].buffer;
        is_open |= id == HONE_NO_ID;
        for (uint32_t d = 0; id != HONE_NO_ID && d < func->buffers[id].rank; d++)
            is_open |= !hone_expr_is_int(func->buffers[id].shape[d]);
    }
    return !is_open || hone_func_has_jumps(func);
}

hone_status hone_func_size_needs(const hone_func *func, hone_arith *arith,
                                 hone_status (*report)(void *ctx, const hone_size_need *need),
                                 void *ctx) {
    search s = {.func = func, .arith = arith, .report = report, .ctx = ctx};
    hone_arena *arena = arith->ir.arena;
    size_t vars = (size_t)func->var_count + 1;
    if (is_settled(func)) return HONE_OK;
    s.map = hone_arena_zalloc(arena, vars * sizeof *s.map);
    s.is_loop = hone_arena_zalloc(arena, vars);
    s.is_strange = hone_arena_zalloc(arena, vars);
    s.is_view = hone_arena_zalloc(arena, (size_t)func->buffer_count + 1);
    if (!s.map || !s.is_loop || !s.is_strange || !s.is_view ||
        !hone_arith_bind_sizes(arith, func)) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "sizes of '%s'", func->name);
    }
    walk(&s, HONE_NODE_TOP);
    return hone_status_join(s.st, hone_ir_finish(&arith->ir));
}
