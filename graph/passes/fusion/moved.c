/* graph/passes/fusion/moved.c - see moved.h. */
#include "graph/passes/fusion/moved.h"

#include <string.h>

#include "ir/ops/graph_infer.h"
#include "support/core/attributes.h"

enum { MOST_DEPTH = 16 };

static bool only_moves(const char *op) {
    static const char *const names[] = {"reshape", "permute_dims",  "broadcast_to", "expand_dims",
                                        "squeeze", "strided_slice", "concat"};
    for (size_t i = 0; i < HONE_COUNT(names); i++) {
        if (strcmp(op, names[i]) == 0) return true;
    }
    return false;
}

static hone_dtype type_of(hone_rewrite *rw, const hone_garg *old) {
    const hone_sinfo *info = hone_garg_sinfo(rw->module, rw->old, old, rw->module->arena);
    return info && info->kind == HONE_SINFO_TENSOR ? info->dtype : HONE_DTYPE_VOID;
}

static const hone_gbind *call_of(hone_rewrite *rw, const hone_garg *old) {
    const hone_gbind *def = old->kind == HONE_GARG_VALUE ? rw->defs[old->u.value] : NULL;
    return def && def->kind == HONE_GBIND_CALL && def->arg_count > 0 ? def : NULL;
}

/* What all items are; void where they differ. */
static hone_dtype moved_type(hone_rewrite *rw, const hone_garg *old, unsigned depth) {
    hone_dtype type = HONE_DTYPE_VOID;
    if (old->kind == HONE_GARG_TUPLE) {
        for (uint32_t i = 0; i < old->count; i++) {
            hone_dtype item = moved_type(rw, &old->u.items[i], depth);
            if (i > 0 && !hone_dtype_equal(item, type)) return HONE_DTYPE_VOID;
            type = item;
        }
        return type;
    }
    const hone_gbind *call = call_of(rw, old);
    if (!call || depth == MOST_DEPTH || !hone_dtype_equal(type_of(rw, old), HONE_DTYPE_F32))
        return HONE_DTYPE_VOID;
    if (strcmp(call->callee, "astype") == 0) {
        type = type_of(rw, &call->args[0]);
        return hone_dtype_is_short_float(type) ? type : HONE_DTYPE_VOID;
    }
    return only_moves(call->callee) ? moved_type(rw, &call->args[0], depth + 1) : HONE_DTYPE_VOID;
}

hone_dtype hone_moved_type(hone_rewrite *rw, const hone_garg *old) {
    return moved_type(rw, old, 0);
}

static hone_status move_items(hone_rewrite *rw, const hone_garg *old, hone_garg *out) {
    hone_garg *items = hone_arena_alloc(rw->module->arena, old->count * sizeof *items);
    if (!items) return HONE_NO_MEMORY("moved values");
    for (uint32_t i = 0; i < old->count; i++)
        HONE_TRY(hone_move_narrow(rw, &old->u.items[i], &items[i]));
    *out = *old;
    out->u.items = items;
    return HONE_OK;
}

hone_status hone_move_narrow(hone_rewrite *rw, const hone_garg *old, hone_garg *out) {
    if (old->kind == HONE_GARG_TUPLE) return move_items(rw, old, out);
    const hone_gbind *call = call_of(rw, old);
    if (strcmp(call->callee, "astype") == 0) return hone_rewrite_arg(rw, &call->args[0], out);
    hone_garg *args = hone_arena_alloc(rw->module->arena, call->arg_count * sizeof *args);
    if (!args) return HONE_NO_MEMORY("moved values");
    HONE_TRY(hone_move_narrow(rw, &call->args[0], &args[0]));
    for (uint32_t i = 1; i < call->arg_count; i++)
        HONE_TRY(hone_rewrite_arg(rw, &call->args[i], &args[i]));
    return hone_rewrite_call(rw, call->callee, call->arg_count, args, call->attrs, out);
}
