/* codegen/llvm/access.c - loads and stores: scalars, contiguous vectors, strided and indexed ones.
 *
 * A ramp of stride 1 is one vector access; stride 0 a broadcast; stride -1 a reversed access;
 * loads of strides 2 to 4 are shuffled out of dense ones; others go lane by lane or through a
 * gather. Under a mask (the lanes of a vector if_then_else) only the lanes in it touch memory. */
#include "codegen/llvm/gen.h"

LLVMValueRef gen_buffer(gen *g, hone_buffer buffer) {
    hone_buffer at = buffer;
    for (int hops = 0; hops < 64; hops++) {
        if (g->buffers[at]) return g->buffers[at];
        if (g->func->buffers[at].alias_of == HONE_NO_ID) break;
        at = g->func->buffers[at].alias_of;
    }
    gen_fail(g, HONE_ERROR(HONE_CODE_INVALID, "buffer '%s' is used outside of its scope",
                           g->func->buffers[buffer].name));
    return LLVMGetUndef(g->ptr);
}

static unsigned element_bytes(hone_dtype dtype) {
    return (unsigned)hone_dtype_bytes(hone_dtype_element(dtype));
}

LLVMValueRef gen_address(gen *g, hone_buffer buffer, LLVMValueRef index) {
    hone_dtype dtype = g->func->buffers[buffer].dtype;
    LLVMTypeRef type = gen_storage_type(g, dtype);
    return LLVMBuildInBoundsGEP2(g->builder, type, gen_buffer(g, buffer), &index, 1, "");
}

/* What kind of access an index is. */
typedef struct place {
    enum { PLACE_SCALAR, PLACE_DENSE, PLACE_REVERSED, PLACE_STRIDED, PLACE_INDEXED } kind;
    LLVMValueRef base;    /* i64, all but INDEXED */
    LLVMValueRef stride;  /* i64, STRIDED */
    LLVMValueRef indices; /* vector of i64, INDEXED */
    unsigned lanes;
} place;

static place place_of(gen *g, const hone_expr *index) {
    unsigned lanes = index->dtype.lanes;
    if (lanes == 1) return (place){.kind = PLACE_SCALAR, .base = gen_index(g, index), .lanes = 1};
    if (index->kind == HONE_EXPR_RAMP && index->args[0]->dtype.lanes == 1) {
        int64_t stride = hone_expr_is_int(index->args[1]) ? index->args[1]->u.i : INT64_MAX;
        LLVMValueRef base = gen_index(g, index->args[0]);
        if (stride == 1) return (place){.kind = PLACE_DENSE, .base = base, .lanes = lanes};
        if (stride == -1) return (place){.kind = PLACE_REVERSED, .base = base, .lanes = lanes};
        LLVMValueRef step = gen_index(g, index->args[1]);
        return (place){.kind = PLACE_STRIDED, .base = base, .stride = step, .lanes = lanes};
    }
    LLVMValueRef indices = gen_value(g, index);
    LLVMTypeRef wide = LLVMVectorType(g->i64, lanes);
    if (index->dtype.bits < 64) indices = LLVMBuildSExt(g->builder, indices, wide, "");
    return (place){.kind = PLACE_INDEXED, .indices = indices, .lanes = lanes};
}

static LLVMValueRef lane_index(gen *g, const place *p, unsigned lane) {
    if (p->kind == PLACE_INDEXED) {
        return LLVMBuildExtractElement(g->builder, p->indices, gen_i32(g, (int32_t)lane), "");
    }
    LLVMValueRef offset = LLVMBuildNSWMul(g->builder, p->stride, gen_i64(g, lane), "");
    return LLVMBuildNSWAdd(g->builder, p->base, offset, "");
}

static LLVMValueRef all_indices(gen *g, const place *p) {
    if (p->kind == PLACE_INDEXED) return p->indices;
    LLVMValueRef base = gen_splat(g, p->base, p->lanes);
    LLVMValueRef stride = gen_splat(g, p->stride, p->lanes);
    LLVMValueRef steps[1024];
    for (unsigned i = 0; i < p->lanes; i++)
        steps[i] = gen_i64(g, i);
    LLVMValueRef offset = LLVMBuildMul(g->builder, stride, LLVMConstVector(steps, p->lanes), "");
    return LLVMBuildAdd(g->builder, base, offset, "");
}

static LLVMValueRef reverse(gen *g, LLVMValueRef value, unsigned lanes) {
    LLVMValueRef picks[1024];
    for (unsigned i = 0; i < lanes; i++)
        picks[i] = gen_i32(g, (int32_t)(lanes - 1 - i));
    return LLVMBuildShuffleVector(g->builder, value, LLVMGetPoison(LLVMTypeOf(value)),
                                  LLVMConstVector(picks, lanes), "");
}

