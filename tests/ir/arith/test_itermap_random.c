/* tests/ir/arith/test_itermap_random.c - what the iterator maps claim, against all points. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/arith/itermap.h"
#include "tests/ir/arith/arith_random.h"
#include "tests/support/hone_test.h"

enum { MAX_INDICES = 3, MAX_TUPLES = 512 };

typedef struct fixture {
    hone_arena *arena;
    world w;
    hone_arith arith;
    hone_iter iters[WORLD_MAX_VARS];
    uint32_t index_count;
    const hone_expr *indices[MAX_INDICES];
    const hone_expr *predicate; /* NULL = true */
    uint64_t seed;
    uint64_t injective, surjective, bijective, really_bijective;
} fixture;

static uint32_t pick(fixture *f, uint32_t n) {
    return (uint32_t)hone_rng_below(&f->w.rng, n);
}

static const hone_expr *num(fixture *f, int64_t value) {
    return hone_expr_i32(&f->w.ir, value);
}

static const hone_expr *scaled(fixture *f, const hone_expr *e, int64_t factor) {
    return factor == 1 ? e : hone_expr_mul(&f->w.ir, e, num(f, factor));
}

/* The number, counted backwards. */
static const hone_expr *mirrored(fixture *f, const hone_expr *e, int64_t extent) {
    return hone_expr_sub(&f->w.ir, num(f, extent - 1), e);
}

