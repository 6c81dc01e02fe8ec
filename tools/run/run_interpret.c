/* tools/run/run_interpret.c - `hone run --interpret`: the reference semantics. */
#include <string.h>

#include "graph/module/module_parts.h"
#include "graph/passes/prepare.h"
#include "ir/core/fold.h"
#include "ir/interp/interp.h"
#include "ir/text/print/script_print.h"
#include "ir/verify/verify.h"
#include "lower/signature/signature.h"
#include "runtime/model/model_rt.h"
#include "runtime/native_call.h"
#include "support/core/alloc.h"
#include "tools/run/run_job.h"
#include "tools/run/suited_inputs.h"

/* ---- external functions: the convention of kernels (abi.h) ---- */

static hone_status find_extern(const hone_run_job *job, const char *name,
                               void *(*find)(void *library, const char *name), void **out_symbol) {
    *out_symbol = job->extern_library ? find(job->extern_library, name) : NULL;
    if (*out_symbol) return HONE_OK;
    return HONE_ERROR(HONE_CODE_NOT_FOUND, "%s",
                      job->extern_library ? "it is not in the library of --extern"
                                          : "it is needed, give its library with --extern");
}

static hone_status call_c(void *ctx, const char *name, hone_tensor *const *args, size_t count,
                          hone_tensor *result) {
    void *symbol = NULL;
    HONE_TRY(find_extern(ctx, name, hone_model_rt_find_symbol, &symbol));
    return hone_call_c(symbol, name, args, count, result);
}

static hone_status call_extern(void *ctx, const char *name, hone_tensor *const *args,
                               size_t count) {
    void *symbol = NULL;
    HONE_TRY(find_extern(ctx, name, hone_model_rt_find_packed, &symbol));
    return hone_call_packed(symbol, name, args, count);
}

/* A dimension that is no number as cli_dims.h reads it. vars: names them. */
static hone_status name_dim(hone_arena *arena, const hone_func *vars, const hone_expr *e,
                            const char **out) {
    hone_str text = {0};
    *out = NULL;
    if (hone_expr_is_int(e)) return HONE_OK;
    hone_status st = hone_size_print(vars, e, &text);
    if (!st) *out = hone_arena_strdup(arena, hone_str_text(&text));
    hone_str_deinit(&text);
    return st || *out ? st : HONE_NO_MEMORY("interpreter");
}

/* ---- graph functions ---- */

static hone_status wants_of_graph(hone_run_job *job, const hone_graph_func *graph,
                                  hone_cli_want **out_wants) {
    hone_cli_want *wants =
        hone_arena_zalloc(job->cli->arena, (graph->param_count + 1) * sizeof *wants);
    if (!wants) return HONE_NO_MEMORY("interpreter");
    const hone_func vars = {.vars = graph->vars, .var_count = graph->var_count};
    for (uint32_t i = 0; i < graph->param_count; i++) {
        const hone_sinfo *info = graph->values[i].sinfo;
        bool is_known = info && info->kind == HONE_SINFO_TENSOR && info->rank >= 0 &&
                        !hone_dtype_is_void(info->dtype) && info->rank <= HONE_MAX_RANK &&
                        (info->shape || info->rank == 0);
        if (!is_known) {
            return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                              "parameter '%s' is no tensor of known type and rank",
                              graph->values[i].name);
        }
        wants[i].name = graph->values[i].name;
        wants[i].dtype = info->dtype;
        wants[i].rank = info->rank;
        for (int32_t d = 0; d < info->rank; d++) {
            const hone_expr *e = info->shape[d];
            wants[i].shape[d] = hone_expr_is_int(e) ? e->u.i : -1;
            HONE_TRY(name_dim(job->cli->arena, &vars, e, &wants[i].dim_names[d]));
        }
    }
    *out_wants = wants;
    return HONE_OK;
}

static hone_status keep_results(hone_run_job *job, const hone_graph_func *graph,
                                hone_tensor **results, size_t count) {
    const hone_value *names = hone_attrs_find(&graph->attrs, "output_names");
    hone_status st = HONE_OK;
    for (size_t i = 0; i < count; i++) {
        char number[32];
        snprintf(number, sizeof number, count == 1 ? "output" : "output%zu", i);
        bool is_named = names && names->kind == HONE_VALUE_LIST && i < names->count &&
                        names->u.items[i].kind == HONE_VALUE_STRING;
        const char *name = is_named ? names->u.items[i].u.s : number;
        if (st) {
            hone_tensor_destroy(results[i]);
        } else {
            st = hone_cli_tensors_add(&job->outputs, name, results[i]);
        }
    }
    hone_free(results);
    return st;
}

