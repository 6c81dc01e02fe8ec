/* ir/verify/verify_region.c - T.reads and T.writes against the shapes of buffers, and against what
 * a block touches. */
#include "ir/text/print/script_print.h"
#include "ir/verify/verify_impl.h"

/* ---- as text ---- */

static void say_expr(verifier *v, const hone_expr *e, hone_str *out) {
    if (!e) return;
    hone_status st = hone_expr_print(v->func, e, out);
    if (st) v->is_short_of_memory |= hone_status_consume(st) == HONE_CODE_NO_MEMORY;
}

/* "A[vi, 0:16]" */
static void say_region(verifier *v, const hone_region *region, hone_str *out) {
    const hone_buffer_info *info = hone_func_buffer(v->func, region->buffer);
    hone_str_printf(out, "%s[", info->name);
    for (uint32_t d = 0; d < info->rank; d++) {
        const hone_range *range = &region->ranges[d];
        hone_str_append(out, d ? ", " : "");
        say_expr(v, range->min, out);
        if (hone_expr_is_int_value(range->extent, 1)) continue;
        hone_str_append(out, ":");
        const hone_expr *end = hone_expr_add(&v->arith.ir, range->min, range->extent);
        say_expr(v, end ? hone_simplify(&v->arith, end) : NULL, out);
    }
    hone_str_append(out, info->rank ? "]" : "()]");
}

/* ---- shapes ---- */

void verify_region_shape(verifier *v, hone_node_id id, const hone_region *region,
                         const char *what) {
    if (region->buffer >= v->func->buffer_count || !v->is_live[region->buffer]) {
        verify_error(v, id, "block '%s' says that it %s a buffer that does not exist there",
                     hone_func_node(v->func, id)->u.block.block->name, what);
        return;
    }
    const hone_buffer_info *info = hone_func_buffer(v->func, region->buffer);
    for (uint32_t d = 0; d < info->rank; d++) {
        v->in_region = true;
        verify_integer(v, region->ranges[d].min, "the begin of a region");
        verify_integer(v, region->ranges[d].extent, "the extent of a region");
        v->in_region = false;
    }
}

/* Is there an iteration in which dimension d of the region leaves the buffer? */
static bool leaves(verifier *v, const hone_region *region, uint32_t d) {
    const hone_range *range = &region->ranges[d];
    int64_t shape = hone_expr_const(hone_func_buffer(v->func, region->buffer)->shape[d]);
    int64_t width = hone_expr_const(range->extent), value;
    if (shape < 0 || width < 1 || range->min->dtype.lanes > 1) return false;
    if (width > shape) return true;
    return hone_find_outside(&v->points, v->node, range->min, 0, shape - width + 1, &value) ==
           HONE_OUTSIDE_FOUND;
}

/* A condition may keep what is touched inside, where the box around it leaves the buffer: then what
 * is inferred does so, too. */
static void check_inside(verifier *v, hone_node_id id, const hone_region *declared,
                         const hone_region *actual, const char *what) {
    const hone_buffer_info *info = hone_func_buffer(v->func, declared->buffer);
    const char *block = hone_func_node(v->func, id)->u.block.block->name;
    for (uint32_t d = 0; d < info->rank; d++) {
        const hone_expr *extent = declared->ranges[d].extent;
        bool is_reversed = extent->kind == HONE_EXPR_INT && extent->u.i < 0;
        if (!is_reversed && (!leaves(v, declared, d) || (actual && leaves(v, actual, d)))) continue;
        hone_str text = {0};
        say_region(v, declared, &text);
        if (is_reversed) {
            verify_warning(v, id, "block '%s' says that it %s %s, which ends before it begins",
                           block, what, hone_str_text(&text));
        } else {
            verify_warning(v, id,
                           "block '%s' says that it %s %s, which leaves dimension %u of '%s', "
                           "whose extent is %lld",
                           block, what, hone_str_text(&text), (unsigned)d, info->name,
                           (long long)hone_expr_const(info->shape[d]));
        }
        hone_str_deinit(&text);
        return;
    }
}

