/* ir/core/libm.c - functions of the C library by name. */
#include "ir/core/libm.h"

#include <math.h>
#include <string.h>

#define ROW(name, count, is_float32, member)                                                       \
    {                                                                                              \
#name, count, is_float32, {                                                                \
            .member = name                                                                         \
        }                                                                                          \
    }
#define OF_1(name) ROW(name, 1, false, d1), ROW(name##f, 1, true, f1)
#define OF_2(name) ROW(name, 2, false, d2), ROW(name##f, 2, true, f2)
#define OF_3(name) ROW(name, 3, false, d3), ROW(name##f, 3, true, f3)

const hone_libm *hone_libm_at(size_t index) {
    static const hone_libm functions[] = {
        OF_1(acos),   OF_1(acosh),     OF_1(asin),  OF_1(asinh),    OF_1(atan),  OF_2(atan2),
        OF_1(atanh),  OF_1(cbrt),      OF_1(ceil),  OF_2(copysign), OF_1(cos),   OF_1(cosh),
        OF_1(erf),    OF_1(erfc),      OF_1(exp),   OF_1(exp2),     OF_1(expm1), OF_1(fabs),
        OF_1(floor),  OF_3(fma),       OF_2(fmax),  OF_2(fmin),     OF_2(fmod),  OF_2(hypot),
        OF_1(lgamma), OF_1(log),       OF_1(log10), OF_1(log1p),    OF_1(log2),  OF_1(nearbyint),
        OF_2(pow),    OF_2(remainder), OF_1(rint),  OF_1(round),    OF_1(sin),   OF_1(sinh),
        OF_1(sqrt),   OF_1(tan),       OF_1(tanh),  OF_1(tgamma),   OF_1(trunc),
    };
    return index < HONE_COUNT(functions) ? &functions[index] : NULL;
}

const hone_libm *hone_libm_named(const char *name) {
    const hone_libm *libm = NULL;
    for (size_t i = 0; (libm = hone_libm_at(i)) && strcmp(libm->name, name) != 0;)
        i++;
    return libm;
}

const hone_libm *hone_libm_of_call(const hone_expr *e) {
    bool is_call = hone_expr_is_call(e, HONE_INTRIN_CALL_EXTERN) ||
                   hone_expr_is_call(e, HONE_INTRIN_CALL_PURE_EXTERN);
    if (!is_call || !hone_dtype_is_float(e->dtype) || e->dtype.lanes != 1 || e->count < 2 ||
        e->args[0]->kind != HONE_EXPR_STRING)
        return NULL;
    const hone_libm *libm = hone_libm_named(e->args[0]->u.s);
    if (!libm || e->count - 1u != libm->count) return NULL;
    for (uint32_t i = 1; i < e->count; i++) {
        hone_dtype dtype = e->args[i]->dtype;
        if (hone_dtype_is_handle(dtype) || hone_dtype_is_void(dtype) || dtype.lanes != 1)
            return NULL;
    }
    return libm;
}

double hone_libm_value(const hone_libm *libm, const double *args) {
    if (!libm->is_float32) {
        if (libm->count == 1) return libm->call.d1(args[0]);
        if (libm->count == 2) return libm->call.d2(args[0], args[1]);
        return libm->call.d3(args[0], args[1], args[2]);
    }
    float a = (float)args[0];
    if (libm->count == 1) return (double)libm->call.f1(a);
    float b = (float)args[1];
    if (libm->count == 2) return (double)libm->call.f2(a, b);
    return (double)libm->call.f3(a, b, (float)args[2]);
}
