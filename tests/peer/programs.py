"""Random programs: TVMScript text and tensor expressions, small enough for an interpreter.

make(rng) gives (name, module). Sizes are small, odd ones among them.
"""
import tvm
from tvm import te, topi
from tvm.script import from_source

HEAD = """# from tvm.script import ir as I
# from tvm.script import tirx as T
"""


def size(rng, big=False):
    return rng.choice([8, 12, 16, 24, 32] if big else [1, 2, 3, 4, 5, 6, 7, 8, 12, 16])


def dtype_of(rng):
    return rng.choice(["float32"] * 5 + ["int32", "float16", "int64"])


def text(name, params, body, allocs=()):
    """A function from parameter declarations, allocations and lines of the body."""
    lines = [HEAD, "@I.ir_module", "class Module:", "    @T.prim_func(s_tir=True)",
             f"    def main({', '.join(params)}):", '        T.func_attr({"tirx.noalias": True})']
    lines += [f"        {a}" for a in allocs]
    lines += ["        " + line for line in body.strip("\n").splitlines()]
    return name, from_source("\n".join(lines))


def shape_text(shape):
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def buffer(name, shape, dtype):
    return f'{name}: T.Buffer({shape_text(shape)}, "{dtype}")'


def alloc(name, shape, dtype):
    return f'{name} = T.sblock_alloc_buffer({shape_text(shape)}, "{dtype}")'


UNARY = ["{x} + {one}", "{x} * {x}", "T.max({x}, {one})", "{x} - {y}", "{y} * {x} + {one}",
         "T.if_then_else({v} < 3, {x}, {one})", "T.min({y}, {x})"]


def elementwise(rng):
    """A chain of maps over two to three axes; sometimes transposed or read twice."""
    dims = [size(rng) for _ in range(rng.randint(1, 3))]
    dtype = dtype_of(rng)
    one = f"T.{dtype}(1)"
    stages = rng.randint(1, 4)
    names = ["A"] + [f"B{i}" for i in range(stages - 1)] + ["C"]
    body = ""
    axes = ["i", "j", "k"][:len(dims)]
    index = ", ".join("v" + a for a in axes)
    for n in range(stages):
        x, y = names[n], rng.choice(names[:n + 1])
        form = rng.choice(UNARY)
        value = form.format(x=f"{x}[{index}]", y=f"{y}[{index}]", one=one, v="vi")
        loops = f"for {', '.join(axes)} in T.grid({', '.join(map(str, dims))}):" \
            if len(dims) > 1 else f"for i in range({dims[0]}):"
        body += loops + f'\n    with T.sblock("{names[n + 1]}"):\n'
        for a, d in zip(axes, dims):
            body += f"        v{a} = T.axis.spatial({d}, {a})\n"
        body += f"        {names[n + 1]}[{index}] = {value}\n"
    return text("elementwise", [buffer("A", dims, dtype), buffer("C", dims, dtype)], body,
                [alloc(b, dims, dtype) for b in names[1:-1]])


def reduction(rng):
    """A reduction over some axes with a map before or after it."""
    dims = [size(rng) for _ in range(rng.randint(1, 3))]
    dtype = rng.choice(["float32", "float32", "int32"])
    mask = [rng.random() < 0.5 for _ in dims]
    if not any(mask):
        mask[rng.randrange(len(dims))] = True
    op, ident = rng.choice([("{s} + {x}", "0"), ("T.max({s}, {x})", "min"),
                            ("T.min({s}, {x})", "max"), ("{s} * {x}", "1")])
    ident = f'T.{ident}_value("{dtype}")' if ident in ("min", "max") else f"T.{dtype}({ident})"
    axes = ["i", "j", "k"][:len(dims)]
    kept = [(a, d) for a, d, m in zip(axes, dims, mask) if not m]
    out_dims = [d for _, d in kept] or [1]
    out_index = ", ".join("v" + a for a, _ in kept) or "0"
    index = ", ".join("v" + a for a in axes)
    has_map, has_tail = rng.random() < 0.5, rng.random() < 0.5
    src, dst, allocs, body = "A", "C", [], ""
    if has_map:
        allocs.append(alloc("M", dims, dtype))
        body += nest(axes, dims, "M", ["S"] * len(dims), f"M[{index}] = A[{index}] * A[{index}]")
        src = "M"
    if has_tail:
        allocs.append(alloc("R", out_dims, dtype))
        dst = "R"
    value = op.format(s=f"{dst}[{out_index}]", x=f"{src}[{index}]")
    kinds = ["R" if m else "S" for m in mask]
    body += nest(axes, dims, dst, kinds, f"{dst}[{out_index}] = {value}",
                 f"{dst}[{out_index}] = {ident}")
    if has_tail:
        names = [a for a, _ in kept] or ["i"]
        idx = ", ".join("v" + a for a in names)
        body += nest(names, out_dims, "C", ["S"] * len(names),
                     f"C[{idx}] = T.max(R[{idx}], T.{dtype}(0))")
    return text("reduction", [buffer("A", dims, dtype), buffer("C", out_dims, dtype)], body, allocs)


