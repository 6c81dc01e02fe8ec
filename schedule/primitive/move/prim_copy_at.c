/* schedule/primitive/move/prim_copy_at.c - read_at: copies what a block reads into another scope,
 * once in each iteration of a loop around it, by one block that holds the loops of the copy.
 * write_at: the same for what it writes, behind.
 *
 *     for i0: for i1: with block C: … A[i0*4 + i1] …                read_at(i0, c, 0, "shared")
 *  →  for i0:
 *         with block A_shared: v0 = i0; attr auto_copy
 *             for ax0 in 4: A_shared[v0*4 + ax0] = A[v0*4 + ax0]
 *         for i1: with block C: … A_shared[i0*4 + i1] …
 *
 * Checks: the scope name is known; the buffer index exists, nobody takes the buffer's address or a
 * view; the loop is around the block; the box of one iteration has constant extents and lies in the
 * buffer (TVM copies what is behind its end). What is read into memory that threads share is the
 * box of all of them, and each copies it. read_at: blocks below the loop that write the buffer
 * stand before the copy, and all of the box was written before. write_at: the block is the only
 * writer, does not begin with what is there, surely writes all of the box, and the loops over which
 * it reduces run one iteration after the other: each of them copies what was summed up so far, the
 * last one all.
 */
#include "ir/core/fold.h"
#include "ir/region/region.h"
#include "schedule/primitive/move/move_domain.h"
#include "schedule/primitive/primitive_impl.h"

typedef struct copying {
    hone_schedule *sch;
    hone_node_id block, loop, scope;
    hone_buffer buffer, cache;
    bool is_write;
    uint32_t user_count; /* blocks below the loop that read the buffer, or the writer */
    hone_node_id *users;
    hone_node_id maker; /* read: the last block below the loop that writes the buffer, or none */
    hone_node_id
        anchor; /* the copy stands before (read) or behind (write) this child of the loop */
    uint32_t rank;
    hone_range *box; /* per dimension, extents constant */
    hone_node_id copy;
} copying;

/* ---- checks ---- */

static hone_status find_users(copying *c) {
    hone_schedule *sch = c->sch;
    const char *name = hone_func_buffer(sch->func, c->buffer)->name;
    bool has_init = hone_block_init_of(sch->func, c->block) != HONE_NO_ID;
    c->users = hone_arena_alloc(sch->arena, sch->func->node_count * sizeof *c->users);
    if (!c->users) return sch_no_memory();
    for (hone_node_id n = sch_next_block(sch, c->scope, c->scope); n != HONE_NO_ID;
         n = sch_next_block(sch, c->scope, n)) {
        const hone_block *other = sch_block(sch, n);
        bool is_below = hone_tree_is_ancestor(sch->func, c->loop, n);
        if (sch_writes(other, c->buffer) && n != c->block && (c->is_write || is_below)) {
            if (c->is_write || c->user_count || sch_reads(other, c->buffer)) {
                return sch_refuse(sch, n, "%s also writes '%s'", sch_block_name(sch, n), name);
            }
            c->maker = n;
        }
        bool reads = sch_reads(other, c->buffer) &&
                     (n != c->block || !has_init || sch_accumulates(sch, n, c->buffer));
        if (c->is_write && reads && is_below) {
            return sch_refuse(sch, n, "%s, below %s, reads '%s'", sch_block_name(sch, n),
                              sch_loop_name(sch, c->loop), name);
        }
        if (!is_below || (c->is_write ? n != c->block : !sch_reads(other, c->buffer))) continue;
        if (!sch_is_below_loops_only(sch, n)) {
            return sch_refuse(sch, n, "something other than loops of known bounds stands around %s",
                              sch_block_name(sch, n));
        }
        c->users[c->user_count++] = n;
    }
    if (c->is_write || !sch_writes(sch_block(sch, c->block), c->buffer)) return HONE_OK;
    return sch_refuse(sch, c->block, "%s also writes '%s'", sch_block_name(sch, c->block), name);
}

