/* ir/region/dependence.h - two iterations of a loop that touch one element: no, with a witness, to
 * "carries no dependence" (relation.h).
 *
 * Iterations of the loop, the first 130 and some of the others, are run over numbers, the loops
 * outside standing at their begin, of those inside the ends; every element that is surely touched
 * is noted with the iteration that touched it first. What cannot be evaluated is left out: what is
 * found is there, but not all is found.
 *
 *     for i: B[i + 1] = B[i]      B[1]: written where i = 0, read where i = 1
 *
 * Iterations that wait for each other, as the threads of a block do, meet only between two waits.
 *
 * Memory: the arena that is given. Thread-compatible.
 */
#ifndef HONE_IR_REGION_DEPENDENCE_H
#define HONE_IR_REGION_DEPENDENCE_H

#include "ir/region/points.h"
#include "support/core/arena.h"
#include "support/core/status.h"

typedef struct hone_touch {
    hone_node_id at; /* the store, or the one whose value or indices load */
    bool is_write;
    int64_t iteration; /* the loop's variable */
    uint32_t step;     /* within the iteration, from 1 on; 0: nobody */
    uint64_t instance; /* of the innermost block with axes, by their values; 0: there is none */
} hone_touch;

typedef struct hone_dependence {
    hone_buffer buffer;
    int64_t element;                 /* its number, row by row; hone_show_element */
    const hone_touch *first, *later; /* of different iterations; one of them is a write */
} hone_dependence;

typedef struct hone_dependence_search {
    hone_points *points; /* with the conditions around the loop */
    hone_arena *arena;
    hone_node_id loop;
    /* Is the buffer one for all iterations? Others are not looked at. */
    bool (*is_shared)(void *ctx, hone_buffer buffer);
    /* Looks at a dependence; true: it is the one that is wanted, the search ends. */
    bool (*wants)(void *ctx, const hone_dependence *found);
    void *ctx;
    bool waits; /* at every statement that is a call, and at every block with axes */
} hone_dependence_search;

/* Shows dependences in the order in which a run of the loop has them, until one is wanted.
 * NO_MEMORY. The points are afterwards as they were, but for what stands inside of the loop. */
HONE_NODISCARD hone_status hone_find_dependence(const hone_dependence_search *search);
/* Appends "B[3, 0]". */
void hone_show_element(const hone_func *func, hone_buffer buffer, int64_t number, hone_str *out);

#endif
