/* ir/text/read/graph/script_graph_sinfo.c - types of graph values: R.Tensor((n, 784), "float32")
 * and its kin, and the symbolic sizes in them. */
#include <string.h>

#include "ir/text/read/graph/script_graph_impl.h"

/* ---- sizes ---- */

const hone_expr *script_graph_size(script_parser *p, const char *name) {
    hone_graph_func *g = p->graph;
    hone_var var = 0;
    while (var < g->var_count && strcmp(g->vars[var].name, name) != 0)
        var++;
    if (var == g->var_count) var = hone_graph_add_var(g, name);
    if (var == HONE_NO_ID) {
        script_no_memory(p);
        return NULL;
    }
    const hone_expr *e = hone_expr_var(&p->ir, HONE_DTYPE_I64, var);
    return script_check_ir(p, p->run.at) ? e : NULL;
}

static bool eval_quoted(script_parser *p, const hone_expr **out) {
    static const py_parse_options options = {0};
    const py_node *suite;
    py_value inner;
    if (!script_check(p, 0, py_parse(&p->source, &options, p->scratch, &suite))) return false;
    bool is_value = suite->count == 1 && suite->items[0]->kind == PY_VALUE;
    return is_value && script_eval(p, suite->items[0]->base, &inner) &&
           script_to_expr(p, &inner, out);
}

/* "n + 1": the text is read as an expression whose unknown names are sizes. */
bool script_quoted_extent(script_parser *p, const py_value *v, const hone_expr **out) {
    const py_source around = p->source;
    uint32_t depth = p->run.depth;
    p->source = (py_source){.text = v->u.s, .length = strlen(v->u.s), .name = around.name};
    p->names_are_sizes = true;
    p->quoted_at = v->at;
    bool ok = eval_quoted(p, out);
    p->source = around;
    p->names_are_sizes = false;
    p->run.depth = depth;
    p->run.at = v->at;
    if (ok) return true;
    if (p->error && hone_status_code(p->error) != HONE_CODE_NO_MEMORY) {
        hone_status_free(p->error);
        p->error = HONE_OK;
    }
    return script_fail(p, v->at, "\"%s\" is no size", v->u.s);
}

static bool to_extent(script_parser *p, const py_value *v, const hone_expr **out) {
    p->size_dtype = HONE_DTYPE_I32;
    bool ok = v->kind == PYV_STRING ? script_quoted_extent(p, v, out) : script_to_expr(p, v, out);
    if (!ok) return false;
    const hone_expr *e = *out;
    if (!hone_dtype_is_integer(e->dtype) || e->dtype.lanes != 1) {
        return script_fail_type(p, v->at, "a size is %s, expected an integer",
                                HONE_DTYPE_NAME(e->dtype));
    }
    if (e->kind == HONE_EXPR_INT && e->u.i < -1) {
        return script_fail(p, v->at, "a size is %lld", (long long)e->u.i);
    }
    *out = script_cast(p, HONE_DTYPE_I64, e);
    return *out || script_check_ir(p, v->at);
}

bool script_to_extents(script_parser *p, const py_value *v, int32_t *out_rank,
                       const hone_expr *const **out) {
    const py_value *items = NULL;
    uint32_t count = 0;
    script_items(v, &items, &count);
    if (count > 64) return script_fail(p, v->at, "%u dimensions, at most 64", count);
    const hone_expr **extents = script_alloc(p, p->arena, count, sizeof *extents);
    if (!extents) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!to_extent(p, &items[i], &extents[i])) return false;
    }
    *out_rank = (int32_t)count;
    *out = extents;
    return true;
}

/* ---- types ---- */

static bool rank_option(script_parser *p, const py_value *v, int32_t *out) {
    int64_t rank = -1;
    if (v && !script_to_int(p, v, &rank)) return false;
    if (rank < -1 || rank > 64) return script_fail(p, v->at, "ndim is %lld", (long long)rank);
    *out = (int32_t)rank;
    return true;
}

