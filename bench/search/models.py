#!/usr/bin/env python3
"""What tuning makes of whole models: beside their default schedules and onnxruntime, in turns in one process.

    models.py [--build build/release] [--before BUILD] [--tune 10m] [--variants exact] [--threads 1]… [--rounds 30]
              [--part I/N] [--minutes 90] [--only TEXT] [--quick] [--list] [--report] [MODEL …]

Each model of bench/models/nets.py and number of threads is tuned for so long into a database of its own; then what
`hone compile` makes without it, with it, and what another build makes without it (--before, an older checkout's) are
timed in turns with onnxruntime (CPU time for one thread). `--variants all` searches other algorithms, too (`hone tune
--help`). Each (model, threads, time, variants, commit, CPU) is one line of DIR/models.jsonl (--out DIR,
build/bench/search), written when it is complete; the same command goes on where it was
stopped, --part 2/5 does the second fifth, and after --minutes nothing new is begun. --quick: one small model, 8 s, to
see that it works. Wants onnxruntime and onnx (`scripts/peers onnxruntime`).
"""
import argparse
import json
import math
import os
import statistics
import sys
import time

import kept
import works

sys.path.insert(0, os.path.join(works.ROOT, "bench/models"))

KEY = ("work", "threads", "time", "variants", "before", "commit", "cpu")
MODELS = ("resnet18", "resnet50", "mobilenetv2", "vit_tiny", "bert", "gpt", "unet")
SHARES = (("default_over_tuned", "time of the default schedules over that of the tuned ones"),
          ("before_over_tuned", "time of the other build's defaults over that of the tuned ones"),
          ("tuned_over_onnxruntime", "time tuned over onnxruntime's"),
          ("default_over_onnxruntime", "time of the default schedules over onnxruntime's"))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--build", default=os.path.join(works.ROOT, "build/release"))
    parser.add_argument("--before", default="")
    parser.add_argument("--out", default=os.path.join(works.ROOT, "build/bench/search"))
    parser.add_argument("--tune", help="how long; default 10m")
    parser.add_argument("--variants", choices=("none", "exact", "all"), default="exact")
    parser.add_argument("--threads", type=int, action="append")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--minutes", type=float, default=90)
    parser.add_argument("--only", default="", help="models with this in their names")
    parser.add_argument("--cpu", help="what to call this CPU")
    for flag in ("--quick", "--list", "--report"):
        parser.add_argument(flag, action="store_true")
    given = parser.parse_args()
    given.part = works.part_of(parser, given.part)
    given.tune = given.tune or ("8s" if given.quick else "10m")
    given.rounds = given.rounds or (5 if given.quick else 30)
    given.models = ["mlp"] if given.quick else given.models
    given.threads = given.threads or ([1] if given.quick else [1, 2])
    given.build = os.path.abspath(given.build)
    given.cpu = given.cpu or kept.cpu_name()
    return given


def cells(given):
    commit = kept.commit_name()
    found = [dict(zip(KEY, (model, threads, given.tune, given.variants, given.before, commit, given.cpu)))
             for model in given.models if given.only in model for threads in given.threads]
    number, parts = given.part
    return found[number - 1::parts]


def rows_path(given):
    return os.path.join(given.out, "models.jsonl")


def folder_of(given, cell):
    words = (cell["work"], f"{cell['threads']}t", cell["time"], cell["variants"], cell["commit"])
    folder = os.path.join(os.path.abspath(given.out), kept.as_path(cell["cpu"]), kept.as_path(".".join(words)))
    os.makedirs(folder, exist_ok=True)
    return folder


def tuned(given, cell, model, database):
    for ending in ("", "-wal", "-shm", "-journal"):
        if os.path.exists(database + ending):
            os.remove(database + ending)
    return json.loads(kept.called([
        os.path.join(given.build, "hone"), "tune", model, "--db", database, "--time", cell["time"],
        "--threads", str(cell["threads"]), "--variants", cell["variants"], "--no-report", "--json", "-q"]))


def compiled(build, cell, model, out, *options):
    kept.called([os.path.join(build, "hone"), "compile", model, "-q", "-o", out, "--threads", str(cell["threads"]),
                 *options])
    return out + ".so"


def libraries(given, cell, model, database):
    """The model's libraries by the name of what made them."""
    base = model[:-len(".onnx")]
    made = {"tuned": compiled(given.build, cell, model, base + "_tuned", "--db", database, "--variants",
                              cell["variants"]),
            "default": compiled(given.build, cell, model, base + "_default")}
    if given.before:
        made["before"] = compiled(given.before, cell, model, base + "_before")
    return made


