/* ir/interp/interp_graph.c - runs graph functions: each binding makes a value, tensor programs and
 * external functions do the work. All tensors of a call live until it returns; results are copies.
 */
#include <string.h>

#include "ir/arith/arith.h"
#include "ir/interp/interp.h"
#include "support/core/alloc.h"

enum { MAX_DEPTH = 64, MAX_TOLD = 4, MAX_TENSORS_OF_CALL = 256 };

typedef enum value_kind { V_NONE, V_TENSOR, V_SHAPE, V_TUPLE } value_kind;

typedef struct gvalue {
    value_kind kind;
    uint32_t count;
    hone_tensor *tensor; /* not owned */
    const int64_t *dims;
    const struct gvalue *items;
} gvalue;

/* One call of a graph function. */
typedef struct frame {
    const hone_module *module;
    const hone_graph_func *graph;
    const hone_interp_options *options;
    hone_arena *arena;
    gvalue *values;          /* by value */
    const hone_expr **sizes; /* by symbolic size: its value, or NULL */
    hone_tensor **owned;
    uint32_t owned_count, owned_capacity, depth;
} frame;

static hone_status run_graph(const hone_module *module, const hone_graph_func *graph,
                             const gvalue *inputs, uint32_t depth,
                             const hone_interp_options *options, hone_tensor ***out_results,
                             size_t *out_count);

static hone_status short_of_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "interpreter of graphs");
}

/* ---- tensors ---- */

/* Takes tensor. */
static hone_status own(frame *f, hone_tensor *tensor) {
    if (f->owned_count == f->owned_capacity) {
        uint32_t capacity = f->owned_capacity ? f->owned_capacity * 2 : 32;
        hone_tensor **owned = hone_realloc_array(f->owned, capacity, sizeof *owned);
        if (!owned) {
            hone_tensor_destroy(tensor);
            return short_of_memory();
        }
        f->owned = owned;
        f->owned_capacity = capacity;
    }
    f->owned[f->owned_count++] = tensor;
    return HONE_OK;
}

static hone_status make_tensor(frame *f, hone_dtype dtype, int32_t rank, const int64_t *shape,
                               hone_tensor **out_tensor) {
    HONE_TRY(hone_tensor_create(dtype, rank, shape, out_tensor));
    return own(f, *out_tensor);
}

static hone_status make_number(frame *f, hone_dtype dtype, int64_t value,
                               hone_tensor **out_tensor) {
    HONE_TRY(make_tensor(f, dtype, 0, NULL, out_tensor));
    hone_tensor_set_i64(*out_tensor, 0, value);
    return HONE_OK;
}

/* ---- sizes ---- */

static hone_status eval_size(frame *f, const hone_expr *e, int64_t *out_value) {
    hone_ir ir = {.arena = f->arena};
    const hone_expr *known = hone_expr_substitute(&ir, e, f->sizes, f->graph->var_count);
    known = known ? hone_simplify_plain(&ir, known) : NULL;
    HONE_TRY(hone_ir_finish(&ir));
    if (!known || known->kind != HONE_EXPR_INT) {
        return HONE_ERROR(HONE_CODE_INVALID, "a size is not known in '%s'", f->graph->name);
    }
    *out_value = known->u.i;
    return HONE_OK;
}

/* Binds a lone size variable to an extent, or checks the extent. */
static hone_status match_extent(frame *f, const char *name, int32_t d, const hone_expr *want,
                                int64_t got) {
    int64_t value;
    if (want->kind == HONE_EXPR_VAR && want->u.var < f->graph->var_count &&
        !f->sizes[want->u.var]) {
        hone_ir ir = {.arena = f->arena};
        f->sizes[want->u.var] = hone_expr_int(&ir, want->dtype, got);
        return hone_ir_finish(&ir);
    }
    HONE_TRY(eval_size(f, want, &value));
    if (value == got) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "'%s' has the extent %lld in dimension %d, must have %lld",
                      name, (long long)got, (int)d, (long long)value);
}

static bool is_lone_size(const hone_expr *e) {
    return e->kind == HONE_EXPR_VAR;
}

