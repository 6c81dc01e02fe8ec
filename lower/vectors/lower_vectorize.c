/* lower/vectors/lower_vectorize.c - the pass that makes vectors of vectorized loops.
 * needs: flat buffers, no blocks. keeps: what is computed, statement by statement. A vectorized
 * loop disappears: each statement in it handles all iterations at once. A statement that cannot
 * (its condition differs between iterations, it calls a function, it stores to one place) stays in
 * a serial loop of its own. A loop that is longer than the target can use is cut first.
 *
 * Iterations of a vectorized loop are independent (the schedule checked it), so statements may be
 * taken one after the other over all iterations. */

#include "lower/ground/accesses.h"
#include "lower/ground/conditions.h"
#include "lower/ground/split_loop.h"
#include "lower/vectors/digit.h"
#include "lower/vectors/vector_cut.h"

enum { MAX_LANES = 64 };

typedef struct vectorizer {
    hone_lower *lower;
    hone_arith *arith;
    hone_var var;
    const hone_expr *min;
    uint16_t lanes;
    bool failed;            /* the expression has no vector form */
    int masks;              /* choices around with a condition that varies */
    const hone_expr **lets; /* by variable: its vector form, NULL = not a vector */
    uint32_t let_count;
} vectorizer;

static const hone_expr *vector_of(vectorizer *v, const hone_expr *e);

static bool depends(const vectorizer *v, const hone_expr *e) {
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_VAR:
        return e->u.var == v->var || (e->u.var < v->let_count && v->lets[e->u.var]);
    default:
        for (uint16_t i = 0; i < e->count; i++) {
            if (depends(v, e->args[i])) return true;
        }
        return false;
    }
}

static const hone_expr *no_vector(vectorizer *v) {
    v->failed = true;
    return NULL;
}

static const hone_expr *widen(vectorizer *v, const hone_expr *e) {
    if (!e || e->dtype.lanes == v->lanes) return e;
    if (e->dtype.lanes != 1) return no_vector(v);
    return hone_expr_broadcast(&v->lower->ir, e, v->lanes);
}

static const hone_expr *ramp_of_var(vectorizer *v, hone_dtype dtype) {
    hone_ir *ir = &v->lower->ir;
    const hone_expr *base = v->min;
    if (!hone_dtype_equal(base->dtype, dtype)) base = hone_expr_cast(ir, dtype, base);
    return hone_expr_ramp(ir, base, hone_expr_int(ir, dtype, 1), v->lanes);
}

/* The index of an access: a ramp where it is linear in the loop variable. */
static const hone_expr *vector_index(vectorizer *v, const hone_expr *index) {
    hone_ir *ir = &v->lower->ir;
    lower_move move;
    if (!depends(v, index)) return widen(v, vector_of(v, index));
    if (!hone_expr_is_pure_index(index) || !lower_move_of(v->arith, index, v->var, v->min, &move) ||
        depends(v, move.start)) {
        return vector_of(v, index);
    }
    return hone_expr_ramp(ir, move.start, hone_expr_int(ir, index->dtype, move.step), v->lanes);
}

static const hone_expr *vector_children(vectorizer *v, const hone_expr *e) {
    const hone_expr *args[8];
    if (e->count > 8) return no_vector(v);
    for (uint16_t i = 0; i < e->count; i++) {
        args[i] = widen(v, vector_of(v, e->args[i]));
        if (!args[i]) return NULL;
    }
    hone_ir *ir = &v->lower->ir;
    hone_dtype dtype = hone_dtype_with_lanes(e->dtype, v->lanes);
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_BINARY:
        return hone_expr_binary(ir, (hone_op)e->op, args[0], args[1]);
    case HONE_EXPR_NOT:
        return hone_expr_not(ir, args[0]);
    case HONE_EXPR_SELECT:
        return hone_expr_select(ir, args[0], args[1], args[2]);
    case HONE_EXPR_CAST:
        return hone_expr_cast(ir, dtype, args[0]);
    default:
        return hone_expr_call(ir, dtype, (hone_intrin)e->op, e->count, args);
    }
}