static LLVMValueRef all_addresses(gen *g, hone_buffer buffer, const place *p) {
    place as_vector = *p;
    if (p->kind == PLACE_REVERSED) {
        as_vector.kind = PLACE_STRIDED;
        as_vector.stride = gen_i64(g, -1);
    }
    LLVMValueRef indices = all_indices(g, &as_vector);
    LLVMTypeRef element = gen_storage_type(g, g->func->buffers[buffer].dtype);
    return LLVMBuildGEP2(g->builder, element, gen_buffer(g, buffer), &indices, 1, "");
}

static LLVMValueRef masked_load(gen *g, hone_buffer buffer, const place *p, LLVMTypeRef type) {
    unsigned bytes = element_bytes(g->func->buffers[buffer].dtype);
    LLVMValueRef zero = LLVMConstNull(type);
    if (p->kind == PLACE_DENSE) {
        LLVMValueRef args[] = {gen_address(g, buffer, p->base), gen_i32(g, (int32_t)bytes), g->mask,
                               zero};
        LLVMTypeRef types[] = {type, g->ptr};
        return gen_intrinsic_of(g, "llvm.masked.load", types, 2, args, 4);
    }
    LLVMValueRef addresses = all_addresses(g, buffer, p);
    LLVMValueRef args[] = {addresses, gen_i32(g, (int32_t)bytes), g->mask, zero};
    LLVMTypeRef types[] = {type, LLVMVectorType(g->ptr, p->lanes)};
    return gen_intrinsic_of(g, "llvm.masked.gather", types, 2, args, 4);
}

static LLVMValueRef load_at(gen *g, hone_buffer buffer, LLVMValueRef index, LLVMTypeRef type) {
    LLVMValueRef load = LLVMBuildLoad2(g->builder, type, gen_address(g, buffer, index), "");
    LLVMSetAlignment(load, element_bytes(g->func->buffers[buffer].dtype));
    return load;
}

static LLVMValueRef load_lanes(gen *g, hone_buffer buffer, const place *p, LLVMTypeRef type) {
    LLVMTypeRef element = LLVMGetElementType(type);
    LLVMValueRef result = LLVMGetPoison(type);
    for (unsigned i = 0; i < p->lanes; i++) {
        LLVMValueRef lane = load_at(g, buffer, lane_index(g, p, i), element);
        result = LLVMBuildInsertElement(g->builder, result, lane, gen_i32(g, (int32_t)i), "");
    }
    return result;
}

/* Every second, third or fourth element: as many dense loads as the stride, the last of which ends
 * with the last element wanted, and shuffles that pick from them. */
static LLVMValueRef load_picked(gen *g, hone_buffer buffer, const place *p, int64_t stride,
                                LLVMTypeRef type) {
    enum { MOST = 64 };
    LLVMValueRef picks[MOST], result = NULL;
    int64_t lanes = p->lanes, span = (lanes - 1) * stride + 1;
    for (int64_t part = 0, first = 0; first < lanes; part++) {
        int64_t begin = part * lanes < span - lanes ? part * lanes : span - lanes;
        LLVMValueRef at = LLVMBuildNSWAdd(g->builder, p->base, gen_i64(g, begin), "");
        LLVMValueRef dense = load_at(g, buffer, at, type);
        int64_t i = 0;
        for (; i < first; i++)
            picks[i] = gen_i32(g, (int32_t)i);
        for (; i < lanes && i * stride < begin + lanes; i++)
            picks[i] = gen_i32(g, (int32_t)(i * stride - begin + (result ? lanes : 0)));
        first = i;
        for (; i < lanes; i++)
            picks[i] = LLVMGetPoison(g->i32);
        LLVMValueRef other = result ? dense : LLVMGetPoison(type);
        result = LLVMBuildShuffleVector(g->builder, result ? result : dense, other,
                                        LLVMConstVector(picks, (unsigned)lanes), "");
    }
    return result;
}

/* The stride of a place that load_picked can read; 0 = it cannot. */
static int64_t small_stride(const place *p) {
    if (p->kind != PLACE_STRIDED || !LLVMIsAConstantInt(p->stride)) return 0;
    int64_t stride = LLVMConstIntGetSExtValue(p->stride);
    return stride >= 2 && stride <= 4 && p->lanes >= 4 && p->lanes <= 64 ? stride : 0;
}

LLVMValueRef gen_load_stored(gen *g, const hone_expr *e) {
    if (e->count != 1) {
        gen_fail(g, HONE_ERROR(HONE_CODE_INVALID, "buffer '%s' is not flat",
                               g->func->buffers[e->u.buffer].name));
        return LLVMGetUndef(gen_type(g, e->dtype));
    }
    hone_buffer buffer = e->u.buffer;
    hone_dtype dtype = hone_dtype_with_lanes(g->func->buffers[buffer].dtype, e->dtype.lanes);
    if (e->dtype.lanes > 1024) {
        gen_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED, "a vector of %d lanes", e->dtype.lanes));
        return LLVMGetUndef(gen_type(g, e->dtype));
    }
    LLVMTypeRef type = gen_storage_type(g, dtype);
    place p = place_of(g, e->args[0]);
    LLVMValueRef stored;
    if (p.kind == PLACE_SCALAR) {
        stored = load_at(g, buffer, p.base, type);
    } else if (g->mask) {
        stored = masked_load(g, buffer, &p, type);
    } else if (p.kind == PLACE_DENSE) {
        stored = load_at(g, buffer, p.base, type);
    } else if (p.kind == PLACE_REVERSED) {
        LLVMValueRef low = LLVMBuildNSWSub(g->builder, p.base, gen_i64(g, p.lanes - 1), "");
        stored = reverse(g, load_at(g, buffer, low, type), p.lanes);
    } else if (small_stride(&p)) {
        stored = load_picked(g, buffer, &p, small_stride(&p), type);
    } else {
        stored = load_lanes(g, buffer, &p, type);
    }
    return stored;
}

