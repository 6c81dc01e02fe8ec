/* ir/interp/interp_copy.c - loops that only move elements, many at a time.
 *
 *   for i: P[i // 48, k, i % 48] = W[k, i]        =>   48 elements of W, and the next 48, …
 *
 * What laying out weights mostly is. Along the loop every index is a line up to its next boundary
 * (interp_line.c); so far, the elements are copied from one line of places to another. An iteration
 * that cannot be seen so, or that is wrong, runs as it is written, and with it the rest of the
 * loop: messages and results are those of the statements, one by one. */
#include "ir/interp/interp_impl.h"

enum { COPY_AXES = 16, COPY_LEAST = 8 /* iterations for which this is quicker */ };

/* Elements in a row of a storage. */
typedef struct xplaces {
    const xbuffer *buffer;
    int64_t at, step;
} xplaces;

/* ---- where ---- */

/* The places of an access; shortens the walk to where they are a line. */
static bool find_places(xwalk *w, hone_buffer id, uint32_t rank, const xexpr *const *indices,
                        xline *out_lines) {
    const xbuffer *b = &w->m->buffers[id];
    if (!b->store || !b->is_plain || b->lanes > 1) return false;
    for (uint32_t d = 0; d < rank; d++) {
        if (!line_of(indices[d], w, &out_lines[d])) return false;
        if (out_lines[d].count < w->count) w->count = out_lines[d].count;
    }
    return true;
}

/* Whether all of them lie inside, for the walk as it is now. */
static bool settle_places(const xwalk *w, hone_buffer id, uint32_t rank, xline *lines,
                          xplaces *out) {
    const xbuffer *b = &w->m->buffers[id];
    *out = (xplaces){b, b->offset, 0};
    for (uint32_t d = 0; d < rank; d++) {
        int64_t last;
        lines[d].count = w->count;
        if (!line_end(&lines[d], &last)) return false;
        if ((uint64_t)lines[d].value >= (uint64_t)b->shape[d]) return false;
        if ((uint64_t)last >= (uint64_t)b->shape[d]) return false;
        out->at += lines[d].value * b->strides[d];
        out->step += lines[d].step * b->strides[d];
    }
    return true;
}

/* ---- what ---- */

#define MOVE(type)                                                                                 \
    do {                                                                                           \
        type *d = (type *)(void *)to;                                                              \
        const type *s = (const type *)(const void *)from;                                          \
        for (int64_t i = 0; i < count; i++)                                                        \
            d[i * to_step] = s[i * from_step];                                                     \
    } while (0)

static void move(uint8_t *to, int64_t to_step, const uint8_t *from, int64_t from_step,
                 int64_t count, size_t bytes) {
    if (to_step == 1 && from_step == 1) {
        memcpy(to, from, (size_t)count * bytes);
        return;
    }
    switch (bytes) {
    case 1:
        MOVE(uint8_t);
        return;
    case 2:
        MOVE(uint16_t);
        return;
    case 4:
        MOVE(uint32_t);
        return;
    default:
        MOVE(uint64_t);
        return;
    }
}

static uint8_t *address(const xplaces *p) {
    return p->buffer->store->data + p->at * (int64_t)hone_dtype_bytes(p->buffer->dtype);
}

static bool copy_load(xwalk *w, const xstmt *store, const xexpr *load, xline *target) {
    const xbuffer *to = &w->m->buffers[store->access.buffer];
    const xbuffer *from = &w->m->buffers[load->u.buffer];
    xline source[HONE_MAX_RANK];
    xplaces read, written;
    if (!find_places(w, load->u.buffer, load->count, load->args, source)) return false;
    if (from->store->data == to->store->data || !hone_dtype_equal(from->dtype, to->dtype)) {
        return false;
    }
    if (!settle_places(w, load->u.buffer, load->count, source, &read)) return false;
    if (!settle_places(w, store->access.buffer, store->access.rank, target, &written)) return false;
    move(address(&written), written.step, address(&read), read.step, w->count,
         hone_dtype_bytes(to->dtype));
    return true;
}

static bool copy_constant(xwalk *w, const xstmt *store, const xexpr *value, xline *target) {
    const xbuffer *to = &w->m->buffers[store->access.buffer];
    uint64_t room = 0;
    const xstore one = {.data = (uint8_t *)&room, .elements = 1, .dtype = to->dtype};
    xplaces written;
    if (!settle_places(w, store->access.buffer, store->access.rank, target, &written)) return false;
    if (x_is_float(value))
        write_float(&one, to->dtype, 0, value->u.f);
    else
        write_int(&one, to->dtype, 0, value->u.i);
    move(address(&written), written.step, one.data, 0, w->count, hone_dtype_bytes(to->dtype));
    return true;
}

