#!/usr/bin/env python3
"""What happens to `hone tune` in the world: tune_stories.py BUILD_DIR STORY. Exit 77 = skipped."""
import json
import os
import re
import shlex
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

PROGRAM = '''from tvm.script import tirx as T

@T.prim_func
def main(A: T.Buffer((31, 64), "float32"), B: T.Buffer((64, 48), "float32"), C: T.Buffer((31, 48), "float32")):
    for i, j, k in T.grid(31, 48, 64):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
'''
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LONG = 100000  # trials that never come to an end in a test


def fail(message):
    print("FAILED:", message)
    sys.exit(1)


def expect(condition, message):
    if not condition:
        fail(message)


def start(*args, **more):
    return subprocess.Popen(["hone", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, **more)


def finish(process, code, timeout=200):
    out, err = process.communicate(timeout=timeout)
    expect(process.returncode == code,
           f"{' '.join(process.args)}: exit {process.returncode}, not {code}\n{out}{err}")
    return out


def hone(*args, code=0):
    return finish(start(*args), code)


def tune(*args, db="t.db", trials=8):
    return start("tune", "a.py", "--db", db, "--threads", "1", "--trials", str(trials), "--json",
                 "--no-report", *args)


def count(db="t.db"):
    """Trials that are in the file; another process may be making it just now."""
    try:
        with sqlite3.connect(f"file:{db}?mode=ro", uri=True, timeout=5) as connection:
            return connection.execute("SELECT count(*) FROM v_trials").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def wait_for_trials(process, wanted):
    for _ in range(1200):
        if count() >= wanted:
            return
        expect(process.poll() is None, "tune ended early")
        time.sleep(0.05)
    fail(f"no {wanted} trials in a minute")


def states():
    return sorted(s["state"] for s in json.loads(hone("db", "sessions", "t.db", "--json")))


def write_npy(path, shape):
    """Numbers in [0, 1) that differ from one another."""
    count = 1
    for extent in shape:
        count *= extent
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        out.write(struct.pack(f"<{count}f", *((i * 7919 % 10007) / 10007 for i in range(count))))


def kill_and_resume():
    process = tune(trials=LONG)
    wait_for_trials(process, 6)
    process.kill()
    process.communicate()
    known = json.loads(hone("db", "stats", "t.db", "--json"))["trials"]
    expect(known >= 6, f"{known} trials are left of 6 or more")
    expect("sound" in hone("db", "check", "t.db"), "the database is not sound")
    result = json.loads(finish(tune(trials=8), 0))
    expect(result["tasks"][0]["known_trials"] == known,
           f"it began with {result['tasks'][0]['known_trials']} known trials, not {known}")
    expect(result["trials"] == 8, f"{result['trials']} trials were made, not 8")
    expect(count() == known + 8, f"{count()} trials in the database, not {known} + 8")
    expect(states() == ["done", "killed"], f"sessions are {states()}")


def interrupt():
    process = tune(trials=LONG)
    wait_for_trials(process, 3)
    process.send_signal(signal.SIGINT)
    result = json.loads(finish(process, 130))
    expect(result["stopped"], "it does not say that it was stopped")
    expect(result["trials"] == count(), "a trial was counted that is not in the database")
    expect(states() == ["stopped"], f"sessions are {states()}")
    left = [name for name in os.listdir(".") if name.startswith("hone-tune")]
    expect(not left, f"left behind: {left}")


def interrupt_twice():
    process = tune(trials=LONG)
    wait_for_trials(process, 3)
    process.send_signal(signal.SIGINT)
    time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    result = json.loads(finish(process, 130, timeout=30))
    expect(result["trials"] == count(), "a trial was counted that is not in the database")


def children(parent, name):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
                head, tail = stat.read().rsplit(")", 1)
        except OSError:
            continue
        if int(tail.split()[1]) == parent and head.split("(", 1)[1] == name:
            found.append(int(pid))
    return found


def helpers_killed():
    """The processes that run and build candidates die; tuning goes on with new ones."""
    process = tune(trials=24)
    for name, trials in (("hone-runner", 4), ("hone-worker", 10)):
        wait_for_trials(process, trials)
        pids = children(process.pid, name)
        expect(pids, f"no {name} runs")
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
    result = json.loads(finish(process, 0))
    expect(result["trials"] == 24 and count() == 24, f"{result['trials']} trials, not 24")
    expect(result["trials"] - result["failed"] >= 12, f"{result['failed']} of 24 trials failed")
    expect(result["tasks"][0]["best_ns"], "nothing worked")


def rates_agree():
    """What the progress line says of the pace is what the summary says."""
    done = subprocess.run(["hone", "tune", "a.py", "--db", "t.db", "--trials", "6", "--threads", "1",
                           "--no-report"], capture_output=True, text=True, timeout=200, check=True)
    shown = re.findall(r"(\S+)/s ", done.stderr)
    pace = re.findall(r"(\S+) per second", done.stdout)
    expect(shown and pace, f"no rates: {done.stderr}{done.stdout}")
    expect(abs(float(shown[-1]) / float(pace[0]) - 1) < 0.25, f"{shown[-1]}, then {pace[0]}")


def two_tunes():
    first, second = tune("--seed", "1"), tune("--seed", "2")
    results = [json.loads(finish(process, 0)) for process in (first, second)]
    made = sum(result["trials"] for result in results)
    expect(made == 16 and count() == 16, f"{made} trials made, {count()} kept, not 16")
    expect("sound" in hone("db", "check", "t.db"), "the database is not sound")
    expect(states() == ["done", "done"], f"sessions are {states()}")


def disk_full():
    """In a file system of its own, so small that the trials do not fit."""
    if subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"],
                      stderr=subprocess.DEVNULL).returncode != 0:
        sys.exit(77)
    script = ('mkdir small; mount -t tmpfs -o size=400k none small || exit 99; '
              'hone tune a.py --db small/t.db --threads 1 --trials 2000 -q; code=$?; '
              'rm -f small/filler; hone db stats small/t.db --json; exit $code')
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script], text=True, timeout=250,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    expect(done.returncode == 3, f"exit {done.returncode}, not 3\n{done.stdout}{done.stderr}")
    expect("full" in done.stderr, f"it does not say that the disk is full: {done.stderr}")
    expect("small/t.db" in done.stderr, f"it does not say which file: {done.stderr}")