LLVMValueRef gen_load(gen *g, const hone_expr *e) {
    LLVMValueRef stored = gen_load_stored(g, e);
    if (g->error) return LLVMGetUndef(gen_type(g, e->dtype));
    hone_dtype dtype = g->func->buffers[e->u.buffer].dtype;
    return gen_from_storage(g, hone_dtype_with_lanes(dtype, e->dtype.lanes), stored);
}

static void masked_store(gen *g, hone_buffer buffer, const place *p, LLVMValueRef stored) {
    LLVMValueRef align = gen_i32(g, (int32_t)element_bytes(g->func->buffers[buffer].dtype));
    bool is_dense = p->kind == PLACE_DENSE;
    LLVMValueRef at = is_dense ? gen_address(g, buffer, p->base) : all_addresses(g, buffer, p);
    LLVMValueRef args[] = {stored, at, align, g->mask};
    LLVMTypeRef types[] = {LLVMTypeOf(stored), LLVMTypeOf(at)};
    gen_intrinsic_of(g, is_dense ? "llvm.masked.store" : "llvm.masked.scatter", types, 2, args, 4);
}

static void store_at(gen *g, hone_buffer buffer, LLVMValueRef index, LLVMValueRef value) {
    LLVMValueRef store = LLVMBuildStore(g->builder, value, gen_address(g, buffer, index));
    LLVMSetAlignment(store, element_bytes(g->func->buffers[buffer].dtype));
}

/* Past the caches: lower/lower_stream.c has seen to it that the place is aligned. */
static void stream_at(gen *g, hone_buffer buffer, LLVMValueRef index, LLVMValueRef value,
                      unsigned lanes) {
    unsigned bytes = lanes * element_bytes(g->func->buffers[buffer].dtype);
    LLVMValueRef store = LLVMBuildStore(g->builder, value, gen_address(g, buffer, index));
    LLVMSetAlignment(store, bytes < 64 ? bytes : 64);
    LLVMMetadataRef one = LLVMValueAsMetadata(gen_i32(g, 1));
    LLVMMetadataRef node = LLVMMDNodeInContext2(g->context, &one, 1);
    LLVMSetMetadata(store, LLVMGetMDKindIDInContext(g->context, "nontemporal", 11),
                    LLVMMetadataAsValue(g->context, node));
    g->frame->has_streams = true;
}

void gen_store(gen *g, hone_buffer buffer, const hone_expr *index, const hone_expr *value) {
    if (g->error) return;
    unsigned lanes = index->dtype.lanes;
    hone_dtype dtype = hone_dtype_with_lanes(g->func->buffers[buffer].dtype, (uint16_t)lanes);
    LLVMValueRef v = gen_value(g, value);
    if (value->dtype.lanes != lanes) {
        if (value->dtype.lanes != 1) {
            gen_fail(g, HONE_ERROR(HONE_CODE_INVALID, "store to '%s': %u places, %d values",
                                   g->func->buffers[buffer].name, lanes, value->dtype.lanes));
            return;
        }
        v = gen_splat(g, v, lanes);
    }
    if (!hone_dtype_same_element(value->dtype, dtype)) {
        v = gen_cast(g, hone_dtype_with_lanes(value->dtype, (uint16_t)lanes), dtype, v);
    }
    place p = place_of(g, index);
    LLVMValueRef stored = gen_to_storage(g, dtype, v);
    if (g->mask && lanes > 1) {
        masked_store(g, buffer, &p, stored);
        return;
    }
    if (g->is_streaming && p.kind == PLACE_DENSE) {
        stream_at(g, buffer, p.base, stored, lanes);
        return;
    }
    switch (p.kind) {
    case PLACE_SCALAR:
    case PLACE_DENSE:
        store_at(g, buffer, p.base, stored);
        return;
    case PLACE_REVERSED:
        store_at(g, buffer, LLVMBuildNSWSub(g->builder, p.base, gen_i64(g, p.lanes - 1), ""),
                 reverse(g, stored, p.lanes));
        return;
    default:
        for (unsigned i = 0; i < p.lanes; i++) {
            LLVMValueRef lane =
                LLVMBuildExtractElement(g->builder, stored, gen_i32(g, (int32_t)i), "");
            store_at(g, buffer, lane_index(g, &p, i), lane);
        }
    }
}
