/* schedule/intrin/tensor_intrin_wmma.c - CUDA's wmma: a warp fills, loads, multiplies and stores
 * tiles in memory of their own ("wmma.…"). A fragment is named by the place of its tile in the
 * buffer: rows of tiles, then columns. */
#include "schedule/intrin/tensor_intrin_impl.h"

#include <string.h>

/* A matrix parameter, whose rows lie one behind the other or, with names of strides, anyhow. */
static void match(hone_str *out, const char *variable, const char *handle, int rows, int columns,
                  const char *dtype, const char *scope, const char *const *strides) {
    hone_str_printf(out, "    %s = T.match_buffer(%s, (%d, %d), \"%s\", offset_factor=%d", variable,
                    handle, rows, columns, dtype, columns);
    if (strides) hone_str_printf(out, ", strides=(%s, %s)", strides[0], strides[1]);
    hone_str_printf(out, ", scope=\"%s\")\n", scope);
}

static void begin(hone_str *out, bool is_impl, const char *handles) {
    hone_str_printf(out, "@T.prim_func(s_tir=True)\ndef %s(%s):\n", is_impl ? "impl" : "desc",
                    handles);
}

static void declare(hone_str *out, const char *const *strides) {
    for (int i = 0; i < 2; i++)
        hone_str_printf(out, "    %s = T.int32()\n", strides[i]);
}

/* The number of the tile at which a buffer of tiles begins. */
static void fragment(hone_str *out, const char *variable, const char *stride, int rows,
                     int columns) {
    hone_str_printf(out, "%s.elem_offset // %s // %d * (%s // %d) + %s.elem_offset %% %s // %d",
                    variable, stride, rows, stride, columns, variable, stride, columns);
}

/* ---- a tile filled with zeros ---- */

void intrin_write_wmma_fill(const intrin_words *words, hone_str *out) {
    static const char *const strides[] = {"d1", "d0"};
    int m = words->dims[0], n = words->dims[1], k = words->dims[2];
    const char *dtype = words->types[0];
    for (int is_impl = 0; is_impl < 2; is_impl++) {
        begin(out, is_impl, "c: T.handle");
        if (is_impl) declare(out, strides);
        match(out, "C", "c", m, n, dtype, "wmma.accumulator", is_impl ? strides : NULL);
        hone_str_printf(out,
                        "    with T.sblock(\"root\"):\n"
                        "        T.reads()\n"
                        "        T.writes(C[0:%d, 0:%d])\n",
                        m, n);
        if (!is_impl) {
            hone_str_printf(out,
                            "        for i, j in T.grid(%d, %d):\n"
                            "            with T.sblock(\"init\"):\n"
                            "                vii, vjj = T.axis.remap(\"SS\", [i, j])\n"
                            "                C[vii, vjj] = T.%s(0)\n",
                            m, n, dtype);
            continue;
        }
        hone_str_printf(out, "        T.tvm_fill_fragment(C.data, %d, %d, %d, ", m, n, k);
        fragment(out, "C", "d1", m, n);
        hone_str_append(out, ", T.float32(0.0))\n");
    }
}

/* ---- tiles to and from memory ---- */

typedef struct transfer {
    int rows, columns;
    const char *dtype, *name; /* of the description's block */
    const char *from_scope, *to_scope;
} transfer;

/* A is copied to C. */
static void begin_transfer(hone_str *out, bool is_impl, const transfer *t,
                           const char *const *from_strides, const char *const *to_strides) {
    begin(out, is_impl, "a: T.handle, c: T.handle");
    if (is_impl) declare(out, from_strides);
    if (is_impl) declare(out, to_strides);
    match(out, "A", "a", t->rows, t->columns, t->dtype, t->from_scope,
          is_impl ? from_strides : NULL);
    match(out, "C", "c", t->rows, t->columns, t->dtype, t->to_scope, is_impl ? to_strides : NULL);
    hone_str_printf(out,
                    "    with T.sblock(\"root\"):\n"
                    "        T.reads(A[0:%d, 0:%d])\n"
                    "        T.writes(C[0:%d, 0:%d])\n",
                    t->rows, t->columns, t->rows, t->columns);
    if (is_impl) return;
    hone_str_printf(out,
                    "        for i, j in T.grid(%d, %d):\n"
                    "            with T.sblock(\"%s\"):\n"
                    "                vii, vjj = T.axis.remap(\"SS\", [i, j])\n"
                    "                C[vii, vjj] = A[vii, vjj]\n",
                    t->rows, t->columns, t->name);
}

static const char *const memory_strides[] = {"s1", "s0"}, *const tile_strides[] = {"d1", "d0"};

