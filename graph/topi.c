#include "graph/topi.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "graph/rewrite.h"

/* The frame of every builder: arguments in, PrimFunc out. */

static const struct {
    const char *op;
    hone_topi_fn build;
} builders[] = {
    {"matmul",                 hone_topi_matmul       },
    {"nn.conv1d",              hone_topi_conv         },
    {"nn.conv2d",              hone_topi_conv         },
    {"nn.conv3d",              hone_topi_conv         },
    {"nn.max_pool1d",          hone_topi_pool         },
    {"nn.max_pool2d",          hone_topi_pool         },
    {"nn.max_pool3d",          hone_topi_pool         },
    {"nn.avg_pool1d",          hone_topi_pool         },
    {"nn.avg_pool2d",          hone_topi_pool         },
    {"nn.avg_pool3d",          hone_topi_pool         },
    {"nn.adaptive_avg_pool1d", hone_topi_adaptive_pool},
    {"nn.adaptive_avg_pool2d", hone_topi_adaptive_pool},
    {"nn.adaptive_avg_pool3d", hone_topi_adaptive_pool},
    {"nn.softmax",             hone_topi_softmax      },
    {"nn.log_softmax",         hone_topi_softmax      },
    {"nn.layer_norm",          hone_topi_layer_norm   },
    {"nn.pad",                 hone_topi_pad          },
    {"sum",                    hone_topi_reduce       },
    {"prod",                   hone_topi_reduce       },
    {"max",                    hone_topi_reduce       },
    {"min",                    hone_topi_reduce       },
    {"mean",                   hone_topi_reduce       },
    {"argmax",                 hone_topi_arg_reduce   },
    {"argmin",                 hone_topi_arg_reduce   },
    {"reshape",                hone_topi_reshape      },
    {"permute_dims",           hone_topi_permute      },
    {"broadcast_to",           hone_topi_broadcast_to },
    {"concat",                 hone_topi_concat       },
    {"strided_slice",          hone_topi_slice        },
    {"take",                   hone_topi_take         },
};

hone_topi_fn hone_topi_find(const char *op) {
    for (size_t i = 0; i < HONE_COUNT(builders); i++) {
        if (strcmp(builders[i].op, op) == 0) return builders[i].build;
    }
    const hone_graph_op *row = hone_graph_op_find(op);
    bool is_elementwise =
        row && (row->pattern == HONE_PATTERN_ELEMWISE || row->pattern == HONE_PATTERN_BROADCAST);
    return is_elementwise && strcmp(op, "nn.dropout") != 0 ? hone_topi_elementwise : NULL;
}

hone_status hone_topi_unsupported(const hone_topi *t, const char *format, ...) {
    hone_str text = {0};
    va_list args;
    va_start(args, format);
    hone_str_vprintf(&text, format, args);
    va_end(args);
    hone_status st =
        HONE_ERROR(HONE_CODE_UNSUPPORTED, "operator '%s': %s", t->op, hone_str_text(&text));
    hone_str_deinit(&text);
    return st;
}

/* ---- expressions ---- */

const hone_expr *hone_topi_number(hone_topi *t, hone_dtype dtype, double value) {
    if (hone_dtype_is_float(dtype)) return hone_expr_float(&t->te.ir, dtype, value);
    return hone_expr_int(&t->te.ir, dtype, (int64_t)value);
}

const hone_expr *hone_topi_intrin(hone_topi *t, hone_intrin intrin, const hone_expr *x) {
    return x ? hone_expr_call(&t->te.ir, x->dtype, intrin, 1, &x) : NULL;
}

const hone_expr *hone_topi_sum(hone_topi *t, const hone_expr *x, const hone_expr *y) {
    if (!x || !y) return NULL;
    if (hone_expr_is_int(x) && hone_expr_is_int(y)) {
        return hone_expr_int(&t->te.ir, x->dtype, x->u.i + y->u.i);
    }
    if (hone_expr_is_int_value(x, 0)) return y;
    if (hone_expr_is_int_value(y, 0)) return x;
    if (hone_expr_is_int(y) && y->u.i < 0) {
        return hone_expr_sub(&t->te.ir, x, hone_expr_int(&t->te.ir, y->dtype, -y->u.i));
    }
    return hone_expr_add(&t->te.ir, x, y);
}

