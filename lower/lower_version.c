/* lower/lower_version.c
 * needs: no blocks. keeps: what is computed. A tile (an outermost vectorized or unrolled loop) with
 * conditions inside is made twice:
 *
 *   if every condition holds for every iteration of the tile: the tile without conditions
 *   else: the tile as it was, its unrolled loops serial, its vectors masked
 *
 * so a split that does not divide, or padding, costs one comparison per tile and vectors stay
 * vectors everywhere but at the edges. */
#include "lower/accesses.h"

enum { MAX_CONDITIONS = 32, MAX_TILE_NODES = 400, MAX_VERSIONS = 64, MAX_TILE_POINTS = 1024 };

typedef struct versioner {
    hone_lower *lower;
    hone_arith arith;
    bool *loops, *others; /* by variable, see lower_mark_vars */
    uint32_t var_count, capacity;
    uint32_t count;
    const hone_expr *conditions[MAX_CONDITIONS]; /* inside the tile */
    const hone_expr *hoisted[MAX_CONDITIONS];    /* what implies it for the whole tile */
} versioner;

/* a < 0 for all iterations: the largest a is below 0. */
static const hone_expr *always_negative(versioner *v, const hone_expr *a) {
    hone_ir *ir = &v->arith.ir;
    if (!a) return NULL;
    a = hone_simplify(&v->arith, a);
    if (!a) return NULL;
    hone_interval interval = hone_arith_relax(&v->arith, a, v->loops, v->var_count, NULL);
    if (!interval.max || hone_expr_uses_any(interval.max, v->loops, v->var_count)) return NULL;
    return hone_expr_binary(ir, HONE_OP_LT, interval.max,
                            hone_expr_int(ir, interval.max->dtype, 0));
}

static const hone_expr *hoist(versioner *v, const hone_expr *part) {
    hone_ir *ir = &v->arith.ir;
    if (!hone_expr_is_pure_index(part)) return NULL;
    if (hone_expr_uses_any(part, v->others, v->var_count)) return NULL;
    if (!hone_expr_uses_any(part, v->loops, v->var_count)) return part;
    if (part->kind != HONE_EXPR_BINARY || part->dtype.lanes != 1) return NULL;
    const hone_expr *a = part->args[0], *b = part->args[1];
    if (!hone_dtype_is_int(a->dtype)) return NULL;
    switch ((hone_op)part->op) {
    case HONE_OP_LT:
        return always_negative(v, hone_expr_sub(ir, a, b));
    case HONE_OP_GT:
        return always_negative(v, hone_expr_sub(ir, b, a));
    case HONE_OP_LE:
        return always_negative(
            v, hone_expr_sub(ir, hone_expr_sub(ir, a, b), hone_expr_int(ir, a->dtype, 1)));
    case HONE_OP_GE:
        return always_negative(
            v, hone_expr_sub(ir, hone_expr_sub(ir, b, a), hone_expr_int(ir, a->dtype, 1)));
    default:
        return NULL;
    }
}

static bool note_condition(void *ctx, const hone_expr *part) {
    versioner *v = ctx;
    if (hone_expr_is_int(part)) return true;
    for (uint32_t i = 0; i < v->count; i++) {
        if (hone_expr_same(v->conditions[i], part)) return true;
    }
    if (v->count == MAX_CONDITIONS) return true;
    const hone_expr *hoisted = hoist(v, part);
    if (!hoisted) return true; /* stays where it is */
    v->conditions[v->count] = part;
    v->hoisted[v->count++] = hoisted;
    return true;
}

static bool note_choice(void *ctx, const hone_expr *e) {
    if (hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE) && e->dtype.lanes == 1) {
        lower_conjuncts(e->args[0], note_condition, ctx);
    }
    return true;
}

static void note_expr(void *ctx, hone_node_id at, const hone_expr *e) {
    (void)at;
    hone_expr_walk(e, note_choice, ctx);
}

