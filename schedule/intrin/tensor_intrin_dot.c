/* schedule/intrin/tensor_intrin_dot.c - small integers that are multiplied and summed: one
 * instruction of a CPU (vpdpbusd, sdot, smmla, vrmpy), or one of a thread of a GPU (dp4a, sdot4).
 *
 * What the CPU ones describe is TVM's; their implementations are plain loops over one tile, which
 * say nothing but what is computed: the code generator makes of them what the target has, and no
 * 16-bit sum saturates on the way, as it does in TVM's dot_16x4_avx512.
 */
#include "schedule/intrin/tensor_intrin_impl.h"

/* C[i] += sum of A[k] * B[i, k] over $k (4 or 2) values of k, for $n values of i. */
static const char dot_head[] =
    "(A: T.Buffer(($k,), \"$a\", offset_factor=1), B: T.Buffer(($n, $k), \"$b\", offset_factor=1),"
    " C: T.Buffer(($n,), \"$c\", offset_factor=1)):\n"
    "    with T.sblock(\"root\"):\n"
    "        T.reads(C[0:$n], A[0:$k], B[0:$n, 0:$k])\n"
    "        T.writes(C[0:$n])\n";
static const char dot_desc[] =
    "        for i, k in T.grid($n, $k):\n"
    "            with T.sblock(\"update\"):\n"
    "                vi, vk = T.axis.remap(\"SR\", [i, k])\n"
    "                C[vi] = C[vi] + T.cast(A[vk], \"$c\") * T.cast(B[vi, vk], \"$c\")\n";
static const char dot_impl[] =
    "        for i in range($n):\n"
    "            C[i] = C[i] + (T.cast(A[0], \"$c\") * T.cast(B[i, 0], \"$c\")"
    " + T.cast(A[1], \"$c\") * T.cast(B[i, 1], \"$c\")"
    " + T.cast(A[2], \"$c\") * T.cast(B[i, 2], \"$c\")"
    " + T.cast(A[3], \"$c\") * T.cast(B[i, 3], \"$c\"))\n";

static const char dot_impl_pair[] =
    "        for i in range($n):\n"
    "            C[i] = C[i] + (T.cast(A[0], \"$c\") * T.cast(B[i, 0], \"$c\")"
    " + T.cast(A[1], \"$c\") * T.cast(B[i, 1], \"$c\"))\n";

/* Head and body of a function, the head after its name. */
static void write_func(hone_str *out, const char *name, const char *head, const char *body,
                       const char *names, const char *const *values) {
    hone_str_printf(out, "@T.prim_func(s_tir=True)\ndef %s", name);
    intrin_expand(out, head, names, values);
    intrin_expand(out, body, names, values);
}

static const char *extent_word(int extent) {
    return extent == 32 ? "32" : extent == 16 ? "16" : extent == 8 ? "8" : extent == 4 ? "4" : "2";
}

void intrin_write_dot(const intrin_words *words, hone_str *out) {
    bool is_typed = words->type_count == 3; /* a name that says nothing: the x86 way */
    const char *values[] = {extent_word(words->dims[0]), is_typed ? words->types[0] : "uint8",
                            is_typed ? words->types[1] : "int8",
                            is_typed ? words->types[2] : "int32", extent_word(words->dims[1])};
    const char *impl = words->dims[1] == 2 ? dot_impl_pair : dot_impl;
    write_func(out, "desc", dot_head, dot_desc, "nabck", values);
    write_func(out, "impl", dot_head, impl, "nabck", values);
}

/* C[i, j] += sum of A[i, k] * B[j, k]: 2 by 2 by 8. */
static const char matmul_head[] =
    "(A: T.Buffer((2, 8), \"$a\", offset_factor=1), B: T.Buffer((2, 8), \"$b\", offset_factor=1),"
    " C: T.Buffer((2, 2), \"$c\", offset_factor=1)):\n"
    "    with T.sblock(\"root\"):\n"
    "        T.reads(C[0:2, 0:2], A[0:2, 0:8], B[0:2, 0:8])\n"
    "        T.writes(C[0:2, 0:2])\n";
static const char matmul_desc[] =
    "        for i, j, k in T.grid(2, 2, 8):\n"
    "            with T.sblock(\"update\"):\n"
    "                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
    "                C[vi, vj] = C[vi, vj] + T.cast(A[vi, vk], \"$c\") * T.cast(B[vj, vk], "
    "\"$c\")\n";
static const char matmul_impl[] =
    "        for i, j in T.grid(2, 2):\n"
    "            for k in T.unroll(8):\n"
    "                C[i, j] = C[i, j] + T.cast(A[i, k], \"$c\") * T.cast(B[j, k], \"$c\")\n";

void intrin_write_matmul(const intrin_words *words, hone_str *out) {
    write_func(out, "desc", matmul_head, matmul_desc, "abc", words->types);
    write_func(out, "impl", matmul_head, matmul_impl, "abc", words->types);
}

static const char dp4a_head[] =
    "(A: T.Buffer((4,), \"$a\", scope=\"shared\", align=4, offset_factor=1),"
    " B: T.Buffer((4,), \"$b\", scope=\"shared\", align=4, offset_factor=1),"
    " C: T.Buffer((1,), \"$c\", scope=\"local\", align=4, offset_factor=1)):\n"
    "    with T.sblock(\"root\"):\n"
    "        T.reads(C[0], A[0:4], B[0:4])\n"
    "        T.writes(C[0])\n";
static const char dp4a_desc[] =
    "        for i in range(4):\n"
    "            with T.sblock(\"update\"):\n"
    "                vi = T.axis.remap(\"R\", [i])\n"
    "                C[0] = C[0] + T.Cast(\"$c\", A[vi]) * T.Cast(\"$c\", B[vi])\n";
static const char dp4a_impl[] =
    "        C[0] = C[0] + T.call_pure_extern(\"$c\", \"__dp4a\", A[T.Ramp(0, 1, 4)],"
    " B[T.Ramp(0, 1, 4)], T.$c(0))\n";

void intrin_write_dp4a(const intrin_words *words, hone_str *out) {
    write_func(out, "desc", dp4a_head, dp4a_desc, "abc", words->types);
    write_func(out, "impl", dp4a_head, dp4a_impl, "abc", words->types);
}

/* dp4a's description, of signed bytes, for AMD. */
static const char sdot4_impl[] =
    "        C[0] = C[0] + (T.cast(A[0], \"$c\") * T.cast(B[0], \"$c\")"
    " + T.cast(A[1], \"$c\") * T.cast(B[1], \"$c\")"
    " + T.cast(A[2], \"$c\") * T.cast(B[2], \"$c\")"
    " + T.cast(A[3], \"$c\") * T.cast(B[3], \"$c\"))\n";

void intrin_write_sdot4(const intrin_words *words, hone_str *out) {
    (void)words; /* the name says nothing */
    const char *const values[] = {"int8", "int8", "int32"};
    write_func(out, "desc", dp4a_head, dp4a_desc, "abc", values);
    write_func(out, "impl", dp4a_head, sdot4_impl, "abc", values);
}