const hone_expr *hone_topi_add_int(hone_topi *t, const hone_expr *x, int64_t c) {
    return hone_topi_sum(t, x, hone_te_int(&t->te, c));
}

const hone_expr *hone_topi_mul_int(hone_topi *t, const hone_expr *x, int64_t c) {
    if (!x || c == 1) return x;
    if (hone_expr_is_int(x)) return hone_expr_int(&t->te.ir, x->dtype, x->u.i * c);
    return hone_expr_mul(&t->te.ir, x, hone_te_int(&t->te, c));
}

const hone_expr *hone_topi_load(hone_topi *t, uint32_t i, const hone_expr *const *indices) {
    if (t->literals[i]) return t->literals[i];
    return hone_te_load(&t->te, t->buffers[i], indices);
}

const hone_expr *hone_topi_at(hone_topi *t, uint32_t i, const hone_expr *const *axes,
                              uint32_t rank) {
    const hone_expr *indices[HONE_MAX_RANK];
    if (t->literals[i]) return t->literals[i];
    uint32_t own = (uint32_t)t->infos[i]->rank;
    assert(own <= rank);
    for (uint32_t d = 0; d < own; d++) {
        uint32_t at = d + rank - own;
        bool is_stretched = hone_expr_is_int_value(t->shapes[i][d], 1) &&
                            !hone_expr_is_int_value(t->out_shape[at], 1);
        indices[d] = is_stretched ? hone_te_int(&t->te, 0) : axes[at];
    }
    return hone_te_load(&t->te, t->buffers[i], indices);
}

void hone_topi_stage(hone_topi *t, hone_te_stage *stage) {
    hone_te_stage_begin(&t->te, stage, (uint32_t)t->out->rank, t->out_shape, 0, NULL);
}

/* before <= axis and axis < before + extent, as far as it is not sure; NULL = always */
static const hone_expr *inside(hone_topi *t, const hone_expr *axis, int64_t before, int64_t after,
                               const hone_expr *extent) {
    hone_ir *ir = &t->te.ir;
    const hone_expr *low = NULL, *high = NULL;
    if (before > 0) low = hone_expr_binary(ir, HONE_OP_LE, hone_te_int(&t->te, before), axis);
    if (after > 0) {
        high = hone_expr_binary(ir, HONE_OP_LT, axis, hone_topi_add_int(t, extent, before));
    }
    return low && high ? hone_expr_binary(ir, HONE_OP_AND, low, high) : low ? low : high;
}

hone_buffer hone_topi_padded(hone_topi *t, uint32_t i, const int64_t *before, const int64_t *after,
                             const hone_expr *value) {
    uint32_t rank = (uint32_t)t->infos[i]->rank;
    const hone_expr *shape[HONE_MAX_RANK] = {NULL}, *indices[HONE_MAX_RANK], *all = NULL;
    bool is_needed = false;
    for (uint32_t d = 0; d < rank; d++) {
        is_needed |= before[d] != 0 || after[d] != 0;
        shape[d] = hone_topi_add_int(t, t->shapes[i][d], before[d] + after[d]);
    }
    if (!is_needed && !t->literals[i]) return t->buffers[i];
    hone_te_stage stage;
    hone_te_stage_begin(&t->te, &stage, rank, shape, 0, NULL);
    for (uint32_t d = 0; d < rank; d++) {
        indices[d] = hone_topi_add_int(t, stage.axis[d], -before[d]);
        const hone_expr *here = inside(t, stage.axis[d], before[d], after[d], t->shapes[i][d]);
        if (here) all = all ? hone_expr_binary(&t->te.ir, HONE_OP_AND, all, here) : here;
    }
    const hone_expr *load = hone_topi_load(t, i, indices);
    const hone_expr *choice[] = {all, load, value};
    if (all) load = hone_expr_call(&t->te.ir, value->dtype, HONE_INTRIN_IF_THEN_ELSE, 3, choice);
    return hone_te_compute(&t->te, &stage, "pad_temp", load);
}

/* ---- shapes: graph sizes become variables of the kernel ---- */

typedef struct sizes {
    const hone_expr *graph[HONE_TE_MAX_RANK]; /* extents of the graph that are a kernel size */
    const hone_expr *kernel[HONE_TE_MAX_RANK];
    uint32_t count;
} sizes;

