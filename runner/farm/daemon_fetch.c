/* runner/farm/daemon_fetch.c - files from the tracker into the cache, a window of chunks at a time.
 *
 * Chunks are asked for in order and may arrive in any; what was asked for and is late is asked for
 * again. A file survives a lost connection as it is: only its window is asked for anew.
 */
#include <stdio.h>
#include <string.h>

#include "runner/farm/daemon_impl.h"
#include "support/core/alloc.h"

static daemon_fetch *find(const hone_daemon *d, const hone_blob_hash *hash) {
    for (daemon_fetch *f = d->fetches; f; f = f->next) {
        if (hone_blob_hash_equal(&f->draft.hash, hash)) return f;
    }
    return NULL;
}

static void end(hone_daemon *d, daemon_fetch *f) {
    daemon_fetch **link = &d->fetches;
    while (*link != f)
        link = &(*link)->next;
    *link = f->next;
    hone_blob_cache_abandon(d->cache, &f->draft); /* nothing to do after a commit */
    hone_free(f);
}

void daemon_fetch_destroy(hone_daemon *d) {
    while (d->fetches)
        end(d, d->fetches);
}

static void reset(daemon_fetch *f) {
    f->asked = f->received = 0;
    for (int i = 0; i < DAEMON_WINDOW; i++)
        f->window[i] = (daemon_chunk){.offset = -1};
}

hone_status daemon_fetch_begin(hone_daemon *d, const hone_farm_blob *blob) {
    const hone_blob_hash hash = daemon_hash(&blob->hash);
    if (find(d, &hash)) return HONE_OK;
    daemon_fetch *f = hone_calloc(1, sizeof *f);
    if (!f) return HONE_ERROR(HONE_CODE_NO_MEMORY, "no memory for a file");
    hone_status st = hone_blob_cache_begin(d->cache, &hash, blob->bytes, &f->draft);
    if (st) {
        hone_free(f);
        return st;
    }
    reset(f);
    daemon_fetch **link = &d->fetches;
    while (*link)
        link = &(*link)->next;
    *link = f;
    return HONE_OK;
}

static hone_farm_hash farm_hash(const daemon_fetch *f) {
    hone_farm_hash out;
    memcpy(out.bytes, f->draft.hash.bytes, sizeof out.bytes);
    return out;
}

/* ---- asking ---- */

static void ask(hone_daemon *d, const daemon_fetch *f, daemon_chunk *chunk) {
    hone_farm_message message = {.kind = HONE_FARM_BLOB_WANT, .id = ++d->link.last_id};
    message.u.blob_want.hash = farm_hash(f);
    message.u.blob_want.offset = chunk->offset;
    message.u.blob_want.count = chunk->count;
    farm_link_send(&d->link, &message);
    /* patient: on a slow line the answer is on its way, and asking again makes it slower */
    farm_repeat_rang(&chunk->repeat, daemon_now(d), d->link.heartbeat_ns, 8 * d->link.heartbeat_ns);
}

/* The next part of the file that was not asked for yet; false when there is none. */
static bool fill(const hone_daemon *d, daemon_fetch *f, daemon_chunk *chunk) {
    int64_t left = f->draft.bytes - f->asked;
    if (left <= 0) return false;
    uint32_t count = left < d->link.chunk_bytes ? (uint32_t)left : d->link.chunk_bytes;
    *chunk = (daemon_chunk){.offset = f->asked, .count = count};
    farm_repeat_start(&chunk->repeat, daemon_now(d));
    f->asked += count;
    return true;
}

static void ask_for_file(hone_daemon *d, daemon_fetch *f) {
    for (int i = 0; i < DAEMON_WINDOW; i++) {
        daemon_chunk *chunk = &f->window[i];
        if (chunk->offset < 0 && !fill(d, f, chunk)) continue;
        if (daemon_now(d) >= chunk->repeat.at_ns) ask(d, f, chunk);
    }
}

void daemon_fetch_ask(hone_daemon *d) {
    int count = 0;
    if (!farm_link_is_up(&d->link)) return;
    for (daemon_fetch *f = d->fetches; f && count < DAEMON_FETCHES; f = f->next, count++)
        ask_for_file(d, f);
}

