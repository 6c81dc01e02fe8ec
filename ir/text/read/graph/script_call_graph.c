/* ir/text/read/graph/script_call_graph.c - calls in graph programs. Each gives a binding with a new
 * value, so that nested calls come out in A-normal form. */
#include <string.h>

#include "ir/text/read/graph/script_graph_impl.h"

bool script_garg_value(script_parser *p, hone_garg garg, py_value *out) {
    hone_garg *copy = script_alloc(p, p->arena, 1, sizeof *copy);
    if (!copy) return false;
    *copy = garg;
    *out = (py_value){.kind = SCRIPT_GARG, .u.host = copy};
    return true;
}

/* ---- arguments ---- */

static bool is_number(const py_value *v) {
    return v->kind == PYV_INT || v->kind == SCRIPT_EXPR ||
           (v->kind == SCRIPT_GARG && script_garg_of(v)->kind == HONE_GARG_PRIM);
}

static bool shape_garg(script_parser *p, const py_value *v, hone_garg *out) {
    int32_t rank = 0;
    const hone_expr *const *extents = NULL;
    if (!script_to_extents(p, v, &rank, &extents)) return false;
    *out = (hone_garg){.kind = HONE_GARG_SHAPE, .count = (uint32_t)rank, .u.exprs = extents};
    return true;
}

static bool tuple_garg(script_parser *p, const py_value *items, uint32_t count, bool shapes,
                       hone_garg *out) {
    hone_garg *gargs = script_alloc(p, p->arena, count, sizeof *gargs);
    if (!gargs || !script_enter(p, p->run.at)) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!script_to_garg(p, &items[i], shapes, &gargs[i])) return false;
    }
    p->run.depth--;
    *out = (hone_garg){.kind = HONE_GARG_TUPLE, .count = count, .u.items = gargs};
    return true;
}

static bool prim_garg(script_parser *p, const py_value *v, hone_garg *out) {
    const hone_expr *e = NULL;
    if (!script_to_expr(p, v, &e)) return false;
    if (v->kind == PYV_INT) e = script_cast(p, HONE_DTYPE_I64, e);
    if (v->kind == PYV_FLOAT) e = script_cast(p, HONE_DTYPE_F64, e);
    *out = (hone_garg){.kind = HONE_GARG_PRIM, .u.expr = e};
    if (e) out->dtype = e->dtype;
    return e || script_check_ir(p, v->at);
}

bool script_to_garg(script_parser *p, const py_value *v, bool numbers_are_shape, hone_garg *out) {
    if (p->value_budget == 0) return script_fail(p, v->at, "this argument is too large");
    p->value_budget--;
    *out = (hone_garg){.kind = HONE_GARG_NONE};
    switch (v->kind) {
    case SCRIPT_GARG:
        *out = *script_garg_of(v);
        return true;
    case PYV_NONE:
        return true;
    case PYV_BOOL: { /* a number, as everywhere in Python; R.prim_value(True) is none */
        py_value number = {.kind = PYV_INT, .at = v->at, .u.i = v->u.i};
        return prim_garg(p, &number, out);
    }
    case PYV_INT:
    case PYV_FLOAT:
        if (!prim_garg(p, v, out)) return false;
        return out->is_plain = true;
    case SCRIPT_EXPR:
        return prim_garg(p, v, out);
    case PYV_STRING:
        *out = (hone_garg){
            .kind = HONE_GARG_STRING, .is_plain = true, .u.s = script_strdup(p, v->u.s)};
        return out->u.s != NULL;
    case SCRIPT_GLOBAL:
        *out = (hone_garg){.kind = HONE_GARG_GLOBAL, .u.s = script_strdup(p, v->u.s)};
        return out->u.s != NULL;
    case SCRIPT_DTYPE:
        *out = (hone_garg){.kind = HONE_GARG_DTYPE, .dtype = script_dtype_of(v)};
        return true;
    case PYV_TUPLE:
    case PYV_LIST: {
        bool numbers = numbers_are_shape;
        const py_value *items;
        uint32_t count;
        script_items(v, &items, &count);
        for (uint32_t i = 0; i < count; i++)
            numbers &= is_number(&items[i]) || items[i].kind == PYV_STRING;
        if (numbers) return shape_garg(p, v, out);
        return tuple_garg(p, items, count, numbers_are_shape, out);
    }
    default:
        return script_fail(p, v->at, "expected a tensor or another graph value, found %s",
                           v->kind == SCRIPT_PATH ? v->u.s : script_kind_name(v));
    }
}

