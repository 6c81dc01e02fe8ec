/* tests/conformance/test_net_conformance.c - what every transport of net/net.h must do; each case
 * runs over each of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <netinet/in.h>

#include "support/core/alloc.h"
#include "tests/conformance/net_world.h"
#include "tests/support/hone_test.h"

typedef hone_net_server_options server_options;
typedef hone_net_client_options client_options;

static void send_text(net_party *party, const char *text) {
    HONE_ASSERT_OK(hone_net_send(party->net, party->peer, text, strlen(text)));
}

static void assert_text(const net_note *note, const char *text) {
    assert_int_equal(note->count, strlen(text));
    assert_memory_equal(note->bytes, text, note->count);
}

/* A client that is connected to an echoing server, and a message that went round. */
static net_party *connect_and_echo(net_world *world, net_party *server, client_options options) {
    net_party *client = net_world_connect(world, server, options);
    net_world_await(world, client, HONE_NET_OPENED, 1);
    send_text(client, "hello");
    assert_text(net_world_await(world, client, HONE_NET_MESSAGE, 1), "hello");
    return client;
}

static net_party *echo_server(net_world *world, server_options options) {
    net_party *server = net_world_listen(world, options);
    server->echoes = true;
    return server;
}

/* ---- messages ---- */

static void echo(net_world *world) {
    net_party *server = echo_server(world, (server_options){0});
    net_party *client = connect_and_echo(world, server, (client_options){0});
    assert_int_equal(server->notes.data[0].kind, HONE_NET_OPENED);
    assert_int_equal(server->notes.data[1].kind, HONE_NET_MESSAGE);
    const net_note *note = &server->notes.data[1];
    assert_true(hone_key_equal(&note->key, &world->client_keys.public_key));
    assert_int_equal(note->peer, server->peer);
    note = &client->notes.data[1];
    assert_true(hone_key_equal(&note->key, &world->server_keys.public_key));
    hone_net_stats stats = hone_net_get_stats(server->net);
    assert_int_equal(stats.peers, 1);
    assert_int_equal(stats.frames_in, 1);
    assert_int_equal(stats.bytes_out, 5);
}

static void bad_sends(net_world *world) {
    net_party *server = echo_server(world, (server_options){.max_frame_bytes = 1000});
    net_party *client = connect_and_echo(world, server, (client_options){.max_frame_bytes = 1000});
    char bytes[1001] = {0};
    HONE_ASSERT_CODE(hone_net_send(client->net, client->peer, bytes, 0), HONE_CODE_INVALID);
    HONE_ASSERT_ERROR(hone_net_send(client->net, client->peer, bytes, 1001), HONE_CODE_INVALID,
                      "1001 bytes");
    HONE_ASSERT_CODE(hone_net_send(client->net, client->peer + 1, bytes, 10), HONE_CODE_NOT_FOUND);
    HONE_ASSERT_CODE(hone_net_send(server->net, 77, bytes, 10), HONE_CODE_NOT_FOUND);
    HONE_ASSERT_OK(hone_net_send(client->net, client->peer, bytes, 1000));
    assert_int_equal(net_world_await(world, client, HONE_NET_MESSAGE, 2)->count, 1000);
}

static void many_clients(net_world *world) {
    enum { CLIENTS = 20, MESSAGES = 40 };
    net_party *server = echo_server(world, (server_options){0}), *clients[CLIENTS];
    for (int c = 0; c < CLIENTS; c++) {
        clients[c] = net_world_connect(world, server, (client_options){0});
    }
    for (int c = 0; c < CLIENTS; c++)
        net_world_await(world, clients[c], HONE_NET_OPENED, 1);
    for (int m = 0; m < MESSAGES; m++) {
        for (int c = 0; c < CLIENTS; c++) {
            char text[64];
            snprintf(text, sizeof text, "%d from %d", m, c);
            send_text(clients[c], text);
        }
    }
    for (int c = 0; c < CLIENTS; c++) {
        net_world_await(world, clients[c], HONE_NET_MESSAGE, MESSAGES);
        for (int m = 0, at = 0; m < MESSAGES; at++) {
            const net_note *note = &clients[c]->notes.data[at];
            char text[64];
            if (note->kind != HONE_NET_MESSAGE) continue;
            snprintf(text, sizeof text, "%d from %d", m++, c);
            assert_text(note, text);
        }
    }
    assert_int_equal(hone_net_get_stats(server->net).peers, CLIENTS);
}

