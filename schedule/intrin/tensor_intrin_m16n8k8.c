/* schedule/intrin/tensor_intrin_m16n8k8.c - CUDA's mma of 16 by 8 by 8 half floats, on matrices
 * that are whole in the program ("m16n8k8.matrixA", …B, …C) and spread over the lanes of a warp
 * when they are lowered. */
#include "schedule/intrin/tensor_intrin_impl.h"

#include <string.h>

/* Where the elements of a matrix begin among the registers of a lane. */
static const char place_of_a[] =
    "($v.elem_offset // $d // 32 * ($d // 8) + $v.elem_offset % $d // 8) * 8"
    " + $v.elem_offset // $d % 32 // 16 * 4";
static const char place_of_b[] =
    "($v.elem_offset // $d // 8 * ($d // 32) + $v.elem_offset % $d // 32) * 8"
    " + $v.elem_offset % $d % 32 // 8 * 2";
static const char place_of_c[] =
    "($v.elem_offset // $d // 8 // 2 * 2 * ($d // 8) + $v.elem_offset // $d // 8 % 2"
    " + $v.elem_offset % $d // 8 * 2) * 2";

static void place(hone_str *out, const char *text, const char *buffer, const char *stride) {
    intrin_expand(out, text, "vd", (const char *const[]){buffer, stride});
}

static const char init_text[] =
    "@T.prim_func(s_tir=True)\n"
    "def desc(c: T.handle):\n"
    "    dst = T.match_buffer(c, (16, 8), \"$t\", offset_factor=1, scope=\"m16n8k8.matrixC\")\n"
    "    with T.sblock(\"root\"):\n"
    "        T.reads()\n"
    "        T.writes(dst[0:16, 0:8])\n"
    "        for i, j in T.grid(16, 8):\n"
    "            with T.sblock(\"init\"):\n"
    "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "                dst[vi, vj] = T.$t(0)\n"
    "@T.prim_func(s_tir=True)\n"
    "def impl(c: T.handle):\n"
    "    dst = T.match_buffer(c, (16, 8), \"$t\", offset_factor=1, scope=\"m16n8k8.matrixC\")\n"
    "    with T.sblock(\"root\"):\n"
    "        T.reads()\n"
    "        T.writes(dst[0:16, 0:8])\n"
    "        for tx in T.thread_binding(32, thread=\"threadIdx.x\"):\n"
    "            for b in range(2):\n"
    "                for v in T.vectorized(2):\n"
    "                    dst[b * 8 + tx // 4, tx % 4 * 2 + v] = T.$t(0)\n";

void intrin_write_m16n8k8_init(const intrin_words *words, hone_str *out) {
    intrin_expand(out, init_text, "t", &words->types[0]);
}

static const char load_text[] =
    "@T.prim_func(s_tir=True)\n"
    "def desc(a: T.handle, c: T.handle):\n"
    "    src = T.match_buffer(a, ($r, $c), \"$t\", offset_factor=1, scope=\"$m\")\n"
    "    dst = T.match_buffer(c, ($r, $c), \"$t\", offset_factor=1, scope=\"m16n8k8.matrix$x\")\n"
    "    with T.sblock(\"root\"):\n"
    "        T.reads(src[0:$r, 0:$c])\n"
    "        T.writes(dst[0:$r, 0:$c])\n"
    "        for i, j in T.grid($r, $c):\n"
    "            with T.sblock(\"root\"):\n"
    "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "                dst[vi, vj] = src[vi, vj]\n"
    "@T.prim_func(s_tir=True)\n"
    "def impl(a: T.handle, c: T.handle):\n"
    "    s0 = T.int32()\n"
    "    s1 = T.int32()\n"
    "    src = T.match_buffer(a, ($r, $c), \"$t\", offset_factor=1, strides=(s0, s1),"
    " scope=\"$m\")\n"
    "    d0 = T.int32()\n"
    "    d1 = T.int32()\n"
    "    dst = T.match_buffer(c, ($r, $c), \"$t\", offset_factor=1, strides=(d0, d1),"
    " scope=\"m16n8k8.matrix$x\")\n"
    "    with T.sblock(\"root\"):\n"
    "        T.reads(src[0:$r, 0:$c])\n"
    "        T.writes(dst[0:$r, 0:$c])\n"
    "        for tx in T.thread_binding(32, thread=\"threadIdx.x\"):\n"
    "            T.ptx_legacy.ldmatrix(T.bool($f), 4, \".b16\", dst.data, ";
static const char load_tail[] = ", src.access_ptr(\"r\"), $o, dtype=\"$t\")\n";

