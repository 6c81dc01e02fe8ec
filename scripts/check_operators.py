#!/usr/bin/env python3
"""Writes docs/operators.md from the code: what is read of ONNX.

    scripts/check_operators.py            fails where the page is not what the code says
    scripts/check_operators.py --update   writes the page
    PYTHON scripts/check_operators.py --schemas   writes the table of the standard's operators anew, with
                                          a python that has the newest onnx (scripts/peers onnxruntime)

Operators, attributes and numbers of inputs are those of the tables of converters in graph/frontend;
versions and types those of the standard (onnx/operators.txt there); limits stand in limits.txt
beside it, which may only name what is read.
"""
import glob
import os
import re
import sys
import textwrap

FRONTEND = "graph/frontend"
PAGE = "docs/operators.md"
SCHEMAS = FRONTEND + "/onnx/operators.txt"
LIMITS = FRONTEND + "/onnx/limits.txt"
FAMILY = re.compile(r'^HONE_ONNX_FAMILY\((\w+), +"(.*)"\)', re.M)
TABLE = re.compile(r"^const onnx_converter (\w+)\[\] = \{\n(.*?)^\};", re.M | re.S)
MACRO = re.compile(r"^#define (\w+)(?:\(([\w, ]+)\))? +(.*)$", re.M)
ROW = re.compile(r"\{\s*\"(\w+)\",\s*\w+,\s*(\d+),\s*(\d+),\s*(\w+),\s*((?:\"[^\"]*\"\s*)+),")

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


# ---- the code ----

def expanded(text):
    """The text with its macros put in."""
    text = text.replace("\\\n", " ")
    for name, words, body in MACRO.findall(text):
        if not words:
            text = re.sub(rf"(?<!#define )\b{name}\b", lambda _, b=body: b, text)
            continue
        names = [w.strip() for w in words.split(",")]
        call = rf"(?<!#define )\b{name}\(" + r",\s*".join([r"([^,()]+)"] * len(names)) + r"\)"

        def put_in(found, names=names, body=body):
            values = dict(zip(names, found.groups()))
            return re.sub(r"\w+", lambda w: values.get(w.group(), w.group()), body)
        text = re.sub(call, put_in, text)
    return text


def converters():
    """(domain, operator): (least and most inputs, outputs, attributes)."""
    domains = {f"onnx_{name}_converters": domain
               for name, domain in FAMILY.findall(read(FRONTEND + "/nodes/onnx_families.def"))}
    domains["onnx_flex_converters"] = "ai.onnx.preview"
    domains["onnx_quant_recurrent_converters"] = "com.microsoft"
    found = {}
    for path in sorted(glob.glob(FRONTEND + "/*.c") + glob.glob(FRONTEND + "/nodes/**/*.c", recursive=True)):
        for table, rows in TABLE.findall(expanded(read(path))):
            for op, least, most, outputs, attrs in ROW.findall(rows):
                words = " ".join(re.findall(r"\"([^\"]*)\"", attrs)).split()
                found[domains.get(table, ""), op] = (int(least), int(most), outputs, sorted(words))
    return found


# ---- what stands beside it ----

def schemas():
    """(domain, operator): (versions, types)"""
    found = {}
    for line in read(SCHEMAS).splitlines():
        if line and not line.startswith("#"):
            domain, op, versions, types = (w.strip() for w in line.split("|"))
            found[domain, op] = versions, types
    return found


def limits():
    found = {}
    for line in read(LIMITS).splitlines():
        if line and not line.startswith("#"):
            op, text = line.split(": ", 1)
            found[op] = text
    return found


def takes_strings():
    """Operators that are not of strings alone, but take them."""
    source = read(FRONTEND + "/nodes/strings/onnx_strings.c")
    movers = re.search(r"movers\[\] = \{(.*?)\};", source, re.S).group(1)
    carriers = re.search(r"carriers\[\] = \{(.*?)\};", source, re.S).group(1)
    encoders = re.search(r"encoders\[\] = \{(.*?)\};", source, re.S).group(1)
    forms = re.search(r"forms\[\] = \{(.*?)^\};", source, re.S | re.M).group(1)
    return sorted(re.findall(r'"(\w+)"', movers + carriers + encoders) + re.findall(r'\{"(\w+)"', forms))


# ---- the page ----

HEAD = """# Operators of ONNX

<!-- written by scripts/check_operators.py --update: change the code, or graph/frontend/onnx/limits.txt -->

What is read, from operator set 7 to {newest}; a file of a newer one is told so. Versions are those in which the standard changed the operator: all of
them hold. Types are the standard's, as far as there are such here: *floats* are float16, bfloat16, float32 and float64, *integers* are all of 8 to 64 bits. An
attribute that is not listed is refused by name. What is said of numbers at the edges stands in [numerics.md](numerics.md).

Strings ([files.md](files.md)) go through {strings} as well.

Where an operand must be *known*, it must be a constant, follow from constants or from shapes, or be given: sizes by `--shape`, tensors by `--params`.

"""


