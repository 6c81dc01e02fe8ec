"""Programs loaded, changed, interpreted, compiled and called."""
import _thread
import contextlib
import copy
import ctypes
import gc
import importlib.util
import io
import os
import pickle
import tempfile
import threading
import unittest
import weakref

import hone
import numpy as np

from hone import _library

from programs import HALF, SIZED, SOURCE, Case, Layer, N, numbers, product


class Loading(Case):
    def test_sources(self):
        text = hone.load(product).script()
        self.assertIn("T.Buffer((24, 24)", text)
        module = hone.load(text)
        self.assertEqual(module, hone.load(product))
        self.assertEqual(module.hash(), hone.load(product).hash())
        self.assertIs(hone.load(module), module)
        onnx = os.path.join(SOURCE, "examples/fashion_mnist/mlp.onnx")
        from_path = hone.load(onnx)
        with open(onnx, "rb") as model:
            self.assertEqual(hone.load(model.read()), from_path)
        self.assertEqual(from_path.kind("main"), "graph")

    def test_lengths_of_sequences(self):
        path = "/usr/share/libonnx-testdata/data/node/test_identity_sequence/model.onnx"
        if not os.path.exists(path):
            self.skipTest("the ONNX project's data are not installed")
        with self.assertRaisesRegex(hone.UnsupportedError, "x=3"):
            hone.load(path)
        model = hone.load(path, sizes={"x": 2, "x.rank": 1}).compile(no_schedule=True)
        self.assertEqual([port.name for port in model.inputs()], ["x_0", "x_1"])

    def test_functions(self):
        module = hone.load(Layer)
        self.assertEqual(sorted(module.functions), ["main", "scale"])
        self.assertEqual(module["scale"].functions, ["scale"])
        self.assertEqual(module.verify(), [])
        other = module.update(hone.load(product))
        self.assertIn("product", other.functions)
        self.assertNotEqual(other, module)

    def test_errors_have_place_and_kind(self):
        with self.assertRaises(hone.InvalidError) as caught:
            hone.load("def main(:\n", name="bad.py")
        self.assertIn("bad.py:1:", str(caught.exception))
        self.assertEqual(caught.exception.kind, "invalid")
        for reads in (lambda: hone.load("/nowhere/model.onnx"),
                      lambda: hone.Model.open("/nowhere/model.so"),
                      lambda: hone.load(product).compile("/nowhere/tuned.db"),
                      lambda: hone.Database("/nowhere/tuned.db").query("SELECT 1")):
            with self.assertRaises(FileNotFoundError) as missing:
                reads()
            self.assertIsInstance(missing.exception, hone.NotFoundError)
            self.assertIn("/nowhere/", str(missing.exception))
        with self.assertRaises(hone.NotFoundError):
            hone.load(product)["nobody"]
        with self.assertRaises(hone.InvalidError):
            hone.load(object())
        with self.assertRaisesRegex(hone.NotFoundError, "legalize"):
            hone.load(Layer).run_passes("legalise")

    def test_ends(self):
        module = hone.load(hone.load(product).script())
        seen = weakref.ref(module)
        del module
        gc.collect()
        self.assertIsNone(seen())

    def test_saves_what_was_saved(self):
        x = np.ones(2, "float32")
        weights = hone.load(WEIGHTS).compile(no_schedule=True, weights="beside")
        with tempfile.TemporaryDirectory() as folder:
            one, two = os.path.join(folder, "one"), os.path.join(folder, "in", "two")
            os.mkdir(os.path.dirname(two))
            weights.save(one)
            saved = hone.Model.open(one + ".so")
            self.assertEqual([os.path.basename(name) for name in saved.save(two)],
                             ["two.so", "two.h", "model.weights"])
            again = hone.Model.open(two + ".so")
            saved.save(two)  # those that are open keep their files
            saved.save(one)
            for model in (saved, again, pickle.loads(pickle.dumps(again))):
                self.same(model(x), [2, 3])
            self.assertEqual(len(os.listdir(folder)), 4)

    def test_goes_to_other_processes(self):
        bound = hone.load(SIZED).bind(parameters={"w": numbers(3)})
        for module in (hone.load(product), bound):
            again = pickle.loads(pickle.dumps(module))
            self.assertEqual(again, module)
        self.same(again.interpret(numbers(2, 3))[0], bound.interpret(numbers(2, 3))[0])
        self.assertIs(copy.deepcopy(bound), bound)

    def test_texts_end_where_they_end(self):
        for wrong in ("@T.prim_func\0\n", "a\0b.onnx"):
            with self.assertRaisesRegex(hone.InvalidError, "NUL"):
                hone.load(wrong)

    def test_binds(self):
        module = hone.load(SIZED)
        self.assertEqual(len(module.bind(sizes={"n": 4}).functions), 1)
        self.assertEqual(hone.load(SIZED, sizes={"n": 4}), module.bind(sizes={"n": 4}))
        with self.assertRaisesRegex(hone.InvalidError, "'m'"):
            module.bind(sizes={"m": 4})
        bound = module.bind(parameters={"w": np.array([1, 2, 3], "float32")})
        y, z = bound.interpret(np.zeros((2, 3), "float32"))
        self.same(y, [[1, 2, 3]] * 2)
        self.same(z, [6, 6])


