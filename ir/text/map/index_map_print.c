/* ir/text/map/index_map_print.c - index maps as Python: lambda i, j: (i // 16, j, i % 16). */
#include "ir/text/map/index_map_print.h"

#include "ir/text/print/script_print_impl.h"

static void print_ranges(printer *pr, const hone_index_map *map) {
    hone_str_append_char(pr->out, '[');
    for (uint32_t i = 0; i + 1 < map->count; i += 2) {
        if (i) hone_str_append(pr->out, ", ");
        print_tuple(pr, 2, &map->indices[i]);
    }
    hone_str_append_char(pr->out, ']');
}

static void print_indices(printer *pr, const hone_index_map *map) {
    hone_str_append_char(pr->out, '(');
    for (uint32_t i = 0, k = 0; i <= map->count; i++) {
        for (; k < map->separator_count && map->separators[k] == (int32_t)i; k++)
            hone_str_append(pr->out, "IndexMap.AXIS_SEPARATOR, ");
        if (i == map->count) break;
        print_expr(pr, map->indices[i]);
        bool is_last = i + 1 == map->count && k == map->separator_count;
        hone_str_append(pr->out, is_last ? "," : ", ");
    }
    hone_str_append_char(pr->out, ')');
}

static hone_status print_lambda(const hone_index_map *map, const char *const *free_names,
                                hone_str *out) {
    if (map->variadic) {
        hone_str_append(out, map->variadic);
        return hone_str_check(out);
    }
    printer pr;
    if (!printer_init(&pr, out, NULL)) return printer_finish(&pr);
    uint32_t var_count = map->param_count + map->free_count;
    hone_var_info *vars = hone_arena_alloc(pr.arena, (var_count + 1) * sizeof *vars);
    pr.var_names = hone_arena_zalloc(pr.arena, (var_count + 1) * sizeof *pr.var_names);
    if (!vars || !pr.var_names) {
        pr.is_short_of_memory = true;
        return printer_finish(&pr);
    }
    for (uint32_t i = 0; i < var_count; i++) {
        vars[i] = map->vars[i];
        if (i >= map->param_count) vars[i].name = free_names[i - map->param_count];
    }
    hone_func names = {.vars = vars, .var_count = var_count};
    pr.func = &names;
    for (uint32_t i = map->param_count; i < var_count; i++)
        printer_define_var(&pr, i);
    hone_str_append(out, "lambda");
    for (uint32_t i = 0; i < map->param_count; i++)
        hone_str_printf(out, "%s %s", i ? "," : "", printer_define_var(&pr, i));
    hone_str_append(out, ": ");
    if (map->is_ranges) {
        print_ranges(&pr, map);
    } else {
        print_indices(&pr, map);
    }
    return printer_finish(&pr);
}

hone_status hone_index_map_print(const hone_index_map *map, const char *const *free_names,
                                 hone_str *out) {
    if (!map->inverse) return print_lambda(map, free_names, out);
    hone_str_append(out, "tvm.tirx.IndexMap.from_func(");
    HONE_TRY(print_lambda(map, free_names, out));
    hone_str_append(out, ", inverse_index_map=");
    HONE_TRY(print_lambda(map->inverse, free_names, out));
    hone_str_append_char(out, ')');
    return hone_str_check(out);
}
