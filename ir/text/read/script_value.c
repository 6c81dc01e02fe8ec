/* ir/text/read/script_value.c - what a value of the text becomes where an expression, a number, a
 * dtype, an attribute or a region is wanted. */
#include "ir/text/read/script_impl.h"

#include <math.h>
#include <string.h>

static bool wanted(script_parser *p, const py_value *v, const char *what) {
    if (v->kind == SCRIPT_PATH) {
        hone_dtype dtype;
        bool is_called = script_is_function(v->u.s) || (strncmp(v->u.s, "T.", 2) == 0 &&
                                                        script_is_dtype_word(v->u.s + 2, &dtype));
        if (is_called) {
            return script_fail(p, v->at, "expected %s, found the name '%s', which is called: %s()",
                               what, v->u.s, v->u.s);
        }
        return script_fail(p, v->at, "expected %s, found the name '%s'", what, v->u.s);
    }
    return script_fail(p, v->at, "expected %s, found %s", what, script_kind_name(v));
}

/* ---- values that are made ---- */

bool script_new_access(script_parser *p, hone_buffer buffer, uint32_t rank, const py_value *items,
                       py_value *out) {
    script_access *access = script_alloc(p, p->scratch, 1, sizeof *access);
    if (!access) return false;
    *access = (script_access){buffer, rank, items};
    *out = (py_value){.kind = SCRIPT_ACCESS, .u.host = access};
    return true;
}

bool script_new_newvar(script_parser *p, script_newvar var, py_value *out) {
    script_newvar *copy = script_alloc(p, p->scratch, 1, sizeof *copy);
    if (!copy) return false;
    *copy = var;
    *out = (py_value){.kind = SCRIPT_NEWVAR, .u.host = copy};
    return true;
}

/* ---- expressions ---- */

const hone_expr *script_cast(script_parser *p, hone_dtype dtype, const hone_expr *e) {
    return script_fold_cast(&p->ir, dtype, e);
}

static bool integer_expr(script_parser *p, const py_value *v, const hone_expr **out) {
    bool narrow = v->u.i >= INT32_MIN && v->u.i <= INT32_MAX;
    *out = hone_expr_int(&p->ir, narrow ? HONE_DTYPE_I32 : HONE_DTYPE_I64, v->u.i);
    return true;
}

/* The begin or end of a slice. */
static bool region_end(script_parser *p, const py_value *v, const hone_expr **out) {
    if (!script_to_expr(p, v, out)) return false;
    hone_dtype dtype = (*out)->dtype;
    bool counts = hone_dtype_is_integer(dtype) || hone_dtype_is_bool(dtype);
    if (counts && !hone_dtype_is_vector(dtype)) return true;
    return script_fail_type(p, v->at, "the end of a region is %s, must be an integer",
                            HONE_DTYPE_NAME((*out)->dtype));
}

/* An index of an access: a number or expression, or a slice as a ramp. */
static bool index_expr(script_parser *p, const py_value *v, const hone_expr **out) {
    if (v->kind != PYV_SLICE) {
        if (!script_to_expr(p, v, out)) return false;
        if (!hone_dtype_is_float((*out)->dtype) && !hone_dtype_is_handle((*out)->dtype))
            return true;
        return script_fail_type(p, v->at, "an index is %s, must be an integer",
                                (*out)->kind == HONE_EXPR_STRING ? "a string"
                                                                 : HONE_DTYPE_NAME((*out)->dtype));
    }
    const hone_expr *start = hone_expr_i32(&p->ir, 0), *stop = NULL, *step = NULL;
    if (v->u.items[0].kind != PYV_NONE && !region_end(p, &v->u.items[0], &start)) return false;
    if (v->u.items[1].kind == PYV_NONE) {
        return script_fail(p, v->at, "a vector access needs the end of the slice");
    }
    if (!region_end(p, &v->u.items[1], &stop)) return false;
    int64_t stride = 1;
    if (v->u.items[2].kind != PYV_NONE && !script_to_int(p, &v->u.items[2], &stride)) return false;
    const hone_expr *extent = script_extent_between(&p->ir, start, stop);
    if (!extent) return script_check_ir(p, v->at);
    if (extent->kind != HONE_EXPR_INT || stride < 1 || extent->u.i < 1) {
        return script_fail(p, v->at, "a vector access needs a constant length and step");
    }
    int64_t lanes = (extent->u.i + stride - 1) / stride;
    if (lanes > UINT16_MAX)
        return script_fail(p, v->at, "a vector of %lld lanes", (long long)lanes);
    step = hone_expr_int(&p->ir, start->dtype, stride);
    *out = lanes == 1 ? start : hone_expr_ramp(&p->ir, start, step, (uint16_t)lanes);
    return *out || script_check_ir(p, v->at);
}

