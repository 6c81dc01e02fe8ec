"""What the tests of the page share: a database to show, the data inside of a page, `hone` as JSON."""
import json
import os
import random
import re
import subprocess

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEMO = SOURCE + "/tests/compile/fixtures/demo.db"
FAILURES = ("build_error", "run_timeout", "run_crash", "wrong_result")
LONG_NAME = "<b>a name</b> \u05e9\u05dc\u05d5\u05dd " + "of_many_words_" * 30
MORE = 12  # trials made of each that is there


def hone(build, *args):
    done = subprocess.run([build + "/hone", *args], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise SystemExit(f"hone {' '.join(args)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def hone_json(build, *args):
    return json.loads(hone(build, *args, "--json"))


def more_trials(trial, session, rng):
    """Others like this one: slower, or failed, some with what a model said of them."""
    for number in range(MORE):
        other = dict(trial, session=session, proposal=trial["proposal"] * MORE + number,
                     program="%032x" % rng.getrandbits(128), confirmed_ns=None,
                     wall_ns=trial["wall_ns"] + number * 10**8, predicted_score=rng.random())
        other.pop("confirmed_at_ns", None)
        if rng.random() < 0.15:
            other.update(outcome=rng.choice(FAILURES), median_ns=None, spread=None, samples_ns=[],
                         max_error=None, message="a <made> up & reason")
        else:
            other["median_ns"] = trial["median_ns"] * rng.uniform(1, 4)
        yield other


def make_database(build, path):
    """The demo's records, and hundreds more of another session with failures among them."""
    rng = random.Random(7)  # the same database each time: it is looked at
    rows = [json.loads(line) for line in hone(build, "db", "export", DEMO).splitlines()]
    session = dict(next(r for r in rows if r["kind"] == "session"), id="5" * 32, model="<b>made</b> up.onnx",
                   options='{"cache": "cold", "peak_gflops": 98.5, "bandwidth_gbs": 21}')
    at = next(i for i, r in enumerate(rows) if r["kind"] == "trial")
    extra = [t for r in rows if r["kind"] == "trial" for t in more_trials(r, session["id"], rng)]
    unique = {(t["workload"], t["target"], t["proposal"]): t for t in extra}
    next(r for r in rows if r["kind"] == "workload" and "max_pool2d" in r["name"])["name"] = LONG_NAME
    text = path + ".jsonl"
    with open(text, "w", encoding="utf-8") as out:
        for row in rows[:at] + [session] + rows[at:] + list(unique.values()):
            out.write(json.dumps(row) + "\n")
    hone(build, "db", "import", "-q", path, text)


def data_of_page(page):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(found.group(1))


def figures(build, path):
    """What `hone db` says, in the form of compare_data."""
    return {kind: hone_json(build, "db", kind, path) for kind in ("tasks", "sessions", "failures", "targets", "stats")}


def without(row, *names):
    return {name: value for name, value in row.items() if name not in names}


def compare_data(build, path, db):
    """The members of a page's database are exactly what `hone db --json` prints."""
    want = figures(build, path)
    problems = []

    def same(what, got, wanted):
        if got != wanted:
            problems.append(f"{what}: the page has {got}, hone db {wanted}")

    for name in ("trials", "ok", "failed", "confirmed", "last_wall_ns"):
        same(name, db[name], want["stats"][name])
    same("targets", [t["text"] for t in db["targets"]], [t["target"] for t in want["targets"]])
    same("sessions", [(s["id"], s["state"], s["command_line"], s["started_ns"], s["ended_ns"]) for s in db["sessions"]],
         [(s["session"], s["state"], s["command_line"], s["started_ns"], s["ended_ns"]) for s in want["sessions"]])
    same("failures", [(f["outcome"], f["task"], f["count"], f["last_message"]) for f in db["failures"]],
         [(f["outcome"], f["task"], f["count"], f["last_message"]) for f in want["failures"]])
    same("tasks", len(db["tasks"]), len(want["tasks"]))
    top = hone_json(build, "db", "top", path, "-k", "10")
    for got, wanted in zip(db["tasks"], want["tasks"]):
        for name in ("workload_hash", "target_hash", "shapes", "flops", "trials", "ok", "failed", "confirmed", "best_ns"):
            same(f"{name} of {got['name']}", got[name], wanted[name])
        same(f"best records of {got['name']}",
             [(r["record"], r["uid"], r["median_ns"], r["confirmed_ns"], r["sketch"], r["variant"], r["session"]) for r in got["top"]],
             [(r["record"], r["uid"], r["median_ns"], r["confirmed_ns"], r["sketch"], r["variant"], r["session"]) for r in top
              if r["workload_hash"] == got["workload_hash"]])
    for number, record in db["records"].items():
        same(f"record {number}", record, without(hone_json(build, "db", "show", path, number), "workload"))
    return problems
