/* schedule/state/schedule.c - life of a schedule, random variables, and the recording of steps. */
#include "schedule/state/schedule_impl.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "ir/core/grow.h"
#include "ir/region/region.h"
#include "ir/text/print/script_print.h"
#include "ir/verify/verify.h"
#include "support/core/alloc.h"
#include "support/core/number.h"

enum { ARENA_BLOCK_BYTES = 256 * 1024, MESSAGE_BYTES = 1024 };

/* The program that schedules start from, with cached facts; shared by copies. */
struct hone_schedule_base {
    atomic_int references;
    hone_arena *arena;
    hone_func *func;
};

/* A variant of it. */
struct hone_schedule_other {
    struct hone_schedule_other *next;
    uint64_t key;
    struct hone_schedule_base *base;
};

static void base_release(struct hone_schedule_base *base) {
    if (!base || atomic_fetch_sub(&base->references, 1) != 1) return;
    if (base->arena) hone_arena_destroy(base->arena);
    hone_free(base);
}

static hone_status base_create(const hone_func *func, struct hone_schedule_base **out) {
    struct hone_schedule_base *base = hone_calloc(1, sizeof *base);
    *out = base;
    if (!base) return sch_no_memory();
    atomic_init(&base->references, 1);
    base->arena = hone_arena_create(ARENA_BLOCK_BYTES);
    if (base->arena) base->func = hone_func_copy_canonical(base->arena, func);
    if (!base->func) return sch_no_memory();
    for (uint32_t i = 0; i < base->func->node_count; i++)
        base->func->nodes[i].flags = 0;
    return HONE_OK;
}

/* Tells arith the range of every loop variable and block axis. */
static bool bind_ranges(hone_schedule *sch) {
    const hone_func *func = sch->func;
    if (!hone_arith_bind_sizes(&sch->arith, func)) return false;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_FOR) {
            if (!hone_arith_bind(&sch->arith, node->u.loop.var, node->u.loop.range)) return false;
        } else if (node->kind == HONE_NODE_BLOCK) {
            const hone_block *block = node->u.block.block;
            for (uint32_t i = 0; i < block->axis_count; i++) {
                if (!hone_arith_bind(&sch->arith, block->axes[i].var, block->axes[i].dom)) {
                    return false;
                }
            }
        }
    }
    return true;
}

static hone_status begin(hone_schedule *sch, const hone_func *func) {
    sch->func = hone_func_clone(sch->arena, func);
    hone_arith_init(&sch->arith, sch->arena);
    sch->blame = HONE_NO_ID;
    if (!sch->func || !bind_ranges(sch)) return sch_no_memory();
    sch->settled_count = sch->func->node_count;
    sch->has_forgotten = false;
    return HONE_OK;
}

static hone_status start(hone_schedule *sch) {
    hone_arena_reset(sch->arena);
    sch->ir = (hone_ir){.arena = sch->arena};
    hone_trace_init(&sch->trace, sch->arena);
    sch->rvs = NULL;
    sch->rv_capacity = 0;
    return begin(sch, sch->base->func);
}

static hone_status allocate(struct hone_schedule_base *base, hone_schedule **out_sch) {
    hone_schedule *sch = hone_calloc(1, sizeof *sch);
    *out_sch = sch;
    if (!sch) {
        base_release(base);
        return sch_no_memory();
    }
    sch->base = base;
    sch->wants_reasons = true;
    sch->rng = hone_rng_from_seed(0);
    sch->arena = hone_arena_create(ARENA_BLOCK_BYTES);
    return sch->arena ? HONE_OK : sch_no_memory();
}

static bool declares(hone_schedule *sch, uint32_t count, const hone_region *declared,
                     const hone_region *inferred) {
    for (uint32_t i = 0; i < count; i++) {
        if (hone_region_covers(&sch->arith, sch->func, &declared[i], inferred)) return true;
    }
    return false;
}

/* What was worked out about one block is of no use for the next one: without this, large programs
 * would take memory by the square of their size. */
static hone_status keep_small(hone_schedule *sch, size_t fresh_bytes) {
    return hone_arena_used(sch->arena) > 4 * fresh_bytes ? start(sch) : HONE_OK;
}

/* What the body shows, but no reads that the text does not name of what the same run has written:
 * to others the block is as if it did not read that. */
