/* graph/frontend/onnx_linear_attention.c - LinearAttention: token by token, what a state (keys to
 * values) keeps, what it learns, and what the queries read of it.
 *
 *   S = exp(decay) · S                       gated, gated_delta
 *   S = S + k ⊗ v                            linear, gated
 *   S = S + k ⊗ (beta · (v - Sᵀ k))          delta, gated_delta
 *   o = scale · q S
 *
 * A loop of the graph over the tokens; one token, as in decoding, stands in place. */
#include <math.h>

#include "graph/frontend/onnx_flow.h"

/* What a token has, each [tokens, batch, heads, rows, columns]; decay and beta may be NONE. */
enum { Q, K, V, DECAY, BETA, HELD };

typedef struct linear {
    int64_t q_heads, heads, size, wide; /* of queries, of keys; of a key, of a value */
    double scale;
    bool is_gated, is_delta;
    const hone_expr *batch, *length;
    hone_garg state, held[HELD];
} linear;

/* ---- what the node says ---- */

/* How many numbers of the last dimension there are for each head. */
static hone_status numbers_of(onnx_reader *r, uint32_t input, int64_t heads, int64_t *out) {
    const hone_sinfo *info;
    HONE_TRY(onnx_input_info(r, input, &info));
    int64_t width = info->rank == 3 ? hone_expr_const(info->shape[2]) : -1;
    if (info->rank == 3 && width < 0) return onnx_unknown_size(2);
    if (width < heads || width % heads) {
        return HONE_ERROR(HONE_CODE_INVALID, "input %u has %lld numbers for %lld heads", input,
                          (long long)width, (long long)heads);
    }
    *out = width / heads;
    return HONE_OK;
}

static hone_status read_rule(onnx_reader *r, linear *a) {
    static const char *const words[] = {"linear", "gated", "delta", "gated_delta", NULL};
    uint32_t word;
    HONE_TRY(onnx_attr_word(r, "update_rule", words[3], words, &word));
    a->is_gated = word & 1;
    a->is_delta = word & 2;
    if (a->is_gated && !onnx_has_input(r, 4))
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' wants a decay (input 4)", words[word]);
    if (a->is_delta && !onnx_has_input(r, 5))
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' wants a beta (input 5)", words[word]);
    return HONE_OK;
}

static hone_status read_linear(onnx_reader *r, linear *a) {
    const hone_sinfo *info;
    int64_t size;
    HONE_TRY(onnx_attr_int(r, "q_num_heads", 0, &a->q_heads));
    HONE_TRY(onnx_attr_int(r, "kv_num_heads", 0, &a->heads));
    if (a->q_heads < 1 || a->heads < 1 || a->q_heads % a->heads) {
        return HONE_ERROR(HONE_CODE_INVALID, "%lld heads of queries and %lld of keys",
                          (long long)a->q_heads, (long long)a->heads);
    }
    HONE_TRY(numbers_of(r, 0, a->q_heads, &size));
    HONE_TRY(numbers_of(r, 1, a->heads, &a->size));
    HONE_TRY(numbers_of(r, 2, a->heads, &a->wide));
    if (size != a->size) return HONE_ERROR(HONE_CODE_INVALID, "queries and keys differ in size");
    HONE_TRY(onnx_attr_float(r, "scale", 0, &a->scale));
    if (a->scale == 0) a->scale = 1 / sqrt((double)size);
    HONE_TRY(onnx_input_info(r, 0, &info));
    a->batch = info->shape[0];
    a->length = info->shape[1];
    return read_rule(r, a);
}

/* ---- tokens in front ---- */

