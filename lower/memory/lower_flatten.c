/* lower/memory/lower_flatten.c - the pass that gives every access one index.
 * needs: no blocks. keeps: what is computed. Afterwards every load and store has one index, in
 * elements from the start of the buffer's storage. A parameter keeps its shape; accesses go through
 * a one-dimensional view of it, declared at the top of the function. Storage that is allocated is
 * as long as its strides reach. Of a view that nothing shows to end before its storage does, each
 * index is checked. */
#include "ir/arith/arith.h"
#include "lower/ground/passes.h"
#include "lower/memory/checked_index.h"

typedef struct flattening {
    hone_lower *lower;
    hone_buffer *flat; /* by buffer: what accesses use instead, HONE_NO_ID = not decided yet */
    /* by buffer: what its indices must be below; NULL: nothing that is not known */
    const hone_expr **end;
    uint32_t count; /* buffers before the pass */
} flattening;

static bool is_flat(const hone_buffer_info *buffer) {
    return buffer->rank == 1 && !buffer->strides && !buffer->elem_offset;
}

/* The elements of a buffer that is that long at least, as far as its numbers are known; -1 when
 * int64 cannot count them. */
static int64_t least_elements(const hone_buffer_info *buffer) {
    int64_t product = 1;
    for (uint32_t d = 0; d < buffer->rank; d++) {
        bool is_last = buffer->strides && d > 0; /* the first stride is that of all the others */
        const hone_expr *factor = is_last ? NULL : buffer->shape[d];
        if (factor && hone_expr_is_int(factor) && factor->u.i > 0 &&
            __builtin_mul_overflow(product, factor->u.i, &product)) {
            return -1;
        }
    }
    if (!buffer->strides || !buffer->rank || !hone_expr_is_int(buffer->strides[0])) return product;
    int64_t stride = buffer->strides[0]->u.i;
    return stride > 0 && __builtin_mul_overflow(product, stride, &product) ? -1 : product;
}

/* Numbers of 32 bits count the elements of most buffers, whatever loops run over them; where they
 * do not, places are computed in 64 bits. */
typedef struct layout {
    hone_ir *ir;
    const hone_buffer_info *buffer;
    bool is_long;
} layout;

static layout layout_of(hone_ir *ir, const hone_buffer_info *buffer) {
    return (layout){ir, buffer, least_elements(buffer) > INT32_MAX};
}

static const hone_expr *widened(const layout *l, const hone_expr *e) {
    bool is_wide = hone_dtype_is_int(e->dtype) && (e->dtype.bits == 64 || !l->is_long);
    if (is_wide) return e; /* unsigned ones meet signed ones in int64 */
    return hone_expr_cast(l->ir, hone_dtype_with_lanes(HONE_DTYPE_I64, e->dtype.lanes), e);
}

static const hone_expr *linear_index(const layout *l, const hone_expr *const *indices) {
    const hone_buffer_info *buffer = l->buffer;
    hone_ir *ir = l->ir;
    if (buffer->rank == 0) {
        return buffer->elem_offset ? buffer->elem_offset : hone_expr_i32(ir, 0);
    }
    const hone_expr *sum = NULL;
    for (uint32_t d = 0; d < buffer->rank; d++) {
        const hone_expr *index = widened(l, indices[d]);
        if (buffer->strides) {
            const hone_expr *part = hone_expr_mul(ir, index, widened(l, buffer->strides[d]));
            sum = sum ? hone_expr_add(ir, sum, part) : part;
        } else {
            const hone_expr *rows =
                sum ? hone_expr_mul(ir, sum, widened(l, buffer->shape[d])) : NULL;
            sum = rows ? hone_expr_add(ir, rows, index) : index;
        }
    }
    return buffer->elem_offset ? hone_expr_add(ir, sum, widened(l, buffer->elem_offset)) : sum;
}

static const hone_expr *one_as(hone_ir *ir, const hone_expr *e) {
    return hone_expr_int(ir, e->dtype, 1);
}

/* Elements from the start of its storage up to behind the last one of the buffer. */
static const hone_expr *storage_extent(const layout *l) {
    const hone_buffer_info *buffer = l->buffer;
    hone_ir *ir = l->ir;
    const hone_expr *extent = NULL;
    if (buffer->rank == 0) extent = hone_expr_i32(ir, 1);
    for (uint32_t d = 0; d < buffer->rank; d++) {
        const hone_expr *size = widened(l, buffer->shape[d]);
        if (!size) return NULL;
        if (!buffer->strides) {
            extent = extent ? hone_expr_mul(ir, extent, size) : size;
            continue;
        }
        size = hone_expr_mul(ir, hone_expr_sub(ir, size, one_as(ir, size)),
                             widened(l, buffer->strides[d]));
        if (!extent && size) extent = one_as(ir, size);
        extent = hone_expr_add(ir, extent, size);
    }
    return buffer->elem_offset ? hone_expr_add(ir, extent, widened(l, buffer->elem_offset))
                               : extent;
}

