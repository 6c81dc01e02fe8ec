#include "schedule/primitive/primitives.h"
#include "schedule/replay/trace_apply_impl.h"

/* Replay of the steps on one block that change how its buffers are kept and accessed. */

static hone_status run_align(replay *r, const hone_inst *inst, hone_rv block, int64_t buffer) {
    int64_t axis, factor, offset;
    HONE_TRY(replay_int(inst, 1, 0, false, &axis));
    HONE_TRY(replay_int(inst, 2, 0, false, &factor));
    HONE_TRY(replay_int(inst, 3, 0, false, &offset));
    return hone_sch_storage_align(r->sch, block, buffer, axis, factor, offset);
}

static hone_status run_hide(replay *r, const hone_inst *inst, hone_rv block) {
    uint32_t count = 0;
    int64_t *indices = NULL;
    if (inst->input_count < 2 || inst->inputs[1].kind != HONE_OPERAND_STRING) {
        return replay_malformed(inst, "buf_type must be a string");
    }
    HONE_TRY(replay_ints(r, inst, 2, &count, &indices));
    return hone_sch_unsafe_hide_buffer_access(r->sch, block, inst->inputs[1].u.s, count, indices);
}

/* A number and whether it counts what is written, or a name: then of what is read, else written. */
static hone_status read_access(replay *r, const hone_inst *inst, hone_rv block, bool *out_is_write,
                               int64_t *out_buffer) {
    int64_t is_write = 0;
    if (inst->attr_count && inst->attrs[0].kind == HONE_VALUE_STRING) {
        hone_node_id node;
        HONE_TRY(sch_resolve_block(r->sch, block, &node));
        hone_status st = sch_find_buffer(r->sch, node, inst->attrs[0].u.s, false, out_buffer);
        is_write = hone_status_consume(st);
        if (is_write) {
            HONE_TRY(sch_find_buffer(r->sch, node, inst->attrs[0].u.s, true, out_buffer));
        }
    } else {
        HONE_TRY(replay_int(inst, 0, 0, false, out_buffer));
        HONE_TRY(replay_int(inst, 1, 0, false, &is_write));
    }
    *out_is_write = is_write != 0;
    return HONE_OK;
}

static hone_status run_reindex(replay *r, const hone_inst *inst, hone_rv block) {
    int64_t buffer = 0;
    bool is_write = false;
    HONE_TRY(read_access(r, inst, block, &is_write, &buffer));
    return hone_sch_reindex(r->sch, block, is_write, buffer, NULL);
}

static hone_status run_transform_layout(replay *r, const hone_inst *inst, hone_rv block) {
    int64_t buffer = 0, assume_injective = 0;
    bool is_write = false;
    const hone_index_map *map, *pad_value;
    HONE_TRY(read_access(r, inst, block, &is_write, &buffer));
    HONE_TRY(replay_map(r, inst, 1, &map));
    HONE_TRY(replay_map(r, inst, 2, &pad_value));
    HONE_TRY(replay_int(inst, 2, 0, true, &assume_injective));
    if (!map) return replay_malformed(inst, "the index map is missing");
    return hone_sch_transform_layout(r->sch, block, is_write, buffer, map, pad_value,
                                     assume_injective != 0);
}

/* Attribute i, a list of integers; out in the arena. */
static hone_status read_list(replay *r, const hone_inst *inst, uint32_t i, uint32_t *out_count,
                             int64_t **out) {
    const hone_value *list = i < inst->attr_count ? &inst->attrs[i] : NULL;
    if (!list || list->kind != HONE_VALUE_LIST) {
        return replay_malformed(inst, "an attribute must be a list of integers");
    }
    *out_count = list->count;
    *out = hone_arena_alloc(r->sch->arena, (list->count + 1) * sizeof **out);
    if (!*out) return sch_no_memory();
    for (uint32_t k = 0; k < list->count; k++) {
        if (list->u.items[k].kind != HONE_VALUE_INT) {
            return replay_malformed(inst, "an attribute must be a list of integers");
        }
        (*out)[k] = list->u.items[k].u.i;
    }
    return HONE_OK;
}

static hone_status run_axis_separator(replay *r, const hone_inst *inst, hone_rv block) {
    int64_t buffer = 0;
    bool is_write = false;
    HONE_TRY(read_access(r, inst, block, &is_write, &buffer));
    uint32_t count = 0;
    int64_t *places = NULL;
    HONE_TRY(read_list(r, inst, 2, &count, &places));
    return hone_sch_set_axis_separator(r->sch, block, is_write, buffer, count, places);
}

static hone_status run_pad(replay *r, const hone_inst *inst, hone_rv block) {
    uint32_t count = 0;
    int64_t *padding = NULL;
    HONE_TRY(read_list(r, inst, 0, &count, &padding));
    return hone_sch_pad_einsum(r->sch, block, count, padding);
}

static hone_status run_annotate_access(replay *r, const hone_inst *inst, hone_rv block) {
    const hone_index_map *map;
    for (uint32_t i = 1; i < 3; i++) {
        if (i < inst->input_count && inst->inputs[i].kind == HONE_OPERAND_INT) continue;
        return replay_malformed(inst, "buffer_index and buf_type must be integers");
    }
    HONE_TRY(replay_map(r, inst, 3, &map));
    if (!map) return replay_malformed(inst, "the index map is missing");
    return hone_sch_annotate_buffer_access(r->sch, block, inst->inputs[1].u.i,
                                           inst->inputs[2].u.i != 0, map);
}

