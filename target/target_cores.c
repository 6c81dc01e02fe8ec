/* target/target_cores.c - which core describes a machine whose cores differ, and what it is.
 *
 * Of the cores that may be used (big.LITTLE boards, hybrid CPUs, taskset) the strongest one, by
 * the system's cpu_capacity, gives the name and the caches. Files lie under a root, "" but in
 * tests; what cannot be read is not known, and detection goes on without. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/core/attributes.h"
#include "target/target_impl.h"

#define CPU_DIR "/sys/devices/system/cpu/cpu"

static bool read_line(const char *path, char *line, size_t capacity) {
    FILE *file = fopen(path, "r");
    if (!file) return false;
    bool ok = fgets(line, (int)capacity, file) != NULL;
    fclose(file);
    if (ok) line[strcspn(line, "\n")] = 0;
    return ok;
}

/* A line of a file of one core. */
static bool read_of_core(const char *root, int core, const char *name, char *line,
                         size_t capacity) {
    char path[512];
    int wrote = snprintf(path, sizeof path, "%s" CPU_DIR "%d/%s", root, core, name);
    return wrote > 0 && (size_t)wrote < sizeof path && read_line(path, line, capacity);
}

int hone_target_strongest_core(const char *root, const int *cores, size_t count) {
    int strongest = count ? cores[0] : 0;
    long best = -1;
    for (size_t i = 0; i < count; i++) {
        char line[32];
        if (!read_of_core(root, cores[i], "cpu_capacity", line, sizeof line)) continue;
        long capacity = strtol(line, NULL, 10);
        if (capacity <= best) continue;
        best = capacity;
        strongest = cores[i];
    }
    return strongest;
}

/* ---- 64-bit ARM ---- */

/* "key : value"; *out_value behind the colon. */
static bool is_key(const char *line, const char *key, const char **out_value) {
    size_t length = strlen(key);
    if (strncmp(line, key, length) != 0) return false;
    const char *at = line + length + strspn(line + length, " \t");
    *out_value = at + 1;
    return *at == ':';
}

/* Implementer and part in the block of a core of /proc/cpuinfo. */
static bool read_cpuinfo(const char *root, int core, long *out_implementer, long *out_part) {
    char path[512], line[512];
    const char *value;
    long block = -1;
    *out_implementer = *out_part = -1;
    snprintf(path, sizeof path, "%s/proc/cpuinfo", root);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    while (fgets(line, sizeof line, file)) {
        if (is_key(line, "processor", &value)) block = strtol(value, NULL, 10);
        if (block != core) continue;
        if (is_key(line, "CPU implementer", &value)) *out_implementer = strtol(value, NULL, 0);
        if (is_key(line, "CPU part", &value)) *out_part = strtol(value, NULL, 0);
    }
    fclose(file);
    return *out_implementer >= 0 && *out_part >= 0;
}

const char *hone_target_arm_name(const char *root, int core) {
    char line[64];
    long implementer, part;
    if (read_of_core(root, core, "regs/identification/midr_el1", line, sizeof line)) {
        unsigned long long midr = strtoull(line, NULL, 16);
        return cpu_name_of_part((long)(midr >> 24 & 0xff), (long)(midr >> 4 & 0xfff));
    }
    return read_cpuinfo(root, core, &implementer, &part) ? cpu_name_of_part(implementer, part)
                                                         : NULL;
}

/* ---- caches ---- */

static bool read_of_cache(const char *root, int core, int index, const char *name, char *line,
                          size_t capacity) {
    char path[64];
    snprintf(path, sizeof path, "cache/index%d/%s", index, name);
    return read_of_core(root, core, path, line, capacity);
}

static int64_t read_bytes(const char *text) {
    char *end;
    long long bytes = strtoll(text, &end, 10);
    if (*end == 'K') bytes <<= 10;
    if (*end == 'M') bytes <<= 20;
    return bytes;
}

void hone_target_detect_caches(const char *root, int core, hone_target *target) {
    char level[16], type[32], size[32], line[32];
    for (int index = 0; index < 8; index++) {
        if (!read_of_cache(root, core, index, "level", level, sizeof level)) break;
        if (!read_of_cache(root, core, index, "type", type, sizeof type)) continue;
        if (strcmp(type, "Instruction") == 0) continue;
        if (!read_of_cache(root, core, index, "size", size, sizeof size)) continue;
        int64_t bytes = read_bytes(size);
        if (bytes <= 0) continue;
        if (strcmp(level, "1") == 0) target->l1d_bytes = bytes;
        if (strcmp(level, "2") == 0) target->l2_bytes = bytes;
        if (strcmp(level, "3") == 0) target->l3_bytes = bytes;
    }
    if (read_of_cache(root, core, 0, "coherency_line_size", line, sizeof line)) {
        long bytes = strtol(line, NULL, 10);
        if (bytes >= 16 && bytes <= 4096) target->cache_line_bytes = (int32_t)bytes;
    }
}
