/* tests/measure/wire_samples.c - see wire_samples.h. */
#include "tests/measure/wire_samples.h"

#include <stdio.h>
#include <string.h>

#include "support/core/alloc.h"

static const hone_arg args[] = {
    {"A", HONE_DTYPE_INIT(FLOAT,  32, 1), HONE_ARG_IN,    3, {4, 5, 6}},
    {"",  HONE_DTYPE_INIT(INT,    64, 1), HONE_ARG_INOUT, 0, {0}      },
    {"C", HONE_DTYPE_INIT(BFLOAT, 16, 1), HONE_ARG_OUT,   1, {0}      },
};
static const int64_t sizes[] = {1, -5, INT64_MAX};
static const char *const externs[] = {"first", "second"};
static const uint8_t bytes[] = {0x7f, 'E', 'L', 'F', 0, 1, 2};
static const hone_build_intrin intrins[] = {
    {"dot", "def desc(): ..."},
    {"mma", "def impl(): ..."}
};

static const hone_launch_value values[] = {
    {HONE_LAUNCH_CONST, 0, 0, 256},
    {HONE_LAUNCH_SIZE,  2, 0, 0  },
    {HONE_LAUNCH_DIV,   1, 0, 0  },
    {HONE_LAUNCH_CONST, 0, 0, 1  },
};
static const int32_t scratch[] = {1, 0};
static const hone_launch_arg launch_args[] = {
    {HONE_LAUNCH_ARG_BUFFER,  2},
    {HONE_LAUNCH_ARG_SCRATCH, 1},
    {HONE_LAUNCH_ARG_VALUE,   1},
};
static const hone_launch launches[] = {
    {"kernel_0", {2, 3, 3}, {0, 3, 3}, 0, 3, launch_args},
    {"kernel_1", {3, 3, 3}, {3, 3, 3}, 3, 0, NULL       },
};

static hone_manifest manifest(void) {
    return (hone_manifest){.abi_version = 1,
                           .entry = "kernel",
                           .target = "llvm -mcpu=znver4",
                           .arg_count = 3,
                           .args = args,
                           .size_count = 3,
                           .sizes = sizes,
                           .extern_count = 2,
                           .externs = externs,
                           .value_count = 4,
                           .values = values,
                           .scratch_count = 2,
                           .scratch = scratch,
                           .launch_count = 2,
                           .launches = launches};
}

static const int64_t distances[] = {0, 5, INT64_C(1) << 40};

hone_run_request wire_sample_run_request(void) {
    return (hone_run_request){
        .artifact_path = "/tmp/k.so",
        .artifact_bytes = bytes,
        .artifact_byte_count = sizeof bytes,
        .manifest = manifest(),
        .check_path = "/tmp/x.check",
        .extern_path = "/tmp/e.so",
        .threads = 2,
        .cache = HONE_CACHE_MODEL,
        .weights = UINT64_C(1) << 63 | 5,
        .distance_count = 3,
        .distances = distances,
        .timing = {1, 2,  3,    4,  5.5, 6.5},
        .timeout_ns = 123456789012,
        .seed = UINT64_MAX,
        .want_outputs = true,
        .skip_timing = true,
        .simulated = {1.5, 0.25, 77, 88, HONE_FAILURE_RUN_CRASH },
    };
}

void wire_sample_run_result(hone_run_result *out_result) {
    hone_run_result_init(out_result);
    out_result->failure = HONE_FAILURE_WRONG_RESULT;
    snprintf(out_result->message, sizeof out_result->message, "element 3 is nan");
    out_result->return_code = -7;
    out_result->sample_count = 3;
    out_result->samples_ns[0] = 1.5;
    out_result->samples_ns[1] = 2.5;
    out_result->samples_ns[2] = 4;
    out_result->batch = 1000;
    out_result->stopped_early = true;
    out_result->checked = true;
    out_result->max_error = 0.125;
    out_result->error_ratio = 2;
    out_result->reference_ns = 13000;
    out_result->drift = 1.01;
    out_result->drift_flagged = true;
    out_result->round_trip_ns = 86;
    out_result->times = (hone_run_times){1, 2, 3, 4, 5, 6};
    out_result->retried = true;
    out_result->executor = 9;
    out_result->outputs = hone_malloc(4);
    out_result->output_bytes = 4;
    if (out_result->outputs) memcpy(out_result->outputs, "\1\2\3\4", 4);
    hone_run_result_summarize(out_result);
}

hone_build_request wire_sample_build_request(void) {
    return (hone_build_request){.program = "@T.prim_func\ndef f(): ...",
                                .func = "f",
                                .trace = "[[], []]",
                                .target = "llvm",
                                .entry = "kernel",
                                .output_path = "/tmp/k.so",
                                .lines_path = "/tmp/k.py",
                                .emit = "so",
                                .threads = 2,
                                .constants = UINT64_C(1) << 63 | 5,
                                .constants_distance = INT64_C(1) << 41,
                                .timeout_ns = 5,
                                .intrin_count = 2,
                                .intrins = intrins};
}

hone_build_result wire_sample_build_result(void) {
    hone_build_result r = {
        .failure = HONE_FAILURE_NONE,
        .message = "fine",
        .artifact_path = "/tmp/k.so",
        .artifact_bytes = bytes,
        .artifact_byte_count = sizeof bytes,
        .manifest = manifest(),
        .times = {1, 2, 3, 4, 5}
    };
    for (size_t i = 0; i < sizeof r.program_hash; i++)
        r.program_hash[i] = (uint8_t)(i * 16);
    return r;
}
