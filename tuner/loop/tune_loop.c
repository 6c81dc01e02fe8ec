/* tuner/loop/tune_loop.c - the loop: whenever there is room somewhere, the next trial moves on.
 *
 *   (think) ─► PROPOSED ─► BUILDING ─► BUILT ─► RUNNING ─► DONE ─► (think: folded in order)
 *                 builder has room ─┘      └─ a device has room
 *
 * On a machine that measures its own CPUs the two halves take turns: builders and search work until
 * a batch is built (or they have nothing to do), then they stand still while that batch is timed.
 */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "measure/failure.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tuner/loop/tune_impl.h"

enum {
    WAIT_SLICE_MS = 100,
    GATE_SLICE_MS = 5 /* who times waits for us */,
    ARENA_BLOCK_BYTES = 4096
};

static hone_stop stop_tuning(const hone_tuning *t) {
    return t->options->should_stop ? t->options->should_stop(t->options->ctx) : HONE_STOP_NO;
}

hone_stop hone_tuning_must_stop(const hone_tuning *t) {
    bool has_devices = hone_runner_slots(t->options->runner) > 0;
    bool is_late = hone_clock_now(t->clock) >= t->deadline_ns;
    if (t->result->lost_devices || (is_late && (t->result->trials > 0 || !has_devices))) {
        return HONE_STOP_NOW;
    }
    hone_stop stop = stop_tuning(t);
    bool is_stuck = stop == HONE_STOP_DRAIN && !has_devices; /* what is under way cannot end */
    return is_stuck ? HONE_STOP_NOW : stop;
}

hone_status hone_tuning_note_devices(hone_tuning *t, hone_status st) {
    if (hone_status_code(st) != HONE_CODE_UNAVAILABLE) return st;
    if (!t->result->lost_devices) {
        t->result->lost_devices = hone_arena_strdup(t->result->arena, hone_status_message(st));
        if (!t->result->lost_devices) return st;
    }
    hone_status_free(st);
    return HONE_OK;
}

hone_status hone_tuning_tend(hone_tuning *t) {
    hone_tuning_tend_gate(t);
    HONE_TRY(hone_tuning_note_devices(t, hone_runner_tend(t->options->runner)));
    const char *note = hone_runner_note(t->options->runner);
    if (note && strncmp(note, t->shown_note, sizeof t->shown_note - 1) != 0) {
        snprintf(t->shown_note, sizeof t->shown_note, "%s", note);
        hone_tuning_show(t);
    }
    return HONE_OK;
}

/* ---- the ring ---- */

static void move(hone_tuning *t, hone_trial *trial, hone_trial_state to) {
    t->in_state[trial->state]--;
    t->in_state[to]++;
    trial->state = to;
}

/* The trial that was proposed first of those in a state, or NULL. */
static hone_trial *first_in(const hone_tuning *t, hone_trial_state state) {
    if (t->in_state[state] == 0) return NULL;
    for (int64_t i = t->folded; i < t->proposed; i++) {
        if (hone_tuning_trial(t, i)->state == state) return hone_tuning_trial(t, i);
    }
    return NULL;
}

static hone_trial *by_ticket(const hone_tuning *t, hone_trial_state state, hone_ticket ticket) {
    for (int64_t i = t->folded; i < t->proposed; i++) {
        hone_trial *trial = hone_tuning_trial(t, i);
        if (trial->state == state && trial->ticket == ticket) return trial;
    }
    return NULL;
}

static uint32_t pending(const hone_tuning *t) {
    return t->in_state[HONE_TRIAL_PROPOSED] + t->in_state[HONE_TRIAL_BUILDING] +
           t->in_state[HONE_TRIAL_BUILT] + t->in_state[HONE_TRIAL_RUNNING];
}

/* So many may be under way that neither builders nor devices wait for the search, when it is not
 * said how many. */
static int64_t usual_look_ahead(const hone_tune_options *o) {
    if (hone_runner_times_here(o->runner)) return 2 * HONE_BATCH;
    int64_t busy = (int64_t)hone_runner_slots(o->runner) + hone_builder_slots(o->builder);
    int64_t batches = (busy + HONE_BATCH - 1) / HONE_BATCH + 1;
    return HONE_BATCH * (batches < 2 ? 2 : batches);
}

