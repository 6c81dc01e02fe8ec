#!/usr/bin/env python3
"""Classifies the test images with onnxruntime: accuracy and images per second.

A peer for Hone's own figures; without onnxruntime it says so and exits 0. The weights are
initialisers, so onnxruntime packs them. Each batch's input and output are bound before the clock
starts: only the calls are timed, no copies. What a call costs from Python whatever it computes is
in the figures: 2.5 us for a model of one Relu, where these models' batch 1 takes 9 us and 26 us.
"""

import argparse
import json
import os
import statistics
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy does no work here: no threads for it

try:
    import numpy as np
    import onnxruntime
except ImportError as error:
    reason = f"onnxruntime is not available ({error}): scripts/peers onnxruntime installs it"
    print(json.dumps({"skipped": reason}) if "--json" in sys.argv else reason)
    sys.exit(0)

import dataset


def open_session(path, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its classes have no common base but this
        raise SystemExit(f"cannot load '{path}': {error}") from None
    inputs, outputs = session.get_inputs(), session.get_outputs()
    if len(inputs) != 1 or len(outputs) != 1 or inputs[0].shape[1:] not in ([784], [1, 28, 28]):
        raise SystemExit(f"'{path}' takes no images of 784 pixels or 1x28x28")
    return session


def bind(session, x, y):
    """A call that reads x and writes y: on the CPU an OrtValue shares its array's memory."""
    binding = session.io_binding()
    value_of = onnxruntime.OrtValue.ortvalue_from_numpy
    binding.bind_ortvalue_input(session.get_inputs()[0].name, value_of(x))
    binding.bind_ortvalue_output(session.get_outputs()[0].name, value_of(y))
    return binding


def measure(session, images, labels, batch, passes):
    """Times `passes` passes over all images after one to warm up; returns a row of the report."""
    accepted = session.get_inputs()[0].shape[0]
    if isinstance(accepted, int) and accepted != batch:
        return {"batch": batch, "skipped": f"the model takes batches of {accepted}"}
    logits = np.zeros((len(images), 10), np.float32)
    shape = (-1, batch, *session.get_inputs()[0].shape[1:])
    calls = [
        bind(session, x, y)
        for x, y in zip(images.reshape(shape), logits.reshape(-1, batch, 10), strict=True)
    ]
    seconds = []
    for _ in range(1 + passes):
        begin = time.perf_counter()
        for call in calls:
            session.run_with_iobinding(call)
        seconds.append(time.perf_counter() - begin)
    rates = [len(images) / s for s in seconds[1:]]
    return {
        "batch": batch,
        "accuracy": dataset.accuracy(logits, labels),
        "images_per_s": statistics.median(rates),
        "images_per_s_min": min(rates),
        "images_per_s_max": max(rates),
        "us_per_call": 1e6 * batch / statistics.median(rates),
    }


def print_row(row):
    if "skipped" in row:
        print(f"batch {row['batch']:3}: skipped, {row['skipped']}")
        return
    print(
        f"batch {row['batch']:3}: accuracy {100 * row['accuracy']:.2f} %, "
        f"{row['images_per_s']:.0f} images/s (median; {row['images_per_s_min']:.0f} to "
        f"{row['images_per_s_max']:.0f}), {row['us_per_call']:.1f} us per call"
    )


def main():
    parser = argparse.ArgumentParser(description="onnxruntime on the Fashion-MNIST test images")
    parser.add_argument("model", help="an ONNX file of this folder")
    parser.add_argument("--threads", type=int, choices=(1, 2), default=1, help="intra-op threads")
    parser.add_argument("--batch", type=int, action="append", help="default: 1 and 100")
    parser.add_argument("--passes", type=int, default=5, help="timed passes over the test images")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--data", default=dataset.DEBIAN_DIR, help="folder of the IDX files")
    args = parser.parse_args()
    batches = args.batch or [1, 100]
    if args.passes < 1:
        parser.error(f"passes is {args.passes}, must be at least 1")

    session = open_session(args.model, args.threads)
    images, labels = dataset.load_split("t10k", args.data)
    for batch in batches:
        if batch < 1 or len(images) % batch:
            parser.error(f"batch is {batch}, must divide {len(images)}")
    rows = [measure(session, images, labels, batch, args.passes) for batch in batches]
    if args.json:
        report = {
            "peer": "onnxruntime",
            "version": onnxruntime.__version__,
            "model": os.path.basename(args.model),
            "threads": args.threads,
            "passes": args.passes,
            "results": rows,
        }
        print(json.dumps(report, indent=2))
        return
    print(f"onnxruntime {onnxruntime.__version__}, {args.model}, threads: {args.threads}")
    for row in rows:
        print_row(row)


if __name__ == "__main__":
    main()
