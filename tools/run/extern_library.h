/* tools/run/extern_library.h - the library of --extern, and what programs call of it. */
#ifndef HONE_TOOLS_RUN_EXTERN_LIBRARY_H
#define HONE_TOOLS_RUN_EXTERN_LIBRARY_H

#include "graph/plan/tasks.h"
#include "tools/cli/cli.h"

/* For dlclose. Compiled models look for their external functions in the process: they find those of
 * the library. Warns of functions in it that no program can call, as the C library's have their
 * names. INVALID with the reason. */
HONE_NODISCARD hone_status hone_cli_open_externs(hone_cli *cli, const char *path,
                                                 void **out_library);
/* Without that warning: somebody has opened the library before. */
HONE_NODISCARD hone_status hone_cli_reopen_externs(hone_cli *cli, const char *path,
                                                   void **out_library);

/* Has the library every function that the tasks call, or only_task (may be NULL) alone? path NULL:
 * there is no library. INVALID, NOT_FOUND; INVALID also when they call none and there is one,
 * unless tensor intrinsics of the user's may. */
HONE_NODISCARD hone_status hone_cli_check_externs(hone_cli *cli, const char *path,
                                                  const hone_task_list *tasks,
                                                  const char *only_task, bool has_intrins);

#endif
