/* tests/lower/device/gpu_recipe.h - random schedules for GPUs. */
#ifndef HONE_TESTS_LOWER_DEVICE_GPU_RECIPE_H
#define HONE_TESTS_LOWER_DEVICE_GPU_RECIPE_H

#include "schedule/state/schedule.h"

/* Binds nests to blocks and threads, and stages what they read in shared memory, which all threads
 * of a block fill together, or keeps what they write in registers; what is refused is left out. */
hone_status gpu_recipe_apply(hone_schedule *sch, uint64_t seed);

#endif
