/* The tuning loop over a simulated device: budgets, determinism, resume, stops, failures. */
#include "tests/support/hone_test.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "builder/builder_impl.h"
#include "costmodel/feature.h"
#include "graph/prepare.h"
#include "ir/script.h"
#include "runner/runner_impl.h"
#include "support/alloc.h"
#include "support/fs.h"
#include "support/quiet.h"
#include "support/thread.h"
#include "support/vec.h"
#include "tuner/tune.h"

static const char program[] =
    "@I.ir_module\n"
    "class Module:\n"
    "    @T.prim_func\n"
    "    def dense(A: T.Buffer((24, 36)), B: T.Buffer((36, 40)), C: T.Buffer((24, 40))):\n"
    "        for i, j, k in T.grid(24, 40, 36):\n"
    "            with T.block(\"C\"):\n"
    "                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
    "                with T.init():\n"
    "                    C[vi, vj] = T.float32(0)\n"
    "                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n"
    "    @T.prim_func\n"
    "    def scale(A: T.Buffer((64, 30)), B: T.Buffer((64, 30))):\n"
    "        for i, j in T.grid(64, 30):\n"
    "            with T.block(\"B\"):\n"
    "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "                B[vi, vj] = A[vi, vj] * T.float32(2)\n";

typedef struct world {
    hone_module *module, *prepared;
    hone_task_list tasks;
    hone_db *db;
    hone_builder *builder;
    hone_runner *runner;
    hone_tune_options options;
    int64_t asked; /* how often a stop was asked for */
    int64_t stop_after;
    int fail_every;
    hone_failure fail_as;
    bool is_uneven; /* devices answer in another order than they were asked */
    int64_t simulated;
} world;

/* A cost that has a shape: some features make it better, and a little is particular to the program.
 */
static void simulate(void *ctx, hone_hash128 hash, const float *features, uint32_t row_count,
                     hone_simulated_facts *out) {
    world *w = ctx;
    double sum = 1;
    uint32_t columns = hone_feature_count();
    for (uint32_t r = 0; r < row_count; r++) {
        for (uint32_t c = 0; c < columns; c += 7)
            sum += fabs(features[r * columns + c]);
    }
    *out = (hone_simulated_facts){.cost_ns = 1000 + 100 * sum + (double)(hash.lo % 100),
                                  .noise = 0.01,
                                  .noise_seed = hash.lo,
                                  .latency_ns = 1000000};
    if (w->is_uneven) out->latency_ns *= 1 + (int64_t)(hash.hi % 40);
    w->simulated++;
    if (w->fail_every && w->simulated % w->fail_every == 0) out->failure = w->fail_as;
}

static hone_stop should_stop(void *ctx) {
    world *w = ctx;
    w->asked++;
    return w->stop_after && w->simulated >= w->stop_after ? HONE_STOP_DRAIN : HONE_STOP_NO;
}

static void open_world(world *w) {
    *w = (world){0};
    HONE_ASSERT_OK(hone_script_parse(program, strlen(program), "test.py", &w->module));
    HONE_ASSERT_OK(hone_graph_prepare(w->module, NULL, &w->prepared));
    HONE_ASSERT_OK(hone_tasks_extract(&w->prepared, 1, &w->tasks));
    HONE_ASSERT_OK(hone_db_create_memory(&w->db));
    HONE_ASSERT_OK(hone_builder_create_null(HONE_FAILURE_NONE, &w->builder));
    HONE_ASSERT_OK(hone_runner_create_simulated(NULL, &w->runner));
    w->options = (hone_tune_options){.db = w->db,
                                     .builder = w->builder,
                                     .runner = w->runner,
                                     .seed = 7,
                                     .trials = 40,
                                     .work_dir = "/tmp",
                                     .model_name = "test",
                                     .command_line = "test",
                                     .hone_version = "0",
                                     .simulate = simulate,
                                     .should_stop = should_stop,
                                     .ctx = w};
    HONE_ASSERT_OK(hone_target_parse("llvm -mcpu=znver3 -num-cores=2", &w->options.target));
}

static void close_world(world *w) {
    hone_task_list_deinit(&w->tasks);
    hone_module_release(w->prepared);
    hone_module_release(w->module);
    hone_runner_release(w->runner);
    hone_builder_release(w->builder);
    hone_db_release(w->db);
}

/* ---- what was tried, in order ---- */

typedef struct trials {
    HONE_VEC(hone_hash128) programs;
    int64_t ok, failed;
    double best_ns;
    uint64_t fingerprint; /* of who was proposed when, in whatever order they came back */
} trials;

static bool note(void *ctx, const hone_db_trial *trial) {
    trials *t = ctx;
    bool is_ok = strcmp(trial->outcome, "ok") == 0;
    t->ok += is_ok;
    t->failed += !is_ok;
    if (is_ok && !(trial->median_ns >= t->best_ns)) t->best_ns = trial->median_ns;
    uint64_t place = hone_hash_mix(trial->workload.lo ^ (uint64_t)trial->proposal);
    t->fingerprint += hone_hash_mix(trial->program.lo ^ place);
    return hone_vec_push(&t->programs, trial->program);
}

