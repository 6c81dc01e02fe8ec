/* ir/text/script_weights.h - weights beside the text: constants too large for it stand in a
 * .safetensors file, under the names "constant.0", "constant.1", ..., the numbers of
 * metadata["relax.expr.Constant"][i]. */
#ifndef HONE_IR_TEXT_SCRIPT_WEIGHTS_H
#define HONE_IR_TEXT_SCRIPT_WEIGHTS_H

#include "ir/core/module.h"
#include "tensorfile/tensorfile.h"

/* The tensor is too large for the text. */
bool script_is_weight(const hone_tensor *tensor);
/* "dir/prog.py" → "dir/prog.safetensors"; NULL when memory is short. The caller frees it. */
char *script_weights_path(const char *path);
/* The tensors of a set by their numbers; missing ones are NULL. The caller frees the list; the
 * tensors belong to the set. */
HONE_NODISCARD hone_status script_weights_sort(const hone_tensor_set *set,
                                               hone_tensor ***out_weights, uint32_t *out_count);
/* Writes the weights of a module for the text `path`; no file where it has none. */
HONE_NODISCARD hone_status script_weights_save(const hone_module *module, const char *path);

#endif
