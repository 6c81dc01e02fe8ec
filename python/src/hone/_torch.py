"""torch modules as ONNX, by torch's own exporter."""

from __future__ import annotations

import importlib
import io
from typing import Any, Optional, Sequence

from ._errors import InvalidError


def export(model: Any, inputs: Sequence[Any], names: Optional[Sequence[str]]) -> bytes:
    """The bytes of an ONNX file of a module, or of an exported program (which torch hands to
    onnxscript)."""
    torch = importlib.import_module("torch")
    exported = getattr(torch.export, "ExportedProgram", None)
    if exported is not None and isinstance(model, exported):
        program = torch.onnx.export(model, input_names=list(names or []) or None, dynamo=True)
        data: bytes = program.model_proto.SerializeToString()
        return data
    if not inputs:
        raise InvalidError("a torch module is loaded with example inputs: load(module, x)")
    if len(inputs) == 1 and isinstance(inputs[0], (tuple, list)):
        inputs = inputs[0]
    out = io.BytesIO()
    with torch.no_grad():
        torch.onnx.export(model, tuple(inputs), out, input_names=list(names or []) or None,
                          dynamo=False)
    return out.getvalue()
