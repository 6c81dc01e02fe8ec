/* tuner/task/tune_task.c - one task: its sketches, candidates and elites. */
#include "tuner/task/tune_task.h"

#include <math.h>
#include <string.h>

#include "compile/first_schedule.h"
#include "compile/records/variant_check.h"
#include "ir/core/grow.h"
#include "ir/core/written_schedule.h"
#include "ir/identity/structural.h"
#include "ir/text/print/script_print.h"
#include "schedule/primitive/primitives.h"
#include "support/core/alloc.h"

enum { ARENA_BLOCK_BYTES = 256 * 1024 };
#define REAL_GAIN 0.99 /* a new best counts as progress when it is 1 % faster */

static hone_status no_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "tuning task");
}

static hone_status print_program(hone_tune_task *task) {
    hone_module *module = NULL;
    hone_str text = {0};
    hone_status st = hone_module_of_func(task->task->func, &module);
    if (!st) st = hone_module_print(module, NULL, &text);
    if (!st) {
        task->program = hone_arena_strdup(task->arena, hone_str_text(&text));
        if (!task->program) st = no_memory();
    }
    hone_str_deinit(&text);
    hone_module_release(module);
    return st;
}

static bool has_choices(const hone_trace *trace) {
    for (uint32_t i = 0; i < trace->count; i++) {
        if (hone_inst_is_sampling(trace->insts[i].kind)) return true;
    }
    return false;
}

/* The default schedule is a trace whose decisions are made: with them open it is one more sketch,
 * and with them it is where the search begins. */
static hone_status add_default_sketch(hone_tune_task *task) {
    hone_space *space = &task->space;
    hone_trace trace;
    HONE_TRY(hone_schedule_reset(task->schedule));
    HONE_TRY(hone_first_choice(task->schedule, task->target, task->task->constants, &task->rules));
    HONE_TRY(hone_trace_simplify(space->arena, &task->schedule->trace, true, &trace));
    if (!has_choices(&trace)) return HONE_OK;
    hone_draft start;
    if (!hone_space_add(space, &trace, &start)) return no_memory();
    task->default_decisions = start.decisions;
    task->default_sketch = start.sketch;
    return HONE_OK;
}

/* Of the user's variants those that compute what the task computes. */
static hone_status take_given(hone_tune_task *task, const hone_variant_rules *rules) {
    hone_variant *given = hone_arena_alloc(task->arena, (rules->given_count + 1) * sizeof *given);
    if (!given) return no_memory();
    assert(rules->given_count <= HONE_MAX_GIVEN);
    task->rules = *rules;
    task->rules.given = given;
    task->rules.given_count = 0;
    for (size_t i = 0; i < rules->given_count; i++) {
        hone_status st = hone_variant_check(&rules->given[i], task->task->func);
        if (!st) given[task->rules.given_count++] = rules->given[i];
        if (hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
        if (st) task->unserved[i] = hone_arena_strdup(task->arena, hone_status_message(st));
        if (st && !task->unserved[i]) return hone_status_join(st, no_memory());
        hone_status_free(st);
    }
    return HONE_OK;
}

static hone_status add_variants(hone_tune_task *task) {
    return hone_space_add_variants(&task->space, task->task->func, task->target,
                                   task->task->constants, &task->rules, task->starts,
                                   &task->start_count);
}

static bool uses_intrin(const hone_trace *sketch, const char *name) {
    for (uint32_t i = 0; i < sketch->count; i++) {
        const hone_inst *inst = &sketch->insts[i];
        if (inst->kind == HONE_INST_TENSORIZE && inst->attr_count > 0 &&
            inst->attrs[0].kind == HONE_VALUE_STRING && strcmp(inst->attrs[0].u.s, name) == 0)
            return true;
    }
    return false;
}

/* Who gives an intrinsic wants to see it tried, and no model knows what it costs: one candidate of
 * each is among the first trials. */
static void start_with_intrins(hone_tune_task *task, const hone_tensor_intrins *intrins) {
    const char *name;
    for (size_t i = 0; intrins && (name = hone_tensor_intrins_name(intrins, i)); i++) {
        uint32_t s = 0;
        while (s < task->space.count && !uses_intrin(&task->space.sketches[s], name))
            s++;
        if (s == task->space.count || task->start_count == HONE_MAX_VARIANTS) continue;
        task->starts[task->start_count++] =
            (hone_draft){(int32_t)s, task->space.sketches[s].decisions};
    }
}

/* A space of the user's may be about a variant, within what is allowed. */
static hone_status check_space(const hone_tune_task *task) {
    hone_variant variant;
    if (!hone_trace_variant(&task->space.sketches[0], &variant) ||
        hone_variant_is_allowed(&variant, &task->rules))
        return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID,
                      "the space is about variant '%s', which declares an error of %g: allow it "
                      "with --variants all%s",
                      variant.name, variant.error, variant.program ? " and --variant FILE.py" : "");
}

