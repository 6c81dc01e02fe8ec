/* tests/ir/region/test_region_random.c - boxes around random accesses, against all points: nothing
 * that is touched lies outside, and of a box that is said to be exact everything is touched.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/region/region.h"
#include "tests/ir/arith/random_map.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"

enum { SIZE = 600, MAX_ELEMENTS = 96 * 27 };

/* Buffers of one dimension, two and three. */
static const char buffers[] =
    "@T.prim_func\n"
    "def main(a: T.int32, b: T.int32, c: T.int32, d: T.int32, X: T.Buffer((600,)), "
    "Y: T.Buffer((600, 600)), Z: T.Buffer((600, 600, 600))):\n"
    "    X[0] = Y[0, 0] + Z[0, 0, 0]\n";

typedef struct fixture {
    hone_arena *arena;
    const hone_func *func;
    random_map map;
    hone_region region;
    hone_range ranges[RANDOM_MAP_INDICES];
    bool relax[WORLD_MAX_VARS]; /* all loops from the first on that runs */
    uint32_t fixed;             /* loops before that */
    hone_interval box[RANDOM_MAP_INDICES];
    bool is_exact;
    uint64_t exact, really_exact, boxes;
} fixture;

static uint32_t pick(fixture *f, uint32_t n) {
    return (uint32_t)hone_rng_below(&f->map.w.rng, n);
}

static hone_buffer buffer_of_rank(const hone_func *func, uint32_t rank) {
    for (uint32_t i = 0; i < func->param_count; i++) {
        hone_buffer buffer = func->params[i].buffer;
        if (buffer != HONE_NO_ID && hone_func_buffer(func, buffer)->rank == rank) return buffer;
    }
    return HONE_NO_ID;
}

/* Elements of their own, or boxes side by side or apart. */
static void make_access(fixture *f, uint64_t seed) {
    hone_arena_reset(f->arena);
    random_map_make(&f->map, f->arena, seed);
    hone_ir *ir = &f->map.w.ir;
    for (uint32_t i = 0; i < f->map.index_count; i++) {
        int64_t extent = pick(f, 6) ? 1 : 1 + pick(f, 3), step = pick(f, 3) ? extent : 1;
        const hone_expr *by = hone_expr_i32(ir, step);
        if (step > 1) f->map.indices[i] = hone_expr_mul(ir, f->map.indices[i], by);
        f->ranges[i] = (hone_range){f->map.indices[i], hone_expr_i32(ir, extent)};
    }
    f->region.buffer = buffer_of_rank(f->func, f->map.index_count);
    f->region.ranges = f->ranges;
    f->fixed = pick(f, 3) ? 0 : pick(f, f->map.w.var_count);
    for (uint32_t v = 0; v < WORLD_MAX_VARS; v++)
        f->relax[v] = v >= f->fixed && v < f->map.w.var_count;
}

static hone_status find_box(fixture *f) {
    hone_arith arith;
    hone_arith_init(&arith, f->arena);
    for (uint32_t v = 0; v < f->map.w.var_count; v++)
        assert_true(hone_arith_bind(&arith, v, f->map.iters[v].range));
    return hone_access_relax(&arith, f->func, HONE_NO_ID, &f->region, f->map.predicate, f->relax,
                             WORLD_MAX_VARS, f->box, &f->is_exact);
}

typedef int64_t element[RANDOM_MAP_INDICES];

typedef struct elements {
    uint32_t count;
    element items[MAX_ELEMENTS];
} elements;

/* The box of the region at one point. */
static void add_region(fixture *f, elements *all) {
    element first = {0}, extent = {1, 1, 1}, at;
    for (uint32_t i = 0; i < f->map.index_count; i++) {
        assert_true(world_eval(&f->map.w, f->ranges[i].min, &first[i]));
        extent[i] = f->ranges[i].extent->u.i;
    }
    for (at[0] = 0; at[0] < extent[0]; at[0]++) {
        for (at[1] = 0; at[1] < extent[1]; at[1]++) {
            for (at[2] = 0; at[2] < extent[2]; at[2]++) {
                for (uint32_t i = 0; i < RANDOM_MAP_INDICES; i++)
                    all->items[all->count][i] = first[i] + at[i];
                all->count++;
            }
        }
    }
}

static int compare_elements(const void *x, const void *y) {
    return memcmp(x, y, sizeof(element));
}

static int64_t count_different(elements *all) {
    qsort(all->items, all->count, sizeof all->items[0], compare_elements);
    int64_t n = 0;
    for (uint32_t i = 0; i < all->count; i++)
        n += i == 0 || compare_elements(all->items[i - 1], all->items[i]) != 0;
    return n;
}

