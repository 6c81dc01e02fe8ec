/* include/api_option.c - options of graph calls, found by name. */
#include "include/api_option.h"

#include <string.h>

#include "support/core/strbuf.h"

/* The call that is being made: tensors are taken in order, options are found by name. */
typedef struct call {
    hone_arena *arena;
    const hone_graph_op *row;
    size_t tensor_count, next_tensor;
    const hone_garg *tensors;
    size_t option_count;
    const hone_option *options;
    hone_garg *args;
    uint32_t arg_count;
} call;

static const hone_option *find_option(const call *c, const char *name, size_t length) {
    for (size_t i = 0; i < c->option_count; i++) {
        const char *own = c->options[i].name;
        if (strlen(own) == length && memcmp(own, name, length) == 0) return &c->options[i];
    }
    return NULL;
}

/* ---- what is told of the options ---- */

/* Whether the operator has a parameter of that name; "strides", of "strides?" too. */
static bool has_param(const hone_graph_op *row, const char *name) {
    size_t length;
    bool is_attr;
    for (size_t i = 0;; i++) {
        const char *param = hone_graph_op_param(row, i, &length, &is_attr);
        if (!param) return false;
        if (strlen(name) == length && memcmp(name, param, length) == 0) return true;
    }
}

static hone_status no_such_option(const hone_graph_op *row, const char *name) {
    hone_str names = {0};
    size_t length;
    bool is_attr;
    const char *param;
    for (size_t i = 0; (param = hone_graph_op_param(row, i, &length, &is_attr)); i++) {
        hone_str_printf(&names, "%s%.*s", i ? ", " : "", (int)length, param);
    }
    hone_status st = HONE_ERROR(HONE_CODE_INVALID, "operator '%s' has no option '%s'; it takes %s",
                                row->name, name, hone_str_text(&names));
    hone_str_deinit(&names);
    return st;
}

static hone_status check_options(const call *c) {
    for (size_t i = 0; i < c->option_count; i++) {
        const hone_option *o = &c->options[i];
        if (!o->name) {
            return HONE_ERROR(HONE_CODE_INVALID, "operator '%s': option %zu has no name",
                              c->row->name, i);
        }
        bool is_list = o->kind == HONE_OPTION_INTEGERS || o->kind == HONE_OPTION_TERMS;
        bool is_there = o->kind == HONE_OPTION_TEXT       ? o->text != NULL
                        : o->kind == HONE_OPTION_INTEGERS ? o->integers != NULL
                        : o->kind == HONE_OPTION_TERMS    ? o->terms != NULL
                                                          : true;
        if (!is_there && !(is_list && o->count == 0)) {
            return HONE_ERROR(HONE_CODE_INVALID, "operator '%s': option '%s' is NULL", c->row->name,
                              o->name);
        }
        if (!has_param(c->row, o->name)) return no_such_option(c->row, o->name);
        if (find_option(c, o->name, strlen(o->name)) != o) {
            return HONE_ERROR(HONE_CODE_INVALID, "operator '%s': option '%s' is given twice",
                              c->row->name, o->name);
        }
        if (o->count > UINT16_MAX) {
            return HONE_ERROR(HONE_CODE_INVALID, "operator '%s': option '%s' has %zu items",
                              c->row->name, o->name, o->count);
        }
    }
    return HONE_OK;
}

static hone_status wrong_kind(const call *c, const hone_option *o) {
    return HONE_ERROR(HONE_CODE_INVALID, "operator '%s': option '%s' is of the wrong kind",
                      c->row->name, o->name);
}

/* ---- arguments that are no tensors: shapes, limits, places ---- */

static hone_status prim(const call *c, hone_dtype dtype, int64_t i, double f, hone_garg *out) {
    hone_ir ir = {.arena = c->arena};
    const hone_expr *e =
        hone_dtype_is_float(dtype) ? hone_expr_float(&ir, dtype, f) : hone_expr_int(&ir, dtype, i);
    *out = (hone_garg){.kind = HONE_GARG_PRIM, .dtype = dtype, .u.expr = e};
    return hone_ir_finish(&ir);
}

