/* ir/text/print/script_print_graph.c - a graph program as text: one binding per line. */
#include "ir/text/print/script_print_graph.h"

#include <math.h>
#include <string.h>

#include "ir/ops/graph_op.h"

/* ---- what is used ---- */

typedef struct usage {
    const hone_graph_func *graph;
    uint8_t *vars;
} usage;

enum { MAX_BRANCHES = 100 }; /* within branches: more are a function that is its own branch */

static bool visit_expr(void *ctx, const hone_expr *e) {
    usage *u = ctx;
    if (e->kind == HONE_EXPR_VAR && e->u.var < u->graph->var_count) u->vars[e->u.var] = 1;
    return true;
}

static void use_exprs(usage *u, uint32_t count, const hone_expr *const *exprs) {
    for (uint32_t i = 0; exprs && i < count; i++)
        hone_expr_walk(exprs[i], visit_expr, u);
}

static void use_sinfo(usage *u, const hone_sinfo *info) {
    if (!info) return;
    if (info->shape && info->rank > 0) use_exprs(u, (uint32_t)info->rank, info->shape);
    for (uint32_t i = 0; i < info->field_count; i++)
        use_sinfo(u, info->fields[i]);
}

static void use_garg(usage *u, const hone_garg *arg) {
    if (arg->kind == HONE_GARG_PRIM) use_exprs(u, 1, &arg->u.expr);
    if (arg->kind == HONE_GARG_SHAPE) use_exprs(u, arg->count, arg->u.exprs);
    for (uint32_t i = 0; arg->kind == HONE_GARG_TUPLE && i < arg->count; i++) {
        use_garg(u, &arg->u.items[i]);
    }
}

/* A branch of an if (THEN or ELSE), or NULL. */
static const hone_graph_func *branch_of(const hone_module *module, const hone_gbind *bind,
                                        uint32_t which) {
    bool is_there = bind->kind == HONE_GBIND_IF && bind->arg_count >= HONE_GBIND_IF_ARGS &&
                    bind->args[which].kind == HONE_GARG_GLOBAL;
    const hone_member *member =
        is_there && module ? hone_module_find(module, bind->args[which].u.s) : NULL;
    bool fits = member && member->kind == HONE_MEMBER_GRAPH &&
                member->graph->param_count == bind->arg_count - HONE_GBIND_IF_ARGS;
    return fits ? member->graph : NULL;
}

static bool names_member(const hone_garg *arg) {
    for (uint32_t i = 0; arg->kind == HONE_GARG_TUPLE && i < arg->count; i++) {
        if (names_member(&arg->u.items[i])) return true;
    }
    return arg->kind == HONE_GARG_GLOBAL;
}

/* Does it call a function of the module, by name? */
static bool names_module(const hone_module *module, const hone_graph_func *graph, uint32_t depth) {
    for (uint32_t i = 0; graph && i < graph->bind_count; i++) {
        const hone_gbind *bind = &graph->bindings[i];
        bool is_call = bind->kind == HONE_GBIND_CALL_TIR || bind->kind == HONE_GBIND_CALL_FUNC;
        if (is_call || depth == MAX_BRANCHES) return true;
        for (uint32_t a = 0; a < bind->arg_count; a++) {
            bool is_branch = bind->kind == HONE_GBIND_IF && a > 0 && a < HONE_GBIND_IF_ARGS;
            if (names_member(&bind->args[a]) && !is_branch) return true;
        }
        if (names_module(module, branch_of(module, bind, HONE_GBIND_IF_THEN), depth + 1) ||
            names_module(module, branch_of(module, bind, HONE_GBIND_IF_ELSE), depth + 1)) {
            return true;
        }
    }
    return graph && names_member(&graph->result);
}

bool print_is_branch(const hone_module *module, const hone_graph_func *graph) {
    for (uint32_t m = 0; m < module->member_count && graph->is_private; m++) {
        const hone_graph_func *around = module->members[m].graph;
        for (uint32_t i = 0; around && i < around->bind_count; i++) {
            const hone_gbind *bind = &around->bindings[i];
            if (branch_of(module, bind, HONE_GBIND_IF_THEN) == graph ||
                branch_of(module, bind, HONE_GBIND_IF_ELSE) == graph) {
                return true;
            }
        }
    }
    return false;
}