/* Loop, block, buffer and scope. */
static hone_status run_copy_at(replay *r, const hone_inst *inst, hone_rv loop) {
    hone_rv block;
    int64_t buffer;
    const char *scope;
    bool is_write = inst->kind == HONE_INST_WRITE_AT;
    HONE_TRY(replay_rv(r, inst, 1, &block));
    HONE_TRY(replay_buffer(r, inst, 0, block, is_write, &buffer));
    HONE_TRY(replay_string(inst, 1, &scope));
    return is_write ? hone_sch_write_at(r->sch, loop, block, buffer, scope, NULL)
                    : hone_sch_read_at(r->sch, loop, block, buffer, scope, NULL);
}

static hone_status run_reindex_cache(replay *r, const hone_inst *inst, hone_rv block) {
    int64_t buffer;
    const char *scope;
    const hone_index_map *map;
    bool is_write = inst->kind == HONE_INST_REINDEX_CACHE_WRITE;
    HONE_TRY(replay_buffer(r, inst, 0, block, is_write, &buffer));
    HONE_TRY(replay_string(inst, 1, &scope));
    HONE_TRY(replay_map(r, inst, 1, &map));
    if (!map) return replay_malformed(inst, "the index map is missing");
    return is_write ? hone_sch_reindex_cache_write(r->sch, block, buffer, scope, map, NULL)
                    : hone_sch_reindex_cache_read(r->sch, block, buffer, scope, map, NULL);
}

static hone_status run_block_layout(replay *r, const hone_inst *inst, hone_rv block) {
    const hone_index_map *map;
    HONE_TRY(replay_map(r, inst, 1, &map));
    if (!map) return replay_malformed(inst, "the index map is missing");
    return hone_sch_transform_block_layout(r->sch, block, map);
}

hone_status replay_buffer_step(replay *r, const hone_inst *inst, hone_rv block) {
    int64_t buffer = 0;
    hone_rv other = 0;
    uint32_t count = 0;
    int64_t *order = NULL;
    const char *text = NULL;
    switch (inst->kind) {
    case HONE_INST_REORDER_BLOCK_ITER_VAR:
        HONE_TRY(replay_ints(r, inst, 1, &count, &order));
        return hone_sch_reorder_block_iter_var(r->sch, block, count, order);
    case HONE_INST_REINDEX:
        return run_reindex(r, inst, block);
    case HONE_INST_REINDEX_CACHE_READ:
    case HONE_INST_REINDEX_CACHE_WRITE:
        return run_reindex_cache(r, inst, block);
    case HONE_INST_TRANSFORM_LAYOUT:
        return run_transform_layout(r, inst, block);
    case HONE_INST_SET_AXIS_SEPARATOR:
        return run_axis_separator(r, inst, block);
    case HONE_INST_TRANSFORM_BLOCK_LAYOUT:
        return run_block_layout(r, inst, block);
    case HONE_INST_READ_AT:
    case HONE_INST_WRITE_AT:
        return run_copy_at(r, inst, block);
    case HONE_INST_ANNOTATE_BUFFER_ACCESS:
        return run_annotate_access(r, inst, block);
    case HONE_INST_PAD_EINSUM:
        return run_pad(r, inst, block);
    case HONE_INST_ROLLING_BUFFER:
        HONE_TRY(replay_buffer(r, inst, 0, block, true, &buffer));
        return hone_sch_rolling_buffer(r->sch, block, buffer);
    case HONE_INST_CACHE_INPLACE:
        HONE_TRY(replay_buffer(r, inst, 0, block, false, &buffer));
        HONE_TRY(replay_string(inst, 1, &text));
        return hone_sch_cache_inplace(r->sch, block, buffer, text, NULL);
    case HONE_INST_CACHE_INDEX:
        HONE_TRY(replay_string(inst, 0, &text));
        HONE_TRY(replay_int(inst, 1, 0, true, &buffer));
        return hone_sch_cache_index(r->sch, block, text, buffer, NULL, NULL);
    case HONE_INST_FUSE_REDUCTION_EPILOGUE:
        HONE_TRY(replay_rv(r, inst, 1, &other));
        return hone_sch_fuse_reduction_epilogue(r->sch, block, other);
    case HONE_INST_STORAGE_ALIGN:
        HONE_TRY(replay_buffer(r, inst, 0, block, true, &buffer));
        return run_align(r, inst, block, buffer);
    case HONE_INST_SET_SCOPE:
        HONE_TRY(replay_buffer(r, inst, 0, block, true, &buffer));
        HONE_TRY(replay_string(inst, 1, &text));
        return hone_sch_set_scope(r->sch, block, buffer, text);
    case HONE_INST_UNSAFE_SET_DTYPE:
        HONE_TRY(replay_buffer(r, inst, 0, block, true, &buffer));
        HONE_TRY(replay_string(inst, 1, &text));
        return hone_sch_unsafe_set_dtype(r->sch, block, buffer, text);
    case HONE_INST_UNSAFE_HIDE_BUFFER_ACCESS:
        return run_hide(r, inst, block);
    default:
        return replay_malformed(inst, "unknown instruction");
    }
}
