/* compile/named_passes.h - passes by name: those over graphs (graph/passes/pass.h) and those that
 * lower tensor programs (lower/ground/lower.h), one after another.
 *
 * A graph pass works on the whole module, a lowering pass on each of its PrimFuncs. Names are ours
 * ("fuse") or TVM's for the same ("FuseOps", "relax.transform.FuseOps").
 * Threads: safe.
 */
#ifndef HONE_COMPILE_NAMED_PASSES_H
#define HONE_COMPILE_NAMED_PASSES_H

#include "graph/module/graph_options.h"
#include "target/target.h"

typedef struct hone_named_pass {
    const char *name;
    const char *tvm_names; /* with spaces between; or NULL */
    const char *help;      /* one line */
    bool is_lowering;
} hone_named_pass;

/* First those over graphs, then those that lower, in order; false behind the last. */
bool hone_named_pass_at(size_t index, hone_named_pass *out);

/* "prepare", "interpret", "zero" and "lower": the names of its passes, a NULL behind them; NULL for
 * others. */
const char *const *hone_named_pipeline(const char *name);
#define HONE_NAMED_PIPELINES "prepare, interpret, zero, lower"

/* NOT_FOUND when there is no such pass, with the one that was probably meant, or what takes its
 * place here. */
HONE_NODISCARD hone_status hone_named_pass_check(const char *name);

/* What does the work of a pass of TVM that is none here ("'hone compile' does it …"), or NULL. */
const char *hone_named_pass_elsewhere(const char *name);

/* Those that run, in order: of a list as tutorials have it those are left out whose work is done
 * elsewhere. `kept` has room for count. Errors: as hone_named_pass_check, also where all of them
 * are left out. */
HONE_NODISCARD hone_status hone_named_passes_choose(const char *const *names, size_t count,
                                                    const char **kept, size_t *out_count);

/* Whether it is the pass that takes sizes and parameters (options->graph). */
bool hone_named_pass_binds(const char *name);

/* Whether what it makes depends on the target: those that lower, and some over graphs. */
bool hone_named_pass_takes_target(const char *name);

typedef struct hone_named_passes_options {
    hone_graph_options graph;
    const hone_target *target; /* what it is for; NULL = this machine, as its CPU */
} hone_named_passes_options;

/* The module after the passes that hone_named_passes_choose keeps, frozen; names are checked before
 * anything runs. A pass that fails is named. options NULL = {0}. */
HONE_NODISCARD hone_status hone_named_passes_run(const hone_module *module,
                                                 const char *const *names, size_t count,
                                                 const hone_named_passes_options *options,
                                                 hone_module **out_module);

#endif
