/* graph/frontend/onnx_series.c - sequences whose length comes later: items of one shape lie one
 * behind the other along dimension 0 of a tensor. SplitToSequence of an open axis makes one, and so
 * does a loop that appends an item in each turn.
 */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"
#include "graph/frontend/onnx_flow.h"

bool onnx_is_series(const hone_garg *arg) {
    return arg->kind == HONE_GARG_TUPLE && arg->count == 0 && arg->is_plain;
}

uint32_t onnx_held_count(const hone_garg *arg) {
    if (arg->kind != HONE_GARG_TUPLE) return 0;
    return onnx_is_series(arg) ? 1 : arg->count;
}

hone_status onnx_make_series(onnx_reader *r, hone_garg items, hone_garg *out) {
    hone_garg *copy = hone_arena_copy(r->arena, &items, sizeof items);
    *out = (hone_garg){.kind = HONE_GARG_TUPLE, .is_plain = true, .u.items = copy};
    return copy ? HONE_OK : HONE_NO_MEMORY("model");
}

hone_status onnx_refuse_series(const hone_garg *arg) {
    if (!onnx_is_series(arg)) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "the length of the sequence is not known");
}

hone_status onnx_series_length(const onnx_reader *r, const hone_garg *series, hone_garg *out) {
    const hone_sinfo *info;
    HONE_TRY(onnx_info(r, series->u.items, &info));
    *out = (hone_garg){.kind = HONE_GARG_PRIM, .u.expr = info->shape[0]};
    return HONE_OK;
}

hone_status onnx_series_at(onnx_reader *r, const hone_garg *series, hone_garg index,
                           hone_garg *out) {
    const hone_garg operands[] = {series->u.items[0], index};
    return onnx_convert_on(r, "Gather", 2, operands, out);
}

/* ---- joined ---- */

/* x with its dimension 0 as number `axis`. */
static hone_status move_first(onnx_reader *r, hone_garg x, int32_t rank, int32_t axis,
                              hone_garg *out) {
    int64_t axes[HONE_MAX_RANK];
    for (int32_t d = 0; d < rank; d++)
        axes[d] = d < axis ? d + 1 : d == axis ? 0 : d;
    return onnx_emit_permute(r, x, (uint32_t)rank, axes, out);
}

hone_status onnx_series_concat(onnx_reader *r, const hone_garg *series, int64_t wanted, bool is_new,
                               hone_garg *out) {
    const hone_sinfo *info;
    const hone_expr *shape[HONE_MAX_RANK];
    int32_t axis;
    uint32_t rank = 0;
    HONE_TRY(onnx_info(r, series->u.items, &info));
    HONE_TRY(onnx_axis(r, wanted, info->rank - !is_new, &axis));
    HONE_TRY(move_first(r, series->u.items[0], info->rank, axis, out));
    if (is_new) return HONE_OK;
    HONE_TRY(onnx_info(r, out, &info));
    for (int32_t d = 0; d < info->rank; d++) {
        bool is_joined = d == axis + 1;
        if (is_joined) shape[rank - 1] = hone_extent_mul(&r->ir, shape[rank - 1], info->shape[d]);
        if (!is_joined) shape[rank++] = info->shape[d];
    }
    return onnx_emit_reshape(r, *out, rank, shape, out);
}

/* ---- split ---- */

hone_status onnx_series_split(onnx_reader *r, hone_garg x, int32_t axis, bool keeps,
                              hone_garg *out) {
    const hone_sinfo *info;
    int64_t axes[HONE_MAX_RANK], one_behind = axis + 1;
    hone_attr attr = {"axis", HONE_VALUE_OF_INT(one_behind)};
    HONE_TRY(onnx_info(r, &x, &info));
    if (info->rank == HONE_MAX_RANK && keeps)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "items of %d dimensions", HONE_MAX_RANK);
    for (int32_t d = 0; d < info->rank; d++)
        axes[d] = d == 0 ? axis : d <= axis ? d - 1 : d;
    HONE_TRY(onnx_emit_permute(r, x, (uint32_t)info->rank, axes, &x));
    if (keeps) HONE_TRY(onnx_emit(r, "expand_dims", 1, &x, 1, &attr, &x));
    return onnx_make_series(r, x, out);
}

/* ---- loops that append ---- */

/* Damaged files leave names out. */
static bool is_same_name(const char *a, const char *b) {
    return a && b && strcmp(a, b) == 0;
}

