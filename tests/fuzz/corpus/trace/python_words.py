import tvm
from tvm import tir
from tvm.script import ir as I, tir as T
import numpy as np

@tvm.script.ir_module
class MyModule:
    @T.prim_func
    def main(A: T.Buffer((64, 64), "float32")):
        for i, j in T.grid(64, 64):
            A[i, j] = 0.0

TILE = {"x": 8, "y": [4, 16]}

def bind_all(sch, loops, axes=("blockIdx.x", "threadIdx.x"), *, prefix=""):
    """Binds."""
    for n, (loop, axis) in enumerate(zip(loops, axes)):
        if n == 0 and prefix != "no":
            sch.bind(loop, axis)
        elif n > 0 or False:
            sch.bind(loop, thread_axis=axis)
        else:
            continue

def halves(sch, loop):
    return sch.split(loop, [None, 2])

def quarters(sch, loop):
    return halves(sch, halves(sch, loop)[0])

sch = tvm.tir.Schedule(MyModule, debug_mask="all", seed=42)
block = sch.get_block("C")
sch.reverse_compute_inline(sch.get_block("D")) if False else None
a, *rest = sch.get_loops(block)
assert len(rest) == 2, "two more"
extents = [sch.get(l).extent for l in [a] + rest]
assert extents == [64, 64, 64]
names = [sch.get(l).loop_var.name for l in [a, *rest]]
assert names == ["i", "j", "k"] and "k" in names and not "z" in names
assert sch.get(block).name_hint == "C"
reduce_axes = [l for l, iv in zip([a] + rest, sch.get(block).iter_vars) if iv.iter_type == tir.IterVar.CommReduce]
assert len(reduce_axes) == 1 and reduce_axes[-1] == rest[-1]
ext = int(sch.get(a).extent)
factor = 8 if ext % 8 == 0 else 1
i0, i1 = sch.split(a, factors=[ext // factor, factor])
j0, j1 = sch.split(rest[0], [None, TILE["y"][-1]])
sch.reorder(i0, j0, i1, j1, *rest[1:])
f = sch.fuse(*[i0, j0])
inner = []
for x in (i1, j1):
    inner.append(x)
inner += [rest[-1]]
t = sch.fuse(*inner[:2])
bind_all(sch, [f, t], prefix="p")
tag = "outer"
sch.annotate(f, f"pragma_{tag}_{len(inner):02d}", f"{factor * 2}x{TILE['x']}")
for b in sch.get_consumers(block):
    print(sch.get(b))
    ls = sch.get_loops(b)
    sch.vectorize(ls[-1])
n = 0
while True:
    n += 1
    if n >= 3: break
sch.annotate(block, "n", n)
quarters(sch, rest[-1])
IPython.display.HTML(code2html(sch.mod.script())))
sch.mod.show()
sch.show()
print(sch.mod["main"].script())
func = tvm.build(sch.mod, target="llvm")
x = np.random.rand(3).astype("float32")
with tvm.target.Target("llvm") as tgt:
    lib = tvm.compile(sch.mod)
if __name__ == "__main__":
    print("done")
