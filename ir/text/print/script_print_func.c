/* ir/text/print/script_print_func.c - a tensor program as text: decorator, parameters,
 * declarations, body. */

#include "ir/text/print/script_print_impl.h"

/* ---- which variables nothing in the body binds ---- */

enum { VAR_USED = 1, VAR_BOUND = 2 };

typedef struct usage {
    const hone_func *func;
    uint8_t *vars, *buffers;
} usage;

static void use_buffer(usage *u, hone_buffer buffer);

static bool visit_expr(void *ctx, const hone_expr *e) {
    usage *u = ctx;
    if ((e->kind == HONE_EXPR_VAR || e->kind == HONE_EXPR_LET) && e->u.var < u->func->var_count) {
        u->vars[e->u.var] |= VAR_USED;
    }
    if (e->kind == HONE_EXPR_LOAD) use_buffer(u, e->u.buffer);
    return true;
}

static void define_buffer(usage *u, hone_buffer buffer) {
    use_buffer(u, buffer);
    if (buffer < u->func->buffer_count) u->buffers[buffer] |= VAR_BOUND;
}

static void use_expr(usage *u, const hone_expr *e) {
    if (e) hone_expr_walk(e, visit_expr, u);
}

static void use_buffer(usage *u, hone_buffer buffer) {
    if (buffer >= u->func->buffer_count || (u->buffers[buffer] & VAR_USED)) return;
    u->buffers[buffer] |= VAR_USED;
    const hone_buffer_info *info = hone_func_buffer(u->func, buffer);
    for (uint32_t i = 0; i < info->rank; i++) {
        use_expr(u, info->shape[i]);
        if (info->strides) use_expr(u, info->strides[i]);
    }
    use_expr(u, info->elem_offset);
    if (info->alias_of != HONE_NO_ID) use_buffer(u, info->alias_of);
}

static void visit_top(void *ctx, hone_node_id at, const hone_expr *e) {
    (void)at;
    use_expr(ctx, e);
}

static void use_values(usage *u, const hone_value *v) {
    if (v->kind == HONE_VALUE_EXPR) use_expr(u, v->u.expr);
    for (uint32_t i = 0; v->kind == HONE_VALUE_LAMBDA && i < v->u.lambda->param_count; i++)
        u->vars[v->u.lambda->params[i]] |= VAR_BOUND;
    for (uint32_t i = 0; v->kind == HONE_VALUE_LIST && i < v->count; i++)
        use_values(u, &v->u.items[i]);
    for (uint32_t i = 0; v->kind == HONE_VALUE_MAP && i < v->count; i++) {
        use_values(u, &v->u.attrs[i].value);
    }
}

static void use_attrs(usage *u, const hone_attrs *attrs) {
    for (uint32_t i = 0; i < attrs->count; i++)
        use_values(u, &attrs->items[i].value);
}

static void bind_node(usage *u, const hone_node *node) {
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
        u->vars[node->u.loop.var] |= VAR_BOUND;
        use_attrs(u, &node->u.loop.annotations);
        return;
    case HONE_NODE_LET:
        u->vars[node->u.let.var] |= VAR_BOUND;
        return;
    case HONE_NODE_ATTR:
        use_values(u, &node->u.attr.node);
        return;
    case HONE_NODE_ALLOC:
    case HONE_NODE_DECL:
        define_buffer(u, node->u.alloc.buffer);
        return;
    case HONE_NODE_STORE:
        use_buffer(u, node->u.store.buffer);
        return;
    case HONE_NODE_BLOCK: {
        const hone_block *b = node->u.block.block;
        for (uint32_t i = 0; i < b->axis_count; i++)
            u->vars[b->axes[i].var] |= VAR_BOUND;
        for (uint32_t i = 0; i < b->alloc_count; i++)
            define_buffer(u, b->allocs[i]);
        for (uint32_t i = 0; i < b->match_count; i++)
            define_buffer(u, b->matches[i].buffer);
        use_attrs(u, &b->annotations);
        return;
    }
    default:
        return;
    }
}

