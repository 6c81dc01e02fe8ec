/* net/net_zmq_server.c - a ROUTER: one peer for each connection that got through the handshake.
 *
 *     ZAP request ──► allow? ──► handshake ──► connection (by descriptor) ──► first message ──►
 * peer
 *
 * ZeroMQ names a peer by a routing id in its messages, and a connection by a descriptor in the
 * events of its monitor; a message tells both. So a lost connection is known by its descriptor, and
 * a peer is cut off by shutting that descriptor down. Descriptors are used again: what is left over
 * of an older connection is recognised by its routing id, and dropped.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "net/net_zmq_impl.h"
#include "support/core/alloc.h"
#include "support/data/map.h"
#include "support/data/vec.h"

#define CLOSE_LINGER_NS (NET_ZMQ_LINGER_MS * HONE_NS_PER_MS)
#define BACKLOG_PERIOD_NS (500 * HONE_NS_PER_MS)
#define BACKLOG_SLACK_BYTES (256 << 10)

enum { ROUTE_BYTES = 5, ADDRESS_BYTES = 64, ZAP_FRAMES = 7 };

typedef struct zmq_peer {
    hone_net_peer id;
    uint8_t route[ROUTE_BYTES];
    int fd;
    hone_key key;
    char address[ADDRESS_BYTES];
    bool is_closing; /* by hone_net_close_peer */
    bool is_ended;   /* the connection is gone: CLOSED follows what was received */
    int64_t cut_ns;  /* is_closing: when the descriptor is shut down */
} zmq_peer;

/* A TCP connection, from its acceptance to its end. */
typedef struct zmq_connection {
    zmq_peer *peer;       /* NULL before its first message */
    uint64_t taken_bytes; /* of the wire, in messages that were received here */
} zmq_connection;

typedef struct zmq_server {
    net_zmq base; /* first */
    void *router, *monitor, *zap;
    hone_net_peer last_id;
    hone_u64map connections;          /* descriptor → zmq_connection *, owned */
    hone_u64map routes;               /* routing id → zmq_peer *, owned */
    hone_u64map peers;                /* id → zmq_peer * */
    size_t closing, ended;            /* how many of the peers are so */
    int64_t backlog_ns;               /* when backlogs are looked at again */
    char last_address[ADDRESS_BYTES]; /* of the peer whose CLOSED was returned last */
    zmq_peer *held; /* whose message waits in base.message while OPENED is delivered */
    int32_t max_peers;
    bool is_insecure;
    hone_key_pair keys;
    bool (*allow)(void *context, const hone_key *key);
    void *allow_context;
    int64_t refusal_log_ns; /* when a stranger may be logged again */
    uint64_t unlogged;      /* strangers since the last line */
} zmq_server;

static zmq_server *as_server(hone_net *net) {
    return (zmq_server *)net;
}

static void *pointer_of(uint64_t value) {
    return (void *)(uintptr_t)value;
}

static uint64_t route_key(const uint8_t route[ROUTE_BYTES]) {
    uint64_t key = 0;
    for (int i = 0; i < ROUTE_BYTES; i++)
        key = key << 8 | route[i];
    return key;
}

/* ---- who may come in (ZeroMQ RFC 27) ---- */

typedef struct zap_request {
    zmq_msg_t frames[ZAP_FRAMES];
    int count;
} zap_request;

static bool frame_is(zmq_msg_t *frame, const char *text) {
    return zmq_msg_size(frame) == strlen(text) &&
           memcmp(zmq_msg_data(frame), text, strlen(text)) == 0;
}

/* Version, request id, domain, address, identity, mechanism, credentials. */
static bool receive_zap(zmq_server *self, zap_request *request) {
    bool is_more = true;
    request->count = 0;
    while (is_more && request->count < ZAP_FRAMES) {
        zmq_msg_t *frame = &request->frames[request->count];
        zmq_msg_init(frame);
        if (zmq_msg_recv(frame, self->zap, ZMQ_DONTWAIT) < 0) {
            zmq_msg_close(frame);
            return request->count > 0;
        }
        is_more = zmq_msg_more(frame);
        request->count++;
    }
    if (is_more) net_zmq_drop_rest(self->zap, &request->frames[request->count - 1]);
    return true;
}

