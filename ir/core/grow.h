/* ir/core/grow.h - arrays that grow inside an arena; the old one is left to the arena. */
#ifndef HONE_IR_CORE_GROW_H
#define HONE_IR_CORE_GROW_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "support/core/arena.h"

/* Makes room for one more item behind count; false when memory is short (nothing changes). */
static inline bool hone_grow(hone_arena *arena, void **items, uint32_t *capacity, uint32_t count,
                             size_t item_bytes) {
    if (count < *capacity) return true;
    uint32_t wanted = *capacity ? *capacity * 2 : 16;
    void *bigger = hone_arena_alloc(arena, wanted * item_bytes);
    if (!bigger) return false;
    if (count) memcpy(bigger, *items, count * item_bytes);
    *items = bigger;
    *capacity = wanted;
    return true;
}

#endif
