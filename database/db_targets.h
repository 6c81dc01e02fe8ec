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
#include "target/target.h"

/* The target itself, then those like it: fewest differences first, then by hash. As `target` and
 * `target_count` of a filter the hashes ask for all records that serve. */
typedef struct hone_db_alikes {
    size_t count;                   /* at least 1 */
    const hone_hash128 *hashes;     /* in the arena, as all of it */
    const char *const *differences; /* in words; NULL: the very target */
    bool is_known;                  /* the very target is in the database */
} hone_db_alikes;

HONE_NODISCARD hone_status hone_db_targets_alike(hone_db *db, const hone_target *target,
                                                 hone_arena *arena, hone_db_alikes *out);
/* Where a target stands among them; out->count = it does not serve. */
size_t hone_db_alikes_find(const hone_db_alikes *alikes, hone_hash128 hash);

#endif
