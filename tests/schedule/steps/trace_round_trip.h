/* tests/schedule/steps/trace_round_trip.h - does a schedule's own trace survive being printed, read
 * and replayed? */
#ifndef HONE_TESTS_SCHEDULE_STEPS_TRACE_ROUND_TRIP_H
#define HONE_TESTS_SCHEDULE_STEPS_TRACE_ROUND_TRIP_H

#include "schedule/state/schedule.h"

/* Prints the trace as JSON and as Python, reads both, prints them again (the same text) and replays
 * them on fresh schedules of base (the same program and decisions). False with the reason. */
bool hone_trace_survives(const hone_func *base, const hone_schedule *sch, hone_str *out_why);

#endif
