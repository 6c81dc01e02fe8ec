/* tools/farm/farm_status.h - what a tracker says of its farm, as JSON. */
#ifndef HONE_TOOLS_FARM_FARM_STATUS_H
#define HONE_TOOLS_FARM_FARM_STATUS_H

#include "measure/farm.h"
#include "support/text/json.h"

/* What `hone farm status --json` prints; NULL when memory is short. */
hone_json *hone_farm_status_json(const hone_farm_status_table *table);

#endif
