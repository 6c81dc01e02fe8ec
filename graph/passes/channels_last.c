/* graph/passes/channels_last.c - convolutions of 16-bit floats with their channels last, on devices
 * that multiply matrices of those:
 *   conv(x, w)  →  permute_dims(conv(permute_dims(x), permute_dims(w)))     N…C and O…I
 * Transposed ones, too: I…O. A row of the implicit product is then a run of channels, which is
 * what copies into shared memory and matrix units want. The order goes on through what does not
 * care (elementwise operators, pools, sums over space, concat, resizing and choosing along a
 * dimension), so that a whole network is turned once at its ends and between convolutions nothing
 * is: where a value is wanted in the old order, it is turned back; what nobody wants in the old
 * order is pruned. Groups follow their data and are no reason to turn it.
 *
 * needs: infer, normalize, decompose; fold_constants after it turns the weights
 * keeps: everything else
 */
#include <string.h>

#include "graph/module/rewrite.h"
#include "graph/passes/graph_passes.h"
#include "ir/ops/graph_infer.h"
#include "ir/ops/layout.h"

enum { LEAST_RANK = 3, MOST_RANK = 5, CHANNEL = 1 };

/* By old value: the same with channels last; NONE where there is no such. */
typedef struct turned {
    hone_garg *by_value; /* that was computed so */
    hone_garg *copies;   /* that was turned for somebody: no reason for others to follow */
} turned;

/* ---- orders ---- */

/* Where a dimension of the plain order stands, channels last. */
static int64_t index_of(int64_t dim, int32_t rank) {
    return dim == 0 ? 0 : dim == CHANNEL ? rank - 1 : dim - 1;
}

/* The dimension of the plain order at this index. */
static int64_t dim_at(int64_t index, int32_t rank) {
    return index == 0 ? 0 : index == rank - 1 ? CHANNEL : index + 1;
}

/* permute_dims to channels last, or back. */
static hone_status permute(hone_rewrite *rw, hone_garg x, int32_t rank, bool is_back,
                           hone_garg *out) {
    hone_value *axes = hone_arena_zalloc(rw->module->arena, (size_t)rank * sizeof *axes);
    hone_attrs attrs = {0};
    if (!axes) return HONE_NO_MEMORY("channels last");
    for (int32_t i = 0; i < rank; i++)
        axes[i] = HONE_VALUE_OF_INT(is_back ? index_of(i, rank) : dim_at(i, rank));
    hone_value list = {.kind = HONE_VALUE_LIST, .count = (uint32_t)rank, .u.items = axes};
    if (!hone_attrs_with(rw->module->arena, &attrs, "axes", list, &attrs))
        return HONE_NO_MEMORY("channels last");
    return hone_rewrite_call(rw, "permute_dims", 1, &x, attrs, out);
}

static bool is_permute(const hone_gbind *bind, int32_t rank, bool is_back) {
    int64_t axes[HONE_MAX_RANK];
    for (int32_t i = 0; i < rank; i++)
        axes[i] = is_back ? index_of(i, rank) : dim_at(i, rank);
    return hone_graph_permutes(bind, (uint32_t)rank, axes);
}

/* The layout with its second letter last. */
static hone_status set_layout(hone_rewrite *rw, const char *key, const char *plain,
                              hone_attrs *attrs) {
    size_t length = strlen(plain);
    char *text = hone_arena_strdup(rw->module->arena, plain);
    if (!text) return HONE_NO_MEMORY("channels last");
    memmove(text + CHANNEL, plain + CHANNEL + 1, length - CHANNEL - 1);
    text[length - 1] = plain[CHANNEL];
    return hone_attrs_with(rw->module->arena, attrs, key, HONE_VALUE_OF_STRING(text), attrs)
               ? HONE_OK
               : HONE_NO_MEMORY("channels last");
}

/* ---- arguments ---- */

