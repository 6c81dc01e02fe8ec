/* codegen/llvm/access.c - loads and stores: scalars, contiguous vectors, others (places.c).
 *
 * A run of places is one vector access. Lanes that lie near each other, by constants, are shuffled
 * out of dense loads; others go lane by lane. Under a mask (the lanes of a vector if_then_else)
 * only the lanes in it touch memory: lanes known to be off are left out, what depends on the data
 * is a masked access, masked ones to pick from where lanes lie near each other, a gather or a
 * scatter. */
#include "codegen/llvm/places.h"

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

/* index without the constants that were added to it last. */
static LLVMValueRef take_constants(LLVMValueRef index, int64_t *out_sum) {
    *out_sum = 0;
    while (LLVMIsABinaryOperator(index) && LLVMGetInstructionOpcode(index) == LLVMAdd) {
        LLVMValueRef step = LLVMGetOperand(index, 1);
        int64_t sum = LLVMIsAConstantInt(step) ? LLVMConstIntGetSExtValue(step) : 0;
        if (sum == 0 || __builtin_add_overflow(*out_sum, sum, &sum)) break;
        *out_sum = sum;
        index = LLVMGetOperand(index, 0);
    }
    return index;
}

/* Constants are added behind what varies: the places of a tile share one address, to which each
 * adds what an instruction can. LLVM would part them too, but by then into an address for each.
 * The shared address may lie outside of the buffer. */
LLVMValueRef gen_address(gen *g, hone_buffer buffer, LLVMValueRef index) {
    hone_dtype dtype = g->func->buffers[buffer].dtype;
    LLVMTypeRef type = gen_storage_type(g, dtype);
    LLVMValueRef base = gen_buffer(g, buffer);
    int64_t offset;
    LLVMValueRef varying = take_constants(index, &offset), constant = gen_i64(g, offset);
    if (offset == 0) return LLVMBuildInBoundsGEP2(g->builder, type, base, &varying, 1, "");
    base = LLVMBuildGEP2(g->builder, type, base, &varying, 1, "");
    return LLVMBuildGEP2(g->builder, type, base, &constant, 1, "");
}

static unsigned lanes_of(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 1;
}

static LLVMValueRef place(gen *g, hone_buffer buffer, LLVMValueRef index, LLVMTypeRef type) {
    LLVMValueRef at = gen_address(g, buffer, index);
    unsigned bytes = lanes_of(type) * element_bytes(g->func->buffers[buffer].dtype);
    return g->processor->turn ? g->processor->turn(g, buffer, at, bytes) : at;
}

static LLVMValueRef load_at(gen *g, hone_buffer buffer, LLVMValueRef index, LLVMTypeRef type) {
    LLVMValueRef load = LLVMBuildLoad2(g->builder, type, place(g, buffer, index, type), "");
    LLVMSetAlignment(load, element_bytes(g->func->buffers[buffer].dtype));
    return load;
}

static void store_at(gen *g, hone_buffer buffer, LLVMValueRef index, LLVMValueRef value) {
    LLVMValueRef at = place(g, buffer, index, LLVMTypeOf(value));
    LLVMValueRef store = LLVMBuildStore(g->builder, value, at);
    unsigned element = element_bytes(g->func->buffers[buffer].dtype);
    bool is_turned = LLVMIsAIntToPtrInst(at) != NULL; /* then it is as aligned as it is long */
    LLVMSetAlignment(store, is_turned ? lanes_of(LLVMTypeOf(value)) * element : element);
}

static LLVMValueRef shuffle(gen *g, LLVMValueRef a, LLVMValueRef b, LLVMValueRef *picks,
                            unsigned lanes) {
    return LLVMBuildShuffleVector(g->builder, a, b ? b : LLVMGetPoison(LLVMTypeOf(a)),
                                  LLVMConstVector(picks, lanes), "");
}

/* ---- lanes that are known; what is not loaded is 0 ---- */

