#!/usr/bin/env python3
"""A farm whose messages are damaged on their way: bit_flips.py BUILD_DIR [SECONDS [SEED]].

As in chaos.py each party is connected through a proxy of its own, which turns bits over; here
connections are insecure, so that nothing below the messages notices. Nobody may end or hang, the
databases must be sound, no trial may have failed or been timed at what cannot be, and when the
damage ends all must get on. Prints how many bits were turned over."""
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import chaos  # noqa: E402
from chaos import (RUNNERS, TUNERS, World, count, expect, farm_stories, hone, outcomes,  # noqa: E402
                   settle, spawn, tune_stories)


class Insecure(World):
    def start(self, name):
        if name == "tracker":
            spawn(name, "hone", "tracker", "--listen", os.environ["HONE_TRACKER"], "--insecure",
                  "--heartbeat", "500ms")
        elif name in RUNNERS:
            spawn(name, "hone-runner", "--tracker", self.address(name), "--insecure", "--name",
                  name, "--cache", name + ".cache", "--device-key", "board")
        else:
            self.start_tune(name, tune_stories.LONG)

    def start_tune(self, name, trials):
        spawn(name, "hone", "tune", "a.py", "--db", name + ".db", "--threads", "1", "--trials",
              str(trials), "--no-report", "--tracker", self.address(name), "--insecure",
              "--device-key", "board", "--seed", "3")


def damage(world, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        world.check_alive()
        time.sleep(0.2)


def judge():
    """What a runner of this machine measures is the least that a time can be."""
    tune_stories.finish(farm_stories.local("--seed", "3", db="home.db", trials=16), 0)
    best = "SELECT min(median_ns) FROM v_trials WHERE outcome = 'ok'"
    least = farm_stories.rows("home.db", best)[0][0]
    for name in TUNERS:
        expect("sound" in hone("db", "check", name + ".db"), f"{name}.db is not sound")
        kinds = outcomes(name + ".db")
        expect(set(kinds) <= {"ok", "device_lost"}, f"trials of {name} ended as {kinds}")
        fastest = farm_stories.rows(name + ".db", best)[0][0]
        expect(fastest > least / 20, f"{name} has a record of {fastest} ns, here it is {least}")
        print(f"{name}: {kinds}")


def bit_flips():
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 20
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else int(os.environ.get("HONE_FIRST_SEED", 1))
    print(f"seed {seed}", flush=True)
    world, flipped = Insecure(seed), 0
    os.environ["HONE_TRACKER"] = f"tcp://127.0.0.1:{world.port}"
    for name in ("HONE_TRACKER_KEY", "HONE_KEY_FILE"):
        os.environ.pop(name, None)
    world.start("tracker")
    world.start_proxies()
    world.change_weather(b"calm")
    try:
        for name in RUNNERS + TUNERS:
            world.start(name)
        for name in TUNERS:
            chaos.wait_until(lambda n=name: count(n + ".db") > 0, f"a trial of {name}", world)
        world.change_weather(b"bits")
        damage(world, seconds)
        settle(world)
        judge()
    finally:
        flipped = world.end_proxies()
    print(f"{flipped} bits were turned over")
    expect(flipped > 0, "no bit was turned over")


tune_stories.STORIES = {"bit_flips": bit_flips}

if __name__ == "__main__":
    sys.argv[2:2] = ["bit_flips"]
    try:
        tune_stories.main()
    finally:
        for child in farm_stories.children.values():
            child.kill()
            child.wait()
