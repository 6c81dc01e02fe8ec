/* tools/serve/serve_farm.h - what a tracker says of its farm, asked for every two seconds on a
 * thread of its own, so that a tracker that does not answer holds up no page. */
#ifndef HONE_TOOLS_SERVE_SERVE_FARM_H
#define HONE_TOOLS_SERVE_SERVE_FARM_H

#include "support/core/strbuf.h"
#include "tools/farm/farm_client.h"

typedef struct hone_serve_farm hone_serve_farm;

/* `access` and what it points to must stay until _stop. INVALID, when keys cannot be read, comes at
 * once; a tracker that is away is told by the page. */
HONE_NODISCARD hone_status hone_serve_farm_start(const hone_farm_access *access,
                                                 hone_serve_farm **out_farm);
void hone_serve_farm_stop(hone_serve_farm *farm); /* NULL is allowed; waits up to two seconds */

/* Appends {"status": as `hone farm status --json`, or null, "trouble": text or null}. */
void hone_serve_farm_print(hone_serve_farm *farm, hone_str *out);

#endif
