/* tools/tune/tune_summary.c - what `hone tune` says at its end. */
#include "tools/tune/tune_summary.h"

#include <inttypes.h>
#include <math.h>

#include "support/os/clock.h"
#include "tools/cli/cli_db.h"
#include "tools/cli/cli_table.h"

bool hone_tune_summary_has_best(const hone_tune_result *result) {
    for (uint32_t i = 0; i < result->task_count; i++) {
        if (!isnan(result->tasks[i].best_ns)) return true;
    }
    return false;
}

/* Time of a task in one run of the model: all its call sites. */
static double whole_ns(const hone_tune_task_result *task, double ns) {
    return isnan(ns) ? 0 : ns * task->weight;
}

static void sum_up(const hone_tune_result *result, double *out_before, double *out_best) {
    *out_before = *out_best = 0;
    for (uint32_t i = 0; i < result->task_count; i++) {
        const hone_tune_task_result *task = &result->tasks[i];
        *out_before += whole_ns(task, task->before_ns);
        *out_best += whole_ns(task, task->best_ns);
        if (isnan(task->before_ns)) *out_before = NAN;
    }
}

/* The tensors of a task. */
static const char *shapes_of(hone_cli *cli, const hone_task_list *tasks,
                             const hone_tune_task_result *task) {
    for (uint32_t i = 0; i < tasks->count; i++) {
        if (hone_hash128_equal(tasks->items[i].hash, task->workload))
            return hone_cli_text_of_shapes(cli->arena, tasks->items[i].func);
    }
    return "-";
}

static void print_tasks(hone_cli *cli, const hone_task_list *tasks, const hone_tune_result *result,
                        double whole) {
    hone_table table;
    hone_table_init(&table, cli->arena,
                    "task|>flops|>weight|>before|>best|>speed-up|>GFLOPS|>trials|>failed|>known|"
                    ">seconds|>share|~shapes");
    for (uint32_t i = 0; i < result->task_count; i++) {
        const hone_tune_task_result *task = &result->tasks[i];
        hone_table_add(&table, "%s", task->name);
        hone_table_add(&table, "%s", hone_text_of_count(cli->arena, task->flops));
        hone_table_add(&table, "%" PRIu32, task->weight);
        hone_table_add(&table, "%s", hone_text_of_ns(cli->arena, task->before_ns));
        hone_table_add(&table, "%s", hone_text_of_ns(cli->arena, task->best_ns));
        hone_table_add(&table, "%s",
                       hone_text_of_ratio(cli->arena, task->before_ns, task->best_ns));
        hone_table_add(&table, "%s", hone_text_of_gflops(cli->arena, task->flops, task->best_ns));
        hone_table_add(&table, "%" PRId64, task->trials);
        hone_table_add(&table, "%" PRId64, task->failed);
        hone_table_add(&table, "%" PRId64, task->known_trials);
        hone_table_add(&table, "%.1f", task->seconds);
        hone_table_add(&table, "%.1f%%",
                       whole > 0 ? 100 * whole_ns(task, task->best_ns) / whole : 0.0);
        hone_table_add(&table, "%s", shapes_of(cli, tasks, task));
    }
    hone_cli_put_table(cli, &table);
}

static void print_times(hone_cli *cli, const hone_tune_result *result, const tune_model *model) {
    const hone_db_times *t = &result->times;
    char elapsed[HONE_DURATION_BYTES];
    hone_str_printf(&cli->out,
                    "time: %s in all; trials used: search %.1f s, build %.1f s, queue %.1f s, "
                    "load %.1f s, check %.1f s, measure %.1f s; training %.1f s\n",
                    hone_duration_print(result->elapsed_ns + model->spent_ns, elapsed),
                    (double)t->search / 1e9, (double)t->build / 1e9, (double)t->queue / 1e9,
                    (double)t->load / 1e9, (double)t->check / 1e9, (double)t->measure / 1e9,
                    (double)result->train_ns / 1e9);
}

static void print_phases(hone_cli *cli, const hone_tune_result *result, const tune_model *model) {
    char text[HONE_DURATION_BYTES];
    hone_str_printf(&cli->out, "of these: getting ready %s",
                    hone_duration_print(result->setup_ns, text));
    hone_str_printf(&cli->out, ", trials %s", hone_duration_print(result->trials_ns, text));
    hone_str_printf(&cli->out, ", confirming the best %s",
                    hone_duration_print(result->confirm_ns, text));
    if (model->spent_ns)
        hone_str_printf(&cli->out, ", the whole model %s",
                        hone_duration_print(model->spent_ns, text));
    hone_str_append(&cli->out, "\n");
}

