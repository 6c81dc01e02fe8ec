/* graph/frontend/onnx_recurrent.c - LSTM, GRU and RNN, step by step; a loop of the graph where
 * there are many or their number is not known.
 *
 * What the steps take of the data is one product over all of them; each step then is a product with
 * the state before it and what follows element by element. A step finds its part of the data by a
 * number that is data, too, so that all steps are the same kernels, which are made once.
 * A sequence that ended keeps its state and gives zeros: backwards, that is the state before its
 * last element. */
#include <string.h>

#include "graph/frontend/onnx_cell.h"
#include "graph/frontend/onnx_flow.h"

enum { STEPS_IN_PLACE = 256 };

/* ---- short numbers ---- */

static hone_status check_rank(const onnx_reader *r, uint32_t input, int32_t rank) {
    const hone_sinfo *info;
    if (!onnx_has_input(r, input)) return HONE_OK;
    HONE_TRY(onnx_input_info(r, input, &info));
    if (info->rank == rank) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "input %u has %d dimensions, must have %d", input,
                      info->rank, rank);
}

/* Scale or zero point: a number for each direction, or for each of its columns. */
static hone_status of_columns(onnx_reader *r, hone_garg x, hone_garg *out) {
    const hone_sinfo *info;
    HONE_TRY(onnx_info(r, &x, &info));
    if (info->rank < 1 || info->rank > 2)
        return HONE_ERROR(HONE_CODE_INVALID, "a scale or zero point of %d dimensions", info->rank);
    const hone_expr *one = hone_extent_int(&r->ir, 1);
    const hone_expr *shape[] = {info->shape[0], one, info->rank == 2 ? info->shape[1] : one};
    return onnx_emit_reshape(r, x, 3, shape, out);
}

/* The weight in this input, [directions, from, to] and short, as the standard has it: turned, and
 * floats. */
static hone_status lengthen_weight(onnx_reader *r, uint32_t input, uint32_t scale_input) {
    static const int64_t axes[] = {0, 2, 1};
    hone_garg weight = r->inputs[input], scale, zero;
    if (!onnx_has_input(r, scale_input))
        return HONE_ERROR(HONE_CODE_INVALID, "input %u is missing", scale_input);
    HONE_TRY(check_rank(r, input, 3));
    HONE_TRY(of_columns(r, r->inputs[scale_input], &scale));
    HONE_TRY(onnx_emit_cast(r, weight, HONE_DTYPE_F32, &weight));
    if (onnx_has_input(r, scale_input + 1)) {
        HONE_TRY(of_columns(r, r->inputs[scale_input + 1], &zero));
        HONE_TRY(onnx_emit_cast(r, zero, HONE_DTYPE_F32, &zero));
        HONE_TRY(onnx_emit2(r, "subtract", weight, zero, &weight));
    }
    HONE_TRY(onnx_emit2(r, "multiply", weight, scale, &weight));
    return onnx_emit_permute(r, weight, 3, axes, &r->inputs[input]);
}

/* ---- what the node says ---- */

static hone_status swap_first(onnx_reader *r, hone_garg x, hone_garg *out) {
    static const int64_t axes[] = {1, 0, 2};
    return onnx_emit_permute(r, x, 3, axes, out);
}

static hone_status read_direction(const onnx_reader *r, bool *out_backwards, uint32_t *out_count) {
    static const char *const words[] = {"forward", "reverse", "bidirectional", NULL};
    uint32_t word;
    HONE_TRY(onnx_attr_word(r, "direction", words[0], words, &word));
    *out_backwards = word == 1;
    *out_count = word == 2 ? 2 : 1;
    return HONE_OK;
}

/* A dimension of an input that the file leaves open: checked when it is known. */
static hone_status demand(onnx_reader *r, uint32_t input, int32_t d, int64_t size) {
    const hone_sinfo *info;
    if (!input || !onnx_has_input(r, input)) return HONE_OK;
    HONE_TRY(onnx_input_info(r, input, &info));
    if (size < 0 || hone_expr_const(info->shape[d]) >= 0) return HONE_OK;
    return hone_status_annotate(onnx_demand_size(r, &r->inputs[input], d, size), "input %u", input);
}

