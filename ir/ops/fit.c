/* ir/ops/fit.c - binds the sizes of a callee to those of a call, and compares the rest. */
#include "ir/ops/fit.h"

/* ---- a callee's sizes in terms of the caller's ---- */

typedef struct translation {
    const hone_fit *fit;
    bool is_known;
} translation;

static const hone_expr *translate(void *ctx, hone_ir *ir, const hone_expr *e) {
    translation *t = ctx;
    switch (e->kind) {
    case HONE_EXPR_INT:
        return hone_expr_int(ir, HONE_DTYPE_I64, e->u.i);
    case HONE_EXPR_CAST:
        return e->args[0];
    case HONE_EXPR_BINARY:
        return hone_expr_binary(ir, (hone_op)e->op, e->args[0], e->args[1]);
    case HONE_EXPR_VAR:
        if (e->u.var < t->fit->count && t->fit->sizes[e->u.var]) return t->fit->sizes[e->u.var];
        break;
    default:
        break;
    }
    t->is_known = false;
    return hone_expr_int(ir, HONE_DTYPE_I64, 0);
}

const hone_expr *hone_fit_in_caller(hone_fit *fit, const hone_expr *e) {
    translation t = {fit, true};
    const hone_expr *made = hone_expr_transform(&fit->arith->ir, e, translate, &t);
    return made && t.is_known ? hone_simplify(fit->arith, made) : NULL;
}

/* Never the same, whatever the caller's sizes are? */
static bool is_never(hone_arith *arith, const hone_expr *a, const hone_expr *b) {
    const hone_expr *rest = hone_simplify(arith, hone_expr_sub(&arith->ir, a, b));
    return rest && hone_expr_is_int(rest) && rest->u.i != 0;
}

hone_status hone_fit_begin(hone_fit *fit, uint32_t var_count) {
    fit->count = var_count;
    fit->sizes =
        hone_arena_zalloc(fit->arith->ir.arena, ((size_t)var_count + 1) * sizeof *fit->sizes);
    return fit->sizes ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "sizes of a call");
}

void hone_fit_bind(hone_fit *fit, const hone_expr *want, const hone_expr *got) {
    if (!want || want->kind != HONE_EXPR_VAR || want->u.var >= fit->count) return;
    if (!fit->sizes[want->u.var]) fit->sizes[want->u.var] = got;
}

void hone_fit_check(hone_fit *fit, const hone_fit_point *point, const hone_expr *want) {
    hone_fit_point found = *point;
    found.wanted = hone_fit_in_caller(fit, want);
    if (found.wanted) {
        if (hone_prove_equal(fit->arith, found.wanted, found.got)) return;
        found.is_never = is_never(fit->arith, found.wanted, found.got);
    }
    fit->report(fit->ctx, &found);
}

/* ---- tensor programs ---- */

/* What each dimension, stride and offset of a buffer is when a dense tensor is passed. */
static void each_point(hone_fit *fit, const hone_buffer_info *buffer, const hone_fit_tensor *tensor,
                       void (*visit)(hone_fit *fit, const hone_fit_point *, const hone_expr *)) {
    hone_ir *ir = &fit->arith->ir;
    hone_fit_point point = {.name = buffer->name};
    if (tensor->rank != buffer->rank || (tensor->rank && !tensor->shape)) return; /* not known */
    for (uint32_t d = 0; d < buffer->rank; d++) {
        point.dim = d;
        point.got = tensor->shape[d];
        visit(fit, &point, buffer->shape[d]);
    }
    point.what = HONE_FIT_STRIDE;
    const hone_expr *stride = hone_expr_int(ir, HONE_DTYPE_I64, 1);
    for (uint32_t d = buffer->rank; buffer->strides && stride && d-- > 0;) {
        point.dim = d;
        point.got = stride;
        /* a step that is never taken may have any length */
        bool is_taken = !hone_expr_is_int_value(tensor->shape[d], 1);
        if (is_taken || buffer->strides[d]->kind == HONE_EXPR_VAR) {
            visit(fit, &point, buffer->strides[d]);
        }
        stride = hone_simplify(fit->arith, hone_expr_mul(ir, stride, tensor->shape[d]));
    }
    point.what = HONE_FIT_OFFSET;
    point.got = hone_expr_int(ir, HONE_DTYPE_I64, 0);
    if (buffer->elem_offset && point.got) visit(fit, &point, buffer->elem_offset);
}

