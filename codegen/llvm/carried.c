/* codegen/llvm/carried.c - what one iteration of the innermost loop hands on to the next.
 *
 * A loop that adds to one place, or to two numbers, waits for each addition; a fused one takes
 * longer than an addition alone (4 cycles, where that is 2 or 3), and the products need not wait.
 * So the sums of such loops are not fused, unless the place is as many registers as are in flight
 * in that time. A choice between what was handed on and something new
 * (the steps of an arg-max) seldom changes it: it is a branch, which nobody waits for. */
#include "codegen/llvm/gen.h"

enum { FEW_PLACES = 2, MAX_PLACES = 8, IN_FLIGHT = 8 };

typedef struct place {
    hone_buffer buffer;
    const hone_expr *index;
} place;

static bool is_place(const place *p, hone_buffer buffer, const hone_expr *index) {
    return p->buffer == buffer && hone_expr_same(p->index, index);
}

/* The places that every iteration of the loop stores to, MAX_PLACES at most. */
static uint32_t find_places(const gen *g, place out[MAX_PLACES]) {
    const hone_func *func = g->func;
    hone_node_id loop = g->loop.node;
    hone_var var = hone_func_node(func, loop)->u.loop.var;
    uint32_t count = 0;
    for (hone_node_id n = loop; n != HONE_NO_ID; n = hone_tree_next(func, loop, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_STORE || node->u.store.rank != 1) continue;
        const hone_expr *index = node->u.store.indices[0];
        uint32_t k = 0;
        while (k < count && !is_place(&out[k], node->u.store.buffer, index))
            k++;
        if (k < count || hone_expr_uses_var(index, var)) continue;
        out[count++] = (place){node->u.store.buffer, index};
        if (count == MAX_PLACES) break;
    }
    return count;
}

static bool is_carried(const hone_expr *e, const place *places, uint32_t count) {
    if (e->kind != HONE_EXPR_LOAD || e->count != 1) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (is_place(&places[i], e->u.buffer, e->args[0])) return true;
    }
    return false;
}

/* Two units start a fused sum each cycle and take four for it: so many registers keep them busy. */
static bool keeps_units_busy(const gen *g, hone_dtype dtype) {
    if (!g->processor->waits) return true;
    int64_t bits = (int64_t)dtype.lanes * hone_dtype_element(dtype).bits;
    return bits >= (int64_t)IN_FLIGHT * g->target->vector_bits;
}

bool gen_is_lone_sum(const gen *g, const hone_expr *e) {
    place places[MAX_PLACES];
    bool has_product =
        hone_expr_is_op(e->args[0], HONE_OP_MUL) || hone_expr_is_op(e->args[1], HONE_OP_MUL);
    if (!has_product || g->loop.node == HONE_NO_ID || keeps_units_busy(g, e->dtype)) return false;
    uint32_t count = find_places(g, places);
    if (count > (e->dtype.lanes == 1 ? FEW_PLACES : 1)) return false;
    return is_carried(e->args[0], places, count) || is_carried(e->args[1], places, count);
}

typedef struct carried {
    const place *places;
    uint32_t count;
} carried;

static bool is_carried_part(const void *ctx, const hone_expr *e) {
    const carried *c = ctx;
    return is_carried(e, c->places, c->count);
}

void gen_mark_rare(gen *g, const hone_expr *e, LLVMValueRef select) {
    place places[MAX_PLACES];
    if (e->dtype.lanes != 1 || g->loop.node == HONE_NO_ID || !LLVMIsASelectInst(select)) return;
    if (!g->processor->waits) return;
    uint32_t count = find_places(g, places);
    bool keeps_first = is_carried(e->args[1], places, count);
    bool keeps_second = is_carried(e->args[2], places, count);
    if (keeps_first == keeps_second) return;
    if (!hone_expr_find(e->args[0], is_carried_part, &(carried){places, count})) return;
    LLVMMetadataRef weights[] = {
        LLVMMDStringInContext2(g->context, "branch_weights", 14),
        LLVMValueAsMetadata(gen_i32(g, keeps_first ? 1000 : 1)),
        LLVMValueAsMetadata(gen_i32(g, keeps_first ? 1 : 1000)),
    };
    LLVMSetMetadata(select, LLVMGetMDKindIDInContext(g->context, "prof", 4),
                    LLVMMetadataAsValue(g->context, LLVMMDNodeInContext2(g->context, weights, 3)));
}
