/* graph/frontend/onnx_turns.c - see onnx_turns.h: one turn, turns in place, and which of the two it
 * is.
 *
 * Turns in place can be fused, and know their number, so that sequences and slices by it are known
 * as well; but each is compiled. A loop keeps its states in memory and copies them once per turn.
 */
#include "graph/frontend/onnx_turns.h"

#include <string.h>

/* Nodes of all turns: up to so many turns stand in place of a loop; and where it cannot be one. */
enum { NODES_IN_PLACE = 64, MOST_NODES_IN_PLACE = 4096 };

/* ---- items ---- */

hone_status onnx_item(onnx_reader *r, hone_garg x, hone_garg i, int64_t axis, hone_garg *out) {
    const hone_sinfo *info;
    if (i.kind != HONE_GARG_PRIM || !hone_expr_is_int(i.u.expr)) {
        return onnx_emit_take(r, x, i, axis, out);
    }
    HONE_TRY(onnx_emit_slice(r, x, axis, i.u.expr->u.i, i.u.expr->u.i + 1, out));
    HONE_TRY(onnx_info(r, out, &info));
    const hone_expr *shape[HONE_MAX_RANK];
    uint32_t rank = 0;
    for (int32_t d = 0; d < info->rank; d++)
        if (d != axis) shape[rank++] = info->shape[d];
    return onnx_emit_reshape(r, *out, rank, shape, out);
}

hone_status onnx_stack(onnx_reader *r, uint32_t count, const hone_garg *items, int64_t axis,
                       hone_garg *out) {
    hone_garg *parts = hone_arena_zalloc(r->arena, ((size_t)count + 1) * sizeof *parts);
    hone_attr attr = {"axis", HONE_VALUE_OF_INT(axis)};
    if (!parts) return HONE_NO_MEMORY("model");
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = items[i];
        HONE_TRY(onnx_as_tensor(r, &parts[i]));
        HONE_TRY(onnx_emit(r, "expand_dims", 1, &parts[i], 1, &attr, &parts[i]));
    }
    *out = parts[0];
    return count == 1 ? HONE_OK : onnx_emit_concat(r, count, parts, axis, out);
}

/* ---- one turn, where the reader is ---- */

static hone_status number_of_turn(onnx_reader *r, const onnx_turns *t, hone_garg i,
                                  hone_garg *out) {
    const Onnx__TypeProto *type = t->body->input[0]->type;
    bool is_tensor = type && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE &&
                     type->tensor_type && type->tensor_type->shape;
    const hone_expr *one = hone_extent_int(&r->ir, 1);
    *out = i;
    if (!is_tensor || type->tensor_type->shape->n_dim != 1) return HONE_OK;
    if (i.kind == HONE_GARG_PRIM) return onnx_make_ints(r, 1, &i.u.expr, 1, out);
    return onnx_emit_reshape(r, i, 1, &one, out);
}

/* Captured strings may be looked into, and moved, but not leave the loop. */
static hone_status refuse_texts(const onnx_turns *t, const hone_garg *outputs) {
    for (size_t i = 0; i < t->body->n_output; i++)
        if (onnx_is_text(&outputs[i]))
            return HONE_ERROR(
                HONE_CODE_UNSUPPORTED,
                "output '%.200s' of its graph is of strings, which is not implemented",
                t->body->output[i]->name);
    return HONE_OK;
}

/* outputs: (whether to go on, of a Loop,) states, items of scans. */
hone_status onnx_read_turn(onnx_reader *r, const onnx_turns *t, hone_garg i,
                           const hone_garg *states, const hone_garg *wholes, hone_garg *outputs) {
    uint32_t first = t->is_scan ? 0 : 2, count = first + t->state_count + t->whole_count;
    hone_garg *inputs = hone_arena_zalloc(r->arena, ((size_t)count + 1) * sizeof *inputs);
    if (!inputs) return HONE_NO_MEMORY("model");
    if (t->body->n_input != count) {
        return HONE_ERROR(HONE_CODE_INVALID, "its graph has %zu inputs, must have %u",
                          t->body->n_input, (unsigned)count);
    }
    if (!t->is_scan) {
        HONE_TRY(number_of_turn(r, t, i, &inputs[0]));
        HONE_TRY(onnx_scalar(r, HONE_DTYPE_BOOL, 1, &inputs[1]));
    }
    for (uint32_t s = 0; s < t->state_count; s++)
        inputs[first + s] = states[s];
    for (uint32_t w = 0; w < t->whole_count; w++)
        HONE_TRY(onnx_item(r, wholes[w], i, t->axes[w], &inputs[first + t->state_count + w]));
    HONE_TRY(onnx_read_inside(r, t->body, count, inputs, outputs));
    return refuse_texts(t, outputs);
}

