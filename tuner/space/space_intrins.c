/* tuner/space/space_intrins.c - places for tensor intrinsics of the user's (--intrin): tiles of a
 * reduction that are what an intrinsic says it computes, and are put in its place.
 *
 *   for s…, r…                 for s0…: for r0…:
 *     Y[s] += …          →       with block tile: the intrinsic's loops, done by it
 *
 * Which loops are the intrinsic's is tried out: those of its kinds whose extents its tile divides,
 * the innermost ones first. Whether it is the same is for tensorize to say, which compares the two.
 * Buffers that it wants in a scope of its own are copied there for each tile.
 */
#include <string.h>

#include "schedule/nests/auto_loops.h"
#include "schedule/primitive/primitives.h"
#include "tuner/space/space_rule.h"

enum { MAX_TILE_LOOPS = 4, MAX_WAYS = 4096, MAX_TRIES = 64, MAX_CHUNK = 16, SCOPE_BYTES = 64 };

/* What an intrinsic computes: its loops from the outermost in, and the scopes of its buffers in the
 * order in which its block reads them. */
typedef struct tile {
    const char *name;
    uint32_t loop_count, read_count;
    bool is_spatial[MAX_TILE_LOOPS];
    int64_t extents[MAX_TILE_LOOPS];
    char scopes[MAX_TILE_LOOPS][SCOPE_BYTES], write_scope[SCOPE_BYTES];
} tile;

static hone_status illegal(const char *why) {
    return HONE_ERROR(HONE_CODE_ILLEGAL, "%s", why);
}

/* ---- what the intrinsic is ---- */

static bool note_loop(tile *t, const hone_node *loop, const hone_node *inner) {
    if (t->loop_count == MAX_TILE_LOOPS) return false;
    const hone_block *block = inner->u.block.block;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        const hone_expr *value = inner->u.block.bindings[i];
        if (value->kind != HONE_EXPR_VAR || value->u.var != loop->u.loop.var) continue;
        t->extents[t->loop_count] = hone_expr_const(loop->u.loop.range.extent);
        t->is_spatial[t->loop_count++] = block->axes[i].kind == HONE_AXIS_SPATIAL;
        return true;
    }
    return false;
}

static bool note_scope(const hone_func *desc, hone_buffer buffer, char *out) {
    const char *scope = hone_func_buffer(desc, buffer)->scope;
    if (!scope) scope = "global";
    if (strlen(scope) >= SCOPE_BYTES) return false;
    memcpy(out, scope, strlen(scope) + 1);
    return true;
}

/* Its only block below the root, with the loops around it. */
static bool describe(const hone_func *desc, tile *out) {
    hone_node_id root = hone_func_root_block(desc), inner = HONE_NO_ID;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(desc, 0, n)) {
        if (n == root || hone_func_node(desc, n)->kind != HONE_NODE_BLOCK) continue;
        if (inner != HONE_NO_ID) return false;
        inner = n;
    }
    if (inner == HONE_NO_ID) return false;
    const hone_node *node = hone_func_node(desc, inner);
    for (hone_node_id n = 0; n != inner; n = hone_tree_next(desc, 0, n)) {
        const hone_node *loop = hone_func_node(desc, n);
        if (loop->kind == HONE_NODE_FOR && !note_loop(out, loop, node)) return false;
    }
    const hone_block *block = node->u.block.block;
    if (block->write_count != 1 || !note_scope(desc, block->writes[0].buffer, out->write_scope))
        return false;
    for (uint32_t i = 0; i < block->read_count; i++) {
        if (block->reads[i].buffer == block->writes[0].buffer) continue;
        if (out->read_count == MAX_TILE_LOOPS) return false;
        if (!note_scope(desc, block->reads[i].buffer, out->scopes[out->read_count++])) return false;
    }
    return out->loop_count > 0;
}

