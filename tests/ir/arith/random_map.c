/* tests/ir/arith/random_map.c - numbers of loops, their digits, and what cuts them. */
#include "tests/ir/arith/random_map.h"

#include "tests/support/hone_test.h"

static uint32_t pick(random_map *f, uint32_t n) {
    return (uint32_t)hone_rng_below(&f->w.rng, n);
}

static const hone_expr *num(random_map *f, int64_t value) {
    return hone_expr_i32(&f->w.ir, value);
}

static const hone_expr *scaled(random_map *f, const hone_expr *e, int64_t factor) {
    return factor == 1 ? e : hone_expr_mul(&f->w.ir, e, num(f, factor));
}

/* The number, counted backwards. */
static const hone_expr *mirrored(random_map *f, const hone_expr *e, int64_t extent) {
    return hone_expr_sub(&f->w.ir, num(f, extent - 1), e);
}

/* Loops a..b of the world as one number, last fastest; *out_extent is its extent. */
static const hone_expr *fused(random_map *f, uint32_t from, uint32_t to, int64_t *out_extent) {
    const hone_expr *sum = NULL;
    int64_t scale = 1;
    for (uint32_t v = to; v-- > from;) {
        const hone_expr *digit = hone_expr_sub(&f->w.ir, world_var(&f->w, v), num(f, f->w.min[v]));
        if (pick(f, 8) == 0) digit = mirrored(f, digit, f->w.extent[v]);
        const hone_expr *part = scaled(f, digit, scale);
        sum = sum ? hone_expr_add(&f->w.ir, part, sum) : part;
        scale *= f->w.extent[v];
    }
    *out_extent = scale;
    return sum;
}

static void add_index(random_map *f, const hone_expr *e) {
    if (f->index_count < RANDOM_MAP_INDICES) f->indices[f->index_count++] = e;
}

static int64_t some_divisor(random_map *f, int64_t extent) {
    int64_t d = 1 + (int64_t)pick(f, (uint32_t)extent);
    if (pick(f, 3) == 0) return d; /* any number, mostly no divisor */
    while (extent % d)
        d--;
    return d;
}

/* A number of the given extent as one index or as two (quotient and remainder). */
static void add_number(random_map *f, const hone_expr *e, int64_t extent, int depth) {
    hone_ir *ir = &f->w.ir;
    if (pick(f, 6) == 0) e = mirrored(f, e, extent);
    if (depth == 0 || pick(f, 2) == 0) {
        if (pick(f, 6) == 0) e = hone_expr_add(ir, e, num(f, pick(f, 5)));
        if (pick(f, 10) == 0) e = scaled(f, e, 2);
        add_index(f, e);
        return;
    }
    int64_t d = some_divisor(f, extent);
    const hone_expr *high = hone_expr_floordiv(ir, e, num(f, d));
    const hone_expr *low = hone_expr_floormod(ir, e, num(f, d));
    if (pick(f, 8) == 0) high = low;
    switch (pick(f, 4)) {
    case 0: /* swap the digits of one number */
        add_number(f, hone_expr_add(ir, scaled(f, low, (extent + d - 1) / d), high), extent, 0);
        break;
    case 1:
        add_number(f, low, d, depth - 1);
        add_number(f, high, (extent + d - 1) / d, depth - 1);
        break;
    default:
        add_number(f, high, (extent + d - 1) / d, depth - 1);
        add_number(f, low, d, depth - 1);
        break;
    }
}

/* A condition on a number, as a split that does not divide leaves it; the extent that is left. */
static int64_t cut(random_map *f, const hone_expr *e, int64_t extent) {
    if (extent < 2) return extent;
    int64_t limit = 1 + (int64_t)pick(f, (uint32_t)extent);
    bool is_upper = pick(f, 4) != 0;
    const hone_expr *bound = is_upper
                                 ? hone_expr_binary(&f->w.ir, HONE_OP_LT, e, num(f, limit))
                                 : hone_expr_binary(&f->w.ir, HONE_OP_GE, e, num(f, limit - 1));
    f->predicate =
        f->predicate ? hone_expr_binary(&f->w.ir, HONE_OP_AND, f->predicate, bound) : bound;
    return is_upper ? limit : extent;
}

/* Splits that were fused: of the first loop one digit goes with the second loop, under a condition
 * (a % 22 * 6 + b < 128), and the other one alone. Returns how many loops that takes. */
static uint32_t add_regrouped(random_map *f) {
    hone_ir *ir = &f->w.ir;
    int64_t extent = 0, inner_extent = 0;
    const hone_expr *e = fused(f, 0, 1, &extent), *inner = fused(f, 1, 2, &inner_extent);
    int64_t d = some_divisor(f, extent), high_extent = (extent + d - 1) / d;
    const hone_expr *high = hone_expr_floordiv(ir, e, num(f, d));
    const hone_expr *low = hone_expr_floormod(ir, e, num(f, d));
    bool takes_low = pick(f, 2);
    const hone_expr *digit = takes_low ? low : high, *alone = takes_low ? high : low;
    int64_t digit_extent = takes_low ? d : high_extent;
    int64_t alone_extent = takes_low ? high_extent : d;
    const hone_expr *number = hone_expr_add(ir, scaled(f, digit, inner_extent), inner);
    if (pick(f, 3) == 0) number = hone_expr_add(ir, digit, scaled(f, inner, digit_extent));
    int64_t left = cut(f, number, digit_extent * inner_extent);
    if (pick(f, 3) == 0) alone_extent = cut(f, alone, alone_extent);
    add_number(f, number, left, 1);
    add_number(f, alone, alone_extent, 0);
    return 2;
}

