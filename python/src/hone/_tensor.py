"""Tensors to and from the library without copies: DLPack, and numpy's array interface."""

from __future__ import annotations

import ctypes
import importlib
import math
import sys
from ctypes import POINTER, c_char_p, c_int64, c_void_p, py_object
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ._errors import InvalidError, TypeMismatchError
from ._library import DLDataType, DLDevice, DLManagedTensor, DLTensor, Deleter

_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
_NAMES = {"bfloat": 4, "int": 0, "uint": 1, "float": 2}  # the bits follow
_WHOLE_NAMES = {
    "bool": (6, 8), "float8_e3m4": (7, 8), "float8_e4m3": (8, 8), "float8_e4m3b11fnuz": (9, 8),
    "float8_e4m3fn": (10, 8), "float8_e4m3fnuz": (11, 8), "float8_e5m2": (12, 8),
    "float8_e5m2fnuz": (13, 8), "float8_e8m0fnu": (14, 8), "float6_e2m3fn": (15, 6),
    "float6_e3m2fn": (16, 6), "float4_e2m1fn": (17, 4)}

_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = c_void_p
_capsule_pointer.argtypes = [py_object, c_char_p]
_capsule_valid = ctypes.pythonapi.PyCapsule_IsValid
_capsule_valid.restype = ctypes.c_int
_capsule_valid.argtypes = [c_void_p, c_char_p]
_CapsuleEnd = ctypes.CFUNCTYPE(None, c_void_p)
_capsule_new = ctypes.pythonapi.PyCapsule_New
_capsule_new.restype = py_object
_capsule_new.argtypes = [c_void_p, c_char_p, _CapsuleEnd]
_raw_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))
_CAPSULE = b"dltensor"


class View:
    """A tensor of somebody's as the library takes it; keeps it alive."""

    def __init__(self, tensor: DLTensor, owner: Any) -> None:
        self.tensor = tensor
        self.owner = owner
        self.pointer = ctypes.pointer(tensor)
        self.copied: Any = None  # the copy that this is of, else it is the caller's memory
        self._lender: Any = None  # whose copy that is

    def lend(self, lender: Any) -> "View":
        """Whoever gave the tensor gets what is written to a copy of it."""
        self._lender = lender
        return self

    def give_back(self) -> None:
        """Puts what was written to a copy where its lender has it; who is only read from stays
        untouched, as it may be read-only, expanded, or part of a graph of gradients."""
        if self._lender is None or self.copied is None:
            return
        if _is_torch(self._lender):
            torch, lent = sys.modules["torch"], self._lender.detach()
            if not torch.equal(_bytes_of(lent.resolve_neg()), _bytes_of(self.copied)):
                lent.copy_(self.copied)
            return
        array = _as_array(self._lender)
        if array.tobytes() == self.copied.tobytes():
            return
        if not array.flags.writeable:
            raise InvalidError("a tensor that is written to is read-only")
        array[...] = self.copied


def _bytes_of(tensor: Any) -> Any:
    return tensor.contiguous().reshape(-1).view(sys.modules["torch"].uint8)


def _is_name_of_ml_dtypes(name: str) -> bool:
    """Whether it is of whole bytes, and numpy lacks it."""
    return name == "bfloat16" or name.startswith("float8_") and name in _WHOLE_NAMES


def _dtype_of_array(value: Any, letters: str) -> DLDataType:
    """The type of an array's elements; those that numpy lacks are known by the names that
    ml_dtypes gives them."""
    name = str(getattr(value, "dtype", ""))
    if _is_name_of_ml_dtypes(name):
        return parse_dtype(name)
    if letters[0] != ">" and letters[1] in _CODES:
        return DLDataType(_CODES[letters[1]], 8 * int(letters[2:]), 1)
    raise TypeMismatchError(f"arrays of type {letters} are not taken: "
                            "x.astype(\"float32\") makes numbers of the type float32")


