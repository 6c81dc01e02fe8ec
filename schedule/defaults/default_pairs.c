/* schedule/defaults/default_pairs.c - products of pairs of bfloat16 (schedule/variant/bf16.c): a
 * panel of columns stays near while all rows go by, and a tile of rows is in registers.
 *
 *   rows and panels, rounded
 *   for others…, panel, i0:
 *     for taps…, q: for i1 (unrolled): for h (unrolled): for j (vectors): tile[i1, j] += a dot
 * product out = epilogue(tile)
 */
#include <math.h>
#include <string.h>

#include "schedule/defaults/default_impl.h"
#include "schedule/defaults/packed.h"
#include "schedule/defaults/pairs.h"
#include "schedule/primitive/primitives.h"

enum { PANEL = 32, MAX_ROWS = 16, MAX_LOOPS = 16, LEAST_SHARED = 8 };

typedef struct product {
    hone_default_nest n;
    hone_packed p; /* sch, block, node and rows of it alone */
    uint32_t count;
    const hone_rv *loops; /* axes of the output, taps, pairs, the two of a pair */
    uint32_t column;      /* the last axis of the output */
    int32_t row;          /* axis whose places are rows of a tile; -1: there is none */
    int64_t rows;
} product;

static bool is_stage(const char *name) {
    return strcmp(name, "bf16_rows") == 0 || strcmp(name, "bf16_panels") == 0 ||
           strcmp(name, "bf16_product") == 0;
}

bool hone_pairs_is(const hone_schedule *sch) {
    hone_default_blocks blocks;
    uint32_t count = 0;
    hone_default_list_blocks(sch, &blocks);
    for (uint32_t i = 0; i < blocks.count; i++)
        count += is_stage(blocks.names[i]);
    return count == 3;
}

static hone_node_id find_stage(const hone_schedule *sch, const char *name) {
    hone_node_id root = hone_func_root_block(sch->func), n = root;
    while ((n = hone_tree_next(sch->func, root, n)) != HONE_NO_ID) {
        const hone_node *node = hone_func_node(sch->func, n);
        if (node->kind == HONE_NODE_BLOCK && strcmp(node->u.block.block->name, name) == 0) break;
    }
    return n;
}

bool hone_pairs_pay(const hone_schedule *sch, const hone_default_limits *limits) {
    hone_node_id panels = find_stage(sch, "bf16_panels");
    double products = (double)hone_nest_instances(sch, find_stage(sch, "bf16_product"));
    return products >= LEAST_SHARED * (double)hone_nest_instances(sch, panels) ||
           hone_default_reads_constants(sch, limits, panels);
}

/* Rows that are of bfloat16 already and lie along the sum are read where they are. */
static hone_status inline_rows(hone_schedule *sch) {
    hone_rv rows;
    hone_node_id block = find_stage(sch, "bf16_rows");
    const hone_node *store = hone_func_node(sch->func, hone_func_node(sch->func, block)->first);
    if (store->kind != HONE_NODE_STORE) return HONE_OK;
    const hone_expr *value = store->u.store.value, *last = NULL;
    const hone_expr *sum = store->u.store.indices[store->u.store.rank - 1];
    if (value->kind == HONE_EXPR_LOAD) last = value->args[value->count - 1];
    bool is_along = last && last->kind == HONE_EXPR_VAR && last->u.var == sum->u.var;
    if (!is_along) return HONE_OK;
    HONE_TRY(hone_sch_get_block(sch, "bf16_rows", &rows));
    return hone_default_optional(hone_sch_compute_inline(sch, rows));
}

static hone_status inline_others(hone_schedule *sch, const hone_default_blocks *blocks) {
    for (uint32_t i = blocks->count; i-- > 0;) {
        if (is_stage(blocks->names[i])) continue;
        HONE_TRY(hone_default_optional(hone_default_inline(sch, blocks->names[i])));
    }
    return HONE_OK;
}

static uint32_t count_outputs(const product *m) {
    const hone_block *block = hone_packed_block(&m->p);
    uint32_t count = 0;
    while (count < block->axis_count && block->axes[count].kind == HONE_AXIS_SPATIAL)
        count++;
    return count;
}

static bool moves(const hone_schedule *sch, const hone_region *region, hone_var var) {
    for (uint32_t d = 0; d < hone_func_buffer(sch->func, region->buffer)->rank; d++)
        if (hone_expr_uses_var(region->ranges[d].min, var)) return true;
    return false;
}

/* Rows share panels: the last axis of the output that the left side moves along and the right one
 * does not. */
static int32_t find_row(const product *m) {
    const hone_block *block = hone_packed_block(&m->p);
    if (block->read_count != 2) return -1;
    for (int32_t a = (int32_t)m->column - 1; a >= 0; a--) {
        hone_var var = block->axes[a].var;
        bool is_left = moves(m->n.sch, &block->reads[0], var);
        if (is_left && !moves(m->n.sch, &block->reads[1], var)) return a;
    }
    return -1;
}

