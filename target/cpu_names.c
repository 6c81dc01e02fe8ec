/* target/cpu_names.c - names of CPUs and features as LLVM knows them, and what they imply.
 *
 * Thread-safe: constant tables only. */
#include <string.h>

#include "support/core/attributes.h"
#include "support/text/nearest.h"
#include "target/cpu_info.h"

/* The first member is what hone_name_suggest() reads. */
typedef struct name_row {
    const char *name, *implied;
} name_row;

#define ROW(name, implied) {name, implied},

static const name_row x86_cpus[] = {
#define HONE_X86_CPU ROW
#include "target/cpu_names.def"
#undef HONE_X86_CPU
};
static const name_row x86_features[] = {
#define HONE_X86_FEATURE ROW
#include "target/cpu_names.def"
#undef HONE_X86_FEATURE
};
static const name_row arm_cpus[] = {
#define HONE_ARM_CPU ROW
#include "target/cpu_names.def"
#undef HONE_ARM_CPU
};
static const name_row arm_features[] = {
#define HONE_ARM_FEATURE ROW
#include "target/cpu_names.def"
#undef HONE_ARM_FEATURE
};

typedef struct name_list {
    const name_row *rows;
    size_t count;
} name_list;

static name_list cpus_of(cpu_arch arch) {
    if (arch == CPU_ARCH_X86) return (name_list){x86_cpus, HONE_COUNT(x86_cpus)};
    if (arch == CPU_ARCH_ARM) return (name_list){arm_cpus, HONE_COUNT(arm_cpus)};
    return (name_list){NULL, 0};
}

static name_list features_of(cpu_arch arch) {
    if (arch == CPU_ARCH_X86) return (name_list){x86_features, HONE_COUNT(x86_features)};
    if (arch == CPU_ARCH_ARM) return (name_list){arm_features, HONE_COUNT(arm_features)};
    return (name_list){NULL, 0};
}

static const name_row *find(name_list list, const char *name, size_t length) {
    for (size_t i = 0; i < list.count; i++) {
        const char *known = list.rows[i].name;
        if (strlen(known) == length && memcmp(known, name, length) == 0) return &list.rows[i];
    }
    return NULL;
}

/* "avx,avx2" as a set. */
static uint64_t read_set(const char *list) {
    uint64_t set = 0;
    while (*list) {
        size_t length = strcspn(list, ",");
        cpu_feature feature = cpu_feature_find(list, length);
        if (feature < CPU_FEATURE_COUNT) set |= UINT64_C(1) << feature;
        list += length + (list[length] == ',');
    }
    return set;
}

/* What goes when a feature is switched off: it, and all that imply it. */
static uint64_t dependents(cpu_arch arch, uint64_t bit) {
    name_list all = features_of(arch);
    uint64_t set = bit;
    for (size_t i = 0; i < all.count; i++) {
        if (bit && (read_set(all.rows[i].implied) & bit)) {
            cpu_feature other = cpu_feature_find(all.rows[i].name, strlen(all.rows[i].name));
            if (other < CPU_FEATURE_COUNT) set |= UINT64_C(1) << other;
        }
    }
    return set;
}

bool cpu_name_features(cpu_arch arch, const char *name, uint64_t *out_features) {
    const name_row *row = find(cpus_of(arch), name, strlen(name));
    *out_features = row ? read_set(row->implied) : 0;
    return row != NULL;
}

bool cpu_feature_is_known(cpu_arch arch, const char *name, size_t length) {
    return find(features_of(arch), name, length) != NULL;
}

uint64_t cpu_features_apply(cpu_arch arch, uint64_t set, const char *differences) {
    const char *at = differences;
    while (*at) {
        size_t length = strcspn(at, ",");
        const name_row *row = length > 1 ? find(features_of(arch), at + 1, length - 1) : NULL;
        if (row && at[0] == '+') set |= read_set(row->implied);
        if (row && at[0] == '-') {
            cpu_feature feature = cpu_feature_find(at + 1, length - 1);
            uint64_t bit = feature < CPU_FEATURE_COUNT ? UINT64_C(1) << feature : 0;
            set &= ~dependents(arch, bit);
        }
        at += length + (at[length] == ',');
    }
    return set;
}

/* The name that was meant: equal but for case; the shortest that begins so ("avx512": avx512f); one
 * that is near. */
static const char *suggest(name_list list, const char *text) {
    const char *longer = NULL;
    size_t length = strlen(text);
    for (size_t i = 0; i < list.count; i++) {
        const char *name = list.rows[i].name;
        if (hone_name_is_same_but_case(text, name)) return name;
        bool begins_so = length >= 3 && strncmp(name, text, length) == 0;
        if (begins_so && (!longer || strlen(name) < strlen(longer))) longer = name;
    }
    return longer ? longer : hone_name_suggest(text, list.rows, list.count, sizeof(name_row));
}

const char *cpu_name_suggest(cpu_arch arch, const char *text) {
    return suggest(cpus_of(arch), text);
}

const char *cpu_feature_suggest(cpu_arch arch, const char *text) {
    return suggest(features_of(arch), text);
}
