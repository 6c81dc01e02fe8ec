/* runner/farm/blob_cache.h - files on a runner's disk, by the hash of their content.
 *
 *     begin ─► write… ─► commit (hash checked) ─► entry ─► pin ─► path for an executor ─► unpin
 *        └──────────────► abandon                    └─(room is wanted, least lately used)─► gone
 *
 * An entry is hashed again before its first use in a process, and whenever the file has changed
 * since; what does not match its name is removed. Drafts count as used room from the beginning; a
 * disk that is full makes room by dropping entries before anything fails. Files in use (pinned)
 * are never dropped. A directory belongs to one process at a time.
 *
 * Lifetime: open/close; drafts end before it. Threads: one at a time.
 */
#ifndef HONE_RUNNER_FARM_BLOB_CACHE_H
#define HONE_RUNNER_FARM_BLOB_CACHE_H

#include <stdint.h>

#include "net/blob_hash.h"
#include "support/core/status.h"

typedef struct hone_blob_cache hone_blob_cache;

typedef struct hone_blob_draft {
    hone_blob_hash hash;
    int64_t bytes;
    int fd; /* -1: none */
} hone_blob_draft;

/* Makes the directory (private) when it is not there; drafts that a dead process left are removed,
 * names that are not the cache's are left alone. UNAVAILABLE: another process uses it; IO. */
HONE_NODISCARD hone_status hone_blob_cache_open(const char *dir, int64_t max_bytes,
                                                hone_blob_cache **out_cache);
void hone_blob_cache_close(hone_blob_cache *cache); /* NULL is allowed */

/* Makes and takes the directory again where somebody has removed it; its entries are found missing
 * when they are pinned. Failures as _open, and IO where what is there now is a link, or somebody
 * else's; then try again later. */
HONE_NODISCARD hone_status hone_blob_cache_mend(hone_blob_cache *cache);

/* The file's absolute path, the cache's until the matching _unpin; pins are counted. NOT_FOUND: it
 * is not there (any more), or was damaged. */
HONE_NODISCARD hone_status hone_blob_cache_pin(hone_blob_cache *cache, const hone_blob_hash *hash,
                                               const char **out_path);
void hone_blob_cache_unpin(hone_blob_cache *cache, const hone_blob_hash *hash);

/* Takes room for a file. UNAVAILABLE: what is in use leaves too little room; IO: the disk does. */
HONE_NODISCARD hone_status hone_blob_cache_begin(hone_blob_cache *cache, const hone_blob_hash *hash,
                                                 int64_t bytes, hone_blob_draft *out_draft);
/* INVALID: not within the file; IO. */
HONE_NODISCARD hone_status hone_blob_draft_write(hone_blob_draft *draft, int64_t offset,
                                                 const void *bytes, size_t count);
/* The draft becomes an entry. INVALID: the content is not what its hash says; IO. Ends the draft
 * always. */
HONE_NODISCARD hone_status hone_blob_cache_commit(hone_blob_cache *cache, hone_blob_draft *draft);
void hone_blob_cache_abandon(hone_blob_cache *cache, hone_blob_draft *draft);

typedef struct hone_blob_cache_stats {
    int64_t bytes; /* of entries and drafts */
    size_t entries;
} hone_blob_cache_stats;
hone_blob_cache_stats hone_blob_cache_get_stats(const hone_blob_cache *cache);

#endif