static const hone_sinfo *tensor_of(hone_rewrite *rw, const hone_garg *old) {
    const hone_sinfo *info = hone_garg_sinfo(rw->module, rw->old, old, rw->module->arena);
    return info && info->kind == HONE_SINFO_TENSOR && info->rank >= 0 ? info : NULL;
}

/* NULL: it is not turned, or its rank is not known. */
static const hone_garg *turned_of(hone_rewrite *rw, const hone_garg *old) {
    const turned *all = rw->ctx;
    if (old->kind != HONE_GARG_VALUE) return NULL;
    const hone_garg *now = &all->by_value[old->u.value];
    return now->kind == HONE_GARG_NONE || !tensor_of(rw, old) ? NULL : now;
}

/* With ones before its own dimensions, as broadcasting reads it. */
static hone_status widen(hone_rewrite *rw, const hone_sinfo *info, int32_t rank, hone_garg *io) {
    if (info->rank == rank) return HONE_OK;
    const hone_expr **shape = hone_arena_zalloc(rw->module->arena, (size_t)rank * sizeof *shape);
    if (!shape) return HONE_NO_MEMORY("channels last");
    for (int32_t i = 0; i < rank; i++) {
        int32_t own = i - (rank - info->rank);
        shape[i] = own < 0 ? hone_extent_int(&rw->ir, 1) : info->shape[own];
    }
    hone_garg args[] = {
        *io, {.kind = HONE_GARG_SHAPE, .count = (uint32_t)rank, .u.exprs = shape}
    };
    return hone_rewrite_call(rw, "reshape", 2, args, (hone_attrs){0}, io);
}

/* An argument as one of this rank with channels last; scalars and what is no tensor as it is. One
 * of less dimensions has other channels, also where it was turned itself. */
static hone_status turn_arg(hone_rewrite *rw, const hone_garg *old, int32_t rank, hone_garg *out) {
    const turned *all = rw->ctx;
    const hone_garg *known = turned_of(rw, old);
    const hone_sinfo *info = tensor_of(rw, old);
    if (known && info->rank == rank) {
        *out = *known;
        return HONE_OK;
    }
    HONE_TRY(hone_rewrite_arg(rw, old, out));
    if (!info || info->rank == 0) return HONE_OK;
    hone_garg none = {.kind = HONE_GARG_NONE}, *copy = &none;
    if (old->kind == HONE_GARG_VALUE && info->rank == rank) copy = &all->copies[old->u.value];
    if (copy->kind == HONE_GARG_NONE) {
        HONE_TRY(widen(rw, info, rank, out));
        HONE_TRY(permute(rw, *out, rank, false, copy));
    }
    *out = *copy;
    return HONE_OK;
}

/* What the old value is now: in the old order for those who want it, and turned. */
static hone_status give(hone_rewrite *rw, const hone_gbind *bind, hone_garg now, int32_t rank,
                        bool *out_done) {
    const turned *all = rw->ctx;
    hone_garg back;
    HONE_TRY(permute(rw, now, rank, true, &back));
    hone_rewrite_set(rw, bind->value, back);
    all->by_value[bind->value] = now;
    *out_done = true;
    return HONE_OK;
}

static hone_status turn_all(hone_rewrite *rw, const hone_gbind *bind, int32_t rank,
                            hone_attrs attrs, bool *out_done) {
    hone_garg *args = hone_arena_zalloc(rw->module->arena, (bind->arg_count + 1) * sizeof *args);
    hone_garg out;
    if (!args) return HONE_NO_MEMORY("channels last");
    for (uint32_t i = 0; i < bind->arg_count; i++)
        HONE_TRY(turn_arg(rw, &bind->args[i], rank, &args[i]));
    HONE_TRY(hone_rewrite_call(rw, bind->callee, bind->arg_count, args, attrs, &out));
    return give(rw, bind, out, rank, out_done);
}

/* ---- windows ---- */

static bool is_short(const hone_sinfo *info) {
    return info && hone_dtype_is_short_float(info->dtype) && hone_dtype_bytes(info->dtype) == 2;
}

