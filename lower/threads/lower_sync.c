/* lower/threads/lower_sync.c - the pass that lets threads wait for each other.
 * needs: launches with each axis once around. keeps: what is computed, which before was what
 * threads do one after the other. A sync of the block goes in front of a statement that touches
 * what another thread touched since the last one, where one of the two writes it; nowhere else.
 *
 * A statement in a loop also meets those behind it, of the iteration before. All threads must come
 * to a sync: a condition on which they do not agree is asked around each statement below instead of
 * around all of them, where a sync stands in between. A program that says that it has its syncs is
 * left as it is. */
#include <string.h>

#include "lower/threads/hazards.h"

typedef struct syncer {
    hazards h;
    touches open;   /* since the last sync, on the way to here */
    uint32_t depth; /* of what some threads pass by */
    bool is_stuck;  /* a sync is wanted where some threads pass by */
} syncer;

static hone_status visit(syncer *s, hone_node_id id);

static hone_status insert_before(syncer *s, hone_node_id id) {
    hone_node_id sync;
    s->is_stuck |= s->depth > 0;
    s->open.count = 0;
    if (s->is_stuck) return HONE_OK;
    HONE_TRY(lower_new_sync(s->h.lower, &sync));
    hone_tree_insert_before(s->h.lower->func, id, sync);
    return HONE_OK;
}

/* The statement comes behind all that is open. */
static hone_status come_to(syncer *s, hone_node_id before, const touches *now) {
    if (hazards_meet(&s->h, &s->open, now)) HONE_TRY(insert_before(s, before));
    return HONE_OK;
}

static hone_status visit_children(syncer *s, hone_node_id id) {
    const hone_func *func = s->h.lower->func;
    for (hone_node_id c = hone_func_node(func, id)->first, next; c != HONE_NO_ID; c = next) {
        next = hone_func_node(func, c)->next;
        if (hone_func_node(func, c)->kind != HONE_NODE_ELSE) HONE_TRY(visit(s, c));
    }
    return HONE_OK;
}

/* What the node itself touches: a store, a condition, bounds. */
static hone_status visit_own(syncer *s, hone_node_id id) {
    touches now = {0};
    HONE_TRY(hazards_add_own(&s->h, id, &now));
    HONE_TRY(come_to(s, id, &now));
    return hazards_join(&s->h, &s->open, &now);
}

/* ---- what only some threads come to ---- */

/* True: nothing was wanted in there that must not be. The state afterwards is as if all of it had
 * been done. */
static hone_status visit_apart(syncer *s, hone_node_id id, bool is_loop, bool *out_is_fine) {
    const hone_func *func = s->h.lower->func;
    touches all = {0}, entry, none = {0};
    HONE_TRY(hazards_add_below(&s->h, id, &all));
    bool was_stuck = s->is_stuck;
    entry = s->open;
    s->open = none;
    s->is_stuck = false;
    s->depth++;
    for (int round = 0; round < (is_loop ? 2 : 1); round++)
        HONE_TRY(visit_children(s, id));
    bool is_if = hone_func_node(func, id)->kind == HONE_NODE_IF;
    if (is_if && lower_has_else(func, id)) {
        s->open = none;
        HONE_TRY(visit_children(s, hone_func_node(func, id)->last));
    }
    s->depth--;
    *out_is_fine = !s->is_stuck;
    s->is_stuck = was_stuck;
    s->open = entry;
    return hazards_join(&s->h, &s->open, &all);
}

static hone_status refuse(const char *what) {
    return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                      "threads would have to wait for each other in %s, which not all of them run "
                      "equally often",
                      what);
}

/* if c: name = value: A   ──►   name = value where c holds: if c: A */
static hone_status hold_let(syncer *s, hone_node_id id, const hone_expr *condition) {
    hone_lower *lower = s->h.lower;
    hone_node *node = hone_func_node(lower->func, id);
    const hone_expr *value = node->u.let.value;
    if (hone_expr_may_fail(value)) {
        bool is_float = hone_dtype_is_float(value->dtype);
        const hone_expr *zero = is_float ? hone_expr_float(&lower->ir, value->dtype, 0)
                                         : hone_expr_int(&lower->ir, value->dtype, 0);
        const hone_expr *args[] = {condition, value, zero};
        node->u.let.value =
            hone_expr_call(&lower->ir, value->dtype, HONE_INTRIN_IF_THEN_ELSE, 3, args);
    }
    HONE_TRY(hone_ir_finish(&lower->ir));
    s->h.differs[node->u.let.var] = true;
    return lower_guard_children(lower->func, id, condition);
}

