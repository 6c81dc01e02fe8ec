/* schedule/trace/trace_parts.c - tells which function each step of a trace works on. */
#include "schedule/trace/trace_parts.h"

#include <inttypes.h>
#include <string.h>

#include "ir/core/module.h"

typedef struct splitter {
    hone_arena *arena;
    const hone_trace *trace;
    const hone_trace_context *context;
    hone_trace_parts *out;
    uint32_t *of_rv; /* index into out->items, or HONE_NO_ID */
} splitter;

/* ---- functions by name ---- */

/* What a block is looked for in when its step says "main" or nothing. */
static hone_status default_func(const splitter *s, uint32_t step, const hone_func **out) {
    const hone_member *member;
    *out = s->context->func;
    if (*out) return HONE_OK;
    hone_status none = hone_module_pick(s->context->module, NULL, &member);
    hone_status st =
        HONE_ERROR(HONE_CODE_INVALID,
                   "step %" PRIu32 " means 'main': %s; name another with func_name=, or --func",
                   step + 1, none ? hone_status_message(none) : "it is no tensor program");
    hone_status_free(none);
    return st;
}

static hone_status func_of_name(const splitter *s, uint32_t step, const char *name,
                                const hone_func **out) {
    *out = s->context->func;
    if (*out && (strcmp(name, "main") == 0 || strcmp(name, (*out)->name) == 0)) return HONE_OK;
    const hone_member *member =
        s->context->module ? hone_module_find(s->context->module, name) : NULL;
    if (!member && strcmp(name, "main") == 0) return default_func(s, step, out);
    if (!member) return HONE_OK; /* get_block says what is wrong */
    if (member->kind != HONE_MEMBER_FUNC) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "step %" PRIu32 ": '%s' is no tensor program (T.prim_func)", step + 1,
                          name);
    }
    *out = member->func;
    return HONE_OK;
}

static hone_status part_of_func(splitter *s, const hone_func *func, uint32_t *out) {
    for (*out = 0; *out < s->out->count; ++*out) {
        if (s->out->items[*out].func == func) return HONE_OK;
    }
    bool *left_out = hone_arena_alloc(s->arena, (size_t)s->trace->count + 1);
    if (!left_out) return HONE_NO_MEMORY("trace");
    memset(left_out, true, (size_t)s->trace->count + 1);
    s->out->items[s->out->count++] = (hone_trace_part){func, left_out};
    return HONE_OK;
}

static hone_status part_of_block(splitter *s, uint32_t step, uint32_t *out) {
    const hone_inst *inst = &s->trace->insts[step];
    const hone_func *func;
    if (inst->attr_count > 1 && inst->attrs[1].kind == HONE_VALUE_STRING) {
        HONE_TRY(func_of_name(s, step, inst->attrs[1].u.s, &func));
    } else {
        HONE_TRY(default_func(s, step, &func));
    }
    if (!func) {
        return HONE_ERROR(HONE_CODE_INVALID, "step %" PRIu32 ": the module has no function '%s'",
                          step + 1, inst->attrs[1].u.s);
    }
    return part_of_func(s, func, out);
}

/* ---- steps ---- */

static hone_status meet(const splitter *s, uint32_t step, hone_rv rv, uint32_t *io_part) {
    uint32_t part = rv < s->trace->rv_count ? s->of_rv[rv] : HONE_NO_ID;
    if (part == HONE_NO_ID || part == *io_part) return HONE_OK;
    if (*io_part != HONE_NO_ID) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "step %" PRIu32 " mixes what is of function '%s' and of function '%s'",
                          step + 1, s->out->items[*io_part].func->name,
                          s->out->items[part].func->name);
    }
    *io_part = part;
    return HONE_OK;
}

static hone_status meet_operands(const splitter *s, uint32_t step, uint32_t count,
                                 const hone_operand *operands, uint32_t *io_part) {
    for (uint32_t i = 0; i < count; i++) {
        const hone_operand *o = &operands[i];
        if (o->kind == HONE_OPERAND_RV) HONE_TRY(meet(s, step, o->u.rv, io_part));
        if (o->kind == HONE_OPERAND_LIST) {
            HONE_TRY(meet_operands(s, step, o->count, o->u.items, io_part));
        }
    }
    return HONE_OK;
}