/* A convolution that is turned for its own sake; one of unknown shape is refused by its name. */
static bool wants_turn(hone_rewrite *rw, const hone_gbind *bind) {
    const hone_garg self = HONE_GARG_OF_VALUE(bind->value);
    hone_window_layouts l;
    return bind->kind == HONE_GBIND_CALL && hone_layouts_of_window(bind, &l) && l.kernel_key &&
           hone_layouts_are_plain(&l) && hone_attrs_int(&bind->attrs, "groups", 1) == 1 &&
           tensor_of(rw, &self) && is_short(tensor_of(rw, &bind->args[0])) &&
           is_short(tensor_of(rw, &bind->args[1]));
}

static bool is_window(const hone_gbind *bind, hone_window_layouts *out) {
    return hone_layouts_of_window(bind, out) && hone_layouts_are_plain(out) &&
           !strstr(bind->callee, "adaptive");
}

static hone_status turn_window(hone_rewrite *rw, const hone_gbind *bind,
                               const hone_window_layouts *l, bool *out_done) {
    hone_attrs attrs = bind->attrs;
    HONE_TRY(set_layout(rw, l->data_key, l->plain, &attrs));
    if (l->kernel_key) HONE_TRY(set_layout(rw, l->kernel_key, l->plain_kernel, &attrs));
    if (hone_attrs_find(&attrs, "out_layout"))
        HONE_TRY(set_layout(rw, "out_layout", l->plain, &attrs));
    return turn_all(rw, bind, (int32_t)strlen(l->plain), attrs, out_done);
}

/* ---- what goes on in the order of its data ---- */

/* Each result element of its operands' elements at the same index, whatever the order. */
static bool is_pointwise(hone_rewrite *rw, const hone_gbind *bind, int32_t rank) {
    const hone_graph_op *op = hone_graph_op_find(bind->callee);
    const hone_garg self = HONE_GARG_OF_VALUE(bind->value);
    const hone_sinfo *result = tensor_of(rw, &self);
    if (!op || op->pattern > HONE_PATTERN_BROADCAST || !result || result->rank != rank)
        return false;
    if (hone_attrs_find(&bind->attrs, "axis") || strcmp(bind->callee, "broadcast_to") == 0 ||
        strcmp(bind->callee, "nn.prelu") == 0 || strcmp(bind->callee, "outer") == 0)
        return false;
    for (uint32_t i = 0; i < bind->arg_count; i++) {
        const hone_sinfo *info = tensor_of(rw, &bind->args[i]);
        bool is_tensor =
            bind->args[i].kind == HONE_GARG_VALUE || bind->args[i].kind == HONE_GARG_CONSTANT;
        if (is_tensor && (!info || info->rank > rank || (info->rank > 0 && !info->shape)))
            return false;
    }
    return true;
}

/* Bits of the axes summed over; 0: all, or not to be read. */
static uint32_t reduced_axes(const hone_gbind *bind, int32_t rank) {
    const hone_value *value = hone_attrs_find(&bind->attrs, "axis");
    uint32_t count = value && value->kind == HONE_VALUE_LIST ? value->count : 1, bits = 0;
    int64_t axes[HONE_MAX_RANK] = {0};
    if (!value || value->kind == HONE_VALUE_NONE || count == 0 || count > (uint32_t)rank) return 0;
    hone_status st = hone_graph_attr_ints(bind, "axis", count, 0, axes);
    for (uint32_t i = 0; !st && i < count; i++)
        bits |= 1U << (axes[i] < 0 ? axes[i] + rank : axes[i]);
    if (st) bits = 0;
    hone_status_free(st);
    return bits;
}

static bool is_sum(const hone_gbind *bind) {
    static const char *const names[] = {"sum", "prod", "max", "min", "mean", "variance", "std"};
    for (size_t i = 0; i < HONE_COUNT(names); i++) {
        if (strcmp(names[i], bind->callee) == 0) return true;
    }
    return false;
}

