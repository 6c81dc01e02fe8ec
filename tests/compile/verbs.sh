#!/bin/sh
# compile, run and bench as users type them: exit codes, messages, files; classify.c with the header
# of a model. Usage: verbs.sh HONE
set -u
hone=$1
source=${HONE_SOURCE_DIR:-.}
models=$source/examples/fashion_mnist
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failures=0

# expect CODE PATTERN COMMAND…: the exit code, and a pattern in what it prints ("" = any)
expect() {
    code=$1 pattern=$2
    shift 2
    "$@" >printed 2>&1
    got=$?
    if [ $got -ne "$code" ] || { [ -n "$pattern" ] && ! grep -q -e "$pattern" printed; }; then
        echo "FAILED (exit $got, wanted $code, '$pattern'): $*"
        cat printed
        failures=$((failures + 1))
    fi
}

expect 0 "2 with default schedules" "$hone" compile "$models/mlp.onnx" -o out/mlp
expect 0 "2 plain" "$hone" compile "$models/mlp.onnx" -o out/plain.so --no-schedule
expect 0 '"plain": 2' "$hone" compile "$models/mlp.onnx" -o out/plain --no-schedule --json
expect 0 "wrote out/cnn.weights" "$hone" compile "$models/cnn_batch.onnx" -o out/cnn --weights beside
for emit in a obj llvm asm program; do
    expect 0 "wrote out/text" "$hone" compile "$models/mlp.onnx" -o out/text --emit $emit
done
# Labels of the same name in several kernels are of one each.
expect 0 "" "$hone" compile "$models/cnn.onnx" -o out/several --emit asm
expect 0 "" as -o out/several.o out/several.s
grep -q "define i32" out/text.ll || expect 0 "define i32" cat out/text.ll
expect 0 "" "$hone" verify out/text.py
expect 0 "wrote .*/out/lines.lines/.*relu.py" "$hone" compile "$models/mlp.onnx" -o out/lines --lines
expect 0 "/out/lines.lines" strings out/lines.so
expect 0 "wrote out/lines.s" "$hone" compile "$models/mlp.onnx" -o out/lines -g --emit asm
expect 0 "\.loc" cat out/lines.s
expect 2 "are for machine code" "$hone" compile "$models/mlp.onnx" -o out/lines -g --emit c
expect 2 "must be so, a, obj" "$hone" compile "$models/mlp.onnx" --emit elf
expect 2 "must be auto, embed or beside" "$hone" compile "$models/mlp.onnx" --weights there
expect 2 "cannot open" "$hone" compile absent.onnx
expect 2 "must be NAME=SIZE" "$hone" compile "$models/mlp.onnx" --shape N
expect 2 "absent.db" "$hone" compile "$models/mlp.onnx" --db absent.db
head -c 2000 "$models/mlp.onnx" >cut.onnx
expect 2 "cut.onnx" "$hone" compile cut.onnx
touch file
expect 3 "'file' is no directory" "$hone" compile "$models/mlp.onnx" -o file/mlp

expect 0 "logits float32\[1, 10\]" "$hone" run out/mlp.so --out-dir results
expect 0 "logits: right" "$hone" run "$models/mlp.onnx" --interpret --expect results/logits.npy
expect 0 "logits: right" "$hone" run "$models/mlp.onnx" --expect results/logits.npy
expect 0 "" "$hone" run "$models/cnn.onnx" --out-dir others
expect 1 "logits: WRONG" "$hone" run out/mlp.so --expect others/logits.npy
expect 0 "median" "$hone" run out/plain.so --time
expect 0 "float32\[7, 10\]" "$hone" run out/cnn.so --shape N=7 --out-dir results
expect 0 "logits: right" "$hone" run "$models/cnn_batch.onnx" --interpret --shape N=7 \
    --expect results/logits.npy
expect 2 "dimensions, wants 4" "$hone" run out/cnn.so --in results/logits.npy
expect 2 "there is 'main'" "$hone" run out/mlp.so --func other
expect 2 "no compiled model" "$hone" run /lib/x86_64-linux-gnu/libm.so.6
rm out/cnn.weights
expect 3 "cnn.weights" "$hone" run out/cnn.so
expect 0 "faster" "$hone" bench out/plain.so out/mlp.so --rounds 3
expect 0 '"high"' "$hone" bench out/plain.so out/mlp.so --rounds 3 --json
expect 2 "absent.so" "$hone" bench absent.so

data=/usr/share/datasets/fashion-mnist
if command -v cc >/dev/null && [ -d $data ] && [ -f /usr/include/zlib.h ]; then
    expect 0 "" cc -std=c99 -O1 -Wall -Wextra -Werror -I out -DMODEL_HEADER='"mlp.h"' \
        "$models/classify.c" -o classify -lz
    expect 0 "accuracy 89.13 %" ./classify out/mlp.so --logits logits.npy
    expect 0 '"accuracy": 0.89' ./classify out/plain.so --threads 1 --limit 1000 --json
    expect 1 "is no compiled model" ./classify /lib/x86_64-linux-gnu/libm.so.6
fi
[ $failures -eq 0 ] || exit 1
echo "all as expected"
