/* ir/core/func_copy.c - deep copies: nothing of the original is referred to afterwards. */
#include "ir/core/func.h"

#include <string.h>

typedef struct copier {
    hone_ir ir;
    const hone_var *var_map; /* old number → new one; NULL = the same */
    const hone_buffer *buffer_map;
} copier;

static hone_var var(const copier *c, hone_var old) {
    return c->var_map && old != HONE_NO_ID ? c->var_map[old] : old;
}

static hone_buffer buffer(const copier *c, hone_buffer old) {
    return c->buffer_map && old != HONE_NO_ID ? c->buffer_map[old] : old;
}

static void *room(copier *c, size_t bytes) {
    void *memory = hone_arena_zalloc(c->ir.arena, bytes + 1);
    if (!memory) hone_ir_fail(&c->ir, HONE_ERROR(HONE_CODE_NO_MEMORY, "copy of a function"));
    return memory;
}

static const char *text(copier *c, const char *s) {
    if (!s) return NULL;
    const char *copy = hone_arena_strdup(c->ir.arena, s);
    if (!copy) hone_ir_fail(&c->ir, HONE_ERROR(HONE_CODE_NO_MEMORY, "copy of a function"));
    return copy;
}

static const hone_expr *expr(copier *c, const hone_expr *e) {
    return e ? hone_expr_copy(&c->ir, e, c->var_map, c->buffer_map) : NULL;
}

static const hone_expr *const *exprs(copier *c, const hone_expr *const *list, uint32_t count) {
    if (!list) return NULL;
    const hone_expr **copy = room(c, count * sizeof *copy);
    for (uint32_t i = 0; copy && i < count; i++)
        copy[i] = expr(c, list[i]);
    return copy;
}

static hone_attrs copy_attrs(copier *c, hone_attrs attrs);

static const hone_lambda *copy_lambda(copier *c, const hone_lambda *lambda) {
    hone_lambda *copy = room(c, sizeof *copy);
    hone_var *params = room(c, lambda->param_count * sizeof *params);
    if (!copy || !params) return NULL;
    *copy = *lambda;
    for (uint32_t i = 0; i < lambda->param_count; i++)
        params[i] = c->var_map ? c->var_map[lambda->params[i]] : lambda->params[i];
    copy->params = params;
    copy->bodies = exprs(c, lambda->bodies, lambda->body_count);
    copy->identities = exprs(c, lambda->identities, lambda->identity_count);
    return copy;
}

static hone_value copy_value(copier *c, hone_value value) {
    switch (value.kind) {
    case HONE_VALUE_STRING:
        value.u.s = text(c, value.u.s);
        break;
    case HONE_VALUE_EXPR:
        value.u.expr = expr(c, value.u.expr);
        break;
    case HONE_VALUE_LIST: {
        hone_value *items = room(c, value.count * sizeof *items);
        for (uint32_t i = 0; items && i < value.count; i++) {
            items[i] = copy_value(c, value.u.items[i]);
        }
        value.u.items = items;
        break;
    }
    case HONE_VALUE_MAP: {
        hone_attrs copy = copy_attrs(c, (hone_attrs){value.count, value.u.attrs});
        value.u.attrs = copy.items;
        break;
    }
    case HONE_VALUE_LAMBDA:
        value.u.lambda = copy_lambda(c, value.u.lambda);
        break;
    case HONE_VALUE_NONE:
    case HONE_VALUE_BOOL:
    case HONE_VALUE_INT:
    case HONE_VALUE_FLOAT:
        break;
    }
    return value;
}

static hone_attrs copy_attrs(copier *c, hone_attrs attrs) {
    hone_attr *items = room(c, attrs.count * sizeof *items);
    for (uint32_t i = 0; items && i < attrs.count; i++) {
        items[i] = (hone_attr){text(c, attrs.items[i].key), copy_value(c, attrs.items[i].value)};
    }
    attrs.items = items;
    return attrs;
}

static const hone_value *copy_parts(copier *c, const hone_value *parts) {
    hone_value *copy = parts ? room(c, sizeof *copy) : NULL;
    if (copy) *copy = copy_value(c, *parts);
    return copy;
}

static hone_range copy_range(copier *c, hone_range range) {
    return (hone_range){expr(c, range.min), expr(c, range.extent)};
}

