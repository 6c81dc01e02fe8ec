/* support/text/regex_parse.c - reads regular expressions by descent: choices of rows of pieces,
 * each an atom and how often it is there. */
#include <stdlib.h>
#include <string.h>

#include "support/data/vec.h"
#include "support/text/regex_impl.h"

enum { MAX_DEPTH = 200 };
enum { NO_CASE = 1, MANY_LINES = 2, DOT_TAKES_ALL = 4 }; /* "ims"; U says nothing of what matches */

typedef HONE_VEC(regex_range) range_list;

typedef struct parser {
    hone_arena *arena;
    const char *text;
    size_t length, at;
    unsigned flags;
    int depth;
    bool has_set_flags; /* the atom before was no more than that */
    bool is_quoted;     /* between \Q and \E, or the end: all is as it stands there */
    range_list ranges;  /* of the class that is being read */
} parser;

static hone_status parse_choice(parser *p, const regex_node **out);

static hone_status bad(const parser *p, const char *what) {
    return HONE_ERROR(HONE_CODE_INVALID, "%s at byte %zu of the regular expression", what, p->at);
}

static bool is_at(const parser *p, const char *word) {
    size_t count = strlen(word);
    return p->length - p->at >= count && memcmp(p->text + p->at, word, count) == 0;
}

static bool take(parser *p, const char *word) {
    if (!is_at(p, word)) return false;
    p->at += strlen(word);
    return true;
}

static hone_status make(parser *p, regex_node node, const regex_node **out) {
    *out = hone_arena_copy(p->arena, &node, sizeof node);
    return *out ? HONE_OK : HONE_NO_MEMORY("regular expression");
}

/* ---- characters ---- */

/* The next character of the pattern, which is UTF-8. */
static hone_status next_char(parser *p, uint32_t *out) {
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    const unsigned char *s = (const unsigned char *)p->text + p->at;
    size_t left = p->length - p->at;
    size_t more = s[0] < 0x80 ? 0 : s[0] < 0xc2 ? 4 : s[0] < 0xe0 ? 1 : s[0] < 0xf0 ? 2 : 3;
    if (more > 3 || more >= left || s[0] > 0xf4) return bad(p, "no UTF-8");
    *out = more == 0 ? s[0] : s[0] & (0x3fu >> more);
    for (size_t i = 1; i <= more; i++) {
        if ((s[i] & 0xc0) != 0x80) return bad(p, "no UTF-8");
        *out = *out << 6 | (s[i] & 0x3f);
    }
    bool is_surrogate = *out >= 0xd800 && *out <= 0xdfff;
    if (*out < least[more] || *out > REGEX_LAST_CHAR || is_surrogate) return bad(p, "no UTF-8");
    p->at += more + 1;
    return HONE_OK;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Behind \x: two digits, or any number of them in braces. */
static hone_status hex_char(parser *p, uint32_t *out) {
    bool is_long = take(p, "{");
    size_t begin = p->at;
    for (*out = 0; p->at < p->length && (is_long || p->at < begin + 2); p->at++) {
        int digit = hex_digit(p->text[p->at]);
        if (digit < 0) break;
        *out = *out << 4 | (uint32_t)digit;
        if (*out > REGEX_LAST_CHAR) return bad(p, "no character");
    }
    size_t count = p->at - begin;
    if (is_long ? count < 1 || !take(p, "}") : count < 2) return bad(p, "an escape that is none");
    return HONE_OK;
}

/* Up to three digits; \1 to \7 alone would be what a group has matched, which no automaton knows.
 */
static hone_status octal_char(parser *p, char first, uint32_t *out) {
    bool has_more = p->at < p->length && p->text[p->at] >= '0' && p->text[p->at] <= '7';
    if (first > '7' || (first != '0' && !has_more)) return bad(p, "a reference to a group");
    *out = (uint32_t)(first - '0');
    for (int i = 0; i < 2 && p->at < p->length; i++) {
        char c = p->text[p->at];
        if (c < '0' || c > '7') break;
        *out = *out * 8 + (uint32_t)(c - '0');
        p->at++;
    }
    return HONE_OK;
}

/* The character that stands behind a backslash. */
static hone_status escaped_char(parser *p, uint32_t *out) {
    static const char names[] = "aftnrv", values[] = "\a\f\t\n\r\v";
    if (p->at == p->length) return bad(p, "a backslash at the end");
    char c = p->text[p->at];
    const char *name = strchr(names, c);
    bool is_letter = ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c >= '0' && c <= '9');
    if (!is_letter && (unsigned char)c < 0x80 && c != 0) {
        p->at++;
        *out = (unsigned char)c;
        return HONE_OK;
    }
    if (c >= '0' && c <= '9') return p->at++, octal_char(p, c, out);
    if (c == 'x') return p->at++, hex_char(p, out);
    if (c == 0 || !name) return bad(p, "an escape that is none");
    p->at++;
    *out = (unsigned char)values[name - names];
    return HONE_OK;
}

