/* lower/lower_dot.c
 * needs: flat buffers, no blocks. keeps: what is computed. Sums of four products of bytes, or of
 * two of 16-bit numbers, as many CPUs have instructions for, become calls of dot4 and dot2 on
 * vectors:
 *
 *   for j in 16: C[c + j] = C[c + j] + (A[a] * B[b + 4 * j] + … + A[a + 3] * B[b + 4 * j + 3])
 *   for k in 4: for j in 16: C[c + j] = C[c + j] + A[a + k] * B[b + 4 * j + k]      either way
 * round ⇒ C[c:c + 16] = dot4(C[c:c + 16], A[a:a + 4], B[b:b + 64])
 *
 * with any number of lanes up to 64, and A and B cast to the type of C, an int32 or uint32. A may
 * move by a group of elements with j as well. dot4 takes bytes, signed or not; dot2 takes int16, to
 * which bytes are widened.
 *
 * Two products of bfloat16 that are summed in a float32, term by term as a loop does it, become a
 * dot2 of that kind. Where a loop around wishes it (pragma_bf16_dot) and the CPU has an instruction
 * for it, dot2_bf16: in another order, and subnormal numbers count as zero.
 *
 * See lower_dot_signed.c for what VNNI needs where both are signed bytes. */
#include "lower/dot.h"
#include "support/attributes.h"

enum { MAX_LANES = 64, MAX_GROUP = 4, MAX_TERMS = MAX_GROUP + 1 };

/* A load of a small integer, cast: its index is base + lane_step * j (+ k). */
typedef struct factor {
    const hone_expr *load;
    int64_t lane_step;
} factor;

typedef lower_dot_match dot;

static hone_var var_of(const dot *d, hone_node_id loop) {
    return hone_func_node(d->lower->func, loop)->u.loop.var;
}

static bool coefficient(const dot *d, const hone_expr *index, hone_node_id loop, int64_t *out) {
    *out = 0;
    if (loop == HONE_NO_ID) return true;
    return hone_expr_is_pure_index(index) &&
           hone_linear_coeff(d->arith, index, var_of(d, loop), out);
}

/* The summands of a sum; false when there are too many. */
static bool flatten(const hone_expr *e, const hone_expr **terms, uint32_t *io_count) {
    if (hone_expr_is_op(e, HONE_OP_ADD)) {
        return flatten(e->args[0], terms, io_count) && flatten(e->args[1], terms, io_count);
    }
    if (*io_count == MAX_TERMS) return false;
    terms[(*io_count)++] = e;
    return true;
}

static bool is_small(const dot *d, hone_dtype dtype) {
    if (d->is_float) return dtype.code == HONE_DTYPE_CODE_BFLOAT && dtype.bits == 16;
    if (!hone_dtype_is_integer(dtype) || hone_dtype_is_bool(dtype)) return false;
    return dtype.bits == 8 || (d->group == 2 && dtype.bits == 16 && hone_dtype_is_int(dtype));
}

static bool match_factor(const dot *d, const hone_expr *e, factor *out) {
    if (e->kind != HONE_EXPR_CAST || e->args[0]->kind != HONE_EXPR_LOAD) return false;
    const hone_expr *load = e->args[0];
    hone_dtype dtype = d->lower->func->buffers[load->u.buffer].dtype;
    if (!is_small(d, dtype) || dtype.lanes != 1 || load->count != 1 || load->dtype.lanes != 1)
        return false;
    *out = (factor){load, 0};
    return coefficient(d, load->args[0], d->lanes, &out->lane_step) &&
           (out->lane_step == 0 || out->lane_step == d->group);
}

