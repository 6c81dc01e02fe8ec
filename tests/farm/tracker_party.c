/* tests/farm/tracker_party.c - see tracker_party.h. */
#include "tests/farm/tracker_party.h"

#include <string.h>

#include "net/blob_hash.h"
#include "tests/support/hone_test.h"

#define REPEAT_NS (FARM_HEARTBEAT_NS / 4)
#define FILE_BYTES 600

static int64_t now_of(const farm_peer *peer) {
    return hone_clock_now(&peer->world->clock.clock);
}

static void sooner(int64_t *next_ns, int64_t at_ns) {
    if (at_ns < *next_ns) *next_ns = at_ns;
}

/* The file of a trial: known from its number, so that both sides can tell whether it is right. */
static void file_of(uint64_t trial, uint8_t out[FILE_BYTES]) {
    for (size_t i = 0; i < FILE_BYTES; i++)
        out[i] = (uint8_t)(trial * 31 + i);
}

static hone_farm_blob blob_of(uint64_t trial) {
    uint8_t bytes[FILE_BYTES];
    hone_farm_blob blob = {.bytes = FILE_BYTES};
    file_of(trial, bytes);
    hone_blob_hash hash = hone_blob_hash_of(bytes, sizeof bytes);
    memcpy(blob.hash.bytes, hash.bytes, sizeof hash.bytes);
    return blob;
}

/* What both do about their connection. True when it can be worked with. */
static bool keep_connected(farm_peer *peer, bool *is_welcome, int64_t *hello_ns, int64_t *beat_ns,
                           int64_t *heard_ns, void (*hello)(farm_peer *peer)) {
    int64_t now_ns = now_of(peer);
    if (!peer->link) {
        *is_welcome = false;
        *hello_ns = 0;
        *heard_ns = now_ns;
        return false;
    }
    if (now_ns - *heard_ns >= FARM_EXPIRY_NS) { /* the tracker is silent: connect again */
        hone_net_close_peer(peer->net, peer->link);
        peer->link = 0;
        return false;
    }
    if (!*is_welcome && now_ns >= *hello_ns) {
        hello(peer);
        *hello_ns = now_ns + FARM_HEARTBEAT_NS / 2;
    }
    if (*is_welcome && now_ns >= *beat_ns) {
        hone_farm_message ping = farm_plain(HONE_FARM_PING);
        farm_send(peer, &ping);
        *beat_ns = now_ns + FARM_HEARTBEAT_NS;
    }
    return *is_welcome;
}

static void next_beat(const farm_peer *peer, bool is_welcome, int64_t hello_ns, int64_t beat_ns,
                      int64_t heard_ns, int64_t *next_ns) {
    if (!peer->link) return;
    sooner(next_ns, is_welcome ? beat_ns : hello_ns);
    sooner(next_ns, heard_ns + FARM_EXPIRY_NS);
}

static void answer_ping(farm_peer *peer, const hone_farm_message *m) {
    hone_farm_message pong = {.kind = HONE_FARM_PONG, .id = m->id};
    farm_send(peer, &pong);
}

/* ---- the tuner ---- */

static void tuner_hello(farm_peer *peer) {
    const party_tuner *self = peer->party;
    hone_farm_message m = farm_hello_tuner(self->instance, "tuner");
    farm_send(peer, &m);
}

static void tuner_outcome(party_tuner *self, const hone_farm_outcome *outcome) {
    assert_true(outcome->trial < PARTY_TRIALS);
    hone_failure failure;
    double median = farm_outcome_median(outcome, &failure);
    if (self->trials[outcome->trial].state != 3) {
        self->trials[outcome->trial].state = 3;
        self->trials[outcome->trial].failure = failure;
        self->over++;
        self->lost += failure == HONE_FAILURE_DEVICE_LOST;
        if (failure == HONE_FAILURE_NONE) assert_true(median == 1000 + (double)outcome->trial);
    }
    assert_true(failure == HONE_FAILURE_NONE || failure == HONE_FAILURE_DEVICE_LOST);
    farm_acknowledge(self->peer, outcome->trial);
}

