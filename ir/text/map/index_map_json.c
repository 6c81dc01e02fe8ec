/* ir/text/map/index_map_json.c - index maps as TVM keeps them in the JSON of traces: a graph of
 * objects (tvm_json.h). */
#include "ir/text/map/index_map_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/text/tvm_json.h"
#include "support/core/number.h"

/* ---- reading ---- */

enum { MAX_MAP_PARAMS = 64, MAX_MAP_INDICES = 256, MAX_MAP_DEPTH = 200 };

typedef struct graph {
    hone_arena *arena;
    hone_ir ir;
    const hone_json *nodes;
    const hone_expr **exprs; /* by node: what it is, once it was read */
    hone_index_map_names names;
    void *ctx;
    uint32_t depth;
    /* the map being read */
    hone_var_info *vars;
    const hone_json **var_nodes; /* which node a variable is */
    uint32_t *frees;
    uint32_t param_count, var_count, var_capacity;
    hone_dtype dtype; /* of its parameters */
} graph;

static hone_status bad(const char *what) {
    return HONE_ERROR(HONE_CODE_INVALID, "index map: %s", what);
}

static hone_status dtype_of(const graph *g, const hone_json *node, hone_dtype *out) {
    int64_t index;
    const hone_json *type = tvm_json_child(g->nodes, node, "ty", &index);
    const char *text = tvm_json_text_member(g->nodes, type ? type : node, "dtype");
    if (!text || !hone_dtype_parse(text, out)) return bad("an expression without a dtype");
    return out->lanes == 1 ? HONE_OK : bad("a vector");
}

/* ---- variables ---- */

static hone_status add_var(graph *g, const hone_json *node, uint32_t number) {
    hone_var_info info = {0};
    HONE_TRY(dtype_of(g, node, &info.dtype));
    const char *name = tvm_json_text_member(g->nodes, node, "name");
    if (!name) name = tvm_json_text_member(g->nodes, node, "name_hint");
    info.name = hone_arena_strdup(g->arena, name ? name : "i");
    if (!info.name) return HONE_NO_MEMORY("index map");
    if (g->var_count == g->var_capacity) return bad("too many variables");
    g->frees[g->var_count] = number;
    g->var_nodes[g->var_count] = node;
    g->vars[g->var_count++] = info;
    return HONE_OK;
}

/* A parameter; or a name that the reader of the map knows. */
static hone_status read_var(graph *g, const hone_json *node, const hone_expr **out) {
    uint32_t var = 0;
    while (var < g->var_count && g->var_nodes[var] != node)
        var++;
    if (var == g->var_count) {
        const char *name = tvm_json_text_member(g->nodes, node, "name");
        uint32_t count = 0;
        const uint32_t *numbers = NULL;
        bool is_tuple = false;
        if (!name || !g->names || !g->names(g->ctx, name, &count, &numbers, &is_tuple) ||
            count != 1) {
            return HONE_ERROR(HONE_CODE_INVALID, "index map: '%s' is no parameter of it",
                              name ? name : "a variable");
        }
        HONE_TRY(add_var(g, node, numbers[0]));
    }
    *out = hone_expr_var(&g->ir, g->vars[var].dtype, var);
    return HONE_OK;
}

/* ---- expressions ---- */

static hone_status read_expr(graph *g, int64_t index, const hone_expr **out);

static hone_status read_member(graph *g, const hone_json *node, const char *key,
                               const hone_expr **out) {
    int64_t index;
    if (!tvm_json_child(g->nodes, node, key, &index)) {
        return HONE_ERROR(HONE_CODE_INVALID, "index map: '%s' has no '%s'", tvm_json_type(node),
                          key);
    }
    return read_expr(g, index, out);
}

static hone_status read_int(graph *g, const hone_json *node, const hone_expr **out) {
    hone_dtype dtype;
    int64_t value;
    HONE_TRY(dtype_of(g, node, &dtype));
    const hone_json *at = tvm_json_member(node, "value");
    if (!tvm_json_number(at, &value)) return bad("a constant without a value");
    /* now a node holds it; before, a text does */
    const hone_json *there = hone_json_is(at, HONE_JSON_INT) ? tvm_json_at(g->nodes, value) : NULL;
    if (there && !tvm_json_number(hone_json_find(there, "data"), &value)) {
        return bad("a constant without a value");
    }
    bool is_bool = hone_dtype_is_bool(dtype);
    *out = is_bool ? hone_expr_bool(&g->ir, value != 0) : hone_expr_int(&g->ir, dtype, value);
    return HONE_OK;
}

