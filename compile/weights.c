/* compile/weights.c - what kernels compute of weights alone is computed here, and where weights
 * lie.
 *
 *   kernel + trace ─replay─► program ─split─► rest      ─► built instead of the kernel
 *                                       └───► constants ─► run by the interpreter for each call's
 *                                                          weights; the call takes the results
 *
 * So a schedule may lay out a weight as its loops want it (cache_read, a packing block of the
 * program itself, a transformation of filters) and the model does not pay for it at each call.
 * Weights that nobody reads any more are left out; equal ones are kept once. */

#include "compile/parts.h"
#include "ir/identity/structural.h"
#include "ir/interp/interp.h"
#include "ir/text/print/script_print.h"
#include "lower/signature/signature.h"
#include "schedule/state/schedule.h"

/* What would keep the interpreter busy for longer (about a minute) stays in the kernel. */
static const int64_t max_stores = INT64_C(1) << 28;

/* ---- the split ---- */

/* Drops a failure that the builder will meet as well, and report. */
static hone_status unless_refused(hone_status st) {
    if (hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    hone_status_free(st);
    return HONE_OK;
}

/* The program that the trace makes of the kernel, in the arena of the result; NULL when it makes
 * none, or another than it must: the builder will say why. */
static hone_status replay(const parts *p, const part_kernel *k, const hone_func **out_func) {
    hone_schedule *sch;
    *out_func = k->func;
    if (!k->trace) return HONE_OK;
    *out_func = NULL;
    hone_status st = hone_record_replay(k->trace, k->func, p->intrins, p->arena, &sch);
    if (st) return unless_refused(st);
    if (k->facts.source != HONE_COMPILE_RECORD ||
        hone_hash128_equal(hone_func_hash(sch->func), k->made)) {
        *out_func = hone_func_copy_deep(p->arena, sch->func);
        if (!*out_func) st = parts_no_memory();
    }
    hone_schedule_destroy(sch);
    return st;
}

static const bool *constant_params(const parts *p, const part_kernel *k) {
    bool *is_constant = hone_arena_zalloc(p->arena, k->func->param_count + 1);
    for (uint32_t i = 0; is_constant && i < k->func->param_count && i < 64; i++)
        is_constant[i] = k->constants >> i & 1;
    return is_constant;
}

/* Both must be called with the same sizes. */
static hone_status have_same_sizes(const parts *p, const hone_func *a, const hone_func *b,
                                   bool *out_same) {
    hone_signature of_a, of_b;
    HONE_TRY(hone_signature_of(a, p->arena, &of_a));
    HONE_TRY(hone_signature_of(b, p->arena, &of_b));
    *out_same = of_a.size_count == of_b.size_count;
    for (uint32_t i = 0; i < of_a.size_count && *out_same; i++)
        *out_same = of_a.sizes[i] == of_b.sizes[i];
    return HONE_OK;
}

static hone_status print_rest(const parts *p, part_kernel *k) {
    hone_str text = {0};
    hone_status st = hone_func_print(k->split->rest, NULL, &text);
    if (!st) {
        k->rest = hone_arena_strdup(p->arena, hone_str_text(&text));
        if (!k->rest) st = parts_no_memory();
    }
    hone_str_deinit(&text);
    return st;
}

/* Stores that a run makes; INT64_MAX when a loop is of no known length. */
static int64_t stores_of(const hone_func *func) {
    int64_t sum = 0;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        int64_t times = 1;
        if (hone_func_node(func, n)->kind != HONE_NODE_STORE) continue;
        for (hone_node_id up = n; up != HONE_NO_ID; up = hone_func_node(func, up)->parent) {
            const hone_node *loop = hone_func_node(func, up);
            if (loop->kind != HONE_NODE_FOR) continue;
            int64_t extent = hone_expr_const(loop->u.loop.range.extent);
            if (extent < 0 || __builtin_mul_overflow(times, extent, &times)) return INT64_MAX;
        }
        if (__builtin_add_overflow(sum, times, &sum)) return INT64_MAX;
    }
    return sum;
}

