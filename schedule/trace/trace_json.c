/* schedule/trace/trace_json.c - TVM's JSON form of traces: [[[kind, inputs, attrs, outputs], …],
 * [[index, decision], …]]. A random variable is its name ("b0", "l1", "v2"), a string among the
 * inputs carries its own quotes, nothing is "None". */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ir/text/map/index_map_json.h"
#include "schedule/trace/trace_args.h"
#include "schedule/trace/trace_records.h"
#include "support/core/number.h"
#include "support/data/map.h"
#include "support/text/json.h"
#include "support/text/nearest.h"

/* ---- printing ---- */

static void print_value(const hone_value *v, hone_str *out) {
    switch (v->kind) {
    case HONE_VALUE_NONE:
        hone_str_append(out, "null");
        break;
    case HONE_VALUE_BOOL:
        hone_str_append(out, v->u.i ? "true" : "false");
        break;
    case HONE_VALUE_INT:
        hone_str_printf(out, "%lld", (long long)v->u.i);
        break;
    case HONE_VALUE_FLOAT:
        hone_json_print_f64(v->u.f, out);
        break;
    case HONE_VALUE_STRING:
        hone_json_print_text(v->u.s, strlen(v->u.s), out);
        break;
    case HONE_VALUE_EXPR:
    case HONE_VALUE_LAMBDA:
        hone_str_append(out, "null");
        break; /* no trace holds one */
    case HONE_VALUE_LIST:
        hone_str_append_char(out, '[');
        for (uint32_t i = 0; i < v->count; i++) {
            if (i) hone_str_append(out, ", ");
            print_value(&v->u.items[i], out);
        }
        hone_str_append_char(out, ']');
        break;
    case HONE_VALUE_MAP:
        hone_str_append_char(out, '{');
        for (uint32_t i = 0; i < v->count; i++) {
            if (i) hone_str_append(out, ", ");
            hone_json_print_text(v->u.attrs[i].key, strlen(v->u.attrs[i].key), out);
            hone_str_append(out, ": ");
            print_value(&v->u.attrs[i].value, out);
        }
        hone_str_append_char(out, '}');
        break;
    }
}

static void print_quoted(const char *text, hone_str *out) {
    hone_str inner = {0};
    hone_str_printf(&inner, "\"%s\"", text);
    hone_json_print_text(hone_str_text(&inner), inner.length, out);
    hone_str_deinit(&inner);
}

/* Plain data among the inputs: strings in lists carry their own quotes as well. */
static void print_input_value(const hone_value *v, hone_str *out) {
    if (v->kind == HONE_VALUE_STRING) {
        print_quoted(v->u.s, out);
    } else if (v->kind == HONE_VALUE_LIST) {
        hone_str_append_char(out, '[');
        for (uint32_t i = 0; i < v->count; i++) {
            if (i) hone_str_append(out, ", ");
            print_input_value(&v->u.items[i], out);
        }
        hone_str_append_char(out, ']');
    } else {
        print_value(v, out);
    }
}

/* A map is a text that holds JSON of its own. */
static hone_status print_map(const hone_trace *trace, const hone_index_map *map, bool indented,
                             hone_str *out) {
    hone_str text = {0};
    hone_arena *scratch = hone_arena_create(1024);
    const char *const *names = scratch ? hone_trace_free_names(trace, map, scratch) : NULL;
    hone_status st = names ? hone_index_map_print_json(map, names, indented, &text)
                           : HONE_ERROR(HONE_CODE_NO_MEMORY, "trace");
    if (!st) hone_json_print_text(hone_str_text(&text), text.length, out);
    hone_str_deinit(&text);
    hone_arena_destroy(scratch);
    return st;
}

static hone_status print_operand(const hone_trace *trace, const hone_operand *o, hone_str *out) {
    switch (o->kind) {
    case HONE_OPERAND_RV:
        hone_str_append_char(out, '"');
        hone_trace_print_rv(trace, o->u.rv, out);
        hone_str_append_char(out, '"');
        break;
    case HONE_OPERAND_INT:
        hone_str_printf(out, "%lld", (long long)o->u.i);
        break;
    case HONE_OPERAND_FLOAT:
        hone_json_print_f64(o->u.f, out);
        break;
    case HONE_OPERAND_STRING:
        print_quoted(o->u.s, out);
        break;
    case HONE_OPERAND_NONE:
        hone_str_append(out, "\"None\"");
        break;
    case HONE_OPERAND_VALUE:
        print_input_value(o->u.value, out);
        break;
    case HONE_OPERAND_MAP:
        return print_map(trace, o->u.map, false, out);
    case HONE_OPERAND_LIST:
        hone_str_append_char(out, '[');
        for (uint32_t i = 0; i < o->count; i++) {
            if (i) hone_str_append(out, ", ");
            HONE_TRY(print_operand(trace, &o->u.items[i], out));
        }
        hone_str_append_char(out, ']');
        break;
    }
    return HONE_OK;
}

