/* schedule/state/sched_buffer.c - what primitives ask about buffers: which one a block means, who
 * allocates it, how copies in other storage scopes are called. */
#include "ir/region/region.h"
#include "schedule/state/schedule_impl.h"

#include <string.h>

hone_status sch_nth_buffer(hone_schedule *sch, hone_node_id id, bool is_write, int64_t index,
                           hone_buffer *out) {
    uint32_t count;
    const hone_region *regions = sch_regions_of(sch_block(sch, id), is_write, &count);
    if (index < 0 || index >= count) {
        return sch_refuse(sch, id, "buffer index is %lld, %s %s %u buffer%s", (long long)index,
                          sch_block_name(sch, id), is_write ? "writes" : "reads", count,
                          count == 1 ? "" : "s");
    }
    *out = regions[index].buffer;
    return HONE_OK;
}

/* As it is, or as it is printed: the dot of "B_shared.dyn" is no letter of a name. */
static bool is_called(const char *name, const char *wanted) {
    while (*name && (*name == *wanted || (*name == '.' && *wanted == '_')))
        name++, wanted++;
    return *name == *wanted;
}

hone_status sch_find_buffer(hone_schedule *sch, hone_node_id id, const char *name, bool is_write,
                            int64_t *out_index) {
    uint32_t count;
    const hone_region *regions = sch_regions_of(sch_block(sch, id), is_write, &count);
    *out_index = -1;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_called(sch_buffer_name(sch, regions[i].buffer), name)) continue;
        if (*out_index >= 0) {
            return sch_refuse(sch, id, "%s %s two buffers named '%s'", sch_block_name(sch, id),
                              is_write ? "writes" : "reads", name);
        }
        *out_index = i;
    }
    if (*out_index >= 0) return HONE_OK;
    return sch_refuse(sch, id, "%s %s no buffer named '%s'", sch_block_name(sch, id),
                      is_write ? "writes" : "reads", name);
}

hone_node_id sch_alloc_site(const hone_schedule *sch, hone_buffer buffer) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(sch->func, 0, n)) {
        if (sch_node(sch, n)->kind != HONE_NODE_BLOCK) continue;
        const hone_block *block = sch_block(sch, n);
        for (uint32_t i = 0; i < block->alloc_count; i++) {
            if (block->allocs[i] == buffer) return n;
        }
    }
    return HONE_NO_ID;
}

hone_status sch_require_allocated(hone_schedule *sch, hone_node_id block, hone_buffer buffer) {
    if (sch_alloc_site(sch, buffer) != HONE_NO_ID) return HONE_OK;
    return sch_refuse(sch, block, "buffer '%s' is not allocated in the function",
                      sch_buffer_name(sch, buffer));
}

hone_status sch_require_no_views(hone_schedule *sch, hone_node_id block, hone_buffer buffer) {
    bool has_view = hone_has_opaque_access(sch->func, 0, buffer);
    for (hone_buffer b = 0; b < sch->func->buffer_count; b++) {
        has_view = has_view || hone_func_buffer(sch->func, b)->alias_of == buffer;
    }
    if (!has_view) return HONE_OK;
    return sch_refuse(sch, block, "buffer '%s' is also used by its address or as a view",
                      sch_buffer_name(sch, buffer));
}

static void mark_matches(const hone_schedule *sch, bool *marks) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(sch->func, 0, n)) {
        if (sch_node(sch, n)->kind != HONE_NODE_BLOCK) continue;
        const hone_block *block = sch_block(sch, n);
        for (uint32_t i = 0; i < block->match_count; i++) {
            const hone_match *match = &block->matches[i];
            marks[match->buffer] = marks[match->buffer] || marks[match->source.buffer];
        }
    }
}

hone_status sch_mark_views(hone_schedule *sch, hone_node_id block, hone_buffer buffer,
                           bool **out_marks) {
    bool *marks = hone_arena_zalloc(sch->arena, sch->func->buffer_count * sizeof *marks);
    *out_marks = marks;
    if (!marks) return sch_no_memory();
    marks[buffer] = true;
    mark_matches(sch, marks); /* a view of a view stands further down */
    for (hone_buffer b = 0; b < sch->func->buffer_count; b++) {
        hone_buffer whole = hone_func_buffer(sch->func, b)->alias_of;
        bool is_odd = marks[b] ? hone_takes_address_below(sch->func, 0, b)
                               : whole != HONE_NO_ID && marks[whole];
        if (!is_odd) continue;
        return sch_refuse(sch, block, "buffer '%s' is also used by its address",
                          sch_buffer_name(sch, buffer));
    }
    return HONE_OK;
}

