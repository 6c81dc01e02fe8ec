/* codegen/nvptx/ptx_wgmma.c - wgmma of sm_90a: four warps multiply tiles that lie in shared memory.
 *
 * A buffer of scope "wgmma.accumulator" becomes registers: a tile of 64 x n takes n / 2 of each
 * thread (n / 4 where two sums fit into one), four for each eight columns: two neighbours of its
 * row, and of the row eight below. The layout is that of ir/interp/interp_matrix.c. One call
 * multiplies all that is there of k, and has ended when it returns, or (its last argument) leaves
 * so many on their way; ptx.wgmma_wait ends them. */
#include <stdio.h>
#include <string.h>

#include "codegen/groups.h"
#include "codegen/nvptx/nvptx.h"
#include "support/core/attributes.h"

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
    if (id == HONE_NO_ID || !groups_is_sums(g->func, id)) return false;
    out->dtype = g->func->buffers[id].dtype;
    out->facts = &g->device->buffers[hone_func_storage(g->func, id)];
    out->columns = out->facts->fragment[1];
    bool is_half = out->dtype.bits == 16;
    out->word = is_half ? g->i32 : gen_storage_type(g, out->dtype);
    out->count = groups_words(out->dtype, out->columns);
    return out->facts->slots && out->count > 0 && out->count <= GROUPS_MOST_WORDS;
}

LLVMValueRef ptx_alloc_sums(gen *g, hone_buffer buffer, int64_t elements) {
    const hone_buffer_info *info = &g->func->buffers[buffer];
    int64_t words = elements / GROUPS_THREADS / (info->dtype.bits == 16 ? 2 : 1);
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
    bool is_known = find_sums(g, e->args[1], &s) && hone_expr_const(e->args[2]) == GROUPS_ROWS &&
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

/* Remembers which buffers products read, and how many calls are to come. */
static bool count_product(void *ctx, const hone_expr *e) {
    gen *g = ctx;
    g->device->to_multiply += groups_is_product(e);
    return true;
}

hone_status ptx_note_operands(gen *g) {
    bool any = false, *is_operand = hone_arena_zalloc(g->arena, g->func->buffer_count + 1);
    if (!is_operand) return HONE_ERROR(HONE_CODE_NO_MEMORY, "code generation");
    HONE_TRY(groups_find_operands(g->func, is_operand, &any));
    g->device->has_groups |= any;
    for (hone_buffer b = 0; b < g->func->buffer_count; b++)
        g->device->buffers[b].is_operand = is_operand[b];
    hone_tree_walk_parts(g->func, HONE_NODE_TOP, false, count_product, g);
    return HONE_OK;
}

static bool is_product(const void *ctx, const hone_expr *e) {
    (void)ctx;
    return groups_is_product(e);
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
        found = repeats && hone_tree_find_part(g->func, n, false, is_product, NULL);
    }
    return found;
}

void ptx_begin_product(gen *g) {
    g->device->to_multiply--;
}

bool ptx_is_operand(const gen *g, hone_buffer buffer) {
    return g->device->buffers[hone_func_storage(g->func, buffer)].is_operand;
}

/* A place less a constant (as gen_address leaves it) that changes no row's number among eight:
 * copies of a thread, which are so far apart, have all else in common. */
static LLVMValueRef without_constant(gen *g, hone_buffer buffer, LLVMValueRef pointer,
                                     int64_t *out_bytes) {
    hone_dtype dtype = g->func->buffers[buffer].dtype;
    bool is_known = LLVMIsAGetElementPtrInst(pointer) && LLVMGetNumOperands(pointer) == 2 &&
                    LLVMGetGEPSourceElementType(pointer) == gen_storage_type(g, dtype) &&
                    LLVMIsAConstantInt(LLVMGetOperand(pointer, 1));
    int64_t elements = is_known ? LLVMConstIntGetSExtValue(LLVMGetOperand(pointer, 1)) : 0;
    *out_bytes = elements * (int64_t)hone_dtype_bytes(dtype);
    if (*out_bytes % GROUPS_ALIGN == 0 && *out_bytes != 0) return LLVMGetOperand(pointer, 0);
    *out_bytes = 0;
    return pointer;
}

LLVMValueRef ptx_turn(gen *g, hone_buffer buffer, LLVMValueRef pointer, int64_t bytes) {
    LLVMBuilderRef b = g->builder;
    int64_t apart;
    if (!ptx_is_operand(g, buffer)) return pointer;
    if (bytes > 16 || ptx_alignment(g, pointer) < bytes) {
        gen_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED,
                               "pieces of '%s' that are touched at once lie across multiples of 16 "
                               "bytes",
                               g->func->buffers[buffer].name));
        return pointer;
    }
    pointer = without_constant(g, buffer, pointer, &apart);
    LLVMValueRef at = LLVMBuildPtrToInt(b, pointer, g->i64, ""), by = gen_i64(g, apart);
    LLVMValueRef row = LLVMBuildAnd(b, at, gen_i64(g, 7 * GROUPS_ROW), "");
    at = LLVMBuildXor(b, at, LLVMBuildLShr(b, row, gen_i64(g, 3), ""), "");
    at = LLVMBuildIntToPtr(b, at, LLVMTypeOf(pointer), "");
    return apart ? LLVMBuildGEP2(b, g->i8, at, &by, 1, "") : at;
}

