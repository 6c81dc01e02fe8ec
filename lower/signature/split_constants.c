/* lower/signature/split_constants.c - see split_constants.h.
 *
 * needs: a root block. Nests are its children. All nests that could move are assumed to; then those
 * that touch what a staying nest writes, or write what the caller sees, are taken back, until
 * nothing changes. */
#include "lower/signature/split_constants.h"

#include <string.h>

#include "lower/dot/widen_copies.h"
#include "lower/ground/accesses.h"
#include "lower/ground/passes.h"
#include "support/data/tensor.h"

/* Packing rearranges and pads, a transformation of 3x3 filters to 6x6 makes four of one; what grows
 * more than this is computed, not stored. */
enum { MAX_GROWTH = 8 };

/* Short floats are packed as float32 up to here: more would not stay in a core's caches, and a
 * model of many short floats was made to be small. */
enum { MAX_WIDENED_BYTES = 1 << 18 };

typedef struct nest {
    hone_node_id node;
    bool moves;
    bool *reads, *writes; /* by buffer */
} nest;

typedef struct splitter {
    const hone_func *func;
    hone_arena *arena;
    const hone_block *root;
    hone_node_id root_node;
    nest *nests;
    uint32_t nest_count;
    hone_buffer *storage; /* by buffer: what it is a view of */
    bool *is_constant;    /* by buffer: a parameter that is one */
    bool *is_local;       /* by buffer: allocated by the root block */
    nest *now;            /* being looked at */
} splitter;

/* ---- what nests touch ---- */

static void find_storage(splitter *s) {
    const hone_func *func = s->func;
    for (hone_buffer b = 0; b < func->buffer_count; b++)
        s->storage[b] = b;
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        if (func->buffers[b].alias_of != HONE_NO_ID) s->storage[b] = func->buffers[b].alias_of;
    }
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_BLOCK) continue;
        for (uint32_t i = 0; i < node->u.block.block->match_count; i++) {
            const hone_match *match = &node->u.block.block->matches[i];
            s->storage[match->buffer] = match->source.buffer;
        }
    }
}

static hone_buffer storage_of(const splitter *s, hone_buffer b) {
    for (int hops = 0; hops < 64 && s->storage[b] != b; hops++)
        b = s->storage[b];
    return b;
}

/* A handle gives whoever has it the right to write. */
static void touch_handle(splitter *s, hone_var var) {
    for (hone_buffer b = 0; b < s->func->buffer_count; b++) {
        if (s->func->buffers[b].data != var) continue;
        s->now->reads[storage_of(s, b)] = s->now->writes[storage_of(s, b)] = true;
    }
}

/* prefetch(address_of(B[i]), ...) writes nothing. */
static bool is_prefetch(const hone_expr *e) {
    return hone_expr_is_call(e, HONE_INTRIN_PREFETCH) && e->count > 0 &&
           hone_expr_is_call(e->args[0], HONE_INTRIN_ADDRESS_OF);
}

static void touch_expr(splitter *s, const hone_expr *e) {
    if (is_prefetch(e)) {
        s->now->moves = false;
        for (uint16_t i = 0; i < e->args[0]->count; i++)
            touch_expr(s, e->args[0]->args[i]);
        return;
    }
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_LOAD:
        s->now->reads[storage_of(s, e->u.buffer)] = true;
        break;
    case HONE_EXPR_VAR:
        if (hone_dtype_is_handle(e->dtype)) touch_handle(s, e->u.var);
        s->now->moves &= !s->func->vars[e->u.var].is_size;
        for (uint32_t p = 0; p < s->func->param_count; p++)
            s->now->moves &= s->func->params[p].var != e->u.var;
        break;
    case HONE_EXPR_CALL:
        if (e->op == HONE_INTRIN_ADDRESS_OF && e->args[0]->kind == HONE_EXPR_LOAD) {
            s->now->writes[storage_of(s, e->args[0]->u.buffer)] = true;
        }
        s->now->moves &= !lower_has_effects(e);
        break;
    default:
        break;
    }
    for (uint16_t i = 0; i < e->count; i++)
        touch_expr(s, e->args[i]);
}

static void touch_top(void *ctx, hone_node_id at, const hone_expr *e) {
    (void)at;
    touch_expr(ctx, e);
}

