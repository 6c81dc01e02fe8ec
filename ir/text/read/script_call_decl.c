/* ir/text/read/script_call_decl.c - buffers: T.Buffer, T.match_buffer, T.alloc_buffer and their
 * kin.
 *
 *   T.sblock_alloc_buffer, T.alloc_buffer in a program with blocks: an allocation of the innermost
 *       block around the statement (the root block where there is none)
 *   T.alloc_buffer, T.allocate in a lowered program: an ALLOC node, alive to the end of the suite;
 *       in front of the body of a block it becomes the block's own (script_parse_func.c)
 *   T.decl_buffer, T.Buffer(data=...): another view of storage, by its handle
 */
#include "ir/text/read/script_impl.h"

#include <string.h>

/* ---- handles ---- */

bool script_new_var(script_parser *p, const char *name, hone_dtype dtype, hone_var *out_var) {
    *out_var = hone_func_add_var(p->func, name, dtype);
    return *out_var != HONE_NO_ID || script_no_memory(p);
}

void script_mark_var(script_parser *p, hone_var var, const py_value *type) {
    hone_var_info *info = &p->func->vars[var];
    info->is_size |= script_var_of(type)->is_size;
    if (!script_var_of(type)->point_scope) return;
    info->pointee = script_var_of(type)->pointee;
    info->point_scope = script_var_of(type)->point_scope;
}

bool script_buffer_data(script_parser *p, hone_buffer buffer, hone_var *out_var) {
    buffer = hone_func_storage(p->func, buffer);
    *out_var = p->func->buffers[buffer].data;
    if (*out_var != HONE_NO_ID) return true;
    const char *name = p->func->buffers[buffer].name;
    if (!script_new_var(p, name, HONE_DTYPE_HANDLE, out_var)) return false;
    p->func->buffers[buffer].data = *out_var;
    return true;
}

bool script_buffer_with_data(script_parser *p, hone_var data, hone_buffer *out_buffer) {
    for (uint32_t i = 0; i < p->func->buffer_count; i++) {
        if (p->func->buffers[i].data == data && p->func->buffers[i].alias_of == HONE_NO_ID) {
            *out_buffer = i;
            return true;
        }
    }
    *out_buffer = HONE_NO_ID;
    return false;
}

bool script_name_buffer(script_parser *p, hone_buffer buffer, const char *name) {
    hone_buffer_info *info = &p->func->buffers[buffer];
    info->name = script_strdup(p, name);
    if (info->data != HONE_NO_ID && info->alias_of == HONE_NO_ID &&
        strcmp(p->func->vars[info->data].name, "buffer") == 0) {
        p->func->vars[info->data].name = info->name;
    }
    return info->name != NULL;
}

/* ---- the description of a buffer ---- */

typedef struct places { /* where the positional arguments stand */
    uint32_t shape, dtype, data, strides, elem_offset, scope, align, offset_factor;
} places;

#define NOWHERE UINT32_MAX
static const places buffer_places = {0, 1, 2, 3, 4, 5, 6, 7};
static const places match_places = {1, 2, 3, 4, 5, 6, 7, 8};
static const places alloc_places = {0, 1, NOWHERE, NOWHERE, NOWHERE, 2, 3, NOWHERE};

/* A size in quotes is one that the buffer defines: T.Buffer(("n", 16)), strides=("", 1). */
static bool size_expr(script_parser *p, const py_value *v, hone_dtype dtype,
                      const hone_expr **out) {
    hone_var var = HONE_NO_ID;
    if (v->kind != PYV_STRING) return script_to_expr(p, v, out);
    p->size_dtype = dtype;
    if (*v->u.s) return script_quoted_extent(p, v, out);
    if (!script_new_var(p, "s", dtype, &var)) return false;
    *out = hone_func_var_expr(&p->ir, p->func, var);
    return *out || script_check_ir(p, v->at);
}

