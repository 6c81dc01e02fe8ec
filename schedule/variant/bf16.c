/* schedule/variant/bf16.c - a product of matrices with operands that are rounded to bfloat16
 * (variant bf16), or are of bfloat16 (pairs), in pairs of steps: what CPUs with dot products of
 * bfloat16 (vdpbf16ps) take at a time.
 *
 *   bf16_rows[a…, k] = left[a…, k]
 *       rounded; k is padded to an even number
 *   bf16_panels[b…, j / 32, q, j % 32, h] = right[b…, 2q + h, j]
 *       rounded; columns are in panels
 *   out[…, j] = sum over q, h of bf16_rows[a…, 2q + h] * bf16_panels[b…, j / 32, q, j % 32, h]
 *
 * Operands may have their dimensions in any order. Sums are of float32. A product of two rounded
 * numbers is off by 2^-8 at most; sums of many are off by less, relative to the largest of them.
 * Of operands that are of bfloat16 nothing is lost but numbers that are subnormal: vdpbf16ps takes
 * them as 0.
 */
#include "schedule/variant/convolution.h"

enum { MAX_AXES = 8, PANEL = 32, NO_AXIS = MAX_AXES };

/* Which axis of the block each dimension is; NO_AXIS: it has one place. */
typedef struct access {
    hone_buffer buffer;
    uint32_t rank, axes[MAX_AXES];
} access;

typedef struct bf16 {
    variant_edit edit;
    const hone_func *func;
    hone_dtype operand; /* what both are of; the sums are of float32 */
    const hone_block *block;
    hone_node_id nest;
    access left, right, out;
    uint32_t sum, column; /* axes */
    int64_t extents[MAX_AXES];
    hone_dtype index;
} bf16;

/* ---- what is multiplied ---- */

static bool read_access(const bf16 *m, hone_dtype dtype, hone_buffer buffer, uint32_t rank,
                        const hone_expr *const *indices, access *out) {
    const hone_buffer_info *info = hone_func_buffer(m->func, buffer);
    *out = (access){.buffer = buffer, .rank = rank};
    if (rank > MAX_AXES || !hone_dtype_equal(info->dtype, dtype)) return false;
    for (uint32_t d = 0; d < rank; d++) {
        uint32_t axis = 0;
        while (axis < m->block->axis_count &&
               (indices[d]->kind != HONE_EXPR_VAR || m->block->axes[axis].var != indices[d]->u.var))
            axis++;
        bool is_axis = axis < m->block->axis_count;
        if (!is_axis && !hone_expr_is_int_value(indices[d], 0)) return false;
        out->axes[d] = is_axis ? axis : NO_AXIS;
    }
    return true;
}

static bool uses(const access *a, uint32_t axis) {
    for (uint32_t d = 0; d < a->rank; d++)
        if (a->axes[d] == axis) return true;
    return false;
}

static bool read_axes(bf16 *m) {
    uint32_t sums = 0;
    for (uint32_t a = 0; a < m->block->axis_count; a++) {
        const hone_axis *axis = &m->block->axes[a];
        if (!hone_expr_is_int_value(axis->dom.min, 0) || !hone_expr_is_int(axis->dom.extent))
            return false;
        m->extents[a] = axis->dom.extent->u.i;
        m->index = axis->dom.extent->dtype;
        if (axis->kind == HONE_AXIS_SPATIAL) continue;
        m->sum = a;
        sums++;
    }
    return sums == 1;
}

/* The output is written as a whole, each dimension by an axis of its own. */
static bool fills_output(const bf16 *m) {
    const hone_buffer_info *info = hone_func_buffer(m->func, m->out.buffer);
    uint32_t axes = 0;
    for (uint32_t d = 0; d < m->out.rank; d++) {
        uint32_t axis = m->out.axes[d];
        int64_t extent = axis == NO_AXIS ? 1 : m->extents[axis];
        if (hone_expr_const(info->shape[d]) != extent) return false;
        axes += axis != NO_AXIS;
    }
    for (uint32_t a = 0; a < m->block->axis_count; a++)
        if (a != m->sum && !uses(&m->out, a)) return false;
    return axes == m->block->axis_count - 1;
}

static bool read_operand(const bf16 *m, const hone_expr *load, access *out) {
    return read_access(m, m->operand, load->u.buffer, load->count, load->args, out);
}