static bool make_usage(printer *pr, usage *u) {
    *u = (usage){.func = pr->func};
    u->vars = hone_arena_zalloc(pr->arena, pr->func->var_count + 1);
    u->buffers = hone_arena_zalloc(pr->arena, pr->func->buffer_count + 1);
    return u->vars && u->buffers;
}

static bool find_usage(printer *pr, usage *u) {
    const hone_func *func = pr->func;
    if (!make_usage(pr, u)) return false;
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (func->params[i].buffer != HONE_NO_ID) define_buffer(u, func->params[i].buffer);
        if (func->params[i].var != HONE_NO_ID) u->vars[func->params[i].var] |= VAR_BOUND;
    }
    for (hone_node_id id = HONE_NODE_TOP; id != HONE_NO_ID;
         id = hone_tree_next(func, HONE_NODE_TOP, id)) {
        bind_node(u, hone_func_node(func, id));
    }
    hone_tree_walk_exprs(func, HONE_NODE_TOP, true, visit_top, u);
    use_attrs(u, &func->attrs);
    return true;
}

static void use_regions(usage *u, const hone_block *block) {
    for (uint32_t i = 0; i < block->read_count; i++)
        use_buffer(u, block->reads[i].buffer);
    for (uint32_t i = 0; i < block->write_count; i++)
        use_buffer(u, block->writes[i].buffer);
    for (uint32_t i = 0; i < block->match_count; i++)
        use_buffer(u, block->matches[i].source.buffer);
}

static bool is_used(const usage *u, hone_buffer buffer) {
    hone_var data = hone_func_buffer(u->func, buffer)->data;
    return u->buffers[buffer] || (data < u->func->var_count && u->vars[data]);
}

bool print_first_uses(printer *pr, hone_node_id first, uint32_t count, const hone_buffer *buffers,
                      hone_node_id *out) {
    const hone_func *func = pr->func;
    usage u;
    if (!make_usage(pr, &u)) return false;
    for (uint32_t i = 0; i < count; i++)
        out[i] = HONE_NO_ID;
    for (hone_node_id at = first; at != HONE_NO_ID; at = hone_func_node(func, at)->next) {
        for (hone_node_id id = at; id != HONE_NO_ID; id = hone_tree_next(func, at, id)) {
            const hone_node *node = hone_func_node(func, id);
            bind_node(&u, node);
            if (node->kind == HONE_NODE_BLOCK) use_regions(&u, node->u.block.block);
        }
        hone_tree_walk_exprs(func, at, true, visit_top, &u);
        for (uint32_t i = 0; i < count; i++) {
            if (out[i] == HONE_NO_ID && is_used(&u, buffers[i])) out[i] = at;
        }
    }
    return true;
}

/* ---- tables ---- */

static bool make_tables(printer *pr) {
    const hone_func *func = pr->func;
    size_t vars = func->var_count + 1, buffers = func->buffer_count + 1;
    pr->var_names = hone_arena_zalloc(pr->arena, vars * sizeof *pr->var_names);
    pr->buffer_names = hone_arena_zalloc(pr->arena, buffers * sizeof *pr->buffer_names);
    pr->data_of = hone_arena_alloc(pr->arena, vars * sizeof *pr->data_of);
    pr->offset_of = hone_arena_alloc(pr->arena, vars * sizeof *pr->offset_of);
    pr->as_scalar = hone_arena_zalloc(pr->arena, buffers * sizeof *pr->as_scalar);
    pr->waiting = hone_arena_alloc(pr->arena, buffers * sizeof *pr->waiting);
    pr->waiting_count = 0;
    if (!pr->var_names || !pr->buffer_names || !pr->data_of || !pr->offset_of || !pr->as_scalar ||
        !pr->waiting) {
        pr->is_short_of_memory = true;
        return false;
    }
    for (size_t i = 0; i < vars; i++)
        pr->data_of[i] = pr->offset_of[i] = HONE_NO_ID;
    for (uint32_t b = func->buffer_count; b-- > 0;) {
        const hone_buffer_info *info = &func->buffers[b];
        if (info->data < func->var_count) pr->data_of[info->data] = b;
        const hone_expr *e = info->elem_offset;
        bool implied =
            e && e->kind == HONE_EXPR_VAR && e->u.var < func->var_count &&
            info->offset_factor > 0 &&
            hone_dtype_equal(e->dtype, info->rank ? info->shape[0]->dtype : HONE_DTYPE_I32);
        if (implied) {
            bool taken = pr->offset_of[e->u.var] != HONE_NO_ID;
            pr->offset_of[e->u.var] = taken ? HONE_NO_ID : b;
        }
    }
    return true;
}

