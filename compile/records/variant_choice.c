/* compile/records/variant_choice.c - see variant_choice.h. */
#include "compile/records/variant_choice.h"

#include <string.h>

#include "support/os/fs.h"
#include "support/os/text_file.h"

enum { MOST_BYTES = 1 << 20 };

static hone_status read_limit(const hone_variant_choice *choice, const hone_variant_words *words,
                              double *out) {
    const char *which = choice->which ? choice->which : choice->max_error ? "all" : "exact";
    bool is_all = strcmp(which, "all") == 0, is_exact = strcmp(which, "exact") == 0;
    if (!is_all && !is_exact && strcmp(which, "none") != 0)
        return HONE_ERROR(HONE_CODE_INVALID, "%s is '%s', must be none, exact or all", words->which,
                          which);
    if (choice->max_error && !is_all)
        return HONE_ERROR(HONE_CODE_INVALID, "%s is for %s all, not for %s", words->max_error,
                          words->which, which);
    if (choice->max_error && !(*choice->max_error >= 0))
        return HONE_ERROR(HONE_CODE_INVALID, "%s is %g, must be at least 0", words->max_error,
                          *choice->max_error);
    *out = is_exact ? HONE_VARIANTS_EXACT : is_all ? HONE_VARIANTS_ALL : HONE_VARIANTS_NONE;
    if (choice->max_error) *out = *choice->max_error;
    return HONE_OK;
}

/* "out/mine.py" is variant mine. */
static hone_status read_file(const char *path, hone_arena *arena, hone_variant *out) {
    const char *text, *base = hone_path_basename(path);
    HONE_TRY(hone_text_file_read(path, MOST_BYTES, arena, &text));
    const char *name =
        hone_arena_printf(arena, "%.*s", (int)(hone_path_extension(base) - base), base);
    return name ? hone_variant_read(name, text, path, out) : HONE_NO_MEMORY("variants");
}

static hone_status check_limit(const hone_variant *variant, const char *path, double most,
                               const hone_variant_words *words) {
    if (variant->error <= most) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID,
                      "%s: the variant declares an error of %g, more than %s and %s allow", path,
                      variant->error, words->which, words->max_error);
}

hone_status hone_variant_choice_read(const hone_variant_choice *choice,
                                     const hone_variant_words *words, hone_arena *arena,
                                     hone_variant_rules *out) {
    *out = (hone_variant_rules){0};
    HONE_TRY(read_limit(choice, words, &out->most_error));
    if (choice->file_count > HONE_MAX_GIVEN)
        return HONE_ERROR(HONE_CODE_INVALID, "%zu files of %s, at most %d are taken",
                          choice->file_count, words->file, HONE_MAX_GIVEN);
    hone_variant *given = hone_arena_zalloc(arena, (choice->file_count + 1) * sizeof *given);
    if (!given) return HONE_NO_MEMORY("variants");
    for (size_t i = 0; i < choice->file_count; i++) {
        const char *path = choice->files[i];
        HONE_TRY(read_file(path, arena, &given[i]));
        HONE_TRY(check_limit(&given[i], path, out->most_error, words));
    }
    out->given = given;
    out->given_count = choice->file_count;
    return HONE_OK;
}