/* A comparison that comes out alike in all lanes, without them: j + i * 16 < 64 is i * 16 < 64. */
static const hone_expr *without_lanes(void *ctx, hone_ir *ir, const hone_expr *e) {
    vectorizer *v = ctx;
    lower_move move;
    if (e->kind != HONE_EXPR_BINARY || e->dtype.lanes != 1 || !hone_expr_is_pure_index(e) ||
        !hone_expr_uses_var(e, v->var)) {
        return e;
    }
    const hone_expr *gap = lower_gap_of(v->arith, e);
    if (!gap || !lower_move_of(v->arith, gap, v->var, v->min, &move)) return e;
    int64_t way, most = (int64_t)v->lanes - 1;
    if (depends(v, move.start) || __builtin_mul_overflow(move.step, most, &way)) return e;
    /* steps of coeff go from one side of 0 to the other, what lanes add does not */
    hone_modular m = hone_arith_modular(v->arith, move.start);
    bool is_alike = way > 0 ? way < m.coeff - m.base : m.base + way >= 0;
    if (m.coeff < 1 || !is_alike) return e;
    return hone_expr_binary(ir, HONE_OP_LT, move.start, hone_expr_int(ir, move.start->dtype, 0));
}

static const hone_expr *settle(vectorizer *v, const hone_expr *condition) {
    return hone_expr_transform(&v->lower->ir, condition, without_lanes, v);
}

/* A load that no condition has to guard: its index lies in the buffer for all values of the loops.
 */
static bool is_always_inside(vectorizer *v, const hone_expr *load) {
    int64_t elements = hone_buffer_elements(hone_func_buffer(v->lower->func, load->u.buffer));
    if (load->count != 1 || elements < 0) return false;
    hone_bound bound = hone_arith_bound(v->arith, load->args[0]);
    return bound.min >= 0 && bound.max < elements;
}

/* Does e hold a load that must not run where a mask is off? */
static bool needs_mask(vectorizer *v, const hone_expr *e) {
    if (e->kind == HONE_EXPR_LOAD && !is_always_inside(v, e)) return true;
    for (uint16_t i = 0; i < e->count; i++) {
        if (needs_mask(v, e->args[i])) return true;
    }
    return false;
}

/* Where the condition varies, such loads that do not must become vectors as well: only then are
 * they masked, and they may be out of bounds for every lane. */
static const hone_expr *vector_of_branch(vectorizer *v, const hone_expr *e, bool is_masked) {
    v->masks += is_masked;
    const hone_expr *branch = widen(v, vector_of(v, e));
    v->masks -= is_masked;
    return branch;
}

/* The right side of `and` and `or` only runs where it matters. */
static const hone_expr *vector_of_logic(vectorizer *v, const hone_expr *e) {
    const hone_expr *left = widen(v, vector_of(v, e->args[0]));
    const hone_expr *right = vector_of_branch(v, e->args[1], true);
    return left && right ? hone_expr_binary(&v->lower->ir, (hone_op)e->op, left, right) : NULL;
}

static const hone_expr *vector_of_choice(vectorizer *v, const hone_expr *e) {
    hone_ir *ir = &v->lower->ir;
    hone_dtype dtype = hone_dtype_with_lanes(e->dtype, v->lanes);
    const hone_expr *args[3] = {settle(v, e->args[0]), NULL, NULL};
    if (!args[0]) return NULL;
    bool is_uniform = !depends(v, args[0]);
    args[1] = vector_of_branch(v, e->args[1], !is_uniform);
    args[2] = vector_of_branch(v, e->args[2], !is_uniform);
    if (!args[1] || !args[2]) return NULL;
    if (is_uniform) return hone_expr_call(ir, dtype, HONE_INTRIN_IF_THEN_ELSE, 3, args);
    args[0] = widen(v, vector_of(v, args[0]));
    if (!args[0]) return NULL;
    if (!hone_expr_may_fail(e->args[1]) && !hone_expr_may_fail(e->args[2])) {
        return hone_expr_select(ir, args[0], args[1], args[2]);
    }
    return hone_expr_call(ir, dtype, HONE_INTRIN_IF_THEN_ELSE, 3, args);
}

