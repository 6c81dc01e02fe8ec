/* graph/passes/compose_all.c - writes operators that consist of others as those (graph/compose/).
 * needs: infer
 * keeps: everything else; types that were not known follow from what there is now
 */
#include "graph/compose/compose.h"
#include "graph/passes/graph_passes.h"

hone_status hone_pass_compose(hone_module *module, const hone_graph_options *options) {
    (void)options;
    return hone_rewrite_module(module, hone_compose_bind, NULL);
}
