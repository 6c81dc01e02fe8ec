/* graph/frontend/onnx_sequence.c - sequences and optionals: lists of values of the reader; nothing
 * of them is left in the graph. Lengths and indices must be known while the model is read, but of a
 * series (onnx_series.c). */
#include <string.h>

#include "graph/frontend/onnx_turns.h"

static hone_status make_sequence(onnx_reader *r, uint32_t count, const hone_garg *items,
                                 hone_garg *out) {
    hone_garg *copy = hone_arena_zalloc(r->arena, ((size_t)count + 1) * sizeof *copy);
    if (!copy) return HONE_NO_MEMORY("model");
    if (count) memcpy(copy, items, count * sizeof *copy);
    *out = (hone_garg){.kind = HONE_GARG_TUPLE, .count = count, .u.items = copy};
    return HONE_OK;
}

static hone_status sequence_of(const onnx_reader *r, const hone_garg **out) {
    *out = &r->inputs[0];
    HONE_TRY(onnx_refuse_series(*out));
    if ((*out)->kind == HONE_GARG_TUPLE && !onnx_is_text(*out)) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "input 0 is no sequence");
}

/* An index among `count`; absent: the last one. */
static hone_status index_of(onnx_reader *r, uint32_t input, uint32_t count, uint32_t last,
                            uint32_t *out) {
    int64_t index;
    *out = last;
    if (!onnx_has_input(r, input)) return HONE_OK;
    HONE_TRY(onnx_const_scalar(r, input, "the position", &index));
    if (index < 0) index += count;
    if (index < 0 || index > last) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "the position (input %u) is outside of a sequence of %u", input, count);
    }
    *out = (uint32_t)index;
    return HONE_OK;
}

/* ---- sequences ---- */

static hone_status convert_empty(onnx_reader *r, hone_garg *out) {
    return make_sequence(r, 0, NULL, out);
}

static hone_status convert_construct(onnx_reader *r, hone_garg *out) {
    return make_sequence(r, r->input_count, r->inputs, out);
}

/* Which one of the sequence (input 0) input 1 is the index of. */
static hone_status item_of(onnx_reader *r, const hone_garg **out_from, uint32_t *out_index) {
    HONE_TRY(sequence_of(r, out_from));
    uint32_t count = (*out_from)->count;
    if (!count) return HONE_ERROR(HONE_CODE_INVALID, "the sequence is empty");
    return index_of(r, 1, count, count - 1, out_index);
}

static hone_status convert_at(onnx_reader *r, hone_garg *out) {
    const hone_garg *from;
    uint32_t index;
    if (onnx_is_series(&r->inputs[0])) return onnx_series_at(r, &r->inputs[0], r->inputs[1], out);
    HONE_TRY(item_of(r, &from, &index));
    *out = from->u.items[index];
    return HONE_OK;
}

static hone_status convert_insert(onnx_reader *r, hone_garg *out) {
    const hone_garg *from;
    uint32_t index;
    HONE_TRY(sequence_of(r, &from));
    HONE_TRY(index_of(r, 2, from->count, from->count, &index));
    hone_garg *items = hone_arena_zalloc(r->arena, ((size_t)from->count + 1) * sizeof *items);
    if (!items) return HONE_NO_MEMORY("model");
    for (uint32_t i = 0; i < from->count; i++)
        items[i + (i >= index)] = from->u.items[i];
    items[index] = r->inputs[1];
    return make_sequence(r, from->count + 1, items, out);
}

static hone_status convert_erase(onnx_reader *r, hone_garg *out) {
    const hone_garg *from;
    uint32_t index;
    HONE_TRY(item_of(r, &from, &index));
    HONE_TRY(make_sequence(r, from->count, from->u.items, out));
    hone_garg *items = (hone_garg *)(uintptr_t)out->u.items;
    memmove(items + index, items + index + 1, (from->count - 1 - index) * sizeof *items);
    out->count--;
    return HONE_OK;
}

static hone_status convert_length(onnx_reader *r, hone_garg *out) {
    const hone_garg *from;
    if (onnx_is_series(&r->inputs[0])) return onnx_series_length(r, &r->inputs[0], out);
    HONE_TRY(sequence_of(r, &from));
    *out = (hone_garg){.kind = HONE_GARG_PRIM, .u.expr = hone_extent_int(&r->ir, from->count)};
    return hone_ir_finish(&r->ir);
}

