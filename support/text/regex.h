/* support/text/regex.h - regular expressions, in the syntax of RE2, as automata over bytes.
 *
 * The whole text must match. What is read: literals of UTF-8, escapes (\. \n \t \a \f \r \v \x7f
 * \x{10ffff} octal, \Q...\E), `.`, \C, classes [a-z] [^a-z] [[:alpha:]] \d \s \w and their
 * capitals, groups of all kinds, |, * + ? {n} {n,} {n,m} also lazy, ^ $ \A \z \b \B, flags (?imsU).
 * As in RE2 \d, \s, \w and \b know ASCII only, and what does not end like that must be UTF-8 to
 * match.
 *
 *     hone_dfa a = {0};
 *     HONE_TRY(hone_regex_compile(pattern, length, &a));
 *     state = 0; for each byte: state = a.next[state * a.classes + a.class_of[byte]];
 *     matches = a.accepts[state];
 *     hone_dfa_deinit(&a);
 *
 * Threads: safe.
 */
#ifndef HONE_SUPPORT_TEXT_REGEX_H
#define HONE_SUPPORT_TEXT_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/core/status.h"

enum { HONE_REGEX_MAX_REPEAT = 1000, HONE_REGEX_MAX_STATES = 1 << 13 };

/* State 0 is the first one. */
typedef struct hone_dfa {
    uint32_t states, classes;
    uint8_t class_of[256];
    uint32_t *next; /* states * classes */
    bool *accepts;  /* the text may end there */
} hone_dfa;

/* INVALID: no such expression, with the place. UNSUPPORTED: \p{...}, letters of alphabets beyond
 * ASCII under (?i), or more than HONE_REGEX_MAX_STATES states. After a failure *out is empty. */
HONE_NODISCARD hone_status hone_regex_compile(const char *pattern, size_t length, hone_dfa *out);
void hone_dfa_deinit(hone_dfa *dfa);

#endif
