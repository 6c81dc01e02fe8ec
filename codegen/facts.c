/* codegen/facts.c - what both generators must agree on. */
#include "codegen/facts.h"

#include <string.h>

#include "support/core/attributes.h"
#include "support/data/dtype_dlpack.h"
#include "support/data/float16.h"

bool codegen_is_c_call(const hone_expr *e) {
    return e->op == HONE_INTRIN_CALL_EXTERN || e->op == HONE_INTRIN_CALL_PURE_EXTERN;
}

bool codegen_is_c_type(hone_dtype dtype) {
    if (hone_dtype_is_handle(dtype)) return true;
    if (dtype.lanes > 1) return false;
    if (hone_dtype_is_float(dtype)) {
        return hone_dtype_equal(dtype, HONE_DTYPE_F32) || hone_dtype_equal(dtype, HONE_DTYPE_F64);
    }
    return hone_dtype_is_bool(dtype) || dtype.bits == 8 || dtype.bits == 16 || dtype.bits == 32 ||
           dtype.bits == 64;
}

bool codegen_gives_value(const hone_expr *e) {
    return !hone_dtype_is_void(e->dtype) && !hone_dtype_is_handle(e->dtype) &&
           !hone_dtype_equal(e->dtype, HONE_DTYPE_I32);
}

void codegen_append_c_source(const char *text, hone_str *out) {
    static const char marker[] = "extern \"C\"";
    while (*text) {
        const char *found = strstr(text, marker);
        size_t length = found ? (size_t)(found - text) : strlen(text);
        hone_str_append_n(out, text, length);
        text += length + (found ? strlen(marker) : 0);
    }
}

bool codegen_is_index_compare(const hone_expr *e) {
    const hone_expr *a = e->args[0], *b = e->args[1];
    return hone_op_is_compare((hone_op)e->op) && hone_dtype_is_int(a->dtype) &&
           a->dtype.lanes == 1 && hone_expr_is_pure_index(a) && hone_expr_is_pure_index(b);
}

bool codegen_is_small_float(hone_dtype dtype) {
    return hone_dtype_is_short_float(dtype);
}

/* The shortest formats lack whole numbers next to their own: 8 beside 7.5, 0 beside 0.5. */
static bool is_rounding_call(hone_intrin intrin, hone_dtype dtype) {
    switch (intrin) {
    case HONE_INTRIN_FLOOR:
    case HONE_INTRIN_CEIL:
    case HONE_INTRIN_ROUND:
    case HONE_INTRIN_NEARBYINT:
    case HONE_INTRIN_TRUNC:
        return dtype.bits <= 8;
    case HONE_INTRIN_IF_THEN_ELSE:
    case HONE_INTRIN_LIKELY:
    case HONE_INTRIN_ABS:
    case HONE_INTRIN_FABS:
    case HONE_INTRIN_COPYSIGN:
    case HONE_INTRIN_NEXTAFTER:
    case HONE_INTRIN_REINTERPRET:
    case HONE_INTRIN_UNDEF:
        return false;
    case HONE_INTRIN_VECTOR_REDUCE_ADD: /* after each step */
    case HONE_INTRIN_VECTOR_REDUCE_MUL:
    case HONE_INTRIN_VECTOR_REDUCE_MIN:
    case HONE_INTRIN_VECTOR_REDUCE_MAX:
        return false;
    default:
        return true;
    }
}

bool codegen_is_unrounded(const hone_expr *e) {
    if (!codegen_is_small_float(e->dtype)) return false;
    if (e->kind == HONE_EXPR_BINARY) return e->op != HONE_OP_MIN && e->op != HONE_OP_MAX;
    return e->kind == HONE_EXPR_CALL && is_rounding_call((hone_intrin)e->op, e->dtype);
}

double codegen_float_constant(const hone_expr *e) {
    hone_dtype dtype = hone_dtype_element(e->dtype);
    if (!codegen_is_small_float(dtype)) return e->u.f;
    return hone_short_float_load(dtype, hone_short_float_store(dtype, e->u.f));
}

bool codegen_narrows_twice(hone_dtype from, hone_dtype to) {
    if (!codegen_is_small_float(to)) return false;
    if (hone_dtype_is_float(from)) return from.bits == 64;
    /* integers that a float cannot hold are too large for the others */
    return from.bits > 16 &&
           (to.code == HONE_DTYPE_CODE_BFLOAT || to.code == HONE_DTYPE_CODE_FLOAT8_E8M0FNU);
}

hone_buffer codegen_buffer_of_data(const hone_func *func, hone_var var) {
    for (hone_buffer id = 0; id < func->buffer_count; id++) {
        if (func->buffers[id].data == var) return id;
    }
    return HONE_NO_ID;
}

static hone_dtype pointed_to(const hone_func *func, const hone_expr *e) {
    if (hone_expr_is_call(e, HONE_INTRIN_ADDRESS_OF)) return e->args[0]->dtype;
    if (hone_expr_is_call(e, HONE_INTRIN_ACCESS_PTR)) e = e->args[1];
    hone_buffer id = hone_dtype_is_handle(e->dtype) && e->kind == HONE_EXPR_VAR
                         ? codegen_buffer_of_data(func, e->u.var)
                         : HONE_NO_ID;
    return id == HONE_NO_ID ? e->dtype : func->buffers[id].dtype;
}

int32_t codegen_passed_type(const hone_func *func, const hone_expr *call, uint32_t index) {
    bool is_value = index + 1u >= call->count;
    return hone_dtype_dlpack_word(is_value ? call->dtype : pointed_to(func, call->args[index + 1]));
}

int64_t codegen_constant_bytes(const hone_buffer_info *buffer) {
    int64_t elements = hone_buffer_elements(buffer);
    int64_t each = (int64_t)hone_dtype_bytes(buffer->dtype);
    if (elements < 0 || (each > 0 && elements > INT64_MAX / 4 / each)) return -1;
    return elements * each;
}

static const struct fault_row {
    int32_t code;
    const char *text;
} fault_rows[CODEGEN_FAULT_COUNT] = {
    [CODEGEN_FAULT_DIVISION] = {-4, "division by zero"        },
    [CODEGEN_FAULT_INDEX] = {-5, "an index is out of range"},
};

int32_t codegen_fault_code(codegen_fault fault) {
    return fault_rows[fault].code;
}

const char *codegen_fault_text(codegen_fault fault) {
    return fault_rows[fault].text;
}
