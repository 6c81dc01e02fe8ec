/* runner/farm/farm_link.h - the connection to a tracker, as runners and tuners have it.
 *
 *   AWAY ──OPENED──► GREETING (HELLO, repeated) ──WELCOME──► UP ──lost, silent, hung up──► AWAY
 *
 * The link greets, answers pings, notices silence, and comes back by itself; what it carries is its
 * owner's. It never waits but in _receive, and knows no time but the network's.
 * Threads: one at a time. Internal to runner/.
 */
#ifndef HONE_RUNNER_FARM_FARM_LINK_H
#define HONE_RUNNER_FARM_FARM_LINK_H

#include "measure/farm.h"
#include "net/net.h"
#include "support/core/arena.h"
#include "support/core/strbuf.h"
#include "support/os/log.h"

/* ---- timers ---- */

/* Rings at once, then after `first_ns`, then ever later up to `most_ns`. */
typedef struct farm_repeat {
    int64_t at_ns, step_ns;
} farm_repeat;

void farm_repeat_start(farm_repeat *repeat, int64_t now_ns);
void farm_repeat_rang(farm_repeat *repeat, int64_t now_ns, int64_t first_ns, int64_t most_ns);

static inline void farm_sooner(int64_t *at_ns, int64_t other_ns) { /* the minimum */
    if (other_ns < *at_ns) *at_ns = other_ns;
}

/* ---- the link ---- */

typedef struct farm_link_vtable {
    /* Adds to a HELLO what only its owner knows, and sends it: what it points to is the owner's. */
    void (*say_hello)(void *owner, hone_farm_message *hello);
    /* Adds likewise to a PING, which then goes out in every heartbeat. NULL: it says nothing
       more. */
    void (*say_ping)(void *owner, hone_farm_message *ping);
    /* The tracker has greeted; `welcome` holds for this connection. */
    void (*on_welcome)(void *owner, const hone_farm_welcome *welcome);
    /* There is no connection any more. */
    void (*on_away)(void *owner, const char *why);
    /* REFUSED at any time, else what comes while the link is up. An error ends _receive. */
    hone_status (*on_message)(void *owner, const hone_farm_message *message);
    /* No connection could be made, `why` says it for people. True: the owner gave up, it is not
     * logged. */
    bool (*on_failed)(void *owner, hone_net_reason reason, const char *why);
} farm_link_vtable;

typedef struct farm_link {
    const farm_link_vtable *vtable;
    void *owner;
    hone_net *net; /* a client; not owned */
    const hone_clock *clock;
    const hone_log *log; /* NULL: silence */
    hone_farm_role role;
    hone_farm_instance instance;
    char name[HONE_FARM_NAME_BYTES], software[HONE_FARM_NAME_BYTES];

    hone_net_peer peer; /* 0: no connection */
    bool is_welcome;
    bool is_given_up;                /* nothing is said any more */
    int64_t heartbeat_ns, expiry_ns; /* terms of the tracker, or those to begin with */
    uint32_t chunk_bytes;
    int64_t heard_ns, sent_ns, pinged_ns;
    farm_repeat hello;
    hone_net_reason failure; /* the last one that was logged … */
    int64_t failure_log_ns;  /* … and when it may be logged again */
    uint64_t last_id;
    hone_arena *arena; /* of the message at hand */
    hone_str frame;
} farm_link;

typedef struct farm_link_options {
    const farm_link_vtable *vtable;
    void *owner;
    hone_net *net;
    const hone_log *log;
    hone_farm_role role;
    hone_farm_instance instance; /* not zero */
    const char *name, *software; /* NULL: "" */
} farm_link_options;

/* NO_MEMORY. Deinit also after a failure. */
HONE_NODISCARD hone_status farm_link_init(farm_link *link, const farm_link_options *options);
void farm_link_deinit(farm_link *link);

static inline int64_t farm_link_now(const farm_link *link) {
    return hone_clock_now(link->clock);
}

static inline bool farm_link_is_up(const farm_link *link) {
    return link->peer != 0 && link->is_welcome;
}

/* False when it could not be sent now: what matters is repeated by its timer. */
bool farm_link_send(farm_link *link, const hone_farm_message *message);
void farm_link_ping(farm_link *link); /* now, if the link is up */
void farm_link_send_bye(farm_link *link, const char *why);
/* Answers what there is no answer to. */
void farm_link_refuse(farm_link *link, const hone_farm_message *about, hone_farm_refusal code,
                      const char *text);
/* The tracker wants a greeting first. */
void farm_link_greet_again(farm_link *link);
/* Ends the connection; the endpoint makes a new one by itself. */
void farm_link_hang_up(farm_link *link, const char *why);

/* Handles what has come, and waits for the first of it. What the owner said, or IO, NO_MEMORY: the
 * endpoint is of no more use. */
HONE_NODISCARD hone_status farm_link_receive(farm_link *link, int64_t deadline_ns);
/* Says what is due; hangs up when nothing was heard for too long. */
void farm_link_beat(farm_link *link);
int64_t farm_link_next_ns(const farm_link *link); /* when _beat has to be called */

#endif
