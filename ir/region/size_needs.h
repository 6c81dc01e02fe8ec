/* ir/region/size_needs.h - what a program of open sizes demands of them, so that it stays inside of
 * its buffers.
 *
 * An access B[i] with i < n demands that n - 1 be at most the last index of B. Demands that hold
 * for all sizes are not reported. An access is judged only where both ends of its index are surely
 * reached: a program is never refused for what it does not do. What stands under a condition, or
 * accesses a view, is left out.
 */
#ifndef HONE_IR_REGION_SIZE_NEEDS_H
#define HONE_IR_REGION_SIZE_NEEDS_H

#include "ir/arith/arith.h"

typedef struct hone_size_need {
    const char *buffer;
    uint32_t dim;
    bool is_low;            /* index is the least one and must be at least limit; else at most */
    const hone_expr *index; /* in sizes and scalars of the program, as limit */
    const hone_expr *limit;
} hone_size_need;

/* Calls report for each demand of the function; the expressions are made in arith's arena, and
 * sizes are bound in it. Fails with NO_MEMORY, and with what report returns. */
HONE_NODISCARD hone_status hone_func_size_needs(const hone_func *func, hone_arith *arith,
                                                hone_status (*report)(void *ctx,
                                                                      const hone_size_need *need),
                                                void *ctx);
/* A statement may be left out because one before it leaves: a break, a continue, or a return that
 * is not the last statement of all. */
bool hone_func_has_jumps(const hone_func *func);

#endif
