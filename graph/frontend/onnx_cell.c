/* graph/frontend/onnx_cell.c - what LSTM, GRU and RNN do in one step: a product with the state
 * before it and what follows element by element. A state that is NONE is zeros, of which nothing is
 * computed. */
#include "graph/frontend/onnx_cell.h"

#include <string.h>

#include "support/core/number.h"

/* ---- functions ---- */

/* Names that take numbers, and these when they are not given. */
static const struct {
    const char *name;
    double alpha, beta;
    uint8_t numbers; /* how many it has */
} known_functions[] = {
    {"Sigmoid",         0,    0,   0},
    {"Tanh",            0,    0,   0},
    {"Relu",            0,    0,   0},
    {"Softplus",        0,    0,   0},
    {"Softsign",        0,    0,   0},
    {"Affine",          1,    0,   2},
    {"ScaledTanh",      1,    1,   2},
    {"HardSigmoid",     0.2,  0.5, 2},
    {"LeakyRelu",       0.01, 0,   1},
    {"ThresholdedRelu", 1,    0,   1},
    {"Elu",             1,    0,   1},
};

static hone_status apply_affine(onnx_reader *r, hone_garg x, double alpha, double beta,
                                hone_garg *out) {
    HONE_TRY(onnx_with_scalar(r, "multiply", x, alpha, out));
    return onnx_with_scalar(r, "add", *out, beta, out);
}

static hone_status apply(onnx_reader *r, const onnx_cell_function *f, hone_garg x, hone_garg *out) {
    if (strcmp(f->name, "Sigmoid") == 0) return onnx_emit1(r, "sigmoid", x, out);
    if (strcmp(f->name, "Tanh") == 0) return onnx_emit1(r, "tanh", x, out);
    if (strcmp(f->name, "Relu") == 0) return onnx_emit1(r, "nn.relu", x, out);
    if (strcmp(f->name, "Softplus") == 0) return onnx_emit_softplus(r, x, out);
    if (strcmp(f->name, "Softsign") == 0) return onnx_emit_softsign(r, x, out);
    if (strcmp(f->name, "Affine") == 0) return apply_affine(r, x, f->alpha, f->beta, out);
    if (strcmp(f->name, "Elu") == 0) return onnx_emit_elu(r, x, f->alpha, out);
    if (strcmp(f->name, "ThresholdedRelu") == 0) return onnx_emit_thresholded(r, x, f->alpha, out);
    if (strcmp(f->name, "HardSigmoid") == 0) {
        return onnx_emit_hard_sigmoid(r, x, f->alpha, f->beta, out);
    }
    if (strcmp(f->name, "LeakyRelu") == 0) {
        hone_attr attr = {"alpha", HONE_VALUE_OF_FLOAT(f->alpha)};
        return onnx_emit(r, "nn.leakyrelu", 1, &x, 1, &attr, out);
    }
    HONE_TRY(onnx_with_scalar(r, "multiply", x, f->beta, out)); /* ScaledTanh */
    HONE_TRY(onnx_emit1(r, "tanh", *out, out));
    return onnx_with_scalar(r, "multiply", *out, f->alpha, out);
}

/* Whatever the case of its letters. */
static bool is_called(const char *known, const ProtobufCBinaryData *name) {
    bool is_same = strlen(known) == name->len;
    for (size_t i = 0; is_same && i < name->len; i++)
        is_same = hone_lower(known[i]) == hone_lower((char)name->data[i]);
    return is_same;
}

/* The function called so, whatever the case of its letters, and the next numbers of the lists. */
static hone_status read_function(const onnx_reader *r, const ProtobufCBinaryData *name,
                                 size_t *io_alpha, size_t *io_beta, onnx_cell_function *out) {
    const Onnx__AttributeProto *alphas = onnx_attr(r, "activation_alpha");
    const Onnx__AttributeProto *betas = onnx_attr(r, "activation_beta");
    for (size_t i = 0; i < HONE_COUNT(known_functions); i++) {
        const char *known = known_functions[i].name;
        if (!is_called(known, name)) continue;
        memcpy(out->name, known, name->len + 1);
        out->alpha = (double)(float)known_functions[i].alpha;
        out->beta = (double)(float)known_functions[i].beta;
        bool has_alpha = known_functions[i].numbers > 0, has_beta = known_functions[i].numbers > 1;
        if (has_alpha && alphas && *io_alpha < alphas->n_floats) {
            out->alpha = (double)alphas->floats[(*io_alpha)++];
        }
        if (has_beta && betas && *io_beta < betas->n_floats) {
            out->beta = (double)betas->floats[(*io_beta)++];
        }
        return HONE_OK;
    }
    return HONE_ERROR(HONE_CODE_INVALID, "attribute 'activations' names '%.*s', which is not known",
                      (int)(name->len < 60 ? name->len : 60), (char *)name->data);
}

