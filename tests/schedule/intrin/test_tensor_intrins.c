/* tests/schedule/intrin/test_tensor_intrins.c - every built-in tensor intrinsic, by its name:
 * programs made from descriptions are tensorized, and mean the same afterwards. What loads the
 * registers of a warp is tried together with the product that takes them: its description does not
 * say where in the registers an element lies. */
#include "schedule/intrin/tensor_intrin_impl.h"

#include <string.h>

#include "ir/interp/interp.h"
#include "ir/verify/verify.h"
#include "support/core/attributes.h"
#include "tests/support/hone_test.h"
#include "tests/support/intrin_program.h"
#include "tests/support/program_text.h"
#include "tests/support/random_program.h"

static hone_status same_numbers(const hone_func *program, const hone_func *tensorized,
                                uint64_t seed) {
    hone_interp_options options = {.check_uninitialised = true};
    hone_tensor **want = hone_test_intrin_args(program, seed);
    hone_tensor **got = hone_test_intrin_args(program, seed);
    hone_tensor **fresh = hone_test_intrin_args(program, seed);
    hone_str why = {0};
    hone_status st = hone_interp_func(program, want, program->param_count, &options);
    if (!st) st = hone_interp_func(tensorized, got, program->param_count, &options);
    if (!st && !hone_test_results_agree(program, fresh, got, want, &why)) {
        st = HONE_ERROR(HONE_CODE_INVALID, "%s", hone_str_text(&why));
    }
    hone_str_deinit(&why);
    hone_test_free_args(program, want);
    hone_test_free_args(program, got);
    hone_test_free_args(program, fresh);
    return st;
}

static bool begins(const char *name, const char *with) {
    return strncmp(name, with, strlen(with)) == 0;
}

static hone_status agrees(const hone_func *program, const intrin_step *steps, uint32_t count,
                          intrin_form form) {
    hone_schedule *sch = NULL;
    HONE_TRY(hone_test_intrin_schedule(program, steps, count, form, &sch));
    hone_status st = hone_check_func(sch->func);
    if (!st) st = same_numbers(program, sch->func, hone_test_seed(0));
    hone_schedule_destroy(sch);
    return st;
}

static void check(const intrin_step *steps, uint32_t count, intrin_form form) {
    hone_str text = {0};
    hone_module *module;
    HONE_ASSERT_OK(hone_test_intrin_program(steps, count, form, &text));
    hone_status st = agrees(hone_test_parse(hone_str_text(&text), &module), steps, count, form);
    st = hone_status_annotate(st, "%s in\n%s", steps[count - 1].name, hone_str_text(&text));
    hone_module_release(module);
    hone_str_deinit(&text);
    HONE_ASSERT_OK(st);
}

/* ---- by themselves ---- */

static bool stands_alone(const char *name) {
    static const char *const alone[] = {"dot_",      "matmul_",       "dp4a_",     "sdot4",
                                        "wmma_fill", "wgmma_",        "mma_fill_", "mma_store_",
                                        "mma_init_", "simdgroup_fill"};
    for (size_t i = 0; i < HONE_COUNT(alone); i++) {
        if (begins(name, alone[i])) return true;
    }
    return strstr(name, "_a_trans_shared") != NULL; /* no product of TVM's takes it */
}

static void check_alone(const char *name, intrin_form form) {
    hone_module *module;
    const hone_func *desc, *impl;
    HONE_ASSERT_OK(hone_tensor_intrin_find(NULL, name, &module, &desc, &impl));
    bool is_whole =
        begins(name, "wmma_load") || begins(name, "wgmma_sync"); /* rows have a length */
    bool has_form = form == INTRIN_STACK || (!is_whole && hone_test_intrin_has_tiles(desc));
    hone_module_release(module);
    if (has_form) check(&(intrin_step){.name = name}, 1, form);
}

static void alone(void **state) {
    (void)state;
    for (size_t i = 0; hone_tensor_intrin_builtin(i); i++) {
        const char *name = hone_tensor_intrin_builtin(i);
        if (!stands_alone(name)) continue;
        check_alone(name, INTRIN_STACK);
        check_alone(name, INTRIN_TILES);
    }
}

/* ---- products of a warp: loaded, multiplied, stored ---- */

typedef struct product {
    const char *load_a, *load_b, *fill, *sync, *store;
} product;

