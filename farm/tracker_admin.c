/* farm/tracker_admin.c - looking at the farm and changing it; metrics.
 *
 * Who looks needs any key that may connect as a tuner or admin; who changes needs an admin's key,
 * whatever it said in HELLO.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "farm/tracker_impl.h"

#define MAX_ROWS 2000 /* so that a table fits a frame */

static bool is_admin(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    hone_farm_role role;
    if (tracker_key_role(t, &peer->key, &role) && role == HONE_FARM_ADMIN) return true;
    tracker_refuse(t, peer, m, HONE_FARM_REFUSAL_ROLE, "this needs the key of an admin");
    return false;
}

/* Runners have no place here but as runners. */
static bool may_look(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    hone_farm_role role;
    if (tracker_key_role(t, &peer->key, &role) && role != HONE_FARM_RUNNER) return true;
    tracker_refuse(t, peer, m, HONE_FARM_REFUSAL_ROLE, "this needs the key of a tuner or an admin");
    return false;
}

static void answer_done(hone_tracker *t, const tracker_peer *peer, const hone_farm_message *m,
                        const char *text) {
    hone_farm_message answer = tracker_answer(m, HONE_FARM_DONE);
    hone_farm_set_text(answer.u.done.text, sizeof answer.u.done.text, text);
    const hone_allowed *who = t->o.allowed ? hone_allow_list_find(t->o.allowed, &peer->key) : NULL;
    HONE_LOG(t->o.log, HONE_LOG_INFO, "admin '%s' at %s: %s", who ? who->name : "", peer->address,
             answer.u.done.text);
    tracker_send(t, peer->net, &answer);
}

/* Slots in the order of runners' joining; a walk over all of them. */
typedef struct slot_walk {
    size_t cursor, slot;
    const tracker_runner *runner;
} slot_walk;

static tracker_slot *next_slot(const hone_tracker *t, slot_walk *walk) {
    uint64_t value;
    hone_hash128 key;
    while (!walk->runner || walk->slot == walk->runner->slot_count) {
        if (!hone_map128_next(&t->runners, &walk->cursor, &key, &value)) return NULL;
        walk->runner = (const tracker_runner *)(uintptr_t)value;
        walk->slot = 0;
    }
    return &walk->runner->slots[walk->slot++];
}

static size_t count_slots(const hone_tracker *t) {
    size_t count = 0;
    slot_walk walk = {0};
    while (next_slot(t, &walk))
        count++;
    return count;
}

/* ---- status ---- */

static hone_farm_slot_state state_of(const tracker_slot *slot) {
    if (slot->evicted_count) return HONE_FARM_SLOT_STUCK;
    if (slot->trial_count) return HONE_FARM_SLOT_BUSY;
    return slot->is_draining || tracker_is_benched(slot) ? HONE_FARM_SLOT_DRAINING
                                                         : HONE_FARM_SLOT_IDLE;
}

static int64_t busy_of(const hone_tracker *t, const tracker_slot *slot) {
    return slot->busy_ns + (slot->trial_count ? t->now_ns - slot->busy_since_ns : 0);
}

static void fill_slot(const hone_tracker *t, const tracker_slot *slot, hone_farm_status_slot *out) {
    const tracker_runner *runner = slot->runner;
    *out = (hone_farm_status_slot){
        .slot = slot->info.slot,
        .state = state_of(slot),
        .is_connected = runner->peer != NULL,
        .connected_ns = t->now_ns - runner->since_ns,
        .silent_ns = t->now_ns - runner->heard_ns,
        .trials = (uint32_t)slot->trial_count,
        .done = slot->done,
        .failed = slot->failed,
        .lost = slot->lost,
        .errors = slot->erred,
        .busy_ns = busy_of(t, slot),
    };
    memcpy(out->runner, runner->name, sizeof out->runner);
    memcpy(out->software, runner->software, sizeof out->software);
    memcpy(out->device_key, slot->info.device_key, sizeof out->device_key);
    memcpy(out->target, slot->info.target, sizeof out->target);
    memcpy(out->trouble, slot->trouble, sizeof out->trouble);
    if (slot->tuner) memcpy(out->tuner, slot->tuner->name, sizeof out->tuner);
}