/* The sizes of weights follow from that of the state. */
static hone_status demand_weights(onnx_reader *r, const onnx_cell *c, const hone_expr *data_size) {
    int64_t width = c->gates * c->hidden;
    enum { WEIGHT = 1, STATE_WEIGHT = 2, BIAS = 3 };
    for (uint32_t input = WEIGHT; input <= BIAS; input++)
        HONE_TRY(demand(r, input, 0, c->directions));
    HONE_TRY(demand(r, WEIGHT, 1, width));
    HONE_TRY(demand(r, WEIGHT, 2, hone_expr_const(data_size)));
    HONE_TRY(demand(r, STATE_WEIGHT, 1, width));
    HONE_TRY(demand(r, BIAS, 1, 2 * width));
    HONE_TRY(demand(r, c->p_input, 0, c->directions));
    return demand(r, c->p_input, 1, 3 * c->hidden);
}

static hone_status read_shapes(onnx_reader *r, onnx_cell *c) {
    const hone_sinfo *data, *weight;
    static const int32_t ranks[] = {3, 3, 3, 2, 1, 3};
    for (uint32_t i = 0; i < HONE_COUNT(ranks); i++)
        HONE_TRY(check_rank(r, i, ranks[i]));
    if (c->c_input) HONE_TRY(check_rank(r, c->c_input, 3));
    if (c->p_input) HONE_TRY(check_rank(r, c->p_input, 2));
    c->data = r->inputs[0];
    if (c->is_batch_first) HONE_TRY(swap_first(r, c->data, &c->data));
    HONE_TRY(onnx_info(r, &c->data, &data));
    HONE_TRY(onnx_input_info(r, 2, &weight));
    c->length = data->shape[0];
    c->steps = hone_expr_const(c->length);
    c->hidden = hone_expr_const(weight->shape[2]);
    if (c->hidden < 0) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "a state of unknown size is not implemented; give it with --shape");
    }
    c->batch = data->shape[1];
    c->dtype = data->dtype;
    HONE_TRY(demand_weights(r, c, data->shape[2]));
    HONE_TRY(onnx_input_info(r, 2, &weight));
    if (hone_expr_const(weight->shape[0]) != c->directions ||
        hone_expr_const(weight->shape[1]) != c->gates * c->hidden) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "the recurrent weight does not fit %u directions and "
                          "%u gates",
                          c->directions, c->gates);
    }
    int64_t hidden;
    HONE_TRY(onnx_attr_int(r, "hidden_size", c->hidden, &hidden));
    if (hidden == c->hidden) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "attribute 'hidden_size' is %lld, but states have %lld",
                      (long long)hidden, (long long)c->hidden);
}

/* ---- one direction ---- */

/* Part d of the first dimension. */
static hone_status pick(onnx_reader *r, hone_garg x, int64_t d, hone_garg *out) {
    const hone_sinfo *info;
    HONE_TRY(onnx_emit_slice(r, x, 0, d, d + 1, out));
    HONE_TRY(onnx_info(r, out, &info));
    return onnx_emit_reshape(r, *out, (uint32_t)info->rank - 1, info->shape + 1, out);
}

static hone_status turned(onnx_reader *r, hone_garg x, hone_garg *out) {
    static const int64_t axes[] = {1, 0};
    return onnx_emit_permute(r, x, 2, axes, out);
}

/* Both biases belong to the data, but that of the last gate of a GRU which is linear before its
 * reset: it is added to the product with the state. */
