/* ir/text/read/script_call.c - what `name(...)`, `value.name` and `value[...]` mean. */
#include "ir/ops/graph_op.h"
#include "ir/ops/named_op.h"
#include "ir/text/read/script_impl.h"

#include <string.h>

/* ---- calls of dotted names ---- */

static const script_entry *const tables[] = {
    script_expr_calls, script_type_calls,   script_intrin_calls,
    script_decl_calls, script_scalar_calls, script_block_calls,
    script_loop_calls, script_frame_calls,  script_lambda_calls};

static script_function find_in(const script_entry *table, const char *name) {
    const script_entry *e = table;
    while (e->name && strcmp(e->name, name) != 0)
        e++;
    return e->run;
}

static script_function find_call(const char *name) {
    script_function found = NULL;
    for (size_t t = 0; t < HONE_COUNT(tables) && !found; t++)
        found = find_in(tables[t], name);
    return found;
}

bool script_is_function(const char *name) {
    if (find_call(name)) return true;
    if (strncmp(name, "T.", 2) != 0) return false;
    hone_intrin intrin;
    return hone_intrin_find(name + 2, &intrin) || hone_named_op_find(name + 2);
}

bool script_finish(script_parser *p, const script_call *call, const hone_expr *e, py_value *out) {
    *out = SCRIPT_VALUE_EXPR(e);
    return script_check_ir(p, call->at);
}

size_t script_call_names(script_parser *p, const char **names, size_t most) {
    size_t count = 0;
    for (size_t t = 0; t < HONE_COUNT(tables); t++) {
        for (const script_entry *e = tables[t]; e->name && count < most; e++)
            names[count++] = e->name;
    }
    for (int i = 0; i < HONE_INTRIN_COUNT && count < most; i++) {
        const char *full =
            hone_arena_printf(p->scratch, "T.%s", hone_intrin_spelling((hone_intrin)i));
        if (full) names[count++] = full;
    }
    for (size_t i = 0; hone_named_op_at(i) && count < most; i++) {
        const char *full = hone_arena_printf(p->scratch, "T.%s", hone_named_op_at(i)->name);
        if (full) names[count++] = full;
    }
    return count;
}

/* A number of a type, or what is computed of some: it may stand beside programs, as a name or a
 * default. (T.int32() is a new variable.) */
static bool makes_number(const script_call *call) {
    static const char *const names[] = {"T.const",     "T.Cast",      "T.cast",
                                        "T.min_value", "T.max_value", "T.infinity",
                                        "T.nan",       "T.FloatImm",  "T.IntImm"};
    hone_dtype dtype;
    if (!call->count) return false;
    for (size_t i = 0; i < HONE_COUNT(names); i++) {
        if (strcmp(call->callee, names[i]) == 0) return true;
    }
    return find_in(script_expr_calls, call->callee) ||
           (script_is_dtype_word(call->callee + 2, &dtype) && !hone_dtype_is_handle(dtype));
}

bool script_call_path(script_parser *p, const script_call *call, py_value *out) {
    if (strncmp(call->callee, "R.", 2) == 0) return script_call_graph(p, call, out);
    script_function run = find_call(call->callee);
    bool needs_func = strncmp(call->callee, "T.", 2) == 0;
    if (needs_func && !p->func && !p->graph && !makes_number(call)) {
        return script_fail(p, call->at, "'%s' stands outside of a function", call->callee);
    }
    if (run) return script_check_arguments(p, call) && run(p, call, out);
    bool known = false;
    if (!script_call_intrin(p, call, out, &known)) return false;
    if (!known && needs_func && !script_call_named(p, call, out, &known)) return false;
    return known || script_unknown_call(p, call);
}

/* ---- attributes ---- */

