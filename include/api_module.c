/* include/api_module.c - functions and attributes of a hone_program. */
#include <hone/pass.h>

#include <string.h>

#include "compile/named_passes.h"
#include "graph/module/module_parts.h"
#include "graph/passes/pass.h"
#include "include/api.h"
#include "target/target_read.h"

/* ---- functions of a module ---- */

const char *hone_program_function_kind(const hone_program *program, const char *function) {
    static const char *const names[] = {[HONE_MEMBER_FUNC] = "tensor program",
                                        [HONE_MEMBER_GRAPH] = "graph",
                                        [HONE_MEMBER_EXTERN] = "external"};
    const hone_member *member =
        program && function ? hone_module_find(hone_api_module(program), function) : NULL;
    return member ? names[member->kind] : NULL;
}

hone_error *hone_program_get(const hone_program *program, const char *function,
                             hone_program **out_program) {
    HONE_API_NEED(out_program);
    *out_program = NULL;
    HONE_API_NEED(program);
    hone_module *module = NULL;
    hone_status st = hone_module_part(hone_api_module(program), function, &module);
    if (!st) *out_program = hone_api_program(module);
    return hone_api_error(st);
}

hone_error *hone_program_update(const hone_program *program, const hone_program *with,
                                hone_program **out_program) {
    HONE_API_NEED(out_program);
    *out_program = NULL;
    HONE_API_NEED(program);
    HONE_API_NEED(with);
    hone_module *module = NULL;
    hone_status st = hone_module_merge(hone_api_module(program), hone_api_module(with), &module);
    if (!st) *out_program = hone_api_program(module);
    return hone_api_error(st);
}

hone_error *hone_program_remove(const hone_program *program, const char *function,
                                hone_program **out_program) {
    HONE_API_NEED(out_program);
    *out_program = NULL;
    HONE_API_NEED(program);
    HONE_API_NEED(function);
    hone_module *module = NULL;
    hone_status st = hone_module_without(hone_api_module(program), function, &module);
    if (!st) *out_program = hone_api_program(module);
    return hone_api_error(st);
}

/* ---- attributes ---- */

/* Those of a function (NULL: the only one, or main), or of the module itself. */
static hone_status find_attributes(const hone_module *module, const char *function,
                                   const hone_attrs **out) {
    const hone_member *member;
    *out = &module->attrs;
    if (function && strcmp(function, HONE_THE_MODULE) == 0) return HONE_OK;
    HONE_TRY(hone_module_pick(module, function, &member));
    if (member->kind == HONE_MEMBER_EXTERN) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "'%s' is an external function", member->name);
    }
    *out = member->kind == HONE_MEMBER_FUNC ? &member->func->attrs : &member->graph->attrs;
    return HONE_OK;
}

static hone_status value_text(const char *key, const hone_value *value, hone_str *out) {
    switch (value->kind) {
    case HONE_VALUE_BOOL:
        hone_str_append(out, value->u.i ? "True" : "False");
        return HONE_OK;
    case HONE_VALUE_INT:
        hone_str_printf(out, "%lld", (long long)value->u.i);
        return HONE_OK;
    case HONE_VALUE_FLOAT:
        hone_str_printf(out, "%.17g", value->u.f);
        return HONE_OK;
    case HONE_VALUE_STRING:
        hone_str_append(out, value->u.s);
        return HONE_OK;
    case HONE_VALUE_EXPR:
        if (value->u.expr->kind != HONE_EXPR_INT) break;
        hone_str_printf(out, "%lld", (long long)value->u.expr->u.i);
        return HONE_OK;
    case HONE_VALUE_NONE:
    case HONE_VALUE_LIST:
    case HONE_VALUE_MAP:
    case HONE_VALUE_LAMBDA:
        break;
    }
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "attribute '%s' is neither a text nor a number", key);
}

hone_error *hone_program_get_attribute(const hone_program *program, const char *function,
                                       const char *key, char **out_value) {
    HONE_API_NEED(out_value);
    *out_value = NULL;
    HONE_API_NEED(program);
    HONE_API_NEED(key);
    const hone_attrs *attrs;
    hone_str text = {0};
    hone_status st = find_attributes(hone_api_module(program), function, &attrs);
    const hone_value *value = st ? NULL : hone_attrs_find(attrs, key);
    if (value) st = value_text(key, value, &text);
    if (value && !st) st = hone_api_take_text(&text, out_value);
    hone_str_deinit(&text);
    return hone_api_error(st);
}

const char *hone_program_attribute_key(const hone_program *program, const char *function,
                                       size_t index) {
    const hone_attrs *attrs = NULL;
    if (!program) return NULL;
    hone_status st = find_attributes(hone_api_module(program), function, &attrs);
    hone_status_free(st);
    return !st && index < attrs->count ? attrs->items[index].key : NULL;
}

