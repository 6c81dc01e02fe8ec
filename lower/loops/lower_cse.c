/* lower/loops/lower_cse.c - the pass that computes common sub-expressions once.
 * needs: no blocks. keeps: what is computed, bit by bit. What is computed more than once gets a
 * name, in the innermost scope around all of its uses, in front of the first:
 *
 *   for y:                                  for y:
 *       A[x * 8 + y * 64] = ...                 let i = x * 8 + y * 64
 *       A[x * 8 + y * 64 + 1] = ...                 A[i] = ...
 *                                                   A[i + 1] = ...
 *
 * Index arithmetic without loads and without divisions by what may be 0 cannot fail, so conditions
 * do not hold it. What reads memory is shared within one store only, and only where it is evaluated
 * whatever conditions inside of the store say.
 *
 *   collect: each expression once for each binding of its variables ─► entries, children last
 *   place:   from large ones to small ones, since what is shared is a use of its parts
 *   insert:  LETs, indices around floats, small ones around large ones ─► rewrite: expressions in
 * terms of them */

#include "lower/ground/passes.h"

enum { MAX_ENTRIES = 20000 };

typedef struct entry {
    const hone_expr *e;
    uint64_t hash;
    hone_node_id binder; /* binds the innermost of its variables; for loads: the store */
    hone_node_id at;     /* the statement in front of which it dominates its uses */
    uint32_t uses, height;
    uint32_t parts[3], part_count; /* entries */
    const hone_expr *name;         /* the variable, once there is one */
} entry;

typedef struct sharer {
    hone_lower *lower;
    hone_func *func;
    hone_node_id *binders; /* by variable of the program given: what binds it here */
    uint32_t var_count;
    uint32_t *depth; /* by node of the program given */
    entry *entries;
    uint32_t count, capacity, max_height;
    uint32_t *slots; /* index + 1; open addressing */
    uint32_t slot_count;
    entry **named;   /* by variable that the pass made */
    hone_node_id at; /* the statement looked at */
    bool names_indices;
    bool has_memory;
} sharer;

/* ---- which expressions ---- */

static bool is_small_int(const hone_expr *e) {
    return hone_dtype_is_int(e->dtype) && e->dtype.lanes == 1;
}

static bool is_arithmetic(const hone_expr *e) {
    return e->kind == HONE_EXPR_BINARY && e->op != HONE_OP_AND && e->op != HONE_OP_OR &&
           is_small_int(e) && is_small_int(e->args[0]) && is_small_int(e->args[1]) &&
           !hone_expr_may_trap(e);
}

static bool is_index_leaf(const hone_expr *e) {
    return is_small_int(e) && (e->kind == HONE_EXPR_VAR || e->kind == HONE_EXPR_INT);
}

/* Index arithmetic of variables and constants alone. */
static bool is_index(const hone_expr *e) {
    if (is_index_leaf(e)) return true;
    return is_arithmetic(e) && is_index(e->args[0]) && is_index(e->args[1]);
}

/* x of x + 8: addresses have constants in them at no cost, so it is x that is shared. */
static const hone_expr *without_constant(const hone_expr *e) {
    while (is_index(e) && (hone_expr_is_op(e, HONE_OP_ADD) || hone_expr_is_op(e, HONE_OP_SUB)) &&
           hone_expr_is_int(e->args[1])) {
        e = e->args[0];
    }
    return e;
}

static bool is_float_work(const hone_expr *e) {
    if (!hone_dtype_is_float(e->dtype)) return false;
    if (e->kind == HONE_EXPR_BINARY) return hone_dtype_is_float(e->args[0]->dtype);
    return e->kind == HONE_EXPR_CALL && hone_intrin_is_pure((hone_intrin)e->op) &&
           hone_intrin_is_math((hone_intrin)e->op);
}

/* ---- entries ---- */

static uint64_t mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

static uint64_t hash_of(const hone_expr *e) {
    uint64_t h = mix(e->kind, ((uint64_t)e->op << 32) ^ e->dtype.bits ^
                                  ((uint64_t)e->dtype.lanes << 16) ^ e->count);
    if (e->kind == HONE_EXPR_INT) h = mix(h, (uint64_t)e->u.i);
    if (e->kind == HONE_EXPR_VAR) h = mix(h, e->u.var);
    if (e->kind == HONE_EXPR_LOAD) h = mix(h, e->u.buffer);
    for (uint32_t i = 0; i < e->count; i++)
        h = mix(h, hash_of(e->args[i]));
    return h;
}

