/* runtime/model/device/on_device.h - one device that a model has used, and one call on it: between
 * device_state.c (what is kept), device_ports.c (callers' tensors) and device_steps.c (what runs).
 *
 *   remote ── weights, code: uploaded once
 *          ── blocks: workspaces, scratch, tensors of callers on the host; they only grow
 *          ── prepared: per plan: parts of those blocks, kernels, a graph
 *
 * Everything is under the remote's lock: calls on one device run one after the other.
 */
#ifndef HONE_RUNTIME_MODEL_DEVICE_ON_DEVICE_H
#define HONE_RUNTIME_MODEL_DEVICE_ON_DEVICE_H

#include "runtime/model/driver_impl.h"

typedef struct mt_block {
    hone_mt_memory memory;
    int64_t bytes;
} mt_block;

/* What is kept of a plan between its calls. */
typedef struct mt_prepared {
    struct mt_prepared *next;
    const hone_mt_plan *plan;
    int64_t generation;    /* of the blocks that parts and graph lie in; -1: there are none */
    int64_t *values;       /* that they were made for */
    hone_mt_memory *parts; /* by tensor; 0: not made yet */
    int32_t *first_launch; /* by step: number of its first launch in functions */
    void **functions;      /* by launch; NULL: not looked for yet */
    int32_t part_count, function_count;
    bool may_be_graph; /* nothing in it needs the host */
    int32_t calls;     /* with these values, this memory, these ports */
    void *graph;
    hone_mt_memory *ports; /* that it was made for */
} mt_prepared;

struct hone_mt_remote {
    struct hone_mt_remote *next;
    const hone_mt_device_table *table;
    hone_mt_device_choice choice;
    hone_mt_device *device;
    pthread_mutex_t lock;
    const hone_mt_model *model;
    const uint8_t *host_weights;
    int32_t most_phases, most_ports; /* of all plans */
    int64_t generation;              /* grows when a block moves */
    mt_block weights, scratch;
    mt_block *workspaces, *staging; /* by phase; by port */
    void **modules;                 /* by program; NULL: not loaded */
    mt_prepared *prepared;
};

/* A step of a call, between marks (NULL: not set). */
typedef struct mt_seen {
    const hone_mt_step *step;
    void *from, *to;
} mt_seen;

typedef struct mt_run {
    hone_mt_remote *remote;
    hone_mt_call *call;
    hone_mt_frame *frame;
    mt_prepared *prepared;
    hone_mt_memory *ports; /* of this call */
    int32_t port_count;
    mt_seen *seen; /* where somebody looks on; owned */
    int32_t seen_count, seen_capacity;
} mt_run;

/* ---- device_state.c ---- */

/* Makes the block at least `bytes` large, and never empty; what was in it is lost. */
int32_t mt_block_grow(hone_mt_remote *remote, mt_block *block, int64_t bytes);
/* The call's device, opened and locked, its context entered. */
int32_t mt_remote_begin(hone_mt_remotes *remotes, const hone_mt_model *model,
                        const uint8_t *weights, const hone_mt_call *call,
                        hone_mt_remote **out_remote);
void mt_remote_end(hone_mt_remote *remote);
/* Sets io_run->prepared, which is for the call's plan and values; the rest of it is given. */
int32_t mt_prepare(mt_run *io_run);
/* Releases what was prepared for a plan: its parts, and its graph of launches. */
void mt_prepared_clear(hone_mt_remote *remote, mt_prepared *prepared);

/* ---- device_seen.c ---- */

typedef int32_t (*mt_run_step)(mt_run *run, int32_t index);
/* Runs a step that somebody looks on at. */
int32_t mt_seen_run(mt_run *run, int32_t index, mt_run_step go);
/* At the end of a call, nothing of which runs any more: tells what its steps took, unless it failed
 * with that code. */
void mt_seen_tell(mt_run *run, int32_t code);

/* ---- device_ports.c ---- */

/* Gives each port its memory, with what it has to read. */
int32_t mt_ports_begin(mt_run *run);
/* Memory for outputs that were made for a phase. */
int32_t mt_ports_begin_phase(mt_run *run, int32_t phase);
/* Back to where callers' tensors are. */
int32_t mt_ports_end(mt_run *run);

#endif