static hone_status print_inputs(const hone_trace *trace, const hone_inst *inst, hone_str *out) {
    uint32_t input = 0, attr = 0;
    bool moves_one = hone_inst_has_map_attr(inst->kind, &input, &attr);
    bool is_first = true;
    for (uint32_t i = 0; i < inst->input_count; i++) {
        if (moves_one && i == input) continue;
        if (!is_first) hone_str_append(out, ", ");
        is_first = false;
        HONE_TRY(print_operand(trace, &inst->inputs[i], out));
    }
    return HONE_OK;
}

static hone_status print_attrs(const hone_trace *trace, const hone_inst *inst, hone_str *out) {
    uint32_t input = 0, attr = 0;
    bool moves_one = hone_inst_has_map_attr(inst->kind, &input, &attr);
    uint32_t count = inst->attr_count + moves_one;
    for (uint32_t i = 0, next = 0; i < count; i++) {
        if (i) hone_str_append(out, ", ");
        if (!moves_one || i != attr) {
            print_value(&inst->attrs[next++], out);
        } else if (input < inst->input_count && inst->inputs[input].kind == HONE_OPERAND_MAP) {
            HONE_TRY(print_map(trace, inst->inputs[input].u.map, true, out));
        } else {
            hone_str_append(out, "null");
        }
    }
    return HONE_OK;
}

static hone_status print_inst(const hone_trace *trace, const hone_inst *inst, hone_str *out) {
    hone_str_printf(out, "[\"%s\", [", hone_inst_json_name(inst->kind));
    HONE_TRY(print_inputs(trace, inst, out));
    hone_str_append(out, "], [");
    HONE_TRY(print_attrs(trace, inst, out));
    hone_str_append(out, "], [");
    for (uint32_t i = 0; i < inst->output_count; i++) {
        hone_str_append(out, i ? ", \"" : "\"");
        hone_trace_print_rv(trace, inst->first_output + i, out);
        hone_str_append_char(out, '"');
    }
    hone_str_append(out, "]]");
    return HONE_OK;
}

static void print_decision(const hone_trace *trace, uint32_t index, hone_str *out) {
    const hone_decision *d = &trace->decisions[index];
    bool is_list = hone_inst_decides_list(trace->insts[index].kind);
    hone_str_printf(out, "[%u, %s", index, is_list ? "[" : "");
    for (uint32_t i = 0; i < d->count; i++) {
        hone_str_printf(out, "%s%lld", i ? ", " : "", (long long)d->values[i]);
    }
    hone_str_append(out, is_list ? "]]" : "]");
}

hone_status hone_trace_print_json(const hone_trace *trace, hone_str *out) {
    hone_str_append(out, "[[");
    for (uint32_t i = 0; i < trace->count; i++) {
        if (i) hone_str_append(out, ", ");
        HONE_TRY(print_inst(trace, &trace->insts[i], out));
    }
    hone_str_append(out, "], [");
    bool is_first = true;
    for (uint32_t i = 0; i < trace->count; i++) {
        if (!trace->decisions[i].count) continue;
        if (!is_first) hone_str_append(out, ", ");
        is_first = false;
        print_decision(trace, i, out);
    }
    hone_str_append(out, "]]");
    return hone_str_check(out);
}

/* ---- parsing ---- */

enum { MAX_INSTRUCTIONS = 100000 };

typedef struct parser {
    hone_arena *arena;
    hone_trace *trace;
    hone_strmap names; /* variable name → number */
    uint32_t at;       /* the instruction being read, for messages */
    uint32_t found;    /* by find_int */
    const char *kind;  /* what it is called there, NULL when that is not known */
} parser;

