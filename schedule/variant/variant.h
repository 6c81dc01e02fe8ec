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
    const char *program; /* of a user's, whose text it is: it takes the place of a function with the
                            same parameters; NULL: rewrite does it */
} hone_variant;

/* Variant i of variants.def, NULL behind the last. */
const hone_variant *hone_variant_at(size_t index);
/* The variant with this name; NULL: there is none. */
const hone_variant *hone_variant_find(const char *name);

/* A variant of a user's: a TVMScript text of one function; the attribute "error" of that (a number,
 * 0 where it is left out) is what it declares, and the version comes from the text. The strings are
 * not copied. INVALID, TYPE: what is wrong with the text, with its place. */
HONE_NODISCARD hone_status hone_variant_read(const char *name, const char *text,
                                             const char *source_name, hone_variant *out);

/* Whether the two make equal programs of every program; NULL: the variant that changes nothing. */
bool hone_variant_is_same(const hone_variant *a, const hone_variant *b);
/* A hash that is equal for variants that hone_variant_is_same calls equal. */
uint64_t hone_variant_key(const hone_variant *variant);

enum {
    HONE_MAX_GIVEN = 16, /* of the user's at a time */
#define HONE_VARIANT(name, version, error, about) +1
    HONE_MAX_VARIANTS = HONE_MAX_GIVEN
#include "schedule/variant/variants.def"
#undef HONE_VARIANT
};

/* Which variants may be used; zeroed: those of variants.def that are exact. */
typedef struct hone_variant_rules {
    double most_error;         /* that one may declare; HONE_VARIANTS_NONE: none is used */
    const hone_variant *given; /* of the user's */
    size_t given_count;        /* HONE_MAX_GIVEN at most */
} hone_variant_rules;
#define HONE_VARIANTS_NONE (-1.0)
#define HONE_VARIANTS_EXACT 0.0
#define HONE_VARIANTS_ALL 1e-3 /* all that keep most of float32; others want a number */
/* NULL is the program as it is, which is always allowed. A variant with a text of its own is where
 * the user gives just that text, and it claims no larger error than the text declares. */
bool hone_variant_is_allowed(const hone_variant *variant, const hone_variant_rules *rules);

/* The variant of a function in scheduled form: a new function in the arena, which owns all it
 * refers to. ILLEGAL with the reason: the variant is not for this function. */
HONE_NODISCARD hone_status hone_variant_apply(const hone_variant *variant, const hone_func *func,
                                              hone_arena *arena, hone_func **out_func);

#endif
