/* include/api_host.h - what functions that compile, tune and run need of this machine; not
 * installed. */
#ifndef HONE_INCLUDE_API_HOST_H
#define HONE_INCLUDE_API_HOST_H

#include <hone/model_abi.h>
#include <hone/variant.h>

#include "graph/module/graph_options.h"
#include "schedule/variant/variant.h"
#include "support/core/arena.h"
#include "support/data/tensor.h"

/* Where a program of ours is: in the folder, when one is given (NOT_FOUND: it is not), beside this
 * library, or in ../bin of its folder; NULL: where the rooms look for it. */
HONE_NODISCARD hone_status hone_api_find_program(hone_arena *arena, const char *folder,
                                                 const char *name, const char **out_path);

/* hone_dim_variants_parse of a caller's list, with its NULLs refused. */
HONE_NODISCARD hone_status hone_api_read_sizes(size_t count, const char *const *sizes,
                                               hone_dim_variants *out_variants);

/* hone_api_read_sizes of a list that has one number for each size; INVALID: several. */
HONE_NODISCARD hone_status hone_api_read_one_choice(size_t count, const char *const *sizes,
                                                    hone_dim_variants *out_variants);

/* The rules of options, which may be NULL, in the arena. INVALID: a size that no version had, a
 * path that is NULL, and as hone_variant_choice_read. */
HONE_NODISCARD hone_status hone_api_read_variants(const hone_variant_options *options,
                                                  hone_arena *arena, hone_variant_rules *out);

/* A module with sizes and weights bound. INVALID: there is no such one; TYPE. */
HONE_NODISCARD hone_status hone_api_bind_values(const hone_module *module,
                                                const hone_graph_options *values,
                                                hone_module **out_module);

/* A view of a caller's tensor. INVALID: not on the CPU, not dense, no data. TYPE: elements of a
 * type that programs do not have. what: of whom the message speaks. */
HONE_NODISCARD hone_status hone_api_view(const DLTensor *tensor, const char *what,
                                         hone_tensor *out_view);
/* A DLTensor over a tensor, which owns the shape. */
DLTensor hone_api_dl_tensor(hone_tensor *tensor);

#endif