/* Steps are counted from 1, as where a step is refused. */
static hone_status bad(const parser *p, const char *format, ...) HONE_PRINTF(2, 3);
static hone_status bad(const parser *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char reason[256];
    hone_vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return HONE_ERROR(HONE_CODE_INVALID, "step %u%s%s: %s", p->at + 1, p->kind ? ": " : "",
                      p->kind ? p->kind : "", reason);
}

static hone_status read_value(parser *p, const hone_json *json, hone_value *out) {
    *out = (hone_value){.kind = HONE_VALUE_NONE};
    switch (hone_json_get_kind(json)) {
    case HONE_JSON_NULL:
        return HONE_OK;
    case HONE_JSON_BOOL:
        *out = HONE_VALUE_OF_BOOL(hone_json_bool(json));
        return HONE_OK;
    case HONE_JSON_INT:
        *out = HONE_VALUE_OF_INT(hone_json_i64(json));
        return HONE_OK;
    case HONE_JSON_REAL:
        *out = HONE_VALUE_OF_FLOAT(hone_json_f64(json));
        return HONE_OK;
    case HONE_JSON_TEXT:
        *out = HONE_VALUE_OF_STRING(hone_arena_strdup(p->arena, hone_json_text(json)));
        return out->u.s ? HONE_OK : HONE_NO_MEMORY("trace");
    case HONE_JSON_ARRAY: {
        size_t count = hone_json_count(json);
        hone_value *items = hone_arena_zalloc(p->arena, (count + 1) * sizeof *items);
        if (!items) return HONE_NO_MEMORY("trace");
        for (size_t i = 0; i < count; i++) {
            HONE_TRY(read_value(p, hone_json_at(json, i), &items[i]));
        }
        *out = (hone_value){.kind = HONE_VALUE_LIST, .count = (uint32_t)count, .u.items = items};
        return HONE_OK;
    }
    case HONE_JSON_OBJECT: {
        hone_attr *items = hone_arena_zalloc(p->arena, (hone_json_count(json) + 1) * sizeof *items);
        if (!items) return HONE_NO_MEMORY("trace");
        void *cursor = NULL;
        const char *key = NULL;
        const hone_json *member = NULL;
        uint32_t count = 0;
        while (hone_json_next(json, &cursor, &key, &member)) {
            items[count].key = hone_arena_strdup(p->arena, key);
            if (!items[count].key) return HONE_NO_MEMORY("trace");
            HONE_TRY(read_value(p, member, &items[count++].value));
        }
        *out = (hone_value){.kind = HONE_VALUE_MAP, .count = count, .u.attrs = items};
        return HONE_OK;
    }
    }
    return HONE_OK;
}

/* Sampled integers may stand in an index map. */
static bool find_int(void *ctx, const char *name, uint32_t *out_count, const uint32_t **out_frees,
                     bool *out_is_tuple) {
    parser *p = ctx;
    uint64_t rv = 0;
    if (!hone_strmap_find(&p->names, name, &rv)) return false;
    if (p->trace->rv_kinds[rv] != HONE_RV_INT) return false;
    p->found = (uint32_t)rv;
    *out_frees = &p->found;
    *out_count = 1;
    *out_is_tuple = false;
    return true;
}

static hone_status read_map(parser *p, const char *text, hone_operand *out) {
    *out = (hone_operand){.kind = HONE_OPERAND_MAP};
    hone_status st = hone_index_map_parse_json(p->arena, text, find_int, p, &out->u.map);
    return hone_status_annotate(st, "step %u", p->at + 1);
}

/* A string among the inputs: a quoted string, nothing, an index map, or the name of a variable. */
static hone_status read_text_operand(parser *p, const char *text, hone_operand *out) {
    size_t length = strlen(text);
    if (text[0] == '{') return read_map(p, text, out);
    if (strcmp(text, "None") == 0) {
        *out = (hone_operand){.kind = HONE_OPERAND_NONE};
        return HONE_OK;
    }
    if (length >= 2 && text[0] == '"' && text[length - 1] == '"') {
        const char *copy = hone_arena_strndup(p->arena, text + 1, length - 2);
        *out = (hone_operand){.kind = HONE_OPERAND_STRING, .u.s = copy};
        return copy ? HONE_OK : HONE_NO_MEMORY("trace");
    }
    uint64_t rv = 0;
    if (hone_strmap_find(&p->names, text, &rv)) {
        *out = (hone_operand){.kind = HONE_OPERAND_RV, .u.rv = (hone_rv)rv};
        return HONE_OK;
    }
    return bad(p, "'%.100s' is not defined by an earlier step", text);
}