/* Adds the one-dimensional view of a buffer. */
static hone_buffer add_view(flattening *f, hone_buffer id) {
    hone_func *func = f->lower->func;
    hone_ir *ir = &f->lower->ir;
    hone_buffer_info view = func->buffers[id];
    const hone_expr **shape = hone_arena_alloc(func->arena, sizeof *shape);
    if (!shape) return HONE_NO_ID;
    const layout l = layout_of(ir, &view);
    shape[0] = storage_extent(&l);
    if (shape[0]) shape[0] = hone_simplify_plain(ir, shape[0]);
    if (!shape[0]) return HONE_NO_ID;
    view.rank = 1;
    view.shape = shape;
    view.strides = NULL;
    view.elem_offset = NULL;
    view.offset_factor = 0;
    view.separator_count = 0;
    view.separators = NULL;
    view.matched_handle = HONE_NO_ID;
    view.alias_of = id;
    view.data = HONE_NO_ID;
    return hone_func_add_buffer(func, &view);
}

static hone_buffer flat_of(flattening *f, hone_buffer id) {
    if (id >= f->count) return id;
    if (f->flat[id] == HONE_NO_ID) {
        f->flat[id] = is_flat(&f->lower->func->buffers[id]) ? id : add_view(f, id);
    }
    return f->flat[id];
}

static const hone_expr *index_of(flattening *f, hone_buffer id, const hone_expr *const *indices) {
    const hone_buffer_info *buffer = &f->lower->func->buffers[id];
    hone_ir *ir = &f->lower->ir;
    const layout l = layout_of(ir, buffer);
    const hone_expr *index = is_flat(buffer) ? indices[0] : linear_index(&l, indices);
    if (!index || !f->end[id]) return index;
    return lower_checked_index(ir, f->lower->options->target, index, f->end[id]);
}

static const hone_expr *flatten_load(void *ctx, hone_ir *ir, const hone_expr *e) {
    flattening *f = ctx;
    if (e->kind != HONE_EXPR_LOAD || e->u.buffer >= f->count) return e;
    hone_buffer flat = flat_of(f, e->u.buffer);
    if (flat == HONE_NO_ID) return hone_ir_fail(ir, LOWER_NO_MEMORY());
    if (flat == e->u.buffer && !f->end[flat]) return e;
    const hone_expr *index = index_of(f, e->u.buffer, e->args);
    return index ? hone_expr_load(ir, e->dtype, flat, 1, &index) : NULL;
}

static hone_status flatten_stores(flattening *f) {
    hone_func *func = f->lower->func;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_STORE || node->u.store.buffer >= f->count) continue;
        hone_buffer flat = flat_of(f, node->u.store.buffer);
        if (flat == HONE_NO_ID) return LOWER_NO_MEMORY();
        if (flat == node->u.store.buffer && !f->end[flat]) continue;
        const hone_expr **index = hone_arena_alloc(func->arena, sizeof *index);
        if (!index) return LOWER_NO_MEMORY();
        index[0] = index_of(f, node->u.store.buffer, node->u.store.indices);
        if (!index[0]) return hone_ir_finish(&f->lower->ir);
        node->u.store.buffer = flat;
        node->u.store.rank = 1;
        node->u.store.indices = index;
    }
    return HONE_OK;
}

/* A view lives where its buffer does: below its ALLOC, or at the top for a parameter. */
static hone_status declare_views(flattening *f) {
    hone_func *func = f->lower->func;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_ALLOC && node->kind != HONE_NODE_DECL) continue;
        hone_buffer id = node->u.alloc.buffer;
        if (id >= f->count || f->flat[id] == HONE_NO_ID || f->flat[id] == id) continue;
        hone_node_id decl = hone_func_add_node(func, HONE_NODE_DECL);
        if (decl == HONE_NO_ID) return LOWER_NO_MEMORY();
        hone_func_node(func, decl)->u.alloc.buffer = f->flat[id];
        hone_tree_move_children(func, n, decl);
        hone_tree_append(func, n, decl);
        f->flat[id] = id; /* declared */
    }
    for (uint32_t p = 0; p < func->param_count; p++) {
        hone_buffer id = func->params[p].buffer;
        if (id == HONE_NO_ID || f->flat[id] == HONE_NO_ID || f->flat[id] == id) continue;
        hone_node_id decl = hone_func_add_node(func, HONE_NODE_DECL);
        if (decl == HONE_NO_ID) return LOWER_NO_MEMORY();
        hone_func_node(func, decl)->u.alloc.buffer = f->flat[id];
        hone_tree_move_children(func, 0, decl);
        hone_tree_append(func, 0, decl);
    }
    return HONE_OK;
}

