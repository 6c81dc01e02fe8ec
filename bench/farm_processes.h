/* bench/farm_processes.h - a farm of real processes on this machine: `hone tracker`,
 * `hone-runner`s, and this program as the tuner, all with keys over loopback. A failure ends the
 * bench. */
#ifndef HONE_BENCH_FARM_PROCESSES_H
#define HONE_BENCH_FARM_PROCESSES_H

#include "net/key.h"
#include "runner/runner.h"
#include "support/os/proc.h"

enum { FARM_MAX_RUNNERS = 16 };

typedef struct farm_processes {
    char *dir;     /* keys, state, logs, caches */
    char *bin_dir; /* of the programs */
    char address[64];
    hone_key_pair tracker_keys, runner_keys, tuner_keys;
    hone_proc tracker, runners[FARM_MAX_RUNNERS];
} farm_processes;

void farm_processes_open(farm_processes *w);
void farm_processes_close(farm_processes *w);

/* Started again it takes the same address and the same state. */
void farm_processes_start_tracker(farm_processes *w);
void farm_processes_kill_tracker(farm_processes *w); /* SIGKILL */
void farm_processes_start_runner(farm_processes *w, int index);
void farm_processes_kill_runner(farm_processes *w, int index);

/* A remote runner over so many devices; waits until they are there. */
hone_runner *farm_processes_connect(farm_processes *w, int devices);

#endif