static hone_status split(splitter *s) {
    for (uint32_t i = 0; i < s->trace->count; i++) {
        const hone_inst *inst = &s->trace->insts[i];
        uint32_t part = HONE_NO_ID;
        HONE_TRY(inst->kind == HONE_INST_GET_BLOCK
                     ? part_of_block(s, i, &part)
                     : meet_operands(s, i, inst->input_count, inst->inputs, &part));
        s->out->of_inst[i] = part;
        for (uint32_t k = 0; k < inst->output_count; k++)
            s->of_rv[inst->first_output + k] = part;
    }
    if (s->out->count > 0) return HONE_OK;
    const hone_func *func;
    uint32_t ignored;
    HONE_TRY(default_func(s, 0, &func));
    return part_of_func(s, func, &ignored);
}

hone_status hone_trace_split_parts(hone_arena *arena, const hone_trace *trace,
                                   const hone_trace_context *context, hone_trace_parts *out) {
    splitter s = {.arena = arena, .trace = trace, .context = context, .out = out};
    size_t members = context->module ? context->module->member_count : 0;
    *out = (hone_trace_parts){0};
    out->items = hone_arena_alloc(arena, (members + 1) * sizeof *out->items);
    out->of_inst = hone_arena_alloc(arena, ((size_t)trace->count + 1) * sizeof *out->of_inst);
    s.of_rv = hone_arena_alloc(arena, ((size_t)trace->rv_count + 1) * sizeof *s.of_rv);
    if (!out->items || !out->of_inst || !s.of_rv) return HONE_NO_MEMORY("trace");
    for (uint32_t rv = 0; rv < trace->rv_count; rv++)
        s.of_rv[rv] = HONE_NO_ID;
    HONE_TRY(split(&s));
    for (uint32_t i = 0; i < trace->count; i++) {
        for (uint32_t p = 0; p < out->count; p++) {
            bool is_its = out->of_inst[i] == p || out->of_inst[i] == HONE_NO_ID;
            out->items[p].is_left_out[i] = !is_its;
        }
    }
    return HONE_OK;
}

hone_status hone_trace_part_of(hone_arena *arena, const hone_trace *trace,
                               const hone_trace_context *context, uint32_t inst,
                               hone_trace_part *out) {
    hone_trace_parts parts;
    *out = (hone_trace_part){.func = context->func};
    if (!context->module) return HONE_OK;
    HONE_TRY(hone_trace_split_parts(arena, trace, context, &parts));
    uint32_t part = parts.of_inst[inst];
    *out = parts.items[part == HONE_NO_ID ? 0 : part];
    return HONE_OK;
}

/* ---- names for others ---- */

static hone_status name_func(hone_arena *arena, hone_inst *inst, const char *name) {
    hone_value *attrs = hone_arena_zalloc(arena, 2 * sizeof *attrs);
    const char *copy = hone_arena_strdup(arena, name);
    if (!attrs || !copy) return HONE_NO_MEMORY("trace");
    attrs[0] = inst->attrs[0];
    attrs[1] = HONE_VALUE_OF_STRING(copy);
    inst->attrs = attrs;
    inst->attr_count = 2;
    return HONE_OK;
}

hone_status hone_trace_name_funcs(hone_arena *arena, const hone_trace *trace,
                                  const hone_trace_part *parts, const uint32_t *of_inst,
                                  hone_trace *out) {
    if (!hone_trace_copy(arena, trace, out)) return HONE_NO_MEMORY("trace");
    for (uint32_t i = 0; i < out->count; i++) {
        if (out->insts[i].kind != HONE_INST_GET_BLOCK || !out->insts[i].attr_count) continue;
        uint32_t part = of_inst ? of_inst[i] : 0;
        HONE_TRY(name_func(arena, &out->insts[i], parts[part].func->name));
    }
    return HONE_OK;
}
