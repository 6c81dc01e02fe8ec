/* include/api_formula.c - hone_formula: tensor programs from formulas; sizes, inputs, axes. */
#include "include/api_formula.h"

#include <string.h>

#include "include/api.h"
#include "ir/verify/verify.h"
#include "support/core/alloc.h"

hone_error *hone_formula_create(const char *name, hone_formula **out_formula) {
    HONE_API_NEED(out_formula);
    *out_formula = NULL;
    hone_status st = hone_api_check_name("a program", name);
    if (st) return hone_api_error(st);
    hone_formula *f = hone_calloc(1, sizeof *f);
    if (!f) return hone_api_error(HONE_ERROR(HONE_CODE_NO_MEMORY, "formula"));
    f->late = hone_arena_create(256);
    st = f->late ? hone_module_create(&f->module) : HONE_ERROR(HONE_CODE_NO_MEMORY, "formula");
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
    if (f->late) hone_arena_destroy(f->late);
    hone_free(f);
}

hone_terms *hone_formula_terms(hone_formula *f) {
    return f && f->module ? (hone_terms *)&f->te.ir : NULL;
}

void hone_formula_fail(hone_formula *f, hone_status st) {
    hone_ir_fail(&f->te.ir, st);
}

bool hone_formula_is_open(hone_formula *f) {
    return f && f->module && !f->te.ir.error;
}

bool hone_formula_has_array(hone_formula *f, hone_array array) {
    bool is_there = array < f->te.func->buffer_count;
    for (uint32_t i = 0; i < f->reducing_count; i++)
        is_there &= array != f->reducing[i];
    if (is_there) return true;
    hone_formula_fail(f, HONE_ERROR(HONE_CODE_INVALID, "there is no array %lld",
                                    array == HONE_NO_ARRAY ? -1LL : (long long)array));
    return false;
}

static bool has_name(hone_formula *f, const char *what, const char *name) {
    hone_status st = hone_api_check_name(what, name);
    if (st) hone_formula_fail(f, st);
    return !st;
}

bool hone_formula_read_type(hone_formula *f, const char *name, const char *type, hone_dtype *out) {
    if (!type) {
        hone_formula_fail(f, HONE_ERROR(HONE_CODE_INVALID, "the type of '%s' is NULL", name));
    } else if (!hone_dtype_parse(type, out) || !hone_api_is_element(*out)) {
        hone_formula_fail(
            f, HONE_ERROR(HONE_CODE_TYPE, "array '%s': '%s' is no type of elements", name, type));
    } else {
        return true;
    }
    return false;
}

/* ---- sizes ---- */

void hone_formula_index_type(hone_formula *f, const char *type) {
    if (!hone_formula_is_open(f)) return;
    bool is_wide = type && strcmp(type, "int64") == 0;
    if (!is_wide && !(type && strcmp(type, "int32") == 0)) {
        hone_formula_fail(f, HONE_ERROR(HONE_CODE_TYPE, "indices are int32 or int64, not '%s'",
                                        type ? type : "NULL"));
    } else if (f->te.func->buffer_count || f->te.func->var_count) {
        hone_formula_fail(
            f, HONE_ERROR(HONE_CODE_INVALID, "the type of indices comes before sizes and arrays"));
    } else if (is_wide) {
        hone_te_use_int64(&f->te);
    }
}

const hone_term *hone_formula_size(hone_formula *f, const char *name) {
    if (!hone_formula_is_open(f) || !has_name(f, "a size", name)) return NULL;
    return (const hone_term *)hone_te_size(&f->te, name);
}

uint32_t hone_formula_rank(const hone_formula *f, hone_array array) {
    if (!f || !f->module || array >= f->te.func->buffer_count) return 0;
    return hone_func_buffer(f->te.func, array)->rank;
}

