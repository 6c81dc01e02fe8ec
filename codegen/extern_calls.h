/* codegen/extern_calls.h - what the generators must agree on about external calls. */
#ifndef HONE_CODEGEN_EXTERN_CALLS_H
#define HONE_CODEGEN_EXTERN_CALLS_H

#include "ir/expr.h"

/* A function of libm by its name, called directly: float in, float out. */
bool codegen_is_libm_call(const hone_expr *e);
/* The call has one more argument, where the function puts its value. */
bool codegen_gives_value(const hone_expr *e);

#endif