/* Names of sizes that a function knows, wherever they stand. */
static hone_status size_names(hone_run_job *job, const hone_var_info *vars, uint32_t count,
                              const char *const **out, size_t *out_count) {
    const char **names = hone_arena_zalloc(job->cli->arena, (count + 1) * sizeof *names);
    *out_count = 0;
    *out = names;
    if (!names) return HONE_NO_MEMORY("interpreter");
    for (uint32_t v = 0; v < count; v++)
        if (vars[v].is_size) names[(*out_count)++] = vars[v].name;
    return HONE_OK;
}

static hone_status check_sizes(hone_run_job *job, const hone_var_info *vars, uint32_t var_count,
                               const hone_cli_want *wants, size_t count) {
    const char *const *names;
    size_t name_count;
    HONE_TRY(size_names(job, vars, var_count, &names, &name_count));
    return hone_cli_check_sizes(wants, count, names, name_count, &job->shapes);
}

static hone_interp_options interpretation(hone_run_job *job) {
    return (hone_interp_options){.call_extern = call_extern,
                                 .call_c = call_c,
                                 .extern_ctx = job,
                                 .check_uninitialised = job->o->check,
                                 .check_races = job->o->check,
                                 .is_scheduled = true};
}

/* What --check finds with some inputs is found. */
static hone_status run_suited(const hone_run_job *job, hone_status (*run)(void *ctx), void *ctx) {
    return job->o->check ? run(ctx)
                         : hone_cli_run_made_up(&job->inputs, job->suited != NULL, run, ctx);
}

typedef struct graph_run {
    hone_run_job *job;
    const hone_module *module;
    const char *name;
    hone_tensor **inputs;
    size_t input_count;
    hone_tensor **results;
    size_t result_count;
} graph_run;

static hone_status run_graph(void *ctx) {
    graph_run *r = ctx;
    hone_interp_options how = interpretation(r->job);
    return hone_interp_graph(r->module, r->name, r->inputs, r->input_count, &how, &r->results,
                             &r->result_count);
}

static hone_status interpret_graph(hone_run_job *job, const hone_module *module, const char *name) {
    hone_graph_options options = {.only = name,
                                  .dims = job->empty.dims,
                                  .dim_count = job->empty.dim_count,
                                  .weights = job->weights,
                                  .weight_count = job->params.count};
    hone_module *plain = NULL;
    HONE_TRY(hone_graph_prepare_plain(module, &options, &plain));
    const hone_member *member = hone_module_find(plain, name);
    hone_cli_want *wants;
    hone_tensor **inputs;
    hone_status st = HONE_OK;
    HONE_TRY_GOTO(st, wants_of_graph(job, member->graph, &wants), done);
    hone_run_suit_wants(job, wants, member->graph->param_count);
    HONE_TRY_GOTO(st,
                  check_sizes(job, member->graph->vars, member->graph->var_count, wants,
                              member->graph->param_count),
                  done);
    HONE_TRY_GOTO(st,
                  hone_cli_match_tensors(job->cli, wants, member->graph->param_count, &job->shapes,
                                         &job->inputs, &inputs),
                  done);
    HONE_TRY_GOTO(st,
                  hone_cli_check_not_empty(wants, member->graph->param_count, inputs, &job->shapes),
                  done);
    graph_run r = {job, plain, name, inputs, member->graph->param_count, NULL, 0};
    HONE_TRY_GOTO(st, run_suited(job, run_graph, &r), done);
    st = keep_results(job, member->graph, r.results, r.result_count);
done:
    hone_module_release(plain);
    return st;
}

/* ---- PrimFuncs ---- */

static bool is_output(const hone_func *func, const hone_signature *s, uint32_t param) {
    uint32_t buffer = 0;
    if (func->params[param].buffer == HONE_NO_ID) return false;
    for (uint32_t i = 0; i < param; i++)
        buffer += func->params[i].buffer != HONE_NO_ID;
    return s->roles[buffer] == HONE_PARAM_OUT;
}

