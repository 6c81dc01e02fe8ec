/* ir/text/print/script_print_stmt.c - loops, branches and leaves as text.
 *
 * A statement that holds what follows it (LET, ATTR, ALLOC, DECL) is printed without a suite where
 * it is the last of its suite, because then reading puts the rest inside it again.
 */
#include <string.h>

#include "ir/text/print/script_print_impl.h"
#include "ir/text/script_fold.h"

/* ---- loops ---- */

static bool joins_grid(const printer *pr, hone_node_id id, hone_node_id first) {
    const hone_node *node = hone_func_node(pr->func, id);
    if (node->kind != HONE_NODE_FOR || node->loop_kind != HONE_LOOP_SERIAL) return false;
    if (!hone_expr_is_int_value(node->u.loop.range.min, 0) || node->u.loop.annotations.count)
        return false;
    if (id == pr->options.mark) return false;
    for (hone_node_id outer = first; outer != id; outer = hone_func_node(pr->func, outer)->first) {
        hone_var var = hone_func_node(pr->func, outer)->u.loop.var;
        if (hone_expr_uses_var(node->u.loop.range.extent, var)) return false;
    }
    return true;
}

/* The innermost loop that one T.grid may hold, starting with first. */
static hone_node_id grid_end(const printer *pr, hone_node_id first) {
    hone_node_id last = first;
    if (!joins_grid(pr, first, first)) return last;
    for (uint32_t count = 1; count < SCRIPT_MAX_GRID; count++) {
        hone_node_id child = hone_func_node(pr->func, last)->first;
        bool alone = child != HONE_NO_ID && hone_func_node(pr->func, child)->next == HONE_NO_ID;
        if (!alone || !joins_grid(pr, child, first)) return last;
        last = child;
    }
    return last;
}

static void print_grid(printer *pr, hone_node_id first, hone_node_id last) {
    hone_str_append(pr->out, "for ");
    for (hone_node_id id = first;; id = hone_func_node(pr->func, id)->first) {
        const char *name = printer_define_var(pr, hone_func_node(pr->func, id)->u.loop.var);
        hone_str_printf(pr->out, "%s%s", id == first ? "" : ", ", name);
        if (id == last) break;
    }
    hone_str_append(pr->out, " in T.grid(");
    for (hone_node_id id = first;; id = hone_func_node(pr->func, id)->first) {
        if (id != first) hone_str_append(pr->out, ", ");
        print_expr(pr, hone_func_node(pr->func, id)->u.loop.range.extent);
        if (id == last) break;
    }
    hone_str_append(pr->out, "):");
}

static const char *loop_function(const hone_node *node) {
    switch ((hone_loop_kind)node->loop_kind) {
    case HONE_LOOP_PARALLEL:
        return "T.parallel";
    case HONE_LOOP_VECTORIZED:
        return "T.vectorized";
    case HONE_LOOP_UNROLLED:
        return "T.unroll";
    case HONE_LOOP_THREAD:
        return "T.thread_binding";
    case HONE_LOOP_SERIAL:
        break;
    }
    return node->u.loop.annotations.count ? "T.serial" : "range";
}

static void print_one_loop(printer *pr, hone_node_id id) {
    const hone_node *node = hone_func_node(pr->func, id);
    const hone_range *range = &node->u.loop.range;
    hone_str_append(pr->out, "for ");
    /* the bounds do not see the variable */
    const char *name = printer_define_var(pr, node->u.loop.var);
    hone_str_printf(pr->out, "%s in %s(", name, loop_function(node));
    if (!hone_expr_is_int_value(range->min, 0)) {
        print_expr(pr, range->min);
        hone_str_append(pr->out, ", ");
    }
    print_expr(pr, print_range_end(pr, range));
    if (node->loop_kind == HONE_LOOP_THREAD) {
        hone_str_append(pr->out, ", thread=");
        print_quoted(pr, node->u.loop.thread_tag);
    }
    if (node->u.loop.annotations.count) {
        hone_str_append(pr->out, ", annotations=");
        print_attrs(pr, &node->u.loop.annotations);
    }
    hone_str_append(pr->out, "):");
}

static void print_suite(printer *pr, hone_node_id first) {
    uint32_t lines = pr->lines;
    pr->indent++;
    print_statements(pr, first);
    if (pr->lines == lines) printer_line(pr, "pass");
    pr->indent--;
}

