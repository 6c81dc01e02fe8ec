/* runner/farm/blob_cache.c - a directory of files named by their hash, the least lately used go
 * first.
 *
 * The order survives a restart as the access times of the files.
 */
#include "runner/farm/blob_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/core/alloc.h"
#include "support/data/vec.h"
#include "support/os/fs.h"
#include "support/os/proc.h"

#define MAX_ENTRIES 4096 /* artifacts are used once or twice, so more would not be found again */
#define DRAFT_SUFFIX ".part"
#define LOCK_NAME "lock"

typedef struct entry {
    hone_blob_hash hash;
    int64_t bytes;
    struct timespec used; /* for the order of a scan */
    struct timespec modified;
    ino_t inode;
    uint64_t use; /* counts uses: the least is dropped first */
    uint32_t pins;
    bool is_verified;
    char *path; /* owned */
} entry;

struct hone_blob_cache {
    char *dir; /* absolute, owned */
    int lock_fd;
    int64_t max_bytes, used_bytes;
    uint64_t uses;
    HONE_VEC(entry) entries;
};

static char *path_of(const hone_blob_cache *cache, const hone_blob_hash *hash, const char *suffix) {
    char hex[HONE_BLOB_HASH_HEX_BYTES], name[HONE_BLOB_HASH_HEX_BYTES + sizeof DRAFT_SUFFIX];
    snprintf(name, sizeof name, "%s%s", hone_blob_hash_print(hash, hex), suffix);
    return hone_path_join(cache->dir, name);
}

static entry *find(hone_blob_cache *cache, const hone_blob_hash *hash) {
    for (size_t i = 0; i < cache->entries.count; i++) {
        if (hone_blob_hash_equal(&cache->entries.data[i].hash, hash)) {
            return &cache->entries.data[i];
        }
    }
    return NULL;
}

/* Takes an entry out of the cache; its file is removed. */
static void drop(hone_blob_cache *cache, entry *e) {
    unlink(e->path);
    hone_free(e->path);
    cache->used_bytes -= e->bytes;
    *e = hone_vec_last(&cache->entries);
    (void)hone_vec_pop(&cache->entries);
}

/* False when everything is in use. */
static bool drop_oldest(hone_blob_cache *cache) {
    entry *oldest = NULL;
    for (size_t i = 0; i < cache->entries.count; i++) {
        entry *e = &cache->entries.data[i];
        if (!e->pins && (!oldest || e->use < oldest->use)) oldest = e;
    }
    if (oldest) drop(cache, oldest);
    return oldest != NULL;
}

static void note_facts(entry *e, const struct stat *info) {
    e->bytes = info->st_size;
    e->used = info->st_atim;
    e->modified = info->st_mtim;
    e->inode = info->st_ino;
}

/* Adds a file that is there; used_bytes has it already. */
static hone_status add(hone_blob_cache *cache, const hone_blob_hash *hash, char *path,
                       const struct stat *info, bool is_verified) {
    entry e = {.hash = *hash, .path = path, .use = ++cache->uses, .is_verified = is_verified};
    note_facts(&e, info);
    if (!hone_vec_push(&cache->entries, e)) return HONE_ERROR(HONE_CODE_NO_MEMORY, "blob cache");
    return HONE_OK;
}

/* ---- opening ---- */

static bool is_draft_name(const char *name) {
    char hex[HONE_BLOB_HASH_HEX_BYTES] = {0};
    hone_blob_hash hash;
    if (strlen(name) != sizeof hex - 1 + strlen(DRAFT_SUFFIX)) return false;
    memcpy(hex, name, sizeof hex - 1);
    return hone_blob_hash_parse(hex, &hash) && strcmp(name + sizeof hex - 1, DRAFT_SUFFIX) == 0;
}

typedef struct scan {
    hone_blob_cache *cache;
    hone_status st;
} scan;

