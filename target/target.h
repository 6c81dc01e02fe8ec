/* target/target.h - what a device is, as plain data.
 *
 * A value without pointers: copy it, compare it by its printed form. Text forms that are read:
 *   "host", "native"                        this machine, detected; options may follow and win
 *   "llvm -mcpu=znver4 -num-cores=2"        TVM's spelling, with - or --, also "--num-cores 2";
 *                                           -mcpu=native is the CPU of this machine
 *   {"kind": "llvm", "mcpu": "znver4", …}   the JSON form
 *   "aarch64-linux-gnu"                     a bare triple; options may follow
 *   "cuda -arch=sm_90"  "nvidia/nvidia-h100"  "opencl -max_num_threads=1024"  "metal"  "c"
 * One canonical form is printed, complete and in a fixed order: parse(print(t)) equals t. Detection
 * reads cpuid, /proc and /sys; LLVM is not needed. Threads: thread-safe, nothing is shared.
 */
#ifndef HONE_TARGET_TARGET_H
#define HONE_TARGET_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "support/core/status.h"
#include "support/core/strbuf.h"
#include "support/data/hash.h"

typedef enum hone_target_kind {
#define HONE_TARGET_KIND(kind, name, device, makes_code, triple, cpu, threads, warp, shared,       \
                         facts)                                                                    \
    HONE_TARGET_##kind,
#include "target/target_kinds.def"
#undef HONE_TARGET_KIND
    HONE_TARGET_KIND_COUNT,
} hone_target_kind;

/* Bits, so that passes and rules can say for which of them they are. */
typedef enum hone_device_sort {
    HONE_DEVICE_CPU = 1,
    HONE_DEVICE_GPU = 2,
    HONE_DEVICE_ANY = HONE_DEVICE_CPU | HONE_DEVICE_GPU,
} hone_device_sort;

/* What kernels for a kind of target can do, as bits: passes ask this, not which kind it is. */
typedef enum hone_target_facts {
    HONE_TARGET_REPORTS_FAULTS = 1, /* a kernel can end and say what was wrong */
    HONE_TARGET_SHUFFLES_LANES = 2, /* threads that run together hand each other values */
    HONE_TARGET_COPIES_BEHIND = 4,  /* copies to shared memory go on while the kernel computes */
} hone_target_facts;

typedef struct hone_target {
    hone_target_kind kind;
    char triple[64];     /* "x86_64-linux-gnu"; "nvptx64-nvidia-cuda" for CUDA */
    char cpu[48];        /* LLVM's -mcpu name; "sm_90" for CUDA; "generic" for other GPUs */
    char features[512];  /* differences from what the cpu name implies: "+avx512f,-avx512bf16" */
    int32_t vector_bits; /* widest vector register that code should use */
    int32_t num_cores;   /* cores of the device that may be used */
    int32_t num_threads; /* threads that a kernel runs on: part of a record's identity */
    int32_t cache_line_bytes;
    int64_t l1d_bytes, l2_bytes, l3_bytes; /* per core, per core, shared; 0 = there is none */
    /* GPU only, 0 otherwise */
    int32_t max_threads_per_block, warp_size;
    int64_t max_shared_bytes; /* shared memory per block */
    int64_t registers_per_block;
} hone_target;

/* Detects this machine: cores in the affinity mask of the caller, all of them as threads; where
 * they differ the strongest one describes it. */
HONE_NODISCARD hone_status hone_target_detect(hone_target *out_target);

/* Reads any of the forms above. INVALID names the option that is unknown or out of range and, for a
 * near miss, the one that was meant; *out_target is cleared then. */
HONE_NODISCARD hone_status hone_target_parse(const char *text, hone_target *out_target);

/* hone_target_parse; *out_says_cores: the text gives a number of cores or threads, or is this
 * machine. */
HONE_NODISCARD hone_status hone_target_parse_cores(const char *text, hone_target *out_target,
                                                   bool *out_says_cores);

void hone_target_print(const hone_target *target, hone_str *out);
void hone_target_print_json(const hone_target *target, hone_str *out); /* one line */

/* INVALID when a field is out of range or holds a character that cannot be printed back. */
HONE_NODISCARD hone_status hone_target_check(const hone_target *target);

/* Of the canonical text. */
hone_hash128 hone_target_hash(const hone_target *target);
/* Of what code depends on: kind, architecture, features, vector width, threads; all of a GPU's
 * text. Records serve targets of the same identity. */
hone_hash128 hone_target_identity(const hone_target *target);
/* What differs, in words: "l3-cache is 8388608, here 33554432; …"; nothing when nothing does. */
void hone_target_print_differences(const hone_target *there, const hone_target *here,
                                   hone_str *out);
/* Of these what makes them differ in identity: "mcpu is znver4, here znver3 (without avx512f); …".
 */
void hone_target_print_obstacles(const hone_target *there, const hone_target *here, hone_str *out);

const char *hone_target_kind_name(hone_target_kind kind); /* "llvm", "cuda", "opencl" */
hone_device_sort hone_target_device(const hone_target *target);
bool hone_target_is_gpu(const hone_target *target);
/* Its kernels can do this (one of hone_target_facts). */
bool hone_target_can(const hone_target *target, hone_target_facts fact);
/* Machine code is made for it; else text. */
bool hone_target_makes_code(const hone_target *target);
/* Whether kernels for this target can run in this process's machine: same architecture and no
 * feature that this CPU lacks. */
bool hone_target_runs_here(const hone_target *target);
/* hone_target_runs_here as a status: UNSUPPORTED says what this machine is not or has not. */
HONE_NODISCARD hone_status hone_target_check_here(const hone_target *target);
/* Whether code for `code` runs on a device: UNSUPPORTED says what the device is not or has not. */
HONE_NODISCARD hone_status hone_target_check_on(const hone_target *code, const hone_target *device);
/* Whether the target has this machine's architecture. */
bool hone_target_is_native_arch(const hone_target *target);
/* Lanes of one vector register for an element of so many bits, at least 1. */
int32_t hone_target_lanes(const hone_target *target, int32_t element_bits);
/* Whether the CPU has a feature by LLVM's name ("avx2", "f16c"), implied or given. Known for
 * x86 and AArch64; false for names this table does not have. */
bool hone_target_has_feature(const hone_target *target, const char *feature);
/* Vector registers that the architecture has (16 for AVX2, 32 for AVX-512 and AArch64). */
int32_t hone_target_vector_registers(const hone_target *target);

/* Names that `hone target --list` shows, each with one line of description; NULL at the end. */
typedef struct hone_target_name {
    const char *name, *text, *description; /* text: what the name stands for, to be parsed */
} hone_target_name;
const hone_target_name *hone_target_names(void);

#endif
