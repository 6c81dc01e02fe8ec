#!/usr/bin/env python3
"""Reads every source with clang, for its warnings, as the dev-clang build does but without making
code of it. Generated sources are left out."""
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

COMMANDS = "build/dev-clang/compile_commands.json"


def without_code(command):
    words = shlex.split(command)
    at = words.index("-o")
    return words[:at] + words[at + 2:] + ["-fsyntax-only"]


def read(unit):
    return subprocess.run(without_code(unit["command"]), cwd=unit["directory"], text=True,
                          check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    with open(COMMANDS, encoding="utf-8") as commands:
        units = [u for u in json.load(commands)
                 if not os.path.relpath(u["file"]).startswith("build/")]
    bad = 0
    jobs = int(os.environ.get("JOBS", os.cpu_count()))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for result in pool.map(read, units):
            if result.returncode:
                print(result.stdout)
                bad += 1
    print(f"clang: {len(units)} files, {bad} problems")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
