/* net/net_zmq.c - see net_zmq_impl.h. */
#include "net/net_zmq.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "net/net_zmq_impl.h"
#include "support/os/proc.h"

/* ---- descriptors ---- */

static hone_status watch_fd(net_zmq *self, int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(self->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0) return HONE_OK;
    return HONE_ERROR(HONE_CODE_IO, "cannot wait for a descriptor: %s", strerror(errno));
}

static int fd_of(void *socket) {
    int fd = -1;
    size_t size = sizeof fd;
    zmq_getsockopt(socket, ZMQ_FD, &fd, &size);
    return fd;
}

hone_status net_zmq_watch(net_zmq *self, void *socket) {
    return watch_fd(self, fd_of(socket));
}

static void unwatch(net_zmq *self, void *socket) {
    epoll_ctl(self->epoll_fd, EPOLL_CTL_DEL, fd_of(socket), NULL);
}

void net_zmq_set_timer(net_zmq *self, int64_t at_ns) {
    if (at_ns == self->timer_ns) return;
    self->timer_ns = at_ns;
    struct itimerspec spec = {.it_value.tv_sec = 0};
    if (at_ns != HONE_DEADLINE_NEVER) {
        if (at_ns < 1) at_ns = 1; /* zero would disarm it */
        spec.it_value.tv_sec = (time_t)(at_ns / HONE_NS_PER_S);
        spec.it_value.tv_nsec = (long)(at_ns % HONE_NS_PER_S);
    }
    timerfd_settime(self->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

static void kick(net_zmq *self) {
    (void)eventfd_write(self->kick_fd, 1);
}

bool net_zmq_is_readable(void *socket) {
    int events = 0;
    size_t size = sizeof events;
    return zmq_getsockopt(socket, ZMQ_EVENTS, &events, &size) != 0 || events & ZMQ_POLLIN;
}

void net_zmq_kick_if_readable(net_zmq *self, void *socket) {
    if (net_zmq_is_readable(socket)) kick(self);
}

static void drain_own_fds(net_zmq *self) {
    eventfd_t kicks;
    uint64_t ticks;
    (void)eventfd_read(self->kick_fd, &kicks);
    if (read(self->timer_fd, &ticks, sizeof ticks) > 0) self->timer_ns = HONE_DEADLINE_NEVER;
}

/* ---- life ---- */

hone_status net_zmq_init(net_zmq *self, bool is_insecure) {
    self->epoll_fd = self->timer_fd = self->kick_fd = -1;
    self->timer_ns = HONE_DEADLINE_NEVER;
    zmq_msg_init(&self->message);
    if (!is_insecure && !zmq_has("curve")) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "the ZeroMQ library of this machine has no CURVE encryption: install one "
                          "that has (Debian: libzmq5)");
    }
    self->context = zmq_ctx_new();
    self->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    self->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    self->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!self->context || self->epoll_fd < 0 || self->timer_fd < 0 || self->kick_fd < 0) {
        return HONE_ERROR(HONE_CODE_UNAVAILABLE, "a network endpoint: %s", strerror(errno));
    }
    HONE_TRY(watch_fd(self, self->timer_fd));
    return watch_fd(self, self->kick_fd);
}

void net_zmq_deinit(net_zmq *self) {
    zmq_msg_close(&self->message);
    if (self->context) zmq_ctx_term(self->context);
    hone_fd_close(&self->epoll_fd);
    hone_fd_close(&self->timer_fd);
    hone_fd_close(&self->kick_fd);
}

/* ---- sockets ---- */

typedef struct int_option {
    int name, value;
} int_option;

static hone_status set_ints(void *socket, const int_option *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (zmq_setsockopt(socket, rows[i].name, &rows[i].value, sizeof(int)) != 0) {
            return HONE_ERROR(HONE_CODE_INTERNAL, "socket option %d: %s", rows[i].name,
                              zmq_strerror(errno));
        }
    }
    return HONE_OK;
}

