#!/usr/bin/env python3
"""Works of families whose sizes are drawn at random, default schedules, beside onnxruntime.

    python bench/models/drawn.py [--build build/release]… [--threads N] [--target TARGET]
                                 [--rounds N] [--seed N] [--each N] [--again RATIO] [--only TEXT]
                                 [--keep DIR] [--json FILE] [FAMILY …]

Draws N works of each family (families.py); a FAMILY is a part of a name. Results are compared first,
times are the least of turns, of CPU time with one thread. A work whose ratio is above that of --again
is measured once more, and the better one counts. --only: works whose name has the text; --keep leaves
the models there. At the end come all works, the slowest first. What onnxruntime does not run is
left out. Wants onnxruntime and onnx (`scripts/peers onnxruntime`).
"""
import argparse
import json
import os
import tempfile
import zlib

import numpy
import onnx

import families
import operators
import run


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("families", nargs="*", default=[""])
    parser.add_argument("--build", action="append")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--target")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=5)
    parser.add_argument("--again", type=float, default=1.05)
    parser.add_argument("--only")
    parser.add_argument("--keep")
    parser.add_argument("--json")
    return parser.parse_args()


def works(given):
    """Name and model of each work; the same for the same seed, whichever families are asked for."""
    for family, draw in families.FAMILIES.items():
        if not any(part in family for part in given.families):
            continue
        for number in range(given.each):
            seed = [given.seed, number, zlib.crc32(family.encode())]
            name, build = draw(families.Draw(seed))
            work = families.Drawn(seed)
            build(work)
            if not given.only or given.only in f"{family}: {name}":
                yield f"{family}: {name}", work


def measure(path, work, given):
    """Least times in microseconds of each build and of onnxruntime."""
    session = run.session_of(path, given.threads)
    wanted = session.run(None, work.feed)
    subjects = [run.Subject(run.compiled(path, b, given), work.feed) for b in given.build]
    difference = max(run.worst(s.results(), wanted) for s in subjects)
    times = operators.in_turns(subjects, session, work, given, given.rounds).min(axis=1)
    if times[0] / times[-1] > given.again:
        more = operators.in_turns(subjects, session, work, given, 2 * given.rounds).min(axis=1)
        times = numpy.minimum(times, more)
    return (times * 1e6).tolist(), difference


def line(row):
    ours = ", ".join(f"{us:9.1f}" for us in row["us"][:-1])
    ratios = ", ".join(f"{us / row['us'][-1]:.2f}" for us in row["us"][:-1])
    wrong = f"  differs by {row['difference']:.1e}" if not row["difference"] < run.WORST else ""
    return f"{ratios}  {ours} us, onnxruntime {row['us'][-1]:9.1f}  {row['work']}{wrong}"


def summary(rows, builds):
    rows.sort(key=lambda row: -row["us"][0] / row["us"][-1])
    print("\n".join(["", *map(line, rows)]))
    for number, build in enumerate(builds):
        ratios = [row["us"][number] / row["us"][-1] for row in rows]
        print(f"{len(rows)} works, geometric mean {numpy.exp(numpy.mean(numpy.log(ratios))):.3f}, "
              f"{sum(r > 1.1 for r in ratios)} above 1.10, {sum(r > 1 for r in ratios)} above 1  {build}")


def main():
    given = arguments()
    operators.settle(given)
    rows = []
    with tempfile.TemporaryDirectory() as own:
        folder = given.keep or own
        os.makedirs(folder, exist_ok=True)
        for number, (name, work) in enumerate(works(given)):
            path = os.path.join(folder, f"work{number}.onnx")
            try:
                onnx.save(work.model(), path)
                us, difference = measure(path, work, given)
            except Exception as error:  # one work that nobody runs should not end the others
                print(f"left out: {name}: {str(error).splitlines()[0][:160]}", flush=True)
                continue
            rows.append({"work": name, "us": us, "difference": difference, "threads": given.threads})
            print(line(rows[-1]), flush=True)
    summary(rows, given.build)
    if given.json:
        with open(given.json, "w", encoding="utf-8") as out:
            json.dump(rows, out, indent=1)


if __name__ == "__main__":
    main()
