/* graph/operators/topi_frame.c - the frame of every builder: arguments in, stages out. */
#include "graph/operators/topi_build.h"

#include <stdio.h>
#include <string.h>

#include "graph/module/rewrite.h"

/* ---- shapes: graph sizes become variables of the kernel ---- */

typedef struct sizes {
    const hone_expr *graph[HONE_TE_MAX_RANK]; /* extents of the graph that are a kernel size */
    const hone_expr *kernel[HONE_TE_MAX_RANK];
    uint32_t count;
} sizes;

static const hone_expr *find_size(const hone_topi *t, const sizes *s, const hone_expr *e) {
    for (uint32_t i = 0; i < s->count; i++) {
        if (hone_extent_equals(t->te->ir.arena, s->graph[i], e)) return s->kernel[i];
    }
    return NULL;
}

static const hone_expr *new_size(hone_topi *t, sizes *s, const hone_expr *e, const char *name) {
    const hone_expr *size = hone_te_size(t->te, name);
    if (!size) return NULL;
    s->graph[s->count] = e;
    s->kernel[s->count++] = size;
    return size;
}

/* An extent without the number that is added to it: that of n - 2 is n. */
static const hone_expr *without_number(const hone_expr *e, int64_t *out_number) {
    bool has_number =
        e->kind == HONE_EXPR_BINARY && e->op == HONE_OP_ADD && hone_expr_is_int(e->args[1]);
    *out_number = has_number ? e->args[1]->u.i : 0;
    return has_number ? e->args[0] : e;
}

/* An extent that is away from a known one by a number: n - 2 beside a size that is n - 1. */
static const hone_expr *near_size(hone_topi *t, const sizes *s, const hone_expr *e) {
    int64_t number, known;
    const hone_expr *base = without_number(e, &number);
    for (uint32_t i = 0; i < s->count; i++) {
        if (!hone_expr_same(without_number(s->graph[i], &known), base)) continue;
        return hone_extent_add(&t->te->ir, s->kernel[i], number - known);
    }
    return NULL;
}

static bool is_multiple(const hone_expr *e) {
    return hone_expr_is_op(e, HONE_OP_MUL) && hone_expr_is_int(e->args[1]) && e->args[1]->u.i > 0;
}

/* An extent without the number by which it is multiplied: that of n * 2 * 4 is n. */
static const hone_expr *without_factor(const hone_expr *e, int64_t *out_factor) {
    int64_t factor;
    for (*out_factor = 1;
         is_multiple(e) && !__builtin_mul_overflow(*out_factor, e->args[1]->u.i, &factor);
         e = e->args[0])
        *out_factor = factor;
    return e;
}

/* How many times `unit` an extent is: n * 4 is two times n * 2. 0: not a number of times. */
static int64_t times(const hone_expr *e, const hone_expr *unit) {
    int64_t factor, of_unit;
    const hone_expr *base = without_factor(e, &factor);
    bool is_same = hone_expr_same(without_factor(unit, &of_unit), base);
    return is_same && factor % of_unit == 0 ? factor / of_unit : 0;
}

static const hone_expr *multiple_of_size(hone_topi *t, const sizes *s, const hone_expr *e) {
    for (uint32_t i = 0; i < s->count; i++) {
        int64_t count = times(e, s->graph[i]);
        if (count > 0) return hone_topi_mul_int(t, s->kernel[i], count);
    }
    return NULL;
}

/* An expression over known sizes in terms of the kernel; NULL when a part is not known. */
static const hone_expr *translate(hone_topi *t, const sizes *s, const hone_expr *e) {
    const hone_expr *known = find_size(t, s, e);
    if (!known && !hone_expr_is_int(e)) known = near_size(t, s, e);
    if (!known && !hone_expr_is_int(e)) known = multiple_of_size(t, s, e);
    if (known) return known;
    if (hone_expr_is_int(e)) return hone_te_int(t->te, e->u.i);
    if (e->kind != HONE_EXPR_BINARY) return NULL;
    const hone_expr *a = translate(t, s, e->args[0]), *b = translate(t, s, e->args[1]);
    return a && b ? hone_expr_binary(&t->te->ir, (hone_op)e->op, a, b) : NULL;
}

