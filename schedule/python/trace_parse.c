/* schedule/python/trace_parse.c - traces from Python: what TVM prints, and what people write by
 * hand.
 *
 * The text becomes a tree, which ir/python runs: values, loops, conditions, functions. Here is what
 * it does not know: a step of the schedule, and how many results it shall give; what other modules
 * make is known by name only (trace_parse_outside.c); programs in the same text (classes, decorated
 * functions) and what is printed are passed over.
 *
 * A text of functions alone means the last one, applied to the schedule. A new tvm.tir.Schedule(…)
 * begins anew. A call of a module other than TVM's and numpy that stands for itself is refused.
 * What `if` and `while` depend on must be known before anything is drawn.
 */
#include "schedule/python/trace_parse.h"

#include <string.h>

#include "schedule/python/trace_parse_impl.h"

/* ---- statements ---- */

/* How many results a step shall give that stands behind this target. */
static uint32_t count_names(const py_node *target) {
    if (target->kind != PY_TUPLE && target->kind != PY_LIST) return PYTRACE_ONE_VALUE;
    for (uint32_t i = 0; i < target->count; i++) {
        if (target->items[i]->kind == PY_STAR) return PYTRACE_ONE_VALUE;
    }
    return target->count;
}

static hone_status assign_step(pytrace *p, const py_node *node) {
    py_value value;
    HONE_TRY(pytrace_read_step(p, node->base, count_names(node->items[0]), &value));
    return py_assign(&p->run, node->items[0], node->base->at, &value);
}

static hone_status read_value(pytrace *p, const py_node *node) {
    py_value value;
    if (pytrace_is_step(p, node->base)) {
        return pytrace_read_step(p, node->base, PYTRACE_IGNORED, &value);
    }
    HONE_TRY(py_eval(&p->run, node->base, &value));
    return pytrace_refuse_strange(p, node->at, &value);
}

/* What they begin only shows something, and may say what it likes. */
static const char *const shows[] = {"print", "IPython", NULL};

static bool is_shown(const py_node *node) {
    if (node->kind != PY_STATEMENT) return false;
    for (const char *const *word = shows; *word; word++) {
        if (strcmp(*word, node->name) == 0) return true;
    }
    return false;
}

/* "def f(sch):" without a body is a heading: what follows is about its first parameter. */
static hone_status read_heading(pytrace *p, const py_node *def) {
    const py_value schedule = {.kind = PYTRACE_SCHEDULE, .mark = p->epoch};
    const py_node *first = def->count > def->count_ahead + 2 ? def->items[def->count_ahead] : NULL;
    return first && first->name ? py_bind(&p->run, first->name, &schedule) : HONE_OK;
}

static hone_status take_statement(py_run *run, const py_node *node, bool *out_took) {
    pytrace *p = pytrace_of(run);
    *out_took = true;
    if (is_shown(node)) return pytrace_check_shown(p, node);
    if (node->kind == PY_VALUE) return read_value(p, node);
    if (node->kind == PY_IMPORT || node->kind == PY_FROM) return pytrace_read_import(p, node);
    if (node->kind == PY_ASSIGN && node->count == 1 && pytrace_is_step(p, node->base)) {
        return assign_step(p, node);
    }
    *out_took = false;
    if (node->kind != PY_CLASS && node->kind != PY_DEF) return HONE_OK;
    HONE_TRY(pytrace_take_program(p, node, out_took));
    bool is_heading = !*out_took && !node->items[node->count - 1];
    *out_took = *out_took || is_heading;
    return is_heading ? read_heading(p, node) : HONE_OK;
}

/* ---- values ---- */

static hone_status read_name(py_run *run, const py_node *node, py_value *out) {
    const char *name = node->name, *hint = "";
    if (pytrace_is_known_module(name)) {
        *out = PYV_OF_UNKNOWN(name);
        return HONE_OK;
    }
    if (strcmp(name, "threadIdx") == 0 || strcmp(name, "blockIdx") == 0) {
        hint = "; a thread is named in quotes, as \"threadIdx.x\"";
    } else if (strcmp(name, "true") == 0 || strcmp(name, "false") == 0) {
        hint = *name == 't' ? "; did you mean True?" : "; did you mean False?";
    }
    return py_fail_about(run, node->at, "undefined name ", name, hint);
}

static hone_status read_attribute(py_run *run, const py_node *node, py_value *io) {
    if (io->kind == PYV_UNKNOWN) return pytrace_read_path(pytrace_of(run), node, io);
    if (io->kind == PYTRACE_SCHEDULE) return pytrace_read_part(pytrace_of(run), node, io);
    return py_fail_about(run, node->mark, "nothing is known of ", node->name, " here");
}

