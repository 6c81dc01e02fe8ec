/* net/net.h - endpoints that carry opaque frames between processes.
 *
 * A server has a peer for each connection, a client has one at a time: the server. A frame is a
 * message: it arrives whole or not at all, in the order it was sent while the connection lasts, and
 * not again after it (tests have a network that is worse on purpose:
 * tests/support/simnet.h). Clients connect again by
 * themselves, with backoff and jitter; each connection is a new peer, on both sides. Whether a
 * message arrived only an answer can tell.
 *
 *     client  ──(FAILED)*── OPENED ── MESSAGE* ── CLOSED ──(FAILED)*── OPENED …
 *     server              { OPENED ── MESSAGE* ── CLOSED } for each peer; OPENED comes with the
 *                                                            first message
 *
 * All connections are encrypted and both sides know each other's key (key.h): a client names the
 * key that the server must have, the server asks `allow` about the client's. Insecure endpoints
 * have no keys and exist on loopback addresses only.
 *
 * Implementations: net_zmq.h (ROUTER and DEALER over TCP); in tests one in memory, under virtual
 * time.
 * Lifetime:  hone_net_destroy; what was sent gets a moment to leave.
 * Threads:   one thread uses an endpoint; nothing here blocks but recv, until its deadline.
 * Layer:     support only.
 */
#ifndef HONE_NET_NET_H
#define HONE_NET_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/key.h"
#include "support/core/status.h"
#include "support/os/clock.h"
#include "support/os/log.h"

typedef struct hone_net hone_net;
typedef uint64_t hone_net_peer; /* a connection: never 0, never used again by this endpoint */

enum {
    HONE_NET_DEFAULT_MAX_FRAME_BYTES = 4 << 20,
    HONE_NET_DEFAULT_QUEUE_FRAMES = 64,
    HONE_NET_DEFAULT_MAX_PEERS = 1024,
};

typedef struct hone_net_server_options {
    /* "tcp://0.0.0.0:9190", "tcp://[::]:9190"; "*" as the port: any free one (hone_net_address) */
    const char *address;
    hone_key_pair keys; /* the server's own; not looked at when insecure */
    /* May a client with this key connect? Called in hone_net_recv, once per connection. NULL: any
     * key may. Not called when insecure. */
    bool (*allow)(void *context, const hone_key *key);
    void *allow_context;
    bool is_insecure;       /* no keys, no encryption; loopback addresses only */
    size_t max_frame_bytes; /* a peer that sends more is cut off; 0 = 4 MiB */
    int32_t queue_frames;   /* that wait for one peer, and from one peer; 0 = 64 */
    int32_t max_peers;      /* connections beyond it are cut off; 0 = 1024 */
    const hone_log *log;    /* debug lines; NULL: none */
} hone_net_server_options;

typedef struct hone_net_client_options {
    const char *address;      /* "tcp://host:9190", "tcp://[::1]:9190" */
    hone_key server_key;      /* the public key that the server must have */
    hone_key_pair keys;       /* one's own */
    bool is_insecure;         /* loopback addresses only */
    size_t max_frame_bytes;   /* 0 = 4 MiB */
    int32_t queue_frames;     /* 0 = 64 */
    int64_t reconnect_min_ns; /* the first pause after a failure, doubled for each further one … */
    int64_t reconnect_max_ns; /* … up to this, each with jitter; 0 and 0 = 100 ms and 2 s */
    const hone_log *log;
} hone_net_client_options;

typedef enum hone_net_event_kind {
    HONE_NET_OPENED,  /* there is a new peer */
    HONE_NET_MESSAGE, /* from an open peer */
    HONE_NET_CLOSED,  /* an open peer is gone; frames under way are lost */
    HONE_NET_FAILED,  /* client: an attempt to connect came to nothing; it will try again */
} hone_net_event_kind;

typedef enum hone_net_reason {
    HONE_NET_LOST,   /* the connection ended (also: by who got too large a frame), or there was no
                        answer */
    HONE_NET_NOBODY, /* FAILED: nothing listens there, or the host is not known */
    HONE_NET_KEY_REFUSED, /* FAILED: the server does not allow this client's key */
    HONE_NET_BAD_PEER,    /* FAILED: the handshake broke off, as it does with a wrong server key */
    HONE_NET_SILENT,      /* FAILED: somebody is there, and says nothing */
} hone_net_reason;

typedef struct hone_net_event {
    hone_net_event_kind kind;
    hone_net_peer peer;     /* 0 for FAILED */
    hone_net_reason reason; /* CLOSED, FAILED */
    hone_key key;           /* the peer's public key, authenticated; zero when insecure */
    const char *address;    /* where the peer is, "192.0.2.7", for people; never NULL */
    const uint8_t *bytes;   /* MESSAGE */
    size_t count;
} hone_net_event;

typedef struct hone_net_stats {
    uint64_t frames_in, frames_out, bytes_in, bytes_out;
    uint64_t refused; /* connections that did not get through the handshake */
    uint64_t peers;   /* open now */
} hone_net_stats;

/* The next event; waits for it until `deadline_ns` of hone_net_clock (HONE_DEADLINE_NOW: just
 * looks). What the event points to is the endpoint's, until the next call of any function on it.
 * TIMEOUT: none yet. IO, NO_MEMORY: the endpoint is of no more use. A server does its part of the
 * handshakes here, a client its connecting: call it whenever hone_net_fd is readable. */
HONE_NODISCARD hone_status hone_net_recv(hone_net *net, int64_t deadline_ns,
                                         hone_net_event *out_event);

/* Sends one frame, which is copied; never waits. NOT_FOUND: there is no such peer (any more).
 * UNAVAILABLE: queue_frames are waiting for this peer already: try again later. INVALID: larger
 * than max_frame_bytes, or empty. */
HONE_NODISCARD hone_status hone_net_send(hone_net *net, hone_net_peer peer, const void *bytes,
                                         size_t count);

/* Ends a connection: at once nothing more is received from it or can be sent to it; what was sent
 * before has half a second to leave. No CLOSED event follows. A client connects again. A peer
 * that is not there (any more) is allowed. */
void hone_net_close_peer(hone_net *net, hone_net_peer peer);

/* Readable when hone_net_recv has something to do: then call it with HONE_DEADLINE_NOW until
 * TIMEOUT. Owned by the endpoint. -1: there is no such, as where time is simulated. */
int hone_net_fd(const hone_net *net);

/* The clock of its deadlines: the system's, or that of the simulation. */
const hone_clock *hone_net_clock(const hone_net *net);

/* Server: where it listens, with the real port. Client: where it connects to. */
const char *hone_net_address(const hone_net *net);

size_t hone_net_max_frame_bytes(const hone_net *net);
hone_net_stats hone_net_get_stats(const hone_net *net);

/* "connection lost", "nobody listens there", … */
const char *hone_net_reason_text(hone_net_reason reason);

void hone_net_destroy(hone_net *net); /* NULL is allowed */

/* INVALID, with what is expected, unless it is "tcp://HOST:PORT"; is_server: the port may be "*".
 */
HONE_NODISCARD hone_status hone_net_check_address(const char *address, bool is_server);

#endif
