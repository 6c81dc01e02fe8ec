/* schedule/primitive/move/prim_reverse_inline.c - reverse_compute_inline: puts the body of a
 * consumer behind the store of its only producer.
 *     B[i] = A[i] + 1;  C[i] = B[i] * 2   →   C[i] = (A[i] + 1) * 2    in the loops of B
 *
 * Checks: as in prim_inline.c for the consumer; it runs over a box of its axes (all of them or a
 * part), reads just one buffer that a block of the scope writes, at one place per instance, and
 * each element of a box just once; the producer is complete with one store, writes nothing else,
 * and nobody else reads the buffer (what it reads is surely written, so that a predicate of the
 * producer leaves no instance of it out). Instances that write the same elements keep their order.
 * Tiles may be cut at the end: C[i] = B[i // 16, i % 16]
 * for 127 of i is taken as if it ran over 128, which read a box. Where the box is not all that the
 * producer makes, or the consumer does not run so far, the producer gets a predicate. The store of
 * the producer may stand in loops of the block (a box that write_at copies) where the consumer
 * needs no condition on them and writes an element once. Axes of a producer that was made over a
 * part of them shrink to that part when it comes to write an output, unless the rest of them lies
 * outside of it: there, what an axis promises must be run.
 *
 * A sum of one step, of a block with an init and no reduce axis, may go on in what the consumer
 * writes, where that only copies it and the producer reads nothing there:
 *     B[i] = 0; B[i] = B[i] + A[i];  C[i] = B[i]   →   C[i] = 0; C[i] = C[i] + A[i]
 */
#include "ir/region/region.h"
#include "schedule/primitive/move/inlining.h"
#include "schedule/primitive/primitive_impl.h"
#include "schedule/state/instance_order.h"

typedef struct reverse {
    hone_node_id block, producer, store, producer_store;
    hone_node_id init_store; /* of a producer that is a sum of one step, or HONE_NO_ID */
    hone_buffer buffer;
    const hone_expr *load;   /* the load of the buffer in the consumer */
    hone_iter *iters;        /* the axes of the consumer over the values that they take */
    const hone_iter *longer; /* … and so far that they read a box */
    hone_range *box;         /* what these read of the buffer, by dimension */
    bool has_other_load;
} reverse;

static bool find_load(void *ctx, const hone_expr *e) {
    reverse *r = ctx;
    if (e->kind == HONE_EXPR_LOAD && e->u.buffer == r->buffer) {
        if (!r->load) r->load = e;
        if (!hone_expr_same(r->load, e)) r->has_other_load = true;
    }
    return true;
}

/* The producer will do for the whole box what the consumer did: it must have done so. */
static hone_status check_instances(hone_schedule *sch, reverse *r) {
    bool is_exact = false;
    HONE_TRY(sch_axes_box(sch, r->block, &r->iters, &is_exact));
    if (is_exact) return HONE_OK;
    return sch_refuse(sch, r->block, "the instances of %s are not shown to be a box of its axes",
                      sch_block_name(sch, r->block));
}

typedef struct own_loads {
    const hone_node *store;
    hone_buffer other;
    bool are_there;
} own_loads;

/* Of its own buffer the value loads what the store writes, of the other one nothing. */
static bool check_own_load(void *ctx, const hone_expr *e) {
    own_loads *own = ctx;
    if (e->kind != HONE_EXPR_LOAD) return own->are_there;
    if (e->u.buffer == own->other) own->are_there = false;
    for (uint32_t d = 0; e->u.buffer == own->store->u.store.buffer && d < e->count; d++) {
        if (!hone_expr_same(e->args[d], own->store->u.store.indices[d])) own->are_there = false;
    }
    return own->are_there;
}