/* The rooms of TVM that a name may be spelled with. */
static const char *const renames[][2] = {
    {"tvm.script.ir_module", "I.ir_module"},
    {"tvm.target.Target",    "T.target"   },
    {"tvm.script.tir",       "T"          },
    {"tvm.script.tirx",      "T"          },
    {"tvm.script.relax",     "R"          },
    {"tvm.script.ir",        "I"          },
    {"tvm.tir",              "T"          },
    {"tvm.tirx",             "T"          },
    {"tvm.relax",            "R"          },
    {"tvm.ir",               "I"          },
    {"tvm.s_tir",            "T"          },
    {"R.op",                 "R"          },
    {"T.Schedule",           "T.Schedule" },
};

static bool extend_path(script_parser *p, const char *base, const char *name, py_value *out) {
    const char *path = hone_arena_printf(p->scratch, "%s.%s", base, name);
    if (!path) return script_no_memory(p);
    if (strlen(path) > 200) return script_fail(p, p->run.at, "this name is too long");
    for (size_t i = 0; i < HONE_COUNT(renames); i++) {
        if (strcmp(renames[i][0], path) == 0) path = renames[i][1];
    }
    *out = SCRIPT_VALUE_PATH(path);
    return true;
}

static bool expr_tuple(script_parser *p, uint32_t count, const hone_expr *const *exprs,
                       py_value *out) {
    py_value *items = script_alloc(p, p->scratch, count, sizeof *items);
    if (!items) return false;
    for (uint32_t i = 0; i < count; i++)
        items[i] = SCRIPT_VALUE_EXPR(exprs[i]);
    *out = (py_value){.kind = PYV_TUPLE, .count = count, .u.items = items};
    return true;
}

/* buffer.strides: what the buffer declares, or those of a dense one. */
static bool strides_of(script_parser *p, const hone_buffer_info *info, py_value *out) {
    if (info->strides) return expr_tuple(p, info->rank, info->strides, out);
    const hone_expr **strides = script_alloc(p, p->scratch, info->rank, sizeof *strides);
    if (!strides) return false;
    for (uint32_t i = info->rank; i-- > 0;) {
        strides[i] = i + 1 == info->rank ? hone_expr_int(&p->ir, info->shape[i]->dtype, 1)
                                         : script_fold_binary(&p->ir, HONE_OP_MUL, strides[i + 1],
                                                              info->shape[i + 1]);
    }
    return script_check_ir(p, p->run.at) && expr_tuple(p, info->rank, strides, out);
}

static bool buffer_attribute(script_parser *p, hone_buffer buffer, const char *name, uint32_t at,
                             py_value *out, bool *out_known) {
    const hone_buffer_info *info = hone_func_buffer(p->func, buffer);
    *out_known = true;
    if (strcmp(name, "shape") == 0) return expr_tuple(p, info->rank, info->shape, out);
    if (strcmp(name, "strides") == 0) return strides_of(p, info, out);
    if (strcmp(name, "dtype") == 0) {
        *out = SCRIPT_VALUE_DTYPE(info->dtype);
        return true;
    }
    if (strcmp(name, "elem_offset") == 0) {
        *out = SCRIPT_VALUE_EXPR(info->elem_offset ? info->elem_offset : hone_expr_i32(&p->ir, 0));
        return script_check_ir(p, at);
    }
    *out_known = false;
    return true;
}

/* x.struct_info, in 0.27 x.ty: what is known of x here. */
static bool type_of_value(script_parser *p, const py_value *base, uint32_t at, py_value *out) {
    const hone_sinfo *info = hone_garg_sinfo(p->module, p->graph, script_garg_of(base), p->arena);
    if (!info) {
        return script_fail(p, at,
                           "the type of this value is not known yet; write it out, as in "
                           "R.Tensor((1, 784), \"float32\")");
    }
    *out = (py_value){.kind = SCRIPT_SINFO, .u.host = info};
    return true;
}

