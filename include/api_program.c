/* include/api_program.c - hone_program: loading, printing, scheduling, tuning, compiling. */
#include <hone/program.h>

#include <string.h>

#include "graph/frontend/onnx_import.h"
#include "graph/module/module_parts.h"
#include "include/api.h"
#include "include/api_host.h"
#include "ir/identity/structural.h"
#include "ir/text/print/script_print.h"
#include "ir/text/read/script.h"
#include "ir/verify/verify.h"
#include "schedule/python/trace_parse.h"
#include "schedule/replay/trace_apply.h"
#include "schedule/state/schedule.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"

hone_program *hone_api_program(hone_module *module) {
    hone_module_freeze(module);
    return (hone_program *)module;
}

hone_module *hone_api_module(const hone_program *program) {
    union {
        const hone_program *from;
        hone_module *to;
    } cast = {.from = program};
    return cast.to;
}

hone_status hone_api_put_func(const hone_program *program, const hone_func *func,
                              hone_program **out_program) {
    hone_module *made;
    HONE_TRY(hone_module_with_func(hone_api_module(program), func, &made));
    *out_program = hone_api_program(made);
    return HONE_OK;
}

static hone_status load(const char *path, const hone_graph_options *sizes, hone_module **out) {
    bool is_onnx = strcmp(hone_path_extension(path), ".onnx") == 0;
    if (is_onnx) return hone_onnx_load(path, sizes, out);
    hone_module *module = NULL;
    HONE_TRY(hone_script_load(path, &module));
    *out = module;
    if (!sizes->dim_count) return HONE_OK;
    hone_module_freeze(module);
    hone_status st = hone_api_bind_values(module, sizes, out);
    hone_module_release(module);
    return hone_status_annotate(st, "%s", path);
}

hone_error *hone_program_load_with(const char *path, size_t size_count, const char *const *sizes,
                                   hone_program **out_program) {
    HONE_API_NEED(out_program);
    *out_program = NULL;
    HONE_API_NEED(path);
    hone_dim_variants variants;
    hone_module *module = NULL;
    hone_status st = hone_api_read_one_choice(size_count, sizes, &variants);
    if (!st) {
        const hone_graph_options given = {.dims = variants.items[0].dims,
                                          .dim_count = variants.items[0].dim_count};
        st = load(path, &given, &module);
    }
    hone_dim_variants_deinit(&variants);
    if (!st) *out_program = hone_api_program(module);
    return hone_api_error(st);
}

hone_error *hone_program_load(const char *path, hone_program **out_program) {
    return hone_program_load_with(path, 0, NULL, out_program);
}

hone_error *hone_program_parse(const char *text, const char *name, hone_program **out_program) {
    HONE_API_NEED(out_program);
    *out_program = NULL;
    HONE_API_NEED(text);
    hone_module *module = NULL;
    hone_status st = hone_script_parse(text, strlen(text), name ? name : "program", &module);
    if (!st) *out_program = hone_api_program(module);
    return hone_api_error(st);
}

void hone_program_free(hone_program *program) {
    if (program) hone_module_release((hone_module *)program);
}

size_t hone_program_function_count(const hone_program *program) {
    return program ? hone_api_module(program)->member_count : 0;
}

const char *hone_program_function_name(const hone_program *program, size_t index) {
    const hone_module *module = hone_api_module(program);
    return module && index < module->member_count ? module->members[index].name : NULL;
}

hone_error *hone_program_print(const hone_program *program, char **out_text) {
    HONE_API_NEED(out_text);
    *out_text = NULL;
    HONE_API_NEED(program);
    hone_str text = {0};
    hone_status st = hone_module_print(hone_api_module(program), NULL, &text);
    if (st)
        hone_str_deinit(&text);
    else
        st = hone_api_take_text(&text, out_text);
    return hone_api_error(st);
}

hone_error *hone_program_save(const hone_program *program, const char *path) {
    HONE_API_NEED(program);
    HONE_API_NEED(path);
    return hone_api_error(hone_script_save(hone_api_module(program), path, NULL));
}

static hone_status findings_text(const hone_findings *findings, char **out_text) {
    hone_str text = {0};
    for (uint32_t i = 0; i < findings->count; i++) {
        const hone_finding *f = &findings->items[i];
        if (f->is_warning) continue;
        if (f->line) hone_str_printf(&text, "%u:%u: ", (unsigned)f->line, (unsigned)f->column);
        hone_str_printf(&text, "%s\n", f->text);
    }
    return hone_api_take_text(&text, out_text);
}

hone_error *hone_program_verify(const hone_program *program, char **out_findings) {
    HONE_API_NEED(out_findings);
    *out_findings = NULL;
    HONE_API_NEED(program);
    hone_findings findings = {.arena = hone_arena_create(4096)};
    if (!findings.arena) return hone_api_error(HONE_ERROR(HONE_CODE_NO_MEMORY, "findings"));
    hone_status st = hone_verify_module(hone_api_module(program), &findings);
    if (!st && findings.error_count) st = findings_text(&findings, out_findings);
    hone_arena_destroy(findings.arena);
    return hone_api_error(st);
}

