/* graph/frontend/onnx_cell_attention.c - what a cell reads of a memory after each step (AttnLSTM of
 * com.microsoft), by Bahdanau's attention:
 *
 *   align = softmax of sum(v * tanh(memory * MW + h * QW))
 *   state = align * memory                  or [h, align * memory] * AW
 *
 * and takes in before the next one: W has columns for it behind those of the data. */
#include <math.h>

#include "graph/frontend/onnx_cell.h"

enum { DATA, WEIGHT, QUERY = 8, MEMORY_WEIGHT, DIRECTION, MEMORY, LENGTHS, LAYER };

static hone_status check_rank(const onnx_reader *r, uint32_t input, int32_t rank) {
    const hone_sinfo *info;
    if (!onnx_has_input(r, input))
        return HONE_ERROR(HONE_CODE_INVALID, "input %u is missing", input);
    HONE_TRY(onnx_input_info(r, input, &info));
    if (info->rank == rank) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "input %u has %d dimensions, must have %d", input,
                      (int)info->rank, (int)rank);
}

hone_status onnx_cell_attention_split(onnx_cell *c) {
    static const int32_t ranks[] = {3, 3, 2, 3};
    onnx_reader *r = c->r;
    const hone_sinfo *data, *weight, *from;
    for (uint32_t i = 0; i < HONE_COUNT(ranks); i++)
        HONE_TRY(check_rank(r, QUERY + i, ranks[i]));
    if (onnx_has_input(r, LAYER)) HONE_TRY(check_rank(r, LAYER, 3));
    HONE_TRY(check_rank(r, DATA, 3));
    HONE_TRY(check_rank(r, WEIGHT, 3));
    HONE_TRY(onnx_input_info(r, DATA, &data));
    HONE_TRY(onnx_input_info(r, WEIGHT, &weight));
    HONE_TRY(onnx_input_info(r, onnx_has_input(r, LAYER) ? LAYER : MEMORY, &from));
    const int64_t size = hone_expr_const(from->shape[2]), all = hone_expr_const(weight->shape[2]);
    const int64_t width = hone_expr_const(data->shape[2]);
    if (size < 0 || all < 0 || width < 0) return onnx_unknown_size(2);
    if (all != width + size)
        return HONE_ERROR(HONE_CODE_INVALID,
                          "a weight of %lld columns for data of %lld and attention of %lld",
                          (long long)all, (long long)width, (long long)size);
    HONE_TRY(onnx_emit_slice(r, r->inputs[WEIGHT], 2, width, all, &c->attention_weight));
    c->has_attention = true;
    return onnx_emit_slice(r, r->inputs[WEIGHT], 2, 0, width, &r->inputs[WEIGHT]);
}

/* Part d of the first dimension. */
static hone_status part_of(onnx_reader *r, hone_garg x, int64_t d, hone_garg *out) {
    const hone_sinfo *info;
    HONE_TRY(onnx_emit_slice(r, x, 0, d, d + 1, out));
    HONE_TRY(onnx_info(r, out, &info));
    return onnx_emit_reshape(r, *out, (uint32_t)info->rank - 1, info->shape + 1, out);
}

/* Which places of the memory count, [batch, places]: one at least. */
static hone_status read_places(const onnx_cell *c, const hone_sinfo *memory, hone_garg *out) {
    onnx_reader *r = c->r;
    const hone_expr *shape[] = {memory->shape[0], hone_extent_int(&r->ir, 1)};
    hone_garg last, places;
    *out = (hone_garg){.kind = HONE_GARG_NONE};
    if (!onnx_has_input(r, LENGTHS)) return HONE_OK;
    HONE_TRY(onnx_emit_cast(r, r->inputs[LENGTHS], HONE_DTYPE_I64, &last));
    HONE_TRY(onnx_with_scalar(r, "subtract", last, 1, &last));
    HONE_TRY(onnx_emit_no_negative(r, last, memory->shape[1], &last));
    HONE_TRY(onnx_emit_within(r, last, memory->shape[1], &last));
    HONE_TRY(onnx_emit_reshape(r, last, 2, shape, &last));
    HONE_TRY(onnx_indices(r, memory->shape[1], 2, 1, &places));
    return onnx_emit2(r, "less_equal", places, last, out);
}

