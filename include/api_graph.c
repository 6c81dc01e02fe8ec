/* include/api_graph.c - graph functions made and rewritten: both put bindings into the function of
 * a hone_rewrite. */
#include "include/api_graph.h"

#include <string.h>

#include "graph/module/module_parts.h"
#include "graph/passes/pass.h"
#include "include/api.h"
#include "include/api_option.h"
#include "ir/ops/graph_op.h"
#include "ir/verify/verify.h"
#include "support/core/alloc.h"

static hone_ir *ir_of(hone_graph *g) {
    return &g->rw->ir;
}

static const hone_argument *fail(hone_graph *g, hone_status st) {
    hone_ir_fail(ir_of(g), st);
    return NULL;
}

/* Not NULL, not used up, no mistake so far. */
static bool is_open(hone_graph *g) {
    return g && g->rw->now && !g->rw->ir.error;
}

static const hone_argument *made(hone_graph *g, hone_garg garg) {
    const hone_argument *a =
        hone_api_argument(g->rw->module->arena, g->rw->module, g->rw->now, &garg);
    return a ? a : fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "argument"));
}

/* ---- what callers give ---- */

static bool has_text(hone_graph *g, const char *what, const char *text) {
    if (!text) fail(g, HONE_ERROR(HONE_CODE_INVALID, "%s is NULL", what));
    return text != NULL;
}

/* The arguments of a call as those of the function; NULL after a mistake. */
static hone_garg *read_args(hone_graph *g, const char *callee, size_t count,
                            const hone_argument *const *args) {
    hone_arena *arena = g->rw->module->arena;
    if (count && !args) {
        fail(g, HONE_ERROR(HONE_CODE_INVALID, "the arguments of '%s' are NULL", callee));
        return NULL;
    }
    if (count > UINT16_MAX) {
        fail(g, HONE_ERROR(HONE_CODE_INVALID, "%zu arguments of '%s'", count, callee));
        return NULL;
    }
    hone_garg *list = hone_arena_zalloc(arena, (count + 1) * sizeof *list);
    if (!list) fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "arguments"));
    for (size_t i = 0; list && i < count; i++) {
        if (!args[i]) {
            fail(g, HONE_ERROR(HONE_CODE_INVALID, "argument %zu of '%s' is NULL", i, callee));
            return NULL;
        }
        if (args[i]->func != g->rw->now) {
            fail(g, HONE_ERROR(HONE_CODE_INVALID, "argument %zu of '%s' is of another graph", i,
                               callee));
            return NULL;
        }
        list[i] = args[i]->garg;
    }
    return list;
}

static bool see_size(void *ctx, const hone_expr *e) {
    hone_graph *g = ctx;
    bool is_size = e->kind == HONE_EXPR_VAR && e->u.var < g->rw->now->var_count;
    bool is_fine = is_size || e->kind == HONE_EXPR_INT || e->kind == HONE_EXPR_BINARY;
    if (!is_fine) fail(g, HONE_ERROR(HONE_CODE_INVALID, "an extent is made of sizes and integers"));
    return is_fine;
}

/* A term as an extent: int64 over the sizes of the function. */
static const hone_expr *read_extent(hone_graph *g, const hone_term *term) {
    const hone_expr *e = (const hone_expr *)term;
    if (!e) {
        fail(g, HONE_ERROR(HONE_CODE_INVALID, "an extent is NULL"));
        return NULL;
    }
    if (hone_expr_is_int(e)) {
        if (e->u.i >= 0) return hone_expr_int(ir_of(g), HONE_DTYPE_I64, e->u.i);
        fail(g, HONE_ERROR(HONE_CODE_INVALID, "an extent is %lld", (long long)e->u.i));
        return NULL;
    }
    hone_expr_walk(e, see_size, g);
    if (!g->rw->ir.error && !hone_dtype_equal(e->dtype, HONE_DTYPE_I64)) {
        fail(g, HONE_ERROR(HONE_CODE_TYPE, "an extent is %s, must be int64",
                           HONE_DTYPE_NAME(e->dtype)));
    }
    return g->rw->ir.error ? NULL : e;
}

