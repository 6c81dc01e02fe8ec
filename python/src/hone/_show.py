"""Programs shown: in colours on a terminal, as HTML in notebooks."""

from __future__ import annotations

import html
import os
import re
import sys
from typing import Callable, Dict, TextIO, Optional

from ._errors import InvalidError

_TOKEN = re.compile(
    r"(?P<comment>#[^\n]*)|(?P<text>\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')"
    r"|(?P<word>\b(?:def|class|for|in|with|if|else|while|return|import|from|as|not|and|or|lambda"
    r"|True|False|None)\b)|(?P<decorator>@[\w.]+)|(?P<number>\b\d[\w.]*)")
_CODES: Dict[str, str] = {"comment": "2", "text": "32", "word": "35", "decorator": "33",
                          "number": "36"}
_LIGHT: Dict[str, str] = {"comment": "#6a737d", "text": "#176f2c", "word": "#8b2fb0",
                          "decorator": "#8a5a00", "number": "#0550ae"}
_DARK: Dict[str, str] = {"comment": "#9aa4ae", "text": "#7ee08f", "word": "#d9a0f5",
                         "decorator": "#f0c060", "number": "#8cc4ff"}
_STYLES: Dict[str, Dict[str, str]] = {"light": _LIGHT, "dark": _DARK}


def _paint(text: str, wrap: Callable[[str, str], str], plain: Callable[[str], str]) -> str:
    parts, end = [], 0
    for match in _TOKEN.finditer(text):
        parts.append(plain(text[end:match.start()]))
        parts.append(wrap(match.lastgroup or "", match.group()))
        end = match.end()
    return "".join(parts) + plain(text[end:])


def _code(colour: str) -> str:
    """A colour as terminals take it."""
    return "38;2;" + ";".join(str(int(colour[at:at + 2], 16)) for at in (1, 3, 5))


def _check(style: Optional[str]) -> None:
    if style not in (None, "ansi", *_STYLES):
        raise InvalidError(f"there is no style {style!r}: \"light\", \"dark\", or \"ansi\"")


def in_colours(text: str, style: Optional[str] = None) -> str:
    """For terminals: in their own colours, or those of a style."""
    named = _STYLES.get(style or "", {})
    codes = {kind: _code(colour) for kind, colour in named.items()} or _CODES
    return _paint(text, lambda kind, word: f"\x1b[{codes[kind]}m{word}\x1b[0m", str)


def as_html(text: str, style: Optional[str] = None) -> str:
    """For notebooks."""
    colours = _STYLES.get(style or "", _LIGHT)
    body = _paint(text, lambda kind, word: f'<span style="color:{colours[kind]}">'
                                           f"{html.escape(word)}</span>", html.escape)
    ground = ";background:#1e2227;color:#e6e9ec" if style == "dark" else ""
    return f'<pre style="line-height:1.3{ground}">{body}</pre>'


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    running = shell.get_ipython()
    return running is not None and hasattr(running, "kernel")


def show(text: str, out: Optional[TextIO] = None, style: Optional[str] = None) -> None:
    """Prints a program."""
    _check(style)
    if _in_notebook():
        display = sys.modules["IPython"].display
        display.display(display.HTML(as_html(text, style)))
        return
    to = out or sys.stdout
    colours = to.isatty() and "NO_COLOR" not in os.environ
    print(in_colours(text, style) if colours else text, file=to)
