/* schedule/primitive/loops/prim_split.c - split: for i in n  →  for i_0 in f0: for i_1 in f1: …,
 * with i = i_0 * (f1 * …) + i_1 * … + …
 *
 * Checks: the loop starts at 0 and has neither annotations, a break nor a thread binding; at most
 * one factor is None; factors are positive; their product reaches the extent. Where the product is
 * larger than the extent, every block below gets the predicate i < n.
 */
#include "schedule/primitive/primitive_impl.h"

/* Reads the factors; the inferred one gets 0 and its place. */
static hone_status read_factors(hone_schedule *sch, hone_node_id loop, uint32_t count,
                                const hone_factor *factors, int64_t *out, int64_t *out_product,
                                uint32_t *out_inferred) {
    *out_product = 1;
    *out_inferred = HONE_NO_ID;
    for (uint32_t i = 0; i < count; i++) {
        bool is_none = factors[i].kind == HONE_FACTOR_NONE;
        out[i] = factors[i].value;
        if (factors[i].kind == HONE_FACTOR_RV) {
            HONE_TRY(hone_schedule_int(sch, factors[i].rv, &out[i]));
        }
        if (is_none || out[i] == -1) {
            if (*out_inferred != HONE_NO_ID) {
                return sch_refuse(sch, loop, "factors %u and %u are both None, only one may be",
                                  *out_inferred, i);
            }
            *out_inferred = i;
            out[i] = 0;
            continue;
        }
        if (out[i] < 1) {
            return sch_refuse(sch, loop, "factor %u is %lld, must be at least 1", i,
                              (long long)out[i]);
        }
        if (__builtin_mul_overflow(*out_product, out[i], out_product)) {
            return sch_refuse(sch, loop, "the product of the factors leaves 64 bits");
        }
    }
    return HONE_OK;
}

/* What a loop with so many iterations is cut into, rounded up. Where the divisor divides no part of
 * a sum of terms, the quotient stays as it is, as in TVM: (n * 96 + 1023) // 1024 is not
 * (n * 3 + 31) // 32. */
static const hone_expr *round_up(hone_schedule *sch, const hone_expr *extent, int64_t divisor) {
    hone_ir *ir = &sch->ir;
    const hone_expr *above =
        hone_expr_add(ir, extent, hone_expr_int(ir, extent->dtype, divisor - 1));
    const hone_expr *by = hone_expr_int(ir, extent->dtype, divisor);
    hone_linear terms;
    bool stays = hone_linear_of(&sch->arith, extent, &terms) && terms.constant == 0;
    above = hone_simplify(&sch->arith, above);
    for (uint32_t i = 0; stays && i < terms.count; i++)
        stays = terms.terms[i].coeff % divisor != 0;
    const hone_expr *quotient = hone_expr_floordiv(ir, above, by);
    return stays ? quotient : hone_simplify(&sch->arith, quotient);
}