typedef struct binding {
    const sharer *s;
    hone_node_id innermost;
} binding;

static bool note_binder(void *ctx, const hone_expr *e) {
    binding *b = ctx;
    if (e->kind != HONE_EXPR_VAR || e->u.var >= b->s->var_count) return true;
    hone_node_id binder = b->s->binders[e->u.var];
    if (b->s->depth[binder] > b->s->depth[b->innermost]) b->innermost = binder;
    return true;
}

static hone_node_id binder_of(const sharer *s, const hone_expr *e) {
    binding b = {s, 0};
    if (!is_small_int(e)) return s->at;
    hone_expr_walk(e, note_binder, &b);
    return b.innermost;
}

/* The slot of the entry, or the free one for it. */
static uint32_t *find_slot(const sharer *s, const hone_expr *e, uint64_t hash,
                           hone_node_id binder) {
    for (uint32_t i = (uint32_t)hash & (s->slot_count - 1);; i = (i + 1) & (s->slot_count - 1)) {
        const entry *at = s->slots[i] ? &s->entries[s->slots[i] - 1] : NULL;
        if (!at) return &s->slots[i];
        if (at->hash == hash && at->binder == binder && hone_expr_same(at->e, e)) {
            return &s->slots[i];
        }
    }
}

/* ---- places ---- */

static hone_node_id parent_of(const sharer *s, hone_node_id id) {
    return hone_func_node(s->func, id)->parent;
}

/* Which of two siblings comes first. */
static hone_node_id first_of(const sharer *s, hone_node_id a, hone_node_id b) {
    for (hone_node_id n = a; n != HONE_NO_ID; n = hone_func_node(s->func, n)->next) {
        if (n == b) return a;
    }
    return b;
}

static bool is_alternative(const sharer *s, hone_node_id id) {
    return hone_func_node(s->func, id)->kind == HONE_NODE_ELSE;
}

/* The statement in front of which a value reaches both. */
static hone_node_id dominator(const sharer *s, hone_node_id a, hone_node_id b) {
    while (a != b) {
        hone_node_id up_a = parent_of(s, a), up_b = parent_of(s, b);
        if (s->depth[a] > s->depth[b]) {
            a = up_a;
        } else if (s->depth[b] > s->depth[a]) {
            b = up_b;
        } else if (up_a == up_b && !is_alternative(s, a) && !is_alternative(s, b)) {
            a = b = first_of(s, a, b);
        } else { /* what both branches of a choice use stands in front of the choice */
            a = up_a;
            b = up_b;
        }
    }
    return a;
}

static void add_use(sharer *s, entry *e, hone_node_id at) {
    e->uses++;
    e->at = e->at == HONE_NO_ID ? at : dominator(s, e->at, at);
}

/* ---- collecting ---- */

static void collect(sharer *s, const hone_expr *e, bool is_sure);

static uint32_t enter(sharer *s, const hone_expr *e) {
    uint64_t hash = hash_of(e);
    hone_node_id binder = binder_of(s, e);
    uint32_t *slot = find_slot(s, e, hash, binder);
    if (*slot) return *slot - 1;
    if (s->count == s->capacity) return HONE_NO_ID;
    uint32_t id = s->count++;
    *slot = id + 1;
    entry *new = &s->entries[id];
    *new = (entry){.e = e, .hash = hash, .binder = binder, .at = HONE_NO_ID, .height = 1};
    for (uint32_t i = 0; i < e->count; i++) {
        const hone_expr *arg = without_constant(e->args[i]);
        if (is_index_leaf(arg)) continue;
        if (!is_small_int(e) && !is_float_work(arg)) {
            collect(s, arg, true);
            continue;
        }
        uint32_t part = enter(s, arg);
        if (part == HONE_NO_ID || new->part_count == HONE_COUNT(new->parts)) continue;
        new->parts[new->part_count++] = part;
        uint32_t height = s->entries[part].height + 1;
        if (height > new->height) new->height = height;
    }
    if (new->height > s->max_height) s->max_height = new->height;
    return id;
}

/* What is evaluated in some cases only. */
static bool is_conditional(const hone_expr *e, uint32_t argument) {
    if (e->kind == HONE_EXPR_SELECT || hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE)) {
        return argument > 0;
    }
    return (hone_expr_is_op(e, HONE_OP_AND) || hone_expr_is_op(e, HONE_OP_OR)) && argument > 0;
}

