"""Programs: loading, looking, passes, tuning, compiling, interpreting."""

from __future__ import annotations

import ctypes
import json
import os
import tempfile
from ctypes import POINTER, c_void_p
from dataclasses import dataclass
from typing import (TYPE_CHECKING, Any, Callable, List, Mapping, Optional, Sequence, Tuple,
                    Union)

from . import _library as lib
from ._errors import HoneError, InvalidError, of_file
from ._library import LIB
from ._tensor import Tensor, View, dense, like_inputs, writable
from .model import Folder, Model, contents

if TYPE_CHECKING:
    from .farm import Farm

Sizes = Mapping[str, Union[int, Sequence[int]]]


@dataclass(frozen=True)
class Task:
    """A distinct kernel of a program, to be tuned."""

    name: str
    workload: str
    calls: int
    flops: float
    bytes: float
    program: "Module"


@dataclass(frozen=True)
class Progress:
    """What a tune says of itself meanwhile."""

    done: int
    total: int
    trials_per_second: float
    seconds_left: float
    best: str
    doing: str


@dataclass(frozen=True)
class TunedTask:
    """What came of a task; times are nanoseconds, NaN where there is none."""

    name: str
    workload: str
    calls: int
    flops: float
    before_ns: float
    best_ns: float
    is_confirmed: bool
    trials: int
    failed: int
    known_trials: int
    seconds: float


@dataclass(frozen=True)
class Tuned:
    """What a tune found."""

    tasks: Tuple[TunedTask, ...]
    trials: int
    failed: int
    seconds: float
    was_stopped: bool
    has_converged: bool
    is_used_up: bool
    session: str

    def __str__(self) -> str:
        return "\n".join(f"{task.name}: {task.before_ns / 1e3:.4g} us, now "
                         f"{task.best_ns / 1e3:.4g} us" for task in self.tasks)


def size_specs(sizes: Optional[Sizes]) -> List[str]:
    """``{"n": [1, 64]}`` as the library has it: ``["n=1,64"]``."""
    specs = []
    for name, values in (sizes or {}).items():
        numbers = [values] if isinstance(values, int) else list(values)
        specs.append(f"{name}=" + ",".join(str(number) for number in numbers))
    return specs


