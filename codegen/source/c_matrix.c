/* codegen/source/c_matrix.c - matrix units in CUDA C: wmma by <mma.h>, ldmatrix and mma.sync by
 * inline PTX; asynchronous copies. What they do to buffers is told by ir/interp/interp_matrix.c.
 *
 * A wmma buffer is an array of fragments, one per tile. The registers of a warp are an array in
 * each of its lanes: a buffer of scope "warp" has the shape [..., 32, n], of which a lane holds
 * what is its own.
 */
#include <stdio.h>
#include <string.h>

#include "codegen/async_copies.h"
#include "codegen/source/c_gen.h"
#include "support/core/attributes.h"

enum { LANES = 32 };

static void refuse(c_gen *g, const hone_expr *e) {
    c_unsupported(g, c_printf(g, "this form of '%s'", e->args[0]->u.s));
}

static const char *number(c_gen *g, const hone_expr *e) {
    return c_index(g, e).s;
}

static hone_buffer buffer_of(c_gen *g, const hone_expr *data) {
    hone_buffer id = HONE_NO_ID;
    if (data->kind == HONE_EXPR_VAR) id = codegen_buffer_of_data(g->func, data->u.var);
    if (id == HONE_NO_ID) c_unsupported(g, "a matrix instruction on something that is no buffer");
    return id;
}

/* ---- registers of a warp ---- */

/* Elements of one lane, side by side; 0: the shape does not say it. */
static int64_t lane_elements(const hone_buffer_info *buffer) {
    if (buffer->rank < 2 || hone_expr_const(buffer->shape[buffer->rank - 2]) != LANES) return 0;
    int64_t each = hone_expr_const(buffer->shape[buffer->rank - 1]);
    return each > 0 ? each : 0;
}

bool c_is_of_warp(const c_gen *g, hone_buffer buffer) {
    const char *scope = g->func->buffers[hone_func_storage(g->func, buffer)].scope;
    return scope && strcmp(scope, "warp") == 0;
}

int64_t c_warp_elements(c_gen *g, hone_buffer buffer) {
    const hone_buffer_info *info = &g->func->buffers[hone_func_storage(g->func, buffer)];
    int64_t elements = hone_buffer_elements(info);
    if (lane_elements(info) > 0 && elements > 0) return elements / LANES;
    c_unsupported(g, c_printf(g,
                              "buffer '%s' of scope 'warp' whose last axes are not 32 lanes and "
                              "what each of them holds",
                              info->name));
    return 1;
}

const char *c_warp_index(c_gen *g, hone_buffer buffer, const char *index) {
    const hone_buffer_info *info = &g->func->buffers[hone_func_storage(g->func, buffer)];
    long long each = (long long)lane_elements(info);
    if (each <= 0) return index;
    if (hone_buffer_elements(info) == each * LANES) return c_printf(g, "(%s) %% %lld", index, each);
    return c_printf(g, "(%s) / %lld * %lld + (%s) %% %lld", index, each * LANES, each, index, each);
}

/* Registers from an offset on: "&C_warp[at]". */
static const char *registers(c_gen *g, const hone_expr *data, const hone_expr *offset) {
    hone_buffer id = buffer_of(g, data);
    return id == HONE_NO_ID ? "0" : c_printf(g, "&%s", c_element(g, id, offset));
}

/* ---- wmma ---- */

typedef struct tile {
    int64_t m, n, k;
    const char *layout; /* of a load: "row_major"; NULL: none was seen */
} tile;

typedef struct search {
    c_gen *g;
    hone_var data;
    tile found;
} search;