typedef struct access_search {
    const hone_schedule *sch;
    hone_buffer buffer;
    hone_node_id home;  /* the block that allocates it, or the root */
    hone_node_id hider; /* a block that accesses the buffer and does not say so */
} access_search;

/* The block of the access says so, and each one around it inside of the buffer's home. A reduction
 * does not say that it reads what it writes. */
static void note_access(access_search *s, hone_node_id at, bool is_write) {
    const hone_func *func = s->sch->func;
    bool is_inner = true;
    for (; at != 0 && at != s->home; at = sch_node(s->sch, at)->parent) {
        if (sch_node(s->sch, at)->kind != HONE_NODE_BLOCK) continue;
        const hone_block *block = sch_block(s->sch, at);
        bool writes = sch_writes(block, s->buffer);
        bool goes_on = writes && (!is_inner || hone_block_init_of(func, at) != HONE_NO_ID);
        if (is_write ? !writes : !goes_on && !sch_reads(block, s->buffer)) s->hider = at;
        is_inner = false;
    }
}

static void look_for_access(void *ctx, hone_node_id at, const hone_expr *e) {
    access_search *s = ctx;
    if (hone_expr_loads(e, s->buffer)) note_access(s, at, false);
}

hone_status sch_require_declared(hone_schedule *sch, hone_buffer buffer) {
    if (!sch->trace.is_unsafe) return HONE_OK;
    access_search s = {.sch = sch, .buffer = buffer, .hider = HONE_NO_ID};
    s.home = sch_alloc_site(sch, buffer);
    if (s.home == HONE_NO_ID) s.home = hone_func_root_block(sch->func);
    hone_tree_walk_exprs(sch->func, 0, false, look_for_access, &s);
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(sch->func, 0, n)) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind == HONE_NODE_STORE && node->u.store.buffer == buffer)
            note_access(&s, n, true);
    }
    if (s.hider == HONE_NO_ID) return HONE_OK;
    return sch_refuse(sch, s.hider, "%s accesses '%s' and does not say so",
                      sch_block_name(sch, s.hider), sch_buffer_name(sch, buffer));
}

hone_status sch_require_scope_name(hone_schedule *sch, hone_node_id block, const char *scope) {
    static const char *const known[] = {"global", "shared", "shared.dyn", "local", "warp"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(scope, known[i]) == 0) return HONE_OK;
    }
    /* the rest names a part of that memory: "global.vtcm", "global2" */
    static const char *const families[] = {"global", "wmma.", "wgmma.", "m16n8k8.", "metal."};
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        size_t length = strlen(families[i]);
        if (strncmp(scope, families[i], length) == 0 && scope[length]) return HONE_OK;
    }
    return sch_refuse(sch, block,
                      "'%s' is no storage scope; expected global, shared, local, "
                      "warp or global.NAME",
                      scope);
}

const char *sch_scoped_name(hone_schedule *sch, const char *base, const char *scope) {
    const char *stem = sch_name(sch, base, "_", -1);
    return stem ? sch_name(sch, stem, scope, -1) : NULL;
}

hone_buffer sch_make_buffer(hone_schedule *sch, const char *name, hone_dtype dtype, uint32_t rank,
                            const hone_expr *const *shape, const char *scope) {
    hone_buffer_info info = {.name = name,
                             .dtype = dtype,
                             .rank = rank,
                             .shape = shape,
                             .scope = scope,
                             .data = HONE_NO_ID,
                             .alias_of = HONE_NO_ID,
                             .matched_handle = HONE_NO_ID};
    return name ? hone_func_add_buffer(sch->func, &info) : HONE_NO_ID;
}

