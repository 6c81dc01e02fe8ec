/* codegen/nvptx/ptx_warp.c - what lanes of a warp tell each other: shuffles, sums, votes. */
#include <string.h>

#include "codegen/nvptx/nvptx.h"
#include "support/core/attributes.h"

/* ---- shuffles ---- */

/* The last operand of shfl: how far lanes may look, and the part of the warp that is theirs. */
static LLVMValueRef segment(gen *g, LLVMValueRef width, bool is_up) {
    LLVMBuilderRef b = g->builder;
    LLVMValueRef mask = LLVMBuildSub(b, gen_i32(g, PTX_LANES), width, "");
    mask = LLVMBuildShl(b, mask, gen_i32(g, 8), "");
    return is_up ? mask : LLVMBuildOr(b, mask, gen_i32(g, PTX_LANES - 1), "");
}

typedef struct exchange {
    const char *way; /* "idx", "up", "down", "bfly" */
    LLVMValueRef mask, by, segment;
} exchange;

static LLVMValueRef shuffle_word(gen *g, const exchange *x, LLVMValueRef value) {
    static const struct {
        const char *way, *intrinsic;
    } rows[] = {
        {"idx",  "llvm.nvvm.shfl.sync.idx.i32" },
        {"up",   "llvm.nvvm.shfl.sync.up.i32"  },
        {"down", "llvm.nvvm.shfl.sync.down.i32"},
        {"bfly", "llvm.nvvm.shfl.sync.bfly.i32"}
    };
    LLVMValueRef args[] = {x->mask, value, x->by, x->segment};
    size_t i = 0;
    while (strcmp(rows[i].way, x->way) != 0)
        i++;
    return gen_intrinsic_of(g, rows[i].intrinsic, NULL, 0, args, 4);
}

/* Values of 64 bits go in two halves, others as words. */
static LLVMValueRef shuffle(gen *g, const exchange *x, LLVMValueRef value) {
    LLVMBuilderRef b = g->builder;
    LLVMTypeRef type = LLVMTypeOf(value);
    bool is_float = type == g->f32 || type == g->f64;
    bool is_long = type == g->f64 || type == g->i64;
    LLVMTypeRef word = is_long ? g->i64 : g->i32;
    if (is_float) value = LLVMBuildBitCast(b, value, word, "");
    if (!is_float && type != word) value = LLVMBuildZExt(b, value, word, "");
    if (is_long) {
        LLVMValueRef half = gen_i64(g, 32);
        LLVMValueRef low = shuffle_word(g, x, LLVMBuildTrunc(b, value, g->i32, ""));
        LLVMValueRef high = LLVMBuildLShr(b, value, half, "");
        high = shuffle_word(g, x, LLVMBuildTrunc(b, high, g->i32, ""));
        high = LLVMBuildShl(b, LLVMBuildZExt(b, high, g->i64, ""), half, "");
        value = LLVMBuildOr(b, high, LLVMBuildZExt(b, low, g->i64, ""), "");
    } else {
        value = shuffle_word(g, x, value);
    }
    if (is_float) return LLVMBuildBitCast(b, value, type, "");
    return type == word ? value : LLVMBuildTrunc(b, value, type, "");
}

static LLVMValueRef word(gen *g, const hone_expr *e) {
    return gen_cast(g, e->dtype, HONE_DTYPE_I32, gen_value(g, e));
}

/* (mask, value, lane or distance, width, size of a warp) */
static LLVMValueRef call_shuffle(gen *g, const hone_expr *e, const char *way) {
    LLVMValueRef width = e->count > 4 ? word(g, e->args[4]) : gen_i32(g, PTX_LANES);
    exchange x = {way, word(g, e->args[1]), word(g, e->args[3]), NULL};
    x.segment = segment(g, width, strcmp(way, "up") == 0);
    return shuffle(g, &x, gen_value(g, e->args[2]));
}

/* ---- reductions and votes ---- */

static LLVMValueRef active_mask(gen *g) {
    return ptx_asm(g, g->i32, "activemask.b32 $0;", "=r", NULL, 0,
                   PTX_ASM_EFFECT | PTX_ASM_CONVERGENT);
}

/* Of the block: x runs fastest. */
static LLVMValueRef thread_number(gen *g) {
    static const char *const names[] = {"llvm.nvvm.read.ptx.sreg.tid.x",
                                        "llvm.nvvm.read.ptx.sreg.tid.y",
                                        "llvm.nvvm.read.ptx.sreg.tid.z"};
    LLVMValueRef number = gen_i32(g, 0);
    for (int axis = 2; axis >= 0; axis--) {
        LLVMValueRef index = gen_intrinsic_of(g, names[axis], NULL, 0, NULL, 0);
        LLVMValueRef extent = gen_i32(g, (int32_t)g->device->block[axis]);
        number = LLVMBuildAdd(g->builder, LLVMBuildMul(g->builder, number, extent, ""), index, "");
    }
    return number;
}

/* All lanes that have a thread: the last warp of a block may lack some. What activemask says is no
 * answer, lanes that come together later are not in it. */
