/* ir/ops/graph_infer.c - what an operator call gives, from what its arguments are: dispatch, and
 * everything that is not an operator. */
#include "ir/ops/graph_infer.h"

#include <string.h>

#include "ir/arith/arith.h"

static const hone_infer_fn rules[HONE_INFER_COUNT] = {
    [HONE_INFER_SAME] = hone_infer_same,
    [HONE_INFER_FLOAT] = hone_infer_float,
    [HONE_INFER_BINARY] = hone_infer_binary,
    [HONE_INFER_COMPARE] = hone_infer_compare,
    [HONE_INFER_LOGICAL] = hone_infer_logical,
    [HONE_INFER_WHERE] = hone_infer_where,
    [HONE_INFER_FMA] = hone_infer_fma,
    [HONE_INFER_ASTYPE] = hone_infer_astype,
    [HONE_INFER_MATMUL] = hone_infer_matmul,
    [HONE_INFER_LINEAR] = hone_infer_linear,
    [HONE_INFER_DET] = hone_infer_det,
    [HONE_INFER_INVERSE] = hone_infer_inverse,
    [HONE_INFER_COUPLE] = hone_infer_couple,
    [HONE_INFER_DESCEND] = hone_infer_descend,
    [HONE_INFER_TIME_WARP] = hone_infer_time_warp,
    [HONE_INFER_MURMUR_HASH] = hone_infer_murmur_hash,
    [HONE_INFER_REDUCE] = hone_infer_reduce,
    [HONE_INFER_ARG_REDUCE] = hone_infer_arg_reduce,
    [HONE_INFER_CONV] = hone_infer_conv,
    [HONE_INFER_POOL] = hone_infer_pool,
    [HONE_INFER_ADAPTIVE_POOL] = hone_infer_adaptive_pool,
    [HONE_INFER_BATCH_NORM] = hone_infer_batch_norm,
    [HONE_INFER_LAYER_NORM] = hone_infer_layer_norm,
    [HONE_INFER_NLL_LOSS] = hone_infer_nll_loss,
    [HONE_INFER_RESAMPLE] = hone_infer_resample,
    [HONE_INFER_CONV_TRANSPOSE] = hone_infer_conv_transpose,
    [HONE_INFER_GRID_SAMPLE] = hone_infer_grid_sample,
    [HONE_INFER_RESIZE] = hone_infer_resize,
    [HONE_INFER_ROI_ALIGN] = hone_infer_roi_align,
    [HONE_INFER_ROI_POOL] = hone_infer_roi_pool,
    [HONE_INFER_EINSUM] = hone_infer_einsum,
    [HONE_INFER_PAD] = hone_infer_pad,
    [HONE_INFER_DROPOUT] = hone_infer_dropout,
    [HONE_INFER_RESHAPE] = hone_infer_reshape,
    [HONE_INFER_FLATTEN] = hone_infer_flatten,
    [HONE_INFER_SQUEEZE] = hone_infer_squeeze,
    [HONE_INFER_EXPAND_DIMS] = hone_infer_expand_dims,
    [HONE_INFER_PERMUTE] = hone_infer_permute,
    [HONE_INFER_BROADCAST_TO] = hone_infer_broadcast_to,
    [HONE_INFER_CONCAT] = hone_infer_concat,
    [HONE_INFER_SPLIT] = hone_infer_split,
    [HONE_INFER_SLICE] = hone_infer_slice,
    [HONE_INFER_TAKE] = hone_infer_take,
    [HONE_INFER_GATHER_ELEMENTS] = hone_infer_gather_elements,
    [HONE_INFER_GATHER_ND] = hone_infer_gather_nd,
    [HONE_INFER_SCATTER_ELEMENTS] = hone_infer_scatter_elements,
    [HONE_INFER_SCATTER_ND] = hone_infer_scatter_nd,
    [HONE_INFER_CUMULATE] = hone_infer_cumulate,
    [HONE_INFER_SORT] = hone_infer_sort,
    [HONE_INFER_ARGSORT] = hone_infer_argsort,
    [HONE_INFER_TOPK] = hone_infer_topk,
    [HONE_INFER_TRIANGLE] = hone_infer_triangle,
    [HONE_INFER_FLIP] = hone_infer_flip,
    [HONE_INFER_TILE] = hone_infer_tile,
    [HONE_INFER_REPEAT] = hone_infer_repeat,
    [HONE_INFER_TEST] = hone_infer_test,
    [HONE_INFER_BITS] = hone_infer_bits,
    [HONE_INFER_ONE_HOT] = hone_infer_one_hot,
    [HONE_INFER_FILL] = hone_infer_fill,
    [HONE_INFER_ARANGE] = hone_infer_arange,
    [HONE_INFER_TO_SHAPE] = hone_infer_to_shape,
    [HONE_INFER_SUPPRESS] = hone_infer_suppress,
    [HONE_INFER_QUANTIZE] = hone_infer_quantize,
};

