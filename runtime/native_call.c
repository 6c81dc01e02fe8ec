/* runtime/native_call.c - calls a C function with arguments that are known at run time only.
 *
 * Both calling conventions hand integers and pointers over in one row of registers and floating
 * numbers in another, each in order, whatever stands in between: a call with all of them filled
 * serves every function. A float is the low half of its register.
 */
#include "runtime/native_call.h"

#include <string.h>

#include "runtime/model/abi.h"
#include "support/data/dtype_dlpack.h"

enum { MAX_INTEGERS = 6, MAX_FLOATS = 8, MAX_PACKED = 256 };

#define INTEGERS int64_t, int64_t, int64_t, int64_t, int64_t, int64_t
#define FLOATS double, double, double, double, double, double, double, double
typedef int64_t (*integer_function)(INTEGERS, FLOATS);
typedef double (*float_function)(INTEGERS, FLOATS);

typedef struct registers {
    int64_t integers[MAX_INTEGERS];
    double floats[MAX_FLOATS];
    size_t integer_count, float_count;
} registers;

static bool put_integer(registers *r, int64_t value) {
    if (r->integer_count == MAX_INTEGERS) return false;
    r->integers[r->integer_count++] = value;
    return true;
}

static bool put_float(registers *r, const hone_tensor *arg) {
    if (r->float_count == MAX_FLOATS) return false;
    double *at = &r->floats[r->float_count++];
    memcpy(at, arg->data, hone_dtype_bytes(arg->dtype));
    return true;
}

static bool put(registers *r, const hone_tensor *arg) {
    if (arg->rank > 0) return put_integer(r, (int64_t)(intptr_t)arg->data);
    if (!hone_dtype_is_float(arg->dtype)) return put_integer(r, hone_tensor_get_i64(arg, 0));
    bool is_c = hone_dtype_equal(arg->dtype, HONE_DTYPE_F32) ||
                hone_dtype_equal(arg->dtype, HONE_DTYPE_F64);
    return is_c && put_float(r, arg);
}

#define ALL(r)                                                                                     \
    (r)->integers[0], (r)->integers[1], (r)->integers[2], (r)->integers[3], (r)->integers[4],      \
        (r)->integers[5], (r)->floats[0], (r)->floats[1], (r)->floats[2], (r)->floats[3],          \
        (r)->floats[4], (r)->floats[5], (r)->floats[6], (r)->floats[7]

static void call(void *symbol, const registers *r, hone_tensor *result) {
    if (result && hone_dtype_is_float(result->dtype)) {
        float_function function;
        memcpy(&function, &symbol, sizeof function); /* ISO C has no cast for this */
        double value = function(ALL(r));
        memcpy(result->data, &value, hone_dtype_bytes(result->dtype));
        return;
    }
    integer_function function;
    memcpy(&function, &symbol, sizeof function);
    int64_t value = function(ALL(r));
    if (result) memcpy(result->data, &value, hone_dtype_bytes(result->dtype));
}

hone_status hone_call_c(void *symbol, const char *name, hone_tensor *const *args, size_t count,
                        hone_tensor *result) {
    registers r = {0};
#if !defined(__x86_64__) && !defined(__aarch64__)
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "calls of C functions on this processor");
#endif
    for (size_t i = 0; i < count; i++) {
        if (put(&r, args[i])) continue;
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "argument %zu of the C function '%s': at most %d pointers and integers "
                          "and %d numbers of type float32 or float64 can be handed over",
                          i + 1, name, MAX_INTEGERS, MAX_FLOATS);
    }
    call(symbol, &r, result);
    return HONE_OK;
}

hone_status hone_call_packed(void *symbol, const char *name, hone_tensor *const *args,
                             size_t count) {
    void *data[MAX_PACKED];
    const int64_t *shapes[MAX_PACKED];
    int32_t ranks[2 * MAX_PACKED];
    if (count > MAX_PACKED) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "external function '%s' has %zu arguments", name,
                          count);
    }
    for (size_t i = 0; i < count; i++) {
        data[i] = args[i]->data;
        shapes[i] = args[i]->shape;
        ranks[i] = args[i]->rank;
        ranks[count + i] = hone_dtype_dlpack_word(args[i]->dtype);
    }
    hone_extern function;
    memcpy(&function, &symbol, sizeof function); /* ISO C has no cast for this */
    int32_t code = function(data, shapes, ranks, (int32_t)count);
    if (code == 0) return HONE_OK;
    return HONE_ERROR(HONE_CODE_EXTERNAL, "external function '%s' returned %d", name, (int)code);
}
