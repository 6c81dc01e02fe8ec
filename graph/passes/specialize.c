/* graph/passes/specialize.c - a call of a symbolic PrimFunc with static shapes gets a static copy
 * of it.
 * needs: infer
 * keeps: everything else; the symbolic kernel goes when nothing calls it (prune)
 */
#include "graph/passes/specialize.h"

#include "graph/module/rewrite.h"
#include "graph/passes/graph_passes.h"
#include "ir/core/fold.h"
#include "ir/identity/structural.h"
#include "ir/ops/graph_op.h"
#include "support/data/map.h"

/* ---- substitution ---- */

typedef struct size_map {
    const hone_expr *const *values;
    uint32_t count;
} size_map;

static const hone_expr *replace(void *ctx, hone_ir *ir, const hone_expr *e) {
    const size_map *map = ctx;
    if (e->kind == HONE_EXPR_VAR && e->u.var < map->count && map->values[e->u.var]) {
        const hone_expr *value = map->values[e->u.var];
        return hone_expr_is_int(value) ? hone_expr_int(ir, e->dtype, value->u.i)
                                       : hone_expr_cast(ir, e->dtype, value);
    }
    int64_t result;
    if (e->kind == HONE_EXPR_BINARY && hone_expr_is_int(e->args[0]) &&
        hone_expr_is_int(e->args[1]) && !hone_dtype_is_bool(e->dtype) &&
        hone_fold_ints((hone_op)e->op, e->args[0]->u.i, e->args[1]->u.i, &result)) {
        return hone_expr_int(ir, e->dtype, result);
    }
    if (e->kind == HONE_EXPR_CAST && hone_expr_is_int(e->args[0]) && hone_dtype_is_int(e->dtype)) {
        return hone_expr_int(ir, e->dtype, e->args[0]->u.i);
    }
    return e;
}

const hone_expr *hone_sizes_substitute(hone_ir *ir, const hone_expr *e,
                                       const hone_expr *const *values, uint32_t count) {
    size_map map = {values, count};
    return e ? hone_expr_transform(ir, e, replace, &map) : NULL;
}

static const hone_expr *const *substitute_list(hone_ir *ir, const size_map *map, uint32_t count,
                                               const hone_expr *const *list) {
    if (!list) return NULL;
    const hone_expr **copy = hone_arena_alloc(ir->arena, (count + 1) * sizeof *copy);
    for (uint32_t i = 0; copy && i < count; i++) {
        copy[i] = hone_sizes_substitute(ir, list[i], map->values, map->count);
    }
    return copy;
}

hone_status hone_func_bind_sizes(hone_func *func, const hone_expr *const *values) {
    size_map map = {values, func->var_count};
    hone_ir ir = {.arena = func->arena};
    for (uint32_t i = 0; i < func->buffer_count; i++) {
        hone_buffer_info *buffer = &func->buffers[i];
        buffer->shape = substitute_list(&ir, &map, buffer->rank, buffer->shape);
        buffer->strides = substitute_list(&ir, &map, buffer->rank, buffer->strides);
        buffer->elem_offset =
            hone_sizes_substitute(&ir, buffer->elem_offset, map.values, map.count);
    }
    HONE_TRY(hone_ir_finish(&ir));
    return hone_tree_transform(func, 0, replace, &map, true);
}

bool hone_func_is_symbolic(const hone_func *func) {
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (func->params[i].buffer == HONE_NO_ID) continue;
        const hone_buffer_info *buffer = hone_func_buffer(func, func->params[i].buffer);
        for (uint32_t d = 0; d < buffer->rank; d++) {
            if (!hone_expr_is_int(buffer->shape[d])) return true;
        }
    }
    return false;
}

/* ---- the pass ---- */

/* Matches a parameter's shape with an argument's; false when they cannot be matched. */
static bool match_shape(const hone_func *func, hone_buffer id, const hone_sinfo *info,
                        const hone_expr **values) {
    const hone_buffer_info *buffer = hone_func_buffer(func, id);
    if (!info || info->kind != HONE_SINFO_TENSOR || info->rank != (int32_t)buffer->rank)
        return false;
    for (uint32_t d = 0; d < buffer->rank; d++) {
        if (!hone_expr_is_int(info->shape[d])) return false;
        if (buffer->shape[d]->kind != HONE_EXPR_VAR) continue;
        hone_var var = buffer->shape[d]->u.var;
        if (values[var] && values[var]->u.i != info->shape[d]->u.i) return false;
        values[var] = info->shape[d];
    }
    return true;
}