/* a * b, where b moves by a group of elements with the lanes. */
static bool match_product(const dot *d, const hone_expr *e, factor *out_a, factor *out_b) {
    if (!hone_expr_is_op(e, HONE_OP_MUL)) return false;
    if (!match_factor(d, e->args[0], out_a) || !match_factor(d, e->args[1], out_b)) return false;
    if (out_b->lane_step == 0) {
        factor swap = *out_a;
        *out_a = *out_b;
        *out_b = swap;
    }
    hone_func *func = d->lower->func;
    hone_buffer to = lower_storage_of(func, hone_func_node(func, d->store)->u.store.buffer);
    return out_b->lane_step == d->group && lower_storage_of(func, out_a->load->u.buffer) != to &&
           lower_storage_of(func, out_b->load->u.buffer) != to;
}

/* The constant by which an index is ahead of another; -1 = none, or out of 0 to 3. */
static int64_t ahead(const dot *d, const hone_expr *index, const hone_expr *base) {
    const hone_expr *gap = hone_expr_sub(&d->arith->ir, index, base);
    gap = gap ? hone_simplify(d->arith, gap) : NULL;
    return gap && hone_expr_is_int(gap) && gap->u.i >= -3 && gap->u.i <= 3 ? gap->u.i : INT64_MAX;
}

/* A group of products whose factors lie beside each other, in the same order on both sides. */
static bool match_group(dot *d, const factor *a, const factor *b) {
    int64_t least = 0;
    unsigned seen = 0;
    for (int i = 0; i < d->group; i++) {
        if (a[i].load->u.buffer != a[0].load->u.buffer) return false;
        if (b[i].load->u.buffer != b[0].load->u.buffer) return false;
        if (a[i].lane_step != a[0].lane_step) return false;
        int64_t gap = ahead(d, b[i].load->args[0], b[0].load->args[0]);
        if (gap == INT64_MAX || ahead(d, a[i].load->args[0], a[0].load->args[0]) != gap) {
            return false;
        }
        least = gap < least ? gap : least;
    }
    for (int i = 0; i < d->group; i++) {
        int64_t gap = ahead(d, b[i].load->args[0], b[0].load->args[0]);
        if (gap - least >= d->group) return false;
        seen |= 1u << (gap - least);
        if (gap != least) continue;
        d->a = a[i].load->args[0];
        d->b = b[i].load->args[0];
    }
    return seen == (1u << d->group) - 1;
}

/* One product that moves by one element with k on both sides. */
static bool match_one(dot *d, const factor *a, const factor *b) {
    int64_t a_step, b_step;
    d->a = a->load->args[0];
    d->b = b->load->args[0];
    return coefficient(d, d->a, d->steps, &a_step) && coefficient(d, d->b, d->steps, &b_step) &&
           a_step == 1 && b_step == 1;
}

static bool match_sum(dot *d) {
    const hone_func *func = d->lower->func;
    const hone_node *store = hone_func_node(func, d->store);
    const hone_expr *terms[MAX_TERMS];
    factor a[MAX_TERMS], b[MAX_TERMS];
    uint32_t count = 0, products = 0;
    bool has_old = false;
    int64_t lane_step, k_step;
    if (store->u.store.rank != 1) return false;
    hone_dtype dtype = func->buffers[store->u.store.buffer].dtype;
    const hone_expr *index = store->u.store.indices[0];
    d->is_float = hone_dtype_equal(dtype, HONE_DTYPE_F32);
    if (d->is_float && (d->group != 2 || d->steps == HONE_NO_ID)) return false; /* keeps order */
    bool is_word = hone_dtype_is_integer(dtype) && dtype.bits == 32 && dtype.lanes == 1;
    if (!d->is_float && !is_word) return false;
    if (!coefficient(d, index, d->lanes, &lane_step) || lane_step != 1) return false;
    if (!coefficient(d, index, d->steps, &k_step) || k_step != 0) return false;
    if (!flatten(store->u.store.value, terms, &count)) return false;
    for (uint32_t i = 0; i < count; i++) {
        bool is_old = terms[i]->kind == HONE_EXPR_LOAD &&
                      terms[i]->u.buffer == store->u.store.buffer && terms[i]->count == 1 &&
                      hone_expr_same(terms[i]->args[0], index);
        if (is_old && has_old) return false;
        has_old |= is_old;
        if (is_old) continue;
        if (!match_product(d, terms[i], &a[products], &b[products])) return false;
        products++;
    }
    bool is_dot =
        has_old && (d->steps == HONE_NO_ID ? products == (uint32_t)d->group && match_group(d, a, b)
                                           : products == 1 && match_one(d, a, b));
    if (!is_dot) return false;
    d->c = index;
    d->a_buffer = a[0].load->u.buffer;
    d->b_buffer = b[0].load->u.buffer;
    d->a_moves = a[0].lane_step != 0;
    return true;
}

