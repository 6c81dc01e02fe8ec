/* lower/dot/lower_dot_offset.c - sums of B that products begin with.
 *
 * VNNI multiplies unsigned by signed bytes: A of signed ones is raised by 128 for it. What that
 * adds is 128 times a sum of B, and is taken away beforehand; so is what a zero point of A makes,
 * (A - x) * B. That sum is collected once, in front of all loops that B does not know:
 *
 *   for i0:                                  for j: lack[j] = 0
 *     C[i0] = 0                                for k: lack[j] = dot4(lack[j], 1, B[k, j])
 *     for k, i1, j: (i = i0, i1)               lack[j] = lack[j] * (0 - x - 128)
 *       C[i, j] = dot4(C[i, j],         ⇒    for i0:
 *                  A[i, k] - x, B[k, j])       C[i0] = 0
 *                                              for i1, j: C[i, j] = C[i, j] + lack[j]
 *                                              for k, i1, j:
 *                                                C[i, j] = dot4(C[i, j], A[i, k] + 128, B[k, j])
 *
 * All of it is exact, as int32 wraps around. It pays where B serves several rows; else what is too
 * much is collected beside the products, by the code generator for VNNI. A is raised as it is read,
 * or once for all (lower_dot_raise.c). */
#include "lower/dot/dot.h"
#include "lower/ground/accesses.h"
#include "lower/ground/split_loop.h"

enum {
    MAX_DEPTH = 24,
    MAX_KEPT = 1 << 15, /* elements of lack */
    MIN_ROWS = 2,
    CHAIN_LANES = 64, /* of sums of B side by side: four registers */
};

/* A loop around the dot. */
typedef struct around {
    hone_node_id node; /* a FOR, or an ALLOC or DECL */
    bool by_b, by_c;   /* B, C move with it */
    bool is_kept;      /* lack has a dimension for it */
    bool is_for;
    int64_t extent; /* -1: not constant */
} around;

typedef struct plan {
    const lower_dot_match *d;
    uint32_t count;
    around path[MAX_DEPTH]; /* from the inside out */
    uint32_t sum;           /* the outermost loop that adds to the same C */
    uint32_t top;           /* lack is collected in front of it */
    bool is_raised;
    hone_buffer lack;
    hone_var fresh[MAX_DEPTH]; /* per loop of path: its variable in the copies */
} plan;

static hone_node *node_of(const plan *p, uint32_t i) {
    return hone_func_node(p->d->lower->func, p->path[i].node);
}

/* ---- where ---- */

typedef struct scan {
    const hone_func *func;
    hone_buffer storage;
    uint32_t loads;
    bool is_touched; /* but by what adds to it: more of that changes nothing */
    bool is_written;
    bool is_opaque;
} scan;

static bool scan_expr(void *ctx, const hone_expr *e) {
    scan *s = ctx;
    if (e->kind == HONE_EXPR_LOAD) {
        s->loads += hone_func_storage(s->func, e->u.buffer) == s->storage;
    }
    s->is_opaque |= lower_has_effects(e);
    return true;
}

/* Whether e is what is stored at store, and something more. */
static bool adds_to(const hone_node *store, const hone_expr *e) {
    if (e->kind == HONE_EXPR_LOAD) {
        return e->u.buffer == store->u.store.buffer && e->count == store->u.store.rank &&
               e->count == 1 && hone_expr_same(e->args[0], store->u.store.indices[0]);
    }
    if (hone_expr_is_op(e, HONE_OP_ADD)) {
        return adds_to(store, e->args[0]) || adds_to(store, e->args[1]);
    }
    if (hone_expr_is_op(e, HONE_OP_SUB)) return adds_to(store, e->args[0]);
    return e->kind == HONE_EXPR_CALL && (e->op == HONE_INTRIN_DOT4 || e->op == HONE_INTRIN_DOT2) &&
           adds_to(store, e->args[0]);
}

