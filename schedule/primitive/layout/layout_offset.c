/* schedule/primitive/layout/layout_offset.c - where the numbers that a map divides begin. */
#include "schedule/primitive/layout/layout_numbers.h"

typedef struct offset_search {
    uint32_t count;
    int64_t *offsets, *divisors; /* by parameter: of its divisions; the largest one */
    bool differs;
} offset_search;

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
    if (!hone_expr_is_divmod(e) || hone_expr_is_divmod(e->args[0])) return true;
    int64_t divisor = hone_expr_const(e->args[1]);
    if (divisor < 1 || !is_shifted(e->args[0], &param, &offset) || param >= s->count) return true;
    s->differs = s->differs || (s->divisors[param] && s->offsets[param] != offset);
    s->offsets[param] = offset;
    if (divisor > s->divisors[param]) s->divisors[param] = divisor;
    return false;
}

/* Number i begins offsets[i] earlier. */
static hone_status shift(hone_schedule *sch, sch_numbers *n) {
    for (uint32_t i = 0; i < n->count; i++) {
        if (!n->offsets[i]) continue;
        hone_range range = n->iters[i].range;
        const hone_expr *offset = hone_expr_int(&sch->ir, range.extent->dtype, n->offsets[i]);
        range.extent = hone_simplify(&sch->arith, hone_expr_add(&sch->ir, range.extent, offset));
        hone_var var = hone_func_add_named_var(sch->func, "dim", range.min->dtype);
        if (!range.extent || var == HONE_NO_ID || !hone_arith_bind(&sch->arith, var, range)) {
            return sch_no_memory();
        }
        n->iters[i] = (hone_iter){var, range};
    }
    n->map = hone_index_map_shift(sch->arena, n->map, n->offsets);
    return n->map ? sch_ir_error(sch) : sch_no_memory();
}

hone_status sch_find_numbers(hone_schedule *sch, const hone_index_map *map, uint32_t rank,
                             const hone_iter *dims, sch_numbers *out) {
    HONE_TRY(sch_join_dims(sch, map, rank, dims, out));
    uint32_t count = out->count;
    offset_search s = {.count = count};
    s.offsets = hone_arena_zalloc(sch->arena, (count + 1) * sizeof *s.offsets);
    s.divisors = hone_arena_zalloc(sch->arena, (count + 1) * sizeof *s.divisors);
    out->offsets = hone_arena_zalloc(sch->arena, (count + 1) * sizeof *out->offsets);
    out->tiles = hone_arena_zalloc(sch->arena, (count + 1) * sizeof *out->tiles);
    if (!s.offsets || !s.divisors || !out->offsets || !out->tiles) return sch_no_memory();
    for (uint32_t i = 0; i < out->map->count; i++)
        hone_expr_walk(out->map->indices[i], note_offset, &s);
    for (uint32_t i = 0; i < count; i++) {
        if (s.differs || s.offsets[i] >= s.divisors[i]) continue; /* whole tiles in front */
        out->offsets[i] = s.offsets[i];
        out->tiles[i] = s.divisors[i];
        out->is_shifted = out->is_shifted || s.offsets[i];
    }
    return out->is_shifted ? shift(sch, out) : HONE_OK;
}

/* value < offset, told by the tile and the place in it, as TVM does: tile == 0 and rest < offset.
 */
static const hone_expr *is_in_front(hone_schedule *sch, const sch_numbers *n, uint32_t i,
                                    const hone_expr *value) {
    hone_ir *ir = &sch->ir;
    const hone_expr *tile = hone_expr_int(ir, value->dtype, n->tiles[i]);
    const hone_expr *offset = hone_expr_int(ir, value->dtype, n->offsets[i]);
    const hone_expr *zero = hone_expr_int(ir, value->dtype, 0);
    const hone_expr *is_first =
        hone_expr_binary(ir, HONE_OP_EQ, hone_expr_floordiv(ir, value, tile), zero);
    const hone_expr *is_before =
        hone_expr_binary(ir, HONE_OP_LT, hone_expr_floormod(ir, value, tile), offset);
    const hone_expr *both = hone_expr_binary(ir, HONE_OP_AND, is_first, is_before);
    return both ? hone_simplify(&sch->arith, both) : NULL;
}

static bool undo_offsets(hone_schedule *sch, const sch_numbers *n, const hone_expr **values,
                         const hone_expr **io_padding) {
    hone_ir *ir = &sch->ir;
    const hone_expr *front = NULL;
    for (uint32_t i = 0; i < n->count; i++) {
        if (!n->offsets[i]) continue;
        const hone_expr *offset = hone_expr_int(ir, values[i]->dtype, n->offsets[i]);
        const hone_expr *here = is_in_front(sch, n, i, values[i]);
        front = front ? hone_expr_binary(ir, HONE_OP_OR, front, here) : here;
        values[i] = hone_simplify(&sch->arith, hone_expr_sub(ir, values[i], offset));
        if (!values[i] || !front) return false;
    }
    if (!front) return true;
    *io_padding = *io_padding ? hone_expr_binary(ir, HONE_OP_OR, front, *io_padding) : front;
    return *io_padding != NULL;
}

bool sch_undo_numbers(hone_schedule *sch, const sch_numbers *n, const hone_expr **values,
                      const hone_expr **out_dims, const hone_expr **io_padding) {
    if (!undo_offsets(sch, n, values, io_padding)) return false;
    if (n->is_joined &&
        !hone_itermap_inverse(&sch->arith, &n->joined, values, n->rank, n->dims, out_dims)) {
        return false;
    }
    for (uint32_t d = 0; d < n->rank; d++) {
        if (!n->is_joined) out_dims[d] = values[d];
        if (!out_dims[d]) return false;
    }
    return true;
}
