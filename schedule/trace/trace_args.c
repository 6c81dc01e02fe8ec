/* schedule/trace/trace_args.c - the table of instructions: rows of insts.def with the traits that
 * primitives' files have. It is the one thing of this room that points up. */
#include "schedule/trace/trace_args.h"

#include <string.h>

static const struct {
    const char *json, *python;
    const hone_inst_traits *traits;
} insts[] = {
#define HONE_INST(name, json, python) {json, python, &hone_traits_##name},
#include "schedule/trace/insts.def"
#undef HONE_INST
};

const hone_inst_traits *hone_inst_traits_of(hone_inst_kind kind) {
    return insts[kind].traits;
}

const hone_arg_spec *hone_inst_args(hone_inst_kind kind) {
    return insts[kind].traits->args;
}

/* ---- names ---- */

const char *hone_inst_json_name(hone_inst_kind kind) {
    return insts[kind].json;
}

const char *hone_inst_python_name(hone_inst_kind kind) {
    return insts[kind].python;
}

const char *hone_inst_classic_name(hone_inst_kind kind) {
    const char *old = insts[kind].traits->old_python;
    return old ? old : insts[kind].python;
}

static bool is_name(const char *name, const char *now, const char *old) {
    return strcmp(name, now) == 0 || (old && strcmp(name, old) == 0);
}

bool hone_inst_find_json(const char *name, hone_inst_kind *out_kind) {
    for (int i = 0; i < HONE_INST_COUNT; i++) {
        if (!is_name(name, insts[i].json, insts[i].traits->old_json)) continue;
        *out_kind = (hone_inst_kind)i;
        return true;
    }
    return false;
}

bool hone_inst_find_python(const char *name, hone_inst_kind *out_kind) {
    for (int i = 0; i < HONE_INST_COUNT; i++) {
        if (!is_name(name, insts[i].python, insts[i].traits->old_python)) continue;
        *out_kind = (hone_inst_kind)i;
        return true;
    }
    return false;
}

hone_status hone_inst_malformed(hone_inst_kind kind, const char *what) {
    return HONE_ERROR(HONE_CODE_INVALID, "%s: %s", hone_inst_json_name(kind), what);
}

void hone_trace_print_rv(const hone_trace *trace, hone_rv rv, hone_str *out) {
    hone_rv_kind kind = trace->rv_kinds[rv];
    char letter = kind == HONE_RV_BLOCK ? 'b' : kind == HONE_RV_LOOP ? 'l' : 'v';
    hone_str_printf(out, "%c%u", letter, rv);
}

const char *const *hone_trace_free_names(const hone_trace *trace, const hone_index_map *map,
                                         hone_arena *arena) {
    const char **texts = hone_arena_zalloc(arena, (map->free_count + 1) * sizeof *texts);
    for (uint32_t i = 0; i < map->free_count && texts; i++) {
        hone_str name = {0};
        hone_trace_print_rv(trace, map->frees[i], &name);
        texts[i] = name.failed ? NULL : hone_arena_strdup(arena, hone_str_text(&name));
        hone_str_deinit(&name);
        if (!texts[i]) return NULL;
    }
    return texts;
}

/* ---- arguments ---- */

/* How many attributes an argument takes. */
static uint32_t attr_width(const hone_arg_spec *spec) {
    return spec->place == HONE_ARG_ACCESS ? 2 : spec->place >= HONE_ARG_INT;
}

static bool is_input(const hone_arg_spec *spec) {
    return spec->place >= HONE_ARG_INPUT && spec->place < HONE_ARG_INT;
}

bool hone_inst_has_map_attr(hone_inst_kind kind, uint32_t *out_input, uint32_t *out_attr) {
    *out_attr = 0;
    for (const hone_arg_spec *s = hone_inst_args(kind); s->place != HONE_ARG_END; s++) {
        *out_input = s->index;
        if (s->is_attr_in_json) return true;
        *out_attr += attr_width(s);
    }
    return false;
}

uint32_t hone_inst_max_inputs(hone_inst_kind kind) {
    uint32_t count = 0;
    for (const hone_arg_spec *s = hone_inst_args(kind); s->place != HONE_ARG_END; s++) {
        if (s->place == HONE_ARG_REST || s->place == HONE_ARG_VARARGS) return HONE_ANY_COUNT;
        count += is_input(s);
    }
    return count;
}

