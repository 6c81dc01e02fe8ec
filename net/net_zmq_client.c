/* net/net_zmq_client.c - a DEALER for each connection, one after the other.
 *
 *     WAITING ──(its time)──► CONNECTING ──(handshake)──► OPEN
 *        ▲                        │ failed                  │ lost, or closed by us
 *        └────────────────────────┴─────────────────────────┘
 *
 * ZeroMQ can connect again by itself, but does not say of which connection a message is. A new
 * socket for each attempt does.
 */
#include <assert.h>
#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "net/net_zmq_impl.h"
#include "support/core/alloc.h"

/* An attempt that leads to nothing ends after this; the handshake has a limit of its own. */
#define CONNECT_LIMIT_NS (8 * HONE_NS_PER_S)
#define HANDSHAKE_LIMIT_NS ((NET_ZMQ_HANDSHAKE_MS + 2000) * HONE_NS_PER_MS)

typedef enum client_state { CLIENT_WAITING, CLIENT_CONNECTING, CLIENT_OPEN } client_state;

typedef struct zmq_client {
    net_zmq base; /* first */
    void *dealer, *monitor;
    client_state state;
    bool is_reached;       /* CONNECTING: somebody is there */
    bool is_lost;          /* OPEN: CLOSED follows what was received */
    int64_t limit_ns;      /* WAITING: the next attempt; CONNECTING: the end of this one */
    hone_net_peer last_id; /* of the connection, when OPEN */
    uint32_t attempts;
    net_backoff backoff;
    bool is_insecure;
    hone_key server_key;
    hone_key_pair keys;
} zmq_client;

static zmq_client *as_client(hone_net *net) {
    return (zmq_client *)net;
}

static void end_socket(zmq_client *self, int linger_ms) {
    uint64_t random;
    randombytes_buf(&random, sizeof random);
    net_zmq_close_socket(&self->base, &self->dealer, &self->monitor, linger_ms);
    self->state = CLIENT_WAITING;
    self->is_lost = false;
    self->limit_ns =
        hone_deadline_after(self->base.net.clock, net_backoff_pause(&self->backoff, random));
}

/* A name may have addresses of both kinds, of which one leads nowhere: they are tried in turn. */
static bool wants_ipv6(const zmq_client *self) {
    const char *host = self->base.net.address + strlen("tcp://");
    if (*host == '[') return true;
    bool is_number = strspn(host, "0123456789.") >= strcspn(host, ":");
    return !is_number && self->attempts % 2 == 0;
}

static hone_status begin_attempt(zmq_client *self) {
    self->attempts++;
    const net_zmq_socket_options options = {
        .server_key = self->is_insecure ? NULL : &self->server_key,
        .keys = self->is_insecure ? NULL : &self->keys,
        .is_ipv6 = wants_ipv6(self),
    };
    HONE_TRY(net_zmq_open_socket(&self->base, ZMQ_DEALER, &options, &self->dealer, &self->monitor));
    if (zmq_connect(self->dealer, self->base.net.address) != 0) {
        hone_status st =
            HONE_ERROR(HONE_CODE_INVALID, "%s: %s", self->base.net.address, zmq_strerror(errno));
        net_zmq_close_socket(&self->base, &self->dealer, &self->monitor, 0);
        return st;
    }
    self->state = CLIENT_CONNECTING;
    self->is_reached = false;
    self->limit_ns = hone_deadline_after(self->base.net.clock, CONNECT_LIMIT_NS);
    return HONE_OK;
}

static void fill_event(const zmq_client *self, hone_net_event_kind kind,
                       hone_net_event *out_event) {
    *out_event = (hone_net_event){.kind = kind, .address = self->base.net.address};
    if (kind == HONE_NET_FAILED) return;
    out_event->peer = self->last_id;
    if (!self->is_insecure) out_event->key = self->server_key;
}

static bool fail_attempt(zmq_client *self, hone_net_reason reason, hone_net_event *out_event) {
    end_socket(self, 0);
    fill_event(self, HONE_NET_FAILED, out_event);
    out_event->reason = reason;
    return true;
}

