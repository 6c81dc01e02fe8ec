/* schedule/trace_parse_impl.h - for the files of the Python trace parser only: the cursor that they
 * share. Lines are read in trace_parse.c, functions of the text in trace_parse_func.c, steps in
 * trace_parse_call.c, values in trace_parse_value.c, index maps in trace_parse_map.c, where lines
 * end in trace_parse_line.c. All may come from a stranger's file.
 */
#ifndef HONE_SCHEDULE_TRACE_PARSE_IMPL_H
#define HONE_SCHEDULE_TRACE_PARSE_IMPL_H

#include "schedule/trace.h"
#include "support/map.h"

/* What a name of the text stands for: one variable, all results of a step, a plain value, or an
 * object that is no business of a schedule's (a module, say) and may only be handed on. */
typedef struct pytrace_binding {
    uint32_t count;
    const hone_rv *rvs;
    bool is_list;
    bool is_opaque;
    const hone_operand *value; /* a plain value; else NULL */
    bool is_lasting; /* no variable in it: those of a schedule that was begun anew are gone */
    uint32_t epoch;
} pytrace_binding;

/* "def name(params):" with an indented body. */
typedef struct pytrace_func {
    const char *name, *body, *body_end;
    uint32_t param_count;
    const char *const *params;
    const hone_operand *defaults; /* one per parameter */
    const bool *has_default;
} pytrace_func;

/* What is handed to a function, or comes back from it. */
typedef struct pytrace_object {
    bool is_schedule, is_opaque;
    hone_operand operand;
} pytrace_object;

typedef struct pytrace {
    hone_arena *arena;
    hone_trace *trace;
    const char *source, *text, *end, *at;
    const char *schedule_name;
    const char *working_on;            /* the function that work_on named, or NULL */
    const hone_trace_context *context; /* may be NULL */
    hone_strmap names;                 /* name → index of its binding; in a function: its own */
    const hone_strmap *globals;        /* in a function: those outside of it; else NULL */
    pytrace_binding *bindings;
    uint32_t binding_count, binding_capacity;
    pytrace_func *funcs;
    uint32_t func_count, func_capacity;
    uint32_t depth, call_depth, call_count, for_depth, turn_count;
    uint32_t epoch; /* how often the schedule was begun */
    bool has_returned;
    pytrace_object result; /* of the function that returned */
    bool is_refused;       /* the last step is refused whatever is drawn: the text ends here */
    bool lacks_memory;     /* a name could not be copied */
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
HONE_NODISCARD hone_status pytrace_bind_object(pytrace *p, const char *name,
                                               const pytrace_object *object);
/* The binding of a name, or NULL. */
const pytrace_binding *pytrace_find(const pytrace *p, const char *name);
HONE_NODISCARD hone_status pytrace_read_value(pytrace *p, hone_operand *out);
/* "a, b" without parentheses: one value is itself, several are a list. Copies the items. */
HONE_NODISCARD hone_status pytrace_tuple(pytrace *p, const hone_operand *items, uint32_t count,
                                         hone_operand *out);
/* At "lambda", or at a dotted name: an index map, or an expression of constants (a map without
 * parameters); trace_parse_map.c. */
HONE_NODISCARD hone_status pytrace_read_map(pytrace *p, hone_operand *out);
/* Plain data from an operand: annotations and attribute lists hold no variables. */
HONE_NODISCARD hone_status pytrace_to_value(pytrace *p, const hone_operand *o, hone_value *out);

/* "(args)" at the cursor, behind len, list, range or reversed; false in *out_known when the name is
 * none of these (trace_parse_builtin.c). */
HONE_NODISCARD hone_status pytrace_call_builtin(pytrace *p, const char *name, hone_operand *out,
                                                bool *out_known);

/* A keyword ("name =") at the cursor is passed over; NULL when there is none. */
const char *pytrace_read_keyword(pytrace *p);

/* ---- lines (trace_parse_line.c) ---- */
bool pytrace_is_name_char(char c);
bool pytrace_starts_with_word(const pytrace *p, const char *word);
/* Where the text behind `ann_val="` ends that TVM prints as it is, over several lines; or NULL. */
const char *pytrace_end_of_raw_text(const pytrace *p, const char *start);
/* Past the string at `at` (all kinds), or to the end of its line when it has no end. */
const char *pytrace_end_of_string(const pytrace *p, const char *at);
/* Past the end of the line, and of the lines that belong to it because a bracket or a string is
 * open. */
void pytrace_skip_line(pytrace *p);
/* Is the cursor at "….Schedule(" or at "f(…)[", which has an index behind it? */
bool pytrace_makes_schedule(const pytrace *p);
bool pytrace_call_has_index(const pytrace *p);

/* ---- functions of the text (trace_parse_func.c) ---- */
/* All statements up to p->end, or a return. */
HONE_NODISCARD hone_status pytrace_run(pytrace *p);
/* Behind the ':' of the statement at head: passes over what belongs to it, which begins at
 * *out_start. False when nothing does. */
bool pytrace_skip_suite(pytrace *p, const char *head, const char **out_start);
/* "def …:" at the cursor: remembers the function and passes over its body. */
HONE_NODISCARD hone_status pytrace_read_def(pytrace *p);
HONE_NODISCARD hone_status pytrace_read_return(pytrace *p);
/* A decorator or a class at the cursor is passed over, with the program that it belongs to. */
bool pytrace_skip_program(pytrace *p);
const pytrace_func *pytrace_find_func(const pytrace *p, const char *name);
/* "(args)" at the cursor: runs the function. */
HONE_NODISCARD hone_status pytrace_call_func(pytrace *p, const pytrace_func *func,
                                             pytrace_object *out);
/* Runs it with the schedule as the first argument, and the defaults of the others. */
HONE_NODISCARD hone_status pytrace_apply_func(pytrace *p, const pytrace_func *func);
/* "….Schedule(…)" at the cursor: what was done so far is no part of the new schedule. */
void pytrace_begin_schedule(pytrace *p);

/* "method(args)" at the cursor, with the names left of the "=". */
HONE_NODISCARD hone_status pytrace_read_call(pytrace *p, uint32_t name_count,
                                             const char *const *names, bool has_comma);

#endif
