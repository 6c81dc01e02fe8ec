/* compile/first_schedule.c - what the rooms of schedules, which know no target, are told of it. */
#include "compile/first_schedule.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/defaults/default_schedule.h"
#include "schedule/defaults/pairs.h"
#include "schedule/gpu/gpu_sketch.h"
#include "schedule/primitive/primitives.h"

enum { FIRST_WITH_MATRICES = 70, FIRST_WITH_BFLOATS = 80, FIRST_WITH_COPIES = 80 };

/* 90 of "sm_90a"; 0 for devices of others. */
static long capability(const hone_target *target) {
    return strncmp(target->cpu, "sm_", 3) == 0 ? strtol(target->cpu + 3, NULL, 10) : 0;
}

static bool has_group_units(const hone_target *target) {
    return strcmp(target->cpu, "sm_90a") == 0;
}

hone_gpu_limits hone_gpu_limits_of(const hone_target *target) {
    return (hone_gpu_limits){
        .block_threads = target->max_threads_per_block,
        .warp = target->warp_size,
        .multiprocessors = target->num_cores > 1 ? target->num_cores : 0,
        .shared_bytes = target->max_shared_bytes,
        .registers = target->registers_per_block,
        .has_matrix_units = capability(target) >= FIRST_WITH_MATRICES,
        .has_bfloat_units = capability(target) >= FIRST_WITH_BFLOATS,
        .has_group_units = has_group_units(target),
        .copies_while_computing = capability(target) >= FIRST_WITH_COPIES,
    };
}

void hone_note_device(hone_graph_options *options, const hone_target *target) {
    bool has_matrices = capability(target) >= FIRST_WITH_COPIES;
    options->matrix_shared_bytes = has_matrices ? target->max_shared_bytes : 0;
    options->has_group_units = has_group_units(target);
    options->is_for_many_threads = hone_target_is_gpu(target);
}

static hone_default_limits limits_of(const hone_target *target, uint64_t constants) {
    return (hone_default_limits){
        .threads = target->num_threads,
        .vector_lanes = hone_target_lanes(target, 32),
        .vector_registers = hone_target_vector_registers(target),
        .l1_bytes = target->l1d_bytes,
        .l2_bytes = target->l2_bytes,
        .constants = constants,
    };
}

hone_status hone_first_schedule(hone_schedule *sch, const hone_target *target, uint64_t constants) {
    if (hone_target_is_gpu(target)) {
        const hone_gpu_limits limits = hone_gpu_limits_of(target);
        return hone_gpu_schedule(sch, &limits);
    }
    const hone_default_limits limits = limits_of(target, constants);
    return hone_default_schedule(sch, &limits);
}

hone_status hone_first_open_schedule(hone_schedule *sch, const hone_target *target,
                                     uint64_t constants, const int64_t *open_extents) {
    hone_default_limits limits = limits_of(target, constants);
    if (hone_target_is_gpu(target)) return hone_first_schedule(sch, target, constants);
    limits.are_sizes_open = true;
    limits.open_extents = open_extents;
    return hone_default_schedule(sch, &limits);
}

/* Leaves the program as it was where it does not become one of pairs, or these do not pay. */
static hone_status take_pairs(hone_schedule *sch, const hone_target *target, uint64_t constants) {
    const hone_default_limits limits = limits_of(target, constants);
    hone_status st = hone_sch_use_variant(sch, hone_variant_find("pairs"));
    if (hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    bool is_taken = !st && hone_pairs_pay(sch, &limits);
    hone_status_free(st);
    return is_taken ? HONE_OK : hone_schedule_reset(sch);
}

static bool has_tensorized(const hone_schedule *sch) {
    for (uint32_t i = 0; i < sch->trace.count; i++)
        if (sch->trace.insts[i].kind == HONE_INST_TENSORIZE) return true;
    return false;
}

bool hone_first_serves(const hone_variant *variant, const hone_target *target) {
    bool is_tf32 = !variant->program && strcmp(variant->name, "tf32") == 0;
    if (hone_target_is_gpu(target))
        return variant->program || (is_tf32 && capability(target) >= FIRST_WITH_BFLOATS);
    return !is_tf32;
}

/* The whole schedule of the variant, or the program as it was where matrix units have no part in
 * it.
 */
static hone_status take_tf32(hone_schedule *sch, const hone_target *target, bool *out_is_taken) {
    hone_status st = hone_sch_use_variant(sch, hone_variant_find("tf32"));
    if (!st) st = hone_first_schedule(sch, target, 0);
    *out_is_taken = !st && has_tensorized(sch);
    if (*out_is_taken || hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    hone_status_free(st);
    return hone_schedule_reset(sch);
}

hone_status hone_first_choice(hone_schedule *sch, const hone_target *target, uint64_t constants,
                              const hone_variant_rules *rules) {
    const hone_variant *tf32 = hone_variant_find("tf32");
    if (hone_first_serves(tf32, target) && hone_variant_is_allowed(tf32, rules)) {
        bool is_taken;
        HONE_TRY(take_tf32(sch, target, &is_taken));
        if (is_taken) return HONE_OK;
    }
    bool has_pairs = !hone_target_is_gpu(target) && hone_target_has_feature(target, "avx512bf16");
    if (has_pairs && hone_variant_is_allowed(hone_variant_find("pairs"), rules))
        HONE_TRY(take_pairs(sch, target, constants));
    return hone_first_schedule(sch, target, constants);
}

hone_status hone_first_winograd(hone_schedule *sch, const hone_target *target, uint64_t constants,
                                const hone_winograd_way *way) {
    const hone_default_limits limits = limits_of(target, constants);
    return hone_default_winograd(sch, &limits, way);
}

hone_status hone_plain_schedule(hone_schedule *sch, const hone_target *target) {
    if (!hone_target_is_gpu(target)) return HONE_OK;
    const hone_gpu_limits limits = hone_gpu_limits_of(target);
    return hone_gpu_bind_rest(sch, &limits);
}
