# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def fused_matmul1_add1(x: T.Buffer((T.int64(1), T.int64(48)), "float32"), w: T.Buffer((T.int64(48), T.int64(10)), "float32"), b: T.Buffer((T.int64(10),), "float32"), out: T.Buffer((T.int64(1), T.int64(10)), "float32")):
        T.func_attr({"tir.noalias": True})
        # with T.block("root"):
        product = T.alloc_buffer((T.int64(1), T.int64(10)))
        for i0, i1, k in T.grid(T.int64(1), T.int64(10), T.int64(48)):
            with T.block("product"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(x[v_i0, v_k], w[v_k, v_i1])
                T.writes(product[v_i0, v_i1])
                with T.init():
                    product[v_i0, v_i1] = T.float32(0.0)
                product[v_i0, v_i1] = product[v_i0, v_i1] + x[v_i0, v_k] * w[v_k, v_i1]
        for ax0, ax1 in T.grid(T.int64(1), T.int64(10)):
            with T.block("out"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(product[v_ax0, v_ax1], b[v_ax1])
                T.writes(out[v_ax0, v_ax1])
                out[v_ax0, v_ax1] = product[v_ax0, v_ax1] + b[v_ax1]

    @T.prim_func(private=True)
    def fused_matmul_add_relu(x: T.Buffer((T.int64(1), T.int64(96)), "float32"), w: T.Buffer((T.int64(96), T.int64(48)), "float32"), b: T.Buffer((T.int64(48),), "float32"), out: T.Buffer((T.int64(1), T.int64(48)), "float32")):
        T.func_attr({"tir.noalias": True})
        # with T.block("root"):
        product = T.alloc_buffer((T.int64(1), T.int64(48)))
        for i0, i1, k in T.grid(T.int64(1), T.int64(48), T.int64(96)):
            with T.block("product"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(x[v_i0, v_k], w[v_k, v_i1])
                T.writes(product[v_i0, v_i1])
                with T.init():
                    product[v_i0, v_i1] = T.float32(0.0)
                product[v_i0, v_i1] = product[v_i0, v_i1] + x[v_i0, v_k] * w[v_k, v_i1]
        for ax0, ax1 in T.grid(T.int64(1), T.int64(48)):
            with T.block("out"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(product[v_ax0, v_ax1], b[v_ax1])
                T.writes(out[v_ax0, v_ax1])
                out[v_ax0, v_ax1] = T.max(product[v_ax0, v_ax1] + b[v_ax1], T.float32(0.0))

    @T.prim_func(private=True)
    def transpose(w: T.Buffer((T.int64(48), T.int64(96)), "float32"), T_transpose: T.Buffer((T.int64(96), T.int64(48)), "float32")):
        T.func_attr({"op_pattern": 2, "tir.noalias": True})
        # with T.block("root"):
        for ax0, ax1 in T.grid(T.int64(96), T.int64(48)):
            with T.block("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(w[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = w[v_ax1, v_ax0]

    @T.prim_func(private=True)
    def transpose1(w: T.Buffer((T.int64(10), T.int64(48)), "float32"), T_transpose: T.Buffer((T.int64(48), T.int64(10)), "float32")):
        T.func_attr({"op_pattern": 2, "tir.noalias": True})
        # with T.block("root"):
        for ax0, ax1 in T.grid(T.int64(48), T.int64(10)):
            with T.block("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(w[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = w[v_ax1, v_ax0]

    @R.function
    def main(x: R.Tensor((1, 96), dtype="float32"), w0: R.Tensor((48, 96), dtype="float32"), b0: R.Tensor((48,), dtype="float32"), w1: R.Tensor((10, 48), dtype="float32"), b1: R.Tensor((10,), dtype="float32")) -> R.Tensor((1, 10), dtype="float32"):
        R.func_attr({"num_input": 1})
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.transpose, (w0,), out_sinfo=R.Tensor((96, 48), dtype="float32"))
            lv_1 = R.call_tir(cls.fused_matmul_add_relu, (x, lv, b0), out_sinfo=R.Tensor((1, 48), dtype="float32"))
            lv4 = R.call_tir(cls.transpose1, (w1,), out_sinfo=R.Tensor((48, 10), dtype="float32"))
            gv = R.call_tir(cls.fused_matmul1_add1, (lv_1, lv4, b1), out_sinfo=R.Tensor((1, 10), dtype="float32"))
            R.output(gv)
        return gv
