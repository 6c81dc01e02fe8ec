/* include/api_steps.c - hone_steps: a schedule made line by line. */
#include <hone/steps.h>

#include <string.h>

#include "include/api_steps.h"
#include "schedule/python/trace_parse.h"
#include "schedule/replay/trace_apply.h"
#include "schedule/state/schedule.h"
#include "schedule/trace/trace_args.h"
#include "support/core/alloc.h"

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
    hone_status st = open_steps(s, program, function);
    if (!st) s->schedule->rng = hone_rng_from_seed(seed);
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

/* What was drawn for the instructions of `done` stands in `trace`, which begins with the same. */
static hone_status keep_decisions(hone_arena *arena, const hone_trace *done, hone_trace *trace) {
    hone_trace kept;
    if (!hone_trace_copy(arena, done, &kept)) return HONE_NO_MEMORY("trace");
    for (uint32_t i = 0; i < kept.count && i < trace->count; i++) {
        if (kept.insts[i].kind != trace->insts[i].kind) break;
        trace->decisions[i] = kept.decisions[i];
    }
    return HONE_OK;
}

/* Applies the whole text to the program at the beginning. */
static hone_status apply_in(hone_arena *arena, hone_steps *s, const hone_trace *done) {
    hone_trace trace;
    const hone_trace_context context = {.func = s->func, .intrins = s->intrins};
    HONE_TRY(hone_trace_parse_script(arena, &context, hone_str_text(&s->text), s->text.length,
                                     "steps", &trace));
    HONE_TRY(keep_decisions(arena, done, &trace));
    HONE_TRY(hone_schedule_reset(s->schedule));
    return hone_trace_apply(&trace, s->schedule, &(hone_apply_options){0});
}

/* Adds to the text and applies it; after a failure all is as it was. */
static hone_status add_in(hone_arena *arena, hone_steps *s, const char *text) {
    size_t before = s->text.length;
    hone_rng rng = s->schedule->rng;
    hone_trace done;
    if (!hone_trace_copy(arena, &s->schedule->trace, &done)) return HONE_NO_MEMORY("trace");
    hone_str_append(&s->text, text);
    hone_str_append_char(&s->text, '\n');
    hone_status st = hone_str_check(&s->text);
    if (!st) st = apply_in(arena, s, &done);
    if (!st) return HONE_OK;
    st = hone_api_show_blame(s->schedule, st);
    hone_str_truncate(&s->text, before);
    hone_status again = apply_in(arena, s, &done); /* was legal before */
    s->schedule->rng = rng;
    return hone_status_join(st, again);
}

hone_error *hone_steps_add(hone_steps *steps, const char *text) {
    HONE_API_NEED(steps);
    HONE_API_NEED(text);
    hone_arena *arena = hone_arena_create(1 << 14);
    if (!arena) return hone_api_error(HONE_NO_MEMORY("trace"));
    hone_status st = add_in(arena, steps, text);
    hone_arena_destroy(arena);
    return hone_api_error(st);
}

void hone_steps_seed(hone_steps *steps, uint64_t seed) {
    if (steps) steps->schedule->rng = hone_rng_from_seed(seed);
}

uint64_t hone_steps_fork_seed(hone_steps *steps) {
    return steps ? hone_rng_next(&steps->schedule->rng) >> 33 : 0;
}

hone_error *hone_steps_program(const hone_steps *steps, hone_program **out_program) {
    HONE_API_NEED(out_program);
    *out_program = NULL;
    HONE_API_NEED(steps);
    return hone_api_error(hone_api_put_func(steps->program, steps->schedule->func, out_program));
}

typedef hone_status (*trace_printer)(const hone_trace *trace, hone_str *out);

static hone_status print_trace(const hone_trace *trace, trace_printer print, char **out_text) {
    hone_str text = {0};
    hone_status st = print(trace, &text);
    if (!st) st = hone_api_take_text(&text, out_text);
    hone_str_deinit(&text);
    return st;
}

