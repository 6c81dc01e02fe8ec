/* schedule/gpu/gpu_matrices.c - any product as one of matrices:
 *
 *   C[n, h, w, o] += A[n, h + y, w + x, i] * B[y, x, i, o]
 *   ─►  A_reindex[n * H * W + h * W + w, …] = A[…];  B_reindex[…] = B[…]
 *       C_reindex[row, column] += A_reindex[row, step] * B_reindex[step, column]
 *       C[…] = C_reindex[…]
 *
 * The copies are inlined later: nothing of them is left but the arithmetic of indices.
 */
#include <string.h>

#include "ir/text/map/index_map_parse.h"
#include "schedule/gpu/gpu_product.h"
#include "schedule/primitive/primitives.h"
#include "schedule/state/schedule_impl.h"

/* "a3 * 12 + a4": the axes of a group as one number */
static void print_group(const hone_gpu_shape *s, const bool *uses, gpu_group group, hone_str *out) {
    bool is_first = true;
    for (uint32_t a = 0; a < s->axis_count; a++) {
        if (s->groups[a] != group || (uses && !uses[a])) continue;
        int64_t stride = 1;
        for (uint32_t b = a + 1; b < s->axis_count; b++)
            if (s->groups[b] == group) stride *= s->axes[b];
        hone_str_printf(out, "%sa%u", is_first ? "" : " + ", a);
        if (stride != 1) hone_str_printf(out, " * %lld", (long long)stride);
        is_first = false;
    }
    if (!is_first) hone_str_append(out, ", ");
}

static hone_status read_map(hone_gpu *g, const char *text, const hone_index_map **out) {
    py_source source = {.name = "gpu_matrices", .text = text, .length = strlen(text)};
    return hone_index_map_parse(g->sch->arena, &source, NULL, 0, out);
}

/* "lambda a0, a2: (a0, a2, )": the parameters used, the groups in an order. */
static hone_status make_map(hone_gpu *g, const hone_gpu_shape *s, const bool *uses, uint32_t count,
                            const gpu_group *order, const hone_index_map **out) {
    hone_str text = {0};
    hone_str_append(&text, "lambda ");
    const char *comma = "";
    for (uint32_t a = 0; a < s->axis_count; a++) {
        if (uses && !uses[a]) continue;
        hone_str_printf(&text, "%sa%u", comma, a);
        comma = ", ";
    }
    hone_str_append(&text, ": (");
    for (uint32_t i = 0; i < count; i++)
        print_group(s, uses, order[i], &text);
    hone_str_append(&text, ")");
    hone_status st = hone_str_check(&text);
    if (!st) st = read_map(g, hone_str_text(&text), out);
    hone_str_deinit(&text);
    return st;
}

/* The axes stand in this order already, one in each group. */
static bool is_in_order(const hone_gpu_shape *s, const bool *uses, uint32_t count,
                        const gpu_group *order) {
    uint32_t at = 0;
    bool seen[GPU_GROUPS] = {false};
    for (uint32_t a = 0; a < s->axis_count; a++) {
        if (uses && !uses[a]) continue;
        if (seen[s->groups[a]]) return false;
        seen[s->groups[a]] = true;
        while (at < count && order[at] != s->groups[a])
            at++;
        if (at == count) return false;
    }
    return true;
}

/* access: 0, 1: a read; 2: the write; last: the group of its last dimension. */
static hone_status lay_out(hone_gpu *g, hone_rv block, const hone_gpu_shape *s, uint32_t access,
                           gpu_group last) {
    bool is_write = access == 2;
    gpu_group other = is_write ? GPU_ROWS : access == s->rows_operand ? GPU_ROWS : GPU_COLUMNS;
    const gpu_group order[] = {GPU_BATCH, last == other ? GPU_STEPS : other, last};
    if (is_in_order(s, s->uses[access], 3, order)) return HONE_OK;
    const hone_index_map *map;
    HONE_TRY(make_map(g, s, s->uses[access], 3, order, &map));
    return hone_sch_transform_layout(g->sch, block, is_write, is_write ? 0 : access, map, NULL,
                                     false);
}

static hone_status pad(hone_gpu *g, hone_rv block, const hone_gpu_shape *s,
                       const int64_t padding[GPU_GROUPS]) {
    int64_t factors[GPU_GROUPS];
    uint32_t count = 0;
    bool is_needed = false;
    for (uint32_t i = 0; i < GPU_GROUPS; i++) {
        if (i == GPU_BATCH && !s->has[i]) continue;
        factors[count++] = padding[i];
        is_needed = is_needed || s->extents[i] < 0 || s->extents[i] % padding[i] != 0;
    }
    return is_needed ? hone_sch_pad_einsum(g->sch, block, count, factors) : HONE_OK;
}

hone_status hone_gpu_to_matrices(hone_gpu *g, hone_rv block, const hone_gpu_shape *s,
                                 const hone_gpu_form *form) {
    static const gpu_group order[] = {GPU_BATCH, GPU_ROWS, GPU_COLUMNS, GPU_STEPS};
    hone_rv copies[3];
    for (uint32_t i = 0; i < 3; i++)
        HONE_TRY(hone_sch_reindex(g->sch, block, i == 2, i == 2 ? 0 : i, &copies[i]));
    for (uint32_t i = 0; i < 2; i++)
        HONE_TRY(lay_out(g, block, s, i, form->last[i == s->rows_operand ? 0 : 1]));
    HONE_TRY(lay_out(g, block, s, 2, GPU_COLUMNS));
    if (!is_in_order(s, NULL, 4, order)) {
        const hone_index_map *map;
        HONE_TRY(make_map(g, s, NULL, 4, order, &map));
        HONE_TRY(hone_sch_transform_block_layout(g->sch, block, map));
    }
    return pad(g, block, s, form->padding);
}

