/* tests/fuzz/fuzz_tracker.c - a tracker whose peers say whatever they like, in any order.
 *
 * The input is a script: who speaks, which message (a sample of each kind, with another trial,
 * token or instance, and some bytes changed), or how much time passes. The tracker must go on, send
 * only what can be read, and hold nothing any more when everybody has gone.
 */
#include <stdlib.h>

#include "farm/tracker.h"
#include "tests/measure/farm_samples.h"
#include "tests/support/simnet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PEERS = 3, MOST_BYTES = 400 };

typedef struct fuzz {
    hone_virtual_clock clock;
    hone_simnet *simnet;
    hone_net *server;
    hone_tracker *tracker;
    struct {
        hone_net *net;
        hone_net_peer link;
        hone_farm_lease last; /* what was assigned last */
    } peers[PEERS];
    hone_arena *arena;
    hone_str frame;
    const uint8_t *data;
    size_t size;
} fuzz;

static void require(bool condition) {
    if (!condition) abort();
}

static unsigned take(fuzz *f) {
    if (!f->size) return 0;
    f->size--;
    return *f->data++;
}

static void listen_to_tracker(fuzz *f, int who) {
    for (;;) {
        hone_net_event event;
        if (hone_status_consume(hone_net_recv(f->peers[who].net, HONE_DEADLINE_NOW, &event)))
            return;
        if (event.kind == HONE_NET_OPENED) f->peers[who].link = event.peer;
        if (event.kind == HONE_NET_CLOSED) f->peers[who].link = 0;
        if (event.kind != HONE_NET_MESSAGE) continue;
        hone_farm_message m;
        hone_arena_reset(f->arena);
        require(!hone_farm_decode(event.bytes, event.count, f->arena, &m));
        if (m.kind != HONE_FARM_ASSIGN) continue;
        f->peers[who].last =
            (hone_farm_lease){m.u.assign.token, m.u.assign.tuner, m.u.assign.trial};
    }
}

static void step(fuzz *f) {
    require(!hone_tracker_step(f->tracker));
    for (int i = 0; i < PEERS; i++) {
        if (f->peers[i].net) listen_to_tracker(f, i);
    }
}

static void pass_time(fuzz *f, int64_t duration_ns) {
    int64_t now_ns = hone_clock_now(&f->clock.clock), end_ns = now_ns + duration_ns;
    do {
        step(f);
        int64_t next_ns = hone_simnet_next_ns(f->simnet),
                timer_ns = hone_tracker_next_ns(f->tracker);
        now_ns = hone_clock_now(&f->clock.clock);
        if (timer_ns < next_ns) next_ns = timer_ns;
        if (next_ns > end_ns) next_ns = end_ns;
        if (next_ns > now_ns) hone_virtual_clock_advance(&f->clock, next_ns - now_ns);
    } while (now_ns < end_ns);
}

static hone_farm_instance instance_of(unsigned number) {
    return (hone_farm_instance){1 + number, 7};
}

static void adapt_hello(hone_farm_hello *hello, int who, unsigned choice) {
    static const hone_farm_role roles[PEERS] = {HONE_FARM_TUNER, HONE_FARM_RUNNER, HONE_FARM_ADMIN};
    hello->version_min = hello->version_max = 1;
    hello->role = roles[who];
    hello->instance = instance_of((unsigned)who + PEERS * (choice & 1));
    if (hello->role != HONE_FARM_RUNNER) hello->slots.count = 0;
    hello->held.count = choice >> 6;
    if (hello->held.count > 2) hello->held.count = 2;
    for (size_t i = 0; i < hello->held.count; i++) {
        hello->held.items[i] = (hone_farm_held){1 + (choice >> 3 & 1), instance_of(choice >> 4 & 1),
                                                i, 0, (hone_farm_held_state)(choice >> 1 & 1)};
    }
}