static hone_status infer_regions(hone_schedule *sch, hone_node_id id, hone_arena *arena,
                                 hone_block *out) {
    const hone_block *declared = sch_block(sch, id);
    HONE_TRY(hone_block_shown_regions(sch->base->func, id, arena, out));
    hone_region *reads = hone_arena_alloc(arena, (out->read_count + 1) * sizeof *reads);
    uint32_t count = 0;
    if (!reads) return sch_no_memory();
    for (uint32_t i = 0; i < out->read_count; i++) {
        hone_buffer buffer = out->reads[i].buffer;
        bool is_own = !sch_reads(declared, buffer) && sch_writes(declared, buffer) &&
                      sch_reads_after_write(sch, id, buffer);
        if (!is_own) reads[count++] = out->reads[i];
    }
    out->reads = reads;
    out->read_count = count;
    return HONE_OK;
}

/* What is declared, with the regions that the body shows instead of those that are too small, and
 * behind them those that are missing: indices of buffers stay what the text says. */
static hone_status mend_list(hone_schedule *sch, uint32_t found_count, const hone_region *found,
                             uint32_t *io_count, const hone_region **io_list) {
    uint32_t count = *io_count;
    hone_region *list =
        hone_arena_alloc(sch->base->arena, (count + found_count + 1) * sizeof *list);
    if (!list) return sch_no_memory();
    for (uint32_t i = 0; i < count; i++)
        list[i] = (*io_list)[i];
    for (uint32_t f = 0; f < found_count; f++) {
        uint32_t at = 0;
        if (declares(sch, *io_count, *io_list, &found[f])) continue;
        while (at < count && list[at].buffer != found[f].buffer)
            at++;
        if (at == count) count++;
        list[at] = found[f];
    }
    *io_count = count;
    *io_list = list;
    return HONE_OK;
}

/* Regions that a hand-edited text declares too small would make steps blind: they are taken from
 * the body instead. */
static hone_status mend_regions(hone_schedule *sch, hone_node_id id) {
    struct hone_schedule_base *base = sch->base;
    const hone_block *old = sch_block(sch, id);
    hone_block found = *old;
    HONE_TRY(infer_regions(sch, id, sch->arena, &found));
    bool is_stale = false;
    for (uint32_t i = 0; i < found.read_count; i++) {
        is_stale = is_stale || !declares(sch, old->read_count, old->reads, &found.reads[i]);
    }
    for (uint32_t i = 0; i < found.write_count; i++) {
        is_stale = is_stale || !declares(sch, old->write_count, old->writes, &found.writes[i]);
    }
    if (!is_stale) return HONE_OK;
    hone_block *fresh = hone_block_copy(base->arena, hone_func_node(base->func, id)->u.block.block);
    if (!fresh) return sch_no_memory();
    HONE_TRY(infer_regions(sch, id, base->arena, &found)); /* again, to stay */
    HONE_TRY(mend_list(sch, found.read_count, found.reads, &fresh->read_count, &fresh->reads));
    HONE_TRY(mend_list(sch, found.write_count, found.writes, &fresh->write_count, &fresh->writes));
    hone_func_node(base->func, id)->u.block.block = fresh;
    sch_node(sch, id)->u.block.block = fresh;
    return HONE_OK;
}

/* Inner blocks first: outer ones go by what those declare. */
static hone_status mend_all_regions(hone_schedule *sch) {
    const hone_func *func = sch->base->func;
    size_t fresh_bytes = hone_arena_used(sch->arena);
    hone_node_id *blocks = hone_arena_alloc(sch->base->arena, func->node_count * sizeof *blocks);
    uint32_t count = 0;
    if (!blocks) return sch_no_memory();
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_BLOCK && node->parent != 0) blocks[count++] = n;
    }
    while (count-- > 0) {
        HONE_TRY(mend_regions(sch, blocks[count]));
        HONE_TRY(keep_small(sch, fresh_bytes));
    }
    return HONE_OK;
}

/* Works out the facts that all later clones inherit. */
static hone_status cache_facts(hone_schedule *sch) {
    size_t fresh_bytes = hone_arena_used(sch->arena);
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(sch->func, 0, n)) {
        if (sch_node(sch, n)->kind != HONE_NODE_BLOCK) continue;
        sch_settle_block(sch, n);
        if (n != hone_func_root_block(sch->func)) sch_mark_open(sch, n);
        sch->base->func->nodes[n].flags = sch_node(sch, n)->flags;
        HONE_TRY(keep_small(sch, fresh_bytes));
    }
    return HONE_OK;
}

