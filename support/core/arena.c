/* support/core/arena.c - see arena.h.
 *
 * Blocks form a list in the order in which they are used. After a reset or rewind the blocks behind
 * the current one are empty and are used again; a block too small for a request gets a new one put
 * before it. A block that is left keeps where its use ended, for hone_arena_used.
 */
#include "support/core/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#ifdef HONE_ARENA_ASAN
#include <sanitizer/asan_interface.h>
#endif

#include "support/core/alloc.h"
#include "support/core/number.h"

enum { MIN_BLOCK_BYTES = 1024 };

struct hone_arena_block {
    hone_arena_block *next_block;
    char *limit;
    char *end; /* of what was used when the block was left */
    char *unused_padding;
    char data[]; /* 16-byte aligned: four pointers precede it */
};

#ifdef HONE_ARENA_ASAN
static void poison(char *from, char *to) {
    __asan_poison_memory_region(from, (size_t)(to - from));
}
static void unpoison(char *from, char *to) {
    __asan_unpoison_memory_region(from, (size_t)(to - from));
}
#else
static void poison(char *from, char *to) {
    (void)from, (void)to;
}
static void unpoison(char *from, char *to) {
    (void)from, (void)to;
}
#endif

static hone_arena_block *block_make(size_t data_bytes) {
    _Static_assert(offsetof(hone_arena_block, data) % 16 == 0, "data must be aligned");
    hone_arena_block *block = hone_malloc(sizeof *block + data_bytes);
    if (!block) return NULL;
    block->next_block = NULL;
    block->limit = block->data + data_bytes;
    block->end = block->data;
    poison(block->data, block->limit);
    return block;
}

static void enter(hone_arena *arena, hone_arena_block *block, char *next) {
    arena->current = block;
    arena->next = next;
    arena->limit = block->limit;
}

hone_arena *hone_arena_create(size_t block_bytes) {
    hone_arena *arena = hone_calloc(1, sizeof *arena);
    if (!arena) return NULL;
    block_bytes = block_bytes < MIN_BLOCK_BYTES ? MIN_BLOCK_BYTES : block_bytes;
    arena->block_bytes = (block_bytes + 15) & ~(size_t)15;
    arena->first = block_make(arena->block_bytes);
    if (!arena->first) {
        hone_free(arena);
        return NULL;
    }
    enter(arena, arena->first, arena->first->data);
    return arena;
}

void hone_arena_destroy(hone_arena *arena) {
    if (!arena) return;
    for (hone_arena_block *block = arena->first; block;) {
        hone_arena_block *next = block->next_block;
        unpoison(block->data, block->limit);
        hone_free(block);
        block = next;
    }
    hone_free(arena);
}

void *hone_arena_alloc_slow(hone_arena *arena, size_t bytes) {
    if (bytes > SIZE_MAX / 2) return NULL;
    size_t rounded = ((bytes + 15) & ~(size_t)15) + HONE_ARENA_RED_ZONE;
    hone_arena_block *block = arena->current->next_block;
    if (!block || (size_t)(block->limit - block->data) < rounded) {
        block = block_make(rounded > arena->block_bytes ? rounded : arena->block_bytes);
        if (!block) return NULL;
        block->next_block = arena->current->next_block;
        arena->current->next_block = block;
    }
    arena->current->end = arena->next;
    enter(arena, block, block->data);
    return hone_arena_alloc(arena, bytes);
}

void *hone_arena_zalloc(hone_arena *arena, size_t bytes) {
    void *memory = hone_arena_alloc(arena, bytes);
    return memory ? memset(memory, 0, bytes) : NULL;
}

void *hone_arena_copy(hone_arena *arena, const void *from, size_t bytes) {
    void *memory = hone_arena_alloc(arena, bytes);
    if (memory && bytes) memcpy(memory, from, bytes);
    return memory;
}

char *hone_arena_strdup(hone_arena *arena, const char *text) {
    return hone_arena_copy(arena, text, strlen(text) + 1);
}

char *hone_arena_strndup(hone_arena *arena, const char *text, size_t count) {
    size_t length = strnlen(text, count);
    char *copy = hone_arena_alloc(arena, length + 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *hone_arena_printf(hone_arena *arena, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = hone_vsnprintf(NULL, 0, format, args);
    char *text = length < 0 ? NULL : hone_arena_alloc(arena, (size_t)length + 1);
    if (text) hone_vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}

void hone_arena_reset(hone_arena *arena) {
    hone_arena_rewind(arena, (hone_arena_mark){arena->first, arena->first->data});
}

hone_arena_mark hone_arena_get_mark(const hone_arena *arena) {
    return (hone_arena_mark){arena->current, arena->next};
}

void hone_arena_rewind(hone_arena *arena, hone_arena_mark mark) {
    assert(mark.next >= mark.block->data && mark.next <= mark.block->limit);
#ifdef HONE_ARENA_ASAN
    for (hone_arena_block *block = mark.block; block; block = block->next_block) {
        poison(block == mark.block ? mark.next : block->data, block->limit);
    }
#endif
    enter(arena, mark.block, mark.next);
}

size_t hone_arena_used(const hone_arena *arena) {
    size_t bytes = (size_t)(arena->next - arena->current->data);
    for (const hone_arena_block *b = arena->first; b != arena->current; b = b->next_block) {
        bytes += (size_t)(b->end - b->data);
    }
    return bytes;
}

size_t hone_arena_reserved(const hone_arena *arena) {
    size_t bytes = 0;
    for (const hone_arena_block *b = arena->first; b; b = b->next_block) {
        bytes += (size_t)(b->limit - b->data);
    }
    return bytes;
}