static void fill_tuner(const hone_tracker *t, const tracker_tuner *tuner,
                       hone_farm_status_tuner *out) {
    *out = (hone_farm_status_tuner){
        .instance = tuner->instance,
        .is_connected = tuner->peer != NULL,
        .silent_ns = t->now_ns - tuner->heard_ns,
        .waiting = tuner->waiting,
        .running = tuner->running,
        .done = tuner->done,
        .device_ns = tuner->device_ns,
    };
    memcpy(out->name, tuner->name, sizeof out->name);
}

static size_t rows_for(size_t count) {
    return count < MAX_ROWS ? count : MAX_ROWS;
}

static hone_status fill_tables(hone_tracker *t, hone_farm_status_table *out) {
    size_t slots = count_slots(t), tuners = hone_map128_count(&t->tuners);
    out->is_truncated = slots > MAX_ROWS || tuners > MAX_ROWS;
    slots = rows_for(slots);
    tuners = rows_for(tuners);
    out->slots.items = hone_arena_zalloc(t->arena, slots * sizeof *out->slots.items + 1);
    out->tuners.items = hone_arena_zalloc(t->arena, tuners * sizeof *out->tuners.items + 1);
    if (!out->slots.items || !out->tuners.items) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "status table");
    }
    slot_walk walk = {0};
    for (; out->slots.count < slots; out->slots.count++)
        fill_slot(t, next_slot(t, &walk), &out->slots.items[out->slots.count]);
    uint64_t value;
    hone_hash128 key;
    for (size_t i = 0; out->tuners.count < tuners && hone_map128_next(&t->tuners, &i, &key, &value);
         out->tuners.count++) {
        fill_tuner(t, (const tracker_tuner *)(uintptr_t)value,
                   &out->tuners.items[out->tuners.count]);
    }
    return HONE_OK;
}

hone_status tracker_on_status(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    if (!may_look(t, peer, m)) return HONE_OK;
    hone_farm_message answer = tracker_answer(m, HONE_FARM_STATUS_TABLE);
    hone_farm_status_table *table = &answer.u.status_table;
    *table = (hone_farm_status_table){
        .uptime_ns = t->now_ns - t->started_ns,
        .waiting = t->stats.waiting,
        .running = t->stats.running,
        .done = t->stats.done,
        .requeued = t->stats.requeued,
        .lost = t->stats.lost,
        .duplicates = t->stats.duplicates,
        .refused = t->stats.refused,
        .errors = t->stats.errors,
        .blob_bytes = t->stats.blob_bytes,
    };
    hone_farm_set_text(table->software, sizeof table->software, t->o.software ? t->o.software : "");
    HONE_TRY(fill_tables(t, table));
    tracker_send(t, peer->net, &answer);
    return HONE_OK;
}

/* ---- devices ---- */

static void fill_device(const tracker_slot *slot, hone_farm_device *out) {
    *out = (hone_farm_device){
        .slot = slot->info.slot,
        .cores = slot->info.cores,
        .memory_bytes = slot->info.memory_bytes,
        .is_draining = slot->is_draining || tracker_is_benched(slot),
    };
    memcpy(out->runner, slot->runner->name, sizeof out->runner);
    memcpy(out->device_key, slot->info.device_key, sizeof out->device_key);
    memcpy(out->target, slot->info.target, sizeof out->target);
}

