/* schedule/defaults/default_map.c - index maps of steps, which are written as text first. */
#include "ir/text/map/index_map_parse.h"
#include "schedule/defaults/default_impl.h"

hone_status hone_default_read_map(hone_schedule *sch, hone_str *text,
                                  const hone_index_map **out_map) {
    hone_status st = hone_str_check(text);
    py_source source = {.name = "map", .text = hone_str_text(text), .length = text->length};
    if (!st) st = hone_index_map_parse(sch->arena, &source, NULL, 0, out_map);
    hone_str_deinit(text);
    return st;
}