static bool is_single_step(hone_schedule *sch, const reverse *r) {
    hone_node_id init = sch_node(sch, hone_block_init_of(sch->func, r->producer))->first;
    const hone_node *copy = sch_node(sch, r->store);
    const hone_block *block = sch_block(sch, r->producer);
    if (init == HONE_NO_ID || r->producer_store == HONE_NO_ID) return false;
    const hone_node *first = sch_node(sch, init), *step = sch_node(sch, r->producer_store);
    if (first->next != HONE_NO_ID || first->kind != HONE_NODE_STORE) return false;
    for (uint32_t a = 0; a < block->axis_count; a++) {
        if (block->axes[a].kind != HONE_AXIS_SPATIAL) return false;
    }
    if (block->write_count != 1 || block->match_count ||
        first->u.store.buffer != step->u.store.buffer ||
        copy->u.store.value->kind != HONE_EXPR_LOAD ||
        copy->u.store.value->u.buffer != step->u.store.buffer ||
        sch_reads(block, copy->u.store.buffer)) {
        return false;
    }
    for (uint32_t d = 0; d < step->u.store.rank; d++) {
        if (!hone_expr_same(first->u.store.indices[d], step->u.store.indices[d])) return false;
    }
    own_loads own = {step, copy->u.store.buffer, true};
    hone_expr_walk(step->u.store.value, check_own_load, &own);
    return own.are_there && !hone_loads_below(sch->func, init, step->u.store.buffer) &&
           !hone_loads_below(sch->func, init, copy->u.store.buffer) &&
           sch_classify(sch, r->producer, sch_scope_of(sch, r->producer), NULL) ==
               SCH_BLOCK_REDUCTION;
}

/* What a producer is made of: one store, or an init and one step. */
static hone_status find_producer_store(hone_schedule *sch, reverse *r) {
    hone_node_id init = hone_block_init_of(sch->func, r->producer);
    r->init_store = HONE_NO_ID;
    r->producer_store = sch_single_store(sch, r->producer);
    if (init == HONE_NO_ID || !is_single_step(sch, r)) {
        return sch_check_movable_loops(sch, r->producer, &r->producer_store);
    }
    r->init_store = sch_node(sch, init)->first;
    return sch_require_pipeline(sch, sch_scope_of(sch, r->producer));
}

static hone_status check_producer(hone_schedule *sch, reverse *r) {
    uint32_t count = 0, consumer_count = 0;
    const hone_node_id *producers = NULL, *consumers = NULL;
    HONE_TRY(sch_producers(sch, r->block, &count, &producers));
    if (count != 1) {
        return sch_refuse(sch, r->block, "%s has %u producers, must have one",
                          sch_block_name(sch, r->block), count);
    }
    r->producer = producers[0];
    HONE_TRY(find_producer_store(sch, r));
    r->buffer = sch_node(sch, r->producer_store)->u.store.buffer;
    HONE_TRY(sch_require_declared(sch, r->buffer));
    if (sch_is_output_block(sch, r->producer)) {
        return sch_refuse(sch, r->producer, "%s writes an output of the function",
                          sch_block_name(sch, r->producer));
    }
    HONE_TRY(sch_consumers(sch, r->producer, &consumer_count, &consumers));
    if (consumer_count != 1) {
        return sch_refuse(sch, r->producer, "%s has %u consumers, must have one",
                          sch_block_name(sch, r->producer), consumer_count);
    }
    if (hone_has_opaque_access(sch->func, 0, r->buffer)) {
        return sch_refuse(sch, r->producer, "buffer '%s' is also used by its address or as a view",
                          sch_buffer_name(sch, r->buffer));
    }
    return HONE_OK;
}

/* Sets r->longer so that the load meets each element of a box just once. */
static bool find_box(hone_schedule *sch, reverse *r, hone_itermap *out_map) {
    return hone_itermap_detect_lengthened(&sch->arith, hone_func_buffer(sch->func, r->buffer)->rank,
                                          r->load->args, sch_block(sch, r->block)->axis_count,
                                          r->iters, &r->longer, out_map);
}