static void scan_top(void *ctx, hone_node_id at, const hone_expr *e) {
    scan *s = ctx;
    const hone_node *node = hone_func_node(s->func, at);
    bool is_step = node->kind == HONE_NODE_STORE && e == node->u.store.value && adds_to(node, e);
    s->loads = 0;
    hone_expr_walk(e, scan_expr, s);
    s->is_touched |= s->loads > (is_step ? 1 : 0);
}

static bool is_store_to(const scan *s, const hone_node *node) {
    return node->kind == HONE_NODE_STORE &&
           hone_func_storage(s->func, node->u.store.buffer) == s->storage;
}

/* What happens to a buffer below a node. */
static scan look(const hone_func *func, hone_node_id root, hone_buffer buffer) {
    scan s = {.func = func, .storage = hone_func_storage(func, buffer)};
    hone_tree_walk_exprs(func, root, false, scan_top, &s);
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (is_store_to(&s, node)) {
            s.is_written = true;
            s.is_touched |= !adds_to(node, node->u.store.value);
        }
        bool is_alloc = node->kind == HONE_NODE_ALLOC || node->kind == HONE_NODE_DECL;
        if (is_alloc && hone_func_storage(func, node->u.alloc.buffer) == s.storage) {
            s.is_written = s.is_touched = true;
        }
    }
    return s;
}

bool lower_dot_is_changed(const hone_func *func, hone_node_id root, hone_buffer buffer) {
    scan s = look(func, root, buffer);
    return s.is_written || s.is_opaque;
}

/* The loops around the dot, as far as they can be copied. */
static void find_path(plan *p, const hone_expr *b, const hone_expr *c) {
    const hone_func *func = p->d->lower->func;
    hone_node_id n = hone_func_node(func, p->d->outer)->parent;
    for (; n != HONE_NO_ID && p->count < MAX_DEPTH; n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        around *at = &p->path[p->count];
        *at = (around){.node = n, .is_for = node->kind == HONE_NODE_FOR, .extent = -1};
        if (!at->is_for && node->kind != HONE_NODE_ALLOC && node->kind != HONE_NODE_DECL) return;
        if (at->is_for) {
            hone_var var = node->u.loop.var;
            if (node->loop_kind == HONE_LOOP_VECTORIZED || node->loop_kind == HONE_LOOP_THREAD) {
                return;
            }
            at->by_b = hone_expr_uses_var(b, var);
            at->by_c = hone_expr_uses_var(c, var);
            at->extent = hone_expr_const(node->u.loop.range.extent);
        }
        p->count++;
    }
}

/* Whether the bounds of a loop further in know the loop at i. */
static bool bounds_know(const plan *p, uint32_t i) {
    hone_var var = node_of(p, i)->u.loop.var;
    for (uint32_t k = 0; k < i; k++) {
        if (!p->path[k].is_for) continue;
        const hone_range *range = &node_of(p, k)->u.loop.range;
        if (hone_expr_uses_var(range->min, var) || hone_expr_uses_var(range->extent, var)) {
            return true;
        }
    }
    return false;
}

/* The loops up to sum run over a box of constant size, in which nobody else touches C. */
static bool is_sum(const plan *p, uint32_t sum) {
    const lower_dot_match *d = p->d;
    const hone_func *func = d->lower->func;
    if (!p->path[sum].is_for || p->path[sum].by_c) return false;
    for (uint32_t i = 0; i <= sum; i++) {
        if (!p->path[i].is_for) continue;
        if (p->path[i].extent < 1 || bounds_know(p, i)) return false;
        if (node_of(p, i)->loop_kind == HONE_LOOP_PARALLEL) return false;
    }
    hone_buffer to = hone_func_node(func, d->store)->u.store.buffer;
    scan of_c = look(func, p->path[sum].node, to);
    scan of_b = look(func, p->path[sum].node, d->b_buffer);
    return !of_c.is_touched && !of_c.is_opaque && !of_b.is_written;
}

