/* farm/tracker_blobs.c - files on their way from tuners to runners.
 *
 *     runner ─WANT► tracker ─WANT► tuner          a file is fetched once, whole, checked against
 *            ◄CHUNK─  cache ◄CHUNK─               its name, and kept while there is room
 *
 * A file is known while a trial needs it, and stays in the cache after that until the room is
 * needed: those that no trial needs go first, then those that were not used for the longest time
 * (they can be fetched again). Wants of runners for a file that is not here yet wait in a bounded
 * list; whatever gets lost the runner wants again.
 */
#include <assert.h>
#include <string.h>

#include "farm/tracker_impl.h"
#include "net/blob_hash.h"
#include "support/core/alloc.h"

static tracker_blob *blob_of(uint64_t value) {
    return (tracker_blob *)(uintptr_t)value;
}

/* Half of the hash is enough to find it: two files that agree in it do not exist. */
static hone_hash128 key_of(const hone_farm_hash *hash) {
    hone_hash128 key;
    memcpy(&key, hash->bytes, sizeof key);
    return key;
}

static tracker_blob *find(const hone_tracker *t, const hone_farm_hash *hash) {
    uint64_t value;
    if (!hone_map128_find(&t->blobs, key_of(hash), &value)) return NULL;
    tracker_blob *blob = blob_of(value);
    return hone_farm_hash_equal(&blob->hash, hash) ? blob : NULL;
}

/* ---- room ---- */

static void drop_data(hone_tracker *t, tracker_blob *blob) {
    if (blob->data) t->stats.blob_bytes -= blob->bytes;
    hone_free(blob->data);
    blob->data = NULL;
    blob->is_ready = false;
    blob->source = NULL;
    blob->asked = blob->received = 0;
    memset(blob->wants, 0, sizeof blob->wants);
}

static void free_blob(hone_tracker *t, tracker_blob *blob) {
    drop_data(t, blob);
    hone_map128_remove(&t->blobs, key_of(&blob->hash));
    hone_vec_deinit(&blob->waiters);
    hone_free(blob);
}

void tracker_free_blobs(hone_tracker *t) {
    uint64_t value;
    hone_hash128 key;
    for (size_t i = 0; hone_map128_next(&t->blobs, &i, &key, &value);)
        free_blob(t, blob_of(value));
    hone_map128_deinit(&t->blobs);
}

/* Which file to throw out next; files that trials need only when `needed_too`. */
static tracker_blob *find_victim(const hone_tracker *t, const tracker_blob *keep, bool needed_too) {
    uint64_t value;
    hone_hash128 key;
    tracker_blob *victim = NULL;
    for (size_t i = 0; hone_map128_next(&t->blobs, &i, &key, &value);) {
        tracker_blob *blob = blob_of(value);
        if (blob == keep || !blob->is_ready || (blob->refs && !needed_too)) continue;
        if (!victim || !!blob->refs < !!victim->refs ||
            (!!blob->refs == !!victim->refs && blob->used_ns < victim->used_ns)) {
            victim = blob;
        }
    }
    return victim;
}

static bool make_room(hone_tracker *t, const tracker_blob *blob, bool needed_too) {
    while (t->stats.blob_bytes + blob->bytes > t->o.blob_cache_bytes) {
        tracker_blob *victim = find_victim(t, blob, needed_too);
        if (!victim) return false;
        if (victim->refs) {
            drop_data(t, victim);
        } else {
            free_blob(t, victim);
        }
    }
    return true;
}

/* ---- references ---- */

tracker_blob *tracker_hold_blob(hone_tracker *t, const hone_farm_blob *wanted) {
    tracker_blob *blob = find(t, &wanted->hash);
    if (blob && blob->bytes != wanted->bytes) return NULL;
    if (!blob) {
        blob = hone_calloc(1, sizeof *blob);
        if (!blob ||
            !hone_map128_put(&t->blobs, key_of(&wanted->hash), (uint64_t)(uintptr_t)blob)) {
            hone_free(blob);
            return NULL;
        }
        blob->hash = wanted->hash;
        blob->bytes = wanted->bytes;
    }
    blob->refs++;
    blob->used_ns = t->now_ns;
    return blob;
}

