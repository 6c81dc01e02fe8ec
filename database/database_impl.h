/* database/database_impl.h - for backends only; everybody else includes database.h.
 *
 * The dispatcher (database.c) holds the handle's lock around every call, has checked the arguments
 * and cleared the outputs. A backend does only its work.
 */
#ifndef HONE_DATABASE_DATABASE_IMPL_H
#define HONE_DATABASE_DATABASE_IMPL_H

#include <math.h>

#include "database/database.h"
#include "support/os/thread.h"

/* What the public reading calls come down to. */
typedef enum hone_db_confirmed {
    HONE_DB_CONFIRMED_ANY,
    HONE_DB_CONFIRMED_ONLY,
    HONE_DB_CONFIRMED_NOT,
} hone_db_confirmed;

typedef struct hone_db_query {
    hone_db_filter filter;
    hone_db_confirmed confirmed;
    bool by_confirmed; /* order by confirmed_ns, then uid; overrides filter.order */
} hone_db_query;       /* the order BEST is made of two of these by the dispatcher */

typedef struct hone_db_vtable {
    const char *name;
    void (*destroy)(hone_db *self);
    hone_status (*put_workload)(hone_db *self, const hone_db_workload *workload);
    hone_status (*put_target)(hone_db *self, const hone_db_target *target);
    hone_status (*begin_session)(hone_db *self, const hone_db_session *session);
    hone_status (*end_session)(hone_db *self, const char *id, const char *state, int64_t ended_ns);
    /* All or none. out_record gets the number of the last one. `uid` of the trials is not set:
     * hone_db_trial_uid. */
    hone_status (*commit)(hone_db *self, const hone_db_trial *trials, size_t count,
                          int64_t *out_record);
    hone_status (*confirm)(hone_db *self, int64_t record, double confirmed_ns,
                           int64_t confirmed_at_ns);
    /* Take the place of rows with the same identity; trials by record, all or none. */
    hone_status (*replace_workload)(hone_db *self, const hone_db_workload *workload);
    hone_status (*replace_session)(hone_db *self, const hone_db_session *session);
    hone_status (*replace)(hone_db *self, const hone_db_trial *trials, size_t count);
    hone_status (*prune)(hone_db *self, int64_t keep, int64_t *out_removed);
    hone_status (*query)(hone_db *self, const hone_db_query *query, hone_db_visit_trial visit,
                         void *ctx);
    hone_status (*history)(hone_db *self, const hone_hash128 *workload, const hone_hash128 *target,
                           hone_db_visit_moment visit, void *ctx);
    /* The records whose uid begins with this lower-case hex prefix: 0, 1 or 2 (= several); the
     * first goes to out_record. */
    hone_status (*find_uid)(hone_db *self, const char *prefix, int *out_count, int64_t *out_record);
    hone_status (*has_program)(hone_db *self, const hone_hash128 *workload,
                               const hone_hash128 *target, const hone_hash128 *program,
                               int64_t last_record, bool *out_has);
    hone_status (*workloads)(hone_db *self, const hone_hash128 *hash, hone_db_visit_workload visit,
                             void *ctx);
    hone_status (*targets)(hone_db *self, const hone_hash128 *hash, hone_db_visit_target visit,
                           void *ctx);
    hone_status (*sessions)(hone_db *self, const char *id, hone_db_visit_session visit, void *ctx);
    hone_status (*tasks)(hone_db *self, hone_db_visit_task visit, void *ctx);
    hone_status (*failures)(hone_db *self, hone_db_visit_failure visit, void *ctx);
    hone_status (*stats)(hone_db *self, hone_db_stats *out_stats);
    /* Of handles that read alone; NULL where nothing needs to be done. */
    hone_status (*begin_look)(hone_db *self);
    void (*end_look)(hone_db *self);
    hone_status (*check)(hone_db *self, hone_db_report report, void *ctx);
    /* NULL where there is no SQL. */
    hone_status (*select)(hone_db *self, const hone_db_statement *statement,
                          hone_db_visit_row visit, void *ctx);
} hone_db_vtable;

struct hone_db {
    const hone_db_vtable *vt;
    hone_mutex lock;
    bool read_only;
};

void hone_db_init(hone_db *db, const hone_db_vtable *vt);

/* A copy of a trial with all that it points to; NULL when memory is short. */
hone_db_trial *hone_db_trial_copy(hone_arena *arena, const hone_db_trial *trial);

/* Ends the sessions whose process is no more, as killed when their last trial came. */
HONE_NODISCARD hone_status hone_db_end_killed(hone_db *db);

/* INVALID, with the words for it. */
HONE_NODISCARD hone_status hone_db_need_writable(const hone_db *db);
HONE_NODISCARD hone_status hone_db_check_trial(const hone_db_trial *trial);
HONE_NODISCARD hone_status hone_db_missing(const char *what, const char *identity);

/* Joins what another database knows of the same row (db_join.c); whether there was news. Texts and
 * arrays are not copied. */
bool hone_db_join_workloads(hone_db_workload *into, const hone_db_workload *from);
bool hone_db_join_sessions(hone_db_session *into, const hone_db_session *from);
bool hone_db_join_trials(hone_db_trial *into, const hone_db_trial *from);

#endif
