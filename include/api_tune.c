/* include/api_tune.c - tuning in this process: options and callbacks to the loop of tuner/. */
#include <hone/tune.h>

#include <stdio.h>
#include <string.h>

#include <hone/version.h>

#include "compile/model_tasks.h"
#include "graph/module/module_parts.h"
#include "include/api.h"
#include "include/api_devices.h"
#include "include/api_host.h"
#include "support/core/alloc.h"
#include "support/os/scratch.h"
#include "support/os/thread.h"
#include "target/target_read.h"
#include "tuner/loop/tune.h"
#include "tuner/search/search.h"

/* ---- tasks ---- */

static hone_status load_tasks(const hone_program *program, const hone_target *target,
                              size_t size_count, const char *const *sizes,
                              hone_task_list *out_tasks) {
    hone_dim_variants variants;
    *out_tasks = (hone_task_list){0};
    hone_status st = hone_api_read_sizes(size_count, sizes, &variants);
    if (!st) st = hone_model_tasks(hone_api_module(program), target, &variants, out_tasks);
    hone_dim_variants_deinit(&variants);
    return st;
}

static hone_status visit_one(const hone_task_list *tasks, const hone_task *task,
                             hone_tuning_task_visit visit, void *context, int *out_stop) {
    hone_module *alone;
    hone_tuning_task seen = {
        .name = task->name, .calls = task->weight, .flops = task->flops, .bytes = task->bytes};
    HONE_TRY(hone_module_alone(tasks->modules[task->variant], task->func->name, &alone));
    seen.program = hone_api_program(alone);
    hone_hash128_print(task->hash, seen.workload);
    *out_stop = visit(context, &seen);
    hone_module_release(alone);
    return HONE_OK;
}

hone_error *hone_program_visit_tasks(const hone_program *program, size_t size_count,
                                     const char *const *sizes, hone_tuning_task_visit visit,
                                     void *context, size_t *out_skipped) {
    if (out_skipped) *out_skipped = 0;
    HONE_API_NEED(program);
    HONE_API_NEED(visit);
    hone_task_list tasks;
    hone_status st = load_tasks(program, NULL, size_count, sizes, &tasks);
    int stop = 0;
    for (uint32_t i = 0; !st && !stop && i < tasks.count; i++)
        st = visit_one(&tasks, &tasks.items[i], visit, context, &stop);
    if (!st && out_skipped) *out_skipped = tasks.skipped;
    hone_task_list_deinit(&tasks);
    return hone_api_error(st);
}

/* ---- what a tune has open ---- */

struct hone_tuned {
    hone_tune_result result;
    hone_tuned_totals totals;
    hone_tuned_task *tasks;
};

typedef struct session {
    const hone_tuning_options *o;
    hone_tuning_outside outside;
    hone_arena *arena;
    hone_task_list tasks;
    hone_api_devices devices;
    hone_db *db;
    hone_builder *builder;
    hone_scratch work_dir;
    hone_variant_rules variant_rules;
    hone_log log;
} session;

static hone_status check_choices(const session *s) {
    const hone_tuning_options *o = s->o;
    const hone_strategy *strategy;
    if (o->strategy) HONE_TRY(hone_strategy_find(o->strategy, &strategy));
    if (o->cost_model) HONE_TRY(hone_costmodel_check_name(o->cost_model));
    if (o->task) HONE_TRY(hone_task_list_check_name(&s->tasks, o->task));
    return HONE_OK;
}

static hone_status check_numbers(const hone_tuning_options *o) {
    if (!(o->seconds >= 0 && o->seconds < 1e9)) {
        return HONE_ERROR(HONE_CODE_INVALID, "seconds is %g, must be from 0 to 1e9", o->seconds);
    }
    const struct {
        const char *name;
        int64_t is, least, most;
    } rows[] = {
        {"trials",     o->trials,     0, INT64_C(1000000000)},
        {"threads",    o->threads,    0, 1024               },
        {"look_ahead", o->look_ahead, 0, 4096               },
        {"builders",   o->builders,   0, 256                },
    };
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        if (rows[i].is >= rows[i].least && rows[i].is <= rows[i].most) continue;
        return HONE_ERROR(HONE_CODE_INVALID, "%s is %lld, must be from %lld to %lld", rows[i].name,
                          (long long)rows[i].is, (long long)rows[i].least, (long long)rows[i].most);
    }
    bool is_short = o->look_ahead > 0 && o->look_ahead < 8;
    return is_short ? HONE_ERROR(HONE_CODE_INVALID, "look_ahead is %d, must be at least 8",
                                 (int)o->look_ahead)
                    : HONE_OK;
}

