/* ir/ops/missing_op.c - see missing_op.h. */
#include "ir/ops/missing_op.h"

#include <inttypes.h>
#include <string.h>

#include "ir/ops/graph_op.h"

enum { MOST_NAMED = 100 };

/* A function that comes from outside: it is known when the program runs. */
static bool calls_an_input(const hone_graph_func *graph, const hone_gbind *bind) {
    bool is_call = strncmp(bind->callee, "invoke_", 7) == 0 && bind->arg_count;
    return is_call && bind->args[0].kind == HONE_GARG_VALUE &&
           bind->args[0].u.value < graph->param_count;
}

static hone_status find(const hone_graph_func *graph, hone_arena *arena, hone_missing_ops *io) {
    bool *used = hone_graph_find_used(graph, arena, hone_gbind_has_no_effect);
    if (!used) return HONE_NO_MEMORY("operators");
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        const hone_gbind *bind = &graph->bindings[i];
        if (!used[i] || bind->kind != HONE_GBIND_CALL) continue;
        if (hone_graph_op_runs(bind->callee) && !calls_an_input(graph, bind)) continue;
        if (!hone_vec_push(io, (hone_missing_op){graph, bind})) return HONE_NO_MEMORY("operators");
    }
    return HONE_OK;
}

hone_status hone_missing_ops_find(const hone_graph_func *graph, hone_missing_ops *io_list) {
    hone_arena *arena = hone_arena_create(4096);
    if (!arena) return HONE_NO_MEMORY("operators");
    hone_status st = find(graph, arena, io_list);
    hone_arena_destroy(arena);
    return st;
}

static const char *name_of(const hone_missing_op *op) {
    return op->graph->name ? op->graph->name : "?";
}

void hone_missing_op_print(const hone_missing_op *op, hone_str *out) {
    hone_str_printf(out, "in '%s': operator '%s' is not implemented", name_of(op),
                    op->bind->callee);
}

hone_status hone_missing_ops_refuse(const hone_missing_ops *list) {
    if (!list->count) return HONE_OK;
    hone_str text = {0};
    const hone_missing_op *first = &list->data[0];
    if (first->bind->line)
        hone_str_printf(&text, "%" PRIu32 ":%" PRIu32 ": ", first->bind->line, first->bind->column);
    hone_missing_op_print(first, &text);
    for (size_t i = 1; i < list->count && i < MOST_NAMED; i++) {
        const hone_missing_op *op = &list->data[i];
        hone_str_printf(&text, "%s '%s' (in '%s', line %" PRIu32 ")",
                        i == 1 ? "; missing too:" : ",", op->bind->callee, name_of(op),
                        op->bind->line);
    }
    if (list->count > MOST_NAMED) hone_str_printf(&text, " and %zu more", list->count - MOST_NAMED);
    hone_status st = HONE_ERROR(HONE_CODE_UNSUPPORTED, "%s", hone_str_text(&text));
    hone_str_deinit(&text);
    return st;
}