bool script_bind(script_parser *p, uint32_t at, const hone_gbind *bind, const hone_sinfo *info,
                 py_value *out) {
    if (!p->graph) return script_fail(p, at, "this call stands outside of a graph function");
    if (p->graph->bind_count > 1000000) return script_fail(p, at, "this function is too large");
    hone_gvalue value = hone_graph_add_value(p->graph, p->in_dataflow ? "lv" : "gv", info);
    if (value == HONE_NO_ID) return script_no_memory(p);
    hone_gbind *made = hone_graph_add_bind(p->graph, bind->kind, value);
    if (!made) return script_no_memory(p);
    *made = *bind;
    made->value = value;
    made->in_dataflow = p->in_dataflow;
    made->dataflow_block = p->in_dataflow ? p->dataflow_count : 0;
    const py_place place = py_place_of(&p->places, at);
    made->line = place.line;
    made->column = place.column;
    if (!script_garg_value(p, HONE_GARG_OF_VALUE(value), out)) return false;
    out->is_fresh = true;
    return true;
}

/* ---- operators ---- */

typedef struct operands {
    hone_garg *args;
    uint32_t arg_count;
    hone_attrs attrs;
} operands;

static bool attr_value(script_parser *p, const py_value *v, hone_value *out) {
    if (v->kind == SCRIPT_DTYPE) {
        const char *name = script_strdup(p, HONE_DTYPE_NAME(script_dtype_of(v)));
        *out = HONE_VALUE_OF_STRING(name);
        return name != NULL;
    }
    if (v->kind == SCRIPT_LAMBDA) { /* index_map=lambda i, j: (j, i) */
        py_value map;
        script_call call = {.callee = "T.index_map", .at = v->at, .count = 1, .args = v};
        return script_call_path(p, &call, &map) && script_to_value(p, &map, out);
    }
    if (v->kind == SCRIPT_GARG && script_garg_of(v)->kind == HONE_GARG_DTYPE) {
        const char *name = script_strdup(p, HONE_DTYPE_NAME(script_garg_of(v)->dtype));
        *out = HONE_VALUE_OF_STRING(name);
        return name != NULL;
    }
    const hone_expr *number =
        v->kind == SCRIPT_GARG ? script_garg_number(p, script_garg_of(v)) : NULL;
    if (number) {
        py_value plain = SCRIPT_VALUE_EXPR(number);
        return script_to_value(p, &plain, out);
    }
    return script_to_value(p, v, out);
}

/* Attributes that are True or False; Python takes 1 and 0 for them. */
static bool is_flag(const char *key) {
    static const char *const flags[] = {
        "accumulate",    "aligned",      "align_corners",     "assume_inbound",
        "center",        "ceil_mode",    "count_include_pad", "descending",
        "exclusive",     "keepdims",     "largest",           "out_int32",
        "return_counts", "return_index", "return_inverse",    "right",
        "scale",         "sorted",       "training"};
    for (size_t i = 0; i < HONE_COUNT(flags); i++) {
        if (strcmp(flags[i], key) == 0) return true;
    }
    return false;
}

static bool set_attr(script_parser *p, operands *o, const char *key, const py_value *v) {
    hone_value value;
    key = script_strdup(p, key);
    if (!key || !attr_value(p, v, &value)) return false;
    bool is_natural = strcmp(key, "out_dtype") == 0 && value.kind == HONE_VALUE_STRING &&
                      strcmp(value.u.s, "void") == 0;
    if (is_natural) value = (hone_value){.kind = HONE_VALUE_NONE}; /* as TVM 0.27 says it */
    bool is_truth = value.kind == HONE_VALUE_INT && (value.u.i == 0 || value.u.i == 1);
    if (is_truth && is_flag(key)) value = HONE_VALUE_OF_BOOL(value.u.i != 0);
    return hone_attrs_with(p->arena, &o->attrs, key, value, &o->attrs) || script_no_memory(p);
}

/* The parameter at a position of a known operator: true for an attribute, its name in name. */
static bool is_attr_at(const hone_graph_op *op, uint32_t position, char *name, size_t bytes) {
    size_t length = 0;
    bool is_attr = false;
    const char *word = op ? hone_graph_op_param(op, position, &length, &is_attr) : NULL;
    *name = '\0';
    if (!word || length >= bytes) return false;
    memcpy(name, word, length);
    name[length] = '\0';
    return is_attr;
}

