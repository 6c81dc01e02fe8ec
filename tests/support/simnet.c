/* tests/support/simnet.c - see simnet.h.
 *
 *     client endpoint ── link ── server endpoint         a link is a connection
 *          inbox                     inbox               events, sorted by when they arrive
 *
 * A link dies as soon as one side ends it; the other side's CLOSED is on its way then. Events of a
 * dead link that are still in an inbox before that CLOSED are delivered, as from a socket.
 */
#include "tests/support/simnet.h"

#include <assert.h>
#include <string.h>

#include "net/net_impl.h"
#include "support/core/alloc.h"
#include "support/core/strbuf.h"
#include "support/data/vec.h"

#define CUT_LIMIT_NS (10 * HONE_NS_PER_S)

typedef struct sim_endpoint sim_endpoint;

typedef struct sim_side {
    sim_endpoint *endpoint; /* NULL: this side has ended the connection, or is gone */
    hone_net_peer peer;     /* how this side calls the other */
    hone_key key;           /* who the other is */
    int64_t last_ns;        /* when what was last sent to this side in order arrives */
    int32_t queued;         /* messages in this side's inbox */
    bool is_seen;           /* OPENED was delivered */
} sim_side;

typedef struct sim_link {
    sim_side sides[2];  /* 0: the client, 1: the server */
    int64_t cut_end_ns; /* when it ends because of a cut; HONE_DEADLINE_NEVER */
    bool is_dead;
    int32_t events; /* in inboxes: the link is freed when it is dead and there are none */
} sim_link;

typedef struct sim_event {
    int64_t at_ns;
    hone_net_event_kind kind;
    sim_link *link;
    int side; /* of the link, that receives it */
    uint8_t *bytes;
    size_t count;
} sim_event;

struct sim_endpoint {
    hone_net net; /* first */
    hone_simnet *simnet;
    bool is_server, is_cut, is_insecure;
    HONE_VEC(sim_event) inbox;
    uint8_t *current; /* bytes of the event that was returned last */
    hone_net_peer last_peer;
    int32_t peers, max_peers;
    hone_key_pair keys;
    bool (*allow)(void *context, const hone_key *key);
    void *allow_context;
    hone_key server_key; /* of a client */
    sim_link *link;      /* of a client: its connection, or NULL */
    net_backoff backoff;
    int64_t attempt_ns; /* when it tries to connect */
};

struct hone_simnet {
    hone_virtual_clock *clock;
    hone_rng rng;
    hone_simnet_faults faults;
    HONE_VEC(sim_endpoint *) endpoints;
    HONE_VEC(sim_link *) links;
    size_t frames, bytes, peak_bytes;
    uint32_t ports; /* given for "*" so far */
    hone_simnet_tap tap;
    void *tap_context;
};

static sim_endpoint *as_sim(hone_net *net) {
    return (sim_endpoint *)net;
}

static int64_t now_of(const hone_simnet *simnet) {
    return hone_clock_now(&simnet->clock->clock);
}

static int64_t random_delay(hone_simnet *simnet) {
    const hone_simnet_faults *f = &simnet->faults;
    if (f->delay_max_ns <= f->delay_min_ns) return f->delay_min_ns;
    return hone_rng_between(&simnet->rng, f->delay_min_ns, f->delay_max_ns);
}

static bool chance(hone_simnet *simnet, double probability) {
    return probability > 0 && hone_rng_uniform(&simnet->rng) < probability;
}

/* ---- events ---- */

static void count_frame(hone_simnet *simnet, const sim_event *event, bool is_new) {
    if (!event->bytes) return;
    if (!is_new) {
        simnet->frames--;
        simnet->bytes -= event->count;
        event->link->sides[event->side].queued--;
        return;
    }
    simnet->frames++;
    simnet->bytes += event->count;
    event->link->sides[event->side].queued++;
    if (simnet->bytes > simnet->peak_bytes) simnet->peak_bytes = simnet->bytes;
}