/* A loop that may be taken all at once. */
static bool is_plain_loop(const hone_func *func, hone_node_id id) {
    const hone_node *node = hone_func_node(func, id);
    return node->kind == HONE_NODE_FOR && node->loop_kind != HONE_LOOP_PARALLEL &&
           node->loop_kind != HONE_LOOP_THREAD;
}

static bool match_lanes(dot *d) {
    const hone_func *func = d->lower->func;
    if (!is_plain_loop(func, d->lanes)) return false;
    d->count = hone_expr_const(hone_func_node(func, d->lanes)->u.loop.range.extent);
    if (d->count < 2 || d->count > MAX_LANES) return false;
    return match_sum(d);
}

static hone_node_id only_child(const hone_func *func, hone_node_id parent) {
    hone_node_id child = hone_func_node(func, parent)->first;
    bool is_only = child != HONE_NO_ID && hone_func_node(func, child)->next == HONE_NO_ID;
    return is_only ? child : HONE_NO_ID;
}

static bool match(dot *d, hone_node_id id) {
    const hone_func *func = d->lower->func;
    d->outer = id;
    if (!is_plain_loop(func, id)) return false;
    hone_node_id inner = only_child(func, id);
    if (inner == HONE_NO_ID) return false;
    const hone_node *node = hone_func_node(func, inner);
    if (node->kind == HONE_NODE_STORE) {
        d->store = inner;
        d->lanes = id;
        d->steps = HONE_NO_ID;
        for (d->group = 2; d->group <= MAX_GROUP; d->group += 2)
            if (match_lanes(d)) return true;
        return false;
    }
    d->store = only_child(func, inner);
    if (!is_plain_loop(func, inner) || d->store == HONE_NO_ID ||
        hone_func_node(func, d->store)->kind != HONE_NODE_STORE ||
        hone_expr_uses_var(node->u.loop.range.min, var_of(d, id))) {
        return false;
    }
    for (int turned = 0; turned < 2; turned++) {
        d->steps = turned ? inner : id;
        d->lanes = turned ? id : inner;
        const hone_node *steps = hone_func_node(func, d->steps);
        d->group = (int)hone_expr_const(steps->u.loop.range.extent);
        bool is_group =
            (d->group == 2 || d->group == 4) && steps->loop_kind != HONE_LOOP_VECTORIZED;
        if (is_group && match_lanes(d)) return true;
    }
    return false;
}

/* The index where the loops begin. */
static const hone_expr *at_start(const dot *d, const hone_expr *index) {
    hone_ir *ir = &d->lower->ir;
    const hone_func *func = d->lower->func;
    const hone_node_id loops[] = {d->lanes, d->steps};
    for (int i = 0; i < 2 && index; i++) {
        if (loops[i] == HONE_NO_ID) continue;
        const hone_node *loop = hone_func_node(func, loops[i]);
        index = hone_expr_substitute_one(ir, index, loop->u.loop.var, loop->u.loop.range.min);
    }
    return index ? hone_simplify(d->arith, index) : NULL;
}

const hone_expr *lower_dot_load(const dot *d, hone_buffer buffer, const hone_expr *start,
                                int64_t lanes) {
    hone_ir *ir = &d->lower->ir;
    if (!start) return NULL;
    hone_dtype dtype = d->lower->func->buffers[buffer].dtype;
    const hone_expr *at =
        hone_expr_ramp(ir, start, hone_expr_int(ir, start->dtype, 1), (uint16_t)lanes);
    return hone_expr_load(ir, hone_dtype_with_lanes(dtype, (uint16_t)lanes), buffer, 1, &at);
}

