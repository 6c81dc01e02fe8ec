/* ir/text/read/script_lambda.c - `lambda i, j: (i // 4, j)`: what T.index_map and T.comm_reducer
 * take.
 *
 * The types of the parameters stand behind the lambda (the identities of a reducer), so it is read
 * when its callee knows them: until then it is a SCRIPT_LAMBDA.
 */
#include "ir/text/read/script_impl.h"

#include <string.h>

static bool new_param(script_parser *p, const char *name, hone_dtype dtype, hone_var *out_var) {
    if (p->func) return script_new_var(p, name, dtype, out_var);
    *out_var = hone_graph_add_var(p->graph, name);
    if (*out_var == HONE_NO_ID) return script_no_memory(p);
    p->graph->vars[*out_var].dtype = dtype;
    return true;
}

enum { MAX_PARAMS = 64 };

typedef struct param_list {
    hone_var params[MAX_PARAMS];
    uint32_t count;
} param_list;

static bool add_param(script_parser *p, param_list *list, const char *name, hone_dtype dtype,
                      py_value *out) {
    if (list->count == MAX_PARAMS) return script_fail(p, p->run.at, "too many parameters");
    hone_var *var = &list->params[list->count++];
    if (!new_param(p, name, dtype, var)) return false;
    *out = SCRIPT_VALUE_EXPR(hone_expr_var(&p->ir, dtype, *var));
    return script_expr_of(out) || script_check_ir(p, p->run.at);
}

/* "*rest": all parameters that the map has and that no other name takes. */
static bool add_rest(script_parser *p, param_list *list, const char *name, hone_dtype dtype,
                     uint32_t rank, py_value *out) {
    uint32_t count = rank > list->count ? rank - list->count : 0;
    if (!rank) return script_fail(p, p->run.at, "this lambda needs a parameter per dimension");
    py_value *items = script_alloc(p, p->scratch, count, sizeof *items);
    if (!items) return false;
    for (uint32_t i = 0; i < count; i++) {
        const char *one = hone_arena_printf(p->scratch, "%s_%u", name, i);
        if (!one) return script_no_memory(p);
        if (!add_param(p, list, one, dtype, &items[i])) return false;
    }
    *out = (py_value){.kind = PYV_TUPLE, .count = count, .u.items = items};
    return true;
}

static bool bind_param(script_parser *p, const char *name, const py_value *value) {
    return script_keep(p, py_bind(&p->run, name, value));
}

/* The parameters, as new variables, in a scope of their own. */
static bool define_params(script_parser *p, const py_node *node, hone_dtype dtype,
                          const hone_expr *const *like, uint32_t like_count, uint32_t rank,
                          hone_lambda *lambda) {
    param_list list = {.count = 0};
    p->run.scope = py_new_scope(&p->run, p->run.scope);
    if (!p->run.scope) return script_no_memory(p);
    for (uint32_t i = 0; i + 1 < node->count; i++) {
        const py_node *param = node->items[i];
        bool is_rest = param->op == PY_ONE_STAR, is_last = i + 2 == node->count;
        py_value v;
        if (!param->name || param->items[1] || param->op == PY_TWO_STARS || (is_rest && !is_last)) {
            return script_fail(p, param->at, "expected a parameter of the lambda");
        }
        if (like_count) dtype = like[list.count % like_count]->dtype;
        bool ok = is_rest ? add_rest(p, &list, param->name, dtype, rank, &v)
                          : add_param(p, &list, param->name, dtype, &v);
        if (!ok || !bind_param(p, param->name, &v)) return false;
    }
    lambda->param_count = list.count;
    hone_var *params = script_alloc(p, p->arena, list.count, sizeof *params);
    if (!params) return false;
    if (list.count) memcpy(params, list.params, list.count * sizeof *params);
    lambda->params = params;
    return true;
}

bool script_lambda_params(script_parser *p, const py_node *node, hone_dtype dtype, uint32_t rank,
                          hone_lambda *lambda) {
    return define_params(p, node, dtype, NULL, 0, rank, lambda);
}

