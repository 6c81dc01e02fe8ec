/* bench/ops/ops.h - what the families of works, their peers and the timing share.
 *
 *   family (ops_matmul.c, …): a table of works ──► ops_case.c: builds with the trace of
 *   bench/schedules/SET/NAME.py, checks against a reference, times in pairs with each peer
 *
 * A work with a weight makes two rows: the weight a constant (everybody lays it out as he likes,
 * before the clock starts), and the weight given at run time.
 *
 * Add a work: a program in bench/programs/, traces in bench/schedules/, a row in its family's
 * table. Add a family: ops_NAME.c with an ops_family, a line in ops_main.c. Add a peer: an
 * ops_peer.
 */
#ifndef HONE_BENCH_OPS_OPS_H
#define HONE_BENCH_OPS_OPS_H

#include "bench/bench_util.h"
#include "support/data/tensor.h"

enum { OPS_MAX_PORTS = 8, OPS_MAX_DIMS = 12, OPS_MAX_PEERS = 4 };

typedef struct ops_peer ops_peer;

typedef struct ops_work {
    const char *name; /* of the row and of its trace */
    /* bench/programs/PROGRAM.py; NULL = name. With a '/' a path, PATH.trace.py and
     * PATH.runtime.trace.py are its traces then, PATH.runtime.py the program of the latter, PATH.db
     * its records.
     */
    const char *program;
    const char *kind;           /* what peers are to compute, in the words of the family */
    int64_t dims[OPS_MAX_DIMS]; /* the sizes that peers need, in the order of the family */
    int weight;       /* the input that may be a constant, from 1; 0 = none; -n: always is one */
    double flops;     /* of one run; 0 = not counted */
    double tolerance; /* of the largest |reference|; 0 = 1e-4 */
    const ops_peer *peers[OPS_MAX_PEERS];
} ops_work;

/* What was found for a work by searching, to be timed beside the work's own schedule. */
typedef struct ops_tuned {
    /* What was tuned, a path without ending: PROGRAM.py with parameters of the work's names, its
     * records PROGRAM.db. */
    const char *program;
    const char *tvm; /* a library that peer_tvm.py made, or NULL */
} ops_tuned;

typedef struct ops_run {
    const char *dir;        /* for files */
    const ops_tuned *tuned; /* NULL = the work under its own schedule, beside libraries */
} ops_run;

/* The tensors of a work, in the order of its program's parameters. `outputs` are the caller's own:
 * a peer gets others than Hone. */
typedef struct ops_data {
    int input_count, output_count;
    hone_tensor *inputs[OPS_MAX_PORTS], *outputs[OPS_MAX_PORTS];
    char input_names[OPS_MAX_PORTS][32], output_names[OPS_MAX_PORTS][32];
} ops_data;

/* What a peer needs to know to get ready. */
typedef struct ops_setup {
    const ops_work *work;
    const ops_data *data;
    int threads;
    bool is_constant; /* the weight may be laid out beforehand */
    const ops_run *run;
} ops_setup;

struct ops_peer {
    const char *name;
    /* Gets ready for runs that write data->outputs; NULL with the reason when it cannot. */
    void *(*open)(const ops_setup *setup, const char **out_reason);
    void (*run)(void *peer);
    double (*time)(void *peer, int repeats); /* bench_work.time; NULL = run is timed */
    /* Brings outputs to where data->outputs says, when a run leaves them elsewhere; may be NULL. */
    void (*fetch)(void *peer);
    void (*close)(void *peer);
};

typedef struct ops_family {
    const char *name;
    const ops_work *works;
    size_t count;
} ops_family;

extern const ops_family ops_matmul;
extern const ops_family ops_conv;
extern const ops_family ops_rows;

extern const ops_peer ops_blas_matmul;
extern const ops_peer ops_onednn_matmul;
extern const ops_peer ops_onednn_conv;     /* direct */
extern const ops_peer ops_onednn_winograd; /* only where there is AVX-512 */
extern const ops_peer ops_onednn_rows;     /* rows, elements, bytes */
/* Any work whose kind peer_onnxruntime.py has a builder for. */
extern const ops_peer ops_onnxruntime;
extern const ops_peer ops_tvm; /* what run->tuned->tvm names */

/* Builds, checks and times one work with so many threads; what was tuned, with the weight given at
 * run time, beside the libraries, its default schedule ("default") and the work's own trace
 * ("hand").
 */
void ops_run_work(bench *b, const ops_work *work, int threads, const ops_run *run);
/* The set of schedules that fits this machine: "avx512", "avx2", "generic". */
const char *ops_native_set(void);

#endif
