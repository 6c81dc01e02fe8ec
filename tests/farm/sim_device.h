/* tests/farm/sim_device.h - a device of the farm simulation: a runner backend whose trials take
 * virtual time.
 *
 * What a request asks for is in its `simulated` facts and its seed; the artifact's content must be
 * the one that belongs to the seed (sim_content), so a file that was mixed up shows as a wrong
 * result. A device runs one trial at a time, as the daemon promises.
 */
#ifndef HONE_TESTS_FARM_SIM_DEVICE_H
#define HONE_TESTS_FARM_SIM_DEVICE_H

#include "runner/runner.h"
#include "support/os/clock.h"

typedef struct sim_device_counts {
    uint64_t started, ended;
} sim_device_counts;

/* `counts` may be shared by devices and outlives them. */
HONE_NODISCARD hone_status sim_device_create(const hone_clock *clock, sim_device_counts *counts,
                                             hone_runner **out_runner);
/* When its trial ends; HONE_DEADLINE_NEVER. */
int64_t sim_device_next_ns(const hone_runner *runner);

/* The bytes of file number `file`, below SIM_FILES. */
const uint8_t *sim_content(uint32_t file, size_t *out_count);
/* Which file a seed's trial runs, and how long one run takes by its result. */
uint32_t sim_file_of(uint64_t seed);
double sim_time_of(uint64_t seed);

enum { SIM_FILES = 6, SIM_CHUNK_BYTES = 1024 };

#endif