static bool visit(void *context, const char *name) {
    scan *s = context;
    hone_blob_hash hash;
    struct stat info;
    bool is_draft = is_draft_name(name);
    if (!is_draft && !hone_blob_hash_parse(name, &hash)) return true;
    char *path = hone_path_join(s->cache->dir, name);
    if (!path) {
        s->st = HONE_ERROR(HONE_CODE_NO_MEMORY, "blob cache");
        return false;
    }
    if (is_draft) unlink(path);
    if (is_draft || lstat(path, &info) != 0 || !S_ISREG(info.st_mode)) {
        hone_free(path);
        return true;
    }
    s->st = add(s->cache, &hash, path, &info, false);
    if (s->st) {
        hone_free(path);
        return false;
    }
    s->cache->used_bytes += info.st_size;
    return true;
}

static int compare_used(const void *a, const void *b) {
    const struct timespec *l = &((const entry *)a)->used, *r = &((const entry *)b)->used;
    if (l->tv_sec != r->tv_sec) return l->tv_sec < r->tv_sec ? -1 : 1;
    return (l->tv_nsec > r->tv_nsec) - (l->tv_nsec < r->tv_nsec);
}

static hone_status scan_dir(hone_blob_cache *cache) {
    scan s = {cache, HONE_OK};
    hone_status st = hone_fs_list(cache->dir, visit, &s);
    if (st || s.st) return hone_status_join(st, s.st);
    if (cache->entries.count) {
        qsort(cache->entries.data, cache->entries.count, sizeof *cache->entries.data, compare_used);
    }
    for (size_t i = 0; i < cache->entries.count; i++)
        cache->entries.data[i].use = ++cache->uses;
    while (cache->used_bytes > cache->max_bytes || cache->entries.count > MAX_ENTRIES) {
        if (!drop_oldest(cache)) break;
    }
    return HONE_OK;
}

static hone_status lock_dir(hone_blob_cache *cache) {
    char *path = hone_path_join(cache->dir, LOCK_NAME);
    if (!path) return HONE_ERROR(HONE_CODE_NO_MEMORY, "blob cache");
    cache->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    hone_free(path);
    if (cache->lock_fd < 0) return HONE_ERROR(HONE_CODE_IO, "%s: %s", cache->dir, strerror(errno));
    if (flock(cache->lock_fd, LOCK_EX | LOCK_NB) != 0) {
        hone_fd_close(&cache->lock_fd);
        return HONE_ERROR(HONE_CODE_UNAVAILABLE, "%s: another process uses this cache", cache->dir);
    }
    /* what lies here is loaded as code */
    if (chmod(cache->dir, 0700) != 0) {
        return HONE_ERROR(HONE_CODE_IO, "%s: %s", cache->dir, strerror(errno));
    }
    return HONE_OK;
}

static hone_status take_dir(hone_blob_cache *cache, const char *dir) {
    HONE_TRY(hone_fs_mkdirs(dir));
    cache->dir = realpath(dir, NULL);
    if (!cache->dir) return HONE_ERROR(HONE_CODE_IO, "%s: %s", dir, strerror(errno));
    return lock_dir(cache);
}

/* A lock file that was removed has no name left. */
static bool is_taken(const hone_blob_cache *cache) {
    struct stat info;
    return cache->lock_fd >= 0 && fstat(cache->lock_fd, &info) == 0 && info.st_nlink > 0;
}

/* In a place where others may write, somebody else may have made what is there now. */
static hone_status check_own(const char *dir) {
    struct stat info;
    if (lstat(dir, &info) != 0) return HONE_ERROR(HONE_CODE_IO, "%s: %s", dir, strerror(errno));
    if (S_ISDIR(info.st_mode) && info.st_uid == geteuid()) return HONE_OK;
    return HONE_ERROR(HONE_CODE_IO, "%s: is no longer a directory of this user", dir);
}

hone_status hone_blob_cache_mend(hone_blob_cache *cache) {
    if (is_taken(cache)) return HONE_OK;
    hone_fd_close(&cache->lock_fd);
    HONE_TRY(hone_fs_mkdirs(cache->dir));
    HONE_TRY(check_own(cache->dir));
    return lock_dir(cache);
}

