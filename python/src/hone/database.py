"""Tuning databases: records as rows, SQL, merging, export."""

from __future__ import annotations

import ctypes
import importlib
import operator
import os
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _library as lib
from ._errors import InvalidError, of_file
from ._library import LIB

Parameters = Union[Sequence[Any], Mapping[str, Any]]

@dataclass(frozen=True)
class News:
    """What a merge or import brought."""

    sessions: int
    trials: int
    known: int
    changed: int


def _parameter(name: Optional[str], value: Any) -> lib.SqlValue:
    made = lib.SqlValue(name=lib.text(name), kind=lib.SQL_NULL)
    if value is None:
        return made
    if isinstance(value, (str, bytes)):
        data = value.encode() if isinstance(value, str) else value
        made.kind = lib.SQL_TEXT if isinstance(value, str) else lib.SQL_BLOB
        made.text = ctypes.cast(ctypes.c_char_p(data), ctypes.POINTER(ctypes.c_char))
        made.length = len(data)
    elif hasattr(value, "__index__"):
        made.kind, made.integer = lib.SQL_INTEGER, operator.index(value)
        if made.integer != operator.index(value):  # ctypes cuts what is too large
            raise InvalidError(f"{value} does not fit into 64 bits")
    elif hasattr(value, "__float__"):
        made.kind, made.real = lib.SQL_REAL, float(value)
    else:
        raise InvalidError(f"{type(value).__name__!r} is no kind of parameter: None, numbers, texts "
                           "and bytes are")
    return made


def _parameters(given: Parameters) -> List[lib.SqlValue]:
    if isinstance(given, (str, bytes)):
        raise InvalidError(f"parameters are a sequence or a mapping; ({given!r},) is one of one")
    if isinstance(given, Mapping):
        return [_parameter(name, value) for name, value in given.items()]
    return [_parameter(None, value) for value in given]


def _value(cell: lib.SqlValue) -> Any:
    if cell.kind == lib.SQL_INTEGER:
        return cell.integer
    if cell.kind == lib.SQL_REAL:
        return cell.real
    if cell.kind == lib.SQL_NULL:
        return None
    data = ctypes.string_at(cell.text, cell.length) if cell.length else b""
    return data if cell.kind == lib.SQL_BLOB else data.decode("utf-8", "replace")


class Database:
    """A file of records. Each call opens it and closes it again, so a tune may write meanwhile."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self.path = os.fspath(path)

    def __fspath__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"hone.Database({self.path!r})"

    def query(self, sql: str, parameters: Parameters = ()) -> List[Dict[str, Any]]:
        """The rows of one read-only statement over the views of docs/database.md: ``v_trials``,
        ``v_best``, ``v_tasks``, … ``parameters`` are the values of ``?``, in order, or, a mapping,
        those of ``:name``."""
        names, rows = self._select(sql, parameters)
        return [dict(zip(names, row)) for row in rows]

    def _select(self, sql: str, parameters: Parameters) -> Tuple[List[str], List[List[Any]]]:
        names: List[str] = []
        rows: List[List[Any]] = []

        def visit(_: Any, is_row: int, count: int, values: Any) -> int:
            if is_row:
                rows.append([_value(values[i]) for i in range(count)])
            else:
                names.extend(values[i].name.decode("utf-8", "replace") for i in range(count))
            return 0

        given = _parameters(parameters)
        array = (lib.SqlValue * max(len(given), 1))(*given)
        records = lib.out_pointer()
        visitor = lib.SqlVisit(visit)
        with of_file(self.path):
            LIB.hone_records_open(lib.text(self.path), lib.ref(records))
        try:
            LIB.hone_records_select(records, lib.text(sql), len(given), lib.ref(array),
                                    ctypes.cast(visitor, ctypes.c_void_p), None)
        finally:
            LIB.hone_records_close(records)
        return names, rows

    def frame(self, sql: str = "SELECT * FROM v_trials", parameters: Parameters = ()) -> Any:
        """The rows as a pandas frame."""
        names, rows = self._select(sql, parameters)
        return importlib.import_module("pandas").DataFrame(rows, columns=names)

    def rows(self, view: str = "trials", limit: int = 0) -> List[Dict[str, Any]]:
        """The rows of a view: trials, tasks, workloads, targets, sessions, …"""
        if not view.isidentifier():
            raise InvalidError(f"'{view}' is no name of a view")
        return self.query(f"SELECT * FROM v_{view}" + (f" LIMIT {int(limit)}" if limit else ""))

    def __len__(self) -> int:
        return int(self.query("SELECT count(*) AS n FROM v_trials")[0]["n"])

    def merge(self, other: Union[str, "os.PathLike[str]"]) -> News:
        """Takes all that another database holds; this one is made when it is not there."""
        news = lib.News()
        LIB.hone_database_merge(lib.text(self.path), lib.text(other), lib.ref(news))
        return News(news.sessions, news.trials, news.known, news.changed)

    def export(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes everything as lines of JSON."""
        LIB.hone_database_export(lib.text(self.path), lib.text(path))

    def read(self, path: Union[str, "os.PathLike[str]"]) -> News:
        """Takes the lines that ``export`` wrote."""
        news = lib.News()
        LIB.hone_database_import(lib.text(self.path), lib.text(path), lib.ref(news))
        return News(news.sessions, news.trials, news.known, news.changed)

    def prune(self, keep: int) -> int:
        """Removes all but the ``keep`` fastest trials of each task; how many that were."""
        removed = ctypes.c_int64()
        LIB.hone_database_prune(lib.text(self.path), keep, lib.ref(removed))
        return removed.value
