/* schedule/python/trace_parse_call.c - one call of the Python form: what is called, and with which
 * arguments, by name or by place. */
#include <string.h>

#include "ir/core/grow.h"
#include "schedule/python/trace_parse_impl.h"
#include "support/text/nearest.h"

/* ---- calls ---- */

/* No argument has this name. */
static hone_status fail_keyword(pytrace *p, const pytrace_call *c, const char *keyword) {
    const hone_arg_spec *specs = hone_inst_args(c->kind);
    const char *meant =
        hone_name_suggest(keyword, specs, pytrace_arg_count(c->kind), sizeof *specs);
    for (uint32_t i = 0; !meant && strlen(keyword) > 3 && i < pytrace_arg_count(c->kind); i++)
        meant = strstr(specs[i].name, keyword) ? specs[i].name : NULL; /* scope: storage_scope */
    const char *hint = meant ? hone_arena_printf(p->arena, "; did you mean '%s'?", meant) : "";
    const char *text = hone_arena_printf(p->arena, "'%s' has no argument '%s'%s",
                                         hone_inst_python_name(c->kind), keyword, hint ? hint : "");
    return text ? py_fail_at(&p->run, c->where, text) : py_no_memory();
}

static hone_status store_arg(pytrace *p, pytrace_call *c, const char *keyword, uint32_t position,
                             hone_operand value) {
    const hone_arg_spec *specs = hone_inst_args(c->kind);
    uint32_t count = pytrace_arg_count(c->kind), i = position;
    if (keyword) {
        for (i = 0; i < count && strcmp(specs[i].name, keyword) != 0;)
            i++;
        /* TVM calls the same thing by several names */
        if (i == count && count && specs[0].place == HONE_ARG_INPUT &&
            (strcmp(keyword, "block") == 0 || strcmp(keyword, "loop") == 0 ||
             strcmp(keyword, "block_or_loop") == 0)) {
            i = 0;
        }
    } else if (count && specs[0].place == HONE_ARG_VARARGS) {
        if (!hone_grow(p->arena, (void **)&c->varargs, &c->vararg_capacity, c->vararg_count,
                       sizeof *c->varargs)) {
            return py_no_memory();
        }
        c->varargs[c->vararg_count++] = value;
        return HONE_OK;
    }
    if (i >= count && keyword) return fail_keyword(p, c, keyword);
    if (i >= count) {
        const char *text =
            hone_arena_printf(p->arena, "'%s' takes at most %u argument%s",
                              hone_inst_python_name(c->kind), count, count == 1 ? "" : "s");
        return text ? py_fail_at(&p->run, c->where, text) : py_no_memory();
    }
    if (c->given[i]) {
        const char *text =
            hone_arena_printf(p->arena, "argument '%s' is given twice", specs[i].name);
        return text ? py_fail_at(&p->run, c->where, text) : py_no_memory();
    }
    c->args[i] = value;
    c->given[i] = true;
    return HONE_OK;
}

/* A function of the text stands for the index map that it returns. */
static hone_status eval_operand(pytrace *p, const py_node *node, hone_operand *out) {
    py_value value;
    HONE_TRY(py_eval(&p->run, node, &value));
    if (value.kind == PYV_FUNC) {
        HONE_TRY(pytrace_map_of_func(p, node->at, value.u.func, &value));
    }
    return pytrace_to_operand(p, node->at, &value, out);
}

/* "*loops": a list stands for its items. */
static hone_status store_all(pytrace *p, pytrace_call *c, const py_node *node,
                             uint32_t *io_position) {
    const py_value *items;
    py_value list;
    uint32_t count;
    HONE_TRY(py_eval(&p->run, node, &list));
    HONE_TRY(py_iterate(&p->run, node->at, &list, &items, &count));
    for (uint32_t i = 0; i < count; i++) {
        hone_operand operand;
        HONE_TRY(pytrace_to_operand(p, node->at, &items[i], &operand));
        HONE_TRY(store_arg(p, c, NULL, (*io_position)++, operand));
    }
    return HONE_OK;
}

static hone_status read_args(pytrace *p, const py_node *node, pytrace_call *c) {
    uint32_t position = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        const py_node *arg = node->items[i];
        bool has_word = arg->kind == PY_KEYWORD;
        hone_operand operand;
        c->where = arg->kind == PY_STAR ? arg->base->at : arg->at;
        if (arg->kind == PY_STAR) {
            HONE_TRY(store_all(p, c, arg->base, &position));
            continue;
        }
        HONE_TRY(eval_operand(p, has_word ? arg->base : arg, &operand));
        HONE_TRY(store_arg(p, c, has_word ? arg->name : NULL, position++, operand));
    }
    return HONE_OK;
}

