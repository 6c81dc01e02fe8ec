/* ir/text/print/script_names.c - the printer's ground: unique names, lines, the underlined node. */
#include <ctype.h>
#include <string.h>

#include "ir/text/print/script_print_impl.h"

static const char *const reserved[] = {
    "T",        "R",      "I",     "cls",     "range",   "and",    "as",       "assert", "break",
    "class",    "def",    "del",   "elif",    "else",    "for",    "continue", "from",   "if",
    "import",   "in",     "is",    "lambda",  "None",    "not",    "or",       "pass",   "True",
    "False",    "return", "while", "with",    "yield",   "except", "global",   "raise",  "try",
    "metadata", "async",  "await", "finally", "nonlocal"};

bool printer_init(printer *pr, hone_str *out, const hone_print_options *options) {
    *pr = (printer){.out = out};
    pr->options = options ? *options : (hone_print_options){.mark = HONE_NO_ID};
    pr->arena = hone_arena_create(1 << 14);
    pr->ir.arena = pr->arena;
    if (!pr->arena) return false;
    for (size_t i = 0; i < HONE_COUNT(reserved); i++) {
        if (!hone_strmap_put(&pr->used, reserved[i], 1)) return false;
    }
    return true;
}

hone_status printer_finish(printer *pr) {
    hone_status st = hone_ir_finish(&pr->ir);
    bool is_short = pr->is_short_of_memory || pr->out->failed || !pr->arena || st;
    hone_status_free(st);
    hone_strmap_deinit(&pr->used);
    hone_strmap_deinit(&pr->next);
    hone_arena_destroy(pr->arena);
    return is_short ? HONE_ERROR(HONE_CODE_NO_MEMORY, "program text") : HONE_OK;
}

bool printer_is_classic(const printer *pr) {
    return pr->options.dialect == HONE_DIALECT_CLASSIC;
}

/* ---- names ---- */

/* A name of Python made of a hint. */
static char *clean(printer *pr, const char *hint) {
    if (!hint || !*hint) hint = "v";
    bool digit_first = isdigit((unsigned char)hint[0]);
    char *name = hone_arena_printf(pr->arena, "%s%s", digit_first ? "_" : "", hint);
    for (char *c = name; c && *c; c++) {
        if (!isalnum((unsigned char)*c) && *c != '_') *c = '_';
    }
    return name;
}

bool hone_is_name_printed(const char *name, const char *printed, size_t length) {
    if (strlen(name) == length && memcmp(name, printed, length) == 0) return true;
    size_t at = isdigit((unsigned char)name[0]) ? 1 : 0;
    if (strlen(name) + at != length || (at && printed[0] != '_')) return false;
    for (; at < length; at++, name++) {
        bool is_kept = isalnum((unsigned char)*name) || *name == '_';
        if (printed[at] != (is_kept ? *name : '_')) return false;
    }
    return true;
}

static const char *remember(printer *pr, const char *name) {
    if (pr->stack_count == pr->stack_capacity) {
        uint32_t capacity = pr->stack_capacity ? pr->stack_capacity * 2 : 64;
        const char **grown = hone_arena_alloc(pr->arena, capacity * sizeof *grown);
        if (!grown) goto short_of_memory;
        if (pr->stack_count) memcpy(grown, pr->stack, pr->stack_count * sizeof *grown);
        pr->stack = grown;
        pr->stack_capacity = capacity;
    }
    if (!hone_strmap_put(&pr->used, name, 1)) goto short_of_memory;
    pr->stack[pr->stack_count++] = name;
    return name;
short_of_memory:
    pr->is_short_of_memory = true;
    return "v";
}