static void bind_point(hone_fit *fit, const hone_fit_point *point, const hone_expr *want) {
    hone_fit_bind(fit, want, point->got);
}

static void each_param(hone_fit *fit, const hone_func *func, const hone_fit_tensor *tensors,
                       const hone_expr *const *scalars,
                       void (*visit)(hone_fit *fit, const hone_fit_point *, const hone_expr *)) {
    hone_ir *ir = &fit->arith->ir;
    for (uint32_t i = 0; i < func->param_count; i++) {
        const hone_param *param = &func->params[i];
        if (param->buffer != HONE_NO_ID) {
            each_point(fit, hone_func_buffer(func, param->buffer), tensors++, visit);
            continue;
        }
        const hone_var_info *var = &func->vars[param->var];
        const hone_expr *name = hone_expr_var(ir, var->dtype, param->var),
                        *got = scalars ? *scalars++ : NULL;
        hone_fit_point point = {.what = HONE_FIT_SCALAR, .name = var->name, .got = got};
        if (name && got && hone_dtype_is_int(var->dtype)) visit(fit, &point, name);
    }
}

hone_status hone_fit_func(hone_fit *fit, const hone_func *func, const hone_fit_tensor *tensors,
                          const hone_expr *const *scalars) {
    HONE_TRY(hone_fit_begin(fit, func->var_count));
    each_param(fit, func, tensors, scalars, bind_point);
    each_param(fit, func, tensors, scalars, hone_fit_check);
    return hone_ir_finish(&fit->arith->ir);
}

/* ---- sizes of a kernel ---- */

static uint32_t add_size(hone_var *out, uint32_t count, hone_var var) {
    for (uint32_t i = 0; i < count; i++) {
        if (out[i] == var) return count;
    }
    out[count] = var;
    return count + 1;
}

static uint32_t add_if_size(hone_var *out, uint32_t count, const hone_expr *e) {
    return e && e->kind == HONE_EXPR_VAR ? add_size(out, count, e->u.var) : count;
}

uint32_t hone_func_sizes(const hone_func *func, hone_var *out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < func->param_count; i++) {
        const hone_param *param = &func->params[i];
        if (param->buffer == HONE_NO_ID) {
            count = add_size(out, count, param->var);
            continue;
        }
        const hone_buffer_info *buffer = hone_func_buffer(func, param->buffer);
        for (uint32_t d = 0; d < buffer->rank; d++)
            count = add_if_size(out, count, buffer->shape[d]);
        for (uint32_t d = 0; buffer->strides && d < buffer->rank; d++)
            count = add_if_size(out, count, buffer->strides[d]);
        count = add_if_size(out, count, buffer->elem_offset);
    }
    return count;
}

/* ---- words ---- */

void hone_fit_describe(const hone_fit_point *point, hone_str *out) {
    switch (point->what) {
    case HONE_FIT_EXTENT:
        hone_str_printf(out, "dimension %u of '%s'", (unsigned)point->dim, point->name);
        return;
    case HONE_FIT_STRIDE:
        hone_str_printf(out, "the stride of dimension %u of '%s'", (unsigned)point->dim,
                        point->name);
        return;
    case HONE_FIT_OFFSET:
        hone_str_printf(out, "the element offset of '%s'", point->name);
        return;
    case HONE_FIT_SCALAR:
        hone_str_printf(out, "'%s'", point->name);
        return;
    }
}