static const hone_expr *vector_of_load(vectorizer *v, const hone_expr *e) {
    if (e->count != 1 || e->dtype.lanes != 1) return no_vector(v);
    const hone_expr *index = vector_index(v, e->args[0]);
    if (!index) return NULL;
    hone_dtype dtype = hone_dtype_with_lanes(e->dtype, v->lanes);
    return hone_expr_load(&v->lower->ir, dtype, e->u.buffer, 1, &index);
}

static const hone_expr *vector_of(vectorizer *v, const hone_expr *e) {
    if (v->failed) return NULL;
    if (!depends(v, e) && !(v->masks && needs_mask(v, e))) return e;
    if (e->dtype.lanes != 1) return no_vector(v);
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_VAR:
        return e->u.var == v->var ? ramp_of_var(v, e->dtype) : v->lets[e->u.var];
    case HONE_EXPR_LOAD:
        return vector_of_load(v, e);
    case HONE_EXPR_BINARY:
        if (e->op == HONE_OP_AND || e->op == HONE_OP_OR) return vector_of_logic(v, e);
        return vector_children(v, e);
    case HONE_EXPR_NOT:
    case HONE_EXPR_SELECT:
    case HONE_EXPR_CAST:
        return vector_children(v, e);
    case HONE_EXPR_CALL:
        if (e->op == HONE_INTRIN_IF_THEN_ELSE) return vector_of_choice(v, e);
        return lower_has_effects(e) ? no_vector(v) : vector_children(v, e);
    default:
        return no_vector(v);
    }
}

/* A serial loop over the iterations around one statement. */
static hone_status serialize(vectorizer *v, hone_node_id node) {
    hone_func *func = v->lower->func;
    hone_ir *ir = &v->lower->ir;
    hone_dtype dtype = func->vars[v->var].dtype;
    hone_range range = {v->min, hone_expr_int(ir, dtype, v->lanes)};
    const hone_expr *value;
    hone_node_id loop =
        lower_new_loop(v->lower, func->vars[v->var].name, HONE_LOOP_SERIAL, range, &value);
    if (loop == HONE_NO_ID) return LOWER_NO_MEMORY();
    HONE_TRY(lower_substitute_one(func, node, v->var, value));
    lower_wrap(func, node, loop);
    return HONE_OK;
}

/* Whether what is below a node must stay together in one iteration: it allocates memory, or leaves
 * a loop. */
static bool must_serialize(const hone_func *func, hone_node_id root) {
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        switch (hone_func_node(func, n)->kind) {
        case HONE_NODE_ALLOC:
        case HONE_NODE_DECL:
        case HONE_NODE_WHILE:
        case HONE_NODE_BREAK:
        case HONE_NODE_CONTINUE:
            return true;
        default:
            break;
        }
    }
    return false;
}

static hone_status vectorize_children(vectorizer *v, hone_node_id parent);

typedef struct vector_store {
    const hone_expr *index, *value;
} vector_store;

/* Whether a store has a vector form, which goes to out. */
static bool plan_store(vectorizer *v, const hone_node *node, vector_store *out) {
    if (node->u.store.rank != 1 || !depends(v, node->u.store.indices[0])) return false;
    out->index = widen(v, vector_index(v, node->u.store.indices[0]));
    out->value = out->index ? widen(v, vector_of(v, node->u.store.value)) : NULL;
    return out->value && !v->failed;
}

static hone_status vectorize_store(vectorizer *v, hone_node_id id) {
    hone_func *func = v->lower->func;
    const hone_node *node = hone_func_node(func, id);
    vector_store store;
    if (node->u.store.rank != 1 || node->u.store.indices[0]->dtype.lanes != 1)
        return serialize(v, id);
    if (!depends(v, node->u.store.indices[0]) && !depends(v, node->u.store.value)) return HONE_OK;
    v->failed = false;
    bool is_possible = plan_store(v, node, &store);
    HONE_TRY(hone_ir_finish(&v->lower->ir));
    return is_possible ? lower_set_store(func, id, store.index, store.value) : serialize(v, id);
}

/* The parts of a condition that are the same for all iterations, and those that are not. */
typedef struct condition_split {
    vectorizer *v;
    const hone_expr *uniform, *varying;
} condition_split;

static bool split_part(void *ctx, const hone_expr *part) {
    condition_split *split = ctx;
    const hone_expr **side = depends(split->v, part) ? &split->varying : &split->uniform;
    *side = lower_and(&split->v->lower->ir, *side, part);
    return true;
}