static hone_status read_operand(parser *p, const hone_json *json, hone_operand *out) {
    switch (hone_json_get_kind(json)) {
    case HONE_JSON_NULL:
        *out = (hone_operand){.kind = HONE_OPERAND_NONE};
        return HONE_OK;
    case HONE_JSON_INT:
        *out = (hone_operand){.kind = HONE_OPERAND_INT, .u.i = hone_json_i64(json)};
        return HONE_OK;
    case HONE_JSON_REAL:
        *out = (hone_operand){.kind = HONE_OPERAND_FLOAT, .u.f = hone_json_f64(json)};
        return HONE_OK;
    case HONE_JSON_TEXT:
        return read_text_operand(p, hone_json_text(json), out);
    case HONE_JSON_ARRAY: {
        size_t count = hone_json_count(json);
        hone_operand *items = hone_arena_zalloc(p->arena, (count + 1) * sizeof *items);
        if (!items) return HONE_NO_MEMORY("trace");
        for (size_t i = 0; i < count; i++) {
            HONE_TRY(read_operand(p, hone_json_at(json, i), &items[i]));
        }
        *out =
            (hone_operand){.kind = HONE_OPERAND_LIST, .count = (uint32_t)count, .u.items = items};
        return HONE_OK;
    }
    case HONE_JSON_BOOL:
    case HONE_JSON_OBJECT: {
        hone_value *value = hone_arena_zalloc(p->arena, sizeof *value);
        if (!value) return HONE_NO_MEMORY("trace");
        *out = (hone_operand){.kind = HONE_OPERAND_VALUE, .u.value = value};
        return read_value(p, json, value);
    }
    }
    return HONE_OK;
}

/* Plain data may be a list, where other lists hold variables. */
static hone_status list_to_value(parser *p, const char *name, hone_operand *io) {
    if (io->kind != HONE_OPERAND_LIST) return HONE_OK;
    hone_value *value = hone_arena_zalloc(p->arena, sizeof *value);
    const hone_operand *wrong;
    if (!value) return HONE_NO_MEMORY("trace");
    HONE_TRY(hone_operand_value(p->arena, io, value, &wrong));
    if (wrong) return bad(p, "'%s' is a list of variables", name);
    *io = (hone_operand){.kind = HONE_OPERAND_VALUE, .u.value = value};
    return HONE_OK;
}

/* The map among the attributes goes to its place among the inputs. */
static hone_status take_map_attr(parser *p, hone_inst_kind kind, uint32_t *io_input_count,
                                 hone_operand *inputs, uint32_t *io_attr_count, hone_value *attrs) {
    uint32_t input = 0, attr = 0;
    if (!hone_inst_has_map_attr(kind, &input, &attr)) return HONE_OK;
    if (attr >= *io_attr_count || input != *io_input_count) {
        return bad(p, "an input or an attribute is missing");
    }
    hone_value text = attrs[attr];
    memmove(&attrs[attr], &attrs[attr + 1], (*io_attr_count - attr - 1) * sizeof *attrs);
    --*io_attr_count;
    ++*io_input_count;
    inputs[input] = (hone_operand){.kind = HONE_OPERAND_NONE};
    if (text.kind == HONE_VALUE_STRING) return read_map(p, text.u.s, &inputs[input]);
    return text.kind == HONE_VALUE_NONE ? HONE_OK : bad(p, "an index map must be a text");
}

static hone_status define_outputs(parser *p, const hone_json *outputs, uint32_t first) {
    for (size_t i = 0; i < hone_json_count(outputs); i++) {
        const hone_json *name = hone_json_at(outputs, i);
        if (!hone_json_is(name, HONE_JSON_TEXT)) return bad(p, "an output must be a name");
        if (!hone_strmap_put(&p->names, hone_json_text(name), first + i))
            return HONE_NO_MEMORY("trace");
    }
    return HONE_OK;
}

static hone_status check_arity(const parser *p, hone_inst_kind kind, size_t inputs, size_t attrs) {
    uint32_t max_inputs = hone_inst_max_inputs(kind), max_attrs = hone_inst_max_attrs(kind);
    uint32_t map_input, map_attr;
    if (hone_inst_has_map_attr(kind, &map_input, &map_attr)) {
        max_inputs--;
        max_attrs++;
    }
    if (inputs > max_inputs) {
        return bad(p, "it has %zu inputs, takes at most %u", inputs, max_inputs);
    }
    if (attrs > max_attrs) {
        return bad(p, "it has %zu attributes, takes at most %u", attrs, max_attrs);
    }
    return HONE_OK;
}