const hone_term *hone_formula_extent(hone_formula *f, hone_array array, uint32_t dimension) {
    if (!hone_formula_is_open(f) || !hone_formula_has_array(f, array)) return NULL;
    const hone_buffer_info *info = hone_func_buffer(f->te.func, array);
    if (dimension < info->rank) return (const hone_term *)info->shape[dimension];
    hone_formula_fail(f, HONE_ERROR(HONE_CODE_INVALID, "'%s' has %u dimensions, no dimension %u",
                                    info->name, (unsigned)info->rank, (unsigned)dimension));
    return NULL;
}

static const hone_expr *static_extent(hone_formula *f, const char *what, uint32_t d,
                                      int64_t extent) {
    int64_t most = hone_dtype_equal(f->te.index, HONE_DTYPE_I32) ? INT32_MAX : INT64_MAX;
    if (extent >= 1 && extent <= most) return hone_te_int(&f->te, extent);
    hone_formula_fail(f, HONE_ERROR(HONE_CODE_INVALID, "extent %u of %s is %lld, must be 1 to %lld",
                                    (unsigned)d, what, (long long)extent, (long long)most));
    return NULL;
}

/* Looks for what has no place in an extent. */
static bool see_extent_part(void *ctx, const hone_expr *e) {
    hone_formula *f = ctx;
    bool is_size = e->kind == HONE_EXPR_VAR && e->u.var < f->te.func->var_count &&
                   f->te.func->vars[e->u.var].is_size;
    bool is_fine = is_size || e->kind == HONE_EXPR_INT || e->kind == HONE_EXPR_BINARY ||
                   e->kind == HONE_EXPR_CAST || e->kind == HONE_EXPR_SELECT;
    if (!is_fine) {
        hone_formula_fail(f,
                          HONE_ERROR(HONE_CODE_INVALID, "an extent is made of sizes and integers"));
    }
    return is_fine;
}

const hone_expr *hone_formula_read_extent(hone_formula *f, const char *what, uint32_t d,
                                          const hone_term *term) {
    const hone_expr *e = (const hone_expr *)term;
    if (!e) return NULL;
    if (hone_expr_is_int(e)) return static_extent(f, what, d, e->u.i);
    hone_expr_walk(e, see_extent_part, f);
    if (f->te.ir.error) return NULL;
    if (hone_dtype_equal(e->dtype, f->te.index)) return e;
    hone_formula_fail(f, HONE_ERROR(HONE_CODE_TYPE, "extent %u of %s is %s, indices are %s",
                                    (unsigned)d, what, HONE_DTYPE_NAME(e->dtype),
                                    HONE_DTYPE_NAME(f->te.index)));
    return NULL;
}

/* A shape as a caller gives it: numbers or terms. */
typedef struct shape {
    uint32_t rank;
    const int64_t *numbers;
    const hone_term *const *terms;
} shape;

static bool read_shape(hone_formula *f, const char *what, shape from, const hone_expr **out) {
    if (from.rank > HONE_TE_MAX_RANK) {
        hone_formula_fail(f, HONE_ERROR(HONE_CODE_INVALID, "%s has %u dimensions, at most %d", what,
                                        (unsigned)from.rank, HONE_TE_MAX_RANK));
        return false;
    }
    if (from.rank && !from.numbers && !from.terms) {
        hone_formula_fail(f, HONE_ERROR(HONE_CODE_INVALID, "the shape of %s is NULL", what));
        return false;
    }
    for (uint32_t d = 0; d < from.rank; d++) {
        out[d] = from.numbers ? static_extent(f, what, d, from.numbers[d])
                              : hone_formula_read_extent(f, what, d, from.terms[d]);
        if (!out[d] && !f->te.ir.error) {
            hone_formula_fail(
                f, HONE_ERROR(HONE_CODE_INVALID, "extent %u of %s is NULL", (unsigned)d, what));
        }
        if (!out[d]) return false;
    }
    return true;
}

/* ---- inputs ---- */

static hone_array add_input(hone_formula *f, const char *name, const char *type, shape from) {
    const hone_expr *extents[HONE_TE_MAX_RANK];
    hone_dtype dtype;
    if (!hone_formula_is_open(f) || !has_name(f, "an input", name)) return HONE_NO_ARRAY;
    if (!hone_formula_read_type(f, name, type, &dtype)) return HONE_NO_ARRAY;
    if (!read_shape(f, name, from, extents)) return HONE_NO_ARRAY;
    return hone_te_input(&f->te, name, dtype, from.rank, extents);
}

