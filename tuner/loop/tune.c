/* tuner/loop/tune.c - the tuning loop: sets up tasks and fills the pipeline. */
#include "tuner/loop/tune.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "builder/build_intrins.h"
#include "database/session_owner.h"
#include "ir/identity/structural.h"
#include "support/core/alloc.h"
#include "tuner/loop/tune_impl.h"
#include "tuner/task/reference.h"

enum { ARENA_BLOCK_BYTES = 64 * 1024 };
/* ---- setting up ---- */

/* A space of the user's need not be one of every task of a model. The first refusal is kept. */
static hone_status excuse(hone_tuning *t, const hone_task *task, hone_status st,
                          hone_status *io_first) {
    hone_code code = hone_status_code(st);
    bool is_refusal = code == HONE_CODE_ILLEGAL || code == HONE_CODE_INVALID;
    if (!t->options->space_path || !is_refusal) return hone_status_join(st, *io_first);
    if (!*io_first) {
        *io_first = st;
        return HONE_OK;
    }
    hone_log_line(t->options->log, HONE_LOG_DEBUG, "task '%s' is left out: %s", task->name,
                  hone_status_message(st));
    hone_status_free(st);
    return HONE_OK;
}

/* No task to which the space applies is an error, one of several a warning. */
static hone_status judge_space(hone_tuning *t, hone_status first) {
    if (!first || !t->task_count) return first;
    hone_log_line(t->options->log, HONE_LOG_WARNING,
                  "tasks to which the space does not apply are left out: %s",
                  hone_status_message(first));
    hone_status_free(first);
    return HONE_OK;
}

/* Says whose program it is. Takes and returns st. */
static hone_status of_model(const hone_tuning *t, hone_status st) {
    const char *name = t->options->model_name;
    return st && name ? hone_status_annotate(st, "%s", name) : st;
}

/* A variant of the user's that serves no task is a mistake. */
static hone_status judge_given(const hone_tuning *t) {
    const hone_variant_rules *rules = &t->options->variant_rules;
    for (size_t i = 0; i < rules->given_count && t->task_count; i++) {
        bool serves = false;
        for (uint32_t k = 0; k < t->task_count; k++)
            serves = serves || !t->tasks[k]->unserved[i];
        if (serves) continue;
        return of_model(t, HONE_ERROR(HONE_CODE_INVALID, "variant '%s' serves no task: '%s': %s",
                                      rules->given[i].name, t->tasks[0]->task->name,
                                      t->tasks[0]->unserved[i]));
    }
    return HONE_OK;
}

static hone_status make_tasks(hone_tuning *t, const hone_task_list *list) {
    hone_status first = HONE_OK;
    t->tasks = hone_calloc(list->count + 1, sizeof *t->tasks);
    if (!t->tasks) return HONE_ERROR(HONE_CODE_NO_MEMORY, "tuning");
    if (t->options->only_task) HONE_TRY(hone_task_list_check_name(list, t->options->only_task));
    for (uint32_t i = 0; i < list->count; i++) {
        const hone_task *task = &list->items[i];
        if (t->options->only_task && strcmp(task->name, t->options->only_task) != 0) continue;
        const hone_tune_task_options options = {.space_path = t->options->space_path,
                                                .intrins = t->intrins,
                                                .rules = &t->options->variant_rules};
        hone_status st =
            hone_tune_task_create(task, &t->options->target, &options, &t->tasks[t->task_count]);
        if (!st) t->task_count++;
        if (st) HONE_TRY(excuse(t, task, of_model(t, st), &first));
    }
    for (uint32_t i = 0; i < t->task_count; i++) {
        t->tasks[i]->siblings = t->tasks;
        t->tasks[i]->sibling_count = t->task_count;
        if (t->options->evaluations) t->tasks[i]->evaluations = (uint32_t)t->options->evaluations;
    }
    HONE_TRY(judge_space(t, first));
    return judge_given(t);
}

static hone_status make_model(hone_tuning *t) {
    hone_costmodel_options options = {.feature_count = hone_feature_count(),
                                      .seed = t->options->seed};
    const char *name = t->options->cost_model ? t->options->cost_model : "xgboost";
    HONE_TRY(hone_costmodel_create(name, &options, &t->model));
    return hone_strategy_find(t->options->strategy, &t->strategy);
}