static bool is_allowed(zmq_server *self, zap_request *request, hone_key *out_key) {
    *out_key = (hone_key){{0}};
    if (request->count < 6 || !frame_is(&request->frames[0], "1.0")) return false;
    if (self->is_insecure) return frame_is(&request->frames[5], "NULL");
    if (request->count != ZAP_FRAMES || !frame_is(&request->frames[5], "CURVE") ||
        zmq_msg_size(&request->frames[6]) != HONE_KEY_BYTES) {
        return false;
    }
    memcpy(out_key->bytes, zmq_msg_data(&request->frames[6]), HONE_KEY_BYTES);
    return !self->allow || self->allow(self->allow_context, out_key);
}

static void answer_zap(zmq_server *self, zap_request *request, bool ok, const hone_key *key) {
    char user[HONE_KEY_TEXT_BYTES];
    const char *code = ok ? "200" : "400", *text = ok ? "OK" : "this key is not allowed";
    hone_key_print(key, user);
    size_t user_bytes = ok ? strlen(user) : 0;
    zmq_send(self->zap, "1.0", 3, ZMQ_SNDMORE);
    if (request->count > 1) {
        zmq_send(self->zap, zmq_msg_data(&request->frames[1]), zmq_msg_size(&request->frames[1]),
                 ZMQ_SNDMORE);
    } else {
        zmq_send(self->zap, "", 0, ZMQ_SNDMORE);
    }
    zmq_send(self->zap, code, 3, ZMQ_SNDMORE);
    zmq_send(self->zap, text, strlen(text), ZMQ_SNDMORE);
    zmq_send(self->zap, user, user_bytes, ZMQ_SNDMORE);
    zmq_send(self->zap, "", 0, 0); /* no metadata */
}

/* One line a second at most: whoever knocks must not fill the disk. */
static void log_stranger(zmq_server *self, const hone_key *key) {
    char text[HONE_KEY_TEXT_BYTES], more[48] = "";
    int64_t now_ns = hone_clock_now(self->base.net.clock);
    if (now_ns < self->refusal_log_ns) {
        self->unlogged++;
        return;
    }
    if (self->unlogged) {
        snprintf(more, sizeof more, ", and %" PRIu64 " more before it", self->unlogged);
    }
    self->unlogged = 0;
    self->refusal_log_ns = now_ns + HONE_NS_PER_S;
    HONE_LOG(self->base.log, HONE_LOG_WARNING, "refused a connection with the unknown key %s%s",
             hone_key_print(key, text), more);
}

static void answer_all_zap(zmq_server *self) {
    zap_request request;
    while (receive_zap(self, &request)) {
        hone_key key;
        bool ok = is_allowed(self, &request, &key);
        answer_zap(self, &request, ok, &key);
        if (!ok) log_stranger(self, &key);
        for (int i = 0; i < request.count; i++)
            zmq_msg_close(&request.frames[i]);
    }
}

/* ---- connections ---- */

static zmq_connection *find_connection(const zmq_server *self, int fd) {
    uint64_t value;
    return hone_u64map_find(&self->connections, (uint64_t)fd, &value) ? pointer_of(value) : NULL;
}

/* Ends a connection; ZeroMQ notices and tells. */
static void cut_off(int fd) {
    (void)shutdown(fd, SHUT_RDWR);
}

static void forget_peer(zmq_server *self, zmq_peer *peer) {
    zmq_connection *connection = find_connection(self, peer->fd);
    if (connection && connection->peer == peer) connection->peer = NULL;
    if (self->held == peer) self->held = NULL;
    self->closing -= peer->is_closing;
    self->ended -= peer->is_ended;
    hone_u64map_remove(&self->routes, route_key(peer->route));
    hone_u64map_remove(&self->peers, peer->id);
    hone_free(peer);
}

/* A peer's connection is gone. */
static void end_peer(zmq_server *self, zmq_peer *peer) {
    if (peer->is_closing) {
        forget_peer(self, peer);
    } else if (!peer->is_ended) {
        peer->is_ended = true;
        self->ended++;
    }
}

static void end_connection(zmq_server *self, int fd) {
    zmq_connection *connection = find_connection(self, fd);
    if (!connection) return;
    hone_u64map_remove(&self->connections, (uint64_t)fd);
    zmq_peer *peer = connection->peer;
    hone_free(connection);
    if (peer) end_peer(self, peer);
}

