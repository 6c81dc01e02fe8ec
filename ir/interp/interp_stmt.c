/* ir/interp/interp_stmt.c - runs statements. */
#include "ir/interp/interp_impl.h"

/* ---- running ---- */

static inline xflow run_children(const xstmt *s, machine *m) {
    for (const xstmt *c = s->first; c; c = c->next) {
        xflow flow = c->run(c, m);
        if (flow != FLOW_NEXT) return flow;
    }
    return FLOW_NEXT;
}

/* One iteration; a thread has arrays of its own in it. */
static inline xflow run_iteration(const xstmt *s, machine *m) {
    if (HONE_LIKELY(s->moved_count == 0)) return run_children(s, m);
    int64_t thread = m->slots[s->var].i;
    own_move(m, s, m->buffers, thread);
    xflow flow = run_children(s, m);
    own_move(m, s, m->buffers, -thread);
    return flow;
}

static inline void count_step(machine *m) {
    if (++m->steps == m->options.max_steps) {
        machine_fail(m, HONE_ERROR(HONE_CODE_CANCELLED, "more than %lld steps",
                                   (long long)m->options.max_steps));
    }
}

static xflow run_plain(const xstmt *s, machine *m) {
    return run_children(s, m);
}

static xflow run_attr(const xstmt *s, machine *m) {
    const hone_node *node = hone_func_node(m->func, s->node);
    async_enter(m, node);
    async_begin(m, node);
    xflow flow = run_children(s, m);
    async_end(m, node);
    async_leave(m, node);
    return flow;
}

xflow run_loop_over(const xstmt *s, machine *m, int64_t min, int64_t extent) {
    xvalue *slot = &m->slots[s->var];
    for (int64_t i = 0; i < extent; i++) {
        slot->i = min + i;
        count_step(m);
        xflow flow = run_iteration(s, m);
        if (flow == FLOW_BREAK) break;
        if (flow == FLOW_RETURN) return flow;
    }
    return FLOW_NEXT;
}

static xflow run_loop(const xstmt *s, machine *m) {
    int64_t min = range_min(&s->range, m), extent = range_extent(&s->range, m);
    return run_loop_over(s, m, min, extent);
}

static xflow run_race_loop(const xstmt *s, machine *m) {
    int64_t min = range_min(&s->range, m), extent = range_extent(&s->range, m);
    uint32_t loop, parent;
    xflow flow = FLOW_NEXT;
    race_enter_loop(m, &loop, &parent);
    for (int64_t i = 0; i < extent && flow != FLOW_BREAK && flow != FLOW_RETURN; i++) {
        m->slots[s->var].i = min + i;
        count_step(m);
        race_iteration(m, loop, parent, s);
        flow = run_iteration(s, m);
    }
    race_leave_loop(m, parent);
    return flow == FLOW_RETURN ? flow : FLOW_NEXT;
}

/* One's own iteration where the tag is bound already, else all of them. */
static xflow run_thread_loop(const xstmt *s, machine *m) {
    int64_t index;
    if (!thread_is_bound(m, s, &index)) {
        return m->options.check_races ? run_race_loop(s, m) : run_loop(s, m);
    }
    if (index - range_min(&s->range, m) >= range_extent(&s->range, m)) return FLOW_NEXT;
    m->slots[s->var].i = index;
    return run_children(s, m);
}

/* The element of a store; the race check compares it with the value that comes. */
static inline int64_t locate_fresh(machine *m, const xstmt *s, const xvalue *value) {
    m->fresh = value;
    int64_t at = locate(m, s->access.buffer, s->access.rank, s->access.indices, true);
    m->fresh = NULL;
    return at;
}

static xflow run_store(const xstmt *s, machine *m) {
    m->at = s->node;
    hone_buffer id = s->access.buffer;
    if (x_is_float(s->value)) {
        const xvalue value = {.f = x_float(s->value, m)};
        int64_t at = locate_fresh(m, s, &value);
        const xbuffer *b = &m->buffers[id];
        if (hone_dtype_equal(b->dtype, HONE_DTYPE_F32)) {
            ((float *)(void *)b->store->data)[at] = (float)value.f;
        } else {
            write_float(b->store, b->dtype, at, value.f);
        }
    } else {
        const xvalue value = {.i = x_int(s->value, m)};
        int64_t at = locate_fresh(m, s, &value);
        write_int(m->buffers[id].store, m->buffers[id].dtype, at, value.i);
    }
    return FLOW_NEXT;
}

