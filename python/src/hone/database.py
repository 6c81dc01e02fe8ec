"""Tuning databases: records as rows, SQL, merging, export."""

from __future__ import annotations

import ctypes
import importlib
import os
import re
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Union

from . import _library as lib
from ._errors import InvalidError, of_file
from ._library import LIB

_WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})")
_REAL = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?|-?(inf|nan)", re.IGNORECASE)


@dataclass(frozen=True)
class News:
    """What a merge or import brought."""

    sessions: int
    trials: int
    known: int
    changed: int


def _value(cell: Optional[bytes]) -> Any:
    if cell is None:
        return None
    text = cell.decode("utf-8", "replace")
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _REAL.fullmatch(text) else text


class Database:
    """A file of records. Each call opens it and closes it again, so a tune may write meanwhile."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self.path = os.fspath(path)

    def __fspath__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"hone.Database({self.path!r})"

    def query(self, sql: str) -> List[Dict[str, Any]]:
        """The rows of one read-only statement over the views of docs/database.md: ``v_trials``,
        ``v_best``, ``v_tasks``, …; what reads as a number is one."""
        names: List[str] = []
        rows: List[Dict[str, Any]] = []

        def visit(_: Any, count: int, columns: Any, cells: Any) -> int:
            if not cells:
                names.extend(columns[i].decode() for i in range(count))
            else:
                rows.append({names[i]: _value(cells[i]) for i in range(count)})
            return 0

        records = lib.out_pointer()
        visitor = lib.RowVisit(visit)
        with of_file(self.path):
            LIB.hone_records_open(lib.text(self.path), lib.ref(records))
        try:
            LIB.hone_records_query(records, lib.text(sql), ctypes.cast(visitor, ctypes.c_void_p),
                                   None)
        finally:
            LIB.hone_records_close(records)
        return rows

    def frame(self, sql: str = "SELECT * FROM v_trials") -> Any:
        """The rows as a pandas frame."""
        return importlib.import_module("pandas").DataFrame(self.query(sql))

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