static const hone_sinfo *read_info(hone_graph *g, const char *what, const char *type, uint32_t rank,
                                   const hone_term *const *shape) {
    hone_dtype dtype;
    hone_arena *arena = g->rw->module->arena;
    if (!has_text(g, "a type", type)) return NULL;
    if (!hone_dtype_parse(type, &dtype) || !hone_api_is_element(dtype)) {
        fail(g, HONE_ERROR(HONE_CODE_TYPE, "'%s': '%s' is no type", what, type));
        return NULL;
    }
    if (rank > HONE_MAX_RANK || (rank && !shape)) {
        fail(g, HONE_ERROR(HONE_CODE_INVALID, "'%s': %u dimensions%s, at most %d", what,
                           (unsigned)rank, shape ? "" : " and no shape", HONE_MAX_RANK));
        return NULL;
    }
    const hone_expr **extents = hone_arena_zalloc(arena, ((size_t)rank + 1) * sizeof *extents);
    for (uint32_t d = 0; extents && d < rank; d++) {
        extents[d] = read_extent(g, shape[d]);
        if (!extents[d]) return NULL;
    }
    const hone_sinfo *info =
        extents ? hone_sinfo_tensor(arena, dtype, (int32_t)rank, extents) : NULL;
    if (!info) fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "shape"));
    return info;
}

/* ---- bindings ---- */

/* Appends a binding; info NULL: what it gives is inferred. */
static const hone_argument *emit(hone_graph *g, const hone_gbind *bind, const hone_sinfo *info) {
    hone_graph_func *func = g->rw->now;
    hone_arena *arena = g->rw->module->arena;
    hone_gvalue value = hone_graph_add_value(func, "lv", info);
    hone_gbind *to = value == HONE_NO_ID ? NULL : hone_graph_add_bind(func, bind->kind, value);
    if (!to) return fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "binding"));
    *to = *bind;
    to->value = value;
    to->in_dataflow = g->is_in_dataflow;
    to->dataflow_block = g->dataflow_block;
    if (bind->callee) to->callee = hone_arena_strdup(arena, bind->callee);
    if (bind->callee && !to->callee) return fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "binding"));
    if (!info) {
        hone_status st = hone_graph_infer_bind(g->rw->module, func, to, arena, &info);
        if (st) return fail(g, st);
        func->values[value].sinfo = info;
    }
    return made(g, HONE_GARG_OF_VALUE(value));
}

/* Terms among the options become extents of the function. */
static bool check_terms(hone_graph *g, size_t count, const hone_option *options) {
    for (size_t i = 0; i < count; i++) {
        const hone_option *o = &options[i];
        for (size_t d = 0; o->kind == HONE_OPTION_TERMS && o->terms && d < o->count; d++) {
            const hone_expr *e = (const hone_expr *)o->terms[d];
            bool is_unknown = e && hone_expr_is_int_value(e, -1); /* of reshape */
            if (e && !is_unknown && !read_extent(g, o->terms[d])) return false;
        }
    }
    return true;
}

const hone_argument *hone_graph_operator(hone_graph *g, const char *op, size_t count,
                                         const hone_argument *const *tensors, size_t option_count,
                                         const hone_option *options) {
    if (!is_open(g) || !has_text(g, "an operator", op)) return NULL;
    hone_garg *args = read_args(g, op, count, tensors);
    if (!args) return NULL;
    if (option_count && !options) {
        return fail(g, HONE_ERROR(HONE_CODE_INVALID, "the options of '%s' are NULL", op));
    }
    if (!check_terms(g, option_count, options)) return NULL;
    hone_gbind bind;
    hone_status st =
        hone_api_bind(g->rw->module->arena, op, count, args, option_count, options, &bind);
    return st ? fail(g, st) : emit(g, &bind, NULL);
}

static const hone_argument *call_into(hone_graph *g, hone_gbind_kind kind, const char *function,
                                      size_t count, const hone_argument *const *args,
                                      const char *type, uint32_t rank,
                                      const hone_term *const *shape) {
    if (!is_open(g) || !has_text(g, "a function", function)) return NULL;
    hone_gbind bind = {.kind = kind, .callee = function, .arg_count = (uint32_t)count};
    bind.args = read_args(g, function, count, args);
    const hone_sinfo *info = bind.args ? read_info(g, function, type, rank, shape) : NULL;
    return info ? emit(g, &bind, info) : NULL;
}