/* Columns are the last dimension of the output, and move along one operand: the right one. */
static bool read_roles(bf16 *m, const hone_expr *const loads[2]) {
    access *sides[] = {&m->left, &m->right};
    if (m->out.rank == 0 || m->out.axes[m->out.rank - 1] == NO_AXIS) return false;
    m->column = m->out.axes[m->out.rank - 1];
    for (int i = 0; i < 2; i++)
        if (!read_operand(m, loads[i], sides[i])) return false;
    if (uses(&m->left, m->column)) {
        access other = m->left;
        m->left = m->right;
        m->right = other;
    }
    return uses(&m->right, m->column) && !uses(&m->left, m->column) && uses(&m->left, m->sum) &&
           uses(&m->right, m->sum) && m->extents[m->column] > 1 && m->extents[m->sum] > 1;
}

static bool is_product(bf16 *m, hone_node_id block) {
    const hone_node *store;
    const hone_expr *loads[2];
    m->block = hone_func_node(m->func, block)->u.block.block;
    return m->block->axis_count <= MAX_AXES && read_axes(m) &&
           variant_read_sum(m->func, block, &store, loads) &&
           read_access(m, HONE_DTYPE_F32, store->u.store.buffer, store->u.store.rank,
                       store->u.store.indices, &m->out) &&
           fills_output(m) && read_roles(m, loads) && variant_read_nest(m->func, block, &m->nest);
}

static bool find(bf16 *m) {
    hone_node_id root = hone_func_root_block(m->func);
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(m->func, root, n)) {
        bool is_block = hone_func_node(m->func, n)->kind == HONE_NODE_BLOCK && n != root;
        if (is_block && is_product(m, n)) return true;
    }
    return false;
}

/* ---- stages ---- */

static const hone_expr *number(bf16 *m, int64_t value) {
    return hone_te_int(&m->edit.te, value);
}

static int64_t pairs(const bf16 *m) {
    return (m->extents[m->sum] + 1) / 2;
}

/* 2 q + h */
static const hone_expr *step(bf16 *m, const hone_expr *q, const hone_expr *h) {
    hone_ir *ir = &m->edit.te.ir;
    return hone_expr_add(ir, hone_expr_mul(ir, q, number(m, 2)), h);
}

static const hone_expr *load(bf16 *m, const access *a, const hone_expr *const *at) {
    const hone_expr *indices[MAX_AXES];
    for (uint32_t d = 0; d < a->rank; d++)
        indices[d] = a->axes[d] == NO_AXIS ? number(m, 0) : at[a->axes[d]];
    return hone_te_load(&m->edit.te, a->buffer, indices);
}

/* What is loaded, or 0 beyond the end of an axis: only where the stage goes beyond it. */
static const hone_expr *inside(bf16 *m, uint32_t axis, const hone_expr *at, int64_t length,
                               const hone_expr *value) {
    hone_ir *ir = &m->edit.te.ir;
    if (length == m->extents[axis]) return value;
    const hone_expr *args[] = {hone_expr_binary(ir, HONE_OP_LT, at, number(m, m->extents[axis])),
                               value, hone_expr_float(ir, m->operand, 0)};
    return hone_expr_call(ir, m->operand, HONE_INTRIN_IF_THEN_ELSE, 3, args);
}

static const hone_expr *rounded(bf16 *m, const hone_expr *value) {
    return hone_expr_cast(&m->edit.te.ir, HONE_DTYPE_BF16, value); /* itself, when it is of that */
}

/* Extents of an operand's own axes, in their order; at: where a stage has them. */
static uint32_t list_own(bf16 *m, const access *a, const hone_expr **shape, uint32_t *axes) {
    uint32_t count = 0;
    for (uint32_t d = 0; d < a->rank; d++) {
        uint32_t axis = a->axes[d];
        if (axis == NO_AXIS || axis == m->sum || axis == m->column) continue;
        shape[count] = number(m, m->extents[axis]);
        axes[count++] = axis;
    }
    return count;
}

static hone_buffer rows(bf16 *m) {
    const hone_expr *shape[MAX_AXES + 1], *at[MAX_AXES + 1] = {0};
    uint32_t axes[MAX_AXES], count = list_own(m, &m->left, shape, axes);
    hone_te_stage s;
    shape[count] = number(m, 2 * pairs(m));
    hone_te_stage_begin(&m->edit.te, &s, count + 1, shape, 0, NULL);
    for (uint32_t i = 0; i < count; i++)
        at[axes[i]] = s.axis[i];
    at[m->sum] = s.axis[count];
    const hone_expr *value = inside(m, m->sum, at[m->sum], 2 * pairs(m), load(m, &m->left, at));
    return hone_te_compute(&m->edit.te, &s, "bf16_rows", rounded(m, value));
}

