/* hone/extern.h - external functions: what R.call_dps_packed, T.call_packed and
 * hone_formula_extern call, which stands in C elsewhere.
 *
 * A function has one of two forms, and returns 0, or another number, with which the call fails
 * (error "external", or HONE_MODEL_EXTERN_FAILED of a compiled model; the message has both):
 *
 *     int32_t NAME(void *const *args, const int64_t *const *shapes, const int32_t *ranks,
 *                  int32_t count);                                    HONE_EXTERN_PLAIN
 *     int32_t NAME__dlpack(DLTensor *const *args, int32_t count);       HONE_EXTERN_DLPACK
 *
 * args are its tensors, inputs first, then what it writes; they are dense and row-major, on the
 * CPU, and live during the call; numbers are tensors of rank 0. NAME is that of the program, with
 * '_' for '.': env.relu is env_relu. It is found by that name in the library of --extern, or in the
 * process that loads a compiled model (-rdynamic, dlopen with RTLD_GLOBAL); or it is registered
 * here, which goes before. T.call_extern is another kind of call: of a C function of the types that
 * the call has, which NAME__dlpack never stands for.
 */
#ifndef HONE_EXTERN_H
#define HONE_EXTERN_H

#include <hone/error.h>
#include <hone/model_abi.h>

HONE_BEGIN_DECLS

typedef int32_t (*hone_extern_plain)(void *const *args, const int64_t *const *shapes,
                                     const int32_t *ranks, int32_t count);
typedef int32_t (*hone_extern_dlpack)(DLTensor *const *args, int32_t count);
typedef void (*hone_extern_function)(void); /* either, cast */

typedef enum hone_extern_form { HONE_EXTERN_PLAIN, HONE_EXTERN_DLPACK } hone_extern_form;

/* Registers a function for this process, under the name that programs call; function NULL ends
 * that. One of the name takes the place of another. From any thread; calls that are going on are
 * not waited for. Compiled models find it when libhone is linked, or loaded with RTLD_GLOBAL.
 * Errors: invalid (the name, the form), unavailable (64 functions of tensors are known already). */
HONE_API hone_error *hone_extern_register(const char *name, hone_extern_function function,
                                          hone_extern_form form);

/* The function that was registered in the plain form under a name, or, of NAME__dlpack, the plain
 * form of the one that was registered as NAME in the other form; NULL: there is none. For compiled
 * models, which ask for it. */
HONE_API void *hone_extern_find(const char *name);

HONE_END_DECLS

#endif
