/* tests/farm/farm_sim.h - a whole farm in one process: a tracker, runner daemons with simulated
 * devices and tuners' remote runners over a simulated network, in virtual time, all from one seed.
 *
 *     faults:  messages are delayed, dropped, doubled, overtaken, and (from FARM_SIM_BITS on)
 *              changed by some bits; parties are cut off, lose their connections, are killed and
 *              started again, leave and come back; tuners cancel
 *     then:    everything works again, and must get done
 *
 * What must hold:
 *   - every trial that a tuner submitted ends once, with the result of its own seed, or with a
 *     failure that something in the run explains;
 *   - the rules of leases (sim_watch.h);
 *   - after the faults all trials end within a bounded time, and those submitted then end well;
 *   - in the end nobody holds anything, and nothing has grown beyond its bounds.
 */
#ifndef HONE_TESTS_FARM_FARM_SIM_H
#define HONE_TESTS_FARM_FARM_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "support/core/strbuf.h"

#define FARM_SIM_BITS 10000000000u /* the first seed of farms whose messages are damaged */

typedef struct farm_sim_stats {
    uint64_t trials, good, lost, cancelled, abandoned; /* of tuners */
    uint64_t frames, restarts, runs;
    int64_t virtual_ns;
} farm_sim_stats;

/* Runs the farm of a seed. False: a rule was broken, *out_why says which. `dir`: an empty directory
 * for caches and state; `log`: lines of all parties go to stderr. */
bool farm_sim_run(uint64_t seed, const char *dir, bool log, farm_sim_stats *out_stats,
                  hone_str *out_why);

#endif
