/* ir/interp/interp_graph_call.c - calls of tensor programs, external and graph functions. */
#include "ir/interp/interp_graph_impl.h"
#include "support/core/alloc.h"

static hone_status push(frame_args *c, hone_tensor *tensor) {
    if (c->count == MAX_TENSORS_OF_CALL) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a call with more than %d tensors",
                          MAX_TENSORS_OF_CALL);
    }
    c->tensors[c->count++] = tensor;
    return HONE_OK;
}

hone_status frame_push(frame *f, frame_args *c, const gvalue *value) {
    if (value->kind == V_TENSOR) return push(c, value->tensor);
    if (value->kind == V_SHAPE) {
        hone_tensor *dims;
        int64_t count = value->count;
        HONE_TRY(frame_tensor(f, HONE_DTYPE_I64, 1, &count, &dims));
        for (uint32_t i = 0; i < value->count; i++)
            hone_tensor_set_i64(dims, i, value->dims[i]);
        return push(c, dims);
    }
    for (uint32_t i = 0; i < value->count; i++)
        HONE_TRY(frame_push(f, c, &value->items[i]));
    return HONE_OK;
}

/* Makes what a call writes, as its struct info says. */
hone_status frame_output(frame *f, frame_args *c, const hone_sinfo *info, bool widens,
                         gvalue *out_value) {
    int64_t shape[HONE_MAX_RANK] = {0};
    if (info && info->kind == HONE_SINFO_TUPLE) {
        gvalue *items = hone_arena_zalloc(f->arena, (info->field_count + 1) * sizeof *items);
        if (!items) return frame_no_memory();
        for (uint32_t i = 0; i < info->field_count; i++) {
            HONE_TRY(frame_output(f, c, info->fields[i], widens, &items[i]));
        }
        *out_value = (gvalue){.kind = V_TUPLE, .count = info->field_count, .items = items};
        return HONE_OK;
    }
    if (!info || info->kind != HONE_SINFO_TENSOR || info->rank < 0 || info->rank > HONE_MAX_RANK ||
        (info->rank > 0 && !info->shape)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "the shape of a result is not known");
    }
    for (int32_t d = 0; d < info->rank; d++)
        HONE_TRY(frame_size(f, info->shape[d], &shape[d]));
    bool is_wide = widens && hone_dtype_is_float(info->dtype);
    hone_dtype dtype = is_wide ? HONE_DTYPE_F64 : info->dtype;
    *out_value = (gvalue){.kind = V_TENSOR};
    HONE_TRY(frame_tensor(f, dtype, info->rank, shape, &out_value->tensor));
    return push(c, out_value->tensor);
}

static hone_status push_args(frame *f, frame_args *c, const hone_gbind *bind) {
    for (uint32_t i = 0; i < bind->arg_count; i++) {
        gvalue value;
        HONE_TRY(frame_eval(f, &bind->args[i], &value));
        HONE_TRY(frame_push(f, c, &value));
    }
    return HONE_OK;
}

const hone_sinfo *frame_info(const frame *f, const hone_gbind *bind) {
    return f->graph->values[bind->value].sinfo;
}

bool frame_widens(const frame *f) {
    return f->options && f->options->widen_f64;
}

/* A reduction of as many elements as a size says has no value where that is 0: T.init does not run
 * (ir/te fills in what reduces over no elements whatever the sizes are). */