/* Puts an event into its endpoint's inbox, behind those of the same moment. False: no memory. */
static bool post(hone_simnet *simnet, sim_event event) {
    sim_endpoint *to = event.link->sides[event.side].endpoint;
    assert(to);
    if (!hone_vec_push(&to->inbox, event)) return false;
    size_t i = to->inbox.count - 1;
    for (; i > 0 && to->inbox.data[i - 1].at_ns > event.at_ns; i--) {
        to->inbox.data[i] = to->inbox.data[i - 1];
    }
    to->inbox.data[i] = event;
    event.link->events++;
    count_frame(simnet, &event, true);
    return true;
}

static void drop_link(hone_simnet *simnet, sim_link *link) {
    for (size_t i = 0; i < simnet->links.count; i++) {
        if (simnet->links.data[i] != link) continue;
        simnet->links.data[i] = simnet->links.data[--simnet->links.count];
        break;
    }
    hone_free(link);
}

/* Takes an event out of the books; its bytes stay the caller's. May free the link. */
static void forget_event(hone_simnet *simnet, const sim_event *event) {
    count_frame(simnet, event, false);
    sim_link *link = event->link;
    if (--link->events == 0 && link->is_dead) drop_link(simnet, link);
}

static void forget_side(hone_simnet *simnet, sim_link *link, int side) {
    sim_endpoint *endpoint = link->sides[side].endpoint;
    size_t kept = 0;
    link->events++; /* keeps the link during the walk */
    for (size_t i = 0; i < endpoint->inbox.count; i++) {
        sim_event event = endpoint->inbox.data[i];
        if (event.link != link) {
            endpoint->inbox.data[kept++] = event;
            continue;
        }
        forget_event(simnet, &event);
        hone_free(event.bytes);
    }
    endpoint->inbox.count = kept;
    link->events--;
}

static void schedule_attempt(sim_endpoint *client) {
    uint64_t random = hone_rng_next(&client->simnet->rng);
    client->attempt_ns = now_of(client->simnet) + net_backoff_pause(&client->backoff, random);
}

/* A side lets go of the connection: nothing more reaches it. */
static void detach(hone_simnet *simnet, sim_link *link, int side) {
    sim_endpoint *endpoint = link->sides[side].endpoint;
    if (!endpoint) return;
    forget_side(simnet, link, side);
    link->sides[side].endpoint = NULL;
    if (side == 1) {
        endpoint->peers--;
    } else if (endpoint->link == link) {
        endpoint->link = NULL;
        schedule_attempt(endpoint);
    }
}

/* The connection is over. Sides that are still there hear of it, behind what is under way to them;
 * without memory for that they are detached without a word. */
static void kill_link(hone_simnet *simnet, sim_link *link) {
    if (link->is_dead) return;
    link->is_dead = true;
    link->events++;
    for (int side = 0; side < 2; side++) {
        sim_side *s = &link->sides[side];
        if (!s->endpoint) continue;
        int64_t at_ns = now_of(simnet) + random_delay(simnet);
        sim_event event = {.at_ns = at_ns < s->last_ns ? s->last_ns : at_ns,
                           .kind = HONE_NET_CLOSED,
                           .link = link,
                           .side = side};
        if (!post(simnet, event)) detach(simnet, link, side);
    }
    if (--link->events == 0) drop_link(simnet, link);
}

/* ---- connecting ---- */

static sim_endpoint *find_server(const hone_simnet *simnet, const char *address) {
    for (size_t i = 0; i < simnet->endpoints.count; i++) {
        sim_endpoint *e = simnet->endpoints.data[i];
        if (e->is_server && strcmp(e->net.address, address) == 0) return e;
    }
    return NULL;
}

/* Why a client cannot connect now; the server when it can. */
static sim_endpoint *try_server(sim_endpoint *client, hone_net_reason *out_reason) {
    sim_endpoint *server = find_server(client->simnet, client->net.address);
    *out_reason = HONE_NET_NOBODY;
    if (!server) return NULL;
    *out_reason = HONE_NET_LOST;
    if (client->is_cut || server->is_cut) return NULL;
    *out_reason = HONE_NET_BAD_PEER;
    bool refused =
        server->is_insecure != client->is_insecure ||
        (!client->is_insecure && !hone_key_equal(&client->server_key, &server->keys.public_key));
    if (!refused && !server->is_insecure && server->allow &&
        !server->allow(server->allow_context, &client->keys.public_key)) {
        *out_reason = HONE_NET_KEY_REFUSED;
        refused = true;
    }
    if (refused) server->net.stats.refused++;
    if (refused) return NULL;
    *out_reason = HONE_NET_LOST;
    return server->peers < server->max_peers ? server : NULL;
}

