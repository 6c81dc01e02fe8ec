/* include/api_formula_many.c - reductions, and arrays that come in several. */
#include <string.h>

#include "include/api.h"
#include "include/api_formula.h"

hone_array hone_formula_reduce(hone_formula *f, const char *name, const char *reduction,
                               const hone_term *value) {
    static const char *const names[] = {"sum", "prod", "max", "min"};
    static const hone_te_reducer reducers[] = {HONE_TE_SUM, HONE_TE_PROD, HONE_TE_MAX, HONE_TE_MIN};
    if (!hone_formula_may_end(f, name, true) || !hone_formula_is_value(f, name, value))
        return HONE_NO_ARRAY;
    for (size_t i = 0; reduction && i < HONE_COUNT(names); i++) {
        if (strcmp(names[i], reduction) != 0) continue;
        return hone_te_reduce(&f->te, &f->stage, name, reducers[i], (const hone_expr *)value);
    }
    hone_formula_fail(f,
                      HONE_ERROR(HONE_CODE_NOT_FOUND, "'%s' is no reduction: sum, prod, max, min",
                                 reduction ? reduction : "NULL"));
    return HONE_NO_ARRAY;
}

/* ---- reductions of one's own ---- */

static bool begin_reduction(hone_formula *f, const char *name, size_t count,
                            const char *const *types, hone_dtype *dtypes) {
    if (!hone_formula_may_end(f, name, true)) return false;
    for (size_t i = 0; i < count; i++) {
        if (!hone_formula_read_type(f, name, types[i], &dtypes[i])) return false;
    }
    f->reducing_name = hone_arena_strdup(f->te.ir.arena, name);
    if (f->reducing_name) return true;
    hone_formula_fail(f, HONE_ERROR(HONE_CODE_NO_MEMORY, "reduction"));
    return false;
}

const hone_term *hone_formula_reduce_begin(hone_formula *f, const char *name, const char *type) {
    hone_dtype dtype;
    if (!begin_reduction(f, name, 1, &type, &dtype)) return NULL;
    f->reducing[0] = hone_te_reduce_begin(&f->te, &f->stage, name, dtype);
    f->reducing_count = f->te.ir.error ? 0 : 1;
    return (const hone_term *)hone_te_load(&f->te, f->reducing[0], f->stage.axis);
}

/* 1 to HONE_TE_MAX_MANY, and lists that are there. */
static bool is_count(hone_formula *f, size_t count, const void *list, const void *out) {
    if (!hone_formula_is_open(f)) return false;
    if (count >= 1 && count <= HONE_TE_MAX_MANY && list && out) return true;
    hone_formula_fail(f,
                      HONE_ERROR(HONE_CODE_INVALID, "%zu arrays at once%s, must be 1 to %d", count,
                                 list && out ? "" : " in lists that are NULL", HONE_TE_MAX_MANY));
    return false;
}

void hone_formula_reduce_begin_many(hone_formula *f, const char *name, size_t count,
                                    const char *const *types, const hone_term **out_elements) {
    hone_dtype dtypes[HONE_TE_MAX_MANY];
    for (size_t i = 0; out_elements && i < count && i < HONE_TE_MAX_MANY; i++)
        out_elements[i] = NULL;
    if (!is_count(f, count, types, out_elements)) return;
    if (!begin_reduction(f, name, count, types, dtypes)) return;
    hone_te_reduce_begin_many(&f->te, &f->stage, f->reducing_name, (uint32_t)count, dtypes,
                              f->reducing);
    f->reducing_count = f->te.ir.error ? 0 : (uint32_t)count;
    for (size_t i = 0; i < f->reducing_count; i++) {
        out_elements[i] = (const hone_term *)hone_te_load(&f->te, f->reducing[i], f->stage.axis);
    }
}

/* A value of the type that the reduction was begun with. */
static bool is_of_type(hone_formula *f, hone_buffer buffer, const char *what,
                       const hone_term *value) {
    const hone_buffer_info *info = hone_func_buffer(f->te.func, buffer);
    if (!hone_formula_is_value(f, info->name, value)) return false;
    const hone_expr *e = (const hone_expr *)value;
    if (hone_dtype_equal(e->dtype, info->dtype)) return true;
    hone_formula_fail(f, HONE_ERROR(HONE_CODE_TYPE, "'%s' is %s, %s is %s", info->name,
                                    HONE_DTYPE_NAME(info->dtype), what, HONE_DTYPE_NAME(e->dtype)));
    return false;
}

