"""Proposals of Python functions: generators, and objects that are asked and told.

The library talks to a command by lines of JSON (docs/tuning.md). Here the command is a pair of
pipes to a thread of this process.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import tempfile
import threading
import warnings
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Generator, Iterator, List, Optional, TextIO

from ._errors import InvalidError

Event = Dict[str, Any]


@dataclass(frozen=True)
class ProposalTask:
    """What a generator is made for; traces are lists ``[steps, decisions]``."""

    name: str
    program: str
    target: str
    default: Any
    sketches: List[Any] = field(default_factory=list)


class _Generators:
    """A generator for each task: it gives a trace, and gets what came of that."""

    def __init__(self, make: Callable[[ProposalTask], Generator[Any, Event, None]]) -> None:
        self._make = make
        self._running: Dict[str, Generator[Any, Event, None]] = {}
        self._next: Dict[str, Any] = {}  # what is to be proposed
        self._waits: Dict[str, Any] = {}  # the id of what was proposed

    def ask(self, event: Event) -> Any:
        """The next trace of a task, when nothing is under way."""
        trace = self._next.pop(event["task"], None)
        if trace is not None:
            self._waits[event["task"]] = event["id"]
        return trace

    def tell(self, event: Event) -> None:
        """What happened."""
        name = event["task"]
        if event["event"] == "task":
            made = self._make(ProposalTask(
                name, event["program"], event["target"], event["default"], event["sketches"]))
            if not hasattr(made, "send"):
                raise InvalidError("propose is no generator function: its call gives a "
                                   f"{type(made).__name__}; it wants a yield")
            self._running[name] = made
            self._go_on(name, None)
        elif self._waits.get(name, "") == event.get("id") and _is_end(event):
            del self._waits[name]
            self._go_on(name, event)

    def _go_on(self, name: str, event: Optional[Event]) -> None:
        with contextlib.suppress(StopIteration):
            running = self._running[name]
            self._next[name] = next(running) if event is None else running.send(event)


def _is_end(event: Event) -> bool:
    return event["event"] == "result" or not event.get("taken", False)


def _as_trace(trace: Any) -> Any:
    if hasattr(trace, "as_json"):
        trace = trace.as_json()
    if isinstance(trace, str) and trace.lstrip().startswith("["):
        with contextlib.suppress(ValueError):  # the library says what is wrong with it
            return json.loads(trace)
    return trace


class _Talk:
    """Reads what the library says, and answers."""

    def __init__(self, proposer: Any) -> None:
        self._proposer = proposer
        self._count = 0
        self._made = self._refused = 0
        self._reason = ""

    def run(self, said: TextIO, answers: TextIO) -> None:
        """Until the library ends."""
        for line in said:
            event = json.loads(line)
            if event["event"] != "ask":
                self._note(event)
                self._proposer.tell(event)
                continue
            for answer in self._answer(event):
                answers.write(json.dumps(answer) + "\n")
            answers.flush()

    def _note(self, event: Event) -> None:
        if event["event"] == "verdict" and not event["legal"]:
            self._refused += 1
            self._reason = event["reason"]

    def warn(self) -> None:
        """Says that proposals were refused, to who did not look at what the proposer is told."""
        if self._refused:
            warnings.warn(f"{self._refused} of {self._made} proposals were refused; the last: "
                          f"{self._reason}", RuntimeWarning, stacklevel=5)

    def _answer(self, event: Event) -> Iterator[Event]:
        for _ in range(event["count"]):
            self._count += 1
            trace = self._proposer.ask({**event, "id": str(self._count)})
            if trace is None:
                break
            self._made += 1
            yield {"trace": _as_trace(trace), "task": event["task"],
                   "id": str(self._count)}
        yield {"pass": True, "task": event["task"]}


@contextlib.contextmanager
def command_of(propose: Any, fail: Callable[[BaseException], None]) -> Iterator[Optional[str]]:
    """The command that proposes: as given, or one that reaches a function of this process. ``fail``
    gets what is raised there."""
    if propose is None or isinstance(propose, str):
        yield propose
        return
    if not callable(propose) and not (hasattr(propose, "ask") and hasattr(propose, "tell")):
        raise InvalidError("propose is a command, a generator function of a task, or an object "
                           "with ask(event) and tell(event)")
    talk = _Talk(propose if hasattr(propose, "ask") else _Generators(propose))
    with tempfile.TemporaryDirectory(prefix="hone-python-") as folder:
        said, answers = (os.path.join(folder, name) for name in ("said", "answers"))
        os.mkfifo(said)
        os.mkfifo(answers)
        thread = threading.Thread(target=_serve, args=(talk, said, answers, fail), daemon=True)
        thread.start()
        try:
            yield f"cat {shlex.quote(answers)} & exec cat >{shlex.quote(said)}"
        finally:
            _end(thread, said, answers)
    talk.warn()


def _serve(talk: _Talk, said: str, answers: str, fail: Callable[[BaseException], None]) -> None:
    try:
        with open(answers, "w", encoding="utf-8") as to, open(said, encoding="utf-8") as come:
            talk.run(come, to)
    except BrokenPipeError:  # the library has ended
        pass
    except BaseException as raised:
        fail(raised)


def _end(thread: threading.Thread, said: str, answers: str) -> None:
    """A command that was never started left the thread waiting for it."""
    for path, flags in ((answers, os.O_RDONLY), (said, os.O_WRONLY)):
        thread.join(0.5)
        if not thread.is_alive():
            return
        with contextlib.suppress(OSError):
            os.close(os.open(path, flags | os.O_NONBLOCK))
    thread.join(5)