static hone_status read_float(graph *g, const hone_json *node, const hone_expr **out) {
    hone_dtype dtype;
    HONE_TRY(dtype_of(g, node, &dtype));
    const hone_json *at = tvm_json_member(node, "value");
    double value = 0;
    if (hone_json_is(at, HONE_JSON_REAL)) {
        value = hone_json_f64(at);
    } else if (hone_json_is(at, HONE_JSON_TEXT)) {
        value = hone_number_parse(hone_json_text(at), NULL);
    } else if (hone_json_is(at, HONE_JSON_INT)) {
        const hone_json *there = hone_json_find(tvm_json_at(g->nodes, hone_json_i64(at)), "data");
        if (hone_json_is(there, HONE_JSON_REAL)) value = hone_json_f64(there);
        if (hone_json_is(there, HONE_JSON_INT)) value = (double)hone_json_i64(there);
    } else {
        return bad("a constant without a value");
    }
    *out = hone_expr_float(&g->ir, dtype, value);
    return HONE_OK;
}

static const struct {
    const char *type;
    hone_op op;
} binaries[] = {
    {"Add",      HONE_OP_ADD     },
    {"Sub",      HONE_OP_SUB     },
    {"Mul",      HONE_OP_MUL     },
    {"FloorDiv", HONE_OP_FLOORDIV},
    {"FloorMod", HONE_OP_FLOORMOD},
    {"Div",      HONE_OP_TRUNCDIV},
    {"Mod",      HONE_OP_TRUNCMOD},
    {"Min",      HONE_OP_MIN     },
    {"Max",      HONE_OP_MAX     },
    {"EQ",       HONE_OP_EQ      },
    {"NE",       HONE_OP_NE      },
    {"LT",       HONE_OP_LT      },
    {"LE",       HONE_OP_LE      },
    {"GT",       HONE_OP_GT      },
    {"GE",       HONE_OP_GE      },
    {"And",      HONE_OP_AND     },
    {"Or",       HONE_OP_OR      },
};

static hone_status read_binary(graph *g, const hone_json *node, hone_op op, const hone_expr **out) {
    const hone_expr *a = NULL, *b = NULL;
    HONE_TRY(read_member(g, node, "a", &a));
    HONE_TRY(read_member(g, node, "b", &b));
    if (op == HONE_OP_TRUNCDIV && hone_dtype_is_float(a->dtype)) op = HONE_OP_DIV;
    *out = hone_expr_binary(&g->ir, op, a, b);
    return HONE_OK;
}

static hone_status read_select(graph *g, const hone_json *node, const hone_expr **out) {
    const hone_expr *c = NULL, *a = NULL, *b = NULL;
    HONE_TRY(read_member(g, node, "condition", &c));
    HONE_TRY(read_member(g, node, "true_value", &a));
    HONE_TRY(read_member(g, node, "false_value", &b));
    *out = hone_expr_select(&g->ir, c, a, b);
    return HONE_OK;
}

/* The numbers in an array node. */
static hone_status array_of(graph *g, const hone_json *node, const char *key, uint32_t limit,
                            uint32_t *out_count, int64_t **out) {
    int64_t index;
    const hone_json *array = tvm_json_child(g->nodes, node, key, &index);
    const hone_json *data = array ? hone_json_find(array, "data") : NULL;
    size_t count = hone_json_count(data);
    if (!array || !tvm_json_is(array, "Array")) {
        return HONE_ERROR(HONE_CODE_INVALID, "index map: '%s' is no list", key);
    }
    if (count > limit) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "index map: %zu items in '%s', at most %u", count,
                          key, limit);
    }
    int64_t *items = hone_arena_alloc(g->arena, (count + 1) * sizeof *items);
    if (!items) return HONE_NO_MEMORY("index map");
    for (size_t i = 0; i < count; i++) {
        if (!tvm_json_number(hone_json_at(data, i), &items[i]))
            return bad("a list of something else");
    }
    *out_count = (uint32_t)count;
    *out = items;
    return HONE_OK;
}