def tune_compile_run():
    """From a program to a library with the best record, which computes what the program means."""
    result = json.loads(finish(tune(trials=16), 0))
    best = result["tasks"][0]["best_ns"]
    top = json.loads(hone("db", "top", "t.db", "-k", "1", "--json"))
    expect(best and top, "nothing worked")
    hone("report", "t.db", "-o", "r.html")
    page = open("r.html", encoding="utf-8").read()
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    task = data["databases"][0]["tasks"][0]
    expect(task["dots"] and "apply_trace" in page, "the report has no curve or no trace")
    page = page.replace("http://www.w3.org/2000/svg", "")  # a name, which nobody loads
    expect("http://" not in page and "https://" not in page, "the report loads things")
    hone("db", "show", "t.db", str(top[0]["record"]))
    explained = json.loads(hone("db", "explain", "t.db", "a.py", "--threads", "1", "--json"))
    expect([e["match"] for e in explained] == ["exact"], f"explained as {explained}")
    explained = json.loads(hone("db", "explain", "t.db", "a.py", "--threads", "2", "--json"))
    expect([e["match"] for e in explained] == ["other target"], f"explained as {explained}")
    said = hone("compile", "a.py", "--db", "t.db", "-o", "model", "--threads", "1")
    expect("1 from records" in said, f"compile did not take the record: {said}")
    write_npy("A.npy", (31, 64))
    write_npy("B.npy", (64, 48))
    hone("run", "a.py", "--interpret", "--in", "A.npy", "--in", "B.npy", "--out-dir", "oracle")
    hone("run", "model.so", "--in", "A.npy", "--in", "B.npy", "--expect", "oracle/C.npy")
    hone("run", "model.so", "--in", "B.npy", "--in", "A.npy", code=2)


