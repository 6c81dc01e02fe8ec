/* target/target_impl.h - shared by the files of target/ only. */
#ifndef HONE_TARGET_TARGET_IMPL_H
#define HONE_TARGET_TARGET_IMPL_H

#include "target/cpu_info.h"
#include "target/target.h"

/* Defaults of a kind: caches, lines, limits; one core, one thread, this machine's triple. */
void hone_target_init(hone_target *target, hone_target_kind kind);
/* The widest vectors that the cpu name and its feature differences allow. */
int32_t hone_target_default_vector_bits(const hone_target *target);
/* Features that the target's cpu name implies on its architecture. */
void hone_target_name_features(const hone_target *target, uint64_t *out_features);
/* With the differences applied; none for architectures that no code is made for. */
uint64_t hone_target_features(const hone_target *target);
/* Of the cores given, that of the highest capacity: the first where the system does not tell. Files
 * are read under root ("" for this machine), here and below. */
int hone_target_strongest_core(const char *root, const int *cores, size_t count);
/* LLVM's name of an ARM core, or NULL. */
const char *hone_target_arm_name(const char *root, int core);
/* Sizes and line of a core's caches; what cannot be read stays. */
void hone_target_detect_caches(const char *root, int core, hone_target *target);
/* What a block may have of shared memory on NVIDIA's architecture of the target; 0: not known. */
int64_t hone_target_arch_shared_bytes(const hone_target *target);
/* The architecture part of a triple, normalised: "x86_64", "aarch64", "nvptx64", … */
const char *hone_target_arch(const hone_target *target);
cpu_arch hone_target_cpu_arch(const hone_target *target);
/* "avx512f, avx512vl" */
void hone_target_list_features(uint64_t set, hone_str *out);
/* INVALID: no code is made for the triple. */
HONE_NODISCARD hone_status hone_target_no_code(const char *triple);
/* INVALID, with what was meant, for a triple that no code is made for and for a CPU or feature that
 * LLVM does not know for its architecture. */
HONE_NODISCARD hone_status hone_target_check_names(const hone_target *target);

#endif
