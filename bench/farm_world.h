/* bench/farm_world.h - a farm of real processes on this machine: `hone tracker`, `hone-runner`s,
 * and this program as the tuner, all with keys over loopback. A failure ends the bench. */
#ifndef HONE_BENCH_FARM_WORLD_H
#define HONE_BENCH_FARM_WORLD_H

#include "net/key.h"
#include "runner/runner.h"
#include "support/proc.h"

enum { FARM_MAX_RUNNERS = 16 };

typedef struct farm_world {
    char *dir;     /* keys, state, logs, caches */
    char *bin_dir; /* of the programs */
    char address[64];
    hone_key_pair tracker_keys, runner_keys, tuner_keys;
    hone_proc tracker, runners[FARM_MAX_RUNNERS];
} farm_world;

void farm_world_open(farm_world *w);
void farm_world_close(farm_world *w);

/* Started again it takes the same address and the same state. */
void farm_world_start_tracker(farm_world *w);
void farm_world_kill_tracker(farm_world *w); /* SIGKILL */
void farm_world_start_runner(farm_world *w, int index);
void farm_world_kill_runner(farm_world *w, int index);

/* A remote runner over so many devices; waits until they are there. */
hone_runner *farm_world_connect(farm_world *w, int devices);

#endif
