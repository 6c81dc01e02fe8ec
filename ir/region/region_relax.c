/* ir/region/region_relax.c - relaxes regions and accesses over the loops around a block. */
#include "ir/region/region_impl.h"

#include "ir/region/region.h"

typedef struct relax_ctx {
    hone_arith *arith;
    const hone_expr *const *map; /* axis variable → binding; NULL where it is a loop itself */
    uint32_t map_count;
    const bool *relax;
    uint32_t relax_count;
    const hone_expr *predicate;
    region_facts facts;
    uint32_t rank;
    hone_range *ranges; /* of the region, with bindings put in; NULLs where a place is looked up */
} relax_ctx;

/* node: the block, or NULL where the region speaks of the loops themselves. */
static bool fill_map(relax_ctx *ctx, const hone_func *func, const hone_node *node) {
    hone_arena *arena = ctx->arith->ir.arena;
    const hone_expr **map = hone_arena_zalloc(arena, (func->var_count + 1) * sizeof *map);
    ctx->map_count = func->var_count;
    ctx->map = map;
    if (!map || !node) return map != NULL;
    const hone_block *block = node->u.block.block;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        map[block->axes[i].var] = node->u.block.bindings[i];
    }
    return true;
}

/* False where memory is short. */
static bool put_in_bindings(relax_ctx *ctx, const hone_region *region, uint32_t rank) {
    hone_ir *ir = &ctx->arith->ir;
    ctx->rank = rank;
    ctx->ranges = hone_arena_zalloc(ir->arena, (rank + 1) * sizeof *ctx->ranges);
    for (uint32_t d = 0; ctx->ranges && d < rank; d++) {
        const hone_range *range = &region->ranges[d];
        /* A[J[i]]: what J holds is known only where J is read */
        if (!hone_expr_is_pure_index(range->min) || !hone_expr_is_pure_index(range->extent))
            continue;
        ctx->ranges[d].min = hone_expr_substitute(ir, range->min, ctx->map, ctx->map_count);
        ctx->ranges[d].extent = hone_expr_substitute(ir, range->extent, ctx->map, ctx->map_count);
        if (!ctx->ranges[d].min || !ctx->ranges[d].extent) return false;
    }
    return ctx->ranges != NULL;
}

static hone_interval relax_range(relax_ctx *ctx, const hone_range *range, bool *out_is_exact) {
    hone_ir *ir = &ctx->arith->ir;
    const hone_expr *hi = range->min;
    *out_is_exact = false;
    if (!range->min) return (hone_interval){0};
    if (!hone_expr_is_int_value(range->extent, 1)) {
        const hone_expr *end = hone_expr_add(ir, range->min, range->extent);
        hi = end ? hone_expr_sub(ir, end, hone_expr_int(ir, end->dtype, 1)) : NULL;
    }
    if (!hi) return (hone_interval){0};
    return region_relax_span(ctx->arith, &ctx->facts, range->min, hi, ctx->relax, ctx->relax_count,
                             out_is_exact);
}

static int64_t largest_gap(relax_ctx *ctx, const hone_linear *form, int64_t reach);

/* The largest distance between neighbours among the values of a relaxed term; 1 where it is no
 * digit of a sum: v * 4 // 3 goes by 2 now and then. */
static int64_t gap_of_term(relax_ctx *ctx, const hone_expr *term) {
    hone_linear inner;
    if (!hone_expr_is_divmod(term) || hone_expr_const(term->args[1]) < 1 ||
        !hone_linear_of(ctx->arith, term->args[0], &inner)) {
        return 1;
    }
    int64_t gap = largest_gap(ctx, &inner, 1), by = term->args[1]->u.i;
    if (hone_expr_is_op(term, HONE_OP_FLOORDIV)) return (gap - 1) / by + 1;
    return gap < by ? gap : by;
}

/* Does a relaxed variable stand in several terms: j // 8 * 8 + j // 2? Then not all of their values
 * meet. */
static bool terms_are_tied(const relax_ctx *ctx, const hone_linear *form) {
    for (uint32_t i = 0; i < form->count; i++) {
        const hone_expr *term = form->terms[i].term;
        for (uint32_t v = 0; term->kind != HONE_EXPR_VAR && v < ctx->relax_count; v++) {
            if (!ctx->relax[v] || !hone_expr_uses_var(term, (hone_var)v)) continue;
            for (uint32_t k = 0; k < form->count; k++) {
                if (k != i && hone_expr_uses_var(form->terms[k].term, (hone_var)v)) return true;
            }
        }
    }
    return false;
}

