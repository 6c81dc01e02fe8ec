/* lower/threads/lower_allreduce.c - the pass that writes tvm_thread_allreduce out.
 * needs: each axis of a launch once around all of it. keeps: what is computed, but for the order of
 * sums. Where the threads that add up are lanes of a warp in a row, they exchange numbers of 16
 * bits and more; of several warps, each hands its sum on in shared memory. All others halve an
 * array in shared memory again and again. The next pass inserts the syncs. */
#include <string.h>

#include "lower/threads/threads.h"

typedef struct exchange {
    hone_lower *lower;
    hone_node_id eval, attr; /* the call, and what says how to add up */
    const hone_lambda *reducer;
    const hone_expr *value, *result; /* result: a load of the element that gets it */
    const hone_expr *axes[LOWER_AXES];
    int64_t extents[LOWER_AXES]; /* 1 where there is none */
    bool is_reduced[LOWER_AXES];
    int64_t members, groups;         /* threads that add up together, and how many such groups */
    const hone_expr *member, *group; /* numbers of this thread's */
} exchange;

/* ---- what is asked ---- */

static const hone_lambda *reducer_around(const hone_func *func, hone_node_id *io_attr) {
    for (hone_node_id n = *io_attr; n != HONE_NO_ID; n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_ATTR || strcmp(node->u.attr.key, "reduce_scope") != 0) continue;
        *io_attr = n;
        bool is_it = node->u.attr.node.kind == HONE_VALUE_LAMBDA;
        return is_it && node->u.attr.node.u.lambda->is_reducer ? node->u.attr.node.u.lambda : NULL;
    }
    return NULL;
}

static void find_axes(exchange *x) {
    const hone_func *func = x->lower->func;
    const hone_expr *call = hone_func_node(func, x->eval)->u.eval.value;
    for (int a = 0; a < LOWER_AXES; a++)
        x->extents[a] = 1;
    for (hone_node_id n = x->eval; n != HONE_NO_ID; n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        int axis = lower_axis_of(node);
        if (axis < LOWER_FIRST_THREAD) continue;
        x->axes[axis] = hone_func_var_expr(&x->lower->ir, func, node->u.loop.var);
        x->extents[axis] = hone_expr_const(node->u.loop.range.extent);
        for (uint16_t i = 5; i < call->count; i++)
            x->is_reduced[axis] |= hone_expr_uses_var(call->args[i], node->u.loop.var);
    }
}

/* The number of a thread among those of the axes that are reduced, or not: x runs fastest. */
static const hone_expr *number_of(const exchange *x, bool of_reduced, int64_t *out_count) {
    hone_ir *ir = &x->lower->ir;
    const hone_expr *number = hone_expr_i32(ir, 0);
    *out_count = 1;
    for (int a = LOWER_FIRST_THREAD; a < LOWER_AXES; a++) { /* z first */
        if (!x->axes[a] || x->is_reduced[a] != of_reduced) continue;
        const hone_expr *index = hone_expr_cast(ir, HONE_DTYPE_I32, x->axes[a]);
        number =
            hone_expr_add(ir, hone_expr_mul(ir, number, hone_expr_i32(ir, x->extents[a])), index);
        *out_count *= x->extents[a];
    }
    return number;
}

/* One value, where all threads have one to add. */
static bool look_at(exchange *x) {
    hone_func *func = x->lower->func;
    const hone_expr *call = hone_func_node(func, x->eval)->u.eval.value;
    x->attr = x->eval;
    x->reducer = reducer_around(func, &x->attr);
    if (!x->reducer || x->reducer->body_count != 1 || call->count < 5) return false;
    x->value = call->args[2];
    x->result = call->args[4];
    if (!hone_expr_is_int_value(call->args[3], 1) || x->result->kind != HONE_EXPR_LOAD)
        return false;
    find_axes(x);
    x->member = number_of(x, true, &x->members);
    x->group = number_of(x, false, &x->groups);
    return true;
}

