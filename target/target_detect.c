/* target/target_detect.c - this machine, from cpuid, /proc and /sys.
 *
 * Whatever cannot be read keeps the default of its kind: detection does not fail on an unusual
 * machine, it only knows less. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/attributes.h"
#include "target/cpu_info.h"
#include "target/target_impl.h"

static bool read_line(const char *path, char *line, size_t capacity) {
    FILE *file = fopen(path, "r");
    if (!file) return false;
    bool ok = fgets(line, (int)capacity, file) != NULL;
    fclose(file);
    if (ok) line[strcspn(line, "\n")] = 0;
    return ok;
}

static void detect_caches(hone_target *target) {
    for (int index = 0; index < 8; index++) {
        char path[128], level[16], type[32], size[32];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/level", index);
        if (!read_line(path, level, sizeof level)) break;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/type", index);
        if (!read_line(path, type, sizeof type) || strcmp(type, "Instruction") == 0) continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
        if (!read_line(path, size, sizeof size)) continue;
        char *end;
        long long bytes = strtoll(size, &end, 10);
        if (*end == 'K') bytes <<= 10;
        if (*end == 'M') bytes <<= 20;
        if (bytes <= 0) continue;
        if (strcmp(level, "1") == 0) target->l1d_bytes = bytes;
        if (strcmp(level, "2") == 0) target->l2_bytes = bytes;
        if (strcmp(level, "3") == 0) target->l3_bytes = bytes;
    }
    char line[32];
    if (read_line("/sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size", line,
                  sizeof line)) {
        long bytes = strtol(line, NULL, 10);
        if (bytes >= 16 && bytes <= 4096) target->cache_line_bytes = (int32_t)bytes;
    }
}

static int32_t usable_cores(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) {
        return (int32_t)CPU_COUNT(&set);
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int32_t)online : 1;
}

#if defined(__x86_64__)

#include <cpuid.h>

static const char *cpu_name_here(uint64_t features) {
    uint32_t a, b, c, d;
    char vendor[13] = {0};
    const char *name = NULL;
    if (__get_cpuid(0, &a, &b, &c, &d)) {
        memcpy(vendor, &b, 4);
        memcpy(vendor + 4, &d, 4);
        memcpy(vendor + 8, &c, 4);
    }
    if (__get_cpuid(1, &a, &b, &c, &d)) {
        int family = (int)((a >> 8) & 15), model = (int)((a >> 4) & 15);
        if (family == 6 || family == 15) model += (int)((a >> 16) & 15) << 4;
        if (family == 15) family += (int)((a >> 20) & 255);
        cpu_vendor which = strcmp(vendor, "AuthenticAMD") == 0   ? CPU_VENDOR_AMD
                           : strcmp(vendor, "HygonGenuine") == 0 ? CPU_VENDOR_AMD
                           : strcmp(vendor, "GenuineIntel") == 0 ? CPU_VENDOR_INTEL
                                                                 : CPU_VENDOR_OTHER;
        if (which != CPU_VENDOR_OTHER) name = cpu_name_of_model(which, family, model);
    }
    static const char *const levels[] = {"x86-64-v4", "x86-64-v3", "x86-64-v2"};
    for (size_t i = 0; !name && i < HONE_COUNT(levels); i++) {
        uint64_t wanted;
        if (cpu_name_features(CPU_ARCH_X86, levels[i], &wanted) && (wanted & ~features) == 0)
            name = levels[i];
    }
    return name ? name : "x86-64";
}

#else

/* The value behind "key : value" for the first CPU in /proc/cpuinfo. */
static bool cpuinfo_value(const char *key, char *value, size_t capacity) {
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file) return false;
    char line[512];
    bool found = false;
    while (!found && fgets(line, sizeof line, file)) {
        size_t length = strlen(key);
        if (strncmp(line, key, length) != 0) continue;
        char *at = line + length;
        at += strspn(at, " \t");
        if (*at != ':') continue;
        at += 1 + strspn(at + 1, " \t");
        at[strcspn(at, "\n")] = 0;
        snprintf(value, capacity, "%s", at);
        found = true;
    }
    fclose(file);
    return found;
}

static const char *cpu_name_here(uint64_t features) {
    char value[64];
    (void)features;
    const char *name = cpuinfo_value("CPU part", value, sizeof value)
                           ? cpu_arm_name_of_part(strtol(value, NULL, 0))
                           : NULL;
    return name ? name : "generic";
}

#endif

/* A virtual machine may hide features that the cpu name implies, and a new CPU may have more. */
static void detect_cpu(hone_target *target) {
    uint64_t here = cpu_features_here(), implied;
    snprintf(target->cpu, sizeof target->cpu, "%s", cpu_name_here(here));
    hone_target_name_features(target, &implied);
    size_t used = 0;
    for (int i = 0; i < CPU_FEATURE_COUNT; i++) {
        uint64_t bit = UINT64_C(1) << i;
        if (((here ^ implied) & bit) == 0) continue;
        int wrote =
            snprintf(target->features + used, sizeof target->features - used, "%s%c%s",
                     used ? "," : "", here & bit ? '+' : '-', cpu_feature_name((cpu_feature)i));
        if (wrote < 0 || used + (size_t)wrote >= sizeof target->features) break;
        used += (size_t)wrote;
    }
}

hone_status hone_target_detect(hone_target *out_target) {
    hone_target_init(out_target, HONE_TARGET_LLVM);
    detect_cpu(out_target);
    detect_caches(out_target);
    out_target->num_cores = usable_cores();
    out_target->num_threads = out_target->num_cores;
    out_target->vector_bits = hone_target_default_vector_bits(out_target);
    return hone_target_check(out_target);
}
