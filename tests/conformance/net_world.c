/* tests/conformance/net_world.c - see net_world.h. */
#include "tests/conformance/net_world.h"

#include <poll.h>
#include <string.h>

#include "net/net_zmq.h"
#include "support/core/alloc.h"
#include "tests/support/hone_test.h"

#define LIMIT_NS (60 * HONE_NS_PER_S)

void net_world_init(net_world *world, net_transport transport) {
    *world = (net_world){.transport = transport};
    hone_virtual_clock_init(&world->clock, HONE_NS_PER_S);
    HONE_ASSERT_OK(hone_simnet_create(&world->clock, 1, &world->simnet));
    hone_simnet_set_faults(world->simnet, &(hone_simnet_faults){.delay_min_ns = HONE_NS_PER_MS,
                                                                .delay_max_ns = HONE_NS_PER_MS});
    hone_key_pair *pairs[] = {&world->server_keys, &world->client_keys, &world->other_keys};
    for (size_t i = 0; i < HONE_COUNT(pairs); i++) {
        hone_key secret = {
            {(uint8_t)(8 + 8 * i), 3, 5, 7}
        };
        HONE_ASSERT_OK(hone_key_pair_from_secret(&secret, pairs[i]));
    }
}

static void free_party(net_party *party) {
    hone_net_destroy(party->net);
    for (size_t i = 0; i < party->notes.count; i++)
        hone_free(party->notes.data[i].bytes);
    hone_vec_deinit(&party->notes);
    hone_free(party);
}

void net_world_deinit(net_world *world) {
    for (size_t i = 0; i < world->count; i++)
        free_party(world->parties[i]);
    hone_simnet_destroy(world->simnet);
}

static net_party *add_party(net_world *world, hone_net *net) {
    assert_true(world->count < NET_WORLD_MAX);
    net_party *party = hone_calloc(1, sizeof *party);
    assert_non_null(party);
    party->net = net;
    world->parties[world->count++] = party;
    return party;
}

hone_status net_world_try_listen(net_world *world, const hone_net_server_options *options,
                                 hone_net **out_net) {
    return world->transport == NET_OVER_ZMQ ? hone_net_zmq_listen(options, out_net)
                                            : hone_simnet_listen(world->simnet, options, out_net);
}

hone_status net_world_try_connect(net_world *world, const hone_net_client_options *options,
                                  hone_net **out_net) {
    return world->transport == NET_OVER_ZMQ ? hone_net_zmq_connect(options, out_net)
                                            : hone_simnet_connect(world->simnet, options, out_net);
}

net_party *net_world_listen(net_world *world, hone_net_server_options options) {
    hone_net *net = NULL;
    if (!options.address) options.address = "tcp://127.0.0.1:*";
    if (!options.is_insecure) options.keys = world->server_keys;
    HONE_ASSERT_OK(net_world_try_listen(world, &options, &net));
    return add_party(world, net);
}

net_party *net_world_connect(net_world *world, const net_party *server,
                             hone_net_client_options options) {
    hone_net *net = NULL;
    if (!options.address) options.address = hone_net_address(server->net);
    if (hone_key_is_zero(&options.keys.secret_key)) options.keys = world->client_keys;
    if (hone_key_is_zero(&options.server_key)) options.server_key = world->server_keys.public_key;
    HONE_ASSERT_OK(net_world_try_connect(world, &options, &net));
    return add_party(world, net);
}

void net_world_remove(net_world *world, net_party *party) {
    for (size_t i = 0; i < world->count; i++) {
        if (world->parties[i] != party) continue;
        world->parties[i] = world->parties[--world->count];
        free_party(party);
        return;
    }
}

/* ---- driving ---- */

static void take_note(net_party *party, const hone_net_event *event) {
    net_note note = {event->kind, event->peer, event->reason, event->key, NULL, event->count};
    assert_non_null(event->address);
    if (event->kind == HONE_NET_OPENED) party->peer = event->peer;
    if (event->kind == HONE_NET_MESSAGE) {
        assert_true(event->count > 0);
        note.bytes = hone_malloc(event->count);
        assert_non_null(note.bytes);
        memcpy(note.bytes, event->bytes, event->count);
    }
    assert_true(hone_vec_push(&party->notes, note));
    if (party->echoes && event->kind == HONE_NET_MESSAGE) {
        HONE_ASSERT_OK(hone_net_send(party->net, event->peer, note.bytes, note.count));
    }
}

bool net_world_step(net_world *world) {
    bool any = false;
    for (size_t i = 0; i < world->count; i++) {
        net_party *party = world->parties[i];
        hone_net_event event;
        if (party->is_slow) continue;
        for (;;) {
            hone_status st = hone_net_recv(party->net, HONE_DEADLINE_NOW, &event);
            if (hone_status_code(st) == HONE_CODE_TIMEOUT) {
                hone_status_free(st);
                break;
            }
            HONE_ASSERT_OK(st);
            take_note(party, &event);
            any = true;
        }
    }
    return any;
}

void net_world_pause(net_world *world) {
    if (world->transport == NET_OVER_MEMORY) {
        int64_t now_ns = hone_clock_now(&world->clock.clock);
        int64_t next_ns = hone_simnet_next_ns(world->simnet);
        if (next_ns <= now_ns || next_ns > now_ns + 10 * HONE_NS_PER_MS) { /* of a slow one */
            next_ns = now_ns + 10 * HONE_NS_PER_MS;
        }
        hone_clock_sleep_until(&world->clock.clock, next_ns);
        return;
    }
    struct pollfd fds[NET_WORLD_MAX];
    nfds_t count = 0;
    for (size_t i = 0; i < world->count; i++) {
        if (world->parties[i]->is_slow) continue;
        fds[count++] = (struct pollfd){.fd = hone_net_fd(world->parties[i]->net), .events = POLLIN};
    }
    (void)poll(fds, count, 100);
}

static int64_t now_of(const net_world *world) {
    return hone_clock_now(world->transport == NET_OVER_ZMQ ? hone_clock_system()
                                                           : &world->clock.clock);
}

size_t net_party_count(const net_party *party, hone_net_event_kind kind) {
    size_t count = 0;
    for (size_t i = 0; i < party->notes.count; i++)
        count += party->notes.data[i].kind == kind;
    return count;
}

const net_note *net_world_await(net_world *world, net_party *party, hone_net_event_kind kind,
                                size_t count) {
    int64_t end_ns = now_of(world) + LIMIT_NS;
    while (net_party_count(party, kind) < count) {
        if (now_of(world) > end_ns) fail_msg("event %d, number %zu, did not come", kind, count);
        if (!net_world_step(world)) net_world_pause(world);
    }
    for (size_t i = 0; i < party->notes.count; i++) {
        if (party->notes.data[i].kind == kind && --count == 0) return &party->notes.data[i];
    }
    return NULL;
}

void net_world_run_for(net_world *world, int64_t duration_ns) {
    int64_t end_ns = now_of(world) + duration_ns;
    while (now_of(world) < end_ns) {
        if (!net_world_step(world)) net_world_pause(world);
    }
}
