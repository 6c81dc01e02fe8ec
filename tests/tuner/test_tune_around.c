/* tests/tuner/test_tune_around.c - the tuning loop and what it waits for: slow builds, somebody who
 * times, devices that come and go. */
#include "tests/support/hone_test.h"

#include <stdatomic.h>

#include "builder/builder_impl.h"
#include "runner/runner_impl.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "support/os/quiet.h"
#include "support/os/thread.h"
#include "tests/tuner/tune_world.h"

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
    tune_world w;
    tune_world_open(&w);
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
    tune_world_close(&w);
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
    tune_world w;
    tune_world_open(&w);
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
    tune_world_close(&w);
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
    hone_runner_destroy(((fading_runner *)base)->inner);
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

static const hone_runner_vtable fading_vtable = {.destroy = fading_destroy,
                                                 .submit = fading_submit,
                                                 .next_result = fading_next,
                                                 .tend = fading_tend,
                                                 .fd = fading_fd,
                                                 .cancel_all = fading_cancel_all};

static fading_runner *make_fading_runner(tune_world *w, int64_t leave_after, int tends) {
    fading_runner *self = hone_calloc(1, sizeof *self);
    hone_runner_simulated_options options = {.slots = 2};
    assert_non_null(self);
    HONE_ASSERT_OK(hone_runner_create_simulated(&options, &self->inner));
    hone_runner_init(&self->base, HONE_RUNNER_SIMULATED, &fading_vtable, 2, 64);
    self->leave_after = leave_after;
    self->tends_left = tends;
    hone_runner_destroy(w->runner);
    w->runner = w->options.runner = &self->base;
    w->options.strategy = "random"; /* quick */
    return self;
}

static void devices_that_come_back_are_waited_for(void **state) {
    (void)state;
    tune_world w;
    tune_world_open(&w);
    fading_runner *runner = make_fading_runner(&w, 10, 20);
    hone_tune_result result;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    assert_int_equal(runner->gone_count, 1);
    assert_int_equal(result.trials, 40);
    assert_int_equal(result.failed, 0);
    assert_null(result.lost_devices);
    hone_tune_result_deinit(&result);
    tune_world_close(&w);
}

static void without_devices_it_ends_with_all_saved(void **state) {
    (void)state;
    tune_world w;
    tune_world_open(&w);
    make_fading_runner(&w, 10, -1);
    hone_tune_result result;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    tune_trials all;
    tune_trials_list(&w, result.session, &all);
    assert_int_equal(result.trials, 10);
    assert_int_equal(all.programs.count, 10);
    assert_string_equal(result.lost_devices, "no device is left");
    hone_vec_deinit(&all.programs);
    hone_tune_result_deinit(&result);
    tune_world_close(&w);
}

/* A drain does not wait for devices, and neither does a time limit. */
static void stops_without_devices(void **state) {
    (void)state;
    for (int is_late = 0; is_late < 2; is_late++) {
        tune_world w;
        tune_world_open(&w);
        make_fading_runner(&w, 10, 1 << 30);
        w.stop_after = is_late ? 0 : 10;
        w.options.time_limit_ns = is_late ? HONE_NS_PER_S : 0;
        w.options.trials = is_late ? 0 : 1000;
        hone_tune_result result;
        HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
        assert_int_equal(result.was_stopped, !is_late);
        assert_true(result.trials <= 10);
        hone_tune_result_deinit(&result);
        tune_world_close(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_build_holds_nobody),
        cmocka_unit_test(builds_keep_out_of_the_way),
        cmocka_unit_test(devices_that_come_back_are_waited_for),
        cmocka_unit_test(without_devices_it_ends_with_all_saved),
        cmocka_unit_test(stops_without_devices),
    };
    return cmocka_run_group_tests_name("tuner/around the loop", tests, NULL, NULL);
}
