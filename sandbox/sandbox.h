/* sandbox/sandbox.h - the inside: a process splits itself into a warden and one that is held.
 *
 *     outside ── control ──► warden ◄── channel ──► init ──fork──► the held process
 *                              │ opens files and takes the gate        (init reaps, and ends what
 *                              └─ in its place, as long as it lives     is left with the warden)
 *
 * Layers, from the one that must hold alone to those that are a second line:
 *     filter      an allow-list of system calls (filter.h); files are opened by the warden
 *     limits      memory, CPU time, file size, open files, no core dumps; threads, which the warden
 *                 counts where the kernel does not (root)
 *     user        not root: a user id of its own, when started as root; a compiler, which has to
 *                 reach its folders, keeps its user and loses the capabilities
 *     namespaces  of processes, IPC, network, users
 *     landlock    no path and no socket can be reached by the process itself
 *
 * Lifetime: a box lives in the held process, from _split to its end; enter it once.
 * Threads: split while the process has one thread. Layer: support/ only.
 */
#ifndef HONE_SANDBOX_SANDBOX_H
#define HONE_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "sandbox/filter.h"
#include "sandbox/loader_dirs.h"
#include "support/core/status.h"

#define HONE_SANDBOX_LAYERS_BYTES 128
#define HONE_SANDBOX_MAX_THREADS 4096

/* Second layers that can be switched off, to see that the first holds without them. */
typedef enum hone_sandbox_layer {
    HONE_SANDBOX_USER = 1,
    HONE_SANDBOX_NAMESPACES = 2,
    HONE_SANDBOX_LANDLOCK = 4,
} hone_sandbox_layer;

typedef struct hone_sandbox_options {
    hone_sandbox_profile profile;
    int control_fd; /* to the outside: grants come in, the end goes out (held.h) */
    int keep_fd;    /* the one descriptor above 2 that the held process keeps */
    const char
        *quiet_path;      /* lock file of the quiet gate, which the warden takes for it; or NULL */
    int64_t memory_bytes; /* address space; 0 = no limit */
    int64_t file_bytes;   /* that can be written to any one file; 0 = no limit */
    int64_t cpu_seconds;  /* of each process; 0 = no limit */
    bool unsandboxed;     /* limits only */
    unsigned without;     /* hone_sandbox_layer bits */
} hone_sandbox_options;

typedef struct hone_sandbox {
    hone_sandbox_options options;
    int channel_fd; /* to the warden */
    bool has_namespaces;
    pid_t warden_pid;           /* as the warden sees itself */
    hone_loader_dirs toolchain; /* of a compiler: found once, ended by _enter */
} hone_sandbox;

/* Splits this process, and returns in the held one; the other ends with it. UNAVAILABLE, IO. */
HONE_NODISCARD hone_status hone_sandbox_split(const hone_sandbox_options *options,
                                              hone_sandbox *out_box);

/* Puts all layers in force; cannot be undone. To be called before any foreign byte runs. `layers`
 * says which hold, for people: "filter, limits, user 1879048192, …". UNAVAILABLE when the filter
 * cannot be had. */
HONE_NODISCARD hone_status hone_sandbox_enter(hone_sandbox *box,
                                              char layers[HONE_SANDBOX_LAYERS_BYTES]);

/* The quiet gate, taken by the warden; it is given while a request is served, and taken back when
 * that is over. False when it is not to be had in time. */
bool hone_sandbox_take_gate(hone_sandbox *box, int64_t patience_ns);
void hone_sandbox_drop_gate(hone_sandbox *box);

/* "user", "namespaces", "landlock", with commas; false for another word. */
bool hone_sandbox_read_layers(const char *text, unsigned *out_layers);

#endif