static bool index_exprs(script_parser *p, const py_value *v, hone_dtype dtype, uint32_t *out_count,
                        const hone_expr *const **out) {
    const py_value *items = NULL;
    script_items(v, &items, out_count);
    if (*out_count > 64) return script_fail(p, v->at, "%u dimensions, at most 64", *out_count);
    const hone_expr **exprs = script_alloc(p, p->arena, *out_count, sizeof *exprs);
    *out = exprs;
    if (!exprs) return false;
    for (uint32_t i = 0; i < *out_count; i++) {
        if (!size_expr(p, &items[i], dtype, &exprs[i])) return false;
    }
    for (uint32_t i = 0; i < *out_count; i++) {
        const hone_expr *e = (*out)[i];
        if (!hone_dtype_is_integer(e->dtype) || e->dtype.lanes != 1) {
            return script_fail_type(p, v->at, "a size is %s, expected an integer",
                                    HONE_DTYPE_NAME(e->dtype));
        }
    }
    return true;
}

static bool int_option(script_parser *p, const py_value *v, int32_t *out) {
    int64_t value = 0;
    if (!v) return true;
    if (!script_to_int(p, v, &value)) return false;
    if (value < 0 && value != -1)
        return script_fail(p, v->at, "%lld is negative", (long long)value);
    if (value > INT32_MAX) return script_fail(p, v->at, "%lld is too large", (long long)value);
    *out = value < 0 ? 0 : (int32_t)value;
    return true;
}

static bool separators_of(script_parser *p, const py_value *v, hone_buffer_info *info) {
    const py_value *items = NULL;
    if (!v) return true;
    script_items(v, &items, &info->separator_count);
    int32_t *places_of = script_alloc(p, p->arena, info->separator_count, sizeof *places_of);
    if (!places_of) return false;
    for (uint32_t i = 0; i < info->separator_count; i++) {
        if (!int_option(p, &items[i], &places_of[i])) return false;
    }
    info->separators = places_of;
    return true;
}

/* Of the strides and the offset that a buffer defines: that of its first size, as in TVM. */
static hone_dtype index_dtype(const hone_buffer_info *info) {
    return info->rank ? info->shape[0]->dtype : HONE_DTYPE_I32;
}

/* T.Buffer((m, n), strides=("s0", 1), elem_offset=T.int32()): new variables in place. */
static bool offset_of(script_parser *p, const script_call *call, const places *at,
                      hone_buffer_info *info) {
    const py_value *elements = script_arg(call, at->elem_offset, "elem_offset"),
                   *bytes = script_arg(call, NOWHERE, "byte_offset");
    if (bytes && elements) {
        return script_fail(p, bytes->at, "%s: elem_offset and byte_offset are both given",
                           call->callee);
    }
    if (elements || bytes) {
        if (!script_to_expr(p, elements ? elements : bytes, &info->elem_offset)) return false;
        if (bytes) {
            const hone_expr *size = hone_expr_int(&p->ir, info->elem_offset->dtype,
                                                  (int64_t)hone_dtype_bytes(info->dtype));
            info->elem_offset =
                script_fold_binary(&p->ir, HONE_OP_FLOORDIV, info->elem_offset, size);
            if (!info->elem_offset) return script_check_ir(p, bytes->at);
        }
        if (info->elem_offset->kind == HONE_EXPR_INT && info->elem_offset->u.i < 0) {
            return script_fail(p, (elements ? elements : bytes)->at,
                               "%s: elem_offset is %lld, must be at least 0", call->callee,
                               (long long)info->elem_offset->u.i);
        }
        bool is_default = hone_expr_is_int_value(info->elem_offset, 0) &&
                          info->offset_factor <= 1 &&
                          hone_dtype_equal(info->elem_offset->dtype, HONE_DTYPE_I32);
        if (is_default) info->elem_offset = NULL, info->offset_factor = 0;
        return true;
    }
    if (info->offset_factor == 0) return true;
    hone_var var = HONE_NO_ID; /* TVM makes one where a factor is named */
    if (!script_new_var(p, "elem_offset", index_dtype(info), &var)) return false;
    info->elem_offset = hone_func_var_expr(&p->ir, p->func, var);
    return info->elem_offset || script_check_ir(p, p->run.at);
}

