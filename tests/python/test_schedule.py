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