static const hone_expr *find_size(const sizes *s, const hone_expr *e) {
    for (uint32_t i = 0; i < s->count; i++) {
        if (hone_expr_same(s->graph[i], e)) return s->kernel[i];
    }
    return NULL;
}

static const hone_expr *new_size(hone_topi *t, sizes *s, const hone_expr *e, const char *name) {
    const hone_expr *size = hone_te_size(&t->te, name);
    if (!size) return NULL;
    s->graph[s->count] = e;
    s->kernel[s->count++] = size;
    return size;
}

/* An expression over known sizes in terms of the kernel; NULL when a part is not known. */
static const hone_expr *translate(hone_topi *t, const sizes *s, const hone_expr *e) {
    const hone_expr *known = find_size(s, e);
    if (known) return known;
    if (hone_expr_is_int(e)) return hone_te_int(&t->te, e->u.i);
    if (e->kind != HONE_EXPR_BINARY) return NULL;
    const hone_expr *a = translate(t, s, e->args[0]), *b = translate(t, s, e->args[1]);
    return a && b ? hone_expr_binary(&t->te.ir, (hone_op)e->op, a, b) : NULL;
}

static hone_status kernel_shape(hone_topi *t, sizes *s, const hone_graph_func *graph,
                                const hone_sinfo *info, const hone_expr *const **out) {
    const hone_expr **shape =
        hone_arena_alloc(t->te.ir.arena, ((size_t)info->rank + 1) * sizeof *shape);
    *out = shape;
    if (!shape) return HONE_ERROR(HONE_CODE_NO_MEMORY, "kernel");
    for (int32_t d = 0; d < info->rank; d++) {
        const hone_expr *e = info->shape[d];
        shape[d] = translate(t, s, e);
        if (shape[d]) continue;
        const char *name = e->kind == HONE_EXPR_VAR ? graph->vars[e->u.var].name : "m";
        shape[d] = new_size(t, s, e, name);
        if (!shape[d]) return hone_ir_finish(&t->te.ir);
    }
    return HONE_OK;
}

/* Plain variables first, so that compound extents can be written in terms of them. */
static hone_status plain_sizes(hone_topi *t, sizes *s, const hone_graph_func *graph,
                               const hone_sinfo *info) {
    for (int32_t d = 0; d < info->rank; d++) {
        const hone_expr *e = info->shape[d];
        if (e->kind != HONE_EXPR_VAR || find_size(s, e)) continue;
        if (!new_size(t, s, e, graph->vars[e->u.var].name)) return hone_ir_finish(&t->te.ir);
    }
    return HONE_OK;
}

static bool needs_int64(const hone_sinfo *info) {
    int64_t count = 1;
    for (int32_t d = 0; d < info->rank; d++) {
        if (!hone_expr_is_int(info->shape[d])) return true;
        if (__builtin_mul_overflow(count, info->shape[d]->u.i, &count) || count > INT32_MAX) {
            return true;
        }
    }
    return false;
}

/* ---- arguments ---- */

typedef struct frame {
    hone_topi t;
    const hone_module *module;
    const hone_graph_func *graph;
    hone_garg flat[HONE_TOPI_MAX_ARGS];
    hone_garg taken[HONE_TOPI_MAX_ARGS]; /* the inputs of the kernel */
    uint32_t taken_count;
    sizes sizes;
} frame;

static hone_status flatten(frame *f, const hone_garg *arg) {
    hone_topi *t = &f->t;
    if (arg->kind == HONE_GARG_TUPLE) {
        for (uint32_t i = 0; i < arg->count; i++)
            HONE_TRY(flatten(f, &arg->u.items[i]));
        return HONE_OK;
    }
    if (arg->kind != HONE_GARG_VALUE && arg->kind != HONE_GARG_CONSTANT) return HONE_OK;
    if (t->count == HONE_TOPI_MAX_ARGS) {
        return hone_topi_unsupported(t, "more than %d tensors", HONE_TOPI_MAX_ARGS);
    }
    const hone_sinfo *info = hone_garg_sinfo(f->module, f->graph, arg, t->te.ir.arena);
    if (!info || info->kind != HONE_SINFO_TENSOR || info->rank < 0 ||
        (info->rank && !info->shape) || hone_dtype_is_void(info->dtype)) {
        return hone_topi_unsupported(t, "the shape of an argument is not known");
    }
    f->flat[t->count] = *arg;
    t->infos[t->count++] = info;
    return HONE_OK;
}