/* The parameters of operators that have no row but take all they are told as arguments. */
static int memory_position(const char *callee, const char *name) {
    static const struct {
        const char *callee, *params[4];
    } rows[] = {
        {"R.memory.alloc_storage", {"size", "virtual_device_index", "storage_scope", "dtype"}},
        {"R.memory.alloc_tensor",  {"storage", "offset", "shape", "dtype"}                   },
        {"R.memory.view",          {"data", "shape", "dtype", "relative_byte_offset"}        },
        {"R.vm.alloc_storage",     {"size", "runtime_device_index", "dtype", ""}             },
        {"R.vm.alloc_tensor",      {"storage", "offset", "shape", "dtype"}                   },
    };
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        if (strcmp(rows[i].callee, callee) != 0) continue;
        for (int k = 0; k < 4; k++) {
            if (strcmp(rows[i].params[k], name) == 0) return k;
        }
    }
    return -1;
}

enum { MOST_PARAMS = 32 };

/* The position of an argument of that name, or -1 (an attribute). */
static int arg_position(const hone_graph_op *op, const char *callee, const char *name) {
    char param[64];
    if (!op) return memory_position(callee, name);
    for (uint32_t i = 0; i < MOST_PARAMS; i++) {
        if (is_attr_at(op, i, param, sizeof param)) return -1;
        if (!*param) return -1;
        if (strcmp(param, name) == 0) return (int)i;
    }
    return -1;
}

static bool is_type(const py_value *v) {
    const py_value *items;
    uint32_t count;
    script_items(v, &items, &count);
    return count && items[0].kind == SCRIPT_SINFO;
}

/* A tensor where an attribute stands: R.concat(a, b) for R.concat((a, b)). */
static bool refuse_place(script_parser *p, const script_call *call, const hone_graph_op *op,
                         const char *name, const py_value *v) {
    bool is_tensor = v->kind == SCRIPT_GARG && script_garg_of(v)->kind == HONE_GARG_VALUE;
    if (!is_tensor || script_garg_number(p, script_garg_of(v))) return true;
    bool takes_tuple = strchr(op->args, '*') != NULL;
    return script_fail(p, v->at, "%s: a tensor stands where '%s' does%s%s%s", call->callee, name,
                       takes_tuple ? "; the tensors are one argument: " : "",
                       takes_tuple ? call->callee : "", takes_tuple ? "((a, b))" : "");
}

static bool positional(script_parser *p, const script_call *call, const hone_graph_op *op,
                       operands *o, const hone_sinfo **info) {
    char name[64];
    for (uint32_t i = 0; i < call->count; i++) {
        if (is_attr_at(op, i, name, sizeof name)) {
            if (!refuse_place(p, call, op, name, &call->args[i])) return false;
            if (!set_attr(p, o, name, &call->args[i])) return false;
            continue;
        }
        if (!op && call->args[i].kind == PYV_BOOL) { /* perhaps an attribute */
            if (!prim_garg(p, &call->args[i], &o->args[o->arg_count])) return false;
            o->args[o->arg_count++].is_plain = true;
            continue;
        }
        if (!op && is_type(&call->args[i])) { /* of the result */
            if (!script_to_sinfo(p, &call->args[i], info)) return false;
            continue;
        }
        if (i == 2 && strcmp(call->callee, "R.call_tir_inplace") == 0) {
            if (!set_attr(p, o, "inplace_indices", &call->args[i])) return false;
            continue;
        }
        bool shape = strcmp(name, "shape") == 0 || (!op && strstr(call->callee, "alloc"));
        if (!script_to_garg(p, &call->args[i], shape, &o->args[o->arg_count++])) return false;
    }
    return true;
}

/* What TVM 0.27 and what older releases call the type of a result. */
static bool names_type(const char *keyword) {
    static const char *const names[] = {"ty_args", "out_ty", "sinfo_args", "out_sinfo"};
    for (size_t i = 0; i < HONE_COUNT(names); i++) {
        if (strcmp(names[i], keyword) == 0) return true;
    }
    return false;
}

/* A tensor is no attribute: R.add(x, rhs=y). */
static bool refuse_tensor(script_parser *p, const script_call *call, const hone_graph_op *op,
                          const py_word *word) {
    bool is_tensor =
        word->value.kind == SCRIPT_GARG && script_garg_of(&word->value)->kind == HONE_GARG_VALUE;
    if (!is_tensor || script_garg_number(p, script_garg_of(&word->value))) return true;
    char params[128] = "", name[64];
    for (uint32_t i = 0; op && i < 32 && !is_attr_at(op, i, name, sizeof name) && *name; i++) {
        size_t used = strlen(params);
        if (used + strlen(name) + 2 > sizeof params) break;
        params[used] = ' ';
        memcpy(params + used + !!used, name, strlen(name) + 1);
    }
    return script_fail(p, word->value.at, "%s takes no tensor by the name '%s'%s%s", call->callee,
                       word->name, *params ? "; its arguments are: " : "", params);
}

