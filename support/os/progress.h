/* support/os/progress.h - how far a long operation is, through a callback.
 *
 * The library reports a hone_progress_state to a sink (NULL for none). Programs use the renderer:
 * a live line on a terminal, a plain line every few seconds elsewhere. Thread-compatible.
 */
#ifndef HONE_SUPPORT_OS_PROGRESS_H
#define HONE_SUPPORT_OS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "support/core/strbuf.h"
#include "support/os/clock.h"

typedef struct hone_progress_state {
    const char *label;   /* "tune", "matmul_128"; may be NULL */
    int64_t done, total; /* total 0: unknown */
    double rate;         /* per second; 0: unknown */
    int64_t eta_ns;      /* time left; negative: unknown */
    const char *name;    /* of what `best` is the best; may be NULL */
    const char *best;    /* "1.23 ms, 456 GFLOPS"; may be NULL */
    const char *detail;  /* what is going on just now; may be NULL */
} hone_progress_state;

typedef struct hone_progress {
    void (*update)(void *context, const hone_progress_state *state);
    void (*finish)(void *context); /* the operation is over: leave a clean line */
    void *context;
} hone_progress;

static inline void hone_progress_update(const hone_progress *sink,
                                        const hone_progress_state *state) {
    if (sink && sink->update) sink->update(sink->context, state);
}

static inline void hone_progress_finish(const hone_progress *sink) {
    if (sink && sink->finish) sink->finish(sink->context);
}

/* Rate and time left from the numbers done so far: the rate of all the time, which is what a
 * summary says at the end; what is left by the recent past (half-life 10 s). */
typedef struct hone_progress_meter {
    int64_t start_ns, last_ns, last_done;
    double rate; /* of the recent past */
} hone_progress_meter;

void hone_progress_meter_init(hone_progress_meter *meter, int64_t now_ns);
/* Fills rate and eta_ns of the state from its done and total. */
void hone_progress_meter_feed(hone_progress_meter *meter, int64_t now_ns,
                              hone_progress_state *state);

/* "tune  120/1000 (12%)  3.4/s  best mm: 1.23 ms  4m 19s left  building". For a line of so many
 * columns (0: any number) the name is shortened, numbers are not. */
void hone_progress_print(const hone_progress_state *state, size_t columns, hone_str *out);

/* Writes progress to a stream. Clear it before other output to the same terminal. */
typedef struct hone_progress_renderer {
    FILE *out;
    const hone_clock *clock;
    bool is_terminal;    /* redraws one line; else plain lines */
    int64_t interval_ns; /* the least time between two writes */
    int64_t last_ns;
    bool is_drawn, has_pending;
    int columns;   /* of the terminal; 0: asked of `out` each time */
    hone_str line; /* the last state, as text */
} hone_progress_renderer;

/* Terminal or not is asked of `out`; intervals are 0.1 s and 5 s. */
void hone_progress_renderer_init(hone_progress_renderer *renderer, FILE *out,
                                 const hone_clock *clock);
hone_progress hone_progress_renderer_sink(hone_progress_renderer *renderer);
void hone_progress_renderer_clear(hone_progress_renderer *renderer);
void hone_progress_renderer_deinit(hone_progress_renderer *renderer);

#endif
