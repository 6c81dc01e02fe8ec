/* tests/conformance/net_world.h - servers and clients of one transport, driven together by one
 * thread, with what they received written down.
 *
 * Over the simulated network time is virtual; over ZeroMQ a wait is bounded by a minute and ends
 * as soon as what it waits for is there.
 */
#ifndef HONE_TESTS_CONFORMANCE_NET_WORLD_H
#define HONE_TESTS_CONFORMANCE_NET_WORLD_H

#include "net/net.h"
#include "support/data/vec.h"
#include "tests/support/simnet.h"

typedef enum net_transport { NET_OVER_MEMORY, NET_OVER_ZMQ } net_transport;

enum { NET_WORLD_MAX = 40 };

typedef struct net_note {
    hone_net_event_kind kind;
    hone_net_peer peer;
    hone_net_reason reason;
    hone_key key;
    uint8_t *bytes; /* a copy */
    size_t count;
} net_note;

typedef struct net_party {
    hone_net *net;
    bool echoes;        /* sends each message back */
    bool is_slow;       /* is not asked for what it received */
    hone_net_peer peer; /* the last one that was opened */
    HONE_VEC(net_note) notes;
} net_party;

typedef struct net_world {
    net_transport transport;
    hone_virtual_clock clock;
    hone_simnet *simnet;
    net_party *parties[NET_WORLD_MAX];
    size_t count;
    hone_key_pair server_keys, client_keys, other_keys;
} net_world;

void net_world_init(net_world *world, net_transport transport);
void net_world_deinit(net_world *world); /* destroys all parties */

/* Fills in address (any loopback port) and keys where they are not set. */
net_party *net_world_listen(net_world *world, hone_net_server_options options);
net_party *net_world_connect(net_world *world, const net_party *server,
                             hone_net_client_options options);
/* Listening and connecting without a party, for what is to fail. */
hone_status net_world_try_listen(net_world *world, const hone_net_server_options *options,
                                 hone_net **out_net);
hone_status net_world_try_connect(net_world *world, const hone_net_client_options *options,
                                  hone_net **out_net);
void net_world_remove(net_world *world, net_party *party);

/* Lets every party take what is there; true when there was something. */
bool net_world_step(net_world *world);
/* Waits until something may have happened. */
void net_world_pause(net_world *world);

/* How many notes of a kind a party has. */
size_t net_party_count(const net_party *party, hone_net_event_kind kind);
/* Goes on until the party has `count` notes of a kind (from its beginning); fails the test after a
 * minute. Returns the last of them. */
const net_note *net_world_await(net_world *world, net_party *party, hone_net_event_kind kind,
                                size_t count);
/* Goes on for a while, whatever happens. */
void net_world_run_for(net_world *world, int64_t duration_ns);

#endif
