/* codegen/nvptx/ptx_registers.c - how many steps of a loop a thread has registers for.
 *
 * The loads of steps that became one are all started before their values are used. Each value waits
 * in a register, beside the thread's own arrays; where it is loaded under a condition, so does its
 * address, which was computed elsewhere. More of them than there are registers would be stored to
 * memory that is as far away as what was loaded. */
#include <string.h>

#include "codegen/nvptx/nvptx.h"

enum {
    MOST = 255,  /* registers that an instruction can name */
    OTHERS = 32, /* indices, addresses, what is computed */
    LEAST = 32,  /* that loads may have: own arrays are not alive all at once */
    ADDRESS = 2, /* 64 bits */
    MANY = 1 << 20
};

/* ---- what there is ---- */

static int64_t least_blocks(const hone_func *func) {
    const hone_value *least = hone_attrs_find(&func->attrs, "hone.min_blocks");
    return least && least->kind == HONE_VALUE_INT && least->u.i > 0 ? least->u.i : 1;
}

/* Of one thread's part of a buffer. */
static int64_t registers_of(const hone_buffer_info *info) {
    int64_t count = hone_buffer_elements(info);
    if (count < 0 || count > MANY) return 0;
    bool is_of_warp =
        info->scope && (strncmp(info->scope, "wmma.", 5) == 0 || strcmp(info->scope, "warp") == 0);
    return count * (int64_t)hone_dtype_bytes(info->dtype) / (is_of_warp ? 4 * PTX_LANES : 4);
}

static int64_t registers_of_arrays(const hone_func *func) {
    int64_t sum = 0;
    for (hone_node_id n = HONE_NODE_TOP; n != HONE_NO_ID;
         n = hone_tree_next(func, HONE_NODE_TOP, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_ALLOC || !ptx_is_own(func, node->u.alloc.buffer)) continue;
        sum += registers_of(&func->buffers[node->u.alloc.buffer]);
    }
    return sum;
}

static int64_t registers_for_loads(const gen *g) {
    int64_t per_block = g->target->registers_per_block;
    int64_t threads = ptx_block_threads(g) * least_blocks(g->func);
    int64_t most = per_block > 0 && per_block / threads < MOST ? per_block / threads : MOST;
    int64_t left = most - OTHERS - registers_of_arrays(g->func);
    return left < LEAST ? LEAST : left;
}

/* ---- what a step needs ---- */

typedef struct loads {
    const gen *g;
    hone_node_id loop, at;
    bool is_conditional;
    int64_t per_step, once; /* registers */
} loads;

/* A loop that is repeated as a whole: one inside, or around where it has to be. */
static bool is_repeated(const loads *l, hone_node_id loop, bool is_inside) {
    const hone_node *node = hone_func_node(l->g->func, loop);
    if (node->kind != HONE_NODE_FOR || node->loop_kind == HONE_LOOP_THREAD) return false;
    return is_inside || ptx_has_places(l->g, loop);
}

/* Loads of e that are not the same one: as many as there are places. */
static int64_t count_places(loads *l, const hone_expr *e, bool *by_step) {
    int64_t times = 1;
    bool is_inside = true;
    for (hone_node_id n = l->at; n != HONE_NODE_TOP; n = hone_func_node(l->g->func, n)->parent) {
        bool is_loop = n == l->loop;
        is_inside &= !is_loop;
        if (!is_loop && !is_repeated(l, n, is_inside)) continue;
        bool varies = ptx_varies(l->g, n, e->args[0]);
        if (is_loop) *by_step = varies;
        if (is_loop || !varies) continue;
        int64_t extent = hone_expr_const(hone_func_node(l->g->func, n)->u.loop.range.extent);
        times = extent < 0 || extent > MANY / times ? MANY : times * extent;
    }
    return times;
}

static bool count_load(void *ctx, const hone_expr *e) {
    loads *l = ctx;
    if (hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE)) {
        bool was = l->is_conditional;
        l->is_conditional = true;
        for (uint32_t i = 0; i < e->count; i++)
            hone_expr_walk(e->args[i], count_load, l);
        l->is_conditional = was;
        return false;
    }
    if (e->kind != HONE_EXPR_LOAD || ptx_is_own(l->g->func, e->u.buffer)) return true;
    bool by_step = false;
    int64_t here =
        ((int64_t)hone_dtype_bytes(e->dtype) + 3) / 4 + (l->is_conditional ? ADDRESS : 0);
    here *= count_places(l, e, &by_step);
    *(by_step ? &l->per_step : &l->once) += here;
    return true;
}

static void add_loads(void *ctx, hone_node_id at, const hone_expr *e) {
    loads *l = ctx;
    if (at == l->loop || l->per_step > MANY) return;
    l->at = at;
    l->is_conditional = false;
    for (hone_node_id n = hone_func_node(l->g->func, at)->parent; n != l->loop;
         n = hone_func_node(l->g->func, n)->parent)
        l->is_conditional |= hone_func_node(l->g->func, n)->kind == HONE_NODE_IF;
    hone_expr_walk(e, count_load, l);
}

/* Equal parts where there are large ones, else a rest is left. */
static int64_t part_of(int64_t extent, int64_t most) {
    int64_t part = most;
    while (extent % part)
        part--;
    return 2 * part > most ? part : most;
}

int64_t ptx_steps_at_once(const gen *g, hone_node_id loop) {
    int64_t extent = hone_expr_const(hone_func_node(g->func, loop)->u.loop.range.extent);
    loads l = {.g = g, .loop = loop};
    hone_tree_walk_exprs(g->func, loop, false, add_loads, &l);
    int64_t free = registers_for_loads(g) - l.once;
    int64_t most = l.per_step > 0 ? free / l.per_step : extent;
    return most >= extent ? extent : most <= 1 ? 1 : part_of(extent, most);
}
