/* lower/memory/lower_flatten.c - the pass that gives every access one index.
 * needs: no blocks. keeps: what is computed. Afterwards every load and store has one index, in
 * elements from the start of the buffer's storage. A parameter keeps its shape; accesses go through
 * a one-dimensional view of it, declared at the top of the function. */
#include "lower/ground/passes.h"

typedef struct flattening {
    hone_lower *lower;
    hone_buffer *flat; /* by buffer: what accesses use instead, HONE_NO_ID = not decided yet */
    uint32_t count;    /* buffers before the pass */
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

/* Elements of the storage behind a buffer. */
static const hone_expr *storage_extent(const layout *l) {
    const hone_buffer_info *buffer = l->buffer;
    if (buffer->rank == 0) return hone_expr_i32(l->ir, 1);
    const hone_expr *product = widened(l, buffer->shape[0]);
    if (buffer->strides) return hone_expr_mul(l->ir, product, widened(l, buffer->strides[0]));
    for (uint32_t d = 1; d < buffer->rank; d++)
        product = hone_expr_mul(l->ir, product, widened(l, buffer->shape[d]));
    return product;
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
    if (is_flat(buffer)) return indices[0];
    const layout l = layout_of(&f->lower->ir, buffer);
    return linear_index(&l, indices);
}

static const hone_expr *flatten_load(void *ctx, hone_ir *ir, const hone_expr *e) {
    flattening *f = ctx;
    if (e->kind != HONE_EXPR_LOAD || e->u.buffer >= f->count) return e;
    hone_buffer flat = flat_of(f, e->u.buffer);
    if (flat == HONE_NO_ID) return hone_ir_fail(ir, LOWER_NO_MEMORY());
    if (flat == e->u.buffer) return e;
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
        if (flat == node->u.store.buffer) continue;
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
    if (!f.flat) return LOWER_NO_MEMORY();
    for (uint32_t i = 0; i < f.count; i++)
        f.flat[i] = HONE_NO_ID;
    HONE_TRY(hone_tree_transform(func, 0, flatten_load, &f, false));
    HONE_TRY(flatten_stores(&f));
    HONE_TRY(declare_views(&f));
    return lower_simplify(lower);
}