static void large_frame(net_world *world) {
    enum { COUNT = 4 << 20 };
    net_party *server = echo_server(world, (server_options){.max_frame_bytes = COUNT});
    net_party *client = connect_and_echo(world, server, (client_options){.max_frame_bytes = COUNT});
    uint8_t *bytes = hone_malloc(COUNT);
    for (size_t i = 0; i < COUNT; i++)
        bytes[i] = (uint8_t)(i * 7 + (i >> 9));
    HONE_ASSERT_OK(hone_net_send(client->net, client->peer, bytes, COUNT));
    const net_note *note = net_world_await(world, client, HONE_NET_MESSAGE, 2);
    assert_int_equal(note->count, COUNT);
    assert_memory_equal(note->bytes, bytes, COUNT);
    hone_free(bytes);
}

/* What the receiver does not take costs the sender its connection, and nobody else anything. */
static void oversized(net_world *world) {
    net_party *server = echo_server(world, (server_options){.max_frame_bytes = 1000});
    net_party *other = connect_and_echo(world, server, (client_options){0});
    net_party *client = connect_and_echo(world, server, (client_options){0});
    char bytes[5000] = {0};
    HONE_ASSERT_OK(hone_net_send(client->net, client->peer, bytes, sizeof bytes));
    net_world_await(world, client, HONE_NET_CLOSED, 1);
    net_world_await(world, server, HONE_NET_CLOSED, 1);
    assert_int_equal(net_party_count(server, HONE_NET_MESSAGE), 2);
    send_text(other, "still here");
    assert_text(net_world_await(world, other, HONE_NET_MESSAGE, 2), "still here");
    net_world_await(world, client, HONE_NET_OPENED, 2);
    send_text(client, "again");
    assert_text(net_world_await(world, client, HONE_NET_MESSAGE, 2), "again");
}

/* Who does not read gets what fits into its queues; the others do not wait for it. */
static void slow_reader(net_world *world) {
    enum { COUNT = 64 << 10, MANY = 20000 };
    net_party *server = net_world_listen(world, (server_options){.queue_frames = 8});
    net_party *slow = net_world_connect(world, server, (client_options){.queue_frames = 8});
    net_world_await(world, slow, HONE_NET_OPENED, 1);
    send_text(slow, "hello");
    hone_net_peer slow_peer = net_world_await(world, server, HONE_NET_MESSAGE, 1)->peer;
    slow->is_slow = true;
    uint8_t *bytes = hone_calloc(1, COUNT);
    size_t sent = 0;
    for (int refusals = 0; refusals < 20;) {
        memcpy(bytes, &sent, sizeof sent);
        hone_code code = hone_status_consume(hone_net_send(server->net, slow_peer, bytes, COUNT));
        if (!code) {
            sent++;
            assert_true(sent < MANY);
            continue;
        }
        assert_int_equal(code, HONE_CODE_UNAVAILABLE);
        refusals++;
        net_world_run_for(world, 5 * HONE_NS_PER_MS);
    }
    server->echoes = true;
    connect_and_echo(world, server, (client_options){0});
    slow->is_slow = false;
    net_world_await(world, slow, HONE_NET_MESSAGE, sent);
    for (size_t i = 0, at = 0; i < sent; at++) {
        if (slow->notes.data[at].kind != HONE_NET_MESSAGE) continue;
        assert_memory_equal(slow->notes.data[at].bytes, &i, sizeof i);
        i++;
    }
    send_text(slow, "well");
    assert_text(net_world_await(world, slow, HONE_NET_MESSAGE, sent + 1), "well");
    hone_free(bytes);
}

/* ---- keys ---- */

static void wrong_server_key(net_world *world) {
    net_party *server = echo_server(world, (server_options){0});
    net_party *client = net_world_connect(
        world, server, (client_options){.server_key = world->other_keys.public_key});
    assert_int_equal(net_world_await(world, client, HONE_NET_FAILED, 1)->reason, HONE_NET_BAD_PEER);
    net_world_await(world, client, HONE_NET_FAILED, 2); /* it goes on trying */
    connect_and_echo(world, server, (client_options){0});
    assert_int_equal(net_party_count(server, HONE_NET_OPENED), 1);
    assert_int_equal(net_party_count(client, HONE_NET_OPENED), 0);
    assert_true(hone_net_get_stats(server->net).refused >= 1);
}

