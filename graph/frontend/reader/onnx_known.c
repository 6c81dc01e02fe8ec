/* graph/frontend/reader/onnx_known.c - arithmetic on integers that are known while reading, but for
 * sizes that come later: what exporters make shapes of. Those without such sizes are constants,
 * which operators fold (onnx_emit). */
#include <string.h>

#include "graph/frontend/reader/onnx_reader.h"

typedef struct known {
    uint32_t count;
    int32_t rank;
    const hone_expr *items[ONNX_MAX_KNOWN];
} known;

static bool read_known(onnx_reader *r, uint32_t input, known *k) {
    return onnx_has_input(r, input) &&
           onnx_known_ints(r, &r->inputs[input], &k->count, k->items, &k->rank);
}

/* Item i where one of them stands for all. */
static const hone_expr *item(const known *k, uint32_t i) {
    return k->items[k->count == 1 ? 0 : i];
}

static bool both(onnx_reader *r, uint32_t first, known *a, known *b, uint32_t *out_count) {
    if (!read_known(r, first, a) || !read_known(r, first + 1, b)) return false;
    *out_count = a->count == 1 ? b->count : a->count;
    return a->count == b->count || a->count == 1 || b->count == 1;
}

static bool give(onnx_reader *r, uint32_t count, const hone_expr *const *items, int32_t rank,
                 hone_garg *out) {
    for (uint32_t i = 0; i < count; i++)
        if (!items[i]) return false;
    hone_status st = onnx_make_ints(r, count, items, rank, out);
    hone_status_free(st);
    return !st;
}

/* A size of some value: (h - 3) // 2 + 1 is no negative number where a tensor has as many rows. */
static bool is_extent(const onnx_reader *r, const hone_expr *e) {
    for (uint32_t v = r->graph->value_count; v-- > 0;) {
        const hone_sinfo *info = r->graph->values[v].sinfo;
        if (!info || info->kind != HONE_SINFO_TENSOR || !info->shape) continue;
        for (int32_t d = 0; d < info->rank; d++)
            if (hone_expr_same(info->shape[d], e)) return true;
    }
    return false;
}

bool onnx_is_no_negative(const onnx_reader *r, const hone_expr *e) {
    if (hone_expr_is_int(e)) return e->u.i >= 0;
    if (e->kind == HONE_EXPR_VAR) return true;
    bool is_grown = hone_expr_is_op(e, HONE_OP_ADD) || hone_expr_is_op(e, HONE_OP_MUL) ||
                    hone_expr_is_op(e, HONE_OP_FLOORDIV);
    if (is_grown && onnx_is_no_negative(r, e->args[0]) && onnx_is_no_negative(r, e->args[1]))
        return true;
    return e->kind == HONE_EXPR_BINARY && is_extent(r, e);
}

/* Whether a size is another number that is not negative is not known. */
static bool are_equal(const onnx_reader *r, const hone_expr *a, const hone_expr *b, bool *out) {
    *out = hone_extent_same(a, b);
    bool is_known = *out || (hone_expr_is_int(a) && hone_expr_is_int(b));
    const hone_expr *number = hone_expr_is_int(a) ? a : b, *other = number == a ? b : a;
    bool is_beyond = hone_expr_is_int(number) && number->u.i < 0 && onnx_is_no_negative(r, other);
    return is_known || is_beyond;
}

static bool fold_equal(onnx_reader *r, hone_garg *out) {
    known a, b;
    uint32_t count;
    bool truths[ONNX_MAX_KNOWN];
    hone_tensor *tensor;
    if (!both(r, 0, &a, &b, &count)) return false;
    for (uint32_t i = 0; i < count; i++)
        if (!are_equal(r, item(&a, i), item(&b, i), &truths[i])) return false;
    int64_t shape[] = {count};
    int32_t rank = a.rank > b.rank ? a.rank : b.rank;
    hone_status st = hone_tensor_create(HONE_DTYPE_BOOL, rank, shape, &tensor);
    for (uint32_t i = 0; !st && i < count; i++)
        hone_tensor_set_i64(tensor, i, truths[i]);
    if (!st) st = onnx_add_constant(r, tensor, out);
    hone_status_free(st);
    return !st;
}