static void begin_connection(zmq_server *self, int fd) {
    end_connection(self, fd); /* in case its end was not told */
    zmq_connection *connection = hone_calloc(1, sizeof *connection);
    if (!connection || hone_u64map_count(&self->connections) >= (size_t)self->max_peers ||
        !hone_u64map_put(&self->connections, (uint64_t)fd, (uintptr_t)connection)) {
        hone_free(connection);
        self->base.net.stats.refused++;
        cut_off(fd);
    }
}

static void read_monitor(zmq_server *self) {
    net_zmq_monitor_event event;
    while (net_zmq_next_monitor_event(self->monitor, &event)) {
        switch (event.kind) {
        case ZMQ_EVENT_ACCEPTED:
            begin_connection(self, event.value);
            break;
        case ZMQ_EVENT_DISCONNECTED:
            end_connection(self, event.value);
            break;
        case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
        case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
        case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
            self->base.net.stats.refused++;
            break;
        default:
            break;
        }
    }
}

/* ---- backlogs ----
 *
 * ZeroMQ's limit on waiting messages does not hold for the parts of one message: who sends parts
 * without an end makes the process grow. So what the kernel has received from a connection is
 * compared with what has arrived here. */

/* A frame as ZMTP sends it: header, and with CURVE a command name, a nonce, a box and flags. */
static uint64_t wire_bytes(const zmq_server *self, size_t count) {
    uint64_t body = count + (self->is_insecure ? 0 : 33);
    return body + (body > 255 ? 9 : 2);
}

static void cut_off_backlogs(zmq_server *self) {
    uint64_t fd, value, limit = BACKLOG_SLACK_BYTES;
    int64_t now_ns = hone_clock_now(self->base.net.clock);
    if (now_ns < self->backlog_ns) return;
    self->backlog_ns = now_ns + BACKLOG_PERIOD_NS;
    limit += (uint64_t)(self->base.net.queue_frames + 2) *
             (self->base.net.max_frame_bytes + NET_ZMQ_CURVE_EXTRA_BYTES);
    for (size_t i = 0; hone_u64map_next(&self->connections, &i, &fd, &value);) {
        const zmq_connection *connection = pointer_of(value);
        struct tcp_info info = {0};
        socklen_t size = sizeof info;
        if (getsockopt((int)fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) continue;
        if (info.tcpi_bytes_received <= connection->taken_bytes + limit) continue;
        HONE_LOG(self->base.log, HONE_LOG_WARNING,
                 "cut off a connection that sent %llu bytes and no end of a message",
                 (unsigned long long)(info.tcpi_bytes_received - connection->taken_bytes));
        cut_off((int)fd);
    }
}

/* ---- peers ---- */

static zmq_peer *find_peer(const hone_u64map *map, uint64_t key) {
    uint64_t value;
    return hone_u64map_find(map, key, &value) ? pointer_of(value) : NULL;
}

static hone_status add_peer(zmq_server *self, zmq_connection *connection, int fd,
                            const uint8_t route[ROUTE_BYTES], const hone_key *key,
                            const char *address, zmq_peer **out_peer) {
    zmq_peer *peer = hone_calloc(1, sizeof *peer);
    *out_peer = NULL;
    if (!peer) return HONE_ERROR(HONE_CODE_NO_MEMORY, "peer");
    peer->id = ++self->last_id;
    peer->fd = fd;
    peer->key = *key;
    memcpy(peer->route, route, ROUTE_BYTES);
    snprintf(peer->address, sizeof peer->address, "%s", address ? address : "");
    if (!hone_u64map_put(&self->routes, route_key(route), (uintptr_t)peer) ||
        !hone_u64map_put(&self->peers, peer->id, (uintptr_t)peer)) {
        forget_peer(self, peer);
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "peer");
    }
    connection->peer = peer;
    *out_peer = peer;
    return HONE_OK;
}

