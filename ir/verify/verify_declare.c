/* ir/verify/verify_declare.c - declarations of buffers: shapes, memory, whose storage they show. */
#include <string.h>

#include "ir/verify/verify_impl.h"
#include "support/text/nearest.h"

/* "shared.dyn", "global.A_reg": what stands behind the first dot is free. */
static void check_scope(verifier *v, hone_node_id id, const hone_buffer_info *info) {
    static const char *const known[] = {"global", "shared",  "local", "warp",    "wmma",
                                        "wgmma",  "texture", "metal", "m16n8k8", "texture:weight",
                                        "amx",    "vtcm",    "tmem",  "trn"};
    size_t length = info->scope ? strcspn(info->scope, ".") : 0;
    for (size_t i = 0; i < HONE_COUNT(known); i++) {
        if (length == strlen(known[i]) && memcmp(info->scope, known[i], length) == 0) return;
    }
    if (length == 0) return;
    char first[32];
    if (length >= sizeof first) return;
    memcpy(first, info->scope, length);
    first[length] = 0;
    const char *near_name = NULL;
    size_t least = 3;
    for (size_t i = 0; i < HONE_COUNT(known); i++) {
        size_t distance = hone_name_distance(first, known[i]);
        if (distance < least && hone_name_is_like(first, known[i]))
            near_name = known[i], least = distance;
    }
    if (!near_name) {
        verify_warning(
            v, id,
            "buffer '%s' is in the scope \"%s\", which is none that is known: \"global\", "
            "\"shared\", \"local\", \"warp\" and others",
            info->name, info->scope);
        return;
    }
    verify_warning(v, id, "buffer '%s' is in the scope \"%s\"; did you mean \"%s\"?", info->name,
                   info->scope, near_name);
}

/* A dense view ends where its storage ends. */
static void check_view_size(verifier *v, hone_node_id id, const hone_buffer_info *info) {
    const hone_buffer_info *base = hone_func_buffer(v->func, info->alias_of);
    int64_t elements = hone_buffer_elements(info), have = hone_buffer_elements(base);
    int64_t offset = info->elem_offset ? hone_expr_const(info->elem_offset) : 0;
    if (elements < 0 || have < 0 || offset < 0 || info->strides || base->strides) return;
    if (base->alias_of != HONE_NO_ID || elements > INT32_MAX || have > INT32_MAX ||
        offset > INT32_MAX) {
        return;
    }
    int64_t need_bits = (elements + offset) * info->dtype.bits * info->dtype.lanes;
    int64_t have_bits = have * base->dtype.bits * base->dtype.lanes;
    if (need_bits <= have_bits) return;
    verify_warning(v, id, "'%s' ends at byte %lld of the storage of '%s', which has %lld",
                   info->name, (long long)((need_bits + 7) / 8), base->name,
                   (long long)((have_bits + 7) / 8));
}

/* Nobody counts the bytes of a tensor in more than 63 bits. */
static bool has_countable_bytes(const hone_buffer_info *info) {
    int64_t bytes = (int64_t)hone_dtype_bytes(info->dtype);
    bool is_countable = true;
    for (uint32_t d = 0; d < info->rank; d++) {
        if (info->shape[d]->kind != HONE_EXPR_INT) continue;
        if (info->shape[d]->u.i == 0) return true;
        if (__builtin_mul_overflow(bytes, info->shape[d]->u.i, &bytes)) is_countable = false;
    }
    return is_countable;
}

enum { MOST_STEPS = 1 << 16 };

/* Some of the dimensions from d on, moved by less than their extents, make up for `place`: two
 * elements lie there. fuel: steps that may still be taken. */
static bool comes_back(const hone_buffer_info *info, uint32_t d, int64_t place, bool is_moved,
                       uint32_t *fuel) {
    if (d == info->rank) return is_moved && place == 0;
    int64_t stride = info->strides[d]->u.i, extent = info->shape[d]->u.i;
    if (d + 1 == info->rank) {
        int64_t by = stride ? -place / stride : 0;
        bool is_far = by >= extent || by <= -extent;
        if (stride == 0) return place == 0 && (is_moved || extent > 1);
        return place % stride == 0 && !is_far && (is_moved || by != 0);
    }
    for (int64_t by = is_moved ? 1 - extent : 0; by < extent; by++) {
        if (*fuel == 0) return false;
        --*fuel;
        if (comes_back(info, d + 1, place + by * stride, is_moved || by != 0, fuel)) return true;
    }
    return false;
}

static const hone_expr *wide(hone_ir *ir, const hone_expr *e) {
    return hone_expr_cast(ir, HONE_DTYPE_I64, e);
}

/* A step along dimension `outer` goes beyond all of the elements along `inner`. */
static bool goes_beyond(verifier *v, const hone_buffer_info *info, uint32_t outer, uint32_t inner) {
    hone_ir *ir = &v->arith.ir;
    const hone_expr *step = wide(ir, info->strides[outer]),
                    *stride = wide(ir, info->strides[inner]);
    const hone_expr *extent = wide(ir, info->shape[inner]);
    if (!step || !stride || !extent) return true; /* which is said elsewhere */
    return hone_prove_less_equal(&v->arith, hone_expr_mul(ir, stride, extent), step);
}

