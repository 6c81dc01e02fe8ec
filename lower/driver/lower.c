/* lower/driver/lower.c - the ordered list of passes and the loop that runs it. */
#include "lower/ground/lower.h"

#include <string.h>

#include "ir/verify/verify.h"
#include "lower/ground/passes.h"
#include "support/core/attributes.h"
#include "support/text/nearest.h"

static const hone_lower_pass pipeline[] = {
#define HONE_LOWER_PASS(name, run, devices, makes_vectors, tvm_names, summary)                     \
    {name, run, summary, devices, makes_vectors, tvm_names},
#include "lower/ground/lower_passes.def"
#undef HONE_LOWER_PASS
};

const hone_lower_pass *hone_lower_pipeline(size_t *out_count) {
    *out_count = HONE_COUNT(pipeline);
    return pipeline;
}

const hone_lower_pass *hone_lower_pass_find(const char *name) {
    for (size_t i = 0; i < HONE_COUNT(pipeline); i++) {
        if (strcmp(pipeline[i].name, name) == 0) return &pipeline[i];
        if (hone_name_is_listed(pipeline[i].tvm_names, name)) return &pipeline[i];
    }
    return NULL;
}

static hone_status run_pass(hone_lower *lower, const hone_lower_pass *pass) {
    if (!(pass->devices & hone_target_device(lower->options->target))) return HONE_OK;
    hone_status st = pass->run(lower);
    if (st) {
        hone_status_free(hone_ir_finish(&lower->ir));
        return hone_status_annotate(st, "%s", pass->name);
    }
    HONE_TRY(hone_ir_finish(&lower->ir));
#ifndef NDEBUG
    st = hone_check_func(lower->func);
    if (st) return hone_status_annotate(st, "after pass '%s'", pass->name);
#endif
    const hone_lower_options *options = lower->options;
    return options->after ? options->after(options->ctx, pass->name, lower->func) : HONE_OK;
}

hone_status hone_lower_run(const hone_func *func, const hone_lower_pass *const *passes,
                           size_t count, const hone_lower_options *options, hone_arena *arena,
                           hone_func **out_func) {
    *out_func = NULL;
    hone_lower lower = {.ir = {.arena = arena}, .options = options};
    lower.func = hone_func_clone(arena, func);
    if (!lower.func) return LOWER_NO_MEMORY();
    for (size_t i = 0; i < count; i++)
        HONE_TRY(run_pass(&lower, passes[i]));
    *out_func = lower.func;
    return HONE_OK;
}

hone_status hone_lower_func(const hone_func *func, const hone_lower_options *options,
                            hone_arena *arena, hone_func **out_func) {
    const hone_lower_pass *passes[HONE_COUNT(pipeline)];
    size_t count = 0;
    *out_func = NULL;
    HONE_TRY(hone_func_refuse_scalable(func));
    for (size_t i = 0; i < HONE_COUNT(pipeline); i++) {
        if (!(pipeline[i].makes_vectors && options->keeps_loops)) passes[count++] = &pipeline[i];
    }
    return hone_lower_run(func, passes, count, options, arena, out_func);
}
