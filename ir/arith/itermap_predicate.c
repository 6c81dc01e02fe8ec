/* ir/arith/itermap_predicate.c - predicates as bounds on sums of loops.
 *
 * A split of 10 by 4 leaves "i0*4 + i1 < 10" behind. The sum i0*4 + i1 is a mixed-radix number of
 * extent 12, and under the predicate one of extent 10: wherever a map uses that sum it uses the
 * constrained number, and stays a bijection. A split of a split leaves i0*4 + i1*2 + i2 < 10 and
 * i1*2 + i2 < 3: conditions on few loops are read first, and the longer ones are about the numbers
 * that these bound.
 */
#include "ir/arith/itermap_impl.h"

/* A digit of a loop, times a coefficient: (loop // 22) * 16. */
static bool take_digit(imap *m, const hone_expr *term, int64_t coeff, imap_sum *loops) {
    imap_sum parsed;
    if (!hone_expr_is_divmod(term) || !imap_parse(m, term, &parsed) || parsed.count != 1) {
        return false;
    }
    hone_iter_split digit = parsed.splits[0];
    if (digit.source->is_fused || parsed.base.count || parsed.base.constant) return false;
    digit.scale = imap_mul(m, digit.scale, imap_int(m, coeff));
    return digit.scale && hone_expr_is_int(digit.scale) && imap_add_split(m, loops, digit);
}

/* sum = rest + sum of coeff * loop, or of a digit of one: takes the loops out. False when another
 * term uses a loop. */
static bool take_loops(imap *m, const arith_sum *s, imap_sum *loops) {
    imap_sum_init(loops);
    arith_sum_add_const(&loops->base, s->constant, 1);
    for (uint32_t i = 0; i < s->count; i++) {
        const hone_expr *term = s->terms[i].term;
        int64_t k = term->kind == HONE_EXPR_VAR ? imap_loop_of(m, term->u.var) : -1;
        int64_t c = s->terms[i].coeff;
        if (k < 0 && imap_uses_loops(m, term)) {
            if (!take_digit(m, term, c, loops)) return false;
            continue;
        }
        if (k < 0) {
            arith_sum_add_term(m->a, &loops->base, term, c);
            continue;
        }
        arith_sum_add_expr(m->a, &loops->base, m->loop_mins[k], c);
        if (!m->loops[k].extent) continue;
        hone_iter_split split = {&m->loops[k], imap_int(m, 1), m->loops[k].extent, imap_int(m, c)};
        if (!imap_add_split(m, loops, split)) return false;
    }
    return arith_sum_finish(m->a, &loops->base);
}

/* All coefficients of one sign: makes them positive with no common divisor. False otherwise. */
static bool normalise(imap *m, imap_sum *s, int64_t *out_sign, int64_t *out_divisor) {
    int64_t g = 0;
    bool negative = s->count && s->splits[0].scale->u.i < 0;
    for (uint32_t i = 0; i < s->count; i++) {
        int64_t c = s->splits[i].scale->u.i;
        if ((c < 0) != negative || c == 0 || c == INT64_MIN) return false;
        g = hone_gcd(g, c);
    }
    for (uint32_t i = 0; i < s->count; i++) {
        int64_t c = s->splits[i].scale->u.i / g;
        s->splits[i].scale = imap_int(m, negative ? -c : c);
    }
    *out_sign = negative ? -1 : 1;
    *out_divisor = g;
    return true;
}

static const hone_expr *tighter(imap *m, const hone_expr *old, const hone_expr *bound,
                                bool is_upper) {
    if (!old) return bound;
    if (is_upper ? imap_less_equal(m, old, bound) : imap_less_equal(m, bound, old)) return old;
    hone_op op = is_upper ? HONE_OP_MIN : HONE_OP_MAX;
    return arith_simp(m->a, hone_expr_binary(&m->a->ir, op, old, bound));
}

static bool is_whole_loop(const hone_iter_split *split) {
    return imap_is_one(split->lower) && hone_expr_same(split->extent, split->source->extent);
}

static imap_constraint *find_constraint(imap *m, const imap_sum *s) {
    for (uint32_t c = 0; c < m->constraint_count; c++) {
        imap_constraint *known = &m->constraints[c];
        uint32_t i = 0;
        if (known->count != s->count) continue;
        while (i < s->count && imap_same_split(&known->splits[i], &s->splits[i]) &&
               hone_expr_same(known->splits[i].scale, s->splits[i].scale)) {
            i++;
        }
        if (i == s->count) return known;
    }
    void *items = m->constraints;
    if (!arith_grow(m->a, &items, m->constraint_count, &m->constraint_capacity,
                    sizeof *m->constraints)) {
        return NULL;
    }
    m->constraints = items;
    imap_constraint *made = &m->constraints[m->constraint_count++];
    *made = (imap_constraint){.count = s->count, .splits = s->splits};
    return made;
}

