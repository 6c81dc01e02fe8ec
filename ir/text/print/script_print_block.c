/* ir/text/print/script_print_block.c - blocks and buffers as text, in the order that TVM prints
 * their parts: axes, predicate, regions, attributes, allocations, matches, init, body. */
#include <string.h>

#include "ir/text/print/script_print_impl.h"

/* ---- buffers ---- */

static bool has_implied_offset(const printer *pr, const hone_buffer_info *info) {
    const hone_expr *e = info->elem_offset;
    return e && e->kind == HONE_EXPR_VAR && pr->offset_of && e->u.var < pr->func->var_count &&
           pr->offset_of[e->u.var] != HONE_NO_ID;
}

static void print_shape(printer *pr, const hone_buffer_info *info) {
    if (!pr->in_parameters) {
        print_tuple(pr, info->rank, info->shape);
        return;
    }
    hone_str_append_char(pr->out, '(');
    for (uint32_t i = 0; i < info->rank; i++) {
        const char *quote = pr->is_quoted[i] ? "\"" : "";
        hone_str_printf(pr->out, "%s%s", i ? ", " : "", quote);
        print_expr(pr, info->shape[i]);
        hone_str_append(pr->out, quote);
    }
    hone_str_append(pr->out, info->rank == 1 ? ",)" : ")");
}

void print_buffer_call(printer *pr, const char *fn, const char *first, hone_buffer buffer,
                       bool always_dtype) {
    const hone_buffer_info *info = hone_func_buffer(pr->func, buffer);
    hone_str_printf(pr->out, "%s(%s", fn, first);
    print_shape(pr, info);
    if (always_dtype || !hone_dtype_equal(info->dtype, HONE_DTYPE_F32)) {
        hone_str_append(pr->out, ", ");
        print_dtype(pr, info->dtype);
    }
    if (info->alias_of != HONE_NO_ID) {
        hone_str_printf(pr->out, ", data=%s.data", printer_buffer(pr, info->alias_of));
    } else if (info->data != HONE_NO_ID && pr->var_names && pr->var_names[info->data]) {
        hone_str_printf(pr->out, ", data=%s", printer_var(pr, info->data));
    }
    if (info->strides) {
        hone_str_append(pr->out, ", strides=");
        print_tuple(pr, info->rank, info->strides);
    }
    const hone_expr *offset = info->elem_offset;
    bool is_zero = offset && hone_expr_is_int_value(offset, 0) && info->offset_factor == 0 &&
                   hone_dtype_equal(offset->dtype, HONE_DTYPE_I32);
    if (offset && !is_zero && !has_implied_offset(pr, info)) {
        hone_str_append(pr->out, ", elem_offset=");
        print_expr(pr, offset);
    }
    if (info->scope && info->scope[0] && strcmp(info->scope, "global") != 0) {
        hone_str_append(pr->out, ", scope=");
        print_quoted(pr, info->scope);
    }
    if (info->align > 0 && info->align != 64) hone_str_printf(pr->out, ", align=%d", info->align);
    if (info->offset_factor > 0)
        hone_str_printf(pr->out, ", offset_factor=%d", info->offset_factor);
    if (info->separator_count) {
        hone_str_append(pr->out, ", axis_separators=[");
        for (uint32_t i = 0; i < info->separator_count; i++) {
            hone_str_printf(pr->out, "%s%d", i ? ", " : "", info->separators[i]);
        }
        hone_str_append_char(pr->out, ']');
    }
    bool allocates = strcmp(fn, "T.alloc_buffer") == 0 || strcmp(fn, "T.allocate") == 0;
    if (allocates && info->annotations.count) {
        hone_str_append(pr->out, ", annotations=");
        print_attrs(pr, &info->annotations);
    }
    bool is_flat = info->has_no_layout && !printer_is_classic(pr) && !pr->func->is_scheduled_form;
    if (is_flat) hone_str_append(pr->out, ", layout=None");
    hone_str_append_char(pr->out, ')');
}

static void print_matches(printer *pr, const hone_block *block) {
    for (uint32_t i = 0; i < block->match_count; i++) {
        const hone_match *match = &block->matches[i];
        printer_line_begin(pr);
        hone_str_printf(pr->out, "%s = ", printer_define_buffer(pr, match->buffer));
        hone_str source = {0}, *out = pr->out;
        pr->out = &source;
        print_region(pr, &match->source);
        hone_str_append(&source, ", ");
        pr->out = out;
        bool is_other = !hone_dtype_equal(hone_func_buffer(pr->func, match->buffer)->dtype,
                                          hone_func_buffer(pr->func, match->source.buffer)->dtype);
        print_buffer_call(pr, "T.match_buffer", hone_str_text(&source), match->buffer, is_other);
        pr->out->failed |= source.failed;
        hone_str_deinit(&source);
        printer_line_end(pr);
    }
}