/* Over axes after which the order of the others is the same in both, or which are kept as ones. */
static hone_status turn_sum(hone_rewrite *rw, const hone_gbind *bind, int32_t rank,
                            bool *out_done) {
    uint32_t bits = reduced_axes(bind, rank), count = 0;
    uint32_t space = (1U << rank) - 4;
    bool keeps = hone_attrs_int(&bind->attrs, "keepdims", 0) != 0;
    if (bits == 0 || (!keeps && !(bits & 1U << CHANNEL) && (bits & space) != space)) return HONE_OK;
    hone_value *axes = hone_arena_zalloc(rw->module->arena, (size_t)rank * sizeof *axes);
    hone_attrs attrs;
    hone_garg out, data = *turned_of(rw, &bind->args[0]);
    if (!axes) return HONE_NO_MEMORY("channels last");
    for (int32_t i = 0; i < rank; i++) {
        if (bits & 1U << dim_at(i, rank)) axes[count++] = HONE_VALUE_OF_INT(i);
    }
    hone_value list = {.kind = HONE_VALUE_LIST, .count = count, .u.items = axes};
    if (!hone_attrs_with(rw->module->arena, &bind->attrs, "axis", list, &attrs))
        return HONE_NO_MEMORY("channels last");
    HONE_TRY(hone_rewrite_call(rw, bind->callee, 1, &data, attrs, &out));
    if (keeps) return give(rw, bind, out, rank, out_done);
    hone_rewrite_set(rw, bind->value, out);
    *out_done = true;
    return HONE_OK;
}

static hone_status set_axis(hone_rewrite *rw, const hone_gbind *bind, int64_t axis, int32_t rank,
                            hone_attrs *out) {
    hone_value index = HONE_VALUE_OF_INT(index_of(axis < 0 ? axis + rank : axis, rank));
    return hone_attrs_with(rw->module->arena, &bind->attrs, "axis", index, out)
               ? HONE_OK
               : HONE_NO_MEMORY("channels last");
}

static hone_status turn_concat(hone_rewrite *rw, const hone_gbind *bind, int32_t rank,
                               bool *out_done) {
    const hone_garg *tuple = &bind->args[0];
    int64_t axis = hone_attrs_int(&bind->attrs, "axis", 0);
    hone_attrs attrs;
    hone_garg *items = hone_arena_zalloc(rw->module->arena, (tuple->count + 1) * sizeof *items);
    if (!items) return HONE_NO_MEMORY("channels last");
    for (uint32_t i = 0; i < tuple->count; i++) {
        const hone_sinfo *info = tensor_of(rw, &tuple->u.items[i]);
        if (!info || info->rank != rank) return HONE_OK;
    }
    HONE_TRY(set_axis(rw, bind, axis, rank, &attrs));
    for (uint32_t i = 0; i < tuple->count; i++)
        HONE_TRY(turn_arg(rw, &tuple->u.items[i], rank, &items[i]));
    hone_garg out, arg = {.kind = HONE_GARG_TUPLE, .count = tuple->count, .u.items = items};
    HONE_TRY(hone_rewrite_call(rw, "concat", 1, &arg, attrs, &out));
    return give(rw, bind, out, rank, out_done);
}

/* Lines along one dimension of the data, each by itself, as long as others say: what an image is
 * resized by. */
static bool is_along_axis(hone_rewrite *rw, const hone_gbind *bind) {
    if (strcmp(bind->callee, "resample") == 0) return true;
    const hone_sinfo *indices = bind->arg_count == 2 ? tensor_of(rw, &bind->args[1]) : NULL;
    return strcmp(bind->callee, "take") == 0 && indices && indices->rank == 1 &&
           hone_attrs_find(&bind->attrs, "axis");
}

