/* support/core/alloc.h - the allocator of the project, with fault injection for tests.
 *
 * hone_malloc and friends behave as those of the C library, and memory may be mixed: hone_free is
 * free. In tests the n-th call can be made to fail, once or from there on, so that every path out
 * of memory is walked. Injection is per thread and off by default; it costs one thread-local read.
 */
#ifndef HONE_SUPPORT_CORE_ALLOC_H
#define HONE_SUPPORT_CORE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/core/attributes.h"

HONE_NODISCARD void *hone_malloc(size_t bytes);
HONE_NODISCARD void *hone_calloc(size_t count, size_t bytes);
HONE_NODISCARD void *hone_realloc(void *memory, size_t bytes);
/* As hone_realloc for an array; NULL on overflow of count * bytes. */
HONE_NODISCARD void *hone_realloc_array(void *memory, size_t count, size_t bytes);
/* `alignment` is a power of two; free with hone_free. */
HONE_NODISCARD void *hone_aligned_alloc(size_t alignment, size_t bytes);
HONE_NODISCARD char *hone_strdup(const char *text);
HONE_NODISCARD char *hone_strndup(const char *text, size_t count);
void hone_free(void *memory);

/* How many bytes the last allocation of this thread that came to nothing had asked for; 0: none
 * did.
 */
size_t hone_alloc_refused_bytes(void);

/* Makes this thread's `nth` allocation from now (1 = the next) fail; `sticky`: and all after it.
 * 0 turns injection off. For tests. */
void hone_alloc_fail_nth(uint64_t nth, bool sticky);

/* Whether an allocation of this thread was made to fail since hone_alloc_fail_nth was last called.
 * A sweep raises `nth` until nothing fails any more. */
bool hone_alloc_has_failed(void);

#endif
