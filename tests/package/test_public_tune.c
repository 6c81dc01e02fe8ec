/* tests/package/test_public_tune.c - a program tuned, compiled, run and interpreted in one process,
 * and what is refused on the way. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/package/public_test.h"

/* N rows of 16, doubled and summed with a vector. */
static const char sized[] = "from tvm.script import tir as T\n"
                            "@T.prim_func\n"
                            "def main(a: T.handle, b: T.handle, c: T.handle):\n"
                            "    n = T.int64()\n"
                            "    A = T.match_buffer(a, (n, T.int64(16)))\n"
                            "    B = T.match_buffer(b, (T.int64(16),))\n"
                            "    C = T.match_buffer(c, (n, T.int64(16)))\n"
                            "    for i, j in T.grid(n, T.int64(16)):\n"
                            "        with T.block(\"C\"):\n"
                            "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                            "            C[vi, vj] = A[vi, vj] * T.float32(2) + B[vj]\n";

static const char graph[] = "from tvm.script import relax as R\n"
                            "@R.function\n"
                            "def main(x: R.Tensor((2, 3), \"float32\"),\n"
                            "         w: R.Tensor((3,), \"float32\")):\n"
                            "    y = R.add(x, w)\n"
                            "    z = R.nn.relu(y)\n"
                            "    return z\n";

enum { MOST = 64 };

typedef struct tensor {
    DLTensor view;
    int64_t shape[2];
    _Alignas(64) float data[MOST];
} tensor;

static DLTensor *make(tensor *t, int32_t rank, int64_t rows, int64_t columns, float first) {
    *t = (tensor){
        .shape = {rows, columns}
    };
    for (int i = 0; i < MOST; i++)
        t->data[i] = first + (float)i;
    t->view = (DLTensor){
        .data = t->data, .device = {1,   0},
             .ndim = rank, .dtype = { 2, 32, 1}
    };
    t->view.shape = rank == 1 ? t->shape + 1 : t->shape;
    return &t->view;
}

/* ---- tasks ---- */

static int see_task(void *context, const hone_tuning_task *task) {
    int *count = context;
    char hash[33];
    ++*count;
    public_ok(hone_program_hash(task->program, hone_program_function_name(task->program, 0), hash));
    assert_string_equal(hash, task->workload);
    assert_true(task->calls == 1 && task->flops > 0 && task->bytes > 0);
    return 0;
}

static void lists_tasks(void **state) {
    (void)state;
    static const char *const sizes[] = {"n=2,4"};
    hone_program *program = public_parse(sized);
    size_t skipped = 0;
    int count = 0;
    public_ok(hone_program_visit_tasks(program, 0, NULL, see_task, &count, &skipped));
    assert_int_equal(count, 0);
    assert_int_equal(skipped, 1);
    public_ok(hone_program_visit_tasks(program, 1, sizes, see_task, &count, &skipped));
    assert_int_equal(count, 2);
    assert_int_equal(skipped, 0);
    hone_program_free(program);
}

/* ---- tuning ---- */

typedef struct watch {
    int shown, asked, stops_after; /* stops_after 0: never */
} watch;

static void show(void *context, const hone_tuning_state *state) {
    watch *w = context;
    assert_true(state->done >= 0 && state->trials_per_second >= 0);
    w->shown++;
}

static int stop(void *context) {
    watch *w = context;
    return w->stops_after && ++w->asked > w->stops_after ? HONE_TUNING_ENDS : HONE_TUNING_GOES_ON;
}

/* Out as lines, in again, merged: everything is there, and once. */
static void moves_records(const char *database) {
    char lines[400], other[400];
    hone_database_news news;
    int64_t removed = -1;
    public_path(lines, sizeof lines, "lines.jsonl");
    public_path(other, sizeof other, "other.db");
    public_remove_database(other);
    public_ok(hone_database_export(database, lines));
    public_ok(hone_database_import(other, lines, &news));
    assert_true(news.trials >= 6 && news.known == 0 && news.sessions == 2);
    const int64_t all = news.trials;
    public_ok(hone_database_merge(other, database, &news));
    assert_true(news.trials == 0 && news.known == all);
    public_ok(hone_database_prune(other, 1, &removed));
    assert_true(removed > 0 && removed < all);
    public_expect(hone_database_import(other, "/nowhere/a.jsonl", &news), "not_found", "/nowhere");
    assert_int_equal(news.known, 0);
    public_expect(hone_database_import(other, database, &news), "invalid", "a.db:1");
    public_expect(hone_database_merge(other, "/nowhere/a.db", NULL), "not_found", "/nowhere");
    public_expect(hone_database_export(lines, other), "invalid", lines);
    public_expect(hone_database_prune(other, 0, &removed), "invalid", "keep is 0");
    assert_int_equal(removed, 0);
    unlink(lines);
    public_remove_database(other);
}

