/* codegen/nvptx/ptx_wgmma.c - wgmma of sm_90a: four warps multiply tiles that lie in shared memory.
 *
 * A buffer of scope "wgmma.accumulator" becomes registers: a tile of 64 x n takes n / 2 of each
 * thread (n / 4 where two sums fit into one), four for each eight columns: two neighbours of its
 * row, and of the row eight below. The layout is that of ir/interp/interp_matrix.c. One call
 * multiplies all that is there of k, and has ended when it returns, or (its last argument) leaves
 * so many on their way; ptx.wgmma_wait ends them. */
#include <stdio.h>
#include <string.h>

#include "codegen/nvptx/nvptx.h"
#include "support/core/attributes.h"

enum { ROWS = 64, THREADS = 128, MOST_WORDS = 128, ROW_BYTES = 128, BLOCK_BYTES = 1024 };

bool ptx_is_group_fragment(gen *g, hone_buffer buffer) {
    const char *scope = g->func->buffers[hone_func_storage(g->func, buffer)].scope;
    return scope && strcmp(scope, "wgmma.accumulator") == 0;
}

/* ---- registers ---- */

typedef struct sums {
    hone_dtype dtype;
    const ptx_buffer *facts;
    LLVMTypeRef word; /* of a register */
    int64_t columns;
    unsigned count; /* registers of a tile */
} sums;

static bool find_sums(gen *g, const hone_expr *data, sums *out) {
    hone_buffer id =
        data->kind == HONE_EXPR_VAR ? codegen_buffer_of_data(g->func, data->u.var) : HONE_NO_ID;
    if (id == HONE_NO_ID || !ptx_is_group_fragment(g, id)) return false;
    out->dtype = g->func->buffers[id].dtype;
    out->facts = &g->device->buffers[hone_func_storage(g->func, id)];
    out->columns = out->facts->fragment[1];
    bool is_half = out->dtype.bits == 16;
    out->word = is_half ? g->i32 : gen_storage_type(g, out->dtype);
    out->count = (unsigned)(ROWS * out->columns / THREADS / (is_half ? 2 : 1));
    return out->facts->slots && out->count > 0 && out->count <= MOST_WORDS;
}

LLVMValueRef ptx_alloc_sums(gen *g, hone_buffer buffer, int64_t elements) {
    const hone_buffer_info *info = &g->func->buffers[buffer];
    int64_t words = elements / THREADS / (info->dtype.bits == 16 ? 2 : 1);
    LLVMTypeRef word = info->dtype.bits == 16 ? g->i32 : gen_storage_type(g, info->dtype);
    return gen_alloca(g, word, words > 0 ? (uint64_t)words : 1, info->name);
}

static LLVMValueRef word_at(gen *g, const sums *s, LLVMValueRef tile, unsigned i) {
    LLVMValueRef at = LLVMBuildMul(g->builder, tile, gen_i64(g, s->count), "");
    at = LLVMBuildAdd(g->builder, at, gen_i64(g, i), "");
    return LLVMBuildGEP2(g->builder, s->word, s->facts->slots, &at, 1, "");
}

/* ---- zeros, and to memory ---- */

/* (data, m, n, k, number, value) */
LLVMValueRef ptx_fill_sums(gen *g, const hone_expr *e) {
    sums s;
    bool is_zero = (e->args[6]->kind == HONE_EXPR_FLOAT && e->args[6]->u.f == 0) ||
                   (e->args[6]->kind == HONE_EXPR_INT && e->args[6]->u.i == 0);
    if (!is_zero || !find_sums(g, e->args[1], &s)) return NULL;
    LLVMValueRef tile = gen_index(g, e->args[5]);
    for (unsigned i = 0; i < s.count; i++)
        LLVMBuildStore(g->builder, LLVMConstNull(s.word), word_at(g, &s, tile, i));
    return gen_i32(g, 0);
}

static LLVMValueRef thread_of_group(gen *g) {
    LLVMValueRef id = gen_intrinsic_of(g, "llvm.nvvm.read.ptx.sreg.tid.x", NULL, 0, NULL, 0);
    return LLVMBuildZExt(g->builder, id, g->i64, "");
}

