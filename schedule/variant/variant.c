/* schedule/variant/variant.c - the table of variants. */
#include "schedule/variant/variant.h"

#include <string.h>

#include "ir/verify/verify.h"
#include "schedule/variant/variant_impl.h"
#include "support/data/hash.h"

static const hone_variant table[] = {
#define HONE_VARIANT(name, version, error, about)                                                  \
    {#name, version, error, about, hone_variant_rewrite_##name, NULL},
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

uint64_t hone_variant_key(const hone_variant *variant) {
    hone_hasher hasher;
    hone_hasher_init(&hasher, (uint64_t)variant->version);
    hone_hasher_text(&hasher, variant->name);
    if (variant->program) hone_hasher_text(&hasher, variant->program);
    return hone_hasher_finish(&hasher).lo;
}

bool hone_variant_is_same(const hone_variant *a, const hone_variant *b) {
    if (!a || !b || !a->program != !b->program) return a == b;
    return a->version == b->version && strcmp(a->name, b->name) == 0 &&
           (!a->program || strcmp(a->program, b->program) == 0);
}

/* What a record says that a text declares is not what it declares. */
static bool is_given(const hone_variant *variant, const hone_variant_rules *rules) {
    for (size_t i = 0; i < rules->given_count; i++) {
        const hone_variant *given = &rules->given[i];
        if (hone_variant_is_same(given, variant)) return !(given->error < variant->error);
    }
    return false;
}

bool hone_variant_is_allowed(const hone_variant *variant, const hone_variant_rules *rules) {
    if (!variant) return true;
    if (variant->program && !is_given(variant, rules)) return false;
    return variant->error >= 0 && variant->error <= rules->most_error;
}

hone_status hone_variant_apply(const hone_variant *variant, const hone_func *func,
                               hone_arena *arena, hone_func **out_func) {
    assert(variant && func && arena && out_func);
    *out_func = NULL;
    if (variant->program) return variant_apply_given(variant, func, arena, out_func);
    hone_func *copy = hone_func_copy_canonical(arena, func);
    if (!copy) return HONE_ERROR(HONE_CODE_NO_MEMORY, "variant");
    HONE_TRY(variant->rewrite(copy));
    HONE_TRY(hone_check_func(copy));
    *out_func = copy;
    return HONE_OK;
}