@unittest.skipUnless(importlib.util.find_spec("torch"), "there is no torch")
class Torch(Case):
    def test_modules_and_tensors(self):
        import torch

        net = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU()).eval()
        x = torch.randn(2, 8)
        model = hone.load(net, x).compile(no_schedule=True)
        self.assertIsInstance(model(x), torch.Tensor)
        self.assertTrue(torch.allclose(model(x), net(x), atol=1e-5))
        for batch in (1, 5):
            sized = hone.load(net, x, dynamic_shapes=({0: "rows"},))
            x = torch.randn(batch, 8)
            self.assertTrue(torch.allclose(sized.compile(no_schedule=True)(x), net(x), atol=1e-5))
            x = torch.randn(2, 8)
        self.assertEqual(len(hone.load(net, x, dynamic_shapes=({0: "rows"},),
                                       sizes={"rows": 6}).tasks()), 1)
        with self.assertRaisesRegex(hone.InvalidError, "example inputs"):
            hone.load(net)

    def test_what_is_for_training(self):
        import torch

        net = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.Dropout(0.5),
                                  torch.nn.BatchNorm1d(4)).train()
        x = torch.randn(3, 8)
        for shapes in (None, ({0: "rows"},)):
            made = hone.load(net, x, dynamic_shapes=shapes).compile(no_schedule=True)(x)
            self.assertTrue(all(part.training for part in net.modules()))
            self.assertTrue(torch.allclose(made, net.eval()(x), atol=1e-5))
            net.train()
        for part in (net[1], net[2]):
            program = torch.export.export(part, (torch.randn(3, 4),))
            with self.assertRaisesRegex(hone.UnsupportedError, "exported for training"):
                hone.load(program)


class Calling(Case):
    def test_agrees_with_numpy_and_interpreter(self):
        a, b = numbers(N, N), numbers(N, N, seed=2)
        c = np.zeros((N, N), "float32")
        module = hone.load(product)
        module.interpret(a, b, c)
        self.same(c, a @ b)
        model = module.compile()
        self.same(model(a, b), a @ b)
        self.same(model(B=b, A=a), a @ b)
        self.assertEqual(model.inputs()[0], hone.Port("A", "float32", (N, N)))
        self.assertEqual(model.outputs()[0].name, "C")

    def test_graphs_of_any_size(self):
        model = hone.load(SIZED).compile(no_schedule=True)
        w = np.array([1, 2, 3], "float32")
        for rows in (1, 7):
            x = numbers(rows, 3)
            y, z = model(x, w)
            self.same(y, x + w)
            self.same(z, (x + w).sum(axis=1), 1e-4)
        with self.assertRaisesRegex(hone.InvalidError, "at least 1"):
            model(numbers(0, 3), w)
        self.assertEqual(model.inputs()[0].shape, ("n", 3))

    def test_layers(self):
        x = numbers(4, N)
        self.same(hone.load(Layer).compile()(x), np.maximum(x * HALF, 0))
        self.same(hone.load(Layer).interpret(x), np.maximum(x * HALF, 0))

    def test_strides_are_followed(self):
        a, b = numbers(N, N), numbers(2 * N, N)
        model = hone.load(product).compile(no_schedule=True)
        self.same(model(a.T, b[::2]), a.T @ b[::2])

    def test_results_outlive_the_model(self):
        x = numbers(4, N)
        made = hone.load(Layer).compile(no_schedule=True)(x)
        gc.collect()
        self.same(made, np.maximum(x * HALF, 0))

    def test_mistakes(self):
        model = hone.load(product).compile(no_schedule=True)
        a = numbers(N, N)
        for wrong in ([a], [a, a, a], [a, a.astype("float64")], [a, a[:3]], [a, "text"]):
            with self.assertRaises(hone.HoneError):
                model(*wrong)
        with self.assertRaisesRegex(hone.InvalidError, "'D'"):
            model(a, D=a)
        with self.assertRaises(hone.NotFoundError):
            model(a, a, function="nobody")

    def test_saves(self):
        x = numbers(4, N)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "new", "layer")  # the folder is made
            written = hone.load(Layer).compile(no_schedule=True).save(path)
            self.assertEqual([os.path.basename(name) for name in written], ["layer.so", "layer.h"])
            self.same(hone.Model.open(path + ".so")(x), np.maximum(x * HALF, 0))

    def test_goes_to_other_processes(self):
        x = numbers(4, N)
        model = hone.load(Layer).compile(no_schedule=True)
        self.same(pickle.loads(pickle.dumps(model))(x), np.maximum(x * HALF, 0))
        self.assertIs(copy.deepcopy(model), model)
        self.assertIs(copy.copy(model), model)
        program = hone.load(Layer)
        self.assertIs(copy.copy(program), program)
        sch = hone.Schedule(product)
        sch.parallel(sch.get_loops(sch.get_sblock("C"))[0])
        self.assertEqual(copy.copy(sch).mod, sch.mod)

    def test_inputs_that_change(self):
        model = hone.load(ADDS).compile(no_schedule=True)
        base = np.zeros((3, 2), "float32")
        model(np.ones((2, 3), "float32"), base.T)
        self.assertEqual(base.sum(), 6)
        base.flags.writeable = False
        with self.assertRaisesRegex(hone.InvalidError, "read-only"):
            model(np.ones((2, 3), "float32"), base.T)

    def test_times_in_turns(self):
        a = numbers(N, N)
        model = hone.load(product).compile(no_schedule=True)
        found = model.benchmark(a, a, other=np.matmul, rounds=5)
        self.assertGreater(found.this.median, 0)
        self.assertTrue(found.other.low <= found.other.median <= found.other.high)
        self.assertAlmostEqual(found.ratio, found.other.median / found.this.median)
        self.assertGreater(model.benchmark(a, a, other=model, rounds=5).ratio, 0)