def inputs_of(least, most):
    if most == 255:
        return f"{least} …"
    return str(least) if least == most else f"{least}–{most}"


def rows_of(domain, known, of_standard, of_limits):
    lines = ["| operator | versions | inputs | types | attributes | limits |", "|--|--|--|--|--|--|"]
    for (where, op), (least, most, _, attrs) in sorted(known.items()):
        if where != domain:
            continue
        versions, types = of_standard.get((domain, op), ("1", "floats"))
        lines.append(f"| {op} | {versions} | {inputs_of(least, most)} | {types} | "
                     f"{' '.join(attrs)} | {of_limits.get(op, '')} |")
    return "\n".join(lines) + "\n"


def page():
    known, of_standard, of_limits = converters(), schemas(), limits()
    strangers = sorted(set(of_limits) - {op for _, op in known})
    if strangers:
        sys.exit(f"{LIMITS}: no such operator is read: {', '.join(strangers)}")
    source = read(FRONTEND + "/onnx_import.c")
    newest = re.search(r"NEWEST_OPSET = (\d+)", source).group(1)
    missing = [op for domain, op in sorted(of_standard) if not domain and ("", op) not in known]
    text = HEAD.format(newest=newest, strings=", ".join(takes_strings())) + "## The standard's\n\n" + rows_of("", known, of_standard, of_limits)
    for domain in sorted({domain for domain, _ in known if domain}):
        text += f"\n## {domain}\n\n" + rows_of(domain, known, of_standard, of_limits)
    return text + "\n## Not implemented\n\n" + ", ".join(missing) + ".\n" + of_relax()


# ---- of texts ----

RELAX = """
## Of Relax

What graph functions of texts (`R.add`, ...) may call, with the parameters and defaults of TVM 0.27 (docs/differences.md says where not). These run,
in the interpreter and compiled:

{run}.

These are read, printed and verified; a function that needs one is refused, or left out, by name:

{names}.
"""


# bindings of their own kind, which run, and what is no operator
NOT_CALLED = set("call_tir call_dps_packed call_packed call_pure_packed match_cast cpu cuda device device_mesh "
                 "ext_dev hexagon metal opencl rocm vpi vulkan webgpu".split())


def lines(names):
    return textwrap.fill(", ".join(sorted(names)), 150, break_on_hyphens=False)


def of_relax():
    """The rows of graph_ops.def and names of graph_names.def."""
    def words(table, macro):
        return re.findall(macro + r'\("([^"]+)"', read("ir/ops/" + table))

    run = {*words("graph_ops.def", "HONE_GRAPH_OP"), *words("graph_names.def", "HONE_GRAPH_MADE")}
    names = {n + "*" if n.endswith(".") else n for n in words("graph_names.def", "HONE_GRAPH_NAME")}
    return RELAX.format(run=lines(run), names=lines(names - NOT_CALLED))


# ---- the standard ----

SHORT = {"float16": "f16", "bfloat16": "bf16", "float": "f32", "double": "f64", "bool": "bool",
         **{f"{sign}int{bits}": f"{sign or 'i'}{bits}" for sign in ("", "u") for bits in (4, 8, 16, 32, 64)}}
GROUPS = (("floats", {"f16", "bf16", "f32", "f64"}),
          ("integers", {f"{sign}{bits}" for sign in "iu" for bits in (8, 16, 32, 64)}))


def types_of(schema):
    formal = schema.inputs[0] if schema.inputs else schema.outputs[0]
    words = {re.sub(r"tensor\((\w+)\)", r"\1", t) for t in formal.types}
    types = {SHORT[w] for w in words if w in SHORT} | {"f8" for w in words if w.startswith("float8")}
    names = []
    for name, group in GROUPS:
        if group <= types:
            names.append(name)
            types -= group
    return " ".join(names + sorted(types))


def write_schemas():
    from onnx import __version__, defs
    domains = {domain for domain, _ in converters()}
    history = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain in domains and not schema.deprecated:
            history.setdefault((schema.domain, schema.name), []).append(schema)
    with open(SCHEMAS, "w", encoding="utf-8") as file:
        file.write(f"# The standard's operators as of onnx {__version__}: domain | operator | versions | types of the\n"
                   "# first input (scripts/check_operators.py --schemas).\n")
        for (domain, op), versions in sorted(history.items()):
            versions.sort(key=lambda s: s.since_version)
            numbers = " ".join(str(s.since_version) for s in versions)
            file.write(f"{domain} | {op} | {numbers} | {types_of(versions[-1])}\n")


def main():
    if "--schemas" in sys.argv:
        write_schemas()
        return
    text = page()
    if "--update" in sys.argv:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(text)
    elif read(PAGE) != text:
        sys.exit(f"{PAGE} is not what the code says: scripts/check_operators.py --update writes it")
    print(f"operators: {len(converters())} are documented")


if __name__ == "__main__":
    main()