/* A lambda says what its parameters say and constants, nothing else. */
static bool is_from_outside(const void *ctx, const hone_expr *e) {
    const hone_lambda *lambda = ctx;
    bool known = e->kind != HONE_EXPR_VAR;
    for (uint32_t i = 0; i < lambda->param_count && !known; i++)
        known = e->u.var == lambda->params[i];
    return !known || e->kind == HONE_EXPR_LOAD || e->kind == HONE_EXPR_LET ||
           hone_expr_is_effect(e);
}

static bool check_body(script_parser *p, uint32_t at, const hone_lambda *lambda) {
    bool is_closed = true;
    for (uint32_t i = 0; i < lambda->body_count && is_closed; i++)
        is_closed = !hone_expr_find(lambda->bodies[i], is_from_outside, lambda);
    if (is_closed) return true;
    return script_fail(p, at, "a lambda may use its parameters and constants only");
}

/* Its parameters have this dtype, or those of like[] in turn. */
static bool read_lambda(script_parser *p, const py_value *v, hone_dtype dtype,
                        const hone_expr *const *like, uint32_t like_count, hone_lambda *lambda) {
    if (v->kind != SCRIPT_LAMBDA) {
        return script_fail(p, v->at, "expected a lambda, found %s", script_kind_name(v));
    }
    if (!p->func && !p->graph) return script_fail(p, v->at, "a lambda outside of a function");
    py_scope *scope = p->run.scope;
    const py_node *node = script_node_of(v);
    py_value body;
    bool ok = define_params(p, node, dtype, like, like_count, 0, lambda) &&
              script_eval(p, node->items[node->count - 1], &body) &&
              script_to_exprs(p, &body, &lambda->body_count, &lambda->bodies) &&
              check_body(p, body.at, lambda);
    p->run.scope = scope;
    return ok;
}

static bool finish(const hone_lambda *lambda, py_value *out) {
    *out = (py_value){.kind = SCRIPT_FUNCTION, .u.host = lambda};
    return true;
}

/* T.index_map(lambda i, j: (...), index_dtype="int64") */
static bool call_index_map(script_parser *p, const script_call *call, py_value *out) {
    const py_value *map = NULL, *type = script_arg(call, UINT32_MAX, "index_dtype");
    hone_dtype dtype = p->is_classic && !p->graph ? HONE_DTYPE_I32 : HONE_DTYPE_I64;
    hone_lambda *lambda = script_alloc(p, p->arena, 1, sizeof *lambda);
    if (!lambda || !script_need_arg(p, call, 0, "mapping", &map) ||
        (type && !script_to_dtype(p, type, &dtype))) {
        return false;
    }
    if (script_arg(call, UINT32_MAX, "inverse_index_map")) {
        return script_fail(p, call->at, "inverse_index_map is found here, not given");
    }
    return read_lambda(p, map, dtype, NULL, 0, lambda) && finish(lambda, out);
}

/* T.comm_reducer(lambda x, y: x + y, [T.float32(0)]) */
static bool call_comm_reducer(script_parser *p, const script_call *call, py_value *out) {
    const py_value *combine = NULL, *identity = NULL;
    hone_lambda *lambda = script_alloc(p, p->arena, 1, sizeof *lambda);
    if (!lambda || !script_need_arg(p, call, 0, "combiner", &combine) ||
        !script_need_arg(p, call, 1, "identity", &identity) ||
        !script_to_exprs(p, identity, &lambda->identity_count, &lambda->identities)) {
        return false;
    }
    lambda->is_reducer = true;
    if (!read_lambda(p, combine, HONE_DTYPE_F32, lambda->identities, lambda->identity_count,
                     lambda)) {
        return false;
    }
    if (lambda->param_count != 2 * lambda->body_count ||
        lambda->identity_count != lambda->body_count) {
        return script_fail(p, call->at,
                           "a reducer of %u values has %u parameters (expected %u) and %u "
                           "identities (expected %u)",
                           lambda->body_count, lambda->param_count, 2 * lambda->body_count,
                           lambda->identity_count, lambda->body_count);
    }
    return finish(lambda, out);
}

const script_entry script_lambda_calls[] = {
    {"T.index_map",    call_index_map   },
    {"T.IndexMap",     call_index_map   },
    {"T.comm_reducer", call_comm_reducer},
    {"T.CommReducer",  call_comm_reducer},
    {NULL,             NULL             },
};
