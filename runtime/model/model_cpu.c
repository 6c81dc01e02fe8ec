/* runtime/model/model_cpu.c - a model says that this CPU cannot run it, before SIGILL does. */
#include <stdio.h>
#include <string.h>

#include "runtime/model/model_table.h"

#if defined(__x86_64__)

#include <cpuid.h>

enum cpu_register { EAX, EBX, ECX, EDX };

static const struct feature {
    const char *name;
    uint32_t leaf, sub_leaf, reg, bit, system;
} features[] = {
#define HONE_MT_FEATURE(id, name, leaf, sub_leaf, reg, bit, system)                                \
    {name, leaf, sub_leaf, reg, bit, system},
#include "runtime/model/cpu_features.def"
#undef HONE_MT_FEATURE
};

/* What the operating system saves and restores: 0 when it cannot be asked. */
static uint32_t enabled_state(void) {
    uint32_t r[4] = {0}, low = 0, high = 0;
    if (!__get_cpuid(1, &r[0], &r[1], &r[2], &r[3]) || !(r[2] & (1u << 27))) return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static int is_present(const struct feature *f) {
    uint32_t r[4] = {0};
    if (!__get_cpuid_count(f->leaf, f->sub_leaf, &r[0], &r[1], &r[2], &r[3])) return 0;
    return ((r[f->reg] >> f->bit) & 1) && (enabled_state() & f->system) == f->system;
}

#elif defined(__aarch64__)

#include <sys/auxv.h>

static const struct feature {
    const char *name;
    int word, bit;
} features[] = {
#define HONE_MT_ARM_FEATURE(id, name, word, bit) {name, word, bit},
#include "runtime/model/cpu_features.def"
#undef HONE_MT_ARM_FEATURE
};

static int is_present(const struct feature *f) {
    return (int)((getauxval(f->word == 1 ? AT_HWCAP : AT_HWCAP2) >> f->bit) & 1);
}

#else

static const struct feature { const char *name; } features[] = {{""}};

static int is_present(const struct feature *f) {
    (void)f;
    return 1; /* nobody knows */
}

#endif

static int has_feature(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
        const struct feature *f = &features[i];
        if (strlen(f->name) == length && memcmp(f->name, name, length) == 0) return is_present(f);
    }
    return 1; /* a name that this table does not have is no reason to refuse */
}

int32_t hone_mt_check_cpu(const char *names) {
    char missing[256] = "";
    size_t used = 0;
    while (*names) {
        size_t length = strcspn(names, ",");
        if (!has_feature(names, length) && used + length + 3 < sizeof missing) {
            used += (size_t)snprintf(missing + used, sizeof missing - used, "%s%.*s",
                                     used ? ", " : "", (int)length, names);
        }
        names += length + (names[length] == ',');
    }
    if (!used) return HONE_MODEL_OK;
    return hone_mt_fail(HONE_MODEL_BAD_CPU,
                        "this CPU lacks %s, which the model was compiled for; compile it for this "
                        "machine",
                        missing);
}