/* lone: only extents that are a size alone (first, so that others can be computed from them). */
static hone_status match_info(frame *f, const char *name, const hone_sinfo *info,
                              const gvalue *value, bool lone) {
    if (!info) return HONE_OK;
    if (info->kind == HONE_SINFO_TUPLE) {
        if (value->kind != V_TUPLE || value->count != info->field_count) {
            return HONE_ERROR(HONE_CODE_INVALID, "'%s' must be a tuple of %u", name,
                              (unsigned)info->field_count);
        }
        for (uint32_t i = 0; i < info->field_count; i++) {
            HONE_TRY(match_info(f, name, info->fields[i], &value->items[i], lone));
        }
        return HONE_OK;
    }
    if (info->kind != HONE_SINFO_TENSOR && info->kind != HONE_SINFO_SHAPE) return HONE_OK;
    bool is_tensor = info->kind == HONE_SINFO_TENSOR;
    if (value->kind != (is_tensor ? V_TENSOR : V_SHAPE)) {
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' must be a %s", name,
                          is_tensor ? "tensor" : "shape");
    }
    int32_t rank = is_tensor ? value->tensor->rank : (int32_t)value->count;
    if (info->rank >= 0 && info->rank != rank) {
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' has %d dimensions, must have %d", name,
                          (int)rank, (int)info->rank);
    }
    bool is_wide = f->options && f->options->widen_f64 && hone_dtype_is_float(info->dtype);
    if (is_tensor && !hone_dtype_is_void(info->dtype) && !is_wide &&
        !hone_dtype_equal(info->dtype, value->tensor->dtype)) {
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' is %s, must be %s", name,
                          HONE_DTYPE_NAME(value->tensor->dtype), HONE_DTYPE_NAME(info->dtype));
    }
    for (int32_t d = 0; info->shape && d < info->rank; d++) {
        if (is_lone_size(info->shape[d]) != lone) continue;
        int64_t got = is_tensor ? value->tensor->shape[d] : value->dims[d];
        HONE_TRY(match_extent(f, name, d, info->shape[d], got));
    }
    return HONE_OK;
}

/* ---- arguments ---- */

static hone_status eval_arg(frame *f, const hone_garg *arg, gvalue *out_value);

static hone_status eval_shape(frame *f, const hone_garg *arg, gvalue *out_value) {
    int64_t *dims = hone_arena_zalloc(f->arena, (arg->count + 1) * sizeof *dims);
    if (!dims) return short_of_memory();
    for (uint32_t i = 0; i < arg->count; i++)
        HONE_TRY(eval_size(f, arg->u.exprs[i], &dims[i]));
    *out_value = (gvalue){.kind = V_SHAPE, .count = arg->count, .dims = dims};
    return HONE_OK;
}

static hone_status eval_tuple(frame *f, const hone_garg *arg, gvalue *out_value) {
    gvalue *items = hone_arena_zalloc(f->arena, (arg->count + 1) * sizeof *items);
    if (!items) return short_of_memory();
    for (uint32_t i = 0; i < arg->count; i++)
        HONE_TRY(eval_arg(f, &arg->u.items[i], &items[i]));
    *out_value = (gvalue){.kind = V_TUPLE, .count = arg->count, .items = items};
    return HONE_OK;
}

static hone_status eval_number(frame *f, const hone_expr *e, gvalue *out_value) {
    hone_tensor *tensor;
    int64_t value;
    if (e->kind == HONE_EXPR_FLOAT) {
        HONE_TRY(make_tensor(f, e->dtype, 0, NULL, &tensor));
        hone_tensor_set_f64(tensor, 0, e->u.f);
    } else {
        HONE_TRY(eval_size(f, e, &value));
        HONE_TRY(make_number(f, e->dtype, value, &tensor));
    }
    *out_value = (gvalue){.kind = V_TENSOR, .tensor = tensor};
    return HONE_OK;
}

static hone_status eval_arg(frame *f, const hone_garg *arg, gvalue *out_value) {
    *out_value = (gvalue){0};
    switch (arg->kind) {
    case HONE_GARG_VALUE:
        if (arg->u.value < f->graph->value_count) *out_value = f->values[arg->u.value];
        if (out_value->kind != V_NONE) return HONE_OK;
        return HONE_ERROR(HONE_CODE_ILLEGAL, "a value is used before it is defined in '%s'",
                          f->graph->name);
    case HONE_GARG_CONSTANT:
        if (arg->u.constant >= f->module->constant_count) {
            return HONE_ERROR(HONE_CODE_ILLEGAL, "constant %u does not exist",
                              (unsigned)arg->u.constant);
        }
        *out_value = (gvalue){.kind = V_TENSOR, .tensor = f->module->constants[arg->u.constant]};
        return HONE_OK;
    case HONE_GARG_SHAPE:
        return eval_shape(f, arg, out_value);
    case HONE_GARG_TUPLE:
        return eval_tuple(f, arg, out_value);
    case HONE_GARG_PRIM:
        return eval_number(f, arg->u.expr, out_value);
    default:
        return HONE_OK; /* names and dtypes have no value */
    }
}

