/* graph/passes/stack_products.c - what is multiplied by several matrices of one size is multiplied
 * once, on devices of many threads (queries, keys and values of attention):
 *   q = x Wq + bq, k = x Wk + bk, v = x Wv + bv, or thirds of the columns of x W + b
 *     ⇒  all = x [Wq, Wk, Wv] + [bq, bk, bv]       3 × rows × columns
 *        q, k, v = all[0], all[1], all[2]          slices that legalize leaves: views
 * One alone has few tiles for many multiprocessors, and thirds of columns would be copied. Products
 * that elementwise work follows keep it in their kernels.
 * needs: infer, normalize, fold_transpose, fold_constants
 * keeps: everything else; what is left over goes with prune
 */
#include <string.h>

#include "graph/module/rewrite.h"
#include "graph/passes/graph_passes.h"
#include "ir/ops/graph_infer.h"
#include "ir/ops/graph_op.h"

enum {
    MOST_PARTS = 8,
    MOST_USERS = 64,
};

/* One of the products: columns of a matrix, and of what is added; both constant. */
typedef struct part {
    hone_gvalue value;                /* what it is the value of */
    const hone_tensor *weight, *bias; /* bias NULL: nothing is added */
    int64_t first, pitch;             /* of its columns, and from row to row */
} part;

typedef struct stack {
    hone_garg x; /* old */
    hone_attrs attrs;
    int64_t rows, depth, columns;
    uint32_t count;
    part parts[MOST_PARTS];
} stack; /* rw->ctx: by old value, the view that it is now; NONE: it is none */

static hone_status no_memory(void) {
    return HONE_NO_MEMORY("products beside each other");
}

static hone_garg *view_now(const hone_rewrite *rw, hone_gvalue old) {
    return (hone_garg *)rw->ctx + old;
}

/* ---- looking ---- */

static const hone_tensor *constant_of(const hone_rewrite *rw, const hone_garg *arg) {
    return arg->kind == HONE_GARG_CONSTANT ? rw->module->constants[arg->u.constant] : NULL;
}

static const hone_sinfo *info_of(hone_rewrite *rw, const hone_garg *arg) {
    const hone_sinfo *info = hone_garg_sinfo(rw->module, rw->old, arg, rw->module->arena);
    bool is_known = info && info->kind == HONE_SINFO_TENSOR && hone_sinfo_is_static(info);
    return is_known ? info : NULL;
}

static uint32_t mentions(const hone_garg *arg, hone_gvalue value) {
    uint32_t count = arg->kind == HONE_GARG_VALUE && arg->u.value == value;
    for (uint32_t i = 0; arg->kind == HONE_GARG_TUPLE && i < arg->count; i++)
        count += mentions(&arg->u.items[i], value);
    return count;
}

/* The bindings that use a value; 0 where something else does, or too many do. */
static uint32_t users_of(const hone_rewrite *rw, hone_gvalue value, const hone_gbind **out) {
    uint32_t count, uses = 0;
    const hone_gbind *const *users = hone_rewrite_users(rw, value, &count);
    if (count > MOST_USERS) return 0;
    for (uint32_t i = 0; i < count; i++) {
        if (users[i]->kind != HONE_GBIND_CALL) return 0;
        for (uint32_t a = 0; a < users[i]->arg_count; a++)
            uses += mentions(&users[i]->args[a], value);
        out[i] = users[i];
    }
    return uses == rw->uses[value] ? count : 0;
}

/* The factors of x times a constant matrix, neither turned. */
static bool is_product(hone_rewrite *rw, const hone_gbind *bind) {
    if (!hone_gbind_calls(bind, "matmul") || hone_attrs_int(&bind->attrs, "transpose_a", 0) != 0 ||
        hone_attrs_int(&bind->attrs, "transpose_b", 0) != 0)
        return false;
    const hone_tensor *weight = constant_of(rw, &bind->args[1]);
    const hone_sinfo *x =
        bind->args[0].kind == HONE_GARG_VALUE ? info_of(rw, &bind->args[0]) : NULL;
    return weight && x && weight->rank == 2 && x->rank >= 2 && x->rank < HONE_MAX_RANK &&
           hone_dtype_is_float(weight->dtype) && weight->dtype.lanes == 1 &&
           hone_dtype_equal(weight->dtype, x->dtype) && hone_tensor_count(weight) > 0;
}

