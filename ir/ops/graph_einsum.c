/* ir/ops/graph_einsum.c - reads equations of Einstein sums. */
#include "ir/ops/graph_einsum.h"

#include <stdbool.h>
#include <string.h>

typedef struct reader {
    const char *at;
    uint32_t more; /* dimensions that "..." stands for, at most */
    int times[HONE_EINSUM_LABELS];
} reader;

static bool is_letter(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Upper case before lower case, as characters are ordered. */
static uint8_t label_of(char letter) {
    return (uint8_t)(letter <= 'Z' ? letter - 'A' : letter - 'a' + 26);
}

/* The dimensions of "..." lie along each other from the last one on. */
static uint8_t label_of_more(uint32_t from_last) {
    return (uint8_t)(52 + from_last);
}

static void skip_blanks(reader *r) {
    while (*r->at == ' ')
        r->at++;
}

/* Labels up to a comma, an arrow or the end; "..." takes `more` of them, or is not allowed (-1). */
static const char *read_term(reader *r, int64_t more, uint8_t *labels, uint32_t *out_count) {
    bool has_more = false;
    *out_count = 0;
    for (skip_blanks(r); *r->at && *r->at != ',' && *r->at != '-'; skip_blanks(r)) {
        bool is_more = strncmp(r->at, "...", 3) == 0;
        uint32_t some = is_more ? (uint32_t)(more < 0 ? 0 : more) : 1;
        if (is_more && has_more) return "'...' stands twice in a term";
        if (!is_more && !is_letter(*r->at)) return "a term holds what is no letter";
        if (*out_count + some > HONE_MAX_RANK) return "a term has too many dimensions";
        for (uint32_t i = 0; i < some; i++)
            labels[(*out_count)++] = is_more ? label_of_more(some - 1 - i) : label_of(*r->at);
        has_more |= is_more;
        r->at += is_more ? 3 : 1;
    }
    return NULL;
}

/* How many letters a term has, and whether "..." is in it. */
static uint32_t letters_of_term(const char *at, bool *out_more) {
    uint32_t count = 0;
    *out_more = false;
    for (; *at && *at != ',' && *at != '-'; at++) {
        count += is_letter(*at);
        *out_more |= *at == '.';
    }
    return count;
}

static const char *read_operand(reader *r, int32_t rank, uint8_t *labels) {
    bool has_more;
    uint32_t count, letters = letters_of_term(r->at, &has_more);
    int64_t more = (int64_t)rank - letters;
    if (rank < 0 || rank > HONE_MAX_RANK) return "an operand has too many dimensions";
    if (more < 0 || (more > 0 && !has_more)) return "a term does not fit the rank of its operand";
    const char *why = read_term(r, more, labels, &count);
    if (why) return why;
    if (has_more && (uint32_t)more > r->more) r->more = (uint32_t)more;
    for (uint32_t i = 0; i < count; i++)
        r->times[labels[i]]++;
    return NULL;
}

static void implied_result(const reader *r, hone_einsum *out) {
    for (uint32_t i = r->more; i-- > 0 && out->out_rank < HONE_MAX_RANK;)
        out->out[out->out_rank++] = label_of_more(i);
    for (uint8_t l = 0; l < 52 && out->out_rank < HONE_MAX_RANK; l++) {
        if (r->times[l] == 1) out->out[out->out_rank++] = l;
    }
}

static const char *read_result(reader *r, hone_einsum *out) {
    bool is_there[HONE_EINSUM_LABELS] = {false};
    r->at += 2;
    const char *why = read_term(r, r->more, out->out, &out->out_rank);
    if (why) return why;
    if (*r->at) return "the result is followed by something";
    for (uint32_t i = 0; i < out->out_rank; i++) {
        uint8_t label = out->out[i];
        if (!r->times[label]) return "the result has a letter that no operand has";
        if (is_there[label]) return "the result has a letter twice";
        is_there[label] = true;
    }
    return NULL;
}

const char *hone_einsum_parse(const char *equation, uint32_t count, const int32_t *ranks,
                              hone_einsum *out) {
    reader r = {.at = equation};
    memset(out, 0, sizeof *out);
    out->count = count;
    if (count == 0 || count > HONE_EINSUM_MAX_OPERANDS) return "too many operands";
    for (uint32_t i = 0; i < count; i++) {
        if (i && *r.at++ != ',') return "there are fewer terms than operands";
        const char *why = read_operand(&r, ranks[i], out->labels[i]);
        if (why) return why;
        out->ranks[i] = (uint32_t)ranks[i];
    }
    if (strncmp(r.at, "->", 2) == 0) return read_result(&r, out);
    if (*r.at) return "there are more terms than operands";
    implied_result(&r, out);
    return NULL;
}