enum { MAX_MASKED_STORES = 16 };

/* Whether all children are stores that have a vector form; out has room for theirs. */
static bool plan_stores(vectorizer *v, hone_node_id parent, vector_store *out) {
    const hone_func *func = v->lower->func;
    uint32_t count = 0;
    LOWER_EACH_CHILD (func, parent, c) {
        const hone_node *node = hone_func_node(func, c);
        if (node->kind != HONE_NODE_STORE || count == MAX_MASKED_STORES) return false;
        if (!plan_store(v, node, &out[count++])) return false;
    }
    return true;
}

/* An IF that differs between iterations becomes a condition on lanes around vector stores. */
static hone_status vectorize_if(vectorizer *v, hone_node_id id) {
    hone_func *func = v->lower->func;
    condition_split split = {v, NULL, NULL};
    vector_store stores[MAX_MASKED_STORES];
    const hone_expr *condition = settle(v, hone_func_node(func, id)->u.eval.value);
    if (!condition) return hone_ir_finish(&v->lower->ir);
    if (!depends(v, condition)) {
        hone_func_node(func, id)->u.eval.value = condition;
        return vectorize_children(v, id);
    }
    lower_conjuncts(condition, split_part, &split);
    v->failed = false;
    const hone_expr *mask = split.varying ? widen(v, vector_of(v, split.varying)) : NULL;
    v->masks++;
    bool is_possible = mask && !v->failed && plan_stores(v, id, stores);
    v->masks--;
    HONE_TRY(hone_ir_finish(&v->lower->ir));
    if (!is_possible) return serialize(v, id);
    uint32_t count = 0;
    LOWER_EACH_CHILD (func, id, c) {
        HONE_TRY(lower_set_store(func, c, stores[count].index, stores[count].value));
        count++;
    }
    hone_func_node(func, id)->u.eval.value = mask;
    return split.uniform ? lower_wrap_if(v->lower, split.uniform, id) : HONE_OK;
}

/* ---- what stands below a name that becomes a vector ---- */

static bool has_vector_form(vectorizer *v, hone_node_id id);

static bool have_vector_forms(vectorizer *v, hone_node_id parent) {
    const hone_func *func = v->lower->func;
    LOWER_EACH_CHILD (func, parent, c) {
        if (!has_vector_form(v, c)) return false;
    }
    return true;
}

/* A loop around it would know no name that is a vector by now. */
static bool uses_vectors(const vectorizer *v, hone_node_id id) {
    hone_func *func = v->lower->func;
    bool *marks = hone_arena_zalloc(func->arena, (size_t)v->let_count + 1);
    for (uint32_t i = 0; marks && i < v->let_count; i++)
        marks[i] = v->lets[i] != NULL;
    return !marks || hone_tree_uses_any(func, id, true, marks, v->let_count);
}

static bool has_vector_store(vectorizer *v, const hone_node *node) {
    vector_store store;
    if (node->u.store.rank != 1 || node->u.store.indices[0]->dtype.lanes != 1) return false;
    v->failed = false;
    return (!depends(v, node->u.store.indices[0]) && !depends(v, node->u.store.value)) ||
           plan_store(v, node, &store);
}

static bool has_vector_if(vectorizer *v, hone_node_id id) {
    vector_store stores[MAX_MASKED_STORES];
    const hone_expr *condition = hone_func_node(v->lower->func, id)->u.eval.value;
    if (condition->dtype.lanes > 1) return false;
    condition = settle(v, condition);
    if (condition && !depends(v, condition)) return have_vector_forms(v, id);
    v->failed = false;
    v->masks++;
    bool is_possible =
        condition && widen(v, vector_of(v, condition)) && !v->failed && plan_stores(v, id, stores);
    v->masks--;
    return is_possible;
}

static bool has_vector_let(vectorizer *v, const hone_node *node, hone_node_id id) {
    if (!depends(v, node->u.let.value)) return have_vector_forms(v, id);
    v->failed = false;
    const hone_expr *value = widen(v, vector_of(v, node->u.let.value));
    hone_var old = node->u.let.var;
    if (!value || v->failed || old >= v->let_count) return false;
    v->lets[old] = value; /* in place of its name */
    bool have = have_vector_forms(v, id);
    v->lets[old] = NULL;
    return have;
}

