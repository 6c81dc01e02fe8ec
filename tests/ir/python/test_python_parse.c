/* tests/ir/python/test_python_parse.c - the syntax tree of Python texts: precedence, statements,
 * what f-strings hold, where nodes begin and end; errors with their places; texts of any bytes. */
#include "tests/support/hone_test.h"

#include <stdlib.h>
#include <string.h>

#include "ir/python/python_tree.h"
#include "support/core/strbuf.h"

/* ---- trees as text ---- */

static const char *const kinds[] = {
    [PY_NONE] = "None",
    [PY_TRUE] = "True",
    [PY_FALSE] = "False",
    [PY_TUPLE] = "tuple",
    [PY_LIST] = "list",
    [PY_SET] = "set",
    [PY_DICT] = "dict",
    [PY_SLICE] = "slice",
    [PY_EACH] = "for",
    [PY_WHERE] = "if",
    [PY_COMPREHENSION] = "each",
    [PY_CALL] = "call",
    [PY_SUBSCRIPT] = "at",
    [PY_CHOICE] = "choose",
    [PY_LAMBDA] = "lambda",
    [PY_STAR] = "star",
    [PY_STARSTAR] = "stars",
    [PY_FORMAT] = "format",
    [PY_FIELD] = "field",
    [PY_JOINED] = "joined",
    [PY_SUITE] = "suite",
    [PY_VALUE] = "value",
    [PY_ASSIGN] = "=",
    [PY_ANNOTATE] = "typed",
    [PY_RETURN] = "return",
    [PY_IF] = "if",
    [PY_FOR] = "for",
    [PY_WHILE] = "while",
    [PY_WITH] = "with",
    [PY_AS] = "as",
    [PY_BREAK] = "break",
    [PY_PASS] = "pass",
    [PY_ASSERT] = "assert",
    [PY_DEL] = "del",
    [PY_IMPORT] = "import",
    [PY_DEF] = "def",
    [PY_CLASS] = "class",
    [PY_ELLIPSIS] = "...",
    [PY_FROM] = "from",
    [PY_CONTINUE] = "continue",
    [PY_ALIAS] = "",
    [PY_ATTRIBUTE] = ".",
    [PY_PARAM] = "param",
    [PY_KEYWORD] = "word",
    [PY_FOREIGN] = "foreign",
    [PY_STATEMENT] = "unread",
};

static const char *const ops[] = {
    [PY_ADD] = "+",         [PY_SUB] = "-",      [PY_MUL] = "*",         [PY_DIV] = "/",
    [PY_MOD] = "%",         [PY_POW] = "**",     [PY_FLOORDIV] = "//",   [PY_MATMUL] = "@",
    [PY_SHL] = "<<",        [PY_SHR] = ">>",     [PY_BITAND] = "&",      [PY_BITOR] = "|",
    [PY_BITXOR] = "^",      [PY_EQ] = "==",      [PY_NE] = "!=",         [PY_LT] = "<",
    [PY_LE] = "<=",         [PY_GT] = ">",       [PY_GE] = ">=",         [PY_IN] = "in",
    [PY_NOT_IN] = "not in", [PY_IS] = "is",      [PY_IS_NOT] = "is not", [PY_NEG] = "neg",
    [PY_POS] = "pos",       [PY_INVERT] = "~",   [PY_NOT] = "not",       [PY_AND] = "and",
    [PY_OR] = "or",         [PY_ROUND] = "()",   [PY_SQUARE] = "[]",     [PY_CURLY] = "{}",
    [PY_KEYED] = "{:}",     [PY_ONE_STAR] = "*", [PY_TWO_STARS] = "**",
};

static void show(const py_source *source, const py_node *node, hone_str *out) {
    bool is_leaf = node && !node->base && !node->count;
    bool has_bytes =
        node && (node->kind == PY_INT || node->kind == PY_FLOAT || node->kind == PY_TEXT ||
                 node->kind == PY_PIECE || node->kind == PY_RAW_PIECE);
    if (!node) {
        hone_str_append(out, "-");
        return;
    }
    if (has_bytes) {
        hone_str_append_n(out, source->text + node->at, node->end - node->at);
        return;
    }
    if (node->kind == PY_NAME || (node->kind == PY_OPERATOR && is_leaf)) {
        hone_str_append(out, node->kind == PY_NAME ? node->name : ops[node->op]);
        return;
    }
    bool has_kind = node->kind < HONE_COUNT(kinds) && kinds[node->kind];
    if (!is_leaf) hone_str_append_char(out, '(');
    if (has_kind) hone_str_append(out, kinds[node->kind]);
    if (node->op != PY_NO_OP) hone_str_append(out, ops[node->op]);
    if (node->name) hone_str_printf(out, "%s%s", has_kind ? " " : "", node->name);
    if (node->base) {
        hone_str_append_char(out, ' ');
        show(source, node->base, out);
    }
    for (uint32_t i = 0; i < node->count; i++) {
        hone_str_append_char(out, ' ');
        show(source, node->items[i], out);
    }
    if (!is_leaf) hone_str_append_char(out, ')');
}

