/* ir/text/read/script_host.c - what the evaluator of Python asks about programs: names, calls,
 * operators and indices of values that only they have. */
#include <string.h>

#include "ir/text/read/script_impl.h"

static script_parser *parser_of(const py_run *run) {
    return run->ctx;
}

/* ---- calls ---- */

static const char *name_of_callee(const py_value *callee) {
    switch (callee->kind) {
    case SCRIPT_PATH:
    case SCRIPT_GLOBAL:
        return callee->u.s;
    case SCRIPT_METHOD:
        return script_method_of(callee)->name;
    case SCRIPT_LOCAL:
        return script_local_of(callee)->name;
    case SCRIPT_GARG:
        return "this function";
    default:
        return NULL;
    }
}

static bool call_value(script_parser *p, const py_value *callee, const script_call *call,
                       py_value *out) {
    switch (callee->kind) {
    case SCRIPT_METHOD:
        return script_call_method(p, callee, call, out);
    case SCRIPT_LOCAL:
        return script_call_local(p, script_local_of(callee), call, out);
    case SCRIPT_GARG:
        return script_call_extern(p, callee, call, out);
    case SCRIPT_GLOBAL:
        return p->func ? script_call_function(p, callee->u.s, call, out)
                       : script_call_global(p, callee->u.s, call, out);
    default:
        return script_call_path(p, call, out);
    }
}

/* Sizes in quotes are names for what stands behind them in the same T.Buffer. */
static bool is_description(const py_value *v) {
    return v->kind == SCRIPT_PATH && strcmp(v->u.s, "T.Buffer") == 0;
}

static bool call(script_parser *p, const py_node *node, py_value *io) {
    const py_value callee = *io;
    const char *name = name_of_callee(&callee);
    script_call call;
    if (!name) {
        const char *hint = callee.kind == SCRIPT_BUFFER ? "; an element of it is A[i]" : "";
        return script_fail(p, callee.at, "%s cannot be called%s", script_kind_name(&callee), hint);
    }
    const py_node *description = p->description;
    if (is_description(&callee)) p->description = node;
    bool ok = script_eval_arguments(p, name, node, &call);
    p->description = description;
    p->run.at = node->at;
    *io = PYV_OF_NONE;
    return ok && call_value(p, &callee, &call, io);
}

static hone_status host_call(py_run *run, const py_node *node, py_value *io) {
    script_parser *p = parser_of(run);
    return script_pass(p, call(p, node, io));
}

static hone_status host_attribute(py_run *run, const py_node *node, py_value *io) {
    script_parser *p = parser_of(run);
    const py_value base = *io;
    *io = PYV_OF_NONE;
    return script_pass(p, script_attribute(p, &base, node->name, node->mark, io));
}

static hone_status host_method(py_run *run, const py_node *node, py_value *io) {
    HONE_TRY(host_attribute(run, node->base, io));
    io->at = node->base->at;
    return host_call(run, node, io);
}

static hone_status host_subscript(py_run *run, const py_node *node, py_value *io) {
    script_parser *p = parser_of(run);
    const py_value base = *io;
    const py_node *description = p->description;
    if (is_description(&base)) p->description = node;
    *io = PYV_OF_NONE;
    bool ok = script_subscript(p, &base, node, io);
    p->description = description;
    return script_pass(p, ok);
}

/* ---- names ---- */

static hone_status host_name(py_run *run, const py_node *node, py_value *out) {
    script_parser *p = parser_of(run);
    return script_pass(p, script_eval_name(p, node, out));
}

static bool host_hides(const py_run *run, const char *name) {
    return script_is_known(parser_of(run), name);
}

static hone_status host_lambda(py_run *run, const py_node *node, py_value *out) {
    (void)run;
    *out = (py_value){.kind = SCRIPT_LAMBDA, .u.host = node};
    return HONE_OK;
}

/* ---- operators ---- */

static hone_status host_unary(py_run *run, const py_node *node, py_value *io) {
    script_parser *p = parser_of(run);
    const py_value operand = *io;
    return script_pass(p, script_unary_value(p, node->at, node->op, &operand, io));
}

