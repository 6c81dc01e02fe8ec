"""Random graphs: 3 to 20 nodes over what was made before, with fan-out, constants that are shared,
several outputs and symbolic sizes; patterns of several nodes (onnx_patterns.py), control flow among
them; names that differ in one sign alone; constants that are listed as inputs.

A Graph is a case whose generators (onnx_operators.py) get earlier values where they ask for operands
that fit. Each node is computed as soon as it is drawn: one that onnxruntime refuses, or that gives
what is no number or too large, is taken back, so that graphs stay meaningful to their end.
"""
import numpy
from onnx import helper

import onnx_operators
import onnx_operators_places
import onnx_patterns
import onnx_reasons
from onnx_draw import Case, Value
from onnx_peer import expected

TABLE = {**onnx_operators.TABLE, **onnx_operators_places.TABLE}
LARGEST, LOWEST_OPSET, HIGHEST_OPSET = 1e4, 11, 22
# What makes nothing of values, and what has poles or steps, where small differences become large ones.
LEFT_OUT = set("""Constant ConstantOfShape Dropout Mod Pow Asin Acos Acosh Atanh Tan Log Reciprocal
Range EyeLike HannWindow HammingWindow BlackmanWindow Compress TopK Hardmax Shrink MaxUnpool
NonZero Unique NonMaxSuppression""".split())


class Unwanted(Exception):
    """A node that is not wanted."""


