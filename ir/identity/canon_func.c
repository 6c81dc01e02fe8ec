/* ir/identity/canon_func.c - the canonical serialisation of tensor programs. */
#include <string.h>

#include "ir/identity/canon_impl.h"
#include "ir/identity/structural.h"

/* ---- letters: part of the stored form, never change or reuse one ---- */

static const char op_letters[HONE_OP_COUNT] = {
    [HONE_OP_ADD] = '+',      [HONE_OP_SUB] = '-',      [HONE_OP_MUL] = '*',
    [HONE_OP_DIV] = '/',      [HONE_OP_FLOORDIV] = 'q', [HONE_OP_FLOORMOD] = 'm',
    [HONE_OP_TRUNCDIV] = 'Q', [HONE_OP_TRUNCMOD] = 'M', [HONE_OP_MIN] = 'i',
    [HONE_OP_MAX] = 'a',      [HONE_OP_EQ] = '=',       [HONE_OP_NE] = 'n',
    [HONE_OP_LT] = '<',       [HONE_OP_LE] = '{',       [HONE_OP_GT] = '>',
    [HONE_OP_GE] = '}',       [HONE_OP_AND] = '&',      [HONE_OP_OR] = '|',
};

static char axis_letter(hone_axis_kind kind) {
    switch (kind) {
    case HONE_AXIS_SPATIAL:
        return 's';
    case HONE_AXIS_REDUCE:
        return 'r';
    case HONE_AXIS_SCAN:
        return 'n';
    case HONE_AXIS_OPAQUE:
        return 'o';
    }
    return '?';
}

static char loop_letter(hone_loop_kind kind) {
    switch (kind) {
    case HONE_LOOP_SERIAL:
        return 's';
    case HONE_LOOP_PARALLEL:
        return 'p';
    case HONE_LOOP_VECTORIZED:
        return 'v';
    case HONE_LOOP_UNROLLED:
        return 'u';
    case HONE_LOOP_THREAD:
        return 't';
    }
    return '?';
}

/* ---- variables and buffers ---- */

void canon_var_definition(canon *c, hone_var var, hone_dtype dtype) {
    assert(var < c->var_count);
    if (c->var_numbers[var] == 0) c->var_numbers[var] = c->next_var++;
    canon_uint(c, c->var_numbers[var]);
    canon_dtype(c, dtype);
}

static void write_buffer(canon *c, hone_buffer buffer);

/* The storage that a handle variable names, or HONE_NO_ID. */
static hone_buffer buffer_of_data(const canon *c, hone_var var) {
    for (uint32_t b = 0; c->func && b < c->func->buffer_count; b++) {
        const hone_buffer_info *info = &c->func->buffers[b];
        if (info->data == var && info->alias_of == HONE_NO_ID) return b;
    }
    return HONE_NO_ID;
}

static void write_var(canon *c, hone_var var, hone_dtype dtype) {
    if (var >= c->var_count) { /* ill-formed: no such variable */
        canon_byte(c, 'z');
        return;
    }
    if (c->var_numbers[var] == 0 && hone_dtype_is_handle(dtype)) {
        hone_buffer buffer = buffer_of_data(c, var);
        if (buffer != HONE_NO_ID) {
            canon_byte(c, 'h');
            write_buffer(c, buffer);
            return;
        }
    }
    canon_byte(c, 'v');
    if (c->var_numbers[var]) {
        canon_uint(c, c->var_numbers[var]);
    } else {
        c->var_numbers[var] = c->next_var++;
        canon_uint(c, 0);
        canon_dtype(c, dtype);
    }
}

static void write_exprs(canon *c, const char *what, uint32_t count, const hone_expr *const *exprs) {
    canon_uint(c, count);
    for (uint32_t i = 0; i < count; i++)
        canon_expr(c, what, exprs[i]);
}