/* As many as take the least time for all. */
static int64_t choose_rows(const product *m) {
    const hone_default_nest *n = &m->n;
    hone_node_id loop;
    int64_t best = 1, all;
    double least = HUGE_VAL;
    if (hone_schedule_node(n->sch, m->loops[m->row], &loop)) return 1;
    all = hone_expr_const(hone_func_node(n->sch->func, loop)->u.loop.range.extent);
    for (int64_t rows = 1; rows <= all && rows <= MAX_ROWS; rows++) {
        if (!hone_default_tile_fits(n, rows, PANEL)) break;
        double time = (double)(all / rows) * hone_default_step_time(n, rows, PANEL) +
                      hone_default_step_time(n, all % rows, PANEL);
        if (time >= least) continue;
        least = time;
        best = rows;
    }
    return best;
}

typedef struct tile {
    hone_rv panel, column, row[2];
} tile;

static hone_status reorder(product *m, const tile *t) {
    hone_rv order[MAX_LOOPS];
    uint32_t n = 0;
    for (uint32_t a = 0; a < m->column; a++)
        if ((int32_t)a != m->row) order[n++] = m->loops[a];
    order[n++] = t->panel;
    if (m->row >= 0) order[n++] = t->row[0];
    for (uint32_t a = m->column + 1; a + 1 < m->count; a++)
        order[n++] = m->loops[a];
    if (m->row >= 0) order[n++] = t->row[1];
    order[n++] = m->loops[m->count - 1];
    order[n++] = t->column;
    return hone_sch_reorder(m->n.sch, n, order);
}

static hone_status make_tile(product *m, tile *t) {
    hone_schedule *sch = m->n.sch;
    const hone_rv *parts;
    hone_factor factors[] = {{.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_INT(PANEL)};
    HONE_TRY(hone_sch_split(sch, m->loops[m->column], 2, factors, true, false, &parts));
    t->panel = parts[0];
    t->column = parts[1];
    const hone_default_sizes rows = {m->rows, MAX_ROWS, 1};
    if (m->row >= 0) HONE_TRY(hone_default_split(sch, m->loops[m->row], &rows, t->row));
    HONE_TRY(reorder(m, t));
    HONE_TRY(hone_sch_annotate(sch, m->loops[m->count - 2], "pragma_bf16_dot", HONE_VALUE_OF_INT(1),
                               HONE_NO_ID));
    HONE_TRY(hone_sch_vectorize(sch, t->column));
    HONE_TRY(hone_sch_unroll(sch, m->loops[m->count - 1]));
    return m->row >= 0 ? hone_sch_unroll(sch, t->row[1]) : HONE_OK;
}

/* What takes the tile goes over its rows, and its columns as vectors. */
static hone_status take_tile(product *m, const tile *t, hone_rv epilogue) {
    hone_schedule *sch = m->n.sch;
    uint32_t count;
    const hone_rv *loops;
    hone_rv place = m->row >= 0 ? t->row[0] : t->panel;
    HONE_TRY(hone_sch_reverse_compute_at(sch, epilogue, place, true, -1));
    HONE_TRY(hone_sch_get_loops(sch, epilogue, &count, &loops));
    if (m->row >= 0 && count > m->column + 2)
        HONE_TRY(hone_default_optional(hone_sch_unroll(sch, loops[count - 2])));
    return hone_default_optional(hone_sch_vectorize(sch, loops[count - 1]));
}

static hone_status schedule(hone_schedule *sch, const hone_default_limits *limits) {
    product m = {
        .n = {.sch = sch,                     .limits = limits, .lanes = limits->vector_lanes},
          .p = {.sch = sch}
    };
    tile t;
    hone_rv epilogue;
    HONE_TRY(hone_sch_get_block(sch, "bf16_product", &m.p.block));
    HONE_TRY(hone_packed_cache_tile(&m.p, &epilogue));
    HONE_TRY(hone_schedule_node(sch, m.p.block, &m.p.node));
    HONE_TRY(hone_sch_get_loops(sch, m.p.block, &m.count, &m.loops));
    uint32_t outputs = count_outputs(&m);
    if (outputs == 0 || m.count < outputs + 2 || m.count + 2 > MAX_LOOPS)
        return HONE_ERROR(HONE_CODE_ILLEGAL, "unexpected loops");
    m.column = outputs - 1;
    m.row = find_row(&m);
    m.n.facts.element_bits = 32;
    if (m.row >= 0) m.rows = choose_rows(&m);
    HONE_TRY(make_tile(&m, &t));
    return take_tile(&m, &t, epilogue);
}

/* On a copy first: a step that is refused in the middle would leave half of it. */
hone_status hone_default_pairs(hone_schedule *sch, const hone_default_limits *limits,
                               bool *out_is_done) {
    hone_default_blocks blocks;
    hone_schedule *copy = NULL;
    *out_is_done = false;
    hone_default_list_blocks(sch, &blocks);
    if (!hone_pairs_is(sch) || limits->vector_lanes < 2) return HONE_OK;
    HONE_TRY(inline_others(sch, &blocks));
    HONE_TRY(inline_rows(sch));
    HONE_TRY(hone_schedule_copy(sch, &copy));
    copy->wants_reasons = false;
    hone_status st = schedule(copy, limits);
    hone_schedule_destroy(copy);
    *out_is_done = !st;
    return st ? hone_default_optional(st) : schedule(sch, limits);
}