/* False: it is none that this rule finds places for. */
static hone_status find_tile(const hone_schedule *sch, size_t index, tile *out, bool *out_found) {
    hone_module *module = NULL;
    const hone_func *desc, *impl;
    *out = (tile){.name = hone_tensor_intrins_name(sch->intrins, index)};
    HONE_TRY(hone_tensor_intrin_find(sch->intrins, out->name, &module, &desc, &impl));
    *out_found = describe(desc, out);
    hone_module_release(module);
    return HONE_OK;
}

/* ---- ways ---- */

/* Way number `way` as one loop of the nest for each of the tile's, innermost ones first. */
static bool loops_of(const tile *t, const hone_reduction_facts *f, int32_t way, uint32_t *out) {
    for (uint32_t i = t->loop_count; i-- > 0; way /= (int32_t)f->loop_count) {
        uint32_t loop = f->loop_count - 1 - (uint32_t)way % f->loop_count;
        if (f->is_spatial[loop] != t->is_spatial[i] || t->extents[i] < 1) return false;
        if (f->extents[loop] % t->extents[i] != 0) return false;
        for (uint32_t k = i + 1; k < t->loop_count; k++) {
            if (out[k] == loop) return false;
        }
        out[i] = loop;
    }
    return way == 0;
}

static int32_t way_count(const tile *t, const hone_reduction_facts *f) {
    int64_t count = 1;
    for (uint32_t i = 0; i < t->loop_count && count <= MAX_WAYS; i++)
        count *= f->loop_count;
    return count <= MAX_WAYS ? (int32_t)count : MAX_WAYS;
}

/* ---- the steps ---- */

typedef struct nest {
    hone_rv outer[HONE_NEST_MAX_LOOPS * 2], inner[MAX_TILE_LOOPS];
    uint32_t space, reduce; /* of the outer ones: spatial first */
} nest;

/* Chunks of the spatial loops are drawn; the sums go between, so that what they read stays near. */
static hone_status cut(hone_schedule *sch, hone_rv block, const tile *t,
                       const hone_reduction_facts *f, const uint32_t *chosen, nest *out) {
    uint32_t count = 0, first = 0, second = 0, sums = 0;
    const hone_rv *loops = NULL, *parts = NULL, *sizes = NULL;
    hone_rv chunks[HONE_NEST_MAX_LOOPS], reduce[HONE_NEST_MAX_LOOPS];
    HONE_TRY(hone_sch_get_loops(sch, block, &count, &loops));
    if (count != f->loop_count) return illegal("unexpected loops");
    for (uint32_t i = 0; i < count; i++) {
        hone_rv loop = loops[i];
        for (uint32_t k = 0; k < t->loop_count; k++) {
            if (chosen[k] != i) continue;
            const hone_factor two[] = {{.kind = HONE_FACTOR_NONE},
                                       HONE_FACTOR_OF_INT(t->extents[k])};
            HONE_TRY(hone_sch_split(sch, loop, 2, two, true, false, &parts));
            loop = parts[0];
            out->inner[k] = parts[1];
        }
        if (!f->is_spatial[i]) {
            reduce[sums++] = loop;
            continue;
        }
        HONE_TRY(hone_sch_sample_perfect_tile(sch, loop, 2, MAX_CHUNK, NULL, &sizes));
        const hone_factor two[] = {HONE_FACTOR_OF_RV(sizes[0]), HONE_FACTOR_OF_RV(sizes[1])};
        HONE_TRY(hone_sch_split(sch, loop, 2, two, true, false, &parts));
        out->outer[first++] = parts[0];
        chunks[second++] = parts[1];
    }
    memcpy(out->outer + first, chunks, second * sizeof *chunks);
    memcpy(out->outer + first + second, reduce, sums * sizeof *reduce);
    out->space = first + second;
    out->reduce = sums;
    hone_rv order[HONE_NEST_MAX_LOOPS * 2 + MAX_TILE_LOOPS];
    uint32_t outer = out->space + sums;
    memcpy(order, out->outer, outer * sizeof *order);
    memcpy(order + outer, out->inner, t->loop_count * sizeof *order);
    return hone_sch_reorder(sch, outer + t->loop_count, order);
}

