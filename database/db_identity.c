/* database/db_identity.c - content identities and copies of rows, shared by the backends. */
#include "database/database_impl.h"

/* The numbers below are part of the file form: each kind of identity hashes with its own seed. */
enum { TRIAL_SEED = 1, SESSION_SEED = 2 };

hone_hash128 hone_db_trial_uid(const char *session, const hone_hash128 *workload,
                               const hone_hash128 *target, int64_t proposal) {
    hone_hasher hasher;
    hone_hasher_init(&hasher, TRIAL_SEED);
    hone_hasher_text(&hasher, session);
    hone_hasher_hash(&hasher, *workload);
    hone_hasher_hash(&hasher, *target);
    hone_hasher_i64(&hasher, proposal);
    return hone_hasher_finish(&hasher);
}

void hone_db_session_id(uint64_t seed, int64_t wall_ns, int64_t pid,
                        char out_id[HONE_HASH_HEX_BYTES]) {
    hone_hasher hasher;
    hone_hasher_init(&hasher, SESSION_SEED);
    hone_hasher_u64(&hasher, seed);
    hone_hasher_i64(&hasher, wall_ns);
    hone_hasher_i64(&hasher, pid);
    hone_hash128_print(hone_hasher_finish(&hasher), out_id);
}

hone_status hone_db_missing(const char *what, const char *identity) {
    return HONE_ERROR(HONE_CODE_INVALID, "the trial's %s '%s' is not in the database", what,
                      identity);
}

/* Copies a text that may be NULL; clears *ok when memory is short. */
static const char *copy_text(hone_arena *arena, const char *text, bool *ok) {
    const char *copy = text ? hone_arena_strdup(arena, text) : NULL;
    if (text && !copy) *ok = false;
    return copy;
}

static const void *copy_array(hone_arena *arena, const void *data, size_t bytes, bool *ok) {
    const void *copy = data && bytes ? hone_arena_copy(arena, data, bytes) : NULL;
    if (data && bytes && !copy) *ok = false;
    return copy;
}

hone_db_trial *hone_db_trial_copy(hone_arena *arena, const hone_db_trial *trial) {
    hone_db_trial *copy = hone_arena_copy(arena, trial, sizeof *trial);
    if (!copy) return NULL;
    bool ok = true;
    copy->session = copy_text(arena, trial->session, &ok);
    copy->trace = copy_text(arena, trial->trace, &ok);
    copy->outcome = copy_text(arena, trial->outcome, &ok);
    copy->message = copy_text(arena, trial->message, &ok);
    copy->drift = copy_text(arena, trial->drift, &ok);
    copy->device = copy_text(arena, trial->device, &ok);
    copy->samples_ns =
        copy_array(arena, trial->samples_ns, trial->sample_count * sizeof *trial->samples_ns, &ok);
    size_t cells = (size_t)trial->feature_rows * trial->feature_columns;
    copy->features = copy_array(arena, trial->features, cells * sizeof *trial->features, &ok);
    return ok ? copy : NULL;
}
