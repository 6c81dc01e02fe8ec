#include <stdarg.h>
#include <string.h>

#include "ir/verify_impl.h"

typedef struct graph_verifier {
    const hone_module *module;
    const hone_graph_func *graph;
    hone_findings *out;
    bool *is_defined; /* by value */
    bool *is_size;    /* by symbolic size: some shape brings it in */
    uint32_t bind;
    bool is_short_of_memory;
} graph_verifier;

static void report(graph_verifier *v, bool is_warning, const char *format, ...) HONE_PRINTF(3, 4);

static void report(graph_verifier *v, bool is_warning, const char *format, ...) {
    va_list args;
    hone_str text = {0};
    hone_finding finding = {.is_warning = is_warning, .node = HONE_NO_ID};
    if (v->bind < v->graph->bind_count) {
        const hone_gbind *bind = &v->graph->bindings[v->bind];
        finding.line = bind->line;
        finding.column = bind->column;
    }
    hone_str_printf(&text, "in '%s': ", v->graph->name ? v->graph->name : "?");
    va_start(args, format);
    hone_str_vprintf(&text, format, args);
    va_end(args);
    const char *kept = hone_arena_strdup(v->out->arena, hone_str_text(&text));
    if (!kept || text.failed) v->is_short_of_memory = true;
    verify_add(v->out, finding, kept);
    hone_str_deinit(&text);
}

static const char *value_name(const graph_verifier *v, hone_gvalue value) {
    return value < v->graph->value_count && v->graph->values[value].name
               ? v->graph->values[value].name
               : "?";
}

/* ---- sizes ---- */

static bool mentions_unknown(const graph_verifier *v, const hone_expr *e) {
    if (e->kind == HONE_EXPR_VAR) {
        return e->u.var >= v->graph->var_count || !v->is_size[e->u.var];
    }
    for (uint32_t i = 0; i < e->count; i++) {
        if (mentions_unknown(v, e->args[i])) return true;
    }
    return false;
}

static void bind_sizes(graph_verifier *v, const hone_sinfo *info) {
    if (!info) return;
    for (int32_t i = 0; info->shape && i < info->rank; i++) {
        const hone_expr *e = info->shape[i];
        if (e->kind == HONE_EXPR_VAR && e->u.var < v->graph->var_count) v->is_size[e->u.var] = true;
    }
    for (uint32_t i = 0; i < info->field_count; i++)
        bind_sizes(v, info->fields[i]);
}

static void check_sizes(graph_verifier *v, const hone_sinfo *info, const char *what) {
    if (!info) return;
    for (int32_t i = 0; info->shape && i < info->rank; i++) {
        if (mentions_unknown(v, info->shape[i])) {
            report(v, false, "the shape of %s has a size that nothing defines", what);
            return;
        }
    }
    for (uint32_t i = 0; i < info->field_count; i++)
        check_sizes(v, info->fields[i], what);
}

/* ---- arguments ---- */

static void check_arg(graph_verifier *v, const hone_garg *arg) {
    switch (arg->kind) {
    case HONE_GARG_VALUE:
        if (arg->u.value >= v->graph->value_count || !v->is_defined[arg->u.value]) {
            report(v, false, "'%s' is used before it is defined", value_name(v, arg->u.value));
        }
        return;
    case HONE_GARG_CONSTANT:
        if (arg->u.constant >= v->module->constant_count) {
            report(v, false, "constant %u is used, the module has %u", (unsigned)arg->u.constant,
                   (unsigned)v->module->constant_count);
        }
        return;
    case HONE_GARG_TUPLE:
        for (uint32_t i = 0; i < arg->count; i++)
            check_arg(v, &arg->u.items[i]);
        return;
    case HONE_GARG_GLOBAL:
        if (!hone_module_find(v->module, arg->u.s)) {
            report(v, false, "'%s' is no function of the module", arg->u.s);
        }
        return;
    case HONE_GARG_SHAPE:
        for (uint32_t i = 0; i < arg->count; i++) {
            if (mentions_unknown(v, arg->u.exprs[i])) {
                report(v, false, "a shape has a size that nothing defines");
            }
        }
        return;
    default:
        return;
    }
}

