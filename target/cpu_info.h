/* target/cpu_info.h - facts about x86 and ARM CPUs: names, features, what a name implies.
 *
 * Inside target/ only. Feature sets are bit masks over the rows of
 * runtime/model/cpu_features.def.
 */
#ifndef HONE_TARGET_CPU_INFO_H
#define HONE_TARGET_CPU_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cpu_feature {
#define HONE_MT_FEATURE(id, name, leaf, sub_leaf, reg, bit, system) CPU_##id,
#define HONE_MT_ARM_FEATURE(id, name, word, bit) CPU_##id,
#include "runtime/model/cpu_features.def"
#undef HONE_MT_FEATURE
#undef HONE_MT_ARM_FEATURE
    CPU_FEATURE_COUNT
} cpu_feature;

#define CPU_BIT(name) (UINT64_C(1) << CPU_##name)

typedef enum cpu_vendor { CPU_VENDOR_OTHER, CPU_VENDOR_AMD, CPU_VENDOR_INTEL } cpu_vendor;

typedef enum cpu_arch { CPU_ARCH_OTHER, CPU_ARCH_X86, CPU_ARCH_ARM } cpu_arch;

/* LLVM's name of a feature. */
const char *cpu_feature_name(cpu_feature feature);
/* The feature with an LLVM name, or CPU_FEATURE_COUNT. */
cpu_feature cpu_feature_find(const char *name, size_t length);
/* Features that the name of a CPU implies; false when LLVM does not know it. */
bool cpu_name_features(cpu_arch arch, const char *name, uint64_t *out_features);
/* Whether LLVM knows the feature, also one that is not in the table here. */
bool cpu_feature_is_known(cpu_arch arch, const char *name, size_t length);
/* Applies "+avx2,-fma" to a set as LLVM does: with what is implied, without what depends on it. */
uint64_t cpu_features_apply(cpu_arch arch, uint64_t features, const char *differences);
/* The name that was probably meant, or NULL. */
const char *cpu_name_suggest(cpu_arch arch, const char *text);
const char *cpu_feature_suggest(cpu_arch arch, const char *text);
/* The name for a cpuid family and model, or NULL. */
const char *cpu_name_of_model(cpu_vendor vendor, int family, int model);
/* The name for the implementer and part of MIDR_EL1, or NULL. */
const char *cpu_name_of_part(long implementer, long part);
/* Features of the CPU of this process; 0 when it is neither x86 nor aarch64. */
uint64_t cpu_features_here(void);

#endif