static const product products[] = {
#define WMMA(shape, in, a, b, to, out, sync)                                                       \
    {                                                                                              \
        "wmma_load_" shape "_" in "_a" a, "wmma_load_" shape "_" in "_b" b,                        \
            "wmma_fill_" shape "_" to, "wmma_sync_" shape "_" sync,                                \
            "wmma_store_" shape "_" to "_" out                                                     \
    }
    WMMA("16x16x16", "f16", "_shared", "_shared", "f16", "global", "f16f16f16"),
    WMMA("16x16x16", "f16", "_shared_dyn", "_shared_dyn", "f16", "shared", "f16f16f16"),
    WMMA("16x16x16", "f16", "_shared", "_trans_shared", "f16", "shared_dyn", "f16f16f16_trans"),
    WMMA("16x16x16", "f16", "_shared", "_trans_shared_dyn", "f32", "global", "f16f16f32_trans"),
    WMMA("16x16x16", "f16", "_shared", "_shared_dyn", "f32", "shared", "f16f16f32"),
    WMMA("16x16x16", "f16", "_shared_dyn", "_shared", "f32", "shared_dyn", "f16f16f32"),
    WMMA("16x16x16", "bf16", "_shared", "_shared", "f32", "global", "bf16bf16f32"),
    WMMA("16x16x16", "bf16", "_shared_dyn", "_shared_dyn", "f32", "shared", "bf16bf16f32"),
    WMMA("16x16x16", "bf16", "_shared", "_trans_shared", "f32", "global", "bf16bf16f32_trans"),
    WMMA("16x16x16", "bf16", "_shared", "_trans_shared_dyn", "f32", "shared", "bf16bf16f32_trans"),
    WMMA("16x16x16", "s8", "_shared", "_shared", "s32", "global", "s8s8s32"),
    WMMA("16x16x16", "s8", "_shared_dyn", "_shared_dyn", "s32", "shared", "s8s8s32"),
    WMMA("16x16x16", "s8", "_shared", "_trans_shared", "s32", "shared_dyn", "s8s8s32_trans"),
    WMMA("16x16x16", "s8", "_shared", "_trans_shared_dyn", "s32", "global", "s8s8s32_trans"),
    WMMA("16x16x8", "tf32", "_shared", "_shared", "f32", "shared", "tf32tf32f32"),
    WMMA("16x16x8", "tf32", "_shared", "_trans_shared", "f32", "shared", "tf32tf32f32_trans"),
    WMMA("8x8x32", "s4", "_shared", "_trans_shared", "s32", "global", "s4s4s32_trans"),
    WMMA("8x8x32", "s4", "_shared_dyn", "_trans_shared_dyn", "s32", "shared", "s4s4s32_trans"),
    WMMA("8x8x32", "s4", "_shared_dyn", "_trans_shared", "s32", "shared_dyn", "s4s4s32_trans"),
#define MMA(in, a, b, to, out, sync)                                                               \
    {                                                                                              \
        "mma_ldmatrix_" in "_a" a, "mma_ldmatrix_" in "_b" b, "mma_fill_16x16_" to, "mma_" sync,   \
            "mma_store_16x16_" to "_" out "_"                                                      \
    }
    MMA("f16", "", "", "f16", "global", "f16f16f16"),
    MMA("f16", "_dyn", "_trans_dyn", "f16", "shared_dyn_simple", "f16f16f16_trans_b"),
    MMA("f16", "_trans", "_dyn", "f16", "global", "f16f16f16_trans_a"),
    MMA("f16", "_trans_dyn", "_trans", "f16", "global", "f16f16f16_trans_a_trans_b"),
    MMA("f16", "", "", "f32", "global", "f16f16f32"),
    MMA("f16", "", "_trans", "f32", "shared_dyn", "f16f16f32_trans_b"),
    MMA("f16", "_trans", "", "f32", "shared_dyn_simple", "f16f16f32_trans_a"),
    MMA("f16", "_trans", "_trans", "f32", "global", "f16f16f32_trans_a_trans_b"),
    MMA("i8", "", "", "i32", "global", "i8i8i32"),
    MMA("i8", "", "_trans", "i32", "global", "i8i8i32_trans_b"),
    MMA("e4m3", "", "", "f32", "global", "e4m3e4m3f32"),
    MMA("e4m3", "", "_trans", "f32", "global", "e4m3e4m3f32_trans_b"),
    MMA("e5m2", "", "", "f32", "global", "e5m2e5m2f32"),
    MMA("e5m2", "", "_trans", "f32", "global", "e5m2e5m2f32_trans_b"),
#define SIMDGROUP(b, out)                                                                          \
    {                                                                                              \
        "simdgroup_load_8x8x8_f16_shared", "simdgroup_load_8x8x8_f16_shared" b,                    \
            "simdgroup_make_filled_8x8x8_f16", "simdgroup_multiply_accumulate_8x8x8_f16",          \
            "simdgroup_store_8x8x8_f16_" out                                                       \
    }
    SIMDGROUP("", "global"),
    SIMDGROUP("_trans", "shared"),
};

static bool works_on_tiles(const product *p) {
    return begins(p->sync, "wmma") || begins(p->sync, "simdgroup");
}

/* wmma and simdgroup copy A to C, ldmatrix has what it fills first. */
static void check_product(const product *p, intrin_form form) {
    bool copies = works_on_tiles(p);
    const intrin_step steps[] = {
        {p->load_a, {copies ? "Am" : "A", copies ? "A" : "Am"}},
        {p->load_b, {copies ? "Bm" : "B", copies ? "B" : "Bm"}},
        {p->fill,   {"C"}                                     },
        {p->sync,   {"A", "B", "C"}                           },
        {p->store,  {"C", "Cm"}                               },
    };
    check(steps, HONE_COUNT(steps), form);
}

