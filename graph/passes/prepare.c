/* graph/passes/prepare.c - the passes from a model as read to kernels and calls, in order. */
#include "graph/passes/prepare.h"

#include "graph/passes/pass.h"

static hone_status run_pipeline(const hone_module *module, const char *name,
                                const hone_graph_options *options, hone_module **out_module) {
    const char *const *names = hone_graph_pipeline(name);
    size_t count = 0;
    while (names[count])
        count++;
    return hone_graph_run_passes(module, names, count, options, out_module);
}

hone_status hone_graph_prepare(const hone_module *module, const hone_graph_options *options,
                               hone_module **out_module) {
    return run_pipeline(module, "prepare", options, out_module);
}

hone_status hone_graph_prepare_plain(const hone_module *module, const hone_graph_options *options,
                                     hone_module **out_module) {
    return run_pipeline(module, "interpret", options, out_module);
}