static bool known_keywords(script_parser *p, const script_call *call) {
    static const char *const names[] = {
        "shape",           "dtype",         "data",           "strides", "elem_offset",
        "byte_offset",     "scope",         "align",          "layout",  "offset_factor",
        "buffer_type",     "annotations",   "allocated_addr", "param",   "logical_scope",
        "axis_separators", "axis_separator"};
    return script_check_keywords(p, call, names, HONE_COUNT(names));
}

/* layout=None, which is not the same as no word of it. */
static bool says_no_layout(const script_call *call) {
    for (uint32_t i = 0; i < call->keyword_count; i++) {
        const py_word *word = &call->keywords[i];
        if (strcmp(word->name, "layout") == 0) return word->value.kind == PYV_NONE;
    }
    return false;
}

static bool describe_buffer(script_parser *p, const script_call *call, const places *at,
                            hone_buffer_info *info) {
    const py_place place = py_place_of(&p->places, call->at);
    *info = (hone_buffer_info){.name = "buffer",
                               .dtype = HONE_DTYPE_F32,
                               .scope = "global",
                               .data = HONE_NO_ID,
                               .alias_of = HONE_NO_ID,
                               .matched_handle = HONE_NO_ID,
                               .line = place.line,
                               .column = place.column};
    const py_value *shape = NULL, *v = NULL;
    if (!known_keywords(p, call)) return false;
    if (!script_need_arg(p, call, at->shape, "shape", &shape)) return false;
    hone_dtype swapped;
    v = script_arg(call, at->dtype, "dtype");
    bool is_swapped = shape->kind == PYV_STRING && script_is_dtype_name(shape->u.s, &swapped) &&
                      v && script_is_list(v);
    if (is_swapped) {
        return script_fail(p, shape->at, "%s takes the shape before the dtype", call->callee);
    }
    bool is_type = shape->kind == PYV_STRING && script_is_dtype_name(shape->u.s, &swapped);
    if (is_type) {
        return script_fail(p, shape->at,
                           "%s takes the shape first, found a dtype: %s((16,), "
                           "\"%s\")",
                           call->callee, call->callee, shape->u.s);
    }
    if (!script_check_shape(p, call, shape, v)) return false;
    if (!index_exprs(p, shape, HONE_DTYPE_I32, &info->rank, &info->shape)) return false;
    for (uint32_t i = 0; i < info->rank; i++) {
        const hone_expr *e = info->shape[i];
        if (e->kind == HONE_EXPR_INT && e->u.i < 0) {
            return script_fail(p, shape->at, "size %u is %lld, must be at least 0", i,
                               (long long)e->u.i);
        }
    }
    if ((v = script_arg(call, at->dtype, "dtype")) && !script_to_dtype(p, v, &info->dtype))
        return false;
    if ((v = script_arg(call, at->strides, "strides"))) {
        uint32_t count = 0;
        if (!index_exprs(p, v, index_dtype(info), &count, &info->strides)) return false;
        if (count == 0) info->strides = NULL;
        if (count && count != info->rank) {
            return script_fail(p, v->at, "%u stride%s for %u dimension%s", count,
                               count == 1 ? "" : "s", info->rank, info->rank == 1 ? "" : "s");
        }
    }
    if ((v = script_arg(call, at->scope, "scope")) && !script_to_string(p, v, &info->scope))
        return false;
    if (!*info->scope) info->scope = "global";
    info->scope = script_strdup(p, info->scope);
    v = script_arg(call, NOWHERE, "annotations");
    if (v && !script_to_attrs(p, v, &info->annotations)) return false;
    info->has_no_layout = says_no_layout(call);
    return info->scope && int_option(p, script_arg(call, at->align, "align"), &info->align) &&
           int_option(p, script_arg(call, at->offset_factor, "offset_factor"),
                      &info->offset_factor) &&
           separators_of(p, script_arg(call, NOWHERE, "axis_separators"), info) &&
           offset_of(p, call, at, info);
}

