/* tools/farm/farm_options.c - see farm_options.h. */
#include "tools/farm/farm_options.h"

#include <string.h>

bool farm_options_name_a_tracker(farm_options *options) {
    hone_farm_access_from_environment(&options->choice.access);
    return options->choice.access.tracker != NULL;
}

static hone_status check_device_key(const hone_farm_choice *choice) {
    if (!choice->device_key || choice->access.tracker) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "--device-key is a name of a farm: --tracker URL "
                                         "(or HONE_TRACKER) is missing");
}

hone_status farm_options_check(const hone_cli *cli, farm_options *o) {
    o->choice.software = "hone " HONE_VERSION;
    o->choice.stops_without = strcmp(o->no_device, "stop") == 0;
    HONE_TRY(check_device_key(&o->choice));
    HONE_TRY(hone_farm_access_check(cli, &o->choice.access));
    if (o->choice.stops_without || strcmp(o->no_device, "wait") == 0) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "option '--no-device' wants wait or stop, not '%s'",
                      o->no_device);
}
