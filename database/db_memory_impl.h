/* database/db_memory_impl.h - for the files of the memory backend: the arrays, and what is asked of
 * their rows. */
#ifndef HONE_DATABASE_DB_MEMORY_IMPL_H
#define HONE_DATABASE_DB_MEMORY_IMPL_H

#include <string.h>

#include "database/database_impl.h"
#include "support/data/map.h"
#include "support/data/vec.h"

typedef HONE_VEC(hone_db_workload *) workload_vec;
typedef HONE_VEC(hone_db_target *) target_vec;
typedef HONE_VEC(hone_db_session *) session_vec;
typedef HONE_VEC(hone_db_trial *) trial_vec;

typedef struct db_memory {
    hone_db base; /* first: a db_memory * is an hone_db * */
    hone_arena *arena;
    workload_vec workloads;
    target_vec targets;
    session_vec sessions;
    trial_vec trials; /* by record */
    hone_map128 uids; /* of the trials */
} db_memory;

static inline hone_status db_memory_no_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "database in memory");
}

static inline int db_memory_compare(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

/* The trial is of this workload and target. */
static inline bool db_memory_is_of(const hone_db_trial *trial, const hone_hash128 *workload,
                                   const hone_hash128 *target) {
    return hone_hash128_equal(trial->workload, *workload) &&
           hone_hash128_equal(trial->target, *target);
}

static inline bool db_memory_is_ok(const hone_db_trial *trial) {
    return strcmp(trial->outcome, HONE_DB_OUTCOME_OK) == 0;
}

/* NULL: there is none of this hash. */
hone_db_workload *db_memory_workload(const db_memory *db, const hone_hash128 *hash);

/* Functions of the table (db_memory_sums.c). */
hone_status db_memory_tasks(hone_db *base, hone_db_visit_task visit, void *ctx);
hone_status db_memory_failures(hone_db *base, hone_db_visit_failure visit, void *ctx);
hone_status db_memory_stats(hone_db *base, hone_db_stats *out);

#endif
