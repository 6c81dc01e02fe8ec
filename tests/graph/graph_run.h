/* tests/graph/graph_run.h - runs graph modules in tests, in two ways that must agree: as operators
 * one by one (hone_graph_prepare_plain and the graph interpreter), and as the plan of the prepared
 * module with each kernel interpreted (what a compiled model does). */
#ifndef HONE_TESTS_GRAPH_GRAPH_RUN_H
#define HONE_TESTS_GRAPH_GRAPH_RUN_H

#include "graph/passes/prepare.h"

typedef struct run_results {
    hone_tensor **items; /* owned */
    size_t count;
} run_results;

hone_status run_plain(const hone_module *module, const hone_graph_options *options,
                      hone_tensor *const *inputs, size_t input_count, int64_t max_steps,
                      run_results *out_results);
hone_status run_planned(const hone_module *module, const hone_graph_options *options,
                        hone_tensor *const *inputs, size_t input_count, int64_t max_steps,
                        run_results *out_results);
void run_results_deinit(run_results *results);

/* Tensors for the parameters of "main", whose shapes are known: numbers from -most to most. How
 * many; owned by the caller. */
uint32_t run_random_inputs(const hone_module *module, uint64_t seed, double most,
                           hone_tensor **out);

#endif