/* What is known of an argument; a constant is described by scratch. NULL = nothing. */
static const hone_sinfo *info_of(const graph_verifier *v, const hone_garg *arg,
                                 hone_sinfo *scratch) {
    if (arg->kind == HONE_GARG_VALUE && arg->u.value < v->graph->value_count) {
        return v->graph->values[arg->u.value].sinfo;
    }
    if (arg->kind == HONE_GARG_CONSTANT && arg->u.constant < v->module->constant_count) {
        const hone_tensor *tensor = v->module->constants[arg->u.constant];
        *scratch =
            (hone_sinfo){.kind = HONE_SINFO_TENSOR, .dtype = tensor->dtype, .rank = tensor->rank};
        return scratch;
    }
    return NULL;
}

static int64_t constant_extent(const graph_verifier *v, const hone_garg *arg,
                               const hone_sinfo *info, int32_t d) {
    if (arg && arg->kind == HONE_GARG_CONSTANT) {
        return v->module->constants[arg->u.constant]->shape[d];
    }
    return info->shape && info->shape[d]->kind == HONE_EXPR_INT ? info->shape[d]->u.i : -1;
}

/* ---- call_tir ---- */

/* One tensor beside one buffer: what is known on both sides must agree. */
static void check_tensor(graph_verifier *v, const char *callee, const hone_func *func, uint32_t i,
                         const hone_garg *arg, const hone_sinfo *info) {
    const hone_param *param = &func->params[i];
    if (param->buffer == HONE_NO_ID || !info || info->kind != HONE_SINFO_TENSOR) return;
    const hone_buffer_info *buffer = hone_func_buffer(func, param->buffer);
    if (!hone_dtype_is_void(info->dtype) && !hone_dtype_equal(info->dtype, buffer->dtype)) {
        report(v, false, "'%s' gets %s for '%s', which is %s", callee, HONE_DTYPE_NAME(info->dtype),
               buffer->name, HONE_DTYPE_NAME(buffer->dtype));
    }
    if (info->rank >= 0 && (uint32_t)info->rank != buffer->rank) {
        report(v, false, "'%s' gets a tensor of %d dimensions for '%s', which has %u", callee,
               (int)info->rank, buffer->name, (unsigned)buffer->rank);
        return;
    }
    for (int32_t d = 0; d < info->rank; d++) {
        int64_t got = constant_extent(v, arg, info, d);
        if (got < 0 || buffer->shape[d]->kind != HONE_EXPR_INT) continue;
        if (got != buffer->shape[d]->u.i) {
            report(v, false, "'%s' gets the extent %lld in dimension %d of '%s', which has %lld",
                   callee, (long long)got, (int)d, buffer->name, (long long)buffer->shape[d]->u.i);
        }
    }
}

/* Inputs first, then outputs, then scalars for tir_vars. */
static void check_call_tir(graph_verifier *v, const hone_gbind *bind) {
    const hone_member *member = bind->callee ? hone_module_find(v->module, bind->callee) : NULL;
    if (!member || member->kind != HONE_MEMBER_FUNC) {
        report(v, false, "call_tir of '%s', which is no tensor program of the module",
               bind->callee ? bind->callee : "?");
        return;
    }
    const hone_func *func = member->func;
    const hone_sinfo *result =
        bind->value < v->graph->value_count ? v->graph->values[bind->value].sinfo : NULL;
    bool is_tuple = result && result->kind == HONE_SINFO_TUPLE;
    uint32_t outputs = is_tuple ? result->field_count : 1;
    uint32_t given = bind->arg_count + outputs + bind->symbolic_count;
    if (!result) report(v, false, "call_tir of '%s' does not say what it returns", bind->callee);
    if (given != func->param_count) {
        report(v, false,
               "'%s' takes %u parameters, the call gives %u inputs, %u outputs and %u sizes",
               bind->callee, (unsigned)func->param_count, (unsigned)bind->arg_count,
               (unsigned)outputs, (unsigned)bind->symbolic_count);
        return;
    }
    for (uint32_t i = 0; i < bind->arg_count; i++) {
        hone_sinfo scratch;
        check_tensor(v, bind->callee, func, i, &bind->args[i],
                     info_of(v, &bind->args[i], &scratch));
    }
    for (uint32_t i = 0; i < outputs; i++) {
        check_tensor(v, bind->callee, func, bind->arg_count + i, NULL,
                     is_tuple ? result->fields[i] : result);
    }
}

