"""Random primitives, applied by TVM and noted so that a refused one can be tried elsewhere too.

A step is (kind, arguments): the kind is the name of a Schedule method; arguments are in the order
of the Python text. Random variables are noted under the names that the printed trace gives them.
"""
from tvm import s_tir, tirx

import compare

SCOPES = ["global", "local", "shared"]
THREADS = ["blockIdx.x", "blockIdx.y", "threadIdx.x", "threadIdx.y", "vthread.x"]


def blocks_of(func):
    """The names of all blocks but the root's."""
    names = [b.name_hint for b in compare.walk(func.body) if isinstance(b, s_tir.SBlock)]
    return [n for n in names if n != "root"]


class Step:
    """A call on a schedule: its name, and keyword arguments as the printed trace has them."""

    def __init__(self, kind, **arguments):
        self.kind, self.arguments = kind, arguments


class Lambda:
    """A function, as text and as what TVM takes."""

    def __init__(self, text):
        self.text, self.function = text, eval(text)  # pylint: disable=eval-used


class Refused(Exception):
    """TVM refused a step."""


class Player:
    """A schedule of TVM and what was done to it."""

    def __init__(self, mod, rng, kinds=None):
        self.rng = rng
        self.sch = s_tir.Schedule(mod, seed=rng.randrange(1, 1 << 30), error_render_level="fast")
        self.kinds = [(n, f) for n, f in KINDS if (n in kinds if kinds else n not in BREAKS)]
        self.after = {0: self.sch.mod}  # number of instructions -> the program then

    # ---- getting hold of things ----

    def block(self):
        names = blocks_of(self.sch.mod["main"])
        return self.sch.get_sblock(self.rng.choice(names))

    def loops(self, block=None):
        found = list(self.sch.get_loops(block or self.block()))
        if not found:
            raise Refused("no loop")
        return found

    def loop(self, block=None):
        return self.rng.choice(self.loops(block))

    def flip(self, chance=0.5):
        return self.rng.random() < chance

    # ---- running ----

    def text_of(self, step):
        """The step as a line of a printed trace, with the names its variables have there."""
        names = {}
        for inst in self.sch.trace.insts:
            for rv in inst.outputs:
                letter = {"SBlockRV": "b", "LoopRV": "l"}.get(type(rv).__name__, "v")
                names[rv] = f"{letter}{len(names)}"

        def show(x):
            if isinstance(x, tuple):
                return "(" + ", ".join(map(show, x)) + ")"
            if isinstance(x, list):
                return "[" + ", ".join(map(show, x)) + "]"
            if isinstance(x, dict):
                return "{" + ", ".join(f'"{k}": {show(v)}' for k, v in x.items()) + "}"
            if isinstance(x, str):
                return f'"{x}"'
            if isinstance(x, Lambda):
                return x.text
            if isinstance(x, (bool, int, float)) or x is None:
                return repr(x)
            for rv, name in names.items():
                if rv.same_as(x):
                    return name
            return repr(x)

        arguments = dict(step.arguments)
        spread = arguments.pop("spread", None)
        parts = [show(x) for x in spread] if spread else []
        parts += [f"{k}={show(v)}" for k, v in arguments.items()]
        return f"  sch.{step.kind}({', '.join(parts)})\n"

    def apply(self, step):
        arguments = {k: v.function if isinstance(v, Lambda) else v
                     for k, v in step.arguments.items()}
        spread = arguments.pop("spread", ())
        return getattr(self.sch, step.kind)(*spread, **arguments)

    def mark(self):
        self.after[len(self.sch.trace.insts)] = self.sch.mod

    def play(self):
        """One random step. Returns (step, why it was refused or None), or None: nothing fits."""
        _, propose = self.rng.choices(self.kinds, weights=[WEIGHTS.get(k[0], 1)
                                                           for k in self.kinds])[0]
        try:
            step = propose(self)
        except Exception:  # pylint: disable=broad-except
            return None  # nothing fits, or TVM has lost track of its own blocks
        finally:
            self.mark()
        try:
            self.apply(step)
        except Exception as error:  # pylint: disable=broad-except
            return step, str(error)
        self.mark()
        return step, None


# ---- what to propose; each gives a Step ----

