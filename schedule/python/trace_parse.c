#include "schedule/python/trace_parse.h"

#include <string.h>

#include "schedule/python/trace_parse_impl.h"

/* Traces from Python: what TVM prints, and what people write by hand.
 *
 *   statement := targets "=" values | target "+=" values | values      (trace_parse_assign.c)
 *              | "def" …, "return" …                                   (trace_parse_func.c)
 *              | "if" … "elif" … "else" …, "for" …, "while" …, "with" … (trace_parse_flow.c)
 *              | "break" | "continue" | "assert" value | "raise" … | "import" …
 *   values    := expressions of Python (trace_parse_operator.c, trace_parse_value.c): numbers,
 *                strings, lists, tuples, dictionaries, comprehensions, calls of functions of the
 *                text and of a few that Python has, index maps, steps of the schedule
 *
 * A text of functions alone means the last one, applied to the schedule. A new tvm.tir.Schedule(…)
 * begins anew. Programs in the same text (classes, decorated functions), comments, docstrings,
 * "pass" and what is printed are passed over. What other modules make is known by name only
 * (trace_parse_outside.c); a call of a module other than TVM's and numpy that stands for itself is
 * refused. What `if` and `while` depend on must be known before anything is drawn.
 */

static bool skip_docstring(pytrace *p) {
    if (p->end - p->at < 3 ||
        (memcmp(p->at, "\"\"\"", 3) != 0 && memcmp(p->at, "\'\'\'", 3) != 0)) {
        return false;
    }
    p->at = pytrace_end_of_string(p, p->at);
    return true;
}

void pytrace_begin_schedule(pytrace *p, pytrace_value *out) {
    pytrace_skip_brackets(p);
    hone_trace_init(p->trace, p->arena);
    p->epoch++;
    *out = (pytrace_value){.kind = PYTRACE_SCHEDULE, .epoch = p->epoch};
}

static bool starts_with_any(const pytrace *p, const char *const *words) {
    for (; *words; words++) {
        if (pytrace_starts_with_word(p, *words)) return true;
    }
    return false;
}

/* Nothing to do, and nothing to know. */
static bool is_blank(const pytrace *p) {
    char c = pytrace_peek(p);
    return c == '#' || c == '\n' || p->at == p->end;
}

/* The same: what only shows something may say what it likes. */
static bool is_shown(const pytrace *p) {
    static const char *const words[] = {"pass", "print", "del", "IPython", NULL};
    return starts_with_any(p, words);
}

static hone_status end_line(pytrace *p) {
    pytrace_skip_blanks(p);
    if (pytrace_peek(p) == ';') {
        p->at++;
        return HONE_OK;
    }
    if (p->at < p->end && pytrace_peek(p) != '\n' && pytrace_peek(p) != '#') {
        return pytrace_fail(p, "expected the end of the line");
    }
    pytrace_skip_line(p);
    return HONE_OK;
}

static hone_status read_assert(pytrace *p) {
    const char *start = p->at;
    pytrace_value value;
    bool holds = true;
    p->at += strlen("assert");
    HONE_TRY(pytrace_read_value(p, &value));
    if (value.kind != PYTRACE_OUTSIDE) HONE_TRY(pytrace_truth(p, start, &value, &holds));
    if (!holds) return pytrace_fail_at(p, start, "this does not hold");
    pytrace_skip_line(p);
    return HONE_OK;
}

static hone_status read_jump(pytrace *p, bool breaks) {
    if (!p->suite_depth) return pytrace_fail(p, "there is no loop around this");
    p->flow = breaks ? PYTRACE_BREAKS : PYTRACE_CONTINUES;
    return HONE_OK;
}

/* What is not read yet: say what to do instead. */
static hone_status refuse_statement(pytrace *p) {
    if (pytrace_starts_with_word(p, "raise")) {
        return pytrace_fail(p, "the text gives up here, by raise");
    }
    if (pytrace_starts_with_word(p, "try")) {
        return pytrace_fail(p, "try is not known here: leave out the steps that are refused");
    }
    return pytrace_fail(p, "this statement is not known here: write it with if, for and functions");
}

