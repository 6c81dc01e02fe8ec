/* tests/schedule/gpu/gpu_trial.h - programs by their schedules for GPUs: made, and tried. */
#ifndef HONE_TESTS_SCHEDULE_GPU_GPU_TRIAL_H
#define HONE_TESTS_SCHEDULE_GPU_GPU_TRIAL_H

#include "schedule/state/schedule.h"

/* Devices by a target's text: those with fewer threads than GPU_TRIAL_NEW have no matrix units. */
enum { GPU_TRIAL_NEW = 256 };

/* A schedule of its own, to be destroyed; fails the test where it cannot be made. */
hone_schedule *gpu_trial_schedule(const hone_func *func, const char *device);
/* The scheduled program keeps limits and meaning, has no race, and lowered neither; says on stderr
 * what is wrong. */
bool gpu_trial_is_right(const hone_func *func, const char *device, uint64_t seed);

#endif
