/* graph/passes/pass.h - graph passes by name, for pipelines and for `hone pass`.
 *
 * A pass changes a module that is its alone (not frozen). hone_graph_run_passes copies the module,
 * runs passes on the copy and freezes it; the original stays as it is.
 * Every pass is deterministic: the same module gives the same result, names included.
 */
#ifndef HONE_GRAPH_PASSES_PASS_H
#define HONE_GRAPH_PASSES_PASS_H

#include "graph/module/graph_options.h"

typedef hone_status (*hone_graph_pass_fn)(hone_module *module, const hone_graph_options *options);

typedef struct hone_graph_pass {
    const char *name; /* "fold_batch_norm" */
    const char *help; /* one sentence */
    hone_graph_pass_fn run;
    const char *tvm_names; /* "FuseOps FuseTIR": those of TVM that it stands for; or NULL */
} hone_graph_pass;

size_t hone_graph_pass_count(void);
const hone_graph_pass *hone_graph_pass_at(size_t index);
/* By its name, or one of TVM's ("relax.transform.FuseOps" too); NULL when there is none. */
const hone_graph_pass *hone_graph_pass_find(const char *name);

/* Runs passes by name, in order. NOT_FOUND with the list of names; a failing pass is named in the
 * message. options NULL = defaults. */
HONE_NODISCARD hone_status hone_graph_run_passes(const hone_module *module,
                                                 const char *const *names, size_t count,
                                                 const hone_graph_options *options,
                                                 hone_module **out_module);
/* A pipeline by name: "prepare", "interpret", "zero" (TVM's: legalized, folded, fused). NULL when
 * unknown; ends with NULL. */
const char *const *hone_graph_pipeline(const char *name);

/* A copy that may be changed; the numbers of constants are those of the module. */
HONE_NODISCARD hone_status hone_module_copy(const hone_module *module, hone_module **out_module);

#endif