static void list_trials(world *w, const char *session, trials *out) {
    *out = (trials){.best_ns = NAN};
    hone_db_filter filter = {.session = session};
    HONE_ASSERT_OK(hone_db_trials(w->db, &filter, note, out));
}

static bool has_duplicates(const trials *t) {
    for (size_t i = 0; i < t->programs.count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (hone_hash128_equal(t->programs.data[i], t->programs.data[k])) return true;
        }
    }
    return false;
}

/* ---- tests ---- */

static void budget_is_kept_and_nothing_is_tried_twice(void **state) {
    (void)state;
    world w;
    open_world(&w);
    hone_tune_result result;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    trials all;
    list_trials(&w, NULL, &all);
    assert_int_equal(result.trials, 40);
    assert_int_equal(all.programs.count, 40);
    assert_false(has_duplicates(&all));
    assert_int_equal(result.task_count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(result.tasks[i].trials > 0);
        assert_true(result.tasks[i].best_ns <= result.tasks[i].before_ns);
    }
    hone_vec_deinit(&all.programs);
    hone_tune_result_deinit(&result);
    close_world(&w);
}

static void same_seed_gives_the_same_trials(void **state) {
    (void)state;
    trials runs[3];
    for (int i = 0; i < 3; i++) {
        world w;
        open_world(&w);
        w.options.seed = i == 2 ? 8 : 7;
        hone_tune_result result;
        HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
        list_trials(&w, NULL, &runs[i]);
        hone_tune_result_deinit(&result);
        close_world(&w);
    }
    size_t bytes = runs[0].programs.count * sizeof(hone_hash128);
    assert_int_equal(runs[0].programs.count, runs[1].programs.count);
    assert_memory_equal(runs[0].programs.data, runs[1].programs.data, bytes);
    assert_memory_not_equal(runs[0].programs.data, runs[2].programs.data, bytes);
    for (int i = 0; i < 3; i++)
        hone_vec_deinit(&runs[i].programs);
}

/* What is proposed depends on the look-ahead, not on how many devices there are or who answers
 * first. */
static void devices_do_not_matter(void **state) {
    (void)state;
    static const struct {
        int32_t slots, look_ahead;
        bool is_uneven;
    } runs[] = {
        {1,  24, false},
        {3,  24, true },
        {60, 24, true },
        {3,  16, true }
    };
    enum { RUNS = sizeof runs / sizeof runs[0] };
    uint64_t fingerprints[RUNS];
    for (int i = 0; i < RUNS; i++) {
        world w;
        open_world(&w);
        w.is_uneven = runs[i].is_uneven;
        w.options.trials = 48;
        w.options.look_ahead = runs[i].look_ahead;
        hone_runner_release(w.runner);
        hone_runner_simulated_options options = {.slots = runs[i].slots};
        HONE_ASSERT_OK(hone_runner_create_simulated(&options, &w.runner));
        w.options.runner = w.runner;
        hone_tune_result result;
        HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
        trials all;
        list_trials(&w, NULL, &all);
        assert_int_equal(all.programs.count, 48);
        fingerprints[i] = all.fingerprint;
        hone_vec_deinit(&all.programs);
        hone_tune_result_deinit(&result);
        close_world(&w);
    }
    assert_true(fingerprints[1] == fingerprints[0]);
    assert_true(fingerprints[2] == fingerprints[0]);
    assert_true(fingerprints[3] != fingerprints[0]); /* another look-ahead is another run */
}

static void look_ahead_is_kept_and_checked(void **state) {
    (void)state;
    world w;
    open_world(&w);
    hone_tune_result result;
    w.options.look_ahead = 7;
    HONE_ASSERT_ERROR(hone_tune(&w.tasks, &w.options, &result), HONE_CODE_INVALID, "look-ahead");
    hone_tune_result_deinit(&result);
    w.options.strategy = "random";
    w.options.look_ahead = 8; /* nobody thinks while somebody works */
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    assert_int_equal(result.trials, 40);
    hone_tune_result_deinit(&result);
    close_world(&w);
}

/* ---- a build that takes its time ---- */

/* With a look-ahead of 32 so many others can be committed before the third proposal is built: 31,
 * without those of the last batch, which may only be built. */
enum { OTHERS = 23 };

/* The null builder, but the third build answers when the others that do not depend on it are
 * committed, or when a minute shows that they wait for it. */
typedef struct late_builder {
    hone_builder base;
    hone_builder *inner; /* owned */
    hone_arena *arena;
    hone_db *db; /* where they are committed; not owned */
    hone_ticket late;
    int64_t give_up_ns;
    hone_build_result late_result;
} late_builder;

static hone_status late_submit(hone_builder *base, const hone_build_request *request,
                               hone_ticket ticket) {
    hone_ticket same;
    HONE_TRY(hone_builder_submit(((late_builder *)base)->inner, request, &same));
    assert_int_equal(same, ticket);
    return HONE_OK;
}

