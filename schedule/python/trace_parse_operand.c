/* schedule/python/trace_parse_operand.c - what becomes of values of a text in a step. */
#include "schedule/python/trace_parse_impl.h"
#include "schedule/trace/trace_args.h"

static hone_status to_operand(pytrace *p, uint32_t where, const py_value *v, uint32_t depth,
                              hone_operand *out);

static hone_status plain_value(pytrace *p, hone_value value, hone_operand *out) {
    hone_value *copy = hone_arena_alloc(p->arena, sizeof *copy);
    if (!copy) return py_no_memory();
    *copy = value;
    *out = (hone_operand){.kind = HONE_OPERAND_VALUE, .u.value = copy};
    return HONE_OK;
}

static hone_status dict_operand(pytrace *p, uint32_t where, const py_value *v, uint32_t depth,
                                hone_operand *out) {
    const py_list *list = v->u.list;
    hone_attr *items = hone_arena_zalloc(p->arena, (list->count + 1) * sizeof *items);
    if (!items) return py_no_memory();
    for (uint32_t i = 0; i < list->count; i++) {
        hone_operand item;
        const hone_operand *wrong;
        if (list->keys[i].kind != PYV_STRING) {
            return py_fail_at(&p->run, where, "the key must be a string");
        }
        HONE_TRY(to_operand(p, where, &list->items[i], depth + 1, &item));
        items[i].key = list->keys[i].u.s;
        HONE_TRY(hone_operand_value(p->arena, &item, &items[i].value, &wrong));
        if (wrong) return py_fail_at(&p->run, where, "expected a plain value, not a variable");
    }
    return plain_value(
        p, (hone_value){.kind = HONE_VALUE_MAP, .count = list->count, .u.attrs = items}, out);
}

static hone_status list_operand(pytrace *p, uint32_t where, const py_value *v, uint32_t depth,
                                hone_operand *out) {
    const py_value *from = NULL;
    uint32_t count = 0;
    py_items(v, &from, &count);
    hone_operand *items = hone_arena_alloc(p->arena, (count + 1) * sizeof *items);
    if (!items) return py_no_memory();
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(to_operand(p, where, &from[i], depth + 1, &items[i]));
    *out = (hone_operand){.kind = HONE_OPERAND_LIST, .count = count, .u.items = items};
    return HONE_OK;
}

/* A variable, or a map that may have some. */
static hone_status rv_operand(pytrace *p, uint32_t where, const py_value *v, hone_operand *out) {
    bool has_variables = v->kind == PYTRACE_RV || pytrace_map_of(v)->free_count;
    if (has_variables && v->mark != p->epoch) {
        return py_fail_at(&p->run, where, "this belongs to a schedule that was begun before");
    }
    *out = (hone_operand){.kind = HONE_OPERAND_RV, .u.rv = v->count};
    if (v->kind == PYTRACE_MAP) {
        *out = (hone_operand){.kind = HONE_OPERAND_MAP, .u.map = pytrace_map_of(v)};
    }
    return HONE_OK;
}

static hone_status to_operand(pytrace *p, uint32_t where, const py_value *v, uint32_t depth,
                              hone_operand *out) {
    if (depth > PY_MAX_NESTING) return py_fail_at(&p->run, where, "nested too deeply");
    switch (v->kind) {
    case PYV_NONE:
        *out = (hone_operand){.kind = HONE_OPERAND_NONE};
        return HONE_OK;
    case PYV_BOOL:
        return plain_value(p, HONE_VALUE_OF_BOOL(v->u.i), out);
    case PYV_INT:
        *out = (hone_operand){.kind = HONE_OPERAND_INT, .u.i = v->u.i};
        return HONE_OK;
    case PYV_FLOAT:
        *out = (hone_operand){.kind = HONE_OPERAND_FLOAT, .u.f = v->u.f};
        return HONE_OK;
    case PYV_STRING:
        *out = (hone_operand){.kind = HONE_OPERAND_STRING, .u.s = v->u.s};
        return HONE_OK;
    case PYV_TUPLE:
    case PYV_LIST:
        return list_operand(p, where, v, depth, out);
    case PYV_DICT:
        return dict_operand(p, where, v, depth, out);
    case PYV_UNKNOWN:
        return py_fail_about(&p->run, where, "", v->u.s, " is nothing that a step takes");
    case PYV_FUNC:
        return py_fail_about(&p->run, where, "the function ", v->u.func->def->name,
                             " is nothing that a step takes");
    case PYV_RECORD:
        return py_fail_at(&p->run, where,
                          "what sch.get tells is nothing that a step takes; hand over what it was "
                          "asked about");
    default:
        break;
    }
    if (v->kind == PYTRACE_SCHEDULE) {
        return py_fail_at(&p->run, where, "a schedule is nothing that a step takes");
    }
    return rv_operand(p, where, v, out);
}

hone_status pytrace_to_operand(pytrace *p, uint32_t where, const py_value *v, hone_operand *out) {
    return to_operand(p, where, v, 0, out);
}