hone_status sch_add_alloc(hone_schedule *sch, hone_node_id scope, hone_buffer buffer) {
    hone_block *block = hone_block_copy(sch->arena, sch_block(sch, scope));
    if (!block) return sch_no_memory();
    hone_buffer *allocs = hone_arena_alloc(sch->arena, (block->alloc_count + 1) * sizeof *allocs);
    if (!allocs) return sch_no_memory();
    if (block->alloc_count) memcpy(allocs, block->allocs, block->alloc_count * sizeof *allocs);
    allocs[block->alloc_count++] = buffer;
    block->allocs = allocs;
    sch_node(sch, scope)->u.block.block = block;
    return HONE_OK;
}

hone_status sch_drop_alloc(hone_schedule *sch, hone_node_id scope, hone_buffer buffer) {
    hone_block *block = hone_block_copy(sch->arena, sch_block(sch, scope));
    if (!block) return sch_no_memory();
    hone_buffer *allocs = hone_arena_alloc(sch->arena, (block->alloc_count + 1) * sizeof *allocs);
    if (!allocs) return sch_no_memory();
    uint32_t kept = 0;
    for (uint32_t i = 0; i < block->alloc_count; i++) {
        if (block->allocs[i] != buffer) allocs[kept++] = block->allocs[i];
    }
    block->allocs = allocs;
    block->alloc_count = kept;
    sch_node(sch, scope)->u.block.block = block;
    return HONE_OK;
}

bool sch_bounds_load(const hone_node *loop, hone_buffer buffer) {
    return hone_expr_loads(loop->u.loop.range.min, buffer) ||
           hone_expr_loads(loop->u.loop.range.extent, buffer);
}

bool sch_condition_loads(const hone_node *node, hone_buffer buffer) {
    const hone_expr *condition = NULL;
    if (node->kind == HONE_NODE_IF) condition = node->u.eval.value;
    if (node->kind == HONE_NODE_BLOCK) condition = node->u.block.predicate;
    return condition && hone_expr_loads(condition, buffer);
}

typedef struct load_list {
    hone_schedule *sch;
    hone_block *block;
    bool has_room;
} load_list;

/* A buffer that is loaded from: the block reads all of it, if nothing of it until now. */
static bool note_load(void *ctx, const hone_expr *e) {
    load_list *list = ctx;
    hone_schedule *sch = list->sch;
    hone_block *block = list->block;
    if (e->kind != HONE_EXPR_LOAD || sch_reads(block, e->u.buffer)) return true;
    const hone_buffer_info *info = hone_func_buffer(sch->func, e->u.buffer);
    hone_region *reads = hone_arena_alloc(sch->arena, (block->read_count + 1) * sizeof *reads);
    hone_range *ranges = hone_arena_alloc(sch->arena, (info->rank + 1) * sizeof *ranges);
    list->has_room = list->has_room && reads && ranges;
    if (!list->has_room) return false;
    for (uint32_t d = 0; d < info->rank; d++)
        ranges[d] = (hone_range){hone_expr_int(&sch->ir, info->shape[d]->dtype, 0), info->shape[d]};
    for (uint32_t i = 0; i < block->read_count; i++)
        reads[i] = block->reads[i];
    reads[block->read_count++] = (hone_region){e->u.buffer, ranges};
    block->reads = reads;
    return true;
}

hone_status sch_read_loaded(hone_schedule *sch, hone_block *block, const hone_expr *e) {
    load_list list = {sch, block, true};
    hone_expr_walk(e, note_load, &list);
    return list.has_room ? sch_ir_error(sch) : sch_no_memory();
}

hone_status sch_reads_beyond(hone_schedule *sch, hone_node_id block, hone_buffer buffer,
                             const hone_region **out) {
    hone_block touched;
    *out = NULL;
    if (sch_scope_of(sch, block) == HONE_NO_ID) return HONE_OK;
    HONE_TRY(hone_block_infer_regions(sch->func, block, sch->arena, &touched));
    const hone_block *self = sch_block(sch, block);
    const hone_region *actual = hone_region_of(touched.read_count, touched.reads, buffer);
    const hone_region *declared = hone_region_of(self->read_count, self->reads, buffer);
    bool is_beyond =
        actual && declared && !hone_region_covers(&sch->arith, sch->func, declared, actual);
    *out = is_beyond ? actual : NULL;
    return HONE_OK;
}
