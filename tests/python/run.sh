#!/bin/sh
# usage: run.sh SOURCE_DIR BINARY_DIR unit TEST | torch TEST | types | documents | steps | oldest
# One kind of test of the Python package, against the library of this build; exit 77 where there is
# no Python with what it needs.
set -eu
source=$1 build=$2 what=$3
export HONE_LIBRARY="$build/libhone.so" HONE="$build/hone" HONE_SOURCE_DIR="$source"
export PYTHONPATH="$source/python/src:$source/tests/python" PYTHONDONTWRITEBYTECODE=1

find_python() { # MODULE: the first Python that has it
    peers=$("$source/scripts/peers" --python 2>/dev/null || true)
    for python in ${HONE_PYTHON:-} python3 /usr/bin/python3 $peers; do
        if "$python" -c "import $1, sys; sys.exit(sys.version_info < (3, 9))" 2>/dev/null; then
            echo "$python"
            return
        fi
    done
    echo "there is no Python of 3.9 or later with $1" >&2
    exit 77
}

case $what in
unit)
    python=$(find_python numpy)
    exec "$python" -m unittest -b "$4"
    ;;
torch)
    python=$(find_python torch)
    exec "$python" -m unittest -b "$4"
    ;;
types)
    python=$(find_python mypy)
    cd "$source/python"
    exec "$python" -m mypy --cache-dir "$build/mypy"
    ;;
documents)
    python=$(find_python numpy)
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    cd "$work"
    "$python" "$source/tests/python/documents.py" "$source/docs/python.md" \
        "$source/python/src/hone/script.py"
    ;;
oldest) # by vermin (scripts/peers vermin): nothing needs a Python later than 3.9
    python=$(find_python vermin)
    exec "$python" -c "import vermin; vermin.main()" -t=3.9- --violations --no-tips \
        "$source/python/src/hone" "$source/python/build_hook.py"
    ;;
steps)
    python=$(find_python ctypes)
    exec "$python" "$source/python/generate.py" --check
    ;;
*)
    echo "run.sh: there is no test '$what'" >&2
    exit 2
    ;;
esac
