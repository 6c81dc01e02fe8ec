/* codegen/nvptx/ptx_mma.c - matrix instructions on registers: mma, ldmatrix, and what fills and
 * stores their registers. The layouts are those of ir/interp/interp_matrix_lanes.c: the elements
 * that a lane holds lie in its buffer in the order of the instruction's registers.
 */
#include <stdio.h>
#include <string.h>

#include "codegen/nvptx/nvptx.h"
#include "support/core/attributes.h"

enum { MOST_REGISTERS = 16 };

/* ---- buffers as registers ---- */

/* Elements of a thread's own buffer from `offset` on. */
typedef struct registers {
    hone_buffer buffer;
    hone_dtype dtype;
    LLVMValueRef at; /* pointer */
} registers;

static bool find_registers(gen *g, const hone_expr *data, const hone_expr *offset, registers *out) {
    hone_buffer id = HONE_NO_ID;
    if (data->kind == HONE_EXPR_VAR) id = codegen_buffer_of_data(g->func, data->u.var);
    if (id == HONE_NO_ID) return false;
    const char *scope = g->func->buffers[hone_func_storage(g->func, id)].scope;
    if (scope && strcmp(scope, "warp") == 0) return false; /* lowering makes it each lane's own */
    *out = (registers){id, g->func->buffers[id].dtype, gen_address(g, id, gen_index(g, offset))};
    return true;
}

/* The register `i` counted from there, as `type`. */
static LLVMValueRef register_at(gen *g, const registers *r, LLVMTypeRef type, unsigned i) {
    LLVMValueRef at = gen_i64(g, i);
    return LLVMBuildGEP2(g->builder, type, r->at, &at, 1, "");
}

static LLVMValueRef load_register(gen *g, const registers *r, LLVMTypeRef type, unsigned i) {
    LLVMValueRef load = LLVMBuildLoad2(g->builder, type, register_at(g, r, type, i), "");
    LLVMSetAlignment(load, (unsigned)hone_dtype_bytes(r->dtype));
    return load;
}

static void store_register(gen *g, const registers *r, LLVMTypeRef type, unsigned i,
                           LLVMValueRef value) {
    LLVMValueRef store = LLVMBuildStore(g->builder, value, register_at(g, r, type, i));
    LLVMSetAlignment(store, (unsigned)hone_dtype_bytes(r->dtype));
}

/* ---- mma: C += A B ---- */

typedef struct mma {
    int rows, columns, k;
    registers a, b, c;
    const char *a_type, *b_type, *c_type; /* PTX's words */
    unsigned a_count, b_count, c_count;   /* registers */
    LLVMTypeRef input, output;            /* of one */
} mma;

/* PTX's word for a type of mma's, by the text in the call or the buffer's type. */
static const char *type_word(hone_dtype dtype) {
    if (dtype.code == HONE_DTYPE_CODE_BFLOAT) return "bf16";
    if (dtype.code == HONE_DTYPE_CODE_FLOAT8_E4M3) return "e4m3";
    if (dtype.code == HONE_DTYPE_CODE_FLOAT8_E5M2) return "e5m2";
    if (hone_dtype_is_float(dtype)) {
        return dtype.bits == 16 ? "f16" : dtype.bits == 32 ? "tf32" : "f64";
    }
    bool is_signed = hone_dtype_is_int(dtype);
    return dtype.bits == 4 ? (is_signed ? "s4" : "u4") : (is_signed ? "s8" : "u8");
}

static const char *sum_word(hone_dtype dtype) {
    if (!hone_dtype_is_float(dtype)) return "s32";
    return dtype.bits == 16 ? "f16" : dtype.bits == 32 ? "f32" : "f64";
}

/* ("m16n8k16", "row", "col", types, A, offset, B, offset, C, offset, saturate) */
static bool read_mma(gen *g, const hone_expr *e, mma *m) {
    bool is_read = e->count == 14 && e->args[1]->kind == HONE_EXPR_STRING &&
                   sscanf(e->args[1]->u.s, "m%dn%dk%d", &m->rows, &m->columns, &m->k) == 3 &&
                   find_registers(g, e->args[7], e->args[8], &m->a) &&
                   find_registers(g, e->args[9], e->args[10], &m->b) &&
                   find_registers(g, e->args[11], e->args[12], &m->c);
    if (!is_read || hone_expr_const(e->args[13]) != 0) return false;
    int bits = m->a.dtype.bits, sum_bits = m->c.dtype.bits;
    bool is_double = bits == 64, is_half_sum = sum_bits == 16;
    m->a_type = type_word(m->a.dtype);
    m->b_type = type_word(m->b.dtype);
    m->c_type = sum_word(m->c.dtype);
    m->a_count = (unsigned)(m->rows * m->k * bits / (PTX_LANES * (is_double ? 64 : 32)));
    m->b_count = (unsigned)(m->columns * m->k * bits / (PTX_LANES * (is_double ? 64 : 32)));
    m->c_count = (unsigned)(m->rows * m->columns / PTX_LANES) / (is_half_sum ? 2 : 1);
    m->input = is_double ? g->f64 : g->i32;
    m->output = is_double ? g->f64 : sum_bits == 32 && m->c_type[0] == 'f' ? g->f32 : g->i32;
    unsigned all = m->a_count + m->b_count + 2 * m->c_count;
    return m->a_count && m->b_count && m->c_count && all <= 2 * MOST_REGISTERS;
}

