"""Software pipelines beside TVM's InjectSoftwarePipeline.

    python pipelines.py [--samples N] [--seed S] [--out DIR]

Loops of 2 to 5 statements with stages and orders of all kinds, in the style of TVM's own tests. Where
both take a program: what TVM makes of it means what the loop did, and buffers have as many copies in
Hone as in TVM, or fewer. Where Hone refuses and TVM does not, TVM's program must be another one. Exit
code 1 when that is not so.
"""
import argparse
import random
import re
import sys

import numpy
import tvm
from tvm import s_tir
from tvm.script import from_source

from hone_cli import FIRST_SEED, Hone

HEAD = """# from tvm.script import ir as I
# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((16, 4), "int32"), S: T.Buffer((16, 4), "int32"), D: T.Buffer((16, 4), "int32")):
    for i in T.serial({extent}, annotations={{"software_pipeline_stage": {stage}, "software_pipeline_order": {order}{more}}}):
        with T.sblock("compute"):
            T.reads(A[i, 0:4], S[i, 0:4])
            T.writes(D[i, 0:4], S[i, 0:4])
"""
ALLOC = "            {0} = T.sblock_alloc_buffer((4,), \"int32\")\n"
STEP = """            for j in range(4):
                with T.sblock():
                    T.reads({reads})
                    T.writes({target})
{attr}                    {target} = {value}
"""
NESTED = """            for k in T.serial(4, annotations={{"software_pipeline_stage": [0, 1], "software_pipeline_order": [0, 1]}}):
                with T.sblock():
                    T.reads({source}[k])
                    T.writes(D[i, k])
                    E = T.sblock_alloc_buffer((1,), "int32")
                    with T.sblock():
                        T.reads({source}[k])
                        T.writes(E[0])
                        E[0] = {source}[k] + 1
                    with T.sblock():
                        T.reads(E[0])
                        T.writes(D[i, k])
                        D[i, k] = E[0] * 2
"""
COPIES = re.compile(r"^ *(B\d|E) = T\.(?:sblock_)?alloc_buffer\(\(([^)]*)\)", re.M)


def program(rng):
    """The text of a random loop."""
    own, body, count, written = rng.randint(1, 3), "", 0, []
    for _ in range(rng.randint(2, 4)):
        kind, target = rng.randrange(8), f"B{len(written)}"
        source = rng.choice(written) if written and rng.randrange(4) else None
        reads, value = (
            (f"{source}[j]", f"{source}[j] + {count + 3}")
            if source
            else ("A[i, j]", f"A[i, j] * {count + 2}")
        )
        attr = ""
        if kind < 4 and len(written) < own:  # TVM looks at one writer of a buffer only
            place = f"{target}[j]"
            written.append(target)
            if rng.randrange(4) == 0:
                attr = '                    T.sblock_attr({"double_buffer_scope": 0})\n'
        elif kind < 6:
            place, reads, value = "D[i, j]", f"D[i, j], {reads}", f"D[i, j] * 5 + {value}"
        elif kind == 6 and source:
            body += NESTED.format(source=source)
            count += 3
            continue
        else:
            place, reads, value = "S[i, j]", "S[i, j]", "S[i, j] * 3"
        body += STEP.format(reads=reads, target=place, value=value, attr=attr)
        count += 1
    stage = [rng.randint(0, 2) for _ in range(count)]
    order = rng.sample(range(count), count)
    if rng.randrange(3):
        stage.sort()
    if rng.randrange(3):
        order.sort()
    more = ', "software_pipeline_async_stages": [0]' if rng.randrange(4) == 0 else ""
    head = HEAD.format(extent=rng.choice([16, 16, 3, 2, 1]), stage=stage, order=order, more=more)
    return head + "".join(ALLOC.format(b) for b in sorted(set(written))) + body


def copies(text):
    """The number of elements of each buffer of the body."""
    found = {}
    for name, shape in COPIES.findall(text):
        size = int(numpy.prod([int(x) for x in shape.split(",") if x.strip()]))
        found[name] = max(size, found.get(name, 0))
    return found


def interpret(hone, text, arrays):
    """Results by name, or the Run that failed: D is no input where it is written and never read."""
    results = hone.interpret(text, arrays)
    return results if isinstance(results, dict) else hone.interpret(text, arrays[:2])


def check(hone, text, tally):
    mod = tvm.IRModule({"main": from_source(text)})
    try:
        theirs = s_tir.transform.InjectSoftwarePipeline()(mod)
    except Exception:  # pylint: disable=broad-except
        theirs = None
    ours = hone.run("lower", hone.write("before.py", text), "--dump-after", "pipeline")
    if not ours and not ours.refused:
        return "hone lower: " + ours.message
    tally[(bool(ours), theirs is not None)] = tally.get((bool(ours), theirs is not None), 0) + 1
    if theirs is None:
        return None
    rng = numpy.random.default_rng(1)
    arrays = [rng.integers(-9, 9, (16, 4)).astype("int32") for _ in range(3)]
    before, after = (interpret(hone, t, arrays) for t in (mod.script(), theirs.script()))
    if not isinstance(before, dict):
        return "hone run: " + before.message
    is_same = isinstance(after, dict) and all((before[k] == after[k]).all() for k in before)
    if not ours:
        return None if not is_same else "refused without need: " + ours.message
    if not is_same:
        return "TVM's program is another one"
    own, more = copies(ours.out), copies(theirs.script())
    for name, size in own.items():
        if size > more[name] and f"= {name}[" in text:
            return f"'{name}' has {size} elements, {more[name]} in TVM"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--seed", type=int, default=FIRST_SEED)
    parser.add_argument("--out")
    options = parser.parse_args()
    hone, tally, bad = Hone(), {}, 0
    for number in range(options.samples):
        text = program(random.Random(options.seed * 100003 + number))
        why = check(hone, text, tally)
        if why:
            bad += 1
            print(f"--- {number}: {why}\n{text}")
    for (ours, theirs), count in sorted(tally.items()):
        print(f"Hone {'takes' if ours else 'refuses'}, TVM {'takes' if theirs else 'refuses'}: {count}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