class Module:
    """A program: tensor programs and graph functions by name. It does not change; what transforms
    it makes another one."""

    def __init__(self, pointer: int) -> None:
        self._pointer = c_void_p(pointer)

    def __del__(self) -> None:
        if getattr(self, "_pointer", None) and LIB is not None:
            LIB.hone_program_free(self._pointer)

    # ---- making ----

    @classmethod
    def parse(cls, text: str, name: str = "program") -> "Module":
        """TVMScript text; ``name`` stands in messages."""
        out = lib.out_pointer()
        LIB.hone_program_parse(lib.text(text), lib.text(name), lib.ref(out))
        return cls(out.value or 0)

    @classmethod
    def read(cls, path: Union[str, "os.PathLike[str]"],
             sizes: Optional[Mapping[str, int]] = None) -> "Module":
        """A file: ``.onnx``, anything else is TVMScript. ``sizes`` has numbers for symbolic sizes
        and, of ONNX, for how many tensors a sequence has (``{"x": 3}``) and for the dimensions of
        an input that says nothing of them (``{"x.rank": 2}``)."""
        out = lib.out_pointer()
        specs = size_specs(sizes)
        with of_file(path):
            LIB.hone_program_load_with(lib.text(path), len(specs),
                                       ctypes.cast(lib.texts(specs), c_void_p), lib.ref(out))
        return cls(out.value or 0)

    def _made(self, function: Callable[..., Any], *arguments: Any) -> "Module":
        out = lib.out_pointer()
        function(self._pointer, *arguments, lib.ref(out))
        return Module(out.value or 0)

    # ---- looking ----

    @property
    def functions(self) -> List[str]:
        """The names of the functions, in the order of the text."""
        count = LIB.hone_program_function_count(self._pointer)
        return [LIB.hone_program_function_name(self._pointer, i).decode() for i in range(count)]

    def kind(self, function: str) -> str:
        """``"tensor program"``, ``"graph"`` or ``"external"``."""
        return (LIB.hone_program_function_kind(self._pointer, lib.text(function)) or b"").decode()

    def __getitem__(self, function: str) -> "Module":
        """A program with that function, and what it calls."""
        return self._made(LIB.hone_program_get, lib.text(function))

    def script(self) -> str:
        """The canonical text."""
        out = lib.out_pointer()
        LIB.hone_program_print(self._pointer, lib.ref(out))
        return lib.take_text(out)

    def show(self, style: Optional[str] = None) -> None:
        """Prints the text, in colours where they can be shown: ``"light"``, ``"dark"`` or
        ``"ansi"``, those of the terminal."""
        from . import _show

        _show.show(self.script(), style=style)

    def _repr_html_(self) -> str:
        from . import _show

        return _show.as_html(self.script())

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the text, and the weights beside it."""
        LIB.hone_program_save(self._pointer, lib.text(path))

    def verify(self) -> List[str]:
        """The faults of a program that is not well formed, else nothing."""
        out = lib.out_pointer()
        LIB.hone_program_verify(self._pointer, lib.ref(out))
        return lib.take_text(out).splitlines()

    def hash(self, function: Optional[str] = None) -> str:
        """The structural hash: the workload's identity in a database."""
        out = ctypes.create_string_buffer(33)
        LIB.hone_program_hash(self._pointer, lib.text(function), lib.ref(out))
        return out.value.decode()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Module):
            return NotImplemented
        return bool(LIB.hone_program_equal(self._pointer, other._pointer, None))

    def __hash__(self) -> int:
        return int(self.hash(), 16) & 0x7FFFFFFFFFFFFFFF

    def __repr__(self) -> str:
        return f"hone.Module({', '.join(self.functions)})"

    def __reduce__(self) -> Any:
        """Pickled as its text and weights."""
        folder = Folder()
        self.save(folder.file("program.py"))
        files = sorted(folder.file(name) for name in os.listdir(folder.path))
        return _unpickled, (contents(files),)

    def __deepcopy__(self, _: Any) -> "Module":
        return self  # programs do not change

    def __copy__(self) -> "Module":
        return self

    # ---- changing ----

    def update(self, other: "Module") -> "Module":
        """With the functions of another program added, those of the same name in their place."""
        return self._made(LIB.hone_program_update, other._pointer)

    def run_passes(self, *names: str, target: Optional[str] = None) -> "Module":
        """After passes in order, by our names or TVM's (``"LegalizeOps"``)."""
        return self._made(LIB.hone_program_run_passes_for, lib.text(target), len(names),
                          ctypes.cast(lib.texts(names), c_void_p))

    def replay(self, trace: str, function: Optional[str] = None, resample: bool = False,
               seed: int = 0) -> "Module":
        """With a trace (TVM's JSON, or Python text) applied to one tensor program."""
        options = lib.ReplayOptions(lib.text(function), int(resample), seed)
        out = lib.out_pointer()
        LIB.hone_program_replay(self._pointer, lib.text(trace), lib.ref(options), lib.ref(out),
                                None)
        return Module(out.value or 0)

    def bind(self, sizes: Optional[Mapping[str, int]] = None,
             parameters: Optional[Mapping[str, Any]] = None) -> "Module":
        """With numbers in the place of symbolic sizes, and tensors in that of parameters."""
        made = self
        if sizes:
            specs = size_specs(sizes)
            made = made._made(LIB.hone_program_bind_sizes, len(specs),
                              ctypes.cast(lib.texts(specs), c_void_p))
        if parameters:
            views = {name: dense(value) for name, value in parameters.items()}
            values = (lib.NamedTensor * len(views))(
                *[lib.NamedTensor(name.encode(), seen.pointer) for name, seen in views.items()])
            made = made._made(LIB.hone_program_bind_parameters, len(views), lib.ref(values))
        return made

    # ---- tuning ----

    def tasks(self, sizes: Optional[Sizes] = None) -> List[Task]:
        """What there is to tune, in the order of first call."""
        found: List[Task] = []

        def visit(_: Any, task: Any) -> int:
            seen = task.contents
            program = Module.parse(_text_of(seen.program), "task")
            found.append(Task(seen.name.decode(), seen.workload.decode(), seen.calls, seen.flops,
                              seen.bytes, program))
            return 0

        specs = size_specs(sizes)
        visitor = lib.TaskVisit(visit)
        LIB.hone_program_visit_tasks(self._pointer, len(specs),
                                     ctypes.cast(lib.texts(specs), c_void_p),
                                     ctypes.cast(visitor, c_void_p), None, None)
        return found

    def tune(self, db: Union[str, "os.PathLike[str]"], *, trials: int = 0, seconds: float = 0,
             until_converged: bool = False, task: Optional[str] = None,
             space: Union[None, str, "os.PathLike[str]", Callable[..., Any]] = None,
             sizes: Optional[Sizes] = None, target: Optional[str] = None, threads: int = 0,
             seed: int = 0, strategy: Optional[str] = None, cost_model: Optional[str] = None,
             look_ahead: int = 0, builders: int = 0, cold: bool = False,
             callback: Optional[Callable[[Progress], Optional[bool]]] = None,
             log: Optional[Callable[[int, str], None]] = None, external: Optional[str] = None,
             name: Optional[str] = None, unsandboxed: bool = False, propose: Any = None,
             tracker: Union[None, str, "Farm"] = None, device_key: Optional[str] = None,
             waits_for_devices: bool = True, variants: Optional[str] = None,
             max_error: Optional[float] = None, variant: Any = None) -> Tuned:
        """Searches fast schedules by measuring, and keeps every trial in the database.

        ``callback`` sees how it goes; when it returns ``False``, what is under way is finished and
        nothing new begun. An exception in it, or Ctrl-C, stops at once; the next call goes on.
        ``space`` is the path of a trace with sampling steps, or a function of a schedule that
        draws them; ``propose`` a command, a generator function or an object that proposes
        candidates (see docs/python.md for both). ``tracker``, an address or a ``Farm``, measures on
        its devices. ``variants`` (``"none"``, ``"exact"``, ``"all"``) says which other algorithms
        are searched, ``max_error`` how large an error these may declare, ``variant`` gives some:
        paths of TVMScript or programs, or one of them. ``compile`` wants the same three."""
        from ._propose import command_of
        from ._tuning import Session, outside
        from ._variants import allowed

        specs = size_specs(sizes)
        session = Session(callback, log)
        with session.space(self, space, task) as path, \
                command_of(propose, session.fail) as command, \
                allowed(variants, max_error, variant) as algorithms, session.under_way():
            options = lib.TuningOptions(
                database=lib.text(db), target=lib.text(target), threads=threads, trials=trials,
                seconds=seconds, until_converged=until_converged, task=lib.text(task),
                space=lib.text(path), strategy=lib.text(strategy),
                cost_model=lib.text(cost_model), seed=seed, look_ahead=look_ahead,
                builders=builders, is_cold=cold, size_count=len(specs), sizes=lib.texts(specs),
                external=lib.text(external), name=lib.text(name), unsandboxed=unsandboxed)
            session.connect(options)
            out = lib.out_pointer()
            others = outside(command, tracker, device_key, waits_for_devices)
            others.variants = ctypes.pointer(algorithms)
            try:
                LIB.hone_program_tune_with(self._pointer, lib.ref(options), lib.ref(others),
                                           lib.ref(out))
            except HoneError:
                session.check()  # what ended it, which may be why it failed
                raise
        try:
            session.check()
            return _read_tuned(out)
        finally:
            LIB.hone_tuned_free(out)

    # ---- compiling ----

    def compile(self, db: Union[None, str, "os.PathLike[str]"] = None, *,
                output: Union[None, str, "os.PathLike[str]"] = None,
                function: Optional[str] = None, sizes: Optional[Sizes] = None,
                exact: bool = False, target: Optional[str] = None, threads: int = 0,
                no_schedule: bool = False, reschedule: bool = False,
                weights: Optional[str] = None, unsandboxed: bool = False,
                variants: Optional[str] = None, max_error: Optional[float] = None,
                variant: Any = None) -> Model:
        """One library of the program and the best records of a database, loaded. ``output`` is its
        path without ending; else it is kept in a folder of its own until ``Model.save``.
        ``variants``, ``max_error`` and ``variant``, those of ``tune``, say which other algorithms
        records and, without any, default schedules may use."""
        from ._variants import allowed

        folder = Folder() if output is None else None
        output = os.path.join(folder.path, "model") if folder else output
        specs = size_specs(sizes)
        options = lib.CompilationOptions(
            output=lib.text(output), function=lib.text(function), database=lib.text(db),
            target=lib.text(target), threads=threads, size_count=len(specs),
            sizes=lib.texts(specs), exact=exact, no_schedule=no_schedule, reschedule=reschedule,
            weights=lib.text(weights), unsandboxed=unsandboxed)
        report = lib.out_pointer()
        with of_file(db), allowed(variants, max_error, variant) as algorithms:
            LIB.hone_program_compile_with(self._pointer, lib.ref(options), lib.ref(algorithms),
                                          lib.ref(report))
        return Model(str(output) + ".so", json.loads(lib.take_text(report)), folder)

    # ---- the interpreter ----

    def interpret(self, *arguments: Any, function: Optional[str] = None) -> Any:
        """Runs a function slowly and exactly. Of a tensor program all parameters are given, and
        outputs are written in place; a graph function gives its results."""
        views: List[View] = [writable(value) for value in arguments]
        pointers = (POINTER(lib.DLTensor) * max(len(views), 1))(*[seen.pointer for seen in views])
        out = lib.out_pointer()
        LIB.hone_program_interpret(self._pointer, lib.text(function), len(views),
                                   lib.ref(pointers), lib.ref(out))
        try:
            for seen in views:
                seen.give_back()
            made = [_copy(out, i) for i in range(LIB.hone_results_count(out))]
        finally:
            LIB.hone_results_free(out)
        results = [like_inputs(tensor, arguments) for tensor in made]
        return results[0] if len(results) == 1 else tuple(results) if results else None