HONE_NORETURN static void fail_lanes(machine *m, hone_buffer id, int64_t at) {
    machine_fail(m,
                 HONE_ERROR(HONE_CODE_ILLEGAL, "two lanes of a vector write element %lld of '%s'",
                            (long long)at, hone_func_buffer(m->func, id)->name));
}

/* All lanes are computed before the first one is stored. */
static xflow run_vector_store(const xstmt *s, machine *m) {
    xvalue values[INTERP_MAX_LANES];
    int64_t places[INTERP_MAX_LANES];
    uint16_t count = 0;
    hone_buffer id = s->access.buffer;
    bool is_float = x_is_float(s->value);
    m->at = s->node;
    for (m->lane = 0; m->lane < s->lanes; m->lane++) {
        if (m->mask && !x_int(m->mask, m)) continue;
        if (is_float)
            values[m->lane].f = x_float(s->value, m);
        else
            values[m->lane].i = x_int(s->value, m);
    }
    for (m->lane = 0; m->lane < s->lanes; m->lane++) {
        if (m->mask && !x_int(m->mask, m)) continue;
        const xbuffer *b = &m->buffers[id];
        m->fresh = b->lanes == 1 ? &values[m->lane] : NULL;
        int64_t at = b->lanes > 1 ? locate_lane(m, id, s->access.rank, s->access.indices, true)
                                  : locate(m, id, s->access.rank, s->access.indices, true);
        for (uint16_t i = 0; m->options.check_races && i < count; i++) {
            if (places[i] == at && !race_is_repeat(m, id, at)) fail_lanes(m, id, at);
        }
        m->fresh = NULL;
        places[count++] = at;
        if (is_float)
            write_float(b->store, b->dtype, at, values[m->lane].f);
        else
            write_int(b->store, b->dtype, at, values[m->lane].i);
    }
    m->lane = 0;
    return FLOW_NEXT;
}

int64_t place_of_lane(const xstmt *s, machine *m) {
    const xbuffer *b = &m->buffers[s->access.buffer];
    int64_t at = b->offset;
    for (uint32_t d = 0; d < s->access.rank; d++)
        at += x_int(s->access.indices[d], m) * b->strides[d];
    return at;
}

xflow run_any_store(const xstmt *s, machine *m) {
    return s->lanes > 1 ? run_vector_store(s, m) : run_store(s, m);
}

/* In async_scope: a copy that has to be waited for. */
static xflow run_async_store(const xstmt *s, machine *m) {
    xflow flow = run_any_store(s, m);
    hone_buffer id = s->access.buffer;
    bool is_vector = s->lanes > 1;
    for (m->lane = 0; is_vector ? m->lane < s->lanes : m->lane == 0; m->lane++) {
        if (is_vector && m->mask && !x_int(m->mask, m)) continue;
        async_mark(m, id, place_of_lane(s, m));
    }
    m->lane = 0;
    return flow;
}

static xflow run_eval(const xstmt *s, machine *m) {
    m->at = s->node;
    count_step(m);
    if (x_is_float(s->value))
        x_float(s->value, m);
    else
        x_int(s->value, m);
    return FLOW_NEXT;
}

static xflow run_return(const xstmt *s, machine *m) {
    run_eval(s, m);
    return FLOW_RETURN;
}

static xflow run_if(const xstmt *s, machine *m) {
    m->at = s->node;
    bound_require_exact(m, s->value);
    if (x_int(s->value, m)) return run_children(s, m);
    return s->other ? run_children(s->other, m) : FLOW_NEXT;
}

/* A condition on each lane: the vector stores inside write where it holds. */
static xflow run_masked(const xstmt *s, machine *m) {
    bound_require_exact(m, s->value);
    const xexpr *outer = m->mask;
    m->mask = s->value;
    xflow flow = run_children(s, m);
    m->mask = outer;
    return flow;
}

static xflow run_while(const xstmt *s, machine *m) {
    for (;;) {
        m->at = s->node;
        count_step(m);
        bound_require_exact(m, s->value);
        if (!x_int(s->value, m)) return FLOW_NEXT;
        xflow flow = run_children(s, m);
        if (flow == FLOW_BREAK) return FLOW_NEXT;
        if (flow == FLOW_RETURN) return flow;
    }
}

