/* lower/vectors/lower_reduce.c - the pass that reduces in the lanes of vectors.
 * needs: flat buffers, no blocks. keeps: what is computed, but for the order of a reduction. A loop
 * annotated with pragma_vector_reduce collects its reductions in vectors, one lane for each of many
 * partial results, and adds these up behind the loop:
 *
 *   for k in n: S[i] = S[i] + f(k)
 *     ⇒ acc[0:W] = 0                                   several registers, so that steps overlap
 *        for o in n // W, a in vectorized(W): acc[a] = acc[a] + f(o * W + a)
 *        for a in vectorized(n % W): acc[a] = acc[a] + f(n // W * W + a)
 *        S[i] = S[i] + (sum of acc, as a tree)
 *
 * Where n comes later, the last vector has W lanes, too, of which those below n count.
 *
 * A tile of sums (unrolled loops inside of the annotated one) has a collector for each:
 *
 *   for k in n: for i in unrolled(4): S[i] = S[i] + f(i, k)
 *
 * Numbers that a vectorized loop in front makes for a long reduction are made a part at a time,
 * each in front of the step that reads it (reduce_feed.h).
 *
 * The annotated loop may hold other loops and statements: each innermost loop that does nothing but
 * such steps is replaced, the collectors live around the annotated loop. A loop that is no such
 * reduction (its place changes, its value reads the sum, it is parallel) stays as it is, and so
 * does a sum of 16-bit floats, which is rounded at each step (docs/numerics.md); the
 * annotation is a wish, like all pragmas. The value of the annotation is the number of registers to
 * collect in, 1 to 8; other values mean 4. */
#include "lower/ground/accesses.h"
#include "lower/ground/lanes.h"
#include "lower/ground/scope.h"
#include "lower/ground/split_loop.h"
#include "lower/vectors/reduce_feed.h"

enum { DEFAULT_REGISTERS = 4, MAX_REGISTERS = 8, MAX_STEPS = 16, LEAST_FED = 7 };

/* S[index] = S[index] op f */
typedef struct step {
    hone_node_id store;
    hone_buffer buffer, collector;
    const hone_expr *index, *value; /* value: f */
    hone_op op;
    bool keeps_nan; /* MIN and MAX by hone_expr_extreme */
} step;

typedef struct reducer {
    hone_lower *lower;
    hone_node_id outer; /* the annotated loop */
    hone_node_id inner; /* the loop that gets lanes */
    hone_node_id feed;  /* the loop that makes what it reads, or HONE_NO_ID */
    int64_t width;      /* partial results */
    bool is_guarded;    /* a condition around outer says that it runs at all */
    uint32_t count;
    step steps[MAX_STEPS];
} reducer;

static bool is_reduction_op(const hone_expr *e, hone_dtype dtype) {
    if (e->kind != HONE_EXPR_BINARY || hone_dtype_is_bool(dtype)) return false;
    if (e->op == HONE_OP_MIN || e->op == HONE_OP_MAX) return true;
    bool is_sum = e->op == HONE_OP_ADD || e->op == HONE_OP_MUL;
    return is_sum && !hone_dtype_is_short_float(dtype);
}

static bool is_load_of(const hone_expr *e, hone_buffer buffer, const hone_expr *index) {
    return e->kind == HONE_EXPR_LOAD && e->u.buffer == buffer && e->count == 1 &&
           hone_expr_same(e->args[0], index);
}

/* Loads of S in a step, and its store. */
static uint32_t step_accesses(const step *s) {
    return s->keeps_nan ? 4 : 2;
}

typedef struct touch {
    const hone_func *func;
    hone_buffer storage;
    uint32_t count; /* accesses */
    bool has_effects;
} touch;

static bool note_touch(void *ctx, const hone_expr *e) {
    touch *t = ctx;
    if (e->kind == HONE_EXPR_LOAD && hone_func_storage(t->func, e->u.buffer) == t->storage)
        t->count++;
    t->has_effects |= lower_has_effects(e);
    return true;
}

/* Below the annotated loop nobody but these accesses touches the buffer. */
static bool are_alone(const hone_func *func, hone_node_id root, hone_buffer buffer,
                      uint32_t accesses) {
    touch t = {.func = func, .storage = hone_func_storage(func, buffer)};
    hone_tree_walk_parts(func, root, false, note_touch, &t);
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_STORE &&
            hone_func_storage(func, node->u.store.buffer) == t.storage) {
            t.count++;
        }
        if (node->kind == HONE_NODE_ALLOC && node->u.alloc.buffer == t.storage) return false;
    }
    return t.count == accesses && !t.has_effects;
}

