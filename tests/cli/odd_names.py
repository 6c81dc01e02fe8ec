#!/usr/bin/env python3
"""Gives things names that people do not expect: odd_names.py BUILD_DIR SECONDS [SEED [--verbose]]

Models of ONNX and programs are written whose inputs, outputs, constants, sizes, nodes, functions,
buffers, blocks, loops and files have names with quotes, spaces, newlines, brackets, accents and
control characters, words of C, Python and C++, ones that are equal once they are identifiers, very
long ones and none at all. Whatever takes them must give the numbers that the same model has under
plain names, or say no, with 2 and a reason; what is written (programs, headers, C, JSON, pages,
databases) must be readable by those whom it is for. A signal, another exit code or another number
is wrong. Prints counts by what was tried, with --verbose what was
refused and why; 1 when anything was wrong, which is kept below "odd_names"
in the present directory.
"""
import collections
import glob
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "data"))
import npy  # noqa: E402

WORDS = ("int main static inline register restrict class new template this operator namespace bool "
         "true NULL stdin errno memcpy malloc printf exit free abort float32 void _Atomic typeof "
         "asm and or xor not_eq signed union auto goto complex I "
         "def for lambda None True is in pass yield nonlocal del print self T R I tir tirx sch "
         "range len grid handle Buffer match_buffer prim_func sblock block root axis serial "
         "model hone_model hone_rt hone_main data shape ndim rt buffers sizes code i0 v0 ax0 "
         "DLTensor uint64_t _start _init __init__ __attribute__ linux unix M_PI EOF "
         "con nul aux default default.onnx hone.conf build so h").split()
SHAPES = ("x", "x.1", "x_1", "x/1", "x:1", "x-1", "x 1", "x\t1", "x\n1", "x'1", 'x"1', "x\\1", "x`1", "x$1",
          "x%s1", "x%n", "x{1}", "x[1]", "x(1)", "x,1", "x;1", "x#1", "x=1", "x@1", "x*/", "/*x", "//x", "x??/",
          "\"; exit", "'''x", '"""x', "</script>", "<!--", "&amp;", "$(id)", "`id`", "../x", "/x", "./x", ".x", "..",
          ".", "~", "-x", "--help", "-", "=", "@", "1", "1x", "0", "007", "1e5", "-0", "_", "__", "___", "_1",
          "á", "à", "ａ", "ﬁ", "中文", "x\u0301", "\u202ex", "\u200bx", "\ufeffx", "😀", "İ", "ß", "\u00a0", "\u2028x",
          "\x01x", "\x1b[31mx", "\x7fx", "\u009b31m", "\rx", "x\x00y", "", " ", "  x  ", "x ", " x", "\n",
          "x" * 60, "x" * 64, "x" * 250, "x" * 256, "y" * 1000, "á" * 150, "x." * 100, "a/" * 60 + "b")


class Names:
    def __init__(self, rng):
        self.rng = rng

    def one(self):
        rng = self.rng
        kind = rng.randrange(10)
        if kind < 2:
            return rng.choice(WORDS)
        if kind < 7:
            return rng.choice(SHAPES)
        if kind == 7:
            return rng.choice(WORDS) + rng.choice(("", ".", "_", "/", ":")) + rng.choice(("0", "1", "_1"))
        if kind == 8:
            return rng.choice(SHAPES)[:100] + rng.choice(SHAPES)[:100]
        return "".join(chr(rng.choice((rng.randrange(1, 128), rng.randrange(32, 0xd800),
                                       rng.randrange(0x10000, 0x10ffff)))) for _ in range(rng.randrange(1, 12)))

    def some(self, count):
        """Different ones; now and then twice the same."""
        found = []
        while len(found) < count:
            name = self.one()
            if name not in found or self.rng.random() < 0.02:
                found.append(name)
        return found


# ---- ONNX, byte by byte ----

def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def tensor(name, shape, values):
    return (b"".join(field(1, n) for n in shape) + field(2, 1) + field(8, name)
            + field(9, struct.pack("<%df" % len(values), *values)))


def value_info(name, shape):
    dims = b"".join(field(1, field(1, d) if isinstance(d, int) else field(2, d)) for d in shape)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))


