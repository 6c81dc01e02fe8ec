"""TVM's MetaSchedule for bench/search/search.py: tunes a program, and runs what it found.

    peer_tvm.py tune PROGRAM.py TRIALS THREADS LIBRARY.so   leaves LIBRARY.so and LIBRARY.so.json: the
                                                            parameters, the seconds that it took
    peer_tvm.py run LIBRARY.so THREADS                      a peer of bench_ops: says "ready", answers each
                                                            line COUNT with the nanoseconds of one run
"""
import json
import os
import sys
import tempfile
import time

PATIENCE_S = 600  # for a batch: its processes import TVM first, which takes minutes on a busy machine


def tune(program, trials, threads, library):
    import tvm
    from tvm.s_tir import meta_schedule as ms
    from tvm.script import from_source
    from tvm.target.codegen import llvm_get_system_cpu

    with open(program, encoding="utf-8") as file:
        func = from_source(file.read())
    mod = func if isinstance(func, tvm.IRModule) else tvm.IRModule({"main": func})
    target = tvm.target.Target({"kind": "llvm", "mcpu": llvm_get_system_cpu(), "num-cores": threads})
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as work_dir:
        found = ms.tune_tir(mod, target, work_dir, trials, num_trials_per_iter=min(32, trials), seed=1,
                            builder=ms.builder.LocalBuilder(timeout_sec=PATIENCE_S),
                            runner=ms.runner.LocalRunner(timeout_sec=PATIENCE_S))
        seconds = time.perf_counter() - start
        best = ms.tir_integration.compile_tir(found, mod, target)
    if best is None:
        raise RuntimeError("no candidate of TVM's ran")
    tvm.compile(best.mod, target=target).export_library(library)
    ports = [[[int(size) for size in buffer.shape], str(buffer.dtype)] for buffer in mod["main"].params]
    with open(library + ".json", "w", encoding="utf-8") as out:
        json.dump({"trials": trials, "seconds": seconds, "ports": ports}, out)


def array_of(number, shape, dtype):
    import numpy
    if dtype == "bfloat16":
        import ml_dtypes
        dtype = ml_dtypes.bfloat16
    path = f"in{number}.bin"
    if os.path.exists(path):
        return numpy.fromfile(path, dtype=dtype).reshape(shape)
    return numpy.zeros(shape, dtype=dtype)


def run(library, threads):
    os.environ["TVM_NUM_THREADS"] = str(threads)
    import tvm

    with open(library + ".json", encoding="utf-8") as file:
        ports = json.load(file)["ports"]
    func = tvm.runtime.load_module(library)["main"]
    # the last parameter is the output, which has no file
    given = [array_of(n, *port) for n, port in enumerate(ports[:-1])] + [array_of(-1, *ports[-1])]
    arrays = [tvm.runtime.tensor(array) for array in given]
    func(*arrays)
    arrays[-1].numpy().tofile("out0.bin")
    print("ready", flush=True)
    now = time.thread_time_ns if threads == 1 else time.perf_counter_ns
    for line in sys.stdin:
        count = int(line)
        start = now()
        for _ in range(count):
            func(*arrays)
        print((now() - start) / count, flush=True)


def main():
    if sys.argv[1] == "tune":
        tune(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
    else:
        run(sys.argv[2], int(sys.argv[3]))


main()