static hone_status check_writer(copying *c) {
    hone_schedule *sch = c->sch;
    const hone_node *node = sch_node(sch, c->block);
    const char *why = NULL;
    if (sch_classify(sch, c->block, c->scope, &why) == SCH_BLOCK_OTHER) {
        return sch_refuse(sch, c->block, "%s is neither complete nor a reduction: %s",
                          sch_block_name(sch, c->block), why);
    }
    for (hone_node_id n = c->loop; n != c->scope; n = sch_node(sch, n)->parent) {
        hone_loop_kind kind = sch_node(sch, n)->loop_kind;
        if (kind == HONE_LOOP_SERIAL || kind == HONE_LOOP_UNROLLED) continue;
        for (uint32_t a = 0; a < node->u.block.block->axis_count; a++) {
            if (node->u.block.block->axes[a].kind == HONE_AXIS_SPATIAL) continue;
            if (!hone_expr_uses_var(node->u.block.bindings[a], sch_node(sch, n)->u.loop.var)) {
                continue;
            }
            return sch_refuse(sch, n, "%s reduces over %s, which runs its iterations at once",
                              sch_block_name(sch, c->block), sch_loop_name(sch, n));
        }
    }
    return HONE_OK;
}

/* The box that one iteration touches (of all threads that share a cache of what is read: each of
 * them copies all of it), as ranges of constant extent that lie in the buffer. */
static hone_status find_box(copying *c, const char *storage_scope) {
    hone_schedule *sch = c->sch;
    const hone_buffer_info *buffer = hone_func_buffer(sch->func, c->buffer);
    sch_box box;
    bool is_exact = false;
    sch->arith.keeps_units = true; /* loops of one iteration are axes, too */
    hone_status st = sch_box_shared(sch, c->loop, c->user_count, c->users, c->buffer, c->is_write,
                                    c->is_write ? NULL : storage_scope, &box, &is_exact);
    sch->arith.keeps_units = false;
    HONE_TRY(st);
    if (c->is_write && !is_exact) {
        return sch_refuse(sch, c->block,
                          "%s does not surely write all of the box of '%s' that it "
                          "touches",
                          sch_block_name(sch, c->block), buffer->name);
    }
    c->box = hone_arena_alloc(sch->arena, (c->rank + 1) * sizeof *c->box);
    if (!c->box) return sch_no_memory();
    for (uint32_t d = 0; d < c->rank; d++) {
        hone_dtype dtype = buffer->shape[d]->dtype;
        const hone_expr *zero = hone_expr_int(&sch->ir, dtype, 0), *end = NULL;
        sch->arith.keeps_units = true;
        bool is_known = hone_interval_range(&sch->arith, box.dims[d], dtype, &c->box[d]);
        sch->arith.keeps_units = false;
        if (is_known) c->box[d].extent = hone_simplify(&sch->arith, c->box[d].extent);
        is_known = is_known && c->box[d].extent && hone_expr_is_int(c->box[d].extent);
        if (is_known) end = hone_expr_add(&sch->ir, c->box[d].min, c->box[d].extent);
        if (is_known && hone_prove_less_equal(&sch->arith, zero, c->box[d].min) &&
            hone_prove_less_equal(&sch->arith, end, buffer->shape[d])) {
            continue;
        }
        return sch_refuse(
            sch, c->block,
            "dimension %u of what an iteration of %s touches of '%s' is no box of one "
            "size inside the buffer",
            d, sch_loop_name(sch, c->loop), buffer->name);
    }
    return sch_ir_error(sch);
}

/* ---- the copy ---- */

/* By how much the beginning of the box grows in each step of an axis: the greatest number that
 * divides it. */
static int64_t stride_of(copying *c, const hone_expr *low) {
    hone_linear linear;
    int64_t stride = 0;
    if (!hone_linear_of(&c->sch->arith, low, &linear)) return 1;
    stride = linear.constant;
    for (uint32_t i = 0; i < linear.count; i++)
        stride = hone_gcd(stride, linear.terms[i].coeff);
    return stride ? hone_gcd(stride, 0) : 1;
}

/* Loops in the order in which the places of the box name them first. */
typedef struct loop_list {
    const copying *c;
    uint32_t count;
    hone_node_id *loops;
} loop_list;

static bool note_loop(void *ctx, const hone_expr *e) {
    loop_list *list = ctx;
    const hone_schedule *sch = list->c->sch;
    if (e->kind != HONE_EXPR_VAR) return true;
    for (uint32_t i = 0; i < list->count; i++) {
        if (sch_node(sch, list->loops[i])->u.loop.var == e->u.var) return true;
    }
    for (hone_node_id n = list->c->loop; n != list->c->scope; n = sch_node(sch, n)->parent) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind != HONE_NODE_FOR || node->u.loop.var != e->u.var) continue;
        list->loops[list->count++] = n;
    }
    return true;
}

