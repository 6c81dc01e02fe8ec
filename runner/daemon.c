/* runner/daemon.c - the connection: greeting, heartbeats, who gets which message, leaving.
 *
 *   AWAY ──OPENED──► GREETING (HELLO, repeated) ──WELCOME──► UP ──lost, silent, refused──► AWAY
 */
#include <assert.h>
#include <string.h>

#include "runner/daemon_impl.h"
#include "support/alloc.h"

#define ARENA_BLOCK_BYTES 16384
#define FIRST_HEARTBEAT_NS HONE_NS_PER_S /* until a tracker says otherwise */
#define FIRST_EXPIRY_NS (10 * HONE_NS_PER_S)
#define MIN_HEARTBEAT_NS (10 * HONE_NS_PER_MS)
#define MAX_HEARTBEAT_NS (300 * HONE_NS_PER_S)
#define FIRST_CHUNK_BYTES (256u << 10)
#define STOP_PATIENCE_NS (15 * HONE_NS_PER_S)
#define ACK_PATIENCE_NS (2 * HONE_NS_PER_S)
#define FAILURE_LOG_NS (60 * HONE_NS_PER_S)
#define MAX_EVENTS 256 /* in one step */

/* ---- timers ---- */

void daemon_sooner(int64_t *at_ns, int64_t other_ns) {
    if (other_ns < *at_ns) *at_ns = other_ns;
}

void daemon_repeat_start(daemon_repeat *repeat, int64_t now_ns) {
    *repeat = (daemon_repeat){.at_ns = now_ns};
}

void daemon_repeat_rang(const hone_daemon *d, daemon_repeat *repeat, int64_t first_ns,
                        int64_t most_ns) {
    repeat->step_ns = repeat->step_ns ? 2 * repeat->step_ns : first_ns;
    if (repeat->step_ns > most_ns) repeat->step_ns = most_ns;
    repeat->at_ns = daemon_now(d) + repeat->step_ns;
}

/* ---- sending ---- */

bool daemon_send(hone_daemon *d, const hone_farm_message *message) {
    if (!d->peer) return false;
    hone_str_clear(&d->frame);
    hone_status st = hone_farm_encode(message, &d->frame);
    if (!st) st = hone_net_send(d->net, d->peer, d->frame.data, d->frame.length);
    if (!st) {
        d->sent_ns = daemon_now(d);
        return true;
    }
    HONE_LOG(d->log, HONE_LOG_DEBUG, "'%s' was not sent: %s", hone_farm_kind_name(message->kind),
             hone_status_message(st));
    hone_status_free(st);
    return false;
}

static void send_hello(hone_daemon *d) {
    hone_farm_slot slots[HONE_FARM_MAX_SLOTS];
    hone_farm_held held[HONE_FARM_MAX_HELD];
    hone_farm_message message = {.kind = HONE_FARM_HELLO, .id = ++d->last_id};
    hone_farm_hello *hello = &message.u.hello;
    for (size_t i = 0; i < d->slot_count; i++)
        slots[i] = d->slots[i].facts;
    *hello = (hone_farm_hello){
        .version_min = HONE_FARM_VERSION_MIN,
        .version_max = HONE_FARM_VERSION,
        .role = HONE_FARM_RUNNER,
        .instance = d->instance,
        .slots = {d->slot_count, slots}
    };
    memcpy(hello->name, d->name, sizeof d->name);
    memcpy(hello->software, d->software, sizeof d->software);
    daemon_list_held(d, &hello->held, held);
    daemon_send(d, &message);
    daemon_repeat_rang(d, &d->hello, d->heartbeat_ns / 4, d->heartbeat_ns);
}

/* ---- coming and going ---- */

static void on_opened(hone_daemon *d, hone_net_peer peer) {
    d->peer = peer;
    d->is_welcome = false;
    d->heard_ns = daemon_now(d);
    daemon_repeat_start(&d->hello, d->heard_ns);
    send_hello(d);
}

static void on_away(hone_daemon *d) {
    d->peer = 0;
    d->is_welcome = false;
    d->stats.is_connected = false;
}

/* Ends the connection; the endpoint makes a new one by itself. */
static void hang_up(hone_daemon *d, const char *why) {
    HONE_LOG(d->log, HONE_LOG_WARNING, "connection to the tracker ended: %s", why);
    hone_net_close_peer(d->net, d->peer);
    on_away(d);
}

static int64_t within(int64_t value, int64_t least, int64_t most) {
    return value < least ? least : value > most ? most : value;
}

