/* tuner/loop/tune_confirm.c - the winner of many noisy measurements is partly lucky. The fastest
 * records of a task, the one that would be used now and what tuning had to beat are therefore built
 * again and timed in turns, forwards and backwards, all on one device, and the rounds decide
 * (tune_promote.h): only like is compared with like, and what would be used now stays unless
 * another one is surely faster. Beside a space of the user's the fastest are those of the session.
 *
 *   contenders ─build─► a few rounds of all ─► more rounds of those that are ahead ─► one is surely
 *   faster, or the incumbent stays
 *
 * What would be used may be a record of another target like this one: its time here becomes a
 * record of its own, and the other stays what was measured there. A machine is not as fast today as
 * it was when records were confirmed: the confirmed time of what was used stays, and the others are
 * told by their ratio to it. */
#include <math.h>
#include <string.h>

#include "compile/records/record_variant.h"
#include "measure/paired.h"
#include "support/os/fs.h"
#include "tuner/loop/tune_impl.h"
#include "tuner/loop/tune_promote.h"

enum { FASTEST = 3, CONTENDERS = FASTEST + 2, DEVICES = 2 /* one after the other */ };

/* Of one timing. There are many: each may be short. */
#define EFFORT_NS (10 * HONE_RUN_NS_PER_MS)

typedef struct contender {
    int64_t record;
    bool is_own;       /* of those that this session is about */
    bool is_elsewhere; /* the record is another target's */
    bool gave_up;      /* in these rounds: it failed, or was not ahead */
    bool is_out;       /* it was the incumbent, and failed */
    int32_t sketch;
    hone_hash128 program;
    const char *trace;
    hone_variant variant; /* where has_variant */
    bool has_variant;
    double confirmed_ns; /* as it was before; NAN = it was not */
    hone_build_result built;
    double times[HONE_CONFIRM_ROUNDS];
    uint32_t timed; /* in so many of the first rounds */
} contender;

typedef struct confirming {
    hone_tuning *t;
    hone_tune_task *task;
    hone_arena *arena;
    contender items[CONTENDERS];
    uint32_t count;
    int64_t used; /* the record that would be used now; 0 = there is none */
    uint32_t incumbent, rounds;
    char device[HONE_RUN_DEVICE_BYTES]; /* that answered first; "" = none yet, or this machine */
    bool lost_device;
    int64_t until_ns; /* its share of the time; INT64_MAX = it has all that it needs */
    hone_status error;
} confirming;

/* Variants that are not allowed are not used now, either. */
static bool is_allowed(confirming *c, const hone_db_trial *trial) {
    bool is_allowed = false;
    if (c->error) return false;
    c->error = hone_record_is_allowed(trial->trace, &c->task->rules, &is_allowed);
    return is_allowed;
}

static void add(confirming *c, const hone_db_trial *trial) {
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->items[i].record == trial->record) return;
    }
    const char *trace = hone_arena_strdup(c->arena, trial->trace);
    if (!trace) {
        c->error = HONE_ERROR(HONE_CODE_NO_MEMORY, "confirmation");
        return;
    }
    hone_variant variant = {0};
    bool has;
    c->error = hone_record_variant(trace, c->arena, &variant, &has);
    if (c->error) return;
    c->items[c->count++] =
        (contender){.record = trial->record,
                    .is_elsewhere = !hone_hash128_equal(trial->target, c->t->target_hash),
                    .sketch = trial->sketch,
                    .program = trial->program,
                    .trace = trace,
                    .variant = variant,
                    .has_variant = has,
                    .confirmed_ns = trial->confirmed_ns};
}

static bool add_fast(void *ctx, const hone_db_trial *trial) {
    confirming *c = ctx;
    bool may_win = hone_tune_task_counts(c->task, trial->sketch);
    if (may_win && hone_tuning_is_like(c->t, trial) && is_allowed(c, trial)) add(c, trial);
    return !c->error && c->count < FASTEST;
}

static bool add_one(void *ctx, const hone_db_trial *trial) {
    add(ctx, trial);
    return false;
}

static bool add_like(void *ctx, const hone_db_trial *trial) {
    return hone_tuning_is_like(((confirming *)ctx)->t, trial) ? add_one(ctx, trial) : true;
}

static bool note_used(void *ctx, const hone_db_trial *trial) {
    confirming *c = ctx;
    if (!is_allowed(c, trial)) return !c->error;
    c->used = trial->record;
    return add_one(ctx, trial);
}

