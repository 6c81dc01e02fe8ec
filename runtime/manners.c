/* runtime/manners.c - see manners.h. */
#include "runtime/manners.h"

#include <stdint.h>

#ifdef __x86_64__
#define RAISED UINT32_C(0x3f)         /* of MXCSR: exceptions that there were */
#define BACKWARDS (UINT64_C(1) << 10) /* strings are copied from their end; calls find it clear */
#define ALIGNED (UINT64_C(1) << 18)   /* unaligned accesses trap */

static bool clear_flags(void) {
    uint64_t flags = __builtin_ia32_readeflags_u64();
    if (!(flags & (BACKWARDS | ALIGNED))) return false;
    __builtin_ia32_writeeflags_u64(flags & ~(BACKWARDS | ALIGNED));
    return true;
}

static uint64_t control_of(const fenv_t *floats) {
    return (uint64_t)floats->__control_word << 32 | (floats->__mxcsr & ~RAISED);
}
#else
static bool clear_flags(void) {
    return false;
}

static uint64_t control_of(const fenv_t *floats) {
#ifdef __aarch64__
    return floats->__fpcr;
#else
    (void)floats;
    return (uint64_t)fegetround();
#endif
}
#endif

void hone_manners_note(hone_manners *out_now) {
    (void)fegetenv(&out_now->floats);
}

bool hone_manners_restore(const hone_manners *wanted) {
    bool had_flags = clear_flags(); /* first: what follows may copy */
    hone_manners now;
    hone_manners_note(&now);
    if (control_of(&now.floats) == control_of(&wanted->floats)) return !had_flags;
    (void)fesetenv(&wanted->floats);
    return false;
}