/* A number that was used in a condition before all of its bounds were read is made anew; where
 * others are made of it, the bound is lost. */
static void make_anew(imap *m, imap_constraint *c) {
    for (uint32_t k = 0; c->source && k < m->constraint_count; k++) {
        for (uint32_t i = 0; i < m->constraints[k].count; i++) {
            m->predicate_is_lost |= m->constraints[k].splits[i].source == c->source;
        }
    }
    c->source = NULL;
}

/* A bound on one loop: the loop becomes shorter. */
static bool shrink_loop(imap *m, hone_iter_source *loop, const hone_expr *bound, bool is_upper) {
    hone_ir *ir = &m->a->ir;
    const hone_expr *one = imap_int(m, 1), *zero = imap_int(m, 0), *extent = NULL;
    if (is_upper) {
        extent = arith_simp(m->a, hone_expr_add(ir, bound, one));
        if (imap_less_equal(m, loop->extent, extent)) return true;
    } else {
        if (imap_less_equal(m, bound, zero)) return true;
        if (!imap_less_equal(m, zero, bound)) return false;
        extent = arith_simp(m->a, hone_expr_sub(ir, loop->extent, bound));
    }
    if (!imap_less_equal(m, one, extent) || !imap_less_equal(m, extent, loop->extent)) return false;
    loop->extent = extent;
    if (!is_upper) loop->min = arith_simp(m->a, hone_expr_add(ir, loop->min, bound));
    m->loop_mins[loop - m->loops] = loop->min;
    return loop->min != NULL;
}

static bool apply_first(imap *m, uint32_t count, imap_sum *s, int64_t modulus);

/* Puts numbers that conditions on fewer loops bound in their place; their least values go over to
 * the bound. */
static bool use_shorter(imap *m, imap_sum *loops, const hone_expr **io_bound) {
    imap_sum s = {.count = loops->count, .capacity = loops->capacity, .splits = loops->splits};
    arith_sum_init(&s.base);
    if (!apply_first(m, m->shorter_count, &s, 0)) return false;
    const hone_expr *base = arith_sum_expr(m->a, &s.base, m->dtype, NULL);
    *io_bound = arith_simp(m->a, hone_expr_sub(&m->a->ir, *io_bound, base));
    loops->count = s.count;
    loops->capacity = s.capacity;
    loops->splits = s.splits;
    bool is_sorted = *io_bound && imap_sort_splits(m, s.splits, s.count);
    m->predicate_is_lost |= !is_sorted;
    return is_sorted;
}

/* s >= 0, s = base + sum: an upper bound base when the coefficients are negative, else a lower
 * bound -base; divided by what they have in common. */
static bool add_bound(imap *m, const arith_sum *s) {
    imap_sum loops;
    int64_t sign = 0, g = 0;
    if (!take_loops(m, s, &loops) || loops.count == 0 || !normalise(m, &loops, &sign, &g)) {
        m->predicate_is_lost = true;
        return !m->a->ir.error;
    }
    arith_sum end, scaled;
    arith_sum_init(&end);
    arith_sum_add_sum(m->a, &end, &loops.base, -sign);
    if (sign > 0) arith_sum_add_const(&end, g - 1, 1); /* a lower bound rounds up */
    if (!arith_sum_finish(m->a, &end) ||
        !arith_divmod_const(m->a, &end, g, false, m->dtype, &scaled)) {
        m->predicate_is_lost = true;
        return true;
    }
    const hone_expr *bound = arith_sum_expr(m->a, &scaled, m->dtype, NULL);
    if (!bound || !imap_sort_splits(m, loops.splits, loops.count)) {
        m->predicate_is_lost = true;
        return true;
    }
    if (m->predicate_pass == 0 && loops.count > m->most_loops) m->most_loops = loops.count;
    if (loops.count == 1) {
        hone_iter_source *loop = &m->loops[loops.splits[0].source - m->loops];
        bool is_whole = is_whole_loop(&loops.splits[0]);
        if (m->predicate_pass == 0 && (!is_whole || !shrink_loop(m, loop, bound, sign < 0))) {
            m->predicate_is_lost = true;
        }
        return true;
    }
    if (m->predicate_pass != loops.count) return true;
    if (!use_shorter(m, &loops, &bound)) return !m->a->ir.error;
    imap_constraint *c = find_constraint(m, &loops);
    if (!c) return false;
    const hone_expr *lower = c->lower, *upper = c->upper;
    if (sign > 0)
        c->lower = tighter(m, lower, bound, false);
    else
        c->upper = tighter(m, upper, bound, true);
    if (c->lower != lower || c->upper != upper) make_anew(m, c);
    return true;
}

