/* ir/text/read/script_parse_assign.c - assignments and expressions that stand as statements of a
 * tensor program: names, stores, let bindings. */
#include <string.h>

#include "ir/text/read/script_impl.h"

/* ---- assignments ---- */

/* A constant of the text that the element type cannot hold; of floats nothing is said. */
static bool fits(const py_value *v, hone_dtype dtype) {
    if (!hone_dtype_is_integer(dtype)) return true;
    if (v->kind == PYV_FLOAT) return v->u.f == (double)(int64_t)v->u.f;
    if (v->kind != PYV_INT) return true;
    if (hone_dtype_is_uint(dtype) && v->u.i < 0) return false;
    return dtype.bits >= 64 ||
           (v->u.i >= hone_dtype_min_int(dtype) && v->u.i <= hone_dtype_max_int(dtype));
}

static bool fail_fit(script_parser *p, const py_value *v, hone_dtype dtype) {
    if (v->kind == PYV_FLOAT) {
        return script_fail(p, v->at, "%g does not fit %s", v->u.f, HONE_DTYPE_NAME(dtype));
    }
    return script_fail(p, v->at, "%lld does not fit %s", (long long)v->u.i, HONE_DTYPE_NAME(dtype));
}

bool script_store(script_parser *p, const py_value *target, const py_value *value) {
    const hone_expr *load = NULL, *e = NULL;
    hone_node_id node;
    if (!script_to_expr(p, target, &load)) return false;
    if (!fits(value, load->dtype)) return fail_fit(p, value, load->dtype);
    if (!script_to_expr(p, value, &e)) return false;
    if (e->kind == HONE_EXPR_STRING) {
        return script_fail_type(p, value->at, "a string is stored as %s",
                                HONE_DTYPE_NAME(load->dtype));
    }
    if (hone_dtype_is_handle(e->dtype) != hone_dtype_is_handle(load->dtype)) {
        return script_fail_type(p, value->at, "a value of type %s is stored as %s",
                                HONE_DTYPE_NAME(e->dtype), HONE_DTYPE_NAME(load->dtype));
    }
    bool converts = !hone_dtype_same_element(e->dtype, load->dtype);
    if (!script_to_expr_as(p, value, load->dtype, &e)) return false;
    if (!hone_dtype_equal(e->dtype, load->dtype)) {
        return script_fail_type(p, value->at, "a value of type %s is stored as %s",
                                HONE_DTYPE_NAME(e->dtype), HONE_DTYPE_NAME(load->dtype));
    }
    if (!script_add_node(p, HONE_NODE_STORE, target->at, &node)) return false;
    hone_node *n = hone_func_node(p->func, node);
    n->u.store.buffer = script_access_of(target)->buffer;
    n->u.store.rank = load->count;
    n->u.store.value = e;
    n->u.store.converts = converts;
    n->u.store.indices = load->args;
    return true;
}

static bool is_constant(const py_value *v) {
    return v->kind == PYV_INT || v->kind == PYV_FLOAT || v->kind == PYV_BOOL ||
           v->kind == PYV_STRING || v->kind == PYV_TUPLE || v->kind == PYV_LIST ||
           v->kind == PYV_DICT || v->kind == SCRIPT_PATH || v->kind == SCRIPT_DTYPE ||
           v->kind == SCRIPT_MODULE || v->kind == SCRIPT_GLOBAL || v->kind == SCRIPT_THREAD ||
           v->kind == SCRIPT_BUFFER;
}

/* ---- scalars: one local element under a name ---- */

/* The element that a name stands for, or NULL. */
static const py_value *scalar_of(const script_parser *p, const char *name) {
    const py_value *known = p->func ? script_lookup(p, name) : NULL;
    bool is_access = known && known->kind == SCRIPT_ACCESS;
    if (!is_access) return NULL;
    return p->func->buffers[script_access_of(known)->buffer].form == HONE_BUFFER_SCALAR ? known
                                                                                        : NULL;
}

