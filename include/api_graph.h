/* include/api_graph.h - graph functions in the making, for the files that implement them; not
 * installed. */
#ifndef HONE_INCLUDE_API_GRAPH_H
#define HONE_INCLUDE_API_GRAPH_H

#include <hone/graph.h>

#include "graph/module/rewrite.h"

/* An argument with the function that it belongs to. */
struct hone_argument {
    const hone_module *module;
    const hone_graph_func *func;
    hone_arena *arena; /* for what is asked of it */
    hone_garg garg;
};

struct hone_binding {
    const hone_gbind *bind;     /* as it was written */
    const hone_argument *value; /* what it defines */
    const hone_argument **args; /* bind->arg_count */
};

struct hone_graph {
    hone_rewrite *rw; /* the function in the making; of a mutator, changed by hone_graph_rewrite */
    bool is_in_dataflow; /* where bindings go */
    uint32_t dataflow_block;
    /* of hone_graph_create alone */
    hone_rewrite own;
    hone_module *module; /* owned until it is finished */
    hone_arena *late;    /* for what is made after the end, and goes nowhere */
};

/* An argument in memory of the arena; NULL when that is short. */
const hone_argument *hone_api_argument(hone_arena *arena, const hone_module *module,
                                       const hone_graph_func *func, const hone_garg *garg);
/* What a binding defines and takes, of that function. NO_MEMORY. */
HONE_NODISCARD hone_status hone_api_binding(hone_arena *arena, const hone_module *module,
                                            const hone_graph_func *func, const hone_gbind *bind,
                                            const hone_garg *args, hone_binding *out_binding);

#endif
