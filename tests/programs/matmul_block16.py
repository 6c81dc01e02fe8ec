# A block that computes a tile of 16 x 16 at a time: what a tensor unit would do.
from tvm.script import tir as T

@tvm.script.ir_module
class MatmulTiles:
    @T.prim_func
    def main(
        X: T.Buffer((256, 256), "float32"),
        W: T.Buffer((256, 256), "float32"),
        M: T.Buffer((256, 256), "float32"),
    ) -> None:
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        for i0, j0, k0 in T.grid(16, 16, 16):
            with T.block("tile-16x16"):
                vi0, vj0, vk0 = T.axis.remap("SSR", [i0, j0, k0])
                with T.init():
                    for i1, j1 in T.grid(16, 16):
                        with T.block("tile_init"):
                            vi1, vj1 = T.axis.remap("SS", [i1, j1])
                            M[vi0 * 16 + vi1, vj0 * 16 + vj1] = T.float32(0)
                for i1, j1, k1 in T.grid(16, 16, 16):
                    with T.block("tile"):
                        vi1, vj1, vk1 = T.axis.remap("SSR", [i1, j1, k1])
                        M[vi0 * 16 + vi1, vj0 * 16 + vj1] += \
                            X[vi0 * 16 + vi1, vk0 * 16 + vk1] * W[vj0 * 16 + vj1, vk0 * 16 + vk1]
