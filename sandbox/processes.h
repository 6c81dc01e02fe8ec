/* sandbox/processes.h - who started whom, as /proc of this process says. */
#ifndef HONE_SANDBOX_PROCESSES_H
#define HONE_SANDBOX_PROCESSES_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct hone_kin {
    pid_t parent, group;
} hone_kin;

/* False when there is no such process. */
bool hone_process_kin(pid_t pid, hone_kin *out_kin);

/* All that are there now, in any order. */
void hone_process_each(void (*visit)(pid_t pid, void *data), void *data);

/* Kills the children of this process, and what they leave to it, until there are none. */
void hone_process_end_children(void);

/* Threads that a process has now; 0 when there is no such process. */
long hone_process_threads(pid_t pid);

#endif
