"""torch modules as ONNX, by torch's own exporter."""

from __future__ import annotations

import contextlib
import importlib
import io
from typing import Any, Iterator, Optional, Sequence

from . import _graphs
from ._errors import InvalidError, UnsupportedError


def export(model: Any, inputs: Sequence[Any], names: Optional[Sequence[str]],
           dynamic_shapes: Any = None) -> bytes:
    """The bytes of an ONNX file of a module, as it is for inference, or of an exported program.
    These, and what has sizes that stay open, torch hands to onnxscript."""
    torch = importlib.import_module("torch")
    given = list(names or []) or None
    exported = getattr(torch.export, "ExportedProgram", None)
    if exported is not None and isinstance(model, exported):
        _check(model)
        return _bytes(torch.onnx.export(model, input_names=given, dynamo=True))
    if not inputs:
        raise InvalidError("a torch module is loaded with example inputs: load(module, x)")
    if len(inputs) == 1 and isinstance(inputs[0], (tuple, list)):
        inputs = inputs[0]
    with torch.no_grad(), _for_inference(model):
        if dynamic_shapes is not None:
            return _bytes(torch.onnx.export(model, tuple(inputs), input_names=given, dynamo=True,
                                            dynamic_shapes=dynamic_shapes))
        out = io.BytesIO()
        torch.onnx.export(model, tuple(inputs), out, input_names=given, dynamo=False)
    return out.getvalue()


@contextlib.contextmanager
def _for_inference(model: Any) -> Iterator[None]:
    """What drops or averages in training does not meanwhile."""
    modules = [*model.modules()] if hasattr(model, "modules") else []
    modes = [module.training for module in modules]
    for module in modules:
        module.training = False
    try:
        yield
    finally:
        for module, mode in zip(modules, modes):
            module.training = mode


def _check(program: Any) -> None:
    """Refuses a program that was exported for training: ONNX would say less than it does."""
    for node in program.graph.nodes:
        named = getattr(getattr(node.target, "_schema", None), "arguments", ())
        given = {**dict(zip((one.name for one in named), node.args)), **node.kwargs}
        if given.get("training") is True or given.get("train") is True and _graphs.draws(node):
            raise UnsupportedError(f"the program was exported for training ({node.target}): call "
                                   "model.eval() before torch.export.export")


def _bytes(program: Any) -> bytes:
    data: bytes = program.model_proto.SerializeToString()
    return data
