/* tuner/task/widen.c - rewrites a program in float64. */
#include "tuner/task/widen.h"

typedef struct widening {
    hone_func *func;
    bool *is_wide; /* by buffer */
    const char *problem;
} widening;

static hone_dtype wide(hone_dtype dtype) {
    return hone_dtype_is_float(dtype) ? hone_dtype_with_lanes(HONE_DTYPE_F64, dtype.lanes) : dtype;
}

/* A node whose children are widened already, made again so that its dtype follows. */
static const hone_expr *widen_expr(void *ctx, hone_ir *ir, const hone_expr *e) {
    widening *w = ctx;
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_FLOAT:
        return hone_expr_float(ir, wide(e->dtype), e->u.f);
    case HONE_EXPR_VAR:
        return hone_expr_var(ir, w->func->vars[e->u.var].dtype, e->u.var);
    case HONE_EXPR_BINARY:
        return hone_expr_binary(ir, (hone_op)e->op, e->args[0], e->args[1]);
    case HONE_EXPR_SELECT:
        return hone_expr_select(ir, e->args[0], e->args[1], e->args[2]);
    case HONE_EXPR_CAST:
        return hone_expr_cast(ir, wide(e->dtype), e->args[0]);
    case HONE_EXPR_RAMP:
        return hone_expr_ramp(ir, e->args[0], e->args[1], e->dtype.lanes);
    case HONE_EXPR_BROADCAST:
        return hone_expr_broadcast(ir, e->args[0], e->dtype.lanes);
    case HONE_EXPR_SHUFFLE:
        return hone_expr_shuffle(ir, e->count - e->dtype.lanes, e->dtype.lanes, e->args);
    case HONE_EXPR_LET:
        return hone_expr_let(ir, e->u.var, e->args[0], e->args[1]);
    case HONE_EXPR_LOAD: {
        hone_dtype dtype = hone_func_buffer(w->func, e->u.buffer)->dtype;
        const hone_expr *load = hone_expr_load(ir, dtype, e->u.buffer, e->count, e->args);
        return hone_expr_cast(ir, wide(dtype), load);
    }
    case HONE_EXPR_CALL:
        if (hone_expr_is_call(e, HONE_INTRIN_REINTERPRET) ||
            hone_expr_is_call(e, HONE_INTRIN_ADDRESS_OF) ||
            hone_expr_is_call(e, HONE_INTRIN_ACCESS_PTR) ||
            !hone_intrin_is_pure((hone_intrin)e->op)) {
            w->problem = hone_intrin_spelling((hone_intrin)e->op);
        }
        return hone_expr_call(ir, wide(e->dtype), (hone_intrin)e->op, e->count, e->args);
    default:
        return e;
    }
}

/* Buffers that some store or view writes. */
static void find_written(widening *w) {
    const hone_func *func = w->func;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_STORE) w->is_wide[node->u.store.buffer] = true;
        if (node->kind != HONE_NODE_BLOCK) continue;
        if (node->u.block.block->match_count) w->problem = "match_buffer";
        for (uint32_t i = 0; i < node->u.block.block->alloc_count; i++) {
            w->is_wide[node->u.block.block->allocs[i]] = true;
        }
    }
}

/* A float parameter whose old values matter has no f64 twin: its input is not f64. A reduction that
 * starts with an init only reads what it wrote. */
static bool reads_old_output(const hone_func *func, const bool *is_wide, hone_arena *arena) {
    bool *is_read = hone_arena_zalloc(arena, (func->buffer_count + 1) * sizeof *is_read);
    if (!is_read) return true;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_BLOCK || hone_block_init_of(func, n) != HONE_NO_ID) continue;
        if (n == hone_func_root_block(func)) continue;
        const hone_block *block = node->u.block.block;
        for (uint32_t r = 0; r < block->read_count; r++) {
            for (uint32_t k = 0; k < block->write_count; k++) {
                if (block->reads[r].buffer == block->writes[k].buffer) {
                    is_read[block->reads[r].buffer] = true;
                }
            }
        }
    }
    for (uint32_t i = 0; i < func->param_count; i++) {
        hone_buffer b = func->params[i].buffer;
        if (b == HONE_NO_ID || !hone_dtype_is_float(func->buffers[b].dtype)) continue;
        if (is_wide[b] && is_read[b]) return true;
    }
    return false;
}

hone_status hone_func_widen(const hone_func *func, hone_arena *arena, hone_func **out_func) {
    *out_func = NULL;
    hone_func *copy = hone_func_copy_deep(arena, func);
    widening w = {.func = copy};
    w.is_wide = hone_arena_zalloc(arena, (func->buffer_count + 1) * sizeof *w.is_wide);
    if (!copy || !w.is_wide) return HONE_ERROR(HONE_CODE_NO_MEMORY, "reference program");
    find_written(&w);
    if (reads_old_output(func, w.is_wide, arena)) w.problem = "a float buffer updated in place";
    for (uint32_t b = 0; b < copy->buffer_count; b++) {
        if (w.is_wide[b]) copy->buffers[b].dtype = wide(copy->buffers[b].dtype);
    }
    for (uint32_t v = 0; v < copy->var_count; v++) {
        copy->vars[v].dtype = wide(copy->vars[v].dtype);
    }
    HONE_TRY(hone_tree_transform(copy, 0, widen_expr, &w, true));
    if (w.problem) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "no f64 twin: the program uses %s", w.problem);
    }
    *out_func = copy;
    return HONE_OK;
}
