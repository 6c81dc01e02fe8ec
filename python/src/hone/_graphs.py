"""Graphs of torch.fx as ONNX: what goes in, what comes out, and what cannot be converted."""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import importlib
import logging
import os
import warnings
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple


class Unconvertible(Exception):
    """A graph stays with torch; the message says why."""


class Writes(Unconvertible):
    """A graph writes to its inputs: torch has to part that from what is computed."""


_MADE = object()
_COMPLEX = object()


@dataclasses.dataclass(frozen=True)
class Plan:
    """A graph as ONNX, and how its arguments and results stand to those of the model."""

    onnx: bytes
    inputs: Tuple[int, ...]  # the arguments that the model takes, in its order
    outputs: Tuple[Any, ...]  # of the graph: _MADE for what the model gives (_COMPLEX: as pairs
    # of real numbers), else the value

    def results(self, made: Sequence[Any]) -> Tuple[Any, ...]:
        """The graph's results, of the model's."""
        left = iter(made)
        return tuple(next(left) if value is _MADE else
                     _torch().view_as_complex(next(left)) if value is _COMPLEX else value
                     for value in self.outputs)


def _torch() -> Any:
    return importlib.import_module("torch")


def is_on_gpu(value: Any) -> bool:
    """Whether it is a tensor of a CUDA device."""
    device = getattr(value, "device", None)
    return device is not None and device.type == "cuda"


# ---- what a graph does besides computing ----

def _placeholders(graph: Any) -> List[Any]:
    return [node for node in graph.graph.nodes if node.op == "placeholder"]


def _results(graph: Any) -> List[Any]:
    output = next(node for node in graph.graph.nodes if node.op == "output")
    given = output.args[0]
    return list(given) if isinstance(given, (tuple, list)) else [given]


def _imagined(node: Any) -> Any:
    """The tensor or size that torch traced the graph with."""
    meta = getattr(node, "meta", {})
    return meta.get("val", meta.get("example_value"))


def _memory(node: Any) -> Any:
    value = _imagined(node)
    if not isinstance(value, _torch().Tensor):
        return None
    reductions = importlib.import_module("torch.multiprocessing.reductions")
    return reductions.StorageWeakRef(value.untyped_storage()).cdata


def _shares_memory(graph: Any) -> bool:
    """Whether a result lies in the memory of an input, or of another result."""
    seen = {_memory(node) for node in _placeholders(graph)}
    for node in _results(graph):
        place = _memory(node)
        if place is not None and place in seen:
            return True
        seen.add(place)
    return False


def wants_autograd(graph: Any, inputs: Sequence[Any]) -> bool:
    """Whether torch has to part what is computed from gradients and views of inputs."""
    torch = _torch()
    needs_grad = torch.is_grad_enabled() and any(
        isinstance(value, torch.Tensor) and value.requires_grad for value in inputs)
    return bool(needs_grad or _shares_memory(graph))


def decompositions() -> Any:
    """What torch makes of operators that ONNX lacks, or that its exporter takes for others."""
    decomp = importlib.import_module("torch._decomp")
    aten = _torch().ops.aten
    names = ("_native_batch_norm_legit", "_native_batch_norm_legit_functional",
             "native_batch_norm", "native_batch_norm_backward", "_batch_norm_with_update",
             "_batch_norm_with_update_functional", "batch_norm_backward")
    more = decomp.get_decompositions([getattr(aten, name) for name in names
                                      if hasattr(aten, name)])
    return {**decomp.core_aten_decompositions(), **more,
            aten.convolution_backward.default: _convolution_backward}


def _convolution_backward(grad: Any, x: Any, weight: Any, bias_sizes: Any, stride: Any,
                          padding: Any, dilation: Any, transposed: bool, _: Any, groups: int,
                          mask: Any) -> Any:
    """Gradients of a convolution by other convolutions; of groups, and of transposed ones, they
    stay with torch."""
    if transposed or groups != 1:
        return NotImplemented
    places = range(x.dim() - 2)
    kernel = weight.shape[2:]
    conv = _torch().ops.aten.convolution.default
    of_x = of_weight = of_bias = None
    if mask[0]:
        left = [x.shape[i + 2] - (grad.shape[i + 2] - 1) * stride[i] + 2 * padding[i]
                - dilation[i] * (kernel[i] - 1) - 1 for i in places]
        of_x = conv(grad, weight, None, stride, padding, dilation, True, left, 1)
    if mask[1]:
        wide = conv(x.transpose(0, 1), grad.transpose(0, 1), None, dilation, padding, stride,
                    False, [0] * len(places), 1)
        for i in places:
            wide = wide.narrow(i + 2, 0, kernel[i])
        of_weight = wide.transpose(0, 1)
    if mask[2]:
        of_bias = grad.sum([0, *range(2, x.dim())])
    return of_x, of_weight, of_bias