static hone_region copy_region(copier *c, const hone_func *func, hone_region region) {
    uint32_t rank = hone_func_buffer(func, region.buffer)->rank;
    hone_range *ranges = room(c, rank * sizeof *ranges);
    for (uint32_t i = 0; ranges && i < rank; i++)
        ranges[i] = copy_range(c, region.ranges[i]);
    region.ranges = ranges;
    region.buffer = buffer(c, region.buffer);
    return region;
}

static const hone_region *copy_regions(copier *c, const hone_func *func, const hone_region *regions,
                                       uint32_t count) {
    hone_region *copy = room(c, count * sizeof *copy);
    for (uint32_t i = 0; copy && i < count; i++)
        copy[i] = copy_region(c, func, regions[i]);
    return copy;
}

static const hone_block *copy_block(copier *c, const hone_func *func, const hone_block *block) {
    hone_block *copy = hone_block_copy(c->ir.arena, block);
    hone_axis *axes = room(c, block->axis_count * sizeof *axes);
    hone_match *matches = room(c, block->match_count * sizeof *matches);
    hone_buffer *allocs = room(c, block->alloc_count * sizeof *allocs);
    if (!copy || !axes || !matches || !allocs) return NULL;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        axes[i] = block->axes[i];
        axes[i].dom = copy_range(c, axes[i].dom);
        axes[i].var = var(c, axes[i].var);
    }
    for (uint32_t i = 0; i < block->match_count; i++) {
        matches[i].buffer = buffer(c, block->matches[i].buffer);
        matches[i].source = copy_region(c, func, block->matches[i].source);
    }
    for (uint32_t i = 0; i < block->alloc_count; i++)
        allocs[i] = buffer(c, block->allocs[i]);
    copy->name = text(c, block->name);
    copy->axes = axes;
    copy->matches = matches;
    copy->allocs = allocs;
    copy->reads = copy_regions(c, func, block->reads, block->read_count);
    copy->writes = copy_regions(c, func, block->writes, block->write_count);
    copy->annotations = copy_attrs(c, block->annotations);
    return copy;
}

static void copy_payload(copier *c, const hone_func *func, hone_node *n) {
    switch ((hone_node_kind)n->kind) {
    case HONE_NODE_FOR:
        n->u.loop.thread_tag = text(c, n->u.loop.thread_tag);
        n->u.loop.range = copy_range(c, n->u.loop.range);
        n->u.loop.var = var(c, n->u.loop.var);
        n->u.loop.annotations = copy_attrs(c, n->u.loop.annotations);
        break;
    case HONE_NODE_BLOCK:
        n->u.block.bindings = exprs(c, n->u.block.bindings, n->u.block.block->axis_count);
        n->u.block.predicate = expr(c, n->u.block.predicate);
        n->u.block.block = copy_block(c, func, n->u.block.block);
        break;
    case HONE_NODE_STORE:
        n->u.store.buffer = buffer(c, n->u.store.buffer);
        n->u.store.value = expr(c, n->u.store.value);
        n->u.store.indices = exprs(c, n->u.store.indices, n->u.store.rank);
        break;
    case HONE_NODE_IF:
    case HONE_NODE_WHILE:
    case HONE_NODE_EVAL:
    case HONE_NODE_ASSERT:
        n->u.eval.value = expr(c, n->u.eval.value);
        n->u.eval.message = text(c, n->u.eval.message);
        n->u.eval.error_kind = text(c, n->u.eval.error_kind);
        n->u.eval.parts = copy_parts(c, n->u.eval.parts);
        break;
    case HONE_NODE_LET:
        n->u.let.var = var(c, n->u.let.var);
        n->u.let.value = expr(c, n->u.let.value);
        break;
    case HONE_NODE_ATTR:
        n->u.attr.key = text(c, n->u.attr.key);
        n->u.attr.node = copy_value(c, n->u.attr.node);
        n->u.attr.value = expr(c, n->u.attr.value);
        break;
    case HONE_NODE_ALLOC:
    case HONE_NODE_DECL:
        n->u.alloc.buffer = buffer(c, n->u.alloc.buffer);
        break;
    case HONE_NODE_TOP:
    case HONE_NODE_INIT:
    case HONE_NODE_ELSE:
    case HONE_NODE_BREAK:
    case HONE_NODE_CONTINUE:
        break;
    }
}