/* Nothing that changes inside of the annotated loop: variables of its loops and lets, memory. */
static bool is_fixed(const reducer *r, const hone_expr *index) {
    const hone_func *func = r->lower->func;
    if (!hone_expr_is_pure_index(index)) return false;
    for (hone_node_id n = r->outer; n != HONE_NO_ID; n = hone_tree_next(func, r->outer, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_FOR && hone_expr_uses_var(index, node->u.loop.var))
            return false;
        if (node->kind == HONE_NODE_LET && hone_expr_uses_var(index, node->u.let.var)) return false;
    }
    return true;
}

/* The total is stored even where the annotated loop has no iterations, so iterations around it that
 * run at once must not share the place. */
static bool is_own(const reducer *r, hone_buffer buffer, const hone_expr *index) {
    const hone_func *func = r->lower->func;
    hone_buffer storage = hone_func_storage(func, buffer);
    for (hone_node_id n = r->outer; n != HONE_NO_ID; n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_ALLOC && node->u.alloc.buffer == storage) return true;
        /* which loops this one stands for is not looked into */
        if (node->kind == HONE_NODE_LET && hone_expr_uses_var(index, node->u.let.var)) return true;
        if (node->kind != HONE_NODE_FOR || node->loop_kind == HONE_LOOP_SERIAL ||
            node->loop_kind == HONE_LOOP_UNROLLED) {
            continue;
        }
        if (hone_expr_is_int_value(node->u.loop.range.extent, 1)) continue;
        if (!hone_expr_uses_var(index, node->u.loop.var)) return false;
    }
    return true;
}

static bool match_step(const reducer *r, hone_node_id id, step *out) {
    const hone_func *func = r->lower->func;
    const hone_node *node = hone_func_node(func, id);
    if (node->kind != HONE_NODE_STORE || node->u.store.rank != 1) return false;
    const hone_expr *extreme = hone_expr_as_extreme(node->u.store.value);
    const hone_expr *value = extreme ? extreme : node->u.store.value;
    const hone_expr *index = node->u.store.indices[0];
    hone_buffer buffer = node->u.store.buffer;
    hone_dtype dtype = func->buffers[buffer].dtype;
    if (!is_reduction_op(value, dtype) || dtype.lanes != 1 || value->dtype.lanes != 1) return false;
    if (!hone_dtype_equal(value->dtype, dtype) || !is_fixed(r, index)) return false;
    if (!is_own(r, buffer, index)) return false;
    bool is_left = is_load_of(value->args[0], buffer, index);
    if (!is_left && (extreme || !is_load_of(value->args[1], buffer, index))) return false;
    *out = (step){.store = id,
                  .buffer = buffer,
                  .index = index,
                  .value = value->args[is_left ? 1 : 0],
                  .op = (hone_op)value->op,
                  .keeps_nan = extreme != NULL};
    return true;
}

/* Two places of one buffer that are never the same. */
static bool are_disjoint(hone_arith *arith, const step *a, const step *b) {
    hone_linear gap;
    if (a->buffer != b->buffer) return false; /* views of one storage */
    const hone_expr *e = hone_expr_sub(&arith->ir, a->index, b->index);
    return e && hone_linear_of(arith, e, &gap) && gap.count == 0 && gap.constant != 0;
}

/* Each sum is touched by its own step only. */
static bool are_separate(const reducer *r) {
    const hone_func *func = r->lower->func;
    hone_arith arith;
    hone_arith_init(&arith, func->arena);
    for (uint32_t i = 0; i < r->count; i++) {
        hone_buffer storage = hone_func_storage(func, r->steps[i].buffer);
        uint32_t own = 0;
        for (uint32_t k = 0; k < r->count; k++) {
            if (hone_func_storage(func, r->steps[k].buffer) != storage) continue;
            own += step_accesses(&r->steps[k]);
            if (k < i && !are_disjoint(&arith, &r->steps[i], &r->steps[k])) return false;
        }
        if (!are_alone(func, r->outer, r->steps[i].buffer, own)) return false;
    }
    return true;
}

/* Of an extent that is known and below 2. */
static bool is_short(const hone_expr *extent) {
    return hone_expr_is_int(extent) && extent->u.i < 2;
}

