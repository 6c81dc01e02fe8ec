#include "schedule/tensor_intrin_impl.h"

#include <string.h>

#include "support/attributes.h"

/* The built-in tensor intrinsics, by TVM's names: what they describe is TVM's, their
 * implementations are plain loops over one tile that the code generator turns into what the target
 * has. */

/* C[i] += sum of A[k] * B[i, k] over 4 values of k, for n values of i. */
#define DOT(name, n, a, b, c)                                                                      \
    {                                                                                              \
        name, "from tvm.script import tir as T\n" DOT_HEAD(                                        \
                  "desc", n, a, b,                                                                 \
                  c) "        for i, k in T.grid(" n ", 4):\n"                                     \
                     "            with T.block(\"update\"):\n"                                     \
                     "                vi, vk = T.axis.remap(\"SR\", [i, k])\n"                     \
                     "                C[vi] = C[vi] + T.cast(A[vk], \"" c "\")"                    \
                     " * T.cast(B[vi, vk], \"" c "\")\n" DOT_HEAD(                                 \
                         "impl", n, a, b,                                                          \
                         c) "        for i in range(" n "):\n"                                     \
                            "            C[i] = C[i] + (" DOT_TERM("0", c) " + " DOT_TERM(         \
                                "1", c) " + " DOT_TERM("2", c) " + " DOT_TERM("3", c) ")\n"        \
    }
#define DOT_TERM(k, c) "T.cast(A[" k "], \"" c "\") * T.cast(B[i, " k "], \"" c "\")"
#define DOT_HEAD(function, n, a, b, c)                                                             \
    "@T.prim_func\n"                                                                               \
    "def " function "(A: T.Buffer((4,), \"" a "\", offset_factor=1),\n"                            \
    "        B: T.Buffer((" n ", 4), \"" b "\", offset_factor=1),\n"                               \
    "        C: T.Buffer((" n ",), \"" c "\", offset_factor=1)):\n"                                \
    "    with T.block(\"root\"):\n"                                                                \
    "        T.reads(C[0:" n "], A[0:4], B[0:" n ", 0:4])\n"                                       \
    "        T.writes(C[0:" n "])\n"

static const tensor_intrin_text texts[] = {
    DOT("dot_16x4_vnni", "16", "uint8", "int8", "int32"),
    DOT("dot_16x4_avx512", "16", "uint8", "int8", "int32"),
    DOT("dot_4x4_i8i8s32_neon", "4", "int8", "int8", "int32"),
    DOT("dot_4x4_i8i8s32_sdot", "4", "int8", "int8", "int32"),
    DOT("dot_4x4_u8u8u32_udot", "4", "uint8", "uint8", "uint32"),
    DOT("dot_4x4_u8u8i32_hdot", "4", "uint8", "uint8", "int32"),
};

const tensor_intrin_text *tensor_intrin_find_builtin(const char *name) {
    for (size_t i = 0; i < HONE_COUNT(texts); i++) {
        if (strcmp(texts[i].name, name) == 0) return &texts[i];
    }
    return NULL;
}

const char *hone_tensor_intrin_builtin(size_t index) {
    return index < HONE_COUNT(texts) ? texts[index].name : NULL;
}
