/* ir/text/map/index_map_json.h - index maps as TVM keeps them in the JSON of traces: the JSON of
 * the graph of objects that the map is. */
#ifndef HONE_IR_TEXT_MAP_INDEX_MAP_JSON_H
#define HONE_IR_TEXT_MAP_INDEX_MAP_JSON_H

#include "ir/core/index_map.h"
#include "support/core/strbuf.h"

/* TVM's JSON of objects, as TVM 0.27 and those before it write it. UNSUPPORTED: an object of a kind
 * that no map is made of; INVALID. Free variables are those with names that `names` knows. */
HONE_NODISCARD hone_status hone_index_map_parse_json(hone_arena *arena, const char *text,
                                                     hone_index_map_names names, void *ctx,
                                                     const hone_index_map **out_map);
/* indented: over several lines, as TVM has it among the attributes of an instruction. INVALID for a
 * variadic map. */
HONE_NODISCARD hone_status hone_index_map_print_json(const hone_index_map *map,
                                                     const char *const *free_names, bool indented,
                                                     hone_str *out);

#endif
