/* lower/signature/signature.c - parameters, sizes, roles and external functions of a program. */
#include "lower/signature/signature.h"

#include <string.h>

#include "ir/arith/arith.h"
#include "ir/ops/fit.h"
#include "ir/region/size_needs.h"
#include "lower/ground/passes.h"
#include "lower/signature/plain_form.h"
#include "support/core/attributes.h"

typedef struct collector {
    const hone_func *func;
    hone_signature *out;
    bool *is_written;    /* by buffer */
    hone_buffer *source; /* by buffer: what match_buffer makes it a view of, or HONE_NO_ID */
    const char **externs;
    hone_lower loops; /* the program without blocks, once it was needed */
} collector;

/* Whose elements a buffer stands for. */
static hone_buffer storage_of(const collector *c, hone_buffer id) {
    for (int hops = 0; hops < 64; hops++) {
        hone_buffer alias = c->func->buffers[id].alias_of;
        if (alias == HONE_NO_ID) alias = c->source[id];
        if (alias == HONE_NO_ID) break;
        id = alias;
    }
    return id;
}

static void note_extern(collector *c, const char *name) {
    for (uint32_t i = 0; c->externs && i < c->out->extern_count; i++) {
        if (strcmp(c->externs[i], name) == 0) return;
    }
    if (c->externs) c->externs[c->out->extern_count] = name;
    c->out->extern_count++;
}

static bool note_expr(void *ctx, const hone_expr *e) {
    collector *c = ctx;
    if (e->kind != HONE_EXPR_CALL) return true;
    bool is_pointer = e->op == HONE_INTRIN_ADDRESS_OF && e->args[0]->kind == HONE_EXPR_LOAD;
    if (is_pointer) c->is_written[storage_of(c, e->args[0]->u.buffer)] = true;
    return true;
}

/* tvm_access_ptr(type, data, offset, extent, mask) without the bit that says it writes. */
static bool is_read_access(const hone_expr *e) {
    return hone_expr_is_call(e, HONE_INTRIN_ACCESS_PTR) && e->count == 5 &&
           hone_expr_is_int(e->args[4]) && !(e->args[4]->u.i & 2);
}

static void note_handles(collector *c, const hone_expr *e) {
    if (is_read_access(e)) return;
    if (e->kind == HONE_EXPR_VAR && hone_dtype_is_handle(e->dtype)) {
        for (hone_buffer id = 0; id < c->func->buffer_count; id++) {
            if (c->func->buffers[id].data != e->u.var) continue;
            c->is_written[storage_of(c, id)] = true;
        }
    }
    for (uint16_t i = 0; i < e->count; i++)
        note_handles(c, e->args[i]);
}

static void note_top(void *ctx, hone_node_id at, const hone_expr *e) {
    (void)at;
    hone_expr_walk(e, note_expr, ctx);
    note_handles(ctx, e);
}

static bool find_extern(void *ctx, const hone_expr *e) {
    bool is_call = hone_expr_is_call(e, HONE_INTRIN_CALL_EXTERN) ||
                   hone_expr_is_call(e, HONE_INTRIN_CALL_PACKED) ||
                   hone_expr_is_call(e, HONE_INTRIN_CALL_PURE_EXTERN);
    if (is_call && e->count > 0 && e->args[0]->kind == HONE_EXPR_STRING) {
        collector *c = ctx;
        const char *name = e->args[0]->u.s;
        if (!hone_lower_brings_along(c->func, name, false)) note_extern(c, name);
    }
    return true;
}

/* A view that blocks make of several buffers may write each of them. */
static void note_match(collector *c, const hone_match *match) {
    hone_buffer source = storage_of(c, match->source.buffer), view = match->buffer;
    if (c->source[view] != HONE_NO_ID && c->source[view] != source) {
        c->is_written[c->source[view]] = c->is_written[source] = true;
    }
    c->source[view] = source;
}

