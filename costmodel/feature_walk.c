/* costmodel/feature_walk.c - walks the statement tree with the stack of loops around. */
#include <assert.h>
#include <string.h>

#include "costmodel/feature_impl.h"
#include "support/core/alloc.h"

static const char *const thread_tags[THREAD_AXES] = {
    "blockIdx.x",  "blockIdx.y",  "blockIdx.z", "threadIdx.x",
    "threadIdx.y", "threadIdx.z", "vthread", /* also vthread.x, … */
};

static int8_t thread_axis(const char *tag) {
    for (int i = 0; tag && i < THREAD_AXES; i++) {
        if (strncmp(tag, thread_tags[i], strlen(thread_tags[i])) == 0) return (int8_t)i;
    }
    return NO_THREAD;
}

/* ---- loops ---- */

/* A loop variable: slope 1 at its own level, a constant when the loop has one iteration. */
static void bind_loop_var(hone_feature_state *s, hone_var var, const hone_range *range, int level) {
    index_value v = {.depth = s->depth};
    int64_t min = range->min && hone_expr_is_int(range->min) ? range->min->u.i : 0;
    v.constant = (double)min;
    v.is_constant = level < 0;
    if (level >= 0) {
        v.slope[level] = 1;
        for (int k = 0; k <= level; k++)
            v.span[k] = s->loops[level].extent - 1;
    }
    feature_bind(s, var, &v);
}

/* True when the loop went on the stack. */
static bool push_loop(hone_feature_state *s, hone_node_id id, const hone_node *node) {
    int64_t extent = hone_expr_const(node->u.loop.range.extent);
    bool fits = extent > 1 && s->depth < MAX_LOOPS;
    if (fits) {
        s->loops[s->depth] = (feature_loop){
            .node = id,
            .extent = (double)extent,
            .kind = node->loop_kind,
            .thread = thread_axis(node->u.loop.thread_tag),
        };
        s->depth++;
    }
    bind_loop_var(s, node->u.loop.var, &node->u.loop.range, fits ? s->depth - 1 : -1);
    return fits;
}

/* The unroll limit that a loop or block asks for; the one around it when it says nothing. */
static int64_t unroll_step(const hone_attrs *attrs, int64_t around) {
    static const char *const keys[] = {"pragma_auto_unroll_max_step",
                                       "meta_schedule.unroll_explicit",
                                       "meta_schedule.unroll_implicit"};
    for (size_t i = 0; i < HONE_COUNT(keys); i++) {
        int64_t step = hone_attrs_int(attrs, keys[i], -1);
        if (step >= 0) return step;
    }
    return around;
}

/* What lowering is asked for at a loop, for all that is below it: a number each; one that may be 0
 * counts from 1. */
static void note_wishes(const hone_attrs *attrs, double *io) {
    static const struct {
        const char *key;
        double base;
    } wishes[WISH_COUNT] = {
        {"pragma_vector_reduce",   0},
        {"pragma_prefetch",        0},
        {"pragma_prefetch_stores", 1},
        {"pragma_streaming_store", 0},
    };
    for (size_t i = 0; i < WISH_COUNT && attrs->count; i++) {
        int64_t value = hone_attrs_int(attrs, wishes[i].key, -1);
        if (value >= 0) io[i] = (double)value + wishes[i].base;
    }
}

/* ---- statements ---- */

static void walk_children(hone_feature_state *s, const hone_node *node, int depth);
static bool is_of_constants(hone_feature_state *s, hone_node_id nest);

static void walk_loop(hone_feature_state *s, hone_node_id id, const hone_node *node, int depth) {
    int64_t around = s->unroll_step, extent = hone_expr_const(node->u.loop.range.extent);
    double wishes_around[WISH_COUNT];
    double extra = s->extra;
    if (extent == 0) return;
    memcpy(wishes_around, s->wishes, sizeof wishes_around);
    note_wishes(&node->u.loop.annotations, s->wishes);
    s->unroll_step = unroll_step(&node->u.loop.annotations, around);
    bool is_pushed = push_loop(s, id, node);
    if (!is_pushed && extent > 1) s->extra *= (double)extent;
    walk_children(s, node, depth);
    if (is_pushed) s->depth--;
    s->extra = extra;
    s->unroll_step = around;
    memcpy(s->wishes, wishes_around, sizeof wishes_around);
}

static void note_alloc(hone_feature_state *s, hone_buffer buffer) {
    if (buffer < s->buffers.count) s->buffers.data[buffer].is_inner = true;
}

static void walk_block(hone_feature_state *s, const hone_node *node, int depth) {
    const hone_block *block = node->u.block.block;
    int64_t around = s->unroll_step;
    bool is_guarded =
        node->u.block.predicate && !hone_expr_is_int_value(node->u.block.predicate, 1);
    for (uint32_t i = 0; i < block->axis_count; i++) {
        index_value value;
        s->expr_budget = MAX_EXPR_NODES;
        feature_eval(s, node->u.block.bindings[i], 0, &value);
        feature_bind(s, block->axes[i].var, &value);
    }
    for (uint32_t i = 0; i < block->alloc_count; i++)
        note_alloc(s, block->allocs[i]);
    s->unroll_step = unroll_step(&block->annotations, around);
    s->guards += is_guarded;
    walk_children(s, node, depth);
    s->guards -= is_guarded;
    s->unroll_step = around;
}

static void walk_store(hone_feature_state *s, const hone_node *node) {
    const hone_expr *value = node->u.store.value;
    bool is_constant = value->kind == HONE_EXPR_INT || value->kind == HONE_EXPR_FLOAT;
    if (s->in_init && is_constant) return; /* free beside the reduction that follows */
    feature_measure(s, node->u.store.buffer, node->u.store.indices, value);
    feature_add_statement(s);
}

