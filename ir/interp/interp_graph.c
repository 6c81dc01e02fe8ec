/* ir/interp/interp_graph.c - runs graph functions: each binding makes a value, tensor programs and
 * external functions do the work. All tensors of a call live until it returns; results are copies.
 */
#include <string.h>

#include "ir/interp/interp_graph_impl.h"
#include "support/core/alloc.h"

enum { MAX_DEPTH = 64, MAX_TOLD = 4 };

hone_status frame_no_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "interpreter of graphs");
}

/* ---- bindings ---- */

static hone_status call_graph(frame *f, const char *callee, uint32_t arg_count,
                              const hone_garg *args, gvalue *out_value) {
    gvalue *inputs = hone_arena_zalloc(f->arena, ((size_t)arg_count + 1) * sizeof *inputs);
    if (!inputs) return frame_no_memory();
    for (uint32_t i = 0; i < arg_count; i++)
        HONE_TRY(frame_eval(f, &args[i], &inputs[i]));
    return frame_call(f, callee, arg_count, inputs, out_value);
}

/* One of the branches runs. */
static hone_status run_if(frame *f, const hone_gbind *bind, gvalue *out_value) {
    gvalue condition;
    if (bind->arg_count < HONE_GBIND_IF_ARGS) {
        return HONE_ERROR(HONE_CODE_ILLEGAL, "an 'if' without branches");
    }
    HONE_TRY(frame_eval(f, &bind->args[0], &condition));
    if (condition.kind != V_TENSOR || hone_tensor_count(condition.tensor) != 1) {
        return HONE_ERROR(HONE_CODE_ILLEGAL, "the condition of 'if' is no scalar");
    }
    bool is_true = hone_tensor_get_i64(condition.tensor, 0) != 0;
    const hone_garg *branch = &bind->args[is_true ? HONE_GBIND_IF_THEN : HONE_GBIND_IF_ELSE];
    const char *name = branch->kind == HONE_GARG_GLOBAL ? branch->u.s : NULL;
    return call_graph(f, name, bind->arg_count - HONE_GBIND_IF_ARGS,
                      bind->args + HONE_GBIND_IF_ARGS, out_value);
}

static hone_status tuple_get(frame *f, const hone_gbind *bind, gvalue *out_value) {
    gvalue tuple;
    if (bind->arg_count != 1) return HONE_ERROR(HONE_CODE_ILLEGAL, "a tuple is wanted");
    HONE_TRY(frame_eval(f, &bind->args[0], &tuple));
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
    HONE_TRY(frame_eval(f, &bind->args[0], &t));
    if (t.kind != V_TENSOR || t.tensor->rank != 1 || t.tensor->shape[0] > HONE_MAX_RANK) {
        return HONE_ERROR(HONE_CODE_ILLEGAL, "a shape is made of a tensor of one dimension");
    }
    uint32_t count = (uint32_t)t.tensor->shape[0];
    int64_t *dims = hone_arena_zalloc(f->arena, (count + 1) * sizeof *dims);
    if (!dims) return frame_no_memory();
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
    frame_args c = {.count = 0};
    gvalue from;
    if (bind->arg_count < 1) return HONE_ERROR(HONE_CODE_ILLEGAL, "a value is wanted");
    HONE_TRY(frame_eval(f, &bind->args[0], &from));
    if (from.kind != V_TENSOR) return HONE_ERROR(HONE_CODE_ILLEGAL, "a tensor is reshaped");
    const hone_sinfo *info = frame_info(f, bind);
    HONE_TRY(frame_output(f, &c, info, false, out_value));
    if (out_value->kind != V_TENSOR)
        return HONE_ERROR(HONE_CODE_ILLEGAL, "what is reshaped is one tensor");
    int64_t got = hone_tensor_count(from.tensor), want = hone_tensor_count(out_value->tensor);
    if (got != want) {
        return HONE_ERROR(HONE_CODE_INVALID, "the number of elements is %lld, wants %lld",
                          (long long)got, (long long)want);
    }
    if (!hone_dtype_equal(from.tensor->dtype, info->dtype)) /* the program is widened */
        HONE_TRY(frame_tensor(f, from.tensor->dtype, info->rank, out_value->tensor->shape,
                              &out_value->tensor));
    size_t bytes = hone_tensor_bytes(from.tensor);
    if (bytes) memcpy(out_value->tensor->data, from.tensor->data, bytes);
    return HONE_OK;
}

