/* tools/cli/cli_intrins.h - tensor intrinsics that users name by --intrin NAME=FILE.py. */
#ifndef HONE_TOOLS_CLI_CLI_INTRINS_H
#define HONE_TOOLS_CLI_CLI_INTRINS_H

#include "measure/build.h"
#include "tools/cli/cli.h"

/* Names and texts, in the arena of the cli; count entries. INVALID: not NAME=FILE.py. */
HONE_NODISCARD hone_status hone_cli_read_intrins(hone_cli *cli, const hone_cli_list *list,
                                                 const hone_build_intrin **out_intrins);

/* Those that a schedule's text registers (TensorIntrin.register), read for this program, behind
 * those of the list: new rows, in the arena of the cli. The errors are those of the text. */
struct hone_func;
HONE_NODISCARD hone_status hone_cli_add_registered(hone_cli *cli, const hone_cli_list *list,
                                                   const char *path, const struct hone_func *func,
                                                   const hone_build_intrin **io_intrins,
                                                   size_t *io_count);

/* The row of the option; what: the beginning of its help. */
#define HONE_CLI_INTRIN_OPTION(list, what)                                                         \
    HONE_CLI_OPTION("intrin", 0, "NAME=FILE.py", LIST, (list), what "; may be repeated")

struct hone_tensor_intrins;
/* hone_cli_read_intrins as a set, with every text checked; NULL when the list is empty. Owned by
 * the caller. */
HONE_NODISCARD hone_status hone_cli_open_intrins(hone_cli *cli, const hone_cli_list *list,
                                                 struct hone_tensor_intrins **out_set);

#endif