static void use_bind(usage *u, const hone_gbind *bind) {
    for (uint32_t i = 0; i < bind->arg_count; i++)
        use_garg(u, &bind->args[i]);
    use_exprs(u, bind->symbolic_count, bind->symbolic);
    for (uint32_t i = 0; i < bind->attrs.count; i++) {
        const hone_value *v = &bind->attrs.items[i].value;
        if (v->kind == HONE_VALUE_EXPR) use_exprs(u, 1, &v->u.expr);
    }
}

/* A branch names the sizes of the function around it. */
static void use_names(usage *u, const usage *branch) {
    for (hone_var v = 0; v < branch->graph->var_count; v++) {
        for (hone_var outer = 0; branch->vars[v] && outer < u->graph->var_count; outer++) {
            bool is_it = strcmp(branch->graph->vars[v].name, u->graph->vars[outer].name) == 0;
            if (is_it) u->vars[outer] = 1;
        }
    }
}

static bool find_usage(printer *pr, const hone_graph_func *g, uint32_t depth, usage *u) {
    *u = (usage){.graph = g, .vars = hone_arena_zalloc(pr->arena, g->var_count + 1)};
    if (!u->vars) return false;
    for (uint32_t i = 0; i < g->value_count; i++)
        use_sinfo(u, g->values[i].sinfo);
    for (uint32_t i = 0; i < g->bind_count; i++)
        use_bind(u, &g->bindings[i]);
    use_sinfo(u, g->result_sinfo);
    use_garg(u, &g->result);
    for (uint32_t i = 0; i < 2 * g->bind_count && depth < MAX_BRANCHES; i++) {
        usage inner;
        uint32_t which = i % 2 ? HONE_GBIND_IF_ELSE : HONE_GBIND_IF_THEN;
        const hone_graph_func *branch = branch_of(pr->module, &g->bindings[i / 2], which);
        if (!branch) continue;
        if (!find_usage(pr, branch, depth + 1, &inner)) return false;
        use_names(u, &inner);
    }
    return true;
}

/* ---- bindings ---- */

static void print_out_sinfo(printer *pr, const hone_sinfo *info) {
    hone_str_append(pr->out, printer_is_classic(pr) ? ", out_sinfo=" : ", out_ty=");
    if (!info || info->kind != HONE_SINFO_TUPLE) {
        print_sinfo(pr, info);
        return;
    }
    hone_str_append_char(pr->out, '[');
    for (uint32_t i = 0; i < info->field_count; i++) {
        if (i) hone_str_append(pr->out, ", ");
        print_sinfo(pr, info->fields[i]);
    }
    hone_str_append_char(pr->out, ']');
}

static void print_through(printer *pr, const hone_gbind *bind, const hone_sinfo *info) {
    if (bind->kind == HONE_GBIND_CALL_TIR) {
        hone_str_printf(pr->out, "R.call_tir(cls.%s, ", bind->callee);
    } else {
        hone_str_append(pr->out, "R.call_dps_packed(");
        print_quoted(pr, bind->callee);
        hone_str_append(pr->out, ", ");
    }
    print_garg_tuple(pr, bind->arg_count, bind->args);
    print_out_sinfo(pr, info);
    if (bind->symbolic_count) {
        hone_garg sizes = {
            .kind = HONE_GARG_SHAPE, .count = bind->symbolic_count, .u.exprs = bind->symbolic};
        hone_str_append(pr->out, ", tir_vars=");
        print_garg(pr, &sizes);
    }
    hone_str_append_char(pr->out, ')');
}

static void print_packed(printer *pr, const hone_gbind *bind, const hone_sinfo *info) {
    hone_str_append(pr->out, bind->is_pure ? "R.call_pure_packed(" : "R.call_packed(");
    print_quoted(pr, bind->callee);
    for (uint32_t i = 0; i < bind->arg_count; i++) {
        hone_str_append(pr->out, ", ");
        print_garg(pr, &bind->args[i]);
    }
    if (info) {
        hone_str_append(pr->out, printer_is_classic(pr) ? ", sinfo_args=(" : ", ty_args=(");
        print_sinfo(pr, info);
        hone_str_append(pr->out, ",)");
    }
    hone_str_append_char(pr->out, ')');
}