const char *printer_define(printer *pr, const char *hint) {
    char *base = clean(pr, hint);
    if (!base) {
        pr->is_short_of_memory = true;
        return "v";
    }
    if (!hone_strmap_find(&pr->used, base, NULL)) return remember(pr, base);
    uint64_t suffix = 1;
    if (hone_strmap_find(&pr->next, base, &suffix) && suffix == 0) suffix = 1;
    if (!suffix) suffix = 1;
    for (;; suffix++) {
        char *name = hone_arena_printf(pr->arena, "%s_%u", base, (unsigned)suffix);
        if (!name) break;
        if (hone_strmap_find(&pr->used, name, NULL)) continue;
        if (!hone_strmap_put(&pr->next, base, suffix + 1)) break;
        return remember(pr, name);
    }
    pr->is_short_of_memory = true;
    return "v";
}

bool printer_can_keep(const printer *pr, const char *hint) {
    bool is_name = hint && *hint && !isdigit((unsigned char)*hint);
    for (const char *c = hint; is_name && *c; c++)
        is_name = isalnum((unsigned char)*c) || *c == '_';
    return is_name && !hone_strmap_find(&pr->used, hint, NULL);
}

const char *printer_define_var(printer *pr, hone_var var) {
    const hone_var_info *info = pr->func ? &pr->func->vars[var] : &pr->graph->vars[var];
    const char *name = printer_define(pr, info->name);
    pr->var_names[var] = name;
    return name;
}

const char *printer_define_buffer(printer *pr, hone_buffer buffer) {
    const char *name = printer_define(pr, pr->func->buffers[buffer].name);
    pr->buffer_names[buffer] = name;
    return name;
}

uint32_t printer_scope_begin(const printer *pr) {
    return pr->stack_count;
}

void printer_scope_end(printer *pr, uint32_t mark) {
    if (pr->stack_count > mark) hone_strmap_clear(&pr->next);
    while (pr->stack_count > mark)
        hone_strmap_remove(&pr->used, pr->stack[--pr->stack_count]);
}

const char *printer_var(printer *pr, hone_var var) {
    uint32_t count = pr->func ? pr->func->var_count : pr->graph ? pr->graph->var_count : 0;
    if (var >= count) return "no_such_variable";
    if (pr->var_names && pr->var_names[var]) return pr->var_names[var];
    const hone_var_info *info = pr->func ? &pr->func->vars[var] : &pr->graph->vars[var];
    const char *name = clean(pr, info->name);
    return name ? name : "v";
}

const char *printer_buffer(printer *pr, hone_buffer buffer) {
    if (!pr->func || buffer >= pr->func->buffer_count) return "no_such_buffer";
    if (pr->buffer_names && pr->buffer_names[buffer]) return pr->buffer_names[buffer];
    const char *name = clean(pr, pr->func->buffers[buffer].name);
    return name ? name : "v";
}

const char *printer_value(printer *pr, hone_gvalue value) {
    if (value >= pr->graph->value_count) return "no_such_value";
    if (pr->value_names[value]) return pr->value_names[value];
    const char *name = clean(pr, pr->graph->values[value].name);
    return name ? name : "v";
}

/* ---- lines ---- */

void printer_line_begin(printer *pr) {
    hone_str_append_repeat(pr->out, ' ', (size_t)pr->indent * 4);
    pr->lines++;
}

void printer_line_end(printer *pr) {
    hone_str_append_char(pr->out, '\n');
}

void printer_line(printer *pr, const char *text) {
    printer_line_begin(pr);
    hone_str_append(pr->out, text);
    printer_line_end(pr);
}

void printer_mark(printer *pr, hone_node_id node, size_t line_start) {
    if (node != HONE_NO_ID && pr->options.lines) pr->options.lines[node] = pr->lines;
    if (node == HONE_NO_ID || node != pr->options.mark || pr->out->failed) return;
    size_t length = pr->out->length - line_start, margin = (size_t)pr->indent * 4;
    if (length && pr->out->data[pr->out->length - 1] == '\n') length--;
    hone_str_append_repeat(pr->out, ' ', margin);
    hone_str_append_repeat(pr->out, '^', length > margin ? length - margin : 3);
    if (pr->options.mark_note) hone_str_printf(pr->out, " %s", pr->options.mark_note);
    printer_line_end(pr);
}
