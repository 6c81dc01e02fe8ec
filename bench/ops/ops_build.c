/* bench/ops/ops_build.c - see ops_build.h. */
#include "bench/ops/ops_build.h"

#include <stdio.h>
#include <string.h>

#include "compile/compile.h"
#include "ir/text/read/script.h"
#include "schedule/python/trace_parse.h"
#include "schedule/replay/trace_apply.h"
#include "schedule/state/schedule.h"
#include "support/os/fs.h"

static const double plain_flops = 1e9; /* more of them take too long without a schedule */

const char *ops_native_set(void) {
    hone_target host;
    bench_must(hone_target_detect(&host));
    if (host.vector_bits >= 512) return "avx512";
    return hone_target_has_feature(&host, "avx2") ? "avx2" : "generic";
}

static hone_target target_of(const char *set, int threads) {
    hone_target target;
    bench_must(hone_target_detect(&target));
    if (strcmp(set, ops_native_set()) != 0 && strcmp(set, "avx2") == 0) {
        bench_must(hone_target_parse("host -mcpu=x86-64-v3", &target));
    }
    target.num_threads = threads;
    return target;
}

static bool has_own_files(const ops_work *work) {
    return work->program && strchr(work->program, '/');
}

/* SET/NAME.py where the layouts of NAME.py do not suit the set; of files of its own PATH.runtime.py
 * where the weight is no constant. */
static hone_module *load_program(const ops_work *work, const char *set, bool is_constant) {
    char path[520], other[520];
    hone_module *module;
    const char *name = work->program ? work->program : work->name;
    const char *dir = has_own_files(work) ? "" : HONE_SOURCE_DIR "/bench/programs/";
    snprintf(path, sizeof path, "%s%s/%s.py", dir, set, name);
    if (has_own_files(work) || !hone_fs_exists(path))
        snprintf(path, sizeof path, "%s%s.py", dir, name);
    snprintf(other, sizeof other, "%s.runtime.py", name);
    bool has_other = has_own_files(work) && !is_constant && hone_fs_exists(other);
    bench_must(hone_script_load(has_other ? other : path, &module));
    hone_module_freeze(module);
    return module;
}

/* The trace made for such a row, from the most special name to the plain one:
 * NAME.runtime.2threads, NAME.2threads (the weight a constant), NAME.runtime, NAME. False when
 * there is none. */
static bool find_trace(const ops_work *work, const char *set, int threads, bool is_constant,
                       char path[512]) {
    char number[32];
    if (has_own_files(work)) {
        snprintf(path, 512, "%s.runtime.trace.py", work->program);
        if (!is_constant && hone_fs_exists(path)) return true;
        snprintf(path, 512, "%s.trace.py", work->program);
        return hone_fs_exists(path);
    }
    snprintf(number, sizeof number, ".%dthreads", threads);
    const char *weights[] = {".runtime", ""}, *counts[] = {number, ""};
    for (int w = is_constant ? 1 : 0; w < 2; w++) {
        for (int t = 0; t < 2; t++) {
            snprintf(path, 512, "%s/bench/schedules/%s/%s%s%s.py", HONE_SOURCE_DIR, set, work->name,
                     weights[w], counts[t]);
            if (hone_fs_exists(path)) return true;
        }
    }
    return false;
}

static hone_module *apply_trace(hone_module *module, const char *path) {
    const hone_member *member;
    hone_schedule *sch;
    hone_trace trace;
    hone_module *scheduled;
    hone_arena *arena = hone_arena_create(1 << 16);
    bench_must(hone_module_pick(module, NULL, &member));
    bench_must(hone_schedule_create(member->func, &sch));
    const hone_trace_context context = {.func = member->func};
    bench_must(hone_trace_load(arena, path, &context, NULL, &trace));
    sch->wants_reasons = true;
    hone_status st = hone_trace_apply(&trace, sch, &(hone_apply_options){0});
    bench_must(st ? hone_status_annotate(st, "%s", path) : st);
    bench_must(hone_module_of_func(sch->func, &scheduled));
    hone_module_freeze(scheduled);
    hone_schedule_destroy(sch);
    hone_arena_destroy(arena);
    return scheduled;
}

static hone_db *open_records(const ops_work *work) {
    char own[520];
    hone_db *db = NULL;
    snprintf(own, sizeof own, "%s.db", work->program ? work->program : "");
    hone_db_options options = {.path = has_own_files(work) ? own
                                                           : HONE_SOURCE_DIR "/build/bench/ops.db",
                               .mode = HONE_DB_READ};
    hone_status_free(hone_db_open_sqlite(&options, &db)); /* there may be none */
    return db;
}

void ops_build(const ops_work *work, const char *set, int threads, ops_how how, const char *path,
               const hone_graph_weight *weight, ops_built *out) {
    char trace[512], library[600];
    bool is_constant = !work->weight || weight;
    hone_module *module = load_program(work, set, is_constant);
    hone_compile_options options = {.output = path,
                                    .target = target_of(set, threads),
                                    .weight_values = weight,
                                    .weight_count = weight != NULL};
    hone_compile_result result;
    bool has_trace = how == OPS_BEST && find_trace(work, set, threads, is_constant, trace);
    if (has_trace) {
        hone_module *scheduled = apply_trace(module, trace);
        hone_module_release(module);
        module = scheduled;
    }
    options.no_schedule = has_trace || (how == OPS_REFERENCE && work->flops < plain_flops);
    if (how == OPS_BEST && !has_trace) options.db = open_records(work);
    bench_must(hone_compile_module(module, &options, &result));
    out->source = has_trace ? "trace" : hone_compile_source_name(result.kernels[0].source);
    hone_compile_result_deinit(&result);
    hone_module_release(module);
    hone_db_close(options.db);
    snprintf(library, sizeof library, "%s.so", path);
    bench_must(hone_loaded_model_open(library, threads, &out->model));
    bench_must(hone_loaded_model_entry(out->model, NULL, &out->entry));
}

void ops_built_free(ops_built *built) {
    hone_loaded_model_close(built->model);
    *built = (ops_built){0};
}
