/* lower/dot/lower_dot.c - the pass that finds dot products of short integers.
 * needs: flat buffers, no blocks. keeps: what is computed. Sums of four products of bytes, or of
 * two of 16-bit numbers, as many CPUs have instructions for, become calls of dot4 and dot2 on
 * vectors:
 *
 *   for j in 16: C[c + j] = C[c + j] + (A[a] * B[b + 4 * j] + … + A[a + 3] * B[b + 4 * j + 3])
 *   for k in 4: for j in 16: C[c + j] = C[c + j] + A[a + k] * B[b + 4 * j + k]      either way
 * round ⇒ C[c:c + 16] = dot4(C[c:c + 16], A[a:a + 4], B[b:b + 64])
 *
 * with any number of lanes up to 64 (longer loops are cut), and A and B cast to the type of C, an
 * int32 or uint32. A may move by a group of elements with j as well. Where only the loop over k is
 * left, one lane. dot4 takes bytes, signed or not; dot2 takes int16, to which bytes are widened.
 *
 * Two products of bfloat16 that are summed in a float32, term by term as a loop does it, become a
 * dot2 of that kind. Where a loop around wishes it (pragma_bf16_dot) and the CPU has an instruction
 * for it, dot2_bf16: in another order, and subnormal numbers count as zero.
 *
 * Factors of integers may be less a zero point, as those of quantised models are: (A - x) * (B -
 * y), which is simplified to A * B - A * y - B * x + x * y. What B contributes is collected apart
 * and but once, see lower_dot_offset.c, also for what VNNI needs where both are signed bytes; the
 * sum of A is one more dot beside the products. All of it is exact, as integers wrap around. */
#include "lower/dot/dot.h"
#include "lower/ground/split_loop.h"
#include "support/core/attributes.h"

enum { MAX_LANES = 64, LEAST_PART = 16, MAX_GROUP = 4, MAX_TERMS = 10, MAX_ZERO_POINT = 1 << 14 };

/* A load of a small integer, cast: its index is base + lane_step * j (+ k). */
typedef struct factor {
    const hone_expr *load;
    int64_t lane_step;
} factor;

/* A summand, or what is taken away. */
typedef struct term {
    const hone_expr *e;
    bool is_taken;
} term;

/* A factor times what no loop changes. */
typedef struct scaled {
    const hone_expr *load, *scale;
} scaled;

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
static bool flatten(const hone_expr *e, bool is_taken, term *terms, uint32_t *io_count) {
    bool is_sub = hone_expr_is_op(e, HONE_OP_SUB);
    if (is_sub || hone_expr_is_op(e, HONE_OP_ADD)) {
        return flatten(e->args[0], is_taken, terms, io_count) &&
               flatten(e->args[1], is_taken != is_sub, terms, io_count);
    }
    if (*io_count == MAX_TERMS) return false;
    terms[(*io_count)++] = (term){e, is_taken};
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
    hone_buffer to = hone_func_storage(func, hone_func_node(func, d->store)->u.store.buffer);
    return (d->lanes == HONE_NO_ID || out_b->lane_step == d->group) &&
           hone_func_storage(func, out_a->load->u.buffer) != to &&
           hone_func_storage(func, out_b->load->u.buffer) != to;
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

/* ---- zero points ---- */

static bool is_written(const hone_func *func, hone_buffer storage) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_STORE &&
            hone_func_storage(func, node->u.store.buffer) == storage) {
            return true;
        }
    }
    return false;
}

/* It has one value wherever it is computed: numbers, and elements of parameters that nobody writes.
 */
static bool is_fixed(const dot *d, const hone_expr *e) {
    const hone_func *func = d->lower->func;
    if (hone_expr_is_int(e)) return true;
    if (e->kind == HONE_EXPR_LOAD) {
        hone_buffer storage = hone_func_storage(func, e->u.buffer);
        return e->count == 1 && hone_expr_is_int(e->args[0]) &&
               hone_func_is_parameter(func, storage) && !is_written(func, storage);
    }
    if (e->kind == HONE_EXPR_CAST) return is_fixed(d, e->args[0]);
    bool is_plain = hone_expr_is_op(e, HONE_OP_MUL) || hone_expr_is_op(e, HONE_OP_ADD) ||
                    hone_expr_is_op(e, HONE_OP_SUB);
    return is_plain && is_fixed(d, e->args[0]) && is_fixed(d, e->args[1]);
}

