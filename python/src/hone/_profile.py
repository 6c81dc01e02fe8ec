"""What each kernel of a model takes where it runs."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Callable, Dict, List, Tuple

Run = Tuple[str, str, str, float, float, float]  # name, workload, schedule, flops, bytes, ns


@dataclass(frozen=True)
class KernelProfile:
    """All runs of a kernel in one call of the model; seconds, ``share`` of all kernels."""

    name: str
    workload: str
    schedule: str
    calls: int
    seconds: float
    share: float
    flops: float
    bytes: float

    @property
    def gflops(self) -> float:
        """Arithmetic per nanosecond; 0 where it is not known."""
        return self.flops / self.seconds / 1e9 if self.seconds > 0 else 0.0


@dataclass(frozen=True)
class Profile:
    """The kernels of a model, the slowest first. ``frame()`` gives pandas'."""

    kernels: Tuple[KernelProfile, ...]

    @property
    def seconds(self) -> float:
        """Of all kernels together."""
        return sum(kernel.seconds for kernel in self.kernels)

    def frame(self) -> object:
        """As a pandas frame."""
        import importlib
        from dataclasses import asdict

        frame: object = importlib.import_module("pandas").DataFrame(
            [{**asdict(kernel), "gflops": kernel.gflops} for kernel in self.kernels])
        return frame

    def __str__(self) -> str:
        rows = [("kernel", "calls", "time", "share", "GFLOPS", "schedule")]
        rows += [(k.name, str(k.calls), f"{k.seconds * 1e6:.4g} us", f"{k.share:.1%}",
                  f"{k.gflops:.4g}", k.schedule) for k in self.kernels]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        return "\n".join("  ".join(
            cell.ljust(width) if i in (0, 5) else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in rows)


class Recorder:
    """Adds up the runs of kernels, call by call; of calls the median counts."""

    def __init__(self) -> None:
        self._first: Dict[Tuple[str, str], List[Run]] = {}
        self._times: Dict[Tuple[str, str], List[float]] = {}

    def add(self, runs: List[Run]) -> None:
        """One call of the model."""
        sums: Dict[Tuple[str, str], float] = {}
        for run in runs:
            key = run[1], run[2]
            sums[key] = sums.get(key, 0.0) + run[5]
            if key not in self._times:
                self._first.setdefault(key, []).append(run)
        for key, total in sums.items():
            self._times.setdefault(key, []).append(total)

    def profile(self) -> Profile:
        """What came of it."""
        medians = {key: statistics.median(times) * 1e-9 for key, times in self._times.items()}
        total = sum(medians.values()) or 1.0
        kernels = [KernelProfile(runs[0][0], key[0], key[1], len(runs), medians[key],
                                 medians[key] / total, sum(run[3] for run in runs),
                                 sum(run[4] for run in runs))
                   for key, runs in self._first.items()]
        by_time: Callable[[KernelProfile], float] = lambda kernel: -kernel.seconds
        return Profile(tuple(sorted(kernels, key=by_time)))