static hone_status open_builder(session *s) {
    int32_t workers = s->o->builders > 0 ? s->o->builders : (int32_t)hone_thread_cpu_count();
    hone_builder_local_options options = {.workers = workers,
                                          .unsandboxed = s->o->unsandboxed != 0};
    HONE_TRY(hone_api_find_program(s->arena, s->o->programs, "hone-worker", &options.worker_path));
    return hone_builder_create_local(&options, &s->builder);
}

/* By the target where it is known before the devices of a farm are asked. */
static hone_status load_for_target(session *s, const hone_program *program) {
    const hone_tuning_options *o = s->o;
    hone_target target;
    bool is_known = !s->outside.tracker || o->target;
    if (is_known) HONE_TRY(hone_target_read(o->target, o->threads, &target));
    return load_tasks(program, is_known ? &target : NULL, o->size_count, o->sizes, &s->tasks);
}

static hone_status open_session(session *s, const hone_program *program) {
    const hone_tuning_options *o = s->o;
    s->arena = hone_arena_create(4096);
    if (!s->arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "tune");
    HONE_TRY(check_numbers(o));
    HONE_TRY(hone_api_read_variants(s->outside.variants, s->arena, &s->variant_rules));
    HONE_TRY(load_for_target(s, program));
    HONE_TRY(check_choices(s));
    HONE_TRY(hone_api_devices_open(o, &s->outside, o->log ? &s->log : NULL, s->arena, &s->devices));
    HONE_TRY(open_builder(s));
    hone_db_options db = {.path = o->database, .mode = HONE_DB_CREATE};
    HONE_TRY(hone_db_open_sqlite(&db, &s->db));
    return hone_scratch_open("hone-tuning", &s->work_dir);
}

static hone_status close_session(session *s) {
    hone_api_devices_close(&s->devices);
    hone_builder_release(s->builder);
    hone_db_close(s->db);
    hone_task_list_deinit(&s->tasks);
    hone_arena_destroy(s->arena);
    return hone_scratch_close(&s->work_dir);
}

/* ---- callbacks ---- */

static void show_progress(void *context, const hone_progress_state *state) {
    const session *s = context;
    char best[160];
    snprintf(best, sizeof best, "%s: %s", state->name ? state->name : "",
             state->best ? state->best : "");
    hone_tuning_state shown = {.done = state->done,
                               .total = state->total,
                               .trials_per_second = state->rate,
                               .seconds_left = (double)state->eta_ns / 1e9,
                               .best = state->best ? best : NULL,
                               .doing = state->detail};
    s->o->progress(s->o->context, &shown);
}

static hone_stop ask_stop(void *context) {
    const session *s = context;
    int answer = s->o->should_stop(s->o->context);
    if (answer == HONE_TUNING_GOES_ON) return HONE_STOP_NO;
    return answer == HONE_TUNING_DRAINS ? HONE_STOP_DRAIN : HONE_STOP_NOW;
}

static void write_log(void *context, hone_log_level level, const char *text) {
    const session *s = context;
    s->o->log(s->o->context, (int)level, text);
}

/* ---- the result ---- */

static hone_tuned_task task_of(const hone_tune_task_result *r) {
    hone_tuned_task task = {.name = r->name,
                            .calls = r->weight,
                            .flops = r->flops,
                            .before_ns = r->before_ns,
                            .best_ns = r->best_ns,
                            .is_confirmed = r->is_confirmed,
                            .trials = r->trials,
                            .failed = r->failed,
                            .known_trials = r->known_trials,
                            .seconds = r->seconds};
    hone_hash128_print(r->workload, task.workload);
    return task;
}

static hone_status sum_up(hone_tuned *tuned) {
    const hone_tune_result *r = &tuned->result;
    tuned->totals = (hone_tuned_totals){.task_count = r->task_count,
                                        .trials = r->trials,
                                        .failed = r->failed,
                                        .seconds = (double)r->elapsed_ns / 1e9,
                                        .was_stopped = r->was_stopped,
                                        .has_converged = r->has_converged,
                                        .is_used_up = r->is_used_up};
    memcpy(tuned->totals.session, r->session, sizeof tuned->totals.session);
    tuned->tasks = hone_calloc(r->task_count + 1, sizeof *tuned->tasks);
    if (!tuned->tasks) return HONE_ERROR(HONE_CODE_NO_MEMORY, "tune");
    for (uint32_t i = 0; i < r->task_count; i++)
        tuned->tasks[i] = task_of(&r->tasks[i]);
    return HONE_OK;
}

