/* tools/run/extern_library.c - see extern_library.h. */
#include "tools/run/extern_library.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "compile/extern_calls.h"
#include "ir/core/libm.h"

/* Has the library a function of that name itself, not by way of another that it is linked with? */
static bool defines(void *library, const char *name) {
    struct link_map *map = NULL;
    Dl_info from;
    const void *symbol = dlsym(library, name);
    return symbol && dladdr(symbol, &from) && from.dli_fname &&
           dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && strcmp(map->l_name, from.dli_fname) == 0;
}

/* Numbers that go to such a name go to the C library (ir/core/libm.h). */
static void warn_of_hidden(hone_cli *cli, const char *path, void *library) {
    const hone_libm *libm;
    for (size_t i = 0; (libm = hone_libm_at(i)); i++) {
        if (!defines(library, libm->name)) continue;
        hone_log_line(&cli->log, HONE_LOG_WARNING,
                      "%s: its '%s' is not called: programs that call '%s' of numbers get the C "
                      "library's; give it another name",
                      path, libm->name, libm->name);
    }
}

hone_status hone_cli_open_externs(hone_cli *cli, const char *path, void **out_library) {
    HONE_TRY(hone_cli_reopen_externs(cli, path, out_library));
    warn_of_hidden(cli, path, *out_library);
    return HONE_OK;
}

hone_status hone_cli_reopen_externs(hone_cli *cli, const char *path, void **out_library) {
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
                                   const char *only_task, bool has_intrins) {
    hone_extern_calls calls = {.arena = cli->arena};
    HONE_TRY(hone_extern_calls_of_tasks(&calls, tasks, only_task));
    if (path) HONE_TRY(check_in(path, &calls, cli));
    if (calls.count) return path ? HONE_OK : wants_library(cli, &calls.items[0]);
    if (has_intrins) return HONE_OK; /* their implementations may call some */
    return hone_cli_refuse(cli, "extern", "tasks that call no external function");
}