/* ---- writing ---- */

static const hone_expr *combine(const exchange *x, const hone_expr *a, const hone_expr *b) {
    hone_ir *ir = &x->lower->ir;
    const hone_expr *e =
        hone_expr_substitute_one(ir, x->reducer->bodies[0], x->reducer->params[0], a);
    return e ? hone_expr_substitute_one(ir, e, x->reducer->params[1], b) : NULL;
}

/* if condition (NULL: always): place = value, in front of the call; place is a load. */
static hone_status put(const exchange *x, const hone_expr *place, const hone_expr *value,
                       const hone_expr *condition) {
    hone_func *func = x->lower->func;
    HONE_TRY(hone_ir_finish(&x->lower->ir));
    hone_node_id store =
        hone_func_add_store(func, place->u.buffer, place->count, place->args, value);
    if (store == HONE_NO_ID) return LOWER_NO_MEMORY();
    hone_tree_insert_before(func, x->eval, store);
    return condition ? lower_wrap_if(x->lower, condition, store) : HONE_OK;
}

/* ---- lanes ---- */

static bool is_power_of_two(int64_t n) {
    return n > 0 && (n & (n - 1)) == 0;
}

/* The threads that add up are those of x alone, whole parts of warps or whole warps, and no warp
 * has lanes without a thread. */
static bool has_lanes(const exchange *x) {
    int64_t count = x->extents[LOWER_THREAD_X];
    bool is_x = x->members == count && x->is_reduced[LOWER_THREAD_X];
    bool is_whole =
        (count <= LOWER_WARP_LANES && is_power_of_two(count)) || count % LOWER_WARP_LANES == 0;
    return is_x && is_whole && x->members * x->groups % LOWER_WARP_LANES == 0 &&
           x->value->dtype.bits >= 16 && x->value->dtype.lanes == 1 &&
           hone_target_can(x->lower->options->target, HONE_TARGET_SHUFFLES_LANES);
}

/* result = the sum over `count` lanes in a row, in each of them. */
static hone_status add_lanes(const exchange *x, int64_t count) {
    hone_ir *ir = &x->lower->ir;
    for (int64_t step = count / 2; step > 0; step /= 2) {
        const hone_expr *args[] = {hone_expr_string(ir, "tvm_warp_shuffle_xor"),
                                   hone_expr_int(ir, HONE_DTYPE_U32, 0xffffffff),
                                   x->result,
                                   hone_expr_i32(ir, step),
                                   hone_expr_i32(ir, LOWER_WARP_LANES),
                                   hone_expr_i32(ir, LOWER_WARP_LANES)};
        const hone_expr *other = hone_expr_call(ir, x->result->dtype, HONE_INTRIN_NAMED, 6, args);
        HONE_TRY(put(x, x->result, combine(x, x->result, other), NULL));
    }
    return HONE_OK;
}

static hone_status add_shared(const exchange *x, int64_t elements, hone_buffer *out_buffer) {
    hone_func *func = x->lower->func;
    const int64_t shape[] = {elements};
    *out_buffer = hone_func_add_dense(func, "sums", x->value->dtype, 1, shape, "shared");
    hone_node_id alloc = lower_new_alloc(func, *out_buffer);
    if (alloc == HONE_NO_ID) return LOWER_NO_MEMORY();
    lower_wrap(func, x->eval, alloc);
    return HONE_OK;
}

/* The element of the array of all groups. */
static const hone_expr *element(const exchange *x, hone_buffer sums, int64_t each,
                                const hone_expr *index) {
    hone_ir *ir = &x->lower->ir;
    const hone_expr *at =
        hone_expr_add(ir, hone_expr_mul(ir, x->group, hone_expr_i32(ir, each)), index);
    at = at ? hone_simplify_plain(ir, at) : NULL;
    return at ? hone_func_load(ir, x->lower->func, sums, &at) : NULL;
}

