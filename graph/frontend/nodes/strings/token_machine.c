/* graph/frontend/nodes/strings/token_machine.c - see token_machine.h.
 *
 * A state is where the automaton of the expression stands, for the match that goes on and for one
 * that would begin with this character, and what is known of the word:
 *
 *     expression [a-z]+      text    a   b   .   c
 *     the match that goes on         -   ab  x   -
 *     one that begins here           a   b   x   c
 *     flags                          B   I       B
 *
 * States are found from the first one on, each once. */
#include "graph/frontend/nodes/strings/token_machine.h"

#include <string.h>

#include "support/core/alloc.h"
#include "support/data/map.h"
#include "support/text/regex.h"

enum { DEAD = UINT16_MAX, MOST_BACK = UINT8_MAX, MOST_PAIRS = 1 << 16 };

typedef struct word {
    uint8_t count;  /* characters, as many as must be in most */
    uint8_t back;   /* bytes, until it is one */
    uint8_t is_one; /* matched, and long enough */
    uint8_t flag;   /* of the last character */
} word;

/* Compared and hashed as bytes. */
typedef struct state {
    uint16_t going, fresh;      /* states of the automaton, or DEAD */
    uint8_t left, length;       /* bytes of this character that come, and all of them */
    uint8_t is_over, is_unused; /* a byte 0 was there */
    word match, gap;            /* what matches; what is between matches */
} state;

/* Of two matches that began one behind the other, both not there yet. */
typedef struct pair {
    uint16_t first, second;
    uint8_t left;
} pair;

typedef struct maker {
    hone_dfa dfa;
    bool *can_match; /* from each of its states, at last */
    bool is_between;
    int64_t least;
    hone_arena *arena;
    hone_token_machine *out;
    uint8_t byte_of[256]; /* one of each kind */
    state *states;
    hone_map128 seen; /* numbers of states */
    pair *pairs;
    uint32_t pair_count;
    hone_u64map seen_pairs;
} maker;

static hone_status too_hard(const char *why) {
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "an expression %s", why);
}

/* ---- the automaton ---- */

/* ^, $, \A, \z, \b and \B outside of classes ask what stands around. */
static bool looks_around(const char *p, size_t length) {
    bool is_class = false;
    for (size_t i = 0; i < length; i++) {
        if (p[i] == '\\' && i + 1 < length) {
            if (!is_class && p[i + 1] && strchr("AzbB", p[i + 1])) return true;
            i++;
        } else if (is_class) {
            is_class = p[i] != ']';
        } else if (p[i] == '[') {
            is_class = true;
            if (i + 1 < length && p[i + 1] == '^') i++;
            if (i + 1 < length && p[i + 1] == ']') i++;
        } else if (p[i] == '^' || p[i] == '$') {
            return true;
        }
    }
    return false;
}

static hone_status find_living(maker *m) {
    const hone_dfa *d = &m->dfa;
    bool is_more = true;
    m->can_match = hone_arena_zalloc(m->arena, d->states);
    if (!m->can_match) return HONE_NO_MEMORY("expression");
    memcpy(m->can_match, d->accepts, d->states * sizeof *d->accepts);
    while (is_more) {
        is_more = false;
        for (uint32_t i = 0; i < d->states * d->classes; i++) {
            if (m->can_match[i / d->classes] || !m->can_match[d->next[i]]) continue;
            m->can_match[i / d->classes] = is_more = true;
        }
    }
    return HONE_OK;
}

static uint16_t step(const maker *m, uint16_t from, uint8_t byte) {
    if (from == DEAD) return DEAD;
    uint32_t next = m->dfa.next[from * m->dfa.classes + m->dfa.class_of[byte]];
    return m->can_match[next] ? (uint16_t)next : DEAD;
}

static bool accepts(const maker *m, uint16_t at) {
    return at != DEAD && m->dfa.accepts[at];
}