def nest(axes, dims, name, kinds, store, init=None, where=None, bindings=None):
    """Loops, a block with one axis each, its init and its store."""
    loops = f"for {', '.join(axes)} in T.grid({', '.join(map(str, dims))}):" \
        if len(dims) > 1 else f"for {axes[0]} in range({dims[0]}):"
    out = loops + f'\n    with T.sblock("{name}"):\n'
    if where:
        out += f"        T.where({where})\n"
    for n, (a, d, k) in enumerate(zip(axes, dims, kinds)):
        word = "reduce" if k == "R" else "spatial"
        out += f"        v{a} = T.axis.{word}({d}, {bindings[n] if bindings else a})\n"
    if init:
        out += f"        with T.init():\n            {init}\n"
    return out + "".join(f"        {line}\n" for line in store.split("\n"))


def matmul(rng):
    """A product with or without a tail: bias, relu, a second product."""
    m, n, k = size(rng, True), size(rng, True), size(rng, True)
    a = te.placeholder((m, k), name="A")
    b = te.placeholder((k, n), name="B")
    r = te.reduce_axis((0, k), "k")
    c = te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")
    form = rng.randrange(4)
    if form == 0:
        return "matmul", tvm.IRModule({"main": te.create_prim_func([a, b, c])})
    if form == 1:
        d = te.compute((m, n), lambda i, j: tvm.te.max(c[i, j], tvm.tirx.const(0.0, "float32")),
                       name="D")
        return "matmul_relu", tvm.IRModule({"main": te.create_prim_func([a, b, d])})
    if form == 2:
        bias = te.placeholder((n,), name="bias")
        d = te.compute((m, n), lambda i, j: c[i, j] + bias[j], name="D")
        e = te.compute((m, n), lambda i, j: te.max(d[i, j], tvm.tirx.const(0.0, "float32")),
                       name="E")
        return "matmul_bias", tvm.IRModule({"main": te.create_prim_func([a, b, bias, e])})
    p = size(rng)
    w = te.placeholder((n, p), name="W")
    q = te.reduce_axis((0, n), "q")
    d = te.compute((m, p), lambda i, j: te.sum(c[i, q] * w[q, j], axis=q), name="D")
    return "matmul_chain", tvm.IRModule({"main": te.create_prim_func([a, b, w, d])})


def batch_matmul(rng):
    b, m, n, k = rng.choice([1, 2, 3]), size(rng), size(rng), size(rng)
    x = te.placeholder((b, m, k), name="X")
    y = te.placeholder((b, k, n), name="Y")
    r = te.reduce_axis((0, k), "k")
    z = te.compute((b, m, n), lambda v, i, j: te.sum(x[v, i, r] * y[v, r, j], axis=r), name="Z")
    return "batch_matmul", tvm.IRModule({"main": te.create_prim_func([x, y, z])})


def conv1d(rng):
    """Padding, a window sum, sometimes strided and followed by a map."""
    length, ci, co = size(rng, True), rng.choice([1, 2, 4]), rng.choice([1, 4, 6])
    k, stride, pad = rng.choice([1, 3]), rng.choice([1, 2]), rng.choice([0, 1])
    x = te.placeholder((1, ci, length), name="X")
    w = te.placeholder((co, ci, k), name="W")
    y = topi.nn.conv1d_ncw(x, w, stride, pad, 1, "float32") if hasattr(topi.nn, "conv1d_ncw") \
        else topi.nn.conv1d(x, w, strides=stride, padding=pad)
    out = topi.nn.relu(y) if rng.random() < 0.5 else y
    return "conv1d", tvm.IRModule({"main": te.create_prim_func([x, w, out])})