/* Loops a..b of the world as one number, last fastest; *out_extent is its extent. */
static const hone_expr *fused(fixture *f, uint32_t from, uint32_t to, int64_t *out_extent) {
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

static void add_index(fixture *f, const hone_expr *e) {
    if (f->index_count < MAX_INDICES) f->indices[f->index_count++] = e;
}

static int64_t some_divisor(fixture *f, int64_t extent) {
    int64_t d = 1 + (int64_t)pick(f, (uint32_t)extent);
    if (pick(f, 3) == 0) return d; /* any number, mostly no divisor */
    while (extent % d)
        d--;
    return d;
}

/* A number of the given extent as one index or as two (quotient and remainder). */
static void add_number(fixture *f, const hone_expr *e, int64_t extent, int depth) {
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
static int64_t cut(fixture *f, const hone_expr *e, int64_t extent) {
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
static uint32_t add_regrouped(fixture *f) {
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
static void add_split_of_split(fixture *f) {
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

/* As schedules write them: (a * 64 + b) // 8 % 6 is (a * 8 + b // 8) % 6. */
static void simplify_indices(fixture *f) {
    hone_arith arith;
    hone_arith_init(&arith, f->arena);
    for (uint32_t v = 0; v < f->w.var_count; v++)
        assert_true(hone_arith_bind(&arith, v, f->iters[v].range));
    for (uint32_t i = 0; i < f->index_count; i++)
        f->indices[i] = hone_simplify(&arith, f->indices[i]);
}

static void make_map(fixture *f, uint64_t seed) {
    hone_arena_reset(f->arena);
    f->w = (world){.ir = {.arena = f->arena}, .rng = hone_rng_from_seed(seed)};
    f->seed = seed;
    world_roll(&f->w, 4, 96);
    f->index_count = 0;
    f->predicate = NULL;
    hone_arith_init(&f->arith, f->arena);
    for (uint32_t v = 0; v < f->w.var_count; v++) {
        f->iters[v] = (hone_iter){
            v, {num(f, f->w.min[v]), num(f, f->w.extent[v])}
        };
    }
    uint32_t from = f->w.var_count > 1 && pick(f, 4) == 0 ? add_regrouped(f) : 0;
    if (!from && f->w.var_count > 2 && pick(f, 4) == 0) {
        add_split_of_split(f);
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

static void complain(const fixture *f, const char *what) {
    hone_str text = {0};
    hone_str_printf(&text, "seed %" PRIu64 ": %s\n ", f->seed, what);
    for (uint32_t i = 0; i < f->index_count; i++) {
        hone_str_printf(&text, " ");
        world_print(f->indices[i], &text);
    }
    if (f->predicate) {
        hone_str_printf(&text, "\n  where ");
        world_print(f->predicate, &text);
    }
    for (uint32_t v = 0; v < f->w.var_count; v++) {
        hone_str_printf(&text, "\n  %c in [%" PRId64 ", +%" PRId64 ")", (char)('a' + v),
                        f->w.min[v], f->w.extent[v]);
    }
    print_error("%s\n", text.data);
    hone_str_deinit(&text);
}

/* All index tuples of points where the predicate holds. */
typedef struct tuples {
    uint32_t count;
    int64_t values[MAX_TUPLES][MAX_INDICES];
} tuples;

static bool point_counts(const fixture *f) {
    int64_t truth = 1;
    return !f->predicate || (world_eval(&f->w, f->predicate, &truth) && truth);
}

static void run_points(fixture *f, tuples *all) {
    all->count = 0;
    world_first(&f->w);
    do {
        if (!point_counts(f)) continue;
        memset(all->values[all->count], 0, sizeof all->values[0]);
        for (uint32_t i = 0; i < f->index_count; i++) {
            world_eval(&f->w, f->indices[i], &all->values[all->count][i]);
        }
        all->count++;
    } while (world_next(&f->w));
}

static int compare_tuples(const void *x, const void *y) {
    return memcmp(x, y, sizeof(int64_t[MAX_INDICES]));
}

static uint32_t distinct(tuples *all) {
    qsort(all->values, all->count, sizeof all->values[0], compare_tuples);
    uint32_t n = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        n += i == 0 || compare_tuples(all->values[i - 1], all->values[i]) != 0;
    }
    return n;
}

/* The number of tuples in the box that the sums span. */
static int64_t box_size(const hone_itermap *map) {
    int64_t size = 1;
    for (uint32_t i = 0; i < map->count; i++) {
        int64_t range = 1;
        for (uint32_t j = 0; j < map->sums[i].count; j++) {
            const hone_iter_split *s = &map->sums[i].splits[j];
            range += s->scale->u.i * (s->extent->u.i - 1);
        }
        size *= range;
    }
    return size;
}

static bool detect(fixture *f, hone_itermap_level level, bool trivial, hone_itermap *map) {
    return hone_itermap_detect(&f->arith, f->index_count, f->indices, f->w.var_count, f->iters,
                               f->predicate, level, trivial, map);
}

static bool sums_are_right(fixture *f, const hone_itermap *map, const hone_expr *const *simple) {
    const hone_expr *texts[MAX_INDICES] = {NULL};
    for (uint32_t i = 0; i < map->count; i++) {
        texts[i] = hone_iter_sum_expr(&f->arith, &map->sums[i], HONE_DTYPE_I32);
        if (!texts[i]) return false;
    }
    world_first(&f->w);
    do {
        if (!point_counts(f)) continue;
        for (uint32_t i = 0; i < map->count; i++) {
            int64_t want = 0, got = 0, also = 0;
            if (!world_eval(&f->w, f->indices[i], &want)) continue;
            if (!world_eval(&f->w, texts[i], &got) || got != want) return false;
            if (!world_eval(&f->w, simple[i], &also) || also != want) return false;
        }
    } while (world_next(&f->w));
    return true;
}

/* The predicate leaves the loop one value: the map need not say anything of it. */
static bool is_pinned(const fixture *f, uint32_t v) {
    fixture inner = *f;
    world_first(&inner.w);
    do {
        if (point_counts(&inner) && inner.w.value[v] != f->w.value[v]) return false;
    } while (world_next(&inner.w));
    return true;
}

static bool inverse_is_right(fixture *f, const hone_itermap *map) {
    world_first(&f->w);
    do {
        const hone_expr *values[MAX_INDICES], *loops[WORLD_MAX_VARS];
        if (!point_counts(f)) continue;
        hone_arena_mark mark = hone_arena_get_mark(f->arena);
        hone_arith arith;
        hone_arith_init(&arith, f->arena);
        for (uint32_t i = 0; i < f->index_count; i++) {
            int64_t value = 0;
            world_eval(&f->w, f->indices[i], &value);
            values[i] = num(f, value);
        }
        if (!hone_itermap_inverse(&arith, map, values, f->w.var_count, f->iters, loops))
            return false;
        for (uint32_t v = 0; v < f->w.var_count; v++) {
            if (!loops[v] ? !is_pinned(f, v) : !hone_expr_is_int_value(loops[v], f->w.value[v])) {
                return false;
            }
        }
        hone_arena_rewind(f->arena, mark);
    } while (world_next(&f->w));
    return true;
}

static bool is_a_point(const tuples *all, const int64_t *tuple) {
    for (uint32_t i = 0; i < all->count; i++) {
        if (memcmp(all->values[i], tuple, sizeof all->values[0]) == 0) return true;
    }
    return false;
}

/* The next tuple of the box that the sums span; false behind the last. */
static bool next_in_box(const hone_itermap *map, int64_t *tuple, const int64_t *first) {
    for (uint32_t i = map->count; i-- > 0;) {
        int64_t range = 1;
        for (uint32_t j = 0; j < map->sums[i].count; j++) {
            const hone_iter_split *s = &map->sums[i].splits[j];
            range += s->scale->u.i * (s->extent->u.i - 1);
        }
        if (++tuple[i] < first[i] + range) return true;
        tuple[i] = first[i];
    }
    return false;
}

/* Of an injective map of whole loops: index values in the box are those of a point, or said to be
 * padding. */
static bool padded_inverse_is_right(fixture *f, const hone_itermap *map, const tuples *all) {
    int64_t tuple[MAX_INDICES] = {0}, first[MAX_INDICES] = {0};
    if (f->predicate || box_size(map) > MAX_TUPLES) return true;
    for (uint32_t i = 0; i < map->count; i++)
        tuple[i] = first[i] = map->sums[i].base->u.i;
    do {
        const hone_expr *values[MAX_INDICES], *loops[WORLD_MAX_VARS], *padding = NULL;
        hone_arena_mark mark = hone_arena_get_mark(f->arena);
        hone_arith arith;
        hone_arith_init(&arith, f->arena);
        for (uint32_t i = 0; i < f->index_count; i++)
            values[i] = num(f, tuple[i]);
        if (!hone_itermap_inverse_padded(&arith, map, values, f->w.var_count, f->iters, loops,
                                         &padding)) {
            return true; /* it may say that it does not know */
        }
        bool is_padding = padding && hone_expr_is_int_value(padding, 1);
        if (is_a_point(all, tuple) == is_padding) return false;
        hone_arena_rewind(f->arena, mark);
    } while (next_in_box(map, tuple, first));
    return true;
}

static int check_map(fixture *f) {
    static tuples all;
    hone_itermap map;
    run_points(f, &all);
    uint32_t n = distinct(&all);
    bool is_injective = n == all.count;
    const hone_expr *simple[MAX_INDICES];
    hone_itermap_simplify(&f->arith, f->index_count, f->indices, f->w.var_count, f->iters,
                          f->predicate, simple);
    const char *wrong = NULL;
    for (int trivial = 0; trivial < 2 && !wrong; trivial++) {
        if (detect(f, HONE_ITERMAP_NONE, trivial, &map) && !sums_are_right(f, &map, simple)) {
            wrong = "the sums have other values";
        }
        if (detect(f, HONE_ITERMAP_INJECTIVE, trivial, &map)) {
            f->injective++;
            if (!is_injective)
                wrong = "said to be injective";
            else if (!padded_inverse_is_right(f, &map, &all))
                wrong = "the padding is wrong";
        }
        if (detect(f, HONE_ITERMAP_SURJECTIVE, trivial, &map)) {
            f->surjective++;
            if (n != box_size(&map)) wrong = "said to be surjective";
        }
        if (detect(f, HONE_ITERMAP_BIJECTIVE, trivial, &map)) {
            f->bijective++;
            if (!is_injective || n != box_size(&map))
                wrong = "said to be bijective";
            else if (!inverse_is_right(f, &map))
                wrong = "the inverse is wrong";
        }
        if (f->arith.fact_count || f->arith.ir.error) wrong = "facts or errors are left behind";
    }
    if (wrong) complain(f, wrong);
    return wrong != NULL;
}

static void random_maps(void **state) {
    (void)state;
    fixture f = {.arena = hone_arena_create(1 << 16)};
    assert_non_null(f.arena);
    uint64_t start = hone_test_seed(1), count = hone_test_count(12000);
    int failures = 0;
    for (uint64_t i = 0; i < count && failures < 5; i++) {
        make_map(&f, start + i);
        failures += check_map(&f);
    }
    hone_arena_destroy(f.arena);
    print_message("of %" PRIu64 " maps: %" PRIu64 " injective, %" PRIu64 " surjective, %" PRIu64
                  " bijective\n",
                  count, f.injective / 2, f.surjective / 2, f.bijective / 2);
    assert_int_equal(failures, 0);
    /* the generator makes bijections mostly: a detector that refuses all would pass otherwise */
    if (count >= 1000) assert_true(f.bijective / 2 > count / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_maps)};
    return cmocka_run_group_tests_name("ir/itermap_random", tests, NULL, NULL);
}
