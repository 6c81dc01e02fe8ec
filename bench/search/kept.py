"""Rows that are kept as lines of JSON, and what says which of them may be compared."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import works  # noqa: E402


def cpu_name():
    """Model, and family/model/stepping where the model has no name of its own (virtual machines)."""
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        facts = dict(tuple(map(str.strip, line.split(":", 1))) for line in lines if ":" in line)
    numbers = "/".join(facts.get(key, "?") for key in ("cpu family", "model", "stepping"))
    return f"{facts.get('model name', 'unknown')} ({numbers}), {len(os.sched_getaffinity(0))} cores"


def commit_name():
    done = subprocess.run(["git", "describe", "--always", "--dirty", "--exclude=*"], cwd=works.ROOT,
                          capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def as_path(text):
    """A part of a path that says it."""
    return "".join(c if c.isalnum() else "_" for c in text)


def rows(path):
    """What is complete; the last line may have been cut off."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.endswith("}\n")]


def append(path, row):
    """In one write; behind a line that was cut off comes a new one."""
    text = json.dumps(row) + "\n"
    with open(path, "ab+") as file:
        if file.tell() > 0:
            file.seek(-1, os.SEEK_END)
            text = text if file.read(1) == b"\n" else "\n" + text
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())


def called(words, **options):
    """What a command prints; its errors are ours."""
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False, **options)
    if done.returncode != 0:
        raise RuntimeError(f"exit code {done.returncode}: {' '.join(words)}")
    return done.stdout