hone_error *hone_steps_trace(const hone_steps *steps, char **out_trace) {
    HONE_API_NEED(out_trace);
    *out_trace = NULL;
    HONE_API_NEED(steps);
    return hone_api_error(print_trace(&steps->schedule->trace, hone_trace_print_json, out_trace));
}

hone_error *hone_steps_script(const hone_steps *steps, char **out_text) {
    HONE_API_NEED(out_text);
    *out_text = NULL;
    HONE_API_NEED(steps);
    return hone_api_error(print_trace(&steps->schedule->trace, hone_trace_print_python, out_text));
}

hone_error *hone_trace_script(const char *trace, char **out_text) {
    HONE_API_NEED(out_text);
    *out_text = NULL;
    HONE_API_NEED(trace);
    hone_trace parsed;
    hone_arena *arena = hone_arena_create(1 << 14);
    if (!arena) return hone_api_error(HONE_ERROR(HONE_CODE_NO_MEMORY, "trace"));
    hone_status st = hone_trace_parse_json(arena, trace, strlen(trace), "trace", &parsed);
    if (!st) st = print_trace(&parsed, hone_trace_print_python, out_text);
    hone_arena_destroy(arena);
    return hone_api_error(st);
}

/* ---- which steps there are ---- */

static const char *sort_of(const hone_arg_spec *arg) {
    static const char *const sorts[] = {
        [HONE_ARG_DECISION] = "decision", [HONE_ARG_INPUT] = "variable",
        [HONE_ARG_TARGET] = "target",     [HONE_ARG_REST] = "factors",
        [HONE_ARG_VARARGS] = "variables", [HONE_ARG_LIST] = "integers",
        [HONE_ARG_BLOCKS] = "blocks",     [HONE_ARG_DATA] = "data",
        [HONE_ARG_BUF_TYPE] = "role",     [HONE_ARG_MAP] = "map",
        [HONE_ARG_INT] = "int",           [HONE_ARG_BOOL] = "bool",
        [HONE_ARG_STRING] = "str",        [HONE_ARG_FUNC] = "function",
        [HONE_ARG_BUFFER] = "buffer",     [HONE_ARG_ACCESS] = "access",
        [HONE_ARG_VALUES] = "integers",   [HONE_ARG_REALS] = "numbers",
    };
    return sorts[arg->place];
}

static void print_default(const hone_arg_spec *arg, hone_str *out) {
    if (arg->is_required) return;
    if (arg->place == HONE_ARG_INT)
        hone_str_printf(out, " = %lld", (long long)arg->fallback);
    else if (arg->place == HONE_ARG_BOOL)
        hone_str_append(out, arg->fallback ? " = True" : " = False");
    else if (arg->place == HONE_ARG_STRING && arg->text_fallback)
        hone_str_printf(out, " = \"%s\"", arg->text_fallback);
    else
        hone_str_append(out, " = None");
}

hone_error *hone_step_signature(size_t index, char **out_text) {
    static const char *const gives[] = {"nothing", "block", "loop", "int",
                                        "blocks",  "loops", "ints"};
    HONE_API_NEED(out_text);
    *out_text = NULL;
    if (index >= HONE_INST_COUNT)
        return hone_api_error(HONE_ERROR(HONE_CODE_NOT_FOUND, "there is no step %zu", index));
    hone_inst_kind kind = (hone_inst_kind)index;
    hone_str text = {0};
    hone_str_printf(&text, "%s(", hone_inst_python_name(kind));
    const hone_arg_spec *args = hone_inst_args(kind);
    for (const hone_arg_spec *arg = args; arg->place != HONE_ARG_END; arg++) {
        hone_str_printf(&text, "%s%s: %s", arg == args ? "" : ", ", arg->name, sort_of(arg));
        print_default(arg, &text);
    }
    hone_str_printf(&text, ") -> %s", gives[hone_inst_traits_of(kind)->gives]);
    return hone_api_error(hone_api_take_text(&text, out_text));
}
