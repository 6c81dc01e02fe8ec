# Convolution 1x1, plain layout in and out: a product of matrices.
from tvm.script import tir as T

C, H, F = 1024, 14, 256

@T.prim_func
def main(
    X: T.Buffer((1, C, H, H), "float32"),
    W: T.Buffer((F, C, 1, 1), "float32"),
    Y: T.Buffer((1, F, H, H), "float32"),
):
    T.func_attr({"tir.noalias": True})
    for f, p, c in T.grid(F, H * H, C):
        with T.block("conv"):
            vf, vp, vc = T.axis.remap("SSR", [f, p, c])
            with T.init():
                Y[0, vf, vp // H, vp % H] = T.float32(0)
            Y[0, vf, vp // H, vp % H] += X[0, vc, vp // H, vp % H] * W[vf, vc, 0, 0]