/* The items as tensors; of texts the rows in one pool, else *out_pool is NONE. */
static hone_status items_to_join(onnx_reader *r, uint32_t count, hone_garg *parts,
                                 hone_garg *out_pool) {
    bool are_texts = onnx_is_text(&parts[0]);
    *out_pool = (hone_garg){.kind = HONE_GARG_NONE};
    for (uint32_t i = 0; i < count; i++) {
        if (onnx_is_text(&parts[i]) != are_texts)
            return HONE_ERROR(HONE_CODE_TYPE, "strings beside numbers in a sequence");
        if (!are_texts) HONE_TRY(onnx_as_tensor(r, &parts[i]));
    }
    return are_texts ? onnx_join_texts(r, count, parts, out_pool) : HONE_OK;
}

static hone_status convert_concat_sequence(onnx_reader *r, hone_garg *out) {
    const hone_garg *from;
    hone_garg pool;
    const hone_sinfo *info;
    int64_t wanted, is_new;
    int32_t axis;
    HONE_TRY(onnx_attr_int(r, "axis", 0, &wanted));
    HONE_TRY(onnx_attr_int(r, "new_axis", 0, &is_new));
    if (onnx_is_series(&r->inputs[0]))
        return onnx_series_concat(r, &r->inputs[0], wanted, is_new != 0, out);
    HONE_TRY(sequence_of(r, &from));
    if (!from->count) return HONE_ERROR(HONE_CODE_INVALID, "the sequence is empty");
    hone_garg items = *from;
    HONE_TRY(make_sequence(r, from->count, from->u.items, &items));
    hone_garg *parts = (hone_garg *)(uintptr_t)items.u.items;
    HONE_TRY(items_to_join(r, items.count, parts, &pool));
    HONE_TRY(onnx_info(r, &parts[0], &info));
    HONE_TRY(onnx_axis(r, wanted, info->rank + (is_new != 0), &axis));
    *out = parts[0];
    if (is_new) {
        HONE_TRY(onnx_stack(r, items.count, parts, axis, out));
    } else if (items.count > 1) {
        HONE_TRY(onnx_emit_concat(r, items.count, parts, axis, out));
    }
    return pool.kind == HONE_GARG_NONE ? HONE_OK : onnx_make_text(r, pool, *out, out);
}

/* ---- SplitToSequence ---- */

enum { MOST_PARTS = 1024 };

/* Parts of one length; what is left is the last one. */
static hone_status equal_lengths(onnx_reader *r, int64_t extent, int64_t part,
                                 const hone_expr **lengths, uint32_t *out_count) {
    uint32_t count = 0;
    if (extent < 0) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "how many parts there are depends on a symbolic size; give its number "
                          "with --shape");
    }
    if (part < 1 || (extent + part - 1) / part > MOST_PARTS) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "parts of %lld elements of %lld, at most %d parts",
                          (long long)part, (long long)extent, MOST_PARTS);
    }
    for (int64_t left = extent; left > 0; left -= part)
        lengths[count++] = hone_extent_int(&r->ir, left < part ? left : part);
    *out_count = count;
    return hone_ir_finish(&r->ir);
}

static hone_status lengths_of(onnx_reader *r, int64_t extent, const hone_expr **lengths,
                              uint32_t *out_count) {
    const hone_sinfo *info;
    int64_t part = 1;
    if (!onnx_has_input(r, 1)) return equal_lengths(r, extent, part, lengths, out_count);
    HONE_TRY(onnx_input_info(r, 1, &info));
    if (info->rank == 1) return onnx_sizes(r, 1, "the split", out_count, lengths);
    HONE_TRY(onnx_const_scalar(r, 1, "the split", &part));
    return equal_lengths(r, extent, part, lengths, out_count);
}

/* Parts whose lengths are numbers, of an axis of so many elements. */
static hone_status known_parts(onnx_reader *r, int32_t axis, int64_t extent, bool drops,
                               uint32_t count, const hone_expr *const *lengths, hone_garg *items) {
    int64_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        int64_t length = lengths[i]->u.i;
        if (length < 0)
            return HONE_ERROR(HONE_CODE_INVALID, "part %u has %lld elements", i, (long long)length);
        hone_garg index = {.kind = HONE_GARG_PRIM, .u.expr = hone_extent_int(&r->ir, at)};
        HONE_TRY(drops ? onnx_item(r, r->inputs[0], index, axis, &items[i])
                       : onnx_emit_slice(r, r->inputs[0], axis, at, at + length, &items[i]));
        at += length;
    }
    if (at == extent) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "the parts have %lld elements, the axis has %lld",
                      (long long)at, (long long)extent);
}