static bool tensor_sinfo(script_parser *p, const script_call *call, hone_sinfo *info) {
    const py_value *shape = script_arg(call, 0, "shape"), *type = script_arg(call, 1, "dtype");
    const py_value *ndim = script_arg(call, UINT32_MAX, "ndim");
    info->kind = HONE_SINFO_TENSOR;
    info->dtype = HONE_DTYPE_VOID;
    hone_dtype dtype;
    if (shape && shape->kind == PYV_STRING && script_is_dtype_name(shape->u.s, &dtype)) {
        if (type) {
            return script_fail(p, shape->at, "R.Tensor takes the shape before the dtype");
        }
        type = shape; /* R.Tensor("float32", ndim=2) */
        shape = NULL;
    }
    if (!script_check_shape(p, call, shape, script_arg(call, 1, ""))) return false;
    if (type && !script_to_dtype(p, type, &info->dtype)) return false;
    if (!rank_option(p, ndim, &info->rank)) return false;
    if (!shape) return true;
    bool is_value = shape->kind == SCRIPT_GARG && script_garg_of(shape)->kind == HONE_GARG_VALUE;
    if (is_value) return true; /* a shape known at run time only */
    if (shape->kind == SCRIPT_GARG && script_garg_of(shape)->kind == HONE_GARG_SHAPE) {
        info->rank = (int32_t)script_garg_of(shape)->count;
        info->shape = script_garg_of(shape)->u.exprs;
        return true;
    }
    int32_t rank = info->rank;
    if (!script_to_extents(p, shape, &info->rank, &info->shape)) return false;
    if (rank >= 0 && rank != info->rank) {
        return script_fail(p, shape->at, "the shape has %d dimensions, ndim is %d", info->rank,
                           rank);
    }
    return true;
}

static bool shape_sinfo(script_parser *p, const script_call *call, hone_sinfo *info) {
    const py_value *shape = script_arg(call, 0, "values");
    info->kind = HONE_SINFO_SHAPE;
    info->dtype = HONE_DTYPE_VOID;
    if (!rank_option(p, script_arg(call, 1, "ndim"), &info->rank)) return false;
    return !shape || script_to_extents(p, shape, &info->rank, &info->shape);
}

static bool prim_sinfo(script_parser *p, const script_call *call, hone_sinfo *info) {
    const py_value *type = script_arg(call, 0, "dtype"), *value = script_arg(call, 1, "value");
    info->kind = HONE_SINFO_PRIM;
    info->dtype = HONE_DTYPE_VOID;
    info->rank = -1;
    if (type && !script_to_dtype(p, type, &info->dtype)) return false;
    if (!value) return true;
    const hone_expr **exprs = script_alloc(p, p->arena, 1, sizeof *exprs);
    if (!exprs) return false;
    bool quoted = value->kind == PYV_STRING;
    if (quoted ? !to_extent(p, value, &exprs[0]) : !script_to_expr(p, value, &exprs[0])) {
        return false;
    }
    if (value->kind == PYV_INT) exprs[0] = script_cast(p, HONE_DTYPE_I64, exprs[0]);
    if (!exprs[0]) return script_check_ir(p, value->at);
    info->dtype = exprs[0]->dtype;
    info->rank = 1;
    info->shape = exprs;
    return true;
}

static bool tuple_sinfo(script_parser *p, const script_call *call, hone_sinfo *info) {
    const py_value *items = call->args;
    uint32_t count = call->count;
    bool one = count == 1 && script_is_list(items);
    if (one) script_items(&call->args[0], &items, &count);
    const hone_sinfo **fields = script_alloc(p, p->arena, count, sizeof *fields);
    if (!fields) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!script_to_sinfo(p, &items[i], &fields[i])) return false;
    }
    info->kind = HONE_SINFO_TUPLE;
    info->field_count = count;
    info->fields = fields;
    return true;
}