/* The largest distance between neighbours among the elements that an index touches, `reach` of them
 * side by side at one point of the loops: sorted by stride, each relaxed term closes the gaps of
 * the ones before. INT64_MAX where it is too large, or not known. */
static int64_t largest_gap(relax_ctx *ctx, const hone_linear *form, int64_t reach) {
    int64_t done = 0, largest = 1;
    if (terms_are_tied(ctx, form)) return INT64_MAX;
    for (;;) { /* the next larger stride; few terms, so no sorting */
        int64_t stride = INT64_MAX, step;
        for (uint32_t i = 0; i < form->count; i++) {
            int64_t c = form->terms[i].coeff;
            if (!hone_expr_uses_any(form->terms[i].term, ctx->relax, ctx->relax_count)) continue;
            if (c == INT64_MIN) return INT64_MAX;
            c = c < 0 ? -c : c;
            if (c > done && c < stride) stride = c;
        }
        if (stride == INT64_MAX) return largest;
        for (uint32_t i = 0; i < form->count; i++) {
            int64_t c = form->terms[i].coeff < 0 ? -form->terms[i].coeff : form->terms[i].coeff;
            const hone_expr *term = form->terms[i].term;
            if (c != stride || !hone_expr_uses_any(term, ctx->relax, ctx->relax_count)) continue;
            if (__builtin_mul_overflow(stride, gap_of_term(ctx, term), &step)) return INT64_MAX;
            if (step - reach + 1 > largest) largest = step - reach + 1;
            hone_bound bound = hone_arith_bound(ctx->arith, term);
            int64_t span, more;
            if (bound.min == HONE_BOUND_NEG_INF || bound.max == HONE_BOUND_POS_INF ||
                __builtin_sub_overflow(bound.max, bound.min, &span) ||
                __builtin_mul_overflow(span, stride, &more) ||
                __builtin_add_overflow(reach, more, &reach)) {
                continue; /* at least one point */
            }
        }
        done = stride;
    }
}

/* No element between the ends is left out. */
static bool has_no_holes(relax_ctx *ctx, const hone_range *range) {
    hone_linear form;
    if (!range->min || !hone_linear_of(ctx->arith, range->min, &form)) return false;
    int64_t reach = range->extent->kind == HONE_EXPR_INT ? range->extent->u.i : 1;
    return largest_gap(ctx, &form, reach) <= 1;
}

/* Do the relaxed terms of a form move it by less than `step`? */
static bool runs_within(relax_ctx *ctx, const hone_linear *form, int64_t step) {
    int64_t width = 0, part;
    for (uint32_t k = 0; k < form->count; k++) {
        const hone_expr *term = form->terms[k].term;
        if (!hone_expr_uses_any(term, ctx->relax, ctx->relax_count)) continue;
        hone_bound bound = hone_arith_bound(ctx->arith, term);
        int64_t c = form->terms[k].coeff;
        if (c == INT64_MIN || bound.min == HONE_BOUND_NEG_INF || bound.max == HONE_BOUND_POS_INF ||
            __builtin_sub_overflow(bound.max, bound.min, &part) ||
            __builtin_mul_overflow(part, c < 0 ? -c : c, &part) ||
            __builtin_add_overflow(width, part, &width)) {
            return false;
        }
    }
    return width < step;
}

/* Does a cut end at an element that is reached? Elements side by side are; of boxes side by side
 * the cut must be at a multiple of their size. */
static bool cut_is_reached(relax_ctx *ctx, const hone_range *range, const hone_linear *form,
                           const hone_linear *fact, int64_t ratio) {
    int64_t size = hone_expr_const(range->extent), part;
    if (size == 1 || largest_gap(ctx, form, 1) <= 1) return true;
    if (size < 1 || __builtin_mul_overflow(ratio, fact->constant, &part) || part % size != 0) {
        return false;
    }
    for (uint32_t k = 0; k < fact->count; k++) {
        if (__builtin_mul_overflow(ratio, fact->terms[k].coeff, &part) || part % size != 0) {
            return false;
        }
    }
    return true;
}

/* True when a fact over relaxed variables cuts exactly one dimension: the index of that dimension
 * is a multiple of the relaxed part of the fact and what fills up the steps of it, so the box after
 * tightening has no holes. */
