/* support/core/alloc.c - see alloc.h. What state there is is a thread's. */
#include "support/core/alloc.h"

#include <stdlib.h>
#include <string.h>

static _Thread_local struct {
    uint64_t count; /* allocations seen */
    uint64_t nth;   /* the one to fail; 0 = none */
    bool sticky, armed, failed;
} injection;

static bool should_fail(void) {
    if (HONE_LIKELY(!injection.armed)) return false;
    injection.count++;
    bool fail = injection.nth && (injection.sticky ? injection.count >= injection.nth
                                                   : injection.count == injection.nth);
    injection.failed |= fail;
    return fail;
}

void hone_alloc_fail_nth(uint64_t nth, bool sticky) {
    injection.count = 0;
    injection.nth = nth;
    injection.sticky = sticky;
    injection.armed = nth != 0;
    injection.failed = false;
}

bool hone_alloc_has_failed(void) {
    return injection.failed;
}

static _Thread_local size_t refused_bytes;

size_t hone_alloc_refused_bytes(void) {
    return refused_bytes;
}

static void *checked(void *memory, size_t bytes) {
    if (HONE_UNLIKELY(!memory)) refused_bytes = bytes;
    return memory;
}

void *hone_malloc(size_t bytes) {
    return checked(should_fail() ? NULL : malloc(bytes ? bytes : 1), bytes);
}

void *hone_calloc(size_t count, size_t bytes) {
    size_t total = 0;
    if (__builtin_mul_overflow(count, bytes, &total)) total = SIZE_MAX;
    return checked(should_fail() ? NULL : calloc(count ? count : 1, bytes ? bytes : 1), total);
}

void *hone_realloc(void *memory, size_t bytes) {
    return checked(should_fail() ? NULL : realloc(memory, bytes ? bytes : 1), bytes);
}

void *hone_realloc_array(void *memory, size_t count, size_t bytes) {
    size_t total = 0;
    if (__builtin_mul_overflow(count, bytes, &total)) return checked(NULL, SIZE_MAX);
    return hone_realloc(memory, total);
}

void *hone_aligned_alloc(size_t alignment, size_t bytes) {
    if (should_fail()) return checked(NULL, bytes);
    size_t rounded = (bytes + alignment - 1) & ~(alignment - 1);
    if (rounded < bytes) return checked(NULL, bytes);
    return checked(aligned_alloc(alignment, rounded ? rounded : alignment), bytes);
}

char *hone_strdup(const char *text) {
    return hone_strndup(text, strlen(text));
}

char *hone_strndup(const char *text, size_t count) {
    size_t length = strnlen(text, count);
    char *copy = hone_malloc(length + 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

void hone_free(void *memory) {
    free(memory);
}