static hone_status split(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info;
    const hone_expr *lengths[MOST_PARTS];
    int64_t wanted, keeps;
    int32_t axis;
    uint32_t count = 0;
    HONE_TRY(onnx_as_tensor(r, &r->inputs[0]));
    HONE_TRY(onnx_input_info(r, 0, &info));
    HONE_TRY(onnx_attr_int(r, "axis", 0, &wanted));
    HONE_TRY(onnx_attr_int(r, "keepdims", 1, &keeps));
    HONE_TRY(onnx_axis(r, wanted, info->rank, &axis));
    int64_t extent = hone_expr_const(info->shape[axis]);
    if (extent < 0 && !onnx_has_input(r, 1))
        return onnx_series_split(r, r->inputs[0], axis, keeps != 0, out);
    HONE_TRY(lengths_of(r, extent, lengths, &count));
    hone_garg *items = hone_arena_zalloc(r->arena, ((size_t)count + 1) * sizeof *items);
    if (!items) return HONE_NO_MEMORY("model");
    bool drops = !keeps && !onnx_has_input(r, 1), are_numbers = extent >= 0;
    for (uint32_t i = 0; i < count; i++)
        are_numbers &= hone_expr_is_int(lengths[i]);
    HONE_TRY(are_numbers ? known_parts(r, axis, extent, drops, count, lengths, items)
                         : onnx_emit_parts(r, r->inputs[0], axis, count, lengths, items));
    return make_sequence(r, count, items, out);
}

/* Of strings the rows are split. */
static hone_status convert_split(onnx_reader *r, hone_garg *out) {
    if (!onnx_is_text(&r->inputs[0])) return split(r, out);
    const hone_garg pool = r->inputs[0].u.items[0];
    r->inputs[0] = r->inputs[0].u.items[1];
    HONE_TRY(split(r, out));
    if (onnx_is_series(out))
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "strings in a sequence of open length");
    hone_garg *items = (hone_garg *)(uintptr_t)out->u.items;
    for (uint32_t i = 0; i < out->count; i++)
        HONE_TRY(onnx_make_text(r, pool, items[i], &items[i]));
    return HONE_OK;
}

/* ---- SequenceMap ---- */

/* What the body is called with for item i: items of sequences, other inputs as they are. */
static hone_status inputs_of_item(const onnx_reader *r, const hone_garg *all, uint32_t count,
                                  uint32_t i, hone_garg *inputs) {
    (void)r;
    for (uint32_t k = 0; k < count; k++) {
        inputs[k] = all[k];
        HONE_TRY(onnx_refuse_series(&all[k]));
        if (all[k].kind != HONE_GARG_TUPLE || onnx_is_text(&all[k])) continue;
        if (i >= all[k].count) {
            return HONE_ERROR(HONE_CODE_INVALID, "sequence %u has %u items, the first one more", k,
                              (unsigned)all[k].count);
        }
        inputs[k] = all[k].u.items[i];
    }
    return HONE_OK;
}

/* An input as a tensor whose dimension 0 goes over the items: those of a series, or the same for
 * each of `length` items. */
static hone_status whole_of(onnx_reader *r, const hone_expr *length, hone_garg *io) {
    const hone_sinfo *info;
    const hone_expr *shape[HONE_MAX_RANK + 1];
    hone_garg args[2];
    if (onnx_is_series(io)) {
        *io = io->u.items[0];
        return HONE_OK;
    }
    if (io->kind == HONE_GARG_TUPLE)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "strings, or a sequence of known length, beside one of open length");
    HONE_TRY(onnx_as_tensor(r, io));
    HONE_TRY(onnx_info(r, io, &info));
    if (info->rank == HONE_MAX_RANK)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a tensor of %d dimensions", (int)info->rank);
    shape[0] = length;
    memcpy(shape + 1, info->shape, (size_t)info->rank * sizeof *shape);
    args[0] = *io;
    HONE_TRY(onnx_make_ints(r, (uint32_t)info->rank + 1, shape, 1, &args[1]));
    return onnx_emit(r, "broadcast_to", 2, args, 0, NULL, io);
}

