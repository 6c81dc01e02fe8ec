/* schedule/primitive/buffers/prim_copy_at.c - read_at: copies what a block reads into another
 * scope, once in each iteration of a loop around it, by one block that holds the loops of the copy.
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
#include "schedule/primitive/buffers/staging.h"
#include "schedule/primitive/move/move_domain.h"
#include "schedule/primitive/primitive_impl.h"

typedef struct copying {
    sch_staging s;      /* users: the blocks below the loop that read the buffer, or the writer;
                           place: the loop */
    hone_node_id maker; /* read: the last block below the loop that writes the buffer, or none */
    hone_range *part;   /* what one iteration touches, per dimension; extents are constant */
} copying;

/* ---- checks ---- */

static hone_status find_users(copying *c) {
    hone_schedule *sch = c->s.sch;
    const char *name = sch_buffer_name(sch, c->s.buffer);
    bool has_init = hone_block_init_of(sch->func, c->s.block) != HONE_NO_ID;
    hone_node_id *users = hone_arena_alloc(sch->arena, sch->func->node_count * sizeof *users);
    if (!users) return sch_no_memory();
    c->s.users = users;
    SCH_EACH_BLOCK (sch, c->s.scope, n) {
        const hone_block *other = sch_block(sch, n);
        bool is_below = hone_tree_is_ancestor(sch->func, c->s.place, n);
        if (sch_writes(other, c->s.buffer) && n != c->s.block && (c->s.is_write || is_below)) {
            if (c->s.is_write || c->s.user_count || sch_reads(other, c->s.buffer)) {
                return sch_refuse(sch, n, "%s also writes '%s'", sch_block_name(sch, n), name);
            }
            c->maker = n;
        }
        bool reads = sch_reads(other, c->s.buffer) &&
                     (n != c->s.block || !has_init || sch_accumulates(sch, n, c->s.buffer));
        if (c->s.is_write && reads && is_below) {
            return sch_refuse(sch, n, "%s, below %s, reads '%s'", sch_block_name(sch, n),
                              sch_loop_name(sch, c->s.place), name);
        }
        if (!is_below || (c->s.is_write ? n != c->s.block : !sch_reads(other, c->s.buffer)))
            continue;
        if (!sch_is_below_loops_only(sch, n)) {
            return sch_refuse(sch, n, "something other than loops of known bounds stands around %s",
                              sch_block_name(sch, n));
        }
        users[c->s.user_count++] = n;
    }
    if (c->s.is_write || !sch_writes(sch_block(sch, c->s.block), c->s.buffer)) return HONE_OK;
    return sch_refuse(sch, c->s.block, "%s also writes '%s'", sch_block_name(sch, c->s.block),
                      name);
}

static hone_status check_writer(copying *c) {
    hone_schedule *sch = c->s.sch;
    const hone_node *node = sch_node(sch, c->s.block);
    HONE_TRY(sch_require_plain(sch, c->s.block, c->s.scope));
    for (hone_node_id n = c->s.place; n != c->s.scope; n = sch_node(sch, n)->parent) {
        hone_loop_kind kind = sch_node(sch, n)->loop_kind;
        if (kind == HONE_LOOP_SERIAL || kind == HONE_LOOP_UNROLLED) continue;
        for (uint32_t a = 0; a < node->u.block.block->axis_count; a++) {
            if (node->u.block.block->axes[a].kind == HONE_AXIS_SPATIAL) continue;
            if (!hone_expr_uses_var(node->u.block.bindings[a], sch_node(sch, n)->u.loop.var)) {
                continue;
            }
            return sch_refuse(sch, n, "%s reduces over %s, which runs its iterations at once",
                              sch_block_name(sch, c->s.block), sch_loop_name(sch, n));
        }
    }
    return HONE_OK;
}

