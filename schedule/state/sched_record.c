/* schedule/state/sched_record.c - from what a step took to the inputs and attributes of its
 * instruction, by its traits; the other way goes replay/step_args.c. */
#include "schedule/state/schedule_impl.h"

typedef struct encoding {
    hone_arena *arena;
    hone_operand *inputs;
    uint32_t input_count;
    hone_value attrs[HONE_MAX_ARGS + 1];
    uint32_t attr_count;
    bool has_room;
} encoding;

static void add_input(encoding *e, hone_operand input) {
    e->inputs[e->input_count++] = input;
}

static void add_attr(encoding *e, hone_value attr) {
    e->attrs[e->attr_count++] = attr;
}

static hone_operand rv_operand(hone_rv rv) {
    return (hone_operand){.kind = HONE_OPERAND_RV, .u.rv = rv};
}

static hone_operand factor_operand(const hone_factor *factor) {
    switch (factor->kind) {
    case HONE_FACTOR_RV:
        return rv_operand(factor->rv);
    case HONE_FACTOR_INT:
        return (hone_operand){.kind = HONE_OPERAND_INT, .u.i = factor->value};
    case HONE_FACTOR_NONE:
        break;
    }
    return (hone_operand){.kind = HONE_OPERAND_NONE};
}

/* One input that is a list: of variables, or of integers. */
static void add_list(encoding *e, const hone_step_arg *arg, bool of_rvs) {
    hone_operand *items = hone_arena_alloc(e->arena, (arg->count + 1) * sizeof *items);
    for (uint32_t i = 0; items && i < arg->count; i++) {
        items[i] = of_rvs ? rv_operand(arg->list.rvs[i])
                          : (hone_operand){.kind = HONE_OPERAND_INT, .u.i = arg->list.numbers[i]};
    }
    e->has_room = e->has_room && items;
    add_input(e, (hone_operand){
                     .kind = HONE_OPERAND_LIST, .count = items ? arg->count : 0, .u.items = items});
}

static void add_values(encoding *e, const hone_step_arg *arg, bool of_reals) {
    hone_value *items = hone_arena_alloc(e->arena, (arg->count + 1) * sizeof *items);
    for (uint32_t i = 0; items && i < arg->count; i++) {
        items[i] = of_reals ? HONE_VALUE_OF_FLOAT(arg->list.reals[i])
                            : HONE_VALUE_OF_INT(arg->list.numbers[i]);
    }
    e->has_room = e->has_room && items;
    add_attr(e, (hone_value){
                    .kind = HONE_VALUE_LIST, .count = items ? arg->count : 0, .u.items = items});
}

static void add_text(encoding *e, const char *text) {
    text = hone_arena_strdup(e->arena, text);
    e->has_room = e->has_room && text;
    add_attr(e, HONE_VALUE_OF_STRING(text));
}

static void encode(encoding *e, hone_arg_place place, const hone_step_arg *arg) {
    switch (place) {
    case HONE_ARG_END:
    case HONE_ARG_DECISION:
        break;
    case HONE_ARG_INPUT:
        add_input(e, rv_operand(arg->rv));
        break;
    case HONE_ARG_TARGET:
        if (arg->rv == HONE_NO_ID) {
            add_list(e, arg, true);
        } else {
            add_input(e, rv_operand(arg->rv));
        }
        break;
    case HONE_ARG_REST:
        for (uint32_t i = 0; i < arg->count; i++)
            add_input(e, factor_operand(&arg->list.factors[i]));
        break;
    case HONE_ARG_VARARGS:
        for (uint32_t i = 0; i < arg->count; i++)
            add_input(e, rv_operand(arg->list.rvs[i]));
        break;
    case HONE_ARG_LIST:
    case HONE_ARG_BLOCKS:
        add_list(e, arg, place == HONE_ARG_BLOCKS);
        break;
    case HONE_ARG_DATA:
        add_input(e, arg->rv == HONE_NO_ID ? *arg->data : rv_operand(arg->rv));
        break;
    case HONE_ARG_BUF_TYPE:
        add_input(e, (hone_operand){.kind = HONE_OPERAND_INT, .u.i = arg->number});
        break;
    case HONE_ARG_MAP:
        add_input(e, arg->map ? (hone_operand){.kind = HONE_OPERAND_MAP, .u.map = arg->map}
                              : (hone_operand){.kind = HONE_OPERAND_NONE});
        break;
    case HONE_ARG_STRING:
    case HONE_ARG_FUNC:
        add_text(e, arg->text);
        break;
    case HONE_ARG_VALUES:
    case HONE_ARG_REALS:
        add_values(e, arg, place == HONE_ARG_REALS);
        break;
    case HONE_ARG_INT:
    case HONE_ARG_BOOL:
    case HONE_ARG_BUFFER:
    case HONE_ARG_ACCESS:
        add_attr(e, HONE_VALUE_OF_INT(arg->number));
        if (place == HONE_ARG_ACCESS) add_attr(e, HONE_VALUE_OF_INT(arg->is_write));
        break;
    }
}