/* What is added to the columns of a product, if that is all that becomes of it; else NULL. */
static const hone_gbind *sum_of(hone_rewrite *rw, const hone_gbind *product,
                                const hone_tensor **out_bias) {
    const hone_gbind *users[MOST_USERS];
    const hone_garg self = HONE_GARG_OF_VALUE(product->value);
    const hone_sinfo *info = info_of(rw, &self);
    bool is_one = users_of(rw, product->value, users) == 1 && hone_gbind_calls(users[0], "add");
    if (!is_one || !info) return NULL;
    bool is_first = mentions(&users[0]->args[0], product->value) != 0;
    *out_bias = constant_of(rw, &users[0]->args[is_first]);
    bool is_it = *out_bias && (*out_bias)->rank == 1 &&
                 hone_dtype_equal((*out_bias)->dtype, info->dtype) &&
                 (*out_bias)->shape[0] == constant_of(rw, &product->args[1])->shape[1];
    return is_it ? users[0] : NULL;
}

static const hone_gbind *last_of(hone_rewrite *rw, const hone_gbind *product,
                                 const hone_tensor **out_bias) {
    *out_bias = NULL;
    const hone_gbind *sum = sum_of(rw, product, out_bias);
    if (!sum) *out_bias = NULL;
    return sum ? sum : product;
}

/* Nobody who wants it would be computed in its kernel. */
static bool stands_alone(hone_rewrite *rw, const hone_gbind *last) {
    const hone_gbind *users[MOST_USERS];
    uint32_t count = users_of(rw, last->value, users);
    for (uint32_t i = 0; i < count; i++) {
        const hone_graph_op *op = hone_graph_op_find(users[i]->callee);
        bool is_moved = strcmp(users[i]->callee, "reshape") == 0;
        if (!op || (op->pattern <= HONE_PATTERN_BROADCAST && !is_moved)) return false;
    }
    return count > 0;
}

static bool begin_stack(hone_rewrite *rw, const hone_gbind *product, int64_t columns, stack *s) {
    const hone_sinfo *x = info_of(rw, &product->args[0]);
    const hone_garg self = HONE_GARG_OF_VALUE(product->value);
    const hone_sinfo *out = info_of(rw, &self);
    if (!out) return false;
    *s = (stack){.x = product->args[0], .attrs = product->attrs, .rows = 1, .columns = columns};
    s->depth = hone_expr_const(x->shape[x->rank - 1]);
    for (int32_t d = 0; d + 1 < x->rank; d++)
        s->rows *= hone_expr_const(x->shape[d]);
    int64_t bytes = s->rows * columns * (int64_t)hone_dtype_bytes(out->dtype);
    return bytes > 0 && bytes % HONE_PASS_VIEW_BYTES == 0;
}

/* ---- products side by side ---- */

static bool is_like(hone_rewrite *rw, const hone_gbind *a, const hone_gbind *b) {
    const hone_tensor *x = constant_of(rw, &a->args[1]), *y = constant_of(rw, &b->args[1]);
    const hone_garg values[] = {HONE_GARG_OF_VALUE(a->value), HONE_GARG_OF_VALUE(b->value)};
    const hone_sinfo *of_a = info_of(rw, &values[0]), *of_b = info_of(rw, &values[1]);
    return hone_garg_same(&a->args[0], &b->args[0]) && x->shape[0] == y->shape[0] &&
           x->shape[1] == y->shape[1] && of_a && of_b && hone_dtype_equal(of_a->dtype, of_b->dtype);
}

/* Of those before the first, none would have been left alone if it went with one behind it. */
static bool find_beside(hone_rewrite *rw, const hone_gbind *first, stack *s) {
    if (!begin_stack(rw, first, constant_of(rw, &first->args[1])->shape[1], s)) return false;
    uint32_t count;
    const hone_gbind *const *users = hone_rewrite_users(rw, first->args[0].u.value, &count);
    for (uint32_t i = 0; i < count && s->count < MOST_PARTS; i++) {
        const hone_gbind *bind = users[i];
        if (bind < first || !is_product(rw, bind) || !is_like(rw, first, bind)) continue;
        part *p = &s->parts[s->count];
        const hone_gbind *last = last_of(rw, bind, &p->bias);
        if (view_now(rw, last->value)->kind != HONE_GARG_NONE || !stands_alone(rw, last)) continue;
        p->value = last->value;
        p->weight = constant_of(rw, &bind->args[1]);
        p->pitch = s->columns;
        s->count++;
    }
    return s->count > 1;
}

