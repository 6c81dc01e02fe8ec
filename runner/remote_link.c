/* runner/remote_link.c - the remote runner's connection: greeting, heartbeats, who gets which
 * message.
 *
 *   AWAY ──OPENED──► GREETING (HELLO, repeated) ──WELCOME──► UP ──lost, silent, refused──► AWAY
 */
#include <stdio.h>
#include <string.h>

#include "runner/remote_impl.h"

#define MIN_HEARTBEAT_NS (10 * HONE_NS_PER_MS)
#define MAX_HEARTBEAT_NS (300 * HONE_NS_PER_S)
#define MAX_REPEAT_HEARTBEATS 8
#define FAILURE_LOG_NS (60 * HONE_NS_PER_S)
#define MAX_EVENTS 256 /* in one step */

/* ---- timers ---- */

void remote_repeat_start(remote_repeat *repeat, int64_t now_ns) {
    *repeat = (remote_repeat){.at_ns = now_ns};
}

void remote_repeat_rang(const runner_remote *r, remote_repeat *repeat) {
    const int64_t most = MAX_REPEAT_HEARTBEATS * r->link.heartbeat_ns;
    repeat->step_ns = repeat->step_ns ? 2 * repeat->step_ns : r->link.heartbeat_ns;
    if (repeat->step_ns > most) repeat->step_ns = most;
    repeat->at_ns = remote_now(r) + repeat->step_ns;
}

/* ---- sending ---- */

bool remote_send(runner_remote *r, const hone_farm_message *message) {
    remote_link *l = &r->link;
    if (!l->peer) return false;
    hone_str_clear(&l->frame);
    hone_status st = hone_farm_encode(message, &l->frame);
    if (!st) st = hone_net_send(l->net, l->peer, l->frame.data, l->frame.length);
    if (!st) {
        l->sent_ns = remote_now(r);
        return true;
    }
    HONE_LOG(l->log, HONE_LOG_DEBUG, "'%s' was not sent: %s", hone_farm_kind_name(message->kind),
             hone_status_message(st));
    hone_status_free(st);
    return false;
}

static void send_hello(runner_remote *r) {
    remote_link *l = &r->link;
    hone_farm_message message = {.kind = HONE_FARM_HELLO, .id = ++l->last_id};
    message.u.hello = (hone_farm_hello){.version_min = HONE_FARM_VERSION_MIN,
                                        .version_max = HONE_FARM_VERSION,
                                        .role = HONE_FARM_TUNER,
                                        .instance = l->instance};
    memcpy(message.u.hello.name, l->name, sizeof l->name);
    memcpy(message.u.hello.software, l->software, sizeof l->software);
    remote_send(r, &message);
    remote_repeat_rang(r, &l->hello);
}

/* ---- coming and going ---- */

static void on_away(runner_remote *r, const char *why) {
    remote_link *l = &r->link;
    HONE_LOG(l->log, HONE_LOG_WARNING, "connection to the tracker ended: %s", why);
    snprintf(l->trouble, sizeof l->trouble, "%s", why);
    l->peer = 0;
    l->is_welcome = false;
}

/* Ends the connection; the endpoint makes a new one by itself. */
static void hang_up(runner_remote *r, const char *why) {
    hone_net_close_peer(r->link.net, r->link.peer);
    on_away(r, why);
}

static void on_opened(runner_remote *r, hone_net_peer peer) {
    r->link.peer = peer;
    r->link.is_welcome = false;
    r->link.heard_ns = remote_now(r);
    remote_repeat_start(&r->link.hello, r->link.heard_ns);
    send_hello(r);
}

static int64_t within(int64_t value, int64_t least, int64_t most) {
    return value < least ? least : value > most ? most : value;
}