hone_status hone_tuning_loop_init(hone_tuning *t) {
    const hone_tune_options *o = t->options;
    t->look_ahead = o->look_ahead ? o->look_ahead : usual_look_ahead(o);
    if (t->look_ahead < HONE_BATCH) {
        return HONE_ERROR(HONE_CODE_INVALID, "the look-ahead is %d, must be at least %d",
                          (int)t->look_ahead, HONE_BATCH);
    }
    t->trials = hone_calloc((size_t)t->look_ahead, sizeof *t->trials);
    t->samples = hone_calloc((size_t)t->look_ahead, sizeof *t->samples);
    t->spare = hone_arena_create(ARENA_BLOCK_BYTES);
    bool ok = t->trials && t->samples && t->spare;
    for (int64_t i = 0; ok && i < t->look_ahead; i++) {
        t->trials[i].arena = hone_arena_create(ARENA_BLOCK_BYTES);
        ok = t->trials[i].arena != NULL;
    }
    if (!ok) return HONE_ERROR(HONE_CODE_NO_MEMORY, "tuning");
    HONE_TRY(hone_tuning_gate_init(t));
    return hone_side_thread_init(&t->thinker, "hone-search", hone_think, t);
}

void hone_tuning_loop_deinit(hone_tuning *t) {
    hone_side_thread_deinit(&t->thinker);
    hone_tuning_gate_deinit(t);
    hone_status_free(t->thought.status); /* of a thought that nobody waited for */
    for (int64_t i = 0; t->trials && i < t->look_ahead; i++)
        hone_arena_destroy(t->trials[i].arena);
    hone_arena_destroy(t->spare);
    hone_free(t->trials);
    hone_free(t->samples);
}

/* ---- thinking ---- */

/* How long what is under way takes, and the batch that would be proposed. */
static int64_t drain_ns(const hone_tuning *t) {
    if (t->result->trials == 0) return 0;
    int64_t spent = hone_clock_now(t->clock) - t->start_ns - t->result->setup_ns;
    int64_t trial = (spent - t->result->confirm_ns) / t->result->trials;
    return trial * (pending(t) + HONE_BATCH);
}

/* Of a time limit, a part is for what is under way when it ends and for confirming. */
static bool has_time(const hone_tuning *t) {
    int64_t limit = t->options->time_limit_ns, most = limit / 5;
    if (!limit) return true;
    int64_t rest = drain_ns(t) + hone_tuning_confirm_ns(t);
    return hone_clock_now(t->clock) < t->deadline_ns - (rest < most ? rest : most);
}

static bool has_budget(const hone_tuning *t) {
    if (hone_tuning_must_stop(t) != HONE_STOP_NO || !has_time(t)) return false;
    return t->options->trials == 0 || t->proposed < t->options->trials + t->uncounted + t->dropped;
}

/* Begins the next thought when the results are there that it shall see. */
static void begin_thought(hone_tuning *t) {
    if (t->thought.is_under_way || t->has_ended || t->is_timing || t->is_held_up) return;
    int64_t fold_to = t->proposed + HONE_BATCH - t->look_ahead;
    if (fold_to < t->folded) fold_to = t->folded;
    for (int64_t i = t->folded; i < fold_to; i++) {
        if (hone_tuning_trial(t, i)->state != HONE_TRIAL_DONE) return;
    }
    if (!has_budget(t)) {
        t->has_ended = true;
        return;
    }
    t->thought = (hone_thought){
        .fold_from = t->folded,
        .fold_to = fold_to,
        .may_propose = true,
        .dropped = t->dropped,
        .is_under_way = true,
    };
    t->folded = fold_to;
    hone_side_thread_begin(&t->thinker);
}

static hone_status end_thought(hone_tuning *t) {
    if (!t->thought.is_under_way || !hone_side_thread_take(&t->thinker)) return HONE_OK;
    hone_status st = t->thought.status;
    uint32_t count = t->thought.count;
    t->thought = (hone_thought){0};
    if (st) return st;
    t->proposed += count;
    t->in_state[HONE_TRIAL_PROPOSED] += count;
    t->has_ended = count == 0;
    return HONE_OK;
}

/* What is left when the loop ends: nobody proposes any more, so it is folded as it is. */
static hone_status fold_rest(hone_tuning *t) {
    t->thought = (hone_thought){.fold_from = t->folded, .fold_to = t->proposed};
    hone_think(t);
    hone_status st = t->thought.status;
    t->thought = (hone_thought){0};
    return st;
}

