"""Hone makes tensor programs fast on the machine that will run them.

>>> import hone
>>> module = hone.load("model.onnx")                    # doctest: +SKIP
>>> module.tune("tuned.db", seconds=60)                 # doctest: +SKIP
>>> model = module.compile("tuned.db")                  # doctest: +SKIP
>>> y = model(x)                                        # doctest: +SKIP
"""

from __future__ import annotations

from ._errors import (ExternalError, HoneError, InvalidError, IoError, MissingFileError,
                      NotFoundError, OutOfMemoryError, ScheduleError, TimeoutExpired, TypeMismatchError,
                      UnavailableError, UnsupportedError, VersionError)
from ._library import LIB as _LIB
from ._maps import AXIS_SEPARATOR
from ._profile import KernelProfile, Profile
from ._propose import ProposalTask
from ._tensor import Tensor
from .database import Database, News
from .external import register
from .farm import Farm
from .model import Comparison, Model, Port, Timing
from .module import Module, Progress, Task, Tuned, TunedTask, load, target
from .schedule import AxisInfo, Block, BlockInfo, Integer, Loop, LoopInfo, Schedule, Trace

__version__: str = _LIB.hone_version().decode()

__all__ = ["AXIS_SEPARATOR", "AxisInfo", "Block", "BlockInfo", "Comparison", "Database",
           "ExternalError", "Farm", "HoneError", "Integer", "InvalidError", "IoError",
           "KernelProfile", "Loop", "LoopInfo", "MissingFileError", "Model", "Module", "News",
           "NotFoundError", "OutOfMemoryError", "Port", "Profile", "Progress", "ProposalTask",
           "Schedule", "ScheduleError", "Task", "Tensor", "TimeoutExpired", "Timing", "Trace",
           "Tuned", "TunedTask", "TypeMismatchError", "UnavailableError", "UnsupportedError",
           "VersionError", "load", "register", "target", "__version__"]