/* The sample, brought closer to what would make sense. */
static void adapt(fuzz *f, int who, hone_farm_message *m, unsigned choice) {
    const hone_farm_lease *last = &f->peers[1].last;
    uint64_t trial = choice & 3;
    switch (m->kind) {
    case HONE_FARM_HELLO:
        adapt_hello(&m->u.hello, who, choice);
        break;
    case HONE_FARM_SUBMIT:
        m->u.submit.trial = trial;
        m->u.submit.blobs.count = choice >> 2 & 1;
        if (choice & 8) m->u.submit.device[0] = 0;
        break;
    case HONE_FARM_OUTCOME_ACK:
    case HONE_FARM_CANCEL:
        m->u.cancel.trial = trial;
        break;
    case HONE_FARM_TAKEN:
    case HONE_FARM_RETURNED:
    case HONE_FARM_RESULT: /* they begin alike */
        if (choice & 1) m->u.lease = *last;
        break;
    case HONE_FARM_BLOB_WANT:
    case HONE_FARM_BLOB_CHUNK:
    case HONE_FARM_BLOB_MISSING: { /* the file of SUBMIT */
        hone_farm_message submit = farm_sample(HONE_FARM_SUBMIT);
        m->u.blob_want.hash = submit.u.submit.blobs.items[0].hash;
        if (m->kind == HONE_FARM_BLOB_CHUNK && choice & 1) {
            m->u.blob_chunk.total = 1;
            m->u.blob_chunk.offset = 0;
            m->u.blob_chunk.bytes.count = 1;
        }
        if (m->kind == HONE_FARM_BLOB_WANT) m->u.blob_want.offset = 0;
        break;
    }
    case HONE_FARM_KICK:
        if (choice & 1) hone_farm_set_text(m->u.kick.device, sizeof m->u.kick.device, "board-1");
        break;
    default:
        break;
    }
}

static void say(fuzz *f, int who) {
    unsigned kind = 1 + take(f) % (HONE_FARM_KIND_LIMIT - 1), choice = take(f);
    hone_farm_message m = farm_sample((hone_farm_kind)kind);
    adapt(f, who, &m, choice);
    hone_str_clear(&f->frame);
    require(!hone_farm_encode(&m, &f->frame));
    for (unsigned changes = take(f) & 3; changes; changes--) {
        unsigned at = take(f) << 8;
        at |= take(f);
        f->frame.data[at % f->frame.length] = (char)take(f);
    }
    if (!f->peers[who].link) return;
    hone_status_free(
        hone_net_send(f->peers[who].net, f->peers[who].link, f->frame.data, f->frame.length));
}

static void begin(fuzz *f) {
    hone_virtual_clock_init(&f->clock, HONE_NS_PER_S);
    require(!hone_simnet_create(&f->clock, 1, &f->simnet));
    hone_net_server_options server = {.address = "tcp://127.0.0.1:9190", .is_insecure = true};
    require(!hone_simnet_listen(f->simnet, &server, &f->server));
    hone_tracker_options options = {
        .net = f->server,
        .instance = {1, 1},
        .first_token = 1000,
        .heartbeat_ns = HONE_NS_PER_S,
        .grace_ns = 10 * HONE_NS_PER_S,
        .blob_cache_bytes = 4096,
        .max_trials = 3
    };
    require(!hone_tracker_create(&options, &f->tracker));
    hone_net_client_options client = {.address = "tcp://127.0.0.1:9190", .is_insecure = true};
    for (int i = 0; i < PEERS; i++)
        require(!hone_simnet_connect(f->simnet, &client, &f->peers[i].net));
    f->arena = hone_arena_create(4096);
    require(f->arena != NULL);
    pass_time(f, HONE_NS_PER_S);
}

static void end(fuzz *f) {
    for (int i = 0; i < PEERS; i++) {
        hone_net_destroy(f->peers[i].net);
        f->peers[i].net = NULL;
    }
    pass_time(f, 60 * HONE_NS_PER_S);
    hone_tracker_stats stats = hone_tracker_get_stats(f->tracker);
    require(!stats.waiting && !stats.running && !stats.tuners && !stats.runners && !stats.peers);
    require(!stats.request_bytes && stats.blob_bytes <= 4096);
    hone_tracker_destroy(f->tracker);
    hone_net_destroy(f->server);
    hone_simnet_destroy(f->simnet);
    hone_arena_destroy(f->arena);
    hone_str_deinit(&f->frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz f = {.data = data, .size = size < MOST_BYTES ? size : MOST_BYTES};
    begin(&f);
    while (f.size) {
        unsigned op = take(&f) & 3;
        if (op == PEERS) {
            pass_time(&f, (int64_t)take(&f) * 20 * HONE_NS_PER_MS);
        } else {
            say(&f, (int)op);
            if (take(&f) & 1) pass_time(&f, HONE_NS_PER_MS);
        }
    }
    end(&f);
    return 0;
}
