/* codegen/backend.c - the table of what can be made of a program, and by whom. */
#include <assert.h>
#include <string.h>

#include "codegen/codegen.h"
#include "support/core/attributes.h"
#include "support/text/nearest.h"

static const hone_backend backends[] = {
#define HONE_EMIT(id, name, kernels, ending, comment, generator, form, facts)                      \
    {name, generator, form, facts},
#include "codegen/emits.def"
#undef HONE_EMIT
};

static bool makes_kernels(const hone_backend *b) {
    return b->generate || (b->facts & HONE_EMITS_SCHEDULED);
}

static hone_status unknown(const char *name) {
    hone_str text = {0};
    const char *names[HONE_COUNT(backends)];
    size_t count = 0;
    for (size_t i = 0; i < HONE_COUNT(backends); i++) {
        if (makes_kernels(&backends[i])) names[count++] = backends[i].name;
    }
    hone_name_list(names, count, sizeof *names, &text);
    hone_status st =
        HONE_ERROR(HONE_CODE_UNSUPPORTED, "emit is '%s', must be %s", name, hone_str_text(&text));
    hone_str_deinit(&text);
    return st;
}

static bool is_meant(const hone_backend *b, const char *name, const hone_target *target) {
    return name ? strcmp(b->name, name) == 0 : (b->facts & HONE_EMITS_ON(target->kind)) != 0;
}

static hone_status check_device(const hone_backend *b, const hone_target *target) {
    bool is_for_gpus = b->facts & HONE_EMITS_KERNELS, is_gpu = hone_target_is_gpu(target);
    if (is_for_gpus == is_gpu || (b->facts & HONE_EMITS_SCHEDULED)) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                      "emit is '%s', which is made for %s; the target is '%s'", b->name,
                      is_for_gpus ? "GPUs" : "CPUs", hone_target_kind_name(target->kind));
}

hone_status hone_backend_find(const char *name, const hone_target *target,
                              const hone_backend **out) {
    *out = NULL;
    for (size_t i = 0; i < HONE_COUNT(backends) && !*out; i++) {
        if (is_meant(&backends[i], name, target) && makes_kernels(&backends[i]))
            *out = &backends[i];
    }
    assert(name || *out);
    return *out ? check_device(*out, target) : unknown(name);
}
