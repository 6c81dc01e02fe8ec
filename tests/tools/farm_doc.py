#!/usr/bin/env python3
"""docs/farm.md, word by word, in an empty directory: farm_doc.py BUILD_DIR. Exit 77 = skipped.

Its shell blocks run as one script. Two things differ from what a person does: the ports are free
ones, and where the page says "sleep 2" the script waits for what the page waits for.
"""
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PRELUDE = """set -e
sleeps=0
sleep() {
    sleeps=$((sleeps + 1))
    if [ $sleeps = 1 ]; then until [ -s tracker/hone.pub ]; do command sleep 0.1; done
    else until hone farm status | grep -q board/0; do command sleep 0.2; done; fi
}
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def expect(condition, what):
    if not condition:
        sys.exit(what)


def main():
    build = os.path.abspath(sys.argv[1])
    env = dict(os.environ, PATH=build + os.pathsep + os.environ["PATH"], LC_ALL="C.UTF-8")
    for name in ("HONE_TRACKER", "HONE_TRACKER_KEY", "HONE_KEY_FILE"):
        env.pop(name, None)
    with open(SOURCE + "/docs/farm.md", encoding="utf-8") as page:
        text = page.read()
    blocks = re.findall(r"```sh\n(.*?)```", text, re.S)
    program = re.search(r"```python\n(.*?)```", text, re.S).group(1)
    script = PRELUDE + "".join(blocks)
    for written, free in zip(("9190", "9191"), free_ports(2)):
        script = script.replace(f"127.0.0.1:{written}", f"127.0.0.1:{free}")
    with tempfile.TemporaryDirectory() as here:
        env["TMPDIR"] = here
        with open(here + "/model.py", "w", encoding="utf-8") as out:
            out.write(program)
        with open(here + "/log", "w+", encoding="utf-8") as log:
            shell = subprocess.Popen(["sh", "-c", script], cwd=here, env=env, text=True,
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
                                     start_new_session=True)
            try:
                code = shell.wait(timeout=250)
            except subprocess.TimeoutExpired:
                code = "a hang"
            os.killpg(shell.pid, signal.SIGTERM)  # tracker and runner, which it has left behind
            said = shell.communicate(timeout=60)[0]
            log.seek(0)
            errors = log.read()
    expect(code == 0, f"the page ends with {code}:\n{said}\n{errors}")
    for what in (r"is allowed as tuner, called alice", r"board/0 +demo +idle", r"gets nothing new",
                 r"gets work again", r"is cut off", r"is not allowed any longer", r"alice"):
        expect(re.search(what, said), f"'{what}' was not said:\n{said}\n{errors}")


if __name__ == "__main__":
    main()