/* ---- parameters ---- */

/* Is everything in the type of this parameter known where the parameters stand? */
static bool is_ready(const printer *pr, const hone_expr *e) {
    if (!e || e->kind == HONE_EXPR_INT) return true;
    if (e->kind == HONE_EXPR_VAR) return pr->var_names[e->u.var] != NULL;
    for (uint32_t i = 0; i < e->count; i++) {
        if (!is_ready(pr, e->args[i])) return false;
    }
    return e->kind == HONE_EXPR_BINARY || e->kind == HONE_EXPR_CAST;
}

/* A size that is a variable of its own, an int32, is named where it first stands. */
static bool may_be_quoted(const printer *pr, const hone_expr *e) {
    if (printer_is_classic(pr) || e->kind != HONE_EXPR_VAR) return false;
    if (!hone_dtype_equal(e->dtype, HONE_DTYPE_I32)) return false;
    return !hone_func_takes(pr->func, e->u.var); /* that is further on */
}

static bool prints_inline(const printer *pr, const hone_param *param) {
    if (param->var != HONE_NO_ID) return false;
    const hone_buffer_info *info = hone_func_buffer(pr->func, param->buffer);
    if (info->rank > HONE_COUNT(pr->is_quoted)) return false;
    for (uint32_t i = 0; i < info->rank; i++) {
        if (!is_ready(pr, info->shape[i]) && !may_be_quoted(pr, info->shape[i])) return false;
        if (info->strides && !is_ready(pr, info->strides[i])) return false;
    }
    const hone_expr *offset = info->elem_offset;
    bool implied =
        offset && offset->kind == HONE_EXPR_VAR && pr->offset_of[offset->u.var] == param->buffer;
    return implied || is_ready(pr, offset);
}

/* Sizes that this parameter defines: T.Buffer(("n", 16)). */
static void quote_sizes(printer *pr, const hone_buffer_info *info) {
    for (uint32_t i = 0; i < info->rank; i++) {
        const hone_expr *e = info->shape[i];
        bool quoted = e->kind == HONE_EXPR_VAR && !pr->var_names[e->u.var];
        if (quoted) printer_define_var(pr, e->u.var);
        pr->is_quoted[i] = quoted;
    }
}

static void print_param(printer *pr, uint32_t index, const char **handles) {
    const hone_param *param = &pr->func->params[index];
    if (param->buffer == HONE_NO_ID) {
        hone_str_printf(pr->out, "%s: ", printer_define_var(pr, param->var));
        print_var_type(pr, param->var);
        return;
    }
    if (prints_inline(pr, param)) {
        hone_str_printf(pr->out, "%s: ", printer_define_buffer(pr, param->buffer));
        quote_sizes(pr, hone_func_buffer(pr->func, param->buffer));
        pr->in_parameters = true;
        print_buffer_call(pr, "T.Buffer", "", param->buffer, true);
        pr->in_parameters = false;
        return;
    }
    if (param->var != HONE_NO_ID) {
        handles[index] = printer_define_var(pr, param->var);
    } else {
        const char *hint =
            hone_arena_printf(pr->arena, "%s_handle", pr->func->buffers[param->buffer].name);
        handles[index] = printer_define(pr, hint ? hint : "handle");
    }
    hone_str_printf(pr->out, "%s: T.handle", handles[index]);
}

