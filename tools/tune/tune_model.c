/* tools/tune/tune_model.c - see tune_model.h. */
#include "tools/tune/tune_model.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>

#include "measure/paired.h"
#include "measure/run.h"
#include "support/os/clock.h"
#include "tools/cli/cli_model.h"
#include "tools/run/extern_library.h"
#include "tools/run/model_profile.h"
#include "tuner/loop/put_back.h"

enum { LEAST_ROUNDS = 12, MOST_ROUNDS = 40 };
#define TIME_NS (5 * HONE_NS_PER_S)
#define HELPS_BY_CHANCE 0.05 /* at most, of a kernel that is taken */

/* How one kernel fared. */
typedef struct verdict {
    const hone_compile_kernel *before, *after;
    hone_hash128 program; /* that was used before */
    double ratio;         /* of its times in place, after / before */
    bool is_left;         /* what was used before is used again */
} verdict;

typedef struct deciding {
    tune_model *self;
    const hone_tune_result *tuned;
    hone_compile_result after, last;
    hone_timed_model models[2]; /* before, after */
    hone_model_profile profiles[2];
    verdict *verdicts;
    uint32_t count;
} deciding;

static int64_t now_ns(void) {
    return hone_clock_now(hone_clock_system());
}

/* ---- libraries ---- */

static const char *library_path(const tune_model *self, const char *name, const char *ending) {
    return hone_arena_printf(self->cli->arena, "%s/%s%s", self->options.dir, name, ending);
}

static hone_status compile(tune_model *self, const char *name, hone_compile_result *out) {
    const tune_model_options *o = &self->options;
    const hone_compile_options options = {.output = library_path(self, name, ""),
                                          .target = *o->target,
                                          .db = o->db,
                                          .builder = o->builder,
                                          .variants = &self->variants,
                                          .variant_rules = o->variant_rules,
                                          .intrin_count = o->intrin_count,
                                          .intrins = o->intrins};
    if (!options.output) return HONE_NO_MEMORY("timing the model");
    hone_compile_result_deinit(out);
    return hone_compile_module(self->module, &options, out);
}

static hone_status load(tune_model *self) {
    const hone_graph_options given = {.keeps_inputs = true};
    HONE_TRY(hone_cli_load_module(self->cli->args[0], &given, &self->module));
    hone_cli_warn_of_file(&self->cli->log, self->cli->args[0], self->module);
    hone_module_freeze(self->module);
    self->is_on = hone_module_has_graph(self->module);
    if (!self->is_on) return HONE_OK;
    const hone_cli_list *shapes = self->options.shapes;
    HONE_TRY(hone_dim_variants_parse(shapes->items, shapes->count, &self->variants));
    if (!self->options.extern_path) return HONE_OK;
    return hone_cli_reopen_externs(self->cli, self->options.extern_path, &self->externs);
}