/* Whether a statement becomes one of vectors, or may be repeated by itself. */
static bool has_vector_form(vectorizer *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->lower->func, id);
    bool has = false;
    if (must_serialize(v->lower->func, id)) return !uses_vectors(v, id);
    if (node->kind == HONE_NODE_STORE) has = has_vector_store(v, node);
    if (node->kind == HONE_NODE_IF) has = has_vector_if(v, id);
    if (node->kind == HONE_NODE_LET) has = has_vector_let(v, node, id);
    if (node->kind == HONE_NODE_ELSE) has = have_vector_forms(v, id);
    if (node->kind == HONE_NODE_FOR)
        has = !depends(v, node->u.loop.range.min) && !depends(v, node->u.loop.range.extent) &&
              hone_arith_bind(v->arith, node->u.loop.var, node->u.loop.range) &&
              have_vector_forms(v, id);
    return has || !uses_vectors(v, id);
}

static hone_status vectorize_let(vectorizer *v, hone_node_id id) {
    hone_func *func = v->lower->func;
    hone_node *node = hone_func_node(func, id);
    if (!depends(v, node->u.let.value)) return vectorize_children(v, id);
    v->failed = false;
    const hone_expr *value = widen(v, vector_of(v, node->u.let.value));
    HONE_TRY(hone_ir_finish(&v->lower->ir));
    hone_var old = node->u.let.var;
    if (!value || v->failed || old >= v->let_count) return serialize(v, id);
    v->lets[old] = value;
    bool is_possible = have_vector_forms(v, id);
    v->lets[old] = NULL;
    HONE_TRY(hone_ir_finish(&v->lower->ir));
    if (!is_possible) return serialize(v, id);
    hone_var wide = hone_func_add_var(func, func->vars[old].name, value->dtype);
    if (wide == HONE_NO_ID) return LOWER_NO_MEMORY();
    v->lets[old] = hone_func_var_expr(&v->lower->ir, func, wide);
    node = hone_func_node(func, id);
    node->u.let.var = wide;
    node->u.let.value = value;
    HONE_TRY(vectorize_children(v, id));
    return HONE_OK;
}

static hone_status vectorize_node(vectorizer *v, hone_node_id id) {
    hone_node *node = hone_func_node(v->lower->func, id);
    if (must_serialize(v->lower->func, id)) return serialize(v, id);
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_STORE:
        return vectorize_store(v, id);
    case HONE_NODE_FOR:
        if (depends(v, node->u.loop.range.min) || depends(v, node->u.loop.range.extent)) {
            return serialize(v, id);
        }
        if (!hone_arith_bind(v->arith, node->u.loop.var, node->u.loop.range)) {
            return LOWER_NO_MEMORY();
        }
        return vectorize_children(v, id);
    case HONE_NODE_IF:
        if (node->u.eval.value->dtype.lanes > 1) return serialize(v, id); /* of an inner vector */
        if (depends(v, node->u.eval.value)) return vectorize_if(v, id);
        return vectorize_children(v, id);
    case HONE_NODE_ELSE:
        return vectorize_children(v, id);
    case HONE_NODE_LET:
        return vectorize_let(v, id);
    default:
        return serialize(v, id);
    }
}

static hone_status vectorize_children(vectorizer *v, hone_node_id parent) {
    hone_node_id next;
    for (hone_node_id c = hone_func_node(v->lower->func, parent)->first; c != HONE_NO_ID;
         c = next) {
        next = hone_func_node(v->lower->func, c)->next;
        HONE_TRY(vectorize_node(v, c));
    }
    return HONE_OK;
}

static hone_status vectorize_loop(hone_lower *lower, hone_arith *arith, hone_node_id id) {
    hone_func *func = lower->func;
    hone_node *loop = hone_func_node(func, id);
    vectorizer v = {
        .lower = lower,
        .arith = arith,
        .var = loop->u.loop.var,
        .min = loop->u.loop.range.min,
        .lanes = (uint16_t)hone_expr_const(loop->u.loop.range.extent),
        .let_count = func->var_count,
    };
    v.lets = hone_arena_zalloc(func->arena, v.let_count * sizeof *v.lets);
    if (!v.lets) return LOWER_NO_MEMORY();
    HONE_TRY(vectorize_children(&v, id));
    HONE_TRY(lower_keep_wish(lower, id));
    lower_splice(func, id);
    return HONE_OK;
}