static void tuner_serve(const party_tuner *self, const hone_farm_message *m) {
    uint8_t bytes[FILE_BYTES];
    const hone_farm_blob_want *want = &m->u.blob_want;
    for (uint64_t i = 0; i < PARTY_TRIALS; i++) {
        hone_farm_blob blob = blob_of(i);
        if (!hone_farm_hash_equal(&blob.hash, &want->hash)) continue;
        file_of(i, bytes);
        hone_farm_message chunk = {.kind = HONE_FARM_BLOB_CHUNK, .id = m->id};
        chunk.u.blob_chunk = (hone_farm_blob_chunk){
            want->hash, FILE_BYTES, want->offset, {bytes + want->offset, want->count}
        };
        farm_send(self->peer, &chunk);
        return;
    }
    fail_msg("a file was wanted that nobody has promised");
}

static void tuner_message(farm_peer *peer, const hone_farm_message *m) {
    party_tuner *self = peer->party;
    self->heard_ns = now_of(peer);
    switch (m->kind) {
    case HONE_FARM_WELCOME:
        if (!self->is_welcome) { /* all that has no outcome is submitted again */
            for (int i = 0; i < PARTY_TRIALS; i++) {
                if (self->trials[i].state == 2) self->trials[i].state = 1;
                self->trials[i].repeat_ns = 0;
            }
        }
        self->is_welcome = true;
        break;
    case HONE_FARM_PING:
        answer_ping(peer, m);
        break;
    case HONE_FARM_REFUSED:
        if (m->u.refused.code == HONE_FARM_REFUSAL_HELLO) {
            self->is_welcome = false;
            self->hello_ns = 0;
        } else {
            assert_int_equal(m->u.refused.code, HONE_FARM_REFUSAL_BUSY);
        }
        break;
    case HONE_FARM_ACCEPTED:
        if (self->trials[m->u.accepted.trial].state == 1) {
            self->trials[m->u.accepted.trial].state = 2;
        }
        break;
    case HONE_FARM_OUTCOME:
        tuner_outcome(self, &m->u.outcome);
        break;
    case HONE_FARM_BLOB_WANT:
        tuner_serve(self, m);
        break;
    default:
        break;
    }
}

static void tuner_time(farm_peer *peer) {
    party_tuner *self = peer->party;
    int64_t now_ns = now_of(peer);
    int open = 0;
    if (!keep_connected(peer, &self->is_welcome, &self->hello_ns, &self->beat_ns, &self->heard_ns,
                        tuner_hello)) {
        return;
    }
    for (uint64_t i = 0; i < PARTY_TRIALS && open < self->at_once; i++) {
        if (self->trials[i].state == 3) continue;
        open++;
        if (self->trials[i].state == 2 || now_ns < self->trials[i].repeat_ns) continue;
        self->trials[i].state = 1;
        self->trials[i].repeat_ns = now_ns + REPEAT_NS;
        hone_farm_blob blob = blob_of(i);
        hone_farm_message m = farm_submit(i, self->device_key);
        m.u.submit.blobs = (hone_farm_blobs){1, &blob};
        farm_send(peer, &m);
    }
}

static int64_t tuner_next(const farm_peer *peer) {
    const party_tuner *self = peer->party;
    int64_t next_ns = HONE_DEADLINE_NEVER;
    int open = 0;
    next_beat(peer, self->is_welcome, self->hello_ns, self->beat_ns, self->heard_ns, &next_ns);
    for (int i = 0; i < PARTY_TRIALS && self->is_welcome && open < self->at_once; i++) {
        open += self->trials[i].state != 3;
        if (self->trials[i].state < 2) sooner(&next_ns, self->trials[i].repeat_ns);
    }
    return next_ns;
}

void party_tuner_start(party_tuner *self, farm_world *w, uint64_t instance) {
    self->instance = instance;
    self->is_welcome = false;
    self->hello_ns = self->beat_ns = 0;
    self->heard_ns = hone_clock_now(&w->clock.clock);
    for (int i = 0; i < PARTY_TRIALS; i++) {
        if (self->trials[i].state != 3) self->trials[i].state = 0;
        self->trials[i].repeat_ns = 0;
    }
    self->peer = farm_connect(w, NULL);
    self->peer->party = self;
    self->peer->on_message = tuner_message;
    self->peer->on_time = tuner_time;
    self->peer->next_ns = tuner_next;
}

void party_tuner_stop(party_tuner *self) {
    farm_disconnect(self->peer);
    self->peer = NULL;
}