static hone_status check_load(hone_schedule *sch, reverse *r) {
    uint32_t rank = hone_func_buffer(sch->func, r->buffer)->rank;
    r->box = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *r->box);
    if (!r->box) return sch_no_memory();
    hone_itermap map;
    if (!find_box(sch, r, &map)) {
        HONE_TRY(sch_ir_error(sch));
        return sch_refuse(sch, r->block, "%s does not read each element of a box of '%s' just once",
                          sch_block_name(sch, r->block), sch_buffer_name(sch, r->buffer));
    }
    for (uint32_t d = 0; d < rank; d++) {
        const hone_iter_sum *sum = &map.sums[d];
        hone_dtype dtype = r->load->args[d]->dtype;
        const hone_expr *shape = hone_func_buffer(sch->func, r->buffer)->shape[d];
        r->box[d].min = sum->base;
        r->box[d].extent = hone_expr_int(&sch->ir, dtype, 1);
        if (sum->count) {
            r->box[d].extent =
                hone_expr_mul(&sch->ir, hone_expr_cast(&sch->ir, dtype, sum->splits[0].scale),
                              hone_expr_cast(&sch->ir, dtype, sum->splits[0].extent));
            r->box[d].extent = hone_simplify(&sch->arith, r->box[d].extent);
        }
        HONE_TRY(sch_ir_error(sch));
        if (hone_prove_part(&sch->arith, r->box[d], shape)) continue;
        return sch_refuse(sch, r->block, "%s has instances that read outside dimension %u of '%s'",
                          sch_block_name(sch, r->block), d, sch_buffer_name(sch, r->buffer));
    }
    return sch_ir_error(sch);
}

static hone_status check_reverse(hone_schedule *sch, hone_node_id block, reverse *r) {
    *r = (reverse){.block = block};
    HONE_TRY(sch_check_movable_store(sch, block, &r->store));
    HONE_TRY(check_instances(sch, r));
    HONE_TRY(check_producer(sch, r));
    hone_node *store = sch_node(sch, r->store);
    hone_expr_walk(store->u.store.value, find_load, r);
    for (uint32_t d = 0; d < store->u.store.rank; d++) {
        hone_expr_walk(store->u.store.indices[d], find_load, r);
    }
    if (!r->load || r->has_other_load) {
        return sch_refuse(sch, block, "%s reads '%s' at more than one place",
                          sch_block_name(sch, block), sch_buffer_name(sch, r->buffer));
    }
    return check_load(sch, r);
}

typedef struct replacer {
    hone_buffer buffer;
    const hone_expr *value;
} replacer;

static const hone_expr *replace_load(void *ctx, hone_ir *ir, const hone_expr *e) {
    (void)ir;
    const replacer *r = ctx;
    return e->kind == HONE_EXPR_LOAD && e->u.buffer == r->buffer ? r->value : e;
}

/* An expression of the consumer, in terms of the producer's axes and value. */
static const hone_expr *carry_over(hone_schedule *sch, const reverse *r, const hone_expr *e,
                                   const hone_expr *const *values, bool is_index) {
    replacer ctx = {r->buffer, sch_node(sch, r->producer_store)->u.store.value};
    /* axes first: the producer's value must not be touched by the substitution */
    const hone_expr *moved = sch_put_in(sch, e, values, sch->func->var_count, is_index);
    return moved ? hone_expr_transform(&sch->ir, moved, replace_load, &ctx) : NULL;
}

static bool writes_parameter(const hone_schedule *sch, hone_node_id block) {
    for (uint32_t p = 0; p < sch->func->param_count; p++) {
        hone_buffer buffer = sch->func->params[p].buffer;
        if (buffer != HONE_NO_ID && sch_writes(sch_block(sch, block), buffer)) return true;
    }
    return false;
}

typedef struct guards {
    hone_node producer;    /* a copy */
    const hone_expr **map; /* its axes as their bindings */
    const hone_expr **items;
    uint32_t count;
} guards;

