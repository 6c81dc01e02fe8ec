/* schedule/defaults/pairs.h - products of pairs of bfloat16, which the variant bf16 makes. */
#ifndef HONE_SCHEDULE_DEFAULTS_PAIRS_H
#define HONE_SCHEDULE_DEFAULTS_PAIRS_H

#include "schedule/defaults/default_schedule.h"

/* The program has just become that variant's. */
bool hone_pairs_is(const hone_schedule *sch);

#endif