static bool fact_is_a_box_side(relax_ctx *ctx, const hone_linear *fact) {
    bool runs = false;
    for (uint32_t k = 0; k < fact->count; k++) {
        runs |= hone_expr_uses_any(fact->terms[k].term, ctx->relax, ctx->relax_count);
    }
    if (!runs) return false; /* it holds or not for the whole piece: not every point is touched */
    for (uint32_t d = 0; d < ctx->rank; d++) {
        const hone_range *range = &ctx->ranges[d];
        hone_linear form, rest;
        if (!range->min || !hone_linear_of(ctx->arith, range->min, &form)) continue;
        int64_t ratio = region_shared_ratio(&form, fact, ctx->relax, ctx->relax_count);
        if (ratio == 0 || ratio == INT64_MIN) continue;
        if (region_linear_minus(ctx->arith, &form, ratio, fact, &rest) &&
            runs_within(ctx, &rest, ratio < 0 ? -ratio : ratio) &&
            cut_is_reached(ctx, range, &form, fact, ratio)) {
            return true;
        }
    }
    return false;
}

static bool is_indexed_by(const relax_ctx *ctx, hone_var var) {
    for (uint32_t d = 0; d < ctx->rank; d++) {
        const hone_expr *index = ctx->ranges[d].min;
        if (!index || hone_expr_uses_var(index, var)) return true;
    }
    return false;
}

/* True when a fact holds where all relaxed variables that index nothing (reduce loops) begin,
 * whatever the other relaxed ones are: then each element is touched there. */
static bool fact_is_beside_the_box(relax_ctx *ctx, const hone_linear *fact) {
    int64_t value = fact->constant;
    for (uint32_t k = 0; k < fact->count; k++) {
        const hone_expr *term = fact->terms[k].term;
        if (term->kind != HONE_EXPR_VAR || term->u.var >= ctx->relax_count) return false;
        if (!ctx->relax[term->u.var]) return false;
        hone_bound bound = hone_arith_bound(ctx->arith, term);
        bool is_most = fact->terms[k].coeff > 0 && is_indexed_by(ctx, term->u.var);
        int64_t at = is_most ? bound.max : bound.min, part;
        if (at == HONE_BOUND_NEG_INF || at == HONE_BOUND_POS_INF ||
            __builtin_mul_overflow(at, fact->terms[k].coeff, &part) ||
            __builtin_add_overflow(value, part, &value)) {
            return false;
        }
    }
    return value <= 0;
}

/* True when a fact is known to hold, whatever the relaxed variables are. */
static bool fact_is_known(relax_ctx *ctx, const hone_linear *fact) {
    hone_dtype dtype = HONE_DTYPE_I32;
    for (uint32_t k = 0; k < fact->count; k++) {
        if (hone_expr_uses_any(fact->terms[k].term, ctx->relax, ctx->relax_count)) return false;
        dtype = fact->terms[k].term->dtype;
    }
    const hone_expr *value = hone_linear_expr(ctx->arith, fact, dtype);
    const hone_expr *zero = hone_expr_int(&ctx->arith->ir, dtype, 0);
    return value && zero && hone_prove_less_equal(ctx->arith, value, zero);
}

/* No two dimensions share a relaxed variable: the box is the product of its sides. */
static bool sides_are_independent(const relax_ctx *ctx) {
    for (uint32_t v = 0; v < ctx->relax_count; v++) {
        uint32_t users = 0;
        if (!ctx->relax[v]) continue;
        for (uint32_t d = 0; d < ctx->rank; d++)
            users += hone_expr_uses_var(ctx->ranges[d].min, (hone_var)v) ||
                     hone_expr_uses_var(ctx->ranges[d].extent, (hone_var)v);
        if (users > 1) return false;
    }
    return true;
}

static bool is_relaxed_in(const relax_ctx *ctx, const hone_expr *e) {
    return e && hone_expr_uses_any(e, ctx->relax, ctx->relax_count);
}

/* Do the ends of a loop run with other relaxed ones? */
static bool has_moving_end(const relax_ctx *ctx, hone_var var) {
    return var < ctx->arith->count && (is_relaxed_in(ctx, ctx->arith->mins[var]) ||
                                       is_relaxed_in(ctx, ctx->arith->extents[var]));
}

/* Loops of which the ends run with other relaxed ones (j < i + 1): the longest run of what indexes
 * a dimension meets all that the shorter ones do, if the other loop indexes nothing, has ends that
 * stay, and no condition leaves out the longest; and what indexes nothing must run at all. */
static bool ends_keep_the_box(relax_ctx *ctx) {
    for (uint32_t v = 0; v < ctx->relax_count && v < ctx->arith->count; v++) {
        const hone_expr *min = ctx->arith->mins[v], *extent = ctx->arith->extents[v];
        if (!ctx->relax[v] || !has_moving_end(ctx, (hone_var)v)) continue;
        if (!is_indexed_by(ctx, (hone_var)v)) {
            if (!extent || hone_arith_bound(ctx->arith, extent).min < 1) return false;
            continue;
        }
        if (is_relaxed_in(ctx, min)) return false;
        for (uint32_t u = 0; u < ctx->relax_count; u++) {
            bool is_end = ctx->relax[u] && hone_expr_uses_var(extent, (hone_var)u);
            bool is_cut = ctx->predicate && hone_expr_uses_var(ctx->predicate, (hone_var)u);
            bool is_steady = !is_end || !has_moving_end(ctx, (hone_var)u);
            if (is_end && (is_cut || !is_steady || is_indexed_by(ctx, (hone_var)u))) return false;
        }
    }
    return true;
}

