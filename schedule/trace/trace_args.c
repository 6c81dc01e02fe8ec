#include "schedule/trace/trace_args.h"

#include <string.h>

#define BLOCK                                                                                      \
    { .name = "block", .place = HONE_ARG_INPUT, .is_required = true }
#define LOOP                                                                                       \
    { .name = "loop", .place = HONE_ARG_INPUT, .is_required = true }
#define EITHER                                                                                     \
    { .name = "block_or_loop", .place = HONE_ARG_INPUT, .is_required = true }
#define KEEP_UNITS                                                                                 \
    { .name = "preserve_unit_iters", .place = HONE_ARG_BOOL, .fallback = 1 }
#define DECISION                                                                                   \
    { .name = "decision", .place = HONE_ARG_DECISION }
#define COMPUTE_AT                                                                                 \
    {                                                                                              \
        BLOCK, {.name = "loop", .place = HONE_ARG_INPUT, .index = 1, .is_required = true},         \
            {.name = "preserve_unit_loops", .place = HONE_ARG_BOOL},                               \
            {.name = "index", .place = HONE_ARG_INT, .index = 1, .fallback = -1},                  \
    }
#define BUFFER_INDEX(index_name)                                                                   \
    { .name = index_name, .place = HONE_ARG_BUFFER, .is_required = true }
#define REQUIRED_INT(name_, index_)                                                                \
    { .name = name_, .place = HONE_ARG_INT, .index = index_, .is_required = true }
#define REQUIRED_STRING(name_, index_)                                                             \
    { .name = name_, .place = HONE_ARG_STRING, .index = index_, .is_required = true }
#define REQUIRED_LIST(name_, index_)                                                               \
    { .name = name_, .place = HONE_ARG_LIST, .index = index_, .is_required = true }
#define CACHE(index_name)                                                                          \
    {                                                                                              \
        BLOCK, BUFFER_INDEX(index_name), REQUIRED_STRING("storage_scope", 1),                      \
            {.name = "consumer_blocks", .place = HONE_ARG_LIST, .index = 1},                       \
    }

#define REINDEX_CACHE(index_name)                                                                  \
    {                                                                                              \
        BLOCK, BUFFER_INDEX(index_name), REQUIRED_STRING("storage_scope", 1),                      \
            {.name = "index_map", .place = HONE_ARG_MAP, .index = 1, .is_required = true},         \
    }