/* Does TVM 0.27 make a scalar of `x = v`? (A handle, a thread, a fresh axis have a name only.) */
static bool is_scalar_value(const py_value *v) {
    if (v->is_meta || v->is_fresh) return false;
    if (v->kind == SCRIPT_EXPR) {
        return !hone_dtype_is_handle(script_expr_of(v)->dtype) &&
               !hone_dtype_is_void(script_expr_of(v)->dtype);
    }
    return v->kind == PYV_INT || v->kind == PYV_FLOAT || v->kind == PYV_BOOL ||
           v->kind == SCRIPT_ACCESS;
}

static bool define(script_parser *p, const char *name, py_value value) {
    value.is_fresh = value.is_meta = false;
    const char *copy = hone_arena_strdup(p->scratch, name);
    return copy ? script_define(p, copy, value) : script_no_memory(p);
}

/* x: T.int32, x: T.int32 = v and x = v; v NULL leaves it without a value. */
static bool assign_scalar(script_parser *p, const char *name, uint32_t at, const hone_dtype *dtype,
                          const py_value *v) {
    const hone_expr *e = NULL;
    py_value scalar;
    if (v && !script_to_expr(p, v, &e)) return false;
    if (!script_new_scalar(p, name, at, dtype ? *dtype : e->dtype, &scalar)) return false;
    return (!v || script_store(p, &scalar, v)) && define(p, name, scalar);
}

/* The variable of a T.int32() that gets its name here; a size of a graph has one per name. */
static bool name_new_var(script_parser *p, const char *name, const py_value *v, py_value *out) {
    hone_var var = HONE_NO_ID;
    if (p->graph) {
        *out = (py_value){.at = v->at};
        const hone_expr *e = script_graph_size(p, name);
        *out = SCRIPT_VALUE_EXPR(e);
        return e != NULL;
    }
    const py_value *known = script_lookup(p, name); /* T.Buffer(("n",)) may have made it */
    bool is_signature = known && known->kind == SCRIPT_EXPR &&
                        script_expr_of(known)->kind == HONE_EXPR_VAR &&
                        script_expr_of(known)->u.var < p->signature_vars &&
                        hone_dtype_equal(script_expr_of(known)->dtype, script_var_of(v)->dtype);
    if (is_signature) {
        var = script_expr_of(known)->u.var;
    } else if (!script_new_var(p, name, script_var_of(v)->dtype, &var)) {
        return false;
    }
    script_mark_var(p, var, v);
    *out = SCRIPT_VALUE_EXPR(hone_func_var_expr(&p->ir, p->func, var));
    return script_check_ir(p, v->at);
}

/* The name, if it was bound in the suite in hand; else NULL. */
static const py_name *in_suite(const script_parser *p, const py_name *n) {
    return n && (!p->suite_begin || n->number > p->suite_begin->number) ? n : NULL;
}

/* Is it the variable of a T.let of this suite? */
static bool is_let_here(const script_parser *p, const char *name, hone_var var) {
    bool is_here = in_suite(p, py_find_name(&p->run, name));
    for (hone_node_id n = p->parent; is_here && n != HONE_NO_ID;
         n = hone_func_node(p->func, n)->parent) {
        const hone_node *node = hone_func_node(p->func, n);
        if (node->kind == HONE_NODE_LET && node->u.let.var == var) return true;
    }
    return false;
}

/* `B = A` for the parameter B: no copy, and no other name of a buffer either. */
static bool is_parameter(const script_parser *p, const py_value *known) {
    for (uint32_t i = 0; i < p->param_count; i++) {
        if (known->kind == SCRIPT_BUFFER && p->params[i].buffer == script_buffer_of(known))
            return true;
    }
    return false;
}

