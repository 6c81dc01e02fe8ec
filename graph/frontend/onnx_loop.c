/* graph/frontend/onnx_loop.c - Loop and Scan: turn by turn where there are few and their number is
 * known, else a loop of the graph, whose body is a function.
 *
 * Turns in place can be fused, and know their number, so that sequences and slices by it are known
 * as well; but each is compiled. A loop keeps its states in memory and copies them once per turn.
 */
#include <string.h>

#include "graph/frontend/onnx_flow.h"
#include "graph/module/rewrite.h"

/* Nodes of all turns: up to so many turns stand in place of a loop; and where it cannot be one. */
enum { NODES_IN_PLACE = 64, MOST_NODES_IN_PLACE = 4096 };

static hone_status no_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
}

typedef struct turns {
    const Onnx__GraphProto *body;
    bool is_scan;
    uint32_t state_count, whole_count, scan_count;
    hone_garg *states; /* as they begin; then as they are */
    hone_garg *wholes; /* of which a Scan takes an item per turn */
    int64_t axes[ONNX_MAX_OUTPUTS];
    hone_garg limit;     /* PRIM, or a value */
    int64_t known;       /* how many turns at most; -1: that is not known */
    hone_garg condition; /* whether to begin; NONE: yes */
    hone_garg *results;  /* states, then scans */
    onnx_growth *growth; /* the last states are the sizes of others; or NULL */
} turns;

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
    if (!parts) return no_memory();
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = items[i];
        HONE_TRY(onnx_as_tensor(r, &parts[i]));
        HONE_TRY(onnx_emit(r, "expand_dims", 1, &parts[i], 1, &attr, &parts[i]));
    }
    *out = parts[0];
    return count == 1 ? HONE_OK : onnx_emit_concat(r, count, parts, axis, out);
}

/* ---- one turn, where the reader is ---- */

static hone_status number_of_turn(onnx_reader *r, const turns *t, hone_garg i, hone_garg *out) {
    const Onnx__TypeProto *type = t->body->input[0]->type;
    bool is_tensor = type && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE &&
                     type->tensor_type && type->tensor_type->shape;
    const hone_expr *one = hone_extent_int(&r->ir, 1);
    *out = i;
    if (!is_tensor || type->tensor_type->shape->n_dim != 1) return HONE_OK;
    if (i.kind == HONE_GARG_PRIM) return onnx_make_ints(r, 1, &i.u.expr, 1, out);
    return onnx_emit_reshape(r, i, 1, &one, out);
}

/* outputs: (whether to go on, of a Loop,) states, items of scans. */
static hone_status read_turn(onnx_reader *r, const turns *t, hone_garg i, const hone_garg *states,
                             const hone_garg *wholes, hone_garg *outputs) {
    uint32_t first = t->is_scan ? 0 : 2, count = first + t->state_count + t->whole_count;
    hone_garg *inputs = hone_arena_zalloc(r->arena, ((size_t)count + 1) * sizeof *inputs);
    if (!inputs) return no_memory();
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
    return onnx_read_inside(r, t->body, count, inputs, outputs);
}

/* ---- in place ---- */

