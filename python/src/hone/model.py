"""Compiled models: called, timed, saved."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import statistics
import tempfile
import time
import weakref
from ctypes import POINTER
from dataclasses import dataclass
from typing import (Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple,
                    Union)

from . import _errors, _library as lib
from ._errors import InvalidError, NotFoundError
from ._library import LIB
from ._profile import Profile, Recorder, Run
from ._tensor import (Tensor, View, dense, like_inputs, torch_empty, torch_gpu, view,
                      writable)

_MOST_DIMS = 16


@dataclass(frozen=True)
class Port:
    """A tensor that a model takes or gives; a size that is not known before a call is a name, or
    None."""

    name: str
    dtype: str
    shape: Tuple[Union[int, str, None], ...]


@dataclass(frozen=True)
class Timing:
    """Seconds of one call: the median, and an interval that holds the true one 19 times of 20."""

    median: float
    low: float
    high: float
    samples: Tuple[float, ...]

    def __str__(self) -> str:
        return f"{self.median * 1e6:.4g} us ({self.low * 1e6:.4g} to {self.high * 1e6:.4g})"


@dataclass(frozen=True)
class Comparison:
    """Two models timed in turns; ``ratio`` above 1: this one is faster by that factor."""

    this: Timing
    other: Timing

    @property
    def ratio(self) -> float:
        """How many times as fast this one is."""
        return self.other.median / self.this.median

    def __str__(self) -> str:
        return f"{self.this}; the other {self.other}; {self.ratio:.3g} times as fast"


def _summary(samples: Sequence[float]) -> Timing:
    ordered = sorted(samples)
    count = len(ordered)
    half = 0.98 * count ** 0.5  # ranks around the median: 1.96 standard deviations of a coin
    low = ordered[max(0, int(count / 2 - half))]
    high = ordered[min(count - 1, int(count / 2 + half))]
    return Timing(statistics.median(ordered), low, high, tuple(samples))


class Folder:
    """Temporary files, removed with this."""

    def __init__(self, files: Optional[Mapping[str, bytes]] = None) -> None:
        self.path = tempfile.mkdtemp(prefix="hone-python-")
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        for name, data in (files or {}).items():
            with open(self.file(name), "wb") as out:
                out.write(data)

    def file(self, name: str) -> str:
        """The path of a file in it."""
        return os.path.join(self.path, name)


def contents(paths: Iterable[str]) -> Dict[str, bytes]:
    """The bytes of files, by their names without folders."""
    found = {}
    for path in paths:
        with open(path, "rb") as file:
            found[os.path.basename(path)] = file.read()
    return found


def _put(file: str, place: str) -> None:
    """Copies a file; what was there stays as it was for models that are open."""
    draft = f"{place}.{os.getpid()}.tmp"
    try:
        shutil.copyfile(file, draft)
        os.replace(draft, place)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(draft)
        raise


def _unpickled(name: str, files: Dict[str, bytes], report: Dict[str, Any]) -> "Model":
    folder = Folder(files)
    return Model(folder.file(name), report, folder)


class Model:
    """A compiled model, loaded: ``model(x)`` runs it on numpy arrays, torch tensors or whatever
    has ``__dlpack__``, without copies."""

    def __init__(self, path: str, report: Optional[Dict[str, Any]] = None,
                 keep: Optional[Folder] = None) -> None:
        self._path = os.path.abspath(path)
        self._keep = keep  # the folder that it lies in
        self.report = report or {}
        out = lib.out_pointer()
        with _errors.of_file(self._path):
            LIB.hone_model_open(lib.text(self._path), lib.ref(out))
        self._pointer = out
        described = LIB.hone_model_describe(out)
        self._info = ctypes.cast(described, POINTER(lib.ModelInfo)).contents

    def __del__(self) -> None:
        if getattr(self, "_pointer", None) and LIB is not None:
            LIB.hone_model_close(self._pointer)

    # ---- looking ----

    @property
    def target(self) -> str:
        """What it was compiled for."""
        return (self._info.target or b"").decode()

    @property
    def functions(self) -> List[str]:
        """What can be called."""
        return [self._info.entries[i].name.decode() for i in range(self._info.entry_count)]

    def inputs(self, function: Optional[str] = None) -> List[Port]:
        """What a function takes."""
        entry = self._entry(function)
        return [_port(entry.inputs[i]) for i in range(entry.input_count)]

    def outputs(self, function: Optional[str] = None) -> List[Port]:
        """What a function gives."""
        entry = self._entry(function)
        return [_port(entry.outputs[i]) for i in range(entry.output_count)]

    def __repr__(self) -> str:
        return f"hone.Model({', '.join(self.functions)})"

    def _entry(self, function: Optional[str]) -> Any:
        found = LIB.hone_model_find(self._pointer, lib.text(function))
        if not found:
            raise NotFoundError(f"there is no function '{function}'; there are "
                                + ", ".join(self.functions))
        return ctypes.cast(found, POINTER(lib.Entry)).contents

    # ---- calling ----

    def __call__(self, *inputs: Any, function: Optional[str] = None, **named: Any) -> Any:
        """Runs a function; inputs in order, or by name. One output comes alone, several as a
        tuple: torch tensors where an input is one, else numpy arrays."""
        entry = self._entry(function)
        call = Call(self, entry, self._in_order(entry, inputs, named))
        call.run()
        return call.results()

    def _in_order(self, entry: Any, inputs: Sequence[Any], named: Dict[str, Any]) -> List[Any]:
        names = [entry.inputs[i].name.decode() for i in range(entry.input_count)]
        given = list(inputs)
        for name in names[:len(given)]:
            if name in named:
                raise InvalidError(f"input '{name}' is given in order and by name")
        for name in names[len(given):]:
            if name in named:
                given.append(named.pop(name))
        if named or len(given) != len(names):
            wrong = f"; there is no '{sorted(named)[0]}'" if named else ""
            raise InvalidError(f"the model takes {len(names)} inputs ({', '.join(names)}), got "
                               f"{len(given)}{wrong}")
        return given

    def raise_last(self) -> None:
        """Raises the words of the last failure in this thread."""
        raise _errors.make("invalid", (self._info.last_error() or b"").decode())

    # ---- timing ----

    def benchmark(self, *inputs: Any, other: Union[None, "Model", Callable[..., Any]] = None,
                  rounds: int = 50, function: Optional[str] = None) -> Union[Timing, Comparison]:
        """Times calls; with ``other`` (a model, or anything that is called in the same way, as a
        session of another runtime) in turns, so that a drifting machine is fair to both."""
        mine = Call(self, self._entry(function), list(inputs))
        theirs = other
        works: List[Callable[[], Any]] = [mine.run]
        if isinstance(theirs, Model):
            works.append(Call(theirs, theirs._entry(function), list(inputs)).run)
        elif theirs is not None:
            called = theirs
            works.append(lambda: called(*inputs))
        times = _in_turns(works, max(rounds, 5))
        timings = [_summary(samples) for samples in times]
        return timings[0] if other is None else Comparison(timings[0], timings[1])

    def profile(self, *inputs: Any, rounds: int = 20, function: Optional[str] = None) -> Profile:
        """What each kernel takes where it runs, in ``rounds`` calls."""
        call = Call(self, self._entry(function), list(inputs))
        call.run()
        recorder = Recorder()
        for _ in range(max(rounds, 1)):
            recorder.add(call.watched())
        return recorder.profile()

    # ---- keeping ----

    def _files(self) -> List[str]:
        """The library, its header, and the weights beside it, which it finds by the name that it
        was compiled under."""
        folder, _ = os.path.split(self._path)
        header = os.path.splitext(self._path)[0] + ".h"
        with open(self._path, "rb") as library:
            code = library.read()
        weights = [os.path.join(folder, name) for name in sorted(os.listdir(folder))
                   if name.endswith(".weights") and os.fsencode(name) + b"\0" in code]
        return [self._path, *([header] if os.path.exists(header) else []), *weights]

    def __reduce__(self) -> Any:
        """Pickled as its files: it goes to other processes of machines that it was compiled for."""
        return _unpickled, (os.path.basename(self._path), contents(self._files()), self.report)

    def __deepcopy__(self, _: Any) -> "Model":
        return self  # models do not change

    def __copy__(self) -> "Model":
        return self

    def save(self, path: Union[str, "os.PathLike[str]"]) -> List[str]:
        """Copies the library to PATH.so, its header to PATH.h and weights that lie beside it."""
        wanted, ending = os.path.splitext(os.fspath(path))
        to = wanted if ending in (".so", ".h") else os.fspath(path)
        written = []
        os.makedirs(os.path.dirname(to) or ".", exist_ok=True)
        for file in self._files():
            name, suffix = os.path.splitext(os.path.basename(file))
            # the file of weights is found by the name that the library has for it
            beside = os.path.join(os.path.dirname(to), name + suffix)
            place = beside if suffix == ".weights" else to + suffix
            _put(file, place)
            written.append(place)
        return written

    @classmethod
    def open(cls, path: Union[str, "os.PathLike[str]"]) -> "Model":
        """Loads a library that was saved, or that ``hone compile`` made."""
        return cls(os.fspath(path))


def _in_turns(works: Sequence[Callable[[], Any]], rounds: int) -> List[List[float]]:
    """Seconds of one call of each; short ones are repeated within a sample."""
    repeats = []
    for work in works:
        work()
        start = time.perf_counter()
        work()
        repeats.append(max(1, min(1000, int(1e-3 / max(time.perf_counter() - start, 1e-9)))))
    times: List[List[float]] = [[] for _ in works]
    for _ in range(rounds):
        for i, work in enumerate(works):
            start = time.perf_counter()
            for _ in range(repeats[i]):
                work()
            times[i].append((time.perf_counter() - start) / repeats[i])
    return times


def _port(port: Any) -> Port:
    shape: List[Union[int, str, None]] = []
    for d in range(port.ndim):
        name = port.dim_names[d] if port.dim_names else None
        shape.append(port.shape[d] if port.shape[d] >= 0 else name.decode() if name else None)
    return Port(port.name.decode(), port.dtype_name.decode(), tuple(shape))


class Call:
    """A call with its tensors made ready: outputs are memory of this package, or torch's where an
    input lies on a GPU."""

    def __init__(self, model: Model, entry: Any, given: List[Any]) -> None:
        if len(given) != entry.input_count:
            raise InvalidError(f"the model takes {entry.input_count} inputs, got {len(given)}")
        self._model, self._entry, self._given = model, entry, given
        self._views: List[View] = [_taken(entry.inputs[i], value)
                                   for i, value in enumerate(given)]
        self._inputs = _pointers([seen.pointer for seen in self._views])
        device = torch_gpu(given)
        self._outputs = [self._make(i, shape, device) for i, shape in enumerate(self._shapes())]
        self._written: List[Any] = [made if isinstance(made, Tensor) else view(made)
                                    for made in self._outputs]
        self._places = _pointers([ctypes.pointer(made.tensor) for made in self._written])

    def _shapes(self) -> List[List[int]]:
        entry = self._entry
        room = [(ctypes.c_int64 * _MOST_DIMS)() for _ in range(entry.output_count)]
        asked = [lib.DLTensor() for _ in room]
        for tensor, shape in zip(asked, room):
            tensor.shape = ctypes.cast(shape, POINTER(ctypes.c_int64))
        pointers = _pointers([ctypes.pointer(tensor) for tensor in asked])
        if entry.output_shapes(self._inputs, pointers) != 0:
            self._model.raise_last()
        return [[tensor.shape[d] for d in range(tensor.ndim)] for tensor in asked]

    def _make(self, index: int, shape: List[int], device: Any) -> Any:
        port = self._entry.outputs[index]
        if device is not None and port.sized == lib.GIVEN:
            return torch_empty(shape, port.dtype_name.decode(), device)
        return Tensor(port.dtype, [max(extent, 0) for extent in shape])

    def run(self) -> None:
        """Once; outputs hold what came out until the next run."""
        self._run(lambda: LIB.hone_model_run(self._model._pointer, lib.ref(self._entry),
                                             lib.ref(self._inputs), lib.ref(self._places)))

    def _run(self, work: Callable[[], Any]) -> None:
        for made in self._outputs:
            if isinstance(made, Tensor):
                made.free_made()
        work()
        for seen in self._views:
            seen.give_back()
        for i, made in enumerate(self._outputs):
            if self._entry.outputs[i].sized == lib.MADE:
                made.was_made(self._model)

    def watched(self) -> List[Run]:
        """A run, with what each kernel of it took."""
        runs: List[Run] = []

        def see(_: Any, kernel: Any) -> None:
            at = kernel.contents
            runs.append((at.name.decode(), at.workload.decode(), at.schedule.decode(), at.flops,
                         at.bytes, at.ns))

        visitor = lib.KernelRunVisit(see)
        self._run(lambda: LIB.hone_model_profile(
            self._model._pointer, lib.ref(self._entry), lib.ref(self._inputs),
            lib.ref(self._places), ctypes.cast(visitor, ctypes.c_void_p), None))
        return runs

    def results(self) -> Any:
        """The outputs as the caller's kind of tensors."""
        made = [like_inputs(output, self._given) if isinstance(output, Tensor) else output
                for output in self._outputs]
        return made[0] if len(made) == 1 else tuple(made)


def _taken(port: Any, value: Any) -> View:
    return writable(value) if port.is_updated else dense(value, port.dtype_name.decode())


def _pointers(items: Sequence[Any]) -> Any:
    return (POINTER(lib.DLTensor) * max(len(items), 1))(*items)
