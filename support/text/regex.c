/* support/text/regex.c - regular expressions as automata: the tree becomes states that take one
 * byte each (Thompson 1968), sets of these the states of the result (Rabin and Scott 1959).
 *
 *   a|bc   =>   0: either 1 or 2     1: a, then 4     2: b, then 3     3: c, then 4     4: end
 *
 * A set is kept as it is before conditions are looked at, with what stood before it: whether they
 * hold is known with the byte behind. */
#include "support/text/regex.h"

#include <stdlib.h>
#include <string.h>

#include "support/core/alloc.h"
#include "support/data/map.h"
#include "support/data/vec.h"
#include "support/text/regex_impl.h"

enum { MAX_PARTS = 1 << 15, MAX_CALLS = 1 << 20, MAX_WORK = 1 << 27, NO_PART = MAX_PARTS };

typedef enum part_kind { PART_BYTE, PART_EITHER, PART_CONDITION, PART_END } part_kind;

typedef struct part {
    part_kind kind;
    uint8_t first, last; /* bytes that it takes */
    regex_condition condition;
    uint32_t next, other;
} part;

/* What a byte is to conditions, or the lack of one. */
typedef enum place { PLACE_OTHER, PLACE_WORD, PLACE_LINE_END, PLACE_OUTSIDE } place;

typedef HONE_VEC(uint32_t) index_list;
typedef HONE_VEC(part) part_list;

typedef struct compiler {
    part_list parts;
    uint32_t calls;
    bool has_conditions;
    uint64_t work;
    /* sets: numbers of parts in order, and behind them what stood before */
    index_list members, begins; /* set i is members[begins[i]] up to that of i + 1 */
    hone_map128 known;          /* hash of a set → its number */
    index_list stack, now, made;
    uint8_t *marks; /* of parts: in the list that is being made */
    uint8_t representative[256];
    index_list next;
    HONE_VEC(uint8_t) accepts;
} compiler;

static hone_status no_memory(void) {
    return HONE_NO_MEMORY("regular expression");
}

static hone_status too_large(void) {
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a regular expression that needs too many states");
}

/* ---- parts ---- */

static hone_status add_part(compiler *c, part p, uint32_t *out) {
    if (c->parts.count >= MAX_PARTS) return too_large();
    *out = (uint32_t)c->parts.count;
    return hone_vec_push(&c->parts, p) ? HONE_OK : no_memory();
}

static hone_status add_byte(compiler *c, unsigned first, unsigned last, uint32_t *io) {
    part p = {.kind = PART_BYTE, .first = (uint8_t)first, .last = (uint8_t)last, .next = *io};
    return add_part(c, p, io);
}

static hone_status add_either(compiler *c, uint32_t a, uint32_t *io) {
    if (*io == NO_PART) return *io = a, HONE_OK;
    return add_part(c, (part){.kind = PART_EITHER, .next = a, .other = *io}, io);
}

static size_t encode(uint32_t ch, unsigned char out[4]) {
    size_t more = ch < 0x80 ? 0 : ch < 0x800 ? 1 : ch < 0x10000 ? 2 : 3;
    static const unsigned char heads[] = {0, 0xc0, 0xe0, 0xf0};
    for (size_t i = more; i > 0; i--) {
        out[i] = (unsigned char)(0x80 | (ch & 0x3f));
        ch >>= 6;
    }
    out[0] = (unsigned char)(heads[more] | ch);
    return more + 1;
}

/* Characters whose encodings have the same length and differ from a byte on in all of its values:
 * a row of ranges of bytes. */
static hone_status add_row(compiler *c, uint32_t first, uint32_t last, uint32_t next,
                           uint32_t *io_all) {
    unsigned char low[4], high[4];
    size_t count = encode(first, low);
    encode(last, high);
    for (size_t i = count; i-- > 0;)
        HONE_TRY(add_byte(c, low[i], high[i], &next));
    return add_either(c, next, io_all);
}

/* The end of the longest row that begins with `first`. */
static uint32_t row_end(uint32_t first, uint32_t last) {
    static const uint32_t ends[] = {0x7f, 0x7ff, 0xffff, REGEX_LAST_CHAR};
    for (int i = 0; i < 4; i++)
        if (first <= ends[i] && last > ends[i]) last = ends[i];
    for (uint32_t shift = 6; shift <= 18; shift += 6) {
        uint32_t behind = (1u << shift) - 1; /* bits of the last bytes */
        bool is_one_block = first < 0x80 || (first & ~behind) == (last & ~behind);
        if (is_one_block) continue;
        if (first & behind)
            last = first | behind;
        else if ((last & behind) != behind)
            last = (last & ~behind) - 1;
    }
    return last;
}