def _of_array_interface(value: Any) -> View:
    facts = value.__array_interface__
    dtype = _dtype_of_array(value, facts["typestr"])
    size = dtype.bits // 8
    shape = facts["shape"]
    strides = facts.get("strides")
    if strides and any(step % size for step in strides):  # fields of records
        return _of_copy(value)
    room = (c_int64 * max(len(shape), 1))(*shape)
    tensor = DLTensor(facts["data"][0], DLDevice(1, 0), len(shape), dtype, room, None, 0)
    steps = (c_int64 * len(shape))(*[step // size for step in strides]) if strides else None
    if steps is not None:
        tensor.strides = ctypes.cast(steps, POINTER(c_int64))
    return View(tensor, (value, room, steps))


def _as_array(value: Any) -> Any:
    numpy = importlib.import_module("numpy")
    known = hasattr(value, "__array_interface__")
    return numpy.asarray(value) if known else numpy.from_dlpack(value)


def _of_copy(value: Any) -> View:
    """A view of a dense copy."""
    copy = value.detach().clone(memory_format=sys.modules["torch"].contiguous_format) \
        if _is_torch(value) else _as_array(value).copy(order="C")
    seen = view(copy)
    seen.copied = copy
    return seen


def _of_dlpack(value: Any) -> View:
    try:
        capsule = value.__dlpack__()
    except (BufferError, RuntimeError, TypeError) as reason:  # sparse, of no device, of no type
        raise InvalidError(f"the tensor cannot be taken: {reason}") from reason
    address = _capsule_pointer(capsule, _CAPSULE)
    managed = ctypes.cast(address, POINTER(DLManagedTensor))
    return View(managed.contents.dl_tensor, (value, capsule))


def view(value: Any, dtype: Optional[str] = None) -> View:
    """What somebody gave, as a view: numpy, torch, anything with DLPack; numbers and lists by
    numpy, as elements of ``dtype``, if it is given."""
    if isinstance(value, Tensor):
        return View(value.tensor, value)
    if _is_torch(value):
        return _of_dlpack(value.detach().resolve_neg())  # its sign is not in its memory
    if hasattr(value, "mask") and hasattr(value, "filled"):
        raise InvalidError("a masked array is no tensor: x.filled(0) has a number at each place")
    if hasattr(value, "__array_interface__"):
        return _of_array_interface(value)
    if hasattr(value, "__dlpack__"):
        return _of_dlpack(value)
    if isinstance(value, (int, float, bool, list, tuple)):
        return _of_array_interface(_of_numbers(value, dtype))
    raise InvalidError(f"a value of type {type(value).__name__} is no tensor: numpy, torch and others "
                       "with __dlpack__ are")


def _type_in_numpy(numpy: Any, dtype: Optional[str]) -> Any:
    """The type of that name, numpy's or one of ml_dtypes; None: there is none."""
    if dtype in numpy.sctypeDict:
        return numpy.dtype(dtype)
    if not _is_name_of_ml_dtypes(dtype or ""):
        return None
    try:
        return numpy.dtype(getattr(importlib.import_module("ml_dtypes"), dtype or ""))
    except (ImportError, AttributeError):
        return None


def _of_numbers(value: Any, dtype: Optional[str]) -> Any:
    numpy = importlib.import_module("numpy")
    kind = _type_in_numpy(numpy, dtype)
    try:
        made = numpy.asarray(value)
        if kind is None:
            return made
        are_whole = made.dtype.kind in "iu" and kind.kind in "iub" or not made.size
        is_plain = kind.kind in "iufcb"  # numpy knows no rule for others
        wanted = made.astype(kind, casting="same_kind" if is_plain and not are_whole else "unsafe")
    except (TypeError, ValueError, OverflowError) as reason:
        raise InvalidError(f"the list is no tensor: {reason}") from reason
    if are_whole and (wanted != made).any():
        raise InvalidError(f"the list is no tensor: {made[wanted != made].flat[0]} is no {dtype}")
    return wanted


def _is_torch(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def torch_gpu(values: Sequence[Any]) -> Any:
    """The GPU where a torch tensor among them lies; None: there is none."""
    for value in values:
        if _is_torch(value) and value.device.type == "cuda":
            return value.device
    return None


def torch_empty(shape: Sequence[int], dtype: str, device: Any) -> Any:
    """A torch tensor to be written."""
    torch = sys.modules["torch"]
    return torch.empty(list(shape), dtype=getattr(torch, dtype), device=device)


def dense(value: Any, dtype: Optional[str] = None) -> View:
    """A view, of a copy where the tensor is not dense and row-major."""
    seen = view(value, dtype)
    return seen if _is_dense(seen.tensor) else _of_copy(value)


def writable(value: Any) -> View:
    """A dense view of what may be written to; ``give_back`` belongs after the call, for where the
    caller's memory is not dense, or is read-only."""
    facts = getattr(value, "__array_interface__", None)
    is_read_only = facts is not None and not _is_torch(value) and facts["data"][1]
    is_negated = _is_torch(value) and value.is_neg()
    seen = _of_copy(value) if is_read_only or is_negated else dense(value)
    return seen.lend(value)


def _is_dense(tensor: DLTensor) -> bool:
    step = 1
    for d in reversed(range(tensor.ndim)):
        if tensor.strides and tensor.shape[d] > 1 and tensor.strides[d] != step:
            return False
        step *= max(tensor.shape[d], 1)
    return True


def parse_dtype(name: str) -> DLDataType:
    """``"float32"`` as DLPack has it."""
    if name in _WHOLE_NAMES:
        return DLDataType(*_WHOLE_NAMES[name], 1)
    for prefix, code in _NAMES.items():
        bits = name[len(prefix):]
        if name.startswith(prefix) and bits.isdigit():
            return DLDataType(code, int(bits), 1)
    raise TypeMismatchError(f"'{name}' is no type of elements")


def dtype_name(dtype: DLDataType) -> str:
    """The name of a type of elements, as ``"float32"``."""
    for name, (code, _) in _WHOLE_NAMES.items():
        if code == dtype.code:
            return name
    for name, code in _NAMES.items():
        if code == dtype.code:
            return f"{name}{dtype.bits}"
    return f"code{dtype.code}_{dtype.bits}"


# DLManagedTensors that others hold, by address: they live until their deleter is called.
_lent: Dict[int, Tuple[Any, ...]] = {}


def _forget(managed: Any) -> None:
    _lent.pop(ctypes.addressof(managed.contents), None)


def _forget_capsule(capsule: int) -> None:
    if _capsule_valid(capsule, _CAPSULE):  # nobody took what is in it
        _lent.pop(_raw_pointer(capsule, _CAPSULE), None)


_give_back = Deleter(_forget)
_end_capsule = _CapsuleEnd(_forget_capsule)


_PLAIN: Dict[Tuple[int, int], Any] = {
    (0, 8): ctypes.c_int8, (0, 16): ctypes.c_int16, (0, 32): ctypes.c_int32,
    (0, 64): ctypes.c_int64, (1, 8): ctypes.c_uint8, (1, 16): ctypes.c_uint16,
    (1, 32): ctypes.c_uint32, (1, 64): ctypes.c_uint64, (2, 32): ctypes.c_float,
    (2, 64): ctypes.c_double, (6, 8): ctypes.c_bool}


class Tensor:
    """Memory of this package, or of a model: what outputs are where there is neither numpy nor
    torch. Others take it by ``numpy.from_dlpack`` and ``torch.from_dlpack``."""

    def __init__(self, dtype: DLDataType, shape: Sequence[int]) -> None:
        count = 1
        for extent in shape:
            count *= extent
        size = max(count * ((dtype.bits + 7) // 8), 1)
        self._memory: Any = ctypes.create_string_buffer(size + 64)
        address = (ctypes.addressof(self._memory) + 63) // 64 * 64
        self._shape = (c_int64 * max(len(shape), 1))(*shape)
        self.managed = DLManagedTensor(
            DLTensor(address, DLDevice(1, 0), len(shape), dtype, self._shape, None, 0), None)
        self._maker: Any = None  # the model that allocated what is here now

    def was_made(self, maker: Any) -> None:
        """A model allocated it: its deleter, which is in the model, frees it."""
        self._maker = maker if self.managed.deleter else None

    def free_made(self) -> None:
        """Ends what a model allocated."""
        if getattr(self, "_maker", None) is not None:
            self.managed.deleter(ctypes.pointer(self.managed))
            self._maker = None

    def __del__(self) -> None:
        self.free_made()

    @property
    def tensor(self) -> DLTensor:
        """As the library has it."""
        tensor: DLTensor = self.managed.dl_tensor
        return tensor

    @property
    def shape(self) -> Tuple[int, ...]:
        """Its extents."""
        return tuple(self.tensor.shape[d] for d in range(self.tensor.ndim))

    @property
    def dtype(self) -> str:
        """The type of its elements, as ``"float32"``."""
        return dtype_name(self.tensor.dtype)

    @classmethod
    def of(cls, values: Any, dtype: str = "float32") -> "Tensor":
        """A tensor of nested lists of numbers, for where there is no numpy."""
        shape: List[int] = []
        flat: List[Any] = [values]
        while flat and isinstance(flat[0], (list, tuple)):
            shape.append(len(flat[0]))
            if any(len(row) != shape[-1] for row in flat):
                raise InvalidError("rows of different lengths are no tensor")
            flat = [item for row in flat for item in row]
        made = cls(parse_dtype(dtype), shape)
        made._elements()[:] = flat
        return made

    def _elements(self) -> Any:
        key = (self.tensor.dtype.code, self.tensor.dtype.bits)
        if key not in _PLAIN:
            raise TypeMismatchError(f"{self.dtype} has no type in Python")
        count = 1
        for extent in self.shape:
            count *= extent
        return (_PLAIN[key] * count).from_address(self.tensor.data)

    def numpy(self) -> Any:
        """The same memory as an array; of a type of ml_dtypes, where numpy has none."""
        return _as_numpy(importlib.import_module("numpy"), self)

    def tolist(self) -> List[Any]:
        """The elements in order, of types that Python has."""
        return list(self._elements())

    def __dlpack_device__(self) -> Tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, *, stream: Optional[int] = None, **_: Any) -> Any:
        shape = (c_int64 * max(len(self.shape), 1))(*self.shape)
        lent = DLManagedTensor(DLTensor(self.tensor.data, DLDevice(1, 0), self.tensor.ndim,
                                        self.tensor.dtype, shape, None,
                                        self.tensor.byte_offset), None, _give_back)
        address = ctypes.addressof(lent)
        _lent[address] = (lent, shape, self)
        return _capsule_new(address, _CAPSULE, _end_capsule)

    def __repr__(self) -> str:
        return f"hone.Tensor({self.dtype}{list(self.shape)})"


def like_inputs(made: Tensor, inputs: Sequence[Any]) -> Any:
    """An output as the caller's kind of tensor, over the same memory: torch when an input is,
    else numpy when it is there and has the type, or ml_dtypes has, and an input is of one of its."""
    if any(_is_torch(value) for value in inputs):
        return _as_torch(sys.modules["torch"], made)
    try:
        numpy = importlib.import_module("numpy")
    except ImportError:
        return made
    if made.tensor.dtype.code in _CODES.values() or any(map(_is_of_ml_dtypes, inputs)):
        return _as_numpy(numpy, made)
    return made


def _as_torch(torch: Any, made: Tensor) -> Any:
    """By a buffer, which torch gives back by Python's own count; what DLPack names as its end is a
    function of Python, and may be called while an exception is on its way."""
    dtype = getattr(torch, made.dtype, None)
    if dtype is None or made.tensor.device.device_type != 1:
        return torch.from_dlpack(made)
    count = math.prod(made.shape)
    if not count:
        return torch.empty(made.shape, dtype=dtype)
    address = made.tensor.data + made.tensor.byte_offset
    memory: Any = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
    memory.made = made
    return torch.frombuffer(memory, dtype=dtype).view(made.shape)


def _is_of_ml_dtypes(value: Any) -> bool:
    kind = getattr(getattr(value, "dtype", None), "type", None)
    return getattr(kind, "__module__", None) == "ml_dtypes"


class _Interface:
    """numpy's array interface over a Tensor: writable, whatever numpy's version. A type that
    numpy lacks goes as whole numbers of its size."""

    def __init__(self, made: Tensor) -> None:
        letter = {code: letter for letter, code in _CODES.items()}.get(made.tensor.dtype.code, "u")
        self.made = made
        self.__array_interface__ = {
            "version": 3, "shape": made.shape, "data": (made.tensor.data or 0, False),
            "typestr": f"{'|' if made.tensor.dtype.bits == 8 else '<'}{letter}"
                       f"{made.tensor.dtype.bits // 8}"}


def _as_numpy(numpy: Any, made: Tensor) -> Any:
    dtype = made.dtype
    if made.tensor.dtype.code not in _CODES.values():
        if made.tensor.dtype.bits % 8:
            raise TypeMismatchError(f"numpy has no {dtype}")
        dtype = getattr(importlib.import_module("ml_dtypes"), dtype)
    if 0 in made.shape:
        return numpy.empty(made.shape, dtype)
    return numpy.asarray(_Interface(made)).view(dtype)