bool script_attribute(script_parser *p, const py_value *base, const char *name, uint32_t at,
                      py_value *out) {
    if (base->kind == SCRIPT_PATH) return extend_path(p, base->u.s, name, out);
    if (base->kind == SCRIPT_MODULE) {
        for (uint32_t i = 0; i < p->global_count; i++) {
            if (strcmp(p->globals[i], name) == 0) {
                *out = (py_value){.kind = SCRIPT_GLOBAL, .u.s = name};
                return true;
            }
        }
        const char *near_name = script_nearest(name, p->globals, p->global_count);
        if (near_name) {
            return script_fail(p, at, "the module has no function '%s'; did you mean '%s'?", name,
                               near_name);
        }
        return script_fail(p, at, "the module has no function '%s'", name);
    }
    bool known = false;
    if (base->kind == SCRIPT_BUFFER &&
        !buffer_attribute(p, script_buffer_of(base), name, at, out, &known)) {
        return false;
    }
    if (known) return true;
    if (base->kind == SCRIPT_NEWVAR && strcmp(name, "ty") == 0) { /* T.handle().ty */
        *out = SCRIPT_VALUE_DTYPE(script_var_of(base)->dtype);
        return true;
    }
    bool is_value = base->kind == SCRIPT_EXPR || base->kind == SCRIPT_ACCESS;
    if (is_value && strcmp(name, "dtype") == 0) {
        const hone_expr *e = NULL;
        if (!script_to_expr(p, base, &e)) return false;
        *out = SCRIPT_VALUE_DTYPE(e->dtype);
        return true;
    }
    bool is_source = base->kind == SCRIPT_ACCESS && strcmp(name, "source") == 0 &&
                     p->func->buffers[script_access_of(base)->buffer].form == HONE_BUFFER_SCALAR;
    if (is_source) { /* x.source[0], where x is a scalar */
        *out = (py_value){.kind = SCRIPT_BUFFER, .at = at, .u.i = script_access_of(base)->buffer};
        return true;
    }
    bool is_type = strcmp(name, "struct_info") == 0 || strcmp(name, "ty") == 0;
    if (base->kind == SCRIPT_GARG && is_type) return type_of_value(p, base, at, out);
    bool has_methods = is_value || base->kind == SCRIPT_BUFFER || base->kind == SCRIPT_GARG;
    if (!has_methods) {
        return script_fail(p, at, "%s has no attribute '%s'", script_kind_name(base), name);
    }
    script_method *method = script_alloc(p, p->scratch, 1, sizeof *method);
    if (!method) return false;
    *method = (script_method){*base, name, at};
    *out = (py_value){.kind = SCRIPT_METHOD, .u.host = method};
    return true;
}

/* ---- methods ---- */

