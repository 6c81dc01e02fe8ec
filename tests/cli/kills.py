#!/usr/bin/env python3
"""Kills verbs at random moments: kills.py BUILD_DIR SECONDS [SEED]

Each verb that writes is started, killed after a random time (SIGKILL, now and then SIGTERM or
SIGINT, the whole group or the tool alone), and started again on what it left. Or one of the
processes that it started is killed (workers, executors, wardens): the tool ends by itself then,
with 0 or 3, and no candidate has failed of it. After each:
every database is sound, no trial that was seen before is gone, no draft is left beside the
outputs, no process goes on for longer than ten seconds, and nothing is left in the directory for
temporary files once a later run has ended well. A tracker and a runner work beside them, and are
killed and started again as well: tunes over them go on, and what they started ends with them.
Prints counts by verb; 1 when anything was wrong.
"""
import collections
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATABASES = ("import.db", "merge.db", "recover.db", "tune.db", "farm.db")
GOES_ON = 10  # seconds that what a tool started may outlive it


def descendants(process):
    """Those that a process has started, and they, and so on; their surroundings may be none."""
    parents = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as text:
                parents[int(pid)] = int(text.read().rpartition(")")[2].split()[1])
        except OSError:
            pass
    found = [process]
    for one in found:
        found += [pid for pid, parent in parents.items() if parent == one]
    return found[1:]