static bool lies_inside(copying *c, const hone_expr *const *lows) {
    hone_schedule *sch = c->sch;
    for (uint32_t d = 0; d < c->rank; d++) {
        const hone_expr *zero = hone_expr_int(&sch->ir, lows[d]->dtype, 0);
        const hone_expr *end = hone_expr_add(&sch->ir, lows[d], c->box[d].extent);
        if (!zero || !end || !hone_prove_less_equal(&sch->arith, zero, lows[d]) ||
            !hone_prove_less_equal(&sch->arith, end,
                                   hone_func_buffer(sch->func, c->buffer)->shape[d])) {
            return false;
        }
    }
    return true;
}

/* An axis for each loop that moves the box, as in TVM; out_fits: the box lies in the buffer for all
 * their values (a predicate may be all that keeps it there). */
static hone_status make_loop_axes(copying *c, hone_block *block, const hone_expr **bindings,
                                  const hone_expr **lows, bool *out_fits) {
    hone_schedule *sch = c->sch;
    uint32_t var_count = sch->func->var_count;
    loop_list list = {c, 0, hone_arena_alloc(sch->arena, sch->func->node_count * sizeof(uint32_t))};
    const hone_expr **map = hone_arena_zalloc(sch->arena, (var_count + 1) * sizeof *map);
    if (!list.loops || !map) return sch_no_memory();
    for (uint32_t d = 0; d < c->rank; d++)
        hone_expr_walk(c->box[d].min, note_loop, &list);
    hone_axis *axes = hone_arena_alloc(sch->arena, (list.count + 1) * sizeof *axes);
    if (!axes) return sch_no_memory();
    *out_fits = true;
    for (uint32_t i = 0; i < list.count; i++) {
        const hone_node node = *sch_node(sch, list.loops[i]);
        hone_range dom = node.u.loop.range;
        *out_fits = *out_fits && hone_expr_is_int(dom.min) && hone_expr_is_int(dom.extent);
        hone_var var = hone_func_add_named_var(sch->func, sch_name(sch, "v", "", i),
                                               sch->func->vars[node.u.loop.var].dtype);
        if (var == HONE_NO_ID || !hone_arith_bind(&sch->arith, var, dom)) return sch_no_memory();
        axes[i] = (hone_axis){var, HONE_AXIS_SPATIAL, dom};
        bindings[i] = sch_var(sch, node.u.loop.var);
        map[node.u.loop.var] = sch_var(sch, var);
    }
    for (uint32_t d = 0; d < c->rank; d++)
        lows[d] = hone_expr_substitute(&sch->ir, c->box[d].min, map, var_count);
    HONE_TRY(sch_ir_error(sch));
    *out_fits = *out_fits && lies_inside(c, lows);
    block->axes = axes;
    block->axis_count = list.count;
    return HONE_OK;
}

static bool has_min(const hone_expr *e) {
    if (hone_expr_is_op(e, HONE_OP_MIN)) return true;
    for (uint32_t i = 0; i < e->count; i++) {
        if (has_min(e->args[i])) return true;
    }
    return false;
}

/* 1 + the largest value of a binding, or NULL: min(i, n - 1) with i in 2 goes up to 1, but n may be
 * 1, too; an index without such an end takes all of its values. */
static const hone_expr *end_of_binding(copying *c, const hone_expr *binding,
                                       const hone_expr *whole) {
    hone_schedule *sch = c->sch;
    hone_dtype dtype = binding->dtype;
    hone_bound bound = hone_arith_bound(&sch->arith, binding);
    if (bound.min < 0 || bound.max >= hone_dtype_max_int(dtype)) return NULL;
    const hone_expr *end = hone_expr_int(&sch->ir, dtype, bound.max + 1);
    if (!end || hone_expr_is_int(whole) || !has_min(binding)) return end;
    return hone_prove_less_equal(&sch->arith, end, whole) ? end : NULL;
}

