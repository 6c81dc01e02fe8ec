#!/usr/bin/env python3
"""The page in a browser: page_browser.py BUILD_DIR [PICTURES_DIR]. Exit 77 = no Chromium.

Opens the page of `hone report` in headless Chromium with page_probe.js behind it, at three widths in
both themes: figures in its tables are those of `hone db --json`, texts have contrast, nothing
overlaps, sorting, filtering, keys and links work. Opens `hone serve` as well. Pictures go to
PICTURES_DIR (default: BUILD_DIR/page); they are for people to look at.
"""
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from page_support import figures, hone, make_database
from serve_stories import Server

WIDTHS = (390, 1280, 2560)
SOURCE = os.path.dirname(os.path.abspath(__file__))


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def read(path):
    with open(path, encoding="utf-8") as text:
        return text.read()


def browse(profile, address, width, *args, height=1200):
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
               "--disable-extensions", "--no-first-run", f"--user-data-dir={profile}", f"--window-size={width},{height}",
               "--virtual-time-budget=5000", *args, address]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    expect(done.returncode == 0, f"chromium: {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def digits(value):
    """As digits() in text.js: four significant ones."""
    return repr(float(f"{value:.4g}")).removesuffix(".0")


def time_text(ns):
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns >= size:
            return f"{digits(ns / size)} {unit}"
    return f"{digits(ns)} ns"


def check_figures(shown, want):
    rows = {(row[0], row[1]): row for row in shown["tasks"]}
    expect(len(rows) == len(want["tasks"]), f"{len(rows)} tasks are shown")
    for task in want["tasks"]:
        row = rows[task["task"], task["shapes"]]
        expect(row[5] == time_text(task["best_ns"]), f"{task['task']}: the page has {row[5]}, hone db {task['best_ns']}")
        expect(row[7] == digits(task["flops"] / task["best_ns"]), f"{task['task']}: GFLOPS {row[7]}")
        expect([int(n.replace(",", "")) for n in row[8:11]] == [task["trials"], task["failed"], task["confirmed"]], f"{row}")
    stats = want["stats"]
    expect([int(n.replace(",", "")) for n in shown["facts"][:4]] == [stats["trials"], stats["ok"], stats["failed"], stats["confirmed"]],
           f"overview: {shown['facts']}")
    expect(sorted((row[0], row[1], int(row[2])) for row in shown["failures"]) ==
           sorted((f["outcome"], f["task"], f["count"]) for f in want["failures"]), "failures")
    expect({row[0] for row in shown["sessions"]} == {s["session"][:8] for s in want["sessions"]}, "sessions")


def put_probe(page, probed, script, before=""):
    """A copy of a page with what all probes have and a script behind it."""
    scripts = before + read(SOURCE + "/probe_looks.js") + read(f"{SOURCE}/{script}")
    text = read(page).replace("</body>", f"<script>{scripts}</script></body>")
    with open(probed, "w", encoding="utf-8") as out:
        out.write(text)


def probe_result(dom, where):
    """What a probe left; it has found nothing."""
    found = re.search(r'<pre id="probe">(.*?)</pre>', dom, re.S)
    expect(found, f"the page does not come to its end, {where}: {dom[-300:]}")
    result = json.loads(html.unescape(found.group(1)))
    expect(not result["findings"], f"{where}:\n" + "\n".join(result["findings"][:40]))
    return result


def probe(profile, page, width, theme):
    dom = browse(profile, f"file://{page}#theme={theme}", width, "--dump-dom")
    result = probe_result(dom, f"{width} px, {theme}")
    expect(result["contrast"]["texts"] > 100 and result["contrast"]["least"] >= 4.5, f"{result['contrast']}")
    expect(result["opened"] and all(charts >= 2 for _, _, charts in result["opened"]), f"{result['opened']}")
    print(f"{width} px, {theme}: {result['contrast']['texts']} texts, least contrast {result['contrast']['least']:.2f}")
    return result["figures"]


def main():
    if not shutil.which("chromium"):
        print("skipped: there is no chromium (scripts/setup --full)")
        sys.exit(77)
    build = os.path.abspath(sys.argv[1])
    pictures = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else build + "/page"
    os.makedirs(pictures, exist_ok=True)
    with tempfile.TemporaryDirectory() as here:
        path, page, probed = here + "/made.db", here + "/page.html", here + "/probed.html"
        make_database(build, path)
        hone(build, "report", path, "-q", "-o", page)
        put_probe(page, probed, "page_probe.js")
        want = figures(build, path)
        for width in WIDTHS:
            for theme in ("light", "dark"):
                check_figures(probe(here + "/profile", probed, width, theme), want)
                browse(here + "/profile", f"file://{page}#theme={theme}", width,
                       f"--screenshot={pictures}/{width}-{theme}.png", height=7000 if width < 500 else 4200)
        with Server(build, "--db", path) as server:
            dom = browse(here + "/profile", server.said["url"] + "#record=7", 1280, "--dump-dom")
            expect("live, as of" in dom and f"{want['stats']['trials']:,}" in dom, "hone serve in a browser")
            expect("Copy the trace" in dom, "a record that is asked for")


if __name__ == "__main__":
    main()