/* A condition on loops holds wherever the producer runs, under the guards that it has so far. */
static bool holds_already(hone_schedule *sch, const guards *g, const hone_expr *condition) {
    const hone_expr *predicate = g->producer.u.block.predicate;
    uint32_t mark = sch->arith.fact_count;
    if (predicate) hone_arith_push(&sch->arith, predicate);
    for (uint32_t i = 0; i < g->count; i++)
        hone_arith_push(&sch->arith, g->items[i]);
    bool holds = hone_prove(&sch->arith, condition);
    hone_arith_pop(&sch->arith, mark);
    return holds;
}

/* Is it about loops inside of the producer? A predicate stands outside of them. */
static bool is_about_inner_loops(const hone_schedule *sch, const reverse *r, const hone_expr *e) {
    for (hone_node_id n = sch_node(sch, r->producer_store)->parent; n != r->producer;
         n = sch_node(sch, n)->parent) {
        if (hone_expr_uses_var(e, sch_node(sch, n)->u.loop.var)) return true;
    }
    return false;
}

/* A value over the axes of the producer must be in a range, if it is not always. */
static hone_status note_guards(hone_schedule *sch, const reverse *r, guards *g,
                               const hone_expr *value, const hone_range *range) {
    const hone_expr *end = hone_expr_add(&sch->ir, range->min, range->extent);
    const hone_expr *sides[] = {
        hone_expr_binary(&sch->ir, HONE_OP_LE, range->min, value),
        hone_expr_binary(&sch->ir, HONE_OP_LT, value, hone_simplify(&sch->arith, end)),
    };
    HONE_TRY(sch_ir_error(sch));
    for (int i = 0; i < 2; i++) {
        const hone_expr *guard =
            hone_expr_substitute(&sch->ir, sides[i], g->map, sch->func->var_count);
        if (!guard) return sch_ir_error(sch);
        if (hone_prove(&sch->arith, sides[i]) || holds_already(sch, g, guard)) continue;
        if (!sch_is_fixed(sch, range->min) || !sch_is_fixed(sch, range->extent)) {
            return sch_refuse(sch, r->block, "%s reads a part of '%s' that changes around it",
                              sch_block_name(sch, r->block), sch_buffer_name(sch, r->buffer));
        }
        if (is_about_inner_loops(sch, r, guard)) {
            return sch_refuse(sch, r->producer,
                              "the body of %s is not a single store, and %s reads a part of what "
                              "its loops make",
                              sch_block_name(sch, r->producer), sch_block_name(sch, r->block));
        }
        g->items[g->count++] = guard;
    }
    return HONE_OK;
}

/* The producer runs only where the consumer would read what it makes: where the axes of the
 * consumer have values that they take, and inside of the box. */
static hone_status guard_producer(hone_schedule *sch, const reverse *r, uint32_t rank,
                                  const hone_expr *const *indices, const hone_expr *const *values) {
    const hone_block *consumer = sch_block(sch, r->block);
    guards g = {.producer = *sch_node(sch, r->producer)};
    const hone_block *block = g.producer.u.block.block;
    g.map = hone_arena_zalloc(sch->arena, (sch->func->var_count + 1) * sizeof *g.map);
    g.items = hone_arena_alloc(sch->arena, 2 * (rank + consumer->axis_count + 1) * sizeof *g.items);
    if (!g.map || !g.items) return sch_no_memory();
    for (uint32_t a = 0; a < block->axis_count; a++)
        g.map[block->axes[a].var] = g.producer.u.block.bindings[a];
    for (uint32_t a = 0; r->longer != r->iters && a < consumer->axis_count; a++)
        HONE_TRY(note_guards(sch, r, &g, values[r->iters[a].var], &r->iters[a].range));
    for (uint32_t d = 0; d < rank; d++)
        HONE_TRY(note_guards(sch, r, &g, indices[d], &r->box[d]));
    for (uint32_t i = 0; i < g.count; i++) { /* now that nothing is refused any more */
        const hone_expr *guard = hone_simplify(&sch->arith, g.items[i]);
        const hone_expr **predicate = &sch_node(sch, r->producer)->u.block.predicate;
        if (!guard) return sch_ir_error(sch);
        *predicate = sch_without_implied(sch, *predicate, guard);
        HONE_TRY(sch_add_predicate(sch, r->producer, guard));
    }
    return sch_ir_error(sch);
}