def _unpickled(files: Mapping[str, bytes]) -> Module:
    folder = Folder(files)
    return Module.read(folder.file("program.py"))


def _text_of(pointer: int) -> str:
    out = lib.out_pointer()
    LIB.hone_program_print(pointer, lib.ref(out))
    return lib.take_text(out)


def _copy(results: c_void_p, index: int) -> Tensor:
    seen = ctypes.cast(LIB.hone_results_at(results, index), POINTER(lib.DLTensor)).contents
    made = Tensor(seen.dtype, [seen.shape[d] for d in range(seen.ndim)])
    size = (seen.dtype.bits + 7) // 8
    for extent in made.shape:
        size *= extent
    if size:
        ctypes.memmove(made.tensor.data, seen.data, size)
    return made


def _read_tuned(tuned: c_void_p) -> Tuned:
    totals = ctypes.cast(LIB.hone_tuned_summary(tuned), POINTER(lib.TunedTotals)).contents
    tasks = []
    for i in range(totals.task_count):
        at = ctypes.cast(LIB.hone_tuned_task_at(tuned, i), POINTER(lib.TunedTask)).contents
        tasks.append(TunedTask(at.name.decode(), at.workload.decode(), at.calls, at.flops,
                               at.before_ns, at.best_ns, bool(at.is_confirmed), at.trials,
                               at.failed, at.known_trials, at.seconds))
    return Tuned(tuple(tasks), totals.trials, totals.failed, totals.seconds,
                 bool(totals.was_stopped), bool(totals.has_converged), bool(totals.is_used_up),
                 totals.session.decode())


