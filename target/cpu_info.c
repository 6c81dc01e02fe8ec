/* target/cpu_info.c - features by number, CPUs by number, and what this CPU has.
 *
 * Thread-safe: constant tables only. */
#include "target/cpu_info.h"

#include <string.h>

#include "support/core/attributes.h"

static const char *const feature_names[] = {
#define HONE_MT_FEATURE(id, name, leaf, sub_leaf, reg, bit, system) name,
#define HONE_MT_ARM_FEATURE(id, name, word, bit) name,
#include "runtime/model/cpu_features.def"
#undef HONE_MT_FEATURE
#undef HONE_MT_ARM_FEATURE
};
_Static_assert(CPU_FEATURE_COUNT <= 64, "features are bits of a word");

static const struct cpu_row {
    const char *name;
    cpu_vendor vendor;
    int family, model_from, model_to;
} cpus[] = {
#define HONE_CPU(name, vendor, family, from, to) {name, CPU_VENDOR_##vendor, family, from, to},
#include "target/cpu_table.def"
#undef HONE_CPU
};

static const struct part_row {
    const char *name;
    long implementer, part;
} parts[] = {
#define HONE_ARM_PART(name, implementer, part) {name, implementer, part},
#include "target/cpu_table.def"
#undef HONE_ARM_PART
};

const char *cpu_feature_name(cpu_feature feature) {
    return feature_names[feature];
}

cpu_feature cpu_feature_find(const char *name, size_t length) {
    for (size_t i = 0; i < CPU_FEATURE_COUNT; i++) {
        if (strlen(feature_names[i]) == length && memcmp(feature_names[i], name, length) == 0) {
            return (cpu_feature)i;
        }
    }
    return CPU_FEATURE_COUNT;
}

const char *cpu_name_of_model(cpu_vendor vendor, int family, int model) {
    for (size_t i = 0; i < HONE_COUNT(cpus); i++) {
        if (cpus[i].vendor == vendor && cpus[i].family == family && model >= cpus[i].model_from &&
            model <= cpus[i].model_to) {
            return cpus[i].name;
        }
    }
    return NULL;
}

const char *cpu_name_of_part(long implementer, long part) {
    for (size_t i = 0; i < HONE_COUNT(parts); i++) {
        if (parts[i].implementer == implementer && parts[i].part == part) return parts[i].name;
    }
    return NULL;
}

#if defined(__x86_64__)

#include <cpuid.h>

enum cpu_register { EAX, EBX, ECX, EDX };

static const struct feature_place {
    uint32_t leaf, sub_leaf, reg, bit, system;
    cpu_feature feature;
} places[] = {
#define HONE_MT_FEATURE(id, name, leaf, sub_leaf, reg, bit, system)                                \
    {leaf, sub_leaf, reg, bit, system, CPU_##id},
#include "runtime/model/cpu_features.def"
#undef HONE_MT_FEATURE
};

/* The registers that the system saves: without that the features are no use. */
static uint32_t saved_state(void) {
    uint32_t a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !((c >> 27) & 1)) return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

uint64_t cpu_features_here(void) {
    uint64_t set = 0;
    uint32_t saved = saved_state();
    for (size_t i = 0; i < HONE_COUNT(places); i++) {
        uint32_t r[4] = {0};
        if (!__get_cpuid_count(places[i].leaf, places[i].sub_leaf, &r[EAX], &r[EBX], &r[ECX],
                               &r[EDX])) {
            continue;
        }
        bool is_present = (r[places[i].reg] >> places[i].bit) & 1;
        bool is_saved = (saved & places[i].system) == places[i].system;
        if (is_present && is_saved) set |= UINT64_C(1) << places[i].feature;
    }
    return set;
}

#elif defined(__aarch64__)

#include <sys/auxv.h>

static const struct feature_place {
    int word, bit;
    cpu_feature feature;
} places[] = {
#define HONE_MT_ARM_FEATURE(id, name, word, bit) {word, bit, CPU_##id},
#include "runtime/model/cpu_features.def"
#undef HONE_MT_ARM_FEATURE
};

uint64_t cpu_features_here(void) {
    uint64_t set = 0;
    for (size_t i = 0; i < HONE_COUNT(places); i++) {
        unsigned long word = getauxval(places[i].word == 1 ? AT_HWCAP : AT_HWCAP2);
        if ((word >> places[i].bit) & 1) set |= UINT64_C(1) << places[i].feature;
    }
    return set;
}

#else

uint64_t cpu_features_here(void) {
    return 0;
}

#endif
