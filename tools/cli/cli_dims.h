/* tools/cli/cli_dims.h - dimensions as texts: the name of a size ("n"), or what is computed of
 * sizes as TVMScript has it ("n * 2"). A text may be NULL: it is nothing known. */
#ifndef HONE_TOOLS_CLI_CLI_DIMS_H
#define HONE_TOOLS_CLI_CLI_DIMS_H

#include <stdbool.h>
#include <stddef.h>

#include "graph/module/graph_options.h"

/* Is it that size, or computed of it? */
bool hone_cli_dim_uses(const char *dim, const char *name);
/* Calls back with each size that it is computed of, or its one name; false stops. */
bool hone_cli_dim_visit(const char *dim, bool (*visit)(void *ctx, const char *name, size_t length),
                        void *ctx);

/* What it is for these sizes, those that are not among them being `others`. false: it uses one that
 * is not known (negative), or has no value. */
bool hone_cli_dim_value(const char *dim, const hone_dim_variant *sizes, int64_t others,
                        int64_t *out_value);

#endif
