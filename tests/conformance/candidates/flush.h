/* tests/conformance/candidates/flush.h - has subnormal numbers count as zero, in this thread. */
#ifndef HONE_TESTS_CONFORMANCE_CANDIDATES_FLUSH_H
#define HONE_TESTS_CONFORMANCE_CANDIDATES_FLUSH_H

#include <stdint.h>

static inline void flush(void) {
#ifdef __x86_64__
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#else
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    __asm__ volatile("msr fpcr, %0" : : "r"(control | UINT64_C(1) << 24));
#endif
}

#endif
