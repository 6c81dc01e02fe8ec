/* tests/codegen/test_ptx_random.c - random programs with random schedules of the GPU's design
 * spaces as PTX: what launches are made of becomes a module that LLVM's verifier takes, and ptxas,
 * for one architecture each in turn (where it is installed; else that part is passed over). */
#include <stdio.h>
#include <string.h>

#include "codegen/codegen.h"
#include "ir/text/print/script_print.h"
#include "lower/device/launches.h"
#include "lower/ground/lower.h"
#include "schedule/replay/trace_apply.h"
#include "support/core/attributes.h"
#include "tests/support/gpu/cuda_tools.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"
#include "tests/support/random_program.h"
#include "tests/support/workloads.h"
#include "tuner/space/space.h"

enum { PROGRAMS = 40, MODULE_KERNELS = 64, LEAST_MADE_PERCENT = 40 };

static const char *const architectures[] = {"sm_75", "sm_80", "sm_90a"};

/* Kernels on their way into one module. */
typedef struct batch {
    hone_arena *arena;
    hone_target target;
    hone_codegen_kernel kernels[MODULE_KERNELS];
    size_t count;
    uint32_t tried, made;       /* programs, over all batches */
    hone_str programs;          /* that are in it, to be shown when it is refused */
    const hone_test_tool *tool; /* NULL: is not installed */
} batch;

static hone_status assemble(const batch *b, const hone_str *text) {
    const char *arch = hone_arena_printf(b->arena, "-arch=%s", b->target.cpu);
    const char *const options[] = {arch, "-O1", NULL};
    return hone_test_call_tool(b->tool, text, ".ptx", options, NULL);
}

/* What has come together becomes text, and is taken. */
static void end_batch(batch *b) {
    hone_str text = {0};
    hone_codegen_options options = {.target = &b->target, .form = HONE_FORM_SOURCE, .verify = true};
    hone_status st = HONE_OK;
    if (b->count) st = hone_codegen_ptx(b->kernels, b->count, &options, &text);
    if (b->count && b->tool && !st) st = assemble(b, &text);
    if (st) fprintf(stderr, "%s\n", hone_str_text(&b->programs));
    hone_str_deinit(&text);
    hone_str_clear(&b->programs);
    hone_arena_destroy(b->arena);
    b->arena = hone_arena_create(1 << 16);
    b->count = 0;
    HONE_ASSERT_OK(st);
}

/* The kernels of a scheduled program. A target's limits may refuse it. */
static void add(batch *b, const hone_func *func) {
    hone_func *lowered, *own = hone_func_copy_deep(b->arena, func);
    hone_launches launches = {0};
    const hone_lower_options options = {.target = &b->target};
    const char *symbol = hone_arena_printf(b->arena, "k%u", b->tried);
    assert_true(own && symbol);
    b->tried++;
    hone_status st = hone_lower_func(own, &options, b->arena, &lowered);
    if (!st) st = hone_lower_launches(lowered, symbol, &b->target, b->arena, &launches);
    bool is_refused = hone_status_code(st) == HONE_CODE_UNSUPPORTED;
    if (is_refused) {
        hone_status_free(st);
        return;
    }
    HONE_ASSERT_OK(st);
    if (launches.kernel_count > MODULE_KERNELS - b->count) return;
    b->made++;
    hone_status_free(hone_func_print(func, NULL, &b->programs));
    for (size_t i = 0; i < launches.kernel_count; i++) {
        b->kernels[b->count++] = (hone_codegen_kernel){.func = launches.kernels[i].func,
                                                       .symbol = launches.kernels[i].symbol};
    }
}

/* Each sketch of a program, once, with decisions that are drawn. */
static void add_program(batch *b, const hone_func *func, uint64_t seed) {
    hone_space space;
    hone_schedule *sch = NULL;
    HONE_ASSERT_OK(hone_space_generate(func, &b->target, &space));
    HONE_ASSERT_OK(hone_schedule_create(func, &sch));
    sch->rng = hone_rng_from_seed(seed);
    for (uint32_t i = 0; i < space.count; i++) {
        const hone_apply_options options = {.resample = true};
        HONE_ASSERT_OK(hone_schedule_reset(sch));
        hone_status st = hone_trace_apply(&space.sketches[i], sch, &options);
        if (!st) st = hone_postprocess(sch, &b->target);
        if (!st) add(b, sch->func);
        hone_code code = hone_status_consume(st);
        assert_true(code == HONE_CODE_OK || code == HONE_CODE_ILLEGAL);
        if (b->count > MODULE_KERNELS / 2) end_batch(b);
    }
    hone_schedule_destroy(sch);
    hone_space_deinit(&space);
}

static void add_random(batch *b, uint64_t seed) {
    hone_arena *arena = hone_arena_create(1 << 16);
    hone_random_options varied = {.is_varied = true};
    const hone_func *func = hone_random_program(arena, seed, &varied);
    assert_non_null(func);
    add_program(b, func, seed);
    hone_arena_destroy(arena);
}

static void check_architecture(batch *b, const char *architecture) {
    char text[64];
    uint64_t first = hone_test_seed(0), count = hone_test_count(PROGRAMS);
    snprintf(text, sizeof text, "cuda -arch=%s -max_shared_memory_per_block=65536", architecture);
    HONE_ASSERT_OK(hone_target_parse(text, &b->target));
    for (uint64_t seed = first; seed < first + count; seed++)
        add_random(b, seed);
    for (const hone_workload *w = hone_workloads; w->name; w++) {
        hone_module *module = NULL;
        add_program(b, hone_test_parse(w->text, &module), first);
        hone_module_release(module);
    }
    end_batch(b);
}

static void is_taken(void **state) {
    hone_test_tool tool;
    batch b = {.arena = hone_arena_create(1 << 16)};
    (void)state;
    if (hone_test_find_tool("ptxas", &tool)) b.tool = &tool;
    for (size_t i = 0; i < HONE_COUNT(architectures); i++)
        check_architecture(&b, architectures[i]);
    print_message("%u programs, %u as PTX%s\n", b.tried, b.made,
                  b.tool ? "" : "; no ptxas is installed");
    assert_true(b.made * 100 >= b.tried * LEAST_MADE_PERCENT);
    hone_str_deinit(&b.programs);
    hone_arena_destroy(b.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_taken)};
    return cmocka_run_group_tests_name("codegen/ptx_random", tests, NULL, NULL);
}
