/* schedule/primitive/buffers/cache_copy.c - the block that fills or empties a cache, and its loops.
 */
#include "schedule/primitive/buffers/caching.h"

/* The block declares the element that it copies, at the indices as they are. */
static hone_status make_block(sch_staging *s) {
    hone_schedule *sch = s->sch;
    sch_draft d;
    const hone_expr **in_buffer = hone_arena_alloc(sch->arena, (s->rank + 1) * sizeof *in_buffer);
    if (!in_buffer) return sch_no_memory();
    HONE_TRY(sch_begin_draft(sch, s->rank, &d));
    for (uint32_t i = 0; i < s->rank; i++) {
        const hone_expr *extent = hone_func_buffer(sch->func, s->stage)->shape[i];
        hone_range dom = {hone_expr_int(&sch->ir, extent->dtype, 0), extent};
        HONE_TRY(sch_draft_axis(sch, &d, sch_name(sch, "v", "", i), HONE_AXIS_SPATIAL, dom, NULL));
        bool is_shifted = s->box && !hone_expr_is_int_value(s->box[i].min, 0);
        in_buffer[i] = is_shifted ? hone_expr_add(&sch->ir, s->box[i].min, d.vars[i]) : d.vars[i];
    }
    const hone_region *outside = sch_element_region(sch, s->buffer, s->rank, in_buffer);
    const hone_region *inside = sch_element_region(sch, s->stage, s->rank, d.vars);
    if (!inside || !outside) return sch_no_memory();
    d.read = s->is_write ? inside : outside;
    d.written = s->is_write ? outside : inside;
    hone_node_id store = sch_make_copy_store(s, in_buffer, d.vars);
    const char *name = sch_buffer_name(sch, s->stage);
    return sch_draft_block(sch, &d, name, store, &s->copy);
}

static hone_status find_domains(const sch_staging *s, sch_box *box, sch_axis_domain *out) {
    box->buffer = s->is_write ? s->buffer : s->stage;
    if (!s->box) return sch_solve_axes(s->sch, s->copy, 1, box, SCH_SOLVE_COPY, out);
    for (uint32_t d = 0; d < s->rank; d++) {
        const hone_range *dom = &sch_block(s->sch, s->copy)->axes[d].dom;
        out[d] = (sch_axis_domain){.low = dom->min, .extent = dom->extent};
    }
    return HONE_OK;
}

hone_status sch_make_cache_copy(sch_staging *s, sch_box *box, uint32_t count,
                                const hone_node_id *blocks, sch_nest *out) {
    hone_schedule *sch = s->sch;
    const hone_expr *outer = NULL;
    HONE_TRY(make_block(s));
    sch_axis_domain *domains = hone_arena_alloc(sch->arena, (s->rank + 1) * sizeof *domains);
    if (!domains) return sch_no_memory();
    HONE_TRY(find_domains(s, box, domains));
    HONE_TRY(sch_make_nest(sch, s->rank, domains, true, out));
    HONE_TRY(sch_conditions_of_copy(s, count, blocks, &outer));
    return outer ? sch_nest_add_condition(sch, outer, out) : HONE_OK;
}
