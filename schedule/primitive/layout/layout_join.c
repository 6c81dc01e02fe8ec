/* schedule/primitive/layout/layout_join.c - dimensions that a map knows as one number only.
 *
 * In (i * 9 + j + 2) // 8, (i * 9 + j + 2) % 8 the sum i * 9 + j takes each value from 0 to below
 * the product of the extents once: a variable of its own stands for it. */
#include <string.h>

#include "schedule/primitive/layout/layout_numbers.h"

enum { MAX_SUMS = 8 };

typedef struct joining {
    hone_schedule *sch;
    uint32_t rank;
    const hone_iter *dims;
    uint32_t count;
    const hone_expr *sums[MAX_SUMS]; /* over dims */
    hone_var vars[MAX_SUMS];         /* what stands for them */
    bool fails;
} joining;

static uint32_t dims_in(const joining *j, const hone_expr *e) {
    uint32_t count = 0;
    for (uint32_t d = 0; d < j->rank; d++)
        count += hone_expr_uses_var(e, j->dims[d].var);
    return count;
}

/* What is divided, as a sum of several dimensions and a number above 0; or NULL. */
static const hone_expr *sum_of(const joining *j, const hone_expr *e, const hone_expr **out_offset) {
    if (!hone_expr_is_divmod(e) || hone_expr_is_divmod(e->args[0])) return NULL;
    const hone_expr *divided = hone_simplify(&j->sch->arith, e->args[0]);
    if (!divided || !hone_expr_is_op(divided, HONE_OP_ADD)) return NULL;
    *out_offset = divided->args[1];
    bool is_above = hone_expr_is_int(*out_offset) && (*out_offset)->u.i > 0;
    return is_above && dims_in(j, divided->args[0]) > 1 ? divided->args[0] : NULL;
}

static bool note_sum(void *ctx, const hone_expr *e) {
    joining *j = ctx;
    const hone_expr *offset, *sum = sum_of(j, e, &offset);
    if (!sum) return true;
    for (uint32_t i = 0; i < j->count; i++) {
        if (hone_expr_same(j->sums[i], sum)) return false;
    }
    if (j->count == MAX_SUMS) {
        j->fails = true;
    } else {
        j->sums[j->count++] = sum;
    }
    return false;
}

/* The variable of a sum, which runs over all that the dimensions give. */
static hone_status make_number(joining *j, uint32_t i, hone_iter *out) {
    hone_schedule *sch = j->sch;
    hone_dtype dtype = j->sums[i]->dtype;
    const hone_expr *extent = hone_expr_int(&sch->ir, dtype, 1);
    for (uint32_t d = 0; d < j->rank && extent; d++) {
        if (hone_expr_uses_var(j->sums[i], j->dims[d].var))
            extent = hone_expr_mul(&sch->ir, extent, j->dims[d].range.extent);
    }
    extent = extent ? hone_simplify(&sch->arith, extent) : NULL;
    const hone_expr *zero = hone_expr_int(&sch->ir, dtype, 0);
    if (!extent || !zero) return sch_ir_error(sch);
    j->fails = j->fails || !hone_prove_index(&sch->arith, j->sums[i], extent);
    hone_range range = {zero, extent};
    j->vars[i] = hone_func_add_named_var(sch->func, "dim", dtype);
    if (j->vars[i] == HONE_NO_ID || !hone_arith_bind(&sch->arith, j->vars[i], range)) {
        return sch_no_memory();
    }
    *out = (hone_iter){j->vars[i], range};
    return HONE_OK;
}

static const hone_expr *replace_sum(void *ctx, hone_ir *ir, const hone_expr *e) {
    const joining *j = ctx;
    const hone_expr *offset, *sum = sum_of(j, e, &offset);
    for (uint32_t i = 0; i < j->count && sum; i++) {
        if (!hone_expr_same(j->sums[i], sum)) continue;
        const hone_expr *divided = hone_expr_add(ir, sch_var(j->sch, j->vars[i]), offset);
        return hone_expr_binary(ir, (hone_op)e->op, divided, e->args[1]);
    }
    return e;
}