/* ---- building ---- */

static hone_status submit_builds(hone_tuning *t) {
    for (hone_trial *trial; (trial = first_in(t, HONE_TRIAL_PROPOSED));) {
        if (!hone_tuning_may_build(t)) return HONE_OK;
        hone_arena_reset(trial->arena);
        hone_status st =
            hone_submit_build(t, trial->task, trial->candidate.trace, trial->arena, &trial->ticket);
        if (st && hone_status_code(st) == HONE_CODE_UNAVAILABLE &&
            hone_builder_in_flight(t->options->builder) > 0) {
            hone_status_free(st); /* it is full */
            return HONE_OK;
        }
        if (st) return st;
        move(t, trial, HONE_TRIAL_BUILDING);
    }
    return HONE_OK;
}

/* The worker replayed the same trace: it must have come to the same program. The hash travels as 16
 * bytes, most significant first. */
static bool is_same_program(const hone_trial *trial) {
    hone_hash128 built = {0}, unknown = {0};
    for (int i = 0; i < 8; i++) {
        built.hi = built.hi << 8 | trial->built.program_hash[i];
        built.lo = built.lo << 8 | trial->built.program_hash[8 + i];
    }
    return hone_hash128_equal(built, unknown) || /* the null builder replays nothing */
           hone_hash128_equal(built, trial->candidate.program);
}

/* The machine's fault: back to where it can be tried again, `from`, or it is dropped. */
static hone_status try_again(hone_tuning *t, hone_trial *trial, hone_trial_state from,
                             const char *message) {
    bool again = false;
    bool has_file = trial->state == HONE_TRIAL_RUNNING;
    move(t, trial, HONE_TRIAL_DONE);
    hone_status st = hone_tuning_note_fault(t, trial, message ? message : "", &again);
    if (!st && again) {
        move(t, trial, from);
    } else if (has_file) {
        st = hone_status_join(st, hone_fs_remove_file(trial->built.artifact_path));
    }
    return st;
}

/* Ends a trial that did not get to a device. */
static hone_status give_up(hone_tuning *t, hone_trial *trial, hone_failure failure,
                           const char *message) {
    bool has_file = trial->state == HONE_TRIAL_BUILT;
    move(t, trial, HONE_TRIAL_DONE);
    hone_status st = hone_trial_record(t, trial, failure, message, NULL);
    if (has_file) st = hone_status_join(st, hone_fs_remove_file(trial->built.artifact_path));
    return st;
}

static hone_status take_build(hone_tuning *t, hone_ticket ticket, const hone_build_result *built) {
    hone_trial *trial = by_ticket(t, HONE_TRIAL_BUILDING, ticket);
    if (!trial) return HONE_ERROR(HONE_CODE_INTERNAL, "a build answered with an unknown ticket");
    hone_arena *arena = trial->arena;
    trial->arena = t->spare; /* the result lives there */
    t->spare = arena;
    hone_arena_reset(t->spare);
    trial->built = *built;
    trial->built_at_ns = hone_clock_now(t->clock);
    trial->times.queue += built->times.queue_ns;
    trial->times.build = built->times.replay_ns + built->times.lower_ns + built->times.codegen_ns +
                         built->times.link_ns;
    if (hone_failure_fault(built->failure) == HONE_FAULT_MACHINE) {
        return try_again(t, trial, HONE_TRIAL_PROPOSED, built->message);
    }
    if (built->failure) return give_up(t, trial, built->failure, built->message);
    move(t, trial, HONE_TRIAL_BUILT);
    if (is_same_program(trial)) return HONE_OK;
    return give_up(t, trial, HONE_FAILURE_BUILD_ERROR,
                   "the worker's replay of the trace gave another program");
}

static hone_status take_builds(hone_tuning *t) {
    while (hone_builder_in_flight(t->options->builder) > 0) {
        hone_ticket ticket;
        hone_build_result built;
        hone_status st = hone_builder_next_result(t->options->builder, HONE_DEADLINE_NOW, t->spare,
                                                  &ticket, &built);
        if (hone_status_code(st) == HONE_CODE_TIMEOUT) {
            hone_status_free(st);
            return HONE_OK;
        }
        HONE_TRY(st);
        HONE_TRY(take_build(t, ticket, &built));
    }
    return HONE_OK;
}