/* (data, m, n, k, number, ...), and of a load the layout behind pointer and stride. */
static bool look_at(void *ctx, const hone_expr *e) {
    search *s = ctx;
    bool is_load = hone_expr_is_named(e, "tvm_load_matrix_sync");
    bool is_any = is_load || hone_expr_is_named(e, "tvm_fill_fragment") ||
                  hone_expr_is_named(e, "tvm_store_matrix_sync");
    if (!is_any || e->count < 7 || e->args[1]->kind != HONE_EXPR_VAR ||
        e->args[1]->u.var != s->data) {
        return true;
    }
    s->found.m = hone_expr_const(e->args[2]);
    s->found.n = hone_expr_const(e->args[3]);
    s->found.k = hone_expr_const(e->args[4]);
    if (is_load && e->count > 8 && e->args[8]->kind == HONE_EXPR_STRING)
        s->found.layout = e->args[8]->u.s;
    return true;
}

static tile find_tile(c_gen *g, hone_buffer id) {
    search s = {.g = g, .data = g->func->buffers[id].data};
    hone_tree_walk_parts(g->func, 0, false, look_at, &s);
    return s.found;
}

static const char *fragment_type(c_gen *g, hone_dtype dtype, bool is_accumulator) {
    if (hone_dtype_equal(dtype, HONE_DTYPE_F32))
        return is_accumulator ? "float" : "nvcuda::wmma::precision::tf32";
    if (hone_dtype_equal(dtype, HONE_DTYPE_F64)) return "double";
    if (dtype.code == HONE_DTYPE_CODE_BFLOAT) return "__nv_bfloat16";
    if (hone_dtype_is_float(dtype) && dtype.bits == 16) return "half";
    if (hone_dtype_is_integer(dtype) && dtype.bits == 8)
        return hone_dtype_is_int(dtype) ? "signed char" : "unsigned char";
    if (hone_dtype_equal(dtype, HONE_DTYPE_I32)) return "int";
    c_unsupported(g, c_printf(g, "a fragment of %s", HONE_DTYPE_NAME(dtype)));
    return "int";
}

static bool is_accumulator(const hone_buffer_info *buffer) {
    return strcmp(buffer->scope, "wmma.accumulator") == 0;
}

/* An array of fragments, whose sort is the end of the scope: "wmma.matrix_a". */
void c_declare_fragments(c_gen *g, hone_buffer id) {
    const hone_buffer_info *buffer = &g->func->buffers[id];
    tile t = find_tile(g, id);
    bool is_sum = is_accumulator(buffer), is_b = strcmp(buffer->scope, "wmma.matrix_b") == 0;
    int64_t rows = is_b ? t.k : t.m, columns = is_sum || is_b ? t.n : t.k;
    int64_t elements = hone_buffer_elements(buffer);
    if (!g->dialect->has_warp_mma || rows < 1 || columns < 1 || elements % (rows * columns)) {
        c_unsupported(g, c_printf(g, "buffer '%s' of scope '%s'", buffer->name, buffer->scope));
        return;
    }
    bool is_column = t.layout && strcmp(t.layout, "col_major") == 0;
    const char *layout = is_sum      ? ""
                         : is_column ? ", nvcuda::wmma::col_major"
                                     : ", nvcuda::wmma::row_major";
    g->buffers[id] = c_name(g, buffer->name);
    c_line(g, "nvcuda::wmma::fragment<nvcuda::wmma::%s, %lld, %lld, %lld, %s%s> %s[%lld];",
           buffer->scope + strlen("wmma."), (long long)t.m, (long long)t.n, (long long)t.k,
           fragment_type(g, buffer->dtype, is_sum), layout, g->buffers[id],
           (long long)(elements / (rows * columns)));
}

static const char *fragment(c_gen *g, const hone_expr *data, const hone_expr *index) {
    hone_buffer id = buffer_of(g, data);
    return id == HONE_NO_ID ? "0" : c_printf(g, "%s[%s]", c_buffer(g, id), number(g, index));
}

static const char *mem_layout(const hone_expr *layout) {
    bool is_column = layout->kind == HONE_EXPR_STRING && strcmp(layout->u.s, "col_major") == 0;
    return is_column ? "nvcuda::wmma::mem_col_major" : "nvcuda::wmma::mem_row_major";
}