/* R.Callable((R.Tensor,), R.Tensor, True): what it returns, its parameters, whether it is pure. */
static bool func_sinfo(script_parser *p, const script_call *call, hone_sinfo *info) {
    const py_value *params = script_arg(call, 0, "params"), *result = script_arg(call, 1, "ret");
    const py_value *pure = script_arg(call, 2, "purity"), *items = NULL;
    bool is_pure = true, is_list = params && script_is_list(params);
    info->kind = HONE_SINFO_CALLABLE;
    if (!is_list || !result || result->kind == PYV_NONE) return true; /* may be any */
    if (pure && pure->kind != PYV_NONE && !script_to_bool(p, pure, &is_pure)) return false;
    uint32_t count = 0;
    script_items(params, &items, &count);
    const hone_sinfo **fields = script_alloc(p, p->arena, (size_t)count + 1, sizeof *fields);
    if (!fields || !script_to_sinfo(p, result, &fields[0])) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!script_to_sinfo(p, &items[i], &fields[i + 1])) return false;
    }
    info->dtype = is_pure ? HONE_DTYPE_BOOL : HONE_DTYPE_VOID;
    info->field_count = count + 1;
    info->fields = fields;
    return true;
}

bool script_call_sinfo(script_parser *p, const script_call *call, py_value *out, bool *out_known) {
    static const struct {
        const char *name;
        bool (*make)(script_parser *p, const script_call *call, hone_sinfo *info);
    } rows[] = {
        {"R.Tensor",   tensor_sinfo},
        {"R.DTensor",  tensor_sinfo},
        {"R.Shape",    shape_sinfo },
        {"R.Prim",     prim_sinfo  },
        {"R.Tuple",    tuple_sinfo },
        {"R.Object",   NULL        },
        {"R.Any",      NULL        },
        {"R.Callable", func_sinfo  }
    };
    *out_known = false;
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        if (strcmp(rows[i].name, call->callee) != 0) continue;
        *out_known = true;
        hone_sinfo *info = script_alloc(p, p->arena, 1, sizeof *info);
        if (!info) return false;
        *info = (hone_sinfo){.kind = HONE_SINFO_OBJECT, .dtype = HONE_DTYPE_VOID, .rank = -1};
        if (rows[i].make && !rows[i].make(p, call, info)) return false;
        *out = (py_value){.kind = SCRIPT_SINFO, .u.host = info};
        return true;
    }
    return true;
}

const char *script_graph_type_meant(const char *name) {
    static const char *const types[] = {"Tensor", "Tuple",    "Shape",  "Object",
                                        "Prim",   "Callable", "DTensor"};
    return script_nearest(name, types, HONE_COUNT(types));
}

/* What stands behind the first dot there: "tuple" of `R.tuple()`. */
static const char *member_at(script_parser *p, uint32_t at) {
    const py_token *tokens;
    uint32_t count, here;
    if (!script_cut(p, at, &tokens, &count, &here) || here + 2 >= count) return NULL;
    bool is_dotted = py_token_is(&p->source, &tokens[here + 1], PY_TOKEN_OP, ".");
    const py_token *name = &tokens[here + 2];
    return is_dotted ? hone_arena_strndup(p->scratch, p->source.text + name->start, name->length)
                     : NULL;
}

bool script_to_sinfo(script_parser *p, const py_value *v, const hone_sinfo **out) {
    if (v->kind == SCRIPT_SINFO) {
        *out = script_sinfo_of(v);
        return true;
    }
    if (v->kind == SCRIPT_PATH) { /* R.Tensor without arguments */
        script_call call = {.callee = v->u.s, .at = v->at};
        py_value made;
        bool known = false;
        if (!script_call_sinfo(p, &call, &made, &known)) return false;
        if (known) {
            *out = script_sinfo_of(&made);
            return true;
        }
    }
    if (script_is_list(v)) { /* several results */
        script_call call = {.callee = "R.Tuple", .at = v->at};
        script_items(v, &call.args, &call.count);
        py_value made;
        bool known = false;
        if (!script_enter(p, v->at) || !script_call_sinfo(p, &call, &made, &known)) return false;
        p->run.depth--;
        *out = script_sinfo_of(&made);
        return true;
    }
    const char *name = member_at(p, v->at), *meant = name ? script_graph_type_meant(name) : NULL;
    if (meant) {
        return script_fail(p, v->at, "unknown type 'R.%s'; did you mean 'R.%s'?", name, meant);
    }
    return script_fail(p, v->at,
                       "expected a type such as R.Tensor((1, 784), \"float32\"), found %s",
                       script_kind_name(v));
}