def node(op, inputs, outputs, name):
    return (b"".join(field(1, n) for n in inputs) + b"".join(field(2, n) for n in outputs)
            + field(3, name) + field(4, op))


def onnx(a, b, w, y, z, size, graph, nodes):
    """y = a - b, z = y * w; a and b are [size, 3]."""
    parts = (field(1, node("Sub", [a, b], [y], nodes[0])) + field(1, node("Mul", [y, w], [z], nodes[1]))
             + field(2, graph) + field(5, tensor(w, [3], [2, 3, 4]))
             + field(11, value_info(a, [size, 3])) + field(11, value_info(b, [size, 3]))
             + field(12, value_info(y, [size, 3])) + field(12, value_info(z, [size, 3])))
    return field(1, 8) + field(7, parts) + field(8, field(2, 17))


# ---- programs ----

PROGRAM = '''from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class M:
    @T.prim_func
    def {func}({a}: T.Buffer((8,), "float32"), {b}: T.Buffer((8,), "float32")):
        T.func_attr({{"global_symbol": {symbol}}})
        for {loop} in range(8):
            with T.sblock({block}):
                {axis} = T.axis.spatial(8, {loop})
                {b}[{axis}] = {a}[{axis}] + T.float32(1)
'''


def quoted(name):
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\x7f")