static void collect(sharer *s, const hone_expr *e, bool is_sure) {
    bool is_in_store = hone_func_node(s->func, s->at)->kind == HONE_NODE_STORE;
    e = without_constant(e);
    if (is_index_leaf(e)) return;
    if (is_index(e) || (is_sure && is_in_store && is_float_work(e))) {
        uint32_t id = enter(s, e);
        if (id != HONE_NO_ID) add_use(s, &s->entries[id], s->at);
        return;
    }
    if (e->kind == HONE_EXPR_LET) return; /* binds variables of its own */
    for (uint32_t i = 0; i < e->count; i++)
        collect(s, e->args[i], is_sure && !is_conditional(e, i));
}

/* Below a condition on lanes there are stores alone: what they share stands in front of it. */
static hone_node_id without_masks(const sharer *s, hone_node_id id) {
    for (;;) {
        hone_node_id up = parent_of(s, id);
        if (up == HONE_NO_ID) return id;
        const hone_node *node = hone_func_node(s->func, up);
        if (node->kind != HONE_NODE_IF || node->u.eval.value->dtype.lanes == 1) return id;
        id = up;
    }
}

/* Calls visit for the expressions of a statement; what it returns stands there then. */
typedef const hone_expr *(*visit_expr)(sharer *s, const hone_expr *e);

static void visit_statement(sharer *s, hone_node_id id, visit_expr visit) {
    hone_node *node = hone_func_node(s->func, id);
    s->at = without_masks(s, id);
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
        node->u.loop.range.min = visit(s, node->u.loop.range.min);
        node->u.loop.range.extent = visit(s, node->u.loop.range.extent);
        s->binders[node->u.loop.var] = id;
        return;
    case HONE_NODE_IF:
    case HONE_NODE_WHILE:
    case HONE_NODE_EVAL:
        node->u.eval.value = visit(s, node->u.eval.value);
        return;
    case HONE_NODE_LET:
        node->u.let.value = visit(s, node->u.let.value);
        if (node->u.let.var < s->var_count) s->binders[node->u.let.var] = id;
        return;
    case HONE_NODE_STORE: {
        const hone_expr **indices =
            hone_arena_alloc(s->func->arena, (node->u.store.rank + 1) * sizeof *indices);
        if (!indices) {
            s->has_memory = false;
            return;
        }
        for (uint32_t d = 0; d < node->u.store.rank; d++)
            indices[d] = visit(s, node->u.store.indices[d]);
        node->u.store.indices = indices;
        node->u.store.value = visit(s, node->u.store.value);
        return;
    }
    default:
        return;
    }
}

static const hone_expr *collect_expr(sharer *s, const hone_expr *e) {
    collect(s, e, true);
    return e;
}

/* ---- names ---- */

/* Calls visit for the entries by height, from..to inclusive. */
static hone_status by_height(sharer *s, int from, int to,
                             hone_status (*visit)(sharer *s, entry *e)) {
    int step = from < to ? 1 : -1;
    for (int h = from; h > 0 && h != to + step; h += step) {
        for (uint32_t i = 0; i < s->count; i++) {
            if ((int)s->entries[i].height == h) HONE_TRY(visit(s, &s->entries[i]));
        }
    }
    return HONE_OK;
}

static hone_status place_parts(sharer *s, entry *e) {
    if (e->at == HONE_NO_ID) return HONE_OK;
    for (uint32_t i = 0; i < e->part_count; i++)
        add_use(s, &s->entries[e->parts[i]], e->at);
    return HONE_OK;
}

/* A LET around the statement and all that follow it. */
static hone_status name_entry(sharer *s, entry *e) {
    hone_func *func = s->func;
    bool is_index = is_small_int(e->e);
    if (e->uses < 2 || e->at == HONE_NO_ID || is_index != s->names_indices) return HONE_OK;
    hone_node_id let = hone_func_add_node(func, HONE_NODE_LET);
    hone_var var = hone_func_add_var(func, is_index ? "at" : "value", e->e->dtype);
    if (let == HONE_NO_ID || var == HONE_NO_ID) return LOWER_NO_MEMORY();
    func->vars[var].is_index = is_index;
    s->named[var - s->var_count] = e;
    e->name = hone_func_var_expr(&s->lower->ir, func, var);
    if (!e->name) return hone_ir_finish(&s->lower->ir);
    hone_func_node(func, let)->u.let.var = var;
    hone_func_node(func, let)->u.let.value = e->e;
    hone_tree_insert_before(func, e->at, let);
    for (hone_node_id n = e->at, next; n != HONE_NO_ID && !is_alternative(s, n); n = next) {
        next = hone_func_node(func, n)->next;
        hone_tree_remove(func, n);
        hone_tree_append(func, let, n);
    }
    return HONE_OK;
}