static hone_status add_range(compiler *c, regex_range r, uint32_t next, uint32_t *io_all) {
    while (r.first <= r.last) {
        bool is_surrogate = r.first >= 0xd800 && r.first <= 0xdfff;
        if (is_surrogate) {
            r.first = 0xe000;
            continue;
        }
        uint32_t most = r.first < 0xd800 && r.last > 0xd7ff ? 0xd7ff : r.last;
        uint32_t end = row_end(r.first, most);
        HONE_TRY(add_row(c, r.first, end, next, io_all));
        r.first = end + 1;
    }
    return HONE_OK;
}

/* An empty set takes nothing: a byte between 1 and 0. */
static hone_status add_set(compiler *c, const regex_node *set, uint32_t *io) {
    uint32_t all = NO_PART;
    for (uint32_t i = 0; i < set->count; i++)
        HONE_TRY(add_range(c, set->ranges[i], *io, &all));
    if (all == NO_PART) return add_byte(c, 1, 0, io);
    *io = all;
    return HONE_OK;
}

static hone_status add_tree(compiler *c, const regex_node *n, uint32_t *io);

/* From behind: those that may be left out, then those that must be there. */
static hone_status add_repeat(compiler *c, const regex_node *n, uint32_t *io) {
    uint32_t after = *io, round;
    if (n->most < 0) {
        HONE_TRY(add_part(c, (part){.kind = PART_EITHER, .other = after}, io));
        round = *io;
        HONE_TRY(add_tree(c, n->a, &round));
        c->parts.data[*io].next = round;
    }
    for (int32_t i = n->least; i < n->most; i++) {
        HONE_TRY(add_tree(c, n->a, io));
        HONE_TRY(add_part(c, (part){.kind = PART_EITHER, .next = *io, .other = after}, io));
    }
    for (int32_t i = 0; i < n->least; i++)
        HONE_TRY(add_tree(c, n->a, io));
    return HONE_OK;
}

static hone_status add_condition(compiler *c, const regex_node *n, uint32_t *io) {
    c->has_conditions = true;
    part p = {.kind = PART_CONDITION, .condition = n->condition, .next = *io};
    return add_part(c, p, io);
}

/* What the node takes, and then *io: *io becomes its first part. Long rows are chains of `a`, along
 * which it goes without descending. */
static hone_status add_tree(compiler *c, const regex_node *n, uint32_t *io) {
    uint32_t after = *io, other, all = NO_PART;
    if (++c->calls > MAX_CALLS) return too_large();
    for (; n->kind == REGEX_PAIR; n = n->a)
        HONE_TRY(add_tree(c, n->b, io));
    after = *io;
    for (; n->kind == REGEX_CHOICE; n = n->a) {
        other = after;
        HONE_TRY(add_tree(c, n->b, &other));
        HONE_TRY(add_either(c, other, &all));
        if (n->a->kind == REGEX_CHOICE) continue;
        other = after;
        HONE_TRY(add_tree(c, n->a, &other));
        HONE_TRY(add_either(c, other, &all));
        *io = all;
        return HONE_OK;
    }
    switch (n->kind) {
    case REGEX_SET:
        return add_set(c, n, io);
    case REGEX_BYTE:
        return add_byte(c, 0, 255, io);
    case REGEX_REPEAT:
        return add_repeat(c, n, io);
    case REGEX_CONDITION:
        return add_condition(c, n, io);
    default:
        return HONE_OK;
    }
}

/* ---- classes of bytes ---- */

static bool is_word_byte(unsigned b) {
    return (b >= '0' && b <= '9') || (b >= 'A' && b <= 'Z') || b == '_' || (b >= 'a' && b <= 'z');
}

static place place_of(unsigned byte) {
    return byte == '\n' ? PLACE_LINE_END : is_word_byte(byte) ? PLACE_WORD : PLACE_OTHER;
}

/* Bytes that no part tells apart are one class. */
static void classify(compiler *c, hone_dfa *out) {
    bool begins[257] = {true};
    for (size_t i = 0; i < c->parts.count; i++) {
        const part *p = &c->parts.data[i];
        if (p->kind != PART_BYTE || p->first > p->last) continue;
        begins[p->first] = begins[p->last + 1] = true;
    }
    for (unsigned b = 0; b < 256; b++) {
        begins[b] |= c->has_conditions && b > 0 && place_of(b) != place_of(b - 1);
        if (begins[b]) c->representative[out->classes++] = (uint8_t)b;
        out->class_of[b] = (uint8_t)(out->classes - 1);
    }
}

