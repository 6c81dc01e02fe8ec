/* include/api_graph_look.c - what is asked of arguments and bindings, and visitors. */
#include "include/api.h"
#include "include/api_graph.h"
#include "ir/ops/graph_op.h"

/* ---- arguments ---- */

const hone_argument *hone_api_argument(hone_arena *arena, const hone_module *module,
                                       const hone_graph_func *func, const hone_garg *garg) {
    hone_argument *made = hone_arena_alloc(arena, sizeof *made);
    if (made) *made = (hone_argument){module, func, arena, *garg};
    return made;
}

static const hone_sinfo *info_of(const hone_argument *a) {
    return a ? hone_garg_sinfo(a->module, a->func, &a->garg, a->arena) : NULL;
}

hone_argument_kind hone_argument_get_kind(const hone_argument *a) {
    if (!a) return HONE_ARGUMENT_OTHER;
    switch (a->garg.kind) {
    case HONE_GARG_VALUE:
        return HONE_ARGUMENT_VALUE;
    case HONE_GARG_CONSTANT:
        return HONE_ARGUMENT_CONSTANT;
    case HONE_GARG_SHAPE:
        return HONE_ARGUMENT_SHAPE;
    case HONE_GARG_PRIM:
        return HONE_ARGUMENT_NUMBER;
    case HONE_GARG_STRING:
        return HONE_ARGUMENT_TEXT;
    case HONE_GARG_TUPLE:
        return HONE_ARGUMENT_TUPLE;
    case HONE_GARG_GLOBAL:
    case HONE_GARG_EXTERN:
        return HONE_ARGUMENT_FUNCTION;
    case HONE_GARG_DTYPE:
    case HONE_GARG_NONE:
        break;
    }
    return HONE_ARGUMENT_OTHER;
}

const char *hone_argument_name(const hone_argument *a) {
    if (!a) return NULL;
    switch (a->garg.kind) {
    case HONE_GARG_VALUE:
        return a->func->values[a->garg.u.value].name;
    case HONE_GARG_STRING:
    case HONE_GARG_GLOBAL:
    case HONE_GARG_EXTERN:
        return a->garg.u.s;
    default:
        return NULL;
    }
}

const char *hone_argument_describe(const hone_argument *a) {
    if (!a) return NULL;
    hone_str text = {0};
    hone_sinfo_describe(a->func, info_of(a), &text);
    const char *kept = hone_arena_strdup(a->arena, hone_str_text(&text));
    hone_str_deinit(&text);
    return kept;
}

void hone_argument_type(const hone_argument *a, char out_type[24]) {
    const hone_sinfo *info = info_of(a);
    if (!out_type) return;
    out_type[0] = '\0';
    bool has_type = info && (info->kind == HONE_SINFO_TENSOR || info->kind == HONE_SINFO_PRIM) &&
                    !hone_dtype_is_void(info->dtype);
    if (has_type) hone_dtype_print(info->dtype, out_type, HONE_DTYPE_NAME_BYTES);
}

int32_t hone_argument_rank(const hone_argument *a) {
    const hone_sinfo *info = info_of(a);
    bool has_rank = info && (info->kind == HONE_SINFO_TENSOR || info->kind == HONE_SINFO_SHAPE);
    return has_rank ? info->rank : -1;
}

static const hone_expr *extent_of(const hone_argument *a, uint32_t dimension) {
    int32_t rank = hone_argument_rank(a);
    if (rank < 0 || dimension >= (uint32_t)rank) return NULL;
    const hone_sinfo *info = info_of(a);
    return info->shape ? info->shape[dimension] : NULL;
}

int64_t hone_argument_extent(const hone_argument *a, uint32_t dimension) {
    const hone_expr *e = extent_of(a, dimension);
    return e ? hone_expr_const(e) : -1;
}

const hone_term *hone_argument_extent_term(const hone_argument *a, uint32_t dimension) {
    return (const hone_term *)extent_of(a, dimension);
}

double hone_argument_number(const hone_argument *a) {
    if (!a || a->garg.kind != HONE_GARG_PRIM) return 0;
    return hone_term_float_value((const hone_term *)a->garg.u.expr);
}

size_t hone_argument_item_count(const hone_argument *a) {
    return a && a->garg.kind == HONE_GARG_TUPLE ? a->garg.count : 0;
}

const hone_argument *hone_argument_item(const hone_argument *a, size_t index) {
    if (index >= hone_argument_item_count(a)) return NULL;
    return hone_api_argument(a->arena, a->module, a->func, &a->garg.u.items[index]);
}

const void *hone_argument_data(const hone_argument *a, size_t *out_bytes) {
    if (out_bytes) *out_bytes = 0;
    if (!a || a->garg.kind != HONE_GARG_CONSTANT) return NULL;
    const hone_tensor *tensor = a->module->constants[a->garg.u.constant];
    if (out_bytes) *out_bytes = hone_tensor_bytes(tensor);
    return tensor->data;
}

int hone_argument_same(const hone_argument *a, const hone_argument *b) {
    if (!a || !b) return a == b;
    return a->func == b->func && hone_garg_same(&a->garg, &b->garg);
}

