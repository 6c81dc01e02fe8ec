"""Compiled models called again and again with torch tensors of the same sizes: what a call needs is
made once for each thread, and addresses alone change."""

from __future__ import annotations

import ctypes
import importlib
import threading
from ctypes import POINTER, c_int64
from typing import Any, List, Optional, Sequence, Tuple

from . import _library as lib
from ._library import LIB
from .model import Model


def prepare(model: Model, tensors: Sequence[Any]) -> Optional["Prepared"]:
    """Of a model whose inputs and outputs have known sizes; else None."""
    entry = model._entry(None)
    outputs = [entry.outputs[i] for i in range(entry.output_count)]
    inputs = [entry.inputs[i] for i in range(entry.input_count)]
    is_known = all(port.shape[d] >= 0 for port in inputs + outputs for d in range(port.ndim))
    if not tensors or not is_known or any(port.sized != lib.GIVEN for port in outputs):
        return None
    return Prepared(model, entry, (inputs, outputs), [tensor.device for tensor in tensors])


def _device(device: Any) -> lib.DLDevice:
    return lib.DLDevice(2, device.index or 0) if device.type == "cuda" else lib.DLDevice(1, 0)


class _Room:
    """The tensors of one call."""

    def __init__(self, ports: Sequence[Any], devices: Sequence[Any]) -> None:
        self.shapes = [(c_int64 * max(port.ndim, 1))(*port.shape[:port.ndim]) for port in ports]
        self.tensors = [
            lib.DLTensor(None, _device(device), port.ndim, port.dtype, shape, None, 0)
            for port, shape, device in zip(ports, self.shapes, devices)]
        pointers = [ctypes.pointer(tensor) for tensor in self.tensors]
        self.array = (POINTER(lib.DLTensor) * max(len(pointers), 1))(*pointers)
        self.place = lib.ref(self.array)

    def fill(self, values: Sequence[Any]) -> None:
        """With the addresses of torch tensors."""
        for tensor, value in zip(self.tensors, values):
            tensor.data = value.data_ptr()


class Prepared:
    """``prepared(*tensors)`` gives torch tensors of the GPU where one of those is, else of the
    CPU."""

    def __init__(self, model: Model, entry: Any, ports: Tuple[List[Any], List[Any]],
                 devices: List[Any]) -> None:
        self._torch = importlib.import_module("torch")
        self._model, self._entry, self._kept = model, lib.ref(entry), entry
        self._ports = ports
        self._devices = devices
        self._device = next((d for d in devices if d.type == "cuda"), devices[0])
        self._made = [(tuple(port.shape[:port.ndim]),
                       getattr(self._torch, port.dtype_name.decode())) for port in ports[1]]
        self._rooms = threading.local()

    def _room(self) -> Tuple[_Room, _Room]:
        found: Optional[Tuple[_Room, _Room]] = getattr(self._rooms, "found", None)
        if found is None:
            inputs, outputs = self._ports
            found = (_Room(inputs, self._devices),
                     _Room(outputs, [self._device] * len(outputs)))
            self._rooms.found = found
        return found

    def __call__(self, *values: Any) -> Tuple[Any, ...]:
        given = [value.resolve_neg().contiguous() for value in values]
        made = [self._torch.empty(shape, dtype=dtype, device=self._device)
                for shape, dtype in self._made]
        inputs, outputs = self._room()
        inputs.fill(given)
        outputs.fill(made)
        if self._device.type == "cuda":  # a model waits for the default stream alone
            self._torch.cuda.current_stream(self._device).synchronize()
        LIB.hone_model_run(self._model._pointer, self._entry, inputs.place, outputs.place)
        return tuple(made)
