/* ir/text/print/script_print_module.c - whole modules as text, and the small pieces that messages
 * need. */

#include "ir/text/print/script_print_impl.h"

static bool has_kind(const hone_module *module, hone_member_kind kind) {
    for (uint32_t i = 0; i < module->member_count; i++) {
        if (module->members[i].kind == kind) return true;
    }
    return false;
}

static void print_header(printer *pr, bool with_module, bool with_func, bool with_graph) {
    bool classic = printer_is_classic(pr);
    if (pr->options.bare) return;
    if (with_module) printer_line(pr, "# from tvm.script import ir as I");
    if (with_func) {
        printer_line(pr, classic ? "# from tvm.script import tir as T"
                                 : "# from tvm.script import tirx as T");
    }
    if (with_graph) printer_line(pr, "# from tvm.script import relax as R");
    hone_str_append_char(pr->out, '\n');
}

static void print_member(printer *pr, const hone_module *module, const hone_member *member) {
    switch (member->kind) {
    case HONE_MEMBER_FUNC:
        print_func(pr, member->func);
        return;
    case HONE_MEMBER_GRAPH:
        print_graph(pr, member->graph);
        return;
    case HONE_MEMBER_EXTERN:
        printer_line_begin(pr);
        hone_str_printf(pr->out, "%s = R.ExternFunc(", printer_define(pr, member->name));
        print_quoted(pr, member->name);
        hone_str_append_char(pr->out, ')');
        printer_line_end(pr);
        return;
    }
    (void)module;
}

hone_status hone_module_print(const hone_module *module, const hone_print_options *options,
                              hone_str *out) {
    assert(module && out);
    printer pr;
    if (!printer_init(&pr, out, options)) return printer_finish(&pr);
    pr.module = module;
    bool has_graph = has_kind(module, HONE_MEMBER_GRAPH) || has_kind(module, HONE_MEMBER_EXTERN);
    print_header(&pr, true, has_kind(module, HONE_MEMBER_FUNC) || has_graph, has_graph);
    printer_line(&pr, "@I.ir_module");
    printer_line(&pr, "class Module:");
    pr.indent = 1;
    if (module->attrs.count) {
        printer_line_begin(&pr);
        hone_str_append(out, "I.module_attrs(");
        print_attrs(&pr, &module->attrs);
        hone_str_append_char(out, ')');
        printer_line_end(&pr);
    }
    if (!module->member_count && !module->attrs.count) printer_line(&pr, "pass");
    bool is_first = true;
    for (uint32_t i = 0; i < module->member_count; i++) {
        const hone_member *member = &module->members[i];
        if (member->kind == HONE_MEMBER_GRAPH && print_is_branch(module, member->graph)) continue;
        if (!is_first) hone_str_append_char(out, '\n');
        print_member(&pr, module, member);
        is_first = false;
    }
    return printer_finish(&pr);
}

hone_status hone_func_print(const hone_func *func, const hone_print_options *options,
                            hone_str *out) {
    assert(func && out);
    printer pr;
    if (!printer_init(&pr, out, options)) return printer_finish(&pr);
    print_header(&pr, false, true, false);
    print_func(&pr, func);
    return printer_finish(&pr);
}

hone_status hone_expr_print(const hone_func *func, const hone_expr *e, hone_str *out) {
    assert(func && e && out);
    printer pr;
    if (!printer_init(&pr, out, NULL)) return printer_finish(&pr);
    pr.func = func;
    print_expr(&pr, e);
    return printer_finish(&pr);
}

hone_status hone_value_print(const hone_func *func, const hone_graph_func *graph,
                             const hone_value *value, hone_str *out) {
    assert(value && out);
    printer pr;
    if (!printer_init(&pr, out, NULL)) return printer_finish(&pr);
    pr.func = func;
    pr.graph = graph;
    print_value(&pr, value);
    return printer_finish(&pr);
}

/* ---- how messages name a node ---- */

static void describe_loop(printer *pr, const hone_node *node) {
    static const char *const names[] = {[HONE_LOOP_SERIAL] = "T.serial",
                                        [HONE_LOOP_PARALLEL] = "T.parallel",
                                        [HONE_LOOP_VECTORIZED] = "T.vectorized",
                                        [HONE_LOOP_UNROLLED] = "T.unroll",
                                        [HONE_LOOP_THREAD] = "T.thread_binding"};
    hone_str_printf(pr->out, "%s: %s(", printer_var(pr, node->u.loop.var), names[node->loop_kind]);
    print_expr(pr, node->u.loop.range.min);
    hone_str_append(pr->out, ", ");
    print_expr(pr, print_range_end(pr, &node->u.loop.range));
    if (node->u.loop.thread_tag)
        hone_str_printf(pr->out, ", thread=\"%s\"", node->u.loop.thread_tag);
    hone_str_append_char(pr->out, ')');
}

void hone_node_describe(const hone_func *func, hone_node_id id, hone_str *out) {
    static const char *const words[] = {[HONE_NODE_TOP] = "the function",
                                        [HONE_NODE_INIT] = "T.init",
                                        [HONE_NODE_IF] = "if",
                                        [HONE_NODE_ELSE] = "else",
                                        [HONE_NODE_WHILE] = "while",
                                        [HONE_NODE_LET] = "a let",
                                        [HONE_NODE_ATTR] = "an attribute",
                                        [HONE_NODE_ALLOC] = "an allocation",
                                        [HONE_NODE_DECL] = "a declaration",
                                        [HONE_NODE_STORE] = "a store",
                                        [HONE_NODE_EVAL] = "a call",
                                        [HONE_NODE_ASSERT] = "an assertion",
                                        [HONE_NODE_BREAK] = "break",
                                        [HONE_NODE_CONTINUE] = "continue"};
    const hone_node *node = hone_func_node(func, id);
    if (node->kind == HONE_NODE_BLOCK) {
        hone_str_printf(out, "block '%s'", node->u.block.block->name);
    } else if (node->kind != HONE_NODE_FOR) {
        hone_str_append(out, words[node->kind]);
    } else {
        printer pr;
        bool is_ready = printer_init(&pr, out, NULL);
        pr.func = func;
        if (is_ready) describe_loop(&pr, node);
        hone_status_free(printer_finish(&pr));
    }
}