static LLVMValueRef all_lanes(gen *g) {
    LLVMBuilderRef b = g->builder;
    int32_t last = (int32_t)(ptx_block_threads(g) % PTX_LANES);
    if (last == 0) return gen_i32(g, -1);
    int32_t whole = (int32_t)ptx_block_threads(g) - last;
    LLVMValueRef is_whole = LLVMBuildICmp(b, LLVMIntULT, thread_number(g), gen_i32(g, whole), "");
    return LLVMBuildSelect(b, is_whole, gen_i32(g, -1), gen_i32(g, (1 << last) - 1), "");
}

static LLVMValueRef combine(gen *g, const hone_expr *e, const char *op, LLVMValueRef a,
                            LLVMValueRef b) {
    LLVMBuilderRef ir = g->builder;
    bool is_float = hone_dtype_is_float(e->dtype), is_max = strcmp(op, "max") == 0;
    if (strcmp(op, "sum") == 0 && !is_float) return LLVMBuildAdd(ir, a, b, "");
    if (strcmp(op, "sum") == 0) {
        LLVMValueRef sum = LLVMBuildFAdd(ir, a, b, "");
        return codegen_is_small_float(e->dtype) ? gen_round_small(g, e->dtype, sum) : sum;
    }
    if (is_float) {
        LLVMRealPredicate p = is_max ? LLVMRealOGT : LLVMRealOLT;
        return LLVMBuildSelect(ir, LLVMBuildFCmp(ir, p, a, b, ""), a, b, "");
    }
    bool is_signed = hone_dtype_is_int(e->dtype);
    LLVMIntPredicate less = is_signed ? LLVMIntSLT : LLVMIntULT;
    LLVMIntPredicate more = is_signed ? LLVMIntSGT : LLVMIntUGT;
    return LLVMBuildSelect(ir, LLVMBuildICmp(ir, is_max ? more : less, a, b, ""), a, b, "");
}

/* (value, "sum", width): each with the lane whose number differs in one bit, highest bit first */
static LLVMValueRef warp_reduce(gen *g, const hone_expr *e) {
    int64_t width = e->count > 3 ? hone_expr_const(e->args[3]) : PTX_LANES;
    bool is_known = e->args[2]->kind == HONE_EXPR_STRING && width >= 2 && width <= PTX_LANES &&
                    PTX_LANES % width == 0;
    if (!is_known) return NULL;
    LLVMValueRef value = gen_value(g, e->args[1]);
    exchange x = {"bfly", all_lanes(g), NULL, segment(g, gen_i32(g, (int32_t)width), false)};
    for (int64_t bit = width / 2; bit; bit /= 2) {
        x.by = gen_i32(g, (int32_t)bit);
        value = combine(g, e, e->args[2]->u.s, value, shuffle(g, &x, value));
    }
    return value;
}

/* (mask, predicate) */
static LLVMValueRef ballot(gen *g, const hone_expr *e) {
    LLVMValueRef args[] = {word(g, e->args[1]), gen_condition(g, e->args[2])};
    LLVMValueRef votes = gen_intrinsic_of(g, "llvm.nvvm.vote.ballot.sync", NULL, 0, args, 2);
    return gen_cast(g, HONE_DTYPE_U32, e->dtype, votes);
}
static LLVMValueRef any_of(gen *g, const hone_expr *e) {
    LLVMValueRef args[] = {word(g, e->args[1]), gen_condition(g, e->args[2])};
    LLVMValueRef is_any = gen_intrinsic_of(g, "llvm.nvvm.vote.any.sync", NULL, 0, args, 2);
    return gen_cast(g, HONE_DTYPE_BOOL, e->dtype, is_any);
}
static LLVMValueRef call_active_mask(gen *g, const hone_expr *e) {
    return gen_cast(g, HONE_DTYPE_U32, e->dtype, active_mask(g));
}

static const struct {
    const char *name;
    uint8_t least, most; /* arguments, the name among them */
    const char *way;     /* of a shuffle */
    LLVMValueRef (*emit)(gen *g, const hone_expr *e);
} calls[] = {
    {"cuda.__shfl_sync",      4, 6, "idx",  NULL            },
    {"cuda.__shfl_up_sync",   4, 6, "up",   NULL            },
    {"cuda.__shfl_down_sync", 4, 6, "down", NULL            },
    {"cuda.__shfl_xor_sync",  4, 6, "bfly", NULL            },
    {"cuda.__activemask",     1, 1, NULL,   call_active_mask},
    {"cuda.warp_reduce",      3, 4, NULL,   warp_reduce     },
    {"cuda.ballot_sync",      3, 3, NULL,   ballot          },
    {"cuda.any_sync",         3, 3, NULL,   any_of          },
};

LLVMValueRef ptx_warp_call(gen *g, const hone_expr *e, const char *name) {
    for (size_t i = 0; i < HONE_COUNT(calls); i++) {
        if (strcmp(calls[i].name, name) != 0) continue;
        if (e->count < calls[i].least || e->count > calls[i].most || e->dtype.lanes > 1)
            return NULL;
        return calls[i].emit ? calls[i].emit(g, e) : call_shuffle(g, e, calls[i].way);
    }
    return NULL;
}
