#!/usr/bin/env python3
"""Damages files at random and hands them to verbs: damage.py BUILD_DIR SECONDS [SEED]

Bits are flipped, bytes written over, pieces cut out, doubled or cut off, in every kind of file that
hone reads. It must end with 0 to 3, with a message where it is not 0, within a minute; a signal or
an exit code of 4 is wrong. (A compiled model that was altered is not tried, only cut ones: who can
write its code can do all that it does.) Damaged files that went wrong are kept in the directory
"damaged" below the present one. Prints counts by kind; 1 when anything was wrong.
"""
import collections
import contextlib
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def flip(rng, data):
    for _ in range(rng.choice([1, 1, 2, 5, 30])):
        at = rng.randrange(len(data))
        data[at] ^= 1 << rng.randrange(8)


def write_over(rng, data):
    at, count = rng.randrange(len(data)), rng.randrange(1, 40)
    kind = rng.choice([b"\0", b"\xff", b"9", b" ", b"\x80", b"("])
    data[at:at + count] = kind * count


def cut_out(rng, data):
    at = rng.randrange(len(data))
    del data[at:at + rng.randrange(1, 1 + max(1, len(data) // 4))]


def double(rng, data):
    at, count = rng.randrange(len(data)), rng.randrange(1, 200)
    data[at:at] = data[at:at + count] * rng.choice([1, 1, 50])


def cut_off(rng, data):
    del data[rng.randrange(len(data)):]


def swap(rng, data):
    a, b, count = rng.randrange(len(data)), rng.randrange(len(data)), rng.randrange(1, 60)
    data[a:a + count], data[b:b + count] = data[b:b + count], data[a:a + count]


WAYS = (flip, flip, write_over, cut_out, double, cut_off, swap)


class Damage:
    def __init__(self, build, seed, keep):
        self.build, self.keep = build, keep
        self.rng = random.Random(seed)
        self.counts = collections.Counter()
        self.wrong = collections.Counter()
        self.env = dict(os.environ, NO_COLOR="1", PATH=build + os.pathsep + os.environ["PATH"],
                        TMPDIR=os.getcwd())

    def hone(self, *words):
        # timeout(1) ends the whole group, what hone has started as well
        return subprocess.run(["timeout", "-s", "KILL", "60", "hone", *words], env=self.env,
                              capture_output=True, stdin=subprocess.DEVNULL, check=False)

    def prepare(self):
        models = os.path.join(SOURCE, "examples/fashion_mnist")
        programs = os.path.join(SOURCE, "tests/programs")
        shutil.copy(os.path.join(models, "mlp.onnx"), "mlp.onnx")
        shutil.copy(os.path.join(programs, "matmul_relu.py"), "p.py")
        shutil.copy(os.path.join(programs, "mlp_call_tir.py"), "graph.py")
        shutil.copy(os.path.join(programs, "traces/matmul_relu.py"), "trace.py")
        shutil.copy(os.path.join(SOURCE, "tests/compile/fixtures/demo.db"), "demo.db")
        for words in (["print", "mlp.onnx", "-o", "mlp.py"],
                      ["db", "export", "demo.db", "-o", "demo.jsonl"],
                      ["compile", "mlp.onnx", "-o", "lib", "--weights", "beside",
                       "--no-schedule"]):
            self.hone(*words)
        with contextlib.closing(sqlite3.connect("demo.db")) as db:
            program, trace = db.execute("SELECT w.program, t.trace FROM trial t JOIN workload w ON "
                                        "w.id = t.workload_id WHERE outcome = 'ok'").fetchone()
        for name, text in (("task.py", program), ("trace.json", trace)):
            with open(name, "w", encoding="utf-8") as out:
                out.write(text)
        npy = os.path.join(SOURCE, "tests/cli/data/npy.py")
        subprocess.run([sys.executable, npy, "in.npy", "96x64", "1", "2"], check=True)
        subprocess.run([sys.executable, npy, "in.npz", "A=1,2,3", "B=4,5"], check=True)
        kinds = [  # file, verbs with @ for the damaged one
            ("mlp.onnx", ["verify @", "tasks @", "print @ -o out.py", "run @ --interpret -q"]),
            ("p.py", ["verify @", "run @ -q --interpret", "hash @", "lower @ -o out.py",
                      "schedule @ --trace trace.py -o out.py", "tasks @"]),
            ("graph.py", ["verify @", "run @ -q --interpret", "print @ -o out.py", "tasks @"]),
            ("mlp.py", ["verify @", "tasks @"]),
            ("mlp.safetensors", ["verify mlp.py --params @", "run mlp.py --params @ --interpret -q"]),
            ("trace.py", ["schedule p.py --trace @ -o out.py"]),
            ("trace.json", ["schedule task.py --trace @ -o out.py"]),
            ("demo.db", ["db check @", "db top @", "db export @ -o out.jsonl", "db tasks @",
                         "report @ -o out.html", "db recover @ -o out.db",
                         "tasks mlp.onnx --db @"]),
            ("demo.jsonl", ["db import out.db @"]),
            ("in.npy", ["run p.py --in @ --interpret -q"]),
            ("in.npz", ["run p.py --in @ --interpret -q"]),
            ("lib.weights", ["run lib.so -q"]),
            ("lib.so", ["run @ -q"]),
        ]
        self.kinds = [(name, verbs) for name, verbs in kinds if os.path.exists(name)]
        missing = [name for name, _ in kinds if not os.path.exists(name)]
        if missing:
            print("not made, not tried:", *missing)
        self.whole = {}
        for name, _ in self.kinds:
            with open(name, "rb") as whole:
                self.whole[name] = whole.read()

    def damage(self, name):
        data = bytearray(self.whole[name])
        for _ in range(self.rng.choice([1, 1, 1, 3])):
            if data:
                (cut_off if name == "lib.so" else self.rng.choice(WAYS))(self.rng, data)
        return bytes(data)

    def one(self):
        name, verbs = self.rng.choice(self.kinds)
        verb = self.rng.choice(verbs)
        # the library finds its weights by their name
        path = name if name == "lib.weights" else "damaged." + name.split(".", 1)[1]
        data = self.damage(name)
        with open(path, "wb") as out:
            out.write(data)
        done = self.hone(*verb.replace("@", path).split())
        self.counts[name] += 1
        said = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
        if done.returncode not in (0, 1, 2, 3) or (done.returncode and not said):
            self.wrong[name] += 1
            os.makedirs(self.keep, exist_ok=True)
            kept = os.path.join(self.keep, f"{sum(self.wrong.values())}.{name}")
            with open(kept, "wb") as out:
                out.write(data)
            print(f"WRONG {verb}: exit {done.returncode}: {kept}\n{said[-600:]}", flush=True)
        if name == "lib.weights":
            with open(name, "wb") as out:
                out.write(self.whole[name])
        for left in os.listdir("."):
            if left.startswith("damaged.") or left.startswith("out."):
                os.unlink(left)


def main():

    build, seconds = os.path.abspath(sys.argv[1]), float(sys.argv[2])
    given = sys.argv[3] if len(sys.argv) > 3 else os.environ.get("HONE_FIRST_SEED")
    seed = int(given) if given else random.randrange(10**9)
    print(f"seed {seed}", flush=True)
    keep = os.path.abspath("damaged")
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        damage = Damage(build, seed, keep)
        damage.prepare()
        end = time.time() + seconds
        while time.time() < end:
            damage.one()
        os.chdir("/")
    print(f"{sum(damage.counts.values())} damaged, {sum(damage.wrong.values())} wrong:",
          dict(sorted(damage.counts.items())), dict(damage.wrong))
    return 1 if damage.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
