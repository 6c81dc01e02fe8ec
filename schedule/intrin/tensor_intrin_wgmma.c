/* schedule/intrin/tensor_intrin_wgmma.c - wgmma of sm_90a: four warps multiply tiles that lie in
 * shared memory and add them up in registers of their own ("wgmma.accumulator").
 *
 * Shared memory holds an operand as columns whose rows are 128 bytes, 64 half floats for instance:
 *
 *   A: [k // 64, row, k % 64]     B: [column // 64, k, column % 64], or transposed
 *                                    [k // 64, column, k % 64]
 *
 * The names of the family say rows x columns x steps, and as those of wmma what is multiplied. */
#include "schedule/intrin/tensor_intrin_impl.h"

#include <string.h>

enum { COLUMN_BYTES = 128, STORED = 16 };

/* Elements of a row of a column. */
static int side_by_side(const char *type) {
    return COLUMN_BYTES / (strcmp(type, "int8") == 0 ? 1 : 2);
}

static void begin(hone_str *out, bool is_impl, const char *handles) {
    hone_str_printf(out, "@T.prim_func(s_tir=True)\ndef %s(%s):\n", is_impl ? "impl" : "desc",
                    handles);
}

/* strides: names begin with this letter; 0: rows lie one behind the other. */
static void match_sums(hone_str *out, const char *variable, const char *handle, int rows,
                       int columns, const char *type, const char *scope, char strides) {
    hone_str_printf(out, "    %s = T.match_buffer(%s, (%d, %d), \"%s\", offset_factor=%d", variable,
                    handle, rows, columns, type, columns);
    if (strides) hone_str_printf(out, ", strides=(%c1, %c0)", strides, strides);
    hone_str_printf(out, ", scope=\"%s\")\n", scope);
}

static void match_columns(hone_str *out, const char *variable, const char *handle, int count,
                          int length, const char *type, char strides) {
    int side = side_by_side(type);
    hone_str_printf(out, "    %s = T.match_buffer(%s, (%d, %d, %d), \"%s\", offset_factor=%d",
                    variable, handle, count / side, length, side, type, side);
    if (strides) hone_str_printf(out, ", strides=(%c2, %c1, %c0)", strides, strides, strides);
    hone_str_append(out, ", scope=\"shared\")\n");
}

static void declare(hone_str *out, char strides, int count) {
    for (int i = count - 1; i >= 0; i--)
        hone_str_printf(out, "    %c%d = T.int32()\n", strides, i);
}

/* The number of the tile at which a buffer of tiles begins. */
static void fragment(hone_str *out, const char *variable, char strides, int rows, int columns) {
    hone_str_printf(out, "%s.elem_offset // %c1 // %d * (%c1 // %d) + %s.elem_offset %% %c1 // %d",
                    variable, strides, rows, strides, columns, variable, strides, columns);
}

void intrin_write_wgmma_fill(const intrin_words *words, hone_str *out) {
    int m = words->dims[0], n = words->dims[1];
    const char *type = words->types[0];
    for (int is_impl = 0; is_impl < 2; is_impl++) {
        begin(out, is_impl, "c: T.handle");
        if (is_impl) declare(out, 'd', 2);
        match_sums(out, "C", "c", m, n, type, "wgmma.accumulator", is_impl ? 'd' : 0);
        hone_str_printf(out,
                        "    with T.sblock(\"root\"):\n"
                        "        T.reads()\n"
                        "        T.writes(C[0:%d, 0:%d])\n",
                        m, n);
        if (is_impl) {
            hone_str_printf(out, "        T.tvm_fill_fragment(C.data, %d, %d, %d, ", m, n, STORED);
            fragment(out, "C", 'd', m, n);
            hone_str_append(out, ", T.float32(0.0))\n");
            continue;
        }
        hone_str_printf(out,
                        "        for i, j in T.grid(%d, %d):\n"
                        "            with T.sblock(\"init\"):\n"
                        "                vii, vjj = T.axis.remap(\"SS\", [i, j])\n"
                        "                C[vii, vjj] = T.%s(0)\n",
                        m, n, type);
    }
}

