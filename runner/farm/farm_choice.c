/* runner/farm/farm_choice.c - see farm_choice.h. */
#include "runner/farm/farm_choice.h"

#include "runner/farm/runner_remote.h"
#include "support/os/clock.h"
#include "target/target_read.h"

#define WAIT_SLICE_NS (200 * HONE_NS_PER_MS)
#define TRACKER_PATIENCE_NS (30 * HONE_NS_PER_S) /* for the first connection */
#define DEVICE_PATIENCE_NS (10 * HONE_NS_PER_S)  /* for the first device, with --no-device stop */
#define SILENCE_NS (2 * HONE_NS_PER_S)           /* waiting for less is not worth a line */

/* Code for the target that was asked for must run on the device. */
static hone_status check_target(const void *ctx, const char *device_target) {
    const hone_farm_choice *o = ctx;
    hone_target device, wanted;
    HONE_TRY(hone_target_parse(device_target, &device));
    HONE_TRY(hone_farm_choice_target(o, device_target, &wanted));
    return hone_status_annotate(hone_target_check_on(&wanted, &device), "--target '%s'",
                                o->target ? o->target : device_target);
}

hone_status hone_farm_choice_connect(const hone_farm_choice *o, const hone_log *log,
                                     hone_runner **out_runner) {
    hone_net_client_options net;
    hone_net *endpoint = NULL;
    *out_runner = NULL;
    HONE_TRY(hone_farm_access_resolve(&o->access, &net));
    hone_status st = hone_net_zmq_connect(&net, &endpoint);
    hone_key_pair_wipe(&net.keys);
    HONE_TRY(st);
    const hone_runner_remote_options remote = {.net = endpoint,
                                               .device_key = o->device_key,
                                               .software = o->software,
                                               .check_target = check_target,
                                               .ctx = o,
                                               .stops_without_devices = o->stops_without,
                                               .log = log};
    return hone_runner_create_remote(&remote, out_runner);
}

/* How long is worth waiting, counted from the beginning. */
static int64_t patience(const hone_farm_choice *o, const hone_runner *runner) {
    if (!hone_runner_remote_is_connected(runner)) return TRACKER_PATIENCE_NS;
    return o->stops_without ? DEVICE_PATIENCE_NS : INT64_MAX;
}

static hone_status give_up(hone_status why) {
    hone_status st = HONE_ERROR(HONE_CODE_UNAVAILABLE, "%s", hone_status_message(why));
    hone_status_free(why);
    return st;
}

hone_status hone_farm_choice_wait(const hone_farm_choice *o, hone_runner *runner,
                                  const hone_log *log, bool (*is_stopped)(void *ctx), void *ctx,
                                  const char **out_target) {
    const hone_clock *clock = hone_clock_system();
    int64_t start = hone_clock_now(clock);
    for (bool has_said = false;;) {
        hone_status st = hone_runner_remote_find_target(
            runner, hone_deadline_after(clock, WAIT_SLICE_NS), out_target);
        if (hone_status_code(st) != HONE_CODE_TIMEOUT) return st;
        int64_t waited = hone_clock_now(clock) - start;
        if (waited >= patience(o, runner)) return give_up(st);
        if (!has_said && waited >= SILENCE_NS) {
            HONE_LOG(log, HONE_LOG_WARNING, "%s: waiting", hone_status_message(st));
            has_said = true;
        }
        hone_status_free(st);
        if (is_stopped && is_stopped(ctx))
            return HONE_ERROR(HONE_CODE_CANCELLED, "stopped before there was a device");
    }
}

hone_status hone_farm_choice_target(const hone_farm_choice *o, const char *device_target,
                                    hone_target *out_target) {
    hone_target device;
    HONE_TRY(hone_target_read(device_target, o->threads, &device));
    *out_target = device;
    if (!o->target) return HONE_OK;
    return hone_target_read_on(&device, o->target, o->threads, out_target);
}

hone_status hone_farm_choice_ask(const hone_farm_choice *o, const hone_log *log,
                                 hone_target *out_target) {
    hone_runner *runner = NULL;
    const char *device_target = NULL;
    HONE_TRY(hone_farm_choice_connect(o, log, &runner));
    hone_status st = hone_farm_choice_wait(o, runner, log, NULL, NULL, &device_target);
    if (!st) st = hone_farm_choice_target(o, device_target, out_target);
    hone_runner_destroy(runner);
    return st;
}