/* ---- sets ---- */

static hone_status add_range(parser *p, uint32_t first, uint32_t last) {
    return hone_vec_push(&p->ranges, (regex_range){first, last})
               ? HONE_OK
               : HONE_NO_MEMORY("regular expression");
}

/* What of a range lies between two limits, moved by a distance. */
static hone_status add_moved(parser *p, regex_range r, uint32_t low, uint32_t high, int distance) {
    uint32_t first = r.first > low ? r.first : low, last = r.last < high ? r.last : high;
    if (first > last) return HONE_OK;
    return add_range(p, (uint32_t)((int)first + distance), (uint32_t)((int)last + distance));
}

/* The other case of letters; two beyond ASCII are cases of K and S. */
static hone_status add_other_case(parser *p, regex_range r) {
    static const struct {
        uint32_t low, high;
        int distance;
    } moves[] = {
        {'a',    'z',    'A' - 'a'   },
        {'A',    'Z',    'a' - 'A'   },
        {'k',    'k',    0x212a - 'k'},
        {'K',    'K',    0x212a - 'K'},
        {'s',    's',    0x17f - 's' },
        {'S',    'S',    0x17f - 'S' },
        {0x212a, 0x212a, 'k' - 0x212a},
        {0x212a, 0x212a, 'K' - 0x212a},
        {0x17f,  0x17f,  's' - 0x17f },
        {0x17f,  0x17f,  'S' - 0x17f },
    };
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++)
        HONE_TRY(add_moved(p, r, moves[i].low, moves[i].high, moves[i].distance));
    return HONE_OK;
}

/* Letters of ASCII, the two beyond it, and what has no case: letters of China, Japan, Korea. */
static bool has_known_case(regex_range r) {
    bool is_one = r.first == r.last && (r.first == 0x212a || r.first == 0x17f);
    bool is_caseless =
        (r.first >= 0x2e80 && r.last <= 0xa63f) || (r.first >= 0xac00 && r.last <= 0xd7a3);
    return r.last < 0x80 || is_one || is_caseless;
}

/* A range of the pattern, in both cases where these are one. */
static hone_status add_written(parser *p, uint32_t first, uint32_t last) {
    const regex_range r = {first, last};
    HONE_TRY(add_range(p, first, last));
    if (!(p->flags & NO_CASE)) return HONE_OK;
    if (!has_known_case(r))
        return HONE_ERROR(
            HONE_CODE_UNSUPPORTED,
            "letters beyond ASCII without case, at byte %zu of the regular expression", p->at);
    return add_other_case(p, r);
}

static int by_first(const void *left, const void *right) {
    const regex_range *a = left, *b = right;
    return (a->first > b->first) - (a->first < b->first);
}