static void send_devices(hone_tracker *t, tracker_peer *peer, uint64_t id) {
    hone_farm_message answer = {.kind = HONE_FARM_DEVICE_LIST, .id = id};
    hone_farm_device_list *list = &answer.u.device_list;
    list->number = t->devices;
    size_t most = rows_for(count_slots(t));
    list->devices.items = hone_arena_alloc(t->arena, most * sizeof *list->devices.items + 1);
    if (!list->devices.items) return; /* it asks again */
    slot_walk walk = {0};
    for (tracker_slot *slot; list->devices.count < most && (slot = next_slot(t, &walk));) {
        if (!slot->class) continue; /* known from the store only */
        if (peer->device_key[0] && strcmp(peer->device_key, slot->info.device_key) != 0) continue;
        fill_device(slot, &list->devices.items[list->devices.count++]);
    }
    peer->devices_sent = t->devices;
    tracker_send(t, peer->net, &answer);
}

hone_status tracker_on_devices(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    if (!may_look(t, peer, m)) return HONE_OK;
    peer->wants_devices = true;
    memcpy(peer->device_key, m->u.devices.device_key, sizeof peer->device_key);
    send_devices(t, peer, m->id);
    return HONE_OK;
}

void tracker_tell_devices(hone_tracker *t) {
    if (t->devices_told == t->devices) return;
    t->devices_told = t->devices;
    uint64_t net, value;
    for (size_t i = 0; hone_u64map_next(&t->peers, &i, &net, &value);) {
        tracker_peer *peer = (tracker_peer *)(uintptr_t)value;
        if (!peer->wants_devices || peer->devices_sent == t->devices) continue;
        hone_arena_reset(t->arena);
        send_devices(t, peer, 0);
    }
}

/* ---- drain, kick ---- */

static bool is_meant(const tracker_slot *slot, const char *device) {
    char name[HONE_FARM_NAME_BYTES + 16];
    tracker_slot_name(slot, name, sizeof name);
    return strcmp(device, slot->runner->name) == 0 || strcmp(device, name) == 0;
}

static hone_status drain_slot(hone_tracker *t, tracker_slot *slot, bool is_drained) {
    char name[HONE_FARM_NAME_BYTES + 16];
    tracker_slot_name(slot, name, sizeof name);
    if (is_drained && !hone_strmap_put(&t->drained, name, 1)) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "devices");
    }
    if (!is_drained) hone_strmap_remove(&t->drained, name);
    slot->is_draining = is_drained;
    t->devices++;
    return t->o.store ? hone_farm_store_put_drained(t->o.store, name, is_drained) : HONE_OK;
}

static void refuse_unknown(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m,
                           const char *device) {
    tracker_refuse(t, peer, m, HONE_FARM_REFUSAL_UNKNOWN,
                   "there is no runner or slot '%s'; 'hone farm status' shows them", device);
}

hone_status tracker_on_drain(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    if (!is_admin(t, peer, m)) return HONE_OK;
    const hone_farm_drain *drain = &m->u.drain;
    unsigned slots = 0, busy = 0;
    slot_walk walk = {0};
    for (tracker_slot *slot; (slot = next_slot(t, &walk));) {
        if (!is_meant(slot, drain->device)) continue;
        HONE_TRY(drain_slot(t, slot, !drain->is_over));
        slots++;
        busy += slot->trial_count > 0;
    }
    if (!slots) {
        refuse_unknown(t, peer, m, drain->device);
        return HONE_OK;
    }
    char text[HONE_FARM_NOTE_BYTES];
    snprintf(text, sizeof text, "'%s' %s (%u slot%s, %u at work)", drain->device,
             drain->is_over ? "gets work again" : "gets nothing new", slots, slots == 1 ? "" : "s",
             busy);
    answer_done(t, peer, m, text);
    return HONE_OK;
}

static tracker_runner *find_runner(const hone_tracker *t, const char *device) {
    slot_walk walk = {0};
    for (tracker_slot *slot; (slot = next_slot(t, &walk));) {
        if (is_meant(slot, device)) return slot->runner;
    }
    return NULL;
}