/* The peer of a message with a routing id that is not known yet; NULL: not to be taken. */
static hone_status new_peer(zmq_server *self, const uint8_t route[ROUTE_BYTES], zmq_msg_t *message,
                            zmq_peer **out_peer) {
    *out_peer = NULL;
    hone_key key = {{0}};
    int fd = zmq_msg_get(message, ZMQ_SRCFD);
    const char *user = zmq_msg_gets(message, "User-Id");
    read_monitor(self); /* tells of this connection, if it is still there */
    zmq_connection *connection = find_connection(self, fd);
    if (!connection) return HONE_OK;
    if (!self->is_insecure) {
        hone_status st = hone_key_parse(user ? user : "", user ? strlen(user) : 0, &key);
        if (st) {
            hone_status_free(st);
            cut_off(fd);
            return HONE_OK;
        }
    }
    if (connection->peer) {
        zmq_peer *older = connection->peer;
        connection->peer = NULL;
        end_peer(self, older);
    }
    return add_peer(self, connection, fd, route, &key, zmq_msg_gets(message, "Peer-Address"),
                    out_peer);
}

static void fill_event(const zmq_peer *peer, hone_net_event_kind kind, hone_net_event *out_event) {
    *out_event = (hone_net_event){
        .kind = kind, .peer = peer->id, .key = peer->key, .address = peer->address};
}

static void fill_message(zmq_server *self, const zmq_peer *peer, hone_net_event *out_event) {
    fill_event(peer, HONE_NET_MESSAGE, out_event);
    out_event->bytes = zmq_msg_data(&self->base.message);
    out_event->count = zmq_msg_size(&self->base.message);
}

/* A message of our clients is one frame of a size that is allowed, from a routing id that we gave.
 */
static bool is_proper(zmq_server *self, zmq_msg_t *route, zmq_msg_t *message, bool has_rest) {
    const uint8_t *bytes = zmq_msg_data(route);
    size_t count = zmq_msg_size(message);
    return zmq_msg_size(route) == ROUTE_BYTES && bytes[0] == 0 && !has_rest && count > 0 &&
           count <= self->base.net.max_frame_bytes;
}

static void count_taken(zmq_server *self, const zmq_peer *peer, size_t count) {
    zmq_connection *connection = find_connection(self, peer->fd);
    if (connection && connection->peer == peer) connection->taken_bytes += wire_bytes(self, count);
}

/* One message, of whoever has one. *out_peer NULL: there was one, but not to be taken. */
static hone_status receive_message(zmq_server *self, zmq_peer **out_peer, bool *out_any) {
    uint8_t route[ROUTE_BYTES];
    zmq_msg_t frame;
    bool has_body = false;
    *out_peer = NULL;
    zmq_msg_init(&frame);
    hone_status st = net_zmq_receive(self->router, &frame, out_any);
    if (!st && *out_any && zmq_msg_more(&frame)) {
        st = net_zmq_receive(self->router, &self->base.message, &has_body);
    }
    if (!st && has_body) {
        bool has_rest = net_zmq_drop_rest(self->router, &self->base.message);
        if (is_proper(self, &frame, &self->base.message, has_rest)) {
            memcpy(route, zmq_msg_data(&frame), ROUTE_BYTES);
            *out_peer = find_peer(&self->routes, route_key(route));
            if (!*out_peer) st = new_peer(self, route, &self->base.message, out_peer);
            if (*out_peer) count_taken(self, *out_peer, zmq_msg_size(&self->base.message));
        } else {
            cut_off(zmq_msg_get(&self->base.message, ZMQ_SRCFD));
        }
    }
    zmq_msg_close(&frame);
    return st;
}

static bool take_ended(zmq_server *self, hone_net_event *out_event) {
    hone_net_peer id;
    uint64_t value;
    for (size_t i = 0; self->ended && hone_u64map_next(&self->peers, &i, &id, &value);) {
        zmq_peer *peer = pointer_of(value);
        if (!peer->is_ended) continue;
        fill_event(peer, HONE_NET_CLOSED, out_event);
        snprintf(self->last_address, sizeof self->last_address, "%s", peer->address);
        out_event->address = self->last_address;
        forget_peer(self, peer);
        return true;
    }
    return false;
}

/* Shuts down the connections of closing peers whose time has come; sets the timer for the next. */
static void cut_closing(zmq_server *self) {
    hone_net_peer id;
    uint64_t value;
    int64_t next_ns = HONE_DEADLINE_NEVER, now_ns = hone_clock_now(self->base.net.clock);
    for (size_t i = 0; self->closing && hone_u64map_next(&self->peers, &i, &id, &value);) {
        zmq_peer *peer = pointer_of(value);
        if (!peer->is_closing) continue;
        if (peer->cut_ns <= now_ns) {
            cut_off(peer->fd);
            peer->cut_ns = HONE_DEADLINE_NEVER;
        } else if (peer->cut_ns < next_ns) {
            next_ns = peer->cut_ns;
        }
    }
    net_zmq_set_timer(&self->base, next_ns);
}

