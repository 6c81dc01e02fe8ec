#!/usr/bin/env python3
"""Compiles every header of the rooms alone: each must bring what it needs."""
import concurrent.futures
import json
import os
import re
import subprocess
import sys

COMMANDS = "build/dev/compile_commands.json"
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only",
         "-I.", "-Iinclude", "-Ibuild/dev/gen", "-x", "c", "-"]


os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))


def system_includes():
    """Where the dev build finds third-party headers that are not in /usr/include."""
    if not os.path.exists(COMMANDS):
        return []
    with open(COMMANDS, encoding="utf-8") as commands:
        found = {m for unit in json.load(commands)
                 for m in re.findall(r"-isystem (\S+)", unit["command"])}
    return [flag for path in sorted(found) for flag in ("-isystem", path)]


def compile_alone(path):
    # twice: the include guard works; the declaration keeps the unit from being empty
    source = f'#include "{path}"\n#include "{path}"\ntypedef int not_empty;\n'
    return path, subprocess.run(["gcc", *SYSTEM, *FLAGS], input=source, text=True, check=False,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


SYSTEM = system_includes()


def main():
    headers = subprocess.run(["git", "ls-files", "*.h"], text=True, check=True,
                             stdout=subprocess.PIPE).stdout.split()
    headers = [h for h in headers if os.path.exists(h) and not h.startswith(("examples/", "bench/"))]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, result in pool.map(compile_alone, headers):
            if result.returncode:
                print(f"{path}: does not compile alone\n{result.stdout}")
                bad += 1
    print(f"headers: {len(headers)} files, {bad} problems")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
