/* builder/tool.h - runs a compiler, linker or the like to its end.
 *
 * It has no input, and a minute; what it says lies in a memory file and is the message of a
 * failure.
 */
#ifndef HONE_BUILDER_TOOL_H
#define HONE_BUILDER_TOOL_H

#include "support/proc.h"

#define HONE_TOOL_SECONDS 60

/* `options` as for hone_proc_spawn; its descriptors are above 2. NOT_FOUND: there is no such tool;
 * INVALID: it failed: "WHO: what it said". is_trusted: what it is given cannot make it end for want
 * of memory, room or descriptors; then the machine is to blame for that: IO. */
HONE_NODISCARD hone_status hone_tool_run(const hone_proc_options *options, const char *who,
                                         bool is_trusted);

#endif