static bool read_comparison(imap *m, const hone_expr *e) {
    arith_sum d, s;
    hone_op op = (hone_op)e->op;
    if (op == HONE_OP_NE || !arith_is_index(e->args[0]->dtype) ||
        !arith_sum_diff(m->a, &d, e->args[0], e->args[1])) {
        m->predicate_is_lost = true;
        return true;
    }
    if (arith_decide(m->a, op, &d, ARITH_QUICK_FUEL) == 1) return true;
    bool flip = op == HONE_OP_LT || op == HONE_OP_LE;
    arith_sum_init(&s);
    arith_sum_add_sum(m->a, &s, &d, flip ? -1 : 1);
    if (op == HONE_OP_LT || op == HONE_OP_GT) arith_sum_add_const(&s, -1, 1);
    if (s.failed) {
        m->predicate_is_lost = true;
        return true;
    }
    if (!add_bound(m, &s)) return false;
    if (op != HONE_OP_EQ) return true;
    arith_sum_init(&s);
    arith_sum_add_sum(m->a, &s, &d, -1);
    return add_bound(m, &s);
}

/* As it stands; where that is no bound on loops, without its quotient. */
static bool read_either_way(imap *m, const hone_expr *e) {
    bool was_lost = m->predicate_is_lost;
    m->predicate_is_lost = false;
    if (!read_comparison(m, e)) return false;
    if (m->predicate_is_lost) {
        const hone_expr *undivided = hone_undivided(m->a, e);
        if (!undivided) return false;
        m->predicate_is_lost = undivided == e;
        if (undivided != e && !read_comparison(m, undivided)) return false;
    }
    m->predicate_is_lost |= was_lost;
    return true;
}

bool imap_read_predicate(imap *m, const hone_expr *e) {
    if (e->kind == HONE_EXPR_INT) {
        m->predicate_is_lost |= e->u.i == 0;
        return true;
    }
    if (hone_expr_is_call(e, HONE_INTRIN_LIKELY)) return imap_read_predicate(m, e->args[0]);
    if (hone_expr_is_op(e, HONE_OP_AND)) {
        return imap_read_predicate(m, e->args[0]) && imap_read_predicate(m, e->args[1]);
    }
    if (e->kind == HONE_EXPR_BINARY && hone_op_is_compare((hone_op)e->op)) {
        return read_either_way(m, e);
    }
    m->predicate_is_lost = true;
    return true;
}

/* ---- use ---- */

/* The constrained number, made on first use. */
static bool make_source(imap *m, imap_constraint *c) {
    if (c->source) return true;
    if (!imap_is_compact(m, c->splits, c->count) || !imap_is_one(c->splits[c->count - 1].scale)) {
        return false;
    }
    hone_ir *ir = &m->a->ir;
    const hone_expr *zero = imap_int(m, 0), *one = imap_int(m, 1);
    const hone_expr *end = imap_mul(m, c->splits[0].scale, c->splits[0].extent);
    const hone_expr *lower = c->lower && !imap_less_equal(m, c->lower, zero) ? c->lower : zero;
    if (lower != zero && !imap_less_equal(m, zero, lower)) return false;
    if (c->upper) {
        const hone_expr *limit = arith_simp(m->a, hone_expr_add(ir, c->upper, one));
        if (!imap_less_equal(m, end, limit)) {
            if (!imap_less_equal(m, limit, end)) return false;
            end = limit;
        }
    }
    const hone_expr *extent = lower == zero ? end : arith_simp(m->a, hone_expr_sub(ir, end, lower));
    /* open sizes, W - 2: where that is negative there are no iterations, as where it is 0 */
    bool is_open = extent && lower == zero && !hone_expr_is_int(extent);
    if (!extent || (!is_open && !imap_less_equal(m, zero, extent))) return false;
    /* the source counts from 0: its sum is shifted down by the lower end */
    const hone_expr *base = arith_simp(m->a, hone_expr_sub(ir, zero, lower));
    c->source = imap_fuse(m, c->splits, c->count, extent, base);
    c->source_min = lower;
    return c->source != NULL;
}

static int64_t find_split(const imap_sum *s, const hone_iter_split *want) {
    for (uint32_t i = 0; i < s->count; i++) {
        if (imap_same_split(&s->splits[i], want)) return i;
    }
    return -1;
}