/* An axis for each dimension whose box moves; out_low: where the box begins, by that axis. */
static hone_status make_axes(copying *c, hone_block *block, const hone_expr **bindings,
                             const hone_expr **lows) {
    hone_schedule *sch = c->sch;
    hone_axis *axes = hone_arena_alloc(sch->arena, (c->rank + 1) * sizeof *axes);
    if (!axes) return sch_no_memory();
    block->axis_count = 0;
    for (uint32_t d = 0; d < c->rank; d++) {
        lows[d] = c->box[d].min;
        if (hone_expr_is_int(lows[d])) continue;
        hone_dtype dtype = lows[d]->dtype;
        int64_t stride = stride_of(c, lows[d]);
        const hone_expr *step = hone_expr_int(&sch->ir, dtype, stride);
        const hone_expr *binding = hone_expr_floordiv(&sch->ir, lows[d], step);
        sch->arith.keeps_units = true;
        binding = hone_simplify(&sch->arith, binding);
        sch->arith.keeps_units = false;
        if (!binding) return sch_ir_error(sch);
        const hone_expr *whole = hone_func_buffer(sch->func, c->buffer)->shape[d];
        const hone_expr *count = end_of_binding(c, binding, whole);
        if (!count) count = whole;
        hone_range dom = {hone_expr_int(&sch->ir, dtype, 0), count};
        hone_var var =
            hone_func_add_named_var(sch->func, sch_name(sch, "v", "", block->axis_count), dtype);
        if (var == HONE_NO_ID || !dom.min || !hone_arith_bind(&sch->arith, var, dom)) {
            return sch_no_memory();
        }
        axes[block->axis_count] = (hone_axis){var, HONE_AXIS_SPATIAL, dom};
        bindings[block->axis_count++] = binding;
        const hone_expr *axis = sch_var(sch, var);
        lows[d] = stride == 1 ? axis : hone_expr_mul(&sch->ir, axis, step);
    }
    block->axes = axes;
    return sch_ir_error(sch);
}

/* The loops of the copy count in int32, as in TVM, whatever indices the buffer has. */
static const hone_expr *loop_extent(copying *c, uint32_t dim) {
    const hone_expr *extent = c->box[dim].extent;
    if (extent->u.i > INT32_MAX) return extent;
    return hone_expr_int(&c->sch->ir, HONE_DTYPE_I32, extent->u.i);
}

static hone_status make_body(copying *c, const hone_expr *const *lows) {
    hone_schedule *sch = c->sch;
    hone_node_id at = c->copy;
    const hone_expr **indices = hone_arena_alloc(sch->arena, (c->rank + 1) * sizeof *indices);
    if (!indices) return sch_no_memory();
    for (uint32_t d = 0; d < c->rank; d++) {
        const hone_expr *extent = loop_extent(c, d);
        if (!extent) return sch_ir_error(sch);
        hone_node_id loop = sch_make_loop(sch, sch_name(sch, "ax", "", d), extent->dtype, extent);
        if (loop == HONE_NO_ID) return sch_no_memory();
        hone_tree_append(sch->func, at, loop);
        at = loop;
        const hone_expr *var = sch_var(sch, sch_node(sch, loop)->u.loop.var);
        if (!hone_dtype_equal(extent->dtype, lows[d]->dtype)) {
            var = hone_expr_cast(&sch->ir, lows[d]->dtype, var);
        }
        indices[d] =
            hone_expr_is_int_value(lows[d], 0) ? var : hone_expr_add(&sch->ir, lows[d], var);
    }
    hone_buffer from = c->is_write ? c->cache : c->buffer, to = c->is_write ? c->buffer : c->cache;
    hone_node_id store = hone_func_add_node(sch->func, HONE_NODE_STORE);
    const hone_expr *value = hone_func_load(&sch->ir, sch->func, from, indices);
    HONE_TRY(sch_ir_error(sch));
    if (store == HONE_NO_ID) return sch_no_memory();
    sch_node(sch, store)->u.store.buffer = to;
    sch_node(sch, store)->u.store.rank = c->rank;
    sch_node(sch, store)->u.store.indices = indices;
    sch_node(sch, store)->u.store.value = value;
    hone_tree_append(sch->func, at, store);
    return sch_update_regions(sch, c->copy);
}