/* ---- the runner ---- */

#define WORK_COUNT (sizeof((party_runner *)0)->work / sizeof *((party_runner *)0)->work)

static struct party_work *find_work(party_runner *self, uint64_t token, hone_farm_instance tuner,
                                    uint64_t trial) {
    for (size_t i = 0; i < WORK_COUNT; i++) {
        struct party_work *work = &self->work[i];
        if (work->state && work->assign.token == token && work->assign.trial == trial &&
            hone_hash128_equal(work->assign.tuner, tuner)) {
            return work;
        }
    }
    return NULL;
}

static void runner_hello(farm_peer *peer) {
    const party_runner *self = peer->party;
    hone_farm_held held[WORK_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < WORK_COUNT; i++) {
        const struct party_work *work = &self->work[i];
        if (!work->state) continue;
        held[count++] = (hone_farm_held){work->assign.token, work->assign.tuner, work->assign.trial,
                                         work->assign.slot,
                                         work->state == 4   ? HONE_FARM_HELD_DONE
                                         : work->state == 3 ? HONE_FARM_HELD_RUNNING
                                                            : HONE_FARM_HELD_WAITING};
    }
    hone_farm_message m =
        farm_hello_runner(self->instance, self->name, self->device_key, PARTY_SLOTS);
    m.u.hello.held = (hone_farm_helds){count, held};
    farm_send(peer, &m);
}

static void send_result(party_runner *self, struct party_work *work) {
    hone_farm_message m = farm_result(&work->assign, 1000 + (double)work->assign.trial);
    work->repeat_ns = now_of(self->peer) + REPEAT_NS;
    if (work->is_cancelled) {
        m = farm_plain(HONE_FARM_RETURNED);
        m.u.returned = (hone_farm_returned){work->assign.token, work->assign.tuner,
                                            work->assign.trial, "aborted"};
    }
    farm_send(self->peer, &m);
}

static void want_file(party_runner *self, struct party_work *work) {
    hone_farm_message m = farm_plain(HONE_FARM_BLOB_WANT);
    m.u.blob_want = (hone_farm_blob_want){work->blob.hash, 0, FILE_BYTES};
    work->repeat_ns = now_of(self->peer) + REPEAT_NS;
    farm_send(self->peer, &m);
}

static void runner_assign(party_runner *self, const hone_farm_assign *assign) {
    struct party_work *work = find_work(self, assign->token, assign->tuner, assign->trial);
    if (work && work->state == 4) {
        send_result(self, work);
        return;
    }
    if (assign->token < self->tokens[assign->slot]) return; /* late: that lease is over */
    self->tokens[assign->slot] = assign->token;
    for (size_t i = 0; i < WORK_COUNT && !work; i++) {
        if (self->work[i].state) continue;
        work = &self->work[i];
        *work = (struct party_work){.state = 1, .assign = *assign, .order = ++self->orders};
        work->blob = assign->blobs.items[0];
        want_file(self, work);
    }
    assert_non_null(work);
    hone_farm_message taken = farm_lease(HONE_FARM_TAKEN, assign);
    farm_send(self->peer, &taken);
}

static void runner_abort(party_runner *self, const hone_farm_lease *lease) {
    struct party_work *work = find_work(self, lease->token, lease->tuner, lease->trial);
    if (work) {
        if (work->state != 4) work->is_cancelled = true;
        work->state = 4;
        send_result(self, work);
        return;
    }
    hone_farm_message m = farm_plain(HONE_FARM_RETURNED);
    m.u.returned = (hone_farm_returned){lease->token, lease->tuner, lease->trial, "not here"};
    farm_send(self->peer, &m);
}

static void runner_chunk(party_runner *self, const hone_farm_blob_chunk *chunk) {
    for (size_t i = 0; i < WORK_COUNT; i++) {
        struct party_work *work = &self->work[i];
        if (work->state != 1 || !hone_farm_hash_equal(&work->blob.hash, &chunk->hash)) continue;
        uint8_t bytes[FILE_BYTES];
        file_of(work->assign.trial, bytes);
        assert_int_equal(chunk->bytes.count, FILE_BYTES);
        assert_memory_equal(chunk->bytes.data, bytes, FILE_BYTES);
        work->state = 2;
    }
}

