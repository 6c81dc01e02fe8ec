# from tvm.script import ir as I
# from typing import TypeVar
from typing import TypeVar
n = TypeVar("n")
m = TypeVar("m")

@I.ir_module(s_tir=True, check_well_formed=False)
class Module:
    I.module_attrs({"external_mods": [], "x": 1})
    I.module_global_infos({"vdevice": [I.vdevice({"keys": ["cpu"], "kind": "llvm", "tag": ""}, 0, "global")]})
    @T.prim_func(private=True, s_tir=True)
    def f(A: T.Buffer((n, T.int64(128)), "float32"), B: T.Buffer((n, m * 2), "float32", offset_factor=1)):
        T.func_attr({"tirx.is_scheduled": 1, "target": T.target({"kind": "llvm", "keys": ["cpu"]})})
        for i, j in T.grid(n, m):
            with T.sblock("x"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = T.reinterpret("float32", T.Cast("int32", A[vi, 0]))
        T.tvm_storage_sync("shared")
        T.evaluate(B.access_ptr("rw", offset=4))

    @R.function
    def main(x: R.Tensor((n, 784), dtype="float32"), y: R.Tensor(("m * 2",))) -> R.Tensor((n, 10), dtype="float32"):
        gv = R.call_tir(Module.f, (x,), out_sinfo=R.Tensor((n, 10), "float32"), tir_vars=R.shape([n]))
        return gv

    @T.prim_func
    def k(var_A: T.handle, p: T.handle("float32", "global"), q: T.Ptr[T.float32]):
        batch = T.int32(is_size_var=True)
        A = T.match_buffer(var_A, (batch, 16), dtype="int8")
        P = T.Buffer((16,), "float32", data=p)
        Q = T.decl_buffer((16,), "float32", data=q)
        bx = T.env_thread("blockIdx.x")
        T.launch_thread(bx, 4)
        v: T.int8x4 = A[bx, T.Ramp(0, 1, 4)]
        w: T.float32 = T.float32(3)
        P[bx] = w + Q[0]
        with T.attr(bx, "realize_scope", T.StringImm("x")):
            Q[1] = T.likely(bx < 3)
        T.call_packed("f", A.data, 1, "s", T.float64(2.5))
        T.ret(0)
