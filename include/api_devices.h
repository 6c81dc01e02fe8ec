/* include/api_devices.h - where candidates of a tune run: this CPU, a GPU of this machine, devices
 * of a farm; not installed. */
#ifndef HONE_INCLUDE_API_DEVICES_H
#define HONE_INCLUDE_API_DEVICES_H

#include <hone/tune.h>

#include "runner/farm/farm_choice.h"
#include "support/core/arena.h"

typedef struct hone_api_devices {
    hone_runner *runner;
    hone_runner *reference_runner; /* of the host, where trials run elsewhere; or NULL */
    hone_target target, host;      /* host: with reference_runner */
    hone_str quiet_path;           /* of the gate that runners of this machine take */
    hone_farm_choice choice;       /* the runner's, of a farm */
} hone_api_devices;

/* Starts runners; texts of options and outside outlive them, as does log. outside may be NULL.
 * Errors: those of hone_program_tune_with. out_devices is to be closed in any case. */
HONE_NODISCARD hone_status hone_api_devices_open(const hone_tuning_options *options,
                                                 const hone_tuning_outside *outside,
                                                 const hone_log *log, hone_arena *arena,
                                                 hone_api_devices *out_devices);
void hone_api_devices_close(hone_api_devices *devices);

#endif
