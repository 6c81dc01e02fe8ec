/* tests/support/simnet.h - a network in memory, under virtual time, with faults from a seed.
 *
 * Its endpoints are those of net.h, so that whole parties run over it unchanged. Everything happens
 * in one thread: the driver of a simulation lets each party take a step (hone_net_recv with
 * HONE_DEADLINE_NOW), then moves the clock to the next moment at which something happens
 * (hone_simnet_next_ns, or a timer of a party). An endpoint that waits for a deadline moves the
 * clock itself, to its next event.
 *
 * Messages may be delayed, dropped, doubled and overtake each other, as a transport that loses its
 * connections makes it look from above, and bits of them may change, as nothing in between does.
 * The same seed and the same calls give the same run.
 */
#ifndef HONE_TESTS_SUPPORT_SIMNET_H
#define HONE_TESTS_SUPPORT_SIMNET_H

#include "net/net.h"
#include "support/data/rng.h"
#include "support/os/clock.h"

typedef struct hone_simnet hone_simnet;

/* What happens to messages from the moment it is set. Chances are from 0 to 1. */
typedef struct hone_simnet_faults {
    int64_t delay_min_ns, delay_max_ns; /* uniform between them */
    double drop, duplicate;
    double reorder; /* a message that may overtake and be overtaken */
    double lose;    /* the connection ends instead of carrying a message */
    double damage;  /* one to eight bits of a message are turned over */
} hone_simnet_faults;

/* `clock` stays the caller's and outlives the network. */
HONE_NODISCARD hone_status hone_simnet_create(hone_virtual_clock *clock, uint64_t seed,
                                              hone_simnet **out_simnet);
void hone_simnet_destroy(hone_simnet *simnet); /* after its endpoints; NULL is allowed */

/* Without faults and delay at first. */
void hone_simnet_set_faults(hone_simnet *simnet, const hone_simnet_faults *faults);

/* Endpoints. Any address text will do; one server at a time has an address (UNAVAILABLE). A party
 * is restarted by destroying its endpoint, which the other side sees as a lost connection, and
 * making a new one. */
HONE_NODISCARD hone_status hone_simnet_listen(hone_simnet *simnet,
                                              const hone_net_server_options *options,
                                              hone_net **out_net);
HONE_NODISCARD hone_status hone_simnet_connect(hone_simnet *simnet,
                                               const hone_net_client_options *options,
                                               hone_net **out_net);

/* A cut endpoint loses all that it sends and all that is sent to it, and nobody is told; after
 * 10 s its connections end. New connections are not made. `is_cut` false heals it. */
void hone_simnet_cut(hone_simnet *simnet, hone_net *endpoint, bool is_cut);

/* Ends all connections of an endpoint now; both sides are told. */
void hone_simnet_break(hone_simnet *simnet, hone_net *endpoint);

/* Sees each frame as it is sent, before anything happens to it. */
typedef void (*hone_simnet_tap)(void *context, const hone_net *from, const hone_net *to,
                                const void *bytes, size_t count);
void hone_simnet_set_tap(hone_simnet *simnet, hone_simnet_tap tap, void *context);

/* The earliest moment at which some endpoint has something to do; HONE_DEADLINE_NEVER. */
int64_t hone_simnet_next_ns(const hone_simnet *simnet);

/* Frames under way, and the most bytes there ever were under way: for bounds in tests. */
size_t hone_simnet_frames(const hone_simnet *simnet);
size_t hone_simnet_peak_bytes(const hone_simnet *simnet);

#endif
