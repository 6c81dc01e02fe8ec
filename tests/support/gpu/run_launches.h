/* tests/support/gpu/run_launches.h - runs the launches of a program in the interpreter, one after
 * the other, as a device would: what a manifest says of them is all that is known. */
#ifndef HONE_TESTS_SUPPORT_GPU_RUN_LAUNCHES_H
#define HONE_TESTS_SUPPORT_GPU_RUN_LAUNCHES_H

#include "ir/interp/interp.h"
#include "lower/device/launches.h"
#include "measure/manifest.h"

/* A manifest of the program with the launches, for these arguments (one per parameter). */
hone_status hone_test_launch_manifest(const hone_func *func, const hone_launches *launches,
                                      hone_tensor *const *args, hone_arena *arena,
                                      hone_manifest *out_manifest);
/* Runs every launch of it; scratch memory begins with garbage. */
hone_status hone_test_run_launches(const hone_func *func, const hone_launches *launches,
                                   hone_tensor *const *args, const hone_interp_options *options);

#endif
