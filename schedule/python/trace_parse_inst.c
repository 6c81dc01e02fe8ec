/* schedule/python/trace_parse_inst.c - the arguments of one call of the Python form become an
 * instruction, and its results values. */
#include <string.h>

#include "ir/core/grow.h"
#include "schedule/python/trace_parse_impl.h"
#include "schedule/replay/trace_apply.h"

uint32_t pytrace_arg_count(hone_inst_kind kind) {
    uint32_t count = 0;
    while (hone_inst_args(kind)[count].place != HONE_ARG_END)
        count++;
    return count;
}

typedef struct draft {
    hone_operand *inputs;
    uint32_t input_count, input_capacity;
    hone_value attrs[HONE_MAX_ARGS];
    uint32_t attr_count;
    hone_decision decision;
} draft;

/* Plain data from an operand: annotations and attribute lists hold no variables. */
static hone_status to_value(pytrace *p, const pytrace_call *c, const hone_operand *o,
                            hone_value *out) {
    const hone_operand *wrong;
    HONE_TRY(hone_operand_value(p->arena, o, out, &wrong));
    if (!wrong) return HONE_OK;
    return py_fail_at(&p->run, c->start,
                      wrong->kind == HONE_OPERAND_RV ? "expected a plain value, not a variable"
                                                     : "expected a plain value, not an expression");
}

static hone_status add_input(pytrace *p, draft *d, hone_operand o) {
    if (!hone_grow(p->arena, (void **)&d->inputs, &d->input_capacity, d->input_count,
                   sizeof *d->inputs)) {
        return py_no_memory();
    }
    d->inputs[d->input_count++] = o;
    return HONE_OK;
}

/* Items of a list, one level of lists inside flattened. */
static hone_status add_items(pytrace *p, draft *d, const hone_operand *items, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].kind == HONE_OPERAND_LIST) {
            HONE_TRY(add_items(p, d, items[i].u.items, items[i].count));
        } else {
            HONE_TRY(add_input(p, d, items[i]));
        }
    }
    return HONE_OK;
}

static hone_status read_decision(pytrace *p, const pytrace_call *c, const hone_operand *o,
                                 draft *d) {
    if (o->kind == HONE_OPERAND_NONE) return HONE_OK;
    const hone_operand *items = o->kind == HONE_OPERAND_LIST ? o->u.items : o;
    uint32_t count = o->kind == HONE_OPERAND_LIST ? o->count : 1;
    int64_t *values = hone_arena_alloc(p->arena, (count + 1) * sizeof *values);
    if (!values) return py_no_memory();
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].kind != HONE_OPERAND_INT) {
            return py_fail_at(&p->run, c->start,
                              "the decision must be an integer or a list of integers");
        }
        values[i] = items[i].u.i;
    }
    d->decision = (hone_decision){count, values};
    return HONE_OK;
}

static hone_status wrong_type(pytrace *p, const pytrace_call *c, const hone_arg_spec *spec,
                              const char *wanted) {
    const char *text = hone_arena_printf(p->arena, "argument '%s' must be %s", spec->name, wanted);
    return text ? py_fail_at(&p->run, c->start, text) : py_no_memory();
}

