/* schedule/trace/trace.c - traces as data: appending, copying, dropping what nobody needs. */
#include "schedule/trace/trace.h"

#include <string.h>

#include "ir/core/grow.h"

void hone_trace_init(hone_trace *trace, hone_arena *arena) {
    *trace = (hone_trace){.arena = arena};
}

bool hone_trace_is_decided(const hone_trace *trace) {
    for (uint32_t i = 0; i < trace->count; i++) {
        if (hone_inst_is_sampling(trace->insts[i].kind) && !trace->decisions[i].count) return false;
    }
    return true;
}

hone_rv hone_trace_add_rv(hone_trace *trace, hone_rv_kind kind) {
    if (!hone_grow(trace->arena, (void **)&trace->rv_kinds, &trace->rv_capacity, trace->rv_count,
                   sizeof *trace->rv_kinds)) {
        return HONE_NO_ID;
    }
    trace->rv_kinds[trace->rv_count] = kind;
    return trace->rv_count++;
}

static bool make_room(hone_trace *trace) {
    uint32_t capacity = trace->capacity;
    if (!hone_grow(trace->arena, (void **)&trace->decisions, &capacity, trace->count,
                   sizeof *trace->decisions)) {
        return false;
    }
    return hone_grow(trace->arena, (void **)&trace->insts, &trace->capacity, trace->count,
                     sizeof *trace->insts);
}

static const void *copy_bytes(hone_arena *arena, const void *from, size_t bytes) {
    if (bytes == 0) return NULL;
    void *copy = hone_arena_alloc(arena, bytes);
    if (copy) memcpy(copy, from, bytes);
    return copy;
}

hone_status hone_trace_append(hone_trace *trace, hone_inst_kind kind, uint32_t input_count,
                              const hone_operand *inputs, uint32_t attr_count,
                              const hone_value *attrs, uint32_t output_count,
                              hone_rv_kind output_kind, hone_decision decision) {
    if (!make_room(trace)) return HONE_NO_MEMORY("trace");
    hone_inst inst = {.kind = kind,
                      .input_count = input_count,
                      .attr_count = attr_count,
                      .output_count = output_count,
                      .first_output = trace->rv_count};
    inst.inputs = copy_bytes(trace->arena, inputs, input_count * sizeof *inputs);
    inst.attrs = copy_bytes(trace->arena, attrs, attr_count * sizeof *attrs);
    if ((input_count && !inst.inputs) || (attr_count && !inst.attrs))
        return HONE_NO_MEMORY("trace");
    for (uint32_t i = 0; i < output_count; i++) {
        if (hone_trace_add_rv(trace, output_kind) == HONE_NO_ID) return HONE_NO_MEMORY("trace");
    }
    trace->insts[trace->count] = inst;
    trace->is_unsafe = trace->is_unsafe || hone_inst_is_unsafe(&inst);
    trace->decisions[trace->count++] = decision;
    return HONE_OK;
}

/* Index of EnterPostproc, or trace->count. */
static uint32_t postproc_start(const hone_trace *trace) {
    for (uint32_t i = 0; i < trace->count; i++) {
        if (trace->insts[i].kind == HONE_INST_ENTER_POSTPROC) return i;
    }
    return trace->count;
}

/* ---- deep copies ---- */

bool hone_value_own(hone_arena *arena, hone_value *io) {
    if (io->kind == HONE_VALUE_STRING) {
        io->u.s = hone_arena_strdup(arena, io->u.s);
        return io->u.s != NULL;
    }
    if (io->kind == HONE_VALUE_LIST) {
        hone_value *items = hone_arena_alloc(arena, (io->count + 1) * sizeof *items);
        if (!items) return false;
        for (uint32_t i = 0; i < io->count; i++) {
            items[i] = io->u.items[i];
            if (!hone_value_own(arena, &items[i])) return false;
        }
        io->u.items = items;
    } else if (io->kind == HONE_VALUE_MAP) {
        hone_attr *items = hone_arena_alloc(arena, (io->count + 1) * sizeof *items);
        if (!items) return false;
        for (uint32_t i = 0; i < io->count; i++) {
            items[i].key = hone_arena_strdup(arena, io->u.attrs[i].key);
            items[i].value = io->u.attrs[i].value;
            if (!items[i].key || !hone_value_own(arena, &items[i].value)) return false;
        }
        io->u.attrs = items;
    }
    return true;
}

static bool copy_operand(hone_arena *arena, hone_operand *io) {
    if (io->kind == HONE_OPERAND_STRING) {
        io->u.s = hone_arena_strdup(arena, io->u.s);
        return io->u.s != NULL;
    }
    if (io->kind == HONE_OPERAND_LIST) {
        hone_operand *items = hone_arena_alloc(arena, (io->count + 1) * sizeof *items);
        if (!items) return false;
        for (uint32_t i = 0; i < io->count; i++) {
            items[i] = io->u.items[i];
            if (!copy_operand(arena, &items[i])) return false;
        }
        io->u.items = items;
    } else if (io->kind == HONE_OPERAND_VALUE) {
        hone_value *value = hone_arena_alloc(arena, sizeof *value);
        if (!value) return false;
        *value = *io->u.value;
        io->u.value = value;
        return hone_value_own(arena, value);
    } else if (io->kind == HONE_OPERAND_MAP) {
        io->u.map = hone_index_map_copy(arena, io->u.map);
        return io->u.map != NULL;
    }
    return true;
}