/* A.access_ptr("rw", offset=, extent=): the handle with offset, extent and what is done to it. */
static bool access_ptr(script_parser *p, const py_value *base, const script_call *call,
                       py_value *out) {
    const py_value *mode_arg = NULL;
    if (!script_need_arg(p, call, 0, "access_mask", &mode_arg)) return false;
    int64_t mask = 0;
    if (mode_arg->kind == PYV_STRING) {
        mask = (strchr(mode_arg->u.s, 'r') ? 1 : 0) | (strchr(mode_arg->u.s, 'w') ? 2 : 0);
        if (!mask)
            return script_fail(p, mode_arg->at,
                               "access mode is \"%s\", expected \"r\", \"w\" or \"rw\"",
                               mode_arg->u.s);
    } else if (!script_to_int(p, mode_arg, &mask)) {
        return false;
    }
    const hone_buffer_info *info = hone_func_buffer(p->func, script_buffer_of(base));
    const hone_expr *offset = info->elem_offset ? info->elem_offset : hone_expr_i32(&p->ir, 0);
    const hone_expr *extent = hone_expr_i32(&p->ir, 1);
    if (info->strides && info->rank) {
        extent = script_fold_binary(&p->ir, HONE_OP_MUL, info->strides[0], info->shape[0]);
    } else {
        for (uint32_t i = 0; i < info->rank; i++) {
            extent = script_fold_binary(&p->ir, HONE_OP_MUL, extent, info->shape[i]);
        }
    }
    hone_dtype dtype = info->dtype;
    const py_value *more = script_arg(call, 3, "offset"), *length = script_arg(call, 4, "extent"),
                   *lanes = script_arg(call, 2, "content_lanes");
    const hone_expr *add = NULL;
    int64_t lane_count = 1;
    if (lanes && !script_to_int(p, lanes, &lane_count)) return false;
    if (lane_count < 1 || lane_count > 1024) {
        return script_fail(p, lanes->at, "content_lanes is %lld, expected 1 to 1024",
                           (long long)lane_count);
    }
    if (lane_count > 1) { /* offset and extent count vectors */
        const hone_expr *by = hone_expr_int(&p->ir, extent->dtype, lane_count);
        dtype = hone_dtype_with_lanes(dtype, (uint16_t)lane_count);
        extent = script_fold_binary(&p->ir, HONE_OP_FLOORDIV, extent, by);
        by = hone_expr_int(&p->ir, offset->dtype, lane_count);
        offset = script_fold_binary(&p->ir, HONE_OP_FLOORDIV, offset, by);
    }
    if (more) {
        if (!script_to_expr(p, more, &add)) return false;
        offset = script_fold_binary(&p->ir, HONE_OP_ADD, offset, add);
        extent = script_fold_binary(&p->ir, HONE_OP_SUB, extent, add);
    }
    if (length && !script_to_expr(p, length, &extent)) return false;
    hone_var data = HONE_NO_ID;
    if (!script_buffer_data(p, script_buffer_of(base), &data)) return false;
    const hone_expr *args[] = {hone_expr_call(&p->ir, dtype, HONE_INTRIN_TYPE_ANNOTATION, 0, NULL),
                               hone_func_var_expr(&p->ir, p->func, data), offset, extent,
                               hone_expr_i32(&p->ir, mask)};
    *out = SCRIPT_VALUE_EXPR(
        hone_expr_call(&p->ir, HONE_DTYPE_HANDLE, HONE_INTRIN_ACCESS_PTR, 5, args));
    return script_check_ir(p, call->at);
}

/* predicate= of vload and vstore: T.masked_load and T.masked_store say the same. */
static bool masked_call(script_parser *p, const py_value *base, const script_call *call,
                        const py_value *value, const py_value *begin, const py_value *predicate,
                        py_value *out) {
    const py_value *items = NULL;
    uint32_t count = 0, used = 0;
    script_items(begin, &items, &count);
    py_value *args = script_alloc(p, p->scratch, (size_t)count + 3, sizeof *args);
    const hone_expr *mask = NULL;
    if (!args || !script_to_expr(p, predicate, &mask)) return false;
    args[used++] = *base;
    if (value) args[used++] = *value;
    if (count) memcpy(args + used, items, count * sizeof *items);
    args[used + count] = SCRIPT_VALUE_EXPR(mask);
    hone_dtype dtype = hone_func_buffer(p->func, script_buffer_of(base))->dtype;
    dtype = hone_dtype_with_lanes(dtype, mask->dtype.lanes);
    py_value type = SCRIPT_VALUE_DTYPE(dtype);
    type.at = call->at;
    py_word said = {"dtype", type};
    script_call inner = {.callee = value ? "T.masked_store" : "T.masked_load",
                         .at = call->at,
                         .count = used + count + 1,
                         .args = args,
                         .keyword_count = value ? 0 : 1,
                         .keywords = &said};
    return script_call_path(p, &inner, out);
}

/* The store of a mask, as a statement. */
static bool masked_store(script_parser *p, const py_value *base, const script_call *call,
                         const py_value *value, const py_value *begin, const py_value *predicate,
                         py_value *out) {
    py_value done;
    hone_node_id node;
    if (!masked_call(p, base, call, value, begin, predicate, &done) ||
        !script_add_node(p, HONE_NODE_EVAL, call->at, &node)) {
        return false;
    }
    hone_func_node(p->func, node)->u.eval.value = script_expr_of(&done);
    *out = (py_value){.kind = PYV_NONE};
    return true;
}