static hone_status make_copy(copying *c) {
    hone_schedule *sch = c->sch;
    hone_block *block = hone_arena_zalloc(sch->arena, sizeof *block);
    uint32_t room = c->rank + sch->func->node_count + 1;
    const hone_expr **bindings = hone_arena_alloc(sch->arena, room * sizeof *bindings);
    const hone_expr **lows = hone_arena_alloc(sch->arena, (c->rank + 1) * sizeof *lows);
    bool fits = false;
    if (!block || !bindings || !lows) return sch_no_memory();
    block->name = hone_func_buffer(sch->func, c->cache)->name;
    HONE_TRY(make_loop_axes(c, block, bindings, lows, &fits));
    if (!fits) HONE_TRY(make_axes(c, block, bindings, lows));
    if (!hone_attrs_with(sch->arena, &block->annotations, "auto_copy", HONE_VALUE_OF_BOOL(true),
                         &block->annotations)) {
        return sch_no_memory();
    }
    c->copy = hone_func_add_node(sch->func, HONE_NODE_BLOCK);
    if (c->copy == HONE_NO_ID) return sch_no_memory();
    sch_node(sch, c->copy)->u.block.block = block;
    sch_node(sch, c->copy)->u.block.bindings = bindings;
    return make_body(c, lows);
}

/* Makes the block around say what is read in it now, where all of that is there for it. */
static hone_status declare_reads(copying *c, const hone_region *actual, bool *out) {
    hone_schedule *sch = c->sch;
    const hone_block *old = sch_block(sch, c->scope);
    const hone_region *declared = hone_region_of(old->read_count, old->reads, c->buffer), *beyond;
    const char *why = NULL;
    *out = hone_region_covers(&sch->arith, sch->func, actual, declared);
    if (!*out) return HONE_OK;
    hone_block *block = hone_arena_copy(sch->arena, old, sizeof *old);
    hone_region *reads = hone_arena_copy(sch->arena, old->reads, old->read_count * sizeof *reads);
    if (!block || !reads) return sch_no_memory();
    reads[declared - old->reads] = *actual;
    block->reads = reads;
    sch_node(sch, c->scope)->u.block.block = block;
    hone_node_id around = sch_scope_of(sch, c->scope);
    HONE_TRY(sch_reads_beyond(sch, around, c->buffer, &beyond));
    *out = !beyond && sch_is_covered_read(sch, around, c->scope, actual, &why);
    if (!*out) sch_node(sch, c->scope)->u.block.block = old;
    return HONE_OK;
}

/* Does what is copied have its values in every iteration, and does the block around say that it
 * reads it? */
static hone_status is_always_there(copying *c, bool *out) {
    const hone_block *block = sch_block(c->sch, c->copy);
    const char *why = NULL;
    *out = !c->is_write && sch_is_covered_read(c->sch, c->scope, c->copy, &block->reads[0], &why);
    if (!*out) return HONE_OK;
    const hone_region *beyond;
    HONE_TRY(sch_reads_beyond(c->sch, c->scope, c->buffer, &beyond));
    return beyond ? declare_reads(c, beyond, out) : HONE_OK;
}

/* Iterations in which the block does not run copy nothing, but what could be copied in all of them,
 * as in TVM: readers then need not show that they run in the same iterations. */
static hone_status add_conditions(copying *c) {
    hone_schedule *sch = c->sch;
    bool is_there;
    HONE_TRY(is_always_there(c, &is_there));
    if (is_there) return HONE_OK;
    for (uint32_t i = 0; i < c->user_count; i++) {
        const hone_expr *outer = NULL;
        HONE_TRY(sch_outer_conditions(sch, c->users[i], c->loop, &outer));
        if (!outer) continue;
        if (c->user_count > 1) {
            return sch_refuse(sch, c->users[i], "a predicate of %s leaves out iterations of %s",
                              sch_block_name(sch, c->users[i]), sch_loop_name(sch, c->loop));
        }
        HONE_TRY(sch_add_predicate(sch, c->copy, outer));
    }
    return HONE_OK;
}

static hone_status rebuild(copying *c, const char *storage_scope) {
    hone_schedule *sch = c->sch;
    const hone_buffer_info old = *hone_func_buffer(sch->func, c->buffer);
    c->cache = sch_make_buffer(sch, sch_scoped_name(sch, old.name, storage_scope), old.dtype,
                               old.rank, old.shape, storage_scope);
    if (c->cache == HONE_NO_ID) return sch_no_memory();
    HONE_TRY(sch_add_alloc(sch, c->scope, c->cache));
    HONE_TRY(make_copy(c));
    for (uint32_t i = 0; i < c->user_count; i++) {
        HONE_TRY(sch_redirect_accesses(sch, c->users[i], c->buffer, c->cache, NULL, c->is_write));
        sch_forget_facts(sch, c->users[i]);
    }
    if (c->is_write) {
        hone_tree_insert_after(sch->func, c->anchor, c->copy);
    } else {
        hone_tree_insert_before(sch->func, c->anchor, c->copy);
    }
    HONE_TRY(add_conditions(c));
    return sch_require_pipeline(sch, c->scope);
}