int64_t daemon_fetch_next_ns(const hone_daemon *d) {
    int64_t at = HONE_DEADLINE_NEVER;
    int count = 0;
    if (!farm_link_is_up(&d->link)) return at;
    for (const daemon_fetch *f = d->fetches; f && count < DAEMON_FETCHES; f = f->next, count++) {
        for (int i = 0; i < DAEMON_WINDOW; i++) {
            if (f->window[i].offset >= 0) farm_sooner(&at, f->window[i].repeat.at_ns);
        }
    }
    return at;
}

void daemon_fetch_restart(hone_daemon *d) {
    for (daemon_fetch *f = d->fetches; f; f = f->next) {
        for (int i = 0; i < DAEMON_WINDOW; i++)
            farm_repeat_start(&f->window[i].repeat, daemon_now(d));
    }
}

void daemon_fetch_drop_unwanted(hone_daemon *d) {
    for (daemon_fetch *f = d->fetches, *next; f; f = next) {
        next = f->next;
        const hone_farm_hash hash = farm_hash(f);
        if (!daemon_is_wanted(d, &hash)) end(d, f);
    }
}

/* ---- receiving ---- */

static void fail(hone_daemon *d, daemon_fetch *f, hone_failure failure, const char *why) {
    const hone_farm_hash hash = farm_hash(f);
    HONE_LOG(d->log, HONE_LOG_ERROR, "%s", why);
    end(d, f);
    daemon_on_file_failed(d, &hash, failure, why);
}

/* Damaged on the way is worth a second try; damaged twice is what the sender has. */
static void on_damaged(hone_daemon *d, daemon_fetch *f, hone_status st) {
    if (f->was_damaged) {
        fail(d, f, HONE_FAILURE_LOAD_ERROR, hone_status_message(st));
        return;
    }
    const hone_blob_hash hash = f->draft.hash;
    const int64_t bytes = f->draft.bytes;
    hone_status again = hone_blob_cache_begin(d->cache, &hash, bytes, &f->draft);
    if (again) {
        fail(d, f, HONE_FAILURE_DEVICE_LOST, hone_status_message(again));
        hone_status_free(again);
        return;
    }
    f->was_damaged = true;
    reset(f);
}

static void on_whole(hone_daemon *d, daemon_fetch *f) {
    const hone_farm_hash hash = farm_hash(f);
    hone_status st = hone_blob_cache_commit(d->cache, &f->draft);
    if (!st) {
        end(d, f);
        daemon_on_file(d, &hash);
        return;
    }
    if (hone_status_code(st) == HONE_CODE_INVALID) {
        on_damaged(d, f, st);
    } else {
        fail(d, f, HONE_FAILURE_DEVICE_LOST, hone_status_message(st));
    }
    hone_status_free(st);
}

static daemon_chunk *asked_for(daemon_fetch *f, const hone_farm_blob_chunk *chunk) {
    for (int i = 0; i < DAEMON_WINDOW; i++) {
        daemon_chunk *c = &f->window[i];
        if (c->offset == chunk->offset && c->count == chunk->bytes.count) return c;
    }
    return NULL;
}

void daemon_on_chunk(hone_daemon *d, const hone_farm_blob_chunk *chunk) {
    const hone_blob_hash hash = daemon_hash(&chunk->hash);
    daemon_fetch *f = find(d, &hash);
    daemon_chunk *c = f && chunk->total == f->draft.bytes ? asked_for(f, chunk) : NULL;
    if (!c) return; /* doubled, late, or nonsense */
    hone_status st =
        hone_blob_draft_write(&f->draft, chunk->offset, chunk->bytes.data, chunk->bytes.count);
    if (st) {
        fail(d, f, HONE_FAILURE_DEVICE_LOST, hone_status_message(st));
        hone_status_free(st);
        return;
    }
    c->offset = -1;
    f->received += (int64_t)chunk->bytes.count;
    if (f->received == f->draft.bytes) on_whole(d, f);
}

void daemon_on_missing(hone_daemon *d, const hone_farm_blob_missing *missing) {
    const hone_blob_hash hash = daemon_hash(&missing->hash);
    char why[HONE_FARM_NOTE_BYTES + 64];
    daemon_fetch *f = find(d, &hash);
    if (!f) return;
    snprintf(why, sizeof why, "a file was not to be had: %s", missing->text);
    end(d, f);
    daemon_on_file_missing(d, &missing->hash, why);
}