/* A pointer to what the fragment holds: "(half *)&A[at]". */
static const char *pointer_for(c_gen *g, const hone_expr *data, const hone_expr *pointer) {
    hone_buffer id = buffer_of(g, data);
    if (id == HONE_NO_ID) return "0";
    const hone_buffer_info *buffer = &g->func->buffers[id];
    bool is_tf32 = !is_accumulator(buffer) && hone_dtype_equal(buffer->dtype, HONE_DTYPE_F32);
    const char *type = is_tf32 ? "float" : fragment_type(g, buffer->dtype, is_accumulator(buffer));
    return c_printf(g, "(%s *)(%s)", type, c_value(g, pointer).s);
}

static void fill_fragment(c_gen *g, const hone_expr *e) {
    c_line(g, "nvcuda::wmma::fill_fragment(%s, %s);", fragment(g, e->args[1], e->args[5]),
           c_value(g, e->args[6]).s);
}

static void load_fragment(c_gen *g, const hone_expr *e) {
    hone_buffer id = buffer_of(g, e->args[1]);
    bool is_sum = id != HONE_NO_ID && is_accumulator(&g->func->buffers[id]);
    c_line(g, "nvcuda::wmma::load_matrix_sync(%s, %s, (unsigned)(%s)%s%s);",
           fragment(g, e->args[1], e->args[5]), pointer_for(g, e->args[1], e->args[6]),
           number(g, e->args[7]), is_sum ? ", " : "", is_sum ? mem_layout(e->args[8]) : "");
}

static void store_fragment(c_gen *g, const hone_expr *e) {
    c_line(g, "nvcuda::wmma::store_matrix_sync(%s, %s, (unsigned)(%s), %s);",
           pointer_for(g, e->args[1], e->args[6]), fragment(g, e->args[1], e->args[5]),
           number(g, e->args[7]), mem_layout(e->args[8]));
}

static void multiply_fragments(c_gen *g, const hone_expr *e) {
    const char *all = "";
    for (int i = 0; i < 4; i++)
        all = c_printf(g, "%s%s%s", all, i ? ", " : "",
                       fragment(g, e->args[1 + 2 * i], e->args[2 + 2 * i]));
    c_line(g, "nvcuda::wmma::mma_sync(%s);", all);
}

/* ---- inline PTX ---- */

/* "%4, %5, %6" */
static const char *operands(c_gen *g, int first, int count) {
    const char *all = "";
    for (int i = 0; i < count; i++)
        all = c_printf(g, "%s%s%%%d", all, i ? ", " : "", first + i);
    return all;
}

/* "\"+r\"(((unsigned *)(&C[0]))[0]), …" */
static const char *bound(c_gen *g, const char *constraint, const char *type, const char *place,
                         int count) {
    const char *all = "";
    for (int i = 0; i < count; i++)
        all = c_printf(g, "%s%s\"%s\"(((%s *)(%s))[%d])", all, i ? ", " : "", constraint, type,
                       place, i);
    return all;
}

/* (is_turned, matrices, ".b16", registers, offset, memory, offset of the lane's row) */
static void ldmatrix(c_gen *g, const hone_expr *e) {
    int64_t count = hone_expr_const(e->args[2]), is_turned = hone_expr_const(e->args[1]);
    if (e->count != 8 || (count != 1 && count != 2 && count != 4) || is_turned < 0) {
        refuse(g, e);
        return;
    }
    const char *to = registers(g, e->args[4], e->args[5]);
    const char *row = c_name(g, "row");
    c_open(g, "%s", "");
    c_line(g, "const unsigned %s = (unsigned)__cvta_generic_to_shared(%s + (%s));", row,
           c_at(g, c_value(g, e->args[6]), C_PREC_ADD), number(g, e->args[7]));
    c_line(g, "asm volatile(\"ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 {%s}, [%%%d];\\n\"",
           (int)count, is_turned ? ".trans" : "", operands(g, 0, (int)count), (int)count);
    c_line(g, "    : %s : \"r\"(%s) : \"memory\");", bound(g, "=r", "unsigned", to, (int)count),
           row);
    c_close(g);
}