/* ---- arguments ---- */

static const hone_sinfo *tuple_sinfo(const hone_module *module, const hone_graph_func *graph,
                                     const hone_garg *arg, hone_arena *arena) {
    const hone_sinfo **fields = hone_arena_zalloc(arena, (arg->count + 1) * sizeof *fields);
    if (!fields) return NULL;
    for (uint32_t i = 0; i < arg->count; i++) {
        fields[i] = hone_garg_sinfo(module, graph, &arg->u.items[i], arena);
        if (!fields[i]) return NULL;
    }
    return hone_sinfo_tuple(arena, arg->count, fields);
}

static const hone_sinfo *plain_sinfo(hone_arena *arena, hone_sinfo_kind kind, hone_dtype dtype,
                                     int32_t rank, const hone_expr *const *shape) {
    hone_sinfo *info = hone_arena_zalloc(arena, sizeof *info);
    if (!info) return NULL;
    *info = (hone_sinfo){.kind = kind, .dtype = dtype, .rank = rank, .shape = shape};
    return info;
}

static const hone_sinfo *prim_sinfo(const hone_garg *arg, hone_arena *arena) {
    const hone_expr **value = hone_arena_zalloc(arena, sizeof *value);
    if (!value) return NULL;
    *value = arg->u.expr;
    return plain_sinfo(arena, HONE_SINFO_PRIM, arg->u.expr->dtype, 1, value);
}

const hone_sinfo *hone_garg_sinfo(const hone_module *module, const hone_graph_func *graph,
                                  const hone_garg *arg, hone_arena *arena) {
    switch (arg->kind) {
    case HONE_GARG_VALUE:
        return graph->values[arg->u.value].sinfo;
    case HONE_GARG_CONSTANT: {
        if (arg->u.constant >= module->constant_count) return NULL;
        const hone_tensor *tensor = module->constants[arg->u.constant];
        if (!tensor) return NULL; /* its numbers are not at hand */
        return hone_sinfo_static(arena, tensor->dtype, tensor->rank, tensor->shape);
    }
    case HONE_GARG_SHAPE:
        return plain_sinfo(arena, HONE_SINFO_SHAPE, HONE_DTYPE_I64, (int32_t)arg->count,
                           arg->u.exprs);
    case HONE_GARG_PRIM:
        return prim_sinfo(arg, arena);
    case HONE_GARG_TUPLE:
        return tuple_sinfo(module, graph, arg, arena);
    case HONE_GARG_GLOBAL:
    case HONE_GARG_EXTERN:
        return plain_sinfo(arena, HONE_SINFO_CALLABLE, HONE_DTYPE_VOID, -1, NULL);
    case HONE_GARG_STRING:
    case HONE_GARG_DTYPE:
    case HONE_GARG_NONE:
        break;
    }
    return plain_sinfo(arena, HONE_SINFO_OBJECT, HONE_DTYPE_VOID, -1, NULL);
}

/* ---- operator calls ---- */

static void count_args(const hone_graph_op *op, uint32_t *out_least, uint32_t *out_most) {
    *out_least = *out_most = 0;
    for (const char *at = op->args; *at; at++) {
        if (*at == '?') --*out_least;
        if (at == op->args || at[-1] == ' ') {
            ++*out_least;
            ++*out_most;
        }
    }
}

