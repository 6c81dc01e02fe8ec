"""Peak memory of one run of each model of the zoo, in Hone and in onnxruntime.

    PYTHON bench/peer_memory.py [--wide] [--only NAME,...] [--json FILE]      PYTHON=$(scripts/peers --python)

Resident memory at its peak, above the process before the model is loaded: weights, code, workspace
and threads count on both sides. A process of its own for each engine and model, one run, two
threads. onnxruntime has its optimisations. Ratio above 1: Hone needs less. --wide: models of real
widths (bench/models/nets.py); the time that compiling took is said, too.
"""
import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ.get("HONE_BUILD_DIR", os.path.join(ROOT, "build", "release"))
THREADS = 2
CODES = {"i": 0, "u": 1, "f": 2, "b": 6}


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p),
                ("byte_offset", ctypes.c_uint64)]


def resident(key):
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(key))


def aligned(array):
    """A copy at an address that is a multiple of 64."""
    room = numpy.empty(array.nbytes + 64, "u1")
    start = -room.ctypes.data % 64
    made = room[start:start + array.nbytes].view(array.dtype).reshape(array.shape)
    made[...] = array
    return made


def dl_tensor(array):
    shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    return DLTensor(array.ctypes.data, (ctypes.c_int32 * 2)(1, 0), array.ndim, CODES[array.dtype.kind],
                    8 * array.itemsize, 1, shape, None, 0)


def run_hone(path, feeds, wanted):
    """The library is called as a program of C calls it."""
    given, made = ([aligned(a) for a in arrays] for arrays in (feeds, wanted))
    library = ctypes.CDLL(path)
    rows = [(ctypes.POINTER(DLTensor) * max(len(arrays), 1))(*[ctypes.pointer(dl_tensor(a)) for a in arrays])
            for arrays in (given, made)]
    code = library.model_run(None, *rows)
    if code:
        library.model_last_error.restype = ctypes.c_char_p
        raise RuntimeError(library.model_last_error().decode())
    return made


def run_onnxruntime(path, feeds, names, outputs):
    import onnxruntime  # pylint: disable=import-outside-toplevel
    before = resident("VmRSS")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return before, session.run(outputs, dict(zip(names, feeds)))


def child(engine, path, data):
    """One run in this process; prints kilobytes."""
    with numpy.load(data) as file:
        arrays = dict(file)
    names = [n[3:] for n in arrays if n.startswith("in:")]
    outputs = [n[4:] for n in arrays if n.startswith("out:")]
    feeds, wanted = [arrays["in:" + n] for n in names], [arrays["out:" + n] for n in outputs]
    before = resident("VmRSS")
    if engine == "onnxruntime":
        before, _ = run_onnxruntime(path, feeds, names, outputs)
    else:
        run_hone(path, feeds, wanted)
    print(resident("VmHWM") - before)


def measure(engine, path, data):
    run = subprocess.run([sys.executable, os.path.abspath(__file__), "--child", engine, path, data],
                         capture_output=True, text=True, check=False)
    if run.returncode:
        return None, (run.stderr.strip().splitlines() or ["?"])[-1]
    return int(run.stdout), None


def zoo(is_wide, only):
    """(name, model, feeds by name, names of outputs)"""
    sys.path.insert(0, os.path.join(ROOT, "bench/models" if is_wide else "tests/peer/onnx_models"))
    models = __import__("nets" if is_wide else "onnx_zoo").MODELS
    for name, make in models.items():
        if only and name not in only:
            continue
        net = make(1, 1) if is_wide else make()
        yield name, net.model(), net.feeds[0], net.outputs


def prepared(name, model, feeds, outputs, folder):
    """Paths of the model, the library and the data, and the seconds that compiling took; or None and why."""
    import onnx  # pylint: disable=import-outside-toplevel
    import onnxruntime  # pylint: disable=import-outside-toplevel
    path, data = os.path.join(folder, "model.onnx"), os.path.join(folder, "data.npz")
    onnx.save(model, path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    made = session.run(outputs, feeds)
    kinds = {a.dtype.kind for a in [*feeds.values(), *made]}
    if not kinds <= set(CODES):
        return None, "a type that numpy lacks"
    order = [i.name for i in model.graph.input if i.name in feeds]
    numpy.savez(data, **{"in:" + n: feeds[n] for n in order}, **{"out:" + n: a for n, a in zip(outputs, made)})
    begin = time.perf_counter()
    run = subprocess.run([os.path.join(BUILD, "hone"), "compile", path, "-q", "--threads", str(THREADS), "-o",
                          os.path.join(folder, "model")], capture_output=True, text=True, check=False)
    if run.returncode:
        return None, run.stderr.splitlines()[0]
    return (path, os.path.join(folder, "model.so"), data), time.perf_counter() - begin


def main():
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--json")
    options = parser.parse_args()
    rows, only = [], set(filter(None, options.only.split(",")))
    print(f"{'model':24} {'hone':>10} {'onnxruntime':>12}  ratio  compile")
    for name, model, feeds, outputs in zoo(options.wide, only):
        with tempfile.TemporaryDirectory(prefix="hone-memory-") as folder:
            ready, also = prepared(name, model, feeds, outputs, folder)
            if not ready:
                print(f"{name:24} left out: {also}")
                continue
            seconds = also
            path, library, data = ready
            ours, failed = measure("hone", library, data)
            theirs, also = measure("onnxruntime", path, data)
        if failed or also:
            print(f"{name:24} left out: {failed or also}")
            continue
        ratio = theirs / max(ours, 1)
        rows.append({"work": name, "metric": "peak", "unit": "KiB", "hone": ours, "peer_name": "onnxruntime",
                     "peer": theirs, "ratio": ratio})
        print(f"{name:24} {ours:10} {theirs:12}  {ratio:5.2f} {seconds:6.1f} s", flush=True)
    if rows:
        print(f"median ratio {statistics.median(r['ratio'] for r in rows):.2f}, "
              f"{sum(r['ratio'] < 1 for r in rows)} of {len(rows)} models need more than onnxruntime")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