/* Fills in the steps when the loop does nothing else. */
static bool match_loop(reducer *r, hone_node_id loop) {
    const hone_func *func = r->lower->func;
    const hone_node *node = hone_func_node(func, loop);
    bool is_plain = node->loop_kind == HONE_LOOP_SERIAL || node->loop_kind == HONE_LOOP_UNROLLED ||
                    node->loop_kind == HONE_LOOP_VECTORIZED;
    if (!is_plain || is_short(node->u.loop.range.extent)) return false;
    r->count = 0;
    for (hone_node_id c = node->first; c != HONE_NO_ID; c = hone_func_node(func, c)->next) {
        if (r->count == MAX_STEPS || !match_step(r, c, &r->steps[r->count])) return false;
        r->count++;
    }
    return r->count > 0 && are_separate(r);
}

/* May the loop have no iteration? What it adds up may not exist then. */
static bool may_be_empty(const reducer *r, hone_node_id loop) {
    const hone_func *func = r->lower->func;
    hone_arith arith;
    hone_arith_init(&arith, func->arena);
    if (!hone_arith_bind_sizes(&arith, func)) return true;
    if (hone_status_consume(lower_bind_around(func, loop, &arith))) return true;
    return hone_arith_bound(&arith, hone_func_node(func, loop)->u.loop.range.extent).min < 1;
}

/* Between the loops only loops that run in order: what is collected has one owner. */
static bool is_nest(const reducer *r, hone_node_id inner) {
    const hone_func *func = r->lower->func;
    for (hone_node_id n = inner;; n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR && node->kind != HONE_NODE_ALLOC) return false;
        if (node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_PARALLEL) return false;
        if (node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_THREAD) return false;
        bool is_lanes = node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_VECTORIZED;
        if (is_lanes && n != inner) return false;
        if (n == r->outer) return true;
        if (node->kind == HONE_NODE_FOR && may_be_empty(r, n)) return false;
    }
}

static const hone_expr *identity_of(hone_ir *ir, const step *s, hone_dtype dtype) {
    if (s->op == HONE_OP_ADD || s->op == HONE_OP_MUL) {
        int value = s->op == HONE_OP_MUL;
        return hone_dtype_is_float(dtype) ? hone_expr_float(ir, dtype, value)
                                          : hone_expr_int(ir, dtype, value);
    }
    /* the least and the greatest absorb what they meet twice: begin with what is there */
    return hone_expr_load(ir, dtype, s->buffer, 1, &s->index);
}

/* ---- making statements ---- */

/* for a in vectorized(lanes) */
static hone_node_id new_lanes(hone_lower *lower, hone_dtype dtype, int64_t lanes,
                              const hone_expr **out_lane) {
    hone_range range = lower_range(&lower->ir, dtype, 0, lanes);
    return lower_new_loop(lower, "lane", HONE_LOOP_VECTORIZED, range, out_lane);
}

static const hone_expr *combine(reducer *r, const step *s, const hone_expr *old,
                                const hone_expr *value) {
    hone_ir *ir = &r->lower->ir;
    return s->keeps_nan ? hone_expr_extreme(ir, s->op, old, value)
                        : hone_expr_binary(ir, s->op, old, value);
}

static const hone_expr *combine_lane(reducer *r, const step *s, const hone_expr *lane,
                                     const hone_expr *value) {
    hone_dtype dtype = r->lower->func->buffers[s->collector].dtype;
    return combine(r, s, hone_expr_load(&r->lower->ir, dtype, s->collector, 1, &lane), value);
}

/* for a in vectorized(lanes): acc[a] = acc[a] op f(start + a), for every step; where
 * end is no NULL, in the lanes below it. */
static hone_status new_steps(reducer *r, const hone_expr *start, int64_t lanes,
                             const hone_expr *end, hone_node_id *out_loop) {
    hone_lower *lower = r->lower;
    hone_func *func = lower->func;
    hone_var var = hone_func_node(func, r->inner)->u.loop.var;
    const hone_expr *lane;
    *out_loop = new_lanes(lower, func->vars[var].dtype, lanes, &lane);
    if (*out_loop == HONE_NO_ID) return LOWER_NO_MEMORY();
    const hone_expr *at = hone_expr_add(&lower->ir, start, lane);
    for (uint32_t i = 0; i < r->count; i++) {
        const step *s = &r->steps[i];
        const hone_expr *value = hone_expr_substitute_one(&lower->ir, s->value, var, at);
        HONE_TRY(lower_append_store(func, *out_loop, s->collector, lane,
                                    combine_lane(r, s, lane, value)));
    }
    const hone_expr *is_below = end ? hone_expr_binary(&lower->ir, HONE_OP_LT, at, end) : NULL;
    HONE_TRY(hone_ir_finish(&lower->ir));
    return is_below ? lower_guard_children(func, *out_loop, is_below) : HONE_OK;
}