def conv2d(rng):
    h, ci, co = rng.choice([5, 7, 8]), rng.choice([1, 2, 4]), rng.choice([2, 4, 6])
    k, stride, pad = rng.choice([1, 3]), rng.choice([1, 2]), rng.choice([0, 1])
    nhwc = rng.random() < 0.5
    x = te.placeholder((1, h, h, ci) if nhwc else (1, ci, h, h), name="X")
    w = te.placeholder((k, k, ci, co) if nhwc else (co, ci, k, k), name="W")
    call = topi.nn.conv2d_nhwc if nhwc else topi.nn.conv2d_nchw
    y = call(x, w, stride, pad, 1)
    form = rng.randrange(3)
    if form == 1:
        y = topi.nn.relu(y)
    elif form == 2:
        bias = te.placeholder((co,) if nhwc else (co, 1, 1), name="bias")
        y = topi.nn.relu(topi.add(y, bias))
        return "conv2d_bias", tvm.IRModule({"main": te.create_prim_func([x, w, bias, y])})
    return "conv2d", tvm.IRModule({"main": te.create_prim_func([x, w, y])})


def depthwise(rng):
    h, c = rng.choice([5, 6, 8]), rng.choice([2, 4])
    x = te.placeholder((1, c, h, h), name="X")
    w = te.placeholder((c, 1, 3, 3), name="W")
    y = topi.nn.depthwise_conv2d_nchw(x, w, rng.choice([1, 2]), 1, 1)
    return "depthwise", tvm.IRModule({"main": te.create_prim_func([x, w, y])})


def stencil(rng):
    """Neighbours of a point, through an intermediate."""
    n, m = size(rng, True), size(rng, True)
    far = rng.choice([1, 2])
    body = nest(["i", "j"], [n, m], "B", ["S", "S"], "B[vi, vj] = A[vi, vj] * T.float32(2)")
    body += nest(["i", "j"], [n - far, m], "C", ["S", "S"], f"C[vi, vj] = B[vi, vj] + B[vi + {far}, vj]")
    return text("stencil", [buffer("A", (n, m), "float32"), buffer("C", (n - far, m), "float32")],
                body, [alloc("B", (n, m), "float32")])


def window(rng):
    """Padding by a condition, then a window reduction."""
    n, k = size(rng, True), rng.choice([2, 3])
    op, ident = rng.choice([("{s} + {x}", "T.float32(0)"),
                            ("T.max({s}, {x})", "T.float32(-3.4028234663852886e+38)")])
    body = nest(["i"], [n + k - 1], "P", ["S"],
                f"P[vi] = T.if_then_else(1 <= vi and vi < {n + 1}, A[vi - 1], {ident})"
                if k > 1 else "")
    body = body.replace("A[vi - 1]", "A[vi - 1]")
    value = op.format(s="C[vi]", x="P[vi + vk]")
    body += nest(["i", "k"], [n, k], "C", ["S", "R"], f"C[vi] = {value}", f"C[vi] = {ident}")
    return text("window", [buffer("A", (n,), "float32"), buffer("C", (n,), "float32")], body,
                [alloc("P", (n + k - 1,), "float32")])


