/* graph/frontend/nodes/strings/token_machine.h - the words of a text, found in one way through its
 * bytes: an automaton made of the expression that words match, or that separators between them do.
 *
 * Words are the leftmost longest matches that do not overlap. One way suffices where a match, once
 * it is one, stays one until it ends, and where nothing that begins inside of what fails could be a
 * match: [a-z]+, \w\w+, [A-Z][a-z]*, [a-z]+[0-9]+; not \w+(-\w+)*, which has to look ahead. Texts
 * are UTF-8, and end at a byte 0. Threads: safe.
 */
#ifndef HONE_GRAPH_FRONTEND_NODES_STRINGS_TOKEN_MACHINE_H
#define HONE_GRAPH_FRONTEND_NODES_STRINGS_TOKEN_MACHINE_H

#include "support/core/arena.h"
#include "support/core/status.h"

enum { HONE_TOKEN_STATES = 1 << 13, HONE_TOKEN_MOST_LEAST = 63 };

/* What a state says of the character that ends there; inside of one it is NONE. */
enum { HONE_TOKEN_NONE, HONE_TOKEN_INSIDE, HONE_TOKEN_BEGIN };

/* In the arena. State 0 is the first one. */
typedef struct hone_token_machine {
    uint32_t states, kinds;
    int32_t kind_of[256];
    int32_t *next;  /* states * kinds */
    int32_t *flags; /* of each state: INSIDE a word; BEGIN: from here on it is one */
    int32_t *back;  /* of BEGIN: how many bytes of it there are up to here */
} hone_token_machine;

/* Words match the expression, or stand between what does where is_between; they have `least`
 * characters or more, 1 to MOST_LEAST. UNSUPPORTED: an expression that wants to look ahead or
 * around (\b, ^, $), or too many states. INVALID: none. */
HONE_NODISCARD hone_status hone_token_machine_make(const char *pattern, size_t length,
                                                   bool is_between, int64_t least,
                                                   hone_arena *arena, hone_token_machine *out);

#endif
