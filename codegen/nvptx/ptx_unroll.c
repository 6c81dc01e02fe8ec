/* codegen/nvptx/ptx_unroll.c - how many steps of which loops become one.
 *
 * Registers have no addresses: a thread's own array lives in them only where all its places are
 * constants, so loops that such a place depends on are unrolled up to a size at which a kernel
 * would have other troubles. Others are where they are short, as CUDA's compiler does: their loads
 * are started together, as many as there are registers for; but those that copy in the background
 * are not. */
#include <string.h>

#include "codegen/groups.h"
#include "codegen/nvptx/nvptx.h"

/* Statements, all repetitions counted. A product of groups of warps has hundreds of registers. */
enum { SHORT = 2048, LONG = 16384, PRODUCT = 256 };

bool ptx_is_own(const hone_func *func, hone_buffer buffer) {
    hone_buffer storage = hone_func_storage(func, buffer);
    const char *scope = func->buffers[storage].scope;
    return !(scope && strncmp(scope, "shared", 6) == 0) && !hone_func_is_parameter(func, storage);
}

static int64_t size_below(const hone_func *func, hone_node_id parent);

/* Statements of a node, repeated as often as constant loops say; LONG + 1 for more than that. */
static int64_t size_of(const hone_func *func, hone_node_id id) {
    const hone_node *node = hone_func_node(func, id);
    bool is_product = node->kind == HONE_NODE_EVAL && groups_is_product(node->u.eval.value);
    int64_t size = (is_product ? PRODUCT : 1) + size_below(func, id), times = 1;
    if (node->kind == HONE_NODE_FOR && node->loop_kind != HONE_LOOP_THREAD) {
        times = hone_expr_const(node->u.loop.range.extent);
        if (times < 0 || times > LONG) return LONG + 1;
    }
    return size * times > LONG ? LONG + 1 : size * times;
}

static int64_t size_below(const hone_func *func, hone_node_id parent) {
    int64_t size = 0;
    for (hone_node_id c = hone_func_node(func, parent)->first; c != HONE_NO_ID && size <= LONG;
         c = hone_func_node(func, c)->next)
        size += size_of(func, c);
    return size;
}

typedef struct walk {
    const gen *g;
    bool *varies; /* by variable: it follows from the loop's */
    bool is_found;
} walk;

static bool is_varying(const void *ctx, const hone_expr *e) {
    const bool *varies = ctx;
    return e->kind == HONE_EXPR_VAR && varies[e->u.var];
}

/* is_varying, but for where others' memory begins. */
static bool places_varying(void *ctx, const hone_expr *e) {
    walk *w = ctx;
    bool is_pointer = hone_expr_is_call(e, HONE_INTRIN_ACCESS_PTR) && e->count == 5 &&
                      e->args[1]->kind == HONE_EXPR_VAR;
    hone_buffer buffer =
        is_pointer ? codegen_buffer_of_data(w->g->func, e->args[1]->u.var) : HONE_NO_ID;
    if (buffer != HONE_NO_ID && !ptx_is_own(w->g->func, buffer)) return false;
    w->is_found |= is_varying(w->varies, e);
    return !w->is_found;
}

static bool varies(const walk *w, const hone_expr *e) {
    return hone_expr_find(e, is_varying, w->varies) != NULL;
}

/* Looks for registers that vary in an instruction that is told where its registers are. */
static void find_registers(walk *w, const hone_expr *e) {
    static const char *const without[] = {"s_tir.cp_async_raw", "ptx.cp_async", "tvm_warp_shuffle",
                                          "cuda.__shfl"};
    const char *name = e->count && e->args[0]->kind == HONE_EXPR_STRING ? e->args[0]->u.s : "";
    for (size_t i = 0; i < HONE_COUNT(without); i++) {
        if (strncmp(name, without[i], strlen(without[i])) == 0) return;
    }
    bool is_ldmatrix = strcmp(name, "ptx_legacy.ldmatrix") == 0 && e->count == 8;
    hone_expr_walk(is_ldmatrix ? e->args[5] : e, places_varying, w);
}

/* Own memory at a place that varies, or such an instruction. */
static bool find_place(void *ctx, const hone_expr *e) {
    walk *w = ctx;
    if (e->kind == HONE_EXPR_LOAD && ptx_is_own(w->g->func, e->u.buffer)) {
        w->is_found |= varies(w, e->args[0]);
    }
    if (hone_expr_is_call(e, HONE_INTRIN_NAMED)) find_registers(w, e);
    return !w->is_found;
}

static bool is_place_varying(walk *w, hone_node_id loop) {
    const hone_func *func = w->g->func;
    hone_tree_walk_parts(func, loop, false, find_place, w);
    for (hone_node_id n = loop; n != HONE_NO_ID && !w->is_found;
         n = hone_tree_next(func, loop, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_STORE && ptx_is_own(func, node->u.store.buffer)) {
            w->is_found = varies(w, node->u.store.indices[0]);
        }
    }
    return w->is_found;
}

/* Names given below the loop to what follows from its variable. */
static void find_varying(walk *w, hone_node_id loop) {
    const hone_func *func = w->g->func;
    w->varies[hone_func_node(func, loop)->u.loop.var] = true;
    for (hone_node_id n = loop; n != HONE_NO_ID; n = hone_tree_next(func, loop, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_LET) w->varies[node->u.let.var] = varies(w, node->u.let.value);
    }
}

static bool is_copy_call(const void *ctx, const hone_expr *e) {
    (void)ctx;
    return hone_expr_is_named(e, "ptx.cp");
}

/* It copies in the background: what is to be started early has been. */
static bool is_pipeline(const hone_func *func, hone_node_id loop) {
    return hone_tree_find_part(func, loop, false, is_copy_call, NULL) != NULL;
}

static bool begin(walk *w, const gen *g, hone_node_id loop) {
    *w = (walk){.g = g, .varies = hone_arena_zalloc(g->arena, g->func->var_count + 1)};
    if (w->varies) find_varying(w, loop);
    return w->varies != NULL;
}

bool ptx_varies(const gen *g, hone_node_id loop, const hone_expr *e) {
    walk w;
    return begin(&w, g, loop) && varies(&w, e);
}

bool ptx_has_places(const gen *g, hone_node_id loop) {
    walk w;
    return size_of(g->func, loop) <= LONG && begin(&w, g, loop) && is_place_varying(&w, loop);
}

int64_t ptx_unrolls(gen *g, hone_node_id loop) {
    int64_t extent = hone_expr_const(hone_func_node(g->func, loop)->u.loop.range.extent);
    if (extent < 1) return 1;
    if (ptx_has_places(g, loop)) return extent;
    bool is_short = size_of(g->func, loop) <= SHORT && !is_pipeline(g->func, loop);
    return is_short ? ptx_steps_at_once(g, loop) : 1;
}
