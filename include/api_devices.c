/* include/api_devices.c - see api_devices.h. */
#include "include/api_devices.h"

#include <hone/version.h>

#include "include/api_host.h"
#include "runtime/device.h"
#include "support/os/quiet.h"
#include "target/target_read.h"

/* ---- of this machine ---- */

/* device: NULL is this CPU. */
static hone_status open_local(const hone_tuning_options *o, const char *device, hone_arena *arena,
                              hone_api_devices *devices, hone_runner **out_runner) {
    char layers[HONE_RUNNER_LAYERS_BYTES];
    hone_runner_local_options options = {
        .slots = 1, .device = device, .unsandboxed = o->unsandboxed != 0};
    HONE_TRY(hone_api_find_program(arena, o->programs, "hone-runner", &options.executor_path));
    if (!devices->quiet_path.length) HONE_TRY(hone_quiet_default_path(&devices->quiet_path));
    options.quiet_path = hone_str_text(&devices->quiet_path);
    HONE_TRY(hone_runner_create_local(&options, out_runner));
    return hone_runner_local_layers(*out_runner, layers); /* not to be held: none is run */
}

static hone_status open_reference(const hone_tuning_options *o, hone_arena *arena,
                                  hone_api_devices *devices) {
    HONE_TRY(hone_target_detect(&devices->host));
    return open_local(o, NULL, arena, devices, &devices->reference_runner);
}

static hone_status open_here(const hone_tuning_options *o, hone_arena *arena,
                             hone_api_devices *devices) {
    HONE_TRY(hone_target_read(o->target, o->threads, &devices->target));
    if (!hone_target_is_gpu(&devices->target)) {
        HONE_TRY(hone_target_check_here(&devices->target));
        return open_local(o, NULL, arena, devices, &devices->runner);
    }
    const char *name = hone_target_kind_name(devices->target.kind);
    HONE_TRY(hone_device_name_check(name));
    HONE_TRY(open_local(o, name, arena, devices, &devices->runner));
    return open_reference(o, arena, devices);
}

/* ---- of a farm ---- */

static bool is_over(void *ctx) {
    const hone_tuning_options *o = ctx;
    return o->should_stop && o->should_stop(o->context) != HONE_TUNING_GOES_ON;
}

/* In the words of this interface; the command names its options. */
static hone_status check_access(const hone_tuning_outside *outside) {
    if (outside->is_insecure) return HONE_OK;
    if (!outside->key) {
        return HONE_ERROR(HONE_CODE_INVALID, "key is NULL, must be the file of a secret key that "
                                             "the tracker knows: 'hone keygen' makes one");
    }
    if (!outside->tracker_key) {
        return HONE_ERROR(HONE_CODE_INVALID, "tracker_key is NULL, must be the tracker's public "
                                             "key: 'hone tracker' prints it when it starts");
    }
    return HONE_OK;
}

static hone_status open_farm(const hone_tuning_options *o, const hone_tuning_outside *outside,
                             const hone_log *log, hone_arena *arena, hone_api_devices *devices) {
    const char *device_target = NULL;
    devices->choice = (hone_farm_choice){
        .access = {outside->tracker, outside->key, outside->tracker_key, outside->is_insecure != 0},
        .device_key = outside->device_key,
        .target = o->target,
        .threads = o->threads,
        .stops_without = outside->stops_without_devices != 0,
        .software = "libhone " HONE_VERSION,
    };
    hone_tuning_options asked = *o;
    HONE_TRY(check_access(outside));
    HONE_TRY(hone_farm_choice_connect(&devices->choice, log, &devices->runner));
    HONE_TRY(hone_farm_choice_wait(&devices->choice, devices->runner, log, is_over, &asked,
                                   &device_target));
    HONE_TRY(hone_farm_choice_target(&devices->choice, device_target, &devices->target));
    return open_reference(o, arena, devices);
}

/* ---- either ---- */

hone_status hone_api_devices_open(const hone_tuning_options *o, const hone_tuning_outside *outside,
                                  const hone_log *log, hone_arena *arena,
                                  hone_api_devices *out_devices) {
    *out_devices = (hone_api_devices){0};
    bool is_farm = outside && outside->tracker;
    return is_farm ? open_farm(o, outside, log, arena, out_devices)
                   : open_here(o, arena, out_devices);
}

void hone_api_devices_close(hone_api_devices *devices) {
    hone_runner_destroy(devices->runner);
    hone_runner_destroy(devices->reference_runner);
    hone_str_deinit(&devices->quiet_path);
}
