/* runner/farm/farm_link.c - see farm_link.h. */
#include "runner/farm/farm_link.h"

#include <stdio.h>
#include <string.h>

#define ARENA_BLOCK_BYTES 16384
#define FIRST_HEARTBEAT_NS HONE_NS_PER_S /* until a tracker says otherwise */
#define FIRST_EXPIRY_NS (10 * HONE_NS_PER_S)
#define FIRST_CHUNK_BYTES (256u << 10)
#define MIN_HEARTBEAT_NS (10 * HONE_NS_PER_MS)
#define MAX_HEARTBEAT_NS (300 * HONE_NS_PER_S)
#define FAILURE_LOG_NS (60 * HONE_NS_PER_S)
#define MAX_EVENTS 256 /* in one _receive */

/* ---- timers ---- */

void farm_repeat_start(farm_repeat *repeat, int64_t now_ns) {
    *repeat = (farm_repeat){.at_ns = now_ns};
}

void farm_repeat_rang(farm_repeat *repeat, int64_t now_ns, int64_t first_ns, int64_t most_ns) {
    repeat->step_ns = repeat->step_ns ? 2 * repeat->step_ns : first_ns;
    if (repeat->step_ns > most_ns) repeat->step_ns = most_ns;
    repeat->at_ns = now_ns + repeat->step_ns;
}

/* ---- sending ---- */

bool farm_link_send(farm_link *l, const hone_farm_message *message) {
    if (!l->peer) return false;
    hone_str_clear(&l->frame);
    hone_status st = hone_farm_encode_sealed(message, &l->frame);
    if (!st) st = hone_net_send(l->net, l->peer, l->frame.data, l->frame.length);
    if (!st) {
        l->sent_ns = farm_link_now(l);
        return true;
    }
    HONE_LOG(l->log, HONE_LOG_DEBUG, "'%s' was not sent: %s", hone_farm_kind_name(message->kind),
             hone_status_message(st));
    hone_status_free(st);
    return false;
}

static void send_hello(farm_link *l) {
    hone_farm_message message = {.kind = HONE_FARM_HELLO, .id = ++l->last_id};
    message.u.hello = (hone_farm_hello){.version_min = HONE_FARM_VERSION_MIN,
                                        .version_max = HONE_FARM_VERSION,
                                        .role = l->role,
                                        .instance = l->instance};
    memcpy(message.u.hello.name, l->name, sizeof l->name);
    memcpy(message.u.hello.software, l->software, sizeof l->software);
    l->vtable->say_hello(l->owner, &message);
    farm_repeat_rang(&l->hello, farm_link_now(l), l->heartbeat_ns / 4, l->heartbeat_ns);
}

void farm_link_send_bye(farm_link *l, const char *why) {
    hone_farm_message bye = {.kind = HONE_FARM_BYE, .id = ++l->last_id};
    hone_farm_set_text(bye.u.bye.text, sizeof bye.u.bye.text, why);
    farm_link_send(l, &bye);
}

void farm_link_refuse(farm_link *l, const hone_farm_message *about, hone_farm_refusal code,
                      const char *text) {
    hone_farm_message message = {.kind = HONE_FARM_REFUSED, .id = about->id};
    message.u.refused.code = code;
    message.u.refused.about = about->kind;
    hone_farm_set_text(message.u.refused.text, sizeof message.u.refused.text, text);
    HONE_LOG(l->log, HONE_LOG_WARNING, "from the tracker: %s", text);
    farm_link_send(l, &message);
}

/* ---- coming and going ---- */

static void on_opened(farm_link *l, hone_net_peer peer) {
    l->peer = peer;
    l->is_welcome = false;
    l->heard_ns = farm_link_now(l);
    farm_repeat_start(&l->hello, l->heard_ns);
    send_hello(l);
}