# ---- targets ----

def target(text: Optional[str] = None) -> str:
    """A target in full: of ``None`` what this machine is, of a name what it stands for."""
    out = lib.out_pointer()
    LIB.hone_target_text(lib.text(text), lib.ref(out))
    return lib.take_text(out)


# ---- loading ----

def load(model: Any, *example_inputs: Any, name: str = "program",
         input_names: Optional[Sequence[str]] = None, dynamic_shapes: Any = None,
         sizes: Optional[Mapping[str, int]] = None) -> Module:
    """A program from what there is: the path of a file (``.onnx``, TVMScript), text of TVMScript,
    bytes of ONNX, an ``onnx.ModelProto``, a torch module or exported program with example inputs,
    a decorated function. ``dynamic_shapes`` is that of ``torch.export``: sizes of a torch module
    that stay open; ``sizes`` binds some, as ``Module.read`` and ``Module.bind`` do."""
    if isinstance(model, (str, os.PathLike)) and "\n" not in str(model):
        return Module.read(model, sizes)
    data = _onnx_of(model, example_inputs, input_names, dynamic_shapes)
    if data is not None:
        return _load_onnx(data, sizes)
    made = _program_of(model, name)
    return made.bind(sizes) if sizes else made


def _onnx_of(model: Any, inputs: Sequence[Any], names: Optional[Sequence[str]],
             dynamic_shapes: Any) -> Optional[bytes]:
    """The bytes of ONNX; None: it is something else."""
    if isinstance(model, (bytes, bytearray)):
        return bytes(model)
    if hasattr(model, "SerializeToString"):
        data: bytes = model.SerializeToString()
        return data
    if type(model).__module__.split(".")[0] == "torch" or hasattr(model, "state_dict"):
        from ._torch import export

        return export(model, inputs, names, dynamic_shapes)
    return None


def _program_of(model: Any, name: str) -> Module:
    if isinstance(model, Module):
        return model
    if hasattr(model, "__hone_module__"):
        made: Module = model.__hone_module__()
        return made
    if isinstance(model, str):
        return Module.parse(model, name)
    raise InvalidError(f"{type(model).__name__!r} is no kind of program: paths, TVMScript, ONNX, torch "
                       "modules and decorated functions are")


def _load_onnx(data: bytes, sizes: Optional[Mapping[str, int]]) -> Module:
    with tempfile.TemporaryDirectory(prefix="hone-python-") as folder:
        path = os.path.join(folder, "model.onnx")
        with open(path, "wb") as out:
            out.write(data)
        return Module.read(path, sizes)
