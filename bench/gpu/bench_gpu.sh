#!/bin/bash
# Kernels by their default schedules (or a database's records) on the GPU of this machine, beside
# torch where python3 has it: Hone, torch and Hone again for each work, the better of Hone's two.
#
#   bench_gpu.sh HONE [OUT.json] [WORK...]     HONE: the program; all works of works.txt by default
#
# HONE_BENCH_TARGET: cuda by default. HONE_BENCH_ARGS goes to `hone run`, as --unsandboxed or --db FILE.
# Times are those of the device (events around 0.5 s of runs, buffers warm). A line of OUT.json for each
# work; exit 1 where one has no time.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
hone=$1 out=${2:-/dev/null} target=${HONE_BENCH_TARGET:-cuda} code=0
shift $(($# > 2 ? 2 : $#))
wanted=" $* "
read -ra more <<<"${HONE_BENCH_ARGS-}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
: >"$out"

# The program of one operator, as kernels are made of it.
make_program() { # INPUTS EXPRESSION
    local input name sizes type params=
    for input in $1; do
        IFS=: read -r name sizes type <<<"$input"
        params+="${params:+, }$name: R.Tensor((${sizes//,/, }$([ "$sizes" = "${sizes#*,}" ] && echo ,)), \"$type\")"
    done
    printf 'from tvm.script import relax as R\n\n@R.function\ndef main(%s):\n    with R.dataflow():\n' "$params"
    printf '        out = %s\n        R.output(out)\n    return out\n' "$2"
}

# Of the sizes of x (N,H,W,C) and w (O,3,3,C).
make_conv() { # INPUTS
    local n h w c o
    IFS=':, ' read -r _ n h w c _ _ o _ <<<"$1"
    cat <<END
from tvm.script import tirx as T

@T.prim_func
def conv2d_nhwc(X: T.Buffer(($n, $h, $w, $c), "float16"), W: T.Buffer(($o, 3, 3, $c), "float16"),
                Y: T.Buffer(($n, $h, $w, $o), "float32")):
    P = T.alloc_buffer(($n, $((h + 2)), $((w + 2)), $c), "float16")
    for n, y, x, c in T.grid($n, $((h + 2)), $((w + 2)), $c):
        with T.sblock("P"):
            vn, vy, vx, vc = T.axis.remap("SSSS", [n, y, x, c])
            P[vn, vy, vx, vc] = T.if_then_else(1 <= vy and vy < $((h + 1)) and 1 <= vx and vx < $((w + 1)),
                                               X[vn, vy - 1, vx - 1, vc], T.float16(0))
    for n, y, x, o, r, s, c in T.grid($n, $h, $w, $o, 3, 3, $c):
        with T.sblock("Y"):
            vn, vy, vx, vo, vr, vs, vc = T.axis.remap("SSSSRRR", [n, y, x, o, r, s, c])
            with T.init():
                Y[vn, vy, vx, vo] = T.float32(0)
            Y[vn, vy, vx, vo] = Y[vn, vy, vx, vo] + T.Cast("float32", P[vn, vy + vr, vx + vs, vc]) * \
                T.Cast("float32", W[vo, vr, vs, vc])
END
}

# The program, and the kernels that it is made of, in "$dir/kernels.py".
make_kernels() { # INPUTS EXPRESSION
    if [ "$2" = conv2d_nhwc ]; then
        make_conv "$1" >"$dir/kernels.py"
        return
    fi
    make_program "$1" "$2" >"$dir/work.py"
    "$hone" pass "$dir/work.py" --pipeline prepare -o "$dir/kernels.py" >"$dir/said" 2>&1
}

# Nanoseconds, or nothing with what was said in "$dir/said".
time_hone() {
    local words
    if [ -n "$how" ]; then
        read -ra words <<<"$how"
        "$hone" compile "$dir/kernels.py" --func "$func" --target "$target" -o "$dir/made" -q \
            "${words[@]}" ${more[@]+"${more[@]}"} >"$dir/said" 2>&1 || return
        "$hone" run "$dir/made.so" --time >"$dir/said" 2>&1 || return
    else
        "$hone" run "$dir/kernels.py" --func "$func" --target "$target" --time \
            ${more[@]+"${more[@]}"} >"$dir/said" 2>&1 || return
    fi
    awk '/^time: median/ { scale["ns"] = 1; scale["us"] = 1e3; scale["ms"] = 1e6; scale["s"] = 1e9
                           sub(",", "", $4); printf "%.1f\n", $3 * scale[$4] }' "$dir/said"
}

trim() {
    sed 's/^ *//; s/ *$//' <<<"$1"
}

rate() { # COUNT-WITH-KIND NANOSECONDS
    awk -v kind="${1%% *}" -v count="${1#* }" -v ns="${2:-0}" 'BEGIN {
        if (ns <= 0) print "-"
        else printf kind == "F" ? "%.1f TFLOP/s\n" : "%.0f GB/s\n", count / ns / (kind == "F" ? 1e3 : 1) }'
}

while IFS='|' read -r name inputs expression torch count how; do
    name=$(trim "${name#"${name%%[!+*]*}"}") inputs=$(trim "$inputs") count=$(trim "$count")
    how=$(trim "$how")
    if [ -z "$name" ] || [ "${name#\#}" != "$name" ]; then continue; fi
    [ "$wanted" = "  " ] || [ "${wanted#* "$name" }" != "$wanted" ] || continue
    if ! make_kernels "$inputs" "$(trim "$expression")"; then
        printf '%s: FAILED: %s\n' "$name" "$(head -3 "$dir/said")"
        code=1
        continue
    fi
    mapfile -t kernels < <(sed -n 's/^ *def \([a-z_0-9]*\)(.*T\.Buffer.*/\1/p' "$dir/kernels.py")
    first=0 second=0 why=
    for func in "${kernels[@]}"; do
        ns=$(time_hone) || why=$(tail -1 "$dir/said")
        first=$(awk "BEGIN { print $first + ${ns:-0} }")
    done
    other=$(python3 "$here/torch_work.py" "$inputs" "$(trim "$torch")" 2>/dev/null | tail -1)
    for func in "${kernels[@]}"; do
        ns=$(time_hone) || why=$(tail -1 "$dir/said")
        second=$(awk "BEGIN { print $second + ${ns:-0} }")
    done
    best=$(awk "BEGIN { print $first < $second ? $first : $second }")
    if [ -n "$why" ] || [ "$best" = 0 ]; then
        printf '%s: FAILED: %s\n' "$name" "$why"
        code=1
        continue
    fi
    printf '%-22s %10.1f us  %s' "$name" "$(awk "BEGIN { print $best / 1e3 }")" "$(rate "$count" "$best")"
    if [ -n "$other" ]; then
        printf '   torch %10.1f us  %s   ratio %.2f' "$(awk "BEGIN { print $other / 1e3 }")" \
            "$(rate "$count" "$other")" "$(awk "BEGIN { print $other / $best }")"
    fi
    printf '\n'
    printf '{"work": "%s", "hone_ns": [%s, %s], "torch_ns": %s, "count": "%s", "kernels": %d}\n' "$name" \
        "$first" "$second" "${other:-null}" "$count" "${#kernels[@]}" >>"$out"
done <"$here/works.txt"
exit "$code"