static void tunes_and_stops(void **state) {
    (void)state;
    char database[400];
    public_path(database, sizeof database, "a.db");
    public_remove_database(database);
    hone_program *program = public_parse(product);
    watch w = {0};
    hone_tuning_options options = {.database = database,
                                   .threads = 1,
                                   .trials = 6,
                                   .strategy = "random",
                                   .builders = 1,
                                   .progress = show,
                                   .should_stop = stop,
                                   .context = &w};
    hone_tuned *tuned = NULL;
    public_ok(hone_program_tune(program, &options, &tuned));
    const hone_tuned_totals *totals = hone_tuned_summary(tuned);
    const hone_tuned_task *task = hone_tuned_task_at(tuned, 0);
    assert_true(totals->task_count == 1 && totals->trials == 6 && !totals->was_stopped);
    assert_true(task->best_ns > 0 && w.shown > 0);
    assert_string_equal(task->name, "main");
    assert_null(hone_tuned_task_at(tuned, 1));
    hone_tuned_free(tuned);
    w.stops_after = 1;
    options.trials = 1000;
    public_ok(hone_program_tune(program, &options, &tuned));
    totals = hone_tuned_summary(tuned);
    assert_true(totals->was_stopped && totals->trials < 1000);
    assert_true(hone_tuned_task_at(tuned, 0)->known_trials >= 6);
    hone_tuned_free(tuned);
    hone_model *model = NULL;
    char *report = NULL, output[400], library[420];
    public_path(output, sizeof output, "model");
    const hone_compilation_options compilation = {
        .output = output, .database = database, .threads = 1};
    public_ok(hone_program_compile(program, &compilation, &report));
    assert_non_null(strstr(report, "record"));
    snprintf(library, sizeof library, "%s.so", output);
    public_ok(hone_model_open(library, &model));
    hone_model_close(model);
    unlink(library);
    snprintf(library, sizeof library, "%s.h", output);
    unlink(library);
    hone_text_free(report);
    hone_program_free(program);
    moves_records(database);
    public_remove_database(database);
}

/* Whoever proposes and is gone at once leaves the search alone. */
static void see_log(void *context, int level, const char *text) {
    int *warnings = context;
    if (level == 2 && strstr(text, "no more proposals")) ++*warnings;
}

static void tunes_with_others(void **state) {
    (void)state;
    char database[400];
    int warnings = 0;
    public_path(database, sizeof database, "others.db");
    public_remove_database(database);
    hone_program *program = public_parse(product);
    const hone_tuning_options options = {.database = database,
                                         .threads = 1,
                                         .trials = 4,
                                         .strategy = "random",
                                         .builders = 1,
                                         .log = see_log,
                                         .context = &warnings};
    const hone_tuning_outside outside = {.size = sizeof outside, .propose = "exit 3"};
    hone_tuned *tuned = NULL;
    public_ok(hone_program_tune_with(program, &options, &outside, &tuned));
    assert_int_equal(hone_tuned_summary(tuned)->trials, 4);
    assert_int_equal(warnings, 1);
    hone_tuned_free(tuned);
    hone_program_free(program);
    public_remove_database(database);
}

/* clang-format off */
static const struct outside_refusal {
    const char *name;
    hone_tuning_outside outside;
    const char *kind, *part;
} outside_refusals[] = {
    {"no size", {.tracker = "tcp://127.0.0.1:1"}, "invalid", "size is 0"},
    {"no key",
     {sizeof(hone_tuning_outside), .tracker = "tcp://127.0.0.1:1"},
     "invalid",
     "key is NULL"},
    {"no tracker's key",
     {sizeof(hone_tuning_outside), .tracker = "tcp://127.0.0.1:1", .key = "k"},
     "invalid",
     "tracker_key is NULL"},
    {"no address",
     {sizeof(hone_tuning_outside), .tracker = "here", .is_insecure = 1},
     "invalid",
     "here"},
    {"stopped",
     {sizeof(hone_tuning_outside), .tracker = "tcp://127.0.0.1:1", .is_insecure = 1},
     "cancelled",
     "before there was a device"},
};
/* clang-format on */