/* Two neighbours, of which `pair` counts. */
static LLVMValueRef pair_of(gen *g, const sums *s, LLVMValueRef tile, unsigned pair) {
    LLVMTypeRef element = gen_storage_type(g, s->dtype), two = LLVMVectorType(element, 2);
    if (s->dtype.bits == 16) return LLVMBuildLoad2(g->builder, two, word_at(g, s, tile, pair), "");
    LLVMValueRef value = LLVMGetPoison(two);
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef word =
            LLVMBuildLoad2(g->builder, element, word_at(g, s, tile, 2 * pair + i), "");
        value = LLVMBuildInsertElement(g->builder, value, word, gen_i32(g, (int32_t)i), "");
    }
    return value;
}

/* (data, 64, columns, k, number, memory, stride, layout): some of the columns of a tile */
LLVMValueRef ptx_store_sums(gen *g, const hone_expr *e) {
    sums s;
    LLVMBuilderRef b = g->builder;
    int64_t columns = hone_expr_const(e->args[3]), number = hone_expr_const(e->args[5]);
    bool is_known = find_sums(g, e->args[1], &s) && hone_expr_const(e->args[2]) == ROWS &&
                    columns > 0 && columns % 8 == 0 && s.columns % columns == 0 && number >= 0;
    if (!is_known) return NULL;
    LLVMTypeRef element = gen_storage_type(g, s.dtype);
    LLVMValueRef memory = gen_value(g, e->args[6]), stride = gen_index(g, e->args[7]);
    LLVMValueRef thread = thread_of_group(g), tile = gen_i64(g, number / (s.columns / columns));
    unsigned first = (unsigned)(number % (s.columns / columns) * columns / 8) * 2;
    /* 16 rows a warp, of which a lane has one and the one eight below */
    LLVMValueRef row = LLVMBuildLShr(b, thread, gen_i64(g, 2), "");
    row = LLVMBuildAnd(b, row, gen_i64(g, 7), "");
    LLVMValueRef warp = LLVMBuildLShr(b, thread, gen_i64(g, 5), "");
    row = LLVMBuildAdd(b, LLVMBuildShl(b, warp, gen_i64(g, 4), ""), row, "");
    LLVMValueRef column =
        LLVMBuildShl(b, LLVMBuildAnd(b, thread, gen_i64(g, 3), ""), gen_i64(g, 1), "");
    for (unsigned p = 0; p < columns / 4; p++) {
        LLVMValueRef i = LLVMBuildAdd(b, row, gen_i64(g, p % 2 * 8), "");
        LLVMValueRef j = LLVMBuildAdd(b, column, gen_i64(g, p / 2 * 8), "");
        LLVMValueRef at = LLVMBuildAdd(b, LLVMBuildMul(b, i, stride, ""), j, "");
        LLVMValueRef place = LLVMBuildGEP2(b, element, memory, &at, 1, "");
        LLVMValueRef store = LLVMBuildStore(b, pair_of(g, &s, tile, first + p), place);
        LLVMSetAlignment(store, (unsigned)hone_dtype_bytes(s.dtype));
    }
    return gen_i32(g, 0);
}

/* ---- operands in shared memory ---- */

static bool is_wgmma(const hone_expr *e) {
    return hone_expr_is_named(e, "ptx.wgmma") && (e->count == 11 || e->count == 12);
}

void ptx_note_operands(gen *g, const hone_expr *e) {
    g->device->to_multiply += is_wgmma(e);
    for (uint16_t i = 6; is_wgmma(e) && i <= 8; i += 2) {
        const hone_expr *pointer = e->args[i];
        if (!hone_expr_is_call(pointer, HONE_INTRIN_ACCESS_PTR)) continue;
        hone_buffer id = codegen_buffer_of_data(g->func, pointer->args[1]->u.var);
        if (id == HONE_NO_ID) continue;
        g->device->buffers[hone_func_storage(g->func, id)].is_operand = true;
        g->device->has_groups = true;
    }
}

