/* schedule/intrin/tensor_intrin_mma.c - CUDA's mma and ldmatrix on tiles of 16 by 16 whose elements
 * lie spread over the 32 lanes of a warp: buffers of 32 rows in scope "warp", a row per lane. */
#include "schedule/intrin/tensor_intrin_impl.h"

#include <stdio.h>
#include <string.h>

/* Which lane has element (i, j) of a tile, and which of its elements that is. */
typedef enum layout {
    LAYOUT_16X16, /* elements of 16 bits */
    LAYOUT_16X32, /* of 8 bits, rows of 32 */
    LAYOUT_32X16,
} layout;

static const char *const layouts[] = {
    [LAYOUT_16X16] = "4 * ($i % 8) + $j % 8 // 2, 4 * ($j // 8) + $i // 8 * 2 + $j % 2",
    [LAYOUT_16X32] = "4 * ($i % 8) + $j % 16 // 4, 8 * ($j // 16) + $i // 8 * 4 + $j % 4",
    [LAYOUT_32X16] = "$i % 16 // 4 + 4 * ($j % 8), 8 * ($j // 8) + $i // 16 * 4 + $i % 4",
};

/* "C[…]" for element (i, j). */
static const char *element(char *text, size_t room, const char *buffer, layout l, const char *i,
                           const char *j) {
    hone_str out = {0};
    intrin_expand(&out, layouts[l], "ij", (const char *const[]){i, j});
    snprintf(text, room, "%s[%s]", buffer, hone_str_text(&out));
    hone_str_deinit(&out);
    return text;
}

static const char *number(char text[12], int value) {
    snprintf(text, 12, "%d", value);
    return text;
}

/* ---- ldmatrix: shared memory to registers ---- */

static const char ldmatrix_head[] =
    "@T.prim_func(s_tir=True)\n"
    "def $f(warp_handle: T.handle, shared_handle: T.handle):\n"
    "$d"
    "    shared = T.match_buffer(shared_handle, ($r, $c), \"$t\", offset_factor=$c$s,"
    " scope=\"$m\")\n"
    "    warp = T.match_buffer(warp_handle, (32, $l), \"$t\", offset_factor=$c, scope=\"warp\")\n"
    "    with T.sblock(\"root\"):\n"
    "        T.reads(shared[0:$r, 0:$c])\n"
    "        T.writes(warp[0:32, 0:$l])\n";
static const char ldmatrix_desc[] = "        for ax0, ax1 in T.grid($r, $c):\n"
                                    "            with T.sblock(\"shared_warp\"):\n"
                                    "                v0, v1 = T.axis.remap(\"SS\", [ax0, ax1])\n"
                                    "                T.reads(shared[v0, v1])\n"
                                    "                T.writes($w)\n"
                                    "                $w = shared[v0, v1]\n";
static const char ldmatrix_impl[] =
    "        for tx in T.thread_binding(32, thread=\"threadIdx.x\"):\n"
    "            T.ptx_legacy.ldmatrix(T.bool($x), 4, \".b16\", warp.data,"
    " warp.elem_offset + $l * tx, shared.access_ptr(\"r\"), $o, dtype=\"$t\")\n";

/* Which row of eight 16-bit elements lane tx points to. Matrix b of bytes, not transposed, is
 * loaded element by element: only the stride counts. */
static const char *row_of_lane(const intrin_words *words, bool is_bytes) {
    if (is_bytes && words->is_b && !words->is_trans) return "s0";
    if (is_bytes && words->is_b) {
        return "s0 * 8 * (tx // 16) + tx % 8 * s0 + 16 * (tx % 16 // 8)";
    }
    if (is_bytes) return "s0 * (tx % 16) + 16 * (tx // 16)";
    if (words->is_trans) return "s0 * 8 * (tx // 16) + s0 * (tx % 8) + 8 * (tx % 16 // 8)";
    return "s0 * (tx % 16) + 8 * (tx // 16)";
}

