/* tools/cli/cli_tensors.h - tensors that users name: inputs from files, or made up. */
#ifndef HONE_TOOLS_CLI_CLI_TENSORS_H
#define HONE_TOOLS_CLI_CLI_TENSORS_H

#include "graph/module/graph_options.h"
#include "runtime/model_load.h"
#include "support/data/tensor.h"
#include "tensorfile/tensorfile.h"
#include "tools/cli/cli.h"

/* What a function takes. */
typedef struct hone_cli_want {
    const char *name;
    hone_dtype dtype;
    int32_t rank;
    int64_t shape[HONE_MAX_RANK];          /* -1 = any */
    const char *dim_names[HONE_MAX_RANK];  /* cli_dims.h; or NULL */
    bool is_size;                          /* a number that is the size of a dimension as well */
    const struct hone_input_values *suits; /* what to make up; NULL = any small numbers */
} hone_cli_want;

/* Tensors that somebody gave, or that came out. Several may have one name. */
typedef struct hone_cli_tensor {
    char *name;          /* owned; NULL = it was given none */
    hone_tensor *tensor; /* owned */
    bool is_casual;      /* the name counts where something is called so: that within a .pb, and
                            numpy's for a place in an .npz (arr_0, arr_1, …) */
    bool is_made_up;     /* but sizes, which are what they are */
} hone_cli_tensor;

typedef struct hone_cli_tensors {
    hone_cli_tensor *data;
    size_t count, capacity;
} hone_cli_tensors;

void hone_cli_tensors_deinit(hone_cli_tensors *tensors); /* leaves {0} */
/* Takes the tensor, also when it fails; copies the name (NULL: none). */
HONE_NODISCARD hone_status hone_cli_tensors_add(hone_cli_tensors *tensors, const char *name,
                                                hone_tensor *tensor);

/* Reads .npy, .npz, .safetensors and .pb files; "NAME=FILE" names the tensor of a file that holds
 * one, those of .npz, .safetensors and .pb files have names. Deinit also after failure. */
HONE_NODISCARD hone_status hone_cli_load_tensors(const hone_cli_list *files,
                                                 hone_cli_tensors *out_tensors);

/* The file of --params (NULL: none) as values of parameters by name, which point into the set. */
HONE_NODISCARD hone_status hone_cli_load_params(hone_cli *cli, const char *path,
                                                hone_tensor_set *out_set,
                                                const hone_graph_weight **out_weights);
#define HONE_CLI_PARAMS_OPTION(place)                                                              \
    HONE_CLI_OPTION(                                                                               \
        "params", 0, "FILE", TEXT, (place),                                                        \
        "values of parameters, and in place of initializers of an ONNX file, by name: .npz, "      \
        ".safetensors or a folder of NAME.npy")

/* Finds the given tensor for each want: one with a name is for the want of that name, those without
 * take the wants that are left, in order. INVALID, with the list of wants: a name that no want or
 * more than one has, a name given twice, too few or too many. `option` ("--in") and `what`
 * ("input") are words for that. out_index has room for `count`. */
HONE_NODISCARD hone_status hone_cli_assign_tensors(const hone_cli_want *wants, size_t count,
                                                   const hone_cli_tensors *given,
                                                   const char *option, const char *what,
                                                   size_t *out_index);

/* INVALID: no want is called that; with what was meant, and the list. */
HONE_NODISCARD hone_status hone_cli_unknown_input(const hone_cli_want *wants, size_t count,
                                                  const char *name);
/* An int4 or int2 is a byte in a file: int8 that fits it, uint8 for uint4. Others are left alone.
 */
HONE_NODISCARD hone_status hone_cli_take_as_few_bits(const hone_cli_want *want,
                                                     hone_tensor *tensor);

/* INVALID when one of `shapes` ("N=4") gives several sizes, or a name that neither a dimension of
 * the wants nor one of more[] (names of sizes elsewhere) has. */
HONE_NODISCARD hone_status hone_cli_check_sizes(const hone_cli_want *wants, size_t count,
                                                const char *const *more, size_t more_count,
                                                const hone_cli_list *shapes);

/* The tensor for each input. Without any file they are made up (from a fixed seed), with sizes
 * from `shapes` ("N=4", else 1); those of files must have these sizes. The tensors belong to
 * `given`. */
HONE_NODISCARD hone_status hone_cli_match_tensors(hone_cli *cli, const hone_cli_want *wants,
                                                  size_t count, const hone_cli_list *shapes,
                                                  hone_cli_tensors *given,
                                                  hone_tensor ***out_tensors);

/* One of the shapes ("N=4") is of this size. */
bool hone_cli_is_told(const hone_cli_list *shapes, const char *size);
/* INVALID: a dimension is 0 that is a size of any number, which a program must be told before (by
 * `shapes`; NULL: none). */
HONE_NODISCARD hone_status hone_cli_check_not_empty(const hone_cli_want *wants, size_t count,
                                                    hone_tensor *const *tensors,
                                                    const hone_cli_list *shapes);

/* Makes them up, into `set`. INVALID: there is no such size. */
HONE_NODISCARD hone_status hone_cli_make_up(hone_cli *cli, const hone_cli_want *wants, size_t count,
                                            const hone_cli_list *shapes, hone_cli_tensors *set);
/* Runs a program with the inputs that are in `inputs`: when made-up ones do not suit it (an index
 * out of range, a division by 0) with others, as long as there are and they are not final; the
 * failure then says that they were made up. Those of a program that is known are final: a device
 * that does not tell of such failures must get the same. */
HONE_NODISCARD hone_status hone_cli_run_made_up(const hone_cli_tensors *inputs, bool are_final,
                                                hone_status (*run)(void *ctx), void *ctx);

/* Makes the outputs of a compiled model. Sizes that do not follow from the inputs are those of
 * `shapes`; of made-up inputs the others are 1. Free by hone_model_free_outputs. */
HONE_NODISCARD hone_status hone_cli_make_outputs(const hone_loaded_model *model,
                                                 const hone_model_entry *entry,
                                                 hone_tensor *const *inputs,
                                                 const hone_cli_list *shapes, bool are_made_up,
                                                 hone_tensor ***out_outputs);

/* INVALID as of hone_cli_check_sizes, for the ports of a compiled model. */
HONE_NODISCARD hone_status hone_cli_check_entry_sizes(hone_cli *cli, const hone_model_entry *entry,
                                                      const hone_cli_want *wants,
                                                      const hone_cli_list *shapes);

/* The ports of a compiled model. */
HONE_NODISCARD hone_status hone_cli_wants_of_entry(hone_cli *cli, const hone_model_entry *entry,
                                                   hone_cli_want **out_wants);

#endif