/* for a in vectorized(lanes): what the feed does at start + a. */
static hone_status new_part(reducer *r, const hone_expr *start, int64_t lanes,
                            hone_node_id *out_loop) {
    hone_lower *lower = r->lower;
    hone_func *func = lower->func;
    hone_var var = hone_func_node(func, r->feed)->u.loop.var;
    const hone_expr *lane;
    *out_loop = new_lanes(lower, func->vars[var].dtype, lanes, &lane);
    if (*out_loop == HONE_NO_ID) return LOWER_NO_MEMORY();
    const hone_node *store = hone_func_node(func, hone_func_node(func, r->feed)->first);
    const hone_expr *at = hone_expr_add(&lower->ir, start, lane);
    const hone_expr *index =
        hone_expr_substitute_one(&lower->ir, store->u.store.indices[0], var, at);
    const hone_expr *value = hone_expr_substitute_one(&lower->ir, store->u.store.value, var, at);
    HONE_TRY(lower_append_store(func, *out_loop, store->u.store.buffer, index, value));
    return hone_ir_finish(&lower->ir);
}

/* Parts are several vectors of work already. */
static hone_status keep_rolled(reducer *r, hone_node_id loop) {
    hone_func *func = r->lower->func;
    hone_attrs *attrs = &hone_func_node(func, loop)->u.loop.annotations;
    bool is_set = hone_attrs_with(func->arena, attrs, "pragma_auto_unroll_max_step",
                                  HONE_VALUE_OF_INT(0), attrs);
    return is_set ? HONE_OK : LOWER_NO_MEMORY();
}

/* What is left behind the whole vectors, an open number: the lanes below the end. */
static hone_status append_masked_rest(reducer *r, const hone_expr *whole) {
    hone_lower *lower = r->lower;
    hone_func *func = lower->func;
    const hone_range range = hone_func_node(func, r->inner)->u.loop.range;
    const hone_expr *width = hone_expr_int(&lower->ir, range.min->dtype, r->width);
    const hone_expr *done = hone_expr_mul(&lower->ir, whole, width);
    const hone_expr *start = hone_expr_add(&lower->ir, range.min, done);
    const hone_expr *end = hone_expr_add(&lower->ir, range.min, range.extent);
    hone_node_id rest;
    HONE_TRY(new_steps(r, start, r->width, end, &rest));
    hone_tree_insert_before(func, r->inner, rest);
    return lower_wrap_if(lower, hone_expr_binary(&lower->ir, HONE_OP_LT, start, end), rest);
}

static hone_status append_rest(reducer *r, int64_t done, int64_t lanes) {
    hone_lower *lower = r->lower;
    hone_func *func = lower->func;
    const hone_expr *min = hone_func_node(func, r->inner)->u.loop.range.min;
    const hone_expr *start =
        hone_expr_add(&lower->ir, min, hone_expr_int(&lower->ir, min->dtype, done));
    hone_node_id part, rest;
    if (r->feed != HONE_NO_ID) {
        HONE_TRY(new_part(r, start, lanes, &part));
        hone_tree_insert_before(func, r->inner, part);
    }
    HONE_TRY(new_steps(r, start, lanes, NULL, &rest));
    hone_tree_insert_before(func, r->inner, rest);
    return HONE_OK;
}