static void print_for(printer *pr, hone_node_id id) {
    uint32_t scope = printer_scope_begin(pr);
    hone_node_id last = grid_end(pr, id);
    size_t start = pr->out->length;
    printer_line_begin(pr);
    if (last != id) {
        print_grid(pr, id, last);
    } else {
        print_one_loop(pr, id);
    }
    printer_line_end(pr);
    printer_mark(pr, id, start);
    print_suite(pr, hone_func_node(pr->func, last)->first);
    printer_scope_end(pr, scope);
}

/* ---- branches ---- */

static void print_headed(printer *pr, hone_node_id id, const char *word) {
    const hone_node *node = hone_func_node(pr->func, id);
    uint32_t scope = printer_scope_begin(pr);
    size_t start = pr->out->length;
    printer_line_begin(pr);
    hone_str_printf(pr->out, "%s ", word);
    print_expr(pr, node->u.eval.value);
    hone_str_append_char(pr->out, ':');
    printer_line_end(pr);
    printer_mark(pr, id, start);
    uint32_t lines = pr->lines;
    pr->indent++;
    print_statements(pr, node->first);
    if (pr->lines == lines) printer_line(pr, "pass");
    pr->indent--;
    printer_scope_end(pr, scope);
}

static void print_if(printer *pr, hone_node_id id) {
    print_headed(pr, id, "if");
    for (hone_node_id child = hone_func_node(pr->func, id)->first; child != HONE_NO_ID;
         child = hone_func_node(pr->func, child)->next) {
        if (hone_func_node(pr->func, child)->kind != HONE_NODE_ELSE) continue;
        uint32_t scope = printer_scope_begin(pr);
        printer_line(pr, "else:");
        print_suite(pr, hone_func_node(pr->func, child)->first);
        printer_scope_end(pr, scope);
    }
}

/* ---- statements that hold what follows ---- */

/* T.launch_thread: a thread loop around what follows it. */
static bool is_launch(const hone_node *node) {
    return node->kind == HONE_NODE_FOR && node->u.loop.is_launch &&
           node->loop_kind == HONE_LOOP_THREAD && !node->u.loop.annotations.count &&
           hone_expr_is_int_value(node->u.loop.range.min, 0);
}

static void print_launch_head(printer *pr, const hone_node *node, bool concise) {
    hone_str extent = {0}, *out = pr->out;
    pr->out = &extent;
    print_quoted(pr, node->u.loop.thread_tag);
    hone_str_append(pr->out, ", ");
    print_expr(pr, node->u.loop.range.extent); /* which does not see the variable */
    pr->out = out;
    const char *name = printer_define_var(pr, node->u.loop.var);
    const char *text = hone_str_text(&extent);
    if (concise) {
        hone_str_printf(pr->out, "%s = T.launch_thread(%s)", name, text);
    } else {
        hone_str_printf(pr->out, "with T.launch_thread(%s) as %s:", text, name);
    }
    pr->out->failed |= extent.failed;
    hone_str_deinit(&extent);
}

static bool is_holder(const hone_node *node) {
    return node->kind == HONE_NODE_LET || node->kind == HONE_NODE_ATTR ||
           node->kind == HONE_NODE_ALLOC || node->kind == HONE_NODE_DECL || is_launch(node);
}

/* Has T a word for it? Not for bits, 3 or 128 lanes, and vectors of scalable length. */
static bool has_word(hone_dtype dtype) {
    bool is_power = (dtype.lanes & (dtype.lanes - 1)) == 0;
    bool is_one = dtype.lanes <= 1;
    if (hone_dtype_is_scalable(dtype) || dtype.lanes > 64 || !is_power) return false;
    if (hone_dtype_is_bool(dtype) ||
        hone_dtype_equal(hone_dtype_with_lanes(dtype, 1), HONE_DTYPE_BF16))
        return is_one;
    return dtype.bits >= 8 || hone_dtype_is_float(dtype) || hone_dtype_is_void(dtype) ||
           hone_dtype_is_handle(dtype);
}