/* ---- axes ---- */

static bool same_value(const hone_expr *a, const hone_expr *b) {
    if (a->kind == HONE_EXPR_INT && b->kind == HONE_EXPR_INT) {
        return a->u.i == b->u.i && hone_dtype_equal(a->dtype, b->dtype);
    }
    return hone_expr_same(a, b);
}

/* Is the axis a loop variable over the whole range of that loop? */
static bool is_remap(const printer *pr, hone_node_id id, uint32_t index) {
    const hone_node *node = hone_func_node(pr->func, id);
    const hone_axis *axis = &node->u.block.block->axes[index];
    const hone_expr *binding = node->u.block.bindings[index];
    if (axis->kind != HONE_AXIS_SPATIAL && axis->kind != HONE_AXIS_REDUCE) return false;
    if (binding->kind != HONE_EXPR_VAR) return false;
    for (hone_node_id at = node->parent; at != HONE_NO_ID;
         at = hone_func_node(pr->func, at)->parent) {
        const hone_node *loop = hone_func_node(pr->func, at);
        if (loop->kind != HONE_NODE_FOR || loop->u.loop.var != binding->u.var) continue;
        return same_value(loop->u.loop.range.min, axis->dom.min) &&
               same_value(loop->u.loop.range.extent, axis->dom.extent);
    }
    return false;
}

static const char *const axis_functions[] = {
    [HONE_AXIS_SPATIAL] = "T.axis.spatial",
    [HONE_AXIS_REDUCE] = "T.axis.reduce",
    [HONE_AXIS_SCAN] = "T.axis.scan",
    [HONE_AXIS_OPAQUE] = "T.axis.opaque",
};

static void print_axis(printer *pr, const hone_node *node, uint32_t index) {
    const hone_axis *axis = &node->u.block.block->axes[index];
    printer_line_begin(pr);
    hone_str_printf(pr->out, "%s = %s(", printer_define_var(pr, axis->var),
                    axis_functions[axis->kind]);
    if (hone_expr_is_int_value(axis->dom.min, 0)) {
        print_expr(pr, axis->dom.extent);
    } else {
        hone_str_append_char(pr->out, '(');
        print_expr(pr, axis->dom.min);
        hone_str_append(pr->out, ", ");
        print_expr(pr, print_range_end(pr, &axis->dom));
        hone_str_append_char(pr->out, ')');
    }
    hone_str_append(pr->out, ", ");
    print_expr(pr, node->u.block.bindings[index]);
    hone_str_append_char(pr->out, ')');
    printer_line_end(pr);
}

static void print_remap(printer *pr, const hone_node *node, uint32_t begin, uint32_t end) {
    const hone_block *block = node->u.block.block;
    printer_line_begin(pr);
    for (uint32_t i = begin; i < end; i++) {
        const char *name = printer_define_var(pr, block->axes[i].var);
        hone_str_printf(pr->out, "%s%s", i > begin ? ", " : "", name);
    }
    hone_str_append(pr->out, " = T.axis.remap(\"");
    for (uint32_t i = begin; i < end; i++) {
        hone_str_append_char(pr->out, block->axes[i].kind == HONE_AXIS_REDUCE ? 'R' : 'S');
    }
    hone_str_append(pr->out, "\", [");
    print_exprs(pr, end - begin, node->u.block.bindings + begin);
    hone_str_append(pr->out, "])");
    printer_line_end(pr);
}

static void print_axes(printer *pr, hone_node_id id) {
    const hone_node *node = hone_func_node(pr->func, id);
    uint32_t count = node->u.block.block->axis_count;
    for (uint32_t i = 0; i < count;) {
        uint32_t end = i;
        while (end < count && is_remap(pr, id, end))
            end++;
        if (end - i > 1) {
            print_remap(pr, node, i, end);
        } else {
            print_axis(pr, node, i);
            end = i + 1;
        }
        i = end;
    }
}

/* ---- blocks ---- */

static void print_regions(printer *pr, const char *fn, uint32_t count, const hone_region *regions) {
    printer_line_begin(pr);
    hone_str_printf(pr->out, "%s(", fn);
    for (uint32_t i = 0; i < count; i++) {
        if (i) hone_str_append(pr->out, ", ");
        print_region(pr, &regions[i]);
    }
    hone_str_append_char(pr->out, ')');
    printer_line_end(pr);
}

static bool is_root_name(const char *name) {
    return !name || !*name || strcmp(name, "root") == 0;
}

