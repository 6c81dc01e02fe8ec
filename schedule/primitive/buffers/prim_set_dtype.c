/* schedule/primitive/buffers/prim_set_dtype.c - unsafe_set_dtype: gives a buffer that a block
 * writes another element type; what is stored is converted to it, what is loaded is converted back.
 * Unsafe: numbers lose digits or range.
 *
 *     B = T.alloc_buffer((16,));            B[i] = A[i] * 2.0;  C[i] = B[i] + 1.0
 *  →  B = T.alloc_buffer((16,), "float16");
 *     B[i] = T.Cast("float16", A[i] * 2.0);  C[i] = T.Cast("float32", B[i]) + 1.0
 *
 * Views of the buffer (T.match_buffer) go with it. Checks: the type is one that a buffer can hold;
 * the buffer is allocated in the function, nobody takes its address, and no loop runs as often as
 * it says. The trace is marked as unsafe.
 */
#include "schedule/primitive/primitive_impl.h"

typedef struct retyping {
    const bool *is_part; /* by buffer: the one and its views */
    hone_dtype to;
} retyping;

static const hone_expr *retype_load(void *ctx, hone_ir *ir, const hone_expr *e) {
    const retyping *r = ctx;
    if (e->kind != HONE_EXPR_LOAD || !r->is_part[e->u.buffer]) return e;
    hone_dtype to = hone_dtype_with_lanes(r->to, e->dtype.lanes);
    const hone_expr *load = hone_expr_load(ir, to, e->u.buffer, e->count, e->args);
    return hone_expr_cast(ir, e->dtype, load);
}

static hone_status retype_stores(hone_schedule *sch, const retyping *r) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(sch->func, 0, n)) {
        hone_node *node = sch_node(sch, n);
        if (node->kind != HONE_NODE_STORE || !r->is_part[node->u.store.buffer]) continue;
        const hone_expr *value = node->u.store.value;
        hone_dtype to = hone_dtype_with_lanes(r->to, value->dtype.lanes);
        node->u.store.value = hone_expr_cast(&sch->ir, to, value);
    }
    return sch_ir_error(sch);
}

static hone_status check_bounds(hone_schedule *sch, hone_buffer buffer) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(sch->func, 0, n)) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind != HONE_NODE_FOR || !sch_bounds_load(node, buffer)) continue;
        return sch_refuse(sch, n, "the bounds of %s load '%s'", sch_loop_name(sch, n),
                          sch_buffer_name(sch, buffer));
    }
    return HONE_OK;
}

hone_status hone_sch_unsafe_set_dtype(hone_schedule *sch, hone_rv block_rv, int64_t buffer_index,
                                      const char *dtype) {
    hone_node_id id;
    hone_buffer buffer;
    bool *is_part;
    retyping r;
    HONE_TRY(sch_resolve_block(sch, block_rv, &id));
    bool is_type = hone_dtype_parse(dtype, &r.to) && !hone_dtype_is_vector(r.to) &&
                   hone_dtype_is_storable(r.to) && !hone_dtype_is_handle(r.to);
    if (!is_type) return sch_refuse(sch, id, "'%s' is no type that a buffer can hold", dtype);
    HONE_TRY(sch_nth_buffer(sch, id, true, buffer_index, &buffer));
    HONE_TRY(sch_require_allocated(sch, id, buffer));
    HONE_TRY(check_bounds(sch, buffer));
    HONE_TRY(sch_mark_views(sch, id, buffer, &is_part));
    r.is_part = is_part;
    const char *copy = hone_arena_strdup(sch->arena, dtype);
    if (!copy) return sch_no_memory();
    if (!hone_dtype_equal(hone_func_buffer(sch->func, buffer)->dtype, r.to)) {
        HONE_TRY(sch_transform(sch, 0, retype_load, &r, false));
        HONE_TRY(retype_stores(sch, &r));
        for (hone_buffer b = 0; b < sch->func->buffer_count; b++) {
            if (is_part[b]) sch->func->buffers[b].dtype = r.to;
        }
    }
    return sch_record(sch, HONE_INST_UNSAFE_SET_DTYPE,
                      SCH_ARGS(SCH_RV(block_rv), SCH_INT(buffer_index), SCH_TEXT(copy)));
}

SCH_STEP(UNSAFE_SET_DTYPE, hone_sch_unsafe_set_dtype(sch, a[0].rv, a[1].number, a[2].text),
         .gives = HONE_GIVES_NOTHING, .is_unsafe = true,
         .args = {SCH_ARG_BLOCK(0), SCH_ARG_WRITTEN_BUFFER("buffer_index"),
                  SCH_ARG_STRING("dtype", 1)});