const hone_argument *hone_graph_call_program(hone_graph *g, const char *function, size_t count,
                                             const hone_argument *const *args, const char *type,
                                             uint32_t rank, const hone_term *const *shape) {
    return call_into(g, HONE_GBIND_CALL_TIR, function, count, args, type, rank, shape);
}

const hone_argument *hone_graph_call_external(hone_graph *g, const char *function, size_t count,
                                              const hone_argument *const *args, const char *type,
                                              uint32_t rank, const hone_term *const *shape) {
    return call_into(g, HONE_GBIND_CALL_DPS, function, count, args, type, rank, shape);
}

static const hone_argument *call_into_many(hone_graph *g, hone_gbind_kind kind,
                                           const char *function, size_t count,
                                           const hone_argument *const *args, size_t output_count,
                                           const hone_graph_output *outputs) {
    if (!is_open(g) || !has_text(g, "a function", function)) return NULL;
    if (!output_count || output_count > UINT16_MAX || !outputs) {
        return fail(g, HONE_ERROR(HONE_CODE_INVALID, "'%s' gives %zu tensors%s", function,
                                  output_count, outputs ? "" : ", which are NULL"));
    }
    hone_arena *arena = g->rw->module->arena;
    hone_gbind bind = {.kind = kind, .callee = function, .arg_count = (uint32_t)count};
    bind.args = read_args(g, function, count, args);
    const hone_sinfo **fields = hone_arena_alloc(arena, output_count * sizeof *fields);
    if (!bind.args) return NULL;
    if (!fields) return fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "call"));
    for (size_t i = 0; i < output_count; i++) {
        const hone_graph_output *o = &outputs[i];
        fields[i] = read_info(g, function, o->type, o->rank, o->shape);
        if (!fields[i]) return NULL;
    }
    const hone_sinfo *info = hone_sinfo_tuple(arena, (uint32_t)output_count, fields);
    return info ? emit(g, &bind, info) : fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "call"));
}

const hone_argument *hone_graph_call_program_many(hone_graph *g, const char *function, size_t count,
                                                  const hone_argument *const *args,
                                                  size_t output_count,
                                                  const hone_graph_output *outputs) {
    return call_into_many(g, HONE_GBIND_CALL_TIR, function, count, args, output_count, outputs);
}

const hone_argument *hone_graph_call_external_many(hone_graph *g, const char *function,
                                                   size_t count, const hone_argument *const *args,
                                                   size_t output_count,
                                                   const hone_graph_output *outputs) {
    return call_into_many(g, HONE_GBIND_CALL_DPS, function, count, args, output_count, outputs);
}

const hone_argument *hone_graph_call_function(hone_graph *g, const char *function, size_t count,
                                              const hone_argument *const *args) {
    if (!is_open(g) || !has_text(g, "a function", function)) return NULL;
    const hone_member *member = hone_module_find(g->rw->module, function);
    if (!member || member->kind != HONE_MEMBER_GRAPH) {
        return fail(g, HONE_ERROR(HONE_CODE_NOT_FOUND, "'%s' is no graph function of the module",
                                  function));
    }
    hone_gbind bind = {
        .kind = HONE_GBIND_CALL_FUNC, .callee = function, .arg_count = (uint32_t)count};
    bind.args = read_args(g, function, count, args);
    if (!bind.args) return NULL;
    if (count != member->graph->param_count) {
        return fail(g, HONE_ERROR(HONE_CODE_INVALID, "'%s' takes %u parameters, got %zu", function,
                                  (unsigned)member->graph->param_count, count));
    }
    return emit(g, &bind, NULL);
}

const hone_argument *hone_graph_tuple(hone_graph *g, size_t count,
                                      const hone_argument *const *items) {
    if (!is_open(g)) return NULL;
    hone_garg *args = read_args(g, "tuple", count, items);
    if (!args) return NULL;
    return made(g, (hone_garg){.kind = HONE_GARG_TUPLE, .count = (uint32_t)count, .u.items = args});
}

