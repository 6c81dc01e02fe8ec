# Convolution of one image in NCHW layout, kernel 3x3, padding 1; float32.
from tvm.script import tir as T

@T.prim_func
def main(
    X: T.Buffer((1, 256, 14, 14), "float32"),
    W: T.Buffer((256, 256, 3, 3), "float32"),
    Y: T.Buffer((1, 256, 14, 14), "float32"),
):
    T.func_attr({"tir.noalias": True})
    P = T.alloc_buffer((1, 256, 16, 16))
    for c, y, x in T.grid(256, 16, 16):
        with T.block("pad"):
            vc, vy, vx = T.axis.remap("SSS", [c, y, x])
            P[0, vc, vy, vx] = T.if_then_else(
                1 <= vy and vy < 15 and 1 <= vx and vx < 15,
                X[0, vc, vy - 1, vx - 1], T.float32(0))
    for f, y, x, c, dy, dx in T.grid(256, 14, 14, 256, 3, 3):
        with T.block("conv"):
            vf, vy, vx, vc, vdy, vdx = T.axis.remap("SSSRRR", [f, y, x, c, dy, dx])
            with T.init():
                Y[0, vf, vy, vx] = T.float32(0)
            Y[0, vf, vy, vx] = Y[0, vf, vy, vx] + P[0, vc, vy + vdy, vx + vdx] * W[vf, vc, vdy, vdx]
