/* schedule/defaults/pairs.h - products of pairs of bfloat16, which the variant bf16 makes. */
#ifndef HONE_SCHEDULE_DEFAULTS_PAIRS_H
#define HONE_SCHEDULE_DEFAULTS_PAIRS_H

#include "schedule/defaults/default_schedule.h"

/* The program has just become that variant's. */
bool hone_pairs_is(const hone_schedule *sch);
/* So many rows share each panel that making it pays, or it is made of constants alone. Of a program
 * that hone_pairs_is. */
bool hone_pairs_pay(const hone_schedule *sch, const hone_default_limits *limits);

#endif
