/* schedule/defaults/packed_nest.c - the loops of a packed product, and how its tile is taken. */
#include "schedule/defaults/default_impl.h"
#include "schedule/defaults/packed.h"
#include "schedule/primitive/primitives.h"

enum { MAX_MIDDLE = 8 };

static hone_status illegal(const char *why) {
    return HONE_ERROR(HONE_CODE_ILLEGAL, "%s", why);
}

/* ---- the nest ---- */

typedef struct nest {
    const hone_packed *p;
    const hone_rv *loops;
    hone_rv row[2], outer_row[2], column[3], sum[2];
    uint32_t count; /* of order */
    hone_rv order[HONE_NEST_MAX_LOOPS + 4];
} nest;

static hone_status split(const hone_packed *p, hone_rv loop, hone_factor inner, hone_rv out[2]) {
    const hone_rv *parts = NULL;
    hone_factor factors[] = {{.kind = HONE_FACTOR_NONE}, inner};
    HONE_TRY(hone_sch_split(p->sch, loop, 2, factors, true, false, &parts));
    out[0] = parts[0];
    out[1] = parts[1];
    return HONE_OK;
}

static hone_status split_all(nest *n, const hone_packed_tiling *t) {
    const hone_packed *p = n->p;
    const hone_rv *parts = NULL;
    HONE_TRY(split(p, n->loops[p->row], t->rows, n->row));
    if (p->outer_row >= 0) HONE_TRY(split(p, n->loops[p->outer_row], t->outer_rows, n->outer_row));
    if (p->together > 1)
        HONE_TRY(split(p, n->loops[p->last_sum], HONE_FACTOR_OF_INT(p->together), n->sum));
    hone_factor factors[] = {{.kind = HONE_FACTOR_NONE}, t->group, HONE_FACTOR_OF_INT(p->columns)};
    HONE_TRY(hone_sch_split(p->sch, n->loops[p->column], 3, factors, true, false, &parts));
    for (int i = 0; i < 3; i++)
        n->column[i] = parts[i];
    return HONE_OK;
}

/* Loops over other axes that the operand moves along, or does not. */
static void add_others(nest *n, bool are_of_operand) {
    const hone_packed *p = n->p;
    const hone_block *block = hone_packed_block(p);
    const hone_region *operand = p->read < block->read_count ? &block->reads[p->read] : NULL;
    for (uint32_t a = 0; a < p->f.loop_count; a++) {
        if (!p->f.is_spatial[a] || a == p->row || a == p->column) continue;
        bool is_of_operand = operand && hone_packed_place(p, operand, a) >= 0;
        if (is_of_operand != are_of_operand) continue;
        n->order[n->count++] = (int32_t)a == p->outer_row ? n->outer_row[0] : n->loops[a];
    }
}

hone_status hone_packed_nest(const hone_packed *p, const hone_packed_tiling *t,
                             hone_packed_places *out) {
    nest n = {.p = p};
    uint32_t count = 0;
    HONE_TRY(hone_sch_get_loops(p->sch, p->block, &count, &n.loops));
    if (count != p->f.loop_count) return illegal("unexpected loops");
    HONE_TRY(split_all(&n, t));
    add_others(&n, true);
    if (!t->rows_first) n.order[n.count++] = n.column[0];
    out->panel_depth = n.count;
    add_others(&n, false);
    if (t->rows_first) n.order[n.count++] = n.column[0];
    n.order[n.count++] = n.row[0];
    n.order[n.count++] = n.column[1];
    out->depth = n.count;
    for (uint32_t a = 0; a < count; a++) {
        if (!p->f.is_spatial[a] && (int32_t)a != p->last_sum) n.order[n.count++] = n.loops[a];
    }
    if (p->last_sum >= 0) n.order[n.count++] = p->together > 1 ? n.sum[0] : n.loops[p->last_sum];
    out->reduce = n.order[out->depth];
    if (p->outer_row >= 0) n.order[n.count++] = n.outer_row[1];
    n.order[n.count++] = n.row[1];
    if (p->together > 1) n.order[n.count++] = n.sum[1];
    n.order[n.count++] = n.column[2];
    out->panel = n.column[0];
    out->tile = n.column[1];
    out->row = n.row[1];
    out->outer_row = p->outer_row >= 0 ? n.outer_row[1] : HONE_NO_ID;
    HONE_TRY(hone_sch_reorder(p->sch, n.count, n.order));
    if (p->together == 1) return HONE_OK;
    HONE_TRY(hone_sch_unroll(p->sch, n.sum[1]));
    return hone_sch_vectorize(p->sch, n.column[2]);
}

/* ---- where the tile goes ---- */

/* How many dimensions of the output stand behind the side of the tile that is not contiguous. */
static uint32_t dimensions_behind(const hone_packed *p) {
    const hone_region *written = &hone_packed_block(p)->writes[0];
    uint32_t rank = hone_func_buffer(p->sch->func, written->buffer)->rank;
    uint32_t side = p->is_turned ? p->column : p->row;
    return rank - 1 - (uint32_t)hone_packed_dimension(p, written, side);
}

/* Squares of a register's width, one after another. */
static hone_status turn_tile(const hone_packed *p, const hone_rv *loops, uint32_t middle) {
    const hone_rv *parts = NULL;
    hone_rv order[MAX_MIDDLE + 3];
    uint32_t n = 0;
    if (middle > MAX_MIDDLE) return illegal("many dimensions");
    hone_factor factors[] = {{.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_INT(p->lanes)};
    HONE_TRY(hone_sch_split(p->sch, loops[0], 2, factors, true, false, &parts));
    hone_rv outer = parts[0], inner = parts[1];
    order[n++] = outer;
    for (uint32_t i = 0; i < middle; i++)
        order[n++] = loops[1 + i];
    order[n++] = inner;
    order[n++] = loops[1 + middle];
    HONE_TRY(hone_sch_reorder(p->sch, n, order));
    HONE_TRY(hone_sch_unroll(p->sch, outer));
    HONE_TRY(hone_sch_unroll(p->sch, inner));
    return hone_sch_vectorize(p->sch, loops[1 + middle]);
}

/* The last dimension is a vector, the other side of the tile unrolls. */
hone_status hone_packed_take_tile(const hone_packed *p, hone_rv epilogue,
                                  const hone_packed_places *at) {
    uint32_t count = 0, behind = dimensions_behind(p);
    const hone_rv *loops = NULL;
    HONE_TRY(hone_sch_reverse_compute_at(p->sch, epilogue, at->tile, true, -1));
    HONE_TRY(hone_sch_get_loops(p->sch, epilogue, &count, &loops));
    if (behind < 1 || count < at->depth + behind + 1) return HONE_OK;
    const hone_rv *side = &loops[count - 1 - behind];
    if (p->is_turned) return hone_default_optional(turn_tile(p, side, behind - 1));
    HONE_TRY(hone_default_optional(hone_sch_unroll(p->sch, side[0])));
    return hone_default_optional(hone_sch_vectorize(p->sch, side[behind]));
}
