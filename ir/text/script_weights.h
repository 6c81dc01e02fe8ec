/* ir/text/script_weights.h - weights that are too large for the text stand in a .safetensors file
 * beside it, under the names "constant.0", "constant.1", ...: the numbers of
 * metadata["relax.expr.Constant"][i].
 */
#ifndef HONE_IR_TEXT_SCRIPT_WEIGHTS_H
#define HONE_IR_TEXT_SCRIPT_WEIGHTS_H

#include "ir/core/module.h"
#include "tensorfile/tensorfile.h"

/* Too large for the text: kept beside it. */
bool script_is_weight(const hone_tensor *tensor);
/* "dir/prog.py" → "dir/prog.safetensors"; NULL when memory is short. The caller frees it. */
char *script_weights_path(const char *path);
/* The tensors of a set in the order of their numbers; those that are missing stay NULL. The caller
 * frees the list, the tensors stay the set's. */
HONE_NODISCARD hone_status script_weights_sort(const hone_tensor_set *set,
                                               hone_tensor ***out_weights, uint32_t *out_count);
/* Writes those of a module; no file where it has none. */
HONE_NODISCARD hone_status script_weights_save(const hone_module *module, const char *path);

#endif