/* Of a sequence whose length comes later: a Scan over its items. */
static hone_status map_series(onnx_reader *r, hone_garg *out) {
    onnx_turns t = {.is_scan = true, .known = -1, .condition = {.kind = HONE_GARG_NONE}};
    t.whole_count = r->input_count;
    if (t.whole_count > ONNX_MAX_OUTPUTS)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "more than %d inputs", (int)ONNX_MAX_OUTPUTS);
    HONE_TRY(onnx_series_length(r, &r->inputs[0], &t.limit));
    HONE_TRY(onnx_begin_turns(r, &t, 0));
    for (uint32_t w = 0; w < t.whole_count; w++) {
        HONE_TRY(whole_of(r, t.limit.u.expr, &t.wholes[w]));
        if (w) HONE_TRY(onnx_unify_dims(r, &t.wholes[0], 0, &t.wholes[w], 0));
    }
    HONE_TRY(onnx_run_turns(r, &t));
    for (uint32_t k = 0; k < r->output_count; k++)
        HONE_TRY(onnx_make_series(r, t.results[k], &out[k]));
    return HONE_OK;
}

static hone_status convert_map(onnx_reader *r, hone_garg *out) {
    const Onnx__GraphProto *body;
    const hone_garg *first;
    if (onnx_is_series(&r->inputs[0])) return map_series(r, out);
    HONE_TRY(sequence_of(r, &first));
    HONE_TRY(onnx_attr_graph(r, "body", &body));
    uint32_t count = r->input_count, items = first->count;
    size_t made = body->n_output;
    if (made < r->output_count || made > ONNX_MAX_OUTPUTS) {
        return HONE_ERROR(HONE_CODE_INVALID, "its graph gives %zu values, for %u outputs", made,
                          r->output_count);
    }
    hone_garg *all = hone_arena_copy(r->arena, r->inputs, count * sizeof *all);
    hone_garg *inputs = hone_arena_zalloc(r->arena, (count + 1) * sizeof *inputs);
    hone_garg *table =
        hone_arena_zalloc(r->arena, ((size_t)items + 1) * (made + 1) * sizeof *table);
    hone_garg outputs[ONNX_MAX_OUTPUTS];
    if (!all || !inputs || !table) return HONE_NO_MEMORY("model");
    for (uint32_t i = 0; i < items; i++) {
        HONE_TRY(inputs_of_item(r, all, count, i, inputs));
        HONE_TRY(onnx_read_inside(r, body, count, inputs, outputs));
        for (size_t k = 0; k < made; k++)
            table[k * items + i] = outputs[k];
    }
    for (size_t k = 0; k < made; k++)
        HONE_TRY(make_sequence(r, items, table + k * items, &out[k]));
    return HONE_OK;
}

/* ---- optionals ---- */

static hone_status convert_optional(onnx_reader *r, hone_garg *out) {
    *out = (hone_garg){.kind = HONE_GARG_NONE};
    if (onnx_has_input(r, 0)) *out = r->inputs[0];
    return HONE_OK;
}

static hone_status convert_has_element(onnx_reader *r, hone_garg *out) {
    return onnx_scalar(r, HONE_DTYPE_BOOL, onnx_has_input(r, 0), out);
}

static hone_status convert_get_element(onnx_reader *r, hone_garg *out) {
    if (!onnx_has_input(r, 0)) return HONE_ERROR(HONE_CODE_INVALID, "the optional is absent");
    *out = r->inputs[0];
    return HONE_OK;
}

const onnx_converter onnx_sequence_converters[] = {
    {"SequenceEmpty",     convert_empty, 0, 0, 1, "dtype", NULL},
    {"SequenceConstruct",                  convert_construct, 1, 255, 1, "", NULL},
    {"SequenceAt",                  convert_at, 2, 2, 1, "", NULL},
    {"SequenceInsert",               convert_insert, 2, 3, 1, "", NULL},
    {"SequenceErase", convert_erase, 1, 2, 1, "", NULL},
    {"SequenceLength",                  convert_length, 1, 1, 1, "", NULL},
    {"ConcatFromSequence",                  convert_concat_sequence, 1, 1, 1, "axis new_axis", NULL},
    {"SplitToSequence",               convert_split, 1, 2, 1, "axis keepdims", NULL},
    {"SequenceMap",        convert_map, 1, 255, ONNX_MAX_OUTPUTS, "body", NULL},
    {"Optional",                  convert_optional, 0, 1, 1, "type", NULL},
    {"OptionalHasElement",                  convert_has_element, 0, 1, 1, "", NULL},
    {"OptionalGetElement",               convert_get_element, 0, 1, 1, "", NULL},
    {0   },
};
