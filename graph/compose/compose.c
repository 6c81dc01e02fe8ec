/* graph/compose/compose.c - see compose.h. */
#include "graph/compose/compose.h"

#include <string.h>

#include "graph/compose/compose_impl.h"

static const hone_composer *find(hone_rewrite *rw, const hone_gbind *bind) {
    const hone_composer *const tables[] = {
        hone_compose_nodes,  hone_compose_quants,  hone_compose_norms,
        hone_compose_moves,  hone_compose_indices, hone_compose_layouts,
        hone_compose_shapes, hone_compose_grads,   hone_compose_detectors};
    for (size_t t = 0; t < HONE_COUNT(tables); t++) {
        for (const hone_composer *row = tables[t]; row->op; row++) {
            if (strcmp(row->op, bind->callee) == 0) return row;
        }
    }
    const hone_composer *slice = hone_compose_slice_of(rw, bind);
    if (!slice) slice = hone_compose_split_of(rw, bind);
    return slice ? slice : hone_compose_order_of(bind);
}

/* ---- what the call says ---- */

double compose_number_of(const hone_value *v, double fallback) {
    if (!v) return fallback;
    if (v->kind == HONE_VALUE_FLOAT) return v->u.f;
    bool is_int = v->kind == HONE_VALUE_INT || v->kind == HONE_VALUE_BOOL;
    if (is_int) return (double)v->u.i;
    if (v->kind != HONE_VALUE_EXPR) return fallback;
    if (v->u.expr->kind == HONE_EXPR_FLOAT) return v->u.expr->u.f;
    return v->u.expr->kind == HONE_EXPR_INT ? (double)v->u.expr->u.i : fallback;
}

double compose_number(const hone_gbind *bind, const char *key, double fallback) {
    return compose_number_of(hone_attrs_find(&bind->attrs, key), fallback);
}

bool compose_flag(const hone_gbind *bind, uint32_t arg, const char *key, bool fallback) {
    bool is_given = arg < bind->arg_count && bind->args[arg].kind == HONE_GARG_PRIM;
    if (is_given) return hone_expr_const(bind->args[arg].u.expr) != 0;
    return hone_attrs_int(&bind->attrs, key, fallback) != 0;
}

hone_status compose_int(const hone_gbind *bind, uint32_t arg, const char *key, int64_t fallback,
                        int64_t *out) {
    const hone_garg *given = arg < bind->arg_count ? &bind->args[arg] : NULL;
    *out = hone_attrs_int(&bind->attrs, key, fallback);
    if (!given || given->kind == HONE_GARG_NONE) return HONE_OK;
    if (given->kind == HONE_GARG_PRIM && hone_expr_is_int(given->u.expr)) {
        *out = given->u.expr->u.i;
        return HONE_OK;
    }
    return compose_refuse(bind, "a number that is not known");
}

hone_status compose_axes(const onnx_reader *r, const hone_gbind *bind, const char *key,
                         int32_t rank, int64_t out[HONE_MAX_RANK], uint32_t *out_count) {
    const hone_value *v = hone_attrs_find(&bind->attrs, key);
    bool is_one = v && v->kind == HONE_VALUE_INT, is_list = v && v->kind == HONE_VALUE_LIST;
    *out_count = is_one ? 1 : is_list ? v->count : (uint32_t)rank;
    if (*out_count > HONE_MAX_RANK) return compose_refuse(bind, "too many axes");
    for (uint32_t i = 0; i < *out_count; i++) {
        int32_t axis;
        int64_t wanted = is_one    ? v->u.i
                         : is_list ? (int64_t)compose_number_of(&v->u.items[i], 0)
                                   : i;
        HONE_TRY(onnx_axis(r, wanted, rank, &axis));
        out[i] = axis;
    }
    return HONE_OK;
}

hone_status compose_refuse(const hone_gbind *bind, const char *what) {
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "operator '%s': %s", bind->callee, what);
}

/* ---- steps ---- */

hone_status compose_reduce(onnx_reader *r, const char *op, hone_garg x, uint32_t count,
                           const int64_t *axes, bool keeps, hone_garg *out) {
    hone_attr attrs[] = {
        {"axis", onnx_ints_value(r, count, axes)},
        {"keepdims", HONE_VALUE_OF_BOOL(keeps)                 }
    };
    return onnx_emit(r, op, 1, &x, 2, attrs, out);
}

hone_status compose_along(onnx_reader *r, hone_garg x, int32_t rank, int32_t axis, hone_garg *out) {
    const hone_sinfo *info;
    const hone_expr *shape[HONE_MAX_RANK];
    HONE_TRY(onnx_info(r, &x, &info));
    if (info->rank != 1) return HONE_ERROR(HONE_CODE_TYPE, "wants a vector");
    for (int32_t d = 0; d < rank; d++)
        shape[d] = d == axis ? info->shape[0] : hone_extent_int(&r->ir, 1);
    return onnx_emit_reshape(r, x, (uint32_t)rank, shape, out);
}

hone_status compose_broadcast(onnx_reader *r, hone_garg x, uint32_t rank,
                              const hone_expr *const *shape, hone_garg *out) {
    hone_garg args[2] = {x};
    HONE_TRY(onnx_make_ints(r, rank, shape, 1, &args[1]));
    return onnx_emit(r, "broadcast_to", 2, args, 0, NULL, out);
}