static void go_away(farm_link *l, const char *why) {
    HONE_LOG(l->log, HONE_LOG_WARNING, "connection to the tracker ended: %s", why);
    l->peer = 0;
    l->is_welcome = false;
    l->vtable->on_away(l->owner, why);
}

void farm_link_hang_up(farm_link *l, const char *why) {
    hone_net_close_peer(l->net, l->peer);
    go_away(l, why);
}

void farm_link_greet_again(farm_link *l) {
    if (l->is_welcome) farm_repeat_start(&l->hello, farm_link_now(l));
    l->is_welcome = false;
}

static int64_t within(int64_t value, int64_t least, int64_t most) {
    return value < least ? least : value > most ? most : value;
}

static void on_welcome(farm_link *l, const hone_farm_welcome *welcome) {
    if (l->is_welcome) return; /* the answer to a repeated HELLO */
    l->heartbeat_ns = within(welcome->heartbeat_ns, MIN_HEARTBEAT_NS, MAX_HEARTBEAT_NS);
    l->expiry_ns = within(welcome->expiry_ns, 2 * l->heartbeat_ns, 100 * l->heartbeat_ns);
    l->chunk_bytes = (uint32_t)within(welcome->chunk_bytes, 1024, HONE_FARM_MAX_CHUNK);
    l->is_welcome = true;
    l->pinged_ns = farm_link_now(l);
    l->failure_log_ns = 0;
    l->vtable->on_welcome(l->owner, welcome);
}

/* Once per kind of failure, then once a minute: a tracker may be away for hours. */
static void on_failed(farm_link *l, hone_net_reason reason) {
    char why[HONE_FARM_NOTE_BYTES], advice[128] = "";
    int64_t now = farm_link_now(l);
    if (reason == HONE_NET_KEY_REFUSED) {
        snprintf(advice, sizeof advice,
                 "; an admin lets it in with 'hone farm allow PUBLIC-KEY --role %s'",
                 l->role == HONE_FARM_RUNNER ? "runner" : "tuner");
    } else if (reason == HONE_NET_BAD_PEER) {
        snprintf(advice, sizeof advice, "; is --tracker-key the public key of that tracker?");
    }
    snprintf(why, sizeof why, "no connection to %s: %s%s", hone_net_address(l->net),
             hone_net_reason_text(reason), advice);
    if (l->vtable->on_failed(l->owner, reason, why)) return;
    if (reason == l->failure && now < l->failure_log_ns) return;
    l->failure = reason;
    l->failure_log_ns = now + FAILURE_LOG_NS;
    HONE_LOG(l->log, HONE_LOG_WARNING, "%s; trying again", why);
}

/* ---- receiving ---- */

static hone_status on_message(farm_link *l, const hone_farm_message *message) {
    switch (message->kind) {
    case HONE_FARM_WELCOME:
        on_welcome(l, &message->u.welcome);
        return HONE_OK;
    case HONE_FARM_PING:
        farm_link_send(l, &(hone_farm_message){.kind = HONE_FARM_PONG, .id = message->id});
        return HONE_OK;
    case HONE_FARM_BYE:
        farm_link_hang_up(l, message->u.bye.text[0] ? message->u.bye.text : "the tracker left");
        return HONE_OK;
    case HONE_FARM_REFUSED:
        return l->vtable->on_message(l->owner, message);
    default: /* not welcome: of an earlier life of this connection */
        return l->is_welcome ? l->vtable->on_message(l->owner, message) : HONE_OK;
    }
}

static hone_status on_frame(farm_link *l, const hone_net_event *event) {
    hone_farm_message message;
    l->heard_ns = farm_link_now(l);
    hone_arena_reset(l->arena);
    hone_status st = hone_farm_decode(event->bytes, event->count, l->arena, &message);
    if (!st) return on_message(l, &message);
    if (hone_status_code(st) == HONE_CODE_INVALID) {
        farm_link_refuse(l, &message, HONE_FARM_REFUSAL_MALFORMED, hone_status_message(st));
    }
    hone_status_free(st); /* UNSUPPORTED: of a later version; IO, NO_MEMORY: it is repeated */
    return HONE_OK;
}