hone_status tracker_on_kick(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    if (!is_admin(t, peer, m)) return HONE_OK;
    tracker_runner *runner = find_runner(t, m->u.kick.device);
    if (!runner) {
        refuse_unknown(t, peer, m, m->u.kick.device);
        return HONE_OK;
    }
    char text[HONE_FARM_NOTE_BYTES];
    snprintf(text, sizeof text, "runner '%s' is cut off; its trials are handed out again",
             runner->name);
    tracker_peer *its_peer = runner->peer;
    HONE_TRY(tracker_remove_runner(t, runner, false));
    answer_done(t, peer, m, text);
    if (its_peer) tracker_drop_peer(t, its_peer);
    return HONE_OK;
}

/* ---- keys ---- */

static bool has_allow_list(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    if (t->o.allowed) return true;
    tracker_refuse(t, peer, m, HONE_FARM_REFUSAL_INVALID, "an insecure tracker has no keys");
    return false;
}

static bool read_key(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m,
                     const char *text, hone_key *out_key) {
    hone_status st = hone_key_parse(text, strlen(text), out_key);
    if (!st) return true;
    tracker_refuse(t, peer, m, HONE_FARM_REFUSAL_INVALID, "%s", hone_status_message(st));
    hone_status_free(st);
    return false;
}

/* The file of keys could not be changed: that is told, and the tracker goes on. */
static void answer_change(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m,
                          hone_status st, const char *text) {
    if (!st) {
        answer_done(t, peer, m, text);
        return;
    }
    hone_farm_refusal code = hone_status_code(st) == HONE_CODE_NOT_FOUND
                                 ? HONE_FARM_REFUSAL_UNKNOWN
                                 : HONE_FARM_REFUSAL_INVALID;
    tracker_refuse(t, peer, m, code, "%s", hone_status_message(st));
    hone_status_free(st);
}

/* Without an admin nobody could let one in but on the tracker's machine. */
static bool leaves_an_admin(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m,
                            const hone_key *key) {
    for (size_t i = 0; i < hone_allow_list_count(t->o.allowed); i++) {
        const hone_allowed *entry = hone_allow_list_at(t->o.allowed, i);
        if (entry->role == HONE_FARM_ADMIN && !hone_key_equal(&entry->key, key)) return true;
    }
    tracker_refuse(t, peer, m, HONE_FARM_REFUSAL_INVALID,
                   "this is the key of the last admin; allow another one first");
    return false;
}

static bool is_admins(const hone_tracker *t, const hone_key *key) {
    const hone_allowed *entry = hone_allow_list_find(t->o.allowed, key);
    return entry && entry->role == HONE_FARM_ADMIN;
}

hone_status tracker_on_allow(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    const hone_farm_key *k = &m->u.allow;
    hone_key key;
    if (!is_admin(t, peer, m) || !has_allow_list(t, peer, m)) return HONE_OK;
    if (!read_key(t, peer, m, k->key, &key)) return HONE_OK;
    bool is_demoted = is_admins(t, &key) && k->role != HONE_FARM_ADMIN;
    if (is_demoted && !leaves_an_admin(t, peer, m, &key)) return HONE_OK;
    char text[HONE_FARM_NOTE_BYTES];
    snprintf(text, sizeof text, "key %s is allowed as %s%s%s", k->key, hone_farm_role_name(k->role),
             k->name[0] ? ", called " : "", k->name);
    answer_change(t, peer, m, hone_allow_list_allow(t->o.allowed, &key, k->role, k->name), text);
    hone_tracker_apply_allow_list(t);
    return HONE_OK;
}