static bool allow_unless(void *context, const hone_key *key) {
    return !hone_key_equal(context, key);
}

static void key_not_allowed(net_world *world) {
    hone_key refused = world->client_keys.public_key;
    server_options options = {.allow = allow_unless, .allow_context = &refused};
    net_party *server = echo_server(world, options);
    net_party *client = net_world_connect(world, server, (client_options){0});
    assert_int_equal(net_world_await(world, client, HONE_NET_FAILED, 1)->reason,
                     HONE_NET_KEY_REFUSED);
    connect_and_echo(world, server, (client_options){.keys = world->other_keys});
    assert_int_equal(net_party_count(client, HONE_NET_OPENED), 0);
    refused = world->other_keys.public_key; /* the list changes: at once */
    net_world_await(world, client, HONE_NET_OPENED, 1);
}

static void revoked_while_connected(net_world *world) {
    hone_key refused = {{0}};
    server_options options = {.allow = allow_unless, .allow_context = &refused};
    net_party *server = echo_server(world, options);
    net_party *other = connect_and_echo(world, server, (client_options){.keys = world->other_keys});
    net_party *client = connect_and_echo(world, server, (client_options){0});
    hone_net_peer peer = server->peer;
    refused = world->client_keys.public_key;
    HONE_ASSERT_OK(hone_net_send(server->net, peer, "go away", 7));
    hone_net_close_peer(server->net, peer);
    HONE_ASSERT_CODE(hone_net_send(server->net, peer, "x", 1), HONE_CODE_NOT_FOUND);
    send_text(client, "too late");
    net_world_await(world, client, HONE_NET_CLOSED, 1);
    assert_text(net_world_await(world, client, HONE_NET_MESSAGE, 2), "go away");
    assert_int_equal(net_world_await(world, client, HONE_NET_FAILED, 1)->reason,
                     HONE_NET_KEY_REFUSED);
    send_text(other, "still here");
    assert_text(net_world_await(world, other, HONE_NET_MESSAGE, 2), "still here");
    assert_int_equal(net_party_count(server, HONE_NET_MESSAGE), 3);
    assert_int_equal(net_party_count(server, HONE_NET_CLOSED), 0);
    assert_int_equal(hone_net_get_stats(server->net).peers, 1);
    hone_net_close_peer(server->net, peer); /* gone already */
}

static void insecure(net_world *world) {
    hone_net *net = NULL;
    const char *far[] = {"tcp://192.0.2.1:9190", "tcp://0.0.0.0:9190", "tcp://[::]:9190",
                         "tcp://example.com:9190", "tcp://127.0.0.1.example.com:9190"};
    for (size_t i = 0; i < HONE_COUNT(far); i++) {
        server_options server = {.address = far[i], .is_insecure = true};
        client_options client = {.address = far[i], .is_insecure = true};
        HONE_ASSERT_ERROR(net_world_try_listen(world, &server, &net), HONE_CODE_INVALID,
                          "loopback");
        HONE_ASSERT_ERROR(net_world_try_connect(world, &client, &net), HONE_CODE_INVALID,
                          "loopback");
    }
    net_party *server = echo_server(world, (server_options){.is_insecure = true});
    net_party *client = connect_and_echo(world, server, (client_options){.is_insecure = true});
    assert_true(hone_key_is_zero(&server->notes.data[0].key));
    assert_true(hone_key_is_zero(&client->notes.data[0].key));
    /* the two kinds do not mix */
    net_party *secure = net_world_connect(world, server, (client_options){0});
    net_world_await(world, secure, HONE_NET_FAILED, 1);
    net_party *keeper = echo_server(world, (server_options){0});
    net_party *naked = net_world_connect(world, keeper, (client_options){.is_insecure = true});
    net_world_await(world, naked, HONE_NET_FAILED, 1);
    assert_int_equal(net_party_count(naked, HONE_NET_OPENED), 0);
    assert_int_equal(net_party_count(secure, HONE_NET_OPENED), 0);
    send_text(client, "still here");
    net_world_await(world, client, HONE_NET_MESSAGE, 2);
}

