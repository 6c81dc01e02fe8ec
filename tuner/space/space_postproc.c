/* tuner/space/space_postproc.c - what every candidate goes through after its decisions: loops get
 * their kinds and threads, reductions are decomposed; candidates that no compiler should see are
 * dropped. */
#include "compile/first_schedule.h"
#include "schedule/gpu/gpu_sketch.h"
#include "schedule/nests/auto_loops.h"
#include "schedule/primitive/primitives.h"
#include "tuner/space/space_rule.h"

hone_status hone_postprocess(hone_schedule *sch, const hone_target *target) {
    const hone_gpu_limits limits = hone_gpu_limits_of(target);
    hone_device_sort device = hone_target_device(target);
    HONE_TRY(hone_sch_enter_postproc(sch));
#define HONE_POSTPROC(devices, call)                                                               \
    if ((devices)&device) HONE_TRY(call);
#include "tuner/space/postprocs.def"
#undef HONE_POSTPROC
    return HONE_OK;
}