/* ---- in place ---- */

static hone_status turn_in_place(onnx_reader *r, onnx_turns *t, int64_t turn, hone_garg *outputs,
                                 bool *out_go_on) {
    hone_garg i = {.kind = HONE_GARG_PRIM, .u.expr = hone_extent_int(&r->ir, turn)};
    HONE_TRY(hone_ir_finish(&r->ir));
    HONE_TRY(onnx_read_turn(r, t, i, t->states, t->wholes, outputs));
    *out_go_on = true;
    if (!t->is_scan) {
        HONE_TRY(onnx_as_tensor(r, &outputs[0]));
        if (!onnx_known_truth(r, &outputs[0], out_go_on)) {
            return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                              "whether turn %lld is the last one depends on data", (long long)turn);
        }
    }
    memcpy(t->states, outputs + !t->is_scan, t->state_count * sizeof *outputs);
    return HONE_OK;
}

/* Turns of a loop that has no limit end by its condition, or are too many. */
static int64_t most_in_place(const onnx_turns *t) {
    int64_t most = MOST_NODES_IN_PLACE / ((int64_t)t->body->n_node + 1);
    return t->known < most ? t->known : most;
}

static hone_status turns_in_place(onnx_reader *r, onnx_turns *t) {
    size_t width = t->body->n_output + 1, most = (size_t)most_in_place(t);
    hone_garg *all = hone_arena_zalloc(r->arena, (most + 1) * width * sizeof *all);
    hone_garg *items = hone_arena_zalloc(r->arena, (most + 1) * sizeof *items);
    uint32_t count = 0, first_scan = !t->is_scan + t->state_count;
    bool goes_on = true;
    if (!all || !items) return HONE_NO_MEMORY("model");
    for (; count < most && goes_on; count++)
        HONE_TRY(turn_in_place(r, t, count, all + count * width, &goes_on));
    if (goes_on && count < t->known)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "more than %u turns that stand in place", count);
    memcpy(t->results, t->states, t->state_count * sizeof *t->states);
    if (!count && t->scan_count) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "no turn is made");
    for (uint32_t s = 0; s < t->scan_count; s++) {
        for (uint32_t i = 0; i < count; i++)
            items[i] = all[i * width + first_scan + s];
        HONE_TRY(onnx_stack(r, count, items, 0, &t->results[t->state_count + s]));
    }
    return HONE_OK;
}
/* ---- which ---- */

static int64_t nodes_of(const onnx_turns *t) {
    int64_t nodes, per_turn = (int64_t)t->body->n_node + 1;
    if (t->known < 0 || __builtin_mul_overflow(t->known, per_turn, &nodes)) return INT64_MAX;
    return nodes;
}

static bool has_sequence(const onnx_turns *t) {
    bool found = false;
    for (uint32_t i = 0; i < t->state_count; i++)
        found |= t->states[i].kind == HONE_GARG_TUPLE || t->states[i].kind == HONE_GARG_NONE;
    return found;
}

/* What was begun in the function is taken back where it does not work. */
static hone_status try(onnx_reader *r, onnx_turns *t,
                       hone_status (*how)(onnx_reader *, onnx_turns *)) {
    uint32_t binds = r->graph->bind_count, values = r->graph->value_count;
    uint32_t found = r->found_count, items = r->items_count;
    hone_garg *states = hone_arena_copy(r->arena, t->states, t->state_count * sizeof *states);
    if (!states) return HONE_NO_MEMORY("model");
    hone_status st = how(r, t);
    if (!st) return HONE_OK;
    r->graph->bind_count = binds;
    r->graph->value_count = values;
    r->found_count = found;
    r->items_count = items;
    memcpy(t->states, states, t->state_count * sizeof *states);
    return st;
}