def split(p):
    block = p.block()
    loop = p.loop(block)
    form = p.rng.randrange(4)
    if form == 0:
        n = p.rng.randint(2, 4)
        factors = list(p.sch.sample_perfect_tile(loop, n=n,
                                                 max_innermost_factor=p.rng.choice([4, 16, 64])))
    elif form == 1:
        factors = [p.rng.choice([2, 3, 4, 8]), None]
    else:
        factors = [None] + [p.rng.choice([1, 2, 3, 4, 8]) for _ in range(p.rng.randint(1, 2))]
    return Step("split", loop=loop, factors=factors, preserve_unit_iters=p.flip(0.8),
                disable_predication=p.flip(0.03))


def fuse(p):
    loops = p.loops()
    start = p.rng.randrange(len(loops))
    n = p.rng.randint(2, 3) if p.flip(0.9) else 1
    return Step("fuse", spread=loops[start:start + n], preserve_unit_iters=p.flip(0.8))


def reorder(p):
    loops = p.loops()
    n = min(len(loops), p.rng.randint(2, 5))
    return Step("reorder", spread=p.rng.sample(loops, n))


def add_unit_loop(p):
    block = p.block()
    return Step("add_unit_loop", block_or_loop=p.loop(block) if p.flip() else block)


def of_loop(kind):
    return lambda p: Step(kind, loop=p.loop())


def bind(p):
    return Step("bind", loop=p.loop(), thread_axis=p.rng.choice(THREADS))


def compute_at(p):
    block = p.block()
    users = p.sch.get_consumers(block)
    loop = p.loop(p.rng.choice(list(users)) if users and p.flip(0.9) else None)
    return Step("compute_at", block=block, loop=loop, preserve_unit_loops=p.flip(),
                index=p.rng.choice([-1, -1, -1, -2, 0, 1]))


def reverse_compute_at(p):
    block = p.block()
    makers = p.sch.get_producers(block)
    loop = p.loop(p.rng.choice(list(makers)) if makers and p.flip(0.9) else None)
    return Step("reverse_compute_at", block=block, loop=loop, preserve_unit_loops=p.flip(),
                index=p.rng.choice([-1, -1, -1, -2, 0, 1]))


def of_block(kind):
    return lambda p: Step(kind, block=p.block())


def consumers(p, block):
    if p.flip(0.7):
        return None
    users = list(p.sch.get_consumers(block)) or [block]
    return [p.rng.choice(users)]


def cache_read(p):
    block = p.block()
    users = [block] if p.flip(0.2) else []
    return Step("cache_read", block=block, read_buffer_index=p.rng.choice([0, 0, 1, 2]),
                storage_scope=p.rng.choice(SCOPES), **({"consumer_blocks": users} if users else {}))


def cache_write(p):
    block = p.block()
    users = consumers(p, block)
    return Step("cache_write", block=block, write_buffer_index=p.rng.choice([0, 0, 0, 1]),
                storage_scope=p.rng.choice(SCOPES), **({"consumer_blocks": users} if users else {}))


def decompose_reduction(p):
    block = p.block()
    return Step("decompose_reduction", block=block, loop=p.loop(block))


def rfactor(p):
    return Step("rfactor", loop=p.loop(), factor_axis=p.rng.choice([0, 0, 1, -1, 2]))


def sample_categorical(p):
    """A drawn value as an annotation."""
    value = p.sch.sample_categorical([0, 16, 64, 512], [0.25, 0.25, 0.25, 0.25])
    return Step("annotate", block_or_loop=p.block(), ann_key="pragma_auto_unroll_max_step",
                ann_val=value)


def sample_compute_location(p):
    block = p.block()
    loop = p.sch.sample_compute_location(block)
    return Step("compute_at", block=block, loop=loop, preserve_unit_loops=True, index=-1)


def pad_einsum(p):
    block = p.block()
    axes = len(p.sch.get(block).iter_vars)
    return Step("pad_einsum", block=block,
                padding=[p.rng.choice([1, 1, 2, 3, 4, 5, 8]) for _ in range(axes)])


def rolling_buffer(p):
    """Mostly of a block that is put below a loop of its reader first."""
    block = p.block()
    users = list(p.sch.get_consumers(block))
    if users and p.flip(0.8):
        try:
            p.sch.compute_at(block, p.loop(p.rng.choice(users)))
        except Exception:  # pylint: disable=broad-except
            pass  # it may stand there already
        p.mark()
    return Step("rolling_buffer", block=block, write_buffer_index=p.rng.choice([0, 0, 0, 1]))


