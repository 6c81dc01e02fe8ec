/* tests/runtime/device_manifest.c - see device_manifest.h. */
#include "tests/runtime/device_manifest.h"

#include <string.h>

#include "runtime/model/abi.h"
#include "tests/runtime/device_kernels.h"

static void set_values(device_manifest *m, int64_t elements) {
    m->sizes[0] = elements;
    m->values[DEVICE_VALUE_N] = (hone_launch_value){.op = HONE_LAUNCH_SIZE, .a = 0};
    m->values[DEVICE_VALUE_BLOCK] = (hone_launch_value){.op = HONE_LAUNCH_CONST, .k = DEVICE_BLOCK};
    m->values[DEVICE_VALUE_GRID] = (hone_launch_value){
        .op = HONE_LAUNCH_CONST, .k = (elements + DEVICE_BLOCK - 1) / DEVICE_BLOCK};
    m->values[DEVICE_VALUE_ONE] = (hone_launch_value){.op = HONE_LAUNCH_CONST, .k = 1};
    m->values[DEVICE_VALUE_BYTES] = (hone_launch_value){.op = HONE_LAUNCH_CONST, .k = 4 * elements};
    m->values[DEVICE_VALUE_SHARED] = (hone_launch_value){.op = HONE_LAUNCH_CONST, .k = 0};
}

static void set_launch(device_manifest *m, int step, const char *symbol, hone_launch_arg from,
                       hone_launch_arg to) {
    hone_launch_arg *args = m->launch_args[step];
    args[0] = from;
    args[1] = to;
    args[2] = (hone_launch_arg){HONE_LAUNCH_ARG_VALUE, DEVICE_VALUE_N};
    m->launches[step] = (hone_launch){
        .symbol = symbol,
        .grid = {DEVICE_VALUE_GRID,  DEVICE_VALUE_ONE, DEVICE_VALUE_ONE},
        .block = {DEVICE_VALUE_BLOCK, DEVICE_VALUE_ONE, DEVICE_VALUE_ONE},
        .dynamic_shared = DEVICE_VALUE_SHARED,
        .arg_count = 3,
        .args = args
    };
}

static void set_rest(device_manifest *m, const char *entry, int64_t elements, size_t launches) {
    m->args[0] = (hone_arg){"A", HONE_DTYPE_F32, HONE_ARG_IN, 1, {elements}};
    m->args[1] = (hone_arg){"B", HONE_DTYPE_F32, HONE_ARG_OUT, 1, {elements}};
    m->scratch[0] = DEVICE_VALUE_BYTES;
    m->manifest = (hone_manifest){.abi_version = HONE_ABI_VERSION,
                                  .entry = entry,
                                  .target = "cuda -arch=sm_75",
                                  .arg_count = 2,
                                  .args = m->args,
                                  .size_count = 1,
                                  .sizes = m->sizes,
                                  .value_count = DEVICE_VALUES,
                                  .values = m->values,
                                  .scratch_count = launches > 1,
                                  .scratch = m->scratch,
                                  .launch_count = launches,
                                  .launches = m->launches};
}

void device_manifest_init(device_manifest *out, const char *symbol, int64_t elements) {
    const hone_launch_arg a = {HONE_LAUNCH_ARG_BUFFER, 0}, b = {HONE_LAUNCH_ARG_BUFFER, 1};
    memset(out, 0, sizeof *out);
    set_values(out, elements);
    set_launch(out, 0, symbol, a, b);
    set_rest(out, symbol, elements, 1);
}

void device_manifest_init_steps(device_manifest *out, const char *first, const char *second,
                                int64_t elements) {
    const hone_launch_arg a = {HONE_LAUNCH_ARG_BUFFER, 0}, b = {HONE_LAUNCH_ARG_BUFFER, 1},
                          scratch = {HONE_LAUNCH_ARG_SCRATCH, 0};
    memset(out, 0, sizeof *out);
    set_values(out, elements);
    set_launch(out, 0, first, a, scratch);
    set_launch(out, 1, second, scratch, b);
    set_rest(out, first, elements, 2);
}

hone_device_artifact device_artifact(void) {
    const char *text = device_kernels_ptx();
    return (hone_device_artifact){.bytes = (const uint8_t *)text, .byte_count = strlen(text)};
}