/* data=: the storage of another buffer, or a handle on its own. */
static bool attach_data(script_parser *p, const py_value *v, hone_buffer_info *info) {
    if (!v) return true;
    bool is_data = v->kind == SCRIPT_METHOD && script_method_of(v)->base.kind == SCRIPT_BUFFER &&
                   strcmp(script_method_of(v)->name, "data") == 0;
    if (is_data) v = &script_method_of(v)->base;
    if (v->kind == SCRIPT_BUFFER) {
        info->alias_of = script_buffer_of(v);
        return true;
    }
    const hone_expr *e = NULL;
    if (!script_to_expr(p, v, &e)) return false;
    if (!hone_dtype_is_handle(e->dtype) || p->in_signature) {
        return script_fail(p, v->at, "expected the handle of a buffer as data");
    }
    if (e->kind != HONE_EXPR_VAR) { /* a pointer that is computed gets a name */
        py_value named;
        if (!script_open_let(p, v->at, HONE_NO_ID, e, &named) ||
            !script_rename_var(p, script_expr_of(&named)->u.var, "data")) {
            return false;
        }
        e = script_expr_of(&named);
        p->func->vars[e->u.var].pointee = info->dtype;
        p->func->vars[e->u.var].point_scope = info->scope;
    }
    info->data = e->u.var;
    hone_buffer owner = HONE_NO_ID;
    if (script_buffer_with_data(p, e->u.var, &owner)) {
        info->alias_of = hone_func_storage(p->func, owner);
        info->data = HONE_NO_ID;
    }
    return true;
}

static bool add_buffer(script_parser *p, const hone_buffer_info *info, py_value *out) {
    hone_buffer buffer = hone_func_add_buffer(p->func, info);
    if (buffer == HONE_NO_ID) return script_no_memory(p);
    *out = (py_value){.kind = SCRIPT_BUFFER, .is_fresh = true, .u.i = buffer};
    return true;
}

static bool inside_func(script_parser *p, const script_call *call) {
    if (p->func) return true;
    return script_fail(p, call->at, "'%s' stands outside of a tensor program", call->callee);
}

/* ---- calls ---- */

static bool view_node(script_parser *p, const script_call *call, hone_buffer buffer) {
    hone_node_id node;
    if (!script_add_node(p, HONE_NODE_DECL, call->at, &node)) return false;
    hone_func_node(p->func, node)->u.alloc.buffer = buffer;
    p->parent = node;
    return true;
}

/* TVM 0.27: T.Buffer without data is a buffer that something outside of the function owns. */
static bool is_free(const script_parser *p, const script_call *call, const py_value *data) {
    return !p->is_classic && !data && strcmp(call->callee, "T.Buffer") == 0;
}

/* The type of a parameter; in a body a view from here on (without data, storage of its own). */
static bool call_buffer(script_parser *p, const script_call *call, py_value *out) {
    hone_buffer_info info;
    const py_value *data = script_arg(call, 2, "data");
    return inside_func(p, call) && describe_buffer(p, call, &buffer_places, &info) &&
           attach_data(p, data, &info) && add_buffer(p, &info, out) &&
           (p->in_signature || is_free(p, call, data) || view_node(p, call, script_buffer_of(out)));
}

static bool block_alloc(script_parser *p, hone_buffer buffer) {
    script_block *b = p->block ? p->block : p->root;
    if (!script_grow(p, p->scratch, (void **)&b->allocs, &b->alloc_capacity, b->alloc_count,
                     sizeof *b->allocs)) {
        return false;
    }
    b->allocs[b->alloc_count++] = buffer;
    return true;
}

static bool alloc_node(script_parser *p, const script_call *call, hone_buffer buffer) {
    hone_node_id node;
    if (!script_add_node(p, HONE_NODE_ALLOC, call->at, &node)) return false;
    hone_func_node(p->func, node)->u.alloc.buffer = buffer;
    p->parent = node;
    return true;
}