static hone_status add_attr(pytrace *p, const pytrace_call *c, uint32_t i, draft *d) {
    const hone_arg_spec *spec = &hone_inst_args(c->kind)[i];
    hone_value value = HONE_VALUE_OF_INT(spec->fallback);
    if (!c->given[i]) {
        bool is_working_on = spec->place == HONE_ARG_FUNC && p->working_on;
        const char *text = is_working_on ? p->working_on : spec->text_fallback;
        if (text) value = HONE_VALUE_OF_STRING(text);
    } else if (spec->text_fallback && c->args[i].kind == HONE_OPERAND_NONE) {
        value = HONE_VALUE_OF_STRING(spec->text_fallback);
    } else {
        HONE_TRY(to_value(p, c, &c->args[i], &value));
        bool is_int = value.kind == HONE_VALUE_INT || value.kind == HONE_VALUE_BOOL;
        bool is_name = spec->place == HONE_ARG_BUFFER && value.kind == HONE_VALUE_STRING;
        if (spec->place == HONE_ARG_BUFFER && !is_int && !is_name) {
            return wrong_type(p, c, spec, "the number or name of a buffer");
        }
        bool is_text = spec->place == HONE_ARG_STRING || spec->place == HONE_ARG_FUNC;
        if (is_text && value.kind != HONE_VALUE_STRING) {
            return wrong_type(p, c, spec, "a string");
        }
        bool is_list = spec->place == HONE_ARG_VALUES || spec->place == HONE_ARG_REALS;
        if (is_list && value.kind != HONE_VALUE_LIST) {
            return wrong_type(p, c, spec, "a list");
        }
        if ((spec->place == HONE_ARG_INT || spec->place == HONE_ARG_BOOL) && !is_int) {
            return wrong_type(p, c, spec, "an integer");
        }
        if (value.kind == HONE_VALUE_BOOL) value.kind = HONE_VALUE_INT;
    }
    d->attrs[spec->index] = value;
    if (spec->index >= d->attr_count) d->attr_count = spec->index + 1;
    return HONE_OK;
}

/* ("read", 0), or the name of a buffer, which stands alone. */
static hone_status add_access(pytrace *p, const pytrace_call *c, const hone_arg_spec *spec,
                              const hone_operand *o, draft *d) {
    hone_value *attrs = &d->attrs[spec->index];
    d->attr_count = spec->index + 2;
    attrs[1] = (hone_value){.kind = HONE_VALUE_NONE};
    if (o->kind == HONE_OPERAND_STRING) {
        attrs[0] = HONE_VALUE_OF_STRING(o->u.s);
        return HONE_OK;
    }
    bool fits = o->kind == HONE_OPERAND_LIST && o->count == 2 &&
                o->u.items[0].kind == HONE_OPERAND_STRING && o->u.items[1].kind == HONE_OPERAND_INT;
    bool is_write = fits && strcmp(o->u.items[0].u.s, "write") == 0;
    if (!fits || (!is_write && strcmp(o->u.items[0].u.s, "read") != 0)) {
        return wrong_type(p, c, spec, "(\"read\", number), (\"write\", number) or a name");
    }
    attrs[0] = HONE_VALUE_OF_INT(o->u.items[1].u.i);
    attrs[1] = HONE_VALUE_OF_INT(is_write);
    return HONE_OK;
}

/* A lambda; or a number, which is that of any index. */
static hone_status add_map(pytrace *p, const pytrace_call *c, uint32_t i, draft *d) {
    const hone_arg_spec *spec = &hone_inst_args(c->kind)[i];
    hone_operand o = c->args[i];
    hone_ir ir = {.arena = p->arena};
    const hone_expr *number = NULL;
    bool is_nothing = !c->given[i] || o.kind == HONE_OPERAND_NONE;
    if (is_nothing && !spec->is_required) {
        return add_input(p, d, (hone_operand){.kind = HONE_OPERAND_NONE});
    }
    if (o.kind == HONE_OPERAND_INT) number = hone_expr_i32(&ir, o.u.i);
    if (o.kind == HONE_OPERAND_FLOAT) number = hone_expr_float(&ir, HONE_DTYPE_F32, o.u.f);
    hone_status st = hone_ir_finish(&ir);
    if (hone_status_consume(st)) {
        return py_fail_at(&p->run, c->start, "a number does not fit an index");
    }
    if (number && !spec->is_required) {
        o.kind = HONE_OPERAND_MAP;
        o.u.map = hone_index_map_of_constant(p->arena, 0, number);
        if (!o.u.map) return py_no_memory();
    }
    if (o.kind != HONE_OPERAND_MAP) return wrong_type(p, c, spec, "a lambda or an index map");
    return add_input(p, d, o);
}

static hone_status add_buf_type(pytrace *p, const pytrace_call *c, const hone_arg_spec *spec,
                                const hone_operand *o, draft *d) {
    bool is_write = o->kind == HONE_OPERAND_STRING && strcmp(o->u.s, "write") == 0;
    if (!is_write && (o->kind != HONE_OPERAND_STRING || strcmp(o->u.s, "read") != 0)) {
        return wrong_type(p, c, spec, "\"read\" or \"write\"");
    }
    return add_input(p, d, (hone_operand){.kind = HONE_OPERAND_INT, .u.i = is_write});
}