void intrin_write_wmma_load(const intrin_words *words, hone_str *out) {
    int m = words->dims[0], n = words->dims[1], k = words->dims[2];
    transfer t = {.rows = words->is_b ? k : m,
                  .columns = words->is_b ? n : k,
                  .dtype = words->types[0],
                  .name = "load",
                  .from_scope = words->scope,
                  .to_scope = words->is_b ? "wmma.matrix_b" : "wmma.matrix_a"};
    if (words->is_trans) {
        int rows = t.rows;
        t.rows = t.columns;
        t.columns = rows;
    }
    begin_transfer(out, false, &t, NULL, NULL);
    begin_transfer(out, true, &t, memory_strides, tile_strides);
    hone_str_printf(out, "        T.tvm_load_matrix_sync(C.data, %d, %d, %d, ", m, n, k);
    fragment(out, "C", "d1", t.rows, t.columns);
    hone_str_printf(out, ", A.access_ptr(\"r\", ptr_type=\"%s\"), s1, \"%s\")\n", t.dtype,
                    words->is_trans ? "col_major" : "row_major");
}

void intrin_write_wmma_store(const intrin_words *words, hone_str *out) {
    int m = words->dims[0], n = words->dims[1], k = words->dims[2];
    transfer t = {.rows = m,
                  .columns = n,
                  .dtype = words->types[0],
                  .name = "store",
                  .from_scope = "wmma.accumulator",
                  .to_scope = words->scope};
    begin_transfer(out, false, &t, NULL, NULL);
    begin_transfer(out, true, &t, tile_strides, memory_strides);
    hone_str_printf(out, "        T.tvm_store_matrix_sync(A.data, %d, %d, %d, ", m, n, k);
    fragment(out, "A", "d1", m, n);
    hone_str_printf(out, ", C.access_ptr(\"w\", ptr_type=\"%s\"), s1, \"row_major\")\n", t.dtype);
}

/* ---- C += A B ---- */

/* A factor as the unit takes it: what schedule/variant/tf32.c writes. */
static void append_rounded(hone_str *out, const char *matrix, const char *index) {
    static const char text[] =
        "T.Select(T.isnan($m[$i]), $m[$i], T.reinterpret(\"float32\", T.bitwise_and("
        "T.reinterpret(\"uint32\", $m[$i]) + T.bitwise_and(T.reinterpret(\"uint32\", $m[$i]), "
        "T.uint32(4096)), T.uint32(4294959104))))";
    intrin_expand(out, text, "mi", (const char *const[]){matrix, index});
}

void intrin_write_wmma_sync(const intrin_words *words, hone_str *out) {
    static const char *const a_strides[] = {"a1", "a0"}, *const b_strides[] = {"b1", "b0"},
                             *const c_strides[] = {"c1", "c0"};
    int m = words->dims[0], n = words->dims[1], k = words->dims[2];
    int b_rows = words->is_trans ? n : k, b_columns = words->is_trans ? k : n;
    const char *from = words->types[0], *to = words->types[2];
    for (int is_impl = 0; is_impl < 2; is_impl++) {
        begin(out, is_impl, "a: T.handle, b: T.handle, c: T.handle");
        if (is_impl) declare(out, a_strides);
        if (is_impl) declare(out, b_strides);
        if (is_impl) declare(out, c_strides);
        match(out, "A", "a", m, k, from, "wmma.matrix_a", is_impl ? a_strides : NULL);
        match(out, "B", "b", b_rows, b_columns, from, "wmma.matrix_b", is_impl ? b_strides : NULL);
        match(out, "C", "c", m, n, to, "wmma.accumulator", is_impl ? c_strides : NULL);
        hone_str_printf(out,
                        "    with T.sblock(\"root\"):\n"
                        "        T.reads(C[0:%d, 0:%d], A[0:%d, 0:%d], B[0:%d, 0:%d])\n"
                        "        T.writes(C[0:%d, 0:%d])\n",
                        m, n, m, k, b_rows, b_columns, m, n);
        if (!is_impl) {
            const char *b_index = words->is_trans ? "vjj, vkk" : "vkk, vjj";
            hone_str_printf(out,
                            "        for i, j, k in T.grid(%d, %d, %d):\n"
                            "            with T.sblock(\"\"):\n"
                            "                vii, vjj, vkk = T.axis.remap(\"SSR\", [i, j, k])\n"
                            "                C[vii, vjj] = C[vii, vjj] + ",
                            m, n, k);
            if (words->is_rounded) {
                append_rounded(out, "A", "vii, vkk");
                hone_str_append(out, " * ");
                append_rounded(out, "B", b_index);
                hone_str_append(out, "\n");
            } else if (strcmp(from, to) == 0) {
                hone_str_printf(out, "A[vii, vkk] * B[%s]\n", b_index);
            } else {
                hone_str_printf(out, "T.Cast(\"%s\", A[vii, vkk]) * T.Cast(\"%s\", B[%s])\n", to,
                                to, b_index);
            }
            continue;
        }
        hone_str_append(out, "        T.tvm_mma_sync(C.data, ");
        fragment(out, "C", "c1", m, n);
        hone_str_append(out, ", A.data, ");
        fragment(out, "A", "a1", m, k);
        hone_str_append(out, ", B.data, ");
        fragment(out, "B", "b1", b_rows, b_columns);
        hone_str_append(out, ", C.data, ");
        fragment(out, "C", "c1", m, n);
        hone_str_append(out, ")\n");
    }
}
