"""Schedules: a tensor program changed step by step, every step checked, the trace kept."""

from __future__ import annotations

import ctypes
import json
import random
import textwrap
from typing import (Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple, Union,
                    overload)

from . import _library as lib
from ._errors import InvalidError, ScheduleError
from ._library import LIB
from ._primitives import Primitives
from ._variables import (AxisInfo, Block, BlockInfo, Info, Integer, Loop, LoopInfo, Variable, as_info,
                         render, variables_in)
from .module import Module, load

__all__ = ["AxisInfo", "Block", "BlockInfo", "Integer", "Loop", "LoopInfo", "Schedule", "Trace",
           "Variable"]


class Trace:
    """What was done to a program, decisions included."""

    def __init__(self, text: str) -> None:
        self._json = text

    def as_json(self) -> str:
        """TVM's JSON form: what a record keeps, and ``Module.replay`` takes."""
        return self._json

    @property
    def insts(self) -> List[Any]:
        """The instructions: name, inputs, attributes, outputs."""
        return list(json.loads(self._json)[0])

    @property
    def decisions(self) -> Dict[int, Any]:
        """What was sampled, by the number of the instruction."""
        return {index: decision for index, decision in json.loads(self._json)[1]}

    def as_python(self) -> List[str]:
        """The steps as lines of Python."""
        text = str(self)
        body = text[text.index(":\n") + 2:]
        return [line for line in textwrap.dedent(body).splitlines() if line != "pass"]

    def apply_to_schedule(self, sch: "Schedule", remove_postproc: bool = False) -> None:
        """Does the same steps to another schedule, decisions as they were. ``remove_postproc``:
        without those behind ``enter_postproc``."""
        lines = self.as_python()
        if remove_postproc and "sch.enter_postproc()" in lines:
            lines = lines[:lines.index("sch.enter_postproc()")]
        if lines:
            sch.apply("\n".join(lines))

    def __str__(self) -> str:
        out = lib.out_pointer()
        LIB.hone_trace_script(lib.text(self._json), lib.ref(out))
        return lib.take_text(out)

    def show(self, style: Optional[str] = None) -> None:
        """Prints it as Python, in colours where they can be shown: ``"light"``, ``"dark"`` or
        ``"ansi"``, those of the terminal."""
        from . import _show

        _show.show(str(self), style=style)

    def _repr_html_(self) -> str:
        from . import _show

        return _show.as_html(str(self))


class _Parts(NamedTuple):
    """What another schedule needs to be as far as this one."""

    program: Module
    function: Optional[str]
    seed: int
    intrins: Dict[str, str]
    names: int
    steps: Sequence[Union[str, int, None]]  # None: a seed was drawn
    firsts: Dict[str, int]
    removed: Set[str]


