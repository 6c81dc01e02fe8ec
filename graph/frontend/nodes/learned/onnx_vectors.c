/* graph/frontend/nodes/learned/onnx_vectors.c - support vector machines of ai.onnx.ml, as libsvm
 * has them.
 *
 *   kernels[n, v] = kernel(x[n], vector[v])
 *   scores[n, p]  = kernels[n, :] . weights[:, p] + rho[p]        p: classes (i, j), i < j
 *
 * A pair votes for its first class where its score is above 0, else for the second one. */
#include "graph/frontend/nodes/learned/onnx_learned.h"

enum { LINEAR, POLY, RBF, SIGMOID };
enum { MAX_CLASSES = 256 };

typedef struct machine {
    uint32_t kernel;
    double gamma, coef0, degree;
    const double *vectors, *weights, *rho;
    uint32_t vector_numbers, weight_count, rho_count;
    int64_t vector_count, features;
} machine;

static hone_status read_machine(onnx_reader *r, int64_t vector_count, machine *m) {
    static const char *const kernels[] = {"LINEAR", "POLY", "RBF", "SIGMOID", NULL};
    const double *params;
    uint32_t count;
    HONE_TRY(onnx_attr_word(r, "kernel_type", kernels[0], kernels, &m->kernel));
    HONE_TRY(onnx_attr_doubles(r, "kernel_params", &params, &count));
    HONE_TRY(onnx_attr_doubles(r, "support_vectors", &m->vectors, &m->vector_numbers));
    HONE_TRY(onnx_attr_doubles(r, "coefficients", &m->weights, &m->weight_count));
    HONE_TRY(onnx_attr_doubles(r, "rho", &m->rho, &m->rho_count));
    if (count == 3) {
        m->gamma = params[0];
        m->coef0 = params[1];
        m->degree = params[2];
    } else if (count != 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "%u kernel_params, must be 3", count);
    }
    m->vector_count = vector_count;
    if (vector_count < 1 || m->vector_numbers < vector_count || m->vector_numbers % vector_count)
        return HONE_ERROR(HONE_CODE_INVALID, "%u numbers of %lld support vectors",
                          m->vector_numbers, (long long)vector_count);
    m->features = m->vector_numbers / vector_count;
    return HONE_OK;
}

/* ---- kernels ---- */

/* exp(-gamma |x - v|^2) */
static hone_status by_distance(onnx_reader *r, const machine *m, hone_garg x, hone_garg vectors,
                               hone_garg *out) {
    hone_attr middle = {"axis", HONE_VALUE_OF_INT(1)}, last = {"axis", HONE_VALUE_OF_INT(-1)};
    hone_garg away;
    HONE_TRY(onnx_emit(r, "expand_dims", 1, &x, 1, &middle, &x));
    HONE_TRY(onnx_emit2(r, "subtract", x, vectors, &away));
    HONE_TRY(onnx_emit2(r, "multiply", away, away, &away));
    HONE_TRY(onnx_emit(r, "sum", 1, &away, 1, &last, out));
    HONE_TRY(onnx_with_scalar(r, "multiply", *out, -m->gamma, out));
    return onnx_emit1(r, "exp", *out, out);
}

/* Of x . v, which a linear kernel is. */
static hone_status by_product(onnx_reader *r, const machine *m, hone_garg x, hone_garg vectors,
                              hone_garg *out) {
    hone_garg sides[] = {x, vectors};
    hone_attr turn = {"transpose_b", HONE_VALUE_OF_BOOL(1)};
    HONE_TRY(onnx_emit(r, "matmul", 2, sides, 1, &turn, out));
    if (m->kernel == LINEAR) return HONE_OK;
    HONE_TRY(onnx_with_scalar(r, "multiply", *out, m->gamma, out));
    HONE_TRY(onnx_with_scalar(r, "add", *out, m->coef0, out));
    return m->kernel == POLY ? onnx_with_scalar(r, "power", *out, m->degree, out)
                             : onnx_emit1(r, "tanh", *out, out);
}