static hone_status run(hone_schedule *sch, hone_inst_kind kind, hone_rv loop_rv, hone_rv block_rv,
                       int64_t index, const char *storage_scope, hone_rv *out_block) {
    copying c = {.sch = sch, .is_write = kind == HONE_INST_WRITE_AT, .maker = HONE_NO_ID};
    HONE_TRY(sch_resolve_loop(sch, loop_rv, &c.loop));
    HONE_TRY(sch_resolve_block(sch, block_rv, &c.block));
    c.scope = sch_scope_of(sch, c.block);
    if (c.scope != sch_scope_of(sch, c.loop) ||
        !hone_tree_is_ancestor(sch->func, c.loop, c.block)) {
        return sch_refuse(sch, c.loop, "%s is not around %s", sch_loop_name(sch, c.loop),
                          sch_block_name(sch, c.block));
    }
    HONE_TRY(sch_require_scope_name(sch, c.block, storage_scope));
    HONE_TRY(sch_nth_buffer(sch, c.block, c.is_write, index, &c.buffer));
    c.rank = hone_func_buffer(sch->func, c.buffer)->rank;
    HONE_TRY(sch_require_no_views(sch, c.block, c.buffer));
    HONE_TRY(sch_require_pipeline(sch, c.scope));
    HONE_TRY(find_users(&c));
    if (c.is_write) HONE_TRY(check_writer(&c));
    HONE_TRY(find_box(&c, storage_scope));
    if (!c.is_write && !sch_was_written_outside(sch, c.scope, &(hone_region){c.buffer, c.box})) {
        return sch_refuse(sch, c.block, "'%s' may hold no values yet in all of the box",
                          hone_func_buffer(sch->func, c.buffer)->name);
    }
    c.anchor = c.users[0];
    while (sch_node(sch, c.anchor)->parent != c.loop)
        c.anchor = sch_node(sch, c.anchor)->parent;
    if (c.maker != HONE_NO_ID && hone_tree_is_ancestor(sch->func, c.anchor, c.maker)) {
        return sch_refuse(
            sch, c.maker, "no place below %s is between %s, which writes '%s', and %s",
            sch_loop_name(sch, c.loop), sch_block_name(sch, c.maker),
            hone_func_buffer(sch->func, c.buffer)->name, sch_block_name(sch, c.users[0]));
    }
    const char *scope = hone_arena_strdup(sch->arena, storage_scope);
    hone_func *saved = NULL;
    if (!scope) return sch_no_memory();
    HONE_TRY(sch_begin_trial(sch, &saved));
    HONE_TRY(sch_end_trial(sch, saved, rebuild(&c, scope)));
    return sch_record_node(
        sch, kind, SCH_ARGS(SCH_RV(loop_rv), SCH_RV(block_rv), SCH_INT(index), SCH_TEXT(scope)),
        c.copy, out_block);
}

hone_status hone_sch_read_at(hone_schedule *sch, hone_rv loop, hone_rv block,
                             int64_t read_buffer_index, const char *storage_scope,
                             hone_rv *out_block) {
    return run(sch, HONE_INST_READ_AT, loop, block, read_buffer_index, storage_scope, out_block);
}

hone_status hone_sch_write_at(hone_schedule *sch, hone_rv loop, hone_rv block,
                              int64_t write_buffer_index, const char *storage_scope,
                              hone_rv *out_block) {
    return run(sch, HONE_INST_WRITE_AT, loop, block, write_buffer_index, storage_scope, out_block);
}

SCH_STEP(READ_AT, hone_sch_read_at(sch, a[0].rv, a[1].rv, a[2].number, a[3].text, NULL),
         .gives = HONE_GIVES_BLOCK,
         .args = {SCH_ARG_LOOP(0), SCH_ARG_BLOCK(1), SCH_ARG_READ_BUFFER("read_buffer_index"),
                  SCH_ARG_SCOPE(1)});

SCH_STEP(WRITE_AT, hone_sch_write_at(sch, a[0].rv, a[1].rv, a[2].number, a[3].text, NULL),
         .gives = HONE_GIVES_BLOCK,
         .args = {SCH_ARG_LOOP(0), SCH_ARG_BLOCK(1), SCH_ARG_WRITTEN_BUFFER("write_buffer_index"),
                  SCH_ARG_SCOPE(1)});
