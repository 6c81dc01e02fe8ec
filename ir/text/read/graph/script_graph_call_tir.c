/* ir/text/read/graph/script_graph_call_tir.c - calls of functions from graph programs: tensor
 * programs of the module (R.call_tir), external functions (R.call_dps_packed, R.call_packed), graph
 * functions.
 *
 * Spellings of the result: out_ty=R.Tensor((1, 128), "float32"), a list of those, or the older
 * out_sinfo= and (1, 128), dtype="float32".
 */
#include <string.h>

#include "ir/text/read/graph/script_graph_impl.h"

static bool result_of(script_parser *p, const script_call *call, const hone_sinfo **out) {
    const py_value *v = script_arg(call, 2, "out_sinfo");
    if (!v) v = script_arg(call, 2, "out_ty");
    if (!v) v = script_arg(call, 2, "shape");
    if (!v) return script_fail(p, call->at, "%s: argument 'out_ty' is missing", call->callee);
    const py_value *items;
    uint32_t count;
    bool is_shape = script_is_list(v);
    script_items(v, &items, &count);
    for (uint32_t i = 0; is_shape && i < count; i++)
        is_shape = items[i].kind != SCRIPT_SINFO && items[i].kind != SCRIPT_PATH;
    if (v->kind == SCRIPT_GARG && script_garg_of(v)->kind == HONE_GARG_SHAPE) is_shape = true;
    if (!is_shape) return script_to_sinfo(p, v, out);
    const py_value *type = script_arg(call, 3, "dtype");
    bool is_old = v == script_arg(call, 2, "shape"); /* (4, 8), dtype="float32" */
    if (!is_old) return script_to_sinfo(p, v, out);
    hone_sinfo *info = script_alloc(p, p->arena, 1, sizeof *info);
    if (!info) return false;
    *info = (hone_sinfo){.kind = HONE_SINFO_TENSOR, .dtype = HONE_DTYPE_F32};
    if (type && !script_to_dtype(p, type, &info->dtype)) return false;
    *out = info;
    if (v->kind == SCRIPT_GARG) {
        info->rank = (int32_t)script_garg_of(v)->count;
        info->shape = script_garg_of(v)->u.exprs;
        return true;
    }
    return script_to_extents(p, v, &info->rank, &info->shape);
}

/* The argument tuple; one lone value counts as a tuple of one. */
static bool arguments_of(script_parser *p, const py_value *v, hone_gbind *bind) {
    hone_garg all;
    if (!script_to_garg(p, v, false, &all)) return false;
    if (all.kind == HONE_GARG_TUPLE) {
        bind->args = all.u.items;
        bind->arg_count = all.count;
        return true;
    }
    hone_garg *one = script_alloc(p, p->arena, 1, sizeof *one);
    if (!one) return false;
    *one = all;
    bind->args = one;
    bind->arg_count = 1;
    return true;
}

static bool sizes_of(script_parser *p, const script_call *call, hone_gbind *bind) {
    const py_value *v = script_arg(call, UINT32_MAX, "tir_vars");
    if (!v) return true;
    if (v->kind == SCRIPT_GARG && script_garg_of(v)->kind == HONE_GARG_SHAPE) {
        bind->symbolic = script_garg_of(v)->u.exprs;
        bind->symbolic_count = script_garg_of(v)->count;
        return true;
    }
    int32_t count = 0;
    if (!script_to_extents(p, v, &count, &bind->symbolic)) return false;
    bind->symbolic_count = (uint32_t)count;
    return true;
}

/* f = R.ExternFunc("name"): the function that the value f is, or NULL. */
static const hone_garg *extern_of(const script_parser *p, const hone_garg *garg) {
    for (uint32_t i = p->graph->bind_count; garg->kind == HONE_GARG_VALUE && i-- > 0;) {
        const hone_gbind *bind = &p->graph->bindings[i];
        bool is_it = bind->value == garg->u.value && bind->kind == HONE_GBIND_ARG;
        if (is_it) garg = &bind->args[0];
    }
    return garg->kind == HONE_GARG_EXTERN ? garg : NULL;
}

static bool callee_of(script_parser *p, const py_value *v, hone_gbind *bind) {
    const hone_garg *is_extern = v->kind == SCRIPT_GARG ? extern_of(p, script_garg_of(v)) : NULL;
    if (v->kind == SCRIPT_GLOBAL) {
        bind->kind = HONE_GBIND_CALL_TIR;
        bind->callee = script_strdup(p, v->u.s);
    } else if (v->kind == PYV_STRING || is_extern) {
        bind->kind = HONE_GBIND_CALL_DPS;
        bind->callee = script_strdup(p, is_extern ? is_extern->u.s : v->u.s);
    } else {
        return script_fail(p, v->at,
                           "expected a function of the module or the name of an external "
                           "function, found %s",
                           script_kind_name(v));
    }
    return bind->callee != NULL;
}

static bool call_tir(script_parser *p, const script_call *call, py_value *out) {
    const py_value *callee = NULL, *args = NULL;
    hone_gbind bind = {.kind = HONE_GBIND_CALL_TIR};
    const hone_sinfo *info = NULL;
    return script_need_arg(p, call, 0, "gvar", &callee) &&
           script_need_arg(p, call, 1, "args", &args) && callee_of(p, callee, &bind) &&
           arguments_of(p, args, &bind) && sizes_of(p, call, &bind) && result_of(p, call, &info) &&
           script_bind(p, call->at, &bind, info, out);
}

