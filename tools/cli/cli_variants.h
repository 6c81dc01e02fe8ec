/* tools/cli/cli_variants.h - which other algorithms a user allows, and gives: --variants,
 * --max-error and --variant. */
#ifndef HONE_TOOLS_CLI_CLI_VARIANTS_H
#define HONE_TOOLS_CLI_CLI_VARIANTS_H

#include "schedule/variant/variant.h"
#include "tools/cli/cli.h"

typedef struct cli_variants {
    const char *which; /* NULL: not said */
    double max_error;
    bool has_max_error;
    hone_cli_list files;
} cli_variants;

/* What the options say, in the arena of the cli. INVALID: an unknown word, a number below 0,
 * options that exclude each other, more than HONE_MAX_GIVEN files; a file that is no variant, or
 * that declares a larger error than is allowed. */
HONE_NODISCARD hone_status hone_cli_read_variants(hone_cli *cli, const cli_variants *variants,
                                                  hone_variant_rules *out);

/* The rows of the options. */
#define HONE_CLI_VARIANT_OPTIONS(v)                                                                \
    HONE_CLI_OPTION(                                                                               \
        "variants", 0, "WHICH", TEXT, &(v).which,                                                  \
        "other algorithms: none, exact (default: no more rounding than other orders of sums "      \
        "have; subnormal bfloat16 may be 0) or all that round to 1e-3 at most, such as "           \
        "Winograd's"),                                                                             \
        HONE_CLI_OPTION(                                                                           \
            "max-error", 0, "X", REAL, &(v).max_error,                                             \
            "those that declare no larger error, relative to the largest output; 1e-5, say",       \
            .was_given = &(v).has_max_error),                                                      \
        HONE_CLI_OPTION("variant", 0, "FILE.py", LIST, &(v).files,                                 \
                        "a program of yours that computes what a task computes; may be repeated")

#endif
