/* schedule/variant/convolution.c - see convolution.h. Roles come from where an axis is used: the
 * filter's own spatial axis is F, the one that both operands sum over C; dimensions of the image
 * that move along two axes are Y and X. */
#include "schedule/variant/convolution.h"

#include <string.h>

enum { MAX_AXES = 8 };

/* What is known of the block at work. */
typedef struct finding {
    const hone_func *func;
    hone_dtype operand;
    const hone_block *block;
    conv_axis roles[MAX_AXES]; /* by axis of the block; CONV_NONE: not found yet */
    convolution *out;
} finding;

/* ---- indices ---- */

/* axis * factor, of axes of the block */
typedef struct term {
    uint32_t axis;
    int64_t factor;
} term;

static bool find_axis(const finding *f, const hone_expr *e, uint32_t *out) {
    for (*out = 0; e->kind == HONE_EXPR_VAR && *out < f->block->axis_count; ++*out) {
        if (f->block->axes[*out].var == e->u.var) return true;
    }
    return false;
}

static bool is_spatial(const finding *f, uint32_t axis) {
    return f->block->axes[axis].kind == HONE_AXIS_SPATIAL;
}

static bool read_term(const finding *f, const hone_expr *e, term *out) {
    out->factor = 1;
    if (hone_expr_is_op(e, HONE_OP_MUL) && hone_expr_is_int(e->args[1])) {
        out->factor = e->args[1]->u.i;
        e = e->args[0];
    }
    return find_axis(f, e, &out->axis) && out->factor > 0;
}

/* Sets *count to 0 (the index 0), 1, or 2 (the spatial term first). */
static bool read_index(const finding *f, const hone_expr *e, term *terms, uint32_t *count) {
    *count = 0;
    if (hone_expr_is_int_value(e, 0)) return true;
    *count = 1;
    if (read_term(f, e, &terms[0])) return true;
    *count = 2;
    if (!hone_expr_is_op(e, HONE_OP_ADD) || !read_term(f, e->args[0], &terms[0]) ||
        !read_term(f, e->args[1], &terms[1]))
        return false;
    if (!is_spatial(f, terms[0].axis)) {
        term other = terms[0];
        terms[0] = terms[1];
        terms[1] = other;
    }
    return is_spatial(f, terms[0].axis) && !is_spatial(f, terms[1].axis);
}

/* ---- roles ---- */

static bool take_role(finding *f, uint32_t axis, conv_axis role) {
    if (f->roles[axis] != CONV_NONE && f->roles[axis] != role) return false;
    for (uint32_t a = 0; a < f->block->axis_count; a++) {
        if (f->roles[a] == role && a != axis) return false;
    }
    f->roles[axis] = role;
    return true;
}

static bool take_window(finding *f, const term *terms, conv_access *access, uint32_t dim) {
    uint32_t which = f->out->strides[0] == 0 ? 0 : 1;
    if (f->out->strides[which]) return false;
    f->out->strides[which] = terms[0].factor;
    f->out->dilations[which] = terms[1].factor;
    access->dims[dim] = which == 0 ? CONV_Y : CONV_X;
    return take_role(f, terms[0].axis, access->dims[dim]) &&
           take_role(f, terms[1].axis, which == 0 ? CONV_R : CONV_S);
}

static bool read_image(finding *f, const hone_expr *load) {
    conv_access *access = &f->out->image;
    *access = (conv_access){.buffer = load->u.buffer, .rank = load->count};
    for (uint32_t d = 0; d < load->count; d++) {
        term terms[2];
        uint32_t count;
        if (!read_index(f, load->args[d], terms, &count)) return false;
        access->dims[d] = CONV_NONE;
        if (count == 2 && !take_window(f, terms, access, d)) return false;
        if (count != 1) continue;
        access->dims[d] = is_spatial(f, terms[0].axis) ? CONV_N : CONV_C;
        if (terms[0].factor != 1 || !take_role(f, terms[0].axis, access->dims[d])) return false;
    }
    return f->out->strides[1] != 0;
}

/* Dimensions that are one axis each; the one without a role is F. */
static bool read_plain(finding *f, uint32_t rank, const hone_expr *const *indices, bool has_filter,
                       conv_access *access) {
    access->rank = rank;
    for (uint32_t d = 0; d < rank; d++) {
        term terms[2];
        uint32_t count;
        if (!read_index(f, indices[d], terms, &count) || count > 1) return false;
        access->dims[d] = CONV_NONE;
        if (count == 0) continue;
        if (terms[0].factor != 1) return false;
        conv_axis role = f->roles[terms[0].axis];
        if (role == CONV_NONE) {
            role = CONV_F;
            if (!has_filter || !is_spatial(f, terms[0].axis)) return false;
            if (!take_role(f, terms[0].axis, role)) return false;
        }
        access->dims[d] = role;
    }
    return true;
}

static bool uses(const conv_access *access, conv_axis role) {
    for (uint32_t d = 0; d < access->rank; d++) {
        if (access->dims[d] == role) return true;
    }
    return false;
}

