/* tests/ir/arith/test_itermap.c - iterator maps that schedules make, one row each. All single
 * letters are variables (arith_text.h); the loops are those named in the row. */
#include <stdio.h>

#include "ir/arith/itermap.h"
#include "tests/ir/arith/arith_text.h"
#include "tests/support/hone_test.h"

enum { MAX = 6 };

/* clang-format off */
static const struct row {
    const char *indices[MAX];
    const char *loops[MAX]; /* "x:32", or "x:n // 4" */
    const char *where;
    const char
        *level; /* the best level: "bijective", "injective", "surjective", "sum", or why not */
} rows[] = {
    {{"x", "y"}, {"x:4", "y:8"}, NULL, "bijective"},
    {{"y", "x"}, {"x:4", "y:8"}, NULL, "bijective"},
    {{"x * 8 + y"}, {"x:4", "y:8"}, NULL, "bijective"},
    {{"y * 4 + x"}, {"x:4", "y:8"}, NULL, "bijective"},
    {{"x * 8 + y + 5"}, {"x:4", "y:8"}, NULL, "bijective"},
    {{"x // 8", "x % 8"}, {"x:32"}, NULL, "bijective"},
    {{"x // 8", "x // 2 % 4", "x % 2"}, {"x:32"}, NULL, "bijective"},
    {{"x"}, {"x:(n - 4) // 4 + 1"}, NULL, "bijective"},
    {{"x * 4 + y"},
     {"x:((n - 4) // 4 + 4) // 4", "y:4"},
     "x * 4 + y < (n - 4) // 4 + 1",
     "bijective"},
    {{"x * 6 + y"}, {"x:(n + 3) // 6", "y:6"}, "x * 6 + y < n - 2", "bijective"},
    {{"x % 8 * 4 + x // 8"}, {"x:32"}, NULL, "bijective"},
    {{"(x * 8 + y) // 4", "(x * 8 + y) % 4"}, {"x:4", "y:8"}, NULL, "bijective"},
    {{"(x * 6 + y) // 4", "(x * 6 + y) % 4"}, {"x:4", "y:6"}, NULL, "bijective"},
    {{"x * 4 + y"}, {"x:3", "y:4"}, "x * 4 + y < 10", "bijective"},
    {{"(x * 4 + y) // 5", "(x * 4 + y) % 5"}, {"x:3", "y:4"}, "x * 4 + y < 10", "bijective"},
    {{"x // 2", "(x * 6 + y) // 4 % 3", "(x * 6 + y) % 4"}, {"x:4", "y:6"}, NULL, "bijective"},
    {{"x // 2", "(x * 6 + y) // 4 % 3", "(x * 6 + y) % 4"}, {"x:5", "y:6"}, NULL, "injective"},
    {{"(x * 18 + y * 2 + z) // 21", "(x * 6 + (y * 2 + z) // 3) % 7", "(y * 2 + z) % 3"},
     {"x:7", "y:9", "z:2"},
     NULL,
     "bijective"},
    {{"(x * 18 + y * 2 + z) // 21", "(x * 6 + (y * 2 + z) // 3) % 7", "(y * 2 + z) % 3"},
     {"x:17", "y:9", "z:2"},
     "x * 18 + y * 2 + z < 294",
     "bijective"},
    {{"x // 3", "(x * 6 + y) // 4 % 3", "(x * 6 + y) % 4"}, {"x:6", "y:6"}, NULL, "sum"},
    {{"(x * 6 + y) // 8", "y // 4", "(x * 6 + y) % 4"}, {"x:4", "y:6"}, NULL, "sum"},
    {{"x * 8 + y // 8", "y % 8"}, {"x:5", "y:64"}, "x * 64 + y < 288", "bijective"},
    {{"(x + y) % 3", "(x * 4 + y) // 3"}, {"x:3", "y:4"}, "x * 4 + y < 9", "bijective"},
    {{"x * 8 + y // 8", "y % 16"}, {"x:5", "y:64"}, "x * 64 + y < 288", "injective"},
    {{"x * 8 + y // 8", "y % 8"}, {"x:5", "y:64"}, "x * 64 + y < 290", "injective"},
    {{"x * 12 + (y * 3 + z) // 4", "(y * 3 + z) % 4"},
     {"x:2", "y:16", "z:3"},
     "x * 48 + y * 3 + z < 60",
     "bijective"},
    {{"x * 12 + (y * 3 + z) // 4", "(y * 3 + z) % 4"},
     {"x:2", "y:16", "z:3"},
     "x * 48 + y * 3 + z < 58",
     "injective"},
    {{"x * 12 + (y * 3 + z) // 4"},
     {"x:2", "y:16", "z:3", "w:2"},
     "x * 96 + y * 6 + z * 2 + w < 104",
     "surjective"},
    {{"(x * 4 + y) * 2 + z"}, {"x:3", "y:4", "z:2"}, "x * 4 + y < 10", "bijective"},
    {{"(x * 3 + y) * 4 + z"}, {"x:2", "y:3", "z:4"}, "(x * 3 + y) * 4 + z < 21", "bijective"},
    {{"x * 5 + y * 2 + z"},
     {"x:4", "y:3", "z:2"},
     "x * 5 + y * 2 + z < 16 and y * 2 + z < 5",
     "bijective"},
    {{"x * 5 + y * 2 + z"},
     {"x:4", "y:3", "z:2"},
     "y * 2 + z < 5 and x * 5 + y * 2 + z < 16",
     "bijective"},
    {{"x * 5 + y * 2 + z"},
     {"x:(n + 4) // 5", "y:3", "z:2"},
     "x * 5 + y * 2 + z < n and y * 2 + z < 5",
     "bijective"},
    {{"x * 5 + y * 2 + z"},
     {"x:4", "y:3", "z:2"},
     "x * 5 + y * 2 + z < 16 and y * 2 + z < 4",
     "injective"},
    {{"x * 7 + y * 5 + z * 3 + w"},
     {"x:3", "y:2", "z:2", "w:3"},
     "x * 7 + y * 5 + z * 3 + w < 20 and z * 3 + w < 5 and y * 5 + z * 3 + w < 7",
     "bijective"},
    {{"x * 7 + y * 5 + z * 3 + w"},
     {"x:3", "y:2", "z:2", "w:3"},
     "x * 7 + y * 5 + z * 3 + w < 20 and y * 5 + z * 3 + w < 7",
     "sum"},
    {{"x"}, {"x:8"}, "x < 5", "bijective"},
    {{"x % 22 * 6 + y", "x // 22"}, {"x:176", "y:6"}, "x % 22 * 6 + y < 128", "bijective"},
    {{"x // 22 * 6 + y", "x % 22"}, {"x:484", "y:6"}, "x // 22 * 6 + y < 128", "bijective"},
    {{"x % 22 * 6 + y", "x // 22 * 16 + z"},
     {"x:176", "y:6", "z:16"},
     "x % 22 * 6 + y < 128",
     "bijective"},
    {{"x // 22 * 16 + y", "x % 22 * 6 + z"},
     {"x:176", "y:16", "z:6"},
     "x // 22 * 16 + y < 127 and x % 22 * 6 + z < 128",
     "bijective"},
    {{"x * 4 + y"}, {"x:(n + 3) // 4", "y:4"}, "x * 4 + y < n", "bijective"},
    {{"(x * 4 + y) // n", "(x * 4 + y) % n"},
     {"x:(n * 6 + 3) // 4", "y:4"},
     "x * 4 + y < n * 6 and (x * 4 + y) // n < 3",
     "bijective"},
    {{"x * m + y"}, {"x:n", "y:m"}, NULL, "bijective"},
    {{"(x * m + y) // m", "(x * m + y) % m"}, {"x:n", "y:m"}, NULL, "bijective"},
    {{"x * 16 + y", "z"}, {"x:n", "y:16", "z:m"}, NULL, "bijective"},
    {{"x", "y"}, {"x:4", "y:1"}, NULL, "bijective"},
    {{"x", "0"}, {"x:4", "y:1"}, NULL, "bijective"},
    {{"x // 4", "x % 4"}, {"x:10"}, NULL, "injective"},
    {{"x * 2"}, {"x:10"}, NULL, "injective"},
    {{"x * 8 + y"}, {"x:4", "y:3"}, NULL, "injective"},
    {{"x", "x"}, {"x:4"}, NULL, "injective"},
    {{"x", "y"}, {"x:3", "y:4"}, "x * 4 + y < 10", "injective"},
    {{"x"}, {"x:4", "y:8"}, NULL, "surjective"},
    {{"x // 8"}, {"x:32"}, NULL, "surjective"},
    {{"x + y"}, {"x:4", "y:8"}, NULL, "sum"},
    {{"x * 2 + y"}, {"x:4", "y:3"}, NULL, "sum"},
    {{"x * y"}, {"x:4", "y:8"}, NULL, "an index is a product of loops"},
    {{"x // y"}, {"x:4", "y:8"}, NULL, "a divisor uses a loop"},
    {{"max(x, y)"}, {"x:4", "y:8"}, NULL, "an index is not affine in the loops"},
    {{"(x + 1) // 4"}, {"x:10"}, NULL, "an offset stands below a division"},
};
/* clang-format on */