/* The words of TVM for element types, those of PTX, how wide they are, how asm takes a sum. */
static const struct element {
    const char *name, *ptx;
    int bits;
    const char *constraint, *type;
} elements[] = {
    {"fp16",  "f16",  16, "r", "unsigned"},
    {"bf16",  "bf16", 16, "r", "unsigned"},
    {"tf32",  "tf32", 32, "r", "unsigned"},
    {"fp32",  "f32",  32, "f", "float"   },
    {"fp64",  "f64",  64, "d", "double"  },
    {"int8",  "s8",   8,  "r", "unsigned"},
    {"uint8", "u8",   8,  "r", "unsigned"},
    {"int32", "s32",  32, "r", "unsigned"},
};

static const struct element *element_of(const hone_expr *e) {
    for (size_t i = 0; e->kind == HONE_EXPR_STRING && i < HONE_COUNT(elements); i++) {
        if (strcmp(elements[i].name, e->u.s) == 0) return &elements[i];
    }
    return NULL;
}

/* Registers that a lane has of so many elements of a matrix. */
static int registers_for(const struct element *element, int count) {
    int bits = element->bits == 64 ? 64 : 32;
    return count * element->bits / (LANES * bits);
}

/* ("m16n8k16", "row", "col", types of A, B, C, a, offset, b, offset, c, offset, saturates) */
static void mma(c_gen *g, const hone_expr *e) {
    int m, n, k;
    bool is_plain = e->count == 14 && e->args[1]->kind == HONE_EXPR_STRING &&
                    e->args[2]->kind == HONE_EXPR_STRING && e->args[3]->kind == HONE_EXPR_STRING;
    const struct element *a = is_plain ? element_of(e->args[4]) : NULL;
    const struct element *b = is_plain ? element_of(e->args[5]) : NULL;
    const struct element *c = is_plain ? element_of(e->args[6]) : NULL;
    if (!a || !b || !c || sscanf(e->args[1]->u.s, "m%dn%dk%d", &m, &n, &k) != 3) {
        refuse(g, e);
        return;
    }
    int of_a = registers_for(a, m * k), of_b = registers_for(b, k * n),
        of_c = registers_for(c, m * n);
    const char *sums = registers(g, e->args[11], e->args[12]);
    c_line(g, "asm volatile(\"mma.sync.aligned.%s.%s.%s%s.%s.%s.%s.%s {%s}, {%s}, {%s}, {%s};\\n\"",
           e->args[1]->u.s, e->args[2]->u.s, e->args[3]->u.s,
           hone_expr_const(e->args[13]) == 1 ? ".satfinite" : "", c->ptx, a->ptx, b->ptx, c->ptx,
           operands(g, 0, of_c), operands(g, of_c, of_a), operands(g, of_c + of_a, of_b),
           operands(g, 0, of_c));
    c_line(g, "    : %s", bound(g, c_printf(g, "+%s", c->constraint), c->type, sums, of_c));
    c_line(g, "    : %s, %s);",
           bound(g, a->constraint[0] == 'f' ? "r" : a->constraint,
                 a->bits == 64 ? "double" : "unsigned", registers(g, e->args[7], e->args[8]), of_a),
           bound(g, b->constraint[0] == 'f' ? "r" : b->constraint,
                 b->bits == 64 ? "double" : "unsigned", registers(g, e->args[9], e->args[10]),
                 of_b));
}

/* (count, registers, offset): of each lane. The offset of a buffer of the warp counts from it. */
static void fill_registers(c_gen *g, const hone_expr *e) {
    const char *name = c_name(g, "at");
    int64_t count = hone_expr_const(e->args[1]);
    hone_buffer id = buffer_of(g, e->args[2]);
    if (id == HONE_NO_ID) return;
    c_line(g, "for (int %s = 0; %s < %lld; %s++) %s[%s + %s] = 0;", name, name, (long long)count,
           name, c_buffer(g, id), number(g, e->args[3]), name);
}

