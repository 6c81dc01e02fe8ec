/* codegen/facts.h - what the generators must agree on: external calls, index arithmetic, storage.
 */
#ifndef HONE_CODEGEN_FACTS_H
#define HONE_CODEGEN_FACTS_H

#include "ir/core/func.h"
#include "ir/core/libm.h"
#include "support/core/strbuf.h"

/* ---- external calls ---- */

/* call_extern and call_pure_extern follow the rules of C: pointers and numbers in, one number or
 * nothing out. Others follow hone_extern (abi.h). */
bool codegen_is_c_call(const hone_expr *e);
/* May a value of this type be handed over by the rules of C? bool and narrow integers go as int. */
bool codegen_is_c_type(hone_dtype dtype);
/* Appends C source that a program brings along; extern "C", as C++ wants it, is left out. */
void codegen_append_c_source(const char *text, hone_str *out);
/* The call has one more argument, where the function puts its value. */
bool codegen_gives_value(const hone_expr *e);

/* ---- values and storage ---- */

/* Comparisons of index arithmetic are made in 64 bits, like the indices themselves. */
bool codegen_is_index_compare(const hone_expr *e);
/* float16, bfloat16, float8 and shorter: computed as float. */
bool codegen_is_small_float(hone_dtype dtype);
/* Is the float that an operation on small floats gives still to be rounded to their type? Each is
 * rounded by itself, as docs/numerics.md says; choices need not be, nor whole numbers of 16 bits.
 */
bool codegen_is_unrounded(const hone_expr *e);
/* A constant as its type holds it. */
double codegen_float_constant(const hone_expr *e);
/* Does a cast to a small float need more digits than a float has on the way? */
bool codegen_narrows_twice(hone_dtype from, hone_dtype to);
/* The first buffer that a handle variable is the data of, or HONE_NO_ID. */
hone_buffer codegen_buffer_of_data(const hone_func *func, hone_var var);
/* hone_dtype_dlpack_word of an argument of an external call, or, behind the last, of its value: of
 * the elements of a buffer that is passed, or pointed into; that of a handle where it is not known.
 */
int32_t codegen_passed_type(const hone_func *func, const hone_expr *call, uint32_t index);
/* The size of a buffer of constant shape, else -1. */
int64_t codegen_constant_bytes(const hone_buffer_info *buffer);

/* ---- what a kernel cannot do ---- */

typedef enum codegen_fault {
    CODEGEN_FAULT_DIVISION, /* by 0 */
    CODEGEN_FAULT_INDEX,    /* out of range */
    CODEGEN_FAULT_COUNT,
} codegen_fault;

/* What the kernel returns then, and says. */
int32_t codegen_fault_code(codegen_fault fault);
const char *codegen_fault_text(codegen_fault fault);

#endif
