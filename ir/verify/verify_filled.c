/* ir/verify/verify_filled.c - storage that is written in part: what lies outside of all that is
 * ever stored (hone_func_stores).
 *
 * What calls, handles and views do to a buffer is unknown, so that nothing is said of it. A read of
 * a local buffer that surely leaves what is stored reads what nobody wrote. A parameter that is
 * only written, and in large part only, keeps what was there elsewhere.
 */
#include "ir/verify/verify_impl.h"

void verify_find_stores(verifier *v) {
    if (!v->usage) return;
    if (hone_status_consume(hone_func_stores(v->func, v->arena, &v->stores)))
        v->is_short_of_memory = true;
}

/* What is stored, in dimension d, of a buffer of which all stores are known. False: it is not
 * known, or all that there is. */
static bool stores_a_part(verifier *v, hone_buffer buffer, uint32_t d, int64_t *out_min,
                          int64_t *out_max) {
    const hone_region *stored = v->stores[buffer];
    int64_t extent = hone_expr_const(hone_func_buffer(v->func, buffer)->shape[d]);
    if (!stored || v->usage[buffer].is_pointed_to || v->usage[buffer].is_viewed) return false;
    const hone_range *range = &stored->ranges[d];
    const hone_expr *end = hone_expr_add(&v->arith.ir, range->min, range->extent);
    int64_t min = hone_arith_bound(&v->arith, range->min).min;
    int64_t past = end ? hone_arith_bound(&v->arith, end).max : HONE_BOUND_POS_INF;
    if (past == HONE_BOUND_POS_INF) return false;
    *out_min = min < 0 ? 0 : min;
    *out_max = past - 1;
    return extent >= 1 && (*out_min > 0 || *out_max < extent - 1);
}

void verify_filled(verifier *v, hone_buffer buffer, uint32_t d, const hone_expr *index) {
    int64_t min, max, value;
    if (!v->stores || buffer >= v->func->buffer_count || index->dtype.lanes > 1) return;
    if (!v->usage[buffer].is_allocated || !stores_a_part(v, buffer, d, &min, &max)) return;
    const hone_buffer_info *info = hone_func_buffer(v->func, buffer);
    if (hone_find_outside(&v->points, v->node, index, min, max + 1, &value) != HONE_OUTSIDE_FOUND ||
        value < 0 || value >= hone_expr_const(info->shape[d])) {
        return;
    }
    hone_str where = {0};
    verify_show_point(v, index, &where);
    verify_warning(v, v->node,
                   "'%s' is read in '%s' at index %lld%s of dimension %u, which nothing writes; "
                   "only %lld to %lld are written",
                   info->name, verify_block_name(v), (long long)value, hone_str_text(&where),
                   (unsigned)d, (long long)min, (long long)max);
    hone_str_deinit(&where);
}

/* The dimension of which a large part is written, and not all: one column alone is meant. */
static bool warn_of_part(verifier *v, hone_buffer buffer, uint32_t d) {
    const hone_buffer_info *info = hone_func_buffer(v->func, buffer);
    int64_t min, max, extent = hone_expr_const(info->shape[d]);
    if (!stores_a_part(v, buffer, d, &min, &max) || (max - min + 1) * 2 < extent) return false;
    verify_warning(v, v->usage[buffer].first_write,
                   "of dimension %u of '%s', whose extent is %lld, only %lld to %lld are written; "
                   "the rest keeps what it held before",
                   (unsigned)d, info->name, (long long)extent, (long long)min, (long long)max);
    return true;
}

void verify_outputs(verifier *v) {
    if (!v->stores || v->out->count > 0) return;
    for (uint32_t p = 0; p < v->func->param_count; p++) {
        hone_buffer buffer = v->func->params[p].buffer;
        bool is_read = buffer < v->func->buffer_count && v->usage[buffer].first_read != HONE_NO_ID;
        if (buffer >= v->func->buffer_count || is_read) continue;
        const hone_buffer_info *info = hone_func_buffer(v->func, buffer);
        for (uint32_t d = 0; d < info->rank && !info->strides; d++) {
            if (warn_of_part(v, buffer, d)) break;
        }
    }
}
