/* ir/region/region_digits.c - a loop of which several indices take digits, as loops for its digits.
 *
 *     for f in 32: A[f0*4 + f // 8, f % 8] where f0*32 + f < 56
 *  =  for u in 4: for w in 8: A[f0*4 + u, w] where f0*4 + u < 7
 *
 * Now each loop moves one index, and the condition cuts one side of the box.
 */
#include "ir/region/region_impl.h"

#include <string.h>

/* The least number by which a relaxed loop is divided somewhere. */
typedef struct digit_search {
    hone_arith *arith;
    const region_access *access;
    hone_var var; /* HONE_NO_ID: none was found */
    hone_dtype dtype;
    int64_t divisor, extent;
} digit_search;

static bool look_for_digit(void *ctx, const hone_expr *e) {
    digit_search *s = ctx;
    hone_linear form;
    int64_t by = hone_expr_is_divmod(e) ? hone_expr_const(e->args[1]) : -1;
    if (by < 2 || (s->var != HONE_NO_ID && by >= s->divisor)) return true;
    if (!hone_linear_of(s->arith, e->args[0], &form)) return true;
    for (uint32_t i = 0; i < form.count; i++) {
        const hone_expr *term = form.terms[i].term;
        hone_range range;
        if (term->kind != HONE_EXPR_VAR || form.terms[i].coeff != 1) continue;
        if (term->u.var >= s->access->relax_count || !s->access->relax[term->u.var]) continue;
        if (!hone_arith_range_of(s->arith, term->u.var, term->dtype, &range) ||
            !hone_expr_is_int_value(range.min, 0)) {
            continue;
        }
        int64_t extent = hone_expr_const(range.extent);
        if (extent <= by || extent % by != 0) continue;
        s->var = term->u.var;
        s->dtype = term->dtype;
        s->divisor = by;
        s->extent = extent;
    }
    return true;
}

static const hone_expr *put_in(hone_arith *arith, const digit_search *s, const hone_expr *number,
                               const hone_expr *e) {
    if (!e || !hone_expr_uses_var(e, s->var)) return e;
    return hone_simplify(arith, hone_expr_substitute_one(&arith->ir, e, s->var, number));
}

/* The two new loops, as one number. NULL: no memory. */
static const hone_expr *add_loops(hone_arith *arith, const digit_search *s, bool *relax,
                                  uint32_t first) {
    hone_dtype dtype = s->dtype;
    hone_ir *ir = &arith->ir;
    if (!hone_arith_bind_const(arith, first, 0, s->extent / s->divisor - 1) ||
        !hone_arith_bind_const(arith, first + 1, 0, s->divisor - 1)) {
        return NULL;
    }
    relax[s->var] = false;
    relax[first] = relax[first + 1] = true;
    const hone_expr *high =
        hone_expr_mul(ir, hone_expr_var(ir, dtype, first), hone_expr_int(ir, dtype, s->divisor));
    return hone_expr_add(ir, high, hone_expr_var(ir, dtype, first + 1));
}

bool region_split_digits(hone_arith *arith, uint32_t rank, region_access *io,
                         const hone_expr **io_predicate) {
    digit_search s = {.arith = arith, .access = io, .var = HONE_NO_ID};
    for (uint32_t d = 0; d < rank; d++) {
        const hone_expr *min = io->region->ranges[d].min;
        if (!hone_expr_is_pure_index(min)) return false;
        min = hone_simplify(arith, hone_expr_substitute(&arith->ir, min, io->map, io->map_count));
        if (!min) return false;
        hone_expr_walk(min, look_for_digit, &s);
    }
    /* what is known of the loop, and of those whose ends run with it, would be lost */
    if (s.var == HONE_NO_ID || hone_arith_speaks_of(arith, s.var)) return false;
    uint32_t first = arith->count > io->relax_count ? arith->count : io->relax_count;
    bool *relax = hone_arena_zalloc(arith->ir.arena, (first + 2) * sizeof *relax);
    const hone_expr **map = hone_arena_alloc(arith->ir.arena, (io->map_count + 1) * sizeof *map);
    if (!relax || !map) return false;
    memcpy(relax, io->relax, io->relax_count * sizeof *relax);
    const hone_expr *number = add_loops(arith, &s, relax, first);
    if (!number) return false;
    for (uint32_t i = 0; i < io->map_count; i++)
        map[i] = i == s.var ? number : put_in(arith, &s, number, io->map[i]);
    const hone_expr *predicate = put_in(arith, &s, number, *io_predicate);
    if (*io_predicate && !predicate) return false;
    *io_predicate = predicate;
    *io = (region_access){io->region, map, io->map_count, relax, first + 2};
    return true;
}
