/* schedule/primitive/buffers/reindexing_indices.c - may new indices stand for the old ones? What is
 * read at A[h // 3, k] may be kept at B[k, h // 3]: the element depends on one digit of h only.
 * Such an axis is divided, h = 3 * high + low, and the new indices must be injective in the digits
 * that the old ones are made of. */
#include "schedule/primitive/buffers/reindexing_indices.h"

#include "ir/arith/itermap.h"

/* How the old indices use an axis. */
typedef struct digit {
    hone_op op;      /* FLOORDIV: the high digit only, FLOORMOD: the low one only */
    int64_t by;      /* 0: not met yet, -1: in other ways, too */
    hone_var needed; /* the digit, or the axis itself */
    hone_var other;  /* the other digit, or HONE_NO_ID */
} digit;

typedef struct digits {
    sch_reindexing *r;
    digit *of_axis;
} digits;

static digit *digit_of(const digits *d, hone_var var) {
    for (uint32_t i = 0; i < d->r->axis_count; i++) {
        if (d->r->axes[i].var == var) return &d->of_axis[i];
    }
    return NULL;
}

static bool is_digit(const hone_expr *e) {
    return hone_expr_is_divmod(e) && e->args[0]->kind == HONE_EXPR_VAR &&
           hone_expr_const(e->args[1]) > 1;
}

static bool note_digits(void *ctx, const hone_expr *e) {
    const digits *d = ctx;
    if (is_digit(e)) {
        digit *at = digit_of(d, e->args[0]->u.var);
        int64_t by = e->args[1]->u.i;
        if (at && at->by == 0) *at = (digit){.op = e->op, .by = by};
        if (at && (at->op != e->op || at->by != by)) at->by = -1;
        return false;
    }
    digit *at = e->kind == HONE_EXPR_VAR ? digit_of(d, e->u.var) : NULL;
    if (at) at->by = -1;
    return true;
}

static hone_status add_digit(hone_schedule *sch, hone_dtype dtype, const hone_expr *extent,
                             hone_var *out) {
    hone_range range = {hone_expr_int(&sch->ir, dtype, 0), extent};
    *out = hone_func_add_named_var(sch->func, "digit", dtype);
    if (*out == HONE_NO_ID || !range.min || !hone_arith_bind(&sch->arith, *out, range)) {
        return sch_no_memory();
    }
    return HONE_OK;
}

/* The two digits of an axis as variables; out: the axis made of them. */
static hone_status divide_digit(hone_schedule *sch, const hone_axis *axis, digit *io,
                                const hone_expr **out) {
    hone_dtype dtype = axis->dom.extent->dtype;
    const hone_expr *by = hone_expr_int(&sch->ir, dtype, io->by), *sum = NULL;
    const hone_expr *more = hone_expr_int(&sch->ir, dtype, io->by - 1);
    const hone_expr *count = hone_expr_add(&sch->ir, axis->dom.extent, more);
    hone_var high, low;
    count = hone_simplify(&sch->arith, hone_expr_floordiv(&sch->ir, count, by));
    if (!count) return sch_ir_error(sch);
    HONE_TRY(add_digit(sch, dtype, count, &high));
    HONE_TRY(add_digit(sch, dtype, by, &low));
    io->needed = io->op == HONE_OP_FLOORDIV ? high : low;
    io->other = io->op == HONE_OP_FLOORDIV ? low : high;
    sum = hone_expr_mul(&sch->ir, sch_var(sch, high), by);
    *out = hone_expr_add(&sch->ir, sum, sch_var(sch, low));
    return sch_ir_error(sch);
}

static hone_iter iter_of(hone_schedule *sch, hone_var var) {
    hone_iter iter = {.var = var};
    hone_dtype dtype = sch->func->vars[var].dtype;
    if (!hone_arith_range_of(&sch->arith, var, dtype, &iter.range)) {
        iter.range = (hone_range){NULL, NULL};
    }
    return iter;
}

static bool is_injective_map(hone_schedule *sch, uint32_t count, const hone_expr *const *indices,
                             uint32_t iter_count, const hone_iter *iters) {
    for (uint32_t i = 0; i < iter_count; i++) {
        if (!iters[i].range.min || !iters[i].range.extent) return false;
    }
    return hone_itermap_is_injective(&sch->arith, count, indices, iter_count, iters);
}

/* Reading: are the new indices injective in those digits that the old ones are made of? */
static hone_status has_injective_digits(sch_reindexing *r, bool *out) {
    hone_schedule *sch = r->s.sch;
    uint32_t room = r->axis_count * 2 + 1, iter_count = 0;
    digits d = {r, hone_arena_zalloc(sch->arena, room * sizeof *d.of_axis)};
    hone_iter *iters = hone_arena_alloc(sch->arena, room * sizeof *iters);
    const hone_expr **indices = hone_arena_alloc(sch->arena, (r->fresh_rank + 1) * sizeof *indices);
    uint32_t old_count = sch->func->var_count;
    const hone_expr **map = hone_arena_zalloc(sch->arena, (old_count + 1) * sizeof *map);
    if (!d.of_axis || !iters || !indices || !map) return sch_no_memory();
    for (uint32_t i = 0; i < r->s.rank; i++)
        hone_expr_walk(r->indices[i], note_digits, &d);
    for (uint32_t i = 0; i < r->axis_count; i++) {
        digit *at = &d.of_axis[i];
        hone_var axis = r->axes[i].var;
        at->needed = axis;
        at->other = HONE_NO_ID;
        if (at->by > 1) HONE_TRY(divide_digit(sch, &r->axes[i], at, &map[axis]));
    }
    for (uint32_t i = 0; i < r->fresh_rank; i++) {
        indices[i] = hone_expr_substitute(&sch->ir, r->fresh_indices[i], map, old_count);
        indices[i] = indices[i] ? hone_simplify(&sch->arith, indices[i]) : NULL;
        if (!indices[i]) return sch_ir_error(sch);
    }
    for (uint32_t i = 0; i < r->axis_count; i++) {
        hone_var other = d.of_axis[i].other;
        iters[iter_count++] = iter_of(sch, d.of_axis[i].needed);
        if (other == HONE_NO_ID || !sch_any_uses(r->fresh_rank, indices, other)) continue;
        iters[iter_count++] = iter_of(sch, other);
    }
    *out = is_injective_map(sch, r->fresh_rank, indices, iter_count, iters);
    return sch_ir_error(sch);
}

hone_status sch_check_new_indices(sch_reindexing *r) {
    hone_schedule *sch = r->s.sch;
    if (r->is_injective) return HONE_OK;
    hone_iter *iters = hone_arena_alloc(sch->arena, (r->axis_count + 1) * sizeof *iters);
    if (!iters) return sch_no_memory();
    for (uint32_t i = 0; i < r->axis_count; i++)
        iters[i] = (hone_iter){r->axes[i].var, r->axes[i].dom};
    bool is_fine = is_injective_map(sch, r->fresh_rank, r->fresh_indices, r->axis_count, iters);
    if (!is_fine && !r->s.is_write) HONE_TRY(has_injective_digits(r, &is_fine));
    if (is_fine) return HONE_OK;
    return sch_refuse(sch, r->s.block,
                      "the new indices are not shown to tell all values of the axes "
                      "of %s apart",
                      sch_block_name(sch, r->s.block));
}