static bool count_trial(void *ctx, const hone_db_trial *trial) {
    (void)trial;
    ++*(int64_t *)ctx;
    return true;
}

static bool is_time(const late_builder *self) {
    int64_t committed = 0;
    hone_db_filter filter = {0};
    HONE_ASSERT_OK(hone_db_trials(self->db, &filter, count_trial, &committed));
    return committed >= OTHERS || hone_clock_now(hone_clock_system()) >= self->give_up_ns;
}

static hone_status late_next(hone_builder *base, int64_t deadline_ns, hone_arena *arena,
                             hone_ticket *out_ticket, hone_build_result *out_result) {
    late_builder *self = (late_builder *)base;
    if (self->late && is_time(self)) {
        *out_ticket = self->late;
        *out_result = self->late_result;
        out_result->artifact_path = hone_arena_strdup(arena, out_result->artifact_path);
        self->late = 0;
        return HONE_OK;
    }
    if (hone_builder_in_flight(self->inner) == 0) return HONE_ERROR(HONE_CODE_TIMEOUT, "not yet");
    HONE_TRY(hone_builder_next_result(self->inner, deadline_ns, arena, out_ticket, out_result));
    if (*out_ticket != 3) return HONE_OK;
    self->late = *out_ticket;
    self->late_result = *out_result;
    self->late_result.artifact_path = hone_arena_strdup(self->arena, out_result->artifact_path);
    return HONE_ERROR(HONE_CODE_TIMEOUT, "not yet");
}

static int late_fd(const hone_builder *base) {
    (void)base;
    return -1;
}

static void late_nothing(hone_builder *base) {
    (void)base;
}

static void late_destroy(hone_builder *base) {
    late_builder *self = (late_builder *)base;
    hone_builder_release(self->inner);
    hone_arena_destroy(self->arena);
    hone_free(self);
}

static const hone_builder_vtable late_vtable = {.name = "late",
                                                .destroy = late_destroy,
                                                .submit = late_submit,
                                                .next_result = late_next,
                                                .fd = late_fd,
                                                .pause = late_nothing,
                                                .resume = late_nothing,
                                                .cancel_all = late_nothing};

static hone_builder *make_late_builder(hone_db *db) {
    late_builder *self = hone_calloc(1, sizeof *self);
    assert_non_null(self);
    self->arena = hone_arena_create(4096);
    assert_non_null(self->arena);
    self->db = db;
    self->give_up_ns = hone_deadline_after(hone_clock_system(), 60 * HONE_NS_PER_S);
    HONE_ASSERT_OK(hone_builder_create_null(HONE_FAILURE_NONE, &self->inner));
    hone_builder_init(&self->base, &late_vtable, 1, 64);
    return &self->base;
}

typedef struct order {
    int64_t records_before; /* that were committed before the late one */
    int64_t late_record;
    int64_t records[64];
    int64_t count;
} order;

static bool note_order(void *ctx, const hone_db_trial *trial) {
    order *o = ctx;
    if (trial->proposal == 2) o->late_record = trial->record;
    o->records[o->count++] = trial->record;
    return o->count < 64;
}

/* Devices go on with the others, as far as the look-ahead reaches. */
static void a_slow_build_holds_nobody(void **state) {
    (void)state;
    world w;
    open_world(&w);
    w.options.only_task = "dense";
    w.options.strategy = "random"; /* quick */
    w.options.look_ahead = 32;
    hone_builder_release(w.builder);
    w.builder = make_late_builder(w.db);
    w.options.builder = w.builder;
    hone_tune_result result;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    assert_int_equal(result.trials, 40);
    order o = {0};
    hone_db_filter filter = {0};
    HONE_ASSERT_OK(hone_db_trials(w.db, &filter, note_order, &o));
    for (int64_t i = 0; i < o.count; i++)
        o.records_before += o.records[i] < o.late_record;
    assert_int_equal(o.count, 40);
    assert_true(o.records_before >= OTHERS);
    hone_tune_result_deinit(&result);
    close_world(&w);
}

/* ---- builds beside somebody who times ---- */

/* A builder whose builds take until somebody has timed once more; it knows when it is stopped. */
typedef struct gate_builder {
    hone_builder base;
    const char *path; /* of the gate */
    hone_ticket tickets[64];
    uint32_t first, count;
    int64_t wanted_times, pauses;
    atomic_llong times;
    int64_t outsiders; /* outsiders: alone at the gate though builds ran */
    atomic_bool is_paused, is_alone;
} gate_builder;

static hone_status gate_submit(hone_builder *base, const hone_build_request *request,
                               hone_ticket ticket) {
    gate_builder *self = (gate_builder *)base;
    hone_quiet_gate gate;
    (void)request;
    HONE_ASSERT_OK(hone_quiet_open(self->path, &gate)); /* nobody can be alone beside a build */
    hone_status st =
        hone_quiet_begin(&gate, HONE_QUIET_ALONE, hone_clock_system(), HONE_DEADLINE_NOW);
    HONE_ASSERT_CODE(st, HONE_CODE_TIMEOUT);
    hone_quiet_close(&gate);
    self->tickets[(self->first + self->count++) % 64] = ticket;
    self->wanted_times = self->times + 1;
    return HONE_OK;
}

