/* runner/heap_fence.c - canaries on the heap. */
#include "runner/heap_fence.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN 0xC7
#define DRAIN                                                                                      \
    7 /* blocks of a size that glibc keeps in its per-thread cache, and would hand out             \
       */

static const size_t sizes[HONE_HEAP_FENCE_CLASSES] = {24, 40, 56, 88, 120, 248, 504, 1016};

static unsigned char *make_canary(size_t bytes) {
    unsigned char *canary = malloc(bytes); /* allow malloc: the heap itself is tested */
    if (canary) memset(canary, PATTERN, bytes);
    return canary;
}

/* The first canaries only drain the cache; from there on blocks lie side by side, mostly. */
void hone_heap_fence_begin(hone_heap_fence *fence) {
    for (int c = 0; c < HONE_HEAP_FENCE_CLASSES; c++) {
        void *holes[HONE_HEAP_FENCE_CANARIES] = {NULL};
        for (int i = 0; i < HONE_HEAP_FENCE_CANARIES; i++) {
            fence->canaries[c][i] = make_canary(sizes[c]);
            if (i >= DRAIN)
                holes[i] = malloc(sizes[c]); /* allow malloc: the heap itself is tested */
        }
        for (int i = 0; i < HONE_HEAP_FENCE_CANARIES; i++)
            free(holes[i]);
    }
}

bool hone_heap_fence_holds(const hone_heap_fence *fence, size_t *out_bytes) {
    for (int c = 0; c < HONE_HEAP_FENCE_CLASSES; c++) {
        for (int i = 0; i < HONE_HEAP_FENCE_CANARIES; i++) {
            const unsigned char *canary = fence->canaries[c][i];
            for (size_t k = 0; canary && k < sizes[c]; k++) {
                if (canary[k] == PATTERN) continue;
                *out_bytes = sizes[c];
                return false;
            }
        }
    }
    *out_bytes = 0;
    return true;
}

void hone_heap_fence_end(hone_heap_fence *fence) {
    static const size_t probes[] = {24, 120, 1000, 5000, 40000, 200000};
    void *blocks[sizeof probes / sizeof *probes];
    for (int c = 0; c < HONE_HEAP_FENCE_CLASSES; c++) {
        for (int i = 0; i < HONE_HEAP_FENCE_CANARIES; i++)
            free(fence->canaries[c][i]);
    }
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
        blocks[i] = malloc(probes[i]); /* allow malloc: the heap itself is tested */
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
        free(blocks[i]);
    malloc_trim(0);
    memset(fence, 0, sizeof *fence);
}