static int stop_at_once(void *context) {
    (void)context;
    return HONE_TUNING_DRAINS;
}

static void refuses_others(void **state) {
    const struct outside_refusal *row = *state;
    const hone_tuning_options options = {.database = "x.db", .should_stop = stop_at_once};
    hone_program *program = public_parse(product);
    hone_tuned *tuned = (hone_tuned *)state;
    hone_error *error = hone_program_tune_with(program, &options, &row->outside, &tuned);
    hone_program_free(program);
    assert_null(tuned);
    public_expect(error, row->kind, row->part);
}

/* clang-format off */
static const struct tune_refusal {
    const char *name;
    hone_tuning_options options;
    const char *kind, *part;
} tune_refusals[] = {
    {"no database", {0}, "invalid", "database is NULL"},
    {"a negative limit", {.database = "x.db", .trials = -1}, "invalid", "trials is -1"},
    {"no number", {.database = "x.db", .seconds = (double)NAN}, "invalid", "seconds is"},
    {"threads", {.database = "x.db", .threads = 5000}, "invalid", "threads is 5000"},
    {"look-ahead", {.database = "x.db", .look_ahead = 3}, "invalid", "at least 8"},
    {"task", {.database = "x.db", .task = "nobody"}, "not_found", "nobody"},
    {"strategy", {.database = "x.db", .strategy = "magic"}, "invalid", "magic"},
    {"cost model", {.database = "x.db", .cost_model = "oracle"}, "invalid", "oracle"},
    {"target", {.database = "x.db", .target = "llvm -mcpu=nothing"}, "invalid", "nothing"},
    {"another machine",
     {.database = "x.db", .target = "aarch64-linux-gnu"},
     "unsupported",
     "aarch64"},
    {"sizes", {.database = "x.db", .size_count = 1}, "invalid", "size 0 is NULL"},
    {"programs", {.database = "x.db", .programs = "/nowhere"}, "not_found", "/nowhere"},
    {"folder", {.database = "/nowhere/x.db", .unsandboxed = 1}, "io", "/nowhere/x.db"},
};
/* clang-format on */

static void refuses_to_tune(void **state) {
    const struct tune_refusal *row = *state;
    hone_program *program = public_parse(product);
    hone_tuned *tuned = (hone_tuned *)state;
    hone_error *error = hone_program_tune(program, &row->options, &tuned);
    hone_program_free(program);
    assert_null(tuned);
    public_expect(error, row->kind, row->part);
}

/* ---- compiling, binding, interpreting ---- */

static void agrees(const float *got, int count, const float *x, const float *w, int columns) {
    for (int i = 0; i < count; i++) {
        float sum = x[i] + w[i % columns];
        assert_true(got[i] == (sum > 0 ? sum : 0));
    }
}

static void builds_and_interprets(void **state) {
    (void)state;
    tensor x, w, y;
    DLTensor *in[] = {make(&x, 2, 2, 3, -4), make(&w, 1, 0, 3, 0)}, *out[] = {make(&y, 2, 2, 3, 9)};
    hone_program *program = public_parse(graph), *bound = NULL;
    hone_model *model = NULL;
    hone_results *results = NULL;
    public_ok(hone_program_build(program, NULL, &model));
    public_ok(hone_model_run(model, hone_model_find(model, NULL), in, out));
    agrees(y.data, 6, x.data, w.data, 3);
    hone_model_close(model);
    public_ok(hone_program_interpret(program, NULL, 2, in, &results));
    assert_int_equal(hone_results_count(results), 1);
    const DLTensor *made = hone_results_at(results, 0);
    assert_true(made->ndim == 2 && made->shape[1] == 3 && made->dtype.code == 2);
    agrees(made->data, 6, x.data, w.data, 3);
    assert_null(hone_results_at(results, 1));
    hone_results_free(results);
    const hone_named_tensor value = {"w", in[1]};
    public_ok(hone_program_bind_parameters(program, 1, &value, &bound));
    public_ok(hone_program_interpret(bound, "main", 1, in, &results));
    agrees(hone_results_at(results, 0)->data, 6, x.data, w.data, 3);
    hone_results_free(results);
    hone_program_free(bound);
    hone_program_free(program);
}

