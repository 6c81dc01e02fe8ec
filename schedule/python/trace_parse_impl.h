/* schedule/python/trace_parse_impl.h - for the files of the Python trace parser only: the cursor
 * and the values that they share. All may come from a stranger's file.
 *
 *   trace_parse.c           statements             trace_parse_assign.c    targets of "="
 *   trace_parse_flow.c      if, for, while         trace_parse_func.c      def, calls, return
 *   trace_parse_call.c      steps                  trace_parse_look.c      sch.get(x)
 *   trace_parse_operator.c  a if b else c … a ** b trace_parse_value.c     names, calls, indices
 *   trace_parse_list.c      lists, dictionaries    trace_parse_string.c    strings, f-strings
 *   trace_parse_builtin.c   len, range, …          trace_parse_method.c    list.append, str.join, …
 *   trace_parse_object.c    what values are        trace_parse_scope.c     what names stand for
 *   trace_parse_map.c       index maps             trace_parse_outside.c   imports, other modules
 *   trace_parse_chars.c     characters, errors     trace_parse_line.c      where things end
 */
#ifndef HONE_SCHEDULE_PYTHON_TRACE_PARSE_IMPL_H
#define HONE_SCHEDULE_PYTHON_TRACE_PARSE_IMPL_H

#include "schedule/trace/trace.h"
#include "support/map.h"

typedef struct pytrace_value pytrace_value;
typedef struct pytrace_func pytrace_func;

typedef enum pytrace_kind {
    PYTRACE_NONE,
    PYTRACE_BOOL,     /* u.i */
    PYTRACE_INT,      /* u.i */
    PYTRACE_FLOAT,    /* u.f */
    PYTRACE_STRING,   /* u.s */
    PYTRACE_TUPLE,    /* u.items[count] */
    PYTRACE_LIST,     /* u.list: shared by all who hold it */
    PYTRACE_DICT,     /* u.list, with keys */
    PYTRACE_VIEW,     /* u.list: what sch.get(x) tells, attributes by name */
    PYTRACE_RV,       /* u.rv, a variable of the schedule that was begun as number `epoch` */
    PYTRACE_MAP,      /* u.map: a lambda, or a number with a dtype */
    PYTRACE_FUNC,     /* u.func, a function of the text */
    PYTRACE_SCHEDULE, /* the schedule that was begun as number `epoch` */
    PYTRACE_OUTSIDE,  /* u.s: how it is called. What nobody here looks into: a module, a program;
                         count: 1 when it is of a module that has nothing to do with programs */
} pytrace_kind;

typedef struct pytrace_list {
    uint32_t count, capacity;
    pytrace_value *items;
    pytrace_value *keys; /* DICT: any plain value; VIEW: strings; else NULL */
} pytrace_list;

struct pytrace_value {
    pytrace_kind kind;
    uint32_t count, epoch;
    union {
        int64_t i;
        double f;
        const char *s;
        hone_rv rv;
        const hone_index_map *map;
        const pytrace_value *items;
        pytrace_list *list;
        const pytrace_func *func;
    } u;
};
#define PYTRACE_OF_INT(x) ((pytrace_value){.kind = PYTRACE_INT, .u.i = (x)})
#define PYTRACE_OF_BOOL(x) ((pytrace_value){.kind = PYTRACE_BOOL, .u.i = (x) ? 1 : 0})
#define PYTRACE_OF_FLOAT(x) ((pytrace_value){.kind = PYTRACE_FLOAT, .u.f = (x)})
#define PYTRACE_OF_STRING(x) ((pytrace_value){.kind = PYTRACE_STRING, .u.s = (x)})
#define PYTRACE_OF_OUTSIDE(x) ((pytrace_value){.kind = PYTRACE_OUTSIDE, .u.s = (x)})
#define PYTRACE_OF_NONE ((pytrace_value){.kind = PYTRACE_NONE})

/* Names of the text, or of one call of a function. Lives until the text is read. */
typedef struct pytrace_scope {
    hone_strmap names; /* name → number of its slot */
    struct pytrace_scope *outer, *next;
} pytrace_scope;

