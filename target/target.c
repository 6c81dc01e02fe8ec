/* target/target.c - defaults, checks, questions and the canonical text of a target. */
#include "target/target.h"

#include <stdio.h>
#include <string.h>

#include "support/core/attributes.h"
#include "target/cpu_info.h"
#include "target/target_impl.h"

#if defined(__x86_64__)
#define HERE_ARCH "x86_64"
#elif defined(__aarch64__)
#define HERE_ARCH "aarch64"
#else
#define HERE_ARCH "unknown"
#endif

static const struct {
    const char *name;
    hone_device_sort device;
    bool makes_code;
    const char *triple, *cpu;
    int32_t threads, warp;
    int64_t shared;
    unsigned facts;
} kinds[HONE_TARGET_KIND_COUNT] = {
#define HONE_TARGET_KIND(kind, name, device, makes_code, triple, cpu, threads, warp, shared,       \
                         facts)                                                                    \
    {name, device, makes_code, triple, cpu, threads, warp, shared, facts},
#include "target/target_kinds.def"
#undef HONE_TARGET_KIND
};

/* clang-format off */
static const hone_target_name names[] = {
    {"host", "host", "this machine, detected"},
    {"x86-64-v3", "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3", "any x86 CPU with AVX2"},
    {"x86-64-v4", "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4", "any x86 CPU with AVX-512"},
    {"amd/epyc-zen4", "llvm -mtriple=x86_64-linux-gnu -mcpu=znver4", "AMD Zen 4"},
    {"amd/epyc-zen5", "llvm -mtriple=x86_64-linux-gnu -mcpu=znver5", "AMD Zen 5"},
    {"intel/icelake", "llvm -mtriple=x86_64-linux-gnu -mcpu=icelake-server", "Intel Ice Lake"},
    {"intel/sapphire-rapids", "llvm -mtriple=x86_64-linux-gnu -mcpu=sapphirerapids",
     "Intel Sapphire Rapids"},
    {"aarch64", "llvm -mtriple=aarch64-linux-gnu -mcpu=generic", "any 64-bit ARM CPU"},
    {"arm/neoverse-n1", "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1", "ARM Neoverse N1"},
    {"arm/cortex-a72", "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -num-cores=4",
     "ARM Cortex-A72 (Raspberry Pi 4)"},
    {"nvidia/nvidia-v100", "cuda -arch=sm_70 -max_shared_memory_per_block=98304 -num-cores=80",
     "NVIDIA V100"},
    {"nvidia/geforce-gtx-1080-ti", "cuda -arch=sm_61 -max_shared_memory_per_block=49152 -num-cores=28",
     "NVIDIA GeForce GTX 1080 Ti"},
    {"nvidia/tesla-p100", "cuda -arch=sm_60 -max_shared_memory_per_block=49152 -num-cores=56",
     "NVIDIA P100"},
    {"nvidia/nvidia-t4", "cuda -arch=sm_75 -max_shared_memory_per_block=65536 -num-cores=40",
     "NVIDIA T4"},
    {"nvidia/jetson-agx-xavier", "cuda -arch=sm_72 -max_shared_memory_per_block=98304 -num-cores=8",
     "NVIDIA Jetson AGX Xavier"},
    {"nvidia/geforce-rtx-2080-ti", "cuda -arch=sm_75 -max_shared_memory_per_block=65536 -num-cores=68",
     "NVIDIA GeForce RTX 2080 Ti"},
    {"nvidia/nvidia-a100", "cuda -arch=sm_80 -max_shared_memory_per_block=166912 -num-cores=108",
     "NVIDIA A100"},
    {"nvidia/a100", "cuda -arch=sm_80 -max_shared_memory_per_block=166912 -num-cores=108",
     "the same"},
    {"nvidia/nvidia-a10", "cuda -arch=sm_86 -max_shared_memory_per_block=101376 -num-cores=72",
     "NVIDIA A10"},
    {"nvidia/rtx-a6000", "cuda -arch=sm_86 -max_shared_memory_per_block=101376 -num-cores=84",
     "NVIDIA RTX A6000"},
    {"nvidia/geforce-rtx-3060", "cuda -arch=sm_86 -max_shared_memory_per_block=101376 -num-cores=28",
     "NVIDIA GeForce RTX 3060"},
    {"nvidia/geforce-rtx-3070", "cuda -arch=sm_86 -max_shared_memory_per_block=101376 -num-cores=46",
     "NVIDIA GeForce RTX 3070"},
    {"nvidia/geforce-rtx-3080", "cuda -arch=sm_86 -max_shared_memory_per_block=101376 -num-cores=68",
     "NVIDIA GeForce RTX 3080"},
    {"nvidia/geforce-rtx-3090",
     "cuda -arch=sm_86 -max_shared_memory_per_block=101376 -num-cores=82",
     "NVIDIA GeForce RTX 3090"},
    {"nvidia/jetson-orin-nano", "cuda -arch=sm_87 -max_shared_memory_per_block=166912 -num-cores=8",
     "NVIDIA Jetson Orin Nano"},
    {"nvidia/jetson-agx-orin", "cuda -arch=sm_87 -max_shared_memory_per_block=166912 -num-cores=16",
     "NVIDIA Jetson AGX Orin"},
    {"nvidia/jetson-orin", "cuda -arch=sm_87 -max_shared_memory_per_block=166912 -num-cores=16",
     "the same"},
    {"nvidia/geforce-rtx-4080", "cuda -arch=sm_89 -max_shared_memory_per_block=101376 -num-cores=76",
     "NVIDIA GeForce RTX 4080"},
    {"nvidia/geforce-rtx-4090",
     "cuda -arch=sm_89 -max_shared_memory_per_block=101376 -num-cores=128",
     "NVIDIA GeForce RTX 4090"},
    {"nvidia/rtx-4090", "cuda -arch=sm_89 -max_shared_memory_per_block=101376 -num-cores=128",
     "the same"},
    {"nvidia/nvidia-l4", "cuda -arch=sm_89 -max_shared_memory_per_block=101376 -num-cores=58",
     "NVIDIA L4"},
    {"nvidia/nvidia-l40", "cuda -arch=sm_89 -max_shared_memory_per_block=101376 -num-cores=142",
     "NVIDIA L40"},
    {"nvidia/nvidia-h100", "cuda -arch=sm_90a -max_shared_memory_per_block=232448 -num-cores=132",
     "NVIDIA H100"},
    {"nvidia/h100", "cuda -arch=sm_90a -max_shared_memory_per_block=232448 -num-cores=132",
     "the same"},
    {"nvidia/nvidia-h200", "cuda -arch=sm_90a -max_shared_memory_per_block=232448 -num-cores=132",
     "NVIDIA H200"},
    {"nvidia/nvidia-b200", "cuda -arch=sm_100 -max_shared_memory_per_block=232448 -num-cores=148",
     "NVIDIA B200"},
    {"apple/m1-gpu", "metal -max_threads_per_block=1024 -max_shared_memory_per_block=32768",
     "Apple M1, its GPU"},
    {NULL, NULL, NULL},
};
/* clang-format on */