class Profiles(Case):
    def test_kernels(self):
        model = hone.load(Layer).compile()
        seen = model.profile(numbers(4, N), rounds=3)
        self.assertEqual(sum(kernel.calls for kernel in seen.kernels), len(seen.kernels))
        self.assertAlmostEqual(sum(kernel.share for kernel in seen.kernels), 1)
        self.assertGreater(seen.seconds, 0)
        self.assertIn("schedule", str(seen).splitlines()[0])
        with self.assertRaises(hone.HoneError):
            model.profile(numbers(3, N))


WEIGHTS = '''
from tvm.script import ir as I, relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return R.add(x, R.const([1.0, 2.0], "float32"))
'''

ADDS = '''
@T.prim_func
def adds(x: T.Buffer((2, 3), "float32"), y: T.Buffer((2, 3), "float32")):
    for i, j in T.grid(2, 3):
        with T.sblock("y"):
            vi, vj = T.axis.remap("SS", [i, j])
            y[vi, vj] = y[vi, vj] + x[vi, vj]
'''

CALLS = '''
from tvm.script import relax as R
@R.function
def main(x: R.Tensor((2, 3), "float32")):
    y = R.call_dps_packed("python.twice", (x,), out_sinfo=R.Tensor((2, 3), "float32"))
    return y
'''


class External(Case):
    def test_functions_of_python(self):
        def twice(x, out):
            out[:] = 2 * x

        def fails(x, out):
            raise KeyError("mine")

        module, x = hone.load(CALLS), numbers(2, 3)
        model = module.compile(no_schedule=True)
        with self.assertRaisesRegex(hone.NotFoundError, "python_twice__dlpack"):
            model(x)
        hone.register("python.twice", twice)
        self.same(model(x), 2 * x)
        self.same(module.interpret(x), 2 * x)
        hone.register("python.twice", fails)
        for called in (model, module.interpret):
            with self.assertRaisesRegex(KeyError, "mine") as raised:
                called(x)
            self.assertIn("python.twice", str(raised.exception.__cause__))
        with self.assertRaisesRegex(hone.InvalidError, "program:"):  # errors are the library's again
            hone.load("no_name.py\n")
        with self.assertRaisesRegex(hone.InvalidError, "int, which cannot be called"):
            hone.register("python.twice", 3)
        hone.register("python.twice", None)
        with self.assertRaises(hone.NotFoundError):
            model(x)
    def test_threads_of_others_print_what_is_raised(self):
        done = threading.Event()

        def of_the_pool():
            threading.current_thread()  # as logging does: from here on Python knows a dummy
            _library.keep_raised(KeyError("of the pool"))
            done.set()

        with contextlib.redirect_stderr(io.StringIO()) as printed:
            _thread.start_new_thread(of_the_pool, ())
            self.assertTrue(done.wait(60))
        self.assertIn("of the pool", printed.getvalue())

    def test_what_was_raised_is_of_one_call(self):
        def recovers(x, out):
            _library.keep_raised(KeyError("of this call"))
            out[:] = x

        hone.register("python.twice", recovers)
        x = numbers(2, 3)
        self.same(hone.load(CALLS).interpret(x), x)
        hone.register("python.twice", None)
        with self.assertRaisesRegex(hone.InvalidError, "program:"):
            hone.load("no_name.py\n")

    def test_functions_of_c_that_fail(self):
        from hone import _library as lib
        says_no = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p,
                                   ctypes.c_void_p, ctypes.c_int32)(lambda *_: 42)
        lib.LIB.hone_extern_register(b"python.twice", ctypes.cast(says_no, ctypes.c_void_p), 0)
        module, x = hone.load(CALLS), numbers(2, 3)
        for called in (module.compile(no_schedule=True), module.interpret):
            with self.assertRaisesRegex(hone.ExternalError, "'python.twice' .* 42"):
                called(x)
        self.assertTrue(issubclass(hone.ExternalError, RuntimeError))
        hone.register("python.twice", None)


if __name__ == "__main__":
    unittest.main()