/* The part, beginning at low in a dimension, lies in the buffer. */
static bool lies_in(copying *c, uint32_t d, const hone_expr *low) {
    return hone_prove_part(&c->s.sch->arith, (hone_range){low, c->part[d].extent},
                           hone_func_buffer(c->s.sch->func, c->s.buffer)->shape[d]);
}

/* The box that one iteration touches (of all threads that share a cache of what is read: each of
 * them copies all of it), as ranges of constant extent that lie in the buffer. */
static hone_status find_box(copying *c, const char *storage_scope) {
    hone_schedule *sch = c->s.sch;
    const hone_buffer_info *buffer = hone_func_buffer(sch->func, c->s.buffer);
    sch_box box;
    bool is_exact = false;
    sch->arith.keeps_units = true; /* loops of one iteration are axes, too */
    hone_status st =
        sch_box_shared(sch, c->s.place, c->s.user_count, c->s.users, c->s.buffer, c->s.is_write,
                       c->s.is_write ? NULL : storage_scope, &box, &is_exact);
    sch->arith.keeps_units = false;
    HONE_TRY(st);
    if (c->s.is_write && !is_exact) return sch_refuse_box(&c->s);
    c->part = hone_arena_alloc(sch->arena, (c->s.rank + 1) * sizeof *c->part);
    if (!c->part) return sch_no_memory();
    for (uint32_t d = 0; d < c->s.rank; d++) {
        hone_range *part = &c->part[d];
        sch->arith.keeps_units = true;
        bool is_known =
            hone_interval_range(&sch->arith, box.dims[d], buffer->shape[d]->dtype, part);
        sch->arith.keeps_units = false;
        if (is_known) part->extent = hone_simplify(&sch->arith, part->extent);
        is_known = is_known && part->extent && hone_expr_is_int(part->extent);
        if (is_known && lies_in(c, d, part->min)) continue;
        return sch_refuse(
            sch, c->s.block,
            "dimension %u of what an iteration of %s touches of '%s' is no box of one "
            "size inside the buffer",
            d, sch_loop_name(sch, c->s.place), buffer->name);
    }
    return sch_ir_error(sch);
}

/* ---- the copy ---- */

/* By how much the beginning of the box grows in each step of an axis: the greatest number that
 * divides it. */
static int64_t stride_of(copying *c, const hone_expr *low) {
    hone_linear linear;
    int64_t stride = 0;
    if (!hone_linear_of(&c->s.sch->arith, low, &linear)) return 1;
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
    const hone_schedule *sch = list->c->s.sch;
    if (e->kind != HONE_EXPR_VAR) return true;
    for (uint32_t i = 0; i < list->count; i++) {
        if (sch_node(sch, list->loops[i])->u.loop.var == e->u.var) return true;
    }
    for (hone_node_id n = list->c->s.place; n != list->c->s.scope; n = sch_node(sch, n)->parent) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind != HONE_NODE_FOR || node->u.loop.var != e->u.var) continue;
        list->loops[list->count++] = n;
    }
    return true;
}

/* An axis for each loop that moves the box, as in TVM; out_fits: the box lies in the buffer for all
 * their values (a predicate may be all that keeps it there). */
static hone_status make_loop_axes(copying *c, sch_draft *d, const hone_expr **lows,
                                  bool *out_fits) {
    hone_schedule *sch = c->s.sch;
    uint32_t var_count = sch->func->var_count;
    loop_list list = {c, 0, hone_arena_alloc(sch->arena, sch->func->node_count * sizeof(uint32_t))};
    const hone_expr **map = hone_arena_zalloc(sch->arena, (var_count + 1) * sizeof *map);
    if (!list.loops || !map) return sch_no_memory();
    for (uint32_t i = 0; i < c->s.rank; i++)
        hone_expr_walk(c->part[i].min, note_loop, &list);
    HONE_TRY(sch_begin_draft(sch, list.count, d));
    *out_fits = true;
    for (uint32_t i = 0; i < list.count; i++) {
        const hone_node node = *sch_node(sch, list.loops[i]);
        hone_range dom = node.u.loop.range;
        *out_fits = *out_fits && hone_expr_is_int(dom.min) && hone_expr_is_int(dom.extent);
        HONE_TRY(sch_draft_axis(sch, d, sch_name(sch, "v", "", i), HONE_AXIS_SPATIAL, dom,
                                sch_var(sch, node.u.loop.var)));
        map[node.u.loop.var] = d->vars[i];
    }
    for (uint32_t i = 0; i < c->s.rank; i++) {
        lows[i] = hone_expr_substitute(&sch->ir, c->part[i].min, map, var_count);
        *out_fits = *out_fits && lows[i] && lies_in(c, i, lows[i]);
    }
    return sch_ir_error(sch);
}