static hone_status add_biases(onnx_cell_pass *p, int64_t d) {
    const onnx_cell *c = p->c;
    onnx_reader *r = c->r;
    hone_garg both, own, state, parts[3];
    int64_t width = c->gates * c->hidden;
    if (!onnx_has_input(r, 3)) return HONE_OK;
    HONE_TRY(pick(r, r->inputs[3], d, &both));
    HONE_TRY(onnx_emit_slice(r, both, 0, 0, width, &own));
    HONE_TRY(onnx_emit_slice(r, both, 0, width, 2 * width, &state));
    if (c->is_linear_first) {
        HONE_TRY(onnx_cell_gate(c, state, 2, &p->late));
        HONE_TRY(onnx_emit_slice(r, state, 0, 0, 2 * c->hidden, &parts[0]));
        HONE_TRY(onnx_with_scalar(r, "multiply", p->late, 0, &parts[1]));
        HONE_TRY(onnx_emit_concat(r, 2, parts, 0, &state));
    }
    HONE_TRY(onnx_emit2(r, "add", own, state, &own));
    return onnx_emit2(r, "add", p->taken, own, &p->taken);
}

/* The state at the beginning, from an input, or NONE. */
static hone_status initial(const onnx_cell *c, uint32_t input, int64_t d, hone_garg *out) {
    hone_garg x;
    *out = (hone_garg){.kind = HONE_GARG_NONE};
    if (!input || !onnx_has_input(c->r, input)) return HONE_OK;
    x = c->r->inputs[input];
    if (c->is_batch_first) HONE_TRY(swap_first(c->r, x, &x));
    const hone_expr *shape[] = {hone_extent_int(&c->r->ir, c->directions), c->batch,
                                hone_extent_int(&c->r->ir, c->hidden)};
    HONE_TRY(hone_status_annotate(onnx_demand_shape(c->r, &x, 3, shape), "input %u", input));
    return pick(c->r, x, d, out);
}

/* The length of each sequence, [batch, 1], none longer than the data; NONE: all are as long. */
static hone_status read_lengths(const onnx_cell *c, hone_garg *out) {
    onnx_reader *r = c->r;
    const hone_expr *shape[] = {c->batch, hone_extent_int(&r->ir, 1)};
    *out = (hone_garg){.kind = HONE_GARG_NONE};
    if (!onnx_has_input(r, 4)) return HONE_OK;
    HONE_TRY(onnx_emit_within(r, r->inputs[4], hone_extent_add(&r->ir, c->length, 1), out));
    return onnx_emit_reshape(r, *out, 2, shape, out);
}

static hone_status begin_pass(const onnx_cell *c, int64_t d, uint32_t functions,
                              onnx_cell_pass *p) {
    onnx_reader *r = c->r;
    const hone_garg none = {.kind = HONE_GARG_NONE};
    hone_garg weight, peep, data;
    *p = (onnx_cell_pass){
        .c = c,
        .f = c->functions + d * functions,
        .last_gate = none,
        .late = none,
        .peep = {none,  none, none},
        .last = none,
        .attention = { none, none, none, none, none, none, none, none}
    };
    if (c->has_attention) HONE_TRY(onnx_cell_attention_begin(p, d));
    HONE_TRY(read_lengths(c, &p->lengths));
    HONE_TRY(pick(r, r->inputs[1], d, &weight));
    HONE_TRY(turned(r, weight, &weight));
    HONE_TRY(onnx_cell_shorten(c, c->data, &data));
    HONE_TRY(onnx_emit2(r, "matmul", data, weight, &p->taken));
    HONE_TRY(add_biases(p, d));
    HONE_TRY(pick(r, r->inputs[2], d, &weight));
    HONE_TRY(turned(r, weight, &p->weight));
    if (c->gates == 3 && !c->is_linear_first) { /* the reset comes between the gates */
        HONE_TRY(onnx_cell_gate(c, p->weight, 2, &p->last_gate));
        HONE_TRY(onnx_emit_slice(r, p->weight, 1, 0, 2 * c->hidden, &p->weight));
    }
    HONE_TRY(initial(c, c->h_input, d, &p->h));
    HONE_TRY(initial(c, c->c_input, d, &p->c_state));
    if (!c->p_input || !onnx_has_input(r, c->p_input)) return HONE_OK;
    HONE_TRY(pick(r, r->inputs[c->p_input], d, &peep));
    for (uint32_t k = 0; k < 3; k++)
        HONE_TRY(onnx_emit_slice(r, peep, 0, k * c->hidden, (k + 1) * c->hidden, &p->peep[k]));
    return HONE_OK;
}