static bool is_wished(const dot *d) {
    const hone_func *func = d->lower->func;
    if (!hone_target_has_feature(d->lower->options->target, "avx512bf16")) return false;
    hone_node_id n = d->lanes;
    for (; n != HONE_NO_ID; n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR) continue;
        if (hone_attrs_int(&node->u.loop.annotations, "pragma_bf16_dot", 0)) return true;
    }
    return false;
}

static hone_intrin intrin_of(const dot *d) {
    if (d->group == 4) return HONE_INTRIN_DOT4;
    return d->is_float && is_wished(d) ? HONE_INTRIN_DOT2_BF16 : HONE_INTRIN_DOT2;
}

/* A side of the products, as dot4 or dot2 want it. */
static const hone_expr *side(const dot *d, hone_buffer buffer, const hone_expr *start,
                             int64_t lanes) {
    const hone_expr *e = lower_dot_load(d, buffer, start, d->group * lanes);
    if (d->group == 4 || d->is_float || !e) return e;
    return hone_expr_cast(&d->lower->ir, hone_dtype_with_lanes(HONE_DTYPE_I16, e->dtype.lanes), e);
}

static hone_status replace(dot *d) {
    hone_func *func = d->lower->func;
    hone_ir *ir = &d->lower->ir;
    hone_buffer to = hone_func_node(func, d->store)->u.store.buffer;
    bool is_raised = false;
    const hone_expr *b = at_start(d, d->b), *c = at_start(d, d->c);
    bool is_signed = hone_dtype_is_int(func->buffers[to].dtype);
    if (d->group == 4 && is_signed) HONE_TRY(lower_dot_raise(d, b, c, &is_raised));
    const hone_expr *a = side(d, d->a_buffer, at_start(d, d->a), d->a_moves ? d->count : 1);
    if (is_raised) {
        hone_dtype bytes = HONE_DTYPE_MAKE(UINT, 8);
        a = hone_expr_cast(ir, hone_dtype_with_lanes(bytes, 4), a);
        a = hone_expr_add(ir, a, hone_expr_broadcast(ir, hone_expr_int(ir, bytes, 128), 4));
    }
    const hone_expr *args[] = {lower_dot_load(d, to, c, d->count), a,
                               side(d, d->b_buffer, b, d->count)};
    const hone_expr **indices = hone_arena_alloc(func->arena, sizeof *indices);
    if (!indices) return LOWER_NO_MEMORY();
    hone_dtype dtype = hone_dtype_with_lanes(func->buffers[to].dtype, (uint16_t)d->count);
    hone_intrin intrin = intrin_of(d);
    hone_node *store = hone_func_node(func, d->store);
    store->u.store.value = hone_expr_call(ir, dtype, intrin, 3, args);
    indices[0] =
        c ? hone_expr_ramp(ir, c, hone_expr_int(ir, c->dtype, 1), (uint16_t)d->count) : NULL;
    store->u.store.indices = indices;
    HONE_TRY(hone_ir_finish(ir));
    hone_tree_remove(func, d->store);
    hone_tree_replace(func, d->outer, d->store);
    return HONE_OK;
}

hone_status lower_dot(hone_lower *lower) {
    hone_func *func = lower->func;
    hone_arith arith;
    hone_arith_init(&arith, func->arena);
    if (!hone_arith_bind_sizes(&arith, func)) return LOWER_NO_MEMORY();
    hone_node_id next;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = next) {
        dot d = {.lower = lower, .arith = &arith};
        next = hone_tree_next(func, 0, n);
        if (!match(&d, n)) continue;
        next = hone_tree_next_over(func, 0, n);
        HONE_TRY(replace(&d));
    }
    return hone_ir_finish(&arith.ir);
}
