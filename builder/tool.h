/* builder/tool.h - runs a compiler, linker or the like to its end.
 *
 * It has no input, and a minute of CPU time; what it says lies in a memory file and is the message
 * of a failure. The tool is in the group of this process, which is stopped for the quiet gate:
 * the tool, too, and that time counts against nobody.
 */
#ifndef HONE_BUILDER_TOOL_H
#define HONE_BUILDER_TOOL_H

#include "support/os/proc.h"

#define HONE_TOOL_CPU_SECONDS 60
#define HONE_TOOL_WALL_NS (600 * HONE_NS_PER_S) /* for one that waits for something */

/* `options` as for hone_proc_spawn, but cpu_seconds; its descriptors are above 2. NOT_FOUND: there
 * is no such tool; INVALID: it failed: "WHO: what it said"; TIMEOUT: it took too long, and was
 * killed, but not what it had started: that ends with this process, which should not live on.
 * IO: the machine is to blame: the tool was killed, or what it had started, or it got no memory
 * although it was far from its limit (address_bytes). is_trusted: what it is given cannot make it
 * say that room, memory or descriptors are missing; then its word for that is taken. */
HONE_NODISCARD hone_status hone_tool_run(const hone_proc_options *options, const char *who,
                                         bool is_trusted);

#endif