void intrin_write_ldmatrix(const intrin_words *words, hone_str *out) {
    bool is_bytes = strcmp(words->types[0], "float16") != 0;
    int k = is_bytes ? 32 : 16;
    bool is_deep = words->is_b != words->is_trans; /* rows along k */
    char rows[12], columns[12], local[12], warp[160];
    layout l = !is_bytes ? LAYOUT_16X16 : is_deep ? LAYOUT_32X16 : LAYOUT_16X32;
    bool is_turned = words->is_b ? !words->is_trans : words->is_trans;
    const char *values[] = {"desc",
                            "",
                            number(rows, is_deep ? k : 16),
                            number(columns, is_deep ? 16 : k),
                            words->types[0],
                            "",
                            words->scope ? words->scope : "shared",
                            number(local, k / 2),
                            element(warp, sizeof warp, "warp", l, "v0", "v1"),
                            is_turned ? "True" : "False",
                            row_of_lane(words, is_bytes)};
    static const char names[] = "fdrctsmlwxo";
    intrin_expand(out, ldmatrix_head, names, values);
    intrin_expand(out, ldmatrix_desc, names, values);
    values[0] = "impl";
    values[1] = "    s0 = T.int32()\n    s1 = T.int32()\n";
    values[5] = ", strides=(s0, s1)";
    intrin_expand(out, ldmatrix_head, names, values);
    intrin_expand(out, ldmatrix_impl, names, values);
}

/* ---- mma: C += A B on registers ---- */

static const char mma_head[] =
    "@T.prim_func(s_tir=True)\n"
    "def $f(a: T.handle, b: T.handle, c: T.handle):\n"
    "    A = T.match_buffer(a, (32, $l), \"$t\", offset_factor=$p, scope=\"warp\")\n"
    "    B = T.match_buffer(b, (32, $l), \"$t\", offset_factor=$q, scope=\"warp\")\n"
    "    C = T.match_buffer(c, (32, 8), \"$u\", offset_factor=16, scope=\"warp\")\n"
    "    with T.sblock(\"root\"):\n"
    "        T.reads(C[0:32, 0:8], A[0:32, 0:$l], B[0:32, 0:$l])\n"
    "        T.writes(C[0:32, 0:8])\n";
static const char mma_desc[] = "        for i, j, k in T.grid(16, 16, $k):\n"
                               "            with T.sblock(\"C\"):\n"
                               "                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
                               "                T.reads($C, $A, $B)\n"
                               "                T.writes($C)\n"
                               "                $C = $C + $x$A$y * $x$B$y\n";
static const char mma_impl[] =
    "        for tx in T.thread_binding(32, thread=\"threadIdx.x\"):\n"
    "            T.ptx_legacy.mma(\"m16n8k$k\", \"row\", \"col\", \"$s\", \"$s\", \"$z\", A.data,"
    " A.elem_offset + tx * $l, B.data, B.elem_offset + tx * $l, C.data, C.elem_offset + tx * 8,"
    " T.bool(False), dtype=\"$u\")\n"
    "            T.ptx_legacy.mma(\"m16n8k$k\", \"row\", \"col\", \"$s\", \"$s\", \"$z\", A.data,"
    " A.elem_offset + tx * $l, B.data, B.elem_offset + tx * $l + $h, C.data,"
    " C.elem_offset + tx * 8 + 4, T.bool(False), dtype=\"$u\")\n";

/* PTX's word for a type. */
static const char *ptx_type(const char *dtype) {
    if (strcmp(dtype, "float16") == 0) return "fp16";
    if (strcmp(dtype, "float32") == 0) return "fp32";
    if (strcmp(dtype, "float8_e4m3fn") == 0) return "e4m3";
    if (strcmp(dtype, "float8_e5m2") == 0) return "e5m2";
    return dtype;
}

void intrin_write_mma(const intrin_words *words, hone_str *out) {
    const char *from = words->types[0], *to = words->types[2];
    bool is_bytes = strcmp(from, "float16") != 0, is_cast = strcmp(to, "float16") != 0;
    layout a = is_bytes ? LAYOUT_16X32 : LAYOUT_16X16;
    layout b = !is_bytes ? LAYOUT_16X16 : words->is_trans_b ? LAYOUT_16X32 : LAYOUT_32X16;
    char A[160], B[160], C[160], cast[32], k[12], local[12], half[12];
    snprintf(cast, sizeof cast, "T.Cast(\"%s\", ", to);
    number(k, is_bytes ? 32 : 16);
    const char *values[] = {
        "desc",
        number(local, is_bytes ? 16 : 8),
        from,
        to,
        words->is_trans_a ? "16" : k,
        words->is_trans_b ? k : "16",
        k,
        element(A, sizeof A, "A", a, words->is_trans_a ? "vk" : "vi",
                words->is_trans_a ? "vi" : "vk"),
        element(B, sizeof B, "B", b, words->is_trans_b ? "vj" : "vk",
                words->is_trans_b ? "vk" : "vj"),
        element(C, sizeof C, "C", LAYOUT_16X16, "vi", "vj"),
        is_cast ? cast : "",
        is_cast ? ")" : "",
        ptx_type(from),
        ptx_type(to),
        number(half, is_bytes ? 8 : 4),
    };
    static const char names[] = "fltupqkABCxyszh";
    intrin_expand(out, mma_head, names, values);
    intrin_expand(out, mma_desc, names, values);
    values[0] = "impl";
    intrin_expand(out, mma_head, names, values);
    intrin_expand(out, mma_impl, names, values);
}

