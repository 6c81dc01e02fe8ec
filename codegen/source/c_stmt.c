/* codegen/source/c_stmt.c - statements: loops, conditions, stores, early exits. */
#include <ctype.h>
#include <string.h>

#include "codegen/source/c_gen.h"
#include "lower/ground/lower.h"

void c_leave(c_gen *g, const char *code) {
    c_line(g, "code = %s;", code);
    c_line(g, "goto leave;");
    g->uses_leave = true;
}

size_t c_begin_body(c_gen *g) {
    c_line(g, "int32_t code = 0;");
    g->uses_leave = g->uses_fault = false;
    return g->out->length;
}

/* A declaration in front of the body, for which the need was seen in it. */
static void declare_fault(c_gen *g, size_t begin) {
    const char *rest = c_printf(g, "%s", hone_str_text(g->out) + begin);
    hone_str_truncate(g->out, begin);
    c_line(g, "int32_t fault = 0;");
    hone_str_append(g->out, rest);
}

void c_end_body(c_gen *g, size_t begin) {
    if (g->uses_leave) hone_str_append(g->out, "leave:\n");
    c_release_all(g);
    if (g->uses_fault) declare_fault(g, begin);
    for (int i = 0; g->uses_fault && i < CODEGEN_FAULT_COUNT; i++) {
        int code = codegen_fault_code((codegen_fault)i);
        c_open(g, "if (code == 0 && (fault & %d))", 1 << i);
        c_line(g, "code = %d;", code);
        c_line(g, "rt->set_error(rt, code, \"%s\");", codegen_fault_text((codegen_fault)i));
        c_close(g);
    }
    c_line(g, "return code;");
}

static void loop(c_gen *g, hone_node_id id) {
    const hone_node *node = hone_func_node(g->func, id);
    hone_var var = node->u.loop.var;
    if (!hone_arith_bind(&g->arith, var, node->u.loop.range)) {
        c_fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "C text"));
        return;
    }
    if (node->loop_kind == HONE_LOOP_THREAD) {
        c_thread_loop(g, id);
        return;
    }
    if (node->loop_kind == HONE_LOOP_PARALLEL && !g->is_parallel) {
        c_parallel(g, id);
        return;
    }
    c_text min = c_index(g, node->u.loop.range.min), extent = c_index(g, node->u.loop.range.extent);
    if (node->loop_kind == HONE_LOOP_VECTORIZED) c_line(g, "/* vectorized */");
    if (node->loop_kind == HONE_LOOP_UNROLLED) c_line(g, "/* unrolled */");
    const char *name = c_name(g, g->func->vars[var].name);
    bool is_zero = hone_expr_is_int_value(node->u.loop.range.min, 0);
    const char *end =
        is_zero ? extent.s
                : c_printf(g, "%s + %s", c_at(g, min, C_PREC_ADD), c_at(g, extent, C_PREC_MUL));
    if (node->u.loop.range.extent->kind != HONE_EXPR_INT ||
        node->u.loop.range.min->kind != HONE_EXPR_INT) { /* the body may change what it reads */
        const char *last = c_name(g, c_printf(g, "%s_end", name));
        c_open(g, "for (int64_t %s = %s, %s = %s; %s < %s; %s++)", name, min.s, last, end, name,
               last, name);
    } else {
        c_open(g, "for (int64_t %s = %s; %s < %s; %s++)", name, min.s, name, end, name);
    }
    g->vars[var] = (c_var){.text = name, .is_index = true};
    c_children(g, id);
    g->vars[var] = (c_var){0};
    c_close(g);
}

/* A condition on lanes: decided once, for all of them; the stores inside look it up. */
static void masked(c_gen *g, hone_node_id id) {
    const hone_expr *e = hone_func_node(g->func, id)->u.eval.value;
    const char *mask = c_name(g, "mask"), *outer_mask = g->mask;
    bool is_open = c_open_scope(g, id);
    c_line(g, "bool %s[%u];", mask, (unsigned)e->dtype.lanes);
    const char *outer = c_open_lanes(g, e->dtype.lanes);
    if (outer_mask) { /* what is masked off must not be read either */
        c_line(g, "%s[%s] = false;", mask, g->lane);
        c_open(g, "if (%s[%s])", outer_mask, g->lane);
        c_line(g, "%s[%s] = %s;", mask, g->lane, c_condition(g, e).s);
        c_close(g);
    } else {
        c_line(g, "%s[%s] = %s;", mask, g->lane, c_condition(g, e).s);
    }
    c_close_lanes(g, outer);
    g->mask = mask;
    c_children(g, id);
    g->mask = outer_mask;
    c_close_scope(g, is_open);
}