static bool is_enough(const hone_schedule *sch, hone_node_id block, const hone_axis *axis,
                      const hone_range *taken) {
    int64_t lo = taken->min->u.i, hi = lo + taken->extent->u.i - 1;
    return hone_axis_reaches_all_outputs(sch->func, block, axis, lo, hi);
}

/* An output must be written by all values of the axes that move it; where those that are left out
 * would write outside of it, the axes stay. */
static hone_status shrink_axes(hone_schedule *sch, hone_node_id id) {
    hone_block *block = hone_block_copy(sch->arena, sch_block(sch, id));
    hone_iter *iters = NULL;
    bool is_shorter = false;
    if (!block) return sch_no_memory();
    hone_axis *axes = hone_arena_alloc(sch->arena, (block->axis_count + 1) * sizeof *axes);
    if (!axes) return sch_no_memory();
    const hone_expr *predicate = sch_node(sch, id)->u.block.predicate;
    uint32_t mark = sch->arith.fact_count;
    if (predicate) hone_arith_push(&sch->arith, predicate); /* it may bound more than one loop */
    hone_status st = sch_axes_box(sch, id, &iters, NULL);
    hone_arith_pop(&sch->arith, mark);
    HONE_TRY(st);
    for (uint32_t a = 0; a < block->axis_count; a++) {
        axes[a] = block->axes[a];
        int64_t extent = hone_expr_const(axes[a].dom.extent);
        const hone_range *range = &iters[a].range;
        bool is_part = hone_expr_is_int(range->min) && hone_expr_is_int(range->extent) &&
                       range->extent->u.i > 0 && range->extent->u.i < extent;
        if (!is_part || is_enough(sch, id, &axes[a], range)) continue;
        axes[a].dom = *range;
        is_shorter = true;
        if (!hone_arith_bind(&sch->arith, axes[a].var, *range)) return sch_no_memory();
    }
    if (!is_shorter) return HONE_OK;
    block->axes = axes;
    sch_node(sch, id)->u.block.block = block;
    sch_forget_facts(sch, id);
    return HONE_OK;
}

/* The consumer's instances come to run in the producer's loops. */
static hone_status check_order(hone_schedule *sch, const reverse *r,
                               const hone_expr *const *values) {
    const hone_node *producer = sch_node(sch, r->producer), *consumer = sch_node(sch, r->block);
    const hone_block *made = producer->u.block.block, *used = consumer->u.block.block;
    const hone_expr **map = hone_arena_zalloc(sch->arena, (sch->func->var_count + 1) * sizeof *map);
    const hone_expr **then = hone_arena_alloc(sch->arena, (used->axis_count + 1) * sizeof *then);
    if (!map || !then) return sch_no_memory();
    for (uint32_t a = 0; a < made->axis_count; a++)
        map[made->axes[a].var] = producer->u.block.bindings[a];
    for (uint32_t a = 0; a < used->axis_count; a++) {
        then[a] =
            hone_expr_substitute(&sch->ir, values[used->axes[a].var], map, sch->func->var_count);
        if (!then[a]) return sch_ir_error(sch);
    }
    return sch_require_order(sch, r->block, then, (sch_loop_chain){producer->parent, HONE_NO_ID});
}

static void put_store(hone_schedule *sch, hone_node_id id, const hone_node *consumer,
                      const hone_expr *const *indices, const hone_expr *value) {
    hone_node *store = sch_node(sch, id);
    store->u.store.buffer = consumer->u.store.buffer;
    store->u.store.rank = consumer->u.store.rank;
    store->u.store.indices = indices;
    store->u.store.value = value;
}

