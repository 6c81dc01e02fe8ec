"""Tuning from Python: callbacks, exceptions in them, spaces that are functions; the database."""
import contextlib
import locale
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock

import numpy as np
import hone
from hone.script import T

from programs import SIZED, Case, N, numbers, product


@T.prim_func
def parts(X: T.Buffer((64,)), Y: T.Buffer((64,))):
    for i, p in T.grid(64, 1024):
        with T.sblock("Y"):
            vi, vp = T.axis.remap("SR", [i, p])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + X[vi] * T.float32(0.0009765625)


@T.prim_func
def whole(X: T.Buffer((64,)), Y: T.Buffer((64,))):
    T.func_attr({"error": 1e-6})
    for i in range(64):
        with T.sblock("Y"):
            vi = T.axis.spatial(64, i)
            Y[vi] = X[vi]


@contextlib.contextmanager
def decimal_commas(folder):
    """The locale of this process has them, made of C.UTF-8 by turning its point over."""
    there = os.path.join(folder, "commas")
    os.makedirs(there, exist_ok=True)
    try:
        with open("/usr/lib/locale/C.utf8/LC_NUMERIC", "rb") as points, \
             open(os.path.join(there, "LC_NUMERIC"), "wb") as commas:
            commas.write(points.read().replace(b".", b","))
        os.environ["LOCPATH"] = folder
        locale.setlocale(locale.LC_NUMERIC, "commas")
    except (OSError, locale.Error) as error:
        raise unittest.SkipTest("no locale can be made here") from error
    try:
        yield
    finally:
        locale.setlocale(locale.LC_NUMERIC, "C")
        del os.environ["LOCPATH"]