static hone_status split(parts *p, part_kernel *k, const hone_func *func) {
    const bool *is_constant = constant_params(p, k);
    hone_constant_split *made = hone_arena_zalloc(p->arena, sizeof *made);
    bool is_same = false;
    if (!is_constant || !made) return parts_no_memory();
    HONE_TRY(hone_split_constants(func, is_constant, p->arena, made));
    if (!made->rest || stores_of(made->constants) > max_stores) return HONE_OK;
    HONE_TRY(have_same_sizes(p, func, made->rest, &is_same));
    if (!is_same) return HONE_OK;
    k->split = made;
    return print_rest(p, k);
}

hone_status parts_split_kernel(parts *p, part_kernel *k) {
    const hone_func *func = NULL;
    k->split = NULL;
    if (k->constants == 0) return HONE_OK;
    HONE_TRY(replay(p, k, &func));
    return func ? split(p, k, func) : HONE_OK;
}

/* ---- packing ---- */

/* What was made of weights: where it lies, and its shape. */
typedef struct packed_weight {
    int64_t offset, bytes, shape[HONE_MAX_RANK];
    int32_t rank;
} packed_weight;

/* What one call's weights were made into: the same weights give the same. */
typedef struct packing {
    parts *p;
    hone_map128 done; /* kernel and inputs → index of the first of its outputs in made */
    HONE_VEC(packed_weight) made;
} packing;

static hone_status make_output(const hone_func *func, hone_buffer buffer, hone_tensor **out) {
    const hone_buffer_info *info = &func->buffers[buffer];
    int64_t shape[HONE_MAX_RANK];
    for (uint32_t d = 0; d < info->rank; d++)
        shape[d] = hone_expr_const(info->shape[d]);
    return hone_tensor_create(info->dtype, (int32_t)info->rank, shape, out);
}

static hone_status keep_output(packing *pk, const hone_tensor *tensor) {
    packed_weight made = {.rank = tensor->rank, .bytes = (int64_t)hone_tensor_bytes(tensor)};
    for (int32_t d = 0; d < tensor->rank; d++)
        made.shape[d] = tensor->shape[d];
    HONE_TRY(parts_put_weight(pk->p, tensor, &made.offset));
    return hone_vec_push(&pk->made, made) ? HONE_OK : parts_no_memory();
}

/* Runs the split with these inputs; args has room for the outputs, which are gone afterwards. */
static hone_status make_outputs(packing *pk, const part_kernel *k, hone_tensor **args) {
    const hone_constant_split *split = k->split;
    hone_tensor **outputs = args + split->input_count;
    hone_status st = HONE_OK;
    for (uint32_t i = 0; i < split->output_count && !st; i++)
        st = make_output(split->constants, split->outputs[i], &outputs[i]);
    if (!st) {
        st = hone_interp_func(split->constants, args, split->input_count + split->output_count,
                              &(hone_interp_options){0});
        if (st) st = hone_status_annotate(st, "kernel '%s': laying out its weights", k->facts.name);
    }
    for (uint32_t i = 0; i < split->output_count; i++) {
        if (!st) st = keep_output(pk, outputs[i]);
        hone_tensor_destroy(outputs[i]);
    }
    return st;
}

/* The weight with the dimensions of a parameter: those of a view that the graph has of it. */
static hone_tensor *as_param(parts *p, const hone_func *func, uint32_t param,
                             const hone_tensor *weight) {
    const hone_buffer_info *info = &func->buffers[func->params[param].buffer];
    hone_tensor *seen = hone_arena_copy(p->arena, weight, sizeof *seen);
    if (!seen || hone_buffer_elements(info) != hone_tensor_count(weight)) return seen;
    seen->rank = (int32_t)info->rank;
    for (uint32_t d = 0; d < info->rank; d++)
        seen->shape[d] = hone_expr_const(info->shape[d]);
    return seen;
}