hone_array hone_formula_input(hone_formula *f, const char *name, const char *type, uint32_t rank,
                              const int64_t *extents) {
    return add_input(f, name, type, (shape){.rank = rank, .numbers = extents});
}

hone_array hone_formula_input_sized(hone_formula *f, const char *name, const char *type,
                                    uint32_t rank, const hone_term *const *extents) {
    return add_input(f, name, type, (shape){.rank = rank, .terms = extents});
}

/* ---- axes ---- */

static void begin_axes(hone_formula *f, shape from, shape reduced) {
    const hone_expr *spatial[HONE_TE_MAX_RANK], *reduce[HONE_TE_MAX_RANK];
    if (!hone_formula_is_open(f)) return;
    if (f->reducing_count) {
        hone_formula_fail(f, HONE_ERROR(HONE_CODE_INVALID, "the reduction before has no end"));
        return;
    }
    f->has_axes = false;
    if (!read_shape(f, "an array", from, spatial)) return;
    if (!read_shape(f, "a reduction", reduced, reduce)) return;
    if (from.rank + reduced.rank > HONE_TE_MAX_RANK) {
        hone_formula_fail(f, HONE_ERROR(HONE_CODE_INVALID, "%u axes, at most %d",
                                        (unsigned)(from.rank + reduced.rank), HONE_TE_MAX_RANK));
        return;
    }
    hone_te_stage_begin(&f->te, &f->stage, from.rank, spatial, reduced.rank, reduce);
    f->has_axes = !f->te.ir.error;
}

void hone_formula_axes(hone_formula *f, uint32_t rank, const int64_t *extents,
                       uint32_t reduce_count, const int64_t *reduce_extents) {
    begin_axes(f, (shape){.rank = rank, .numbers = extents},
               (shape){.rank = reduce_count, .numbers = reduce_extents});
}

void hone_formula_axes_sized(hone_formula *f, uint32_t rank, const hone_term *const *extents,
                             uint32_t reduce_count, const hone_term *const *reduce_extents) {
    begin_axes(f, (shape){.rank = rank, .terms = extents},
               (shape){.rank = reduce_count, .terms = reduce_extents});
}

void hone_formula_name_axis(hone_formula *f, uint32_t index, const char *name) {
    if (!hone_formula_is_open(f) || !has_name(f, "an axis", name)) return;
    if (!f->has_axes || index >= f->stage.spatial_count + f->stage.reduce_count) {
        hone_formula_fail(
            f, HONE_ERROR(HONE_CODE_INVALID, "there is no axis %u here", (unsigned)index));
        return;
    }
    hone_func *func = f->te.func;
    const char *loop = hone_arena_strdup(func->arena, name);
    const char *axis = hone_arena_printf(func->arena, "v_%s", name);
    if (!loop || !axis) {
        hone_formula_fail(f, HONE_ERROR(HONE_CODE_NO_MEMORY, "axis"));
        return;
    }
    func->vars[f->stage.loops[index]].name = loop;
    func->vars[f->stage.axes[index]].name = axis;
}

const hone_term *hone_formula_axis(hone_formula *f, uint32_t index) {
    if (!hone_formula_is_open(f)) return NULL;
    if (f->has_axes && index < f->stage.spatial_count + f->stage.reduce_count) {
        return (const hone_term *)f->stage.axis[index];
    }
    hone_formula_fail(f,
                      HONE_ERROR(HONE_CODE_INVALID, "there is no axis %u here", (unsigned)index));
    return NULL;
}