/* The inner loop becomes one over whole vectors, and a shorter vector for what is left. */
static hone_status replace_inner(reducer *r) {
    hone_lower *lower = r->lower;
    hone_ir *ir = &lower->ir;
    hone_func *func = lower->func;
    const hone_node *node = hone_func_node(func, r->inner);
    const char *name = func->vars[node->u.loop.var].name;
    hone_dtype dtype = func->vars[node->u.loop.var].dtype;
    const hone_expr *min = node->u.loop.range.min, *outer_var;
    const hone_expr *width = hone_expr_int(ir, dtype, r->width);
    const hone_expr *extent = node->u.loop.range.extent;
    const hone_expr *whole = hone_expr_is_int(extent)
                                 ? hone_expr_int(ir, dtype, extent->u.i / r->width)
                                 : hone_expr_floordiv(ir, extent, width);
    hone_range steps = {hone_expr_int(ir, dtype, 0), whole};
    hone_node_id loop = lower_new_loop(lower, name, HONE_LOOP_SERIAL, steps, &outer_var);
    if (loop == HONE_NO_ID) return LOWER_NO_MEMORY();
    const hone_expr *start = hone_expr_add(ir, min, hone_expr_mul(ir, outer_var, width));
    hone_node_id part, body;
    if (r->feed != HONE_NO_ID) {
        HONE_TRY(new_part(r, start, r->width, &part));
        hone_tree_append(func, loop, part);
        HONE_TRY(keep_rolled(r, loop));
    }
    HONE_TRY(new_steps(r, start, r->width, NULL, &body));
    hone_tree_append(func, loop, body);
    hone_tree_insert_before(func, r->inner, loop);
    int64_t left = hone_expr_is_int(extent) ? extent->u.i % r->width : 0;
    if (left) HONE_TRY(append_rest(r, extent->u.i - left, left));
    if (!hone_expr_is_int(extent)) HONE_TRY(append_masked_rest(r, whole));
    if (r->feed != HONE_NO_ID) hone_tree_remove(func, r->feed);
    hone_tree_remove(func, r->inner);
    return HONE_OK;
}

static hone_intrin lanes_of(const step *s) {
    switch (s->op) {
    case HONE_OP_ADD:
        return HONE_INTRIN_VECTOR_REDUCE_ADD;
    case HONE_OP_MUL:
        return HONE_INTRIN_VECTOR_REDUCE_MUL;
    case HONE_OP_MIN:
        return s->keeps_nan ? HONE_INTRIN_VECTOR_REDUCE_MINIMUM : HONE_INTRIN_VECTOR_REDUCE_MIN;
    default:
        return s->keeps_nan ? HONE_INTRIN_VECTOR_REDUCE_MAXIMUM : HONE_INTRIN_VECTOR_REDUCE_MAX;
    }
}

/* The end: whole registers are added up first, then the lanes of one. */
static hone_status append_total(reducer *r, const step *s, hone_node_id parent) {
    hone_lower *lower = r->lower;
    hone_ir *ir = &lower->ir;
    hone_func *func = lower->func;
    hone_dtype dtype = func->buffers[s->buffer].dtype;
    int64_t natural = hone_target_lanes(lower->options->target, 32), have = r->width;
    const hone_expr *lane;
    while (have > natural) {
        int64_t half = (have + 1) / 2;
        hone_node_id loop = new_lanes(lower, HONE_DTYPE_I32, have - half, &lane);
        if (loop == HONE_NO_ID) return LOWER_NO_MEMORY();
        const hone_expr *high = hone_expr_add(ir, lane, hone_expr_int(ir, HONE_DTYPE_I32, half));
        high = hone_expr_load(ir, dtype, s->collector, 1, &high);
        HONE_TRY(
            lower_append_store(func, loop, s->collector, lane, combine_lane(r, s, lane, high)));
        hone_tree_append(func, parent, loop);
        have = half;
    }
    const hone_expr *total = lower_load_lanes(lower, s->collector, hone_expr_i32(ir, 0), have);
    if (have > 1) total = hone_expr_call(ir, dtype, lanes_of(s), 1, &total);
    const hone_expr *old = hone_expr_load(ir, dtype, s->buffer, 1, &s->index);
    return lower_append_store(func, parent, s->buffer, s->index, combine(r, s, old, total));
}

/* An outer loop that may not run leaves its sums alone then. */
static hone_status guard_outer(reducer *r) {
    hone_func *func = r->lower->func;
    if (r->is_guarded || !may_be_empty(r, r->outer)) return HONE_OK;
    const hone_expr *extent = hone_func_node(func, r->outer)->u.loop.range.extent;
    const hone_expr *zero = hone_expr_int(&r->lower->ir, extent->dtype, 0);
    const hone_expr *runs = hone_expr_binary(&r->lower->ir, HONE_OP_LT, zero, extent);
    r->is_guarded = true;
    return lower_wrap_if(r->lower, runs, r->outer);
}

