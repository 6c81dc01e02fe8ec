"""``torch.compile(model, backend="hone")``: graphs that torch captures, compiled by Hone.

Where the package is installed torch finds the backend by itself; else ``import hone.dynamo`` makes
it known. Options go with it: ``torch.compile(model, backend="hone", options={"db": "tuned.db"})``
(see ``Options``). Graphs go through ``torch.export`` and ONNX. What needs gradients, or writes to
its inputs, is first made into graphs that only compute, by torch; what cannot be converted stays
with torch, and a warning says why.
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
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _graphs
from ._errors import HoneError, InvalidError
from ._library import LIB
from .database import Database
from .model import Model
from .module import Module

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
    is an error."""

    db: Union[None, str, "os.PathLike[str]"] = None
    trials: int = 0
    seconds: float = 0
    target: Optional[str] = None
    threads: int = 0
    freeze: bool = False
    cache: Union[None, str, "os.PathLike[str]"] = None
    fallback: bool = True

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


def _known_best(db: Union[None, str, "os.PathLike[str]"]) -> List[Any]:
    """What decides of a database which kernels are made."""
    if db is None or not os.path.exists(db):
        return []
    return [sorted(row.items()) for row in Database(db).query(
        "SELECT workload, target, max(number) AS newest, count(*) AS trials FROM v_trials "
        "GROUP BY workload, target ORDER BY workload, target")]


def _key(module: Module, onnx: bytes, options: Options, target: Optional[str]) -> str:
    said = hashlib.sha256()
    weights = onnx if options.freeze else b""
    facts = [LIB.hone_version(), module.hash(), target, options.threads, _known_best(options.db)]
    said.update(weights + repr(facts).encode())
    return said.hexdigest()[:32]


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
    key = _key(module, onnx, options, target)
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
    """A graph that only computes."""
    plan = _graphs.export(graph, inputs, options.freeze)
    model = _model(plan.onnx, options, _target(inputs, options))
    names = {port.name for port in model.inputs()}
    taken = [(index, name) for index, name in plan.inputs if name in names]

    def call(*values: Any) -> Any:
        made = model(*[values[index] for index, _ in taken])
        return plan.results(made if isinstance(made, tuple) else (made,))

    return call


def _or_torch(graph: Any, options: Options, work: Callable[[], Compiled]) -> Compiled:
    try:
        return work()
    except (_graphs.Unconvertible, HoneError) as reason:
        if not options.fallback:
            raise
        warnings.warn(f"hone leaves a graph to torch: {_first_line(reason)}", RuntimeWarning,
                      stacklevel=2)
        forward: Compiled = graph.forward
        return forward


def _first_line(reason: Exception) -> str:
    return (str(reason).splitlines() or [type(reason).__name__])[0]


def _by_autograd(graph: Any, inputs: Sequence[Any], options: Options) -> Compiled:
    """Forward and backward as graphs that only compute: torch keeps what they share."""
    common = importlib.import_module("torch._dynamo.backends.common")
    decomposed = importlib.import_module("torch._decomp").core_aten_decompositions()
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
