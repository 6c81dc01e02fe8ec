/* schedule/variant/tf32.c - products of float32 whose factors are rounded to 11 bits (TF32): what
 * matrix units of NVIDIA's cards from sm_80 on multiply.
 *
 *   out[…] = out[…] + a[…] * b[…]   ─►   out[…] = out[…] + r(a[…]) * r(b[…])
 *
 * r: to the nearest, halves away from zero; NaN stays NaN. It is written out in bits, so that what
 * it computes is the same wherever it runs; a schedule for a GPU finds it again and leaves it to
 * the matrix instructions, which round so themselves. Loops, buffers, batches, windows of
 * convolutions and what stands around are as they were. A product of two rounded numbers is off by
 * 2^-10 at most; sums of many are off by less, relative to the largest of them.
 */
#include "schedule/variant/tf32.h"

#include "schedule/variant/variant_impl.h"

/* The bits of a float32 below those that are kept, and the one that decides. */
#define KEPT INT64_C(0xffffe000)
#define HALF INT64_C(0x1000)

static const hone_dtype bits_type = HONE_DTYPE_INIT(UINT, 32, 1);

static const hone_expr *both(hone_ir *ir, const hone_expr *a, int64_t mask) {
    const hone_expr *args[] = {a, hone_expr_int(ir, bits_type, mask)};
    return hone_expr_call(ir, bits_type, HONE_INTRIN_BITWISE_AND, 2, args);
}

/* isnan(x) ? x : the float of (bits + (bits & half)) & kept */
static const hone_expr *rounded(hone_ir *ir, const hone_expr *x) {
    const hone_expr *bits = hone_expr_call(ir, bits_type, HONE_INTRIN_REINTERPRET, 1, &x);
    const hone_expr *sum = hone_expr_add(ir, bits, both(ir, bits, HALF));
    const hone_expr *kept = both(ir, sum, KEPT);
    const hone_expr *value = hone_expr_call(ir, HONE_DTYPE_F32, HONE_INTRIN_REINTERPRET, 1, &kept);
    const hone_expr *is_nan = hone_expr_call(ir, HONE_DTYPE_BOOL, HONE_INTRIN_ISNAN, 1, &x);
    return hone_expr_select(ir, is_nan, x, value);
}

static bool is_masked(const hone_expr *e, int64_t mask) {
    return hone_expr_is_call(e, HONE_INTRIN_BITWISE_AND) &&
           hone_expr_is_int_value(e->args[1], mask);
}

/* bits + (bits & half), of the bits of x */
static bool adds_half(const hone_expr *sum, const hone_expr *x) {
    if (!hone_expr_is_op(sum, HONE_OP_ADD)) return false;
    const hone_expr *bits = sum->args[0], *half = sum->args[1];
    return hone_expr_is_call(bits, HONE_INTRIN_REINTERPRET) && hone_expr_same(bits->args[0], x) &&
           is_masked(half, HALF) && hone_expr_same(half->args[0], bits);
}

bool hone_tf32_is_rounded(const hone_expr *value) {
    bool is_choice = value->kind == HONE_EXPR_SELECT && value->args[1]->kind == HONE_EXPR_LOAD &&
                     hone_expr_is_call(value->args[0], HONE_INTRIN_ISNAN) &&
                     hone_expr_is_call(value->args[2], HONE_INTRIN_REINTERPRET) &&
                     hone_dtype_equal(value->dtype, HONE_DTYPE_F32);
    if (!is_choice) return false;
    const hone_expr *x = value->args[1], *kept = value->args[2]->args[0];
    return hone_expr_same(value->args[0]->args[0], x) && is_masked(kept, KEPT) &&
           adds_half(kept->args[0], x);
}

static bool is_float(const hone_func *func, hone_buffer buffer) {
    return hone_dtype_equal(hone_func_buffer(func, buffer)->dtype, HONE_DTYPE_F32);
}

/* A sum of products of two loads of float32, as they are. */
static bool is_product(const hone_func *func, hone_node_id block) {
    const hone_node *store;
    const hone_expr *loads[2];
    if (!variant_read_sum(func, block, &store, loads)) return false;
    return is_float(func, store->u.store.buffer) && is_float(func, loads[0]->u.buffer) &&
           is_float(func, loads[1]->u.buffer);
}

static void round_factors(hone_func *func, hone_ir *ir, hone_node_id block) {
    hone_node *store = hone_func_node(func, hone_block_body_of(func, block));
    const hone_expr *sum = store->u.store.value, *product = sum->args[1];
    const hone_expr *a = rounded(ir, product->args[0]), *b = rounded(ir, product->args[1]);
    store->u.store.value = hone_expr_add(ir, sum->args[0], hone_expr_mul(ir, a, b));
}

hone_status hone_variant_rewrite_tf32(hone_func *func) {
    hone_ir ir = {.arena = func->arena};
    uint32_t count = 0;
    hone_node_id root = hone_func_root_block(func);
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        bool is_block = hone_func_node(func, n)->kind == HONE_NODE_BLOCK && n != root;
        if (!is_block || !is_product(func, n)) continue;
        round_factors(func, &ir, n);
        count++;
    }
    HONE_TRY(hone_ir_finish(&ir));
    return count ? HONE_OK : VARIANT_REFUSE("there is no sum of products of float32");
}
