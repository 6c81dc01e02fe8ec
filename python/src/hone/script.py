"""TVMScript in Python files: functions decorated as in TVM, read as text by the library.

>>> from hone.script import T
>>> @T.prim_func
... def double(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
...     for i in range(8):
...         with T.sblock("B"):
...             vi = T.axis.spatial(8, i)
...             B[vi] = A[vi] * T.float32(2)

The body is never run by Python: its source is read, so it must be in a file, or in what a notebook
keeps of its cells. Numbers, flags and texts that the body uses from around it are put before it.
"""

from __future__ import annotations

import builtins
import inspect
import textwrap
from typing import Any, Dict, Iterator, List, Tuple, TypeVar

from ._errors import InvalidError
from .module import Module

__all__ = ["I", "PrimFunc", "R", "T", "ir_module", "prim_func"]

_IMPORTS = "from tvm.script import ir as I, relax as R, tir as T"
_Any = TypeVar("_Any")


class _Words:
    """What annotations and decorators name: everything is there, and does nothing."""

    def __getattr__(self, name: str) -> "_Words":
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_: Any, **__: Any) -> "_Words":
        return self

    def __getitem__(self, _: Any) -> "_Words":
        return self

    def __iter__(self) -> Iterator["_Words"]:
        raise TypeError("this is for the text of programs, which Python does not run")


def _source_of(item: Any) -> Tuple[str, str, int]:
    """The text, its file, and the line it begins at."""
    try:
        lines, first = inspect.getsourcelines(item)
    except (OSError, TypeError) as reason:
        raise InvalidError(f"the source of '{item.__name__}' is not to be had ({reason}): "
                           "programs are read from files; text goes to hone.load") from reason
    path = inspect.getsourcefile(item) or "program"
    return "".join(lines), path, first


def _simple(value: Any) -> bool:
    return isinstance(value, (bool, int, float, str)) or (
        isinstance(value, (tuple, list)) and all(_simple(item) for item in value))


def _names_in(code: Any) -> List[str]:
    names = list(code.co_names) + list(code.co_freevars)
    for constant in code.co_consts:
        if inspect.iscode(constant):
            names += _names_in(constant)
    return names


def _surroundings(item: Any, caller: Dict[str, Any]) -> Dict[str, Any]:
    """The simple values around a function or class by the names that it uses."""
    found: Dict[str, Any] = {}
    functions = [member for member in vars(item).values() if inspect.isfunction(member)] \
        if inspect.isclass(item) else [item]
    known = {name for function in functions for name in _names_in(function.__code__)}
    text, _, _ = _source_of(item)
    for name, value in caller.items():
        is_used = name in known or name in text  # annotations are no code
        if is_used and name.isidentifier() and not hasattr(builtins, name) and _simple(value):
            found[name] = value
    return found


def _at_line(values: Dict[str, Any], text: str, first: int) -> str:
    """The text behind its imports and values, at the line where it is in its file."""
    head = [_IMPORTS] + [f"{name} = {value!r}" for name, value in values.items()]
    blank = max(first - 1 - len(head), 0)
    return "\n".join(head) + "\n" * (blank + 1) + textwrap.dedent(text)


def _read(item: Any, frame: Any) -> Module:
    around = {**frame.f_globals, **frame.f_locals}
    text, path, first = _source_of(item)
    return Module.parse(_at_line(_surroundings(item, around), text, first), path)


class PrimFunc:
    """A decorated function or class: a program under its name."""

    def __init__(self, item: Any, frame: Any) -> None:
        self.__name__ = item.__name__
        self.__doc__ = item.__doc__
        self._module = _read(item, frame)

    def __hone_module__(self) -> Module:
        return self._module

    @property
    def mod(self) -> Module:
        """The program."""
        return self._module

    def script(self) -> str:
        """The canonical text."""
        return self._module.script()

    def show(self) -> None:
        """Prints the text."""
        self._module.show()

    def _repr_html_(self) -> str:
        return self._module._repr_html_()

    def __repr__(self) -> str:
        return f"<program {self.__name__}>"


def _decorator(item: Any = None, **_: Any) -> Any:
    """As TVM's: alone, or called with options, which are in the text and read there."""
    caller = inspect.currentframe()
    frame = caller.f_back if caller else None
    if item is None:
        return lambda later: PrimFunc(later, frame)
    return PrimFunc(item, frame)


class _Tir(_Words):
    prim_func = staticmethod(_decorator)


class _Ir(_Words):
    ir_module = staticmethod(_decorator)


class _Inside(_Words):
    """Within a class the class is what is read: functions stay as they are."""

    @staticmethod
    def function(item: _Any) -> _Any:
        return item


prim_func = _decorator
ir_module = _decorator
T: Any = _Tir()
I: Any = _Ir()  # noqa: E741  (TVM's name)
R: Any = _Inside()