/* An argument by name, in its place; those between are missing till their names come. */
static bool place_argument(script_parser *p, operands *o, uint32_t position, const py_word *word) {
    bool is_there = position < o->arg_count && o->args[position].kind != HONE_GARG_NONE;
    if (is_there) {
        return script_fail(p, word->value.at, "argument '%s' is given twice", word->name);
    }
    while (o->arg_count <= position)
        o->args[o->arg_count++] = (hone_garg){.kind = HONE_GARG_NONE};
    return script_to_garg(p, &word->value, strcmp(word->name, "shape") == 0, &o->args[position]);
}

static bool keywords(script_parser *p, const script_call *call, const hone_graph_op *op,
                     operands *o, const hone_sinfo **info) {
    for (uint32_t i = 0; i < call->keyword_count; i++) {
        const py_word *word = &call->keywords[i];
        int position = arg_position(op, call->callee, word->name);
        if (names_type(word->name)) {
            if (!script_to_sinfo(p, script_only(&word->value), info)) return false;
        } else if (position >= 0) {
            if (!place_argument(p, o, (uint32_t)position, word)) return false;
        } else if (!refuse_tensor(p, call, op, word) || !set_attr(p, o, word->name, &word->value)) {
            return false;
        }
    }
    return true;
}

/* What stands before an argument by name and was not given. */
static bool fill_places(script_parser *p, const script_call *call, const hone_graph_op *op,
                        uint32_t given, operands *o) {
    char name[64];
    bool is_view = strcmp(call->callee, "R.memory.view") == 0;
    for (uint32_t i = given; i < o->arg_count; i++) {
        if (o->args[i].kind != HONE_GARG_NONE) continue;
        if (is_view) { /* "as it is" */
            o->args[i] = (hone_garg){.kind = HONE_GARG_TUPLE};
            continue;
        }
        is_attr_at(op, i, name, sizeof name);
        if (!script_arg(call, UINT32_MAX, name)) {
            return script_fail(p, call->at, "%s: argument '%s' is missing", call->callee, name);
        }
    }
    return true;
}

/* An operator takes the attributes of its row and no others. */
static bool check_attributes(script_parser *p, const script_call *call, const hone_graph_op *op,
                             const operands *o) {
    char name[64];
    const char *names[MOST_PARAMS];
    size_t count = 0;
    for (uint32_t i = 0; i < MOST_PARAMS; i++) {
        is_attr_at(op, i, name, sizeof name);
        if (!*name) break;
        names[count] = script_strdup(p, name);
        if (!names[count++]) return false;
    }
    for (uint32_t i = 0; i < call->keyword_count; i++) {
        script_call only = *call;
        only.keywords = &call->keywords[i];
        only.keyword_count = 1;
        bool is_attr = hone_attrs_find(&o->attrs, only.keywords->name) != NULL;
        if (is_attr && !script_check_keywords(p, &only, names, count)) return false;
    }
    return true;
}

static bool call_operator(script_parser *p, const script_call *call, py_value *out) {
    const char *name = script_strdup(p, call->callee + 2);
    if (!name) return false;
    if (!hone_graph_op_is_named(name)) return script_unknown_operator(p, call);
    const hone_graph_op *op = hone_graph_op_find(name);
    operands o = {0};
    const hone_sinfo *info = NULL;
    o.args = script_alloc(p, p->arena, (size_t)call->count + MOST_PARAMS, sizeof *o.args);
    if (!o.args || !positional(p, call, op, &o, &info)) return false;
    uint32_t given = o.arg_count;
    if (!keywords(p, call, op, &o, &info) || !fill_places(p, call, op, given, &o)) return false;
    if (op && !check_attributes(p, call, op, &o)) return false;
    hone_gbind bind = {.kind = HONE_GBIND_CALL,
                       .callee = name,
                       .arg_count = o.arg_count,
                       .args = o.args,
                       .attrs = o.attrs};
    return script_bind(p, call->at, &bind, info, out);
}

/* ---- leaves ---- */