/* A block by its name, as in sch.get_loops("C"), is a step of its own. */
static hone_status name_block(pytrace *p, hone_operand *io) {
    const char *func = p->working_on ? p->working_on : "main";
    hone_value attrs[] = {HONE_VALUE_OF_STRING(io->u.s), HONE_VALUE_OF_STRING(func)};
    *io = (hone_operand){.kind = HONE_OPERAND_RV, .u.rv = p->trace->rv_count};
    return hone_trace_append(p->trace, HONE_INST_GET_BLOCK, 0, NULL, 2, attrs, 1, HONE_RV_BLOCK,
                             (hone_decision){0, NULL});
}

/* consumer_blocks=[b0, "D"] */
static hone_status name_blocks(pytrace *p, hone_operand *io) {
    hone_operand *items = hone_arena_alloc(p->arena, (io->count + 1) * sizeof *items);
    if (!items) return py_no_memory();
    for (uint32_t i = 0; i < io->count; i++) {
        items[i] = io->u.items[i];
        if (items[i].kind == HONE_OPERAND_STRING) HONE_TRY(name_block(p, &items[i]));
    }
    io->u.items = items;
    return HONE_OK;
}

static bool is_for_block(const hone_arg_spec *spec) {
    bool is_node = spec->place == HONE_ARG_INPUT || spec->place == HONE_ARG_TARGET;
    return is_node && strcmp(spec->name, "loop") != 0;
}

/* An index map, where one cannot stand. */
static bool holds_map(const hone_operand *o) {
    if (o->kind == HONE_OPERAND_MAP) return true;
    for (uint32_t i = 0; o->kind == HONE_OPERAND_LIST && i < o->count; i++) {
        if (holds_map(&o->u.items[i])) return true;
    }
    return false;
}

static hone_status refuse_maps(pytrace *p, const pytrace_call *c, uint32_t i) {
    const hone_arg_spec *spec = &hone_inst_args(c->kind)[i];
    bool is_wrong = spec->place != HONE_ARG_MAP && c->given[i] && holds_map(&c->args[i]);
    for (uint32_t k = 0; spec->place == HONE_ARG_VARARGS && k < c->vararg_count; k++)
        is_wrong = is_wrong || holds_map(&c->varargs[k]);
    return is_wrong ? wrong_type(p, c, spec, "values, not expressions") : HONE_OK;
}

static hone_status add_data(pytrace *p, const pytrace_call *c, const hone_arg_spec *spec,
                            hone_operand given, draft *d) {
    if (given.kind == HONE_OPERAND_NONE) return wrong_type(p, c, spec, "a value");
    if (given.kind == HONE_OPERAND_LIST) {
        hone_value *value = hone_arena_alloc(p->arena, sizeof *value);
        if (!value) return py_no_memory();
        HONE_TRY(to_value(p, c, &given, value));
        given = (hone_operand){.kind = HONE_OPERAND_VALUE, .u.value = value};
    }
    return add_input(p, d, given);
}

static hone_status add_list(pytrace *p, const pytrace_call *c, uint32_t i, draft *d) {
    const hone_arg_spec *spec = &hone_inst_args(c->kind)[i];
    hone_operand list = {.kind = HONE_OPERAND_LIST};
    bool is_given = c->given[i] && c->args[i].kind != HONE_OPERAND_NONE;
    if (is_given && c->args[i].kind == HONE_OPERAND_LIST) list = c->args[i];
    if (is_given ? c->args[i].kind != HONE_OPERAND_LIST : spec->is_required)
        return wrong_type(p, c, spec, "a list");
    if (spec->place == HONE_ARG_BLOCKS) HONE_TRY(name_blocks(p, &list));
    return add_input(p, d, list);
}

