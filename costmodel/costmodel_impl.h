/* costmodel/costmodel_impl.h - for backends only; everybody else includes costmodel.h.
 *
 * The dispatcher (costmodel.c) has checked the arguments and holds the handle's lock, except
 * around score, which runs in many threads at once, also beside the others.
 */
#ifndef HONE_COSTMODEL_COSTMODEL_IMPL_H
#define HONE_COSTMODEL_COSTMODEL_IMPL_H

#include <math.h>

#include "costmodel/costmodel.h"
#include "support/os/thread.h"

typedef struct hone_costmodel_vtable {
    const char *name;
    void (*destroy)(hone_costmodel *self);
    hone_status (*add)(hone_costmodel *self, const hone_costmodel_sample *samples, size_t count);
    /* True when enough was added since the last training. */
    bool (*is_due)(const hone_costmodel *self);
    hone_status (*train)(hone_costmodel *self);
    hone_status (*score)(hone_costmodel *self, const hone_hash128 *group,
                         const hone_costmodel_rows *candidates, size_t count, float *out_scores);
    /* NULL: it knows no doubt */
    hone_status (*doubt)(hone_costmodel *self, const hone_hash128 *group,
                         const hone_costmodel_rows *candidates, size_t count, float *out_doubts);
    void (*quality)(hone_costmodel *self, hone_costmodel_quality *out_quality);
} hone_costmodel_vtable;

struct hone_costmodel {
    const hone_costmodel_vtable *vt;
    hone_mutex lock;
    hone_costmodel_options options; /* with the defaults filled in */
};

/* Begins a handle; checks the options and fills in the defaults. */
HONE_NODISCARD hone_status hone_costmodel_init(hone_costmodel *model,
                                               const hone_costmodel_vtable *vt,
                                               const hone_costmodel_options *options);

/* A number in [0, 1) that depends on seed and features alone. */
float hone_costmodel_random_score(uint64_t seed, uint32_t feature_count,
                                  const hone_costmodel_rows *candidate);

static inline bool hone_costmodel_failed(double time_ns) {
    return !(time_ns > 0); /* NAN too */
}

#endif
