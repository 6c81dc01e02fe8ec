/* bench/ops/ops_onednn_none.c - stands for the oneDNN peers where its headers are not installed. */
#include "bench/ops/ops.h"

static void *none_open(const ops_setup *setup, const char **out_reason) {
    (void)setup;
    *out_reason = "oneDNN was not there when this was built (scripts/setup)";
    return NULL;
}

const ops_peer ops_onednn_matmul = {.name = "oneDNN", .open = none_open};
const ops_peer ops_onednn_conv = {.name = "oneDNN", .open = none_open};
const ops_peer ops_onednn_winograd = {.name = "oneDNN Winograd", .open = none_open};
const ops_peer ops_onednn_rows = {.name = "oneDNN", .open = none_open};