bool pytrace_is_step(pytrace *p, const py_node *node) {
    hone_inst_kind kind;
    bool is_member = node->kind == PY_CALL && node->base->kind == PY_ATTRIBUTE &&
                     node->base->base->kind == PY_NAME;
    const py_value *schedule = is_member ? py_find(&p->run, node->base->base->name) : NULL;
    return schedule && schedule->kind == PYTRACE_SCHEDULE && schedule->mark == p->epoch &&
           hone_inst_find_python(node->base->name, &kind);
}

static hone_status unknown_step(pytrace *p, const py_node *member) {
    const char *names[HONE_INST_COUNT];
    for (int i = 0; i < HONE_INST_COUNT; i++)
        names[i] = hone_inst_python_name((hone_inst_kind)i);
    const char *meant = hone_name_suggest(member->name, names, HONE_INST_COUNT, sizeof *names);
    const char *hint = meant ? hone_arena_printf(p->arena, "; did you mean '%s'?", meant) : "";
    return py_fail_about(&p->run, member->mark, "unknown step ", member->name, hint ? hint : "");
}

hone_status pytrace_read_step(pytrace *p, const py_node *node, uint32_t wanted, py_value *out) {
    pytrace_call c = {.start = node->base->mark};
    if (!hone_inst_find_python(node->base->name, &c.kind)) return unknown_step(p, node->base);
    HONE_TRY(read_args(p, node, &c));
    return pytrace_make_inst(p, &c, wanted, out);
}

/* ---- what is no step ---- */

void pytrace_begin_schedule(pytrace *p, py_value *out) {
    hone_trace_init(p->trace, p->arena);
    p->epoch++;
    *out = (py_value){.kind = PYTRACE_SCHEDULE, .mark = p->epoch};
}

/* sch.work_on("main") names the function for the get_sblock that follow. */
static hone_status read_work_on(pytrace *p, const py_node *node) {
    uint32_t start = node->base->mark;
    py_args args;
    HONE_TRY(py_eval_args(&p->run, node, &args));
    const py_value *name = py_keyword(&args, "func_name");
    if (args.keyword_count > (name != NULL)) {
        return py_fail_at(&p->run, start, "'work_on' has one argument, func_name");
    }
    if (!name && args.count == 1) name = &args.items[0];
    if (!name || name->kind != PYV_STRING) {
        return py_fail_at(&p->run, start, "work_on takes the name of a function and gives nothing");
    }
    p->working_on = name->u.s;
    return HONE_OK;
}

static hone_status check_epoch(pytrace *p, const py_node *member, const py_value *v) {
    if (v->mark == p->epoch) return HONE_OK;
    return py_fail_at(&p->run, member->mark,
                      "this schedule was followed by another one; only the last that is begun is "
                      "applied");
}

hone_status pytrace_read_part(pytrace *p, const py_node *node, py_value *io) {
    static const char *const parts[] = {"mod", "trace", "state", "func_working_on"};
    HONE_TRY(check_epoch(p, node, io));
    for (size_t i = 0; i < HONE_COUNT(parts); i++) {
        if (strcmp(node->name, parts[i]) != 0) continue;
        *io = PYV_OF_UNKNOWN(parts[i]);
        return HONE_OK;
    }
    hone_inst_kind kind;
    if (!hone_inst_find_python(node->name, &kind)) return unknown_step(p, node);
    return py_fail_at(&p->run, node->end, "expected '('");
}

hone_status pytrace_read_member(pytrace *p, const py_node *node, py_value *io) {
    const char *name = node->base->name;
    py_args ignored;
    HONE_TRY(check_epoch(p, node->base, io));
    *io = PYV_OF_NONE;
    if (strcmp(name, "get") == 0) return pytrace_read_get(p, node, io);
    if (strcmp(name, "work_on") == 0) return read_work_on(p, node);
    if (strcmp(name, "show") == 0 || strcmp(name, "seed") == 0) {
        return py_eval_args(&p->run, node, &ignored);
    }
    if (strcmp(name, "copy") == 0) {
        return py_fail_at(&p->run, node->base->mark,
                          "a trace has one schedule: begin it anew with tvm.s_tir.Schedule(mod) in "
                          "place of a copy");
    }
    return pytrace_read_step(p, node, PYTRACE_ONE_VALUE, io);
}
