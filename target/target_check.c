/* target/target_check.c - refuses targets that mean nothing: fields out of range, and names that
 * nobody knows, for LLVM takes those without a word and makes code for the plainest CPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/core/attributes.h"
#include "target/target_impl.h"

static bool is_plain(const char *text, bool may_be_empty) {
    if (!*text) return may_be_empty;
    for (const char *at = text; *at; at++) {
        bool is_word = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                       (*at >= '0' && *at <= '9') || strchr("_-+.,", *at);
        if (!is_word) return false;
    }
    return true;
}

static hone_status check_number(const char *name, int64_t value, int64_t min, int64_t max) {
    if (value >= min && value <= max) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "target: %s is %lld, must be from %lld to %lld", name,
                      (long long)value, (long long)min, (long long)max);
}

hone_status hone_target_check(const hone_target *target) {
    if (target->kind >= HONE_TARGET_KIND_COUNT) {
        return HONE_ERROR(HONE_CODE_INVALID, "target: unknown kind %d", (int)target->kind);
    }
    if (!is_plain(target->triple, false) || !is_plain(target->cpu, false) ||
        !is_plain(target->features, true)) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "target: triple, cpu and features are words of letters, digits and "
                          "'_-+.,' (got '%s', '%s', '%s')",
                          target->triple, target->cpu, target->features);
    }
    if (target->vector_bits & (target->vector_bits - 1)) {
        return HONE_ERROR(HONE_CODE_INVALID, "target: vector-width is %d, must be a power of two",
                          (int)target->vector_bits);
    }
    HONE_TRY(check_number("vector-width", target->vector_bits, 32, 4096));
    HONE_TRY(check_number("num-cores", target->num_cores, 1, 65536));
    HONE_TRY(check_number("num-threads", target->num_threads, 1, 65536));
    HONE_TRY(check_number("cache-line", target->cache_line_bytes, 1, 4096));
    int64_t limit = INT64_C(1) << 40;
    HONE_TRY(check_number("l1d-cache", target->l1d_bytes, 0, limit));
    HONE_TRY(check_number("l2-cache", target->l2_bytes, 0, limit));
    HONE_TRY(check_number("l3-cache", target->l3_bytes, 0, limit));
    int64_t least = hone_target_is_gpu(target) ? 1 : 0;
    HONE_TRY(check_number("max_threads_per_block", target->max_threads_per_block, least, 1 << 20));
    HONE_TRY(check_number("thread_warp_size", target->warp_size, least, 1024));
    HONE_TRY(check_number("max_shared_memory_per_block", target->max_shared_bytes, 0, limit));
    return check_number("registers_per_block", target->registers_per_block, least, limit);
}

/* ---- names ---- */

/* "aarch64-linux-gnu", "x86_64-unknown-linux-gnu": Linux with glibc on what code is made for. */
static bool is_made_for(const char *triple) {
    const char *dash = strchr(triple, '-'), *linux_at = strstr(triple, "-linux");
    if (!dash || !linux_at) return false;
    bool is_arch = strncmp(triple, "x86_64-", 7) == 0 || strncmp(triple, "aarch64-", 8) == 0;
    bool has_vendor = linux_at != dash;
    bool is_vendor_alone = !has_vendor || strchr(dash + 1, '-') == linux_at;
    return is_arch && is_vendor_alone &&
           (strcmp(linux_at, "-linux") == 0 || strcmp(linux_at, "-linux-gnu") == 0);
}

static cpu_arch other_than(cpu_arch arch) {
    return arch == CPU_ARCH_X86 ? CPU_ARCH_ARM : CPU_ARCH_X86;
}

static const char *name_of(cpu_arch arch) {
    return arch == CPU_ARCH_X86 ? "x86_64" : "aarch64";
}

static hone_status unknown_cpu(const hone_target *target, cpu_arch arch) {
    cpu_arch other = other_than(arch);
    const char *meant = cpu_name_suggest(arch, target->cpu), *name = hone_target_arch(target);
    uint64_t set;
    if (cpu_name_features(other, target->cpu, &set)) {
        return HONE_ERROR(HONE_CODE_INVALID, "target: mcpu '%s' is a CPU of %s, the target is %s",
                          target->cpu, name_of(other), target->triple);
    }
    const char *there = meant ? NULL : cpu_name_suggest(other, target->cpu);
    if (there) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "target: unknown mcpu '%s' for %s, did you mean '%s', a CPU of %s?",
                          target->cpu, name, there, name_of(other));
    }
    return meant ? HONE_ERROR(HONE_CODE_INVALID,
                              "target: unknown mcpu '%s' for %s, did you mean '%s'?", target->cpu,
                              name, meant)
                 : HONE_ERROR(HONE_CODE_INVALID,
                              "target: unknown mcpu '%s' for %s; names are those of LLVM 19, "
                              "'generic' is any such CPU",
                              target->cpu, name);
}