/* Operators that say what they return. */
static void print_result_type(printer *pr, const hone_gbind *bind, const hone_sinfo *info) {
    bool is_tir = strncmp(bind->callee, "call_tir", strlen("call_tir")) == 0;
    bool is_closure = strcmp(bind->callee, "invoke_closure") == 0 ||
                      strcmp(bind->callee, "invoke_pure_closure") == 0;
    bool is_builtin = strcmp(bind->callee, "call_builtin_with_ctx") == 0 ||
                      strcmp(bind->callee, "call_inplace_packed") == 0;
    if (!info || !(is_tir || is_closure || is_builtin)) return;
    if (is_tir) {
        print_out_sinfo(pr, info);
        return;
    }
    hone_str_append(pr->out, printer_is_classic(pr) ? ", sinfo_args=(" : ", ty_args=(");
    print_sinfo(pr, info);
    hone_str_append(pr->out, ",)");
}

/* out_dtype="void", "that of the arguments", is None since TVM 0.27. */
static void print_attr_value(printer *pr, const hone_attr *attr) {
    const hone_value *v = &attr->value;
    bool is_void =
        v->kind == HONE_VALUE_NONE || (v->kind == HONE_VALUE_STRING && strcmp(v->u.s, "void") == 0);
    if (is_void && strcmp(attr->key, "out_dtype") == 0) {
        hone_str_append(pr->out, printer_is_classic(pr) ? "\"void\"" : "None");
    } else {
        print_value(pr, v);
    }
}

/* An argument of an operator: a number that the text gives as such stays one. */
static void print_operand(printer *pr, const hone_garg *arg) {
    const hone_expr *e = arg->kind == HONE_GARG_PRIM && arg->is_plain ? arg->u.expr : NULL;
    if (e && e->kind == HONE_EXPR_INT && hone_dtype_is_bool(e->dtype)) {
        hone_str_append(pr->out, e->u.i ? "True" : "False");
    } else if (e && e->kind == HONE_EXPR_INT) {
        hone_str_printf(pr->out, "%lld", (long long)e->u.i);
    } else if (e && e->kind == HONE_EXPR_FLOAT && isfinite(e->u.f)) {
        print_float(pr->out, e->u.f);
    } else if (arg->kind == HONE_GARG_TUPLE && arg->count) {
        hone_str_append_char(pr->out, '(');
        for (uint32_t i = 0; i < arg->count; i++) {
            if (i) hone_str_append(pr->out, ", ");
            print_operand(pr, &arg->u.items[i]);
        }
        hone_str_append(pr->out, arg->count == 1 ? ",)" : ")");
    } else {
        print_garg(pr, arg);
    }
}

static bool is_product(const hone_gbind *bind) {
    return bind->kind == HONE_GBIND_CALL && strcmp(bind->callee, "matmul") == 0;
}

/* transpose_a and transpose_b of matmul are our own: the rank of a turned operand, 0 where the
 * attribute says nothing, -1 where the rank is not known and the attribute has to be printed. */
static int32_t turned_rank(printer *pr, const hone_gbind *bind, uint32_t arg) {
    static const char *const keys[] = {"transpose_a", "transpose_b"};
    if (!is_product(bind) || arg > 1 || !hone_attrs_int(&bind->attrs, keys[arg], 0)) return 0;
    const hone_sinfo *info = hone_garg_sinfo(pr->module, pr->graph, &bind->args[arg], pr->arena);
    bool is_known = info && info->kind == HONE_SINFO_TENSOR && info->rank >= 0;
    return !is_known ? -1 : info->rank > 1 ? info->rank : 0;
}

static void print_turned(printer *pr, const hone_garg *arg, int32_t rank) {
    hone_str_append(pr->out, "R.permute_dims(");
    print_operand(pr, arg);
    hone_str_append(pr->out, ", axes=[");
    for (int32_t i = 0; i + 2 < rank; i++)
        hone_str_printf(pr->out, "%d, ", i);
    hone_str_printf(pr->out, "%d, %d])", rank - 1, rank - 2);
}

/* Transpositions of matmul are said by its operands. */
static bool is_said(printer *pr, const hone_gbind *bind, const hone_attr *attr) {
    bool is_a = strcmp(attr->key, "transpose_a") == 0, is_b = strcmp(attr->key, "transpose_b") == 0;
    return is_product(bind) && (is_a || is_b) && turned_rank(pr, bind, is_b) >= 0;
}

