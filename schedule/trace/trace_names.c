/* schedule/trace/trace_names.c - names of blocks in traces. A trace finds its blocks by name, the
 * identity of a program knows no names: one tuned under other names is given those of the program
 * at hand. */
#include <string.h>

#include "ir/core/func.h"
#include "schedule/trace/trace.h"

/* The name of the block that stands where `from` has the first one of this name; NULL = none. */
static const char *name_in(const hone_func *from, const hone_func *to, const char *name) {
    hone_node_id a = 0, b = 0;
    do {
        const hone_node *was = hone_func_node(from, a), *is = hone_func_node(to, b);
        if (was->kind == HONE_NODE_BLOCK && is->kind == HONE_NODE_BLOCK &&
            strcmp(was->u.block.block->name, name) == 0) {
            return is->u.block.block->name;
        }
        a = hone_tree_next(from, 0, a);
        b = hone_tree_next(to, 0, b);
    } while (a != HONE_NO_ID && b != HONE_NO_ID);
    return NULL;
}

hone_status hone_trace_rename_blocks(hone_arena *arena, const hone_func *from, const hone_func *to,
                                     hone_trace *trace) {
    for (uint32_t i = 0; i < trace->count; i++) {
        hone_inst *inst = &trace->insts[i];
        if (inst->kind != HONE_INST_GET_BLOCK || inst->attr_count == 0 ||
            inst->attrs[0].kind != HONE_VALUE_STRING) {
            continue;
        }
        /* one that an earlier step made has no place in either program: it stays */
        const char *name = name_in(from, to, inst->attrs[0].u.s);
        if (!name) continue;
        hone_value *attrs =
            hone_arena_copy(arena, inst->attrs, inst->attr_count * sizeof *inst->attrs);
        if (!attrs) return HONE_ERROR(HONE_CODE_NO_MEMORY, "trace");
        attrs[0] = HONE_VALUE_OF_STRING(name);
        inst->attrs = attrs;
    }
    return HONE_OK;
}