def measure(given, cell):
    import nets
    import onnx
    import run
    given_to_run = argparse.Namespace(build=[given.build])
    run.settle(given_to_run)
    model = os.path.join(folder_of(given, cell), cell["work"] + ".onnx")
    database = model[:-len(".onnx")] + ".db"
    net, load = nets.MODELS[cell["work"]](1, 1), os.getloadavg()[0]
    onnx.save(net.model(), model)
    started = time.time()
    summary = tuned(given, cell, model, database)
    seconds = time.time() - started
    subjects = {name: run.Subject(path, net.feeds[0])
                for name, path in libraries(given, cell, model, database).items()}
    session = run.session_of(model, cell["threads"])
    wanted = session.run(None, net.feeds[0])
    for name, subject in subjects.items():
        difference = run.worst(subject.results(), wanted)
        if not difference < run.WORST:
            raise ValueError(f"what is {name} differs from onnxruntime by {difference:g}")
    clock = time.thread_time if cell["threads"] == 1 else time.perf_counter
    calls = [s.call.run for s in subjects.values()] + [lambda: session.run(None, net.feeds[0])]
    times = dict(zip([*subjects, "onnxruntime"], run.in_turns(calls, given.rounds, clock)))

    def share(a, b):
        return float(statistics.median(times[a] / times[b])) if a in times and b in times else None

    return dict(cell, date=time.strftime("%Y-%m-%d", time.gmtime()), load=[load, os.getloadavg()[0]],
                tune={"seconds": round(seconds, 1), "trials": sum(task["trials"] for task in summary["tasks"])},
                ms={name: float(t.min()) * 1e3 for name, t in times.items()},
                default_over_tuned=share("default", "tuned"), before_over_tuned=share("before", "tuned"),
                tuned_over_onnxruntime=share("tuned", "onnxruntime"),
                default_over_onnxruntime=share("default", "onnxruntime"))


def line(row):
    others = ", ".join(f"{name} {ms:.3f}" for name, ms in row["ms"].items() if name != "tuned")
    return (f"{row['work']}, {row['threads']}t: {row['ms']['tuned']:.3f} ms ({others}), "
            f"{row['default_over_tuned']:.2f} x the default, {row['tuned_over_onnxruntime']:.2f} of onnxruntime's time, "
            f"{row['tune']['trials']} trials in {row['tune']['seconds']:.0f} s  "
            f"(load {row['load'][0]:.0f} to {row['load'][1]:.0f})")


def summary_of(rows):
    """Rows of unlike CPUs, commits or times are not mixed."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in KEY[2:]), []).append(row)
    text = ""
    for (tune, variants, before, commit, cpu), found in sorted(groups.items()):
        text += f"{cpu}, commit {commit}, models tuned for {tune}, variants {variants}: {len(found)} rows\n"
        text += "".join(f"  {line(row)}\n" for row in found)
        for key, label in SHARES:
            values = {f"{row['work']}, {row['threads']}t": row[key] for row in found if row[key]}
            if values:
                mean = math.exp(statistics.fmean(map(math.log, values.values())))
                worst = (max if key.endswith("onnxruntime") else min)(values, key=values.get)
                text += f"  {label}, geometric mean: {mean:.3f}; worst {values[worst]:.3f} ({worst})"
                text += f"; before is {before}\n" if key.startswith("before") else "\n"
    return text or "no rows\n"


def do(given):
    os.makedirs(given.out, exist_ok=True)
    known = {tuple(row[key] for key in KEY) for row in kept.rows(rows_path(given))}
    new = failed = there = 0
    deadline = time.monotonic() + given.minutes * 60
    for cell in cells(given):
        if tuple(cell.values()) in known:
            there += 1
        elif time.monotonic() < deadline:
            try:
                row = measure(given, cell)
            except (RuntimeError, OSError, ValueError) as error:
                failed += 1
                print(f"models: {cell['work']} failed: {error}", file=sys.stderr, flush=True)
                continue
            kept.append(rows_path(given), row)
            new += 1
            print(line(row), flush=True)
    print(f"{new} rows are new, {there} were there, {len(cells(given)) - new - failed - there} are left, {failed} failed")
    return 1 if failed else 0


def main():
    given, code = arguments(), 0
    if given.list:
        for cell in cells(given):
            print(*(cell[key] for key in KEY[:3]))
        return 0
    try:
        code = 0 if given.report else do(given)
    except KeyboardInterrupt:
        print("models: stopped; the same command goes on", file=sys.stderr)
        return 130
    if given.report:
        print(summary_of(kept.rows(rows_path(given))), end="")
    return code


if __name__ == "__main__":
    sys.exit(main())
