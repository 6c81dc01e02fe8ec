/* tools/run/suited_inputs.c - see suited_inputs.h. */
#include "tools/run/suited_inputs.h"

#include <string.h>

#include "graph/passes/prepare.h"
#include "ir/values/input_values.h"
#include "ir/verify/verify.h"
#include "lower/signature/signature.h"
#include "support/data/vec.h"

typedef struct suiting {
    hone_run_job *job;
    hone_arena *arena;
    const hone_module *module; /* prepared */
    HONE_VEC(hone_graph_dim) dims;
    hone_cli_want *found; /* by parameter of the function that is run; no name: nothing is known */
    uint32_t count;
} suiting;

/* What is made up without looking. */
static hone_span usual_span(hone_dtype dtype) {
    return (hone_span){hone_dtype_is_float(dtype) ? -1 : 0, 1};
}

static bool is_whole(hone_dtype dtype) {
    return hone_dtype_is_integer(dtype) && !hone_dtype_is_bool(dtype);
}

/* ---- one kernel ---- */

/* NULL: memory is short. is_free, by parameter (NULL: all are): what comes from the inputs. */
static hone_input_values *values_of(suiting *s, const hone_func *func, const bool *is_free) {
    hone_signature signature;
    hone_input_values *values =
        hone_arena_zalloc(s->arena, ((size_t)func->param_count + 1) * sizeof *values);
    hone_status st = hone_signature_of(func, s->arena, &signature);
    if (st || !values) {
        hone_status_free(st);
        return NULL;
    }
    for (uint32_t p = 0, at = 0; p < func->param_count; p++) {
        if (func->params[p].buffer == HONE_NO_ID) continue;
        hone_dtype dtype = hone_func_buffer(func, func->params[p].buffer)->dtype;
        bool is_ours = is_whole(dtype) && (!is_free || is_free[p]);
        values[p].span = is_ours || !is_whole(dtype) ? usual_span(dtype) : hone_span_of_type(dtype);
        values[p].is_input = signature.roles[at++] != HONE_PARAM_OUT;
        values[p].is_given = !is_ours;
    }
    return values;
}

static hone_status ask(suiting *s, const hone_func *func, hone_input_values *values) {
    const char *problem = NULL;
    if (!values) return HONE_NO_MEMORY("made-up inputs");
    HONE_TRY(hone_func_suit_inputs(func, s->arena, values, &problem));
    s->job->is_unsuited |= problem != NULL;
    return HONE_OK;
}

/* What several kernels want of one input; where they do not agree, the first. */
static hone_status note(suiting *s, hone_cli_want *to, const char *name, hone_dtype dtype,
                        hone_input_values *values) {
    hone_input_values both = *values;
    if (to->suits) {
        hone_span span = hone_span_meet(to->suits->span, values->span);
        both.span = hone_span_is_empty(span) ? to->suits->span : span;
        both.is_sorted |= to->suits->is_sorted;
        both.is_distinct |= to->suits->is_distinct;
    }
    *values = both;
    *to =
        (hone_cli_want){.name = hone_arena_strdup(s->arena, name), .dtype = dtype, .suits = values};
    return to->name ? HONE_OK : HONE_NO_MEMORY("made-up inputs");
}

/* ---- a PrimFunc ---- */

static hone_status suit_func(suiting *s, const hone_func *func) {
    hone_input_values *values = values_of(s, func, NULL);
    HONE_TRY(ask(s, func, values));
    for (uint32_t p = 0; p < func->param_count; p++) {
        if (func->params[p].buffer == HONE_NO_ID || !values[p].is_input || values[p].is_given)
            continue;
        const hone_buffer_info *buffer = hone_func_buffer(func, func->params[p].buffer);
        HONE_TRY(note(s, &s->found[p], buffer->name, buffer->dtype, &values[p]));
    }
    return HONE_OK;
}

/* ---- a graph ---- */

/* The parameter of the graph that a value is, maybe in another shape; HONE_NO_ID: none. */
static uint32_t source_of(const hone_graph_func *graph, const hone_garg *arg) {
    for (uint32_t left = graph->bind_count + 1; left > 0; left--) {
        if (arg->kind != HONE_GARG_VALUE) return HONE_NO_ID;
        if (arg->u.value < graph->param_count) return arg->u.value;
        const hone_gbind *from = NULL;
        for (uint32_t i = 0; i < graph->bind_count && !from; i++)
            if (graph->bindings[i].value == arg->u.value) from = &graph->bindings[i];
        bool is_view =
            from && (from->kind == HONE_GBIND_ARG || from->kind == HONE_GBIND_MATCH_CAST ||
                     (from->kind == HONE_GBIND_CALL && strcmp(from->callee, "reshape") == 0));
        if (!is_view) return HONE_NO_ID;
        arg = &from->args[0];
    }
    return HONE_NO_ID;
}