static hone_status kernel_shape(hone_topi *t, sizes *s, const hone_graph_func *graph,
                                const hone_sinfo *info, const hone_expr *const **out) {
    const hone_expr **shape =
        hone_arena_alloc(t->te->ir.arena, ((size_t)info->rank + 1) * sizeof *shape);
    *out = shape;
    if (!shape) return HONE_ERROR(HONE_CODE_NO_MEMORY, "kernel");
    for (int32_t d = 0; d < info->rank; d++) {
        const hone_expr *e = info->shape[d];
        shape[d] = translate(t, s, e);
        if (shape[d]) continue;
        const char *name = e->kind == HONE_EXPR_VAR ? graph->vars[e->u.var].name : "m";
        shape[d] = new_size(t, s, e, name);
        if (!shape[d]) return hone_ir_finish(&t->te->ir);
    }
    return HONE_OK;
}

/* Plain variables first, so that compound extents can be written in terms of them. */
static hone_status plain_sizes(hone_topi *t, sizes *s, const hone_graph_func *graph,
                               const hone_sinfo *info) {
    for (int32_t d = 0; d < info->rank; d++) {
        const hone_expr *e = info->shape[d];
        if (e->kind != HONE_EXPR_VAR || find_size(t, s, e)) continue;
        if (!new_size(t, s, e, graph->vars[e->u.var].name)) return hone_ir_finish(&t->te->ir);
    }
    return HONE_OK;
}

/* Of extents that are multiples of another one that is the size, so that they are written in terms
 * of it whichever comes first: [n * 4] reshaped to [n * 2, 2]. */
static hone_status unit_sizes(hone_topi *t, sizes *s, const hone_sinfo *from,
                              const hone_sinfo *with) {
    for (int32_t d = 0; d < from->rank; d++) {
        const hone_expr *e = from->shape[d], *unit = e;
        if (hone_expr_is_int(e)) continue;
        for (int32_t k = 0; k < with->rank; k++) {
            if (times(unit, with->shape[k]) > 1) unit = with->shape[k];
        }
        if (unit == e || translate(t, s, unit)) continue;
        if (!new_size(t, s, unit, "m")) return hone_ir_finish(&t->te->ir);
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
    hone_te te;
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
    const hone_sinfo *info = hone_garg_sinfo(f->module, f->graph, arg, t->te->ir.arena);
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
        return hone_expr_float(&f->te.ir, tensor->dtype, hone_tensor_get_f64(tensor, 0));
    }
    return hone_expr_int(&f->te.ir, tensor->dtype, hone_tensor_get_i64(tensor, 0));
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
        hone_te_input(t->te, name, t->infos[i]->dtype, (uint32_t)t->infos[i]->rank, t->shapes[i]);
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
    if (is_wide) hone_te_use_int64(t->te);
    for (uint32_t i = 0; i < t->count; i++) {
        HONE_TRY(plain_sizes(t, &f->sizes, f->graph, t->infos[i]));
    }
    HONE_TRY(plain_sizes(t, &f->sizes, f->graph, t->out)); /* [n * 4] reshaped to [n, 4] */
    for (uint32_t i = 0; i < t->count; i++) {
        for (uint32_t k = 0; k < t->count; k++)
            HONE_TRY(unit_sizes(t, &f->sizes, t->infos[i], t->infos[k]));
        HONE_TRY(unit_sizes(t, &f->sizes, t->infos[i], t->out));
    }
    bool allow_literal = hone_topi_find(t->op) == hone_topi_emit_elementwise;
    for (uint32_t i = 0; i < t->count; i++)
        HONE_TRY(take_input(f, i, allow_literal));
    return kernel_shape(t, &f->sizes, f->graph, t->out, &t->out_shape);
}

static void begin(hone_topi *t, hone_te *te, const hone_gbind *bind, const hone_sinfo *out) {
    t->te = te;
    t->op = bind->callee;
    t->bind = bind;
    t->args = bind->args;
    t->out = out;
    t->result = HONE_NO_ID;
}

static hone_status find_builder(const hone_gbind *bind, const hone_sinfo *out, hone_topi_fn *fn) {
    *fn = hone_topi_find(bind->callee);
    if (!*fn) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "operator '%s' is not implemented", bind->callee);
    }
    if (!out || out->kind != HONE_SINFO_TENSOR || out->rank < 0 || (out->rank && !out->shape)) {
        return HONE_ERROR(
            HONE_CODE_UNSUPPORTED,
            "operator '%s': the shape of the result is not known; inputs need shapes, "
            "with names for sizes that are open",
            bind->callee);
    }
    return HONE_OK;
}

