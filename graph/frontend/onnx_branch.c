/* graph/frontend/onnx_branch.c - If: the branch that is taken where that is known while reading,
 * else an if of the graph, whose branches are functions.
 *
 * Where the branches give different sizes, the condition says which one it will be, before the if:
 *   m = where(c, size of then, size of else)      of sizes that are known there
 *   m = if c: sizes of then, else: sizes of else   of sizes that a branch computes: it runs twice
 * Each branch then gives a tensor of m, by taking the items 0 ... m - 1 of what it makes, held
 * within it: that is all of it, where the branch is taken. */
#include "graph/frontend/onnx_flow.h"

enum { MOST_FITS = 32 };

bool onnx_known_truth(const onnx_reader *r, const hone_garg *arg, bool *out) {
    const hone_tensor *tensor = onnx_constant_of(r, arg);
    if (!tensor || hone_tensor_count(tensor) != 1) return false;
    *out = hone_tensor_get_i64(tensor, 0) != 0;
    return true;
}

hone_status onnx_as_scalar(onnx_reader *r, hone_garg *arg) {
    const hone_sinfo *info;
    HONE_TRY(onnx_as_tensor(r, arg));
    HONE_TRY(onnx_info(r, arg, &info));
    return info->rank == 0 ? HONE_OK : onnx_emit_reshape(r, *arg, 0, NULL, arg);
}

/* ---- results: tensors, sequences of them, or nothing ---- */

static uint32_t count_flat(const hone_garg *arg) {
    uint32_t count = arg->kind != HONE_GARG_TUPLE && arg->kind != HONE_GARG_NONE;
    for (uint32_t i = 0; i < onnx_held_count(arg); i++)
        count += count_flat(&arg->u.items[i]);
    return count;
}

static void flatten(const hone_garg *arg, hone_garg *flat, uint32_t *io_count) {
    if (arg->kind != HONE_GARG_TUPLE && arg->kind != HONE_GARG_NONE) flat[(*io_count)++] = *arg;
    for (uint32_t i = 0; i < onnx_held_count(arg); i++)
        flatten(&arg->u.items[i], flat, io_count);
}

static bool is_alike(const hone_garg *a, const hone_garg *b) {
    bool is_plain = a->kind != HONE_GARG_TUPLE && a->kind != HONE_GARG_NONE;
    bool other = b->kind != HONE_GARG_TUPLE && b->kind != HONE_GARG_NONE;
    if (is_plain || other || a->kind != b->kind) return is_plain && other;
    if (a->kind == HONE_GARG_NONE) return true;
    bool same = a->count == b->count && onnx_is_series(a) == onnx_is_series(b);
    for (uint32_t i = 0; same && i < onnx_held_count(a); i++)
        same = is_alike(&a->u.items[i], &b->u.items[i]);
    return same;
}

/* Of the form of `like`, from tensors in order. */
static hone_status rebuild(onnx_reader *r, const hone_garg *like, const hone_garg *flat,
                           uint32_t *io_at, hone_garg *out) {
    *out = *like;
    if (like->kind == HONE_GARG_NONE) return HONE_OK;
    if (like->kind != HONE_GARG_TUPLE) {
        *out = flat[(*io_at)++];
        return HONE_OK;
    }
    uint32_t count = onnx_held_count(like);
    hone_garg *items = hone_arena_zalloc(r->arena, ((size_t)count + 1) * sizeof *items);
    if (!items) return HONE_NO_MEMORY("model");
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(rebuild(r, &like->u.items[i], flat, io_at, &items[i]));
    out->u.items = items;
    return HONE_OK;
}

/* ---- branches ---- */

/* Dimension `axis` of result `item` (counted through all outputs) differs between the branches. */
typedef struct fit {
    uint32_t item;
    int32_t axis;
    bool is_inside;    /* a branch computes how many it has */
    hone_garg indices; /* 0, 1, ..., as many as it has in the branch that is taken */
} fit;

typedef struct fits {
    uint32_t count;
    fit items[MOST_FITS];
} fits;

typedef struct branch {
    const Onnx__GraphProto *graph;
    const fits *fits;
    hone_garg *outputs; /* as the branch gives them */
    const char *name;   /* of its function */
} branch;

