#!/usr/bin/env python3
"""Runs golden tests of the command line: run.py [--update] BUILD_DIR FILE.test...

A .test file is a comment, commands, files, and what the commands print (stdout and stderr together):

    # verify names the place
    $ hone verify bad.py
    ==== bad.py
    ...
    ==== expect
    bad.py:3:5: error: ...
    [exit 1]

The commands run in an empty directory that holds the files, with BUILD_DIR first in PATH, SRC set to
the checkout, and stop at nothing: an exit code that is not 0 shows as a line. With --update the
expected text is written anew: review it like code. A line "# needs: COMMAND" skips the test (exit
77) where the command fails; "# seconds: N" lets each command take so long on a busy machine.
"""
import difflib
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SKIPPED = 77
NOT_FOUND = re.compile(r"^sh: \d+: (.*): not found$", re.M)  # a command, says the shell


def read(path):
    sections, name = {"": []}, ""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("==== "):
                name = line[5:].strip()
                sections[name] = []
            else:
                sections[name].append(line)
    return {name: "".join(lines) for name, lines in sections.items()}


def run(command, directory, build, seconds=100):
    env = dict(os.environ, PATH=build + os.pathsep + os.environ["PATH"], SRC=SOURCE, BUILD=build,
               LC_ALL="C.UTF-8", NO_COLOR="1", TMPDIR=directory)
    done = subprocess.run(["sh", "-c", command], cwd=directory, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds)
    text = done.stdout.decode("utf-8", "backslashreplace")
    text = text.replace(directory, "TMP").replace(SOURCE, "SRC")
    if text and not text.endswith("\n"):
        text += "\n"
    return text, done.returncode


def check(path, build, update):
    sections = read(path)
    head = sections[""].splitlines()
    with tempfile.TemporaryDirectory() as directory:
        for name, text in sections.items():
            if name not in ("", "expect"):
                with open(os.path.join(directory, name), "w", encoding="utf-8") as out:
                    out.write(text)
        for line in head:
            if line.startswith("# needs: ") and run(line[9:], directory, build)[1] != 0:
                print(f"{path}: skipped: {line[9:]} fails")
                return SKIPPED
        got, limit = "", [int(line[11:]) for line in head if line.startswith("# seconds: ")]
        for line in head:
            if line.startswith("$ "):
                text, code = run(line[2:], directory, build, *limit)
                absent = NOT_FOUND.search(text) if update else None
                if absent:
                    print(f"{path}: not updated: {absent.group(1)} is not there, build or install it first")
                    return 1
                got += text + (f"[exit {code}]\n" if code else "")
    if got == sections.get("expect", ""):
        return 0
    if update:
        with open(path, encoding="utf-8") as old:
            before = old.read().split("==== expect\n")[0]
        with open(path, "w", encoding="utf-8") as out:
            out.write(before + "==== expect\n" + got)
        print(f"{path}: updated")
        return 0
    sys.stdout.writelines(difflib.unified_diff(sections.get("expect", "").splitlines(True),
                                               got.splitlines(True), "expected", "got"))
    print(f"{path}: differs")
    return 1


def main():
    args = sys.argv[1:]
    update = "--update" in args
    args = [a for a in args if a != "--update"]
    codes = [check(path, os.path.abspath(args[0]), update) for path in args[1:]]
    return max((c for c in codes if c != SKIPPED), default=SKIPPED) if codes else 2


if __name__ == "__main__":
    sys.exit(main())
