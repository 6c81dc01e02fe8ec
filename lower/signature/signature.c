/* lower/signature/signature.c - parameters, sizes, roles and external functions of a program. */
#include "lower/signature/signature.h"

#include <string.h>

#include "ir/core/libm.h"
#include "ir/core/touches.h"
#include "ir/ops/fit.h"
#include "ir/region/size_needs.h"
#include "lower/ground/passes.h"
#include "lower/signature/plain_form.h"
#include "support/core/attributes.h"

typedef struct collector {
    const hone_func *func;
    hone_signature *out;
    bool *is_written;    /* by buffer */
    hone_buffer *source; /* by buffer: what match_buffer makes it a view of, or HONE_NO_ID */
    const char **externs;
    hone_lower loops; /* the program without blocks, once it was needed */
} collector;

/* Whose elements a buffer stands for. */
static hone_buffer storage_of(const collector *c, hone_buffer id) {
    for (int hops = 0; hops < 64; hops++) {
        hone_buffer alias = c->func->buffers[id].alias_of;
        if (alias == HONE_NO_ID) alias = c->source[id];
        if (alias == HONE_NO_ID) break;
        id = alias;
    }
    return id;
}

static void note_extern(collector *c, const char *name) {
    for (uint32_t i = 0; c->externs && i < c->out->extern_count; i++) {
        if (strcmp(c->externs[i], name) == 0) return;
    }
    if (c->externs) c->externs[c->out->extern_count] = name;
    c->out->extern_count++;
}

/* A pointer gives whoever has it the right to write. */
static void note_reference(void *ctx, const hone_reference *ref) {
    collector *c = ctx;
    if (ref->may_write) c->is_written[storage_of(c, ref->buffer)] = true;
}

static bool find_extern(void *ctx, const hone_expr *e) {
    bool is_call = hone_expr_is_call(e, HONE_INTRIN_CALL_EXTERN) ||
                   hone_expr_is_call(e, HONE_INTRIN_CALL_PACKED) ||
                   hone_expr_is_call(e, HONE_INTRIN_CALL_PURE_EXTERN);
    if (is_call && e->count > 0 && e->args[0]->kind == HONE_EXPR_STRING && !hone_libm_of_call(e)) {
        collector *c = ctx;
        const char *name = e->args[0]->u.s;
        if (!hone_lower_brings_along(c->func, name, false)) note_extern(c, name);
    }
    return true;
}

/* A view that blocks make of several buffers may write each of them. */
static void note_match(collector *c, const hone_match *match) {
    hone_buffer source = storage_of(c, match->source.buffer), view = match->buffer;
    if (c->source[view] != HONE_NO_ID && c->source[view] != source) {
        c->is_written[c->source[view]] = c->is_written[source] = true;
    }
    c->source[view] = source;
}

static void note_views(collector *c) {
    const hone_func *func = c->func;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_BLOCK) continue;
        for (uint32_t i = 0; i < node->u.block.block->match_count; i++) {
            note_match(c, &node->u.block.block->matches[i]);
        }
    }
}

/* The program as loops that show what is touched. */
static hone_status make_loops(collector *c, hone_arena *arena) {
    static const hone_lower_options options = {0};
    static hone_status (*const passes[])(hone_lower *) = {lower_hoist_init,    lower_init,
                                                          lower_match,         lower_blocks,
                                                          lower_show_counters, lower_show_numbers};
    hone_buffer *storage = hone_arena_alloc(arena, (c->func->buffer_count + 1) * sizeof *storage);
    c->loops = (hone_lower){.ir = {.arena = arena}, .options = &options};
    c->loops.func = hone_func_clone(arena, c->func);
    if (!c->loops.func || !storage) return HONE_ERROR(HONE_CODE_NO_MEMORY, "signature");
    for (hone_buffer id = 0; id < c->func->buffer_count; id++)
        storage[id] = storage_of(c, id);
    HONE_TRY(lower_show_calls(&c->loops, storage));
    for (size_t i = 0; i < HONE_COUNT(passes); i++) {
        HONE_TRY(passes[i](&c->loops));
        HONE_TRY(hone_ir_finish(&c->loops.ir));
    }
    return HONE_OK;
}