static hone_status host_compute(py_run *run, uint32_t at, py_op op, const py_value *right,
                                py_value *io) {
    script_parser *p = parser_of(run);
    const py_value left = *io;
    bool asks_is = op == PY_IS || op == PY_IS_NOT;
    if (asks_is && right->kind != PYV_NONE) {
        return py_fail_at(run, at, "'is' asks for None here; '==' compares values");
    }
    op = op == PY_IS ? PY_EQ : op == PY_IS_NOT ? PY_NE : op;
    return script_pass(p, script_binary_value(p, at, op, &left, right, io));
}

/* A condition that is asked when the program runs. */
static bool choose(script_parser *p, const py_node *node, py_value *io) {
    py_value yes, no;
    const hone_expr *args[3];
    if (!script_to_expr(p, io, &args[0]) || !script_eval(p, node->items[0], &yes) ||
        !script_eval(p, node->items[1], &no) || !script_to_expr(p, &yes, &args[1]) ||
        !script_to_expr(p, &no, &args[2])) {
        return false;
    }
    script_unify(&p->ir, &args[1], &args[2]);
    *io = SCRIPT_VALUE_EXPR(
        hone_expr_call(&p->ir, args[1]->dtype, HONE_INTRIN_IF_THEN_ELSE, 3, args));
    return script_check_ir(p, node->base->at);
}

static hone_status host_choice(py_run *run, const py_node *node, py_value *io) {
    script_parser *p = parser_of(run);
    return script_pass(p, choose(p, node, io));
}

static hone_status host_truth(py_run *run, uint32_t at, const py_value *v, bool *out) {
    script_parser *p = parser_of(run);
    (void)at;
    return script_pass(p, script_to_bool(p, v, out));
}

static hone_status host_index(py_run *run, const py_value *v, int64_t *out) {
    script_parser *p = parser_of(run);
    return script_pass(p, script_to_int(p, v, out));
}

/* for i in range(4), where the text itself is gone through. */
static hone_status host_iterate(py_run *run, uint32_t at, const py_value *v, py_value *out_list) {
    const script_loop *loop = v->kind == SCRIPT_LOOP ? script_loop_of(v) : NULL;
    const hone_range *range = loop && loop->count == 1 ? loop->ranges : NULL;
    bool is_known = range && loop->kind == HONE_LOOP_SERIAL && !loop->step &&
                    range->min->kind == HONE_EXPR_INT && range->extent->kind == HONE_EXPR_INT;
    if (!is_known) return py_fail_at(run, at, "expected a list");
    HONE_TRY(py_new_list(run, PYV_LIST, out_list));
    for (int64_t i = 0; i < range->extent->u.i; i++)
        HONE_TRY(py_append(run, at, out_list, &PYV_OF_INT(range->min->u.i + i)));
    return HONE_OK;
}

/* ---- all of them ---- */

static const py_host host = {
    .name = host_name,
    .attribute = host_attribute,
    .call = host_call,
    .method = host_method,
    .lambda = host_lambda,
    .truth = host_truth,
    .hides = host_hides,
    .subscript = host_subscript,
    .unary = host_unary,
    .compute = host_compute,
    .choice = host_choice,
    .index = host_index,
    .iterate = host_iterate,
    .body = script_run_macro,
    .names_all = true,
    .takes_any_literal = true,
    .float_type = "T.float32",
    .max_items = UINT16_MAX,
    .max_depth = 2 * PY_MAX_DEPTH,
    .max_text = PY_MAX_BYTES,
    .max_calls = 20000,
    .max_call_depth = 2 * PY_MAX_DEPTH,
};

void script_begin(script_parser *p) {
    p->run = (py_run){.source = &p->source, .arena = p->scratch, .host = &host, .ctx = p};
    (void)py_open_scope(&p->run, true);
}

void script_end(script_parser *p) {
    py_run_end(&p->run);
}

bool script_eval(script_parser *p, const py_node *node, py_value *out) {
    return script_keep(p, py_eval(&p->run, node, out));
}

bool script_eval_arguments(script_parser *p, const char *callee, const py_node *node,
                           script_call *out) {
    py_args args = {0};
    bool ok = script_keep(p, py_eval_args(&p->run, node, &args));
    *out = (script_call){.callee = callee,
                         .at = node->at,
                         .count = args.count,
                         .keyword_count = args.keyword_count,
                         .args = args.items,
                         .keywords = args.keywords};
    return ok;
}