/* Of any two dimensions one lies inside of the other: all are nested, in whatever order. */
static bool are_nested(verifier *v, const hone_buffer_info *info) {
    const hone_expr *one = hone_expr_int(&v->arith.ir, HONE_DTYPE_I64, 1);
    for (uint32_t a = 0; a < info->rank; a++) {
        if (hone_expr_is_int_value(info->shape[a], 1)) continue;
        const hone_expr *stride = wide(&v->arith.ir, info->strides[a]);
        if (stride && !hone_prove_less_equal(&v->arith, one, stride)) return false;
        for (uint32_t b = 0; b < a; b++) {
            if (!hone_expr_is_int_value(info->shape[b], 1) && !goes_beyond(v, info, a, b) &&
                !goes_beyond(v, info, b, a))
                return false;
        }
    }
    return true;
}

/* The block shows a region of another buffer as this one, whose strides are that one's. */
static bool is_match(const verifier *v, hone_node_id id, hone_buffer buffer) {
    const hone_node *node = hone_func_node(v->func, id);
    const hone_block *block = node->kind == HONE_NODE_BLOCK ? node->u.block.block : NULL;
    for (uint32_t i = 0; block && i < block->match_count; i++)
        if (block->matches[i].buffer == buffer) return true;
    return false;
}

/* Strides of what is allocated keep its elements apart. */
static void check_strides(verifier *v, hone_node_id id, hone_buffer buffer) {
    const hone_buffer_info *info = hone_func_buffer(v->func, buffer);
    uint32_t fuel = MOST_STEPS;
    bool is_known = true;
    for (uint32_t d = 0; d < info->rank; d++) {
        int64_t stride = hone_expr_const(info->strides[d]);
        if (info->strides[d]->kind == HONE_EXPR_INT && info->strides[d]->u.i < 0) {
            verify_error(v, id, "buffer '%s' has the negative stride %lld", info->name,
                         (long long)info->strides[d]->u.i);
            return;
        }
        int64_t extent = hone_expr_const(info->shape[d]);
        is_known &= stride >= 0 && stride <= INT32_MAX && extent >= 1 && extent <= INT32_MAX;
    }
    if (!is_known) {
        if (!is_match(v, id, buffer) && !are_nested(v, info))
            verify_error(v, id,
                         "nothing shows that the strides of buffer '%s' keep its elements "
                         "apart",
                         info->name);
        return;
    }
    if (!comes_back(info, 0, 0, false, &fuel)) return;
    verify_error(v, id, "the strides of buffer '%s' lay several of its elements in one place",
                 info->name);
}

static void check_declaration(verifier *v, hone_node_id id, hone_buffer buffer) {
    const hone_buffer_info *info = hone_func_buffer(v->func, buffer);
    if (v->is_live[buffer]) verify_error(v, id, "buffer '%s' is declared twice", info->name);
    v->is_live[buffer] = true;
    for (uint32_t d = 0; d < info->rank; d++) {
        verify_integer(v, info->shape[d], "the extent of a buffer");
        if (info->shape[d]->kind == HONE_EXPR_INT && info->shape[d]->u.i < 0) {
            verify_error(v, id, "buffer '%s' has the negative extent %lld", info->name,
                         (long long)info->shape[d]->u.i);
        }
        if (info->strides) verify_integer(v, info->strides[d], "the stride of a buffer");
    }
    if (info->elem_offset) verify_integer(v, info->elem_offset, "the offset of a buffer");
    if (!has_countable_bytes(info))
        verify_error(v, id, "buffer '%s' has more than 2^63 - 1 bytes", info->name);
    check_scope(v, id, info);
    if (info->alias_of != HONE_NO_ID &&
        (info->alias_of >= v->func->buffer_count || !v->is_live[info->alias_of])) {
        verify_error(v, id, "buffer '%s' shows the storage of a buffer that does not exist here",
                     info->name);
        return;
    }
    if (info->alias_of != HONE_NO_ID) check_view_size(v, id, info);
    bool is_own = info->alias_of == HONE_NO_ID && id != HONE_NO_ID;
    if (is_own && info->strides) check_strides(v, id, buffer);
}

void verify_declare_buffer(verifier *v, hone_node_id id, hone_buffer buffer) {
    if (buffer >= v->func->buffer_count) {
        verify_error(v, id, "a buffer that does not exist is declared");
        return;
    }
    v->declared = hone_func_buffer(v->func, buffer);
    check_declaration(v, id, buffer);
    v->declared = NULL;
}

void verify_define_sizes(verifier *v, const hone_buffer_info *info) {
    for (uint32_t d = 0; d < info->rank; d++) {
        if (info->shape[d]->kind == HONE_EXPR_VAR) {
            v->is_defined[info->shape[d]->u.var] = true;
            v->points.vars[info->shape[d]->u.var].is_size = true;
        }
        if (info->strides && info->strides[d]->kind == HONE_EXPR_VAR) {
            v->is_defined[info->strides[d]->u.var] = true;
        }
    }
    if (info->elem_offset && info->elem_offset->kind == HONE_EXPR_VAR) {
        v->is_defined[info->elem_offset->u.var] = true;
    }
    if (info->data != HONE_NO_ID) v->is_defined[info->data] = true;
}
