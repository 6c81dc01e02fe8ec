/* runner/heap_fence.h - blocks of known content between those that a candidate will get.
 *
 *     [canary][hole][canary][hole][canary] …      for each small size
 *
 * The holes are freed before the candidate runs, so its own small blocks land in them, and what it
 * writes beyond them lands in a canary: found at once, while that candidate is to blame. Large
 * blocks are guarded by malloc's own checks. Lifetime: begin, look any number of times, end.
 */
#ifndef HONE_RUNNER_HEAP_FENCE_H
#define HONE_RUNNER_HEAP_FENCE_H

#include <stdbool.h>
#include <stddef.h>

#define HONE_HEAP_FENCE_CLASSES 8
#define HONE_HEAP_FENCE_CANARIES 12 /* per class */

typedef struct hone_heap_fence {
    unsigned char *canaries[HONE_HEAP_FENCE_CLASSES][HONE_HEAP_FENCE_CANARIES];
} hone_heap_fence;

void hone_heap_fence_begin(hone_heap_fence *fence);
/* True as long as no canary was written to; else *out_bytes is the size of a damaged one. */
bool hone_heap_fence_holds(const hone_heap_fence *fence, size_t *out_bytes);
/* Frees the canaries and makes malloc look at itself: a damaged heap aborts the process here. */
void hone_heap_fence_end(hone_heap_fence *fence);

#endif