/* What would be used now; of a record of another target the own one of its program, if any. */
static hone_status add_used(confirming *c, const hone_db_filter *own) {
    const hone_tuning *t = c->t;
    hone_db *db = t->options->db;
    hone_db_filter used = {.workload = own->workload,
                           .target = t->alikes.hashes,
                           .target_count = t->alikes.count,
                           .order = HONE_DB_ORDER_BEST};
    uint32_t count = c->count;
    HONE_TRY(hone_db_trials(db, &used, note_used, c));
    if (c->error || c->count == count || !c->items[count].is_elsewhere) return c->error;
    hone_hash128 program = c->items[count].program;
    hone_db_filter same = {.workload = own->workload,
                           .target = own->target,
                           .program = &program,
                           .order = HONE_DB_ORDER_FASTEST,
                           .limit = 1};
    bool is_there = false;
    HONE_TRY(hone_db_has_program(db, own->workload, own->target, &program, INT64_MAX, &is_there));
    if (!is_there) return HONE_OK;
    c->count--;
    HONE_TRY(hone_db_trials(db, &same, note_used, c));
    return c->error;
}

static hone_status find_contenders(confirming *c) {
    const hone_tuning *t = c->t;
    hone_db *db = t->options->db;
    hone_db_filter fast = {.workload = &c->task->task->hash,
                           .target = &t->target_hash,
                           .session = c->task->has_own_space ? t->result->session : NULL,
                           .order = HONE_DB_ORDER_FASTEST};
    hone_db_filter before = {.workload = fast.workload,
                             .target = fast.target,
                             .program = &c->task->before,
                             .order = HONE_DB_ORDER_FASTEST};
    HONE_TRY(hone_db_trials(db, &fast, add_fast, c));
    for (uint32_t i = 0; i < c->count; i++)
        c->items[i].is_own = true;
    if (!c->error) HONE_TRY(hone_db_trials(db, &before, add_like, c));
    return c->error ? c->error : add_used(c, &fast);
}

static hone_status build_all(confirming *c) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        hone_ticket ticket;
        const char *trace;
        HONE_TRY(hone_tune_task_from_stored(c->task, c->items[i].trace, c->arena, &trace));
        hone_tuning_await_gate(c->t);
        HONE_TRY(hone_submit_build(c->t, c->task, trace, c->arena, &ticket));
        HONE_TRY(hone_wait_build(c->t, c->arena, &c->items[i].built));
        if (!c->items[i].built.failure) c->items[kept++] = c->items[i];
    }
    c->count = kept;
    return HONE_OK;
}

/* What would be used without this confirmation: what was confirmed before, or what tuning has to
 * beat, or what looks best. False: nobody is left. */
static bool find_incumbent(confirming *c) {
    uint32_t used = UINT32_MAX, before = UINT32_MAX, first = UINT32_MAX;
    for (uint32_t i = c->count; i-- > 0;) {
        const contender *item = &c->items[i];
        if (item->is_out) continue;
        first = i;
        if (item->record == c->used) used = i;
        if (hone_hash128_equal(item->program, c->task->before)) before = i;
    }
    bool is_sure =
        used != UINT32_MAX && (c->items[used].is_elsewhere || !isnan(c->items[used].confirmed_ns));
    c->incumbent = is_sure ? used : before != UINT32_MAX ? before : first;
    return c->incumbent != UINT32_MAX;
}

/* The best of a few samples: what disturbs a machine makes a kernel slower, never faster. */
static hone_status time_once(confirming *c, contender *item) {
    hone_ticket ticket;
    hone_run_result ran;
    const hone_timing_policy timing = {.min_repeat_ns = EFFORT_NS};
    const hone_candidate candidate = {.sketch = -1,
                                      .program = item->program,
                                      .variant = item->has_variant ? &item->variant : NULL};
    const char *device = c->device[0] ? c->device : NULL;
    HONE_TRY(hone_submit_run(c->t, c->task, &item->built, &candidate, &timing, device, &ticket));
    HONE_TRY(hone_wait_run(c->t, &ran));
    if (!device) memcpy(c->device, ran.device, sizeof c->device);
    bool is_there = strcmp(ran.device, c->device) == 0; /* whatever the farm made of the wish */
    bool is_good = !ran.failure && is_there && !hone_run_result_problem(&ran, true);
    item->gave_up = !is_good;
    item->times[c->rounds] = ran.best_ns;
    item->timed += is_good;
    c->lost_device = ran.failure == HONE_FAILURE_DEVICE_LOST;
    hone_run_result_deinit(&ran);
    return HONE_OK;
}