static hone_status check_feature(cpu_arch arch, const char *text) {
    const char *name = text + (*text == '+' || *text == '-');
    const char *meant = NULL;
    if (!cpu_feature_is_known(arch, name, strlen(name))) {
        if (cpu_feature_is_known(other_than(arch), name, strlen(name))) {
            return HONE_ERROR(HONE_CODE_INVALID,
                              "target: feature '%s' in mattr is one of %s, the target is %s", name,
                              name_of(other_than(arch)), name_of(arch));
        }
        meant = cpu_feature_suggest(arch, name);
        return meant ? HONE_ERROR(HONE_CODE_INVALID,
                                  "target: unknown feature '%s' in mattr, did you mean '%s'?", name,
                                  meant)
                     : HONE_ERROR(HONE_CODE_INVALID, "target: unknown feature '%s' in mattr", name);
    }
    if (name != text) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID,
                      "target: feature '%s' in mattr has no sign, must be '+%s' or '-%s'", name,
                      name, name);
}

static hone_status check_features(cpu_arch arch, const char *list) {
    while (*list) {
        char feature[64];
        size_t length = strcspn(list, ",");
        snprintf(feature, sizeof feature, "%.*s", (int)length, list);
        HONE_TRY(check_feature(arch, feature));
        list += length + (list[length] == ',');
    }
    return HONE_OK;
}

/* NVIDIA's architectures that code is made for. New ones come each year: one above the last is
 * taken for what it says. */
static const struct {
    int number, shared_kib; /* that a block may have, where it asks for it */
} gpu_archs[] = {
    {50,  48 },
    {52,  48 },
    {53,  48 },
    {60,  48 },
    {61,  48 },
    {62,  48 },
    {70,  96 },
    {72,  96 },
    {75,  64 },
    {80,  163},
    {86,  99 },
    {87,  163},
    {88,  99 },
    {89,  99 },
    {90,  227},
    {100, 227},
    {101, 227},
    {103, 227},
    {110, 227},
    {120, 99 },
    {121, 99 },
};

/* The known one that is nearest to a number, itself where it is known or new. */
static int nearest_gpu_arch(int number) {
    int nearest = gpu_archs[0].number;
    for (size_t i = 0; i < HONE_COUNT(gpu_archs); i++)
        if (abs(gpu_archs[i].number - number) < abs(nearest - number))
            nearest = gpu_archs[i].number;
    bool is_new = number > gpu_archs[HONE_COUNT(gpu_archs) - 1].number;
    return is_new ? number : nearest;
}

int64_t hone_target_arch_shared_bytes(const hone_target *target) {
    const char *digits = strpbrk(target->cpu, "0123456789");
    long number = digits ? strtol(digits, NULL, 10) : 0;
    for (size_t i = 0; i < HONE_COUNT(gpu_archs); i++)
        if (gpu_archs[i].number == number) return (int64_t)gpu_archs[i].shared_kib << 10;
    return 0;
}

/* "sm_90", "sm_90a": of two digits or three, from 90 on with its own features (a), or those of its
 * family (f). */
static hone_status check_gpu(const char *arch) {
    const char *digits = strpbrk(arch, "0123456789");
    size_t length = digits ? strspn(digits, "0123456789") : 0;
    if (length != 2 && length != 3)
        return HONE_ERROR(HONE_CODE_INVALID, "target: unknown arch '%s', must be as 'sm_90'", arch);
    int number = (int)strtol(digits, NULL, 10), meant = nearest_gpu_arch(number);
    const char *end = digits + length;
    bool is_ended = !*end || (number >= 90 && strchr("af", *end) && !end[1]);
    if (strncmp(arch, "sm_", 3) == 0 && digits == arch + 3 && is_ended && meant == number)
        return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "target: unknown arch '%s', did you mean 'sm_%d'?%s", arch,
                      meant,
                      number < gpu_archs[0].number ? " code is made for sm_50 and newer" : "");
}

hone_status hone_target_no_code(const char *triple) {
    return HONE_ERROR(HONE_CODE_INVALID,
                      "target: no code is made for '%s', must be x86_64 or aarch64 with Linux and "
                      "glibc, as 'aarch64-linux-gnu'",
                      triple);
}

hone_status hone_target_check_names(const hone_target *target) {
    cpu_arch arch = hone_target_cpu_arch(target);
    uint64_t set;
    if (target->kind == HONE_TARGET_CUDA) return check_gpu(target->cpu);
    if (hone_target_is_gpu(target)) {
        if (strcmp(target->cpu, "generic") == 0) return HONE_OK;
        return HONE_ERROR(HONE_CODE_INVALID,
                          "target: arch is an option of cuda, '%s' has none: its driver knows",
                          hone_target_kind_name(target->kind));
    }
    if (hone_target_makes_code(target) && !is_made_for(target->triple)) {
        return hone_target_no_code(target->triple);
    }
    if (arch == CPU_ARCH_OTHER) return HONE_OK; /* C text: its compiler knows */
    if (!cpu_name_features(arch, target->cpu, &set)) return unknown_cpu(target, arch);
    return check_features(arch, target->features);
}
