/* include/api_pass.c - visitors and mutators of tensor programs. */
#include <hone/pass.h>

#include "graph/module/module_parts.h"
#include "include/api.h"
#include "ir/region/func_rewrite.h"
#include "ir/verify/verify.h"

static hone_status pick(const hone_program *program, const char *function, hone_func **out) {
    const hone_member *member;
    HONE_TRY(hone_module_pick(hone_api_module(program), function, &member));
    *out = member->func;
    if (member->kind == HONE_MEMBER_FUNC) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "'%s' is no tensor program", member->name);
}

/* ---- visitors ---- */

static const char *kind_name(hone_node_kind kind) {
    static const char *const names[] = {
        [HONE_NODE_TOP] = "function",  [HONE_NODE_FOR] = "for",
        [HONE_NODE_BLOCK] = "block",   [HONE_NODE_INIT] = "init",
        [HONE_NODE_STORE] = "store",   [HONE_NODE_EVAL] = "evaluate",
        [HONE_NODE_IF] = "if",         [HONE_NODE_ELSE] = "else",
        [HONE_NODE_WHILE] = "while",   [HONE_NODE_LET] = "let",
        [HONE_NODE_ASSERT] = "assert", [HONE_NODE_ALLOC] = "alloc",
        [HONE_NODE_DECL] = "declare",  [HONE_NODE_ATTR] = "attr",
        [HONE_NODE_BREAK] = "break",   [HONE_NODE_CONTINUE] = "continue"};
    return names[kind];
}

static const char *statement_name(const hone_func *func, const hone_node *node) {
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_TOP:
        return func->name;
    case HONE_NODE_FOR:
        return func->vars[node->u.loop.var].name;
    case HONE_NODE_BLOCK:
        return node->u.block.block->name;
    case HONE_NODE_STORE:
        return hone_func_buffer(func, node->u.store.buffer)->name;
    case HONE_NODE_LET:
        return func->vars[node->u.let.var].name;
    case HONE_NODE_ALLOC:
    case HONE_NODE_DECL:
        return hone_func_buffer(func, node->u.alloc.buffer)->name;
    default:
        return NULL;
    }
}

static void visit_statements(const hone_func *func, hone_node_id at, unsigned depth,
                             const hone_visitor *visitor) {
    const hone_node *node = hone_func_node(func, at);
    visitor->statement(visitor->context, depth, kind_name((hone_node_kind)node->kind),
                       statement_name(func, node));
    for (hone_node_id c = node->first; c != HONE_NO_ID; c = hone_func_node(func, c)->next)
        visit_statements(func, c, depth + 1, visitor);
}

static void visit_term(void *ctx, hone_node_id at, const hone_expr *e) {
    const hone_visitor *visitor = ctx;
    (void)at;
    visitor->term(visitor->context, (const hone_term *)e);
}

hone_error *hone_program_visit(const hone_program *program, const char *function,
                               const hone_visitor *visitor) {
    HONE_API_NEED(program);
    HONE_API_NEED(visitor);
    hone_func *func;
    hone_status st = pick(program, function, &func);
    if (st) return hone_api_error(st);
    hone_visitor copy = *visitor;
    if (copy.statement) visit_statements(func, 0, 0, &copy);
    if (copy.term) hone_tree_walk_exprs(func, 0, true, visit_term, &copy);
    return NULL;
}

/* ---- mutators ---- */

typedef struct mutation {
    hone_mutator mutator;
    void *context;
    const hone_func *func;
} mutation;

/* A variable or an array that is none of the function. */
static bool is_foreign(const void *ctx, const hone_expr *e) {
    const hone_func *func = ctx;
    if (e->kind == HONE_EXPR_VAR) {
        return e->u.var >= func->var_count ||
               !hone_dtype_equal(e->dtype, func->vars[e->u.var].dtype);
    }
    return e->kind == HONE_EXPR_LOAD && (e->u.buffer >= func->buffer_count ||
                                         e->count != hone_func_buffer(func, e->u.buffer)->rank);
}

static const hone_expr *mutate(void *ctx, hone_ir *ir, const hone_expr *e) {
    mutation *m = ctx;
    const hone_term *made = m->mutator(m->context, (hone_terms *)ir, (const hone_term *)e);
    const hone_expr *now = (const hone_expr *)made;
    if (!now) {
        return hone_ir_fail(ir, HONE_ERROR(HONE_CODE_INVALID, "the mutator returned NULL"));
    }
    if (now == e) return e;
    if (!hone_dtype_equal(now->dtype, e->dtype)) {
        return hone_ir_fail(ir, HONE_ERROR(HONE_CODE_TYPE, "the mutator made %s of %s",
                                           HONE_DTYPE_NAME(now->dtype), HONE_DTYPE_NAME(e->dtype)));
    }
    if (!hone_expr_find(now, is_foreign, m->func)) return now;
    return hone_ir_fail(
        ir, HONE_ERROR(HONE_CODE_INVALID, "the mutator returned a term of another function"));
}

static hone_status rewrite(const hone_program *program, const char *function, mutation *m,
                           hone_module **out_module) {
    hone_func *func;
    hone_module *changed;
    HONE_TRY(pick(program, function, &func));
    HONE_TRY(hone_module_alone(hone_api_module(program), function, &changed));
    func = changed->members[0].func;
    m->func = func;
    hone_status st = hone_func_rewrite(func, mutate, m);
    if (!st) st = hone_check_func(func);
    hone_module_freeze(changed);
    if (!st) st = hone_module_merge(hone_api_module(program), changed, out_module);
    hone_module_release(changed);
    return st;
}

hone_error *hone_program_rewrite(const hone_program *program, const char *function,
                                 hone_mutator mutator, void *context, hone_program **out_program) {
    HONE_API_NEED(out_program);
    *out_program = NULL;
    HONE_API_NEED(program);
    HONE_API_NEED(mutator);
    hone_module *module = NULL;
    mutation m = {.mutator = mutator, .context = context};
    hone_status st = rewrite(program, function, &m, &module);
    if (!st) *out_program = hone_api_program(module);
    return hone_api_error(st);
}
