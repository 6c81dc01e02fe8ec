#!/bin/sh
# usage: workflow.sh SOURCE_DIR BUILD_DIR
# The workflows of the public chapters as their users type them: verify, schedule, equal, tune with a
# space of one's own, compile, run, and compare with the interpreter.
set -eu
programs=$1/tests/programs
hone=$2/hone
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "workflow.sh: $*" >&2
    exit 1
}
expect_exit() { # code, command…
    want=$1
    shift
    code=0
    "$@" >out.txt 2>&1 || code=$?
    [ "$code" -eq "$want" ] || { cat out.txt; fail "exit $code, not $want: $*"; }
}
# What the interpreter makes of FILE goes to DIR; another file must agree with it on the same inputs.
interpret() { # FILE, DIR, options…
    file=$1
    dir=$2
    shift 2
    mkdir -p "$dir"
    expect_exit 0 "$hone" run "$file" --interpret --out-dir "$dir" "$@"
    result=$(find "$dir" -name '*.npy')
    [ -n "$result" ] || fail "$file: no result in $dir"
}
agree() { # FILE, options…
    expect_exit 0 "$hone" run "$@" --expect "$result"
}

# a wrong domain is refused with the place
expect_exit 1 "$hone" verify "$programs/matmul_relu_bad_axis.py"
grep -q 'matmul_relu_bad_axis.py:[0-9]' out.txt || fail "verify gives no place: $(cat out.txt)"
expect_exit 0 "$hone" verify "$programs/matmul_relu.py"

# transform one function, run what comes out
interpret "$programs/matmul_relu.py" reference
expect_exit 0 "$hone" schedule "$programs/matmul_relu.py" --trace "$programs/traces/matmul_relu.py" -o tiled.py
expect_exit 1 "$hone" equal "$programs/matmul_relu.py" tiled.py
agree tiled.py
agree tiled.py --interpret

# transform a program into a given one
expect_exit 0 "$hone" schedule "$programs/batch_matmul_relu.py" --trace "$programs/traces/batch_matmul_relu.py" -o got.py
expect_exit 0 "$hone" equal got.py "$programs/batch_matmul_relu_target.py"

# a step that is not legal: exit 2, the step's number, the place
printf 'b0 = sch.get_block(name="M", func_name="matmul_relu")\nl1, l2, l3 = sch.get_loops(block=b0)\nsch.parallel(loop=l3)\n' >bad.py
expect_exit 2 "$hone" schedule "$programs/matmul_relu.py" --trace bad.py
grep -q 'step 3' out.txt || fail "no step in: $(cat out.txt)"

# search over a space of one's own, then over the rules'
interpret "$programs/matmul_float_init.py" searched
expect_exit 0 "$hone" tune "$programs/matmul_float_init.py" --db tuned.db --trials 4 --threads 1 --strategy random \
    --space "$programs/traces/matmul_float_init_stochastic.py" --no-report
expect_exit 0 "$hone" tune "$programs/matmul_float_init.py" --db tuned.db --trials 6 --threads 1 --no-report
expect_exit 0 "$hone" db sql tuned.db "SELECT count(*) AS n FROM v_trials WHERE outcome = 'ok'"
expect_exit 0 "$hone" compile "$programs/matmul_float_init.py" --db tuned.db --threads 1 -o best
grep -q '1 from records' out.txt || fail "no record was used: $(cat out.txt)"
agree best.so