/* A block stands before what is stored in it. */
static void note_views_and_stores(collector *c) {
    const hone_func *func = c->func;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_STORE) {
            c->is_written[storage_of(c, node->u.store.buffer)] = true;
        }
        if (node->kind != HONE_NODE_BLOCK) continue;
        for (uint32_t i = 0; i < node->u.block.block->match_count; i++) {
            note_match(c, &node->u.block.block->matches[i]);
        }
    }
}

static const hone_axis *axis_of(const hone_node *block, const hone_expr *e) {
    const hone_block *b = block->u.block.block;
    for (uint32_t i = 0; i < b->axis_count && e->kind == HONE_EXPR_VAR; i++) {
        if (b->axes[i].var == e->u.var) return &b->axes[i];
    }
    return NULL;
}

/* Axes as the digits of a number: vo * 16 + vi takes every value below extent, once. */
static bool are_digits(hone_arith *arith, const hone_node *block, const hone_expr *index,
                       int64_t extent) {
    hone_linear linear;
    if (!hone_linear_of(arith, index, &linear) || linear.constant != 0) return false;
    int64_t reach = 1;
    for (uint32_t taken = 0; taken < linear.count; taken++) {
        const hone_axis *axis = NULL;
        for (uint32_t i = 0; i < linear.count && !axis; i++) {
            if (linear.terms[i].coeff == reach) axis = axis_of(block, linear.terms[i].term);
        }
        int64_t size = axis ? hone_expr_const(axis->dom.extent) : -1;
        if (size < 2 || !hone_expr_is_int_value(axis->dom.min, 0)) return false;
        if (__builtin_mul_overflow(reach, size, &reach)) return false;
    }
    return reach == extent;
}

/* The indices of a store that writes a whole buffer: distinct axes (or numbers made of them) that
 * run over the whole extents, unconditionally. */
static bool is_full_range(hone_arith *arith, const hone_node *block, const hone_expr *index,
                          const hone_expr *extent) {
    if (hone_expr_is_int(index)) {
        return hone_expr_is_int_value(index, 0) && hone_expr_is_int_value(extent, 1);
    }
    const hone_axis *axis = axis_of(block, index);
    if (!axis) return are_digits(arith, block, index, hone_expr_const(extent));
    return hone_expr_is_int_value(axis->dom.min, 0) && hone_expr_same(axis->dom.extent, extent);
}

static bool shares_an_axis(const hone_node *block, const hone_expr *a, const hone_expr *b) {
    const hone_block *info = block->u.block.block;
    for (uint32_t i = 0; i < info->axis_count; i++) {
        if (hone_expr_uses_var(a, info->axes[i].var) && hone_expr_uses_var(b, info->axes[i].var)) {
            return true;
        }
    }
    return false;
}

/* Each axis bound to a loop variable of its own that covers the axis; no predicate, no condition
 * around. That is how programs look before they are scheduled. */
static bool is_plain_nest(const hone_func *func, hone_node_id id) {
    const hone_node *block = hone_func_node(func, id);
    const hone_block *b = block->u.block.block;
    if (block->u.block.predicate && !hone_expr_is_int_value(block->u.block.predicate, 1)) {
        return false;
    }
    for (uint32_t i = 0; i < b->axis_count; i++) {
        const hone_expr *binding = block->u.block.bindings[i];
        if (hone_expr_is_int_value(binding, 0) &&
            hone_expr_is_int_value(b->axes[i].dom.extent, 1)) {
            continue;
        }
        if (binding->kind != HONE_EXPR_VAR) return false;
        for (uint32_t j = 0; j < i; j++) {
            if (hone_expr_same(binding, block->u.block.bindings[j])) return false;
        }
        bool is_found = false;
        for (hone_node_id p = block->parent; p != HONE_NO_ID && !is_found;
             p = hone_func_node(func, p)->parent) {
            const hone_node *node = hone_func_node(func, p);
            is_found = node->kind == HONE_NODE_FOR && node->u.loop.var == binding->u.var &&
                       hone_expr_is_int_value(node->u.loop.range.min, 0) &&
                       hone_expr_same(node->u.loop.range.extent, b->axes[i].dom.extent);
        }
        if (!is_found) return false;
    }
    for (hone_node_id p = block->parent; p != HONE_NO_ID; p = hone_func_node(func, p)->parent) {
        uint8_t kind = hone_func_node(func, p)->kind;
        bool is_plain =
            kind == HONE_NODE_FOR || kind == HONE_NODE_TOP ||
            (kind == HONE_NODE_BLOCK && hone_func_node(func, p)->u.block.block->axis_count == 0);
        if (!is_plain) return false;
    }
    return true;
}

