#!/bin/sh
# Four works of the bench of GPUs on the fake driver: one of each form. Usage: bench_dry.sh BUILD
set -eu
build=$1
source=${HONE_SOURCE_DIR:-.}
out=$(mktemp)
trap 'rm -f "$out"' EXIT
LD_LIBRARY_PATH=$build/tests/fake_cuda_any HONE_BENCH_TARGET=nvidia/nvidia-h100 \
    "$source/bench/gpu/bench_gpu.sh" "$build/hone" "$out" matmul_f16_1024 softmax_f16 conv_7x7x512_f16 \
    matmul_tf32_1024
[ "$(grep -c '"hone_ns": \[[1-9]' "$out")" = 4 ]