static hone_status open_link(sim_endpoint *client, sim_endpoint *server) {
    hone_simnet *simnet = client->simnet;
    int64_t now_ns = now_of(simnet);
    sim_link *link = hone_calloc(1, sizeof *link);
    if (!link || !hone_vec_push(&simnet->links, link)) {
        hone_free(link);
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "connection");
    }
    int64_t ready_ns = now_ns + random_delay(simnet);
    *link = (sim_link){
        .cut_end_ns = HONE_DEADLINE_NEVER,
        .sides = {{client, ++client->last_peer, server->keys.public_key, ready_ns, 0, false},
                  {server, ++server->last_peer, client->keys.public_key, ready_ns, 0, false}}
    };
    sim_event opened = {.at_ns = ready_ns, .kind = HONE_NET_OPENED, .link = link, .side = 0};
    if (!post(simnet, opened)) {
        drop_link(simnet, link);
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "connection");
    }
    server->peers++;
    client->link = link;
    net_backoff_reset(&client->backoff);
    return HONE_OK;
}

/* ---- receiving ---- */

/* Ends the connections that were cut for too long. */
static void end_cut_links(hone_simnet *simnet) {
    int64_t now_ns = now_of(simnet);
    for (size_t i = simnet->links.count; i-- > 0;) {
        if (i >= simnet->links.count) continue;
        sim_link *link = simnet->links.data[i];
        if (link->cut_end_ns <= now_ns) kill_link(simnet, link);
    }
}

static void fill_event(const sim_event *event, hone_net_event *out_event) {
    const sim_side *side = &event->link->sides[event->side];
    *out_event = (hone_net_event){.kind = event->kind,
                                  .peer = side->peer,
                                  .key = side->key,
                                  .address = "memory",
                                  .bytes = event->bytes,
                                  .count = event->count};
}

/* Hands the first event of the inbox out, if its time has come. A server's peer is opened by its
 * first message: then the message stays, and a peer without one is never heard of. */
static bool take_event(sim_endpoint *self, hone_net_event *out_event) {
    hone_simnet *simnet = self->simnet;
    while (self->inbox.count && self->inbox.data[0].at_ns <= now_of(simnet)) {
        sim_event event = self->inbox.data[0];
        sim_side *side = &event.link->sides[event.side];
        bool was_seen = side->is_seen;
        fill_event(&event, out_event);
        if (event.kind == HONE_NET_MESSAGE && !was_seen) {
            side->is_seen = true;
            out_event->kind = HONE_NET_OPENED;
            out_event->bytes = NULL;
            out_event->count = 0;
            return true;
        }
        side->is_seen = true;
        self->inbox.count--;
        memmove(self->inbox.data, self->inbox.data + 1,
                self->inbox.count * sizeof *self->inbox.data);
        self->current = event.bytes;
        if (event.kind == HONE_NET_CLOSED) detach(simnet, event.link, event.side);
        forget_event(simnet, &event);
        if (event.kind == HONE_NET_OPENED && was_seen) continue; /* a message was faster */
        if (event.kind != HONE_NET_CLOSED || was_seen) return true;
    }
    return false;
}

static hone_status step(sim_endpoint *self, hone_net_event *out_event, bool *out_found) {
    end_cut_links(self->simnet);
    *out_found = take_event(self, out_event);
    if (*out_found || self->is_server || self->link) return HONE_OK;
    if (self->attempt_ns > now_of(self->simnet)) return HONE_OK;
    hone_net_reason reason;
    sim_endpoint *server = try_server(self, &reason);
    if (server) {
        HONE_TRY(open_link(self, server));
        *out_found = take_event(self, out_event);
        return HONE_OK;
    }
    schedule_attempt(self);
    *out_event =
        (hone_net_event){.kind = HONE_NET_FAILED, .reason = reason, .address = self->net.address};
    *out_found = true;
    return HONE_OK;
}