static hone_status run_bind(frame *f, const hone_gbind *bind, gvalue *out_value) {
    const char *name = f->graph->values[bind->value].name;
    switch (bind->kind) {
    case HONE_GBIND_CALL_TIR:
        return frame_call_tir(f, bind, out_value);
    case HONE_GBIND_CALL_DPS:
    case HONE_GBIND_CALL_PACKED:
        return frame_call_external(f, bind, out_value);
    case HONE_GBIND_CALL_FUNC:
        return call_graph(f, bind->callee, bind->arg_count, bind->args, out_value);
    case HONE_GBIND_TUPLE_GET:
        return tuple_get(f, bind, out_value);
    case HONE_GBIND_ARG:
    case HONE_GBIND_MATCH_CAST:
        if (bind->arg_count != 1) return HONE_ERROR(HONE_CODE_ILLEGAL, "one value is wanted");
        HONE_TRY(frame_eval(f, &bind->args[0], out_value));
        if (bind->kind == HONE_GBIND_ARG) return HONE_OK;
        HONE_TRY(frame_match(f, name, frame_info(f, bind), out_value, true));
        return frame_match(f, name, frame_info(f, bind), out_value, false);
    case HONE_GBIND_CALL:
        if (bind->callee && strcmp(bind->callee, "tensor_to_shape") == 0) {
            return tensor_to_shape(f, bind, out_value);
        }
        if (bind->callee && strcmp(bind->callee, "reshape") == 0) {
            return reshape(f, bind, out_value);
        }
        if (bind->callee && strcmp(bind->callee, "loop") == 0)
            return frame_loop(f, bind, out_value);
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
            HONE_TRY(frame_match(f, info->name, info->sinfo, &inputs[i], lone));
        }
    }
    return HONE_OK;
}

static hone_status take_results(frame *f, hone_tensor ***out_results, size_t *out_count) {
    gvalue value;
    frame_args c = {.count = 0};
    hone_status st = HONE_OK;
    HONE_TRY(frame_eval(f, &f->graph->result, &value));
    HONE_TRY(frame_push(f, &c, &value));
    hone_tensor **results = hone_calloc(c.count + 1, sizeof *results);
    if (!results) return frame_no_memory();
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
    if (!f->values || !f->sizes) return frame_no_memory();
    HONE_TRY(bind_inputs(f, inputs));
    for (uint32_t i = 0; i < f->graph->bind_count; i++) {
        const hone_gbind *bind = &f->graph->bindings[i];
        if (bind->value >= f->graph->value_count) {
            return HONE_ERROR(HONE_CODE_ILLEGAL, "a binding defines a value that does not exist");
        }
        hone_status st = run_bind(f, bind, &f->values[bind->value]);
        if (f->depth < MAX_TOLD) /* of a function that calls itself, its name again and again */
            st = hone_graph_annotate_bind(f->graph, i, st);
        HONE_TRY(st);
    }
    return take_results(f, out_results, out_count);
}

hone_status frame_run_graph(const hone_module *module, const hone_graph_func *graph,
                            const gvalue *inputs, uint32_t depth,
                            const hone_interp_options *options, hone_tensor ***out_results,
                            size_t *out_count) {
    if (depth > MAX_DEPTH) {
        return HONE_ERROR(HONE_CODE_ILLEGAL, "'%s' calls itself without end", graph->name);
    }
    frame f = {.module = module, .graph = graph, .options = options, .depth = depth};
    f.arena = hone_arena_create(1 << 14);
    hone_status st = f.arena ? run_frame(&f, inputs, out_results, out_count) : frame_no_memory();
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
    if (!values) return frame_no_memory();
    for (size_t i = 0; i < input_count; i++) {
        values[i] = (gvalue){.kind = V_TENSOR, .tensor = inputs[i]};
    }
    hone_status st =
        frame_run_graph(module, member->graph, values, 0, options, out_results, out_count);
    hone_free(values);
    return st;
}