static hone_status unknown_kind(const parser *p, const char *name) {
    const char *names[HONE_INST_COUNT];
    for (int i = 0; i < HONE_INST_COUNT; i++)
        names[i] = hone_inst_json_name((hone_inst_kind)i);
    const char *meant = hone_name_suggest(name, names, HONE_INST_COUNT, sizeof *names);
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "step %u: unknown kind '%.100s'%s%s%s", p->at + 1,
                      name, meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
}

static hone_status read_inst(parser *p, const hone_json *json) {
    p->kind = NULL;
    const hone_json *kind_name = hone_json_at(json, 0), *inputs = hone_json_at(json, 1);
    const hone_json *attrs = hone_json_at(json, 2), *outputs = hone_json_at(json, 3);
    if (hone_json_count(json) != 4 || !hone_json_is(kind_name, HONE_JSON_TEXT) ||
        !hone_json_is(inputs, HONE_JSON_ARRAY) || !hone_json_is(attrs, HONE_JSON_ARRAY) ||
        !hone_json_is(outputs, HONE_JSON_ARRAY)) {
        return bad(p, "must be [kind, inputs, attributes, outputs]");
    }
    hone_inst_kind kind;
    if (!hone_inst_find_json(hone_json_text(kind_name), &kind)) {
        return unknown_kind(p, hone_json_text(kind_name));
    }
    p->kind = hone_inst_json_name(kind);
    HONE_TRY(check_arity(p, kind, hone_json_count(inputs), hone_json_count(attrs)));
    uint32_t input_count = (uint32_t)hone_json_count(inputs);
    uint32_t attr_count = (uint32_t)hone_json_count(attrs);
    hone_operand *operands = hone_arena_zalloc(p->arena, (input_count + 2) * sizeof *operands);
    hone_value *values = hone_arena_zalloc(p->arena, (attr_count + 1) * sizeof *values);
    if (!operands || !values) return HONE_NO_MEMORY("trace");
    for (uint32_t i = 0; i < input_count; i++) {
        HONE_TRY(read_operand(p, hone_json_at(inputs, i), &operands[i]));
    }
    for (uint32_t i = 0; i < attr_count; i++) {
        HONE_TRY(read_value(p, hone_json_at(attrs, i), &values[i]));
        if (values[i].kind == HONE_VALUE_BOOL) values[i].kind = HONE_VALUE_INT; /* as TVM has it */
    }
    for (const hone_arg_spec *s = hone_inst_args(kind); s->place != HONE_ARG_END; s++) {
        if (s->place != HONE_ARG_DATA || s->index >= input_count) continue;
        HONE_TRY(list_to_value(p, s->name, &operands[s->index]));
    }
    HONE_TRY(take_map_attr(p, kind, &input_count, operands, &attr_count, values));
    uint32_t first = p->trace->rv_count;
    HONE_TRY(hone_trace_append(p->trace, kind, input_count, operands, attr_count, values,
                               (uint32_t)hone_json_count(outputs), hone_inst_output_kind(kind),
                               (hone_decision){0, NULL}));
    return define_outputs(p, outputs, first);
}

static hone_status read_decision(parser *p, const hone_json *json) {
    const hone_json *index = hone_json_at(json, 0), *value = hone_json_at(json, 1);
    if (hone_json_count(json) != 2 || !hone_json_is(index, HONE_JSON_INT)) {
        return HONE_ERROR(HONE_CODE_INVALID, "a decision must be [index, value]");
    }
    int64_t at = hone_json_i64(index);
    if (at < 0 || at >= p->trace->count) {
        return HONE_ERROR(HONE_CODE_INVALID, "decision for instruction %lld of %u, from 0",
                          (long long)at, p->trace->count);
    }
    if (!hone_inst_is_sampling(p->trace->insts[at].kind)) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "decision for instruction %lld (from 0), %s, which does not sample",
                          (long long)at, hone_inst_json_name(p->trace->insts[at].kind));
    }
    bool is_list = hone_json_is(value, HONE_JSON_ARRAY);
    size_t count = is_list ? hone_json_count(value) : 1;
    int64_t *values = hone_arena_zalloc(p->arena, (count + 1) * sizeof *values);
    if (!values) return HONE_NO_MEMORY("trace");
    for (size_t i = 0; i < count; i++) {
        const hone_json *item = is_list ? hone_json_at(value, i) : value;
        if (!hone_json_is(item, HONE_JSON_INT)) {
            return HONE_ERROR(HONE_CODE_INVALID,
                              "the decision for instruction %lld is not made of "
                              "integers",
                              (long long)at);
        }
        values[i] = hone_json_i64(item);
    }
    p->trace->decisions[at] = (hone_decision){(uint32_t)count, values};
    return HONE_OK;
}

