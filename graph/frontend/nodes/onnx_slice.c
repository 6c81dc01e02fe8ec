/* graph/frontend/nodes/onnx_slice.c - Slice: with numbers, with sizes that come later, or with what
 * is computed. */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

typedef struct bounds {
    uint32_t count;
    const hone_expr *starts[ONNX_MAX_KNOWN], *ends[ONNX_MAX_KNOWN]; /* NULL: computed */
    int64_t axes[HONE_MAX_RANK], steps[HONE_MAX_RANK];              /* steps: 0 = computed */
} bounds;

enum { STARTS = 1, ENDS, AXES, STEPS }; /* inputs */

static int64_t clamp_index(int64_t index, int64_t count) {
    if (index < 0) index += count;
    return index < 0 ? 0 : index > count ? count : index;
}

/* NULL is what is computed. */
static bool is_number_at(const hone_expr *e) {
    return e && hone_expr_is_int(e);
}

/* A slice of known integers, forwards. */
static bool slice_ints(onnx_reader *r, int64_t begin, int64_t end, int64_t step, hone_garg *out) {
    const hone_expr *from[ONNX_MAX_KNOWN], *to[ONNX_MAX_KNOWN];
    uint32_t count, taken = 0;
    int32_t rank;
    bool is_known = r->inputs[0].kind == HONE_GARG_SHAPE || r->inputs[0].kind == HONE_GARG_PRIM;
    if (!is_known || step < 1 || step > ONNX_MAX_KNOWN ||
        !onnx_known_ints(r, &r->inputs[0], &count, from, &rank)) {
        return false;
    }
    begin = clamp_index(begin, count);
    end = clamp_index(end, count);
    for (int64_t i = begin; i < end; i += step)
        to[taken++] = from[i];
    hone_status st = onnx_make_ints(r, taken, to, 1, out);
    if (st) hone_status_free(st);
    return !st;
}

/* Of a list; -1 where that is not known. */
static int64_t length_of(onnx_reader *r, uint32_t input) {
    const hone_expr *known[ONNX_MAX_KNOWN];
    const hone_sinfo *info;
    uint32_t count;
    int32_t ignored;
    if (!onnx_has_input(r, input)) return -1;
    if (onnx_known_ints(r, &r->inputs[input], &count, known, &ignored)) return count;
    if (hone_status_consume(onnx_input_info(r, input, &info)) != HONE_CODE_OK) return -1;
    return info->rank == 1 ? hone_expr_const(info->shape[0]) : -1;
}

/* As many as another of the lists has, which are as long; indices that are cut out of a list, from
 * i to i + 1, are one. */
static int64_t likely_length(onnx_reader *r) {
    for (uint32_t input = STARTS; input <= STEPS; input++) {
        int64_t length = length_of(r, input);
        if (length >= 0) return length;
    }
    return 1;
}

/* What is computed: only how many there are is known, or demanded. */
static hone_status count_indices(onnx_reader *r, uint32_t input, const char *name,
                                 uint32_t *out_count, const hone_expr **out) {
    const hone_sinfo *info;
    HONE_TRY(onnx_input_info(r, input, &info));
    int64_t count = info->rank == 1 ? hone_expr_const(info->shape[0]) : -1;
    if (info->rank == 1 && count < 0) {
        count = likely_length(r);
        HONE_TRY(onnx_demand_size(r, &r->inputs[input], 0, count));
    }
    if (count < 0 || count > HONE_MAX_RANK) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "%s (input %u) must be constant, or of a known length up to %d", name,
                          input, HONE_MAX_RANK);
    }
    memset(out, 0, (size_t)count * sizeof *out);
    *out_count = (uint32_t)count;
    return HONE_OK;
}

/* starts, ends: attributes up to opset 9, inputs since. */
static hone_status read_indices(onnx_reader *r, uint32_t input, const char *name,
                                const hone_expr **out, uint32_t *out_count) {
    int64_t ints[HONE_MAX_RANK];
    int32_t ignored;
    if (onnx_has_input(r, input)) {
        if (!onnx_known_ints(r, &r->inputs[input], out_count, out, &ignored)) {
            return count_indices(r, input, name, out_count, out);
        }
        return *out_count <= HONE_MAX_RANK ? HONE_OK
                                           : HONE_ERROR(HONE_CODE_INVALID, "%u %s, at most %d fit",
                                                        *out_count, name, HONE_MAX_RANK);
    }
    HONE_TRY(onnx_attr_ints(r, name, HONE_MAX_RANK, ints, out_count));
    for (uint32_t i = 0; i < *out_count; i++)
        out[i] = hone_extent_int(&r->ir, ints[i]);
    return hone_ir_finish(&r->ir);
}

