#include <string.h>

#include "schedule/python/trace_parse_impl.h"

/* Statements of the Python form of traces that hold others: if, for, while, with. */

enum { MAX_TURNS = 10000, MAX_SUITES = 40 };

hone_status pytrace_count_turn(pytrace *p, const char *where) {
    if (++p->turn_count > MAX_TURNS) return pytrace_fail_at(p, where, "this runs for too long");
    return HONE_OK;
}

/* Runs what lies between; the cursor is then at the end of it. */
static hone_status run_suite(pytrace *p, const char *from, const char *to) {
    const char *end = p->end;
    if (p->suite_depth == MAX_SUITES) return pytrace_fail_at(p, from, "nested too deeply");
    p->suite_depth++;
    p->at = from;
    p->end = to;
    hone_status st = pytrace_run(p);
    p->end = end;
    p->at = to;
    p->suite_depth--;
    return st;
}

/* ":" and the suite of the statement at head. */
static hone_status find_suite(pytrace *p, const char *head, const char **out_body) {
    if (!pytrace_accept(p, ':')) return pytrace_fail(p, "expected ':'");
    if (!pytrace_skip_suite(p, head, out_body)) return pytrace_fail(p, "expected an indented body");
    return HONE_OK;
}

/* Goes to the next line that says something, if that is this word, indented as head is. */
static bool accept_clause(pytrace *p, const char *head, const char *word) {
    const char *before = p->at;
    pytrace_skip_all(p);
    bool is_one = pytrace_starts_with_word(p, word) &&
                  pytrace_indent_of(p, p->at) == pytrace_indent_of(p, head);
    p->at = is_one ? p->at + strlen(word) : before;
    return is_one;
}

static hone_status read_condition(pytrace *p, bool *out) {
    pytrace_value condition;
    pytrace_skip_blanks(p);
    const char *where = p->at;
    HONE_TRY(pytrace_read_value(p, &condition));
    return pytrace_truth(p, where, &condition, out);
}

hone_status pytrace_read_if(pytrace *p) {
    const char *head = p->at, *body;
    bool was_taken = false, is_else = false;
    p->at += 2; /* "if" */
    for (;;) {
        bool holds = is_else && !was_taken;
        if (was_taken && !is_else) p->at = pytrace_scan(p, NULL);
        if (!was_taken && !is_else) HONE_TRY(read_condition(p, &holds));
        HONE_TRY(find_suite(p, head, &body));
        const char *behind = p->at;
        if (holds) HONE_TRY(run_suite(p, body, behind));
        was_taken = was_taken || holds;
        if (is_else) return HONE_OK;
        is_else = accept_clause(p, head, "else");
        if (!is_else && !accept_clause(p, head, "elif")) return HONE_OK;
    }
}

/* "break" and "continue" end here. False: no more turns. */
static bool goes_on(pytrace *p) {
    bool does = p->flow == PYTRACE_GOES_ON || p->flow == PYTRACE_CONTINUES;
    if (p->flow != PYTRACE_RETURNS) p->flow = PYTRACE_GOES_ON;
    return does;
}

/* "else:" behind a loop runs when nothing broke it. */
static hone_status read_loop_else(pytrace *p, const char *head, bool was_broken) {
    const char *body;
    if (!accept_clause(p, head, "else")) return HONE_OK;
    HONE_TRY(find_suite(p, head, &body));
    return was_broken ? HONE_OK : run_suite(p, body, p->at);
}

hone_status pytrace_read_for(pytrace *p) {
    const char *head = p->at, *body;
    pytrace_value list;
    const pytrace_value *items;
    uint32_t count;
    p->at += 3; /* "for" */
    pytrace_skip_blanks(p);
    const char *targets = p->at;
    pytrace_skip_targets(p);
    if (!pytrace_starts_with_word(p, "in")) {
        p->at = targets;
        pytrace_read_name(p);
        pytrace_skip_blanks(p);
        return pytrace_fail(p, "expected 'in'");
    }
    p->at += 2;
    pytrace_skip_blanks(p);
    const char *where = p->at;
    HONE_TRY(pytrace_read_values(p, &list));
    HONE_TRY(pytrace_iterate(p, where, &list, &items, &count));
    HONE_TRY(find_suite(p, head, &body));
    const char *behind = p->at;
    bool is_going = true;
    for (uint32_t i = 0; i < count && is_going; i++) {
        const pytrace_value item = items[i];
        HONE_TRY(pytrace_count_turn(p, head));
        p->at = targets;
        HONE_TRY(pytrace_assign(p, "in", where, &item));
        HONE_TRY(run_suite(p, body, behind));
        is_going = goes_on(p);
        if (list.kind == PYTRACE_LIST) HONE_TRY(pytrace_iterate(p, where, &list, &items, &count));
    }
    p->at = behind;
    return read_loop_else(p, head, !is_going);
}

hone_status pytrace_read_while(pytrace *p) {
    const char *head = p->at, *body;
    bool is_going = true;
    for (;;) {
        bool holds;
        p->at = head + 5; /* "while" */
        HONE_TRY(pytrace_count_turn(p, head));
        HONE_TRY(read_condition(p, &holds));
        HONE_TRY(find_suite(p, head, &body));
        const char *behind = p->at;
        if (!holds) break;
        HONE_TRY(run_suite(p, body, behind));
        is_going = goes_on(p);
        if (!is_going) break;
    }
    return read_loop_else(p, head, !is_going);
}

/* "with x as y:" of things outside (a target, a pass context): the suite runs. */
hone_status pytrace_read_with(pytrace *p) {
    static const char *const as[] = {"as", NULL};
    const char *head = p->at, *body;
    p->at += 4; /* "with" */
    do {
        pytrace_value value;
        pytrace_skip_blanks(p);
        const char *where = p->at;
        HONE_TRY(pytrace_read_value(p, &value));
        if (value.kind != PYTRACE_OUTSIDE) {
            return pytrace_fail_at(p, where, "nothing is known of how to enter this");
        }
        if (!pytrace_accept_word(p, "as")) continue;
        pytrace_skip_blanks(p);
        const char *name = pytrace_read_name(p);
        if (name) HONE_TRY(pytrace_bind(p, name, &value));
        p->at = pytrace_scan(p, as);
    } while (pytrace_accept(p, ','));
    HONE_TRY(find_suite(p, head, &body));
    return run_suite(p, body, p->at);
}
