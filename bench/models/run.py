#!/usr/bin/env python3
"""Whole models beside onnxruntime, in turns in one process: time over onnxruntime's.

    python bench/models/run.py [--build build/release]… [--threads N] [--batch N] [--unnamed]
                               [--db FILE] [--target TARGET] [--rounds N] [--cpu-time]
                               [--openvino] [--json FILE] [--keep DIR] [MODEL …]

A row is a model compiled by one build: least times of both, and the median of the ratios of turns.
Several builds take turns with each other, too. The results are compared first. --unnamed leaves the size of the batch open, in Hone and in onnxruntime.
--cpu-time, for one thread, counts what the thread runs: on a busy machine. --openvino times OpenVINO in
float32 as well, whose threads are not the caller's: by the clock. --keep leaves the models there. Wants
onnxruntime and onnx (`scripts/peers onnxruntime openvino`).
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time

import numpy
import onnx
import onnxruntime

import nets

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
AT_LEAST_S, WORST = 0.02, 2e-3
PEERS = ("onnxruntime", "openvino")
PAUSE_S = 0.1  # until threads that wait for the next call of another work sleep


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="*", default=[n for n in nets.MODELS if n not in nets.UNUSUAL])
    parser.add_argument("--build", action="append")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--unnamed", action="store_true")
    parser.add_argument("--db")
    parser.add_argument("--target")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--cpu-time", action="store_true")
    parser.add_argument("--openvino", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--keep")
    given = parser.parse_args()
    if given.openvino and given.cpu_time:
        parser.error("--openvino runs in threads of its own, whose time --cpu-time does not see")
    return given


def session_of(path, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def openvino_of(path, feed, threads):
    """A call of OpenVINO, in float32 on CPUs that have bfloat16, too."""
    import openvino
    model = openvino.Core().compile_model(path, "CPU", {
        "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32",
        "PERFORMANCE_HINT": "LATENCY"})
    request = model.create_infer_request()
    return lambda: request.infer(feed, share_inputs=True, share_outputs=True)


def compiled(path, build, given):
    """The model as a library of that build."""
    out = f"{path[:-5]}_{given.build.index(build)}"
    words = [os.path.join(build, "hone"), "compile", path, "-q", "-o", out, "--threads",
             str(given.threads)]
    words += ["--db", given.db] if given.db else []
    words += ["--target", given.target] if given.target else []
    subprocess.run(words, check=True)
    return out + ".so"


def worst(got, want):
    """The largest difference, over the largest number."""
    pairs = [(numpy.asarray(g, "float64"), numpy.asarray(w, "float64")) for g, w in zip(got, want)]
    return max(numpy.abs(g - w).max() / max(numpy.abs(w).max(), 1e-30) for g, w in pairs)


def one_turn(work, count, clock):
    begin = clock()
    for _ in range(count):
        work()
    return (clock() - begin) / count


def in_turns(works, rounds, clock):
    """Seconds per call, per work and round: a round runs each of them once, batched when short."""
    counts = [max(1, int(AT_LEAST_S / max(one_turn(work, 2, clock), 1e-9))) for work in works]
    rows = []
    for _ in range(rounds):
        row = []
        for work, count in zip(works, counts):
            time.sleep(PAUSE_S)
            work()
            row.append(one_turn(work, count, clock))
        rows.append(row)
    return numpy.array(rows).T


class Subject:
    """A compiled model with its inputs."""

    def __init__(self, path, feed):
        import hone
        self.model = hone.Model.open(path)
        entry = self.model._entry(None)
        self.call = hone.model.Call(self.model, entry, self.model._in_order(entry, (), dict(feed)))

    def results(self):
        self.call.run()
        made = self.call.results()
        return [numpy.from_dlpack(m) for m in (made if isinstance(made, tuple) else (made,))]


def measure(name, given, folder):
    """A row for each build."""
    net = nets.MODELS[name](None if given.unnamed else given.batch, given.batch)
    path = os.path.join(folder, name + ".onnx")
    onnx.save(net.model(), path)
    session, feed = session_of(path, given.threads), net.feeds[0]
    subjects = [Subject(compiled(path, build, given), feed) for build in given.build]
    wanted = session.run(None, feed)
    for build, subject in zip(given.build, subjects):
        difference = worst(subject.results(), wanted)
        if not difference < WORST:
            sys.exit(f"models: '{name}' of {build} differs from onnxruntime by {difference:g}")
    clock = time.thread_time if given.cpu_time else time.perf_counter
    works = [s.call.run for s in subjects] + [lambda: session.run(None, feed)]
    works += [openvino_of(path, feed, given.threads)] if given.openvino else []
    times = in_turns(works, given.rounds, clock)
    peers = times[len(subjects):]
    return [{"work": name, "build": build, "threads": given.threads, "batch": given.batch,
             "is_named": not given.unnamed, "hone_ms": ours.min() * 1e3,
             **{f"{peer}_ms": of_peer.min() * 1e3 for peer, of_peer in zip(PEERS, peers)},
             "ratio": float(numpy.median(ours / peers[0])),
             "ratio_of_least": float(ours.min() / peers[0].min()),
             "ratio_of_fastest": float(numpy.median(ours / min(peers, key=numpy.median)))}
            for build, ours in zip(given.build, times)]


def print_row(row):
    beside = f", OpenVINO {row['openvino_ms']:9.3f} ms" if "openvino_ms" in row else ""
    fastest = f", over the faster {row['ratio_of_fastest']:.2f}" if beside else ""
    print("{work:12} {hone_ms:9.3f} ms, onnxruntime {onnxruntime_ms:9.3f} ms".format(**row) + beside +
          ", time over onnxruntime's {ratio:.2f} (of least times {ratio_of_least:.2f})".format(**row) +
          f"{fastest}  {row['build']}", flush=True)


def print_means(rows, builds):
    for build in builds:
        logs = [[math.log(r[key]) for r in rows if r["build"] == build]
                for key in ("ratio", "ratio_of_least", "ratio_of_fastest")]
        means = [math.exp(sum(part) / len(part)) for part in logs]
        fastest = f", over the fastest {means[2]:.3f}" if any("openvino_ms" in r for r in rows) else ""
        print(f"geometric mean {means[0]:.3f} (of least times {means[1]:.3f}){fastest}  {build}")


def settle(given):
    """Whose builds are timed, and where the module that calls them is."""
    given.build = given.build or [os.path.join(ROOT, "build/release")]
    sys.path.insert(0, os.path.join(ROOT, "python/src"))
    os.environ.setdefault("HONE_LIBRARY", os.path.join(given.build[0], "libhone.so"))


def main():
    given = arguments()
    settle(given)
    rows = []
    with tempfile.TemporaryDirectory() as own:
        folder = given.keep or own
        os.makedirs(folder, exist_ok=True)
        for name in given.models:
            made = measure(name, given, folder)
            for row in made:
                print_row(row)
            rows += made
    print_means(rows, given.build)
    if given.json:
        with open(given.json, "w", encoding="utf-8") as out:
            json.dump(rows, out, indent=1)


if __name__ == "__main__":
    main()
