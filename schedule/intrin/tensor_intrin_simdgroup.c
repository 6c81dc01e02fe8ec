/* schedule/intrin/tensor_intrin_simdgroup.c - metal's matrices of 8 by 8, which a group of 32
 * threads fills, loads, multiplies and stores in memory of their own ("metal.simdgroup"). A matrix
 * is named by the place of its tile in the buffer: rows of tiles, then columns. */
#include "schedule/intrin/tensor_intrin_impl.h"

/* The number of the tile at which buffer $v with rows of $d begins. */
static const char place_of_tile[] =
    "$v.elem_offset // $d // 8 * ($d // 8) + $v.elem_offset % $d // 8";

static void place(hone_str *out, const char *buffer, const char *stride) {
    intrin_expand(out, place_of_tile, "vd", (const char *const[]){buffer, stride});
}

static const char fill_text[] =
    "@T.prim_func(s_tir=True)\n"
    "def desc(a: T.handle):\n"
    "    A = T.match_buffer(a, (8, 8), \"$t\", scope=\"metal.simdgroup\", offset_factor=1)\n"
    "    with T.sblock(\"root\"):\n"
    "        T.reads()\n"
    "        T.writes(A[0:8, 0:8])\n"
    "        for i, j in T.grid(8, 8):\n"
    "            with T.sblock(\"init\"):\n"
    "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "                A[vi, vj] = T.$t(0)\n"
    "@T.prim_func(s_tir=True)\n"
    "def impl(a: T.handle):\n"
    "    d1 = T.int32()\n"
    "    d0 = T.int32()\n"
    "    A = T.match_buffer(a, (8, 8), \"$t\", scope=\"metal.simdgroup\", strides=(d1, d0),"
    " offset_factor=1)\n"
    "    with T.sblock(\"root\"):\n"
    "        T.reads()\n"
    "        T.writes(A[0:8, 0:8])\n"
    "        T.metal.make_filled_simdgroup_matrix(A.data, ";

void intrin_write_simdgroup_fill(const intrin_words *words, hone_str *out) {
    intrin_expand(out, fill_text, "t", &words->types[0]);
    place(out, "A", "d1");
    hone_str_append(out, ", T.float32(0), 8, 8)\n");
}

/* A is copied to C. */
static const char copy_text[] =
    "@T.prim_func(s_tir=True)\n"
    "def desc(a: T.handle, c: T.handle):\n"
    "    A = T.match_buffer(a, (8, 8), \"$t\", scope=\"$a\", offset_factor=1)\n"
    "    C = T.match_buffer(c, (8, 8), \"$t\", scope=\"$c\", offset_factor=1)\n"
    "    with T.sblock(\"root\"):\n"
    "        T.reads(A[0:8, 0:8])\n"
    "        T.writes(C[0:8, 0:8])\n"
    "        for i, j in T.grid(8, 8):\n"
    "            with T.sblock(\"$n\"):\n"
    "                vii, vjj = T.axis.remap(\"SS\", [i, j])\n"
    "                C[$i] = A[vii, vjj]\n"
    "@T.prim_func(s_tir=True)\n"
    "def impl(a: T.handle, c: T.handle):\n"
    "    s1 = T.int32()\n"
    "    s0 = T.int32()\n"
    "    d1 = T.int32()\n"
    "    d0 = T.int32()\n"
    "    A = T.match_buffer(a, (8, 8), \"$t\", scope=\"$a\", strides=(s1, s0), offset_factor=1)\n"
    "    C = T.match_buffer(c, (8, 8), \"$t\", scope=\"$c\", strides=(d1, d0), offset_factor=1)\n"
    "    with T.sblock(\"root\"):\n"
    "        T.reads(A[0:8, 0:8])\n"
    "        T.writes(C[0:8, 0:8])\n";

static void write_copy(const intrin_words *words, const char *name, const char *from,
                       const char *to, hone_str *out) {
    const char *values[] = {words->types[0], from, to, name,
                            words->is_trans ? "vjj, vii" : "vii, vjj"};
    intrin_expand(out, copy_text, "tacni", values);
}

