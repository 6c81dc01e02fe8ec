/* net/net_zmq_impl.h - what the server and the client of net_zmq.h have in common.
 *
 * ZeroMQ's descriptors are edge-triggered in disguise: they are readable when commands wait for a
 * socket, not when messages do, and any call on the socket may eat those commands. So the
 * descriptor of an endpoint is an epoll set of them, of a timer, and of an eventfd by which the
 * endpoint reminds itself that there is something left to look at.
 */
#ifndef HONE_NET_NET_ZMQ_IMPL_H
#define HONE_NET_NET_ZMQ_IMPL_H

#include <zmq.h>

#include "net/net_impl.h"
#include "net/net_zmq.h"

/* Liveness below the messages: bytes that nobody takes for so long end a connection. ZeroMQ's own
 * heartbeats are not used: in libzmq 4.3 one that falls due on a connection that broke
 * while its queue was full ends the process ("Assertion failed: !_io_error"). */
enum {
    NET_ZMQ_HANDSHAKE_MS = 10000,
    NET_ZMQ_SILENCE_MS = 20000,
    NET_ZMQ_LINGER_MS = 500,
    NET_ZMQ_CURVE_EXTRA_BYTES = 64, /* what encryption adds to a frame, generously */
};

typedef struct net_zmq {
    hone_net net; /* first */
    void *context;
    int epoll_fd, timer_fd, kick_fd;
    int64_t timer_ns; /* what timer_fd is set to */
    uint32_t monitors;
    zmq_msg_t message; /* of the event that was returned last, or that is held back */
    const hone_log *log;
} net_zmq;

/* Makes context and descriptors; UNSUPPORTED without CURVE unless insecure. On failure nothing is
 * left but what net_zmq_deinit frees. */
HONE_NODISCARD hone_status net_zmq_init(net_zmq *self, bool is_insecure);
void net_zmq_deinit(net_zmq *self);

typedef struct net_zmq_socket_options {
    const hone_key *server_key; /* of a client; NULL for a server or without encryption */
    const hone_key_pair *keys;  /* NULL: without encryption */
    bool is_ipv6;
} net_zmq_socket_options;

/* A ROUTER or DEALER with all options set, in the epoll set, and the PAIR that tells what happens
 * to its connections. */
HONE_NODISCARD hone_status net_zmq_open_socket(net_zmq *self, int type,
                                               const net_zmq_socket_options *options,
                                               void **out_socket, void **out_monitor);
/* Ends both, giving what was sent linger_ms; leaves NULL. */
void net_zmq_close_socket(net_zmq *self, void **socket, void **monitor, int linger_ms);

HONE_NODISCARD hone_status net_zmq_watch(net_zmq *self, void *socket);

typedef struct net_zmq_monitor_event {
    int kind; /* ZMQ_EVENT_… */
    int value;
} net_zmq_monitor_event;

/* False when there is none. */
bool net_zmq_next_monitor_event(void *monitor, net_zmq_monitor_event *out_event);

/* Makes the descriptor readable at a moment, or (kick) at once. */
void net_zmq_set_timer(net_zmq *self, int64_t at_ns);
/* Lets the socket see to what waits for it, which takes its signal away: is there a message? */
bool net_zmq_is_readable(void *socket);
/* After a call that may have eaten the signal of a message: kicks when there is one. */
void net_zmq_kick_if_readable(net_zmq *self, void *socket);

/* Calls step until it finds an event, fails, or the deadline has passed. */
HONE_NODISCARD hone_status net_zmq_wait(net_zmq *self, int64_t deadline_ns,
                                        hone_status (*step)(net_zmq *self,
                                                            hone_net_event *out_event,
                                                            bool *out_found),
                                        hone_net_event *out_event);

/* Empties self->message for the next one. */
void net_zmq_clear_message(net_zmq *self);

/* Receives into `message` without waiting; false when there is nothing. IO. */
HONE_NODISCARD hone_status net_zmq_receive(void *socket, zmq_msg_t *message, bool *out_found);
/* Drops the frames that belong to `message`, which came last; true when there were any. */
bool net_zmq_drop_rest(void *socket, const zmq_msg_t *message);

#endif
