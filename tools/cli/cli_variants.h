/* tools/cli/cli_variants.h - which other algorithms a user allows: --variants and --max-error. */
#ifndef HONE_TOOLS_CLI_CLI_VARIANTS_H
#define HONE_TOOLS_CLI_CLI_VARIANTS_H

#include "tools/cli/cli.h"

typedef struct cli_variants {
    const char *which; /* NULL: not said */
    double max_error;
    bool has_max_error;
} cli_variants;

/* The largest error that a variant may declare (schedule/variant/variant.h). INVALID: an unknown
 * word, a number below 0, or both where one excludes the other. */
HONE_NODISCARD hone_status hone_cli_read_variants(const cli_variants *variants, double *out_error);

/* The rows of the options. what: "searched" … */
#define HONE_CLI_VARIANT_OPTIONS(v)                                                                \
    HONE_CLI_OPTION(                                                                               \
        "variants", 0, "WHICH", TEXT, &(v).which,                                                  \
        "other algorithms: none, exact (default: no more rounding than other orders of sums "      \
        "have) or all, such as Winograd's"),                                                       \
        HONE_CLI_OPTION(                                                                           \
            "max-error", 0, "X", REAL, &(v).max_error,                                             \
            "those that declare no larger error, relative to the largest output; 1e-5, say",       \
            .was_given = &(v).has_max_error)

#endif