/* axes, steps; what they are without being given. */
static hone_status read_numbers(onnx_reader *r, uint32_t input, const char *name, uint32_t count,
                                int64_t *out) {
    uint32_t given;
    if (onnx_has_input(r, input)) {
        HONE_TRY(onnx_const_ints(r, input, name, HONE_MAX_RANK, out, &given));
    } else {
        HONE_TRY(onnx_attr_ints(r, name, HONE_MAX_RANK, out, &given));
    }
    if (given == count) return HONE_OK;
    if (given) return HONE_ERROR(HONE_CODE_INVALID, "%u %s for %u starts", given, name, count);
    for (uint32_t i = 0; i < count; i++)
        out[i] = input == AXES ? (int64_t)i : 1;
    return HONE_OK;
}

/* A list of a length that comes later, without axes, as one with an item for each axis: what is
 * added to it leaves that axis whole. */
static hone_status fill_up(onnx_reader *r, uint32_t input, int32_t rank, int64_t whole) {
    hone_garg parts[2];
    const hone_expr *items[HONE_MAX_RANK];
    if (!onnx_has_input(r, input)) return HONE_OK;
    for (int32_t d = 0; d < rank; d++)
        items[d] = hone_extent_int(&r->ir, whole);
    HONE_TRY(onnx_emit_cast(r, r->inputs[input], HONE_DTYPE_I64, &parts[0]));
    HONE_TRY(onnx_sizes_tensor(r, (uint32_t)rank, items, &parts[1]));
    HONE_TRY(onnx_emit_concat(r, 2, parts, 0, &parts[0]));
    HONE_TRY(onnx_indices(r, hone_extent_int(&r->ir, rank), 1, 0, &parts[1]));
    return onnx_emit_take(r, parts[0], parts[1], 0, &r->inputs[input]);
}

/* Where no list says how many axes there are; in loops, that is one index (is_one_index). */
static hone_status fill_lists(onnx_reader *r) {
    bool is_open = !onnx_has_input(r, AXES) && onnx_has_input(r, STARTS);
    for (uint32_t input = STARTS; is_open && input <= STEPS; input++)
        is_open = !onnx_has_input(r, input) || length_of(r, input) < 0;
    const hone_sinfo *data;
    if (!is_open || (r->scope && r->scope->around)) return HONE_OK;
    HONE_TRY(onnx_as_tensor(r, &r->inputs[0]));
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(fill_up(r, STARTS, data->rank, 0));
    HONE_TRY(fill_up(r, ENDS, data->rank, INT64_MAX));
    return fill_up(r, STEPS, data->rank, 1);
}

static hone_status read_bounds(onnx_reader *r, bounds *b) {
    uint32_t ends;
    HONE_TRY(fill_lists(r));
    HONE_TRY(read_indices(r, STARTS, "starts", b->starts, &b->count));
    HONE_TRY(read_indices(r, ENDS, "ends", b->ends, &ends));
    if (ends != b->count) {
        return HONE_ERROR(HONE_CODE_INVALID, "%u ends for %u starts", ends, b->count);
    }
    HONE_TRY(read_numbers(r, AXES, "axes", b->count, b->axes));
    const hone_expr *steps[ONNX_MAX_KNOWN];
    uint32_t count;
    int32_t rank;
    memset(b->steps, 0, sizeof b->steps);
    bool is_computed =
        onnx_has_input(r, STEPS) && !onnx_known_ints(r, &r->inputs[STEPS], &count, steps, &rank);
    if (is_computed) return HONE_OK;
    HONE_TRY(read_numbers(r, STEPS, "steps", b->count, b->steps));
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->steps[i] == 0) return HONE_ERROR(HONE_CODE_INVALID, "step %u is 0", i);
    }
    return HONE_OK;
}

/* ---- numbers ---- */

/* strided_slice begins nowhere where it runs backwards from an index in front of the data; the
 * standard clamps that to the first element. */
static int64_t first_of(int64_t start, int64_t step, int64_t extent) {
    return step < 0 && start < -extent ? 0 : start;
}

static hone_status emit_slice(onnx_reader *r, uint32_t count, const int64_t *const lists[4],
                              hone_garg *io) {
    hone_garg args[5] = {*io};
    for (uint32_t i = 0; i < 4; i++)
        HONE_TRY(onnx_int_items(r, count, lists[i], &args[i + 1]));
    return onnx_emit(r, "strided_slice", 5, args, 0, NULL, io);
}

/* ---- sizes: the indices that are left are taken ---- */

/* Is an extent surely that large? Sizes are 1 at least. */
static bool is_at_least(const onnx_reader *r, const hone_expr *extent, int64_t least) {
    if (least <= 1) return true;
    if (hone_expr_is_int(extent)) return extent->u.i >= least;
    if (!hone_expr_is_op(extent, HONE_OP_ADD)) return false;
    const hone_expr *a = extent->args[0], *b = extent->args[1];
    const hone_expr *number = hone_expr_is_int(a) ? a : b, *other = number == a ? b : a;
    return hone_expr_is_int(number) && onnx_is_no_negative(r, other) && number->u.i + 1 >= least;
}

