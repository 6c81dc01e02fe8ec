/* tools/cli/cli_shapes.h - the sizes that the tuning sessions of a database name. */
#ifndef HONE_TOOLS_CLI_CLI_SHAPES_H
#define HONE_TOOLS_CLI_CLI_SHAPES_H

#include "database/database.h"
#include "graph/module/graph_options.h"
#include "tools/cli/cli.h"

/* What `hone compile` and `hone db explain` take where no --shape is given; variants: in and out.
 * Sizes of other models are among them: what has no record is to be left out. */
HONE_NODISCARD hone_status hone_cli_recorded_shapes(hone_cli *cli, hone_db *db,
                                                    hone_dim_variants *variants,
                                                    bool *out_are_found);

#endif