/* A.vload([i, j], "float32x4") is A at i, j with that many lanes in the last place. */
static bool vector_load(script_parser *p, const py_value *base, const script_call *call,
                        py_value *out) {
    const py_value *begin = NULL, *items = NULL;
    if (!script_need_arg(p, call, 0, "begin", &begin)) return false;
    const py_value *mask = script_arg(call, 2, "predicate");
    if (mask) return masked_call(p, base, call, NULL, begin, mask, out);
    script_items(begin, &items, &out->count);
    script_access at = {.buffer = script_buffer_of(base), .rank = out->count, .items = items};
    const py_value access = {.kind = SCRIPT_ACCESS, .at = call->at, .u.host = &at};
    const hone_expr *e = NULL;
    const py_value *type = script_arg(call, 1, "dtype");
    hone_dtype dtype = HONE_DTYPE_VOID;
    if (type && !script_to_dtype(p, type, &dtype)) return false;
    if (!script_to_expr(p, &access, &e)) return false;
    if (type && !hone_dtype_same_element(dtype, e->dtype)) {
        return script_fail_type(
            p, type->at, "vload of %s, and '%s' holds %s; T.reinterpret or T.Cast converts",
            HONE_DTYPE_NAME(dtype), hone_func_buffer(p->func, script_buffer_of(base))->name,
            HONE_DTYPE_NAME(e->dtype));
    }
    if (dtype.lanes > 1 && e->count && e->dtype.lanes == 1) {
        const hone_expr **indices = script_alloc(p, p->scratch, e->count, sizeof *indices);
        if (!indices) return false;
        memcpy(indices, e->args, e->count * sizeof *indices);
        const hone_expr *last = indices[e->count - 1];
        indices[e->count - 1] =
            hone_expr_ramp(&p->ir, last, hone_expr_int(&p->ir, last->dtype, 1), dtype.lanes);
        e = hone_func_load(&p->ir, p->func, script_buffer_of(base), indices);
    }
    *out = SCRIPT_VALUE_EXPR(e);
    return script_check_ir(p, call->at);
}

/* A.vstore([i, j], value): as many lanes as the value has, in the last place. */
static bool vector_store(script_parser *p, const py_value *base, const script_call *call,
                         py_value *out) {
    const py_value *begin = NULL, *value = NULL, *items = NULL;
    const hone_expr *e = NULL;
    uint32_t count = 0;
    if (!script_need_arg(p, call, 0, "begin", &begin) ||
        !script_need_arg(p, call, 1, "value", &value) || !script_to_expr(p, value, &e)) {
        return false;
    }
    const py_value *mask = script_arg(call, 2, "predicate");
    if (mask) return masked_store(p, base, call, value, begin, mask, out);
    script_items(begin, &items, &count);
    py_value *indices = script_alloc(p, p->scratch, count, sizeof *indices);
    if (!indices) return false;
    if (count) memcpy(indices, items, count * sizeof *indices);
    if (count && e->dtype.lanes > 1) {
        const hone_expr *last = NULL;
        if (!script_to_expr(p, &items[count - 1], &last)) return false;
        bool is_vector = last->dtype.lanes > 1; /* the text says the ramp itself */
        const hone_expr *one = hone_expr_int(&p->ir, last->dtype, 1);
        if (!is_vector) last = hone_expr_ramp(&p->ir, last, one, e->dtype.lanes);
        indices[count - 1] = SCRIPT_VALUE_EXPR(last);
        if (!script_check_ir(p, call->at)) return false;
    }
    const script_access at = {script_buffer_of(base), count, indices};
    const py_value target = {.kind = SCRIPT_ACCESS, .at = call->at, .u.host = &at};
    *out = (py_value){.kind = PYV_NONE};
    return script_store(p, &target, value);
}

