/* schedule/replay/step_args.c - from inputs and attributes to what a step takes, by the traits of
 * its instruction. All may come from a stranger's file, so that nothing is taken for granted. */
#include "schedule/replay/step_args.h"

#include <string.h>

#include "schedule/primitive/primitives.h"
#include "schedule/state/schedule_impl.h"

typedef struct reading {
    const replay *r;
    const hone_inst *inst;
    hone_rv block; /* the last variable before: whose buffers are counted */
} reading;

static hone_status malformed(const reading *w, const char *what) {
    return hone_inst_malformed(w->inst->kind, what);
}

/* ---- inputs ---- */

static const hone_operand *input_at(const reading *w, uint32_t i) {
    return i < w->inst->input_count ? &w->inst->inputs[i] : NULL;
}

static hone_status read_rvs(const reading *w, uint32_t count, const hone_operand *items,
                            hone_step_arg *out) {
    hone_rv *rvs = hone_arena_alloc(w->r->sch->arena, (count + 1) * sizeof *rvs);
    if (!rvs) return sch_no_memory();
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].kind != HONE_OPERAND_RV) {
            return malformed(w, "an input must be a block or a loop");
        }
        rvs[i] = w->r->map[items[i].u.rv];
    }
    out->count = count;
    out->list.rvs = rvs;
    return HONE_OK;
}

static hone_status read_variable(const reading *w, const hone_operand *o, hone_step_arg *out) {
    if (!o || o->kind != HONE_OPERAND_RV) return malformed(w, "an input must be a block or a loop");
    out->rv = w->r->map[o->u.rv];
    return HONE_OK;
}

/* All inputs from `first` on. */
static hone_status read_factors(const reading *w, uint32_t first, hone_step_arg *out) {
    uint32_t count = w->inst->input_count - first;
    hone_factor *factors = hone_arena_alloc(w->r->sch->arena, (count + 1) * sizeof *factors);
    if (!factors) return sch_no_memory();
    for (uint32_t i = 0; i < count; i++) {
        const hone_operand *o = &w->inst->inputs[first + i];
        bool is_none = o->kind == HONE_OPERAND_NONE ||
                       (o->kind == HONE_OPERAND_STRING && strcmp(o->u.s, "None") == 0);
        factors[i] = (hone_factor){.kind = HONE_FACTOR_NONE};
        if (o->kind == HONE_OPERAND_RV) {
            factors[i] = HONE_FACTOR_OF_RV(w->r->map[o->u.rv]);
        } else if (o->kind == HONE_OPERAND_INT) {
            factors[i] = HONE_FACTOR_OF_INT(o->u.i);
        } else if (!is_none) {
            return malformed(w, "a factor must be an integer, a variable or None");
        }
    }
    out->count = count;
    out->list.factors = factors;
    return HONE_OK;
}

static hone_status new_numbers(const reading *w, uint32_t count, int64_t **out_numbers,
                               hone_step_arg *out) {
    *out_numbers = hone_arena_alloc(w->r->sch->arena, (count + 1) * sizeof **out_numbers);
    out->count = count;
    out->list.numbers = *out_numbers;
    return *out_numbers ? HONE_OK : sch_no_memory();
}

static hone_status read_list(const reading *w, const hone_operand *o, hone_step_arg *out) {
    int64_t *numbers = NULL;
    bool is_list = o && o->kind == HONE_OPERAND_LIST;
    if (is_list) HONE_TRY(new_numbers(w, o->count, &numbers, out));
    for (uint32_t i = 0; is_list && i < o->count; i++) {
        is_list = o->u.items[i].kind == HONE_OPERAND_INT;
        numbers[i] = o->u.items[i].u.i;
    }
    return is_list ? HONE_OK : malformed(w, "an input must be a list of integers");
}

static hone_status read_data(const reading *w, const hone_operand *o, hone_step_arg *out) {
    if (!o) return malformed(w, "the value is missing");
    out->data = o;
    if (o->kind == HONE_OPERAND_RV) out->rv = w->r->map[o->u.rv];
    return HONE_OK;
}

static hone_status read_map(const reading *w, const hone_arg_spec *spec, const hone_operand *o,
                            hone_step_arg *out) {
    if (!o || o->kind == HONE_OPERAND_NONE) {
        return spec->is_required ? malformed(w, "the index map is missing") : HONE_OK;
    }
    hone_operand input = *o;
    if (o->kind != HONE_OPERAND_MAP) return malformed(w, "an input must be an index map");
    if (o->u.map->free_count && !hone_operand_renumber_map(w->r->sch->arena, &input, w->r->map)) {
        return sch_no_memory();
    }
    out->map = input.u.map;
    return HONE_OK;
}

static hone_status read_input(reading *w, const hone_arg_spec *spec, hone_step_arg *out) {
    const hone_operand *o = input_at(w, spec->index);
    bool is_list = o && o->kind == HONE_OPERAND_LIST;
    switch (spec->place) {
    case HONE_ARG_TARGET:
        if (is_list) return read_rvs(w, o->count, o->u.items, out);
        return read_variable(w, o, out);
    case HONE_ARG_REST:
        return read_factors(w, spec->index, out);
    case HONE_ARG_VARARGS:
        return read_rvs(w, w->inst->input_count, w->inst->inputs, out);
    case HONE_ARG_LIST:
        return read_list(w, o, out);
    case HONE_ARG_BLOCKS:
        return is_list ? read_rvs(w, o->count, o->u.items, out) : HONE_OK;
    case HONE_ARG_DATA:
        return read_data(w, o, out);
    case HONE_ARG_BUF_TYPE:
        if (!o || o->kind != HONE_OPERAND_INT) return malformed(w, "buf_type must be an integer");
        out->number = o->u.i;
        return HONE_OK;
    case HONE_ARG_MAP:
        return read_map(w, spec, o, out);
    default:
        HONE_TRY(read_variable(w, o, out));
        w->block = out->rv;
        return HONE_OK;
    }
}