static void write_buffer_definition(canon *c, const hone_buffer_info *info) {
    bool has_offset = info->elem_offset && !hone_expr_is_int_value(info->elem_offset, 0);
    canon_marked_dtype(c, "dtype of the buffer", info->dtype);
    canon_mark_count(c, "number of dimensions", info->rank);
    write_exprs(c, "extent of the buffer", info->rank, info->shape);
    canon_byte(c, info->strides ? 's' : 'd');
    if (info->strides) write_exprs(c, "stride", info->rank, info->strides);
    canon_byte(c, has_offset ? 'o' : 'z');
    if (has_offset) canon_expr(c, "elem_offset", info->elem_offset);
    const char *scope = info->scope && info->scope[0] ? info->scope : "global";
    canon_mark_at(c, "scope", NULL, scope);
    canon_string(c, scope);
    canon_mark_at(c, "alignment", NULL, NULL);
    canon_int(c, info->align > 0 ? info->align : 64);
    canon_int(c, info->offset_factor > 1 ? info->offset_factor : 1);
    canon_mark_at(c, "axis separators", NULL, NULL);
    canon_uint(c, info->separator_count);
    for (uint32_t i = 0; i < info->separator_count; i++)
        canon_int(c, info->separators[i]);
    if (info->annotations.count) canon_attrs(c, &info->annotations);
    canon_mark_at(c, "storage", NULL, NULL);
    canon_byte(c, info->alias_of != HONE_NO_ID ? 'A' : 'O');
    if (info->alias_of != HONE_NO_ID) write_buffer(c, info->alias_of);
}

static void write_buffer(canon *c, hone_buffer buffer) {
    if (!c->func || buffer >= c->func->buffer_count) {
        canon_byte(c, 'z');
        return;
    }
    const hone_buffer_info *info = &c->func->buffers[buffer];
    canon_mark_at(c, "buffer", NULL, info->name);
    if (c->buffer_numbers[buffer]) {
        canon_uint(c, c->buffer_numbers[buffer]);
        return;
    }
    c->buffer_numbers[buffer] = c->next_buffer++;
    canon_uint(c, 0);
    write_buffer_definition(c, info);
}

/* ---- expressions ---- */

static void write_expr(canon *c, const hone_expr *e);

static void write_args(canon *c, const hone_expr *e) {
    for (uint32_t i = 0; i < e->count; i++)
        write_expr(c, e->args[i]);
}

static void write_constant(canon *c, const hone_expr *e) {
    uint8_t bytes[8];
    uint64_t bits;
    canon_byte(c, e->kind == HONE_EXPR_INT ? '0' : '.');
    canon_dtype(c, e->dtype);
    if (e->kind == HONE_EXPR_INT) {
        if (!c->leaves_numbers) canon_int(c, e->u.i);
        return;
    }
    memcpy(&bits, &e->u.f, sizeof bits);
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(bits >> (8 * i));
    canon_bytes(c, bytes, sizeof bytes);
}

static void write_call(canon *c, const hone_expr *e) {
    canon_byte(c, 'f');
    canon_string(c, hone_intrin_spelling((hone_intrin)e->op));
    canon_dtype(c, e->dtype);
    canon_uint(c, e->count);
    write_args(c, e);
}

static void write_expr(canon *c, const hone_expr *e) {
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_INT:
    case HONE_EXPR_FLOAT:
        write_constant(c, e);
        return;
    case HONE_EXPR_STRING:
        canon_byte(c, '"');
        canon_string(c, e->u.s);
        return;
    case HONE_EXPR_VAR:
        write_var(c, e->u.var, e->dtype);
        return;
    case HONE_EXPR_BINARY:
        canon_byte(c, (uint8_t)op_letters[e->op]);
        break;
    case HONE_EXPR_NOT:
        canon_byte(c, '!');
        break;
    case HONE_EXPR_SELECT:
        canon_byte(c, '?');
        break;
    case HONE_EXPR_CAST:
        canon_byte(c, 'c');
        canon_dtype(c, e->dtype);
        break;
    case HONE_EXPR_LOAD:
        canon_byte(c, 'L');
        write_buffer(c, e->u.buffer);
        canon_uint(c, e->count);
        break;
    case HONE_EXPR_CALL:
        write_call(c, e);
        return;
    case HONE_EXPR_RAMP:
    case HONE_EXPR_BROADCAST:
        canon_byte(c, e->kind == HONE_EXPR_RAMP ? 'r' : 'b');
        canon_uint(c, e->dtype.lanes);
        break;
    case HONE_EXPR_SHUFFLE:
        canon_byte(c, 's');
        canon_dtype(c, e->dtype);
        canon_uint(c, e->count);
        canon_int(c, e->u.i);
        break;
    case HONE_EXPR_LET:
        canon_byte(c, 'l');
        write_expr(c, e->args[0]);
        canon_var_definition(c, e->u.var, e->args[0]->dtype);
        write_expr(c, e->args[1]);
        return;
    }
    write_args(c, e);
}

