#!/usr/bin/env python3
"""A farm of real processes in a bad world: chaos.py BUILD_DIR [SECONDS [SEED]]. The seed (else
HONE_FIRST_SEED, else 1) decides who suffers and when, not what comes of it: processes have a time
of their own.

A tracker, three runners and two tunes, each connected through a proxy of its own that delays,
damages and cuts; meanwhile processes are killed at random and started again, and strangers knock at
the tracker's port. Then the world becomes good: both tunes must get on, databases must be sound,
and nobody may have died but by our hand, grown, or left processes behind."""
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tools"))
import farm_stories  # noqa: E402
import tune_stories  # noqa: E402
from farm_stories import children, free_port, key_of, spawn  # noqa: E402
from tune_stories import LONG, count, expect, fail, finish, hone, start  # noqa: E402

RUNNERS = ("one", "two", "three")
TUNERS = ("alice", "bob")
MAX_TRACKER_BYTES = 1 << 30


class World:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.port = free_port()
        self.proxies, self.ports = {}, {}
        self.down = {}  # name → when it is started again
        self.kills = 0

    def start_proxies(self):
        for i, name in enumerate(RUNNERS + TUNERS):
            self.ports[name] = free_port()
            self.proxies[name] = subprocess.Popen(
                [sys.executable, os.path.join(HERE, "flaky_proxy.py"), str(self.ports[name]),
                 str(self.port), str(self.rng.randrange(1 << 30) + i)], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE)

    def change_weather(self, weather):
        for proxy in self.proxies.values():
            proxy.stdin.write(weather + b"\n")
            proxy.stdin.flush()

    def end_proxies(self):
        """How many bits they have turned over."""
        flipped = 0
        for proxy in self.proxies.values():
            proxy.stdin.close()
            flipped += int(proxy.stdout.read() or 0)
            proxy.wait(timeout=60)
        return flipped

    def address(self, name):
        return f"tcp://127.0.0.1:{self.ports[name]}"

    def start(self, name):
        self.down.pop(name, None)
        if name == "tracker":
            farm_stories.start_tracker()
        elif name in RUNNERS:
            spawn(name, "hone-runner", "--tracker", self.address(name), "--key", "board/hone.key",
                  "--name", name, "--cache", name + ".cache", "--device-key", "board")
        else:
            self.start_tune(name, LONG)

    def start_tune(self, name, trials):
        spawn(name, "hone", "tune", "a.py", "--db", name + ".db", "--threads", "1", "--trials",
              str(trials), "--no-report", "--tracker", self.address(name), "--key",
              name + "/hone.key", "--device-key", "board", "--seed", "3")

    def check_alive(self):
        for name, child in children.items():
            if child.poll() is not None:
                with open(name + ".log", encoding="utf-8", errors="replace") as log:
                    fail(f"{name} ended by itself, exit {child.returncode}\n{log.read()[-4000:]}")
        size = resident_bytes(children["tracker"].pid) if "tracker" in children else 0
        expect(size < MAX_TRACKER_BYTES, f"the tracker has grown to {size} bytes")

    def kill_one(self):
        name = self.rng.choice(("tracker",) + RUNNERS + TUNERS)
        if name not in children:
            return
        farm_stories.kill(name)
        self.kills += 1
        self.down[name] = time.monotonic() + self.rng.uniform(0, 3)

    def knock(self):
        """Somebody who has lost his way: noise, half a greeting, nothing at all."""
        noise = bytes(self.rng.randrange(256) for _ in range(self.rng.randrange(400)))
        greeting = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"CURVE".ljust(20, b"\0") + bytes(32)
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as stranger:
                stranger.sendall(self.rng.choice((b"", noise, greeting[:30], greeting + noise,
                                                  b"GET / HTTP/1.0\r\n\r\n")))
        except OSError:
            pass


def resident_bytes(pid):
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def wait_until(condition, what, world, limit=240):
    end = time.monotonic() + limit
    while not condition():
        world.check_alive()
        if time.monotonic() > end:
            fail(f"{what}: not within {limit} s")
        time.sleep(0.1)


def storm(world, seconds):
    end = time.monotonic() + seconds
    next_kill = 0.0
    while time.monotonic() < end:
        now = time.monotonic()
        for name in [n for n, at in world.down.items() if at <= now]:
            world.start(name)
        if now >= next_kill:
            world.kill_one()
            next_kill = now + world.rng.uniform(0.5, 5)
        world.knock()
        world.check_alive()
        time.sleep(0.2)


def settle(world):
    """The sky clears: everybody is there, and what was begun gets on."""
    for name in list(world.down):
        world.start(name)
    world.change_weather(b"calm")
    before = {name: count(name + ".db") for name in TUNERS}
    for name in TUNERS:
        wait_until(lambda n=name: count(n + ".db") >= before[n] + 8, f"8 more trials of {name}",
                   world)
    for name in TUNERS:
        expect(farm_stories.kill(name, signal.SIGINT) == 130, f"{name} did not stop in good order")
        world.start_tune(name, 4)
        expect(children.pop(name).wait(timeout=240) == 0, f"{name} could not finish")


def outcomes(db):
    return {kind: n for kind, n in farm_stories.rows(
        db, "SELECT outcome, count(*) FROM v_trials GROUP BY outcome")}


def judge(world):
    for name in TUNERS:
        expect("sound" in hone("db", "check", name + ".db"), f"{name}.db is not sound")
        kinds = outcomes(name + ".db")
        expect(set(kinds) <= {"ok", "device_lost"}, f"trials of {name} ended as {kinds}")
        print(f"{name}: {kinds}")
    boss = dict(os.environ, HONE_KEY_FILE="boss/hone.key")
    table = json.loads(finish(start("farm", "status", "--json", env=boss), 0))
    there = sorted(slot["runner"] for slot in table["slots"] if slot["connected"])
    expect(there == sorted(RUNNERS), f"the tracker sees {there}")
    for name in RUNNERS + ("tracker",):
        code = farm_stories.kill(name, signal.SIGTERM)
        expect(code == 0, f"{name} ended with {code} when it was asked to stop")
        with open(name + ".log", encoding="utf-8", errors="replace") as log:
            text = log.read()
        expect("Sanitizer" not in text and "runtime error" not in text, f"{name}: {text[-4000:]}")
    print(f"{world.kills} kills")


def chaos():
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 20
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else int(os.environ.get("HONE_FIRST_SEED", 1))
    print(f"seed {seed}", flush=True)
    world = World(seed)
    os.environ["HONE_TRACKER"] = f"tcp://127.0.0.1:{world.port}"
    for name, role in (("board", "runner"), ("alice", "tuner"), ("bob", "tuner"),
                       ("boss", "admin")):
        key_of(name, role)
    world.start("tracker")
    for _ in range(600):
        if os.path.exists("keys/hone.pub"):
            break
        time.sleep(0.1)
    os.environ["HONE_TRACKER_KEY"] = os.path.abspath("keys/hone.pub")
    world.start_proxies()
    try:
        for name in RUNNERS + TUNERS:
            world.start(name)
        storm(world, seconds)
        settle(world)
        judge(world)
    finally:
        world.end_proxies()


tune_stories.STORIES = {"chaos": chaos}

if __name__ == "__main__":
    sys.argv[2:2] = ["chaos"]
    try:
        tune_stories.main()
    finally:
        for child in children.values():
            child.kill()
            child.wait()