static bool is_min(const void *ctx, const hone_expr *e) {
    (void)ctx;
    return hone_expr_is_op(e, HONE_OP_MIN);
}

/* 1 + the largest value of a binding, or NULL: min(i, n - 1) with i in 2 goes up to 1, but n may be
 * 1, too; an index without such an end takes all of its values. */
static const hone_expr *end_of_binding(copying *c, const hone_expr *binding,
                                       const hone_expr *whole) {
    hone_schedule *sch = c->s.sch;
    hone_dtype dtype = binding->dtype;
    hone_bound bound = hone_arith_bound(&sch->arith, binding);
    if (bound.min < 0 || bound.max >= hone_dtype_max_int(dtype)) return NULL;
    const hone_expr *end = hone_expr_int(&sch->ir, dtype, bound.max + 1);
    if (!end || hone_expr_is_int(whole) || !hone_expr_find(binding, is_min, NULL)) return end;
    return hone_prove_less_equal(&sch->arith, end, whole) ? end : NULL;
}

/* An axis for each dimension whose box moves; out_low: where the box begins, by that axis. */
static hone_status make_axes(copying *c, sch_draft *draft, const hone_expr **lows) {
    hone_schedule *sch = c->s.sch;
    HONE_TRY(sch_begin_draft(sch, c->s.rank, draft));
    for (uint32_t d = 0; d < c->s.rank; d++) {
        lows[d] = c->part[d].min;
        if (hone_expr_is_int(lows[d])) continue;
        hone_dtype dtype = lows[d]->dtype;
        int64_t stride = stride_of(c, lows[d]);
        const hone_expr *step = hone_expr_int(&sch->ir, dtype, stride);
        const hone_expr *binding = hone_expr_floordiv(&sch->ir, lows[d], step);
        sch->arith.keeps_units = true;
        binding = hone_simplify(&sch->arith, binding);
        sch->arith.keeps_units = false;
        if (!binding) return sch_ir_error(sch);
        const hone_expr *whole = hone_func_buffer(sch->func, c->s.buffer)->shape[d];
        const hone_expr *count = end_of_binding(c, binding, whole);
        hone_range dom = {hone_expr_int(&sch->ir, dtype, 0), count ? count : whole};
        HONE_TRY(sch_draft_axis(sch, draft, sch_name(sch, "v", "", draft->count), HONE_AXIS_SPATIAL,
                                dom, binding));
        const hone_expr *axis = draft->vars[draft->count - 1];
        lows[d] = stride == 1 ? axis : hone_expr_mul(&sch->ir, axis, step);
    }
    return sch_ir_error(sch);
}

/* The loops of the copy count in int32, as in TVM, whatever indices the buffer has. */
static const hone_expr *loop_extent(copying *c, uint32_t dim) {
    const hone_expr *extent = c->part[dim].extent;
    if (extent->u.i > INT32_MAX) return extent;
    return hone_expr_int(&c->s.sch->ir, HONE_DTYPE_I32, extent->u.i);
}