/* The last of the digits of a loop (or of a digit of one): (loop // lower), to the loop's end. */
static int64_t find_top_digit(imap *m, const imap_sum *s, const hone_iter_split *loop) {
    const hone_expr *ignored = NULL;
    for (uint32_t i = 0; i < s->count; i++) {
        const hone_iter_split *at = &s->splits[i];
        if (at->source != loop->source || !imap_divide(m, at->lower, loop->lower, &ignored)) {
            continue;
        }
        if (imap_equal(m, imap_end_of(m, at), imap_end_of(m, loop))) return i;
    }
    return -1;
}

/* x == y, or where a modulus is given, x == y up to multiples of it. */
static bool equal_modulo(imap *m, const hone_expr *x, const hone_expr *y, int64_t modulus) {
    if (!modulus) return imap_equal(m, x, y);
    return x && y && hone_expr_is_int(x) && hone_expr_is_int(y) &&
           x->u.i % modulus == y->u.i % modulus;
}

/* A digit of the number that some loops of the constraint make by themselves, as far as that
 * number's end; *out_first is the first of these loops, *out_divisor by what the digit divides the
 * constrained number:
 *
 *     f0*48 + f1*3 + f2 < 60      f0*12 + (f1*3 + f2) // 4: f1, divisor 4
 *     f0*96 + f1*6 + f2*2 + f3    f0*12 + (f1*3 + f2) // 4: f1, divisor 8 */
static bool is_digit_of_part(imap *m, const imap_constraint *c, const hone_iter_split *digit,
                             uint32_t *out_first, const hone_expr **out_divisor) {
    const hone_iter_sum *part = &digit->source->sum;
    uint32_t first = 1;
    if (!digit->source->is_fused || !hone_expr_is_int_value(part->base, 0)) return false;
    while (first < c->count && !imap_same_split(&c->splits[first], &part->splits[0]))
        first++;
    if (part->count > c->count - first || !imap_reaches_top(m, digit)) return false;
    const hone_expr *unit = c->splits[first + part->count - 1].scale;
    for (uint32_t i = 0; i < part->count; i++) {
        const hone_iter_split *loop = &c->splits[first + i];
        if (!imap_same_split(loop, &part->splits[i]) ||
            !imap_equal(m, loop->scale, imap_mul(m, part->splits[i].scale, unit)))
            return false;
    }
    *out_first = first;
    *out_divisor = imap_mul(m, unit, digit->lower);
    return *out_divisor != NULL;
}

/* Do splits of s make, times the scale of the one at `at`, the constrained number // divisor? The
 * one at `at` comes from the loops of the constraint from the j-th on; the loops of larger scale
 * stand in s as a whole. Where the sum is taken modulo something, they stand there with what is
 * left of their scale, or not at all:
 *
 *     f0*64 + f1 < 288        f0*64 + f1: divisor 1        f0*8 + f1 // 8: divisor 8
 *                             (f0*16 + f1) % 48: divisor 1, modulo 48 */
static bool has_loops_above(imap *m, const imap_sum *s, const imap_constraint *c, uint32_t j,
                            int64_t at, int64_t modulus, const hone_expr *divisor) {
    const hone_expr *ratio = NULL;
    for (uint32_t i = 0; i < j; i++) {
        int64_t outer = find_split(s, &c->splits[i]);
        if (!imap_divide(m, c->splits[i].scale, divisor, &ratio)) return false;
        if (outer < 0 && !modulus) return false;
        const hone_expr *scale = outer < 0 ? imap_int(m, 0) : s->splits[outer].scale;
        const hone_expr *wanted = imap_mul(m, s->splits[at].scale, ratio);
        if (!equal_modulo(m, scale, wanted, modulus)) return false;
    }
    return true;
}

static bool counts_from_0(const imap_constraint *c) {
    return hone_expr_is_int_value(c->source_min, 0);
}

/* Puts the constrained number // divisor in place of the splits that matched. */
static bool replace(imap *m, imap_sum *s, const imap_constraint *c, uint32_t j, int64_t at,
                    const hone_expr *divisor) {
    const hone_expr *factor = s->splits[at].scale;
    s->splits[at] = s->splits[--s->count];
    for (uint32_t i = 0; i < j; i++) {
        int64_t outer = find_split(s, &c->splits[i]);
        if (outer >= 0) s->splits[outer] = s->splits[--s->count];
    }
    const hone_expr *shift = imap_mul(m, factor, c->source_min);
    arith_sum_add_expr(m->a, &s->base, shift, 1);
    if (!arith_sum_finish(m->a, &s->base)) return false;
    const hone_expr *extent = imap_ceildiv(m, c->source->extent, divisor);
    return imap_add_split(m, s, (hone_iter_split){c->source, divisor, extent, factor});
}

