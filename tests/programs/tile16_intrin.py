# A tensor intrinsic: what it computes, and how it is called.
from tvm.script import tir as T

@T.prim_func
def desc(a: T.handle, b: T.handle, c: T.handle) -> None:
    A = T.match_buffer(a, (16, 16), "float32", offset_factor=16, scope="global.A_reg")
    B = T.match_buffer(b, (16, 16), "float32", offset_factor=16, scope="global.B_reg")
    C = T.match_buffer(c, (16, 16), "float32", offset_factor=16, scope="global.accumulator")
    with T.block("root"):
        T.reads(C[0:16, 0:16], A[0:16, 0:16], B[0:16, 0:16])
        T.writes(C[0:16, 0:16])
        for i, j, k in T.grid(16, 16, 16):
            with T.block(""):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]

@T.prim_func
def impl(a: T.handle, b: T.handle, c: T.handle) -> None:
    step_a = T.int32()
    step_b = T.int32()
    step_c = T.int32()
    A = T.match_buffer(a, (16, 16), "float32", offset_factor=16, strides=[step_a, 1],
                       scope="global.A_reg")
    B = T.match_buffer(b, (16, 16), "float32", offset_factor=16, strides=[step_b, 1],
                       scope="global.B_reg")
    C = T.match_buffer(c, (16, 16), "float32", offset_factor=16, strides=[step_c, 1],
                       scope="global.accumulator")
    with T.block("root"):
        T.reads(C[0:16, 0:16], A[0:16, 0:16], B[0:16, 0:16])
        T.writes(C[0:16, 0:16])
        T.evaluate(
            T.call_extern(
                "tile16",
                C.access_ptr("w"),
                A.access_ptr("r"),
                B.access_ptr("r"),
                step_a,
                step_b,
                step_c,
                dtype="int32",
            )
        )