static hone_status turn_in_place(onnx_reader *r, turns *t, int64_t turn, hone_garg *outputs,
                                 bool *out_go_on) {
    hone_garg i = {.kind = HONE_GARG_PRIM, .u.expr = hone_extent_int(&r->ir, turn)};
    HONE_TRY(hone_ir_finish(&r->ir));
    HONE_TRY(read_turn(r, t, i, t->states, t->wholes, outputs));
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
static int64_t most_in_place(const turns *t) {
    int64_t most = MOST_NODES_IN_PLACE / ((int64_t)t->body->n_node + 1);
    return t->known < most ? t->known : most;
}

static hone_status turns_in_place(onnx_reader *r, turns *t) {
    size_t width = t->body->n_output + 1, most = (size_t)most_in_place(t);
    hone_garg *all = hone_arena_zalloc(r->arena, (most + 1) * width * sizeof *all);
    hone_garg *items = hone_arena_zalloc(r->arena, (most + 1) * sizeof *items);
    uint32_t count = 0, first_scan = !t->is_scan + t->state_count;
    bool goes_on = true;
    if (!all || !items) return no_memory();
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

/* ---- as a loop ---- */

typedef struct body_of_loop {
    const turns *t;
    bool has_condition;               /* that is found out */
    bool goes_on_always, drops_scans; /* whatever its graph says */
    bool counts;                      /* the last state is how many turns there were */
} body_of_loop;

/* A turn without the states that hold sizes. */
static hone_status read_growing(onnx_reader *r, const turns *t, const hone_garg *leads,
                                const hone_garg *wholes, hone_garg *outputs) {
    turns plain = *t;
    uint32_t sizes = t->growth ? t->growth->groups : 0;
    plain.state_count -= sizes;
    hone_garg *states =
        hone_arena_copy(r->arena, leads + 1, ((size_t)t->state_count + 1) * sizeof *states);
    if (!states) return no_memory();
    if (!sizes) return read_turn(r, &plain, leads[0], states, wholes, outputs);
    HONE_TRY(onnx_cut_states(r, t->growth, leads + 1 + plain.state_count, states));
    HONE_TRY(read_turn(r, &plain, leads[0], states, wholes, outputs));
    hone_garg *after = outputs + !t->is_scan, *scans = after + plain.state_count;
    memmove(scans + sizes, scans, t->scan_count * sizeof *scans);
    return onnx_keep_states(r, t->growth, after, scans);
}

/* A turn without the state that counts. */
static hone_status read_counted(onnx_reader *r, const turns *t, bool counts, const hone_garg *leads,
                                hone_garg *outputs) {
    turns uncounted = *t;
    const hone_garg *wholes = leads + 1 + t->state_count;
    uncounted.state_count -= counts;
    HONE_TRY(read_growing(r, &uncounted, leads, wholes, outputs));
    if (!counts) return HONE_OK;
    return onnx_with_scalar(r, "add", leads[0], 1, &outputs[!t->is_scan + uncounted.state_count]);
}

static hone_status read_body(onnx_reader *r, void *ctx, const hone_garg *leads,
                             hone_garg **out_results, uint32_t *out_count) {
    body_of_loop *b = ctx;
    const turns *t = b->t;
    uint32_t count = !t->is_scan + t->state_count;
    hone_garg *outputs =
        hone_arena_zalloc(r->arena, ((size_t)count + t->scan_count + 1) * sizeof *outputs);
    bool goes_on = false;
    if (!outputs) return no_memory();
    HONE_TRY(read_counted(r, t, b->counts, leads, outputs));
    *out_results = outputs;
    *out_count = b->drops_scans ? count : count + t->scan_count;
    if (t->is_scan) return HONE_OK;
    HONE_TRY(onnx_as_scalar(r, &outputs[0]));
    bool is_known = onnx_known_truth(r, &outputs[0], &goes_on);
    b->has_condition = t->condition.kind != HONE_GARG_NONE || !is_known || !goes_on;
    b->has_condition &= !b->goes_on_always;
    if (b->has_condition) return HONE_OK;
    ++*out_results;
    --*out_count;
    return HONE_OK;
}

/* The types of the number of the turn, states and wholes. */
static hone_status types_of(onnx_reader *r, turns *t, const hone_sinfo ***out) {
    uint32_t count = 1 + t->state_count + t->whole_count;
    *out = hone_arena_zalloc(r->arena, count * sizeof **out);
    if (!*out) return no_memory();
    (*out)[0] = hone_sinfo_static(r->arena, HONE_DTYPE_I64, 0, NULL);
    for (uint32_t i = 1; i < count; i++) {
        bool is_state = i <= t->state_count;
        hone_garg *arg = is_state ? &t->states[i - 1] : &t->wholes[i - 1 - t->state_count];
        if (arg->kind == HONE_GARG_TUPLE || arg->kind == HONE_GARG_NONE) {
            return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                              "state %u is a sequence or an optional: the trip count and the "
                              "condition must be constant, and the turns few",
                              i - 1);
        }
        HONE_TRY(onnx_as_tensor(r, arg));
        HONE_TRY(onnx_info(r, arg, &(*out)[i]));
    }
    return HONE_OK;
}

static hone_status tuple_of(onnx_reader *r, uint32_t count, const hone_garg *a, uint32_t more,
                            const hone_garg *b, hone_garg *out) {
    hone_garg *items = hone_arena_zalloc(r->arena, ((size_t)count + more + 1) * sizeof *items);
    if (!items) return no_memory();
    for (uint32_t i = 0; i < count + more; i++)
        items[i] = i < count ? a[i] : b[i - count];
    *out = (hone_garg){.kind = HONE_GARG_TUPLE, .count = count + more, .u.items = items};
    return HONE_OK;
}

hone_status onnx_emit_loop(onnx_reader *r, const onnx_loop *loop, hone_garg *results) {
    bool has_condition = loop->condition.kind != HONE_GARG_NONE;
    hone_garg args[HONE_LOOP_CONDITION + 1] = {
        [HONE_LOOP_BODY] = {.kind = HONE_GARG_GLOBAL, .u.s = loop->body},
        [HONE_LOOP_LIMIT] = loop->limit,
        [HONE_LOOP_CONDITION] = loop->condition
    };
    HONE_TRY(tuple_of(r, loop->state_count, loop->states, 0, NULL, &args[HONE_LOOP_STATES]));
    HONE_TRY(tuple_of(r, loop->given_count, loop->given, loop->captured->count,
                      loop->captured->values, &args[HONE_LOOP_CAPTURED]));
    hone_garg out;
    if (hone_graph_add_call(r->graph, "loop", HONE_LOOP_CONDITION + has_condition, args,
                            (hone_attrs){0}, NULL) == HONE_NO_ID) {
        return no_memory();
    }
    HONE_TRY(onnx_finish_bind(r, &r->graph->bindings[r->graph->bind_count - 1], &out));
    for (uint32_t i = 0; i < loop->state_count + loop->scan_count; i++)
        HONE_TRY(onnx_emit_get(r, out, (int32_t)i, &results[i]));
    return HONE_OK;
}

/* The body as a function; whether it says to go on is found out. */
static hone_status make_body(onnx_reader *r, turns *t, const onnx_captured *captured,
                             body_of_loop *b, onnx_loop *out) {
    const hone_sinfo **leads;
    HONE_TRY(types_of(r, t, &leads));
    onnx_function f = {.stem = "main_loop",
                       .captured = captured,
                       .lead_count = 1 + t->state_count + t->whole_count,
                       .leads = leads,
                       .gives_tuple = true,
                       .ctx = b,
                       .read = read_body};
    *out = (onnx_loop){.limit = t->limit,
                       .condition = t->condition,
                       .state_count = t->state_count,
                       .states = t->states,
                       .given_count = t->whole_count,
                       .given = t->wholes,
                       .scan_count = b->drops_scans ? 0 : t->scan_count,
                       .captured = captured};
    HONE_TRY(onnx_make_function(r, &f, &out->body));
    if (!b->has_condition || t->condition.kind != HONE_GARG_NONE) return HONE_OK;
    return onnx_scalar(r, HONE_DTYPE_BOOL, 1, &out->condition);
}

/* How many turns there will be, where that follows from the limit alone. */
static hone_status find_limit(onnx_reader *r, hone_garg *io) {
    const hone_expr *found[1] = {NULL};
    hone_garg number = *io;
    HONE_TRY(onnx_with_scalar(r, "maximum", number, 0, &number));
    HONE_TRY(onnx_emit_flat(r, number, &number));
    HONE_TRY(onnx_find_sizes(r, number, 1, -1, found));
    *io = (hone_garg){.kind = HONE_GARG_PRIM, .u.expr = found[0]};
    return HONE_OK;
}

/* A loop that only counts its turns: the number of the last one is a state more. */
static hone_status count_turns(onnx_reader *r, turns *t, const onnx_captured *captured) {
    turns counting = *t;
    onnx_loop loop;
    body_of_loop b = {.t = &counting, .drops_scans = true, .counts = true};
    uint32_t last = t->state_count;
    counting.states = hone_arena_zalloc(r->arena, ((size_t)last + 1) * sizeof *counting.states);
    hone_garg *results = hone_arena_zalloc(r->arena, ((size_t)last + 1) * sizeof *results);
    if (!counting.states || !results) return no_memory();
    memcpy(counting.states, t->states, last * sizeof *t->states);
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I64, 0, &counting.states[last]));
    counting.state_count = last + 1;
    HONE_TRY(make_body(r, &counting, captured, &b, &loop));
    HONE_TRY(onnx_emit_loop(r, &loop, results));
    t->limit = results[last];
    return find_limit(r, &t->limit);
}

