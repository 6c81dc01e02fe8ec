"""libhone.so by ctypes: where it is found, its functions and structures.

The structures are those of <hone/tune.h>, <hone/variant.h>, <hone/compile.h>, <hone/database.h>,
<hone/records.h> and <hone/model_abi.h>, member by member.
"""

from __future__ import annotations

import ctypes
import os
import threading
import traceback
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_int, c_int32,
                    c_int64, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)
from typing import Any, List, Optional, Sequence

from . import _errors

NATIVE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_native")


# ---- tensors ----

class DLDevice(Structure):
    _fields_ = [("device_type", c_int32), ("device_id", c_int32)]


class DLDataType(Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class DLTensor(Structure):
    _fields_ = [("data", c_void_p), ("device", DLDevice), ("ndim", c_int32),
                ("dtype", DLDataType), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


class DLManagedTensor(Structure):
    pass


Deleter = CFUNCTYPE(None, POINTER(DLManagedTensor))
DLManagedTensor._fields_ = [("dl_tensor", DLTensor), ("manager_ctx", c_void_p),
                            ("deleter", Deleter)]


class NamedTensor(Structure):
    _fields_ = [("name", c_char_p), ("tensor", POINTER(DLTensor))]


# ---- models ----

GIVEN, AT_MOST, MADE = 0, 1, 2  # where an output gets its shape


class Port(Structure):
    _fields_ = [("name", c_char_p), ("dtype_name", c_char_p), ("dtype", DLDataType),
                ("ndim", c_int32), ("shape", POINTER(c_int64)), ("dim_names", POINTER(c_char_p)),
                ("is_updated", c_int32), ("sized", c_int32)]


Shapes = CFUNCTYPE(c_int32, POINTER(POINTER(DLTensor)), POINTER(POINTER(DLTensor)))


class Entry(Structure):
    _fields_ = [("name", c_char_p), ("input_count", c_int32), ("output_count", c_int32),
                ("inputs", POINTER(Port)), ("outputs", POINTER(Port)), ("run", c_void_p),
                ("output_shapes", Shapes)]


LastError = CFUNCTYPE(c_char_p)


class ModelInfo(Structure):
    _fields_ = [("version", c_uint32), ("threads", c_int32), ("name", c_char_p),
                ("target", c_char_p), ("entry_count", c_int32), ("entries", POINTER(Entry)),
                ("last_error", LastError), ("rt_create", c_void_p), ("rt_destroy", c_void_p)]


class KernelRun(Structure):
    _fields_ = [("name", c_char_p), ("workload", c_char_p), ("schedule", c_char_p),
                ("flops", c_double), ("bytes", c_double), ("ns", c_double)]


KernelRunVisit = CFUNCTYPE(None, c_void_p, POINTER(KernelRun))


# ---- tuning and compiling ----

class TaskInfo(Structure):
    _fields_ = [("name", c_char_p), ("workload", c_char * 33), ("calls", c_uint32),
                ("flops", c_double), ("bytes", c_double), ("program", c_void_p)]


TaskVisit = CFUNCTYPE(c_int, c_void_p, POINTER(TaskInfo))


class TuningState(Structure):
    _fields_ = [("done", c_int64), ("total", c_int64), ("trials_per_second", c_double),
                ("seconds_left", c_double), ("best", c_char_p), ("doing", c_char_p)]


Progress = CFUNCTYPE(None, c_void_p, POINTER(TuningState))
ShouldStop = CFUNCTYPE(c_int, c_void_p)
Log = CFUNCTYPE(None, c_void_p, c_int, c_char_p)


class TuningOptions(Structure):
    _fields_ = [("database", c_char_p), ("target", c_char_p), ("threads", c_int32),
                ("trials", c_int64), ("seconds", c_double), ("until_converged", c_int),
                ("task", c_char_p), ("space", c_char_p), ("strategy", c_char_p),
                ("cost_model", c_char_p), ("seed", c_uint64), ("look_ahead", c_int32),
                ("builders", c_int32), ("is_cold", c_int), ("size_count", c_size_t),
                ("sizes", POINTER(c_char_p)), ("external", c_char_p), ("name", c_char_p),
                ("programs", c_char_p), ("unsandboxed", c_int), ("progress", Progress),
                ("should_stop", ShouldStop), ("log", Log), ("context", c_void_p)]


class VariantOptions(Structure):
    _fields_ = [("size", c_size_t), ("variants", c_char_p), ("max_error", POINTER(c_double)),
                ("variant_count", c_size_t), ("variant", POINTER(c_char_p))]


class TuningOutside(Structure):
    _fields_ = [("size", c_size_t), ("propose", c_char_p), ("tracker", c_char_p),
                ("key", c_char_p), ("tracker_key", c_char_p), ("device_key", c_char_p),
                ("is_insecure", c_int), ("stops_without_devices", c_int),
                ("variants", POINTER(VariantOptions))]


class TunedTask(Structure):
    _fields_ = [("name", c_char_p), ("workload", c_char * 33), ("calls", c_uint32),
                ("flops", c_double), ("before_ns", c_double), ("best_ns", c_double),
                ("is_confirmed", c_int), ("trials", c_int64), ("failed", c_int64),
                ("known_trials", c_int64), ("seconds", c_double)]


class TunedTotals(Structure):
    _fields_ = [("task_count", c_size_t), ("trials", c_int64), ("failed", c_int64),
                ("seconds", c_double), ("was_stopped", c_int), ("has_converged", c_int),
                ("is_used_up", c_int), ("session", c_char * 33)]


class CompilationOptions(Structure):
    _fields_ = [("output", c_char_p), ("function", c_char_p), ("database", c_char_p),
                ("target", c_char_p), ("threads", c_int32), ("size_count", c_size_t),
                ("sizes", POINTER(c_char_p)), ("exact", c_int), ("no_schedule", c_int),
                ("reschedule", c_int), ("emit", c_char_p), ("weights", c_char_p),
                ("programs", c_char_p), ("unsandboxed", c_int)]


class ReplayOptions(Structure):
    _fields_ = [("function", c_char_p), ("resample", c_int), ("seed", c_uint64)]


class News(Structure):
    _fields_ = [("sessions", c_int64), ("trials", c_int64), ("known", c_int64),
                ("changed", c_int64)]


SQL_NULL, SQL_INTEGER, SQL_REAL, SQL_TEXT, SQL_BLOB = range(5)


class SqlValue(Structure):
    _fields_ = [("name", c_char_p), ("kind", c_int), ("integer", c_int64), ("real", c_double),
                ("text", POINTER(c_char)), ("length", c_size_t)]


SqlVisit = CFUNCTYPE(c_int, c_void_p, c_int, c_size_t, POINTER(SqlValue))

# ---- functions: the result, then the arguments; "e" is an error, checked and turned into an
# exception, "p" a pointer, "s" a text, "z" a size, "i" an int, "q" an int64, "u" a uint64 ----

_KINDS = {"e": c_void_p, "p": c_void_p, "s": c_char_p, "z": c_size_t, "i": c_int, "q": c_int64,
          "u": c_uint64, "v": None}
_SIGNATURES = {
    "hone_version": "s",
    "hone_error_message": "sp", "hone_error_kind": "sp", "hone_error_free": "vp",
    "hone_text_free": "vp",
    "hone_program_load_with": "eszpp", "hone_program_parse": "essp", "hone_program_free": "vp",
    "hone_program_function_count": "zp", "hone_program_function_name": "spz",
    "hone_program_function_kind": "sps",
    "hone_program_print": "epp", "hone_program_save": "eps", "hone_program_verify": "epp",
    "hone_program_hash": "epsp", "hone_program_equal": "ippp", "hone_program_get": "epsp",
    "hone_program_update": "eppp", "hone_program_replay": "epsppp",
    "hone_program_run_passes_for": "epszpp", "hone_pass_name": "sz", "hone_pass_help": "sz",
    "hone_program_visit_tasks": "epzpppp", "hone_program_tune_with": "epppp",
    "hone_tuned_free": "vp", "hone_tuned_summary": "pp", "hone_tuned_task_at": "ppz",
    "hone_program_compile_with": "epppp", "hone_program_bind_sizes": "epzpp",
    "hone_program_bind_parameters": "epzpp", "hone_program_interpret": "epszpp",
    "hone_results_at": "ppz", "hone_results_count": "zp", "hone_results_free": "vp",
    "hone_model_open": "esp", "hone_model_close": "vp", "hone_model_describe": "pp",
    "hone_model_find": "pps", "hone_model_run": "epppp",
    "hone_model_profile": "epppppp",
    "hone_records_open": "esp", "hone_records_close": "vp", "hone_records_select": "epszppp",
    "hone_database_merge": "essp", "hone_database_export": "ess", "hone_database_import": "essp",
    "hone_database_prune": "esqp",
    "hone_extern_register": "espi", "hone_target_text": "esp",
    "hone_steps_seed": "vpu", "hone_steps_fork_seed": "up", "hone_steps_get": "epzp",
    "hone_steps_create": "epsup", "hone_steps_free": "vp", "hone_steps_add": "eps",
    "hone_steps_add_intrin": "epss", "hone_steps_program": "epp", "hone_steps_trace": "epp",
    "hone_steps_script": "epp", "hone_trace_script": "esp", "hone_step_signature": "ezp",
}


def _candidates() -> List[str]:
    given = os.environ.get("HONE_LIBRARY")
    if given:
        return [given]
    return [os.path.join(NATIVE, "libhone.so"), "libhone.so.0"]


def _open() -> ctypes.CDLL:
    reasons = []
    for path in _candidates():
        try:
            # global: compiled models find what is registered with the library
            return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        except OSError as reason:
            reasons.append(str(reason))
    raise ImportError("libhone.so cannot be loaded; HONE_LIBRARY names another one: "
                      + "; ".join(reasons))


_raised = threading.local()


def keep_raised(raised: BaseException) -> None:
    """What a function that the library calls has raised, for when the library is back with an
    error; printed where the thread is none of Python's, which calls nothing."""
    if _is_of_python(threading.get_ident()):
        _raised.value = raised
    else:
        traceback.print_exception(type(raised), raised, raised.__traceback__)


def _is_of_python(ident: int) -> bool:
    """A thread of others is in the list, too, as a dummy, once it has asked who it is."""
    return any(thread.ident == ident and not isinstance(thread, threading._DummyThread)
               for thread in threading.enumerate())


def _check(error: Optional[int], *_: Any) -> None:
    raised: Optional[BaseException] = getattr(_raised, "value", None)
    if raised is not None:
        _raised.value = None
    if not error:
        return
    kind = (LIB.hone_error_kind(error) or b"").decode()
    message = (LIB.hone_error_message(error) or b"").decode("utf-8", "replace")
    LIB.hone_error_free(error)
    made = _errors.make(kind, message)
    if raised is None:
        raise made
    raise raised from made


def _declare(lib: ctypes.CDLL) -> None:
    for name, signature in _SIGNATURES.items():
        function = getattr(lib, name)
        function.restype = _KINDS[signature[0]]
        function.argtypes = [_KINDS[kind] for kind in signature[1:]]
        if signature[0] == "e":
            function.errcheck = _check


LIB = _open()
_declare(LIB)
if os.path.isdir(NATIVE):  # a linker, for machines without one; theirs comes first
    os.environ["PATH"] = os.pathsep.join(filter(None, (os.environ.get("PATH"), NATIVE)))


def text(value: Optional[object]) -> Optional[bytes]:
    """What a function takes as a text; None stays."""
    if value is None:
        return None
    made = os.fsencode(value) if isinstance(value, os.PathLike) else str(value).encode()
    if b"\0" in made:  # C would see what stands before it
        raise _errors.InvalidError(f"{made[:40]!r} has a NUL byte")
    return made


def texts(values: Sequence[str]) -> Any:
    """An array of texts; keep it as long as the call may look at it."""
    return (c_char_p * max(len(values), 1))(*[text(value) for value in values])


def out_pointer() -> c_void_p:
    """Where a function puts what it makes."""
    return c_void_p()


def take_text(pointer: c_void_p) -> str:
    """A text that the library made, which is freed here."""
    if not pointer.value:
        return ""
    copy = ctypes.string_at(pointer.value).decode("utf-8", "replace")
    LIB.hone_text_free(pointer)
    return copy


def ref(item: Any) -> Any:
    """The address of a C value, as an argument."""
    return ctypes.cast(ctypes.byref(item), c_void_p)