static hone_status gate_next(hone_builder *base, int64_t deadline_ns, hone_arena *arena,
                             hone_ticket *out_ticket, hone_build_result *out_result) {
    gate_builder *self = (gate_builder *)base;
    (void)deadline_ns, (void)arena;
    self->outsiders += self->is_alone && !self->is_paused;
    if (self->is_paused || self->times < self->wanted_times) {
        return HONE_ERROR(HONE_CODE_TIMEOUT, "not yet");
    }
    *out_ticket = self->tickets[self->first++ % 64];
    self->count--;
    *out_result = (hone_build_result){.artifact_path = "none", .manifest = {.entry = "f"}};
    return HONE_OK;
}

static void gate_pause(hone_builder *base) {
    ((gate_builder *)base)->is_paused = true;
    ((gate_builder *)base)->pauses++;
}

static void gate_resume(hone_builder *base) {
    ((gate_builder *)base)->is_paused = false;
}

static void gate_cancel(hone_builder *base) {
    (void)base;
}

static void gate_destroy(hone_builder *base) {
    hone_free(base);
}

static int gate_fd(const hone_builder *base) {
    (void)base;
    return -1;
}

static const hone_builder_vtable gate_vtable = {.name = "gate",
                                                .destroy = gate_destroy,
                                                .submit = gate_submit,
                                                .next_result = gate_next,
                                                .fd = gate_fd,
                                                .pause = gate_pause,
                                                .resume = gate_resume,
                                                .cancel_all = gate_cancel};

/* A runner of this machine that times now and then, until the tune is over. */
typedef struct gate_timer {
    gate_builder *builder;
    atomic_bool is_over;
} gate_timer;

static void time_now_and_then(void *context) {
    gate_timer *timer = context;
    const hone_clock *clock = hone_clock_system();
    hone_quiet_gate gate;
    HONE_ASSERT_OK(hone_quiet_open(timer->builder->path, &gate));
    while (!timer->is_over) {
        HONE_ASSERT_OK(hone_quiet_begin(&gate, HONE_QUIET_ALONE, clock, HONE_DEADLINE_NEVER));
        timer->builder->is_alone = true;
        hone_clock_sleep_until(clock, hone_clock_now(clock) + 2 * HONE_NS_PER_MS);
        timer->builder->is_alone = false;
        hone_quiet_end(&gate);
        timer->builder->times++;
        hone_clock_sleep_until(clock, hone_clock_now(clock) + 2 * HONE_NS_PER_MS);
    }
    hone_quiet_close(&gate);
}

static void builds_keep_out_of_the_way(void **state) {
    (void)state;
    world w;
    open_world(&w);
    char *dir = NULL;
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-gate", &dir));
    char *path = hone_path_join(dir, "quiet.lock");
    gate_builder *builder = hone_calloc(1, sizeof *builder);
    assert_true(path && builder);
    builder->path = path;
    hone_builder_init(&builder->base, &gate_vtable, 2, 32);
    hone_builder_release(w.builder);
    w.builder = w.options.builder = &builder->base;
    w.options.quiet_path = path;
    gate_timer timer = {.builder = builder};
    hone_thread thread;
    HONE_ASSERT_OK(hone_thread_start(&thread, "timer", time_now_and_then, &timer));
    hone_tune_result result;
    hone_status st = hone_tune(&w.tasks, &w.options, &result);
    timer.is_over = true;
    hone_thread_join(&thread);
    HONE_ASSERT_OK(st);
    assert_int_equal(result.trials, 40);
    assert_int_equal(builder->outsiders, 0);
    assert_true(builder->pauses > 0);
    assert_false(builder->is_paused);
    hone_tune_result_deinit(&result);
    close_world(&w);
    HONE_ASSERT_OK(hone_fs_remove_tree(dir));
    hone_free(dir);
    hone_free(path);
}

/* ---- devices that come and go ---- */

/* A simulated runner whose devices leave after so many results, for ever or for a while. */
typedef struct fading_runner {
    hone_runner base;
    hone_runner *inner; /* owned */
    int64_t results, leave_after;
    int tends_left; /* until they come back; -1 = they do not, and nobody waits */
    bool are_gone;
    int64_t gone_count;
} fading_runner;

static void fading_destroy(hone_runner *base) {
    hone_runner_release(((fading_runner *)base)->inner);
    hone_free(base);
}

static hone_status fading_submit(hone_runner *base, const hone_run_request *request,
                                 hone_ticket ticket) {
    hone_ticket same;
    assert_false(((fading_runner *)base)->are_gone); /* nothing is submitted without a slot */
    HONE_TRY(hone_runner_submit(((fading_runner *)base)->inner, request, &same));
    assert_int_equal(same, ticket);
    return HONE_OK;
}

