/* tools/cli/cli_impl.h - between the files of cli.h only. */
#ifndef HONE_TOOLS_CLI_CLI_IMPL_H
#define HONE_TOOLS_CLI_CLI_IMPL_H

#include "tools/cli/cli.h"

/* Reads argv (argv[0] is skipped) and hone.conf by a table that ends with a NULL name. *config and
 * *wants_help are where the options "config" and "help" of that table go: after --help nothing
 * else is looked at. */
HONE_NODISCARD hone_status hone_cli_read_options(hone_cli *cli, const hone_cli_option *options,
                                                 int argc, char **argv, const char *const *config,
                                                 const bool *wants_help);

#endif
