/* graph/passes/fusion/note_patterns.c - says of each program, as its attribute "op_pattern", how
 * its results depend on its inputs (pattern.h); what says so already stays. needs: nothing keeps:
 * everything else
 */
#include "graph/passes/fusion/pattern.h"
#include "graph/passes/graph_passes.h"

hone_status hone_pass_note_patterns(hone_module *module, const hone_graph_options *options) {
    (void)options;
    for (uint32_t i = 0; i < module->member_count; i++) {
        hone_func *func = module->members[i].func;
        if (module->members[i].kind != HONE_MEMBER_FUNC) continue;
        if (hone_attrs_find(&func->attrs, "op_pattern")) continue;
        hone_value pattern = HONE_VALUE_OF_INT(hone_func_pattern(func));
        if (!hone_attrs_with(module->arena, &func->attrs, "op_pattern", pattern, &func->attrs))
            return HONE_ERROR(HONE_CODE_NO_MEMORY, "patterns");
    }
    return HONE_OK;
}