/* Why a handshake ended: a wrong key is turned away at once, who is stopped says nothing until the
 * time is over. */
static hone_net_reason handshake_reason(const zmq_client *self) {
    int64_t reached_ns = self->limit_ns - HANDSHAKE_LIMIT_NS;
    int64_t passed_ns = hone_clock_now(self->base.net.clock) - reached_ns;
    bool is_silent = passed_ns >= (NET_ZMQ_HANDSHAKE_MS - 500) * HONE_NS_PER_MS;
    return is_silent ? HONE_NET_SILENT : HONE_NET_BAD_PEER;
}

/* One event of the monitor; true when it makes one of ours. */
static bool take_connection_event(zmq_client *self, int kind, hone_net_event *out_event) {
    bool is_connecting = self->state == CLIENT_CONNECTING;
    switch (kind) {
    case ZMQ_EVENT_CONNECTED:
        self->is_reached = true;
        self->limit_ns = hone_deadline_after(self->base.net.clock, HANDSHAKE_LIMIT_NS);
        return false;
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
        if (!is_connecting) return false;
        self->state = CLIENT_OPEN;
        self->limit_ns = HONE_DEADLINE_NEVER;
        self->last_id++;
        net_backoff_reset(&self->backoff);
        fill_event(self, HONE_NET_OPENED, out_event);
        return true;
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
        return is_connecting && fail_attempt(self, HONE_NET_KEY_REFUSED, out_event);
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
        return is_connecting && fail_attempt(self, handshake_reason(self), out_event);
    case ZMQ_EVENT_CLOSED: /* it could not be connected */
    case ZMQ_EVENT_DISCONNECTED:
        if (is_connecting) {
            return fail_attempt(self, self->is_reached ? handshake_reason(self) : HONE_NET_NOBODY,
                                out_event);
        }
        self->is_lost = true;
        return false;
    default:
        return false;
    }
}

static void step_connecting(zmq_client *self, hone_net_event *out_event, bool *out_found) {
    net_zmq_monitor_event event;
    int64_t now_ns = hone_clock_now(self->base.net.clock);
    if (self->state == CLIENT_WAITING && self->limit_ns <= now_ns) {
        hone_status st = begin_attempt(self);
        if (st) *out_found = fail_attempt(self, HONE_NET_LOST, out_event);
        hone_status_free(st);
    }
    while (!*out_found && self->monitor && net_zmq_next_monitor_event(self->monitor, &event)) {
        *out_found = take_connection_event(self, event.kind, out_event);
    }
    if (!*out_found && self->state == CLIENT_CONNECTING && self->limit_ns <= now_ns) {
        *out_found =
            fail_attempt(self, self->is_reached ? HONE_NET_SILENT : HONE_NET_NOBODY, out_event);
    }
    if (self->state == CLIENT_CONNECTING) (void)net_zmq_is_readable(self->dealer);
    net_zmq_set_timer(&self->base, self->limit_ns);
}

/* Messages, and when the connection is lost and there are no more: CLOSED. */
static hone_status step_open(zmq_client *self, hone_net_event *out_event, bool *out_found) {
    zmq_msg_t *message = &self->base.message;
    bool is_lost = self->is_lost; /* before what was received is looked at */
    HONE_TRY(net_zmq_receive(self->dealer, message, out_found));
    if (*out_found) {
        bool has_rest = net_zmq_drop_rest(self->dealer, message);
        size_t count = zmq_msg_size(message);
        if (!has_rest && count > 0 && count <= self->base.net.max_frame_bytes) {
            fill_event(self, HONE_NET_MESSAGE, out_event);
            out_event->bytes = zmq_msg_data(message);
            out_event->count = count;
            return HONE_OK;
        }
        is_lost = true; /* that is no server of ours */
    }
    *out_found = is_lost;
    if (!is_lost) return HONE_OK;
    fill_event(self, HONE_NET_CLOSED, out_event);
    end_socket(self, 0);
    net_zmq_set_timer(&self->base, self->limit_ns);
    return HONE_OK;
}

