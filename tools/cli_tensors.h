/* tools/cli_tensors.h - tensors that users name: inputs from files, or made up. */
#ifndef HONE_TOOLS_CLI_TENSORS_H
#define HONE_TOOLS_CLI_TENSORS_H

#include "runtime/model_load.h"
#include "support/tensor.h"
#include "tensorfile/tensorfile.h"
#include "tools/cli.h"

/* What a function takes. */
typedef struct hone_cli_want {
    const char *name;
    hone_dtype dtype;
    int32_t rank;
    int64_t shape[HONE_MAX_RANK]; /* -1 = any */
    const char *dim_names[HONE_MAX_RANK];
    bool is_size; /* a number that is the size of a dimension as well */
} hone_cli_want;

/* Reads .npy, .npz, .safetensors and .pb files into a set; "NAME=FILE" names the tensor of a file
 * that holds one. Tensors of .npy and .pb files without a name get their number: "0", "1", … */
HONE_NODISCARD hone_status hone_cli_load_tensors(const hone_cli_list *files,
                                                 hone_tensor_set *out_set);

/* Finds the tensor for each want: by name when all have one of that name, else in order. Without
 * any file they are made up (from a fixed seed), with sizes from `shapes` ("N=4", else 1). The
 * tensors belong to the set. INVALID says which are missing or too many. */
HONE_NODISCARD hone_status hone_cli_match_tensors(hone_cli *cli, const hone_cli_want *wants,
                                                  size_t count, const hone_cli_list *shapes,
                                                  hone_tensor_set *set, hone_tensor ***out_tensors);

/* The ports of a compiled model. */
HONE_NODISCARD hone_status hone_cli_wants_of_entry(hone_cli *cli, const hone_model_entry *entry,
                                                   const hone_cli_want **out_wants);

#endif