const hone_target_name *hone_target_names(void) {
    return names;
}

const char *hone_target_kind_name(hone_target_kind kind) {
    return kind < HONE_TARGET_KIND_COUNT ? kinds[kind].name : "unknown";
}

hone_device_sort hone_target_device(const hone_target *target) {
    return kinds[target->kind].device;
}

bool hone_target_is_gpu(const hone_target *target) {
    return hone_target_device(target) == HONE_DEVICE_GPU;
}

bool hone_target_can(const hone_target *target, hone_target_facts fact) {
    return (kinds[target->kind].facts & fact) != 0;
}

bool hone_target_makes_code(const hone_target *target) {
    return kinds[target->kind].makes_code;
}

void hone_target_init(hone_target *target, hone_target_kind kind) {
    memset(target, 0, sizeof *target);
    target->kind = kind;
    target->num_cores = 1;
    target->num_threads = 1;
    target->vector_bits = 128;
    const char *triple = kinds[kind].triple;
    snprintf(target->triple, sizeof target->triple, "%s", triple ? triple : HERE_ARCH "-linux-gnu");
    snprintf(target->cpu, sizeof target->cpu, "%s", kinds[kind].cpu);
    if (hone_target_is_gpu(target)) {
        target->cache_line_bytes = 128;
        target->max_threads_per_block = kinds[kind].threads;
        target->warp_size = kinds[kind].warp;
        target->max_shared_bytes = kinds[kind].shared;
        target->registers_per_block = 65536;
        return;
    }
    target->cache_line_bytes = 64;
    target->l1d_bytes = 32 << 10;
    target->l2_bytes = 1 << 20;
    target->l3_bytes = 8 << 20;
}