/* ---- measuring ---- */

/* On a machine that measures itself: whether it is time to, or still is. */
static bool shall_time(const hone_tuning *t) {
    uint32_t ready = t->in_state[HONE_TRIAL_BUILT];
    if (t->is_timing) return ready || t->in_state[HONE_TRIAL_RUNNING];
    if (!ready || t->thought.is_under_way) return false;
    uint32_t unbuilt = t->in_state[HONE_TRIAL_PROPOSED] + t->in_state[HONE_TRIAL_BUILDING];
    return ready >= HONE_BATCH || unbuilt < (uint32_t)hone_builder_slots(t->options->builder);
}

static void begin_timing(hone_tuning *t) {
    if (t->is_timing || !hone_runner_times_here(t->options->runner) || !shall_time(t)) return;
    hone_builder_pause(t->options->builder);
    t->is_timing = true;
}

static void end_timing(hone_tuning *t) {
    if (!t->is_timing || shall_time(t)) return;
    hone_builder_resume(t->options->builder);
    t->is_timing = false;
}

/* One more than runs at a time where that costs nothing: the next one is loaded at once. */
static bool has_room(const hone_tuning *t) {
    hone_runner *runner = t->options->runner;
    bool is_here = hone_runner_times_here(runner);
    if (is_here && !t->is_timing) return false;
    return hone_runner_in_flight(runner) < hone_runner_slots(runner) + is_here;
}

static hone_status submit_runs(hone_tuning *t) {
    while (has_room(t)) {
        hone_trial *trial = first_in(t, HONE_TRIAL_BUILT);
        if (!trial) return HONE_OK;
        double best = trial->task->shown_ns;
        const hone_timing_policy timing = {.incumbent_ns = isnan(best) ? 0 : best};
        HONE_TRY(hone_submit_run(t, trial->task, &trial->built, &trial->candidate, &timing, NULL,
                                 &trial->ticket));
        trial->times.queue += hone_clock_now(t->clock) - trial->built_at_ns;
        move(t, trial, HONE_TRIAL_RUNNING);
    }
    return HONE_OK;
}

/* That is the device's, not the candidate's; NULL: none. */
static const char *problem_of(const hone_tuning *t, const hone_run_result *ran) {
    if (hone_failure_fault(ran->failure) == HONE_FAULT_MACHINE) return ran->message;
    if (ran->failure == HONE_FAILURE_CANCELLED && hone_tuning_must_stop(t) != HONE_STOP_NOW) {
        return "the device cancelled it";
    }
    return hone_run_result_problem(ran, true);
}

static hone_status take_run(hone_tuning *t, hone_ticket ticket, const hone_run_result *ran) {
    hone_trial *trial = by_ticket(t, HONE_TRIAL_RUNNING, ticket);
    if (!trial) return HONE_ERROR(HONE_CODE_INTERNAL, "a run answered with an unknown ticket");
    trial->times.queue += ran->times.queue_ns + ran->times.wait_ns;
    trial->times.transfer = ran->times.transfer_ns;
    trial->times.load = ran->times.load_ns;
    trial->times.check = ran->times.check_ns;
    trial->times.measure = ran->times.measure_ns;
    const char *problem = problem_of(t, ran);
    if (problem) return try_again(t, trial, HONE_TRIAL_BUILT, problem);
    move(t, trial, HONE_TRIAL_DONE);
    hone_status st = hone_trial_record(t, trial, ran->failure, ran->message, ran);
    return hone_status_join(st, hone_fs_remove_file(trial->built.artifact_path));
}

static hone_status take_runs(hone_tuning *t) {
    while (hone_runner_in_flight(t->options->runner) > 0) {
        hone_ticket ticket;
        hone_run_result ran;
        hone_status st =
            hone_runner_next_result(t->options->runner, HONE_DEADLINE_NOW, &ticket, &ran);
        if (hone_status_code(st) == HONE_CODE_TIMEOUT) {
            hone_status_free(st);
            return HONE_OK;
        }
        if (st) return hone_tuning_note_devices(t, st);
        st = take_run(t, ticket, &ran);
        hone_run_result_deinit(&ran);
        HONE_TRY(st);
        HONE_TRY(submit_runs(t)); /* a device waits for nothing else */
    }
    return HONE_OK;
}

