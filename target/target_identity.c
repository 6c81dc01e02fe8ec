/* target/target_identity.c - what makes targets the same for records, and what only describes them.
 *
 * Code depends on architecture, features, vector width and threads. The CPU's name, its caches and
 * cores steer defaults and search: what was measured under others runs here as well. */
#include <string.h>

#include "target/target_impl.h"

/* Features that LLVM knows and the table here does not, as they were given. */
static void print_other_features(const hone_target *target, hone_str *out) {
    const char *at = target->features;
    while (*at) {
        size_t length = strcspn(at, ",");
        bool is_other = length > 1 && cpu_feature_find(at + 1, length - 1) == CPU_FEATURE_COUNT;
        if (is_other) hone_str_printf(out, " %.*s", (int)length, at);
        at += length + (at[length] == ',');
    }
}

static void print_identity(const hone_target *target, hone_str *out) {
    if (hone_target_is_gpu(target)) {
        hone_target_print(target, out);
        return;
    }
    hone_str_printf(out, "%s %s %d bits %d threads", hone_target_kind_name(target->kind),
                    hone_target_arch(target), (int)target->vector_bits, (int)target->num_threads);
    uint64_t set = hone_target_features(target);
    for (int i = 0; i < CPU_FEATURE_COUNT; i++) {
        if ((set >> i) & 1) hone_str_printf(out, " %s", cpu_feature_name((cpu_feature)i));
    }
    print_other_features(target, out);
}

hone_hash128 hone_target_identity(const hone_target *target) {
    hone_str text = {0};
    print_identity(target, &text);
    hone_hash128 hash = hone_hash128_text(hone_str_text(&text));
    hone_str_deinit(&text);
    return hash;
}

/* ---- in words ---- */

static void say_text(const char *name, const char *there, const char *here, hone_str *out) {
    if (strcmp(there, here) == 0) return;
    hone_str_printf(out, "%s%s is %s, here %s", out->length ? "; " : "", name,
                    *there ? there : "none", *here ? here : "none");
}

static void say_number(const char *name, int64_t there, int64_t here, hone_str *out) {
    if (there == here) return;
    hone_str_printf(out, "%s%s is %lld, here %lld", out->length ? "; " : "", name, (long long)there,
                    (long long)here);
}

void hone_target_print_differences(const hone_target *there, const hone_target *here,
                                   hone_str *out) {
    say_text("the kind", hone_target_kind_name(there->kind), hone_target_kind_name(here->kind),
             out);
    say_text("mtriple", there->triple, here->triple, out);
    say_text("mcpu", there->cpu, here->cpu, out);
    say_text("mattr", there->features, here->features, out);
    say_number("vector-width", there->vector_bits, here->vector_bits, out);
    say_number("num-threads", there->num_threads, here->num_threads, out);
    say_number("num-cores", there->num_cores, here->num_cores, out);
    say_number("cache-line", there->cache_line_bytes, here->cache_line_bytes, out);
    say_number("l1d-cache", there->l1d_bytes, here->l1d_bytes, out);
    say_number("l2-cache", there->l2_bytes, here->l2_bytes, out);
    say_number("l3-cache", there->l3_bytes, here->l3_bytes, out);
    say_number("max_threads_per_block", there->max_threads_per_block, here->max_threads_per_block,
               out);
    say_number("thread_warp_size", there->warp_size, here->warp_size, out);
    say_number("max_shared_memory_per_block", there->max_shared_bytes, here->max_shared_bytes, out);
    say_number("registers_per_block", there->registers_per_block, here->registers_per_block, out);
}

static void say_set(const char *word, uint64_t set, hone_str *out) {
    if (!set) return;
    hone_str_printf(out, " (%s ", word);
    hone_target_list_features(set, out);
    hone_str_append(out, ")");
}

/* Names that bring the same features are no obstacle. */
static void say_features(const hone_target *there, const hone_target *here, hone_str *out) {
    uint64_t had = hone_target_features(there), has = hone_target_features(here);
    hone_str others_there = {0}, others_here = {0};
    print_other_features(there, &others_there);
    print_other_features(here, &others_here);
    bool is_same =
        had == has && strcmp(hone_str_text(&others_there), hone_str_text(&others_here)) == 0;
    out->failed |= others_there.failed || others_here.failed;
    hone_str_deinit(&others_there);
    hone_str_deinit(&others_here);
    if (is_same) return;
    say_text("mcpu", there->cpu, here->cpu, out);
    say_text("mattr", there->features, here->features, out);
    say_set("without", had & ~has, out);
    say_set("with", has & ~had, out);
}

void hone_target_print_obstacles(const hone_target *there, const hone_target *here, hone_str *out) {
    bool is_gpu = hone_target_is_gpu(there) || hone_target_is_gpu(here);
    bool is_same_arch = strcmp(hone_target_arch(there), hone_target_arch(here)) == 0;
    if (is_gpu || there->kind != here->kind || !is_same_arch) {
        hone_target_print_differences(there, here, out);
        return;
    }
    say_features(there, here, out);
    say_number("vector-width", there->vector_bits, here->vector_bits, out);
    say_number("num-threads", there->num_threads, here->num_threads, out);
}