hone_status hone_blob_cache_open(const char *dir, int64_t max_bytes, hone_blob_cache **out_cache) {
    *out_cache = NULL;
    hone_blob_cache *cache = hone_calloc(1, sizeof *cache);
    if (!cache) return HONE_ERROR(HONE_CODE_NO_MEMORY, "blob cache");
    cache->lock_fd = -1;
    cache->max_bytes = max_bytes;
    hone_status st = take_dir(cache, dir);
    if (!st) st = scan_dir(cache);
    if (st) {
        hone_blob_cache_close(cache);
        return st;
    }
    *out_cache = cache;
    return HONE_OK;
}

void hone_blob_cache_close(hone_blob_cache *cache) {
    if (!cache) return;
    for (size_t i = 0; i < cache->entries.count; i++)
        hone_free(cache->entries.data[i].path);
    hone_vec_deinit(&cache->entries);
    hone_fd_close(&cache->lock_fd);
    hone_free(cache->dir);
    hone_free(cache);
}

/* ---- using ---- */

static bool is_unchanged(const entry *e, const struct stat *info) {
    return e->bytes == info->st_size && e->inode == info->st_ino &&
           e->modified.tv_sec == info->st_mtim.tv_sec &&
           e->modified.tv_nsec == info->st_mtim.tv_nsec;
}

/* The facts are taken before the content is read: a later change is seen at the next use. */
static bool verify(entry *e) {
    struct stat info;
    hone_blob_hash hash;
    uint64_t bytes = 0;
    if (lstat(e->path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size != e->bytes) {
        return false;
    }
    if (e->is_verified && is_unchanged(e, &info)) return true;
    note_facts(e, &info);
    if (hone_status_consume(hone_blob_hash_file(e->path, &hash, &bytes)) != HONE_CODE_OK) {
        return false;
    }
    e->is_verified = hone_blob_hash_equal(&hash, &e->hash);
    return e->is_verified;
}

hone_status hone_blob_cache_pin(hone_blob_cache *cache, const hone_blob_hash *hash,
                                const char **out_path) {
    *out_path = NULL;
    entry *e = find(cache, hash);
    if (!e) return HONE_ERROR(HONE_CODE_NOT_FOUND, "the file is not in the cache");
    if (!verify(e)) {
        if (!e->pins) drop(cache, e);
        return HONE_ERROR(HONE_CODE_NOT_FOUND, "the file in the cache was damaged");
    }
    const struct timespec now[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};
    (void)utimensat(AT_FDCWD, e->path, now, 0); /* only the order after a restart depends on it */
    e->use = ++cache->uses;
    e->pins++;
    *out_path = e->path;
    return HONE_OK;
}

void hone_blob_cache_unpin(hone_blob_cache *cache, const hone_blob_hash *hash) {
    entry *e = find(cache, hash);
    if (e && e->pins) e->pins--;
}

/* ---- filling ---- */

static hone_status reserve_on_disk(hone_blob_cache *cache, hone_blob_draft *draft) {
    int error;
    do {
        error = posix_fallocate(draft->fd, 0, draft->bytes);
    } while (error == EINTR || ((error == ENOSPC || error == EDQUOT) && drop_oldest(cache)));
    if (!error) return HONE_OK;
    return HONE_ERROR(HONE_CODE_IO, "no room on disk for a file of %lld bytes in '%s': %s",
                      (long long)draft->bytes, cache->dir, strerror(error));
}

static hone_status make_room(hone_blob_cache *cache, int64_t bytes) {
    while (cache->used_bytes > cache->max_bytes - bytes || cache->entries.count >= MAX_ENTRIES) {
        if (drop_oldest(cache)) continue;
        return HONE_ERROR(HONE_CODE_UNAVAILABLE,
                          "no room in the cache for a file of %lld bytes: it may have %lld, and "
                          "%lld are in use",
                          (long long)bytes, (long long)cache->max_bytes,
                          (long long)cache->used_bytes);
    }
    return HONE_OK;
}

hone_status hone_blob_cache_begin(hone_blob_cache *cache, const hone_blob_hash *hash, int64_t bytes,
                                  hone_blob_draft *out_draft) {
    *out_draft = (hone_blob_draft){.hash = *hash, .bytes = bytes, .fd = -1};
    if (bytes < 1) return HONE_ERROR(HONE_CODE_INVALID, "a file of %lld bytes", (long long)bytes);
    HONE_TRY(make_room(cache, bytes));
    char *path = path_of(cache, hash, DRAFT_SUFFIX);
    if (!path) return HONE_ERROR(HONE_CODE_NO_MEMORY, "blob cache");
    out_draft->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    hone_status st = HONE_OK;
    if (out_draft->fd < 0) st = HONE_ERROR(HONE_CODE_IO, "%s: %s", path, strerror(errno));
    hone_free(path);
    HONE_TRY(st);
    cache->used_bytes += bytes;
    st = reserve_on_disk(cache, out_draft);
    if (st) hone_blob_cache_abandon(cache, out_draft);
    return st;
}

hone_status hone_blob_draft_write(hone_blob_draft *draft, int64_t offset, const void *bytes,
                                  size_t count) {
    if (offset < 0 || offset > draft->bytes || count > (uint64_t)(draft->bytes - offset)) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "%zu bytes at %lld are not within a file of %lld bytes", count,
                          (long long)offset, (long long)draft->bytes);
    }
    const char *from = bytes;
    while (count > 0) {
        ssize_t put = pwrite(draft->fd, from, count, offset);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) {
            return HONE_ERROR(HONE_CODE_IO, "writing to the cache: %s",
                              strerror(put < 0 ? errno : ENOSPC));
        }
        from += put;
        offset += put;
        count -= (size_t)put;
    }
    return HONE_OK;
}