static void walk_let(hone_feature_state *s, const hone_node *node) {
    index_value value;
    s->expr_budget = MAX_EXPR_NODES;
    feature_eval(s, node->u.let.value, 0, &value);
    feature_bind(s, node->u.let.var, &value);
}

static void walk(hone_feature_state *s, hone_node_id id, int depth) {
    const hone_node *node = hone_func_node(s->func, id);
    bool in_init = s->in_init;
    if (depth >= MAX_TREE_DEPTH || s->failed) return;
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
        walk_loop(s, id, node, depth);
        break;
    case HONE_NODE_BLOCK:
        walk_block(s, node, depth);
        break;
    case HONE_NODE_INIT:
        s->in_init = true;
        walk_children(s, node, depth);
        s->in_init = in_init;
        break;
    case HONE_NODE_IF:
    case HONE_NODE_WHILE:
        s->guards++;
        walk_children(s, node, depth);
        s->guards--;
        break;
    case HONE_NODE_LET:
        walk_let(s, node);
        walk_children(s, node, depth);
        break;
    case HONE_NODE_ALLOC:
        note_alloc(s, node->u.alloc.buffer);
        walk_children(s, node, depth);
        break;
    case HONE_NODE_STORE:
        walk_store(s, node);
        break;
    case HONE_NODE_EVAL:
        feature_measure(s, HONE_NO_ID, NULL, node->u.eval.value);
        feature_add_statement(s);
        break;
    default:
        walk_children(s, node, depth);
        break;
    }
}

static void walk_children(hone_feature_state *s, const hone_node *node, int depth) {
    for (hone_node_id child = node->first; child != HONE_NO_ID;
         child = hone_func_node(s->func, child)->next) {
        bool is_nest = s->root != HONE_NO_ID && node == hone_func_node(s->func, s->root);
        if (!is_nest || !is_of_constants(s, child)) walk(s, child, depth + 1);
    }
}

/* ---- constants ---- */

static bool is_constant(const hone_feature_state *s, hone_buffer buffer) {
    return s->buffers.data[buffer].is_constant;
}

static bool reads_constants(const hone_feature_state *s, const hone_block *block) {
    for (uint32_t r = 0; r < block->read_count; r++) {
        if (!is_constant(s, block->reads[r].buffer)) return false;
    }
    return block->read_count > 0;
}

/* Every block of the nest reads constants only; what it writes is constant from here on. */
static bool is_of_constants(hone_feature_state *s, hone_node_id nest) {
    for (hone_node_id n = nest; n != HONE_NO_ID; n = hone_tree_next(s->func, nest, n)) {
        const hone_node *node = hone_func_node(s->func, n);
        if (node->kind != HONE_NODE_BLOCK) continue;
        const hone_block *block = node->u.block.block;
        if (!reads_constants(s, block)) return false;
        for (uint32_t w = 0; w < block->write_count; w++)
            s->buffers.data[block->writes[w].buffer].is_constant = true;
    }
    return true;
}

static void mark_parameters(hone_feature_state *s, uint64_t constants) {
    uint32_t number = 0;
    for (uint32_t i = 0; i < s->func->param_count && number < 64; i++) {
        hone_buffer buffer = s->func->params[i].buffer;
        if (buffer == HONE_NO_ID) continue;
        s->buffers.data[buffer].is_constant = constants >> number++ & 1;
    }
    s->root = constants ? hone_func_root_block(s->func) : HONE_NO_ID;
}

/* ---- the public functions ---- */

hone_status hone_feature_state_create(hone_feature_state **out_state) {
    assert(out_state);
    *out_state = hone_calloc(1, sizeof **out_state);
    return *out_state ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "feature extractor");
}

void hone_feature_state_destroy(hone_feature_state *state) {
    if (!state) return;
    hone_vec_deinit(&state->slots);
    hone_vec_deinit(&state->values);
    hone_vec_deinit(&state->buffers);
    hone_vec_deinit(&state->rows);
    hone_vec_deinit(&state->columns);
    hone_free(state);
}

static bool begin(hone_feature_state *s, const hone_func *func, const hone_target *target) {
    s->func = func;
    s->target = target;
    s->vector_registers = hone_target_vector_registers(target);
    s->depth = s->guards = 0;
    s->extra = 1;
    s->unroll_step = 0;
    memset(s->wishes, 0, sizeof s->wishes);
    s->in_init = s->failed = false;
    hone_vec_clear(&s->slots);
    hone_vec_clear(&s->values);
    hone_vec_clear(&s->buffers);
    hone_vec_clear(&s->rows);
    hone_vec_clear(&s->columns);
    return hone_vec_resize(&s->slots, func->var_count) &&
           hone_vec_resize(&s->buffers, func->buffer_count);
}

hone_status hone_feature_extract(hone_feature_state *state, const hone_func *func,
                                 uint64_t constants, const hone_target *target,
                                 const float **out_rows, uint32_t *out_row_count) {
    assert(state && func && target && out_rows && out_row_count);
    *out_rows = NULL;
    *out_row_count = 0;
    if (begin(state, func, target)) {
        mark_parameters(state, constants);
        if (func->node_count) walk(state, 0, 0);
        feature_finish_rows(state);
    } else {
        state->failed = true;
    }
    if (state->failed) return HONE_ERROR(HONE_CODE_NO_MEMORY, "features");
    *out_rows = state->columns.data;
    *out_row_count = (uint32_t)state->rows.count;
    return HONE_OK;
}