static LLVMValueRef load_lanes(gen *g, hone_buffer buffer, const gen_place *p, const bool *on,
                               LLVMTypeRef type) {
    LLVMTypeRef element = LLVMGetElementType(type);
    LLVMValueRef result = g->mask ? LLVMConstNull(type) : LLVMGetPoison(type);
    for (unsigned i = 0; i < p->lanes; i++) {
        if (!on[i]) continue;
        LLVMValueRef lane = load_at(g, buffer, gen_lane_index(g, p, i), element);
        result = LLVMBuildInsertElement(g->builder, result, lane, gen_i32(g, (int32_t)i), "");
    }
    return result;
}

static void store_lanes(gen *g, hone_buffer buffer, const gen_place *p, const bool *on,
                        LLVMValueRef stored) {
    for (unsigned i = 0; i < p->lanes; i++) {
        if (!on[i]) continue;
        LLVMValueRef lane = LLVMBuildExtractElement(g->builder, stored, gen_i32(g, (int32_t)i), "");
        store_at(g, buffer, gen_lane_index(g, p, i), lane);
    }
}

/* FIXED and DENSE. */
static int64_t offset_of(const gen_place *p, unsigned lane) {
    return p->kind == GEN_PLACE_FIXED ? p->offsets[lane] : (int64_t)lane;
}

/* The elements between the first and the last one that lanes touch, and how to get at them. */
typedef struct span {
    int64_t first, last; /* from the base */
    unsigned touched;    /* lanes */
    int64_t width;       /* of a dense load */
    int64_t begin;       /* of the first dense load */
    bool is_regular; /* dense loads follow each other, the last one may go over the last element */
} span;

static span span_of(const gen_place *p, const bool *on) {
    span s = {.first = INT64_MAX, .last = INT64_MIN};
    for (unsigned i = 0; i < p->lanes; i++) {
        if (!on[i]) continue;
        int64_t at = offset_of(p, i);
        if (at < s.first) s.first = at;
        if (at > s.last) s.last = at;
        s.touched++;
    }
    int64_t elements = s.touched ? s.last - s.first + 1 : 0;
    s.width = elements < (int64_t)p->lanes ? elements : (int64_t)p->lanes;
    s.begin = s.first;
    return s;
}

/* Vectors that step over elements and begin side by side (X[2 * i] and X[2 * i + 1]) load the same
 * dense ones, where these lie in the buffer: those in front of the first of them, by the constant
 * in its index. */
static void share_loads(gen *g, const hone_expr *load, span *s) {
    const hone_expr *index = load->args[0];
    hone_linear sum;
    if (index->kind != HONE_EXPR_RAMP || !hone_linear_of(&g->arith, index->args[0], &sum)) return;
    int64_t stride = hone_expr_const(index->args[1]), shift;
    if (stride < 2 || stride > s->width || s->first != 0) return;
    shift = (sum.constant % stride + stride) % stride;
    int64_t loads = (s->last + s->width) / s->width;
    int64_t elements = hone_buffer_elements(hone_func_buffer(g->func, load->u.buffer));
    hone_bound bound = hone_arith_bound(&g->arith, index->args[0]);
    if (s->last + shift >= loads * s->width || bound.min < shift ||
        bound.max >= elements - (loads * s->width - shift - 1)) {
        return;
    }
    s->begin = -shift;
    s->is_regular = true;
}

/* One instruction picks lanes of two registers. */
static bool picks_from_two(gen *g, hone_buffer buffer) {
    bool has_words = element_bytes(g->func->buffers[buffer].dtype) >= 4;
    return hone_target_has_feature(g->target, has_words ? "avx512f" : "avx512bw");
}

/* Lanes that lie near each other: they take fewer dense loads than lanes, four at most, or eight
 * and half as many as lanes where each is one more instruction. */
static bool is_near(gen *g, hone_buffer buffer, const span *s, unsigned lanes) {
    enum { MOST_LANES = 64, MOST_LOADS = 16, FEW_LOADS = 4, SOME_LOADS = 8 };
    if (lanes > MOST_LANES || s->touched == 0 || s->last - s->first >= MOST_LOADS * MOST_LANES) {
        return false;
    }
    int64_t loads = (s->last - s->first + s->width) / s->width;
    if (loads >= (int64_t)s->touched) return false;
    if (loads <= FEW_LOADS) return true;
    bool is_worth = loads <= SOME_LOADS || (loads <= MOST_LOADS && 2 * loads <= s->touched);
    return is_worth && picks_from_two(g, buffer);
}