static void bad_options(net_world *world) {
    hone_net *net = NULL;
    const char *bad[] = {"",           "127.0.0.1:9190",        "tcp://127.0.0.1",
                         "tcp://:1",   "tcp://127.0.0.1:0",     "tcp://127.0.0.1:65536",
                         "tcp://[::1", "tcp://127.0.0.1:9190x", "ipc:///tmp/x",
                         "tcp://a b:1"};
    for (size_t i = 0; i < HONE_COUNT(bad); i++) {
        server_options server = {.address = bad[i], .keys = world->server_keys};
        client_options client = {.address = bad[i],
                                 .keys = world->client_keys,
                                 .server_key = world->server_keys.public_key};
        HONE_ASSERT_ERROR(net_world_try_listen(world, &server, &net), HONE_CODE_INVALID,
                          "tcp://HOST:PORT");
        HONE_ASSERT_ERROR(net_world_try_connect(world, &client, &net), HONE_CODE_INVALID,
                          "tcp://HOST:PORT");
    }
    HONE_ASSERT_ERROR(
        net_world_try_listen(world, &(server_options){.address = "tcp://127.0.0.1:*"}, &net),
        HONE_CODE_INVALID, "key pair");
    client_options client = {.address = "tcp://127.0.0.1:1"};
    HONE_ASSERT_ERROR(net_world_try_connect(world, &client, &net), HONE_CODE_INVALID, "key pair");
    client.keys = world->client_keys;
    HONE_ASSERT_ERROR(net_world_try_connect(world, &client, &net), HONE_CODE_INVALID,
                      "key of its server");
    net_party *server = net_world_listen(world, (server_options){0});
    server_options second = {.address = hone_net_address(server->net), .keys = world->server_keys};
    HONE_ASSERT_ERROR(net_world_try_listen(world, &second, &net), HONE_CODE_UNAVAILABLE, "already");
}

/* ---- connections ---- */

static void server_restart(net_world *world) {
    char address[128];
    net_party *server = echo_server(world, (server_options){0});
    snprintf(address, sizeof address, "%s", hone_net_address(server->net));
    net_party *client = connect_and_echo(world, server, (client_options){0});
    hone_net_peer first = client->peer;
    net_world_remove(world, server);
    net_world_await(world, client, HONE_NET_CLOSED, 1);
    assert_int_equal(net_world_await(world, client, HONE_NET_FAILED, 1)->reason, HONE_NET_NOBODY);
    HONE_ASSERT_CODE(hone_net_send(client->net, first, "x", 1), HONE_CODE_NOT_FOUND);
    server = echo_server(world, (server_options){.address = address});
    net_world_await(world, client, HONE_NET_OPENED, 2);
    assert_true(client->peer != first);
    HONE_ASSERT_CODE(hone_net_send(client->net, first, "x", 1), HONE_CODE_NOT_FOUND);
    send_text(client, "again");
    assert_text(net_world_await(world, client, HONE_NET_MESSAGE, 2), "again");
    assert_int_equal(net_party_count(server, HONE_NET_OPENED), 1);
}

static void clients_come_and_go(net_world *world) {
    net_party *server = echo_server(world, (server_options){0});
    hone_net_peer last = 0;
    for (size_t i = 1; i <= 10; i++) {
        net_party *client = connect_and_echo(world, server, (client_options){0});
        assert_true(server->peer > last);
        last = server->peer;
        if (i % 2) {
            net_world_remove(world, client);
        } else {
            hone_net_close_peer(client->net, client->peer);
        }
        net_world_await(world, server, HONE_NET_CLOSED, i);
        HONE_ASSERT_CODE(hone_net_send(server->net, last, "x", 1), HONE_CODE_NOT_FOUND);
        if (i % 2 == 0) { /* it comes again by itself, as somebody else */
            net_world_await(world, client, HONE_NET_OPENED, 2);
            net_world_remove(world, client);
        }
    }
    assert_int_equal(hone_net_get_stats(server->net).peers, 0);
}

static void too_many_peers(net_world *world) {
    net_party *server = echo_server(world, (server_options){.max_peers = 2});
    net_party *first = connect_and_echo(world, server, (client_options){0});
    connect_and_echo(world, server, (client_options){0});
    net_party *third = net_world_connect(world, server, (client_options){0});
    net_world_await(world, third, HONE_NET_FAILED, 1);
    assert_int_equal(net_party_count(third, HONE_NET_OPENED), 0);
    net_world_remove(world, first);
    net_world_await(world, third, HONE_NET_OPENED, 1);
}

