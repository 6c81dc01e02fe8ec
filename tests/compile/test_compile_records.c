/* tests/compile/test_compile_records.c - which kernel comes from where: records that are replayed,
 * stale, broken, of other targets. */
#include <math.h>
#include <string.h>

#include "graph/passes/prepare.h"
#include "graph/plan/tasks.h"
#include "ir/identity/structural.h"
#include "schedule/primitive/primitives.h"
#include "tests/compile/compile_fixture.h"
#include "tests/support/hone_test.h"

static fixture shared;

static const char matmul[] =
    "from tvm.script import tir as T\n"
    "@T.prim_func\n"
    "def main(A: T.Buffer((32, 24), \"float32\"), B: T.Buffer((24, 40), \"float32\"),\n"
    "         C: T.Buffer((32, 40), \"float32\")):\n"
    "    for i, j, k in T.grid(32, 40, 24):\n"
    "        with T.block(\"C\"):\n"
    "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
    "            with T.init():\n"
    "                C[vi, vj] = T.float32(0)\n"
    "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n";

/* Splits the first loop of block C by `factor`; trace and program hash as a tuner records them. */
static hone_status make_trace(const hone_func *func, int64_t factor, hone_str *out_trace,
                              hone_hash128 *out_program) {
    hone_schedule *sch;
    hone_rv block;
    uint32_t count;
    const hone_rv *loops, *parts;
    HONE_TRY(hone_schedule_create(func, &sch));
    hone_status st = hone_sch_get_block(sch, "C", &block);
    if (!st) st = hone_sch_get_loops(sch, block, &count, &loops);
    if (!st) {
        hone_factor factors[] = {{.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_INT(factor)};
        st = hone_sch_split(sch, loops[0], 2, factors, true, false, &parts);
    }
    if (!st) st = hone_trace_print_json(&sch->trace, out_trace);
    if (!st) *out_program = hone_func_hash(sch->func);
    hone_schedule_destroy(sch);
    return st;
}

typedef struct setup {
    hone_db *db;
    hone_module *module, *prepared;
    hone_task_list tasks;
    hone_target target;
    int64_t proposals;
} setup;

static hone_status begin(setup *s) {
    memset(s, 0, sizeof *s);
    s->target = fixture_options(&shared, "m").target;
    HONE_TRY(hone_db_create_memory(&s->db));
    HONE_TRY(fixture_module(matmul, &s->module));
    HONE_TRY(hone_graph_prepare(s->module, NULL, &s->prepared));
    HONE_TRY(hone_tasks_extract(&s->prepared, 1, &s->tasks));
    hone_db_session session = {
        .id = "s", .model = "m", .state = "done", .hone_version = "0", .command_line = ""};
    HONE_TRY(hone_db_begin_session(s->db, &session));
    hone_db_workload workload = {
        .hash = s->tasks.items[0].hash, .hash_version = 1, .name = "main", .program = matmul};
    return hone_db_put_workload(s->db, &workload);
}

static void end(setup *s) {
    hone_task_list_deinit(&s->tasks);
    hone_module_release(s->prepared);
    hone_module_release(s->module);
    hone_db_close(s->db);
}

static hone_status put(setup *s, const hone_target *target, const char *trace, hone_hash128 program,
                       double ns, double confirmed_ns) {
    hone_str text = {0};
    hone_target_print(target, &text);
    hone_db_target row = {.hash = hone_target_hash(target),
                          .text = hone_str_text(&text),
                          .threads = target->num_threads};
    hone_status st = hone_db_put_target(s->db, &row);
    hone_str_deinit(&text);
    HONE_TRY(st);
    hone_db_trial trial = {.session = "s",
                           .workload = s->tasks.items[0].hash,
                           .target = row.hash,
                           .proposal = s->proposals++,
                           .sketch = -1,
                           .trace = trace,
                           .program = program,
                           .outcome = HONE_DB_OUTCOME_OK,
                           .median_ns = ns,
                           .spread = 0.01,
                           .max_error = 0,
                           .confirmed_ns = confirmed_ns,
                           .predicted_score = NAN,
                           .wall_ns = 1};
    return hone_db_commit_trial(s->db, &trial, NULL);
}

/* Compiles, checks the numbers, gives the one kernel's facts; the reason contains `reason`. */
static hone_status compile(setup *s, const char *reason, hone_compile_source source,
                           hone_compile_kernel *out) {
    hone_compile_options options = fixture_options(&shared, "records");
    hone_compile_result result = {0};
    hone_loaded_model *model = NULL;
    options.db = s->db;
    hone_status st = fixture_compile(s->module, &options, &result, &model);
    if (!st) st = fixture_agree(s->module, model, 1, 5);
    if (!st && result.kernel_count != 1) st = HONE_ERROR(HONE_CODE_INVALID, "not one kernel");
    if (!st) *out = result.kernels[0];
    if (!st && (out->source != source || !strstr(out->reason, reason))) {
        st = HONE_ERROR(HONE_CODE_INVALID, "%s: '%s'", hone_compile_source_name(out->source),
                        out->reason);
    }
    hone_loaded_model_close(model);
    if (result.arena) hone_compile_result_deinit(&result);
    return st;
}

static hone_status best_is_taken(setup *s) {
    hone_compile_kernel k;
    hone_str slow = {0}, fast = {0};
    hone_hash128 slow_program, fast_program;
    const hone_func *func = s->tasks.items[0].func;
    hone_status st = make_trace(func, 4, &slow, &slow_program);
    if (!st) st = make_trace(func, 8, &fast, &fast_program);
    if (!st) st = put(s, &s->target, slow.data, slow_program, 2000, NAN);
    if (!st) st = put(s, &s->target, fast.data, fast_program, 1000, NAN);
    if (!st) st = compile(s, "fastest record, unconfirmed", HONE_COMPILE_RECORD, &k);
    if (!st && (k.record_ns != 1000 || k.record != 2)) {
        st = HONE_ERROR(HONE_CODE_INVALID, "record %d of %g ns", (int)k.record, k.record_ns);
    }
    hone_str_deinit(&slow);
    hone_str_deinit(&fast);
    return st;
}

static hone_status confirmed_is_preferred(setup *s) {
    hone_compile_kernel k;
    hone_str trace = {0};
    hone_hash128 program;
    hone_status st = make_trace(s->tasks.items[0].func, 4, &trace, &program);
    if (!st) st = put(s, &s->target, trace.data, program, 1000, 1010);
    if (!st) st = compile(s, "fastest confirmed record", HONE_COMPILE_RECORD, &k);
    hone_str_deinit(&trace);
    return st;
}

static hone_status stale_is_noticed(setup *s) {
    hone_compile_kernel k = {0};
    hone_str trace = {0};
    hone_hash128 program;
    hone_status st = make_trace(s->tasks.items[0].func, 4, &trace, &program);
    program.lo ^= 1;
    if (!st) st = put(s, &s->target, trace.data, program, 1000, NAN);
    if (!st) st = compile(s, "record 1 is not used: stale", HONE_COMPILE_DEFAULT, &k);
    if (!st && k.match != HONE_RECORD_STALE)
        st = HONE_ERROR(HONE_CODE_INVALID, "not marked as stale");
    hone_str_deinit(&trace);
    return st;
}

static hone_status broken_falls_back(setup *s) {
    hone_compile_kernel k;
    hone_hash128 program = {1, 2};
    HONE_TRY(put(s, &s->target, "[[[\"GetBlock\", [], [\"D\", \"main\"], [\"b0\"]]], []]", program,
                 1000, NAN));
    return compile(s, "record 1 is not used", HONE_COMPILE_DEFAULT, &k);
}

static hone_status other_target_is_named(setup *s) {
    hone_compile_kernel k;
    hone_str trace = {0};
    hone_hash128 program;
    hone_target other = s->target;
    other.num_threads = 1;
    hone_status st = make_trace(s->tasks.items[0].func, 4, &trace, &program);
    if (!st) st = put(s, &other, trace.data, program, 1000, NAN);
    if (!st) st = compile(s, "1 record, but for another target", HONE_COMPILE_DEFAULT, &k);
    hone_str_deinit(&trace);
    return st;
}

static hone_status empty_gives_default(setup *s) {
    hone_compile_kernel k;
    return compile(s, "no record of it", HONE_COMPILE_DEFAULT, &k);
}

static const char open_sum[] =
    "from tvm.script import ir as I\nfrom tvm.script import relax as R\n"
    "from tvm.script import tir as T\n"
    "@I.ir_module\nclass M:\n    @R.function\n"
    "    def main(x: R.Tensor((\"n\", 4), \"float32\"), y: R.Tensor((\"n\", 4), \"float32\")):\n"
    "        n = T.int64()\n"
    "        with R.dataflow():\n"
    "            q = R.add(x, y)\n"
    "            R.output(q)\n"
    "        return q\n";

/* Gives the kernels of a module with n = 7 a record each, of the program as it stands. */
static hone_status put_records_of_seven(setup *s, hone_module *module) {
    hone_graph_dim seven = {"n", 7};
    hone_graph_options options = {.dims = &seven, .dim_count = 1};
    hone_module *prepared;
    HONE_TRY(hone_graph_prepare(module, &options, &prepared));
    hone_task_list_deinit(&s->tasks);
    hone_status st = hone_tasks_extract(&prepared, 1, &s->tasks);
    if (!st) {
        hone_db_workload workload = {
            .hash = s->tasks.items[0].hash, .hash_version = 1, .name = "add", .program = open_sum};
        st = hone_db_put_workload(s->db, &workload);
    }
    if (!st) st = put(s, &s->target, "[[], []]", s->tasks.items[0].hash, 500, NAN);
    hone_module_release(prepared);
    return st;
}

/* Of the sizes 7 and 9 only 7 has a record. */
static hone_status recorded_sizes_only(setup *s) {
    static const char *const specs[] = {"n=7,9"};
    hone_module *module;
    hone_dim_variants variants = {0};
    hone_compile_options options = fixture_options(&shared, "sizes");
    hone_compile_result result = {0};
    hone_loaded_model *model = NULL;
    HONE_TRY(fixture_module(open_sum, &module));
    hone_status st = put_records_of_seven(s, module);
    if (!st) st = hone_dim_variants_parse(specs, 1, &variants);
    options.db = s->db;
    options.variants = &variants;
    options.only_recorded = true;
    if (!st) st = fixture_compile(module, &options, &result, &model);
    for (int64_t size = 7; size <= 9 && !st; size++)
        st = fixture_agree(module, model, size, 3);
    if (!st && (result.plan_count != 2 || result.counts[HONE_COMPILE_RECORD] != 1)) {
        st = HONE_ERROR(HONE_CODE_INVALID, "%u plans, %u kernels from records", result.plan_count,
                        result.counts[HONE_COMPILE_RECORD]);
    }
    hone_loaded_model_close(model);
    if (result.arena) hone_compile_result_deinit(&result);
    hone_dim_variants_deinit(&variants);
    hone_module_release(module);
    return st;
}

static const struct row {
    const char *name;
    hone_status (*run)(setup *s);
} rows[] = {
    {"the best record is taken",           best_is_taken         },
    {"a confirmed one is preferred",       confirmed_is_preferred},
    {"a stale one is noticed",             stale_is_noticed      },
    {"a broken one falls back",            broken_falls_back     },
    {"another target is named",            other_target_is_named },
    {"sizes without records are left out", recorded_sizes_only   },
    {"an empty database",                  empty_gives_default   },
};

static void check_row(void **state) {
    const struct row *row = *state;
    setup s;
    hone_status st = begin(&s);
    if (!st) st = row->run(&s);
    end(&s);
    HONE_ASSERT_OK(st);
}

int main(void) {
    if (fixture_begin(&shared) != 0) return 1;
    int code = HONE_RUN_ROWS("compile/records", rows, check_row);
    fixture_end(&shared);
    return code;
}
