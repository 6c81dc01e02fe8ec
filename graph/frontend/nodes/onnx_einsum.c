/* graph/frontend/nodes/onnx_einsum.c - Einsum: two operands after the other, so that no more is
 * summed at once than must be. */
#include <stdio.h>
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"
#include "ir/ops/graph_einsum.h"

typedef struct term {
    uint32_t rank;
    uint8_t labels[HONE_EINSUM_LABELS];
} term;

static char letter_of(uint8_t label) {
    return (char)(label < 26 ? 'A' + label : 'a' + label - 26);
}

static bool has_label(const uint8_t *labels, uint32_t rank, uint8_t label) {
    return rank > 0 && memchr(labels, label, rank) != NULL;
}

/* The dimensions that "..." stands for get letters which the equation has not. */
static hone_status letters_for_all(hone_einsum *e) {
    bool is_used[52] = {false};
    uint8_t next = 0, letters[HONE_EINSUM_LABELS];
    for (uint32_t i = 0; i < e->count; i++) {
        for (uint32_t d = 0; d < e->ranks[i]; d++)
            if (e->labels[i][d] < 52) is_used[e->labels[i][d]] = true;
    }
    for (uint8_t l = 0; l < HONE_EINSUM_LABELS; l++) {
        letters[l] = l;
        if (l < 52) continue;
        while (next < 52 && is_used[next])
            next++;
        if (next == 52) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "more than 52 letters");
        letters[l] = next++;
    }
    for (uint32_t i = 0; i < e->count; i++) {
        for (uint32_t d = 0; d < e->ranks[i]; d++)
            e->labels[i][d] = letters[e->labels[i][d]];
    }
    for (uint32_t d = 0; d < e->out_rank; d++)
        e->out[d] = letters[e->out[d]];
    return HONE_OK;
}

/* What of both terms is wanted later: by an operand behind `next`, or by the result. */
static term keep_wanted(const hone_einsum *e, const term *a, uint32_t next) {
    term kept = {0};
    for (uint32_t k = 0; k < a->rank + e->ranks[next]; k++) {
        uint8_t label = k < a->rank ? a->labels[k] : e->labels[next][k - a->rank];
        bool is_wanted = has_label(e->out, e->out_rank, label);
        for (uint32_t i = next + 1; i < e->count; i++)
            is_wanted |= has_label(e->labels[i], e->ranks[i], label);
        bool is_new = !has_label(kept.labels, kept.rank, label);
        if (is_wanted && is_new) kept.labels[kept.rank++] = label;
    }
    return kept;
}

static char *spell(char *at, uint32_t rank, const uint8_t *labels) {
    for (uint32_t i = 0; i < rank; i++)
        *at++ = letter_of(labels[i]);
    return at;
}

hone_status onnx_emit_einsum(onnx_reader *r, const char *equation, uint32_t count,
                             const hone_garg *operands, hone_garg *out) {
    hone_garg *items = hone_arena_copy(r->arena, operands, count * sizeof *items);
    if (!items) return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
    hone_garg tuple = {.kind = HONE_GARG_TUPLE, .count = count, .u.items = items};
    hone_attr attr = {"subscripts", onnx_text_value(r, equation)};
    return onnx_emit(r, "einsum", 1, &tuple, 1, &attr, out);
}

/* The terms of e from the first to the last, each with what came of those before it. */
static hone_status contract(onnx_reader *r, const hone_einsum *e, hone_garg *out) {
    term a = {.rank = e->ranks[0]};
    hone_garg pair[2] = {r->inputs[0]};
    memcpy(a.labels, e->labels[0], a.rank);
    for (uint32_t i = 1; i < e->count; i++) {
        char equation[3 * HONE_EINSUM_LABELS], *at = spell(equation, a.rank, a.labels);
        bool is_last = i + 1 == e->count;
        term kept = keep_wanted(e, &a, i);
        if (kept.rank > HONE_MAX_RANK)
            return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a sum over more than %d dimensions",
                              HONE_MAX_RANK);
        *at++ = ',';
        at = spell(at, e->ranks[i], e->labels[i]);
        *at++ = '-';
        *at++ = '>';
        at = is_last ? spell(at, e->out_rank, e->out) : spell(at, kept.rank, kept.labels);
        *at = 0;
        pair[1] = r->inputs[i];
        HONE_TRY(onnx_emit_einsum(r, equation, 2, pair, out));
        pair[0] = *out;
        a = kept;
    }
    return HONE_OK;
}

/* Sizes of one label are equal, whatever the file calls them, within an operand too. */
static hone_status unify_labels(onnx_reader *r, const hone_einsum *e) {
    for (uint32_t i = 0; i < e->count; i++) {
        for (uint32_t k = i; k < e->count; k++) {
            for (uint32_t at = 0; at < e->ranks[i] * e->ranks[k]; at++) {
                uint32_t d = at / e->ranks[k], other = at % e->ranks[k];
                bool is_other = k > i || other > d;
                if (!is_other || e->labels[i][d] != e->labels[k][other]) continue;
                HONE_TRY(
                    onnx_unify_dims(r, &r->inputs[i], (int32_t)d, &r->inputs[k], (int32_t)other));
            }
        }
    }
    return HONE_OK;
}

static hone_status convert_einsum(onnx_reader *r, hone_garg *out) {
    const Onnx__AttributeProto *attr = onnx_attr(r, "equation");
    int32_t ranks[HONE_EINSUM_MAX_OPERANDS];
    const hone_sinfo *info, *first;
    hone_einsum e;
    char equation[256];
    if (!attr || attr->s.len >= sizeof equation || r->input_count > HONE_EINSUM_MAX_OPERANDS) {
        return HONE_ERROR(HONE_CODE_INVALID, "the equation is missing or too long");
    }
    snprintf(equation, sizeof equation, "%.*s", (int)attr->s.len, (char *)attr->s.data);
    HONE_TRY(onnx_input_info(r, 0, &first));
    for (uint32_t i = 0; i < r->input_count; i++) {
        HONE_TRY(onnx_as_tensor(r, &r->inputs[i]));
        HONE_TRY(onnx_input_info(r, i, &info));
        ranks[i] = info->rank;
    }
    const char *why = hone_einsum_parse(equation, r->input_count, ranks, &e);
    if (why) return HONE_ERROR(HONE_CODE_INVALID, "the equation '%s': %s", equation, why);
    HONE_TRY(unify_labels(r, &e));
    if (r->input_count <= 2) return onnx_emit_einsum(r, equation, r->input_count, r->inputs, out);
    HONE_TRY(letters_for_all(&e));
    for (uint32_t i = 0; i < r->input_count; i++)
        HONE_TRY(onnx_widen(r, &r->inputs[i]));
    HONE_TRY(contract(r, &e, out));
    return onnx_emit_cast(r, *out, first->dtype, out);
}

const onnx_converter onnx_einsum_converters[] = {
    {"Einsum", convert_einsum, 1, 255, 1, "equation", NULL},
    {0      },
};