static hone_status check_arg_count(const hone_gbind *bind, const hone_graph_op *op) {
    uint32_t least, most;
    count_args(op, &least, &most);
    if (bind->arg_count >= least && bind->arg_count <= most) return HONE_OK;
    return HONE_ERROR(HONE_CODE_TYPE, "'%s' takes %u argument%s (%s), %u given", op->name, most,
                      most == 1 ? "" : "s", op->args, bind->arg_count);
}

static bool is_shape_known(const hone_sinfo *info) {
    if (!info) return false;
    if (info->kind == HONE_SINFO_TENSOR || info->kind == HONE_SINFO_SHAPE) {
        return info->rank == 0 || (info->rank > 0 && info->shape != NULL);
    }
    for (uint32_t i = 0; i < info->field_count; i++) {
        if (!is_shape_known(info->fields[i])) return false;
    }
    return true;
}

/* The first argument of nearly every operator is a tensor, or a tuple of them. */
static hone_status check_first(const hone_infer *in) {
    const hone_sinfo *first = in->args[0];
    if (!first || hone_infer_makes(in->op->infer) || in->op->infer == HONE_INFER_OPEN)
        return HONE_OK;
    bool wants_tuple = strchr(in->op->args, '*') != NULL;
    if (wants_tuple != (first->kind == HONE_SINFO_TUPLE) ||
        (!wants_tuple && first->kind != HONE_SINFO_TENSOR)) {
        return HONE_ERROR(HONE_CODE_TYPE, "the first argument of '%s' must be a %s", in->op->name,
                          wants_tuple ? "tuple of tensors" : "tensor");
    }
    return HONE_OK;
}

/* The rules have room for so many dimensions. */
static bool is_too_deep(const hone_sinfo *info) {
    if (info->kind == HONE_SINFO_TENSOR) return info->rank > HONE_MAX_RANK;
    for (uint32_t i = 0; info->kind == HONE_SINFO_TUPLE && i < info->field_count; i++) {
        if (is_too_deep(info->fields[i])) return true;
    }
    return false;
}

static hone_status check_ranks(const hone_infer *in) {
    for (uint32_t i = 0; i < in->bind->arg_count; i++) {
        if (!in->args[i] || !is_too_deep(in->args[i])) continue;
        return hone_infer_doubt(in, "more than %d dimensions", HONE_MAX_RANK);
    }
    return HONE_OK;
}

static hone_status infer_loop(hone_infer *in);

static hone_status infer_call(hone_infer *in) {
    const hone_gbind *bind = in->bind;
    in->op = hone_graph_op_find(bind->callee);
    if (!in->op && hone_graph_op_runs(bind->callee)) return HONE_OK; /* nothing is known */
    if (!in->op) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "operator '%s' is not implemented", bind->callee);
    }
    HONE_TRY(check_arg_count(bind, in->op));
    if (in->op->infer == HONE_INFER_LOOP) return infer_loop(in);
    if (in->op->infer == HONE_INFER_OPEN) return HONE_OK;
    bool is_known = true;
    for (uint32_t i = 0; i < bind->arg_count && i < HONE_INFER_MAX_ARGS; i++) {
        in->args[i] = hone_garg_sinfo(in->module, in->graph, &bind->args[i], in->ir.arena);
        is_known &= is_shape_known(in->args[i]);
    }
    HONE_TRY(check_first(in));
    HONE_TRY(check_ranks(in));
    if (!is_known) {
        bool is_shape = in->op->infer == HONE_INFER_TO_SHAPE;
        hone_dtype dtype = is_shape ? HONE_DTYPE_I64 : HONE_DTYPE_VOID;
        in->result = plain_sinfo(in->ir.arena, is_shape ? HONE_SINFO_SHAPE : HONE_SINFO_TENSOR,
                                 dtype, -1, NULL);
        return HONE_OK;
    }
    HONE_TRY(rules[in->op->infer](in));
    return hone_ir_finish(&in->ir);
}

