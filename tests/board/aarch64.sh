#!/bin/bash
# hone-runner for aarch64, cross-built and run by qemu-user: aarch64.sh BUILD_DIR STEP.
#   build                    makes BUILD_DIR/aarch64; the other steps need it
#   hostile, local, daemon   the runner's conformance tests on it
#   farm                     a tune whose device it is
# Exit 77 = skipped, with the reason; scripts/setup --aarch64 installs what is needed.
set -eu
build=$1 step=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
board=$build/aarch64

skip() {
    echo "skipped: $1; scripts/setup --aarch64 installs it"
    exit 77
}

emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64) || skip "no qemu-aarch64"
command -v aarch64-linux-gnu-gcc >/dev/null || skip "no aarch64-linux-gnu-gcc"
for library in libzmq libsodium jansson libxxhash libcbor; do
    PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig \
        pkg-config --exists "$library" || skip "no $library for arm64"
done

case $step in
build)
    # only the runner is linked: a short build, once
    cmake -S "$source" -B "$board" -G Ninja -DHONE_RUNNER_ONLY=ON -DHONE_WERROR=ON \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_TOOLCHAIN_FILE="$source/cmake/aarch64-linux-gnu.cmake"
    cmake --build "$board" -j 2
    cmake --build "$board" -j 2 --target candidates candidate_externs candidate_die_at_load
    "$emulator" "$board/hone-runner" --version
    ;;
hostile | local | daemon)
    [ -x "$board/hone-runner" ] || skip "the runner for aarch64 was not built"
    HONE_TEST_BOARD=$board HONE_TEST_LAUNCHER=$emulator "$build/tests/test_runner_$step"
    ;;
farm)
    [ -x "$board/hone-runner" ] || skip "the runner for aarch64 was not built"
    python3 "$source/tests/board/aarch64_farm.py" "$build" "$emulator"
    ;;
*)
    echo "unknown step '$step'" >&2
    exit 2
    ;;
esac