/* Elements outside of the buffer count as nowhere: the box may be cut to it. */
static bool is_outside(const fixture *f, const element e, const element min, const element max) {
    bool is_out = false;
    for (uint32_t i = 0; i < f->map.index_count; i++) {
        if (e[i] < 0 || e[i] >= SIZE) return false;
        is_out = is_out || e[i] < min[i] || e[i] > max[i];
    }
    return is_out;
}

/* What of the box is wrong where the fixed loops are as the world is now; NULL: nothing. */
static const char *look(fixture *f, elements *all) {
    element min = {0}, max = {0};
    int64_t size = 1;
    for (uint32_t i = 0; i < f->map.index_count; i++) {
        if (!world_eval(&f->map.w, f->box[i].min, &min[i]) ||
            !world_eval(&f->map.w, f->box[i].max, &max[i]))
            return "the box has no value";
        size *= max[i] < min[i] ? 0 : max[i] - min[i] + 1;
    }
    for (uint32_t i = 0; i < all->count; i++) {
        if (is_outside(f, all->items[i], min, max)) return "an element lies outside";
    }
    bool is_whole = count_different(all) == size;
    f->boxes++;
    f->exact += f->is_exact;
    f->really_exact += is_whole;
    return f->is_exact && !is_whole ? "said to be exact" : NULL;
}

static bool next_fixed(fixture *f) {
    world *w = &f->map.w;
    for (uint32_t v = 0; v < f->fixed; v++) {
        if (++w->value[v] < w->min[v] + w->extent[v]) return true;
        w->value[v] = w->min[v];
    }
    return false;
}

static bool next_relaxed(fixture *f) {
    world *w = &f->map.w;
    for (uint32_t v = f->fixed; v < w->var_count; v++) {
        if (++w->value[v] < w->min[v] + w->extent[v]) return true;
        w->value[v] = w->min[v];
    }
    return false;
}

static void complain(const fixture *f, uint64_t seed, const char *what) {
    hone_str text = {0};
    hone_str_printf(&text, "seed %" PRIu64 ": %s", seed, what);
    for (uint32_t i = 0; i < f->map.index_count; i++) {
        hone_str_printf(&text, "\n  %" PRId64 " from ", f->ranges[i].extent->u.i);
        world_print(f->ranges[i].min, &text);
        hone_str_printf(&text, " in ");
        world_print(f->box[i].min, &text);
        hone_str_printf(&text, " to ");
        world_print(f->box[i].max, &text);
    }
    if (f->map.predicate) {
        hone_str_printf(&text, "\n  where ");
        world_print(f->map.predicate, &text);
    }
    for (uint32_t v = 0; v < f->map.w.var_count; v++) {
        hone_str_printf(&text, "\n  %c = %" PRId64 " in [%" PRId64 ", +%" PRId64 ")%s",
                        (char)('a' + v), f->map.w.value[v], f->map.w.min[v], f->map.w.extent[v],
                        f->relax[v] ? ", runs" : "");
    }
    print_error("%s\n", text.data);
    hone_str_deinit(&text);
}

static bool is_right(fixture *f, uint64_t seed) {
    static elements all;
    const char *wrong = NULL;
    make_access(f, seed);
    HONE_ASSERT_OK(find_box(f));
    world_first(&f->map.w);
    do {
        all.count = 0;
        do {
            if (random_map_counts(&f->map)) add_region(f, &all);
        } while (next_relaxed(f));
        wrong = look(f, &all);
    } while (!wrong && next_fixed(f));
    if (wrong) complain(f, seed, wrong);
    return !wrong;
}

static void random_boxes(void **state) {
    (void)state;
    hone_module *module = NULL;
    fixture f = {.arena = hone_arena_create(1 << 16), .func = hone_test_parse(buffers, &module)};
    assert_non_null(f.arena);
    uint64_t first = hone_test_seed(1), count = hone_test_count(12000);
    int failures = 0;
    for (uint64_t i = 0; i < count && failures < 5; i++)
        failures += !is_right(&f, first + i);
    hone_module_release(module);
    hone_arena_destroy(f.arena);
    print_message("of %" PRIu64 " boxes %" PRIu64 " are exact, %" PRIu64 " said so\n", f.boxes,
                  f.really_exact, f.exact);
    assert_int_equal(failures, 0);
    if (count >= 1000) assert_true(f.exact > f.really_exact / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_boxes)};
    return cmocka_run_group_tests_name("ir/region_random", tests, NULL, NULL);
}
