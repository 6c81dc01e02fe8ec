/* schedule/primitive/tensor/prim_tensorize.c - tensorize: puts the implementation of a tensor
 * intrinsic in the place of what a block computes (of all below a loop, which blockize makes a
 * block of first).
 *
 *     with block C_o: vi_o, vj_o, vk_o
 *         for i, j, k in (16, 16, 16): with block C: C[…] = C[…] + A[…] * B[…]
 *  →  with block C_o: vi_o, vj_o, vk_o
 *         A1 = T.match_buffer(A[vi_o*16 : vi_o*16+16, vk_o*16 : vk_o*16+16], (16, 16), …)
 *         …
 *         the body of the implementation, on A1, B1 and C1
 *
 * Checks: the body is what the description says (tensor_match.c), on parts that lie inside of the
 * buffers; a buffer that the description writes is none of its others; what the implementation
 * says of the layout holds: fixed strides (or none, where it uses more than single elements), the
 * offset's factor.
 */
#include "schedule/intrin/tensor_intrin.h"
#include "schedule/primitive/primitive_impl.h"
#include "schedule/primitive/tensor/tensor_match.h"

#include <string.h>

typedef struct tensorizing {
    hone_schedule *sch;
    hone_node_id block;
    const char *name;
    const hone_func *desc, *impl;
    tensor_place *places; /* by parameter */
} tensorizing;

/* ---- what the implementation takes for granted ---- */

static bool writes_param(const hone_func *desc, uint32_t param) {
    const hone_block *root = hone_func_node(desc, hone_func_root_block(desc))->u.block.block;
    return sch_writes(root, desc->params[param].buffer);
}

static hone_status check_distinct(const tensorizing *t) {
    for (uint32_t i = 0; i < t->desc->param_count; i++) {
        for (uint32_t k = 0; k < t->desc->param_count && writes_param(t->desc, i); k++) {
            if (k == i || t->places[k].buffer != t->places[i].buffer) continue;
            return sch_refuse(t->sch, t->block, "'%s' is two buffers of '%s', and it writes one",
                              sch_buffer_name(t->sch, t->places[i].buffer), t->name);
        }
    }
    return HONE_OK;
}

typedef struct use {
    const hone_func *func;
    hone_buffer buffer;
} use;

/* By vectors or by address. */
static bool is_whole_use(const void *ctx, const hone_expr *e) {
    const use *u = ctx;
    hone_var data = hone_func_buffer(u->func, u->buffer)->data;
    if (e->kind == HONE_EXPR_VAR) return data != HONE_NO_ID && e->u.var == data;
    if (e->kind == HONE_EXPR_LOAD) return e->u.buffer == u->buffer && e->dtype.lanes > 1;
    return hone_expr_is_call(e, HONE_INTRIN_ADDRESS_OF);
}

static bool uses_whole(const hone_func *impl, hone_buffer buffer) {
    bool is_whole = hone_tree_find_part(impl, 0, false, is_whole_use, &(use){impl, buffer});
    for (hone_node_id n = 0; n != HONE_NO_ID && !is_whole; n = hone_tree_next(impl, 0, n)) {
        const hone_node *node = hone_func_node(impl, n);
        if (node->kind != HONE_NODE_STORE || node->u.store.buffer != buffer) continue;
        is_whole = node->u.store.value->dtype.lanes > 1;
    }
    return is_whole;
}

/* Elements between neighbours in one dimension of a buffer of the program. */
static const hone_expr *stride_of(hone_schedule *sch, const hone_buffer_info *info, uint32_t dim) {
    if (info->strides) return info->strides[dim];
    const hone_expr *stride = hone_expr_int(&sch->ir, info->shape[dim]->dtype, 1);
    for (uint32_t d = info->rank; d > dim + 1; d--)
        stride = hone_expr_mul(&sch->ir, stride, info->shape[d - 1]);
    return hone_simplify(&sch->arith, stride);
}

