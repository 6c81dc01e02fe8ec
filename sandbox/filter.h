/* sandbox/filter.h - which system calls a held process may make: allow-lists for seccomp.
 *
 * A call is allowed (some only with certain arguments, compared with all their 64 bits), asked for
 * (the warden does it in the process's place, or not), or answered with ENOSYS, as if the kernel
 * had never heard of it: libraries have a way around that. Calls of another architecture kill.
 *
 *     call ─► number in the list? ── no ──► ENOSYS
 *                │ yes
 *             arguments as listed? ── no ──► ENOSYS
 *                │ yes
 *             ALLOW, or ASK ─► warden.h
 *
 * Layer: support/ only.
 */
#ifndef HONE_SANDBOX_FILTER_H
#define HONE_SANDBOX_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "support/core/status.h"

typedef enum hone_sandbox_profile {
    HONE_SANDBOX_CANDIDATE, /* computes in threads of its own; opens what the warden hands out */
    HONE_SANDBOX_COMPILER,  /* also starts programs and writes into its own folders */
    HONE_SANDBOX_CARD,      /* a candidate's, and speaks to NVIDIA's driver by open devices */
} hone_sandbox_profile;

typedef struct hone_filter_facts {
    pid_t pid;          /* the process as it sees itself: may signal nobody else */
    bool counts_starts; /* threads and processes are asked for: no limit of the kernel binds it */
} hone_filter_facts;

/* Puts the filter on the calling thread, for good, and hands out the descriptor on which the warden
 * hears what is asked for. Call it while the process has one thread. UNAVAILABLE: this kernel has
 * no such filter. */
HONE_NODISCARD hone_status hone_filter_load(hone_sandbox_profile profile,
                                            const hone_filter_facts *facts, int *out_listener);

/* For tests: the program (struct sock_filter, one after the other) for "x86_64" or "aarch64",
 * whatever this machine is, written to a descriptor. */
HONE_NODISCARD hone_status hone_filter_export(hone_sandbox_profile profile,
                                              const hone_filter_facts *facts, const char *arch,
                                              int fd);

/* For tests: the i-th name in the list of a profile; NULL behind the last. */
const char *hone_filter_call_name(hone_sandbox_profile profile, size_t i);

#endif
