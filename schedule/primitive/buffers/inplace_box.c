/* schedule/primitive/buffers/inplace_box.c - may what a block declares to read and write of a
 * buffer be copied in front of each of its instances, and back behind it?
 *
 *     T.reads(B[v:v + 2])              said by hand, or a box around what is touched
 *     T.writes(B[v:v + 2])
 *     B[v] = B[v] + A[v]               B[v + 1] is copied, too
 *
 * All of that box must hold values. What the block does not write itself gets back the value that
 * it had, which is seen by iterations that run side by side. */
#include "ir/region/region.h"
#include "schedule/primitive/buffers/caching.h"

typedef struct load_search {
    const sch_staging *c;
    const hone_region *declared;
    bool holds_all;
} load_search;

/* What is behind a condition may not be evaluated. */
static bool find_certain_load(void *ctx, const hone_expr *e) {
    load_search *s = ctx;
    hone_schedule *sch = s->c->sch;
    if (e->kind == HONE_EXPR_LOAD && e->u.buffer == s->c->buffer && !s->holds_all) {
        const hone_region *loaded =
            hone_region_of_access(&sch->arith, e->u.buffer, e->count, e->args);
        s->holds_all = loaded && hone_region_covers(&sch->arith, sch->func, loaded, s->declared);
    }
    return !hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE) && !hone_expr_is_op(e, HONE_OP_AND) &&
           !hone_expr_is_op(e, HONE_OP_OR);
}

/* B[X[v]]: what X holds is not known, so that more is copied than is read. */
static bool is_copied_as_declared(const sch_staging *c, const hone_region *declared) {
    for (uint32_t d = 0; d < c->rank; d++) {
        if (!hone_expr_is_pure_index(declared->ranges[d].min) ||
            !hone_expr_is_pure_index(declared->ranges[d].extent)) {
            return false;
        }
    }
    return true;
}

/* Does the block begin with a statement that loads all of what it declares to read, whatever
 * happens? What an init sets need not be there before. */
static bool begins_with_load(const sch_staging *c) {
    hone_schedule *sch = c->sch;
    const hone_block *block = sch_block(sch, c->block);
    const hone_node *first = sch_node(sch, hone_block_body_of(sch->func, c->block));
    load_search s = {.c = c};
    s.declared = hone_region_of(block->read_count, block->reads, c->buffer);
    bool has_init = hone_block_init_of(sch->func, c->block) != HONE_NO_ID;
    if (has_init || !is_copied_as_declared(c, s.declared)) return false;
    if (first->kind == HONE_NODE_STORE) {
        hone_expr_walk(first->u.store.value, find_certain_load, &s);
    } else if (first->kind == HONE_NODE_LET) {
        hone_expr_walk(first->u.let.value, find_certain_load, &s);
    }
    return s.holds_all;
}

/* A block that holds others, or conditions, may read what it has written itself only: before it
 * nothing is there. */
static bool holds_values(const sch_staging *c) {
    hone_schedule *sch = c->sch;
    if (sch_alloc_site(sch, c->buffer) == HONE_NO_ID || begins_with_load(c)) return true;
    SCH_EACH_BLOCK (sch, c->scope, n) {
        if (!sch_is_before(sch, n, c->block) || !sch_writes(sch_block(sch, n), c->buffer)) continue;
        hone_node_id top = sch_lca(sch, n, c->block);
        if (sch_surely_writes(sch, n, c->buffer, top, NULL)) return true;
    }
    return false;
}

/* Two instances that run at the same time both declare an element, as far as is known. */
static bool may_meet(const sch_staging *c) {
    hone_schedule *sch = c->sch;
    bool is_disjoint = sch_has_disjoint_writes(sch, c->block);
    for (hone_node_id n = c->block; n != 0; n = sch_node(sch, n)->parent) {
        const hone_node *node = sch_node(sch, n);
        if (n == c->scope) is_disjoint = false;
        if (node->kind != HONE_NODE_FOR || node->loop_kind == HONE_LOOP_SERIAL ||
            node->loop_kind == HONE_LOOP_UNROLLED) {
            continue;
        }
        if (!is_disjoint) return true;
    }
    return false;
}

hone_status sch_check_copied_around(const sch_staging *c) {
    hone_schedule *sch = c->sch;
    const char *name = sch_buffer_name(sch, c->buffer);
    if (!holds_values(c)) {
        return sch_refuse(sch, c->block, "'%s' may hold no values yet when %s begins", name,
                          sch_block_name(sch, c->block));
    }
    if (sch_writes_exactly(sch, c->block) || !may_meet(c)) return HONE_OK;
    return sch_refuse(sch, c->block,
                      "%s does not surely write all of the box of '%s' that would be copied back "
                      "while others run",
                      sch_block_name(sch, c->block), name);
}