/* What the store takes on this part of the walk: one side of each choice. */
static const xexpr *taken_value(xwalk *w, const xexpr *value) {
    while (value && value->source->kind == HONE_EXPR_CALL) {
        const xexpr *taken = NULL;
        bool is_choice = value->source->op == HONE_INTRIN_IF_THEN_ELSE;
        if (!is_choice || !line_choose(value, w, &taken, &w->count)) return NULL;
        value = taken;
    }
    return value;
}

static bool copy_store(xwalk *w, const xstmt *store) {
    xline target[HONE_MAX_RANK];
    const xexpr *value = taken_value(w, store->value);
    if (!value) return false;
    if (!find_places(w, store->access.buffer, store->access.rank, store->access.indices, target)) {
        return false;
    }
    if (value->source->kind == HONE_EXPR_LOAD) return copy_load(w, store, value, target);
    return copy_constant(w, store, value, target);
}

/* ---- blocks ---- */

/* The axes as lines, each inside its domain. */
static bool set_axes(xwalk *w, const xblock *b) {
    for (uint32_t i = 0; i < b->block->axis_count; i++) {
        const xaxis *axis = &b->axes[i];
        xline line;
        int64_t last;
        if (!axis->dom.is_constant || !line_of(axis->binding, w, &line)) return false;
        if (line.count < w->count) w->count = line.count;
        line.count = w->count;
        if (!line_end(&line, &last)) return false;
        uint64_t extent = (uint64_t)axis->dom.constant_extent;
        if ((uint64_t)line.value - (uint64_t)axis->dom.constant_min >= extent ||
            (uint64_t)last - (uint64_t)axis->dom.constant_min >= extent) {
            return false;
        }
        w->axes[i] = line;
        w->vars[i] = axis->var;
    }
    w->axis_count = b->block->axis_count;
    return true;
}

/* As far as the walk goes one way; false: nothing was done. */
static bool copy_piece(xwalk *w, const xstmt *loop) {
    const xstmt *inner = loop->first;
    const xblock *b = inner->block;
    if (!b) return copy_store(w, inner);
    if (b->predicate) {
        xline predicate;
        if (!line_of(b->predicate, w, &predicate)) return false;
        w->count = predicate.count;
        if (!predicate.value) return true;
    }
    return set_axes(w, b) && copy_store(w, inner->first);
}

static xflow run_copies(const xstmt *s, machine *m) {
    int64_t min = range_min(&s->range, m), extent = range_extent(&s->range, m), i = 0;
    xvalue *slot = &m->slots[s->var];
    xline axes[COPY_AXES];
    hone_var vars[COPY_AXES];
    while (extent >= COPY_LEAST && i < extent) {
        xwalk w = {.m = m, .var = s->var, .count = extent - i, .axes = axes, .vars = vars};
        slot->i = min + i;
        if (m->options.max_steps && m->options.max_steps - m->steps <= w.count) break;
        if (!copy_piece(&w, s)) break;
        m->steps += w.count;
        i += w.count;
    }
    return i < extent ? run_loop_over(s, m, min + i, extent - i) : FLOW_NEXT;
}

/* ---- compiling ---- */

static bool is_value(const xexpr *e) {
    hone_expr_kind kind = (hone_expr_kind)e->source->kind;
    if (kind == HONE_EXPR_CALL && e->source->op == HONE_INTRIN_IF_THEN_ELSE) {
        return is_value(e->args[1]) && is_value(e->args[2]);
    }
    bool is_element = kind == HONE_EXPR_LOAD || kind == HONE_EXPR_INT || kind == HONE_EXPR_FLOAT;
    return is_element && e->lanes == 1 && e->bits > 1 && e->type != X_HANDLE;
}

static bool is_plain_store(const machine *m, const xstmt *s) {
    return s && !s->next && hone_func_node(m->func, s->node)->kind == HONE_NODE_STORE &&
           s->lanes == 1 && s->access.rank <= HONE_MAX_RANK && is_value(s->value);
}

static bool is_plain_block(const xstmt *s) {
    const hone_block *block = s->block ? s->block->block : NULL;
    return block && !s->next && !s->other && block->alloc_count == 0 && block->match_count == 0 &&
           block->axis_count <= COPY_AXES;
}

void copy_note_loop(machine *m, xstmt *s) {
    const hone_interp_options *o = &m->options;
    bool is_watched = o->check_races || o->check_uninitialised || o->out_bounds;
    const xstmt *inner = s->first;
    if (is_watched || s->is_thread_loop || s->moved_count > 0 || !inner) return;
    if (!is_plain_store(m, is_plain_block(inner) ? inner->first : inner)) return;
    s->run = run_copies;
}