/* Replaces the intervals when all dimensions together make an exact box. */
static bool find_joint_box(relax_ctx *ctx, const hone_region *region,
                           const hone_buffer_info *buffer, hone_interval *io) {
    const region_access access = {region, ctx->map, ctx->map_count, ctx->relax, ctx->relax_count};
    uint32_t rank = buffer->rank;
    hone_interval *box = hone_arena_alloc(ctx->arith->ir.arena, (rank + 1) * sizeof *box);
    if (!box) return false;
    bool is_box = region_joint_box(ctx->arith, &access, rank, ctx->predicate, box);
    bool is_whole = !is_box && region_is_whole_by_rows(ctx->arith, &access, buffer, ctx->predicate);
    for (uint32_t d = 0; d < rank && (is_box || is_whole); d++)
        io[d] = is_whole ? region_whole_dim(ctx->arith, buffer, d) : box[d];
    return is_box || is_whole;
}

/* Facts that tell whole tiles apart say nothing of what runs within one. */
static void drop_rests(relax_ctx *ctx) {
    for (uint32_t i = 0; i < ctx->facts.count; i++) {
        hone_linear s = ctx->facts.items[i];
        if (__builtin_sub_overflow(s.constant, 1, &s.constant)) continue;
        if (!hone_drop_rest(ctx->arith, &s, ctx->relax, ctx->relax_count)) continue;
        s.constant++;
        ctx->facts.items[i] = s;
    }
}

/* Where conditions leave out all boxes of a dimension, their cut may still lie behind where the
 * first one would begin; single elements end before they begin then. Is one box left, at least,
 * whatever does not run? */
static bool keeps_a_box(relax_ctx *ctx, const hone_range *range, const hone_interval *side) {
    hone_ir *ir = &ctx->arith->ir;
    if (ctx->facts.count == 0 || hone_expr_is_int_value(range->extent, 1)) return true;
    if (is_relaxed_in(ctx, range->extent)) return false;
    const hone_expr *end = hone_expr_add(ir, side->min, range->extent);
    const hone_expr *last = end ? hone_expr_sub(ir, end, hone_expr_int(ir, end->dtype, 1)) : NULL;
    return last && hone_prove_less_equal(ctx->arith, last, side->max);
}

/* The box; with out_is_exact, whether every element of it is touched. */
static bool relax_access(relax_ctx *ctx, const hone_region *region, const hone_buffer_info *buffer,
                         hone_interval *out_intervals, bool *out_is_exact) {
    hone_arith *arith = ctx->arith;
    ctx->facts = (region_facts){0};
    if (!region_facts_add(&ctx->facts, arith, ctx->predicate)) return false;
    if (!put_in_bindings(ctx, region, buffer->rank)) return false;
    drop_rests(ctx);
    bool is_exact = !ctx->facts.has_others;
    for (uint32_t d = 0; d < buffer->rank; d++) {
        bool is_dim_exact;
        out_intervals[d] = relax_range(ctx, &ctx->ranges[d], &is_dim_exact);
        if (!out_intervals[d].min || !out_intervals[d].max) {
            is_dim_exact = false;
            out_intervals[d] = region_whole_dim(arith, buffer, d);
        }
        is_exact &= is_dim_exact;
        if (out_is_exact && is_exact) {
            is_exact = has_no_holes(ctx, &ctx->ranges[d]) &&
                       keeps_a_box(ctx, &ctx->ranges[d], &out_intervals[d]);
        }
    }
    if (!out_is_exact) return true;
    for (uint32_t i = 0; is_exact && i < ctx->facts.count; i++) {
        const hone_linear *fact = &ctx->facts.items[i];
        is_exact = fact_is_a_box_side(ctx, fact) || fact_is_beside_the_box(ctx, fact) ||
                   fact_is_known(ctx, fact);
    }
    is_exact = is_exact && sides_are_independent(ctx);
    is_exact = is_exact || find_joint_box(ctx, region, buffer, out_intervals);
    *out_is_exact = is_exact && ends_keep_the_box(ctx);
    return true;
}