static bool has_else(const hone_func *func, const hone_node *node) {
    return node->last != HONE_NO_ID && hone_func_node(func, node->last)->kind == HONE_NODE_ELSE;
}

/* Copies have variables of their own, so there are more of them from tile to tile. */
static hone_status make_room(versioner *v) {
    hone_func *func = v->lower->func;
    v->var_count = func->var_count;
    if (v->var_count < v->capacity) return HONE_OK;
    v->capacity = 2 * func->var_count + 64;
    v->loops = hone_arena_zalloc(func->arena, v->capacity);
    v->others = hone_arena_zalloc(func->arena, v->capacity);
    return v->loops && v->others ? HONE_OK : LOWER_NO_MEMORY();
}

static hone_status find_conditions(versioner *v, hone_node_id tile) {
    hone_func *func = v->lower->func;
    v->count = 0;
    HONE_TRY(make_room(v));
    hone_arith_clear(&v->arith);
    if (!hone_arith_bind_sizes(&v->arith, func)) return LOWER_NO_MEMORY();
    HONE_TRY(lower_bind_around(func, tile, &v->arith));
    HONE_TRY(lower_mark_vars(func, tile, &v->arith, v->loops, v->others));
    for (hone_node_id n = tile; n != HONE_NO_ID; n = hone_tree_next(func, tile, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_IF || has_else(func, node)) continue;
        lower_conjuncts(node->u.eval.value, note_condition, v);
    }
    hone_tree_walk_exprs(func, tile, false, note_expr, v);
    return hone_ir_finish(&v->arith.ir);
}

/* Conditions that were hoisted are true in the fast copy. */
static const hone_expr *make_true(void *ctx, hone_ir *ir, const hone_expr *e) {
    versioner *v = ctx;
    if (!hone_dtype_is_bool(e->dtype) || e->dtype.lanes != 1) return e;
    for (uint32_t i = 0; i < v->count; i++) {
        if (hone_expr_same(v->conditions[i], e)) return hone_expr_bool(ir, true);
    }
    return e;
}

/* At the edges small code counts more than speed. */
static void make_serial(hone_func *func, hone_node_id root) {
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR) continue;
        if (node->loop_kind == HONE_LOOP_UNROLLED) node->loop_kind = HONE_LOOP_SERIAL;
        node->u.loop.annotations = (hone_attrs){0};
    }
}

/* Loop variables of a copy are its own: ranges are looked up by variable. */
static hone_status rename_loops(hone_lower *lower, hone_node_id root) {
    hone_func *func = lower->func;
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        if (hone_func_node(func, n)->kind != HONE_NODE_FOR) continue;
        hone_var old = hone_func_node(func, n)->u.loop.var;
        hone_var fresh = hone_func_add_var(func, func->vars[old].name, func->vars[old].dtype);
        if (fresh == HONE_NO_ID) return LOWER_NO_MEMORY();
        const hone_expr *value = hone_func_var_expr(&lower->ir, func, fresh);
        if (!value) return hone_ir_finish(&lower->ir);
        HONE_TRY(lower_substitute_one(func, n, old, value));
        hone_func_node(func, n)->u.loop.var = fresh;
    }
    return HONE_OK;
}

/* The outermost loop around the tile over which no condition changes: the choice is made there, so
 * that what a reduction loop accumulates can stay in registers. */
static hone_node_id outermost(const versioner *v, hone_node_id tile) {
    const hone_func *func = v->lower->func;
    for (;;) {
        hone_node_id up = hone_func_node(func, tile)->parent;
        const hone_node *loop = hone_func_node(func, up);
        if (loop->kind != HONE_NODE_FOR || loop->loop_kind != HONE_LOOP_SERIAL) return tile;
        if (loop->first != tile || loop->last != tile) return tile;
        for (uint32_t i = 0; i < v->count; i++) {
            if (hone_expr_uses_var(v->hoisted[i], loop->u.loop.var)) return tile;
        }
        tile = up;
    }
}