/* if c: A, else: B   ──►   if c: A; if not c: B, where c is d or outer and d */
static hone_status part_else(syncer *s, hone_node_id id, const hone_expr *outer) {
    hone_ir *ir = &s->h.lower->ir;
    hone_func *func = s->h.lower->func;
    const hone_expr *inner = hone_func_node(func, id)->u.eval.value;
    if (lower_has_else(func, id)) {
        hone_node_id last = hone_func_node(func, id)->last;
        hone_node_id other = hone_func_add_node(func, HONE_NODE_IF);
        if (other == HONE_NO_ID) return LOWER_NO_MEMORY();
        hone_func_node(func, other)->u.eval.value =
            outer ? lower_and(ir, outer, hone_expr_not(ir, inner)) : hone_expr_not(ir, inner);
        hone_tree_remove(func, last);
        hone_tree_move_children(func, last, other);
        hone_tree_insert_after(func, id, other);
    }
    if (outer) hone_func_node(func, id)->u.eval.value = lower_and(ir, outer, inner);
    return hone_ir_finish(ir);
}

static bool runs_alike(const syncer *s, const hone_node *loop) {
    const hone_range *range = &loop->u.loop.range;
    return hazards_is_uniform(&s->h, range->min) && hazards_is_uniform(&s->h, range->extent);
}

static hone_status hold_below(syncer *s, hone_node_id id, const hone_expr *condition) {
    hone_func *func = s->h.lower->func;
    const hone_node *node = hone_func_node(func, id);
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_LET:
        return hold_let(s, id, condition);
    case HONE_NODE_IF:
        return part_else(s, id, condition);
    case HONE_NODE_FOR:
        if (!runs_alike(s, node)) return lower_wrap_if(s->h.lower, condition, id);
        return lower_guard_children(func, id, condition);
    case HONE_NODE_ALLOC:
    case HONE_NODE_DECL:
    case HONE_NODE_ATTR:
        return lower_guard_children(func, id, condition);
    default:
        return lower_wrap_if(s->h.lower, condition, id);
    }
}

/* The condition gets a name, since what it asks may change below. */
static hone_status name_condition(syncer *s, hone_node_id choice, hone_node_id *out_let) {
    hone_lower *lower = s->h.lower;
    hone_func *func = lower->func;
    const hone_expr *condition = hone_func_node(func, choice)->u.eval.value;
    hone_var var = hone_func_add_var(func, "holds", condition->dtype);
    bool *differs = hone_arena_zalloc(func->arena, func->var_count + 1);
    *out_let = hone_func_add_node(func, HONE_NODE_LET);
    if (var == HONE_NO_ID || *out_let == HONE_NO_ID || !differs) return LOWER_NO_MEMORY();
    memcpy(differs, s->h.differs, var);
    differs[var] = true;
    s->h.differs = differs;
    hone_node *let = hone_func_node(func, *out_let);
    let->u.let.var = var;
    let->u.let.value = condition;
    lower_wrap(func, choice, *out_let);
    hone_func_node(func, choice)->u.eval.value = hone_expr_var(&lower->ir, condition->dtype, var);
    return hone_ir_finish(&lower->ir);
}

/* Asks a condition around each statement instead of around all of them, and visits these. */
static hone_status spread_condition(syncer *s, hone_node_id choice) {
    hone_func *func = s->h.lower->func;
    const hone_expr *condition = hone_func_node(func, choice)->u.eval.value;
    if (!lower_stays_true(func, choice, condition)) {
        hone_node_id let;
        HONE_TRY(name_condition(s, choice, &let));
        return visit(s, let);
    }
    hone_node_id stop = hone_func_node(func, choice)->next;
    HONE_TRY(part_else(s, choice, NULL));
    for (hone_node_id c = hone_func_node(func, choice)->first, next; c != HONE_NO_ID; c = next) {
        next = hone_func_node(func, c)->next;
        HONE_TRY(hold_below(s, c, condition));
    }
    hone_node_id first = hone_func_node(func, choice)->first;
    lower_splice(func, choice);
    for (hone_node_id c = first, next; c != stop && c != HONE_NO_ID; c = next) {
        next = hone_func_node(func, c)->next;
        HONE_TRY(visit(s, c));
    }
    return HONE_OK;
}

/* A sync in front of all of it, where something in it comes behind what is open. */
static hone_status come_to_all(syncer *s, hone_node_id id) {
    touches all = {0};
    HONE_TRY(hazards_add_below(&s->h, id, &all));
    return come_to(s, id, &all);
}