static bool access_expr(script_parser *p, const py_value *v, const hone_expr **out) {
    const hone_buffer_info *info = hone_func_buffer(p->func, script_access_of(v)->buffer);
    uint32_t rank = script_access_of(v)->rank;
    if (rank != info->rank) {
        return script_fail_type(p, v->at, "buffer '%s' has %u dimension%s, %u given", info->name,
                                info->rank, info->rank == 1 ? "" : "s", rank);
    }
    const hone_expr **indices = script_alloc(p, p->scratch, rank, sizeof *indices);
    if (!indices) return false;
    for (uint32_t i = 0; i < rank; i++) {
        if (!index_expr(p, &script_access_of(v)->items[i], &indices[i])) return false;
    }
    *out = hone_func_load(&p->ir, p->func, script_access_of(v)->buffer, indices);
    return *out || script_check_ir(p, v->at);
}

/* A.data: the handle of a buffer, made when it is first used as a value. */
static bool handle_expr(script_parser *p, const py_value *v, const hone_expr **out) {
    const py_value *base = &script_method_of(v)->base;
    hone_var data = HONE_NO_ID;
    if (base->kind != SCRIPT_BUFFER || strcmp(script_method_of(v)->name, "data") != 0) {
        return script_unknown_attribute(p, v);
    }
    if (!script_buffer_data(p, script_buffer_of(base), &data)) return false;
    *out = hone_func_var_expr(&p->ir, p->func, data);
    return *out || script_check_ir(p, v->at);
}

static bool new_var_expr(script_parser *p, const py_value *v, const hone_expr **out) {
    hone_var var = HONE_NO_ID;
    if (p->func) {
        if (!script_new_var(p, "v", script_var_of(v)->dtype, &var)) return false;
        script_mark_var(p, var, v);
        *out = hone_func_var_expr(&p->ir, p->func, var);
        return *out || script_check_ir(p, v->at);
    }
    return wanted(p, v, "an expression");
}

const hone_expr *script_garg_number(const script_parser *p, const hone_garg *garg) {
    for (uint32_t i = p->graph ? p->graph->bind_count : 0;
         garg->kind == HONE_GARG_VALUE && i-- > 0;) {
        const hone_gbind *bind = &p->graph->bindings[i];
        bool is_it = bind->value == garg->u.value && bind->kind == HONE_GBIND_ARG;
        if (is_it) garg = &bind->args[0];
    }
    return garg->kind == HONE_GARG_PRIM ? garg->u.expr : NULL;
}

bool script_to_expr(script_parser *p, const py_value *v, const hone_expr **out_expr) {
    *out_expr = NULL;
    switch (v->kind) {
    case SCRIPT_EXPR:
        *out_expr = script_expr_of(v);
        break;
    case PYV_INT:
        if (!integer_expr(p, v, out_expr)) return false;
        break;
    case PYV_HUGE:
        return script_fail(p, v->at, "this number does not fit 64 bits");
    case PYV_BOOL:
        *out_expr = hone_expr_bool(&p->ir, v->u.i);
        break;
    case PYV_FLOAT:
        *out_expr = hone_expr_float(&p->ir, HONE_DTYPE_F32, v->u.f);
        break;
    case PYV_STRING:
        *out_expr = hone_expr_string(&p->ir, v->u.s);
        break;
    case SCRIPT_NEWVAR:
        return new_var_expr(p, v, out_expr);
    case SCRIPT_METHOD:
        return handle_expr(p, v, out_expr);
    case SCRIPT_ACCESS:
        return access_expr(p, v, out_expr);
    case SCRIPT_BUFFER: {
        /* a buffer of rank 0 or 1 element may stand for its value; else its handle is meant */
        const hone_buffer_info *info = hone_func_buffer(p->func, script_buffer_of(v));
        if (info->rank == 0) {
            *out_expr = hone_func_load(&p->ir, p->func, script_buffer_of(v), NULL);
            break;
        }
        return script_fail(p, v->at,
                           "expected an expression, found the buffer '%s' without "
                           "indices",
                           info->name);
    }
    case PYV_UNKNOWN:
        return script_fail(p, v->at, "what '%s' gives is not known while a program is read",
                           v->u.s);
    case SCRIPT_GARG:
        *out_expr = script_garg_number(p, script_garg_of(v));
        return *out_expr || wanted(p, v, "an expression");
    default:
        return wanted(p, v, "an expression");
    }
    return *out_expr || script_check_ir(p, v->at);
}

