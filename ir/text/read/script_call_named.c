/* ir/text/read/script_call_named.c - calls of operations that are known by name only
 * (named_ops.def). */
#include "ir/ops/named_op.h"
#include "ir/text/read/script_impl.h"

#include <string.h>

/* ptx_commit_group(), ptx_wait_group(n) are words of T.ptx.cp in 0.27. */
static const struct {
    const char *name, *word;
} groups[] = {
    {"ptx_commit_group",          "commit_group"},
    {"ptx_wait_group",            "wait_group"  },
    {"ptx.cp_async.commit_group", "commit_group"},
    {"ptx.cp_async.wait_group",   "wait_group"  },
};

static bool says_dtype(const py_value *v) {
    hone_dtype ignored;
    if (v->kind == PYV_STRING) return script_is_dtype_name(v->u.s, &ignored);
    return v->kind == SCRIPT_DTYPE || v->kind == SCRIPT_PATH || v->kind == SCRIPT_NEWVAR;
}

/* The dtype among the arguments or as dtype=; [first, end) are the others. */
static bool find_dtype(script_parser *p, const script_call *call, const hone_named_op *op,
                       uint32_t *first, uint32_t *end, bool *out_said, hone_dtype *out) {
    const py_value *v = script_arg(call, UINT32_MAX, "dtype");
    if (!v) v = script_arg(call, UINT32_MAX, "ret_ty");
    *first = 0;
    *end = call->count;
    bool may_lead = op->place != HONE_NAMED_DTYPE_NONE && op->place != HONE_NAMED_DTYPE_LAST;
    if (!v && call->count && may_lead && says_dtype(&call->args[0])) {
        v = &call->args[(*first)++];
    } else if (!v && call->count && op->place == HONE_NAMED_DTYPE_LAST &&
               says_dtype(&call->args[call->count - 1])) {
        v = &call->args[--*end];
    }
    *out_said = v != NULL && op->place != HONE_NAMED_DTYPE_IGNORED;
    bool must = op->place == HONE_NAMED_DTYPE_FIRST || op->place == HONE_NAMED_DTYPE_LAST;
    if (!v && must) {
        return script_fail(p, call->at, "%s: the dtype is missing", call->callee);
    }
    return !v || script_to_dtype(p, v, out);
}

static bool takes_words(const hone_named_op *op) {
    return strcmp(op->name, "call_ffi_kernel") == 0;
}

/* launch_params=["blockIdx.x"]: an argument that is a call of "launch_params=" with the strings. */
static bool word_list(script_parser *p, const py_word *word, const hone_expr **out) {
    const py_value *items = NULL;
    uint32_t count = 0;
    script_items(&word->value, &items, &count);
    const hone_expr **args = script_alloc(p, p->scratch, (size_t)count + 1, sizeof *args);
    const char *name = hone_arena_printf(p->scratch, "%s=", word->name);
    if (!args || !name) return script_no_memory(p);
    args[0] = hone_expr_string(&p->ir, name);
    for (uint32_t i = 0; i < count; i++) {
        const char *text = NULL;
        if (!script_to_string(p, &items[i], &text)) return false;
        args[i + 1] = hone_expr_string(&p->ir, text);
    }
    *out = hone_expr_call(&p->ir, HONE_DTYPE_HANDLE, HONE_INTRIN_NAMED, count + 1, args);
    return *out || script_check_ir(p, word->value.at);
}

static bool check_keywords(script_parser *p, const script_call *call, const hone_named_op *op) {
    for (uint32_t i = 0; i < call->keyword_count; i++) {
        const char *name = call->keywords[i].name;
        if (strcmp(name, "dtype") == 0) continue;
        bool is_word = strcmp(name, "ret_ty") == 0 || strcmp(name, "launch_params") == 0;
        if (is_word && takes_words(op)) continue;
        return script_fail(p, call->keywords[i].value.at, "%s takes no argument '%s' here",
                           call->callee, call->keywords[i].name);
    }
    return true;
}