static hone_status read_statement(pytrace *p) {
    static const char *const unknown[] = {"try",   "raise",  "yield",    "async",
                                          "await", "global", "nonlocal", NULL};
    if (pytrace_starts_with_word(p, "def")) return pytrace_read_def(p);
    if (pytrace_starts_with_word(p, "if")) return pytrace_read_if(p);
    if (pytrace_starts_with_word(p, "for")) return pytrace_read_for(p);
    if (pytrace_starts_with_word(p, "while")) return pytrace_read_while(p);
    if (pytrace_starts_with_word(p, "with")) return pytrace_read_with(p);
    if (pytrace_starts_with_word(p, "break")) return read_jump(p, true);
    if (pytrace_starts_with_word(p, "continue")) return read_jump(p, false);
    if (pytrace_starts_with_word(p, "assert")) return read_assert(p);
    if (pytrace_starts_with_word(p, "return") && !p->call_depth) {
        pytrace_skip_line(p);
        return HONE_OK;
    }
    if (pytrace_starts_with_word(p, "return")) return pytrace_read_return(p);
    if (starts_with_any(p, unknown)) return refuse_statement(p);
    bool imports = pytrace_starts_with_word(p, "import") || pytrace_starts_with_word(p, "from");
    HONE_TRY(imports ? pytrace_read_import(p) : pytrace_read_assignment(p));
    return end_line(p);
}

/* Does only white space stand before this on its line? */
static bool begins_line(const pytrace *p) {
    const char *c = p->at;
    while (c > p->text && (c[-1] == ' ' || c[-1] == '\t'))
        c--;
    return c == p->text || c[-1] == '\n';
}

/* The lines of a block are indented alike. *io_first: its first statement. */
static hone_status check_indent(pytrace *p, const char **io_first) {
    if (!begins_line(p)) return HONE_OK;
    if (!*io_first) *io_first = p->at;
    uint32_t wanted = pytrace_indent_of(p, *io_first), indent = pytrace_indent_of(p, p->at);
    if (indent > wanted) {
        return pytrace_fail(p, "unexpected indent: the line before opens no block");
    }
    if (indent < wanted) {
        return pytrace_fail(p, "this line is indented less than its block, and as no block around");
    }
    return HONE_OK;
}

hone_status pytrace_run(pytrace *p) {
    const char *first = NULL;
    while (p->at < p->end && p->flow == PYTRACE_GOES_ON) {
        bool took = false;
        pytrace_skip_blanks(p);
        if (skip_docstring(p)) continue;
        HONE_TRY(pytrace_skip_program(p, &took));
        if (took) continue;
        if (pytrace_peek(p) == ';') {
            p->at++;
        } else if (is_blank(p)) {
            pytrace_skip_line(p);
        } else {
            HONE_TRY(check_indent(p, &first));
            HONE_TRY(is_shown(p) ? pytrace_skip_shown(p) : read_statement(p));
        }
    }
    return HONE_OK;
}

/* A text of functions alone means the last one. */
static hone_status read_text(pytrace *p) {
    const pytrace_value schedule = {.kind = PYTRACE_SCHEDULE};
    p->scope = pytrace_new_scope(p, NULL);
    if (!p->scope) return pytrace_no_memory();
    HONE_TRY(pytrace_bind(p, "sch", &schedule));
    HONE_TRY(pytrace_bind(p, "__name__", &PYTRACE_OF_STRING("__main__")));
    HONE_TRY(pytrace_run(p));
    bool has_steps = p->trace->count || p->call_count || p->last_func || p->epoch;
    if (p->program && !has_steps) {
        return pytrace_fail_at(p, p->program,
                               "this is a program, and no step of a schedule follows");
    }
    bool means_func = p->last_func && !p->trace->count && !p->call_count;
    return means_func ? pytrace_apply_func(p, p->last_func) : HONE_OK;
}

hone_status hone_trace_parse_script(hone_arena *arena, const hone_trace_context *context,
                                    const char *text, size_t length, const char *source_name,
                                    hone_trace *out_trace) {
    hone_trace_init(out_trace, arena);
    pytrace p = {.arena = arena,
                 .trace = out_trace,
                 .source = source_name,
                 .context = context,
                 .text = text,
                 .at = text,
                 .end = text + length};
    hone_status st = read_text(&p);
    pytrace_end_scopes(&p);
    if (!st || !p.is_refused) return st;
    hone_status_free(st); /* who applies the trace will hear of it, with the place */
    return HONE_OK;
}

hone_status hone_trace_parse_python(hone_arena *arena, const char *text, size_t length,
                                    const char *source_name, hone_trace *out_trace) {
    return hone_trace_parse_script(arena, NULL, text, length, source_name, out_trace);
}
