/* compile/records/variant_choice.h - which other algorithms (schedule/variant/) somebody allows and
 * gives, read into rules: by the command line and by the public interface. */
#ifndef HONE_COMPILE_RECORDS_VARIANT_CHOICE_H
#define HONE_COMPILE_RECORDS_VARIANT_CHOICE_H

#include "schedule/variant/variant.h"

typedef struct hone_variant_choice {
    const char *which;       /* "none", "exact" or "all"; NULL: exact, or all with max_error */
    const double *max_error; /* NULL: that of which */
    const char *const *files;
    size_t file_count;
} hone_variant_choice;

/* What messages call the members: "--variants", say. */
typedef struct hone_variant_words {
    const char *which, *max_error, *file;
} hone_variant_words;

/* The rules, with the variants of the files, in the arena. INVALID: an unknown word, an error below
 * 0, members that exclude each other, more than HONE_MAX_GIVEN files; a file that is no variant, or
 * that declares a larger error than is allowed. NOT_FOUND, IO: a file cannot be read. */
HONE_NODISCARD hone_status hone_variant_choice_read(const hone_variant_choice *choice,
                                                    const hone_variant_words *words,
                                                    hone_arena *arena, hone_variant_rules *out);

#endif
