#!/bin/sh
# usage: run.sh HONE PYTHON [DIR]
# Exports the models with that Python (export_models.py), compiles each, runs it with inputs of
# several sizes and compares what comes out with what PyTorch says. Exit code 1: something differs.
set -eu
hone=$1 python=$2 out=${3:-build/pytorch}
here=$(dirname "$0")
"$python" -W ignore "$here/export_models.py" "$out" >"$out.log" 2>&1 || {
    tail -n 20 "$out.log"
    exit 1
}
failed=0
for model in "$out"/*.onnx; do
    name=$(basename "$model" .onnx)
    "$hone" compile "$model" -o "$out/$name" -q || failed=1
    for run in "$out/$name"/*/; do
        set --
        for input in "$run"*.npy; do
            set -- "$@" --in "$(basename "$input" .npy)=$input"
        done
        for result in "$run"expected/*.npy; do
            set -- "$@" --expect "$result"
        done
        if "$hone" run "$out/$name.so" -q "$@" >"$run/said.txt" 2>&1; then
            echo "ok    $name, run $(basename "$run")"
        else
            echo "FAIL  $name, run $(basename "$run"): $(tail -n 1 "$run/said.txt")"
            failed=1
        fi
    done
done
exit $failed