void intrin_write_wgmma_store(const intrin_words *words, hone_str *out) {
    int m = words->dims[0], n = words->dims[1];
    const char *type = words->types[0];
    for (int is_impl = 0; is_impl < 2; is_impl++) {
        begin(out, is_impl, "a: T.handle, c: T.handle");
        if (is_impl) declare(out, 'd', 2);
        if (is_impl) declare(out, 's', 2);
        match_sums(out, "A", "a", m, n, type, "wgmma.accumulator", is_impl ? 'd' : 0);
        match_sums(out, "C", "c", m, n, type, "shared", is_impl ? 's' : 0);
        hone_str_printf(out,
                        "    with T.sblock(\"root\"):\n"
                        "        T.reads(A[0:%d, 0:%d])\n"
                        "        T.writes(C[0:%d, 0:%d])\n",
                        m, n, m, n);
        if (is_impl) {
            hone_str_printf(out, "        T.tvm_store_matrix_sync(A.data, %d, %d, %d, ", m, n,
                            STORED);
            fragment(out, "A", 'd', m, n);
            hone_str_printf(out, ", C.access_ptr(\"w\", ptr_type=\"%s\"), s1, \"row_major\")\n",
                            type);
            continue;
        }
        hone_str_printf(out,
                        "        for i, j in T.grid(%d, %d):\n"
                        "            with T.sblock(\"store\"):\n"
                        "                vii, vjj = T.axis.remap(\"SS\", [i, j])\n"
                        "                C[vii, vjj] = A[vii, vjj]\n",
                        m, n);
    }
}

/* An element by the axes of its column and of the place in it; as wide as the sum. */
static void factor(hone_str *out, const char *wide, const char *variable, const char *column,
                   const char *place, int side) {
    if (wide) hone_str_printf(out, "T.Cast(\"%s\", ", wide);
    hone_str_printf(out, "%s[%s // %d, %s, %s %% %d]%s", variable, column, side, place, column,
                    side, wide ? ")" : "");
}

void intrin_write_wgmma_sync(const intrin_words *words, hone_str *out) {
    int m = words->dims[0], n = words->dims[1], k = words->dims[2];
    const char *from = words->types[0], *to = words->types[2];
    int side = side_by_side(from), b_count = words->is_trans ? k : n;
    int b_length = words->is_trans ? n : k;
    for (int is_impl = 0; is_impl < 2; is_impl++) {
        begin(out, is_impl, "a: T.handle, b: T.handle, c: T.handle");
        for (int i = 0; is_impl && i < 3; i++)
            declare(out, "abc"[i], i < 2 ? 3 : 2);
        match_columns(out, "A", "a", k, m, from, is_impl ? 'a' : 0);
        match_columns(out, "B", "b", b_count, b_length, from, is_impl ? 'b' : 0);
        match_sums(out, "C", "c", m, n, to, "wgmma.accumulator", is_impl ? 'c' : 0);
        hone_str_printf(out,
                        "    with T.sblock(\"root\"):\n"
                        "        T.reads(C[0:%d, 0:%d], A[0:%d, 0:%d, 0:%d], B[0:%d, 0:%d, 0:%d])\n"
                        "        T.writes(C[0:%d, 0:%d])\n",
                        m, n, k / side, m, side, b_count / side, b_length, side, m, n);
        if (is_impl) {
            hone_str_printf(out, "        T.ptx.wgmma(C.data, %d, %d, %d, ", m, n, k);
            fragment(out, "C", 'c', m, n);
            hone_str_printf(out,
                            ", A.access_ptr(\"r\", ptr_type=\"%s\"), a2, "
                            "B.access_ptr(\"r\", ptr_type=\"%s\"), b2, \"%s\")\n",
                            from, from, words->is_trans ? "k" : "mn");
            continue;
        }
        hone_str_printf(out,
                        "        for i, j, k in T.grid(%d, %d, %d):\n"
                        "            with T.sblock(\"\"):\n"
                        "                vii, vjj, vkk = T.axis.remap(\"SSR\", [i, j, k])\n"
                        "                C[vii, vjj] = C[vii, vjj] + ",
                        m, n, k);
        const char *wide = strcmp(from, to) == 0 ? NULL : to;
        factor(out, wide, "A", "vkk", "vii", side);
        hone_str_append(out, " * ");
        factor(out, wide, "B", words->is_trans ? "vkk" : "vjj", words->is_trans ? "vjj" : "vkk",
               side);
        hone_str_append(out, "\n");
    }
}