const hone_argument *hone_graph_item(hone_graph *g, const hone_argument *tuple, uint32_t index) {
    if (!is_open(g)) return NULL;
    hone_gbind bind = {
        .kind = HONE_GBIND_TUPLE_GET, .arg_count = 1, .index = (int32_t)(index & INT32_MAX)};
    bind.args = read_args(g, "item", 1, &tuple);
    if (!bind.args) return NULL;
    const hone_sinfo *info =
        hone_garg_sinfo(g->rw->module, g->rw->now, bind.args, g->rw->module->arena);
    if (!info || info->kind != HONE_SINFO_TUPLE || index >= info->field_count) {
        return fail(g, HONE_ERROR(HONE_CODE_TYPE, "item %u of what has %u", (unsigned)index,
                                  info ? (unsigned)info->field_count : 0u));
    }
    if (bind.args->kind == HONE_GARG_TUPLE) return made(g, bind.args->u.items[index]);
    return emit(g, &bind, NULL);
}

const hone_argument *hone_graph_constant(hone_graph *g, const char *type, uint32_t rank,
                                         const int64_t *shape, const void *data) {
    hone_dtype dtype;
    hone_tensor *tensor = NULL;
    uint32_t index;
    if (!is_open(g) || !has_text(g, "a type", type)) return NULL;
    if (!hone_dtype_parse(type, &dtype) || !hone_dtype_is_storable(dtype) ||
        !hone_api_is_element(dtype)) {
        return fail(g, HONE_ERROR(HONE_CODE_TYPE, "constants are not of type '%s'", type));
    }
    if (!data || rank > HONE_MAX_RANK || (rank && !shape)) {
        return fail(g, HONE_ERROR(HONE_CODE_INVALID, "a constant %s",
                                  !data   ? "without data"
                                  : shape ? "of more than 12 dimensions"
                                          : "without shape"));
    }
    hone_status st = hone_tensor_create(dtype, (int32_t)rank, shape, &tensor);
    if (!st) memcpy(tensor->data, data, hone_tensor_bytes(tensor));
    for (int64_t i = 0; !st && hone_dtype_is_bool(dtype) && i < hone_tensor_count(tensor); i++)
        hone_tensor_set_i64(tensor, i, hone_tensor_get_i64(tensor, i) != 0);
    if (!st) st = hone_module_add_constant(g->rw->module, tensor, &index);
    return st ? fail(g, st) : made(g, HONE_GARG_OF_CONSTANT(index));
}

void hone_graph_add(hone_graph *graph, const hone_program *program) {
    if (!is_open(graph)) return;
    hone_status st = program ? hone_module_add_all(graph->rw->module, hone_api_module(program))
                             : HONE_ERROR(HONE_CODE_INVALID, "the program to add is NULL");
    if (st) fail(graph, st);
}

hone_terms *hone_graph_terms(hone_graph *g) {
    return g && g->rw->now ? (hone_terms *)ir_of(g) : NULL;
}

const hone_binding *hone_graph_lookup(hone_graph *g, const hone_argument *value) {
    if (!g || !value || !g->rw->now || value->func != g->rw->now) return NULL;
    const hone_gbind *bind = hone_rewrite_maker(g->rw, &value->garg);
    if (!bind) return NULL;
    hone_arena *arena = g->rw->module->arena;
    hone_binding *binding = hone_arena_alloc(arena, sizeof *binding);
    if (!binding) return NULL;
    hone_status st = hone_api_binding(arena, g->rw->module, g->rw->now, bind, bind->args, binding);
    binding->value = value;
    return hone_status_consume(st) ? NULL : binding;
}

/* ---- mutators ---- */

typedef struct mutation {
    hone_graph_mutator mutator;
    void *context;
} mutation;