static uint8_t length_of(uint8_t lead) {
    return lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

/* Bytes of one kind do the same everywhere; 0 is a kind of its own. */
static void find_kinds(maker *m) {
    hone_token_machine *out = m->out;
    out->kinds = 1;
    for (int b = 1; b < 256; b++) {
        uint32_t k = 1;
        for (; k < out->kinds; k++)
            if (m->dfa.class_of[m->byte_of[k]] == m->dfa.class_of[b] &&
                length_of(m->byte_of[k]) == length_of((uint8_t)b))
                break;
        if (k == out->kinds) m->byte_of[out->kinds++] = (uint8_t)b;
        out->kind_of[b] = (int32_t)k;
    }
}

/* ---- what fails ---- */

/* Nothing that begins inside of a match that fails may be one: it would be looked for from there.
 */
static hone_status add_pair(maker *m, uint16_t first, uint16_t second, uint8_t left) {
    const uint64_t key = (uint64_t)first << 32 | (uint64_t)second << 8 | left;
    if (hone_u64map_find(&m->seen_pairs, key, NULL)) return HONE_OK;
    if (m->pair_count == MOST_PAIRS) return too_hard("of too many states");
    if (!m->pairs) m->pairs = hone_arena_alloc(m->arena, MOST_PAIRS * sizeof *m->pairs);
    if (!m->pairs || !hone_u64map_put(&m->seen_pairs, key, 1)) return HONE_NO_MEMORY("expression");
    m->pairs[m->pair_count++] = (pair){first, second, left};
    return HONE_OK;
}

static hone_status step_pair(maker *m, pair from, uint8_t byte) {
    const uint16_t first = step(m, from.first, byte), second = step(m, from.second, byte);
    const uint8_t left = (uint8_t)((from.left ? from.left : length_of(byte)) - 1);
    if (second == DEAD) return HONE_OK;
    if (left) return add_pair(m, first, second, left);
    if (accepts(m, first)) return HONE_OK;
    if (first == DEAD || accepts(m, second))
        return too_hard("of which a match can begin inside of what is none");
    HONE_TRY(add_pair(m, first, second, 0));
    return HONE_OK;
}

static hone_status check_failures(maker *m) {
    for (uint32_t i = 0; i < m->pair_count; i++) {
        const pair from = m->pairs[i];
        for (uint32_t k = 1; k < m->out->kinds; k++)
            HONE_TRY(step_pair(m, from, m->byte_of[k]));
    }
    return HONE_OK;
}

/* ---- words ---- */

/* A character more. */
static hone_status grow(int64_t least, uint8_t length, bool is_match, word *io) {
    io->flag = HONE_TOKEN_INSIDE;
    if (io->is_one) return is_match ? HONE_OK : too_hard("whose matches have to look ahead");
    if (io->back + length > MOST_BACK) return too_hard("of which a match can begin too far back");
    io->back = (uint8_t)(io->back + length);
    if (io->count < least) io->count++;
    io->is_one = is_match && io->count >= least;
    io->flag = io->is_one ? HONE_TOKEN_BEGIN : HONE_TOKEN_NONE;
    return HONE_OK;
}

static hone_status end_character(maker *m, state *s) {
    const uint8_t length = s->length;
    if (s->going == DEAD) {
        s->match = (word){0};
        s->going = s->fresh;
    }
    s->fresh = DEAD;
    s->length = 0;
    if (s->going != DEAD) {
        const bool is_match = accepts(m, s->going);
        if (m->is_between && !is_match) return too_hard("of separators of several characters");
        if (!is_match) HONE_TRY(add_pair(m, s->going, 0, 0));
        HONE_TRY(grow(m->is_between ? 1 : m->least, length, is_match, &s->match));
    }
    if (!m->is_between) return HONE_OK;
    if (s->going == DEAD) return grow(m->least, length, true, &s->gap);
    s->gap = (word){0};
    return HONE_OK;
}

/* What is behind the first character of a word is forgotten: states that differ in it are one. */
static void forget(word *io) {
    if (io->flag != HONE_TOKEN_BEGIN && io->is_one) io->back = 0;
    io->flag = HONE_TOKEN_NONE;
}

static hone_status advance(maker *m, state *s, uint8_t byte) {
    if (!byte || s->is_over) {
        *s = (state){.going = DEAD, .fresh = DEAD, .is_over = 1};
        return HONE_OK;
    }
    forget(&s->match);
    forget(&s->gap);
    if (!s->left) {
        s->left = s->length = length_of(byte);
        s->fresh = 0;
    }
    s->going = step(m, s->going, byte);
    s->fresh = step(m, s->fresh, byte);
    return --s->left ? HONE_OK : end_character(m, s);
}

/* ---- states ---- */

static hone_status number_of(maker *m, const state *s, int32_t *out) {
    hone_token_machine *machine = m->out;
    const hone_hash128 hash = hone_hash128_bytes(s, sizeof *s);
    const word *w = m->is_between ? &s->gap : &s->match;
    uint64_t number = machine->states;
    *out = 0;
    if (hone_map128_find(&m->seen, hash, &number)) {
        *out = (int32_t)number;
        return HONE_OK;
    }
    number = machine->states;
    if (number == HONE_TOKEN_STATES) return too_hard("of too many states");
    if (!hone_map128_put(&m->seen, hash, number)) return HONE_NO_MEMORY("expression");
    m->states[number] = *s;
    machine->flags[number] = s->left ? HONE_TOKEN_NONE : w->flag;
    machine->back[number] = w->back;
    machine->states++;
    *out = (int32_t)number;
    return HONE_OK;
}

static hone_status find_states(maker *m) {
    hone_token_machine *out = m->out;
    state first = {.going = DEAD, .fresh = DEAD};
    int32_t number;
    HONE_TRY(number_of(m, &first, &number));
    for (uint32_t i = 0; i < out->states; i++) {
        for (uint32_t k = 0; k < out->kinds; k++) {
            state s = m->states[i];
            HONE_TRY(advance(m, &s, m->byte_of[k]));
            HONE_TRY(number_of(m, &s, &out->next[(size_t)i * out->kinds + k]));
        }
    }
    return check_failures(m);
}

static hone_status make(maker *m) {
    hone_token_machine *out = m->out;
    if (m->is_between && accepts(m, 0)) return too_hard("of separators that may be nothing");
    HONE_TRY(find_living(m));
    find_kinds(m);
    const size_t most = HONE_TOKEN_STATES;
    m->states = hone_arena_alloc(m->arena, most * sizeof *m->states);
    out->next = hone_arena_alloc(m->arena, most * out->kinds * sizeof *out->next);
    out->flags = hone_arena_alloc(m->arena, most * sizeof *out->flags);
    out->back = hone_arena_alloc(m->arena, most * sizeof *out->back);
    if (!m->states || !out->next || !out->flags || !out->back) return HONE_NO_MEMORY("expression");
    return find_states(m);
}

hone_status hone_token_machine_make(const char *pattern, size_t length, bool is_between,
                                    int64_t least, hone_arena *arena, hone_token_machine *out) {
    *out = (hone_token_machine){0};
    maker m = {.is_between = is_between, .least = least, .arena = arena, .out = out};
    if (least < 1 || least > HONE_TOKEN_MOST_LEAST)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "words of at least %lld characters, must be 1 to %d", (long long)least,
                          HONE_TOKEN_MOST_LEAST);
    HONE_TRY(hone_regex_compile(pattern, length, &m.dfa));
    hone_status st =
        looks_around(pattern, length) ? too_hard("that asks what stands around a match") : make(&m);
    hone_dfa_deinit(&m.dfa);
    hone_map128_deinit(&m.seen);
    hone_u64map_deinit(&m.seen_pairs);
    return st;
}