bool hone_tune_task_counts(const hone_tune_task *task, int32_t sketch) {
    return !task->has_own_space || sketch >= 0;
}

static hone_status put_before(hone_tune_task *task) {
    HONE_TRY(hone_schedule_reset(task->schedule));
    return task->begins_as_written ? HONE_OK
                                   : hone_first_choice(task->schedule, task->target,
                                                       task->task->constants, &task->rules);
}

/* A space of the user's may name one that is not there: its replays are refused. */
static hone_status keep_intrin(hone_tune_task *task, const hone_tensor_intrins *from,
                               const char *name) {
    hone_status st = hone_tensor_intrins_keep(task->intrins, from, name);
    if (hone_status_code(st) != HONE_CODE_NOT_FOUND) return st;
    hone_status_free(st);
    return HONE_OK;
}

/* Thousands of replays look them up. */
static hone_status keep_intrins(hone_tune_task *task, const hone_tensor_intrins *from) {
    HONE_TRY(hone_tensor_intrins_create(&task->intrins));
    for (size_t i = 0; from && hone_tensor_intrins_name(from, i); i++)
        HONE_TRY(keep_intrin(task, from, hone_tensor_intrins_name(from, i)));
    for (uint32_t s = 0; s < task->space.count; s++) {
        const hone_trace *sketch = &task->space.sketches[s];
        for (uint32_t i = 0; i < sketch->count; i++) {
            const hone_inst *inst = &sketch->insts[i];
            if (inst->kind != HONE_INST_TENSORIZE || inst->attr_count == 0) continue;
            if (inst->attrs[0].kind == HONE_VALUE_STRING)
                HONE_TRY(keep_intrin(task, from, inst->attrs[0].u.s));
        }
    }
    task->schedule->intrins = task->intrins;
    return HONE_OK;
}

static hone_status open_parts(hone_tune_task *task, const hone_tune_task_options *options) {
    static const hone_variant_rules exact = {.most_error = HONE_VARIANTS_EXACT};
    const char *space_path = options->space_path;
    task->arena = hone_arena_create(ARENA_BLOCK_BYTES);
    task->scratch = hone_arena_create(ARENA_BLOCK_BYTES);
    if (!task->arena || !task->scratch) return no_memory();
    HONE_TRY(hone_schedule_create(task->task->func, &task->schedule));
    task->schedule->wants_reasons = false;
    task->schedule->intrins = options->intrins;
    HONE_TRY(hone_feature_state_create(&task->features));
    const hone_trace_context context = {.func = task->task->func, .intrins = options->intrins};
    HONE_TRY(take_given(task, options->rules ? options->rules : &exact));
    HONE_TRY(space_path ? hone_space_load(space_path, &context, task->target, &task->space)
                        : hone_space_generate_with(task->task->func, task->target, options->intrins,
                                                   &task->space));
    if (space_path) HONE_TRY(check_space(task));
    if (!space_path) HONE_TRY(add_default_sketch(task));
    if (!space_path) HONE_TRY(add_variants(task));
    if (!space_path) start_with_intrins(task, options->intrins);
    HONE_TRY(keep_intrins(task, options->intrins));
    task->has_own_space = space_path != NULL;
    task->begins_as_written = space_path || hone_func_carries_schedule(task->task->func);
    HONE_TRY(put_before(task));
    task->before = hone_func_hash(task->schedule->func);
    return print_program(task);
}

hone_status hone_tune_task_create(const hone_task *task, const hone_target *target,
                                  const hone_tune_task_options *options,
                                  hone_tune_task **out_task) {
    *out_task = NULL;
    hone_tune_task *self = hone_calloc(1, sizeof *self);
    if (!self) return no_memory();
    self->task = task;
    self->target = target;
    self->before_ns = self->best_ns = self->shown_ns = self->confirmed_ns = NAN;
    self->default_sketch = -1;
    self->evaluations = HONE_EVALUATIONS;
    hone_status st = open_parts(self, options);
    if (st) {
        hone_tune_task_destroy(self);
        return hone_status_annotate(st, "task '%s'", task->name);
    }
    *out_task = self;
    return HONE_OK;
}

