"""Errors of the library, as exceptions: the message has the place and the hint."""

from __future__ import annotations

import contextlib
import os
from typing import Dict, Iterator, Type, Union


class HoneError(Exception):
    """What went wrong; ``kind`` is one word, as ``"not_found"``."""

    kind = "internal"


class InvalidError(HoneError, ValueError):
    """Bad input or usage."""

    kind = "invalid"


class TypeMismatchError(HoneError, TypeError):
    """Operands or arguments have types that do not fit."""

    kind = "type"


class NotFoundError(HoneError, LookupError):
    """The named thing does not exist."""

    kind = "not_found"


class MissingFileError(NotFoundError, FileNotFoundError):
    """The file that was to be read does not exist."""


class UnsupportedError(HoneError, NotImplementedError):
    """Valid, but not implemented here."""

    kind = "unsupported"


class ScheduleError(HoneError):
    """A schedule step was refused; the program stays as it was."""

    kind = "illegal"


class IoError(HoneError, OSError):
    """Reading or writing failed."""

    kind = "io"


class TimeoutExpired(HoneError, TimeoutError):
    """The deadline passed: may be tried again."""

    kind = "timeout"


class UnavailableError(HoneError):
    """The other side or the device is gone."""

    kind = "unavailable"


class VersionError(HoneError):
    """Data of a version that this library cannot read."""

    kind = "version"


class ExternalError(HoneError, RuntimeError):
    """An external function failed: the message has its name and what it returned."""

    kind = "external"


class OutOfMemoryError(HoneError, MemoryError):
    """An allocation failed."""

    kind = "no_memory"


BY_KIND: Dict[str, Type[HoneError]] = {
    cls.kind: cls
    for cls in (InvalidError, TypeMismatchError, NotFoundError, UnsupportedError, ScheduleError,
                IoError, TimeoutExpired, UnavailableError, VersionError, ExternalError, OutOfMemoryError)
}


def make(kind: str, message: str) -> HoneError:
    """The exception for an error of the library."""
    error = BY_KIND.get(kind, HoneError)(message)
    error.kind = kind
    return error


@contextlib.contextmanager
def of_file(path: Union[str, "os.PathLike[str]", None]) -> Iterator[None]:
    """Where a file is read: what was not found may be the file itself."""
    try:
        yield
    except NotFoundError as reason:
        if path is None or os.path.exists(path):
            raise
        raise MissingFileError(str(reason)) from None