/* What a branch gives, as tensors in order. */
static hone_status read_flat(onnx_reader *r, branch *b, hone_garg **out_results,
                             uint32_t *out_count) {
    uint32_t count = 0, next = 0;
    HONE_TRY(onnx_read_inside(r, b->graph, 0, NULL, b->outputs));
    for (size_t i = 0; i < b->graph->n_output; i++)
        count += count_flat(&b->outputs[i]);
    *out_results = hone_arena_zalloc(r->arena, ((size_t)count + 1) * sizeof **out_results);
    if (!*out_results) return HONE_NO_MEMORY("model");
    for (size_t i = 0; i < b->graph->n_output; i++)
        flatten(&b->outputs[i], *out_results, &next);
    *out_count = count;
    return HONE_OK;
}

static hone_status read_branch(onnx_reader *r, void *ctx, const hone_garg *leads,
                               hone_garg **out_results, uint32_t *out_count) {
    branch *b = ctx;
    HONE_TRY(read_flat(r, b, out_results, out_count));
    for (uint32_t i = 0; i < b->fits->count; i++) {
        const fit *f = &b->fits->items[i];
        HONE_TRY(onnx_fit_indices(r, leads[i], f->axis, &(*out_results)[f->item]));
    }
    return HONE_OK;
}

/* The sizes that a branch computes, as a tensor. */
static hone_status read_sizes(onnx_reader *r, void *ctx, const hone_garg *leads,
                              hone_garg **out_results, uint32_t *out_count) {
    (void)leads;
    branch *b = ctx;
    const hone_sinfo *info;
    const hone_expr *sizes[MOST_FITS];
    hone_garg *results;
    uint32_t count = 0;
    HONE_TRY(read_flat(r, b, &results, out_count));
    for (uint32_t i = 0; i < b->fits->count; i++) {
        const fit *f = &b->fits->items[i];
        if (!f->is_inside) continue;
        HONE_TRY(onnx_as_tensor(r, &results[f->item]));
        HONE_TRY(onnx_info(r, &results[f->item], &info));
        sizes[count++] = info->shape[f->axis];
    }
    *out_results = results;
    *out_count = 1;
    return onnx_sizes_tensor(r, count, sizes, &results[0]);
}

/* A branch as it is, fitted, or (of_sizes) what it says of sizes that it computes. */
static hone_status make_branch(onnx_reader *r, const onnx_captured *captured, const char *stem,
                               bool of_sizes, branch *b) {
    const hone_sinfo *leads[MOST_FITS];
    uint32_t lead_count = of_sizes ? 0 : b->fits->count;
    for (uint32_t i = 0; i < lead_count; i++)
        HONE_TRY(onnx_info(r, &b->fits->items[i].indices, &leads[i]));
    onnx_function f = {.stem = stem,
                       .captured = captured,
                       .lead_count = lead_count,
                       .leads = leads,
                       .ctx = b,
                       .read = of_sizes ? read_sizes : read_branch};
    b->outputs = hone_arena_zalloc(r->arena, (b->graph->n_output + 1) * sizeof *b->outputs);
    return b->outputs ? onnx_make_function(r, &f, &b->name) : HONE_NO_MEMORY("model");
}

static hone_status check_alike(const branch *then, const branch *otherwise) {
    for (size_t i = 0; i < then->graph->n_output; i++) {
        if (is_alike(&then->outputs[i], &otherwise->outputs[i])) continue;
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "the condition (input 0) must be constant: output %zu is another "
                          "sequence or optional in each branch",
                          i);
    }
    return HONE_OK;
}

static bool is_shape_known(const hone_sinfo *info) {
    return info && info->kind == HONE_SINFO_TENSOR && info->rank >= 0 &&
           (info->rank == 0 || info->shape);
}

/* The tensors that an if gives. */
static hone_status results_of(onnx_reader *r, hone_gvalue value, hone_garg **out_flat) {
    const hone_sinfo *info = r->graph->values[value].sinfo;
    bool is_tuple = info && info->kind == HONE_SINFO_TUPLE;
    uint32_t count = is_tuple ? info->field_count : 1;
    *out_flat = hone_arena_zalloc(r->arena, ((size_t)count + 1) * sizeof **out_flat);
    if (!*out_flat) return HONE_NO_MEMORY("model");
    for (uint32_t i = 0; i < count; i++) {
        (*out_flat)[i] = HONE_GARG_OF_VALUE(value);
        if (!is_shape_known(is_tuple ? info->fields[i] : info)) {
            return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                              "the condition (input 0) must be constant: output %u has another "
                              "shape in each branch",
                              i);
        }
        if (is_tuple) HONE_TRY(onnx_emit_get(r, (*out_flat)[i], (int32_t)i, &(*out_flat)[i]));
    }
    return HONE_OK;
}