/* The first look at a large program takes much more memory than a replay. */
static hone_status start_small(hone_schedule *sch) {
    hone_arena_destroy(sch->arena);
    sch->arena = hone_arena_create(ARENA_BLOCK_BYTES);
    return sch->arena ? start(sch) : sch_no_memory();
}

hone_status hone_schedule_create(const hone_func *base, hone_schedule **out_sch) {
    assert(base && out_sch);
    *out_sch = NULL;
    if (hone_func_root_block(base) == HONE_NO_ID) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "function '%s' has no blocks, so it can't be scheduled", base->name);
    }
    HONE_TRY(hone_func_refuse_scalable(base));
    HONE_TRY(hone_check_func(base));
    struct hone_schedule_base *shared = NULL;
    hone_schedule *sch = NULL;
    hone_status st = base_create(base, &shared);
    if (st) {
        base_release(shared);
        return st;
    }
    HONE_TRY_GOTO(st, allocate(shared, &sch), fail);
    HONE_TRY_GOTO(st, start(sch), fail);
    HONE_TRY_GOTO(st, mend_all_regions(sch), fail);
    HONE_TRY_GOTO(st, start(sch), fail);
    HONE_TRY_GOTO(st, cache_facts(sch), fail);
    HONE_TRY_GOTO(st, start_small(sch), fail);
    *out_sch = sch;
    return HONE_OK;
fail:
    hone_schedule_destroy(sch);
    return st;
}

void hone_schedule_destroy(hone_schedule *sch) {
    if (!sch) return;
    if (sch->arena) {
        hone_status_free(hone_ir_finish(&sch->ir));
        hone_status_free(hone_ir_finish(&sch->arith.ir));
        hone_arena_destroy(sch->arena);
    }
    while (sch->others) {
        struct hone_schedule_other *next = sch->others->next;
        base_release(sch->others->base);
        hone_free(sch->others);
        sch->others = next;
    }
    base_release(sch->base);
    hone_free(sch);
}

hone_status hone_schedule_reset(hone_schedule *sch) {
    hone_status_free(hone_ir_finish(&sch->ir));
    hone_status_free(hone_ir_finish(&sch->arith.ir));
    return start(sch);
}

/* Trace and random variables are those of another schedule; so is what is known of its nodes. */
static hone_status take_steps(hone_schedule *sch, const hone_schedule *from) {
    uint32_t count = from->trace.rv_count;
    sch->rvs = hone_arena_alloc(sch->arena, (count + 1) * sizeof *sch->rvs);
    if (!sch->rvs || !hone_trace_copy(sch->arena, &from->trace, &sch->trace))
        return sch_no_memory();
    if (count) memcpy(sch->rvs, from->rvs, count * sizeof *sch->rvs);
    sch->rv_capacity = count;
    sch->settled_count = from->settled_count;
    sch->has_forgotten = from->has_forgotten;
    return HONE_OK;
}

hone_status hone_schedule_reset_to(hone_schedule *sch, const hone_schedule *at) {
    assert(sch != at);
    hone_status_free(hone_ir_finish(&sch->ir));
    hone_status_free(hone_ir_finish(&sch->arith.ir));
    hone_arena_reset(sch->arena);
    sch->ir = (hone_ir){.arena = sch->arena};
    HONE_TRY(begin(sch, at->func));
    return take_steps(sch, at);
}

static const struct hone_schedule_other *find_other(const hone_schedule *sch, uint64_t key) {
    const struct hone_schedule_other *other = sch->others;
    while (other && other->key != key)
        other = other->next;
    return other;
}

/* What hone_schedule_create works out of a program is wanted, not its schedule. */
static hone_status add_other(hone_schedule *sch, uint64_t key, const hone_func *func) {
    hone_schedule *made = NULL;
    struct hone_schedule_other *other = hone_calloc(1, sizeof *other);
    hone_status st = other ? hone_schedule_create(func, &made) : sch_no_memory();
    if (st) {
        hone_free(other);
        return st;
    }
    atomic_fetch_add(&made->base->references, 1);
    *other = (struct hone_schedule_other){sch->others, key, made->base};
    sch->others = other;
    hone_schedule_destroy(made);
    return HONE_OK;
}

static hone_status make_other(hone_schedule *sch, uint64_t key, sch_maker make, const void *ctx) {
    hone_func *func = NULL;
    hone_arena *arena = hone_arena_create(ARENA_BLOCK_BYTES);
    if (!arena) return sch_no_memory();
    hone_status st = make(ctx, sch->base->func, arena, &func);
    if (!st) st = add_other(sch, key, func);
    hone_arena_destroy(arena);
    return st;
}

