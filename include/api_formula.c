#include <hone/formula.h>

#include <string.h>

#include "include/api.h"
#include "ir/module.h"
#include "ir/te.h"
#include "ir/verify.h"
#include "support/alloc.h"

struct hone_formula {
    hone_te te;
    hone_te_stage stage;
    hone_module *module; /* owned until it is finished; the function is made in its arena */
    bool has_axes;       /* an array has been begun */
};

hone_error *hone_formula_create(const char *name, hone_formula **out_formula) {
    *out_formula = NULL;
    hone_formula *f = hone_calloc(1, sizeof *f);
    if (!f) return hone_api_error(HONE_ERROR(HONE_CODE_NO_MEMORY, "formula"));
    hone_status st = hone_module_create(&f->module);
    if (!st) st = hone_te_begin(&f->te, f->module->arena, name);
    if (st) {
        hone_formula_free(f);
        return hone_api_error(st);
    }
    *out_formula = f;
    return NULL;
}

void hone_formula_free(hone_formula *f) {
    if (!f) return;
    hone_status_free(hone_ir_finish(&f->te.ir));
    hone_module_release(f->module);
    hone_free(f);
}

hone_terms *hone_formula_terms(hone_formula *f) {
    return (hone_terms *)&f->te.ir;
}

static void fail(hone_formula *f, hone_status st) {
    hone_ir_fail(&f->te.ir, st);
}

static bool read_shape(hone_formula *f, uint32_t rank, const int64_t *shape,
                       const hone_expr **out) {
    if (rank > HONE_TE_MAX_RANK) {
        fail(f, HONE_ERROR(HONE_CODE_INVALID, "%u dimensions, at most %d", (unsigned)rank,
                           HONE_TE_MAX_RANK));
        return false;
    }
    for (uint32_t d = 0; d < rank; d++) {
        if (shape[d] < 1 || shape[d] > INT32_MAX) {
            fail(f, HONE_ERROR(HONE_CODE_INVALID, "the extent of dimension %u is %lld", (unsigned)d,
                               (long long)shape[d]));
            return false;
        }
        out[d] = hone_te_int(&f->te, shape[d]);
        if (!out[d]) return false;
    }
    return true;
}

hone_array hone_formula_input(hone_formula *f, const char *name, const char *type, uint32_t rank,
                              const int64_t *shape) {
    const hone_expr *extents[HONE_TE_MAX_RANK];
    hone_dtype dtype;
    if (!hone_dtype_parse(type, &dtype)) {
        fail(f, HONE_ERROR(HONE_CODE_TYPE, "input '%s': '%s' is no type", name, type));
        return HONE_NO_ID;
    }
    if (!read_shape(f, rank, shape, extents)) return HONE_NO_ID;
    if (f->te.input_count == HONE_COUNT(f->te.inputs)) {
        fail(f, HONE_ERROR(HONE_CODE_INVALID, "more than %zu inputs", HONE_COUNT(f->te.inputs)));
        return HONE_NO_ID;
    }
    return hone_te_input(&f->te, name, dtype, rank, extents);
}

void hone_formula_axes(hone_formula *f, uint32_t rank, const int64_t *shape, uint32_t reduce_count,
                       const int64_t *reduce_extents) {
    const hone_expr *spatial[HONE_TE_MAX_RANK], *reduce[HONE_TE_MAX_RANK];
    f->has_axes = false;
    if (!read_shape(f, rank, shape, spatial)) return;
    if (!read_shape(f, reduce_count, reduce_extents, reduce)) return;
    if (rank + reduce_count > HONE_TE_MAX_RANK) {
        fail(f, HONE_ERROR(HONE_CODE_INVALID, "%u axes, at most %d",
                           (unsigned)(rank + reduce_count), HONE_TE_MAX_RANK));
        return;
    }
    hone_te_stage_begin(&f->te, &f->stage, rank, spatial, reduce_count, reduce);
    f->has_axes = true;
}