static bool copy_inst(hone_arena *arena, hone_inst *io) {
    hone_operand *inputs = hone_arena_alloc(arena, (io->input_count + 1) * sizeof *inputs);
    hone_value *attrs = hone_arena_alloc(arena, (io->attr_count + 1) * sizeof *attrs);
    if (!inputs || !attrs) return false;
    for (uint32_t i = 0; i < io->input_count; i++) {
        inputs[i] = io->inputs[i];
        if (!copy_operand(arena, &inputs[i])) return false;
    }
    for (uint32_t i = 0; i < io->attr_count; i++) {
        attrs[i] = io->attrs[i];
        if (!hone_value_own(arena, &attrs[i])) return false;
    }
    io->inputs = inputs;
    io->attrs = attrs;
    return true;
}

bool hone_trace_copy(hone_arena *arena, const hone_trace *trace, hone_trace *out) {
    *out = *trace;
    out->arena = arena;
    out->capacity = trace->count;
    out->rv_capacity = trace->rv_count;
    out->insts = hone_arena_alloc(arena, (trace->count + 1) * sizeof *out->insts);
    out->decisions = hone_arena_alloc(arena, (trace->count + 1) * sizeof *out->decisions);
    out->rv_kinds = hone_arena_alloc(arena, (trace->rv_count + 1) * sizeof *out->rv_kinds);
    if (!out->insts || !out->decisions || !out->rv_kinds) return false;
    if (trace->rv_count) {
        memcpy(out->rv_kinds, trace->rv_kinds, trace->rv_count * sizeof *out->rv_kinds);
    }
    for (uint32_t i = 0; i < trace->count; i++) {
        out->insts[i] = trace->insts[i];
        if (!copy_inst(arena, &out->insts[i])) return false;
        hone_decision d = trace->decisions[i];
        d.values = copy_bytes(arena, d.values, d.count * sizeof *d.values);
        if (d.count && !d.values) return false;
        out->decisions[i] = d;
    }
    return true;
}

/* ---- simplifying ---- */

static void mark_used(const hone_operand *operand, bool *used) {
    if (operand->kind == HONE_OPERAND_RV) used[operand->u.rv] = true;
    for (uint32_t i = 0; operand->kind == HONE_OPERAND_MAP && i < operand->u.map->free_count; i++)
        used[operand->u.map->frees[i]] = true;
    if (operand->kind != HONE_OPERAND_LIST) return;
    for (uint32_t i = 0; i < operand->count; i++)
        mark_used(&operand->u.items[i], used);
}

static bool is_needed(const hone_inst *inst, const bool *used) {
    if (!hone_inst_is_pure(inst->kind)) return true;
    for (uint32_t i = 0; i < inst->output_count; i++) {
        if (used[inst->first_output + i]) return true;
    }
    return false;
}

bool hone_operand_renumber_map(hone_arena *arena, hone_operand *io, const hone_rv *numbers) {
    uint32_t count = io->u.map->free_count;
    uint32_t *frees = hone_arena_alloc(arena, (count + 1) * sizeof *frees);
    for (uint32_t i = 0; i < count && frees; i++)
        frees[i] = numbers[io->u.map->frees[i]];
    if (frees) io->u.map = hone_index_map_with_frees(arena, io->u.map, frees);
    return frees && io->u.map;
}

static bool renumber(hone_arena *arena, hone_operand *io, const hone_rv *map) {
    if (io->kind == HONE_OPERAND_RV) io->u.rv = map[io->u.rv];
    if (io->kind == HONE_OPERAND_MAP) return hone_operand_renumber_map(arena, io, map);
    if (io->kind != HONE_OPERAND_LIST) return true;
    hone_operand *items = hone_arena_alloc(arena, (io->count + 1) * sizeof *items);
    if (!items) return false;
    for (uint32_t i = 0; i < io->count; i++) {
        items[i] = io->u.items[i];
        if (!renumber(arena, &items[i], map)) return false;
    }
    io->u.items = items;
    return true;
}

hone_status hone_trace_simplify(hone_arena *arena, const hone_trace *trace, bool remove_postproc,
                                hone_trace *out) {
    hone_trace full;
    if (!hone_trace_copy(arena, trace, &full)) return HONE_NO_MEMORY("trace");
    uint32_t end = remove_postproc ? postproc_start(trace) : trace->count;
    bool *used = hone_arena_zalloc(arena, (trace->rv_count + 1) * sizeof *used);
    bool *keep = hone_arena_zalloc(arena, (trace->count + 1) * sizeof *keep);
    hone_rv *map = hone_arena_zalloc(arena, (trace->rv_count + 1) * sizeof *map);
    if (!used || !keep || !map) return HONE_NO_MEMORY("trace");
    for (uint32_t i = end; i-- > 0;) {
        keep[i] = is_needed(&full.insts[i], used);
        if (!keep[i]) continue;
        for (uint32_t k = 0; k < full.insts[i].input_count; k++) {
            mark_used(&full.insts[i].inputs[k], used);
        }
    }
    hone_trace_init(out, arena);
    for (uint32_t i = 0; i < end; i++) {
        if (!keep[i]) continue;
        hone_inst inst = full.insts[i];
        hone_operand *inputs = hone_arena_alloc(arena, (inst.input_count + 1) * sizeof *inputs);
        if (!inputs) return HONE_NO_MEMORY("trace");
        for (uint32_t k = 0; k < inst.input_count; k++) {
            inputs[k] = inst.inputs[k];
            if (!renumber(arena, &inputs[k], map)) return HONE_NO_MEMORY("trace");
        }
        for (uint32_t k = 0; k < inst.output_count; k++) {
            map[inst.first_output + k] = out->rv_count + k;
        }
        hone_rv_kind kind = inst.output_count ? full.rv_kinds[inst.first_output] : HONE_RV_BLOCK;
        HONE_TRY(hone_trace_append(out, inst.kind, inst.input_count, inputs, inst.attr_count,
                                   inst.attrs, inst.output_count, kind, full.decisions[i]));
    }
    return HONE_OK;
}
