# from tvm.script import tir as T

@T.prim_func
def main(X1: T.Buffer((14,), "float32"), relu: T.Buffer((14,), "float32")):
    T.func_attr({"global_symbol": "main", "tir.noalias": T.bool(True)})
    # with T.block("root"):
    for i0 in range(14):
        with T.block("relu"):
            v_i0 = T.axis.spatial(14, i0)
            T.reads(X1[v_i0])
            T.writes(relu[v_i0])
            relu[v_i0] = T.max(X1[v_i0], T.float32(0))