/* Over all tasks, by the time that they take; NAN: of one it is not known. */
static double still_to_gain(const hone_tune_result *result) {
    double gain = 0, whole = 0;
    for (uint32_t i = 0; i < result->task_count; i++) {
        const hone_tune_task_result *task = &result->tasks[i];
        if (isnan(task->best_ns)) continue;
        gain += whole_ns(task, task->best_ns) * task->still_to_gain;
        whole += whole_ns(task, task->best_ns);
    }
    return whole > 0 ? gain / whole : NAN;
}

static void print_gain(hone_cli *cli, const hone_tune_result *result) {
    double gain = still_to_gain(result);
    if (result->is_used_up) return; /* said already */
    if (isnan(gain)) {
        hone_str_append(&cli->out, "still to gain: too few trials to say\n");
        return;
    }
    hone_str_printf(&cli->out, "still to gain: about %.1f%% by as many trials again\n", 100 * gain);
}

static void print_quality(hone_cli *cli, const hone_costmodel_quality *quality) {
    hone_str_printf(&cli->out, "cost model: %" PRId64 " samples, ", quality->samples);
    if (isnan(quality->pair_accuracy)) {
        hone_str_append(&cli->out, "too few to judge itself\n");
        return;
    }
    hone_str_printf(&cli->out, "%.0f%% of pairs ranked right (rank correlation %.2f), %s\n",
                    100 * quality->pair_accuracy, quality->rank_correlation,
                    quality->trusted ? "used" : "not used: no better than chance");
}

static void print_model(hone_cli *cli, const tune_model *model) {
    if (!model->is_decided) return;
    hone_str_printf(&cli->out,
                    "model: %s before, %s now, %.2fx (95 %%: %.2f to %.2f); %" PRIu32
                    " new records help in place",
                    hone_text_of_ns(cli->arena, model->before_ns),
                    hone_text_of_ns(cli->arena, model->now_ns), model->faster.median,
                    model->faster.low, model->faster.high, model->taken);
    if (model->left) hone_str_printf(&cli->out, ", %" PRIu32 " do not and are left", model->left);
    hone_str_append(&cli->out, "\n");
}

/* As the progress line counts: from the beginning, without the confirmation at the end. */
static double trials_per_second(const hone_tune_result *result) {
    int64_t span_ns = result->elapsed_ns - result->confirm_ns;
    return span_ns > 0 ? (double)result->trials / ((double)span_ns / 1e9) : 0.0;
}

hone_status hone_tune_summary_print(hone_cli *cli, const hone_task_list *tasks,
                                    const hone_tune_result *result, const tune_model *model) {
    double before, best;
    sum_up(result, &before, &best);
    print_tasks(cli, tasks, result, best);
    if (cli->quiet) return hone_str_check(&cli->out);
    hone_str_append(&cli->out, "\n");
    if (result->task_count > 1 && before > 0 && best > 0) {
        hone_str_printf(&cli->out, "all kernels, each by itself: %s before, %s now, %s\n",
                        hone_text_of_ns(cli->arena, before), hone_text_of_ns(cli->arena, best),
                        hone_text_of_ratio(cli->arena, before, best));
    }
    print_model(cli, model);
    hone_str_printf(&cli->out, "trials: %" PRId64 " (%" PRId64 " failed), %.3g per second%s\n",
                    result->trials, result->failed, trials_per_second(result),
                    result->is_used_up      ? "; the space is used up"
                    : result->has_converged ? "; converged"
                                            : "");
    print_gain(cli, result);
    print_times(cli, result, model);
    print_phases(cli, result, model);
    print_quality(cli, &result->quality);
    return hone_str_check(&cli->out);
}