/* ---- bindings ---- */

hone_status hone_api_binding(hone_arena *arena, const hone_module *module,
                             const hone_graph_func *func, const hone_gbind *bind,
                             const hone_garg *args, hone_binding *out) {
    const hone_argument **list =
        hone_arena_zalloc(arena, ((size_t)bind->arg_count + 1) * sizeof *list);
    *out = (hone_binding){.bind = bind, .args = list};
    bool ok = list != NULL;
    for (uint32_t i = 0; ok && i < bind->arg_count; i++) {
        list[i] = hone_api_argument(arena, module, func, &args[i]);
        ok = list[i] != NULL;
    }
    return ok ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "binding");
}

hone_binding_kind hone_binding_get_kind(const hone_binding *b) {
    if (!b) return HONE_BINDING_OTHER;
    switch (b->bind->kind) {
    case HONE_GBIND_CALL:
        return HONE_BINDING_OPERATOR;
    case HONE_GBIND_CALL_TIR:
        return HONE_BINDING_TENSOR_PROGRAM;
    case HONE_GBIND_CALL_DPS:
        return HONE_BINDING_EXTERNAL;
    case HONE_GBIND_CALL_PACKED:
        return HONE_BINDING_PACKED;
    case HONE_GBIND_CALL_FUNC:
        return HONE_BINDING_FUNCTION;
    case HONE_GBIND_ARG:
        return HONE_BINDING_ALIAS;
    case HONE_GBIND_TUPLE_GET:
        return HONE_BINDING_ITEM;
    case HONE_GBIND_MATCH_CAST:
        return HONE_BINDING_CAST;
    case HONE_GBIND_IF:
        break;
    }
    return HONE_BINDING_OTHER;
}

const char *hone_binding_callee(const hone_binding *b) {
    return b ? b->bind->callee : NULL;
}

const hone_argument *hone_binding_value(const hone_binding *b) {
    return b ? b->value : NULL;
}

size_t hone_binding_arg_count(const hone_binding *b) {
    return b ? b->bind->arg_count : 0;
}

const hone_argument *hone_binding_arg(const hone_binding *b, size_t index) {
    return index < hone_binding_arg_count(b) ? b->args[index] : NULL;
}

int32_t hone_binding_index(const hone_binding *b) {
    return b && b->bind->kind == HONE_GBIND_TUPLE_GET ? b->bind->index : 0;
}

int64_t hone_binding_integer(const hone_binding *b, const char *key, int64_t default_value) {
    return b && key ? hone_attrs_int(&b->bind->attrs, key, default_value) : default_value;
}

const char *hone_binding_text(const hone_binding *b, const char *key) {
    return b && key ? hone_attrs_string(&b->bind->attrs, key, NULL) : NULL;
}

/* ---- visitors ---- */

static hone_status visit_binding(const hone_graph_visitor *visitor, hone_arena *arena,
                                 const hone_module *module, const hone_graph_func *func,
                                 const hone_gbind *bind) {
    hone_binding binding;
    hone_garg value = HONE_GARG_OF_VALUE(bind->value);
    HONE_TRY(hone_api_binding(arena, module, func, bind, bind->args, &binding));
    binding.value = hone_api_argument(arena, module, func, &value);
    if (!binding.value) return HONE_NO_MEMORY("visitor");
    visitor->binding(visitor->context, &binding);
    return HONE_OK;
}

static hone_status visit(const hone_graph_visitor *visitor, hone_arena *arena,
                         const hone_module *module, const hone_graph_func *func) {
    for (uint32_t i = 0; visitor->parameter && i < func->param_count; i++) {
        hone_garg value = HONE_GARG_OF_VALUE(i);
        const hone_argument *parameter = hone_api_argument(arena, module, func, &value);
        if (!parameter) return HONE_NO_MEMORY("visitor");
        visitor->parameter(visitor->context, parameter);
    }
    for (uint32_t i = 0; visitor->binding && i < func->bind_count; i++) {
        HONE_TRY(visit_binding(visitor, arena, module, func, &func->bindings[i]));
    }
    if (!visitor->result) return HONE_OK;
    const hone_argument *result = hone_api_argument(arena, module, func, &func->result);
    if (!result) return HONE_NO_MEMORY("visitor");
    visitor->result(visitor->context, result);
    return HONE_OK;
}

hone_error *hone_graph_visit(const hone_program *program, const char *function,
                             const hone_graph_visitor *visitor) {
    HONE_API_NEED(program);
    HONE_API_NEED(visitor);
    const hone_module *module = hone_api_module(program);
    const hone_member *member;
    hone_status st = hone_module_pick(module, function, &member);
    if (!st && member->kind != HONE_MEMBER_GRAPH) {
        st = HONE_ERROR(HONE_CODE_UNSUPPORTED, "'%s' is no graph function", member->name);
    }
    if (st) return hone_api_error(st);
    hone_graph_visitor copy = *visitor;
    hone_arena *arena = hone_arena_create(4096);
    if (!arena) return hone_api_error(HONE_NO_MEMORY("visitor"));
    st = visit(&copy, arena, module, member->graph);
    hone_arena_destroy(arena);
    return hone_api_error(st);
}
