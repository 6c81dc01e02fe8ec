"""torch modules as ONNX, by torch's own exporter."""

from __future__ import annotations

import importlib
import io
from typing import Any, Optional, Sequence

from ._errors import InvalidError


def export(model: Any, inputs: Sequence[Any], names: Optional[Sequence[str]],
           dynamic_shapes: Any = None) -> bytes:
    """The bytes of an ONNX file of a module, or of an exported program. These, and what has sizes
    that stay open, torch hands to onnxscript."""
    torch = importlib.import_module("torch")
    given = list(names or []) or None
    exported = getattr(torch.export, "ExportedProgram", None)
    if exported is not None and isinstance(model, exported):
        return _bytes(torch.onnx.export(model, input_names=given, dynamo=True))
    if not inputs:
        raise InvalidError("a torch module is loaded with example inputs: load(module, x)")
    if len(inputs) == 1 and isinstance(inputs[0], (tuple, list)):
        inputs = inputs[0]
    with torch.no_grad():
        if dynamic_shapes is not None:
            return _bytes(torch.onnx.export(model, tuple(inputs), input_names=given, dynamo=True,
                                            dynamic_shapes=dynamic_shapes))
        out = io.BytesIO()
        torch.onnx.export(model, tuple(inputs), out, input_names=given, dynamo=False)
    return out.getvalue()


def _bytes(program: Any) -> bytes:
    data: bytes = program.model_proto.SerializeToString()
    return data