/* ---- sizes that differ ---- */

/* What the branch that is taken has, as indices. */
static hone_status indices_of(onnx_reader *r, hone_garg condition, const hone_expr *yes,
                              const hone_expr *no, hone_garg *out) {
    hone_garg sizes[2], chosen;
    const hone_expr *found[1] = {NULL};
    int64_t a = hone_expr_const(yes), b = hone_expr_const(no);
    HONE_TRY(onnx_sizes_tensor(r, 1, &yes, &sizes[0]));
    HONE_TRY(onnx_sizes_tensor(r, 1, &no, &sizes[1]));
    HONE_TRY(onnx_emit_where(r, condition, sizes[0], sizes[1], &chosen));
    HONE_TRY(onnx_find_sizes(r, chosen, 1, a < 0 || b < 0 ? -1 : a > b ? a : b, found));
    return onnx_indices(r, found[0], 1, 0, out);
}

static hone_status refuse_shapes(uint32_t item) {
    return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                      "the condition (input 0) must be constant: output %u has another number of "
                      "dimensions in each branch",
                      item);
}

static hone_status find_fits_of(onnx_reader *r, uint32_t vars, hone_garg condition, uint32_t item,
                                const hone_sinfo *yes, const hone_sinfo *no, fits *out) {
    bool is_known = is_shape_known(yes) && is_shape_known(no) && yes->rank == no->rank;
    if (!is_known) return refuse_shapes(item);
    for (int32_t d = 0; d < yes->rank; d++) {
        const hone_expr *a = yes->shape[d], *b = no->shape[d];
        bool is_inside = !onnx_is_known_before(vars, a) || !onnx_is_known_before(vars, b);
        if (!is_inside && hone_extent_same(a, b)) continue;
        if (out->count == MOST_FITS) return refuse_shapes(item);
        fit *f = &out->items[out->count++];
        *f = (fit){.item = item, .axis = d, .is_inside = is_inside};
        if (!is_inside) HONE_TRY(indices_of(r, condition, a, b, &f->indices));
    }
    return HONE_OK;
}

static const hone_sinfo *result_of(const onnx_reader *r, const branch *b) {
    const hone_member *member = hone_module_find(r->module, b->name);
    return member ? member->graph->result_sinfo : NULL;
}

static hone_status find_fits(onnx_reader *r, hone_garg condition, const branch *then,
                             const branch *otherwise, fits *out) {
    const hone_sinfo *yes = result_of(r, then), *no = result_of(r, otherwise);
    uint32_t vars = r->graph->var_count; /* indices make more */
    if (!yes || !no || yes->kind != no->kind) return refuse_shapes(0);
    if (yes->kind != HONE_SINFO_TUPLE) return find_fits_of(r, vars, condition, 0, yes, no, out);
    for (uint32_t i = 0; i < yes->field_count && i < no->field_count; i++)
        HONE_TRY(find_fits_of(r, vars, condition, i, yes->fields[i], no->fields[i], out));
    return HONE_OK;
}

static hone_status emit_if(onnx_reader *r, hone_garg condition, const branch *then,
                           const branch *otherwise, const fits *leads,
                           const onnx_captured *captured, hone_garg **out_flat) {
    uint32_t first = HONE_GBIND_IF_ARGS + leads->count, count = first + captured->count;
    hone_garg *args = hone_arena_zalloc(r->arena, count * sizeof *args);
    hone_gvalue value = hone_graph_add_value(r->graph, "lv", NULL);
    if (!args || value == HONE_NO_ID) return HONE_NO_MEMORY("model");
    args[0] = condition;
    args[HONE_GBIND_IF_THEN] = (hone_garg){.kind = HONE_GARG_GLOBAL, .u.s = then->name};
    args[HONE_GBIND_IF_ELSE] = (hone_garg){.kind = HONE_GARG_GLOBAL, .u.s = otherwise->name};
    for (uint32_t i = 0; i < leads->count; i++)
        args[HONE_GBIND_IF_ARGS + i] = leads->items[i].indices;
    for (uint32_t i = 0; i < captured->count; i++)
        args[first + i] = captured->values[i];
    hone_gbind *bind = hone_graph_add_bind(r->graph, HONE_GBIND_IF, value);
    if (!bind) return HONE_NO_MEMORY("model");
    bind->args = args;
    bind->arg_count = count;
    hone_garg ignored;
    HONE_TRY(onnx_finish_bind(r, bind, &ignored));
    return results_of(r, value, out_flat);
}