static hone_status take_step(onnx_cell_pass *p, int64_t t, hone_garg *out) {
    onnx_reader *r = p->c->r;
    hone_garg index, taken;
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I64, (double)t, &index));
    HONE_TRY(onnx_emit_take(r, p->taken, index, 0, &taken));
    return onnx_cell_step(p, index, taken, out);
}

/* [1, batch, hidden] */
static hone_status as_part(const onnx_cell *c, hone_garg x, hone_garg *out) {
    const hone_expr *shape[] = {hone_extent_int(&c->r->ir, 1), c->batch,
                                hone_extent_int(&c->r->ir, c->hidden)};
    return onnx_emit_reshape(c->r, x, 3, shape, out);
}

static hone_status with_directions(const onnx_cell *c, hone_garg *io) {
    const hone_expr *shape[] = {c->length, hone_extent_int(&c->r->ir, 1), c->batch,
                                hone_extent_int(&c->r->ir, c->hidden)};
    return onnx_emit_reshape(c->r, *io, 4, shape, io);
}

static hone_status steps_in_place(const onnx_cell *c, onnx_cell_pass *p, bool is_backwards,
                                  hone_garg *out_all) {
    hone_garg *parts = hone_arena_alloc(c->r->arena, ((size_t)c->steps + 1) * sizeof *parts);
    if (!parts) return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
    for (int64_t i = 0; i < c->steps; i++) {
        int64_t t = is_backwards ? c->steps - 1 - i : i;
        HONE_TRY(take_step(p, t, &parts[t]));
        HONE_TRY(as_part(c, parts[t], &parts[t]));
    }
    return onnx_emit_concat(c->r, (uint32_t)c->steps, parts, 0, out_all);
}

/* ---- as a loop ---- */

/* What a pass holds, in the order of the parameters of its function: those that are values. */
enum { HELD = 19, HELD_STATES = 3 };

static void list_held(onnx_cell_pass *p, hone_garg *held[HELD]) {
    onnx_cell_attention *a = &p->attention;
    hone_garg *all[HELD] = {&p->h,         &p->c_state,   &a->state,   &p->taken,   &p->weight,
                            &p->last_gate, &p->late,      &p->peep[0], &p->peep[1], &p->peep[2],
                            &p->lengths,   &p->last,      &a->keys,    &a->memory,  &a->is_there,
                            &a->query,     &a->direction, &a->weight,  &a->layer};
    memcpy(held, all, sizeof all);
}

typedef struct body {
    const onnx_cell_pass *p;
    uint32_t states;
} body;

/* A parameter of the function: a state, whatever it begins with, or a value. */
static bool is_parameter(const hone_garg *held, uint32_t i, uint32_t states) {
    return i < states || held->kind == HONE_GARG_VALUE;
}

/* A turn: the states behind it, then its result. */
static hone_status read_body(onnx_reader *r, void *ctx, const hone_garg *leads,
                             hone_garg **out_results, uint32_t *out_count) {
    const body *b = ctx;
    onnx_cell_pass inside = *b->p;
    onnx_cell c = *inside.c;
    hone_garg *held[HELD], taken, index = leads[0];
    hone_garg *results = hone_arena_zalloc(r->arena, (b->states + 1) * sizeof *results);
    uint32_t next = 1;
    if (!results) return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
    list_held(&inside, held);
    for (uint32_t i = 0; i < HELD; i++)
        if (is_parameter(held[i], i, b->states)) *held[i] = leads[next++];
    inside.c = &c;
    if (inside.last.kind != HONE_GARG_NONE)
        HONE_TRY(onnx_emit2(r, "subtract", inside.last, leads[0], &index));
    HONE_TRY(onnx_emit_take(r, inside.taken, index, 0, &taken));
    HONE_TRY(onnx_cell_step(&inside, index, taken, &results[b->states]));
    results[0] = inside.h;
    if (b->states > 1) results[1] = inside.c_state;
    if (b->states > 2) results[2] = inside.attention.state;
    *out_results = results;
    *out_count = b->states + 1;
    return HONE_OK;
}

