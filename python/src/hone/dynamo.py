"""``torch.compile(model, backend="hone")``: graphs that torch captures, compiled by Hone.

Where the package is installed torch finds the backend by itself; else ``import hone.dynamo`` makes
it known. Options go with it: ``torch.compile(model, backend="hone", options={"db": "tuned.db"})``
(see ``Options``). Graphs go through ``torch.export`` and ONNX. What needs gradients, or writes to
its inputs, is first made into graphs that only compute, by torch. The first call of a graph is
compared with torch. What cannot be converted, or is not the same, stays with torch, and a warning
says why.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import os
import shutil
import tempfile
import threading
import warnings
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from . import _graphs
from ._errors import HoneError, InvalidError
from ._library import LIB
from ._prepared import prepare
from .database import Database
from .model import Model
from .module import Module, target as describe_target

Compiled = Callable[..., Any]
_lock = threading.Lock()
_loaded: Dict[str, Model] = {}


@dataclasses.dataclass(frozen=True)
class Options:
    """What ``options`` of ``torch.compile`` may say.

    ``db``: a database whose records are used. ``trials``, ``seconds``: tune each new graph before
    it is compiled, into ``db``. ``target``: what to compile for; by default where the inputs are,
    ``"cuda"`` or this machine. ``threads``: as ``Module.compile``. ``freeze``: weights become part
    of what is compiled, and later changes of them are not seen. ``cache``: folder of compiled
    graphs; by default ``$XDG_CACHE_HOME/hone/torch``. ``fallback=False``: what cannot be converted
    is an error. ``check=False``: the first call is not compared."""

    db: Union[None, str, "os.PathLike[str]"] = None
    trials: int = 0
    seconds: float = 0
    target: Optional[str] = None
    threads: int = 0
    freeze: bool = False
    cache: Union[None, str, "os.PathLike[str]"] = None
    fallback: bool = True
    check: bool = True

    @classmethod
    def read(cls, given: Optional[Mapping[str, Any]]) -> "Options":
        """Of the mapping that torch passes on."""
        known = [field.name for field in dataclasses.fields(cls)]
        for name in given or {}:
            if name not in known:
                raise InvalidError(f"the backend 'hone' has no option '{name}'; there are "
                                   + ", ".join(known))
        read = cls(**(given or {}))
        if (read.trials or read.seconds) and read.db is None:
            raise InvalidError("trials and seconds tune into a database: give db, too")
        return read


# ---- compiled graphs, kept ----

def _cache_folder(options: Options) -> str:
    if options.cache is not None:
        return os.fspath(options.cache)
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "hone", "torch")


def _records(module: Module, db: Union[None, str, "os.PathLike[str]"]) -> List[str]:
    """The records of a database that its kernels are made of."""
    if db is None or not os.path.exists(db):
        return []
    words = ", ".join(f"'{task.workload}'" for task in module.tasks())
    return [row["uid"] for row in Database(db).query(
        f"SELECT uid FROM v_best WHERE workload_hash IN ({words}) ORDER BY uid")]


def _key(module: Module, options: Options, target: Optional[str]) -> str:
    machine = describe_target(target)  # the folder may be another machine's, too
    facts = [LIB.hone_version(), module.hash(), machine, options.threads,
             _records(module, options.db)]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:32]


def _build(module: Module, key: str, options: Options, target: Optional[str]) -> Model:
    """Compiled into the cache; of two processes that do it at once the first one's stays."""
    folder = _cache_folder(options)
    os.makedirs(folder, exist_ok=True)
    place = os.path.join(folder, key)
    if not os.path.exists(place):
        made = tempfile.mkdtemp(prefix=f"{key}.", dir=folder)
        try:
            module.compile(options.db if options.db and os.path.exists(options.db) else None,
                           output=os.path.join(made, "model"), target=target,
                           threads=options.threads)
            os.rename(made, place)
        except OSError:  # another one was first
            if not os.path.exists(place):
                raise
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return Model.open(os.path.join(place, "model.so"))


def _model(onnx: bytes, options: Options, target: Optional[str]) -> Model:
    from .module import load

    module = load(onnx)
    if options.trials or options.seconds:
        module.tune(options.db or "", trials=options.trials, seconds=options.seconds,
                    target=target, threads=options.threads)
    key = _key(module, options, target)
    with _lock:
        if key not in _loaded:
            _loaded[key] = _build(module, key, options, target)
        return _loaded[key]


# ---- graphs ----

def _target(inputs: Sequence[Any], options: Options) -> Optional[str]:
    if options.target is not None:
        return options.target
    return "cuda" if any(_graphs.is_on_gpu(value) for value in inputs) else None


def _compile(graph: Any, inputs: Sequence[Any], options: Options) -> Compiled:
    """A graph that only computes; what has no general form is compiled for each shape."""
    if not _graphs.has_sizes(graph):
        return _compile_one(graph, inputs, options)
    try:
        return _compile_one(graph, inputs, options)
    except _graphs.Writes:
        raise
    except (_graphs.Unconvertible, HoneError):
        first = _compile_one(graph, inputs, options, is_general=False)
        return _BySizes(graph, options, _sizes(inputs), first)