def other_names():
    """Programs that are equal but for names share their records, whoever was tuned first."""
    finish(tune(), 0)
    renamed = PROGRAM.replace('"C"', '"product"')
    for name, program in (("a.py", renamed), ("b.py", PROGRAM)):
        with open(name, "w", encoding="utf-8") as out:
            out.write(program)
    tasks = json.loads(finish(tune("--seed", "7"), 0))["tasks"]
    expect(tasks[0]["known_trials"] == 8 and count() == 16, f"{tasks}, {count()} trials")
    with sqlite3.connect("t.db") as connection:
        ask = lambda sql: connection.execute(sql).fetchall()
        expect(len(ask("SELECT * FROM v_workloads")) == 1, "they do not share their records")
        named = ask("SELECT record FROM v_trials WHERE trace LIKE '%product%'")
        expect(not named, f"records {named} are under names that are not in the database")
        last = ask("SELECT max(record) FROM v_trials WHERE outcome = 'ok'")[0][0]
        connection.execute("DELETE FROM trial WHERE id <> ?", (last,))
    for name, match in (("b.py", "exact"), ("a.py", "translated")):
        said = json.loads(hone("db", "explain", "t.db", name, "--threads", "1", "--json"))[0]
        expect((said["match"], said["record"]) == (match, last), f"{name} explained as {said}")
        said = hone("compile", name, "--db", "t.db", "-o", "model", "--threads", "1")
        expect("1 from records" in said, f"compile did not take the record: {said}")


def example_of(*verb):
    lines = [line for line in hone(*verb, "--help").splitlines() if line.startswith("Example: ")]
    expect(len(lines) == 1, f"{' '.join(verb)} --help has {len(lines)} examples")
    return lines[0][len("Example: "):]


def farm_examples():
    """Those of tracker and farm work with each other."""
    tracker = subprocess.Popen(shlex.split(example_of("tracker")), text=True,
                               stdout=subprocess.PIPE)
    try:
        expect(tracker.stdout.readline().startswith("tcp://"), "the tracker says nothing")
        for verb in (["farm"], ["farm", "status"]):
            example = example_of(*verb)
            done = subprocess.run(example, shell=True, timeout=100, stdout=subprocess.PIPE)
            expect(done.returncode == 0 and done.stdout, f"{example}: exit {done.returncode}")
    finally:
        tracker.terminate()
    expect(tracker.wait(timeout=100) == 0, f"the tracker ends with {tracker.returncode}")


def documentation():
    """The example of every verb works, and so does every query of docs/database.md."""
    here = os.getcwd()
    verbs = re.findall(r"^  ([a-z]+) ", hone("--help"), re.M)
    subs = re.findall(r"^  ([a-z]+) ", hone("db", "--help"), re.M)
    expect(len(verbs) >= 18 and len(subs) >= 13, "help has fewer verbs than there are")
    hone("compile", SOURCE + "/examples/fashion_mnist/mlp.onnx", "--no-schedule", "-o",
         "mlp_plain", "-q")
    alone = [[v] for v in verbs if v not in ("tune", "tracker", "farm", "serve")]  # these wait
    farm_examples()
    for verb in ([["tune"]] + alone + [["db", v] for v in subs] +
                 [["farm", "allow"], ["farm", "keys"]]):
        example = example_of(*verb).replace("/tmp/", here + "/")
        done = subprocess.run(example, shell=True, cwd=SOURCE, text=True, timeout=100,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        answers_no = verb in (["verify"], ["equal"])
        expect(done.returncode == (1 if answers_no else 0),
               f"{example}: exit {done.returncode}\n{done.stderr}")
        expect(done.stdout or "-o" in example.split(), f"{example} says nothing")
    with open(SOURCE + "/docs/database.md", encoding="utf-8") as page:
        queries = re.findall(r"```sql\n(.*?)```", page.read(), re.S)
    expect(len(queries) >= 6, f"{len(queries)} queries in docs/database.md")
    for query in queries:
        hone("db", "sql", "tuned.db", query)


STORIES = {f.__name__: f for f in (
    kill_and_resume, interrupt, interrupt_twice, helpers_killed, rates_agree, two_tunes, disk_full,
    tune_compile_run, other_names, documentation)}


def main():
    build, story = os.path.abspath(sys.argv[1]), STORIES[sys.argv[2]]
    os.environ["PATH"] = build + os.pathsep + os.environ["PATH"]
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        os.environ["TMPDIR"] = directory
        with open("a.py", "w", encoding="utf-8") as out:
            out.write(PROGRAM)
        try:
            story()
        finally:
            os.chdir("/")


if __name__ == "__main__":
    main()
