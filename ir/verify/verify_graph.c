/* ir/verify/verify_graph.c - the verifier of graph programs. */
#include <stdarg.h>
#include <string.h>

#include "ir/ops/fit.h"
#include "ir/ops/graph_infer.h"
#include "ir/verify/verify_impl.h"

typedef struct graph_verifier {
    const hone_module *module;
    const hone_graph_func *graph;
    hone_findings *out;
    bool *is_defined;  /* by value */
    uint32_t *made_by; /* by value: its binding; HONE_NO_ID for a parameter */
    bool *is_wrong;    /* by value: what it is made of has been reported */
    bool *is_size;     /* by symbolic size: some shape brings it in */
    uint32_t bind;
    bool is_at_result, is_short_of_memory;
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
    } else if (v->is_at_result) {
        finding.line = v->graph->result_line;
        finding.column = v->graph->result_column;
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

/* What a dataflow block makes stays in it, unless R.output names it. */
static bool is_out_of_reach(const graph_verifier *v, hone_gvalue value) {
    uint32_t maker = v->made_by[value];
    if (maker == HONE_NO_ID || v->graph->values[value].is_output) return false;
    const hone_gbind *from = &v->graph->bindings[maker];
    if (!from->in_dataflow) return false;
    if (v->bind >= v->graph->bind_count) return true;
    const hone_gbind *to = &v->graph->bindings[v->bind];
    return !to->in_dataflow || to->dataflow_block != from->dataflow_block;
}

/* The name under which R.output hands out the same value (older builders print `gv = lv;
 * R.output(gv)` and return lv), or NULL. */
static const char *name_outside(const graph_verifier *v, hone_gvalue value) {
    for (uint32_t i = 0; i < v->graph->bind_count; i++) {
        const hone_gbind *bind = &v->graph->bindings[i];
        bool is_alias = bind->kind == HONE_GBIND_ARG && bind->args[0].kind == HONE_GARG_VALUE &&
                        bind->args[0].u.value == value;
        if (is_alias && v->graph->values[bind->value].is_output) {
            return value_name(v, bind->value);
        }
    }
    return NULL;
}

static void check_reach(graph_verifier *v, hone_gvalue value) {
    if (!is_out_of_reach(v, value)) return;
    const char *outside = name_outside(v, value);
    if (outside) {
        report(v, true, "'%s' is used outside of its dataflow block, where it is called '%s'",
               value_name(v, value), outside);
    } else {
        report(v, false,
               "'%s' is used outside of its dataflow block, whose R.output does not name it",
               value_name(v, value));
    }
}

static void check_arg(graph_verifier *v, const hone_garg *arg) {
    switch (arg->kind) {
    case HONE_GARG_VALUE:
        if (arg->u.value >= v->graph->value_count || !v->is_defined[arg->u.value]) {
            report(v, false, "'%s' is used before it is defined", value_name(v, arg->u.value));
        } else {
            check_reach(v, arg->u.value);
        }
        return;
    case HONE_GARG_CONSTANT:
        if (arg->u.constant >= v->module->constant_count) {
            report(v, false, "constant %u is used, the module has %u", (unsigned)arg->u.constant,
                   (unsigned)v->module->constant_count);
        } else if (!v->module->constants[arg->u.constant]) {
            report(v, true, "the numbers of constant %u are not at hand",
                   (unsigned)arg->u.constant);
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
        if (!tensor) return NULL;
        *scratch =
            (hone_sinfo){.kind = HONE_SINFO_TENSOR, .dtype = tensor->dtype, .rank = tensor->rank};
        return scratch;
    }
    return NULL;
}

/* ---- call_tir ---- */

/* What a parameter wants. */
typedef struct wanted {
    const char *callee, *name;
    hone_dtype dtype;
    int32_t rank; /* -1 = any */
} wanted;

/* One tensor beside one parameter: what is known on both sides must agree. The extents are judged
 * for all parameters together. */
static void check_tensor(graph_verifier *v, const wanted *want, const hone_sinfo *info) {
    if (!info || info->kind != HONE_SINFO_TENSOR) return;
    if (hone_dtypes_differ(info->dtype, want->dtype)) {
        report(v, false, "'%s' gets %s for '%s', which is %s", want->callee,
               HONE_DTYPE_NAME(info->dtype), want->name, HONE_DTYPE_NAME(want->dtype));
    } else if (info->rank >= 0 && want->rank >= 0 && info->rank != want->rank) {
        report(v, false, "'%s' gets a tensor of %d dimensions for '%s', which has %d", want->callee,
               (int)info->rank, want->name, (int)want->rank);
    }
}

typedef struct fitting {
    graph_verifier *v;
    const char *callee;
    bool is_reported;
} fitting;

/* One message of a call: what does not fit once rarely fits elsewhere. What fits for some sizes is
 * judged when it is called. */
static void report_point(void *ctx, const hone_fit_point *point) {
    fitting *f = ctx;
    if (!point->is_never || f->is_reported) return;
    f->is_reported = true;
    hone_str got = {0}, want = {0}, place = {0};
    hone_extent_describe(f->v->graph, point->got, &got);
    hone_extent_describe(f->v->graph, point->wanted, &want);
    hone_fit_describe(point, &place);
    if (point->what == HONE_FIT_EXTENT) {
        report(f->v, false, "'%s' gets the extent %s in dimension %u of '%s', which has %s",
               f->callee, hone_str_text(&got), (unsigned)point->dim, point->name,
               hone_str_text(&want));
    } else {
        report(f->v, false, "'%s' gets %s as %s, wants %s", f->callee, hone_str_text(&got),
               hone_str_text(&place), hone_str_text(&want));
    }
    hone_str_deinit(&got);
    hone_str_deinit(&want);
    hone_str_deinit(&place);
}

static void keep_status(graph_verifier *v, hone_status st) {
    v->is_short_of_memory |= hone_status_consume(st) == HONE_CODE_NO_MEMORY;
}

static void fit_begin(graph_verifier *v, hone_arith *arith, fitting *f, const char *callee,
                      hone_fit *out) {
    hone_arith_init(arith, v->out->arena);
    *f = (fitting){.v = v, .callee = callee};
    *out = (hone_fit){.arith = arith, .report = report_point, .ctx = f};
}

/* A tensor program and what it gets for its parameters; scalars: one per parameter that is none. */
static void check_program(graph_verifier *v, const char *callee, const hone_func *func,
                          const hone_sinfo *const *infos, const hone_expr *const *scalars) {
    hone_fit_tensor *tensors =
        hone_arena_zalloc(v->out->arena, (func->param_count + 1) * sizeof *tensors);
    uint32_t count = 0, errors = v->out->error_count;
    if (!tensors) {
        v->is_short_of_memory = true;
        return;
    }
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (func->params[i].buffer == HONE_NO_ID) continue;
        const hone_buffer_info *buffer = hone_func_buffer(func, func->params[i].buffer);
        const wanted want = {callee, buffer->name, buffer->dtype, (int32_t)buffer->rank};
        const hone_sinfo *info = infos[i];
        check_tensor(v, &want, info);
        hone_fit_tensor *tensor = &tensors[count++];
        if (info && info->kind == HONE_SINFO_TENSOR && info->rank >= 0)
            *tensor = (hone_fit_tensor){(uint32_t)info->rank, info->shape};
    }
    if (v->out->error_count != errors) return;
    hone_arith arith;
    fitting f;
    hone_fit fit;
    fit_begin(v, &arith, &f, callee, &fit);
    keep_status(v, hone_fit_func(&fit, func, tensors, scalars));
}

/* A parameter of a function of graphs and what it gets: binds its sizes, or checks them. */
static void fit_param(hone_fit *fit, const hone_gvalue_info *param, const hone_sinfo *info,
                      bool binds) {
    const hone_sinfo *want = param->sinfo;
    bool is_known = want && info && want->kind == HONE_SINFO_TENSOR &&
                    info->kind == HONE_SINFO_TENSOR && want->rank == info->rank;
    if (!is_known || !want->shape || !info->shape) return;
    for (int32_t d = 0; d < want->rank; d++) {
        hone_fit_point point = {.name = param->name, .dim = (uint32_t)d, .got = info->shape[d]};
        if (binds)
            hone_fit_bind(fit, want->shape[d], point.got);
        else
            hone_fit_check(fit, &point, want->shape[d]);
    }
}

/* A function of graphs and what it gets. */
static void check_graph_params(graph_verifier *v, const hone_graph_func *callee,
                               const hone_sinfo *const *infos) {
    hone_arith arith;
    fitting f;
    hone_fit fit;
    fit_begin(v, &arith, &f, callee->name, &fit);
    hone_status st = hone_fit_begin(&fit, callee->var_count);
    for (uint32_t i = 0; i < callee->param_count && !st; i++) {
        const hone_gvalue_info *param = &callee->values[i];
        fit_param(&fit, param, infos[i], true);
        if (!param->sinfo || param->sinfo->kind != HONE_SINFO_TENSOR) continue;
        const wanted want = {callee->name, param->name, param->sinfo->dtype, param->sinfo->rank};
        check_tensor(v, &want, infos[i]);
    }
    for (uint32_t i = 0; i < callee->param_count && !st; i++)
        fit_param(&fit, &callee->values[i], infos[i], false);
    keep_status(v, hone_status_join(st, hone_ir_finish(&arith.ir)));
}

/* What is known of arguments, with room for `more`; NULL when memory is short. */
static const hone_sinfo **infos_of(graph_verifier *v, uint32_t count, const hone_garg *args,
                                   uint32_t more) {
    const hone_sinfo **infos =
        hone_arena_zalloc(v->out->arena, ((size_t)count + more + 1) * sizeof *infos);
    v->is_short_of_memory |= !infos;
    for (uint32_t i = 0; infos && i < count; i++) {
        bool is_there = args[i].kind != HONE_GARG_VALUE || args[i].u.value < v->graph->value_count;
        if (is_there) infos[i] = hone_garg_sinfo(v->module, v->graph, &args[i], v->out->arena);
    }
    return infos;
}

/* Inputs first, then outputs, then scalars for tir_vars. */
static void check_call_tir(graph_verifier *v, const hone_gbind *bind) {
    const hone_func *func = hone_module_find_program(v->module, bind->callee);
    if (!func) {
        if (bind->kind == HONE_GBIND_CALL_DPS) return; /* of a function of another library */
        report(v, false, "call_tir of '%s', which is no tensor program of the module",
               bind->callee ? bind->callee : "?");
        return;
    }
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
    const hone_sinfo **infos = infos_of(v, bind->arg_count, bind->args, func->param_count);
    for (uint32_t i = 0; infos && i < outputs; i++)
        infos[bind->arg_count + i] = is_tuple ? result->fields[i] : result;
    if (infos) check_program(v, bind->callee, func, infos, bind->symbolic);
}

/* ---- bindings ---- */

static void check_call_of(graph_verifier *v, const char *callee, uint32_t count,
                          const hone_garg *args) {
    const hone_member *member = callee ? hone_module_find(v->module, callee) : NULL;
    if (!member) {
        report(v, false, "'%s' is called and is no function of the module", callee ? callee : "?");
        return;
    }
    bool is_tensor_program = member->kind == HONE_MEMBER_FUNC;
    bool lacks_outputs = is_tensor_program && count < member->func->param_count;
    if (lacks_outputs) {
        report(v, false,
               "'%s' is a tensor program of %u parameters and is called with %u; R.call_tir calls "
               "it with outputs of its own",
               callee, (unsigned)member->func->param_count, (unsigned)count);
        return;
    }
    uint32_t params = is_tensor_program ? member->func->param_count : member->graph->param_count;
    if (params != count) {
        report(v, false, "'%s' takes %u parameters, got %u", callee, (unsigned)params,
               (unsigned)count);
        return;
    }
    const hone_sinfo **infos = infos_of(v, count, args, 0);
    if (!infos) return;
    if (is_tensor_program)
        check_program(v, callee, member->func, infos, NULL);
    else
        check_graph_params(v, member->graph, infos);
}

static void check_if(graph_verifier *v, const hone_gbind *bind) {
    if (bind->arg_count < HONE_GBIND_IF_ARGS) {
        report(v, false, "an 'if' without branches");
        return;
    }
    if (bind->in_dataflow) report(v, false, "an 'if' stands in a dataflow block");
    for (uint32_t i = HONE_GBIND_IF_THEN; i <= HONE_GBIND_IF_ELSE; i++) {
        const char *name = bind->args[i].kind == HONE_GARG_GLOBAL ? bind->args[i].u.s : NULL;
        check_call_of(v, name, bind->arg_count - HONE_GBIND_IF_ARGS,
                      bind->args + HONE_GBIND_IF_ARGS);
    }
}

/* The body is called with the number of the turn, states and captured values. */
static void check_loop(graph_verifier *v, const hone_gbind *bind) {
    const hone_garg *args = bind->args;
    bool has_all = bind->arg_count > HONE_LOOP_CAPTURED &&
                   args[HONE_LOOP_BODY].kind == HONE_GARG_GLOBAL &&
                   args[HONE_LOOP_STATES].kind == HONE_GARG_TUPLE &&
                   args[HONE_LOOP_CAPTURED].kind == HONE_GARG_TUPLE;
    if (!has_all) return; /* its types say so */
    uint32_t states = args[HONE_LOOP_STATES].count, captured = args[HONE_LOOP_CAPTURED].count;
    hone_garg *of_body =
        hone_arena_zalloc(v->out->arena, ((size_t)states + captured + 1) * sizeof *of_body);
    v->is_short_of_memory |= !of_body;
    if (!of_body) return;
    of_body[0].kind = HONE_GARG_NONE;
    for (uint32_t i = 0; i < states; i++)
        of_body[1 + i] = args[HONE_LOOP_STATES].u.items[i];
    for (uint32_t i = 0; i < captured; i++)
        of_body[1 + states + i] = args[HONE_LOOP_CAPTURED].u.items[i];
    check_call_of(v, args[HONE_LOOP_BODY].u.s, 1 + states + captured, of_body);
}

static void check_tuple_get(graph_verifier *v, const hone_gbind *bind) {
    hone_sinfo scratch;
    if (bind->arg_count != 1) {
        report(v, false, "a tuple element is taken of %u values", (unsigned)bind->arg_count);
        return;
    }
    const hone_sinfo *info = info_of(v, &bind->args[0], &scratch);
    if (info && info->kind == HONE_SINFO_TENSOR) {
        report(v, false,
               "element %d is taken of a tensor, only tuples have some; R.strided_slice and R.take "
               "give parts of tensors",
               (int)bind->index);
        return;
    }
    if (info && (info->kind != HONE_SINFO_TUPLE || bind->index < 0 ||
                 (uint32_t)bind->index >= info->field_count)) {
        report(v, false, "element %d is taken of a value that has %u", (int)bind->index,
               info->kind == HONE_SINFO_TUPLE ? (unsigned)info->field_count : 0u);
    }
}

/* What the operator makes of its arguments, beside what is written. */
static void check_types(graph_verifier *v, const hone_gbind *bind) {
    hone_status st = hone_graph_check_bind(v->module, v->graph, bind, v->out->arena);
    hone_code code = hone_status_code(st);
    if (code == HONE_CODE_NO_MEMORY) v->is_short_of_memory = true;
    if (code == HONE_CODE_TYPE || code == HONE_CODE_INVALID) {
        report(v, false, "%s", hone_status_message(st));
    }
    hone_status_free(st);
}

static void check_match_cast(graph_verifier *v, const hone_gbind *bind) {
    if (bind->arg_count != 1 || bind->value >= v->graph->value_count) return;
    hone_sinfo scratch;
    const hone_sinfo *from = info_of(v, &bind->args[0], &scratch);
    const hone_sinfo *to = v->graph->values[bind->value].sinfo;
    if (!hone_sinfo_contradicts(to, from)) return;
    hone_str a = {0}, b = {0};
    hone_sinfo_describe(v->graph, from, &a);
    hone_sinfo_describe(v->graph, to, &b);
    report(v, false, "R.match_cast of %s to %s, which it can never be", hone_str_text(&a),
           hone_str_text(&b));
    hone_str_deinit(&a);
    hone_str_deinit(&b);
}

static bool is_of_wrong(const graph_verifier *v, const hone_garg *arg) {
    if (arg->kind == HONE_GARG_VALUE)
        return arg->u.value < v->graph->value_count && v->is_wrong[arg->u.value];
    for (uint32_t i = 0; arg->kind == HONE_GARG_TUPLE && i < arg->count; i++) {
        if (is_of_wrong(v, &arg->u.items[i])) return true;
    }
    return false;
}

static void check_kind(graph_verifier *v, const hone_gbind *bind) {
    switch (bind->kind) {
    case HONE_GBIND_CALL_TIR:
    case HONE_GBIND_CALL_DPS:
        check_call_tir(v, bind);
        break;
    case HONE_GBIND_CALL_FUNC:
        check_call_of(v, bind->callee, bind->arg_count, bind->args);
        break;
    case HONE_GBIND_IF:
        check_if(v, bind);
        break;
    case HONE_GBIND_CALL:
        if (strcmp(bind->callee, "loop") == 0) check_loop(v, bind);
        break;
    case HONE_GBIND_TUPLE_GET:
        check_tuple_get(v, bind);
        break;
    case HONE_GBIND_MATCH_CAST:
        check_match_cast(v, bind);
        break;
    default:
        break;
    }
}

/* What is made of a value that is wrong is not judged: one slip, one message. */
static void check_bind(graph_verifier *v, const hone_gbind *bind) {
    uint32_t errors = v->out->error_count;
    bool is_wrong = false;
    for (uint32_t i = 0; i < bind->arg_count; i++) {
        check_arg(v, &bind->args[i]);
        is_wrong |= is_of_wrong(v, &bind->args[i]);
    }
    if (!is_wrong) check_kind(v, bind);
    if (bind->value >= v->graph->value_count) {
        report(v, false, "a binding defines a value that does not exist");
        return;
    }
    if (v->is_defined[bind->value]) {
        report(v, false, "'%s' is defined twice", value_name(v, bind->value));
    }
    v->is_defined[bind->value] = true;
    v->made_by[bind->value] = v->bind;
    if (v->out->error_count == errors && !is_wrong) check_types(v, bind);
    v->is_wrong[bind->value] = is_wrong || v->out->error_count != errors;
    const hone_sinfo *info = v->graph->values[bind->value].sinfo;
    if (bind->kind == HONE_GBIND_MATCH_CAST)
        bind_sizes(v, info);
    else
        check_sizes(v, info, value_name(v, bind->value));
}

static void check_result(graph_verifier *v) {
    const hone_graph_func *graph = v->graph;
    if (is_of_wrong(v, &graph->result)) return;
    const hone_sinfo *got = hone_garg_sinfo(v->module, graph, &graph->result, v->out->arena);
    if (!hone_sinfo_contradicts(graph->result_sinfo, got)) return;
    hone_str a = {0}, b = {0};
    hone_sinfo_describe(graph, graph->result_sinfo, &a);
    hone_sinfo_describe(graph, got, &b);
    report(v, false, "the result is declared %s but is %s", hone_str_text(&a), hone_str_text(&b));
    hone_str_deinit(&a);
    hone_str_deinit(&b);
}

hone_status verify_graph(const hone_module *module, const hone_graph_func *graph,
                         hone_findings *out) {
    graph_verifier v = {.module = module, .graph = graph, .out = out, .bind = HONE_NO_ID};
    v.is_defined = hone_arena_zalloc(out->arena, graph->value_count + 1);
    v.is_wrong = hone_arena_zalloc(out->arena, graph->value_count + 1);
    v.is_size = hone_arena_zalloc(out->arena, graph->var_count + 1);
    v.made_by = hone_arena_alloc(out->arena, (graph->value_count + 1) * sizeof *v.made_by);
    if (!v.is_defined || !v.is_wrong || !v.is_size || !v.made_by)
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "verification");
    for (uint32_t i = 0; i < graph->value_count; i++)
        v.made_by[i] = HONE_NO_ID;
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
    v.is_at_result = true;
    check_arg(&v, &graph->result);
    check_sizes(&v, graph->result_sinfo, "the result");
    check_result(&v);
    return v.is_short_of_memory ? HONE_ERROR(HONE_CODE_NO_MEMORY, "verification") : HONE_OK;
}