static void touch_node(splitter *s, const hone_node *node) {
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
        s->now->moves &= node->loop_kind != HONE_LOOP_THREAD;
        return;
    case HONE_NODE_BLOCK:
        s->now->moves &=
            node->u.block.block->alloc_count == 0 && node->u.block.block->match_count == 0;
        return;
    case HONE_NODE_STORE:
        s->now->writes[storage_of(s, node->u.store.buffer)] = true;
        return;
    case HONE_NODE_INIT:
    case HONE_NODE_IF:
    case HONE_NODE_ELSE:
    case HONE_NODE_LET:
        return;
    default:
        s->now->moves = false;
    }
}

static hone_status look_at(splitter *s, nest *n) {
    size_t count = s->func->buffer_count + 1;
    n->reads = hone_arena_zalloc(s->arena, count);
    n->writes = hone_arena_zalloc(s->arena, count);
    if (!n->reads || !n->writes) return LOWER_NO_MEMORY();
    n->moves = true;
    s->now = n;
    for (hone_node_id at = n->node; at != HONE_NO_ID; at = hone_tree_next(s->func, n->node, at))
        touch_node(s, hone_func_node(s->func, at));
    hone_tree_walk_exprs(s->func, n->node, true, touch_top, s);
    return HONE_OK;
}

/* ---- which nests move ---- */

/* As a tensor of its own: constant shape, dense, seen under its own name. */
static bool is_plain_buffer(const splitter *s, hone_buffer b) {
    const hone_buffer_info *info = &s->func->buffers[b];
    return s->is_local[b] && hone_buffer_elements(info) > 0 && info->rank <= HONE_MAX_RANK &&
           !info->strides && !info->elem_offset && info->separator_count == 0 &&
           info->form == HONE_BUFFER_PLAIN;
}

static bool writers_move(const splitter *s, hone_buffer b, uint32_t before) {
    bool is_written = false;
    for (uint32_t i = 0; i < s->nest_count; i++) {
        if (!s->nests[i].writes[b]) continue;
        if (!s->nests[i].moves) return false;
        is_written |= i <= before;
    }
    return is_written;
}

/* Whether a nest that stays reads the buffer before the last of its writers. */
static bool is_read_between(const splitter *s, hone_buffer b) {
    bool is_read = false;
    for (uint32_t i = 0; i < s->nest_count; i++) {
        if (is_read && s->nests[i].writes[b]) return true;
        is_read |= !s->nests[i].moves && s->nests[i].reads[b];
    }
    return false;
}

static bool may_move(const splitter *s, uint32_t i) {
    const nest *n = &s->nests[i];
    for (hone_buffer b = 0; b < s->func->buffer_count; b++) {
        if (n->reads[b] && !s->is_constant[b] && !writers_move(s, b, i)) return false;
        if (!n->writes[b]) continue;
        if (!is_plain_buffer(s, b) || !writers_move(s, b, s->nest_count)) return false;
        if (is_read_between(s, b)) return false;
    }
    return true;
}

static void decide(splitter *s) {
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < s->nest_count; i++) {
            if (!s->nests[i].moves || may_move(s, i)) continue;
            s->nests[i].moves = false;
            changed = true;
        }
    }
}

static bool is_read_by(const splitter *s, hone_buffer b, bool movers) {
    for (uint32_t i = 0; i < s->nest_count; i++) {
        if (s->nests[i].moves == movers && s->nests[i].reads[b]) return true;
    }
    return false;
}

static bool is_written_by_movers(const splitter *s, hone_buffer b) {
    for (uint32_t i = 0; i < s->nest_count; i++) {
        if (s->nests[i].moves && s->nests[i].writes[b]) return true;
    }
    return false;
}

/* ---- the two functions ---- */

static hone_status find_inputs(splitter *s, hone_constant_split *out) {
    const hone_func *func = s->func;
    uint32_t *inputs = hone_arena_alloc(s->arena, (func->param_count + 1) * sizeof *inputs);
    hone_buffer *outputs = hone_arena_alloc(s->arena, (func->buffer_count + 1) * sizeof *outputs);
    if (!inputs || !outputs) return LOWER_NO_MEMORY();
    uint32_t number = 0;
    for (uint32_t p = 0; p < func->param_count; p++) {
        hone_buffer b = func->params[p].buffer;
        if (b == HONE_NO_ID) continue;
        if (s->is_constant[b] && is_read_by(s, b, true)) inputs[out->input_count++] = number;
        number++;
    }
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        if (is_written_by_movers(s, b) && is_read_by(s, b, false)) outputs[out->output_count++] = b;
    }
    out->inputs = inputs;
    out->outputs = outputs;
    return HONE_OK;
}

