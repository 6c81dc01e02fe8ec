/* bench/bench_util.h - what every bench shares: interleaved pairs, a table, and a file of rows.
 *
 * A bench measures, adds rows, and ends with bench_finish, which prints the table to stdout and,
 * with `--json FILE`, writes the list of rows
 *     {"work", "metric", "unit", "hone", "peer_name", "peer", "ratio", "low", "high", "spread"}
 * where ratio > 1 means that Hone is better, whatever the metric; a figure without a peer has null
 * there. Pairs are interleaved in one run (A B, B A, …), the ratio is the median of the ratios of
 * the pairs, low and high bound its 95 % interval (order statistics), and the spread is the
 * interquartile range over that median.
 *
 * Benches are programs: a failure is printed and ends them (exit 1). Not thread-safe.
 */
#ifndef HONE_BENCH_BENCH_UTIL_H
#define HONE_BENCH_BENCH_UTIL_H

#include <stdbool.h>
#include <stdint.h>

#include "support/core/status.h"
#include "support/text/json.h"

typedef struct bench {
    const char *name;
    const char *json_path; /* NULL: the table only */
    bool is_quick;         /* --quick: short, for checking that the bench works */
    double seconds;        /* --seconds: per row; 0 = the bench's own choice */
    int threads;           /* --threads; 0 = the bench's own choice */
    const char *only;      /* --only: rows with this in their name; NULL = all */
    const char *set;       /* --set: of schedules; NULL = the bench's own choice */
    const char *peer;      /* --peer: the only one to compare with; NULL = all */
    hone_json *rows;
} bench;

/* One figure. Texts are copied. `peer_name` NULL: no peer, peer and ratio are ignored. */
typedef struct bench_row {
    const char *work, *metric, *unit;
    double hone;
    const char *peer_name;
    double peer, ratio;
    double spread;    /* relative; NAN = unknown */
    double low, high; /* of the ratio; both 0 = unknown */
} bench_row;

typedef void (*bench_fn)(void *ctx);

typedef struct bench_work {
    bench_fn run; /* does the work once */
    void *ctx;
    /* Runs it so often and says how many nanoseconds each took, by a clock of its own (a peer in
     * another process). NULL = run is called and timed. */
    double (*time)(void *ctx, int repeats);
} bench_work;

typedef struct bench_pair {
    double hone_ns, peer_ns; /* medians of one run each */
    double ratio;            /* peer / hone, median over the pairs */
    double spread;
    double low, high; /* 95 % interval of the ratio */
} bench_pair;

/* Reads --json FILE, --quick, --seconds S, --threads N, --only TEXT, --set NAME, --peer NAME,
 * --help; bad usage ends the program (2). */
void bench_begin(bench *b, const char *name, int argc, char **argv);
/* Whether --only lets a row of this name through. */
bool bench_wants(const bench *b, const char *name);
void bench_add(bench *b, const bench_row *row);
/* A row of a time: ratio = peer / hone. */
void bench_add_pair(bench *b, const char *work, const char *unit, double ns_per_unit,
                    const char *peer_name, const bench_pair *pair);
/* Says on stderr why a row is missing. */
void bench_skip(const bench *b, const char *work, const char *reason);
/* Prints and writes; returns the exit code of the program. */
int bench_finish(bench *b);

/* Ends the program with the message when st is a failure. */
void bench_must(hone_status st);

int64_t bench_now_ns(void);
/* Times both in turns for `seconds` altogether, at least 7 pairs; each sample runs the work often
 * enough to last about 2 ms (once, when it takes longer). */
bench_pair bench_run_pair(bench_work hone, bench_work peer, double seconds);
/* bench_run_pair for works of one thread, this one: by its CPU time, so that what else the machine
 * does meanwhile hardly counts. A work with a clock of its own takes that of its thread. */
bench_pair bench_run_thread_pair(bench_work hone, bench_work peer, double seconds);
/* bench_run_pair for works with threads that go on spinning when a run has ended: each sample comes
 * after a pause and an untimed run. */
bench_pair bench_run_settled_pair(bench_work hone, bench_work peer, double seconds);
/* bench_run_pair for one work: its median, and the relative interquartile range. */
double bench_run_one(bench_work work, double seconds, double *out_spread);

/* Of values, which get sorted; quantile 0.5 = median. */
double bench_quantile(double *values, int count, double quantile);

#endif