static hone_status check_scans(onnx_reader *r, const turns *t) {
    for (uint32_t i = t->state_count; i < t->state_count + t->scan_count; i++) {
        const hone_sinfo *info = hone_garg_sinfo(r->module, r->graph, &t->results[i], r->arena);
        if (info && info->rank >= 0 && (info->shape || info->rank == 0)) continue;
        return HONE_ERROR(
            HONE_CODE_UNSUPPORTED,
            "the shape of an item of '%.200s' depends on the turn: the trip count and "
            "the condition must be constant",
            t->body->output[!t->is_scan + i]->name);
    }
    return HONE_OK;
}

/* Room for scans is made before the loop: where the number of turns depends on data, it is found
 * first, by a loop without scans where that takes one. */
static hone_status fix_turns(onnx_reader *r, turns *t, bool has_condition,
                             const onnx_captured *captured, bool *out_again) {
    *out_again = t->scan_count && (has_condition || t->limit.kind != HONE_GARG_PRIM);
    if (!*out_again) return HONE_OK;
    HONE_TRY(has_condition ? count_turns(r, t, captured) : find_limit(r, &t->limit));
    t->condition.kind = HONE_GARG_NONE;
    return HONE_OK;
}

/* ---- states that change their sizes ---- */

/* What a turn makes of the states, which come behind whether to go on. */
static hone_status growth_of(onnx_reader *r, const turns *t, const onnx_loop *loop,
                             bool has_condition, onnx_growth *out) {
    const hone_member *member = hone_module_find(r->module, loop->body);
    const hone_sinfo *made = member ? member->graph->result_sinfo : NULL;
    *out = (onnx_growth){0};
    if (!made || made->kind != HONE_SINFO_TUPLE || made->field_count < t->state_count) {
        return HONE_OK;
    }
    return onnx_find_growth(r, t->state_count, t->states, made->fields + has_condition, out);
}

