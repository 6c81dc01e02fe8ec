/* runner/farm/farm_access.h - how a program reaches a tracker: its address, and keys. */
#ifndef HONE_RUNNER_FARM_FARM_ACCESS_H
#define HONE_RUNNER_FARM_FARM_ACCESS_H

#include "net/net_zmq.h"
#include "support/core/status.h"

typedef struct hone_farm_access {
    const char *tracker;     /* "tcp://host:9190"; HONE_TRACKER */
    const char *key_path;    /* file of one's secret key; HONE_KEY_FILE */
    const char *tracker_key; /* the tracker's public key, or a file with it; HONE_TRACKER_KEY */
    bool is_insecure;
} hone_farm_access;

/* Fills in from the environment what is not given. */
void hone_farm_access_from_environment(hone_farm_access *access);

/* Reads the keys; wipe out_net->keys afterwards. INVALID says what is missing. */
HONE_NODISCARD hone_status hone_farm_access_resolve(const hone_farm_access *access,
                                                    hone_net_client_options *out_net);

#endif