hone_status hone_topi_build(const hone_module *module, const hone_graph_func *graph,
                            const hone_gbind *bind, const hone_sinfo *out, const char *name,
                            const hone_graph_options *options, hone_arena *arena,
                            hone_func **out_func, hone_garg *out_args, uint32_t *out_arg_count) {
    hone_topi_fn build;
    *out_func = NULL;
    HONE_TRY(find_builder(bind, out, &build));
    frame *f = hone_arena_zalloc(arena, sizeof *f);
    if (!f) return HONE_ERROR(HONE_CODE_NO_MEMORY, "kernel");
    hone_topi *t = &f->t;
    f->module = module;
    f->graph = graph;
    begin(t, &f->te, bind, out);
    t->is_for_many_threads = options && options->is_for_many_threads;
    HONE_TRY(hone_te_begin(t->te, arena, name));
    hone_status st = take_inputs(f);
    if (!st) st = build(t);
    if (st) return hone_status_join(st, hone_ir_finish(&t->te->ir));
    HONE_TRY(hone_te_finish(t->te, 1, &t->result, out_func));
    memcpy(out_args, f->taken, f->taken_count * sizeof *out_args);
    *out_arg_count = f->taken_count;
    return HONE_OK;
}

/* ---- in the middle of a formula: the call is inferred in a graph function made for it ---- */

static const hone_expr *to_graph(hone_topi *t, const sizes *s, const hone_expr *e) {
    for (uint32_t i = 0; i < s->count; i++) {
        if (hone_expr_same(s->kernel[i], e)) return s->graph[i];
    }
    hone_ir *ir = &t->te->ir;
    if (hone_expr_is_int(e)) return hone_expr_int(ir, HONE_DTYPE_I64, e->u.i);
    if (e->kind == HONE_EXPR_CAST) return to_graph(t, s, e->args[0]);
    if (e->kind != HONE_EXPR_BINARY) return NULL;
    const hone_expr *a = to_graph(t, s, e->args[0]), *b = to_graph(t, s, e->args[1]);
    return a && b ? hone_expr_binary(ir, (hone_op)e->op, a, b) : NULL;
}

static hone_status extents_to_graph(hone_topi *t, const sizes *s, uint32_t count,
                                    const hone_expr *const *from, const hone_expr *const **out) {
    const hone_expr **to = hone_arena_alloc(t->te->ir.arena, (count + 1) * sizeof *to);
    *out = to;
    if (!to) return HONE_ERROR(HONE_CODE_NO_MEMORY, "operator");
    for (uint32_t d = 0; d < count; d++) {
        to[d] = to_graph(t, s, from[d]);
        if (!to[d]) return hone_topi_unsupported(t, "an extent of this kind");
    }
    return HONE_OK;
}

/* The sizes of te are the symbolic sizes of the function, under the same numbers. */
static hone_status copy_sizes(hone_te *te, hone_graph_func *graph, sizes *s) {
    for (uint32_t i = 0; i < te->size_count; i++) {
        hone_var var = hone_graph_add_var(graph, te->func->vars[te->sizes[i]].name);
        if (var == HONE_NO_ID) return HONE_ERROR(HONE_CODE_NO_MEMORY, "operator");
        s->kernel[i] = hone_expr_var(&te->ir, te->index, te->sizes[i]);
        s->graph[i] = hone_expr_var(&te->ir, HONE_DTYPE_I64, var);
    }
    s->count = te->size_count;
    return HONE_OK;
}

/* What is known of the buffers becomes the parameters of the function. */
static hone_status copy_buffers(hone_topi *t, const sizes *s, hone_graph_func *graph,
                                uint32_t count, const hone_buffer *buffers) {
    for (uint32_t i = 0; i < count; i++) {
        const hone_buffer_info *info = hone_func_buffer(t->te->func, buffers[i]);
        if (info->rank > HONE_MAX_RANK) {
            return hone_topi_unsupported(t, "'%s' has %u dimensions, at most %d", info->name,
                                         (unsigned)info->rank, HONE_MAX_RANK);
        }
        const hone_expr *const *shape;
        HONE_TRY(extents_to_graph(t, s, info->rank, info->shape, &shape));
        const hone_sinfo *known =
            hone_sinfo_tensor(t->te->ir.arena, info->dtype, (int32_t)info->rank, shape);
        if (!known || hone_graph_add_param(graph, info->name, known) == HONE_NO_ID) {
            return HONE_ERROR(HONE_CODE_NO_MEMORY, "operator");
        }
    }
    return HONE_OK;
}