static hone_status read_call(graph *g, const hone_json *node, const hone_expr **out) {
    hone_intrin intrin;
    hone_dtype dtype;
    uint32_t count = 0;
    int64_t index, *items = NULL;
    const hone_expr *args[3] = {NULL};
    const hone_json *op = tvm_json_child(g->nodes, node, "op", &index);
    const char *name = op ? tvm_json_text(op) : NULL, *dot = name ? strrchr(name, '.') : NULL;
    if (dot) name = dot + 1;
    HONE_TRY(dtype_of(g, node, &dtype));
    HONE_TRY(array_of(g, node, "args", 3, &count, &items));
    if (!name || !hone_intrin_find(name, &intrin) || !hone_intrin_is_pure(intrin) ||
        hone_intrin_arity(intrin) != (int)count) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "index map: a call of '%s'", name ? name : "?");
    }
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(read_expr(g, items[i], &args[i]));
    *out = hone_expr_call(&g->ir, dtype, intrin, count, args);
    return HONE_OK;
}

static const struct {
    const char *type;
    hone_intrin intrin;
} bitwise[] = {
    {"BitwiseAnd", HONE_INTRIN_BITWISE_AND},
    {"BitwiseOr",  HONE_INTRIN_BITWISE_OR },
    {"BitwiseXor", HONE_INTRIN_BITWISE_XOR},
    {"BitwiseNot", HONE_INTRIN_BITWISE_NOT},
    {"LShift",     HONE_INTRIN_SHIFT_LEFT },
    {"RShift",     HONE_INTRIN_SHIFT_RIGHT},
};

static hone_status read_bitwise(graph *g, const hone_json *node, hone_intrin intrin,
                                const hone_expr **out) {
    const hone_expr *args[2] = {NULL};
    HONE_TRY(read_member(g, node, "a", &args[0]));
    uint32_t count = (uint32_t)hone_intrin_arity(intrin);
    if (count == 2) HONE_TRY(read_member(g, node, "b", &args[1]));
    *out = hone_expr_call(&g->ir, args[0]->dtype, intrin, count, args);
    return HONE_OK;
}

static hone_status read_cast_or_not(graph *g, const hone_json *node, const hone_expr **out) {
    const hone_expr *value = NULL;
    if (tvm_json_is(node, "Not")) {
        HONE_TRY(read_member(g, node, "a", &value));
        *out = hone_expr_not(&g->ir, value);
        return HONE_OK;
    }
    hone_dtype dtype;
    HONE_TRY(dtype_of(g, node, &dtype));
    HONE_TRY(read_member(g, node, "value", &value));
    *out = hone_expr_cast(&g->ir, dtype, value);
    return HONE_OK;
}

static hone_status read_kind(graph *g, const hone_json *node, const hone_expr **out) {
    if (tvm_json_is(node, "Var") || tvm_json_is(node, "SizeVar")) return read_var(g, node, out);
    if (tvm_json_is(node, "IntImm")) return read_int(g, node, out);
    if (tvm_json_is(node, "FloatImm")) return read_float(g, node, out);
    if (tvm_json_is(node, "Cast") || tvm_json_is(node, "Not"))
        return read_cast_or_not(g, node, out);
    if (tvm_json_is(node, "Select")) return read_select(g, node, out);
    if (tvm_json_is(node, "Call")) return read_call(g, node, out);
    for (size_t i = 0; i < HONE_COUNT(binaries); i++) {
        if (tvm_json_is(node, binaries[i].type)) return read_binary(g, node, binaries[i].op, out);
    }
    for (size_t i = 0; i < HONE_COUNT(bitwise); i++) {
        if (tvm_json_is(node, bitwise[i].type))
            return read_bitwise(g, node, bitwise[i].intrin, out);
    }
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "index map: an object '%s' in it",
                      tvm_json_type(node));
}

static hone_status read_expr(graph *g, int64_t index, const hone_expr **out) {
    const hone_json *node = tvm_json_at(g->nodes, index);
    if (!node) return bad("a number of no node");
    *out = g->exprs[index];
    if (*out) return HONE_OK;
    if (++g->depth > MAX_MAP_DEPTH) return bad("nested too deeply");
    HONE_TRY(read_kind(g, node, out));
    g->depth--;
    hone_status error = hone_ir_finish(&g->ir);
    if (error) return error;
    g->exprs[index] = *out;
    return HONE_OK;
}

/* ---- maps ---- */

