#!/bin/sh
# Models in a program of a user's: user_threads.c, built with nothing but the generated header.
# Usage: user_threads.sh HONE
set -eu
hone=$1
source=${HONE_SOURCE_DIR:-.}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for model in mlp mlp_batch cnn; do
    "$hone" compile "$source/examples/fashion_mnist/$model.onnx" -o "$dir/first" --threads 2 -q
    cp "$dir/first.so" "$dir/second.so"
    cp "$dir/first.so" "$dir/third.so"
    cc -std=c11 -O1 -Wall -Wextra -I "$dir" -DMODEL_HEADER='"first.h"' "$source/tests/compile/user_threads.c" -o "$dir/user" -ldl -lpthread
    echo "$model"
    "$dir/user" "$dir/first.so" "$dir/second.so" "$dir/third.so"
done
