/* graph/module/graph_options.h - what callers can ask of the graph passes, and sizes given by
 * users. */
#ifndef HONE_GRAPH_MODULE_GRAPH_OPTIONS_H
#define HONE_GRAPH_MODULE_GRAPH_OPTIONS_H

#include "ir/core/module.h"

/* A symbolic size with the number it stands for: "N" = 64. For the reader of models also how many
 * tensors an input has that is a sequence (x = 3) or an optional (0 = absent), and how many
 * dimensions, where the file does not say ("x.rank" = 2). */
typedef struct hone_graph_dim {
    const char *name;
    int64_t size; /* >= 0 */
} hone_graph_dim;

/* A parameter of the graph function with its value (weights from a file). */
typedef struct hone_graph_weight {
    const char *name;
    const hone_tensor *tensor; /* copied */
} hone_graph_weight;

/* Graph functions that operators which are missing keep from running (graph/passes/left_out.h). */
typedef struct hone_left_out {
    const char *const *names;
    size_t count;
    const char *said; /* "9:17: in 'f': operator ... is not implemented; left out: 'f', 'g'"; NULL:
                         there are none */
} hone_left_out;

/* All zero = defaults. */
typedef struct hone_graph_options {
    const hone_graph_dim *dims; /* symbolic sizes to bind; others stay symbolic */
    size_t dim_count;
    const hone_graph_weight *weights; /* parameters to bind by name */
    size_t weight_count;
    const char *only;              /* the function that is wanted, with what it calls; NULL = all */
    const hone_left_out *left_out; /* of all; or NULL */
    int64_t matrix_shared_bytes;   /* shared memory of a block, on devices whose warps multiply
                                    * matrices in registers (mma) and copy while they do; else 0 */
    /* Whether a program surely writes its parameter as a whole and reads nothing of it before
     * (hone_writes_whole); results that it does not begin as zeros. NULL: nobody asks. */
    hone_status (*writes_whole)(const hone_func *func, uint32_t param, bool *out_does);
    bool has_group_units;     /* of them, four warps together multiply what is shared (wgmma) */
    bool is_for_many_threads; /* of GPUs: more work at once rather than less of it in order */
    bool keeps_inputs; /* of models: those with a weight stay parameters, which are bound later */
    bool keeps_sizes;  /* of models: sizes stay symbolic and are bound later; of dims the reader
                        * takes what only it can use (lengths of sequences, ranks) */
} hone_graph_options;

/* One choice of sizes: what to compile or tune for. */
typedef struct hone_dim_variant {
    const hone_graph_dim *dims;
    size_t dim_count;
} hone_dim_variant;

/* What several --shape options mean together: "N=1,64" and "M=8" are the two variants {N=1, M=8}
 * and {N=64, M=8}, in the order written. No options give one variant without sizes. */
typedef struct hone_dim_variants {
    hone_arena *arena; /* owns all below */
    hone_dim_variant *items;
    size_t count;
} hone_dim_variants;

/* INVALID with the offending text: no '=', a size that is not a number from 0 to 2^31 - 1, a name
 * twice, more than 64 variants. Deinit also after failure. */
HONE_NODISCARD hone_status hone_dim_variants_parse(const char *const *specs, size_t count,
                                                   hone_dim_variants *out_variants);
void hone_dim_variants_deinit(hone_dim_variants *variants);

/* Whether the reader of a model has bound this name (a size, a length) to a number. */
bool hone_dim_is_bound(const hone_module *module, const char *name, int64_t *out_size);

/* Takes out of the variants what the reader has bound. INVALID when a variant has another number:
 * a sequence has one length. */
HONE_NODISCARD hone_status hone_dim_variants_drop_bound(hone_dim_variants *variants,
                                                        const hone_module *module);

/* INVALID: "there is no size 'N'; did you mean 'n'? there are 'n', 'm'". names[] may hold one
 * twice, and be empty where all sizes are numbers. */
HONE_NODISCARD hone_status hone_dim_unknown(const char *name, const char *const *names,
                                            size_t count);
/* hone_dim_unknown, of the sizes that functions of a module have. */
HONE_NODISCARD hone_status hone_dim_unknown_in(const char *name, const hone_module *module);

#endif