/* ---- everything else ---- */

static hone_status infer_tuple_get(hone_infer *in) {
    const hone_gbind *bind = in->bind;
    const hone_sinfo *tuple = hone_garg_sinfo(in->module, in->graph, &bind->args[0], in->ir.arena);
    if (!tuple) return HONE_OK;
    if (tuple->kind != HONE_SINFO_TUPLE) {
        return HONE_ERROR(HONE_CODE_TYPE, "item %d of a value that is no tuple", bind->index);
    }
    if (bind->index < 0 || (uint32_t)bind->index >= tuple->field_count) {
        return HONE_ERROR(HONE_CODE_TYPE, "item %d of a tuple of %u", bind->index,
                          tuple->field_count);
    }
    in->result = tuple->fields[bind->index];
    return HONE_OK;
}

void hone_sinfo_bind_sizes(const hone_sinfo *param, const hone_sinfo *arg,
                           const hone_expr **sizes) {
    if (!param || !arg || param->kind != arg->kind) return;
    for (uint32_t i = 0; i < param->field_count && i < arg->field_count; i++)
        hone_sinfo_bind_sizes(param->fields[i], arg->fields[i], sizes);
    for (int32_t d = 0; param->shape && arg->shape && d < param->rank && d < arg->rank; d++) {
        const hone_expr *e = param->shape[d];
        if (e->kind == HONE_EXPR_VAR && !sizes[e->u.var]) sizes[e->u.var] = arg->shape[d];
    }
}

/* What a function of the module gives for these arguments. */
static hone_status result_of(hone_infer *in, const char *name, uint32_t count,
                             const hone_garg *args, const hone_sinfo **out) {
    const hone_member *member = hone_module_find(in->module, name);
    *out = NULL;
    if (!member) return HONE_ERROR(HONE_CODE_NOT_FOUND, "no function '%s'", name);
    if (member->kind != HONE_MEMBER_GRAPH) return HONE_OK;
    const hone_graph_func *callee = member->graph;
    const hone_expr **sizes =
        hone_arena_zalloc(in->ir.arena, ((size_t)callee->var_count + 1) * sizeof *sizes);
    if (!sizes) return HONE_ERROR(HONE_CODE_NO_MEMORY, "sizes");
    for (uint32_t i = 0; i < callee->param_count && i < count; i++) {
        hone_sinfo_bind_sizes(callee->values[i].sinfo,
                              hone_garg_sinfo(in->module, in->graph, &args[i], in->ir.arena),
                              sizes);
    }
    const hone_sinfo *info =
        callee->result_sinfo ? callee->result_sinfo
                             : hone_garg_sinfo(in->module, callee, &callee->result, in->ir.arena);
    *out = hone_sinfo_in_terms_of(&in->ir, info, sizes, callee->var_count);
    return HONE_OK;
}

static hone_status infer_call_func(hone_infer *in) {
    const hone_gbind *bind = in->bind;
    return result_of(in, bind->callee, bind->arg_count, bind->args, &in->result);
}

/* What an item of a scan is, once per turn. */
static const hone_sinfo *scan_sinfo(hone_infer *in, const hone_expr *turns,
                                    const hone_sinfo *item) {
    const hone_expr **shape =
        hone_arena_zalloc(in->ir.arena, ((size_t)item->rank + 1) * sizeof *shape);
    if (!shape) return NULL;
    shape[0] = turns;
    for (int32_t d = 0; d < item->rank; d++)
        shape[1 + d] = item->shape[d];
    return hone_sinfo_tensor(in->ir.arena, item->dtype, item->rank + 1, shape);
}

static hone_status other_after_turn(const hone_infer *in, uint32_t state, const hone_sinfo *before,
                                    const hone_sinfo *after) {
    hone_str text = {0};
    hone_str_printf(&text, "state %u of a loop, ", state);
    hone_sinfo_describe(in->graph, before, &text);
    hone_str_append(&text, ", has another type or shape after a turn: ");
    hone_sinfo_describe(in->graph, after, &text);
    hone_status st = HONE_ERROR(HONE_CODE_TYPE, "%s", hone_str_text(&text));
    hone_str_deinit(&text);
    return st;
}