void intrin_write_m16n8k8_load(const intrin_words *words, hone_str *out) {
    bool is_b = words->is_b;
    const char *values[] = {is_b ? "8" : "32",
                            is_b ? "32" : "8",
                            words->types[0],
                            words->scope,
                            is_b ? "B" : "A",
                            is_b ? "True" : "False",
                            is_b ? "tx % 8 * s0 + tx // 8 * 8" : "tx * s0"};
    static const char names[] = "rctmxfo";
    intrin_expand(out, load_text, names, values);
    place(out, is_b ? place_of_b : place_of_a, "dst", "d0");
    intrin_expand(out, load_tail, names, values);
}

/* TVM's name says "global" and its text shared memory; the implementation is the description. */
static const char store_text[] =
    "@T.prim_func(s_tir=True)\n"
    "def $f(a: T.handle, c: T.handle):\n"
    "    src = T.match_buffer(a, (16, 8), \"$t\", offset_factor=1, scope=\"m16n8k8.matrixC\")\n"
    "    dst = T.match_buffer(c, (16, 8), \"$t\", offset_factor=1, scope=\"shared.dyn\")\n"
    "    with T.sblock(\"root\"):\n"
    "        T.reads(src[0:16, 0:8])\n"
    "        T.writes(dst[0:16, 0:8])\n"
    "        for i, j in T.grid(16, 8):\n"
    "            with T.sblock(\"m16n8k8_store\"):\n"
    "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "                dst[vi, vj] = src[vi, vj]\n";

void intrin_write_m16n8k8_store(const intrin_words *words, hone_str *out) {
    intrin_expand(out, store_text, "ft", (const char *const[]){"desc", words->types[0]});
    intrin_expand(out, store_text, "ft", (const char *const[]){"impl", words->types[0]});
}

static const char sync_head[] =
    "@T.prim_func(s_tir=True)\n"
    "def $f(a: T.handle, b: T.handle, c: T.handle):\n"
    "$d"
    "    A = T.match_buffer(a, (16, 8), \"$t\", offset_factor=1$x, scope=\"m16n8k8.matrixA\")\n"
    "    B = T.match_buffer(b, (8, 8), \"$t\", offset_factor=1$y, scope=\"m16n8k8.matrixB\")\n"
    "    C = T.match_buffer(c, (16, 8), \"$u\", offset_factor=1$z, scope=\"m16n8k8.matrixC\")\n"
    "    with T.sblock(\"root\"):\n"
    "        T.reads(C[0:16, 0:8], A[0:16, 0:8], B[0:8, 0:8])\n"
    "        T.writes(C[0:16, 0:8])\n";
static const char sync_desc[] =
    "        for i, j, k in T.grid(16, 8, 8):\n"
    "            with T.sblock(\"m16n8k8_sync\"):\n"
    "                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
    "                C[vi, vj] = C[vi, vj] + $pA[vi, vk]$q * $pB[vk, vj]$q\n";

void intrin_write_m16n8k8_sync(const intrin_words *words, hone_str *out) {
    const char *from = words->types[0], *to = words->types[2];
    bool is_same = strcmp(from, to) == 0;
    const char *values[] = {"desc",
                            "",
                            from,
                            to,
                            "",
                            "",
                            "",
                            is_same ? "" : "T.Cast(\"float32\", ",
                            is_same ? "" : ")"};
    static const char names[] = "fdtuxyzpq";
    intrin_expand(out, sync_head, names, values);
    intrin_expand(out, sync_desc, names, values);
    values[0] = "impl";
    values[1] = "    a0 = T.int32()\n    a1 = T.int32()\n    b0 = T.int32()\n    b1 = T.int32()\n"
                "    c0 = T.int32()\n    c1 = T.int32()\n";
    values[4] = ", strides=(a0, a1)";
    values[5] = ", strides=(b0, b1)";
    values[6] = ", strides=(c0, c1)";
    intrin_expand(out, sync_head, names, values);
    hone_str_printf(out,
                    "        T.ptx_legacy.mma(\"m16n8k8\", \"row\", \"col\", \"%s\", \"%s\", "
                    "\"%s\", A.data, ",
                    from, from, to);
    place(out, place_of_a, "A", "a0");
    hone_str_append(out, ", B.data, ");
    place(out, place_of_b, "B", "b0");
    hone_str_append(out, ", C.data, ");
    place(out, place_of_c, "C", "c0");
    hone_str_printf(out, ", T.bool(False), dtype=\"%s\")\n", to);
}