/* ---- sets ---- */

static bool holds(regex_condition condition, place before, place behind) {
    bool is_edge = (before == PLACE_WORD) != (behind == PLACE_WORD);
    switch (condition) {
    case REGEX_TEXT_BEGIN:
        return before == PLACE_OUTSIDE;
    case REGEX_TEXT_END:
        return behind == PLACE_OUTSIDE;
    case REGEX_LINE_BEGIN:
        return before == PLACE_OUTSIDE || before == PLACE_LINE_END;
    case REGEX_LINE_END:
        return behind == PLACE_OUTSIDE || behind == PLACE_LINE_END;
    case REGEX_WORD_EDGE:
        return is_edge;
    default:
        return !is_edge;
    }
}

/* What a list is closed under: the ways on from parts that take nothing, conditions among them
 * where `behind` is known. */
typedef struct closing {
    bool knows_behind;
    place before, behind;
} closing;

/* Adds to `list` what is reached from `from`; all that is in it is marked. */
static hone_status reach(compiler *c, uint32_t from, const closing *how, index_list *list) {
    hone_vec_clear(&c->stack);
    if (!hone_vec_push(&c->stack, from)) return no_memory();
    while (c->stack.count) {
        uint32_t i = hone_vec_pop(&c->stack);
        const part *p = &c->parts.data[i];
        c->work++;
        if (c->marks[i]) continue;
        c->marks[i] = 1;
        if (!hone_vec_push(list, i)) return no_memory();
        bool is_open = p->kind == PART_EITHER || (p->kind == PART_CONDITION && how->knows_behind &&
                                                  holds(p->condition, how->before, how->behind));
        if (is_open && !hone_vec_push(&c->stack, p->next)) return no_memory();
        if (p->kind == PART_EITHER && !hone_vec_push(&c->stack, p->other)) return no_memory();
    }
    return c->work > MAX_WORK ? too_large() : HONE_OK;
}

static void forget(compiler *c, index_list *list) {
    for (size_t i = 0; i < list->count; i++)
        c->marks[list->data[i]] = 0;
    hone_vec_clear(list);
}