static hone_status set_bytes(void *socket, int name, const void *bytes, size_t count) {
    if (zmq_setsockopt(socket, name, bytes, count) == 0) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INTERNAL, "socket option %d: %s", name, zmq_strerror(errno));
}

static hone_status set_keys(void *socket, const net_zmq_socket_options *options) {
    if (!options->keys) return HONE_OK;
    int is_server = options->server_key == NULL;
    HONE_TRY(set_bytes(socket, ZMQ_CURVE_SERVER, &is_server, sizeof is_server));
    HONE_TRY(
        set_bytes(socket, ZMQ_CURVE_PUBLICKEY, options->keys->public_key.bytes, HONE_KEY_BYTES));
    HONE_TRY(
        set_bytes(socket, ZMQ_CURVE_SECRETKEY, options->keys->secret_key.bytes, HONE_KEY_BYTES));
    if (is_server) return HONE_OK;
    return set_bytes(socket, ZMQ_CURVE_SERVERKEY, options->server_key->bytes, HONE_KEY_BYTES);
}

static hone_status set_options(const net_zmq *self, void *socket,
                               const net_zmq_socket_options *options) {
    const int_option rows[] = {
        {ZMQ_SNDHWM,              self->net.queue_frames},
        {ZMQ_RCVHWM,              self->net.queue_frames},
        {ZMQ_LINGER,              NET_ZMQ_LINGER_MS     },
        {ZMQ_IPV6,                options->is_ipv6      },
        {ZMQ_HANDSHAKE_IVL,       NET_ZMQ_HANDSHAKE_MS  },
        {ZMQ_TCP_MAXRT,           NET_ZMQ_SILENCE_MS    },
        {ZMQ_TCP_KEEPALIVE,       1                     },
        {ZMQ_TCP_KEEPALIVE_IDLE,  10                    },
        {ZMQ_TCP_KEEPALIVE_INTVL, 5                     },
        {ZMQ_TCP_KEEPALIVE_CNT,   3                     },
        {ZMQ_RECONNECT_IVL,       -1                    }, /* the client's own work */
        {ZMQ_IMMEDIATE,           1                     },
    };
    int64_t max_bytes = (int64_t)self->net.max_frame_bytes + NET_ZMQ_CURVE_EXTRA_BYTES;
    HONE_TRY(set_ints(socket, rows, HONE_COUNT(rows)));
    HONE_TRY(set_bytes(socket, ZMQ_MAXMSGSIZE, &max_bytes, sizeof max_bytes));
    return set_keys(socket, options);
}

static hone_status open_monitor(net_zmq *self, void *socket, void **out_monitor) {
    char name[64];
    snprintf(name, sizeof name, "inproc://monitor-%u", (unsigned)++self->monitors);
    const int events = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_CLOSED |
                       ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                       ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                       ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
    /* No limit on waiting events: at one, the I/O thread would stop in the middle of its work. */
    const int_option rows[] = {
        {ZMQ_RCVHWM, 0},
        {ZMQ_LINGER, 0}
    };
    *out_monitor = zmq_socket(self->context, ZMQ_PAIR);
    if (!*out_monitor) {
        return HONE_ERROR(HONE_CODE_UNAVAILABLE, "a socket: %s", zmq_strerror(errno));
    }
    HONE_TRY(set_ints(*out_monitor, rows, HONE_COUNT(rows)));
    if (zmq_socket_monitor(socket, name, events) != 0 || zmq_connect(*out_monitor, name) != 0) {
        return HONE_ERROR(HONE_CODE_INTERNAL, "a socket's monitor: %s", zmq_strerror(errno));
    }
    return net_zmq_watch(self, *out_monitor);
}

