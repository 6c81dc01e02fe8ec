# Convolution 3x3, padding 1, by Winograd's F(2x2, 3x3), plain layout in and out.
# Filters are transformed, and packed by 32; tiles of 4x4 of the input become 2x2 of the output.
from tvm.script import tir as T

C, H, B, G = 16, 14, 16, 2  # channels (and filters) in blocks of B, filters packed by G blocks
M, A, N = 2, 4, 7  # outputs and inputs of a tile in each direction, tiles in a row
HP = 16

@T.prim_func
def main(
    X: T.Buffer((1, C * B, H, H), "float32"),
    W: T.Buffer((C * B, C * B, 3, 3), "float32"),
    Y: T.Buffer((1, C * B, H, H), "float32"),
):
    T.func_attr({"tir.noalias": True})
    WR = T.alloc_buffer((C * B, C * B, A, 3))
    U = T.alloc_buffer((A, A, C // G, C * B, G * B))
    XP = T.alloc_buffer((C, HP, HP, B))
    R = T.alloc_buffer((C, N, A, HP, B))
    V = T.alloc_buffer((A, A, C, N * N, B))
    Q = T.alloc_buffer((A, A, C, N * N, B))
    O = T.alloc_buffer((C, N, A, N * M, B))
    for f, c, u, x in T.grid(C * B, C * B, A, 3):
        with T.block("filter_rows"):
            vf, vc, vu, vx = T.axis.remap("SSSS", [f, c, u, x])
            WR[vf, vc, vu, vx] = T.if_then_else(vu == 0, W[vf, vc, 0, vx],
                T.if_then_else(vu == 1, (W[vf, vc, 0, vx] + W[vf, vc, 2, vx] + W[vf, vc, 1, vx]) * T.float32(0.5),
                T.if_then_else(vu == 2, (W[vf, vc, 0, vx] + W[vf, vc, 2, vx] - W[vf, vc, 1, vx]) * T.float32(0.5),
                W[vf, vc, 2, vx])))
    for u, v, f, c, fi in T.grid(A, A, C // G, C * B, G * B):
        with T.block("filter_columns"):
            vu, vv, vf, vc, vfi = T.axis.remap("SSSSS", [u, v, f, c, fi])
            U[vu, vv, vf, vc, vfi] = T.if_then_else(vv == 0, WR[vf * (G * B) + vfi, vc, vu, 0],
                T.if_then_else(vv == 1, (WR[vf * (G * B) + vfi, vc, vu, 0] + WR[vf * (G * B) + vfi, vc, vu, 2] + WR[vf * (G * B) + vfi, vc, vu, 1]) * T.float32(0.5),
                T.if_then_else(vv == 2, (WR[vf * (G * B) + vfi, vc, vu, 0] + WR[vf * (G * B) + vfi, vc, vu, 2] - WR[vf * (G * B) + vfi, vc, vu, 1]) * T.float32(0.5),
                WR[vf * (G * B) + vfi, vc, vu, 2])))
    for c, y, x, ci in T.grid(C, HP, HP, B):
        with T.block("pad"):
            vc, vy, vx, vi = T.axis.remap("SSSS", [c, y, x, ci])
            XP[vc, vy, vx, vi] = T.if_then_else(
                1 <= vy and vy <= H and 1 <= vx and vx <= H,
                X[0, vc * B + vi, vy - 1, vx - 1], T.float32(0))
    for c, t, u, x, ci in T.grid(C, N, A, HP, B):
        with T.block("input_rows"):
            vc, vt, vu, vx, vi = T.axis.remap("SSSSS", [c, t, u, x, ci])
            R[vc, vt, vu, vx, vi] = T.if_then_else(vu == 0, XP[vc, vt * M + 0, vx, vi] - XP[vc, vt * M + 2, vx, vi],
                T.if_then_else(vu == 1, XP[vc, vt * M + 1, vx, vi] + XP[vc, vt * M + 2, vx, vi],
                T.if_then_else(vu == 2, XP[vc, vt * M + 2, vx, vi] - XP[vc, vt * M + 1, vx, vi],
                XP[vc, vt * M + 1, vx, vi] - XP[vc, vt * M + 3, vx, vi])))
    for t, u, v, c, x, ci in T.grid(N, A, A, C, N, B):
        with T.block("input_columns"):
            vt, vu, vv, vc, vx, vi = T.axis.remap("SSSSSS", [t, u, v, c, x, ci])
            V[vu, vv, vc, vt * N + vx, vi] = T.if_then_else(vv == 0, R[vc, vt, vu, vx * M + 0, vi] - R[vc, vt, vu, vx * M + 2, vi],
                T.if_then_else(vv == 1, R[vc, vt, vu, vx * M + 1, vi] + R[vc, vt, vu, vx * M + 2, vi],
                T.if_then_else(vv == 2, R[vc, vt, vu, vx * M + 2, vi] - R[vc, vt, vu, vx * M + 1, vi],
                R[vc, vt, vu, vx * M + 1, vi] - R[vc, vt, vu, vx * M + 3, vi])))
    for u, v, f, p, c, ci, fi in T.grid(A, A, C, N * N, C, B, B):
        with T.block("products"):
            vu, vv, vf, vp, vc, vi, vfi = T.axis.remap("SSSSRRS", [u, v, f, p, c, ci, fi])
            with T.init():
                Q[vu, vv, vf, vp, vfi] = T.float32(0)
            Q[vu, vv, vf, vp, vfi] += V[vu, vv, vc, vp, vi] * U[vu, vv, vf // G, vc * B + vi, vf % G * B + vfi]
    for f, t, u, x, fi in T.grid(C, N, A, N * M, B):
        with T.block("output_columns"):
            vf, vt, vu, vx, vfi = T.axis.remap("SSSSS", [f, t, u, x, fi])
            O[vf, vt, vu, vx, vfi] = T.if_then_else(vx % M == 0, Q[vu, 0, vf, vt * N + vx // M, vfi] + Q[vu, 1, vf, vt * N + vx // M, vfi] + Q[vu, 2, vf, vt * N + vx // M, vfi],
                Q[vu, 1, vf, vt * N + vx // M, vfi] - Q[vu, 2, vf, vt * N + vx // M, vfi] - Q[vu, 3, vf, vt * N + vx // M, vfi])
    for f, fi, y, x in T.grid(C, B, H, H):
        with T.block("output_rows"):
            vf, vfi, vy, vx = T.axis.remap("SSSS", [f, fi, y, x])
            Y[0, vf * B + vfi, vy, vx] = T.if_then_else(vy % M == 0, O[vf, vy // M, 0, vx, vfi] + O[vf, vy // M, 1, vx, vfi] + O[vf, vy // M, 2, vx, vfi],
                O[vf, vy // M, 1, vx, vfi] - O[vf, vy // M, 2, vx, vfi] - O[vf, vy // M, 3, vx, vfi])