/* *out_first: index of the first output in pk->made. */
static hone_status pack(packing *pk, const part_kernel *k, const part_plan *plan,
                        const part_step *step, size_t *out_first) {
    const hone_constant_split *split = k->split;
    uint32_t count = split->input_count + split->output_count;
    hone_tensor **args = hone_arena_zalloc(pk->p->arena, (count + 1) * sizeof *args);
    if (!args) return parts_no_memory();
    hone_hasher hasher;
    hone_hasher_init(&hasher, (uint64_t)(k - pk->p->kernels.data));
    for (uint32_t i = 0; i < split->input_count; i++) {
        const hone_tensor *weight = plan->tensors.data[step->args[split->inputs[i]]].weight;
        args[i] = as_param(pk->p, split->constants, i, weight); /* only read */
        if (!args[i]) return parts_no_memory();
        hone_hasher_bytes(&hasher, weight->data, hone_tensor_bytes(weight));
    }
    hone_hash128 key = hone_hasher_finish(&hasher);
    uint64_t known;
    if (hone_map128_find(&pk->done, key, &known)) {
        *out_first = (size_t)known;
        return HONE_OK;
    }
    *out_first = pk->made.count;
    if (!hone_map128_put(&pk->done, key, *out_first)) return parts_no_memory();
    return make_outputs(pk, k, args);
}

static hone_status add_tensor(parts *p, part_plan *plan, const packed_weight *weight,
                              int32_t *out_index) {
    part_tensor made = {
        .row = {.place = HONE_MT_WEIGHT, .rank = weight->rank, .offset = weight->offset},
    };
    int32_t *shape = hone_arena_alloc(p->arena, ((size_t)weight->rank + 1) * sizeof *shape);
    if (!shape) return parts_no_memory();
    bool is_made = true;
    for (int32_t d = 0; d < weight->rank; d++) {
        shape[d] = part_value_const(plan, weight->shape[d]);
        is_made &= shape[d] >= 0;
    }
    made.shape = shape;
    made.row.bytes = part_value_const(plan, weight->bytes);
    *out_index = (int32_t)plan->tensors.count;
    is_made &= made.row.bytes >= 0 && hone_vec_push(&plan->tensors, made);
    return is_made ? HONE_OK : parts_no_memory();
}

static hone_status pack_step(packing *pk, part_plan *plan, part_step *step) {
    parts *p = pk->p;
    const part_kernel *k = &p->kernels.data[step->kernel];
    const hone_constant_split *split = k->split;
    if (!split) return HONE_OK;
    size_t first;
    HONE_TRY(pack(pk, k, plan, step, &first));
    int32_t *args = hone_arena_alloc(p->arena, (split->arg_count + 1) * sizeof *args);
    if (!args) return parts_no_memory();
    for (uint32_t i = 0; i < split->arg_count; i++) {
        int32_t from = split->args[i];
        if (from >= 0) {
            args[i] = step->args[from];
            continue;
        }
        HONE_TRY(add_tensor(p, plan, &pk->made.data[first + (size_t)(-1 - from)], &args[i]));
    }
    step->args = args;
    step->arg_count = split->arg_count;
    return HONE_OK;
}

/* ---- places ---- */

static hone_status lay_step(packing *pk, part_plan *plan, part_step *step) {
    if (step->kind == HONE_MT_KERNEL) HONE_TRY(pack_step(pk, plan, step));
    for (uint32_t i = 0; i < step->arg_count; i++) {
        part_tensor *tensor = &plan->tensors.data[step->args[i]];
        if (tensor->weight) HONE_TRY(parts_put_weight(pk->p, tensor->weight, &tensor->row.offset));
    }
    return HONE_OK;
}

static hone_status lay_plan(packing *pk, part_plan *plan) {
    for (size_t s = 0; s < plan->steps.count; s++)
        HONE_TRY(lay_step(pk, plan, &plan->steps.data[s]));
    return HONE_OK;
}

static hone_status lay_entry(packing *pk, part_entry *entry) {
    for (size_t i = 0; i < entry->plans.count; i++)
        HONE_TRY(lay_plan(pk, &entry->plans.data[i]));
    return HONE_OK;
}

hone_status parts_lay_weights(parts *p) {
    packing pk = {.p = p};
    hone_status st = HONE_OK;
    for (size_t e = 0; e < p->entries.count && !st; e++)
        st = lay_entry(&pk, &p->entries.data[e]);
    hone_map128_deinit(&pk.done);
    hone_vec_deinit(&pk.made);
    return st;
}
