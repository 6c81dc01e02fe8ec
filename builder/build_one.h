/* builder/build_one.h - one build, in this process: the work of hone-worker. Loads LLVM. */
#ifndef HONE_BUILDER_BUILD_ONE_H
#define HONE_BUILDER_BUILD_ONE_H

#include "measure/build.h"
#include "support/core/arena.h"

/* Never fails: what goes wrong is BUILD_ERROR with its message, or MACHINE_ERROR. What the result
 * points to lives in the arena, or is owned by `out_bytes` (initialised by the caller, alive as
 * long as the result).
 */
void hone_build_run(const hone_build_request *request, hone_arena *arena, hone_str *out_bytes,
                    hone_build_result *out_result);

#endif
