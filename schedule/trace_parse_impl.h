/* schedule/trace_parse_impl.h - for the files of the Python trace parser only: the cursor that they
 * share. Lines are read in trace_parse.c, calls in trace_parse_call.c, values in
 * trace_parse_value.c, index maps in trace_parse_map.c. All may come from a stranger's file.
 */
#ifndef HONE_SCHEDULE_TRACE_PARSE_IMPL_H
#define HONE_SCHEDULE_TRACE_PARSE_IMPL_H

#include "schedule/trace.h"
#include "support/map.h"

/* What a name of the text stands for: one variable, or all results of a step. */
typedef struct pytrace_binding {
    uint32_t count;
    const hone_rv *rvs;
    bool is_list;
} pytrace_binding;

typedef struct pytrace {
    hone_arena *arena;
    hone_trace *trace;
    const char *source, *text, *end, *at;
    const char *schedule_name;
    const char *working_on; /* the function that work_on named, or NULL */
    hone_strmap names;      /* name → index of its binding */
    pytrace_binding *bindings;
    uint32_t binding_count, binding_capacity;
    uint32_t depth;
    bool lacks_memory; /* a name could not be copied */
} pytrace;

/* INVALID with source:line:column, the line and a caret; NO_MEMORY when that was the reason. */
HONE_NODISCARD hone_status pytrace_fail_at(const pytrace *p, const char *where, const char *what);
HONE_NODISCARD hone_status pytrace_fail(const pytrace *p, const char *what);
HONE_NODISCARD hone_status pytrace_no_memory(void);

/* The character at the cursor; zero at the end. */
static inline char pytrace_peek(const pytrace *p) {
    return p->at < p->end ? *p->at : '\0';
}
void pytrace_skip_blanks(pytrace *p);
/* Inside brackets, line ends and comments are blanks too. */
void pytrace_skip_all(pytrace *p);
/* Skips all of that, then takes c if it is there. */
bool pytrace_accept(pytrace *p, char c);
/* A name at the cursor, copied; NULL when there is none (or no memory). */
const char *pytrace_read_name(pytrace *p);

HONE_NODISCARD hone_status pytrace_bind(pytrace *p, const char *name, uint32_t count, hone_rv first,
                                        bool is_list);
/* The binding of a name, or NULL. */
const pytrace_binding *pytrace_find(const pytrace *p, const char *name);
HONE_NODISCARD hone_status pytrace_read_value(pytrace *p, hone_operand *out);
/* At "lambda", or at a dotted name: an index map, or an expression of constants (a map without
 * parameters); trace_parse_map.c. */
HONE_NODISCARD hone_status pytrace_read_map(pytrace *p, hone_operand *out);
/* Plain data from an operand: annotations and attribute lists hold no variables. */
HONE_NODISCARD hone_status pytrace_to_value(pytrace *p, const hone_operand *o, hone_value *out);

/* "method(args)" at the cursor, with the names left of the "=". */
HONE_NODISCARD hone_status pytrace_read_call(pytrace *p, uint32_t name_count,
                                             const char *const *names, bool has_comma);

#endif