static bool store_covers(const hone_func *func, hone_arith *arith, hone_node_id block_id,
                         const hone_node *store) {
    const hone_buffer_info *buffer = &func->buffers[store->u.store.buffer];
    const hone_node *block = hone_func_node(func, block_id);
    for (uint32_t d = 0; d < buffer->rank; d++) {
        const hone_expr *index = store->u.store.indices[d];
        if (!is_full_range(arith, block, index, buffer->shape[d])) return false;
        for (uint32_t k = 0; k < d; k++) {
            if (shares_an_axis(block, index, store->u.store.indices[k])) return false;
        }
    }
    return true;
}

/* The first statement that touches the buffer, in program order, is a store that covers it: the
 * store of a block without init, or of its init. */
static bool is_written_first_and_fully(const hone_func *func, hone_arith *arith, hone_buffer id) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_STORE || node->u.store.buffer != id) continue;
        hone_node_id parent = node->parent;
        if (hone_func_node(func, parent)->kind == HONE_NODE_INIT) {
            parent = hone_func_node(func, parent)->parent;
        }
        return hone_func_node(func, parent)->kind == HONE_NODE_BLOCK &&
               is_plain_nest(func, parent) && store_covers(func, arith, parent, node);
    }
    return false;
}

typedef struct read_check {
    hone_buffer id;
    bool is_read;
    hone_node_id writer_block; /* whose own reads of its reduction do not count */
    const hone_func *func;
} read_check;

static bool note_read(void *ctx, const hone_expr *e) {
    read_check *r = ctx;
    if (e->kind == HONE_EXPR_LOAD && e->u.buffer == r->id) r->is_read = true;
    return true;
}

static void check_read(void *ctx, hone_node_id at, const hone_expr *e) {
    read_check *r = ctx;
    if (r->writer_block != HONE_NO_ID && hone_tree_is_ancestor(r->func, r->writer_block, at))
        return;
    hone_expr_walk(e, note_read, r);
}

/* Reads elsewhere than in the first block that writes it come after that block in a plain nest. */
static bool is_output(const hone_func *func, hone_arith *arith, hone_buffer id) {
    if (!is_written_first_and_fully(func, arith, id)) return false;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_STORE || node->u.store.buffer != id) continue;
        hone_node_id block = node->parent;
        bool has_init = hone_func_node(func, block)->kind == HONE_NODE_INIT;
        if (has_init) block = hone_func_node(func, block)->parent;
        read_check r = {id, false, has_init ? block : HONE_NO_ID, func};
        hone_tree_walk_exprs(func, 0, false, check_read, &r);
        return !r.is_read;
    }
    return false;
}

/* The program as loops that show what is touched. */
static hone_status make_loops(collector *c, hone_arena *arena) {
    static const hone_lower_options options = {0};
    static hone_status (*const passes[])(hone_lower *) = {lower_hoist_init, lower_init, lower_match,
                                                          lower_blocks, lower_show_numbers};
    hone_buffer *storage = hone_arena_alloc(arena, (c->func->buffer_count + 1) * sizeof *storage);
    c->loops = (hone_lower){.ir = {.arena = arena}, .options = &options};
    c->loops.func = hone_func_clone(arena, c->func);
    if (!c->loops.func || !storage) return HONE_ERROR(HONE_CODE_NO_MEMORY, "signature");
    for (hone_buffer id = 0; id < c->func->buffer_count; id++)
        storage[id] = storage_of(c, id);
    HONE_TRY(lower_show_calls(&c->loops, storage));
    for (size_t i = 0; i < HONE_COUNT(passes); i++) {
        HONE_TRY(passes[i](&c->loops));
        HONE_TRY(hone_ir_finish(&c->loops.ir));
    }
    return HONE_OK;
}