static bool find_product(void *ctx, const hone_expr *e) {
    bool *found = ctx;
    *found |= is_wgmma(e);
    return !*found;
}

bool ptx_multiplies_later(const gen *g) {
    bool found = g->device->to_multiply > 0;
    if (found || !g->device->has_groups) return found;
    if (g->loop.node == HONE_NO_ID) return true; /* a loop with a condition, perhaps */
    for (hone_node_id n = g->loop.node; n != HONE_NO_ID && !found;
         n = hone_func_node(g->func, n)->parent) {
        const hone_node *node = hone_func_node(g->func, n);
        bool repeats = (node->kind == HONE_NODE_FOR && node->loop_kind != HONE_LOOP_THREAD) ||
                       node->kind == HONE_NODE_WHILE;
        if (repeats) hone_tree_walk_parts(g->func, n, false, find_product, &found);
    }
    return found;
}

typedef struct pointing {
    const gen *g;
    hone_buffer found;
} pointing;

static bool find_pointer(void *ctx, const hone_expr *e) {
    pointing *p = ctx;
    if (is_wgmma(e)) return false;
    hone_buffer id =
        e->kind == HONE_EXPR_VAR ? codegen_buffer_of_data(p->g->func, e->u.var) : HONE_NO_ID;
    if (id != HONE_NO_ID && ptx_is_operand(p->g, id)) p->found = id;
    return true;
}

hone_status ptx_check_operands(const gen *g) {
    pointing p = {g, HONE_NO_ID};
    if (g->device->has_groups)
        hone_tree_walk_parts(g->func, HONE_NODE_TOP, false, find_pointer, &p);
    if (p.found == HONE_NO_ID) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                      "'%s' is an operand of ptx.wgmma, and something else gets a pointer to it",
                      g->func->buffers[p.found].name);
}

bool ptx_is_operand(const gen *g, hone_buffer buffer) {
    return g->device->buffers[hone_func_storage(g->func, buffer)].is_operand;
}

LLVMValueRef ptx_turn(gen *g, hone_buffer buffer, LLVMValueRef pointer, int64_t bytes) {
    LLVMBuilderRef b = g->builder;
    if (!ptx_is_operand(g, buffer)) return pointer;
    if (bytes > 16 || ptx_alignment(g, pointer) < bytes) {
        gen_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED,
                               "pieces of '%s' that are touched at once lie across multiples of 16 "
                               "bytes",
                               g->func->buffers[buffer].name));
        return pointer;
    }
    LLVMValueRef at = LLVMBuildPtrToInt(b, pointer, g->i64, "");
    LLVMValueRef row = LLVMBuildAnd(b, at, gen_i64(g, 7 * ROW_BYTES), "");
    at = LLVMBuildXor(b, at, LLVMBuildLShr(b, row, gen_i64(g, 3), ""), "");
    return LLVMBuildIntToPtr(b, at, LLVMTypeOf(pointer), "");
}

/* ---- C += A B ---- */

/* An operand, as the instruction is told of it: 14 bits each, in 16 bytes, for where it begins, how
 * far apart columns are (leading) and how far eight rows of one (stride). */
typedef struct operand {
    LLVMValueRef descriptor;
    int64_t step; /* what is added for the next instruction's part of k */
} operand;

static LLVMValueRef field(gen *g, LLVMValueRef bytes, unsigned at) {
    LLVMBuilderRef b = g->builder;
    LLVMValueRef units = LLVMBuildLShr(b, bytes, gen_i64(g, 4), "");
    units = LLVMBuildAnd(b, units, gen_i64(g, 0x3fff), "");
    return LLVMBuildShl(b, units, gen_i64(g, at), "");
}

/* Bits 62 and 63: pieces of 16 bytes of a row of 128 change places by the row (ptx_turn). */
static LLVMValueRef describe(gen *g, LLVMValueRef pointer, int64_t leading) {
    LLVMBuilderRef b = g->builder;
    LLVMValueRef start = LLVMBuildPtrToInt(b, pointer, g->i64, "");
    LLVMValueRef text = LLVMBuildOr(b, field(g, start, 0), field(g, gen_i64(g, leading), 16), "");
    int64_t turned = INT64_C(1) << 62 | (int64_t)(BLOCK_BYTES / 16) << 32;
    return LLVMBuildOr(b, text, gen_i64(g, turned), "");
}