/* The loop variable, axis or parameter that a name stands for takes no other value. */
static bool check_assignable(script_parser *p, const char *name, uint32_t at, const py_value *v) {
    const py_value *known = p->func ? script_lookup(p, name) : NULL;
    bool is_plain = is_scalar_value(v) && !p->is_classic;
    bool is_alias = known && v->kind == SCRIPT_BUFFER && !v->is_fresh && is_parameter(p, known) &&
                    p->parent == HONE_NODE_TOP;
    if (!known || (!is_plain && !is_alias)) return true;
    if (known->kind == SCRIPT_BUFFER) {
        return script_fail(p, at, "'%s' is a buffer: assign to an element of it, %s[...]", name,
                           name);
    }
    if (known->kind != SCRIPT_EXPR || script_expr_of(known)->kind != HONE_EXPR_VAR) return true;
    hone_var var = script_expr_of(known)->u.var;
    if (is_let_here(p, name, var)) {
        return script_fail(p, at,
                           "'%s' is a T.let, which takes no other value; %s: T.float32 = ... makes "
                           "a scalar that does",
                           name, name);
    }
    for (uint32_t i = 0; i < p->param_count; i++) {
        if (p->params[i].var == var) {
            return script_fail(p, at, "'%s' is a parameter, which takes no other value", name);
        }
    }
    for (const script_block *b = p->block; b; b = b->outer) {
        for (uint32_t i = 0; i < b->axis_count; i++) {
            if (b->axes[i].var != var) continue;
            return script_fail(p, at, "'%s' is an axis of the block, which takes no other value",
                               name);
        }
    }
    for (hone_node_id n = p->parent; n != HONE_NO_ID; n = hone_func_node(p->func, n)->parent) {
        const hone_node *node = hone_func_node(p->func, n);
        if (node->kind == HONE_NODE_FOR && node->u.loop.var == var) {
            return script_fail(p, at, "'%s' is a loop variable, which takes no other value", name);
        }
    }
    return true;
}

static bool is_axis(const script_parser *p, hone_var var) {
    for (uint32_t i = 0; p->block && i < p->block->axis_count; i++) {
        if (p->block->axes[i].var == var) return true;
    }
    return false;
}

/* x = T.Buffer(...) stands for what nothing defines here. */
static bool is_declared_only(const script_parser *p, hone_buffer buffer) {
    const hone_buffer_info *info = hone_func_buffer(p->func, buffer);
    if (info->data != HONE_NO_ID || info->alias_of != HONE_NO_ID) return false;
    for (uint32_t i = 0; i < p->block->alloc_count; i++) {
        if (p->block->allocs[i] == buffer) return false;
    }
    for (uint32_t i = 0; i < p->block->match_count; i++) {
        if (p->block->matches[i].buffer == buffer) return false;
    }
    for (hone_node_id n = p->parent; n != p->block->node; n = hone_func_node(p->func, n)->parent) {
        const hone_node *node = hone_func_node(p->func, n);
        bool defines = node->kind == HONE_NODE_ALLOC || node->kind == HONE_NODE_DECL;
        if (defines && node->u.alloc.buffer == buffer) return false;
    }
    return true;
}

static bool is_same_type(const hone_buffer_info *a, const hone_buffer_info *b) {
    bool is_same = a->rank == b->rank && hone_dtype_equal(a->dtype, b->dtype) &&
                   strcmp(a->scope, b->scope) == 0;
    for (uint32_t i = 0; is_same && i < a->rank; i++)
        is_same = hone_expr_same(a->shape[i], b->shape[i]);
    return is_same;
}

/* T.reads(A[0:x[0]]) stands before x is allocated: TVM declares x in front of it. */
static void join_declared(script_parser *p, const char *name, py_value *v) {
    bool is_alloc = v->kind == SCRIPT_BUFFER && v->is_fresh && p->func && p->block &&
                    p->block->alloc_count &&
                    p->block->allocs[p->block->alloc_count - 1] == script_buffer_of(v);
    const py_name *n = is_alloc ? in_suite(p, py_find_name(&p->run, name)) : NULL;
    for (; n; n = in_suite(p, n->hidden)) {
        const py_value *known = &n->value;
        if (known->kind != SCRIPT_BUFFER) continue;
        bool is_same = is_same_type(hone_func_buffer(p->func, script_buffer_of(known)),
                                    hone_func_buffer(p->func, script_buffer_of(v)));
        if (!is_same || !is_declared_only(p, script_buffer_of(known))) return;
        p->block->allocs[p->block->alloc_count - 1] = script_buffer_of(known);
        *v = *known;
        return;
    }
}

