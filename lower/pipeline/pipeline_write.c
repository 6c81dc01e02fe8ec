/* lower/pipeline/pipeline_write.c - the statements of a pipelined loop as prologue, body and
 * epilogue. */
#include "lower/pipeline/pipeline_write.h"

#include "lower/ground/pipelined.h"

/* ---- one iteration of a part ---- */

hone_status lower_pipe_emit(lower_pipe *pipe, hone_node_id part, const hone_expr *iteration,
                            const hone_expr *guard, hone_node_id into) {
    hone_func *func = pipe->scope.lower->func;
    hone_var var = hone_func_node(func, pipe->loop)->u.loop.var;
    if (!iteration) return hone_ir_finish(&pipe->scope.lower->ir);
    HONE_TRY(lower_substitute_one(func, part, var, iteration));
    if (pipe->condition) {
        const hone_expr *condition =
            hone_expr_substitute_one(&pipe->scope.lower->ir, pipe->condition, var, iteration);
        guard = lower_and(&pipe->scope.lower->ir, guard, condition);
    }
    HONE_TRY(hone_ir_finish(&pipe->scope.lower->ir));
    if (guard) HONE_TRY(lower_guard_children(func, part, guard));
    hone_tree_move_children(func, part, into);
    return HONE_OK;
}

hone_status lower_pipe_copy(lower_pipe *pipe, const lower_part *part, const hone_expr *iteration,
                            const hone_expr *guard, hone_node_id into) {
    hone_func *func = pipe->scope.lower->func;
    hone_node_id copy = hone_tree_copy(func, part->node);
    if (copy == HONE_NO_ID) return LOWER_NO_MEMORY();
    HONE_TRY(lower_rename_vars(pipe->scope.lower, copy));
    HONE_TRY(lower_rename_buffers(func, copy));
    return lower_pipe_emit(pipe, copy, iteration, guard, into);
}

const lower_part *lower_pipe_part(const lower_pipe *pipe, int64_t order) {
    const lower_part *part = pipe->parts;
    while (part->order != order)
        part++;
    return part;
}

const hone_expr *lower_pipe_moved(lower_pipe *pipe, const hone_expr *base, int64_t offset) {
    hone_ir *ir = &pipe->scope.lower->ir;
    if (!base || offset == 0) return base;
    return hone_simplify_plain(ir, hone_expr_add(ir, base, hone_expr_int(ir, base->dtype, offset)));
}

/* Are there at least so many iterations? NULL = surely. */
static const hone_expr *has_iterations(lower_pipe *pipe, int64_t count) {
    const hone_expr *extent =
        hone_func_node(pipe->scope.lower->func, pipe->loop)->u.loop.range.extent;
    hone_ir *ir = &pipe->scope.lower->ir;
    if (hone_expr_is_int(extent) && extent->u.i >= count) return NULL;
    return hone_expr_binary(ir, HONE_OP_LE, hone_expr_int(ir, extent->dtype, count), extent);
}

static hone_status emit_prologue(lower_pipe *pipe, hone_node_id into) {
    const hone_range range = hone_func_node(pipe->scope.lower->func, pipe->loop)->u.loop.range;
    for (int64_t time = 0; time < pipe->last_stage; time++) {
        for (uint32_t order = 0; order < pipe->part_count; order++) {
            const lower_part *part = lower_pipe_part(pipe, order);
            int64_t i = time - part->stage;
            if (i < 0 || (hone_expr_is_int(range.extent) && i >= range.extent->u.i)) continue;
            HONE_TRY(lower_pipe_copy(pipe, part, lower_pipe_moved(pipe, range.min, i),
                                     has_iterations(pipe, i + 1), into));
        }
    }
    return HONE_OK;
}

static hone_status emit_epilogue(lower_pipe *pipe, hone_node_id into) {
    const hone_range range = hone_func_node(pipe->scope.lower->func, pipe->loop)->u.loop.range;
    const hone_expr *end = hone_expr_add(&pipe->scope.lower->ir, range.min, range.extent);
    for (int64_t late = 0; late < pipe->last_stage; late++) {
        int64_t least = pipe->last_stage - late; /* else the prologue has done it */
        if (hone_expr_is_int(range.extent) && range.extent->u.i < least) continue;
        for (uint32_t order = 0; order < pipe->part_count; order++) {
            const lower_part *part = lower_pipe_part(pipe, order);
            if (late >= part->stage) continue;
            HONE_TRY(lower_pipe_copy(pipe, part, lower_pipe_moved(pipe, end, late - part->stage),
                                     has_iterations(pipe, least), into));
        }
    }
    return HONE_OK;
}