bool script_to_expr_as(script_parser *p, const py_value *v, hone_dtype dtype,
                       const hone_expr **out_expr) {
    if (!script_to_expr(p, v, out_expr)) return false;
    const hone_expr *e = *out_expr;
    if (e->kind == HONE_EXPR_STRING || hone_dtype_equal(e->dtype, dtype)) return true;
    if (e->dtype.lanes == 1 && dtype.lanes > 1) {
        hone_dtype one = dtype;
        one.lanes = 1;
        e = hone_expr_broadcast(&p->ir, script_cast(p, one, e), dtype.lanes);
    } else {
        e = script_cast(p, dtype, e);
    }
    *out_expr = e;
    return e || script_check_ir(p, v->at);
}

bool script_to_condition(script_parser *p, const py_value *v, const char *what,
                         const hone_expr **out_expr) {
    if (!script_to_expr(p, v, out_expr)) return false;
    const hone_expr *e = *out_expr;
    bool is_truth = hone_dtype_is_bool(e->dtype) || hone_dtype_is_integer(e->dtype);
    if (!is_truth || e->kind == HONE_EXPR_STRING) {
        return script_fail_type(p, v->at, "%s is %s, must be bool", what,
                                e->kind == HONE_EXPR_STRING ? "a string"
                                                            : HONE_DTYPE_NAME(e->dtype));
    }
    return script_to_expr_as(p, v, hone_dtype_with_lanes(HONE_DTYPE_BOOL, e->dtype.lanes),
                             out_expr);
}

/* ---- plain values ---- */

bool script_to_int(script_parser *p, const py_value *v, int64_t *out_value) {
    *out_value = 0;
    if (v->kind == PYV_INT || v->kind == PYV_BOOL) {
        *out_value = v->u.i;
        return true;
    }
    if (v->kind == SCRIPT_EXPR && script_expr_of(v)->kind == HONE_EXPR_INT) {
        *out_value = script_expr_of(v)->u.i;
        return true;
    }
    return wanted(p, v, "a constant integer");
}

bool script_to_bool(script_parser *p, const py_value *v, bool *out_value) {
    int64_t value = 0;
    *out_value = false;
    bool is_number = v->kind == PYV_INT || v->kind == PYV_BOOL || v->kind == SCRIPT_EXPR;
    if (!is_number) return wanted(p, v, "True or False");
    if (!script_to_int(p, v, &value)) return false;
    *out_value = value != 0;
    return true;
}

bool script_to_string(script_parser *p, const py_value *v, const char **out_text) {
    *out_text = NULL;
    if (v->kind == PYV_STRING) *out_text = v->u.s;
    if (v->kind == SCRIPT_EXPR && script_expr_of(v)->kind == HONE_EXPR_STRING)
        *out_text = script_expr_of(v)->u.s;
    return *out_text || wanted(p, v, "a string");
}

bool script_is_dtype_name(const char *name, hone_dtype *out_dtype) {
    if (strcmp(name, "boolean") == 0) name = "bool";
    return hone_dtype_parse(name, out_dtype);
}

bool script_is_dtype_word(const char *name, hone_dtype *out_dtype) {
    static const struct {
        const char *word, *name;
    } rows[] = {
        {"bf16", "bfloat16"},
        {"f16",  "float16" },
        {"f32",  "float32" },
        {"f64",  "float64" },
        {"i8",   "int8"    },
        {"i16",  "int16"   },
        {"i32",  "int32"   },
        {"i64",  "int64"   },
        {"u8",   "uint8"   },
        {"u16",  "uint16"  },
        {"u32",  "uint32"  },
        {"u64",  "uint64"  },
    };
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        if (strcmp(rows[i].word, name) == 0) name = rows[i].name;
    }
    return script_is_dtype_name(name, out_dtype);
}

/* "float" is "float32" where a string says it. */
static const char *with_bits(const char *name) {
    static const char *const rows[][2] = {
        {"float", "float32"},
        {"int",   "int32"  },
        {"uint",  "uint32" }
    };
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        if (strcmp(rows[i][0], name) == 0) return rows[i][1];
    }
    return name;
}

