/* tools/cli/cli_target.c - see cli_target.h. */
#include "tools/cli/cli_target.h"

#include <string.h>

#include "runtime/cuda/device_cuda.h"
#include "runtime/opencl/opencl_api.h"

/* *out_is_there: false where there is none, or no driver. */
static hone_status find_card(hone_target *out_target, bool *out_is_there) {
    hone_cuda_facts cards[HONE_CUDA_MAX_CARDS];
    int32_t count;
    hone_status st = hone_cuda_list(cards, &count);
    *out_is_there = !st && count > 0;
    hone_status_free(st);
    return *out_is_there ? hone_cuda_target(&cards[0], out_target) : HONE_OK;
}

hone_status hone_cli_read_target(const char *text_or_null, int64_t threads,
                                 hone_target *out_target) {
    bool is_there = false;
    if (text_or_null && strcmp(text_or_null, "cuda") == 0) {
        HONE_TRY(find_card(out_target, &is_there));
    } else if (text_or_null && strcmp(text_or_null, "opencl") == 0) {
        is_there = hone_status_consume(hone_opencl_first_target(out_target)) == HONE_CODE_OK;
    }
    return is_there ? HONE_OK : hone_target_read(text_or_null, threads, out_target);
}