static bool call_packed(script_parser *p, const script_call *call, py_value *out) {
    const py_value *callee = NULL, *types = script_arg(call, UINT32_MAX, "ty_args");
    if (!types) types = script_arg(call, UINT32_MAX, "sinfo_args");
    hone_gbind bind = {0};
    const hone_sinfo *info = NULL;
    if (!script_need_arg(p, call, 0, "func", &callee) || !callee_of(p, callee, &bind)) return false;
    bind.kind = HONE_GBIND_CALL_PACKED;
    bind.is_pure = strcmp(call->callee, "R.call_pure_packed") == 0;
    hone_garg *args = script_alloc(p, p->arena, call->count, sizeof *args);
    if (!args) return false;
    for (uint32_t i = 1; i < call->count; i++) {
        if (!script_to_garg(p, &call->args[i], false, &args[i - 1])) return false;
    }
    bind.args = args;
    bind.arg_count = call->count - 1;
    if (types && !script_to_sinfo(p, script_only(types), &info)) return false;
    return script_bind(p, call->at, &bind, info, out);
}

/* f(x) where f is a value: R.invoke_closure(f, (x,)). */
static bool call_value(script_parser *p, const py_value *callee, const script_call *call,
                       py_value *out) {
    const hone_garg *f = script_garg_of(callee);
    const hone_sinfo *known =
        f->kind == HONE_GARG_VALUE ? p->graph->values[f->u.value].sinfo : NULL;
    bool is_function =
        f->kind == HONE_GARG_VALUE &&
        (!known || known->kind == HONE_SINFO_CALLABLE || known->kind == HONE_SINFO_OBJECT);
    if (!is_function) {
        return script_fail(p, callee->at,
                           "only functions can be called: those of the module, values of type "
                           "R.Callable and R.ExternFunc(\"name\")");
    }
    hone_garg *args = script_alloc(p, p->arena, 2, sizeof *args);
    hone_garg *items = script_alloc(p, p->arena, call->count, sizeof *items);
    hone_sinfo *any = script_alloc(p, p->arena, 1, sizeof *any);
    if (!args || !items || !any) return false;
    for (uint32_t i = 0; i < call->count; i++) {
        if (!script_to_garg(p, &call->args[i], false, &items[i])) return false;
    }
    args[0] = *f;
    args[1] = (hone_garg){.kind = HONE_GARG_TUPLE, .count = call->count, .u.items = items};
    bool is_told = known && known->kind == HONE_SINFO_CALLABLE && known->field_count;
    bool is_pure = p->graph->is_pure || (is_told && hone_dtype_is_bool(known->dtype));
    *any = (hone_sinfo){.kind = HONE_SINFO_OBJECT, .dtype = HONE_DTYPE_VOID, .rank = -1};
    const hone_sinfo *info = is_told ? known->fields[0] : any;
    hone_gbind bind = {.kind = HONE_GBIND_CALL,
                       .callee = is_pure ? "invoke_pure_closure" : "invoke_closure",
                       .arg_count = 2,
                       .args = args};
    return script_bind(p, call->at, &bind, info, out);
}

/* f(x) where f = R.ExternFunc("name"), as R.call_packed has it. */
bool script_call_extern(script_parser *p, const py_value *callee, const script_call *call,
                        py_value *out) {
    py_value *args = script_alloc(p, p->scratch, call->count + 1, sizeof *args);
    if (!args) return false;
    if (!p->graph) return script_fail(p, callee->at, "a graph value cannot be called here");
    if (!extern_of(p, script_garg_of(callee))) return call_value(p, callee, call, out);
    args[0] = *callee;
    if (call->count) memcpy(args + 1, call->args, call->count * sizeof *args);
    script_call packed = *call;
    packed.callee = "R.call_packed";
    packed.count++;
    packed.args = args;
    return call_packed(p, &packed, out);
}

bool script_call_through(script_parser *p, const script_call *call, py_value *out,
                         bool *out_known) {
    static const script_entry rows[] = {
        {"R.call_tir",         call_tir   },
        {"R.call_dps_packed",  call_tir   },
        {"R.call_packed",      call_packed},
        {"R.call_pure_packed", call_packed}
    };
    *out_known = false;
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        if (strcmp(rows[i].name, call->callee) != 0) continue;
        *out_known = true;
        return rows[i].run(p, call, out);
    }
    return true;
}

/* Behind the arguments of the call stand the values that the function uses beside them. */
static bool call_graph(script_parser *p, const script_call *call, const script_local *local,
                       py_value *out) {
    hone_gbind bind = {.kind = HONE_GBIND_CALL_FUNC, .callee = script_strdup(p, local->name)};
    hone_garg *args = script_alloc(p, p->arena, call->count + (size_t)local->count, sizeof *args);
    if (!args || !bind.callee) return false;
    for (uint32_t i = 0; i < call->count; i++) {
        if (!script_to_garg(p, &call->args[i], false, &args[i])) return false;
    }
    for (uint32_t i = 0; i < local->count; i++)
        args[call->count + i] = HONE_GARG_OF_VALUE(local->captured[i]);
    bind.args = args;
    bind.arg_count = call->count + local->count;
    return script_bind(p, call->at, &bind, NULL, out);
}

bool script_call_global(script_parser *p, const char *name, const script_call *call,
                        py_value *out) {
    if (!p->graph) {
        return script_fail(p, call->at, "'%s' is called outside of a graph function", name);
    }
    return call_graph(p, call, &(script_local){.name = name}, out);
}

bool script_call_local(script_parser *p, const script_local *local, const script_call *call,
                       py_value *out) {
    return call_graph(p, call, local, out);
}