static void on_welcome(runner_remote *r, const hone_farm_welcome *welcome) {
    remote_link *l = &r->link;
    if (l->is_welcome) return; /* the answer to a repeated HELLO */
    l->heartbeat_ns = within(welcome->heartbeat_ns, MIN_HEARTBEAT_NS, MAX_HEARTBEAT_NS);
    l->expiry_ns = within(welcome->expiry_ns, 2 * l->heartbeat_ns, 100 * l->heartbeat_ns);
    l->chunk_bytes = (uint32_t)within(welcome->chunk_bytes, 1024, HONE_FARM_MAX_CHUNK);
    if (l->was_welcome) HONE_LOG(l->log, HONE_LOG_INFO, "the tracker is there again");
    l->is_welcome = l->was_welcome = true;
    l->failure_log_ns = 0;
    l->trouble[0] = 0;
    remote_devices_restart(r);
    remote_submit_again(r);
}

static void refuse_for_good(runner_remote *r, const char *text) {
    r->link.is_refused = true;
    snprintf(r->link.trouble, sizeof r->link.trouble, "the tracker says: %.480s", text);
}

static void on_refused(runner_remote *r, const hone_farm_refused *refused) {
    switch (refused->code) {
    case HONE_FARM_REFUSAL_VERSION:
    case HONE_FARM_REFUSAL_ROLE:
    case HONE_FARM_REFUSAL_KEY:
        refuse_for_good(r, refused->text);
        return;
    case HONE_FARM_REFUSAL_HELLO:
        if (r->link.is_welcome) remote_repeat_start(&r->link.hello, remote_now(r));
        r->link.is_welcome = false;
        return;
    default:
        break;
    }
    bool is_final = refused->code != HONE_FARM_REFUSAL_TAKEN &&
                    refused->code != HONE_FARM_REFUSAL_BUSY; /* timers repeat those */
    HONE_LOG(r->link.log, is_final ? HONE_LOG_WARNING : HONE_LOG_DEBUG,
             "the tracker refused '%s': %s", hone_farm_kind_name((hone_farm_kind)refused->about),
             refused->text);
    if (is_final && refused->about == HONE_FARM_SUBMIT) remote_on_submit_refused(r, refused);
}

static void refuse(runner_remote *r, const hone_farm_message *about, hone_farm_refusal code,
                   const char *text) {
    hone_farm_message message = {.kind = HONE_FARM_REFUSED, .id = about->id};
    message.u.refused.code = code;
    message.u.refused.about = about->kind;
    hone_farm_set_text(message.u.refused.text, sizeof message.u.refused.text, text);
    HONE_LOG(r->link.log, HONE_LOG_WARNING, "from the tracker: %s", text);
    remote_send(r, &message);
}

/* Messages that need no greeting; true when it was one. */
static bool on_link_message(runner_remote *r, const hone_farm_message *message) {
    switch (message->kind) {
    case HONE_FARM_WELCOME:
        on_welcome(r, &message->u.welcome);
        return true;
    case HONE_FARM_REFUSED:
        on_refused(r, &message->u.refused);
        return true;
    case HONE_FARM_PING:
        remote_send(r, &(hone_farm_message){.kind = HONE_FARM_PONG, .id = message->id});
        return true;
    case HONE_FARM_BYE:
        hang_up(r, message->u.bye.text[0] ? message->u.bye.text : "the tracker left");
        return true;
    default:
        return !r->link.is_welcome; /* of an earlier life of this connection */
    }
}

static void on_message(runner_remote *r, const hone_farm_message *message) {
    if (on_link_message(r, message)) return;
    switch (message->kind) {
    case HONE_FARM_PONG:
        remote_on_pong(r, &message->u.pong);
        return;
    case HONE_FARM_DEVICE_LIST:
        remote_on_device_list(r, &message->u.device_list);
        return;
    case HONE_FARM_ACCEPTED:
        remote_on_accepted(r, message->u.accepted.trial);
        return;
    case HONE_FARM_OUTCOME:
        remote_on_outcome(r, &message->u.outcome);
        return;
    case HONE_FARM_CANCELLED:
        remote_on_cancelled(r, message->u.cancelled.trial);
        return;
    case HONE_FARM_BLOB_WANT:
        remote_on_blob_want(r, message);
        return;
    default:
        refuse(r, message, HONE_FARM_REFUSAL_INVALID, "a tuner has no answer to that");
        return;
    }
}