static hone_status shape_arg(const call *c, const hone_option *o, hone_garg *out) {
    const hone_expr **extents = hone_arena_alloc(c->arena, (o->count + 1) * sizeof *extents);
    if (!extents) return HONE_NO_MEMORY("operator");
    hone_ir ir = {.arena = c->arena};
    for (size_t i = 0; i < o->count && !ir.error; i++) {
        bool is_term = o->kind == HONE_OPTION_TERMS;
        const hone_expr *term = is_term ? (const hone_expr *)o->terms[i] : NULL;
        if (is_term && !term) {
            return HONE_ERROR(HONE_CODE_INVALID, "operator '%s': extent %zu of option '%s' is NULL",
                              c->row->name, i, o->name);
        }
        bool is_constant = !term || hone_expr_is_int(term);
        extents[i] = is_constant
                         ? hone_expr_int(&ir, HONE_DTYPE_I64, term ? term->u.i : o->integers[i])
                         : term;
    }
    *out = (hone_garg){.kind = HONE_GARG_SHAPE, .count = (uint32_t)o->count, .u.exprs = extents};
    return hone_ir_finish(&ir);
}

static hone_status list_arg(const call *c, const hone_option *o, hone_garg *out) {
    hone_garg *items = hone_arena_zalloc(c->arena, (o->count + 1) * sizeof *items);
    if (!items) return HONE_NO_MEMORY("operator");
    for (size_t i = 0; i < o->count; i++)
        HONE_TRY(prim(c, HONE_DTYPE_I64, o->integers[i], 0, &items[i]));
    *out = (hone_garg){.kind = HONE_GARG_TUPLE, .count = (uint32_t)o->count, .u.items = items};
    return HONE_OK;
}

static hone_status option_arg(const call *c, const hone_option *o, hone_garg *out) {
    bool is_shape = strcmp(o->name, "shape") == 0;
    switch (o->kind) {
    case HONE_OPTION_INTEGER:
        return prim(c, HONE_DTYPE_I64, o->integer, 0, out);
    case HONE_OPTION_NUMBER:
        return prim(c, HONE_DTYPE_F64, 0, o->number, out);
    case HONE_OPTION_INTEGERS:
        return is_shape ? shape_arg(c, o, out) : list_arg(c, o, out);
    case HONE_OPTION_TERMS:
        if (is_shape) return shape_arg(c, o, out);
        break;
    case HONE_OPTION_FLAG:
    case HONE_OPTION_TEXT:
        break;
    }
    return wrong_kind(c, o);
}

/* ---- tensors ---- */

static hone_status too_few(const call *c, const char *name, size_t length) {
    return HONE_ERROR(HONE_CODE_INVALID, "operator '%s': '%.*s' is missing", c->row->name,
                      (int)length, name);
}

static hone_status add_arg(call *c, const char *name, size_t length) {
    const hone_option *o = find_option(c, name, length);
    hone_garg *out = &c->args[c->arg_count];
    bool is_list = name[length] == '*', is_optional = name[length] == '?';
    size_t left = c->tensor_count - c->next_tensor;
    if (o) {
        c->arg_count++;
        return option_arg(c, o, out);
    }
    if (left == 0) return is_optional ? HONE_OK : too_few(c, name, length);
    c->arg_count++;
    if (!is_list) {
        *out = c->tensors[c->next_tensor++];
        return HONE_OK;
    }
    *out = (hone_garg){
        .kind = HONE_GARG_TUPLE, .count = (uint32_t)left, .u.items = c->tensors + c->next_tensor};
    c->next_tensor = c->tensor_count;
    return HONE_OK;
}

/* ---- attributes ---- */