/* A split of a split, neither of which divides: c*2 + d < 5 and a*5 + c*2 + d < 16. */
static void add_split_of_split(random_map *f) {
    hone_ir *ir = &f->w.ir;
    int64_t extent = 0, inner_extent = 0;
    const hone_expr *outer = fused(f, 0, 1, &extent);
    const hone_expr *inner = fused(f, 1, f->w.var_count, &inner_extent);
    int64_t left = cut(f, inner, inner_extent);
    const hone_expr *number = hone_expr_add(ir, scaled(f, outer, left), inner);
    extent = cut(f, number, extent * left);
    bool is_and = f->predicate && hone_expr_is_op(f->predicate, HONE_OP_AND);
    if (is_and && pick(f, 2)) {
        f->predicate =
            hone_expr_binary(ir, HONE_OP_AND, f->predicate->args[1], f->predicate->args[0]);
    }
    add_number(f, number, extent, 1);
}

/* Digits of a number whose first loop stands outside of the quotient, as a whole multiple, and is
 * left out of the remainder: a*12 + (b*3 + c) // 4 and (b*3 + c) % 4 where a*48 + b*3 + c < 60. */
static void add_whole_multiples(random_map *f) {
    hone_ir *ir = &f->w.ir;
    int64_t extent = 0, inner_extent = 0;
    const hone_expr *outer = fused(f, 0, 1, &extent);
    const hone_expr *inner = fused(f, 1, f->w.var_count, &inner_extent);
    int64_t d = some_divisor(f, inner_extent), cut_extent = 0;
    const hone_expr *whole = hone_expr_add(ir, scaled(f, outer, inner_extent), inner);
    if (pick(f, 2)) { /* a condition on all but the last loop says as much */
        const hone_expr *shorter = fused(f, 0, f->w.var_count - 1, &cut_extent);
        cut(f, shorter, cut_extent);
    } else {
        cut(f, whole, extent * inner_extent);
    }
    const hone_expr *high = hone_expr_floordiv(ir, inner, num(f, d));
    add_index(f, hone_expr_add(ir, scaled(f, outer, inner_extent / d), high));
    if (pick(f, 4)) add_index(f, hone_expr_floormod(ir, inner, num(f, d)));
}

/* As schedules write them: (a * 64 + b) // 8 % 6 is (a * 8 + b // 8) % 6. */
static void simplify_indices(random_map *f) {
    hone_arith arith;
    hone_arith_init(&arith, f->w.ir.arena);
    for (uint32_t v = 0; v < f->w.var_count; v++)
        assert_true(hone_arith_bind(&arith, v, f->iters[v].range));
    for (uint32_t i = 0; i < f->index_count; i++)
        f->indices[i] = hone_simplify(&arith, f->indices[i]);
}

void random_map_make(random_map *f, hone_arena *arena, uint64_t seed) {
    *f = (random_map){
        .w = {.ir = {.arena = arena}, .rng = hone_rng_from_seed(seed)}
    };
    world_roll(&f->w, 4, 96);
    for (uint32_t v = 0; v < f->w.var_count; v++) {
        f->iters[v] = (hone_iter){
            v, {num(f, f->w.min[v]), num(f, f->w.extent[v])}
        };
    }
    uint32_t from = f->w.var_count > 1 && pick(f, 4) == 0 ? add_regrouped(f) : 0;
    if (!from && f->w.var_count > 2 && pick(f, 4) == 0) {
        if (pick(f, 2))
            add_split_of_split(f);
        else
            add_whole_multiples(f);
        from = f->w.var_count;
    }
    while (from < f->w.var_count) {
        uint32_t to = from + 1 + pick(f, f->w.var_count - from);
        int64_t extent = 0;
        const hone_expr *e = fused(f, from, to, &extent);
        if (pick(f, 3) == 0) extent = cut(f, e, extent);
        add_number(f, e, extent, 2);
        from = to;
    }
    if (pick(f, 6) == 0) f->indices[pick(f, f->index_count)] = world_affine_expr(&f->w, 3);
    if (pick(f, 3) == 0) simplify_indices(f);
    if (pick(f, 8)) return;
    f->predicate = world_bool_expr(&f->w, 2);
    int64_t truth = 0;
    do { /* only predicates that have a value everywhere */
        if (!world_eval(&f->w, f->predicate, &truth)) {
            f->predicate = NULL;
            return;
        }
    } while (world_next(&f->w));
}

bool random_map_counts(const random_map *map) {
    int64_t truth = 1;
    return !map->predicate || (world_eval(&map->w, map->predicate, &truth) && truth);
}
