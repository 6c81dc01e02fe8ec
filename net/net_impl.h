/* net/net_impl.h - for implementations only; everybody else includes net.h. */
#ifndef HONE_NET_NET_IMPL_H
#define HONE_NET_NET_IMPL_H

#include "net/net.h"

/* The dispatcher has checked arguments, cleared outputs, and counts frames. */
typedef struct hone_net_vtable {
    const char *name; /* "zmq", "memory" */
    void (*destroy)(hone_net *self);
    hone_status (*recv)(hone_net *self, int64_t deadline_ns, hone_net_event *out_event);
    hone_status (*send)(hone_net *self, hone_net_peer peer, const void *bytes, size_t count);
    bool (*close_peer)(hone_net *self, hone_net_peer peer); /* was it open? */
    int (*fd)(const hone_net *self);
} hone_net_vtable;

struct hone_net {
    const hone_net_vtable *vtable;
    const hone_clock *clock;
    char *address; /* owned */
    size_t max_frame_bytes;
    int32_t queue_frames;
    hone_net_stats stats; /* `refused` is the implementation's to count */
};

/* Zero means the default. NO_MEMORY. */
HONE_NODISCARD hone_status hone_net_init(hone_net *net, const hone_net_vtable *vtable,
                                         const hone_clock *clock, const char *address,
                                         size_t max_frame_bytes, int32_t queue_frames);

/* Checks what both implementations want of options. INVALID. */
HONE_NODISCARD hone_status hone_net_check_server(const hone_net_server_options *options);
HONE_NODISCARD hone_status hone_net_check_client(const hone_net_client_options *options);

/* The pauses between a client's attempts. */
typedef struct net_backoff {
    int64_t min_ns, max_ns, next_ns;
} net_backoff;

void net_backoff_init(net_backoff *backoff, const hone_net_client_options *options);
void net_backoff_reset(net_backoff *backoff); /* a connection came about */
/* The pause to make now: from half of the step to the step; `random` is any 64 random bits. */
int64_t net_backoff_pause(net_backoff *backoff, uint64_t random);

#endif
