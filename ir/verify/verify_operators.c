/* ir/verify/verify_operators.c - operators of graph functions that nobody can run. */
#include "ir/ops/missing_op.h"
#include "ir/verify/verify_impl.h"

static hone_status report(const hone_missing_op *op, hone_findings *out) {
    hone_str said = {0};
    hone_missing_op_print(op, &said);
    const char *text = hone_arena_strdup(out->arena, hone_str_text(&said));
    hone_str_deinit(&said);
    if (!text) return HONE_ERROR(HONE_CODE_NO_MEMORY, "verification");
    verify_add(
        out, (hone_finding){.node = HONE_NO_ID, .line = op->bind->line, .column = op->bind->column},
        text);
    return HONE_OK;
}

hone_status hone_verify_operators(const hone_module *module, hone_findings *out) {
    hone_missing_ops missing = {0};
    hone_status st = HONE_OK;
    for (uint32_t i = 0; i < module->member_count && !st; i++) {
        const hone_graph_func *graph = module->members[i].graph;
        if (graph) st = hone_missing_ops_find(graph, &missing);
    }
    for (size_t i = 0; i < missing.count && !st; i++)
        st = report(&missing.data[i], out);
    hone_vec_deinit(&missing);
    return st;
}
