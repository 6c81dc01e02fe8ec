/* runner/farm/daemon.c - what a runner says of itself, who gets which message, leaving. */
#include <string.h>

#include "runner/farm/daemon_impl.h"
#include "support/core/alloc.h"

#define STOP_PATIENCE_NS (15 * HONE_NS_PER_S)
#define ACK_PATIENCE_NS (2 * HONE_NS_PER_S)
#define REFUSAL_LOG_NS (60 * HONE_NS_PER_S)
#define WATCH_NS (5 * HONE_NS_PER_S)

/* ---- the link's owner ---- */

static void say_hello(void *owner, hone_farm_message *message) {
    hone_daemon *d = owner;
    hone_farm_slot slots[HONE_FARM_MAX_SLOTS];
    hone_farm_held held[HONE_FARM_MAX_HELD];
    hone_farm_bench benched[HONE_FARM_MAX_SLOTS];
    if (!daemon_is_tested(d)) return; /* it is said again soon */
    for (size_t i = 0; i < d->slot_count; i++)
        slots[i] = d->slots[i].facts;
    message->u.hello.slots = (hone_farm_slots){d->slot_count, slots};
    daemon_list_held(d, &message->u.hello.held, held);
    daemon_list_benched(d, &message->u.hello.benched, benched);
    farm_link_send(&d->link, message);
}

static void say_ping(void *owner, hone_farm_message *message) {
    hone_daemon *d = owner;
    hone_farm_bench benched[HONE_FARM_MAX_SLOTS];
    daemon_list_benched(d, &message->u.ping.benched, benched);
    farm_link_send(&d->link, message);
}

static void on_away(void *owner, const char *why) {
    (void)owner, (void)why; /* what runs goes on */
}

static bool on_failed(void *owner, hone_net_reason reason, const char *why) {
    (void)owner, (void)reason, (void)why;
    return false; /* a runner never gives up */
}

static void on_welcome(void *owner, const hone_farm_welcome *welcome) {
    hone_daemon *d = owner;
    if (!hone_hash128_equal(d->tracker, welcome->tracker)) {
        memset(d->lease_floor, 0, sizeof d->lease_floor); /* its tokens are its own */
    }
    d->tracker = welcome->tracker;
    d->is_away_noted = false;
    d->refusal_log_ns = 0;
    HONE_LOG(d->log, HONE_LOG_INFO, "welcome at %s%s%s, %zu slot%s of '%s'",
             hone_net_address(d->link.net), d->link.name[0] ? " as " : "", d->link.name,
             d->slot_count, d->slot_count == 1 ? "" : "s", d->slots[0].facts.device_key);
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
        farm_link_hang_up(&d->link, r->text);
        return HONE_OK;
    case HONE_FARM_REFUSAL_HELLO:
        farm_link_greet_again(&d->link);
        return HONE_OK;
    case HONE_FARM_REFUSAL_TAKEN:
    case HONE_FARM_REFUSAL_BUSY: /* the timers repeat what was said */
        if (daemon_now(d) < d->refusal_log_ns) return HONE_OK;
        d->refusal_log_ns = daemon_now(d) + REFUSAL_LOG_NS;
        HONE_LOG(d->log, HONE_LOG_WARNING, "the tracker says: %s; trying again", r->text);
        return HONE_OK;
    default:
        HONE_LOG(d->log, HONE_LOG_ERROR, "the tracker refused '%s': %s",
                 hone_farm_kind_name((hone_farm_kind)r->about), r->text);
        if (r->about == HONE_FARM_RESULT) daemon_on_result_refused(d, message->id, r->text);
        return HONE_OK;
    }
}

static hone_status on_message(void *owner, const hone_farm_message *message) {
    hone_daemon *d = owner;
    switch (message->kind) {
    case HONE_FARM_REFUSED:
        return on_refused(d, message);
    case HONE_FARM_PONG:
        return HONE_OK;
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
        farm_link_refuse(&d->link, message, HONE_FARM_REFUSAL_INVALID,
                         "a runner has no answer to that");
        return HONE_OK;
    }
}

static const farm_link_vtable link_vtable = {.say_hello = say_hello,
                                             .say_ping = say_ping,
                                             .on_welcome = on_welcome,
                                             .on_away = on_away,
                                             .on_message = on_message,
                                             .on_failed = on_failed};

/* ---- being away ---- */

/* The tracker has given up a runner that it did not hear for so long. */
static int64_t away_ns(const hone_daemon *d) {
    if (d->is_away_noted || !d->trials) return HONE_DEADLINE_NEVER;
    return d->link.heard_ns + d->link.expiry_ns;
}

static void check_away(hone_daemon *d) {
    if (farm_link_is_up(&d->link) || daemon_now(d) < away_ns(d)) return;
    d->is_away_noted = true;
    daemon_give_back(d, NULL);
}

/* ---- leaving ---- */