def _compile_one(graph: Any, inputs: Sequence[Any], options: Options,
                 is_general: bool = True) -> Compiled:
    plan = _graphs.export(graph, inputs, options.freeze, is_general)
    model = _model(plan.onnx, options, _target(inputs, options))
    taken = plan.inputs  # by order: the model may be of a graph that had other names for them
    if len(model.inputs()) != len(taken):
        raise _graphs.Unconvertible(f"the model takes {len(model.inputs())} inputs, the graph gives "
                                    f"{len(taken)}")
    ready: Optional[Compiled] = prepare(model, [_graphs.as_real(inputs[i]) for i in taken])
    run = ready if ready is not None else _as_tuple(model)
    is_complex = any(_graphs.is_complex(inputs[i]) for i in taken)

    def call(*values: Any) -> Any:
        given = [values[index] for index in taken]
        return plan.results(run(*map(_graphs.as_real, given) if is_complex else given))

    if not options.check:
        return call
    return _Checked(graph, call, options)


def _as_tuple(model: Model) -> Compiled:
    def run(*values: Any) -> Any:
        made = model(*values)
        return made if isinstance(made, tuple) else (made,)

    return run


class _Checked:
    """A compiled graph whose first call is compared with torch."""

    def __init__(self, graph: Any, call: Compiled, options: Options) -> None:
        self._graph, self._call, self._options = graph, call, options
        self._is_checked = False
        self._tolerance = _graphs.coarsest_tolerance(graph)  # torch forgets it after compiling

    def __call__(self, *values: Any) -> Any:
        return self._call(*values) if self._is_checked else self._first(*values)

    def _first(self, *values: Any) -> Any:
        want = self._graph.forward(*values)
        made = self._call(*values)
        difference = _graphs.difference(made, want, self._tolerance)
        self._is_checked = True
        if difference is None:
            return made
        if not self._options.fallback:
            raise _graphs.Unconvertible(difference)
        _warn(difference)
        self._call = self._graph.forward
        return want


class _BySizes:
    """A graph compiled anew for sizes that were not seen, up to a few of them."""

    MOST = 8

    def __init__(self, graph: Any, options: Options, sizes: Any, first: Compiled) -> None:
        self._graph, self._options = graph, options
        self._made: Dict[Any, Compiled] = {sizes: first}

    def __call__(self, *values: Any) -> Any:
        sizes = _sizes(values)
        call = self._made.get(sizes)
        if call is None:
            if len(self._made) >= self.MOST:
                return self._graph.forward(*values)
            call = self._made[sizes] = _or_torch(
                self._graph, self._options,
                lambda: _compile_one(self._graph, values, self._options, is_general=False))
        return call(*values)


def _sizes(values: Sequence[Any]) -> Any:
    return tuple(tuple(value.shape) if hasattr(value, "shape") else int(value)
                 for value in values)


def _warn(reason: str) -> None:
    warnings.warn(f"hone leaves a graph to torch: {reason}", RuntimeWarning, stacklevel=3)


def _or_torch(graph: Any, options: Options, work: Callable[[], Compiled]) -> Compiled:
    try:
        return work()
    except (_graphs.Unconvertible, HoneError) as reason:
        if not options.fallback:
            raise
        _warn(_first_line(reason))
        forward: Compiled = graph.forward
        return forward


def _first_line(reason: Exception) -> str:
    return (str(reason).splitlines() or [type(reason).__name__])[0]


def _by_autograd(graph: Any, inputs: Sequence[Any], options: Options) -> Compiled:
    """Forward and backward as graphs that only compute: torch keeps what they share."""
    common = importlib.import_module("torch._dynamo.backends.common")
    decomposed = _graphs.decompositions()
    boxed = importlib.import_module("functorch.compile").make_boxed_func

    def compile_one(part: Any, given: Sequence[Any]) -> Any:
        return boxed(_or_torch(part, options,
                               lambda: _compile(part, _graphs.examples(given), options)))

    made: Compiled = common.aot_autograd(fw_compiler=compile_one,
                                         decompositions=decomposed)(graph, inputs)
    return made


def _here(graph: Any, inputs: Sequence[Any], options: Options) -> Compiled:
    if _graphs.wants_autograd(graph, inputs):
        return _by_autograd(graph, inputs, options)
    try:
        return _compile(graph, inputs, options)
    except _graphs.Writes:
        return _by_autograd(graph, inputs, options)


def backend(graph: Any, inputs: Sequence[Any], *,
            options: Optional[Mapping[str, Any]] = None, **_: Any) -> Compiled:
    """What torch calls with a graph and examples of its inputs."""
    read = Options.read(options)
    return _or_torch(graph, read, lambda: _here(graph, inputs, read))


def _register() -> None:
    """Makes the backend known by its name where no installed package does."""
    registry = importlib.import_module("torch._dynamo.backends.registry")
    if "hone" not in registry.list_backends(()):
        registry.register_backend(backend, name="hone")


_register()