/* The extents of the new loops; *out_exact: their product is the old extent. */
static hone_status make_extents(hone_schedule *sch, hone_node_id loop, uint32_t count,
                                const int64_t *factors, int64_t product, uint32_t inferred,
                                const hone_expr **out, bool *out_exact) {
    const hone_expr *extent = sch_node(sch, loop)->u.loop.range.extent;
    hone_dtype dtype = extent->dtype;
    for (uint32_t i = 0; i < count; i++)
        out[i] = hone_expr_int(&sch->ir, dtype, factors[i]);
    int64_t length = hone_expr_const(extent);
    if (length >= 0) {
        if (inferred != HONE_NO_ID) {
            int64_t rest = length / product + (length % product != 0);
            out[inferred] = hone_expr_int(&sch->ir, dtype, rest);
            if (__builtin_mul_overflow(product, rest, &product)) product = INT64_MAX;
        }
        *out_exact = product == length;
        if (product > hone_dtype_max_int(dtype)) {
            return sch_refuse(sch, loop, "the factors' product %lld is too large for %s",
                              (long long)product, HONE_DTYPE_NAME(dtype));
        }
        if (product >= length) return sch_ir_error(sch);
        return sch_refuse(sch, loop, "the factors' product is %lld, %s needs at least %lld",
                          (long long)product, sch_loop_name(sch, loop), (long long)length);
    }
    if (product > hone_dtype_max_int(dtype) / 2) {
        return sch_refuse(sch, loop, "the factors' product %lld is too large for %s",
                          (long long)product, HONE_DTYPE_NAME(dtype));
    }
    const hone_expr *known = hone_expr_int(&sch->ir, dtype, product);
    if (inferred == HONE_NO_ID) {
        *out_exact = hone_prove_equal(&sch->arith, extent, known);
        if (hone_prove_less_equal(&sch->arith, extent, known)) return sch_ir_error(sch);
        return sch_refuse(sch, loop,
                          "the factors' product %lld can't be shown to reach the extent "
                          "of %s; leave one factor None",
                          (long long)product, sch_loop_name(sch, loop));
    }
    out[inferred] = round_up(sch, extent, product);
    const hone_expr *left = hone_expr_floormod(&sch->ir, extent, known);
    *out_exact = hone_prove_equal(&sch->arith, left, hone_expr_int(&sch->ir, dtype, 0));
    return sch_ir_error(sch);
}

/* strides[i]: by how much index grows with loop i, the product of the extents inside it. */
static bool make_strides(hone_schedule *sch, uint32_t count, const hone_expr *const *extents,
                         const hone_expr **out) {
    const hone_expr *stride = NULL; /* 1 */
    for (uint32_t i = count; i-- > 0;) {
        out[i] = stride;
        if (hone_expr_is_int_value(extents[i], 1) || i == 0) continue;
        stride = stride ? hone_simplify(&sch->arith, hone_expr_mul(&sch->ir, extents[i], stride))
                        : extents[i];
        if (!stride) return false;
    }
    return true;
}

/* i_0 * (f1 * f2 …) + i_1 * (f2 …) + …; unit loops are left out unless they shall be kept. */
static const hone_expr *make_index(hone_schedule *sch, uint32_t count, const hone_node_id *loops,
                                   const hone_expr *const *extents, bool keep_units) {
    const hone_expr *index = NULL;
    const hone_expr **strides = hone_arena_alloc(sch->arena, count * sizeof *strides);
    if (!strides) return hone_ir_fail(&sch->ir, sch_no_memory());
    if (!make_strides(sch, count, extents, strides)) return NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (hone_expr_is_int_value(extents[i], 1) && !keep_units) continue;
        const hone_expr *term = sch_var(sch, sch_node(sch, loops[i])->u.loop.var);
        if (strides[i]) term = hone_expr_mul(&sch->ir, term, strides[i]);
        index = index ? hone_expr_add(&sch->ir, index, term) : term;
    }
    return index ? index : hone_expr_int(&sch->ir, extents[0]->dtype, 0);
}

/* The new loops, nested into each other, not in the tree yet. */
static hone_status make_nest(hone_schedule *sch, hone_node_id loop, uint32_t count,
                             const hone_expr *const *extents, hone_node_id *out_loops) {
    const hone_var_info var = sch->func->vars[sch_node(sch, loop)->u.loop.var];
    for (uint32_t i = 0; i < count; i++) {
        out_loops[i] = sch_make_loop(sch, sch_name(sch, var.name, "_", i), var.dtype, extents[i]);
        if (out_loops[i] == HONE_NO_ID) return sch_no_memory();
        if (i) hone_tree_append(sch->func, out_loops[i - 1], out_loops[i]);
    }
    return HONE_OK;
}