/* A constant of one element is written into the program, except where its shape matters. */
static const hone_expr *literal_of(frame *f, const hone_garg *arg) {
    if (arg->kind != HONE_GARG_CONSTANT) return NULL;
    const hone_tensor *tensor = f->module->constants[arg->u.constant];
    if (hone_tensor_count(tensor) != 1) return NULL;
    if (hone_dtype_is_float(tensor->dtype)) {
        return hone_expr_float(&f->t.te.ir, tensor->dtype, hone_tensor_get_f64(tensor, 0));
    }
    return hone_expr_int(&f->t.te.ir, tensor->dtype, hone_tensor_get_i64(tensor, 0));
}

static hone_status take_input(frame *f, uint32_t i, bool allow_literal) {
    hone_topi *t = &f->t;
    t->buffers[i] = HONE_NO_ID;
    HONE_TRY(kernel_shape(t, &f->sizes, f->graph, t->infos[i], &t->shapes[i]));
    t->literals[i] = allow_literal ? literal_of(f, &f->flat[i]) : NULL;
    if (t->literals[i]) return HONE_OK;
    for (uint32_t k = 0; k < i; k++) {
        if (hone_garg_same(&f->flat[k], &f->flat[i]) && t->buffers[k] != HONE_NO_ID) {
            t->buffers[i] = t->buffers[k];
            return HONE_OK;
        }
    }
    char name[16];
    static const char letters[] = "ABCDEFGH";
    if (i < sizeof letters - 1)
        snprintf(name, sizeof name, "%c", letters[i]);
    else
        snprintf(name, sizeof name, "x%u", i);
    t->buffers[i] =
        hone_te_input(&t->te, name, t->infos[i]->dtype, (uint32_t)t->infos[i]->rank, t->shapes[i]);
    f->taken[f->taken_count++] = f->flat[i];
    return HONE_OK;
}

static hone_status take_inputs(frame *f) {
    hone_topi *t = &f->t;
    for (uint32_t i = 0; i < t->bind->arg_count; i++)
        HONE_TRY(flatten(f, &t->bind->args[i]));
    bool is_wide = needs_int64(t->out);
    for (uint32_t i = 0; i < t->count; i++)
        is_wide |= needs_int64(t->infos[i]);
    if (is_wide) hone_te_use_int64(&t->te);
    for (uint32_t i = 0; i < t->count; i++) {
        HONE_TRY(plain_sizes(t, &f->sizes, f->graph, t->infos[i]));
    }
    bool allow_literal = hone_topi_find(t->op) == hone_topi_elementwise;
    for (uint32_t i = 0; i < t->count; i++)
        HONE_TRY(take_input(f, i, allow_literal));
    return kernel_shape(t, &f->sizes, f->graph, t->out, &t->out_shape);
}

hone_status hone_topi_build(const hone_module *module, const hone_graph_func *graph,
                            const hone_gbind *bind, const hone_sinfo *out, const char *name,
                            hone_arena *arena, hone_func **out_func, hone_garg *out_args,
                            uint32_t *out_arg_count) {
    hone_topi_fn build = hone_topi_find(bind->callee);
    *out_func = NULL;
    if (!build) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "operator '%s' is not implemented", bind->callee);
    }
    frame *f = hone_arena_zalloc(arena, sizeof *f);
    if (!f) return HONE_ERROR(HONE_CODE_NO_MEMORY, "kernel");
    hone_topi *t = &f->t;
    f->module = module;
    f->graph = graph;
    t->op = bind->callee;
    t->bind = bind;
    t->args = bind->args;
    t->out = out;
    t->result = HONE_NO_ID;
    if (!out || out->kind != HONE_SINFO_TENSOR || out->rank < 0 || (out->rank && !out->shape)) {
        return hone_topi_unsupported(t, "the shape of the result is not known");
    }
    HONE_TRY(hone_te_begin(&t->te, arena, name));
    hone_status st = take_inputs(f);
    if (!st) st = build(t);
    if (st) return hone_status_join(st, hone_ir_finish(&t->te.ir));
    HONE_TRY(hone_te_finish(&t->te, 1, &t->result, out_func));
    memcpy(out_args, f->taken, f->taken_count * sizeof *out_args);
    *out_arg_count = f->taken_count;
    return HONE_OK;
}