static int64_t next_of(const sim_endpoint *self) {
    int64_t next = self->inbox.count ? self->inbox.data[0].at_ns : HONE_DEADLINE_NEVER;
    if (!self->is_server && !self->link && self->attempt_ns < next) next = self->attempt_ns;
    return next;
}

static hone_status sim_recv(hone_net *net, int64_t deadline_ns, hone_net_event *out_event) {
    sim_endpoint *self = as_sim(net);
    hone_free(self->current);
    self->current = NULL;
    for (;;) {
        bool found = false;
        HONE_TRY(step(self, out_event, &found));
        if (found) return HONE_OK;
        if (deadline_ns <= now_of(self->simnet)) break;
        int64_t next = next_of(self);
        if (next == HONE_DEADLINE_NEVER && deadline_ns == HONE_DEADLINE_NEVER) break;
        hone_clock_sleep_until(net->clock, next < deadline_ns ? next : deadline_ns);
    }
    return HONE_ERROR(HONE_CODE_TIMEOUT, "nothing was received");
}

/* ---- sending ---- */

static sim_link *find_link(sim_endpoint *self, hone_net_peer peer, int *out_side) {
    *out_side = self->is_server ? 1 : 0;
    for (size_t i = 0; i < self->simnet->links.count; i++) {
        sim_link *link = self->simnet->links.data[i];
        const sim_side *side = &link->sides[*out_side];
        if (side->endpoint == self && side->peer == peer) return link;
    }
    return NULL;
}

static void damage(hone_simnet *simnet, uint8_t *bytes, size_t count) {
    for (uint64_t bits = 1 + hone_rng_below(&simnet->rng, 8); bits; bits--)
        bytes[hone_rng_below(&simnet->rng, count)] ^=
            (uint8_t)(1u << hone_rng_below(&simnet->rng, 8));
}

static hone_status post_copy(hone_simnet *simnet, sim_link *link, int side, const void *bytes,
                             size_t count) {
    sim_side *to = &link->sides[side];
    sim_event event = {.at_ns = now_of(simnet) + random_delay(simnet),
                       .kind = HONE_NET_MESSAGE,
                       .link = link,
                       .side = side,
                       .bytes = hone_malloc(count),
                       .count = count};
    if (!event.bytes) return HONE_ERROR(HONE_CODE_NO_MEMORY, "frame of %zu bytes", count);
    memcpy(event.bytes, bytes, count);
    if (chance(simnet, simnet->faults.damage)) damage(simnet, event.bytes, count);
    if (!chance(simnet, simnet->faults.reorder)) {
        if (event.at_ns < to->last_ns) event.at_ns = to->last_ns;
        to->last_ns = event.at_ns;
    }
    if (!post(simnet, event)) {
        hone_free(event.bytes);
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "frame of %zu bytes", count);
    }
    return HONE_OK;
}

static hone_status sim_send(hone_net *net, hone_net_peer peer, const void *bytes, size_t count) {
    sim_endpoint *self = as_sim(net);
    hone_simnet *simnet = self->simnet;
    int side;
    sim_link *link = find_link(self, peer, &side);
    if (!link) return HONE_ERROR(HONE_CODE_NOT_FOUND, "the peer is gone");
    if (link->is_dead) return HONE_OK; /* this side does not know yet */
    sim_endpoint *to = link->sides[!side].endpoint;
    if (simnet->tap) simnet->tap(simnet->tap_context, net, &to->net, bytes, count);
    if (self->is_cut || to->is_cut) return HONE_OK;
    if (link->sides[!side].queued >= net->queue_frames) {
        return HONE_ERROR(HONE_CODE_UNAVAILABLE, "%d frames are waiting for this peer",
                          (int)net->queue_frames);
    }
    if (count > to->net.max_frame_bytes) {
        kill_link(simnet, link);
        return HONE_OK;
    }
    if (chance(simnet, simnet->faults.lose)) {
        kill_link(simnet, link);
        return HONE_OK;
    }
    if (chance(simnet, simnet->faults.drop)) return HONE_OK;
    HONE_TRY(post_copy(simnet, link, !side, bytes, count));
    if (!chance(simnet, simnet->faults.duplicate)) return HONE_OK;
    return post_copy(simnet, link, !side, bytes, count);
}