static hone_status read_params(graph *g, const hone_json *node) {
    uint32_t count = 0;
    int64_t *items = NULL;
    HONE_TRY(array_of(g, node, "initial_indices", MAX_MAP_PARAMS, &count, &items));
    g->param_count = g->var_count = 0;
    g->var_capacity = 2 * MAX_MAP_PARAMS;
    g->vars = hone_arena_alloc(g->arena, g->var_capacity * sizeof *g->vars);
    g->var_nodes = hone_arena_alloc(g->arena, g->var_capacity * sizeof *g->var_nodes);
    g->frees = hone_arena_alloc(g->arena, g->var_capacity * sizeof *g->frees);
    if (!g->vars || !g->var_nodes || !g->frees) return HONE_NO_MEMORY("index map");
    for (uint32_t i = 0; i < count; i++) {
        const hone_json *var = tvm_json_at(g->nodes, items[i]);
        if (!tvm_json_is(var, "Var") && !tvm_json_is(var, "SizeVar"))
            return bad("a parameter is no name");
        HONE_TRY(add_var(g, var, 0));
    }
    g->param_count = count;
    return HONE_OK;
}

static hone_status read_indices(graph *g, const hone_json *node, hone_index_map *map) {
    uint32_t count = 0;
    int64_t *items = NULL;
    HONE_TRY(array_of(g, node, "final_indices", MAX_MAP_INDICES, &count, &items));
    const hone_expr **indices = hone_arena_zalloc(g->arena, (count + 1) * sizeof *indices);
    if (!indices) return HONE_NO_MEMORY("index map");
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(read_expr(g, items[i], &indices[i]));
    map->indices = indices;
    map->count = count;
    return HONE_OK;
}

static hone_status read_one(graph *g, const hone_json *node, hone_index_map *map) {
    if (!tvm_json_is(node, "IndexMap")) return bad("the root is no IndexMap");
    memset(g->exprs, 0, (hone_json_count(g->nodes) + 1) * sizeof *g->exprs);
    HONE_TRY(read_params(g, node));
    HONE_TRY(read_indices(g, node, map));
    map->param_count = g->param_count;
    map->free_count = g->var_count - g->param_count;
    map->vars = g->vars;
    map->frees = g->frees + g->param_count;
    return HONE_OK;
}

static hone_status read_graph(graph *g, const hone_json *json, hone_index_map *map) {
    int64_t root, index;
    if (!tvm_json_open(json, &g->nodes, &root)) {
        return bad("expected an object with root_index and nodes");
    }
    g->exprs = hone_arena_alloc(g->arena, (hone_json_count(g->nodes) + 1) * sizeof *g->exprs);
    if (!g->exprs) return HONE_NO_MEMORY("index map");
    const hone_json *node = tvm_json_at(g->nodes, root);
    HONE_TRY(read_one(g, node, map));
    const hone_json *inverse = tvm_json_child(g->nodes, node, "inverse_index_map", &index);
    if (!inverse || !tvm_json_is(inverse, "IndexMap")) return HONE_OK;
    hone_index_map *back = hone_arena_zalloc(g->arena, sizeof *back);
    if (!back) return HONE_NO_MEMORY("index map");
    HONE_TRY(read_one(g, inverse, back));
    map->inverse = back;
    return HONE_OK;
}

hone_status hone_index_map_parse_json(hone_arena *arena, const char *text,
                                      hone_index_map_names names, void *ctx,
                                      const hone_index_map **out_map) {
    hone_json *json = NULL;
    *out_map = NULL;
    hone_index_map *map = hone_arena_zalloc(arena, sizeof *map);
    if (!map) return HONE_NO_MEMORY("index map");
    HONE_TRY(hone_json_parse(text, strlen(text), &json));
    graph g = {.arena = arena, .ir = {.arena = arena}, .names = names, .ctx = ctx};
    hone_status st = read_graph(&g, json, map);
    hone_json_destroy(json);
    hone_status left = hone_ir_finish(&g.ir);
    st = hone_status_join(st, left);
    if (!st) *out_map = map;
    return st;
}

/* ---- printing ---- */

enum { MAX_WRITTEN_DTYPES = 16 };

typedef struct writer {
    hone_json *nodes; /* what is in it so far */
    const hone_index_map *map;
    const char *const *free_names;
    int64_t *var_at; /* by variable: its node; 0 = none yet */
    struct {
        hone_dtype dtype;
        int64_t at;
    } dtypes[MAX_WRITTEN_DTYPES];
    uint32_t dtype_count;
    const char *unsupported; /* what no map can hold */
} writer;

/* Takes the node; its number. */
static int64_t add_node(writer *w, const char *type, hone_json *data) {
    hone_json *node = hone_json_make_object();
    int64_t at = (int64_t)hone_json_count(w->nodes);
    hone_json_set_text(node, "type", type);
    if (data) hone_json_set(node, "data", data);
    hone_json_append(w->nodes, node);
    return at;
}