static hone_status add_guard(hone_schedule *sch, hone_node_id loop, const hone_expr *index,
                             const hone_expr *extent) {
    const hone_expr *guard = hone_expr_binary(&sch->ir, HONE_OP_LT, index, extent);
    if (!guard) return sch_ir_error(sch);
    SCH_EACH_BLOCK (sch, loop, n) {
        HONE_TRY(sch_add_predicate(sch, n, guard));
        /* a loop of one iteration feeds no axis, its parts then bound none */
        if (hone_expr_is_int_value(extent, 1)) sch_forget_affine(sch, n);
    }
    return HONE_OK;
}

hone_status hone_sch_split(hone_schedule *sch, hone_rv loop_rv, uint32_t count,
                           const hone_factor *factors, bool preserve_unit_iters,
                           bool disable_predication, const hone_rv **out_loops) {
    hone_node_id loop;
    HONE_TRY(sch_resolve_loop(sch, loop_rv, &loop));
    if (count == 0) return sch_refuse(sch, loop, "split needs at least one factor");
    HONE_TRY(sch_check_plain_loop(sch, loop));
    HONE_TRY(sch_check_starts_at_zero(sch, loop));
    int64_t *sizes = hone_arena_alloc(sch->arena, count * sizeof *sizes);
    const hone_expr **extents = hone_arena_alloc(sch->arena, count * sizeof *extents);
    hone_node_id *loops = hone_arena_alloc(sch->arena, count * sizeof *loops);
    if (!sizes || !extents || !loops) return sch_no_memory();
    int64_t product;
    uint32_t inferred;
    bool is_exact;
    HONE_TRY(read_factors(sch, loop, count, factors, sizes, &product, &inferred));
    HONE_TRY(make_extents(sch, loop, count, sizes, product, inferred, extents, &is_exact));
    if (disable_predication && !is_exact) {
        return sch_refuse(sch, loop, "without a predicate the factors must divide the extent of %s",
                          sch_loop_name(sch, loop));
    }
    if (!is_exact && sch_has_unguarded_statements(sch, loop)) {
        return sch_refuse(sch, loop,
                          "a statement in %s stands outside of blocks, where no "
                          "predicate can guard it",
                          sch_loop_name(sch, loop));
    }
    HONE_TRY(make_nest(sch, loop, count, extents, loops));
    const hone_expr *index = make_index(sch, count, loops, extents, preserve_unit_iters);
    const hone_expr *old_extent = sch_node(sch, loop)->u.loop.range.extent;
    hone_var old_var = sch_node(sch, loop)->u.loop.var;
    if (!index) return sch_ir_error(sch);
    sch->arith.keeps_units = preserve_unit_iters;
    sch->arith.keeps_numbers = true;
    hone_status st = sch_substitute_below(sch, loop, old_var, index);
    sch->arith.keeps_units = sch->arith.keeps_numbers = false;
    HONE_TRY(st);
    if (!is_exact) HONE_TRY(add_guard(sch, loop, index, old_extent));
    hone_tree_move_children(sch->func, loop, loops[count - 1]);
    hone_tree_replace(sch->func, loop, loops[0]);
    return sch_record_nodes(sch, HONE_INST_SPLIT,
                            SCH_ARGS(SCH_RV(loop_rv), SCH_LIST(count, factors, factors),
                                     SCH_INT(preserve_unit_iters), SCH_INT(disable_predication)),
                            count, loops, out_loops);
}

/* One loop for each factor, which all but the first of the inputs are. */
static int64_t count_parts(const hone_inst *inst) {
    return (int64_t)inst->input_count - 1;
}

SCH_STEP(SPLIT,
         hone_sch_split(sch, a[0].rv, a[1].count, a[1].list.factors, a[2].number != 0,
                        a[3].number != 0, NULL),
         .gives = HONE_GIVES_LOOPS, .count_results = count_parts,
         .args = {SCH_ARG_LOOP(0), SCH_ARG_FACTORS, SCH_ARG_KEEP_UNITS(0),
                  SCH_ARG_BOOL_OR("disable_predication", 1, false)});