static void condition(c_gen *g, hone_node_id id) {
    const hone_node *node = hone_func_node(g->func, id);
    const hone_expr *e = node->u.eval.value;
    if (e->dtype.lanes > 1) {
        masked(g, id);
        return;
    }
    c_open(g, "if (%s)", c_condition(g, e).s);
    /* what was loaded may be another number by then */
    uint32_t mark = hone_arith_push(&g->arith, hone_expr_is_pure_index(e) ? e : NULL);
    c_children(g, id); /* skips ELSE */
    hone_arith_pop(&g->arith, mark);
    c_close(g);
    hone_node_id last = node->last;
    if (last == HONE_NO_ID || hone_func_node(g->func, last)->kind != HONE_NODE_ELSE) return;
    c_open(g, "else");
    c_children(g, last);
    c_close(g);
}

static void while_loop(c_gen *g, hone_node_id id) {
    const hone_expr *e = hone_func_node(g->func, id)->u.eval.value;
    if (c_needs_statements(e)) {
        c_open(g, "for (;;)");
        c_text value = c_condition(g, e);
        c_line(g, "if (!%s) break;", c_at(g, value, C_PREC_UNARY));
    } else {
        c_open(g, "while (%s)", c_condition(g, e).s);
    }
    c_children(g, id);
    c_close(g);
}

/* Whether the text from there on has the name in it. */
static bool is_mentioned(const c_gen *g, size_t from, const char *name) {
    const char *text = hone_str_text(g->out) + from, *found;
    size_t length = strlen(name);
    for (; (found = strstr(text, name)) != NULL; text = found + length) {
        unsigned char before = (unsigned char)found[-1], after = (unsigned char)found[length];
        if (!isalnum(before) && before != '_' && !isalnum(after) && after != '_') return true;
    }
    return false;
}

static void let(c_gen *g, hone_node_id id) {
    const hone_node *node = hone_func_node(g->func, id);
    hone_var var = node->u.let.var;
    const hone_expr *value = node->u.let.value;
    uint32_t lanes = value->dtype.lanes;
    bool is_index = g->func->vars[var].is_index;
    const char *type = c_type(g, value->dtype), *name = c_name(g, g->func->vars[var].name);
    bool is_open = c_open_scope(g, id);
    if (lanes > 1) {
        c_line(g, "%s %s[%u];", type, name, (unsigned)lanes);
        const char *outer = c_open_lanes(g, lanes);
        c_line(g, "%s[%s] = %s;", name, g->lane, c_value(g, value).s);
        c_close_lanes(g, outer);
    } else if (hone_dtype_is_handle(value->dtype)) {
        c_line(g, "void *const %s = (void *)%s;", name, c_at(g, c_value(g, value), C_PREC_UNARY));
    } else if (is_index) {
        c_line(g, "const int64_t %s = %s;", name, c_index(g, value).s);
    } else {
        c_line(g, "const %s %s = %s;", type, name, c_value(g, value).s);
    }
    g->vars[var] = (c_var){.text = name, .is_lanes = lanes > 1, .is_index = is_index};
    if (g->values && is_index) g->values[var] = c_without_names(g, value);
    size_t declared = g->out->length;
    c_children(g, id);
    /* what is only prefetched or assumed is not in the text, and compilers warn of such names */
    if (!is_mentioned(g, declared, name)) c_line(g, "(void)%s;", name);
    g->vars[var] = (c_var){0};
    c_close_scope(g, is_open);
}

/* All lanes are read before the first one is written. */
static void store_lanes(c_gen *g, const hone_node *node, uint32_t lanes) {
    const hone_expr *value = node->u.store.value, *index = node->u.store.indices[0];
    hone_dtype dtype = g->func->buffers[node->u.store.buffer].dtype;
    const char *name = c_name(g, "value");
    c_open(g, "%s", "");
    c_line(g, "%s %s[%u];", c_storage(g, dtype), name, (unsigned)lanes);
    const char *outer = c_open_lanes(g, lanes);
    if (g->mask) c_line(g, "if (!%s[%s]) continue;", g->mask, g->lane);
    c_line(g, "%s[%s] = %s;", name, g->lane, c_stored(g, value).s);
    c_close_lanes(g, outer);
    outer = c_open_lanes(g, lanes);
    if (g->mask) c_line(g, "if (!%s[%s]) continue;", g->mask, g->lane);
    c_line(g, "%s = %s[%s];", c_element(g, node->u.store.buffer, index), name, g->lane);
    c_close_lanes(g, outer);
    c_close(g);
}

