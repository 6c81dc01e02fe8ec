#include "tools/cli_intrins.h"

#include <string.h>

#include "schedule/tensor_intrin.h"
#include "support/alloc.h"
#include "support/fs.h"

static hone_status read_one(hone_cli *cli, const char *text, hone_build_intrin *out,
                            const char **out_path) {
    const char *equals = strchr(text, '=');
    char *bytes = NULL;
    size_t count = 0;
    if (!equals || equals == text || !equals[1]) {
        return HONE_ERROR(HONE_CODE_INVALID, "--intrin is '%s', must be NAME=FILE.py", text);
    }
    HONE_TRY(hone_fs_read(equals + 1, 1 << 24, &bytes, &count));
    out->name = hone_arena_printf(cli->arena, "%.*s", (int)(equals - text), text);
    out->text = hone_arena_strdup(cli->arena, bytes);
    *out_path = equals + 1;
    hone_free(bytes);
    return out->name && out->text ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "intrinsics");
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