/* Dense loads of as many lanes, the last of which ends with the last element wanted unless they are
 * shared, and shuffles that pick from them. */
static LLVMValueRef load_near(gen *g, hone_buffer buffer, const gen_place *p, const bool *on,
                              const span *s, LLVMTypeRef type) {
    LLVMValueRef picks[GEN_MAX_LANES], result = NULL;
    bool is_done[GEN_MAX_LANES];
    LLVMTypeRef part = LLVMVectorType(LLVMGetElementType(type), (unsigned)s->width);
    for (unsigned i = 0; i < p->lanes; i++)
        is_done[i] = false;
    for (int64_t begin = s->begin;; begin += s->width) {
        if (!s->is_regular && begin > s->last - s->width + 1) begin = s->last - s->width + 1;
        LLVMValueRef at = LLVMBuildNSWAdd(g->builder, p->base, gen_i64(g, begin), "");
        LLVMValueRef dense = load_at(g, buffer, at, part);
        for (unsigned i = 0; i < p->lanes; i++) {
            int64_t from = offset_of(p, i) - begin;
            bool is_here = on[i] && !is_done[i] && from >= 0 && from < s->width;
            int64_t pick = is_here ? from + (result ? s->width : 0) : (result ? i : s->width);
            picks[i] = gen_i32(g, (int32_t)pick);
            is_done[i] |= is_here;
        }
        LLVMValueRef first = result ? result : dense;
        LLVMValueRef second = result ? dense : LLVMConstNull(part);
        result = shuffle(g, first, second, picks, p->lanes);
        if (begin + s->width > s->last) return result;
    }
}

static LLVMValueRef load_known(gen *g, const hone_expr *load, const gen_place *p, const bool *on,
                               LLVMTypeRef type) {
    hone_buffer buffer = load->u.buffer;
    bool is_fixed = p->kind == GEN_PLACE_FIXED || p->kind == GEN_PLACE_DENSE;
    span s = is_fixed ? span_of(p, on) : (span){0};
    if (is_fixed && s.touched > 0 && s.first == s.last) {
        LLVMValueRef at = LLVMBuildNSWAdd(g->builder, p->base, gen_i64(g, s.first), "");
        return gen_splat(g, load_at(g, buffer, at, LLVMGetElementType(type)), p->lanes);
    }
    if (is_fixed && is_near(g, buffer, &s, p->lanes)) {
        if (s.touched == p->lanes) share_loads(g, load, &s);
        return load_near(g, buffer, p, on, &s, type);
    }
    return load_lanes(g, buffer, p, on, type);
}

/* Runs of neighbours, each in one piece. */
static void store_runs(gen *g, hone_buffer buffer, const gen_place *p, const bool *on,
                       LLVMValueRef stored) {
    LLVMValueRef picks[GEN_MAX_LANES];
    for (unsigned i = 0; i < p->lanes; i++) {
        unsigned first = i, count = 0;
        for (; i < p->lanes && on[i]; i++)
            picks[count++] = gen_i32(g, (int32_t)i);
        if (count == 0) continue;
        LLVMValueRef at = gen_lane_index(g, p, first);
        store_at(g, buffer, at, shuffle(g, stored, NULL, picks, count));
    }
}

static bool is_reversed(const gen_place *p) {
    for (unsigned i = 0; i < p->lanes; i++) {
        if (p->kind != GEN_PLACE_FIXED || p->offsets[i] != p->offsets[0] - (int64_t)i) return false;
    }
    return true;
}

static void store_reversed(gen *g, hone_buffer buffer, const gen_place *p, LLVMValueRef stored) {
    LLVMValueRef picks[GEN_MAX_LANES];
    for (unsigned i = 0; i < p->lanes; i++)
        picks[i] = gen_i32(g, (int32_t)(p->lanes - 1 - i));
    store_at(g, buffer, gen_lane_index(g, p, p->lanes - 1),
             shuffle(g, stored, NULL, picks, p->lanes));
}

/* ---- lanes of a mask ---- */

static LLVMValueRef all_addresses(gen *g, hone_buffer buffer, const gen_place *p) {
    LLVMValueRef indices = gen_lane_indices(g, p);
    LLVMTypeRef element = gen_storage_type(g, g->func->buffers[buffer].dtype);
    return LLVMBuildGEP2(g->builder, element, gen_buffer(g, buffer), &indices, 1, "");
}