/* ---- calls ---- */

typedef struct call {
    hone_tensor *tensors[MAX_TENSORS_OF_CALL];
    uint32_t count;
} call;

static hone_status push(call *c, hone_tensor *tensor) {
    if (c->count == MAX_TENSORS_OF_CALL) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a call with more than %d tensors",
                          MAX_TENSORS_OF_CALL);
    }
    c->tensors[c->count++] = tensor;
    return HONE_OK;
}

static hone_status push_value(frame *f, call *c, const gvalue *value) {
    if (value->kind == V_TENSOR) return push(c, value->tensor);
    if (value->kind == V_SHAPE) {
        hone_tensor *dims;
        int64_t count = value->count;
        HONE_TRY(make_tensor(f, HONE_DTYPE_I64, 1, &count, &dims));
        for (uint32_t i = 0; i < value->count; i++)
            hone_tensor_set_i64(dims, i, value->dims[i]);
        return push(c, dims);
    }
    for (uint32_t i = 0; i < value->count; i++)
        HONE_TRY(push_value(f, c, &value->items[i]));
    return HONE_OK;
}

/* Makes what a call writes, as its struct info says. */
static hone_status make_output(frame *f, call *c, const hone_sinfo *info, bool widens,
                               gvalue *out_value) {
    int64_t shape[HONE_MAX_RANK] = {0};
    if (info && info->kind == HONE_SINFO_TUPLE) {
        gvalue *items = hone_arena_zalloc(f->arena, (info->field_count + 1) * sizeof *items);
        if (!items) return short_of_memory();
        for (uint32_t i = 0; i < info->field_count; i++) {
            HONE_TRY(make_output(f, c, info->fields[i], widens, &items[i]));
        }
        *out_value = (gvalue){.kind = V_TUPLE, .count = info->field_count, .items = items};
        return HONE_OK;
    }
    if (!info || info->kind != HONE_SINFO_TENSOR || info->rank < 0 || info->rank > HONE_MAX_RANK ||
        (info->rank > 0 && !info->shape)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "the shape of a result is not known");
    }
    for (int32_t d = 0; d < info->rank; d++)
        HONE_TRY(eval_size(f, info->shape[d], &shape[d]));
    bool is_wide = widens && hone_dtype_is_float(info->dtype);
    hone_dtype dtype = is_wide ? HONE_DTYPE_F64 : info->dtype;
    *out_value = (gvalue){.kind = V_TENSOR};
    HONE_TRY(make_tensor(f, dtype, info->rank, shape, &out_value->tensor));
    return push(c, out_value->tensor);
}

static hone_status push_args(frame *f, call *c, const hone_gbind *bind) {
    for (uint32_t i = 0; i < bind->arg_count; i++) {
        gvalue value;
        HONE_TRY(eval_arg(f, &bind->args[i], &value));
        HONE_TRY(push_value(f, c, &value));
    }
    return HONE_OK;
}

static const hone_sinfo *info_of(const frame *f, const hone_gbind *bind) {
    return f->graph->values[bind->value].sinfo;
}

static bool widens(const frame *f) {
    return f->options && f->options->widen_f64;
}

/* A reduction of as many elements as a size says has no value where that is 0: T.init does not run
 * (ir/te fills in what reduces over no elements whatever the sizes are). */
static hone_status check_reduction(const hone_func *func, const call *c) {
    bool reduces = false, is_open = false, has_none = false;
    for (uint32_t i = 0; i < func->node_count; i++)
        reduces |= func->nodes[i].kind == HONE_NODE_INIT;
    for (uint32_t v = 0; v < func->var_count; v++)
        is_open |= func->vars[v].is_size;
    for (uint32_t i = 0; i + 1 < c->count; i++)
        has_none |= hone_tensor_count(c->tensors[i]) == 0;
    bool is_wrong = reduces && is_open && has_none && hone_tensor_count(c->tensors[c->count - 1]);
    if (!is_wrong) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "'%s' reduces a dimension of size 0, must be at least 1",
                      func->name);
}