static bool call_shape(script_parser *p, const script_call *call, py_value *out) {
    const py_value *v = NULL;
    hone_garg garg;
    return script_need_arg(p, call, 0, "value", &v) && shape_garg(p, v, &garg) &&
           script_garg_value(p, garg, out);
}

static bool call_prim(script_parser *p, const script_call *call, py_value *out) {
    const py_value *v = NULL;
    hone_garg garg;
    return script_need_arg(p, call, 0, "value", &v) && prim_garg(p, v, &garg) &&
           script_garg_value(p, garg, out);
}

static bool call_str(script_parser *p, const script_call *call, py_value *out) {
    const py_value *v = NULL;
    hone_garg garg = {.kind = strcmp(call->callee, "R.ExternFunc") == 0 ? HONE_GARG_EXTERN
                                                                        : HONE_GARG_STRING};
    if (!script_need_arg(p, call, 0, "value", &v) || !script_to_string(p, v, &garg.u.s))
        return false;
    garg.u.s = script_strdup(p, garg.u.s);
    return garg.u.s && script_garg_value(p, garg, out);
}

static bool call_dtype(script_parser *p, const script_call *call, py_value *out) {
    const py_value *v = NULL;
    hone_garg garg = {.kind = HONE_GARG_DTYPE};
    return script_need_arg(p, call, 0, "value", &v) && script_to_dtype(p, v, &garg.dtype) &&
           script_garg_value(p, garg, out);
}

static bool call_tuple(script_parser *p, const script_call *call, py_value *out) {
    const py_value *items = call->args;
    uint32_t count = call->count;
    bool one = count == 1 && script_is_list(items);
    if (one) script_items(&call->args[0], &items, &count);
    hone_garg garg;
    return tuple_garg(p, items, count, false, &garg) && script_garg_value(p, garg, out);
}

static bool call_tuple_get(script_parser *p, const script_call *call, py_value *out) {
    const py_value *v = NULL, *place = NULL;
    int64_t index = 0;
    if (!script_need_arg(p, call, 0, "tuple", &v) ||
        !script_need_arg(p, call, 1, "index", &place) || !script_to_int(p, place, &index)) {
        return false;
    }
    hone_garg *arg = script_alloc(p, p->arena, 1, sizeof *arg);
    if (!arg || !script_to_garg(p, v, false, arg)) return false;
    if (index < 0 || index > INT32_MAX) {
        return script_fail(p, place->at, "index %lld of a tuple", (long long)index);
    }
    if (arg->kind == HONE_GARG_TUPLE) {
        if (index >= arg->count)
            return script_fail(p, place->at, "index %lld of %u items", (long long)index,
                               arg->count);
        return script_garg_value(p, arg->u.items[index], out);
    }
    hone_gbind bind = {
        .kind = HONE_GBIND_TUPLE_GET, .arg_count = 1, .args = arg, .index = (int32_t)index};
    return script_bind(p, call->at, &bind, NULL, out);
}

static bool call_match_cast(script_parser *p, const script_call *call, py_value *out) {
    const py_value *v = NULL, *type = NULL;
    const hone_sinfo *info = NULL;
    hone_garg *arg = script_alloc(p, p->arena, 1, sizeof *arg);
    if (!arg || !script_need_arg(p, call, 0, "value", &v)) return false;
    type = script_arg(call, 1, "struct_info");
    if ((!type && !script_need_arg(p, call, 1, "ty", &type)) || !script_to_garg(p, v, false, arg) ||
        !script_to_sinfo(p, type, &info)) {
        return false;
    }
    if (v->kind == SCRIPT_GARG && v->is_fresh && arg->kind == HONE_GARG_VALUE)
        p->graph->bindings[p->graph->bind_count - 1].is_operand = true;
    hone_gbind bind = {.kind = HONE_GBIND_MATCH_CAST, .arg_count = 1, .args = arg};
    return script_bind(p, call->at, &bind, info, out);
}

/* What older releases have for R.linear without a bias, and TVM 0.27 has no name for. */
static bool call_dense(script_parser *p, const script_call *call, py_value *out) {
    const py_value *data = NULL, *weight = NULL;
    if (!script_need_arg(p, call, 0, "data", &data) ||
        !script_need_arg(p, call, 1, "weight", &weight)) {
        return false;
    }
    const py_value *dtype = script_arg(call, 2, "out_dtype");
    py_value sides[] = {*data, {0}};
    py_word word = {.name = "out_dtype"};
    if (dtype) word.value = *dtype;
    script_call turn = {.callee = "R.permute_dims", .at = call->at, .count = 1, .args = weight};
    script_call product = {.callee = "R.matmul",
                           .at = call->at,
                           .count = 2,
                           .args = sides,
                           .keywords = &word,
                           .keyword_count = dtype != NULL};
    return call_operator(p, &turn, &sides[1]) && call_operator(p, &product, out);
}