hone_status onnx_cell_attention_begin(onnx_cell_pass *p, int64_t d) {
    static const int64_t axes[] = {1, 0};
    const onnx_cell *c = p->c;
    onnx_reader *r = c->r;
    onnx_cell_attention *a = &p->attention;
    const hone_sinfo *memory, *weight;
    hone_garg sides[2], target[2];
    HONE_TRY(onnx_demand_size(r, &r->inputs[QUERY], 1, c->hidden));
    a->memory = r->inputs[MEMORY];
    HONE_TRY(onnx_info(r, &a->memory, &memory));
    HONE_TRY(read_places(c, memory, &a->is_there));
    HONE_TRY(part_of(r, r->inputs[QUERY], d, &a->query));
    HONE_TRY(part_of(r, r->inputs[DIRECTION], d, &a->direction));
    HONE_TRY(part_of(r, c->attention_weight, d, &a->weight));
    HONE_TRY(onnx_emit_permute(r, a->weight, 2, axes, &a->weight));
    a->layer = (hone_garg){.kind = HONE_GARG_NONE};
    if (onnx_has_input(r, LAYER)) HONE_TRY(part_of(r, r->inputs[LAYER], d, &a->layer));
    sides[0] = a->memory;
    HONE_TRY(part_of(r, r->inputs[MEMORY_WEIGHT], d, &sides[1]));
    HONE_TRY(onnx_emit(r, "matmul", 2, sides, 0, NULL, &a->keys));
    HONE_TRY(onnx_info(r, &a->weight, &weight));
    const hone_expr *shape[] = {c->batch, weight->shape[0]};
    HONE_TRY(onnx_scalar(r, c->dtype, 0, &target[0]));
    HONE_TRY(onnx_make_ints(r, 2, shape, 1, &target[1]));
    return onnx_emit(r, "broadcast_to", 2, target, 0, NULL, &a->state);
}

hone_status onnx_cell_attention_take(const onnx_cell_pass *p, hone_garg *io_taken) {
    hone_garg sides[2] = {p->attention.state, p->attention.weight}, product;
    HONE_TRY(onnx_emit(p->c->r, "matmul", 2, sides, 0, NULL, &product));
    return onnx_emit2(p->c->r, "add", *io_taken, product, io_taken);
}

/* How much of each place of the memory is read: [batch, places]. */
static hone_status align(const onnx_cell_pass *p, hone_garg h, hone_garg *out) {
    const onnx_cell_attention *a = &p->attention;
    onnx_reader *r = p->c->r;
    const hone_sinfo *keys;
    hone_garg sides[2] = {h, a->query}, query, hidden;
    HONE_TRY(onnx_emit(r, "matmul", 2, sides, 0, NULL, &query));
    HONE_TRY(onnx_info(r, &a->keys, &keys));
    const hone_expr *shape[] = {keys->shape[0], hone_extent_int(&r->ir, 1), keys->shape[2]};
    const hone_expr *flat[] = {keys->shape[0], keys->shape[1]};
    HONE_TRY(onnx_emit_reshape(r, query, 3, shape, &query));
    HONE_TRY(onnx_emit2(r, "add", a->keys, query, out));
    HONE_TRY(onnx_emit1(r, "tanh", *out, out));
    HONE_TRY(onnx_emit2(r, "multiply", *out, a->direction, out));
    HONE_TRY(onnx_emit_along(r, "sum", *out, 2, out));
    HONE_TRY(onnx_emit_reshape(r, *out, 2, flat, out));
    if (a->is_there.kind != HONE_GARG_NONE) {
        HONE_TRY(onnx_scalar(r, p->c->dtype, -HUGE_VAL, &hidden));
        HONE_TRY(onnx_emit_where(r, a->is_there, *out, hidden, out));
    }
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(1)};
    return onnx_emit(r, "nn.softmax", 1, out, 1, &axis, out);
}

hone_status onnx_cell_attention_read(const onnx_cell_pass *p, hone_garg h, hone_garg *out) {
    const onnx_cell_attention *a = &p->attention;
    onnx_reader *r = p->c->r;
    const hone_sinfo *memory;
    hone_garg sides[2] = {{0}, a->memory}, both[2] = {h};
    HONE_TRY(align(p, h, &sides[0]));
    HONE_TRY(onnx_info(r, &a->memory, &memory));
    const hone_expr *row[] = {memory->shape[0], hone_extent_int(&r->ir, 1), memory->shape[1]};
    const hone_expr *flat[] = {memory->shape[0], memory->shape[2]};
    HONE_TRY(onnx_emit_reshape(r, sides[0], 3, row, &sides[0]));
    HONE_TRY(onnx_emit(r, "matmul", 2, sides, 0, NULL, out));
    HONE_TRY(onnx_emit_reshape(r, *out, 2, flat, out));
    if (a->layer.kind == HONE_GARG_NONE) return HONE_OK;
    both[1] = *out;
    HONE_TRY(onnx_emit_concat(r, 2, both, 1, &sides[0]));
    sides[1] = a->layer;
    return onnx_emit(r, "matmul", 2, sides, 0, NULL, out);
}