/* The states, and behind them the sizes of those that change. */
static hone_status with_sizes(onnx_reader *r, const turns *t, onnx_growth *g, turns *out) {
    *out = *t;
    out->growth = g;
    out->state_count += g->groups;
    out->states = hone_arena_zalloc(r->arena, ((size_t)out->state_count + 1) * sizeof *out->states);
    if (!out->states) return no_memory();
    memcpy(out->states, t->states, t->state_count * sizeof *t->states);
    return onnx_first_sizes(r, g, out->states + t->state_count);
}

static hone_status check_growth(const turns *t, bool has_condition) {
    bool is_endless =
        t->limit.kind == HONE_GARG_PRIM && hone_expr_is_int_value(t->limit.u.expr, INT64_MAX);
    if (is_endless) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "a state has another shape after each turn: the trip count (input 0) "
                          "must say how many there are at most");
    }
    if (has_condition && t->scan_count) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a condition and scan outputs, beside a state "
                                                 "that has another shape after each turn");
    }
    return HONE_OK;
}

/* `t` has the sizes; results without them. */
static hone_status run_growing(onnx_reader *r, turns *t, const onnx_captured *captured,
                               body_of_loop *b, hone_garg *results) {
    uint32_t sizes = t->growth->groups, states = t->state_count - sizes;
    onnx_loop loop;
    hone_garg *all =
        hone_arena_zalloc(r->arena, ((size_t)t->state_count + t->scan_count + 1) * sizeof *all);
    if (!all) return no_memory();
    HONE_TRY(check_growth(t, b->has_condition));
    if (t->limit.kind != HONE_GARG_PRIM) HONE_TRY(find_limit(r, &t->limit));
    HONE_TRY(onnx_make_room(r, t->limit.u.expr, t->growth, t->states));
    HONE_TRY(make_body(r, t, captured, b, &loop));
    HONE_TRY(onnx_emit_loop(r, &loop, all));
    HONE_TRY(onnx_cut_results(r, t->growth, all + states, !b->has_condition, all));
    memcpy(results, all, states * sizeof *all);
    memcpy(results + states, all + t->state_count, t->scan_count * sizeof *all);
    return HONE_OK;
}

/* Where states change evenly: done, and the loop is run. */
static hone_status try_growing(onnx_reader *r, turns *t, const onnx_captured *captured,
                               body_of_loop *b, const onnx_loop *first, bool *out_done) {
    onnx_growth growth;
    turns grown;
    onnx_loop ignored;
    body_of_loop inside = *b;
    uint32_t vars = r->graph->var_count;
    bool again = true;
    inside.t = &grown;
    HONE_TRY(growth_of(r, t, first, b->has_condition, &growth));
    while (again && growth.count) {
        HONE_TRY(with_sizes(r, t, &growth, &grown));
        HONE_TRY(make_body(r, &grown, captured, &inside, &ignored));
        again = onnx_drop_uneven(vars, &growth);
    }
    *out_done = growth.count > 0;
    return *out_done ? run_growing(r, &grown, captured, &inside, t->results) : HONE_OK;
}