/* [rows, vectors] */
static hone_status kernels_of(onnx_reader *r, const machine *m, hone_garg *out) {
    hone_garg x, vectors;
    HONE_TRY(onnx_rows(r, 0, HONE_DTYPE_F32, &x));
    HONE_TRY(
        onnx_number_table(r, HONE_DTYPE_F32, m->vector_count, m->features, m->vectors, &vectors));
    return m->kernel == RBF ? by_distance(r, m, x, vectors, out)
                            : by_product(r, m, x, vectors, out);
}

/* kernels times the weights, [vectors, count], and rho. */
static hone_status scores_of(onnx_reader *r, const machine *m, uint32_t count,
                             const double *weights, hone_garg *out) {
    hone_garg kernels, sides[2], rho;
    HONE_TRY(kernels_of(r, m, &kernels));
    HONE_TRY(onnx_number_table(r, HONE_DTYPE_F32, m->vector_count, count, weights, &sides[1]));
    sides[0] = kernels;
    HONE_TRY(onnx_emit(r, "matmul", 2, sides, 0, NULL, out));
    HONE_TRY(onnx_number_table(r, HONE_DTYPE_F32, 0, count, m->rho, &rho));
    return onnx_emit2(r, "add", *out, rho, out);
}

/* ---- numbers ---- */

/* x . coefficients + rho, where there are no vectors. */
static hone_status linear_score(onnx_reader *r, machine *m, hone_garg *out) {
    HONE_TRY(onnx_attr_doubles(r, "coefficients", &m->vectors, &m->vector_numbers));
    HONE_TRY(onnx_attr_doubles(r, "rho", &m->rho, &m->rho_count));
    if (m->vector_numbers < 1 || m->rho_count < 1)
        return HONE_ERROR(HONE_CODE_INVALID, "no coefficients, or no rho");
    m->vector_count = 1;
    m->features = m->vector_numbers;
    m->kernel = LINEAR;
    HONE_TRY(kernels_of(r, m, out));
    return onnx_with_scalar(r, "add", *out, m->rho[0], out);
}

static hone_status vector_score(onnx_reader *r, int64_t supports, machine *m, hone_garg *out) {
    HONE_TRY(read_machine(r, supports, m));
    if (m->weight_count != supports || m->rho_count < 1)
        return HONE_ERROR(HONE_CODE_INVALID, "%u coefficients and %u rho of %lld support vectors",
                          m->weight_count, m->rho_count, (long long)supports);
    return scores_of(r, m, 1, m->weights, out);
}

static hone_status convert_regressor(onnx_reader *r, hone_garg *out) {
    int64_t supports, one_class;
    machine m = {0};
    hone_garg is_in, in, without;
    HONE_TRY(onnx_attr_int(r, "n_supports", 0, &supports));
    HONE_TRY(onnx_attr_int(r, "one_class", 0, &one_class));
    HONE_TRY(supports > 0 ? vector_score(r, supports, &m, out) : linear_score(r, &m, out));
    if (!one_class) return HONE_OK;
    HONE_TRY(onnx_with_scalar(r, "greater", *out, 0, &is_in));
    HONE_TRY(onnx_scalar_like(r, out, 1, &in));
    HONE_TRY(onnx_scalar_like(r, out, -1, &without));
    return onnx_emit_where(r, is_in, in, without, out);
}

/* ---- classes ---- */

typedef struct classes {
    hone_garg labels;
    uint32_t count, pairs;
    const int64_t *sizes; /* vectors of each class, which lie class by class */
} classes;

/* What a pair takes of the vectors of its two classes: those of i have the weights of row j - 1,
 * those of j the weights of row i. */
static void put_pair(const machine *m, const classes *c, const int64_t *starts, uint32_t pair,
                     uint32_t i, uint32_t j, double *table) {
    for (int64_t v = starts[i]; v < starts[i] + c->sizes[i]; v++)
        table[v * c->pairs + pair] = m->weights[(int64_t)(j - 1) * m->vector_count + v];
    for (int64_t v = starts[j]; v < starts[j] + c->sizes[j]; v++)
        table[v * c->pairs + pair] = m->weights[(int64_t)i * m->vector_count + v];
}

/* Votes are truths of pairs times votes[pair, class], and more[class]. */
static void put_votes(const classes *c, uint32_t pair, uint32_t i, uint32_t j, double *votes,
                      double *more) {
    votes[pair * c->count + i] = 1;
    votes[pair * c->count + j] = -1;
    more[j] += 1;
}

