/* schedule/gpu/gpu_postproc.c - when all decisions of a sketch are made: copies are fetched by all
 * threads together, what is left is bound, and nothing exceeds the device. */
#include <string.h>

#include "schedule/defaults/default_impl.h"
#include "schedule/gpu/gpu_impl.h"
#include "schedule/gpu/gpu_sketch.h"
#include "schedule/primitive/primitives.h"
#include "schedule/state/schedule_impl.h"

enum { MOST_VIRTUAL = 8 };

static int64_t thread_extent(const hone_schedule *sch, hone_node_id inside, const char *tag) {
    for (hone_node_id n = inside; n != HONE_NO_ID; n = sch_node(sch, n)->parent) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_THREAD &&
            strcmp(node->u.loop.thread_tag, tag) == 0)
            return hone_expr_const(node->u.loop.range.extent);
    }
    return 0;
}

/* Where only warps are bound, their lanes are threadIdx.x. */
static hone_status fetch(hone_gpu *g, hone_rv block, int64_t vector) {
    hone_gpu_nest nest;
    hone_rv rest, parts[2];
    HONE_TRY(hone_sch_unannotate(g->sch, block, HONE_ANNOTATION_FETCH));
    HONE_TRY(hone_gpu_get_nest(g, block, &nest));
    if (nest.count == 0) return hone_gpu_unfit();
    int64_t x = thread_extent(g->sch, nest.block, "threadIdx.x");
    int64_t y = thread_extent(g->sch, nest.block, "threadIdx.y");
    hone_rv loop = nest.rvs[nest.count - 1];
    if (hone_gpu_extent(g, loop) % vector != 0) vector = 1;
    HONE_TRY(hone_gpu_share(g, loop, HONE_FACTOR_OF_INT(x ? x : g->limits->warp), vector, &rest));
    if (y == 0) return HONE_OK;
    HONE_TRY(hone_gpu_split(g, rest, y, parts));
    return hone_sch_bind(g->sch, parts[1], "threadIdx.y");
}

hone_status hone_gpu_fetch_together(hone_schedule *sch, const hone_gpu_limits *limits) {
    hone_gpu g = {sch, limits};
    hone_default_blocks blocks;
    hone_default_list_blocks(sch, &blocks);
    for (uint32_t i = 0; i < blocks.count; i++) {
        hone_rv block = HONE_NO_ID;
        hone_node_id node;
        HONE_TRY(hone_default_optional(hone_sch_get_block(sch, blocks.names[i], &block)));
        if (block == HONE_NO_ID) continue;
        HONE_TRY(hone_schedule_node(sch, block, &node));
        const hone_attrs *attrs = &sch_block(sch, node)->annotations;
        int64_t vector = hone_attrs_int(attrs, HONE_ANNOTATION_FETCH, 0);
        if (vector > 0) HONE_TRY(fetch(&g, block, vector));
    }
    return HONE_OK;
}

/* ---- limits ---- */

/* The innermost node around all accesses to a buffer below `root`; HONE_NO_ID: there are none. */
static hone_node_id around_uses(const hone_schedule *sch, hone_buffer buffer) {
    hone_node_id around = HONE_NO_ID;
    SCH_EACH_BLOCK (sch, 0, n) {
        if (!sch_reads(sch_block(sch, n), buffer) && !sch_writes(sch_block(sch, n), buffer))
            continue;
        around = around == HONE_NO_ID ? n : sch_lca(sch, around, n);
    }
    return around;
}

/* Elements that the loops of a writer below `around` go over. */
static int64_t elements_below(const hone_schedule *sch, hone_node_id writer, hone_node_id around) {
    int64_t count = 1;
    for (hone_node_id n = writer; n != HONE_NO_ID && n != around; n = sch_node(sch, n)->parent) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind != HONE_NODE_FOR) continue;
        int64_t extent = hone_expr_const(node->u.loop.range.extent);
        if (extent < 1 || count > INT32_MAX / extent) return INT32_MAX;
        count *= extent;
    }
    return count;
}

static bool is_below(const hone_schedule *sch, hone_node_id root, hone_node_id n) {
    return n == root || hone_tree_is_ancestor(sch->func, root, n);
}

/* Shared memory of the launch whose outermost loop is `root`. */
static int64_t shared_bytes(const hone_schedule *sch, hone_node_id root) {
    int64_t sum = 0;
    for (hone_buffer b = 0; b < sch->func->buffer_count; b++) {
        const hone_buffer_info *info = hone_func_buffer(sch->func, b);
        if (!info->scope || strncmp(info->scope, "shared", 6) != 0) continue;
        hone_node_id around = around_uses(sch, b);
        if (around == HONE_NO_ID || !is_below(sch, root, around)) continue;
        int64_t most = 0;
        SCH_EACH_BLOCK (sch, root, n) {
            if (sch_writes(sch_block(sch, n), b))
                most = hone_gpu_max(most, elements_below(sch, n, around));
        }
        sum += most * (int64_t)hone_dtype_bytes(info->dtype);
    }
    return sum;
}

static bool is_thread(const hone_node *node, const char *kind) {
    return node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_THREAD &&
           strncmp(node->u.loop.thread_tag, kind, strlen(kind)) == 0;
}

/* The extents of one kind of thread multiplied, the longest loop of each axis. */
static int64_t product_of(const hone_schedule *sch, hone_node_id root, const char *kind) {
    int64_t most[3] = {1, 1, 1};
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(sch->func, root, n)) {
        const hone_node *node = sch_node(sch, n);
        if (!is_thread(node, kind)) continue;
        int axis = node->u.loop.thread_tag[strlen(kind) + 1] - 'x';
        int64_t extent = hone_expr_const(node->u.loop.range.extent);
        if (axis >= 0 && axis < 3) most[axis] = hone_gpu_max(most[axis], extent);
    }
    return most[0] * most[1] * most[2];
}

hone_status hone_gpu_check_limits(hone_schedule *sch, const hone_gpu_limits *limits) {
    hone_node_id next;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = next) {
        bool is_launch = is_thread(sch_node(sch, n), "");
        next = is_launch ? hone_tree_next_over(sch->func, 0, n) : hone_tree_next(sch->func, 0, n);
        if (!is_launch) continue;
        if (product_of(sch, n, "threadIdx") > limits->block_threads ||
            product_of(sch, n, "vthread") > MOST_VIRTUAL ||
            shared_bytes(sch, n) > limits->shared_bytes)
            return hone_gpu_unfit();
    }
    return HONE_OK;
}
