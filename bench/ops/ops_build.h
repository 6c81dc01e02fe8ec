/* bench/ops/ops_build.h - a work's program, scheduled and compiled.
 *
 * Lifetime: from ops_build to ops_built_free; the loaded model stays until then.
 */
#ifndef HONE_BENCH_OPS_OPS_BUILD_H
#define HONE_BENCH_OPS_OPS_BUILD_H

#include "bench/ops/ops.h"
#include "graph/module/graph_options.h"
#include "runtime/model_load.h"

typedef struct ops_built {
    hone_loaded_model *model;
    const hone_model_entry *entry;
    const char *source; /* what schedule it has: "trace", "record", "default", "plain" */
} ops_built;

typedef enum ops_how {
    OPS_BEST, /* the trace of the set; else the best record of build/bench/ops.db; else default */
    OPS_DEFAULT,   /* the default schedule */
    OPS_REFERENCE, /* without a schedule, or with the default one where that would take long */
} ops_how;

/* path: of the library, without ending. weight: the value of a parameter; NULL = all are given at
 * run time. */
void ops_build(const ops_work *work, const char *set, int threads, ops_how how, const char *path,
               const hone_graph_weight *weight, ops_built *out);
void ops_built_free(ops_built *built);

#endif
