/* codegen/extern_calls.h - what the generators must agree on about external calls. */
#ifndef HONE_CODEGEN_EXTERN_CALLS_H
#define HONE_CODEGEN_EXTERN_CALLS_H

#include "ir/expr.h"
#include "support/strbuf.h"

/* A function of libm by its name, called directly: float in, float out. */
bool codegen_is_libm_call(const hone_expr *e);
/* call_extern and call_pure_extern follow the rules of C: pointers and numbers in, one number or
 * nothing out. Others follow hone_extern (abi.h). */
bool codegen_is_c_call(const hone_expr *e);
/* May a value of this type be handed over by the rules of C? bool and narrow integers go as int. */
bool codegen_is_c_type(hone_dtype dtype);
/* Appends C source that a program brings along; extern "C", as C++ wants it, is left out. */
void codegen_append_c_source(const char *text, hone_str *out);
/* The call has one more argument, where the function puts its value. */
bool codegen_gives_value(const hone_expr *e);

#endif
