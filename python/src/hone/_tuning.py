"""Callbacks of a tune, and design spaces that are functions."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import signal
import tempfile
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Iterator, Optional, Set, Union

from . import _library as lib
from ._errors import InvalidError

if TYPE_CHECKING:
    from .farm import Farm
    from .module import Module, Progress

GOES_ON, DRAINS, ENDS = 0, 1, 2

_running: Set["Session"] = set()


@atexit.register
def _end_all(patience: float = 10.0) -> None:
    """Ends tunes of threads that Python does not wait for: what they use goes with the process."""
    for session in [*_running]:
        session.end()
    deadline = time.monotonic() + patience
    while _running and time.monotonic() < deadline:
        time.sleep(0.01)


class Session:
    """Keeps callbacks alive, and what was raised in them for when the library is back."""

    def __init__(self, callback: Optional[Callable[["Progress"], Optional[bool]]],
                 log: Optional[Callable[[int, str], None]]) -> None:
        self._callback = callback
        self._log = log
        self._answer = GOES_ON
        self._raised: Optional[BaseException] = None

    def connect(self, options: lib.TuningOptions) -> None:
        """Sets the callbacks; they live as long as this."""
        self._functions = (lib.Progress(self._on_progress), lib.ShouldStop(self._on_stop),
                           lib.Log(self._on_log))
        options.should_stop = self._functions[1]
        if self._callback:
            options.progress = self._functions[0]
        if self._log:
            options.log = self._functions[2]

    def check(self) -> None:
        """Raises what was raised in a callback."""
        if self._raised:
            raise self._raised

    def fail(self, raised: BaseException) -> None:
        """Ends the tune, for check() to raise it."""
        self._raised = self._raised or raised
        self._answer = ENDS

    def end(self) -> None:
        """Ends the tune at once; what was measured is in the database."""
        self._answer = ENDS

    @contextlib.contextmanager
    def under_way(self) -> Iterator[None]:
        """While the library is at it."""
        _running.add(self)
        try:
            with self._interruptible():
                yield
        finally:
            _running.discard(self)

    def _guard(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as raised:  # it cannot go through C; check() lets it go on
            self.fail(raised)

    def _on_progress(self, _: Any, state: Any) -> None:
        from .module import Progress

        def show() -> None:
            at = state.contents
            seen = Progress(at.done, at.total, at.trials_per_second, at.seconds_left,
                            (at.best or b"").decode(), (at.doing or b"").decode())
            if self._callback and self._callback(seen) is False:
                self._answer = max(self._answer, DRAINS)

        self._guard(show)

    def _on_stop(self, _: Any) -> int:
        return self._answer

    @contextlib.contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Ctrl-C ends the tune: a handler that raises could do so where a callback begins, and
        what is raised there, outside of its code, Python prints and forgets."""
        usual = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or not callable(usual):
            yield
            return
        handler: Callable[[int, Any], Any] = usual

        def keep(number: int, frame: Any) -> None:
            def handle() -> None:
                handler(number, frame)

            self._guard(handle)

        signal.signal(signal.SIGINT, keep)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, usual)

    def _on_log(self, _: Any, level: int, text: bytes) -> None:
        if self._log:
            log = self._log
            self._guard(lambda: log(level, text.decode("utf-8", "replace")))

    @contextlib.contextmanager
    def space(self, module: "Module", space: Union[None, str, "os.PathLike[str]",
                                                   Callable[..., Any]],
              task: Optional[str]) -> Iterator[Optional[str]]:
        """The path of a design space: as given, or of what a function does to a schedule."""
        if space is None or not callable(space):
            yield None if space is None else os.fspath(space)
            return
        from .schedule import Schedule

        tasks = [found for found in module.tasks() if task in (None, found.name)]
        schedule = _one_schedule(space, Schedule(tasks[0].program if tasks else module))
        with tempfile.TemporaryDirectory(prefix="hone-python-") as folder:
            path = os.path.join(folder, "space.json")
            with open(path, "w", encoding="utf-8") as out:
                out.write(schedule.space())
            yield path


def _one_schedule(space: Callable[..., Any], given: Any) -> Any:
    """What a function made of a schedule: that one, or as in TVM the one that it returns."""
    from .schedule import Schedule

    name = getattr(space, "__name__", type(space).__name__)
    made = space(given)
    if isinstance(made, (list, tuple)):
        if len(made) != 1:
            raise InvalidError(f"the space '{name}' returns {len(made)} schedules, one is taken: "
                               "choices between them are sampling steps")
        made = made[0]
    if made is not None and not isinstance(made, Schedule):
        raise InvalidError(f"the space '{name}' returns a value of type {type(made).__name__}: "
                           "a schedule is taken, or nothing")
    schedule = given if made is None else made
    if not schedule.trace.insts:
        raise InvalidError(f"the space '{name}' does nothing to the schedule")
    return schedule


def outside(propose: Optional[str], tracker: Union[None, str, "Farm"], device_key: Optional[str],
            waits: bool) -> lib.TuningOutside:
    """Who takes part in a tune; keys of a farm that is an address are those of HONE_KEY_FILE and
    HONE_TRACKER_KEY."""
    from .farm import Farm

    farm = Farm(tracker) if isinstance(tracker, str) else tracker
    made = lib.TuningOutside(size=ctypes.sizeof(lib.TuningOutside), propose=lib.text(propose))
    if farm is not None:
        made.tracker = lib.text(farm.tracker)
        made.key = lib.text(farm.key or os.environ.get("HONE_KEY_FILE"))
        made.tracker_key = lib.text(farm.tracker_key or os.environ.get("HONE_TRACKER_KEY"))
        made.device_key = lib.text(device_key)
        made.is_insecure = farm.insecure
        made.stops_without_devices = not waits
    return made
