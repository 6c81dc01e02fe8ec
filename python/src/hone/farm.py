"""A farm of devices, seen through the ``hone`` command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any, List, Mapping, Optional

from . import _errors
from ._errors import HoneError
from ._library import NATIVE

_KINDS = {2: "invalid", 3: "unavailable"}


def _command() -> str:
    beside = os.path.join(NATIVE, "hone")
    found = beside if os.path.exists(beside) else shutil.which(os.environ.get("HONE", "hone"))
    if not found:
        raise _errors.make("not_found", "there is no command 'hone'; the variable HONE names it")
    return found


class Farm:
    """The devices behind a tracker, ``HOST:PORT``; keys and the tracker's key as the command takes
    them (docs/farm.md), in ``options`` or in HONE_… variables."""

    def __init__(self, tracker: str, options: Optional[Mapping[str, str]] = None) -> None:
        self.tracker = tracker
        self._options = dict(options or {})

    def __repr__(self) -> str:
        return f"hone.Farm({self.tracker!r})"

    def _run(self, *words: str) -> str:
        line = [_command(), *words, "--tracker", self.tracker]
        for name, value in self._options.items():
            line += [f"--{name.replace('_', '-')}", value]
        done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)
        if done.returncode:
            message = done.stderr.strip()
            kind = _KINDS.get(done.returncode, "internal")
            raise _errors.make(kind, message[6:] if message.startswith("hone: ") else message)
        return done.stdout

    def status(self) -> Any:
        """Devices, queues and tuners, as ``hone farm status --json`` has them."""
        return json.loads(self._run("farm", "status", "--json"))

    def devices(self) -> List[Any]:
        """What is registered."""
        status = self.status()
        found = status.get("devices") if isinstance(status, dict) else None
        if found is None:
            raise HoneError("the tracker's status names no devices")
        return list(found)