hone_status sch_begin_with(hone_schedule *sch, uint64_t key, sch_maker make, const void *ctx) {
    assert(sch->trace.count == 0);
    if (!find_other(sch, key)) HONE_TRY(make_other(sch, key, make, ctx));
    return begin(sch, find_other(sch, key)->base->func);
}

hone_status hone_schedule_copy(const hone_schedule *sch, hone_schedule **out_sch) {
    *out_sch = NULL;
    hone_schedule *copy = NULL;
    atomic_fetch_add(&sch->base->references, 1);
    hone_status st = HONE_OK;
    HONE_TRY_GOTO(st, allocate(sch->base, &copy), fail);
    copy->ir = (hone_ir){.arena = copy->arena};
    copy->func = hone_func_copy_deep(copy->arena, sch->func);
    hone_arith_init(&copy->arith, copy->arena);
    if (!copy->func || !bind_ranges(copy)) {
        st = sch_no_memory();
        goto fail;
    }
    HONE_TRY_GOTO(st, take_steps(copy, sch), fail);
    copy->blame = HONE_NO_ID;
    copy->wants_reasons = sch->wants_reasons;
    copy->fits_tiles = sch->fits_tiles;
    copy->intrins = sch->intrins;
    hone_rng rng = sch->rng;
    copy->rng = hone_rng_from_seed(hone_rng_next(&rng));
    *out_sch = copy;
    return HONE_OK;
fail:
    hone_schedule_destroy(copy);
    return st;
}

/* ---- refusals ---- */

hone_status sch_no_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "schedule");
}

hone_status sch_ir_error(hone_schedule *sch) {
    hone_status first = hone_ir_finish(&sch->ir);
    hone_status second = hone_ir_finish(&sch->arith.ir);
    return first || second ? hone_status_join(first, second) : HONE_OK;
}

hone_status sch_refuse(hone_schedule *sch, hone_node_id blame, const char *format, ...) {
    sch->blame = blame;
    hone_status pending = sch_ir_error(sch); /* of an expression that the check gave up */
    if (hone_status_code(pending) == HONE_CODE_NO_MEMORY) return pending;
    hone_status_free(pending);
    if (!sch->wants_reasons) return HONE_ERROR(HONE_CODE_ILLEGAL, "%s", format);
    char text[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    hone_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return HONE_ERROR(HONE_CODE_ILLEGAL, "%s", text);
}

const char *sch_block_name(const hone_schedule *sch, hone_node_id block) {
    const char *text = hone_arena_printf(sch->arena, "block '%s'", sch_block(sch, block)->name);
    return text ? text : "a block";
}

const char *sch_buffer_name(const hone_schedule *sch, hone_buffer buffer) {
    return hone_func_buffer(sch->func, buffer)->name;
}

const char *sch_loop_name(const hone_schedule *sch, hone_node_id loop) {
    const char *name = sch->func->vars[sch_node(sch, loop)->u.loop.var].name;
    const char *text = hone_arena_printf(sch->arena, "loop '%s'", name);
    return text ? text : "a loop";
}

hone_status sch_check_no_break(hone_schedule *sch, hone_node_id loop) {
    hone_node_id jump = hone_tree_jump_of(sch->func, loop, false);
    if (jump == HONE_NO_ID) return HONE_OK;
    return sch_refuse(sch, jump, "%s ends here before its last iteration: its order must stay",
                      sch_loop_name(sch, loop));
}

hone_status sch_check_plain_loop(hone_schedule *sch, hone_node_id loop) {
    const hone_node *node = sch_node(sch, loop);
    if (node->loop_kind == HONE_LOOP_THREAD || node->u.loop.annotations.count) {
        return sch_refuse(sch, loop, "%s has annotations or a thread binding",
                          sch_loop_name(sch, loop));
    }
    return sch_check_no_break(sch, loop);
}

hone_status sch_check_starts_at_zero(hone_schedule *sch, hone_node_id loop) {
    const hone_expr *min = sch_node(sch, loop)->u.loop.range.min;
    if (hone_expr_is_int_value(min, 0)) return HONE_OK;
    if (hone_prove_equal(&sch->arith, min, hone_expr_int(&sch->ir, min->dtype, 0))) return HONE_OK;
    return sch_refuse(sch, loop, "%s does not start at 0", sch_loop_name(sch, loop));
}

hone_status hone_schedule_print_blame(const hone_schedule *sch, const char *note, hone_str *out) {
    hone_print_options options = {.mark = sch->blame, .mark_note = note, .bare = true};
    return hone_func_print(sch->func, &options, out);
}

/* ---- random variables ---- */

bool sch_is_in_tree(const hone_schedule *sch, hone_node_id node) {
    while (node != 0) {
        node = sch_node(sch, node)->parent;
        if (node == HONE_NO_ID) return false;
    }
    return true;
}

static hone_status lookup(hone_schedule *sch, hone_rv rv, hone_rv_value *out) {
    *out = (hone_rv_value){.kind = HONE_RV_INT, .node = HONE_NO_ID};
    if (rv >= sch->trace.rv_count) {
        return HONE_ERROR(HONE_CODE_INVALID, "random variable %u is not defined", rv);
    }
    *out = sch->rvs[rv];
    return HONE_OK;
}

hone_status hone_schedule_node(hone_schedule *sch, hone_rv rv, hone_node_id *out_node) {
    *out_node = HONE_NO_ID;
    hone_rv_value value;
    HONE_TRY(lookup(sch, rv, &value));
    if (value.kind == HONE_RV_INT) {
        return HONE_ERROR(HONE_CODE_INVALID, "v%u is an integer, expected a block or a loop", rv);
    }
    if (value.node >= sch->func->node_count) {
        return sch_refuse(sch, HONE_NO_ID, "l%u is a mark (root or inline), not a loop", rv);
    }
    if (!sch_is_in_tree(sch, value.node)) {
        return sch_refuse(sch, HONE_NO_ID, "%s%u no longer exists: an earlier step replaced it",
                          value.kind == HONE_RV_BLOCK ? "b" : "l", rv);
    }
    *out_node = value.node;
    return HONE_OK;
}

hone_status hone_schedule_int(hone_schedule *sch, hone_rv rv, int64_t *out_value) {
    *out_value = 0;
    hone_rv_value value;
    HONE_TRY(lookup(sch, rv, &value));
    if (value.kind != HONE_RV_INT) {
        return HONE_ERROR(HONE_CODE_INVALID, "random variable %u is not an integer", rv);
    }
    *out_value = value.value;
    return HONE_OK;
}

hone_status sch_resolve_node(hone_schedule *sch, hone_rv rv, hone_node_id *out) {
    return hone_schedule_node(sch, rv, out);
}

hone_status sch_resolve_loop(hone_schedule *sch, hone_rv rv, hone_node_id *out) {
    HONE_TRY(hone_schedule_node(sch, rv, out));
    if (sch_node(sch, *out)->kind == HONE_NODE_FOR) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "b%u is a block, expected a loop", rv);
}

