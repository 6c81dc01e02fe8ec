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

hone_status hone_default_divide_map(hone_schedule *sch, uint32_t count, uint32_t divided,
                                    int64_t by, const hone_index_map **out_map) {
    hone_str text = {0};
    hone_str_append(&text, "lambda ");
    for (uint32_t i = 0; i < count; i++)
        hone_str_printf(&text, "%sv%u", i ? ", " : "", i);
    hone_str_append(&text, ": (");
    for (uint32_t i = 0; i < count; i++) {
        if (i == divided)
            hone_str_printf(&text, "v%u // %lld, v%u %% %lld, ", i, (long long)by, i,
                            (long long)by);
        else
            hone_str_printf(&text, "v%u, ", i);
    }
    hone_str_append(&text, ")");
    return hone_default_read_map(sch, &text, out_map);
}
