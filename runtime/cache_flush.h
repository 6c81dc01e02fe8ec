/* runtime/cache_flush.h - pushes memory out of all caches, line by line. */
#ifndef HONE_RUNTIME_CACHE_FLUSH_H
#define HONE_RUNTIME_CACHE_FLUSH_H

#include <stddef.h>

/* Flushes the lines of a range; done when it returns. Does nothing where there is no instruction
 * for it. */
void hone_cache_flush(const void *data, size_t bytes);

#endif
