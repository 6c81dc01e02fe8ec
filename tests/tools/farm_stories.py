#!/usr/bin/env python3
"""What happens to a farm in the world: farm_stories.py BUILD_DIR STORY. Everything runs on this
machine, over TCP with keys, as its users start it."""
import fcntl
import json
import os
import signal
import socket
import sqlite3
import struct
import subprocess
import time

import tune_stories
from tune_stories import LONG, count, expect, fail, finish, hone, start, wait_for_trials

children = {}


def spawn(name, *args):
    """A program of the farm; what it says goes to a file."""
    with open(name + ".log", "ab") as log:
        children[name] = subprocess.Popen(args, stdout=log, stderr=log)


def kill(name, how=signal.SIGKILL):
    child = children.pop(name)
    child.send_signal(how)
    return child.wait(timeout=100)


def key_of(name, role):
    """A key pair in a directory of that name, allowed."""
    public = hone("keygen", "-q", "-o", name).split()[-1]
    hone("farm", "allow", public, "--role", role, "--name", name, "--keys", "keys")
    return public


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start_tracker():
    spawn("tracker", "hone", "tracker", "--listen", os.environ["HONE_TRACKER"], "--keys", "keys",
          "--state", "tracker.db", "--heartbeat", "500ms")


def start_runner(name, *more):
    spawn(name, "hone-runner", "--key", "board/hone.key", "--name", name, "--cache", name + ".cache",
          "--device-key", "board", *more)


def open_farm(*runners, options=()):
    """Allowed keys first: the directory is the tracker's once it runs."""
    os.environ["HONE_TRACKER"] = f"tcp://127.0.0.1:{free_port()}"
    for name, role in (("board", "runner"), ("alice", "tuner"), ("bob", "tuner"), ("boss", "admin")):
        key_of(name, role)
    start_tracker()
    for _ in range(600):
        if os.path.exists("keys/hone.pub"):
            break
        time.sleep(0.1)
    os.environ["HONE_TRACKER_KEY"] = os.path.abspath("keys/hone.pub")
    os.environ["HONE_KEY_FILE"] = os.path.abspath("alice/hone.key")
    for name in runners:
        start_runner(name, *options)
    wait_for_devices(len(runners))


def wait_for_devices(wanted):
    """Connected ones, as the admin sees them."""
    there = None
    for _ in range(600):
        farm = start("farm", "status", "--json", env=dict(os.environ, HONE_KEY_FILE="boss/hone.key"))
        out, _ = farm.communicate(timeout=100)
        if farm.returncode == 0:
            there = sum(1 for slot in json.loads(out)["slots"] if slot["connected"])
            if there == wanted:
                return
        time.sleep(0.1)
    fail(f"{there} devices are there, not {wanted}")


def tune(*args, db="t.db", trials=8, program="a.py", **more):
    return start("tune", program, "--db", db, "--threads", "1", "--trials", str(trials), "--json",
                 "--no-report", *args, **more)


def rows(db, query):
    with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as connection:
        return connection.execute(query).fetchall()


def local(*args, **more):
    env = {k: v for k, v in os.environ.items() if not k.startswith("HONE_TRACKER")}
    return tune(*args, env=env, **more)


