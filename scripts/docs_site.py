#!/usr/bin/env python3
"""The documentation as a site: docs_site.py HONE OUTPUT_DIR (`make docs`).

README.md, docs/*.md and the reference pages of docs_reference.py become HTML by cmark-gfm (Debian),
each with the list of pages. Links between pages lead to pages; those to other files of the source
stay as text. It fails when a link or an anchor leads nowhere. The search (docs/site/search.js) reads an
index of all sections that is made here; nothing comes from elsewhere.
"""
import html
import json
import os
import re
import shutil
import subprocess
import sys

import docs_reference

ROOT = docs_reference.ROOT
GROUPS = (
    ("Begin", ("index", "tutorial", "howto", "python", "farm")),
    ("Reference", ("verbs", "primitives", "c", "python_reference", "operators", "database", "files", "glossary")),
    ("Background", ()),  # whatever else there is
)


def sources(hone):
    """Page name to (where it stands, Markdown)."""
    found = {"index": ("README.md", docs_reference.read(ROOT + "/README.md"))}
    for name in sorted(os.listdir(ROOT + "/docs")):
        if name.endswith(".md"):
            found[name[:-3]] = ("docs/" + name, docs_reference.read(f"{ROOT}/docs/{name}"))
    for name, make in docs_reference.PAGES.items():
        found[name[:-3]] = ("docs/" + name, make(hone))
    return found


def render(markdown):
    done = subprocess.run(["cmark-gfm", "-e", "table", "-e", "autolink"], input=markdown, capture_output=True, text=True, check=True)
    return done.stdout


# ---- headings ----


def slug(text, taken):
    """As GitHub makes them, which links in the pages rely on."""
    name = re.sub(r"[^\w\- ]", "", html.unescape(re.sub(r"<[^>]+>", "", text)).lower()).strip().replace(" ", "-")
    count = taken.get(name, 0)
    taken[name] = count + 1
    return f"{name}-{count}" if count else name


def add_ids(body):
    taken = {}
    return re.sub(r"<h([1-6])>(.*?)</h\1>", lambda m: f'<h{m[1]} id="{slug(m[2], taken)}">{m[2]}</h{m[1]}>', body, flags=re.S)


def frame_tables(body):
    """Tables scroll within a region of their own, which has the name of the section."""
    section = ""

    def frame(match):
        nonlocal section
        if match[1]:
            section = match[1]
        if match[0] == "<table>":
            return f'<div class="scroll" tabindex="0" role="region" aria-labelledby="{section}"><table aria-labelledby="{section}">'
        return match[0] + ("</div>" if match[0] == "</table>" else "")
    return re.sub(r'<h[1-6] id="([^"]*)"|</?table>', frame, body)


# ---- links ----


def target_of(link, place, pages):
    """Where a link leads in the site; None: to a file of the source."""
    if re.match(r"[a-z]+:", link):
        return link
    path, _, anchor = link.partition("#")
    if not path:
        return link
    whole = os.path.normpath(os.path.join(os.path.dirname(place), path))
    if whole in pages:
        return pages[whole] + ".html" + (f"#{anchor}" if anchor else "")
    if not os.path.exists(f"{ROOT}/{whole}"):
        sys.exit(f"{place}: the link to {link} leads nowhere")
    return None


def relink(body, place, pages):
    def one(match):
        to = target_of(html.unescape(match[1]), place, pages)
        return f'<a href="{html.escape(to)}">{match[2]}</a>' if to else match[2]

    return re.sub(r'<a href="([^"]*)">(.*?)</a>', one, body, flags=re.S)


def check_anchors(bodies):
    ids = {name: set(re.findall(r' id="([^"]+)"', body)) for name, body in bodies.items()}
    for name, body in bodies.items():
        for page, anchor in re.findall(r'href="([\w.]*?)(?:\.html)?#([^"]+)"', body):
            if anchor not in ids.get(page or name, ()):
                sys.exit(f"{name}: there is no #{anchor} in {page or name}")


# ---- search ----


def plain(body):
    text = html.unescape(re.sub(r"<[^>]+>", " ", body))
    return re.sub(r"\s+", " ", text).strip()


def sections(name, title, body):
    """Rows of the index: page, anchor, title of the page, of the section, its text."""
    parts = re.split(r'<h[1-6] id="([^"]+)">(.*?)</h[1-6]>', body, flags=re.S)
    rows = [[name, "", title, title, plain(parts[0])]] if plain(parts[0]) else []
    for anchor, heading, text in zip(parts[1::3], parts[2::3], parts[3::3]):
        rows.append([name, anchor, title, plain(heading), plain(text)])
    return rows


def put_index(bodies, titles, output):
    rows = [row for name, body in bodies.items() for row in sections(name, titles[name], body)]
    with open(output + "/search_index.js", "w", encoding="utf-8") as out:
        out.write("window.honeIndex = " + json.dumps(rows, ensure_ascii=False, separators=(",", ":")) + ";\n")
    shutil.copy(ROOT + "/docs/site/search.js", output)


# ---- pages ----


def title_of(markdown):
    return re.search(r"^# (.*)", markdown, re.M)[1].strip().replace("`", "")


def list_pages(titles, current):
    named = [name for _, names in GROUPS for name in names]
    text = ""
    for group, names in GROUPS:
        rows = "".join(f'<li><a href="{name}.html"{" aria-current=page" if name == current else ""}>{html.escape(titles[name])}</a></li>\n'
                       for name in names or sorted(set(titles) - set(named)))
        text += f'<p id="{slug(group, {})}-pages">{group}</p>\n<ul aria-labelledby="{slug(group, {})}-pages">\n{rows}</ul>\n'
    return text


def main():
    hone, output = sys.argv[1], sys.argv[2]
    if not shutil.which("cmark-gfm"):
        print("docs: there is no cmark-gfm (scripts/setup installs it)", file=sys.stderr)
        sys.exit(77)
    pages = sources(hone)
    places = {place: name for name, (place, _) in pages.items()}
    titles = {name: title_of(text) for name, (_, text) in pages.items()}
    bodies = {name: relink(add_ids(render(text)), place, places) for name, (place, text) in pages.items()}
    check_anchors(bodies)
    os.makedirs(output, exist_ok=True)
    template = docs_reference.read(ROOT + "/docs/site/page.html")
    for name, body in bodies.items():
        slots = {"title": html.escape(titles[name]), "pages": list_pages(titles, name), "body": frame_tables(body)}
        with open(f"{output}/{name}.html", "w", encoding="utf-8") as out:
            out.write(re.sub(r"@\{(\w+)\}", lambda m, s=slots: s[m[1]], template))
    shutil.copy(ROOT + "/docs/site/site.css", output)
    put_index(bodies, titles, output)
    print(f"{len(bodies)} pages in {output}")


if __name__ == "__main__":
    main()