# ---- what torch makes faster for itself, as it was before ----

def _encoder_layer(src: Any, width: int, heads: int, qkv_weight: Any, qkv_bias: Any,
                   out_weight: Any, out_bias: Any, gelu: bool, norm_first: bool, eps: float,
                   norm1: Any, norm1_bias: Any, norm2: Any, norm2_bias: Any, up: Any, up_bias: Any,
                   down: Any, down_bias: Any, mask: Any = None, mask_type: Any = None) -> Any:
    """``aten._transformer_encoder_layer_fwd`` without a mask, by operators that ONNX has."""
    functional = _torch().nn.functional

    def attend(x: Any) -> Any:
        joint = functional.linear(x, qkv_weight, qkv_bias)
        q, k, v = (part.unflatten(-1, (heads, width // heads)).transpose(1, 2)
                   for part in joint.chunk(3, -1))
        mixed = functional.scaled_dot_product_attention(q, k, v)
        return functional.linear(mixed.transpose(1, 2).flatten(2), out_weight, out_bias)

    def feed(x: Any) -> Any:
        hidden = functional.linear(x, up, up_bias)
        hidden = functional.gelu(hidden) if gelu else functional.relu(hidden)
        return functional.linear(hidden, down, down_bias)

    def normed(x: Any, weight: Any, bias: Any) -> Any:
        return functional.layer_norm(x, (width,), weight, bias, eps)

    if mask is not None or src.is_nested or src.dim() != 3:
        return NotImplemented
    if norm_first:
        src = src + attend(normed(src, norm1, norm1_bias))
        return src + feed(normed(src, norm2, norm2_bias))
    src = normed(src + attend(src), norm1, norm1_bias)
    return normed(src + feed(src), norm2, norm2_bias)


def _slower_ones() -> Any:
    layer = getattr(_torch().ops.aten, "_transformer_encoder_layer_fwd", None)
    return {layer.default: _encoder_layer} if layer is not None else {}


def draws(node: Any) -> bool:
    """Whether an operator draws random numbers; one that drops nothing does not."""
    if _torch().Tag.nondeterministic_seeded not in getattr(node.target, "tags", ()):
        return False
    places = [argument.name for argument in node.target._schema.arguments]
    given = {**dict(zip(places, node.args)), **node.kwargs}
    share = given.get("dropout_p", given.get("p", 0.0 if "dropout_p" in places else None))
    return not (share == 0 or given.get("train") is False)


def _check(program: Any) -> None:
    """Refuses a functional program that does more than to compute."""
    said = program.graph_signature
    if said.user_inputs_to_mutate or said.buffers_to_mutate:
        raise Writes("it writes to its inputs")
    for node in program.graph.nodes:
        if draws(node):
            raise Unconvertible(f"{node.target} draws random numbers, which are torch's")


# ---- inputs ----

def examples(values: Sequence[Any]) -> List[Any]:
    """Tensors with memory in the place of those that torch only imagines; sizes as hinted."""
    return [_example(value) for value in values]


def _example(value: Any) -> Any:
    if not isinstance(value, _torch().Tensor):
        return value
    return _torch().zeros([_number(size) for size in value.shape], dtype=value.dtype,
                          device=value.device)


def _number(size: Any) -> int:
    node = getattr(size, "node", None)
    if node is None:
        return int(size)
    if node.hint is None:
        raise Unconvertible(f"the size {size} depends on data")
    return int(node.hint)


def _is_size(value: Any) -> bool:
    return isinstance(value, (_torch().SymInt, int)) and not isinstance(value, bool)


def _with_sizes_of_tensors(graph: Any, inputs: Sequence[Any], is_general: bool) -> Any:
    """A copy of a graph whose symbolic sizes are read from the shapes of tensors, where they were
    arguments; these stay, unused. A number that is no size of a tensor is what it is among the
    inputs, where the graph is for those alone."""
    fx = importlib.import_module("torch.fx")
    copy = fx.GraphModule(graph, _copied(fx, graph))
    places: Dict[str, Tuple[Any, int]] = {}  # of each size: the tensor and the dimension
    nodes = _placeholders(copy)
    for node in nodes:
        for d, size in enumerate(getattr(_imagined(node), "shape", ())):
            if isinstance(size, _torch().SymInt):
                places.setdefault(str(size), (node, d))
    for node, given in zip(nodes, inputs):
        if isinstance(_imagined(node), _torch().SymInt) and node.users:
            _replace_size(copy, node, nodes[-1], places, None if is_general else _number(given))
    copy.recompile()
    return copy


def _copied(fx: Any, graph: Any) -> Any:
    made = fx.Graph()
    values: Dict[Any, Any] = {}
    output = made.graph_copy(graph.graph, values)
    made.output(output)
    return made


def _replace_size(graph: Any, node: Any, last: Any, places: Dict[str, Tuple[Any, int]],
                  given: Optional[int]) -> None:
    found = places.get(str(_imagined(node)))
    if found is None and given is None:
        raise Unconvertible(f"the number '{node.name}' changes from call to call and is the size of "
                            "no tensor")
    if found is None:
        map_arg = importlib.import_module("torch.fx").node.map_arg
        for user in [*node.users]:
            user.args = map_arg(user.args, lambda part: given if part is node else part)
            user.kwargs = map_arg(user.kwargs, lambda part: given if part is node else part)
        return
    with graph.graph.inserting_after(last):
        read = graph.graph.call_function(_torch().ops.aten.sym_size.int, found)
    node.replace_all_uses_with(read)


def is_complex(value: Any) -> bool:
    """Whether it is a tensor of complex numbers."""
    return isinstance(value, _torch().Tensor) and bool(value.is_complex())


def as_real(value: Any) -> Any:
    """Complex numbers as pairs along one more axis, which is what models take and give."""
    return _torch().view_as_real(value.resolve_conj()) if is_complex(value) else value


def _kind(node: Any) -> Any:
    """What a result is of what the model gives; one that it does not give is itself."""
    if not hasattr(node, "op"):
        return node
    return _COMPLEX if is_complex(_imagined(node)) else _MADE


class _Called:
    """A graph as a function of its tensors alone."""

    def __init__(self, graph: Any, inputs: Sequence[Any], frozen: Sequence[int]) -> None:
        torch = _torch()
        self.tensors = [i for i, value in enumerate(inputs)
                        if isinstance(value, torch.Tensor) and i not in frozen]
        others = [value for value in inputs if not isinstance(value, torch.Tensor)]
        if not all(_is_size(value) for value in others):
            raise Unconvertible("an argument is neither a tensor nor a size")
        self.outputs = tuple(_kind(node) for node in _results(graph))
        self.module = _module(graph, inputs, frozen, self)


def _module(graph: Any, inputs: Sequence[Any], frozen: Sequence[int], called: "_Called") -> Any:
    """What torch.export is given."""
    torch = _torch()
    made = torch.nn.Module()
    made.graph = graph
    for i in frozen:
        made.register_buffer(f"frozen{i}", inputs[i].detach())

    def forward(*values: Any) -> Any:
        given: List[Any] = [None] * len(inputs)
        for i in frozen:
            given[i] = getattr(made, f"frozen{i}")
        for i, value in zip(called.tensors, values):
            given[i] = torch.view_as_complex(value) if is_complex(inputs[i]) else value
        results = made.graph(*given)
        results = results if isinstance(results, (tuple, list)) else (results,)
        return tuple(as_real(value) for value, kind in zip(results, called.outputs)
                     if kind in (_MADE, _COMPLEX))

    made.forward = forward
    return made.eval()


def _shapes(graph: Any, tensors: Sequence[int]) -> Any:
    """Which dimensions stay symbolic."""
    torch = _torch()
    nodes = _placeholders(graph)
    spec = []
    for i in tensors:
        shape = getattr(_imagined(nodes[i]), "shape", ())
        spec.append({d: torch.export.Dim.AUTO for d, size in enumerate(shape)
                     if isinstance(size, torch.SymInt)})
    return (tuple(spec),) if any(spec) else None


def has_sizes(graph: Any) -> bool:
    """Whether there are symbolic sizes."""
    return any(isinstance(size, _torch().SymInt) for node in _placeholders(graph)
               for size in [_imagined(node), *getattr(_imagined(node), "shape", ())])


def _weights(graph: Any) -> List[int]:
    """The arguments that are parameters or buffers of modules."""
    return [i for i, node in enumerate(_placeholders(graph))
            if "_dynamo_static_input_type" in (node.meta.get("tensor_dict") or {})]


# ---- the way ----

@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without what torch's exporter says to people who export."""
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), open(os.devnull, "w", encoding="utf-8") as nowhere, \
                contextlib.redirect_stdout(nowhere):
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)


