/* schedule/defaults/default_reduce.c - reductions along contiguous memory (the sum of a row) that
 * no tile holds: lowering collects them in vectors, tails included, where the loops that only
 * reduce are annotated (lower/vectors/lower_reduce.c).
 *
 *   for row…:
 *     for reduce… (pragma_vector_reduce): sum[row] += …
 */
#include "schedule/defaults/default_impl.h"
#include "schedule/nests/loop_strides.h"
#include "schedule/primitive/primitives.h"

enum { MOST_REGISTERS = 8, MAX_LOOPS = 64 };

bool hone_default_only_reduces(const hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    const hone_node *node = hone_func_node(sch->func, block);
    hone_var var = hone_func_node(sch->func, loop)->u.loop.var;
    bool reduces = false;
    for (uint32_t a = 0; a < node->u.block.block->axis_count; a++) {
        if (!hone_expr_uses_var(node->u.block.bindings[a], var)) continue;
        if (node->u.block.block->axes[a].kind == HONE_AXIS_SPATIAL) return false;
        reduces = true;
    }
    return reduces;
}

/* Its iterations read neighbours, or the same; neighbours at least once. */
static bool reads_neighbours(hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    const hone_block *inner = hone_func_node(sch->func, block)->u.block.block;
    hone_var var = hone_func_node(sch->func, loop)->u.loop.var;
    bool moves = false;
    for (uint32_t r = 0; r < inner->read_count; r++) {
        int64_t stride;
        if (!sch_stride_in_loop(sch, block, &inner->reads[r], var, &stride)) return false;
        if (stride != 0 && stride != 1) return false;
        moves |= stride == 1;
    }
    return moves;
}

/* Full registers that the loop gives work to. */
static int64_t register_count(int64_t extent, int64_t lanes) {
    int64_t count = MOST_REGISTERS;
    while (count > 1 && extent < 2 * count * lanes)
        count /= 2;
    return count;
}

/* A choice that is made already, so that a search can go on from here. */
static hone_status annotate_registers(hone_schedule *sch, hone_rv loop, int64_t count) {
    static const int64_t counts[] = {1, 2, 4, 8};
    static const double probs[] = {0.1, 0.2, 0.35, 0.35};
    int64_t index = 0;
    hone_rv value;
    while (counts[index] < count)
        index++;
    hone_decision decision = {1, &index};
    HONE_TRY(
        hone_sch_sample_categorical(sch, HONE_COUNT(counts), counts, probs, &decision, &value));
    return hone_sch_annotate(sch, loop, "pragma_vector_reduce", HONE_VALUE_OF_INT(0), value);
}

/* What is read goes straight on from the end of the inner loop to the next iteration of the outer
 * one. */
static bool goes_on(hone_schedule *sch, hone_node_id block, hone_node_id outer,
                    hone_node_id inner) {
    const hone_func *func = sch->func;
    const hone_block *b = hone_func_node(func, block)->u.block.block;
    const hone_node *around = hone_func_node(func, outer), *loop = hone_func_node(func, inner);
    int64_t extent = hone_expr_const(loop->u.loop.range.extent);
    if (loop->parent != outer || around->first != around->last || extent < 1 ||
        around->loop_kind != HONE_LOOP_SERIAL || around->u.loop.annotations.count ||
        !hone_default_only_reduces(sch, block, outer)) {
        return false;
    }
    for (uint32_t r = 0; r < b->read_count; r++) {
        int64_t step, next;
        if (!sch_stride_in_loop(sch, block, &b->reads[r], loop->u.loop.var, &step) ||
            !sch_stride_in_loop(sch, block, &b->reads[r], around->u.loop.var, &next) || step < 0 ||
            step > 1 || next != step * extent) {
            return false;
        }
    }
    return true;
}