static hone_status mutate(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    const mutation *m = rw->ctx;
    hone_arena *arena = rw->module->arena;
    hone_graph g = {
        .rw = rw, .is_in_dataflow = bind->in_dataflow, .dataflow_block = bind->dataflow_block};
    hone_binding binding;
    const hone_garg *args;
    hone_garg value = HONE_GARG_OF_VALUE(bind->value);
    HONE_TRY(hone_rewrite_args(rw, bind, &args));
    HONE_TRY(hone_api_binding(arena, rw->module, rw->now, bind, args, &binding));
    binding.value = hone_api_argument(arena, rw->module, rw->old, &value);
    if (!binding.value) return HONE_ERROR(HONE_CODE_NO_MEMORY, "binding");
    const hone_argument *now = m->mutator(m->context, &g, &binding);
    if (!now || rw->ir.error) return HONE_OK; /* the mistake is found by the caller */
    if (hone_argument_same(now, binding.value)) return HONE_OK;
    if (now->func != rw->now) {
        return HONE_ERROR(HONE_CODE_INVALID, "the mutator returned an argument of another graph");
    }
    hone_rewrite_set(rw, bind->value, now->garg);
    *out_done = true;
    return HONE_OK;
}

/* Operators that stayed may get other tensors now. */
static hone_status infer_again(hone_module *module, hone_graph_func *func) {
    for (uint32_t i = 0; i < func->bind_count; i++) {
        const hone_gbind *bind = &func->bindings[i];
        const hone_sinfo *info = NULL, **known = &func->values[bind->value].sinfo;
        if (bind->kind == HONE_GBIND_MATCH_CAST) continue;
        hone_status st = hone_graph_infer_bind(module, func, bind, module->arena, &info);
        if (hone_status_code(st) == HONE_CODE_UNSUPPORTED) {
            hone_status_free(st); /* an operator that we do not know */
            continue;
        }
        if (st) {
            return hone_status_annotate(st, "'%s'", func->values[bind->value].name);
        }
        if (info && hone_sinfo_contradicts(*known, info)) *known = info;
    }
    const hone_sinfo *result = hone_garg_sinfo(module, func, &func->result, module->arena);
    if (hone_sinfo_contradicts(func->result_sinfo, result)) func->result_sinfo = NULL;
    return HONE_OK;
}

static hone_status rewrite(hone_module *module, const char *function, mutation *m) {
    const hone_member *member;
    HONE_TRY(hone_module_pick(module, function, &member));
    if (member->kind != HONE_MEMBER_GRAPH) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "'%s' is no graph function", member->name);
    }
    uint32_t index = (uint32_t)(member - module->members);
    HONE_TRY(hone_rewrite_member(module, index, mutate, m));
    HONE_TRY(infer_again(module, module->members[index].graph));
    return hone_check_module(module);
}

hone_error *hone_graph_rewrite(const hone_program *program, const char *function,
                               hone_graph_mutator mutator, void *context,
                               hone_program **out_program) {
    HONE_API_NEED(out_program);
    *out_program = NULL;
    HONE_API_NEED(program);
    HONE_API_NEED(mutator);
    mutation m = {mutator, context};
    hone_module *module = NULL;
    hone_status st = hone_module_copy(hone_api_module(program), &module);
    if (st) return hone_api_error(st);
    st = rewrite(module, function, &m);
    if (!st)
        *out_program = hone_api_program(module);
    else
        hone_module_release(module);
    return hone_api_error(st);
}

/* ---- functions from nothing ---- */

static hone_status open_graph(hone_graph *g, const char *name, const hone_program *with) {
    g->late = hone_arena_create(256);
    if (!g->late) return HONE_ERROR(HONE_CODE_NO_MEMORY, "graph");
    if (with) {
        HONE_TRY(hone_module_copy(hone_api_module(with), &g->module));
    } else {
        HONE_TRY(hone_module_create(&g->module));
    }
    if (hone_module_find(g->module, name)) {
        return HONE_ERROR(HONE_CODE_INVALID, "there is a function '%s' already", name);
    }
    g->own.module = g->module;
    g->own.ir.arena = g->module->arena;
    g->own.now = hone_graph_func_create(g->module->arena, name);
    return g->own.now ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "graph");
}