/* The states as they begin, then the scans, which have one item per turn. */
static hone_status loop_results(hone_infer *in, const hone_sinfo *states, const hone_sinfo *made,
                                bool is_open) {
    const hone_gbind *bind = in->bind;
    uint32_t first = bind->arg_count > HONE_LOOP_CONDITION, count = made->field_count - first;
    const hone_sinfo **fields = hone_arena_zalloc(in->ir.arena, (count + 1) * sizeof *fields);
    if (!fields) return HONE_ERROR(HONE_CODE_NO_MEMORY, "loop");
    for (uint32_t i = 0; i < count; i++) {
        const hone_sinfo *item = made->fields[first + i];
        bool is_state = i < states->field_count;
        if (is_state && hone_sinfo_contradicts(states->fields[i], item)) {
            return other_after_turn(in, i, states->fields[i], item);
        }
        if (!is_state && is_open) {
            return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                              "a loop whose number of turns is not known makes no scans");
        }
        bool is_known = is_shape_known(item) && item->kind == HONE_SINFO_TENSOR;
        fields[i] = is_state ? states->fields[i]
                    : is_known
                        ? scan_sinfo(in, bind->args[HONE_LOOP_LIMIT].u.expr, item)
                        : plain_sinfo(in->ir.arena, HONE_SINFO_TENSOR, item->dtype, -1, NULL);
        if (!fields[i]) return HONE_ERROR(HONE_CODE_NO_MEMORY, "loop");
    }
    in->result = hone_sinfo_tuple(in->ir.arena, count, fields);
    return in->result ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "loop");
}

/* What the body is called with: the number of the turn, which tells no sizes, then the rest. */
static hone_garg *args_of_body(hone_infer *in, uint32_t *out_count) {
    const hone_garg *states = &in->bind->args[HONE_LOOP_STATES];
    const hone_garg *captured = &in->bind->args[HONE_LOOP_CAPTURED];
    *out_count = 1 + states->count + captured->count;
    hone_garg *args = hone_arena_zalloc(in->ir.arena, *out_count * sizeof *args);
    if (!args) return NULL;
    args[0].kind = HONE_GARG_NONE;
    for (uint32_t i = 0; i < states->count; i++)
        args[1 + i] = states->u.items[i];
    for (uint32_t i = 0; i < captured->count; i++)
        args[1 + states->count + i] = captured->u.items[i];
    return args;
}

static hone_status infer_loop(hone_infer *in) {
    const hone_garg *args = in->bind->args;
    uint32_t count;
    const hone_sinfo *made;
    if (args[HONE_LOOP_BODY].kind != HONE_GARG_GLOBAL ||
        args[HONE_LOOP_STATES].kind != HONE_GARG_TUPLE ||
        args[HONE_LOOP_CAPTURED].kind != HONE_GARG_TUPLE) {
        return HONE_ERROR(HONE_CODE_TYPE, "a loop takes a function of the module, how many turns "
                                          "it makes, and two tuples that are written out");
    }
    const hone_sinfo *states =
        hone_garg_sinfo(in->module, in->graph, &args[HONE_LOOP_STATES], in->ir.arena);
    hone_garg *inputs = args_of_body(in, &count);
    if (!inputs) return HONE_ERROR(HONE_CODE_NO_MEMORY, "loop");
    HONE_TRY(result_of(in, args[HONE_LOOP_BODY].u.s, count, inputs, &made));
    if (!states || !made) return HONE_OK;
    bool has_condition = in->bind->arg_count > HONE_LOOP_CONDITION;
    if (made->kind != HONE_SINFO_TUPLE || made->field_count < has_condition + states->field_count) {
        return HONE_ERROR(HONE_CODE_TYPE,
                          "the body of a loop of %u states gives a tuple of %s%u "
                          "or more values",
                          states->field_count, has_condition ? "1 + " : "", states->field_count);
    }
    bool is_open = has_condition || args[HONE_LOOP_LIMIT].kind != HONE_GARG_PRIM;
    return loop_results(in, states, made, is_open);
}