/* Those that are not ahead of the incumbent now will not be promoted. */
static void give_up(confirming *c) {
    const contender *incumbent = &c->items[c->incumbent];
    for (uint32_t i = 0; i < c->count; i++) {
        contender *item = &c->items[i];
        if (i == c->incumbent || item->gave_up) continue;
        item->gave_up = !hone_may_be_promoted(incumbent->times, item->times, c->rounds);
    }
}

static bool is_anybody_ahead(const confirming *c) {
    for (uint32_t i = 0; i < c->count; i++) {
        if (i != c->incumbent && !c->items[i].gave_up) return true;
    }
    return false;
}

static hone_status time_round(confirming *c) {
    for (uint32_t i = 0; i < c->count && !c->lost_device; i++) {
        uint32_t at = c->rounds % 2 ? c->count - 1 - i : i;
        if (!c->items[at].gave_up) HONE_TRY(time_once(c, &c->items[at]));
    }
    if (!c->lost_device) c->rounds++;
    return HONE_OK;
}

static uint32_t choose(const confirming *c) {
    const double *times[CONTENDERS];
    for (uint32_t i = 0; i < c->count; i++)
        times[i] = c->items[i].gave_up ? NULL : c->items[i].times;
    return hone_promote(times, c->count, c->incumbent, c->rounds);
}

static bool is_enough(const confirming *c) {
    if (c->lost_device || c->items[c->incumbent].gave_up) return true;
    if (c->rounds < HONE_TRIAL_ROUNDS) return false;
    if (c->rounds >= HONE_CONFIRM_ROUNDS || !is_anybody_ahead(c)) return true;
    if (c->rounds == HONE_LEAST_ROUNDS && choose(c) != c->incumbent) return true;
    return c->rounds >= HONE_LEAST_ROUNDS && hone_clock_now(c->t->clock) >= c->until_ns;
}

/* Not where it was cut off before there could be a verdict on those that are ahead: they stay
 * hopeful, as what nobody has confirmed. */
static bool is_decided(const confirming *c) {
    if (c->rounds < HONE_TRIAL_ROUNDS) return false;
    return c->rounds >= HONE_LEAST_ROUNDS || !is_anybody_ahead(c);
}

static hone_status time_all(confirming *c) {
    c->rounds = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        c->items[i].gave_up = c->items[i].is_out;
        c->items[i].timed = 0;
    }
    while (!is_enough(c) && hone_tuning_must_stop(c->t) != HONE_STOP_NOW) {
        HONE_TRY(time_round(c));
        if (c->rounds == HONE_TRIAL_ROUNDS && !c->items[c->incumbent].gave_up) give_up(c);
    }
    return HONE_OK;
}

/* An incumbent that does not work here makes way for the next. */
static hone_status time_against_incumbent(confirming *c) {
    while (find_incumbent(c)) {
        HONE_TRY(time_all(c));
        contender *incumbent = &c->items[c->incumbent];
        if (c->lost_device || !incumbent->gave_up) break;
        incumbent->is_out = true;
    }
    return HONE_OK;
}

/* Times of different devices are never compared: one that leaves takes its times with it. */
static hone_status time_on_one_device(confirming *c) {
    for (int tried = 0; tried < DEVICES; tried++) {
        c->device[0] = 0;
        c->lost_device = false;
        HONE_TRY(time_against_incumbent(c));
        if (!c->lost_device || hone_tuning_must_stop(c->t) == HONE_STOP_NOW) break;
    }
    return HONE_OK;
}

/* A record of this target's, with the times of the confirmation as its samples. */
static hone_status record_here(confirming *c, contender *item, double median_ns) {
    hone_tuning *t = c->t;
    hone_db_trial row = {.session = t->result->session,
                         .workload = c->task->task->hash,
                         .target = t->target_hash,
                         .proposal = c->task->proposals++,
                         .sketch = item->sketch,
                         .trace = item->trace,
                         .program = item->program,
                         .outcome = HONE_DB_OUTCOME_OK,
                         .median_ns = median_ns,
                         .spread = NAN,
                         .samples_ns = item->times,
                         .sample_count = c->rounds,
                         .max_error = NAN,
                         .confirmed_ns = NAN,
                         .predicted_score = NAN,
                         .device = c->device[0] ? c->device : NULL,
                         .wall_ns = hone_wall_time_ns()};
    item->is_elsewhere = false;
    item->confirmed_ns = NAN;
    return hone_db_commit_trial(t->options->db, &row, &item->record);
}