uint32_t hone_inst_max_attrs(hone_inst_kind kind) {
    uint32_t count = 0;
    for (const hone_arg_spec *s = hone_inst_args(kind); s->place != HONE_ARG_END; s++)
        count += attr_width(s);
    return count;
}

/* ---- what it is, and gives ---- */

bool hone_inst_is_pure(hone_inst_kind kind) {
    return insts[kind].traits->is_pure;
}

bool hone_inst_is_sampling(hone_inst_kind kind) {
    for (const hone_arg_spec *s = hone_inst_args(kind); s->place != HONE_ARG_END; s++) {
        if (s->place == HONE_ARG_DECISION) return true;
    }
    return false;
}

bool hone_inst_is_unsafe(const hone_inst *inst) {
    for (const hone_arg_spec *s = hone_inst_args(inst->kind); s->place != HONE_ARG_END; s++) {
        if (!s->is_unsafe || s->index >= inst->attr_count) continue;
        const hone_value *v = &inst->attrs[s->index];
        if ((v->kind == HONE_VALUE_INT || v->kind == HONE_VALUE_BOOL) && v->u.i) return true;
    }
    return insts[inst->kind].traits->is_unsafe;
}

hone_rv_kind hone_inst_output_kind(hone_inst_kind kind) {
    static const hone_rv_kind kinds[] = {
        [HONE_GIVES_NOTHING] = HONE_RV_BLOCK, [HONE_GIVES_BLOCK] = HONE_RV_BLOCK,
        [HONE_GIVES_BLOCKS] = HONE_RV_BLOCK,  [HONE_GIVES_LOOP] = HONE_RV_LOOP,
        [HONE_GIVES_LOOPS] = HONE_RV_LOOP,    [HONE_GIVES_INT] = HONE_RV_INT,
        [HONE_GIVES_INTS] = HONE_RV_INT,
    };
    return kinds[insts[kind].traits->gives];
}

bool hone_inst_gives_list(hone_inst_kind kind) {
    return insts[kind].traits->gives >= HONE_GIVES_BLOCKS;
}

bool hone_inst_gives_nothing(hone_inst_kind kind) {
    return insts[kind].traits->gives == HONE_GIVES_NOTHING;
}

bool hone_inst_decides_list(hone_inst_kind kind) {
    return hone_inst_is_sampling(kind) && hone_inst_gives_list(kind);
}

bool hone_inst_count_results(const hone_inst *inst, int64_t *out_count) {
    const hone_inst_traits *traits = insts[inst->kind].traits;
    *out_count = !hone_inst_gives_nothing(inst->kind);
    if (!hone_inst_gives_list(inst->kind)) return true;
    if (traits->count_results) *out_count = traits->count_results(inst);
    return traits->count_results != NULL;
}

hone_status hone_operand_value(hone_arena *arena, const hone_operand *o, hone_value *out,
                               const hone_operand **out_bad) {
    *out_bad = NULL;
    switch (o->kind) {
    case HONE_OPERAND_INT:
        *out = HONE_VALUE_OF_INT(o->u.i);
        return HONE_OK;
    case HONE_OPERAND_FLOAT:
        *out = HONE_VALUE_OF_FLOAT(o->u.f);
        return HONE_OK;
    case HONE_OPERAND_STRING:
        *out = HONE_VALUE_OF_STRING(o->u.s);
        return HONE_OK;
    case HONE_OPERAND_NONE:
        *out = (hone_value){.kind = HONE_VALUE_NONE};
        return HONE_OK;
    case HONE_OPERAND_VALUE:
        *out = *o->u.value;
        return HONE_OK;
    case HONE_OPERAND_RV:
    case HONE_OPERAND_MAP:
        *out_bad = o;
        return HONE_OK;
    case HONE_OPERAND_LIST:
        break;
    }
    hone_value *items = hone_arena_zalloc(arena, (o->count + 1) * sizeof *items);
    if (!items) return HONE_ERROR(HONE_CODE_NO_MEMORY, "trace");
    for (uint32_t i = 0; i < o->count && !*out_bad; i++)
        HONE_TRY(hone_operand_value(arena, &o->u.items[i], &items[i], out_bad));
    *out = (hone_value){.kind = HONE_VALUE_LIST, .count = o->count, .u.items = items};
    return HONE_OK;
}