/* ---- C += A B ---- */

/* An operand, as the instruction is told of it: 14 bits each, in 16 bytes, for where it begins, how
 * far apart columns are (leading) and how far eight rows of one (stride). */
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
    int64_t turned = INT64_C(1) << 62 | (int64_t)(GROUPS_ALIGN / 16) << 32;
    return LLVMBuildOr(b, text, gen_i64(g, turned), "");
}

LLVMValueRef ptx_describe_operand(gen *g, const hone_expr *pointer,
                                  const struct groups_operand *o) {
    LLVMValueRef at = gen_value(g, pointer);
    bool is_shared = !g->error && LLVMGetPointerAddressSpace(LLVMTypeOf(at)) == PTX_SHARED;
    return is_shared ? describe(g, at, o->leading) : NULL;
}

static void write_constraints(const sums *s, unsigned descriptors, hone_str *out) {
    char letter = hone_dtype_is_float(s->dtype) && s->dtype.bits == 32 ? 'f' : 'r';
    for (unsigned i = 0; i < s->count; i++)
        hone_str_printf(out, "%s=%c", i ? "," : "", letter);
    for (unsigned i = 0; i < descriptors; i++)
        hone_str_append(out, ",l");
    for (unsigned i = 0; i < s->count; i++)
        hone_str_printf(out, ",%u", i);
}

/* What an asm is given: descriptors of each instruction, then the sums so far. */
typedef struct operands {
    LLVMValueRef args[2 * GROUPS_MOST_STEPS + GROUPS_MOST_WORDS];
    unsigned count;
} operands;

static void add_descriptors(gen *g, const groups_product *p, LLVMValueRef a, LLVMValueRef b,
                            operands *o) {
    for (unsigned i = 0; i < p->steps; i++) {
        LLVMValueRef of_a = gen_i64(g, groups_step(&p->a, i));
        LLVMValueRef of_b = gen_i64(g, groups_step(&p->b, i));
        o->args[o->count++] = LLVMBuildAdd(g->builder, a, of_a, "");
        o->args[o->count++] = LLVMBuildAdd(g->builder, b, of_b, "");
    }
}

static LLVMValueRef multiply(gen *g, const sums *s, LLVMValueRef tile, operands *o,
                             const hone_str *text) {
    LLVMTypeRef outputs[GROUPS_MOST_WORDS];
    hone_str constraints = {0};
    write_constraints(s, o->count, &constraints);
    for (unsigned i = 0; i < s->count; i++) {
        outputs[i] = s->word;
        o->args[o->count++] = LLVMBuildLoad2(g->builder, s->word, word_at(g, s, tile, i), "");
    }
    LLVMTypeRef result = LLVMStructTypeInContext(g->context, outputs, s->count, 0);
    LLVMValueRef made = ptx_asm(g, result, hone_str_text(text), hone_str_text(&constraints),
                                o->args, o->count, PTX_ASM_CONVERGENT | PTX_ASM_EFFECT);
    hone_str_deinit(&constraints);
    return made;
}

static void keep(gen *g, const sums *s, LLVMValueRef tile, LLVMValueRef made) {
    for (unsigned i = 0; i < s->count; i++)
        LLVMBuildStore(g->builder, LLVMBuildExtractValue(g->builder, made, i, ""),
                       word_at(g, s, tile, i));
}

static LLVMValueRef call_wgmma(gen *g, const hone_expr *e) {
    sums s;
    groups_product p;
    operands o = {.count = 0};
    bool is_known = groups_is_product(e) && find_sums(g, e->args[1], &s) &&
                    groups_read_product(g->func, e, &p) && p.columns == s.columns;
    if (!is_known) return NULL;
    LLVMValueRef a = ptx_describe_operand(g, e->args[6], &p.a);
    LLVMValueRef b = ptx_describe_operand(g, e->args[8], &p.b);
    if (!a || !b) return NULL;
    hone_str text = {0};
    ptx_begin_product(g);
    LLVMValueRef tile = gen_index(g, e->args[5]);
    groups_write_product(&p, s.count, '$', "\n\t", &text);
    add_descriptors(g, &p, a, b, &o);
    keep(g, &s, tile, multiply(g, &s, tile, &o, &text));
    hone_str_deinit(&text);
    return gen_i32(g, 0);
}

/* (data): nobody reads the sums before all products are done. */
static LLVMValueRef call_wait(gen *g, const hone_expr *e) {
    sums s;
    operands o = {.count = 0};
    if (e->count != 2 || !find_sums(g, e->args[1], &s)) return NULL;
    hone_str text = {0};
    LLVMValueRef first = gen_i64(g, 0);
    hone_str_append(&text, "wgmma.wait_group.sync.aligned 0;");
    keep(g, &s, first, multiply(g, &s, first, &o, &text));
    hone_str_deinit(&text);
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