/* A buffer or an axis of this suite keeps its name to itself. */
static bool check_unique(script_parser *p, const char *name, uint32_t at, const py_value *v) {
    bool is_thing = v->is_fresh && (v->kind == SCRIPT_BUFFER || v->kind == SCRIPT_EXPR);
    if (!is_thing || !p->func || strcmp(name, "_") == 0) return true;
    for (const py_name *n = in_suite(p, py_find_name(&p->run, name)); n;
         n = in_suite(p, n->hidden)) {
        const py_value *known = &n->value;
        bool is_var = known->kind == SCRIPT_EXPR && script_expr_of(known)->kind == HONE_EXPR_VAR;
        if (known->kind == SCRIPT_BUFFER && v->kind == SCRIPT_BUFFER) {
            return script_fail(p, at, "'%s' is a buffer of this scope already", name);
        }
        if (is_var && v->kind == SCRIPT_EXPR && is_axis(p, script_expr_of(known)->u.var)) {
            return script_fail(p, at, "'%s' is an axis of this block already", name);
        }
    }
    return true;
}

bool script_assign(script_parser *p, const char *name, uint32_t at, const py_value *v) {
    py_value value = *v;
    join_declared(p, name, &value);
    v = &value;
    if (!check_assignable(p, name, at, v) || !check_unique(p, name, at, v)) return false;
    if (v->kind == SCRIPT_ACCESS && v->is_fresh) { /* T.local_scalar */
        py_value fresh = *v;
        fresh.is_fresh = false;
        return script_name_buffer(p, script_access_of(v)->buffer, name) && define(p, name, fresh);
    }
    const py_value *scalar = scalar_of(p, name);
    if (scalar && is_scalar_value(v)) {
        py_value target = *scalar;
        target.at = at;
        return script_store(p, &target, v);
    }
    if (p->func && !p->is_classic && is_scalar_value(v)) return assign_scalar(p, name, at, NULL, v);
    if (v->kind == SCRIPT_NEWVAR) {
        if (!name_new_var(p, name, v, &value)) return false;
    } else if (v->kind == SCRIPT_FRAME) {
        py_value inner;
        if (!script_open_frame(p, v, &inner)) return false;
        if (inner.kind == PYV_NONE) return script_fail(p, at, "this statement gives no value");
        return script_assign(p, name, at, &inner);
    } else if (v->kind == SCRIPT_BUFFER && v->is_fresh) {
        if (!script_name_buffer(p, script_buffer_of(v), name)) return false;
    } else if (v->kind == SCRIPT_EXPR && v->is_fresh && script_expr_of(v)->kind == HONE_EXPR_VAR) {
        if (!script_rename_var(p, script_expr_of(v)->u.var, name)) return false;
    } else if (!is_constant(v) && !v->is_meta) {
        const hone_expr *e = NULL;
        if (!script_to_expr(p, v, &e) || !script_open_let(p, at, HONE_NO_ID, e, &value))
            return false;
        if (!script_rename_var(p, script_expr_of(&value)->u.var, name)) return false;
    }
    return define(p, name, value);
}