static int64_t bytes_of(const hone_func *func, hone_buffer b) {
    int64_t elements = hone_buffer_elements(&func->buffers[b]), bytes;
    int64_t each = (int64_t)hone_dtype_bytes(func->buffers[b].dtype);
    return elements < 0 || __builtin_mul_overflow(elements, each, &bytes) ? INT64_MAX / 64 : bytes;
}

static const hone_param *param_of_number(const splitter *s, uint32_t number) {
    for (uint32_t p = 0; p < s->func->param_count; p++) {
        if (s->func->params[p].buffer == HONE_NO_ID) continue;
        if (number-- == 0) return &s->func->params[p];
    }
    return NULL;
}

static bool is_worth_it(const splitter *s, const hone_constant_split *out) {
    int64_t in = 0, made = 0;
    for (uint32_t i = 0; i < out->input_count; i++)
        in += bytes_of(s->func, param_of_number(s, out->inputs[i])->buffer);
    for (uint32_t i = 0; i < out->output_count; i++)
        made += bytes_of(s->func, out->outputs[i]);
    return out->input_count > 0 && out->output_count > 0 && made <= MAX_GROWTH * in;
}

/* The function with only the nests that move, or only those that stay, and without the given
 * buffers among what the root block allocates. */
static hone_func *keep_nests(const splitter *s, bool movers, const bool *is_gone) {
    hone_func *func = hone_func_clone(s->arena, s->func);
    hone_block *root = func ? hone_block_copy(s->arena, s->root) : NULL;
    hone_buffer *allocs = hone_arena_alloc(s->arena, (s->root->alloc_count + 1) * sizeof *allocs);
    if (!root || !allocs) return NULL;
    root->alloc_count = 0;
    for (uint32_t i = 0; i < s->root->alloc_count; i++) {
        if (!is_gone[s->root->allocs[i]]) allocs[root->alloc_count++] = s->root->allocs[i];
    }
    root->allocs = allocs;
    hone_func_node(func, s->root_node)->u.block.block = root;
    for (uint32_t i = 0; i < s->nest_count; i++) {
        if (s->nests[i].moves != movers) hone_tree_remove(func, s->nests[i].node);
    }
    return func;
}

static hone_status make_constants(const splitter *s, hone_constant_split *out) {
    bool *is_gone = hone_arena_zalloc(s->arena, s->func->buffer_count + 1);
    hone_param *params =
        hone_arena_zalloc(s->arena, (out->input_count + out->output_count + 1) * sizeof *params);
    if (!is_gone || !params) return LOWER_NO_MEMORY();
    for (hone_buffer b = 0; b < s->func->buffer_count; b++)
        is_gone[b] = !is_written_by_movers(s, b);
    uint32_t count = 0;
    for (uint32_t i = 0; i < out->input_count; i++)
        params[count++] = *param_of_number(s, out->inputs[i]);
    for (uint32_t i = 0; i < out->output_count; i++) {
        is_gone[out->outputs[i]] = true;
        params[count++] = (hone_param){HONE_NO_ID, out->outputs[i]};
    }
    hone_func *func = keep_nests(s, true, is_gone);
    if (!func) return LOWER_NO_MEMORY();
    func->params = params;
    func->param_count = count;
    out->constants = func;
    return HONE_OK;
}