static void print_operator(printer *pr, const hone_gbind *bind, const hone_sinfo *info) {
    bool is_function = bind->kind == HONE_GBIND_CALL_FUNC;
    hone_str_printf(pr->out, "%s.%s(", is_function ? "cls" : "R", bind->callee);
    for (uint32_t i = 0; i < bind->arg_count; i++) {
        int32_t rank = turned_rank(pr, bind, i);
        if (i) hone_str_append(pr->out, ", ");
        if (rank > 0)
            print_turned(pr, &bind->args[i], rank);
        else
            print_operand(pr, &bind->args[i]);
    }
    for (uint32_t i = 0; i < bind->attrs.count; i++) {
        if (is_said(pr, bind, &bind->attrs.items[i])) continue;
        hone_str_printf(pr->out, "%s%s=", i || bind->arg_count ? ", " : "",
                        bind->attrs.items[i].key);
        print_attr_value(pr, &bind->attrs.items[i]);
    }
    if (!is_function) print_result_type(pr, bind, info);
    hone_str_append_char(pr->out, ')');
}

static uint32_t uses_in(const hone_garg *arg, hone_gvalue value) {
    uint32_t count = arg->kind == HONE_GARG_VALUE && arg->u.value == value;
    for (uint32_t i = 0; arg->kind == HONE_GARG_TUPLE && i < arg->count; i++)
        count += uses_in(&arg->u.items[i], value);
    return count;
}

/* The call that is written within this R.match_cast, and serves nothing else; or NULL. */
static const hone_gbind *operand_of(const hone_graph_func *g, const hone_gbind *bind) {
    const hone_gbind *operand = bind - 1;
    if (bind->kind != HONE_GBIND_MATCH_CAST || bind == g->bindings || !operand->is_operand ||
        bind->args[0].kind != HONE_GARG_VALUE || operand->value != bind->args[0].u.value ||
        operand->in_dataflow != bind->in_dataflow ||
        operand->dataflow_block != bind->dataflow_block || g->values[operand->value].is_output) {
        return NULL;
    }
    uint32_t uses = uses_in(&g->result, operand->value);
    for (uint32_t i = 0; i < g->bind_count; i++) {
        for (uint32_t a = 0; a < g->bindings[i].arg_count; a++)
            uses += uses_in(&g->bindings[i].args[a], operand->value);
    }
    return uses == 1 ? operand : NULL;
}

static void print_right_side(printer *pr, const hone_gbind *bind, const hone_sinfo *info) {
    const hone_gbind *operand = operand_of(pr->graph, bind);
    switch (bind->kind) {
    case HONE_GBIND_CALL:
    case HONE_GBIND_CALL_FUNC:
        print_operator(pr, bind, info);
        return;
    case HONE_GBIND_CALL_TIR:
    case HONE_GBIND_CALL_DPS:
        print_through(pr, bind, info);
        return;
    case HONE_GBIND_CALL_PACKED:
        print_packed(pr, bind, info);
        return;
    case HONE_GBIND_ARG:
        print_garg(pr, &bind->args[0]);
        return;
    case HONE_GBIND_TUPLE_GET:
        print_garg(pr, &bind->args[0]);
        hone_str_printf(pr->out, "[%d]", bind->index);
        return;
    case HONE_GBIND_MATCH_CAST:
        hone_str_append(pr->out, "R.match_cast(");
        if (operand) {
            print_right_side(pr, operand, pr->graph->values[operand->value].sinfo);
        } else {
            print_garg(pr, &bind->args[0]);
        }
        hone_str_append(pr->out, ", ");
        print_sinfo(pr, info);
        hone_str_append_char(pr->out, ')');
        return;
    case HONE_GBIND_IF: /* in a dataflow block, where it cannot stand */
        hone_str_append(pr->out, "None");
        return;
    }
}

/* Does the right side say the type already? */
static bool tells_type(const hone_gbind *bind) {
    if (bind->kind == HONE_GBIND_ARG && bind->args[0].kind == HONE_GARG_PRIM) return true;
    return bind->kind == HONE_GBIND_CALL_TIR || bind->kind == HONE_GBIND_CALL_DPS ||
           bind->kind == HONE_GBIND_CALL_PACKED || bind->kind == HONE_GBIND_MATCH_CAST;
}

static void print_bind(printer *pr, const hone_gbind *bind) {
    bool has_next = bind + 1 < pr->graph->bindings + pr->graph->bind_count;
    if (has_next && operand_of(pr->graph, bind + 1) == bind) return;
    const hone_gvalue_info *made = &pr->graph->values[bind->value];
    hone_str right = {0}, *out = pr->out;
    pr->out = &right;
    print_right_side(pr, bind, made->sinfo);
    pr->out = out;
    const char *name = printer_define(pr, made->name);
    pr->value_names[bind->value] = name;
    printer_line_begin(pr);
    hone_str_append(pr->out, name);
    if (made->sinfo && !tells_type(bind)) {
        hone_str_append(pr->out, ": ");
        print_sinfo(pr, made->sinfo);
    }
    hone_str_printf(pr->out, " = %s", hone_str_text(&right));
    printer_line_end(pr);
    pr->out->failed |= right.failed;
    hone_str_deinit(&right);
}

