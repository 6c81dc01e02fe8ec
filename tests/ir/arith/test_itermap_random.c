/* tests/ir/arith/test_itermap_random.c - what the iterator maps claim, against all points. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ir/arith/random_map.h"
#include "tests/support/hone_test.h"

enum { MAX_TUPLES = 512 };

typedef struct fixture {
    hone_arena *arena;
    random_map map;
    hone_arith arith;
    uint64_t seed;
    uint64_t injective, surjective, bijective, really_bijective;
} fixture;

static const hone_expr *num(fixture *f, int64_t value) {
    return hone_expr_i32(&f->map.w.ir, value);
}

static void make_map(fixture *f, uint64_t seed) {
    hone_arena_reset(f->arena);
    f->seed = seed;
    random_map_make(&f->map, f->arena, seed);
    hone_arith_init(&f->arith, f->arena);
}

static void complain(const fixture *f, const char *what) {
    hone_str text = {0};
    hone_str_printf(&text, "seed %" PRIu64 ": %s\n ", f->seed, what);
    for (uint32_t i = 0; i < f->map.index_count; i++) {
        hone_str_printf(&text, " ");
        world_print(f->map.indices[i], &text);
    }
    if (f->map.predicate) {
        hone_str_printf(&text, "\n  where ");
        world_print(f->map.predicate, &text);
    }
    for (uint32_t v = 0; v < f->map.w.var_count; v++) {
        hone_str_printf(&text, "\n  %c in [%" PRId64 ", +%" PRId64 ")", (char)('a' + v),
                        f->map.w.min[v], f->map.w.extent[v]);
    }
    print_error("%s\n", text.data);
    hone_str_deinit(&text);
}

/* All index tuples of points where the predicate holds. */
typedef struct tuples {
    uint32_t count;
    int64_t values[MAX_TUPLES][RANDOM_MAP_INDICES];
} tuples;

static void run_points(fixture *f, tuples *all) {
    all->count = 0;
    world_first(&f->map.w);
    do {
        if (!random_map_counts(&f->map)) continue;
        memset(all->values[all->count], 0, sizeof all->values[0]);
        for (uint32_t i = 0; i < f->map.index_count; i++) {
            world_eval(&f->map.w, f->map.indices[i], &all->values[all->count][i]);
        }
        all->count++;
    } while (world_next(&f->map.w));
}

static int compare_tuples(const void *x, const void *y) {
    return memcmp(x, y, sizeof(int64_t[RANDOM_MAP_INDICES]));
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
    return hone_itermap_detect(&f->arith, f->map.index_count, f->map.indices, f->map.w.var_count,
                               f->map.iters, f->map.predicate, level, trivial, map);
}

static bool sums_are_right(fixture *f, const hone_itermap *map, const hone_expr *const *simple) {
    const hone_expr *texts[RANDOM_MAP_INDICES] = {NULL};
    for (uint32_t i = 0; i < map->count; i++) {
        texts[i] = hone_iter_sum_expr(&f->arith, &map->sums[i], HONE_DTYPE_I32);
        if (!texts[i]) return false;
    }
    world_first(&f->map.w);
    do {
        if (!random_map_counts(&f->map)) continue;
        for (uint32_t i = 0; i < map->count; i++) {
            int64_t want = 0, got = 0, also = 0;
            if (!world_eval(&f->map.w, f->map.indices[i], &want)) continue;
            if (!world_eval(&f->map.w, texts[i], &got) || got != want) return false;
            if (!world_eval(&f->map.w, simple[i], &also) || also != want) return false;
        }
    } while (world_next(&f->map.w));
    return true;
}

/* The predicate leaves the loop one value: the map need not say anything of it. */
static bool is_pinned(const fixture *f, uint32_t v) {
    fixture inner = *f;
    world_first(&inner.map.w);
    do {
        if (random_map_counts(&inner.map) && inner.map.w.value[v] != f->map.w.value[v])
            return false;
    } while (world_next(&inner.map.w));
    return true;
}

static bool inverse_is_right(fixture *f, const hone_itermap *map) {
    world_first(&f->map.w);
    do {
        const hone_expr *values[RANDOM_MAP_INDICES], *loops[WORLD_MAX_VARS];
        if (!random_map_counts(&f->map)) continue;
        hone_arena_mark mark = hone_arena_get_mark(f->arena);
        hone_arith arith;
        hone_arith_init(&arith, f->arena);
        for (uint32_t i = 0; i < f->map.index_count; i++) {
            int64_t value = 0;
            world_eval(&f->map.w, f->map.indices[i], &value);
            values[i] = num(f, value);
        }
        if (!hone_itermap_inverse(&arith, map, values, f->map.w.var_count, f->map.iters, loops))
            return false;
        for (uint32_t v = 0; v < f->map.w.var_count; v++) {
            if (!loops[v] ? !is_pinned(f, v)
                          : !hone_expr_is_int_value(loops[v], f->map.w.value[v])) {
                return false;
            }
        }
        hone_arena_rewind(f->arena, mark);
    } while (world_next(&f->map.w));
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
    int64_t tuple[RANDOM_MAP_INDICES] = {0}, first[RANDOM_MAP_INDICES] = {0};
    if (f->map.predicate || box_size(map) > MAX_TUPLES) return true;
    for (uint32_t i = 0; i < map->count; i++)
        tuple[i] = first[i] = map->sums[i].base->u.i;
    do {
        const hone_expr *values[RANDOM_MAP_INDICES], *loops[WORLD_MAX_VARS], *padding = NULL;
        hone_arena_mark mark = hone_arena_get_mark(f->arena);
        hone_arith arith;
        hone_arith_init(&arith, f->arena);
        for (uint32_t i = 0; i < f->map.index_count; i++)
            values[i] = num(f, tuple[i]);
        if (!hone_itermap_inverse_padded(&arith, map, values, f->map.w.var_count, f->map.iters,
                                         loops, &padding)) {
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
    const hone_expr *simple[RANDOM_MAP_INDICES];
    hone_itermap_simplify(&f->arith, f->map.index_count, f->map.indices, f->map.w.var_count,
                          f->map.iters, f->map.predicate, simple);
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