/* Everything but constants is a parameter, and states are. */
static hone_status make_function(const onnx_cell *c, onnx_cell_pass *p, uint32_t states,
                                 hone_garg *given, onnx_loop *loop) {
    onnx_reader *r = c->r;
    hone_garg *held[HELD];
    const hone_sinfo *leads[HELD + 1];
    onnx_captured *captured = hone_arena_zalloc(r->arena, sizeof *captured);
    body b = {p, states};
    uint32_t count = 1;
    if (!captured) return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
    leads[0] = hone_sinfo_static(r->arena, HONE_DTYPE_I64, 0, NULL);
    list_held(p, held);
    for (uint32_t i = 0; i < HELD; i++) {
        if (!is_parameter(held[i], i, states)) continue;
        HONE_TRY(onnx_info(r, held[i], &leads[count]));
        given[count++ - 1] = *held[i];
    }
    HONE_TRY(onnx_capture_sizes(r, captured));
    onnx_function f = {.stem = "main_cell",
                       .captured = captured,
                       .lead_count = count,
                       .leads = leads,
                       .gives_tuple = true,
                       .ctx = &b,
                       .read = read_body};
    *loop = (onnx_loop){
        .limit = {.kind = HONE_GARG_PRIM, .u.expr = c->length},
        .condition = {.kind = HONE_GARG_NONE                     },
        .state_count = states,
        .given_count = count - 1 - states,
        .scan_count = 1,
        .states = given,
        .given = given + states,
        .captured = captured
    };
    return onnx_make_function(r, &f, &loop->body);
}

static hone_status steps_as_loop(const onnx_cell *c, onnx_cell_pass *p, bool is_backwards,
                                 hone_garg *out_all) {
    onnx_reader *r = c->r;
    uint32_t states = c->has_attention ? 3 : c->gates == 4 ? 2 : 1;
    hone_garg given[HELD], results[HELD_STATES + 1];
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(0)};
    onnx_loop loop;
    HONE_TRY(onnx_cell_or_zeros(c, &p->h));
    if (states > 1) HONE_TRY(onnx_cell_or_zeros(c, &p->c_state));
    if (is_backwards) {
        HONE_TRY(onnx_sizes_tensor(r, 1, &c->length, &p->last));
        HONE_TRY(onnx_emit_reshape(r, p->last, 0, NULL, &p->last));
        HONE_TRY(onnx_with_scalar(r, "subtract", p->last, 1, &p->last));
    }
    HONE_TRY(make_function(c, p, states, given, &loop));
    HONE_TRY(onnx_emit_loop(r, &loop, results));
    p->h = results[0];
    if (states > 1) p->c_state = results[1];
    *out_all = results[states];
    return is_backwards ? onnx_emit(r, "flip", 1, out_all, 1, &axis, out_all) : HONE_OK;
}

/* All steps of a direction: [steps, 1, batch, hidden], and the states at its end, as parts. */
static hone_status run_pass(const onnx_cell *c, onnx_cell_pass *p, bool is_backwards,
                            hone_garg *out_all, hone_garg *out_h, hone_garg *out_c) {
    bool is_short = c->steps >= 0 && c->steps <= STEPS_IN_PLACE;
    HONE_TRY(is_short ? steps_in_place(c, p, is_backwards, out_all)
                      : steps_as_loop(c, p, is_backwards, out_all));
    HONE_TRY(with_directions(c, out_all));
    HONE_TRY(as_part(c, p->h, out_h));
    return c->gates == 4 ? as_part(c, p->c_state, out_c) : HONE_OK;
}

/* ---- operators ---- */

