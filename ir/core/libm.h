/* ir/core/libm.h - functions of the C library that programs call by name, as
 * T.call_pure_extern("float32", "tanhf", x): numbers in, one number out, with C's own types (a name
 * that ends in f takes and gives float32, the others float64; what is passed is converted). */
#ifndef HONE_IR_CORE_LIBM_H
#define HONE_IR_CORE_LIBM_H

#include "ir/core/expr.h"

enum { HONE_LIBM_MAX_ARGS = 3 };

typedef struct hone_libm {
    const char *name;
    uint32_t count;  /* of arguments */
    bool is_float32; /* else float64: what it takes and gives */
    union {
        float (*f1)(float);
        float (*f2)(float, float);
        float (*f3)(float, float, float);
        double (*d1)(double);
        double (*d2)(double, double);
        double (*d3)(double, double, double);
    } call;
} hone_libm;

/* The function of that name, or NULL. */
const hone_libm *hone_libm_named(const char *name);

/* All of them, by number from 0; NULL after the last. */
const hone_libm *hone_libm_at(size_t index);

/* What e calls, or NULL: call_extern and call_pure_extern with a name and as many numbers as the
 * function of that name takes, for a float. */
const hone_libm *hone_libm_of_call(const hone_expr *e);

/* The value for libm->count arguments. */
double hone_libm_value(const hone_libm *libm, const double *args);

#endif
