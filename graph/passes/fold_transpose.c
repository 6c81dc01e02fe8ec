/* graph/passes/fold_transpose.c - transpositions before matrix products cost nothing:
 *   matmul(a, permute_dims(b)) of the last two dimensions → matmul(a, b, transpose_b)
 *   matmul(a, constant, transpose_b)                      → matmul(a, constant')
 *   matmul(a, permute_dims(b, [0, 2, 3, 1]))              → matmul(a, b', transpose_b), with
 *                                                           b' = permute_dims(b, [0, 2, 1, 3])
 * The second is done because with the weight as K × N the inner loop over N reads it with stride
 * one, at any batch: it vectorises as it is written. With N × K (ONNX's transB) one row is a dot
 * product: for a batch of one it would need rfactor, and gathers otherwise. It costs a copy of the
 * weight at compile time and nothing after. The third, where rows of b stay rows, is for devices
 * that multiply matrices: so stand keys of attention where an exporter joined two transpositions.
 *
 * needs: infer, normalize
 * keeps: everything else
 */
#include <string.h>

#include "graph/module/rewrite.h"
#include "graph/passes/graph_passes.h"
#include "ir/ops/graph_infer.h"

/* permute_dims that swaps the last two dimensions and nothing else. */
static bool swaps_last_two(const hone_gbind *bind, int32_t rank) {
    int64_t axes[HONE_MAX_RANK];
    if (!bind || rank < 2) return false;
    for (int32_t i = 0; i < rank; i++)
        axes[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    return hone_graph_permutes(bind, (uint32_t)rank, axes);
}

/* permute_dims, of which nobody else has the value, that makes columns of what lies in rows, among
 * other things: all else alone, as a new call. */
static hone_status keep_rows(hone_rewrite *rw, const hone_gbind *def, int32_t rank, hone_garg *io,
                             bool *out_done) {
    int64_t axes[HONE_MAX_RANK];
    hone_attrs attrs = {0};
    hone_garg data;
    bool is_it = hone_gbind_calls(def, "permute_dims") && rw->uses[def->value] == 1 && rank >= 3 &&
                 !hone_status_consume(hone_graph_attr_ints(def, "axes", (uint32_t)rank, 0, axes));
    for (int32_t i = 0; is_it && i < rank; i++)
        axes[i] += axes[i] < 0 ? rank : 0;
    if (!is_it || axes[rank - 2] != rank - 1) return HONE_OK;
    hone_value *order = hone_arena_zalloc(rw->module->arena, (size_t)rank * sizeof *order);
    if (!order) return HONE_NO_MEMORY("matmul");
    for (int32_t i = 0; i < rank; i++)
        order[i] = HONE_VALUE_OF_INT(axes[i < rank - 2 ? i : 2 * rank - 3 - i]);
    hone_value list = {.kind = HONE_VALUE_LIST, .count = (uint32_t)rank, .u.items = order};
    if (!hone_attrs_with(rw->module->arena, &attrs, "axes", list, &attrs))
        return HONE_NO_MEMORY("matmul");
    HONE_TRY(hone_rewrite_arg(rw, &def->args[0], &data));
    HONE_TRY(hone_rewrite_call(rw, "permute_dims", 1, &data, attrs, io));
    *out_done = true;
    return HONE_OK;
}

/* The last two dimensions of a constant, swapped. */
static hone_status transposed(const hone_tensor *from, hone_tensor **out) {
    int64_t shape[HONE_MAX_RANK];
    int32_t rank = from->rank;
    memcpy(shape, from->shape, sizeof shape);
    shape[rank - 2] = from->shape[rank - 1];
    shape[rank - 1] = from->shape[rank - 2];
    HONE_TRY(hone_tensor_create(from->dtype, rank, shape, out));
    size_t item = hone_dtype_bytes(from->dtype);
    int64_t rows = from->shape[rank - 2], columns = from->shape[rank - 1];
    int64_t area = rows * columns;
    int64_t matrices = area > 0 ? hone_tensor_count(from) / area : 0;
    const char *source = from->data;
    char *target = (*out)->data;
    for (int64_t m = 0; m < matrices; m++) {
        for (int64_t i = 0; i < rows; i++) {
            for (int64_t j = 0; j < columns; j++) {
                memcpy(target + (size_t)((m * columns + j) * rows + i) * item,
                       source + (size_t)((m * rows + i) * columns + j) * item, item);
            }
        }
    }
    return HONE_OK;
}

typedef struct side {
    hone_garg arg;
    bool transpose, keeps_rows;
} side;

static hone_status absorb(hone_rewrite *rw, const hone_garg *old, side *s, bool *out_changed) {
    const hone_gbind *def = old->kind == HONE_GARG_VALUE ? rw->defs[old->u.value] : NULL;
    const hone_sinfo *info = hone_garg_sinfo(rw->module, rw->old, old, rw->module->arena);
    HONE_TRY(hone_rewrite_arg(rw, old, &s->arg));
    if (info && info->kind == HONE_SINFO_TENSOR && swaps_last_two(def, info->rank)) {
        HONE_TRY(hone_rewrite_arg(rw, &def->args[0], &s->arg));
        s->transpose = !s->transpose;
        *out_changed = true;
    } else if (s->keeps_rows && info && info->kind == HONE_SINFO_TENSOR) {
        bool is_kept = false;
        HONE_TRY(keep_rows(rw, def, info->rank, &s->arg, &is_kept));
        s->transpose ^= is_kept;
        *out_changed |= is_kept;
    }
    const hone_tensor *constant = hone_rewrite_constant(rw, &s->arg);
    if (!constant || !s->transpose || constant->rank < 2) return HONE_OK;
    hone_tensor *turned;
    HONE_TRY(transposed(constant, &turned));
    HONE_TRY(hone_rewrite_add_constant(rw, turned, &s->arg));
    s->transpose = false;
    *out_changed = true;
    return HONE_OK;
}

static hone_status fold_matmul(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    static const char *const keys[] = {"transpose_a", "transpose_b"};
    if (bind->kind != HONE_GBIND_CALL || strcmp(bind->callee, "matmul") != 0) return HONE_OK;
    const hone_graph_options *options = rw->ctx;
    bool has_units = options->matrix_shared_bytes > 0;
    hone_attrs attrs = bind->attrs;
    hone_garg args[2], out;
    bool changed = false;
    for (uint32_t i = 0; i < 2; i++) {
        side s = {.transpose = hone_attrs_int(&attrs, keys[i], 0) != 0};
        s.keeps_rows = i == 1 && !s.transpose && has_units;
        HONE_TRY(absorb(rw, &bind->args[i], &s, &changed));
        args[i] = s.arg;
        hone_arena *arena = rw->module->arena;
        bool ok = s.transpose
                      ? hone_attrs_with(arena, &attrs, keys[i], HONE_VALUE_OF_INT(1), &attrs)
                      : hone_attrs_without(arena, &attrs, keys[i], &attrs);
        if (!ok) return HONE_ERROR(HONE_CODE_NO_MEMORY, "matmul");
    }
    if (!changed) return HONE_OK;
    HONE_TRY(hone_rewrite_call(rw, "matmul", 2, args, attrs, &out));
    hone_rewrite_set(rw, bind->value, out);
    *out_done = true;
    return HONE_OK;
}

hone_status hone_pass_fold_transpose(hone_module *module, const hone_graph_options *options) {
    hone_graph_options given = *options; /* passes hand nothing constant to their steps */
    HONE_TRY(hone_rewrite_module(module, fold_matmul, &given));
    return hone_pass_prune(module, options);
}
