/* runner/farm/remote_devices.c - which devices the tracker has for the remote runner.
 *
 * The tracker sends a new list when something changes, but that may be lost: each PONG says which
 * list is the present one. While there is no connection the devices are taken to be where they
 * were, for a while: trials that were submitted are still run.
 */
#include <stdio.h>
#include <string.h>

#include "runner/farm/remote_impl.h"

enum { SLOTS_PER_DEVICE = 2 }; /* one trial runs, the next one is there already */

const char *remote_note(const hone_runner *base) {
    return ((const runner_remote *)base)->note;
}

/* What is missing, where others of its key are there. */
static const char *of_which(const runner_remote *r) {
    return r->other_count ? " of this target" : "";
}

typedef struct missing {
    char text[HONE_FARM_NAME_BYTES + 64];
} missing;

/* "no device 'pi4' of this target"; any will do as long as none was asked for or found. */
static missing no_device(const runner_remote *r) {
    missing m = {"no device"};
    if (r->device_key[0])
        snprintf(m.text, sizeof m.text, "no device '%s'%s", r->device_key, of_which(r));
    return m;
}

/* What the progress line says. */
static void make_note(runner_remote *r) {
    if (!remote_is_up(r)) {
        snprintf(r->note, sizeof r->note, "no tracker");
    } else if (r->device_count == 0) {
        snprintf(r->note, sizeof r->note, "%s", no_device(r).text);
    } else {
        snprintf(r->note, sizeof r->note, "%u device%s", r->device_count,
                 r->device_count == 1 ? "" : "s");
    }
}

/* Without a tracker there is none, whatever it said last: who waits for what is under way must know
 * that it does not come now. */
static void note_want(runner_remote *r) {
    bool is_there = remote_is_up(r) && r->device_count > 0;
    r->base.slots = is_there ? (int32_t)r->device_count * SLOTS_PER_DEVICE : 0;
    make_note(r);
    if (is_there) {
        r->had_device = true;
        r->none_since_ns = HONE_DEADLINE_NEVER;
    } else if (r->none_since_ns == HONE_DEADLINE_NEVER) {
        r->none_since_ns = remote_now(r);
    }
}

bool remote_is_abandoned(const runner_remote *r) {
    if (r->waits_for_devices || !r->had_device || r->none_since_ns == HONE_DEADLINE_NEVER) {
        return false;
    }
    return remote_now(r) >= r->none_since_ns + r->patience_ns;
}

static void log_change(const runner_remote *r, uint32_t before) {
    const hone_log *log = r->link.log;
    if (r->device_count == before) return;
    if (r->device_count == 0 && r->waits_for_devices) {
        HONE_LOG(log, HONE_LOG_WARNING, "%s is there: waiting for one", no_device(r).text);
    } else if (r->device_count == 0) {
        HONE_LOG(log, HONE_LOG_WARNING, "%s is there", no_device(r).text);
    } else {
        HONE_LOG(log, HONE_LOG_INFO, "%u device%s '%s'", r->device_count,
                 r->device_count == 1 ? "" : "s", r->device_key);
    }
}

static bool is_mine(const runner_remote *r, const hone_farm_device *device) {
    return strcmp(device->device_key, r->device_key) == 0 && !device->is_draining;
}

static uint32_t count_target(const runner_remote *r, const hone_farm_device_list *list,
                             const char *target) {
    uint32_t count = 0;
    for (size_t i = 0; i < list->devices.count; i++) {
        const hone_farm_device *device = &list->devices.items[i];
        count += is_mine(r, device) && strcmp(device->target, target) == 0;
    }
    return count;
}

/* Whether candidates run there; else the reason is kept. */
static bool fits(runner_remote *r, const hone_farm_device *device) {
    hone_status st = r->check_target ? r->check_target(r->ctx, device->target) : HONE_OK;
    if (!st) return true;
    snprintf(r->misfit, sizeof r->misfit, "device %s/%u: %s", device->runner, device->slot,
             hone_status_message(st));
    hone_status_free(st);
    return false;
}