static hone_status fading_next(hone_runner *base, int64_t deadline_ns, hone_ticket *out_ticket,
                               hone_run_result *out_result) {
    fading_runner *self = (fading_runner *)base;
    if (self->are_gone) return HONE_ERROR(HONE_CODE_TIMEOUT, "no result yet");
    HONE_TRY(hone_runner_next_result(self->inner, deadline_ns, out_ticket, out_result));
    if (++self->results != self->leave_after) return HONE_OK;
    self->are_gone = true;
    self->gone_count++;
    base->slots = 0;
    return HONE_OK;
}

static hone_status fading_tend(hone_runner *base) {
    fading_runner *self = (fading_runner *)base;
    if (!self->are_gone) return HONE_OK;
    if (self->tends_left < 0) return HONE_ERROR(HONE_CODE_UNAVAILABLE, "no device is left");
    if (--self->tends_left > 0) return HONE_OK;
    self->are_gone = false;
    base->slots = 3; /* more than before */
    return HONE_OK;
}

static int fading_fd(const hone_runner *base) {
    (void)base;
    return -1;
}

static void fading_cancel_all(hone_runner *base) {
    fading_runner *self = (fading_runner *)base;
    hone_runner_cancel_all(self->inner);
    self->are_gone = false; /* what is cancelled is answered */
}

static const hone_runner_vtable fading_vtable = {.name = "fading",
                                                 .destroy = fading_destroy,
                                                 .submit = fading_submit,
                                                 .next_result = fading_next,
                                                 .tend = fading_tend,
                                                 .fd = fading_fd,
                                                 .cancel_all = fading_cancel_all};

static fading_runner *make_fading_runner(world *w, int64_t leave_after, int tends) {
    fading_runner *self = hone_calloc(1, sizeof *self);
    hone_runner_simulated_options options = {.slots = 2};
    assert_non_null(self);
    HONE_ASSERT_OK(hone_runner_create_simulated(&options, &self->inner));
    hone_runner_init(&self->base, &fading_vtable, 2, 64);
    self->leave_after = leave_after;
    self->tends_left = tends;
    hone_runner_release(w->runner);
    w->runner = w->options.runner = &self->base;
    w->options.strategy = "random"; /* quick */
    return self;
}

static void devices_that_come_back_are_waited_for(void **state) {
    (void)state;
    world w;
    open_world(&w);
    fading_runner *runner = make_fading_runner(&w, 10, 20);
    hone_tune_result result;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    assert_int_equal(runner->gone_count, 1);
    assert_int_equal(result.trials, 40);
    assert_int_equal(result.failed, 0);
    assert_null(result.lost_devices);
    hone_tune_result_deinit(&result);
    close_world(&w);
}

static void without_devices_it_ends_with_all_saved(void **state) {
    (void)state;
    world w;
    open_world(&w);
    make_fading_runner(&w, 10, -1);
    hone_tune_result result;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    trials all;
    list_trials(&w, result.session, &all);
    assert_int_equal(result.trials, 10);
    assert_int_equal(all.programs.count, 10);
    assert_string_equal(result.lost_devices, "no device is left");
    hone_vec_deinit(&all.programs);
    hone_tune_result_deinit(&result);
    close_world(&w);
}

/* A drain does not wait for devices, and neither does a time limit. */
static void stops_without_devices(void **state) {
    (void)state;
    for (int is_late = 0; is_late < 2; is_late++) {
        world w;
        open_world(&w);
        make_fading_runner(&w, 10, 1 << 30);
        w.stop_after = is_late ? 0 : 10;
        w.options.time_limit_ns = is_late ? HONE_NS_PER_S : 0;
        w.options.trials = is_late ? 0 : 1000;
        hone_tune_result result;
        HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
        assert_int_equal(result.was_stopped, !is_late);
        assert_true(result.trials <= 10);
        hone_tune_result_deinit(&result);
        close_world(&w);
    }
}

static void second_run_goes_on(void **state) {
    (void)state;
    world w;
    open_world(&w);
    hone_tune_result first, second;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &first));
    w.options.seed = 99;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &second));
    trials all;
    list_trials(&w, NULL, &all);
    assert_int_equal(all.programs.count, 80);
    assert_false(has_duplicates(&all));
    int64_t known = 0;
    for (uint32_t i = 0; i < second.task_count; i++) {
        known += second.tasks[i].known_trials;
        assert_true(second.tasks[i].best_ns <= first.tasks[i].best_ns);
        assert_true(second.tasks[i].before_ns == first.tasks[i].before_ns);
    }
    assert_int_equal(known, 40);
    hone_vec_deinit(&all.programs);
    hone_tune_result_deinit(&first);
    hone_tune_result_deinit(&second);
    close_world(&w);
}

