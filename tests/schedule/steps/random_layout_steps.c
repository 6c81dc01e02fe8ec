/* tests/schedule/steps/random_layout_steps.c - random steps by index maps: other layouts of
 * buffers, other axes of blocks. The maps permute, split and fuse; now and then one is no
 * bijection. */
#include "ir/text/map/index_map_parse.h"
#include "schedule/primitive/primitives.h"
#include "tests/schedule/steps/random_pick.h"

enum { MAX_MAP_RANK = 6 };

typedef struct shape {
    uint32_t rank;
    int64_t extents[MAX_MAP_RANK]; /* 1 where it is not known */
} shape;

static void put_order(hone_rng *rng, uint32_t count, uint32_t *order) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (uint32_t)hone_rng_below(rng, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    if (hone_rng_below(rng, 3)) { /* most maps move little */
        for (uint32_t i = 0; i < count; i++)
            order[i] = i;
    }
}

/* "i0 * 8 + i1" for some dimensions that follow each other; how many were taken. */
static uint32_t put_source(const shape *s, hone_rng *rng, const uint32_t *order, uint32_t left,
                           hone_str *out) {
    uint32_t a = order[0];
    if (left > 1 && hone_rng_below(rng, 3) == 0) {
        uint32_t b = order[1];
        hone_str_printf(out, "(i%u * %lld + i%u)", a, (long long)s->extents[b], b);
        return 2;
    }
    hone_str_printf(out, "i%u", a);
    return 1;
}

/* A lambda over as many parameters as the shape has dimensions. */
static void put_map(const shape *s, hone_rng *rng, hone_str *out) {
    uint32_t order[MAX_MAP_RANK];
    hone_str high = {0}, low = {0}, source = {0};
    put_order(rng, s->rank, order);
    hone_str_append(out, "lambda ");
    for (uint32_t i = 0; i < s->rank; i++)
        hone_str_printf(out, "%si%u", i ? ", " : "", i);
    for (uint32_t i = 0; i < s->rank;) {
        hone_str_clear(&source);
        uint32_t taken = put_source(s, rng, &order[i], s->rank - i, &source);
        int64_t factor = hone_rng_between(rng, 2, 5);
        int64_t extent = s->extents[order[i]] * (taken == 2 ? s->extents[order[i + 1]] : 1);
        bool is_split = hone_rng_below(rng, 2) && (extent % factor == 0 || hone_rng_below(rng, 2));
        const char *text = hone_str_text(&source);
        if (is_split && hone_rng_below(rng, 4) == 0) { /* padding in front */
            int64_t offset = hone_rng_between(rng, 1, factor);
            hone_str_printf(&high, "(%s + %lld) // %lld, ", text, (long long)offset,
                            (long long)factor);
            hone_str_printf(&low, "(%s + %lld) %% %lld, ", text, (long long)offset,
                            (long long)factor);
        } else if (is_split) {
            hone_str_printf(&high, "%s // %lld, ", text, (long long)factor);
            hone_str_printf(&low, "%s %% %lld, ", text, (long long)factor);
        } else if (hone_rng_below(rng, 30)) {
            hone_str_printf(hone_rng_below(rng, 2) ? &high : &low, "%s, ", text);
        }
        i += taken;
    }
    hone_str_printf(out, ": (%s%s)", hone_str_text(&high), hone_str_text(&low));
    hone_str_deinit(&high);
    hone_str_deinit(&low);
    hone_str_deinit(&source);
}

static hone_status make_map(hone_schedule *sch, hone_rng *rng, const shape *s,
                            const hone_index_map **out) {
    hone_str text = {0};
    put_map(s, rng, &text);
    const py_source source = {
        .name = "random", .text = hone_str_text(&text), .length = text.length};
    hone_status st = hone_index_map_parse(sch->arena, &source, NULL, 0, out);
    hone_str_deinit(&text);
    return st;
}

static void note_extent(shape *s, const hone_expr *extent) {
    int64_t known = hone_expr_const(extent);
    s->extents[s->rank++] = known > 0 ? known : 1;
}

static bool shape_of_axes(const hone_block *block, shape *out) {
    *out = (shape){0};
    if (block->axis_count > MAX_MAP_RANK || !block->axis_count) return false;
    for (uint32_t i = 0; i < block->axis_count; i++)
        note_extent(out, block->axes[i].dom.extent);
    return true;
}