static bool is_size(const hone_func *func, hone_var var) {
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (func->params[i].buffer == HONE_NO_ID) continue;
        const hone_buffer_info *buffer = &func->buffers[func->params[i].buffer];
        for (uint32_t d = 0; d < buffer->rank; d++) {
            if (hone_expr_uses_var(buffer->shape[d], var)) return true;
        }
    }
    return false;
}

/* Sizes by variable, as --shape has them; of made-up inputs the others are 1. -1 = not known. */
static hone_status named_sizes(hone_run_job *job, const hone_func *func, int64_t *sizes) {
    hone_dim_variants named = {0};
    HONE_TRY(hone_dim_variants_parse(job->shapes.items, job->shapes.count, &named));
    for (uint32_t v = 0; v < func->var_count; v++) {
        sizes[v] = job->inputs.count ? -1 : 1;
        for (size_t i = 0; named.count && i < named.items[0].dim_count; i++) {
            const hone_graph_dim *dim = &named.items[0].dims[i];
            if (strcmp(dim->name, func->vars[v].name) == 0) sizes[v] = dim->size;
        }
    }
    hone_dim_variants_deinit(&named);
    return HONE_OK;
}

static hone_status want_of_param(hone_arena *arena, const hone_func *func, uint32_t param,
                                 hone_cli_want *out) {
    const hone_param *at = &func->params[param];
    if (at->buffer == HONE_NO_ID) {
        out->name = func->vars[at->var].name;
        out->dtype = func->vars[at->var].dtype;
        out->is_size = is_size(func, at->var);
        return HONE_OK;
    }
    const hone_buffer_info *buffer = &func->buffers[at->buffer];
    out->name = buffer->name;
    out->dtype = buffer->dtype;
    out->rank = (int32_t)buffer->rank;
    for (uint32_t d = 0; d < buffer->rank; d++) {
        const hone_expr *e = buffer->shape[d];
        out->shape[d] = hone_expr_is_int(e) ? e->u.i : -1;
        HONE_TRY(name_dim(arena, func, e, &out->dim_names[d]));
    }
    return HONE_OK;
}

/* The sizes that inputs have, by variable. */
static void bind_sizes(const hone_func *func, hone_tensor *const *args, int64_t *sizes) {
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (!args[i]) continue;
        if (func->params[i].buffer == HONE_NO_ID) {
            sizes[func->params[i].var] = hone_tensor_get_i64(args[i], 0);
            continue;
        }
        const hone_buffer_info *buffer = &func->buffers[func->params[i].buffer];
        for (uint32_t d = 0; d < buffer->rank && d < (uint32_t)args[i]->rank; d++) {
            const hone_expr *e = buffer->shape[d];
            if (e->kind == HONE_EXPR_VAR) sizes[e->u.var] = args[i]->shape[d];
        }
    }
}

static hone_status make_output(hone_run_job *job, const hone_func *func, uint32_t param,
                               const int64_t *sizes, hone_tensor **out) {
    const hone_buffer_info *buffer = &func->buffers[func->params[param].buffer];
    int64_t shape[HONE_MAX_RANK];
    for (uint32_t d = 0; d < buffer->rank; d++) {
        if (!hone_fold_sizes(buffer->shape[d], sizes, func->var_count, &shape[d])) {
            return HONE_ERROR(
                HONE_CODE_INVALID,
                "the shape of '%s' does not follow from the inputs; --shape gives sizes",
                buffer->name);
        }
        if (shape[d] < 0) {
            return HONE_ERROR(HONE_CODE_INVALID,
                              "dimension %u of '%s' is %lld with these inputs, must be at least 0",
                              (unsigned)d, buffer->name, (long long)shape[d]);
        }
    }
    HONE_TRY(hone_tensor_create(buffer->dtype, (int32_t)buffer->rank, shape, out));
    return hone_cli_tensors_add(&job->outputs, buffer->name, *out);
}

/* Parameters that are updated in place are results as well. */
static hone_status keep_updated(hone_run_job *job, const hone_func *func, const hone_signature *s,
                                hone_tensor *const *args) {
    uint32_t buffer = 0;
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (func->params[i].buffer == HONE_NO_ID) continue;
        if (s->roles[buffer++] != HONE_PARAM_INOUT) continue;
        hone_tensor *copy;
        HONE_TRY(hone_tensor_clone(args[i], &copy));
        HONE_TRY(
            hone_cli_tensors_add(&job->outputs, func->buffers[func->params[i].buffer].name, copy));
    }
    return HONE_OK;
}