/* A collector, allocated around the annotated loop and set in front of it. */
static hone_status make_collector(reducer *r, step *s) {
    hone_lower *lower = r->lower;
    hone_func *func = lower->func;
    hone_dtype dtype = func->buffers[s->buffer].dtype;
    const hone_expr *lane;
    s->collector = hone_func_add_dense(func, "collector", dtype, 1, &r->width, "local");
    hone_node_id loop = new_lanes(lower, HONE_DTYPE_I32, r->width, &lane);
    hone_node_id alloc = lower_new_alloc(func, s->collector);
    if (loop == HONE_NO_ID || alloc == HONE_NO_ID) return LOWER_NO_MEMORY();
    HONE_TRY(lower_append_store(func, loop, s->collector, lane, identity_of(&lower->ir, s, dtype)));
    lower_wrap(func, r->outer, alloc);
    hone_tree_insert_before(func, r->outer, loop);
    return HONE_OK;
}

static hone_status replace(reducer *r, int64_t registers) {
    hone_func *func = r->lower->func;
    int64_t extent = hone_expr_const(hone_func_node(func, r->inner)->u.loop.range.extent);
    int64_t natural = hone_target_lanes(r->lower->options->target, 32);
    r->width = natural * registers;
    while (extent >= 0 && r->width > natural && r->width > extent)
        r->width -= natural;
    if (extent >= 0 && r->width > extent) r->width = extent;
    r->feed = extent >= LEAST_FED * r->width ? lower_find_feed(r->lower, r->inner) : HONE_NO_ID;
    HONE_TRY(guard_outer(r));
    for (uint32_t i = 0; i < r->count; i++)
        HONE_TRY(make_collector(r, &r->steps[i]));
    hone_node_id around = hone_func_node(func, r->outer)->parent;
    HONE_TRY(replace_inner(r));
    for (uint32_t i = 0; i < r->count; i++)
        HONE_TRY(append_total(r, &r->steps[i], around));
    return hone_ir_finish(&r->lower->ir);
}

/* The next loop below the annotated one, or that one, that reduces and nothing else. */
static bool find_inner(reducer *r) {
    const hone_func *func = r->lower->func;
    for (hone_node_id n = r->outer; n != HONE_NO_ID; n = hone_tree_next(func, r->outer, n)) {
        if (hone_func_node(func, n)->kind != HONE_NODE_FOR) continue;
        if (!match_loop(r, n) || !is_nest(r, n)) continue;
        r->inner = n;
        return true;
    }
    return false;
}

/* Repeats the bodies of small unrolled loops inside: sums beside each other. */
static hone_status spread_tiles(reducer *r) {
    hone_func *func = r->lower->func;
    hone_node_id next;
    for (hone_node_id n = r->outer; n != HONE_NO_ID; n = next) {
        next = hone_tree_next(func, r->outer, n);
        const hone_node *node = hone_func_node(func, n);
        bool is_tile = node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_UNROLLED &&
                       n != r->outer && node->first != HONE_NO_ID;
        int64_t extent = is_tile ? hone_expr_const(node->u.loop.range.extent) : 0, stores = 0;
        if (extent < 2) continue;
        for (hone_node_id c = node->first; c != HONE_NO_ID; c = hone_func_node(func, c)->next) {
            is_tile &= hone_func_node(func, c)->kind == HONE_NODE_STORE;
            stores++;
        }
        if (!is_tile || stores * extent > MAX_STEPS) continue;
        hone_node_id parent = node->parent;
        HONE_TRY(lower_repeat_body(r->lower, n, extent));
        next = parent; /* which may be small enough now */
    }
    return HONE_OK;
}

static const char wish[] = "pragma_vector_reduce";

static hone_node_id find_wish(const hone_func *func) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_FOR && hone_attrs_find(&node->u.loop.annotations, wish)) {
            return n;
        }
    }
    return HONE_NO_ID;
}

hone_status lower_reduce(hone_lower *lower) {
    hone_func *func = lower->func;
    for (hone_node_id id; (id = find_wish(func)) != HONE_NO_ID;) {
        hone_attrs *attrs = &hone_func_node(func, id)->u.loop.annotations;
        int64_t registers = hone_attrs_int(attrs, wish, DEFAULT_REGISTERS);
        if (registers < 1 || registers > MAX_REGISTERS) registers = DEFAULT_REGISTERS;
        if (!hone_attrs_without(func->arena, attrs, wish, attrs)) return LOWER_NO_MEMORY();
        reducer r = {.lower = lower, .outer = id};
        HONE_TRY(spread_tiles(&r));
        while (hone_func_node(func, id)->parent != HONE_NO_ID && find_inner(&r))
            HONE_TRY(replace(&r, registers));
    }
    return HONE_OK;
}
