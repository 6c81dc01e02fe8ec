/* include/api_steps.c - hone_steps: a schedule made line by line. */
#include <hone/steps.h>

#include <string.h>

#include "include/api.h"
#include "schedule/intrin/tensor_intrin.h"
#include "schedule/python/trace_parse.h"
#include "schedule/replay/trace_apply.h"
#include "schedule/state/schedule.h"
#include "support/core/alloc.h"

/* The text so far is the state: adding to it applies all of it anew, from the same seed, so that
 * names mean what they meant and decisions stay. */
struct hone_steps {
    hone_program *program; /* owned: where the function is from */
    const hone_func *func; /* in it: as it is at the beginning */
    hone_schedule *schedule;
    hone_tensor_intrins *intrins;
    hone_str text;
    uint64_t seed;
};

static hone_status open_steps(hone_steps *s, const hone_program *program, const char *function) {
    const hone_member *member;
    hone_module *module = hone_api_module(program);
    s->program = hone_api_program(hone_module_retain(module));
    HONE_TRY(hone_module_pick(module, function, &member));
    if (member->kind != HONE_MEMBER_FUNC) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "'%s' is no tensor program", member->name);
    }
    s->func = member->func;
    HONE_TRY(hone_tensor_intrins_create(&s->intrins));
    HONE_TRY(hone_schedule_create(s->func, &s->schedule));
    s->schedule->wants_reasons = true;
    s->schedule->intrins = s->intrins;
    return HONE_OK;
}

hone_error *hone_steps_create(const hone_program *program, const char *function, uint64_t seed,
                              hone_steps **out_steps) {
    HONE_API_NEED(out_steps);
    *out_steps = NULL;
    HONE_API_NEED(program);
    hone_steps *s = hone_calloc(1, sizeof *s);
    if (!s) return hone_api_error(HONE_ERROR(HONE_CODE_NO_MEMORY, "schedule"));
    s->seed = seed;
    hone_status st = open_steps(s, program, function);
    if (st) {
        hone_steps_free(s);
        return hone_api_error(st);
    }
    *out_steps = s;
    return NULL;
}

void hone_steps_free(hone_steps *s) {
    if (!s) return;
    hone_schedule_destroy(s->schedule);
    hone_tensor_intrins_destroy(s->intrins);
    hone_program_free(s->program);
    hone_str_deinit(&s->text);
    hone_free(s);
}

hone_error *hone_steps_add_intrin(hone_steps *steps, const char *name, const char *text) {
    HONE_API_NEED(steps);
    HONE_API_NEED(name);
    HONE_API_NEED(text);
    return hone_api_error(hone_tensor_intrins_add(steps->intrins, name, text, strlen(text), name));
}

/* Applies the whole text to the program at the beginning. */
static hone_status apply_all(hone_steps *s) {
    hone_arena *arena = hone_arena_create(1 << 14);
    if (!arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "trace");
    hone_trace trace;
    const hone_trace_context context = {.func = s->func, .intrins = s->intrins};
    hone_status st = hone_trace_parse_script(arena, &context, hone_str_text(&s->text),
                                             s->text.length, "steps", &trace);
    if (!st) st = hone_schedule_reset(s->schedule);
    s->schedule->rng = hone_rng_from_seed(s->seed);
    if (!st) st = hone_trace_apply(&trace, s->schedule, &(hone_apply_options){0});
    hone_arena_destroy(arena);
    return st ? hone_api_show_blame(s->schedule, st) : HONE_OK;
}

hone_error *hone_steps_add(hone_steps *steps, const char *text) {
    HONE_API_NEED(steps);
    HONE_API_NEED(text);
    size_t before = steps->text.length;
    hone_str_append(&steps->text, text);
    hone_str_append_char(&steps->text, '\n');
    hone_status st = hone_str_check(&steps->text);
    if (!st) st = apply_all(steps);
    if (!st) return NULL;
    hone_str_truncate(&steps->text, before);
    hone_status again = apply_all(steps); /* was legal before */
    return hone_api_error(hone_status_join(st, again));
}

hone_error *hone_steps_program(const hone_steps *steps, hone_program **out_program) {
    HONE_API_NEED(out_program);
    *out_program = NULL;
    HONE_API_NEED(steps);
    return hone_api_error(hone_api_put_func(steps->program, steps->schedule->func, out_program));
}

hone_error *hone_steps_trace(const hone_steps *steps, char **out_trace) {
    HONE_API_NEED(out_trace);
    *out_trace = NULL;
    HONE_API_NEED(steps);
    hone_str text = {0};
    hone_status st = hone_trace_print_json(&steps->schedule->trace, &text);
    if (!st) st = hone_api_take_text(&text, out_trace);
    hone_str_deinit(&text);
    return hone_api_error(st);
}
