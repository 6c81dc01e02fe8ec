/* ir/text/map/index_map_parse.h - reads index maps that are Python lambdas, anywhere in another
 * text (a trace). */
#ifndef HONE_IR_TEXT_MAP_INDEX_MAP_PARSE_H
#define HONE_IR_TEXT_MAP_INDEX_MAP_PARSE_H

#include "ir/core/index_map.h"

/* Resolves a name in a lambda to a constant integer, or to a tuple of them; as hone_index_map_names
 * does to free variables. */
typedef bool (*hone_index_map_numbers)(void *ctx, const char *name, uint32_t *out_count,
                                       const int64_t **out_numbers, bool *out_is_tuple);

typedef struct hone_index_map_text {
    const char *source_name; /* for messages */
    const char *text;
    size_t from, to, length;    /* the expression is text[from … to), of a text of this length */
    hone_index_map_names names; /* may be NULL */
    hone_index_map_numbers numbers; /* may be NULL */
    void *ctx;
} hone_index_map_text;

/* Reads "lambda …: …", or an expression, which is a map without parameters. rank: how many
 * parameters there are when the lambda has a `*` one; 0 = not known yet, the map is variadic then.
 * INVALID with file, line, column and caret. */
HONE_NODISCARD hone_status hone_index_map_parse(hone_arena *arena, const hone_index_map_text *text,
                                                uint32_t rank, const hone_index_map **out_map);
/* A variadic map with this number of parameters; others as they are. */
HONE_NODISCARD hone_status hone_index_map_instantiate(hone_arena *arena, const hone_index_map *map,
                                                      uint32_t rank,
                                                      const hone_index_map **out_map);

#endif