/* The element so far stands in what it becomes, not in what it starts as. */
static bool see_start(void *ctx, const hone_expr *e) {
    hone_formula *f = ctx;
    for (uint32_t i = 0; i < f->reducing_count; i++) {
        if (e->kind != HONE_EXPR_LOAD || e->u.buffer != f->reducing[i]) continue;
        hone_formula_fail(
            f, HONE_ERROR(HONE_CODE_INVALID, "'%s' starts as what it is so far", f->reducing_name));
    }
    return !f->te.ir.error;
}

static bool end_reduction(hone_formula *f, size_t count, const hone_term *const *initial,
                          const hone_term *const *combined) {
    if (!hone_formula_is_open(f)) return false;
    if (f->reducing_count != count || !initial || !combined) {
        hone_formula_fail(
            f, f->reducing_count == 0
                   ? HONE_ERROR(HONE_CODE_INVALID, "no reduction was begun")
                   : HONE_ERROR(HONE_CODE_INVALID, "the reduction of %u arrays is ended with %zu%s",
                                (unsigned)f->reducing_count, count,
                                initial && combined ? "" : " in lists that are NULL"));
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_of_type(f, f->reducing[i], "what it starts as", initial[i])) return false;
        if (!is_of_type(f, f->reducing[i], "what it becomes", combined[i])) return false;
        hone_expr_walk((const hone_expr *)initial[i], see_start, f);
    }
    return !f->te.ir.error;
}

hone_array hone_formula_reduce_end(hone_formula *f, const hone_term *initial,
                                   const hone_term *combined) {
    if (!end_reduction(f, 1, &initial, &combined)) return HONE_NO_ARRAY;
    f->reducing_count = 0;
    hone_te_reduce_end(&f->te, &f->stage, f->reducing[0], (const hone_expr *)initial,
                       (const hone_expr *)combined);
    return f->te.ir.error ? HONE_NO_ARRAY : f->reducing[0];
}

static void no_arrays(size_t count, hone_array *out) {
    for (size_t i = 0; out && i < count && i < HONE_TE_MAX_MANY; i++)
        out[i] = HONE_NO_ARRAY;
}

void hone_formula_reduce_end_many(hone_formula *f, size_t count, const hone_term *const *initial,
                                  const hone_term *const *combined, hone_array *out_arrays) {
    no_arrays(count, out_arrays);
    if (!is_count(f, count, initial, out_arrays)) return;
    if (!end_reduction(f, count, initial, combined)) return;
    f->reducing_count = 0;
    hone_te_reduce_end_many(&f->te, &f->stage, f->reducing_name, (uint32_t)count, f->reducing,
                            (const hone_expr *const *)initial, (const hone_expr *const *)combined);
    for (size_t i = 0; i < count && !f->te.ir.error; i++)
        out_arrays[i] = f->reducing[i];
}

/* ---- several at once ---- */

void hone_formula_compute_many(hone_formula *f, const char *name, size_t count,
                               const hone_term *const *values, hone_array *out_arrays) {
    hone_buffer made[HONE_TE_MAX_MANY];
    no_arrays(count, out_arrays);
    if (!is_count(f, count, values, out_arrays)) return;
    if (!hone_formula_may_end(f, name, false)) return;
    for (size_t i = 0; i < count; i++) {
        if (!hone_formula_is_value(f, name, values[i])) return;
    }
    const char *own = hone_arena_strdup(f->te.ir.arena, name);
    if (!own) {
        hone_formula_fail(f, HONE_ERROR(HONE_CODE_NO_MEMORY, "arrays"));
        return;
    }
    hone_te_compute_many(&f->te, &f->stage, own, (uint32_t)count, (const hone_expr *const *)values,
                         made);
    for (size_t i = 0; i < count && !f->te.ir.error; i++)
        out_arrays[i] = made[i];
}
