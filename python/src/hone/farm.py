"""A farm of devices, seen through the ``hone`` command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any, Dict, List, Optional

from . import _errors
from ._library import NATIVE

_KINDS = {2: "invalid", 3: "unavailable"}


def _command() -> str:
    beside = os.path.join(NATIVE, "hone")
    found = beside if os.path.exists(beside) else shutil.which(os.environ.get("HONE", "hone"))
    if not found:
        raise _errors.make("not_found", "there is no command 'hone'; the variable HONE names it")
    return found


class Farm:
    """The devices behind a tracker, ``tcp://HOST:PORT``. ``key`` and ``tracker_key`` as the command
    takes them (docs/farm.md), or in its HONE_… variables; ``insecure`` is for loopback alone."""

    def __init__(self, tracker: str, *, key: Optional[str] = None,
                 tracker_key: Optional[str] = None, insecure: bool = False) -> None:
        self.tracker, self.key, self.tracker_key = tracker, key, tracker_key
        self.insecure = insecure
        self._options: List[str] = ["--insecure"] if insecure else []
        for name, value in (("--key", key), ("--tracker-key", tracker_key)):
            self._options += [name, value] if value else []

    def __repr__(self) -> str:
        return f"hone.Farm({self.tracker!r})"

    def _run(self, *words: str) -> str:
        line = [_command(), "farm", *words, "--tracker", self.tracker, *self._options]
        done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)
        if done.returncode:
            message = done.stderr.strip()
            kind = _KINDS.get(done.returncode, "internal")
            raise _errors.make(kind, message[6:] if message.startswith("hone: ") else message)
        return done.stdout

    def status(self) -> Dict[str, Any]:
        """What the tracker counts, its slots and tuners."""
        found: Dict[str, Any] = json.loads(self._run("status", "--json"))
        return found

    def devices(self) -> List[Dict[str, Any]]:
        """The slots of runners: state, target, what they have done."""
        return list(self.status()["slots"])

    def tuners(self) -> List[Dict[str, Any]]:
        """Who tunes, and what waits for them."""
        return list(self.status()["tuners"])