static void of_a_warp(void **state) {
    (void)state;
    for (size_t i = 0; i < HONE_COUNT(products); i++) {
        check_product(&products[i], INTRIN_STACK);
        if (works_on_tiles(&products[i])) check_product(&products[i], INTRIN_TILES);
    }
}

/* ---- what only TVM's later passes give a meaning ---- */

static void m16n8k8_is_not_interpreted(void **state) {
    (void)state;
    for (size_t i = 0; hone_tensor_intrin_builtin(i); i++) {
        const intrin_step step = {.name = hone_tensor_intrin_builtin(i)};
        hone_str text = {0};
        hone_module *module;
        hone_schedule *sch;
        if (!strstr(step.name, "m16n8k8") || stands_alone(step.name)) continue;
        HONE_ASSERT_OK(hone_test_intrin_program(&step, 1, INTRIN_STACK, &text));
        const hone_func *program = hone_test_parse(hone_str_text(&text), &module);
        HONE_ASSERT_OK(hone_test_intrin_schedule(program, &step, 1, INTRIN_STACK, &sch));
        hone_status st = same_numbers(program, sch->func, 1);
        bool is_told = st && (strstr(hone_status_message(st), "m16n8k8") ||
                              strstr(hone_status_message(st), "threadIdx.x"));
        hone_schedule_destroy(sch);
        hone_module_release(module);
        hone_str_deinit(&text);
        if (!is_told) print_error("%s\n", step.name);
        hone_status_free(st);
        assert_true(is_told);
    }
}

/* ---- nothing is left out ---- */

static bool is_in_product(const char *name) {
    for (size_t i = 0; i < HONE_COUNT(products); i++) {
        const product *p = &products[i];
        const char *all[] = {p->load_a, p->load_b, p->fill, p->sync, p->store};
        for (size_t k = 0; k < HONE_COUNT(all); k++) {
            if (strcmp(all[k], name) == 0) return true;
        }
    }
    return false;
}

/* The layout of m16n8k8's registers is made by a pass of TVM's, after scheduling. */
static void each_is_tried(void **state) {
    (void)state;
    for (size_t i = 0; hone_tensor_intrin_builtin(i); i++) {
        const char *name = hone_tensor_intrin_builtin(i);
        bool is_tried = stands_alone(name) || is_in_product(name) || strstr(name, "m16n8k8");
        if (!is_tried) print_error("%s\n", name);
        assert_true(is_tried);
    }
}

/* ---- sets that keep what they are asked for often ---- */

/* What is kept is the same object at each look-up; a user's of that name stays the user's. */
static void sets_keep(void **state) {
    (void)state;
    static const char name[] = "wmma_fill_16x16x16_f32", other[] = "wmma_fill_16x16x16_f16";
    hone_tensor_intrins *users, *set;
    hone_module *first, *second;
    const hone_func *desc, *impl, *again, *users_desc;
    hone_str text = {0};
    HONE_ASSERT_OK(hone_tensor_intrins_create(&users));
    HONE_ASSERT_OK(hone_tensor_intrins_create(&set));
    assert_true(tensor_intrin_write_builtin(other, &text));
    HONE_ASSERT_OK(
        hone_tensor_intrins_add(users, name, hone_str_text(&text), text.length, "users"));
    HONE_ASSERT_OK(hone_tensor_intrin_find(users, name, &first, &users_desc, &impl));
    hone_module_release(first);
    HONE_ASSERT_OK(hone_tensor_intrins_keep(set, users, name));
    HONE_ASSERT_OK(hone_tensor_intrins_keep(set, NULL, name)); /* it is there */
    HONE_ASSERT_OK(hone_tensor_intrins_keep(set, users, other));
    HONE_ASSERT_CODE(hone_tensor_intrins_keep(set, users, "nothing"), HONE_CODE_NOT_FOUND);
    hone_tensor_intrins_destroy(users);
    HONE_ASSERT_OK(hone_tensor_intrin_find(set, name, &first, &desc, &impl));
    assert_ptr_equal(desc, users_desc);
    HONE_ASSERT_OK(hone_tensor_intrin_find(set, name, &second, &again, &impl));
    assert_ptr_equal(again, desc);
    assert_string_equal(hone_tensor_intrins_name(set, 1), other);
    assert_null(hone_tensor_intrins_name(set, 2));
    hone_module_release(first);
    hone_module_release(second);
    hone_tensor_intrins_destroy(set);
    hone_str_deinit(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_keep), cmocka_unit_test(alone), cmocka_unit_test(of_a_warp),
        cmocka_unit_test(m16n8k8_is_not_interpreted), cmocka_unit_test(each_is_tried)};
    return cmocka_run_group_tests_name("schedule/tensor intrinsics", tests, NULL, NULL);
}
