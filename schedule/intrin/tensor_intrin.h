/* schedule/intrin/tensor_intrin.h - tensor intrinsics: what a block computes, and another way to do
 * it.
 *
 * An intrinsic is two functions with the same buffers: desc says what is computed, in loops and one
 * block, and is what programs are compared with; impl takes its place. That impl computes what desc
 * says is the word of who gives it: where impl calls external code, nothing can check it.
 *
 * Built-in ones (tensor_intrin_builtin.c) carry TVM's names and are always there; a set adds a
 * user's. Lifetime: a set outlives the schedules that use it. Threads: a set that no longer grows
 * may be read by many.
 */
#ifndef HONE_SCHEDULE_INTRIN_TENSOR_INTRIN_H
#define HONE_SCHEDULE_INTRIN_TENSOR_INTRIN_H

#include "ir/core/module.h"

typedef struct hone_tensor_intrins hone_tensor_intrins;

/* An empty set; destroy it. */
HONE_NODISCARD hone_status hone_tensor_intrins_create(hone_tensor_intrins **out_set);
/* Frees the set and its intrinsics; NULL is allowed. */
void hone_tensor_intrins_destroy(hone_tensor_intrins *set);
/* Adds an intrinsic from program text with two functions desc and impl (or …_desc and …_impl). It
 * replaces one of the same name, a built-in one too. INVALID, TYPE: what is wrong with the text
 * (with place, as in ir/text/read/script.h) or with the two functions. */
HONE_NODISCARD hone_status hone_tensor_intrins_add(hone_tensor_intrins *set, const char *name,
                                                   const char *text, size_t length,
                                                   const char *source_name);

/* hone_tensor_intrins_add, where the two functions are called `desc` and `impl` in the text. */
HONE_NODISCARD hone_status hone_tensor_intrins_add_pair(hone_tensor_intrins *set, const char *name,
                                                        const char *text, size_t length,
                                                        const char *source_name, const char *desc,
                                                        const char *impl);

/* Takes what hone_tensor_intrin_find gives for a name in `from` (NULL: built-in ones), so that who
 * asks the set often has it without making it of its text; what the set has stays. NOT_FOUND. */
HONE_NODISCARD hone_status hone_tensor_intrins_keep(hone_tensor_intrins *set,
                                                    const hone_tensor_intrins *from,
                                                    const char *name);

/* The two functions of an intrinsic of the set (NULL: none), or of a built-in one. They live as
 * long as out_module, which the caller releases. NOT_FOUND. */
HONE_NODISCARD hone_status hone_tensor_intrin_find(const hone_tensor_intrins *set, const char *name,
                                                   hone_module **out_module,
                                                   const hone_func **out_desc,
                                                   const hone_func **out_impl);
/* Name i of the set, or NULL behind the last. */
const char *hone_tensor_intrins_name(const hone_tensor_intrins *set, size_t index);
/* Name i of the built-in ones, or NULL behind the last. */
const char *hone_tensor_intrin_builtin(size_t index);

#endif
