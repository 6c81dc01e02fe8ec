#!/usr/bin/env python3
"""docs/tutorial.md and docs/howto.md, word by word: tutorial.py BUILD_DIR. Exit 77 = skipped.

The shell blocks of both pages run as one script in an empty directory beside examples/ and tests/;
Python blocks that begin with "# NAME.py" are files. What differs from what a person does: tunes have
few trials, the port is a free one, and "sleep 2" waits for what the page waits for.
"""
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = ("tutorial.md", "howto.md")
TRIALS = 6
PRELUDE = """set -e
sleep() { until hone farm status --tracker tcp://127.0.0.1:PORT --insecure | grep -q board/0; do command sleep 0.2; done; }
"""
SAID = (r"^hone \d", r"fused_matmul_add_relu", r"wrote out/report\.html", r"wrote out/model\.so", r"kernel\.py: well formed",
        r"sch\.split", r"board/0", r"wrote out/vector_add\.ptx", r"wrote out/vector_add\.cu", r"thread_binding",
        r"best_gflops", r"\"match\": \"exact\"", r"new trials in")


def read_pages():
    script, files = "", {}
    for name in PAGES:
        with open(f"{SOURCE}/docs/{name}", encoding="utf-8") as page:
            text = page.read()
        script += "".join(re.findall(r"```sh\n(.*?)```", text, re.S))
        files.update({block.split()[1]: block for block in re.findall(r"```python\n(# \w+\.py\n.*?)```", text, re.S)})
    return script, files


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return str(s.getsockname()[1])


def prepare(script, here):
    """The script as it runs here, and why it cannot, if so."""
    if not os.path.exists("/usr/share/datasets/fashion-mnist"):
        return script, "there is no dataset-fashion-mnist"
    os.symlink(SOURCE + "/examples", here + "/examples")
    os.symlink(SOURCE + "/tests", here + "/tests")
    script = re.sub(r"--trials \d+", f"--trials {TRIALS}", script).replace("--time 2s", "--time 200ms")
    return script, None


def run(script, here, env):
    with open(here + "/said", "w+", encoding="utf-8") as said:
        shell = subprocess.Popen(["sh", "-c", script], cwd=here, env=env, stdin=subprocess.DEVNULL,
                                 stdout=said, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code = shell.wait(timeout=500)
        except subprocess.TimeoutExpired:
            code = "a hang"
        try:
            os.killpg(shell.pid, signal.SIGTERM)  # what it left behind
        except ProcessLookupError:
            pass
        said.seek(0)
        return code, said.read()


def main():
    build = os.path.abspath(sys.argv[1])
    script, files = read_pages()
    env = dict(os.environ, PATH=build + os.pathsep + os.environ["PATH"], LC_ALL="C.UTF-8")
    for name in ("HONE_TRACKER", "HONE_TRACKER_KEY", "HONE_KEY_FILE"):
        env.pop(name, None)
    with tempfile.TemporaryDirectory() as here:
        script, reason = prepare(script, here)
        if reason:
            print("skipped:", reason)
            sys.exit(77)
        for name, text in files.items():
            with open(f"{here}/{name}", "w", encoding="utf-8") as out:
                out.write(text)
        port = free_port()
        script = (PRELUDE + script).replace("9190", port).replace("PORT", port)
        code, said = run(script, here, env)
    if code != 0:
        sys.exit(f"FAILED: the pages end with {code}:\n{said[-6000:]}")
    for what in SAID:
        if not re.search(what, said, re.M):
            sys.exit(f"FAILED: '{what}' was not said:\n{said[-6000:]}")


if __name__ == "__main__":
    main()
