/* schedule/variant/variant.c - the table of variants. */
#include "schedule/variant/variant.h"

#include <string.h>

#include "ir/verify/verify.h"
#include "schedule/variant/variant_impl.h"

static const hone_variant table[] = {
#define HONE_VARIANT(name, version, error, about)                                                  \
    {#name, version, error, about, hone_variant_rewrite_##name},
#include "schedule/variant/variants.def"
#undef HONE_VARIANT
};

const hone_variant *hone_variant_at(size_t index) {
    return index < HONE_COUNT(table) ? &table[index] : NULL;
}

const hone_variant *hone_variant_find(const char *name) {
    for (size_t i = 0; i < HONE_COUNT(table); i++) {
        if (strcmp(table[i].name, name) == 0) return &table[i];
    }
    return NULL;
}

bool hone_variant_is_allowed(const hone_variant *variant, double most_error) {
    return !variant || variant->error <= most_error;
}

hone_status hone_variant_apply(const hone_variant *variant, const hone_func *func,
                               hone_arena *arena, hone_func **out_func) {
    assert(variant && func && arena && out_func);
    *out_func = NULL;
    hone_func *copy = hone_func_copy_canonical(arena, func);
    if (!copy) return HONE_ERROR(HONE_CODE_NO_MEMORY, "variant");
    HONE_TRY(variant->rewrite(copy));
    HONE_TRY(hone_check_func(copy));
    *out_func = copy;
    return HONE_OK;
}
