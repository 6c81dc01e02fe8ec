/* graph/frontend/reader/onnx_sizes.c - sizes that are computed when the model runs: a tensor is
 * made a shape, whose dimensions get names (R.tensor_to_shape, R.match_cast). */
#include <string.h>

#include "graph/frontend/reader/onnx_reader.h"
#include "ir/core/grow.h"

static hone_status no_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
}

typedef struct onnx_found {
    hone_var var;
    int64_t most;     /* the greatest it can be; -1 = that is not known */
    hone_garg tensor; /* where it stands */
    uint32_t element;
} onnx_found;

/* ---- names: n, n_1, n_2, ... but those of the file ---- */

static hone_status new_size(onnx_reader *r, onnx_found found, const hone_expr **out) {
    const char *name = "n";
    for (unsigned k = 1; hone_strmap_find(&r->size_names, name, NULL); k++) {
        name = hone_arena_printf(r->arena, "n_%u", k);
        if (!name) return no_memory();
    }
    found.var = hone_graph_add_var(r->graph, name);
    if (found.var == HONE_NO_ID ||
        !hone_grow(r->arena, (void **)&r->found, &r->found_capacity, r->found_count,
                   sizeof *r->found) ||
        !hone_strmap_put(&r->size_names, name, ONNX_NAME_MADE)) {
        return no_memory();
    }
    r->found[r->found_count++] = found;
    *out = hone_expr_var(&r->ir, HONE_DTYPE_I64, found.var);
    return hone_ir_finish(&r->ir);
}

hone_status onnx_note_greatest(onnx_reader *r) {
    const hone_value *before = hone_attrs_find(&r->graph->attrs, "tir_var_upper_bound");
    hone_attrs known = {0};
    if (before && before->kind == HONE_VALUE_MAP)
        known = (hone_attrs){before->count, before->u.attrs};
    uint32_t known_before = known.count;
    for (uint32_t i = 0; i < r->found_count; i++) {
        if (r->found[i].most < 0) continue;
        const char *name = r->graph->vars[r->found[i].var].name;
        hone_value most = HONE_VALUE_OF_INT(r->found[i].most);
        if (!hone_attrs_with(r->arena, &known, name, most, &known)) {
            return no_memory();
        }
    }
    if (known.count == known_before) return HONE_OK;
    hone_value map = {.kind = HONE_VALUE_MAP, .count = known.count, .u.attrs = known.items};
    hone_attrs *attrs = &r->graph->attrs;
    return hone_attrs_with(r->arena, attrs, "tir_var_upper_bound", map, attrs) ? HONE_OK
                                                                               : no_memory();
}

/* ---- tensors to sizes ---- */

/* So that who refuses a size names the node. */
static const char *name_of_node(const onnx_reader *r) {
    const Onnx__NodeProto *node = r->node;
    if (node && node->name && *node->name) return node->name;
    bool has_output = node && node->n_output && node->output[0] && *node->output[0];
    return has_output ? node->output[0] : "lv";
}

static hone_status cast_shape(onnx_reader *r, hone_garg shape, uint32_t count,
                              const hone_expr *const *sizes) {
    hone_sinfo *info = hone_arena_zalloc(r->arena, sizeof *info);
    const hone_expr **copy = hone_arena_copy(r->arena, sizes, (count + !count) * sizeof *copy);
    hone_garg *arg = hone_arena_copy(r->arena, &shape, sizeof shape);
    if (!info || !copy || !arg) return no_memory();
    *info = (hone_sinfo){HONE_SINFO_SHAPE, HONE_DTYPE_I64, (int32_t)count, 0, copy, NULL};
    r->graph->bindings[r->graph->bind_count - 1].is_operand = true; /* made the shape */
    hone_gvalue value = hone_graph_add_value(r->graph, name_of_node(r), info);
    hone_gbind *bind =
        value == HONE_NO_ID ? NULL : hone_graph_add_bind(r->graph, HONE_GBIND_MATCH_CAST, value);
    if (!bind) return no_memory();
    bind->args = arg;
    bind->arg_count = 1;
    bind->in_dataflow = true;
    return HONE_OK;
}

hone_status onnx_find_sizes(onnx_reader *r, hone_garg tensor, uint32_t count, int64_t most,
                            const hone_expr **out) {
    hone_garg shape;
    if (count == 0) return HONE_OK;
    HONE_TRY(onnx_emit1(r, "tensor_to_shape", tensor, &shape));
    r->graph->values[shape.u.value].name = hone_arena_strdup(r->arena, name_of_node(r));
    if (!r->graph->values[shape.u.value].name) return no_memory();
    for (uint32_t i = 0; i < count; i++) {
        if (out[i]) continue;
        const onnx_found found = {.most = most, .tensor = tensor, .element = i};
        HONE_TRY(new_size(r, found, &out[i]));
    }
    return cast_shape(r, shape, count, out);
}

static bool is_found(const void *ctx, const hone_expr *e) {
    const onnx_reader *r = ctx;
    if (e->kind != HONE_EXPR_VAR) return false;
    bool is_it = r->has_found_around;
    for (uint32_t i = 0; i < r->found_count && !is_it; i++)
        is_it = r->found[i].var == e->u.var;
    return is_it;
}

bool onnx_is_found(const onnx_reader *r, const hone_expr *size) {
    return hone_expr_find(size, is_found, r) != NULL;
}

/* ---- vectors of which some items are known ---- */

typedef struct onnx_items {
    hone_gvalue value;
    uint32_t count;
    const hone_expr *const *items; /* NULL: not known */
} onnx_items;