/* (16, 16, memory, registers, offset, stride) */
static void store_registers(c_gen *g, const hone_expr *e) {
    const char *name = c_name(g, "at");
    hone_buffer id = buffer_of(g, e->args[4]);
    if (id == HONE_NO_ID) return;
    c_open(g, "for (int %s = 0; %s < 8; %s++)", name, name, name);
    c_line(g, "const int lane_of_warp = (int)threadIdx.x %% %d;", LANES);
    c_line(g, "const int row = 8 * (%s %% 4 / 2) + lane_of_warp / 4;", name);
    c_line(g, "const int column = 8 * (%s / 4) + lane_of_warp %% 4 * 2 + %s %% 2;", name, name);
    c_line(g, "(%s)[row * (%s) + column] = %s[%s + %s];", c_value(g, e->args[3]).s,
           number(g, e->args[6]), c_buffer(g, id), number(g, e->args[5]), name);
    c_close(g);
}

/* ---- barriers, and copies that complete on them ---- */

static const char *shared_address(c_gen *g, const hone_expr *pointer) {
    return c_printf(g, "(unsigned)__cvta_generic_to_shared(%s)",
                    c_value(g, copies_plain_pointer(pointer)).s);
}

/* (barrier, number, words…) */
static void barrier(c_gen *g, const hone_expr *e) {
    bool arrives = copies_says(e, "arrive"), expects = copies_says(e, "expect_tx");
    const char *text = copies_says(e, "init") ? "mbarrier.init.shared::cta.b64 [%0], %1;"
                       : arrives && expects
                           ? "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                       : arrives ? "mbarrier.arrive.shared::cta.b64 _, [%0], %1;"
                       : expects ? "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;"
                                 : NULL;
    if (!text) {
        refuse(g, e);
        return;
    }
    c_line(g, "asm volatile(\"%s\\n\"", text);
    c_line(g, "    :: \"r\"(%s), \"r\"((unsigned)(%s)) : \"memory\");",
           shared_address(g, e->args[1]), number(g, e->args[2]));
    if (copies_says(e, "init"))
        c_line(g, "asm volatile(\"fence.proxy.async.shared::cta;\\n\" ::: \"memory\");");
}

/* (barrier, parity) */
static void wait_for_phase(c_gen *g, const hone_expr *e) {
    const char *ended = c_name(g, "ended");
    c_open(g, "for (unsigned %s = 0; !%s;)", ended, ended);
    c_line(g,
           "asm volatile(\"{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%%1], %%2;"
           " selp.u32 %%0, 1, 0, p; }\\n\"");
    c_line(g, "    : \"=r\"(%s) : \"r\"(%s), \"r\"((unsigned)(%s)) : \"memory\");", ended,
           shared_address(g, e->args[1]), number(g, e->args[2]));
    c_close(g);
}

/* (to, from, bytes, barrier, words…) */
static void copy_bulk(c_gen *g, const hone_expr *e) {
    bool is_known = copies_says(e, "mbarrier::complete_tx::bytes") && e->count > 5 &&
                    e->args[4]->kind != HONE_EXPR_STRING;
    if (!is_known) {
        refuse(g, e);
        return;
    }
    c_line(g, "asm volatile(\"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
              " [%%0], [%%1], %%2, [%%3];\\n\"");
    c_line(g, "    :: \"r\"(%s), \"l\"(%s), \"r\"((unsigned)(%s)), \"r\"(%s) : \"memory\");",
           shared_address(g, e->args[1]), c_value(g, copies_plain_pointer(e->args[2])).s,
           number(g, e->args[3]), shared_address(g, e->args[4]));
}

/* ---- asynchronous copies ---- */

