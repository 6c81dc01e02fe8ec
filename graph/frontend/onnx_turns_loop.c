/* graph/frontend/onnx_turns_loop.c - the turns of Loop and Scan as a loop of the graph, whose body
 * is a function. Where states change their sizes from turn to turn, so do states that hold these.
 */
#include <string.h>

#include "graph/frontend/onnx_turns.h"
#include "graph/module/rewrite.h"

typedef struct body_of_loop {
    const onnx_turns *t;
    bool has_condition;               /* that is found out */
    bool goes_on_always, drops_scans; /* whatever its graph says */
    bool counts;                      /* the last state is how many turns there were */
    bool holds;                       /* states that change their sizes stay as they began */
} body_of_loop;

/* A turn without the states that hold sizes. */
static hone_status read_growing(onnx_reader *r, const onnx_turns *t, const hone_garg *leads,
                                const hone_garg *wholes, hone_garg *outputs) {
    onnx_turns plain = *t;
    uint32_t sizes = t->growth ? t->growth->groups : 0;
    plain.state_count -= sizes;
    hone_garg *states = hone_arena_copy(r->arena, leads + 1, t->state_count * sizeof *states);
    if (!states) return HONE_NO_MEMORY("model");
    if (!sizes) return onnx_read_turn(r, &plain, leads[0], states, wholes, outputs);
    HONE_TRY(onnx_cut_states(r, t->growth, leads + 1 + plain.state_count, states));
    HONE_TRY(onnx_read_turn(r, &plain, leads[0], states, wholes, outputs));
    hone_garg *after = outputs + !t->is_scan, *scans = after + plain.state_count;
    memmove(scans + sizes, scans, t->scan_count * sizeof *scans);
    return onnx_keep_states(r, t->growth, after, scans);
}

/* A turn without the state that counts. */
static hone_status read_counted(onnx_reader *r, const onnx_turns *t, bool counts,
                                const hone_garg *leads, hone_garg *outputs) {
    onnx_turns uncounted = *t;
    const hone_garg *wholes = leads + 1 + t->state_count;
    uncounted.state_count -= counts;
    HONE_TRY(read_growing(r, &uncounted, leads, wholes, outputs));
    if (!counts) return HONE_OK;
    return onnx_with_scalar(r, "add", leads[0], 1, &outputs[!t->is_scan + uncounted.state_count]);
}

/* ---- states of which a loop that counts knows the sizes alone ---- */

static bool uses(const hone_garg *arg, const bool *is_of) {
    if (arg->kind == HONE_GARG_VALUE) return is_of[arg->u.value];
    for (uint32_t i = 0; i < onnx_held_count(arg); i++)
        if (uses(&arg->u.items[i], is_of)) return true;
    return false;
}

/* Which values of the function follow from states that change their sizes. */
static hone_status follow_states(onnx_reader *r, const onnx_growth *g, const hone_garg *states,
                                 bool **out) {
    const hone_graph_func *graph = r->graph;
    *out = hone_arena_zalloc(r->arena, (size_t)graph->value_count + 1);
    if (!*out) return HONE_NO_MEMORY("model");
    for (uint32_t i = 0; i < g->count; i++)
        (*out)[states[g->items[i].state].u.value] = true;
    for (uint32_t b = 0; b < graph->bind_count; b++) {
        const hone_gbind *bind = &graph->bindings[b];
        for (uint32_t a = 0; a < bind->arg_count; a++)
            if (bind->value != HONE_NO_ID && uses(&bind->args[a], *out)) (*out)[bind->value] = true;
    }
    return HONE_OK;
}

/* outputs: whether to go on, then states. Nothing else may follow from what is in those states. */
static hone_status hold_states(onnx_reader *r, const onnx_turns *t, const hone_garg *states,
                               hone_garg *outputs) {
    bool *is_of;
    for (uint32_t i = 0; i < t->growth->count; i++)
        outputs[1 + t->growth->items[i].state] = states[t->growth->items[i].state];
    HONE_TRY(follow_states(r, t->growth, states, &is_of));
    for (uint32_t i = 0; i < t->growth->count; i++)
        is_of[states[t->growth->items[i].state].u.value] = false;
    for (uint32_t i = 0; i <= t->state_count; i++) {
        if (!uses(&outputs[i], is_of)) continue;
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "how many turns there are depends on a state that has another shape "
                          "after each: the trip count (input 0) must say how many at most");
    }
    return HONE_OK;
}

static hone_status read_body(onnx_reader *r, void *ctx, const hone_garg *leads,
                             hone_garg **out_results, uint32_t *out_count) {
    body_of_loop *b = ctx;
    const onnx_turns *t = b->t;
    uint32_t count = !t->is_scan + t->state_count;
    hone_garg *outputs =
        hone_arena_zalloc(r->arena, ((size_t)count + t->scan_count + 1) * sizeof *outputs);
    bool goes_on = false;
    if (!outputs) return HONE_NO_MEMORY("model");
    HONE_TRY(read_counted(r, t, b->counts, leads, outputs));
    if (b->holds) HONE_TRY(hold_states(r, t, leads + 1, outputs));
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
static hone_status types_of(onnx_reader *r, onnx_turns *t, const hone_sinfo ***out) {
    uint32_t count = 1 + t->state_count + t->whole_count;
    *out = hone_arena_zalloc(r->arena, count * sizeof **out);
    if (!*out) return HONE_NO_MEMORY("model");
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
    if (!items) return HONE_NO_MEMORY("model");
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
        return HONE_NO_MEMORY("model");
    }
    HONE_TRY(onnx_finish_bind(r, &r->graph->bindings[r->graph->bind_count - 1], &out));
    for (uint32_t i = 0; i < loop->state_count + loop->scan_count; i++)
        HONE_TRY(onnx_emit_get(r, out, (int32_t)i, &results[i]));
    return HONE_OK;
}

