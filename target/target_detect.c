/* target/target_detect.c - this machine, from cpuid, /proc and /sys.
 *
 * Whatever cannot be read keeps the default of its kind: detection does not fail on an unusual
 * machine, it only knows less. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/core/attributes.h"
#include "target/cpu_info.h"
#include "target/target_impl.h"

/* The cores that this process may use, in their order; 0 when the system does not say. */
static size_t usable_cores(int *cores, size_t capacity) {
    cpu_set_t set;
    size_t count = 0;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 0;
    for (int i = 0; i < CPU_SETSIZE && count < capacity; i++) {
        if (CPU_ISSET(i, &set)) cores[count++] = i;
    }
    return count;
}

static int32_t online_cores(void) {
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int32_t)online : 1;
}

#if defined(__x86_64__)

#include <cpuid.h>

static const char *cpu_name_here(int core, uint64_t features) {
    (void)core; /* cores of one x86 CPU share a model */
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

static const char *cpu_name_here(int core, uint64_t features) {
    (void)features;
    const char *name = hone_target_arm_name("", core);
    return name ? name : "generic";
}

#endif

/* A virtual machine may hide features that the cpu name implies, and a new CPU may have more. */
static void detect_cpu(int core, hone_target *target) {
    uint64_t here = cpu_features_here(), implied;
    snprintf(target->cpu, sizeof target->cpu, "%s", cpu_name_here(core, here));
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
    int cores[CPU_SETSIZE];
    size_t count = usable_cores(cores, HONE_COUNT(cores));
    int core = hone_target_strongest_core("", cores, count);
    detect_cpu(core, out_target);
    hone_target_detect_caches("", core, out_target);
    out_target->num_cores = count ? (int32_t)count : online_cores();
    out_target->num_threads = out_target->num_cores;
    out_target->vector_bits = hone_target_default_vector_bits(out_target);
    return hone_target_check(out_target);
}