/* The numbers, each in the place of its first dimension, and what they are made of. */
static hone_status list_numbers(joining *j, sch_numbers *out, const hone_expr **values) {
    bool is_listed[MAX_SUMS] = {false};
    out->count = 0;
    for (uint32_t d = 0; d < j->rank; d++) {
        uint32_t i = 0;
        while (i < j->count && !hone_expr_uses_var(j->sums[i], j->dims[d].var))
            i++;
        if (i < j->count && is_listed[i]) continue;
        if (i < j->count) {
            is_listed[i] = true;
            values[out->count] = j->sums[i];
            HONE_TRY(make_number(j, i, &out->iters[out->count++]));
        } else {
            values[out->count] = sch_var(j->sch, j->dims[d].var);
            out->iters[out->count++] = j->dims[d];
        }
    }
    for (uint32_t i = 0; i < j->count; i++)
        j->fails = j->fails || !is_listed[i];
    return sch_ir_error(j->sch);
}

/* The indices as a map of the numbers; NULL where one uses a joined dimension otherwise. */
static hone_status as_map(joining *j, const sch_numbers *n, const hone_index_map *map,
                          const hone_expr **indices, const hone_index_map **out) {
    hone_schedule *sch = j->sch;
    uint32_t var_count = sch->func->var_count;
    const hone_expr **params = hone_arena_zalloc(sch->arena, (var_count + 1) * sizeof *params);
    hone_var_info *infos = hone_arena_alloc(sch->arena, (n->count + 1) * sizeof *infos);
    hone_index_map *made = hone_arena_zalloc(sch->arena, sizeof *made);
    if (!params || !infos || !made) return sch_no_memory();
    for (uint32_t i = 0; i < n->count; i++) {
        infos[i] = sch->func->vars[n->iters[i].var];
        params[n->iters[i].var] = hone_expr_var(&sch->ir, infos[i].dtype, i);
    }
    for (uint32_t i = 0; i < map->count; i++) {
        indices[i] = hone_expr_transform(&sch->ir, indices[i], replace_sum, j);
        if (!indices[i]) return sch_ir_error(sch);
        for (uint32_t d = 0; d < j->rank; d++) {
            bool is_own = params[j->dims[d].var] != NULL;
            j->fails = j->fails || (!is_own && hone_expr_uses_var(indices[i], j->dims[d].var));
        }
        indices[i] = hone_expr_substitute(&sch->ir, indices[i], params, var_count);
    }
    *made = (hone_index_map){
        .param_count = n->count, .count = map->count, .vars = infos, .indices = indices};
    *out = made;
    return sch_ir_error(sch);
}

static hone_status join(joining *j, const hone_index_map *map, const hone_expr **indices,
                        sch_numbers *out) {
    hone_schedule *sch = j->sch;
    const hone_index_map *joined = NULL;
    const hone_expr **values = hone_arena_alloc(sch->arena, (j->rank + 1) * sizeof *values);
    if (!values) return sch_no_memory();
    HONE_TRY(list_numbers(j, out, values));
    HONE_TRY(as_map(j, out, map, indices, &joined));
    out->is_joined =
        !j->fails && hone_itermap_detect(&sch->arith, out->count, values, j->rank, j->dims, NULL,
                                         HONE_ITERMAP_BIJECTIVE, true, &out->joined);
    if (out->is_joined) out->map = joined;
    return HONE_OK;
}

hone_status sch_join_dims(hone_schedule *sch, const hone_index_map *map, uint32_t rank,
                          const hone_iter *dims, sch_numbers *out) {
    joining j = {.sch = sch, .rank = rank, .dims = dims};
    const hone_expr **args = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *args);
    const hone_expr **indices = hone_arena_alloc(sch->arena, (map->count + 1) * sizeof *indices);
    *out = (sch_numbers){.rank = rank, .dims = dims, .map = map};
    out->iters = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *out->iters);
    if (!args || !indices || !out->iters) return sch_no_memory();
    for (uint32_t d = 0; d < rank; d++)
        args[d] = sch_var(sch, dims[d].var);
    hone_index_map_apply(&sch->ir, map, args, indices);
    HONE_TRY(sch_ir_error(sch));
    for (uint32_t i = 0; i < map->count; i++)
        hone_expr_walk(indices[i], note_sum, &j);
    if (j.count && !j.fails) HONE_TRY(join(&j, map, indices, out));
    if (out->is_joined) return sch_ir_error(sch);
    out->count = rank;
    if (rank) memcpy(out->iters, dims, rank * sizeof *dims);
    return sch_ir_error(sch);
}