static bool fold_where(onnx_reader *r, hone_garg *out) {
    known a, b;
    uint32_t count;
    const hone_expr *items[ONNX_MAX_KNOWN];
    const hone_tensor *condition = onnx_constant_of(r, &r->inputs[0]);
    if (!condition || condition->rank > 1 || !both(r, 1, &a, &b, &count)) return false;
    int64_t truths = hone_tensor_count(condition);
    if (count == 1 && truths > 0 && truths <= ONNX_MAX_KNOWN) count = (uint32_t)truths;
    if (truths != count && truths != 1) return false;
    for (uint32_t i = 0; i < count; i++) {
        bool is_first = hone_tensor_get_i64(condition, truths == 1 ? 0 : i) != 0;
        items[i] = item(is_first ? &a : &b, i);
    }
    int32_t rank = a.rank || b.rank || condition->rank;
    return give(r, count, items, rank, out);
}

static const hone_expr *negated(onnx_reader *r, const hone_expr *e) {
    return hone_extent_mul(&r->ir, e, hone_extent_int(&r->ir, -1));
}

static bool fold_neg(onnx_reader *r, hone_garg *out) {
    known a;
    if (!read_known(r, 0, &a)) return false;
    for (uint32_t i = 0; i < a.count; i++)
        a.items[i] = negated(r, a.items[i]);
    return give(r, a.count, a.items, a.rank, out);
}

static bool fold_sub(onnx_reader *r, hone_garg *out) {
    known a, b;
    uint32_t count;
    const hone_expr *items[ONNX_MAX_KNOWN];
    if (!both(r, 0, &a, &b, &count)) return false;
    for (uint32_t i = 0; i < count; i++) {
        const hone_expr *x = item(&a, i), *y = item(&b, i);
        items[i] = hone_extent_same(x, y) ? hone_extent_int(&r->ir, 0)
                                          : hone_extent_sum(&r->ir, x, negated(r, y));
    }
    return give(r, count, items, a.rank > b.rank ? a.rank : b.rank, out);
}

/* Of a vector, whatever the axes are: there is one. */
static bool fold_reduce(onnx_reader *r, hone_garg *out) {
    known a;
    bool is_sum = strcmp(r->node->op_type, "ReduceSum") == 0;
    const Onnx__AttributeProto *keep = onnx_attr(r, "keepdims"),
                               *noop = onnx_attr(r, "noop_with_empty_axes");
    if ((noop && noop->i) || !read_known(r, 0, &a) || a.rank != 1) return false;
    const hone_expr *all = hone_extent_int(&r->ir, !is_sum);
    for (uint32_t i = 0; i < a.count; i++) {
        all = is_sum ? hone_extent_sum(&r->ir, all, a.items[i])
                     : hone_extent_mul(&r->ir, all, a.items[i]);
    }
    return give(r, 1, &all, !keep || keep->i, out);
}

/* One number as a vector, or a scalar; a vector as it is. */
static bool fold_reshape(onnx_reader *r, hone_garg *out) {
    known a;
    int64_t shape[1] = {1};
    const hone_tensor *target = onnx_constant_of(r, &r->inputs[1]);
    if (!target || hone_tensor_count(target) > 1 || !read_known(r, 0, &a)) return false;
    int32_t rank = (int32_t)hone_tensor_count(target);
    if (rank == 1) shape[0] = hone_tensor_get_i64(target, 0);
    bool fits = shape[0] == -1 || shape[0] == (int64_t)a.count;
    return fits && (rank == 1 || a.count == 1) && give(r, a.count, a.items, rank, out);
}

static bool has_sizes(const hone_garg *arg) {
    if (arg->kind == HONE_GARG_PRIM) return !hone_expr_is_int(arg->u.expr);
    for (uint32_t i = 0; arg->kind == HONE_GARG_SHAPE && i < arg->count; i++)
        if (!hone_expr_is_int(arg->u.exprs[i])) return true;
    return false;
}

bool onnx_fold_known(onnx_reader *r, hone_garg *out) {
    static const struct {
        const char *op;
        bool (*fold)(onnx_reader *r, hone_garg *out);
    } rows[] = {
        {"Equal",      fold_equal  },
        {"Where",      fold_where  },
        {"Neg",        fold_neg    },
        {"Sub",        fold_sub    },
        {"Reshape",    fold_reshape},
        {"ReduceProd", fold_reduce },
        {"ReduceSum",  fold_reduce },
    };
    bool is_sized = false;
    for (uint32_t i = 0; i < r->input_count; i++)
        is_sized |= has_sizes(&r->inputs[i]);
    for (size_t i = 0; is_sized && i < HONE_COUNT(rows); i++)
        if (strcmp(rows[i].op, r->node->op_type) == 0) return rows[i].fold(r, out);
    return false;
}