/* value NULL removes the key. Everything is copied. */
static hone_status change(hone_arena *arena, hone_attrs *attrs, const char *key,
                          const hone_value *value) {
    const char *name = hone_arena_strdup(arena, key);
    hone_value copy = value ? *value : (hone_value){0};
    bool is_text = value && value->kind == HONE_VALUE_STRING;
    if (is_text) copy.u.s = hone_arena_strdup(arena, value->u.s);
    bool done = name && (!is_text || copy.u.s) &&
                (value ? hone_attrs_with(arena, attrs, name, copy, attrs)
                       : hone_attrs_without(arena, attrs, name, attrs));
    return done ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "attribute");
}

static hone_status change_module(hone_module *module, const char *key, const hone_value *value,
                                 hone_module **out_module) {
    HONE_TRY(hone_module_copy(module, out_module));
    hone_status st = change((*out_module)->arena, &(*out_module)->attrs, key, value);
    if (!st) return HONE_OK;
    hone_module_release(*out_module);
    *out_module = NULL;
    return st;
}

static hone_status change_function(hone_module *module, const char *function, const char *key,
                                   const hone_value *value, hone_module **out_module) {
    hone_module *changed;
    HONE_TRY(hone_module_alone(module, function, &changed));
    const hone_member *member = &changed->members[0];
    hone_attrs *attrs =
        member->kind == HONE_MEMBER_FUNC ? &member->func->attrs : &member->graph->attrs;
    hone_status st = change(changed->arena, attrs, key, value);
    hone_module_freeze(changed);
    if (!st) st = hone_module_merge(module, changed, out_module);
    hone_module_release(changed);
    return st;
}

static hone_error *set_value(const hone_program *program, const char *function, const char *key,
                             const hone_value *value, hone_program **out_program) {
    HONE_API_NEED(out_program);
    *out_program = NULL;
    HONE_API_NEED(program);
    HONE_API_NEED(key);
    hone_module *from = hone_api_module(program), *module = NULL;
    bool is_module = function && strcmp(function, HONE_THE_MODULE) == 0;
    hone_status st = is_module ? change_module(from, key, value, &module)
                               : change_function(from, function, key, value, &module);
    if (!st) *out_program = hone_api_program(module);
    return hone_api_error(st);
}

hone_error *hone_program_set_attribute(const hone_program *program, const char *function,
                                       const char *key, const char *value,
                                       hone_program **out_program) {
    hone_value text = HONE_VALUE_OF_STRING(value);
    return set_value(program, function, key, value ? &text : NULL, out_program);
}

hone_error *hone_program_set_attribute_integer(const hone_program *program, const char *function,
                                               const char *key, int64_t value,
                                               hone_program **out_program) {
    hone_value number = HONE_VALUE_OF_INT(value);
    return set_value(program, function, key, &number, out_program);
}

/* ---- passes by name ---- */

static hone_status run(hone_module *module, const char *target_text, size_t count,
                       const char *const *names, hone_module **out_module) {
    const char *const *pipeline = count == 1 ? hone_named_pipeline(names[0]) : NULL;
    for (count = pipeline ? 0 : count; pipeline && pipeline[count]; count++) {
    }
    hone_target target;
    if (target_text) HONE_TRY(hone_target_read(target_text, 0, &target));
    const hone_named_passes_options options = {.target = target_text ? &target : NULL};
    return hone_named_passes_run(module, pipeline ? pipeline : names, count, &options, out_module);
}

hone_error *hone_program_run_passes_for(const hone_program *program, const char *target,
                                        size_t count, const char *const *names,
                                        hone_program **out_program) {
    HONE_API_NEED(out_program);
    *out_program = NULL;
    HONE_API_NEED(program);
    if (count) HONE_API_NEED(names);
    hone_module *module = NULL;
    for (size_t i = 0; i < count; i++) {
        if (names[i]) continue;
        return hone_api_error(HONE_ERROR(HONE_CODE_INVALID, "pass %zu is NULL", i));
    }
    hone_status st = run(hone_api_module(program), target, count, names, &module);
    if (!st) *out_program = hone_api_program(module);
    return hone_api_error(st);
}

hone_error *hone_program_run_passes(const hone_program *program, size_t count,
                                    const char *const *names, hone_program **out_program) {
    return hone_program_run_passes_for(program, NULL, count, names, out_program);
}

const char *hone_pass_name(size_t index) {
    hone_named_pass pass;
    return hone_named_pass_at(index, &pass) ? pass.name : NULL;
}

const char *hone_pass_help(size_t index) {
    hone_named_pass pass;
    return hone_named_pass_at(index, &pass) ? pass.help : NULL;
}
