#!/usr/bin/env python3
"""The data in the page of `hone report` are what `hone db --json` says: page_data.py BUILD_DIR."""
import os
import sqlite3
import sys
import tempfile

from page_support import compare_data, data_of_page, hone, make_database

POINTS = 500


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


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
        expect(any(task["choices"] for task in db["tasks"]), "no decision was judged")
        check_charts(db, path)
        expect(page == hone(build, "report", path), "the page differs from call to call")
        two = data_of_page(hone(build, "report", path, path))["databases"]
        expect([d["title"] for d in two] == [path, path], "two databases")


if __name__ == "__main__":
    main()
