# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(X: T.Buffer((72, 40), "float32"), W: T.Buffer((40, 88), "float32"), positive: T.Buffer((72, 88), "float32")):
        T.func_attr({"tir.noalias": True})
        # with T.sblock("root"):
        product = T.sblock_alloc_buffer((72, 88))
        for i, j, k in T.grid(72, 88, 40):
            with T.sblock("product"):
                v_i, v_j, v_k = T.axis.remap("SSR", [i, j, k])
                T.reads(X[v_i, v_k], W[v_k, v_j])
                T.writes(product[v_i, v_j])
                with T.init():
                    product[v_i, v_j] = T.float32(0.0)
                product[v_i, v_j] = product[v_i, v_j] + X[v_i, v_k] * W[v_k, v_j]
        for i0, i1 in T.grid(72, 88):
            with T.sblock("positive"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(product[v_i0, v_i1])
                T.writes(positive[v_i0, v_i1])
                positive[v_i0, v_i1] = T.max(product[v_i0, v_i1], T.float32(0.0))
