/* database/db_targets.h - the targets whose records serve a target.
 *
 * Targets are stored under the hash of their whole text. Those with the same identity
 * (hone_target_identity) share records: they differ in what only describes a machine. A text that
 * cannot be read is like no other.
 *
 * Threads: as the database's. Layer: may include target/.
 */
#ifndef HONE_DATABASE_DB_TARGETS_H
#define HONE_DATABASE_DB_TARGETS_H

#include "database/database.h"
#include "support/vec.h"
#include "target/target.h"

typedef struct hone_db_alike {
    hone_hash128 hash;
    const char *difference; /* in words; NULL: the very target */
} hone_db_alike;

typedef HONE_VEC(hone_db_alike) hone_db_alikes;

/* The target itself, known or not, then the others in the order they were put. The words live in
 * the arena, the list is the caller's (hone_vec_deinit). */
HONE_NODISCARD hone_status hone_db_targets_alike(hone_db *db, const hone_target *target,
                                                 hone_arena *arena, hone_db_alikes *out);
bool hone_db_alikes_have(const hone_db_alikes *alikes, hone_hash128 hash);

/* Under which hash records of the target are kept: its own when the database knows it or none like
 * it, else that of the first that is like it. */
HONE_NODISCARD hone_status hone_db_target_kept(hone_db *db, const hone_target *target,
                                               hone_hash128 *out_hash);

#endif