/* ---- ZeroMQ's own ---- */

static void ipv6(net_world *world) {
    hone_net *net = NULL;
    server_options options = {.address = "tcp://[::1]:*", .keys = world->server_keys};
    hone_status st = net_world_try_listen(world, &options, &net);
    if (st) { /* a machine without IPv6 */
        assert_int_equal(hone_status_consume(st), HONE_CODE_UNAVAILABLE);
        return;
    }
    hone_net_destroy(net);
    net_party *server = echo_server(world, options);
    assert_non_null(strstr(hone_net_address(server->net), "[::1]"));
    connect_and_echo(world, server, (client_options){0});
    /* a name with addresses of both kinds finds the server, whichever it listens on */
    char address[64];
    const char *port = strrchr(hone_net_address(server->net), ':');
    snprintf(address, sizeof address, "tcp://localhost%s", port);
    net_party *client = net_world_connect(world, server, (client_options){.address = address});
    net_party *local = echo_server(world, (server_options){.address = "tcp://localhost:*"});
    snprintf(address, sizeof address, "tcp://localhost%s",
             strrchr(hone_net_address(local->net), ':'));
    connect_and_echo(world, local, (client_options){.address = address});
    (void)client;
}

static int raw_connect(const net_party *server) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const char *port = strrchr(hone_net_address(server->net), ':') + 1;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)strtol(port, NULL, 10)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void raw_send(int fd, const void *bytes, size_t count) {
    (void)send(fd, bytes, count, MSG_NOSIGNAL); /* the server may have hung up already */
}

/* Connections that say nothing, close at once, send noise, or half of a greeting. */
static void port_scan(net_world *world) {
    net_party *server = echo_server(world, (server_options){0});
    net_party *client = connect_and_echo(world, server, (client_options){0});
    hone_rng rng = hone_test_rng(7);
    int fds[60];
    for (size_t i = 0; i < HONE_COUNT(fds); i++) {
        uint8_t bytes[300] = {0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 0, 'C', 'U', 'R', 'V', 'E'};
        fds[i] = raw_connect(server);
        size_t kept = i % 3 == 0 ? 0 : i % 3 == 1 ? 12 : 64;
        for (size_t k = kept; k < sizeof bytes; k++)
            bytes[k] = (uint8_t)hone_rng_next(&rng);
        size_t count = i % 5 == 0 ? 0 : 1 + hone_rng_below(&rng, sizeof bytes);
        if (count) raw_send(fds[i], bytes, count);
        if (i % 2) close(fds[i]);
        net_world_step(world);
    }
    send_text(client, "still here");
    assert_text(net_world_await(world, client, HONE_NET_MESSAGE, 2), "still here");
    connect_and_echo(world, server, (client_options){.keys = world->other_keys});
    for (size_t i = 0; i < HONE_COUNT(fds); i += 2)
        close(fds[i]);
    send_text(client, "and now");
    assert_text(net_world_await(world, client, HONE_NET_MESSAGE, 3), "and now");
    assert_int_equal(net_party_count(server, HONE_NET_OPENED), 2);
    assert_int_equal(hone_net_get_stats(server->net).peers, 2);
}