hone_status onnx_run_turns(onnx_reader *r, onnx_turns *t) {
    int64_t nodes = nodes_of(t);
    bool begins = t->condition.kind == HONE_GARG_NONE;
    bool is_small = begins && nodes <= NODES_IN_PLACE;
    bool can_be = begins && (nodes <= MOST_NODES_IN_PLACE || t->known == INT64_MAX);
    bool is_first_place = is_small || (can_be && has_sequence(t));
    if (!can_be) return onnx_turns_as_loop(r, t);
    hone_status st = try(r, t, is_first_place ? turns_in_place : onnx_turns_as_loop);
    if (!st || hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    hone_status other = try(r, t, is_first_place ? onnx_turns_as_loop : turns_in_place);
    bool tells_first =
        other && !is_first_place; /* in place, the first turn tells what is missing */
    if (tells_first) {
        hone_status_free(st);
        return other;
    }
    hone_status_free(other ? other : st);
    return other ? st : HONE_OK;
}

static bool is_appended_to(const onnx_appends *a, uint32_t state) {
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->states[i] == state) return true;
    }
    return false;
}

/* Items that are appended are scans, which sequences are made of behind the loop. */
static hone_status run_appending(onnx_reader *r, onnx_turns *t, const onnx_appends *a) {
    onnx_turns plain = *t;
    uint32_t kept = t->state_count - a->count, scans = t->scan_count, at = 0;
    plain.body = a->body;
    plain.state_count = kept;
    plain.scan_count = scans + a->count;
    plain.states = hone_arena_zalloc(r->arena, ((size_t)kept + 1) * sizeof *plain.states);
    plain.results =
        hone_arena_zalloc(r->arena, ((size_t)kept + plain.scan_count) * sizeof *plain.results);
    if (!plain.states || !plain.results) return HONE_NO_MEMORY("model");
    for (uint32_t s = 0; s < t->state_count; s++)
        if (!is_appended_to(a, s)) plain.states[at++] = t->states[s];
    HONE_TRY(onnx_run_turns(r, &plain));
    memcpy(t->results + t->state_count, plain.results + kept, scans * sizeof *t->results);
    for (uint32_t i = 0; i < a->count; i++)
        HONE_TRY(onnx_make_series(r, plain.results[kept + scans + i], &t->results[a->states[i]]));
    at = 0;
    for (uint32_t s = 0; s < t->state_count; s++)
        if (!is_appended_to(a, s)) t->results[s] = plain.results[at++];
    return HONE_OK;
}

/* Sequences are lists where the turns stand in place, else they must be made by appending. */
hone_status onnx_run_loop(onnx_reader *r, onnx_turns *t) {
    onnx_appends a;
    hone_status st = try(r, t, onnx_run_turns);
    if (!st || hone_status_code(st) != HONE_CODE_UNSUPPORTED || !has_sequence(t)) return st;
    hone_status failed = onnx_find_appends(r, t->body, t->state_count, t->states, &a);
    if (failed || !a.count) return hone_status_join(st, failed);
    hone_status_free(st);
    return run_appending(r, t, &a);
}

hone_status onnx_begin_turns(onnx_reader *r, onnx_turns *t, uint32_t first_state) {
    HONE_TRY(onnx_attr_graph(r, "body", &t->body));
    uint32_t made = !t->is_scan + t->state_count;
    if (t->body->n_output < made || t->body->n_output - made + t->state_count > ONNX_MAX_OUTPUTS) {
        return HONE_ERROR(HONE_CODE_INVALID, "its graph gives %zu values, for %u states",
                          t->body->n_output, (unsigned)t->state_count);
    }
    t->scan_count = (uint32_t)t->body->n_output - made;
    if (r->output_count > t->state_count + t->scan_count) {
        return HONE_ERROR(HONE_CODE_INVALID, "%u outputs, its graph gives %u", r->output_count,
                          (unsigned)(t->state_count + t->scan_count));
    }
    const hone_garg *first = r->inputs + first_state;
    t->states = hone_arena_copy(r->arena, first, t->state_count * sizeof *t->states);
    t->wholes =
        hone_arena_copy(r->arena, first + t->state_count, t->whole_count * sizeof *t->wholes);
    t->results = hone_arena_zalloc(r->arena, (t->body->n_output + 1) * sizeof *t->results);
    return t->states && t->wholes && t->results ? HONE_OK : HONE_NO_MEMORY("model");
}