static const hone_expr *rewrite(sharer *s, const hone_expr *e);

static const hone_expr *rewrite_args(sharer *s, const hone_expr *e) {
    hone_ir *ir = &s->lower->ir;
    if (e->count == 0 || e->kind == HONE_EXPR_LET) return e;
    const hone_expr **args = hone_arena_alloc(ir->arena, e->count * sizeof *args);
    if (!args) {
        s->has_memory = false;
        return e;
    }
    bool is_same = true;
    for (uint32_t i = 0; i < e->count; i++) {
        args[i] = rewrite(s, e->args[i]);
        is_same &= args[i] == e->args[i];
    }
    const hone_expr *out = is_same ? e : hone_expr_with_args(ir, e, args);
    if (!out) s->has_memory = false;
    return out ? out : e;
}

static const hone_expr *rewrite(sharer *s, const hone_expr *e) {
    if (is_index_leaf(e)) return e;
    if (is_index(e) || is_float_work(e)) {
        uint32_t slot = *find_slot(s, e, hash_of(e), binder_of(s, e));
        if (slot && s->entries[slot - 1].name) return s->entries[slot - 1].name;
    }
    return rewrite_args(s, e);
}

/* A shared value in terms of its shared parts. */
static void rewrite_name(sharer *s, hone_node_id let, const entry *e) {
    s->at = is_small_int(e->e) ? let : e->binder;
    hone_func_node(s->func, let)->u.let.value = rewrite_args(s, e->e);
}

static hone_status rewrite_all(sharer *s) {
    for (hone_node_id n = 0; n != HONE_NO_ID && s->has_memory; n = hone_tree_next(s->func, 0, n)) {
        const hone_node *node = hone_func_node(s->func, n);
        if (node->kind == HONE_NODE_LET && node->u.let.var >= s->var_count)
            rewrite_name(s, n, s->named[node->u.let.var - s->var_count]);
        else
            visit_statement(s, n, rewrite);
    }
    return hone_ir_finish(&s->lower->ir);
}

/* ---- the pass ---- */

static bool count_work(void *ctx, const hone_expr *e) {
    *(uint32_t *)ctx += is_small_int(e) || is_float_work(e);
    return true;
}

static bool prepare(sharer *s) {
    hone_func *func = s->func;
    hone_tree_walk_parts(func, 0, false, count_work, &s->capacity);
    if (s->capacity > MAX_ENTRIES) s->capacity = MAX_ENTRIES;
    s->slot_count = 16;
    while (s->slot_count < 2 * s->capacity)
        s->slot_count *= 2;
    s->var_count = func->var_count;
    s->entries = hone_arena_alloc(func->arena, (s->capacity + 1) * sizeof *s->entries);
    s->named = hone_arena_alloc(func->arena, (s->capacity + 1) * sizeof *s->named);
    s->slots = hone_arena_zalloc(func->arena, s->slot_count * sizeof *s->slots);
    s->binders = hone_arena_zalloc(func->arena, (func->var_count + 1) * sizeof *s->binders);
    s->depth = hone_arena_zalloc(func->arena, (func->node_count + 1) * sizeof *s->depth);
    return s->entries && s->named && s->slots && s->binders && s->depth;
}

hone_status lower_cse(hone_lower *lower) {
    hone_func *func = lower->func;
    sharer s = {.lower = lower, .func = func, .has_memory = true};
    if (!prepare(&s)) return LOWER_NO_MEMORY();
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        if (n != 0) s.depth[n] = s.depth[parent_of(&s, n)] + 1;
        visit_statement(&s, n, collect_expr);
    }
    HONE_TRY(by_height(&s, (int)s.max_height, 1, place_parts));
    s.names_indices = true; /* first: what floats are loaded from stands around them */
    HONE_TRY(by_height(&s, 1, (int)s.max_height, name_entry));
    s.names_indices = false;
    HONE_TRY(by_height(&s, 1, (int)s.max_height, name_entry));
    return s.has_memory ? rewrite_all(&s) : LOWER_NO_MEMORY();
}
