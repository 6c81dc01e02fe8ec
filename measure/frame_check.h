/* measure/frame_check.h - frames that tell when bits of them have changed on the way.
 *
 * With encryption no such frame arrives; an insecure connection takes what comes. A frame that is
 * sealed ends with a member of its map that carries the hash of all bytes before: who does not
 * know that member passes over it, and a frame without it is taken as it is. For measure/ only.
 */
#ifndef HONE_MEASURE_FRAME_CHECK_H
#define HONE_MEASURE_FRAME_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "support/core/strbuf.h"

/* Appends the last member of the map that begins at `at`, whose head counts it already. */
void hone_frame_seal(hone_str *out, size_t at);

/* False: the frame was sealed and is not what was sealed. */
bool hone_frame_is_whole(const void *bytes, size_t count);

#endif