bool script_to_dtype(script_parser *p, const py_value *v, hone_dtype *out_dtype) {
    const char *name = NULL;
    if (v->kind == SCRIPT_DTYPE) {
        *out_dtype = script_dtype_of(v);
        return true;
    }
    if (v->kind == SCRIPT_NEWVAR) {
        *out_dtype = script_var_of(v)->dtype;
        return true;
    }
    if (v->kind == SCRIPT_GARG && script_garg_of(v)->kind == HONE_GARG_DTYPE) {
        *out_dtype = script_garg_of(v)->dtype;
        return true;
    }
    if (v->kind == SCRIPT_PATH && strncmp(v->u.s, "T.", 2) == 0) {
        if (script_is_dtype_word(v->u.s + 2, out_dtype)) return true;
        name = v->u.s + 2;
    }
    if (v->kind == PYV_STRING) name = with_bits(v->u.s);
    if (!name) return wanted(p, v, "a dtype such as \"float32\"");
    if (script_is_dtype_name(name, out_dtype)) return true;
    const char *meant = script_dtype_meant(name);
    return meant ? script_fail_type(p, v->at, "unknown dtype \"%s\"; did you mean \"%s\"?", name,
                                    meant)
                 : script_fail_type(p, v->at, "unknown dtype \"%s\"", name);
}

void script_items(const py_value *v, const py_value **out_items, uint32_t *out_count) {
    if (script_is_list(v)) {
        py_items(v, out_items, out_count);
    } else {
        *out_items = v;
        *out_count = 1;
    }
}

bool script_is_list(const py_value *v) {
    return v->kind == PYV_TUPLE || v->kind == PYV_LIST;
}

const py_value *script_only(const py_value *v) {
    const py_value *items;
    uint32_t count;
    script_items(v, &items, &count);
    return count == 1 ? items : v;
}

bool script_to_exprs(script_parser *p, const py_value *v, uint32_t *out_count,
                     const hone_expr *const **out_exprs) {
    const py_value *items = NULL;
    script_items(v, &items, out_count);
    if (*out_count > UINT16_MAX) return script_fail(p, v->at, "too many items");
    const hone_expr **exprs = script_alloc(p, p->arena, *out_count, sizeof *exprs);
    *out_exprs = exprs;
    if (!exprs) return false;
    for (uint32_t i = 0; i < *out_count; i++) {
        if (!script_to_expr(p, &items[i], &exprs[i])) return false;
    }
    return true;
}

/* ---- attributes ---- */

static bool list_value(script_parser *p, const py_value *v, hone_value *out) {
    const py_value *from;
    uint32_t count;
    script_items(v, &from, &count);
    hone_value *items = script_alloc(p, p->arena, count, sizeof *items);
    if (!items) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!script_to_value(p, &from[i], &items[i])) return false;
    }
    *out = (hone_value){.kind = HONE_VALUE_LIST, .count = count, .u.items = items};
    return true;
}

/* Attribute names of both dialects are one: "tirx.noalias" is "tir.noalias". */
static const char *attr_key(script_parser *p, const char *key) {
    if (strncmp(key, "tirx.", 5) == 0) {
        const char *copy = hone_arena_printf(p->arena, "tir.%s", key + 5);
        if (!copy) script_no_memory(p);
        return copy;
    }
    return script_strdup(p, key);
}

bool script_to_attrs(script_parser *p, const py_value *v, hone_attrs *out_attrs) {
    *out_attrs = (hone_attrs){0};
    if (v->kind == PYV_NONE) return true;
    if (v->kind != PYV_DICT) return wanted(p, v, "a dictionary");
    const py_list *dict = v->u.list;
    if (dict->count > SCRIPT_MAX_ATTRS)
        return script_fail(p, v->at, "more than %d attributes", SCRIPT_MAX_ATTRS);
    hone_attr *items = script_alloc(p, p->arena, dict->count, sizeof *items);
    if (!items) return false;
    uint32_t used = 0;
    for (uint32_t i = 0; i < dict->count; i++) {
        const char *key = NULL;
        if (!script_to_string(p, &dict->keys[i], &key)) return false;
        key = attr_key(p, key);
        if (!key) return false;
        hone_value value;
        if (!script_to_value(p, &dict->items[i], &value)) return false;
        uint32_t place = 0;
        while (place < used && strcmp(items[place].key, key) != 0)
            place++;
        items[place] = (hone_attr){.key = key, .value = value};
        if (place == used) used++;
    }
    *out_attrs = (hone_attrs){.count = used, .items = items};
    return true;
}