static bool call_alloc(script_parser *p, const script_call *call, py_value *out) {
    hone_buffer_info info;
    if (!inside_func(p, call) || !describe_buffer(p, call, &alloc_places, &info)) return false;
    bool has_scope = script_arg(call, 2, "scope") != NULL;
    if (!has_scope && strcmp(call->callee, "T.alloc_shared") == 0) info.scope = "shared";
    if (!has_scope && strcmp(call->callee, "T.alloc_local") == 0) info.scope = "local";
    if (!add_buffer(p, &info, out)) return false;
    bool in_block =
        (p->is_classic && p->func->is_scheduled_form) || strstr(call->callee, "sblock") != NULL;
    return in_block ? block_alloc(p, script_buffer_of(out))
                    : alloc_node(p, call, script_buffer_of(out));
}

bool script_new_local(script_parser *p, const script_call *call, hone_dtype dtype, py_value *out) {
    py_value type = SCRIPT_VALUE_DTYPE(dtype);
    type.at = call->at;
    py_value shape = {
        .kind = PYV_TUPLE, .at = call->at, .count = call->count, .u.items = call->args};
    py_word words[] = {
        {"shape", shape},
        {"dtype", type }
    };
    script_call inner = {.callee = "T.alloc_local", .at = call->at, .keyword_count = 2};
    inner.keywords = words;
    hone_buffer_info info;
    if (!inside_func(p, call) || !describe_buffer(p, &inner, &alloc_places, &info)) return false;
    info.scope = "local";
    return add_buffer(p, &info, out) && alloc_node(p, call, script_buffer_of(out));
}

/* A.view(4, 4): the same storage in another shape; -1 is what is left. */
bool script_view(script_parser *p, hone_buffer base, const script_call *call, py_value *out) {
    const hone_expr **shape = script_alloc(p, p->arena, call->count, sizeof *shape);
    const hone_expr *whole = hone_expr_i32(&p->ir, 1), *rest = whole;
    uint32_t left = UINT32_MAX;
    if (!shape) return false;
    if (!call->count) return script_fail(p, call->at, "view: the shape is missing");
    for (uint32_t i = 0; i < call->count; i++) {
        if (call->args[i].kind == PYV_STRING || call->args[i].kind == SCRIPT_DTYPE) {
            return script_fail(p, call->args[i].at,
                               "view takes sizes; T.decl_buffer(shape, dtype, data=A.data) shows "
                               "another type");
        }
        if (!script_to_expr(p, &call->args[i], &shape[i])) return false;
        if (!hone_dtype_is_integer(shape[i]->dtype) || shape[i]->dtype.lanes != 1) {
            return script_fail_type(p, call->args[i].at, "a size is %s, expected an integer",
                                    HONE_DTYPE_NAME(shape[i]->dtype));
        }
        if (hone_expr_is_int_value(shape[i], -1) && left == UINT32_MAX) {
            left = i;
        } else {
            rest = script_fold_binary(&p->ir, HONE_OP_MUL, rest, shape[i]);
        }
    }
    hone_buffer_info info = *hone_func_buffer(p->func, base);
    for (uint32_t i = 0; left < call->count && i < info.rank; i++)
        whole = script_fold_binary(&p->ir, HONE_OP_MUL, whole, info.shape[i]);
    if (left < call->count) {
        bool zero = rest && hone_expr_is_int_value(rest, 0);
        if (zero) return script_fail(p, call->at, "view: the size of -1 is unknown");
        shape[left] = script_fold_binary(&p->ir, HONE_OP_FLOORDIV, whole, rest);
    }
    if (info.strides && info.rank != call->count) {
        return script_fail(p, call->at, "'%s' has strides, so its views have %u dimensions",
                           info.name, info.rank);
    }
    info.rank = call->count;
    info.shape = shape;
    info.alias_of = base;
    info.data = info.matched_handle = HONE_NO_ID;
    info.form = HONE_BUFFER_VIEW;
    info.annotations = (hone_attrs){0};
    info.separator_count = 0;
    return script_check_ir(p, call->at) && add_buffer(p, &info, out) &&
           view_node(p, call, script_buffer_of(out));
}