static hone_status read_method(py_run *run, const py_node *call, py_value *io) {
    if (io->kind == PYTRACE_SCHEDULE) return pytrace_read_member(pytrace_of(run), call, io);
    return py_fail_about(run, call->base->mark, "nothing is known of ", call->base->name, " here");
}

static hone_status read_call(py_run *run, const py_node *call, py_value *io) {
    if (io->kind == PYV_UNKNOWN) return pytrace_call_outside(pytrace_of(run), call, io);
    return py_fail_at(run, call->mark,
                      io->kind == PYTRACE_MAP
                          ? "a lambda is read as an index map; write a function with def"
                          : "this cannot be called");
}

static hone_status read_lambda(py_run *run, const py_node *node, py_value *out) {
    return pytrace_read_map(pytrace_of(run), node, out);
}

/* T.float32(2) * 3 is an expression of constants. */
static hone_status read_binary(py_run *run, const py_node *node, py_value *io, bool *out_took) {
    *out_took = io->kind == PYTRACE_MAP && node->items[0]->kind != PY_NAME;
    return *out_took ? pytrace_read_map(pytrace_of(run), node, io) : HONE_OK;
}

static hone_status read_truth(py_run *run, uint32_t at, const py_value *v, bool *out) {
    const pytrace *p = pytrace_of(run);
    bool is_drawn = v->kind == PYTRACE_RV && v->mark == p->epoch && v->count < p->trace->rv_count &&
                    p->trace->rv_kinds[v->count] == HONE_RV_INT;
    *out = true;
    if (!is_drawn) return HONE_OK;
    return py_fail_at(run, at,
                      "this is drawn only when the schedule is applied; what follows cannot depend "
                      "on it");
}

static const py_host host = {
    .statement = take_statement,
    .name = read_name,
    .attribute = read_attribute,
    .call = read_call,
    .method = read_method,
    .lambda = read_lambda,
    .binary = read_binary,
    .truth = read_truth,
    .has_outside = true,
    .no_arithmetic =
        "arithmetic is for whole numbers only, not for what is drawn when the schedule "
        "is applied",
};

/* ---- texts ---- */

static hone_status run_text(pytrace *p, const py_node *suite) {
    py_run *run = &p->run;
    const py_value schedule = {.kind = PYTRACE_SCHEDULE};
    HONE_TRY(py_run_begin(run));
    HONE_TRY(py_bind(run, "sch", &schedule));
    HONE_TRY(py_bind(run, "__name__", &PYV_OF_STRING("__main__")));
    HONE_TRY(py_run_suite(run, suite));
    bool has_steps = p->trace->count || run->call_count || run->last_func || p->epoch;
    if (p->program && !has_steps) {
        return py_fail_at(run, p->program->at,
                          "this is a program, and no step of a schedule follows");
    }
    bool means_func = run->last_func && !p->trace->count && !run->call_count;
    const py_value now = {.kind = PYTRACE_SCHEDULE, .mark = p->epoch};
    return means_func ? py_apply_func(run, run->last_func, &now) : HONE_OK;
}

/* scratch: for the tree, which the trace has no part of. */
static hone_status read_text(pytrace *p, hone_arena *scratch) {
    const py_node *suite;
    const py_parse_options options = {.has_headings = true, .unread = shows};
    HONE_TRY(py_parse(&p->source, &options, scratch, &suite));
    p->run = (py_run){.source = &p->source, .arena = p->arena, .host = &host, .ctx = p};
    hone_status st = run_text(p, suite);
    py_run_end(&p->run);
    return st;
}

hone_status hone_trace_parse_script(hone_arena *arena, const hone_trace_context *context,
                                    const char *text, size_t length, const char *source_name,
                                    hone_trace *out_trace) {
    hone_trace_init(out_trace, arena);
    hone_arena *scratch = hone_arena_create(1 << 14);
    if (!scratch) return HONE_ERROR(HONE_CODE_NO_MEMORY, "trace");
    pytrace p = {
        .source = {.text = text, .length = length, .name = source_name, .has_raw = true},
        .arena = arena,
        .trace = out_trace,
        .context = context,
    };
    hone_status st = read_text(&p, scratch);
    hone_arena_destroy(scratch);
    if (!st || !p.is_refused) return st;
    hone_status_free(st); /* who applies the trace will hear of it, with the place */
    return HONE_OK;
}

hone_status hone_trace_parse_python(hone_arena *arena, const char *text, size_t length,
                                    const char *source_name, hone_trace *out_trace) {
    return hone_trace_parse_script(arena, NULL, text, length, source_name, out_trace);
}
