#!/usr/bin/env python3
"""A farm whose device is another machine: aarch64_farm.py BUILD_DIR EMULATOR.

`hone tune` on this machine compiles candidates for aarch64, a tracker hands them to the cross-built
hone-runner under the emulator, which checks their results and times them.
"""
import json
import os
import subprocess
import sys
import tempfile

PROGRAMS = {
    "matmul": '''from tvm.script import tirx as T

@T.prim_func
def main(A: T.Buffer((31, 64), "float32"), B: T.Buffer((64, 48), "float32"), C: T.Buffer((31, 48), "float32")):
    for i, j, k in T.grid(31, 48, 64):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
''',
    "exp": '''from tvm.script import tirx as T

@T.prim_func
def main(A: T.Buffer((7, 33), "float32"), B: T.Buffer((7, 33), "float32")):
    for i, j in T.grid(7, 33):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.exp(A[vi, vj]) + T.sqrt(T.float32(1) + A[vi, vj] * A[vi, vj])
''',
}
TRIALS = {"matmul": 12, "exp": 2}  # the second space has no more
TRACKER = "tcp://127.0.0.1:*"


def fail(message, *logs):
    print("FAILED:", message)
    for log in logs:
        with open(log, encoding="utf-8", errors="replace") as file:
            print(f"--- {log}\n{file.read()}")
    sys.exit(1)


def start(log, *words, **more):
    with open(log, "a", encoding="utf-8") as file:
        return subprocess.Popen(words, stderr=file, stdin=subprocess.DEVNULL, text=True, **more)


def tune(build, address, name, directory):
    program, db = os.path.join(directory, f"{name}.py"), os.path.join(directory, f"{name}.db")
    with open(program, "w", encoding="utf-8") as file:
        file.write(PROGRAMS[name])
    done = subprocess.run(
        [f"{build}/hone", "tune", program, "--db", db, "--tracker", address, "--insecure",
         "--device-key", "board", "--threads", "1", "--trials", str(TRIALS[name]), "--no-report", "--json"],
        capture_output=True, text=True, timeout=600)
    if done.returncode:
        fail(f"tune {name}: exit {done.returncode}\n{done.stdout}{done.stderr}",
             f"{directory}/runner.log", f"{directory}/tracker.log")
    shown = subprocess.run(
        [f"{build}/hone", "db", "sql", db, "--json",
         "SELECT outcome, count(*) AS n, max(message) AS example, min(target) AS target, "
         "min(device) AS device FROM v_trials GROUP BY outcome"],
        capture_output=True, text=True, timeout=60, check=True).stdout
    rows = json.loads(shown)
    print(name, shown)
    if [row["outcome"] for row in rows] != ["ok"] or rows[0]["n"] < TRIALS[name] // 2:
        fail(f"{name}: not all trials are good", f"{directory}/runner.log")
    if "aarch64" not in rows[0]["target"]:
        fail(f"{name}: measured for another target")


def main():
    build, emulator = os.path.abspath(sys.argv[1]), sys.argv[2]
    board = os.path.join(build, "aarch64", "hone-runner")
    processes = []
    with tempfile.TemporaryDirectory() as directory:
        try:
            processes.append(start(f"{directory}/tracker.log", f"{build}/hone", "tracker",
                                   "--listen", TRACKER, "--insecure", stdout=subprocess.PIPE))
            address = processes[0].stdout.readline().split()[0]
            processes.append(start(f"{directory}/runner.log", emulator, board, "--tracker", address,
                                   "--insecure", "--unsandboxed", "--launcher", emulator, "--device-key", "board",
                                   "--cache", f"{directory}/cache", "--quiet", "none", "--verbose"))
            for name in PROGRAMS:
                tune(build, address, name, directory)
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait()


if __name__ == "__main__":
    main()