/* That the model cannot be asked is no reason not to tune its kernels. */
static hone_status excuse(tune_model *self, hone_status st) {
    if (!st || hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    hone_log_line(self->options.log, HONE_LOG_WARNING,
                  "the model is not timed, each kernel is judged by itself: %s",
                  hone_status_message(st));
    hone_status_free(st);
    self->is_on = false;
    return HONE_OK;
}

hone_status tune_model_begin(tune_model *self, hone_cli *cli, const tune_model_options *options) {
    *self = (tune_model){.cli = cli, .options = *options};
    int64_t start = now_ns();
    HONE_TRY(load(self));
    if (!self->is_on) return HONE_OK;
    HONE_TRY(excuse(self, compile(self, "before", &self->before)));
    self->compile_ns = self->spent_ns = now_ns() - start;
    return HONE_OK;
}

void tune_model_end(tune_model *self) {
    hone_compile_result_deinit(&self->before);
    hone_dim_variants_deinit(&self->variants);
    hone_module_release(self->module);
    if (self->externs) dlclose(self->externs);
}

/* ---- timing ---- */

/* What one thread does is its CPU time, whatever else the machine does meanwhile; what external
 * functions do may be on threads of theirs. */
static const hone_clock *clock_of(const tune_model *self) {
    bool is_alone = self->options.target->num_threads == 1 && !self->externs;
    return is_alone ? hone_clock_thread() : hone_clock_system();
}

static hone_status open_one(tune_model *self, const char *name, hone_timed_model *out) {
    const hone_timed_model_options options = {&self->none, self->options.shapes, NULL, 0};
    const char *path = library_path(self, name, ".so");
    if (!path) return HONE_NO_MEMORY("timing the model");
    HONE_TRY(hone_timed_model_open(self->cli, path, &options, out));
    out->clock = clock_of(self);
    return HONE_OK;
}

static hone_status open_both(deciding *d, const char *second) {
    HONE_TRY(open_one(d->self, "before", &d->models[0]));
    HONE_TRY(open_one(d->self, second, &d->models[1]));
    HONE_TRY(hone_timed_models_try(d->models, 2));
    for (int i = 0; i < 2; i++)
        HONE_TRY(hone_timed_model_warm_up(&d->models[i]));
    return HONE_OK;
}

static void close_both(deciding *d) {
    for (int i = 0; i < 2; i++)
        hone_timed_model_close(&d->models[i]);
}

/* Half of the time is for the kernels, half for the whole. */
static int64_t end_of_timing(const tune_model *self) {
    int64_t time_ns = self->options.time_ns ? self->options.time_ns : TIME_NS;
    return now_ns() + time_ns / 2;
}

static bool is_enough(int round, int64_t end) {
    return round >= MOST_ROUNDS || (round >= LEAST_ROUNDS && now_ns() >= end);
}

static hone_status time_kernels(deciding *d) {
    int64_t end = end_of_timing(d->self);
    for (int round = 0; !is_enough(round, end); round++) {
        for (int i = 0; i < 2; i++) {
            int at = (round + i) % 2;
            HONE_TRY(
                hone_model_profile_round(&d->profiles[at], &d->models[at], d->models[at].batch));
        }
    }
    return HONE_OK;
}

static hone_status time_whole(deciding *d) {
    tune_model *self = d->self;
    int64_t end = end_of_timing(self);
    for (int round = 0; !is_enough(round, end); round++)
        HONE_TRY(hone_timed_models_round(d->models, 2, (size_t)round));
    HONE_TRY(
        hone_timed_models_ratio(self->cli->arena, &d->models[0], &d->models[1], &self->faster));
    self->before_ns = hone_stat_median(d->models[0].times_ns.data, d->models[0].times_ns.count);
    self->now_ns = hone_stat_median(d->models[1].times_ns.data, d->models[1].times_ns.count);
    return HONE_OK;
}

/* ---- verdicts ---- */

static const hone_compile_kernel *find_kernel(const hone_compile_result *compiled,
                                              hone_hash128 hash) {
    for (uint32_t i = 0; i < compiled->kernel_count; i++) {
        if (hone_hash128_equal(compiled->kernels[i].hash, hash)) return &compiled->kernels[i];
    }
    return NULL;
}

/* The program that was used before; false: it is not known. */
static bool program_before(const deciding *d, const hone_compile_kernel *was, hone_hash128 *out) {
    *out = was->made;
    if (was->source == HONE_COMPILE_RECORD) return true;
    for (uint32_t i = 0; i < d->tuned->task_count; i++) {
        *out = d->tuned->tasks[i].before;
        if (hone_hash128_equal(d->tuned->tasks[i].workload, was->hash)) return true;
    }
    return false;
}

/* Kernels that are made in another way now. */
static hone_status find_changes(deciding *d) {
    const hone_compile_result *before = &d->self->before;
    d->verdicts =
        hone_arena_alloc(d->self->cli->arena, (before->kernel_count + 1) * sizeof *d->verdicts);
    if (!d->verdicts) return HONE_NO_MEMORY("timing the model");
    for (uint32_t i = 0; i < before->kernel_count; i++) {
        const hone_compile_kernel *was = &before->kernels[i];
        const hone_compile_kernel *is = find_kernel(&d->after, was->hash);
        hone_hash128 program;
        if (!is || is->source != HONE_COMPILE_RECORD || !program_before(d, was, &program)) continue;
        if (hone_hash128_equal(is->made, program)) continue;
        d->verdicts[d->count++] = (verdict){was, is, program, NAN, false};
    }
    return HONE_OK;
}

/* One that was not called is left to the judgement of its task. */
static void judge(deciding *d, verdict *v) {
    char hash[HONE_HASH_HEX_BYTES];
    hone_hash128_print(v->before->hash, hash);
    const hone_kernel_profile *was = hone_model_profile_find(&d->profiles[0], hash);
    const hone_kernel_profile *is = hone_model_profile_find(&d->profiles[1], hash);
    if (!was || !is) return;
    size_t rounds =
        was->times_ns.count < is->times_ns.count ? was->times_ns.count : is->times_ns.count;
    hone_paired paired = hone_compare_pairs(was->times_ns.data, is->times_ns.data, rounds);
    v->ratio = paired.ratio;
    v->is_left = paired.ratio >= 1 || paired.chance > HELPS_BY_CHANCE;
    hone_log_line(d->self->options.log, HONE_LOG_DEBUG,
                  "kernel '%s' in place: %.3f of its time before; record %lld is %s",
                  v->before->name, v->ratio, (long long)v->after->record,
                  v->is_left ? "not taken" : "taken");
}

/* ---- what the database says from now on ---- */

/* All records that stand before that of the old program go behind it. */
static hone_status put_back(const deciding *d, const verdict *v) {
    const tune_model_options *o = &d->self->options;
    hone_hash128 target = hone_target_hash(o->target);
    return hone_put_back(o->db, &v->before->hash, &target, &v->program, v->ratio);
}

static hone_status put_back_left(deciding *d) {
    tune_model *self = d->self;
    self->taken = self->left = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        if (d->verdicts[i].is_left) HONE_TRY(put_back(d, &d->verdicts[i]));
        *(d->verdicts[i].is_left ? &self->left : &self->taken) += 1;
    }
    return HONE_OK;
}

