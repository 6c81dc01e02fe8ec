/* tools/farm/farm_options.h - options of verbs whose devices are a farm's. */
#ifndef HONE_TOOLS_FARM_FARM_OPTIONS_H
#define HONE_TOOLS_FARM_FARM_OPTIONS_H

#include "runner/farm/farm_choice.h"
#include "tools/farm/farm_client.h"

typedef struct farm_options {
    hone_farm_choice choice;
    const char *no_device; /* "wait", "stop" */
} farm_options;

/* True when trials go to a tracker: by option, or by the environment, which is taken in. */
bool farm_options_name_a_tracker(farm_options *options);

/* Fills in what follows from other options. INVALID: one that would do nothing, or is none of its
 * values; with or without a tracker. */
HONE_NODISCARD hone_status farm_options_check(const hone_cli *cli, farm_options *options);

#endif
