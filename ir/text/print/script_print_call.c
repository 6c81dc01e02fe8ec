/* ir/text/print/script_print_call.c - calls of intrinsics and of operations that are known by name
 * only. */
#include "ir/ops/named_op.h"
#include "ir/text/print/script_print_impl.h"

#include <string.h>

static hone_dtype implied_dtype(const hone_expr *e) {
    switch (hone_intrin_result_rule((hone_intrin)e->op)) {
    case HONE_INTRIN_RESULT_FIRST:
        return e->count > 0 ? e->args[0]->dtype : e->dtype;
    case HONE_INTRIN_RESULT_SECOND:
        return e->count > 1 ? e->args[1]->dtype : e->dtype;
    case HONE_INTRIN_RESULT_INT32:
        return HONE_DTYPE_I32;
    case HONE_INTRIN_RESULT_BOOL:
        return hone_dtype_with_lanes(HONE_DTYPE_BOOL, e->count ? e->args[0]->dtype.lanes : 1);
    case HONE_INTRIN_RESULT_HANDLE:
        return HONE_DTYPE_HANDLE;
    case HONE_INTRIN_RESULT_GIVEN:
        break;
    }
    return e->dtype;
}

/* The type of a call among its arguments: that of the pointer it is the value of, if any. */
static void print_call_type(printer *pr, hone_dtype dtype, const hone_var_info *pointer) {
    bool is_pointer = pointer && hone_dtype_is_handle(dtype) && !printer_is_classic(pr);
    if (!is_pointer) {
        print_dtype(pr, dtype);
        return;
    }
    print_pointer_type(pr, pointer);
    hone_str_append(pr->out, ".ty");
}

/* TVM's masked accesses name a buffer, not its handle. */
static bool takes_buffer(const printer *pr, const hone_expr *e, const char *name) {
    bool is_masked = strcmp(name, "masked_load") == 0 || strcmp(name, "masked_store") == 0;
    return is_masked && e->count > 1 && e->args[1]->kind == HONE_EXPR_VAR && pr->data_of &&
           pr->data_of[e->args[1]->u.var] != HONE_NO_ID;
}

/* T.call_intrin("int32", "tirx.dma_wait", 0, 1) */
static void print_call_by_name(printer *pr, const hone_expr *e, const hone_var_info *pointer,
                               const char *name, uint32_t first) {
    hone_str_append(pr->out, "T.call_intrin(");
    print_call_type(pr, e->dtype, pointer);
    hone_str_printf(pr->out, ", \"tirx.%s\"%s", name, e->count > first ? ", " : "");
    print_exprs(pr, e->count - first, e->args + first);
    hone_str_append_char(pr->out, ')');
}

/* The type that T.ptx_mma of older releases begins with: of its accumulators. */
static const char *type_of_mma(const hone_expr *e) {
    static const char *const types[][2] = {
        {"fp16",  "float16"},
        {"fp32",  "float32"},
        {"fp64",  "float64"},
        {"int32", "int32"  },
        {"s32",   "int32"  }
    };
    bool is_mma = strcmp(e->args[0]->u.s, "ptx_legacy.mma") == 0 && e->count > 6 &&
                  e->args[6]->kind == HONE_EXPR_STRING;
    for (size_t i = 0; is_mma && i < HONE_COUNT(types); i++) {
        if (strcmp(types[i][0], e->args[6]->u.s) == 0) return types[i][1];
    }
    return NULL;
}

/* T.ptx.cp(n, "async", "wait_group", "") as older releases have it: T.ptx_wait_group(n). */
static bool print_group(printer *pr, const hone_expr *e) {
    uint32_t words = e->count >= 4 ? e->count - 3u : 0;
    if (!printer_is_classic(pr) || !words || strcmp(e->args[0]->u.s, "ptx.cp") != 0) return false;
    for (uint32_t i = words; i < e->count; i++) {
        if (e->args[i]->kind != HONE_EXPR_STRING) return false;
    }
    const char *word = e->args[words + 1]->u.s;
    bool is_group = strcmp(e->args[words]->u.s, "async") == 0 && !*e->args[words + 2]->u.s &&
                    (strcmp(word, "commit_group") == 0 || strcmp(word, "wait_group") == 0);
    if (!is_group) return false;
    hone_str_printf(pr->out, "T.ptx_%s(", word);
    print_exprs(pr, words - 1, e->args + 1);
    hone_str_append_char(pr->out, ')');
    return true;
}