/* "def name(params):" with an indented body. */
struct pytrace_func {
    const char *name, *body, *body_end;
    pytrace_scope *scope; /* where it was written */
    uint32_t param_count;
    const char *const *params;
    const pytrace_value *defaults; /* one per parameter */
    const bool *has_default;
    uint32_t star; /* the parameter that takes all others: "*args"; param_count = none */
};

typedef enum pytrace_flow {
    PYTRACE_GOES_ON,
    PYTRACE_BREAKS,
    PYTRACE_CONTINUES,
    PYTRACE_RETURNS,
} pytrace_flow;

enum { PYTRACE_MAX_ITEMS = 4096, PYTRACE_MAX_DEPTH = 60, PYTRACE_MAX_TEXT = 1 << 16 };

/* A program of the text, which nobody runs. */
typedef struct pytrace_program {
    const char *name, *begin, *end; /* from its decorator on */
    const struct pytrace_program *before;
} pytrace_program;

typedef struct pytrace {
    hone_arena *arena;
    hone_trace *trace;
    const char *source, *text, *end, *at;
    const char *working_on;            /* the function that work_on named, or NULL */
    const hone_trace_context *context; /* may be NULL */
    pytrace_scope *scope, *scopes;     /* the innermost, and all */
    pytrace_value *slots;
    uint32_t slot_count, slot_capacity;
    const pytrace_func *last_func;
    const char *program;             /* the first program of the text, or NULL */
    const pytrace_program *programs; /* the last of those that have a name */
    uint32_t open;                   /* brackets around the cursor: line ends are blanks */
    const char *opened[32];          /* where the outermost of them stand */
    uint32_t depth, call_depth, call_count, suite_depth, turn_count;
    uint32_t epoch; /* how often the schedule was begun */
    pytrace_flow flow;
    pytrace_value result; /* of the function that returned */
    bool is_refused;      /* the last step is refused whatever is drawn: the text ends here */
    bool lacks_memory;    /* a name could not be copied */
} pytrace;

/* May it be asked what the steps so far make? */
static inline bool pytrace_has_program(const pytrace *p) {
    return p->context && (p->context->func || p->context->module);
}

/* ---- characters, errors (trace_parse_chars.c) ---- */
/* INVALID with source:line:column, the line and a caret; NO_MEMORY when that was the reason. */
HONE_NODISCARD hone_status pytrace_fail_at(const pytrace *p, const char *where, const char *what);
HONE_NODISCARD hone_status pytrace_fail(const pytrace *p, const char *what);
/* what 'name' more */
HONE_NODISCARD hone_status pytrace_fail_about(const pytrace *p, const char *where, const char *what,
                                              const char *name, const char *more);
HONE_NODISCARD hone_status pytrace_no_memory(void);
/* The character at the cursor; zero at the end. */
static inline char pytrace_peek(const pytrace *p) {
    return p->at < p->end ? *p->at : '\0';
}
/* Blanks of a line, and joined lines. */
void pytrace_skip_blanks(pytrace *p);
/* Inside brackets, line ends and comments are blanks too. */
void pytrace_skip_all(pytrace *p);
/* One or the other, as the cursor stands. */
void pytrace_skip_space(pytrace *p);
/* Skips that, then takes c if it is there. */
bool pytrace_accept(pytrace *p, char c);
/* The same for a whole word. */
bool pytrace_accept_word(pytrace *p, const char *word);
/* '(', '[' or '{' at the cursor, or its end: what is between may have several lines. */
bool pytrace_open(pytrace *p, char c);
bool pytrace_close(pytrace *p, char c);
/* A comma, or the closing bracket ahead. */
HONE_NODISCARD hone_status pytrace_next_item(pytrace *p, char closing);
/* A name at the cursor, copied; NULL when there is none (or no memory). */
const char *pytrace_read_name(pytrace *p);

/* ---- where things end (trace_parse_line.c) ---- */
bool pytrace_is_name_char(char c);
bool pytrace_starts_with_word(const pytrace *p, const char *word);
/* Where the text behind `ann_val="` ends that TVM prints as it is, over several lines; or NULL. */
const char *pytrace_end_of_raw_text(const pytrace *p, const char *start);
/* Past the string at `at` (all kinds), or to the end of its line when it has no end. */
const char *pytrace_end_of_string(const pytrace *p, const char *at);
/* Past the end of the line, and of the lines that belong to it because a bracket or a string is
 * open. */
