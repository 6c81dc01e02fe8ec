/* graph/frontend/onnx_loop.c - Loop and Scan: what their attributes and inputs say of their turns.
 */
#include <string.h>

#include "graph/frontend/onnx_turns.h"

/* ---- Loop ---- */

static hone_status read_limit(onnx_reader *r, onnx_turns *t) {
    const hone_expr *known[ONNX_MAX_KNOWN];
    uint32_t count;
    int32_t rank;
    t->known = INT64_MAX;
    t->limit = (hone_garg){.kind = HONE_GARG_PRIM, .u.expr = hone_extent_int(&r->ir, INT64_MAX)};
    if (!onnx_has_input(r, 0)) return hone_ir_finish(&r->ir);
    if (!onnx_known_ints(r, &r->inputs[0], &count, known, &rank)) {
        t->limit = r->inputs[0];
        t->known = -1;
        return HONE_OK;
    }
    if (count != 1) return HONE_ERROR(HONE_CODE_INVALID, "the trip count (input 0) is no scalar");
    t->limit.u.expr = known[0];
    t->known = hone_expr_const(known[0]);
    if (hone_expr_is_int(known[0]) && known[0]->u.i < 0) t->known = 0;
    return HONE_OK;
}

static hone_status convert_loop(onnx_reader *r, hone_garg *out) {
    bool begins = true;
    onnx_turns t = {.condition = {.kind = HONE_GARG_NONE}};
    size_t inputs = r->node->n_input; /* absent optionals at the end count */
    t.state_count = inputs > 2 ? (uint32_t)inputs - 2 : 0;
    HONE_TRY(onnx_begin_turns(r, &t, 2));
    HONE_TRY(read_limit(r, &t));
    if (onnx_has_input(r, 1)) {
        t.condition = r->inputs[1];
        if (onnx_known_truth(r, &r->inputs[1], &begins)) t.condition.kind = HONE_GARG_NONE;
    }
    if (!begins) t.known = 0;
    HONE_TRY(onnx_run_loop(r, &t));
    memcpy(out, t.results, (t.state_count + t.scan_count) * sizeof *out);
    return HONE_OK;
}

/* ---- Scan ---- */

typedef struct scan_attrs {
    int64_t inputs[ONNX_MAX_OUTPUTS], reversed[ONNX_MAX_OUTPUTS];
    int64_t output_axes[ONNX_MAX_OUTPUTS], output_reversed[ONNX_MAX_OUTPUTS];
} scan_attrs;

static hone_status flip(onnx_reader *r, int64_t axis, hone_garg *io) {
    hone_attr attr = {"axis", HONE_VALUE_OF_INT(axis)};
    return onnx_emit(r, "flip", 1, io, 1, &attr, io);
}

/* Everything as if it were scanned forwards. */
static hone_status prepare_wholes(onnx_reader *r, onnx_turns *t, const scan_attrs *attrs) {
    const hone_expr *turn_count = NULL;
    for (uint32_t w = 0; w < t->whole_count; w++) {
        const hone_sinfo *info;
        int32_t axis;
        HONE_TRY(onnx_as_tensor(r, &t->wholes[w]));
        HONE_TRY(onnx_info(r, &t->wholes[w], &info));
        HONE_TRY(onnx_axis(r, attrs->inputs[w], info->rank, &axis));
        t->axes[w] = axis;
        if (turn_count && hone_extent_differs(turn_count, info->shape[axis])) {
            return HONE_ERROR(HONE_CODE_INVALID, "scan input %u has another number of items", w);
        }
        turn_count = info->shape[axis];
        if (attrs->reversed[w]) HONE_TRY(flip(r, axis, &t->wholes[w]));
    }
    if (!turn_count) return HONE_ERROR(HONE_CODE_INVALID, "there is no scan input");
    t->limit = (hone_garg){.kind = HONE_GARG_PRIM, .u.expr = turn_count};
    t->known = hone_expr_const(turn_count);
    return HONE_OK;
}

static hone_status finish_scan(onnx_reader *r, const scan_attrs *attrs, uint32_t i, hone_garg *io) {
    const hone_sinfo *info;
    int64_t axes[HONE_MAX_RANK];
    int32_t axis;
    if (attrs->output_reversed[i]) HONE_TRY(flip(r, 0, io));
    HONE_TRY(onnx_info(r, io, &info));
    HONE_TRY(onnx_axis(r, attrs->output_axes[i], info->rank, &axis));
    if (axis == 0) return HONE_OK;
    for (int32_t d = 0; d < info->rank; d++)
        axes[d] = d < axis ? d + 1 : d == axis ? 0 : d;
    return onnx_emit_permute(r, *io, (uint32_t)info->rank, axes, io);
}