/* x: T.int32 = value */
static bool parse_annotated(script_parser *p, const py_node *node) {
    py_value type = {.kind = PYV_NONE}, v, bound;
    hone_dtype dtype = HONE_DTYPE_VOID;
    const char *name = NULL;
    uint32_t at = node->at;
    if (!script_need_name(p, node->items[0], "a name", &name) ||
        !script_eval(p, node->items[1], &type)) {
        return false;
    }
    bool plain = type.kind == SCRIPT_BUFFER, is_let = true;
    if (plain && !node->base) return script_assign(p, name, at, &type); /* T.int32[4] */
    if (type.kind == SCRIPT_NEWVAR) {
        dtype = script_var_of(&type)->dtype;
    } else if (!plain && type.kind == SCRIPT_PATH && strcmp(type.u.s, "T.let") == 0) {
        dtype = HONE_DTYPE_VOID; /* x: T.let = value: the type of the value */
    } else if (!plain) {
        if (!script_to_dtype(p, &type, &dtype)) return false;
        is_let =
            type.kind != SCRIPT_PATH || hone_dtype_is_handle(dtype) || hone_dtype_is_void(dtype);
    }
    if (!node->base && (is_let || !p->func)) {
        return script_expected(p, node->items[1]->end, "'=' and a value");
    }
    if (!node->base) return assign_scalar(p, name, at, &dtype, NULL);
    if (!script_eval(p, node->base, &v)) return false;
    const hone_expr *e = NULL;
    if (v.kind == SCRIPT_BUFFER && !is_let && p->func) { /* a buffer without indices is no number */
        return script_to_expr(p, &v, &e) && assign_scalar(p, name, at, &dtype, &v);
    }
    if (v.kind == SCRIPT_FRAME || v.kind == SCRIPT_NEWVAR || v.kind == SCRIPT_BUFFER) {
        return script_assign(p, name, at, &v);
    }
    if (!is_let && p->func && !p->is_classic) return assign_scalar(p, name, at, &dtype, &v);
    if (!script_to_expr(p, &v, &e)) return false;
    bool is_other = !hone_dtype_is_void(dtype) && v.kind == SCRIPT_EXPR && !p->is_classic &&
                    e->kind != HONE_EXPR_INT && e->kind != HONE_EXPR_FLOAT &&
                    !hone_dtype_equal(e->dtype, dtype);
    is_other |= v.kind == SCRIPT_ACCESS && !p->is_classic && !hone_dtype_is_void(dtype) &&
                !hone_dtype_equal(e->dtype, dtype);
    if (is_other) {
        return script_fail_type(p, v.at, "'%s' is %s and its value is %s", name,
                                HONE_DTYPE_NAME(dtype), HONE_DTYPE_NAME(e->dtype));
    }
    if (!hone_dtype_is_void(dtype) && !script_to_expr_as(p, &v, dtype, &e)) return false;
    if (!script_open_let(p, at, HONE_NO_ID, e, &bound)) return false;
    if (type.kind == SCRIPT_NEWVAR) script_mark_var(p, script_expr_of(&bound)->u.var, &type);
    return script_rename_var(p, script_expr_of(&bound)->u.var, name) &&
           script_assign(p, name, at, &bound);
}

typedef struct target {
    const char *name; /* or NULL: an access */
    uint32_t at;
    bool is_starred; /* takes all items that the others leave */
    py_value access;
} target;

static bool assign_one(script_parser *p, const target *t, const py_value *v) {
    if (t->name) return script_assign(p, t->name, t->at, v);
    return script_store(p, &t->access, v);
}

static bool eval_target(script_parser *p, const py_node *node, target *out) {
    const py_node *inner = node->kind == PY_STAR ? node->base : node;
    *out = (target){.at = node->at, .is_starred = node->kind == PY_STAR};
    if (inner->kind == PY_NAME) {
        out->name = inner->name;
        return true;
    }
    if (!script_eval(p, inner, &out->access)) return false;
    bool takes_value = out->access.kind == SCRIPT_ACCESS && !out->is_starred;
    return takes_value || script_fail(p, out->at, "this cannot be assigned to");
}

static bool eval_targets(script_parser *p, const py_node *node, target *targets, uint32_t most,
                         uint32_t *out_count, bool *out_tuple) {
    *out_tuple = node->kind == PY_TUPLE || node->kind == PY_LIST;
    *out_count = *out_tuple ? node->count : 1;
    if (*out_count > most) return script_fail(p, node->at, "too many names");
    for (uint32_t i = 0; i < *out_count; i++) {
        if (!eval_target(p, *out_tuple ? node->items[i] : node, &targets[i])) return false;
    }
    return true;
}

