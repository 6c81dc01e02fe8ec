"""What Python knows of a program's text before the program is read: expressions of what is around
it (``math.sqrt(2)``, ``config.rows``, ``tools.helper``) become names, and decorators of others
go."""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import sys
import textwrap
from typing import Any, Callable, Dict, List, Mapping, Set, Tuple

from ._errors import InvalidError

Change = Tuple[Any, str]  # the node that goes, and what comes in its place
NameOf = Callable[[str, Any, bool, Set[str]], str]

_FAILED = object()


class Words:
    """What annotations and decorators name: everything is there, and does nothing. ``path`` is how
    text says it (``T.float32``); what a call gives has ``text`` instead (``T.float32(2)``), which
    may stand beside programs where it is a number."""

    def __init__(self, path: str = "", text: str = "", is_number: bool = False) -> None:
        self.path, self.text, self.is_number = path, text, is_number

    def __getattr__(self, name: str) -> "Words":
        if name.startswith("__"):
            raise AttributeError(name)
        return Words(f"{self.path}.{name}" if self.path else "")

    def __call__(self, *given: Any, **words: Any) -> "Words":
        every = [("", plain(item)) for item in given]
        every += [(f"{name}=", plain(item)) for name, item in words.items()]
        if not self.path or not all(is_simple(item) or _has_text(item) for _, item in every):
            return Words()
        is_number = _NUMBERS.fullmatch(self.path) and every and all(
            is_simple(item) for _, item in every)
        inner = ", ".join(f"{name}{as_text(item)}" for name, item in every)
        return Words(text=f"{self.path}({inner})", is_number=bool(is_number))

    def __getitem__(self, _: Any) -> "Words":
        return Words()

    def __iter__(self) -> Any:
        raise TypeError("this is for the text of programs, which Python does not run")

    def _joined(self, sign: str, left: Any, right: Any) -> "Words":
        sides = [plain(left), plain(right)]
        if not self.is_number or not all(is_simple(side) for side in sides):
            return Words()
        return Words(text=f"({as_text(sides[0])} {sign} {as_text(sides[1])})", is_number=True)

    def __add__(self, other: Any) -> "Words":
        return self._joined("+", self, other)

    def __radd__(self, other: Any) -> "Words":
        return self._joined("+", other, self)

    def __sub__(self, other: Any) -> "Words":
        return self._joined("-", self, other)

    def __rsub__(self, other: Any) -> "Words":
        return self._joined("-", other, self)

    def __mul__(self, other: Any) -> "Words":
        return self._joined("*", self, other)

    def __rmul__(self, other: Any) -> "Words":
        return self._joined("*", other, self)

    def __truediv__(self, other: Any) -> "Words":
        return self._joined("/", self, other)

    def __rtruediv__(self, other: Any) -> "Words":
        return self._joined("/", other, self)

    def __neg__(self) -> "Words":
        return Words(text=f"(-{self.text})", is_number=True) if self.is_number else Words()


# what makes numbers that may stand beside programs
_NUMBERS = re.compile(
    r"T\.((float|int|uint|bfloat)\d\w*|bool|const|[Cc]ast|(min|max)(_value)?|infinity|nan)")


def plain(value: Any) -> Any:
    """A number of numpy as Python has it, and a type of elements by its name."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None and isinstance(value, numpy.dtype):
        return value.name
    if torch is not None and isinstance(value, torch.dtype):
        return str(value).rpartition(".")[2]
    is_number = type(value).__module__ == "numpy" and getattr(value, "shape", None) == ()
    return value.item() if is_number else value


def is_simple(value: Any) -> bool:
    """Whether text has a word for it."""
    return isinstance(value, (bool, int, float, str)) or value is None or (
        isinstance(value, Words) and value.is_number) or (
        isinstance(value, (tuple, list)) and all(is_simple(plain(item)) for item in value))


def _has_text(value: Any) -> bool:
    return isinstance(value, Words) and bool(value.text)


def as_text(value: Any) -> str:
    if isinstance(value, Words) or value is None:
        return str(value and value.text)
    if isinstance(value, (tuple, list)):
        inner = "".join(f"{as_text(plain(item))}, " for item in value)
        return f"({inner})" if isinstance(value, tuple) else f"[{inner.rstrip(', ')}]"
    if isinstance(value, float) and value - value != 0:
        return f'float("{value}")'
    kind: Any = next(kind for kind in (bool, int, float, str) if isinstance(value, kind))
    return str(kind.__repr__(value))  # of an enumeration, too, which has another


def _own_names(tree: ast.AST) -> Set[str]:
    """Names that the text itself gives something."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
    return found