/* T.ptx_wait_group(n) as T.ptx.cp(n, "async", "wait_group", ""). */
static bool call_group(script_parser *p, const script_call *call, const char *word, py_value *out,
                       bool *out_known) {
    const char *const words[] = {"async", word, ""};
    py_value *args = script_alloc(p, p->scratch, call->count + HONE_COUNT(words), sizeof *args);
    if (!args) return false;
    if (call->count) memcpy(args, call->args, call->count * sizeof *args);
    for (size_t i = 0; i < HONE_COUNT(words); i++) {
        args[call->count + i] = (py_value){.kind = PYV_STRING, .at = call->at, .u.s = words[i]};
    }
    script_call cp = *call;
    cp.callee = "T.ptx.cp";
    cp.count += (uint32_t)HONE_COUNT(words);
    cp.args = args;
    return script_call_named(p, &cp, out, out_known);
}

bool script_call_named(script_parser *p, const script_call *call, py_value *out, bool *out_known) {
    const char *name = hone_named_op_now(call->callee + 2);
    for (size_t i = 0; i < HONE_COUNT(groups); i++) {
        if (strcmp(groups[i].name, name) != 0) continue;
        return call_group(p, call, groups[i].word, out, out_known);
    }
    const hone_named_op *op = hone_named_op_find(name);
    uint32_t first = 0, end = 0;
    bool said = false;
    hone_dtype dtype = HONE_DTYPE_VOID;
    *out_known = op != NULL;
    if (!op) return true;
    if (!check_keywords(p, call, op) || !find_dtype(p, call, op, &first, &end, &said, &dtype)) {
        return false;
    }
    uint32_t count = end - first;
    const hone_expr **args =
        script_alloc(p, p->scratch, (size_t)count + call->keyword_count + 1, sizeof *args);
    if (!args) return false;
    args[0] = hone_expr_string(&p->ir, name);
    for (uint32_t i = 0; i < count; i++) {
        if (!script_to_argument(p, &call->args[first + i], &args[i + 1])) return false;
    }
    for (uint32_t i = 0; i < call->keyword_count; i++) {
        if (strcmp(call->keywords[i].name, "launch_params") != 0) continue;
        if (!word_list(p, &call->keywords[i], &args[++count])) return false;
    }
    if (!said) dtype = hone_named_op_dtype(op, count, args + 1);
    *out = SCRIPT_VALUE_EXPR(hone_expr_call(&p->ir, dtype, HONE_INTRIN_NAMED, count + 1, args));
    return script_check_ir(p, call->at);
}

/* ---- functions of the module ---- */

/* What follows `->` of the function, void where nothing does. */
static hone_dtype result_of(const script_parser *p, const char *name) {
    hone_dtype dtype = HONE_DTYPE_VOID;
    uint32_t i = 0;
    while (i < p->global_count && strcmp(p->globals[i], name) != 0)
        i++;
    const py_node *def = i < p->global_count ? p->defs[i] : NULL;
    const char *word = def ? script_word_of_t(def->items[def->count - 2]) : NULL;
    return word && script_is_dtype_word(word, &dtype) ? dtype : HONE_DTYPE_VOID;
}

bool script_call_function(script_parser *p, const char *name, const script_call *call,
                          py_value *out) {
    const hone_expr **args = script_alloc(p, p->scratch, call->count + 1, sizeof *args);
    const char *full = hone_arena_printf(p->scratch, HONE_NAMED_FUNCTION "%s", name);
    if (!args || !full) return script_no_memory(p);
    if (call->keyword_count) {
        return script_fail(p, call->keywords[0].value.at, "'%s' is called without names", name);
    }
    args[0] = hone_expr_string(&p->ir, full);
    for (uint32_t i = 0; i < call->count; i++) {
        if (!script_to_argument(p, &call->args[i], &args[i + 1])) return false;
    }
    *out = SCRIPT_VALUE_EXPR(
        hone_expr_call(&p->ir, result_of(p, name), HONE_INTRIN_NAMED, call->count + 1, args));
    return script_check_ir(p, call->at);
}