const char *hone_target_arch(const hone_target *target) {
    static const struct {
        const char *prefix, *arch;
    } rows[] = {
        {"x86_64",      "x86_64" },
        {"amd64",       "x86_64" },
        {"aarch64",     "aarch64"},
        {"arm64",       "aarch64"},
        {"nvptx64",     "nvptx64"},
        {"arm",         "arm"    },
        {"riscv64",     "riscv64"},
        {"powerpc64",   "ppc64"  },
        {"s390x",       "s390x"  },
        {"wasm32",      "wasm32" },
        {"loongarch64", "loong"  },
    };
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        size_t length = strlen(rows[i].prefix);
        if (strncmp(target->triple, rows[i].prefix, length) == 0) return rows[i].arch;
    }
    return "unknown";
}

static bool is_x86(const hone_target *target) {
    return strcmp(hone_target_arch(target), "x86_64") == 0;
}

cpu_arch hone_target_cpu_arch(const hone_target *target) {
    if (is_x86(target)) return CPU_ARCH_X86;
    return strcmp(hone_target_arch(target), "aarch64") == 0 ? CPU_ARCH_ARM : CPU_ARCH_OTHER;
}

void hone_target_name_features(const hone_target *target, uint64_t *out_features) {
    cpu_name_features(hone_target_cpu_arch(target), target->cpu, out_features);
}

uint64_t hone_target_features(const hone_target *target) {
    uint64_t set;
    hone_target_name_features(target, &set);
    return cpu_features_apply(hone_target_cpu_arch(target), set, target->features);
}

int32_t hone_target_default_vector_bits(const hone_target *target) {
    if (!is_x86(target)) return 128;
    uint64_t set = hone_target_features(target);
    if (set & CPU_BIT(AVX512F)) return 512;
    return set & CPU_BIT(AVX) ? 256 : 128;
}

bool hone_target_is_native_arch(const hone_target *target) {
    return !hone_target_is_gpu(target) && strcmp(hone_target_arch(target), HERE_ARCH) == 0;
}

bool hone_target_runs_here(const hone_target *target) {
    if (hone_target_is_gpu(target)) return false;
    if (strcmp(hone_target_arch(target), HERE_ARCH) != 0) return false;
    return (hone_target_features(target) & ~cpu_features_here()) == 0;
}

void hone_target_list_features(uint64_t set, hone_str *out) {
    const char *before = "";
    for (int i = 0; i < CPU_FEATURE_COUNT; i++) {
        if (!((set >> i) & 1)) continue;
        hone_str_printf(out, "%s%s", before, cpu_feature_name((cpu_feature)i));
        before = ", ";
    }
}

hone_status hone_target_check_here(const hone_target *target) {
    if (hone_target_runs_here(target)) return HONE_OK;
    if (hone_target_is_gpu(target) || !hone_target_is_native_arch(target)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "code for %s does not run on this machine, which is " HERE_ARCH,
                          target->triple);
    }
    hone_str missing = {0};
    hone_target_list_features(hone_target_features(target) & ~cpu_features_here(), &missing);
    hone_status st = HONE_ERROR(HONE_CODE_UNSUPPORTED,
                                "code for %s needs CPU features that this machine lacks: %s",
                                target->cpu, hone_str_text(&missing));
    hone_str_deinit(&missing);
    return st;
}

hone_status hone_target_check_on(const hone_target *code, const hone_target *device) {
    uint64_t missing = hone_target_features(code) & ~hone_target_features(device);
    if (code->kind != device->kind ||
        strcmp(hone_target_arch(code), hone_target_arch(device)) != 0) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "code for %s does not run on %s", code->triple,
                          device->triple);
    }
    if (!missing) return HONE_OK;
    hone_str lacking = {0};
    hone_target_list_features(missing, &lacking);
    hone_status st =
        HONE_ERROR(HONE_CODE_UNSUPPORTED, "code for %s needs CPU features that a %s lacks: %s",
                   code->cpu, device->cpu, hone_str_text(&lacking));
    hone_str_deinit(&lacking);
    return st;
}

