/* schedule/layout_offset.c - maps with an offset below their divisions: padding in front.
 *
 * (i + 2) // 4, (i + 2) % 4 is a map of j = i + 2, which begins at 0 and ends 2 later: j // 4, j
 * % 4. No element has the places where j is below 2.
 */
#include "schedule/layout_padding.h"

typedef struct offset_search {
    uint32_t count;
    int64_t *offsets, *divisors; /* by parameter: of its divisions; the largest one */
    bool differs;
} offset_search;

static bool is_division(const hone_expr *e) {
    return hone_expr_is_op(e, HONE_OP_FLOORDIV) || hone_expr_is_op(e, HONE_OP_FLOORMOD);
}

/* i + 2 or 2 + i: the parameter and the number, which is 0 for i alone. */
static bool is_shifted(const hone_expr *e, uint32_t *out_param, int64_t *out_offset) {
    *out_offset = 0;
    if (hone_expr_is_op(e, HONE_OP_ADD)) {
        uint32_t number = hone_expr_is_int(e->args[0]) ? 0 : 1;
        if (!hone_expr_is_int(e->args[number])) return false;
        *out_offset = e->args[number]->u.i;
        e = e->args[1 - number];
    }
    *out_param = e->kind == HONE_EXPR_VAR ? e->u.var : HONE_NO_ID;
    return e->kind == HONE_EXPR_VAR && *out_offset >= 0;
}

static bool note_offset(void *ctx, const hone_expr *e) {
    offset_search *s = ctx;
    uint32_t param = 0;
    int64_t offset = 0;
    if (!is_division(e) || is_division(e->args[0])) return true;
    int64_t divisor = hone_expr_const(e->args[1]);
    if (divisor < 1 || !is_shifted(e->args[0], &param, &offset) || param >= s->count) return true;
    s->differs = s->differs || (s->divisors[param] && s->offsets[param] != offset);
    s->offsets[param] = offset;
    if (divisor > s->divisors[param]) s->divisors[param] = divisor;
    return false;
}

hone_status sch_find_offsets(sch_layout *l, const hone_index_map **out_map) {
    hone_schedule *sch = l->sch;
    const hone_index_map *map = l->map;
    uint32_t rank = map->param_count;
    offset_search s = {.count = rank};
    s.offsets = hone_arena_zalloc(sch->arena, (rank + 1) * sizeof *s.offsets);
    s.divisors = hone_arena_zalloc(sch->arena, (rank + 1) * sizeof *s.divisors);
    l->offsets = hone_arena_zalloc(sch->arena, (rank + 1) * sizeof *l->offsets);
    l->tiles = hone_arena_zalloc(sch->arena, (rank + 1) * sizeof *l->tiles);
    if (!s.offsets || !s.divisors || !l->offsets || !l->tiles) return sch_no_memory();
    *out_map = map;
    for (uint32_t i = 0; i < map->count; i++)
        hone_expr_walk(map->indices[i], note_offset, &s);
    bool is_shifted_map = false;
    for (uint32_t i = 0; i < rank; i++) {
        if (s.differs || s.offsets[i] >= s.divisors[i]) continue; /* whole tiles in front */
        l->offsets[i] = s.offsets[i];
        l->tiles[i] = s.divisors[i];
        is_shifted_map = is_shifted_map || s.offsets[i];
    }
    if (!is_shifted_map) return HONE_OK;
    *out_map = hone_index_map_shift(sch->arena, map, l->offsets);
    return *out_map ? HONE_OK : sch_no_memory();
}

/* value < offset, told by the tile and the place in it, as TVM does: tile == 0 and rest < offset.
 */
static const hone_expr *is_in_front(const sch_layout *l, uint32_t dim, const hone_expr *value) {
    hone_ir *ir = &l->sch->ir;
    const hone_expr *tile = hone_expr_int(ir, value->dtype, l->tiles[dim]);
    const hone_expr *offset = hone_expr_int(ir, value->dtype, l->offsets[dim]);
    const hone_expr *zero = hone_expr_int(ir, value->dtype, 0);
    const hone_expr *is_first =
        hone_expr_binary(ir, HONE_OP_EQ, hone_expr_floordiv(ir, value, tile), zero);
    const hone_expr *is_before =
        hone_expr_binary(ir, HONE_OP_LT, hone_expr_floormod(ir, value, tile), offset);
    const hone_expr *both = hone_expr_binary(ir, HONE_OP_AND, is_first, is_before);
    return both ? hone_simplify(&l->sch->arith, both) : NULL;
}

bool sch_undo_offsets(const sch_layout *l, const hone_expr **io_old, const hone_expr **io_padding) {
    hone_schedule *sch = l->sch;
    hone_ir *ir = &sch->ir;
    const hone_expr *front = NULL;
    for (uint32_t i = 0; i < l->m.iter_count; i++) {
        if (!l->offsets[i]) continue;
        const hone_expr *offset = hone_expr_int(ir, io_old[i]->dtype, l->offsets[i]);
        const hone_expr *here = is_in_front(l, i, io_old[i]);
        front = front ? hone_expr_binary(ir, HONE_OP_OR, front, here) : here;
        io_old[i] = hone_simplify(&sch->arith, hone_expr_sub(ir, io_old[i], offset));
        if (!io_old[i] || !front) return false;
    }
    if (!front) return true;
    *io_padding = *io_padding ? hone_expr_binary(ir, HONE_OP_OR, front, *io_padding) : front;
    return *io_padding != NULL;
}