static hone_status tune(session *s, hone_tuned *tuned) {
    const hone_tuning_options *o = s->o;
    bool has_limit = o->trials || o->seconds > 0 || o->until_converged;
    const hone_progress progress = {.update = show_progress, .context = s};
    const hone_api_devices *devices = &s->devices;
    hone_tune_options options = {
        .db = s->db,
        .target = devices->target,
        .builder = s->builder,
        .runner = devices->runner,
        .reference_runner = devices->reference_runner,
        .reference_target = devices->reference_runner ? &devices->host : NULL,
        .quiet_path = s->outside.tracker ? hone_str_text(&devices->quiet_path) : NULL,
        .propose = s->outside.propose,
        .look_ahead = o->look_ahead,
        .strategy = o->strategy,
        .cost_model = o->cost_model,
        .variant_rules = s->variant_rules,
        .seed = o->seed,
        .trials = has_limit ? o->trials : 1000,
        .time_limit_ns = (int64_t)(o->seconds * 1e9),
        .until_converged = o->until_converged != 0,
        .only_task = o->task,
        .space_path = o->space,
        .extern_path = o->external,
        .cache = o->is_cold ? HONE_CACHE_COLD : HONE_CACHE_HOT,
        .work_dir = s->work_dir.path,
        .model_name = o->name ? o->name : "program",
        .command_line = "hone_program_tune",
        .hone_version = HONE_VERSION,
        .is_here = !devices->reference_runner,
        .progress = o->progress ? &progress : NULL,
        .log = o->log ? &s->log : NULL,
        .should_stop = o->should_stop ? ask_stop : NULL,
        .ctx = s};
    if (s->tasks.count) HONE_TRY(hone_tune(&s->tasks, &options, &tuned->result));
    return sum_up(tuned);
}

/* The first version ended before variants. */
static hone_status take_outside(const hone_tuning_outside *outside, hone_tuning_outside *out) {
    *out = (hone_tuning_outside){0};
    if (!outside) return HONE_OK;
    bool is_first = outside->size == offsetof(hone_tuning_outside, variants);
    if (!is_first && outside->size != sizeof *out) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "size is %zu, must be sizeof(hone_tuning_outside), %zu", outside->size,
                          sizeof *out);
    }
    memcpy(out, outside, outside->size);
    return HONE_OK;
}

static hone_status tune_program(session *s, const hone_program *program,
                                const hone_tuning_outside *outside, hone_tuned *tuned) {
    HONE_TRY(take_outside(outside, &s->outside));
    HONE_TRY(open_session(s, program));
    return tune(s, tuned);
}

hone_error *hone_program_tune_with(const hone_program *program, const hone_tuning_options *options,
                                   const hone_tuning_outside *outside, hone_tuned **out_tuned) {
    HONE_API_NEED(out_tuned);
    *out_tuned = NULL;
    HONE_API_NEED(program);
    HONE_API_NEED(options);
    const char *database = options->database;
    HONE_API_NEED(database);
    hone_tuned *tuned = hone_calloc(1, sizeof *tuned);
    if (!tuned) return hone_api_error(HONE_ERROR(HONE_CODE_NO_MEMORY, "tune"));
    session s = {.o = options};
    s.log = (hone_log){.level = HONE_LOG_INFO, .write = write_log, .context = &s};
    hone_status st = tune_program(&s, program, outside, tuned);
    st = hone_status_join(st, close_session(&s));
    if (st)
        hone_tuned_free(tuned);
    else
        *out_tuned = tuned;
    return hone_api_error(st);
}

hone_error *hone_program_tune(const hone_program *program, const hone_tuning_options *options,
                              hone_tuned **out_tuned) {
    return hone_program_tune_with(program, options, NULL, out_tuned);
}

void hone_tuned_free(hone_tuned *tuned) {
    if (!tuned) return;
    hone_tune_result_deinit(&tuned->result);
    hone_free(tuned->tasks);
    hone_free(tuned);
}

const hone_tuned_totals *hone_tuned_summary(const hone_tuned *tuned) {
    return tuned ? &tuned->totals : NULL;
}

const hone_tuned_task *hone_tuned_task_at(const hone_tuned *tuned, size_t index) {
    return tuned && index < tuned->totals.task_count ? &tuned->tasks[index] : NULL;
}
