/* runtime/guarded.h - memory between pages that nobody may touch.
 *
 *     [guard pages][slack ...][data .........][slack][guard pages]
 *
 * A write or read beyond the data hits a guard page, or falls into the slack (what rounding to
 * pages and to 64 bytes leaves), which is filled with a pattern and looked at afterwards. The
 * data lies against the lower guard (START) or the upper one (END), so both kinds of overrun are
 * caught exactly for half of the buffers; which half never changes between candidates of a task,
 * because the place in a page changes timings.
 *
 * Threads: thread-compatible. Layer: support/ only.
 */
#ifndef HONE_RUNTIME_GUARDED_H
#define HONE_RUNTIME_GUARDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/core/status.h"

typedef enum hone_guard_side { HONE_GUARD_START, HONE_GUARD_END } hone_guard_side;

typedef struct hone_guarded {
    uint8_t *data; /* 64-byte aligned; never NULL, also for 0 bytes */
    size_t bytes;
    uint8_t *base; /* of the mapping, guards included */
    size_t map_bytes;
} hone_guarded;

/* NO_MEMORY. The data is zero, the slack holds the pattern. */
HONE_NODISCARD hone_status hone_guarded_map(size_t bytes, hone_guard_side side,
                                            hone_guarded *out_guarded);
void hone_guarded_unmap(hone_guarded *guarded); /* leaves {0}; {0} is allowed */

/* Makes the pages between the guards read-only, or writable again. */
HONE_NODISCARD hone_status hone_guarded_protect(hone_guarded *guarded, bool writable);

/* Where the slack was written: bytes relative to the data (negative: before it, >= bytes: after
 * it); INT64_MIN when it is as it was. Refills it. */
int64_t hone_guarded_damage(hone_guarded *guarded);

/* Whether an address lies in the mapping; *out_offset is relative to the data. */
bool hone_guarded_contains(const hone_guarded *guarded, const void *address, int64_t *out_offset);

/* Poison: bytes that are a NaN in every float format and an unlikely integer. */
void hone_guarded_poison(hone_guarded *guarded);

#endif