static xflow run_let(const xstmt *s, machine *m) {
    m->at = s->node;
    bound_let(m, s);
    if (s->is_vector) {
        for (m->lane = 0; m->lane < s->lanes; m->lane++) {
            xvalue *lane = &m->slots[s->var].lanes[m->lane];
            if (x_is_float(s->value))
                lane->f = x_float(s->value, m);
            else
                lane->i = x_int(s->value, m);
        }
        m->lane = 0;
    } else if (x_is_float(s->value)) {
        m->slots[s->var].f = x_float(s->value, m);
    } else {
        m->slots[s->var].i = x_int(s->value, m);
    }
    return run_children(s, m);
}

static xflow run_assert(const xstmt *s, machine *m) {
    m->at = s->node;
    if (!x_int(s->value, m)) {
        bool says = s->message && *s->message;
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "assertion failed%s%s", says ? ": " : "",
                                   says ? s->message : ""));
    }
    return run_children(s, m);
}

static xflow run_break(const xstmt *s, machine *m) {
    (void)s;
    (void)m;
    return FLOW_BREAK;
}
static xflow run_continue(const xstmt *s, machine *m) {
    (void)s;
    (void)m;
    return FLOW_CONTINUE;
}

static xflow run_alloc(const xstmt *s, machine *m) {
    m->at = s->node;
    buffer_allocate(m, s->access.buffer);
    xflow flow = run_children(s, m);
    buffer_drop(m, s->access.buffer);
    return flow;
}

static xflow run_alias(const xstmt *s, machine *m) {
    m->at = s->node;
    buffer_alias(m, s->access.buffer);
    return run_children(s, m);
}

/* ---- blocks ---- */

HONE_NORETURN static void fail_domain(machine *m, const xblock *b, const xaxis *axis,
                                      int64_t value) {
    int64_t min = range_min(&axis->dom, m), extent = range_extent(&axis->dom, m);
    m->block = NULL; /* its axes are not set yet */
    machine_fail(m,
                 HONE_ERROR(HONE_CODE_ILLEGAL,
                            "axis '%s' of block '%s' is %lld, outside of its domain [%lld, %lld)",
                            m->func->vars[axis->var].name, b->block->name, (long long)value,
                            (long long)min, (long long)(min + extent)));
}

/* TE gives the axes of nested blocks domains like (v, v + (1 - v)), empty but where v is 0; they
 * have no meaning there. */
static bool says_nothing(const xaxis *axis, machine *m) {
    return !axis->dom.is_constant && range_extent(&axis->dom, m) <= 0;
}

bool block_set_axes(const xblock *b, machine *m) {
    int64_t values[64], *all = values;
    uint32_t count = b->block->axis_count;
    bool is_first = true;
    if (count > HONE_COUNT(values)) {
        machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED, "block '%s' has %u axes", b->block->name,
                                   (unsigned)count));
    }
    for (uint32_t i = 0; i < count; i++) {
        const xaxis *axis = &b->axes[i];
        int64_t min = range_min(&axis->dom, m);
        all[i] = x_int(axis->binding, m);
        if ((uint64_t)all[i] - (uint64_t)min >= (uint64_t)range_extent(&axis->dom, m) &&
            !says_nothing(axis, m)) {
            fail_domain(m, b, axis, all[i]);
        }
        is_first &= !axis->is_reduce || all[i] == min;
    }
    for (uint32_t i = 0; i < count; i++)
        m->slots[b->axes[i].var].i = all[i];
    return is_first;
}

static xflow run_block(const xstmt *s, machine *m) {
    const xblock *b = s->block;
    const xstmt *outer = m->block;
    m->at = s->node;
    if (b->predicate) bound_require_exact(m, b->predicate);
    if (b->predicate && !x_int(b->predicate, m)) return FLOW_NEXT;
    bool is_first = block_set_axes(b, m);
    m->block = s;
    for (uint32_t i = 0; i < b->block->alloc_count; i++)
        buffer_allocate(m, b->block->allocs[i]);
    for (uint32_t i = 0; i < b->block->match_count; i++)
        buffer_match(m, &b->matches[i]);
    xflow flow = FLOW_NEXT;
    if (s->other && is_first) flow = run_children(s->other, m);
    if (flow == FLOW_NEXT) flow = run_children(s, m);
    for (uint32_t i = 0; i < b->block->alloc_count; i++)
        buffer_drop(m, b->block->allocs[i]);
    m->block = outer;
    return flow;
}

/* ---- compiling ---- */

static xrange compile_range(machine *m, const hone_range *range) {
    xrange r = {.min = compile_expr(m, range->min), .extent = compile_expr(m, range->extent)};
    r.is_constant = range->min->kind == HONE_EXPR_INT && range->extent->kind == HONE_EXPR_INT;
    if (r.is_constant) {
        r.constant_min = range->min->u.i;
        r.constant_extent = range->extent->u.i;
    }
    return r;
}

