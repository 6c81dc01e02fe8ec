#!/bin/sh
# usage: installed.sh SOURCE_DIR BUILD_DIR COMPILER SANITIZERS
# Installs into a temporary DESTDIR and builds a program against that tree alone: with pkg-config
# and with find_package(Hone), each run against the installed library.
set -eu
source_dir=$1
build_dir=$2
compiler=$3
sanitize=${4-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "installed.sh: $*" >&2
    exit 1
}

DESTDIR=$work/root cmake --install "$build_dir" --prefix /usr/local >"$work/log" 2>&1 ||
    { cat "$work/log"; fail "cmake --install failed"; }
tree=$work/root/usr/local
pc=$(find "$tree" -name hone.pc)
[ -n "$pc" ] || fail "no hone.pc in the installed tree"
library_dir=$(dirname "$(dirname "$pc")")
for tool in hone-runner hone-worker; do
    [ -x "$tree/bin/$tool" ] || fail "$tool is not installed"
    "$tree/bin/$tool" --version >/dev/null || fail "$tool --version failed"
done
[ "$(readlink "$library_dir/libhone.so")" = libhone.so.0 ] || fail "libhone.so is no link to its SONAME"

for file in man/man1/hone.1 bash-completion/completions/hone zsh/site-functions/_hone \
    fish/vendor_completions.d/hone.fish; do
    [ -s "$tree/share/$file" ] || fail "share/$file is not installed"
done

program=$source_dir/tests/programs/matmul_relu.py
try() { # what, program
    LD_LIBRARY_PATH=$library_dir "$2" "$program" >"$work/out" || fail "$1: the program failed"
    grep -q '^# well formed' "$work/out" || fail "$1: unexpected output"
}

cp "$source_dir/examples/capi/print_program.c" "$work/use.c"
flags=
[ -z "$sanitize" ] || flags=-fsanitize=$sanitize
# shellcheck disable=SC2046,SC2086
"$compiler" $flags -std=c11 -Wall -Wextra -Werror -o "$work/by_pkgconfig" "$work/use.c" \
    $(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --define-prefix --cflags --libs hone)
try pkg-config "$work/by_pkgconfig"

cat >"$work/CMakeLists.txt" <<'LISTS'
cmake_minimum_required(VERSION 3.16)
project(use LANGUAGES C)
find_package(Hone 0.1 REQUIRED)
add_executable(by_cmake use.c)
target_link_libraries(by_cmake PRIVATE Hone::hone)
LISTS
cmake -S "$work" -B "$work/build" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_C_FLAGS="$flags" \
    -DCMAKE_PREFIX_PATH="$tree" >"$work/log" 2>&1 || { cat "$work/log"; fail "find_package(Hone) failed"; }
cmake --build "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; fail "building by CMake failed"; }
try find_package "$work/build/by_cmake"

# every public header stands alone, in the tree of sources as well
for header in "$source_dir"/include/hone/*.h; do
    [ -f "$tree/include/hone/$(basename "$header")" ] || fail "$header is not installed"
    printf '#include <hone/%s>\ntypedef int not_empty;\n' "$(basename "$header")" |
        "$compiler" -std=c11 -Wall -Wextra -pedantic -Werror -fsyntax-only -I"$source_dir/include" -x c - ||
        fail "$header does not stand alone"
done

# and in C++, with all of them at once and a program that links
cxx=$(command -v "${CXX:-g++}") || { echo "no C++ compiler: the headers are not tried in C++"; exit 0; }
cat >"$work/use.cc" <<'CODE'
#include <cstring>
#include <utility>
#include <hone/hone.hpp>
int main(int, char **argv) {
    try {
        hone::Program::parse("def", "use.py");
        return 1;
    } catch (const hone::Error &error) {
        if (error.kind() != "invalid" || !std::strstr(error.what(), "use.py:1")) return 2;
    }
    hone::Program program = hone::Program::load(argv[1]);
    hone::Program again = hone::Program::parse(program.text());
    hone::Program moved = std::move(again);
    hone::Steps steps(program);
    if (moved != program || steps.program() != program || !program.findings().empty()) return 3;
    hone::Model model = program.build();
    try {
        model.run({}, {});
        return 4;
    } catch (const hone::Error &error) {
        if (error.kind() != "invalid") return 5;
    }
    return std::strcmp(hone_version(), HONE_VERSION) == 0 ? 0 : 6;
}
CODE
for header in "$tree"/include/hone/*.h; do
    "$cxx" -std=c++17 -Wall -Wextra -pedantic -Werror -fsyntax-only -I"$tree/include" -x c++ \
        "$header" || fail "$header is no C++"
done
# shellcheck disable=SC2046,SC2086
"$cxx" $flags -std=c++17 -Wall -Wextra -pedantic -Werror -o "$work/by_cxx" "$work/use.cc" \
    $(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --define-prefix --cflags --libs hone)
LD_LIBRARY_PATH=$library_dir "$work/by_cxx" "$program" || fail "the C++ program failed"
