/* tools/farm/farm_client.c - see farm_client.h. */
#include "tools/farm/farm_client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "support/core/alloc.h"
#include "support/os/clock.h"

#define REPEAT_NS HONE_NS_PER_S

struct hone_farm_client {
    hone_net *net;
    const hone_clock *clock;
    hone_net_peer peer; /* 0: not connected */
    hone_net_reason reason;
    bool has_failed; /* `reason` is set */
    bool is_welcome;
    int64_t timeout_ns;
    hone_farm_instance instance;
    hone_farm_welcome terms;
    hone_arena *arena;
    hone_str frame; /* the answer's bytes */
    uint64_t last_id;
};

/* ---- options ---- */

hone_status hone_farm_access_check(const hone_cli *cli, const hone_farm_access *access) {
    if (!access->tracker) {
        HONE_TRY(hone_cli_refuse(cli, "key tracker-key insecure no-device",
                                 "a run without --tracker URL (or HONE_TRACKER)"));
    }
    return access->is_insecure ? hone_cli_refuse(cli, "key tracker-key", "--insecure") : HONE_OK;
}

/* ---- frames ---- */

static void send_message(hone_farm_client *client, const hone_farm_message *m) {
    hone_str bytes = {0};
    hone_status st = hone_farm_encode_sealed(m, &bytes);
    if (!st && client->peer) {
        st = hone_net_send(client->net, client->peer, bytes.data, bytes.length);
    }
    hone_status_free(st); /* it is sent again */
    hone_str_deinit(&bytes);
}

static void say_hello(hone_farm_client *client) {
    hone_farm_message m = {.kind = HONE_FARM_HELLO, .id = ++client->last_id};
    m.u.hello.version_min = HONE_FARM_VERSION_MIN;
    m.u.hello.version_max = HONE_FARM_VERSION;
    m.u.hello.role = HONE_FARM_ADMIN;
    m.u.hello.instance = client->instance;
    hone_farm_set_text(m.u.hello.software, sizeof m.u.hello.software, "hone " HONE_VERSION);
    send_message(client, &m);
}

static hone_status take_message(hone_farm_client *client, const hone_net_event *event,
                                hone_farm_message *out) {
    hone_str_clear(&client->frame);
    hone_str_append_n(&client->frame, (const char *)event->bytes, event->count);
    HONE_TRY(hone_str_check(&client->frame));
    hone_arena_reset(client->arena);
    return hone_farm_decode(client->frame.data, client->frame.length, client->arena, out);
}

static hone_status refused(const hone_farm_message *m) {
    return HONE_ERROR(HONE_CODE_INVALID, "the tracker refuses: %s", m->u.refused.text);
}

static void answer_ping(hone_farm_client *client, const hone_farm_message *m) {
    hone_farm_message pong = {.kind = HONE_FARM_PONG, .id = m->id};
    send_message(client, &pong);
}

static hone_status on_event(hone_farm_client *client, const hone_net_event *event,
                            hone_farm_message *out, bool *out_has) {
    *out_has = false;
    switch (event->kind) {
    case HONE_NET_OPENED:
        client->peer = event->peer;
        client->is_welcome = false;
        say_hello(client);
        return HONE_OK;
    case HONE_NET_CLOSED:
        client->peer = 0;
        client->is_welcome = false;
        return HONE_OK;
    case HONE_NET_FAILED:
        client->reason = event->reason;
        client->has_failed = true;
        if (event->reason == HONE_NET_KEY_REFUSED) {
            return HONE_ERROR(HONE_CODE_UNAVAILABLE, "the tracker does not allow your key; an "
                                                     "admin's 'hone farm allow' lets it in");
        }
        return HONE_OK;
    case HONE_NET_MESSAGE:
        break;
    }
    hone_status st = take_message(client, event, out);
    hone_code code = hone_status_code(st);
    if (code == HONE_CODE_UNSUPPORTED || code == HONE_CODE_IO) { /* of a newer tracker; damaged */
        hone_status_free(st);
        return HONE_OK;
    }
    HONE_TRY(st);
    if (out->kind == HONE_FARM_PING) answer_ping(client, out);
    if (out->kind == HONE_FARM_WELCOME) {
        client->terms = out->u.welcome;
        client->is_welcome = true;
    }
    *out_has = true;
    return HONE_OK;
}