static hone_status check_content(const hone_blob_draft *draft, const char *path) {
    hone_blob_hash hash;
    uint64_t bytes = 0;
    HONE_TRY(hone_blob_hash_file(path, &hash, &bytes));
    if (hone_blob_hash_equal(&hash, &draft->hash)) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "a file arrived whose content is not what its hash says");
}

/* Not synced: a file that a power failure tears is found out by its hash. */
static hone_status commit(hone_blob_cache *cache, hone_blob_draft *draft, const char *from,
                          char *to) {
    struct stat info;
    HONE_TRY(check_content(draft, from));
    if (fstat(draft->fd, &info) != 0 || rename(from, to) != 0) {
        return HONE_ERROR(HONE_CODE_IO, "%s: %s", to, strerror(errno));
    }
    entry *old = find(cache, &draft->hash); /* a damaged one that was in use */
    if (old) {
        cache->used_bytes -= old->bytes;
        note_facts(old, &info);
        old->is_verified = true;
        hone_free(to);
        return HONE_OK;
    }
    hone_status st = add(cache, &draft->hash, to, &info, true);
    if (st) unlink(to);
    return st;
}

hone_status hone_blob_cache_commit(hone_blob_cache *cache, hone_blob_draft *draft) {
    char *from = path_of(cache, &draft->hash, DRAFT_SUFFIX), *to = path_of(cache, &draft->hash, "");
    hone_status st =
        from && to ? commit(cache, draft, from, to) : HONE_ERROR(HONE_CODE_NO_MEMORY, "blob cache");
    hone_free(from);
    if (st) {
        hone_free(to);
        hone_blob_cache_abandon(cache, draft);
        return st;
    }
    close(draft->fd);
    draft->fd = -1;
    return HONE_OK;
}

void hone_blob_cache_abandon(hone_blob_cache *cache, hone_blob_draft *draft) {
    if (draft->fd < 0) return;
    char *path = path_of(cache, &draft->hash, DRAFT_SUFFIX);
    if (path) unlink(path);
    hone_free(path);
    close(draft->fd);
    draft->fd = -1;
    cache->used_bytes -= draft->bytes;
}

hone_blob_cache_stats hone_blob_cache_get_stats(const hone_blob_cache *cache) {
    return (hone_blob_cache_stats){.bytes = cache->used_bytes, .entries = cache->entries.count};
}