bool script_need_name(script_parser *p, const py_node *node, const char *what,
                      const char **out_name) {
    if (node->kind != PY_NAME) return script_expected(p, node->at, what);
    *out_name = node->name;
    return true;
}

bool script_target_names(script_parser *p, const py_node *node, const char *what, uint32_t most,
                         const char **out_names, uint32_t *out_count, uint32_t *out_star) {
    bool is_list = node->kind == PY_TUPLE || node->kind == PY_LIST;
    *out_count = is_list ? node->count : 1;
    *out_star = HONE_NO_ID;
    if (*out_count > most) return script_fail(p, node->at, "too many names");
    for (uint32_t i = 0; i < *out_count; i++) {
        const py_node *one = is_list ? node->items[i] : node;
        if (one->kind == PY_STAR) {
            if (*out_star != HONE_NO_ID) return script_fail(p, one->at, "two names with '*'");
            *out_star = i;
            one = one->base;
        }
        if (!script_need_name(p, one, what, &out_names[i])) return false;
    }
    return true;
}

bool script_eval_assignment(script_parser *p, const py_node *node, const char **names,
                            const py_value **out_items, uint32_t *out_count) {
    const py_node *left = node->items[0];
    uint32_t have = 1, star;
    py_value *v = script_alloc(p, p->scratch, 1, sizeof *v);
    if (node->count > 1) return script_expected(p, node->items[1]->end, "the end of the line");
    if (!v || !script_target_names(p, left, "a name", SCRIPT_MOST_NAMES, names, out_count, &star) ||
        !script_eval(p, node->base, v)) {
        return false;
    }
    *out_items = v;
    if (left->kind != PY_NAME) script_items(v, out_items, &have);
    if (have == *out_count && star == HONE_NO_ID) return true;
    return script_fail(p, node->at, "%u names for %u value%s", *out_count, have,
                       have == 1 ? "" : "s");
}

bool script_check_params(script_parser *p, const py_node *def, const char *types) {
    for (uint32_t i = def->count_ahead; i + 2 < def->count; i++) {
        const py_node *param = def->items[i];
        const char *name = param->name;
        if (!name || param->op != PY_NO_OP) return script_expected(p, param->at, "a parameter");
        for (uint32_t k = def->count_ahead; k < i; k++) {
            if (strcmp(def->items[k]->name, name) != 0) continue;
            return script_fail(p, param->at, "two parameters are named '%s'", name);
        }
        if (!param->items[0]) {
            return script_fail(p, param->at, "parameter '%s' has no type; expected %s", name,
                               types);
        }
        if (!param->items[1]) continue;
        return script_fail(p, param->items[1]->at,
                           "parameter '%s' has a default, which TVMScript has not", name);
    }
    return true;
}

/* *v = …: v_0, v_1, …, and v is the tuple of them. */
static bool assign_spread(script_parser *p, const target *t, const py_value *items,
                          uint32_t count) {
    const char **names = script_alloc(p, p->scratch, count, sizeof *names);
    if (!names) return false;
    for (uint32_t i = 0; i < count; i++) {
        names[i] = hone_arena_printf(p->arena, "%s_%u", t->name, i);
        if (!names[i]) return script_no_memory(p);
        if (!script_assign(p, names[i], t->at, &items[i])) return false;
    }
    return script_define_spread(p, t->name, names, count);
}

static bool assign_starred(script_parser *p, const target *targets, uint32_t count, uint32_t star,
                           const py_value *items, uint32_t have) {
    if (have + 1 < count) {
        return script_fail(p, targets[0].at, "%u names for %u value%s", count, have,
                           have == 1 ? "" : "s");
    }
    uint32_t taken = have + 1 - count;
    for (uint32_t i = 0; i < count; i++) {
        bool ok = i == star ? assign_spread(p, &targets[i], items + star, taken)
                            : assign_one(p, &targets[i], &items[i < star ? i : i + taken - 1]);
        if (!ok) return false;
    }
    return true;
}