/* How far out lack can be collected, and whether that pays. */
static bool find_top(plan *p, uint32_t sum) {
    const lower_dot_match *d = p->d;
    int64_t kept = d->count, rows = 1;
    p->sum = p->top = sum;
    for (uint32_t i = 0; i < sum; i++) {
        around *at = &p->path[i];
        at->is_kept = at->by_b && at->by_c;
        if (!at->is_for) continue;
        if (at->is_kept && __builtin_mul_overflow(kept, at->extent, &kept)) return false;
        if (at->by_c && !at->by_b) rows = rows < MIN_ROWS ? rows * at->extent : rows;
    }
    if (kept > MAX_KEPT) return false;
    for (uint32_t i = sum + 1; i < p->count; i++) {
        around *at = &p->path[i];
        if (!at->is_for) {
            hone_buffer buffer = node_of(p, i)->u.alloc.buffer;
            hone_func *func = d->lower->func;
            if (hone_func_storage(func, buffer) == hone_func_storage(func, d->b_buffer)) break;
            continue;
        }
        scan of_b = look(d->lower->func, at->node, d->b_buffer);
        if (at->extent < 1 || bounds_know(p, i) || of_b.is_written || of_b.is_opaque) break;
        if (at->by_b) {
            if (__builtin_mul_overflow(kept, at->extent, &kept) || kept > MAX_KEPT) break;
            continue;
        }
        if (at->extent > 1) p->top = i;
        if (rows < MIN_ROWS) rows *= at->extent;
    }
    for (uint32_t i = sum; i <= p->top; i++)
        p->path[i].is_kept = p->path[i].by_b && i > sum;
    return rows >= MIN_ROWS;
}

static bool find_place(plan *p) {
    for (uint32_t i = p->count; i > 0; i--) {
        if (is_sum(p, i - 1) && find_top(p, i - 1)) return true;
    }
    return false;
}

/* ---- making ---- */

/* Of C. */
static hone_dtype dtype_of(const plan *p) {
    const hone_func *func = p->d->lower->func;
    return func->buffers[hone_func_node(func, p->d->store)->u.store.buffer].dtype;
}

/* The place in lack, by the loops' own variables or by those of the copies. */
static const hone_expr *lack_index(const plan *p, bool is_copy) {
    const hone_func *func = p->d->lower->func;
    hone_ir *ir = &p->d->lower->ir;
    const hone_expr *index = hone_expr_i32(ir, 0);
    int64_t stride = p->d->count;
    for (uint32_t i = 0; i <= p->top; i++) {
        if (!p->path[i].is_kept) continue;
        const hone_node *node = node_of(p, i);
        bool has_copy = is_copy || i < p->sum;
        hone_var var = has_copy ? p->fresh[i] : node->u.loop.var;
        const hone_expr *at = hone_func_var_expr(ir, func, var);
        at = at ? hone_expr_sub(ir, at, node->u.loop.range.min) : NULL;
        at = at ? hone_expr_cast(ir, HONE_DTYPE_I32, at) : NULL;
        at = at ? hone_expr_mul(ir, at, hone_expr_int(ir, HONE_DTYPE_I32, stride)) : NULL;
        index = index && at ? hone_expr_add(ir, index, at) : NULL;
        stride *= p->path[i].extent;
    }
    return index ? hone_simplify(p->d->arith, index) : NULL;
}

/* An index of the dot in a copy of the loops below limit. */
static const hone_expr *in_copy(const plan *p, const hone_expr *index, uint32_t limit) {
    hone_ir *ir = &p->d->lower->ir;
    for (uint32_t i = 0; i < limit && index; i++) {
        if (!p->path[i].is_for) continue;
        const hone_expr *var = hone_func_var_expr(ir, p->d->lower->func, p->fresh[i]);
        if (!var) return NULL;
        index = hone_expr_substitute_one(ir, index, node_of(p, i)->u.loop.var, var);
    }
    return index;
}