static bool is_condition(const hone_sinfo *info) {
    if (!info || info->kind == HONE_SINFO_OBJECT) return true;
    if (info->kind != HONE_SINFO_TENSOR && info->kind != HONE_SINFO_PRIM) return false;
    if (!hone_dtype_is_void(info->dtype) && !hone_dtype_is_bool(info->dtype)) return false;
    return info->kind == HONE_SINFO_PRIM || info->rank <= 0;
}

static bool has_extents_of(hone_infer *in, const hone_sinfo *a, const hone_sinfo *b) {
    hone_arith arith;
    if (!a->shape || !b->shape) return !a->shape;
    hone_arith_init(&arith, in->ir.arena);
    for (int32_t d = 0; d < a->rank; d++) {
        if (!hone_prove_equal(&arith, a->shape[d], b->shape[d])) return false;
    }
    return true;
}

/* What is true of both, which do not contradict each other: a without extents that b is not known
 * to have. NULL where memory is short. */
static const hone_sinfo *common_sinfo(hone_infer *in, const hone_sinfo *a, const hone_sinfo *b) {
    if (!a || !b || a->kind != b->kind) return a && a->kind == HONE_SINFO_OBJECT ? a : b;
    hone_sinfo *out = hone_arena_copy(in->ir.arena, a, sizeof *a);
    if (!out) return NULL;
    if (!has_extents_of(in, a, b)) out->shape = NULL;
    const hone_sinfo **fields =
        hone_arena_alloc(in->ir.arena, (a->field_count + 1) * sizeof *fields);
    for (uint32_t i = 0; fields && i < a->field_count; i++) {
        fields[i] = common_sinfo(in, a->fields[i], b->fields[i]);
        if (!fields[i]) return NULL;
    }
    if (a->field_count) out->fields = fields;
    return fields ? out : NULL;
}

static hone_status infer_if(hone_infer *in) {
    const hone_gbind *bind = in->bind;
    const hone_sinfo *other;
    const hone_garg *args = bind->args;
    if (bind->arg_count < HONE_GBIND_IF_ARGS || args[HONE_GBIND_IF_THEN].kind != HONE_GARG_GLOBAL ||
        args[HONE_GBIND_IF_ELSE].kind != HONE_GARG_GLOBAL) {
        return HONE_ERROR(HONE_CODE_INVALID, "an 'if' without branches");
    }
    const hone_sinfo *condition = hone_garg_sinfo(in->module, in->graph, &args[0], in->ir.arena);
    if (!is_condition(condition)) {
        hone_str text = {0};
        hone_sinfo_describe(in->graph, condition, &text);
        hone_status st = HONE_ERROR(HONE_CODE_TYPE,
                                    "the condition of 'if' is %s, must be a bool of no dimensions",
                                    hone_str_text(&text));
        hone_str_deinit(&text);
        return st;
    }
    uint32_t count = bind->arg_count - HONE_GBIND_IF_ARGS;
    args += HONE_GBIND_IF_ARGS;
    HONE_TRY(result_of(in, bind->args[HONE_GBIND_IF_THEN].u.s, count, args, &in->result));
    HONE_TRY(result_of(in, bind->args[HONE_GBIND_IF_ELSE].u.s, count, args, &other));
    if (!hone_sinfo_contradicts(in->result, other)) {
        if (!in->result || !other) return HONE_OK;
        in->result = common_sinfo(in, in->result, other);
        return in->result ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "branches");
    }
    hone_str a = {0}, b = {0};
    hone_sinfo_describe(in->graph, in->result, &a);
    hone_sinfo_describe(in->graph, other, &b);
    hone_status st = HONE_ERROR(HONE_CODE_TYPE, "the branches of 'if' make %s and %s",
                                hone_str_text(&a), hone_str_text(&b));
    hone_str_deinit(&a);
    hone_str_deinit(&b);
    return st;
}