static void binds_sizes(void **state) {
    (void)state;
    static const char *const four[] = {"n=4"}, *const several[] = {"n=4,8"}, *const odd[] = {"m=4"};
    hone_program *program = public_parse(sized), *bound = NULL;
    tensor a, b, c;
    DLTensor *args[] = {make(&a, 2, 4, 16, 1), make(&b, 1, 0, 16, 2), make(&c, 2, 4, 16, 0)};
    public_ok(hone_program_bind_sizes(program, 1, four, &bound));
    public_prints(bound, "A = T.match_buffer(a, (T.int64(4), T.int64(16)))");
    public_ok(hone_program_interpret(bound, NULL, 3, args, NULL));
    for (int i = 0; i < 64; i++)
        assert_true(c.data[i] == a.data[i] * 2 + b.data[i % 16]);
    hone_program_free(bound);
    bound = program;
    public_expect(hone_program_bind_sizes(program, 1, several, &bound), "invalid", "one number");
    assert_null(bound);
    public_expect(hone_program_bind_sizes(program, 1, odd, &bound), "invalid", "'m'");
    a.shape[0] = 3; /* three rows where the others have four */
    public_expect(hone_program_interpret(program, NULL, 3, args, NULL), "invalid", "");
    a.view.strides = (int64_t[]){1, 4};
    public_expect(hone_program_interpret(program, NULL, 3, args, NULL), "invalid", "argument 0");
    hone_program_free(program);
}

/* ---- external functions ---- */

static const char calls_out[] =
    "from tvm.script import relax as R, tir as T, ir as I\n"
    "@I.ir_module\n"
    "class M:\n"
    "    @T.prim_func\n"
    "    def inside(x: T.Buffer((2, 3), \"float32\"), y: T.Buffer((2, 3), \"float32\")):\n"
    "        T.evaluate(T.call_packed(\"test.twice\", x.data, y.data))\n"
    "    @R.function\n"
    "    def main(x: R.Tensor((2, 3), \"float32\")):\n"
    "        cls = M\n"
    "        y = R.call_tir(cls.inside, (x,), out_sinfo=R.Tensor((2, 3), \"float32\"))\n"
    "        z = R.call_dps_packed(\"test.twice\", (y,), out_sinfo=R.Tensor((2, 3), \"float32\"))\n"
    "        u = R.call_dps_packed(\"test.other\", (z,), out_sinfo=R.Tensor((2, 3), \"float32\"))\n"
    "        return u\n";

static int tensors_seen;

static int32_t twice_of_tensors(DLTensor *const *args, int32_t count) {
    bool is_right = count == 2 && args[0]->ndim == 2 && args[0]->shape[1] == 3 &&
                    args[1]->dtype.code == 2 && args[1]->dtype.bits == 32 &&
                    args[0]->device.device_type == 1;
    if (!is_right) return 7;
    tensors_seen++;
    for (int i = 0; i < 6; i++)
        ((float *)args[1]->data)[i] = 2 * ((const float *)args[0]->data)[i];
    return 0;
}

static int32_t twice_plain(void *const *args, const int64_t *const *shapes, const int32_t *ranks,
                           int32_t count) {
    if (count != 2 || ranks[0] != 2 || shapes[1][0] != 2) return 8;
    for (int i = 0; i < 6; i++)
        ((float *)args[1])[i] = 2 * ((const float *)args[0])[i];
    return 0;
}

static int32_t refuses(DLTensor *const *args, int32_t count) {
    (void)args;
    return count;
}

static void give(const char *name, hone_extern_function function, hone_extern_form form) {
    public_ok(hone_extern_register(name, function, form));
}