static int64_t panels(const bf16 *m) {
    return (m->extents[m->column] + PANEL - 1) / PANEL;
}

static hone_buffer panels_of(bf16 *m) {
    hone_ir *ir = &m->edit.te.ir;
    const hone_expr *shape[MAX_AXES + 4], *at[MAX_AXES + 1] = {0};
    uint32_t axes[MAX_AXES], n = list_own(m, &m->right, shape, axes);
    hone_te_stage s;
    const int64_t tail[] = {panels(m), pairs(m), PANEL, 2};
    for (uint32_t i = 0; i < 4; i++)
        shape[n + i] = number(m, tail[i]);
    hone_te_stage_begin(&m->edit.te, &s, n + 4, shape, 0, NULL);
    for (uint32_t i = 0; i < n; i++)
        at[axes[i]] = s.axis[i];
    at[m->sum] = step(m, s.axis[n + 1], s.axis[n + 3]);
    at[m->column] =
        hone_expr_add(ir, hone_expr_mul(ir, s.axis[n], number(m, PANEL)), s.axis[n + 2]);
    const hone_expr *value = load(m, &m->right, at);
    value = inside(m, m->sum, at[m->sum], 2 * pairs(m), value);
    value = inside(m, m->column, at[m->column], PANEL * panels(m), value);
    return hone_te_compute(&m->edit.te, &s, "bf16_panels", rounded(m, value));
}

static const hone_expr *widened(bf16 *m, hone_buffer buffer, const hone_expr *const *indices) {
    const hone_expr *narrow = hone_te_load(&m->edit.te, buffer, indices);
    return hone_expr_cast(&m->edit.te.ir, HONE_DTYPE_F32, narrow);
}

static hone_buffer product(bf16 *m, hone_buffer rows, hone_buffer panels) {
    hone_ir *ir = &m->edit.te.ir;
    const hone_expr *shape[MAX_AXES], *own[MAX_AXES], *at[MAX_AXES + 1] = {0};
    const hone_expr *sums[] = {number(m, pairs(m)), number(m, 2)};
    const hone_expr *left[MAX_AXES + 1], *right[MAX_AXES + 4];
    uint32_t axes[MAX_AXES], rank = m->out.rank, n;
    hone_te_stage s;
    for (uint32_t d = 0; d < rank; d++)
        shape[d] = number(m, m->out.axes[d] == NO_AXIS ? 1 : m->extents[m->out.axes[d]]);
    hone_te_stage_begin(&m->edit.te, &s, rank, shape, 2, sums);
    for (uint32_t d = 0; d < rank; d++)
        at[m->out.axes[d]] = s.axis[d];
    const hone_expr *q = s.axis[rank], *h = s.axis[rank + 1], *j = at[m->column];
    n = list_own(m, &m->left, own, axes);
    for (uint32_t i = 0; i < n; i++)
        left[i] = at[axes[i]];
    left[n] = step(m, q, h);
    n = list_own(m, &m->right, own, axes);
    for (uint32_t i = 0; i < n; i++)
        right[i] = at[axes[i]];
    right[n] = hone_expr_floordiv(ir, j, number(m, PANEL));
    right[n + 1] = q;
    right[n + 2] = hone_expr_floormod(ir, j, number(m, PANEL));
    right[n + 3] = h;
    return hone_te_reduce(&m->edit.te, &s, "bf16_product", HONE_TE_SUM,
                          hone_expr_mul(ir, widened(m, rows, left), widened(m, panels, right)));
}

static hone_status replace(bf16 *m, hone_func *func) {
    variant_begin(&m->edit, func, m->nest, m->index);
    hone_buffer left = rows(m), right = panels_of(m);
    return variant_end(&m->edit, product(m, left, right), m->out.buffer);
}

hone_status hone_variant_rewrite_bf16(hone_func *func) {
    bf16 m = {.func = func, .operand = HONE_DTYPE_F32};
    if (find(&m)) return replace(&m, func);
    return VARIANT_REFUSE("no block is a product of matrices of float32 with constant sizes");
}

hone_status hone_variant_rewrite_pairs(hone_func *func) {
    bf16 m = {.func = func, .operand = HONE_DTYPE_BF16};
    convolution c;
    if (find(&m)) return replace(&m, func);
    hone_status st = convolution_find(func, HONE_DTYPE_BF16, &c);
    if (!st) return variant_pair_convolution(func, &c);
    if (hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    hone_status_free(st);
    return VARIANT_REFUSE(
        "no block is a product of matrices, or a convolution in two dimensions and "
        "one group, of bfloat16 and with constant sizes");
}
