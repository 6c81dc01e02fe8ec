#!/usr/bin/env python3
"""`hone serve` and those who ask it: serve_stories.py BUILD_DIR STORY."""
import http.client
import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

from page_support import DEMO, compare_data, hone, hone_json, make_database

TOKEN = "a-token_of-12345"


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


class Server:
    """A running `hone serve`; ends with the block."""

    def __init__(self, build, *args):
        self.process = subprocess.Popen([build + "/hone", "serve", "--port", "0", "--json", *args],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        said = ""
        while not said.endswith("}\n"):
            line = self.process.stdout.readline()
            expect(line, f"it ends at once: {self.process.stderr.read() if not line else ''}")
            said += line
        self.said = json.loads(said)
        self.host, _, self.port = self.said["address"].rpartition(":")

    def get(self, path, method="GET", **headers):
        connection = http.client.HTTPConnection(self.host, int(self.port), timeout=60)
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read().decode("utf-8", "replace")
        connection.close()
        return answer.status, body, dict(answer.getheaders())

    def raw(self, data):
        """What comes back for these bytes within a moment."""
        with socket.create_connection((self.host, int(self.port)), timeout=0.3) as connection:
            try:
                connection.sendall(data)
                return connection.recv(4096)
            except OSError:
                return b""

    def data(self, path="/data.json"):
        status, body, _ = self.get(path)
        expect(status == 200, f"{path}: {status} {body}")
        return json.loads(body)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def story_pages(build, here):
    path = here + "/made.db"
    make_database(build, path)
    with Server(build, "--db", path, "--db", DEMO) as server:
        status, page, headers = server.get("/")
        expect(status == 200 and headers["Content-Type"].startswith("text/html"), "the page")
        expect('id="data">null<' in page and headers["Cache-Control"] == "no-store", "the page has no data of its own")
        data = server.data()
        expect(len(data["databases"]) == 2 and data["farm"] is None, "two databases, no farm")
        for db, where in zip(data["databases"], (path, DEMO)):
            problems = compare_data(build, where, db)
            expect(not problems, "\n".join(problems))
            expect(not db["records"], "records are asked for")
        expect("databases" not in server.data(f"/data.json?tag={data['tag']}"), "nothing new")
        for number in (1, 7, 200):
            expect(server.data(f"/record.json?db=0&record={number}") == hone_json(build, "db", "show", path, str(number)), "a record")
        uid = data["databases"][1]["tasks"][0]["top"][0]["uid"]
        expect(server.data(f"/record.json?db=1&record={uid[:9]}") == hone_json(build, "db", "show", DEMO, uid), "a record by its uid")
        server.process.send_signal(signal.SIGINT)
        said, errors = server.process.communicate(timeout=30)
        expect(server.process.returncode == 130 and not said and not errors, f"Ctrl-C: {server.process.returncode} {errors}")


def never_waits(path):
    """Writes without any patience: that somebody reads is no reason to wait."""
    writer = sqlite3.connect(path, timeout=0, isolation_level=None)
    for _ in range(200):
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE session SET owner = owner")
        writer.execute("COMMIT")
    writer.close()


def story_live(build, here):
    """What a writer commits is seen, and a writer never waits for those who look."""
    path, rows = here + "/live.db", hone(build, "db", "export", DEMO).splitlines()
    is_trial = [json.loads(row)["kind"] == "trial" for row in rows]
    first = is_trial.index(True)
    with open(here + "/rows", "w", encoding="utf-8") as out:
        out.write("\n".join(rows[:first + 3]) + "\n")
    hone(build, "db", "import", "-q", path, here + "/rows")
    with Server(build, "--db", path) as server:
        before, stop, failures = server.data(), threading.Event(), []

        def look():
            while not stop.is_set():
                try:
                    server.data()
                except BaseException as failure:  # of a thread: told by the story
                    failures.append(failure)
                    return

        lookers = [threading.Thread(target=look) for _ in range(6)]
        for looker in lookers:
            looker.start()
        for count in range(first + 4, len(rows) + 1, 8):
            with open(here + "/rows", "w", encoding="utf-8") as out:
                out.write("\n".join(rows[:count]) + "\n")
            hone(build, "db", "import", "-q", path, here + "/rows")
        never_waits(path)
        stop.set()
        for looker in lookers:
            looker.join()
        expect(not failures, f"a client was let down: {failures}")
        end = time.monotonic() + 60
        while server.data()["databases"][0]["trials"] != hone_json(build, "db", "stats", path)["trials"]:
            expect(time.monotonic() < end, "the news do not come")
            time.sleep(0.1)
        now = server.data()
        expect(now["tag"] != before["tag"] and before["databases"][0]["trials"] == 3, "it began with three trials")


def story_door(build, _):
    with Server(build, "--db", DEMO, "--token", TOKEN) as server:
        expect(server.said["url"].endswith(f"/?token={TOKEN}"), "the address has the token")
        for path in ("/", "/data.json", "/record.json?record=1", "/nothing"):
            for wrong in ({}, {"Authorization": "Bearer " + TOKEN[:-1]}, {"Authorization": TOKEN},
                          {"Authorization": "Bearer " + TOKEN + "5"}, {"Cookie": f"hone_token_1={TOKEN}"},
                          {"Cookie": f"hone_token_{server.port}=" + TOKEN.upper()}):
                status, body, _ = server.get(path, **wrong)
                expect(status == 401 and TOKEN not in body and "databases" not in body, f"{path} with {wrong}: {status}")
        expect(server.get(f"/?token={TOKEN}x")[0] == 401, "a wrong token in the address")
        status, _, headers = server.get(f"/?token={TOKEN}")
        cookie = headers.get("Set-Cookie", "")
        expect(status == 303 and headers["Location"] == "/" and "HttpOnly" in cookie and "SameSite=Strict" in cookie, f"{headers}")
        expect(server.get("/", Cookie=cookie.split(";")[0])[0] == 200, "the cookie opens")
        for scheme in ("Bearer", "bearer"):
            expect(server.get("/data.json", Authorization=f"{scheme} {TOKEN}")[0] == 200, "the header opens")
    with Server(build, "--db", DEMO) as server:
        for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1.evil.example", "localhost.evil", ""):
            expect(server.get("/data.json", Host=host)[0] == 403, f"the host '{host}' is let in")
        for host in ("localhost", "LOCALHOST", f"localhost:{server.port}", "127.0.0.1", "[::1]:80"):
            expect(server.get("/data.json", Host=host)[0] == 200, f"the host '{host}' is not let in")


def story_hostile(build, _):
    """Strange paths, ids and bytes get a clear answer or none; then the server serves on."""
    rows = (("/record.json", 400), ("/record.json?record=", 400), ("/record.json?record=0", 400),
            ("/record.json?record=-1", 400), ("/record.json?record=99999999999999999999", 404),
            ("/record.json?record=1%27%20OR%201=1", 400), ("/record.json?record=..%2f..%2fetc%2fpasswd", 400),
            ("/record.json?record=12345", 404), ("/record.json?db=9&record=597", 404), ("/record.json?db=-1&record=597", 404),
            ("/record.json?db=00&record=597", 404), ("/../../../../etc/passwd", 404), ("/%2e%2e/%2e%2e/etc/passwd", 404),
            ("//etc/passwd", 404), ("/data.json/", 404), ("/DATA.JSON", 404), ("/" + "a" * 1023, 404), ("/" + "a" * 1024, 414),
            ("/data.json?tag=" + "1" * 3000, 200), ("/%00", 200), ("/%ff%fe", 404), ("/?" + "&".join(f"k{i}=v" for i in range(300)), 200))
    with Server(build, "--db", DEMO) as server:
        for path, want in rows:
            status, body, _ = server.get(path)
            expect(status == want, f"{path[:80]}: {status}, not {want}: {body[:200]}")
            expect("root:x:" not in body, f"{path[:80]} shows a file")
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
            expect(server.get("/", method=method)[0] == 405, f"{method} is answered")
        seed = int(os.environ.get("HONE_FIRST_SEED", "3"))
        rng = random.Random(seed)
        good = b"GET /record.json?db=0&record=597 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        for _ in range(200):
            data = bytearray(good)
            for _ in range(rng.randint(1, 6)):
                data[rng.randrange(len(data))] = rng.randrange(256)
            server.raw(bytes(data[:rng.randint(1, len(data))]))
        server.raw(b"GET /" + b"a" * 200000)
        server.raw(b"\0" * 1000)
        expect(server.get("/data.json")[0] == 200 and server.process.poll() is None, f"it does not serve on (seed {seed})")


def story_farm(build, here):
    tracker = subprocess.Popen([build + "/hone", "tracker", "--listen", "tcp://127.0.0.1:*", "--insecure", "-q"],
                               stdout=subprocess.PIPE, text=True)
    try:
        url = tracker.stdout.readline().split()[0]
        with Server(build, "--db", DEMO, "--tracker", url, "--insecure") as server:
            wait_for(lambda: (server.data()["farm"]["status"] or {}).get("slots") == [], "the tracker's answer")
            tracker.kill()
            tracker.wait()
            wait_for(lambda: server.data()["farm"]["trouble"], "that the tracker is gone")
            began = time.monotonic()
            expect(server.data()["databases"], "the page goes on")
            expect(time.monotonic() - began < 60, "who looks does not wait for the tracker")
    finally:
        tracker.kill()
        tracker.communicate()


def wait_for(condition, what):
    end = time.monotonic() + 60
    while not condition():
        expect(time.monotonic() < end, f"{what} does not come")
        time.sleep(0.2)


def main():
    with tempfile.TemporaryDirectory() as here:
        globals()["story_" + sys.argv[2]](os.path.abspath(sys.argv[1]), here)


if __name__ == "__main__":
    main()