/* A view that the attributes name is declared before them. */
static hone_node_id print_leading_views(printer *pr, hone_node_id first, const hone_attrs *attrs) {
    bool any = false;
    for (uint32_t i = 0; i < attrs->count; i++) {
        const hone_value *v = &attrs->items[i].value;
        any |= v->kind == HONE_VALUE_EXPR || v->kind == HONE_VALUE_LIST;
    }
    while (any && first != HONE_NO_ID) {
        const hone_node *node = hone_func_node(pr->func, first);
        if (node->kind != HONE_NODE_DECL || node->next != HONE_NO_ID) break;
        print_holder_head(pr, first, true);
        first = node->first;
    }
    return first;
}

static void print_block_body(printer *pr, hone_node_id id, bool is_root) {
    const hone_node *node = hone_func_node(pr->func, id);
    const hone_block *block = node->u.block.block;
    const hone_expr *predicate = node->u.block.predicate;
    print_axes(pr, id);
    if (predicate && !hone_expr_is_int_value(predicate, 1)) {
        printer_line_begin(pr);
        hone_str_append(pr->out, "T.where(");
        print_expr(pr, predicate);
        hone_str_append_char(pr->out, ')');
        printer_line_end(pr);
    }
    bool allocs_first = print_has_allocs_first(pr, block);
    if (allocs_first) print_block_allocs(pr, block);
    /* the root block has no regions unless they are written */
    if (!is_root || block->read_count || block->write_count || !is_root_name(block->name)) {
        print_regions(pr, "T.reads", block->read_count, block->reads);
        print_regions(pr, "T.writes", block->write_count, block->writes);
    }
    hone_node_id init = hone_block_init_of(pr->func, id);
    hone_node_id body =
        print_leading_views(pr, hone_block_body_of(pr->func, id), &block->annotations);
    if (block->annotations.count) {
        printer_line_begin(pr);
        hone_str_append(pr->out, printer_is_classic(pr) ? "T.block_attr(" : "T.sblock_attr(");
        print_attrs(pr, &block->annotations);
        hone_str_append_char(pr->out, ')');
        printer_line_end(pr);
    }
    if (!allocs_first) print_block_allocs(pr, block);
    print_matches(pr, block);
    if (init != HONE_NO_ID) print_init(pr, init);
    print_block_statements(pr, block, body);
}

static void print_whole_block(printer *pr, hone_node_id id, bool is_root) {
    const hone_block *block = hone_func_node(pr->func, id)->u.block.block;
    uint32_t scope = printer_scope_begin(pr);
    size_t start = pr->out->length;
    printer_line_begin(pr);
    hone_str_append(pr->out, printer_is_classic(pr) ? "with T.block(" : "with T.sblock(");
    print_quoted(pr, block->name);
    hone_str_append(pr->out, "):");
    printer_line_end(pr);
    printer_mark(pr, id, start);
    uint32_t lines = pr->lines;
    pr->indent++;
    print_block_body(pr, id, is_root);
    if (pr->lines == lines) printer_line(pr, "pass");
    pr->indent--;
    printer_scope_end(pr, scope);
}

void print_block_statement(printer *pr, hone_node_id id) {
    print_whole_block(pr, id, false);
}

/* ---- the root block ---- */

static bool holds_block(const hone_func *func, hone_node_id root) {
    for (hone_node_id id = hone_tree_next(func, root, root); id != HONE_NO_ID;
         id = hone_tree_next(func, root, id)) {
        if (hone_func_node(func, id)->kind == HONE_NODE_BLOCK) return true;
    }
    return false;
}

/* Would reading make this root block again if it were left out? */
static bool is_implied_root(const printer *pr, hone_node_id id) {
    const hone_node *node = hone_func_node(pr->func, id);
    const hone_block *block = node->u.block.block;
    if (id == pr->options.mark) return false;
    if (!is_root_name(block->name)) return false;
    if (block->axis_count || block->read_count || block->write_count || block->match_count ||
        block->annotations.count || node->u.block.predicate) {
        return false;
    }
    if (hone_block_init_of(pr->func, id) != HONE_NO_ID) return false;
    if (!holds_block(pr->func, id) && (printer_is_classic(pr) || block->is_written)) return false;
    if (block->alloc_count || node->first == HONE_NO_ID) return true;
    const hone_node *child = hone_func_node(pr->func, node->first);
    bool plain = child->kind == HONE_NODE_BLOCK && child->next == HONE_NO_ID &&
                 child->u.block.block->axis_count == 0 && !child->u.block.predicate;
    return !plain;
}

void print_root_block(printer *pr, hone_node_id id) {
    if (!is_implied_root(pr, id)) {
        print_whole_block(pr, id, true);
        return;
    }
    printer_line(pr, printer_is_classic(pr) ? "# with T.block(\"root\"):"
                                            : "# with T.sblock(\"root\"):");
    print_block_body(pr, id, true);
}
