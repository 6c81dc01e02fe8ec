/* lower/ground/accesses.c - finds and maps the loads and stores of a buffer, which may grow by a
 * dimension; the variables around them. */
#include "lower/ground/accesses.h"

#include "ir/core/grow.h"
#include "ir/core/touches.h"

typedef struct finder {
    const hone_func *func;
    hone_buffer buffer;  /* the only one that is looked for; HONE_NO_ID: all of them */
    lower_accesses *out; /* of that one, or by buffer */
    bool has_memory;
} finder;

static lower_accesses *accesses_of(const finder *f, hone_buffer buffer) {
    if (f->buffer == HONE_NO_ID) return &f->out[buffer];
    return buffer == f->buffer ? f->out : NULL;
}

static void add(finder *f, lower_accesses *a, const hone_reference *ref) {
    bool is_store = ref->kind == HONE_REFERENCE_STORE;
    f->has_memory &=
        hone_grow(f->func->arena, (void **)&a->items, &a->capacity, a->count, sizeof *a->items);
    if (f->has_memory) a->items[a->count++] = (lower_access){ref->at, ref->indices, is_store};
}

/* An address of an element names the element, too. */
static void visit(void *ctx, const hone_reference *ref) {
    finder *f = ctx;
    lower_accesses *a = accesses_of(f, ref->buffer);
    bool is_pointer = ref->kind == HONE_REFERENCE_POINTER;
    if (!a || ref->kind == HONE_REFERENCE_MATCH) return;
    a->is_opaque |= is_pointer;
    if (!is_pointer || ref->indices) add(f, a, ref);
}

static void note_opaque(const finder *f, hone_buffer buffer) {
    lower_accesses *a = accesses_of(f, buffer);
    if (a) a->is_opaque = true;
}

bool lower_has_effects(const hone_expr *e) {
    return e->kind == HONE_EXPR_CALL &&
           (!hone_intrin_is_pure((hone_intrin)e->op) || e->op == HONE_INTRIN_ADDRESS_OF ||
            e->op == HONE_INTRIN_ACCESS_PTR || e->op == HONE_INTRIN_CALL_PURE_EXTERN);
}

bool lower_is_plain_loop(const hone_func *func, hone_node_id id) {
    const hone_node *node = hone_func_node(func, id);
    return node->kind == HONE_NODE_FOR && lower_only_child(func, id) != HONE_NO_ID &&
           node->u.loop.annotations.count == 0 &&
           hone_expr_is_int_value(node->u.loop.range.min, 0) &&
           hone_expr_const(node->u.loop.range.extent) >= 2;
}

bool lower_is_stored_element(const hone_node *store, const hone_expr *load) {
    if (load->u.buffer != store->u.store.buffer) return false;
    for (uint16_t d = 0; d < load->count; d++) {
        if (!hone_expr_same(load->args[d], store->u.store.indices[d])) return false;
    }
    return true;
}

const hone_expr *lower_element_number(hone_lower *lower, hone_arith *arith, hone_buffer buffer,
                                      const hone_expr *const *indices) {
    hone_ir *ir = &arith->ir;
    const hone_buffer_info *info = &lower->func->buffers[buffer];
    if (info->strides || info->elem_offset || info->rank == 0) return NULL;
    const hone_expr *sum = indices[0];
    for (uint32_t d = 1; d < info->rank; d++)
        sum = hone_expr_add(ir, hone_expr_mul(ir, sum, info->shape[d]), indices[d]);
    return sum ? hone_simplify(arith, sum) : NULL;
}

static hone_status find(finder *f, hone_node_id root) {
    f->has_memory = true;
    hone_walk_references(f->func, root, visit, f);
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(f->func, root, n)) {
        const hone_node *node = hone_func_node(f->func, n);
        if (node->kind != HONE_NODE_DECL) continue;
        hone_buffer source = f->func->buffers[node->u.alloc.buffer].alias_of;
        if (source != HONE_NO_ID) note_opaque(f, source);
    }
    return f->has_memory ? HONE_OK : LOWER_NO_MEMORY();
}

hone_status lower_find_accesses(const hone_func *func, hone_node_id root, hone_buffer buffer,
                                lower_accesses *out) {
    *out = (lower_accesses){0};
    return find(&(finder){.func = func, .buffer = buffer, .out = out}, root);
}