/* T.allocate([128], "float32", "global") gives the handle, T.Buffer(data=it) the buffer. */
static bool call_allocate(script_parser *p, const script_call *call, py_value *out) {
    hone_buffer_info info;
    if (!inside_func(p, call)) return false;
    const py_value *shape = script_arg(call, 0, "extents"), *scope = script_arg(call, 2, "scope");
    const py_value *type = script_arg(call, 1, "dtype");
    if (!shape || !type) return script_fail(p, call->at, "T.allocate needs extents and dtype");
    py_word words[] = {
        {"shape",       *shape            },
        {"dtype",       *type             },
        {"scope",       {.kind = PYV_NONE}},
        {"annotations", {.kind = PYV_NONE}}
    };
    const py_value *notes = script_arg(call, NOWHERE, "annotations");
    if (scope) words[2].value = *scope;
    if (notes) words[3].value = *notes;
    script_call inner = {
        .callee = call->callee, .at = call->at, .keyword_count = 4, .keywords = words};
    if (!describe_buffer(p, &inner, &alloc_places, &info)) return false;
    return add_buffer(p, &info, out) && alloc_node(p, call, script_buffer_of(out));
}

/* ---- T.match_buffer ---- */

static bool match_region(script_parser *p, const hone_region *region, hone_buffer buffer) {
    script_block *b = p->block;
    if (!script_grow(p, p->scratch, (void **)&b->matches, &b->match_capacity, b->match_count,
                     sizeof *b->matches)) {
        return false;
    }
    b->matches[b->match_count++] = (hone_match){.buffer = buffer, .source = *region};
    return true;
}

static bool check_handle(script_parser *p, const py_value *source, hone_var handle) {
    hone_dtype dtype = p->func->vars[handle].dtype;
    if (hone_dtype_equal(dtype, HONE_DTYPE_HANDLE)) return true;
    return script_fail_type(p, source->at, "'%s' is %s, T.match_buffer takes a T.handle",
                            p->func->vars[handle].name, HONE_DTYPE_NAME(dtype));
}

static bool match_param(script_parser *p, const py_value *source, hone_var handle,
                        hone_buffer buffer) {
    for (uint32_t i = 0; i < p->param_count; i++) {
        if (p->params[i].var != handle) continue;
        if (p->params[i].buffer != HONE_NO_ID) {
            return script_fail(p, source->at, "this parameter is matched twice");
        }
        p->params[i].buffer = buffer;
        p->func->buffers[buffer].matched_handle = handle;
        return true;
    }
    return script_fail(p, source->at, "'%s' is no parameter", p->func->vars[handle].name);
}

/* T.match_buffer(A[8:16, 0:4]) has the shape of the region, and any match of one its dtype. */
static bool region_words(script_parser *p, const script_call *call, const hone_region *region,
                         py_word *words, uint32_t *count) {
    const hone_buffer_info *info = hone_func_buffer(p->func, region->buffer);
    *count = 0;
    if (!script_arg(call, match_places.shape, "shape")) {
        py_value *sizes = script_alloc(p, p->scratch, info->rank, sizeof *sizes);
        if (!sizes) return false;
        for (uint32_t i = 0; i < info->rank; i++)
            sizes[i] = SCRIPT_VALUE_EXPR(region->ranges[i].extent);
        words[(*count)++] = (py_word){
            "shape", {.kind = PYV_TUPLE, .count = info->rank, .at = call->at, .u.items = sizes}
        };
    }
    if (!script_arg(call, match_places.dtype, "dtype")) {
        words[*count] = (py_word){"dtype", SCRIPT_VALUE_DTYPE(info->dtype)};
        words[(*count)++].value.at = call->at;
    }
    return true;
}