class Tuning(Case):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.db = os.path.join(folder.name, "tuned.db")
        cls.seen = []
        cls.tuned = cls.tune(callback=cls.seen.append)

    @classmethod
    def tune(cls, **options):
        options = {"trials": 5, "threads": 1, "builders": 1, "strategy": "random", **options}
        return hone.load(product).tune(cls.db, **options)

    def test_finds(self):
        model = hone.load(product).compile(self.db, threads=1)
        a, b = numbers(N, N), numbers(N, N, seed=3)
        self.same(model(a, b), a @ b)
        self.assertEqual([task.name for task in self.tuned.tasks], ["product"])
        self.assertGreater(self.tuned.tasks[0].best_ns, 0)
        self.assertEqual(model.report["kernels"][0]["from"], "record")
        self.assertEqual(self.seen[-1].total, 5)
        self.assertIn("GFLOPS", self.seen[-1].best)

    def test_stops_and_goes_on(self):
        stopped = self.tune(trials=10000, callback=lambda state: False)
        self.assertTrue(stopped.was_stopped)
        self.assertGreaterEqual(stopped.tasks[0].known_trials, 5)
        with self.assertRaisesRegex(KeyError, "mine"):
            self.tune(trials=10000, callback=lambda state: {}["mine"])

    def test_decimal_commas_around(self):
        def found(name):
            path, lines = (os.path.join(folder, name + end) for end in (".db", ".jsonl"))
            module = hone.load(parts)
            tuned = module.tune(path, trials=2, threads=1, builders=1)
            hone.Database(path).export(lines)
            again = hone.Database(os.path.join(folder, name + "2.db")).read(lines)
            half = hone.Database(path).query("SELECT 0.5 AS v")[0]["v"]
            self.same(module.compile(path)(numbers(64)), numbers(64))
            return module.script(), module.hash(), tuned.tasks[0].trials, again.trials, half

        with tempfile.TemporaryDirectory() as folder:
            with_points = found("points")
            with decimal_commas(folder):
                self.assertEqual(locale.str(0.5), "0,5")
                self.assertEqual(found("commas"), with_points)
        self.assertIn("T.float32(0.0009765625)", with_points[0])

    def test_interrupts_are_never_lost(self):
        def interrupt(_):  # for a time when the search asks whether to stop, too
            signal.raise_signal(signal.SIGINT)

        with self.assertRaises(KeyboardInterrupt):
            self.tune(trials=10000, callback=interrupt)
        stop = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        stop.start()
        with self.assertRaises(KeyboardInterrupt):
            self.tune(trials=10000)
        stop.join()
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_interrupts_come_before_errors(self):
        def fail(*_):
            signal.raise_signal(signal.SIGINT)
            raise hone.IoError("the database went away meanwhile")

        with unittest.mock.patch.object(hone.module.LIB, "hone_program_tune_with", fail):
            with self.assertRaises(KeyboardInterrupt):
                self.tune()

    def test_threads_tune(self):
        found = []

        def work():
            found.append(self.tune(trials=10000, callback=lambda state: False))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        self.assertTrue(found[0].was_stopped)

    def test_ends_with_the_process(self):
        """Of a thread that Python does not wait for."""
        text = ("import threading, time, hone\n"
                "from programs import product\n"
                "begun = threading.Event()\n"
                "threading.Thread(daemon=True, target=lambda: hone.load(product).tune(\n"
                f"    {os.path.join(self.folder, 'ends.db')!r}, seconds=60, threads=1,\n"
                "    callback=lambda state: begun.set())).start()\n"
                "begun.wait(60)\n")
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_space_of_a_function(self):
        def space(sch):
            block = sch.get_sblock("C")
            i, j, k = sch.get_loops(block)
            tile = sch.sample_perfect_tile(j, 2, max_innermost_factor=8)
            j0, j1 = sch.split(j, tile)
            sch.reorder(i, j0, k, j1)

        db = os.path.join(self.folder, "space.db")
        hone.load(product).tune(db, space=space, trials=2, threads=1, strategy="random")
        traces = hone.Database(db).query("SELECT trace FROM v_trials WHERE outcome = 'ok'")
        self.assertTrue(any("SamplePerfectTile" in row["trace"] for row in traces))

    def test_results_of_spaces(self):
        def other(sch):
            made = sch.copy()
            made.parallel(made.get_loops(made.get_sblock("C"))[0])
            return [made]

        db, module = os.path.join(self.folder, "result.db"), hone.load(product)
        module.tune(db, space=other, trials=1, threads=1)
        traces = hone.Database(db).query("SELECT trace FROM v_trials")
        self.assertTrue(any("Parallel" in row["trace"] for row in traces), traces)
        for wrong, words in ((lambda sch: None, "does nothing"), (lambda sch: 3, "of type int"),
                             (lambda sch: [sch, sch], "2 schedules")):
            with self.assertRaisesRegex(hone.InvalidError, words):
                module.tune(db, space=wrong, trials=1, threads=1)

    def test_variants(self):
        db, module = os.path.join(self.folder, "variants.db"), hone.load(parts)
        module.tune(db, trials=3, threads=1, strategy="random", variants="none")
        found = "SELECT count(*) AS n FROM v_trials WHERE trace LIKE '%UseVariant%whole%'"
        self.assertEqual(hone.Database(db).query(found)[0]["n"], 0)
        module.tune(db, trials=3, threads=1, strategy="random", variants="all", variant=whole)
        self.assertGreater(hone.Database(db).query(found)[0]["n"], 0)
        model = module.compile(db, threads=1, max_error=1e-5, variant=[whole])
        self.assertEqual(model.report["kernels"][0]["variant"], "whole")
        self.same(model(numbers(64)), numbers(64))
        plain = module.compile(db, threads=1)
        self.assertIsNone(plain.report["kernels"][0]["variant"])

    def test_variants_of_files(self):
        db, path = (os.path.join(self.folder, name) for name in ("files.db", "mine.py"))
        hone.load(whole).save(path)
        module = hone.load(parts)
        module.tune(db, trials=3, threads=1, strategy="random", variants="all", variant=path)
        kernel = module.compile(db, threads=1, variants="all", variant=path).report["kernels"][0]
        self.assertEqual(kernel["variant"], "mine")

    def test_mistakes_of_variants(self):
        db, module = os.path.join(self.folder, "wrong.db"), hone.load(product)
        for words, given in (
                ("variants is 'some', must be none, exact or all", {"variants": "some"}),
                ("max_error is for variants all, not for exact",
                 {"variants": "exact", "max_error": 1e-5}),
                ("max_error is -1, must be at least 0", {"max_error": -1}),
                ("declares an error of 1e-06", {"variant": whole}),
                ("17 files of variant, at most 16", {"variant": [whole] * 17})):
            for work in (module.tune, module.compile):
                with self.assertRaisesRegex(hone.InvalidError, words):
                    work(db, **given)
        with self.assertRaisesRegex(hone.InvalidError, "serves no task"):
            module.tune(db, variants="all", variant=whole)
        with self.assertRaisesRegex(hone.InvalidError, "kernels without records"):
            module.compile(variant=whole, max_error=1e-5)
        module.compile(max_error=1e-5)
        with self.assertRaisesRegex(hone.NotFoundError, "/nowhere/a.py"):
            module.tune(db, variant=["/nowhere/a.py"])

    def test_opencl(self):
        module = hone.load(product)
        a, b = numbers(N, N), numbers(N, N, seed=3)
        try:
            self.same(module.compile(target="opencl")(a, b), a @ b)
        except hone.HoneError as reason:
            self.skipTest(f"no OpenCL device: {reason}")
        db = os.path.join(self.folder, "opencl.db")
        tuned = module.tune(db, trials=3, target="opencl", strategy="random")
        self.assertGreater(tuned.tasks[0].best_ns, 0)
        self.same(module.compile(db, target="opencl")(a, b), a @ b)

    def test_generator_proposes(self):
        told = []

        def splits(task):
            self.assertIn("def product", task.program)
            self.assertTrue(task.sketches and task.default)
            for factor in (2, 5, 1000):
                sch = hone.Schedule(product)
                if factor > N:
                    told.append((yield "no trace"))
                    continue
                sch.split(sch.get_loops(sch.get_sblock("C"))[0], [None, factor])
                told.append((yield sch.trace))

        db = os.path.join(self.folder, "generator.db")
        hone.load(product).tune(db, trials=64, threads=1, strategy="random", propose=splits)
        self.assertEqual([event["event"] for event in told], ["result"] * 2 + ["verdict"])
        self.assertTrue(all(event["outcome"] == "ok" for event in told[:2]))
        self.assertFalse(told[2]["legal"])
        said = hone.Database(db).query("SELECT message FROM v_trials WHERE message LIKE 'proposed%'")
        self.assertEqual(len(said), 2)

    def test_asked_and_told(self):
        class Same:
            """Proposes the default of a task, which is known."""

            def __init__(self):
                self.default, self.events = {}, []

            def ask(self, event):
                return self.default.pop(event["task"], None)

            def tell(self, event):
                self.events.append(event["event"])
                if event["event"] == "task":
                    self.default[event["task"]] = event["default"]

        same = Same()
        db = os.path.join(self.folder, "told.db")
        hone.load(product).tune(db, trials=16, threads=1, strategy="random", propose=same)
        self.assertEqual(same.events[0], "task")
        self.assertEqual(same.events.count("result"), 16)

    def test_mistakes_of_proposers(self):
        def fails(task):
            raise KeyError("mine")
            yield

        db = os.path.join(self.folder, "failing.db")
        with self.assertRaisesRegex(KeyError, "mine"):
            hone.load(product).tune(db, trials=10000, threads=1, propose=fails)
        with self.assertRaisesRegex(hone.InvalidError, "generator function"):
            hone.load(product).tune(db, trials=1, propose=3)
        with self.assertRaisesRegex(hone.InvalidError, "gives a NoneType"):
            hone.load(product).tune(db, trials=10000, threads=1, propose=lambda task: None)

    def test_refused_proposals_are_told(self):
        def nonsense(task):
            yield 3
            yield "no trace"
            yield hone.Schedule(product).trace.as_json()[:-1]

        db = os.path.join(self.folder, "nonsense.db")
        with self.assertWarnsRegex(RuntimeWarning, r"^3 of 3 proposals were refused; the last: .") as told:
            hone.load(product).tune(db, trials=64, threads=1, strategy="random", propose=nonsense)
        self.assertEqual(told.filename, __file__)

    def test_tasks(self):
        module = hone.load(SIZED)
        self.assertEqual(module.tasks(), [])
        tasks = module.tasks(sizes={"n": [2, 4]})
        self.assertEqual(len({task.workload for task in tasks}), len(tasks))
        self.assertEqual(tasks[0].program.hash(tasks[0].program.functions[0]), tasks[0].workload)

    def test_mistakes(self):
        with self.assertRaises(hone.NotFoundError):
            self.tune(task="nobody")
        with self.assertRaises(hone.InvalidError):
            self.tune(strategy="magic")
        with self.assertRaises(hone.IoError):
            hone.load(product).tune("/nowhere/a.db", trials=1)
        with self.assertRaises(hone.ScheduleError):
            self.tune(space=lambda sch: sch.get_sblock("X"))

    def test_database(self):
        db, other = hone.Database(self.db), hone.Database(os.path.join(self.folder, "b.db"))
        count = len(db)
        self.assertGreaterEqual(count, 5)
        row = db.rows(limit=1)[0]
        self.assertIsInstance(row["trace"], str)
        self.assertEqual(other.merge(db).trials, count)
        self.assertEqual(other.merge(db), hone.News(0, 0, count, 0))
        lines = os.path.join(self.folder, "lines.jsonl")
        db.export(lines)
        third = hone.Database(os.path.join(self.folder, "c.db"))
        self.assertEqual(third.read(lines).trials, count)
        self.assertGreater(third.prune(1), 0)
        self.assertLess(len(third), count)
        with self.assertRaisesRegex(hone.InvalidError, "no such column"):
            db.query("SELECT absent FROM v_trials")
        with self.assertRaises(hone.NotFoundError):
            len(hone.Database("/nowhere/a.db"))
        best = db.query("SELECT trace FROM v_trials WHERE outcome = 'ok' ORDER BY median_ns")
        hone.load(product).replay(best[0]["trace"])

    def test_values_of_queries(self):
        db = hone.Database(self.db)
        for sql, parameters, expected in (
                ("SELECT ? - ? AS v", (7, 2), 5),
                ("SELECT :a - :b AS v", {"b": 2, "a": 7, "c": 1}, 5),
                ("SELECT ? AS v", ["12"], "12"),  # a text that reads as a number
                ("SELECT ? AS v", ["it's; --"], "it's; --"),
                ("SELECT ? AS v", [b"a\0b"], b"a\0b"),
                ("SELECT ? AS v", ["a\0b"], "a\0b"),
                ("SELECT ? AS v", [None], None), ("SELECT ? AS v", [0.5], 0.5),
                ("SELECT ? AS v", [True], 1), ("SELECT ? AS v", [np.int64(-3)], -3),
                ("SELECT ? AS v", [np.float32(0.25)], 0.25),
                ("SELECT ? AS v", [-2**63], -2**63), ("SELECT 1e3 AS v", (), 1000.0)):
            with self.subTest(sql=sql, parameters=parameters):
                value = db.query(sql, parameters)[0]["v"]
                self.assertEqual(value, expected)
                self.assertIs(type(value), type(expected))
        count = db.query("SELECT count(*) AS n FROM v_trials WHERE outcome = ?", ["ok"])[0]["n"]
        self.assertEqual(count, len(db.query("SELECT 1 FROM v_trials WHERE outcome = 'ok'")))
        for sql, parameters, message in (
                ("SELECT ?", (), "parameter 1 has no value"),
                ("SELECT :task", {"tusk": 1}, "':task' has no value"),
                ("SELECT 1", [1], "1 values for a statement with 0"),
                ("SELECT ?", "ok", "sequence or a mapping"), ("SELECT ?", [[1]], "'list'"),
                ("SELECT ?", [2**63], "64 bits")):
            with self.subTest(sql=sql), self.assertRaisesRegex(hone.InvalidError, message):
                db.query(sql, parameters)

    def test_frames(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("there is no pandas")
        db = hone.Database(self.db)
        frame = db.frame()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(len(frame), len(db))
        none = db.frame("SELECT outcome, median_ns FROM v_trials WHERE outcome = ?", ["nothing"])
        self.assertEqual((list(none.columns), len(none)), (["outcome", "median_ns"], 0))


if __name__ == "__main__":
    unittest.main()