/* ---- what is touched ---- */

/* What is reported for itself: a loop outside of the block is used in it, or what is declared ends
 * before it begins. */
static bool is_beside(const verifier *v, const hone_region *actual, const hone_region *said) {
    uint32_t rank = hone_func_buffer(v->func, actual->buffer)->rank;
    for (uint32_t d = 0; d < rank; d++) {
        const hone_expr *extent = said ? said->ranges[d].extent : NULL;
        if (extent && extent->kind == HONE_EXPR_INT && extent->u.i < 0) return true;
        if (hone_expr_uses_any(actual->ranges[d].min, v->is_hidden, v->func->var_count) ||
            hone_expr_uses_any(actual->ranges[d].extent, v->is_hidden, v->func->var_count)) {
            return true;
        }
    }
    return false;
}

static void check_covered(verifier *v, hone_node_id id, const hone_region *actual, uint32_t count,
                          const hone_region *declared, const char *what) {
    const char *block = hone_func_node(v->func, id)->u.block.block->name;
    const hone_region *said = hone_region_of(count, declared, actual->buffer);
    if (said && hone_region_covers(&v->arith, v->func, said, actual)) return;
    if (is_beside(v, actual, said)) return;
    if (!said) {
        verify_warning(v, id, "block '%s' %s '%s', which it does not declare", block, what,
                       hone_func_buffer(v->func, actual->buffer)->name);
        return;
    }
    hone_str want = {0}, got = {0};
    say_region(v, actual, &want);
    say_region(v, said, &got);
    verify_warning(v, id, "block '%s' %s more of '%s' than it declares: %s, declared is %s", block,
                   what, hone_func_buffer(v->func, actual->buffer)->name, hone_str_text(&want),
                   hone_str_text(&got));
    hone_str_deinit(&want);
    hone_str_deinit(&got);
}

static void check_all(verifier *v, hone_node_id id, const hone_block *t) {
    const hone_block *block = hone_func_node(v->func, id)->u.block.block;
    for (uint32_t i = 0; i < t->read_count; i++)
        check_covered(v, id, &t->reads[i], block->read_count, block->reads, "reads");
    for (uint32_t i = 0; i < t->write_count; i++)
        check_covered(v, id, &t->writes[i], block->write_count, block->writes, "writes");
    for (uint32_t i = 0; i < block->read_count && !v->out->errors_only; i++) {
        const hone_region *said = &block->reads[i];
        check_inside(v, id, said, hone_region_of(t->read_count, t->reads, said->buffer), "reads");
    }
    for (uint32_t i = 0; i < block->write_count && !v->out->errors_only; i++) {
        const hone_region *said = &block->writes[i];
        check_inside(v, id, said, hone_region_of(t->write_count, t->writes, said->buffer),
                     "writes");
    }
}

void verify_regions(verifier *v, hone_node_id id) {
    const hone_block *block = hone_func_node(v->func, id)->u.block.block;
    hone_block touched;
    for (uint32_t i = 0; i < block->read_count && !block->regions_inferred; i++)
        verify_region_shape(v, id, &block->reads[i], "reads");
    for (uint32_t i = 0; i < block->write_count && !block->regions_inferred; i++)
        verify_region_shape(v, id, &block->writes[i], "writes");
    if (block->regions_inferred || v->out->error_count > 0) return;
    if (id == hone_func_root_block(v->func)) return;
    hone_status st = HONE_OK;
    /* what an instruction does by an address is what the block says of the buffer */
    if (!v->regions) st = hone_region_inference_begin(v->func, true, v->arena, &v->regions);
    if (!st) st = hone_region_inference_next(v->regions, id, &touched);
    if (st) {
        v->is_short_of_memory |= hone_status_consume(st) == HONE_CODE_NO_MEMORY;
        return;
    }
    check_all(v, id, &touched);
}