/* Each operand has the axes that it has to have, and no others: an axis in both is a group. */
static bool has_all_roles(const finding *f) {
    const convolution *c = f->out;
    for (uint32_t a = 0; a < f->block->axis_count; a++) {
        if (f->roles[a] == CONV_NONE) return false;
    }
    bool is_filter = uses(&c->filter, CONV_F) && uses(&c->filter, CONV_C) &&
                     uses(&c->filter, CONV_R) && uses(&c->filter, CONV_S);
    bool is_out = uses(&c->out, CONV_F) && uses(&c->out, CONV_Y) && uses(&c->out, CONV_X) &&
                  uses(&c->out, CONV_N) == uses(&c->image, CONV_N);
    bool has_strangers = uses(&c->filter, CONV_N) || uses(&c->filter, CONV_Y) ||
                         uses(&c->filter, CONV_X) || uses(&c->image, CONV_F);
    return is_filter && is_out && !has_strangers && uses(&c->image, CONV_C);
}

/* ---- the block ---- */

static bool is_of(const finding *f, hone_dtype dtype, hone_buffer buffer) {
    const hone_buffer_info *info = hone_func_buffer(f->func, buffer);
    return hone_dtype_equal(info->dtype, dtype) && info->rank <= CONV_MAX_RANK &&
           hone_buffer_elements(info) > 0;
}

static bool read_roles(finding *f, const hone_node *store, const hone_expr *image,
                       const hone_expr *filter) {
    convolution *c = f->out;
    for (uint32_t a = 0; a < f->block->axis_count; a++)
        f->roles[a] = CONV_NONE;
    *c = (convolution){.filter.buffer = filter->u.buffer, .out.buffer = store->u.store.buffer};
    return is_of(f, f->operand, image->u.buffer) && is_of(f, f->operand, filter->u.buffer) &&
           is_of(f, HONE_DTYPE_F32, c->out.buffer) && read_image(f, image) &&
           read_plain(f, filter->count, filter->args, true, &c->filter) &&
           read_plain(f, store->u.store.rank, store->u.store.indices, false, &c->out) &&
           has_all_roles(f);
}

static bool read_extents(const finding *f) {
    convolution *c = f->out;
    c->extents[CONV_N] = 1;
    for (uint32_t a = 0; a < f->block->axis_count; a++) {
        const hone_axis *axis = &f->block->axes[a];
        if (!hone_expr_is_int_value(axis->dom.min, 0) || !hone_expr_is_int(axis->dom.extent))
            return false;
        c->extents[f->roles[a]] = axis->dom.extent->u.i;
        c->index = axis->dom.extent->dtype;
    }
    const hone_buffer_info *out = hone_func_buffer(f->func, c->out.buffer);
    for (uint32_t d = 0; d < c->out.rank; d++) {
        int64_t extent = c->out.dims[d] == CONV_NONE ? 1 : c->extents[c->out.dims[d]];
        if (hone_expr_const(out->shape[d]) != extent) return false;
    }
    return true;
}

static bool is_convolution(const hone_func *func, hone_node_id block, hone_dtype operand,
                           convolution *out) {
    finding f = {.func = func,
                 .operand = operand,
                 .block = hone_func_node(func, block)->u.block.block,
                 .out = out};
    const hone_node *store;
    const hone_expr *loads[2];
    if (f.block->axis_count > MAX_AXES || !variant_read_sum(func, block, &store, loads))
        return false;
    if (!read_roles(&f, store, loads[0], loads[1]) && !read_roles(&f, store, loads[1], loads[0]))
        return false;
    return read_extents(&f) && variant_read_nest(func, block, &out->nest);
}

hone_status convolution_find(const hone_func *func, hone_dtype operand, convolution *out) {
    hone_node_id root = hone_func_root_block(func);
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_BLOCK && n != root && is_convolution(func, n, operand, out))
            return HONE_OK;
    }
    return VARIANT_REFUSE(
        "no block is a convolution of %s in two dimensions, in one group and with constant sizes",
        operand.bits == 32 ? "float32" : "bfloat16");
}

const hone_expr *convolution_load(hone_te *te, const conv_access *access,
                                  const hone_expr *const at[CONV_AXES]) {
    const hone_expr *indices[CONV_MAX_RANK];
    for (uint32_t d = 0; d < access->rank; d++)
        indices[d] = access->dims[d] == CONV_NONE ? hone_te_int(te, 0) : at[access->dims[d]];
    return hone_te_load(te, access->buffer, indices);
}

void convolution_begin_output(hone_te *te, const convolution *c, hone_te_stage *s,
                              const hone_expr *at[CONV_AXES]) {
    const conv_access *out = &c->out;
    const hone_expr *shape[CONV_MAX_RANK];
    for (uint32_t d = 0; d < out->rank; d++)
        shape[d] = hone_te_int(te, out->dims[d] == CONV_NONE ? 1 : c->extents[out->dims[d]]);
    hone_te_stage_begin(te, s, out->rank, shape, 0, NULL);
    for (uint32_t a = 0; a < CONV_AXES; a++)
        at[a] = NULL;
    at[CONV_N] = hone_te_int(te, 0);
    for (uint32_t d = 0; d < out->rank; d++) {
        if (out->dims[d] != CONV_NONE) at[out->dims[d]] = s->axis[d];
    }
}