/* Copies into and out of the scopes that the intrinsic wants. */
static hone_status move_operands(hone_schedule *sch, hone_rv block, const tile *t, const nest *n) {
    hone_rv copy, at = n->outer[n->space + n->reduce - 1];
    for (uint32_t i = 0; i < t->read_count; i++) {
        if (strcmp(t->scopes[i], "global") == 0) continue;
        HONE_TRY(hone_sch_cache_read(sch, block, i, t->scopes[i], 0, NULL, &copy));
        HONE_TRY(hone_sch_compute_at(sch, copy, at, true, -1));
    }
    if (strcmp(t->write_scope, "global") == 0) return HONE_OK;
    HONE_TRY(hone_sch_cache_write(sch, block, 0, t->write_scope, 0, NULL, &copy));
    return hone_sch_reverse_compute_at(sch, copy, n->outer[n->space - 1], true, -1);
}

static hone_status put(hone_schedule *sch, const char *name, const hone_target *target,
                       int32_t argument) {
    (void)target;
    tile t;
    nest n = {0};
    hone_reduction_facts f;
    hone_rv block, init;
    bool is_found;
    uint32_t chosen[MAX_TILE_LOOPS] = {0};
    hone_node_id node = hone_rule_find_block(sch, name);
    HONE_TRY(find_tile(sch, (size_t)(argument / MAX_WAYS), &t, &is_found));
    if (!is_found || !hone_nest_reduction(sch, node, &f) ||
        !loops_of(&t, &f, argument % MAX_WAYS, chosen))
        return illegal("no place");
    HONE_TRY(hone_sch_get_block(sch, name, &block));
    HONE_TRY(cut(sch, block, &t, &f, chosen, &n));
    if (!n.space || !n.reduce) return illegal("nothing is around the tile");
    HONE_TRY(hone_sch_blockize_loop(sch, n.inner[0], true, &block));
    HONE_TRY(hone_sch_annotate(sch, block, HONE_ANNOTATION_TILING, HONE_VALUE_OF_STRING("intrin"),
                               HONE_NO_ID)); /* other rules leave it where it is */
    HONE_TRY(move_operands(sch, block, &t, &n));
    HONE_TRY(hone_sch_decompose_reduction(sch, block, n.outer[n.space], &init));
    return hone_sch_tensorize(sch, block, t.name, true);
}

static hone_status try_ways(hone_schedule *sch, const char *name, const hone_target *target,
                            size_t index, hone_rule_results *io_results) {
    tile t;
    hone_reduction_facts f;
    bool is_found;
    uint32_t chosen[MAX_TILE_LOOPS], tries = 0;
    hone_node_id node = hone_rule_find_block(sch, name);
    if (node == HONE_NO_ID || !hone_nest_reduction(sch, node, &f)) return HONE_OK;
    HONE_TRY(find_tile(sch, index, &t, &is_found));
    if (!is_found) return HONE_OK;
    int32_t ways = way_count(&t, &f);
    for (int32_t way = 0; way < ways && tries < MAX_TRIES; way++) {
        if (!loops_of(&t, &f, way, chosen)) continue;
        tries++;
        HONE_TRY(
            hone_rule_fork(sch, put, name, target, (int32_t)index * MAX_WAYS + way, io_results));
    }
    return HONE_OK;
}

hone_status hone_rule_intrins(hone_schedule *sch, const char *block_name, const hone_target *target,
                              hone_rule_results *out_results) {
    hone_status st = HONE_OK;
    for (size_t i = 0; !st && sch->intrins && hone_tensor_intrins_name(sch->intrins, i); i++)
        st = try_ways(sch, block_name, target, i, out_results);
    hone_status kept = hone_rule_keep(sch, out_results);
    return st ? hone_status_join(st, kept) : kept;
}