/* along_k: rows of columns lie along k, else along the other axis; `each`: what an instruction
 * takes of k. */
static bool read_operand(gen *g, const hone_expr *pointer, const hone_expr *stride, bool along_k,
                         int64_t each, operand *out) {
    LLVMValueRef at = gen_value(g, pointer);
    if (g->error || LLVMGetPointerAddressSpace(LLVMTypeOf(at)) != PTX_SHARED) return false;
    hone_buffer id = codegen_buffer_of_data(g->func, pointer->args[1]->u.var);
    int64_t element = (int64_t)hone_dtype_bytes(g->func->buffers[id].dtype);
    int64_t between = hone_expr_const(stride) * element;
    if (between < 1 || between % BLOCK_BYTES != 0) return false;
    out->descriptor = describe(g, at, along_k ? 16 : between);
    out->step = (along_k ? each * element : each * ROW_BYTES) / 16;
    return true;
}

static const char *word_of(hone_dtype dtype) {
    if (dtype.code == HONE_DTYPE_CODE_BFLOAT) return "bf16";
    if (hone_dtype_is_float(dtype)) return dtype.bits == 16 ? "f16" : "f32";
    return dtype.bits == 8 ? "s8" : "s32";
}

static void append_registers(hone_str *text, unsigned count) {
    hone_str_append(text, "{");
    for (unsigned i = 0; i < count; i++)
        hone_str_printf(text, "%s$%u", i ? ", " : "", i);
    hone_str_append(text, "}");
}

/* All instructions of a tile; registers come first, then two descriptors for each. */
static void write_products(const sums *s, const char *type, int64_t columns, unsigned steps,
                           bool is_across, int64_t left, hone_str *text) {
    const char *sum = word_of(s->dtype);
    int k = strcmp(type, "s8") == 0 ? 32 : 16;
    hone_str_append(text, "wgmma.fence.sync.aligned;\n\t");
    for (unsigned i = 0; i < steps; i++) {
        hone_str_printf(text, "wgmma.mma_async.sync.aligned.m64n%dk%d.%s.%s.%s ", (int)columns, k,
                        sum, type, type);
        append_registers(text, s->count);
        hone_str_printf(text, ", $%u, $%u, 1", s->count + 2 * i, s->count + 2 * i + 1);
        hone_str_append(text, k == 32     ? ";\n\t"
                              : is_across ? ", 1, 1, 0, 1;\n\t"
                                          : ", 1, 1, 0, 0;\n\t");
    }
    hone_str_printf(text, "wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned %d;",
                    (int)left);
}

static void write_constraints(const sums *s, unsigned steps, hone_str *out) {
    char letter = hone_dtype_is_float(s->dtype) && s->dtype.bits == 32 ? 'f' : 'r';
    for (unsigned i = 0; i < s->count; i++)
        hone_str_printf(out, "%s=%c", i ? "," : "", letter);
    for (unsigned i = 0; i < 2 * steps; i++)
        hone_str_append(out, ",l");
    for (unsigned i = 0; i < s->count; i++)
        hone_str_printf(out, ",%u", i);
}

enum { MOST_STEPS = 4 }; /* of a row of 128 bytes */