void pytrace_skip_line(pytrace *p);
/* To the end of the line or the ';' where the statement at the cursor ends. */
void pytrace_skip_statement(pytrace *p);
/* Past the bracket at the cursor, with all in it. */
void pytrace_skip_brackets(pytrace *p);
/* The end of the expression at the cursor, or the first of these words in it (a list with NULL at
 * its end), whichever comes first; what brackets, strings and lambdas hold does not count. */
const char *pytrace_scan(const pytrace *p, const char *const *words);
/* Is there nothing behind the call "f(…)" at the cursor? */
bool pytrace_call_ends_line(const pytrace *p);
/* How far a line is indented. */
uint32_t pytrace_indent_of(const pytrace *p, const char *in_line);
/* Behind the ':' of the statement at head: passes over what belongs to it, which begins at
 * *out_start. False when nothing does. */
bool pytrace_skip_suite(pytrace *p, const char *head, const char **out_start);

/* ---- names (trace_parse_scope.c) ---- */
pytrace_scope *pytrace_new_scope(pytrace *p, pytrace_scope *outer);
void pytrace_end_scopes(pytrace *p);
/* NULL when the name stands for nothing. Valid until the next name is bound. */
const pytrace_value *pytrace_find(const pytrace *p, const char *name);
HONE_NODISCARD hone_status pytrace_bind(pytrace *p, const char *name, const pytrace_value *value);

/* ---- values (trace_parse_object.c) ---- */
HONE_NODISCARD hone_status pytrace_new_list(pytrace *p, pytrace_kind kind, pytrace_value *out);
HONE_NODISCARD hone_status pytrace_push(pytrace *p, pytrace_value *list, const pytrace_value *item);
/* Pushes all that is in `from`. INVALID for what has no items. */
HONE_NODISCARD hone_status pytrace_extend(pytrace *p, const char *where, pytrace_value *list,
                                          const pytrace_value *from);
/* Sets a key of a dictionary or view. */
HONE_NODISCARD hone_status pytrace_put(pytrace *p, pytrace_value *dict, const pytrace_value *key,
                                       const pytrace_value *item);
const pytrace_value *pytrace_get(const pytrace_value *dict, const pytrace_value *key);
/* The items of a list or tuple, the keys of a dictionary; false for what has none. */
bool pytrace_items(const pytrace_value *v, const pytrace_value **out_items, uint32_t *out_count);
/* The same; characters of a string are items too. INVALID for what has none. */
HONE_NODISCARD hone_status pytrace_iterate(pytrace *p, const char *where, const pytrace_value *v,
                                           const pytrace_value **out_items, uint32_t *out_count);
/* "a, b" without parentheses: one value is itself, several are a tuple. Copies the items. */
HONE_NODISCARD hone_status pytrace_tuple(pytrace *p, const pytrace_value *items, uint32_t count,
                                         pytrace_value *out);
/* A tuple of what is in the list. */
pytrace_value pytrace_tuple_of(const pytrace_value *list);
bool pytrace_is_same(const pytrace_value *a, const pytrace_value *b);
/* INVALID for what is known only when the schedule is applied, or not at all. */
HONE_NODISCARD hone_status pytrace_truth(pytrace *p, const char *where, const pytrace_value *v,
                                         bool *out);
/* True and False are 1 and 0. */
bool pytrace_is_int(const pytrace_value *v);
/* The same, or a float; and its value. */
bool pytrace_is_number(const pytrace_value *v);
double pytrace_number_of(const pytrace_value *v);
/* Below 0, 0 or above 0, of numbers or of strings; false for what has no order. */
bool pytrace_compare(const pytrace_value *a, const pytrace_value *b, int *out);
/* A schedule or a part of one, also within a list. */
bool pytrace_is_of_schedule(const pytrace_value *v);
/* As print() shows it. */
HONE_NODISCARD hone_status pytrace_text_of(pytrace *p, const char *where, const pytrace_value *v,
                                           const char **out);