void tracker_release_blob(hone_tracker *t, tracker_blob *blob) {
    assert(blob->refs);
    if (--blob->refs == 0 && !blob->is_ready) free_blob(t, blob);
}

/* ---- fetching ---- */

static bool needs(const tracker_trial *trial, const tracker_blob *blob) {
    for (size_t i = 0; i < trial->blob_count; i++) {
        if (trial->files[i] == blob) return true;
    }
    return false;
}

static bool has_trial_with(const tracker_tuner *tuner, const tracker_blob *blob) {
    uint64_t number, value;
    for (size_t i = 0; hone_u64map_next(&tuner->trials, &i, &number, &value);) {
        if (needs((const tracker_trial *)(uintptr_t)value, blob)) return true;
    }
    return false;
}

/* A tuner that is there and has submitted a trial with this file. */
static tracker_tuner *find_source(const hone_tracker *t, const tracker_blob *blob) {
    uint64_t value;
    hone_hash128 key;
    for (size_t i = 0; hone_map128_next(&t->tuners, &i, &key, &value);) {
        tracker_tuner *tuner = (tracker_tuner *)(uintptr_t)value;
        if (tuner->peer && has_trial_with(tuner, blob)) return tuner;
    }
    return NULL;
}

static int64_t chunk_at(const hone_tracker *t, const tracker_blob *blob, int64_t offset) {
    int64_t left = blob->bytes - offset;
    return left < t->o.chunk_bytes ? left : t->o.chunk_bytes;
}

static void ask_for(hone_tracker *t, const tracker_blob *blob, int64_t offset) {
    hone_farm_message m = {.kind = HONE_FARM_BLOB_WANT, .id = ++t->blob_wants};
    m.u.blob_want = (hone_farm_blob_want){blob->hash, offset, (uint32_t)chunk_at(t, blob, offset)};
    tracker_send(t, blob->source->peer->net, &m);
}

static void ask_more(hone_tracker *t, tracker_blob *blob) {
    for (int i = 0; i < TRACKER_WINDOW && blob->asked < blob->bytes; i++) {
        tracker_want *want = &blob->wants[i];
        if (want->is_open) continue;
        want->is_open = true;
        want->offset = blob->asked;
        blob->asked += chunk_at(t, blob, blob->asked);
        tracker_repeat_start(t, &want->repeat);
        ask_for(t, blob, want->offset);
    }
}

/* Does nothing while nobody has the file, or there is no room: the timers try again. */
static void fetch(hone_tracker *t, tracker_blob *blob, bool may_evict_needed) {
    if (blob->is_ready) return;
    bool is_new = !blob->data;
    if (!blob->source) blob->source = find_source(t, blob);
    if (!blob->source) return;
    if (is_new) {
        if (!make_room(t, blob, may_evict_needed)) {
            blob->source = NULL;
            return;
        }
        blob->data = hone_malloc((size_t)blob->bytes);
        if (!blob->data) {
            blob->source = NULL;
            return;
        }
        t->stats.blob_bytes += blob->bytes;
        t->stats.blob_pulls++;
    }
    ask_more(t, blob);
}

void tracker_prefetch(hone_tracker *t, tracker_blob *blob) {
    fetch(t, blob, false);
}

void tracker_blobs_forget_tuner(hone_tracker *t, const tracker_tuner *tuner) {
    uint64_t value;
    hone_hash128 key;
    for (size_t i = 0; hone_map128_next(&t->blobs, &i, &key, &value);) {
        tracker_blob *blob = blob_of(value);
        if (blob->source != tuner) continue;
        blob->source = NULL;
        for (int k = 0; k < TRACKER_WINDOW; k++)
            if (blob->wants[k].is_open) tracker_repeat_now(t, &blob->wants[k].repeat);
    }
}

/* ---- runners ---- */