/* ---- bindings ---- */

static void check_call_func(graph_verifier *v, const hone_gbind *bind) {
    const hone_member *member = bind->callee ? hone_module_find(v->module, bind->callee) : NULL;
    if (!member) {
        report(v, false, "'%s' is called and is no function of the module",
               bind->callee ? bind->callee : "?");
        return;
    }
    bool is_tensor_program = member->kind == HONE_MEMBER_FUNC;
    uint32_t params = is_tensor_program ? member->func->param_count : member->graph->param_count;
    if (params != bind->arg_count) {
        report(v, false, "'%s' takes %u parameters, got %u", bind->callee, (unsigned)params,
               (unsigned)bind->arg_count);
        return;
    }
    for (uint32_t i = 0; is_tensor_program && i < params; i++) {
        hone_sinfo scratch;
        check_tensor(v, bind->callee, member->func, i, &bind->args[i],
                     info_of(v, &bind->args[i], &scratch));
    }
}

static void check_tuple_get(graph_verifier *v, const hone_gbind *bind) {
    hone_sinfo scratch;
    if (bind->arg_count != 1) {
        report(v, false, "a tuple element is taken of %u values", (unsigned)bind->arg_count);
        return;
    }
    const hone_sinfo *info = info_of(v, &bind->args[0], &scratch);
    if (info && (info->kind != HONE_SINFO_TUPLE || bind->index < 0 ||
                 (uint32_t)bind->index >= info->field_count)) {
        report(v, false, "element %d is taken of a value that has %u", (int)bind->index,
               info->kind == HONE_SINFO_TUPLE ? (unsigned)info->field_count : 0u);
    }
}

static void check_bind(graph_verifier *v, const hone_gbind *bind) {
    for (uint32_t i = 0; i < bind->arg_count; i++)
        check_arg(v, &bind->args[i]);
    switch (bind->kind) {
    case HONE_GBIND_CALL_TIR:
        check_call_tir(v, bind);
        break;
    case HONE_GBIND_CALL_FUNC:
        check_call_func(v, bind);
        break;
    case HONE_GBIND_TUPLE_GET:
        check_tuple_get(v, bind);
        break;
    default:
        break;
    }
    if (bind->value >= v->graph->value_count) {
        report(v, false, "a binding defines a value that does not exist");
        return;
    }
    if (v->is_defined[bind->value]) {
        report(v, false, "'%s' is defined twice", value_name(v, bind->value));
    }
    v->is_defined[bind->value] = true;
    const hone_sinfo *info = v->graph->values[bind->value].sinfo;
    if (bind->kind == HONE_GBIND_MATCH_CAST)
        bind_sizes(v, info);
    else
        check_sizes(v, info, value_name(v, bind->value));
}

hone_status verify_graph(const hone_module *module, const hone_graph_func *graph,
                         hone_findings *out) {
    graph_verifier v = {.module = module, .graph = graph, .out = out, .bind = HONE_NO_ID};
    v.is_defined = hone_arena_zalloc(out->arena, graph->value_count + 1);
    v.is_size = hone_arena_zalloc(out->arena, graph->var_count + 1);
    if (!v.is_defined || !v.is_size) return HONE_ERROR(HONE_CODE_NO_MEMORY, "verification");
    for (uint32_t i = 0; i < graph->param_count; i++) {
        v.is_defined[i] = true;
        bind_sizes(&v, graph->values[i].sinfo);
    }
    for (uint32_t i = 0; i < graph->param_count; i++) {
        check_sizes(&v, graph->values[i].sinfo, value_name(&v, i));
    }
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        v.bind = i;
        check_bind(&v, &graph->bindings[i]);
    }
    v.bind = HONE_NO_ID;
    check_arg(&v, &graph->result);
    check_sizes(&v, graph->result_sinfo, "the result");
    return v.is_short_of_memory ? HONE_ERROR(HONE_CODE_NO_MEMORY, "verification") : HONE_OK;
}
