/* schedule/primitive/variant/prim_use_variant.c - use_variant: the program becomes a variant of
 * itself (schedule/variant/), which later steps work on.
 *
 * Checks: it is the first step; there is such a variant, of the version that the trace says; it is
 * for this program.
 */
#include "schedule/primitive/primitive_impl.h"
#include "schedule/variant/variant.h"

static hone_status make(const void *variant, const hone_func *func, hone_arena *arena,
                        hone_func **out) {
    return hone_variant_apply(variant, func, arena, out);
}

hone_status hone_sch_use_variant(hone_schedule *sch, const char *name, int64_t version) {
    const hone_variant *variant = hone_variant_find(name);
    if (sch->trace.count)
        return sch_refuse(sch, HONE_NO_ID, "use_variant has to be the first step of a schedule");
    if (!variant) return sch_refuse(sch, HONE_NO_ID, "there is no variant '%s'", name);
    if (version && version != variant->version) {
        return sch_refuse(sch, HONE_NO_ID, "variant '%s' has version %lld, the trace is for %lld",
                          name, (long long)variant->version, (long long)version);
    }
    HONE_TRY(sch_begin_with(sch, variant, make));
    return sch_record(sch, HONE_INST_USE_VARIANT,
                      SCH_ARGS(SCH_TEXT(variant->name), SCH_INT(variant->version)));
}

const hone_variant *hone_trace_variant(const hone_trace *trace) {
    if (trace->count == 0 || trace->insts[0].kind != HONE_INST_USE_VARIANT) return NULL;
    const hone_inst *inst = &trace->insts[0];
    return inst->attr_count ? hone_variant_find(inst->attrs[0].u.s) : NULL;
}

SCH_STEP(USE_VARIANT, hone_sch_use_variant(sch, a[0].text, a[1].number),
         .gives = HONE_GIVES_NOTHING,
         .args = {SCH_ARG_STRING("variant", 0), SCH_ARG_INT_OR("version", 1, 0)});