const hone_term *hone_formula_axis(hone_formula *f, uint32_t index) {
    if (f->has_axes && index < f->stage.spatial_count + f->stage.reduce_count) {
        return (const hone_term *)f->stage.axis[index];
    }
    fail(f, HONE_ERROR(HONE_CODE_INVALID, "there is no axis %u", (unsigned)index));
    return NULL;
}

const hone_term *hone_formula_load(hone_formula *f, hone_array array,
                                   const hone_term *const *indices) {
    if (array >= f->te.func->buffer_count) {
        fail(f, HONE_ERROR(HONE_CODE_INVALID, "there is no array %u", (unsigned)array));
        return NULL;
    }
    for (uint32_t d = 0; d < hone_func_buffer(f->te.func, array)->rank; d++) {
        if (!indices[d]) return NULL;
    }
    return (const hone_term *)hone_te_load(&f->te, array, (const hone_expr *const *)indices);
}

/* An array is ended once, with axes of the right sort. */
static bool may_end(hone_formula *f, const char *name, const hone_term *value, bool is_reduction) {
    if (!f->has_axes) {
        fail(f, HONE_ERROR(HONE_CODE_INVALID, "array '%s' has no axes", name));
        return false;
    }
    f->has_axes = false;
    if (is_reduction != (f->stage.reduce_count > 0)) {
        fail(f, HONE_ERROR(HONE_CODE_INVALID, "array '%s' %s", name,
                           is_reduction ? "has no axes to reduce over"
                                        : "has axes to reduce over and no reduction"));
        return false;
    }
    return value != NULL;
}

hone_array hone_formula_compute(hone_formula *f, const char *name, const hone_term *value) {
    if (!may_end(f, name, value, false)) return HONE_NO_ID;
    return hone_te_compute(&f->te, &f->stage, name, (const hone_expr *)value);
}

hone_array hone_formula_reduce(hone_formula *f, const char *name, const char *reduction,
                               const hone_term *value) {
    static const char *const names[] = {"sum", "prod", "max", "min"};
    static const hone_te_reducer reducers[] = {HONE_TE_SUM, HONE_TE_PROD, HONE_TE_MAX, HONE_TE_MIN};
    if (!may_end(f, name, value, true)) return HONE_NO_ID;
    for (size_t i = 0; i < HONE_COUNT(names); i++) {
        if (strcmp(names[i], reduction) != 0) continue;
        return hone_te_reduce(&f->te, &f->stage, name, reducers[i], (const hone_expr *)value);
    }
    fail(f,
         HONE_ERROR(HONE_CODE_NOT_FOUND, "'%s' is no reduction: sum, prod, max, min", reduction));
    return HONE_NO_ID;
}

static hone_status finish(hone_formula *f, size_t count, const hone_array *outputs) {
    hone_func *func = NULL;
    HONE_TRY(hone_ir_finish(&f->te.ir));
    for (size_t i = 0; i < count; i++) {
        if (outputs[i] < f->te.func->buffer_count) continue;
        return HONE_ERROR(HONE_CODE_INVALID, "output %zu is no array", i);
    }
    HONE_TRY(hone_te_finish(&f->te, (uint32_t)count, outputs, &func));
    HONE_TRY(hone_check_func(func));
    return hone_module_add_func(f->module, func);
}

hone_error *hone_formula_finish(hone_formula *f, size_t output_count, const hone_array *outputs,
                                hone_program **out_program) {
    *out_program = NULL;
    if (!f->module) return hone_api_error(HONE_ERROR(HONE_CODE_INVALID, "the formula is finished"));
    hone_status st = finish(f, output_count, outputs);
    if (!st) {
        hone_module_freeze(f->module);
        *out_program = (hone_program *)f->module;
    } else {
        hone_module_release(f->module);
    }
    f->module = NULL;
    return hone_api_error(st);
}
