"""Index maps: Python functions of indices, as text that the library reads."""

from __future__ import annotations

import inspect
from typing import Any, Callable, List, Union

from ._errors import InvalidError

Operand = Union["Index", int]


class Index:
    """An index, or what is computed of indices: remembers how."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _with(self, op: str, other: Operand) -> "Index":
        return Index(f"({self.text} {op} {_text(other)})")

    def _after(self, op: str, other: Operand) -> "Index":
        return Index(f"({_text(other)} {op} {self.text})")

    def __add__(self, other: Operand) -> "Index":
        return self._with("+", other)

    def __radd__(self, other: Operand) -> "Index":
        return self._after("+", other)

    def __sub__(self, other: Operand) -> "Index":
        return self._with("-", other)

    def __rsub__(self, other: Operand) -> "Index":
        return self._after("-", other)

    def __mul__(self, other: Operand) -> "Index":
        return self._with("*", other)

    def __rmul__(self, other: Operand) -> "Index":
        return self._after("*", other)

    def __floordiv__(self, other: Operand) -> "Index":
        return self._with("//", other)

    def __mod__(self, other: Operand) -> "Index":
        return self._with("%", other)

    def __neg__(self) -> "Index":
        return Index(f"(-{self.text})")

    def __bool__(self) -> bool:
        raise InvalidError("an index map cannot ask what an index is: it is a formula of indices")


def _text(value: Any) -> str:
    if isinstance(value, Index):
        return value.text
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidError(f"a {type(value).__name__} ({value!r}) is no index")
    return str(value)


def as_text(function: Callable[..., Any]) -> str:
    """``lambda i, j: …`` as text of the same meaning, constants of the caller's filled in."""
    parameters = inspect.signature(function).parameters.values()
    names: List[str] = []
    for parameter in parameters:
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            raise InvalidError("an index map names its indices: 'lambda i, j: …', not '*indices'")
        names.append(parameter.name)
    made = function(*[Index(name) for name in names])
    items = list(made) if isinstance(made, (list, tuple)) else [made]
    body = ", ".join(_text(item) if not _is_separator(item) else _SEPARATOR for item in items)
    ends = "," if len(items) == 1 else ""
    return f"lambda {', '.join(names)}: ({body}{ends})"


class _Separator:
    pass


AXIS_SEPARATOR = _Separator()
_SEPARATOR = "IndexMap.AXIS_SEPARATOR"


def _is_separator(item: Any) -> bool:
    return isinstance(item, _Separator)
