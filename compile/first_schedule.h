/* compile/first_schedule.h - the schedule of a program for which nothing was measured yet: by what
 * the target is. */
#ifndef HONE_COMPILE_FIRST_SCHEDULE_H
#define HONE_COMPILE_FIRST_SCHEDULE_H

#include "graph/module/graph_options.h"
#include "schedule/defaults/winograd.h"
#include "schedule/gpu/gpu_schedule.h"
#include "schedule/variant/variant.h"
#include "target/target.h"

/* What schedules for a GPU are told of it. */
hone_gpu_limits hone_gpu_limits_of(const hone_target *target);

/* Notes in the options of graph passes what they ask of a device. */
void hone_note_device(hone_graph_options *options, const hone_target *target);

/* Schedules a program that was just reset, by schedule/gpu for GPUs, by schedule/defaults for
 * others. constants: bit i says that the i-th parameter that is a buffer never changes. Fails as
 * these do: ILLEGAL and INVALID never come out of it. */
HONE_NODISCARD hone_status hone_first_schedule(hone_schedule *sch, const hone_target *target,
                                               uint64_t constants);
/* hone_first_schedule of a program whose sizes stand for others that are not known. open_extents:
 * hone_default_limits. */
HONE_NODISCARD hone_status hone_first_open_schedule(hone_schedule *sch, const hone_target *target,
                                                    uint64_t constants,
                                                    const int64_t *open_extents);

/* Whether a variant is for a device: a user's for all, TF32 for GPUs whose matrix units take it,
 * the others for CPUs. */
bool hone_first_serves(const hone_variant *variant, const hone_target *target);

/* hone_first_schedule of the program or of a variant of it that the rules allow: that of pairs,
 * where the CPU has dot products of bfloat16 and they pay; that of TF32, where matrix units of a
 * GPU take it up. */
HONE_NODISCARD hone_status hone_first_choice(hone_schedule *sch, const hone_target *target,
                                             uint64_t constants, const hone_variant_rules *rules);

/* Schedules a program that has just become one of Winograd's variants, for a CPU, in a way of the
 * caller's. ILLEGAL: it is none, or the way does not go. */
HONE_NODISCARD hone_status hone_first_winograd(hone_schedule *sch, const hone_target *target,
                                               uint64_t constants, const hone_winograd_way *way);

/* Schedules a program that was just reset no further than its target demands: not at all for a CPU;
 * for a GPU every nest is shared out as it stands. Fails as hone_first_schedule does. */
HONE_NODISCARD hone_status hone_plain_schedule(hone_schedule *sch, const hone_target *target);

#endif