static hone_status copy_args(hone_topi *t, const sizes *s, hone_gbind *bind) {
    hone_garg *args = hone_arena_zalloc(t->te->ir.arena, (bind->arg_count + 1) * sizeof *args);
    if (!args) return HONE_ERROR(HONE_CODE_NO_MEMORY, "operator");
    for (uint32_t i = 0; i < bind->arg_count; i++) {
        args[i] = bind->args[i];
        if (args[i].kind != HONE_GARG_SHAPE) continue;
        HONE_TRY(extents_to_graph(t, s, args[i].count, args[i].u.exprs, &args[i].u.exprs));
    }
    bind->args = args;
    return HONE_OK;
}

/* The tensors of the call in order, those in tuples singly. */
static hone_status find_buffers(frame *f, const hone_buffer *buffers) {
    hone_topi *t = &f->t;
    for (uint32_t i = 0; i < t->bind->arg_count; i++)
        HONE_TRY(flatten(f, &t->bind->args[i]));
    for (uint32_t i = 0; i < t->count; i++) {
        t->buffers[i] = buffers[f->flat[i].u.value];
        t->shapes[i] = hone_func_buffer(t->te->func, t->buffers[i])->shape;
    }
    return HONE_OK;
}

static hone_status check_elements(const hone_topi *t, const hone_sinfo *info) {
    if (info->dtype.lanes > 1) return hone_topi_unsupported(t, "elements that are vectors");
    if (hone_dtype_equal(t->te->index, HONE_DTYPE_I64) || !hone_sinfo_is_static(info) ||
        !needs_int64(info)) {
        return HONE_OK;
    }
    return hone_topi_unsupported(t, "2^31 elements or more need indices of int64");
}

/* The shape of the result in terms of the formula. */
static hone_status result_shape(frame *f) {
    hone_topi *t = &f->t;
    const hone_expr **shape =
        hone_arena_alloc(t->te->ir.arena, ((size_t)t->out->rank + 1) * sizeof *shape);
    if (!shape) return HONE_ERROR(HONE_CODE_NO_MEMORY, "operator");
    for (int32_t d = 0; d < t->out->rank; d++) {
        shape[d] = translate(t, &f->sizes, t->out->shape[d]);
        if (!shape[d]) return hone_topi_unsupported(t, "the shape of the result is not known");
        if (hone_expr_is_int(shape[d]) && shape[d]->u.i < 1) {
            return hone_topi_unsupported(t, "a result without elements");
        }
    }
    t->out_shape = shape;
    return HONE_OK;
}

static hone_status apply(frame *f, hone_gbind *bind, uint32_t count, const hone_buffer *buffers) {
    hone_topi *t = &f->t;
    hone_arena *arena = t->te->ir.arena;
    hone_topi_fn build;
    const hone_sinfo *out;
    hone_graph_func *graph = hone_graph_func_create(arena, "formula");
    if (!graph) return HONE_ERROR(HONE_CODE_NO_MEMORY, "operator");
    f->graph = graph;
    HONE_TRY(copy_sizes(t->te, graph, &f->sizes));
    HONE_TRY(copy_buffers(t, &f->sizes, graph, count, buffers));
    HONE_TRY(copy_args(t, &f->sizes, bind));
    HONE_TRY(hone_graph_infer_bind(NULL, graph, bind, arena, &out));
    HONE_TRY(find_builder(bind, out, &build));
    begin(t, t->te, bind, out);
    HONE_TRY(find_buffers(f, buffers));
    for (uint32_t i = 0; i < t->count; i++)
        HONE_TRY(check_elements(t, t->infos[i]));
    HONE_TRY(check_elements(t, out));
    HONE_TRY(result_shape(f));
    HONE_TRY(build(t));
    return hone_ir_finish(&t->te->ir);
}

hone_status hone_topi_apply(hone_te *te, const hone_gbind *bind, uint32_t count,
                            const hone_buffer *buffers, hone_buffer *out_result) {
    *out_result = HONE_NO_ID;
    frame *f = hone_arena_zalloc(te->ir.arena, sizeof *f);
    if (!f) return HONE_ERROR(HONE_CODE_NO_MEMORY, "operator");
    hone_gbind copy = *bind;
    begin(&f->t, te, &copy, NULL);
    hone_status st = apply(f, &copy, count, buffers);
    if (st) return hone_status_join(st, hone_ir_finish(&te->ir));
    *out_result = f->t.result;
    return HONE_OK;
}