/* Failures that came after the first run, more than a second one reads. */
static void add_failures(world *w, const hone_tune_result *first, int count) {
    hone_db_trial *batch = hone_calloc((size_t)count, sizeof *batch);
    assert_non_null(batch);
    for (int i = 0; i < count; i++) {
        batch[i] = (hone_db_trial){
            .session = first->session,
            .workload = first->tasks[0].workload,
            .target = hone_target_hash(&w->options.target),
            .proposal = 1000 + i,
            .trace = "[[], []]",
            .program = {.lo = (uint64_t)i, .hi = 99},
            .outcome = "run_crash",
            .median_ns = NAN,
            .confirmed_ns = NAN
        };
    }
    HONE_ASSERT_OK(hone_db_commit_trials(w->db, batch, (size_t)count));
    hone_free(batch);
}

/* Of very many trials some are read: the default schedule and the fastest are among them, and no
 * program is tried again. */
static void second_run_goes_on_from_very_many(void **state) {
    (void)state;
    enum { MANY = 13000, FEW = 2 }; /* too few to find anything good again */
    world w;
    open_world(&w);
    hone_tune_result first, second;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &first));
    add_failures(&w, &first, MANY);
    w.options.seed = 99;
    w.options.trials = FEW;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &second));
    trials mine, theirs;
    list_trials(&w, second.session, &mine);
    list_trials(&w, first.session, &theirs);
    assert_int_equal(mine.programs.count, FEW);
    for (size_t i = 0; i < FEW * 40; i++) { /* the failures come after the first 40 */
        assert_false(hone_hash128_equal(mine.programs.data[i / 40], theirs.programs.data[i % 40]));
    }
    hone_vec_deinit(&mine.programs);
    hone_vec_deinit(&theirs.programs);
    int64_t known = 0;
    for (uint32_t i = 0; i < second.task_count; i++) {
        known += second.tasks[i].known_trials;
        assert_true(second.tasks[i].best_ns <= first.tasks[i].best_ns);
        assert_true(second.tasks[i].before_ns == first.tasks[i].before_ns);
    }
    assert_int_equal(known, 40 + MANY);
    hone_tune_result_deinit(&first);
    hone_tune_result_deinit(&second);
    close_world(&w);
}

static void stop_drains_and_keeps_everything(void **state) {
    (void)state;
    world w;
    open_world(&w);
    w.stop_after = 10;
    w.options.trials = 1000;
    hone_tune_result result;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    trials all;
    list_trials(&w, result.session, &all);
    assert_true(result.was_stopped);
    assert_true(result.trials >= 10 && result.trials <= 10 + 3 * 8);
    assert_int_equal(all.programs.count, result.trials);
    hone_vec_deinit(&all.programs);
    hone_tune_result_deinit(&result);
    close_world(&w);
}

static void failures_are_recorded_and_tuning_goes_on(void **state) {
    (void)state;
    world w;
    open_world(&w);
    w.fail_every = 3;
    w.fail_as = HONE_FAILURE_RUN_CRASH;
    hone_tune_result result;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    trials all;
    list_trials(&w, NULL, &all);
    assert_int_equal(result.trials, 40);
    assert_int_equal(all.failed, result.failed);
    assert_int_equal(all.failed, 13);
    hone_vec_deinit(&all.programs);
    hone_tune_result_deinit(&result);
    close_world(&w);
}

/* What a device does is not held against candidates, and takes nothing from the budget. */
static void faults_of_devices_are_not_recorded(void **state) {
    (void)state;
    for (int every = 2; every <= 5; every++) {
        world w;
        open_world(&w);
        w.fail_every = every;
        w.fail_as = every == 3 ? HONE_FAILURE_CANCELLED : HONE_FAILURE_DEVICE_LOST;
        hone_tune_result result;
        HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
        trials all;
        list_trials(&w, NULL, &all);
        assert_int_equal(result.trials, 40);
        assert_int_equal(all.ok, 40);
        assert_int_equal(all.failed, 0);
        assert_false(result.was_stopped);
        assert_true(result.tasks[0].before_ns > 0); /* the default schedule, too */
        hone_vec_deinit(&all.programs);
        hone_tune_result_deinit(&result);
        close_world(&w);
    }
}

/* A device that does nothing right ends the run, with its word; mended, the same command does all
 * that it would have done at first. */
static void a_broken_device_ends_it_and_nothing_is_lost(void **state) {
    (void)state;
    world w;
    open_world(&w);
    w.fail_every = 1;
    w.fail_as = HONE_FAILURE_DEVICE_LOST;
    hone_tune_result result;
    HONE_ASSERT_ERROR(hone_tune(&w.tasks, &w.options, &result), HONE_CODE_UNAVAILABLE,
                      "simulated device_lost");
    hone_tune_result_deinit(&result);
    trials all;
    list_trials(&w, NULL, &all);
    assert_int_equal(all.ok + all.failed, 0);
    hone_vec_deinit(&all.programs);
    w.fail_every = 0;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    assert_int_equal(result.trials, 40);
    assert_true(result.tasks[0].before_ns > 0);
    hone_tune_result_deinit(&result);
    close_world(&w);
}