static bool match_scaled(const dot *d, const hone_expr *e, scaled *out) {
    factor f;
    const hone_expr *one = hone_expr_int(&d->lower->ir, e->dtype, 1);
    bool is_product = hone_expr_is_op(e, HONE_OP_MUL);
    for (int side = 0; side < (is_product ? 2 : 1); side++) {
        const hone_expr *scale = is_product ? e->args[side] : one;
        if (!scale || !is_fixed(d, scale)) continue;
        if (!match_factor(d, is_product ? e->args[1 - side] : e, &f)) continue;
        *out = (scaled){f.load, scale};
        return true;
    }
    return false;
}

/* sum (NULL = 0) and one more. */
static const hone_expr *add_term(const dot *d, const hone_expr *sum, const hone_expr *e,
                                 bool is_taken) {
    hone_ir *ir = &d->lower->ir;
    if (is_taken) e = hone_expr_sub(ir, sum ? sum : hone_expr_int(ir, e->dtype, 0), e);
    return is_taken || !sum ? e : hone_expr_add(ir, sum, e);
}

/* Gives each to the side that it has a load of. */
static bool assign_scales(dot *d, const scaled *items, const bool *is_taken, uint32_t count,
                          const factor *a, const factor *b) {
    for (uint32_t i = 0; i < count; i++) {
        bool is_b = hone_expr_same(items[i].load, b->load);
        if (!is_b && !hone_expr_same(items[i].load, a->load)) return false;
        const hone_expr **scale = is_b ? &d->b_scale : &d->a_scale;
        *scale = add_term(d, *scale, items[i].scale, is_taken[i]);
    }
    return true;
}

/* A byte less a zero point in 16 bits, widened: nothing is lost in 16 bits, so it may be widened
 * first. */
static const hone_expr *widen_first(void *ctx, hone_ir *ir, const hone_expr *e) {
    bool is_word = e->kind == HONE_EXPR_CAST && hone_dtype_is_integer(e->dtype) &&
                   e->dtype.bits == 32 && hone_dtype_equal(e->args[0]->dtype, HONE_DTYPE_I16);
    const hone_expr *sum = is_word ? e->args[0] : NULL;
    bool is_sub = sum && hone_expr_is_op(sum, HONE_OP_SUB);
    if (!is_sub && !(sum && hone_expr_is_op(sum, HONE_OP_ADD))) return e;
    const hone_expr *cast = sum->args[0], *point = sum->args[1];
    if (cast->kind != HONE_EXPR_CAST || !hone_dtype_is_integer(cast->args[0]->dtype) ||
        cast->args[0]->dtype.bits != 8 || !hone_expr_is_int(point) ||
        point->u.i < -MAX_ZERO_POINT || point->u.i > MAX_ZERO_POINT) {
        return e;
    }
    *(bool *)ctx = true;
    return hone_expr_binary(ir, is_sub ? HONE_OP_SUB : HONE_OP_ADD,
                            hone_expr_cast(ir, e->dtype, cast->args[0]),
                            hone_expr_int(ir, e->dtype, point->u.i));
}

static const hone_expr *stored_value(const dot *d) {
    const hone_expr *value = hone_func_node(d->lower->func, d->store)->u.store.value;
    bool is_changed = false;
    const hone_expr *wide = hone_expr_transform(&d->lower->ir, value, widen_first, &is_changed);
    return wide && is_changed ? hone_simplify(d->arith, wide) : wide;
}

/* ---- the sum ---- */