/* A.ptr_to([i, j]) is T.address_of(A[i, j]). */
static bool pointer_to(script_parser *p, const py_value *base, const script_call *call,
                       py_value *out) {
    const py_value *at = NULL, *items = NULL;
    uint32_t count = 0;
    if (!script_need_arg(p, call, 0, "indices", &at)) return false;
    script_items(at, &items, &count);
    const script_access where = {script_buffer_of(base), count, items};
    const py_value access = {.kind = SCRIPT_ACCESS, .at = call->at, .u.host = &where};
    script_call inner = {.callee = "T.address_of", .at = call->at, .count = 1, .args = &access};
    return script_call_path(p, &inner, out);
}

bool script_call_method(script_parser *p, const py_value *callee, const script_call *call,
                        py_value *out) {
    const py_value *base = &script_method_of(callee)->base;
    const char *name = script_method_of(callee)->name;
    if (base->kind == SCRIPT_BUFFER && strcmp(name, "access_ptr") == 0) {
        return access_ptr(p, base, call, out);
    }
    if (base->kind == SCRIPT_BUFFER && strcmp(name, "vload") == 0) {
        return vector_load(p, base, call, out);
    }
    if (base->kind == SCRIPT_BUFFER && strcmp(name, "vstore") == 0) {
        return vector_store(p, base, call, out);
    }
    if (base->kind == SCRIPT_BUFFER && strcmp(name, "ptr_to") == 0) {
        return pointer_to(p, base, call, out);
    }
    if (base->kind == SCRIPT_BUFFER && strcmp(name, "view") == 0) {
        return script_view(p, script_buffer_of(base), call, out);
    }
    if (base->kind == SCRIPT_BUFFER && strcmp(name, "scope") == 0) {
        *out = (py_value){.kind = PYV_STRING,
                          .u.s = hone_func_buffer(p->func, script_buffer_of(base))->scope};
        return true;
    }
    if (base->kind == SCRIPT_GARG) {
        py_value *args = script_alloc(p, p->scratch, call->count + 1, sizeof *args);
        const char *full = hone_arena_printf(p->scratch, "R.%s", name);
        if (!args || !full) return script_no_memory(p);
        args[0] = *base;
        if (call->count) memcpy(args + 1, call->args, call->count * sizeof *args);
        script_call inner = *call;
        inner.callee = full;
        inner.args = args;
        inner.count = call->count + 1;
        return script_call_graph(p, &inner, out);
    }
    if (strcmp(name, "astype") == 0) {
        const py_value *type = NULL;
        const hone_expr *e = NULL;
        hone_dtype dtype;
        if (!script_need_arg(p, call, 0, "dtype", &type) || !script_to_dtype(p, type, &dtype) ||
            !script_to_expr(p, base, &e)) {
            return false;
        }
        *out = SCRIPT_VALUE_EXPR(script_cast(p, dtype, e));
        return script_check_ir(p, call->at);
    }
    const char *full = hone_arena_printf(p->scratch, "T.%s", name);
    if (!full) return script_no_memory(p);
    bool is_function = base->kind != SCRIPT_BUFFER && script_is_function(full);
    return script_fail(p, call->at, "%s has no method '%s'%s%s%s", script_kind_name(base), name,
                       is_function ? "; it is " : "", is_function ? full : "",
                       is_function ? "(x)" : "");
}

/* ---- subscripts ---- */

/* A[i, j], and A[i] where i is a tuple of both. */
static bool index_items(script_parser *p, const py_node *index, const py_value **out_items,
                        uint32_t *out_count) {
    const py_node alone = {.kind = PY_TUPLE, .count = 1, .items = &index};
    bool is_tuple = index->kind == PY_TUPLE;
    py_value all;
    if (!script_keep(p, py_eval_items(&p->run, is_tuple ? index : &alone, &all))) return false;
    bool is_one = all.count == 1 && all.u.items->kind == PYV_TUPLE && !is_tuple;
    script_items(is_one ? all.u.items : &all, out_items, out_count);
    return true;
}