/* A scheduled program: asked of its loops, as allocations are planned. */
static hone_status is_output_of_loops(collector *c, hone_arena *arena, hone_buffer buffer,
                                      bool *out_is_output) {
    if (!c->loops.func) HONE_TRY(make_loops(c, arena));
    return lower_is_output(&c->loops, buffer, out_is_output);
}

static hone_status collect(collector *c, hone_arena *arena) {
    const hone_func *func = c->func;
    hone_signature *s = c->out;
    hone_buffer *buffers = hone_arena_alloc(arena, (func->param_count + 1) * sizeof *buffers);
    hone_param_role *roles = hone_arena_alloc(arena, (func->param_count + 1) * sizeof *roles);
    hone_var *sizes = hone_arena_alloc(arena, (func->var_count + 1) * sizeof *sizes);
    if (!buffers || !roles || !sizes) return HONE_ERROR(HONE_CODE_NO_MEMORY, "signature");
    hone_arith arith;
    hone_arith_init(&arith, arena);
    note_views_and_stores(c);
    bool leaves = hone_func_has_jumps(func); /* out of what stands behind them */
    hone_tree_walk_exprs(func, 0, false, note_top, c);
    for (uint32_t p = 0; p < func->param_count; p++) {
        const hone_param *param = &func->params[p];
        if (param->buffer == HONE_NO_ID) {
            if (hone_dtype_is_handle(func->vars[param->var].dtype)) {
                return HONE_ERROR(HONE_CODE_INVALID, "parameter '%s' is a handle without a buffer",
                                  func->vars[param->var].name);
            }
            continue;
        }
        bool is_written = c->is_written[param->buffer];
        bool may_be_out = is_written && !leaves;
        bool is_out = may_be_out && is_output(func, &arith, param->buffer);
        if (may_be_out && !is_out) {
            HONE_TRY(is_output_of_loops(c, arena, param->buffer, &is_out));
        }
        roles[s->buffer_count] = is_out       ? HONE_PARAM_OUT
                                 : is_written ? HONE_PARAM_INOUT
                                              : HONE_PARAM_IN;
        buffers[s->buffer_count++] = param->buffer;
    }
    s->buffers = buffers;
    s->roles = roles;
    s->sizes = sizes;
    s->size_count = hone_func_sizes(func, sizes);
    return hone_ir_finish(&arith.ir);
}

hone_status hone_signature_of(const hone_func *func, hone_arena *arena,
                              hone_signature *out_signature) {
    memset(out_signature, 0, sizeof *out_signature);
    collector c = {.func = func, .out = out_signature};
    c.is_written = hone_arena_zalloc(arena, func->buffer_count + 1);
    c.source = hone_arena_alloc(arena, (func->buffer_count + 1) * sizeof *c.source);
    if (!c.is_written || !c.source) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "signature");
    }
    for (hone_buffer id = 0; id < func->buffer_count; id++)
        c.source[id] = HONE_NO_ID;
    HONE_TRY(collect(&c, arena));
    hone_tree_walk_parts(func, 0, false, find_extern, &c); /* counts, repeats included */
    if (out_signature->extern_count == 0) return HONE_OK;
    c.externs = hone_arena_alloc(arena, out_signature->extern_count * sizeof *c.externs);
    if (!c.externs) return HONE_ERROR(HONE_CODE_NO_MEMORY, "signature");
    out_signature->extern_count = 0;
    hone_tree_walk_parts(func, 0, false, find_extern, &c);
    out_signature->externs = c.externs;
    return HONE_OK;
}