/* Accesses go through the views: what is left to say of the storage is its length. */
static void straighten_allocations(flattening *f) {
    hone_func *func = f->lower->func;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_ALLOC || node->u.alloc.buffer >= f->count) continue;
        hone_buffer_info *info = &func->buffers[node->u.alloc.buffer];
        hone_buffer flat = f->flat[node->u.alloc.buffer];
        if ((!info->strides && !info->elem_offset) || flat == HONE_NO_ID) continue;
        const hone_buffer_info *view = &func->buffers[flat];
        info->rank = 1;
        info->shape = view->shape;
        info->strides = NULL;
        info->elem_offset = NULL;
        info->offset_factor = 0;
        info->separator_count = 0;
    }
}

/* ---- views ---- */

/* How many elements of the view's type its storage has; NULL: not known. */
static const hone_expr *elements_for(hone_lower *lower, const hone_buffer_info *storage,
                                     const hone_buffer_info *view) {
    hone_ir *ir = &lower->ir;
    const layout l = layout_of(ir, storage);
    int64_t have = (int64_t)storage->dtype.bits * storage->dtype.lanes;
    int64_t bits = (int64_t)view->dtype.bits * view->dtype.lanes;
    const hone_expr *count = storage_extent(&l);
    if (have == bits || !count) return count;
    if (have == 0 || bits == 0) return NULL;
    count = hone_expr_cast(ir, HONE_DTYPE_I64, count);
    count = hone_expr_mul(ir, count, hone_expr_int(ir, HONE_DTYPE_I64, have));
    return hone_expr_binary(ir, HONE_OP_FLOORDIV, count, hone_expr_int(ir, HONE_DTYPE_I64, bits));
}

/* Finds out whether the view ends before its storage does. */
static hone_status bound_view(flattening *f, hone_arith *arith, hone_buffer id) {
    const hone_func *func = f->lower->func;
    const hone_buffer_info *view = hone_func_buffer(func, id);
    hone_buffer of = hone_func_storage(func, id);
    if (view->alias_of == HONE_NO_ID || of >= func->buffer_count) return HONE_OK;
    const layout l = layout_of(&f->lower->ir, view);
    const hone_expr *need = storage_extent(&l),
                    *have = elements_for(f->lower, hone_func_buffer(func, of), view);
    have = have ? hone_simplify_plain(&f->lower->ir, have) : NULL;
    if (!have || !need) return hone_ir_finish(&f->lower->ir);
    need = hone_expr_cast(&f->lower->ir, HONE_DTYPE_I64, need);
    const hone_expr *end = hone_expr_cast(&f->lower->ir, HONE_DTYPE_I64, have);
    if (need && end && !hone_prove_less_equal(arith, need, end)) f->end[id] = have;
    return hone_ir_finish(&f->lower->ir);
}

static hone_status bound_views(flattening *f) {
    hone_arith arith;
    hone_arith_init(&arith, f->lower->func->arena);
    if (!hone_arith_bind_sizes(&arith, f->lower->func)) return LOWER_NO_MEMORY();
    for (hone_buffer b = 0; b < f->count; b++)
        HONE_TRY(bound_view(f, &arith, b));
    return hone_ir_finish(&arith.ir);
}

static hone_status check_sizes(const hone_func *func) {
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        if (least_elements(&func->buffers[b]) >= 0) continue;
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "'%s' has more elements than an index of 64 bits can count",
                          func->buffers[b].name);
    }
    return HONE_OK;
}

hone_status lower_flatten(hone_lower *lower) {
    hone_func *func = lower->func;
    for (hone_node_id n = HONE_NODE_TOP; n != HONE_NO_ID;
         n = hone_tree_next(func, HONE_NODE_TOP, n)) {
        if (hone_func_node(func, n)->kind != HONE_NODE_BLOCK) continue;
        return HONE_ERROR(HONE_CODE_INVALID, "there are blocks, pass 'blocks' comes before");
    }
    HONE_TRY(check_sizes(func));
    flattening f = {.lower = lower, .count = func->buffer_count};
    f.flat = hone_arena_alloc(func->arena, (f.count ? f.count : 1) * sizeof *f.flat);
    f.end = hone_arena_zalloc(func->arena, (f.count ? f.count : 1) * sizeof *f.end);
    if (!f.flat || !f.end) return LOWER_NO_MEMORY();
    HONE_TRY(bound_views(&f));
    for (uint32_t i = 0; i < f.count; i++)
        f.flat[i] = HONE_NO_ID;
    HONE_TRY(hone_tree_transform(func, 0, flatten_load, &f, false));
    HONE_TRY(flatten_stores(&f));
    straighten_allocations(&f);
    HONE_TRY(declare_views(&f));
    return lower_simplify(lower);
}
