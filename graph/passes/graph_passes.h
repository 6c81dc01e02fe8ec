/* graph/passes/graph_passes.h - the passes themselves, one file each; pass.c names them. Each
 * states what it needs and keeps at the head of its file. */
#ifndef HONE_GRAPH_PASSES_GRAPH_PASSES_H
#define HONE_GRAPH_PASSES_GRAPH_PASSES_H

#include "graph/module/graph_options.h"

/* At multiples of which tensors of devices with memory of their own begin. */
enum { HONE_PASS_VIEW_BYTES = 512 };

hone_status hone_pass_choose(hone_module *module, const hone_graph_options *options);
hone_status hone_pass_link_memory(hone_module *module, const hone_graph_options *options);
hone_status hone_pass_link_calls(hone_module *module, const hone_graph_options *options);
hone_status hone_pass_begin_results(hone_module *module, const hone_graph_options *options);
hone_status hone_pass_open_sizes(hone_module *module, const hone_graph_options *options);
hone_status hone_pass_name_casts(hone_module *module, const hone_graph_options *options);
hone_status hone_pass_bind(hone_module *module, const hone_graph_options *options);
hone_status hone_pass_compose(hone_module *module, const hone_graph_options *options);
hone_status hone_pass_infer(hone_module *module, const hone_graph_options *options);
hone_status hone_pass_normalize(hone_module *module, const hone_graph_options *options);
hone_status hone_pass_fold_batch_norm(hone_module *module, const hone_graph_options *options);
hone_status hone_pass_decompose(hone_module *module, const hone_graph_options *options);
hone_status hone_pass_channels_last(hone_module *module, const hone_graph_options *options);
hone_status hone_pass_fold_transpose(hone_module *module, const hone_graph_options *options);
hone_status hone_pass_fold_constants(hone_module *module, const hone_graph_options *options);
hone_status hone_pass_cut_scans(hone_module *module, const hone_graph_options *options);
hone_status hone_pass_fuse_attention(hone_module *module, const hone_graph_options *options);
hone_status hone_pass_stack_products(hone_module *module, const hone_graph_options *options);
hone_status hone_pass_share_repeated(hone_module *module, const hone_graph_options *options);
hone_status hone_pass_legalize(hone_module *module, const hone_graph_options *options);
hone_status hone_pass_legalize_all(hone_module *module, const hone_graph_options *options);
hone_status hone_pass_note_patterns(hone_module *module, const hone_graph_options *options);
hone_status hone_pass_fuse(hone_module *module, const hone_graph_options *options);
hone_status hone_pass_specialize(hone_module *module, const hone_graph_options *options);
hone_status hone_pass_prune(hone_module *module, const hone_graph_options *options);

/* What stands now for each old value, everywhere in a function; the caller renumbers its values. A
 * value that a binding defines is a value again. */
HONE_NODISCARD hone_status hone_graph_put_args(hone_graph_func *graph, const hone_garg *map);
/* Expressions for symbolic sizes of one function, by variable (NULL: stays), everywhere in it. */
HONE_NODISCARD hone_status hone_graph_put_sizes(hone_graph_func *graph,
                                                const hone_expr *const *values);

#endif