static hone_status make_body(copying *c, const hone_expr *const *lows, hone_node_id *out) {
    hone_schedule *sch = c->s.sch;
    sch_nest nest = {.top = HONE_NO_ID, .bottom = HONE_NO_ID};
    const hone_expr **indices = hone_arena_alloc(sch->arena, (c->s.rank + 1) * sizeof *indices);
    if (!indices) return sch_no_memory();
    for (uint32_t d = 0; d < c->s.rank; d++) {
        const hone_expr *extent = loop_extent(c, d);
        if (!extent) return sch_ir_error(sch);
        hone_node_id loop = sch_make_loop(sch, sch_name(sch, "ax", "", d), extent->dtype, extent);
        HONE_TRY(sch_nest_add_loop(sch, &nest, loop));
        const hone_expr *var = sch_var(sch, sch_node(sch, loop)->u.loop.var);
        if (!hone_dtype_equal(extent->dtype, lows[d]->dtype)) {
            var = hone_expr_cast(&sch->ir, lows[d]->dtype, var);
        }
        indices[d] =
            hone_expr_is_int_value(lows[d], 0) ? var : hone_expr_add(&sch->ir, lows[d], var);
    }
    hone_node_id store = sch_make_copy_store(&c->s, indices, indices);
    if (store == HONE_NO_ID) return sch_no_memory();
    if (nest.bottom != HONE_NO_ID) hone_tree_append(sch->func, nest.bottom, store);
    *out = nest.top == HONE_NO_ID ? store : nest.top;
    return sch_ir_error(sch);
}

static hone_status make_copy(copying *c, sch_draft *out) {
    hone_schedule *sch = c->s.sch;
    const hone_expr **lows = hone_arena_alloc(sch->arena, (c->s.rank + 1) * sizeof *lows);
    hone_node_id body;
    bool fits = false;
    if (!lows) return sch_no_memory();
    HONE_TRY(make_loop_axes(c, out, lows, &fits));
    if (!fits) HONE_TRY(make_axes(c, out, lows));
    if (!hone_attrs_with(sch->arena, &out->annotations, "auto_copy", HONE_VALUE_OF_BOOL(true),
                         &out->annotations)) {
        return sch_no_memory();
    }
    HONE_TRY(make_body(c, lows, &body));
    const char *name = sch_buffer_name(sch, c->s.stage);
    return sch_draft_block(sch, out, name, body, &c->s.copy);
}

/* Makes the block around say what is read in it now, where all of that is there for it. */
static hone_status declare_reads(copying *c, const hone_region *actual, bool *out) {
    hone_schedule *sch = c->s.sch;
    const hone_block *old = sch_block(sch, c->s.scope);
    const hone_region *declared = hone_region_of(old->read_count, old->reads, c->s.buffer), *beyond;
    const char *why = NULL;
    *out = hone_region_covers(&sch->arith, sch->func, actual, declared);
    if (!*out) return HONE_OK;
    hone_block *block = hone_arena_copy(sch->arena, old, sizeof *old);
    hone_region *reads = hone_arena_copy(sch->arena, old->reads, old->read_count * sizeof *reads);
    if (!block || !reads) return sch_no_memory();
    reads[declared - old->reads] = *actual;
    block->reads = reads;
    sch_node(sch, c->s.scope)->u.block.block = block;
    hone_node_id around = sch_scope_of(sch, c->s.scope);
    HONE_TRY(sch_reads_beyond(sch, around, c->s.buffer, &beyond));
    *out = !beyond && sch_is_covered_read(sch, around, c->s.scope, actual, &why);
    if (!*out) sch_node(sch, c->s.scope)->u.block.block = old;
    return HONE_OK;
}

/* Does what is copied have its values in every iteration, and does the block around say that it
 * reads it? */
static hone_status is_always_there(copying *c, bool *out) {
    const hone_block *block = sch_block(c->s.sch, c->s.copy);
    const char *why = NULL;
    *out = !c->s.is_write &&
           sch_is_covered_read(c->s.sch, c->s.scope, c->s.copy, &block->reads[0], &why);
    if (!*out) return HONE_OK;
    const hone_region *beyond;
    HONE_TRY(sch_reads_beyond(c->s.sch, c->s.scope, c->s.buffer, &beyond));
    return beyond ? declare_reads(c, beyond, out) : HONE_OK;
}

