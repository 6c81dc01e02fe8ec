/* graph/frontend/nodes/onnx_train.c - steps of training: ai.onnx.preview.training. */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

/* Inputs: the rate r, the count of steps t, then tensors x, their gradients and one or more states,
 * each as many as there are x. */
typedef struct step {
    hone_garg rate, steps; /* steps as floats of the type of the rate */
    hone_garg x, gradient;
    hone_garg state[2];
} step;

static hone_status read_counts(onnx_reader *r, uint32_t kinds, uint32_t *out_tensors, step *s) {
    const hone_sinfo *info;
    if (r->input_count < 2 + kinds || (r->input_count - 2) % kinds) {
        return HONE_ERROR(HONE_CODE_INVALID, "%u inputs, expected two and %u for each tensor",
                          r->input_count, kinds);
    }
    *out_tensors = (r->input_count - 2) / kinds;
    if (*out_tensors * (kinds - 1) > ONNX_MAX_OUTPUTS) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "%u tensors", *out_tensors);
    }
    HONE_TRY(onnx_input_info(r, 0, &info));
    s->rate = r->inputs[0];
    return onnx_emit_cast(r, r->inputs[1], info->dtype, &s->steps);
}

static void read_step(const onnx_reader *r, uint32_t kinds, uint32_t count, uint32_t i, step *s) {
    s->x = r->inputs[2 + i];
    s->gradient = r->inputs[2 + count + i];
    for (uint32_t k = 2; k < kinds; k++)
        s->state[k - 2] = r->inputs[2 + k * count + i];
}

/* x + number * y */
static hone_status add_scaled(onnx_reader *r, hone_garg x, double number, hone_garg y,
                              hone_garg *out) {
    HONE_TRY(onnx_with_scalar(r, "multiply", y, number, &y));
    return onnx_emit2(r, "add", x, y, out);
}

/* x - rate * y */
static hone_status step_back(onnx_reader *r, hone_garg x, hone_garg rate, hone_garg y,
                             hone_garg *out) {
    HONE_TRY(onnx_emit2(r, "multiply", rate, y, &y));
    return onnx_emit2(r, "subtract", x, y, out);
}

/* What is `then` from the first step on, else `otherwise`. */
static hone_status after_first(onnx_reader *r, const step *s, hone_garg then, hone_garg otherwise,
                               hone_garg *out) {
    hone_garg choice[] = {{0}, then, otherwise};
    HONE_TRY(onnx_with_scalar(r, "greater", s->steps, 0, &choice[0]));
    return onnx_emit(r, "where", 3, choice, 0, NULL, out);
}

/* v' = alpha v + (t > 0 ? beta : 1) (g + norm x); x' = x - rate v', or - rate (g' + alpha v') */
static hone_status convert_momentum(onnx_reader *r, hone_garg *out) {
    double alpha, beta, norm;
    char mode[64];
    uint32_t count;
    step s;
    hone_garg scale, one, gradient, v, way;
    HONE_TRY(onnx_attr_float(r, "alpha", 0, &alpha));
    HONE_TRY(onnx_attr_float(r, "beta", 0, &beta));
    HONE_TRY(onnx_attr_float(r, "norm_coefficient", 0, &norm));
    HONE_TRY(onnx_attr_text(r, "mode", "standard", mode));
    HONE_TRY(read_counts(r, 3, &count, &s));
    HONE_TRY(onnx_scalar_like(r, &s.rate, beta, &scale));
    HONE_TRY(onnx_scalar_like(r, &s.rate, 1, &one));
    HONE_TRY(after_first(r, &s, scale, one, &scale));
    for (uint32_t i = 0; i < count; i++) {
        read_step(r, 3, count, i, &s);
        HONE_TRY(add_scaled(r, s.gradient, norm, s.x, &gradient));
        HONE_TRY(onnx_emit2(r, "multiply", scale, gradient, &v));
        HONE_TRY(add_scaled(r, v, alpha, s.state[0], &v));
        way = v;
        if (strcmp(mode, "nesterov") == 0) HONE_TRY(add_scaled(r, gradient, alpha, v, &way));
        HONE_TRY(step_back(r, s.x, s.rate, way, &out[i]));
        out[count + i] = v;
    }
    return HONE_OK;
}