hone_status sch_resolve_block(hone_schedule *sch, hone_rv rv, hone_node_id *out) {
    HONE_TRY(hone_schedule_node(sch, rv, out));
    if (sch_node(sch, *out)->kind == HONE_NODE_BLOCK) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "l%u is a loop, expected a block", rv);
}

hone_status sch_resolve_in_scope(hone_schedule *sch, hone_rv rv, hone_node_id *out,
                                 hone_node_id *out_scope) {
    HONE_TRY(sch_resolve_block(sch, rv, out));
    *out_scope = sch_scope_of(sch, *out);
    if (*out_scope != HONE_NO_ID) return HONE_OK;
    return sch_refuse(sch, *out, "the root block has no scope");
}

bool sch_reserve_rvs(hone_schedule *sch, uint32_t count) {
    uint32_t wanted = sch->trace.rv_count + count;
    if (wanted <= sch->rv_capacity) return true;
    uint32_t capacity = wanted * 2 + 32;
    hone_rv_value *bigger = hone_arena_alloc(sch->arena, capacity * sizeof *bigger);
    if (!bigger) return false;
    if (sch->trace.rv_count) {
        memcpy(bigger, sch->rvs, sch->trace.rv_count * sizeof *bigger);
    }
    sch->rvs = bigger;
    sch->rv_capacity = capacity;
    return true;
}

hone_rv hone_schedule_bind_node(hone_schedule *sch, hone_node_id node) {
    if (!sch_reserve_rvs(sch, 1)) return HONE_NO_ID;
    hone_rv_kind kind = sch_node(sch, node)->kind == HONE_NODE_BLOCK ? HONE_RV_BLOCK : HONE_RV_LOOP;
    hone_rv rv = hone_trace_add_rv(&sch->trace, kind);
    if (rv != HONE_NO_ID) sch->rvs[rv] = (hone_rv_value){.kind = kind, .node = node};
    return rv;
}