hone_error *hone_program_hash(const hone_program *program, const char *function,
                              char out_hash[33]) {
    HONE_API_NEED(out_hash);
    memset(out_hash, 0, 33);
    HONE_API_NEED(program);
    const hone_module *module = hone_api_module(program);
    hone_hash128 hash;
    if (!function) {
        hash = hone_module_hash(module);
    } else {
        const hone_member *member = NULL;
        hone_status st = hone_module_pick(module, function, &member);
        if (st) return hone_api_error(st);
        if (member->kind == HONE_MEMBER_EXTERN)
            return hone_api_error(HONE_ERROR(HONE_CODE_INVALID, "'%s' is external", function));
        hash = member->kind == HONE_MEMBER_FUNC ? hone_func_hash(member->func)
                                                : hone_graph_hash(module, member->graph);
    }
    hone_hash128_print(hash, out_hash);
    return NULL;
}

int hone_program_equal(const hone_program *a, const hone_program *b, char **out_difference) {
    if (out_difference) *out_difference = NULL;
    if (!a || !b) return a == b;
    hone_str difference = {0};
    bool is_equal = hone_module_equal(hone_api_module(a), hone_api_module(b),
                                      out_difference ? &difference : NULL);
    if (out_difference && !is_equal)
        hone_status_free(hone_api_take_text(&difference, out_difference));
    hone_str_deinit(&difference);
    return is_equal;
}

/* ---- replay ---- */

static hone_status parse_trace(hone_arena *arena, const hone_func *func, const char *text,
                               hone_trace *out_trace) {
    const hone_trace_context context = {.func = func};
    const char *first = text + strspn(text, " \t\r\n");
    size_t length = strlen(text);
    return *first == '[' || *first == '{'
               ? hone_trace_parse_json(arena, text, length, "trace", out_trace)
               : hone_trace_parse_script(arena, &context, text, length, "trace", out_trace);
}

hone_status hone_api_show_blame(hone_schedule *sch, hone_status st) {
    if (sch->blame == HONE_NO_ID) return st;
    hone_str where = {0};
    hone_status printed = hone_schedule_print_blame(sch, "refused here", &where);
    hone_status full = HONE_ERROR(hone_status_code(st), "%s\n%s", hone_status_message(st),
                                  printed ? "" : hone_str_text(&where));
    hone_status_free(printed);
    hone_status_free(st);
    hone_str_deinit(&where);
    return full;
}

static hone_status apply(hone_schedule *sch, const hone_trace *trace,
                         const hone_replay_options *options) {
    sch->wants_reasons = true;
    sch->rng = hone_rng_from_seed(options->seed);
    hone_status st =
        hone_trace_apply(trace, sch, &(hone_apply_options){.resample = options->resample != 0});
    return st ? hone_api_show_blame(sch, st) : HONE_OK;
}

static hone_status replay(const hone_program *program, const hone_func *func, const char *text,
                          const hone_replay_options *options, hone_program **out_program,
                          hone_str *out_trace) {
    hone_arena *arena = hone_arena_create(1 << 14);
    if (!arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "trace");
    hone_schedule *sch = NULL;
    hone_trace trace;
    hone_status st = parse_trace(arena, func, text, &trace);
    if (!st) st = hone_schedule_create(func, &sch);
    if (!st) st = apply(sch, &trace, options);
    if (!st && out_trace) st = hone_trace_print_json(&sch->trace, out_trace);
    if (!st) st = hone_api_put_func(program, sch->func, out_program);
    if (sch) hone_schedule_destroy(sch);
    hone_arena_destroy(arena);
    return st;
}

hone_error *hone_program_replay(const hone_program *program, const char *trace,
                                const hone_replay_options *options, hone_program **out_program,
                                char **out_trace) {
    HONE_API_NEED(out_program);
    static const hone_replay_options none = {0};
    if (!options) options = &none;
    *out_program = NULL;
    if (out_trace) *out_trace = NULL;
    HONE_API_NEED(program);
    HONE_API_NEED(trace);
    const hone_member *member = NULL;
    hone_status st = hone_module_pick(hone_api_module(program), options->function, &member);
    if (st) return hone_api_error(st);
    if (member->kind != HONE_MEMBER_FUNC)
        return hone_api_error(
            HONE_ERROR(HONE_CODE_INVALID, "'%s' is no tensor program", member->name));
    hone_str text = {0};
    hone_program *made = NULL;
    st = replay(program, member->func, trace, options, &made, out_trace ? &text : NULL);
    if (!st && out_trace) st = hone_api_take_text(&text, out_trace);
    hone_str_deinit(&text);
    if (st)
        hone_program_free(made);
    else
        *out_program = made;
    return hone_api_error(st);
}
