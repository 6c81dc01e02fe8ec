/* tests/support/intrin_program.h - programs in which tensor intrinsics find many places: made from
 * their descriptions, one behind the other, and tensorized.
 *
 *   INTRIN_STACK  buffers of 2 x 3 tiles, each tile whole:     A[o0, o1, vi, vk]
 *   INTRIN_TILES  every dimension is twice as long:            A[vi, vk], loops split and reordered
 */
#ifndef HONE_TESTS_SUPPORT_INTRIN_PROGRAM_H
#define HONE_TESTS_SUPPORT_INTRIN_PROGRAM_H

#include "schedule/state/schedule.h"
#include "support/core/strbuf.h"
#include "support/data/tensor.h"

typedef enum intrin_form { INTRIN_STACK, INTRIN_TILES, INTRIN_FORM_COUNT } intrin_form;

/* One intrinsic, and what its buffers are called in the program: steps share buffers by name. */
typedef struct intrin_step {
    const char *name;
    const char *buffers[3]; /* by parameter; NULL: the name that the description gives */
} intrin_step;

/* Can tiles of this description lie beside each other? Not where an index is computed. */
bool hone_test_intrin_has_tiles(const hone_func *desc);

/* The text of the program, with the function main. Buffers that no step fills come from arguments,
 * those of the last step go to arguments. */
HONE_NODISCARD hone_status hone_test_intrin_program(const intrin_step *steps, uint32_t count,
                                                    intrin_form form, hone_str *out);

/* That program with the intrinsics in all of their places. */
HONE_NODISCARD hone_status hone_test_intrin_schedule(const hone_func *program,
                                                     const intrin_step *steps, uint32_t count,
                                                     intrin_form form, hone_schedule **out_sch);

/* All bytes; floats are small whole numbers, whose sums are exact in any order. NULL: no memory;
 * free with hone_test_free_args. */
hone_tensor **hone_test_intrin_args(const hone_func *program, uint64_t seed);

#endif