static hone_status turns_as_loop(onnx_reader *r, turns *t) {
    onnx_captured captured = {0};
    body_of_loop b = {.t = t};
    onnx_loop loop;
    bool again, is_done;
    if (t->condition.kind != HONE_GARG_NONE) HONE_TRY(onnx_as_scalar(r, &t->condition));
    if (t->limit.kind != HONE_GARG_PRIM) HONE_TRY(onnx_as_scalar(r, &t->limit));
    HONE_TRY(onnx_capture(r, t->body, &captured));
    HONE_TRY(make_body(r, t, &captured, &b, &loop));
    if (t->known == INT64_MAX && !b.has_condition)
        return HONE_ERROR(HONE_CODE_INVALID, "the loop has no end");
    HONE_TRY(try_growing(r, t, &captured, &b, &loop, &is_done));
    if (is_done) return check_scans(r, t);
    HONE_TRY(fix_turns(r, t, b.has_condition, &captured, &again));
    if (again) {
        b.goes_on_always = true;
        HONE_TRY(make_body(r, t, &captured, &b, &loop));
    }
    HONE_TRY(onnx_emit_loop(r, &loop, t->results));
    return check_scans(r, t);
}

/* ---- which ---- */

static int64_t nodes_of(const turns *t) {
    int64_t nodes, per_turn = (int64_t)t->body->n_node + 1;
    if (t->known < 0 || __builtin_mul_overflow(t->known, per_turn, &nodes)) return INT64_MAX;
    return nodes;
}

static bool has_sequence(const turns *t) {
    bool found = false;
    for (uint32_t i = 0; i < t->state_count; i++)
        found |= t->states[i].kind == HONE_GARG_TUPLE || t->states[i].kind == HONE_GARG_NONE;
    return found;
}

/* What was begun in the function is taken back where it does not work. */
static hone_status try(onnx_reader *r, turns *t, hone_status (*how)(onnx_reader *, turns *)) {
    uint32_t binds = r->graph->bind_count, values = r->graph->value_count;
    uint32_t found = r->found_count, items = r->items_count;
    hone_garg *states = hone_arena_copy(r->arena, t->states, (t->state_count + 1) * sizeof *states);
    if (!states) return no_memory();
    hone_status st = how(r, t);
    if (!st) return HONE_OK;
    r->graph->bind_count = binds;
    r->graph->value_count = values;
    r->found_count = found;
    r->items_count = items;
    memcpy(t->states, states, t->state_count * sizeof *states);
    return st;
}

