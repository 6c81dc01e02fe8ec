/* bench/ops/ops_onednn.h - what the oneDNN peers share: an engine, a primitive, its memories.
 *
 *   make (engine, stream) ─► the peer makes a primitive_desc ─► bind each argument ─► ready ─► run
 *
 * bind reorders an input into the layout that the primitive wants, outside the timing; an output in
 * another layout is brought back by fetch. Lifetime: from make to free. A peer ends the program
 * when oneDNN fails where it should not.
 */
#ifndef HONE_BENCH_OPS_OPS_ONEDNN_H
#define HONE_BENCH_OPS_OPS_ONEDNN_H

#include <dnnl.h>

#include "bench/ops/ops.h"

enum { OPS_ONEDNN_ARGS = 8 };

typedef struct ops_onednn {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_t primitive;
    int count;
    dnnl_exec_arg_t args[OPS_ONEDNN_ARGS];
    dnnl_primitive_t lay_out;             /* the weight, before each run; NULL = it lies well */
    dnnl_memory_t given, laid_out;        /* from where, to where (an argument) */
    dnnl_memory_t plain[OPS_ONEDNN_ARGS]; /* where fetch brings an output; NULL = is there */
} ops_onednn;

/* Ends the program with the name of the call. */
void ops_onednn_must(dnnl_status_t status, const char *what);
ops_onednn *ops_onednn_make(int threads);
dnnl_memory_desc_t ops_onednn_desc(int rank, const int64_t *dims, dnnl_data_type_t dtype,
                                   dnnl_format_tag_t tag);
/* The layout that the primitive chose for an argument ("dnnl_query_weights_md", …). */
const dnnl_memory_desc_t *ops_onednn_chosen(const_dnnl_primitive_desc_t desc, dnnl_query_t what);
void ops_onednn_bind_input(ops_onednn *self, int arg, const dnnl_memory_desc_t *plain,
                           const dnnl_memory_desc_t *wanted, void *data);
/* ops_onednn_bind_input inside the timing, for one input: a weight that is no constant. */
void ops_onednn_bind_each_time(ops_onednn *self, int arg, const dnnl_memory_desc_t *plain,
                               const dnnl_memory_desc_t *wanted, void *data);
void ops_onednn_bind_output(ops_onednn *self, int arg, const dnnl_memory_desc_t *plain,
                            const dnnl_memory_desc_t *wanted, void *data);
/* Makes the primitive; takes desc. */
void ops_onednn_ready(ops_onednn *self, dnnl_primitive_desc_t desc);

/* Members of an ops_peer whose context is an ops_onednn. */
void ops_onednn_run(void *peer);
void ops_onednn_fetch(void *peer);
void ops_onednn_close(void *peer);

#endif