/* Sorted, and apart. */
static void tidy(range_list *list) {
    size_t count = 0;
    if (list->count) qsort(list->data, list->count, sizeof *list->data, by_first);
    for (size_t i = 0; i < list->count; i++) {
        regex_range r = list->data[i], *before = count ? &list->data[count - 1] : NULL;
        if (before && r.first <= before->last + 1) {
            if (r.last > before->last) before->last = r.last;
        } else {
            list->data[count++] = r;
        }
    }
    list->count = count;
}

/* All characters that are not in a tidy list, from entry `begin` on. */
static hone_status add_all_but(parser *p, const regex_range *list, size_t count) {
    uint32_t next = 0;
    for (size_t i = 0; i < count; i++) {
        if (list[i].first > next) HONE_TRY(add_range(p, next, list[i].first - 1));
        next = list[i].last + 1;
    }
    return next <= REGEX_LAST_CHAR ? add_range(p, next, REGEX_LAST_CHAR) : HONE_OK;
}

static hone_status negate(parser *p) {
    range_list all = p->ranges;
    p->ranges = (range_list){0};
    tidy(&all);
    hone_status st = add_all_but(p, all.data, all.count);
    hone_vec_deinit(&all);
    return st;
}

/* The set that was gathered. */
static hone_status make_set(parser *p, const regex_node **out) {
    tidy(&p->ranges);
    size_t bytes = p->ranges.count * sizeof *p->ranges.data;
    regex_node set = {.kind = REGEX_SET, .count = (uint32_t)p->ranges.count};
    set.ranges = hone_arena_alloc(p->arena, bytes + 1);
    if (!set.ranges) return HONE_NO_MEMORY("regular expression");
    if (bytes) memcpy((void *)(uintptr_t)set.ranges, p->ranges.data, bytes);
    hone_vec_clear(&p->ranges);
    return make(p, set, out);
}

/* ---- classes by name ---- */

typedef struct named_class {
    const char *name;
    uint32_t count;
    regex_range ranges[4];
} named_class;

