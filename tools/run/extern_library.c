/* tools/run/extern_library.c - see extern_library.h. */
#include "tools/run/extern_library.h"

#include <dlfcn.h>
#include <string.h>

#include "compile/extern_calls.h"

hone_status hone_cli_open_externs(hone_cli *cli, const char *path, void **out_library) {
    const char *here = hone_arena_printf(cli->arena, "%s%s", strchr(path, '/') ? "" : "./", path);
    *out_library = NULL;
    if (!here) return HONE_ERROR(HONE_CODE_NO_MEMORY, "%s", path);
    *out_library = dlopen(here, RTLD_NOW | RTLD_GLOBAL);
    if (*out_library) return HONE_OK;
    const char *why = dlerror();
    return HONE_ERROR(HONE_CODE_INVALID, "%s: cannot be loaded: %s", path, why ? why : "");
}

static hone_status wants_library(const hone_cli *cli, const hone_extern_call *call) {
    return HONE_ERROR(HONE_CODE_INVALID,
                      "%s: task '%s' calls the external function '%s', --extern LIB.so gives it",
                      cli->args[0], call->task, call->name);
}

static hone_status check_in(const char *path, const hone_extern_calls *calls, hone_cli *cli) {
    void *library = NULL;
    HONE_TRY(hone_cli_open_externs(cli, path, &library));
    hone_status st = hone_status_annotate(hone_extern_calls_find(calls, library), "%s", path);
    dlclose(library);
    return st;
}

hone_status hone_cli_check_externs(hone_cli *cli, const char *path, const hone_task_list *tasks,
                                   const char *only_task) {
    hone_extern_calls calls = {.arena = cli->arena};
    HONE_TRY(hone_extern_calls_of_tasks(&calls, tasks, only_task));
    if (path) HONE_TRY(check_in(path, &calls, cli));
    if (calls.count) return path ? HONE_OK : wants_library(cli, &calls.items[0]);
    return hone_cli_refuse(cli, "extern", "tasks that call no external function");
}