static void copy_buffer(copier *c, hone_buffer_info *b) {
    b->name = text(c, b->name);
    b->scope = text(c, b->scope);
    b->shape = exprs(c, b->shape, b->rank);
    b->strides = exprs(c, b->strides, b->rank);
    b->elem_offset = expr(c, b->elem_offset);
    b->annotations = copy_attrs(c, b->annotations);
    b->data = var(c, b->data);
    b->matched_handle = var(c, b->matched_handle);
    b->alias_of = buffer(c, b->alias_of);
    if (!b->separators) return;
    int32_t *separators = room(c, b->separator_count * sizeof *separators);
    if (separators) memcpy(separators, b->separators, b->separator_count * sizeof *separators);
    b->separators = separators;
}

static void copy_tables(copier *c, hone_func *copy) {
    for (uint32_t i = 0; i < copy->var_count; i++) {
        copy->vars[i].name = text(c, copy->vars[i].name);
        copy->vars[i].point_scope = text(c, copy->vars[i].point_scope);
    }
    for (uint32_t i = 0; i < copy->buffer_count; i++)
        copy_buffer(c, &copy->buffers[i]);
}

/* What was taken out of the tree may speak of buffers as they were then: it becomes nodes without a
 * payload. */
static void copy_nodes(copier *c, const hone_func *func, hone_func *copy) {
    bool *is_there = room(c, copy->node_count * sizeof *is_there);
    if (!is_there) return;
    memset(is_there, 0, copy->node_count * sizeof *is_there);
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n))
        is_there[n] = true;
    for (uint32_t i = 0; i < copy->node_count && !c->ir.error; i++) {
        if (is_there[i]) {
            copy_payload(c, func, &copy->nodes[i]);
        } else {
            copy->nodes[i] = (hone_node){.kind = HONE_NODE_CONTINUE,
                                         .parent = HONE_NO_ID,
                                         .first = HONE_NO_ID,
                                         .last = HONE_NO_ID,
                                         .next = HONE_NO_ID,
                                         .prev = HONE_NO_ID};
        }
    }
}

static hone_func *copy_with(hone_arena *arena, const hone_func *func, const hone_var *var_map) {
    hone_func *copy = hone_func_clone(arena, func);
    if (!copy) return NULL;
    copier c = {.ir = {.arena = arena}, .var_map = var_map};
    hone_param *params = room(&c, func->param_count * sizeof *params);
    for (uint32_t i = 0; params && i < func->param_count; i++) {
        params[i] = (hone_param){var(&c, func->params[i].var), func->params[i].buffer};
    }
    copy->params = params;
    copy->name = text(&c, func->name);
    copy->attrs = copy_attrs(&c, func->attrs);
    copy_tables(&c, copy);
    for (uint32_t i = 0; i < func->var_count && var_map; i++) {
        hone_var_info info = func->vars[i];
        info.name = text(&c, info.name);
        info.point_scope = text(&c, info.point_scope);
        copy->vars[var_map[i]] = info;
    }
    copy_nodes(&c, func, copy);
    hone_status st = hone_ir_finish(&c.ir);
    if (!st) return copy;
    hone_status_free(st);
    return NULL;
}

hone_func *hone_func_copy_deep(hone_arena *arena, const hone_func *func) {
    return copy_with(arena, func, NULL);
}

/* ---- a part of one function into another ---- */

static hone_node_id import_node(copier *c, hone_func *to, const hone_func *from,
                                hone_node_id node) {
    hone_node_id copy = hone_func_add_node(to, (hone_node_kind)hone_func_node(from, node)->kind);
    if (copy == HONE_NO_ID) return HONE_NO_ID;
    hone_node *n = hone_func_node(to, copy);
    *n = *hone_func_node(from, node);
    n->parent = n->first = n->last = n->prev = n->next = HONE_NO_ID;
    copy_payload(c, from, n);
    for (hone_node_id child = hone_func_node(from, node)->first; child != HONE_NO_ID;
         child = hone_func_node(from, child)->next) {
        hone_node_id inner = import_node(c, to, from, child);
        if (inner == HONE_NO_ID) return HONE_NO_ID;
        hone_tree_append(to, copy, inner);
    }
    return copy;
}

