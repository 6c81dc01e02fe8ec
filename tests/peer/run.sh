#!/usr/bin/env bash
# A comparison with TVM, or onnx_models/onnx_*.py with onnxruntime, as a test (relax_random.py and
# numbers_edges.py have no peer):
#   tests/peer/run.sh BUILD_DIR SCRIPT.py [ARGUMENT...]
# Skipped (77) where that is not installed; `scripts/peers tvm onnxruntime` does it.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$1 script=$2
shift 2
peer=tvm
case $script in
onnx_models/*) peer=onnxruntime ;;
relax_random.py | numbers_edges.py) peer=numpy ;;
esac
python=$("$root/scripts/peers" --python 2>/dev/null || true)
if [ -z "$python" ] || ! "$python" -c "import $peer" >/dev/null 2>&1; then
    echo "skipped: $peer is not installed (scripts/peers $peer)"
    exit 77
fi
HONE_BUILD_DIR=$build exec "$python" "$root/tests/peer/$script" --out "$build/peer/$(basename "$script" .py)" "$@"
