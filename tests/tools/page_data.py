#!/usr/bin/env python3
"""The data in the page of `hone report` are what `hone db --json` says: page_data.py BUILD_DIR."""
import json
import math
import os
import sqlite3
import sys
import tempfile

from page_support import compare_data, data_of_page, hone, make_database

POINTS = 500
DOTS_A_TRACE = 2
PHASES = ("search", "build", "queue", "transfer", "load", "check", "measure")


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def check_machine(db, path):
    """What sessions measured of the machine; one that says nothing, or what is no JSON, says nothing."""
    sql = sqlite3.connect(path)
    for session in db["sessions"]:
        about = sql.execute("SELECT options_json FROM v_sessions WHERE session = ?", (session["id"],)).fetchone()[0]
        want = json.loads(about) if about else {}
        for key in ("peak_gflops", "bandwidth_gbs"):
            expect(session[key] == want.get(key), f"{key} of {session['id']}: {session[key]}, not {want.get(key)}")
    known = [s["peak_gflops"] for s in db["sessions"] if s["peak_gflops"]]
    expect(known == [98.5], f"peaks of the machine: {known}")
    sql.close()


def check_charts(db, path):
    """What charts draw, against the rows themselves."""
    sql = sqlite3.connect(path)
    for task in db["tasks"]:
        points = len(task["dots"]) + len(task["confirmed_records"]) + sum(len(r["steps"]) for r in task["runs"])
        expect(points <= POINTS, f"{task['name']} has {points} points")
        expect(sum(r["trials"] for r in task["runs"]) == task["trials"], f"runs of {task['name']}")
        for run in task["runs"]:
            best = sql.execute(
                "SELECT min(median_ns) FROM v_trials WHERE session = ? AND workload_hash = ? AND target_hash = ?",
                (db["sessions"][run["session"]]["id"], task["workload_hash"], task["target_hash"])).fetchone()[0]
            expect(not run["steps"] or abs(run["steps"][-1][2] / best - 1) < 1e-5, f"the last step of {task['name']}")
            times = [step[2] for step in run["steps"]]
            expect(times == sorted(times, reverse=True), f"steps of {task['name']} do not fall")
        for choice in task["choices"]:
            expect(0 <= choice["share"] <= 1 and choice["name"], f"a choice of {task['name']}: {choice}")
    for entry in db["time"]:
        expect(abs(sum(entry["shares"].values()) - 1) < 1e-4, f"shares of time: {entry}")
    sql.close()


def omega_squared(pairs):
    """The share of the spread of the second that groups by the first explain."""
    whole = sum(y for _, y in pairs) / len(pairs)
    groups = {}
    for x, y in pairs:
        groups.setdefault(x, []).append(y)
    total = sum((y - whole) ** 2 for _, y in pairs)
    within = sum(sum((y - sum(ys) / len(ys)) ** 2 for y in ys) for ys in groups.values())
    if len(groups) < 2 or len(groups) >= len(pairs):
        return 0
    noise = within / (len(pairs) - len(groups))
    return max(0, (total - within - (len(groups) - 1) * noise) / (total + noise))


def check_choices(db, path):
    """Shares of decisions, once more from the traces of the trials that are drawn."""
    sql, checked = sqlite3.connect(path), 0
    for task in db["tasks"]:
        places = {}
        for dot in task["dots"][::DOTS_A_TRACE]:
            ns, sketch, trace = sql.execute("SELECT median_ns, sketch, trace FROM v_trials WHERE record = ?", (dot[3],)).fetchone()
            if ns is None or sketch < 0:
                continue
            for step, decision in json.loads(trace)[1]:
                for place, value in enumerate(decision if isinstance(decision, list) else [decision]):
                    places.setdefault((sketch, step, place), []).append((value, math.log(ns)))
        want = sorted(omega_squared(pairs) for pairs in places.values() if len(pairs) >= 8 and len({x for x, _ in pairs}) > 1)[::-1]
        got = [choice["share"] for choice in task["choices"]]
        expect(len(got) == min(len(want), 24) and all(abs(a - b) < 1e-4 for a, b in zip(got, want)), f"choices of {task['name']}: {got}, not {want}")
        checked += len(got)
    expect(checked > 20, "too few decisions were judged")
    sql.close()


def check_time(db, path):
    """Shares of wall-clock time, once more: between two neighbouring moments nothing changes."""
    sql = sqlite3.connect(path)
    for entry in db["time"]:
        session, spans, ends = db["sessions"][entry["session"]], [], []
        for row in sql.execute(f"SELECT finished_ns, {', '.join(p + '_ns' for p in PHASES)} FROM v_trials WHERE session = ?", (session["id"],)):
            to = row[0]
            ends.append(to)
            for name, ns in reversed(list(zip(PHASES, row[1:]))):
                spans.append((to - ns, to, name))
                to -= ns
        low, high = session["started_ns"], max(ends + [session["ended_ns"]])
        spans = [(max(a, low), min(b, high), name) for a, b, name in spans if name != "queue" and b > a]
        moments = sorted({low, high} | {t for span in spans for t in span[:2] if low <= t <= high})
        shares = dict.fromkeys(entry["shares"], 0.0)
        for a, b in zip(moments, moments[1:]):
            active = {name for x, y, name in spans if x <= a and y >= b} or {"other"}
            for name in active:
                shares[name] += (b - a) / len(active) / (high - low)
        for name, share in shares.items():
            expect(abs(share - entry["shares"][name]) < 1e-4, f"time of {session['id']}: {entry['shares']}, not {shares}")
    expect(len(db["time"]) == len(db["sessions"]), "each session has its time")
    sql.close()


def main():
    build = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as here:
        path = here + "/made.db"
        make_database(build, path)
        page = hone(build, "report", path)
        db = data_of_page(page)["databases"][0]
        problems = compare_data(build, path, db)
        expect(not problems, "\n".join(problems))
        expect(db["trials"] > 400 and db["failed"] > 20 and db["records"] and db["records_left_out"] == 0, "too little is tested")
        check_machine(db, path)
        check_charts(db, path)
        check_choices(db, path)
        check_time(db, path)
        expect(page == hone(build, "report", path), "the page differs from call to call")
        two = data_of_page(hone(build, "report", path, path))["databases"]
        expect([d["title"] for d in two] == [path, path], "two databases")


if __name__ == "__main__":
    main()