/* How many a slice along an axis of any extent leaves, that begins at a number; NULL: that is not
 * known. Negative indices count from the end. */
static const hone_expr *left_of(onnx_reader *r, int64_t start, const hone_expr *end,
                                const hone_expr *extent) {
    bool is_number = hone_expr_is_int(end);
    int64_t number = is_number ? end->u.i : 0;
    bool is_all = is_number && number >= INT32_MAX;
    if (start < 0) {
        bool is_known = (is_all || (is_number && number < 0)) && is_at_least(r, extent, -start);
        return is_known ? hone_extent_int(&r->ir, (is_all ? 0 : number) - start) : NULL;
    }
    if (is_number && !is_all && number >= 0) return NULL;
    if (is_number && number <= -INT32_MAX) return hone_extent_int(&r->ir, 0);
    const hone_expr *to = is_all      ? extent
                          : is_number ? hone_extent_add(&r->ir, extent, number)
                                      : end;
    return hone_extent_add(&r->ir, to, -start);
}

/* How many a slice of step 1 leaves, which begins at a size; NULL: it is not known. */
static const hone_expr *left_from(onnx_reader *r, const hone_expr *start, const hone_expr *end,
                                  const hone_expr *extent) {
    bool is_all = hone_expr_is_int(end) && end->u.i >= INT32_MAX;
    const hone_expr *to = is_all ? extent : end;
    if (!onnx_is_no_negative(r, start) || !onnx_is_no_negative(r, to)) return NULL;
    return hone_extent_sum(&r->ir, to, hone_extent_mul(&r->ir, start, hone_extent_int(&r->ir, -1)));
}

/* Item i of an input, or the size that it is known to be. */
static hone_status bound_tensor(onnx_reader *r, uint32_t input, uint32_t i, const hone_expr *known,
                                hone_garg *out) {
    return known ? onnx_sizes_tensor(r, 1, &known, out)
                 : onnx_emit_item(r, r->inputs[input], i, out);
}

static bool read_one_int(const onnx_reader *r, const hone_garg *arg, int64_t *out) {
    const hone_tensor *tensor = onnx_constant_of(r, arg);
    bool is_one = tensor && hone_dtype_is_integer(tensor->dtype) && hone_tensor_count(tensor) == 1;
    if (is_one) *out = hone_tensor_get_i64(tensor, 0);
    return is_one;
}

/* What a number was computed of by adding constants, whose sum is added to *io_more. */
static hone_garg origin_of(const onnx_reader *r, hone_garg arg, int64_t *io_more) {
    enum { MOST_STEPS = 8 };
    for (int step = 0; step < MOST_STEPS && arg.kind == HONE_GARG_VALUE; step++) {
        const hone_gbind *bind = onnx_bind_of(r, arg.u.value);
        int64_t more = 0;
        bool is_call = bind && bind->kind == HONE_GBIND_CALL;
        bool is_view = is_call && strcmp(bind->callee, "reshape") == 0;
        bool is_sum =
            is_call && strcmp(bind->callee, "add") == 0 && read_one_int(r, &bind->args[1], &more);
        if (!is_view && !is_sum && !(bind && bind->kind == HONE_GBIND_ARG)) break;
        *io_more += more;
        arg = bind->args[0];
    }
    return arg;
}

/* From i to i + 1, where i is computed in a turn of a loop: that is one index, as long as the loop
 * stays within the data. */
static bool is_one_index(const onnx_reader *r, const bounds *b, uint32_t i) {
    int64_t from = 0, to = 0;
    bool is_inside = r->scope && r->scope->around;
    if (!is_inside || b->count != 1 || b->starts[i] || b->ends[i] || b->steps[i] != 1) return false;
    hone_garg start = origin_of(r, r->inputs[STARTS], &from);
    hone_garg end = origin_of(r, r->inputs[ENDS], &to);
    return start.kind == HONE_GARG_VALUE && end.kind == HONE_GARG_VALUE &&
           start.u.value == end.u.value && to - from == 1;
}

static hone_status take_computed(onnx_reader *r, const bounds *b, uint32_t i, int32_t axis,
                                 const hone_expr *extent, hone_garg *io) {
    onnx_slice slice;
    hone_garg indices;
    const hone_expr *step = b->steps[i] ? hone_extent_int(&r->ir, b->steps[i]) : NULL;
    HONE_TRY(bound_tensor(r, STARTS, i, b->starts[i], &slice.start));
    HONE_TRY(bound_tensor(r, ENDS, i, b->ends[i], &slice.end));
    HONE_TRY(bound_tensor(r, STEPS, i, step, &slice.step));
    HONE_TRY(onnx_emit_indices(r, &slice, extent, &indices));
    HONE_TRY(onnx_emit_take(r, *io, indices, axis, io));
    return is_one_index(r, b, i) ? onnx_demand_size(r, io, axis, 1) : HONE_OK;
}

