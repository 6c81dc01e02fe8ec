/* codegen/source/c_device_call.c - functions that programs call by their names in CUDA, in the
 * words of each dialect: atomic updates, values that pass between the lanes of a warp, asynchronous
 * copies. */
#include <string.h>

#include "codegen/source/c_gen.h"
#include "ir/ops/named_op.h"
#include "support/core/attributes.h"

/* $1 to $9: arguments behind the name; $T: the type of the value, $S: where argument 1 points to.
 * The forms are in the order of c_column; NULL: the dialect has nothing like it. */
typedef struct call_row {
    const char *name; /* the one for all that mean the same: hone_named_op_same */
    uint8_t count;    /* arguments behind the name, the least; further ones are left out */
    bool is_whole;    /* for integers of 32 bits only, unless the dialect has_wide_atomics */
    const char *forms[C_COLUMN_COUNT];
} call_row;

/* clang-format off */
#define METAL_ATOMIC(name) "atomic_" name "_explicit(($Satomic<$T> *)$1, $2, memory_order_relaxed)"
#define UPDATE(name, opencl, metal) \
    {name, 2, true, {name "($1, $2)", opencl "((volatile $S$T *)$1, $2)", METAL_ATOMIC(metal)}}

static const call_row rows[] = {
    UPDATE("atomicAdd",  "atomic_add",  "fetch_add"),
    UPDATE("atomicSub",  "atomic_sub",  "fetch_sub"),
    UPDATE("atomicMin",  "atomic_min",  "fetch_min"),
    UPDATE("atomicMax",  "atomic_max",  "fetch_max"),
    UPDATE("atomicAnd",  "atomic_and",  "fetch_and"),
    UPDATE("atomicOr",   "atomic_or",   "fetch_or"),
    UPDATE("atomicXor",  "atomic_xor",  "fetch_xor"),
    UPDATE("atomicExch", "atomic_xchg", "exchange"),
    {"atomicCAS",             3, true,  {"atomicCAS($1, $2, $3)", "atomic_cmpxchg((volatile $S$T *)$1, $2, $3)", NULL}},
    {"cuda.__shfl_sync",      3, false, {"__shfl_sync((unsigned)$1, $2, (int)$3, (int)$4)", NULL, NULL}},
    {"cuda.__shfl_up_sync",   3, false, {"__shfl_up_sync((unsigned)$1, $2, (unsigned)$3, (int)$4)", NULL, NULL}},
    {"cuda.__shfl_down_sync", 3, false, {"__shfl_down_sync((unsigned)$1, $2, (unsigned)$3, (int)$4)", NULL, NULL}},
    {"cuda.__shfl_xor_sync",  3, false, {"__shfl_xor_sync((unsigned)$1, $2, (int)$3, (int)$4)", NULL, "simd_shuffle_xor($2, (ushort)$3)"}},
    {"cuda.__activemask",     0, false, {"__activemask()", NULL, NULL}},
    {"cuda.ballot_sync",      2, false, {"__ballot_sync((unsigned)$1, $2)", NULL, NULL}},
    {"cuda.any_sync",         2, false, {"__any_sync((unsigned)$1, $2)", NULL, NULL}},
};
/* clang-format on */

const char *c_space_of_pointer(c_gen *g, const hone_expr *e) {
    hone_buffer id = HONE_NO_ID;
    if (hone_expr_is_call(e, HONE_INTRIN_ADDRESS_OF) && e->args[0]->kind == HONE_EXPR_LOAD) {
        id = e->args[0]->u.buffer;
    } else if (hone_expr_is_call(e, HONE_INTRIN_ACCESS_PTR) && e->args[1]->kind == HONE_EXPR_VAR) {
        id = codegen_buffer_of_data(g->func, e->args[1]->u.var);
    }
    return g->dialect->space[id == HONE_NO_ID ? C_SPACE_GLOBAL : c_space_of(g, id)];
}

static const char *fill_call(c_gen *g, const hone_expr *e, const call_row *row, const char *form) {
    c_blank blanks[12] = {
        {'T', c_type(g, hone_dtype_element(e->dtype))},
        {'S',   ""        }
    };
    size_t count = 2;
    if (e->count > 1 && hone_dtype_is_handle(e->args[1]->dtype))
        blanks[1].text = c_space_of_pointer(g, e->args[1]);
    for (uint16_t i = 1; i < e->count && i <= 9; i++) {
        const char *text = c_at(g, c_value(g, e->args[i]), C_PREC_UNARY);
        blanks[count++] = (c_blank){(char)('0' + i), text};
    }
    if (e->count == row->count + 1 && row->count == 3) /* the width of a warp goes without saying */
        blanks[count++] = (c_blank){'4', "32"};
    blanks[count] = (c_blank){0};
    return c_fill(g, form, blanks);
}

static bool is_of_words(const hone_expr *e) {
    return hone_dtype_is_integer(e->dtype) && e->dtype.bits == 32;
}

static c_text call_row_of(c_gen *g, const hone_expr *e, const call_row *row) {
    const char *form = row->forms[g->dialect->column];
    bool is_known = form && e->dtype.lanes == 1 &&
                    (!row->is_whole || g->dialect->has_wide_atomics || is_of_words(e));
    if (!is_known || e->count <= row->count) {
        c_unsupported(g, c_printf(g, "'%s' of %s", e->args[0]->u.s, HONE_DTYPE_NAME(e->dtype)));
        return (c_text){"0", C_PREC_POSTFIX};
    }
    const char *call = fill_call(g, e, row, form);
    if (hone_dtype_is_void(e->dtype)) {
        c_line(g, "%s;", call);
        return (c_text){"0", C_PREC_POSTFIX};
    }
    const char *name = c_name(g, "got");
    c_line(g, "const %s %s = %s;", c_type(g, e->dtype), name, call);
    c_line(g, "(void)%s;", name);
    return (c_text){name, C_PREC_POSTFIX};
}

c_text c_device_call(c_gen *g, const hone_expr *e) {
    const char *name = hone_named_op_same(e->args[0]->u.s);
    if (c_group_call(g, e) || c_lane_call(g, e) || c_matrix_call(g, e) || c_simdgroup_call(g, e))
        return (c_text){"0", C_PREC_POSTFIX};
    for (size_t i = 0; g->dialect->is_device && i < HONE_COUNT(rows); i++) {
        if (strcmp(rows[i].name, name) == 0) return call_row_of(g, e, &rows[i]);
    }
    c_unsupported(g, c_printf(g, "'%s'", e->args[0]->u.s));
    return (c_text){"0", C_PREC_POSTFIX};
}
