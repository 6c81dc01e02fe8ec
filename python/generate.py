#!/usr/bin/env python3
"""Writes src/hone/_primitives.py: the steps of schedules as methods, from what the library says of
them (hone_step_signature). `generate.py --check` fails when the file is not that.

usage: HONE_LIBRARY=build/release/libhone.so python3 python/generate.py [--check]
"""
import ctypes
import os
import re
import sys

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "src", "hone", "_primitives.py")
HEAD = '''"""The steps of schedules as methods. Written by python/generate.py from schedule/trace/insts.def:
change that."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

from ._variables import Access, Block, Buffer, Decision, Factor, Integer, Loop, Map

Argument = Tuple[Optional[str], Any]
Given = Sequence[Argument]


class Primitives:
    """What a schedule can be told."""

    def _do(self, method: str, given: Given) -> None:
        raise NotImplementedError

    def _one(self, kind: Callable[[str], Any], method: str, given: Given) -> Any:
        raise NotImplementedError

    def _many(self, kind: Callable[[str], Any], method: str, given: Given) -> List[Any]:
        raise NotImplementedError
'''
TYPES = {"factors": "Sequence[Factor]", "integers": "Sequence[int]",
         "numbers": "Sequence[float]", "blocks": "Sequence[Block]", "data": "Any",
         "role": "str", "map": "Map", "int": "int", "bool": "bool", "str": "str",
         "function": "str", "buffer": "Buffer", "access": "Access", "decision": "Decision",
         "target": "Union[Block, Loop, Sequence[Block]]"}
RESULTS = {"block": ("Block", "_one"), "loop": ("Loop", "_one"), "int": ("Integer", "_one"),
           "blocks": ("Block", "_many"), "loops": ("Loop", "_many"), "ints": ("Integer", "_many")}


def signatures():
    library = ctypes.CDLL(os.environ["HONE_LIBRARY"])
    describe = library.hone_step_signature
    describe.restype = ctypes.c_void_p
    describe.argtypes = [ctypes.c_size_t, ctypes.c_void_p]
    for index in range(1000):
        text = ctypes.c_char_p()
        if describe(index, ctypes.byref(text)):
            return
        yield text.value.decode()


def type_of(name, sort):
    """A variable is a block or a loop by what it is called."""
    if sort != "variable":
        return TYPES[sort]
    if name == "block_or_loop":
        return "Union[Block, Loop]"
    return "Loop" if "loop" in name else "Block"


def parameter(name, sort, default):
    if sort == "variables":
        return f"*{name}: Loop"
    kind = type_of(name, sort)
    if default is None:
        return f"{name}: {kind}"
    if default == "None" and sort != "decision":
        kind = f"Optional[{kind}]"
    return f"{name}: {kind} = {default}"


def wrapped(head, items, end, indent):
    """The items behind the head, in lines of 100 characters."""
    lines, line = [], head
    for i, item in enumerate(items):
        word = item + (", " if i + 1 < len(items) else end)
        if len(line) + len(word.rstrip()) > 100:
            lines.append(line.rstrip())
            line = " " * indent
        line += word
    return "\n".join(lines + [line if items else line + end])


def method(signature):
    name, inside, gives = re.fullmatch(r"(\w+)\((.*)\) -> (\w+)", signature).groups()
    arguments = [re.fullmatch(r"(\w+): (\w+)(?: = (.+))?", part).groups()
                 for part in inside.split(", ") if part]
    is_varied = any(sort == "variables" for _, sort, _ in arguments)
    parameters = ["self"] + [parameter(*argument) for argument in arguments]
    result = RESULTS.get(gives)
    kind = "None" if not result else result[0] if result[1] == "_one" else f"List[{result[0]}]"
    given = [f'("{argument}", {argument})' for argument, sort, _ in arguments
             if sort != "variables"]
    if is_varied:
        loops = next(argument for argument, sort, _ in arguments if sort == "variables")
        given = [f"*[(None, loop) for loop in {loops}]"] + given
    optional = [argument for argument, sort, default in arguments if default == "None"
                and sort != "variables"]
    lines = [wrapped(f"    def {name}(", parameters, f") -> {kind}:", len(f"    def {name}("))]
    lines.append(wrapped("        given: List[Argument] = [", given, "]", 12))
    if optional:
        lines.append("        given = [pair for pair in given if pair[1] is not None]")
    if result:
        lines.append(f"        made: {kind} = self.{result[1]}({result[0]}, \"{name}\", given)")
        lines.append("        return made")
    else:
        lines.append(f"        self._do(\"{name}\", given)")
    return "\n".join(lines)


def main():
    text = HEAD + "".join("\n" + method(signature) + "\n" for signature in signatures())
    if "--check" in sys.argv:
        with open(OUT, encoding="utf-8") as kept:
            if kept.read() == text:
                return 0
        print(f"{OUT} is not what the library says of its steps: run python/generate.py")
        return 1
    with open(OUT, "w", encoding="utf-8") as out:
        out.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
