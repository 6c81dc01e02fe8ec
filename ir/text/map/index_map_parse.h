/* ir/text/map/index_map_parse.h - reads index maps that are Python lambdas: nodes of the tree of
 * another text (a trace), or texts of their own. */
#ifndef HONE_IR_TEXT_MAP_INDEX_MAP_PARSE_H
#define HONE_IR_TEXT_MAP_INDEX_MAP_PARSE_H

#include "ir/core/index_map.h"
#include "ir/python/python_tree.h"

/* Resolves a name in a lambda to a constant integer, or to a tuple of them; as hone_index_map_names
 * does to free variables. */
typedef bool (*hone_index_map_numbers)(void *ctx, const char *name, uint32_t *out_count,
                                       const int64_t **out_numbers, bool *out_is_tuple);

/* What the names of a map stand for; all of it may be NULL. */
typedef struct hone_index_map_scope {
    hone_index_map_names names;
    hone_index_map_numbers numbers;
    void *ctx;
} hone_index_map_scope;

/* Reads "lambda …: …", or an expression, which is a map without parameters. rank: how many
 * parameters there are when the lambda has a `*` one; 0 = not known yet, the map is variadic then.
 * INVALID with file, line, column and caret. */
HONE_NODISCARD hone_status hone_index_map_read(hone_arena *arena, const py_source *source,
                                               const py_node *node,
                                               const hone_index_map_scope *scope, uint32_t rank,
                                               const hone_index_map **out_map);
/* hone_index_map_read for a text that is nothing else. */
HONE_NODISCARD hone_status hone_index_map_parse(hone_arena *arena, const py_source *source,
                                                const hone_index_map_scope *scope, uint32_t rank,
                                                const hone_index_map **out_map);
/* A variadic map with this number of parameters; others as they are. */
HONE_NODISCARD hone_status hone_index_map_instantiate(hone_arena *arena, const hone_index_map *map,
                                                      uint32_t rank,
                                                      const hone_index_map **out_map);

#endif