static hone_status server_step(net_zmq *base, hone_net_event *out_event, bool *out_found) {
    zmq_server *self = (zmq_server *)base;
    answer_all_zap(self);
    read_monitor(self);
    cut_closing(self);
    cut_off_backlogs(self);
    *out_found = true;
    if (self->held) {
        fill_message(self, self->held, out_event);
        self->held = NULL;
        return HONE_OK;
    }
    for (;;) {
        zmq_peer *peer = NULL;
        bool any = false;
        hone_net_peer last_id = self->last_id;
        net_zmq_clear_message(base);
        HONE_TRY(receive_message(self, &peer, &any));
        if (!any) break;
        if (!peer || peer->is_closing) continue;
        if (peer->id > last_id) {
            self->held = peer;
            fill_event(peer, HONE_NET_OPENED, out_event);
        } else {
            fill_message(self, peer, out_event);
        }
        return HONE_OK;
    }
    *out_found = take_ended(self, out_event);
    return HONE_OK;
}

/* ---- the table ---- */

static hone_status server_recv(hone_net *net, int64_t deadline_ns, hone_net_event *out_event) {
    return net_zmq_wait(&as_server(net)->base, deadline_ns, server_step, out_event);
}

static hone_status server_send(hone_net *net, hone_net_peer id, const void *bytes, size_t count) {
    zmq_server *self = as_server(net);
    zmq_peer *peer = find_peer(&self->peers, id);
    if (!peer || peer->is_closing || peer->is_ended) {
        return HONE_ERROR(HONE_CODE_NOT_FOUND, "the peer is gone");
    }
    int rc = zmq_send(self->router, peer->route, ROUTE_BYTES, ZMQ_SNDMORE | ZMQ_DONTWAIT);
    if (rc >= 0) rc = zmq_send(self->router, bytes, count, ZMQ_DONTWAIT);
    int error = rc < 0 ? errno : 0;
    net_zmq_kick_if_readable(&self->base, self->router);
    if (rc >= 0) return HONE_OK;
    if (error == EHOSTUNREACH) return HONE_ERROR(HONE_CODE_NOT_FOUND, "the peer is gone");
    if (error == EAGAIN) {
        return HONE_ERROR(HONE_CODE_UNAVAILABLE, "%d frames are waiting for this peer",
                          (int)net->queue_frames);
    }
    return HONE_ERROR(HONE_CODE_IO, "sending: %s", zmq_strerror(error));
}

static bool server_close_peer(hone_net *net, hone_net_peer id) {
    zmq_server *self = as_server(net);
    zmq_peer *peer = find_peer(&self->peers, id);
    if (!peer || peer->is_closing) return false;
    if (self->held == peer) self->held = NULL;
    if (peer->is_ended) {
        forget_peer(self, peer);
        return true;
    }
    peer->is_closing = true;
    peer->cut_ns = hone_deadline_after(net->clock, CLOSE_LINGER_NS);
    self->closing++;
    if (peer->cut_ns < self->base.timer_ns) net_zmq_set_timer(&self->base, peer->cut_ns);
    return true;
}

static int server_fd(const hone_net *net) {
    return ((const net_zmq *)net)->epoll_fd;
}

static void server_destroy(hone_net *net) {
    zmq_server *self = as_server(net);
    uint64_t key, value;
    net_zmq_close_socket(&self->base, &self->router, &self->monitor, NET_ZMQ_LINGER_MS);
    if (self->zap) zmq_close(self->zap);
    for (size_t i = 0; hone_u64map_next(&self->peers, &i, &key, &value);) {
        hone_free(pointer_of(value));
    }
    for (size_t i = 0; hone_u64map_next(&self->connections, &i, &key, &value);) {
        hone_free(pointer_of(value));
    }
    hone_u64map_deinit(&self->peers);
    hone_u64map_deinit(&self->routes);
    hone_u64map_deinit(&self->connections);
    net_zmq_deinit(&self->base);
    hone_key_pair_wipe(&self->keys);
    hone_free(self);
}

