"""What TVM calls the operators of graph programs that Hone has rows for (ir/ops/graph_ops.def).

    python signatures.py [--update] [--out DIR]

Compares tests/ir/ops/tvm_operators.txt, by which test_graph_ops holds the rows, with this TVM; --update
writes it anew. Exit code 1: they differ.
"""
import argparse
import difflib
import inspect
import os
import re
import sys

from tvm.script.parser import relax

from hone_cli import ROOT

FILE = os.path.join(ROOT, "tests", "ir", "ops", "tvm_operators.txt")
HEAD = "# Operators of TVM 0.27's R, with their defaults, by tests/peer/signatures.py --update.\n"


def spelling(default):
    """A default as graph_ops.def writes it: True is 1, equal numbers are one."""
    if isinstance(default, tuple):
        return spelling(default[0]) if len(set(default)) == 1 else "?"
    text = repr(int(default) if isinstance(default, bool) else default)
    return text.strip("'").replace("e-0", "e-")


def signature(name):
    function = relax
    for part in name.split("."):
        function = getattr(function, part, None)
    if function is None:
        return name + " is none\n"
    params = inspect.signature(inspect.unwrap(function)).parameters.values()
    words = [p.name if p.default is p.empty else f"{p.name}={spelling(p.default)}" for p in params]
    return " ".join([name] + words) + "\n"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--update", action="store_true")
    options.add_argument("--out")
    args = options.parse_args()
    with open(os.path.join(ROOT, "ir", "ops", "graph_ops.def"), encoding="utf-8") as file:
        names = re.findall(r'HONE_GRAPH_OP\("([^"]+)"', file.read())
    want = [HEAD] + [signature(name) for name in names]
    if args.update:
        with open(FILE, "w", encoding="utf-8") as file:
            file.writelines(want)
        return 0
    with open(FILE, encoding="utf-8") as file:
        lines = list(difflib.unified_diff(file.readlines(), want, FILE, "TVM"))
    sys.stdout.writelines(lines)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