static hone_status make_both(onnx_reader *r, const onnx_captured *captured, bool of_sizes,
                             branch *then, branch *otherwise) {
    HONE_TRY(make_branch(r, captured, "main_then", of_sizes, then));
    return make_branch(r, captured, "main_else", of_sizes, otherwise);
}

/* Sizes that the branches compute: an if more, before the one for what they give, tells them. */
static hone_status find_inside(onnx_reader *r, hone_garg condition, const onnx_captured *captured,
                               branch *then, branch *otherwise, fits *io) {
    const fits none = {0};
    const hone_expr *sizes[MOST_FITS] = {NULL};
    hone_garg *chosen;
    uint32_t count = 0, next = 0;
    for (uint32_t i = 0; i < io->count; i++)
        count += io->items[i].is_inside;
    if (!count) return HONE_OK;
    HONE_TRY(make_both(r, captured, true, then, otherwise));
    HONE_TRY(emit_if(r, condition, then, otherwise, &none, captured, &chosen));
    HONE_TRY(onnx_find_sizes(r, chosen[0], count, -1, sizes));
    for (uint32_t i = 0; i < io->count; i++) {
        fit *f = &io->items[i];
        if (f->is_inside) HONE_TRY(onnx_indices(r, sizes[next++], 1, 0, &f->indices));
    }
    return HONE_OK;
}

static int32_t rank_of(const hone_sinfo *info, uint32_t i) {
    if (info && info->kind == HONE_SINFO_TUPLE)
        info = i < info->field_count ? info->fields[i] : NULL;
    return is_shape_known(info) ? info->rank : -1;
}

/* Results have other numbers of dimensions; *out_index: the first one that does. */
static bool ranks_differ(const onnx_reader *r, const branch *then, const branch *otherwise,
                         uint32_t *out_index) {
    const hone_sinfo *yes = result_of(r, then), *no = result_of(r, otherwise);
    if (!yes || !no || yes->kind != no->kind) return false;
    uint32_t count = yes->kind == HONE_SINFO_TUPLE ? yes->field_count : 1;
    for (uint32_t i = 0; i < count; i++) {
        int32_t a = rank_of(yes, i), b = rank_of(no, i);
        *out_index = i;
        if (a >= 0 && b >= 0 && a != b) return true;
    }
    return false;
}

static hone_status read_both(onnx_reader *r, hone_garg condition, branch *then, branch *otherwise,
                             bool can_end, hone_garg *out) {
    uint32_t index;
    onnx_captured captured = {0};
    hone_garg *flat;
    fits none = {0}, found = {0};
    uint32_t at = 0;
    HONE_TRY(onnx_as_scalar(r, &condition));
    HONE_TRY(onnx_capture(r, then->graph, &captured));
    HONE_TRY(onnx_capture(r, otherwise->graph, &captured));
    then->fits = otherwise->fits = &none;
    HONE_TRY(make_both(r, &captured, false, then, otherwise));
    HONE_TRY(check_alike(then, otherwise));
    if (can_end && ranks_differ(r, then, otherwise, &index)) {
        r->ends_in_branches = true;
        return HONE_OK;
    }
    HONE_TRY(find_fits(r, condition, then, otherwise, &found));
    then->fits = otherwise->fits = &found;
    HONE_TRY(find_inside(r, condition, &captured, then, otherwise, &found));
    if (found.count) HONE_TRY(make_both(r, &captured, false, then, otherwise));
    HONE_TRY(emit_if(r, condition, then, otherwise, &found, &captured, &flat));
    for (size_t i = 0; i < then->graph->n_output; i++)
        HONE_TRY(rebuild(r, &then->outputs[i], flat, &at, &out[i]));
    return HONE_OK;
}

/* ---- with all that comes behind ---- */

