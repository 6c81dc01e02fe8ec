#!/usr/bin/env python3
"""The documentation in a browser: docs_browser.py BUILD_DIR [PICTURES_DIR]. Exit 77 = no Chromium.

Makes the site, looks at its pages in headless Chromium at three widths in both themes (contrast,
overlaps, labels), and searches: the first answers are the sections that people mean. Pictures go to
PICTURES_DIR (default: BUILD_DIR/page).
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from page_browser import SOURCE, WIDTHS, browse, expect, probe_result, put_probe

MEANT = {  # words to where one of the first answers leads
    "compute_at": "primitives.html#compute_at",
    "torch.compile": "python.html#torchcompile",
    "confirmed records": "database.html",
    "NonMaxSuppression": "operators.html",
    "slurm": "clusters.html#slurm",
    "hone serve": "verbs.html#hone-serve",
    "trials tune callback": "python",
}
PAGES = ("index", "python", "primitives", "verbs")
SCHEMES = {"light": 1, "dark": 0}


def check_answers(answers):
    for words, place in MEANT.items():
        first = answers[words][:5]
        expect(any(link.startswith(place) for link in first), f"'{words}' leads to {first}, not to {place}")


def check(site, page, width, theme, pictures, profile):
    probed = f"{site}/probed.html"
    put_probe(f"{site}/{page}.html", probed, "docs_probe.js", before=f"const WANTED = {json.dumps(list(MEANT))};")
    scheme = f"--blink-settings=preferredColorScheme={SCHEMES[theme]}"
    result = probe_result(browse(profile, f"file://{probed}", width, scheme, "--dump-dom"), f"{page}, {width} px, {theme}")
    expect(result["contrast"]["texts"] > 50 and result["contrast"]["least"] >= 4.5, f"{page}: {result['contrast']}")
    expect(result["none"] == "no sections", f"{page}: {result['none']}")
    check_answers(result["answers"])
    browse(profile, f"file://{site}/{page}.html?q=compute_at", width, scheme,
           f"--screenshot={pictures}/docs-{page}-{width}-{theme}.png", height=1600)
    return result["contrast"]["least"]


def main():
    if not shutil.which("chromium") or not shutil.which("cmark-gfm"):
        print("skipped: there is no chromium or no cmark-gfm (scripts/setup --full)")
        sys.exit(77)
    build = os.path.abspath(sys.argv[1])
    pictures = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else build + "/page"
    os.makedirs(pictures, exist_ok=True)
    with tempfile.TemporaryDirectory() as site:
        subprocess.run([sys.executable, SOURCE + "/../../scripts/docs_site.py", build + "/hone", site], check=True)
        for page in PAGES:
            least = min(check(site, page, width, theme, pictures, site + "/profile") for width in WIDTHS for theme in SCHEMES)
            print(f"{page}: least contrast {least:.2f}")


if __name__ == "__main__":
    main()
