#!/bin/sh
# usage: wheel.sh SOURCE_DIR WHEEL
# Installs a wheel in a fresh virtual environment, and tunes and runs a model there in five lines:
# without a compiler, a linker, an installed library, or numpy.
set -eu
source=$1 wheel=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=
for found in ${HONE_PYTHON:-} python3 /usr/bin/python3; do
    if "$found" -m venv "$work/env" >"$work/log" 2>&1; then python=$work/env/bin/python && break; fi
done
[ -n "$python" ] || { cat "$work/log" >&2; echo "there is no Python with venv" >&2; exit 77; }
"$python" -m pip install -q --no-index --disable-pip-version-check "$wheel"
cp "$source/tests/programs/matmul_relu.py" "$work/model.py"
cat >"$work/use.py" <<'CODE'
import hone
module = hone.load("model.py")
tuned = module.tune("tuned.db", trials=4, threads=1)
model = module.compile("tuned.db", threads=1)
inputs = [hone.Tensor.of([[1.0] * port.shape[1]] * port.shape[0]) for port in model.inputs()]
output = model(*inputs)
want = float(model.inputs()[0].shape[1])
assert set(hone.Tensor.tolist(output)) == {want}, output
assert tuned.tasks[0].best_ns > 0 and tuned.trials >= 1, tuned
assert model.report["kernels"][0]["from"] == "record", model.report
print("tuned and ran", ", ".join(model.functions))
CODE
cd "$work"
# programs of the system are out of reach: what is needed comes along
env -i PATH=/nonexistent HOME="$work" TMPDIR="$work" "$python" use.py
env -i PATH=/nonexistent "$work/env/lib/$(ls "$work/env/lib")/site-packages/hone/_native/hone" version
