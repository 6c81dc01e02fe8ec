/* runtime/opencl/opencl_target.c - devices as targets. */
#include <stdio.h>

#include "measure/launch.h"
#include "runtime/opencl/opencl_api.h"

static int64_t at_most(int64_t value, int64_t limit) {
    return value < limit ? value : limit;
}

/* A device that does not say how much memory its blocks share has what all have. */
static hone_status target_of(const hone_opencl_facts *facts, hone_target *out_target) {
    char text[128];
    hone_target least;
    HONE_TRY(hone_target_parse("opencl", &least));
    int64_t shared = at_most(facts->shared_bytes, HONE_LAUNCH_MAX_SHARED);
    snprintf(text, sizeof text,
             "opencl -max-threads-per-block=%d -max-shared-memory-per-block=%lld",
             (int)at_most(facts->max_threads, HONE_LAUNCH_MAX_THREADS),
             (long long)(shared > 0 ? shared : least.max_shared_bytes));
    return hone_target_parse(text, out_target);
}

static hone_status describe_first(const hone_opencl *cl, hone_target *out_target) {
    void *devices[HONE_OPENCL_MAX_DEVICES];
    hone_opencl_facts facts;
    int32_t count;
    hone_opencl_list(cl, devices, &count);
    if (count == 0) return HONE_ERROR(HONE_CODE_UNAVAILABLE, "there is no OpenCL device");
    HONE_TRY(hone_opencl_describe(cl, devices[0], &facts));
    return target_of(&facts, out_target);
}

hone_status hone_opencl_first_target(hone_target *out_target) {
    hone_opencl *cl = NULL;
    HONE_TRY(hone_opencl_open(&cl));
    hone_status st = describe_first(cl, out_target);
    hone_opencl_close(cl);
    return st;
}