static void say_bye(hone_daemon *d) {
    daemon_give_back(d, "the runner stops");
    daemon_send_results(d);
    farm_link_send_bye(&d->link, "the runner stops");
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

/* Until when what runs, or a result that the tracker has not acknowledged, is waited for. */
static int64_t stop_until_ns(const hone_daemon *d) {
    if (daemon_is_running(d) || d->stop_ns == HONE_DEADLINE_NEVER) return d->stop_ns;
    return d->stop_ns + ACK_PATIENCE_NS;
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
    if (has_results(d) && farm_link_is_up(&d->link) && now < stop_until_ns(d)) return;
    say_bye(d);
}

static int64_t patience_ns(const hone_daemon *d, hone_daemon_haste haste) {
    if (haste == HONE_DAEMON_DRAIN) return HONE_DEADLINE_NEVER;
    return daemon_now(d) + (haste == HONE_DAEMON_STOP ? STOP_PATIENCE_NS : 0);
}

void hone_daemon_stop(hone_daemon *d, hone_daemon_haste haste) {
    int64_t until = patience_ns(d, haste);
    if (!d->is_stopping || until < d->stop_ns) d->stop_ns = until;
    if (!d->is_stopping || haste > d->haste) d->haste = haste;
    if (!d->is_stopping && daemon_is_running(d)) {
        HONE_LOG(d->log, HONE_LOG_INFO, "stopping when what runs has ended");
    }
    d->is_stopping = true;
}

/* What runs, or can be given to the tracker: a result that nobody takes keeps no daemon here. */
static bool is_busy(const hone_daemon *d) {
    return daemon_is_running(d) || (d->trials && farm_link_is_up(&d->link));
}

/* When a daemon that has nothing to do leaves by itself. */
static int64_t idle_until_ns(const hone_daemon *d) {
    if (d->idle_ns <= 0 || d->is_stopping || is_busy(d)) return HONE_DEADLINE_NEVER;
    return d->busy_ns + d->idle_ns;
}

static void check_idle(hone_daemon *d) {
    if (is_busy(d)) d->busy_ns = daemon_now(d);
    if (daemon_now(d) < idle_until_ns(d)) return;
    HONE_LOG(d->log, HONE_LOG_INFO, "nothing to do for %.0f s: leaving",
             (double)d->idle_ns / (double)HONE_NS_PER_S);
    hone_daemon_stop(d, HONE_DAEMON_STOP);
}

bool hone_daemon_is_over(const hone_daemon *d) {
    return d->is_over;
}

/* ---- who watches it ---- */

static int64_t watch_ns(const hone_daemon *d) {
    return d->watcher.note ? d->watch_ns : HONE_DEADLINE_NEVER;
}

/* At once when a tracker comes or goes. */
static void tell_watcher(hone_daemon *d) {
    if (!d->watcher.note) return;
    bool is_up = farm_link_is_up(&d->link);
    if (is_up == d->was_connected && daemon_now(d) < d->watch_ns) return;
    const hone_daemon_stats stats = hone_daemon_get_stats(d);
    d->watch_ns = daemon_now(d) + WATCH_NS;
    d->was_connected = is_up;
    d->watcher.note(d->watcher.ctx, &stats);
}

/* ---- the whole ---- */

hone_status hone_daemon_step(hone_daemon *d) {
    if (d->is_over) return HONE_OK;
    HONE_TRY(farm_link_receive(&d->link, HONE_DEADLINE_NOW));
    farm_link_beat(&d->link);
    check_away(d);
    daemon_work(d);
    daemon_fetch_drop_unwanted(d);
    daemon_fetch_ask(d);
    daemon_send_results(d);
    check_idle(d);
    check_stop(d);
    tell_watcher(d);
    return HONE_OK;
}

int64_t hone_daemon_next_ns(const hone_daemon *d) {
    if (d->is_over) return HONE_DEADLINE_NEVER;
    int64_t at = farm_link_next_ns(&d->link);
    if (!d->link.peer) farm_sooner(&at, away_ns(d));
    farm_sooner(&at, daemon_trials_next_ns(d));
    if (!d->is_stopping) farm_sooner(&at, daemon_health_next_ns(d));
    farm_sooner(&at, daemon_fetch_next_ns(d));
    farm_sooner(&at, idle_until_ns(d));
    farm_sooner(&at, watch_ns(d));
    if (d->is_stopping) farm_sooner(&at, stop_until_ns(d));
    return at;
}

hone_daemon_stats hone_daemon_get_stats(const hone_daemon *d) {
    hone_daemon_stats stats = d->stats;
    stats.is_connected = farm_link_is_up(&d->link);
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
    const farm_link_options link = {.vtable = &link_vtable,
                                    .owner = d,
                                    .net = options->net,
                                    .log = options->log,
                                    .role = HONE_FARM_RUNNER,
                                    .instance = options->instance,
                                    .name = options->name,
                                    .software = options->software};
    hone_status st = farm_link_init(&d->link, &link);
    if (st) {
        hone_daemon_destroy(d);
        return st;
    }
    d->cache = options->cache;
    d->log = options->log;
    d->slot_count = options->slot_count;
    d->watcher = options->watcher;
    d->idle_ns = options->idle_ns;
    d->busy_ns = daemon_now(d);
    for (size_t i = 0; i < d->slot_count; i++) {
        d->slots[i] = options->slots[i];
        d->slots[i].facts.slot = (uint32_t)i;
    }
    daemon_health_init(d, &options->self_test);
    *out_daemon = d;
    return HONE_OK;
}

void hone_daemon_destroy(hone_daemon *d) {
    if (!d) return;
    daemon_trials_destroy(d);
    daemon_fetch_destroy(d);
    farm_link_deinit(&d->link);
    hone_free(d);
}