static hone_status wants_of_func(hone_arena *arena, const hone_func *func, const hone_signature *s,
                                 hone_cli_want **out_wants, size_t *out_count) {
    hone_cli_want *wants = hone_arena_zalloc(arena, (func->param_count + 1) * sizeof *wants);
    if (!wants) return HONE_NO_MEMORY("interpreter");
    *out_wants = wants;
    *out_count = 0;
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (is_output(func, s, i)) continue;
        HONE_TRY(want_of_param(arena, func, i, &wants[(*out_count)++]));
    }
    return HONE_OK;
}

hone_status hone_run_wants(hone_run_job *job, const hone_member *member, hone_cli_want **out_wants,
                           size_t *out_count) {
    hone_signature s;
    *out_wants = NULL;
    *out_count = 0;
    if (member->kind == HONE_MEMBER_GRAPH) {
        *out_count = member->graph->param_count;
        return wants_of_graph(job, member->graph, out_wants);
    }
    if (member->kind != HONE_MEMBER_FUNC) return HONE_OK;
    HONE_TRY(hone_signature_of(member->func, job->cli->arena, &s));
    return wants_of_func(job->cli->arena, member->func, &s, out_wants, out_count);
}

typedef struct func_run {
    hone_run_job *job;
    const hone_func *func;
    hone_tensor **args;
    hone_node_id failed; /* where, of the first run that did */
} func_run;

static hone_status run_func(void *ctx) {
    func_run *r = ctx;
    hone_interp_options how = interpretation(r->job);
    hone_node_id failed = HONE_NO_ID;
    how.out_at = &failed;
    hone_status st = hone_interp_func(r->func, r->args, r->func->param_count, &how);
    if (r->failed == HONE_NO_ID) r->failed = failed;
    return st;
}

static hone_status interpret_func(hone_run_job *job, const hone_func *func) {
    hone_arena *arena = job->cli->arena;
    hone_signature s;
    HONE_TRY(hone_signature_of(func, arena, &s));
    hone_cli_want *wants;
    hone_tensor **args = hone_arena_zalloc(arena, (func->param_count + 1) * sizeof(hone_tensor *));
    hone_tensor **inputs;
    int64_t *sizes = hone_arena_zalloc(arena, (func->var_count + 1) * sizeof *sizes);
    if (!args || !sizes) return HONE_NO_MEMORY("interpreter");
    size_t count, at = 0;
    HONE_TRY(named_sizes(job, func, sizes));
    HONE_TRY(wants_of_func(arena, func, &s, &wants, &count));
    HONE_TRY(check_sizes(job, func->vars, func->var_count, wants, count));
    hone_run_suit_wants(job, wants, count);
    HONE_TRY(hone_cli_match_tensors(job->cli, wants, count, &job->shapes, &job->inputs, &inputs));
    HONE_TRY(hone_cli_check_not_empty(wants, count, inputs, &job->shapes));
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (!is_output(func, &s, i)) args[i] = inputs[at++];
    }
    bind_sizes(func, args, sizes);
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (is_output(func, &s, i)) HONE_TRY(make_output(job, func, i, sizes, &args[i]));
    }
    func_run r = {job, func, args, HONE_NO_ID};
    hone_status st = run_suited(job, run_func, &r);
    while (st && r.failed != HONE_NO_ID && !hone_func_node(func, r.failed)->line)
        r.failed = hone_func_node(func, r.failed)->parent;
    if (st && r.failed != HONE_NO_ID) {
        job->line = hone_func_node(func, r.failed)->line;
        job->column = hone_func_node(func, r.failed)->column;
    }
    return st ? st : keep_updated(job, func, &s, args);
}

hone_status hone_run_interpreted(hone_run_job *job, const hone_module *module) {
    const hone_member *member;
    HONE_TRY(hone_check_module(module));
    HONE_TRY(hone_run_pick(job, module, &member));
    uint32_t count;
    if (hone_module_first(module, &count)) hone_run_say_which(job, member->name, count);
    if (member->kind == HONE_MEMBER_GRAPH) return interpret_graph(job, module, member->name);
    if (member->kind == HONE_MEMBER_FUNC) return interpret_func(job, member->func);
    return HONE_ERROR(HONE_CODE_INVALID, "'%s' is only declared here", member->name);
}
