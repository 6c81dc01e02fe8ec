/* runner/farm/farm_access.c - see farm_access.h. */
#include "runner/farm/farm_access.h"

#include <stdlib.h>

#include "measure/farm.h"

static void take_variable(const char *name, const char **to) {
    const char *value = getenv(name);
    if (!*to && value && *value) *to = value;
}

void hone_farm_access_from_environment(hone_farm_access *access) {
    take_variable("HONE_TRACKER", &access->tracker);
    take_variable("HONE_KEY_FILE", &access->key_path);
    take_variable("HONE_TRACKER_KEY", &access->tracker_key);
}

hone_status hone_farm_access_resolve(const hone_farm_access *access,
                                     hone_net_client_options *out_net) {
    *out_net = (hone_net_client_options){.address = access->tracker,
                                         .is_insecure = access->is_insecure,
                                         .max_frame_bytes = HONE_FARM_MAX_FRAME};
    if (!access->tracker) {
        return HONE_ERROR(HONE_CODE_INVALID, "--tracker URL (or HONE_TRACKER) is missing");
    }
    HONE_TRY(hone_net_check_address(access->tracker, false));
    if (access->is_insecure) return HONE_OK;
    if (!access->key_path) {
        return HONE_ERROR(HONE_CODE_INVALID, "--key FILE (or HONE_KEY_FILE) is missing; 'hone "
                                             "keygen' makes one");
    }
    if (!access->tracker_key) {
        return HONE_ERROR(HONE_CODE_INVALID, "--tracker-key PUB (or HONE_TRACKER_KEY) is missing; "
                                             "'hone tracker' prints it when it starts");
    }
    HONE_TRY(hone_status_annotate(hone_key_read_public(access->tracker_key, &out_net->server_key),
                                  "--tracker-key"));
    return hone_key_pair_load(access->key_path, &out_net->keys);
}