static void on_welcome(hone_daemon *d, const hone_farm_welcome *welcome) {
    if (d->is_welcome) return; /* the answer to a repeated HELLO */
    if (!hone_hash128_equal(d->tracker, welcome->tracker)) {
        memset(d->lease_floor, 0, sizeof d->lease_floor); /* its tokens are its own */
    }
    d->tracker = welcome->tracker;
    d->heartbeat_ns = within(welcome->heartbeat_ns, MIN_HEARTBEAT_NS, MAX_HEARTBEAT_NS);
    d->expiry_ns = within(welcome->expiry_ns, 2 * d->heartbeat_ns, 100 * d->heartbeat_ns);
    d->chunk_bytes = (uint32_t)within(welcome->chunk_bytes, 1024, HONE_FARM_MAX_CHUNK);
    d->is_welcome = d->stats.is_connected = true;
    d->is_away_noted = false;
    d->failure_log_ns = d->refusal_log_ns = 0;
    HONE_LOG(d->log, HONE_LOG_INFO, "welcome at %s%s%s, %zu slot%s of '%s'",
             hone_net_address(d->net), d->name[0] ? " as " : "", d->name, d->slot_count,
             d->slot_count == 1 ? "" : "s", d->slots[0].facts.device_key);
    daemon_resend_all(d);
    daemon_fetch_restart(d);
}

static hone_status on_refused(hone_daemon *d, const hone_farm_message *message) {
    const hone_farm_refused *r = &message->u.refused;
    switch (r->code) {
    case HONE_FARM_REFUSAL_VERSION:
        return HONE_ERROR(HONE_CODE_VERSION, "the tracker refuses this version: %s", r->text);
    case HONE_FARM_REFUSAL_ROLE:
        return HONE_ERROR(HONE_CODE_INVALID, "the tracker refuses this key as a runner's: %s",
                          r->text);
    case HONE_FARM_REFUSAL_KEY:
        hang_up(d, r->text);
        return HONE_OK;
    case HONE_FARM_REFUSAL_HELLO:
        if (d->is_welcome) daemon_repeat_start(&d->hello, daemon_now(d));
        d->is_welcome = d->stats.is_connected = false;
        return HONE_OK;
    case HONE_FARM_REFUSAL_TAKEN:
    case HONE_FARM_REFUSAL_BUSY: /* the timers repeat what was said */
        if (daemon_now(d) < d->refusal_log_ns) return HONE_OK;
        d->refusal_log_ns = daemon_now(d) + FAILURE_LOG_NS;
        HONE_LOG(d->log, HONE_LOG_WARNING, "the tracker says: %s; trying again", r->text);
        return HONE_OK;
    default:
        HONE_LOG(d->log, HONE_LOG_ERROR, "the tracker refused '%s': %s",
                 hone_farm_kind_name((hone_farm_kind)r->about), r->text);
        if (r->about == HONE_FARM_RESULT) daemon_on_result_refused(d, message->id, r->text);
        return HONE_OK;
    }
}

static void on_ping(hone_daemon *d, uint64_t id) {
    const hone_farm_message pong = {.kind = HONE_FARM_PONG, .id = id};
    daemon_send(d, &pong);
}

static void refuse(hone_daemon *d, const hone_farm_message *about, hone_farm_refusal code,
                   const char *text) {
    hone_farm_message message = {.kind = HONE_FARM_REFUSED, .id = about->id};
    message.u.refused.code = code;
    message.u.refused.about = about->kind;
    hone_farm_set_text(message.u.refused.text, sizeof message.u.refused.text, text);
    HONE_LOG(d->log, HONE_LOG_WARNING, "from the tracker: %s", text);
    daemon_send(d, &message);
}

static hone_status on_message(hone_daemon *d, const hone_farm_message *message) {
    switch (message->kind) {
    case HONE_FARM_WELCOME:
        on_welcome(d, &message->u.welcome);
        return HONE_OK;
    case HONE_FARM_REFUSED:
        return on_refused(d, message);
    case HONE_FARM_PING:
        on_ping(d, message->id);
        return HONE_OK;
    case HONE_FARM_PONG:
        return HONE_OK;
    case HONE_FARM_BYE:
        hang_up(d, message->u.bye.text);
        return HONE_OK;
    default:
        break;
    }
    if (!d->is_welcome) return HONE_OK; /* of an earlier life of this connection */
    switch (message->kind) {
    case HONE_FARM_ASSIGN:
        daemon_on_assign(d, &message->u.assign);
        return HONE_OK;
    case HONE_FARM_RESULT_ACK:
        daemon_on_ack(d, &message->u.lease);
        return HONE_OK;
    case HONE_FARM_ABORT:
        daemon_on_abort(d, &message->u.lease);
        return HONE_OK;
    case HONE_FARM_BLOB_CHUNK:
        daemon_on_chunk(d, &message->u.blob_chunk);
        return HONE_OK;
    case HONE_FARM_BLOB_MISSING:
        daemon_on_missing(d, &message->u.blob_missing);
        return HONE_OK;
    default:
        refuse(d, message, HONE_FARM_REFUSAL_INVALID, "a runner has no answer to that");
        return HONE_OK;
    }
}

