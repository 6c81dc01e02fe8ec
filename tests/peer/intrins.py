"""The built-in tensor intrinsics beside TVM's: the same name, the same programs.

    python intrins.py [--out DIR]

Each description of TVM is tensorized with its own name, by TVM and by Hone; then whole products with
tiles of wmma and dot products of VNNI, whose traces Hone replays. What the CPU ones are implemented
by differs on purpose (docs/differences.md). Exit code 1: a name that Hone has not or refuses, or a
program that is not TVM's in loops, blocks and allocations.
"""
import argparse
import collections
import os
import sys

import quick_tvm  # pylint: disable=unused-import  # before the next
import tvm
from tvm import s_tir
from tvm.s_tir import TensorIntrin
from tvm.s_tir.tensor_intrin import arm_cpu, cuda, dot_product_common, hexagon, metal, rocm, x86  # noqa: F401 (registers)
from tvm.script import from_source

import compare
from hone_cli import Hone, ROOT

OWN_WAY = ("dot_", "sdot4")  # implemented by plain loops here
MATMUL = """# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((64, 48), "{a}"), B: T.Buffer({b_shape}, "{b}"), C: T.Buffer((64, 32), "{c}")):
    for i, j, k in T.grid(64, 32, 48):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.{c}(0)
            C[vi, vj] = C[vi, vj] + T.cast(A[vi, vk], "{c}") * T.cast(B[{b_index}], "{c}")
"""


def builtin_names():
    path = os.path.join(ROOT, "schedule", "intrin", "tensor_intrin_names.def")
    with open(path, encoding="utf-8") as file:
        return [line.split('"')[1] for line in file if line.startswith("HONE_TENSOR_INTRIN(")]


def description_case(name):
    """The description as a program of its own, tensorized from its first loop on."""
    head, root, rest = TensorIntrin.get(name).desc.script().partition('T.sblock("root")')
    text = head + root + rest.replace('T.sblock("root")', 'T.sblock("inner")')
    desc = compare.only_func(compare.parse(text))
    sch = s_tir.Schedule(tvm.IRModule({"main": desc.with_attr("global_symbol", "main")}))
    before = sch.mod.script()
    (block,) = sch.get_child_blocks(sch.get_sblock("root"))
    sch.tensorize(sch.get_loops(block)[0], name)
    return before, sch


def matmul(in_dtype, out_dtype, is_trans, b_dtype=None):
    text = MATMUL.format(a=in_dtype, b=b_dtype or in_dtype, c=out_dtype,
                         b_shape="(32, 48)" if is_trans else "(48, 32)",
                         b_index="vj, vk" if is_trans else "vk, vj")
    return s_tir.Schedule(tvm.IRModule({"main": from_source(text)}))


def wmma_case(in_dtype, out_dtype, is_trans):
    """Tiles of 16 through shared memory, registers of a warp, and back."""
    sch = matmul(in_dtype, out_dtype, is_trans)
    before = sch.mod.script()
    short = {"float16": "f16", "float32": "f32", "int8": "s8", "int32": "s32"}
    in_name, out_name, trans = short[in_dtype], short[out_dtype], "_trans" if is_trans else ""
    c = sch.get_sblock("C")
    i, j, k = sch.get_loops(c)
    i0, i1 = sch.split(i, [None, 16])
    j0, j1 = sch.split(j, [None, 16])
    k0, k1 = sch.split(k, [None, 16])
    sch.reorder(i0, j0, k0, i1, j1, k1)
    tile = sch.blockize(i1)
    sch.bind(i0, "blockIdx.x")
    sch.bind(j0, "threadIdx.y")
    tiles = []
    for index, letter in ((0, "a"), (1, "b")):
        tiles.append(sch.cache_read(tile, index, f"wmma.matrix_{letter}"))
        sch.compute_at(tiles[-1], k0)
        shared = sch.cache_read(tiles[-1], 0, "shared")
        sch.compute_at(shared, k0)
    store = sch.cache_write(tile, 0, "wmma.accumulator")
    sch.reverse_compute_at(store, j0)
    init = sch.decompose_reduction(tile, k0)
    sch.tensorize(sch.get_loops(tiles[0])[-2], f"wmma_load_16x16x16_{in_name}_a_shared")
    sch.tensorize(sch.get_loops(tiles[1])[-2], f"wmma_load_16x16x16_{in_name}_b{trans}_shared")
    sch.tensorize(sch.get_loops(store)[-2], f"wmma_store_16x16x16_{out_name}_global")
    sch.tensorize(init, f"wmma_fill_16x16x16_{out_name}")
    sch.tensorize(tile, f"wmma_sync_16x16x16_{in_name}{in_name}{out_name}{trans}")
    return before, sch


def vnni_case():
    sch = matmul("uint8", "int32", True, "int8")
    before = sch.mod.script()
    c = sch.get_sblock("C")
    i, j, k = sch.get_loops(c)
    j0, j1 = sch.split(j, [None, 16])
    k0, k1 = sch.split(k, [None, 4])
    sch.reorder(i, j0, k0, j1, k1)
    sch.decompose_reduction(c, k0)
    # rows of four of B lie one behind the other
    sch.tensorize(j1, "dot_16x4_vnni")
    return before, sch


def cases():
    for name in builtin_names():
        if TensorIntrin.get(name, allow_missing=True) is not None:
            yield name, description_case, (name,)
    for in_dtype, out_dtype in (("float16", "float32"), ("float16", "float16"), ("int8", "int32")):
        for is_trans in (False, True):
            yield f"matmul {in_dtype} {out_dtype} {is_trans}", wmma_case, (in_dtype, out_dtype,
                                                                          is_trans)
    yield "matmul vnni", vnni_case, ()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default=None)
    args = parser.parse_args()
    hone, tally, bad = Hone(), collections.Counter(), 0
    lines = []
    for name, make, arguments in cases():
        try:
            before, sch = make(*arguments)
        except (RuntimeError, ValueError) as e:
            lines.append(f"{name}: TVM refuses: {str(e).strip().splitlines()[-1][:200]}")
            tally["TVM refuses"] += 1
            continue
        run = hone.schedule(before, str(sch.trace))
        what, why = compare.verdict(compare.parse(run.out), sch.mod) if run else ("refused",
                                                                                  run.message)
        is_own = what == "differs" and "dot_" in str(sch.trace)
        tally["own way" if is_own else what] += 1
        bad += what in ("refused", "differs") and not is_own
        if what != "equal" and not is_own:
            lines.append(f"{name}: {what}: {why[:300]}")
    lines.append("  ".join(f"{what} {count}" for what, count in sorted(tally.items())))
    print("\n".join(lines))
    if args.out:
        os.makedirs(args.out, exist_ok=True)
        with open(os.path.join(args.out, "report.txt"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
