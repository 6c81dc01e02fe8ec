/* target/cpu_info.c - the tables of CPU names and features, and cpuid.
 *
 * Thread-safe: constant tables only. */
#include "target/cpu_info.h"

#include <string.h>

#define X86_V2 (CPU_BIT(SSE3) | CPU_BIT(SSSE3) | CPU_BIT(SSE41) | CPU_BIT(SSE42) | CPU_BIT(POPCNT))
#define X86_V3                                                                                     \
    (X86_V2 | CPU_BIT(AVX) | CPU_BIT(F16C) | CPU_BIT(FMA) | CPU_BIT(BMI) | CPU_BIT(BMI2) |         \
     CPU_BIT(LZCNT) | CPU_BIT(MOVBE) | CPU_BIT(AVX2))
#define X86_V4                                                                                     \
    (X86_V3 | CPU_BIT(AVX512F) | CPU_BIT(AVX512CD) | CPU_BIT(AVX512DQ) | CPU_BIT(AVX512BW) |       \
     CPU_BIT(AVX512VL))
#define X86_CASCADE (X86_V4 | CPU_BIT(AVX512VNNI))
#define X86_ICELAKE                                                                                \
    (X86_CASCADE | CPU_BIT(AVX512IFMA) | CPU_BIT(AVX512VBMI) | CPU_BIT(AVX512VBMI2) |              \
     CPU_BIT(AVX512BITALG) | CPU_BIT(AVX512VPOPCNTDQ) | CPU_BIT(GFNI))
#define X86_ZNVER4 (X86_ICELAKE | CPU_BIT(AVX512BF16))
#define X86_ZNVER5 (X86_ZNVER4 | CPU_BIT(AVXVNNI))
#define X86_SAPPHIRE                                                                               \
    (X86_ZNVER5 | CPU_BIT(AVX512FP16) | CPU_BIT(AMXTILE) | CPU_BIT(AMXINT8) | CPU_BIT(AMXBF16))
#define X86_ALDER (X86_V3 | CPU_BIT(AVXVNNI) | CPU_BIT(GFNI))

#define ARM_V8 CPU_BIT(CRC)
#define ARM_V8_2 (ARM_V8 | CPU_BIT(LSE) | CPU_BIT(RDM) | CPU_BIT(FULLFP16) | CPU_BIT(DOTPROD))
#define ARM_V8_4 (ARM_V8_2 | CPU_BIT(FP16FML) | CPU_BIT(I8MM) | CPU_BIT(BF16))
#define ARM_V9 (ARM_V8_4 | CPU_BIT(SVE) | CPU_BIT(SVE2))

static const struct feature_row {
    const char *name, *flag;
} features[] = {
#define HONE_CPU_FEATURE(bit, llvm, flag) {llvm, flag},
#include "target/cpu_table.def"
#undef HONE_CPU_FEATURE
};

static const struct cpu_row {
    const char *name;
    cpu_vendor vendor;
    int family, model_from, model_to;
    uint64_t features;
} cpus[] = {
#define HONE_CPU(name, vendor, family, from, to, implied)                                          \
    {name, CPU_VENDOR_##vendor, family, from, to, implied},
#include "target/cpu_table.def"
#undef HONE_CPU
};

static const struct arm_row {
    const char *name;
    long part;
    uint64_t features;
} arms[] = {
#define HONE_ARM_CPU(name, part, implied) {name, part, implied},
#include "target/cpu_table.def"
#undef HONE_ARM_CPU
};

const char *cpu_feature_name(cpu_feature feature) {
    return features[feature].name;
}

cpu_feature cpu_feature_find(const char *name, size_t length) {
    for (size_t i = 0; i < CPU_FEATURE_COUNT; i++) {
        if (strlen(features[i].name) == length && memcmp(features[i].name, name, length) == 0) {
            return (cpu_feature)i;
        }
    }
    return CPU_FEATURE_COUNT;
}

bool cpu_name_features(const char *name, uint64_t *out_features) {
    *out_features = 0;
    for (size_t i = 0; i < sizeof cpus / sizeof cpus[0]; i++) {
        if (strcmp(cpus[i].name, name) == 0) {
            *out_features = cpus[i].features;
            return true;
        }
    }
    return false;
}

const char *cpu_name_of_model(cpu_vendor vendor, int family, int model) {
    for (size_t i = 0; i < sizeof cpus / sizeof cpus[0]; i++) {
        if (cpus[i].vendor == vendor && cpus[i].family == family && model >= cpus[i].model_from &&
            model <= cpus[i].model_to) {
            return cpus[i].name;
        }
    }
    return NULL;
}

bool cpu_arm_name_features(const char *name, uint64_t *out_features) {
    *out_features = 0;
    for (size_t i = 0; i < sizeof arms / sizeof arms[0]; i++) {
        if (strcmp(arms[i].name, name) != 0) continue;
        *out_features = arms[i].features;
        return true;
    }
    return false;
}

const char *cpu_arm_name_of_part(long part) {
    for (size_t i = 0; i < sizeof arms / sizeof arms[0]; i++) {
        if (arms[i].part == part) return arms[i].name;
    }
    return NULL;
}

uint64_t cpu_features_apply(uint64_t set, const char *differences) {
    const char *at = differences;
    while (*at) {
        size_t length = strcspn(at, ",");
        if (length > 1) {
            cpu_feature feature = cpu_feature_find(at + 1, length - 1);
            uint64_t bit = feature < CPU_FEATURE_COUNT ? UINT64_C(1) << feature : 0;
            set = at[0] == '-' ? set & ~bit : set | bit;
        }
        at += length;
        if (*at == ',') at++;
    }
    return set;
}

#if defined(__x86_64__)

#include <cpuid.h>

/* Which feature sits in which bit of cpuid; leaf 7 sub-leaf 0 and 1, leaf 1, leaf 0x80000001. The
 * system must save the registers too (xgetbv), or the features are no use. */
static uint64_t xgetbv0(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return ((uint64_t)high << 32) | low;
}

static uint64_t pick(uint32_t word, unsigned bit, uint64_t feature) {
    return (word >> bit) & 1 ? feature : 0;
}

static uint64_t leaf7_features(void) {
    uint32_t a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
    uint64_t set = pick(b, 3, CPU_BIT(BMI)) | pick(b, 5, CPU_BIT(AVX2)) |
                   pick(b, 8, CPU_BIT(BMI2)) | pick(b, 16, CPU_BIT(AVX512F)) |
                   pick(b, 17, CPU_BIT(AVX512DQ)) | pick(b, 21, CPU_BIT(AVX512IFMA)) |
                   pick(b, 28, CPU_BIT(AVX512CD)) | pick(b, 30, CPU_BIT(AVX512BW)) |
                   pick(b, 31, CPU_BIT(AVX512VL)) | pick(c, 1, CPU_BIT(AVX512VBMI)) |
                   pick(c, 6, CPU_BIT(AVX512VBMI2)) | pick(c, 8, CPU_BIT(GFNI)) |
                   pick(c, 11, CPU_BIT(AVX512VNNI)) | pick(c, 12, CPU_BIT(AVX512BITALG)) |
                   pick(c, 14, CPU_BIT(AVX512VPOPCNTDQ)) | pick(d, 22, CPU_BIT(AMXBF16)) |
                   pick(d, 23, CPU_BIT(AVX512FP16)) | pick(d, 24, CPU_BIT(AMXTILE)) |
                   pick(d, 25, CPU_BIT(AMXINT8));
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) {
        set |= pick(a, 4, CPU_BIT(AVXVNNI)) | pick(a, 5, CPU_BIT(AVX512BF16));
    }
    return set;
}

