"""How far two programs of TVM are the same: equal, the same skeleton, or the first difference."""
import types

import numpy
import quick_tvm  # pylint: disable=unused-import  # before the next
import tvm
import tvm_ffi
from tvm import s_tir, tirx
from tvm.script import from_source

SCHEDULED = "tirx.is_scheduled"  # a mark of `hone schedule` where the loops don't show it


def parse(text):
    """A module from text: what hone prints must parse here."""
    got = from_source(text, check_well_formed=False)
    mod = got if isinstance(got, tvm.IRModule) else tvm.IRModule({"main": got})
    for name, func in mod.functions_items():
        if isinstance(func, tirx.PrimFunc) and SCHEDULED in (func.attrs or {}):
            mod[name] = func.without_attr(SCHEDULED)
    return mod


def only_func(mod):
    (func,) = [f for _, f in mod.functions_items()]
    return func


def simplified(mod):
    """The one function after TVM's simplifier, without its name."""
    func = only_func(s_tir.transform.StmtSimplify()(mod))
    return func.without_attr("global_symbol") if "global_symbol" in func.attrs else func


def walk(stmt):
    """A statement and those inside it, outermost first."""
    yield stmt
    for name in ("block", "init", "body", "then_case", "else_case"):
        inner = getattr(stmt, name, None)
        if inner is not None:
            yield from walk(inner)
    for inner in getattr(stmt, "seq", ()):
        yield from walk(inner)


def skeleton(func, with_names=False):
    """Loops, blocks and allocations as lines; expressions are left out."""
    lines = []

    def extent(expr):
        return str(expr) if isinstance(expr, tirx.IntImm) else "n"

    def buffer(buf):
        shape = ",".join(extent(s) for s in buf.shape)
        return f"{buf.dtype}[{shape}]@{buf.scope()}"

    def block(stmt, depth):
        kinds = "".join(f"{iv.iter_type}:{extent(iv.dom.extent)} " for iv in stmt.iter_vars)
        name = stmt.name_hint if with_names else ""
        keys = " ".join(sorted(stmt.annotations.keys()))
        lines.append("  " * depth + f"block {name} {kinds}{keys} init={stmt.init is not None}")
        for buf in stmt.alloc_buffers:
            lines.append("  " * (depth + 1) + "alloc " + buffer(buf))
        visit(stmt.body, depth + 1)

    def visit(stmt, depth):
        if isinstance(stmt, tirx.For):
            keys = " ".join(sorted(stmt.annotations.keys()))
            tag = stmt.thread_binding.thread_tag if stmt.thread_binding is not None else ""
            lines.append("  " * depth + f"for {stmt.kind} {tag} {extent(stmt.extent)} {keys}")
            visit(stmt.body, depth + 1)
        elif isinstance(stmt, s_tir.SBlockRealize):
            block(stmt.block, depth)
        elif isinstance(stmt, tirx.SeqStmt):
            for s in stmt.seq:
                visit(s, depth)
        else:
            lines.append("  " * depth + type(stmt).__name__)

    visit(func.body, 0)
    return lines


def verdict(ours, theirs):
    """'equal', 'skeleton' (only expressions differ) or 'differs'; and a line about it."""
    a, b = simplified(ours), simplified(theirs)
    if tvm_ffi.structural_equal(a, b):
        one, two = skeleton(a, True), skeleton(b, True)
        if one == two:
            return "equal", ""
        x, y = next((x, y) for x, y in zip(one, two) if x != y)
        return "names", f"hone: {x.strip()} | TVM: {y.strip()}"
    one, two = skeleton(a), skeleton(b)
    if one != two:
        pairs = list(zip(one, two))
        if len(one) != len(two):
            pairs.append((f"{len(one)} lines", f"{len(two)} lines"))
        x, y = next((x, y) for x, y in pairs if x != y)
        return "differs", f"hone: {x.strip()} | TVM: {y.strip()}"
    return "skeleton", first_difference(a, b)


def first_difference(a, b):
    """The first place where two functions part, and what each has there."""
    paths = tvm_ffi.get_first_structural_mismatch(a, b)
    if paths is None:
        return "none"
    return " | ".join(f"{who}: {at_path(root, path)}"
                      for who, root, path in zip(("hone", "TVM"), (a, b), paths))


def at_path(root, path):
    """The innermost statement or expression on the way, on one line."""
    node, shown = root, root
    for step in path.to_steps():
        try:
            if step.kind.name == "ATTR":
                node = getattr(node, step.key)
            elif step.kind.name in ("ARRAY_ITEM", "MAP_ITEM"):
                node = node[step.key]
            else:
                break
        except (AttributeError, IndexError, KeyError, TypeError):
            break
        if isinstance(node, tvm.runtime.Object):
            shown = node
    return " ".join(str(shown).split())[:160] + f" at {str(path)[-60:]}"


def close(a, b):
    """Whether two sets of results are the same but for rounding."""
    if a.keys() != b.keys():
        return False
    for name, x in a.items():
        y = b[name]
        if x.shape != y.shape or x.dtype != y.dtype:
            return False
        if x.dtype.kind in "iub" and not numpy.array_equal(x, y):
            return False
        if x.dtype.kind == "V":  # bfloat16, of which numpy knows nothing
            x, y = x.astype("float32"), y.astype("float32")
        if x.dtype.kind == "f" and not numpy.allclose(x, y, rtol=2e-3, atol=1e-3, equal_nan=True):
            return False
    return True


def buffers(mod):
    """The buffers of the parameters of the one function."""
    func = only_func(mod)
    known = getattr(func, "buffer_map", {})
    return [known[p] if p in known else p for p in func.params]


def size_of(extent, sizes):
    """The number of an extent where its variables have the given sizes."""
    words = {"T": types.SimpleNamespace(int32=int, int64=int, min=min, max=max)}
    return int(eval(str(extent), words, dict(sizes or {})))  # pylint: disable=eval-used


def inputs(mod, seed=0, sizes=None):
    """Arrays at random for every parameter of the one function; sizes: those of symbolic shapes."""
    rng = numpy.random.default_rng(seed)
    arrays = []
    for buf in buffers(mod):
        shape = [size_of(s, sizes) for s in buf.shape]
        dtype = numpy.dtype(str(buf.dtype))
        data = rng.integers(0, 2 if dtype.kind == "b" else 4, shape) if dtype.kind in "iub" \
            else rng.uniform(0.1, 1, shape)
        arrays.append(data.astype(dtype))
    return arrays


def compute(mod, seed=0, sizes=None):
    """What every parameter holds after TVM's own build ran on the CPU."""
    arrays = [tvm.runtime.tensor(a) for a in inputs(mod, seed, sizes)]
    built = tvm.compile(mod, target="llvm")
    built[next(v.name_hint for v, _ in mod.functions_items())](*arrays)
    return {str(i): a.numpy() for i, a in enumerate(arrays)}