/* Each warp adds up, hands its sum on, and adds up those of all. */
static hone_status add_warps(const exchange *x) {
    hone_ir *ir = &x->lower->ir;
    int64_t warps = x->members / LOWER_WARP_LANES, power = 1;
    HONE_TRY(put(x, x->result, x->value, NULL));
    HONE_TRY(add_lanes(x, warps ? LOWER_WARP_LANES : x->members));
    if (warps < 2) return HONE_OK;
    hone_buffer sums;
    HONE_TRY(add_shared(x, warps * x->groups, &sums));
    const hone_expr *lanes = hone_expr_i32(ir, LOWER_WARP_LANES);
    const hone_expr *lane = hone_expr_floormod(ir, x->member, lanes);
    const hone_expr *mine = element(x, sums, warps, hone_expr_floordiv(ir, x->member, lanes));
    const hone_expr *is_first = hone_expr_binary(ir, HONE_OP_EQ, lane, hone_expr_i32(ir, 0));
    const hone_expr *is_sum = hone_expr_binary(ir, HONE_OP_LT, lane, hone_expr_i32(ir, warps));
    const hone_expr *args[] = {is_sum, element(x, sums, warps, lane), x->reducer->identities[0]};
    HONE_TRY(hone_ir_finish(ir));
    HONE_TRY(put(x, mine, x->result, is_first));
    const hone_expr *theirs =
        hone_expr_call(ir, x->result->dtype, HONE_INTRIN_IF_THEN_ELSE, 3, args);
    HONE_TRY(put(x, x->result, theirs, NULL));
    while (power < warps)
        power *= 2;
    return add_lanes(x, power);
}

/* ---- an array ---- */

static hone_status add_halves(const exchange *x) {
    hone_ir *ir = &x->lower->ir;
    hone_buffer sums;
    int64_t half = 1;
    HONE_TRY(add_shared(x, x->members * x->groups, &sums));
    const hone_expr *mine = element(x, sums, x->members, x->member);
    HONE_TRY(put(x, mine, x->value, NULL));
    while (2 * half < x->members)
        half *= 2;
    for (; x->members > 1 && half > 0; half /= 2) {
        int64_t most = x->members - half < half ? x->members - half : half;
        const hone_expr *other =
            element(x, sums, x->members, hone_expr_add(ir, x->member, hone_expr_i32(ir, half)));
        const hone_expr *has_other =
            hone_expr_binary(ir, HONE_OP_LT, x->member, hone_expr_i32(ir, most));
        HONE_TRY(hone_ir_finish(ir));
        HONE_TRY(put(x, mine, combine(x, mine, other), has_other));
    }
    return put(x, x->result, element(x, sums, x->members, hone_expr_i32(ir, 0)), NULL);
}

static hone_status write_out(exchange *x) {
    hone_func *func = x->lower->func;
    HONE_TRY(hone_ir_finish(&x->lower->ir));
    HONE_TRY(has_lanes(x) ? add_warps(x) : add_halves(x));
    hone_tree_remove(func, x->eval);
    lower_splice(func, x->attr);
    return HONE_OK;
}

hone_status lower_allreduce(hone_lower *lower) {
    hone_func *func = lower->func;
    for (hone_node_id n = 0, next; n != HONE_NO_ID; n = next) {
        const hone_node *node = hone_func_node(func, n);
        next = hone_tree_next(func, 0, n);
        if (node->kind != HONE_NODE_EVAL ||
            lower_call_sort_of(node->u.eval.value) != LOWER_CALL_REDUCE)
            continue;
        exchange x = {.lower = lower, .eval = n};
        if (!look_at(&x)) {
            return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                              "tvm_thread_allreduce of several values, or of some threads' only");
        }
        HONE_TRY(write_out(&x));
    }
    return hone_ir_finish(&lower->ir);
}
