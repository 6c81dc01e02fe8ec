# Depthwise convolution 3x3, padding 1, plain layout in and out.
from tvm.script import tir as T

C, H, K, P = 32, 112, 3, 1

@T.prim_func
def main(
    X: T.Buffer((1, C, H, H), "float32"),
    W: T.Buffer((C, 1, K, K), "float32"),
    Y: T.Buffer((1, C, H, H), "float32"),
):
    T.func_attr({"tir.noalias": True})
    XP = T.alloc_buffer((C, H + 2 * P, H + 2 * P))
    for c, y, x in T.grid(C, H + 2 * P, H + 2 * P):
        with T.block("pad"):
            vc, vy, vx = T.axis.remap("SSS", [c, y, x])
            XP[vc, vy, vx] = T.if_then_else(
                P <= vy and vy < H + P and P <= vx and vx < H + P,
                X[0, vc, vy - P, vx - P], T.float32(0))
    for c, y, x, dy, dx in T.grid(C, H, H, K, K):
        with T.block("conv"):
            vc, vy, vx, vdy, vdx = T.axis.remap("SSSRR", [c, y, x, dy, dx])
            with T.init():
                Y[0, vc, vy, vx] = T.float32(0)
            Y[0, vc, vy, vx] += XP[vc, vy + vdy, vx + vdx] * W[vc, 0, vdy, vdx]