/* The terms of what is stored, of which one is what was there. */
static bool match_terms(dot *d, const term *terms, uint32_t count) {
    const hone_func *func = d->lower->func;
    const hone_node *store = hone_func_node(func, d->store);
    factor a[MAX_GROUP], b[MAX_GROUP];
    scaled apart[MAX_TERMS];
    bool is_taken[MAX_TERMS];
    int products = 0;
    uint32_t apart_count = 0, old_count = 0;
    bool may_have_points = !d->is_float && d->steps != HONE_NO_ID && d->lanes != HONE_NO_ID;
    for (uint32_t i = 0; i < count; i++) {
        const hone_expr *e = terms[i].e;
        bool is_old = e->kind == HONE_EXPR_LOAD && e->u.buffer == store->u.store.buffer &&
                      e->count == 1 && hone_expr_same(e->args[0], store->u.store.indices[0]);
        if (is_old && !terms[i].is_taken) {
            old_count++;
        } else if (may_have_points && is_fixed(d, e)) {
            d->rest = add_term(d, d->rest, e, terms[i].is_taken);
        } else if (may_have_points && match_scaled(d, e, &apart[apart_count])) {
            is_taken[apart_count++] = terms[i].is_taken;
        } else {
            bool is_product = products < MAX_GROUP && !terms[i].is_taken &&
                              match_product(d, e, &a[products], &b[products]);
            if (!is_product) return false;
            products++;
        }
    }
    if (old_count != 1 || products != (d->steps == HONE_NO_ID ? d->group : 1)) return false;
    if (!(d->steps == HONE_NO_ID ? match_group(d, a, b) : match_one(d, a, b))) return false;
    d->a_buffer = a[0].load->u.buffer;
    d->b_buffer = b[0].load->u.buffer;
    d->a_moves = a[0].lane_step != 0;
    return assign_scales(d, apart, is_taken, apart_count, a, b);
}

static bool match_sum(dot *d) {
    const hone_func *func = d->lower->func;
    const hone_node *store = hone_func_node(func, d->store);
    term terms[MAX_TERMS];
    uint32_t count = 0;
    int64_t lane_step, k_step;
    d->a_scale = d->b_scale = d->rest = NULL;
    if (store->u.store.rank != 1) return false;
    hone_dtype dtype = func->buffers[store->u.store.buffer].dtype;
    const hone_expr *index = store->u.store.indices[0];
    d->is_float = hone_dtype_equal(dtype, HONE_DTYPE_F32);
    if (d->is_float && (d->group != 2 || d->steps == HONE_NO_ID)) return false; /* keeps order */
    bool is_word = hone_dtype_is_integer(dtype) && dtype.bits == 32 && dtype.lanes == 1;
    if (!d->is_float && !is_word) return false;
    if (!coefficient(d, index, d->lanes, &lane_step)) return false;
    if (lane_step != (d->lanes != HONE_NO_ID)) return false;
    if (!coefficient(d, index, d->steps, &k_step) || k_step != 0) return false;
    d->c = index;
    const hone_expr *value = stored_value(d);
    return value && flatten(value, false, terms, &count) && match_terms(d, terms, count);
}

/* A loop that may be taken all at once. */
static bool is_plain_loop(const hone_func *func, hone_node_id id) {
    const hone_node *node = hone_func_node(func, id);
    return node->kind == HONE_NODE_FOR && node->loop_kind != HONE_LOOP_PARALLEL &&
           node->loop_kind != HONE_LOOP_THREAD;
}

/* Lanes at a time: all, or equal parts of a longer loop, whole registers if possible; 0 = none. */
static int64_t part_of(int64_t count) {
    if (count <= MAX_LANES) return count;
    for (int64_t part = MAX_LANES; part >= LEAST_PART; part -= 16)
        if (count % part == 0) return part;
    for (int64_t part = MAX_LANES; part >= LEAST_PART; part--)
        if (count % part == 0) return part;
    return 0;
}

static bool match_lanes(dot *d) {
    const hone_func *func = d->lower->func;
    if (!is_plain_loop(func, d->lanes)) return false;
    d->count = hone_expr_const(hone_func_node(func, d->lanes)->u.loop.range.extent);
    if (d->count < 2 || part_of(d->count) == 0) return false;
    return match_sum(d);
}

/* Nothing but the steps is left: the only column of a tail, say. Not where vectors are yet to be
 * made of the loops around. */