/* Trailing scalar parameters take the call's symbolic arguments. */
static bool match_scalars(const hone_func *func, const hone_gbind *bind, const hone_expr **values,
                          uint32_t *out_buffers) {
    uint32_t scalars = 0;
    *out_buffers = 0;
    for (uint32_t i = 0; i < func->param_count; i++) {
        const hone_param *param = &func->params[i];
        if (param->buffer != HONE_NO_ID) {
            ++*out_buffers;
            continue;
        }
        if (scalars >= bind->symbolic_count) return false;
        const hone_expr *value = bind->symbolic[scalars++];
        if (!hone_expr_is_int(value)) return false;
        values[param->var] = value;
    }
    return scalars == bind->symbolic_count;
}

static bool match_call(hone_rewrite *rw, const hone_func *func, const hone_gbind *bind,
                       const hone_expr **values) {
    uint32_t buffers, at = 0;
    if (!match_scalars(func, bind, values, &buffers)) return false;
    const hone_sinfo *out = rw->old->values[bind->value].sinfo;
    uint32_t outputs = out && out->kind == HONE_SINFO_TUPLE ? out->field_count : 1;
    if (!out || bind->arg_count + outputs != buffers) return false;
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (func->params[i].buffer == HONE_NO_ID) continue;
        const hone_sinfo *info;
        if (at < bind->arg_count) {
            info = hone_garg_sinfo(rw->module, rw->old, &bind->args[at], rw->module->arena);
        } else {
            info = out->kind == HONE_SINFO_TUPLE ? out->fields[at - bind->arg_count] : out;
        }
        if (!match_shape(func, func->params[i].buffer, info, values)) return false;
        at++;
    }
    return true;
}

/* The static copy: bound scalars are no parameters any more. */
static hone_status make_static(hone_rewrite *rw, const hone_func *func,
                               const hone_expr *const *values, hone_func **out) {
    const char *name;
    HONE_TRY(hone_module_fresh_name(rw->module, func->name, &name));
    *out = hone_func_copy_deep(rw->module->arena, func);
    if (!*out) return HONE_ERROR(HONE_CODE_NO_MEMORY, "kernel");
    (*out)->name = name;
    HONE_TRY(hone_func_bind_sizes(*out, values));
    hone_param *params =
        hone_arena_zalloc(rw->module->arena, (func->param_count + 1) * sizeof *params);
    if (!params) return HONE_ERROR(HONE_CODE_NO_MEMORY, "kernel");
    uint32_t count = 0;
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (func->params[i].buffer != HONE_NO_ID) params[count++] = (*out)->params[i];
    }
    (*out)->params = params;
    (*out)->param_count = count;
    return HONE_OK;
}

static hone_status specialize_call(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    if (bind->kind != HONE_GBIND_CALL_TIR) return HONE_OK;
    const hone_member *member = hone_module_find(rw->module, bind->callee);
    if (!member || member->kind != HONE_MEMBER_FUNC) return HONE_OK;
    const hone_func *func = member->func;
    if (!hone_func_is_symbolic(func) && bind->symbolic_count == 0) return HONE_OK;
    const hone_expr **values =
        hone_arena_zalloc(rw->module->arena, (func->var_count + 1) * sizeof *values);
    if (!values) return HONE_ERROR(HONE_CODE_NO_MEMORY, "kernel");
    if (!match_call(rw, func, bind, values)) return HONE_OK;
    hone_func *special = NULL;
    HONE_TRY(make_static(rw, func, values, &special));
    uint64_t known;
    hone_hash128 hash = hone_func_hash(special);
    const char *name = special->name;
    if (hone_map128_find(rw->ctx, hash, &known)) {
        name = rw->module->members[known].name;
    } else {
        if (!hone_map128_put(rw->ctx, hash, rw->module->member_count)) {
            return HONE_ERROR(HONE_CODE_NO_MEMORY, "kernel");
        }
        HONE_TRY(hone_module_add_func(rw->module, special));
    }
    const hone_garg *args;
    hone_garg out;
    HONE_TRY(hone_rewrite_args(rw, bind, &args));
    HONE_TRY(hone_rewrite_call_tir(rw, name, bind->arg_count, args,
                                   rw->old->values[bind->value].sinfo, &out));
    hone_rewrite_set(rw, bind->value, out);
    *out_done = true;
    return HONE_OK;
}

hone_status hone_pass_specialize(hone_module *module, const hone_graph_options *options) {
    (void)options;
    hone_map128 known = {0};
    hone_status st = hone_rewrite_module(module, specialize_call, &known);
    hone_map128_deinit(&known);
    return st;
}