bool hone_target_has_feature(const hone_target *target, const char *feature) {
    cpu_feature which = cpu_feature_find(feature, strlen(feature));
    if (which == CPU_FEATURE_COUNT || hone_target_is_gpu(target)) return false;
    return (hone_target_features(target) >> which) & 1;
}

int32_t hone_target_lanes(const hone_target *target, int32_t element_bits) {
    if (element_bits < 8) element_bits = 8;
    int32_t lanes = target->vector_bits / element_bits;
    return lanes > 0 ? lanes : 1;
}

int32_t hone_target_vector_registers(const hone_target *target) {
    if (hone_target_is_gpu(target)) return 255;
    if (!is_x86(target)) return 32;
    return hone_target_features(target) & CPU_BIT(AVX512VL) ? 32 : 16;
}

void hone_target_print(const hone_target *target, hone_str *out) {
    hone_str_printf(out, "%s", hone_target_kind_name(target->kind));
    if (target->kind == HONE_TARGET_CUDA) {
        hone_str_printf(out, " -arch=%s", target->cpu);
    } else if (!hone_target_is_gpu(target)) {
        hone_str_printf(out, " -mtriple=%s -mcpu=%s", target->triple, target->cpu);
    }
    if (target->features[0]) hone_str_printf(out, " -mattr=%s", target->features);
    hone_str_printf(out, " -vector-width=%d -num-cores=%d -num-threads=%d -cache-line=%d",
                    (int)target->vector_bits, (int)target->num_cores, (int)target->num_threads,
                    (int)target->cache_line_bytes);
    if (hone_target_is_gpu(target)) {
        hone_str_printf(out,
                        " -max_threads_per_block=%d -thread_warp_size=%d"
                        " -max_shared_memory_per_block=%lld -registers_per_block=%lld",
                        (int)target->max_threads_per_block, (int)target->warp_size,
                        (long long)target->max_shared_bytes,
                        (long long)target->registers_per_block);
        if (target->l2_bytes) hone_str_printf(out, " -l2-cache=%lld", (long long)target->l2_bytes);
    } else {
        hone_str_printf(out, " -l1d-cache=%lld -l2-cache=%lld -l3-cache=%lld",
                        (long long)target->l1d_bytes, (long long)target->l2_bytes,
                        (long long)target->l3_bytes);
    }
}

void hone_target_print_json(const hone_target *target, hone_str *out) {
    hone_str_printf(out, "{\"kind\": \"%s\"", hone_target_kind_name(target->kind));
    if (target->kind == HONE_TARGET_CUDA) {
        hone_str_printf(out, ", \"arch\": \"%s\"", target->cpu);
    } else if (!hone_target_is_gpu(target)) {
        hone_str_printf(out, ", \"mtriple\": \"%s\", \"mcpu\": \"%s\"", target->triple,
                        target->cpu);
    }
    if (target->features[0]) hone_str_printf(out, ", \"mattr\": \"%s\"", target->features);
    hone_str_printf(out,
                    ", \"vector-width\": %d, \"num-cores\": %d, \"num-threads\": %d"
                    ", \"cache-line\": %d",
                    (int)target->vector_bits, (int)target->num_cores, (int)target->num_threads,
                    (int)target->cache_line_bytes);
    if (hone_target_is_gpu(target)) {
        hone_str_printf(out,
                        ", \"max_threads_per_block\": %d, \"thread_warp_size\": %d"
                        ", \"max_shared_memory_per_block\": %lld, \"registers_per_block\": %lld",
                        (int)target->max_threads_per_block, (int)target->warp_size,
                        (long long)target->max_shared_bytes,
                        (long long)target->registers_per_block);
        if (target->l2_bytes)
            hone_str_printf(out, ", \"l2-cache\": %lld", (long long)target->l2_bytes);
        hone_str_append_char(out, '}');
    } else {
        hone_str_printf(out, ", \"l1d-cache\": %lld, \"l2-cache\": %lld, \"l3-cache\": %lld}",
                        (long long)target->l1d_bytes, (long long)target->l2_bytes,
                        (long long)target->l3_bytes);
    }
}

hone_hash128 hone_target_hash(const hone_target *target) {
    hone_str text = {0};
    hone_target_print(target, &text);
    hone_hash128 hash = hone_hash128_text(hone_str_text(&text));
    hone_str_deinit(&text);
    return hash;
}
