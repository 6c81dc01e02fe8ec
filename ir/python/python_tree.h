/* ir/python/python_tree.h - the syntax tree of a Python text.
 *
 * A node knows its bytes of the text (at … end), and where a message about it points (mark: the
 * operator, the bracket of a call, the name behind a dot). Names are copied, literals are not: they
 * are decoded by those who want their values, so that a text may hold numbers and strings that
 * nobody could keep. No tree is deeper than PY_MAX_TREE: who visits it may recurse. Chains of
 * operators are one node, however long.
 *
 * Lifetime: the arena's; the text must outlive the tree. Immutable.
 */
#ifndef HONE_IR_PYTHON_PYTHON_TREE_H
#define HONE_IR_PYTHON_PYTHON_TREE_H

#include "ir/python/python_lex.h"

enum { PY_MAX_TREE = 5 * PY_MAX_DEPTH };

typedef enum py_node_kind {
    /* ---- expressions ---- */
    PY_NAME,     /* name */
    PY_NONE,     /* None */
    PY_TRUE,     /* True */
    PY_FALSE,    /* False */
    PY_ELLIPSIS, /* ... */
    PY_INT,
    PY_FLOAT,
    PY_TEXT,          /* one string literal */
    PY_FORMAT,        /* one f-string: items are pieces and fields */
    PY_PIECE,         /* in it: characters and escapes */
    PY_RAW_PIECE,     /* the same, a backslash being one */
    PY_FIELD,         /* in it: base, then ":04d", "!r" or "=" (the bytes mark … end) */
    PY_JOINED,        /* "a" "b": items are literals */
    PY_TUPLE,         /* items */
    PY_LIST,          /* items */
    PY_SET,           /* items */
    PY_DICT,          /* items: key, value, …; a key NULL stands before "**value" */
    PY_COMPREHENSION, /* op: of '(', '[' or '{'; items: clauses, then the item, of a dict two */
    PY_EACH,          /* clause "for target in base": items[0] is the target */
    PY_WHERE,         /* clause "if base" */
    PY_ATTRIBUTE,     /* base.name */
    PY_CALL,          /* base(items) */
    PY_SUBSCRIPT,     /* base[items[0]] */
    PY_SLICE,         /* items[3]: from, to, step; NULL = left out */
    PY_UNARY,         /* op base */
    PY_BINARY,        /* items: operand, PY_OPERATOR, operand, …, from left to right */
    PY_COMPARE,       /* the same: a < b < c */
    PY_LOGIC,         /* op: and, or; items: operands */
    PY_OPERATOR,      /* op */
    PY_CHOICE,        /* items[0] if base else items[1] */
    PY_LAMBDA,        /* items: parameters, then the body */
    PY_STAR,          /* *base, in calls, brackets and targets */
    PY_STARSTAR,      /* **base, in calls */
    PY_KEYWORD,       /* name=base, in calls */
    PY_FOREIGN,       /* name: yield, await, := (base, or NULL, behind it) */
    PY_PARAM,         /* name; op: '*', '**' or none; items: annotation, default (NULL = none);
                         the name NULL: "*" or "/" alone */
    /* ---- statements ---- */
    PY_SUITE,    /* items: statements; mark: the word it belongs to (if, elif, else, for, …) */
    PY_VALUE,    /* base */
    PY_ASSIGN,   /* items: targets; base */
    PY_AUGMENT,  /* items[0] op= base */
    PY_ANNOTATE, /* items[0]: items[1] = base (or NULL) */
    PY_DEF,      /* name; items: decorators, parameters, then what it returns (NULL = not said) and
                    the suite (NULL: none follows, where py_parse allows it); count_ahead: the
                    decorators; mark: behind them */
    PY_CLASS,    /* name; items: decorators, arguments, then the suite */
    PY_RETURN,   /* base, or NULL */
    PY_IF,       /* items: condition, suite, condition, suite, … and a suite for "else" */
    PY_FOR,      /* for items[0] in base: items[1], items[2] the suite of "else" or NULL */
    PY_WHILE,    /* while base: items[0], items[1] the suite of "else" or NULL */
    PY_WITH,     /* items: PY_AS …, then the suite */
    PY_AS,       /* base as items[0] (or NULL) */
    PY_BREAK,
    PY_CONTINUE,
    PY_PASS,
    PY_ASSERT,    /* base, items[0]: what to say, or NULL */
    PY_DEL,       /* base */
    PY_IMPORT,    /* items: PY_ALIAS */
    PY_FROM,      /* name: the module; items: PY_ALIAS, none for "*" */
    PY_ALIAS,     /* name: the dotted path; items[0]: PY_NAME behind "as", or NULL */
    PY_STATEMENT, /* name: a word that begins a statement that is not looked into: try, raise, …
                     with their suites, and what py_parse is told to leave as text */
} py_node_kind;

typedef enum py_op {
    PY_NO_OP,
    PY_ADD,
    PY_SUB,
    PY_MUL,
    PY_DIV,
    PY_FLOORDIV,
    PY_MOD,
    PY_MATMUL,
    PY_POW,
    PY_SHL,
    PY_SHR,
    PY_BITAND,
    PY_BITOR,
    PY_BITXOR,
    PY_EQ,
    PY_NE,
    PY_LT,
    PY_LE,
    PY_GT,
    PY_GE,
    PY_IN,
    PY_NOT_IN,
    PY_IS,
    PY_IS_NOT,
    PY_NEG,
    PY_POS,
    PY_INVERT,
    PY_NOT,
    PY_AND,
    PY_OR,
    PY_ROUND,  /* of brackets */
    PY_SQUARE, /* of brackets */
    PY_CURLY,  /* of brackets: a set */
    PY_KEYED,  /* of brackets: a dictionary */
    PY_ONE_STAR,
    PY_TWO_STARS,
} py_op;

typedef struct py_node py_node;
struct py_node {
    py_node_kind kind;
    py_op op;
    uint32_t at, end, mark; /* bytes of the text */
    uint32_t count, count_ahead;
    const char *name;
    const py_node *base;
    const py_node *const *items;
};

typedef struct py_parse_options {
    bool has_headings; /* "def f(x):" may stand without a body, as TVM prints it */
    /* Words (NULL behind the last) that begin statements of which nobody wants a tree. */
    const char *const *unread;
} py_parse_options;

/* Reads a text. INVALID with place and caret; out_suite is a PY_SUITE. */
HONE_NODISCARD hone_status py_parse(const py_source *source, const py_parse_options *options,
                                    hone_arena *arena, const py_node **out_suite);

/* A node of a tree of which is() holds, the root first; NULL: there is none. */
typedef bool (*py_is)(void *ctx, const py_node *node);
const py_node *py_search(const py_node *root, py_is is, void *ctx);

/* The characters of PY_TEXT and of pieces; NULL when memory is short, or with a reason. */
char *py_text_of(const py_source *source, const py_node *node, hone_arena *arena,
                 const char **out_why);
#endif