void canon_expr(canon *c, const char *what, const hone_expr *e) {
    canon_mark_at(c, what, e, NULL);
    if (e)
        write_expr(c, e);
    else
        canon_byte(c, 'N');
}

/* ---- statements ---- */

static void write_range(canon *c, const char *begin, const char *extent, const hone_range *range) {
    canon_expr(c, begin, range->min);
    canon_expr(c, extent, range->extent);
}

static void write_region(canon *c, const hone_region *region) {
    uint32_t rank =
        region->buffer < c->func->buffer_count ? c->func->buffers[region->buffer].rank : 0;
    write_buffer(c, region->buffer);
    for (uint32_t d = 0; d < rank; d++) {
        write_range(c, "begin of a region", "extent of a region", &region->ranges[d]);
    }
}

static void write_regions(canon *c, const char *what, uint32_t count, const hone_region *regions) {
    canon_count(c, what, count);
    for (uint32_t i = 0; i < count; i++)
        write_region(c, &regions[i]);
}

static void write_loop(canon *c, const hone_node *node) {
    canon_mark_at(c, "loop kind", NULL, NULL);
    canon_byte(c, 'F');
    canon_byte(c, (uint8_t)loop_letter((hone_loop_kind)node->loop_kind));
    if (node->loop_kind == HONE_LOOP_THREAD) {
        canon_mark_at(c, "thread", NULL, node->u.loop.thread_tag);
        canon_string(c, node->u.loop.thread_tag);
    }
    write_range(c, "begin of the loop", "extent of the loop", &node->u.loop.range);
    canon_mark_at(c, "loop variable", NULL, NULL);
    canon_var_definition(c, node->u.loop.var, c->func->vars[node->u.loop.var].dtype);
    canon_attrs(c, &node->u.loop.annotations);
}

static void write_axes(canon *c, const hone_node *node) {
    const hone_block *block = node->u.block.block;
    canon_mark_count(c, "number of axes", block->axis_count);
    canon_byte(c, 'K');
    canon_uint(c, block->axis_count);
    for (uint32_t i = 0; i < block->axis_count; i++) {
        const hone_axis *axis = &block->axes[i];
        canon_expr(c, "binding of an axis", node->u.block.bindings[i]);
        canon_mark_at(c, "kind of an axis", NULL, NULL);
        canon_byte(c, (uint8_t)axis_letter(axis->kind));
        write_range(c, "begin of an axis", "extent of an axis", &axis->dom);
    }
    for (uint32_t i = 0; i < block->axis_count; i++) {
        canon_var_definition(c, block->axes[i].var, c->func->vars[block->axes[i].var].dtype);
    }
}

static void write_block(canon *c, const hone_node *node) {
    const hone_block *block = node->u.block.block;
    const hone_expr *predicate = node->u.block.predicate;
    write_axes(c, node);
    if (predicate && hone_expr_is_int_value(predicate, 1)) predicate = NULL;
    canon_expr(c, "predicate", predicate);
    canon_count(c, "number of allocated buffers", block->alloc_count);
    for (uint32_t i = 0; i < block->alloc_count; i++)
        write_buffer(c, block->allocs[i]);
    canon_count(c, "number of matched buffers", block->match_count);
    for (uint32_t i = 0; i < block->match_count; i++) {
        write_buffer(c, block->matches[i].buffer);
        write_region(c, &block->matches[i].source);
    }
    write_regions(c, "number of reads", block->read_count, block->reads);
    write_regions(c, "number of writes", block->write_count, block->writes);
    canon_attrs(c, &block->annotations);
}

static void write_attr(canon *c, const hone_node *node) {
    hone_attr attr = {.key = node->u.attr.key, .value = node->u.attr.node};
    hone_attrs attrs = {1, &attr};
    canon_mark_at(c, "statement", NULL, NULL);
    canon_byte(c, 'A');
    canon_attrs(c, &attrs);
    canon_expr(c, "value of the attribute", node->u.attr.value);
}

