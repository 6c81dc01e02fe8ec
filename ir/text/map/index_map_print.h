/* ir/text/map/index_map_print.h - index maps as Python lambdas. */
#ifndef HONE_IR_TEXT_MAP_INDEX_MAP_PRINT_H
#define HONE_IR_TEXT_MAP_INDEX_MAP_PRINT_H

#include "ir/core/index_map.h"
#include "support/core/strbuf.h"

/* "lambda i, j: (i // 16, j, i % 16)", ranges as "lambda i: [(i, i + 1)]", with an inverse
 * "tvm.tirx.IndexMap.from_func(lambda …, inverse_index_map=lambda …)". free_names: of the free
 * variables. NO_MEMORY is the only failure. */
HONE_NODISCARD hone_status hone_index_map_print(const hone_index_map *map,
                                                const char *const *free_names, hone_str *out);

#endif
