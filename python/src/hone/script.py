"""TVMScript in Python files: functions decorated as in TVM, read as text by the library.

>>> from hone.script import T
>>> @T.prim_func
... def double(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
...     for i in range(8):
...         with T.sblock("B"):
...             vi = T.axis.spatial(8, i)
...             B[vi] = A[vi] * T.float32(2)

The body is never run by Python: its source is read, so it must be in a file, or in what a notebook
keeps of its cells. What the body uses from around it is put before it: numbers, flags, texts, macros
(``@T.macro``) and functions, whose source is read as well; members of modules and objects, too, and
what Python makes of them (``math.sqrt(config.rows)``). ``from hone.script import ir as I, tir as
T, relax as R`` has TVM's names.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any, Dict, Optional

from ._surroundings import Macro, Surroundings, source_of
from ._told import Words
from .module import Module

__all__ = ["I", "PrimFunc", "R", "T", "ir", "ir_module", "prim_func", "relax", "tir", "tirx"]

def _at_line(around: Surroundings, text: str, first: int) -> str:
    """The text behind what it uses, at the line where it is in its file."""
    head = [*around.lines()]
    blank = max(first - 1 - len(head), 0)
    return "\n".join(head) + "\n" * (blank + 1) + text


def _read(item: Any, names: Dict[str, Any]) -> Module:
    around = Surroundings()
    text = around.add(item, names)
    _, path, first = source_of(item)
    return Module.parse(_at_line(around, text, first), path)


class PrimFunc:
    """A decorated function or class: a program under its name."""

    def __init__(self, item: Any, names: Dict[str, Any]) -> None:
        self.__name__ = item.__name__
        self.__doc__ = item.__doc__
        self.item = item
        self._names = names
        self._read: Optional[Module] = None

    @property
    def _module(self) -> Module:
        if self._read is None:
            self._read = _read(self.item, self._names)
            self._names = {}
        return self._read

    def __hone_module__(self) -> Module:
        return self._module

    def __getitem__(self, function: str) -> Module:
        """A program with one of its functions, and what that calls."""
        return self._module[function]

    @property
    def mod(self) -> Module:
        """The program."""
        return self._module

    def script(self) -> str:
        """The canonical text."""
        return self._module.script()

    def show(self, style: Optional[str] = None) -> None:
        """Prints the text, as ``Module.show`` does."""
        self._module.show(style)

    def _repr_html_(self) -> str:
        return self._module._repr_html_()

    def __repr__(self) -> str:
        return f"<program {self.__name__}>"


def _is_member(item: Any) -> bool:
    """Whether it stands in a class, which may be what is read."""
    outer, _, _ = item.__qualname__.rpartition(".")
    return inspect.isfunction(item) and bool(outer) and not outer.endswith("<locals>")


def _of_names(names: Dict[str, Any], item: Any) -> PrimFunc:
    made = PrimFunc(item, names)
    if not _is_member(item):
        made.script()  # a fault is told where it stands
    return made


class _Decorator(Words):
    """As TVM's: alone, or called with options, which are in the text and read there."""

    def __call__(self, item: Any = None, **_: Any) -> Any:
        caller = inspect.currentframe()
        frame = caller.f_back if caller else None
        names = {**frame.f_globals, **frame.f_locals} if frame else {}
        return functools.partial(_of_names, names) if item is None else _of_names(names, item)


class _MacroDecorator(Words):
    """As TVM's, alone or with options."""

    def __call__(self, item: Any = None, **_: Any) -> Any:
        return Macro if item is None else Macro(item)


class _Tir(Words):
    prim_func = _Decorator("T.prim_func")
    macro = inline = _MacroDecorator("T.macro")


class _Ir(Words):
    ir_module = _Decorator("I.ir_module")


class _Relax(Words):
    function = _Decorator("R.function")
    macro = _MacroDecorator("R.macro")


prim_func = _Tir.prim_func
ir_module = _Ir.ir_module
tir: Any = _Tir("T")
ir: Any = _Ir("I")
relax: Any = _Relax("R")
T = tirx = tir
I = ir  # noqa: E741  (TVM's name)
R = relax