typedef struct tables {
    double *weights, *votes, *more;
} tables;

static hone_status make_tables(onnx_reader *r, const machine *m, const classes *c, tables *out) {
    int64_t starts[MAX_CLASSES], start = 0;
    uint32_t pair = 0;
    out->weights = hone_arena_zalloc(r->arena, (size_t)m->vector_count * c->pairs * sizeof(double));
    out->votes = hone_arena_zalloc(r->arena, (size_t)c->pairs * c->count * sizeof(double));
    out->more = hone_arena_zalloc(r->arena, (size_t)c->count * sizeof(double));
    if (!out->weights || !out->votes || !out->more) return HONE_NO_MEMORY("model");
    for (uint32_t i = 0; i < c->count; start += c->sizes[i++])
        starts[i] = start;
    for (uint32_t i = 0; i < c->count; i++) {
        for (uint32_t j = i + 1; j < c->count; j++, pair++) {
            put_pair(m, c, starts, pair, i, j, out->weights);
            put_votes(c, pair, i, j, out->votes, out->more);
        }
    }
    return HONE_OK;
}

static hone_status read_classes(onnx_reader *r, classes *c, int64_t *out_vectors) {
    uint32_t count;
    *out_vectors = 0;
    HONE_TRY(onnx_class_labels(r, "classlabels_ints", &c->labels, &c->count));
    HONE_TRY(onnx_attr_int64s(r, "vectors_per_class", &c->sizes, &count));
    if (count == 0) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a machine without support vectors");
    if (count != c->count || count < 2 || count > MAX_CLASSES)
        return HONE_ERROR(HONE_CODE_INVALID, "vectors of %u classes for %u labels", count,
                          c->count);
    for (uint32_t i = 0; i < count; i++) {
        if (c->sizes[i] < 0 || c->sizes[i] > INT32_MAX)
            return HONE_ERROR(HONE_CODE_INVALID, "vectors_per_class has %lld",
                              (long long)c->sizes[i]);
        *out_vectors += c->sizes[i];
    }
    c->pairs = count * (count - 1) / 2;
    return HONE_OK;
}

static hone_status best_label(onnx_reader *r, const classes *c, const tables *t, hone_garg scores,
                              hone_garg *out) {
    hone_garg sides[2], more, votes;
    HONE_TRY(onnx_with_scalar(r, "greater", scores, 0, &sides[0]));
    HONE_TRY(onnx_emit_cast(r, sides[0], HONE_DTYPE_F32, &sides[0]));
    HONE_TRY(onnx_number_table(r, HONE_DTYPE_F32, c->pairs, c->count, t->votes, &sides[1]));
    HONE_TRY(onnx_emit(r, "matmul", 2, sides, 0, NULL, &votes));
    HONE_TRY(onnx_number_table(r, HONE_DTYPE_F32, 0, c->count, t->more, &more));
    HONE_TRY(onnx_emit2(r, "add", votes, more, &votes));
    return onnx_best_label(r, votes, c->labels, out);
}

/* What lies where in [first of a pair, second of a pair] of each row: of what comes of the pairs,
 * and, behind it, of what is left of 1; along the diagonal anything. */
static hone_status pair_indices(onnx_reader *r, const classes *c, hone_garg *out) {
    int64_t *indices = hone_arena_zalloc(r->arena, (size_t)c->count * c->count * sizeof *indices);
    uint32_t pair = 0;
    if (!indices) return HONE_NO_MEMORY("model");
    for (uint32_t i = 0; i < c->count; i++) {
        for (uint32_t j = i + 1; j < c->count; j++, pair++) {
            indices[i * c->count + j] = pair;
            indices[j * c->count + i] = c->pairs + pair;
        }
    }
    return onnx_int_table(r, (int64_t)c->count * c->count, indices, out);
}

/* The chance of the first one of a pair is 1 - sigmoid(a * score + b). */
typedef struct sigmoids {
    const double *a, *b; /* of each pair */
    bool are_given;
} sigmoids;