const hone_term *hone_formula_load(hone_formula *f, hone_array array,
                                   const hone_term *const *indices) {
    if (!hone_formula_is_open(f) || !hone_formula_has_array(f, array)) return NULL;
    const hone_buffer_info *info = hone_func_buffer(f->te.func, array);
    for (uint32_t d = 0; d < info->rank; d++) {
        const hone_expr *index = indices ? (const hone_expr *)indices[d] : NULL;
        if (index && hone_dtype_is_integer(index->dtype)) continue;
        hone_formula_fail(f, HONE_ERROR(HONE_CODE_TYPE, "index %u of '%s' is %s, not an integer",
                                        (unsigned)d, info->name,
                                        index ? HONE_DTYPE_NAME(index->dtype) : "NULL"));
        return NULL;
    }
    return (const hone_term *)hone_te_load(&f->te, array, (const hone_expr *const *)indices);
}

/* ---- arrays ---- */

static bool is_of_stage(const hone_formula *f, hone_var var) {
    for (uint32_t i = 0; i < f->stage.spatial_count + f->stage.reduce_count; i++) {
        if (f->stage.axes[i] == var) return true;
    }
    return false;
}

/* Terms of other formulas and of other arrays have no meaning here. */
static bool see_value_part(void *ctx, const hone_expr *e) {
    hone_formula *f = ctx;
    const hone_func *func = f->te.func;
    bool is_fine = true;
    if (e->kind == HONE_EXPR_VAR) {
        is_fine = e->u.var < func->var_count &&
                  hone_dtype_equal(e->dtype, func->vars[e->u.var].dtype) &&
                  (func->vars[e->u.var].is_size || is_of_stage(f, e->u.var));
    } else if (e->kind == HONE_EXPR_LOAD) {
        is_fine = e->u.buffer < func->buffer_count &&
                  e->count == hone_func_buffer(func, e->u.buffer)->rank;
    }
    if (!is_fine) {
        hone_formula_fail(
            f, HONE_ERROR(HONE_CODE_INVALID, "a term uses an axis or an array of something else"));
    }
    return is_fine;
}

bool hone_formula_is_value(hone_formula *f, const char *name, const hone_term *value) {
    if (!value) {
        hone_formula_fail(f, HONE_ERROR(HONE_CODE_INVALID, "the value of '%s' is NULL", name));
        return false;
    }
    const hone_expr *e = (const hone_expr *)value;
    if (hone_dtype_is_void(e->dtype) || hone_dtype_is_handle(e->dtype)) {
        hone_formula_fail(f, HONE_ERROR(HONE_CODE_TYPE, "the value of '%s' is %s", name,
                                        HONE_DTYPE_NAME(e->dtype)));
        return false;
    }
    hone_expr_walk(e, see_value_part, f);
    return !f->te.ir.error;
}

bool hone_formula_may_end(hone_formula *f, const char *name, bool is_reduction) {
    if (!hone_formula_is_open(f) || !has_name(f, "an array", name)) return false;
    if (!f->has_axes) {
        hone_formula_fail(f, HONE_ERROR(HONE_CODE_INVALID, "array '%s' has no axes", name));
        return false;
    }
    f->has_axes = false;
    if (is_reduction == (f->stage.reduce_count > 0)) return true;
    hone_formula_fail(f, HONE_ERROR(HONE_CODE_INVALID, "array '%s' %s", name,
                                    is_reduction ? "has no axes to reduce over"
                                                 : "has axes to reduce over and no reduction"));
    return false;
}

hone_array hone_formula_compute(hone_formula *f, const char *name, const hone_term *value) {
    if (!hone_formula_may_end(f, name, false) || !hone_formula_is_value(f, name, value))
        return HONE_NO_ARRAY;
    return hone_te_compute(&f->te, &f->stage, name, (const hone_expr *)value);
}