static void print_let_head(printer *pr, const hone_node *node, bool concise) {
    if (concise) {
        hone_str text = {0}, *out = pr->out;
        const hone_var_info *info = &pr->func->vars[node->u.let.var];
        bool is_pointer = info->point_scope && node->u.let.value->kind == HONE_EXPR_CALL;
        pr->out = &text;
        pr->pointer = is_pointer ? info : NULL;
        print_expr(pr, node->u.let.value); /* which does not see the variable */
        pr->out = out;
        const char *name = printer_define_var(pr, node->u.let.var);
        const bool is_classic = printer_is_classic(pr);
        const bool says_type = is_classic || has_word(info->dtype);
        hone_str_printf(pr->out, "%s: %s", name, is_classic ? "" : says_type ? "T.let[" : "T.let");
        if (says_type) print_var_type(pr, node->u.let.var);
        hone_str_printf(pr->out, "%s = %s", says_type && !is_classic ? "]" : "",
                        hone_str_text(&text));
        pr->out->failed |= text.failed;
        hone_str_deinit(&text);
        return;
    }
    hone_str_append(pr->out, "with T.LetStmt(");
    print_expr(pr, node->u.let.value);
    if (pr->func->vars[node->u.let.var].point_scope) {
        hone_str_append(pr->out, ", ");
        print_var_type(pr, node->u.let.var);
    }
    hone_str_printf(pr->out, ") as %s:", printer_define_var(pr, node->u.let.var));
}

static void print_attr_head(printer *pr, const hone_node *node, bool concise) {
    hone_str_append(pr->out, concise ? "T.attr(" : "with T.attr(");
    print_value(pr, &node->u.attr.node);
    hone_str_append(pr->out, ", ");
    print_quoted(pr, node->u.attr.key);
    hone_str_append(pr->out, ", ");
    print_expr(pr, node->u.attr.value);
    hone_str_append(pr->out, concise ? ")" : "):");
}

/* ---- scalars: x: T.int32 ---- */

bool print_loads(const hone_expr *e, hone_buffer buffer) {
    if (e->kind == HONE_EXPR_LOAD && e->u.buffer == buffer) return true;
    for (uint32_t i = 0; i < e->count; i++) {
        if (print_loads(e->args[i], buffer)) return true;
    }
    return false;
}

/* The store behind the declaration of a scalar that can stand on its line, or HONE_NO_ID. */
static hone_node_id first_value(const printer *pr, const hone_node *node) {
    bool is_scalar = node->kind == HONE_NODE_ALLOC && pr->as_scalar[node->u.alloc.buffer];
    if (!is_scalar || pr->options.bare || printer_is_classic(pr)) return HONE_NO_ID;
    if (node->first == HONE_NO_ID || node->first == pr->options.mark) return HONE_NO_ID;
    const hone_node *store = hone_func_node(pr->func, node->first);
    bool fits = store->kind == HONE_NODE_STORE && store->u.store.buffer == node->u.alloc.buffer &&
                store->u.store.rank == 1 && hone_expr_is_int_value(store->u.store.indices[0], 0) &&
                !print_loads(store->u.store.value, store->u.store.buffer);
    return fits ? node->first : HONE_NO_ID;
}

static void print_scalar_head(printer *pr, const hone_node *node) {
    const hone_buffer_info *info = hone_func_buffer(pr->func, node->u.alloc.buffer);
    hone_node_id store = first_value(pr, node);
    hone_str value = {0}, *out = pr->out;
    pr->out = &value;
    if (store != HONE_NO_ID) {
        hone_str_append(pr->out, " = ");
        print_expr(pr, hone_func_node(pr->func, store)->u.store.value);
    }
    pr->out = out;
    const char *name = printer_define_buffer(pr, node->u.alloc.buffer);
    hone_str_printf(pr->out, "%s: T.%s%s", name, HONE_DTYPE_NAME(info->dtype),
                    hone_str_text(&value));
    pr->out->failed |= value.failed;
    hone_str_deinit(&value);
}

