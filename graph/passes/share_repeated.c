/* graph/passes/share_repeated.c - what is repeated to serve several matrices is multiplied as it
 * is, with the rows of all of them (keys and values of attention that serve several heads):
 *   matmul(a, reshape(broadcast_to(b)))  →  reshape(matmul(reshape(a), b))
 *   [.., h * g, m, k]  [.., h, 1 ⇒ g, k, n]           [.., h, g * m, k]  [.., h, k, n]
 * needs: infer, normalize, fold_transpose
 * keeps: everything else; what is left over goes with prune
 */
#include "graph/module/rewrite.h"
#include "graph/passes/graph_passes.h"
#include "ir/ops/graph_infer.h"

enum { MANY_ROWS = 2 };

typedef struct repeated {
    hone_garg source;          /* old; what is repeated, in any shape */
    const hone_expr *const *b; /* the shape that is repeated: the whole's, of `rank`, but for h */
    const hone_expr *heads;    /* h */
    const hone_expr *times;    /* g */
    int32_t rank;
} repeated;

static const hone_sinfo *shape_of(hone_rewrite *rw, const hone_garg *arg) {
    const hone_sinfo *info = hone_garg_sinfo(rw->module, rw->old, arg, rw->module->arena);
    bool is_known = info && info->kind == HONE_SINFO_TENSOR && info->rank > 0 && info->shape;
    return is_known ? info : NULL;
}

static const hone_gbind *maker(hone_rewrite *rw, const hone_garg *arg, const char *op) {
    const hone_gbind *def = arg->kind == HONE_GARG_VALUE ? rw->defs[arg->u.value] : NULL;
    return hone_gbind_calls(def, op) ? def : NULL;
}

/* [.., h, 1, k, n] to [.., h, g, k, n], which is [.., h * g, k, n] then. */
static bool repeats(const hone_sinfo *one, const hone_sinfo *many, const hone_sinfo *whole) {
    int32_t rank = whole->rank, g = rank - 2;
    if (rank < 3 || one->rank != rank + 1 || many->rank != rank + 1) return false;
    if (!hone_expr_is_int_value(one->shape[g], 1) || hone_expr_const(many->shape[g]) < 2)
        return false;
    for (int32_t d = 0; d <= rank; d++) {
        if (d != g && !hone_extent_same(one->shape[d], many->shape[d])) return false;
        int32_t in_whole = d < g ? d : d - 1;
        bool is_head = d == g || d == g - 1;
        if (!is_head && !hone_extent_same(many->shape[d], whole->shape[in_whole])) return false;
    }
    return true;
}

static bool find_repeated(hone_rewrite *rw, const hone_garg *b, repeated *out) {
    const hone_gbind *joined = maker(rw, b, "reshape");
    const hone_gbind *spread = joined ? maker(rw, &joined->args[0], "broadcast_to") : NULL;
    if (!spread) return false;
    const hone_sinfo *one = shape_of(rw, &spread->args[0]);
    const hone_sinfo *many = shape_of(rw, &joined->args[0]), *whole = shape_of(rw, b);
    if (!one || !many || !whole || !repeats(one, many, whole)) return false;
    const hone_gbind *apart = maker(rw, &spread->args[0], "reshape");
    *out = (repeated){.source = apart ? apart->args[0] : spread->args[0],
                      .b = whole->shape,
                      .heads = many->shape[whole->rank - 3],
                      .times = many->shape[whole->rank - 2],
                      .rank = whole->rank};
    return true;
}

/* Matrix for matrix of b, none of which serves all. */
static bool has_matrices_of(const hone_sinfo *a, const repeated *b) {
    if (!a || a->rank != b->rank) return false;
    for (int32_t d = 0; d + 2 < b->rank; d++) {
        if (!hone_extent_same(a->shape[d], b->b[d])) return false;
    }
    return true;
}

static bool uses(const hone_gbind *bind, hone_gvalue value) {
    for (uint32_t i = 0; bind->kind == HONE_GBIND_CALL && i < bind->arg_count; i++) {
        const hone_garg *arg = &bind->args[i];
        if (arg->kind == HONE_GARG_VALUE && arg->u.value == value) return true;
    }
    return false;
}