static hone_array add_extern(hone_formula *f, const char *name, const char *function, size_t count,
                             const hone_array *inputs, const char *type, shape from) {
    const hone_expr *extents[HONE_TE_MAX_RANK];
    hone_dtype dtype;
    if (!hone_formula_is_open(f) || !has_name(f, "an array", name)) return HONE_NO_ARRAY;
    if (!has_name(f, "a function", function)) return HONE_NO_ARRAY;
    if (f->has_axes || f->reducing_count) {
        hone_formula_fail(f,
                          HONE_ERROR(HONE_CODE_INVALID, "the array before '%s' has no end", name));
        return HONE_NO_ARRAY;
    }
    if (count > HONE_TE_MAX_INPUTS || (count && !inputs)) {
        hone_formula_fail(f, HONE_ERROR(HONE_CODE_INVALID, "'%s' gets %zu arrays%s, at most %d",
                                        function, count, inputs ? "" : ", which are NULL",
                                        HONE_TE_MAX_INPUTS));
        return HONE_NO_ARRAY;
    }
    for (size_t i = 0; i < count; i++) {
        if (!hone_formula_has_array(f, inputs[i])) return HONE_NO_ARRAY;
    }
    if (!hone_formula_read_type(f, name, type, &dtype)) return HONE_NO_ARRAY;
    if (!read_shape(f, name, from, extents)) return HONE_NO_ARRAY;
    return hone_te_extern(&f->te, name, function, (uint32_t)count, inputs, dtype, from.rank,
                          extents);
}

hone_array hone_formula_extern(hone_formula *f, const char *name, const char *function,
                               size_t count, const hone_array *inputs, const char *type,
                               uint32_t rank, const int64_t *extents) {
    return add_extern(f, name, function, count, inputs, type,
                      (shape){.rank = rank, .numbers = extents});
}

hone_array hone_formula_extern_sized(hone_formula *f, const char *name, const char *function,
                                     size_t count, const hone_array *inputs, const char *type,
                                     uint32_t rank, const hone_term *const *extents) {
    return add_extern(f, name, function, count, inputs, type,
                      (shape){.rank = rank, .terms = extents});
}

/* ---- the program ---- */

static bool is_input(const hone_formula *f, hone_array array) {
    for (uint32_t i = 0; i < f->te.input_count; i++) {
        if (f->te.inputs[i] == array) return true;
    }
    return false;
}

static hone_status check_outputs(const hone_formula *f, size_t count, const hone_array *outputs) {
    if (!count) return HONE_ERROR(HONE_CODE_INVALID, "a program without outputs");
    for (size_t i = 0; i < count; i++) {
        if (outputs[i] >= f->te.func->buffer_count) {
            return HONE_ERROR(HONE_CODE_INVALID, "output %zu is no array", i);
        }
        if (is_input(f, outputs[i])) {
            return HONE_ERROR(HONE_CODE_INVALID, "output %zu is an input, '%s'", i,
                              hone_func_buffer(f->te.func, outputs[i])->name);
        }
        for (size_t k = 0; k < i; k++) {
            if (outputs[k] != outputs[i]) continue;
            return HONE_ERROR(HONE_CODE_INVALID, "outputs %zu and %zu are the same array", k, i);
        }
    }
    return HONE_OK;
}

static hone_status finish(hone_formula *f, size_t count, const hone_array *outputs) {
    hone_func *func = NULL;
    HONE_TRY(hone_ir_finish(&f->te.ir));
    if (f->reducing_count) {
        return HONE_ERROR(HONE_CODE_INVALID, "the last reduction has no end");
    }
    HONE_TRY(check_outputs(f, count, outputs));
    HONE_TRY(hone_te_finish(&f->te, (uint32_t)count, outputs, &func));
    HONE_TRY(hone_check_func(func));
    return hone_module_add_func(f->module, func);
}

hone_error *hone_formula_finish(hone_formula *formula, size_t output_count,
                                const hone_array *outputs, hone_program **out_program) {
    HONE_API_NEED(out_program);
    *out_program = NULL;
    HONE_API_NEED(formula);
    if (output_count) HONE_API_NEED(outputs);
    hone_formula *f = formula;
    if (!f->module) return hone_api_error(HONE_ERROR(HONE_CODE_INVALID, "the formula is finished"));
    hone_status st = finish(f, output_count, outputs);
    if (!st) {
        *out_program = hone_api_program(f->module);
    } else {
        hone_module_release(f->module);
    }
    f->module = NULL;
    f->te.ir.arena = f->late;
    return hone_api_error(st);
}