static uint32_t uses_of(const Onnx__GraphProto *graph, const char *name);

static uint32_t uses_in_node(const Onnx__NodeProto *node, const char *name) {
    uint32_t count = 0;
    for (size_t i = 0; i < node->n_input; i++)
        count += is_same_name(node->input[i], name);
    for (size_t i = 0; i < node->n_attribute; i++) {
        if (node->attribute[i]->g) count += uses_of(node->attribute[i]->g, name);
    }
    return count;
}

/* How often the graph takes or gives it, graphs inside of nodes as well. */
static uint32_t uses_of(const Onnx__GraphProto *graph, const char *name) {
    uint32_t count = 0;
    for (size_t i = 0; i < graph->n_node; i++)
        count += uses_in_node(graph->node[i], name);
    for (size_t i = 0; i < graph->n_output; i++)
        count += is_same_name(graph->output[i]->name, name);
    return count;
}

static bool appends(const Onnx__NodeProto *node, const char *before, const char *after) {
    bool has_index = node->n_input > 2 && node->input[2][0];
    return is_same_name(node->op_type, "SequenceInsert") && node->n_input >= 2 && !has_index &&
           node->n_output == 1 && is_same_name(node->input[0], before) &&
           is_same_name(node->output[0], after);
}

/* The node that makes the state after a turn of the state before it, and does nothing else with
 * it; or NULL. */
static Onnx__NodeProto *append_to(const Onnx__GraphProto *body, uint32_t state) {
    const char *before = body->input[2 + state]->name, *after = body->output[1 + state]->name;
    if (uses_of(body, before) != 1 || uses_of(body, after) != 1) return NULL;
    for (size_t i = 0; i < body->n_node; i++) {
        if (appends(body->node[i], before, after)) return body->node[i];
    }
    return NULL;
}

/* Its input, output and node go; what it appends is a further output. */
static hone_status take_append(onnx_reader *r, uint32_t state, const Onnx__NodeProto *node,
                               Onnx__GraphProto *body) {
    Onnx__ValueInfoProto *item = hone_arena_zalloc(r->arena, sizeof *item);
    size_t kept = 0, input = 2 + state, output = 1 + state;
    if (!item) return HONE_NO_MEMORY("model");
    *item = (Onnx__ValueInfoProto)ONNX__VALUE_INFO_PROTO__INIT;
    item->name = node->input[1];
    memmove(body->input + input, body->input + input + 1,
            (body->n_input - input - 1) * sizeof *body->input);
    body->n_input--;
    memmove(body->output + output, body->output + output + 1,
            (body->n_output - output - 1) * sizeof *body->output);
    body->output[body->n_output - 1] = item;
    for (size_t i = 0; i < body->n_node; i++)
        if (body->node[i] != node) body->node[kept++] = body->node[i];
    body->n_node = kept;
    return HONE_OK;
}

static hone_status copy_body(onnx_reader *r, const Onnx__GraphProto *body, Onnx__GraphProto **out) {
    Onnx__GraphProto *copy = hone_arena_copy(r->arena, body, sizeof *body);
    *out = copy;
    if (!copy) return HONE_NO_MEMORY("model");
    copy->input = hone_arena_copy(r->arena, body->input, body->n_input * sizeof *body->input);
    copy->output = hone_arena_copy(r->arena, body->output, body->n_output * sizeof *body->output);
    copy->node = hone_arena_copy(r->arena, body->node, body->n_node * sizeof *body->node);
    return copy->input && copy->output && copy->node ? HONE_OK : HONE_NO_MEMORY("model");
}

hone_status onnx_find_appends(onnx_reader *r, const Onnx__GraphProto *body, uint32_t state_count,
                              const hone_garg *states, onnx_appends *out) {
    Onnx__GraphProto *copy;
    *out = (onnx_appends){0};
    if (body->n_input != 2 + state_count || !body->n_node) return HONE_OK;
    HONE_TRY(copy_body(r, body, &copy));
    out->body = copy;
    for (uint32_t s = state_count; s-- > 0;) { /* from behind: the indices in front stay */
        bool is_empty =
            states[s].kind == HONE_GARG_TUPLE && !states[s].count && !onnx_is_series(&states[s]);
        const Onnx__NodeProto *node = is_empty ? append_to(body, s) : NULL;
        if (!node) continue;
        HONE_TRY(take_append(r, s, node, copy));
        out->states[out->count++] = s;
    }
    return HONE_OK;
}