def _autocasts() -> List[Any]:
    """The autocast of this thread, for another one to enter."""
    torch = _torch()
    return [torch.autocast(device, dtype=torch.get_autocast_dtype(device))
            for device in ("cpu", "cuda") if torch.is_autocast_enabled(device)]


def _convert(called: _Called, inputs: Sequence[Any], shapes: Any, names: List[str],
             autocasts: Sequence[Any]) -> bytes:
    torch = _torch()
    given = tuple(as_real(inputs[i].detach()) for i in called.tensors)
    with contextlib.ExitStack() as entered, torch.no_grad(), _quiet():
        for autocast in autocasts:
            entered.enter_context(autocast)
        program = torch.export.export(called.module, given, dynamic_shapes=shapes, strict=False)
        program = program.run_decompositions(_slower_ones())
        _check(program)
        made = torch.onnx.export(program, input_names=names, dynamo=True, verbose=False)
    data: bytes = made.model_proto.SerializeToString()
    return data


def _reason(raised: BaseException) -> str:
    """The words of the first cause, of torch's long ones."""
    while raised.__cause__ is not None:
        raised = raised.__cause__
    lines = [line for line in str(raised).splitlines() if line.strip()]
    return f"{type(raised).__name__}: {lines[0] if lines else ''}"


def export(graph: Any, inputs: Sequence[Any], freeze: bool, is_general: bool) -> Plan:
    """A graph as ONNX, for any sizes or for those of the inputs. ``Unconvertible`` says what stands
    against it."""
    called = _Called(_with_sizes_of_tensors(graph, inputs, is_general), inputs,
                     _weights(graph) if freeze else [])
    if not any(kind in (_MADE, _COMPLEX) for kind in called.outputs):
        raise Unconvertible("it computes no tensor")
    names = [f"in{i}" for i in range(len(called.tensors))]
    shapes = _shapes(graph, called.tensors) if is_general else None
    try:
        # a thread knows nothing of what torch is tracing here, and adds no guards to it
        with concurrent.futures.ThreadPoolExecutor(1) as thread:
            data = thread.submit(_convert, called, inputs, shapes, names, _autocasts()).result()
    except Unconvertible:
        raise
    except Exception as raised:  # whatever torch's exporter raises
        raise Unconvertible(_reason(raised)) from raised
    return Plan(data, tuple(called.tensors), called.outputs)