static void a_broken_builder_ends_it(void **state) {
    (void)state;
    world w;
    open_world(&w);
    hone_builder_release(w.builder);
    HONE_ASSERT_OK(hone_builder_create_null(HONE_FAILURE_MACHINE_ERROR, &w.builder));
    w.options.builder = w.builder;
    hone_tune_result result;
    HONE_ASSERT_ERROR(hone_tune(&w.tasks, &w.options, &result), HONE_CODE_UNAVAILABLE,
                      "through no fault of theirs");
    hone_tune_result_deinit(&result);
    close_world(&w);
}

/* Databases have such rows from earlier versions: their programs are tried. */
static void recorded_faults_are_forgotten(void **state) {
    (void)state;
    world w;
    open_world(&w);
    w.options.trials = 8;
    hone_tune_result result;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    const hone_hash128 target = hone_target_hash(&w.options.target);
    for (uint64_t i = 0; i < 3; i++) {
        int64_t record;
        hone_db_trial lost = {
            .session = result.session,
            .workload = w.tasks.items[0].hash,
            .target = target,
            .proposal = 100 + (int64_t)i,
            .sketch = -1,
            .program = {i + 1, i},
            .trace = "[[], []]",
            .outcome = "device_lost",
            .median_ns = NAN,
            .spread = NAN,
            .max_error = NAN,
            .confirmed_ns = NAN
        };
        HONE_ASSERT_OK(hone_db_commit_trial(w.db, &lost, &record));
    }
    hone_tune_result_deinit(&result);
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    int64_t known = 0;
    for (uint32_t i = 0; i < result.task_count; i++)
        known += result.tasks[i].known_trials;
    assert_int_equal(known, 8);
    hone_tune_result_deinit(&result);
    close_world(&w);
}

static void a_task_where_nothing_builds_ends(void **state) {
    (void)state;
    world w;
    open_world(&w);
    hone_builder_release(w.builder);
    HONE_ASSERT_OK(hone_builder_create_null(HONE_FAILURE_BUILD_ERROR, &w.builder));
    w.options.builder = w.builder;
    hone_tune_result result;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    assert_int_equal(result.trials, 40);
    assert_int_equal(result.failed, 40);
    assert_true(isnan(result.tasks[0].best_ns));
    hone_tune_result_deinit(&result);
    close_world(&w);
}

static void strategies_and_models_by_name(void **state) {
    (void)state;
    static const char *const strategies[] = {"random", "replay", "evolutionary"};
    static const char *const models[] = {"null", "random", "xgboost"};
    for (int i = 0; i < 3; i++) {
        world w;
        open_world(&w);
        w.options.strategy = strategies[i];
        w.options.cost_model = models[i];
        w.options.trials = 24;
        hone_tune_result result;
        HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
        assert_int_equal(result.trials, 24);
        hone_tune_result_deinit(&result);
        w.options.strategy = "no such";
        HONE_ASSERT_ERROR(hone_tune(&w.tasks, &w.options, &result), HONE_CODE_INVALID, "no such");
        hone_tune_result_deinit(&result);
        close_world(&w);
    }
}

/* ---- a space of the user's, and a schedule that is written already ---- */

static const char three_draws[] =
    "def space(sch):\n"
    "    i, j, k = sch.get_loops(sch.get_block(\"C\"))\n"
    "    sch.split(j, [None, sch.sample_categorical([2, 4, 8], [0.3, 0.3, 0.4])])\n";

static const char many_draws[] = "def space(sch):\n"
                                 "    i, j, k = sch.get_loops(sch.get_block(\"C\"))\n"
                                 "    sch.split(i, sch.sample_perfect_tile(i, 3))\n"
                                 "    sch.split(j, sch.sample_perfect_tile(j, 3))\n";

typedef struct kinds {
    int64_t before, drawn;
    hone_hash128 before_program;
} kinds;

static bool note_kind(void *ctx, const hone_db_trial *trial) {
    kinds *k = ctx;
    k->before += trial->sketch < 0;
    k->drawn += trial->sketch >= 0;
    if (trial->sketch < 0) k->before_program = trial->program;
    return true;
}

static void tune_own_space(world *w, const char *text, hone_tune_result *out, kinds *out_kinds) {
    char *dir = NULL;
    hone_str path = {0};
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-test", &dir));
    hone_str_printf(&path, "%s/space.py", dir);
    HONE_ASSERT_OK(hone_fs_write_atomic(hone_str_text(&path), text, strlen(text)));
    w->options.space_path = hone_str_text(&path);
    HONE_ASSERT_OK(hone_tune(&w->tasks, &w->options, out));
    *out_kinds = (kinds){0};
    HONE_ASSERT_OK(hone_db_trials(w->db, NULL, note_kind, out_kinds));
    HONE_ASSERT_OK(hone_fs_remove_tree(dir));
    hone_str_deinit(&path);
    hone_free(dir);
}