static hone_status call_tir(frame *f, const hone_gbind *bind, gvalue *out_value) {
    const hone_member *member = bind->callee ? hone_module_find(f->module, bind->callee) : NULL;
    if (!member || member->kind != HONE_MEMBER_FUNC) {
        return HONE_ERROR(HONE_CODE_NOT_FOUND, "'%s' is no tensor program of the module",
                          bind->callee ? bind->callee : "?");
    }
    call c = {.count = 0};
    HONE_TRY(push_args(f, &c, bind));
    HONE_TRY(make_output(f, &c, info_of(f, bind), widens(f), out_value));
    HONE_TRY(check_reduction(member->func, &c));
    for (uint32_t i = 0; i < bind->symbolic_count; i++) {
        int64_t value;
        hone_tensor *number;
        HONE_TRY(eval_size(f, bind->symbolic[i], &value));
        HONE_TRY(make_number(f, HONE_DTYPE_I64, value, &number));
        HONE_TRY(push(&c, number));
    }
    return hone_status_annotate(hone_interp_func(member->func, c.tensors, c.count, f->options),
                                "call of '%s'", bind->callee);
}

/* External functions get the dtypes of the program, also when the rest is widened. */
static hone_status narrow_args(frame *f, call *c, const hone_gbind *bind) {
    if (!widens(f)) return HONE_OK;
    for (uint32_t i = 0; i < bind->arg_count && i < c->count; i++) {
        const hone_garg *arg = &bind->args[i];
        const hone_sinfo *info =
            arg->kind == HONE_GARG_VALUE ? f->graph->values[arg->u.value].sinfo : NULL;
        if (!info || info->kind != HONE_SINFO_TENSOR) continue;
        if (hone_dtype_equal(info->dtype, c->tensors[i]->dtype)) continue;
        hone_tensor *narrow;
        HONE_TRY(hone_tensor_convert(c->tensors[i], info->dtype, &narrow));
        HONE_TRY(own(f, narrow));
        c->tensors[i] = narrow;
    }
    return HONE_OK;
}

static hone_status call_external(frame *f, const hone_gbind *bind, gvalue *out_value) {
    const char *name = bind->callee ? bind->callee : "?";
    call c = {.count = 0};
    if (!f->options || !f->options->call_extern) {
        return HONE_ERROR(HONE_CODE_UNAVAILABLE,
                          "external function '%s' is called, and there is none", name);
    }
    HONE_TRY(push_args(f, &c, bind));
    HONE_TRY(narrow_args(f, &c, bind));
    HONE_TRY(make_output(f, &c, info_of(f, bind), false, out_value));
    return hone_status_annotate(
        f->options->call_extern(f->options->extern_ctx, name, c.tensors, c.count),
        "external function '%s'", name);
}

/* What a graph function gives for these values. */
static hone_status call_with(frame *f, const char *callee, uint32_t count, const gvalue *inputs,
                             gvalue *out_value) {
    const hone_member *member = callee ? hone_module_find(f->module, callee) : NULL;
    hone_tensor **results;
    size_t result_count;
    if (!member || member->kind != HONE_MEMBER_GRAPH || member->graph->param_count != count) {
        return HONE_ERROR(HONE_CODE_ILLEGAL,
                          "'%s' is no graph function of the module that takes %u",
                          callee ? callee : "?", (unsigned)count);
    }
    HONE_TRY(run_graph(f->module, member->graph, inputs, f->depth + 1, f->options, &results,
                       &result_count));
    gvalue *items = hone_arena_zalloc(f->arena, (result_count + 1) * sizeof *items);
    hone_status st = items ? HONE_OK : short_of_memory();
    for (size_t i = 0; i < result_count; i++) {
        if (st)
            hone_tensor_destroy(results[i]);
        else
            st = own(f, results[i]);
        if (items) items[i] = (gvalue){.kind = V_TENSOR, .tensor = results[i]};
    }
    hone_free(results);
    if (st) return st;
    bool is_tuple = result_count != 1 || member->graph->result.kind == HONE_GARG_TUPLE;
    *out_value = (gvalue){.kind = V_TUPLE, .count = (uint32_t)result_count, .items = items};
    if (!is_tuple) *out_value = items[0];
    return HONE_OK;
}

