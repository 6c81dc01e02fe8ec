/* tests/tuner/test_tune_hostile.c - tuning goes on over candidates that crash, hang, exit and kill
 * themselves, or are of another program: the real runner, and a builder that hands out scripted
 * candidates instead of building. */
#include "tests/support/hone_test.h"

#include <string.h>
#include <unistd.h>

#include "builder/builder_impl.h"
#include "graph/passes/prepare.h"
#include "ir/text/read/script.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/conformance/runner_fixture.h"
#include "tuner/loop/tune.h"

static const char program[] =
    "@T.prim_func\n"
    "def main(A: T.Buffer((24, 36)), B: T.Buffer((36, 40)), C: T.Buffer((24, 40))):\n"
    "    for i, j, k in T.grid(24, 40, 36):\n"
    "        with T.block(\"C\"):\n"
    "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
    "            with T.init():\n"
    "                C[vi, vj] = T.float32(0)\n"
    "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n";

/* What the n-th build is, and what must be recorded of it. */
static const struct script_row {
    const char *entry, *outcome;
    bool is_other; /* what was built is another program */
} script[] = {
    {"ok",          "ok",          false},
    {"segfault",    "run_crash",   false},
    {"ok",          "build_error", true },
    {"exit_three",  "run_crash",   false},
    {"call_abort",  "run_crash",   false},
    {"hang",        "run_timeout", false},
    {"kill_itself", "run_crash",   false},
    {"ok",          "ok",          false},
};
enum { ROWS = sizeof script / sizeof script[0] };

/* ---- the scripted builder ---- */

typedef struct scripted {
    hone_builder base;
    const runner_fixture *fixture;
    hone_ticket tickets[64];
    char *paths[64];
    uint32_t first, count, handed_out;
} scripted;

static hone_status scripted_submit(hone_builder *base, const hone_build_request *request,
                                   hone_ticket ticket) {
    scripted *self = (scripted *)base;
    uint32_t at = (self->first + self->count++) % 64;
    self->tickets[at] = ticket;
    self->paths[at] = hone_malloc(strlen(request->output_path) + 1);
    strcpy(self->paths[at], request->output_path); /* allow strcpy: room was made for it */
    return HONE_OK;
}

static hone_status scripted_next(hone_builder *base, int64_t deadline_ns, hone_arena *arena,
                                 hone_ticket *out_ticket, hone_build_result *out_result) {
    (void)deadline_ns;
    scripted *self = (scripted *)base;
    uint32_t at = self->first++ % 64;
    self->count--;
    *out_ticket = self->tickets[at];
    out_result->artifact_path = hone_arena_strdup(arena, self->paths[at]);
    if (symlink(self->fixture->candidates, self->paths[at]) != 0) {
        return HONE_ERROR(HONE_CODE_IO, "symlink");
    }
    hone_free(self->paths[at]);
    const struct script_row *row = &script[self->handed_out++ % ROWS];
    out_result->manifest = runner_fixture_request(self->fixture, row->entry).manifest;
    if (row->is_other) out_result->program_hash[0] = 1;
    return HONE_OK;
}

static void scripted_destroy(hone_builder *base) {
    hone_free(base);
}

static int scripted_fd(const hone_builder *base) {
    (void)base;
    return -1;
}

static void scripted_nothing(hone_builder *base) {
    (void)base;
}

static const hone_builder_vtable scripted_vtable = {
    .name = "scripted",
    .destroy = scripted_destroy,
    .submit = scripted_submit,
    .next_result = scripted_next,
    .fd = scripted_fd,
    .pause = scripted_nothing,
    .resume = scripted_nothing,
    .cancel_all = scripted_nothing,
};

static hone_builder *make_builder(const runner_fixture *fixture) {
    scripted *self = hone_calloc(1, sizeof *self);
    assert_non_null(self);
    self->fixture = fixture;
    hone_builder_init(&self->base, &scripted_vtable, 1, 32);
    return &self->base;
}

/* ---- the test ---- */

static void simulate_nothing(void *ctx, hone_hash128 program_hash, const float *features,
                             uint32_t row_count, hone_simulated_facts *out) {
    (void)ctx;
    (void)program_hash;
    (void)features;
    (void)row_count;
    *out = (hone_simulated_facts){0};
}

typedef struct seen {
    int counts[ROWS];
    int64_t trials;
    bool is_wrong;
} seen;

static bool check(void *ctx, const hone_db_trial *trial) {
    seen *s = ctx;
    const struct script_row *row = &script[trial->proposal % ROWS];
    s->trials++;
    if (strcmp(trial->outcome, row->outcome) != 0) {
        print_error("proposal %lld (%s) was recorded as %s: %s\n", (long long)trial->proposal,
                    row->entry, trial->outcome, trial->message ? trial->message : "");
        s->is_wrong = true;
    }
    return true;
}

static void tuning_goes_on(void **state) {
    (void)state;
    runner_fixture fixture;
    runner_fixture_init(&fixture);
    hone_module *module = NULL, *prepared = NULL;
    hone_task_list tasks;
    hone_tune_options options = {.seed = 3,
                                 .trials = 16,
                                 .work_dir = fixture.dir,
                                 .model_name = "test",
                                 .command_line = "test",
                                 .hone_version = "0",
                                 .strategy = "random",
                                 .simulate = simulate_nothing};
    HONE_ASSERT_OK(hone_script_parse(program, strlen(program), "test.py", &module));
    HONE_ASSERT_OK(hone_graph_prepare(module, NULL, &prepared));
    HONE_ASSERT_OK(hone_tasks_extract(&prepared, 1, &tasks));
    HONE_ASSERT_OK(hone_target_detect(&options.target));
    options.target.num_threads = 1;
    HONE_ASSERT_OK(hone_db_create_memory(&options.db));
    options.builder = make_builder(&fixture);
    options.runner = runner_fixture_local(&fixture, 1);
    hone_tune_result result;
    HONE_ASSERT_OK(hone_tune(&tasks, &options, &result));
    seen s = {0};
    hone_db_filter filter = {0};
    HONE_ASSERT_OK(hone_db_trials(options.db, &filter, check, &s));
    assert_false(s.is_wrong);
    assert_int_equal(s.trials, result.trials);
    assert_true(result.trials >= ROWS);
    assert_true(result.failed >= 6);
    hone_tune_result_deinit(&result);
    hone_runner_destroy(options.runner);
    hone_builder_release(options.builder);
    hone_db_close(options.db);
    hone_task_list_deinit(&tasks);
    hone_module_release(prepared);
    hone_module_release(module);
    runner_fixture_deinit(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tuning_goes_on)};
    return cmocka_run_group_tests_name("tuner/hostile", tests, NULL, NULL);
}