/* [batch, tokens, heads * rows * columns] as [tokens, batch, heads, rows, columns] */
static hone_status tokens_first(onnx_reader *r, const linear *a, uint32_t input, int64_t heads,
                                int64_t rows, int64_t columns, hone_garg *out) {
    static const int64_t axes[] = {1, 0, 2, 3, 4};
    hone_ir *ir = &r->ir;
    const hone_expr *shape[] = {a->batch, a->length, hone_extent_int(ir, heads),
                                hone_extent_int(ir, rows), hone_extent_int(ir, columns)};
    HONE_TRY(onnx_emit_reshape(r, r->inputs[input], 5, shape, out));
    return onnx_emit_permute(r, *out, 5, axes, out);
}

static hone_status hold_inputs(onnx_reader *r, linear *a) {
    int64_t decays = 1, betas = 1;
    HONE_TRY(tokens_first(r, a, 0, a->heads, a->q_heads / a->heads, a->size, &a->held[Q]));
    HONE_TRY(tokens_first(r, a, 1, a->heads, a->size, 1, &a->held[K]));
    HONE_TRY(tokens_first(r, a, 2, a->heads, 1, a->wide, &a->held[V]));
    a->held[DECAY] = a->held[BETA] = (hone_garg){.kind = HONE_GARG_NONE};
    if (a->is_gated) {
        HONE_TRY(numbers_of(r, 4, a->heads, &decays));
        HONE_TRY(tokens_first(r, a, 4, a->heads, decays, 1, &a->held[DECAY]));
        HONE_TRY(onnx_emit1(r, "exp", a->held[DECAY], &a->held[DECAY]));
    }
    if (!a->is_delta) return HONE_OK;
    HONE_TRY(numbers_of(r, 5, 1, &betas));
    return tokens_first(r, a, 5, betas, 1, 1, &a->held[BETA]);
}

/* Zeros, or what came before; a value also where that is a constant, as states are. */
static hone_status begin_state(onnx_reader *r, linear *a) {
    hone_ir *ir = &r->ir;
    const hone_sinfo *info;
    hone_garg args[2];
    const hone_expr *shape[] = {a->batch, hone_extent_int(ir, a->heads),
                                hone_extent_int(ir, a->size), hone_extent_int(ir, a->wide)};
    HONE_TRY(onnx_input_info(r, onnx_has_input(r, 3) ? 3 : 0, &info));
    HONE_TRY(onnx_scalar(r, info->dtype, 0, &args[0]));
    HONE_TRY(onnx_make_ints(r, 4, shape, 1, &args[1]));
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, args, 0, NULL, &a->state));
    return onnx_has_input(r, 3) ? onnx_emit2(r, "add", r->inputs[3], a->state, &a->state) : HONE_OK;
}

/* ---- one token ---- */

/* v - Sᵀ k, as a row, times beta */
static hone_status what_is_new(onnx_reader *r, hone_garg state, const hone_garg *token,
                               hone_garg *io) {
    static const int64_t turned[] = {0, 1, 3, 2};
    hone_garg key, known;
    HONE_TRY(onnx_emit_permute(r, token[K], 4, turned, &key));
    HONE_TRY(onnx_emit2(r, "matmul", key, state, &known));
    HONE_TRY(onnx_emit2(r, "subtract", *io, known, io));
    return onnx_emit2(r, "multiply", *io, token[BETA], io);
}

/* The state after the token at this index, and what its queries read: [batch, heads, rows, wide].
 */
static hone_status step(onnx_reader *r, const linear *a, hone_garg index, hone_garg *io_state,
                        hone_garg *out) {
    hone_garg token[HELD], row;
    for (uint32_t i = 0; i < HELD; i++) {
        token[i] = a->held[i];
        if (token[i].kind != HONE_GARG_NONE)
            HONE_TRY(onnx_emit_take(r, token[i], index, 0, &token[i]));
    }
    row = token[V];
    if (a->is_gated) HONE_TRY(onnx_emit2(r, "multiply", *io_state, token[DECAY], io_state));
    if (a->is_delta) HONE_TRY(what_is_new(r, *io_state, token, &row));
    HONE_TRY(onnx_emit2(r, "multiply", token[K], row, &row));
    HONE_TRY(onnx_emit2(r, "add", *io_state, row, io_state));
    HONE_TRY(onnx_emit2(r, "matmul", token[Q], *io_state, out));
    return onnx_with_scalar(r, "multiply", *out, a->scale, out);
}

