/* tools/programs/hone_runner_farm.h - `hone-runner --tracker`: options and what is done with them.
 */
#ifndef HONE_TOOLS_PROGRAMS_HONE_RUNNER_FARM_H
#define HONE_TOOLS_PROGRAMS_HONE_RUNNER_FARM_H

#include <stdbool.h>
#include <stdint.h>

#include "support/core/status.h"

enum { RUNNER_LAUNCHER_WORDS = 16 };

typedef struct runner_farm_options {
    const char *tracker;     /* "tcp://host:9190" */
    const char *key_path;    /* file of the secret key; NULL only when insecure */
    const char *tracker_key; /* public key, or a file with it; NULL only when insecure */
    const char *name;        /* in the farm; NULL: of host and cache */
    const char *target;      /* what this machine is; NULL: as it is detected */
    const char *device;      /* that candidates run on; NULL: "cpu" */
    const char *device_key;  /* what tuners ask for; NULL: the CPU's name */
    const char *cache_dir;   /* NULL: in the user's cache directory */
    int64_t cache_bytes;     /* 0: 4 GiB */
    int64_t memory_bytes;    /* of an executor; 0: 3/4 of this machine */
    int32_t slots;           /* 0: 1 */
    const char *quiet_path;  /* NULL: the gate of this user */
    const char *launcher[RUNNER_LAUNCHER_WORDS + 1];
    const char *without;     /* layers of the sandbox that are left out, for tests; or NULL */
    const char *status_path; /* a file that says that it lives and serves; NULL: none */
    int64_t idle_exit_ns;    /* ends when it had nothing to do for so long; 0: never */
    int drain_signal;        /* ends when what runs has ended; 0: no signal says so */
    bool is_insecure, is_unsandboxed, is_loud; /* without the quiet gate */
    bool is_verbose;
} runner_farm_options;

/* Serves until SIGTERM or SIGINT (the second one: at once), or the signal to drain. INVALID: the
 * options; VERSION, IO, … */
HONE_NODISCARD hone_status runner_farm_serve(const runner_farm_options *options);

#endif
