/* schedule/primitive/choose/prim_get.c - get_block, get_loops, get_child_blocks, get_producers,
 * get_consumers, get_output_blocks: getting hold of things. They change nothing. */
#include "schedule/primitive/primitive_impl.h"

#include <string.h>

static hone_status find_block(hone_schedule *sch, const char *name, hone_node_id *out) {
    *out = HONE_NO_ID;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(sch->func, 0, n)) {
        if (sch_node(sch, n)->kind != HONE_NODE_BLOCK) continue;
        if (strcmp(sch_block(sch, n)->name, name) != 0) continue;
        if (*out != HONE_NO_ID) return sch_refuse(sch, n, "two blocks are named '%s'", name);
        *out = n;
    }
    if (*out != HONE_NO_ID) return HONE_OK;
    hone_str names = {0};
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(sch->func, 0, n)) {
        if (sch_node(sch, n)->kind != HONE_NODE_BLOCK) continue;
        hone_str_printf(&names, "%s'%s'", names.length ? ", " : "", sch_block(sch, n)->name);
    }
    hone_status st = sch_refuse(sch, HONE_NO_ID, "no block is named '%s'; there are %s", name,
                                names.data ? names.data : "none");
    hone_str_deinit(&names);
    return st;
}

hone_status hone_sch_get_block(hone_schedule *sch, const char *name, hone_rv *out) {
    hone_node_id block;
    HONE_TRY(find_block(sch, name, &block));
    return sch_record_node(sch, HONE_INST_GET_BLOCK, SCH_ARGS(SCH_TEXT(name), SCH_TEXT("main")),
                           block, out);
}

hone_status hone_sch_get_loops(hone_schedule *sch, hone_rv block_rv, uint32_t *out_count,
                               const hone_rv **out_loops) {
    hone_node_id block;
    HONE_TRY(sch_resolve_block(sch, block_rv, &block));
    const hone_node_id *loops = NULL;
    HONE_TRY(sch_loops_of(sch, block, out_count, &loops));
    return sch_record_nodes(sch, HONE_INST_GET_LOOPS, SCH_ARGS(SCH_RV(block_rv)), *out_count, loops,
                            out_loops);
}

/* The next block below top that is not part of its init, as in TVM. */
static hone_node_id next_child(const hone_schedule *sch, hone_node_id top, hone_node_id node) {
    hone_node_id init = sch_node(sch, top)->kind == HONE_NODE_BLOCK
                            ? hone_block_init_of(sch->func, top)
                            : HONE_NO_ID;
    do {
        node = sch_next_block(sch, top, node);
    } while (node != HONE_NO_ID && init != HONE_NO_ID &&
             hone_tree_is_ancestor(sch->func, init, node));
    return node;
}

hone_status hone_sch_get_child_blocks(hone_schedule *sch, hone_rv rv, uint32_t *out_count,
                                      const hone_rv **out) {
    hone_node_id top;
    HONE_TRY(sch_resolve_node(sch, rv, &top));
    uint32_t count = 0;
    for (hone_node_id n = next_child(sch, top, top); n != HONE_NO_ID; n = next_child(sch, top, n)) {
        count++;
    }
    hone_node_id *blocks = hone_arena_alloc(sch->arena, (count + 1) * sizeof *blocks);
    if (!blocks) return sch_no_memory();
    count = 0;
    for (hone_node_id n = next_child(sch, top, top); n != HONE_NO_ID; n = next_child(sch, top, n)) {
        blocks[count++] = n;
    }
    *out_count = count;
    return sch_record_nodes(sch, HONE_INST_GET_CHILD_BLOCKS, SCH_ARGS(SCH_RV(rv)), count, blocks,
                            out);
}

static void add_once(hone_node_id block, uint32_t *count, hone_node_id *list) {
    for (uint32_t i = 0; i < *count; i++) {
        if (list[i] == block) return;
    }
    list[(*count)++] = block;
}

/* Those before the block that write what it reads, buffer by buffer, then those that write what it
 * writes. */
static void find_producers(const hone_schedule *sch, hone_node_id block, uint32_t *out_count,
                           hone_node_id *found) {
    const hone_block *self = sch_block(sch, block);
    hone_node_id scope = sch_scope_of(sch, block);
    for (uint32_t i = 0; i < self->read_count + self->write_count; i++) {
        const hone_region *region =
            i < self->read_count ? &self->reads[i] : &self->writes[i - self->read_count];
        for (hone_node_id n = sch_next_block(sch, scope, scope); n != block && n != HONE_NO_ID;
             n = sch_next_block(sch, scope, n)) {
            if (sch_writes(sch_block(sch, n), region->buffer)) add_once(n, out_count, found);
        }
    }
}

/* Those behind the block that read or write what it writes. */
static void find_consumers(const hone_schedule *sch, hone_node_id block, uint32_t *out_count,
                           hone_node_id *found) {
    const hone_block *self = sch_block(sch, block);
    for (hone_node_id n = sch_next_block(sch, sch_scope_of(sch, block), block); n != HONE_NO_ID;
         n = sch_next_block(sch, sch_scope_of(sch, block), n)) {
        for (uint32_t i = 0; i < self->write_count; i++) {
            hone_buffer buffer = self->writes[i].buffer;
            const hone_block *later = sch_block(sch, n);
            if (sch_reads(later, buffer) || sch_writes(later, buffer)) {
                add_once(n, out_count, found);
            }
        }
    }
}