/* What a step takes. INVALID for what none takes, and for variables of an earlier schedule. */
HONE_NODISCARD hone_status pytrace_to_operand(pytrace *p, const char *where, const pytrace_value *v,
                                              hone_operand *out);

/* ---- expressions ---- */
HONE_NODISCARD hone_status pytrace_read_value(pytrace *p, pytrace_value *out);
/* The same without "… if … else …" (what stands behind "in" and "if"). */
HONE_NODISCARD hone_status pytrace_read_or(pytrace *p, pytrace_value *out);
/* "a, b" is a tuple without parentheses. */
HONE_NODISCARD hone_status pytrace_read_values(pytrace *p, pytrace_value *out);
/* A name, a number, a bracket, with all calls, indices and attributes behind it. */
HONE_NODISCARD hone_status pytrace_read_primary(pytrace *p, pytrace_value *out);
/* Computes io = io op right; op is '/' for "//", ':' for "/", '^' for "**". */
HONE_NODISCARD hone_status pytrace_compute(pytrace *p, const char *where, char op,
                                           const pytrace_value *right, pytrace_value *io);
/* "x", or "*xs", which is all of its items, behind those of the list. */
HONE_NODISCARD hone_status pytrace_read_item(pytrace *p, pytrace_value *list);
/* '[', '(' or '{' at the cursor. */
HONE_NODISCARD hone_status pytrace_read_brackets(pytrace *p, pytrace_value *out);
/* "x for x in xs if c" up to the closing bracket, when that is what stands at the cursor; a list.
 */
HONE_NODISCARD hone_status pytrace_read_comprehension(pytrace *p, pytrace_value *out,
                                                      bool *out_is_one);
/* "[index]" or "[from:to:step]" at the cursor. */
HONE_NODISCARD hone_status pytrace_read_index(pytrace *p, pytrace_value *io);
/* A quote, or letters before one. */
bool pytrace_is_at_string(const pytrace *p);
HONE_NODISCARD hone_status pytrace_read_strings(pytrace *p, pytrace_value *out);
/* "{}", "{0}" and "{:04d}" in text stand for values. */
HONE_NODISCARD hone_status pytrace_format(pytrace *p, const char *where, const char *text,
                                          const pytrace_value *args, uint32_t count,
                                          const char **out);
/* "%s" and "%d" do so. */
HONE_NODISCARD hone_status pytrace_format_percent(pytrace *p, const char *where, const char *text,
                                                  const pytrace_value *args, const char **out);

/* Arguments "(a, *b, k=c)" at the cursor, of what is no step and no function of the text. */
typedef struct pytrace_args {
    uint32_t count; /* without keywords */
    const pytrace_value *items;
    uint32_t keyword_count;
    const char *const *keywords;
    const pytrace_value *values;
} pytrace_args;
HONE_NODISCARD hone_status pytrace_read_args(pytrace *p, pytrace_args *out);
const pytrace_value *pytrace_keyword(const pytrace_args *args, const char *name);

/* ---- tensor intrinsics (trace_parse_intrin.c) ---- */
/* A program of that name ends at the cursor. */
HONE_NODISCARD hone_status pytrace_note_program(pytrace *p, const char *name, const char *begin);
/* TensorIntrin.register(args): adds it to context->registered. INVALID where that is not possible
 * and none of the name is known. */
HONE_NODISCARD hone_status pytrace_register_intrin(pytrace *p, const char *where,
                                                   const pytrace_args *args);

/* "(args)" at the cursor, behind len, list, range, …; false in *out_known when the name is none of
 * these. */
HONE_NODISCARD hone_status pytrace_call_builtin(pytrace *p, const char *name, pytrace_value *out,
                                                bool *out_known);
/* io.name(args), the '(' at the cursor. */
HONE_NODISCARD hone_status pytrace_call_method(pytrace *p, const char *where, const char *name,
                                               pytrace_value *io);

