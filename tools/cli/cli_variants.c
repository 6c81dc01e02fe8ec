/* tools/cli/cli_variants.c - see cli_variants.h. */
#include "tools/cli/cli_variants.h"

#include "compile/records/variant_choice.h"

hone_status hone_cli_read_variants(hone_cli *cli, const cli_variants *variants,
                                   hone_variant_rules *out) {
    static const hone_variant_words words = {"--variants", "--max-error", "--variant"};
    const hone_variant_choice choice = {.which = variants->which,
                                        .max_error =
                                            variants->has_max_error ? &variants->max_error : NULL,
                                        .files = variants->files.items,
                                        .file_count = variants->files.count};
    return hone_variant_choice_read(&choice, &words, cli->arena, out);
}
