/* ir/text/read/script_lambda.c - `lambda i, j: (i // 4, j)`: what T.index_map and T.comm_reducer
 * take.
 *
 * The parser evaluates as it reads, and the types of the parameters stand behind the lambda (the
 * identities of a reducer). So a lambda is skipped when it is met (SCRIPT_LAMBDA keeps its token),
 * and read when its callee knows the types.
 */
#include "ir/text/read/script_impl.h"

#include <string.h>

bool script_skip_lambda(script_parser *p, script_value *out) {
    uint32_t open = 0;
    *out = (script_value){.kind = SCRIPT_LAMBDA, .at = p->pos, .u.i = p->pos};
    for (p->pos++;; p->pos++) {
        const py_token *t = script_peek(p);
        if (t->kind == PY_TOKEN_NEWLINE || t->kind == PY_TOKEN_END) break;
        if (t->kind != PY_TOKEN_OP || t->length != 1) continue;
        char c = p->source.text[t->start];
        bool closes = c == ')' || c == ']' || c == '}';
        if (!open && (closes || c == ',')) {
            if (c != ',' || out->count) break;
            continue; /* between parameters */
        }
        if (!open && c == ':') out->count = 1; /* the body begins */
        if (c == '(' || c == '[' || c == '{') open++;
        if (closes) open--;
    }
    if (out->count) return true;
    return script_fail(p, out->at, "expected ':' and the body of the lambda");
}

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
                      script_value *out) {
    if (list->count == MAX_PARAMS) return script_fail(p, p->pos, "too many parameters");
    hone_var *var = &list->params[list->count++];
    if (!new_param(p, name, dtype, var)) return false;
    *out = SCRIPT_VALUE_EXPR(hone_expr_var(&p->ir, dtype, *var));
    return out->u.expr || script_check_ir(p, p->pos);
}

/* "*rest": all parameters that the map has and that no other name takes. */
static bool add_rest(script_parser *p, param_list *list, const char *name, hone_dtype dtype,
                     uint32_t rank, script_value *out) {
    uint32_t count = rank > list->count ? rank - list->count : 0;
    if (!rank) return script_fail(p, p->pos, "this lambda needs a parameter per dimension");
    script_value *items = script_alloc(p, p->scratch, count, sizeof *items);
    if (!items) return false;
    for (uint32_t i = 0; i < count; i++) {
        const char *one = hone_arena_printf(p->scratch, "%s_%u", name, i);
        if (!one) return script_no_memory(p);
        if (!add_param(p, list, one, dtype, &items[i])) return false;
    }
    *out = (script_value){.kind = SCRIPT_TUPLE, .count = count, .u.items = items};
    return true;
}

/* The names between `lambda` and ':', as new variables. */
static bool parse_params(script_parser *p, hone_dtype dtype, const hone_expr *const *like,
                         uint32_t like_count, uint32_t rank, hone_lambda *lambda) {
    param_list list = {.count = 0};
    while (!script_at_op(p, ":")) {
        const char *name = NULL;
        script_value v;
        bool is_rest = script_take_op(p, "*");
        if (!script_need_name(p, "a parameter of the lambda", &name)) return false;
        if (like_count) dtype = like[list.count % like_count]->dtype;
        bool ok = is_rest ? add_rest(p, &list, name, dtype, rank, &v)
                          : add_param(p, &list, name, dtype, &v);
        if (!ok || !script_define(p, name, v)) return false;
        if (!script_take_op(p, ",") || is_rest) break;
    }
    lambda->param_count = list.count;
    hone_var *params = script_alloc(p, p->arena, list.count, sizeof *params);
    if (!params) return false;
    if (list.count) memcpy(params, list.params, list.count * sizeof *params);
    lambda->params = params;
    return script_need_op(p, ":", "behind the parameters of the lambda");
}

bool script_parse_params(script_parser *p, hone_dtype dtype, uint32_t rank, hone_lambda *lambda) {
    return parse_params(p, dtype, NULL, 0, rank, lambda);
}

/* A lambda says what its parameters say and constants, nothing else. */
typedef struct purity {
    const hone_lambda *lambda;
    bool is_closed;
} purity;

static bool visit_body(void *ctx, const hone_expr *e) {
    purity *u = ctx;
    bool known = e->kind != HONE_EXPR_VAR;
    for (uint32_t i = 0; i < u->lambda->param_count && !known; i++)
        known = e->u.var == u->lambda->params[i];
    bool opaque = e->kind == HONE_EXPR_LOAD || e->kind == HONE_EXPR_LET ||
                  (e->kind == HONE_EXPR_CALL && !hone_intrin_is_pure((hone_intrin)e->op));
    if (!known || opaque) u->is_closed = false;
    return true;
}

static bool check_body(script_parser *p, uint32_t at, const hone_lambda *lambda) {
    purity u = {lambda, true};
    for (uint32_t i = 0; i < lambda->body_count; i++)
        hone_expr_walk(lambda->bodies[i], visit_body, &u);
    if (u.is_closed) return true;
    return script_fail(p, at, "a lambda may use its parameters and constants only");
}

/* Reads a skipped lambda; its parameters have this dtype, or those of like[] in turn. */
static bool read_lambda(script_parser *p, const script_value *v, hone_dtype dtype,
                        const hone_expr *const *like, uint32_t like_count, hone_lambda *lambda) {
    if (v->kind != SCRIPT_LAMBDA) {
        return script_fail(p, v->at, "expected a lambda, found %s", script_kind_name(v));
    }
    if (!p->func && !p->graph) return script_fail(p, v->at, "a lambda outside of a function");
    uint32_t back = p->pos, names = p->name_count;
    script_value body;
    p->pos = (uint32_t)v->u.i + 1;
    bool ok = script_enter(p) && parse_params(p, dtype, like, like_count, 0, lambda) &&
              script_parse_expr(p, &body) &&
              script_to_exprs(p, &body, &lambda->body_count, &lambda->bodies) &&
              check_body(p, body.at, lambda);
    p->depth--;
    p->name_count = names;
    p->pos = back;
    return ok;
}

static bool finish(const hone_lambda *lambda, script_value *out) {
    *out = (script_value){.kind = SCRIPT_FUNCTION, .u.lambda = lambda};
    return true;
}

/* T.index_map(lambda i, j: (...), index_dtype="int64") */
static bool call_index_map(script_parser *p, const script_call *call, script_value *out) {
    const script_value *map = NULL, *type = script_arg(call, UINT32_MAX, "index_dtype");
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
static bool call_comm_reducer(script_parser *p, const script_call *call, script_value *out) {
    const script_value *combine = NULL, *identity = NULL;
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