static void print_decorator(printer *pr) {
    const hone_func *func = pr->func;
    bool s_tir = func->is_scheduled_form && !printer_is_classic(pr);
    printer_line_begin(pr);
    hone_str_append(pr->out, "@T.prim_func");
    if (func->is_private || s_tir) {
        hone_str_printf(pr->out, "(%s%s%s)", func->is_private ? "private=True" : "",
                        func->is_private && s_tir ? ", " : "", s_tir ? "s_tir=True" : "");
    }
    printer_line_end(pr);
}

/* ---- body ---- */

static void print_declaration(printer *pr, hone_var var, bool says_size) {
    const hone_var_info *info = &pr->func->vars[var];
    printer_line_begin(pr);
    hone_str_printf(pr->out, "%s = ", printer_define_var(pr, var));
    print_var_type(pr, var);
    if (!info->point_scope) {
        hone_str_printf(pr->out, "(%s)", says_size ? "is_size_var=True" : "");
    }
    printer_line_end(pr);
}

/* Sizes of parameters are known to be sizes without saying so. */
static bool is_size_of_param(const hone_func *func, hone_var var) {
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (func->params[i].buffer == HONE_NO_ID) continue;
        const hone_buffer_info *info = hone_func_buffer(func, func->params[i].buffer);
        for (uint32_t d = 0; d < info->rank; d++) {
            if (info->shape[d]->kind == HONE_EXPR_VAR && info->shape[d]->u.var == var) return true;
        }
    }
    return false;
}

static void print_declarations(printer *pr, const usage *u) {
    for (hone_var var = 0; var < pr->func->var_count; var++) {
        bool bound = (u->vars[var] & VAR_BOUND) || pr->var_names[var];
        bool implied = pr->data_of[var] != HONE_NO_ID || pr->offset_of[var] != HONE_NO_ID;
        if (!(u->vars[var] & VAR_USED) || bound || implied) continue;
        bool says_size = pr->func->vars[var].is_size && !is_size_of_param(pr->func, var) &&
                         printer_is_classic(pr); /* TVM 0.27 has no other variables for sizes */
        print_declaration(pr, var, says_size);
    }
}

/* Has everything in e a name by now? */
static bool is_named(const printer *pr, const hone_expr *e) {
    if (!e) return true;
    if (e->kind == HONE_EXPR_VAR && !pr->var_names[e->u.var] &&
        pr->data_of[e->u.var] == HONE_NO_ID && pr->offset_of[e->u.var] == HONE_NO_ID) {
        return false;
    }
    for (uint32_t i = 0; i < e->count; i++) {
        if (!is_named(pr, e->args[i])) return false;
    }
    return true;
}

static bool is_sized(const printer *pr, const hone_buffer_info *info) {
    for (uint32_t d = 0; d < info->rank; d++) {
        if (!is_named(pr, info->shape[d])) return false;
        if (info->strides && !is_named(pr, info->strides[d])) return false;
    }
    return is_named(pr, info->elem_offset);
}

void print_waiting_buffers(printer *pr) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < pr->waiting_count; i++) {
        hone_buffer b = pr->waiting[i];
        if (!is_sized(pr, hone_func_buffer(pr->func, b))) {
            pr->waiting[kept++] = b;
            continue;
        }
        printer_line_begin(pr);
        hone_str_printf(pr->out, "%s = ", printer_define_buffer(pr, b));
        print_buffer_call(pr, "T.Buffer", "", b, false);
        printer_line_end(pr);
    }
    pr->waiting_count = kept;
}

/* Buffers that nothing defines: T.Buffer(...) in the body, for attributes that name one; where
 * their sizes are known. */