static const hone_arg_spec specs[HONE_INST_COUNT][HONE_MAX_ARGS + 1] = {
    [HONE_INST_SAMPLE_CATEGORICAL] =
        {{.name = "candidates", .place = HONE_ARG_VALUES, .is_required = true},
                                        {.name = "probs", .place = HONE_ARG_VALUES, .index = 1, .is_required = true},
                                        DECISION},
    [HONE_INST_SAMPLE_PERFECT_TILE] =
        {LOOP,
                                        {.name = "n", .place = HONE_ARG_INT, .is_required = true},
                                        {.name = "max_innermost_factor", .place = HONE_ARG_INT, .index = 1, .fallback = 16},
                                        DECISION},
    [HONE_INST_SAMPLE_PARTITIONED_TILE] =
        {LOOP,
                                        REQUIRED_INT("n", 0),
                                        {.name = "partition_pos", .place = HONE_ARG_INT, .index = 1},
                                        {.name = "innerpart_factor", .place = HONE_ARG_INT, .index = 2, .fallback = 1},
                                        DECISION},
    [HONE_INST_SAMPLE_COMPUTE_LOCATION] = {BLOCK,  DECISION},
    [HONE_INST_GET_BLOCK] =
        {{.name = "name", .place = HONE_ARG_STRING, .is_required = true},
                                        {.name = "func_name", .place = HONE_ARG_STRING, .index = 1, .text_fallback = "main"}},
    [HONE_INST_GET_LOOPS] = {BLOCK                                                                    },
    [HONE_INST_GET_CHILD_BLOCKS] = {EITHER                        },
    [HONE_INST_GET_PRODUCERS] = {BLOCK                                                                            },
    [HONE_INST_GET_CONSUMERS] = {BLOCK                                                                               },
    [HONE_INST_GET_OUTPUT_BLOCKS] = {{.name = "scope_block",
                                      .place = HONE_ARG_INPUT,
                                      .is_required = true}                                                                                   },
    [HONE_INST_SPLIT] =
        {LOOP,
                                        {.name = "factors", .place = HONE_ARG_REST, .index = 1, .is_required = true},
                                        KEEP_UNITS, {.name = "disable_predication", .place = HONE_ARG_BOOL, .index = 1}},
    [HONE_INST_FUSE] = {{.name = "loops", .place = HONE_ARG_VARARGS},                                                                                KEEP_UNITS},
    [HONE_INST_MERGE] = {{.name = "loops", .place = HONE_ARG_VARARGS}                                                                              },
    [HONE_INST_LOOP_PARTITION] =
        {LOOP,
                                        {.name = "factors", .place = HONE_ARG_REST, .index = 1, .is_required = true},
                                        KEEP_UNITS},
    [HONE_INST_REORDER] = {{.name = "loops", .place = HONE_ARG_VARARGS}                                                                               },
    [HONE_INST_REORDER_BLOCK_ITER_VAR] = {BLOCK,                           REQUIRED_LIST("new_order", 1)},
    [HONE_INST_ADD_UNIT_LOOP] = {EITHER                                                                                },
    [HONE_INST_PARALLEL] = {LOOP                                                                          },
    [HONE_INST_VECTORIZE] = {LOOP                                                                                   },
    [HONE_INST_UNROLL] = {LOOP},
    [HONE_INST_BIND] = {LOOP,
                                        {.name = "thread_axis", .place = HONE_ARG_STRING, .is_required = true}},
    [HONE_INST_COMPUTE_AT] = COMPUTE_AT,
    [HONE_INST_REVERSE_COMPUTE_AT] = COMPUTE_AT,
    [HONE_INST_COMPUTE_INLINE] = {BLOCK                                                                                },
    [HONE_INST_REVERSE_COMPUTE_INLINE] = {BLOCK                                                                          },
    [HONE_INST_CACHE_READ] = CACHE("read_buffer_index"),
    [HONE_INST_CACHE_WRITE] = CACHE("write_buffer_index"),
    [HONE_INST_REINDEX] = {BLOCK,
                                        {.name = "buffer", .place = HONE_ARG_ACCESS, .is_required = true}},
    [HONE_INST_CACHE_INPLACE] = {BLOCK,                                                                                BUFFER_INDEX("read_buffer_index"),
                                        REQUIRED_STRING("storage_scope", 1)},
    [HONE_INST_CACHE_INDEX] = {BLOCK,
                                        REQUIRED_STRING("storage_scope", 0),
                                        {.name = "cse_thresh", .place = HONE_ARG_INT, .index = 1}},
    [HONE_INST_READ_AT] =
        {LOOP,
                                        {.name = "block", .place = HONE_ARG_INPUT, .index = 1, .is_required = true},
                                        BUFFER_INDEX("read_buffer_index"),
                                        REQUIRED_STRING("storage_scope", 1)},
    [HONE_INST_WRITE_AT] =
        {LOOP,
                                        {.name = "block", .place = HONE_ARG_INPUT, .index = 1, .is_required = true},
                                        BUFFER_INDEX("write_buffer_index"),
                                        REQUIRED_STRING("storage_scope", 1)},
    [HONE_INST_FUSE_REDUCTION_EPILOGUE] =
        {{.name = "reduction_block", .place = HONE_ARG_INPUT, .is_required = true},
                                        {.name = "epilogue_block", .place = HONE_ARG_INPUT, .index = 1, .is_required = true}},
    [HONE_INST_DECOMPOSE_REDUCTION] =
        {BLOCK,                                                                                 {.name = "loop", .place = HONE_ARG_INPUT, .index = 1, .is_required = true}},
    [HONE_INST_RFACTOR] = {LOOP,
                                        {.name = "factor_axis", .place = HONE_ARG_INT, .is_required = true}},
    [HONE_INST_STORAGE_ALIGN] = {BLOCK,                                                                                    BUFFER_INDEX("buffer_index"), REQUIRED_INT("axis", 1),
                                        REQUIRED_INT("factor", 2), REQUIRED_INT("offset", 3)},
    [HONE_INST_SET_SCOPE] = {BLOCK,    BUFFER_INDEX("buffer_index"),
                                        REQUIRED_STRING("storage_scope", 1)},
    [HONE_INST_UNSAFE_SET_DTYPE] = {BLOCK,          BUFFER_INDEX("buffer_index"),
                                        REQUIRED_STRING("dtype", 1)},
    [HONE_INST_UNSAFE_HIDE_BUFFER_ACCESS] =
        {BLOCK,
                                        {.name = "buf_type", .place = HONE_ARG_DATA, .index = 1, .is_required = true},
                                        REQUIRED_LIST("buf_index_array", 2)},
    [HONE_INST_DECOMPOSE_PADDING] =
        {BLOCK,                                                                                {.name = "loop", .place = HONE_ARG_INPUT, .index = 1, .is_required = true}},
    [HONE_INST_PAD_EINSUM] = {BLOCK,
                                        {.name = "padding", .place = HONE_ARG_VALUES, .is_required = true}},
    [HONE_INST_ROLLING_BUFFER] = {BLOCK,                                                                                    BUFFER_INDEX("write_buffer_index")},
    [HONE_INST_TENSORIZE] =
        {EITHER,
                                        {.name = "tensor_intrin", .place = HONE_ARG_STRING, .is_required = true},
                                        {.name = "preserve_unit_iters", .place = HONE_ARG_BOOL, .index = 1, .fallback = 1}},
    [HONE_INST_BLOCKIZE] = {{.name = "target", .place = HONE_ARG_TARGET, .is_required = true},
                                        KEEP_UNITS},
    [HONE_INST_ANNOTATE_BUFFER_ACCESS] =
        {BLOCK,
                                        {.name = "buffer_index", .place = HONE_ARG_DATA, .index = 1, .is_required = true},
                                        {.name = "buf_type", .place = HONE_ARG_BUF_TYPE, .index = 2, .is_required = true},
                                        {.name = "gen_new_ranges", .place = HONE_ARG_MAP, .index = 3, .is_required = true}},
    [HONE_INST_ANNOTATE] =
        {EITHER,
                                        {.name = "ann_key", .place = HONE_ARG_STRING, .is_required = true},
                                        {.name = "ann_val", .place = HONE_ARG_DATA, .index = 1, .is_required = true}},
    [HONE_INST_UNANNOTATE] = {EITHER,
                                        {.name = "ann_key", .place = HONE_ARG_STRING, .is_required = true}},
    [HONE_INST_TRANSFORM_LAYOUT] =
        {BLOCK,
                                        {.name = "buffer", .place = HONE_ARG_ACCESS, .is_required = true},
                                        {.name = "index_map", .place = HONE_ARG_MAP, .index = 1, .is_required = true},
                                        {.name = "pad_value", .place = HONE_ARG_MAP, .index = 2},
                                        {.name = "assume_injective_transform", .place = HONE_ARG_BOOL, .index = 2}},
    [HONE_INST_SET_AXIS_SEPARATOR] =
        {BLOCK,
                                        {.name = "buffer", .place = HONE_ARG_ACCESS, .is_required = true},
                                        {.name = "axis_separators", .place = HONE_ARG_VALUES, .index = 2, .is_required = true}},
    [HONE_INST_TRANSFORM_BLOCK_LAYOUT] =
        {BLOCK,                                                                                  {.name = "index_map", .place = HONE_ARG_MAP, .index = 1, .is_required = true}},
    [HONE_INST_REINDEX_CACHE_READ] = REINDEX_CACHE("read_buffer_index"),
    [HONE_INST_REINDEX_CACHE_WRITE] = REINDEX_CACHE("write_buffer_index"),
    [HONE_INST_ENTER_POSTPROC] = {{.place = HONE_ARG_END}           },
};

