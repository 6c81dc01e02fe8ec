/* schedule/defaults/default_ahead.c - programs that go over rows several times ask for the next row
 * while they are at this one.
 *
 *   for row…:
 *     for k…: max[row] = …X[row, k]              X comes from afar
 *     for k0… (pragma_prefetch = a row): for k1 (vectors): Y[row, k] = …X[row, k]
 *
 * CPUs look ahead by themselves, but not beyond the end of a page, and a row is about one. The last
 * pass that reads what an earlier one has read does it: it waits for nothing meanwhile. How far
 * ahead is a decision. Left alone is X that lies near as a whole, and rows of which the first cache
 * does not hold two.
 */
#include "schedule/defaults/default_impl.h"
#include "schedule/nests/loop_strides.h"
#include "schedule/primitive/primitives.h"
#include "schedule/state/schedule_impl.h"

enum { VECTORS = 4, LEAST_STEPS = 4 };

/* A pass over rows: a block in loops, of which the innermost is its own. */
typedef struct pass {
    hone_schedule *sch;
    hone_node_id block, loop, rows; /* rows: the loop around, which has other passes, too */
    hone_rv loop_rv;
    int64_t extent, step; /* elements of a row, and of a vectorized step */
} pass;

static const hone_block *block_of(const pass *p, hone_node_id node) {
    return hone_func_node(p->sch->func, node)->u.block.block;
}

/* ---- facts ---- */

/* Loops of one iteration stand between. */
static hone_node_id loop_over_rows(const hone_func *func, hone_node_id loop) {
    hone_node_id around = hone_func_node(func, loop)->parent;
    while (hone_func_node(func, around)->kind == HONE_NODE_FOR &&
           hone_expr_is_int_value(hone_func_node(func, around)->u.loop.range.extent, 1)) {
        around = hone_func_node(func, around)->parent;
    }
    return around;
}

static bool is_pass(pass *p, const hone_default_limits *limits) {
    const hone_func *func = p->sch->func;
    const hone_node *loop = hone_func_node(func, p->loop);
    const hone_block *block = block_of(p, p->block);
    if (loop->loop_kind != HONE_LOOP_SERIAL || loop->u.loop.annotations.count ||
        loop->first != loop->last || block->write_count != 1 ||
        hone_nest_has_reduce_axis(p->sch, p->block)) {
        return false;
    }
    int32_t bits = func->buffers[block->writes[0].buffer].dtype.bits;
    p->rows = loop_over_rows(func, p->loop);
    p->extent = hone_expr_const(loop->u.loop.range.extent);
    p->step = (int64_t)VECTORS * limits->vector_lanes * 32 / (bits > 0 ? bits : 32);
    const hone_node *rows = hone_func_node(func, p->rows);
    return rows->kind == HONE_NODE_FOR && rows->first != rows->last &&
           p->extent >= LEAST_STEPS * p->step;
}

/* A pass before this one, over the same rows, reads it; none of them writes it. */
static bool is_there_already(const pass *p, hone_buffer buffer) {
    const hone_func *func = p->sch->func;
    bool is_read = false;
    for (hone_node_id n = p->rows; n != HONE_NO_ID; n = hone_tree_next(func, p->rows, n)) {
        if (hone_func_node(func, n)->kind != HONE_NODE_BLOCK) continue;
        const hone_block *block = block_of(p, n);
        if (sch_writes(block, buffer)) return false;
        if (n == p->block) return is_read;
        is_read |= sch_reads(block, buffer);
    }
    return false;
}

/* What it reads goes on with each row, and is dense in it: *io_bytes, the largest of such. */
static void note_read(const pass *p, const hone_region *read, int64_t *io_bytes) {
    int64_t in_row, of_rows;
    hone_var inner = hone_func_node(p->sch->func, p->loop)->u.loop.var;
    hone_var outer = hone_func_node(p->sch->func, p->rows)->u.loop.var;
    if (!sch_stride_in_loop(p->sch, p->block, read, inner, &in_row) || in_row != 1 ||
        !sch_stride_in_loop(p->sch, p->block, read, outer, &of_rows) || of_rows < p->extent ||
        !is_there_already(p, read->buffer)) {
        return;
    }
    int64_t bytes = hone_default_buffer_bytes(p->sch, read->buffer);
    if (bytes > *io_bytes) *io_bytes = bytes;
}

/* Bytes of the largest input that it could ask for ahead; 0: there is none. */
static int64_t bytes_again(const pass *p) {
    const hone_block *block = block_of(p, p->block);
    int64_t bytes = 0;
    for (uint32_t r = 0; r < block->read_count; r++)
        note_read(p, &block->reads[r], &bytes);
    return bytes;
}

/* What is asked for would not be there, and the first cache holds two rows. */
static bool is_worth_it(const pass *p, const hone_default_limits *limits) {
    int64_t row = p->extent * VECTORS * limits->vector_lanes * 4 / p->step;
    return 2 * bytes_again(p) > limits->l2_bytes && 2 * row <= limits->l1_bytes;
}

static hone_status find_pass(hone_schedule *sch, const char *name,
                             const hone_default_limits *limits, pass *out, bool *out_is_found) {
    uint32_t count = 0;
    const hone_rv *loops = NULL;
    hone_rv block;
    *out = (pass){.sch = sch};
    *out_is_found = false;
    HONE_TRY(hone_sch_get_block(sch, name, &block));
    HONE_TRY(hone_schedule_node(sch, block, &out->block));
    HONE_TRY(hone_sch_get_loops(sch, block, &count, &loops));
    if (count < 2) return HONE_OK;
    out->loop_rv = loops[count - 1];
    HONE_TRY(hone_schedule_node(sch, out->loop_rv, &out->loop));
    *out_is_found = is_pass(out, limits) && is_worth_it(out, limits);
    return HONE_OK;
}

/* ---- steps ---- */

/* In steps of a pass: nothing, half a row, a row, two, four. */
static hone_status annotate(const pass *p, hone_rv loop) {
    int64_t row = (p->extent + p->step - 1) / p->step, chosen = 2;
    const int64_t steps[] = {0, row / 2, row, 2 * row, 4 * row};
    static const double probs[] = {0.3, 0.15, 0.3, 0.15, 0.1};
    hone_decision decision = {1, &chosen};
    hone_rv ahead;
    HONE_TRY(
        hone_sch_sample_categorical(p->sch, HONE_COUNT(steps), steps, probs, &decision, &ahead));
    return hone_sch_annotate(p->sch, loop, "pragma_prefetch", HONE_VALUE_OF_INT(0), ahead);
}

static hone_status look_ahead(const pass *p) {
    const hone_rv *parts = NULL;
    hone_factor factors[] = {{.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_INT(p->step)};
    HONE_TRY(hone_sch_split(p->sch, p->loop_rv, 2, factors, true, false, &parts));
    hone_rv outer = parts[0];
    HONE_TRY(hone_sch_vectorize(p->sch, parts[1]));
    return annotate(p, outer);
}

hone_status hone_default_ahead(hone_schedule *sch, const hone_default_limits *limits,
                               bool *out_is_done) {
    hone_default_blocks blocks;
    *out_is_done = false;
    if (limits->vector_lanes < 2) return HONE_OK;
    hone_default_list_blocks(sch, &blocks);
    for (uint32_t i = blocks.count; i-- > 0 && !*out_is_done;) {
        pass p;
        HONE_TRY(hone_default_optional(find_pass(sch, blocks.names[i], limits, &p, out_is_done)));
        if (*out_is_done) HONE_TRY(look_ahead(&p));
    }
    return HONE_OK;
}