hone_status sch_record_values(hone_schedule *sch, hone_inst_kind kind, const hone_step_arg *args,
                              uint32_t count, const hone_rv_value *values, hone_decision decision,
                              hone_rv *out_first) {
    const hone_arg_spec *specs = hone_inst_args(kind);
    encoding e; /* not cleared: replay is the hottest path of a search */
    uint32_t room = HONE_MAX_ARGS;
    e.arena = sch->arena;
    e.has_room = true;
    e.input_count = e.attr_count = 0;
    for (uint32_t i = 0; specs[i].place != HONE_ARG_END; i++)
        room += args[i].count;
    e.inputs = hone_arena_alloc(sch->arena, room * sizeof *e.inputs);
    if (!e.inputs || !sch_reserve_rvs(sch, count)) return sch_no_memory();
    for (uint32_t i = 0; specs[i].place != HONE_ARG_END; i++)
        encode(&e, specs[i].place, &args[i]);
    if (!e.has_room) return sch_no_memory();
    sch_settle_facts(sch);
    hone_rv first = sch->trace.rv_count;
    HONE_TRY(hone_trace_append(&sch->trace, kind, e.input_count, e.inputs, e.attr_count, e.attrs,
                               count, hone_inst_output_kind(kind), decision));
    for (uint32_t i = 0; i < count; i++)
        sch->rvs[first + i] = values[i];
    if (out_first) *out_first = first;
    return HONE_OK;
}

hone_status sch_record(hone_schedule *sch, hone_inst_kind kind, const hone_step_arg *args) {
    return sch_record_values(sch, kind, args, 0, NULL, SCH_NO_DECISION, NULL);
}

hone_status sch_record_node(hone_schedule *sch, hone_inst_kind kind, const hone_step_arg *args,
                            hone_node_id node, hone_rv *out) {
    hone_rv_value value = {.kind = hone_inst_output_kind(kind), .node = node};
    return sch_record_values(sch, kind, args, 1, &value, SCH_NO_DECISION, out);
}

hone_status sch_record_nodes(hone_schedule *sch, hone_inst_kind kind, const hone_step_arg *args,
                             uint32_t count, const hone_node_id *nodes, const hone_rv **out) {
    hone_rv_value *values = hone_arena_alloc(sch->arena, (count + 1) * sizeof *values);
    hone_rv *list = hone_arena_alloc(sch->arena, (count + 1) * sizeof *list), first = 0;
    if (!values || !list) return sch_no_memory();
    for (uint32_t i = 0; i < count; i++)
        values[i] = (hone_rv_value){.kind = hone_inst_output_kind(kind), .node = nodes[i]};
    HONE_TRY(sch_record_values(sch, kind, args, count, values, SCH_NO_DECISION, &first));
    for (uint32_t i = 0; i < count; i++)
        list[i] = first + i;
    if (out) *out = list;
    return HONE_OK;
}