# and back to the whole model
interpret "$programs/mlp_call_tir.py" whole
expect_exit 0 "$hone" tune "$programs/mlp_call_tir.py" --db tuned.db --trials 6 --threads 1 --no-report
expect_exit 0 "$hone" compile "$programs/mlp_call_tir.py" --db tuned.db --threads 1 -o mlp
agree mlp.so
interpret "$programs/mlp_operators.py" operators
agree "$programs/mlp_operators.py"
# tiles of 16 x 16 x 16 by an intrinsic that calls a C function
cat >tile16.c <<'END'
int tile16(float *c, const float *a, const float *b, int step_a, int step_b, int step_c) {
    for (int i = 0; i < 16; i++) {
        for (int j = 0; j < 16; j++) {
            for (int k = 0; k < 16; k++)
                c[i * step_c + j] += a[i * step_a + k] * b[j * step_b + k];
        }
    }
    return 0;
}
END
expect_exit 0 cc -O2 -shared -fPIC -o libtile16.so tile16.c
expect_exit 0 "$hone" schedule "$programs/matmul_nt.py" --trace "$programs/traces/matmul_nt_tile16.py" \
    --intrin "tile16=$programs/tile16_intrin.py" -o tiles.py
expect_exit 0 "$hone" verify tiles.py
interpret tiles.py tiles --extern ./libtile16.so
agree "$programs/matmul_nt.py"
agree "$programs/matmul_block16.py"
expect_exit 0 "$hone" compile tiles.py --no-schedule --threads 1 -o tiles
agree tiles.so --extern ./libtile16.so
expect_exit 2 "$hone" run tiles.so
grep -q tile16 out.txt || fail "no function named in: $(cat out.txt)"
expect_exit 2 "$hone" schedule "$programs/matmul_nt.py" --trace "$programs/traces/matmul_nt_tile16.py"
grep -q "no tensor intrinsic 'tile16'" out.txt || fail "no intrinsic named in: $(cat out.txt)"
# the same with the function as C source, then as LLVM IR, in the schedule
for kind in c llvm; do
    expect_exit 0 "$hone" schedule "$programs/matmul_nt.py" --trace "$programs/traces/matmul_nt_kernel_$kind.py" \
        --intrin "tile16=$programs/tile16_intrin.py" -o kernel_$kind.py
    expect_exit 0 "$hone" compile kernel_$kind.py --no-schedule --threads 1 -o kernel_$kind
    agree kernel_$kind.so
done
expect_exit 0 "$hone" compile kernel_c.py --no-schedule --emit c -o kernel_c
expect_exit 0 cc -std=c11 -c kernel_c.c -o kernel_c.o
# the trace as a design space: its intrinsic is named wherever it is replayed
nt="$programs/matmul_nt.py"
expect_exit 0 "$hone" tune "$nt" --space "$programs/traces/matmul_nt_kernel_c.py" --db nt.db --trials 2 --threads 1 \
    --intrin "tile16=$programs/tile16_intrin.py" --no-report
expect_exit 0 "$hone" compile "$nt" --db nt.db --threads 1 --intrin "tile16=$programs/tile16_intrin.py" -o tuned_nt
grep -q record out.txt || fail "no record in: $(cat out.txt)"
agree tuned_nt.so
expect_exit 0 "$hone" db explain nt.db "$nt" --threads 1 --intrin "tile16=$programs/tile16_intrin.py"
grep -q exact out.txt || fail "no exact record in: $(cat out.txt)"
"$hone" db show nt.db 1 --intrin "tile16=$programs/tile16_intrin.py" >1.txt
"$hone" db show nt.db 2 --intrin "tile16=$programs/tile16_intrin.py" >2.txt
cat 1.txt 2.txt | grep -q "import_c" || fail "neither record is of the tiles: $(cat 1.txt 2.txt)"
expect_exit 2 "$hone" tune "$nt" --space "$programs/traces/matmul_nt_kernel_c.py" --db no.db --trials 2 --no-report
sed 's/return 0/return O/' kernel_c.py >wrong.py
expect_exit 2 "$hone" compile wrong.py --no-schedule -o wrong
grep -q 'text0.c:[0-9]' out.txt || fail "no place in: $(cat out.txt)"
sed 's/ret i32 0/ret i33 0/' kernel_llvm.py >wrong.py
expect_exit 2 "$hone" compile wrong.py --no-schedule -o wrong
grep -q 'pragma_import_llvm' out.txt || fail "no pragma in: $(cat out.txt)"
echo "all workflows work"