static hone_status attr_value(const call *c, const hone_option *o, hone_value *out) {
    switch (o->kind) {
    case HONE_OPTION_INTEGER:
        *out = HONE_VALUE_OF_INT(o->integer);
        return HONE_OK;
    case HONE_OPTION_FLAG:
        *out = HONE_VALUE_OF_BOOL(o->integer != 0);
        return HONE_OK;
    case HONE_OPTION_NUMBER:
        *out = HONE_VALUE_OF_FLOAT(o->number);
        return HONE_OK;
    case HONE_OPTION_TEXT:
        *out = HONE_VALUE_OF_STRING(hone_arena_strdup(c->arena, o->text));
        return out->u.s ? HONE_OK : HONE_NO_MEMORY("operator");
    case HONE_OPTION_INTEGERS: {
        hone_value *items = hone_arena_zalloc(c->arena, (o->count + 1) * sizeof *items);
        if (!items) return HONE_NO_MEMORY("operator");
        for (size_t i = 0; i < o->count; i++)
            items[i] = HONE_VALUE_OF_INT(o->integers[i]);
        *out = (hone_value){.kind = HONE_VALUE_LIST, .count = (uint32_t)o->count, .u.items = items};
        return HONE_OK;
    }
    case HONE_OPTION_TERMS:
        break;
    }
    return wrong_kind(c, o);
}

/* Whether a value is of the sort of the default: word, number, or integers; None says little. */
static bool fits_default(const hone_option *o, const char *text) {
    bool is_text = o->kind == HONE_OPTION_TEXT, is_number = o->kind == HONE_OPTION_NUMBER;
    size_t length = strcspn(text, " ");
    if (strncmp(text, "None", 4) == 0) return !is_number;
    if (strchr("0123456789-[", *text) == NULL) return is_text;
    if (is_text) return false;
    bool is_fraction = memchr(text, '.', length) || memchr(text, 'e', length);
    return is_fraction ? is_number || o->kind == HONE_OPTION_INTEGER : !is_number;
}

static hone_status add_attr(call *c, const char *name, size_t length, hone_attrs *attrs) {
    const hone_option *o = find_option(c, name, length);
    hone_value value;
    if (!o) return HONE_OK;
    if (name[length] == '=' && !fits_default(o, name + length + 1)) return wrong_kind(c, o);
    HONE_TRY(attr_value(c, o, &value));
    const char *key = hone_arena_strdup(c->arena, o->name);
    return key && hone_attrs_with(c->arena, attrs, key, value, attrs) ? HONE_OK
                                                                      : HONE_NO_MEMORY("operator");
}

hone_status hone_api_bind(hone_arena *arena, const char *op, size_t count, const hone_garg *tensors,
                          size_t option_count, const hone_option *options, hone_gbind *out_bind) {
    call c = {.arena = arena,
              .row = hone_graph_op_find(op),
              .tensor_count = count,
              .tensors = tensors,
              .option_count = option_count,
              .options = options};
    if (!c.row) return HONE_ERROR(HONE_CODE_NOT_FOUND, "there is no operator '%s'", op);
    HONE_TRY(check_options(&c));
    size_t length;
    bool is_attr;
    const char *name;
    for (size_t i = 0; hone_graph_op_param(c.row, i, &length, &is_attr); i++)
        c.arg_count += !is_attr;
    c.args = hone_arena_zalloc(arena, (c.arg_count + 1) * sizeof *c.args);
    if (!c.args) return HONE_NO_MEMORY("operator");
    c.arg_count = 0;
    *out_bind = (hone_gbind){.kind = HONE_GBIND_CALL, .callee = c.row->name};
    for (size_t i = 0; (name = hone_graph_op_param(c.row, i, &length, &is_attr)); i++) {
        HONE_TRY(is_attr ? add_attr(&c, name, length, &out_bind->attrs)
                         : add_arg(&c, name, length));
    }
    if (c.next_tensor < count) {
        return HONE_ERROR(HONE_CODE_INVALID, "operator '%s' takes %zu tensors, got %zu", op,
                          c.next_tensor, count);
    }
    out_bind->args = c.args;
    out_bind->arg_count = c.arg_count;
    return HONE_OK;
}
