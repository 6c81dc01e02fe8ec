/* support/core/arena.h - memory that is freed together.
 *
 * Allocation is a bump of a pointer; nothing is freed alone. Blocks are kept by reset and rewind,
 * so a search thread that resets its arena per replay allocates from the system only while it
 * warms up. Every pointer is 16-byte aligned. NULL means out of memory. In ASan builds memory that
 * is not handed out (or was rewound) is poisoned, with a red zone after each allocation.
 *
 * Lifetime: create/destroy by one owner. Threads: one thread allocates at a time; what was
 * allocated may be read by all once it no longer changes.
 */
#ifndef HONE_SUPPORT_CORE_ARENA_H
#define HONE_SUPPORT_CORE_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "support/core/attributes.h"

#if defined(__SANITIZE_ADDRESS__)
#define HONE_ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HONE_ARENA_ASAN 1
#endif
#endif
#ifdef HONE_ARENA_ASAN
void __asan_unpoison_memory_region(void const volatile *start, size_t bytes);
#define HONE_ARENA_RED_ZONE 16
#else
#define HONE_ARENA_RED_ZONE 0
#endif

typedef struct hone_arena_block hone_arena_block;

/* The members are for the inline path below; nobody else touches them. */
typedef struct hone_arena {
    char *next, *limit; /* what is left of the current block */
    hone_arena_block *first, *current;
    size_t block_bytes;
} hone_arena;

/* A place to go back to; valid until the arena is rewound before it, reset or destroyed. */
typedef struct hone_arena_mark {
    hone_arena_block *block;
    char *next;
} hone_arena_mark;

/* Returns an arena owned by the caller, or NULL. `block_bytes` is the size of what it asks from
 * the system at a time (at least 1024 are taken); larger allocations get a block of their own. */
HONE_NODISCARD hone_arena *hone_arena_create(size_t block_bytes);
void hone_arena_destroy(hone_arena *arena); /* NULL is allowed */

/* Slow path of hone_arena_alloc: goes to the next block or makes one. */
void *hone_arena_alloc_slow(hone_arena *arena, size_t bytes);

static inline void *hone_arena_alloc(hone_arena *arena, size_t bytes) {
    size_t rounded = ((bytes + 15) & ~(size_t)15) + HONE_ARENA_RED_ZONE;
    if (HONE_UNLIKELY(rounded > (size_t)(arena->limit - arena->next) || bytes > SIZE_MAX / 2)) {
        return hone_arena_alloc_slow(arena, bytes);
    }
    char *memory = arena->next;
    arena->next += rounded;
#ifdef HONE_ARENA_ASAN
    __asan_unpoison_memory_region(memory, bytes);
#endif
    return memory;
}

void *hone_arena_zalloc(hone_arena *arena, size_t bytes); /* filled with zeros */
void *hone_arena_copy(hone_arena *arena, const void *from, size_t bytes);
char *hone_arena_strdup(hone_arena *arena, const char *text);
char *hone_arena_strndup(hone_arena *arena, const char *text, size_t count);
char *hone_arena_printf(hone_arena *arena, const char *format, ...) HONE_PRINTF(2, 3);

/* Forgets everything, keeps the blocks. Constant time (ASan builds: O(blocks)). */
void hone_arena_reset(hone_arena *arena);

/* Forgets what was allocated since the mark, keeps the blocks. */
hone_arena_mark hone_arena_get_mark(const hone_arena *arena);
void hone_arena_rewind(hone_arena *arena, hone_arena_mark mark);

/* Bytes handed out (rounded), and bytes held from the system. O(blocks). */
size_t hone_arena_used(const hone_arena *arena);
size_t hone_arena_reserved(const hone_arena *arena);

#endif