/* ---- columns of one product ---- */

/* Where a slice of the last dimension begins and ends, and nothing else of it. */
static bool read_columns(const hone_gbind *slice, int32_t rank, int64_t *out_begin,
                         int64_t *out_end) {
    int64_t axis[HONE_MAX_RANK], begin[HONE_MAX_RANK], end[HONE_MAX_RANK],
        stride[HONE_MAX_RANK] = {1};
    bool has_strides = slice->arg_count > 4 && slice->args[4].kind != HONE_GARG_NONE;
    if (!hone_gbind_calls(slice, "strided_slice") || hone_garg_ints(&slice->args[1], axis) != 1 ||
        hone_garg_ints(&slice->args[2], begin) != 1 || hone_garg_ints(&slice->args[3], end) != 1 ||
        (has_strides && hone_garg_ints(&slice->args[4], stride) != 1))
        return false;
    *out_begin = begin[0];
    *out_end = end[0];
    return (axis[0] == rank - 1 || axis[0] == -1) && stride[0] == 1 && begin[0] >= 0;
}

static bool find_columns(hone_rewrite *rw, const hone_gbind *product, stack *s) {
    const hone_gbind *users[MOST_USERS];
    const hone_tensor *bias, *weight = constant_of(rw, &product->args[1]);
    const hone_gbind *last = last_of(rw, product, &bias);
    const hone_garg self = HONE_GARG_OF_VALUE(last->value);
    const hone_sinfo *info = info_of(rw, &self);
    uint32_t count = users_of(rw, last->value, users);
    int64_t begin, end, width = 0, whole = weight->shape[1];
    if (!info || count < 2 || count > MOST_PARTS) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!read_columns(users[i], info->rank, &begin, &end)) return false;
        if (i == 0 && !(end > begin && whole % (end - begin) == 0 &&
                        begin_stack(rw, product, end - begin, s)))
            return false;
        width = s->columns;
        if (end - begin != width || begin % width != 0 || end > whole) return false;
        s->parts[s->count++] = (part){users[i]->value, weight, bias, begin, whole};
    }
    return whole == (int64_t)count * width;
}

/* ---- writing ---- */

static void copy_columns(const part *p, const stack *s, hone_tensor *to, int64_t at) {
    size_t item = hone_dtype_bytes(to->dtype);
    for (int64_t k = 0; k < s->depth; k++)
        memcpy((char *)to->data + (size_t)((at * s->depth + k) * s->columns) * item,
               (const char *)p->weight->data + (size_t)(k * p->pitch + p->first) * item,
               (size_t)s->columns * item);
}

static hone_status stack_weights(hone_rewrite *rw, const stack *s, hone_garg *out) {
    hone_tensor *all;
    const int64_t shape[] = {s->count, s->depth, s->columns};
    HONE_TRY(hone_tensor_create(s->parts[0].weight->dtype, 3, shape, &all));
    for (uint32_t i = 0; i < s->count; i++)
        copy_columns(&s->parts[i], s, all, i);
    return hone_rewrite_add_constant(rw, all, out);
}

/* Where nothing is added -0.0 is, which changes no number. */
static hone_status stack_biases(hone_rewrite *rw, const stack *s, hone_dtype dtype,
                                hone_garg *out) {
    hone_tensor *all;
    const int64_t shape[] = {s->count, 1, s->columns};
    HONE_TRY(hone_tensor_create(dtype, 3, shape, &all));
    size_t row = (size_t)s->columns * hone_dtype_bytes(dtype);
    for (uint32_t i = 0; i < s->count; i++) {
        const part *p = &s->parts[i];
        if (p->bias)
            memcpy((char *)all->data + i * row,
                   (const char *)p->bias->data + (size_t)p->first * hone_dtype_bytes(dtype), row);
        for (int64_t j = 0; !p->bias && j < s->columns; j++)
            hone_tensor_set_f64(all, i * s->columns + j, -0.0);
    }
    return hone_rewrite_add_constant(rw, all, out);
}

