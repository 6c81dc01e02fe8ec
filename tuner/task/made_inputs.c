/* tuner/task/made_inputs.c - fills inputs: what the user gives, or values that suit the program. */
#include "tuner/task/made_inputs.h"

#include <string.h>

#include "ir/values/input_fill.h"
#include "support/data/rng.h"

/* What is tried where what was derived does not do, for all that the user does not give. */
static const struct {
    hone_span whole, real;
} simple_fills[] = {
    {{0, 0}, {-1, 1}     },
    {{1, 1}, {0.5, 1.5}  },
    {{1, 3}, {0.25, 0.75}},
};

static hone_span span_of(hone_dtype dtype) {
    hone_generator g = hone_generator_default(dtype);
    return (hone_span){g.low, hone_generator_high(&g)};
}

static hone_generator generator_of(hone_dtype dtype, hone_span span) {
    if (hone_dtype_is_float(dtype)) {
        return (hone_generator){HONE_GENERATOR_UNIFORM, span.low, span.high};
    }
    return (hone_generator){HONE_GENERATOR_INTEGER, span.low, span.high + 1};
}

/* ---- values that no generator makes ---- */

static hone_tensor view_of(const hone_arg *arg, void *data) {
    return hone_tensor_view(data, arg->dtype, (int32_t)arg->rank, arg->shape);
}

static bool make_values(hone_made_inputs *inputs, uint32_t arg, const hone_input_values *found,
                        bool strictly) {
    const hone_arg *a = &inputs->manifest->args[arg];
    void *data = hone_arena_alloc(inputs->arena, (size_t)hone_arg_bytes(a) + 1);
    if (!data) return false;
    hone_rng root = hone_rng_from_seed(inputs->seed);
    hone_rng rng = hone_rng_split(&root, arg);
    hone_tensor view = view_of(a, data);
    if (!hone_input_values_fill(found, strictly, inputs->arena, &rng, &view)) return false;
    inputs->items[arg].values = data;
    return true;
}

static bool fill_as_found(hone_made_inputs *inputs, uint32_t arg, bool strictly) {
    const hone_input_values *found = &inputs->found[inputs->params[arg]];
    hone_made_input *item = &inputs->items[arg];
    *item = (hone_made_input){.generator =
                                  generator_of(inputs->manifest->args[arg].dtype, found->span)};
    return !(found->is_sorted || found->is_distinct) || make_values(inputs, arg, found, strictly);
}

static void fill_simply(hone_made_inputs *inputs, uint32_t arg, uint32_t n) {
    hone_dtype dtype = inputs->manifest->args[arg].dtype;
    hone_span span = hone_dtype_is_float(dtype) ? simple_fills[n].real : simple_fills[n].whole;
    inputs->items[arg] = (hone_made_input){.generator = generator_of(dtype, span)};
}

bool hone_made_inputs_fill(hone_made_inputs *inputs, uint32_t n, hone_status *out_status) {
    enum { FOUND = 2 }; /* as found: with offsets that are alike, and without */
    *out_status = HONE_OK;
    bool has_free = false;
    if (n >= FOUND + HONE_COUNT(simple_fills)) return false;
    for (uint32_t i = 0; i < inputs->manifest->arg_count; i++) {
        const hone_arg *arg = &inputs->manifest->args[i];
        if (inputs->is_given[i] || arg->role == HONE_ARG_OUT || hone_dtype_is_bool(arg->dtype)) {
            continue;
        }
        has_free = true;
        if (n >= FOUND) {
            fill_simply(inputs, i, n - FOUND);
        } else if (!fill_as_found(inputs, i, n > 0)) {
            *out_status = HONE_NO_MEMORY("made-up inputs");
            return false;
        }
    }
    return n == 0 || has_free;
}

/* ---- deriving ---- */

static hone_span span_of_tensor(const hone_tensor *tensor) {
    hone_span span = hone_span_none();
    for (int64_t i = 0, count = hone_tensor_count(tensor); i < count; i++)
        span = hone_span_join(span, hone_span_at(hone_tensor_get_f64(tensor, i)));
    return hone_span_is_empty(span) ? hone_span_of_type(tensor->dtype) : span;
}

static hone_status take_given(hone_made_inputs *inputs, const char *task,
                              const hone_given_input *given, bool *is_given) {
    if (strcmp(given->task, task) != 0) return HONE_OK;
    assert(given->arg < inputs->manifest->arg_count);
    const hone_arg *arg = &inputs->manifest->args[given->arg];
    assert(hone_dtype_equal(arg->dtype, given->tensor->dtype));
    assert(hone_arg_elements(arg) == hone_tensor_count(given->tensor));
    if (arg->role == HONE_ARG_OUT) {
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' of task '%s' is an output: nothing reads it",
                          arg->name, task);
    }
    hone_input_values *values = &inputs->found[inputs->params[given->arg]];
    values->span = span_of_tensor(given->tensor);
    values->is_given = is_given[given->arg] = true;
    inputs->items[given->arg].values = given->tensor->data;
    return HONE_OK;
}

static hone_status begin(const hone_func *func, hone_made_inputs *inputs, bool **out_is_given) {
    size_t count = inputs->manifest->arg_count;
    hone_arena *arena = inputs->arena;
    uint32_t *params = hone_arena_zalloc(arena, (count + 1) * sizeof *params);
    inputs->items = hone_arena_zalloc(arena, (count + 1) * sizeof *inputs->items);
    inputs->found =
        hone_arena_zalloc(arena, ((size_t)func->param_count + 1) * sizeof *inputs->found);
    *out_is_given = hone_arena_zalloc(arena, count + 1);
    if (!params || !inputs->items || !inputs->found || !*out_is_given)
        return HONE_NO_MEMORY("made-up inputs");
    uint32_t at = 0;
    for (uint32_t p = 0; p < func->param_count; p++) {
        if (func->params[p].buffer == HONE_NO_ID) continue;
        assert(at < count);
        const hone_arg *arg = &inputs->manifest->args[at];
        params[at] = p;
        inputs->found[p] =
            (hone_input_values){.span = span_of(arg->dtype), .is_input = arg->role != HONE_ARG_OUT};
        inputs->items[at++].generator = hone_generator_default(arg->dtype);
    }
    inputs->params = params;
    inputs->is_given = *out_is_given;
    return HONE_OK;
}

hone_status hone_made_inputs_derive(const hone_func *func, const char *task,
                                    const hone_manifest *manifest, uint64_t seed,
                                    const hone_given_input *given, size_t given_count,
                                    hone_arena *arena, hone_made_inputs *out_inputs) {
    bool *is_given;
    *out_inputs = (hone_made_inputs){.arena = arena, .manifest = manifest, .seed = seed};
    HONE_TRY(begin(func, out_inputs, &is_given));
    for (size_t i = 0; i < given_count; i++)
        HONE_TRY(take_given(out_inputs, task, &given[i], is_given));
    return hone_func_suit_inputs(func, arena, out_inputs->found, &out_inputs->problem);
}