static hone_status do_reverse(hone_schedule *sch, const reverse *r) {
    const hone_node producer = *sch_node(sch, r->producer_store);
    const hone_node consumer = *sch_node(sch, r->store);
    const hone_expr **values = NULL;
    HONE_TRY(sch_invert_indices(sch, r->block, r->longer, producer.u.store.rank, r->load->args,
                                producer.u.store.indices, &values));
    bool is_in_loops = producer.parent != r->producer;
    if (!is_in_loops) HONE_TRY(check_order(sch, r, values));
    HONE_TRY(sch_require_leavable(sch, r->block, r->producer));
    HONE_TRY(sch_require_small_inline(sch, r->block, producer.u.store.value, r->buffer, r->block));
    if (is_in_loops && !sch_has_disjoint_writes(sch, r->block)) {
        return sch_refuse(sch, r->block,
                          "the body of %s is not a single store, and different values of the axes "
                          "of %s may write the same element",
                          sch_block_name(sch, r->producer), sch_block_name(sch, r->block));
    }
    if (sch_is_in_concurrent_loop(sch, r->producer) && !sch_has_disjoint_writes(sch, r->block)) {
        return sch_refuse(sch, r->block,
                          "%s stands in a loop that runs its iterations at once, and different "
                          "values of the axes of %s may write the same element",
                          sch_block_name(sch, r->producer), sch_block_name(sch, r->block));
    }
    uint32_t rank = consumer.u.store.rank;
    const hone_expr **indices = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *indices);
    if (!indices) return sch_no_memory();
    const hone_expr *value = carry_over(sch, r, consumer.u.store.value, values, false);
    sch->arith.keeps_units = true; /* an axis of one value stays, where later steps find it */
    for (uint32_t d = 0; d < rank; d++) {
        const hone_expr *index = carry_over(sch, r, consumer.u.store.indices[d], values, true);
        indices[d] = hone_simplify(&sch->arith, index);
    }
    sch->arith.keeps_units = false;
    HONE_TRY(sch_ir_error(sch));
    HONE_TRY(guard_producer(sch, r, producer.u.store.rank, producer.u.store.indices, values));
    if (r->init_store != HONE_NO_ID) {
        const hone_expr *sum =
            hone_func_load(&sch->ir, sch->func, consumer.u.store.buffer, indices);
        replacer ctx = {r->buffer, sum};
        if (!sum) return sch_ir_error(sch);
        value = hone_expr_transform(&sch->ir, producer.u.store.value, replace_load, &ctx);
        if (!value) return sch_ir_error(sch);
        put_store(sch, r->init_store, &consumer, indices,
                  sch_node(sch, r->init_store)->u.store.value);
    }
    put_store(sch, r->producer_store, &consumer, indices, value);
    hone_node_id scope = sch_scope_of(sch, r->block);
    bool is_output = writes_parameter(sch, r->block);
    sch_remove_with_loops(sch, r->block);
    sch_forget_affine(sch, r->producer); /* it may have another predicate */
    HONE_TRY(sch_renew_regions(sch, r->producer));
    if (is_output) HONE_TRY(shrink_axes(sch, r->producer));
    return sch_drop_alloc(sch, scope, r->buffer);
}

hone_status sch_reverse_inline_block(hone_schedule *sch, hone_node_id block) {
    reverse r;
    HONE_TRY(check_reverse(sch, block, &r));
    return do_reverse(sch, &r);
}

hone_status hone_sch_reverse_compute_inline(hone_schedule *sch, hone_rv block_rv) {
    hone_node_id block;
    HONE_TRY(sch_resolve_block(sch, block_rv, &block));
    HONE_TRY(sch_reverse_inline_block(sch, block));
    return sch_record(sch, HONE_INST_REVERSE_COMPUTE_INLINE, SCH_ARGS(SCH_RV(block_rv)));
}

SCH_STEP(REVERSE_COMPUTE_INLINE, hone_sch_reverse_compute_inline(sch, a[0].rv),
         .gives = HONE_GIVES_NOTHING, .args = {SCH_ARG_BLOCK(0)});
