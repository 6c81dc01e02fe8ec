"""Schedules from Python: primitives as methods, index maps, traces."""
import io
import json
import pickle
import unittest

import hone
from hone import _show
from hone.script import T

from programs import Case, N, numbers, product
import numpy as np


PADDED = """
from tvm.script import tir as T
@T.prim_func
def main(x: T.Buffer((8,), "float32"), y: T.Buffer((10,), "float32")):
    p = T.alloc_buffer((10,), "float32")
    for i in range(10):
        with T.sblock("P"):
            vi = T.axis.spatial(10, i)
            p[vi] = T.if_then_else(1 <= vi and vi < 9, x[vi - 1], T.float32(0))
    for i in range(10):
        with T.sblock("Y"):
            vi = T.axis.spatial(10, i)
            y[vi] = p[vi] * T.float32(2)
"""


class Schedules(Case):
    def agrees(self, module):
        a, b, c = numbers(N, N), numbers(N, N, seed=5), np.zeros((N, N), "float32")
        module.interpret(a, b, c)
        self.same(c, a @ b)

    def test_steps(self):
        sch = hone.Schedule(product)
        block = sch.get_block("C")
        i, j, k = sch.get_loops(block)
        j0, j1 = sch.split(j, [None, 8])
        sch.reorder(i, j0, k, j1)
        sch.vectorize(j1)
        sch.parallel(sch.fuse(i, j0))
        sch.decompose_reduction(block, k)
        self.assertIn("T.vectorized(8)", sch.script())
        self.agrees(sch.mod)
        replayed = hone.load(product).replay(sch.trace.as_json())
        self.assertEqual(replayed, sch.mod)
        self.assertEqual(hone.load(product).replay(str(sch.trace)), sch.mod)

    def test_traces_go_on_to_others(self):
        sch = hone.Schedule(product, seed=3, debug_mask="all", error_render_level="detail")
        block = sch.get_sblock("C")
        i = sch.get_loops(block)[0]
        sch.split(i, sch.sample_perfect_tile(i, n=2))
        before = sch.mod
        sch.enter_postproc()
        sch.annotate(block, "unroll", 1)
        self.assertEqual(sch.trace.as_python()[0], 'b0 = sch.get_sblock(name="C", func_name="main")')
        for is_cut, want in ((False, sch.mod), (True, before)):
            other = hone.Schedule(product)
            other.get_sblock("C")
            sch.trace.apply_to_schedule(other, remove_postproc=is_cut)
            self.assertEqual(other.mod, want)
        hone.Schedule(product).trace.apply_to_schedule(other)  # that of nothing does nothing
        self.assertEqual(other.mod, before)
        self.assertEqual(sch.func_working_on, hone.load(product).functions[0])

    def test_refusals_change_nothing(self):
        sch = hone.Schedule(product)
        block = sch.get_sblock("C")
        i, j, k = sch.get_loops(block)
        before = sch.script()
        with self.assertRaisesRegex(hone.ScheduleError, "refused here"):
            sch.parallel(k)
        with self.assertRaises(hone.ScheduleError):
            sch.get_sblock("nobody")
        with self.assertRaises(hone.HoneError):
            sch.split(j, [None, None])
        self.assertEqual(sch.script(), before)
        sch.parallel(i)

    def test_samples(self):
        sch = hone.Schedule(product, seed=3)
        i, j, k = sch.get_loops(sch.get_sblock("C"))
        tile = sch.sample_perfect_tile(j, n=3, max_innermost_factor=4, decision=[2, 3, 4])
        self.assertEqual(len(sch.split(j, tile)), 3)
        choice = sch.sample_categorical([1, 2], [0.5, 0.5])
        sch.annotate(i, "unroll", choice)
        self.assertEqual(sch.trace.decisions[2], [2, 3, 4])
        insts, decisions = json.loads(sch.space())
        self.assertEqual((len(insts), decisions), (len(sch.trace.insts), []))

    def test_says_what_variables_are(self):
        sch = hone.Schedule(product, seed=3)
        block = sch.get_sblock("C")
        i, j, k = sch.get_loops(block)
        tile = sch.sample_perfect_tile(j, n=3, max_innermost_factor=4, decision=[2, 3, 4])
        choice = sch.sample_categorical([7, 9], [0.0, 1.0])
        self.assertEqual([sch.get(number) for number in tile], [2, 3, 4])
        self.assertEqual(sch.get(choice), 9)
        sch.apply('x = sch.get_sblock("C")\nsch.annotate(x, "note", 1)')  # two steps at once
        parts = sch.split(j, tile)
        sch.vectorize(parts[2])
        last = sch.get(parts[2])
        self.assertEqual((last.min, last.extent, last.kind, last.thread), (0, 4, "vectorized", None))
        said = sch.get(block)
        self.assertEqual((said.name_hint, said.reads, said.writes), ("C", ("A", "B"), ("C",)))
        self.assertEqual([axis.kind for axis in said.axes], ["spatial", "spatial", "reduce"])
        self.assertEqual([axis.extent for axis in said.axes], [N, N, N])
        self.assertEqual(sch.copy().get(parts[1]).extent, 3)
        self.assertEqual(pickle.loads(pickle.dumps(sch)).get(parts[1]).extent, 3)
        with self.assertRaises(hone.ScheduleError):  # it was split
            sch.get(j)
        with self.assertRaisesRegex(hone.InvalidError, "another schedule"):
            hone.Schedule(product).get(block)
        sch.remove_rv(parts[0])
        for use in (sch.get, sch.parallel, sch.remove_rv, lambda loop: sch.fuse(loop, parts[1]),
                    sch.copy().parallel):
            with self.assertRaisesRegex(hone.InvalidError, "remove_rv"):
                use(parts[0])
        sch.unroll(parts[1])

    def test_seeds(self):
        def drawn(seeds):
            sch = hone.Schedule(product, seed=1)
            made = []
            for seed in seeds:
                if seed is not None:
                    sch.seed(seed)
                made.append(sch.get(sch.sample_categorical(choices, odds)))
            return sch, made

        choices, odds = list(range(64)), [1 / 64] * 64
        sch, one = drawn([5, None, None, 5, None, None])
        self.assertEqual(one[:3], one[3:])  # the same again, and what was drawn stays
        self.assertNotEqual(len(set(one[:3])), 1)
        other = drawn([6, None, None, 7, None, None])[1]
        self.assertNotEqual(other[:3], other[3:])
        copied = sch.copy()
        self.assertEqual(copied.trace.decisions, sch.trace.decisions)
        forks = [sch.fork_seed(), sch.fork_seed()]
        self.assertNotEqual(*forks)
        self.assertEqual([copied.fork_seed(), copied.fork_seed()], forks)
        again = sch.copy()
        self.assertEqual(again.fork_seed(), sch.fork_seed())
        with self.assertRaises(hone.ScheduleError):
            sch.get_sblock("nobody")
        self.assertEqual(again.fork_seed(), sch.fork_seed())  # a refusal draws nothing
        sch.seed(-1)
        for wrong in (-2, 1 << 64):
            with self.assertRaisesRegex(hone.InvalidError, "seed"):
                sch.seed(wrong)

    def test_says_whether_padding_can_go(self):
        sch = hone.Schedule(PADDED)
        block, other = sch.get_sblock("P"), sch.get_sblock("Y")
        before = sch.script()
        self.assertTrue(sch.can_decompose_padding(block, sch.get_loops(block)[0]))
        self.assertFalse(sch.can_decompose_padding(other, sch.get_loops(other)[0]))
        self.assertEqual(sch.script(), before)
        sch.decompose_padding(block, sch.get_loops(block)[0])

    def test_styles(self):
        for style, want in ((None, "\x1b[35m"), ("ansi", "\x1b[35m"), ("dark", "\x1b[38;2;"),
                            ("light", "\x1b[38;2;")):
            self.assertIn(want, _show.in_colours("for i", style))
        self.assertIn("background", _show.as_html("for i", "dark"))
        with self.assertRaisesRegex(hone.InvalidError, "style 'pink'"):
            hone.Schedule(product).show(style="pink")

    def test_moves(self):
        sch = hone.Schedule(product)
        block = sch.get_sblock("C")
        cached = sch.cache_write(block, 0, "global")
        i, j = sch.get_loops(cached)[:2]
        sch.reverse_compute_at(cached, sch.get_loops(block)[0])
        sch.cache_read(block, 0, "global")
        self.assertEqual(len(sch.get_consumers(block)), 1)
        self.agrees(sch.mod)

    def test_index_maps(self):
        factor = 4
        sch = hone.Schedule(product)
        sch.cache_read("C", 1, "global") if False else None
        block = sch.get_sblock("C")
        copy = sch.cache_read(block, 1, "global")
        sch.transform_layout(block, ("read", 1), lambda k, j: (j // factor, k, j % factor))
        self.assertIn("6, 24, 4", sch.script())
        self.assertEqual(len(sch.get_loops(copy)), 2)
        self.agrees(sch.mod)
        for wrong in (lambda i, j: (i if i else j,), lambda *all: all, lambda i, j: (i, "j")):
            with self.assertRaises(hone.InvalidError):
                sch.transform_layout(block, ("read", 0), wrong)

    def test_copies(self):
        sch = hone.Schedule(product)
        sch.unroll(sch.get_loops(sch.get_sblock("C"))[0])
        block = sch.get_sblock("C")
        j = sch.get_loops(block)[1]
        tile = sch.sample_perfect_tile(j, 2)
        for other in (sch.copy(), pickle.loads(pickle.dumps(sch))):
            self.assertEqual(str(other.trace), str(sch.trace))
            other.split(j, tile)  # what was found before the copy is the copy's, too
            other.parallel(other.get_loops(block)[1])
            self.assertIn("T.parallel", other.script())
        self.assertNotIn("T.parallel", sch.script())

    def test_every_primitive_is_there(self):
        for name in ("compute_inline", "rfactor", "tensorize", "blockize", "pad_einsum", "bind",
                     "storage_align", "loop_partition", "set_scope", "reindex"):
            self.assertTrue(callable(getattr(hone.Schedule, name)))

    def test_shows(self):
        text = hone.load(product).script()
        out = io.StringIO()
        _show.show(text, out)
        self.assertEqual(out.getvalue().strip(), text.strip())
        self.assertIn("\x1b[35mfor\x1b[0m", _show.in_colours(text))
        page = hone.Schedule(product)._repr_html_()
        self.assertIn("&quot;float32&quot;", page)
        self.assertNotIn('"float32"', page)


class Scripts(Case):
    def test_what_stands_around(self):
        extent, value = 6, 2.5

        @T.prim_func
        def fill(A: T.Buffer((extent,), "float32")):
            for i in range(extent):
                with T.sblock("A"):
                    vi = T.axis.spatial(extent, i)
                    A[vi] = T.float32(value)

        made = np.zeros(6, "float32")
        hone.load(fill).interpret(made)
        self.same(made, [2.5] * 6)

    def test_place_is_that_of_the_file(self):
        with self.assertRaises(hone.InvalidError) as caught:
            @T.prim_func
            def bad(A: T.Buffer((4,), "float32")):
                A[0] = T.nothing(1)  # here

        message = str(caught.exception)
        with open(__file__, encoding="utf-8") as source:
            line = next(i for i, text in enumerate(source, 1) if text.endswith("# here\n"))
        self.assertIn(f"test_schedule.py:{line}:", message)

    def test_text_that_is_not_to_be_had(self):
        names = {}
        exec("def f(A): pass", names)
        with self.assertRaisesRegex(hone.InvalidError, "source"):
            T.prim_func(names["f"])


if __name__ == "__main__":
    unittest.main()