class Graph(Case):
    """A case of many nodes."""

    def __init__(self, seed, opset):
        super().__init__(seed, f"c{seed}_", opset)
        self.next_number = 0
        self.made = []  # what nodes gave
        self.uses = set()

    def values(self):
        return super().values() + self.made

    # ---- operands among what is there ----

    def earlier(self, fits):
        found = [v for v in self.made[-8:] if fits(v)]
        found += [v for v in super().values() if fits(v)]
        return self.draw.one_of(found) if found and self.draw.chance(0.85) else None

    def tensor(self, shape, dtype, constant=0.2):
        """Of that very shape: a constant may be shared."""
        found = self.earlier(lambda v: v.dtype == dtype and list(v.shape) == list(shape))
        return found or super().tensor(shape, dtype, constant)

    def data(self, low, high, dtype, most=600):
        found = self.earlier(lambda v: v.dtype == dtype and low <= v.rank <= high and
                             v.array.size <= most)
        return found or super().data(low, high, dtype, most)

    def holding(self, array, constant=0.2):
        """Places and sizes stand in the file: else nothing would come behind them."""
        is_place = numpy.asarray(array).dtype.kind in "iu" and numpy.ndim(array) < 2
        return super().holding(array, 1 if is_place else constant)

    def holding_any(self, array):
        return super().holding(array, 0.6)

    def parameter(self, ints, dtype="int64"):
        return self.constant(numpy.array(ints, dtype))

    def own(self, value, array):
        """Others have the operand as well."""
        array = numpy.asarray(array).astype(value.dtype)
        return value if (array == value.array).all() else self.constant(array)

    def dtype(self, index=0):
        types = self.types(index)
        common = [v.dtype for v in self.made[-3:] if v.dtype in types]
        if common and self.draw.chance(0.6):
            return self.draw.one_of(common)
        return "float32" if "float32" in types else self.draw.one_of(types)

    # ---- growing ----

    def computed(self, node):
        """What the node gives, or None where it is not wanted."""
        wanted = onnx_patterns.names_of(node)
        known = [v for v in self.values() if v.name in wanted]
        alone = Case(self.seed, self.prefix, self.opset)
        alone.nodes, alone.outputs = [node], list(node.output)
        alone.inputs = [v for v in known if not v.is_constant]
        alone.constants = [v for v in known if v.is_constant]
        results = expected(alone)
        if isinstance(results, str):
            return None
        for result in results:
            is_wanted = 0 < result.size <= 1500 and result.ndim <= 6
            if is_wanted and result.dtype.kind != "b":
                is_wanted = bool((numpy.abs(result.astype("float64")) <= LARGEST).all())
            if not is_wanted:
                return None
        return results

    def grow(self, op, schema):
        """Adds a node; takes it back where it is not wanted."""
        before = [list(x) for x in (self.nodes, self.inputs, self.constants, self.outputs)]
        self.op, self.schema, self.flavour = op, schema, "plain"
        TABLE[op](self)
        node = self.nodes[-1]
        results = None if onnx_reasons.is_open(self) else self.computed(node)
        self.op = None
        if results is None:
            self.nodes, self.inputs, self.constants, self.outputs = before
            return
        self.uses.update(node.input)
        self.made += [Value(name, result) for name, result in zip(node.output, results)]

    def add(self, op, inputs, outputs=1, **attributes):
        """A node of a pattern: its first result."""
        names = [f"{self.name('y')}_{i}" for i in range(outputs)]
        node = helper.make_node(op, ["" if v is None else v.name for v in inputs], names, name=names[0],
                                **attributes)
        results = self.computed(node)
        if results is None:
            raise Unwanted
        self.nodes.append(node)
        self.uses.update(onnx_patterns.names_of(node))
        self.made += [Value(name, result) for name, result in zip(names, results)]
        return self.made[-outputs]

    def grow_pattern(self, make):
        """Adds all its nodes, or none."""
        lists = (self.nodes, self.inputs, self.constants, self.outputs, self.made)
        before, uses = [list(x) for x in lists], set(self.uses)
        try:
            self.op, self.schema, self.flavour = None, None, "plain"
            make(self)
        except Unwanted:
            self.nodes, self.inputs, self.constants, self.outputs, self.made = before
            self.uses = uses

    def rename(self):
        """Inner values, and what is given, get names of which only signs differ."""
        forms = ("v.{}", "v_{}", "v/{}", "v:{}", "v {}", "v-{}", "\u00e9{}", "\u00e8{}")
        kept = set(self.outputs)
        values = [v for v in self.made + self.inputs + self.constants if v.name not in kept]
        names = {v.name: self.prefix + forms[i % len(forms)].format(i // len(forms))
                 for i, v in enumerate(values)}
        for value in values:
            value.name = names[value.name]
        for node in self.nodes:
            for field in (node.input, node.output):
                field[:] = [names.get(n, n) for n in field]

    def finish(self):
        """Outputs: what nobody uses, and now and then what somebody does."""
        self.outputs = [v.name for v in self.made
                        if v.name not in self.uses or self.draw.chance(0.1)]
        has_bodies = any(onnx_patterns.names_of(n) != {i for i in n.input if i} for n in self.nodes)
        if self.draw.chance(0.3) and not has_bodies:
            self.rename()
        self.is_listed = self.draw.chance(0.15)

    def name(self, stem):
        """Numbers are not used again when a node is taken back."""
        self.next_number += 1
        return f"{self.prefix}{stem}{self.next_number}"


def graph(seed, versions):
    """The graph of a seed; versions: (schema, operator sets) by operator."""
    made = Graph(seed, None)
    made.opset = made.draw.between(LOWEST_OPSET, HIGHEST_OPSET)
    operators = {}
    for op, rows in versions.items():
        for schema, low, high in rows:
            if low <= made.opset <= high and op in TABLE and op not in LEFT_OUT:
                operators[op] = schema
    names, wanted = sorted(operators), made.draw.between(3, 20)
    for _ in range(4 * wanted):
        if len(made.nodes) >= wanted:
            break
        if made.opset >= onnx_patterns.FIRST_OPSET and made.draw.chance(0.2):
            made.grow_pattern(made.draw.one_of(onnx_patterns.PATTERNS))
            continue
        op = made.draw.one_of(names)
        made.grow(op, operators[op])
    made.finish()
    if made.draw.chance(0.25):
        made.make_symbolic()
    return made
