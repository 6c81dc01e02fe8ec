/* ir/interp/interp_team.h - threads that go through a nest together (interp_threads.c), and what
 * they pass to each other on the way (interp_lanes.c). For this folder only. */
#ifndef HONE_IR_INTERP_INTERP_TEAM_H
#define HONE_IR_INTERP_INTERP_TEAM_H

#include "ir/interp/interp_impl.h"

enum { WARP_LANES = 32 };

typedef struct xthread {
    xvalue *slots;
    xbuffer *buffers;
    struct xthread *outer; /* that it is one of, in the loop around */
    xvalue *sent;          /* what it passes to others, by exchange */
    uint32_t linear;       /* threadIdx.x + threadIdx.y * extent of x + ... */
    uint32_t copy;         /* among those of this number: which virtual thread */
    uint32_t idle;         /* conditions around that it does not meet */
    bool is_first;         /* at the beginning of all reduction axes of the block in hand */
    uint64_t others;       /* the conditions around whose other side it takes: a bit each */
    uint32_t task, phase;  /* the task it has in that phase */
    uint32_t inner_loop;   /* of the threads inside it, for the race check */
    xqueue *queues;        /* ASYNC_QUEUES */
} xthread;

/* A warp between two syncs: its threads are one task each below the warp's. */
typedef struct xwarp {
    uint32_t task, phase, loop;
} xwarp;

/* Who goes through a nest; some may be idle. */
struct xcrew {
    xthread *threads;
    uint32_t count;
    uint32_t linears, copies; /* count = linears * copies */
    xthread **by_lane;        /* [linear * copies + copy] */
    xwarp *warps;             /* [linear / WARP_LANES * copies + copy] */
};

/* What threads do between two syncs. */
typedef struct xphase {
    uint32_t loop, parent; /* as a loop of the race check */
    uint32_t depth;        /* of conditions */
} xphase;

/* The machine becomes that thread. */
void team_enter(machine *m, const xphase *phase, const xcrew *crew, xthread *t);

/* Ends the run: not all threads come to what they do together. */
HONE_NORETURN void fail_diverged(machine *m, const char *what);

/* The thread at that lane of the same warp, or NULL when it is not here. */
static inline xthread *lane_at(const xcrew *crew, const xthread *of, uint32_t lane) {
    uint32_t linear = of->linear / WARP_LANES * WARP_LANES + lane;
    if (lane >= WARP_LANES || linear >= crew->linears) return NULL;
    xthread *found = crew->by_lane[linear * crew->copies + of->copy];
    return found->idle ? NULL : found;
}

/* ---- interp_lanes.c ---- */
/* Every thread makes known what it passes to others in this statement. */
void lanes_send(machine *m, const xphase *phase, const xcrew *crew, const xstmt *s);
/* tvm_thread_allreduce. */
void lanes_reduce(machine *m, const xphase *phase, const xcrew *crew, const xstmt *s);

#endif