static hone_status block_layout(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    hone_node_id node;
    shape s;
    const hone_index_map *map;
    HONE_TRY(sch_resolve_block(sch, block, &node));
    if (!shape_of_axes(sch_block(sch, node), &s)) return hone_random_nothing();
    HONE_TRY(make_map(sch, rng, &s, &map));
    return hone_sch_transform_block_layout(sch, block, map);
}

static hone_status reindex_cache(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    hone_node_id node;
    shape s;
    const hone_index_map *map;
    HONE_TRY(sch_resolve_block(sch, block, &node));
    if (!shape_of_axes(sch_block(sch, node), &s)) return hone_random_nothing();
    HONE_TRY(make_map(sch, rng, &s, &map));
    int64_t index = (int64_t)hone_rng_below(rng, 2);
    return hone_rng_below(rng, 2)
               ? hone_sch_reindex_cache_read(sch, block, index, "global", map, NULL)
               : hone_sch_reindex_cache_write(sch, block, index, "global", map, NULL);
}

/* A buffer that the block accesses and that some block allocates: parameters of another layout
 * would take other arguments than the program they are compared with. */
static hone_status pick_buffer(hone_schedule *sch, hone_rng *rng, hone_rv block, bool *out_is_write,
                               int64_t *out_index, hone_buffer *out) {
    hone_node_id node;
    HONE_TRY(sch_resolve_block(sch, block, &node));
    *out_is_write = hone_rng_below(rng, 2);
    *out_index = (int64_t)hone_rng_below(rng, 2);
    HONE_TRY(sch_nth_buffer(sch, node, *out_is_write, *out_index, out));
    return sch_require_allocated(sch, node, *out);
}

static const hone_index_map *make_pad_value(hone_schedule *sch, hone_rng *rng, hone_dtype dtype) {
    if (hone_rng_below(rng, 3) == 0) return NULL;
    bool is_float = hone_dtype_is_float(dtype);
    const hone_expr *value = is_float ? hone_expr_float(&sch->ir, HONE_DTYPE_F32, 1.0)
                                      : hone_expr_int(&sch->ir, HONE_DTYPE_I32, 1);
    return value ? hone_index_map_of_constant(sch->arena, 0, value) : NULL;
}

static hone_status transform(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    bool is_write;
    int64_t index;
    hone_buffer buffer;
    shape s = {0};
    const hone_index_map *map;
    HONE_TRY(pick_buffer(sch, rng, block, &is_write, &index, &buffer));
    const hone_buffer_info *info = hone_func_buffer(sch->func, buffer);
    if (info->rank > MAX_MAP_RANK || !info->rank) return hone_random_nothing();
    for (uint32_t d = 0; d < info->rank; d++)
        note_extent(&s, info->shape[d]);
    const hone_index_map *pad_value = make_pad_value(sch, rng, info->dtype);
    HONE_TRY(make_map(sch, rng, &s, &map));
    return hone_sch_transform_layout(sch, block, is_write, index, map, pad_value, false);
}

static hone_status separate(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    bool is_write;
    int64_t index;
    hone_buffer buffer;
    HONE_TRY(pick_buffer(sch, rng, block, &is_write, &index, &buffer));
    int64_t places[] = {(int64_t)hone_rng_below(rng, 3), (int64_t)hone_rng_below(rng, 4)};
    return hone_sch_set_axis_separator(sch, block, is_write, index,
                                       (uint32_t)hone_rng_below(rng, 3), places);
}

hone_random_group hone_random_layout_steps(void) {
    static const hone_random_row rows[] = {
        HONE_STEP_ON(ANY, "transform_layout", transform),
        HONE_STEP_ON(ANY, "transform_layout", transform),
        HONE_STEP_ON(ANY, "transform_layout", transform),
        HONE_STEP_ON(ANY, "transform_layout", transform),
        HONE_STEP_ON(ANY, "transform_block_layout", block_layout),
        HONE_STEP_ON(SPATIAL, "transform_block_layout", block_layout),
        HONE_STEP_ON(REDUCTION, "transform_block_layout", block_layout),
        HONE_STEP_ON(ANY, "reindex_cache", reindex_cache),
        HONE_STEP_ON(ANY, "reindex_cache", reindex_cache),
        HONE_STEP_ON(ANY, "set_axis_separator", separate),
    };
    return (hone_random_group){rows, HONE_COUNT(rows)};
}