static hone_status check_reduction(const hone_func *func, const frame_args *c) {
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

hone_status frame_call_tir(frame *f, const hone_gbind *bind, gvalue *out_value) {
    const hone_member *member = bind->callee ? hone_module_find(f->module, bind->callee) : NULL;
    if (!member || member->kind != HONE_MEMBER_FUNC) {
        return HONE_ERROR(HONE_CODE_NOT_FOUND, "'%s' is no tensor program of the module",
                          bind->callee ? bind->callee : "?");
    }
    frame_args c = {.count = 0};
    HONE_TRY(push_args(f, &c, bind));
    HONE_TRY(frame_output(f, &c, frame_info(f, bind), frame_widens(f), out_value));
    HONE_TRY(check_reduction(member->func, &c));
    for (uint32_t i = 0; i < bind->symbolic_count; i++) {
        int64_t value;
        hone_tensor *number;
        HONE_TRY(frame_size(f, bind->symbolic[i], &value));
        HONE_TRY(frame_number(f, HONE_DTYPE_I64, value, &number));
        HONE_TRY(push(&c, number));
    }
    return hone_status_annotate(hone_interp_func(member->func, c.tensors, c.count, f->options),
                                "call of '%s'", bind->callee);
}

/* External functions get the dtypes of the program, also when the rest is widened. */
static hone_status narrow_args(frame *f, frame_args *c, const hone_gbind *bind) {
    if (!frame_widens(f)) return HONE_OK;
    for (uint32_t i = 0; i < bind->arg_count && i < c->count; i++) {
        const hone_garg *arg = &bind->args[i];
        const hone_sinfo *info =
            arg->kind == HONE_GARG_VALUE ? f->graph->values[arg->u.value].sinfo : NULL;
        if (!info || info->kind != HONE_SINFO_TENSOR) continue;
        if (hone_dtype_equal(info->dtype, c->tensors[i]->dtype)) continue;
        hone_tensor *narrow;
        HONE_TRY(hone_tensor_convert(c->tensors[i], info->dtype, &narrow));
        HONE_TRY(frame_own(f, narrow));
        c->tensors[i] = narrow;
    }
    return HONE_OK;
}

hone_status frame_call_external(frame *f, const hone_gbind *bind, gvalue *out_value) {
    const char *name = bind->callee ? bind->callee : "?";
    frame_args c = {.count = 0};
    if (!f->options || !f->options->call_extern) {
        return HONE_ERROR(HONE_CODE_UNAVAILABLE,
                          "external function '%s' is called, and there is none", name);
    }
    HONE_TRY(push_args(f, &c, bind));
    HONE_TRY(narrow_args(f, &c, bind));
    HONE_TRY(frame_output(f, &c, frame_info(f, bind), false, out_value));
    return hone_status_annotate(
        f->options->call_extern(f->options->extern_ctx, name, c.tensors, c.count),
        "external function '%s'", name);
}

/* What a graph function gives for these values. */
hone_status frame_call(frame *f, const char *callee, uint32_t count, const gvalue *inputs,
                       gvalue *out_value) {
    const hone_member *member = callee ? hone_module_find(f->module, callee) : NULL;
    hone_tensor **results;
    size_t result_count;
    if (!member || member->kind != HONE_MEMBER_GRAPH || member->graph->param_count != count) {
        return HONE_ERROR(HONE_CODE_ILLEGAL,
                          "'%s' is no graph function of the module that takes %u",
                          callee ? callee : "?", (unsigned)count);
    }
    HONE_TRY(frame_run_graph(f->module, member->graph, inputs, f->depth + 1, f->options, &results,
                             &result_count));
    gvalue *items = hone_arena_zalloc(f->arena, (result_count + 1) * sizeof *items);
    hone_status st = items ? HONE_OK : frame_no_memory();
    for (size_t i = 0; i < result_count; i++) {
        if (st)
            hone_tensor_destroy(results[i]);
        else
            st = frame_own(f, results[i]);
        if (items) items[i] = (gvalue){.kind = V_TENSOR, .tensor = results[i]};
    }
    hone_free(results);
    if (st) return st;
    bool is_tuple = result_count != 1 || member->graph->result.kind == HONE_GARG_TUPLE;
    *out_value = (gvalue){.kind = V_TUPLE, .count = (uint32_t)result_count, .items = items};
    if (!is_tuple) *out_value = items[0];
    return HONE_OK;
}