hone_status onnx_cell_functions(const onnx_reader *r, uint32_t per_direction, onnx_cell *c) {
    const Onnx__AttributeProto *names = onnx_attr(r, "activations");
    size_t alpha = 0, beta = 0, total = (size_t)c->directions * per_direction;
    for (size_t i = 0; !names && i < total; i++) {
        bool is_gate = i % per_direction == 0 && c->gates > 1;
        const char *name = is_gate ? "Sigmoid" : "Tanh";
        memcpy(c->functions[i].name, name, strlen(name) + 1);
    }
    if (!names) return HONE_OK;
    if (names->n_strings != per_direction && names->n_strings != total) {
        return HONE_ERROR(HONE_CODE_INVALID, "attribute 'activations' has %zu names, must have %zu",
                          names->n_strings, total);
    }
    for (size_t i = 0; i < total; i++) {
        if (i >= names->n_strings) {
            c->functions[i] = c->functions[i - per_direction];
            continue;
        }
        HONE_TRY(read_function(r, &names->strings[i], &alpha, &beta, &c->functions[i]));
    }
    return HONE_OK;
}

/* ---- one step ---- */

hone_status onnx_cell_shorten(const onnx_cell *c, hone_garg x, hone_garg *out) {
    hone_garg numbers[3];
    *out = x;
    if (!c->is_quantized || x.kind == HONE_GARG_NONE) return HONE_OK;
    HONE_TRY(onnx_convert_on(c->r, "DynamicQuantizeLinear", 1, &x, numbers));
    return onnx_convert_on(c->r, "DequantizeLinear", 3, numbers, out);
}

hone_status onnx_cell_gate(const onnx_cell *c, hone_garg x, uint32_t k, hone_garg *out) {
    const hone_sinfo *info;
    HONE_TRY(onnx_info(c->r, &x, &info));
    if (c->gates == 1) {
        *out = x;
        return HONE_OK;
    }
    return onnx_emit_slice(c->r, x, info->rank - 1, k * c->hidden, (k + 1) * c->hidden, out);
}

/* a + b where there is a b */
static hone_status add_if(onnx_reader *r, hone_garg a, hone_garg b, hone_garg *out) {
    *out = a;
    return b.kind == HONE_GARG_NONE ? HONE_OK : onnx_emit2(r, "add", a, b, out);
}

/* op(a, b); NONE (zeros) where one is that */
static hone_status times_if(onnx_reader *r, const char *op, hone_garg a, hone_garg b,
                            hone_garg *out) {
    *out = (hone_garg){.kind = HONE_GARG_NONE};
    if (a.kind == HONE_GARG_NONE || b.kind == HONE_GARG_NONE) return HONE_OK;
    return onnx_emit2(r, op, a, b, out);
}

/* Function k of the cell, of numbers that are held within the limits. */
static hone_status activate(const onnx_cell_pass *p, uint32_t k, hone_garg x, hone_garg *out) {
    onnx_reader *r = p->c->r;
    if (p->c->clip > 0) {
        HONE_TRY(onnx_with_scalar(r, "maximum", x, -p->c->clip, &x));
        HONE_TRY(onnx_with_scalar(r, "minimum", x, p->c->clip, &x));
    }
    return apply(r, &p->f[k], x, out);
}

static hone_status peephole(const onnx_cell_pass *p, uint32_t k, hone_garg state, hone_garg *io) {
    hone_garg term;
    HONE_TRY(times_if(p->c->r, "multiply", p->peep[k], state, &term));
    return add_if(p->c->r, *io, term, io);
}

/* gates: i, o, f, c */
static hone_status lstm_step(const onnx_cell_pass *p, hone_garg taken, hone_garg *out_h,
                             hone_garg *out_c) {
    onnx_reader *r = p->c->r;
    hone_garg state, product, gates[ONNX_CELL_GATES], kept, fresh;
    HONE_TRY(onnx_cell_shorten(p->c, p->h, &state));
    HONE_TRY(times_if(r, "matmul", state, p->weight, &product));
    HONE_TRY(add_if(r, taken, product, &taken));
    for (uint32_t k = 0; k < ONNX_CELL_GATES; k++)
        HONE_TRY(onnx_cell_gate(p->c, taken, k, &gates[k]));
    HONE_TRY(peephole(p, 0, p->c_state, &gates[0]));
    HONE_TRY(activate(p, 0, gates[0], &gates[0]));
    if (p->c->couples_gates) {
        hone_garg one;
        HONE_TRY(onnx_scalar(r, p->c->dtype, 1, &one));
        HONE_TRY(onnx_emit2(r, "subtract", one, gates[0], &gates[2]));
    } else {
        HONE_TRY(peephole(p, 2, p->c_state, &gates[2]));
        HONE_TRY(activate(p, 0, gates[2], &gates[2]));
    }
    HONE_TRY(activate(p, 1, gates[3], &gates[3]));
    HONE_TRY(onnx_emit2(r, "multiply", gates[0], gates[3], &fresh));
    HONE_TRY(times_if(r, "multiply", gates[2], p->c_state, &kept));
    HONE_TRY(add_if(r, fresh, kept, out_c));
    HONE_TRY(peephole(p, 1, *out_c, &gates[1]));
    HONE_TRY(activate(p, 0, gates[1], &gates[1]));
    HONE_TRY(apply(r, &p->f[2], *out_c, out_h));
    return onnx_emit2(r, "multiply", gates[1], *out_h, out_h);
}