static hone_status take_indices(onnx_reader *r, const bounds *b, uint32_t i, int32_t axis,
                                const hone_expr *extent, hone_garg *io) {
    const hone_expr *left = NULL;
    hone_garg start;
    bool is_known = b->starts[i] && b->ends[i] && b->steps[i] == 1;
    bool is_number = is_number_at(b->starts[i]) && b->starts[i]->u.i > INT32_MIN &&
                     b->starts[i]->u.i < INT32_MAX;
    if (is_known && is_number)
        left = left_of(r, b->starts[i]->u.i, b->ends[i], extent);
    else if (is_known && !hone_expr_is_int(b->starts[i]))
        left = left_from(r, b->starts[i], b->ends[i], extent);
    if (!left) return take_computed(r, b, i, axis, extent, io);
    bool is_first = hone_expr_is_int_value(b->starts[i], 0);
    if (is_first && hone_extent_same(left, extent)) return HONE_OK;
    if (hone_expr_is_int(left) && left->u.i < 1) left = hone_extent_int(&r->ir, 0);
    hone_garg args[] = {*io, {0}};
    HONE_TRY(onnx_indices(r, left, 1, 0, &args[1]));
    HONE_TRY(onnx_make_ints(r, 1, &b->starts[i], 0, &start));
    if (!is_first) HONE_TRY(onnx_emit2(r, "add", args[1], start, &args[1]));
    hone_attr attrs[] = {
        {"axis", HONE_VALUE_OF_INT(axis)       },
        {"mode", HONE_VALUE_OF_STRING("signed")}
    };
    return onnx_emit(r, "take", 2, args, 2, attrs, io);
}

/* From the last one to the first. */
static bool is_turned(const bounds *b, uint32_t i) {
    return b->steps[i] == -1 && is_number_at(b->starts[i]) && b->starts[i]->u.i == -1 &&
           is_number_at(b->ends[i]) && b->ends[i]->u.i <= -INT32_MAX;
}

static hone_status take_some(onnx_reader *r, const bounds *b, uint32_t i, int32_t axis,
                             const hone_expr *extent, hone_garg *io) {
    hone_attr attr = {"axis", HONE_VALUE_OF_INT(axis)};
    return is_turned(b, i) ? onnx_emit(r, "flip", 1, io, 1, &attr, io)
                           : take_indices(r, b, i, axis, extent, io);
}

/* All that have numbers together, then the others one by one. */
static hone_status convert_slice(onnx_reader *r, hone_garg *out) {
    bounds b;
    const hone_sinfo *data;
    int64_t starts[HONE_MAX_RANK], ends[HONE_MAX_RANK], axes[HONE_MAX_RANK], steps[HONE_MAX_RANK];
    const int64_t *const lists[] = {axes, starts, ends, steps};
    uint32_t count = 0;
    HONE_TRY(read_bounds(r, &b));
    bool are_ints = b.count == 1 && is_number_at(b.starts[0]) && is_number_at(b.ends[0]);
    if (are_ints && slice_ints(r, b.starts[0]->u.i, b.ends[0]->u.i, b.steps[0], out))
        return HONE_OK;
    HONE_TRY(onnx_as_tensor(r, &r->inputs[0]));
    HONE_TRY(onnx_input_info(r, 0, &data));
    *out = r->inputs[0];
    bool is_number[HONE_MAX_RANK];
    for (uint32_t i = 0; i < b.count; i++) {
        int32_t axis;
        HONE_TRY(onnx_axis(r, b.axes[i], data->rank, &axis));
        int64_t extent = hone_expr_const(data->shape[axis]);
        is_number[i] =
            extent >= 0 && b.steps[i] && is_number_at(b.starts[i]) && is_number_at(b.ends[i]);
        if (!is_number[i]) continue;
        axes[count] = axis;
        starts[count] = first_of(b.starts[i]->u.i, b.steps[i], extent);
        ends[count] = b.ends[i]->u.i;
        steps[count++] = b.steps[i];
    }
    if (count || b.count == 0) HONE_TRY(emit_slice(r, count, lists, out));
    for (uint32_t i = 0; i < b.count; i++) {
        int32_t axis;
        HONE_TRY(onnx_axis(r, b.axes[i], data->rank, &axis));
        if (!is_number[i]) HONE_TRY(take_some(r, &b, i, axis, data->shape[axis], out));
    }
    return HONE_OK;
}

const onnx_converter onnx_slice_converters[] = {
    {"Slice", convert_slice, 1, 5, 1, "axes ends starts steps", NULL},
    {0     },
};