static hone_status reshaped(hone_rewrite *rw, hone_garg x, int32_t rank, const int64_t *extents,
                            hone_garg *out) {
    const hone_expr **shape = hone_arena_alloc(rw->module->arena, (size_t)rank * sizeof *shape);
    if (!shape) return no_memory();
    for (int32_t d = 0; d < rank; d++)
        shape[d] = hone_extent_int(&rw->ir, extents[d]);
    return hone_rewrite_reshape(rw, x, rank, shape, out);
}

static hone_status view_of(hone_rewrite *rw, hone_garg all, int64_t at, hone_garg *out) {
    const int64_t numbers[] = {0, at, at + 1};
    hone_garg args[4] = {all}, *items = hone_arena_zalloc(rw->module->arena, 3 * sizeof *items);
    if (!items) return no_memory();
    for (uint32_t i = 0; i < 3; i++) {
        items[i].kind = HONE_GARG_PRIM;
        items[i].u.expr = hone_extent_int(&rw->ir, numbers[i]);
        args[i + 1] = (hone_garg){.kind = HONE_GARG_TUPLE, .count = 1, .u.items = &items[i]};
    }
    return hone_rewrite_call(rw, "strided_slice", 4, args, (hone_attrs){0}, out);
}

/* In the shape that the old value has. */
static hone_status give(hone_rewrite *rw, const stack *s, hone_garg all, uint32_t i) {
    const hone_garg self = HONE_GARG_OF_VALUE(s->parts[i].value);
    const hone_sinfo *info = info_of(rw, &self);
    hone_garg now;
    if (!info) return HONE_ERROR(HONE_CODE_INVALID, "a product of unknown shape");
    HONE_TRY(view_of(rw, all, i, &now));
    return hone_rewrite_reshape(rw, now, info->rank, info->shape, view_now(rw, s->parts[i].value));
}

static hone_status write_stack(hone_rewrite *rw, const stack *s) {
    const int64_t matrix[] = {s->rows, s->depth};
    hone_garg factors[2], terms[2];
    bool has_bias = false;
    HONE_TRY(hone_rewrite_arg(rw, &s->x, &factors[0]));
    HONE_TRY(reshaped(rw, factors[0], 2, matrix, &factors[0]));
    HONE_TRY(stack_weights(rw, s, &factors[1]));
    HONE_TRY(hone_rewrite_call(rw, "matmul", 2, factors, s->attrs, &terms[0]));
    for (uint32_t i = 0; i < s->count; i++)
        has_bias |= s->parts[i].bias != NULL;
    if (has_bias) {
        HONE_TRY(stack_biases(rw, s, hone_rewrite_info(rw, &terms[0])->dtype, &terms[1]));
        HONE_TRY(hone_rewrite_call(rw, "add", 2, terms, (hone_attrs){0}, &terms[0]));
    }
    for (uint32_t i = 0; i < s->count; i++)
        HONE_TRY(give(rw, s, terms[0], i));
    return HONE_OK;
}

static hone_status stack_one(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    const hone_garg *now = view_now(rw, bind->value);
    stack s;
    HONE_TRY(hone_rewrite_find_users(rw));
    if (now->kind == HONE_GARG_NONE && is_product(rw, bind) &&
        (find_columns(rw, bind, &s) || find_beside(rw, bind, &s)))
        HONE_TRY(write_stack(rw, &s));
    *out_done = now->kind != HONE_GARG_NONE;
    if (*out_done) hone_rewrite_set(rw, bind->value, *now);
    return HONE_OK;
}

hone_status hone_pass_stack_products(hone_module *module, const hone_graph_options *options) {
    if (!options->is_for_many_threads) return HONE_OK;
    for (uint32_t i = 0; i < module->member_count; i++) {
        const hone_graph_func *graph = module->members[i].graph;
        if (!graph) continue;
        size_t count = (size_t)graph->value_count + 1;
        hone_garg *views = hone_arena_alloc(module->arena, count * sizeof *views);
        if (!views) return no_memory();
        for (size_t v = 0; v < count; v++)
            views[v] = (hone_garg){.kind = HONE_GARG_NONE};
        HONE_TRY(hone_rewrite_member(module, i, stack_one, views));
    }
    return hone_pass_prune(module, options);
}