static const char *const unread[] = {"print", NULL};

static hone_status tree_of(const char *text, size_t length, hone_str *out) {
    const py_source source = {.text = text, .length = length, .name = "t", .has_raw = true};
    const py_parse_options options = {.has_headings = true, .unread = unread};
    const py_node *suite = NULL;
    hone_arena *arena = hone_arena_create(1 << 12);
    hone_status st = py_parse(&source, &options, arena, &suite);
    if (!st) show(&source, suite, out);
    hone_arena_destroy(arena);
    return st;
}

/* ---- trees ---- */

/* clang-format off */
static const struct row {
    const char *text, *want; /* "(suite …)" without its brackets */
} rows[] = {
    {"a + b * c - d", "(value ( a + ( b * c) - d))"},
    {"-2 ** -x", "(value (neg ( 2 ** (neg x))))"},
    {"a ** b ** c", "(value ( a ** ( b ** c)))"},
    {"a << 1 + 2 & 3 | 4 ^ 5", "(value ( ( ( a << ( 1 + 2)) & 3) | ( 4 ^ 5)))"},
    {"not a < b <= c is not None", "(value (not ( a < b <= c is not None)))"},
    {"a or b and not c", "(value (or a (and b (not c))))"},
    {"x not in y == z", "(value ( x not in y == z))"},
    {"1 if a else 2 if b else 3", "(value (choose a 1 (choose b 2 3)))"},
    {"f(a, *b, k=c, **d)(e).g[1]",
     "(value (at (. g (call (call f a (star b) (word k c) (stars d)) e)) 1))"},
    {"x[1:, ::2, a:b:c, ...]",
     "(value (at x (tuple (slice 1 - -) (slice - - 2) (slice a b c) ...)))"},
    {"(), (a,), (a), [a, *b], {}", "(value (tuple tuple (tuple a) a (list a (star b)) dict))"},
    {"{1: 2, **d}, {1, 2}", "(value (tuple (dict 1 2 - d) (set 1 2)))"},
    {"[x for x, y in z if c if d for e in f]",
     "(value (each[] (for z (tuple x y)) (if c) (if d) (for f e) x))"},
    {"{k: v for k in a}", "(value (each{:} (for a k) k v))"},
    {"f(x for x in y)", "(value (call f (each() (for y x) x)))"},
    {"lambda i, *j, k=1: (i, j)",
     "(value (lambda (param i - -) (param* j - -) (param k - 1) (tuple i j)))"},
    {"f\"a{b + 1:>{w}}{{{c!r}\" \"d\"",
     "(value (joined (format a (field ( b + 1)) { (field c)) \"d\"))"},
    {"f(ann_val=\"#include \"x.h\"\nint f;\")\n",
     "(value (call f (word ann_val #include \"x.h\"\nint f;)))"},
    {"a = b, *c = d", "(= d a (tuple b (star c)))"},
    {"a[0], b.c = 1, 2", "(= (tuple 1 2) (tuple (at a 0) (. c b)))"},
    {"a //= 2; b: int = 3; c: int", "(// 2 a) (typed 3 b int) (typed c int)"},
    {"import a.b as c, d", "(import ( a.b c) ( d -))"},
    {"from .a import (b, c as d,)", "(from a ( b -) ( c d))"},
    {"del a, b; assert c, d; pass", "(del (tuple a b)) (assert c d) pass"},
    {"if a: b\nelif c:\n  d\nelse:\n  e\nf",
     "(if a (suite (value b)) c (suite (value d)) (suite (value e))) (value f)"},
    {"for i, j in a, b:\n  break\nelse:\n  continue",
     "(for (tuple a b) (tuple i j) (suite break) (suite continue))"},
    {"while a: b", "(while a (suite (value b)) -)"},
    {"with a as b, c(d):\n  e", "(with (as a b) (as (call c d) -) (suite (value e)))"},
    {"with (a as b,):\n  c", "(with (as a b) (suite (value c)))"},
    {"@x.y(1)\ndef f(a: T[1] = 2, /, *, b) -> c:\n  return a,",
     "(def f (call (. y x) 1) (param a (at T 1) 2) (param - -) (param* - -) (param b - -) c "
     "(suite (return (tuple a))))"},
    {"def f(s) -> None:\nx", "(def f (param s - -) None -) (value x)"},
    {"class A(B):\n  x = yield", "(class A B (suite (= foreign yield x)))"},
    {"try:\n  a\nexcept B:\n  pass\nc", "unread try unread except (value c)"},
    {"print(a b))); c", "unread print (value c)"},
    {"  a\n  b\n", "(value a) (value b)"},
    {"a = (1 +\n  2) # three\n\n# end", "(= ( 1 + 2) a)"},
    {"(a := 1)", "(value (foreign := 1))"},
};
/* clang-format on */

