/* runner/farm/runner_remote.h - a runner of runner.h whose devices are behind a tracker.
 *
 *     submit ─► files hashed ─SUBMIT─► tracker ─► a runner's device ─OUTCOME─► next_result
 *                    ◄──BLOB_WANT──
 *
 * It has two slots for each device of its key and target: one trial runs, the next is there
 * already. Devices come and go, and so may the tracker: what is in flight is submitted again to one
 * that is back, and each trial is answered once. Files must stay until the result, as for any
 * runner: they are read when the tracker asks for them. A device that is lost with a trial twice
 * makes it device_lost.
 *
 * Lifetime and threads: as runner.h says; releasing it takes its trials off the farm. Between calls
 * nothing is sent: call hone_runner_tend (or next_result) when hone_runner_fd is readable, or the
 * tracker takes this side for gone. Over a simulated network (tests/support/simnet.h) there is no
 * descriptor and deadlines are those of its clock.
 */
#ifndef HONE_RUNNER_FARM_RUNNER_REMOTE_H
#define HONE_RUNNER_FARM_RUNNER_REMOTE_H

#include "measure/farm.h"
#include "net/net.h"
#include "runner/runner.h"
#include "support/os/log.h"

typedef struct hone_runner_remote_options {
    hone_net *net;               /* a client; the runner's from now on, also on failure */
    const char *device_key;      /* the devices to use; NULL = those there are, if of one key */
    const char *name;            /* of this tuner, for people; NULL = the name of the key */
    const char *software;        /* "hone 0.1.0", for people */
    hone_farm_instance instance; /* zero: random */
    /* Whether candidates run on devices of a target (canonical text): UNSUPPORTED says why not.
     * Asked once for each target that devices of the key have. NULL = they run on all. */
    hone_status (*check_target)(const void *ctx, const char *target);
    const void *ctx;
    bool stops_without_devices; /* next_result and tend fail when none is left for patience_ns */
    int64_t patience_ns;        /* 0 = 20 s */
    int32_t queue_depth;        /* requests taken at once; 0 = 512 */
    const hone_log *log;        /* NULL: silence; outlives the runner */
} hone_runner_remote_options;

/* Begins to connect; does not wait for it. */
HONE_NODISCARD hone_status hone_runner_create_remote(const hone_runner_remote_options *options,
                                                     hone_runner **out_runner);

/* The target of its devices, as canonical text that is the runner's; waits for a device until
 * `deadline_ns`. TIMEOUT: none yet, the message says why. UNAVAILABLE: the tracker refuses this
 * side or its key. INVALID: devices have different keys and none was named. UNSUPPORTED: there are
 * devices, but candidates run on none of them. Where devices of the key have different targets,
 * they are groups: the largest one on which candidates run is used, and no other. */
HONE_NODISCARD hone_status hone_runner_remote_find_target(hone_runner *runner, int64_t deadline_ns,
                                                          const char **out_target);

/* True while the tracker is there. */
bool hone_runner_remote_is_connected(const hone_runner *runner);
/* The name of its devices; "" = not known yet. */
const char *hone_runner_remote_device_key(const hone_runner *runner);

/* When tend is to be called though nothing has come (what hone_runner_fd does with a real
 * network); for simulations. */
int64_t hone_runner_remote_next_ns(const hone_runner *runner);

#endif