/* ---- branches ---- */

static void print_bindings(printer *pr);

static void declare_size(printer *pr, const char *name) {
    printer_line_begin(pr);
    hone_str_printf(pr->out, "%s = T.int64()", name);
    printer_line_end(pr);
}

/* Names of a branch: its parameters and sizes are called as around; sizes of its own, which an
 * R.match_cast defines, are declared in it. */
static bool enter_branch(printer *pr, const hone_graph_func *g, const hone_gbind *bind) {
    const hone_graph_func *around = pr->graph;
    usage own;
    const char **vars = hone_arena_zalloc(pr->arena, (g->var_count + 1) * sizeof *vars);
    const char **values = hone_arena_zalloc(pr->arena, (g->value_count + 1) * sizeof *values);
    if (!vars || !values || !find_usage(pr, g, pr->branches, &own)) return false;
    for (uint32_t i = 0; i < g->param_count; i++) {
        const hone_garg *arg = &bind->args[HONE_GBIND_IF_ARGS + i];
        values[i] = arg->kind == HONE_GARG_VALUE ? printer_value(pr, arg->u.value) : NULL;
    }
    for (hone_var v = 0; v < g->var_count; v++) {
        for (hone_var outer = 0; outer < around->var_count; outer++) {
            bool is_it = strcmp(g->vars[v].name, around->vars[outer].name) == 0;
            if (is_it) vars[v] = printer_var(pr, outer);
        }
        if (vars[v] || !own.vars[v]) continue;
        vars[v] = printer_define(pr, g->vars[v].name);
        declare_size(pr, vars[v]);
    }
    pr->graph = g;
    pr->var_names = vars;
    pr->value_names = values;
    return true;
}

static void print_branch(printer *pr, const hone_gbind *bind, uint32_t which, const char *name,
                         const hone_sinfo *info) {
    const hone_graph_func *around = pr->graph, *g = branch_of(pr->module, bind, which);
    const char **vars = pr->var_names, **values = pr->value_names;
    uint32_t scope = printer_scope_begin(pr);
    if (!g || pr->branches == MAX_BRANCHES || !enter_branch(pr, g, bind)) {
        printer_line(pr, "pass"); /* not well formed */
        return;
    }
    pr->branches++;
    print_bindings(pr);
    pr->branches--;
    hone_str result = {0}, *out = pr->out;
    pr->out = &result;
    print_garg(pr, &g->result);
    pr->out = out;
    pr->graph = around;
    pr->var_names = vars;
    pr->value_names = values;
    printer_scope_end(pr, scope);
    printer_line_begin(pr);
    hone_str_append(pr->out, name);
    if (info) {
        hone_str_append(pr->out, ": ");
        print_sinfo(pr, info);
    }
    hone_str_printf(pr->out, " = %s", hone_str_text(&result));
    printer_line_end(pr);
    pr->out->failed |= result.failed;
    hone_str_deinit(&result);
}

static void print_if(printer *pr, const hone_gbind *bind) {
    const hone_gvalue_info *made = &pr->graph->values[bind->value];
    printer_line_begin(pr);
    hone_str_append(pr->out, "if ");
    print_gargs(pr, bind->arg_count ? 1 : 0, bind->args);
    hone_str_append_char(pr->out, ':');
    printer_line_end(pr);
    const char *name = printer_define(pr, made->name);
    pr->indent++;
    print_branch(pr, bind, HONE_GBIND_IF_THEN, name, made->sinfo);
    pr->indent--;
    printer_line(pr, "else:");
    pr->indent++;
    print_branch(pr, bind, HONE_GBIND_IF_ELSE, name, made->sinfo);
    pr->indent--;
    pr->value_names[bind->value] = name;
}

/* ---- dataflow blocks ---- */

static void print_outputs(printer *pr, uint32_t begin, uint32_t end) {
    const char *comma = "";
    printer_line_begin(pr);
    hone_str_append(pr->out, "R.output(");
    for (uint32_t i = begin; i < end; i++) {
        hone_gvalue value = pr->graph->bindings[i].value;
        if (!pr->graph->values[value].is_output) continue;
        hone_str_printf(pr->out, "%s%s", comma, printer_value(pr, value));
        comma = ", ";
    }
    hone_str_append_char(pr->out, ')');
    printer_line_end(pr);
}