hone_status compose_expand(onnx_reader *r, hone_garg x, int32_t axis, hone_garg *out) {
    const hone_sinfo *info;
    const hone_expr *shape[HONE_MAX_RANK + 1];
    HONE_TRY(onnx_info(r, &x, &info));
    for (int32_t d = 0; d <= info->rank; d++)
        shape[d] = d == axis ? hone_extent_int(&r->ir, 1) : info->shape[d - (d > axis)];
    return onnx_emit_reshape(r, x, (uint32_t)info->rank + 1, shape, out);
}

hone_status compose_tuple(onnx_reader *r, uint32_t count, const hone_garg *items, hone_garg *out) {
    hone_garg *copy = hone_arena_copy(r->arena, items, (count + !count) * sizeof *items);
    *out = (hone_garg){.kind = HONE_GARG_TUPLE, .count = count, .u.items = copy};
    return copy ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "tuple");
}

hone_status compose_items(onnx_reader *r, const hone_garg *tuple, uint32_t most, hone_garg *out,
                          uint32_t *out_count) {
    const hone_sinfo *info = hone_garg_sinfo(r->module, r->graph, tuple, r->arena);
    bool is_tuple = info && info->kind == HONE_SINFO_TUPLE;
    *out_count = is_tuple ? info->field_count : 1;
    if (*out_count > most) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "more than %u tensors", most);
    for (uint32_t i = 0; i < *out_count; i++) {
        bool is_written = tuple->kind == HONE_GARG_TUPLE;
        out[i] = is_written ? tuple->u.items[i] : *tuple;
        if (is_tuple && !is_written) HONE_TRY(onnx_emit_get(r, *tuple, (int32_t)i, &out[i]));
    }
    return HONE_OK;
}

/* ---- a binding ---- */

hone_status compose_open_reader(hone_rewrite *rw, const hone_gbind *bind, onnx_reader *r) {
    enum { NEWEST = 28 };
    static const hone_graph_options none = {0};
    memset(r, 0, sizeof *r);
    r->module = rw->module;
    r->rewrite = rw;
    r->graph = rw->now;
    r->arena = rw->module->arena;
    r->ir.arena = rw->module->arena;
    r->source = r->directory = "";
    r->options = &none;
    r->opset = NEWEST;
    r->output_count = ONNX_MAX_OUTPUTS;
    for (uint32_t v = 0; v < rw->now->var_count; v++) {
        if (!hone_strmap_put(&r->size_names, rw->now->vars[v].name, ONNX_NAME_FILE))
            return HONE_ERROR(HONE_CODE_NO_MEMORY, "sizes");
    }
    if (bind->arg_count > ONNX_MAX_INPUTS) return compose_refuse(bind, "too many arguments");
    HONE_TRY(onnx_room_for(r, bind->arg_count));
    r->input_count = bind->arg_count;
    for (uint32_t i = 0; i < bind->arg_count; i++)
        HONE_TRY(hone_rewrite_arg(rw, &bind->args[i], &r->inputs[i]));
    return HONE_OK;
}

static hone_status contradiction(const hone_rewrite *rw, const hone_sinfo *written,
                                 const hone_sinfo *made) {
    hone_str text = {0};
    hone_sinfo_describe(rw->old, written, &text);
    hone_str_append(&text, ", its value is ");
    hone_sinfo_describe(rw->now, made, &text);
    hone_status st = HONE_ERROR(HONE_CODE_TYPE, "written as %s", hone_str_text(&text));
    hone_str_deinit(&text);
    return st;
}

static hone_status compose(hone_rewrite *rw, const hone_gbind *bind, const hone_composer *row,
                           onnx_reader *r, hone_garg *out) {
    HONE_TRY(compose_open_reader(rw, bind, r));
    HONE_TRY(row->make(r, bind, out));
    HONE_TRY(onnx_note_greatest(r));
    HONE_TRY(hone_ir_finish(&r->ir));
    const hone_sinfo *written = rw->old->values[bind->value].sinfo;
    const hone_sinfo *made = hone_rewrite_info(rw, out);
    bool differs = written && made && hone_sinfo_contradicts(written, made);
    return differs ? contradiction(rw, written, made) : HONE_OK;
}

hone_status hone_compose_bind(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    const hone_composer *row = bind->kind == HONE_GBIND_CALL ? find(rw, bind) : NULL;
    if (!row) return HONE_OK;
    onnx_reader *r = hone_arena_alloc(rw->module->arena, sizeof *r);
    hone_garg out = {.kind = HONE_GARG_NONE};
    if (!r) return HONE_ERROR(HONE_CODE_NO_MEMORY, "operators");
    hone_status st = compose(rw, bind, row, r, &out);
    if (st) st = hone_status_join(st, hone_ir_finish(&r->ir));
    hone_strmap_deinit(&r->size_names);
    if (st) return hone_status_annotate(st, "'%s'", bind->callee);
    hone_rewrite_set(rw, bind->value, out);
    *out_done = true;
    return HONE_OK;
}