static void call_both_ways(const hone_program *program, const hone_model *model) {
    tensor x, y;
    DLTensor *in[] = {make(&x, 2, 2, 3, -4)}, *out[] = {make(&y, 2, 2, 3, 0)};
    hone_results *results = NULL;
    public_ok(hone_model_run(model, hone_model_find(model, NULL), in, out));
    public_ok(hone_program_interpret(program, NULL, 1, in, &results));
    for (int i = 0; i < 6; i++) {
        assert_true(y.data[i] == 8 * x.data[i]);
        assert_true(((float *)hone_results_at(results, 0)->data)[i] == 8 * x.data[i]);
    }
    hone_results_free(results);
}

/* ---- looking on ---- */

static void see_run(void *context, const hone_kernel_run *run) {
    int *count = context;
    assert_true(run->name[0] && strlen(run->workload) == 32 && run->schedule[0]);
    assert_true(run->ns >= 0 && run->bytes > 0);
    ++*count;
}

static void profiles(void **state) {
    (void)state;
    tensor x, w, y;
    DLTensor *in[] = {make(&x, 2, 2, 3, -4), make(&w, 1, 0, 3, 0)}, *out[] = {make(&y, 2, 2, 3, 9)};
    hone_program *program = public_parse(graph);
    hone_model *model = NULL;
    int count = 0;
    public_ok(hone_program_build(program, NULL, &model));
    const hone_model_entry *entry = hone_model_find(model, NULL);
    public_ok(hone_model_profile(model, entry, in, out, see_run, &count));
    assert_int_equal(count, 1);
    agrees(y.data, 6, x.data, w.data, 3);
    out[0]->ndim = 1;
    public_expect(hone_model_profile(model, entry, in, out, see_run, &count), "invalid", "");
    assert_int_equal(count, 1);
    hone_model_close(model);
    hone_program_free(program);
}

static void loads_with_sizes(void **state) {
    (void)state;
    static const char *const four[] = {"n=4"}, *const several[] = {"n=4,8"}, *const odd[] = {"m=4"};
    char path[400];
    hone_program *program = public_parse(sized), *loaded = NULL, *bound = NULL;
    public_path(path, sizeof path, "sized.py");
    public_ok(hone_program_save(program, path));
    public_ok(hone_program_bind_sizes(program, 1, four, &bound));
    public_ok(hone_program_load_with(path, 1, four, &loaded));
    assert_true(hone_program_equal(loaded, bound, NULL));
    hone_program_free(loaded);
    public_ok(hone_program_load_with(path, 0, NULL, &loaded));
    assert_true(hone_program_equal(loaded, program, NULL));
    hone_program_free(loaded);
    public_expect(hone_program_load_with(path, 1, several, &loaded), "invalid", "not to several");
    public_expect(hone_program_load_with(path, 1, odd, &loaded), "invalid", "'m'");
    assert_null(loaded);
    unlink(path);
    hone_program_free(bound);
    hone_program_free(program);
}

static void calls_external_functions(void **state) {
    (void)state;
    hone_program *program = public_parse(calls_out);
    hone_model *model = NULL;
    tensor x, y;
    DLTensor *in[] = {make(&x, 2, 2, 3, -4)}, *out[] = {make(&y, 2, 2, 3, 0)};
    hone_extern_function dlpack = (hone_extern_function)twice_of_tensors;
    hone_extern_function plain = (hone_extern_function)twice_plain;
    public_ok(hone_program_build(program, NULL, &model));
    const hone_model_entry *entry = hone_model_find(model, NULL);
    give("test.twice", dlpack, HONE_EXTERN_DLPACK);
    public_expect(hone_model_run(model, entry, in, out), "not_found", "'test.other' was not found");
    give("test.other", dlpack, HONE_EXTERN_DLPACK);
    tensors_seen = 0;
    call_both_ways(program, model);
    assert_null(hone_extern_find("test.twice")); /* as a function of other types */
    assert_non_null(hone_extern_find("test.twice__dlpack"));
    assert_int_equal(tensors_seen, 6);
    give("test.twice", plain, HONE_EXTERN_PLAIN);
    call_both_ways(program, model);
    assert_int_equal(tensors_seen, 8);
    give("test.other", (hone_extern_function)refuses, HONE_EXTERN_DLPACK);
    public_expect(hone_model_run(model, entry, in, out), "external",
                  "external function 'test.other' failed with code 2");
    public_expect(hone_program_interpret(program, NULL, 1, in, &(hone_results *){NULL}), "external",
                  "external function 'test.other' returned 2");
    give("test.other", NULL, HONE_EXTERN_PLAIN);
    public_expect(hone_program_interpret(program, NULL, 1, in, &(hone_results *){NULL}),
                  "not_found", "test.other");
    give("test.twice", NULL, HONE_EXTERN_PLAIN);
    assert_null(hone_extern_find("test.twice"));
    hone_model_close(model);
    hone_program_free(program);
}

