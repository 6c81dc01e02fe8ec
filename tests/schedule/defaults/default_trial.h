/* tests/schedule/defaults/default_trial.h - a program under its default schedule, and machines to
 * make it for. */
#ifndef HONE_TESTS_SCHEDULE_DEFAULTS_DEFAULT_TRIAL_H
#define HONE_TESTS_SCHEDULE_DEFAULTS_DEFAULT_TRIAL_H

#include "schedule/defaults/default_schedule.h"

enum { DEFAULT_MACHINES = 3 };
/* A common one, one with little of everything, and one with much. */
extern const hone_default_limits default_machines[DEFAULT_MACHINES];

/* Schedules the function. True: the scheduled program is well formed and computes what func does,
 * on arguments of the seed; else both are shown on stderr. */
bool default_trial(const hone_func *func, const hone_default_limits *limits, uint64_t seed,
                   hone_schedule **out_sch);
/* default_trial without a look at the schedule. */
bool default_trial_is_right(const hone_func *func, const hone_default_limits *limits,
                            uint64_t seed);

#endif
