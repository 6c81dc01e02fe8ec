/* tools/verbs/kernel_table.h - which kernel of a compiled model came from where, for people. */
#ifndef HONE_TOOLS_VERBS_KERNEL_TABLE_H
#define HONE_TOOLS_VERBS_KERNEL_TABLE_H

#include "compile/compile.h"
#include "tools/cli/cli.h"

/* The kernels, one a line, and how many of them came from where. */
void hone_cli_put_kernels(hone_cli *cli, const hone_compile_result *result);

#endif