def _free_names(node: ast.AST) -> Set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _lines(text: str) -> List[bytes]:
    """As Python counts them: other signs that end a line for str.splitlines end none here."""
    return text.encode().splitlines(True)


def _segment(lines: List[bytes], node: Any) -> str:
    """The text of an expression; ast.get_source_segment divides all of the text at each call."""
    found = lines[node.lineno - 1:node.end_lineno]
    found[-1] = found[-1][:node.end_col_offset]
    found[0] = found[0][node.col_offset:]
    return b"".join(found).decode()


class _Finder(ast.NodeVisitor):
    """Finds the largest expressions that Python can tell, and decorators."""

    def __init__(self, tree: ast.AST, around: Mapping[str, Any], name_of: NameOf,
                 lines: List[bytes], defaults: Mapping[str, Any]) -> None:
        self._around, self._name_of, self._lines = around, name_of, lines
        self._defaults = defaults
        self._own = _own_names(tree)
        self.changes: List[Change] = []

    def _value(self, node: ast.expr) -> Any:
        """Of an expression of what is around alone; else _FAILED."""
        names = _free_names(node)
        if not any(name in self._around for name in names) or names & self._own or any(
                name not in self._around and not hasattr(builtins, name) for name in names):
            return _FAILED
        code = compile(ast.fix_missing_locations(ast.Expression(node)), "<program>", "eval")
        try:
            return eval(code, {**self._around})  # noqa: S307 (of the text that Python has just run)
        except Exception:  # the library says what is wrong with it
            return _FAILED

    def visit_Name(self, node: ast.Name) -> None:
        """Words under another name of theirs; what another function has under this name."""
        value = self._value(node)
        if isinstance(value, Words) and value.path == node.id or value is _FAILED:
            return
        if _has_text(value) and not value.is_number:
            self.changes.append((node, value.text))
            return
        name = self._name_of(node.id, value, True, self._own)
        if name not in ("", node.id):
            self.changes.append((node, name))

    def _visit_expression(self, node: Any) -> None:
        is_read = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        value = self._value(node) if is_read else _FAILED
        if isinstance(value, Words):  # T.float32 is text; tools.T is a name for T
            inner = self._value(node.value) if isinstance(node, ast.Attribute) else value
            value = _FAILED if isinstance(inner, Words) else value
        segment = _segment(self._lines, node)
        name = "" if value is _FAILED else \
            self._name_of(segment, value, not isinstance(node, ast.Call), self._own)
        if not name:
            self.generic_visit(node)
            return
        lines = "\n" * segment.count("\n")
        self.changes.append((node, f"({name}{lines})" if lines else name))

    visit_Attribute = visit_Subscript = visit_Call = _visit_expression

    def _decorator(self, node: ast.expr) -> None:
        """One that the text has stays, in its words; others have done what they do."""
        called = node.func if isinstance(node, ast.Call) else node
        value = self._value(called)
        path = getattr(value, "path", None)
        is_pythons = isinstance(node, ast.Name) and node.id == "staticmethod"
        if isinstance(path, str) and path:
            self.changes.append((called, path))
        elif value is not _FAILED or is_pythons:
            self.changes.append((node, ""))

    def visit_arguments(self, node: ast.arguments) -> None:
        """Of a helper: its defaults are what they were when Python defined it."""
        every = [*node.posonlyargs, *node.args]
        given = [*zip(every[len(every) - len(node.defaults):], node.defaults),
                 *zip(node.kwonlyargs, node.kw_defaults)]
        told_now = []
        for parameter, default in given:
            value = plain(self._defaults.get(parameter.arg, _FAILED))
            if isinstance(default, (type(None), ast.Constant)) or not is_simple(value):
                continue
            name = self._name_of(_segment(self._lines, default), value, False, self._own)
            self.changes.append((default, name or as_text(value)))
            told_now.append(default)
        for part in ast.iter_child_nodes(node):
            if part not in told_now:
                self.visit(part)

    def _visit_scope(self, node: Any) -> None:
        for decorator in node.decorator_list:
            self._decorator(decorator)
        for part in ast.iter_child_nodes(node):
            if part not in node.decorator_list:
                self.visit(part)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _visit_scope


