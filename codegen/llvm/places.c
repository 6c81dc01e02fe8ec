/* codegen/llvm/places.c - where the lanes of a load or a store lie: what is the same in all lanes
 * is told from the constant that each adds to it, so that their addresses need no vectors. */
#include "codegen/llvm/places.h"

#include "ir/core/fold.h"

/* ---- a vector index as base + offsets[lane] ---- */

typedef struct split {
    const hone_expr *base; /* scalar; NULL = 0 */
    int64_t *offsets;      /* by lane */
} split;

static bool is_same_in_all(const split *s, unsigned lanes) {
    for (unsigned i = 1; i < lanes; i++) {
        if (s->offsets[i] != s->offsets[0]) return false;
    }
    return true;
}

/* The base of op applied to a and b; false where there is none that all lanes share. */
static bool combine_bases(gen *g, hone_op op, const split *a, const split *b, unsigned lanes,
                          const hone_expr **out) {
    *out = a->base;
    if (!b->base && (!a->base || op == HONE_OP_ADD || op == HONE_OP_SUB)) return true;
    if (op == HONE_OP_ADD) {
        *out = a->base ? hone_expr_add(&g->ir, a->base, b->base) : b->base;
        return true;
    }
    if (op != HONE_OP_MUL || b->base || !is_same_in_all(b, lanes)) return false;
    *out = hone_expr_mul(&g->ir, a->base, hone_expr_int(&g->ir, a->base->dtype, b->offsets[0]));
    return true;
}

static bool split_index(gen *g, const hone_expr *e, split *out);

static bool split_binary(gen *g, const hone_expr *e, split *out) {
    split a, b;
    hone_op op = (hone_op)e->op;
    unsigned lanes = e->dtype.lanes;
    if (!split_index(g, e->args[0], &a) || !split_index(g, e->args[1], &b)) return false;
    if (!combine_bases(g, op, &a, &b, lanes, &out->base)) return false;
    for (unsigned i = 0; i < lanes; i++) {
        if (!hone_fold_ints(op, a.offsets[i], b.offsets[i], &out->offsets[i])) return false;
    }
    return true;
}

/* value + i * stride in lane i. */
static bool split_steps(const hone_expr *value, int64_t stride, unsigned lanes, split *out) {
    bool is_constant = hone_expr_is_int(value);
    out->base = is_constant ? NULL : value;
    for (unsigned i = 0; i < lanes; i++) {
        if (__builtin_mul_overflow(stride, (int64_t)i, &out->offsets[i])) return false;
        if (is_constant && __builtin_add_overflow(out->offsets[i], value->u.i, &out->offsets[i])) {
            return false;
        }
    }
    return true;
}

static bool split_cast(gen *g, const hone_expr *e, split *out) {
    hone_dtype from = e->args[0]->dtype;
    if (!hone_dtype_is_int(from) || !hone_dtype_is_int(e->dtype)) return false;
    if (e->dtype.bits < from.bits || !split_index(g, e->args[0], out)) return false;
    if (out->base) out->base = hone_expr_cast(&g->ir, hone_dtype_element(e->dtype), out->base);
    return true;
}

/* A check of neighbours is one of the first of them, which leaves room for the others. Not under a
 * mask, where those that are off may be anywhere. */
static bool split_check(gen *g, const hone_expr *e, split *out) {
    int64_t extent =
        e->args[1]->kind == HONE_EXPR_BROADCAST ? hone_expr_const(e->args[1]->args[0]) : -1;
    int64_t least = INT64_MAX, most = INT64_MIN;
    if (g->mask || extent < 0 || !split_index(g, e->args[0], out) || !out->base) return false;
    for (unsigned i = 0; i < e->dtype.lanes; i++) {
        if (out->offsets[i] < least) least = out->offsets[i];
        if (out->offsets[i] > most) most = out->offsets[i];
    }
    if (most - least >= extent) return false; /* none can be right */
    hone_dtype dtype = out->base->dtype;
    const hone_expr *args[] = {
        hone_expr_add(&g->ir, out->base, hone_expr_int(&g->ir, dtype, least)),
        hone_expr_int(&g->ir, dtype, extent - (most - least)),
    };
    out->base = hone_expr_call(&g->ir, dtype, HONE_INTRIN_CHECKED_INDEX, 2, args);
    for (unsigned i = 0; i < e->dtype.lanes; i++)
        out->offsets[i] -= least;
    return out->base != NULL;
}