/* A runner that fetches files is at work: its lease does not run out meanwhile. */
static void extend_leases(hone_tracker *t, const tracker_runner *runner, const tracker_blob *blob) {
    for (size_t i = 0; i < runner->slot_count; i++) {
        const tracker_slot *slot = &runner->slots[i];
        for (size_t k = 0; k < slot->trial_count; k++) {
            tracker_trial *trial = slot->trials[k];
            if (!needs(trial, blob)) continue;
            int64_t end_ns = t->now_ns + trial->timeout_ns;
            if (end_ns > trial->deadline_ns) trial->deadline_ns = end_ns;
        }
    }
}

static void serve(hone_tracker *t, tracker_blob *blob, const tracker_waiter *waiter) {
    tracker_peer *peer = tracker_find_peer(t, waiter->net);
    if (!peer || !peer->runner) return;
    int64_t left = blob->bytes - waiter->offset;
    int64_t count = waiter->count < t->o.chunk_bytes ? waiter->count : t->o.chunk_bytes;
    if (count > left) count = left;
    hone_farm_message m = {.kind = HONE_FARM_BLOB_CHUNK, .id = waiter->id};
    m.u.blob_chunk = (hone_farm_blob_chunk){
        .hash = blob->hash,
        .total = blob->bytes,
        .offset = waiter->offset,
        .bytes = {blob->data + waiter->offset, (size_t)count},
    };
    tracker_send(t, waiter->net, &m);
    blob->used_ns = t->now_ns;
    extend_leases(t, peer->runner, blob);
}

static void serve_waiters(hone_tracker *t, tracker_blob *blob) {
    for (size_t i = 0; i < blob->waiters.count; i++)
        serve(t, blob, &blob->waiters.data[i]);
    hone_vec_deinit(&blob->waiters);
}

static void add_waiter(tracker_blob *blob, tracker_waiter waiter) {
    for (size_t i = 0; i < blob->waiters.count; i++) {
        tracker_waiter *w = &blob->waiters.data[i];
        if (w->net != waiter.net || w->offset != waiter.offset) continue;
        *w = waiter;
        return;
    }
    if (blob->waiters.count == TRACKER_WAITERS) return; /* it asks again */
    (void)!hone_vec_push(&blob->waiters, waiter);
}

static void answer_missing(hone_tracker *t, const tracker_peer *peer, const hone_farm_message *m,
                           const char *text) {
    hone_farm_message answer = tracker_answer(m, HONE_FARM_BLOB_MISSING);
    answer.u.blob_missing.hash = m->u.blob_want.hash;
    hone_farm_set_text(answer.u.blob_missing.text, sizeof answer.u.blob_missing.text, text);
    tracker_send(t, peer->net, &answer);
}

hone_status tracker_on_blob_want(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    const hone_farm_blob_want *want = &m->u.blob_want;
    tracker_blob *blob = find(t, &want->hash);
    if (!blob) {
        answer_missing(t, peer, m, "no trial has this file");
        return HONE_OK;
    }
    if (want->offset >= blob->bytes) {
        answer_missing(t, peer, m, "the file is not as long as that");
        return HONE_OK;
    }
    tracker_waiter waiter = {peer->net, m->id, want->offset, want->count};
    if (blob->is_ready) {
        serve(t, blob, &waiter);
        return HONE_OK;
    }
    add_waiter(blob, waiter);
    blob->is_wanted = true;
    fetch(t, blob, true);
    tracker_wake_at(t, t->now_ns + t->o.heartbeat_ns / 4 + 1); /* when it could not begin */
    return HONE_OK;
}

/* ---- tuners ---- */

/* This tuner could not give the file when it read the want of that id: its trials that need it have
 * failed, but for those that it submitted afterwards. */