static bool sim_close_peer(hone_net *net, hone_net_peer peer) {
    sim_endpoint *self = as_sim(net);
    int side;
    sim_link *link = find_link(self, peer, &side);
    if (!link) return false;
    bool was_seen = link->sides[side].is_seen;
    link->events++;
    detach(self->simnet, link, side);
    kill_link(self->simnet, link);
    if (--link->events == 0) drop_link(self->simnet, link);
    return was_seen;
}

static int sim_fd(const hone_net *net) {
    (void)net;
    return -1;
}

static void end_links_of(sim_endpoint *self) {
    hone_simnet *simnet = self->simnet;
    for (size_t i = simnet->links.count; i-- > 0;) {
        if (i >= simnet->links.count) continue;
        sim_link *link = simnet->links.data[i];
        for (int side = 0; side < 2; side++) {
            if (link->sides[side].endpoint != self) continue;
            sim_close_peer(&self->net, link->sides[side].peer);
            break;
        }
    }
}

static void sim_destroy(hone_net *net) {
    sim_endpoint *self = as_sim(net);
    hone_simnet *simnet = self->simnet;
    end_links_of(self);
    for (size_t i = 0; i < simnet->endpoints.count; i++) {
        if (simnet->endpoints.data[i] != self) continue;
        memmove(simnet->endpoints.data + i, simnet->endpoints.data + i + 1,
                (simnet->endpoints.count - i - 1) * sizeof(sim_endpoint *));
        simnet->endpoints.count--;
        break;
    }
    assert(self->inbox.count == 0);
    hone_vec_deinit(&self->inbox);
    hone_free(self->current);
    hone_key_pair_wipe(&self->keys);
    hone_free(self);
}

static const hone_net_vtable memory_vtable = {
    .name = "memory",
    .destroy = sim_destroy,
    .recv = sim_recv,
    .send = sim_send,
    .close_peer = sim_close_peer,
    .fd = sim_fd,
};

/* ---- making endpoints ---- */

static hone_status make_endpoint(hone_simnet *simnet, const char *address, size_t max_frame_bytes,
                                 int32_t queue_frames, sim_endpoint **out_endpoint) {
    *out_endpoint = NULL;
    sim_endpoint *self = hone_calloc(1, sizeof *self);
    if (!self) return HONE_ERROR(HONE_CODE_NO_MEMORY, "endpoint");
    self->simnet = simnet;
    hone_status st = hone_net_init(&self->net, &memory_vtable, &simnet->clock->clock, address,
                                   max_frame_bytes, queue_frames);
    if (!st && !hone_vec_push(&simnet->endpoints, self)) {
        st = HONE_ERROR(HONE_CODE_NO_MEMORY, "endpoint");
    }
    if (st) {
        hone_free(self->net.address);
        hone_free(self);
        return st;
    }
    *out_endpoint = self;
    return HONE_OK;
}

/* A port for the "*" of an address. */
static hone_status pick_port(sim_endpoint *self) {
    hone_str address = {0};
    char *star = strchr(strrchr(self->net.address, ':'), '*');
    if (!star) return HONE_OK;
    hone_str_append_n(&address, self->net.address, (size_t)(star - self->net.address));
    hone_str_printf(&address, "%u", (unsigned)(1 + self->simnet->ports++ % 65535));
    HONE_TRY(hone_str_check(&address));
    hone_free(self->net.address);
    self->net.address = hone_str_take(&address);
    return HONE_OK;
}

hone_status hone_simnet_listen(hone_simnet *simnet, const hone_net_server_options *options,
                               hone_net **out_net) {
    assert(simnet && options && out_net);
    *out_net = NULL;
    sim_endpoint *self = NULL;
    HONE_TRY(hone_net_check_server(options));
    if (find_server(simnet, options->address)) {
        return HONE_ERROR(HONE_CODE_UNAVAILABLE, "%s: somebody listens there already",
                          options->address);
    }
    HONE_TRY(make_endpoint(simnet, options->address, options->max_frame_bytes,
                           options->queue_frames, &self));
    hone_status st = pick_port(self);
    if (st) {
        hone_net_destroy(&self->net);
        return st;
    }
    self->is_server = true;
    self->is_insecure = options->is_insecure;
    if (!options->is_insecure) self->keys = options->keys;
    self->allow = options->allow;
    self->allow_context = options->allow_context;
    self->max_peers = options->max_peers > 0 ? options->max_peers : HONE_NET_DEFAULT_MAX_PEERS;
    *out_net = &self->net;
    return HONE_OK;
}