/* ---- zeros, and registers to memory ---- */

static const char fill_text[] =
    "@T.prim_func(s_tir=True)\n"
    "def desc(a: T.handle):\n"
    "    C_warp = T.match_buffer(a, (32, 8), \"$t\", scope=\"warp\")\n"
    "    with T.sblock(\"root\"):\n"
    "        T.reads()\n"
    "        T.writes(C_warp[0:32, 0:8])\n"
    "        for i0, i1 in T.grid(16, 16):\n"
    "            with T.sblock(\"C_warp\"):\n"
    "                i, j = T.axis.remap(\"SS\", [i0, i1])\n"
    "                T.reads()\n"
    "                T.writes($w)\n"
    "                $w = T.$t(0)\n"
    "@T.prim_func(s_tir=True)\n"
    "def impl(a: T.handle):\n"
    "    C_warp = T.match_buffer(a, (32, 8), \"$t\", scope=\"warp\", offset_factor=1)\n"
    "    with T.sblock(\"root\"):\n"
    "        T.reads()\n"
    "        T.writes(C_warp[0:32, 0:8])\n"
    "        for tx in T.thread_binding(32, thread=\"threadIdx.x\"):\n"
    "            T.cuda.mma_fill_legacy(8, C_warp.data, C_warp.elem_offset, dtype=\"$t\")\n";

void intrin_write_mma_fill(const intrin_words *words, hone_str *out) {
    char warp[160];
    element(warp, sizeof warp, "C_warp", LAYOUT_16X16, "i", "j");
    intrin_expand(out, fill_text, "tw", (const char *const[]){words->types[0], warp});
}

static const char store_text[] =
    "@T.prim_func(s_tir=True)\n"
    "def desc(a: T.handle, c: T.handle):\n"
    "    C_warp = T.match_buffer(a, (32, 8), \"$t\", scope=\"warp\")\n"
    "    C = T.match_buffer(c, (16, 16), \"$t\", scope=\"$m\")\n"
    "    with T.sblock(\"root\"):\n"
    "        T.reads(C_warp[0:32, 0:8])\n"
    "        T.writes(C[0:16, 0:16])\n"
    "        for i0, i1 in T.grid(16, 16):\n"
    "            with T.sblock(\"C_warp\"):\n"
    "                v0, v1 = T.axis.remap(\"SS\", [i0, i1])\n"
    "                T.reads($w)\n"
    "                T.writes(C[v0, v1])\n"
    "                C[v0, v1] = $w\n"
    "@T.prim_func(s_tir=True)\n"
    "def impl(a: T.handle, c: T.handle):\n"
    "    s0 = T.int32()\n"
    "    s1 = T.int32()\n"
    "    C_warp = T.match_buffer(a, (32, 8), \"$t\", scope=\"warp\", offset_factor=1)\n"
    "    C = T.match_buffer(c, (16, 16), \"$t\", scope=\"$m\", offset_factor=1,"
    " strides=(s0, s1))\n"
    "    with T.sblock(\"root\"):\n"
    "        T.reads(C_warp[0:32, 0:8])\n"
    "        T.writes(C[0:16, 0:16])\n"
    "        for tx in T.thread_binding(32, thread=\"threadIdx.x\"):\n";

void intrin_write_mma_store(const intrin_words *words, hone_str *out) {
    static const char at_once[] =
        "            T.cuda.mma_store_legacy(16, 16, C.access_ptr(\"w\"), C_warp.data, "
        "C_warp.elem_offset, s0, dtype=\"$t\")\n";
    static const char one_by_one[] =
        "            for local_id in range(8):\n"
        "                C[8 * (local_id % 4 // 2) + tx // 4,"
        " 8 * (local_id // 4) + tx % 4 * 2 + local_id % 2] = C_warp[tx, local_id]\n";
    char warp[160];
    element(warp, sizeof warp, "C_warp", LAYOUT_16X16, "v0", "v1");
    const char *values[] = {words->types[0], words->scope, warp};
    intrin_expand(out, store_text, "tmw", values);
    intrin_expand(out, words->is_simple ? one_by_one : at_once, "tmw", values);
}
