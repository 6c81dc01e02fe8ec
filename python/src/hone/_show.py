"""Programs shown: in colours on a terminal, as HTML in notebooks."""

from __future__ import annotations

import html
import os
import re
import sys
from typing import Callable, Dict, TextIO, Optional

_TOKEN = re.compile(
    r"(?P<comment>#[^\n]*)|(?P<text>\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')"
    r"|(?P<word>\b(?:def|class|for|in|with|if|else|while|return|import|from|as|not|and|or|lambda"
    r"|True|False|None)\b)|(?P<decorator>@[\w.]+)|(?P<number>\b\d[\w.]*)")
_CODES: Dict[str, str] = {"comment": "2", "text": "32", "word": "35", "decorator": "33",
                          "number": "36"}
_COLOURS: Dict[str, str] = {"comment": "#6a737d", "text": "#176f2c", "word": "#8b2fb0",
                            "decorator": "#8a5a00", "number": "#0550ae"}


def _paint(text: str, wrap: Callable[[str, str], str], plain: Callable[[str], str]) -> str:
    parts, end = [], 0
    for match in _TOKEN.finditer(text):
        parts.append(plain(text[end:match.start()]))
        parts.append(wrap(match.lastgroup or "", match.group()))
        end = match.end()
    return "".join(parts) + plain(text[end:])


def in_colours(text: str) -> str:
    """For terminals."""
    return _paint(text, lambda kind, word: f"\x1b[{_CODES[kind]}m{word}\x1b[0m", str)


def as_html(text: str) -> str:
    """For notebooks."""
    body = _paint(text, lambda kind, word: f'<span style="color:{_COLOURS[kind]}">'
                                           f"{html.escape(word)}</span>", html.escape)
    return f'<pre style="line-height:1.3">{body}</pre>'


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    running = shell.get_ipython()
    return running is not None and hasattr(running, "kernel")


def show(text: str, out: Optional[TextIO] = None) -> None:
    """Prints a program."""
    if _in_notebook():
        display = sys.modules["IPython"].display
        display.display(display.HTML(as_html(text)))
        return
    to = out or sys.stdout
    colours = to.isatty() and "NO_COLOR" not in os.environ
    print(in_colours(text) if colours else text, file=to)
