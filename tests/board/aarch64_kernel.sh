#!/bin/bash
# What holds candidates on a 64-bit ARM machine: aarch64_kernel.sh BUILD_DIR. Boots Debian's kernel in
# an emulated machine (unlike qemu-user that has seccomp, namespaces and Landlock), and runs there
# the tests of sandbox/ and runner/, as root and as somebody, and a hone-runner that says what holds.
# Exit 77 = skipped, with the reason; scripts/setup --aarch64 installs what is needed.
set -eu
build=$1
board=$build/aarch64
packages=${HONE_BOARD_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/hone/board}
libraries=/usr/lib/aarch64-linux-gnu

skip() {
    echo "skipped: $1; scripts/setup --aarch64 installs it"
    exit 77
}

machine=$(command -v qemu-system-aarch64) || skip "no qemu-system-aarch64"
emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64) || skip "no qemu-aarch64"
command -v aarch64-linux-gnu-gcc >/dev/null || skip "no aarch64-linux-gnu-gcc"
[ -e "$libraries/libcmocka.so" ] || skip "no libcmocka for arm64"
kernel=$(find "$packages/boot" -name 'vmlinuz-*' 2>/dev/null | sort | tail -n 1)
[ -n "$kernel" ] || skip "no kernel in $packages"
[ -x "$packages/bin/busybox" ] || skip "no busybox in $packages"
[ -x "$board/hone-runner" ] || skip "the runner for aarch64 was not built"

cmake --build "$board" -j 2 --target hone-runner test_asked test_filter test_file_policy test_layers \
    test_runner_escapes test_runner_hostile test_runner_local test_runner_unruly
rm -f "$board/tests/test_runner_libraries" # asks for OpenMP and BLAS of that machine

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{bin,proc,sys,dev,tmp,etc,board,lib}
chmod 755 "$root"
chmod 1777 "$root/tmp"
cp "$packages/bin/busybox" "$root/bin"
cp -a "$libraries" "$root/lib"
find "$root/lib" ! -type d ! -name '*.so*' -delete
ln -s aarch64-linux-gnu/ld-linux-aarch64.so.1 "$root/lib/ld-linux-aarch64.so.1"
cp -r "$board/hone-runner" "$board/tests" "$root/board"
printf '%s\n' root::0:0::/tmp:/bin/sh somebody::1000:1000::/tmp:/bin/sh >"$root/etc/passwd"
printf '%s\n' root::0: somebody::1000: >"$root/etc/group"
mkdir -p "$root/usr/lib" "$root/usr/include" # what tests of the file policy look for
touch "$root/usr/include/stdio.h" "$root/etc/ld.so.cache"
cat >"$root/init" <<'END'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
ifconfig lo 127.0.0.1
export HONE_TEST_BOARD=/board HONE_BUILD_DIR=/board HONE_SOURCE_DIR=/board XDG_CACHE_HOME=/tmp
/board/hone-runner --tracker tcp://127.0.0.1:9 --insecure --quiet none 2>/tmp/said &
for _ in $(seq 120); do
    grep -q 'held by' /tmp/said && break
    sleep 1
done
kill $!
grep 'held by' /tmp/said || cat /tmp/said
for user in root somebody; do
    for test in /board/tests/test_*; do
        [ -x "$test" ] || continue
        su -p -s /bin/sh $user -c "timeout 1200 $test" >/tmp/out 2>&1
        code=$?
        [ $code = 0 ] || cat /tmp/out
        echo "board: ${test##*/} as $user: exit $code, $(grep -c '\[       OK \]' /tmp/out) cases"
    done
done
echo "board: done"
poweroff -f
END
chmod +x "$root/init"
(cd "$root" && find . | "$emulator" "$packages/bin/busybox" cpio -o -H newc 2>/dev/null) | gzip -1 >"$board/initramfs.gz"

"$machine" -M virt -cpu max,pauth-impdef=on -smp 2 -m 2048 -nographic -no-reboot -net none \
    -kernel "$kernel" -initrd "$board/initramfs.gz" \
    -append "console=ttyAMA0 quiet panic=-1" </dev/null | sed -u 's/\r//g' >"$board/kernel.log"
cat "$board/kernel.log"
grep -q '^board: done$' "$board/kernel.log"
grep -q 'held by filter, limits, user [0-9]*, namespaces, landlock' "$board/kernel.log"
[ "$(grep -c '^board: .* exit 0,' "$board/kernel.log")" -ge 4 ]
! grep -q '^board: .* exit [1-9]' "$board/kernel.log"
