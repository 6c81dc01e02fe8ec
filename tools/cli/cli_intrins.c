/* tools/cli/cli_intrins.c - tensor intrinsics that a command line or a schedule's text brings. */
#include "tools/cli/cli_intrins.h"

#include <string.h>

#include "ir/text/print/script_print.h"
#include "schedule/intrin/tensor_intrin.h"
#include "schedule/python/trace_parse.h"
#include "support/os/text_file.h"

static hone_status read_one(hone_cli *cli, const char *text, hone_build_intrin *out,
                            const char **out_path) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1]) {
        return HONE_ERROR(HONE_CODE_INVALID, "--intrin is '%s', must be NAME=FILE.py", text);
    }
    HONE_TRY(hone_text_file_read(equals + 1, 1 << 24, cli->arena, &out->text));
    out->name = hone_arena_printf(cli->arena, "%.*s", (int)(equals - text), text);
    *out_path = equals + 1;
    return out->name ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "intrinsics");
}

hone_status hone_cli_read_intrins(hone_cli *cli, const hone_cli_list *list,
                                  const hone_build_intrin **out_intrins) {
    hone_build_intrin *intrins = hone_arena_zalloc(cli->arena, (list->count + 1) * sizeof *intrins);
    if (!intrins) return HONE_ERROR(HONE_CODE_NO_MEMORY, "intrinsics");
    for (size_t i = 0; i < list->count; i++) {
        const char *path;
        HONE_TRY(read_one(cli, list->items[i], &intrins[i], &path));
    }
    *out_intrins = intrins;
    return HONE_OK;
}

hone_status hone_cli_open_intrins(hone_cli *cli, const hone_cli_list *list,
                                  hone_tensor_intrins **out_set) {
    *out_set = NULL;
    if (list->count == 0) return HONE_OK;
    HONE_TRY(hone_tensor_intrins_create(out_set));
    for (size_t i = 0; i < list->count; i++) {
        hone_build_intrin intrin;
        const char *path;
        hone_status st = read_one(cli, list->items[i], &intrin, &path);
        if (!st) {
            st = hone_tensor_intrins_add(*out_set, intrin.name, intrin.text, strlen(intrin.text),
                                         path);
        }
        if (!st) continue;
        hone_tensor_intrins_destroy(*out_set);
        *out_set = NULL;
        return st;
    }
    return HONE_OK;
}

/* ---- of the text of a schedule ---- */

static hone_status print_as(hone_arena *arena, const hone_func *func, const char *name,
                            hone_str *out) {
    hone_func copy = *func;
    hone_print_options options = {.mark = HONE_NO_ID, .bare = true};
    copy.name = name;
    if (!hone_attrs_without(arena, &copy.attrs, "global_symbol", &copy.attrs))
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "intrinsics");
    return hone_func_print(&copy, &options, out);
}

/* As the text that --intrin would have. */
static hone_status text_of_intrin(hone_cli *cli, const hone_tensor_intrins *set, const char *name,
                                  hone_build_intrin *out) {
    hone_module *module = NULL;
    const hone_func *desc, *impl;
    hone_str text = {0};
    HONE_TRY(hone_tensor_intrin_find(set, name, &module, &desc, &impl));
    hone_status st = print_as(cli->arena, desc, "desc", &text);
    hone_str_append_char(&text, '\n');
    if (!st) st = print_as(cli->arena, impl, "impl", &text);
    out->name = hone_arena_strdup(cli->arena, name);
    out->text = hone_arena_strdup(cli->arena, hone_str_text(&text));
    if (!st && (text.failed || !out->name || !out->text))
        st = HONE_ERROR(HONE_CODE_NO_MEMORY, "intrinsics");
    hone_str_deinit(&text);
    hone_module_release(module);
    return st;
}

static hone_status add_all(hone_cli *cli, const hone_tensor_intrins *set,
                           const hone_build_intrin **io_intrins, size_t *io_count) {
    size_t fresh = 0, count = *io_count;
    while (hone_tensor_intrins_name(set, fresh))
        fresh++;
    hone_build_intrin *rows = hone_arena_zalloc(cli->arena, (count + fresh + 1) * sizeof *rows);
    if (!rows) return HONE_ERROR(HONE_CODE_NO_MEMORY, "intrinsics");
    if (count) memcpy(rows, *io_intrins, count * sizeof *rows);
    for (size_t i = 0; i < fresh; i++) {
        const char *name = hone_tensor_intrins_name(set, i);
        HONE_TRY(text_of_intrin(cli, set, name, &rows[count + i]));
    }
    *io_intrins = rows;
    *io_count = count + fresh;
    return HONE_OK;
}

hone_status hone_cli_add_registered(hone_cli *cli, const hone_cli_list *list, const char *path,
                                    const hone_func *func, const hone_build_intrin **io_intrins,
                                    size_t *io_count) {
    hone_tensor_intrins *known = NULL, *set = NULL;
    hone_trace trace;
    HONE_TRY(hone_cli_open_intrins(cli, list, &known));
    hone_status st = hone_tensor_intrins_create(&set);
    hone_trace_context context = {.func = func, .intrins = known, .registered = set};
    if (!st) st = hone_trace_load(cli->arena, path, &context, NULL, &trace);
    if (!st) st = add_all(cli, set, io_intrins, io_count);
    hone_tensor_intrins_destroy(set);
    hone_tensor_intrins_destroy(known);
    return st;
}