static hone_status no_answer(const hone_farm_client *client) {
    const char *address = hone_net_address(client->net);
    if (client->is_welcome) {
        return HONE_ERROR(HONE_CODE_TIMEOUT, "%s: the tracker does not answer", address);
    }
    return HONE_ERROR(HONE_CODE_UNAVAILABLE, "%s: %s", address,
                      client->has_failed ? hone_net_reason_text(client->reason) : "nobody answers");
}

/* ---- open and ask ---- */

static hone_status wait_welcome(hone_farm_client *client) {
    int64_t end_ns = hone_deadline_after(client->clock, client->timeout_ns);
    while (!client->is_welcome) {
        hone_net_event event;
        hone_farm_message m;
        bool has;
        int64_t repeat_ns = hone_deadline_after(client->clock, REPEAT_NS);
        hone_status st =
            hone_net_recv(client->net, repeat_ns < end_ns ? repeat_ns : end_ns, &event);
        if (hone_status_code(st) == HONE_CODE_TIMEOUT) {
            hone_status_free(st);
            if (hone_clock_now(client->clock) >= end_ns) return no_answer(client);
            say_hello(client);
            continue;
        }
        HONE_TRY(st);
        HONE_TRY(on_event(client, &event, &m, &has));
        if (has && m.kind == HONE_FARM_REFUSED) return refused(&m);
    }
    return HONE_OK;
}

static hone_status open_client(hone_farm_client *client, const hone_farm_access *access) {
    hone_net_client_options net;
    HONE_TRY(hone_farm_access_resolve(access, &net));
    hone_status st = hone_net_zmq_connect(&net, &client->net);
    hone_key_pair_wipe(&net.keys);
    HONE_TRY(st);
    client->clock = hone_net_clock(client->net);
    if (getrandom(&client->instance, sizeof client->instance, 0) !=
        (ssize_t)sizeof client->instance) {
        return HONE_ERROR(HONE_CODE_IO, "no random numbers: %s", strerror(errno));
    }
    client->arena = hone_arena_create(64 << 10);
    if (!client->arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "farm client");
    return wait_welcome(client);
}

hone_status hone_farm_client_open(const hone_farm_access *access, int64_t timeout_ns,
                                  hone_farm_client **out_client) {
    *out_client = NULL;
    hone_farm_client *client = hone_calloc(1, sizeof *client);
    if (!client) return HONE_ERROR(HONE_CODE_NO_MEMORY, "farm client");
    client->timeout_ns = timeout_ns;
    hone_status st = open_client(client, access);
    if (st) {
        hone_farm_client_close(client);
        return st;
    }
    *out_client = client;
    return HONE_OK;
}

void hone_farm_client_close(hone_farm_client *client) {
    if (!client) return;
    hone_net_destroy(client->net);
    hone_arena_destroy(client->arena);
    hone_str_deinit(&client->frame);
    hone_free(client);
}

const hone_farm_welcome *hone_farm_client_terms(const hone_farm_client *client) {
    return &client->terms;
}

hone_status hone_farm_client_ask(hone_farm_client *client, const hone_farm_message *question,
                                 hone_farm_kind wanted, hone_farm_message *out_answer) {
    hone_farm_message m = *question;
    m.id = ++client->last_id;
    int64_t end_ns = hone_deadline_after(client->clock, client->timeout_ns), repeat_ns = 0;
    for (;;) {
        if (client->is_welcome && hone_clock_now(client->clock) >= repeat_ns) {
            send_message(client, &m);
            repeat_ns = hone_clock_now(client->clock) + REPEAT_NS;
        }
        hone_net_event event;
        bool has;
        int64_t until_ns = client->is_welcome && repeat_ns < end_ns ? repeat_ns : end_ns;
        hone_status st = hone_net_recv(client->net, until_ns, &event);
        if (hone_status_code(st) == HONE_CODE_TIMEOUT) {
            hone_status_free(st);
            if (hone_clock_now(client->clock) >= end_ns) return no_answer(client);
            continue;
        }
        HONE_TRY(st);
        HONE_TRY(on_event(client, &event, out_answer, &has));
        if (!has || out_answer->id != m.id) continue;
        if (out_answer->kind == wanted) return HONE_OK;
        if (out_answer->kind == HONE_FARM_REFUSED) return refused(out_answer);
    }
}
