/* graph/passes/prune.c - drops pure bindings without users, private or made kernels that nobody
 * calls, and constants that nobody reads. Works in place; value ids stay.
 * needs: nothing
 * keeps: everything that has a use; functions of the input that no graph calls stay unless they
 *        were called before legalisation made copies of them (they carry "op_pattern")
 */
#include <string.h>

#include "graph/module/unused.h"
#include "graph/passes/graph_passes.h"
#include "ir/core/module.h"

/* External functions may do more than fill their output. */
static bool is_pure(const hone_gbind *bind) {
    return bind->kind != HONE_GBIND_CALL_PACKED && bind->kind != HONE_GBIND_MATCH_CAST;
}

/* ---- kernels ---- */

static bool is_called(const hone_module *module, const char *name) {
    for (uint32_t m = 0; m < module->member_count; m++) {
        const hone_graph_func *graph = module->members[m].graph;
        for (uint32_t i = 0; graph && i < graph->bind_count; i++) {
            const hone_gbind *bind = &graph->bindings[i];
            bool calls = bind->kind == HONE_GBIND_CALL_TIR || bind->kind == HONE_GBIND_CALL_FUNC ||
                         bind->kind == HONE_GBIND_CALL_DPS;
            if (calls && bind->callee && strcmp(bind->callee, name) == 0) return true;
        }
    }
    return false;
}

static void prune_kernels(hone_module *module) {
    if (!hone_module_has_graph(module)) return;
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->member_count; i++) {
        const hone_member *member = &module->members[i];
        if (member->kind == HONE_MEMBER_FUNC && !is_called(module, member->name)) continue;
        module->members[count++] = *member;
    }
    hone_module_cut(module, count);
}

/* ---- constants ---- */

static void renumber(hone_arena *arena, hone_garg *arg, uint32_t *numbers, uint32_t *next,
                     bool *out_ok) {
    if (arg->kind == HONE_GARG_CONSTANT) {
        if (numbers[arg->u.constant] == HONE_NO_ID) numbers[arg->u.constant] = (*next)++;
        arg->u.constant = numbers[arg->u.constant];
    } else if (arg->kind == HONE_GARG_TUPLE && arg->count) {
        hone_garg *items = hone_arena_copy(arena, arg->u.items, arg->count * sizeof *items);
        if (!items) {
            *out_ok = false;
            return;
        }
        for (uint32_t i = 0; i < arg->count; i++)
            renumber(arena, &items[i], numbers, next, out_ok);
        arg->u.items = items;
    }
}

static hone_status prune_constants(hone_module *module) {
    uint32_t next = 0;
    bool ok = true;
    uint32_t *numbers =
        hone_arena_alloc(module->arena, (module->constant_count + 1) * sizeof *numbers);
    hone_tensor **kept =
        hone_arena_zalloc(module->arena, (module->constant_count + 1) * sizeof *kept);
    if (!numbers || !kept) return HONE_ERROR(HONE_CODE_NO_MEMORY, "constants");
    for (uint32_t i = 0; i < module->constant_count; i++)
        numbers[i] = HONE_NO_ID;
    for (uint32_t m = 0; m < module->member_count; m++) {
        hone_graph_func *graph = module->members[m].graph;
        for (uint32_t i = 0; graph && i < graph->bind_count; i++) {
            hone_gbind *bind = &graph->bindings[i];
            if (!bind->arg_count) continue;
            hone_garg *args =
                hone_arena_copy(module->arena, bind->args, bind->arg_count * sizeof *args);
            if (!args) return HONE_ERROR(HONE_CODE_NO_MEMORY, "constants");
            for (uint32_t a = 0; a < bind->arg_count; a++) {
                renumber(module->arena, &args[a], numbers, &next, &ok);
            }
            bind->args = args;
        }
        if (graph) renumber(module->arena, &graph->result, numbers, &next, &ok);
    }
    if (!ok) return HONE_ERROR(HONE_CODE_NO_MEMORY, "constants");
    for (uint32_t i = 0; i < module->constant_count; i++) {
        if (numbers[i] == HONE_NO_ID)
            hone_tensor_destroy(module->constants[i]);
        else
            kept[numbers[i]] = module->constants[i];
    }
    module->constants = kept;
    module->constant_capacity = module->constant_count + 1;
    module->constant_count = next;
    return HONE_OK;
}

hone_status hone_pass_prune(hone_module *module, const hone_graph_options *options) {
    (void)options;
    for (uint32_t i = 0; i < module->member_count; i++) {
        if (module->members[i].kind != HONE_MEMBER_GRAPH) continue;
        HONE_TRY(hone_graph_drop_unused(module->members[i].graph, is_pure));
    }
    prune_kernels(module);
    return hone_module_has_graph(module) ? prune_constants(module) : HONE_OK;
}