/* relax_access with loops divided into digits, where it is not exact as it stands. */
static bool relax_digits(const relax_ctx *whole, const hone_region *region,
                         const hone_buffer_info *buffer, hone_interval *io, bool *io_is_exact) {
    relax_ctx ctx = *whole;
    region_access access = {region, ctx.map, ctx.map_count, ctx.relax, ctx.relax_count};
    hone_interval *box = hone_arena_alloc(ctx.arith->ir.arena, (buffer->rank + 1) * sizeof *box);
    uint32_t known = ctx.arith->count;
    bool is_exact = false;
    if (!box) return false;
    while (!is_exact && region_split_digits(ctx.arith, buffer->rank, &access, &ctx.predicate)) {
        ctx.map = access.map;
        ctx.relax = access.relax;
        ctx.relax_count = access.relax_count;
        if (!relax_access(&ctx, region, buffer, box, &is_exact)) break;
    }
    ctx.arith->count = known; /* the digits are gone again */
    if (!is_exact) return true;
    for (uint32_t d = 0; d < buffer->rank; d++)
        io[d] = box[d];
    *io_is_exact = true;
    return true;
}

/* What is relaxed, and over what. */
typedef struct relaxing {
    hone_arith *arith;
    const hone_func *func;
    hone_node_id block;     /* HONE_NO_ID when the region speaks of loops */
    const hone_expr *under; /* what holds beside the predicate of the block, or NULL */
    const bool *relax;
    uint32_t relax_count;
} relaxing;

/* buffer: only its rank and shape count. */
static hone_status relax_box(const relaxing *r, const hone_region *region,
                             const hone_buffer_info *buffer, hone_interval *out_intervals,
                             bool *out_is_exact) {
    const hone_node *node = r->block == HONE_NO_ID ? NULL : hone_func_node(r->func, r->block);
    assert(!node || node->kind == HONE_NODE_BLOCK);
    relax_ctx ctx = {.arith = r->arith, .relax = r->relax, .relax_count = r->relax_count};
    ctx.predicate = node ? node->u.block.predicate : NULL;
    if (r->under && ctx.predicate) {
        ctx.predicate = hone_expr_binary(&r->arith->ir, HONE_OP_AND, ctx.predicate, r->under);
    } else if (r->under) {
        ctx.predicate = r->under;
    }
    bool done = fill_map(&ctx, r->func, node) &&
                relax_access(&ctx, region, buffer, out_intervals, out_is_exact) &&
                (!out_is_exact || *out_is_exact ||
                 relax_digits(&ctx, region, buffer, out_intervals, out_is_exact));
    HONE_TRY(hone_ir_finish(&r->arith->ir));
    return done ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "region");
}

hone_status hone_region_relax(hone_arith *arith, const hone_func *func, hone_node_id block,
                              const hone_region *region, const bool *relax, uint32_t relax_count,
                              hone_interval *out_intervals, bool *out_is_exact) {
    const relaxing r = {arith, func, block, NULL, relax, relax_count};
    return relax_box(&r, region, hone_func_buffer(func, region->buffer), out_intervals,
                     out_is_exact);
}

hone_status hone_access_relax(hone_arith *arith, const hone_func *func, hone_node_id block_or_none,
                              const hone_region *region, const hone_expr *under, const bool *relax,
                              uint32_t relax_count, hone_interval *out_intervals,
                              bool *out_is_exact) {
    const relaxing r = {arith, func, block_or_none, under, relax, relax_count};
    return relax_box(&r, region, hone_func_buffer(func, region->buffer), out_intervals,
                     out_is_exact);
}

hone_status hone_values_relax(hone_arith *arith, const hone_func *func, hone_node_id block,
                              uint32_t count, const hone_expr *const *values,
                              const hone_expr *const *ends, const bool *relax, uint32_t relax_count,
                              hone_interval *out_intervals, bool *out_is_exact) {
    hone_buffer_info space = {.name = "values", .rank = count, .shape = ends};
    hone_range *ranges = hone_arena_alloc(arith->ir.arena, (count + 1) * sizeof *ranges);
    if (!ranges) return HONE_ERROR(HONE_CODE_NO_MEMORY, "values of '%s'", func->name);
    for (uint32_t d = 0; d < count; d++) {
        ranges[d] = (hone_range){values[d], hone_expr_int(&arith->ir, values[d]->dtype, 1)};
    }
    HONE_TRY(hone_ir_finish(&arith->ir));
    hone_region region = {.buffer = HONE_NO_ID, .ranges = ranges};
    const relaxing r = {arith, func, block, NULL, relax, relax_count};
    return relax_box(&r, &region, &space, out_intervals, out_is_exact);
}