class Schedule(Primitives):
    """A schedule of one tensor program. The primitives are methods, with TVM's names and
    arguments; one that would not be legal raises ``ScheduleError`` and changes nothing. Every step
    is checked, and every error says where: TVM's ``debug_mask``, ``error_render_level`` and
    ``enable_check`` are taken, and change nothing."""

    def __init__(self, program: Any, function: Optional[str] = None, *,
                 seed: Optional[int] = None, intrins: Optional[Dict[str, str]] = None,
                 debug_mask: Any = None, error_render_level: Optional[str] = None,
                 enable_check: bool = True) -> None:
        self._program: Module = load(program)
        self._seed = seed or 0
        self._intrins = dict(intrins or {})
        self._names = 0
        self._forget()
        self._begin(function)

    def _forget(self) -> None:
        self._done: List[Union[str, int, None]] = []  # text, a seed, None: one was drawn
        self._firsts: Dict[str, int] = {}  # by name: the instruction that gave it
        self._removed: Set[str] = set()
        self._count: Optional[int] = 0  # instructions so far; None: to be counted

    def _begin(self, function: Optional[str]) -> None:
        out = lib.out_pointer()
        LIB.hone_steps_create(self._program._pointer, lib.text(function), self._seed,
                              lib.ref(out))
        self._steps = out
        self._function = function
        for name, text in self._intrins.items():
            LIB.hone_steps_add_intrin(out, lib.text(name), lib.text(text))

    def __del__(self) -> None:
        if getattr(self, "_steps", None) and LIB is not None:
            LIB.hone_steps_free(self._steps)

    # ---- looking ----

    @property
    def mod(self) -> Module:
        """The program with the function as it is now."""
        out = lib.out_pointer()
        LIB.hone_steps_program(self._steps, lib.ref(out))
        return Module(out.value or 0)

    @property
    def trace(self) -> Trace:
        """What was done so far."""
        out = lib.out_pointer()
        LIB.hone_steps_trace(self._steps, lib.ref(out))
        return Trace(lib.take_text(out))

    def space(self) -> str:
        """The trace without decisions, as JSON: a design space of its sampling steps."""
        insts, _ = json.loads(self.trace.as_json())
        return json.dumps([insts, []])

    def __hone_module__(self) -> Module:
        return self.mod

    def script(self) -> str:
        """The program as it is now, as text."""
        return self.mod.script()

    def show(self, style: Optional[str] = None) -> None:
        """Prints the program as it is now, in colours where they can be shown: ``"light"``,
        ``"dark"`` or ``"ansi"``, those of the terminal."""
        self.mod.show(style)

    @overload
    def get(self, rand_var_or_sref: Integer) -> int: ...
    @overload
    def get(self, rand_var_or_sref: Loop) -> LoopInfo: ...
    @overload
    def get(self, rand_var_or_sref: Block) -> BlockInfo: ...
    def get(self, rand_var_or_sref: Variable) -> Info:
        """What a variable stands for now: a number that was drawn, a loop, a block. One that a step
        has replaced is refused."""
        self._check_variables(rand_var_or_sref)
        name, _, place = rand_var_or_sref._name.partition("[")
        if name not in self._firsts:
            raise InvalidError(f"{rand_var_or_sref!r} is of another schedule")
        before = self.trace.insts[:self._firsts[name]]
        number = sum(len(inst[3]) for inst in before) + int(place.rstrip("]") or 0)
        out = lib.out_pointer()
        LIB.hone_steps_get(self._steps, number, lib.ref(out))
        return as_info(json.loads(lib.take_text(out)))

    def remove_rv(self, rand_var: Variable) -> None:
        """Forgets a variable: no step takes it any more. The program stays as it is."""
        self._check_variables(rand_var)
        self._removed.add(rand_var._name)

    def _check_variables(self, value: Any) -> None:
        for variable in variables_in(value):
            if variable._name in self._removed:
                raise InvalidError(f"{variable!r} was removed by remove_rv")

    def can_decompose_padding(self, block: Block, loop: Loop) -> bool:
        """Whether ``decompose_padding`` would be done."""
        try:
            self.copy().decompose_padding(block, loop)
        except ScheduleError:
            return False
        return True

    # ---- what is drawn ----

    def seed(self, seed: int) -> None:
        """From now on what is sampled is drawn from this seed (``-1``: from one of chance)."""
        if seed == -1:
            seed = random.SystemRandom().randrange(1 << 31)
        if not 0 <= seed < 1 << 64:
            raise InvalidError(f"the seed is {seed}, must be at least 0, and below 2**64")
        LIB.hone_steps_seed(self._steps, seed)
        self._done.append(seed)

    def fork_seed(self) -> int:
        """A seed for another schedule, drawn from this one's."""
        self._done.append(None)
        return int(LIB.hone_steps_fork_seed(self._steps))

    def _repr_html_(self) -> str:
        return self.mod._repr_html_()

    # ---- whose program it is ----

    @property
    def func_working_on(self) -> str:
        """The function whose steps these are."""
        return self._function or _only_function(self._program)

    def work_on(self, func_name: str) -> None:
        """Goes on with another function of the program, as it was left."""
        self._program = self.mod
        LIB.hone_steps_free(self._steps)
        self._steps = ctypes.c_void_p()
        self._forget()
        self._begin(func_name)

    def copy(self) -> "Schedule":
        """Another schedule that is as far as this one: blocks, loops and numbers of this one are
        of the other as well."""
        return _remade(self._parts())

    def _parts(self) -> _Parts:
        return _Parts(self._program, self._function, self._seed, self._intrins, self._names,
                      self._done, dict(self._firsts), set(self._removed))

    def __reduce__(self) -> Any:
        return _remade, (self._parts(),)

    def __deepcopy__(self, _: Any) -> "Schedule":
        return self.copy()

    def __copy__(self) -> "Schedule":
        return self.copy()

    def register_intrin(self, name: str, text: str) -> None:
        """A tensor intrinsic for ``tensorize``: text with the functions desc and impl."""
        self._intrins[name] = text
        LIB.hone_steps_add_intrin(self._steps, lib.text(name), lib.text(text))

    # ---- steps ----

    def get_block(self, name: str, func_name: Optional[str] = None) -> Block:
        """``get_sblock`` by its older name."""
        return self.get_sblock(name, func_name)

    def apply(self, text: str) -> None:
        """Steps as text, as a printed trace has them."""
        self._add(text)
        self._count = None

    def _add(self, text: str) -> None:
        LIB.hone_steps_add(self._steps, lib.text(text))
        self._done.append(text)

    def _line(self, method: str, given: Sequence[Tuple[Optional[str], Any]]) -> str:
        for _, value in given:
            self._check_variables(value)
        words = [f"{name}={render(value)}" if name else render(value) for name, value in given]
        return f"sch.{method}({', '.join(words)})"

    def _do(self, method: str, given: Sequence[Tuple[Optional[str], Any]]) -> None:
        at = self._counted()
        self._add(self._line(method, given))
        self._count = at + 1

    def _counted(self) -> int:
        if self._count is None:
            self._count = len(self.trace.insts)
        return self._count

    def _one(self, kind: Callable[[str], Any], method: str,
             given: Sequence[Tuple[Optional[str], Any]]) -> Any:
        name = f"r{self._names}"
        at = self._counted()
        self._add(f"{name} = {self._line(method, given)}")
        self._firsts[name] = at
        self._count = at + 1
        self._names += 1
        return kind(name)

    def _many(self, kind: Callable[[str], Any], method: str,
              given: Sequence[Tuple[Optional[str], Any]]) -> List[Any]:
        name = self._one(str, method, given)
        made = self.trace.insts[self._firsts[name]:]
        count = len(made[-1][3]) if made else 0
        return [kind(f"{name}[{i}]") for i in range(count)]


def _only_function(program: Module) -> str:
    names = program.functions
    return "main" if "main" in names else names[0]


def _remade(parts: _Parts) -> Schedule:
    made = Schedule(parts.program, parts.function, seed=parts.seed, intrins=parts.intrins)
    for step in parts.steps:  # sampling draws the same from the same seed
        if step is None:
            made.fork_seed()
        elif isinstance(step, int):
            made.seed(step)
        else:
            made.apply(step)
    made._names = parts.names
    made._firsts.update(parts.firsts)
    made._removed.update(parts.removed)
    return made
