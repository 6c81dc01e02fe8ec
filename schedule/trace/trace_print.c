/* schedule/trace/trace_print.c - traces as the Python that TVM prints. */
#include <string.h>

#include "ir/text/map/index_map_print.h"
#include "schedule/trace/trace_args.h"
#include "support/core/number.h"

static void print_float(double value, hone_str *out) {
    char text[HONE_NUMBER_BYTES];
    hone_number_print(value, 1, text);
    hone_str_append(out, text);
    if (!strpbrk(text, ".einf")) hone_str_append(out, ".0");
}

static void print_string(const char *text, hone_str *out) {
    hone_str_append_quoted(out, text, strlen(text));
}

static void print_value(const hone_value *v, hone_str *out) {
    switch (v->kind) {
    case HONE_VALUE_NONE:
    case HONE_VALUE_EXPR:
    case HONE_VALUE_LAMBDA:
        hone_str_append(out, "None");
        break;
    case HONE_VALUE_BOOL:
        hone_str_append(out, v->u.i ? "True" : "False");
        break;
    case HONE_VALUE_INT:
        hone_str_printf(out, "%lld", (long long)v->u.i);
        break;
    case HONE_VALUE_FLOAT:
        print_float(v->u.f, out);
        break;
    case HONE_VALUE_STRING:
        print_string(v->u.s, out);
        break;
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
            print_string(v->u.attrs[i].key, out);
            hone_str_append(out, ": ");
            print_value(&v->u.attrs[i].value, out);
        }
        hone_str_append_char(out, '}');
        break;
    }
}

static void print_map(const hone_trace *trace, const hone_index_map *map, hone_str *out) {
    hone_arena *scratch = hone_arena_create(1024);
    const char *const *names = scratch ? hone_trace_free_names(trace, map, scratch) : NULL;
    hone_status st = names ? hone_index_map_print(map, names, out) : HONE_OK;
    if (!names || st) out->failed = true; /* NO_MEMORY is the only reason */
    hone_status_free(st);
    hone_arena_destroy(scratch);
}

static void print_operand(const hone_trace *trace, const hone_operand *o, hone_str *out);

static void print_operands(const hone_trace *trace, uint32_t count, const hone_operand *items,
                           hone_str *out) {
    for (uint32_t i = 0; i < count; i++) {
        if (i) hone_str_append(out, ", ");
        print_operand(trace, &items[i], out);
    }
}

static void print_operand(const hone_trace *trace, const hone_operand *o, hone_str *out) {
    switch (o->kind) {
    case HONE_OPERAND_RV:
        hone_trace_print_rv(trace, o->u.rv, out);
        break;
    case HONE_OPERAND_INT:
        hone_str_printf(out, "%lld", (long long)o->u.i);
        break;
    case HONE_OPERAND_FLOAT:
        print_float(o->u.f, out);
        break;
    case HONE_OPERAND_STRING:
        print_string(o->u.s, out);
        break;
    case HONE_OPERAND_NONE:
        hone_str_append(out, "None");
        break;
    case HONE_OPERAND_VALUE:
        print_value(o->u.value, out);
        break;
    case HONE_OPERAND_MAP:
        print_map(trace, o->u.map, out);
        break;
    case HONE_OPERAND_LIST:
        hone_str_append_char(out, '[');
        print_operands(trace, o->count, o->u.items, out);
        hone_str_append_char(out, ']');
        break;
    }
}

static void print_decision(const hone_trace *trace, uint32_t index, hone_str *out) {
    const hone_decision *d = &trace->decisions[index];
    bool is_list = hone_inst_decides_list(trace->insts[index].kind);
    if (is_list) hone_str_append_char(out, '[');
    for (uint32_t i = 0; i < d->count; i++) {
        hone_str_printf(out, "%s%lld", i ? ", " : "", (long long)d->values[i]);
    }
    if (is_list) hone_str_append_char(out, ']');
}

/* Is there anything to print for this argument? */
static bool is_present(const hone_trace *trace, uint32_t index, const hone_arg_spec *spec) {
    const hone_inst *inst = &trace->insts[index];
    switch (spec->place) {
    case HONE_ARG_INPUT:
    case HONE_ARG_DATA:
    case HONE_ARG_TARGET:
    case HONE_ARG_MAP:
    case HONE_ARG_BUF_TYPE:
        return spec->index < inst->input_count;
    case HONE_ARG_REST:
        return true;
    case HONE_ARG_VARARGS:
        return inst->input_count > 0;
    case HONE_ARG_LIST:
    case HONE_ARG_BLOCKS:
        return spec->index < inst->input_count &&
               inst->inputs[spec->index].kind == HONE_OPERAND_LIST &&
               (inst->inputs[spec->index].count > 0 || spec->is_required);
    case HONE_ARG_DECISION:
        return trace->decisions[index].count > 0;
    case HONE_ARG_END:
        return false;
    default:
        return spec->index < inst->attr_count;
    }
}

