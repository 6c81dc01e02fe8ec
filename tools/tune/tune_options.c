/* tools/tune/tune_options.c - checks what `hone tune` is told, and says it again. */
#include "tools/tune/tune_options.h"

#include <inttypes.h>
#include <string.h>

#include "costmodel/costmodel.h"
#include "runtime/device.h"
#include "support/os/fs.h"
#include "tools/cli/cli_target.h"
#include "tuner/search/search.h"

static const char *const cache_names[] = {"hot", "cold", "model"};

static hone_status read_cache(tune_options *o) {
    for (size_t i = 0; o->cache && i < HONE_COUNT(cache_names); i++) {
        if (strcmp(o->cache, cache_names[i]) == 0) o->cache_state = (hone_cache_state)i;
    }
    bool is_known = !o->cache || strcmp(o->cache, cache_names[o->cache_state]) == 0;
    if (!is_known) {
        return HONE_ERROR(HONE_CODE_INVALID, "option '--cache' wants hot, cold or model, not '%s'",
                          o->cache);
    }
    if (o->cache_state != HONE_CACHE_MODEL || !o->is_remote) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "--cache model is for candidates on this machine");
}

/* Whether there is a card is seen when its runner starts. */
static hone_status check_target(const hone_target *target) {
    if (hone_target_is_gpu(target))
        return hone_device_name_check(hone_target_kind_name(target->kind));
    if (hone_target_runs_here(target)) return HONE_OK;
    hone_str text = {0};
    hone_target_print(target, &text);
    hone_status st = HONE_ERROR(HONE_CODE_UNSUPPORTED,
                                "target '%s' does not run on this machine, so nothing can be "
                                "measured for it here",
                                hone_str_text(&text));
    hone_str_deinit(&text);
    return st;
}

static hone_status check_local_target(const tune_options *o) {
    hone_target target;
    HONE_TRY(hone_cli_read_target(o->target, o->threads, &target));
    return check_target(&target);
}

hone_status tune_options_check(hone_cli *cli, tune_options *o) {
    o->is_remote = farm_options_name_a_tracker(&o->farm);
    o->farm.choice.target = o->target;
    o->farm.choice.threads = o->threads;
    if (!o->db) return HONE_ERROR(HONE_CODE_INVALID, "--db FILE is missing");
    HONE_TRY(read_cache(o));
    HONE_TRY(hone_cli_read_variants(cli, &o->variants, &o->variant_rules));
    if (o->extern_path && !hone_fs_exists(o->extern_path)) {
        return HONE_ERROR(HONE_CODE_NOT_FOUND, "%s: there is no such library", o->extern_path);
    }
    if (o->extern_path && hone_fs_is_dir(o->extern_path)) {
        return HONE_ERROR(HONE_CODE_INVALID, "%s: is a directory", o->extern_path);
    }
    const hone_strategy *strategy;
    HONE_TRY(hone_strategy_find(o->strategy, &strategy));
    HONE_TRY(hone_costmodel_check_name(o->cost_model));
    HONE_TRY(farm_options_check(cli, &o->farm));
    if (o->no_report) HONE_TRY(hone_cli_refuse(cli, "report", "--no-report"));
    if (strcmp(o->strategy, "evolutionary") != 0)
        HONE_TRY(hone_cli_refuse(cli, "cost-model evaluations", "a strategy that asks none"));
    if (!o->has_trials && !o->has_time && !o->until_converged) o->trials = 1000;
    return o->is_remote ? HONE_OK : check_local_target(o);
}

void tune_options_choose_cache(tune_options *o, const hone_task_list *tasks) {
    bool has_weights = false;
    for (uint32_t i = 0; i < tasks->count; i++)
        has_weights |= tasks->items[i].constants != 0;
    bool may_be_model = !o->cache && !o->is_remote && has_weights && tasks->footprint_bytes > 0;
    if (may_be_model) o->cache_state = HONE_CACHE_MODEL;
    o->cache = cache_names[o->cache_state];
}

void tune_options_print(const tune_options *o, const char *model, const char *device_key,
                        hone_str *text) {
    hone_str_printf(text, "hone tune %s --db %s", model, o->db);
    if (o->trials) hone_str_printf(text, " --trials %" PRId64, o->trials);
    if (o->time_ns) hone_str_printf(text, " --time %.6gs", (double)o->time_ns / 1e9);
    if (o->until_converged) hone_str_append(text, " --until-converged");
    if (o->target) hone_str_printf(text, " --target '%s'", o->target);
    if (o->threads) hone_str_printf(text, " --threads %" PRId64, o->threads);
    if (o->task) hone_str_printf(text, " --task %s", o->task);
    if (o->space) hone_str_printf(text, " --space %s", o->space);
    if (o->propose) hone_str_printf(text, " --propose '%s'", o->propose);
    if (o->variants.which) hone_str_printf(text, " --variants %s", o->variants.which);
    if (o->variants.has_max_error)
        hone_str_printf(text, " --max-error %.17g", o->variants.max_error);
    for (size_t i = 0; i < o->variants.files.count; i++)
        hone_str_printf(text, " --variant %s", o->variants.files.items[i]);
    for (size_t i = 0; i < o->shapes.count; i++) {
        hone_str_printf(text, " --shape %s", o->shapes.items[i]);
    }
    for (size_t i = 0; i < o->inputs.count; i++) {
        hone_str_printf(text, " --in %s", o->inputs.items[i]);
    }
    if (device_key) {
        hone_str_printf(text, " --tracker %s --device-key %s", o->farm.choice.access.tracker,
                        device_key);
    }
    if (o->unsandboxed) hone_str_append(text, " --unsandboxed");
    if (o->kernels_only) hone_str_append(text, " --kernels-only");
    if (o->look_ahead) hone_str_printf(text, " --look-ahead %" PRId64, o->look_ahead);
    if (strcmp(o->strategy, "evolutionary") == 0)
        hone_str_printf(text, " --evaluations %" PRId64, o->evaluations);
    hone_str_printf(text, " --strategy %s --cost-model %s --seed %" PRId64 " --cache %s",
                    o->strategy, o->cost_model, o->seed, o->cache);
}
