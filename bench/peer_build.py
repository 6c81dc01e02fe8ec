"""The other side of bench_build: TVM compiles the program that a candidate's trace made.

Reads lines from standard input, answers each with one line:
    build FILE MCPU     the scheduled program's text; answers the seconds from program to loaded function
The text is parsed before the clock starts.
"""
import sys
import time

import tvm
from tvm.script import from_source


def build(path, mcpu):
    with open(path, encoding="utf-8") as file:
        func = from_source(file.read())
    mod = func if isinstance(func, tvm.IRModule) else tvm.IRModule({"main": func})
    target = tvm.target.Target({"kind": "llvm", "mcpu": mcpu, "num-cores": 2})
    start = time.perf_counter()
    loaded = tvm.compile(mod, target=target)["main"]
    seconds = time.perf_counter() - start
    del loaded
    return seconds


def main():
    for line in sys.stdin:
        words = line.split()
        try:
            text = f"{build(words[1], words[2]):.9f}"
        except Exception as error:  # the bench goes on without this candidate
            text = "error " + str(error).replace("\n", " ")[:200]
        print(text, flush=True)


main()