static hone_status add_arg(pytrace *p, pytrace_call *c, uint32_t i, draft *d) {
    const hone_arg_spec *spec = &hone_inst_args(c->kind)[i];
    hone_operand *o = &c->args[i];
    HONE_TRY(refuse_maps(p, c, i));
    if (c->given[i] && is_for_block(spec) && o->kind == HONE_OPERAND_STRING) {
        HONE_TRY(name_block(p, o));
    }
    if (spec->is_required && !c->given[i]) {
        const char *text = hone_arena_printf(p->arena, "'%s' needs an argument '%s'",
                                             hone_inst_python_name(c->kind), spec->name);
        return text ? py_fail_at(&p->run, c->start, text) : py_no_memory();
    }
    switch (spec->place) {
    case HONE_ARG_INPUT:
        if (o->kind != HONE_OPERAND_RV) return wrong_type(p, c, spec, "a block or a loop");
        return add_input(p, d, *o);
    case HONE_ARG_ACCESS:
        return add_access(p, c, spec, o, d);
    case HONE_ARG_DATA:
        return add_data(p, c, spec, *o, d);
    case HONE_ARG_TARGET:
        if (o->kind != HONE_OPERAND_RV && o->kind != HONE_OPERAND_LIST) {
            return wrong_type(p, c, spec, "a block, a loop or a list of blocks");
        }
        return add_input(p, d, *o);
    case HONE_ARG_REST:
        if (o->kind != HONE_OPERAND_LIST) return wrong_type(p, c, spec, "a list");
        return add_items(p, d, o->u.items, o->count);
    case HONE_ARG_VARARGS:
        return add_items(p, d, c->varargs, c->vararg_count);
    case HONE_ARG_LIST:
    case HONE_ARG_BLOCKS:
        return add_list(p, c, i, d);
    case HONE_ARG_MAP:
        return add_map(p, c, i, d);
    case HONE_ARG_BUF_TYPE:
        return add_buf_type(p, c, spec, o, d);
    case HONE_ARG_DECISION:
        return c->given[i] ? read_decision(p, c, o, d) : HONE_OK;
    case HONE_ARG_END:
        return HONE_OK;
    default:
        return add_attr(p, c, i, d);
    }
}

/* How many results only the program knows. */
static hone_status ask_program(pytrace *p, const pytrace_call *c, const draft *d, uint32_t *out) {
    if (!pytrace_has_program(p)) {
        return py_fail_at(&p->run, c->start, "unpack the result: i, j, k = sch.get_loops(…)");
    }
    HONE_TRY(hone_trace_append(p->trace, c->kind, d->input_count, d->inputs, d->attr_count,
                               d->attrs, 0, hone_inst_output_kind(c->kind),
                               (hone_decision){0, NULL}));
    hone_status st = hone_trace_count_results(p->context, p->trace, out);
    p->is_refused =
        st && hone_status_code(st) != HONE_CODE_NO_MEMORY && hone_trace_is_decided(p->trace);
    if (!p->is_refused) p->trace->count--;
    return st;
}

/* How many results: as many as names, except where a list is one value. */
static hone_status count_outputs(pytrace *p, const pytrace_call *c, const draft *d, uint32_t wanted,
                                 uint32_t *out) {
    bool is_one_value = wanted == PYTRACE_ONE_VALUE;
    *out = wanted;
    if (hone_inst_gives_nothing(c->kind)) {
        *out = 0;
        bool is_spread = wanted != PYTRACE_IGNORED && !is_one_value;
        return is_spread ? py_fail_at(&p->run, c->start, "this step has no result") : HONE_OK;
    }
    if (!hone_inst_gives_list(c->kind)) {
        *out = 1;
        bool is_spread = wanted > 1 && !is_one_value;
        return is_spread ? py_fail_at(&p->run, c->start, "this step has one result") : HONE_OK;
    }
    const hone_inst inst = {.kind = c->kind,
                            .input_count = d->input_count,
                            .inputs = d->inputs,
                            .attr_count = d->attr_count,
                            .attrs = d->attrs};
    int64_t known;
    bool is_known = hone_inst_count_results(&inst, &known);
    if (is_known && hone_inst_decides_list(c->kind) && (known < 1 || known > 4096)) {
        return py_fail_at(&p->run, c->start, "n is out of range");
    }
    if (is_known && known > 4096) return py_fail_at(&p->run, c->start, "too many results");
    if (wanted == PYTRACE_IGNORED && !is_known) return HONE_OK; /* nobody wants it */
    if (wanted == PYTRACE_IGNORED || is_one_value) {
        *out = (uint32_t)known;
        return is_known ? HONE_OK : ask_program(p, c, d, out);
    }
    if (!is_known || known == wanted) return HONE_OK;
    const char *text =
        hone_arena_printf(p->arena, "%u names for %lld results", wanted, (long long)known);
    return text ? py_fail_at(&p->run, c->start, text) : py_no_memory();
}