static hone_status on_event(farm_link *l, const hone_net_event *event) {
    switch (event->kind) {
    case HONE_NET_OPENED:
        on_opened(l, event->peer);
        return HONE_OK;
    case HONE_NET_MESSAGE:
        return event->peer == l->peer ? on_frame(l, event) : HONE_OK;
    case HONE_NET_CLOSED:
        if (event->peer == l->peer) go_away(l, hone_net_reason_text(event->reason));
        return HONE_OK;
    case HONE_NET_FAILED:
        on_failed(l, event->reason);
        return HONE_OK;
    }
    return HONE_OK;
}

hone_status farm_link_receive(farm_link *l, int64_t deadline_ns) {
    for (int i = 0; i < MAX_EVENTS; i++) {
        hone_net_event event;
        hone_status st = hone_net_recv(l->net, i == 0 ? deadline_ns : HONE_DEADLINE_NOW, &event);
        if (hone_status_code(st) == HONE_CODE_TIMEOUT) {
            hone_status_free(st);
            return HONE_OK;
        }
        HONE_TRY(st);
        HONE_TRY(on_event(l, &event));
    }
    return HONE_OK;
}

/* ---- heartbeats ---- */

/* Who says more than that it is there says it though there was something else to say. */
static int64_t ping_ns(const farm_link *l) {
    return (l->vtable->say_ping ? l->pinged_ns : l->sent_ns) + l->heartbeat_ns;
}

void farm_link_ping(farm_link *l) {
    if (!farm_link_is_up(l)) return;
    hone_farm_message ping = {.kind = HONE_FARM_PING, .id = ++l->last_id};
    l->pinged_ns = l->sent_ns = farm_link_now(l); /* though its queue is full: it hears enough */
    if (l->vtable->say_ping) {
        l->vtable->say_ping(l->owner, &ping);
    } else {
        farm_link_send(l, &ping);
    }
}

void farm_link_beat(farm_link *l) {
    int64_t now = farm_link_now(l);
    if (l->peer && now >= l->heard_ns + l->expiry_ns) {
        farm_link_hang_up(l, "nothing was heard for too long");
    }
    if (!l->peer || l->is_given_up) return;
    if (!l->is_welcome) {
        if (now >= l->hello.at_ns) send_hello(l);
    } else if (now >= ping_ns(l)) {
        farm_link_ping(l);
    }
}

int64_t farm_link_next_ns(const farm_link *l) {
    if (!l->peer || l->is_given_up) return HONE_DEADLINE_NEVER;
    int64_t at = l->heard_ns + l->expiry_ns;
    farm_sooner(&at, l->is_welcome ? ping_ns(l) : l->hello.at_ns);
    return at;
}

/* ---- making ---- */

hone_status farm_link_init(farm_link *l, const farm_link_options *o) {
    *l = (farm_link){.vtable = o->vtable,
                     .owner = o->owner,
                     .net = o->net,
                     .clock = hone_net_clock(o->net),
                     .log = o->log,
                     .role = o->role,
                     .instance = o->instance,
                     .heartbeat_ns = FIRST_HEARTBEAT_NS,
                     .expiry_ns = FIRST_EXPIRY_NS,
                     .chunk_bytes = FIRST_CHUNK_BYTES};
    l->heard_ns = farm_link_now(l);
    hone_farm_set_text(l->name, sizeof l->name, o->name ? o->name : "");
    hone_farm_set_text(l->software, sizeof l->software, o->software ? o->software : "");
    l->arena = hone_arena_create(ARENA_BLOCK_BYTES);
    return l->arena ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "connection to a tracker");
}

void farm_link_deinit(farm_link *l) {
    hone_arena_destroy(l->arena);
    hone_str_deinit(&l->frame);
}
