"""The reference pages of the documentation, made from the code: what docs_site.py asks for.

Each function gives a page as Markdown. Verbs are what --help says; primitives are the methods of
the Python package with the first case of the golden tests that ends with each, so that what is shown
before and after is what a test checks; C is the comments and declarations of the public headers;
Python is signatures and docstrings.
"""
import ast
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GOLDEN = ROOT + "/tests/schedule/primitive/golden"
OLD_NAMES = {"get_block": "get_sblock"}


def read(path):
    with open(path, encoding="utf-8") as text:
        return text.read()


def fenced(text, language=""):
    return f"```{language}\n{text.rstrip()}\n```\n\n"


# ---- verbs ----


def help_of(hone, *verb):
    return subprocess.run([hone, *verb, "--help"], capture_output=True, text=True, check=True).stdout


def verbs_of(text):
    return re.findall(r"^  ([a-z]+) +\S", text, re.M)


def verbs(hone):
    page = "# Verbs\n\nWhat `hone VERB --help` says.\n\n"
    for verb in verbs_of(help_of(hone)):
        text = help_of(hone, verb)
        page += f"## hone {verb}\n\n" + fenced(text)
        if verb in ("db", "farm"):
            for below in verbs_of(text):
                page += f"### hone {verb} {below}\n\n" + fenced(help_of(hone, verb, below))
    return page


# ---- primitives ----


def golden_programs():
    text = read(GOLDEN + "/programs.txt")
    return dict(re.findall(r"^==== program (\S+)\n(.*?)(?=^==== |\Z)", text, re.M | re.S))


def golden_cases():
    """(program, steps, what comes out) of each case that is not refused, files in order."""
    for name in sorted(os.listdir(GOLDEN)):
        cases = re.findall(r"^==== case .*?\n(.*?)^==== expect\n(.*?)(?=^==== |\Z)", read(f"{GOLDEN}/{name}"), re.M | re.S)
        for asked, made in cases:
            program = re.match(r"program: (\S+)\n", asked)
            if program and not made.startswith("refused"):
                yield program.group(1), asked[program.end():], made


def examples():
    """The shortest case that ends with each primitive."""
    found = {}
    for program, steps, made in golden_cases():
        call = re.match(r"(?:[\w, ]+= *)?sch\.(\w+)\(", steps.strip().splitlines()[-1]) if steps.strip() else None
        if not call:
            continue
        name = OLD_NAMES.get(call[1], call[1])
        if name not in found or len(steps) + len(made) < sum(map(len, found[name][1:])):
            found[name] = (program, steps, made)
    return found


def signature(function):
    arguments = ast.unparse(function.args).removeprefix("self").lstrip(", ")
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return f"{function.name}({arguments}){returns}"


def primitives(_):
    tree = ast.parse(read(ROOT + "/python/src/hone/_primitives.py"))
    shown, programs = examples(), golden_programs()
    page = ("# Primitives\n\nThe steps of a schedule, as methods of `sch`, with TVM's names, arguments and defaults. Each with the shortest case of "
            "the tests that ends with it: a program, what is done, what comes of it.\n\n")
    methods = [m for c in tree.body if isinstance(c, ast.ClassDef) for m in c.body
               if isinstance(m, ast.FunctionDef) and not m.name.startswith("_")]
    for method in methods:
        page += f"## {method.name}\n\n" + fenced(signature(method), "python")
        if method.name in shown:
            program, steps, made = shown[method.name]
            if program in programs:
                page += "Before:\n\n" + fenced(programs[program], "python")
            page += "Steps:\n\n" + fenced(steps, "python") + "After:\n\n" + fenced(made, "python")
    return page


# ---- C ----


def c_headers(_):
    page = "# C interface\n\nThe public headers of `libhone.so`; `pkg-config hone`. [examples/capi](../examples/capi/) has programs.\n\n"
    for name in sorted(os.listdir(ROOT + "/include/hone")):
        if name.endswith(".h"):
            text = re.sub(r"^#(ifndef|define) HONE_\w+_H\n|^#endif.*\n|^HONE_(BEGIN|END)_DECLS\n", "", read(f"{ROOT}/include/hone/{name}"), flags=re.M)
            page += f"## hone/{name}\n\n" + fenced(text.strip(), "c")
    return page


# ---- Python ----


def documented(node, prefix):
    """Lines for a class or function, and what is in it; what begins with _ is not for users."""
    if node.name.startswith("_") and node.name != "__call__":
        return ""
    text = ast.get_docstring(node) or ""
    if isinstance(node, ast.ClassDef):
        inner = "".join(documented(n, f"{node.name}.") for n in node.body if isinstance(n, (ast.ClassDef, ast.FunctionDef)))
        return f"### class {node.name}\n\n{fenced(text) if text else ''}{inner}"
    return f"#### {prefix}{node.name}\n\n" + fenced(signature(node), "python") + (fenced(text) if text else "")


def python(_):
    page = "# Python interface\n\n[Hone from Python](python.md) tells how it is used; the steps of schedules are in [primitives](primitives.md).\n\n"
    folder = ROOT + "/python/src/hone"
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py") and not name.startswith("_"):
            tree = ast.parse(read(f"{folder}/{name}"))
            page += f"## hone.{name[:-3]}\n\n" + (fenced(ast.get_docstring(tree)) if ast.get_docstring(tree) else "")
            page += "".join(documented(n, "") for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef)))
    return page


PAGES = {"verbs.md": verbs, "primitives.md": primitives, "c.md": c_headers, "python_reference.md": python}