/* The largest group of devices of one target, of the first one where they are equal. It stays:
 * times of one tuner are of one target. */
static void choose_target(runner_remote *r, const hone_farm_device_list *list) {
    uint32_t most = 0;
    r->misfit[0] = 0;
    for (size_t i = 0; i < list->devices.count; i++) {
        const hone_farm_device *device = &list->devices.items[i];
        if (!is_mine(r, device)) continue;
        uint32_t count = count_target(r, list, device->target);
        if (count <= most || !fits(r, device)) continue;
        most = count;
        memcpy(r->target, device->target, sizeof r->target);
    }
}

/* Devices of the key that are not used, said when their number changes. */
static void note_others(runner_remote *r, const hone_farm_device_list *list) {
    uint32_t count = 0;
    const hone_farm_device *one = NULL;
    for (size_t i = 0; i < list->devices.count; i++) {
        const hone_farm_device *device = &list->devices.items[i];
        if (!is_mine(r, device) || strcmp(device->target, r->target) == 0) continue;
        one = device;
        count++;
    }
    if (one && count > r->other_count && r->target[0]) {
        HONE_LOG(
            r->link.log, HONE_LOG_WARNING,
            "%u of the devices '%s' %s of another target and not used: %s/%u is '%s', this run "
            "is for '%s' (another run with --target can have them)",
            count, r->device_key, count == 1 ? "is" : "are", one->runner, one->slot, one->target,
            r->target);
    }
    r->other_count = count;
}

/* Nobody named a key: the only one that there is will do. */
static void choose_key(runner_remote *r, const hone_farm_device_list *list) {
    r->other_key[0] = 0;
    if (r->device_key[0] || list->devices.count == 0) return;
    const char *first = list->devices.items[0].device_key;
    for (size_t i = 1; i < list->devices.count; i++) {
        const char *other = list->devices.items[i].device_key;
        if (strcmp(first, other) == 0) continue;
        memcpy(r->other_key, other, sizeof r->other_key);
        return;
    }
    memcpy(r->device_key, first, sizeof r->device_key);
}

void remote_on_device_list(runner_remote *r, const hone_farm_device_list *list) {
    if (list->number < r->device_number) return; /* overtaken */
    choose_key(r, list);
    if (!r->target[0]) choose_target(r, list);
    uint32_t before = r->device_count;
    uint32_t count = r->target[0] ? count_target(r, list, r->target) : 0;
    note_others(r, list);
    bool is_first = !r->has_devices;
    r->device_number = list->number;
    r->has_devices = true;
    r->device_count = count;
    r->ask_devices.at_ns = HONE_DEADLINE_NEVER;
    note_want(r);
    log_change(r, is_first ? UINT32_MAX : before);
}

void remote_on_pong(runner_remote *r, const hone_farm_pong *pong) {
    if (pong->devices == r->device_number || r->ask_devices.at_ns != HONE_DEADLINE_NEVER) return;
    farm_repeat_start(&r->ask_devices, remote_now(r));
}

void remote_devices_restart(runner_remote *r) {
    r->device_number = 0; /* another tracker counts anew */
    farm_repeat_start(&r->ask_devices, remote_now(r));
}

void remote_devices_timers(runner_remote *r) {
    note_want(r);
    if (!remote_is_up(r) || remote_now(r) < r->ask_devices.at_ns) return;
    hone_farm_message ask = {.kind = HONE_FARM_DEVICES, .id = ++r->link.last_id};
    memcpy(ask.u.devices.device_key, r->device_key, sizeof r->device_key);
    farm_link_send(&r->link, &ask);
    remote_repeat_rang(r, &r->ask_devices);
}

int64_t remote_devices_next_ns(const runner_remote *r) {
    int64_t at = remote_is_up(r) ? r->ask_devices.at_ns : HONE_DEADLINE_NEVER;
    if (r->had_device && !r->waits_for_devices && r->none_since_ns != HONE_DEADLINE_NEVER &&
        !remote_is_abandoned(r)) {
        farm_sooner(&at, r->none_since_ns + r->patience_ns);
    }
    return at;
}