static hone_status call_graph(frame *f, const char *callee, uint32_t arg_count,
                              const hone_garg *args, gvalue *out_value) {
    gvalue *inputs = hone_arena_zalloc(f->arena, ((size_t)arg_count + 1) * sizeof *inputs);
    if (!inputs) return short_of_memory();
    for (uint32_t i = 0; i < arg_count; i++)
        HONE_TRY(eval_arg(f, &args[i], &inputs[i]));
    return call_with(f, callee, arg_count, inputs, out_value);
}

/* One of the branches runs. */
static hone_status run_if(frame *f, const hone_gbind *bind, gvalue *out_value) {
    gvalue condition;
    if (bind->arg_count < HONE_GBIND_IF_ARGS) {
        return HONE_ERROR(HONE_CODE_ILLEGAL, "an 'if' without branches");
    }
    HONE_TRY(eval_arg(f, &bind->args[0], &condition));
    if (condition.kind != V_TENSOR || hone_tensor_count(condition.tensor) != 1) {
        return HONE_ERROR(HONE_CODE_ILLEGAL, "the condition of 'if' is no scalar");
    }
    bool is_true = hone_tensor_get_i64(condition.tensor, 0) != 0;
    const hone_garg *branch = &bind->args[is_true ? HONE_GBIND_IF_THEN : HONE_GBIND_IF_ELSE];
    const char *name = branch->kind == HONE_GARG_GLOBAL ? branch->u.s : NULL;
    return call_graph(f, name, bind->arg_count - HONE_GBIND_IF_ARGS,
                      bind->args + HONE_GBIND_IF_ARGS, out_value);
}

/* ---- loops ---- */

typedef struct looping {
    const hone_gbind *bind;
    int64_t limit;
    bool goes_on;
    uint32_t state_count, input_count;
    gvalue *inputs; /* of the body: the number of the turn, states, captured values */
    gvalue *results;
    uint32_t result_count;
    uint32_t made_at; /* the first tensor that the last turn made */
} looping;

static bool is_true_scalar(const gvalue *value) {
    return hone_tensor_get_i64(value->tensor, 0) != 0;
}

static hone_status begin_loop(frame *f, const hone_gbind *bind, looping *l) {
    gvalue limit, states, captured, condition;
    *l = (looping){.bind = bind, .goes_on = true};
    if (bind->arg_count < HONE_LOOP_CONDITION || bind->args[0].kind != HONE_GARG_GLOBAL) {
        return HONE_ERROR(HONE_CODE_ILLEGAL, "a loop without a body");
    }
    HONE_TRY(eval_arg(f, &bind->args[HONE_LOOP_LIMIT], &limit));
    HONE_TRY(eval_arg(f, &bind->args[HONE_LOOP_STATES], &states));
    HONE_TRY(eval_arg(f, &bind->args[HONE_LOOP_CAPTURED], &captured));
    if (bind->arg_count > HONE_LOOP_CONDITION) {
        HONE_TRY(eval_arg(f, &bind->args[HONE_LOOP_CONDITION], &condition));
        if (condition.kind != V_TENSOR) return HONE_ERROR(HONE_CODE_ILLEGAL, "no condition");
        l->goes_on = is_true_scalar(&condition);
    }
    if (limit.kind != V_TENSOR) return HONE_ERROR(HONE_CODE_ILLEGAL, "a loop without a limit");
    l->limit = hone_tensor_get_i64(limit.tensor, 0);
    l->state_count = states.count;
    l->input_count = 1 + states.count + captured.count;
    l->inputs = hone_arena_zalloc(f->arena, ((size_t)l->input_count + 1) * sizeof *l->inputs);
    if (!l->inputs) return short_of_memory();
    for (uint32_t i = 0; i < states.count; i++)
        l->inputs[1 + i] = states.items[i];
    for (uint32_t i = 0; i < captured.count; i++)
        l->inputs[1 + states.count + i] = captured.items[i];
    l->inputs[0].kind = V_TENSOR;
    return make_number(f, HONE_DTYPE_I64, 0, &l->inputs[0].tensor);
}

