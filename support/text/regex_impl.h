/* support/text/regex_impl.h - a regular expression as a tree: between regex_parse.c, which makes
 * it, and regex.c, which makes automata of it. */
#ifndef HONE_SUPPORT_TEXT_REGEX_IMPL_H
#define HONE_SUPPORT_TEXT_REGEX_IMPL_H

#include "support/core/arena.h"
#include "support/text/regex.h"

enum { REGEX_LAST_CHAR = 0x10ffff };

typedef enum regex_kind {
    REGEX_EMPTY,
    REGEX_SET,       /* one character of ranges */
    REGEX_BYTE,      /* any byte */
    REGEX_PAIR,      /* one behind the other */
    REGEX_CHOICE,    /* one or the other */
    REGEX_REPEAT,    /* least to most times; most < 0: without end */
    REGEX_CONDITION, /* takes nothing */
} regex_kind;

/* What stands before and behind a place. */
typedef enum regex_condition {
    REGEX_TEXT_BEGIN,
    REGEX_TEXT_END,
    REGEX_LINE_BEGIN,
    REGEX_LINE_END,
    REGEX_WORD_EDGE,
    REGEX_NO_WORD_EDGE,
} regex_condition;

typedef struct regex_range {
    uint32_t first, last;
} regex_range;

typedef struct regex_node {
    regex_kind kind;
    regex_condition condition;
    uint32_t count; /* of ranges, which are sorted and apart */
    int32_t least, most;
    const regex_range *ranges;
    const struct regex_node *a, *b;
} regex_node;

/* The tree of a pattern, in the arena. */
HONE_NODISCARD hone_status regex_parse(hone_arena *arena, const char *pattern, size_t length,
                                       const regex_node **out);

#endif