/* "{$4, $5}, " */
static void append_group(hone_str *text, unsigned *next, unsigned count, const char *behind) {
    hone_str_append(text, "{");
    for (unsigned i = 0; i < count; i++)
        hone_str_printf(text, "%s$%u", i ? ", " : "", (*next)++);
    hone_str_printf(text, "}%s", behind);
}

static void append_constraints(hone_str *text, char letter, unsigned count, bool is_output) {
    for (unsigned i = 0; i < count; i++)
        hone_str_printf(text, "%s%s%c", text->length ? "," : "", is_output ? "=" : "", letter);
}

static void write_mma(const mma *m, hone_str *text, hone_str *constraints) {
    unsigned next = 0;
    char in = m->input != NULL && strcmp(m->a_type, "f64") == 0 ? 'd' : 'r';
    char sum = strcmp(m->c_type, "f64") == 0 ? 'd' : strcmp(m->c_type, "f32") == 0 ? 'f' : 'r';
    hone_str_printf(text, "mma.sync.aligned.m%dn%dk%d.row.col.%s.%s.%s.%s ", m->rows, m->columns,
                    m->k, m->c_type, m->a_type, m->b_type, m->c_type);
    append_group(text, &next, m->c_count, ", ");
    append_group(text, &next, m->a_count, ", ");
    append_group(text, &next, m->b_count, ", ");
    append_group(text, &next, m->c_count, ";");
    append_constraints(constraints, sum, m->c_count, true);
    append_constraints(constraints, in, m->a_count + m->b_count, false);
    append_constraints(constraints, sum, m->c_count, false);
}

void ptx_round_factors(gen *g, LLVMValueRef *words, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef value = LLVMBuildBitCast(g->builder, words[i], g->f32, "");
        words[i] = gen_intrinsic_of(g, "llvm.nvvm.f2tf32.rna", NULL, 0, &value, 1);
    }
}

static LLVMValueRef call_mma(gen *g, const hone_expr *e) {
    mma m = {0};
    if (!read_mma(g, e, &m)) return NULL;
    LLVMValueRef args[3 * MOST_REGISTERS];
    LLVMTypeRef outputs[MOST_REGISTERS];
    unsigned count = 0;
    for (unsigned i = 0; i < m.a_count; i++)
        args[count++] = load_register(g, &m.a, m.input, i);
    for (unsigned i = 0; i < m.b_count; i++)
        args[count++] = load_register(g, &m.b, m.input, i);
    if (strcmp(m.a_type, "tf32") == 0) ptx_round_factors(g, args, count);
    for (unsigned i = 0; i < m.c_count; i++) {
        outputs[i] = m.output;
        args[count++] = load_register(g, &m.c, m.output, i);
    }
    hone_str text = {0}, constraints = {0};
    write_mma(&m, &text, &constraints);
    LLVMTypeRef result = LLVMStructTypeInContext(g->context, outputs, m.c_count, 0);
    LLVMValueRef sums = ptx_asm(g, result, hone_str_text(&text), hone_str_text(&constraints), args,
                                count, PTX_ASM_CONVERGENT);
    for (unsigned i = 0; i < m.c_count; i++)
        store_register(g, &m.c, m.output, i, LLVMBuildExtractValue(g->builder, sums, i, ""));
    hone_str_deinit(&text);
    hone_str_deinit(&constraints);
    return gen_i32(g, 0);
}

/* ---- ldmatrix ---- */

static LLVMValueRef lane(gen *g) {
    LLVMValueRef id = gen_intrinsic_of(g, "llvm.nvvm.read.ptx.sreg.laneid", NULL, 0, NULL, 0);
    return LLVMBuildZExt(g->builder, id, g->i64, "");
}

static LLVMValueRef moved(gen *g, LLVMTypeRef type, LLVMValueRef pointer, LLVMValueRef by) {
    return LLVMBuildGEP2(g->builder, type, pointer, &by, 1, "");
}

