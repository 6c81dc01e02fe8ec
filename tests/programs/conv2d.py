from tvm.script import tir as T

N, CI, H, W, CO, K = 1, 2, 9, 10, 3, 3
OUT_H, OUT_W = H - K + 1, W - K + 1

@tvm.script.ir_module
class Conv:
    @T.prim_func
    def conv(D: T.Buffer((N, CI, H, W), "int64"),
             F: T.Buffer((CO, CI, K, K), "int64"),
             O: T.Buffer((N, CO, OUT_H, OUT_W), "int64")):
        T.func_attr({"global_symbol": "conv", "tir.noalias": True})
        for b, c, y, x, q, dy, dx in T.grid(N, CO, OUT_H, OUT_W, CI, K, K):
            with T.block("O"):
                vb, vc, vy, vx, vq, vdy, vdx = T.axis.remap("SSSSRRR", [b, c, y, x, q, dy, dx])
                with T.init():
                    O[vb, vc, vy, vx] = T.int64(0)
                O[vb, vc, vy, vx] += D[vb, vq, vy + vdy, vx + vdx] * F[vc, vq, vdy, vdx]