static void is_tree(void **state) {
    const struct row *row = *state;
    hone_str out = {0}, want = {0};
    HONE_ASSERT_OK(tree_of(row->text, strlen(row->text), &out));
    hone_str_printf(&want, "(suite %s)", row->want);
    assert_string_equal(hone_str_text(&out), hone_str_text(&want));
    hone_str_deinit(&out);
    hone_str_deinit(&want);
}

/* ---- errors ---- */

/* clang-format off */
static const struct wrong {
    const char *text, *part;
} wrongs[] = {
    {"x = 3 +\n", "t:1:8: expected an expression, found the end of the line\nx = 3 +\n       ^"},
    {"a b", "t:1:3: expected the end of the line, found 'b'"},
    {"if a\n  b", "t:1:5: expected ':' before the body, found the end of the line"},
    {"if a:\nb", "t:2:1: expected an indented body"},
    {"a\n  b", "t:2:3: unexpected indent"},
    {"  a\nb", "t:2:1: this line is indented less"},
    {"f(a", "t:1:2: this bracket is never closed"},
    {"f(a]", "t:1:4: expected ')' or ','"},
    {"f(a, k = b = c)", "t:1:12: expected ')' or ',', found '='; '==' compares"},
    {"x[]", "t:1:3: expected an index, found ']'"},
    {"a if b", "t:1:7: expected 'else' of this conditional"},
    {"for a, b:\n  c", "t:1:9: expected 'in', found ':'"},
    {"lambda 1: 2", "t:1:8: expected a parameter of the lambda, found '1'"},
    {"def f(1): 2", "t:1:7: expected a parameter, found '1'"},
    {"x = else", "t:1:5: expected an expression, found 'else'"},
    {"f\"a{b\"", "t:1:5: expected '}'"},
    {"f\"a}b\"", "t:1:4: a '}' without its '{'"},
    {"x = 1\ny = f\"{1 +}\"", "t:2:11: expected an expression"},
    {"@a\nb", "t:2:1: expected a function or a class"},
    {"from a", "t:1:7: expected 'import'"},
    {"{1: 2, 3}", "t:1:9: expected ':' behind the key"},
    {"x = !a", "t:1:5: unexpected character '!'"},
};
/* clang-format on */

static void says_why(void **state) {
    const struct wrong *row = *state;
    hone_str out = {0};
    hone_status st = tree_of(row->text, strlen(row->text), &out);
    hone_str_deinit(&out);
    HONE_ASSERT_ERROR(st, HONE_CODE_INVALID, row->part);
}

/* ---- bounds ---- */

static hone_status repeated(const char *piece, size_t times, const char *behind) {
    hone_str text = {0}, out = {0};
    for (size_t i = 0; i < times; i++)
        hone_str_append(&text, piece);
    hone_str_append(&text, behind);
    hone_status st = tree_of(hone_str_text(&text), text.length, &out);
    hone_str_deinit(&text);
    hone_str_deinit(&out);
    return st;
}

static void is_bounded(void **state) {
    (void)state;
    static const char *const deep[] = {"[", "not ", "-", "a(", "lambda: ", "{1: ", "x[", "a ** "};
    for (size_t i = 0; i < HONE_COUNT(deep); i++)
        HONE_ASSERT_ERROR(repeated(deep[i], 5000, "a"), HONE_CODE_INVALID, "t:1:");
    HONE_ASSERT_ERROR(repeated("a.", 5000, "a"), HONE_CODE_INVALID, "nested too deeply");
    HONE_ASSERT_ERROR(repeated("if a: b\nelse: c\n", 1, "if a: if b: c"), HONE_CODE_INVALID,
                      "t:3:7");
    HONE_ASSERT_OK(repeated("a + ", 5000, "a")); /* chains are flat, but not what becomes of them */
    HONE_ASSERT_ERROR(repeated("a + ", 20000, "a"), HONE_CODE_INVALID, "is too long");
    HONE_ASSERT_OK(repeated("a < ", 20000, "a"));
    HONE_ASSERT_OK(repeated("a and ", 20000, "a"));
}

/* A text that ends anywhere is read or refused. Exact size, so that ASan sees each byte. */
static void ends_anywhere(void **state) {
    (void)state;
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        for (size_t n = 0; n <= strlen(rows[i].text); n++) {
            char *copy = malloc(n ? n : 1);
            hone_str out = {0};
            memcpy(copy, rows[i].text, n);
            hone_status_free(tree_of(copy, n, &out));
            hone_str_deinit(&out);
            free(copy);
        }
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {cmocka_unit_test(is_bounded),
                                              cmocka_unit_test(ends_anywhere)};
    int failed = HONE_RUN_ROWS("ir/python_parse", rows, is_tree);
    failed += HONE_RUN_ROWS("ir/python_parse_wrong", wrongs, says_why);
    return failed + cmocka_run_group_tests_name("ir/python_parse_bounds", tests, NULL, NULL);
}
