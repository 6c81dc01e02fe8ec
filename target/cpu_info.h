/* target/cpu_info.h - facts about x86 and ARM CPUs: names, features, what a name implies.
 *
 * Inside target/ only. Feature sets are bit masks over the rows of cpu_table.def.
 */
#ifndef HONE_TARGET_CPU_INFO_H
#define HONE_TARGET_CPU_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cpu_feature {
#define HONE_CPU_FEATURE(bit, llvm, flag) CPU_##bit,
#include "target/cpu_table.def"
#undef HONE_CPU_FEATURE
    CPU_FEATURE_COUNT
} cpu_feature;

#define CPU_BIT(name) (UINT64_C(1) << CPU_##name)

typedef enum cpu_vendor { CPU_VENDOR_ANY, CPU_VENDOR_AMD, CPU_VENDOR_INTEL } cpu_vendor;

typedef struct cpu_name {
    const char *name;
    uint64_t features;
} cpu_name;

/* LLVM's name of a feature. */
const char *cpu_feature_name(cpu_feature feature);
/* The feature with an LLVM name, or CPU_FEATURE_COUNT. */
cpu_feature cpu_feature_find(const char *name, size_t length);
/* Features implied by an x86 cpu name; false when the name is unknown. */
bool cpu_name_features(const char *name, uint64_t *out_features);
/* The name for a cpuid family and model, or NULL. */
const char *cpu_name_of_model(cpu_vendor vendor, int family, int model);
/* Applies "+avx2,-fma" to a set; unknown features are skipped. */
uint64_t cpu_features_apply(uint64_t features, const char *differences);
/* The same for aarch64; names and the part number of /proc/cpuinfo. */
bool cpu_arm_name_features(const char *name, uint64_t *out_features);
const char *cpu_arm_name_of_part(long part);
/* Features of the CPU of this process; 0 when it is neither x86 nor aarch64. */
uint64_t cpu_features_here(void);

#endif
