/* schedule/defaults/winograd.h - schedules for what the variants winograd2 and winograd4 make of a
 * convolution (schedule/variant/winograd.c).
 *
 *   for row of tiles (parallel):                  fused: what a row makes stays in a core's caches
 *     image ─► for tile: rows, tiles              a tile is transformed in registers
 *     for u, v: for panel: for tiles: products    tiles x vectors of filters in registers
 *     for tile: sums, output
 *
 * Not fused, each stage goes over all tiles: where transformed filters are larger than what they
 * are multiplied with, and would be read again for each row.
 */
#ifndef HONE_SCHEDULE_DEFAULTS_WINOGRAD_H
#define HONE_SCHEDULE_DEFAULTS_WINOGRAD_H

#include "schedule/defaults/default_schedule.h"

typedef struct hone_winograd_way {
    bool is_fused;
    int32_t vectors; /* of filters in a tile of the products */
} hone_winograd_way;

/* The program has just become one of Winograd's. */
bool hone_winograd_is(hone_schedule *sch);
/* hone_winograd_is; what pays for it by its sizes and the caches. */
bool hone_winograd_choose(hone_schedule *sch, const hone_default_limits *limits,
                          hone_winograd_way *out);
/* Schedules a program that has just become a variant, up to the loops that hone_auto_loops
 * chooses. How many tiles a product takes at a time is sampled, and decided. ILLEGAL: the program
 * is none of Winograd's, or a step is refused; it may be half done then. */
HONE_NODISCARD hone_status hone_winograd_schedule(hone_schedule *sch,
                                                  const hone_default_limits *limits,
                                                  const hone_winograd_way *way);
/* All of it, as hone_default_schedule does by the way that hone_winograd_choose gives. */
HONE_NODISCARD hone_status hone_default_winograd(hone_schedule *sch,
                                                 const hone_default_limits *limits,
                                                 const hone_winograd_way *way);

#endif
