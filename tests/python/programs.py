"""Programs that the tests of the Python package share."""
import os
import unittest

import numpy as np

from hone.script import I, R, T

N = 24
HALF = N // 2
SOURCE = os.environ.get("HONE_SOURCE_DIR", os.getcwd())


@T.prim_func
def product(A: T.Buffer((N, N), "float32"), B: T.Buffer((N, N), "float32"),
            C: T.Buffer((N, N), "float32")):
    for i, j, k in T.grid(N, N, N):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]


@I.ir_module
class Layer:
    @T.prim_func
    def scale(x: T.Buffer((4, N), "float32"), y: T.Buffer((4, N), "float32")):
        for i, j in T.grid(4, N):
            with T.sblock("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj] * T.float32(HALF)

    @R.function
    def main(x: R.Tensor((4, N), "float32")):
        cls = Layer
        y = R.call_tir(cls.scale, (x,), out_sinfo=R.Tensor((4, N), dtype="float32"))
        z = R.nn.relu(y)
        return z


SIZED = '''
from tvm.script import relax as R
@R.function
def main(x: R.Tensor(("n", 3), "float32"), w: R.Tensor((3,), "float32")):
    y = R.add(x, w)
    z = R.sum(y, axis=[1])
    return y, z
'''


def numbers(*shape, dtype="float32", seed=1):
    """Some numbers between -1 and 1."""
    return (np.random.default_rng(seed).random(shape) * 2 - 1).astype(dtype)


class Case(unittest.TestCase):
    """With comparisons of arrays."""

    def same(self, got, want, tolerance=1e-5):
        self.assertEqual(np.shape(got), np.shape(want))
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