static void destroy_openings(hone_tune_task *task) {
    for (uint32_t i = 0; i < task->opening_count && task->openings; i++)
        hone_trace_opening_deinit(&task->openings[i].opening);
    hone_free(task->openings);
    task->openings = NULL;
    task->opening_count = 0;
}

void hone_tune_task_destroy(hone_tune_task *task) {
    if (!task) return;
    hone_space_deinit(&task->space);
    hone_schedule_destroy(task->schedule);
    hone_tensor_intrins_destroy(task->intrins);
    hone_feature_state_destroy(task->features);
    hone_map128_deinit(&task->seen);
    hone_map128_deinit(&task->looks);
    hone_module_release(task->stored_module);
    hone_arena_destroy(task->arena);
    destroy_openings(task);
    hone_arena_destroy(task->scratch);
    hone_free(task);
}

/* ---- candidates ---- */

hone_hash128 hone_looks_of(const float *features, uint32_t row_count) {
    return hone_hash128_bytes(features,
                              (size_t)row_count * hone_feature_count() * sizeof *features);
}

uint64_t hone_tune_task_alike(const hone_tune_task *task, hone_hash128 looks) {
    uint64_t count;
    hone_map128_find(&task->looks, looks, &count);
    return count;
}

hone_status hone_tune_task_note_looks(hone_tune_task *task, hone_hash128 looks, int change) {
    uint64_t count = hone_tune_task_alike(task, looks);
    if (change < 0 && !count) return HONE_OK;
    count = change < 0 ? count - 1 : count + 1;
    return hone_map128_put(&task->looks, looks, count) ? HONE_OK : no_memory();
}

static hone_status describe(hone_tune_task *task, hone_arena *arena, hone_candidate *out) {
    const float *rows = NULL;
    out->program = hone_func_hash(task->schedule->func);
    HONE_TRY(hone_feature_extract(task->features, task->schedule->func, task->task->constants,
                                  task->target, &rows, &out->row_count));
    out->features =
        hone_arena_copy(arena, rows, (size_t)out->row_count * hone_feature_count() * sizeof *rows);
    out->looks = hone_looks_of(rows, out->row_count);
    return out->features ? HONE_OK : no_memory();
}

/* The decisions that the replay used (drawn or repaired), out of the schedule's trace. */
static hone_status keep_decisions(const hone_tune_task *task, uint32_t count, hone_arena *arena,
                                  const hone_decision **out) {
    hone_decision *copy = hone_arena_zalloc(arena, (count + 1) * sizeof *copy);
    if (!copy) return no_memory();
    const hone_trace *trace = &task->schedule->trace;
    for (uint32_t i = 0; i < count && i < trace->count; i++) {
        copy[i] = trace->decisions[i];
        copy[i].values =
            hone_arena_copy(arena, copy[i].values, copy[i].count * sizeof *copy[i].values);
        if (!copy[i].values) return no_memory();
    }
    *out = copy;
    return HONE_OK;
}

hone_status hone_tune_task_keep_openings(hone_tune_task *task) {
    assert(!task->openings);
    task->openings = hone_calloc(task->space.count + 1, sizeof *task->openings);
    task->opening_count = task->space.count;
    return task->openings ? HONE_OK : no_memory();
}

hone_status hone_tune_task_drop_openings(hone_tune_task *task) {
    destroy_openings(task);
    return hone_schedule_reset(task->schedule);
}

static hone_status apply_sketch(hone_tune_task *task, uint32_t sketch,
                                const hone_decision *decisions, hone_rng rng) {
    static const hone_trace_opening none = {0};
    const hone_trace *trace = &task->space.sketches[sketch];
    hone_task_opening *kept = sketch < task->opening_count ? &task->openings[sketch] : NULL;
    if (kept && !kept->is_made) {
        HONE_TRY(hone_trace_opening_init(trace, task->schedule, &kept->opening));
        kept->is_made = true;
    }
    task->schedule->rng = rng;
    hone_apply_options options = {.decisions = decisions};
    return hone_trace_opening_apply(kept ? &kept->opening : &none, trace, task->schedule, &options);
}

