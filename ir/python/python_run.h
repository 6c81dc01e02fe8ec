/* ir/python/python_run.h - what a text of Python says before any program runs: its values are
 * computed, its loops and functions are gone through, all within bounds.
 *
 * Numbers, strings, lists, tuples, dictionaries and functions of the text are known here. What else
 * a text is about (a schedule, say) belongs to its host, who has kinds of values of his own and is
 * asked wherever one of them, or a name that stands for nothing, is met. What nobody looks into (a
 * module that is imported) is a value that is UNKNOWN and known by name only.
 *
 * Lifetime: values and texts live in the arena; the tree must outlive the run.
 */
#ifndef HONE_IR_PYTHON_PYTHON_RUN_H
#define HONE_IR_PYTHON_PYTHON_RUN_H

#include "ir/python/python_tree.h"
#include "support/data/map.h"

/* ---- values ---- */

typedef enum pyv_kind {
    PYV_NONE,
    PYV_ELLIPSIS,
    PYV_BOOL,    /* u.i */
    PYV_INT,     /* u.i */
    PYV_HUGE,    /* u.i + 2^64: from 2^63 to 2^64 - 1, for hosts that take it */
    PYV_FLOAT,   /* u.f */
    PYV_STRING,  /* u.s */
    PYV_SLICE,   /* u.items[3]: from, to, step; NONE where left out */
    PYV_TUPLE,   /* u.items[count] */
    PYV_LIST,    /* u.list: shared by all who hold it */
    PYV_DICT,    /* u.list, with keys */
    PYV_RECORD,  /* u.list: attributes by name */
    PYV_FUNC,    /* u.func, a function of the text */
    PYV_UNKNOWN, /* u.s: how it is called; count: the host's */
    PYV_HOST,    /* this and those behind it are the host's: count, mark and u.host say which */
} pyv_kind;

typedef struct py_value py_value;
typedef struct py_func py_func;

typedef struct py_list {
    uint32_t count, capacity;
    py_value *items;
    py_value *keys; /* DICT: any plain value; RECORD: strings; else NULL */
} py_list;

struct py_value {
    int kind; /* pyv_kind, or one of the host's */
    uint32_t count, mark;
    uint32_t at;            /* where it stands in the text, for messages */
    bool is_meta, is_fresh; /* the host's */
    union {
        int64_t i;
        double f;
        const char *s;
        const py_value *items;
        py_list *list;
        const py_func *func;
        const void *host;
    } u;
};
#define PYV_OF_INT(x) ((py_value){.kind = PYV_INT, .u.i = (x)})
#define PYV_OF_BOOL(x) ((py_value){.kind = PYV_BOOL, .u.i = (x) ? 1 : 0})
#define PYV_OF_FLOAT(x) ((py_value){.kind = PYV_FLOAT, .u.f = (x)})
#define PYV_OF_STRING(x) ((py_value){.kind = PYV_STRING, .u.s = (x)})
#define PYV_OF_UNKNOWN(x) ((py_value){.kind = PYV_UNKNOWN, .u.s = (x)})
#define PYV_OF_NONE ((py_value){.kind = PYV_NONE})

typedef struct py_name {
    const char *name;
    py_value value;
    struct py_name *before; /* bound before it, in its scope or those around */
    struct py_name *hidden; /* the last of the same name among those; NULL: there is none */
    uint32_t number;        /* of all names, in the order in which they were bound */
} py_name;

/* Names of the text, or of one call of a function. Lives until the run ends. */
typedef struct py_scope {
    hone_strmap names; /* name → the last py_name of it */
    py_name *newest;   /* here or around; NULL: there are none */
    struct py_scope *outer, *next;
} py_scope;

struct py_func {
    const py_node *def;
    py_scope *scope; /* where it was written */
    uint32_t param_count;
    const char *const *params;
    const py_value *defaults; /* one per parameter */
    const bool *has_default;
    uint32_t star;        /* the parameter that takes all others: "*args"; param_count = none */
    uint32_t words;       /* that takes all other names: "**words"; param_count = none */
    uint32_t only_named;  /* from here on they have a value by name only */
    const void *host_own; /* NULL, or the host runs its body */
};

/* ---- the run ---- */

typedef enum py_flow {
    PY_GOES_ON,
    PY_BREAKS,
    PY_CONTINUES,
    PY_RETURNS,
} py_flow;

enum {
    PY_MAX_ITEMS = 4096,
    PY_MAX_NESTING = 60,
    PY_MAX_TEXT = 1 << 16,
    PY_MAX_CALLS = 1024,
    PY_MAX_CALL_DEPTH = 16,
};

typedef struct py_run py_run;