hone_error *hone_graph_create(const char *name, const hone_program *with, hone_graph **out_graph) {
    HONE_API_NEED(out_graph);
    *out_graph = NULL;
    hone_status st = hone_api_check_name("a graph function", name);
    if (st) return hone_api_error(st);
    hone_graph *g = hone_calloc(1, sizeof *g);
    if (!g) return hone_api_error(HONE_ERROR(HONE_CODE_NO_MEMORY, "graph"));
    g->rw = &g->own;
    g->is_in_dataflow = true;
    st = open_graph(g, name, with);
    if (!st)
        *out_graph = g;
    else
        hone_graph_free(g);
    return hone_api_error(st);
}

void hone_graph_free(hone_graph *g) {
    if (!g || g->rw != &g->own) return;
    hone_status_free(hone_ir_finish(&g->own.ir));
    hone_module_release(g->module);
    if (g->late) hone_arena_destroy(g->late);
    hone_free(g);
}

/* Of hone_graph_create, not of a mutator. */
static bool is_own(hone_graph *g, const char *what) {
    if (!is_open(g)) return false;
    if (g->rw == &g->own) return true;
    fail(g, HONE_ERROR(HONE_CODE_INVALID, "a mutator adds no %s", what));
    return false;
}

static bool has_name(hone_graph *g, const char *what, const char *name) {
    hone_status st = hone_api_check_name(what, name);
    if (st) fail(g, st);
    return !st;
}

const hone_term *hone_graph_size(hone_graph *g, const char *name) {
    if (!is_own(g, "sizes") || !has_name(g, "a size", name)) return NULL;
    hone_var var = hone_graph_add_var(g->rw->now, name);
    if (var != HONE_NO_ID) return (const hone_term *)hone_expr_var(ir_of(g), HONE_DTYPE_I64, var);
    fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "size"));
    return NULL;
}

const hone_argument *hone_graph_parameter(hone_graph *g, const char *name, const char *type,
                                          uint32_t rank, const hone_term *const *shape) {
    if (!is_own(g, "parameters") || !has_name(g, "a parameter", name)) return NULL;
    if (g->rw->now->bind_count) {
        return fail(g, HONE_ERROR(HONE_CODE_INVALID, "parameter '%s' comes after bindings", name));
    }
    const hone_sinfo *info = read_info(g, name, type, rank, shape);
    if (!info) return NULL;
    hone_gvalue value = hone_graph_add_param(g->rw->now, name, info);
    if (value == HONE_NO_ID) return fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "parameter"));
    return made(g, HONE_GARG_OF_VALUE(value));
}

/* What is returned leaves the dataflow block. */
static void mark_outputs(hone_graph_func *func, const hone_garg *arg) {
    if (arg->kind == HONE_GARG_VALUE && arg->u.value >= func->param_count) {
        func->values[arg->u.value].is_output = true;
    }
    for (uint32_t i = 0; arg->kind == HONE_GARG_TUPLE && i < arg->count; i++)
        mark_outputs(func, &arg->u.items[i]);
}

static hone_status finish(hone_graph *g, const hone_argument *result) {
    hone_graph_func *func = g->own.now;
    HONE_TRY(hone_ir_finish(&g->own.ir));
    if (!result) return HONE_ERROR(HONE_CODE_INVALID, "result is NULL");
    if (result->func != func) {
        return HONE_ERROR(HONE_CODE_INVALID, "the result is of another graph");
    }
    func->result = result->garg;
    mark_outputs(func, &func->result);
    HONE_TRY(hone_module_add_graph(g->module, func));
    return hone_check_module(g->module);
}

hone_error *hone_graph_finish(hone_graph *graph, const hone_argument *result,
                              hone_program **out_program) {
    HONE_API_NEED(out_program);
    *out_program = NULL;
    HONE_API_NEED(graph);
    hone_graph *g = graph;
    if (g->rw != &g->own || !g->module) {
        return hone_api_error(HONE_ERROR(HONE_CODE_INVALID, "the graph is %s",
                                         g->module ? "a mutator's" : "finished"));
    }
    hone_status st = finish(g, result);
    if (!st)
        *out_program = hone_api_program(g->module);
    else
        hone_module_release(g->module);
    g->module = NULL;
    g->own = (hone_rewrite){.ir = {.arena = g->late}};
    return hone_api_error(st);
}