static LLVMValueRef multiply(gen *g, const sums *s, const operand *a, const operand *b,
                             LLVMValueRef tile, unsigned steps, const hone_str *text,
                             const hone_str *constraints) {
    LLVMValueRef args[2 * MOST_STEPS + MOST_WORDS];
    LLVMTypeRef outputs[MOST_WORDS];
    unsigned count = 0;
    for (unsigned i = 0; i < steps; i++) {
        args[count++] =
            LLVMBuildAdd(g->builder, a->descriptor, gen_i64(g, (int64_t)i * a->step), "");
        args[count++] =
            LLVMBuildAdd(g->builder, b->descriptor, gen_i64(g, (int64_t)i * b->step), "");
    }
    for (unsigned i = 0; i < s->count; i++) {
        outputs[i] = s->word;
        args[count++] = LLVMBuildLoad2(g->builder, s->word, word_at(g, s, tile, i), "");
    }
    LLVMTypeRef result = LLVMStructTypeInContext(g->context, outputs, s->count, 0);
    return ptx_asm(g, result, hone_str_text(text), hone_str_text(constraints), args, count,
                   PTX_ASM_CONVERGENT | PTX_ASM_EFFECT);
}

static void keep(gen *g, const sums *s, LLVMValueRef tile, LLVMValueRef made) {
    for (unsigned i = 0; i < s->count; i++)
        LLVMBuildStore(g->builder, LLVMBuildExtractValue(g->builder, made, i, ""),
                       word_at(g, s, tile, i));
}

/* (data, m, n, k, number, A, stride, B, stride, way[, calls that may go on]) */
static LLVMValueRef call_wgmma(gen *g, const hone_expr *e) {
    sums s;
    operand a, b;
    if (!is_wgmma(e) || !find_sums(g, e->args[1], &s)) return NULL;
    const hone_expr *pa = e->args[6], *pb = e->args[8], *way = e->args[10];
    bool is_known = hone_expr_is_call(pa, HONE_INTRIN_ACCESS_PTR) &&
                    hone_expr_is_call(pb, HONE_INTRIN_ACCESS_PTR) && way->kind == HONE_EXPR_STRING;
    if (!is_known) return NULL;
    bool is_across = strcmp(way->u.s, "mn") == 0;
    hone_buffer id = codegen_buffer_of_data(g->func, pa->args[1]->u.var);
    const char *type = word_of(g->func->buffers[id].dtype);
    int64_t columns = hone_expr_const(e->args[3]), k = hone_expr_const(e->args[4]);
    int64_t each = strcmp(type, "s8") == 0 ? 32 : 16;
    unsigned steps = (unsigned)(k / each);
    is_known = steps > 0 && steps <= MOST_STEPS && k % each == 0 && columns == s.columns &&
               read_operand(g, pa, e->args[7], true, each, &a) &&
               read_operand(g, pb, e->args[9], !is_across, each, &b);
    if (!is_known) return NULL;
    hone_str text = {0}, constraints = {0};
    g->device->to_multiply--;
    LLVMValueRef tile = gen_index(g, e->args[5]);
    write_products(&s, type, columns, steps, is_across,
                   e->count == 12 ? hone_expr_const(e->args[11]) : 0, &text);
    write_constraints(&s, steps, &constraints);
    LLVMValueRef made = multiply(g, &s, &a, &b, tile, steps, &text, &constraints);
    keep(g, &s, tile, made);
    hone_str_deinit(&text);
    hone_str_deinit(&constraints);
    return gen_i32(g, 0);
}

/* (data): nobody reads the sums before all products are done. */
static LLVMValueRef call_wait(gen *g, const hone_expr *e) {
    sums s;
    if (e->count != 2 || !find_sums(g, e->args[1], &s)) return NULL;
    hone_str text = {0}, constraints = {0};
    LLVMValueRef first = gen_i64(g, 0);
    hone_str_append(&text, "wgmma.wait_group.sync.aligned 0;");
    write_constraints(&s, 0, &constraints);
    LLVMValueRef made = multiply(g, &s, NULL, NULL, first, 0, &text, &constraints);
    keep(g, &s, first, made);
    hone_str_deinit(&text);
    hone_str_deinit(&constraints);
    return gen_i32(g, 0);
}

static const ptx_call_row calls[] = {
    {"ptx.wgmma",      call_wgmma},
    {"ptx.wgmma_wait", call_wait },
};

LLVMValueRef ptx_wgmma_call(gen *g, const hone_expr *e, const char *name) {
    return ptx_capability(g->target) >= 90 ? ptx_call_in(calls, HONE_COUNT(calls), g, e, name)
                                           : NULL;
}