static hone_status run_scan(onnx_reader *r, onnx_turns *t, const scan_attrs *attrs) {
    HONE_TRY(prepare_wholes(r, t, attrs));
    HONE_TRY(onnx_run_turns(r, t));
    for (uint32_t i = 0; i < t->scan_count; i++)
        HONE_TRY(finish_scan(r, attrs, i, &t->results[t->state_count + i]));
    return HONE_OK;
}

enum { MOST_BATCHES = 256 };

/* Opset 8: each batch is scanned for itself, and what comes out is stacked. */
static hone_status run_batches(onnx_reader *r, const onnx_turns *all, const scan_attrs *attrs,
                               hone_garg *out) {
    const hone_sinfo *info;
    uint32_t results = all->state_count + all->scan_count;
    HONE_TRY(onnx_info(r, &all->wholes[0], &info));
    int64_t batches = info->rank > 0 ? hone_expr_const(info->shape[0]) : -1;
    if (batches < 1 || batches > MOST_BATCHES) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "the number of batches must be known, and at most %d", MOST_BATCHES);
    }
    hone_garg *made = hone_arena_zalloc(r->arena, (size_t)(batches * results + 1) * sizeof *made);
    if (!made) return HONE_NO_MEMORY("model");
    for (int64_t b = 0; b < batches; b++) {
        onnx_turns t = *all;
        hone_garg i = {.kind = HONE_GARG_PRIM, .u.expr = hone_extent_int(&r->ir, b)};
        HONE_TRY(onnx_begin_turns(r, &t, 1));
        for (uint32_t s = 0; s < t.state_count; s++)
            HONE_TRY(onnx_item(r, t.states[s], i, 0, &t.states[s]));
        for (uint32_t w = 0; w < t.whole_count; w++)
            HONE_TRY(onnx_item(r, t.wholes[w], i, 0, &t.wholes[w]));
        HONE_TRY(run_scan(r, &t, attrs));
        for (uint32_t k = 0; k < results; k++)
            made[k * (uint32_t)batches + b] = t.results[k];
    }
    for (uint32_t k = 0; k < results; k++)
        HONE_TRY(onnx_stack(r, (uint32_t)batches, made + k * batches, 0, &out[k]));
    return HONE_OK;
}

static hone_status list_attr(const onnx_reader *r, const char *name, uint32_t count, int64_t *out) {
    return onnx_attr_ints_n(r, name, count, 0, out);
}

static hone_status convert_scan(onnx_reader *r, hone_garg *out) {
    bool has_batch = r->opset < 9;
    int64_t wholes;
    onnx_turns t = {.is_scan = true, .condition = {.kind = HONE_GARG_NONE}};
    scan_attrs attrs = {0};
    HONE_TRY(onnx_attr_int(r, "num_scan_inputs", 0, &wholes));
    if (wholes < 1 || wholes > ONNX_MAX_OUTPUTS || wholes + has_batch > r->input_count) {
        return HONE_ERROR(HONE_CODE_INVALID, "num_scan_inputs is %lld, of %u inputs",
                          (long long)wholes, r->input_count);
    }
    t.whole_count = (uint32_t)wholes;
    t.state_count = r->input_count - has_batch - t.whole_count;
    HONE_TRY(onnx_begin_turns(r, &t, has_batch));
    HONE_TRY(list_attr(r, has_batch ? "directions" : "scan_input_directions", t.whole_count,
                       attrs.reversed));
    HONE_TRY(list_attr(r, "scan_input_axes", t.whole_count, attrs.inputs));
    HONE_TRY(list_attr(r, "scan_output_axes", t.scan_count, attrs.output_axes));
    HONE_TRY(list_attr(r, "scan_output_directions", t.scan_count, attrs.output_reversed));
    if (has_batch && onnx_has_input(r, 0)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "sequence_lens (input 0) are not implemented");
    }
    if (has_batch) return run_batches(r, &t, &attrs, out);
    HONE_TRY(run_scan(r, &t, &attrs));
    memcpy(out, t.results, (t.state_count + t.scan_count) * sizeof *out);
    return HONE_OK;
}

const onnx_converter onnx_loop_converters[] = {
    {"Loop",            convert_loop, 0, 255, ONNX_MAX_OUTPUTS, "body", NULL},
    {"Scan",                convert_scan, 0, 255, ONNX_MAX_OUTPUTS,
     "body num_scan_inputs directions scan_input_axes scan_input_directions scan_output_axes "
     "scan_output_directions", NULL},
    {0},
};