/* Says hello as a ZeroMQ client without keys does, and hears the server's hello to its end. */
static int raw_client(net_world *world, const net_party *server) {
    enum { HELLO_BYTES = 64 + 2 + 41 };
    static const uint8_t greeting[64] = {0xff, 0,    0, 0, 0,   0,   0,   0,
                                         1,    0x7f, 3, 0, 'N', 'U', 'L', 'L'};
    static const char dealer[] = "\x04\x1c\x05READY\x0bSocket-Type\0\0\0\x06"
                                 "DEALER";
    int fd = raw_connect(server);
    raw_send(fd, greeting, sizeof greeting);
    raw_send(fd, dealer, sizeof dealer - 1);
    struct timeval wait = {.tv_usec = 1000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    for (int got = 0, rounds = 0; got < HELLO_BYTES && rounds < 60000; rounds++) {
        char byte;
        net_world_step(world);
        while (got < HELLO_BYTES && recv(fd, &byte, 1, 0) == 1)
            got++;
    }
    return fd;
}

/* The server hangs up on it within a minute. */
static bool is_cut_off(net_world *world, int fd) {
    int64_t end_ns = hone_deadline_after(hone_clock_system(), 60 * HONE_NS_PER_S);
    while (hone_clock_now(hone_clock_system()) < end_ns) {
        char byte;
        net_world_step(world);
        ssize_t got = recv(fd, &byte, 1, 0);
        if (got == 0 || (got < 0 && errno == ECONNRESET)) return true;
    }
    return false;
}

/* A client that speaks ZeroMQ's protocol as ours never would, to a server without keys. */
static void strange_frames(net_world *world) {
    static const struct {
        const char *bytes;
        size_t count;
    } frames[] = {
        {"\x00\x00",                             2}, /* an empty one */
        {"\x01\x01"
         "a\x00\x01"
         "b",                           6}, /* two parts */
        {"\x01\x00\x00\x05hello",                9}, /* an empty part before, as REQ does */
        {"\x02\x7f\xff\xff\xff\xff\xff\xff\xff", 9}, /* a giant */
    };
    net_party *server = echo_server(world, (server_options){.is_insecure = true});
    net_party *client = connect_and_echo(world, server, (client_options){.is_insecure = true});
    for (size_t i = 0; i < HONE_COUNT(frames); i++) {
        int fd = raw_client(world, server);
        raw_send(fd, frames[i].bytes, frames[i].count);
        bool is_cut = is_cut_off(world, fd);
        close(fd);
        assert_true(is_cut);
    }
    send_text(client, "still here");
    assert_text(net_world_await(world, client, HONE_NET_MESSAGE, 2), "still here");
    assert_int_equal(net_party_count(server, HONE_NET_MESSAGE), 2);
    assert_int_equal(net_party_count(server, HONE_NET_OPENED), 1);
}

/* Parts of a message without an end are no way to fill the server's memory. */
static void endless_message(net_world *world) {
    server_options options = {.is_insecure = true, .max_frame_bytes = 1000, .queue_frames = 4};
    net_party *server = echo_server(world, options);
    net_party *client = connect_and_echo(world, server, (client_options){.is_insecure = true});
    static const uint8_t part[202] = {0x01, 200}; /* more to come, 200 bytes */
    int fd = raw_client(world, server);
    for (int i = 0; i < 5000; i++)
        raw_send(fd, part, sizeof part);
    bool is_cut = is_cut_off(world, fd);
    close(fd);
    assert_true(is_cut);
    for (size_t i = 2; i < 500; i++) { /* who sends much, in whole messages, may stay */
        char bytes[1000] = {0};
        HONE_ASSERT_OK(hone_net_send(client->net, client->peer, bytes, sizeof bytes));
        net_world_await(world, client, HONE_NET_MESSAGE, i);
    }
    assert_int_equal(net_party_count(client, HONE_NET_CLOSED), 0);
}

/* ---- rows ---- */

typedef struct net_row {
    const char *name;
    void (*run)(net_world *world);
    net_transport transport;
} net_row;

#define BOTH(function)                                                                             \
    {#function " over memory", function, NET_OVER_MEMORY}, {                                       \
#function " over zmq", function, NET_OVER_ZMQ                                              \
    }
#define ZMQ_ONLY(function)                                                                         \
    { #function " over zmq", function, NET_OVER_ZMQ }

static const net_row rows[] = {
    BOTH(echo),
    BOTH(bad_sends),
    BOTH(many_clients),
    BOTH(large_frame),
    BOTH(oversized),
    BOTH(slow_reader),
    BOTH(wrong_server_key),
    BOTH(key_not_allowed),
    BOTH(revoked_while_connected),
    BOTH(insecure),
    BOTH(bad_options),
    BOTH(server_restart),
    BOTH(clients_come_and_go),
    BOTH(too_many_peers),
    ZMQ_ONLY(ipv6),
    ZMQ_ONLY(port_scan),
    ZMQ_ONLY(strange_frames),
    ZMQ_ONLY(endless_message),
};

static void check_row(void **state) {
    const net_row *row = *state;
    net_world world;
    net_world_init(&world, row->transport);
    row->run(&world);
    net_world_deinit(&world);
}

int main(void) {
    return HONE_RUN_ROWS("conformance/net", rows, check_row);
}