/* ---- what stands before and behind ---- */

hone_status hone_gpu_join_epilogue(hone_gpu *g, hone_rv block) {
    for (;;) {
        hone_rv next;
        HONE_TRY(hone_nest_only_consumer(g->sch, block, &next));
        if (next == HONE_NO_ID) return HONE_OK;
        hone_status st = hone_sch_reverse_compute_inline(g->sch, next);
        if (hone_status_code(st) == HONE_CODE_ILLEGAL) {
            hone_status_free(st);
            return HONE_OK;
        }
        if (st) return st;
    }
}

/* A producer that is worth computing again wherever it is read. */
static hone_status is_light(hone_gpu *g, hone_rv block, bool *out) {
    hone_node_id node;
    *out = false;
    HONE_TRY(hone_schedule_node(g->sch, block, &node));
    *out = !hone_nest_has_reduce_axis(g->sch, node) && hone_nest_is_light(g->sch, node);
    return HONE_OK;
}

hone_status hone_gpu_join_prologue(hone_gpu *g, hone_rv block) {
    bool has_changed = true;
    while (has_changed) {
        uint32_t count = 0;
        const hone_rv *producers = NULL;
        has_changed = false;
        HONE_TRY(hone_sch_get_producers(g->sch, block, &count, &producers));
        for (uint32_t i = 0; i < count && !has_changed; i++) {
            hone_rv consumer;
            bool light;
            HONE_TRY(hone_nest_only_consumer(g->sch, producers[i], &consumer));
            HONE_TRY(is_light(g, producers[i], &light));
            if (consumer == HONE_NO_ID || !light) continue;
            hone_status st = hone_sch_compute_inline(g->sch, producers[i]);
            has_changed = st == HONE_OK;
            if (hone_status_code(st) == HONE_CODE_ILLEGAL) {
                hone_status_free(st);
            } else if (st) {
                return st;
            }
        }
    }
    return HONE_OK;
}

/* ---- grids, copies ---- */

hone_status hone_gpu_bind_tiles(hone_gpu *g, const hone_gpu_shape *s, hone_rv batch, hone_rv rows,
                                hone_rv columns) {
    hone_rv all[] = {batch, rows, columns}, fused;
    uint32_t first = batch == HONE_NO_ID;
    if (s->extents[GPU_ROWS] > 0 && s->extents[GPU_COLUMNS] > 0) {
        HONE_TRY(hone_gpu_fuse(g, 3 - first, all + first, &fused));
        return hone_sch_bind(g->sch, fused, "blockIdx.x");
    }
    HONE_TRY(hone_sch_bind(g->sch, columns, "blockIdx.x"));
    HONE_TRY(hone_sch_bind(g->sch, rows, "blockIdx.y"));
    return first ? HONE_OK : hone_sch_bind(g->sch, batch, "blockIdx.z");
}

hone_status hone_gpu_fuse_copy(hone_gpu *g, hone_rv copy, hone_rv place, const hone_gpu_side *side,
                               gpu_group last, hone_rv *out) {
    hone_gpu_nest nest;
    hone_node_id node;
    HONE_TRY(hone_gpu_get_nest(g, copy, &nest));
    HONE_TRY(hone_schedule_node(g->sch, place, &node));
    uint32_t first = 0;
    while (first < nest.count && nest.loops[first] != node)
        first++;
    if (first + 2 >= nest.count) return hone_gpu_unfit();
    if (side->last != last && side->run > 1) {
        hone_rv *rvs = nest.rvs + nest.count - 2, order[] = {rvs[1], rvs[0]};
        HONE_TRY(hone_sch_reorder(g->sch, 2, order));
        rvs[0] = order[0];
        rvs[1] = order[1];
    }
    return hone_gpu_fuse(g, nest.count - first - 1, nest.rvs + first + 1, out);
}

/* ---- copies ahead ---- */

static hone_value numbers(hone_gpu *g, uint32_t count, const int64_t *values) {
    hone_value *items = hone_arena_alloc(g->sch->arena, count * sizeof *items);
    for (uint32_t i = 0; items && i < count; i++)
        items[i] = HONE_VALUE_OF_INT(values[i]);
    return (hone_value){.kind = HONE_VALUE_LIST, .count = items ? count : 0, .u.items = items};
}

/* Statements of a loop. */
static hone_status count_statements(hone_gpu *g, hone_rv loop, uint32_t *out) {
    const hone_func *func = g->sch->func;
    hone_node_id node;
    *out = 0;
    HONE_TRY(hone_schedule_node(g->sch, loop, &node));
    for (hone_node_id n = hone_func_node(func, node)->first; n != HONE_NO_ID;
         n = hone_func_node(func, n)->next)
        ++*out;
    return HONE_OK;
}

hone_status hone_gpu_copy_ahead(hone_gpu *g, hone_rv loop, int64_t tiles, bool goes_on) {
    uint32_t count;
    int64_t last = goes_on ? tiles - 2 : tiles - 1;
    const int64_t stages[] = {0, 0, last}, order[] = {goes_on, 1 + goes_on, goes_on ? 0 : 2},
                  behind[] = {0};
    HONE_TRY(count_statements(g, loop, &count));
    if (last < 1 || count != 3) return HONE_OK;
    HONE_TRY(hone_sch_annotate(g->sch, loop, "software_pipeline_stage", numbers(g, 3, stages),
                               HONE_NO_ID));
    HONE_TRY(hone_sch_annotate(g->sch, loop, "software_pipeline_order", numbers(g, 3, order),
                               HONE_NO_ID));
    return hone_sch_annotate(g->sch, loop, "software_pipeline_async_stages", numbers(g, 1, behind),
                             HONE_NO_ID);
}
