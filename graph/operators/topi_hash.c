/* graph/operators/topi_hash.c - MurmurHash3 of 32 bits of rows of bytes, each of which has a length
 * of its own: four bytes at a time are mixed in, then what is left of them, then how many there
 * were. (Austin Appleby's algorithm, which is in the public domain.) */
#include "graph/operators/topi_steps.h"

enum { WORD = 4 };

typedef struct hashing {
    hone_topi_steps p; /* of a row */
    hone_te *te;
    hone_buffer hash; /* [rows, 1], so far */
} hashing;

static const hone_expr *word(const hashing *h, uint32_t value) {
    return hone_expr_int(&h->te->ir, HONE_DTYPE_U32, value);
}

static const hone_expr *bits(const hashing *h, hone_intrin how, const hone_expr *a,
                             const hone_expr *b) {
    return hone_topi_step_shift(&h->p, how, a, b);
}

static const hone_expr *times(const hashing *h, const hone_expr *a, uint32_t b) {
    return hone_topi_op(h->p.t, HONE_OP_MUL, a, word(h, b));
}

static const hone_expr *exclusive(const hashing *h, const hone_expr *a, const hone_expr *b) {
    return bits(h, HONE_INTRIN_BITWISE_XOR, a, b);
}

/* To the left by so many bits, which come back on the right. */
static const hone_expr *rotated(hashing *h, const hone_expr *x, uint32_t by) {
    x = hone_topi_step_let(&h->p, "turned", x);
    const hone_expr *left = bits(h, HONE_INTRIN_SHIFT_LEFT, x, word(h, by));
    const hone_expr *right = bits(h, HONE_INTRIN_SHIFT_RIGHT, x, word(h, 32 - by));
    return bits(h, HONE_INTRIN_BITWISE_OR, left, right);
}

static const hone_expr *so_far(const hashing *h) {
    return hone_topi_step_load(&h->p, h->hash, hone_topi_step_int(&h->p, 0));
}

static void keep(const hashing *h, const hone_expr *value) {
    hone_topi_step_store(&h->p, h->hash, hone_topi_step_int(&h->p, 0), value);
}

static const hone_expr *mixed(hashing *h, const hone_expr *k) {
    return times(h, rotated(h, times(h, k, 0xcc9e2d51u), 15), 0x1b873593u);
}

/* Byte `index` of the row, `place` bytes up. */
static const hone_expr *byte_at(const hashing *h, const hone_expr *index, uint32_t place) {
    const hone_expr *at[] = {h->p.s.axis[0], index};
    const hone_expr *byte = hone_topi_load(h->p.t, 0, at);
    if (byte) byte = hone_expr_cast(&h->te->ir, HONE_DTYPE_U32, byte);
    return place ? bits(h, HONE_INTRIN_SHIFT_LEFT, byte, word(h, 8 * place)) : byte;
}

static void take_words(hashing h, const hone_expr *count) {
    const hone_expr *i = hone_te_for(h.te, &h.p.at, "word", count);
    const hone_expr *first = hone_topi_step_let(&h.p, "first", hone_topi_mul_int(h.p.t, i, WORD));
    const hone_expr *k = byte_at(&h, first, 0);
    for (uint32_t b = 1; b < WORD; b++)
        k = bits(&h, HONE_INTRIN_BITWISE_OR, k, byte_at(&h, hone_topi_add_int(h.p.t, first, b), b));
    const hone_expr *hash = rotated(&h, exclusive(&h, so_far(&h), mixed(&h, k)), 13);
    keep(&h, hone_topi_op(h.p.t, HONE_OP_ADD, times(&h, hash, 5), word(&h, 0xe6546b64u)));
}

/* The bytes behind the words, one to three of them. */
static void take_rest(hashing h, const hone_expr *first, const hone_expr *length) {
    h.p.at = hone_te_if(h.te, h.p.at, hone_topi_op(h.p.t, HONE_OP_LT, first, length));
    const hone_expr *k = byte_at(&h, first, 0);
    for (uint32_t b = 1; b < WORD - 1; b++) {
        const hone_expr *index = hone_topi_add_int(h.p.t, first, b);
        const hone_expr *is_there = hone_topi_op(h.p.t, HONE_OP_LT, index, length);
        const hone_expr *byte =
            hone_topi_choose(h.p.t, is_there, byte_at(&h, index, b), word(&h, 0));
        k = bits(&h, HONE_INTRIN_BITWISE_OR, k, byte);
    }
    keep(&h, exclusive(&h, so_far(&h), mixed(&h, k)));
}

static void finish(hashing *h, const hone_expr *length) {
    static const struct {
        uint32_t shift, factor;
    } rounds[] = {
        {16, 0x85ebca6bu},
        {13, 0xc2b2ae35u},
        {16, 1          },
    };
    const hone_expr *count = length ? hone_expr_cast(&h->te->ir, HONE_DTYPE_U32, length) : NULL;
    const hone_expr *x = exclusive(h, so_far(h), count);
    for (size_t i = 0; i < HONE_COUNT(rounds); i++) {
        x = hone_topi_step_let(&h->p, "mixed", x);
        x = exclusive(h, x, bits(h, HONE_INTRIN_SHIFT_RIGHT, x, word(h, rounds[i].shift)));
        if (rounds[i].factor != 1) x = times(h, x, rounds[i].factor);
    }
    keep(h, x);
}

hone_status hone_topi_emit_murmur_hash(hone_topi *t) {
    hone_te_stage s;
    const uint32_t seed = (uint32_t)hone_attrs_int(&t->bind->attrs, "seed", 0);
    const hone_expr *shape[] = {t->out_shape[0], hone_te_int(t->te, 1)};
    hashing h = {.p.t = t, .te = t->te};
    h.hash = hone_te_buffer(t->te, "hash_so_far", HONE_DTYPE_U32, 2, shape);
    hone_te_stage_begin(t->te, &h.p.s, 1, shape, 0, NULL);
    h.p.at = hone_te_steps(t->te, &h.p.s, "murmur_hash", 1, &h.hash, 1, &h.hash);
    for (uint32_t i = 0; i < 2; i++)
        if (t->buffers[i] != HONE_NO_ID) hone_te_steps_read(t->te, h.p.at, t->buffers[i]);
    keep(&h, word(&h, seed));
    const hone_expr *length = hone_topi_load(t, 1, &h.p.s.axis[0]);
    if (length) length = hone_expr_cast(&t->te->ir, t->te->index, length);
    length = hone_topi_step_let(&h.p, "length", length);
    const hone_expr *words =
        hone_topi_op(t, HONE_OP_FLOORDIV, length, hone_topi_step_int(&h.p, WORD));
    words = hone_topi_step_let(&h.p, "words", words);
    take_words(h, words);
    take_rest(h, hone_topi_mul_int(t, words, WORD), length);
    finish(&h, length);
    hone_topi_stage(t, &s);
    const hone_expr *at[] = {s.axis[0], hone_te_int(t->te, 0)};
    t->result = hone_te_compute(t->te, &s, "hash", hone_te_load(t->te, h.hash, at));
    return HONE_OK;
}
