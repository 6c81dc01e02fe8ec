#!/bin/sh
# usage: debian.sh SOURCE_DIR SUITE [WHEEL] DEB...
# In a bare root of Debian made by debootstrap: the packages (or a wheel) are installed there, and a
# program is tuned, compiled, and called from Python. Exit 77: no debootstrap, or not root.
set -eu
source=$1 suite=$2
shift 2
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
    echo "debian.sh wants root and debootstrap"
    exit 77
fi
root=$(mktemp -d)
trap 'umount -l "$root/dev" "$root/proc" 2>/dev/null || true; rm -rf --one-file-system "$root"' EXIT
chmod 755 "$root"
# shellcheck disable=SC2016
mirror=${HONE_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)}
debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$root.log" 2>&1 || { tail "$root.log"; exit 1; }
rm -f "$root.log"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mkdir "$root/work"
cp "$source/tests/programs/matmul_relu.py" "$root/work/model.py"
cp "$@" "$root/work"
inside() { chroot "$root" env -C /work HOME=/work DEBIAN_FRONTEND=noninteractive sh -eu; }
install() { echo "apt-get install -q -y --no-install-recommends $* >log 2>&1 || { tail log; exit 1; }" | inside; }
use_python() { # PYTHON
    inside <<END
cat >use.py <<CODE
import hone
module = hone.load("model.py")
tuned = module.tune("python.db", trials=4, threads=1)
model = module.compile("python.db", threads=1)
inputs = [hone.Tensor.of([[1.0] * port.shape[1]] * port.shape[0]) for port in model.inputs()]
assert set(hone.Tensor.tolist(model(*inputs))) == {float(model.inputs()[0].shape[1])}
assert model.report["kernels"][0]["from"] == "record", model.report
print("Python $1 tuned and ran")
CODE
$1 use.py
END
}

case $1 in
*.whl)
    install python3 python3-venv
    echo "python3 -m venv env && env/bin/pip install -q --no-index $(basename "$1")" | inside
    use_python env/bin/python
    exit 0
    ;;
esac
install /work/*.deb
inside <<'END'
hone tune model.py --db tuned.db --trials 4 -q >/dev/null
hone compile model.py --db tuned.db -o model | grep -q '1 from records'
hone db check tuned.db
for page in hone hone-runner hone-worker; do [ -s /usr/share/man/man1/$page.1.gz ]; done
for file in systemd/system/hone-tracker.service systemd/system/hone-runner.service; do [ -s /usr/lib/$file ]; done
END
# a farm, with what the units start
inside <<'END'
hone tracker --listen tcp://127.0.0.1:19190 --insecure --metrics 127.0.0.1:19191 >tracker.log 2>&1 &
tracker=$!
trap 'kill $tracker' EXIT
sleep 1
hone-runner --tracker tcp://127.0.0.1:19190 --insecure --device-key demo --cache cache --status status --idle-exit 60s >runner.log 2>&1 &
runner=$!
trap 'kill $runner $tracker' EXIT
timeout 120 hone tune model.py --db farm.db --trials 4 --device-key demo --tracker tcp://127.0.0.1:19190 --insecure -q >/dev/null ||
    { cat tracker.log runner.log; exit 1; }
hone-runner --check status
END
use_python python3
install gcc libc6-dev pkg-config
inside <<'END'
cat >use.c <<'CODE'
#include <hone/hone.h>
#include <stdio.h>
int main(void) { return printf("libhone %s\n", hone_version()) < 0; }
CODE
gcc use.c -o use $(pkg-config --cflags --libs hone)
./use
END
echo "remove: apt-get takes all of it away again"
echo "apt-get remove -q -y hone hone-runner libhone0 >log 2>&1 && ! command -v hone && ! ls /usr/lib/*/libhone*" | inside