static LLVMValueRef masked_place(gen *g, hone_buffer buffer, const gen_place *p) {
    bool is_dense = p->kind == GEN_PLACE_DENSE;
    LLVMValueRef at = is_dense ? gen_address(g, buffer, p->base) : all_addresses(g, buffer, p);
    return g->processor->turn ? g->processor->turn(g, buffer, at, INT64_MAX) : at;
}

static LLVMValueRef masked_load(gen *g, hone_buffer buffer, const gen_place *p, LLVMTypeRef type) {
    bool is_dense = p->kind == GEN_PLACE_DENSE;
    LLVMValueRef at = masked_place(g, buffer, p);
    LLVMValueRef align = gen_i32(g, (int32_t)element_bytes(g->func->buffers[buffer].dtype));
    LLVMValueRef args[] = {at, align, g->mask, LLVMConstNull(type)};
    LLVMTypeRef types[] = {type, LLVMTypeOf(at)};
    const char *name = is_dense ? "llvm.masked.load" : "llvm.masked.gather";
    return gen_intrinsic_of(g, name, types, 2, args, 4);
}

static void masked_store(gen *g, hone_buffer buffer, const gen_place *p, LLVMValueRef stored) {
    LLVMValueRef align = gen_i32(g, (int32_t)element_bytes(g->func->buffers[buffer].dtype));
    bool is_dense = p->kind == GEN_PLACE_DENSE;
    LLVMValueRef at = masked_place(g, buffer, p);
    LLVMValueRef args[] = {stored, at, align, g->mask};
    LLVMTypeRef types[] = {LLVMTypeOf(stored), LLVMTypeOf(at)};
    gen_intrinsic_of(g, is_dense ? "llvm.masked.store" : "llvm.masked.scatter", types, 2, args, 4);
}

/* Lanes that lie near each other: a few dense loads hold them all, and few want the same element.
 */
enum { MOST_NEAR_LOADS = 4, MOST_SHARERS = 4 };

/* The number of the lane that is the nth to want an element; -1: there is none. */
static int lane_that_wants(const gen_place *p, int64_t element, unsigned nth) {
    for (unsigned i = 0; i < p->lanes; i++) {
        if (offset_of(p, i) == element && nth-- == 0) return (int)i;
    }
    return -1;
}

/* Of the elements from `begin` on, width of them, those that lanes of the mask want: as many bits.
 */
static LLVMValueRef wanted_elements(gen *g, const gen_place *p, int64_t begin, int64_t width) {
    LLVMValueRef picks[GEN_MAX_LANES], none = LLVMConstNull(LLVMTypeOf(g->mask)), all = NULL;
    for (unsigned nth = 0; nth < MOST_SHARERS; nth++) {
        bool has_any = false;
        for (int64_t e = 0; e < width; e++) {
            int lane = lane_that_wants(p, begin + e, nth);
            has_any |= lane >= 0;
            picks[e] = gen_i32(g, lane >= 0 ? lane : (int32_t)p->lanes); /* the other: none */
        }
        if (!has_any && all) break;
        LLVMValueRef some = shuffle(g, g->mask, none, picks, (unsigned)width);
        all = all ? LLVMBuildOr(g->builder, all, some, "") : some;
    }
    return all;
}

static bool are_near(const gen_place *p, span *out) {
    if (p->kind != GEN_PLACE_FIXED || p->lanes < 4) return false;
    bool on[GEN_MAX_LANES];
    for (unsigned i = 0; i < p->lanes; i++)
        on[i] = true;
    *out = span_of(p, on);
    out->width = (int64_t)p->lanes;
    if (out->last - out->first >= MOST_NEAR_LOADS * out->width) return false;
    for (unsigned i = 0; i < p->lanes; i++)
        if (lane_that_wants(p, p->offsets[i], MOST_SHARERS) >= 0) return false;
    return true;
}

/* Dense loads of the elements that are wanted, and shuffles that pick from them: a gather takes an
 * access for each lane. */
