#!/bin/bash
# Models on CPUs that qemu-user plays: one that has what a model was compiled for computes what this
# machine computes; one that lacks it gets the model's words, not SIGILL.
# Usage: other_cpus.sh HONE x86|arm
set -eu
hone=$1 kind=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

skip() {
    echo "skipped: $1"
    exit 77
}

compile() { # NAME TARGET
    "$hone" compile "$source/tests/programs/matmul_relu.py" -q -o "$dir/$1" --target "$2"
}

program() { # COMPILER NAME
    "$1" -std=gnu11 -O1 -Wall -Wextra -I "$dir" -DMODEL_HEADER="\"$2.h\"" \
        "$source/tests/compile/call_model.c" -o "$dir/$2" -ldl -lpthread
}

# MODEL PROGRAM CPU EXPECTED, a pattern: what comes out, its exit code behind it
check() {
    local got
    got=$("${emulate[@]}" -cpu "$3" "$dir/$2" "$dir/$1.so" 2>"$dir/log" && echo 0 || echo $?)
    # shellcheck disable=SC2053
    [[ $got == $4 ]] && return
    echo "$1 on $3: got '$got', wanted '$4'"
    cat "$dir/log"
    exit 1
}

compile plain "llvm -mcpu=x86-64"
program cc plain
right=$("$dir/plain" "$dir/plain.so")

case $kind in
x86)
    emulator=$(command -v qemu-x86_64 || command -v qemu-x86_64-static) || skip "no qemu-x86_64"
    emulate=("$emulator")
    compile v2 "llvm -mcpu=x86-64-v2"
    compile v3 "llvm -mcpu=x86-64-v3"
    compile v4 "llvm -mcpu=x86-64-v4"
    compile zen4 "llvm -mcpu=znver4"
    check plain plain core2duo "$right"$'\n0'
    check v2 plain core2duo "-2: this CPU lacks sse4.1, *"$'\n1'
    check v2 plain Nehalem "$right"$'\n0'
    check v3 plain Nehalem "-2: this CPU lacks *avx2, *"$'\n1'
    check v3 plain Haswell "$right"$'\n0'
    check v4 plain Haswell "-2: this CPU lacks avx512f, *"$'\n1'
    check zen4 plain Haswell "-2: this CPU lacks *avx512bf16, *"$'\n1'
    ;;
arm)
    emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64) || skip "no qemu-aarch64"
    command -v aarch64-linux-gnu-gcc >/dev/null || skip "no aarch64-linux-gnu-gcc"
    emulate=("$emulator" -L /usr/aarch64-linux-gnu)
    compile a72 "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72"
    compile a76 "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76"
    compile v1 "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1"
    compile a510 "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a510"
    compile v3 "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v3"
    program aarch64-linux-gnu-gcc a72
    check a72 a72 cortex-a72 "$right"$'\n0'
    check a76 a72 cortex-a76 "$right"$'\n0'
    check a76 a72 cortex-a72 "-2: this CPU lacks lse, rdm, fullfp16, dotprod, *"$'\n1'
    check v1 a72 cortex-a76 "-2: this CPU lacks *i8mm*"$'\n1'
    check v1 a72 max "$right"$'\n0'
    check a510 a72 cortex-a76 "-2: this CPU lacks *sve2*"$'\n1'
    check a510 a72 max "$right"$'\n0'
    check v3 a72 cortex-a76 "-2: this CPU lacks *sve2*"$'\n1'
    ;;
esac
