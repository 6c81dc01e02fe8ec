/* tools/cli/cli_target.h - targets as users name them, cards of this machine among them. */
#ifndef HONE_TOOLS_CLI_CLI_TARGET_H
#define HONE_TOOLS_CLI_CLI_TARGET_H

#include "target/target_read.h"

/* hone_target_read, but that "cuda" or "opencl" alone means the first such device of this machine,
 * with its limits, where there is one. */
HONE_NODISCARD hone_status hone_cli_read_target(const char *text_or_null, int64_t threads,
                                                hone_target *out_target);

#endif