/* The time of one, on the scale of the incumbent's. */
static double time_of(const confirming *c, const contender *item, double incumbent_ns) {
    const double *incumbent = c->items[c->incumbent].times;
    return incumbent_ns * hone_compare_pairs(incumbent, item->times, item->timed).ratio;
}

/* What was seen today, for the report. */
static void note_times(confirming *c, uint32_t winner) {
    hone_tune_task *task = c->task;
    double now_ns = hone_stat_median(c->items[c->incumbent].times, c->rounds), best = NAN;
    for (uint32_t i = 0; i < c->count; i++) {
        const contender *item = &c->items[i];
        double ns = time_of(c, item, now_ns);
        if (hone_hash128_equal(item->program, task->before)) task->before_ns = ns;
        bool may_win = task->has_own_space ? item->is_own : i == winner;
        if (may_win && !(ns >= best)) best = ns;
    }
    task->is_confirmed = !isnan(best);
    if (!isnan(best)) task->best_ns = best;
}

/* Marks those that were timed. A loser's time below the winner's is noise and is not kept. */
static hone_status record_all(confirming *c) {
    if (c->incumbent == UINT32_MAX) return HONE_OK;
    contender *incumbent = &c->items[c->incumbent];
    if (c->lost_device || !is_decided(c)) return HONE_OK;
    uint32_t winner = choose(c);
    double ns = hone_stat_median(incumbent->times, c->rounds);
    if (incumbent->is_elsewhere) HONE_TRY(record_here(c, incumbent, ns));
    if (incumbent->confirmed_ns > 0) ns = incumbent->confirmed_ns;
    double best = time_of(c, &c->items[winner], ns);
    for (uint32_t i = 0; i < c->count; i++) {
        double own = time_of(c, &c->items[i], ns);
        bool is_kept = i == winner || own > best;
        if (!is_kept || c->items[i].is_elsewhere) continue;
        HONE_TRY(hone_db_confirm(c->t->options->db, c->items[i].record, own, hone_wall_time_ns()));
    }
    note_times(c, winner);
    return HONE_OK;
}

static hone_status confirm(confirming *c) {
    HONE_TRY(find_contenders(c));
    HONE_TRY(build_all(c));
    hone_tuning_tend_gate(c->t); /* nothing is built any more */
    hone_builder_pause(c->t->options->builder);
    hone_status st = time_on_one_device(c);
    hone_builder_resume(c->t->options->builder);
    if (!st) st = record_all(c);
    for (uint32_t i = 0; i < c->count; i++) {
        st = hone_status_join(st, hone_fs_remove_file(c->items[i].built.artifact_path));
    }
    return st;
}

/* Tasks of which something was measured, or proposed, that no confirmation has seen. */
static int64_t count_unconfirmed(const hone_tuning *t) {
    int64_t tasks = 0;
    for (uint32_t i = 0; i < t->task_count; i++)
        tasks += t->tasks[i]->proposals > t->tasks[i]->confirmed;
    return tasks;
}

int64_t hone_tuning_confirm_ns(const hone_tuning *t) {
    const hone_db_times *sum = &t->result->times;
    if (t->confirmed_tasks) {
        return count_unconfirmed(t) * (t->result->confirm_ns / t->confirmed_tasks);
    }
    if (t->result->trials == 0) return 0;
    int64_t run = (sum->transfer + sum->load + sum->check + sum->measure) / t->result->trials;
    int64_t build = sum->build / t->result->trials;
    return count_unconfirmed(t) * CONTENDERS * (build + HONE_CONFIRM_ROUNDS * run / 2);
}

static int64_t share_until(const hone_tuning *t, int64_t tasks) {
    if (t->deadline_ns == INT64_MAX) return INT64_MAX;
    int64_t now = hone_clock_now(t->clock);
    return now + (t->deadline_ns - now) / tasks;
}

hone_status hone_tuning_confirm(hone_tuning *t) {
    hone_arena *arena = hone_arena_create(64 * 1024);
    hone_status st = arena ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "confirmation");
    for (uint32_t i = 0; i < t->task_count && !st; i++) {
        if (hone_tuning_must_stop(t) == HONE_STOP_NOW) break;
        hone_tune_task *task = t->tasks[i];
        if (task->folded == 0 || task->proposals == task->confirmed) continue;
        confirming c = {.t = t, .task = task, .arena = arena};
        c.until_ns = share_until(t, count_unconfirmed(t));
        hone_arena_reset(arena);
        st = confirm(&c);
        task->confirmed = task->proposals;
        t->confirmed_tasks++;
    }
    hone_arena_destroy(arena);
    return st;
}