static bool split_index(gen *g, const hone_expr *e, split *out) {
    unsigned lanes = e->dtype.lanes;
    out->base = NULL;
    out->offsets = hone_arena_alloc(g->arena, lanes * sizeof *out->offsets);
    if (!out->offsets) return false;
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_BROADCAST:
        return e->args[0]->dtype.lanes == 1 && split_steps(e->args[0], 0, lanes, out);
    case HONE_EXPR_RAMP:
        return e->args[0]->dtype.lanes == 1 && hone_expr_is_int(e->args[1]) &&
               split_steps(e->args[0], e->args[1]->u.i, lanes, out);
    case HONE_EXPR_BINARY:
        return hone_dtype_is_int(e->dtype) && split_binary(g, e, out);
    case HONE_EXPR_CAST:
        return split_cast(g, e, out);
    case HONE_EXPR_CALL:
        return e->op == HONE_INTRIN_CHECKED_INDEX && split_check(g, e, out);
    default:
        return false;
    }
}

/* ---- places ---- */

static bool is_run(const split *s, unsigned lanes) {
    for (unsigned i = 1; i < lanes; i++) {
        if (s->offsets[i] - s->offsets[i - 1] != 1) return false;
    }
    return true;
}

static LLVMValueRef add_constant(gen *g, LLVMValueRef index, int64_t offset) {
    return offset == 0 ? index : LLVMBuildNSWAdd(g->builder, index, gen_i64(g, offset), "");
}

static gen_place split_place(gen *g, const split *s, unsigned lanes) {
    gen_place p = {.kind = GEN_PLACE_FIXED, .offsets = s->offsets, .lanes = lanes};
    p.base = s->base ? gen_index(g, s->base) : gen_i64(g, 0);
    if (!is_run(s, lanes)) return p;
    p.kind = GEN_PLACE_DENSE;
    p.base = add_constant(g, p.base, s->offsets[0]);
    return p;
}

gen_place gen_place_of(gen *g, const hone_expr *index) {
    unsigned lanes = index->dtype.lanes;
    split s;
    if (lanes == 1) {
        return (gen_place){.kind = GEN_PLACE_SCALAR, .base = gen_index(g, index), .lanes = 1};
    }
    if (split_index(g, index, &s)) return split_place(g, &s, lanes);
    if (index->kind == HONE_EXPR_RAMP && index->args[0]->dtype.lanes == 1) {
        LLVMValueRef base = gen_index(g, index->args[0]), stride = gen_index(g, index->args[1]);
        return (gen_place){
            .kind = GEN_PLACE_STRIDED, .base = base, .stride = stride, .lanes = lanes};
    }
    LLVMValueRef indices = gen_value(g, index);
    LLVMTypeRef wide = LLVMVectorType(g->i64, lanes);
    if (index->dtype.bits < 64) indices = LLVMBuildSExt(g->builder, indices, wide, "");
    return (gen_place){.kind = GEN_PLACE_INDEXED, .indices = indices, .lanes = lanes};
}

LLVMValueRef gen_lane_index(gen *g, const gen_place *p, unsigned lane) {
    switch (p->kind) {
    case GEN_PLACE_SCALAR:
        return p->base;
    case GEN_PLACE_DENSE:
        return add_constant(g, p->base, lane);
    case GEN_PLACE_FIXED:
        return add_constant(g, p->base, p->offsets[lane]);
    case GEN_PLACE_INDEXED:
        return LLVMBuildExtractElement(g->builder, p->indices, gen_i32(g, (int32_t)lane), "");
    default: {
        LLVMValueRef offset = LLVMBuildNSWMul(g->builder, p->stride, gen_i64(g, lane), "");
        return LLVMBuildNSWAdd(g->builder, p->base, offset, "");
    }
    }
}

LLVMValueRef gen_lane_indices(gen *g, const gen_place *p) {
    if (p->kind == GEN_PLACE_INDEXED) return p->indices;
    LLVMValueRef steps[GEN_MAX_LANES];
    for (unsigned i = 0; i < p->lanes; i++)
        steps[i] = gen_i64(g, p->kind == GEN_PLACE_FIXED ? p->offsets[i] : i);
    LLVMValueRef offset = LLVMConstVector(steps, p->lanes);
    if (p->kind == GEN_PLACE_STRIDED) {
        offset = LLVMBuildMul(g->builder, gen_splat(g, p->stride, p->lanes), offset, "");
    }
    return LLVMBuildAdd(g->builder, gen_splat(g, p->base, p->lanes), offset, "");
}

/* ---- lanes that may be touched ---- */

bool gen_lanes_on(gen *g, unsigned lanes, bool *out_on) {
    for (unsigned i = 0; i < lanes; i++) {
        LLVMValueRef bit = g->mask ? LLVMGetAggregateElement(g->mask, i) : NULL;
        if (g->mask && !(bit && LLVMIsAConstantInt(bit))) return false;
        out_on[i] = !bit || LLVMConstIntGetZExtValue(bit) != 0;
    }
    return true;
}