class Kills:
    def __init__(self, build, seed):
        self.hone = os.path.join(build, "hone")
        self.runner = os.path.join(build, "hone-runner")
        self.random = random.Random(seed)
        self.counts = collections.Counter()
        self.faults = []
        self.seen = {}
        self.mark = f"HONE_KILLS={os.getpid()}"
        self.farm = {}  # "tracker", "runner": the process
        self.said = {}  # how long its log was before it

    def env(self, mark=None):
        name, value = (mark or self.mark).split("=")
        return dict(os.environ, TMPDIR=os.path.abspath("tmp"), NO_COLOR="1", **{name: value})

    def start_farm(self, name):
        words = {
            "tracker": [self.hone, "tracker", "--listen", self.tracker, "--insecure", "--state",
                        "tracker.db", "--heartbeat", "500ms"],
            "runner": [self.runner, "--tracker", self.tracker, "--insecure", "--name", "board",
                       "--device-key", "board", "--cache", "cache"],
        }[name]
        with open(name + ".log", "a", encoding="utf-8") as log:
            self.said[name] = os.path.getsize(name + ".log")
            self.farm[name] = subprocess.Popen(words, stdout=log, stderr=log,
                                               stdin=subprocess.DEVNULL, start_new_session=True,
                                               env=self.env(self.mark_of(name)))

    def mark_of(self, name):
        return f"HONE_KILLS_{name.upper()}={os.getpid()}"

    def kill_farm(self, name, number):
        process = self.farm.pop(name)
        if process.poll() is not None:
            with open(name + ".log", encoding="utf-8") as log:
                self.fault("ended by itself", name, process.returncode, log.read()[-400:])
        process.send_signal(number)
        self.counts[name, "killed"] += 1
        try:
            code = process.wait(30)
            # one that has said nothing yet may not have got as far as to hear signals
            begins = os.path.getsize(name + ".log") == self.said[name]
            if number == signal.SIGTERM and code and not (begins and code == -signal.SIGTERM):
                self.fault("exit", name, code)
        except subprocess.TimeoutExpired:
            self.fault("does not end", name, number)
            process.kill()
            process.wait()
        self.end_of_all(name, self.mark_of(name))

    def fault(self, kind, *what):
        self.faults.append(kind)
        print("WRONG", kind, *what, flush=True)

    def call(self, *words):
        return subprocess.run([self.hone, *words], capture_output=True, text=True, env=self.env(),
                              timeout=300, check=False)

    def prepare(self):
        os.mkdir("tmp")
        shutil.copy(os.path.join(SOURCE, "tests/compile/fixtures/demo.db"), "base.db")
        shutil.copy(os.path.join(SOURCE, "tests/programs/matmul_relu.py"), "p.py")
        shutil.copy(os.path.join(SOURCE, "tests/programs/traces/matmul_relu.py"), "trace.py")
        model = os.path.join(SOURCE, "examples/fashion_mnist/mlp.onnx")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.tracker = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        for name in ("tracker", "runner"):
            self.start_farm(name)
        assert self.call("db", "export", "base.db", "-o", "base.jsonl", "-q").returncode == 0
        self.verbs = {  # command, seconds within which it is killed, mostly
            "export": (["db", "export", "base.db", "-o", "out.jsonl"], 0.1),
            "import": (["db", "import", "import.db", "base.jsonl"], 0.3),
            "merge": (["db", "merge", "merge.db", "base.db"], 0.3),
            "recover": (["db", "recover", "base.db", "-o", "recover.db"], 0.4),
            "check": (["db", "check", "base.db"], 0.2),
            "compile": (["compile", "p.py", "-o", "lib"], 0.8),
            "compile weights": (["compile", model, "-o", "mlp", "--weights", "beside"], 1.0),
            "report": (["report", "base.db", "-o", "r.html"], 0.3),
            "schedule": (["schedule", "p.py", "--trace", "trace.py", "-o", "s.py"], 0.1),
            "print": (["print", model, "-o", "pr.py"], 0.1),
            "keygen": (["keygen", "--out", "keys"], 0.1),
            "run": (["run", "p.py", "--out-dir", "outs"], 0.8),
            "serve": (["serve", "--db", "base.db", "--port", "0"], 0.5),
            "tune": (["tune", "p.py", "--db", "tune.db", "--trials", "6", "--no-report"], 4.0),
            "farm tune": (["tune", "p.py", "--db", "farm.db", "--trials", "6", "--no-report",
                           "--tracker", self.tracker, "--insecure", "--device-key", "board"], 4.0),
        }
        self.allowed = {"base.db", "base.jsonl", "p.py", "trace.py", "tmp", "out.jsonl", "r.html", "s.py",
                        "pr.py", "pr.safetensors", "lib.so", "lib.h", "mlp.so", "mlp.h",
                        "mlp.weights", "outs", "keys", "recover.db.part", "tracker.db",
                        "tracker.log", "runner.log", "cache", *DATABASES}

    def processes(self, mark):
        """Those that were started here and go on, by the mark in their environment."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as text:
                    if mark.encode() in text.read().split(b"\0"):
                        found.append(int(pid))
            except OSError:
                pass
        return found

    def end_of_all(self, verb, mark=None):
        mark = mark or self.mark
        limit = time.time() + GOES_ON
        while self.processes(mark):
            if time.time() > limit:
                names = []
                for pid in self.processes(mark):
                    with open(f"/proc/{pid}/cmdline", "rb") as text:
                        names.append(text.read().replace(b"\0", b" ").decode()[-80:])
                    os.kill(pid, signal.SIGKILL)
                self.fault("goes on", verb, names)
                return
            time.sleep(0.02)

    def trials(self, path):
        done = self.call("db", "stats", path, "--json")
        if done.returncode:
            self.fault("stats", path, done.stderr[-300:])
            return 0
        return json.loads(done.stdout)["trials"]

    def look(self, verb):
        for path in DATABASES:
            if not os.path.exists(path):
                continue
            if os.path.getsize(path) == 0 and not self.seen.get(path):
                continue  # killed before anything stood in it; whoever comes next begins it
            done = self.call("db", "check", path)
            if "is empty; tune, import" in done.stderr and not self.seen.get(path):
                continue  # so was one that had its first page, and no table yet
            if done.returncode:
                self.fault("check", verb, path, done.returncode, (done.stdout + done.stderr)[-300:])
                os.unlink(path)
                self.seen.pop(path, None)
                continue
            trials = self.trials(path)
            if trials < self.seen.get(path, 0):
                self.fault("lost", verb, path, self.seen[path], "then", trials)
            self.seen[path] = trials
            failed = json.loads(self.call("db", "failures", path, "--json").stdout)
            if failed and path in ("tune.db", "farm.db"):
                self.fault("held against candidates", verb, path, failed)
        for name in os.listdir("."):
            stem = name.removesuffix("-wal").removesuffix("-shm").removesuffix("-journal")
            # a kill between two names leaves one, which the next to write that file removes
            stem = stem.removesuffix(".hone-draft-0")
            if stem not in self.allowed:
                self.fault("left", verb, name)
                os.unlink(name)

    def kill(self, process, verb):
        number = self.random.choice([signal.SIGKILL] * 4 + [signal.SIGTERM, signal.SIGINT])
        if self.random.random() < 0.3:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            self.fault("does not end", verb, number)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.counts[verb, "killed"] += 1

    def kill_child(self, verb, process):
        """One of those that the tool has started. False: there is none."""
        others = descendants(process.pid)
        if not others or verb == "serve":
            return False
        try:
            os.kill(self.random.choice(others), signal.SIGKILL)
        except ProcessLookupError:
            return False
        self.counts[verb, "bereft"] += 1
        try:
            code = process.wait(120)
        except subprocess.TimeoutExpired:
            self.fault("does not end without a child", verb)
            return False
        if code not in (0, 3):
            with open("said", encoding="utf-8") as said:
                text = said.read()
            if "already" not in text and "another name" not in text:
                self.fault("exit without a child", verb, code, text[-400:])
        return True

    def kill_child_of_farm(self):
        """An executor of the runner, or what holds it: the runner goes on, once it has begun (one
        that loses two before it joins says that candidates cannot be run there, and ends)."""
        with open("runner.log", encoding="utf-8") as log:
            log.seek(self.said["runner"])
            if "welcome" not in log.read():
                return
        others = descendants(self.farm["runner"].pid)
        if others:
            try:
                os.kill(self.random.choice(others), signal.SIGKILL)
                self.counts["runner", "bereft"] += 1
            except ProcessLookupError:
                pass

    def one(self):
        verb = self.random.choice(list(self.verbs))
        words, span = self.verbs[verb]
        with open("said", "w", encoding="utf-8") as said:
            process = subprocess.Popen([self.hone, *words], stdout=said, stderr=said,
                                       stdin=subprocess.DEVNULL, start_new_session=True,
                                       env=self.env())
        try:
            process.wait(self.random.random() * span * self.random.choice([0.3, 1, 4]))
            self.counts[verb, "done"] += 1
            with open("said", encoding="utf-8") as said:
                text = said.read()
            # what is there already is refused by some, with 2 and its name
            if process.returncode and "already" not in text and "another name" not in text:
                self.fault("exit", verb, process.returncode, text[-400:])
        except subprocess.TimeoutExpired:
            if self.random.random() < 0.3:
                self.kill_child_of_farm()
            if self.random.random() < 0.6 or not self.kill_child(verb, process):
                self.kill(process, verb)
        os.unlink("said")
        self.end_of_all(verb)
        if self.random.random() < 0.2:
            self.look(verb)
        if self.random.random() < 0.1:
            shutil.rmtree("keys", ignore_errors=True)
            for path in DATABASES[:3]:
                for ending in ("", "-wal", "-shm", "-journal"):
                    if os.path.exists(path + ending):
                        os.unlink(path + ending)
                self.seen.pop(path, None)
        if self.random.random() < 0.1:
            name = self.random.choice(("tracker", "runner"))
            self.kill_farm(name, self.random.choice((signal.SIGKILL, signal.SIGKILL,
                                                     signal.SIGTERM)))
            self.start_farm(name)
        if self.random.random() < 0.02 and os.path.exists("tune.db"):
            os.unlink("tune.db")
            self.seen.pop("tune.db", None)

    def finish(self):
        self.look("end")
        done = self.call("tune", "p.py", "--db", "tune.db", "--trials", "2", "-q", "--no-report")
        if done.returncode:
            self.fault("resume", done.returncode, done.stderr[-300:])
        words, _ = self.verbs["farm tune"]
        if self.call(*words).returncode:
            self.fault("resume", words)
        for name in ("runner", "tracker"):
            self.kill_farm(name, signal.SIGTERM)
        for ending in ("", "-wal", "-shm"):
            if os.path.exists("recover.db" + ending):
                os.unlink("recover.db" + ending)
        # these clear what is left
        for words in (["compile", "p.py", "-o", "lib"], ["run", "p.py"],
                      ["db", "recover", "base.db", "-o", "recover.db"]):
            if self.call(*words).returncode:
                self.fault("resume", words)
        # SQLite's have a name from being made to being unlinked: a kill there leaves an empty file
        left = [n for n in os.listdir("tmp")
                if not n.startswith("etilqs_") or os.path.getsize(os.path.join("tmp", n))]
        left += [n for n in os.listdir(".") if ".part" in n]
        if left:
            self.fault("temporary", left[:5])


def main():
    build, seconds = os.path.abspath(sys.argv[1]), float(sys.argv[2])
    given = sys.argv[3] if len(sys.argv) > 3 else os.environ.get("HONE_FIRST_SEED")
    seed = int(given) if given else random.randrange(10**9)
    print(f"seed {seed}", flush=True)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
    kills = Kills(build, seed)
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        kills.prepare()
        end = time.time() + seconds
        try:
            while time.time() < end:
                kills.one()
            kills.finish()
        finally:
            for process in kills.farm.values():
                process.kill()
        os.chdir("/")
    killed = sum(n for (_, how), n in kills.counts.items() if how == "killed")
    print(f"{sum(kills.counts.values())} started, {killed} killed, {len(kills.faults)} wrong:",
          dict(collections.Counter(kills.faults)),
          {f"{v} {how}": n for (v, how), n in sorted(kills.counts.items())})
    return 1 if kills.faults else 0


if __name__ == "__main__":
    sys.exit(main())
