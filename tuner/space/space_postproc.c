/* tuner/space/space_postproc.c - what every candidate goes through after its decisions: loops get
 * their kinds, reductions are decomposed; candidates that no compiler should see are dropped. */
#include "schedule/defaults/auto_loops.h"
#include "schedule/primitive/primitives.h"
#include "tuner/space/space_rule.h"

hone_status hone_postprocess(hone_schedule *sch) {
    HONE_TRY(hone_sch_enter_postproc(sch));
#define HONE_POSTPROC(name) HONE_TRY(hone_##name(sch));
#include "tuner/space/postprocs.def"
#undef HONE_POSTPROC
    return HONE_OK;
}
