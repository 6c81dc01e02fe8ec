"""What stands around a decorated function and is used in it: numbers, texts, macros and helpers, as
text that goes before its own."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import linecache
import re
import sys
from typing import Any, Dict, Iterable, List, Mapping, Optional, Set, Tuple

from ._errors import InvalidError
from ._told import (NameOf, Words, as_definition, as_name, as_text, defaults_of, is_simple, plain,
                    told, without_members)


class Macro:
    """A function that the library puts where it is called: ``@T.macro``, ``@T.inline``."""

    def __init__(self, item: Any) -> None:
        self.item = item  # as with programs: what is decorated
        self.__name__ = item.__name__
        self.__doc__ = item.__doc__

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"'{self.__name__}' is a macro, for the text of programs")


def source_of(item: Any) -> Tuple[str, str, int]:
    """The text, its file, and the line it begins at."""
    try:
        lines, first = inspect.getsourcelines(item)
        path = inspect.getsourcefile(item) or "program"
    except (OSError, TypeError) as reason:
        found = _class_in_cell(item) if inspect.isclass(item) else None
        if found is None:
            raise InvalidError(f"the source of '{item.__name__}' is not to be had ({reason}): "
                               "Python keeps the source of files and of notebooks' cells; "
                               "give hone.load the text instead") from reason
        lines, path, first = found
    return "".join(lines), path, first


def _class_in_cell(item: Any) -> Optional[Tuple[List[str], str, int]]:
    """The source of a class in a notebook's cell, where inspect finds functions alone: the class
    around the first of its functions."""
    inner = next((function.__code__ for function in _functions_of(item)), None)
    lines = linecache.getlines(inner.co_filename) if inner else []
    for node in ast.walk(ast.parse("".join(lines))):
        if inner and isinstance(node, ast.ClassDef) and node.name == item.__name__ \
                and node.lineno <= inner.co_firstlineno <= (node.end_lineno or 0):
            first = min(part.lineno for part in [node, *node.decorator_list])
            return lines[first - 1:node.end_lineno], inner.co_filename, first
    return None


def _names_in(code: Any) -> Set[str]:
    names = {*code.co_names, *code.co_freevars}
    for constant in code.co_consts:
        if inspect.iscode(constant):
            names |= _names_in(constant)
    return names


def _functions_of(item: Any) -> List[Any]:
    members = vars(item).values() if inspect.isclass(item) else [item]
    inner = [inspect.unwrap(getattr(member, "item", member)) for member in members]
    return [member for member in inner if inspect.isfunction(member)]


def _cells_of(function: Any) -> Dict[str, Any]:
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # it gets its value later
            pass
    return found


class Surroundings:
    """Collected for one program: values, and sources of functions, those that are called first."""

    def __init__(self) -> None:
        self._words: Dict[str, str] = {"I": "I", "R": "R", "T": "T"}
        self._values: Dict[str, str] = {}
        self._sources: Dict[str, str] = {}
        self._functions: Dict[str, Any] = {}

    def add(self, item: Any, around: Mapping[str, Any]) -> str:
        """The text of a function or class; what it uses of what is around it is taken along."""
        in_code: Set[str] = set()
        for function in _functions_of(item):
            in_code |= _names_in(function.__code__)
            around = {**around, **_cells_of(function)}
        defaults = defaults_of(item) if inspect.isfunction(item) else {}
        text = told(source_of(item)[0], around, self._namer(around), defaults)
        in_code = without_members(in_code, text)
        used = [(name, plain(around[name]))  # of the whole text: annotations are no code
                for name in sorted(set(re.findall(r"[^\W\d]\w*", text)))
                if name in around and not hasattr(builtins, name)]
        for name, value in sorted(used, key=lambda one: not is_simple(one[1])):
            self._add_one(name, value, around, name in in_code)
        return text

    def _namer(self, around: Mapping[str, Any]) -> NameOf:
        """Names for what is told of the text around which these things are."""

        def name_of(segment: str, value: Any, is_path: bool, taken: Set[str]) -> str:
            is_name = segment in around and around[segment] is value
            value = plain(value)
            if isinstance(value, Words) and value.path:
                return self._add_words(as_name(segment), value.path)
            if is_name and self._is_free(segment, value):
                return segment
            if value is None or not is_simple(value) and not (is_path and _is_helper(value)):
                return ""
            name = as_name(segment)
            while name in taken or name in around or not self._is_free(name, value):
                name += "_"
            self._add_one(name, value, around, True)
            return name

        return name_of

    def _is_free(self, name: str, value: Any) -> bool:
        """Whether the name stands for nothing else yet."""
        if is_simple(value):
            return name not in self._functions and self._values.get(
                name, _line(name, value)) == _line(name, value)
        return name not in self._values and self._functions.get(
            name, _function_of(value)) is _function_of(value)

    def _add_words(self, name: str, path: str) -> str:
        if path in _MODULES:
            self._words[name] = path
        else:
            self._values[name] = f"{name} = {path}"
        return name

    def _add_one(self, name: str, value: Any, around: Mapping[str, Any], is_code: bool) -> None:
        function = _function_of(value)
        is_function = is_code and (_is_helper(value) or isinstance(function, functools.partial))
        if (is_function or is_simple(value)) and not self._is_free(name, value):
            raise InvalidError(f"'{name}' is one thing in the program and another in what it calls")
        if is_simple(value):
            self._values[name] = _line(name, value)
        if not is_function or name in self._functions:
            return
        self._functions[name] = function
        if isinstance(function, functools.partial):
            self._add_partial(name, function, around)
        else:
            text = self.add(function, {**around, **function.__globals__})
            self._sources[name] = as_definition(text, name)

    def _add_partial(self, name: str, value: Any, around: Mapping[str, Any]) -> None:
        """functools.partial(f, 2) as a function that calls f."""
        first = [plain(item) for item in value.args]
        named = {key: plain(item) for key, item in value.keywords.items()}
        if not all(is_simple(item) for item in (*first, *named.values())):
            raise InvalidError(f"'{name}' keeps an argument that is nothing in a program")
        inner = f"{name}_of"
        self._add_one(inner, value.func, around, True)
        given = ", ".join([*map(as_text, first), "*rest",
                           *(f"{key}={as_text(item)}" for key, item in named.items()), "**words"])
        self._sources[name] = f"def {name}(*rest, **words):\n    return {inner}({given})"

    def lines(self) -> Iterable[str]:
        """As text: imports and values in a line each, so that the program's own lines stay where
        they are."""
        yield "from tvm.script import " + ", ".join(
            f"{_MODULES[path]} as {name}" for name, path in self._words.items())
        if self._values:
            yield "; ".join(self._values.values())
        for source in self._sources.values():
            yield from source.rstrip("\n").split("\n")  # str.splitlines knows more ends of lines


_MODULES = {"I": "ir", "R": "relax", "T": "tir"}


def _line(name: str, value: Any) -> str:
    return f"{name} = {as_text(value)}"


def _function_of(value: Any) -> Any:
    return value.item if isinstance(value, Macro) else value


def _is_helper(value: Any) -> bool:
    return inspect.isfunction(_function_of(value))