static void write_store(canon *c, const hone_node *node) {
    canon_mark_at(c, "statement", NULL, NULL);
    canon_byte(c, 'S');
    write_buffer(c, node->u.store.buffer);
    write_exprs(c, "index of the store", node->u.store.rank, node->u.store.indices);
    canon_expr(c, "stored value", node->u.store.value);
}

static void write_letter(canon *c, char letter) {
    canon_mark_at(c, "statement", NULL, NULL);
    canon_byte(c, (uint8_t)letter);
}

static void write_node(canon *c, hone_node_id id) {
    const hone_node *node = hone_func_node(c->func, id);
    c->node = id;
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_TOP:
        write_letter(c, 'T');
        break;
    case HONE_NODE_FOR:
        write_loop(c, node);
        break;
    case HONE_NODE_BLOCK:
        write_block(c, node);
        break;
    case HONE_NODE_INIT:
        write_letter(c, 'I');
        break;
    case HONE_NODE_IF:
        write_letter(c, 'C');
        canon_expr(c, "condition", node->u.eval.value);
        break;
    case HONE_NODE_ELSE:
        write_letter(c, 'E');
        break;
    case HONE_NODE_WHILE:
        write_letter(c, 'W');
        canon_expr(c, "condition", node->u.eval.value);
        break;
    case HONE_NODE_LET:
        write_letter(c, 'V');
        canon_expr(c, "value", node->u.let.value);
        canon_var_definition(c, node->u.let.var, c->func->vars[node->u.let.var].dtype);
        break;
    case HONE_NODE_ATTR:
        write_attr(c, node);
        break;
    case HONE_NODE_ALLOC:
    case HONE_NODE_DECL:
        write_letter(c, node->kind == HONE_NODE_ALLOC ? 'B' : 'D');
        write_buffer(c, node->u.alloc.buffer);
        break;
    case HONE_NODE_STORE:
        write_store(c, node);
        break;
    case HONE_NODE_EVAL:
        write_letter(c, 'X');
        canon_expr(c, "call", node->u.eval.value);
        break;
    case HONE_NODE_ASSERT:
        write_letter(c, 'Q');
        canon_expr(c, "condition", node->u.eval.value);
        canon_string(c, node->u.eval.message);
        if (node->u.eval.error_kind) canon_string(c, node->u.eval.error_kind);
        break;
    case HONE_NODE_BREAK:
        write_letter(c, 'k');
        break;
    case HONE_NODE_CONTINUE:
        write_letter(c, 'n');
        break;
    }
}

/* Pre-order; every node ends with 'e' after its children. */
static void write_tree(canon *c) {
    hone_node_id id = 0;
    for (;;) {
        write_node(c, id);
        hone_node_id next = hone_func_node(c->func, id)->first;
        while (next == HONE_NO_ID) {
            c->node = id;
            canon_mark_at(c, "end of the statement", NULL, NULL);
            canon_byte(c, 'e');
            if (id == 0) return;
            next = hone_func_node(c->func, id)->next;
            if (next == HONE_NO_ID)
                id = hone_func_node(c->func, id)->parent;
            else
                break;
        }
        id = next;
    }
}

static void write_params(canon *c) {
    canon_count(c, "number of parameters", c->func->param_count);
    for (uint32_t i = 0; i < c->func->param_count; i++) {
        const hone_param *param = &c->func->params[i];
        canon_mark_at(c, "parameter", NULL, NULL);
        if (param->buffer != HONE_NO_ID) {
            canon_byte(c, 'b');
            write_buffer(c, param->buffer);
        } else {
            canon_byte(c, 's');
            canon_var_definition(c, param->var, c->func->vars[param->var].dtype);
        }
    }
}

void canon_write_func(canon *c, const hone_func *func) {
    c->func = func;
    c->graph = NULL;
    if (!canon_number_tables(c, func->var_count, func->buffer_count)) return;
    c->node = HONE_NO_ID;
    canon_uint(c, HONE_STRUCTURAL_VERSION);
    canon_byte(c, hone_dtype_is_void(func->result) ? 'P' : 'Q');
    if (!hone_dtype_is_void(func->result)) canon_dtype(c, func->result);
    write_params(c);
    canon_func_attrs(c, &func->attrs);
    write_tree(c);
}
