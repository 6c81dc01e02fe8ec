/* tests/tuner/test_made_inputs.c - inputs that are made up for tasks: offsets, places, what is
 * given, and what else is tried. */
#include "tuner/task/made_inputs.h"

#include <string.h>

#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"

static const char program[] =
    "@T.prim_func\n"
    "def main(P: T.Buffer((17,), \"int32\"), I: T.Buffer((16,), \"int64\"),\n"
    "         D: T.Buffer((16,), \"int32\"), X: T.Buffer((99,), \"float32\"),\n"
    "         O: T.Buffer((40,), \"float32\")):\n"
    "  for i in range(16):\n"
    "    with T.block(\"O\"):\n"
    "      vi = T.axis.spatial(16, i)\n"
    "      T.reads(P[vi:vi + 2], I[vi], D[vi], X[0:99])\n"
    "      T.writes(O[0:40])\n"
    "      s = T.alloc_buffer((1,), \"float32\", scope=\"local\")\n"
    "      s[0] = T.float32(0)\n"
    "      for k in range(P[vi], P[vi + 1]):\n"
    "        s[0] = s[0] + X[k]\n"
    "      O[I[vi]] = s[0] + T.Cast(\"float32\", vi // D[vi])\n";

#define INT(bits) HONE_DTYPE_INIT(INT, bits, 1)
#define REAL HONE_DTYPE_INIT(FLOAT, 32, 1)
static const hone_arg args[] = {
    {"P", INT(32), HONE_ARG_IN,    1, {17}},
    {"I", INT(64), HONE_ARG_IN,    1, {16}},
    {"D", INT(32), HONE_ARG_IN,    1, {16}},
    {"X", REAL,    HONE_ARG_IN,    1, {99}},
    {"O", REAL,    HONE_ARG_INOUT, 1, {40}},
};
static const hone_manifest manifest = {.entry = "f", .arg_count = HONE_COUNT(args), .args = args};

typedef struct fixture {
    hone_module *module;
    const hone_func *func;
    hone_arena *arena;
    hone_made_inputs inputs;
} fixture;

static void open_fixture(fixture *f, const hone_given_input *given, size_t count) {
    f->func = hone_test_parse(program, &f->module);
    f->arena = hone_arena_create(4096);
    HONE_ASSERT_OK(
        hone_made_inputs_derive(f->func, "main", &manifest, 7, given, count, f->arena, &f->inputs));
}

static void close_fixture(fixture *f) {
    hone_arena_destroy(f->arena);
    hone_module_release(f->module);
}

static void fill(fixture *f, uint32_t n) {
    hone_status st;
    assert_true(hone_made_inputs_fill(&f->inputs, n, &st));
    HONE_ASSERT_OK(st);
}

static void offsets_rise_and_places_differ(void **state) {
    (void)state;
    fixture f;
    open_fixture(&f, NULL, 0);
    fill(&f, 0);
    assert_null(f.inputs.problem);
    const int32_t *offsets = f.inputs.items[0].values;
    const int64_t *places = f.inputs.items[1].values;
    assert_true(offsets[0] == 0 && offsets[16] == 99);
    for (int i = 0; i < 16; i++) {
        assert_true(offsets[i] <= offsets[i + 1]);
        assert_in_range(places[i], 0, 39);
        for (int k = 0; k < i; k++)
            assert_true(places[i] != places[k]);
    }
    assert_null(f.inputs.items[2].values);
    assert_true(f.inputs.items[2].generator.low == 1 && f.inputs.items[2].generator.high == 9);
    assert_true(f.inputs.items[3].generator.low == -1);
    close_fixture(&f);
}

/* Empty rows do not suit everything. */
static void offsets_rise_strictly_then(void **state) {
    (void)state;
    fixture f;
    open_fixture(&f, NULL, 0);
    fill(&f, 1);
    const int32_t *offsets = f.inputs.items[0].values;
    assert_true(offsets[0] == 0 && offsets[16] == 99);
    for (int i = 0; i < 16; i++)
        assert_true(offsets[i] < offsets[i + 1]);
    close_fixture(&f);
}

static void the_same_seed_makes_the_same(void **state) {
    (void)state;
    fixture f, g;
    open_fixture(&f, NULL, 0);
    open_fixture(&g, NULL, 0);
    fill(&f, 0);
    fill(&g, 0);
    assert_memory_equal(f.inputs.items[0].values, g.inputs.items[0].values, 17 * sizeof(int32_t));
    assert_memory_equal(f.inputs.items[1].values, g.inputs.items[1].values, 16 * sizeof(int64_t));
    close_fixture(&f);
    close_fixture(&g);
}

/* Other fills leave what is given alone, and end. */
static void what_is_given_stays(void **state) {
    (void)state;
    fixture f;
    int32_t divisors[16];
    int64_t count = 16;
    for (int i = 0; i < 16; i++)
        divisors[i] = 1000 + i;
    hone_tensor tensor = hone_tensor_view(divisors, HONE_DTYPE_I32, 1, &count);
    const hone_given_input given[] = {
        {"other", 2, NULL   },
        {"main",  2, &tensor}
    };
    open_fixture(&f, given, 2);
    hone_status st;
    uint32_t n = 0;
    for (; hone_made_inputs_fill(&f.inputs, n, &st); n++) {
        HONE_ASSERT_OK(st);
        assert_ptr_equal(f.inputs.items[2].values, divisors);
        assert_int_equal(f.inputs.items[0].values != NULL, n < 2);
    }
    HONE_ASSERT_OK(st);
    assert_in_range(n, 2, 10);
    close_fixture(&f);
}

static void outputs_are_not_given(void **state) {
    (void)state;
    hone_module *module;
    hone_arena *arena = hone_arena_create(4096);
    hone_arg pure[HONE_COUNT(args)];
    float data[40] = {0};
    int64_t count = 40;
    hone_made_inputs inputs;
    memcpy(pure, args, sizeof args);
    pure[4].role = HONE_ARG_OUT;
    const hone_manifest wanted = {.entry = "f", .arg_count = HONE_COUNT(pure), .args = pure};
    hone_tensor tensor = hone_tensor_view(data, HONE_DTYPE_F32, 1, &count);
    const hone_given_input given = {"main", 4, &tensor};
    const hone_func *func = hone_test_parse(program, &module);
    HONE_ASSERT_ERROR(hone_made_inputs_derive(func, "main", &wanted, 7, &given, 1, arena, &inputs),
                      HONE_CODE_INVALID, "'O' of task 'main' is an output");
    hone_arena_destroy(arena);
    hone_module_release(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_rise_and_places_differ),
        cmocka_unit_test(offsets_rise_strictly_then),
        cmocka_unit_test(the_same_seed_makes_the_same),
        cmocka_unit_test(what_is_given_stays),
        cmocka_unit_test(outputs_are_not_given),
    };
    return cmocka_run_group_tests_name("tuner/made_inputs", tests, NULL, NULL);
}