def merge(p):
    loops = [p.loop() for _ in range(p.rng.randint(2, 3))]
    return Step("merge", spread=loops)


def loop_partition(p):
    loop = p.loop()
    factors = [p.rng.choice([1, 2, 3, 4]) for _ in range(p.rng.randint(1, 2))]
    if p.flip():
        factors[p.rng.randrange(len(factors))] = None
    return Step("loop_partition", loop=loop, factors=factors, preserve_unit_iters=p.flip(0.8))


def reorder_block_iter_var(p):
    block = p.block()
    order = list(range(len(p.sch.get(block).iter_vars)))
    p.rng.shuffle(order)
    return Step("reorder_block_iter_var", block=block, new_order=order)


def reindex(p):
    return Step("reindex", block=p.block(),
                buffer=(p.rng.choice(["read", "write"]), p.rng.choice([0, 0, 1])))


def cache_inplace(p):
    return Step("cache_inplace", block=p.block(), read_buffer_index=p.rng.choice([0, 0, 1]),
                storage_scope=p.rng.choice(SCOPES))


def cache_index(p):
    return Step("cache_index", block=p.block(), storage_scope=p.rng.choice(SCOPES),
                cse_thresh=p.rng.choice([0, 1, 2]))


def copy_at(kind, index_name):
    def propose(p):
        block = p.block()
        return Step(kind, loop=p.loop(block), block=block,
                    **{index_name: p.rng.choice([0, 0, 1])}, storage_scope=p.rng.choice(SCOPES))
    return propose


def fuse_reduction_epilogue(p):
    block = p.block()
    users = list(p.sch.get_consumers(block)) or [block]
    return Step("fuse_reduction_epilogue", reduction_block=block,
                epilogue_block=p.rng.choice(users))


def storage_align(p):
    return Step("storage_align", block=p.block(), buffer_index=p.rng.choice([0, 0, 1]),
                axis=p.rng.choice([-2, -1, 0, 1]), factor=p.rng.choice([8, 16, 32]),
                offset=p.rng.choice([0, 1, 8]))


def set_scope(p):
    return Step("set_scope", block=p.block(), buffer_index=p.rng.choice([0, 0, 1]),
                storage_scope=p.rng.choice(SCOPES))


def blockize(p):
    if p.flip(0.8):
        return Step("blockize", target=p.loop(), preserve_unit_iters=p.flip(0.8))
    return Step("blockize", target=[p.block() for _ in range(p.rng.randint(1, 2))],
                preserve_unit_iters=p.flip(0.8))


def decompose_padding(p):
    block = p.block()
    return Step("decompose_padding", block=block, loop=p.loop(block))


def sample_partitioned_tile(p):
    loop = p.loop()
    n = p.rng.randint(2, 4)
    factors = p.sch.sample_partitioned_tile(loop, n, p.rng.randint(1, n - 1),
                                            p.rng.choice([1, 2, 4]))
    return Step("split", loop=loop, factors=list(factors), preserve_unit_iters=True,
                disable_predication=False)


def annotate(p):
    block = p.block()
    value = p.rng.choice([1, "text", 1.5, [1, 2], [1, "two"], {"a": 1, "b": [1, 2]}])
    return Step("annotate", block_or_loop=p.loop(block) if p.flip() else block,
                ann_key=p.rng.choice(["pragma_x", "note", "software_pipeline_x"]), ann_val=value)


def unannotate(p):
    block = p.block()
    return Step("unannotate", block_or_loop=p.loop(block) if p.flip() else block,
                ann_key=p.rng.choice(["pragma_x", "note", "software_pipeline_x"]))


def index_map(p, extents):
    """Some dimensions in another order, split, or taken together; now and then split unevenly."""
    order = list(range(len(extents)))
    if p.flip(0.3):
        p.rng.shuffle(order)
    high, low = [], []
    while order:
        a = order.pop(0)
        source, extent = f"i{a}", extents[a]
        if order and p.flip(0.3):
            b = order.pop(0)
            source, extent = f"(i{a} * {extents[b]} + i{b})", extent * extents[b]
        fitting = [f for f in (2, 3, 4, 5, 8) if extent % f == 0]
        if p.flip(0.5) and (fitting or p.flip(0.3)):
            f = p.rng.choice(fitting or [3])
            high.append(f"{source} // {f}")
            low.append(f"{source} % {f}")
        else:
            p.rng.choice([high, low]).append(source)
    names = ", ".join(f"i{k}" for k in range(len(extents)))
    return Lambda(f"lambda {names}: ({', '.join(high + low)},)")