/* A loop like that at i, as the last child of *io_at, which it becomes. */
static hone_status open_loop(const plan *p, uint32_t i, hone_loop_kind kind, hone_node_id *io_at) {
    hone_func *func = p->d->lower->func;
    hone_node_id id = hone_func_add_loop(func, p->fresh[i], kind, node_of(p, i)->u.loop.range);
    if (id == HONE_NO_ID) return LOWER_NO_MEMORY();
    hone_func_node(func, id)->u.loop.annotations = node_of(p, i)->u.loop.annotations;
    hone_tree_append(func, *io_at, id);
    *io_at = id;
    return HONE_OK;
}

static hone_status make_fresh(plan *p) {
    hone_func *func = p->d->lower->func;
    for (uint32_t i = 0; i <= p->top; i++) {
        if (!p->path[i].is_for) continue;
        hone_var old = node_of(p, i)->u.loop.var;
        p->fresh[i] = hone_func_add_var(func, func->vars[old].name, func->vars[old].dtype);
        if (p->fresh[i] == HONE_NO_ID) return LOWER_NO_MEMORY();
    }
    return HONE_OK;
}

static hone_status make_lack(plan *p, hone_node_id *out_alloc) {
    hone_func *func = p->d->lower->func;
    int64_t elements = p->d->count;
    for (uint32_t i = 0; i <= p->top; i++)
        elements *= p->path[i].is_kept ? p->path[i].extent : 1;
    p->lack = hone_func_add_dense(func, "lack", dtype_of(p), 1, &elements, "global");
    *out_alloc = lower_new_alloc(func, p->lack);
    return *out_alloc == HONE_NO_ID ? LOWER_NO_MEMORY() : HONE_OK;
}

static const hone_expr *lanes_at(const plan *p, const hone_expr *start) {
    return lower_lanes(&p->d->lower->ir, start, p->d->count);
}

/* What a sum of B is to be multiplied by. */
static const hone_expr *scale_of(const plan *p) {
    hone_ir *ir = &p->d->lower->ir;
    const hone_expr *zero = hone_expr_int(ir, dtype_of(p), 0);
    const hone_expr *scale = p->d->b_scale ? p->d->b_scale : zero;
    return p->is_raised ? hone_expr_sub(ir, scale, hone_expr_int(ir, dtype_of(p), 128)) : scale;
}

/* A sum of B waits for its last step: several of them are collected side by side. */
typedef struct chains {
    hone_buffer sums;
    int64_t count;  /* of sums */
    uint32_t steps; /* the loop that they share, of path */
} chains;

static int64_t chains_of(const plan *p, uint32_t *out_steps) {
    int64_t most = CHAIN_LANES / p->d->count;
    for (uint32_t i = 0; i <= p->sum; i++) {
        if (!p->path[i].is_for || p->path[i].by_c) continue;
        *out_steps = i;
        return most > 1 && p->path[i].extent >= 2 * most ? most : 1;
    }
    return 1;
}

static const hone_expr *splat_int(const plan *p, int64_t value) {
    hone_ir *ir = &p->d->lower->ir;
    return hone_expr_broadcast(ir, hone_expr_int(ir, dtype_of(p), value), (uint16_t)p->d->count);
}

/* sums[nth] = dot4(sums[nth], 1, B[…]), as the last child of where. */
static hone_status add_step(const plan *p, const chains *c, hone_node_id where, int64_t nth,
                            const hone_expr *b) {
    const lower_dot_match *d = p->d;
    hone_ir *ir = &d->lower->ir;
    const hone_expr *start = hone_expr_i32(ir, (int32_t)(nth * d->count));
    const hone_expr *args[] = {lower_load_lanes(d->lower, c->sums, start, d->count),
                               lower_dot_ones(d, true, 1),
                               lower_dot_side(d, d->b_buffer, b, d->count)};
    hone_dtype dtype = hone_dtype_with_lanes(dtype_of(p), (uint16_t)d->count);
    hone_intrin intrin = d->group == 4 ? HONE_INTRIN_DOT4 : HONE_INTRIN_DOT2;
    HONE_TRY(lower_append_store(d->lower->func, where, c->sums, lanes_at(p, start),
                                hone_expr_call(ir, dtype, intrin, 3, args)));
    return hone_ir_finish(ir);
}