/* ---- deciding ---- */

static hone_status ask_kernels(deciding *d) {
    HONE_TRY(compile(d->self, "after", &d->after));
    HONE_TRY(find_changes(d));
    if (d->count == 0) return HONE_OK;
    HONE_TRY(open_both(d, "after"));
    HONE_TRY(time_kernels(d));
    for (uint32_t i = 0; i < d->count; i++)
        judge(d, &d->verdicts[i]);
    return put_back_left(d);
}

/* Nothing is taken where the whole is slower. */
static hone_status ask_whole(deciding *d) {
    tune_model *self = d->self;
    close_both(d);
    HONE_TRY(compile(self, "last", &d->last));
    HONE_TRY(open_both(d, "last"));
    HONE_TRY(time_whole(d));
    if (self->faster.median >= 1) return HONE_OK;
    for (uint32_t i = 0; i < d->count; i++)
        d->verdicts[i].is_left = true;
    return put_back_left(d);
}

/* The model is as it was. */
static hone_status ask_nothing(deciding *d) {
    close_both(d);
    HONE_TRY(open_both(d, "before"));
    HONE_TRY(time_whole(d));
    d->self->now_ns = d->self->before_ns;
    d->self->faster = (hone_time_ratio){1, 1, 1};
    return HONE_OK;
}

static hone_status ask(deciding *d) {
    tune_model *self = d->self;
    HONE_TRY(ask_kernels(d));
    if (self->taken) HONE_TRY(ask_whole(d));
    if (!self->taken) HONE_TRY(ask_nothing(d));
    self->is_decided = true;
    return HONE_OK;
}

hone_status tune_model_decide(tune_model *self, const hone_tune_result *tuned) {
    if (!self->is_on || tuned->was_stopped || tuned->lost_devices) return HONE_OK;
    deciding d = {.self = self, .tuned = tuned};
    int64_t start = now_ns();
    for (int i = 0; i < 2; i++)
        hone_model_profile_init(&d.profiles[i], self->cli->arena);
    hone_status st = excuse(self, ask(&d));
    close_both(&d);
    for (int i = 0; i < 2; i++)
        hone_model_profile_deinit(&d.profiles[i]);
    hone_compile_result_deinit(&d.after);
    hone_compile_result_deinit(&d.last);
    self->spent_ns += now_ns() - start;
    return st;
}