static hone_status visit_divergent_if(syncer *s, hone_node_id id) {
    bool is_fine;
    HONE_TRY(come_to_all(s, id));
    const touches before = s->open;
    HONE_TRY(visit_apart(s, id, false, &is_fine));
    if (is_fine) return HONE_OK;
    s->is_stuck |= s->depth > 0;
    if (s->depth > 0) return HONE_OK;
    s->open = before;
    return spread_condition(s, id);
}

/* ---- what all threads come to ---- */

/* Either side may have been taken. */
static hone_status visit_uniform_if(syncer *s, hone_node_id id) {
    const hone_func *func = s->h.lower->func;
    touches entry = {0}, then;
    HONE_TRY(hazards_join(&s->h, &entry, &s->open));
    HONE_TRY(visit_children(s, id));
    then = s->open;
    s->open = entry;
    if (lower_has_else(func, id)) HONE_TRY(visit_children(s, hone_func_node(func, id)->last));
    return hazards_join(&s->h, &s->open, &then);
}

static bool writes(const touches *t) {
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->items[i].is_write) return true;
    }
    return false;
}

/* Once around, and once more behind the iteration before. */
static hone_status visit_uniform_loop(syncer *s, hone_node_id id) {
    const hone_func *func = s->h.lower->func;
    const hone_expr *extent = hone_func_node(func, id)->u.loop.range.extent;
    touches all = {0}, entry = {0};
    HONE_TRY(hazards_add_below(&s->h, id, &all));
    HONE_TRY(come_to(s, id, &all));
    if (!writes(&all)) return hazards_join(&s->h, &s->open, &all);
    HONE_TRY(hazards_join(&s->h, &entry, &s->open));
    HONE_TRY(visit_children(s, id));
    if (!hone_expr_is_int_value(extent, 1)) HONE_TRY(visit_children(s, id));
    bool may_be_empty = !hone_expr_is_int(extent) || extent->u.i < 1;
    return may_be_empty ? hazards_join(&s->h, &s->open, &entry) : HONE_OK;
}

static hone_status visit_loop(syncer *s, hone_node_id id) {
    hone_func *func = s->h.lower->func;
    hone_node *loop = hone_func_node(func, id);
    bool is_fine,
        is_plain = loop->loop_kind == HONE_LOOP_SERIAL || loop->loop_kind == HONE_LOOP_UNROLLED;
    bool is_uniform = loop->kind == HONE_NODE_FOR && runs_alike(s, loop) &&
                      hone_tree_jump_of(func, id, true) == HONE_NO_ID;
    HONE_TRY(visit_own(s, id));
    if (is_uniform && is_plain) return visit_uniform_loop(s, id);
    HONE_TRY(come_to_all(s, id));
    HONE_TRY(visit_apart(s, id, true, &is_fine));
    if (is_fine) return HONE_OK;
    if (!is_uniform) return refuse("a loop");
    s->is_stuck |= s->depth > 0;
    if (s->depth > 0) return HONE_OK;
    hone_func_node(func, id)->loop_kind = HONE_LOOP_SERIAL;
    return visit_uniform_loop(s, id);
}

static hone_status visit(syncer *s, hone_node_id id) {
    const hone_node *node = hone_func_node(s->h.lower->func, id);
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
    case HONE_NODE_WHILE:
        return visit_loop(s, id);
    case HONE_NODE_IF:
        HONE_TRY(visit_own(s, id));
        return hazards_is_uniform(&s->h, node->u.eval.value) ? visit_uniform_if(s, id)
                                                             : visit_divergent_if(s, id);
    case HONE_NODE_EVAL:
        if (lower_call_sort_of(node->u.eval.value) != LOWER_CALL_SYNC) return visit_own(s, id);
        s->open.count = 0;
        return HONE_OK;
    default:
        HONE_TRY(visit_own(s, id));
        return visit_children(s, id);
    }
}

hone_status lower_sync(hone_lower *lower) {
    hone_func *func = lower->func;
    syncer s = {.h.lower = lower};
    if (hone_attrs_find(&func->attrs, HONE_LOWER_SYNCED)) return HONE_OK;
    hone_arith_init(&s.h.arith, func->arena);
    for (hone_node_id n = lower_next_launch(func, HONE_NODE_TOP); n != HONE_NO_ID;
         n = lower_next_launch(func, n)) {
        HONE_TRY(hazards_enter(&s.h, n));
        if (!hazards_has_threads(&s.h)) continue;
        s.open = (touches){0};
        HONE_TRY(visit_children(&s, s.h.body));
        if (s.is_stuck) return refuse("what stands there");
    }
    return hone_ir_finish(&s.h.arith.ir);
}