# ---- the same ----

_TOLERANCES = {"torch.float16": 1e-2, "torch.bfloat16": 5e-2, "torch.float64": 1e-6}


def coarsest_tolerance(graph: Any) -> float:
    """Of the types that a graph computes in: with autocast they are shorter than its results'."""
    seen = [node.meta.get("example_value", node.meta.get("val")) for node in graph.graph.nodes]
    return max([_TOLERANCES.get(str(getattr(value, "dtype", None)), 0.0) for value in seen],
               default=0.0)


def difference(made: Sequence[Any], want: Any, tolerance: float = 0.0) -> Optional[str]:
    """In words, the first result that is not the same; None: there is none. ``tolerance``: what its
    type allows, or more."""
    wanted = want if isinstance(want, (tuple, list)) else (want,)
    pairs = [(index, as_real(ours), as_real(theirs.detach())) for index, (ours, theirs) in
             enumerate(zip(made, wanted)) if isinstance(theirs, _torch().Tensor)]
    # what is a hundredth of others in size may be what rounding left of a sum that is zero
    least = 0.01 * max([_largest(theirs) for _, _, theirs in pairs], default=0.0)
    for index, ours, theirs in pairs:
        if not _is_same(ours, theirs, least, tolerance):
            return f"result {index} is not the same"
    return None


def _largest(tensor: Any) -> float:
    if not tensor.is_floating_point():
        return 0.0
    known = tensor[_torch().isfinite(tensor)]
    return float(known.abs().max().item()) if known.numel() else 0.0


def _is_same(ours: Any, theirs: Any, least: float, tolerance: float) -> bool:
    torch = _torch()
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return False
    if not theirs.is_floating_point() or not theirs.numel():
        return bool(torch.equal(ours, theirs))
    tolerance = max(_TOLERANCES.get(str(theirs.dtype), 1e-3), tolerance)
    return bool(torch.allclose(ours, theirs, rtol=0, equal_nan=True,
                               atol=tolerance * max(_largest(theirs), least)))