static void print_free_buffers(printer *pr, const usage *u) {
    for (hone_buffer b = 0; b < pr->func->buffer_count; b++) {
        const hone_buffer_info *info = hone_func_buffer(pr->func, b);
        bool named = info->data != HONE_NO_ID && info->alias_of == HONE_NO_ID &&
                     (u->vars[info->data] & VAR_USED) && !(u->vars[info->data] & VAR_BOUND);
        bool used = named || (u->buffers[b] & VAR_USED);
        if (!used || (u->buffers[b] & VAR_BOUND) || pr->buffer_names[b]) continue;
        pr->waiting[pr->waiting_count++] = b;
    }
    print_waiting_buffers(pr);
}

static void print_match_params(printer *pr, const char *const *handles) {
    for (uint32_t i = 0; i < pr->func->param_count; i++) {
        if (!handles[i]) continue;
        hone_buffer buffer = pr->func->params[i].buffer;
        const char *first = hone_arena_printf(pr->arena, "%s, ", handles[i]);
        printer_line_begin(pr);
        hone_str_printf(pr->out, "%s = ", printer_define_buffer(pr, buffer));
        print_buffer_call(pr, "T.match_buffer", first ? first : "", buffer, false);
        printer_line_end(pr);
    }
}

static void print_func_attrs(printer *pr) {
    if (!pr->func->attrs.count) return;
    printer_line_begin(pr);
    hone_str_append(pr->out, "T.func_attr(");
    print_attrs(pr, &pr->func->attrs);
    hone_str_append_char(pr->out, ')');
    printer_line_end(pr);
}

static bool attrs_use_vars(printer *pr) {
    usage own;
    if (!make_usage(pr, &own)) return false;
    use_attrs(&own, &pr->func->attrs);
    for (hone_var v = 0; v < pr->func->var_count; v++) {
        if (own.vars[v] & VAR_USED) return true;
    }
    return false;
}

static void print_body(printer *pr, const usage *u, const char *const *handles) {
    const hone_func *func = pr->func;
    uint32_t lines = pr->lines;
    bool is_behind = attrs_use_vars(pr); /* T.func_attr({"size": n}) */
    if (!is_behind) print_func_attrs(pr);
    print_declarations(pr, u);
    if (is_behind) print_func_attrs(pr);
    print_match_params(pr, handles);
    print_free_buffers(pr, u);
    hone_node_id root = func->is_scheduled_form ? hone_func_root_block(func) : HONE_NO_ID;
    if (root != HONE_NO_ID) {
        print_root_block(pr, root);
    } else {
        print_statements(pr, hone_func_node(func, HONE_NODE_TOP)->first);
    }
    bool only_root = root != HONE_NO_ID && hone_func_node(func, root)->first == HONE_NO_ID;
    if (pr->lines == lines || only_root) printer_line(pr, "pass");
}

void print_func(printer *pr, const hone_func *func) {
    usage u;
    pr->func = func;
    pr->graph = NULL;
    uint32_t scope = printer_scope_begin(pr);
    const char **handles = hone_arena_zalloc(pr->arena, (func->param_count + 1) * sizeof *handles);
    if (!handles || !make_tables(pr) || !find_usage(pr, &u)) {
        pr->is_short_of_memory = true;
        return;
    }
    print_decorator(pr);
    printer_line_begin(pr);
    hone_str_printf(pr->out, "def %s(", func->name);
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (i) hone_str_append(pr->out, ", ");
        print_param(pr, i, handles);
    }
    hone_str_append_char(pr->out, ')');
    if (!hone_dtype_is_void(func->result)) {
        hone_str_printf(pr->out, " -> T.%s", HONE_DTYPE_NAME(func->result));
    }
    hone_str_append_char(pr->out, ':');
    printer_line_end(pr);
    if (pr->options.lines) pr->options.lines[HONE_NODE_TOP] = pr->lines;
    pr->indent++;
    print_body(pr, &u, handles);
    pr->indent--;
    printer_scope_end(pr, scope);
    pr->func = NULL;
}