static void runner_message(farm_peer *peer, const hone_farm_message *m) {
    party_runner *self = peer->party;
    struct party_work *work;
    self->heard_ns = now_of(peer);
    switch (m->kind) {
    case HONE_FARM_WELCOME:
        self->is_welcome = true;
        break;
    case HONE_FARM_PING:
        answer_ping(peer, m);
        break;
    case HONE_FARM_REFUSED:
        if (m->u.refused.code == HONE_FARM_REFUSAL_HELLO) {
            self->is_welcome = false;
            self->hello_ns = 0;
        } else {
            assert_int_equal(m->u.refused.code, HONE_FARM_REFUSAL_TAKEN);
        }
        break;
    case HONE_FARM_ASSIGN:
        runner_assign(self, &m->u.assign);
        break;
    case HONE_FARM_ABORT:
        runner_abort(self, &m->u.lease);
        break;
    case HONE_FARM_BLOB_CHUNK:
        runner_chunk(self, &m->u.blob_chunk);
        break;
    case HONE_FARM_RESULT_ACK:
        work = find_work(self, m->u.lease.token, m->u.lease.tuner, m->u.lease.trial);
        if (work && work->state == 4) work->state = 0;
        break;
    default:
        break;
    }
}

/* The oldest on its slot that is ready, when nothing runs there. */
static void start_next(party_runner *self, uint32_t slot) {
    struct party_work *next = NULL;
    for (size_t i = 0; i < WORK_COUNT; i++) {
        struct party_work *work = &self->work[i];
        if (work->assign.slot != slot || work->state < 2 || work->state > 3) continue;
        if (work->state == 3) return;
        if (!next || work->order < next->order) next = work;
    }
    if (!next) return;
    next->state = 3;
    next->end_ns =
        now_of(self->peer) + hone_rng_between(&self->rng, 20 * HONE_NS_PER_MS, HONE_NS_PER_S);
    self->runs++;
}

static void runner_time(farm_peer *peer) {
    party_runner *self = peer->party;
    int64_t now_ns = now_of(peer);
    for (size_t i = 0; i < WORK_COUNT; i++) {
        struct party_work *work = &self->work[i];
        if (work->state != 3 || work->end_ns > now_ns) continue;
        work->state = 4;
        work->repeat_ns = now_ns;
    }
    for (uint32_t slot = 0; slot < PARTY_SLOTS; slot++)
        start_next(self, slot);
    if (!keep_connected(peer, &self->is_welcome, &self->hello_ns, &self->beat_ns, &self->heard_ns,
                        runner_hello)) {
        return;
    }
    for (size_t i = 0; i < WORK_COUNT; i++) {
        struct party_work *work = &self->work[i];
        if (work->repeat_ns > now_ns) continue;
        if (work->state == 1) want_file(self, work);
        if (work->state == 4) send_result(self, work);
    }
}

static int64_t runner_next(const farm_peer *peer) {
    const party_runner *self = peer->party;
    int64_t next_ns = HONE_DEADLINE_NEVER;
    next_beat(peer, self->is_welcome, self->hello_ns, self->beat_ns, self->heard_ns, &next_ns);
    for (size_t i = 0; i < WORK_COUNT; i++) {
        const struct party_work *work = &self->work[i];
        if (work->state == 3) sooner(&next_ns, work->end_ns);
        if (self->is_welcome && (work->state == 1 || work->state == 4)) {
            sooner(&next_ns, work->repeat_ns);
        }
    }
    return next_ns;
}

void party_runner_start(party_runner *self, farm_world *w, uint64_t instance, uint64_t seed) {
    self->instance = instance;
    self->rng = hone_rng_from_seed(seed);
    memset(self->work, 0, sizeof self->work);
    memset(self->tokens, 0, sizeof self->tokens);
    self->is_welcome = false;
    self->hello_ns = self->beat_ns = 0;
    self->heard_ns = hone_clock_now(&w->clock.clock);
    self->peer = farm_connect(w, NULL);
    self->peer->party = self;
    self->peer->on_message = runner_message;
    self->peer->on_time = runner_time;
    self->peer->next_ns = runner_next;
}

void party_runner_stop(party_runner *self) {
    farm_disconnect(self->peer);
    self->peer = NULL;
}
