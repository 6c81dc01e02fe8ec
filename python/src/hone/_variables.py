"""Variables of schedules, and how they and other arguments stand in a step's text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence, Tuple, Union

from . import _maps
from ._errors import InvalidError


class Variable:
    """What a step gave; other steps take it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} {self._name}>"


class Block(Variable):
    """A block of a program."""


class Loop(Variable):
    """A loop of a program."""


class Integer(Variable):
    """A number that was sampled."""


@dataclass(frozen=True)
class LoopInfo:
    """What a loop is now; sizes that are not known are None."""

    name: str
    min: Optional[int]
    extent: Optional[int]
    kind: str  # "serial", "parallel", "vectorized", "unrolled", "thread_binding"
    thread: Optional[str]  # "threadIdx.x" of one that is bound


@dataclass(frozen=True)
class AxisInfo:
    """An axis of a block."""

    name: str
    extent: Optional[int]
    kind: str  # "spatial", "reduce", "scan", "opaque"


@dataclass(frozen=True)
class BlockInfo:
    """What a block is now: its axes, and the names of the buffers that it reads and writes."""

    name: str
    axes: Tuple[AxisInfo, ...]
    reads: Tuple[str, ...]
    writes: Tuple[str, ...]

    @property
    def name_hint(self) -> str:
        """``name`` by TVM's word."""
        return self.name


Info = Union[int, LoopInfo, BlockInfo]


def as_info(said: Any) -> Info:
    """What the library says of a variable."""
    if isinstance(said, int):
        return said
    parts = {key: value for key, value in said.items() if key != "is"}
    if said["is"] == "loop":
        return LoopInfo(**parts)
    axes = tuple(AxisInfo(**axis) for axis in said["axes"])
    return BlockInfo(said["name"], axes, tuple(said["reads"]), tuple(said["writes"]))


def variables_in(value: Any) -> Iterator[Variable]:
    """Those of an argument."""
    if isinstance(value, Variable):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from variables_in(item)


Factor = Union[None, int, Integer]
Map = Union[str, Callable[..., Any]]
Buffer = Union[int, str]
Access = Union[str, Tuple[str, int]]
Decision = Union[None, int, Sequence[int]]


def render(value: Any) -> str:
    """An argument as the text of a step has it."""
    if isinstance(value, Variable):
        return value._name
    if value is None or isinstance(value, (bool, int)):
        return repr(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value) if not value.startswith("lambda ") else value
    if isinstance(value, tuple):
        return "(" + "".join(render(item) + ", " for item in value) + ")"
    if isinstance(value, list):
        return "[" + ", ".join(render(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{render(k)}: {render(v)}" for k, v in value.items()) + "}"
    if callable(value):
        return _maps.as_text(value)
    if hasattr(value, "tolist"):  # a number of numpy's, or several
        return render(value.tolist())
    raise InvalidError(f"a {type(value).__name__} is no argument of a step")