static hone_status check_strides(const tensorizing *t, uint32_t param) {
    hone_schedule *sch = t->sch;
    hone_buffer id = t->impl->params[param].buffer;
    const hone_buffer_info *view = hone_func_buffer(t->impl, id);
    const hone_buffer_info *info = hone_func_buffer(sch->func, t->places[param].buffer);
    uint32_t lead = info->rank - view->rank;
    int64_t dense = 1;
    bool is_checked = view->strides || uses_whole(t->impl, id);
    for (uint32_t d = view->rank; is_checked && d-- > 0;) {
        int64_t extent = hone_expr_const(view->shape[d]);
        int64_t want = view->strides ? hone_expr_const(view->strides[d]) : dense;
        dense *= extent;
        if (want < 0 || extent == 1) continue; /* a stride of -1, or a name: any */
        const hone_expr *stride = stride_of(sch, info, lead + d);
        const hone_expr *wanted = stride ? hone_expr_int(&sch->ir, stride->dtype, want) : NULL;
        if (wanted && hone_prove_equal(&sch->arith, stride, wanted)) continue;
        int64_t have = stride ? hone_expr_const(stride) : -1;
        return sch_refuse(sch, t->block,
                          "'%s' takes '%s' to have the stride %lld in dimension %u, '%s' has %s; "
                          "strides=[...] with a name in its place takes any",
                          t->name, view->name, (long long)want, d, info->name,
                          have < 0 ? "not"
                                   : hone_arena_printf(sch->arena, "%lld", (long long)have));
    }
    return HONE_OK;
}

static hone_status check_offset(const tensorizing *t, uint32_t param) {
    hone_schedule *sch = t->sch;
    const tensor_place *place = &t->places[param];
    const hone_buffer_info *view = hone_func_buffer(t->impl, t->impl->params[param].buffer);
    const hone_buffer_info *info = hone_func_buffer(sch->func, place->buffer);
    if (view->offset_factor <= 1) return HONE_OK;
    /* a parameter's own offset is a multiple of its factor */
    bool is_known = !info->elem_offset ||
                    (info->offset_factor > 0 && info->offset_factor % view->offset_factor == 0);
    const hone_expr *offset = is_known ? hone_expr_i32(&sch->ir, 0) : info->elem_offset;
    for (uint32_t d = 0; d < info->rank; d++) {
        offset = hone_expr_add(&sch->ir, offset,
                               hone_expr_mul(&sch->ir, place->base[d], stride_of(sch, info, d)));
    }
    if (!offset) return sch_ir_error(sch);
    hone_modular m = hone_arith_modular(&sch->arith, hone_simplify(&sch->arith, offset));
    if (m.coeff % view->offset_factor == 0 && m.base % view->offset_factor == 0) return HONE_OK;
    return sch_refuse(sch, t->block,
                      "the offset of '%s' in '%s' is no multiple of %d, which '%s' wants",
                      view->name, info->name, view->offset_factor, t->name);
}

/* ---- the new body ---- */

static hone_status bind_ranges(hone_schedule *sch, hone_node_id top) {
    for (hone_node_id n = top; n != HONE_NO_ID; n = hone_tree_next(sch->func, top, n)) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind == HONE_NODE_FOR &&
            !hone_arith_bind(&sch->arith, node->u.loop.var, node->u.loop.range)) {
            return sch_no_memory();
        }
        for (uint32_t i = 0; node->kind == HONE_NODE_BLOCK && i < sch_block(sch, n)->axis_count;
             i++) {
            const hone_axis *axis = &sch_block(sch, n)->axes[i];
            if (!hone_arith_bind(&sch->arith, axis->var, axis->dom)) return sch_no_memory();
        }
    }
    return HONE_OK;
}

/* T.match_buffer of each parameter: the new buffer shows the part of the program's. */
static hone_status make_matches(const tensorizing *t, const hone_buffer *buffers,
                                const hone_match **out) {
    hone_schedule *sch = t->sch;
    uint32_t count = t->impl->param_count;
    hone_match *matches = hone_arena_zalloc(sch->arena, (count + 1) * sizeof *matches);
    if (!matches) return sch_no_memory();
    for (uint32_t i = 0; i < count; i++) {
        hone_buffer view = buffers[t->impl->params[i].buffer];
        uint32_t rank = hone_func_buffer(sch->func, t->places[i].buffer)->rank;
        uint32_t lead = rank - hone_func_buffer(sch->func, view)->rank;
        hone_range *ranges = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *ranges);
        if (!ranges) return sch_no_memory();
        for (uint32_t d = 0; d < rank; d++) {
            const hone_expr *base = t->places[i].base[d];
            int64_t extent =
                d < lead ? 1 : hone_expr_const(hone_func_buffer(sch->func, view)->shape[d - lead]);
            ranges[d] = (hone_range){base, hone_expr_int(&sch->ir, base->dtype, extent)};
        }
        sch->func->buffers[view].matched_handle = HONE_NO_ID;
        matches[i] = (hone_match){
            view, {t->places[i].buffer, ranges}
        };
    }
    *out = matches;
    return sch_ir_error(sch);
}