static bool match_source(script_parser *p, const script_call *call, const py_value *source,
                         py_value *out) {
    hone_buffer_info info;
    hone_region region;
    uint32_t count = 0;
    bool is_region =
        source->kind == SCRIPT_ACCESS || source->kind == SCRIPT_BUFFER ||
        (source->kind == SCRIPT_EXPR && script_expr_of(source)->kind == HONE_EXPR_LOAD);
    if (!is_region) {
        return script_fail(p, source->at,
                           "T.match_buffer takes a parameter (T.handle) or a region of a buffer "
                           "first, found %s",
                           script_kind_name(source));
    }
    if (!p->block && source->kind == SCRIPT_BUFFER) {
        return script_fail(p, source->at,
                           "'%s' is a buffer already; T.match_buffer takes a parameter of type "
                           "T.handle, or a region inside of a block",
                           hone_func_buffer(p->func, script_buffer_of(source))->name);
    }
    if (!p->block) {
        return script_fail(p, source->at, "a region is matched outside of a block");
    }
    py_word *words = script_alloc(p, p->scratch, (size_t)call->keyword_count + 2, sizeof *words);
    if (!words || !script_to_region(p, source, &region) ||
        !region_words(p, call, &region, words, &count)) {
        return false;
    }
    for (uint32_t i = 0; i < call->keyword_count; i++)
        words[count++] = call->keywords[i];
    script_call whole = *call;
    whole.keywords = words;
    whole.keyword_count = count;
    return describe_buffer(p, &whole, &match_places, &info) && add_buffer(p, &info, out) &&
           match_region(p, &region, script_buffer_of(out));
}

/* The parts of a buffer's type that are expressions, one after the other; false behind the last. */
static bool next_part(const hone_buffer_info *info, uint32_t i, const hone_expr **out) {
    *out = info->elem_offset;
    if (i < info->rank)
        *out = info->shape[i];
    else if (i < 2 * info->rank)
        *out = info->strides ? info->strides[i - info->rank] : NULL;
    return i <= 2 * info->rank;
}

/* A parameter's type is known before the body runs: no variable of the body stands in it, nothing
 * is loaded for it. */
static bool check_type_of_param(script_parser *p, const script_call *call,
                                const hone_buffer_info *info) {
    const hone_expr *part;
    for (uint32_t i = 0; next_part(info, i, &part); i++) {
        const hone_expr *load = part ? hone_expr_find(part, hone_expr_is_load, NULL) : NULL;
        if (load) {
            return script_fail(p, call->at,
                               "the type of a parameter depends on what is in '%s', which has a "
                               "value in the body only",
                               p->func->buffers[load->u.buffer].name);
        }
    }
    for (hone_node_id n = p->parent; n != HONE_NO_ID; n = hone_func_node(p->func, n)->parent) {
        const hone_node *node = hone_func_node(p->func, n);
        if (node->kind != HONE_NODE_LET && node->kind != HONE_NODE_FOR) continue;
        hone_var var = node->kind == HONE_NODE_LET ? node->u.let.var : node->u.loop.var;
        for (uint32_t i = 0; next_part(info, i, &part); i++) {
            if (!part || !hone_expr_uses_var(part, var)) continue;
            return script_fail(p, call->at,
                               "the type of a parameter depends on '%s', which has a value in the "
                               "body only",
                               p->func->vars[var].name);
        }
    }
    return true;
}

static bool call_match_buffer(script_parser *p, const script_call *call, py_value *out) {
    const py_value *source = NULL;
    hone_buffer_info info;
    if (!inside_func(p, call) || !script_need_arg(p, call, 0, "param", &source)) return false;
    bool is_param = source->kind == SCRIPT_EXPR && script_expr_of(source)->kind == HONE_EXPR_VAR;
    if (!is_param) return match_source(p, call, source, out);
    return check_handle(p, source, script_expr_of(source)->u.var) &&
           describe_buffer(p, call, &match_places, &info) && check_type_of_param(p, call, &info) &&
           add_buffer(p, &info, out) &&
           match_param(p, source, script_expr_of(source)->u.var, script_buffer_of(out));
}

const script_entry script_decl_calls[] = {
    {"T.Buffer",              call_buffer      },
    {"T.buffer_decl",         call_buffer      },
    {"T.buffer",              call_buffer      },
    {"T.decl_buffer",         call_buffer      },
    {"T.match_buffer",        call_match_buffer},
    {"T.alloc_buffer",        call_alloc       },
    {"T.sblock_alloc_buffer", call_alloc       },
    {"T.alloc_shared",        call_alloc       },
    {"T.alloc_local",         call_alloc       },
    {"T.allocate",            call_allocate    },
    {NULL,                    NULL             },
};