static hone_json *numbers(const char *const *keys, const int64_t *values, uint32_t count) {
    hone_json *data = hone_json_make_object();
    for (uint32_t i = 0; i < count; i++)
        hone_json_set_i64(data, keys[i], values[i]);
    return data;
}

static int64_t write_dtype(writer *w, hone_dtype dtype) {
    for (uint32_t i = 0; i < w->dtype_count; i++) {
        if (hone_dtype_equal(w->dtypes[i].dtype, dtype)) return w->dtypes[i].at;
    }
    hone_json *data = hone_json_make_object();
    hone_json_set_i64(data, "span", 0);
    hone_json_set_text(data, "dtype", HONE_DTYPE_NAME(dtype));
    int64_t at = add_node(w, "ir.PrimType", data);
    if (w->dtype_count < MAX_WRITTEN_DTYPES) {
        w->dtypes[w->dtype_count].dtype = dtype;
        w->dtypes[w->dtype_count++].at = at;
    }
    return at;
}

static int64_t write_var(writer *w, hone_var var) {
    if (w->var_at[var]) return w->var_at[var];
    bool is_free = var >= w->map->param_count;
    const hone_var_info *info = &w->map->vars[var];
    int64_t ty = write_dtype(w, info->dtype);
    const char *name = is_free ? w->free_names[var - w->map->param_count] : info->name;
    int64_t text = add_node(w, "ffi.String", hone_json_make_text(name));
    w->var_at[var] =
        add_node(w, "ir.Var",
                 numbers((const char *const[]){"span", "ty", "name"}, (int64_t[]){0, ty, text}, 3));
    return w->var_at[var];
}

static int64_t write_array(writer *w, const int64_t *items, uint32_t count) {
    hone_json *data = hone_json_make_array();
    for (uint32_t i = 0; i < count; i++)
        hone_json_append(data, hone_json_make_i64(items[i]));
    return add_node(w, "ffi.Array", data);
}

static int64_t write_expr(writer *w, const hone_expr *e);

static int64_t write_constant(writer *w, const hone_expr *e, int64_t ty) {
    if (e->kind == HONE_EXPR_INT) {
        int64_t value = add_node(w, "int", hone_json_make_i64(e->u.i));
        return add_node(
            w, "ir.IntImm",
            numbers((const char *const[]){"span", "ty", "value"}, (int64_t[]){0, ty, value}, 3));
    }
    hone_json *data = numbers((const char *const[]){"span", "ty"}, (int64_t[]){0, ty}, 2);
    hone_json_set_f64(data, "value", e->u.f);
    return add_node(w, "ir.FloatImm", data);
}

static int64_t write_binary(writer *w, const hone_expr *e, int64_t ty) {
    hone_op op = e->op == HONE_OP_DIV ? HONE_OP_TRUNCDIV : (hone_op)e->op;
    int64_t a = write_expr(w, e->args[0]), b = write_expr(w, e->args[1]);
    char type[32] = "prim.";
    for (size_t i = 0; i < HONE_COUNT(binaries); i++) {
        if (binaries[i].op != op) continue;
        memcpy(type + 5, binaries[i].type, strlen(binaries[i].type) + 1);
    }
    return add_node(
        w, type,
        numbers((const char *const[]){"span", "ty", "a", "b"}, (int64_t[]){0, ty, a, b}, 4));
}

static int64_t write_select(writer *w, const hone_expr *e, int64_t ty) {
    static const char *const keys[] = {"span", "ty", "condition", "true_value", "false_value"};
    int64_t at[5] = {0, ty, 0, 0, 0};
    for (uint32_t i = 0; i < 3; i++)
        at[i + 2] = write_expr(w, e->args[i]);
    return add_node(w, "prim.Select", numbers(keys, at, 5));
}

static int64_t write_bitwise(writer *w, const char *name, int64_t ty, const int64_t *args,
                             uint32_t count) {
    char type[32] = "prim.";
    memcpy(type + 5, name, strlen(name) + 1);
    return add_node(w, type,
                    numbers((const char *const[]){"span", "ty", "a", "b"},
                            (int64_t[]){0, ty, args[0], args[1]}, count + 2));
}

