"""Decorated functions: what of Python around them is part of the program."""
import enum
import functools
import linecache
import math
import os
import runpy
import tempfile
import time
import types
import unittest

import hone
import numpy as np

import hone.script
from hone.script import I, R, T, ir, relax, tir
from hone.script import tir as Tensors

from programs import Case, numbers, product

ROWS = 4


@T.macro
def copy_plus(B, A, i, amount):
    B[i] = plus(A[i], amount)


def plus(x, amount):
    return x + amount * STEP


STEP = 2
real = T.float32
tools = types.SimpleNamespace(plus=plus, copy_plus=copy_plus, T=T, step=3, shapes={"A": (ROWS,)})


class Sizes(enum.IntEnum):
    ROWS = 4


def kept(item):
    @functools.wraps(item)
    def called(*given):
        return item(*given)

    return called


class Decorated(Case):
    @T.prim_func
    def in_a_class(A: T.Buffer((ROWS,), "float32"), B: T.Buffer((ROWS,), "float32")):
        for i in range(ROWS):
            B[i] = A[i] * T.float32(3)

    def runs(self, program, want, rows=ROWS):
        x = numbers(rows)
        out = np.zeros(rows, "float32")
        hone.load(program).interpret(x, out)
        self.same(out, want(x))

    def test_macros_and_helpers(self):
        @T.macro
        def outer(B, A, i):
            copy_plus(B, A, i, T.float32(1))

        @T.prim_func
        def program(A: T.Buffer((ROWS,), "float32"), B: T.Buffer((ROWS,), "float32")):
            for i in range(ROWS):
                outer(B, A, i)

        self.runs(program, lambda x: x + STEP)

    def test_macros_of_the_callers_names(self):
        factor = 5

        @T.macro(hygienic=False)
        def scaled(A, B):
            B[i] = A[i] * factor  # noqa: F821 (of the program that calls it)

        @T.prim_func
        def program(A: T.Buffer((ROWS,), "float32"), B: T.Buffer((ROWS,), "float32")):
            for i in range(ROWS):
                scaled(A, B)

        self.runs(program, lambda x: 5 * x)

    def test_values(self):
        rows, factor, most = np.int64(4), np.float32(2), float("inf")
        shape = [rows]

        @T.prim_func
        def program(A: T.Buffer(shape, "float32"), B: T.Buffer((rows,), "float32")):
            for i in range(rows):
                B[i] = T.min(A[i] * factor, T.float32(most))

        self.runs(program, lambda x: 2 * x)

    def test_what_lies_in_others(self):
        dtype, rows, short = np.dtype("float32"), Sizes.ROWS, lambda v: v + real(1)

        @T.prim_func
        def paths(A: T.Buffer(tools.shapes["A"], dtype), B: T.Buffer((rows,), dtype)):  # noqa: F821 (a key)
            for i in range(tools.shapes["A"][0]):
                B[i] = tools.plus(A[i], real(tools.step))

        @T.prim_func
        def macros(A: T.Buffer((ROWS,), "float32"), B: T.Buffer((ROWS,), "float32")):
            for i in range(ROWS):
                tools.copy_plus(B, A, i, T.float32(3))

        @T.prim_func
        def calls(A: T.Buffer((ROWS,), "float32"), B: T.Buffer((ROWS,), "float32")):
            for i in range(len(tools.shapes) + 3):
                B[i] = short(A[i]) + T.float32(math.floor(math.sqrt(
                    max(rows, 36))) - tools.step + 2)

        for program, more in ((paths, 6), (macros, 6), (calls, 6)):
            self.runs(program, lambda x, more=more: x + more)

    def test_words_and_decorators_by_other_names(self):
        @Tensors.prim_func
        def other(A: Tensors.Buffer((ROWS,), "float32"), B: T.Buffer((ROWS,), "float32")):
            for i in range(ROWS):
                B[i] = A[i] + Tensors.float32(1)

        @kept
        @hone.script.T.prim_func(private=True)
        def path(A: hone.script.T.Buffer((ROWS,), "float32"),
                 B: tools.T.Buffer((ROWS,), "float32")):
            for i in range(ROWS):
                B[i] = A[i] + tools.T.float32(1)

        @hone.script.prim_func
        @kept
        def wrapped(A: T.Buffer((ROWS,), "float32"), B: T.Buffer((ROWS,), "float32")):
            for i in range(ROWS):
                B[i] = A[i] + T.float32(1)

        for program in (other, path.__wrapped__, wrapped):
            self.runs(program, lambda x: x + 1)

    def test_places_behind_what_was_told(self):
        with self.assertRaisesRegex(hone.InvalidError, r"test_script.py:\d+:.*'none'") as raised:
            @T.prim_func
            def program(A: T.Buffer((tools.shapes["A"][0],), "float32")):  # noqa: F821
                A[tools.step - 3] = tools.plus(A[0], none)  # noqa: F821

        self.assertEqual(str(raised.exception).split(":")[2], "42")

    def read(self, body):
        """A program of a file of its own; A and B are ROWS long."""
        text = ("from hone.script import tir as T\n\n"
                "STEP = [2]\n\n"
                "def helper(v):\n"
                "    return v * T.float32(1)  # \u2028 1\n\n"
                "@T.prim_func\n"
                f"def program(A: T.Buffer(({ROWS},), 'float32'), B: T.Buffer(({ROWS},), 'float32')):\n")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.py")
            with open(path, "w", encoding="utf-8") as out:
                out.write(text + body)
            return runpy.run_path(path)["program"]

    def test_signs_that_end_no_line(self):
        for sign in "\f\v\x1c\x85\u2028\u2029":
            self.runs(self.read(f"    # a comment {sign} that goes on\n"
                                f"    for i in range({ROWS}):\n"
                                "        B[i] = helper(A[i]) + T.float32(STEP[0])\n"),
                      lambda x: x + 2)

    def test_long_programs(self):
        """Some milliseconds a statement, however many there are."""
        count = 600
        start = time.process_time()
        self.runs(self.read(f"    for i in range({ROWS}):\n        B[i] = A[i]\n" + "".join(
            f"    for i{k} in range({ROWS}):\n        B[i{k}] = B[i{k}] + T.float32(STEP[0])\n"
            for k in range(count))), lambda x: x + 2 * count)
        self.assertLess(time.process_time() - start, 0.02 * count)

    def test_annotations_of_a_class(self):
        shape = (ROWS,)

        @I.ir_module
        class Program:
            @T.prim_func
            def main(A: T.Buffer(shape, "float32"), B: T.Buffer(shape, "float32")):
                for i in range(ROWS):
                    B[i] = A[i]

        self.runs(Program, lambda x: x)
        self.assertEqual(Program["main"].functions, ["main"])

    def test_annotations_in_quotes(self):
        @T.prim_func
        def main(A: "T.Buffer((ROWS, 3), 'float32')", n: "int32",  # noqa: F821
                 B: 'T.Buffer((ROWS, 3), "float32")') -> "T.handle()":
            for i, j in T.grid(ROWS, 3):
                with T.sblock("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] + T.float32(2)

        self.assertIn('B: T.Buffer((4, 3), "float32")', main.script())
        self.assertIn("n: T.int32", main.script())

    def test_functions_alone(self):
        self.runs(self.in_a_class, lambda x: 3 * x)

        @relax.function
        def graph(x: R.Tensor((ROWS,), "float32")):
            y = R.add(x, x)
            return y

        x = numbers(ROWS)
        self.same(hone.load(graph).interpret(x), 2 * x)
        self.assertIs(T, tir)
        self.assertIs(I, ir)

    def test_two_values_of_a_name(self):
        def made(factor):
            def inner(x):
                return x * T.float32(factor)

            def outer(x):
                return inner(x) + T.float32(factor)

            return outer

        STEP, twice, thrice = 3, made(2), made(3)

        @T.prim_func
        def program(A: T.Buffer((STEP,), "float32"), B: T.Buffer((STEP,), "float32")):
            for i in range(STEP):
                B[i] = plus(twice(A[i]) + thrice(A[i]), T.float32(1))

        self.runs(program, lambda x: 5 * x + 7, rows=STEP)

    def test_defaults_are_those_of_the_definition(self):
        factor, words = 5, T.max(T.float32(1), T.float32(2)) * T.float32(3)

        def typed(x, y=T.float32(2), *, z=words, limit=None):
            return x * y + z if limit is None else limit

        def scaled(x, y=factor):
            return x * T.float32(y)

        @T.macro
        def put(B, i, x, y=-T.float32(1)):
            B[i] = x * y

        last = [lambda x, k=k: x + T.float32(k) for k in range(3)][2]
        factor = 7

        @T.prim_func
        def program(A: T.Buffer((ROWS,), "float32"), B: T.Buffer((ROWS,), "float32")):
            for i in range(ROWS):
                put(B, i, last(scaled(typed(A[i]))) * T.float32(factor))

        self.runs(program, lambda x: -7 * (5 * (2 * x + 6) + 2))

    def test_kinds_of_helpers(self):
        class Tools:
            @staticmethod
            def double(x, k=T.float32(2)):
                return x * k

        def affine(k, x, b=1):
            return x * T.float32(k) + T.float32(b)

        def exp(x):  # T.exp is another
            return nowhere(x)  # noqa: F821

        line, kind = functools.partial(affine, 3, b=2), T.Buffer((ROWS,), dtype="float32")
        self.assertTrue(callable(exp))

        @T.prim_func
        def program(A: kind, B: kind):
            for i in range(ROWS):
                B[i] = line(Tools.double(A[i])) + T.exp(A[i] * T.float32(0))

        self.runs(program, lambda x: 6 * x + 3)

    def test_faults_have_their_place(self):
        first = copy_plus.item.__code__.co_firstlineno
        with self.assertRaisesRegex(hone.InvalidError, r"test_script.py:(\d+).*nowhere") as raised:
            @T.prim_func
            def program(A: T.Buffer((ROWS,), "float32"), B: T.Buffer((ROWS,), "float32")):
                copy_plus(B, A, 0, T.float32(1))
                nowhere(A)  # noqa: F821

        self.assertGreater(int(str(raised.exception).split(":")[1]), first + 90)

    def test_classes_of_notebooks(self):
        cell = ("rows = 4\n\n@I.ir_module\nclass Cell:\n    @T.prim_func\n"
                "    def main(A: T.Buffer((rows,), 'float32'), B: T.Buffer((rows,), 'float32')):\n"
                "        for i in range(rows):\n            B[i] = A[i]\n\nx = 1\n")
        name = "<ipython-input-1>"  # what a notebook keeps of its cells, in a module of no file
        linecache.cache[name] = (len(cell), None, cell.splitlines(True), name)
        self.addCleanup(linecache.cache.pop, name)
        names = {"__name__": "cell_of_no_file", "I": I, "T": T}
        exec(compile(cell, name, "exec"), names)
        self.runs(names["Cell"], lambda x: x)

    def test_schedules_are_programs(self):
        sch = hone.Schedule(product)
        sch.parallel(sch.get_loops(sch.get_sblock("C"))[0])
        self.assertEqual(hone.load(sch), sch.mod)


if __name__ == "__main__":
    unittest.main()