static hone_status finish(const onnx_cell *c, uint32_t count, hone_garg (*parts)[2],
                          hone_garg *out) {
    static const int64_t batch_first[] = {2, 0, 1, 3};
    onnx_reader *r = c->r;
    for (uint32_t i = 0; i < 3; i++) {
        if (i == 2 && c->gates != 4) break;
        out[i] = parts[i][0];
        if (count > 1) HONE_TRY(onnx_emit_concat(r, count, parts[i], i == 0, &out[i]));
        if (!c->is_batch_first) continue;
        HONE_TRY(i ? swap_first(r, out[i], &out[i])
                   : onnx_emit_permute(r, out[i], 4, batch_first, &out[i]));
    }
    return HONE_OK;
}

static hone_status convert_cell(onnx_reader *r, uint32_t gates, uint32_t functions,
                                bool is_quantized, bool has_attention, hone_garg *out) {
    int64_t linear, couples, layout;
    bool is_backwards;
    onnx_cell c = {.r = r, .gates = gates, .is_quantized = is_quantized, .h_input = 5};
    c.c_input = gates == 4 ? 6 : 0;
    c.p_input = gates == 4 ? 7 : 0;
    HONE_TRY(onnx_attr_int(r, "linear_before_reset", 0, &linear));
    HONE_TRY(onnx_attr_int(r, "input_forget", 0, &couples));
    HONE_TRY(onnx_attr_int(r, "layout", 0, &layout));
    HONE_TRY(onnx_attr_float(r, "clip", 0, &c.clip));
    c.is_linear_first = linear != 0;
    c.couples_gates = couples != 0;
    c.is_batch_first = layout != 0;
    HONE_TRY(read_direction(r, &is_backwards, &c.directions));
    if (has_attention) HONE_TRY(onnx_cell_attention_split(&c));
    HONE_TRY(read_shapes(r, &c));
    HONE_TRY(onnx_cell_functions(r, functions, &c));
    hone_garg parts[3][2];
    for (uint32_t d = 0; d < c.directions; d++) {
        onnx_cell_pass p;
        HONE_TRY(begin_pass(&c, d, functions, &p));
        HONE_TRY(
            run_pass(&c, &p, is_backwards || d == 1, &parts[0][d], &parts[1][d], &parts[2][d]));
    }
    return finish(&c, c.directions, parts, out);
}

static hone_status convert_lstm(onnx_reader *r, hone_garg *out) {
    return convert_cell(r, 4, 3, false, false, out);
}

static hone_status convert_attention_lstm(onnx_reader *r, hone_garg *out) {
    return convert_cell(r, 4, 3, false, true, out);
}

static hone_status convert_quantized_lstm(onnx_reader *r, hone_garg *out) {
    HONE_TRY(lengthen_weight(r, 1, 8));
    HONE_TRY(lengthen_weight(r, 2, 10));
    return convert_cell(r, 4, 3, true, false, out);
}

static hone_status convert_gru(onnx_reader *r, hone_garg *out) {
    return convert_cell(r, 3, 2, false, false, out);
}

static hone_status convert_rnn(onnx_reader *r, hone_garg *out) {
    return convert_cell(r, 1, 1, false, false, out);
}

#define CELL_ATTRS                                                                                 \
    "activation_alpha activation_beta activations clip direction hidden_size layout "              \
    "output_sequence "

const onnx_converter onnx_recurrent_converters[] = {
    {"LSTM", convert_lstm, 3, 8, 3, CELL_ATTRS "input_forget", NULL},
    {"GRU",     convert_gru, 3, 6, 2, CELL_ATTRS "linear_before_reset", NULL},
    {"RNN",     convert_rnn, 3, 6, 2, CELL_ATTRS, NULL},
    {0 },
};

const onnx_converter onnx_quant_recurrent_converters[] = {
    {"DynamicQuantizeLSTM", convert_quantized_lstm, 3, 12, 3, CELL_ATTRS "input_forget", NULL},
    {"AttnLSTM",                    convert_attention_lstm, 3, 14, 3,
     "activation_alpha activation_beta activations clip direction hidden_size input_forget", NULL},
    {0                   },
};