static bool assign_all(script_parser *p, const target *targets, uint32_t count, bool is_tuple,
                       const py_value *v) {
    if (count == 1 && targets[0].is_starred) {
        return script_fail(p, targets[0].at, "a name with '*' stands in a list: *a, b = …");
    }
    if (!is_tuple) return assign_one(p, &targets[0], v);
    const py_value *items = NULL;
    uint32_t have = 0;
    script_items(v, &items, &have);
    for (uint32_t i = 0; i < count; i++) {
        if (targets[i].is_starred) return assign_starred(p, targets, count, i, items, have);
    }
    if (have != count) {
        return script_fail(p, targets[0].at, "%u names for %u value%s", count, have,
                           have == 1 ? "" : "s");
    }
    for (uint32_t i = 0; i < count; i++) {
        if (targets[i].name) continue;
        return script_fail(p, targets[i].at, "elements of buffers are stored one by one");
    }
    for (uint32_t i = 1; i < count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            bool is_twice = targets[i].name && targets[k].name &&
                            strcmp(targets[i].name, targets[k].name) == 0 &&
                            strcmp(targets[i].name, "_") != 0;
            if (is_twice)
                return script_fail(p, targets[i].at, "'%s' stands twice on the left",
                                   targets[i].name);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        py_value item = items[i];
        item.is_meta |= v->is_meta;
        if (!assign_one(p, &targets[i], &item)) return false;
    }
    return true;
}

static bool parse_assignment(script_parser *p, const py_node *node) {
    enum { MOST = 64 };
    target targets[MOST];
    uint32_t count = 0;
    bool is_tuple = false;
    py_value v;
    if (node->count > 1) {
        return script_expected(p, node->items[1]->end, "the end of the line");
    }
    return eval_targets(p, node->items[0], targets, MOST, &count, &is_tuple) &&
           script_eval(p, node->base, &v) && assign_all(p, targets, count, is_tuple, &v);
}

static bool parse_augmented(script_parser *p, const py_node *node) {
    py_value left, right, v;
    if (!script_eval(p, node->items[0], &left)) return false;
    if (left.kind != SCRIPT_ACCESS) {
        int length = p->source.text[node->mark + 1] == '=' ? 2 : 3;
        return script_fail(p, left.at, "'%.*s' needs an element of a buffer", length,
                           p->source.text + node->mark);
    }
    return script_eval(p, node->base, &right) &&
           script_binary_value(p, node->mark, node->op, &left, &right, &v) &&
           script_store(p, &left, &v);
}

/* A call for its effect. */
static bool run_expression(script_parser *p, const py_value *v) {
    hone_node_id node;
    const hone_expr *e = NULL;
    py_value ignored;
    switch (v->kind) {
    case PYV_NONE:
    case PYV_ELLIPSIS:
    case PYV_STRING:
        return true; /* a docstring, '...', or a statement that is done */
    case SCRIPT_BUFFER:
        return true;
    case SCRIPT_FRAME:
        return script_open_frame(p, v, &ignored);
    default:
        break;
    }
    if (!script_to_expr(p, v, &e)) return false;
    if (v->is_fresh) return true; /* T.axis.spatial(...) without a name */
    if (!script_add_node(p, HONE_NODE_EVAL, v->at, &node)) return false;
    hone_func_node(p->func, node)->u.eval.value = e;
    return true;
}

bool script_parse_simple(script_parser *p, const py_node *node) {
    py_value v;
    switch (node->kind) {
    case PY_ANNOTATE:
        return parse_annotated(p, node);
    case PY_ASSIGN:
        return parse_assignment(p, node);
    case PY_AUGMENT:
        return parse_augmented(p, node);
    default:
        return script_eval(p, node->base, &v) && run_expression(p, &v);
    }
}