static void define(machine *m, hone_var var) {
    if (var >= m->func->var_count) {
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "a variable that does not exist is defined"));
    }
    m->bound[var] = VAR_BOUND;
}

static void compile_loop(machine *m, xstmt *s, const hone_node *node) {
    s->var = node->u.loop.var;
    define(m, s->var);
    s->range = compile_range(m, &node->u.loop.range);
    s->is_race_loop = node->loop_kind != HONE_LOOP_SERIAL &&
                      node->loop_kind != HONE_LOOP_UNROLLED &&
                      !(m->options.lanes_in_order && node->loop_kind == HONE_LOOP_VECTORIZED);
    s->is_thread_loop =
        node->loop_kind == HONE_LOOP_THREAD && (starts_with(node->u.loop.thread_tag, "threadIdx") ||
                                                starts_with(node->u.loop.thread_tag, "vthread"));
    if (s->is_thread_loop) own_note_loop(m, s);
    s->run = s->is_thread_loop                           ? run_thread_loop
             : s->is_race_loop && m->options.check_races ? run_race_loop
                                                         : run_loop;
}

static void compile_matches(machine *m, xblock *b) {
    uint32_t count = b->block->match_count;
    b->matches = machine_alloc(m, (count + 1) * sizeof *b->matches);
    for (uint32_t i = 0; i < count; i++) {
        const hone_match *match = &b->block->matches[i];
        uint32_t rank = hone_func_buffer(m->func, match->source.buffer)->rank;
        xmatch *x = &b->matches[i];
        x->buffer = match->buffer;
        x->source = match->source.buffer;
        x->ranges = machine_alloc(m, (rank + 1) * sizeof *x->ranges);
        for (uint32_t d = 0; d < rank; d++) {
            x->ranges[d] = compile_range(m, &match->source.ranges[d]);
        }
    }
}

static void compile_block(machine *m, xstmt *s, const hone_node *node) {
    xblock *b = machine_alloc(m, sizeof *b);
    b->block = node->u.block.block;
    b->axes = machine_alloc(m, (b->block->axis_count + 1) * sizeof *b->axes);
    for (uint32_t i = 0; i < b->block->axis_count; i++) {
        const hone_axis *axis = &b->block->axes[i];
        b->axes[i] = (xaxis){.var = axis->var, .is_reduce = axis->kind == HONE_AXIS_REDUCE};
        b->axes[i].binding = compile_expr(m, node->u.block.bindings[i]);
        b->axes[i].dom = compile_range(m, &axis->dom);
        define(m, axis->var);
    }
    if (node->u.block.predicate && !hone_expr_is_int_value(node->u.block.predicate, 1)) {
        b->predicate = compile_expr(m, node->u.block.predicate);
    }
    compile_matches(m, b);
    s->block = b;
    s->run = run_block;
}

static void compile_store(machine *m, xstmt *s, const hone_node *node) {
    const hone_buffer_info *info = hone_func_buffer(m->func, node->u.store.buffer);
    s->value = compile_expr(m, node->u.store.value);
    s->access.buffer = node->u.store.buffer;
    s->access.rank = node->u.store.rank;
    s->access.indices = machine_alloc(m, (node->u.store.rank + 1) * sizeof *s->access.indices);
    s->lanes = s->value->lanes;
    for (uint32_t i = 0; i < node->u.store.rank; i++) {
        s->access.indices[i] = compile_expr(m, node->u.store.indices[i]);
        if (s->access.indices[i]->lanes > s->lanes) s->lanes = s->access.indices[i]->lanes;
    }
    if (info->rank != node->u.store.rank || info->rank > HONE_MAX_RANK) {
        machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED,
                                   "'%s' of rank %u and type %s is written with %u indices",
                                   info->name, (unsigned)info->rank, HONE_DTYPE_NAME(info->dtype),
                                   (unsigned)node->u.store.rank));
    }
    if (!hone_dtype_same_element(info->dtype, s->value->dtype)) {
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "a value of type %s is stored to '%s' of %s",
                                   HONE_DTYPE_NAME(s->value->dtype), info->name,
                                   HONE_DTYPE_NAME(info->dtype)));
    }
    s->run = s->lanes > 1 ? run_vector_store : run_store;
    if (m->options.out_bounds) s->run = run_bounded_store;
    if (m->options.check_races && async_is_inside(m->func, s->node)) s->run = run_async_store;
}