def predicate(rng):
    """A block under a condition on tiled loops."""
    n, tile = rng.choice([10, 13, 20, 27]), rng.choice([4, 8])
    m = size(rng)
    outer = -(-n // tile)
    body = f"""
for i0, i1, j in T.grid({outer}, {tile}, {m}):
    with T.sblock("B"):
        T.where(i0 * {tile} + i1 < {n})
        vi = T.axis.spatial({n}, i0 * {tile} + i1)
        vj = T.axis.spatial({m}, j)
        B[vi, vj] = A[vi, vj] + T.float32(1)
"""
    body += nest(["i", "j"], [n, m], "C", ["S", "S"], "C[vi, vj] = B[vi, vj] * T.float32(2)")
    return text("predicate", [buffer("A", (n, m), "float32"), buffer("C", (n, m), "float32")], body,
                [alloc("B", (n, m), "float32")])


def transpose(rng):
    n, m = size(rng), size(rng)
    form = rng.randrange(2)
    first = nest(["i", "j"], [n, m], "B", ["S", "S"], "B[vi, vj] = A[vj, vi]" if form else
                 "B[vj, vi] = A[vi, vj]")
    shape = (n, m) if form else (m, n)
    src = (m, n) if form else (n, m)
    body = first + nest(["i", "j"], shape, "C", ["S", "S"], "C[vi, vj] = B[vi, vj] + T.float32(1)")
    return text("transpose", [buffer("A", src, "float32"), buffer("C", shape, "float32")], body,
                [alloc("B", shape, "float32")])


def reshape(rng):
    n, m = size(rng), size(rng)
    x = te.placeholder((n, m), name="X")
    y = topi.reshape(x, (n * m,))
    z = te.compute((n * m,), lambda i: y[i] * tvm.tirx.const(2.0, "float32"), name="Z")
    return "reshape", tvm.IRModule({"main": te.create_prim_func([x, z])})


def argmax(rng):
    n, k = size(rng), size(rng)
    body = f"""
for i, k in T.grid({n}, {k}):
    with T.sblock("argmax"):
        vi = T.axis.spatial({n}, i)
        vk = T.axis.reduce({k}, k)
        with T.init():
            C0[vi] = -1
            C1[vi] = T.min_value("float32")
        v0: T.let[T.int32] = T.Select(C1[vi] >= A[vi, vk], C0[vi], vk)
        v1: T.let[T.float32] = T.Select(C1[vi] >= A[vi, vk], C1[vi], A[vi, vk])
        C0[vi] = v0
        C1[vi] = v1
"""
    return text("argmax", [buffer("A", (n, k), "float32"), buffer("C0", (n,), "int32"),
                           buffer("C1", (n,), "float32")], body)


def softmax(rng):
    x = te.placeholder((size(rng), size(rng)), name="X")
    return "softmax", tvm.IRModule({"main": te.create_prim_func([x, topi.nn.softmax(x)])})


def layer_norm(rng):
    m, n = size(rng), size(rng)
    x = te.placeholder((m, n), name="X")
    gamma, beta = te.placeholder((n,), name="gamma"), te.placeholder((n,), name="beta")
    y = topi.nn.layer_norm(x, gamma, beta, [1])
    return "layer_norm", tvm.IRModule({"main": te.create_prim_func([x, gamma, beta, y])})


def pooling(rng):
    x = te.placeholder((1, rng.choice([1, 3]), 8, 8), name="X")
    y = topi.nn.pool2d(x, [3, 3], [2, 2], [1, 1], [1, 1, 1, 1], rng.choice(["max", "avg"]))
    return "pooling", tvm.IRModule({"main": te.create_prim_func([x, y])})


def inplace(rng):
    """A block that reads what it writes, then a user of it."""
    n = size(rng)
    m = size(rng)
    body = nest(["i", "j"], [n, m], "B", ["S", "S"], "B[vi, vj] = A[vi, vj]")
    body += nest(["i", "j"], [n, m], "U", ["S", "S"], "B[vi, vj] = B[vi, vj] * T.float32(3)")
    body += nest(["i", "j"], [n, m], "C", ["S", "S"], "C[vi, vj] = B[vi, vj]")
    return text("inplace", [buffer("A", (n, m), "float32"), buffer("C", (n, m), "float32")], body,
                [alloc("B", (n, m), "float32")])


def two_outputs(rng):
    n, m = size(rng), size(rng)
    body = nest(["i", "j"], [n, m], "B", ["S", "S"], "B[vi, vj] = A[vi, vj] + T.float32(1)")
    body += nest(["i", "j"], [n, m], "C", ["S", "S"], "C[vi, vj] = B[vi, vj] * T.float32(2)")
    body += nest(["i", "j"], [n, m], "D", ["S", "S"], "D[vi, vj] = B[vi, vj] - T.float32(2)")
    return text("two_outputs", [buffer(b, (n, m), "float32") for b in "ACD"], body,
                [alloc("B", (n, m), "float32")])


def gather(rng):
    n, m = size(rng), size(rng)
    body = nest(["i", "j"], [n, m], "B", ["S", "S"], "B[vi, vj] = A[vi, vj] + T.float32(1)")
    body += nest(["i", "j"], [n, m], "C", ["S", "S"],
                 f"C[vi, vj] = B[T.min(T.max(X[vi], 0), {n - 1}), vj]")
    return text("gather", [buffer("A", (n, m), "float32"), buffer("X", (n,), "int32"),
                           buffer("C", (n, m), "float32")], body, [alloc("B", (n, m), "float32")])


MAKERS = [elementwise, elementwise, reduction, reduction, matmul, matmul, batch_matmul, conv1d,
          conv2d, conv2d, depthwise, stencil, window, predicate, transpose, reshape, argmax,
          softmax, layer_norm, pooling, inplace, two_outputs, gather]


def make(rng):
    """One program: (its kind, the module)."""
    return rng.choice(MAKERS)(rng)