static hone_json *task_json(const hone_tune_task_result *task) {
    char hash[HONE_HASH_HEX_BYTES];
    hone_json *json = hone_json_make_object();
    if (hone_json_set_text(json, "name", task->name) &&
        hone_json_set_text(json, "hash", hone_hash128_print(task->workload, hash)) &&
        hone_json_set_i64(json, "weight", task->weight) &&
        hone_json_set_f64(json, "flops", task->flops) &&
        hone_json_set_f64(json, "before_ns", task->before_ns) &&
        hone_json_set_f64(json, "best_ns", task->best_ns) &&
        hone_json_set_bool(json, "confirmed", task->is_confirmed) &&
        hone_json_set_f64(json, "still_to_gain", task->still_to_gain) &&
        hone_json_set_i64(json, "trials", task->trials) &&
        hone_json_set_i64(json, "failed", task->failed) &&
        hone_json_set_i64(json, "known_trials", task->known_trials) &&
        hone_json_set_f64(json, "seconds", task->seconds)) {
        return json;
    }
    hone_json_destroy(json);
    return NULL;
}

static hone_json *times_json(const hone_tune_result *result, const tune_model *model) {
    const hone_db_times *t = &result->times;
    const struct {
        const char *name;
        int64_t ns;
    } rows[] = {
        {"search",   t->search         },
        {"queue",    t->queue          },
        {"build",    t->build          },
        {"transfer", t->transfer       },
        {"load",     t->load           },
        {"check",    t->check          },
        {"measure",  t->measure        },
        {"train",    result->train_ns  },
        {"ready",    result->setup_ns  },
        {"trials",   result->trials_ns },
        {"confirm",  result->confirm_ns},
        {"model",    model->spent_ns   }
    };
    hone_json *json = hone_json_make_object();
    size_t count = HONE_COUNT(rows) - (model->spent_ns ? 0 : 1); /* the last one is the model's */
    for (size_t i = 0; i < count; i++) {
        if (hone_json_set_f64(json, rows[i].name, (double)rows[i].ns / 1e9)) continue;
        hone_json_destroy(json);
        return NULL;
    }
    return json;
}

static hone_json *quality_json(const hone_costmodel_quality *quality) {
    hone_json *json = hone_json_make_object();
    if (hone_json_set_i64(json, "samples", quality->samples) &&
        hone_json_set_f64(json, "pair_accuracy", quality->pair_accuracy) &&
        hone_json_set_f64(json, "rank_correlation", quality->rank_correlation) &&
        hone_json_set_bool(json, "trusted", quality->trusted)) {
        return json;
    }
    hone_json_destroy(json);
    return NULL;
}

static hone_json *model_json(const tune_model *model) {
    hone_json *json = hone_json_make_object();
    if (hone_json_set_f64(json, "before_ns", model->before_ns) &&
        hone_json_set_f64(json, "now_ns", model->now_ns) &&
        hone_json_set_f64(json, "speedup", model->faster.median) &&
        hone_json_set_f64(json, "low", model->faster.low) &&
        hone_json_set_f64(json, "high", model->faster.high) &&
        hone_json_set_i64(json, "taken", model->taken) &&
        hone_json_set_i64(json, "left", model->left)) {
        return json;
    }
    hone_json_destroy(json);
    return NULL;
}

hone_status hone_tune_summary_json(hone_cli *cli, const hone_tune_result *result,
                                   const tune_model *model) {
    hone_json *json = hone_json_make_object(), *tasks = hone_json_make_array();
    bool ok = true;
    for (uint32_t i = 0; i < result->task_count; i++) {
        ok &= hone_json_append(tasks, task_json(&result->tasks[i]));
    }
    ok &= hone_json_set_text(json, "session", result->session);
    ok &= hone_json_set(json, "tasks", tasks);
    ok &= hone_json_set_i64(json, "trials", result->trials);
    ok &= hone_json_set_i64(json, "failed", result->failed);
    ok &= hone_json_set_bool(json, "stopped", result->was_stopped);
    ok &= hone_json_set_bool(json, "converged", result->has_converged);
    ok &= hone_json_set_bool(json, "used_up", result->is_used_up);
    ok &= hone_json_set_f64(json, "still_to_gain", still_to_gain(result));
    ok &= hone_json_set_f64(json, "elapsed_seconds",
                            (double)(result->elapsed_ns + model->spent_ns) / 1e9);
    if (model->is_decided) ok &= hone_json_set(json, "model", model_json(model));
    ok &= hone_json_set(json, "seconds", times_json(result, model));
    ok &= hone_json_set(json, "cost_model", quality_json(&result->quality));
    if (!ok) {
        hone_json_destroy(json);
        json = NULL;
    }
    return hone_cli_put_json(cli, json);
}