static int64_t largest_power_below(int64_t value) {
    int64_t power = 1;
    while (power * 2 <= value)
        power *= 2;
    return power;
}

static bool is_no_word(const void *ctx, const hone_expr *e) {
    const hone_func *func = ctx;
    return (e->kind == HONE_EXPR_LOAD && func->buffers[e->u.buffer].dtype.bits != 32) ||
           (e->kind == HONE_EXPR_CAST && e->dtype.bits != 32);
}

/* Whether a vector may have any number of lanes: the CPU loads and stores parts of a register,
 * which it does for elements of 32 bits, with AVX-512 for all. */
static bool can_be_partial(const hone_lower *lower, hone_node_id root) {
    const hone_func *func = lower->func;
    const hone_target *target = lower->options->target;
    if (!hone_target_has_feature(target, "avx2")) return false;
    if (hone_target_has_feature(target, "avx512vl") && hone_target_has_feature(target, "avx512bw"))
        return true;
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_STORE) continue;
        if (func->buffers[node->u.store.buffer].dtype.bits != 32) return false;
        if (hone_expr_find(node->u.store.value, is_no_word, func)) return false;
    }
    return true;
}

/* A vectorized loop that holds no other one; HONE_NO_ID when there is none. */
static hone_node_id innermost_vector_loop(const hone_func *func) {
    hone_node_id found = HONE_NO_ID;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (found != HONE_NO_ID && !hone_tree_is_ancestor(func, found, n)) return found;
        if (node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_VECTORIZED) found = n;
    }
    return found;
}

/* One iteration is one of numbers, not of vectors. */
static hone_status take_one(hone_lower *lower, hone_node_id id) {
    const hone_node *loop = hone_func_node(lower->func, id);
    HONE_TRY(lower_substitute_one(lower->func, id, loop->u.loop.var, loop->u.loop.range.min));
    lower_splice(lower->func, id);
    return HONE_OK;
}

static hone_status vectorize(hone_lower *lower, hone_arith *arith, hone_node_id id) {
    hone_func *func = lower->func;
    hone_node *loop = hone_func_node(func, id);
    int64_t extent = hone_expr_const(loop->u.loop.range.extent);
    if (extent < 1 || hone_tree_jump_of(func, id, true) != HONE_NO_ID) {
        loop->loop_kind = HONE_LOOP_SERIAL;
        return HONE_OK;
    }
    HONE_TRY(lower_bind_around(func, id, arith));
    int64_t run = lower_lanes_within_runs(lower, arith, id, extent);
    if (run < extent) {
        HONE_TRY(lower_cut_vector(lower, id, extent, run));
        HONE_TRY(lower_begin_at_zero(lower, id));
        HONE_TRY(lower_bind_around(func, id, arith));
        HONE_TRY(lower_simplify_indices(func, arith, id));
        extent = run;
    }
    if (extent == 1) return take_one(lower, id);
    int64_t natural = lower_vector_lanes(lower, id);
    int64_t lanes = largest_power_below(extent);
    bool is_one_vector =
        lanes == extent ? extent <= MAX_LANES : extent < natural && can_be_partial(lower, id);
    if (!is_one_vector)
        HONE_TRY(lower_cut_vector(lower, id, extent, lanes > natural ? natural : lanes));
    HONE_TRY(lower_bind_around(func, id, arith));
    return vectorize_loop(lower, arith, id);
}

hone_status lower_vectorize(hone_lower *lower) {
    hone_arith arith;
    hone_arith_init(&arith, lower->func->arena);
    if (!hone_arith_bind_sizes(&arith, lower->func)) return LOWER_NO_MEMORY();
    hone_node_id id;
    while ((id = innermost_vector_loop(lower->func)) != HONE_NO_ID) {
        HONE_TRY(vectorize(lower, &arith, id));
    }
    return hone_ir_finish(&arith.ir);
}
