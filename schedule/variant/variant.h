/* schedule/variant/variant.h - variants of programs: other algorithms for what a program computes.
 *
 * A variant rewrites a program as a whole, into one with the same parameters that computes the same
 * numbers: exactly, but for the order of sums, or within the error that it declares. What it makes
 * depends on the program alone. A schedule takes one up as its first step (hone_sch_use_variant),
 * so that a trace says which program it is about, wherever it is replayed.
 *
 * Lifetime: variants are constants. Threads: any.
 * Layer:    may include ir/.
 */
#ifndef HONE_SCHEDULE_VARIANT_VARIANT_H
#define HONE_SCHEDULE_VARIANT_VARIANT_H

#include "ir/core/func.h"

typedef struct hone_variant {
    const char *name;
    int64_t version;
    double error; /* variants.def */
    const char *about;
    /* Rewrites a function of the caller's in place, in its arena. ILLEGAL with the reason where it
     * holds nothing that the variant is for; the function may be half changed then. */
    hone_status (*rewrite)(hone_func *func);
} hone_variant;

/* Variant i of variants.def, NULL behind the last. */
const hone_variant *hone_variant_at(size_t index);
/* By name; NULL: there is none. */
const hone_variant *hone_variant_find(const char *name);

/* How large an error may be that a variant declares: below 0 none is used, 0 exact ones only. */
#define HONE_VARIANTS_NONE (-1.0)
#define HONE_VARIANTS_EXACT 0.0
/* A variant (NULL: the program as it is, which is always allowed) within that limit. */
bool hone_variant_is_allowed(const hone_variant *variant, double most_error);

/* The variant of a function in scheduled form: a new function in the arena, which owns all it
 * refers to. ILLEGAL with the reason: the variant is not for this function. */
HONE_NODISCARD hone_status hone_variant_apply(const hone_variant *variant, const hone_func *func,
                                              hone_arena *arena, hone_func **out_func);

#endif