static hone_status on_frame(hone_daemon *d, const hone_net_event *event) {
    hone_farm_message message;
    d->heard_ns = daemon_now(d);
    hone_arena_reset(d->arena);
    hone_status st = hone_farm_decode(event->bytes, event->count, d->arena, &message);
    if (!st) return on_message(d, &message);
    if (hone_status_code(st) == HONE_CODE_INVALID) {
        refuse(d, &message, HONE_FARM_REFUSAL_MALFORMED, hone_status_message(st));
    }
    hone_status_free(st); /* UNSUPPORTED: of a later version; NO_MEMORY: it is repeated */
    return HONE_OK;
}

/* Once per kind of failure, then once a minute: a tracker may be away for hours. */
static void on_failed(hone_daemon *d, const hone_net_event *event) {
    int64_t now = daemon_now(d);
    if (event->reason == d->failure && now < d->failure_log_ns) return;
    d->failure = event->reason;
    d->failure_log_ns = now + FAILURE_LOG_NS;
    const char *advice = "";
    if (event->reason == HONE_NET_KEY_REFUSED) {
        advice = "; an admin lets it in with 'hone farm allow PUBLIC-KEY --role runner'";
    } else if (event->reason == HONE_NET_BAD_PEER) {
        advice = "; is --tracker-key the public key of that tracker?";
    }
    HONE_LOG(d->log, HONE_LOG_WARNING, "no connection to %s: %s%s; trying again",
             hone_net_address(d->net), hone_net_reason_text(event->reason), advice);
}

static hone_status on_event(hone_daemon *d, const hone_net_event *event) {
    switch (event->kind) {
    case HONE_NET_OPENED:
        on_opened(d, event->peer);
        return HONE_OK;
    case HONE_NET_MESSAGE:
        return event->peer == d->peer ? on_frame(d, event) : HONE_OK;
    case HONE_NET_CLOSED:
        if (event->peer != d->peer) return HONE_OK;
        HONE_LOG(d->log, HONE_LOG_WARNING, "connection to the tracker ended: %s",
                 hone_net_reason_text(event->reason));
        on_away(d);
        return HONE_OK;
    case HONE_NET_FAILED:
        on_failed(d, event);
        return HONE_OK;
    }
    return HONE_OK;
}

static hone_status take_events(hone_daemon *d) {
    for (int i = 0; i < MAX_EVENTS; i++) {
        hone_net_event event;
        hone_status st = hone_net_recv(d->net, HONE_DEADLINE_NOW, &event);
        if (hone_status_code(st) == HONE_CODE_TIMEOUT) {
            hone_status_free(st);
            return HONE_OK;
        }
        HONE_TRY(st);
        HONE_TRY(on_event(d, &event));
    }
    return HONE_OK;
}

/* ---- timers of the connection ---- */

/* The tracker has given up a runner that it did not hear for so long. */
static int64_t away_ns(const hone_daemon *d) {
    return d->is_away_noted || !d->trials ? HONE_DEADLINE_NEVER : d->heard_ns + d->expiry_ns;
}

static void check_connection(hone_daemon *d) {
    int64_t now = daemon_now(d);
    if (d->peer && now >= d->heard_ns + d->expiry_ns) {
        hang_up(d, "nothing was heard for too long");
    }
    if (!daemon_is_up(d) && now >= away_ns(d)) {
        d->is_away_noted = true;
        daemon_give_back(d, NULL);
    }
    if (!d->peer) return;
    if (!d->is_welcome) {
        if (now >= d->hello.at_ns) send_hello(d);
    } else if (now >= d->sent_ns + d->heartbeat_ns) {
        const hone_farm_message ping = {.kind = HONE_FARM_PING, .id = ++d->last_id};
        if (!daemon_send(d, &ping)) d->sent_ns = now; /* its queue is full: it hears enough */
    }
}

static int64_t connection_next_ns(const hone_daemon *d) {
    if (!d->peer) return away_ns(d);
    int64_t at = d->heard_ns + d->expiry_ns;
    daemon_sooner(&at, d->is_welcome ? d->sent_ns + d->heartbeat_ns : d->hello.at_ns);
    return at;
}

/* ---- leaving ---- */