static hone_status make_rest(const splitter *s, hone_constant_split *out) {
    const hone_func *old = s->func;
    bool *is_gone = hone_arena_zalloc(s->arena, old->buffer_count + 1);
    uint32_t most = old->param_count + out->output_count + 1, count = 0;
    hone_param *params = hone_arena_zalloc(s->arena, most * sizeof *params);
    int32_t *args = hone_arena_zalloc(s->arena, most * sizeof *args), number = 0;
    if (!is_gone || !params || !args) return LOWER_NO_MEMORY();
    for (hone_buffer b = 0; b < old->buffer_count; b++)
        is_gone[b] = is_written_by_movers(s, b);
    for (uint32_t p = 0; p < old->param_count; p++) {
        hone_buffer b = old->params[p].buffer;
        bool is_used_up = b != HONE_NO_ID && s->is_constant[b] && is_read_by(s, b, true) &&
                          !is_read_by(s, b, false);
        if (!is_used_up) params[count++] = old->params[p];
        if (!is_used_up && b != HONE_NO_ID) args[out->arg_count++] = number;
        number += b != HONE_NO_ID;
    }
    for (uint32_t i = 0; i < out->output_count; i++) {
        params[count++] = (hone_param){HONE_NO_ID, out->outputs[i]};
        args[out->arg_count++] = -1 - (int32_t)i;
    }
    hone_func *func = keep_nests(s, false, is_gone);
    if (!func) return LOWER_NO_MEMORY();
    for (uint32_t i = 0; i < out->output_count; i++)
        func->buffers[out->outputs[i]].scope = "global";
    func->params = params;
    func->param_count = count;
    out->rest = func;
    out->args = args;
    return HONE_OK;
}

/* ---- all of it ---- */

static hone_status begin(splitter *s, const bool *is_constant) {
    const hone_func *func = s->func;
    size_t count = func->buffer_count + 1;
    s->storage = hone_arena_zalloc(s->arena, count * sizeof *s->storage);
    s->is_constant = hone_arena_zalloc(s->arena, count);
    s->is_local = hone_arena_zalloc(s->arena, count);
    if (!s->storage || !s->is_constant || !s->is_local) return LOWER_NO_MEMORY();
    find_storage(s);
    uint32_t number = 0;
    for (uint32_t p = 0; p < func->param_count; p++) {
        hone_buffer b = func->params[p].buffer;
        if (b != HONE_NO_ID) s->is_constant[b] = is_constant[number++];
    }
    for (uint32_t i = 0; i < s->root->alloc_count; i++)
        s->is_local[s->root->allocs[i]] = true;
    hone_node_id first = hone_block_body_of(func, s->root_node);
    for (hone_node_id n = first; n != HONE_NO_ID; n = hone_func_node(func, n)->next)
        s->nest_count++;
    s->nests = hone_arena_zalloc(s->arena, (s->nest_count + 1) * sizeof *s->nests);
    if (!s->nests) return LOWER_NO_MEMORY();
    uint32_t i = 0;
    for (hone_node_id n = first; n != HONE_NO_ID; n = hone_func_node(func, n)->next) {
        s->nests[i].node = n;
        HONE_TRY(look_at(s, &s->nests[i++]));
    }
    return HONE_OK;
}

/* A parameter that is written is no constant, whatever the caller says. */
static void drop_written(splitter *s) {
    for (uint32_t i = 0; i < s->nest_count; i++) {
        for (hone_buffer b = 0; b < s->func->buffer_count; b++)
            s->is_constant[b] &= !s->nests[i].writes[b];
    }
}

/* Constants are to be packed as lowering wants them. */
static hone_status widen_copies(hone_func *func) {
    hone_node_id root = hone_func_root_block(func);
    HONE_TRY(hone_widen_pairs(func));
    if (root == HONE_NO_ID || lower_has_threads(func, root)) return HONE_OK;
    return hone_widen_floats(func, MAX_WIDENED_BYTES);
}

hone_status hone_split_constants(const hone_func *func, const bool *is_constant, hone_arena *arena,
                                 hone_constant_split *out_split) {
    memset(out_split, 0, sizeof *out_split);
    hone_func *widened = hone_func_clone(arena, func);
    if (!widened) return LOWER_NO_MEMORY();
    HONE_TRY(widen_copies(widened));
    func = widened;
    hone_node_id root = func->is_scheduled_form ? hone_func_root_block(func) : HONE_NO_ID;
    if (root == HONE_NO_ID || hone_func_node(func, root)->u.block.block->match_count > 0) {
        return HONE_OK;
    }
    splitter s = {.func = func,
                  .arena = arena,
                  .root = hone_func_node(func, root)->u.block.block,
                  .root_node = root};
    HONE_TRY(begin(&s, is_constant));
    drop_written(&s);
    decide(&s);
    hone_constant_split split = {0};
    HONE_TRY(find_inputs(&s, &split));
    if (!is_worth_it(&s, &split)) return HONE_OK;
    HONE_TRY(make_constants(&s, &split));
    HONE_TRY(make_rest(&s, &split));
    *out_split = split;
    return HONE_OK;
}
