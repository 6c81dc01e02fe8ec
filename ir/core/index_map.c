/* ir/core/index_map.c - index maps as data: copies, other types, and what they give at a place. */
#include "ir/core/index_map.h"

#include <assert.h>

static hone_index_map *map_room(hone_arena *arena, const hone_index_map *like) {
    hone_index_map *map = hone_arena_alloc(arena, sizeof *map);
    if (map) *map = *like;
    return map;
}

static const void *bytes_of(hone_arena *arena, const void *from, size_t bytes) {
    return bytes ? hone_arena_copy(arena, from, bytes) : hone_arena_alloc(arena, 1);
}

static const hone_var_info *copy_vars(hone_arena *arena, const hone_index_map *map) {
    uint32_t count = map->param_count + map->free_count;
    hone_var_info *vars = hone_arena_alloc(arena, (count + 1) * sizeof *vars);
    for (uint32_t i = 0; i < count && vars; i++) {
        vars[i] = map->vars[i];
        vars[i].name = hone_arena_strdup(arena, map->vars[i].name);
        if (!vars[i].name) return NULL;
    }
    return vars;
}

const hone_index_map *hone_index_map_copy(hone_arena *arena, const hone_index_map *map) {
    hone_index_map *copy = map_room(arena, map);
    hone_ir ir = {.arena = arena};
    if (!copy) return NULL;
    copy->vars = copy_vars(arena, map);
    copy->frees = bytes_of(arena, map->frees, map->free_count * sizeof *map->frees);
    copy->separators =
        bytes_of(arena, map->separators, map->separator_count * sizeof *map->separators);
    const hone_expr **indices = hone_arena_alloc(arena, (map->count + 1) * sizeof *indices);
    if (!copy->vars || !copy->frees || !copy->separators || !indices) return NULL;
    for (uint32_t i = 0; i < map->count; i++) {
        indices[i] = hone_expr_copy(&ir, map->indices[i], NULL, NULL);
    }
    copy->indices = indices;
    hone_status st = hone_ir_finish(&ir);
    if (hone_status_consume(st)) return NULL;
    if (map->variadic) copy->variadic = hone_arena_strdup(arena, map->variadic);
    if (map->inverse) copy->inverse = hone_index_map_copy(arena, map->inverse);
    if ((map->variadic && !copy->variadic) || (map->inverse && !copy->inverse)) return NULL;
    return copy;
}

const hone_index_map *hone_index_map_with_frees(hone_arena *arena, const hone_index_map *map,
                                                const uint32_t *frees) {
    hone_index_map *copy = map_room(arena, map);
    if (copy) copy->frees = frees;
    return copy;
}

const hone_index_map *hone_index_map_bind_frees(hone_arena *arena, const hone_index_map *map,
                                                const int64_t *values) {
    if (!map->free_count) return map;
    hone_index_map *copy = map_room(arena, map);
    hone_ir ir = {.arena = arena};
    uint32_t var_count = map->param_count + map->free_count;
    const hone_expr **known = hone_arena_zalloc(arena, var_count * sizeof *known);
    const hone_expr **indices = hone_arena_alloc(arena, (map->count + 1) * sizeof *indices);
    if (!copy || !known || !indices) return NULL;
    for (uint32_t i = map->param_count; i < var_count; i++) {
        known[i] = hone_expr_int(&ir, map->vars[i].dtype, values[i - map->param_count]);
    }
    for (uint32_t i = 0; i < map->count; i++) {
        indices[i] = hone_expr_substitute(&ir, map->indices[i], known, var_count);
    }
    hone_status st = hone_ir_finish(&ir);
    if (hone_status_consume(st)) return NULL;
    copy->indices = indices;
    copy->free_count = 0;
    return copy;
}

const hone_index_map *hone_index_map_of_constant(hone_arena *arena, uint32_t param_count,
                                                 const hone_expr *value) {
    hone_index_map *map = hone_arena_zalloc(arena, sizeof *map);
    hone_var_info *vars = hone_arena_zalloc(arena, (param_count + 1) * sizeof *vars);
    const hone_expr **indices = hone_arena_alloc(arena, sizeof *indices);
    if (!map || !vars || !indices) return NULL;
    for (uint32_t i = 0; i < param_count; i++) {
        vars[i].dtype = HONE_DTYPE_I32;
        vars[i].name = hone_arena_printf(arena, "indices_%u", i);
        if (!vars[i].name) return NULL;
    }
    indices[0] = value;
    map->param_count = param_count;
    map->vars = vars;
    map->count = 1;
    map->indices = indices;
    return map;
}

/* ---- other index types ---- */

static bool is_index_dtype(hone_dtype dtype) {
    return hone_dtype_equal(dtype, HONE_DTYPE_I32) || hone_dtype_equal(dtype, HONE_DTYPE_I64);
}

/* Children are converted; the node itself takes its type from them. */
static const hone_expr *convert(hone_ir *ir, const hone_expr *e, hone_dtype dtype);

static const hone_expr *convert_call(hone_ir *ir, const hone_expr *e,
                                     const hone_expr *const *args) {
    uint32_t like = hone_intrin_result_rule((hone_intrin)e->op) == HONE_INTRIN_RESULT_SECOND;
    hone_dtype result = is_index_dtype(e->dtype) ? args[like]->dtype : e->dtype;
    return hone_expr_call(ir, result, (hone_intrin)e->op, e->count, args);
}

