/* graph/module/unused.c - drops bindings that nobody uses. */
#include "graph/module/unused.h"

hone_status hone_graph_drop_unused(hone_graph_func *graph, bool (*may_go)(const hone_gbind *bind)) {
    const bool *keep = hone_graph_find_used(graph, graph->arena, may_go);
    if (!keep) return HONE_ERROR(HONE_CODE_NO_MEMORY, "graph");
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        if (keep[i]) graph->bindings[count++] = graph->bindings[i];
    }
    graph->bind_count = count;
    return HONE_OK;
}