typedef struct task {
    hone_arith arith;
    uint32_t index_count, loop_count;
    const hone_expr *indices[MAX], *where;
    hone_iter loops[MAX];
} task;

static bool detect(task *t, hone_itermap_level level, hone_itermap *map) {
    return hone_itermap_detect(&t->arith, t->index_count, t->indices, t->loop_count, t->loops,
                               t->where, level, true, map);
}

static const char *best_level(task *t) {
    hone_itermap map;
    if (detect(t, HONE_ITERMAP_BIJECTIVE, &map)) return "bijective";
    if (detect(t, HONE_ITERMAP_INJECTIVE, &map)) return "injective";
    if (detect(t, HONE_ITERMAP_SURJECTIVE, &map)) return "surjective";
    return detect(t, HONE_ITERMAP_NONE, &map) ? "sum" : map.reason;
}

static void check_row(void **state) {
    const struct row *row = *state;
    hone_arena *arena = hone_arena_create(4096);
    task t = {.index_count = 0};
    hone_arith_init(&t.arith, arena);
    text_bind(&t.arith);
    hone_ir *ir = &t.arith.ir;
    for (; t.index_count < MAX && row->indices[t.index_count]; t.index_count++) {
        t.indices[t.index_count] = text_expr(ir, row->indices[t.index_count]);
    }
    for (; t.loop_count < MAX && row->loops[t.loop_count]; t.loop_count++) {
        const char *text = row->loops[t.loop_count];
        hone_range range = {hone_expr_i32(ir, 0), text_expr(ir, text + 2)};
        t.loops[t.loop_count] = (hone_iter){(hone_var)(text[0] - 'a'), range};
    }
    t.where = row->where ? text_expr(ir, row->where) : NULL;
    char got[128];
    snprintf(got, sizeof got, "%s", best_level(&t));
    hone_status st = hone_ir_finish(ir);
    hone_arena_destroy(arena);
    HONE_ASSERT_OK(st);
    assert_string_equal(got, row->level);
}