static void print_arg(const hone_trace *trace, uint32_t index, const hone_arg_spec *spec,
                      hone_str *out) {
    const hone_inst *inst = &trace->insts[index];
    if (spec->place == HONE_ARG_VARARGS) {
        print_operands(trace, inst->input_count, inst->inputs, out);
        return;
    }
    hone_str_printf(out, "%s=", spec->name);
    switch (spec->place) {
    case HONE_ARG_INPUT:
    case HONE_ARG_DATA:
    case HONE_ARG_TARGET:
    case HONE_ARG_MAP:
    case HONE_ARG_LIST:
    case HONE_ARG_BLOCKS:
        print_operand(trace, &inst->inputs[spec->index], out);
        break;
    case HONE_ARG_BUF_TYPE: {
        const hone_operand *o = &inst->inputs[spec->index];
        hone_str_append(out, o->kind == HONE_OPERAND_INT && o->u.i ? "\"write\"" : "\"read\"");
        break;
    }
    case HONE_ARG_REST:
        hone_str_append_char(out, '[');
        if (inst->input_count > spec->index) {
            print_operands(trace, inst->input_count - spec->index, inst->inputs + spec->index, out);
        }
        hone_str_append_char(out, ']');
        break;
    case HONE_ARG_DECISION:
        print_decision(trace, index, out);
        break;
    case HONE_ARG_ACCESS: {
        const hone_value *v = &inst->attrs[spec->index];
        bool is_plain = spec->index + 1 < inst->attr_count && v->kind == HONE_VALUE_INT;
        if (is_plain) hone_str_append(out, v[1].u.i ? "(\"write\", " : "(\"read\", ");
        print_value(v, out);
        if (is_plain) hone_str_append_char(out, ')');
        break;
    }
    case HONE_ARG_BOOL: {
        const hone_value *v = &inst->attrs[spec->index];
        bool is_true = (v->kind == HONE_VALUE_INT || v->kind == HONE_VALUE_BOOL) && v->u.i;
        hone_str_append(out, is_true ? "True" : "False");
        break;
    }
    default:
        print_value(&inst->attrs[spec->index], out);
        break;
    }
}

static hone_status print_inst(const hone_trace *trace, uint32_t index, bool is_classic,
                              hone_str *out) {
    const hone_inst *inst = &trace->insts[index];
    for (uint32_t i = 0; i < inst->output_count; i++) {
        if (i) hone_str_append(out, ", ");
        hone_trace_print_rv(trace, inst->first_output + i, out);
    }
    if (inst->output_count == 1 && hone_inst_gives_list(inst->kind)) hone_str_append(out, ",");
    if (inst->output_count) hone_str_append(out, " = ");
    hone_str_printf(out, "sch.%s(",
                    is_classic ? hone_inst_classic_name(inst->kind)
                               : hone_inst_python_name(inst->kind));
    bool is_first = true;
    for (const hone_arg_spec *spec = hone_inst_args(inst->kind); spec->place != HONE_ARG_END;
         spec++) {
        if (!is_present(trace, index, spec)) continue;
        if (!is_first) hone_str_append(out, ", ");
        is_first = false;
        print_arg(trace, index, spec, out);
    }
    hone_str_append(out, ")");
    return hone_str_check(out);
}

hone_status hone_inst_print_python(const hone_trace *trace, uint32_t index, hone_str *out) {
    return print_inst(trace, index, false, out);
}

hone_status hone_inst_print_classic(const hone_trace *trace, uint32_t index, hone_str *out) {
    return print_inst(trace, index, true, out);
}

static hone_status print_trace(const hone_trace *trace, bool is_classic, hone_str *out) {
    const char *room = is_classic ? "tir" : "s_tir";
    hone_str_printf(out, "# from tvm import %s\ndef apply_trace(sch: %s.Schedule) -> None:\n", room,
                    room);
    for (uint32_t i = 0; i < trace->count; i++) {
        hone_str_append(out, "  ");
        HONE_TRY(print_inst(trace, i, is_classic, out));
        hone_str_append_char(out, '\n');
    }
    if (trace->count == 0) hone_str_append(out, "  pass\n");
    return hone_str_check(out);
}

hone_status hone_trace_print_python(const hone_trace *trace, hone_str *out) {
    return print_trace(trace, false, out);
}

hone_status hone_trace_print_classic(const hone_trace *trace, hone_str *out) {
    return print_trace(trace, true, out);
}