/* The scans as a whole; the states are known when the last turn is over. */
static hone_status make_scans(frame *f, looping *l) {
    const hone_sinfo *info = info_of(f, l->bind);
    call c = {.count = 0};
    if (!info || info->kind != HONE_SINFO_TUPLE || info->field_count < l->state_count) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "what a loop gives is not known");
    }
    l->result_count = info->field_count;
    l->results = hone_arena_zalloc(f->arena, ((size_t)l->result_count + 1) * sizeof *l->results);
    if (!l->results) return short_of_memory();
    for (uint32_t i = l->state_count; i < info->field_count; i++)
        HONE_TRY(make_output(f, &c, info->fields[i], widens(f), &l->results[i]));
    return HONE_OK;
}

static hone_status place_item(looping *l, int64_t turn, const gvalue *item, hone_tensor *whole) {
    size_t bytes = item->kind == V_TENSOR ? hone_tensor_bytes(item->tensor) : 0;
    if ((size_t)l->limit * bytes != hone_tensor_bytes(whole)) {
        return HONE_ERROR(HONE_CODE_ILLEGAL, "an item of a scan has another size");
    }
    memcpy((char *)whole->data + (size_t)turn * bytes, item->tensor->data, bytes);
    return HONE_OK;
}

/* What the turn before made is of no use any more. */
static void drop_before(frame *f, looping *l, uint32_t made_at) {
    uint32_t count = f->owned_count - made_at;
    for (uint32_t i = l->made_at; i < made_at; i++)
        hone_tensor_destroy(f->owned[i]);
    memmove(f->owned + l->made_at, f->owned + made_at, count * sizeof *f->owned);
    f->owned_count = l->made_at + count;
}

static hone_status run_turn(frame *f, looping *l, int64_t turn) {
    uint32_t first = l->bind->arg_count > HONE_LOOP_CONDITION, made_at = f->owned_count;
    gvalue made;
    hone_tensor_set_i64(l->inputs[0].tensor, 0, turn);
    HONE_TRY(call_with(f, l->bind->args[0].u.s, l->input_count, l->inputs, &made));
    if (made.kind != V_TUPLE || made.count != first + l->result_count) {
        return HONE_ERROR(HONE_CODE_ILLEGAL, "the body of a loop gives another number of values");
    }
    for (uint32_t i = l->state_count; i < l->result_count; i++)
        HONE_TRY(place_item(l, turn, &made.items[first + i], l->results[i].tensor));
    for (uint32_t i = 0; i < l->state_count; i++)
        l->inputs[1 + i] = made.items[first + i];
    if (first) l->goes_on = is_true_scalar(&made.items[0]);
    drop_before(f, l, made_at);
    return HONE_OK;
}

static hone_status run_loop(frame *f, const hone_gbind *bind, gvalue *out_value) {
    looping l;
    HONE_TRY(begin_loop(f, bind, &l));
    HONE_TRY(make_scans(f, &l));
    l.made_at = f->owned_count;
    for (int64_t turn = 0; turn < l.limit && l.goes_on; turn++)
        HONE_TRY(run_turn(f, &l, turn));
    for (uint32_t i = 0; i < l.state_count; i++)
        l.results[i] = l.inputs[1 + i];
    *out_value = (gvalue){.kind = V_TUPLE, .count = l.result_count, .items = l.results};
    return HONE_OK;
}

/* ---- bindings ---- */

static hone_status tuple_get(frame *f, const hone_gbind *bind, gvalue *out_value) {
    gvalue tuple;
    if (bind->arg_count != 1) return HONE_ERROR(HONE_CODE_ILLEGAL, "a tuple is wanted");
    HONE_TRY(eval_arg(f, &bind->args[0], &tuple));
    if (tuple.kind != V_TUPLE || bind->index < 0 || (uint32_t)bind->index >= tuple.count) {
        return HONE_ERROR(HONE_CODE_ILLEGAL, "element %d is taken of a value with %u elements",
                          (int)bind->index, tuple.kind == V_TUPLE ? (unsigned)tuple.count : 0u);
    }
    *out_value = tuple.items[bind->index];
    return HONE_OK;
}