static const struct {
    const char *json, *old_json, *python;
} names[] = {
#define HONE_INST(name, json, old_json, python, pure) {json, old_json, python},
#include "schedule/trace/insts.def"
#undef HONE_INST
};

const hone_arg_spec *hone_inst_args(hone_inst_kind kind) {
    return specs[kind];
}

const char *hone_inst_python_name(hone_inst_kind kind) {
    return names[kind].python;
}

bool hone_inst_find_json(const char *name, hone_inst_kind *out_kind) {
    for (int i = 0; i < HONE_INST_COUNT; i++) {
        bool is_old = names[i].old_json && strcmp(names[i].old_json, name) == 0;
        if (strcmp(names[i].json, name) != 0 && !is_old) continue;
        *out_kind = (hone_inst_kind)i;
        return true;
    }
    return false;
}

bool hone_inst_find_python(const char *name, hone_inst_kind *out_kind) {
    if (strcmp(name, "get_block") == 0) name = "get_sblock";
    for (int i = 0; i < HONE_INST_COUNT; i++) {
        if (strcmp(names[i].python, name) != 0) continue;
        *out_kind = (hone_inst_kind)i;
        return true;
    }
    return false;
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

bool hone_inst_has_map_attr(hone_inst_kind kind, uint32_t *out_input, uint32_t *out_attr) {
    *out_input = kind == HONE_INST_TRANSFORM_LAYOUT ? 2 : 1;
    *out_attr = kind == HONE_INST_TRANSFORM_LAYOUT ? 2 : 0;
    return kind == HONE_INST_TRANSFORM_LAYOUT || kind == HONE_INST_TRANSFORM_BLOCK_LAYOUT;
}

uint32_t hone_inst_max_inputs(hone_inst_kind kind) {
    uint32_t count = 0;
    for (const hone_arg_spec *s = specs[kind]; s->place != HONE_ARG_END; s++) {
        switch (s->place) {
        case HONE_ARG_REST:
        case HONE_ARG_VARARGS:
            return HONE_ANY_COUNT;
        case HONE_ARG_INPUT:
        case HONE_ARG_TARGET:
        case HONE_ARG_LIST:
        case HONE_ARG_DATA:
        case HONE_ARG_MAP:
            if (s->index >= count) count = s->index + 1;
            break;
        default:
            break;
        }
    }
    return count;
}

uint32_t hone_inst_max_attrs(hone_inst_kind kind) {
    uint32_t count = 0;
    for (const hone_arg_spec *s = specs[kind]; s->place != HONE_ARG_END; s++) {
        uint32_t end = 0;
        switch (s->place) {
        case HONE_ARG_INT:
        case HONE_ARG_BOOL:
        case HONE_ARG_STRING:
        case HONE_ARG_BUFFER:
        case HONE_ARG_VALUES:
            end = s->index + 1;
            break;
        case HONE_ARG_ACCESS:
            end = s->index + 2;
            break;
        default:
            break;
        }
        if (end > count) count = end;
    }
    return count;
}

hone_rv_kind hone_inst_output_kind(hone_inst_kind kind) {
    switch (kind) {
    case HONE_INST_SAMPLE_CATEGORICAL:
    case HONE_INST_SAMPLE_PERFECT_TILE:
    case HONE_INST_SAMPLE_PARTITIONED_TILE:
        return HONE_RV_INT;
    case HONE_INST_SAMPLE_COMPUTE_LOCATION:
    case HONE_INST_GET_LOOPS:
    case HONE_INST_SPLIT:
    case HONE_INST_FUSE:
    case HONE_INST_MERGE:
    case HONE_INST_LOOP_PARTITION:
    case HONE_INST_ADD_UNIT_LOOP:
        return HONE_RV_LOOP;
    default:
        return HONE_RV_BLOCK;
    }
}

bool hone_inst_gives_list(hone_inst_kind kind) {
    return kind == HONE_INST_GET_LOOPS || kind == HONE_INST_GET_CHILD_BLOCKS ||
           kind == HONE_INST_GET_PRODUCERS || kind == HONE_INST_GET_CONSUMERS ||
           kind == HONE_INST_GET_OUTPUT_BLOCKS || kind == HONE_INST_SPLIT ||
           kind == HONE_INST_LOOP_PARTITION || kind == HONE_INST_CACHE_INPLACE ||
           kind == HONE_INST_CACHE_INDEX || hone_inst_decides_list(kind);
}

bool hone_inst_decides_list(hone_inst_kind kind) {
    return kind == HONE_INST_SAMPLE_PERFECT_TILE || kind == HONE_INST_SAMPLE_PARTITIONED_TILE;
}

bool hone_inst_gives_nothing(hone_inst_kind kind) {
    switch (kind) {
    case HONE_INST_REORDER:
    case HONE_INST_PARALLEL:
    case HONE_INST_VECTORIZE:
    case HONE_INST_UNROLL:
    case HONE_INST_BIND:
    case HONE_INST_COMPUTE_AT:
    case HONE_INST_REVERSE_COMPUTE_AT:
    case HONE_INST_COMPUTE_INLINE:
    case HONE_INST_REVERSE_COMPUTE_INLINE:
    case HONE_INST_REORDER_BLOCK_ITER_VAR:
    case HONE_INST_FUSE_REDUCTION_EPILOGUE:
    case HONE_INST_STORAGE_ALIGN:
    case HONE_INST_SET_SCOPE:
    case HONE_INST_UNSAFE_SET_DTYPE:
    case HONE_INST_UNSAFE_HIDE_BUFFER_ACCESS:
    case HONE_INST_ANNOTATE:
    case HONE_INST_ANNOTATE_BUFFER_ACCESS:
    case HONE_INST_UNANNOTATE:
    case HONE_INST_PAD_EINSUM:
    case HONE_INST_ROLLING_BUFFER:
    case HONE_INST_TENSORIZE:
    case HONE_INST_TRANSFORM_LAYOUT:
    case HONE_INST_SET_AXIS_SEPARATOR:
    case HONE_INST_TRANSFORM_BLOCK_LAYOUT:
    case HONE_INST_ENTER_POSTPROC:
        return true;
    default:
        return false;
    }
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