/* The product is kept from work on its elements (a mask is added) by the reshape behind it, which
 * goes over all of them once more: that takes longer than to repeat b, of which a has more rows
 * than b has numbers for each. */
static bool would_go_over_more(hone_rewrite *rw, const hone_gbind *product, const hone_sinfo *a) {
    int64_t rows = hone_expr_const(a->shape[a->rank - 2]);
    int64_t width = hone_expr_const(a->shape[a->rank - 1]);
    if (rows < 0 || width < 0 || rows <= MANY_ROWS * width) return false;
    uint32_t count;
    const hone_gbind *const *users = hone_rewrite_users(rw, product->value, &count);
    bool is_joined = false;
    for (uint32_t i = 0; i < count && !is_joined; i++)
        is_joined = uses(users[i], product->value) && !hone_gbind_calls(users[i], "nn.softmax") &&
                    !hone_gbind_calls(users[i], "matmul") && !hone_gbind_calls(users[i], "reshape");
    return is_joined;
}

/* As `like`, but for the sizes of heads and rows; those that it has already stay. */
static hone_status reshaped(hone_rewrite *rw, hone_garg x, const hone_expr *const *like,
                            int32_t rank, const hone_expr *heads, const hone_expr *rows,
                            hone_garg *out) {
    const hone_sinfo *now = hone_rewrite_info(rw, &x);
    const hone_expr **shape = hone_arena_alloc(rw->module->arena, (size_t)rank * sizeof *shape);
    if (!shape) return HONE_ERROR(HONE_CODE_NO_MEMORY, "repeated");
    bool is_same = now && now->kind == HONE_SINFO_TENSOR && now->rank == rank && now->shape;
    for (int32_t d = 0; d < rank; d++) {
        shape[d] = d == rank - 3 ? heads : d == rank - 2 ? rows : like[d];
        is_same = is_same && hone_extent_same(now->shape[d], shape[d]);
    }
    *out = x;
    if (is_same) return HONE_OK;
    return hone_rewrite_reshape(rw, x, rank, shape, out);
}

static hone_status share(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    repeated b;
    const hone_sinfo *a, *whole;
    const hone_garg self = HONE_GARG_OF_VALUE(bind->value);
    if (!hone_gbind_calls(bind, "matmul") || hone_attrs_int(&bind->attrs, "transpose_a", 0) != 0 ||
        !find_repeated(rw, &bind->args[1], &b))
        return HONE_OK;
    HONE_TRY(hone_rewrite_find_users(rw));
    a = shape_of(rw, &bind->args[0]);
    whole = shape_of(rw, &self);
    if (!whole || !has_matrices_of(a, &b) || would_go_over_more(rw, bind, a)) return HONE_OK;
    hone_garg args[2], out;
    int32_t row = b.rank - 2;
    const hone_expr *rows = hone_extent_mul(&rw->ir, b.times, a->shape[row]);
    HONE_TRY(hone_rewrite_arg(rw, &bind->args[0], &args[0]));
    HONE_TRY(hone_rewrite_arg(rw, &b.source, &args[1]));
    HONE_TRY(reshaped(rw, args[0], a->shape, b.rank, b.heads, rows, &args[0]));
    HONE_TRY(reshaped(rw, args[1], b.b, b.rank, b.heads, b.b[row], &args[1]));
    HONE_TRY(hone_rewrite_call(rw, "matmul", 2, args, bind->attrs, &out));
    HONE_TRY(
        reshaped(rw, out, whole->shape, b.rank, whole->shape[row - 1], whole->shape[row], &out));
    hone_rewrite_set(rw, bind->value, out);
    *out_done = true;
    return HONE_OK;
}

hone_status hone_pass_share_repeated(hone_module *module, const hone_graph_options *options) {
    HONE_TRY(hone_rewrite_module(module, share, NULL));
    return hone_pass_prune(module, options);
}