static void say_bye(hone_daemon *d) {
    hone_farm_message bye = {.kind = HONE_FARM_BYE, .id = ++d->last_id};
    daemon_give_back(d, "the runner stops");
    daemon_send_results(d);
    hone_farm_set_text(bye.u.bye.text, sizeof bye.u.bye.text, "the runner stops");
    daemon_send(d, &bye);
    d->is_over = true;
    HONE_LOG(d->log, HONE_LOG_INFO, "stopped; %llu results delivered",
             (unsigned long long)d->stats.results);
}

static bool has_results(const hone_daemon *d) {
    for (const daemon_trial *t = d->trials; t; t = t->next) {
        if (t->state == TRIAL_DONE) return true;
    }
    return false;
}

static void check_stop(hone_daemon *d) {
    if (!d->is_stopping || d->is_over) return;
    int64_t now = daemon_now(d);
    if (daemon_is_running(d) && now >= d->stop_ns) {
        daemon_cancel_running(d, "the runner stops");
        daemon_work(d);
    }
    if (daemon_is_running(d)) return;
    /* a result that is there already may still reach a tracker that is up */
    if (has_results(d) && daemon_is_up(d) && now < d->stop_ns + ACK_PATIENCE_NS) return;
    say_bye(d);
}

void hone_daemon_stop(hone_daemon *d, bool is_urgent) {
    int64_t until = daemon_now(d) + (is_urgent ? 0 : STOP_PATIENCE_NS);
    if (!d->is_stopping || until < d->stop_ns) d->stop_ns = until;
    if (!d->is_stopping && daemon_is_running(d)) {
        HONE_LOG(d->log, HONE_LOG_INFO, "stopping when what runs has ended");
    }
    d->is_stopping = true;
}

bool hone_daemon_is_over(const hone_daemon *d) {
    return d->is_over;
}

/* ---- the whole ---- */

hone_status hone_daemon_step(hone_daemon *d) {
    if (d->is_over) return HONE_OK;
    HONE_TRY(take_events(d));
    check_connection(d);
    daemon_work(d);
    daemon_fetch_drop_unwanted(d);
    daemon_fetch_ask(d);
    daemon_send_results(d);
    check_stop(d);
    return HONE_OK;
}

int64_t hone_daemon_next_ns(const hone_daemon *d) {
    if (d->is_over) return HONE_DEADLINE_NEVER;
    int64_t at = connection_next_ns(d);
    daemon_sooner(&at, daemon_trials_next_ns(d));
    daemon_sooner(&at, daemon_fetch_next_ns(d));
    if (d->is_stopping) {
        daemon_sooner(&at, d->stop_ns + (daemon_is_running(d) ? 0 : ACK_PATIENCE_NS));
    }
    return at;
}

hone_daemon_stats hone_daemon_get_stats(const hone_daemon *d) {
    hone_daemon_stats stats = d->stats;
    for (const daemon_trial *t = d->trials; t; t = t->next)
        stats.held++;
    return stats;
}

hone_status hone_daemon_create(const hone_daemon_options *options, hone_daemon **out_daemon) {
    *out_daemon = NULL;
    if (options->slot_count < 1 || options->slot_count > HONE_FARM_MAX_SLOTS) {
        return HONE_ERROR(HONE_CODE_INVALID, "a runner has %zu slots, must have 1 to %d",
                          options->slot_count, HONE_FARM_MAX_SLOTS);
    }
    hone_daemon *d = hone_calloc(1, sizeof *d);
    if (!d) return HONE_ERROR(HONE_CODE_NO_MEMORY, "runner daemon");
    d->arena = hone_arena_create(ARENA_BLOCK_BYTES);
    if (!d->arena) {
        hone_daemon_destroy(d);
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "runner daemon");
    }
    d->net = options->net;
    d->clock = hone_net_clock(options->net);
    d->cache = options->cache;
    d->log = options->log;
    d->slot_count = options->slot_count;
    for (size_t i = 0; i < d->slot_count; i++) {
        d->slots[i] = options->slots[i];
        d->slots[i].facts.slot = (uint32_t)i;
    }
    hone_farm_set_text(d->name, sizeof d->name, options->name);
    hone_farm_set_text(d->software, sizeof d->software, options->software);
    d->instance = options->instance;
    d->heartbeat_ns = FIRST_HEARTBEAT_NS;
    d->expiry_ns = FIRST_EXPIRY_NS;
    d->chunk_bytes = FIRST_CHUNK_BYTES;
    d->heard_ns = daemon_now(d);
    *out_daemon = d;
    return HONE_OK;
}

void hone_daemon_destroy(hone_daemon *d) {
    if (!d) return;
    daemon_trials_destroy(d);
    daemon_fetch_destroy(d);
    hone_arena_destroy(d->arena);
    hone_str_deinit(&d->frame);
    hone_free(d);
}