static hone_status make_versions(versioner *v, hone_node_id tile, hone_node_id *out_choice) {
    hone_func *func = v->lower->func;
    tile = outermost(v, tile);
    const hone_expr *all = NULL;
    for (uint32_t i = 0; i < v->count; i++)
        all = lower_and(&v->lower->ir, all, v->hoisted[i]);
    HONE_TRY(hone_ir_finish(&v->lower->ir));
    hone_node_id slow = hone_tree_copy(func, tile);
    hone_node_id choice = lower_new_if(func, all);
    hone_node_id other = hone_func_add_node(func, HONE_NODE_ELSE);
    if (slow == HONE_NO_ID || choice == HONE_NO_ID || other == HONE_NO_ID) {
        return LOWER_NO_MEMORY();
    }
    HONE_TRY(rename_loops(v->lower, slow));
    make_serial(func, slow);
    HONE_TRY(hone_tree_transform(func, tile, make_true, v, false));
    lower_wrap(func, tile, choice);
    hone_tree_append(func, choice, other);
    hone_tree_append(func, other, slow);
    *out_choice = choice;
    return HONE_OK;
}

static bool is_tile(const hone_func *func, hone_node_id id) {
    const hone_node *node = hone_func_node(func, id);
    return node->kind == HONE_NODE_FOR &&
           (node->loop_kind == HONE_LOOP_VECTORIZED || node->loop_kind == HONE_LOOP_UNROLLED);
}

/* Takes in the small loops around a tile (a register tile that a pragma unrolls), as long as the
 * product of extents stays small: at an edge all of it takes the slow way. */
static hone_node_id widen_tile(const hone_func *func, hone_node_id tile) {
    int64_t points = hone_expr_const(hone_func_node(func, tile)->u.loop.range.extent);
    for (;;) {
        hone_node_id up = hone_func_node(func, tile)->parent;
        const hone_node *loop = hone_func_node(func, up);
        if (loop->kind != HONE_NODE_FOR || loop->loop_kind != HONE_LOOP_SERIAL) return tile;
        if (loop->first != tile || loop->last != tile) return tile;
        int64_t extent = hone_expr_const(loop->u.loop.range.extent);
        if (extent < 1 || points < 1 || extent > MAX_TILE_POINTS / points) return tile;
        points *= extent;
        tile = up;
    }
}

/* Declarations and allocations in a tile would be made twice. */
static bool may_copy(const hone_func *func, hone_node_id tile) {
    for (hone_node_id n = tile; n != HONE_NO_ID; n = hone_tree_next(func, tile, n)) {
        uint8_t kind = hone_func_node(func, n)->kind;
        if (kind == HONE_NODE_ALLOC || kind == HONE_NODE_DECL || kind == HONE_NODE_LET)
            return false;
    }
    return lower_size(func, tile, MAX_TILE_NODES) < MAX_TILE_NODES;
}

static bool is_trivial(versioner *v) {
    for (uint32_t i = 0; i < v->count; i++) {
        if (hone_expr_uses_any(v->conditions[i], v->loops, v->var_count)) return false;
    }
    return true; /* nothing varies inside: an IF around a vector body is fine as it is */
}

hone_status lower_version(hone_lower *lower) {
    hone_func *func = lower->func;
    versioner v = {.lower = lower};
    hone_arith_init(&v.arith, func->arena);
    uint32_t made = 0;
    hone_node_id next;
    for (hone_node_id n = 0; n != HONE_NO_ID && made < MAX_VERSIONS; n = next) {
        next = hone_tree_next(func, 0, n);
        if (!is_tile(func, n)) continue;
        next = hone_tree_next_over(func, 0, n);
        hone_node_id tile = widen_tile(func, n);
        if (!may_copy(func, tile)) continue;
        HONE_TRY(find_conditions(&v, tile));
        if (v.count == 0 || is_trivial(&v)) continue;
        hone_node_id choice;
        HONE_TRY(make_versions(&v, tile, &choice));
        made++;
        next = hone_tree_next_over(func, 0, choice); /* over both */
    }
    return hone_ir_finish(&v.arith.ir);
}