hone_status tracker_on_revoke(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    hone_key key;
    if (!is_admin(t, peer, m) || !has_allow_list(t, peer, m)) return HONE_OK;
    if (!read_key(t, peer, m, m->u.revoke.key, &key)) return HONE_OK;
    if (is_admins(t, &key) && !leaves_an_admin(t, peer, m, &key)) return HONE_OK;
    char text[HONE_FARM_NOTE_BYTES];
    snprintf(text, sizeof text, "key %s is not allowed any longer", m->u.revoke.key);
    answer_change(t, peer, m, hone_allow_list_revoke(t->o.allowed, &key), text);
    hone_tracker_apply_allow_list(t);
    return HONE_OK;
}

static uint32_t count_connections(const hone_tracker *t, const hone_key *key) {
    uint32_t count = 0;
    uint64_t net, value;
    for (size_t i = 0; hone_u64map_next(&t->peers, &i, &net, &value);)
        count += hone_key_equal(&((const tracker_peer *)(uintptr_t)value)->key, key);
    return count;
}

hone_status tracker_on_keys(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    if (!is_admin(t, peer, m) || !has_allow_list(t, peer, m)) return HONE_OK;
    hone_farm_message answer = tracker_answer(m, HONE_FARM_KEY_LIST);
    size_t count = hone_allow_list_count(t->o.allowed);
    hone_farm_key *rows = hone_arena_zalloc(t->arena, count * sizeof *rows + 1);
    if (!rows) return HONE_ERROR(HONE_CODE_NO_MEMORY, "keys");
    for (size_t i = 0; i < count; i++) {
        const hone_allowed *entry = hone_allow_list_at(t->o.allowed, i);
        hone_key_print(&entry->key, rows[i].key);
        rows[i].role = entry->role;
        memcpy(rows[i].name, entry->name, sizeof rows[i].name);
        rows[i].connections = count_connections(t, &entry->key);
    }
    answer.u.key_list.keys.count = count;
    answer.u.key_list.keys.items = rows;
    tracker_send(t, peer->net, &answer);
    return HONE_OK;
}

/* ---- metrics ---- */

hone_tracker_stats hone_tracker_get_stats(const hone_tracker *t) {
    hone_tracker_stats stats = t->stats;
    stats.runners = hone_map128_count(&t->runners);
    stats.tuners = hone_map128_count(&t->tuners);
    stats.peers = hone_u64map_count(&t->peers);
    stats.slots = count_slots(t);
    return stats;
}

static void put_metric(hone_str *out, const char *name, const char *type, const char *help,
                       double value) {
    hone_str_printf(out, "# HELP hone_%s %s\n# TYPE hone_%s %s\nhone_%s %.17g\n", name, help, name,
                    type, name, value);
}

static void put_totals(const hone_tracker *t, hone_str *out) {
    hone_tracker_stats s = hone_tracker_get_stats(t);
    hone_net_stats n = hone_net_get_stats(t->o.net);
    /* clang-format off */
    const struct {
        const char *name, *type, *help;
        double value;
    } rows[] = {
        {"uptime_seconds", "gauge", "since the tracker started",
         (double)(t->now_ns - t->started_ns) / 1e9},
        {"runners", "gauge", "runners that are not lost", (double)s.runners},
        {"slots", "gauge", "slots of those runners", (double)s.slots},
        {"tuners", "gauge", "tuners that are not forgotten", (double)s.tuners},
        {"connections", "gauge", "open connections", (double)s.peers},
        {"trials_waiting", "gauge", "trials in the queue", (double)s.waiting},
        {"trials_running", "gauge", "trials on slots", (double)s.running},
        {"trials_submitted_total", "counter", "trials taken from tuners", (double)s.submitted},
        {"trials_assigned_total", "counter", "assignments to slots", (double)s.assigned},
        {"trials_done_total", "counter", "results taken from runners", (double)s.done},
        {"trials_requeued_total", "counter", "trials handed out again after a loss",
         (double)s.requeued},
        {"trials_lost_total", "counter", "trials that ended as device_lost", (double)s.lost},
        {"trials_erred_total", "counter", "trials that came to nothing through a slot's fault",
         (double)s.errors},
        {"trials_returned_total", "counter", "trials that runners gave back", (double)s.returned},
        {"trials_cancelled_total", "counter", "trials cancelled by the tracker",
         (double)s.cancelled},
        {"results_duplicate_total", "counter", "results under an old token, dropped",
         (double)s.duplicates},
        {"queue_wait_seconds_total", "counter", "waiting of all assigned trials",
         (double)s.queue_wait_ns / 1e9},
        {"refused_total", "counter", "frames refused with a reason", (double)s.refused},
        {"throttled_total", "counter", "frames dropped because a peer sent too many",
         (double)s.throttled},
        {"blob_pulls_total", "counter", "files fetched from tuners", (double)s.blob_pulls},
        {"blob_bytes", "gauge", "files in the cache", (double)s.blob_bytes},
        {"request_bytes", "gauge", "requests and results held", (double)s.request_bytes},
        {"frames_in_total", "counter", "frames received", (double)n.frames_in},
        {"frames_out_total", "counter", "frames sent", (double)n.frames_out},
        {"bytes_in_total", "counter", "bytes received in frames", (double)n.bytes_in},
        {"bytes_out_total", "counter", "bytes sent in frames", (double)n.bytes_out},
        {"handshakes_refused_total", "counter", "connections that did not get in",
         (double)n.refused},
    };
    /* clang-format on */
    for (size_t i = 0; i < HONE_COUNT(rows); i++)
        put_metric(out, rows[i].name, rows[i].type, rows[i].help, rows[i].value);
}