static bool expr_value(const hone_expr *e, hone_value *out) {
    if (e->kind == HONE_EXPR_STRING) {
        *out = HONE_VALUE_OF_STRING(e->u.s);
    } else if (e->kind == HONE_EXPR_INT && hone_dtype_equal(e->dtype, HONE_DTYPE_BOOL)) {
        *out = HONE_VALUE_OF_BOOL(e->u.i);
    } else if (e->kind == HONE_EXPR_INT && hone_dtype_equal(e->dtype, HONE_DTYPE_I32)) {
        *out = HONE_VALUE_OF_INT(e->u.i);
    } else {
        *out = HONE_VALUE_OF_EXPR(e);
    }
    return true;
}

static bool to_value(script_parser *p, const py_value *v, hone_value *out_value) {
    switch (v->kind) {
    case PYV_NONE:
        return true;
    case PYV_BOOL:
        *out_value = HONE_VALUE_OF_BOOL(v->u.i);
        return true;
    case PYV_INT:
        *out_value = HONE_VALUE_OF_INT(v->u.i);
        return true;
    case PYV_FLOAT:
        *out_value = HONE_VALUE_OF_FLOAT(v->u.f);
        return true;
    case PYV_STRING:
        *out_value = HONE_VALUE_OF_STRING(script_strdup(p, v->u.s));
        return out_value->u.s != NULL;
    case PYV_TUPLE:
    case PYV_LIST:
        return list_value(p, v, out_value);
    case PYV_DICT: {
        hone_attrs attrs;
        if (!script_to_attrs(p, v, &attrs)) return false;
        *out_value =
            (hone_value){.kind = HONE_VALUE_MAP, .count = attrs.count, .u.attrs = attrs.items};
        return true;
    }
    case SCRIPT_BUFFER: {
        hone_var data = HONE_NO_ID;
        if (!script_buffer_data(p, script_buffer_of(v), &data)) return false;
        const hone_expr *e = hone_func_var_expr(&p->ir, p->func, data);
        return e ? expr_value(e, out_value) : script_check_ir(p, v->at);
    }
    case SCRIPT_FUNCTION:
        *out_value = (hone_value){.kind = HONE_VALUE_LAMBDA, .u.lambda = script_lambda_of(v)};
        return true;
    case SCRIPT_GARG:
        if (script_garg_of(v)->kind == HONE_GARG_STRING) {
            *out_value = HONE_VALUE_OF_STRING(script_garg_of(v)->u.s);
            return true;
        }
        if (script_garg_of(v)->kind == HONE_GARG_PRIM)
            return expr_value(script_garg_of(v)->u.expr, out_value);
        return wanted(p, v, "an attribute value");
    default: {
        const hone_expr *e = NULL;
        if (v->kind == SCRIPT_PATH) return wanted(p, v, "an attribute value");
        return script_to_expr(p, v, &e) && expr_value(e, out_value);
    }
    }
}

bool script_to_value(script_parser *p, const py_value *v, hone_value *out_value) {
    *out_value = (hone_value){.kind = HONE_VALUE_NONE};
    if (p->value_budget == 0) return script_fail(p, v->at, "this attribute is too large");
    p->value_budget--;
    if (!script_enter(p, v->at)) return false; /* a list may hold itself */
    bool ok = to_value(p, v, out_value);
    p->run.depth--;
    return ok;
}

/* ---- regions ---- */

static bool range_of(script_parser *p, const py_value *v, const hone_expr *extent,
                     hone_range *out) {
    if (v->kind != PYV_SLICE) {
        if (!script_to_expr(p, v, &out->min)) return false;
        out->extent = hone_expr_int(&p->ir, out->min->dtype, 1);
        return out->extent || script_check_ir(p, v->at);
    }
    const hone_expr *stop = extent;
    out->min = extent ? hone_expr_int(&p->ir, extent->dtype, 0) : NULL;
    if (v->u.items[0].kind != PYV_NONE && !region_end(p, &v->u.items[0], &out->min)) return false;
    if (v->u.items[1].kind != PYV_NONE && !region_end(p, &v->u.items[1], &stop)) return false;
    if (v->u.items[2].kind != PYV_NONE) return script_fail(p, v->at, "a region has no step");
    out->extent = script_extent_between(&p->ir, out->min, stop);
    if (out->extent && out->min->kind == HONE_EXPR_INT) {
        out->min = script_cast(p, out->extent->dtype, out->min);
    }
    return (out->extent && out->min) || script_check_ir(p, v->at);
}

