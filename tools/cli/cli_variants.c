/* tools/cli/cli_variants.c - see cli_variants.h. */
#include "tools/cli/cli_variants.h"

#include <math.h>
#include <string.h>

#include "schedule/variant/variant.h"

hone_status hone_cli_read_variants(const cli_variants *variants, double *out_error) {
    const char *which = variants->which           ? variants->which
                        : variants->has_max_error ? "all"
                                                  : "exact";
    bool is_all = strcmp(which, "all") == 0, is_exact = strcmp(which, "exact") == 0;
    if (!is_all && !is_exact && strcmp(which, "none") != 0)
        return HONE_ERROR(HONE_CODE_INVALID,
                          "option '--variants' wants none, exact or all, not '%s'", which);
    if (variants->has_max_error && !is_all)
        return HONE_ERROR(HONE_CODE_INVALID, "--max-error is for --variants all, not for %s",
                          which);
    if (variants->has_max_error && !(variants->max_error >= 0))
        return HONE_ERROR(HONE_CODE_INVALID, "option '--max-error' is %g, must be at least 0",
                          variants->max_error);
    *out_error = is_exact ? HONE_VARIANTS_EXACT : is_all ? INFINITY : HONE_VARIANTS_NONE;
    if (variants->has_max_error) *out_error = variants->max_error;
    return HONE_OK;
}