/* A score to how likely the first one of the pair is, neither 0 nor 1. */
static hone_status chances_of_pairs(onnx_reader *r, const sigmoids *of, const classes *c,
                                    hone_garg scores, hone_garg *out) {
    hone_garg factors, terms, one;
    HONE_TRY(onnx_number_table(r, HONE_DTYPE_F32, 0, c->pairs, of->a, &factors));
    HONE_TRY(onnx_number_table(r, HONE_DTYPE_F32, 0, c->pairs, of->b, &terms));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_F32, 1, &one));
    HONE_TRY(onnx_emit2(r, "multiply", scores, factors, out));
    HONE_TRY(onnx_emit2(r, "add", *out, terms, out));
    HONE_TRY(onnx_emit1(r, "sigmoid", *out, out));
    HONE_TRY(onnx_emit2(r, "subtract", one, *out, out));
    HONE_TRY(onnx_with_scalar(r, "maximum", *out, 1e-7F, out));
    return onnx_with_scalar(r, "minimum", *out, 1 - 1e-7F, out);
}

/* [rows, classes] of the scores [rows, pairs]. */
static hone_status probabilities(onnx_reader *r, const sigmoids *of, const classes *c,
                                 hone_garg scores, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg parts[2], indices, one;
    HONE_TRY(onnx_info(r, &scores, &info));
    HONE_TRY(chances_of_pairs(r, of, c, scores, &parts[0]));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_F32, 1, &one));
    HONE_TRY(onnx_emit2(r, "subtract", one, parts[0], &parts[1]));
    HONE_TRY(onnx_emit_concat(r, 2, parts, 1, out));
    HONE_TRY(pair_indices(r, c, &indices));
    HONE_TRY(onnx_emit_take(r, *out, indices, 1, out));
    const hone_expr *count = hone_extent_int(&r->ir, c->count);
    const hone_expr *shape[] = {info->shape[0], count, count};
    HONE_TRY(onnx_emit_reshape(r, *out, 3, shape, out));
    return onnx_emit1(r, "couple", *out, out);
}

/* How scores become chances, where the machine says it. */
static hone_status read_chances(onnx_reader *r, const classes *c, sigmoids *out) {
    uint32_t a_count, b_count;
    HONE_TRY(onnx_attr_doubles(r, "prob_a", &out->a, &a_count));
    HONE_TRY(onnx_attr_doubles(r, "prob_b", &out->b, &b_count));
    out->are_given = a_count > 0;
    if (!a_count || (a_count >= c->pairs && b_count >= c->pairs)) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "%u prob_a and %u prob_b of %u pairs of classes", a_count,
                      b_count, c->pairs);
}

static hone_status convert_classifier(onnx_reader *r, hone_garg *out) {
    machine m = {0};
    classes c;
    tables t;
    int64_t vectors;
    uint32_t transform;
    sigmoids chances = {0};
    hone_garg scores;
    HONE_TRY(read_classes(r, &c, &vectors));
    HONE_TRY(read_chances(r, &c, &chances));
    HONE_TRY(read_machine(r, vectors, &m));
    if (m.weight_count != (c.count - 1) * vectors || m.rho_count < c.pairs)
        return HONE_ERROR(HONE_CODE_INVALID, "%u coefficients and %u rho of %lld support vectors",
                          m.weight_count, m.rho_count, (long long)vectors);
    HONE_TRY(make_tables(r, &m, &c, &t));
    HONE_TRY(scores_of(r, &m, c.pairs, t.weights, &scores));
    out[1] = scores;
    if (chances.are_given) {
        HONE_TRY(probabilities(r, &chances, &c, scores, &out[1]));
        HONE_TRY(onnx_post_transform(r, &out[1]));
    } else if (c.count == 2) {
        HONE_TRY(onnx_read_transform(r, &transform));
        HONE_TRY(onnx_two_classes(r, scores, c.labels, 0, transform == 0, out));
    } else {
        HONE_TRY(onnx_post_transform(r, &out[1]));
    }
    return best_label(r, &c, &t, scores, &out[0]);
}

const onnx_converter onnx_vectors_converters[] = {
    {"SVMRegressor", convert_regressor, 1, 1, 1,
     "coefficients kernel_params kernel_type n_supports one_class post_transform rho "
     "support_vectors", NULL},
    {"SVMClassifier",             convert_classifier, 1, 1, 2,
     "classlabels_ints classlabels_strings coefficients kernel_params kernel_type post_transform "
     "prob_a prob_b rho support_vectors vectors_per_class", NULL},
    {0            },
};
