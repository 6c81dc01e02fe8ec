/* tools/cli/cli_variants.c - see cli_variants.h. */
#include "tools/cli/cli_variants.h"

#include <string.h>

#include "support/os/fs.h"

enum { MOST_BYTES = 1 << 20 };

static hone_status no_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "variants");
}

static hone_status read_limit(const cli_variants *variants, double *out) {
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
    *out = is_exact ? HONE_VARIANTS_EXACT : is_all ? HONE_VARIANTS_ALL : HONE_VARIANTS_NONE;
    if (variants->has_max_error) *out = variants->max_error;
    return HONE_OK;
}

/* "out/mine.py" is variant mine. */
static hone_status read_file(hone_cli *cli, const char *path, hone_variant *out) {
    const char *text, *base = hone_path_basename(path);
    HONE_TRY(hone_cli_read_text(cli, path, MOST_BYTES, &text));
    const char *name =
        hone_arena_printf(cli->arena, "%.*s", (int)(hone_path_extension(base) - base), base);
    return name ? hone_variant_read(name, text, path, out) : no_memory();
}

static hone_status check_limit(const hone_variant *variant, const char *path, double most) {
    if (variant->error <= most) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID,
                      "%s: the variant declares an error of %g, more than --variants and "
                      "--max-error allow",
                      path, variant->error);
}

hone_status hone_cli_read_variants(hone_cli *cli, const cli_variants *variants,
                                   hone_variant_rules *out) {
    const hone_cli_list *files = &variants->files;
    hone_variant *given = hone_arena_zalloc(cli->arena, (files->count + 1) * sizeof *given);
    if (!given) return no_memory();
    *out = (hone_variant_rules){.given = given, .given_count = files->count};
    HONE_TRY(read_limit(variants, &out->most_error));
    if (files->count > HONE_MAX_GIVEN)
        return HONE_ERROR(HONE_CODE_INVALID, "%zu files of --variant, at most %d are taken",
                          files->count, HONE_MAX_GIVEN);
    for (size_t i = 0; i < files->count; i++) {
        HONE_TRY(read_file(cli, files->items[i], &given[i]));
        HONE_TRY(check_limit(&given[i], files->items[i], out->most_error));
    }
    return HONE_OK;
}