/* Iterations in which the block does not run copy nothing, but what could be copied in all of them,
 * as in TVM: readers then need not show that they run in the same iterations. */
static hone_status add_conditions(copying *c) {
    const hone_expr *outer = NULL;
    bool is_there;
    HONE_TRY(is_always_there(c, &is_there));
    if (is_there) return HONE_OK;
    HONE_TRY(sch_conditions_of_copy(&c->s, c->s.user_count, c->s.users, &outer));
    return outer ? sch_add_predicate(c->s.sch, c->s.copy, outer) : HONE_OK;
}

static hone_status rebuild(copying *c, const char *storage_scope) {
    hone_schedule *sch = c->s.sch;
    sch_draft d;
    HONE_TRY(sch_make_stage_of_box(&c->s, storage_scope));
    HONE_TRY(make_copy(c, &d));
    HONE_TRY(sch_redirect_users(&c->s));
    for (uint32_t i = 0; i < c->s.user_count; i++)
        sch_forget_facts(sch, c->s.users[i]);
    sch_place_copy(&c->s, &d.nest);
    HONE_TRY(add_conditions(c));
    return sch_require_pipeline(sch, c->s.scope);
}

static hone_status run(hone_schedule *sch, hone_inst_kind kind, hone_rv loop_rv, hone_rv block_rv,
                       int64_t index, const char *storage_scope, hone_rv *out_block) {
    bool is_write = kind == HONE_INST_WRITE_AT;
    copying c = {
        .s = {.sch = sch, .is_write = is_write},
          .maker = HONE_NO_ID
    };
    HONE_TRY(sch_resolve_loop(sch, loop_rv, &c.s.place));
    HONE_TRY(sch_begin_staging(&c.s, block_rv, index, storage_scope));
    if (c.s.scope != sch_scope_of(sch, c.s.place) ||
        !hone_tree_is_ancestor(sch->func, c.s.place, c.s.block)) {
        return sch_refuse(sch, c.s.place, "%s is not around %s", sch_loop_name(sch, c.s.place),
                          sch_block_name(sch, c.s.block));
    }
    HONE_TRY(sch_require_no_views(sch, c.s.block, c.s.buffer));
    HONE_TRY(sch_require_pipeline(sch, c.s.scope));
    HONE_TRY(find_users(&c));
    if (c.s.is_write) HONE_TRY(check_writer(&c));
    HONE_TRY(find_box(&c, storage_scope));
    if (!c.s.is_write &&
        !sch_was_written_outside(sch, c.s.scope, &(hone_region){c.s.buffer, c.part})) {
        return sch_refuse(sch, c.s.block, "'%s' may hold no values yet in all of the box",
                          sch_buffer_name(sch, c.s.buffer));
    }
    c.s.anchor = sch_child_towards(sch, c.s.place, c.s.users[0]);
    if (c.maker != HONE_NO_ID && hone_tree_is_ancestor(sch->func, c.s.anchor, c.maker)) {
        return sch_refuse(sch, c.maker,
                          "no place below %s is between %s, which writes '%s', and %s",
                          sch_loop_name(sch, c.s.place), sch_block_name(sch, c.maker),
                          sch_buffer_name(sch, c.s.buffer), sch_block_name(sch, c.s.users[0]));
    }
    const char *scope = hone_arena_strdup(sch->arena, storage_scope);
    hone_func *saved = NULL;
    if (!scope) return sch_no_memory();
    HONE_TRY(sch_begin_trial(sch, &saved));
    HONE_TRY(sch_end_trial(sch, saved, rebuild(&c, scope)));
    return sch_record_node(
        sch, kind, SCH_ARGS(SCH_RV(loop_rv), SCH_RV(block_rv), SCH_INT(index), SCH_TEXT(scope)),
        c.s.copy, out_block);
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