static void copy_async(c_gen *g, const char *to, const char *from, const hone_expr *bytes) {
    int64_t count = hone_expr_const(bytes);
    if (count != 4 && count != 8 && count != 16) {
        c_unsupported(g, c_printf(g, "an asynchronous copy of %lld bytes", (long long)count));
        return;
    }
    c_line(g, "asm volatile(\"cp.async.%s.shared.global [%%0], [%%1], %lld;\\n\"",
           count == 16 ? "cg" : "ca", (long long)count);
    c_line(g, "    :: \"r\"((unsigned)__cvta_generic_to_shared(%s)), \"l\"(%s) : \"memory\");", to,
           from);
}

/* "&A[0]" and an offset in elements; data may be a variable or a pointer. */
static const char *moved(c_gen *g, const hone_expr *data, const hone_expr *offset) {
    if (data->kind == HONE_EXPR_VAR) return registers(g, data, offset);
    return c_printf(g, "(%s) + (%s)", c_value(g, data).s, number(g, offset));
}

/* ([type,] data, offset, data, offset, bytes) */
static void copy_by_offset(c_gen *g, const hone_expr *e) {
    uint16_t first = e->args[1]->kind == HONE_EXPR_STRING ? 2 : 1;
    if (e->count != first + 5) {
        refuse(g, e);
        return;
    }
    copy_async(g, moved(g, e->args[first], e->args[first + 1]),
               moved(g, e->args[first + 2], e->args[first + 3]), e->args[first + 4]);
}

/* Operands, then words: ("async", "commit_group"), (n, "async", "wait_group"), (to, from, bytes) */
static void copy_in_words(c_gen *g, const hone_expr *e) {
    bool is_copy = e->count > 4 && e->args[3]->kind != HONE_EXPR_STRING;
    if (copies_says(e, "bulk")) {
        copy_bulk(g, e);
    } else if (!copies_says(e, "async")) {
        refuse(g, e);
    } else if (copies_says(e, "commit_group")) {
        c_line(g, "asm volatile(\"cp.async.commit_group;\\n\" ::: \"memory\");");
    } else if (copies_says(e, "wait_all")) {
        c_line(g, "asm volatile(\"cp.async.wait_all;\\n\" ::: \"memory\");");
    } else if (copies_says(e, "wait_group")) {
        c_line(g, "asm volatile(\"cp.async.wait_group %s;\\n\" ::: \"memory\");",
               number(g, e->args[1]));
    } else if (is_copy) {
        copy_async(g, c_value(g, copies_plain_pointer(e->args[1])).s, c_value(g, e->args[2]).s,
                   e->args[3]);
    } else {
        refuse(g, e);
    }
}

/* ---- */

static const struct row {
    const char *name;
    uint8_t least; /* arguments, the name among them */
    void (*print)(c_gen *g, const hone_expr *e);
} rows[] = {
    {"tvm_fill_fragment",     7,  fill_fragment     },
    {"tvm_load_matrix_sync",  9,  load_fragment     },
    {"tvm_store_matrix_sync", 9,  store_fragment    },
    {"tvm_mma_sync",          9,  multiply_fragments},
    {"ptx_legacy.ldmatrix",   8,  ldmatrix          },
    {"ptx_legacy.mma",        14, mma               },
    {"cuda.mma_fill_legacy",  4,  fill_registers    },
    {"cuda.mma_store_legacy", 7,  store_registers   },
    {"s_tir.cp_async_raw",    6,  copy_by_offset    },
    {"ptx.cp_async",          6,  copy_by_offset    },
    {"ptx.cp",                2,  copy_in_words     },
    {"ptx.mbarrier",          4,  barrier           },
    {"cuda.mbarrier_wait",    3,  wait_for_phase    },
};

bool c_matrix_call(c_gen *g, const hone_expr *e) {
    const char *name = e->args[0]->u.s;
    for (size_t i = 0; g->dialect->has_warp_mma && i < HONE_COUNT(rows); i++) {
        if (strcmp(rows[i].name, name) != 0 || e->count < rows[i].least) continue;
        rows[i].print(g, e);
        return true;
    }
    return false;
}