static hone_status replace_body(const tensorizing *t) {
    hone_schedule *sch = t->sch;
    const hone_buffer *buffers = NULL;
    hone_node_id root;
    HONE_TRY(hone_tree_import(sch->func, t->impl, hone_func_root_block(t->impl), &buffers, &root));
    HONE_TRY(bind_ranges(sch, root));
    const hone_block *from = sch_block(sch, root);
    hone_block *block = hone_block_copy(sch->arena, sch_block(sch, t->block));
    if (!block) return sch_no_memory();
    HONE_TRY(make_matches(t, buffers, &block->matches));
    block->match_count = t->impl->param_count;
    block->allocs = from->allocs;
    block->alloc_count = from->alloc_count;
    for (uint32_t i = 0; i < from->annotations.count; i++) {
        const hone_attr *a = &from->annotations.items[i];
        if (hone_attrs_find(&block->annotations, a->key)) continue;
        if (!hone_attrs_with(sch->arena, &block->annotations, a->key, a->value,
                             &block->annotations)) {
            return sch_no_memory();
        }
    }
    while (sch_node(sch, t->block)->first != HONE_NO_ID)
        hone_tree_remove(sch->func, sch_node(sch, t->block)->first);
    hone_tree_move_children(sch->func, root, t->block);
    sch_node(sch, t->block)->u.block.block = block;
    return HONE_OK;
}

static hone_status check_block(const tensorizing *t) {
    hone_schedule *sch = t->sch;
    const hone_block *block = sch_block(sch, t->block);
    if (block->alloc_count == 0 && block->match_count == 0) return HONE_OK;
    return sch_refuse(sch, t->block, "%s has buffers of its own", sch_block_name(sch, t->block));
}

static hone_status tensorize_block(tensorizing *t) {
    HONE_TRY(check_block(t));
    HONE_TRY(tensor_match(t->sch, t->block, t->name, t->desc, &t->places));
    HONE_TRY(check_distinct(t));
    for (uint32_t i = 0; i < t->impl->param_count; i++) {
        HONE_TRY(check_strides(t, i));
        HONE_TRY(check_offset(t, i));
    }
    return replace_body(t);
}

/* A loop becomes a block first; when that does not fit, the program is as it was. */
static hone_status tensorize_node(tensorizing *t, hone_node_id node, bool preserve_unit_iters) {
    hone_schedule *sch = t->sch;
    t->block = node;
    if (sch_node(sch, node)->kind == HONE_NODE_BLOCK) return tensorize_block(t);
    hone_func *before = hone_func_clone(sch->arena, sch->func);
    if (!before) return sch_no_memory();
    HONE_TRY(sch_blockize_loop(sch, node, preserve_unit_iters, &t->block));
    hone_status st = tensorize_block(t);
    if (!st) return HONE_OK;
    sch->func = before;
    sch->blame = node;
    return st;
}

hone_status hone_sch_tensorize(hone_schedule *sch, hone_rv rv, const char *tensor_intrin,
                               bool preserve_unit_iters) {
    hone_node_id node;
    hone_module *module = NULL;
    tensorizing t = {.sch = sch, .name = hone_arena_strdup(sch->arena, tensor_intrin)};
    if (!t.name) return sch_no_memory();
    HONE_TRY(sch_resolve_node(sch, rv, &node));
    HONE_TRY(hone_tensor_intrin_find(sch->intrins, t.name, &module, &t.desc, &t.impl));
    hone_status st = tensorize_node(&t, node, preserve_unit_iters);
    hone_module_release(module);
    HONE_TRY(st);
    return sch_record(sch, HONE_INST_TENSORIZE,
                      SCH_ARGS(SCH_RV(rv), SCH_TEXT(t.name), SCH_INT(preserve_unit_iters)));
}

SCH_STEP(TENSORIZE, hone_sch_tensorize(sch, a[0].rv, a[1].text, a[2].number != 0),
         .gives = HONE_GIVES_NOTHING,
         .args = {SCH_ARG_NODE, SCH_ARG_STRING("tensor_intrin", 0), SCH_ARG_KEEP_UNITS(1)});