/* The inverse of a symbolic map, as text. */
static void inverts_a_split(void **state) {
    (void)state;
    hone_arena *arena = hone_arena_create(4096);
    task t = {.index_count = 1, .loop_count = 2};
    hone_arith_init(&t.arith, arena);
    text_bind(&t.arith);
    hone_ir *ir = &t.arith.ir;
    t.indices[0] = text_expr(ir, "x * 8 + y");
    t.loops[0] = (hone_iter){
        'x' - 'a', {text_expr(ir, "0"), text_expr(ir, "4")}
    };
    t.loops[1] = (hone_iter){
        'y' - 'a', {text_expr(ir, "0"), text_expr(ir, "8")}
    };
    hone_itermap map;
    const hone_expr *value = text_expr(ir, "v"), *out[2] = {NULL};
    hone_str text = {0};
    bool ok = detect(&t, HONE_ITERMAP_BIJECTIVE, &map) &&
              hone_itermap_inverse(&t.arith, &map, &value, 2, t.loops, out) && out[0] && out[1];
    if (ok) {
        text_print(out[0], &text);
        hone_str_printf(&text, ", ");
        text_print(out[1], &text);
    }
    char got[64];
    snprintf(got, sizeof got, "%s", text.data ? text.data : "");
    hone_str_deinit(&text);
    hone_arena_destroy(arena);
    assert_string_equal(got, "v // 8, v % 8");
}

/* 127 of x, of which x // 16 and x % 16 are taken, are as good as 128: then the map is bijective.
 */
static void lengthens_a_loop(void **state) {
    (void)state;
    hone_arena *arena = hone_arena_create(4096);
    task t = {.index_count = 2, .loop_count = 1};
    hone_arith_init(&t.arith, arena);
    text_bind(&t.arith);
    hone_ir *ir = &t.arith.ir;
    t.indices[0] = text_expr(ir, "x // 16");
    t.indices[1] = text_expr(ir, "x % 16");
    t.loops[0] = (hone_iter){
        'x' - 'a', {text_expr(ir, "0"), text_expr(ir, "127")}
    };
    hone_itermap map;
    const hone_iter *longer = NULL, *same = NULL;
    bool was_bijective = detect(&t, HONE_ITERMAP_BIJECTIVE, &map);
    bool ok = hone_itermap_detect_lengthened(&t.arith, 2, t.indices, 1, t.loops, &longer, &map);
    int64_t extent = ok ? hone_expr_const(longer[0].range.extent) : 0;
    bool is_bijective =
        ok && hone_itermap_detect_lengthened(&t.arith, 2, t.indices, 1, longer, &same, &map);
    bool is_same = same == longer;
    hone_arena_destroy(arena);
    assert_false(was_bijective);
    assert_int_equal(extent, 128);
    assert_true(is_bijective && is_same);
}

int main(void) {
    const struct CMUnitTest single[] = {cmocka_unit_test(inverts_a_split),
                                        cmocka_unit_test(lengthens_a_loop)};
    int failed = HONE_RUN_ROWS("ir/itermap", rows, check_row); /* named by the first index */
    return failed + cmocka_run_group_tests_name("ir/itermap inverse", single, NULL, NULL);
}