/* Bytes may not be turned around in pairs: element by element, in the layout of matrix b. */
static LLVMValueRef load_bytes_turned(gen *g, const registers *to, LLVMValueRef from,
                                      LLVMValueRef stride) {
    LLVMBuilderRef b = g->builder;
    LLVMValueRef id = lane(g), quarter = LLVMBuildAnd(b, id, gen_i64(g, 3), "");
    LLVMValueRef row = LLVMBuildLShr(b, id, gen_i64(g, 2), "");
    for (int l = 0; l < 16; l++) {
        LLVMValueRef k = LLVMBuildMul(b, quarter, gen_i64(g, 4), "");
        k = LLVMBuildAdd(b, k, gen_i64(g, l % 4 + 16 * (l % 8 / 4)), "");
        LLVMValueRef n = LLVMBuildAdd(b, row, gen_i64(g, 8 * (l / 8)), "");
        LLVMValueRef at = LLVMBuildAdd(b, LLVMBuildMul(b, k, stride, ""), n, "");
        LLVMValueRef value = LLVMBuildLoad2(b, g->i8, moved(g, g->i8, from, at), "");
        store_register(g, to, g->i8, (unsigned)l, value);
    }
    return gen_i32(g, 0);
}

/* (is_turned, matrices, ".b16", registers, offset, memory, offset of the lane's row) */
static LLVMValueRef call_ldmatrix(gen *g, const hone_expr *e) {
    registers to;
    int64_t count = e->count == 8 ? hone_expr_const(e->args[2]) : 0;
    bool is_turned = count && hone_expr_const(e->args[1]) != 0;
    bool is_known =
        (count == 1 || count == 2 || count == 4) && find_registers(g, e->args[4], e->args[5], &to);
    if (!is_known || (to.dtype.bits != 8 && to.dtype.bits != 16)) return NULL;
    LLVMValueRef from = gen_value(g, e->args[6]), row = gen_index(g, e->args[7]);
    if (g->error) return gen_i32(g, 0);
    if (is_turned && to.dtype.bits == 8) return load_bytes_turned(g, &to, from, row);
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(from)) != PTX_SHARED) return NULL;
    char name[96];
    snprintf(name, sizeof name, "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x%d%s.b16", (int)count,
             is_turned ? ".trans" : "");
    LLVMTypeRef element = gen_storage_type(g, hone_dtype_element(to.dtype));
    LLVMValueRef at = moved(g, element, from, row);
    LLVMTypeRef type = LLVMTypeOf(at);
    LLVMValueRef loaded = gen_intrinsic_of(g, name, &type, 1, &at, 1);
    for (unsigned i = 0; i < (unsigned)count; i++) {
        LLVMValueRef value = count == 1 ? loaded : LLVMBuildExtractValue(g->builder, loaded, i, "");
        store_register(g, &to, g->i32, i, value);
    }
    return gen_i32(g, 0);
}

/* ---- zeros, and registers to memory ---- */

/* (count, registers, offset) */
static LLVMValueRef call_fill(gen *g, const hone_expr *e) {
    registers to;
    int64_t count = e->count == 4 ? hone_expr_const(e->args[1]) : 0;
    if (count < 1 || count > 256 || !find_registers(g, e->args[2], e->args[3], &to)) return NULL;
    LLVMTypeRef type = gen_storage_type(g, hone_dtype_element(to.dtype));
    for (unsigned i = 0; i < (unsigned)count; i++)
        store_register(g, &to, type, i, LLVMConstNull(type));
    return gen_i32(g, 0);
}

/* (16, 16, memory, registers, offset, stride): neighbours lie side by side */
static LLVMValueRef call_store(gen *g, const hone_expr *e) {
    registers from;
    LLVMBuilderRef b = g->builder;
    if (e->count != 7 || !find_registers(g, e->args[4], e->args[5], &from)) return NULL;
    LLVMValueRef memory = gen_value(g, e->args[3]), stride = gen_index(g, e->args[6]), id = lane(g);
    LLVMTypeRef type = gen_storage_type(g, hone_dtype_element(from.dtype));
    if (g->error) return gen_i32(g, 0);
    LLVMValueRef row = LLVMBuildLShr(b, id, gen_i64(g, 2), "");
    LLVMValueRef column =
        LLVMBuildShl(b, LLVMBuildAnd(b, id, gen_i64(g, 3), ""), gen_i64(g, 1), "");
    for (unsigned l = 0; l < 8; l++) {
        LLVMValueRef i = LLVMBuildAdd(b, row, gen_i64(g, 8 * (l % 4 / 2)), "");
        LLVMValueRef j = LLVMBuildAdd(b, column, gen_i64(g, 8 * (l / 4) + l % 2), "");
        LLVMValueRef at = LLVMBuildAdd(b, LLVMBuildMul(b, i, stride, ""), j, "");
        LLVMValueRef store =
            LLVMBuildStore(b, load_register(g, &from, type, l), moved(g, type, memory, at));
        LLVMSetAlignment(store, (unsigned)hone_dtype_bytes(from.dtype));
    }
    return gen_i32(g, 0);
}

static const ptx_call_row calls[] = {
    {"ptx_legacy.mma",        call_mma     },
    {"ptx_legacy.ldmatrix",   call_ldmatrix},
    {"cuda.mma_fill_legacy",  call_fill    },
    {"cuda.mma_store_legacy", call_store   },
};

LLVMValueRef ptx_mma_call(gen *g, const hone_expr *e, const char *name) {
    return ptx_call_in(calls, HONE_COUNT(calls), g, e, name);
}