/* Iterations of the loop that the sums share, from begin on, as many at a time as there are sums;
 * as the last child of where. */
static hone_status add_steps(const plan *p, const chains *c, hone_node_id where, int64_t begin,
                             int64_t times, int64_t at_a_time, const hone_expr *b) {
    hone_func *func = p->d->lower->func;
    hone_ir *ir = &p->d->lower->ir;
    const hone_range *steps = &node_of(p, c->steps)->u.loop.range;
    hone_dtype dtype = func->vars[p->fresh[c->steps]].dtype;
    hone_range range = lower_range(ir, dtype, 0, times);
    const char *name = func->vars[p->fresh[c->steps]].name;
    const hone_expr *first;
    hone_node_id loop = lower_new_loop(p->d->lower, name, HONE_LOOP_SERIAL, range, &first);
    if (loop == HONE_NO_ID) return LOWER_NO_MEMORY();
    first = hone_expr_mul(ir, first, hone_expr_int(ir, dtype, at_a_time));
    hone_tree_append(func, where, loop);
    for (int64_t nth = 0; nth < at_a_time; nth++) {
        const hone_expr *ahead = hone_expr_int(ir, dtype, begin + nth);
        const hone_expr *at = hone_expr_add(ir, steps->min, hone_expr_add(ir, first, ahead));
        at = hone_expr_substitute_one(ir, b, p->fresh[c->steps], at);
        HONE_TRY(add_step(p, c, loop, nth, at ? hone_simplify(p->d->arith, at) : NULL));
    }
    return hone_ir_finish(ir);
}

static hone_status make_sums(const plan *p, chains *c, hone_node_id *io_where) {
    hone_func *func = p->d->lower->func;
    hone_ir *ir = &p->d->lower->ir;
    int64_t elements = c->count * p->d->count;
    c->sums = hone_func_add_dense(func, "sums", dtype_of(p), 1, &elements, "local");
    hone_node_id alloc = lower_new_alloc(func, c->sums);
    if (alloc == HONE_NO_ID) return LOWER_NO_MEMORY();
    hone_tree_append(func, *io_where, alloc);
    *io_where = alloc;
    for (int64_t i = 0; i < c->count; i++) {
        const hone_expr *start = hone_expr_i32(ir, (int32_t)(i * p->d->count));
        HONE_TRY(lower_append_store(func, alloc, c->sums, lanes_at(p, start), splat_int(p, 0)));
    }
    return hone_ir_finish(ir);
}