static LLVMValueRef masked_near(gen *g, hone_buffer buffer, const gen_place *p, const span *s,
                                LLVMTypeRef type) {
    LLVMValueRef result = NULL, picks[GEN_MAX_LANES];
    LLVMValueRef align = gen_i32(g, (int32_t)element_bytes(g->func->buffers[buffer].dtype));
    for (int64_t begin = s->first; begin <= s->last; begin += s->width) {
        LLVMValueRef first = LLVMBuildNSWAdd(g->builder, p->base, gen_i64(g, begin), "");
        LLVMValueRef at = gen_address(g, buffer, first);
        LLVMValueRef args[] = {at, align, wanted_elements(g, p, begin, s->width),
                               LLVMConstNull(type)};
        LLVMTypeRef types[] = {type, LLVMTypeOf(at)};
        LLVMValueRef dense = gen_intrinsic_of(g, "llvm.masked.load", types, 2, args, 4);
        for (unsigned i = 0; i < p->lanes; i++) {
            int64_t from = offset_of(p, i) - begin;
            bool is_here = from >= 0 && from < s->width;
            picks[i] = gen_i32(g, (int32_t)(is_here ? from + (result ? s->width : 0) : i));
        }
        result = shuffle(g, result ? result : dense, result ? dense : NULL, picks, p->lanes);
    }
    return result;
}

/* A buffer of the kernel's own, all lanes lie in it: lanes that are off may be read and written
 * back, so that it can be kept in registers. */
static bool is_own(gen *g, hone_buffer buffer, const hone_expr *index) {
    return LLVMIsAAllocaInst(gen_buffer(g, buffer)) && !g->processor->turn &&
           gen_is_inside(g, buffer, index);
}

/* All lanes want one place, and some lane of the mask is on. */
static bool is_one_place(const gen *g, const gen_place *p) {
    if (g->mask != g->some || p->kind != GEN_PLACE_FIXED) return false;
    for (unsigned i = 1; i < p->lanes; i++)
        if (p->offsets[i] != p->offsets[0]) return false;
    return true;
}

/* Registers may be read in part: elements of words and more, of others with AVX-512. */
static bool reads_parts(gen *g, hone_buffer buffer) {
    return hone_target_has_feature(g->target, "avx512vl") ||
           (hone_target_has_feature(g->target, "avx2") &&
            element_bytes(g->func->buffers[buffer].dtype) >= 4);
}

/* ---- loads ---- */

LLVMValueRef gen_load_stored(gen *g, const hone_expr *e) {
    hone_buffer buffer = e->u.buffer;
    hone_dtype dtype = hone_dtype_with_lanes(g->func->buffers[buffer].dtype, e->dtype.lanes);
    if (e->count != 1) {
        gen_fail(g, HONE_ERROR(HONE_CODE_INVALID, "buffer '%s' is not flat",
                               g->func->buffers[buffer].name));
        return LLVMGetUndef(gen_type(g, e->dtype));
    }
    if (e->dtype.lanes > GEN_MAX_LANES) {
        gen_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED, "a vector of %d lanes", e->dtype.lanes));
        return LLVMGetUndef(gen_type(g, e->dtype));
    }
    LLVMTypeRef type = gen_storage_type(g, dtype);
    gen_place p = gen_place_of(g, e->args[0]);
    bool on[GEN_MAX_LANES];
    if (p.kind == GEN_PLACE_SCALAR || (p.kind == GEN_PLACE_DENSE && !g->mask)) {
        return load_at(g, buffer, p.base, type);
    }
    if (p.kind == GEN_PLACE_DENSE && is_own(g, buffer, e->args[0]))
        return load_at(g, buffer, p.base, type);
    if (g->mask && is_one_place(g, &p)) {
        LLVMTypeRef element = gen_storage_type(g, g->func->buffers[buffer].dtype);
        return gen_splat(g, load_at(g, buffer, gen_lane_index(g, &p, 0), element), p.lanes);
    }
    bool is_part = p.kind == GEN_PLACE_DENSE && reads_parts(g, buffer);
    span near;
    bool is_near_by = are_near(&p, &near) && reads_parts(g, buffer) && !g->processor->turn;
    if (is_near_by && !gen_lanes_on(g, p.lanes, on)) return masked_near(g, buffer, &p, &near, type);
    if (is_part || !gen_lanes_on(g, p.lanes, on)) return masked_load(g, buffer, &p, type);
    return load_known(g, e, &p, on, type);
}

