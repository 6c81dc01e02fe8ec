/* tuner/loop/put_back.c - see put_back.h. */
#include "tuner/loop/put_back.h"

#include <math.h>

#include "support/os/clock.h"

enum { MOST_MOVED = 64 };
#define LEAST_RATIO (1 + 1e-6)

typedef struct found {
    int64_t record;
    double confirmed_ns, ns;
} found;

static bool note(void *ctx, const hone_db_trial *trial) {
    *(found *)ctx = (found){trial->record, trial->confirmed_ns, hone_db_trial_ns(trial)};
    return false;
}

/* Record 0: there is none. program NULL: any. */
static hone_status find_best(hone_db *db, const hone_hash128 *workload, const hone_hash128 *target,
                             const hone_hash128 *program, found *out) {
    const hone_db_filter filter = {.workload = workload,
                                   .target = target,
                                   .program = program,
                                   .order = HONE_DB_ORDER_BEST,
                                   .limit = 1};
    *out = (found){0};
    return hone_db_trials(db, &filter, note, out);
}

hone_status hone_put_back(hone_db *db, const hone_hash128 *workload, const hone_hash128 *target,
                          const hone_hash128 *program, double ratio) {
    found was, best;
    HONE_TRY(find_best(db, workload, target, program, &was));
    if (!was.record) return HONE_OK;
    if (isnan(was.confirmed_ns))
        HONE_TRY(hone_db_confirm(db, was.record, was.ns, hone_wall_time_ns()));
    double ns = was.ns * (ratio > LEAST_RATIO ? ratio : LEAST_RATIO);
    for (int i = 0; i < MOST_MOVED; i++) {
        HONE_TRY(find_best(db, workload, target, NULL, &best));
        if (best.record == was.record || !best.record) return HONE_OK;
        HONE_TRY(hone_db_confirm(db, best.record, ns, hone_wall_time_ns()));
    }
    return HONE_OK;
}