/* The loop itself, with all parts. */
static hone_status emit_body(lower_pipe *pipe, hone_node_id into) {
    hone_func *func = pipe->scope.lower->func;
    hone_ir *ir = &pipe->scope.lower->ir;
    hone_range *range = &hone_func_node(func, pipe->loop)->u.loop.range;
    const hone_expr *none = hone_expr_int(ir, range->extent->dtype, 0);
    const hone_expr *extent = lower_pipe_moved(pipe, range->extent, -pipe->last_stage);
    extent = hone_simplify_plain(ir, hone_expr_binary(ir, HONE_OP_MAX, extent, none));
    if (!extent) return hone_ir_finish(ir);
    range->extent = extent;
    if (hone_expr_is_int_value(extent, 0)) return HONE_OK;
    hone_tree_append(func, into, pipe->loop);
    const hone_expr *var =
        hone_func_var_expr(ir, func, hone_func_node(func, pipe->loop)->u.loop.var);
    for (uint32_t order = 0; order < pipe->part_count; order++) {
        const lower_part *part = lower_pipe_part(pipe, order);
        HONE_TRY(lower_pipe_emit(pipe, part->node,
                                 lower_pipe_moved(pipe, var, pipe->last_stage - part->stage), NULL,
                                 pipe->loop));
    }
    return HONE_OK;
}

static hone_status new_group(hone_lower *lower, hone_node_id parent, hone_node_id *out) {
    HONE_TRY(lower_new_mark(lower, LOWER_PART, out));
    hone_tree_append(lower->func, parent, *out);
    return HONE_OK;
}

void lower_pipe_empty(lower_pipe *pipe) {
    hone_func *func = pipe->scope.lower->func;
    for (uint32_t i = 0; i < pipe->part_count; i++)
        hone_tree_remove(func, pipe->parts[i].node);
    while (hone_func_node(func, pipe->loop)->first != HONE_NO_ID)
        hone_tree_remove(func, hone_func_node(func, pipe->loop)->first);
}

/* As part of a pipelined loop: three statements, the first of them with what stood before (the init
 * of a reduction that runs over this loop). */
static void join_nest(hone_func *func, hone_node_id box, hone_node_id prologue) {
    hone_node_id nest = hone_func_node(func, box)->parent;
    while (hone_func_node(func, box)->prev != HONE_NO_ID) {
        hone_node_id before = hone_func_node(func, box)->prev;
        hone_tree_remove(func, before);
        hone_tree_prepend(func, prologue, before);
    }
    lower_splice(func, nest);
}

hone_status lower_pipe_allocate(lower_pipe *pipe, hone_node_id box) {
    hone_func *func = pipe->scope.lower->func;
    for (hone_buffer b = 0; b < pipe->buffer_count; b++) {
        if (pipe->versions[b] == 0) continue;
        hone_node_id alloc = hone_func_add_node(func, HONE_NODE_ALLOC);
        if (alloc == HONE_NO_ID) return LOWER_NO_MEMORY();
        hone_func_node(func, alloc)->u.alloc.buffer = b;
        lower_wrap(func, box, alloc);
    }
    return HONE_OK;
}

hone_status lower_write_pipe(lower_pipe *pipe) {
    hone_func *func = pipe->scope.lower->func;
    hone_node_id box, groups[3];
    box = hone_func_add_node(func, HONE_NODE_ATTR);
    if (box == HONE_NO_ID) return LOWER_NO_MEMORY();
    for (int i = 0; i < 3; i++)
        HONE_TRY(new_group(pipe->scope.lower, box, &groups[i]));
    hone_node_id nest = hone_func_node(func, pipe->loop)->parent;
    hone_tree_replace(func, pipe->loop, box);
    lower_pipe_empty(pipe);
    HONE_TRY(emit_prologue(pipe, groups[0]));
    HONE_TRY(emit_epilogue(pipe, groups[2]));
    HONE_TRY(emit_body(pipe, groups[1]));
    bool is_nested = lower_is_attr(hone_func_node(func, nest), LOWER_NEST);
    if (is_nested) {
        join_nest(func, box, groups[0]);
    } else {
        for (int i = 0; i < 3; i++)
            lower_splice(func, groups[i]);
    }
    HONE_TRY(lower_pipe_allocate(pipe, box));
    lower_splice(func, box);
    return HONE_OK;
}