typedef struct py_host {
    /* Before any statement: does the host do what it says? May be NULL. */
    hone_status (*statement)(py_run *p, const py_node *node, bool *out_took);
    /* A name that stands for nothing. */
    hone_status (*name)(py_run *p, const py_node *node, py_value *out);
    /* io.name, of an UNKNOWN or a host's value. */
    hone_status (*attribute)(py_run *p, const py_node *node, py_value *io);
    /* io(…), of an UNKNOWN or a host's value. */
    hone_status (*call)(py_run *p, const py_node *node, py_value *io);
    /* io.name(…), of a host's value. */
    hone_status (*method)(py_run *p, const py_node *node, py_value *io);
    hone_status (*lambda)(py_run *p, const py_node *node, py_value *out);
    /* A chain of operators that begins with this host's value. */
    hone_status (*binary)(py_run *p, const py_node *node, py_value *io, bool *out_took);
    /* Of a host's value. */
    hone_status (*truth)(py_run *p, uint32_t at, const py_value *v, bool *out);
    const char *no_arithmetic; /* why there is none with the host's values; NULL: see compute */

    /* ---- what only some hosts know: may be NULL ---- */
    /* The host has a meaning of his own for this name, which is also a function of Python. */
    bool (*hides)(const py_run *p, const char *name);
    /* io[…], of a host's value. */
    hone_status (*subscript)(py_run *p, const py_node *node, py_value *io);
    /* -io, ~io, +io or not io, of a host's value. */
    hone_status (*unary)(py_run *p, const py_node *node, py_value *io);
    /* io op= right, where one is the host's; op may compare or be `and` or `or`, too. */
    hone_status (*compute)(py_run *p, uint32_t at, py_op op, const py_value *right, py_value *io);
    /* x if io else y, of a host's value. */
    hone_status (*choice)(py_run *p, const py_node *node, py_value *io);
    /* A host's value as an index. */
    hone_status (*index)(py_run *p, const py_value *v, int64_t *out);
    /* What a loop of the text finds in a host's value. */
    hone_status (*iterate)(py_run *p, uint32_t at, const py_value *v, py_value *out_list);
    /* Runs the body of a function that py_new_func was told to be the host's own. */
    hone_status (*body)(py_run *p, const py_func *func, uint32_t at, const py_value *values,
                        py_value *out);
    bool names_all; /* `name` is asked about names that stand for something, too */
    /* As an argument of a function, a name that stands for nothing is something outside. */
    bool has_outside;
    /* Literals that fit no 64 bits, no float and no UTF-8 are values as well. */
    bool takes_any_literal;
    const char *float_type; /* what says the type of a number, where "1.5f" stands */
    /* 0: PY_MAX_ITEMS and so on. */
    uint32_t max_items, max_depth, max_text, max_calls, max_call_depth;
} py_host;

struct py_run {
    const py_source *source;
    hone_arena *arena;
    const py_host *host;
    void *ctx;                /* the host's */
    uint32_t at;              /* the expression that is being computed */
    py_scope *scope, *scopes; /* the innermost, and all */
    uint32_t depth, call_depth, call_count, suite_depth, turn_count, name_count;
    const py_func *last_func; /* that was defined outside of others */
    py_flow flow;
    py_value result; /* of the function that returned */
};

/* Opens the scope of the text; py_run_end when all is done. */
HONE_NODISCARD hone_status py_run_begin(py_run *p);
void py_run_end(py_run *p);
bool py_is_docstring(const py_node *node);
/* All statements of a suite, up to what leaves them. */
HONE_NODISCARD hone_status py_run_suite(py_run *p, const py_node *suite);

/* ---- errors ---- */
HONE_NODISCARD hone_status py_fail_at(const py_run *p, uint32_t at, const char *what);
/* what 'name' more */
HONE_NODISCARD hone_status py_fail_about(const py_run *p, uint32_t at, const char *what,
                                         const char *name, const char *more);
HONE_NODISCARD hone_status py_no_memory(void);
extern const char py_no_operator[], py_word_is_no_string[];

/* Bounds recursion; pair with p->depth--. */
HONE_NODISCARD hone_status py_descend(py_run *p, uint32_t at);

/* ---- names (python_value.c) ---- */
/* NULL when the name stands for nothing. */
const py_value *py_find(const py_run *p, const char *name);
py_name *py_find_name(const py_run *p, const char *name);
/* Gives the name this value in the innermost scope. It must live as long as the run. */
HONE_NODISCARD hone_status py_bind(py_run *p, const char *name, const py_value *value);
/* py_bind that hides what the name stood for in the scope, instead of replacing it. */
HONE_NODISCARD hone_status py_hide(py_run *p, const char *name, const py_value *value);
/* The name that was defined last of those that are seen; NULL: there are none. */
py_name *py_newest(const py_run *p);
py_scope *py_new_scope(py_run *p, py_scope *outer);
/* Opens a scope around the present names, or (is_apart) around none, and gives back the one to
 * return to. Where memory is short nothing can be bound in it. */
py_scope *py_open_scope(py_run *p, bool is_apart);

/* ---- values (python_value.c) ---- */
HONE_NODISCARD hone_status py_new_list(py_run *p, pyv_kind kind, py_value *out);
HONE_NODISCARD hone_status py_append(py_run *p, uint32_t at, py_value *list, const py_value *item);
/* Appends all that is in `from`. INVALID for what has no items. */
HONE_NODISCARD hone_status py_extend(py_run *p, uint32_t at, py_value *list, const py_value *from);
/* Sets a key of a dictionary or record. */
HONE_NODISCARD hone_status py_put(py_run *p, uint32_t at, py_value *dict, const py_value *key,
                                  const py_value *item);
