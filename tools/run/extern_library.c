/* tools/run/extern_library.c - see extern_library.h. */
#include "tools/run/extern_library.h"

#include <dlfcn.h>
#include <string.h>

#include "lower/signature/signature.h"
#include "runtime/model/model_rt.h"

hone_status hone_cli_open_externs(hone_cli *cli, const char *path, void **out_library) {
    const char *here = hone_arena_printf(cli->arena, "%s%s", strchr(path, '/') ? "" : "./", path);
    *out_library = NULL;
    if (!here) return HONE_ERROR(HONE_CODE_NO_MEMORY, "%s", path);
    *out_library = dlopen(here, RTLD_NOW | RTLD_GLOBAL);
    if (*out_library) return HONE_OK;
    const char *why = dlerror();
    return HONE_ERROR(HONE_CODE_INVALID, "%s: cannot be loaded: %s", path, why ? why : "");
}

/* library NULL: none is given. */
static hone_status check_task(hone_cli *cli, const char *path, void *library, const hone_task *task,
                              uint32_t *io_calls) {
    hone_signature signature;
    HONE_TRY(hone_signature_of(task->func, cli->arena, &signature));
    *io_calls += signature.extern_count;
    for (uint32_t i = 0; i < signature.extern_count; i++) {
        const char *name = signature.externs[i];
        if (!library) {
            return HONE_ERROR(HONE_CODE_INVALID,
                              "%s: task '%s' calls the external function '%s', --extern LIB.so "
                              "gives it",
                              cli->args[0], task->name, name);
        }
        if (hone_model_rt_find_symbol(library, name)) continue;
        return HONE_ERROR(HONE_CODE_NOT_FOUND, "%s: has no function '%s', which task '%s' calls",
                          path, name, task->name);
    }
    return HONE_OK;
}

hone_status hone_cli_check_externs(hone_cli *cli, const char *path, const hone_task_list *tasks,
                                   const char *only_task) {
    void *library = NULL;
    uint32_t calls = 0;
    hone_status st = path ? hone_cli_open_externs(cli, path, &library) : HONE_OK;
    for (uint32_t i = 0; i < tasks->count && !st; i++) {
        const hone_task *task = &tasks->items[i];
        bool is_wanted = !only_task || strcmp(task->name, only_task) == 0;
        if (is_wanted) st = check_task(cli, path, library, task, &calls);
    }
    if (library) dlclose(library);
    if (st || calls) return st;
    return hone_cli_refuse(cli, "extern", "tasks that call no external function");
}