/* h' = h + g^2; x' = x - rate / (1 + t decay) g / (sqrt(h') + epsilon), g with norm x */
static hone_status convert_adagrad(onnx_reader *r, hone_garg *out) {
    double decay, epsilon, norm;
    uint32_t count;
    step s;
    hone_garg rate, gradient, h, root;
    HONE_TRY(onnx_attr_float(r, "decay_factor", 0, &decay));
    HONE_TRY(onnx_attr_float(r, "epsilon", 1e-6, &epsilon));
    HONE_TRY(onnx_attr_float(r, "norm_coefficient", 0, &norm));
    HONE_TRY(read_counts(r, 3, &count, &s));
    HONE_TRY(onnx_with_scalar(r, "multiply", s.steps, decay, &rate));
    HONE_TRY(onnx_with_scalar(r, "add", rate, 1, &rate));
    HONE_TRY(onnx_emit2(r, "divide", s.rate, rate, &rate));
    for (uint32_t i = 0; i < count; i++) {
        read_step(r, 3, count, i, &s);
        HONE_TRY(add_scaled(r, s.gradient, norm, s.x, &gradient));
        HONE_TRY(onnx_emit2(r, "multiply", gradient, gradient, &h));
        HONE_TRY(onnx_emit2(r, "add", s.state[0], h, &h));
        HONE_TRY(onnx_emit1(r, "sqrt", h, &root));
        HONE_TRY(onnx_with_scalar(r, "add", root, epsilon, &root));
        HONE_TRY(onnx_emit2(r, "divide", gradient, root, &root));
        HONE_TRY(step_back(r, s.x, rate, root, &out[i]));
        out[count + i] = h;
    }
    return HONE_OK;
}

/* 1 - number ** t */
static hone_status one_less_power(onnx_reader *r, const step *s, double number, hone_garg *out) {
    hone_garg base, one;
    HONE_TRY(onnx_scalar_like(r, &s->rate, number, &base));
    HONE_TRY(onnx_scalar_like(r, &s->rate, 1, &one));
    HONE_TRY(onnx_emit2(r, "power", base, s->steps, out));
    return onnx_emit2(r, "subtract", one, *out, out);
}

/* The rate times sqrt(1 - beta^t) / (1 - alpha^t) from the first step on. */
static hone_status adam_rate(onnx_reader *r, const step *s, double alpha, double beta,
                             hone_garg *out) {
    hone_garg low, high;
    HONE_TRY(one_less_power(r, s, beta, &high));
    HONE_TRY(onnx_emit1(r, "sqrt", high, &high));
    HONE_TRY(one_less_power(r, s, alpha, &low));
    HONE_TRY(onnx_emit2(r, "multiply", s->rate, high, &high));
    HONE_TRY(onnx_emit2(r, "divide", high, low, &high));
    return after_first(r, s, high, s->rate, out);
}

/* number * old + (1 - number) * now */
static hone_status mixed(onnx_reader *r, double number, hone_garg old, hone_garg now,
                         hone_garg *out) {
    HONE_TRY(onnx_with_scalar(r, "multiply", old, number, &old));
    return add_scaled(r, old, 1 - number, now, out);
}

static hone_status convert_adam(onnx_reader *r, hone_garg *out) {
    double alpha, beta, epsilon, norm, norm_post;
    uint32_t count;
    step s;
    hone_garg rate, gradient, square, v, h, root;
    HONE_TRY(onnx_attr_float(r, "alpha", 0.9, &alpha));
    HONE_TRY(onnx_attr_float(r, "beta", 0.999, &beta));
    HONE_TRY(onnx_attr_float(r, "epsilon", 1e-6, &epsilon));
    HONE_TRY(onnx_attr_float(r, "norm_coefficient", 0, &norm));
    HONE_TRY(onnx_attr_float(r, "norm_coefficient_post", 0, &norm_post));
    HONE_TRY(read_counts(r, 4, &count, &s));
    HONE_TRY(adam_rate(r, &s, alpha, beta, &rate));
    for (uint32_t i = 0; i < count; i++) {
        read_step(r, 4, count, i, &s);
        HONE_TRY(add_scaled(r, s.gradient, norm, s.x, &gradient));
        HONE_TRY(onnx_emit2(r, "multiply", gradient, gradient, &square));
        HONE_TRY(mixed(r, alpha, s.state[0], gradient, &v));
        HONE_TRY(mixed(r, beta, s.state[1], square, &h));
        HONE_TRY(onnx_emit1(r, "sqrt", h, &root));
        HONE_TRY(onnx_with_scalar(r, "add", root, epsilon, &root));
        HONE_TRY(onnx_emit2(r, "divide", v, root, &root));
        HONE_TRY(step_back(r, s.x, rate, root, &out[i]));
        HONE_TRY(onnx_with_scalar(r, "multiply", out[i], 1 - norm_post, &out[i]));
        out[count + i] = v;
        out[2 * count + i] = h;
    }
    return HONE_OK;
}

const onnx_converter onnx_train_converters[] = {
    {"Momentum",        convert_momentum, 5, 255, ONNX_MAX_OUTPUTS, "alpha beta mode norm_coefficient",
     NULL},
    {"Adagrad",                convert_adagrad, 5, 255, ONNX_MAX_OUTPUTS, "decay_factor epsilon norm_coefficient",
     NULL},
    {"Adam", convert_adam, 6, 255, ONNX_MAX_OUTPUTS,
     "alpha beta epsilon norm_coefficient norm_coefficient_post", NULL},
    {0             },
};