/* Spells it with its name alone, as long as that reads back. */
static bool is_plain_scalar(const hone_buffer_info *info) {
    return info->form == HONE_BUFFER_SCALAR && info->rank == 1 &&
           hone_expr_is_int_value(info->shape[0], 1) &&
           hone_dtype_equal(info->shape[0]->dtype, HONE_DTYPE_I32) && info->scope &&
           strcmp(info->scope, "local") == 0 && !info->strides && !info->elem_offset &&
           !info->align && !info->offset_factor && !info->annotations.count &&
           !info->has_no_layout && info->data == HONE_NO_ID && info->alias_of == HONE_NO_ID &&
           !info->separator_count && !hone_dtype_is_handle(info->dtype) &&
           !hone_dtype_is_void(info->dtype);
}

/* ---- views ---- */

static bool same_offset(const hone_expr *a, const hone_expr *b) {
    if (!a || !b) return !a && !b;
    return hone_expr_same(a, b);
}

static bool is_plain_view(const printer *pr, const hone_buffer_info *info) {
    if (info->form != HONE_BUFFER_VIEW || info->alias_of == HONE_NO_ID || !info->rank) return false;
    const hone_buffer_info *base = hone_func_buffer(pr->func, info->alias_of);
    bool strides = !info->strides == !base->strides;
    if (info->strides && strides) {
        strides = info->rank == base->rank;
        for (uint32_t i = 0; i < info->rank && strides; i++)
            strides = hone_expr_same(info->strides[i], base->strides[i]);
    }
    for (uint32_t i = 0; i < info->rank; i++) {
        if (hone_expr_is_int_value(info->shape[i], -1)) return false;
    }
    return strides && hone_dtype_equal(info->dtype, base->dtype) &&
           strcmp(info->scope, base->scope) == 0 && info->align == base->align &&
           info->offset_factor == base->offset_factor && !info->separator_count &&
           same_offset(info->elem_offset, base->elem_offset);
}

static void print_buffer_or_view(printer *pr, const char *fn, hone_buffer buffer, bool alloc) {
    const hone_buffer_info *info = hone_func_buffer(pr->func, buffer);
    if (alloc || !is_plain_view(pr, info)) {
        print_buffer_call(pr, fn, "", buffer,
                          printer_is_classic(pr) && pr->func->is_scheduled_form && alloc);
        return;
    }
    hone_str_printf(pr->out, "%s.view(", printer_buffer(pr, info->alias_of));
    print_exprs(pr, info->rank, info->shape);
    hone_str_append_char(pr->out, ')');
}

static void print_buffer_head(printer *pr, const hone_node *node, bool concise) {
    hone_buffer buffer = node->u.alloc.buffer;
    bool alloc = node->kind == HONE_NODE_ALLOC;
    bool allocate = alloc && pr->func->is_scheduled_form && printer_is_classic(pr);
    const char *fn = !alloc ? "T.decl_buffer" : allocate ? "T.allocate" : "T.alloc_buffer";
    pr->as_scalar[buffer] = alloc && concise && is_plain_scalar(hone_func_buffer(pr->func, buffer));
    if (pr->as_scalar[buffer]) {
        print_scalar_head(pr, node);
        return;
    }
    hone_str call = {0}, *out = pr->out;
    pr->out = &call;
    print_buffer_or_view(pr, fn, buffer, alloc);
    pr->out = out;
    const char *name = printer_define_buffer(pr, buffer);
    if (concise) {
        hone_str_printf(pr->out, "%s = %s", name, hone_str_text(&call));
    } else {
        hone_str_printf(pr->out, "with %s as %s:", hone_str_text(&call), name);
    }
    pr->out->failed |= call.failed;
    hone_str_deinit(&call);
}

void print_holder_head(printer *pr, hone_node_id id, bool concise) {
    const hone_node *node = hone_func_node(pr->func, id);
    size_t start = pr->out->length;
    printer_line_begin(pr);
    if (node->kind == HONE_NODE_FOR) print_launch_head(pr, node, concise);
    if (node->kind == HONE_NODE_LET) print_let_head(pr, node, concise);
    if (node->kind == HONE_NODE_ATTR) print_attr_head(pr, node, concise);
    if (node->kind == HONE_NODE_ALLOC || node->kind == HONE_NODE_DECL) {
        print_buffer_head(pr, node, concise);
    }
    printer_line_end(pr);
    printer_mark(pr, id, start);
}

/* ---- leaves ---- */

static void print_store(printer *pr, const hone_node *node) {
    const hone_expr *load =
        hone_func_load(&pr->ir, pr->func, node->u.store.buffer, node->u.store.indices);
    if (!load) return;
    print_access(pr, load, true);
    hone_str_append(pr->out, " = ");
    print_expr(pr, node->u.store.value);
}