static bool import_tables(copier *c, hone_func *to, const hone_func *from, hone_var *var_map,
                          hone_buffer *buffer_map) {
    for (uint32_t i = 0; i < from->var_count; i++) {
        var_map[i] = hone_func_add_var(to, from->vars[i].name, from->vars[i].dtype);
        if (var_map[i] == HONE_NO_ID) return false;
        hone_var_info *info = &to->vars[var_map[i]];
        info->is_size = from->vars[i].is_size;
        info->is_index = from->vars[i].is_index;
        info->pointee = from->vars[i].pointee;
        info->point_scope = text(c, from->vars[i].point_scope);
    }
    for (uint32_t i = 0; i < from->buffer_count; i++)
        buffer_map[i] = to->buffer_count + i;
    for (uint32_t i = 0; i < from->buffer_count; i++) {
        hone_buffer_info info = from->buffers[i];
        copy_buffer(c, &info);
        info.stands_before = 0; /* its nodes get other numbers */
        if (hone_func_add_buffer(to, &info) == HONE_NO_ID) return false;
    }
    return true;
}

hone_status hone_tree_import(hone_func *func, const hone_func *from, hone_node_id node,
                             const hone_buffer **out_buffers, hone_node_id *out_node) {
    copier c = {.ir = {.arena = func->arena}};
    hone_var *var_map = room(&c, from->var_count * sizeof *var_map);
    hone_buffer *buffer_map = room(&c, from->buffer_count * sizeof *buffer_map);
    c.var_map = var_map;
    c.buffer_map = buffer_map;
    *out_node = HONE_NO_ID;
    if (var_map && buffer_map && import_tables(&c, func, from, var_map, buffer_map)) {
        *out_node = import_node(&c, func, from, node);
    }
    *out_buffers = buffer_map;
    HONE_TRY(hone_ir_finish(&c.ir));
    return *out_node == HONE_NO_ID ? HONE_ERROR(HONE_CODE_NO_MEMORY, "copy of a function")
                                   : HONE_OK;
}

/* ---- canonical numbers ---- */

typedef struct numbering {
    hone_var *map; /* HONE_NO_ID = not met yet */
    uint32_t next;
} numbering;

static void number(numbering *n, hone_var v) {
    if (v != HONE_NO_ID && n->map[v] == HONE_NO_ID) n->map[v] = n->next++;
}

static bool number_in_expr(void *ctx, const hone_expr *e) {
    if (e->kind == HONE_EXPR_VAR || e->kind == HONE_EXPR_LET) number(ctx, e->u.var);
    return true;
}

static void number_params(numbering *n, const hone_func *func) {
    for (uint32_t i = 0; i < func->param_count; i++) {
        number(n, func->params[i].var);
        if (func->params[i].buffer == HONE_NO_ID) continue;
        const hone_buffer_info *buffer = hone_func_buffer(func, func->params[i].buffer);
        for (uint32_t d = 0; d < buffer->rank; d++) {
            hone_expr_walk(buffer->shape[d], number_in_expr, n);
        }
    }
}

static void number_tree(numbering *n, const hone_func *func) {
    for (hone_node_id id = 0; id != HONE_NO_ID; id = hone_tree_next(func, 0, id)) {
        const hone_node *node = hone_func_node(func, id);
        if (node->kind == HONE_NODE_FOR) number(n, node->u.loop.var);
        if (node->kind == HONE_NODE_LET) number(n, node->u.let.var);
        if (node->kind != HONE_NODE_BLOCK) continue;
        for (uint32_t i = 0; i < node->u.block.block->axis_count; i++) {
            number(n, node->u.block.block->axes[i].var);
        }
    }
    hone_tree_walk_parts(func, 0, true, number_in_expr, n);
}

hone_func *hone_func_copy_canonical(hone_arena *arena, const hone_func *func) {
    numbering n = {.map = hone_arena_alloc(arena, (func->var_count + 1) * sizeof *n.map)};
    if (!n.map) return NULL;
    for (uint32_t i = 0; i < func->var_count; i++)
        n.map[i] = HONE_NO_ID;
    number_params(&n, func);
    number_tree(&n, func);
    for (uint32_t i = 0; i < func->var_count; i++)
        number(&n, i);
    return copy_with(arena, func, n.map);
}