/* A step by a map with separators is two steps: the map without them, and set_axis_separator. */
static hone_status take_separators(pytrace *p, hone_inst_kind kind, draft *d, hone_value *out) {
    const hone_index_map *map = NULL;
    hone_operand *input = NULL;
    *out = (hone_value){.kind = HONE_VALUE_LIST};
    for (uint32_t i = 0; i < pytrace_arg_count(kind); i++) {
        const hone_arg_spec *spec = &hone_inst_args(kind)[i];
        if (spec->takes_separators) input = &d->inputs[spec->index];
    }
    if (input) map = input->u.map;
    if (!map || !map->separator_count) return HONE_OK;
    hone_value *places = hone_arena_alloc(p->arena, map->separator_count * sizeof *places);
    hone_index_map *plain = hone_arena_alloc(p->arena, sizeof *plain);
    if (!places || !plain) return py_no_memory();
    for (uint32_t i = 0; i < map->separator_count; i++)
        places[i] = HONE_VALUE_OF_INT(map->separators[i]);
    out->count = map->separator_count;
    out->u.items = places;
    *plain = *map;
    plain->separator_count = 0;
    input->u.map = plain;
    return HONE_OK;
}

static hone_status add_separators(pytrace *p, const draft *d, hone_value places) {
    if (!places.count) return HONE_OK;
    hone_value attrs[3] = {d->attrs[0], d->attrs[1], places};
    return hone_trace_append(p->trace, HONE_INST_SET_AXIS_SEPARATOR, 1, d->inputs, 3, attrs, 0,
                             HONE_RV_BLOCK, (hone_decision){0, NULL});
}

/* The results as a value: a list, where there may be any number of them. */
static hone_status give_results(pytrace *p, const pytrace_call *c, uint32_t first, uint32_t count,
                                py_value *out) {
    *out = PYV_OF_NONE;
    if (hone_inst_gives_nothing(c->kind)) return HONE_OK;
    bool is_list = hone_inst_gives_list(c->kind);
    if (is_list) HONE_TRY(py_new_list(&p->run, PYV_LIST, out));
    for (uint32_t i = 0; i < count; i++) {
        const py_value rv = {.kind = PYTRACE_RV, .mark = p->epoch, .count = first + i};
        if (!is_list) {
            *out = rv;
        } else {
            HONE_TRY(py_append(&p->run, c->start, out, &rv));
        }
    }
    return HONE_OK;
}

hone_status pytrace_make_inst(pytrace *p, pytrace_call *c, uint32_t wanted, py_value *out) {
    draft d = {0};
    for (uint32_t i = 0; i < pytrace_arg_count(c->kind); i++)
        HONE_TRY(add_arg(p, c, i, &d));
    uint32_t outputs = 0;
    HONE_TRY(count_outputs(p, c, &d, wanted, &outputs));
    uint32_t first = p->trace->rv_count;
    hone_value separators;
    HONE_TRY(take_separators(p, c->kind, &d, &separators));
    HONE_TRY(hone_trace_append(p->trace, c->kind, d.input_count, d.inputs, d.attr_count, d.attrs,
                               outputs, hone_inst_output_kind(c->kind), d.decision));
    HONE_TRY(add_separators(p, &d, separators));
    HONE_TRY(give_results(p, c, first, outputs, out));
    bool is_pair = wanted != PYTRACE_ONE_VALUE && wanted != PYTRACE_IGNORED &&
                   out->kind == PYTRACE_RV; /* (a,) = … */
    const py_value one = *out;
    if (!is_pair) return HONE_OK;
    HONE_TRY(py_new_list(&p->run, PYV_LIST, out));
    return py_append(&p->run, c->start, out, &one);
}