def known(extents):
    """Extents as numbers."""
    found = [e.value for e in extents if isinstance(e, tirx.IntImm)]
    if not found or len(found) < len(extents):
        raise Refused("a size is not known")
    return found


def axes_of(p, block):
    return known([iv.dom.extent for iv in p.sch.get(block).iter_vars])


def transform_layout(p):
    """Of a buffer that the function allocates: others would take other arguments."""
    block = p.block()
    kind, index = p.rng.choice([("read", 0), ("read", 1), ("write", 0)])
    regions = getattr(p.sch.get(block), kind + "s")
    if index >= len(regions):
        raise Refused("no such buffer")
    buffer = regions[index].source
    if buffer.name in [param.name for param in p.sch.mod["main"].params]:
        raise Refused("a parameter")
    pads = {"pad_value": 0.0} if str(buffer.dtype).startswith("float") and p.flip() else {}
    return Step("transform_layout", block=block, buffer=(kind, index),
                index_map=index_map(p, known(buffer.shape)), **pads)


def transform_block_layout(p):
    block = p.block()
    return Step("transform_block_layout", block=block, index_map=index_map(p, axes_of(p, block)))


def reindex_cache(kind):
    def propose(p):
        block = p.block()
        return Step(f"reindex_cache_{kind}", block=block,
                    **{f"{kind}_buffer_index": p.rng.choice([0, 0, 1])},
                    storage_scope=p.rng.choice(SCOPES),
                    index_map=index_map(p, axes_of(p, block)))
    return propose


KINDS = [
    ("split", split), ("fuse", fuse), ("reorder", reorder), ("add_unit_loop", add_unit_loop),
    ("parallel", of_loop("parallel")), ("vectorize", of_loop("vectorize")),
    ("unroll", of_loop("unroll")), ("bind", bind), ("compute_at", compute_at),
    ("reverse_compute_at", reverse_compute_at), ("compute_inline", of_block("compute_inline")),
    ("reverse_compute_inline", of_block("reverse_compute_inline")), ("cache_read", cache_read),
    ("cache_write", cache_write), ("decompose_reduction", decompose_reduction),
    ("rfactor", rfactor), ("sample_categorical", sample_categorical),
    ("sample_compute_location", sample_compute_location), ("annotate", annotate),
    ("unannotate", unannotate), ("pad_einsum", pad_einsum), ("rolling_buffer", rolling_buffer),
    ("merge", merge), ("loop_partition", loop_partition),
    ("reorder_block_iter_var", reorder_block_iter_var), ("reindex", reindex),
    ("cache_inplace", cache_inplace), ("cache_index", cache_index),
    ("read_at", copy_at("read_at", "read_buffer_index")),
    ("write_at", copy_at("write_at", "write_buffer_index")),
    ("fuse_reduction_epilogue", fuse_reduction_epilogue), ("storage_align", storage_align),
    ("set_scope", set_scope), ("blockize", blockize), ("decompose_padding", decompose_padding),
    ("sample_partitioned_tile", sample_partitioned_tile),
    ("transform_layout", transform_layout), ("transform_block_layout", transform_block_layout),
    ("reindex_cache_read", reindex_cache("read")),
    ("reindex_cache_write", reindex_cache("write")),
]
BREAKS = {"loop_partition", "merge"}  # TVM 0.27 may end with a segmentation fault: on request only
WEIGHTS = {"split": 3, "compute_at": 3, "reverse_compute_at": 3, "reorder": 2, "fuse": 2,
           "cache_read": 2, "cache_write": 2, "rfactor": 2, "decompose_reduction": 2,
           "annotate": 0.5, "unannotate": 0.3, "parallel": 0.7, "vectorize": 0.7, "unroll": 0.5,
           "add_unit_loop": 0.5, "storage_align": 0.3, "set_scope": 0.5, "cache_index": 0.5,
           "reorder_block_iter_var": 0.5, "read_at": 0.7, "write_at": 0.7, "merge": 0.7,
           "fuse_reduction_epilogue": 0.7, "cache_inplace": 0.7, "loop_partition": 0.7}