int64_t hone_default_run_length(hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    int64_t length = hone_expr_const(hone_func_node(sch->func, loop)->u.loop.range.extent);
    for (hone_node_id around = hone_func_node(sch->func, loop)->parent;
         hone_func_node(sch->func, around)->kind == HONE_NODE_FOR &&
         goes_on(sch, block, around, loop) && length < INT32_MAX;
         around = hone_func_node(sch->func, loop)->parent) {
        length *= hone_expr_const(hone_func_node(sch->func, around)->u.loop.range.extent);
        loop = around;
    }
    return length;
}

/* Loops that go over one run of memory become one: the last of `io_count` and those around it. */
static hone_status join_run(hone_schedule *sch, hone_node_id block, hone_rv *loops,
                            uint32_t *io_count) {
    while (*io_count > 1) {
        hone_node_id nodes[2];
        for (int i = 0; i < 2; i++)
            HONE_TRY(hone_schedule_node(sch, loops[*io_count - 2 + (uint32_t)i], &nodes[i]));
        if (!goes_on(sch, block, nodes[0], nodes[1])) return HONE_OK;
        HONE_TRY(hone_sch_fuse(sch, 2, loops + *io_count - 2, true, &loops[*io_count - 2]));
        (*io_count)--;
    }
    return HONE_OK;
}

/* The loops around a block but those innermost ones that run once. */
static hone_status list_loops(hone_schedule *sch, hone_rv block, uint32_t *out_count,
                              hone_rv *out) {
    const hone_rv *loops = NULL;
    HONE_TRY(hone_sch_get_loops(sch, block, out_count, &loops));
    if (*out_count > MAX_LOOPS) *out_count = 0;
    for (uint32_t i = 0; i < *out_count; i++)
        out[i] = loops[i];
    for (; *out_count > 0; (*out_count)--) {
        hone_node_id loop;
        HONE_TRY(hone_schedule_node(sch, loops[*out_count - 1], &loop));
        if (!hone_expr_is_int_value(hone_func_node(sch->func, loop)->u.loop.range.extent, 1)) break;
    }
    return HONE_OK;
}

/* The innermost loop that counts, and those around it that only reduce too. */
static hone_status collect_one(hone_schedule *sch, const hone_default_limits *limits,
                               const char *name) {
    hone_rv block_rv;
    hone_node_id block, loop;
    uint32_t count = 0;
    hone_rv loops[MAX_LOOPS];
    HONE_TRY(hone_sch_get_block(sch, name, &block_rv));
    HONE_TRY(hone_schedule_node(sch, block_rv, &block));
    if (!hone_nest_has_reduce_axis(sch, block)) return HONE_OK;
    HONE_TRY(list_loops(sch, block_rv, &count, loops));
    if (count == 0) return HONE_OK;
    HONE_TRY(hone_schedule_node(sch, loops[count - 1], &loop));
    int64_t extent = hone_default_run_length(sch, block, loop);
    bool is_serial = hone_func_node(sch->func, loop)->loop_kind == HONE_LOOP_SERIAL;
    if (!is_serial || extent < limits->vector_lanes ||
        !hone_default_only_reduces(sch, block, loop) || !reads_neighbours(sch, block, loop)) {
        return HONE_OK;
    }
    HONE_TRY(join_run(sch, block, loops, &count));
    HONE_TRY(hone_schedule_node(sch, loops[count - 1], &loop));
    for (; count > 1; count--) {
        hone_node_id around;
        HONE_TRY(hone_schedule_node(sch, loops[count - 2], &around));
        if (hone_func_node(sch->func, loop)->parent != around ||
            !hone_default_only_reduces(sch, block, around)) {
            break;
        }
        loop = around;
    }
    return annotate_registers(sch, loops[count - 1], register_count(extent, limits->vector_lanes));
}

hone_status hone_default_reduce(hone_schedule *sch, const hone_default_limits *limits) {
    if (limits->vector_lanes < 2) return HONE_OK;
    hone_default_blocks blocks;
    hone_default_list_blocks(sch, &blocks);
    for (uint32_t i = 0; i < blocks.count; i++)
        HONE_TRY(hone_default_optional(collect_one(sch, limits, blocks.names[i])));
    return HONE_OK;
}
