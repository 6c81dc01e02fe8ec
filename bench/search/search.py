#!/usr/bin/env python3
"""How good what `hone tune` finds is, and how soon: beside hand-written schedules, libraries and TVM.

    search.py [--build build/release] [--part I/N] [--minutes 90] [--trials 256]… [--threads 1]…
              [--only TEXT] [--seeds N] [--variants WHICH] [--random 1000] [--quick] [--no-tvm] [--list]
              [--report] [--curves FILE]

For each work of works.txt, one and two threads, and its seeds: tunes the natural program (weights at run time)
into a database of its own, then times the best record in turns beside the default schedule, the hand-written one,
the libraries and what TVM's MetaSchedule found (bench_ops; CPU time for one thread). Each (work, threads, seed,
trials, variants, commit, CPU) is one line of DIR/rows.jsonl (--out DIR, build/bench/search), written when it is
complete; what is there already is left out, so a run that was stopped goes on with the same command. --part 2/5
does the second fifth; after --minutes nothing new is begun. TVM is tuned once for a work, threads and CPU, with
as many trials as the largest --trials, and kept. So are --random candidates drawn at random from the same space
(0: none), for each commit: when the search has found as much, and how well the cost model ranks them before any trial
and after 64 (rank_trials). --quick: two works, 8 trials, to see that all of this works.
--report prints what the rows of each commit and CPU come to; --curves writes the best so far by trial, as CSV.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import time

import kept
import report
import works
from kept import called

KEY = ("work", "threads", "seed", "trials", "variants", "commit", "cpu")
TVM_SECONDS = 1800  # for one work; on a busy machine its workers may never get ready
QUICK = ("matmul_128", "softmax_256x1024")
PEER_PYTHON = os.path.join(works.ROOT, "build/peers/venv/bin/python")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default=os.path.join(works.ROOT, "build/release"))
    parser.add_argument("--out", default=os.path.join(works.ROOT, "build/bench/search"))
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--minutes", type=float, default=90)
    parser.add_argument("--trials", type=int, action="append")
    parser.add_argument("--threads", type=int, action="append")
    parser.add_argument("--seeds", type=int, default=works.SEEDS, help="at most so many")
    parser.add_argument("--only", default="", help="works with this in their names")
    parser.add_argument("--variants", default="exact")
    parser.add_argument("--random", type=int, help="candidates drawn at random; 0: none")
    parser.add_argument("--cpu", help="what to call this CPU")
    for flag in ("--quick", "--no-tvm", "--list", "--report"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--curves")
    given = parser.parse_args()
    given.part = works.part_of(parser, given.part)
    given.trials = given.trials or [8 if given.quick else 256]
    given.random = (16 if given.quick else 1000) if given.random is None else given.random
    given.threads = given.threads or ([1] if given.quick else [1, 2])
    given.build = os.path.abspath(given.build)
    given.cpu = given.cpu or kept.cpu_name()
    return given


def cells(given):
    """All that is to be measured, one dict each with the fields of KEY; every part has all kinds of works."""
    commit, found = kept.commit_name(), []
    for trials in given.trials:
        for work in works.table():
            if given.only not in work.name or (given.quick and work.name not in QUICK):
                continue
            for threads in given.threads:
                for seed in range(1, 1 + min(given.seeds, 1 if given.quick else work.seeds)):
                    values = (work.name, threads, seed, trials, given.variants, commit, given.cpu)
                    found.append((work, dict(zip(KEY, values))))
    number, parts = given.part
    return found[number - 1::parts]


def rows_path(given):
    return os.path.join(given.out, "rows.jsonl")


def replay_path(given):
    return os.path.join(given.out, "replay.jsonl")


def base_of(given, cell):
    folder = os.path.join(os.path.abspath(given.out), kept.as_path(cell["cpu"]))
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, f"{cell['work']}.{cell['threads']}t")


def tuned(given, work, cell, path, *options):
    """Tunes into path.db, from path.py; what `hone tune` says of the run. One that was stopped begins anew: its
    curve would be that of two searches."""
    for ending in (".db", ".db-wal", ".db-shm", ".db-journal"):
        if os.path.exists(path + ending):
            os.remove(path + ending)
    with open(path + ".py", "w", encoding="utf-8") as file:
        file.write(work.text)
    return json.loads(called([
        os.path.join(given.build, "hone"), "tune", path + ".py", "--db", path + ".db", "--no-report", "--json", "-q",
        *(word for name in ("threads", "variants") for word in (f"--{name}", str(cell[name]))), *options]))


def asked(given, path, query):
    return json.loads(called([os.path.join(given.build, "hone"), "db", "sql", path + ".db", query, "--json"]))


def searched(given, work, cell):
    """Path of program (.py) and records (.db) without ending, and what is known of the run."""
    path = f"{base_of(given, cell)}.{cell['trials']}.{cell['variants']}.{cell['seed']}"
    summary = tuned(given, work, cell, path, "--trials", str(cell["trials"]), "--seed", str(cell["seed"]))
    trials = asked(given, path, "SELECT proposal, sketch, outcome, median_ns, confirmed_ns, predicted_score, "
                                "program_hash FROM v_trials")
    curve = asked(given, path, "SELECT trial_number AS trial, best_so_far_ns AS ns, elapsed_s AS s FROM v_curve "
                               "ORDER BY trial_number")
    return path, dict(report.facts_of(summary, trials), curve=report.steps_of(curve))


def drawn(given, work, cell):
    """Candidates at random of the same space: the path of their records without ending, and what they came to.
    Once for a work, threads, commit and CPU: all seeds are compared with them."""
    path = f"{base_of(given, cell)}.random.{given.random}.{cell['variants']}.{kept.as_path(cell['commit'])}"
    if not os.path.exists(path + ".json"):
        started = time.time()
        tuned(given, work, cell, path, "--trials", str(given.random), "--strategy", "random")
        found = asked(given, path, "SELECT count(*) AS trials, min(median_ns) AS ns FROM v_trials")[0]
        with open(path + ".json.part", "w", encoding="utf-8") as out:
            json.dump(dict(found, seconds=round(time.time() - started, 1)), out)
        os.replace(path + ".json.part", path + ".json")
    with open(path + ".json", encoding="utf-8") as file:
        return path, json.load(file)


def tvm_library(given, program, cell):
    """What TVM found for the work with so many threads on this CPU, tuned unless it is kept; None without TVM."""
    if given.no_tvm or given.quick or not os.path.exists(PEER_PYTHON):
        return None
    trials = max(given.trials)
    base = f"{base_of(given, cell)}.tvm.{trials}"
    if not os.path.exists(base + ".so.json"):
        with open(base + ".py", "w", encoding="utf-8") as file:  # in the spelling of this TVM
            file.write(called([os.path.join(given.build, "hone"), "print", program]))
        script = os.path.join(works.HERE, "peer_tvm.py")
        words = [PEER_PYTHON, script, "tune", base + ".py", str(trials), str(cell["threads"]), base + ".so"]
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=TVM_SECONDS)
            said = done.returncode and (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
        except subprocess.TimeoutExpired:
            said = f"it took more than {TVM_SECONDS} s"
        if said:
            print(f"search: {cell['work']} without TVM: {said[:200]}", file=sys.stderr, flush=True)
            return None
    return base + ".so"


def timed(given, work, cell, path, library):
    """Rows of bench_ops by the name of the peer."""
    json_path = path + ".times.json"
    called([os.path.join(given.build, "bench_ops"), *work.timed, "--threads", str(cell["threads"]),
            "--tuned", path + ".py", "--json", json_path,
            *(["--tvm", library] if library else []), *(["--quick"] if given.quick else [])],
           stderr=subprocess.DEVNULL if given.quick else None)
    with open(json_path, encoding="utf-8") as file:
        return {row["peer_name"]: row for row in json.load(file)}


def measure(given, work, cell):
    started, before = time.time(), os.getloadavg()[0]
    path, facts = searched(given, work, cell)
    library = tvm_library(given, path + ".py", cell)
    beside = timed(given, work, cell, path, library)
    row = dict(cell, load=[before, os.getloadavg()[0]], seconds=round(time.time() - started, 1),
               date=time.strftime("%Y-%m-%d", time.gmtime()), tune=facts,
               us=sorted(r["hone"] for r in beside.values())[len(beside) // 2],
               beside={name: {key: r[key] for key in ("ratio", "low", "high")} for name, r in beside.items()})
    if library:
        with open(library + ".json", encoding="utf-8") as file:
            of_tvm = json.load(file)
        row["tvm"] = {"trials": of_tvm["trials"], "seconds": of_tvm["seconds"]}
    if given.random:
        by_chance, row["random"] = drawn(given, work, cell)
        row["ranking"] = json.loads(called([os.path.join(given.build, "rank_trials"), by_chance + ".db", path + ".db"]))
    return row


def replay(given):
    """How many candidates a second one thread makes, postprocesses and describes for the cost model; once for a
    commit and CPU."""
    row = {"commit": kept.commit_name(), "cpu": given.cpu}
    program = os.path.join(given.build, "bench_replay")
    if not os.path.exists(program) or any(row.items() <= other.items() for other in kept.rows(replay_path(given))):
        return
    json_path = os.path.join(given.out, "replay.json")
    called([program, "--json", json_path, *(["--quick"] if given.quick else [])], stderr=subprocess.DEVNULL)
    with open(json_path, encoding="utf-8") as file:
        row["per_second"] = {r["work"]: round(r["hone"]) for r in json.load(file) if r["metric"] == "features"}
    kept.append(replay_path(given), row)


def run(given):
    os.makedirs(given.out, exist_ok=True)
    known = {tuple(row[key] for key in KEY) for row in kept.rows(rows_path(given))}
    new = failed = there = 0
    replay(given)
    deadline = time.monotonic() + given.minutes * 60
    for work, cell in cells(given):
        if tuple(cell.values()) in known:
            there += 1
        elif time.monotonic() < deadline:
            try:
                row = measure(given, work, cell)
            except (RuntimeError, OSError, ValueError) as error:  # one work that fails should not end the others
                failed += 1
                print(f"search: {cell['work']} failed: {error}", file=sys.stderr, flush=True)
                continue
            kept.append(rows_path(given), row)
            new += 1
            print(report.line(row), flush=True)
    left = len(cells(given)) - new - failed - there
    print(f"{new} rows are new, {there} were there, {left} are left, {failed} failed")
    return 1 if failed else 0


def main():
    given = arguments()
    if given.list:
        for _, cell in cells(given):
            print(*(cell[key] for key in KEY[:5]))
        return 0
    code = 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what runs beneath ends, too
    try:
        if not given.report and not given.curves:
            code = run(given)
    except KeyboardInterrupt:
        print("search: stopped; the same command goes on", file=sys.stderr)
        return 130
    if given.curves:
        report.write_curves(kept.rows(rows_path(given)), given.curves)
    if given.report:
        print(report.summary(kept.rows(rows_path(given)), kept.rows(replay_path(given))), end="")
    return code


if __name__ == "__main__":
    sys.exit(main())