static hone_status client_step(net_zmq *base, hone_net_event *out_event, bool *out_found) {
    zmq_client *self = (zmq_client *)base;
    net_zmq_clear_message(base);
    step_connecting(self, out_event, out_found);
    if (!*out_found && self->state == CLIENT_OPEN) HONE_TRY(step_open(self, out_event, out_found));
    return HONE_OK;
}

/* ---- the table ---- */

static hone_status client_recv(hone_net *net, int64_t deadline_ns, hone_net_event *out_event) {
    return net_zmq_wait(&as_client(net)->base, deadline_ns, client_step, out_event);
}

static bool is_open(const zmq_client *self, hone_net_peer peer) {
    return self->state == CLIENT_OPEN && peer == self->last_id;
}

static hone_status client_send(hone_net *net, hone_net_peer peer, const void *bytes, size_t count) {
    zmq_client *self = as_client(net);
    if (!is_open(self, peer) || self->is_lost) {
        return HONE_ERROR(HONE_CODE_NOT_FOUND, "the peer is gone");
    }
    int rc = zmq_send(self->dealer, bytes, count, ZMQ_DONTWAIT);
    int error = rc < 0 ? errno : 0;
    net_zmq_kick_if_readable(&self->base, self->dealer);
    if (rc >= 0) return HONE_OK;
    if (error == EAGAIN) {
        return HONE_ERROR(HONE_CODE_UNAVAILABLE, "%d frames are waiting for the server",
                          (int)net->queue_frames);
    }
    return HONE_ERROR(HONE_CODE_IO, "sending: %s", zmq_strerror(error));
}

static bool client_close_peer(hone_net *net, hone_net_peer peer) {
    zmq_client *self = as_client(net);
    if (!is_open(self, peer)) return false;
    end_socket(self, NET_ZMQ_LINGER_MS);
    net_zmq_set_timer(&self->base, self->limit_ns);
    return true;
}

static int client_fd(const hone_net *net) {
    return ((const net_zmq *)net)->epoll_fd;
}

static void client_destroy(hone_net *net) {
    zmq_client *self = as_client(net);
    net_zmq_close_socket(&self->base, &self->dealer, &self->monitor, NET_ZMQ_LINGER_MS);
    net_zmq_deinit(&self->base);
    hone_key_pair_wipe(&self->keys);
    hone_free(self);
}

static const hone_net_vtable client_vtable = {
    .name = "zmq",
    .destroy = client_destroy,
    .recv = client_recv,
    .send = client_send,
    .close_peer = client_close_peer,
    .fd = client_fd,
};

hone_status hone_net_zmq_connect(const hone_net_client_options *options, hone_net **out_net) {
    assert(options && out_net);
    *out_net = NULL;
    HONE_TRY(hone_net_check_client(options));
    if (sodium_init() < 0) {
        return HONE_ERROR(HONE_CODE_INTERNAL, "the system has no random numbers");
    }
    zmq_client *self = hone_calloc(1, sizeof *self);
    if (!self) return HONE_ERROR(HONE_CODE_NO_MEMORY, "client");
    hone_status st =
        hone_net_init(&self->base.net, &client_vtable, hone_clock_system(), options->address,
                      options->max_frame_bytes, options->queue_frames);
    if (st) {
        hone_free(self);
        return st;
    }
    self->base.log = options->log;
    self->is_insecure = options->is_insecure;
    self->server_key = options->server_key;
    if (!self->is_insecure) self->keys = options->keys;
    net_backoff_init(&self->backoff, options);
    st = net_zmq_init(&self->base, self->is_insecure);
    if (!st) st = begin_attempt(self);
    if (st) {
        hone_net_destroy(&self->base.net);
        return st;
    }
    net_zmq_set_timer(&self->base, self->limit_ns);
    *out_net = &self->base.net;
    return HONE_OK;
}