static void on_frame(runner_remote *r, const hone_net_event *event) {
    hone_farm_message message;
    r->link.heard_ns = remote_now(r);
    hone_arena_reset(r->link.arena);
    hone_status st = hone_farm_decode(event->bytes, event->count, r->link.arena, &message);
    if (!st) {
        on_message(r, &message);
    } else if (hone_status_code(st) == HONE_CODE_INVALID) {
        refuse(r, &message, HONE_FARM_REFUSAL_MALFORMED, hone_status_message(st));
    }
    hone_status_free(st); /* UNSUPPORTED: of a later version; NO_MEMORY: it is repeated */
}

/* Once per kind of failure, then once a minute: a tracker may be away for hours. */
static void on_failed(runner_remote *r, const hone_net_event *event) {
    remote_link *l = &r->link;
    const char *advice = "";
    if (event->reason == HONE_NET_KEY_REFUSED) {
        advice = "; an admin lets it in with 'hone farm allow PUBLIC-KEY --role tuner'";
    } else if (event->reason == HONE_NET_BAD_PEER) {
        advice = "; is --tracker-key the public key of that tracker?";
    }
    snprintf(l->trouble, sizeof l->trouble, "no connection to %s: %s%s", hone_net_address(l->net),
             hone_net_reason_text(event->reason), advice);
    if (event->reason == HONE_NET_KEY_REFUSED && !l->was_welcome) {
        l->is_refused = true; /* a key that was allowed once may be so again: then it tries on */
        return;
    }
    int64_t now = remote_now(r);
    if (event->reason == l->failure && now < l->failure_log_ns) return;
    l->failure = event->reason;
    l->failure_log_ns = now + FAILURE_LOG_NS;
    HONE_LOG(l->log, HONE_LOG_WARNING, "%s; trying again", l->trouble);
}

static void on_event(runner_remote *r, const hone_net_event *event) {
    switch (event->kind) {
    case HONE_NET_OPENED:
        on_opened(r, event->peer);
        return;
    case HONE_NET_MESSAGE:
        if (event->peer == r->link.peer) on_frame(r, event);
        return;
    case HONE_NET_CLOSED:
        if (event->peer == r->link.peer) on_away(r, hone_net_reason_text(event->reason));
        return;
    case HONE_NET_FAILED:
        on_failed(r, event);
        return;
    }
}

hone_status remote_link_receive(runner_remote *r, int64_t deadline_ns) {
    for (int i = 0; i < MAX_EVENTS; i++) {
        hone_net_event event;
        hone_status st =
            hone_net_recv(r->link.net, i == 0 ? deadline_ns : HONE_DEADLINE_NOW, &event);
        if (hone_status_code(st) == HONE_CODE_TIMEOUT) {
            hone_status_free(st);
            return HONE_OK;
        }
        HONE_TRY(st);
        on_event(r, &event);
    }
    return HONE_OK;
}

/* ---- timers of the connection ---- */

void remote_link_timers(runner_remote *r) {
    remote_link *l = &r->link;
    int64_t now = remote_now(r);
    if (l->peer && now >= l->heard_ns + l->expiry_ns) {
        hang_up(r, "nothing was heard for too long");
    }
    if (!l->peer || l->is_refused) return;
    if (!l->is_welcome) {
        if (now >= l->hello.at_ns) send_hello(r);
    } else if (now >= l->sent_ns + l->heartbeat_ns) {
        const hone_farm_message ping = {.kind = HONE_FARM_PING, .id = ++l->last_id};
        if (!remote_send(r, &ping)) l->sent_ns = now; /* its queue is full: it hears enough */
    }
}

int64_t remote_link_next_ns(const runner_remote *r) {
    const remote_link *l = &r->link;
    if (!l->peer || l->is_refused) return HONE_DEADLINE_NEVER;
    int64_t at = l->heard_ns + l->expiry_ns;
    remote_sooner(&at, l->is_welcome ? l->sent_ns + l->heartbeat_ns : l->hello.at_ns);
    return at;
}