static bool subscript_path(script_parser *p, const py_value *base, uint32_t at,
                           const py_value *items, uint32_t count, py_value *out) {
    const char *path = base->u.s;
    hone_dtype dtype;
    if (strcmp(path, "T.Buffer") == 0 && count > 1 &&
        (items[1].kind == PYV_INT || items[1].kind == SCRIPT_EXPR)) { /* a shape alone */
        py_value shape = {.kind = PYV_TUPLE, .at = at, .count = count, .u.items = items};
        script_call call = {.callee = path, .at = base->at, .count = 1, .args = &shape};
        return script_call_path(p, &call, out);
    }
    if (strcmp(path, "T.Buffer") == 0 || strcmp(path, "R.Tensor") == 0) {
        script_call call = {.callee = path, .at = base->at, .count = count, .args = items};
        return script_call_path(p, &call, out);
    }
    if (strcmp(path, "T.let") == 0 || strcmp(path, "T.Let") == 0) {
        *out = items[0];
        if (items[0].kind == SCRIPT_NEWVAR) return true; /* T.let[T.handle("float32")] */
        if (!script_to_dtype(p, &items[0], &dtype)) return false;
        *out = SCRIPT_VALUE_DTYPE(dtype);
        return true;
    }
    if (p->func && strncmp(path, "T.", 2) == 0 && script_is_dtype_word(path + 2, &dtype)) {
        script_call call = {.callee = path, .at = at, .count = count, .args = items};
        return script_new_local(p, &call, dtype, out);
    }
    if (strcmp(path, "T.Ptr") == 0) {
        script_call call = {.callee = path, .at = base->at, .count = count, .args = items};
        return script_call_path(p, &call, out);
    }
    if (strcmp(path, "T.S") == 0 || strcmp(path, "T.R") == 0) {
        return script_fail(p, base->at,
                           "'%s' describes a layout of storage (T.TileLayout), which is not "
                           "supported; a buffer has the default layout, or layout=None",
                           path);
    }
    if (strcmp(path, "metadata") == 0) {
        bool constant = items[0].kind == PYV_STRING && script_is_constant_key(items[0].u.s);
        *out = SCRIPT_VALUE_PATH(constant || p->graph ? "metadata." : "metadata:");
        return true;
    }
    if (strcmp(path, "metadata:") == 0) { /* a string that the text names but does not hold */
        *out = (py_value){.kind = PYV_STRING, .u.s = "<metadata>"};
        return true;
    }
    if (strcmp(path, "metadata.") == 0) {
        script_call call = {.callee = "R.metadata", .at = at, .count = count, .args = items};
        return script_call_graph(p, &call, out);
    }
    return script_fail(p, at, "'%s' takes no subscript", path);
}

static bool is_handle(const py_value *v) {
    return v->kind == SCRIPT_EXPR && hone_dtype_is_handle(script_expr_of(v)->dtype);
}

bool script_subscript(script_parser *p, const py_value *base, const py_node *node, py_value *out) {
    const py_value *items = NULL;
    uint32_t count = 0, at = node->mark;
    if (!index_items(p, node->items[0], &items, &count)) return false;
    switch (base->kind) {
    case SCRIPT_BUFFER:
        return script_new_access(p, script_buffer_of(base), count, items, out);
    case SCRIPT_PATH:
        return subscript_path(p, base, at, items, count, out);
    case SCRIPT_GARG: {
        py_value args[2];
        if (count != 1) {
            return script_fail(p, at,
                               "a tuple has one index; R.strided_slice and R.take give "
                               "parts of tensors");
        }
        args[0] = *base;
        args[1] = items[0];
        script_call call = {.callee = "R.TupleGetItem", .at = at, .count = 2, .args = args};
        return script_call_graph(p, &call, out);
    }
    case SCRIPT_METHOD:
        return script_unknown_attribute(p, base);
    default:
        return script_fail(p, at, "%s takes no subscript%s", script_kind_name(base),
                           base->kind == SCRIPT_ACCESS ? "; all indices stand in one: A[i, j]"
                           : is_handle(base) ? "; T.match_buffer makes a buffer of a handle"
                                             : "");
    }
}
