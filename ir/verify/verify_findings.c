/* ir/verify/verify_findings.c - what verify has to say: findings with their places, and the first
 * error of a program as a status. */
#include <stdarg.h>
#include <string.h>

#include "ir/verify/verify_impl.h"

/* Was it said of this place already, as where an index stands on both sides of a store? */
static bool is_said(const hone_findings *out, const hone_finding *finding, const char *text) {
    for (uint32_t i = out->count; i-- > 0;) {
        const hone_finding *old = &out->items[i];
        if (old->line != finding->line || old->node != finding->node) return false;
        if (text && strcmp(old->text, text) == 0) return true;
    }
    return false;
}

void verify_add(hone_findings *out, hone_finding finding, const char *text) {
    if (is_said(out, &finding, text)) return;
    if (out->count == out->capacity) {
        uint32_t capacity = out->capacity ? out->capacity * 2 : 8;
        hone_finding *items = hone_arena_alloc(out->arena, capacity * sizeof *items);
        if (!items) return;
        for (uint32_t i = 0; i < out->count; i++)
            items[i] = out->items[i];
        out->items = items;
        out->capacity = capacity;
    }
    finding.text = text ? text : "no memory for the reason";
    out->items[out->count++] = finding;
    if (!finding.is_warning) out->error_count++;
}

HONE_PRINTF(4, 0)
static void add(verifier *v, bool is_warning, hone_node_id node, const char *format, va_list args) {
    hone_str text = {0};
    hone_finding finding = {.is_warning = is_warning, .node = node};
    hone_node_id n = node;
    while (n != HONE_NO_ID && !hone_func_node(v->func, n)->line) {
        n = hone_func_node(v->func, n)->parent;
    }
    if (v->declared && v->declared->line) {
        finding.line = v->declared->line;
        finding.column = v->declared->column;
    } else if (n != HONE_NO_ID) {
        finding.line = hone_func_node(v->func, n)->line;
        finding.column = hone_func_node(v->func, n)->column;
    }
    hone_str_vprintf(&text, format, args);
    const char *kept = hone_arena_strdup(v->out->arena, hone_str_text(&text));
    if (!kept || text.failed) v->is_short_of_memory = true;
    verify_add(v->out, finding, kept);
    hone_str_deinit(&text);
}

void verify_error(verifier *v, hone_node_id node, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add(v, false, node, format, args);
    va_end(args);
}

void verify_warning(verifier *v, hone_node_id node, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add(v, true, node, format, args);
    va_end(args);
}

static hone_status first_error(const hone_findings *findings) {
    for (uint32_t i = 0; i < findings->count; i++) {
        const hone_finding *f = &findings->items[i];
        if (f->is_warning) continue;
        if (!f->line) return HONE_ERROR(HONE_CODE_INVALID, "%s", f->text);
        return HONE_ERROR(HONE_CODE_INVALID, "%u:%u: %s", (unsigned)f->line, (unsigned)f->column,
                          f->text);
    }
    return HONE_OK;
}

hone_status hone_check_func(const hone_func *func) {
    hone_findings findings = {.arena = hone_arena_create(4096), .errors_only = true};
    if (!findings.arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "verification");
    hone_status st = hone_verify_func(func, &findings);
    if (!st) st = first_error(&findings);
    hone_arena_destroy(findings.arena);
    return st;
}

hone_status hone_check_module(const hone_module *module) {
    hone_findings findings = {.arena = hone_arena_create(4096), .errors_only = true};
    if (!findings.arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "verification");
    hone_status st = hone_verify_module(module, &findings);
    if (!st) st = first_error(&findings);
    hone_arena_destroy(findings.arena);
    return st;
}