static hone_status register_tasks(hone_tuning *t) {
    hone_db_target target = {.hash = t->target_hash,
                             .text = hone_str_text(&t->target_text),
                             .threads = t->options->target.num_threads};
    HONE_TRY(hone_db_put_target(t->options->db, &target));
    for (uint32_t i = 0; i < t->task_count; i++) {
        hone_tune_task *task = t->tasks[i];
        hone_db_workload workload = {.hash = task->task->hash,
                                     .hash_version = HONE_STRUCTURAL_VERSION,
                                     .name = task->task->name,
                                     .program = task->program,
                                     .flops = task->task->flops};
        HONE_TRY(hone_db_put_workload(t->options->db, &workload));
        HONE_TRY(hone_tune_task_learn_names(task, t->options->db));
    }
    return HONE_OK;
}

static hone_status begin_session(hone_tuning *t) {
    int64_t wall = hone_wall_time_ns();
    char owner[HONE_DB_OWNER_BYTES];
    const char *about;
    HONE_TRY(hone_tuning_session_text(t, &about));
    hone_db_session_id(t->options->seed, wall, getpid(), t->result->session);
    hone_db_owner_print(owner);
    hone_db_session session = {.id = t->result->session,
                               .options_json = about,
                               .model = t->options->model_name,
                               .command_line = t->options->command_line,
                               .hone_version = t->options->hone_version,
                               .state = "running",
                               .started_ns = wall,
                               .seed = t->options->seed,
                               .look_ahead = (int32_t)t->look_ahead,
                               .budget_trials = t->options->trials,
                               .budget_ns = t->options->time_limit_ns,
                               .owner = owner[0] ? owner : NULL};
    hone_status st = hone_db_begin_session(t->options->db, &session);
    if (st) t->result->session[0] = '\0'; /* there is none to be ended */
    return st;
}

/* A task whose reference can't be made is tuned unchecked only when nothing else is possible: its
 * candidates could be anything, so it is left out, with a warning. */
static hone_status make_reference(hone_tuning *t, hone_tune_task *task) {
    const hone_tune_options *o = t->options;
    const bool is_gpu = hone_target_is_gpu(&o->target);
    const hone_reference_options options = {
        .builder = o->builder,
        .runner = o->reference_runner ? o->reference_runner : o->runner,
        .target = o->reference_target ? o->reference_target : &o->target,
        .device_runner = is_gpu ? o->runner : NULL,
        .device_target = &o->target,
        .extern_path = o->extern_path,
        .work_dir = o->work_dir,
        .seed = o->seed,
        .given = o->given,
        .given_count = o->given_count,
    };
    hone_status st = hone_make_reference(task, &options);
    if (hone_status_code(st) != HONE_CODE_UNSUPPORTED) {
        return st ? of_model(t, hone_status_annotate(st, "task '%s'", task->task->name)) : HONE_OK;
    }
    hone_log_line(o->log, HONE_LOG_WARNING, "task '%s' is left out: %s", task->task->name,
                  hone_status_message(st));
    hone_status_free(st);
    task->is_exhausted = task->is_left_out = true;
    return HONE_OK;
}

static hone_status make_references(hone_tuning *t) {
    hone_status st = HONE_OK;
    for (uint32_t i = 0; i < t->task_count && !st; i++) {
        if (hone_tuning_must_stop(t) != HONE_STOP_NO) break;
        st = make_reference(t, t->tasks[i]);
        if (!st) st = hone_tuning_tend(t);
    }
    return st;
}

static hone_status set_up(hone_tuning *t, const hone_task_list *list) {
    hone_tuning_read_distances(t, list);
    hone_target_print(&t->options->target, &t->target_text);
    HONE_TRY(hone_str_check(&t->target_text));
    t->target_hash = hone_target_hash(&t->options->target);
    HONE_TRY(
        hone_db_targets_alike(t->options->db, &t->options->target, t->result->arena, &t->alikes));
    HONE_TRY(hone_tuning_loop_init(t));
    HONE_TRY(make_model(t));
    HONE_TRY(hone_build_intrins_open(t->options->intrin_count, t->options->intrins, &t->intrins));
    HONE_TRY(make_tasks(t, list));
    HONE_TRY(register_tasks(t));
    HONE_TRY(begin_session(t));
    HONE_TRY(hone_tuning_find_unlike(t));
    HONE_TRY(hone_tuning_resume(t));
    HONE_TRY(hone_tuning_transfer(t));
    if (t->options->propose)
        HONE_TRY(hone_outside_open(t->options->propose, t->options->log, &t->outside));
    return t->options->simulate ? HONE_OK : make_references(t);
}

/* ---- winding up ---- */