hone_status hone_simnet_connect(hone_simnet *simnet, const hone_net_client_options *options,
                                hone_net **out_net) {
    assert(simnet && options && out_net);
    *out_net = NULL;
    sim_endpoint *self = NULL;
    HONE_TRY(hone_net_check_client(options));
    HONE_TRY(make_endpoint(simnet, options->address, options->max_frame_bytes,
                           options->queue_frames, &self));
    self->is_insecure = options->is_insecure;
    if (!options->is_insecure) self->keys = options->keys;
    self->server_key = options->server_key;
    self->attempt_ns = now_of(simnet);
    net_backoff_init(&self->backoff, options);
    *out_net = &self->net;
    return HONE_OK;
}

/* ---- the network ---- */

hone_status hone_simnet_create(hone_virtual_clock *clock, uint64_t seed, hone_simnet **out_simnet) {
    assert(clock && out_simnet);
    *out_simnet = hone_calloc(1, sizeof **out_simnet);
    if (!*out_simnet) return HONE_ERROR(HONE_CODE_NO_MEMORY, "network");
    (*out_simnet)->clock = clock;
    (*out_simnet)->rng = hone_rng_from_seed(seed);
    return HONE_OK;
}

void hone_simnet_destroy(hone_simnet *simnet) {
    if (!simnet) return;
    assert(simnet->endpoints.count == 0 && simnet->links.count == 0);
    hone_vec_deinit(&simnet->endpoints);
    hone_vec_deinit(&simnet->links);
    hone_free(simnet);
}

void hone_simnet_set_faults(hone_simnet *simnet, const hone_simnet_faults *faults) {
    simnet->faults = *faults;
}

void hone_simnet_set_tap(hone_simnet *simnet, hone_simnet_tap tap, void *context) {
    simnet->tap = tap;
    simnet->tap_context = context;
}

void hone_simnet_cut(hone_simnet *simnet, hone_net *endpoint, bool is_cut) {
    sim_endpoint *self = as_sim(endpoint);
    self->is_cut = is_cut;
    int64_t end_ns = now_of(simnet) + CUT_LIMIT_NS;
    for (size_t i = 0; i < simnet->links.count; i++) {
        sim_link *link = simnet->links.data[i];
        sim_endpoint *client = link->sides[0].endpoint, *server = link->sides[1].endpoint;
        if (link->is_dead || (client != self && server != self)) continue;
        if (!client->is_cut && !server->is_cut) {
            link->cut_end_ns = HONE_DEADLINE_NEVER;
        } else if (link->cut_end_ns == HONE_DEADLINE_NEVER) {
            link->cut_end_ns = end_ns;
        }
    }
}

void hone_simnet_break(hone_simnet *simnet, hone_net *endpoint) {
    for (size_t i = simnet->links.count; i-- > 0;) {
        if (i >= simnet->links.count) continue;
        sim_link *link = simnet->links.data[i];
        for (int side = 0; side < 2; side++) {
            if (link->sides[side].endpoint != as_sim(endpoint)) continue;
            kill_link(simnet, link);
            break;
        }
    }
}

int64_t hone_simnet_next_ns(const hone_simnet *simnet) {
    int64_t next = HONE_DEADLINE_NEVER;
    for (size_t i = 0; i < simnet->endpoints.count; i++) {
        int64_t of = next_of(simnet->endpoints.data[i]);
        if (of < next) next = of;
    }
    for (size_t i = 0; i < simnet->links.count; i++) {
        const sim_link *link = simnet->links.data[i];
        if (!link->is_dead && link->cut_end_ns < next) next = link->cut_end_ns;
    }
    return next;
}

size_t hone_simnet_frames(const hone_simnet *simnet) {
    return simnet->frames;
}

size_t hone_simnet_peak_bytes(const hone_simnet *simnet) {
    return simnet->peak_bytes;
}