static const hone_net_vtable server_vtable = {
    .name = "zmq",
    .destroy = server_destroy,
    .recv = server_recv,
    .send = server_send,
    .close_peer = server_close_peer,
    .fd = server_fd,
};

/* ---- listening ---- */

/* Must stand before the server listens: without it ZeroMQ would let everybody in. */
static hone_status open_zap(zmq_server *self) {
    static const char domain[] = "hone";
    int linger_ms = 0, mandatory = 1;
    self->zap = zmq_socket(self->base.context, ZMQ_REP);
    if (!self->zap || zmq_setsockopt(self->zap, ZMQ_LINGER, &linger_ms, sizeof linger_ms) != 0 ||
        zmq_bind(self->zap, "inproc://zeromq.zap.01") != 0 ||
        zmq_setsockopt(self->router, ZMQ_ZAP_DOMAIN, domain, sizeof domain - 1) != 0 ||
        zmq_setsockopt(self->router, ZMQ_ROUTER_MANDATORY, &mandatory, sizeof mandatory) != 0) {
        return HONE_ERROR(HONE_CODE_INTERNAL, "the door keeper: %s", zmq_strerror(errno));
    }
    return net_zmq_watch(&self->base, self->zap);
}

static hone_status bind_router(zmq_server *self) {
    char address[256];
    size_t size = sizeof address;
    const char *local = "tcp://localhost:";
    const char *wanted = self->base.net.address;
    if (strncmp(wanted, local, strlen(local)) == 0) { /* ZeroMQ binds to no names */
        snprintf(address, sizeof address, "tcp://127.0.0.1:%s", wanted + strlen(local));
        wanted = address;
    }
    if (zmq_bind(self->router, wanted) != 0) {
        hone_code code = errno == EINVAL ? HONE_CODE_INVALID : HONE_CODE_UNAVAILABLE;
        const char *why = errno == EADDRINUSE ? "somebody listens there already"
                          : errno == EADDRNOTAVAIL || errno == ENODEV
                              ? "that is no address of this machine"
                              : zmq_strerror(errno);
        return HONE_ERROR(code, "%s: %s", self->base.net.address, why);
    }
    if (zmq_getsockopt(self->router, ZMQ_LAST_ENDPOINT, address, &size) != 0) {
        return HONE_ERROR(HONE_CODE_INTERNAL, "where it listens: %s", zmq_strerror(errno));
    }
    char *real = hone_strdup(address);
    if (!real) return HONE_ERROR(HONE_CODE_NO_MEMORY, "address");
    hone_free(self->base.net.address);
    self->base.net.address = real;
    return HONE_OK;
}

static hone_status listen_on(zmq_server *self) {
    char first = self->base.net.address[strlen("tcp://")];
    const net_zmq_socket_options options = {
        .keys = self->is_insecure ? NULL : &self->keys,
        .is_ipv6 = first == '[' || first == '*',
    };
    HONE_TRY(net_zmq_init(&self->base, self->is_insecure));
    HONE_TRY(net_zmq_open_socket(&self->base, ZMQ_ROUTER, &options, &self->router, &self->monitor));
    HONE_TRY(open_zap(self));
    return bind_router(self);
}

hone_status hone_net_zmq_listen(const hone_net_server_options *options, hone_net **out_net) {
    assert(options && out_net);
    *out_net = NULL;
    HONE_TRY(hone_net_check_server(options));
    zmq_server *self = hone_calloc(1, sizeof *self);
    if (!self) return HONE_ERROR(HONE_CODE_NO_MEMORY, "server");
    hone_status st =
        hone_net_init(&self->base.net, &server_vtable, hone_clock_system(), options->address,
                      options->max_frame_bytes, options->queue_frames);
    if (st) {
        hone_free(self);
        return st;
    }
    self->base.log = options->log;
    self->max_peers = options->max_peers > 0 ? options->max_peers : HONE_NET_DEFAULT_MAX_PEERS;
    self->is_insecure = options->is_insecure;
    if (!self->is_insecure) self->keys = options->keys;
    self->allow = options->allow;
    self->allow_context = options->allow_context;
    st = listen_on(self);
    if (st) {
        hone_net_destroy(&self->base.net);
        return st;
    }
    *out_net = &self->base.net;
    return HONE_OK;
}