const py_value *py_get(const py_value *dict, const py_value *key);
/* The items of a list or tuple, the keys of a dictionary; false for what has none. */
bool py_items(const py_value *v, const py_value **out_items, uint32_t *out_count);
/* py_items, where characters of a string are items too. INVALID for what has none. */
HONE_NODISCARD hone_status py_iterate(py_run *p, uint32_t at, const py_value *v,
                                      const py_value **out_items, uint32_t *out_count);
/* (a, b). Copies the items. */
HONE_NODISCARD hone_status py_new_tuple(py_run *p, const py_value *items, uint32_t count,
                                        py_value *out);
/* A tuple of what is in the list. */
py_value py_tuple_of(const py_value *list);
const char *py_kind_name(const py_value *v); /* "a tuple", for messages */
bool py_is_same(const py_value *a, const py_value *b);
/* INVALID for what is not known. */
HONE_NODISCARD hone_status py_truth(py_run *p, uint32_t at, const py_value *v, bool *out);
/* True and False are 1 and 0. */
bool py_is_int(const py_value *v);
/* py_is_int, or a float; and its value. */
bool py_is_number(const py_value *v);
double py_number_of(const py_value *v);
/* Below 0, 0 or above 0, of numbers or of strings; false for what has no order. */
bool py_compare(const py_value *a, const py_value *b, int *out);
/* The text of a value that Python's print() would show; in the arena. */
HONE_NODISCARD hone_status py_print(py_run *p, uint32_t at, const py_value *v, const char **out);

/* ---- expressions (python_eval.c) ---- */
HONE_NODISCARD hone_status py_eval(py_run *p, const py_node *node, py_value *out);
/* A tuple of the items of a PY_TUPLE or PY_LIST, where "*x" stands for several. */
HONE_NODISCARD hone_status py_eval_items(py_run *p, const py_node *node, py_value *out);
/* io op= right (python_operator.c) */
HONE_NODISCARD hone_status py_compute(py_run *p, uint32_t at, py_op op, const py_value *right,
                                      py_value *io);
/* a < b, a in b, …; false in *out_is_known when one of them is UNKNOWN. */
HONE_NODISCARD hone_status py_relate(py_run *p, uint32_t at, py_op op, const py_value *a,
                                     const py_value *b, bool *out, bool *out_is_known);

/* Arguments of what is no function of the text. */
typedef struct py_word {
    const char *name;
    py_value value;
} py_word;
typedef struct py_args {
    uint32_t count; /* without keywords */
    const py_value *items;
    uint32_t keyword_count;
    const py_word *keywords;
} py_args;
HONE_NODISCARD hone_status py_eval_args(py_run *p, const py_node *call, py_args *out);
const py_value *py_keyword(const py_args *args, const char *name);

/* name(…) of len, list, range, …; false in *out_known when the name is none of these. */
HONE_NODISCARD hone_status py_call_builtin(py_run *p, const py_node *call, py_value *out,
                                           bool *out_known);
/* io.name(…) of strings, lists, tuples and dictionaries. */
HONE_NODISCARD hone_status py_call_method(py_run *p, const py_node *call, py_value *io);

/* ---- strings (python_format.c) ---- */
/* PY_TEXT, PY_FORMAT, PY_JOINED. */
HONE_NODISCARD hone_status py_eval_text(py_run *p, const py_node *node, py_value *out);
/* "{}", "{0}" and "{:04d}" in text stand for values. */
HONE_NODISCARD hone_status py_format(py_run *p, uint32_t at, const char *text, const py_value *args,
                                     uint32_t count, const char **out);
/* "%s" and "%d" do so. */
HONE_NODISCARD hone_status py_format_percent(py_run *p, uint32_t at, const char *text,
                                             const py_value *args, const char **out);

/* ---- statements (python_run.c) ---- */
/* The targets take the value, as behind "=" or "in"; at: of the value. */
HONE_NODISCARD hone_status py_assign(py_run *p, const py_node *target, uint32_t at,
                                     const py_value *value);
/* One more turn of some loop. */
HONE_NODISCARD hone_status py_count_turn(py_run *p, uint32_t at);

/* ---- functions of the text (python_call.c) ---- */
HONE_NODISCARD hone_status py_define(py_run *p, const py_node *def);
/* Without a name; host_own: whose body the host runs, or NULL. */
HONE_NODISCARD hone_status py_new_func(py_run *p, const py_node *def, const void *host_own,
                                       py_value *out);
/* Runs the body with names of its own; values: one per parameter. */
HONE_NODISCARD hone_status py_run_body(py_run *p, const py_func *func, const py_value *values,
                                       py_value *out);
HONE_NODISCARD hone_status py_call_func(py_run *p, const py_func *func, const py_node *call,
                                        py_value *out);
/* Calls it with this (NULL: nothing) as the first argument, and the defaults of the others. */
HONE_NODISCARD hone_status py_apply_func(py_run *p, const py_func *func, const py_value *first);

#endif