static hone_status tensor_to_shape(frame *f, const hone_gbind *bind, gvalue *out_value) {
    gvalue t;
    if (bind->arg_count != 1) return HONE_ERROR(HONE_CODE_ILLEGAL, "one value is wanted");
    HONE_TRY(eval_arg(f, &bind->args[0], &t));
    if (t.kind != V_TENSOR || t.tensor->rank != 1 || t.tensor->shape[0] > HONE_MAX_RANK) {
        return HONE_ERROR(HONE_CODE_ILLEGAL, "a shape is made of a tensor of one dimension");
    }
    uint32_t count = (uint32_t)t.tensor->shape[0];
    int64_t *dims = hone_arena_zalloc(f->arena, (count + 1) * sizeof *dims);
    if (!dims) return short_of_memory();
    for (uint32_t i = 0; i < count; i++) {
        dims[i] = hone_tensor_get_i64(t.tensor, i);
        if (dims[i] >= 0) continue;
        return HONE_ERROR(HONE_CODE_INVALID, "dimension %u is %lld, must be at least 0", i,
                          (long long)dims[i]);
    }
    *out_value = (gvalue){.kind = V_SHAPE, .count = count, .dims = dims};
    return HONE_OK;
}

/* Copies the elements into a tensor of another shape, which has as many. */
static hone_status reshape(frame *f, const hone_gbind *bind, gvalue *out_value) {
    call c = {.count = 0};
    gvalue from;
    if (bind->arg_count < 1) return HONE_ERROR(HONE_CODE_ILLEGAL, "a value is wanted");
    HONE_TRY(eval_arg(f, &bind->args[0], &from));
    if (from.kind != V_TENSOR) return HONE_ERROR(HONE_CODE_ILLEGAL, "a tensor is reshaped");
    const hone_sinfo *info = info_of(f, bind);
    HONE_TRY(make_output(f, &c, info, false, out_value));
    int64_t got = hone_tensor_count(from.tensor), want = hone_tensor_count(out_value->tensor);
    if (got != want) {
        return HONE_ERROR(HONE_CODE_INVALID, "the number of elements is %lld, wants %lld",
                          (long long)got, (long long)want);
    }
    if (!hone_dtype_equal(from.tensor->dtype, info->dtype)) /* the program is widened */
        HONE_TRY(make_tensor(f, from.tensor->dtype, info->rank, out_value->tensor->shape,
                             &out_value->tensor));
    size_t bytes = hone_tensor_bytes(from.tensor);
    if (bytes) memcpy(out_value->tensor->data, from.tensor->data, bytes);
    return HONE_OK;
}

static hone_status run_bind(frame *f, const hone_gbind *bind, gvalue *out_value) {
    const char *name = f->graph->values[bind->value].name;
    switch (bind->kind) {
    case HONE_GBIND_CALL_TIR:
        return call_tir(f, bind, out_value);
    case HONE_GBIND_CALL_DPS:
    case HONE_GBIND_CALL_PACKED:
        return call_external(f, bind, out_value);
    case HONE_GBIND_CALL_FUNC:
        return call_graph(f, bind->callee, bind->arg_count, bind->args, out_value);
    case HONE_GBIND_TUPLE_GET:
        return tuple_get(f, bind, out_value);
    case HONE_GBIND_ARG:
    case HONE_GBIND_MATCH_CAST:
        if (bind->arg_count != 1) return HONE_ERROR(HONE_CODE_ILLEGAL, "one value is wanted");
        HONE_TRY(eval_arg(f, &bind->args[0], out_value));
        if (bind->kind == HONE_GBIND_ARG) return HONE_OK;
        HONE_TRY(match_info(f, name, info_of(f, bind), out_value, true));
        return match_info(f, name, info_of(f, bind), out_value, false);
    case HONE_GBIND_CALL:
        if (bind->callee && strcmp(bind->callee, "tensor_to_shape") == 0) {
            return tensor_to_shape(f, bind, out_value);
        }
        if (bind->callee && strcmp(bind->callee, "reshape") == 0) {
            return reshape(f, bind, out_value);
        }
        if (bind->callee && strcmp(bind->callee, "loop") == 0) return run_loop(f, bind, out_value);
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "operator '%s' has no tensor program yet: legalise the graph first",
                          bind->callee ? bind->callee : "?");
    case HONE_GBIND_IF:
        return run_if(f, bind, out_value);
    }
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "this kind of binding is not interpreted");
}

/* ---- functions ---- */

