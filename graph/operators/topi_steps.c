/* graph/operators/topi_steps.c - statements in order, and a heap made of them. */
#include "graph/operators/topi_steps.h"

#include <string.h>

const hone_expr *const *hone_topi_step_index(const hone_topi_steps *p, const hone_expr *index,
                                             const hone_expr **out) {
    memcpy(out, p->s.axis, p->s.spatial_count * sizeof *out);
    out[p->s.spatial_count] = index;
    return out;
}

const hone_expr *hone_topi_step_load(const hone_topi_steps *p, hone_buffer buffer,
                                     const hone_expr *index) {
    const hone_expr *at[HONE_MAX_RANK];
    return hone_te_load(p->t->te, buffer, hone_topi_step_index(p, index, at));
}

void hone_topi_step_store(const hone_topi_steps *p, hone_buffer buffer, const hone_expr *index,
                          const hone_expr *value) {
    const hone_expr *at[HONE_MAX_RANK];
    hone_te_store(p->t->te, p->at, buffer, hone_topi_step_index(p, index, at), value);
}

const hone_expr *hone_topi_step_let(hone_topi_steps *p, const char *name, const hone_expr *value) {
    return hone_te_let(p->t->te, &p->at, name, value);
}

const hone_expr *hone_topi_step_int(const hone_topi_steps *p, int64_t value) {
    return hone_te_int(p->t->te, value);
}

const hone_expr *hone_topi_step_shift(const hone_topi_steps *p, hone_intrin how, const hone_expr *x,
                                      const hone_expr *by) {
    const hone_expr *args[] = {x, by};
    return x && by ? hone_expr_call(&p->t->te->ir, x->dtype, how, 2, args) : NULL;
}

void hone_topi_step_break_if(hone_topi_steps *p, const hone_expr *is_so) {
    hone_node_id branch = hone_te_if(p->t->te, p->at, is_so);
    hone_te_break(p->t->te, branch);
    p->at = hone_te_else(p->t->te, branch);
}

/* ---- a heap ---- */

static const hone_expr *key_at(const hone_topi_steps *p, const hone_topi_heap *h,
                               const hone_expr *index) {
    return hone_topi_step_load(p, h->keys, index);
}

static const hone_expr *element_at(const hone_topi_steps *p, const hone_topi_heap *h,
                                   const hone_expr *index) {
    return hone_topi_step_load(p, h->elements, index);
}

void hone_topi_heap_put(const hone_topi_steps *p, const hone_topi_heap *h, const hone_expr *index,
                        const hone_expr *key, const hone_expr *element) {
    hone_topi_step_store(p, h->keys, index, key);
    hone_topi_step_store(p, h->elements, index, element);
}

/* The child of the hole that comes last moves up into it, or the loop ends. */
static void sink_once(hone_topi_steps *p, const hone_topi_heap *h, const hone_expr *key,
                      const hone_expr *element) {
    hone_topi *t = p->t;
    const hone_expr *one = hone_topi_step_int(p, 1), *zero = hone_topi_step_int(p, 0);
    const hone_expr *hole = hone_topi_step_let(p, "hole", hone_topi_step_load(p, h->hole, zero));
    const hone_expr *left =
        hone_topi_op(t, HONE_OP_ADD, hone_topi_op(t, HONE_OP_ADD, hole, hole), one);
    left = hone_topi_step_let(p, "left", left);
    hone_topi_step_break_if(p, hone_topi_op(t, HONE_OP_GE, left, h->size));
    const hone_expr *right = hone_topi_op(t, HONE_OP_MIN, hone_topi_op(t, HONE_OP_ADD, left, one),
                                          hone_topi_op(t, HONE_OP_SUB, h->size, one));
    right = hone_topi_step_let(p, "right", right);
    const hone_expr *is_right = h->precedes(p, key_at(p, h, left), element_at(p, h, left),
                                            key_at(p, h, right), element_at(p, h, right));
    const hone_expr *child =
        hone_topi_step_let(p, "child", hone_topi_choose(t, is_right, right, left));
    const hone_expr *child_key = hone_topi_step_let(p, "child_key", key_at(p, h, child));
    const hone_expr *child_element =
        hone_topi_step_let(p, "child_element", element_at(p, h, child));
    hone_topi_step_break_if(p, h->precedes(p, child_key, child_element, key, element));
    hone_topi_heap_put(p, h, hole, child_key, child_element);
    hone_topi_step_store(p, h->hole, zero, child);
}

void hone_topi_heap_sink(hone_topi_steps p, const hone_topi_heap *h, const hone_expr *from,
                         const hone_expr *key, const hone_expr *element) {
    hone_topi_steps loop = p;
    const hone_expr *zero = hone_topi_step_int(&p, 0);
    const hone_expr *levels = hone_topi_step_int(&p, HONE_TOPI_DOUBLINGS);
    hone_topi_step_store(&p, h->hole, zero, from);
    hone_te_for(p.t->te, &loop.at, "level", levels);
    sink_once(&loop, h, key, element);
    hone_topi_heap_put(&p, h, hone_topi_step_load(&p, h->hole, zero), key, element);
}

void hone_topi_heap_make(hone_topi_steps p, const hone_topi_heap *h) {
    const hone_expr *parents =
        hone_topi_step_shift(&p, HONE_INTRIN_SHIFT_RIGHT, h->size, hone_topi_step_int(&p, 1));
    parents = hone_topi_step_let(&p, "parents", parents);
    const hone_expr *done = hone_te_for(p.t->te, &p.at, "done", parents);
    const hone_expr *parent =
        hone_topi_op(p.t, HONE_OP_SUB, hone_topi_add_int(p.t, parents, -1), done);
    parent = hone_topi_step_let(&p, "parent", parent);
    const hone_expr *key = hone_topi_step_let(&p, "key", key_at(&p, h, parent));
    const hone_expr *element = hone_topi_step_let(&p, "element", element_at(&p, h, parent));
    hone_topi_heap_sink(p, h, parent, key, element);
}