/* lack[…] = what the sum of B comes to, as the last child of where. */
static hone_status collect(const plan *p, hone_node_id where, const hone_expr *b) {
    const lower_dot_match *d = p->d;
    hone_func *func = d->lower->func;
    hone_ir *ir = &d->lower->ir;
    bool is_parallel = false;
    for (uint32_t i = p->sum; i <= p->top; i++)
        is_parallel |= p->path[i].is_for && node_of(p, i)->loop_kind == HONE_LOOP_PARALLEL;
    for (uint32_t i = p->top + 1; i > 0; i--) {
        if (!p->path[i - 1].is_kept) continue;
        hone_loop_kind kind = is_parallel ? HONE_LOOP_PARALLEL : HONE_LOOP_SERIAL;
        HONE_TRY(open_loop(p, i - 1, kind, &where));
        is_parallel = false;
    }
    chains c = {.steps = p->sum};
    c.count = chains_of(p, &c.steps);
    HONE_TRY(make_sums(p, &c, &where));
    hone_node_id inner = where;
    for (uint32_t i = p->sum + 1; i > 0; i--) {
        if (!p->path[i - 1].is_for || p->path[i - 1].by_c || i - 1 == c.steps) continue;
        HONE_TRY(open_loop(p, i - 1, HONE_LOOP_SERIAL, &inner));
    }
    b = in_copy(p, b, p->top + 1);
    int64_t steps = p->path[c.steps].extent, rest = steps % c.count;
    HONE_TRY(add_steps(p, &c, inner, 0, steps / c.count, c.count, b));
    if (rest) HONE_TRY(add_steps(p, &c, inner, steps - rest, 1, rest, b));
    const hone_expr *start = lack_index(p, true), *sum = NULL;
    for (int64_t i = 0; i < c.count; i++) {
        const hone_expr *from = hone_expr_i32(ir, (int32_t)(i * d->count));
        const hone_expr *one = lower_load_lanes(d->lower, c.sums, from, d->count);
        sum = sum ? hone_expr_add(ir, sum, one) : one;
    }
    const hone_expr *scale = hone_expr_broadcast(ir, scale_of(p), (uint16_t)d->count);
    HONE_TRY(lower_append_store(func, where, p->lack, lanes_at(p, start),
                                hone_expr_mul(ir, sum, scale)));
    return hone_ir_finish(ir);
}

/* C[…] = C[…] + lack[…] in a copy of the loops over C, in front of the sum. */
static hone_status begin_sum(const plan *p, const hone_expr *c) {
    const lower_dot_match *d = p->d;
    hone_func *func = d->lower->func;
    hone_ir *ir = &d->lower->ir;
    hone_node_id group = hone_func_add_node(func, HONE_NODE_TOP), where = group;
    if (group == HONE_NO_ID) return LOWER_NO_MEMORY();
    for (uint32_t i = p->sum; i > 0; i--) {
        if (!p->path[i - 1].is_for || !p->path[i - 1].by_c) continue;
        hone_loop_kind kind = (hone_loop_kind)node_of(p, i - 1)->loop_kind;
        HONE_TRY(open_loop(p, i - 1, kind, &where));
    }
    hone_buffer to = hone_func_node(func, d->store)->u.store.buffer;
    c = in_copy(p, c, p->sum);
    const hone_expr *lack = lower_load_lanes(d->lower, p->lack, lack_index(p, false), d->count);
    const hone_expr *value = hone_expr_add(ir, lower_load_lanes(d->lower, to, c, d->count), lack);
    HONE_TRY(lower_append_store(func, where, to, lanes_at(p, c), value));
    hone_node_id made = hone_func_node(func, group)->first;
    hone_tree_remove(func, made);
    hone_tree_insert_before(func, p->path[p->sum].node, made);
    return hone_ir_finish(ir);
}

hone_status lower_dot_begin(const lower_dot_match *d, const hone_expr *b, const hone_expr *c,
                            bool is_raised, bool *out_begun) {
    plan p = {.d = d, .is_raised = is_raised};
    *out_begun = false;
    if (!b || !c) return HONE_OK;
    find_path(&p, b, c);
    if (!find_place(&p)) return HONE_OK;
    hone_node_id alloc;
    HONE_TRY(make_fresh(&p));
    HONE_TRY(make_lack(&p, &alloc));
    lower_wrap(d->lower->func, p.path[p.top].node, alloc);
    HONE_TRY(begin_sum(&p, c));
    hone_node_id front = hone_func_add_node(d->lower->func, HONE_NODE_TOP);
    if (front == HONE_NO_ID) return LOWER_NO_MEMORY();
    HONE_TRY(collect(&p, front, b));
    hone_func *mut = d->lower->func;
    for (hone_node_id last; (last = hone_func_node(mut, front)->last) != HONE_NO_ID;) {
        hone_tree_remove(mut, last);
        hone_tree_prepend(mut, alloc, last);
    }
    *out_begun = true;
    return HONE_OK;
}