static hone_status bind_inputs(frame *f, const gvalue *inputs) {
    for (uint32_t i = 0; i < f->graph->param_count; i++)
        f->values[i] = inputs[i];
    for (int lone = 1; lone >= 0; lone--) {
        for (uint32_t i = 0; i < f->graph->param_count; i++) {
            const hone_gvalue_info *info = &f->graph->values[i];
            HONE_TRY(match_info(f, info->name, info->sinfo, &inputs[i], lone));
        }
    }
    return HONE_OK;
}

static hone_status take_results(frame *f, hone_tensor ***out_results, size_t *out_count) {
    gvalue value;
    call c = {.count = 0};
    hone_status st = HONE_OK;
    HONE_TRY(eval_arg(f, &f->graph->result, &value));
    HONE_TRY(push_value(f, &c, &value));
    hone_tensor **results = hone_calloc(c.count + 1, sizeof *results);
    if (!results) return short_of_memory();
    for (uint32_t i = 0; i < c.count && !st; i++)
        st = hone_tensor_clone(c.tensors[i], &results[i]);
    if (st) {
        for (uint32_t i = 0; i < c.count; i++)
            hone_tensor_destroy(results[i]);
        hone_free(results);
        return st;
    }
    *out_results = results;
    *out_count = c.count;
    return HONE_OK;
}

static hone_status run_frame(frame *f, const gvalue *inputs, hone_tensor ***out_results,
                             size_t *out_count) {
    f->values = hone_arena_zalloc(f->arena, (f->graph->value_count + 1) * sizeof *f->values);
    f->sizes = hone_arena_zalloc(f->arena, (f->graph->var_count + 1) * sizeof *f->sizes);
    if (!f->values || !f->sizes) return short_of_memory();
    HONE_TRY(bind_inputs(f, inputs));
    for (uint32_t i = 0; i < f->graph->bind_count; i++) {
        const hone_gbind *bind = &f->graph->bindings[i];
        if (bind->value >= f->graph->value_count) {
            return HONE_ERROR(HONE_CODE_ILLEGAL, "a binding defines a value that does not exist");
        }
        hone_status st = run_bind(f, bind, &f->values[bind->value]);
        if (f->depth < MAX_TOLD) /* of a function that calls itself, its name again and again */
            st = hone_status_annotate(st, "'%s'", f->graph->values[bind->value].name);
        HONE_TRY(st);
    }
    return take_results(f, out_results, out_count);
}

static hone_status run_graph(const hone_module *module, const hone_graph_func *graph,
                             const gvalue *inputs, uint32_t depth,
                             const hone_interp_options *options, hone_tensor ***out_results,
                             size_t *out_count) {
    if (depth > MAX_DEPTH) {
        return HONE_ERROR(HONE_CODE_ILLEGAL, "'%s' calls itself without end", graph->name);
    }
    frame f = {.module = module, .graph = graph, .options = options, .depth = depth};
    f.arena = hone_arena_create(1 << 14);
    hone_status st = f.arena ? run_frame(&f, inputs, out_results, out_count) : short_of_memory();
    for (uint32_t i = 0; i < f.owned_count; i++)
        hone_tensor_destroy(f.owned[i]);
    hone_free(f.owned);
    hone_arena_destroy(f.arena);
    return st;
}

hone_status hone_interp_graph(const hone_module *module, const char *name,
                              hone_tensor *const *inputs, size_t input_count,
                              const hone_interp_options *options, hone_tensor ***out_results,
                              size_t *out_count) {
    assert(module && name && out_results && out_count);
    *out_results = NULL;
    *out_count = 0;
    const hone_member *member = hone_module_find(module, name);
    if (!member || member->kind != HONE_MEMBER_GRAPH) {
        return HONE_ERROR(HONE_CODE_NOT_FOUND, "'%s' is no graph function of the module", name);
    }
    if (member->graph->param_count != input_count) {
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' takes %u inputs, got %zu", name,
                          (unsigned)member->graph->param_count, input_count);
    }
    gvalue *values = hone_calloc(input_count + 1, sizeof *values);
    if (!values) return short_of_memory();
    for (size_t i = 0; i < input_count; i++) {
        values[i] = (gvalue){.kind = V_TENSOR, .tensor = inputs[i]};
    }
    hone_status st = run_graph(module, member->graph, values, 0, options, out_results, out_count);
    hone_free(values);
    return st;
}