static hone_status suit_call(suiting *s, const hone_graph_func *graph, const hone_gbind *call) {
    const hone_member *member = hone_module_find(s->module, call->callee);
    if (!member || member->kind != HONE_MEMBER_FUNC) return HONE_OK;
    const hone_func *func = member->func;
    size_t count = (size_t)func->param_count + 1;
    bool *is_free = hone_arena_zalloc(s->arena, count), any = false;
    uint32_t *source = hone_arena_zalloc(s->arena, count * sizeof *source);
    if (!is_free || !source) return HONE_NO_MEMORY("made-up inputs");
    for (uint32_t p = 0; p < func->param_count && p < call->arg_count; p++) {
        source[p] = source_of(graph, &call->args[p]);
        if (source[p] == HONE_NO_ID || func->params[p].buffer == HONE_NO_ID) continue;
        is_free[p] = is_whole(hone_func_buffer(func, func->params[p].buffer)->dtype);
        any |= is_free[p];
    }
    if (!any) return HONE_OK;
    hone_input_values *values = values_of(s, func, is_free);
    HONE_TRY(ask(s, func, values));
    for (uint32_t p = 0; p < func->param_count; p++) {
        if (!is_free[p] || !values[p].is_input) continue;
        hone_dtype dtype = hone_func_buffer(func, func->params[p].buffer)->dtype;
        HONE_TRY(note(s, &s->found[source[p]], graph->values[source[p]].name, dtype, &values[p]));
    }
    return HONE_OK;
}

static hone_status suit_graph(suiting *s, const hone_graph_func *graph) {
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        if (graph->bindings[i].kind != HONE_GBIND_CALL_TIR) continue;
        HONE_TRY(suit_call(s, graph, &graph->bindings[i]));
    }
    return HONE_OK;
}

/* ---- the program ---- */

static bool takes_whole_numbers(const hone_member *member) {
    if (member->kind == HONE_MEMBER_FUNC) {
        for (uint32_t p = 0; p < member->func->param_count; p++) {
            hone_buffer buffer = member->func->params[p].buffer;
            if (buffer != HONE_NO_ID && is_whole(hone_func_buffer(member->func, buffer)->dtype))
                return true;
        }
    }
    for (uint32_t p = 0; member->kind == HONE_MEMBER_GRAPH && p < member->graph->param_count; p++) {
        const hone_sinfo *info = member->graph->values[p].sinfo;
        if (info && info->kind == HONE_SINFO_TENSOR && is_whole(info->dtype)) return true;
    }
    return false;
}

/* Those of --shape, all others 1, as make_up has them. */
static hone_status name_sizes(suiting *s, const hone_member *member) {
    bool is_func = member->kind == HONE_MEMBER_FUNC;
    const hone_var_info *vars = is_func ? member->func->vars : member->graph->vars;
    uint32_t count = is_func ? member->func->var_count : member->graph->var_count;
    hone_dim_variants given = {0};
    hone_status st = hone_dim_variants_parse(s->job->shapes.items, s->job->shapes.count, &given);
    for (uint32_t v = 0; v < count && !st; v++) {
        hone_graph_dim dim = {.name = vars[v].name, .size = 1};
        if (!vars[v].is_size) continue;
        for (size_t i = 0; given.count && i < given.items[0].dim_count; i++) {
            const hone_graph_dim *other = &given.items[0].dims[i];
            if (strcmp(other->name, dim.name) == 0) dim.size = other->size;
        }
        if (!hone_vec_push(&s->dims, dim)) st = HONE_NO_MEMORY("made-up inputs");
    }
    hone_dim_variants_deinit(&given);
    return st;
}

static hone_status suit(suiting *s, const hone_member *member) {
    bool is_func = member->kind == HONE_MEMBER_FUNC;
    s->count = is_func ? member->func->param_count : member->graph->param_count;
    s->found = hone_arena_zalloc(s->arena, ((size_t)s->count + 1) * sizeof *s->found);
    if (!s->found) return HONE_NO_MEMORY("made-up inputs");
    HONE_TRY(is_func ? suit_func(s, member->func) : suit_graph(s, member->graph));
    s->job->suited = s->found;
    s->job->suited_count = s->count;
    return HONE_OK;
}

static hone_status prepare_and_suit(suiting *s, const hone_module *module, const char *name) {
    hone_module *prepared = NULL;
    const hone_graph_options options = {
        .only = name, .dims = s->dims.data, .dim_count = s->dims.count};
    hone_status st = hone_graph_prepare(module, &options, &prepared);
    s->module = prepared;
    const hone_member *member = st ? NULL : hone_module_find(prepared, name);
    bool is_there =
        member && (member->kind == HONE_MEMBER_FUNC || member->kind == HONE_MEMBER_GRAPH);
    if (is_there) st = suit(s, member);
    hone_module_release(prepared);
    return st;
}

hone_status hone_run_suit_inputs(hone_run_job *job, const hone_module *module) {
    suiting s = {.job = job, .arena = job->cli->arena};
    const hone_member *member = NULL;
    hone_status st = hone_check_module(module);
    if (!st) st = hone_run_pick(job, module, &member);
    if (!st && takes_whole_numbers(member)) {
        st = name_sizes(&s, member);
        if (!st) st = prepare_and_suit(&s, module, member->name);
    }
    hone_vec_deinit(&s.dims);
    if (hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    hone_status_free(st);
    return HONE_OK;
}

void hone_run_suit_wants(const hone_run_job *job, hone_cli_want *wants, size_t count) {
    static const hone_input_values ones = {
        .span = {1, 1},
          .is_input = true
    };
    for (size_t i = 0; i < count; i++) {
        if (job->is_unsuited && is_whole(wants[i].dtype) && !wants[i].is_size)
            wants[i].suits = &ones;
        for (size_t k = 0; k < job->suited_count && !wants[i].suits; k++) {
            const hone_cli_want *found = &job->suited[k];
            bool is_it = found->name && strcmp(found->name, wants[i].name) == 0 &&
                         hone_dtype_equal(found->dtype, wants[i].dtype);
            if (is_it) wants[i].suits = found->suits;
        }
    }
}
