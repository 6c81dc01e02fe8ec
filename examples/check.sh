#!/bin/sh
# usage: check.sh SOURCE_DIR BINARY_DIR [--update]
# Runs each example as its head comment says, and compares what it prints with
# examples/capi/expected/NAME.txt. --update writes those files: review them.
set -eu
source=$1 build=$2 update=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$source"
failed=0

check() { # NAME ARGUMENTS...: the example of that name
    name=$1
    shift
    if ! "$build/examples/example_$name" "$@" >"$work/said.txt" 2>&1; then
        echo "$name $*: exit code is not 0" >&2
        cat "$work/said.txt" >&2
        failed=1
        return
    fi
    sed 's/, for llvm .*/, for THIS MACHINE/' "$work/said.txt" >"$work/out.txt"
    if [ -n "$update" ]; then
        cp "$work/out.txt" "examples/capi/expected/$name.txt"
    elif ! diff -u "examples/capi/expected/$name.txt" "$work/out.txt" >&2; then
        failed=1
    fi
}

check print_program tests/programs/matmul_relu.py
check replay_trace tests/programs/matmul_relu.py tests/programs/traces/matmul_relu.py
check build_matmul_relu
check build_mlp
check schedule_steps tests/programs/matmul_relu.py
check own_pass examples/capi/twice.py
check graph_pass examples/capi/layers.py
check fuse_multiply_add tests/programs/mul_add.py
check tile_intrinsic tests/programs/matmul_nt.py tests/programs/tile16_intrin.py
"$build/hone" compile tests/programs/mlp_mixture_static.py --threads 1 -o "$work/mixture" -q >/dev/null
check call_library "$work/mixture.so"
"$build/hone" db import "$work/records.db" examples/capi/records.jsonl >/dev/null
check best_records "$work/records.db"
"$build/hone" compile tests/programs/matmul_relu.py --threads 1 -o "$work/model" -q >/dev/null
check run_model "$work/model.so"
check tune_and_run tests/programs/matmul_relu.py "$work/tuned.db" 2

# the same by commands: what a formula builds is a program like any other
"$build/examples/example_build_matmul_relu" >"$work/built.py"
"$build/hone" verify "$work/built.py" >/dev/null
"$build/examples/example_build_mlp" >"$work/mlp.py"
"$build/hone" verify "$work/mlp.py" >/dev/null
"$build/hone" schedule tests/programs/matmul_relu.py --trace tests/programs/traces/matmul_relu.py \
    -o "$work/scheduled.py" >/dev/null
"$build/examples/example_replay_trace" tests/programs/matmul_relu.py \
    tests/programs/traces/matmul_relu.py >"$work/replayed.py"
"$build/hone" equal "$work/scheduled.py" "$work/replayed.py"
exit $failed
