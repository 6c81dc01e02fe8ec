/* lower/signature/outputs.c - is a parameter written as a whole before anything of it is read?
 *
 * Asked of the loops with their variables as symbols (ir/region/written.h); where that does not
 * show it, small programs are run over numbers (filled_points.c). */
#include "ir/core/touches.h"
#include "ir/region/written.h"
#include "lower/ground/scope.h"
#include "lower/signature/plain_form.h"
#include "support/data/tensor.h"

static bool covers_buffer(const hone_dataflow *flow, hone_buffer buffer) {
    hone_written all;
    hone_written_begin(&all, flow, buffer, HONE_NODE_TOP);
    LOWER_EACH_CHILD (flow->func, HONE_NODE_TOP, n) {
        hone_written_add(&all, n);
    }
    return hone_covers_buffer(&all);
}

/* As a whole, or slice by slice. */
static bool is_filled(const hone_dataflow *flow, hone_buffer buffer) {
    return covers_buffer(flow, buffer) || hone_covers_by_slices(flow, buffer, HONE_NO_ID);
}

/* What reads it stands behind all that fills it. */
static bool is_read_behind(const hone_dataflow *flow, hone_buffer buffer) {
    const hone_func *func = flow->func;
    hone_node_id n = hone_func_node(func, HONE_NODE_TOP)->first;
    while (n != HONE_NO_ID && !hone_loads_below(func, n, buffer))
        n = hone_func_node(func, n)->next;
    return n == HONE_NO_ID || hone_covers_by_slices(flow, buffer, n);
}

hone_status lower_is_output(hone_lower *lower, hone_buffer buffer, bool *out_is_output) {
    const hone_func *func = lower->func;
    const hone_buffer_info *info = hone_func_buffer(func, buffer);
    lower_accesses all;
    lower_scope scope = {.lower = lower};
    *out_is_output = false;
    HONE_TRY(lower_find_accesses(func, HONE_NODE_TOP, buffer, &all));
    bool is_plain = !info->strides && info->rank <= HONE_MAX_RANK;
    if (all.is_opaque || all.count == 0 || !is_plain) return HONE_OK;
    hone_arith_init(&scope.arith, func->arena);
    HONE_TRY(lower_enter(&scope, HONE_NODE_TOP, HONE_NO_ID));
    const hone_dataflow flow = {.arith = &scope.arith, .func = func, .may_leave = true};
    *out_is_output =
        is_filled(&flow, buffer) && (hone_reads_after_write(&flow, HONE_NODE_TOP, buffer, false) ||
                                     is_read_behind(&flow, buffer));
    HONE_TRY(hone_ir_finish(&scope.arith.ir));
    if (*out_is_output) return HONE_OK;
    return lower_is_filled_by_points(func, buffer, &all, out_is_output);
}