def like_at_home():
    """Two tuners at once on two devices: each has a database like that of a local run."""
    open_farm("one", "two")
    bob = dict(os.environ, HONE_KEY_FILE="bob/hone.key")
    tunes = [tune("--seed", "3", "--look-ahead", "16", trials=24),
             tune("--seed", "4", db="bob.db", trials=16, env=bob)]
    results = [json.loads(finish(t, 0)) for t in tunes]
    finish(local("--seed", "3", "--look-ahead", "16", db="home.db", trials=24), 0)
    for result, db, trials in zip(results, ("t.db", "bob.db"), (24, 16)):
        expect(result["trials"] == trials and count(db) == trials,
               f"{result['trials']} trials, {count(db)} kept, not {trials}")
        expect(result["failed"] <= trials // 4, f"{result['failed']} trials failed")
        devices = {d for (d,) in rows(db, "SELECT DISTINCT device FROM v_trials")}
        expect(devices <= {"one/0", "two/0"} and devices, f"measured on {devices}")
        confirmed = rows(db, "SELECT proposal FROM v_trials WHERE confirmed_ns > 0")
        # the default and what beat it; where nothing did, the default, which came first
        first_alone = confirmed == rows(db, "SELECT min(proposal) FROM v_trials")
        expect(len(confirmed) >= 2 or first_alone, f"{len(confirmed)} trials are confirmed")
    first = "SELECT program_hash FROM v_trials ORDER BY proposal LIMIT 8"
    expect(rows("t.db", first) == rows("home.db", first), "it does not begin as a local run does")
    for what in ("target_hash", "workload_hash"):
        query = f"SELECT DISTINCT {what} FROM v_trials"
        expect(rows("t.db", query) == rows("home.db", query), f"another {what} than at home")
    spent = rows("t.db", "SELECT min(measure_ns), min(build_ns), max(transfer_ns) FROM v_trials")[0]
    expect(spent[0] > 0 and spent[1] > 0 and spent[2] > 0, f"times of trials are missing: {spent}")
    hone("compile", "a.py", "--db", "t.db", "--threads", "1", "-o", "model")


def comings_and_goings():
    """Devices and the tracker are killed and come back; the tune goes on."""
    open_farm("one", "two")
    process = tune(trials=LONG)
    wait_for_trials(process, 4)
    kill("one")
    wait_for_trials(process, count() + 4)
    start_runner("one")
    kill("tracker")
    start_tracker()
    wait_for_trials(process, count() + 8)
    kill("one")
    kill("two", signal.SIGTERM)
    wait_for_devices(0)
    start_runner("three")
    wait_for_trials(process, count() + 8)
    process.send_signal(signal.SIGINT)
    result = json.loads(finish(process, 130))
    expect(result["trials"] == count(), "a trial was counted that is not in the database")
    kinds = {o for (o,) in rows("t.db", "SELECT DISTINCT outcome FROM v_trials")}
    expect(kinds <= {"ok", "device_lost", "run_timeout"}, f"trials ended as {kinds}")
    devices = {d for (d,) in rows("t.db", "SELECT DISTINCT device FROM v_trials WHERE outcome = 'ok'")}
    expect("three/0" in devices and len(devices) >= 2, f"measured on {devices}")


def nobody_there():
    """No device, no tracker, no key: each ends with a message, and what was measured is kept."""
    open_farm("one")
    process = tune("--no-device", "stop", trials=LONG)
    wait_for_trials(process, 4)
    kill("one")
    out, err = process.communicate(timeout=200)
    expect(process.returncode == 3, f"exit {process.returncode}, not 3\n{err}")
    expect("no device 'board' is left" in err, f"it does not say why it ended\n{err}")
    expect(json.loads(out)["trials"] == count(), "a trial was counted that is not in the database")
    process = tune("--no-device", "stop")
    _, err = process.communicate(timeout=200)
    expect(process.returncode == 3 and "no device" in err, f"exit {process.returncode}\n{err}")
    start_runner("one")
    wait_for_devices(1)
    finish(tune(trials=8), 0)
    process = tune("--target", "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72")
    _, err = process.communicate(timeout=200)
    expect(process.returncode == 2 and "--target" in err, f"exit {process.returncode}\n{err}")
    hone("farm", "revoke", hone("keygen", "-q", "-o", "stranger").split()[-1], "--keys", "keys",
         code=2)
    process = tune(env=dict(os.environ, HONE_KEY_FILE="stranger/hone.key"))
    _, err = process.communicate(timeout=200)
    expect(process.returncode == 3 and "key" in err, f"exit {process.returncode}\n{err}")


LOOKUP = """@T.prim_func
def main(P: T.Buffer((33,), "int32"), I: T.Buffer((200,), "int32"), X: T.Buffer((200,), "float32"),
         D: T.Buffer((33,), "float32"), Y: T.Buffer((32,), "float32")):
    for i in range(32):
        with T.block("Y"):
            vi = T.axis.spatial(32, i)
            T.reads(P[vi:vi + 2], I[0:200], X[0:200], D[0:33])
            T.writes(Y[vi])
            Y[vi] = D[vi + 1] - D[vi]
            for k in range(P[vi], P[vi + 1]):
                Y[vi] = Y[vi] + X[I[k]]
"""


def inputs_travel():
    """Inputs that no generator makes, made up and given, reach the devices."""
    open_farm("one")
    with open("b.py", "w", encoding="utf-8") as file:
        file.write(LOOKUP)
    tune_stories.write_npy("d.npy", (33,))
    for db, given in (("made.db", ()), ("given.db", ("--in", "D=d.npy"))):
        finish(tune(*given, program="b.py", db=db), 0)
        outcomes = rows(db, "SELECT DISTINCT outcome, device FROM v_trials")
        expect(outcomes == [("ok", "one/0")], f"{db}: trials ended as {outcomes}")


GATE = 1  # its byte in the file, as support/os/quiet.c has it
LOCK = "hhqqi4x"  # struct flock


def lock(gate, how, kind, byte):
    """A lock of this handle, or who is in its way: the kind of lock that was found."""
    flock = struct.pack(LOCK, kind, os.SEEK_SET, byte, 1, 0)
    return struct.unpack(LOCK, fcntl.fcntl(gate, how, flock))[0]


def builds_hold_the_gate():
    """Whoever times on this machine keeps the builds of a tune on a farm away, and they keep him
    away. The runner does not take the gate here, so what is seen of it is the tune's."""
    os.mkdir("runtime", 0o700)
    os.mkdir("runtime/hone", 0o700)
    os.environ["XDG_RUNTIME_DIR"] = os.path.abspath("runtime")
    open_farm("one", options=("--quiet", "none"))
    with open("runtime/hone/quiet.lock", "w+b") as gate:
        lock(gate, fcntl.F_OFD_SETLK, fcntl.F_WRLCK, GATE)
        process = tune()
        for _ in range(600):
            if os.path.exists("t.db"):
                break
            time.sleep(0.1)
        time.sleep(2)
        expect(count() == 0, f"{count()} trials were built beside somebody who times")
        expect(process.poll() is None, "tune did not wait")
        lock(gate, fcntl.F_OFD_SETLK, fcntl.F_UNLCK, GATE)
        held = 0
        while process.poll() is None:
            held += lock(gate, fcntl.F_OFD_GETLK, fcntl.F_WRLCK, GATE) == fcntl.F_RDLCK
            time.sleep(0.001)
    result = json.loads(finish(process, 0))
    expect(result["trials"] == 8, f"{result['trials']} trials, not 8")
    expect(held > 0, "nobody held the gate while the tune built")


tune_stories.STORIES = {f.__name__: f for f in (like_at_home, comings_and_goings, nobody_there,
                                                inputs_travel, builds_hold_the_gate)}

if __name__ == "__main__":
    try:
        tune_stories.main()
    finally:
        for child in children.values():
            child.kill()
            child.wait()