static hone_status fail_trials(hone_tracker *t, tracker_tuner *tuner, const tracker_blob *blob,
                               uint64_t want, const char *why) {
    uint64_t number, value;
    for (size_t i = 0; hone_u64map_next(&tuner->trials, &i, &number, &value);) {
        tracker_trial *trial = (tracker_trial *)(uintptr_t)value;
        if (!needs(trial, blob) || trial->wants_before >= want) continue;
        if (trial->slot) {
            tracker_take_off(t, trial, true);
        } else if (trial->state == HONE_FARM_TRIAL_WAITING) {
            tracker_dequeue(t, trial);
        } else {
            continue;
        }
        HONE_TRY(tracker_finish_failed(t, trial, HONE_FAILURE_LOAD_ERROR, "%s", why));
    }
    return HONE_OK;
}

static hone_status give_up(hone_tracker *t, tracker_blob *blob, tracker_tuner *tuner, uint64_t want,
                           const char *why) {
    blob->refs++; /* keeps it during the walk */
    drop_data(t, blob);
    hone_status st = fail_trials(t, tuner, blob, want, why);
    tracker_release_blob(t, blob);
    return st;
}

static tracker_want *find_want(tracker_blob *blob, int64_t offset) {
    for (int i = 0; i < TRACKER_WINDOW; i++) {
        if (blob->wants[i].is_open && blob->wants[i].offset == offset) return &blob->wants[i];
    }
    return NULL;
}

hone_status tracker_on_blob_chunk(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    const hone_farm_blob_chunk *chunk = &m->u.blob_chunk;
    tracker_blob *blob = find(t, &chunk->hash);
    if (!blob || !blob->data || blob->is_ready || blob->source != peer->tuner) return HONE_OK;
    tracker_want *want = find_want(blob, chunk->offset);
    if (!want) return HONE_OK; /* a double */
    if (chunk->total != blob->bytes ||
        (int64_t)chunk->bytes.count != chunk_at(t, blob, chunk->offset)) {
        return give_up(t, blob, peer->tuner, UINT64_MAX,
                       "the file is not as long as the tuner has said");
    }
    memcpy(blob->data + chunk->offset, chunk->bytes.data, chunk->bytes.count);
    want->is_open = false;
    blob->received += (int64_t)chunk->bytes.count;
    if (blob->received < blob->bytes) {
        ask_more(t, blob);
        return HONE_OK;
    }
    hone_blob_hash hash = hone_blob_hash_of(blob->data, (size_t)blob->bytes);
    if (memcmp(hash.bytes, blob->hash.bytes, sizeof hash.bytes) != 0) {
        return give_up(t, blob, peer->tuner, UINT64_MAX,
                       "the file's content does not have the hash that the "
                       "tuner has said");
    }
    blob->is_ready = true;
    blob->is_wanted = false;
    blob->source = NULL;
    blob->used_ns = t->now_ns;
    serve_waiters(t, blob);
    return HONE_OK;
}

hone_status tracker_on_blob_missing(hone_tracker *t, tracker_peer *peer,
                                    const hone_farm_message *m) {
    tracker_blob *blob = find(t, &m->u.blob_missing.hash);
    if (!blob || blob->source != peer->tuner) return HONE_OK;
    return give_up(t, blob, peer->tuner, m->id, "the tuner does not have the file any more");
}

/* ---- timers ---- */

static void repeat_wants(hone_tracker *t, tracker_blob *blob) {
    for (int i = 0; i < TRACKER_WINDOW; i++) {
        tracker_want *want = &blob->wants[i];
        if (want->is_open && tracker_repeat_due(t, &want->repeat)) ask_for(t, blob, want->offset);
    }
}

void tracker_blob_timers(hone_tracker *t) {
    uint64_t value;
    hone_hash128 key;
    for (size_t i = 0; hone_map128_next(&t->blobs, &i, &key, &value);) {
        tracker_blob *blob = blob_of(value);
        if (blob->is_ready || !(blob->data || blob->is_wanted)) continue;
        if (!blob->source) {
            fetch(t, blob, blob->is_wanted);
            tracker_wake_at(t, t->now_ns + t->o.heartbeat_ns);
        }
        if (blob->source) repeat_wants(t, blob);
    }
}