hone_status hone_tune_task_replay(hone_tune_task *task, int32_t sketch,
                                  const hone_decision *decisions, hone_rng rng, hone_arena *arena,
                                  hone_candidate *out) {
    assert(sketch >= 0 && (uint32_t)sketch < task->space.count);
    *out = (hone_candidate){.sketch = sketch};
    HONE_TRY(apply_sketch(task, (uint32_t)sketch, decisions, rng));
    HONE_TRY(keep_decisions(task, task->space.sketches[sketch].count, arena, &out->decisions));
    HONE_TRY(hone_postprocess(task->schedule, task->target));
    return describe(task, arena, out);
}

hone_status hone_tune_task_before(hone_tune_task *task, hone_arena *arena, hone_candidate *out) {
    *out = (hone_candidate){.sketch = -1};
    HONE_TRY(put_before(task));
    return describe(task, arena, out);
}

hone_status hone_tune_task_trace(hone_tune_task *task, hone_arena *arena, const char **out_json) {
    hone_str text = {0};
    hone_status st = hone_trace_print_json(&task->schedule->trace, &text);
    if (!st) {
        *out_json = hone_arena_strdup(arena, hone_str_text(&text));
        if (!*out_json) st = no_memory();
    }
    hone_str_deinit(&text);
    return st;
}

hone_status hone_tune_task_note_program(hone_tune_task *task, hone_hash128 program,
                                        bool *out_is_new) {
    bool is_known = hone_map128_find(&task->seen, program, NULL);
    if (!is_known && task->db) {
        HONE_TRY(hone_db_has_program(task->db, &task->task->hash, &task->target_hash, &program,
                                     task->last_record, &is_known));
    }
    *out_is_new = !is_known;
    return hone_map128_put(&task->seen, program, 0) ? HONE_OK : no_memory();
}

/* ---- variants ---- */

const char *hone_tune_task_check(const hone_tune_task *task, const hone_candidate *candidate) {
    hone_variant of_sketch;
    const hone_variant *variant = candidate->variant;
    bool has = candidate->sketch >= 0 &&
               hone_trace_variant(&task->space.sketches[candidate->sketch], &of_sketch);
    if (has) variant = &of_sketch;
    for (uint32_t i = 0; variant && i < task->check_count; i++) {
        if (hone_variant_is_same(&task->checks[i].variant, variant)) return task->checks[i].path;
    }
    return task->check_path;
}

/* ---- results ---- */

bool hone_tune_task_is_elite(const hone_tune_task *task, double time_ns) {
    return task->elite_count < HONE_ELITES || time_ns < task->elites[HONE_ELITES - 1].time_ns;
}

static void keep_elite(hone_tune_task *task, const hone_candidate *candidate, double time_ns) {
    bool is_default = candidate->sketch < 0;
    if (is_default &&
        (task->begins_as_written || !hone_hash128_equal(candidate->program, task->before))) {
        return;
    }
    int32_t sketch = is_default ? task->default_sketch : candidate->sketch;
    const hone_decision *decisions = is_default ? task->default_decisions : candidate->decisions;
    if (sketch < 0 || !decisions) return;
    uint32_t at = task->elite_count;
    while (at > 0 && task->elites[at - 1].time_ns > time_ns)
        at--;
    if (at == HONE_ELITES) return;
    uint32_t end = task->elite_count < HONE_ELITES ? task->elite_count++ : HONE_ELITES - 1;
    for (uint32_t i = end; i > at; i--)
        task->elites[i] = task->elites[i - 1];
    task->elites[at] = (hone_elite){sketch, decisions, candidate->looks, time_ns};
}

void hone_tune_task_advise(hone_tune_task *task, const hone_candidate *candidate) {
    keep_elite(task, candidate, INFINITY); /* its time is not one of this device */
    bool is_ready = candidate->trace && task->advice_count < HONE_ADVICE;
    if (is_ready) task->advice[task->advice_count++] = *candidate;
}

void hone_tune_task_fold(hone_tune_task *task, const hone_candidate *candidate, double time_ns) {
    bool is_before = hone_hash128_equal(candidate->program, task->before);
    if (is_before && isnan(task->before_ns) && time_ns > 0) task->before_ns = time_ns;
    if (!hone_tune_task_counts(task, candidate->sketch)) return;
    task->folded++;
    task->since_better++;
    if (!(time_ns > 0)) {
        task->failed++;
        return;
    }
    keep_elite(task, candidate, time_ns);
    if (isnan(task->best_ns) || time_ns < task->best_ns) {
        if (isnan(task->best_ns) || time_ns < task->best_ns * REAL_GAIN) task->since_better = 0;
        task->best_ns = time_ns;
    }
}