static void print_bindings(printer *pr) {
    const hone_graph_func *g = pr->graph;
    for (uint32_t i = 0; i < g->bind_count;) {
        if (!g->bindings[i].in_dataflow) {
            (g->bindings[i].kind == HONE_GBIND_IF ? print_if : print_bind)(pr, &g->bindings[i]);
            i++;
            continue;
        }
        uint32_t end = i;
        printer_line(pr, "with R.dataflow():");
        pr->indent++;
        while (end < g->bind_count && g->bindings[end].in_dataflow &&
               g->bindings[end].dataflow_block == g->bindings[i].dataflow_block) {
            print_bind(pr, &g->bindings[end++]);
        }
        print_outputs(pr, i, end);
        pr->indent--;
        i = end;
    }
}

/* ---- the function ---- */

static void print_head(printer *pr) {
    const hone_graph_func *g = pr->graph;
    printer_line_begin(pr);
    hone_str_append(pr->out, "@R.function");
    if (g->is_private || !g->is_pure) {
        hone_str_printf(pr->out, "(%s%s%s)", g->is_private ? "private=True" : "",
                        g->is_private && !g->is_pure ? ", " : "", g->is_pure ? "" : "pure=False");
    }
    printer_line_end(pr);
    printer_line_begin(pr);
    hone_str_printf(pr->out, "def %s(", g->name);
    pr->in_signature = true;
    for (uint32_t i = 0; i < g->param_count; i++) {
        if (!pr->value_names[i]) pr->value_names[i] = printer_define(pr, g->values[i].name);
        hone_str_printf(pr->out, "%s%s", i ? ", " : "", pr->value_names[i]);
        if (!g->values[i].sinfo) continue;
        hone_str_append(pr->out, ": ");
        print_sinfo(pr, g->values[i].sinfo);
    }
    hone_str_append_char(pr->out, ')');
    if (g->result_sinfo) {
        hone_str_append(pr->out, " -> ");
        print_sinfo(pr, g->result_sinfo);
    }
    pr->in_signature = false;
    hone_str_append_char(pr->out, ':');
    printer_line_end(pr);
}

static void print_declarations(printer *pr, const usage *u) {
    const hone_graph_func *g = pr->graph;
    for (hone_var var = 0; var < g->var_count; var++) {
        if (u->vars[var]) declare_size(pr, printer_var(pr, var));
    }
    if (g->attrs.count) {
        printer_line_begin(pr);
        hone_str_append(pr->out, "R.func_attr(");
        print_attrs(pr, &g->attrs);
        hone_str_append_char(pr->out, ')');
        printer_line_end(pr);
    }
    if (names_module(pr->module, g, 0)) printer_line(pr, "cls = Module");
}

static bool begin_tables(printer *pr, usage *u) {
    const hone_graph_func *g = pr->graph;
    pr->var_names = hone_arena_zalloc(pr->arena, (g->var_count + 1) * sizeof *pr->var_names);
    pr->value_names = hone_arena_zalloc(pr->arena, (g->value_count + 1) * sizeof *pr->value_names);
    if (!pr->var_names || !pr->value_names || !find_usage(pr, g, 0, u)) return false;
    /* Whoever calls a parameter by a name that Python has as well finds it under that name. */
    for (uint32_t i = 0; i < g->param_count; i++) {
        const char *name = g->values[i].name;
        if (printer_can_keep(pr, name)) pr->value_names[i] = printer_define(pr, name);
    }
    for (hone_var var = 0; var < g->var_count; var++) {
        if (u->vars[var]) printer_define_var(pr, var);
    }
    return true;
}

void print_graph(printer *pr, const hone_graph_func *graph) {
    usage u;
    uint32_t scope = printer_scope_begin(pr);
    pr->graph = graph;
    pr->func = NULL;
    if (!begin_tables(pr, &u)) {
        pr->is_short_of_memory = true;
        return;
    }
    print_head(pr);
    pr->indent++;
    print_declarations(pr, &u);
    print_bindings(pr);
    printer_line_begin(pr);
    hone_str_append(pr->out, "return ");
    print_garg(pr, &graph->result);
    printer_line_end(pr);
    pr->indent--;
    printer_scope_end(pr, scope);
    pr->graph = NULL;
}