static void store(c_gen *g, const hone_node *node) {
    if (node->u.store.rank != 1) {
        c_fail(g, HONE_ERROR(HONE_CODE_INVALID, "buffer '%s' is not flat",
                             g->func->buffers[node->u.store.buffer].name));
        return;
    }
    uint32_t lanes = node->u.store.value->dtype.lanes;
    if (node->u.store.indices[0]->dtype.lanes > lanes) {
        lanes = node->u.store.indices[0]->dtype.lanes;
    }
    if (g->is_behind && c_copies_behind(g, node, lanes)) return;
    if (lanes > 1) {
        if (!c_store_together(g, node, lanes)) store_lanes(g, node, lanes);
        return;
    }
    c_text value = c_stored(g, node->u.store.value);
    c_line(g, "%s = %s;", c_element(g, node->u.store.buffer, node->u.store.indices[0]), value.s);
}

static void attribute(c_gen *g, hone_node_id id) {
    bool was_behind = g->is_behind;
    g->is_behind |= strcmp(hone_func_node(g->func, id)->u.attr.key, HONE_LOWER_BEHIND) == 0;
    c_children(g, id);
    g->is_behind = was_behind;
}

static void assertion(c_gen *g, const hone_node *node) {
    if (g->dialect->is_device) {
        c_unsupported(g, "an assertion");
        return;
    }
    c_text value = c_condition(g, node->u.eval.value);
    c_open(g, "if (!%s)", c_at(g, value, C_PREC_UNARY));
    const char *message = node->u.eval.message ? node->u.eval.message : "assertion failed";
    const hone_expr *text = hone_expr_string(&g->arith.ir, message);
    if (text) c_line(g, "rt->set_error(rt, -1, %s);", c_value(g, text).s);
    c_leave(g, "-1");
    c_close(g);
}

/* A value nobody wants: only what it does counts, and that is in the statements in front. */
static void evaluate(c_gen *g, const hone_expr *e) {
    if (e->dtype.lanes > 1) {
        const char *outer = c_open_lanes(g, e->dtype.lanes);
        (void)c_value(g, e);
        c_close_lanes(g, outer);
    } else if (e->kind == HONE_EXPR_CALL && g->dialect->is_device) {
        (void)c_call(g, e); /* whose value is not rounded */
    } else {
        (void)c_value(g, e);
    }
}

static void statement(c_gen *g, hone_node_id id) {
    const hone_node *node = hone_func_node(g->func, id);
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
        loop(g, id);
        return;
    case HONE_NODE_IF:
        condition(g, id);
        return;
    case HONE_NODE_ELSE:
        return; /* made by its IF */
    case HONE_NODE_WHILE:
        while_loop(g, id);
        return;
    case HONE_NODE_LET:
        let(g, id);
        return;
    case HONE_NODE_ALLOC:
        if (g->dialect->is_device)
            c_device_alloc(g, id);
        else
            c_alloc(g, id);
        return;
    case HONE_NODE_ATTR:
        attribute(g, id);
        return;
    case HONE_NODE_DECL:
        c_children(g, id);
        return;
    case HONE_NODE_STORE:
        store(g, node);
        return;
    case HONE_NODE_EVAL:
        evaluate(g, node->u.eval.value);
        return;
    case HONE_NODE_ASSERT:
        assertion(g, node);
        return;
    case HONE_NODE_BREAK:
        c_line(g, "break;");
        return;
    case HONE_NODE_CONTINUE:
        c_line(g, "continue;");
        return;
    default:
        c_fail(g, HONE_ERROR(HONE_CODE_INVALID, "the program was not lowered"));
    }
}

void c_children(c_gen *g, hone_node_id parent) {
    for (hone_node_id c = hone_func_node(g->func, parent)->first; c != HONE_NO_ID && !g->error;
         c = hone_func_node(g->func, c)->next) {
        statement(g, c);
    }
}