/* The branch as what there is; that the condition is so is checked when the model runs. */
static hone_status take_one(onnx_reader *r, hone_garg condition, bool is_then,
                            const Onnx__GraphProto *graph, hone_garg *out) {
    const hone_expr *one = hone_extent_int(&r->ir, 1), *wanted = hone_extent_int(&r->ir, is_then);
    HONE_TRY(onnx_as_tensor(r, &condition));
    HONE_TRY(onnx_emit_cast(r, condition, HONE_DTYPE_I64, &condition));
    HONE_TRY(onnx_emit_reshape(r, condition, 1, &one, &condition));
    HONE_TRY(onnx_find_sizes(r, condition, 1, 1, &wanted));
    return onnx_read_inside(r, graph, 0, NULL, out);
}

/* Which of both gives as many dimensions as output i is declared with: 1, 0, or -1. */
static int declared_branch(const onnx_reader *r, const branch *then, const branch *otherwise,
                           uint32_t i) {
    const Onnx__TypeProto *type = i < then->graph->n_output ? then->graph->output[i]->type : NULL;
    bool is_said = type && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE &&
                   type->tensor_type && type->tensor_type->shape;
    if (!is_said) return -1;
    int64_t rank = (int64_t)type->tensor_type->shape->n_dim;
    if (rank_of(result_of(r, then), i) == rank) return 1;
    return rank_of(result_of(r, otherwise), i) == rank ? 0 : -1;
}

static bool is_misfit(hone_status st) {
    return st &&
           (hone_status_code(st) == HONE_CODE_TYPE || hone_status_code(st) == HONE_CODE_INVALID);
}

hone_status onnx_convert_branches(onnx_reader *r, hone_garg condition,
                                  const Onnx__GraphProto *then_graph,
                                  const Onnx__GraphProto *else_graph, hone_garg *out) {
    const fits none = {0};
    branch then = {.graph = then_graph, .fits = &none},
           otherwise = {.graph = else_graph, .fits = &none};
    onnx_captured captured = {0};
    uint32_t index;
    HONE_TRY(onnx_as_scalar(r, &condition));
    HONE_TRY(onnx_capture(r, then_graph, &captured));
    HONE_TRY(onnx_capture(r, else_graph, &captured));
    hone_status yes = make_branch(r, &captured, "main_then", false, &then);
    hone_status no = yes && !is_misfit(yes)
                         ? HONE_OK
                         : make_branch(r, &captured, "main_else", false, &otherwise);
    if ((yes && no) || (yes && !is_misfit(yes)) || (no && !is_misfit(no))) {
        hone_status_free(yes ? no : HONE_OK);
        return yes ? yes : no;
    }
    if (yes || no) {
        const bool is_then = yes == HONE_OK;
        hone_status_free(hone_status_join(yes, no));
        return take_one(r, condition, is_then, is_then ? then_graph : else_graph, out);
    }
    if (ranks_differ(r, &then, &otherwise, &index)) {
        int which = declared_branch(r, &then, &otherwise, index);
        if (which < 0) return refuse_shapes(index);
        return take_one(r, condition, which == 1, which ? then_graph : else_graph, out);
    }
    return read_both(r, condition, &then, &otherwise, false, out);
}

static hone_status convert_if(onnx_reader *r, hone_garg *out) {
    branch then = {0}, otherwise = {0};
    const bool can_end = r->can_end_early;
    bool is_true;
    HONE_TRY(onnx_attr_graph(r, "then_branch", &then.graph));
    HONE_TRY(onnx_attr_graph(r, "else_branch", &otherwise.graph));
    size_t count = then.graph->n_output;
    if (count != otherwise.graph->n_output || count > ONNX_MAX_OUTPUTS || count < r->output_count) {
        return HONE_ERROR(HONE_CODE_INVALID, "its branches give %zu and %zu values, for %u outputs",
                          count, otherwise.graph->n_output, r->output_count);
    }
    HONE_TRY(onnx_as_tensor(r, &r->inputs[0]));
    if (onnx_known_truth(r, &r->inputs[0], &is_true)) {
        return onnx_read_inside(r, is_true ? then.graph : otherwise.graph, 0, NULL, out);
    }
    return read_both(r, r->inputs[0], &then, &otherwise, can_end, out);
}

const onnx_converter onnx_branch_converters[] = {
    {"If", convert_if, 1, 1, ONNX_MAX_OUTPUTS, "then_branch else_branch", NULL},
    {0  },
};