uint64_t cpu_features_here(void) {
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
    uint64_t set =
        pick(c, 0, CPU_BIT(SSE3)) | pick(c, 9, CPU_BIT(SSSE3)) | pick(c, 12, CPU_BIT(FMA)) |
        pick(c, 19, CPU_BIT(SSE41)) | pick(c, 20, CPU_BIT(SSE42)) | pick(c, 22, CPU_BIT(MOVBE)) |
        pick(c, 23, CPU_BIT(POPCNT)) | pick(c, 28, CPU_BIT(AVX)) | pick(c, 29, CPU_BIT(F16C));
    bool has_xsave = (c >> 27) & 1;
    set |= leaf7_features();
    if (__get_cpuid(0x80000001u, &a, &b, &c, &d)) set |= pick(c, 5, CPU_BIT(LZCNT));
    uint64_t saved = has_xsave ? xgetbv0() : 0;
    uint64_t avx512 = X86_SAPPHIRE & ~(X86_V3 | CPU_BIT(GFNI) | CPU_BIT(AVXVNNI));
    if ((saved & 0x6) != 0x6) {
        set &= X86_V2 | CPU_BIT(BMI) | CPU_BIT(BMI2) | CPU_BIT(LZCNT) | CPU_BIT(MOVBE);
    } else if ((saved & 0xe6) != 0xe6) {
        set &= ~avx512;
    }
    if ((saved & 0x60000) != 0x60000) {
        set &= ~(CPU_BIT(AMXTILE) | CPU_BIT(AMXINT8) | CPU_BIT(AMXBF16));
    }
    return set;
}

#elif defined(__aarch64__)

#include <sys/auxv.h>

/* Which feature is which bit of AT_HWCAP and AT_HWCAP2 (arch/arm64 of Linux). */
static const struct {
    unsigned long type, bit;
    uint64_t feature;
} hwcaps[] = {
    {AT_HWCAP,  7,  CPU_BIT(CRC)     },
    {AT_HWCAP,  8,  CPU_BIT(LSE)     },
    {AT_HWCAP,  10, CPU_BIT(FULLFP16)},
    {AT_HWCAP,  12, CPU_BIT(RDM)     },
    {AT_HWCAP,  20, CPU_BIT(DOTPROD) },
    {AT_HWCAP,  22, CPU_BIT(SVE)     },
    {AT_HWCAP,  23, CPU_BIT(FP16FML) },
    {AT_HWCAP2, 1,  CPU_BIT(SVE2)    },
    {AT_HWCAP2, 13, CPU_BIT(I8MM)    },
    {AT_HWCAP2, 14, CPU_BIT(BF16)    },
};

uint64_t cpu_features_here(void) {
    uint64_t set = 0;
    for (size_t i = 0; i < sizeof hwcaps / sizeof hwcaps[0]; i++) {
        if ((getauxval(hwcaps[i].type) >> hwcaps[i].bit) & 1) set |= hwcaps[i].feature;
    }
    return set;
}

#else

uint64_t cpu_features_here(void) {
    return 0;
}

#endif