/* ---- the loop ---- */

/* Stopping: what has not begun is dropped; stopping at once ends what is under way, too. */
static hone_status drop(hone_tuning *t, hone_stop stop) {
    if (stop == HONE_STOP_NO) return HONE_OK;
    for (hone_trial *trial; (trial = first_in(t, HONE_TRIAL_PROPOSED));)
        HONE_TRY(give_up(t, trial, HONE_FAILURE_CANCELLED, NULL));
    if (stop != HONE_STOP_NOW) return HONE_OK;
    for (hone_trial *trial; (trial = first_in(t, HONE_TRIAL_BUILT));)
        HONE_TRY(give_up(t, trial, HONE_FAILURE_CANCELLED, NULL));
    hone_builder_cancel_all(t->options->builder);
    hone_runner_cancel_all(t->options->runner);
    return HONE_OK;
}

/* Shares the time since the last call out among the tasks that have something under way. */
static void share_time(hone_tuning *t) {
    int64_t now = hone_clock_now(t->clock), spent = now - t->shared_until_ns;
    uint32_t count = pending(t);
    t->shared_until_ns = now;
    if (count == 0) return;
    for (int64_t i = t->folded; i < t->proposed; i++) {
        hone_trial *trial = hone_tuning_trial(t, i);
        if (trial->state != HONE_TRIAL_DONE) trial->task->busy_ns += spent / count;
    }
}

/* Until something may have happened; a backend without a descriptor never makes one wait. */
static hone_status wait_for_events(hone_tuning *t) {
    int builder = hone_builder_fd(t->options->builder), runner = hone_runner_fd(t->options->runner);
    bool is_ready = (builder < 0 && hone_builder_in_flight(t->options->builder) > 0) ||
                    (runner < 0 && hone_runner_in_flight(t->options->runner) > 0);
    struct pollfd fds[] = {
        {.fd = builder,       .events = POLLIN},
        {.fd = runner,        .events = POLLIN},
        {.fd = t->thinker.fd, .events = POLLIN},
    };
    int slice_ms = t->has_gate && t->in_state[HONE_TRIAL_BUILDING] ? GATE_SLICE_MS : WAIT_SLICE_MS;
    if (poll(fds, sizeof fds / sizeof *fds, is_ready ? 0 : slice_ms) < 0 && errno != EINTR) {
        return HONE_ERROR(HONE_CODE_IO, "poll: %s", strerror(errno));
    }
    return HONE_OK;
}

/* One turn: takes what came, hands on what may go on. */
static hone_status turn(hone_tuning *t) {
    share_time(t);
    HONE_TRY(end_thought(t));
    HONE_TRY(take_builds(t));
    HONE_TRY(take_runs(t));
    HONE_TRY(hone_tuning_tend(t));
    HONE_TRY(drop(t, hone_tuning_must_stop(t)));
    end_timing(t);
    begin_thought(t);
    HONE_TRY(submit_builds(t));
    begin_timing(t);
    return submit_runs(t);
}

static bool is_over(const hone_tuning *t) {
    return t->has_ended && !t->thought.is_under_way && pending(t) == 0;
}

static bool is_anything_tuned(const hone_tuning *t) {
    for (uint32_t i = 0; i < t->task_count; i++) {
        if (!t->tasks[i]->is_left_out) return true;
    }
    return false;
}

hone_status hone_tuning_loop(hone_tuning *t) {
    hone_status st = HONE_OK;
    t->shared_until_ns = hone_clock_now(t->clock);
    t->has_ended = false;
    begin_thought(t);
    while (!st && !is_over(t)) {
        st = turn(t);
        if (!st && !is_over(t)) st = wait_for_events(t);
    }
    if (t->is_timing || t->is_held_up) hone_builder_resume(t->options->builder);
    t->is_held_up = false;
    if (st) return st;
    t->result->was_stopped = stop_tuning(t) != HONE_STOP_NO;
    HONE_TRY(fold_rest(t));
    t->result->is_used_up = hone_is_used_up(t);
    t->result->has_converged =
        is_anything_tuned(t) && !t->result->is_used_up && hone_has_converged(t);
    return HONE_OK;
}
