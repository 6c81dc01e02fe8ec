/* ir/verify/verify_view.c - elements of views beside the storage that they show. A view may be
 * declared larger than that is: what counts is the place of each element that is touched. */
#include "ir/verify/verify_impl.h"
#include "support/core/strbuf.h"

/* As int64, in as many lanes. NULL: there are others already. */
static const hone_expr *wide(hone_ir *ir, const hone_expr *e, uint16_t lanes) {
    if (!e || (e->dtype.lanes > 1 && e->dtype.lanes != lanes)) return NULL;
    hone_dtype dtype = hone_dtype_with_lanes(HONE_DTYPE_I64, e->dtype.lanes);
    e = hone_expr_cast(ir, dtype, e);
    return e && e->dtype.lanes < lanes ? hone_expr_broadcast(ir, e, lanes) : e;
}

/* offset + i * rows + j: in elements from the beginning of the storage. NULL: not known. */
static const hone_expr *place_of(hone_ir *ir, const hone_buffer_info *view,
                                 const hone_expr *const *indices) {
    uint16_t lanes = 1;
    for (uint32_t d = 0; d < view->rank; d++)
        lanes = indices[d]->dtype.lanes > lanes ? indices[d]->dtype.lanes : lanes;
    const hone_expr *zero = hone_expr_int(ir, HONE_DTYPE_I64, 0);
    const hone_expr *sum = wide(ir, view->elem_offset ? view->elem_offset : zero, lanes);
    const hone_expr *rows = wide(ir, zero, lanes);
    for (uint32_t d = 0; d < view->rank; d++) {
        const hone_expr *index = wide(ir, indices[d], lanes);
        const hone_expr *by = wide(ir, view->strides ? view->strides[d] : view->shape[d], lanes);
        if (view->strides)
            sum = hone_expr_add(ir, sum, hone_expr_mul(ir, index, by));
        else
            rows = hone_expr_add(ir, hone_expr_mul(ir, rows, by), index);
    }
    return hone_expr_add(ir, sum, rows);
}

/* Elements of the view's type in dense storage. NULL: not known. */
static const hone_expr *count_in(hone_ir *ir, const hone_buffer_info *storage,
                                 const hone_buffer_info *view) {
    int64_t have = (int64_t)storage->dtype.bits * storage->dtype.lanes;
    int64_t bits = (int64_t)view->dtype.bits * view->dtype.lanes;
    const hone_expr *count = hone_expr_int(ir, HONE_DTYPE_I64, have);
    for (uint32_t d = 0; d < storage->rank; d++)
        count = hone_expr_mul(ir, count, wide(ir, storage->shape[d], 1));
    if (bits == 0) return NULL;
    return hone_expr_binary(ir, HONE_OP_FLOORDIV, count, hone_expr_int(ir, HONE_DTYPE_I64, bits));
}

/* It ends before its storage does: by numbers alone. */
static bool surely_fits(const hone_buffer_info *view, const hone_buffer_info *storage) {
    int64_t need = hone_buffer_elements(view), have = hone_buffer_elements(storage);
    return !view->strides && !view->elem_offset && need >= 0 && need <= have &&
           (int64_t)view->dtype.bits * view->dtype.lanes <=
               (int64_t)storage->dtype.bits * storage->dtype.lanes;
}

static void leaves(verifier *v, const hone_buffer_info *view, const hone_buffer_info *storage,
                   const char *verb, const int64_t place[2], const hone_str *where) {
    verify_error(v, v->node,
                 "'%s' is %s in '%s' at element %lld%s of the storage of '%s', which has %lld",
                 view->name, verb, verify_block_name(v), (long long)place[0], hone_str_text(where),
                 storage->name, (long long)place[1]);
}

void verify_view_access(verifier *v, const hone_buffer_info *view, const hone_expr *const *indices,
                        const char *verb) {
    if (view->alias_of == HONE_NO_ID || v->in_region) return;
    hone_buffer of = hone_func_storage(v->func, view->alias_of);
    if (of >= v->func->buffer_count) return;
    const hone_buffer_info *storage = hone_func_buffer(v->func, of);
    if (storage->strides || storage->elem_offset || surely_fits(view, storage)) return;
    hone_ir *ir = &v->arith.ir;
    const hone_expr *at = place_of(ir, view, indices), *count = count_in(ir, storage, view);
    at = at ? hone_simplify(&v->arith, at) : NULL;
    count = count ? hone_simplify(&v->arith, count) : NULL;
    if (!at || !count || (at->dtype.lanes == 1 && hone_prove_index(&v->arith, at, count))) return;
    hone_str where = {0}, sizes = {0};
    int64_t place[2] = {0, hone_expr_const(count)};
    if (count->kind == HONE_EXPR_INT) {
        if (hone_find_outside(&v->points, v->node, at, 0, place[1], &place[0]) ==
            HONE_OUTSIDE_FOUND) {
            verify_show_point(v, at, &where);
            leaves(v, view, storage, verb, place, &where);
        }
    } else if (at->dtype.lanes == 1 &&
               verify_leaves_for_all_sizes(v, at, hone_expr_int(ir, HONE_DTYPE_I64, 0), count,
                                           &place[0], &place[1], &where, &sizes)) {
        hone_str_append(&where, hone_str_text(&sizes));
        leaves(v, view, storage, verb, place, &where);
    }
    hone_str_deinit(&where);
    hone_str_deinit(&sizes);
}
