"""bfloat16 beside onnxruntime, whose CPU kernels do not have it.

A case of float32 numbers that bfloat16 has too becomes two models: Hone's casts what the node takes,
and what it gives back to float32; onnxruntime's casts there and back, and computes in float32. So
what Hone gives is what float32 gives, rounded once.
"""
import numpy
import onnx
from onnx import TensorProto, helper

BFLOAT16 = "tensor(bfloat16)"
UNIT = 2.0**-7
# Types of results that attributes name, or that other operands than the casted ones decide.
LEFT_OUT = set("""Cast CastLike Constant ConstantOfShape EyeLike RandomNormal RandomUniform
HannWindow HammingWindow BlackmanWindow MelWeightMatrix QuantizeLinear DequantizeLinear""".split())


def rounded(array):
    """To bfloat16, as float32: to the nearest, ties to even."""
    bits = numpy.asarray(array, "float32").view("uint32").astype("uint64")
    near = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    kept = numpy.where(numpy.isnan(array), numpy.uint64(0x7FC00000), near)
    return kept.astype("uint32").view("float32").reshape(numpy.shape(array))


def types_of(schema, formals, index):
    formal = formals[min(index, len(formals) - 1)]
    rows = [row for row in schema.type_constraints if row.type_param_str == formal.type_str]
    return formal.type_str, rows[0].allowed_type_strs if rows else [formal.type_str]


def short_inputs(case):
    """The places of operands that bfloat16 may be, and the names of their types."""
    values = {v.name: v for v in case.values()}
    found, words = [], set()
    for index, name in enumerate(case.nodes[-1].input):
        word, types = types_of(case.schema, case.schema.inputs, index)
        if name and BFLOAT16 in types and values[name].dtype == "float32":
            found.append(index)
            words.add(word)
    return found, words


def can_be_short(case):
    return case.schema is not None and not case.domain and case.op not in LEFT_OUT and \
        bool(short_inputs(case)[0])


def make_short(case):
    """Of a case of float32: numbers become such of bfloat16."""
    case.is_short = True
    places, _ = short_inputs(case)
    wanted = {case.nodes[-1].input[i] for i in places}
    for value in case.inputs + case.constants:
        if value.name in wanted:
            value.array = rounded(value.array)


def cast(name, result, to):
    return helper.make_node("Cast", [name], [result], name=result, to=to)


def nodes_of(case, is_peer):
    """The case's nodes with casts around the last one, or what the peer is asked for in place of it."""
    if is_peer and case.peer_nodes is not None:
        return case.nodes[:-1] + case.peer_nodes
    if not case.is_short:
        return case.nodes
    node = onnx.NodeProto()
    node.CopyFrom(case.nodes[-1])
    places, words = short_inputs(case)
    before, after = [], []
    for name in sorted({node.input[i] for i in places}):
        before.append(cast(name, name + "_b", TensorProto.BFLOAT16))
        if is_peer:
            before.append(cast(name + "_b", name + "_f", TensorProto.FLOAT))
    for i in places:
        node.input[i] += "_f" if is_peer else "_b"
    for i, name in enumerate(node.output):
        if not name or types_of(case.schema, case.schema.outputs, i)[0] not in words:
            continue
        node.output[i] += "_s"
        if is_peer:
            after.append(cast(name + "_s", name + "_r", TensorProto.BFLOAT16))
        after.append(cast(name + ("_r" if is_peer else "_s"), name, TensorProto.FLOAT))
    return case.nodes[:-1] + before + [node] + after
