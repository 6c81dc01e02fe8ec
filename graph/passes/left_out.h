/* graph/passes/left_out.h - which functions of a module cannot be run because an operator is
 * missing, so that all others can. */
#ifndef HONE_GRAPH_PASSES_LEFT_OUT_H
#define HONE_GRAPH_PASSES_LEFT_OUT_H

#include "graph/module/graph_options.h"

/* Finds the graph functions that need an operator which is not implemented, in themselves or in
 * what they call, and those that only such ones call. What it finds is in the arena. UNSUPPORTED,
 * with all operators, where no graph function is left. */
HONE_NODISCARD hone_status hone_graph_find_left_out(const hone_module *module, hone_arena *arena,
                                                    hone_left_out *out);

bool hone_graph_is_left_out(const hone_left_out *list_or_null, const char *name);

#endif