def _changed(lines: List[bytes], changes: List[Change]) -> str:
    """The text with the changes, from the last one on; a decorator takes its sign along."""
    for node, word in sorted(changes, reverse=True,
                             key=lambda change: (change[0].lineno, change[0].col_offset)):
        first, last = node.lineno - 1, node.end_lineno - 1
        head, tail = lines[first][:node.col_offset], lines[last][node.end_col_offset:]
        if not word:
            head, word = head.rstrip()[:-1], "\n" * (last - first)
        lines[first:last + 1] = (head + word.encode() + tail).splitlines(True)
    return b"".join(lines).decode()


def _quoted(node: Any) -> List[Change]:
    """Annotations of a function that stand in quotes; names of types do, too, and stay."""
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    found: List[Change] = []
    for given in (*(part.annotation for part in every), node.returns):
        if isinstance(given, ast.Constant) and isinstance(given.value, str):
            inner = ast.parse(given.value.strip(), mode="eval").body
            if not isinstance(inner, ast.Name) and given.lineno == given.end_lineno:
                found.append((given, given.value.strip()))
    return found


def _unquoted(text: str) -> str:
    """The text with its annotations as they are read."""
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    return _changed(_lines(text), [change for node in functions for change in _quoted(node)])


def defaults_of(function: Any) -> Dict[str, Any]:
    """Of each parameter that has one."""
    every = inspect.signature(function).parameters.values()
    return {one.name: one.default for one in every if one.default is not one.empty}


def told(text: str, around: Mapping[str, Any], name_of: NameOf,
         defaults: Mapping[str, Any]) -> str:
    """The text with names for what Python can tell: ``name_of(segment, value, is_path, taken)``
    gives one, or "" for a value that is nothing in a program; ``defaults`` are those of the
    function that it defines. Lines stay where they are, and columns, too, where a name is as long
    as what it stands for."""
    text = textwrap.dedent(text)
    try:
        text = _unquoted(text)
        tree = ast.parse(text)
    except SyntaxError:
        return text
    lines = _lines(text)
    finder = _Finder(tree, around, name_of, lines, defaults)
    finder.visit(tree)
    return _changed(lines, finder.changes)


def without_members(names: Set[str], text: str) -> Set[str]:
    """Those of the names that stand alone somewhere in the text, not behind a dot only."""
    try:
        return names & _free_names(ast.parse(text))
    except SyntaxError:  # lines from the middle of something
        return names


def as_name(segment: str) -> str:
    """An expression as a name of the same length."""
    return re.sub(r"\W", "_", re.sub(r"\s*\n\s*", "_", segment), flags=re.ASCII)


def as_definition(text: str, name: str) -> str:
    """The source of a function, or of the one lambda in its lines, as a definition of that name."""
    text = textwrap.dedent(text)
    if re.match(r"\s*(@|def\b)", text):
        return re.sub(r"^def\s+\w+", f"def {name}", text, count=1, flags=re.MULTILINE)
    try:
        found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Lambda)]
    except SyntaxError:  # lines from the middle of something
        found = []
    if len(found) != 1:
        raise InvalidError(f"the lambda '{name}' does not stand alone in its lines: write a def")
    return f"def {name}({ast.unparse(found[0].args)}):\n    return {ast.unparse(found[0].body)}\n"
