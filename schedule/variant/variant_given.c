/* schedule/variant/variant_given.c - variants of users: programs that take the place of others with
 * the same parameters. */
#include <math.h>
#include <string.h>

#include "ir/core/module.h"
#include "ir/text/read/script.h"
#include "ir/verify/verify.h"
#include "schedule/variant/variant_impl.h"
#include "support/data/hash.h"

#define ERROR_ATTRIBUTE "error"

/* The one function of a text. */
static hone_status parse(const char *text, const char *source_name, hone_module **out_module,
                         const hone_func **out_func) {
    const hone_member *member;
    *out_module = NULL;
    HONE_TRY(hone_script_parse(text, strlen(text), source_name, out_module));
    hone_status st = hone_module_pick(*out_module, NULL, &member);
    if (!st && member->kind != HONE_MEMBER_FUNC)
        st = HONE_ERROR(HONE_CODE_INVALID, "%s: '%s' is not a PrimFunc", source_name, member->name);
    if (!st) {
        *out_func = member->func;
        return HONE_OK;
    }
    hone_module_release(*out_module);
    *out_module = NULL;
    return st;
}

static bool read_error(const hone_func *func, double *out) {
    const hone_value *value = hone_attrs_find(&func->attrs, ERROR_ATTRIBUTE);
    *out = 0;
    if (!value) return true;
    bool is_int = value->kind == HONE_VALUE_INT;
    if (!is_int && value->kind != HONE_VALUE_FLOAT) return false;
    *out = is_int ? (double)value->u.i : value->u.f;
    return *out >= 0 && isfinite(*out);
}

hone_status hone_variant_read(const char *name, const char *text, const char *source_name,
                              hone_variant *out) {
    hone_module *module;
    const hone_func *func;
    double error;
    HONE_TRY(parse(text, source_name, &module, &func));
    hone_status st = hone_status_annotate(hone_check_func(func), "%s", source_name);
    if (!st && hone_func_root_block(func) == HONE_NO_ID)
        st = HONE_ERROR(HONE_CODE_INVALID, "%s: a variant is a program of blocks", source_name);
    if (!st && !read_error(func, &error))
        st = HONE_ERROR(HONE_CODE_INVALID,
                        "%s: attribute \"" ERROR_ATTRIBUTE "\" has to be a number of at least 0",
                        source_name);
    hone_module_release(module);
    if (st) return st;
    const uint64_t hash = hone_hash128_bytes(text, strlen(text)).lo;
    *out = (hone_variant){.name = name,
                          .version = (int64_t)(hash >> 1),
                          .error = error,
                          .about = "the user's",
                          .program = text};
    return HONE_OK;
}

/* ---- in the place of a program ---- */

static bool is_same_buffer(const hone_buffer_info *a, const hone_buffer_info *b) {
    if (!hone_dtype_equal(a->dtype, b->dtype) || a->rank != b->rank || a->strides || b->strides)
        return false;
    for (uint32_t d = 0; d < a->rank; d++) {
        int64_t extent = hone_expr_const(a->shape[d]);
        if (extent < 0 || extent != hone_expr_const(b->shape[d])) return false;
    }
    return true;
}

static bool has_same_parameters(const hone_func *a, const hone_func *b) {
    if (a->param_count != b->param_count) return false;
    for (uint32_t i = 0; i < a->param_count; i++) {
        hone_buffer x = a->params[i].buffer, y = b->params[i].buffer;
        if (x == HONE_NO_ID || y == HONE_NO_ID ||
            !is_same_buffer(hone_func_buffer(a, x), hone_func_buffer(b, y)))
            return false;
    }
    return true;
}

/* What a program is called, and its attributes, are no part of the algorithm. */
static hone_status take(const hone_func *from, const hone_func *func, hone_arena *arena,
                        hone_func **out) {
    if (!has_same_parameters(from, func))
        return VARIANT_REFUSE("its parameters have other types or sizes than the program's");
    hone_func *copy = hone_func_copy_canonical(arena, from);
    if (!copy || !hone_attrs_without(arena, &copy->attrs, ERROR_ATTRIBUTE, &copy->attrs))
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "variant");
    copy->name = hone_arena_strdup(arena, func->name);
    *out = copy;
    return copy->name ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "variant");
}

hone_status variant_apply_given(const hone_variant *variant, const hone_func *func,
                                hone_arena *arena, hone_func **out_func) {
    hone_module *module;
    const hone_func *from;
    HONE_TRY(parse(variant->program, variant->name, &module, &from));
    hone_status st = take(from, func, arena, out_func);
    hone_module_release(module);
    return st;
}