/* ---- attributes ---- */

static const hone_value *attr_at(const reading *w, uint32_t i) {
    return i < w->inst->attr_count ? &w->inst->attrs[i] : NULL;
}

static hone_status read_int(const reading *w, uint32_t i, const hone_arg_spec *spec, int64_t *out) {
    const hone_value *v = attr_at(w, i);
    *out = spec->fallback;
    if (!v) return spec->is_required ? malformed(w, "an attribute is missing") : HONE_OK;
    if (v->kind != HONE_VALUE_INT && v->kind != HONE_VALUE_BOOL) {
        return malformed(w, "an attribute must be an integer");
    }
    *out = v->u.i;
    return HONE_OK;
}

static hone_status find_buffer(const reading *w, const char *name, bool is_write, int64_t *out) {
    hone_node_id node;
    HONE_TRY(sch_resolve_block(w->r->sch, w->block, &node));
    return sch_find_buffer(w->r->sch, node, name, is_write, out);
}

/* A number and whether it counts what is written, or a name: then of what is read, else written. */
static hone_status read_access(const reading *w, const hone_arg_spec *spec, hone_step_arg *out) {
    const hone_value *v = attr_at(w, spec->index);
    int64_t is_write = 0;
    if (v && v->kind == HONE_VALUE_STRING) {
        hone_status st = find_buffer(w, v->u.s, false, &out->number);
        out->is_write = hone_status_consume(st);
        return out->is_write ? find_buffer(w, v->u.s, true, &out->number) : HONE_OK;
    }
    HONE_TRY(read_int(w, spec->index, spec, &out->number));
    HONE_TRY(read_int(w, spec->index + 1, spec, &is_write));
    out->is_write = is_write != 0;
    return HONE_OK;
}

static hone_status read_values(const reading *w, const hone_value *list, hone_step_arg *out) {
    int64_t *numbers = NULL;
    bool is_list = list && list->kind == HONE_VALUE_LIST;
    if (is_list) HONE_TRY(new_numbers(w, list->count, &numbers, out));
    for (uint32_t i = 0; is_list && i < list->count; i++) {
        is_list = list->u.items[i].kind == HONE_VALUE_INT;
        numbers[i] = list->u.items[i].u.i;
    }
    return is_list ? HONE_OK : malformed(w, "an attribute must be a list of integers");
}

static hone_status read_reals(const reading *w, const hone_value *list, hone_step_arg *out) {
    bool is_list = list && list->kind == HONE_VALUE_LIST;
    out->count = is_list ? list->count : 0;
    double *reals = hone_arena_alloc(w->r->sch->arena, (out->count + 1) * sizeof *reals);
    if (!reals) return sch_no_memory();
    for (uint32_t i = 0; i < out->count && is_list; i++) {
        const hone_value *v = &list->u.items[i];
        is_list = v->kind == HONE_VALUE_FLOAT || v->kind == HONE_VALUE_INT;
        reals[i] = v->kind == HONE_VALUE_INT ? (double)v->u.i : v->u.f;
    }
    out->list.reals = reals;
    return is_list ? HONE_OK : malformed(w, "an attribute must be a list of numbers");
}

static hone_status read_attr(const reading *w, const hone_arg_spec *spec, hone_step_arg *out) {
    const hone_value *v = attr_at(w, spec->index);
    bool is_text = v && v->kind == HONE_VALUE_STRING;
    switch (spec->place) {
    case HONE_ARG_STRING:
        if (!is_text && (v || spec->is_required)) {
            return malformed(w, "an attribute must be a string");
        }
        out->text = v ? v->u.s : spec->text_fallback;
        return HONE_OK;
    case HONE_ARG_FUNC:
        out->text = is_text ? v->u.s : spec->text_fallback;
        return HONE_OK;
    case HONE_ARG_BUFFER:
        if (is_text) return find_buffer(w, v->u.s, spec->is_write, &out->number);
        return read_int(w, spec->index, spec, &out->number);
    case HONE_ARG_ACCESS:
        return read_access(w, spec, out);
    case HONE_ARG_VALUES:
        return read_values(w, v, out);
    case HONE_ARG_REALS:
        return read_reals(w, v, out);
    default:
        return read_int(w, spec->index, spec, &out->number);
    }
}

hone_status replay_read_args(const replay *r, const hone_inst *inst,
                             hone_step_arg args[HONE_MAX_ARGS]) {
    reading w = {.r = r, .inst = inst, .block = HONE_NO_ID};
    const hone_arg_spec *specs = hone_inst_args(inst->kind);
    for (uint32_t i = 0; specs[i].place != HONE_ARG_END; i++) {
        args[i] = (hone_step_arg){.rv = HONE_NO_ID};
        if (specs[i].place >= HONE_ARG_INT) {
            HONE_TRY(read_attr(&w, &specs[i], &args[i]));
        } else if (specs[i].place != HONE_ARG_DECISION) {
            HONE_TRY(read_input(&w, &specs[i], &args[i]));
        }
    }
    return HONE_OK;
}