static hone_status summarize(hone_tuning *t) {
    hone_tune_result *result = t->result;
    result->tasks = hone_arena_zalloc(result->arena, (t->task_count + 1) * sizeof *result->tasks);
    if (!result->tasks) return HONE_ERROR(HONE_CODE_NO_MEMORY, "tuning");
    result->task_count = t->task_count;
    for (uint32_t i = 0; i < t->task_count; i++) {
        const hone_tune_task *task = t->tasks[i];
        result->tasks[i] =
            (hone_tune_task_result){.name = hone_arena_strdup(result->arena, task->task->name),
                                    .workload = task->task->hash,
                                    .before = task->before,
                                    .weight = task->task->weight,
                                    .flops = task->task->flops,
                                    .before_ns = task->before_ns,
                                    .best_ns = task->best_ns,
                                    .is_confirmed = task->is_confirmed,
                                    .still_to_gain = hone_still_to_gain(task),
                                    .trials = task->folded,
                                    .failed = task->failed,
                                    .known_trials = task->known_trials,
                                    .seconds = (double)task->busy_ns / 1e9};
        if (!result->tasks[i].name) return HONE_ERROR(HONE_CODE_NO_MEMORY, "tuning");
    }
    hone_costmodel_get_quality(t->model, &result->quality);
    result->elapsed_ns = hone_clock_now(t->clock) - t->start_ns;
    return HONE_OK;
}

static void tear_down(hone_tuning *t) {
    hone_tuning_loop_deinit(t);
    hone_outside_close(t->outside);
    for (uint32_t i = 0; i < t->task_count; i++)
        hone_tune_task_destroy(t->tasks[i]);
    hone_tensor_intrins_destroy(t->intrins);
    hone_free(t->tasks);
    hone_costmodel_destroy(t->model);
    hone_strmap_deinit(&t->unlike);
    hone_str_deinit(&t->target_text);
}

/* Adds the time since *io_since to a phase. */
static void end_phase(const hone_tuning *t, int64_t *io_since, int64_t *io_phase) {
    int64_t now = hone_clock_now(t->clock);
    *io_phase += now - *io_since;
    *io_since = now;
}

/* What the confirmation leaves of a time limit is for more trials, which it then confirms. */
static bool shall_go_on(const hone_tuning *t, int64_t proposed_before) {
    enum { LEAST_REST_NS = 2000000000 };
    const hone_tune_result *r = t->result;
    bool is_over = r->was_stopped || r->lost_devices || r->is_used_up || !t->options->time_limit_ns;
    if (is_over || t->proposed == proposed_before) return false;
    if (t->options->until_converged && r->has_converged) return false;
    return hone_clock_now(t->clock) < t->deadline_ns - LEAST_REST_NS;
}

static hone_status run(hone_tuning *t, const hone_task_list *list) {
    int64_t since = t->start_ns, before;
    HONE_TRY(set_up(t, list));
    end_phase(t, &since, &t->result->setup_ns);
    do {
        before = t->proposed;
        HONE_TRY(hone_tuning_loop(t));
        end_phase(t, &since, &t->result->trials_ns);
        HONE_TRY(hone_tuning_confirm(t));
        end_phase(t, &since, &t->result->confirm_ns);
    } while (shall_go_on(t, before));
    return summarize(t);
}

hone_status hone_tune(const hone_task_list *tasks, const hone_tune_options *options,
                      hone_tune_result *out_result) {
    *out_result = (hone_tune_result){.arena = hone_arena_create(ARENA_BLOCK_BYTES)};
    if (!out_result->arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "tuning");
    hone_tuning t = {.options = options, .clock = hone_clock_system(), .result = out_result};
    t.start_ns = hone_clock_now(t.clock);
    t.deadline_ns = options->time_limit_ns ? t.start_ns + options->time_limit_ns : INT64_MAX;
    hone_progress_meter_init(&t.meter, t.start_ns);
    hone_status st = run(&t, tasks);
    hone_progress_finish(options->progress);
    if (out_result->session[0]) {
        bool was_cut = out_result->was_stopped || out_result->lost_devices;
        const char *state = st ? "failed" : was_cut ? "stopped" : "done";
        hone_status ended =
            hone_db_end_session(options->db, out_result->session, state, hone_wall_time_ns());
        st = hone_status_join(st, ended);
    }
    tear_down(&t);
    return st;
}

void hone_tune_result_deinit(hone_tune_result *result) {
    hone_arena_destroy(result->arena);
    *result = (hone_tune_result){0};
}