typedef struct scalar_search {
    const script_parser *p;
    hone_buffer found;
} scalar_search;

static bool find_scalar(void *ctx, const hone_expr *e) {
    scalar_search *s = ctx;
    const hone_func *func = s->p->func;
    hone_node_id n = e->kind == HONE_EXPR_LOAD ? s->p->parent : s->p->block->node;
    for (; n != s->p->block->node; n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_ALLOC && node->u.alloc.buffer == e->u.buffer &&
            hone_func_buffer(func, e->u.buffer)->form == HONE_BUFFER_SCALAR) {
            s->found = e->u.buffer;
        }
    }
    return s->found == HONE_NO_ID;
}

bool script_check_head(script_parser *p, uint32_t at, const hone_expr *e) {
    scalar_search s = {p, HONE_NO_ID};
    if (p->block) hone_expr_walk(e, find_scalar, &s);
    if (s.found == HONE_NO_ID) return true;
    return script_fail(p, at, "'%s' gets its value in the body of the block, which comes later",
                       hone_func_buffer(p->func, s.found)->name);
}

static bool read_region(script_parser *p, const py_value *v, hone_region *out_region) {
    if (v->kind == SCRIPT_BUFFER && v->is_fresh) {
        return script_fail(p, v->at, "expected a region of a buffer that has a name");
    }
    *out_region = (hone_region){.buffer = HONE_NO_ID};
    if (v->kind == SCRIPT_BUFFER) { /* the whole buffer */
        const hone_buffer_info *info = hone_func_buffer(p->func, script_buffer_of(v));
        hone_range *ranges = script_alloc(p, p->arena, info->rank, sizeof *ranges);
        if (!ranges) return false;
        for (uint32_t i = 0; i < info->rank; i++) {
            ranges[i].min = hone_expr_int(&p->ir, info->shape[i]->dtype, 0);
            ranges[i].extent = info->shape[i];
        }
        *out_region = (hone_region){.buffer = script_buffer_of(v), .ranges = ranges};
        return script_check_ir(p, v->at);
    }
    if (v->kind == SCRIPT_EXPR && script_expr_of(v)->kind == HONE_EXPR_LOAD) {
        hone_range *ranges = script_alloc(p, p->arena, script_expr_of(v)->count, sizeof *ranges);
        if (!ranges) return false;
        for (uint32_t i = 0; i < script_expr_of(v)->count; i++) {
            ranges[i].min = script_expr_of(v)->args[i];
            ranges[i].extent = hone_expr_int(&p->ir, ranges[i].min->dtype, 1);
        }
        *out_region = (hone_region){.buffer = script_expr_of(v)->u.buffer, .ranges = ranges};
        return script_check_ir(p, v->at);
    }
    if (v->kind != SCRIPT_ACCESS) return wanted(p, v, "a region of a buffer such as A[0:16, vi]");
    const hone_buffer_info *info = hone_func_buffer(p->func, script_access_of(v)->buffer);
    if (script_access_of(v)->rank != info->rank) {
        return script_fail_type(p, v->at, "buffer '%s' has %u dimension%s, %u given", info->name,
                                info->rank, info->rank == 1 ? "" : "s", script_access_of(v)->rank);
    }
    hone_range *ranges = script_alloc(p, p->arena, info->rank, sizeof *ranges);
    if (!ranges) return false;
    for (uint32_t i = 0; i < info->rank; i++) {
        info = hone_func_buffer(p->func, script_access_of(v)->buffer);
        if (!range_of(p, &script_access_of(v)->items[i], info->shape[i], &ranges[i])) return false;
    }
    *out_region = (hone_region){.buffer = script_access_of(v)->buffer, .ranges = ranges};
    return true;
}

bool script_to_region(script_parser *p, const py_value *v, hone_region *out_region) {
    if (!read_region(p, v, out_region)) return false;
    const hone_range *ranges = out_region->ranges;
    for (uint32_t i = 0; i < hone_func_buffer(p->func, out_region->buffer)->rank; i++) {
        if (!script_check_head(p, v->at, ranges[i].min) ||
            !script_check_head(p, v->at, ranges[i].extent)) {
            return false;
        }
    }
    return true;
}