/* The body as a function; whether it says to go on is found out. */
static hone_status make_body(onnx_reader *r, onnx_turns *t, const onnx_captured *captured,
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
static hone_status count_turns(onnx_reader *r, onnx_turns *t, const onnx_captured *captured) {
    onnx_turns counting = *t;
    onnx_loop loop;
    body_of_loop b = {
        .t = &counting, .drops_scans = true, .counts = true, .holds = t->growth != NULL};
    uint32_t last = t->state_count;
    counting.states = hone_arena_zalloc(r->arena, ((size_t)last + 1) * sizeof *counting.states);
    hone_garg *results = hone_arena_zalloc(r->arena, ((size_t)last + 1) * sizeof *results);
    if (!counting.states || !results) return HONE_NO_MEMORY("model");
    memcpy(counting.states, t->states, last * sizeof *t->states);
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I64, 0, &counting.states[last]));
    counting.state_count = last + 1;
    HONE_TRY(make_body(r, &counting, captured, &b, &loop));
    HONE_TRY(onnx_emit_loop(r, &loop, results));
    t->limit = results[last];
    return find_limit(r, &t->limit);
}

static hone_status check_scans(onnx_reader *r, const onnx_turns *t) {
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
static hone_status fix_turns(onnx_reader *r, onnx_turns *t, bool has_condition,
                             const onnx_captured *captured, bool *out_again) {
    *out_again = t->scan_count && (has_condition || t->limit.kind != HONE_GARG_PRIM);
    if (!*out_again) return HONE_OK;
    HONE_TRY(has_condition ? count_turns(r, t, captured) : find_limit(r, &t->limit));
    t->condition.kind = HONE_GARG_NONE;
    return HONE_OK;
}

/* ---- states that change their sizes ---- */

/* What a turn makes of the states, which come behind whether to go on. */
static hone_status growth_of(onnx_reader *r, const onnx_turns *t, const onnx_loop *loop,
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
static hone_status with_sizes(onnx_reader *r, const onnx_turns *t, onnx_growth *g,
                              onnx_turns *out) {
    *out = *t;
    out->growth = g;
    out->state_count += g->groups;
    out->states = hone_arena_zalloc(r->arena, ((size_t)out->state_count + 1) * sizeof *out->states);
    if (!out->states) return HONE_NO_MEMORY("model");
    memcpy(out->states, t->states, t->state_count * sizeof *t->states);
    return onnx_first_sizes(r, g, out->states + t->state_count);
}

static bool is_endless(const onnx_turns *t) {
    return t->limit.kind == HONE_GARG_PRIM && hone_expr_is_int_value(t->limit.u.expr, INT64_MAX);
}

/* Room for states and scans wants the number of turns: where a condition ends them, and nothing
 * says how many there are at most, they are counted first. */
static hone_status limit_growing(onnx_reader *r, onnx_turns *t, const onnx_captured *captured,
                                 body_of_loop *b) {
    if (b->has_condition && (t->scan_count || is_endless(t))) {
        HONE_TRY(count_turns(r, t, captured));
        t->condition.kind = HONE_GARG_NONE;
        b->goes_on_always = true;
    }
    return t->limit.kind == HONE_GARG_PRIM ? HONE_OK : find_limit(r, &t->limit);
}

/* `t` has the sizes; results without them. */
static hone_status run_growing(onnx_reader *r, onnx_turns *t, const onnx_captured *captured,
                               body_of_loop *b, hone_garg *results) {
    uint32_t sizes = t->growth->groups, states = t->state_count - sizes;
    onnx_loop loop;
    hone_garg *all =
        hone_arena_zalloc(r->arena, ((size_t)t->state_count + t->scan_count + 1) * sizeof *all);
    if (!all) return HONE_NO_MEMORY("model");
    HONE_TRY(limit_growing(r, t, captured, b));
    HONE_TRY(onnx_make_room(r, t->limit.u.expr, t->growth, t->states));
    HONE_TRY(make_body(r, t, captured, b, &loop));
    HONE_TRY(onnx_emit_loop(r, &loop, all));
    HONE_TRY(onnx_cut_results(r, t->growth, all + states, !b->has_condition, all));
    memcpy(results, all, states * sizeof *all);
    memcpy(results + states, all + t->state_count, t->scan_count * sizeof *all);
    return HONE_OK;
}

/* Where states change evenly: done, and the loop is run. */
static hone_status try_growing(onnx_reader *r, onnx_turns *t, const onnx_captured *captured,
                               body_of_loop *b, const onnx_loop *first, bool *out_done) {
    onnx_growth growth;
    onnx_turns grown;
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

hone_status onnx_turns_as_loop(onnx_reader *r, onnx_turns *t) {
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
