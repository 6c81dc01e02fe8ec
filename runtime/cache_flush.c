/* runtime/cache_flush.c - clflush on x86, dc civac on AArch64. Flushing just the operands is both
 * exact and cheap; writing a buffer as large as the last cache costs milliseconds per sample. */
#include "runtime/cache_flush.h"

#include <stdint.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define LINE_BYTES 64

#if defined(__x86_64__)
static void flush_line(const void *line) {
    _mm_clflush(line);
}
static void flush_end(void) {
    _mm_mfence();
}
#elif defined(__aarch64__)
static void flush_line(const void *line) {
    __asm__ volatile("dc civac, %0" ::"r"(line) : "memory");
}
static void flush_end(void) {
    __asm__ volatile("dsb ish" ::: "memory");
}
#else
static void flush_line(const void *line) {
    (void)line;
}
static void flush_end(void) {}
#endif

void hone_cache_flush(const void *data, size_t bytes) {
    const char *line = data, *end = line + bytes;
    line -= (uintptr_t)line % LINE_BYTES;
    for (; line < end; line += LINE_BYTES)
        flush_line(line);
    flush_end();
}