hone_status lower_find_all_accesses(const hone_func *func, lower_accesses **out_by_buffer) {
    lower_accesses *all = hone_arena_zalloc(func->arena, (func->buffer_count + 1) * sizeof *all);
    *out_by_buffer = all;
    if (!all) return LOWER_NO_MEMORY();
    return find(&(finder){.func = func, .buffer = HONE_NO_ID, .out = all}, HONE_NODE_TOP);
}

typedef struct mapping {
    hone_buffer buffer;
    uint32_t rank;
    lower_index_map map;
    void *ctx;
} mapping;

static const hone_expr *map_load(void *ctx, hone_ir *ir, const hone_expr *e) {
    mapping *m = ctx;
    if (e->kind != HONE_EXPR_LOAD || e->u.buffer != m->buffer) return e;
    const hone_expr **indices = m->map(m->ctx, e->args);
    if (!indices) return hone_ir_fail(ir, LOWER_NO_MEMORY());
    return hone_expr_load(ir, e->dtype, e->u.buffer, m->rank, indices);
}

hone_status lower_map_accesses(hone_func *func, hone_node_id root, hone_buffer buffer,
                               lower_index_map map, void *ctx) {
    mapping m = {buffer, func->buffers[buffer].rank, map, ctx};
    HONE_TRY(hone_tree_transform(func, root, map_load, &m, false));
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_STORE || node->u.store.buffer != buffer) continue;
        const hone_expr **indices = map(ctx, node->u.store.indices);
        if (!indices) return LOWER_NO_MEMORY();
        node->u.store.indices = indices;
        node->u.store.rank = m.rank;
    }
    return HONE_OK;
}

/* Statements without others below: each can be mapped by itself. */
static bool are_leaves(const hone_func *func, const lower_accesses *all) {
    for (uint32_t i = 0; i < all->count; i++) {
        if (hone_func_node(func, all->items[i].node)->first != HONE_NO_ID) return false;
    }
    return true;
}

hone_status lower_map_listed(hone_func *func, hone_node_id root, const lower_accesses *all,
                             hone_buffer buffer, lower_index_map map, void *ctx) {
    if (!are_leaves(func, all)) return lower_map_accesses(func, root, buffer, map, ctx);
    for (uint32_t i = 0; i < all->count; i++) {
        hone_node_id node = all->items[i].node;
        if (i > 0 && node == all->items[i - 1].node) continue; /* they stand side by side */
        HONE_TRY(lower_map_accesses(func, node, buffer, map, ctx));
    }
    return HONE_OK;
}

const hone_expr **lower_with_first(hone_ir *ir, const hone_expr *first, uint32_t count,
                                   const hone_expr *const *others) {
    const hone_expr **out = first ? hone_arena_alloc(ir->arena, (count + 1) * sizeof *out) : NULL;
    if (!out) return NULL;
    out[0] = first;
    for (uint32_t i = 0; i < count; i++)
        out[i + 1] = others[i];
    return out;
}

hone_status lower_grow_buffer(hone_lower *lower, hone_buffer buffer, const hone_expr *extent) {
    hone_ir *ir = &lower->ir;
    hone_buffer_info *info = &lower->func->buffers[buffer];
    if (info->strides && info->rank > 0) {
        const hone_expr *stride = hone_expr_mul(ir, info->strides[0], info->shape[0]);
        info->strides = lower_with_first(ir, stride, info->rank, info->strides);
        if (!info->strides) return LOWER_NO_MEMORY();
    }
    info->shape = lower_with_first(ir, extent, info->rank, info->shape);
    info->rank++;
    return info->shape ? HONE_OK : LOWER_NO_MEMORY();
}

static bool reads_storage(const hone_func *func, const hone_expr *e, hone_buffer storage) {
    if (e->kind == HONE_EXPR_LOAD && hone_func_storage(func, e->u.buffer) == storage) return true;
    for (uint16_t i = 0; i < e->count; i++) {
        if (reads_storage(func, e->args[i], storage)) return true;
    }
    return false;
}

bool lower_stays_true(const hone_func *func, hone_node_id root, const hone_expr *condition) {
    if (hone_expr_is_pure_index(condition)) return true;
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_EVAL) return false;
        if (node->kind != HONE_NODE_STORE) continue;
        hone_buffer storage = hone_func_storage(func, node->u.store.buffer);
        if (reads_storage(func, condition, storage)) return false;
    }
    return true;
}