static hone_status run_turns(onnx_reader *r, turns *t) {
    int64_t nodes = nodes_of(t);
    bool begins = t->condition.kind == HONE_GARG_NONE;
    bool is_small = begins && nodes <= NODES_IN_PLACE;
    bool can_be = begins && (nodes <= MOST_NODES_IN_PLACE || t->known == INT64_MAX);
    bool is_first_place = is_small || (can_be && has_sequence(t));
    if (!can_be) return turns_as_loop(r, t);
    hone_status st = try(r, t, is_first_place ? turns_in_place : turns_as_loop);
    if (!st || hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    hone_status other = try(r, t, is_first_place ? turns_as_loop : turns_in_place);
    bool tells_first =
        other && !is_first_place; /* in place, the first turn tells what is missing */
    if (tells_first) {
        hone_status_free(st);
        return other;
    }
    hone_status_free(other ? other : st);
    return other ? st : HONE_OK;
}

/* Items that are appended are scans, which sequences are made of behind the loop. */
static hone_status run_appending(onnx_reader *r, turns *t, const onnx_appends *a) {
    turns plain = *t;
    uint32_t kept = t->state_count - a->count, scans = t->scan_count, at = 0;
    plain.body = a->body;
    plain.state_count = kept;
    plain.scan_count = scans + a->count;
    plain.states = hone_arena_zalloc(r->arena, ((size_t)kept + 1) * sizeof *plain.states);
    plain.results =
        hone_arena_zalloc(r->arena, ((size_t)kept + plain.scan_count) * sizeof *plain.results);
    if (!plain.states || !plain.results) return no_memory();
    for (uint32_t s = 0, next = a->count; s < t->state_count; s++) {
        bool is_appended = next > 0 && a->states[next - 1] == s;
        if (is_appended) next--;
        if (!is_appended) plain.states[at++] = t->states[s];
    }
    HONE_TRY(run_turns(r, &plain));
    memcpy(t->results + t->state_count, plain.results + kept, scans * sizeof *t->results);
    for (uint32_t i = 0; i < a->count; i++)
        HONE_TRY(onnx_make_series(r, plain.results[kept + scans + i], &t->results[a->states[i]]));
    at = 0;
    for (uint32_t s = 0; s < t->state_count; s++)
        if (!onnx_is_series(&t->results[s])) t->results[s] = plain.results[at++];
    return HONE_OK;
}

/* Sequences are lists where the turns stand in place, else they must be made by appending. */
static hone_status run_loop(onnx_reader *r, turns *t) {
    onnx_appends a;
    hone_status st = try(r, t, run_turns);
    if (!st || hone_status_code(st) != HONE_CODE_UNSUPPORTED || !has_sequence(t)) return st;
    hone_status failed = onnx_find_appends(r, t->body, t->state_count, t->states, &a);
    if (failed || !a.count) return hone_status_join(st, failed);
    hone_status_free(st);
    return run_appending(r, t, &a);
}

static hone_status begin_turns(onnx_reader *r, turns *t, uint32_t first_state) {
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
    t->states = hone_arena_copy(r->arena, r->inputs + first_state,
                                ((size_t)t->state_count + 1) * sizeof *t->states);
    t->wholes = hone_arena_copy(r->arena, r->inputs + first_state + t->state_count,
                                ((size_t)t->whole_count + 1) * sizeof *t->wholes);
    t->results = hone_arena_zalloc(r->arena, (t->body->n_output + 1) * sizeof *t->results);
    return t->states && t->wholes && t->results ? HONE_OK : no_memory();
}

/* ---- Loop ---- */

static hone_status read_limit(onnx_reader *r, turns *t) {
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
    turns t = {.condition = {.kind = HONE_GARG_NONE}};
    size_t inputs = r->node->n_input; /* absent optionals at the end count */
    t.state_count = inputs > 2 ? (uint32_t)inputs - 2 : 0;
    HONE_TRY(begin_turns(r, &t, 2));
    HONE_TRY(read_limit(r, &t));
    if (onnx_has_input(r, 1)) {
        t.condition = r->inputs[1];
        if (onnx_known_truth(r, &r->inputs[1], &begins)) t.condition.kind = HONE_GARG_NONE;
    }
    if (!begins) t.known = 0;
    HONE_TRY(run_loop(r, &t));
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
static hone_status prepare_wholes(onnx_reader *r, turns *t, const scan_attrs *attrs) {
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

static hone_status run_scan(onnx_reader *r, turns *t, const scan_attrs *attrs) {
    HONE_TRY(prepare_wholes(r, t, attrs));
    HONE_TRY(run_turns(r, t));
    for (uint32_t i = 0; i < t->scan_count; i++)
        HONE_TRY(finish_scan(r, attrs, i, &t->results[t->state_count + i]));
    return HONE_OK;
}

/* Opset 8: each batch is scanned for itself, and what comes out is stacked. */
static hone_status run_batches(onnx_reader *r, const turns *all, const scan_attrs *attrs,
                               hone_garg *out) {
    const hone_sinfo *info;
    uint32_t results = all->state_count + all->scan_count;
    HONE_TRY(onnx_info(r, &all->wholes[0], &info));
    int64_t batches = info->rank > 0 ? hone_expr_const(info->shape[0]) : -1;
    if (batches < 1 || batches > ONNX_MAX_INPUTS) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "the number of batches must be known, and at most %d", ONNX_MAX_INPUTS);
    }
    hone_garg *made = hone_arena_zalloc(r->arena, (size_t)(batches * results + 1) * sizeof *made);
    if (!made) return no_memory();
    for (int64_t b = 0; b < batches; b++) {
        turns t = *all;
        hone_garg i = {.kind = HONE_GARG_PRIM, .u.expr = hone_extent_int(&r->ir, b)};
        HONE_TRY(begin_turns(r, &t, 1));
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
    turns t = {.is_scan = true, .condition = {.kind = HONE_GARG_NONE}};
    scan_attrs attrs = {0};
    HONE_TRY(onnx_attr_int(r, "num_scan_inputs", 0, &wholes));
    if (wholes < 1 || wholes > ONNX_MAX_OUTPUTS || wholes + has_batch > r->input_count) {
        return HONE_ERROR(HONE_CODE_INVALID, "num_scan_inputs is %lld, of %u inputs",
                          (long long)wholes, r->input_count);
    }
    t.whole_count = (uint32_t)wholes;
    t.state_count = r->input_count - has_batch - t.whole_count;
    HONE_TRY(begin_turns(r, &t, has_batch));
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