/* At "lambda": an index map; elsewhere: an expression of constants (a map without parameters). */
HONE_NODISCARD hone_status pytrace_read_map(pytrace *p, pytrace_value *out);
/* "(map, keyword=value)" at the cursor, behind T.index_map, IndexMap.from_func, … */
HONE_NODISCARD hone_status pytrace_read_map_call(pytrace *p, pytrace_value *out);
/* A function of the text as an index map: all it does must be to return one. */
HONE_NODISCARD hone_status pytrace_map_of_func(pytrace *p, const char *where,
                                               const pytrace_func *func, pytrace_value *out);

/* A keyword ("name =") at the cursor is passed over; NULL when there is none. */
const char *pytrace_read_keyword(pytrace *p);

/* ---- what is no part of the text (trace_parse_outside.c) ---- */
/* "import …" or "from … import …" at the cursor: its names stand for something. */
HONE_NODISCARD hone_status pytrace_read_import(pytrace *p);
/* Names that every text knows: tvm, T, np. */
bool pytrace_is_known_module(const char *name);
/* ".name", "(args)" or "[…]" behind such a name; start: where its path begins. */
HONE_NODISCARD hone_status pytrace_read_outside(pytrace *p, const char *start, pytrace_value *io,
                                                bool *out_took);
/* INVALID for what a module made that nobody here knows: a statement that is nothing else would be
 * left out silently. */
HONE_NODISCARD hone_status pytrace_refuse_strange(pytrace *p, const char *where,
                                                  const pytrace_value *value);
/* Passes over "print(…)" and its like; INVALID when a step is in it. */
HONE_NODISCARD hone_status pytrace_skip_shown(pytrace *p);
/* A decorator or a class at the cursor is passed over, with the program that it belongs to, which
 * then has a name. */
HONE_NODISCARD hone_status pytrace_skip_program(pytrace *p, bool *out_took);

/* ---- statements ---- */
/* All statements up to p->end, or to what leaves them. */
HONE_NODISCARD hone_status pytrace_run(pytrace *p);
HONE_NODISCARD hone_status pytrace_read_if(pytrace *p);
HONE_NODISCARD hone_status pytrace_read_for(pytrace *p);
HONE_NODISCARD hone_status pytrace_read_while(pytrace *p);
HONE_NODISCARD hone_status pytrace_read_with(pytrace *p);
/* One more turn of some loop. */
HONE_NODISCARD hone_status pytrace_count_turn(pytrace *p, const char *where);
/* "targets =", "target +=" and what is behind it, or a value alone. */
HONE_NODISCARD hone_status pytrace_read_assignment(pytrace *p);
/* "a, (b, c)", up to "in". */
void pytrace_skip_targets(pytrace *p);
/* Targets at the cursor, up to `stop`, take the value. */
HONE_NODISCARD hone_status pytrace_assign(pytrace *p, const char *stop, const char *where,
                                          const pytrace_value *value);

/* ---- functions of the text (trace_parse_func.c) ---- */
/* "def …:" at the cursor: remembers the function and passes over its body. */
HONE_NODISCARD hone_status pytrace_read_def(pytrace *p);
HONE_NODISCARD hone_status pytrace_read_return(pytrace *p);
/* "(args)" at the cursor: runs the function. */
HONE_NODISCARD hone_status pytrace_call_func(pytrace *p, const pytrace_func *func,
                                             pytrace_value *out);
/* Runs it with the schedule as the first argument, and the defaults of the others. */
HONE_NODISCARD hone_status pytrace_apply_func(pytrace *p, const pytrace_func *func);

/* ---- the schedule ---- */
/* "(…)" at the cursor, behind "….Schedule": what was done so far is no part of the new schedule. */
void pytrace_begin_schedule(pytrace *p, pytrace_value *out);
/* How many results a step shall give: as many as names, none, or what a single value holds. */
enum { PYTRACE_IGNORED = 0, PYTRACE_ONE_VALUE = INT32_MAX };
/* "method(args)" at the cursor. */
HONE_NODISCARD hone_status pytrace_read_call(pytrace *p, uint32_t wanted, pytrace_value *out);
/* ".name" or ".method(args)" behind the schedule. */
HONE_NODISCARD hone_status pytrace_read_member(pytrace *p, pytrace_value *io);
/* "(x)" at the cursor, behind sch.get. */
HONE_NODISCARD hone_status pytrace_read_get(pytrace *p, pytrace_value *out);

#endif