class OddNames:
    def __init__(self, build, seed, keep):
        self.build, self.keep = build, keep
        self.hone_path = os.path.join(build, "hone")
        self.rng = random.Random(seed)
        self.names = Names(self.rng)
        self.counts = collections.Counter()
        self.wrong = []
        self.tried = ""
        self.env = dict(os.environ, NO_COLOR="1", TMPDIR=os.getcwd())

    def fault(self, what, *words):
        self.wrong.append(what)
        place = os.path.join(self.keep, str(len(self.wrong)))
        os.makedirs(self.keep, exist_ok=True)
        shutil.copytree(os.getcwd(), place, dirs_exist_ok=True,
                        ignore=lambda folder, names: [n for n in names if n.startswith("hone-")])
        print(f"WRONG {what}: {place}: {self.tried}", *words, flush=True)

    def run(self, *words):
        """None: the tool was wrong or refused; else what it printed."""
        self.tried = " ".join(repr(w) for w in words)[:400]
        self.counts[words[0]] += 1
        words = [w.encode("utf-8", "surrogatepass") for w in (self.hone_path,) + words]
        done = subprocess.run(["timeout", "-s", "KILL", "120", *words], env=self.env, check=False,
                              capture_output=True, stdin=subprocess.DEVNULL)
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        if done.returncode not in (0, 1, 2, 3) or (done.returncode and not said.strip()):
            self.fault(f"exit {done.returncode}", said[-300:])
            return None
        for c in done.stderr.decode("utf-8", "replace"):
            if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 or c in "\u202e\u2028":
                self.fault("orders to a terminal", repr(said[-200:]))
                break
        if done.returncode:
            self.counts[words[1].decode() + " refused"] += 1
            if "--verbose" in sys.argv:
                print(self.tried, "REFUSED:", said.strip()[:300])
            return None
        return done.stdout.decode("utf-8", "surrogateescape")

    def same(self, got, want, what):
        if [round(x, 4) for x in got] != [round(x, 4) for x in want]:
            self.fault("another number", what, got, want)

    def check_outputs(self, text, y, z, what):
        try:
            outputs = json.loads(text)["outputs"]
        except ValueError as error:
            self.fault("JSON", what, error)
            return
        if [o["name"] for o in outputs] != [y, z]:
            self.fault("other outputs", what, [o["name"] for o in outputs], [y, z])
            return
        self.same(outputs[0]["first"][:3], [4, 3, 2], what)
        self.same(outputs[1]["first"][:3], [8, 9, 8], what)

    def model(self):
        a, b, w, y, z = (n.split("\0")[0] for n in self.names.some(5))  # protobuf's readers in C end there
        graph, size = self.names.some(2)
        if self.rng.random() < 0.5:
            size = self.rng.choice((a, y, "N", 2, 2, 2))
        if self.rng.random() < 0.5:
            a, b, w, y, z = (self.rng.choice((plain, odd)) for plain, odd in zip("abwyz", (a, b, w, y, z)))
        file = self.file_name(".onnx")
        with open(file, "wb") as out:
            out.write(onnx(a, b, w, y, z, size, graph, self.names.some(2)))
        inputs = [f"{a}=a.npy", f"{b}=b.npy"] if "=" not in a + b and a and b and "\0" not in a + b else ["a.npy", "b.npy"]
        if self.rng.random() < 0.5:
            inputs.reverse() if "=" in inputs[0] else None
        given = [w for i in inputs for w in ("--in", i)]
        text = self.run("run", file, "--json", "--interpret", *given, "--out-dir", "out")
        if text is None:
            return
        self.check_outputs(text, y, z, "interpreted")
        if len(os.listdir("out")) != 2:
            self.fault("files", os.listdir("out"))
        if self.run("print", file, "-o", "printed.py") is not None:
            for verb in ("verify", "hash"):
                if self.run(verb, "printed.py") is None:
                    self.fault("what was printed is not read", verb)
        lib = self.file_name("")
        if self.run("compile", file, "-o", lib, "-q") is None:
            return
        for path in glob.glob(glob.escape(lib) + ".h"):
            self.check_header(path)
        text = self.run("run", lib + ".so", "--json", *given)
        if text is not None:
            self.check_outputs(text, y, z, "compiled")
        if self.rng.random() < 0.3:
            self.tune(file)

    def check_header(self, path):
        for compiler in (["cc", "-std=c99", "-Wall", "-Werror"], ["c++", "-x", "c++", "-std=c++11", "-Wall", "-Werror"]):
            shutil.copy(path, "header.h")
            done = subprocess.run([*compiler, "-fsyntax-only", "-include", "./header.h", "-x",
                                   "c" if compiler[0] == "cc" else "c++", "/dev/null"],
                                  capture_output=True, text=True, check=False, errors="replace")
            self.counts["headers"] += 1
            if done.returncode:
                self.fault("header", compiler[0], done.stderr[:300])

    def file_name(self, ending):
        while True:
            name = self.names.one().replace("/", self.rng.choice(("_", "")))[:60].strip("\0").replace("\0", "")
            if name.startswith("-") or name in ("", ".", "..") or name.endswith("~"):
                name = "./" + (name if name not in ("", ".", "..") else "f")
            while len((name + ending).encode()) > 200:
                name = name[:-1]
            if self.rng.random() < 0.5:
                name = "file"
            if not os.path.exists(name + ending):
                return name + ending

    def tune(self, file):
        db = self.file_name(".db")
        if self.run("tune", file, "--db", db, "--trials", "1", "--threads", "1", "-q", "--report",
                    "page.html") is None:
            if self.run("tasks", file) is None:
                return
        if not os.path.exists(db):
            return
        for words in (["tasks"], ["top"], ["stats"]):
            text = self.run("db", *words, db, "--json")
            if text is None:
                self.fault("database", words)
                continue
            try:
                json.loads(text)
            except ValueError as error:
                self.fault("JSON", words, error)
        self.run("db", "check", db)
        self.run("compile", file, "--db", db, "-o", "tuned", "-q")
        if self.run("db", "export", db, "-o", "all.jsonl", "-q") is not None:
            if self.run("db", "import", "again.db", "all.jsonl", "-q") is None:
                self.fault("what was exported is not imported")
        if self.run("report", db, "-o", "page.html") is not None:
            with open("page.html", encoding="utf-8") as page:
                text = page.read()
            if text.count("</script") != text.count("<script"):
                self.fault("a name ends the page's script")

    def identifier(self):
        """Most are words that Python takes."""
        for _ in range(20):
            name = self.names.one()
            if name.isidentifier():
                return name
        return "x"

    def program(self):
        parts = {p: self.identifier() if self.rng.random() < 0.8 else self.names.one()
                 for p in ("func", "a", "b", "loop", "axis")}
        parts["block"], parts["symbol"] = (quoted(self.names.one()) for _ in range(2))
        if self.rng.random() < 0.5:
            parts["symbol"] = quoted(parts["func"])
        file = self.file_name(".py")
        with open(file, "w", encoding="utf-8", errors="surrogatepass", newline="") as out:
            out.write(PROGRAM.format(**parts))
        if self.run("verify", file) is None:
            return
        if self.run("print", file, "-o", "printed.py") is None:
            self.fault("not printed")
        elif self.run("equal", file, "printed.py") is None:
            self.fault("printed otherwise")
        for way in (["--interpret"], [], ["--no-schedule"]):
            text = self.run("run", file, "--in", "v.npy", "--json", *way)
            if text is None:
                self.fault("not run", way)
                continue
            try:
                self.same(json.loads(text)["outputs"][0]["first"][:3], [2, 3, 4], way)
            except (ValueError, IndexError) as error:
                self.fault("JSON", error)
        for ending in (".c", ".ll", ".py", ".so"):
            if self.run("compile", file, "-o", "lib" + ending, "-q") is None:
                self.fault("not compiled", ending)
        if os.path.exists("lib.h"):
            self.check_header("lib.h")
        if os.path.exists("lib.c"):
            done = subprocess.run(["cc", "-fsyntax-only", "-w", "lib.c"], capture_output=True, text=True,
                                  check=False, errors="replace")
            if done.returncode:
                self.fault("C", done.stderr[:300])
        if self.rng.random() < 0.2:
            self.tune(file)

    def words(self):
        """Names where a verb wants some."""
        odd = [n.replace("\0", "") for n in self.names.some(3)]
        words = self.rng.choice((
            ["run", "p.py", "--func", odd[0]], ["run", "m.onnx", "--in", f"{odd[0]}={odd[1]}"],
            ["run", "m.onnx", "--shape", f"{odd[0]}=3"], ["compile", "m.onnx", "--shape", odd[0], "-o", "o"],
            ["tune", "p.py", "--db", "t.db", "--task", odd[0], "--trials", "1"], ["target", odd[0]],
            ["compile", "p.py", "--target", odd[0], "-o", "o"], ["db", odd[0], "t.db"], [odd[0], "p.py"],
            ["pass", odd[0], "m.onnx"], ["print", "p.py", "--" + odd[0]], ["run", odd[0]], ["db", "check", odd[0]],
            ["schedule", "p.py", "--trace", odd[0]], ["keygen", "--out", "keys"], ["run", "m.onnx", "--params", odd[0]],
            ["farm", "status", "--tracker", odd[0]], ["tune", "p.py", "--db", "t.db", "--tracker", odd[0], "--insecure"],
            ["run", "p.py", "--extern", odd[0]], ["db", "show", "t.db", odd[0]], ["report", "t.db", odd[0]],
            ["run", "m.onnx", "--expect", f"{odd[0]}=a.npy"], ["compile", "p.py", "--emit", odd[0], "-o", "o"],
            ["tune", "p.py", "--db", "t.db", "--config", odd[0], "--trials", "1"]))
        self.run(*words)

    def one(self):
        for path in os.listdir("."):
            if os.path.isdir(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)
        for name, shape, values in (("a", [2, 3], [5]), ("b", [2, 3], [1, 2, 3, 1, 2, 3]), ("v", [8], [1, 2, 3, 4])):
            with open(name + ".npy", "wb") as out:
                out.write(npy.npy(shape, values))
        with open("m.onnx", "wb") as out:
            out.write(onnx("a", "b", "w", "y", "z", "N", "g", ["n", "m"]))
        with open("p.py", "w", encoding="utf-8") as out:
            out.write(PROGRAM.format(func="main", a="A", b="B", loop="i", axis="vi", block='"B"', symbol='"main"'))
        self.rng.choice((self.model, self.model, self.program, self.words))()


def main():
    build, seconds = os.path.abspath(sys.argv[1]), float(sys.argv[2])
    given = sys.argv[3] if len(sys.argv) > 3 else os.environ.get("HONE_FIRST_SEED")
    seed = int(given) if given else random.randrange(10**9)
    print(f"seed {seed}", flush=True)
    keep = os.path.abspath("odd_names")
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        odd = OddNames(build, seed, keep)
        end = time.time() + seconds
        while time.time() < end:
            odd.one()
        os.chdir("/")
    print(f"{sum(n for what, n in odd.counts.items() if ' ' not in what)} tried, {len(odd.wrong)} wrong:",
          dict(collections.Counter(odd.wrong)), dict(sorted(odd.counts.items())))
    return 1 if odd.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