static bool call_func_attr(script_parser *p, const script_call *call, py_value *out) {
    const py_value *v = NULL;
    hone_attrs attrs;
    *out = (py_value){.kind = PYV_NONE};
    if (!script_need_arg(p, call, 0, "attrs", &v) || !script_to_attrs(p, v, &attrs)) return false;
    for (uint32_t i = 0; i < attrs.count; i++) {
        if (!hone_attrs_with(p->arena, &p->graph->attrs, attrs.items[i].key, attrs.items[i].value,
                             &p->graph->attrs)) {
            return script_no_memory(p);
        }
    }
    return true;
}

/* In the dataflow block that is being read. */
static bool is_bound_here(const script_parser *p, hone_gvalue value) {
    for (uint32_t i = p->graph->bind_count; i-- > 0;) {
        const hone_gbind *bind = &p->graph->bindings[i];
        if (!bind->in_dataflow || bind->dataflow_block != p->dataflow_count) return false;
        if (bind->value == value) return true;
    }
    return false;
}

static bool call_output(script_parser *p, const script_call *call, py_value *out) {
    *out = (py_value){.kind = PYV_NONE};
    if (!p->in_dataflow) return script_fail(p, call->at, "R.output stands outside of R.dataflow");
    p->has_output = true;
    for (uint32_t i = 0; i < call->count; i++) {
        const py_value *v = &call->args[i];
        if (v->kind == SCRIPT_LOCAL) continue; /* a function, which is one of the module here */
        if (v->kind != SCRIPT_GARG || script_garg_of(v)->kind != HONE_GARG_VALUE) {
            return script_fail(p, v->at, "R.output takes variables");
        }
        hone_gvalue_info *value = &p->graph->values[script_garg_of(v)->u.value];
        if (!is_bound_here(p, script_garg_of(v)->u.value)) {
            return script_fail(p, v->at,
                               "'%s' is not bound in this R.dataflow, so R.output can't "
                               "hand it out",
                               value->name);
        }
        value->is_output = true;
    }
    return true;
}

static bool call_dataflow(script_parser *p, const script_call *call, py_value *out) {
    script_frame *frame = script_alloc(p, p->scratch, 1, sizeof *frame);
    (void)call;
    if (!frame) return false;
    frame->kind = SCRIPT_FRAME_DATAFLOW;
    *out = (py_value){.kind = SCRIPT_FRAME, .u.host = frame};
    return true;
}

static bool call_impure(script_parser *p, const script_call *call, py_value *out) {
    (void)call;
    p->graph->is_pure = false;
    *out = (py_value){.kind = PYV_NONE};
    return true;
}

static const script_entry graph_calls[] = {
    {"R.shape",        call_shape          },
    {"R.ShapeExpr",    call_shape          },
    {"R.prim_value",   call_prim           },
    {"R.str",          call_str            },
    {"R.ExternFunc",   call_str            },
    {"R.dtype",        call_dtype          },
    {"R.tuple",        call_tuple          },
    {"R.TupleGetItem", call_tuple_get      },
    {"R.match_cast",   call_match_cast     },
    {"R.nn.dense",     call_dense          },
    {"R.func_attr",    call_func_attr      },
    {"R.output",       call_output         },
    {"R.dataflow",     call_dataflow       },
    {"R.is_impure",    call_impure         },
    {"R.const",        script_call_const   },
    {"R.metadata",     script_call_metadata},
};

bool script_call_graph(script_parser *p, const script_call *call, py_value *out) {
    bool known = false;
    if (!p->graph) {
        bool is_extern = strcmp(call->callee, "R.ExternFunc") == 0;
        if (is_extern) return call_str(p, call, out);
        return script_fail(p, call->at, "'%s' stands outside of a graph function", call->callee);
    }
    if (!script_check_arguments(p, call) || !script_call_sinfo(p, call, out, &known)) return false;
    if (known) return true;
    for (size_t i = 0; i < HONE_COUNT(graph_calls); i++) {
        if (strcmp(graph_calls[i].name, call->callee) == 0) return graph_calls[i].run(p, call, out);
    }
    if (!script_call_through(p, call, out, &known)) return false;
    return known || call_operator(p, call, out);
}