/* What the last gate of a GRU takes of the state. */
static hone_status reset_state(const onnx_cell_pass *p, hone_garg product, hone_garg reset,
                               hone_garg *out) {
    onnx_reader *r = p->c->r;
    hone_garg part = p->late;
    if (!p->c->is_linear_first) {
        HONE_TRY(times_if(r, "multiply", reset, p->h, out));
        return times_if(r, "matmul", *out, p->last_gate, out);
    }
    if (product.kind != HONE_GARG_NONE) {
        HONE_TRY(onnx_cell_gate(p->c, product, 2, &part));
        HONE_TRY(add_if(r, part, p->late, &part));
    }
    return times_if(r, "multiply", reset, part, out);
}

/* gates: z (keeps), r (resets), h */
static hone_status gru_step(const onnx_cell_pass *p, hone_garg taken, hone_garg *out_h) {
    onnx_reader *r = p->c->r;
    hone_garg product, part = {.kind = HONE_GARG_NONE}, gates[3], kept, one;
    HONE_TRY(times_if(r, "matmul", p->h, p->weight, &product));
    for (uint32_t k = 0; k < 3; k++) {
        HONE_TRY(onnx_cell_gate(p->c, taken, k, &gates[k]));
        if (k == 2) break;
        if (product.kind != HONE_GARG_NONE) {
            HONE_TRY(
                onnx_emit_slice(r, product, 1, k * p->c->hidden, (k + 1) * p->c->hidden, &part));
        }
        HONE_TRY(add_if(r, gates[k], part, &gates[k]));
        HONE_TRY(activate(p, 0, gates[k], &gates[k]));
    }
    HONE_TRY(reset_state(p, product, gates[1], &part));
    HONE_TRY(add_if(r, gates[2], part, &gates[2]));
    HONE_TRY(activate(p, 1, gates[2], &gates[2]));
    HONE_TRY(times_if(r, "multiply", gates[0], p->h, &kept));
    HONE_TRY(onnx_scalar(r, p->c->dtype, 1, &one));
    HONE_TRY(onnx_emit2(r, "subtract", one, gates[0], out_h));
    HONE_TRY(onnx_emit2(r, "multiply", *out_h, gates[2], out_h));
    return add_if(r, *out_h, kept, out_h);
}

static hone_status rnn_step(const onnx_cell_pass *p, hone_garg taken, hone_garg *out_h) {
    hone_garg product;
    HONE_TRY(times_if(p->c->r, "matmul", p->h, p->weight, &product));
    HONE_TRY(add_if(p->c->r, taken, product, &taken));
    return activate(p, 0, taken, out_h);
}

/* Zeros of the shape of a state. */
static hone_status zeros(const onnx_cell *c, hone_garg *out) {
    const hone_expr *shape[] = {c->batch, hone_extent_int(&c->r->ir, c->hidden)};
    hone_garg args[2];
    HONE_TRY(onnx_scalar(c->r, c->dtype, 0, &args[0]));
    HONE_TRY(onnx_make_ints(c->r, 2, shape, 1, &args[1]));
    return onnx_emit(c->r, "broadcast_to", 2, args, 0, NULL, out);
}

hone_status onnx_cell_or_zeros(const onnx_cell *c, hone_garg *io) {
    return io->kind == HONE_GARG_NONE ? zeros(c, io) : HONE_OK;
}

static hone_status choose(const onnx_cell *c, hone_garg is_here, hone_garg yes, hone_garg no,
                          hone_garg *out) {
    hone_garg args[] = {is_here, yes, no};
    HONE_TRY(onnx_cell_or_zeros(c, &args[2]));
    return onnx_emit(c->r, "where", 3, args, 0, NULL, out);
}

hone_status onnx_cell_step(onnx_cell_pass *p, hone_garg index, hone_garg taken, hone_garg *out) {
    const onnx_cell *c = p->c;
    hone_garg h, state = p->c_state, runs, read;
    if (c->has_attention) HONE_TRY(onnx_cell_attention_take(p, &taken));
    if (c->gates == 4) {
        HONE_TRY(lstm_step(p, taken, &h, &state));
    } else {
        HONE_TRY(c->gates == 3 ? gru_step(p, taken, &h) : rnn_step(p, taken, &h));
    }
    *out = h;
    if (c->has_attention) HONE_TRY(onnx_cell_attention_read(p, h, &read));
    if (p->lengths.kind != HONE_GARG_NONE) {
        HONE_TRY(onnx_emit2(c->r, "less", index, p->lengths, &runs));
        HONE_TRY(choose(c, runs, h, (hone_garg){.kind = HONE_GARG_NONE}, out));
        HONE_TRY(choose(c, runs, h, p->h, &h));
        if (c->gates == 4) HONE_TRY(choose(c, runs, state, p->c_state, &state));
        if (c->has_attention)
            HONE_TRY(onnx_emit_where(c->r, runs, read, p->attention.state, &read));
    }
    if (c->has_attention) p->attention.state = read;
    p->h = h;
    p->c_state = state;
    return HONE_OK;
}