static hone_status get_neighbours(hone_schedule *sch, hone_inst_kind kind, hone_rv rv,
                                  uint32_t *out_count, const hone_rv **out) {
    hone_node_id block;
    HONE_TRY(sch_resolve_block(sch, rv, &block));
    hone_node_id *found = hone_arena_alloc(sch->arena, sch->func->node_count * sizeof *found);
    if (!found) return sch_no_memory();
    *out_count = 0;
    bool has_scope = sch_scope_of(sch, block) != HONE_NO_ID;
    if (has_scope && kind == HONE_INST_GET_PRODUCERS) find_producers(sch, block, out_count, found);
    if (has_scope && kind == HONE_INST_GET_CONSUMERS) find_consumers(sch, block, out_count, found);
    return sch_record_nodes(sch, kind, SCH_ARGS(SCH_RV(rv)), *out_count, found, out);
}

hone_status hone_sch_get_producers(hone_schedule *sch, hone_rv block, uint32_t *out_count,
                                   const hone_rv **out) {
    return get_neighbours(sch, HONE_INST_GET_PRODUCERS, block, out_count, out);
}

hone_status hone_sch_get_consumers(hone_schedule *sch, hone_rv block, uint32_t *out_count,
                                   const hone_rv **out) {
    return get_neighbours(sch, HONE_INST_GET_CONSUMERS, block, out_count, out);
}

/* Blocks within blocks too: each is asked what its own scope allocates. */
hone_status hone_sch_get_output_blocks(hone_schedule *sch, hone_rv scope_rv, uint32_t *out_count,
                                       const hone_rv **out) {
    hone_node_id scope;
    HONE_TRY(sch_resolve_block(sch, scope_rv, &scope));
    hone_node_id *blocks = hone_arena_alloc(sch->arena, sch->func->node_count * sizeof *blocks);
    if (!blocks) return sch_no_memory();
    uint32_t count = 0;
    for (hone_node_id n = hone_tree_next(sch->func, scope, scope); n != HONE_NO_ID;
         n = hone_tree_next(sch->func, scope, n)) {
        bool is_block = sch_node(sch, n)->kind == HONE_NODE_BLOCK;
        if (is_block && sch_is_output_block(sch, n)) blocks[count++] = n;
    }
    *out_count = count;
    return sch_record_nodes(sch, HONE_INST_GET_OUTPUT_BLOCKS, SCH_ARGS(SCH_RV(scope_rv)), count,
                            blocks, out);
}

/* TVM's traces look in "main", whatever the function is called. */
static hone_status apply_block(hone_schedule *sch, const char *name, const char *func) {
    const char *own = sch->func->name;
    if (strcmp(func, "main") != 0 && strcmp(func, own) != 0) {
        return sch_refuse(sch, HONE_NO_ID, "the schedule works on function '%s', not on '%s'", own,
                          func);
    }
    return hone_sch_get_block(sch, name, NULL);
}

SCH_STEP(GET_BLOCK, apply_block(sch, a[0].text, a[1].text), .gives = HONE_GIVES_BLOCK,
         .is_pure = true, .old_json = "GetBlock", .old_python = "get_block",
         .args = {SCH_ARG_STRING("name", 0),
                  SCH_ARG_("func_name", FUNC, 1, .text_fallback = "main")});

typedef hone_status (*getter)(hone_schedule *sch, hone_rv rv, uint32_t *out_count,
                              const hone_rv **out);

static hone_status apply_list(hone_schedule *sch, getter get, hone_rv rv) {
    uint32_t count = 0;
    const hone_rv *list = NULL;
    return get(sch, rv, &count, &list);
}

SCH_STEP(GET_LOOPS, apply_list(sch, hone_sch_get_loops, a[0].rv), .gives = HONE_GIVES_LOOPS,
         .is_pure = true, .args = {SCH_ARG_BLOCK(0)});

SCH_STEP(GET_CHILD_BLOCKS, apply_list(sch, hone_sch_get_child_blocks, a[0].rv),
         .gives = HONE_GIVES_BLOCKS, .is_pure = true, .args = {SCH_ARG_NODE});

SCH_STEP(GET_PRODUCERS, apply_list(sch, hone_sch_get_producers, a[0].rv),
         .gives = HONE_GIVES_BLOCKS, .is_pure = true, .args = {SCH_ARG_BLOCK(0)});

SCH_STEP(GET_CONSUMERS, apply_list(sch, hone_sch_get_consumers, a[0].rv),
         .gives = HONE_GIVES_BLOCKS, .is_pure = true, .args = {SCH_ARG_BLOCK(0)});

SCH_STEP(GET_OUTPUT_BLOCKS, apply_list(sch, hone_sch_get_output_blocks, a[0].rv),
         .gives = HONE_GIVES_BLOCKS, .is_pure = true, .args = {SCH_ARG("scope_block", INPUT, 0)});
