"""External functions: what programs call that stands elsewhere, here in Python."""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, c_int32, c_void_p
from typing import Any, Callable, List, Optional

from . import _library as lib
from ._errors import InvalidError
from ._library import LIB, DLTensor
from ._tensor import Tensor, like_inputs

_Tensors = CFUNCTYPE(c_int32, POINTER(POINTER(DLTensor)), c_int32)
_DLPACK = 1
_FAILED = 1

# What is registered lives as long as the library may call it: for ever, as a model that is loaded
# may be about to.
_kept: List[Any] = []


class _Borrowed(Tensor):
    """A tensor of a call, for its time."""

    def __init__(self, tensor: DLTensor) -> None:
        self._maker = None
        self.managed = lib.DLManagedTensor(tensor, None)


def register(name: str, function: Optional[Callable[..., None]]) -> None:
    """Registers a Python function under the name that programs call (``R.call_dps_packed``,
    ``T.call_packed``). It gets the tensors as numpy arrays (``hone.Tensor`` without numpy), inputs
    first, and writes into those behind; they live during the call. An exception ends the call of
    the model, which raises it. ``None`` ends it."""
    if function is None:
        LIB.hone_extern_register(lib.text(name), None, _DLPACK)
        return
    if not callable(function):
        raise InvalidError(f"'{name}' gets a {type(function).__name__}, which cannot be called")
    called = function

    def call(args: Any, count: int) -> int:
        try:
            called(*[like_inputs(_Borrowed(args[i].contents), []) for i in range(count)])
            return 0
        except BaseException as raised:  # it cannot go through C
            lib.keep_raised(raised)
            return _FAILED

    pointer = _Tensors(call)
    _kept.append(pointer)
    LIB.hone_extern_register(lib.text(name), ctypes.cast(pointer, c_void_p), _DLPACK)