static int64_t write_call(writer *w, const hone_expr *e, int64_t ty) {
    int64_t args[3] = {0};
    char name[64];
    const char *spelling = hone_intrin_spelling((hone_intrin)e->op);
    bool is_core = e->op == HONE_INTRIN_IF_THEN_ELSE || e->op == HONE_INTRIN_LIKELY;
    int length = snprintf(name, sizeof name, is_core ? "prim.%s" : "tirx.%s", spelling);
    if (e->count > 3 || length >= (int)sizeof name) {
        w->unsupported = spelling;
        return 0;
    }
    for (uint32_t i = 0; i < e->count; i++)
        args[i] = write_expr(w, e->args[i]);
    for (size_t i = 0; i < HONE_COUNT(bitwise); i++) {
        if (bitwise[i].intrin == e->op) {
            return write_bitwise(w, bitwise[i].type, ty, args, e->count);
        }
    }
    int64_t op = add_node(w, "ir.Op", hone_json_make_text(name));
    int64_t list = write_array(w, args, e->count), none = write_array(w, NULL, 0);
    return add_node(w, "ir.Call",
                    numbers((const char *const[]){"span", "ty", "op", "args", "attrs", "ty_args"},
                            (int64_t[]){0, ty, op, list, 0, none}, 6));
}

/* Children first. */
static int64_t write_expr(writer *w, const hone_expr *e) {
    if (e->kind == HONE_EXPR_VAR) return write_var(w, e->u.var);
    int64_t ty = write_dtype(w, e->dtype), value;
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_INT:
    case HONE_EXPR_FLOAT:
        return write_constant(w, e, ty);
    case HONE_EXPR_BINARY:
        return write_binary(w, e, ty);
    case HONE_EXPR_SELECT:
        return write_select(w, e, ty);
    case HONE_EXPR_CALL:
        return write_call(w, e, ty);
    case HONE_EXPR_CAST:
    case HONE_EXPR_NOT: {
        bool is_not = e->kind == HONE_EXPR_NOT;
        value = write_expr(w, e->args[0]);
        const char *keys[] = {"span", "ty", is_not ? "a" : "value"};
        return add_node(w, is_not ? "prim.Not" : "prim.Cast",
                        numbers(keys, (int64_t[]){0, ty, value}, 3));
    }
    default:
        w->unsupported = "an expression of another kind";
        return 0;
    }
}

static int64_t write_map(writer *w, const hone_index_map *map, int64_t *items) {
    int64_t inverse = 0;
    w->map = map;
    for (uint32_t i = 0; i < map->param_count; i++)
        items[i] = write_var(w, i);
    int64_t params = write_array(w, items, map->param_count);
    for (uint32_t i = 0; i < map->count; i++)
        items[i] = write_expr(w, map->indices[i]);
    int64_t indices = write_array(w, items, map->count);
    if (map->inverse) {
        memset(w->var_at, 0, 3 * MAX_MAP_PARAMS * sizeof *w->var_at);
        inverse = write_map(w, map->inverse, items);
    }
    return add_node(
        w, "tirx.IndexMap",
        numbers((const char *const[]){"initial_indices", "final_indices", "inverse_index_map"},
                (int64_t[]){params, indices, inverse}, 3));
}

static bool fits(const hone_index_map *map) {
    return map->param_count + map->free_count <= 3 * MAX_MAP_PARAMS &&
           map->count <= MAX_MAP_INDICES && (!map->inverse || fits(map->inverse));
}

hone_status hone_index_map_print_json(const hone_index_map *map, const char *const *free_names,
                                      bool indented, hone_str *out) {
    if (map->variadic) {
        return bad("how many parameters a lambda with '*' has is not known before it is applied");
    }
    if (!fits(map)) return bad("too many variables or indices");
    int64_t vars[3 * MAX_MAP_PARAMS] = {0}, items[MAX_MAP_INDICES];
    writer w = {.nodes = hone_json_make_array(), .free_names = free_names, .var_at = vars};
    hone_json *json = hone_json_make_object(), *about = hone_json_make_object();
    add_node(&w, "None", NULL);
    int64_t root = write_map(&w, map, items);
    hone_json_set_i64(json, "root_index", root);
    size_t written = hone_json_count(w.nodes);
    bool ok = hone_json_set(json, "nodes", w.nodes);
    ok = hone_json_set_text(about, "tvm_version", "0.27.0") && ok;
    ok = hone_json_set(json, "metadata", about) && ok && written == (size_t)root + 1;
    const hone_json_style style = {.indent = indented ? 2 : 0, .is_compact = !indented};
    if (ok && !w.unsupported) hone_json_print(json, &style, out);
    hone_json_destroy(json);
    if (w.unsupported) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "index map: %s has no JSON form", w.unsupported);
    }
    return ok ? hone_str_check(out) : HONE_NO_MEMORY("index map");
}