/* A label's value: quotes and backslashes escaped (names have nothing else that matters). */
static void put_label(hone_str *out, const char *name, const char *value) {
    hone_str_printf(out, "%s=\"", name);
    for (; *value; value++) {
        if (*value == '"' || *value == '\\') hone_str_append_char(out, '\\');
        hone_str_append_char(out, *value);
    }
    hone_str_append_char(out, '"');
}

static void put_slot_metric(hone_str *out, const char *name, const tracker_slot *slot,
                            double value) {
    char number[16];
    snprintf(number, sizeof number, "%u", slot->info.slot);
    hone_str_printf(out, "hone_slot_%s{", name);
    put_label(out, "runner", slot->runner->name);
    hone_str_append_char(out, ',');
    put_label(out, "slot", number);
    hone_str_append_char(out, ',');
    put_label(out, "device_key", slot->info.device_key);
    hone_str_printf(out, "} %.17g\n", value);
}

static double slot_value(const hone_tracker *t, const tracker_slot *slot, int which) {
    switch (which) {
    case 0:
        return (double)busy_of(t, slot) / 1e9;
    case 1:
        return (double)slot->done;
    case 2:
        return (double)slot->failed;
    case 3:
        return (double)slot->erred;
    case 4:
        return tracker_is_benched(slot);
    default:
        return slot->runner->peer != NULL;
    }
}

void hone_tracker_print_metrics(const hone_tracker *t, hone_str *out) {
    static const struct {
        const char *name, *type, *help;
    } rows[] = {
        {"busy_seconds_total", "counter", "time with a trial"                            },
        {"done_total",         "counter", "results with a time"                          },
        {"failed_total",       "counter", "results of another kind"                      },
        {"erred_total",        "counter", "trials that came to nothing through its fault"},
        {"benched",            "gauge",   "1: it gets nothing after errors of its own"   },
        {"up",                 "gauge",   "1: its runner is connected"                   },
    };
    put_totals(t, out);
    for (int i = 0; i < (int)HONE_COUNT(rows); i++) {
        hone_str_printf(out, "# HELP hone_slot_%s %s\n# TYPE hone_slot_%s %s\n", rows[i].name,
                        rows[i].help, rows[i].name, rows[i].type);
        slot_walk walk = {0};
        for (const tracker_slot *slot; (slot = next_slot(t, &walk));)
            put_slot_metric(out, rows[i].name, slot, slot_value(t, slot, i));
    }
}