/* \d, \s and \w, and those between colons; sorted. */
static const named_class classes[] = {
    {"d",      1, {{'0', '9'}}                                    },
    {"s",      3, {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}        },
    {"w",      4, {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
    {"alnum",  3, {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}            },
    {"alpha",  2, {{'A', 'Z'}, {'a', 'z'}}                        },
    {"ascii",  1, {{0, 0x7f}}                                     },
    {"blank",  2, {{'\t', '\t'}, {' ', ' '}}                      },
    {"cntrl",  2, {{0, 0x1f}, {0x7f, 0x7f}}                       },
    {"digit",  1, {{'0', '9'}}                                    },
    {"graph",  1, {{'!', '~'}}                                    },
    {"lower",  1, {{'a', 'z'}}                                    },
    {"print",  1, {{' ', '~'}}                                    },
    {"punct",  4, {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
    {"space",  2, {{'\t', '\r'}, {' ', ' '}}                      },
    {"upper",  1, {{'A', 'Z'}}                                    },
    {"word",   4, {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
    {"xdigit", 3, {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}            },
};

static const named_class *find_class(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        const char *known = classes[i].name;
        if (strlen(known) == length && memcmp(known, name, length) == 0) return &classes[i];
    }
    return NULL;
}

/* Those that are negated hold what their members of both cases are not. */
static hone_status add_class(parser *p, const named_class *c, bool is_negated) {
    range_list around = p->ranges;
    hone_status st = HONE_OK;
    p->ranges = (range_list){0};
    for (uint32_t i = 0; !st && i < c->count; i++)
        st = add_written(p, c->ranges[i].first, c->ranges[i].last);
    if (!st && is_negated) st = negate(p);
    if (!st && !hone_vec_append(&around, p->ranges.data, p->ranges.count))
        st = HONE_NO_MEMORY("regular expression");
    hone_vec_deinit(&p->ranges);
    p->ranges = around;
    return st;
}

/* \d, \S …: *out says whether it was one. */
static hone_status take_letter_class(parser *p, bool *out) {
    *out = false;
    if (p->at + 1 >= p->length || p->text[p->at] != '\\') return HONE_OK;
    char letter = p->text[p->at + 1], small = (char)(letter | 0x20);
    if ((letter == 'p' || letter == 'P'))
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "classes of Unicode (\\%c) at byte %zu of the regular expression", letter,
                          p->at);
    *out = letter != 0 && strchr("dsw", small) != NULL;
    if (!*out) return HONE_OK;
    p->at += 2;
    return add_class(p, find_class(&small, 1), letter != small);
}

/* [:alpha:] */
static hone_status take_colon_class(parser *p, bool *out) {
    *out = is_at(p, "[:");
    if (!*out) return HONE_OK;
    size_t begin = p->at + 2, end = begin;
    while (end + 1 < p->length && memcmp(p->text + end, ":]", 2) != 0)
        end++;
    *out = end + 1 < p->length; /* without an end it is a set of these characters */
    if (!*out) return HONE_OK;
    bool is_negated = p->text[begin] == '^';
    begin += is_negated;
    const named_class *c = end >= begin ? find_class(p->text + begin, end - begin) : NULL;
    if (!c || c->name[1] == 0) return bad(p, "an unknown class");
    p->at = end + 2;
    return add_class(p, c, is_negated);
}

static hone_status class_char(parser *p, uint32_t *out) {
    if (p->at == p->length) return bad(p, "a class without an end");
    return take(p, "\\") ? escaped_char(p, out) : next_char(p, out);
}

static hone_status parse_member(parser *p) {
    bool is_class;
    uint32_t first, last;
    HONE_TRY(take_colon_class(p, &is_class));
    if (is_class) return HONE_OK;
    HONE_TRY(take_letter_class(p, &is_class));
    if (is_class) return HONE_OK;
    HONE_TRY(class_char(p, &first));
    last = first;
    bool is_range = is_at(p, "-") && p->at + 1 < p->length && p->text[p->at + 1] != ']';
    if (is_range) {
        p->at++;
        HONE_TRY(class_char(p, &last));
    }
    if (last < first) return bad(p, "a range that is empty");
    return add_written(p, first, last);
}

/* Behind '['. */
static hone_status parse_set(parser *p, const regex_node **out) {
    bool is_negated = take(p, "^");
    for (bool is_first = true; is_first || !is_at(p, "]"); is_first = false) {
        if (p->at == p->length) return bad(p, "a class without an end");
        HONE_TRY(parse_member(p));
    }
    p->at++;
    if (is_negated) HONE_TRY(negate(p));
    return make_set(p, out);
}

static hone_status make_char(parser *p, uint32_t c, const regex_node **out) {
    HONE_TRY(add_written(p, c, c));
    return make_set(p, out);
}

/* ---- groups ---- */

/* Behind "(?": flags, up to ':' (they hold in the group) or ')' (to the end of the one around). */
static hone_status parse_flags(parser *p, bool *out_is_group) {
    static const char letters[] = "imsU";
    unsigned flags = p->flags;
    bool is_off = false, is_any = false;
    for (; p->at < p->length; p->at++) {
        char c = p->text[p->at];
        const char *letter = c ? strchr(letters, c) : NULL;
        if (c == ':' || c == ')') {
            if (is_off && !is_any) break;
            p->flags = flags;
            *out_is_group = c == ':';
            p->at++;
            return HONE_OK;
        }
        if (c == '-' && !is_off) {
            is_off = true;
            is_any = false;
            continue;
        }
        if (!letter) break;
        unsigned flag = 1u << (letter - letters);
        is_any = true;
        flags = is_off ? flags & ~flag : flags | flag;
    }
    return bad(p, "a group of no kind");
}

static hone_status skip_name(parser *p) {
    size_t begin = p->at;
    while (p->at < p->length && p->text[p->at] != '>') {
        char c = p->text[p->at], small = (char)(c | 0x20);
        bool is_word =
            (small >= 'a' && small <= 'z') || (c >= '0' && c <= '9') || c == '_' || (c & 0x80);
        if (!is_word) return bad(p, "no name of a group");
        p->at++;
    }
    return p->at > begin && take(p, ">") ? HONE_OK : bad(p, "no name of a group");
}

/* Behind '('. What flags it sets end with it. */
static hone_status parse_group(parser *p, const regex_node **out) {
    unsigned before = p->flags;
    if (take(p, "?P<") || take(p, "?<")) {
        HONE_TRY(skip_name(p));
    } else if (take(p, "?")) {
        bool is_group;
        HONE_TRY(parse_flags(p, &is_group));
        p->has_set_flags = !is_group;
        if (!is_group) return make(p, (regex_node){.kind = REGEX_EMPTY}, out);
    }
    HONE_TRY(parse_choice(p, out));
    if (!take(p, ")")) return bad(p, "a group without an end");
    p->flags = before;
    p->has_set_flags = false;
    return HONE_OK;
}

/* ---- atoms ---- */

static hone_status make_condition(parser *p, regex_condition condition, const regex_node **out) {
    return make(p, (regex_node){.kind = REGEX_CONDITION, .condition = condition}, out);
}

static hone_status parse_escape(parser *p, const regex_node **out) {
    static const struct {
        const char *word;
        regex_condition condition;
    } conditions[] = {
        {"\\A", REGEX_TEXT_BEGIN  },
        {"\\z", REGEX_TEXT_END    },
        {"\\b", REGEX_WORD_EDGE   },
        {"\\B", REGEX_NO_WORD_EDGE},
    };
    bool is_class;
    uint32_t c;
    for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++)
        if (take(p, conditions[i].word)) return make_condition(p, conditions[i].condition, out);
    if (take(p, "\\C")) return make(p, (regex_node){.kind = REGEX_BYTE}, out);
    HONE_TRY(take_letter_class(p, &is_class));
    if (is_class) return make_set(p, out);
    p->at++;
    HONE_TRY(escaped_char(p, &c));
    return make_char(p, c, out);
}

static hone_status parse_dot(parser *p, const regex_node **out) {
    static const regex_range line_end = {'\n', '\n'};
    HONE_TRY(add_all_but(p, &line_end, p->flags & DOT_TAKES_ALL ? 0 : 1));
    return make_set(p, out);
}

static hone_status parse_atom(parser *p, const regex_node **out) {
    bool has_lines = (p->flags & MANY_LINES) != 0;
    uint32_t c;
    if (is_at(p, "\\")) return parse_escape(p, out);
    if (take(p, "(")) return parse_group(p, out);
    if (take(p, "[")) return parse_set(p, out);
    if (take(p, ".")) return parse_dot(p, out);
    if (take(p, "^"))
        return make_condition(p, has_lines ? REGEX_LINE_BEGIN : REGEX_TEXT_BEGIN, out);
    if (take(p, "$")) return make_condition(p, has_lines ? REGEX_LINE_END : REGEX_TEXT_END, out);
    HONE_TRY(next_char(p, &c));
    return make_char(p, c, out);
}

/* ---- how often ---- */

static bool read_number(parser *p, int32_t *out) {
    size_t begin = p->at;
    for (*out = 0; p->at < p->length && p->text[p->at] >= '0' && p->text[p->at] <= '9'; p->at++)
        if (*out <= HONE_REGEX_MAX_REPEAT) *out = *out * 10 + (p->text[p->at] - '0');
    return p->at > begin;
}

/* {n}, {n,} or {n,m}; what is none is as many characters. */
static bool take_counts(parser *p, int32_t *least, int32_t *most) {
    size_t begin = p->at;
    if (take(p, "{") && read_number(p, least)) {
        *most = *least;
        if (take(p, ",") && !read_number(p, most)) *most = -1;
        if (take(p, "}")) return true;
    }
    p->at = begin;
    return false;
}

static bool take_repeat(parser *p, int32_t *least, int32_t *most) {
    *least = is_at(p, "+");
    *most = is_at(p, "?") ? 1 : -1;
    if (take(p, "*") || take(p, "+") || take(p, "?")) return true;
    return take_counts(p, least, most);
}

static hone_status check_repeat(parser *p, const regex_node *r) {
    int32_t ignored;
    size_t behind = p->at;
    if (r->least > HONE_REGEX_MAX_REPEAT || r->most > HONE_REGEX_MAX_REPEAT ||
        (r->most >= 0 && r->most < r->least))
        return bad(p, "a repetition of no such number");
    bool is_twice = take_repeat(p, &ignored, &ignored);
    p->at = behind;
    return is_twice ? bad(p, "a repetition of a repetition") : HONE_OK;
}

static hone_status parse_quoted(parser *p, const regex_node **out) {
    uint32_t c;
    if (take(p, "\\E") || p->at == p->length) {
        p->is_quoted = false;
        return make(p, (regex_node){.kind = REGEX_EMPTY}, out);
    }
    HONE_TRY(next_char(p, &c));
    p->is_quoted = !take(p, "\\E");
    return make_char(p, c, out);
}

static hone_status parse_piece(parser *p, const regex_node **out) {
    regex_node repeat = {.kind = REGEX_REPEAT};
    bool is_quoted = p->is_quoted || take(p, "\\Q");
    if (!is_quoted && take_repeat(p, &repeat.least, &repeat.most))
        return bad(p, "a repetition of nothing");
    p->has_set_flags = false;
    p->is_quoted = is_quoted;
    HONE_TRY(is_quoted ? parse_quoted(p, out) : parse_atom(p, out));
    while (!p->is_quoted && take(p, "\\Q\\E")) /* nothing, behind which the atom is repeated */
        continue;
    bool is_nothing = p->has_set_flags || (is_quoted && (*out)->kind == REGEX_EMPTY);
    if (p->is_quoted || !take_repeat(p, &repeat.least, &repeat.most)) return HONE_OK;
    if (is_nothing) return bad(p, "a repetition of nothing");
    take(p, "?");
    HONE_TRY(check_repeat(p, &repeat));
    repeat.a = *out;
    return make(p, repeat, out);
}

/* ---- rows and choices ---- */

static hone_status parse_row(parser *p, const regex_node **out) {
    HONE_TRY(make(p, (regex_node){.kind = REGEX_EMPTY}, out));
    while (p->at < p->length && (p->is_quoted || (!is_at(p, "|") && !is_at(p, ")")))) {
        regex_node pair = {.kind = REGEX_PAIR, .a = *out};
        HONE_TRY(parse_piece(p, &pair.b));
        if (pair.a->kind == REGEX_EMPTY)
            *out = pair.b;
        else
            HONE_TRY(make(p, pair, out));
    }
    return HONE_OK;
}

static hone_status parse_choice(parser *p, const regex_node **out) {
    if (++p->depth > MAX_DEPTH) return bad(p, "groups nested too deeply");
    HONE_TRY(parse_row(p, out));
    while (take(p, "|")) {
        regex_node choice = {.kind = REGEX_CHOICE, .a = *out};
        HONE_TRY(parse_row(p, &choice.b));
        HONE_TRY(make(p, choice, out));
    }
    p->depth--;
    return HONE_OK;
}

hone_status regex_parse(hone_arena *arena, const char *pattern, size_t length,
                        const regex_node **out) {
    parser p = {.arena = arena, .text = pattern, .length = length};
    hone_status st = parse_choice(&p, out);
    if (!st && p.at < length) st = bad(&p, "a ')' without a group");
    hone_vec_deinit(&p.ranges);
    return st;
}
