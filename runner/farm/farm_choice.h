/* tools/farm/tune_farm.h - `hone tune --tracker`: the remote runner from the command line's
 * options; what its devices are, for `hone compile`. */
#ifndef HONE_TOOLS_FARM_TUNE_FARM_H
#define HONE_TOOLS_FARM_TUNE_FARM_H

#include "runner/runner.h"
#include "support/os/log.h"
#include "target/target.h"
#include "tools/farm/farm_client.h"

typedef struct tune_farm_options {
    hone_farm_access access;
    const char *device_key; /* NULL = the only one there is */
    const char *no_device;  /* "wait", "stop" */
    const char *target;     /* that was asked for, NULL = the devices' */
    int64_t threads;        /* 0 = all */
} tune_farm_options;

/* True when trials go to a tracker: by option, or by the environment, which is taken in. */
bool tune_farm_is_wanted(tune_farm_options *options);

/* INVALID: an option that would do nothing, or is none of its values; with or without a tracker. */
HONE_NODISCARD hone_status tune_farm_check(const hone_cli *cli, const tune_farm_options *options);

/* Connects. INVALID: options or keys. `options` and `log` outlive the runner. */
HONE_NODISCARD hone_status tune_farm_connect(const tune_farm_options *options, const hone_log *log,
                                             hone_runner **out_runner);

/* Waits for a device, with a line that says so, and gives its target as text, which is the
 * runner's. UNAVAILABLE: no tracker, or no device and nobody wants to wait. UNSUPPORTED: code for
 * the target that was asked for runs on none. CANCELLED: is_stopped said so. */
HONE_NODISCARD hone_status tune_farm_wait(const tune_farm_options *options, hone_runner *runner,
                                          const hone_log *log, bool (*is_stopped)(void),
                                          const char **out_target);

/* The target to tune for: the device's, or the one that was asked for. */
HONE_NODISCARD hone_status tune_farm_target(const tune_farm_options *options,
                                            const char *device_target, hone_target *out_target);

/* The target of a device that is there now, for whoever measures nothing. */
HONE_NODISCARD hone_status tune_farm_ask(const tune_farm_options *options, const hone_log *log,
                                         hone_target *out_target);

#endif