LLVMValueRef gen_load(gen *g, const hone_expr *e) {
    LLVMValueRef stored = gen_load_stored(g, e);
    if (g->error) return LLVMGetUndef(gen_type(g, e->dtype));
    hone_dtype dtype = g->func->buffers[e->u.buffer].dtype;
    return gen_from_storage(g, hone_dtype_with_lanes(dtype, e->dtype.lanes), stored);
}

/* ---- stores ---- */

/* Past the caches: lower/vectors/lower_stream.c has seen to it that the place is aligned. */
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

static void store_vector(gen *g, hone_buffer buffer, const gen_place *p, LLVMValueRef stored) {
    bool is_dense = p->kind == GEN_PLACE_DENSE;
    bool *on = hone_arena_alloc(g->arena, p->lanes * sizeof *on);
    if (!on || (g->mask && p->lanes > GEN_MAX_LANES)) {
        gen_fail(g, on ? HONE_ERROR(HONE_CODE_UNSUPPORTED, "a vector of %u lanes", p->lanes)
                       : HONE_ERROR(HONE_CODE_NO_MEMORY, "code generation"));
        return;
    }
    bool is_part = g->mask && is_dense && hone_target_has_feature(g->target, "avx512vl");
    if (is_part || !gen_lanes_on(g, p->lanes, on)) {
        masked_store(g, buffer, p, stored);
    } else if (is_dense) {
        store_runs(g, buffer, p, on, stored);
    } else if (!g->mask && p->lanes <= GEN_MAX_LANES && is_reversed(p)) {
        store_reversed(g, buffer, p, stored);
    } else {
        store_lanes(g, buffer, p, on, stored);
    }
}

/* The value in the storage form of dtype, in all its lanes. */
static LLVMValueRef stored_lanes(gen *g, hone_dtype dtype, const hone_expr *value) {
    bool is_same = hone_dtype_same_element(value->dtype, dtype);
    if (is_same && codegen_is_small_float(dtype)) {
        LLVMValueRef stored = gen_stored_value(g, value);
        return value->dtype.lanes == dtype.lanes ? stored : gen_splat(g, stored, dtype.lanes);
    }
    LLVMValueRef v = gen_value(g, value);
    if (value->dtype.lanes != dtype.lanes) v = gen_splat(g, v, dtype.lanes);
    if (is_same) return gen_to_storage(g, dtype, v);
    return gen_cast_stored(g, hone_dtype_with_lanes(value->dtype, dtype.lanes), dtype, v);
}

void gen_store(gen *g, hone_buffer buffer, const hone_expr *index, const hone_expr *value) {
    if (g->error) return;
    unsigned lanes = index->dtype.lanes;
    hone_dtype dtype = hone_dtype_with_lanes(g->func->buffers[buffer].dtype, (uint16_t)lanes);
    if (value->dtype.lanes != lanes && value->dtype.lanes != 1) {
        gen_fail(g, HONE_ERROR(HONE_CODE_INVALID, "store to '%s': %u places, %d values",
                               g->func->buffers[buffer].name, lanes, value->dtype.lanes));
        return;
    }
    if (g->is_behind && g->processor->copies && g->processor->copies(g, buffer, index, value))
        return;
    LLVMValueRef stored = stored_lanes(g, dtype, value);
    if (g->error) return;
    gen_place p = gen_place_of(g, index);
    if (p.kind == GEN_PLACE_DENSE && g->is_streaming && !g->mask) {
        stream_at(g, buffer, p.base, stored, lanes);
    } else if (p.kind == GEN_PLACE_SCALAR || (p.kind == GEN_PLACE_DENSE && !g->mask)) {
        store_at(g, buffer, p.base, stored);
    } else if (p.kind == GEN_PLACE_DENSE && is_own(g, buffer, index)) {
        LLVMValueRef old = load_at(g, buffer, p.base, LLVMTypeOf(stored));
        store_at(g, buffer, p.base, LLVMBuildSelect(g->builder, g->mask, stored, old, ""));
    } else {
        store_vector(g, buffer, &p, stored);
    }
}