/* The budget is the space's; the program as written is timed to compare with, and is no winner. */
static void own_space_has_the_budget(void **state) {
    (void)state;
    world w;
    hone_tune_result result;
    kinds k;
    open_world(&w);
    w.options.only_task = "dense";
    w.options.trials = 5;
    tune_own_space(&w, many_draws, &result, &k);
    assert_int_equal(k.drawn, 5);
    assert_int_equal(k.before, 1);
    assert_int_equal(result.trials, 5);
    assert_int_equal(result.tasks[0].trials, 5);
    assert_true(result.tasks[0].before_ns > 0);
    assert_true(hone_hash128_equal(k.before_program, result.tasks[0].workload));
    assert_false(result.is_used_up);
    hone_tune_result_deinit(&result);
    close_world(&w);
}

static void small_space_is_used_up(void **state) {
    (void)state;
    world w;
    hone_tune_result result;
    kinds k;
    open_world(&w);
    w.options.only_task = "dense";
    tune_own_space(&w, three_draws, &result, &k);
    assert_int_equal(k.drawn, 3);
    assert_true(result.is_used_up);
    assert_false(result.has_converged);
    hone_tune_result_deinit(&result);
    close_world(&w);
}

/* It is no space of `scale`, which has no block C: that task is left out. */
static void tasks_of_other_spaces_are_left_out(void **state) {
    (void)state;
    world w;
    hone_tune_result result;
    kinds k;
    open_world(&w);
    tune_own_space(&w, three_draws, &result, &k);
    assert_int_equal(result.task_count, 1);
    assert_string_equal(result.tasks[0].name, "dense");
    hone_tune_result_deinit(&result);
    close_world(&w);
}

static void written_schedules_are_to_be_beaten(void **state) {
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def scale(A: T.Buffer((64, 30)), B: T.Buffer((64, 30))):\n"
                               "    for j in T.unroll(30):\n"
                               "        for i in range(64):\n"
                               "            with T.block(\"B\"):\n"
                               "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                               "                B[vi, vj] = A[vi, vj] * T.float32(2)\n";
    world w;
    hone_tune_result result;
    kinds k = {0};
    open_world(&w);
    hone_task_list_deinit(&w.tasks);
    hone_module_release(w.prepared);
    hone_module_release(w.module);
    HONE_ASSERT_OK(hone_script_parse(text, strlen(text), "test.py", &w.module));
    HONE_ASSERT_OK(hone_graph_prepare(w.module, NULL, &w.prepared));
    HONE_ASSERT_OK(hone_tasks_extract(&w.prepared, 1, &w.tasks));
    w.options.trials = 8;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    HONE_ASSERT_OK(hone_db_trials(w.db, NULL, note_kind, &k));
    assert_int_equal(k.before, 1);
    assert_true(hone_hash128_equal(k.before_program, result.tasks[0].workload));
    hone_tune_result_deinit(&result);
    close_world(&w);
}

static void one_task_by_name(void **state) {
    (void)state;
    world w;
    open_world(&w);
    w.options.only_task = "dense";
    hone_tune_result result;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    assert_int_equal(result.task_count, 1);
    assert_string_equal(result.tasks[0].name, "dense");
    hone_tune_result_deinit(&result);
    w.options.only_task = "nobody";
    HONE_ASSERT_ERROR(hone_tune(&w.tasks, &w.options, &result), HONE_CODE_NOT_FOUND, "nobody");
    hone_tune_result_deinit(&result);
    close_world(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budget_is_kept_and_nothing_is_tried_twice),
        cmocka_unit_test(same_seed_gives_the_same_trials),
        cmocka_unit_test(devices_do_not_matter),
        cmocka_unit_test(look_ahead_is_kept_and_checked),
        cmocka_unit_test(a_slow_build_holds_nobody),
        cmocka_unit_test(builds_keep_out_of_the_way),
        cmocka_unit_test(devices_that_come_back_are_waited_for),
        cmocka_unit_test(without_devices_it_ends_with_all_saved),
        cmocka_unit_test(stops_without_devices),
        cmocka_unit_test(second_run_goes_on),
        cmocka_unit_test(second_run_goes_on_from_very_many),
        cmocka_unit_test(stop_drains_and_keeps_everything),
        cmocka_unit_test(failures_are_recorded_and_tuning_goes_on),
        cmocka_unit_test(faults_of_devices_are_not_recorded),
        cmocka_unit_test(a_broken_device_ends_it_and_nothing_is_lost),
        cmocka_unit_test(a_broken_builder_ends_it),
        cmocka_unit_test(recorded_faults_are_forgotten),
        cmocka_unit_test(a_task_where_nothing_builds_ends),
        cmocka_unit_test(strategies_and_models_by_name),
        cmocka_unit_test(one_task_by_name),
        cmocka_unit_test(own_space_has_the_budget),
        cmocka_unit_test(small_space_is_used_up),
        cmocka_unit_test(tasks_of_other_spaces_are_left_out),
        cmocka_unit_test(written_schedules_are_to_be_beaten),
    };
    return cmocka_run_group_tests_name("tuner/loop", tests, NULL, NULL);
}