void intrin_write_simdgroup_load(const intrin_words *words, hone_str *out) {
    write_copy(words, "load", words->scope, "metal.simdgroup", out);
    hone_str_append(out, "        T.metal.simdgroup_load(C.data, ");
    place(out, "C", "d1");
    hone_str_printf(out, ", A.access_ptr(\"r\", ptr_type=\"%s\"), s1, 8, 8, T.bool(%s))\n",
                    words->types[0], words->is_trans ? "True" : "False");
}

void intrin_write_simdgroup_store(const intrin_words *words, hone_str *out) {
    write_copy(words, "store", "metal.simdgroup", words->scope, out);
    hone_str_append(out, "        T.metal.simdgroup_store(A.data, ");
    place(out, "A", "s1");
    hone_str_printf(out, ", C.access_ptr(\"w\", ptr_type=\"%s\"), d1, 8, 8, T.bool(%s))\n",
                    words->types[0], words->is_trans ? "True" : "False");
}

static const char multiply_text[] =
    "@T.prim_func(s_tir=True)\n"
    "def desc(a: T.handle, b: T.handle, c: T.handle):\n"
    "    A = T.match_buffer(a, (8, 8), \"$t\", scope=\"metal.simdgroup\", offset_factor=1)\n"
    "    B = T.match_buffer(b, (8, 8), \"$t\", scope=\"metal.simdgroup\", offset_factor=1)\n"
    "    C = T.match_buffer(c, (8, 8), \"$t\", scope=\"metal.simdgroup\", offset_factor=1)\n"
    "    with T.sblock(\"root\"):\n"
    "        T.reads(C[0:8, 0:8], A[0:8, 0:8], B[0:8, 0:8])\n"
    "        T.writes(C[0:8, 0:8])\n"
    "        for i, j, k in T.grid(8, 8, 8):\n"
    "            with T.sblock(\"\"):\n"
    "                vii, vjj, vkk = T.axis.remap(\"SSR\", [i, j, k])\n"
    "                C[vii, vjj] = C[vii, vjj] + A[vii, vkk] * B[vkk, vjj]\n"
    "@T.prim_func(s_tir=True)\n"
    "def impl(a: T.handle, b: T.handle, c: T.handle):\n"
    "    a1 = T.int32()\n"
    "    a0 = T.int32()\n"
    "    b1 = T.int32()\n"
    "    b0 = T.int32()\n"
    "    c1 = T.int32()\n"
    "    c0 = T.int32()\n"
    "    A = T.match_buffer(a, (8, 8), \"$t\", scope=\"metal.simdgroup\", strides=(a1, a0),"
    " offset_factor=1)\n"
    "    B = T.match_buffer(b, (8, 8), \"$t\", scope=\"metal.simdgroup\", strides=(b1, b0),"
    " offset_factor=1)\n"
    "    C = T.match_buffer(c, (8, 8), \"$t\", scope=\"metal.simdgroup\", strides=(c1, c0),"
    " offset_factor=1)\n"
    "    with T.sblock(\"root\"):\n"
    "        T.reads(C[0:8, 0:8], A[0:8, 0:8], B[0:8, 0:8])\n"
    "        T.writes(C[0:8, 0:8])\n"
    "        T.metal.simdgroup_multiply_accumulate(";

void intrin_write_simdgroup_multiply(const intrin_words *words, hone_str *out) {
    static const char *const parts[][2] = {
        {"C", "c1"},
        {"A", "a1"},
        {"B", "b1"},
        {"C", "c1"},
    };
    intrin_expand(out, multiply_text, "t", &words->types[0]);
    for (int i = 0; i < 4; i++) {
        hone_str_printf(out, "%s%s.data, ", i ? ", " : "", parts[i][0]);
        place(out, parts[i][0], parts[i][1]);
    }
    hone_str_append(out, ")\n");
}
