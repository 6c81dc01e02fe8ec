/* ir/te/te_extern.c - arrays that a function from outside computes: a block without axes that hands
 * over pointers. */
#include "ir/te/te_impl.h"

/* The handle of a buffer's storage. */
static const hone_expr *te_data(hone_te *te, hone_buffer buffer) {
    hone_buffer_info *info = &te->func->buffers[buffer];
    if (info->data == HONE_NO_ID) {
        hone_var var = hone_func_add_var(te->func, info->name, HONE_DTYPE_HANDLE);
        if (var == HONE_NO_ID) {
            te_no_memory(te);
            return NULL;
        }
        te->func->buffers[buffer].data = var;
    }
    return hone_expr_var(&te->ir, HONE_DTYPE_HANDLE, te->func->buffers[buffer].data);
}

static const hone_region *te_regions(hone_te *te, uint32_t count, const hone_buffer *buffers) {
    hone_region *regions = te_alloc(te, (count + 1) * sizeof *regions);
    for (uint32_t i = 0; regions && i < count; i++)
        regions[i] = (hone_region){buffers[i], te_whole(te, buffers[i])};
    return regions;
}

static const hone_expr *te_call(hone_te *te, const char *function, uint32_t input_count,
                                const hone_buffer *inputs, hone_buffer out) {
    const hone_expr *args[HONE_TE_MAX_INPUTS + 2];
    uint32_t count = 0;
    args[count++] = hone_expr_string(&te->ir, function);
    for (uint32_t i = 0; i < input_count; i++)
        args[count++] = te_data(te, inputs[i]);
    args[count++] = te_data(te, out);
    return hone_expr_call(&te->ir, HONE_DTYPE_I32, HONE_INTRIN_CALL_EXTERN, count, args);
}

hone_buffer hone_te_extern(hone_te *te, const char *name, const char *function,
                           uint32_t input_count, const hone_buffer *inputs, hone_dtype dtype,
                           uint32_t rank, const hone_expr *const *shape) {
    assert(input_count <= HONE_TE_MAX_INPUTS);
    if (te->ir.error) return HONE_NO_ID;
    hone_buffer out = te_add_buffer(te, name, dtype, rank, shape);
    if (out == HONE_NO_ID) return out;
    const hone_expr *call = te_call(te, function, input_count, inputs, out);
    hone_block *block = te_alloc(te, sizeof *block);
    if (!block || !call) return HONE_NO_ID;
    block->name = hone_func_buffer(te->func, out)->name;
    block->reads = te_regions(te, input_count, inputs);
    block->read_count = input_count;
    block->writes = te_regions(te, 1, &out);
    block->write_count = 1;
    if (te->ir.error) return HONE_NO_ID;
    hone_node_id at = te_add_block(te, te->root, block, NULL);
    hone_node_id eval = hone_func_add_node(te->func, HONE_NODE_EVAL);
    if (at == HONE_NO_ID || eval == HONE_NO_ID) {
        te_no_memory(te);
        return HONE_NO_ID;
    }
    hone_func_node(te->func, eval)->u.eval.value = call;
    hone_tree_append(te->func, at, eval);
    return out;
}
