/* runner/farm/farm_choice.h - devices of a farm to tune for: the remote runner, and the target
 * that they have. */
#ifndef HONE_RUNNER_FARM_FARM_CHOICE_H
#define HONE_RUNNER_FARM_FARM_CHOICE_H

#include "runner/farm/farm_access.h"
#include "runner/runner.h"
#include "support/os/log.h"
#include "target/target.h"

typedef struct hone_farm_choice {
    hone_farm_access access;
    const char *device_key; /* NULL = the only one there is */
    const char *target;     /* that was asked for, NULL = the devices' */
    int64_t threads;        /* 0 = all */
    bool stops_without;     /* when no device is left; else it waits for one */
    const char *software;   /* what the tracker shows of this program */
} hone_farm_choice;

/* Connects. INVALID: options or keys. `choice` and `log` outlive the runner. */
HONE_NODISCARD hone_status hone_farm_choice_connect(const hone_farm_choice *choice,
                                                    const hone_log *log, hone_runner **out_runner);

/* Waits for a device, with a line that says so, and gives its target as text, which is the
 * runner's. UNAVAILABLE: no tracker, or no device and nobody wants to wait. UNSUPPORTED: code for
 * the target that was asked for runs on none. CANCELLED: is_stopped, which may be NULL, said so. */
HONE_NODISCARD hone_status hone_farm_choice_wait(const hone_farm_choice *choice,
                                                 hone_runner *runner, const hone_log *log,
                                                 bool (*is_stopped)(void *ctx), void *ctx,
                                                 const char **out_target);

/* The target to tune for: the device's, or the one that was asked for. */
HONE_NODISCARD hone_status hone_farm_choice_target(const hone_farm_choice *choice,
                                                   const char *device_target,
                                                   hone_target *out_target);

/* The target of a device that is there now, for whoever measures nothing. */
HONE_NODISCARD hone_status hone_farm_choice_ask(const hone_farm_choice *choice, const hone_log *log,
                                                hone_target *out_target);

#endif
