#!/usr/bin/env bash
# A comparison with TVM as a test: tests/peer/run.sh BUILD_DIR SCRIPT.py [ARGUMENT...]
# Skipped (77) where TVM is not installed; `scripts/peers tvm` does that.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$1 script=$2
shift 2
python=$("$root/scripts/peers" --python 2>/dev/null || true)
if [ -z "$python" ] || ! "$python" -c "import tvm" >/dev/null 2>&1; then
    echo "skipped: TVM is not installed (scripts/peers tvm)"
    exit 77
fi
HONE_BUILD_DIR=$build exec "$python" "$root/tests/peer/$script" --out "$build/peer/${script%.py}" "$@"
