"""What Python knows of a program's text before the program is read: expressions of what is around
it (``math.sqrt(2)``, ``config.rows``, ``tools.helper``) become names, and decorators of others
go."""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
from typing import Any, Callable, List, Mapping, Set, Tuple

from ._errors import InvalidError

Change = Tuple[Any, str]  # the node that goes, and what comes in its place
NameOf = Callable[[str, Any, bool, Set[str]], str]

_FAILED = object()


class Words:
    """What annotations and decorators name: everything is there, and does nothing. ``path`` is how
    text says it (``T.float32``); what a call gives has none."""

    def __init__(self, path: str = "") -> None:
        self.path = path

    def __getattr__(self, name: str) -> "Words":
        if name.startswith("__"):
            raise AttributeError(name)
        return Words(f"{self.path}.{name}" if self.path else "")

    def __call__(self, *_: Any, **__: Any) -> "Words":
        return Words()

    def __getitem__(self, _: Any) -> "Words":
        return Words()

    def __iter__(self) -> Any:
        raise TypeError("this is for the text of programs, which Python does not run")


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
                 lines: List[bytes]) -> None:
        self._around, self._name_of, self._lines = around, name_of, lines
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
        """Words under another name of theirs."""
        value = self._value(node)
        if isinstance(value, Words) and value.path not in ("", node.id):
            self._name_of(node.id, value, True, self._own)

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
        if isinstance(path, str) and path:
            self.changes.append((called, path))
        elif value is not _FAILED:
            self.changes.append((node, ""))

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


def told(text: str, around: Mapping[str, Any], name_of: NameOf) -> str:
    """The text with names for what Python can tell: ``name_of(segment, value, is_path, taken)``
    gives one, or "" for a value that is nothing in a program. Lines stay where they are, and
    columns, too, where a name is as long as what it stands for."""
    text = textwrap.dedent(text)
    try:
        text = _unquoted(text)
        tree = ast.parse(text)
    except SyntaxError:
        return text
    lines = _lines(text)
    finder = _Finder(tree, around, name_of, lines)
    finder.visit(tree)
    return _changed(lines, finder.changes)


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