static hone_status read_decisions(parser *p, const hone_json *decisions) {
    for (size_t i = 0; i < hone_json_count(decisions); i++)
        HONE_TRY(read_decision(p, hone_json_at(decisions, i)));
    return HONE_OK;
}

static hone_status read_trace(parser *p, const hone_json *json) {
    const hone_json *insts = hone_json_at(json, 0), *decisions = hone_json_at(json, 1);
    if (hone_json_count(json) != 2 || !hone_json_is(insts, HONE_JSON_ARRAY) ||
        !hone_json_is(decisions, HONE_JSON_ARRAY)) {
        return HONE_ERROR(HONE_CODE_INVALID, "a trace must be [instructions, decisions]");
    }
    if (hone_json_count(insts) > MAX_INSTRUCTIONS) {
        return HONE_ERROR(HONE_CODE_INVALID, "more than %d instructions", MAX_INSTRUCTIONS);
    }
    for (size_t i = 0; i < hone_json_count(insts); i++) {
        p->at = (uint32_t)i;
        HONE_TRY(read_inst(p, hone_json_at(insts, i)));
    }
    return read_decisions(p, decisions);
}

hone_status hone_trace_of_json(hone_arena *arena, const hone_json *json, hone_trace *out_trace) {
    hone_trace_init(out_trace, arena);
    parser p = {.arena = arena, .trace = out_trace};
    hone_status st = read_trace(&p, hone_record_trace(json));
    hone_strmap_deinit(&p.names);
    return st;
}

hone_status hone_trace_parse_json(hone_arena *arena, const char *text, size_t length,
                                  const char *source_name, hone_trace *out_trace) {
    hone_trace_init(out_trace, arena);
    hone_json *json = NULL;
    hone_status st = hone_json_parse(text, length, &json);
    if (!st) st = hone_trace_of_json(arena, json, out_trace);
    hone_json_destroy(json);
    return hone_status_annotate(st, "%s", source_name);
}

/* ---- decisions alone ---- */

/* Behind a string's closing quote; NULL: it has none. */
static const char *skip_string(const char *at) {
    for (at++; *at && *at != '"'; at++) {
        if (*at == '\\' && at[1]) at++;
    }
    return *at ? at + 1 : NULL;
}

/* Behind the list that begins at a bracket; NULL: it does not end. */
static const char *skip_list(const char *at) {
    int depth = 0;
    while (at && *at) {
        if (*at == '"') {
            at = skip_string(at);
            continue;
        }
        depth += (*at == '[') - (*at == ']');
        at++;
        if (depth == 0) return at;
    }
    return NULL;
}

static const char *skip_space(const char *at) {
    return at + strspn(at, " \t\r\n");
}

size_t hone_trace_json_head(const char *text) {
    const char *at = skip_space(text);
    if (*at != '[') return 0;
    at = skip_space(at + 1);
    const char *end = *at == '[' ? skip_list(at) : NULL;
    if (!end) return 0;
    end = skip_space(end);
    return *end == ',' ? (size_t)(end + 1 - text) : 0;
}

hone_status hone_trace_parse_decisions(const char *text, size_t head, hone_trace *io_trace) {
    const char *at = skip_space(text + head);
    const char *end = *at == '[' ? skip_list(at) : NULL;
    if (!end) return HONE_ERROR(HONE_CODE_INVALID, "a trace must be [instructions, decisions]");
    parser p = {.arena = io_trace->arena, .trace = io_trace};
    hone_json *json = NULL;
    HONE_TRY(hone_json_parse(at, (size_t)(end - at), &json));
    memset(io_trace->decisions, 0, io_trace->count * sizeof *io_trace->decisions);
    hone_status st = read_decisions(&p, json);
    hone_json_destroy(json);
    return st;
}
