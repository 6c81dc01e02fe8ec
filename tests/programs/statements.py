# from tvm.script import tirx as T
# Statements and expressions that the other programs do not use.

@T.prim_func
def lowered(A: T.Buffer((64,), "float32"), n: T.int32, out: T.handle):
    m = T.int64(is_size_var=True)
    O = T.match_buffer(out, (m,), "float32", align=32)
    scratch = T.alloc_buffer((64,), scope="local")
    view = T.decl_buffer((8, 8), data=scratch.data)
    limit: T.let[T.int32] = T.min(n + 1, 64) // 2
    for i in T.parallel(16, annotations={"pragma": 1, "nested": {"list": [1, 2.5, "s", None, True]}}):
        scratch[i * 4:i * 4 + 4] = A[i * 4:i * 4 + 4] * T.float32(2) + T.Broadcast(T.float32(1), 4)
        if i < limit and not i == 2 or n > 7:
            A[i] += 1
        elif 0 <= i < 9:
            pass
        else:
            T.evaluate(T.call_extern("int32", "trace", i, A.data))
    while A[0] > 0.5:
        A[0] = T.exp(A[0]) - 2 * T.sigmoid(A[1]) / T.sqrt(-A[2])
        if A[0] > T.float32("inf"):
            break
        else:
            continue
    assert n > 0, "n must be \"positive\"\n"
    T.attr(0, "pragma_note", T.int64(4))
    for t in T.thread_binding(32, thread="threadIdx.x"):
        view[t // 8, t % 8] = T.Select(t < 2, T.float32("-inf"), T.Cast("float32", t)) if n > 2 else 0.0
    for s in T.serial(2, 5):
        flag = T.allocate([1], "int32", "local")
        flag[0] = T.Add(1, 2) + (n + 1) * 2 - (n - (n - 1)) // 2 % 5 + T.truncmod(n, 3)
        flag[0] = T.shift_left(flag[0], 2) + (n << 1) + (n & 6 | 1) + T.bitwise_not(n)
    O[0] = T.if_then_else(n == 3, A[0], T.max(A[1], A[2])) + T.Let(T.float32(1) * A[3], where={})
    p = T.alloc_buffer((), "float32")
    p[()] = T.fabs(A[T.Cast("int32", m)])
    O[1] = p[()]

@T.prim_func(s_tir=True, private=True)
def blocks(A: T.Buffer((16, 16), "float16"), B: T.Buffer((16, 16), "float16", scope="shared")):
    T.func_attr({"tirx.noalias": True, "target": T.target("llvm")})
    with T.sblock("root"):
        T.reads()
        T.writes()
        T.sblock_attr({"meta_schedule.unroll_explicit": 512})
        C = T.sblock_alloc_buffer((16, 16), "float16", scope="wmma.accumulator", align=16)
        for i, j in T.grid(4, 4):
            for k in T.unroll(3):
                with T.sblock("update"):
                    T.where(i * 4 + k < 15)
                    vi = T.axis.spatial((1, 17), i * 4 + k + 1)
                    vj = T.axis.opaque(16, j * 4)
                    vk = T.axis.scan(3, k)
                    T.reads(A[vi - 1, vj:vj + 4])
                    T.writes([C[vi - 1, vj:vj + 4], B[vi - 1, 0:16]])
                    part = T.match_buffer(C[vi - 1, vj:vj + 4], (4,), "float16", offset_factor=4)
                    for x in T.vectorized(4):
                        part[x] = A[vi - 1, vj + x] * T.float16(0.5)
                        B[vi - 1, vj + x] = part[x]