static bool match_single(dot *d) {
    const hone_func *func = d->lower->func;
    const hone_node *steps = hone_func_node(func, d->steps);
    d->group = (int)hone_expr_const(steps->u.loop.range.extent);
    d->count = 1;
    if (d->group != 2 && d->group != 4) return false;
    for (hone_node_id n = d->steps; n != HONE_NO_ID; n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR) continue;
        if (node->loop_kind == HONE_LOOP_VECTORIZED ||
            hone_attrs_find(&node->u.loop.annotations, "pragma_vector_reduce")) {
            return false;
        }
    }
    return match_sum(d) && !d->is_float;
}

static bool match(dot *d, hone_node_id id) {
    const hone_func *func = d->lower->func;
    d->outer = id;
    if (!is_plain_loop(func, id)) return false;
    hone_node_id inner = lower_only_child(func, id);
    if (inner == HONE_NO_ID) return false;
    const hone_node *node = hone_func_node(func, inner);
    if (node->kind == HONE_NODE_STORE) {
        d->store = inner;
        d->lanes = id;
        d->steps = HONE_NO_ID;
        for (d->group = 2; d->group <= MAX_GROUP; d->group += 2)
            if (match_lanes(d)) return true;
        d->lanes = HONE_NO_ID;
        d->steps = id;
        return match_single(d);
    }
    d->store = lower_only_child(func, inner);
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

const hone_expr *lower_dot_side(const dot *d, hone_buffer buffer, const hone_expr *start,
                                int64_t lanes) {
    const hone_expr *e = lower_load_lanes(d->lower, buffer, start, d->group * lanes);
    if (d->group == 4 || d->is_float || !e) return e;
    return hone_expr_cast(&d->lower->ir, hone_dtype_with_lanes(HONE_DTYPE_I16, e->dtype.lanes), e);
}

const hone_expr *lower_dot_ones(const dot *d, bool is_unsigned, int64_t lanes) {
    hone_ir *ir = &d->lower->ir;
    hone_dtype bytes = is_unsigned ? HONE_DTYPE_MAKE(UINT, 8) : HONE_DTYPE_MAKE(INT, 8);
    const hone_expr *one = hone_expr_int(ir, d->group == 4 ? bytes : HONE_DTYPE_I16, 1);
    return hone_expr_broadcast(ir, one, (uint16_t)(d->group * lanes));
}

/* VNNI multiplies unsigned by signed bytes. */
static bool wants_raise(const dot *d, hone_buffer to) {
    const hone_func *func = d->lower->func;
    return d->group == 4 && !d->a_moves && hone_dtype_is_int(func->buffers[to].dtype) &&
           hone_dtype_is_int(func->buffers[d->a_buffer].dtype) &&
           hone_dtype_is_int(func->buffers[d->b_buffer].dtype) &&
           hone_target_has_feature(d->lower->options->target, "avx512vnni");
}

/* scale * dot(0, a, b), in so many lanes. */
static const hone_expr *sum_times(const dot *d, const hone_expr *scale, int64_t lanes,
                                  const hone_expr *a, const hone_expr *b) {
    hone_ir *ir = &d->lower->ir;
    hone_dtype dtype = hone_dtype_with_lanes(scale->dtype, (uint16_t)lanes);
    const hone_expr *none = hone_expr_int(ir, scale->dtype, 0);
    if (lanes > 1) {
        none = hone_expr_broadcast(ir, none, dtype.lanes);
        scale = hone_expr_broadcast(ir, scale, dtype.lanes);
    }
    const hone_expr *args[] = {none, a, b};
    return hone_expr_mul(ir, scale, hone_expr_call(ir, dtype, intrin_of(d), 3, args));
}

/* What zero points add beside the products. */
static const hone_expr *add_points(const dot *d, const hone_expr *value, bool is_begun,
                                   const hone_expr *a, const hone_expr *b) {
    hone_ir *ir = &d->lower->ir;
    if (!value || !a || !b) return NULL;
    if (d->b_scale && !is_begun) {
        const hone_expr *ones = lower_dot_ones(d, true, 1);
        value = hone_expr_add(ir, value, sum_times(d, d->b_scale, d->count, ones, b));
    }
    if (d->a_scale) {
        int64_t lanes = d->a_moves ? d->count : 1; /* all have the same */
        const hone_expr *ones = lower_dot_ones(d, hone_dtype_is_int(a->dtype), lanes);
        const hone_expr *sum = sum_times(d, d->a_scale, lanes, a, ones);
        if (!d->a_moves) sum = hone_expr_broadcast(ir, sum, (uint16_t)d->count);
        value = hone_expr_add(ir, value, sum);
    }
    if (!d->rest || !value) return value;
    const hone_expr *group = hone_expr_int(ir, d->rest->dtype, d->group);
    const hone_expr *rest = hone_simplify(d->arith, hone_expr_mul(ir, d->rest, group));
    return hone_expr_add(ir, value, hone_expr_broadcast(ir, rest, value->dtype.lanes));
}

/* for j in 80: S  ⇒  for o in unrolled(5): for j in o * 16 .. o * 16 + 16: S */
static hone_status cut(dot *d) {
    hone_node_id outer;
    int64_t part = part_of(d->count);
    HONE_TRY(lower_in_parts(d->lower, d->lanes, part, HONE_LOOP_UNROLLED, &outer));
    lower_wrap(d->lower->func, d->outer, outer);
    d->count = part;
    return HONE_OK;
}

/* What the products take for a, a group of A: raised by 128. */
static hone_status raise(const dot *d, const hone_expr *a, const hone_expr **out) {
    hone_ir *ir = &d->lower->ir;
    hone_dtype byte = HONE_DTYPE_MAKE(UINT, 8);
    hone_buffer copy;
    HONE_TRY(lower_dot_raise(d, &copy));
    if (copy != HONE_NO_ID) {
        *out = lower_load_lanes(d->lower, copy, at_start(d, d->a), 4);
        return HONE_OK;
    }
    *out = hone_expr_add(ir, hone_expr_cast(ir, hone_dtype_with_lanes(byte, 4), a),
                         hone_expr_broadcast(ir, hone_expr_int(ir, byte, 128), 4));
    return HONE_OK;
}

static hone_status replace(dot *d) {
    hone_func *func = d->lower->func;
    hone_ir *ir = &d->lower->ir;
    hone_buffer to = hone_func_node(func, d->store)->u.store.buffer;
    if (d->count > MAX_LANES) HONE_TRY(cut(d));
    bool is_begun = false, is_raised = d->lanes != HONE_NO_ID && wants_raise(d, to);
    const hone_expr *b = at_start(d, d->b), *c = at_start(d, d->c);
    if (is_raised || d->b_scale) HONE_TRY(lower_dot_begin(d, b, c, is_raised, &is_begun));
    is_raised = is_raised && is_begun;
    const hone_expr *a =
        lower_dot_side(d, d->a_buffer, at_start(d, d->a), d->a_moves ? d->count : 1);
    const hone_expr *raised = a;
    if (is_raised) HONE_TRY(raise(d, a, &raised));
    b = lower_dot_side(d, d->b_buffer, b, d->count);
    const hone_expr *args[] = {lower_load_lanes(d->lower, to, c, d->count), raised, b};
    hone_dtype dtype = hone_dtype_with_lanes(func->buffers[to].dtype, (uint16_t)d->count);
    const hone_expr *value = hone_expr_call(ir, dtype, intrin_of(d), 3, args);
    value = add_points(d, value, is_begun, a, b);
    HONE_TRY(lower_set_store(func, d->store, lower_lanes(ir, c, d->count), value));
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
    const lower_dot_copy *copies = NULL;
    hone_node_id next;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = next) {
        dot d = {.lower = lower, .arith = &arith, .io_copies = &copies};
        next = hone_tree_next(func, 0, n);
        if (!match(&d, n)) continue;
        next = hone_tree_next_over(func, 0, n);
        HONE_TRY(replace(&d));
    }
    return hone_ir_finish(&arith.ir);
}