hone_status onnx_note_items(onnx_reader *r, const hone_garg *joined, uint32_t count,
                            const hone_expr *const *items) {
    onnx_items made = {.count = count};
    if (joined->kind != HONE_GARG_VALUE) return HONE_OK;
    made.value = joined->u.value;
    made.items = hone_arena_copy(r->arena, items, (count + !count) * sizeof *items);
    if (!made.items || !hone_grow(r->arena, (void **)&r->items, &r->items_capacity, r->items_count,
                                  sizeof *r->items)) {
        return no_memory();
    }
    r->items[r->items_count++] = made;
    return HONE_OK;
}

void onnx_known_items(onnx_reader *r, const hone_garg *arg, uint32_t count, const hone_expr **out) {
    const hone_expr *known[ONNX_MAX_KNOWN];
    uint32_t known_count;
    int32_t rank;
    memset(out, 0, count * sizeof *out);
    if (onnx_known_ints(r, arg, &known_count, known, &rank) && known_count == count) {
        memcpy(out, known, count * sizeof *out);
    }
    for (uint32_t i = 0; i < r->items_count; i++) {
        bool is_it = arg->kind == HONE_GARG_VALUE && r->items[i].value == arg->u.value;
        if (is_it && r->items[i].count == count)
            memcpy(out, r->items[i].items, count * sizeof *out);
    }
}

hone_status onnx_sizes(onnx_reader *r, uint32_t input, const char *what, uint32_t *out_count,
                       const hone_expr **out) {
    const hone_sinfo *info;
    int32_t rank;
    hone_garg flat = r->inputs[input];
    if (onnx_known_ints(r, &flat, out_count, out, &rank)) return HONE_OK;
    HONE_TRY(onnx_input_info(r, input, &info));
    int64_t count = info->rank == 0 ? 1 : info->rank == 1 ? hone_expr_const(info->shape[0]) : -1;
    if (count < 0 || count > HONE_MAX_RANK || info->dtype.code != HONE_DTYPE_CODE_INT) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "%s (input %u) must be constant, or a vector of at most %d integers",
                          what, input, HONE_MAX_RANK);
    }
    *out_count = (uint32_t)count;
    onnx_known_items(r, &flat, *out_count, out);
    if (info->rank == 0) HONE_TRY(onnx_emit_flat(r, flat, &flat));
    return onnx_find_sizes(r, flat, *out_count, -1, out);
}

/* ---- sizes to tensors ---- */

static hone_status size_tensor(onnx_reader *r, const hone_expr *size, hone_garg *out);

/* The size of an input: the last of its indices, and 1. A kernel knows a size by a tensor that has
 * it: the indices are one. */
static hone_status count_indices(onnx_reader *r, const hone_expr *size, hone_garg *out) {
    HONE_TRY(onnx_indices(r, size, 1, 0, out));
    HONE_TRY(onnx_emit_along(r, "max", *out, 0, out));
    HONE_TRY(onnx_with_scalar(r, "maximum", *out, -1, out)); /* there may be none */
    return onnx_with_scalar(r, "add", *out, 1, out);
}

static hone_status var_tensor(onnx_reader *r, const hone_expr *var, hone_garg *out) {
    for (uint32_t i = 0; i < r->found_count; i++) {
        const onnx_found *found = &r->found[i];
        if (found->var != var->u.var) continue;
        const hone_expr *element = hone_extent_int(&r->ir, found->element);
        hone_garg index;
        HONE_TRY(onnx_make_ints(r, 1, &element, 1, &index));
        HONE_TRY(onnx_emit_take(r, found->tensor, index, 0, out));
        return onnx_emit_cast(r, *out, HONE_DTYPE_I64, out);
    }
    return count_indices(r, var, out);
}

static const char *operator_of(const hone_expr *e) {
    static const struct {
        hone_op op;
        const char *name;
    } names[] = {
        {HONE_OP_ADD,      "add"         },
        {HONE_OP_SUB,      "subtract"    },
        {HONE_OP_MUL,      "multiply"    },
        {HONE_OP_FLOORDIV, "floor_divide"},
        {HONE_OP_FLOORMOD, "floor_mod"   },
        {HONE_OP_MIN,      "minimum"     },
        {HONE_OP_MAX,      "maximum"     }
    };
    for (size_t i = 0; i < HONE_COUNT(names); i++)
        if (hone_expr_is_op(e, names[i].op)) return names[i].name;
    return NULL;
}

/* One size, as a vector of one. */
static hone_status size_tensor(onnx_reader *r, const hone_expr *size, hone_garg *out) {
    hone_garg sides[2];
    if (hone_expr_is_int(size)) return onnx_sizes_tensor(r, 1, &size, out);
    if (size->kind == HONE_EXPR_VAR) return var_tensor(r, size, out);
    if (size->kind == HONE_EXPR_CAST) return size_tensor(r, size->args[0], out);
    const char *op = operator_of(size);
    if (!op) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a size of this kind as data");
    HONE_TRY(size_tensor(r, size->args[0], &sides[0]));
    HONE_TRY(size_tensor(r, size->args[1], &sides[1]));
    return onnx_emit2(r, op, sides[0], sides[1], out);
}

hone_status onnx_counted_sizes(onnx_reader *r, uint32_t count, const hone_expr *const *sizes,
                               hone_garg *out) {
    hone_garg parts[ONNX_MAX_KNOWN];
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(size_tensor(r, sizes[i], &parts[i]));
    if (count == 1) *out = parts[0];
    return count == 1 ? HONE_OK : onnx_emit_concat(r, count, parts, 0, out);
}

hone_status onnx_sizes_tensor(onnx_reader *r, uint32_t count, const hone_expr *const *sizes,
                              hone_garg *out) {
    HONE_TRY(onnx_make_ints(r, count, sizes, 1, out));
    return onnx_as_tensor(r, out);
}