static void compile_let(machine *m, xstmt *s, const hone_node *node) {
    s->var = node->u.let.var;
    define(m, s->var);
    s->value = compile_expr(m, node->u.let.value);
    s->lanes = s->value->lanes;
    s->is_vector = s->lanes > 1;
    if (s->is_vector) {
        m->slots[s->var].lanes = machine_alloc(m, s->lanes * sizeof(xvalue));
    }
    s->run = run_let;
}

static void compile_decl(machine *m, xstmt *s, const hone_node *node) {
    s->access.buffer = node->u.alloc.buffer;
    bool is_alias = node->kind == HONE_NODE_DECL &&
                    hone_func_buffer(m->func, node->u.alloc.buffer)->alias_of != HONE_NO_ID;
    s->run = is_alias ? run_alias : run_alloc;
}

static void compile_node(machine *m, xstmt *s, const hone_node *node) {
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
        compile_loop(m, s, node);
        return;
    case HONE_NODE_BLOCK:
        compile_block(m, s, node);
        return;
    case HONE_NODE_STORE:
        compile_store(m, s, node);
        return;
    case HONE_NODE_LET:
        compile_let(m, s, node);
        return;
    case HONE_NODE_ALLOC:
    case HONE_NODE_DECL:
        compile_decl(m, s, node);
        return;
    case HONE_NODE_BREAK:
        s->run = run_break;
        return;
    case HONE_NODE_CONTINUE:
        s->run = run_continue;
        return;
    case HONE_NODE_TOP:
    case HONE_NODE_INIT:
    case HONE_NODE_ELSE:
        s->run = run_plain;
        return;
    case HONE_NODE_ATTR:
        s->run = async_is_attr(node) ? run_attr : run_plain;
        return;
    case HONE_NODE_IF:
        s->run = node->u.eval.value->dtype.lanes > 1 ? run_masked : run_if;
        break;
    case HONE_NODE_WHILE:
        s->run = run_while;
        break;
    case HONE_NODE_EVAL:
        s->run = hone_expr_is_call(node->u.eval.value, HONE_INTRIN_RETURN) ? run_return : run_eval;
        break;
    case HONE_NODE_ASSERT:
        s->run = run_assert;
        break;
    }
    if (node->kind == HONE_NODE_EVAL) bound_require_no_effect(m, node->u.eval.value);
    s->value = compile_expr(m, node->u.eval.value);
    s->message = node->u.eval.message;
}

/* The outermost thread loop around what threads do together runs them together. */
static void note_waiting(machine *m, xstmt *s) {
    s->waits = s->meeting != MEET_NOT || s->exchanges || (s->other && s->other->waits);
    for (const xstmt *c = s->first; c && !s->waits; c = c->next)
        s->waits = c->waits;
    if (!s->waits || !s->is_thread_loop) return;
    s->team = team_create(m);
    s->run = run_waiting_loop;
}

xstmt *compile_stmt(machine *m, hone_node_id id) {
    const hone_node *node = hone_func_node(m->func, id);
    xstmt *s = machine_alloc(m, sizeof *s);
    xstmt **tail = &s->first;
    s->node = m->prepared = id;
    m->exchanges = NULL;
    compile_node(m, s, node);
    s->exchanges = m->exchanges;
    if (node->kind == HONE_NODE_EVAL) s->meeting = (uint8_t)meeting_of(node->u.eval.value);
    bool is_wait = node->kind == HONE_NODE_EVAL &&
                   hone_expr_is_named(node->u.eval.value, "cuda.mbarrier_wait");
    if (is_wait || (node->kind == HONE_NODE_EVAL && needs_all_lanes(m, node->u.eval.value))) {
        s->meeting = MEET_LANES;
    }
    if (s->meeting == MEET_REDUCE) s->reducer = compile_reducer(m, id);
    for (hone_node_id c = node->first; c != HONE_NO_ID; c = hone_func_node(m->func, c)->next) {
        xstmt *child = compile_stmt(m, c);
        uint8_t kind = hone_func_node(m->func, c)->kind;
        if (kind == HONE_NODE_INIT || kind == HONE_NODE_ELSE) {
            s->other = child;
        } else {
            *tail = child;
            tail = &child->next;
        }
    }
    note_waiting(m, s);
    if (node->kind == HONE_NODE_FOR && !s->waits) copy_note_loop(m, s);
    return s;
}