/* Each of them needs a stand-in, and there are 64. */
static void has_room_for_functions(void **state) {
    (void)state;
    static char code[100]; /* addresses that are never called */
    hone_error *error = NULL;
    int known = 0;
    for (; known < 100 && !error; known++) {
        void *address = &code[known];
        hone_extern_function function;
        memcpy(&function, &address, sizeof function);
        error = hone_extern_register("test.many", function, HONE_EXTERN_DLPACK);
    }
    assert_in_range(known, 60, 65);
    public_expect(error, "unavailable", "64 functions");
    give("test.many", NULL, HONE_EXTERN_PLAIN);
}

/* clang-format off */
static const struct compile_refusal {
    const char *name;
    hone_compilation_options options;
    const char *kind, *part;
} compile_refusals[] = {
    {"emit", {.output = "x", .emit = "exe"}, "invalid", "exe"},
    {"weights", {.output = "x", .weights = "away"}, "invalid", "away"},
    {"threads", {.output = "x", .threads = -1}, "invalid", "threads is"},
    {"database", {.output = "x", .database = "/nowhere/a.db"}, "not_found", "/nowhere"},
    {"programs", {.output = "x", .programs = "/nowhere"}, "not_found", "/nowhere"},
    {"function", {.output = "x", .function = "nobody"}, "not_found", "nobody"},
    {"target", {.output = "x", .target = "toaster"}, "invalid", "toaster"},
    {"no output", {0}, "invalid", "output is"},
};
/* clang-format on */

static void refuses_to_compile(void **state) {
    const struct compile_refusal *row = *state;
    hone_program *program = public_parse(product);
    char *report = (char *)state;
    hone_error *error = hone_program_compile(program, &row->options, &report);
    assert_null(report);
    public_expect(error, row->kind, row->part);
    hone_model *model = NULL; /* one code for the same mistake */
    if (row->options.output && !row->options.weights) {
        error = hone_program_build(program, &row->options, &model);
        assert_null(model);
        public_expect(error, row->kind, row->part);
    }
    hone_program_free(program);
}

static void names_targets(void **state) {
    (void)state;
    char *here = NULL, *again = NULL, *card = NULL;
    public_ok(hone_target_text(NULL, &here));
    public_ok(hone_target_text(here, &again)); /* it stands for itself */
    assert_string_equal(here, again);
    assert_non_null(strstr(here, "-mtriple="));
    public_ok(hone_target_text("nvidia/nvidia-t4", &card));
    assert_non_null(strstr(card, "-arch=sm_75"));
    hone_text_free(here);
    hone_text_free(again);
    hone_text_free(card);
    public_expect(hone_target_text("nothing", &card), "invalid", "unknown target 'nothing'");
    assert_null(card);
    public_expect(hone_target_text("host", NULL), "invalid", "out_text");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_tasks),
        cmocka_unit_test(tunes_and_stops),
        cmocka_unit_test(tunes_with_others),
        cmocka_unit_test(builds_and_interprets),
        cmocka_unit_test(binds_sizes),
        cmocka_unit_test(loads_with_sizes),
        cmocka_unit_test(profiles),
        cmocka_unit_test(names_targets),
        cmocka_unit_test(calls_external_functions),
        cmocka_unit_test(has_room_for_functions),
    };
    int failed = cmocka_run_group_tests_name("package/public_tune", tests, NULL, NULL);
    failed += HONE_RUN_ROWS("package/public_tune_refused", tune_refusals, refuses_to_tune);
    failed += HONE_RUN_ROWS("package/public_others_refused", outside_refusals, refuses_others);
    failed += HONE_RUN_ROWS("package/public_compile_refused", compile_refusals, refuses_to_compile);
    return failed;
}