static int by_number(const void *left, const void *right) {
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Leaves what takes a byte, waits for one, or is the end; whether some condition waits. */
static bool keep_waiting(const compiler *c, index_list *list) {
    size_t count = 0;
    bool has_condition = false;
    for (size_t i = 0; i < list->count; i++) {
        part_kind kind = c->parts.data[list->data[i]].kind;
        if (kind == PART_EITHER) continue;
        has_condition |= kind == PART_CONDITION;
        list->data[count++] = list->data[i];
    }
    list->count = count;
    if (count) qsort(list->data, count, sizeof *list->data, by_number);
    return has_condition;
}

/* The number of the set of c->made with what stands before it; c->made ends empty. */
static hone_status number_set(compiler *c, place before, uint32_t *out) {
    uint64_t number = c->begins.count - 1;
    for (size_t i = 0; i < c->made.count; i++)
        c->marks[c->made.data[i]] = 0;
    bool matters = keep_waiting(c, &c->made);
    if (!hone_vec_push(&c->made, matters ? (uint32_t)before : (uint32_t)PLACE_OTHER))
        return no_memory();
    hone_hash128 key = hone_hash128_bytes(c->made.data, c->made.count * sizeof *c->made.data);
    if (!hone_map128_find(&c->known, key, &number)) {
        number = c->begins.count - 1;
        if (number >= HONE_REGEX_MAX_STATES) return too_large();
        bool ok = hone_map128_put(&c->known, key, number) &&
                  hone_vec_append(&c->members, c->made.data, c->made.count) &&
                  hone_vec_push(&c->begins, (uint32_t)c->members.count);
        if (!ok) return no_memory();
    }
    hone_vec_clear(&c->made);
    *out = (uint32_t)number;
    return HONE_OK;
}

/* c->now: set i with the conditions that hold before `behind`. */
static hone_status open_set(compiler *c, uint32_t set, place behind) {
    uint32_t begin = c->begins.data[set], end = c->begins.data[set + 1] - 1;
    const closing how = {true, (place)c->members.data[end], behind};
    for (uint32_t i = begin; i < end; i++)
        HONE_TRY(reach(c, c->members.data[i], &how, &c->now));
    return HONE_OK;
}

static hone_status step(compiler *c, uint32_t set, unsigned byte, uint32_t *out) {
    static const closing plain = {.knows_behind = false};
    HONE_TRY(open_set(c, set, place_of(byte)));
    index_list from = c->now;
    c->now = (index_list){0};
    for (size_t i = 0; i < from.count; i++)
        c->marks[from.data[i]] = 0;
    hone_status st = HONE_OK;
    for (size_t i = 0; !st && i < from.count; i++) {
        const part *p = &c->parts.data[from.data[i]];
        bool takes = p->kind == PART_BYTE && p->first <= byte && byte <= p->last;
        if (takes) st = reach(c, p->next, &plain, &c->made);
    }
    hone_vec_clear(&from);
    c->now = from;
    return st ? st : number_set(c, place_of(byte), out);
}

static hone_status may_end(compiler *c, uint32_t set, uint8_t *out) {
    *out = 0;
    HONE_TRY(open_set(c, set, PLACE_OUTSIDE));
    for (size_t i = 0; i < c->now.count; i++)
        *out |= c->parts.data[c->now.data[i]].kind == PART_END;
    forget(c, &c->now);
    return HONE_OK;
}

static hone_status determine(compiler *c, uint32_t start, uint32_t classes) {
    static const closing plain = {.knows_behind = false};
    uint32_t next;
    uint8_t accepts;
    if (!hone_vec_push(&c->begins, 0)) return no_memory();
    HONE_TRY(reach(c, start, &plain, &c->made));
    HONE_TRY(number_set(c, PLACE_OUTSIDE, &next));
    for (uint32_t set = 0; set < c->begins.count - 1; set++) {
        HONE_TRY(may_end(c, set, &accepts));
        if (!hone_vec_push(&c->accepts, accepts)) return no_memory();
        for (uint32_t i = 0; i < classes; i++) {
            HONE_TRY(step(c, set, c->representative[i], &next));
            if (!hone_vec_push(&c->next, next)) return no_memory();
        }
    }
    return HONE_OK;
}

/* ---- all of it ---- */

static hone_status take_result(compiler *c, hone_dfa *out) {
    size_t bytes = c->next.count * sizeof *out->next;
    out->states = (uint32_t)c->accepts.count;
    out->next = hone_malloc(bytes);
    out->accepts = hone_malloc(out->states * sizeof *out->accepts);
    if (!out->next || !out->accepts) return no_memory();
    memcpy(out->next, c->next.data, bytes);
    for (uint32_t i = 0; i < out->states; i++)
        out->accepts[i] = c->accepts.data[i] != 0;
    return HONE_OK;
}

static hone_status compile(compiler *c, const regex_node *tree, hone_dfa *out) {
    uint32_t start;
    HONE_TRY(add_part(c, (part){.kind = PART_END}, &start));
    HONE_TRY(add_tree(c, tree, &start));
    classify(c, out);
    c->marks = hone_calloc(c->parts.count, 1);
    if (!c->marks) return no_memory();
    HONE_TRY(determine(c, start, out->classes));
    return take_result(c, out);
}

static void compiler_deinit(compiler *c) {
    hone_vec_deinit(&c->parts);
    hone_vec_deinit(&c->members);
    hone_vec_deinit(&c->begins);
    hone_map128_deinit(&c->known);
    hone_vec_deinit(&c->stack);
    hone_vec_deinit(&c->now);
    hone_vec_deinit(&c->made);
    hone_vec_deinit(&c->next);
    hone_vec_deinit(&c->accepts);
    hone_free(c->marks);
}

hone_status hone_regex_compile(const char *pattern, size_t length, hone_dfa *out) {
    compiler c = {.calls = 0};
    const regex_node *tree;
    *out = (hone_dfa){.states = 0};
    hone_arena *arena = hone_arena_create(4096);
    if (!arena) return no_memory();
    hone_status st = regex_parse(arena, pattern, length, &tree);
    if (!st) st = compile(&c, tree, out);
    compiler_deinit(&c);
    hone_arena_destroy(arena);
    if (st) hone_dfa_deinit(out);
    return st;
}

void hone_dfa_deinit(hone_dfa *dfa) {
    hone_free(dfa->next);
    hone_free(dfa->accepts);
    *dfa = (hone_dfa){.states = 0};
}