hone_status net_zmq_open_socket(net_zmq *self, int type, const net_zmq_socket_options *options,
                                void **out_socket, void **out_monitor) {
    *out_monitor = NULL;
    *out_socket = zmq_socket(self->context, type);
    if (!*out_socket) {
        return HONE_ERROR(HONE_CODE_UNAVAILABLE, "a socket: %s", zmq_strerror(errno));
    }
    hone_status st = HONE_OK;
    HONE_TRY_GOTO(st, set_options(self, *out_socket, options), fail);
    HONE_TRY_GOTO(st, open_monitor(self, *out_socket, out_monitor), fail);
    HONE_TRY_GOTO(st, net_zmq_watch(self, *out_socket), fail);
    return HONE_OK;
fail:
    net_zmq_close_socket(self, out_socket, out_monitor, 0);
    return st;
}

void net_zmq_close_socket(net_zmq *self, void **socket, void **monitor, int linger_ms) {
    if (*monitor) {
        unwatch(self, *monitor);
        zmq_socket_monitor(*socket, NULL, 0);
        zmq_close(*monitor);
    }
    if (*socket) {
        unwatch(self, *socket);
        zmq_setsockopt(*socket, ZMQ_LINGER, &linger_ms, sizeof linger_ms);
        zmq_close(*socket);
    }
    *socket = *monitor = NULL;
}

bool net_zmq_next_monitor_event(void *monitor, net_zmq_monitor_event *out_event) {
    zmq_msg_t message;
    zmq_msg_init(&message);
    bool found = zmq_msg_recv(&message, monitor, ZMQ_DONTWAIT) >= 6;
    if (found) {
        const uint8_t *bytes = zmq_msg_data(&message); /* two numbers in the machine's order */
        uint16_t kind;
        int32_t value;
        memcpy(&kind, bytes, sizeof kind);
        memcpy(&value, bytes + sizeof kind, sizeof value);
        *out_event = (net_zmq_monitor_event){kind, value};
        net_zmq_drop_rest(monitor, &message);
    }
    zmq_msg_close(&message);
    return found;
}

/* ---- messages ---- */

void net_zmq_clear_message(net_zmq *self) {
    zmq_msg_close(&self->message);
    zmq_msg_init(&self->message);
}

hone_status net_zmq_receive(void *socket, zmq_msg_t *message, bool *out_found) {
    *out_found = false;
    while (zmq_msg_recv(message, socket, ZMQ_DONTWAIT) < 0) {
        if (errno == EAGAIN) return HONE_OK;
        if (errno != EINTR) return HONE_ERROR(HONE_CODE_IO, "receiving: %s", zmq_strerror(errno));
    }
    *out_found = true;
    return HONE_OK;
}

bool net_zmq_drop_rest(void *socket, const zmq_msg_t *message) {
    bool is_more = zmq_msg_more(message), found = is_more;
    zmq_msg_t rest;
    zmq_msg_init(&rest);
    while (is_more && zmq_msg_recv(&rest, socket, ZMQ_DONTWAIT) >= 0)
        is_more = zmq_msg_more(&rest);
    zmq_msg_close(&rest);
    return found;
}

hone_status net_zmq_wait(net_zmq *self, int64_t deadline_ns,
                         hone_status (*step)(net_zmq *self, hone_net_event *out_event,
                                             bool *out_found),
                         hone_net_event *out_event) {
    for (;;) {
        bool found = false;
        drain_own_fds(self);
        HONE_TRY(step(self, out_event, &found));
        if (found) return HONE_OK;
        struct pollfd poll_fd = {.fd = self->epoll_fd, .events = POLLIN};
        int timeout_ms = hone_deadline_poll_ms(self->net.clock, deadline_ns);
        int ready = poll(&poll_fd, 1, timeout_ms);
        if (ready < 0 && errno != EINTR) {
            return HONE_ERROR(HONE_CODE_IO, "waiting: %s", strerror(errno));
        }
        if (ready == 0 && timeout_ms >= 0 &&
            hone_deadline_poll_ms(self->net.clock, deadline_ns) == 0) {
            return HONE_ERROR(HONE_CODE_TIMEOUT, "nothing was received");
        }
    }
}