static hone_status turn_along_axis(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    const hone_garg *data = turned_of(rw, &bind->args[0]);
    hone_garg *args = hone_arena_zalloc(rw->module->arena, (bind->arg_count + 1) * sizeof *args);
    hone_attrs attrs;
    hone_garg out;
    if (!args) return HONE_NO_MEMORY("channels last");
    if (!data) return HONE_OK;
    int32_t rank = tensor_of(rw, &bind->args[0])->rank;
    args[0] = *data;
    for (uint32_t i = 1; i < bind->arg_count; i++)
        HONE_TRY(hone_rewrite_arg(rw, &bind->args[i], &args[i]));
    HONE_TRY(set_axis(rw, bind, hone_attrs_int(&bind->attrs, "axis", 0), rank, &attrs));
    HONE_TRY(hone_rewrite_call(rw, bind->callee, bind->arg_count, args, attrs, &out));
    return give(rw, bind, out, rank, out_done);
}

/* The highest rank of the arguments that are turned; 0: none is. */
static int32_t turned_rank(hone_rewrite *rw, const hone_garg *args, uint32_t count) {
    int32_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        int32_t rank = 0;
        if (args[i].kind == HONE_GARG_TUPLE) {
            rank = turned_rank(rw, args[i].u.items, args[i].count);
        } else if (turned_of(rw, &args[i])) {
            rank = tensor_of(rw, &args[i])->rank;
        }
        if (rank > most) most = rank;
    }
    return most;
}

/* What already turns to the order of N, C, space has its argument turned. */
static hone_status turn_permute(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    const turned *all = rw->ctx;
    const hone_sinfo *info = tensor_of(rw, &bind->args[0]);
    if (!info || info->rank < LEAST_RANK || info->rank > MOST_RANK) return HONE_OK;
    const hone_garg *known = turned_of(rw, &bind->args[0]);
    if (known && is_permute(bind, info->rank, false)) {
        hone_rewrite_set(rw, bind->value, *known);
        *out_done = true;
    } else if (is_permute(bind, info->rank, true)) {
        return hone_rewrite_arg(rw, &bind->args[0], &all->by_value[bind->value]);
    }
    return HONE_OK;
}

static hone_status turn(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    hone_window_layouts l;
    if (bind->kind != HONE_GBIND_CALL) return HONE_OK;
    int32_t rank = turned_rank(rw, bind->args, bind->arg_count);
    if (strcmp(bind->callee, "permute_dims") == 0) return turn_permute(rw, bind, out_done);
    if (is_window(bind, &l) && (wants_turn(rw, bind) || turned_of(rw, &bind->args[0])))
        return turn_window(rw, bind, &l, out_done);
    if (rank == 0) return HONE_OK;
    if (is_sum(bind)) return turn_sum(rw, bind, rank, out_done);
    if (strcmp(bind->callee, "concat") == 0 && bind->args[0].kind == HONE_GARG_TUPLE)
        return turn_concat(rw, bind, rank, out_done);
    if (is_along_axis(rw, bind)) return turn_along_axis(rw, bind, out_done);
    if (is_pointwise(rw, bind, rank)) return turn_all(rw, bind, rank, bind->attrs, out_done);
    return HONE_OK;
}

/* ---- the pass ---- */

static bool has_convolution(hone_module *module, const hone_graph_func *graph) {
    hone_rewrite facts = {.module = module, .old = graph};
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        if (wants_turn(&facts, &graph->bindings[i])) return true;
    }
    return false;
}

hone_status hone_pass_channels_last(hone_module *module, const hone_graph_options *options) {
    if (options->matrix_shared_bytes <= 0) return HONE_OK;
    for (uint32_t i = 0; i < module->member_count; i++) {
        const hone_graph_func *graph = module->members[i].graph;
        if (!graph || !has_convolution(module, graph)) continue;
        size_t bytes = ((size_t)graph->value_count + 1) * sizeof(hone_garg);
        turned all = {hone_arena_zalloc(module->arena, bytes),
                      hone_arena_zalloc(module->arena, bytes)};
        if (!all.by_value || !all.copies) return HONE_NO_MEMORY("channels last");
        for (uint32_t v = 0; v < graph->value_count; v++)
            all.by_value[v].kind = all.copies[v].kind = HONE_GARG_NONE;
        HONE_TRY(hone_rewrite_member(module, i, turn, &all));
    }
    return hone_pass_prune(module, options);
}
