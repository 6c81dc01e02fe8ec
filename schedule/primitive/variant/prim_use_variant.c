/* schedule/primitive/variant/prim_use_variant.c - use_variant: the program becomes a variant of
 * itself (schedule/variant/), which later steps work on.
 *
 * Checks: it is the first step; there is such a variant, of the version that the trace says; it is
 * for this program. One with a text of its own is taken at its word: who makes such a trace has
 * compared what it computes with the program (compile/records/variant_check.h), and who uses a
 * record asks for just that text.
 */
#include <stdio.h>
#include <stdlib.h>

#include "schedule/primitive/primitive_impl.h"
#include "schedule/variant/variant.h"
#include "support/core/number.h"

static hone_status make(const void *variant, const hone_func *func, hone_arena *arena,
                        hone_func **out) {
    return hone_variant_apply(variant, func, arena, out);
}

hone_status hone_sch_use_variant(hone_schedule *sch, const hone_variant *variant) {
    if (sch->trace.count)
        return sch_refuse(sch, HONE_NO_ID, "use_variant has to be the first step of a schedule");
    char error[HONE_NUMBER_BYTES] = "";
    const char *program = variant->program ? variant->program : "";
    if (variant->program) hone_number_print(variant->error, 17, error);
    HONE_TRY(sch_begin_with(sch, hone_variant_key(variant), make, variant));
    return sch_record(sch, HONE_INST_USE_VARIANT,
                      SCH_ARGS(SCH_TEXT(variant->name), SCH_INT(variant->version),
                               SCH_TEXT(program), SCH_TEXT(error)));
}

/* ---- as a trace says it ---- */

static hone_variant given(const char *name, int64_t version, const char *program,
                          const char *error) {
    return (hone_variant){.name = name,
                          .version = version,
                          .error = hone_number_parse(error, NULL),
                          .program = program};
}

static hone_status apply_named(hone_schedule *sch, const char *name, int64_t version,
                               const char *program, const char *error) {
    const hone_variant its_own = given(name, version, program, error);
    if (*program) return hone_sch_use_variant(sch, &its_own);
    const hone_variant *variant = hone_variant_find(name);
    if (!variant) return sch_refuse(sch, HONE_NO_ID, "there is no variant '%s'", name);
    if (version && version != variant->version) {
        return sch_refuse(sch, HONE_NO_ID, "variant '%s' has version %lld, the trace is for %lld",
                          name, (long long)variant->version, (long long)version);
    }
    return hone_sch_use_variant(sch, variant);
}

static const char *text_of(const hone_inst *inst, uint32_t at) {
    bool is_text = at < inst->attr_count && inst->attrs[at].kind == HONE_VALUE_STRING;
    return is_text ? inst->attrs[at].u.s : "";
}

bool hone_trace_variant(const hone_trace *trace, hone_variant *out) {
    if (trace->count == 0 || trace->insts[0].kind != HONE_INST_USE_VARIANT) return false;
    const hone_inst *inst = &trace->insts[0];
    int64_t version =
        inst->attr_count > 1 && inst->attrs[1].kind == HONE_VALUE_INT ? inst->attrs[1].u.i : 0;
    const hone_variant *known = hone_variant_find(text_of(inst, 0));
    *out = given(text_of(inst, 0), version, text_of(inst, 2), text_of(inst, 3));
    if (*out->program) return true;
    if (known) *out = *known;
    return known != NULL;
}

SCH_STEP(USE_VARIANT,
         apply_named(sch, a[0].text, a[1].number, a[2].text ? a[2].text : "",
                     a[3].text ? a[3].text : ""),
         .gives = HONE_GIVES_NOTHING,
         .args = {SCH_ARG_STRING("variant", 0), SCH_ARG_INT_OR("version", 1, 0),
                  SCH_ARG_("program", STRING, 2, .text_fallback = ""),
                  SCH_ARG_("error", STRING, 3, .text_fallback = "")});