static const hone_expr *convert_node(hone_ir *ir, const hone_expr *e, const hone_expr *const *args,
                                     hone_dtype dtype) {
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_BINARY:
        return hone_expr_binary(ir, (hone_op)e->op, args[0], args[1]);
    case HONE_EXPR_SELECT:
        return hone_expr_select(ir, args[0], args[1], args[2]);
    case HONE_EXPR_CAST:
        if (!is_index_dtype(e->dtype)) return hone_expr_cast(ir, e->dtype, args[0]);
        return hone_dtype_equal(args[0]->dtype, dtype) ? args[0]
                                                       : hone_expr_cast(ir, dtype, args[0]);
    case HONE_EXPR_CALL:
        return convert_call(ir, e, args);
    default:
        return hone_expr_with_args(ir, e, args);
    }
}

static const hone_expr *convert(hone_ir *ir, const hone_expr *e, hone_dtype dtype) {
    if (e->kind == HONE_EXPR_VAR) return hone_expr_var(ir, dtype, e->u.var);
    if (e->kind == HONE_EXPR_INT && is_index_dtype(e->dtype)) {
        return hone_expr_int(ir, dtype, e->u.i);
    }
    if (e->count == 0) return e;
    const hone_expr **args = hone_arena_alloc(ir->arena, e->count * sizeof *args);
    if (!args) return hone_ir_fail(ir, HONE_ERROR(HONE_CODE_NO_MEMORY, "index map"));
    for (uint32_t i = 0; i < e->count; i++) {
        args[i] = convert(ir, e->args[i], dtype);
        if (!args[i]) return NULL;
    }
    return convert_node(ir, e, args, dtype);
}

/* Bodies that are no indices (the value of padding) keep what is no index in them. */
const hone_index_map *hone_index_map_with_dtype(hone_arena *arena, const hone_index_map *map,
                                                hone_dtype dtype) {
    uint32_t var_count = map->param_count + map->free_count;
    hone_index_map *copy = map_room(arena, map);
    hone_ir ir = {.arena = arena};
    hone_var_info *vars = hone_arena_alloc(arena, (var_count + 1) * sizeof *vars);
    const hone_expr **indices = hone_arena_alloc(arena, (map->count + 1) * sizeof *indices);
    if (!copy || !vars || !indices) return NULL;
    for (uint32_t i = 0; i < var_count; i++) {
        vars[i] = map->vars[i];
        vars[i].dtype = dtype;
    }
    for (uint32_t i = 0; i < map->count; i++)
        indices[i] = convert(&ir, map->indices[i], dtype);
    hone_status st = hone_ir_finish(&ir);
    if (hone_status_consume(st)) return NULL;
    copy->vars = vars;
    copy->indices = indices;
    if (map->inverse) copy->inverse = hone_index_map_with_dtype(arena, map->inverse, dtype);
    return map->inverse && !copy->inverse ? NULL : copy;
}

const hone_index_map *hone_index_map_with_constants(hone_arena *arena, const hone_index_map *map,
                                                    const hone_index_map *like) {
    hone_index_map *copy = map_room(arena, map);
    hone_ir ir = {.arena = arena};
    const hone_expr **indices = hone_arena_alloc(arena, (map->count + 1) * sizeof *indices);
    assert(map->count == like->count);
    if (!copy || !indices) return NULL;
    for (uint32_t i = 0; i < map->count; i++) {
        const hone_expr *e = like->indices[i];
        bool is_constant = e->kind == HONE_EXPR_INT && is_index_dtype(e->dtype);
        indices[i] = is_constant ? hone_expr_int(&ir, e->dtype, e->u.i) : map->indices[i];
    }
    hone_status st = hone_ir_finish(&ir);
    if (hone_status_consume(st)) return NULL;
    copy->indices = indices;
    return copy;
}

/* ---- shifting ---- */

const hone_index_map *hone_index_map_shift(hone_arena *arena, const hone_index_map *map,
                                           const int64_t *offsets) {
    hone_ir ir = {.arena = arena};
    hone_index_map *copy = map_room(arena, map);
    const hone_expr **args = hone_arena_alloc(arena, (map->param_count + 1) * sizeof *args);
    const hone_expr **indices = hone_arena_alloc(arena, (map->count + 1) * sizeof *indices);
    if (!copy || !args || !indices) return NULL;
    for (uint32_t i = 0; i < map->param_count; i++) {
        hone_dtype dtype = map->vars[i].dtype;
        args[i] = hone_expr_var(&ir, dtype, i);
        if (offsets[i]) {
            args[i] = hone_expr_sub(&ir, args[i], hone_expr_int(&ir, dtype, offsets[i]));
        }
    }
    hone_index_map_apply(&ir, map, args, indices);
    if (hone_status_consume(hone_ir_finish(&ir))) return NULL;
    copy->indices = indices;
    copy->inverse = NULL;
    return copy;
}

/* ---- using ---- */

void hone_index_map_apply(hone_ir *ir, const hone_index_map *map, const hone_expr *const *args,
                          const hone_expr **out) {
    for (uint32_t i = 0; i < map->count; i++) {
        out[i] = hone_expr_substitute(ir, map->indices[i], args, map->param_count);
    }
}
