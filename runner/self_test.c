/* runner/self_test.c - see self_test.h. */
#include "runner/self_test.h"

#include <string.h>

#include "measure/check_bundle.h"
#include "runtime/model/abi.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"

enum { ELEMENTS = 1 << 16 }; /* as self_test_kernel.c has them */

#define TIMEOUT_NS (5 * INT64_C(1000000000))

hone_status hone_self_test_init(const char *dir, const char *target, hone_self_test *out_test) {
    *out_test = (hone_self_test){
        .target = target,
        .path = hone_path_join(dir, "self-test" HONE_CHECK_BUNDLE_SUFFIX),
        .args = {{"A", HONE_DTYPE_F32, HONE_ARG_IN, 1, {ELEMENTS}},
                 {"B", HONE_DTYPE_F32, HONE_ARG_OUT, 1, {ELEMENTS}}}
    };
    return out_test->path ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "self test");
}

void hone_self_test_deinit(hone_self_test *test) {
    if (test->path) hone_status_free(hone_fs_remove_file(test->path));
    hone_free(test->path);
    *test = (hone_self_test){0};
}

/* A counts from 0; all values are exact. */
static hone_status write_bundle(const hone_self_test *test) {
    double *want = hone_malloc(ELEMENTS * sizeof *want);
    if (!want) return HONE_ERROR(HONE_CODE_NO_MEMORY, "self test");
    for (int i = 0; i < ELEMENTS; i++)
        want[i] = 2.0 * i + 1;
    hone_check_tensor tensors[2] = {
        {.dtype = HONE_DTYPE_F32,
         .role = HONE_ARG_IN,
         .count = ELEMENTS,
         .generator = {.kind = HONE_GENERATOR_IOTA}},
        { .dtype = HONE_DTYPE_F32,
         .role = HONE_ARG_OUT,
         .count = ELEMENTS,
         .reference_dtype = HONE_DTYPE_F64,
         .reference = want,
         .bound = 0.5,
         .reference_max = 2.0 * ELEMENTS - 1},
    };
    hone_check_bundle bundle = {.seed = 1, .count = 2, .tensors = tensors};
    hone_status st = hone_check_bundle_write(&bundle, test->path);
    hone_free(want);
    return st;
}

/* What is launched on a card: a thread for each element. */
enum { VALUE_ELEMENTS, VALUE_BLOCK, VALUE_GRID, VALUE_ONE, VALUE_NONE, VALUES };
enum { BLOCK = 128 };
static const hone_launch_value values[VALUES] = {
    [VALUE_ELEMENTS] = {.op = HONE_LAUNCH_CONST, .k = ELEMENTS        },
    [VALUE_BLOCK] = {.op = HONE_LAUNCH_CONST, .k = BLOCK           },
    [VALUE_GRID] = {.op = HONE_LAUNCH_CONST, .k = ELEMENTS / BLOCK},
    [VALUE_ONE] = {.op = HONE_LAUNCH_CONST, .k = 1               },
    [VALUE_NONE] = {.op = HONE_LAUNCH_CONST, .k = 0               },
};
static const hone_launch_arg launch_args[] = {
    {HONE_LAUNCH_ARG_BUFFER, 0             },
    {HONE_LAUNCH_ARG_BUFFER, 1             },
    {HONE_LAUNCH_ARG_VALUE,  VALUE_ELEMENTS}
};
static const hone_launch launches[] = {
    {.symbol = "self_test",
     .grid = {VALUE_GRID, VALUE_ONE, VALUE_ONE},
     .block = {VALUE_BLOCK, VALUE_ONE, VALUE_ONE},
     .dynamic_shared = VALUE_NONE,
     .arg_count = 3,
     .args = launch_args}
};

static void use_card(hone_run_request *request) {
    request->artifact_bytes = (const uint8_t *)hone_self_test_ptx;
    request->artifact_byte_count = hone_self_test_ptx_bytes;
    request->manifest.value_count = VALUES;
    request->manifest.values = values;
    request->manifest.launch_count = HONE_COUNT(launches);
    request->manifest.launches = launches;
}

hone_status hone_self_test_make(void *ctx, hone_run_request *out_request) {
    hone_self_test *test = ctx;
    HONE_TRY(write_bundle(test));
    *out_request = (hone_run_request){
        .artifact_bytes = hone_self_test_kernel,
        .artifact_byte_count = hone_self_test_kernel_bytes,
        .manifest = {.abi_version = HONE_ABI_VERSION,
                     .entry = "self_test",
                     .target = test->target,
                     .arg_count = 2,
                     .args = test->args},
        .check_path = test->path,
        .threads = 1,
        .timing = {.min_repeat_ns = HONE_RUN_NS_PER_MS,                  .max_samples = 3  },
        .timeout_ns = TIMEOUT_NS,
        .seed = 1,
    };
    if (strncmp(test->target, "cuda ", 5) == 0) use_card(out_request);
    return HONE_OK;
}