/* Asked of its loops. */
static hone_status is_output(collector *c, hone_arena *arena, hone_buffer buffer,
                             bool *out_is_output) {
    if (!c->loops.func) HONE_TRY(make_loops(c, arena));
    return lower_is_output(&c->loops, buffer, out_is_output);
}

static hone_status collect(collector *c, hone_arena *arena) {
    const hone_func *func = c->func;
    hone_signature *s = c->out;
    hone_buffer *buffers = hone_arena_alloc(arena, (func->param_count + 1) * sizeof *buffers);
    hone_param_role *roles = hone_arena_alloc(arena, (func->param_count + 1) * sizeof *roles);
    hone_var *sizes = hone_arena_alloc(arena, (func->var_count + 1) * sizeof *sizes);
    if (!buffers || !roles || !sizes) return HONE_ERROR(HONE_CODE_NO_MEMORY, "signature");
    note_views(c);
    hone_walk_references(func, HONE_NODE_TOP, note_reference, c);
    bool leaves = hone_func_has_jumps(func); /* out of what stands behind them */
    for (uint32_t p = 0; p < func->param_count; p++) {
        const hone_param *param = &func->params[p];
        if (param->buffer == HONE_NO_ID) {
            if (hone_dtype_is_handle(func->vars[param->var].dtype)) {
                return HONE_ERROR(HONE_CODE_INVALID, "parameter '%s' is a handle without a buffer",
                                  func->vars[param->var].name);
            }
            continue;
        }
        bool is_written = c->is_written[param->buffer];
        bool is_out = false;
        if (is_written && !leaves) HONE_TRY(is_output(c, arena, param->buffer, &is_out));
        roles[s->buffer_count] = is_out       ? HONE_PARAM_OUT
                                 : is_written ? HONE_PARAM_INOUT
                                              : HONE_PARAM_IN;
        buffers[s->buffer_count++] = param->buffer;
    }
    s->buffers = buffers;
    s->roles = roles;
    s->sizes = sizes;
    s->size_count = hone_func_sizes(func, sizes);
    return HONE_OK;
}

hone_status hone_signature_of(const hone_func *func, hone_arena *arena,
                              hone_signature *out_signature) {
    memset(out_signature, 0, sizeof *out_signature);
    collector c = {.func = func, .out = out_signature};
    c.is_written = hone_arena_zalloc(arena, func->buffer_count + 1);
    c.source = hone_arena_alloc(arena, (func->buffer_count + 1) * sizeof *c.source);
    if (!c.is_written || !c.source) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "signature");
    }
    for (hone_buffer id = 0; id < func->buffer_count; id++)
        c.source[id] = HONE_NO_ID;
    HONE_TRY(collect(&c, arena));
    hone_tree_walk_parts(func, 0, false, find_extern, &c); /* counts, repeats included */
    if (out_signature->extern_count == 0) return HONE_OK;
    c.externs = hone_arena_alloc(arena, out_signature->extern_count * sizeof *c.externs);
    if (!c.externs) return HONE_ERROR(HONE_CODE_NO_MEMORY, "signature");
    out_signature->extern_count = 0;
    hone_tree_walk_parts(func, 0, false, find_extern, &c);
    out_signature->externs = c.externs;
    return HONE_OK;
}

hone_status hone_writes_whole(const hone_func *func, uint32_t param, bool *out_does) {
    hone_signature signature;
    hone_arena *arena = hone_arena_create(4096);
    *out_does = false;
    if (!arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "signature");
    hone_status st = hone_signature_of(func, arena, &signature);
    for (uint32_t i = 0; !st && i < signature.buffer_count; i++) {
        *out_does |= signature.buffers[i] == func->params[param].buffer &&
                     signature.roles[i] == HONE_PARAM_OUT;
    }
    hone_arena_destroy(arena);
    return st;
}