/* The splits of s that are a quotient of the constrained number, replaced by it. False: memory. */
static bool use_number(imap *m, imap_sum *s, imap_constraint *c, uint32_t j, int64_t at,
                       int64_t modulus, const hone_expr *divisor, bool *out_done) {
    *out_done = has_loops_above(m, s, c, j, at, modulus, divisor) && make_source(m, c) &&
                (imap_is_one(divisor) || counts_from_0(c));
    return !*out_done || replace(m, s, c, j, at, divisor);
}

/* By a top digit of one of its loops, the last one first, or of some of them together. */
static bool apply_constraint(imap *m, imap_constraint *c, imap_sum *s, int64_t modulus) {
    const hone_expr *divisor = NULL, *ratio = NULL;
    bool done = false;
    uint32_t first;
    for (uint32_t j = c->count; j-- > 1 && !done;) {
        int64_t at = find_top_digit(m, s, &c->splits[j]);
        if (at < 0 || !imap_divide(m, s->splits[at].lower, c->splits[j].lower, &ratio)) continue;
        divisor = imap_mul(m, c->splits[j].scale, ratio);
        if (!use_number(m, s, c, j, at, modulus, divisor, &done)) return false;
    }
    for (uint32_t at = 0; at < s->count && !done; at++) {
        if (!is_digit_of_part(m, c, &s->splits[at], &first, &divisor)) continue;
        if (!use_number(m, s, c, first, at, modulus, divisor, &done)) return false;
    }
    return true;
}

/* The first count constraints. */
static bool apply_first(imap *m, uint32_t count, imap_sum *s, int64_t modulus) {
    for (uint32_t k = 0; k < count; k++) {
        imap_constraint *c = &m->constraints[k];
        if (!imap_is_one(c->splits[c->count - 1].scale)) continue;
        if (!apply_constraint(m, c, s, modulus)) return false;
    }
    return true;
}

bool imap_apply_constraints(imap *m, imap_sum *s, int64_t modulus) {
    return apply_first(m, m->constraint_count, s, modulus);
}

/* A digit of one loop as the digit of the constrained number that it is. The uppermost one may have
 * fewer values under the constraint: it is left alone where it must not become shorter. */
static bool turn_digit(imap *m, const imap_constraint *c, bool may_shrink, hone_iter_split *io) {
    const hone_expr *ignored = NULL, *below = NULL, *end = imap_end_of(m, io);
    for (uint32_t j = 0; j < c->count; j++) {
        const hone_iter_split *loop = &c->splits[j];
        if (loop->source != io->source || !imap_divide(m, imap_end_of(m, loop), end, &ignored))
            continue;
        if (!imap_divide(m, io->lower, loop->lower, &below)) continue;
        const hone_expr *lower = imap_mul(m, loop->scale, below), *extent = io->extent;
        if (j == 0 && imap_equal(m, end, imap_end_of(m, loop))) {
            extent = lower ? imap_ceildiv(m, c->source->extent, lower) : NULL;
        }
        if (!lower || !extent) return false;
        if (!may_shrink && !imap_equal(m, extent, io->extent)) return true;
        *io = (hone_iter_split){c->source, lower, extent, io->scale};
        return true;
    }
    return true;
}

static bool is_constrained(const imap *m, const hone_iter_source *source) {
    for (uint32_t k = 0; k < m->constraint_count; k++) {
        if (m->constraints[k].source == source) return true;
    }
    return false;
}

static bool turn_sum(imap *m, bool may_shrink, hone_iter_sum *sum) {
    for (uint32_t k = 0; k < m->constraint_count; k++) {
        const imap_constraint *c = &m->constraints[k];
        for (uint32_t i = 0; c->source && counts_from_0(c) && i < sum->count; i++) {
            if (!turn_digit(m, c, may_shrink, &sum->splits[i])) return false;
        }
    }
    return true;
}

bool imap_turn_digits(imap *m, uint32_t count, hone_iter_sum *sums) {
    if (m->constraint_count == 0) return true;
    for (uint32_t i = 0; i < count; i++) {
        if (!turn_sum(m, true, &sums[i])) return false;
    }
    for (uint32_t i = 0; i < m->fused_count; i++) {
        if (is_constrained(m, m->fused[i])) continue;
        if (!turn_sum(m, false, &m->fused[i]->sum)) return false;
    }
    return true;
}
