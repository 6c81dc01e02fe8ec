/* graph/module/unused.c - drops bindings that nobody uses. */
#include "graph/module/unused.h"

#include "support/core/arena.h"

static void mark(bool *used, const hone_garg *arg) {
    if (arg->kind == HONE_GARG_VALUE) used[arg->u.value] = true;
    if (arg->kind == HONE_GARG_TUPLE) {
        for (uint32_t i = 0; i < arg->count; i++)
            mark(used, &arg->u.items[i]);
    }
}

hone_status hone_graph_drop_unused(hone_graph_func *graph, bool (*may_go)(const hone_gbind *bind)) {
    bool *used = hone_arena_zalloc(graph->arena, graph->value_count + 1);
    bool *keep = hone_arena_zalloc(graph->arena, graph->bind_count + 1);
    if (!used || !keep) return HONE_ERROR(HONE_CODE_NO_MEMORY, "graph");
    mark(used, &graph->result);
    for (uint32_t i = graph->bind_count; i-- > 0;) {
        const hone_gbind *bind = &graph->bindings[i];
        keep[i] = used[bind->value] || !may_go(bind);
        for (uint32_t a = 0; keep[i] && a < bind->arg_count; a++)
            mark(used, &bind->args[a]);
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        if (keep[i]) graph->bindings[count++] = graph->bindings[i];
    }
    graph->bind_count = count;
    return HONE_OK;
}