static void print_eval(printer *pr, const hone_expr *e) {
    bool returns = hone_expr_is_call(e, HONE_INTRIN_RETURN) && e->count == 1;
    if (returns && !printer_is_classic(pr)) {
        hone_str_append(pr->out, "return ");
        print_expr(pr, e->args[0]);
        return;
    }
    if (hone_expr_is_effect(e)) {
        print_expr(pr, e);
        return;
    }
    hone_str_append(pr->out, "T.evaluate(");
    print_expr(pr, e);
    hone_str_append_char(pr->out, ')');
}

static void print_message(printer *pr, const hone_node *node) {
    if (!node->u.eval.parts) {
        print_quoted(pr, node->u.eval.message);
        return;
    }
    const char *kind = node->u.eval.error_kind;
    if (kind) {
        hone_str_append_char(pr->out, '(');
        print_quoted(pr, kind);
        hone_str_append(pr->out, ", ");
    }
    print_value(pr, node->u.eval.parts);
    if (kind) hone_str_append_char(pr->out, ')');
}

static void print_leaf(printer *pr, hone_node_id id) {
    const hone_node *node = hone_func_node(pr->func, id);
    size_t start = pr->out->length;
    printer_line_begin(pr);
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_STORE:
        print_store(pr, node);
        break;
    case HONE_NODE_EVAL:
        print_eval(pr, node->u.eval.value);
        break;
    case HONE_NODE_ASSERT:
        hone_str_append(pr->out, "assert ");
        print_expr(pr, node->u.eval.value);
        hone_str_append(pr->out, ", ");
        print_message(pr, node);
        break;
    case HONE_NODE_BREAK:
        hone_str_append(pr->out, "break");
        break;
    default:
        hone_str_append(pr->out, "continue");
        break;
    }
    printer_line_end(pr);
    printer_mark(pr, id, start);
}

void print_init(printer *pr, hone_node_id id) {
    uint32_t scope = printer_scope_begin(pr);
    size_t start = pr->out->length;
    printer_line(pr, "with T.init():");
    printer_mark(pr, id, start);
    print_suite(pr, hone_func_node(pr->func, id)->first);
    printer_scope_end(pr, scope);
}

static void print_statement(printer *pr, hone_node_id id) {
    if (is_holder(hone_func_node(pr->func, id))) {
        uint32_t scope = printer_scope_begin(pr);
        print_holder_head(pr, id, false);
        print_suite(pr, hone_func_node(pr->func, id)->first);
        printer_scope_end(pr, scope);
        return;
    }
    switch ((hone_node_kind)hone_func_node(pr->func, id)->kind) {
    case HONE_NODE_FOR:
        print_for(pr, id);
        return;
    case HONE_NODE_BLOCK:
        print_block_statement(pr, id);
        return;
    case HONE_NODE_INIT:
        print_init(pr, id);
        return;
    case HONE_NODE_IF:
        print_if(pr, id);
        return;
    case HONE_NODE_WHILE:
        print_headed(pr, id, "while");
        return;
    case HONE_NODE_TOP:
    case HONE_NODE_ELSE:
        return; /* printed with its IF */
    default:
        print_leaf(pr, id);
        return;
    }
}

void print_statements_with(printer *pr, hone_node_id first, print_allocs *allocs) {
    hone_node_id id = first;
    while (id != HONE_NO_ID) {
        const hone_node *node = hone_func_node(pr->func, id);
        bool is_last = node->next == HONE_NO_ID ||
                       hone_func_node(pr->func, node->next)->kind == HONE_NODE_ELSE;
        if (pr->waiting_count) print_waiting_buffers(pr);
        if (allocs) print_allocs_before(pr, allocs, id);
        if (is_holder(node) && is_last) {
            print_holder_head(pr, id, true);
            hone_node_id value = first_value(pr, node);
            id = value == HONE_NO_ID ? node->first : hone_func_node(pr->func, value)->next;
        } else {
            print_statement(pr, id);
            id = node->next;
        }
    }
}

void print_statements(printer *pr, hone_node_id first) {
    print_statements_with(pr, first, NULL);
}