static hone_status one_token(onnx_reader *r, linear *a, hone_garg *out) {
    hone_garg index;
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(0)};
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I64, 0, &index));
    HONE_TRY(step(r, a, index, &a->state, out));
    return onnx_emit(r, "expand_dims", 1, out, 1, &axis, out);
}

/* ---- as a loop ---- */

/* A turn: the state behind it, then what is read. */
static hone_status read_body(onnx_reader *r, void *ctx, const hone_garg *leads,
                             hone_garg **out_results, uint32_t *out_count) {
    linear inside = *(const linear *)ctx;
    hone_garg *results = hone_arena_zalloc(r->arena, 2 * sizeof *results);
    uint32_t next = 2;
    if (!results) return HONE_NO_MEMORY("model");
    for (uint32_t i = 0; i < HELD; i++)
        if (inside.held[i].kind == HONE_GARG_VALUE) inside.held[i] = leads[next++];
    results[0] = leads[1];
    *out_results = results;
    *out_count = 2;
    return step(r, &inside, leads[0], &results[0], &results[1]);
}

static hone_status all_tokens(onnx_reader *r, linear *a, hone_garg *out) {
    const hone_sinfo *leads[HELD + 2];
    hone_garg given[HELD], results[2];
    onnx_captured captured = {0};
    uint32_t count = 0;
    leads[0] = hone_sinfo_static(r->arena, HONE_DTYPE_I64, 0, NULL);
    HONE_TRY(onnx_info(r, &a->state, &leads[1]));
    for (uint32_t i = 0; i < HELD; i++) {
        if (a->held[i].kind != HONE_GARG_VALUE) continue;
        HONE_TRY(onnx_info(r, &a->held[i], &leads[2 + count]));
        given[count++] = a->held[i];
    }
    HONE_TRY(onnx_capture_sizes(r, &captured));
    onnx_function f = {.stem = "main_token",
                       .captured = &captured,
                       .lead_count = 2 + count,
                       .leads = leads,
                       .gives_tuple = true,
                       .ctx = a,
                       .read = read_body};
    onnx_loop loop = {
        .limit = {.kind = HONE_GARG_PRIM, .u.expr = a->length},
        .condition = {.kind = HONE_GARG_NONE                     },
        .state_count = 1,
        .given_count = count,
        .scan_count = 1,
        .states = &a->state,
        .given = given,
        .captured = &captured
    };
    HONE_TRY(onnx_make_function(r, &f, &loop.body));
    HONE_TRY(onnx_emit_loop(r, &loop, results));
    a->state = results[0];
    *out = results[1];
    return HONE_OK;
}

static hone_status convert_linear_attention(onnx_reader *r, hone_garg *out) {
    static const int64_t axes[] = {1, 0, 2, 3, 4};
    linear a = {0};
    HONE_TRY(read_linear(r, &a));
    HONE_TRY(hold_inputs(r, &a));
    HONE_TRY(begin_state(r, &a));
    bool is_one = hone_expr_is_int_value(a.length, 1);
    HONE_TRY(is_one ? one_token(r, &a, &out[0]) : all_tokens(r, &a, &out[0]));
    const hone_expr *shape[] = {a.batch, a.length, hone_extent_int(&r->ir, a.q_heads * a.wide)};
    HONE_TRY(onnx_emit_permute(r, out[0], 5, axes, &out[0]));
    out[1] = a.state;
    return onnx_emit_reshape(r, out[0], 3, shape, &out[0]);
}

const onnx_converter onnx_linear_attention_converters[] = {
    {"LinearAttention", convert_linear_attention, 3, 6, 2,
     "chunk_size kv_num_heads q_num_heads scale update_rule", NULL},
    {0               },
};
