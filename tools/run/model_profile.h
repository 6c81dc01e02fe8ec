/* tools/run/model_profile.h - what each kernel of a compiled model takes in place.
 *
 * A kernel is told apart by its workload and the origin of its schedule; all places that call it
 * are one. A round is any number of calls of the model, of which the fastest counts for each
 * kernel: what disturbs a machine never makes one faster.
 */
#ifndef HONE_TOOLS_RUN_MODEL_PROFILE_H
#define HONE_TOOLS_RUN_MODEL_PROFILE_H

#include "support/core/arena.h"
#include "support/data/vec.h"
#include "tools/run/timed_model.h"

typedef struct hone_kernel_profile {
    const char *name, *workload, *origin; /* in the arena */
    double flops, bytes;                  /* of all calls together */
    uint32_t calls;                       /* in one call of the model */
    HONE_VEC(double) times_ns;            /* of all these together, by round */
    double call_ns, round_ns;             /* of the call and round that go on */
} hone_kernel_profile;

typedef struct hone_model_profile {
    hone_arena *arena;                     /* not owned */
    HONE_VEC(hone_kernel_profile) kernels; /* in the order of their first calls */
    size_t next;                           /* the kernel that is expected */
    bool is_first;                         /* calls are counted */
    bool failed;                           /* memory was short */
} hone_model_profile;

void hone_model_profile_init(hone_model_profile *profile, hone_arena *arena);
void hone_model_profile_deinit(hone_model_profile *profile);

/* One round of `calls` calls of a model. UNSUPPORTED: a model that tells nothing. */
HONE_NODISCARD hone_status hone_model_profile_round(hone_model_profile *profile,
                                                    hone_timed_model *model, int64_t calls);
/* NULL: there is none. */
const hone_kernel_profile *hone_model_profile_find(const hone_model_profile *profile,
                                                   const char *workload);

#endif