static void print_named_call(printer *pr, const hone_expr *e, const hone_var_info *pointer) {
    const char *name = e->args[0]->u.s;
    if (print_group(pr, e)) return;
    const hone_named_op *op = hone_named_op_find(name);
    if (op && op->is_call && !printer_is_classic(pr)) {
        print_call_by_name(pr, e, pointer, name, 1);
        return;
    }
    if (printer_is_classic(pr)) name = hone_named_op_before(name);
    uint32_t count = e->count - 1u;
    bool first = op && op->place == HONE_NAMED_DTYPE_FIRST && !printer_is_classic(pr);
    bool last = op && op->place == HONE_NAMED_DTYPE_LAST && !printer_is_classic(pr);
    bool implied = op && op->place != HONE_NAMED_DTYPE_FIRST &&
                   op->place != HONE_NAMED_DTYPE_LAST &&
                   hone_dtype_equal(hone_named_op_dtype(op, count, e->args + 1), e->dtype);
    bool is_function = strncmp(name, HONE_NAMED_FUNCTION, strlen(HONE_NAMED_FUNCTION)) == 0;
    hone_str_printf(pr->out, is_function ? "%s(" : "T.%s(", name);
    const char *mma = printer_is_classic(pr) ? type_of_mma(e) : NULL;
    if (mma) hone_str_printf(pr->out, "\"%s\", ", mma);
    if (first) print_call_type(pr, e->dtype, pointer);
    if (first && count) hone_str_append(pr->out, ", ");
    uint32_t begin = takes_buffer(pr, e, name) ? 2 : 1;
    if (begin == 2) {
        hone_str_printf(pr->out, "%s%s", printer_buffer(pr, pr->data_of[e->args[1]->u.var]),
                        count > 1 ? ", " : "");
    }
    print_exprs(pr, e->count - begin, e->args + begin);
    if (!first && !implied && !is_function) {
        hone_str_append(pr->out, count ? ", " : "");
        if (!last) hone_str_append(pr->out, "dtype=");
        bool is_handle = last && !pointer && hone_dtype_is_handle(e->dtype);
        if (is_handle) {
            hone_str_append(pr->out, "T.handle().ty");
        } else {
            print_call_type(pr, e->dtype, pointer);
        }
    }
    hone_str_append_char(pr->out, ')');
}

/* launch_params=["blockIdx.x"] */
static void print_words(printer *pr, const hone_expr *e) {
    hone_str_printf(pr->out, "%s[", e->args[0]->u.s);
    print_exprs(pr, e->count - 1u, e->args + 1);
    hone_str_append_char(pr->out, ']');
}

void print_call(printer *pr, const hone_expr *e) {
    const hone_var_info *pointer = pr->pointer;
    pr->pointer = NULL; /* of this call, not of its arguments */
    if (hone_expr_is_call(e, HONE_INTRIN_NAMED)) {
        size_t length = strlen(e->args[0]->u.s);
        if (length && e->args[0]->u.s[length - 1] == '=') {
            print_words(pr, e);
        } else {
            print_named_call(pr, e, pointer);
        }
        return;
    }
    if (hone_expr_is_call(e, HONE_INTRIN_PREFETCH) && !printer_is_classic(pr)) {
        print_call_by_name(pr, e, pointer, "prefetch", 0);
        return;
    }
    bool given = hone_intrin_result_rule((hone_intrin)e->op) == HONE_INTRIN_RESULT_GIVEN;
    bool leads = given && !printer_is_classic(pr) && !hone_expr_is_call(e, HONE_INTRIN_UNDEF);
    hone_str_printf(pr->out, "T.%s(", hone_intrin_spelling((hone_intrin)e->op));
    if (leads) {
        print_call_type(pr, e->dtype, pointer);
        if (e->count) hone_str_append(pr->out, ", ");
    }
    print_exprs(pr, e->count, e->args);
    bool at_end = given ? !leads : !hone_dtype_equal(implied_dtype(e), e->dtype);
    if (at_end) {
        hone_str_append(pr->out, e->count ? ", dtype=" : "dtype=");
        print_dtype(pr, e->dtype);
    }
    hone_str_append_char(pr->out, ')');
}