hone_status hone_graph_infer_bind(const hone_module *module, const hone_graph_func *graph,
                                  const hone_gbind *bind, hone_arena *arena,
                                  const hone_sinfo **out_info) {
    hone_infer in = {.module = module, .graph = graph, .bind = bind, .ir = {.arena = arena}};
    *out_info = NULL;
    hone_status st = HONE_OK;
    switch (bind->kind) {
    case HONE_GBIND_CALL:
        st = infer_call(&in);
        break;
    case HONE_GBIND_ARG:
        in.result = hone_garg_sinfo(module, graph, &bind->args[0], arena);
        break;
    case HONE_GBIND_TUPLE_GET:
        st = infer_tuple_get(&in);
        break;
    case HONE_GBIND_CALL_FUNC:
        st = infer_call_func(&in);
        break;
    case HONE_GBIND_IF:
        st = infer_if(&in);
        break;
    case HONE_GBIND_CALL_TIR:
    case HONE_GBIND_CALL_DPS:
    case HONE_GBIND_CALL_PACKED:
    case HONE_GBIND_MATCH_CAST:
        in.result = graph->values[bind->value].sinfo;
        break;
    }
    st = hone_status_join(st, hone_ir_finish(&in.ir));
    if (!st) *out_info = in.result;
    return st;
}

/* ---- what is written beside what is inferred ---- */

static bool tensors_contradict(const hone_sinfo *a, const hone_sinfo *b) {
    if (hone_dtypes_differ(a->dtype, b->dtype)) return true;
    if (a->rank < 0 || b->rank < 0) return false;
    if (a->rank != b->rank) return true;
    for (int32_t i = 0; a->shape && b->shape && i < a->rank; i++) {
        if (hone_extent_differs(a->shape[i], b->shape[i])) return true;
    }
    return false;
}

bool hone_sinfo_contradicts(const hone_sinfo *a, const hone_sinfo *b) {
    if (!a || !b || a == b) return false;
    if (a->kind == HONE_SINFO_OBJECT || b->kind == HONE_SINFO_OBJECT) return false;
    if (a->kind != b->kind) return true;
    if (a->kind == HONE_SINFO_TENSOR) return tensors_contradict(a, b);
    if (a->kind != HONE_SINFO_TUPLE) return false;
    if (a->field_count != b->field_count) return true;
    for (uint32_t i = 0; i < a->field_count; i++) {
        if (hone_sinfo_contradicts(a->fields[i], b->fields[i])) return true;
    }
    return false;
}

static hone_status check_written(const hone_graph_func *graph, const hone_gbind *bind,
                                 const hone_sinfo *written, const hone_sinfo *inferred) {
    if (!hone_sinfo_contradicts(written, inferred)) return HONE_OK;
    hone_str a = {0}, b = {0};
    hone_sinfo_describe(graph, written, &a);
    hone_sinfo_describe(graph, inferred, &b);
    hone_status st =
        HONE_ERROR(HONE_CODE_TYPE, "'%s' is declared %s but is %s", graph->values[bind->value].name,
                   hone_str_text(&a), hone_str_text(&b));
    hone_str_deinit(&a);
    hone_str_deinit(&b);
    return st;
}

hone_status hone_graph_check_bind(const hone_module *module, const hone_graph_func *graph,
                                  const hone_gbind *bind, hone_arena *arena) {
    const hone_sinfo *inferred;
    HONE_TRY(hone_graph_infer_bind(module, graph, bind, arena, &inferred));
    return check_written(graph, bind, graph->values[bind->value].sinfo, inferred);
}

hone_status hone_graph_infer(const hone_module *module, hone_graph_func *graph) {
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        const hone_gbind *bind = &graph->bindings[i];
        const hone_sinfo *inferred;
        HONE_TRY(hone_graph_infer_bind(module, graph, bind, graph->arena, &inferred));
        hone_gvalue_info *value = &graph->values[bind->value];
        if (!inferred) continue;
        if (value->sinfo) HONE_TRY(check_written(graph, bind, value->sinfo, inferred));
        if (!value->sinfo || is_shape_known(inferred)) value->sinfo = inferred;
    }
    return HONE_OK;
}
